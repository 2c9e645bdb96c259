//! Images by plain memory accesses, on platforms without a sampler (Xe-HPC).
//!
//! There an image argument is a descriptor by value: address, sizes and format of texels that are
//! tightly packed (`gantry_zebin::ImageDescriptor`). So is a sampler. Queries read their parts.
//! Every access becomes a call of a subroutine of the same effect, which is made once for each
//! image, sampler, operation and number of lanes:
//!
//! | file | holds |
//! |---|---|
//! | `body.rs` | builder of a subroutine: vectors of lanes, uniform choices |
//! | `place.rs` | addresses of texels, levels of detail |
//! | `formats.rs` | texels from bytes, and bytes from texels |
//! | `levels.rs` | levels of detail that a sample takes |
//! | `packed.rs` | texels of one dword |
//! | `sampling.rs` | addressing modes, filters, comparisons |
//! | `cube.rs` | faces of cubes |
//! | `media.rs` | rectangles of bytes |
//!
//! The format of an image is known at the launch alone. It is the same for all lanes, so
//! subroutines branch by it. Results are those of the samplers of other platforms, except for the
//! rounding of weights.
//!
//! Input: verified IR of a module. Output: IR that verifies, of a module that has the kernel with
//! all that it calls. Work: linear in the instructions of these, and nothing for kernels without
//! images. The inliner then treats the subroutines as any others.

mod body;
mod cube;
mod formats;
mod levels;
mod media;
mod packed;
mod place;
mod sampling;

use crate::error::CodegenError;
use crate::ir::instructions::ValueList;
use crate::ir::{
    ArgKind, AtomicOp, FuncRef, Function, ImageAccess, ImageShape, Inst, InstData, Module, Opcode,
    Region, Sampler, Scalar, Signature, Type, Value,
};
use crate::target::Target;
use body::Body;
use cranelift_entity::packed_option::PackedOption;
use std::collections::BTreeMap;

/// Operation of a subroutine. Subroutines of equal operations are one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Access {
    kind: AccessKind,
    image: u8,
    sampler: u8,
    /// True if texels are floats.
    float: bool,
    lanes: u32,
    /// True if a level of detail is given.
    lod: bool,
    /// True if a reference is given.
    reference: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum AccessKind {
    Load,
    Store,
    Sample,
    /// Operation, by its index in [`AtomicOp::ALL`].
    Atomic(u8),
}

impl AccessKind {
    fn name(self) -> &'static str {
        match self {
            AccessKind::Load => "load",
            AccessKind::Store => "store",
            AccessKind::Sample => "sample",
            AccessKind::Atomic(_) => "atomic",
        }
    }
}

/// Returns true if an instruction accesses an image.
fn is_access(data: &InstData) -> bool {
    matches!(
        data,
        InstData::Image { .. } | InstData::ImageAtomic { .. } | InstData::Media { .. }
    )
}

/// Returns a module in which a kernel accesses no image, and the kernel's name there. `None` if the
/// kernel is fine as it is.
///
/// # Errors
/// A subroutine accesses an image that the kernel lacks, or has for another use.
pub(crate) fn expand(
    module: &Module,
    kernel: &Function,
    target: &Target,
) -> Result<Option<(Module, FuncRef)>, CodegenError> {
    if target.features().sampler || kernel.images().next().is_none() {
        return Ok(None);
    }
    let images: Vec<(ImageShape, ImageAccess)> = kernel.images().collect();
    let arguments = kernel.count(ArgKind::Sampler);
    let mut e = Expansion {
        kernel: kernel.name.clone(),
        images,
        arguments,
        samplers: kernel.samplers.clone(),
        out: Module {
            data: module.data.clone(),
            files: module.files.clone(),
            ..Module::default()
        },
        made: BTreeMap::new(),
        changed: 0,
    };
    let mut reached: Vec<bool> = vec![false; module.functions.len()];
    let mut work: Vec<FuncRef> = callees(kernel);
    while let Some(f) = work.pop() {
        let Some(seen) = reached.get_mut(f.as_u32() as usize) else {
            continue;
        };
        if !std::mem::replace(seen, true)
            && let Some(func) = module.functions.get(f)
        {
            work.extend(callees(func));
        }
    }
    // Names stay; what the kernel does not call is empty.
    let mut name = None;
    for ((f, func), reached) in module.functions.iter().zip(&reached) {
        if func.name == kernel.name {
            name = Some(f);
        }
        e.out
            .functions
            .push(if *reached || func.name == kernel.name {
                func.clone()
            } else {
                Function::new(func.name.clone(), func.kind, Signature::default())
            });
    }
    let name = name.unwrap_or_else(|| e.out.functions.push(kernel.clone()));
    for ((f, _), reached) in module.functions.iter().zip(&reached) {
        if *reached {
            e.function(f)?;
        }
    }
    e.function(name)?;
    Ok((e.changed > 0).then_some((e.out, name)))
}

/// Returns the functions that a function calls.
fn callees(func: &Function) -> Vec<FuncRef> {
    let calls = func.calls().filter_map(|i| match *func.dfg.data(i) {
        InstData::Call { func, .. } => Some(func),
        _ => None,
    });
    calls.collect()
}

/// Expansion of one kernel.
struct Expansion {
    kernel: String,
    images: Vec<(ImageShape, ImageAccess)>,
    /// Number of sampler arguments.
    arguments: usize,
    /// Samplers that the kernel declares.
    samplers: Vec<Sampler>,
    out: Module,
    /// Subroutines so far.
    made: BTreeMap<Access, FuncRef>,
    /// Number of accesses that were replaced.
    changed: u32,
}

impl Expansion {
    /// Replaces the accesses of a function.
    fn function(&mut self, name: FuncRef) -> Result<(), CodegenError> {
        let Some(func) = self.out.functions.get_mut(name) else {
            return Ok(());
        };
        let blocks = func.layout.blocks();
        let mut all = blocks.iter().flat_map(|&b| func.layout.insts(b));
        if !all.any(|&i| is_access(func.dfg.data(i))) {
            return Ok(());
        }
        let empty = Function::new("", func.kind, Signature::default());
        let mut func = std::mem::replace(func, empty);
        for block in func.layout.blocks().to_vec() {
            for inst in std::mem::take(func.layout.insts_mut(block)) {
                let mut new = Vec::new();
                if is_access(func.dfg.data(inst)) {
                    self.access(&mut func, inst, &mut new)?;
                    self.changed += 1;
                    let loc = func.srclocs[inst];
                    new.iter().for_each(|&i| func.set_srcloc(i, loc));
                } else {
                    new.push(inst);
                }
                func.layout.insts_mut(block).extend(new);
            }
        }
        if let Some(to) = self.out.functions.get_mut(name) {
            *to = func;
        }
        Ok(())
    }

    fn unsupported(&self, func: &Function, inst: Inst, what: String) -> CodegenError {
        CodegenError::Unsupported {
            function: self.kernel.clone(),
            what,
            at: None,
            origin: func.srclocs[inst].into(),
        }
    }

    /// Returns the shape of an image with this many coordinates, for an access.
    fn shape(
        &self,
        func: &Function,
        inst: Inst,
        (image, coordinates): (u8, usize),
    ) -> Result<ImageShape, CodegenError> {
        let found = self.images.get(usize::from(image)).copied();
        let opcode = func.dfg.data(inst).opcode();
        let fits = found.filter(|(shape, access)| {
            let used = match opcode {
                Opcode::ImageStore | Opcode::MediaStore => access.writes(),
                Opcode::Sample => *access == ImageAccess::Read,
                Opcode::ImageAtomic => access.reads() && access.writes(),
                _ => access.reads(),
            };
            let media = matches!(opcode, Opcode::MediaLoad | Opcode::MediaStore);
            let cube = shape.is_cube() == (opcode == Opcode::Sample) || !shape.is_cube();
            let shaped = if media {
                shape.has_rectangles()
            } else {
                shape.coordinates() == coordinates && cube
            };
            used && shaped
        });
        fits.map(|f| f.0).ok_or_else(|| {
            let what = format!("`{opcode}` of image {image}, which is none of the kernel's for it");
            self.unsupported(func, inst, what)
        })
    }

    /// Replaces an access by a call and what its masks need. Appends to `new`.
    fn access(
        &mut self,
        func: &mut Function,
        inst: Inst,
        new: &mut Vec<Inst>,
    ) -> Result<(), CodegenError> {
        let result = func.dfg.first_result(inst);
        let access = |kind, image, lanes| Access {
            kind,
            image,
            sampler: 0,
            float: false,
            lanes,
            lod: false,
            reference: false,
        };
        let mut args: Vec<Value> = Vec::new();
        let (access, mask, old, coordinates) = match *func.dfg.data(inst) {
            InstData::Image {
                opcode,
                at,
                coords,
                lod,
                data,
                mask,
                old,
            } => {
                args.extend(coords.iter().filter_map(|c| c.expand()));
                let coordinates = args.len();
                let lanes = args.first().map_or(1, |&v| func.dfg.ty(v).lanes());
                args.extend(lod.expand());
                args.extend(data.expand());
                let kind = match opcode {
                    Opcode::ImageStore => AccessKind::Store,
                    Opcode::ImageLoad => AccessKind::Load,
                    _ => AccessKind::Sample,
                };
                let texels = result.or(data.expand());
                let access = Access {
                    sampler: at.sampler,
                    float: texels.is_some_and(|v| func.dfg.ty(v).scalar() == Scalar::F32),
                    lod: lod.is_some(),
                    reference: kind == AccessKind::Sample && data.is_some(),
                    ..access(kind, at.image, lanes)
                };
                (access, mask, old, coordinates)
            }
            InstData::ImageAtomic {
                op,
                image,
                coords,
                data,
                mask,
                old,
                ..
            } => {
                args.extend(coords.iter().filter_map(|c| c.expand()));
                let coordinates = args.len();
                let lanes = args.first().map_or(1, |&v| func.dfg.ty(v).lanes());
                args.extend(data.iter().filter_map(|d| d.expand()));
                let op = AtomicOp::ALL.iter().position(|o| *o == op).unwrap_or(0) as u8;
                let access = access(AccessKind::Atomic(op), image, lanes);
                (access, mask, old, coordinates)
            }
            _ => return self.media(func, inst, new),
        };
        let shape = self.shape(func, inst, (access.image, coordinates))?;
        let lanes = access.lanes;
        let pred = Type::clamped(Scalar::B1, lanes);
        let all = mask.expand().unwrap_or_else(|| {
            let bits = u64::MAX >> (64 - lanes.clamp(1, 64));
            let opcode = Opcode::Bconst;
            append(func, new, InstData::Imm { opcode, bits }, pred)
        });
        args.push(all);
        let callee = self.subroutine(access, shape)?;
        let args = ValueList::from_slice(&args, &mut func.dfg.pool);
        let call = InstData::Call {
            opcode: Opcode::Call,
            func: callee,
            args,
        };
        let Some(result) = result else {
            let call = func.dfg.make_inst(call, &[]);
            new.push(call);
            return Ok(());
        };
        let ty = func.dfg.ty(result);
        let keeps = old
            .expand()
            .filter(|o| mask.is_some() && !func.dfg.is_undef(*o));
        let Some(old) = keeps else {
            new.push(func.dfg.make_inst_with(call, &[(result, ty)]));
            return Ok(());
        };
        // Disabled lanes keep their components.
        let called = append(func, new, call, ty);
        let mut out = old;
        let parts = ty.lanes() / lanes.max(1);
        for n in 0..parts {
            let part = ty.by(lanes);
            let at = (n * lanes * ty.scalar().bytes()) as u16;
            let region = Region::contiguous(lanes as u16, at);
            let mut read = |arg| match parts {
                1 => arg,
                _ => {
                    let data = InstData::RdRegion {
                        opcode: Opcode::Rdregion,
                        arg,
                        region,
                        index: PackedOption::default(),
                    };
                    append(func, new, data, part)
                }
            };
            let both = [read(called), read(old)];
            let select = InstData::Ternary {
                opcode: Opcode::Select,
                args: [all, both[0], both[1]],
            };
            let last = n + 1 == parts;
            if parts == 1 {
                new.push(func.dfg.make_inst_with(select, &[(result, ty)]));
                break;
            }
            let chosen = append(func, new, select, part);
            let write = InstData::WrRegion {
                opcode: Opcode::Wrregion,
                args: [out, chosen],
                region,
                index: PackedOption::default(),
                mask: PackedOption::default(),
            };
            if last {
                new.push(func.dfg.make_inst_with(write, &[(result, ty)]));
            } else {
                out = append(func, new, write, ty);
            }
        }
        Ok(())
    }

    /// Returns the subroutine of an access, made on first use.
    fn subroutine(&mut self, access: Access, shape: ImageShape) -> Result<FuncRef, CodegenError> {
        if let Some(&made) = self.made.get(&access) {
            return Ok(made);
        }
        let own = usize::from(access.sampler).checked_sub(self.arguments);
        let own = own.and_then(|n| self.samplers.get(n)).copied();
        let name = format!(
            "{}_image_{}_{}",
            self.kernel,
            access.kind.name(),
            self.made.len()
        );
        let texels = Type::clamped(
            if access.float {
                Scalar::F32
            } else {
                Scalar::I32
            },
            4 * access.lanes,
        );
        let results = match access.kind {
            AccessKind::Store => Vec::new(),
            AccessKind::Atomic(_) => vec![texels.by(access.lanes)],
            _ => vec![texels],
        };
        let mut func = Function::subroutine(name, &results);
        let mut body = Body::new(&mut func, access, shape);
        match access.kind {
            AccessKind::Load => body.load(),
            AccessKind::Store => body.store(),
            AccessKind::Sample => body.sample(own),
            AccessKind::Atomic(op) => {
                let op = AtomicOp::ALL.get(usize::from(op)).copied();
                body.atomic(op.unwrap_or(AtomicOp::Add));
            }
        }
        let built = body.finish();
        built.map_err(|e| CodegenError::internal(&self.kernel, format!("images: {e}")))?;
        let made = self.out.functions.push(func);
        self.made.insert(access, made);
        Ok(made)
    }
}

/// Appends an instruction of one result.
fn append(func: &mut Function, new: &mut Vec<Inst>, data: InstData, ty: Type) -> Value {
    let inst = func.dfg.make_inst(data, &[ty]);
    new.push(inst);
    func.dfg.first_result(inst).unwrap_or(Value::from_u32(0))
}
