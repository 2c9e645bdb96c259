//! What a thread finds in its registers at its start, and where: the thread header, local ids, and
//! the cross-thread data (kernel arguments and launch facts, as `.ze_info` lists them).

use crate::error::CodegenError;
use crate::ir::Origin;
use crate::ir::{
    ArgFact, ArgKind, Dim, FuncKind, Function, ImageAccess, ImageShape, InstData, Opcode, Value,
    ValueDef,
};
use crate::target::{GrfFile, Target};

/// Size in bytes of the cross-thread data entry of a kernel that has no cross-thread data.
pub(crate) const NO_CROSS_BYTES: u32 = 12;

/// A launch fact in the cross-thread data: three dwords (x, y, z), one, or an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum LaunchFact {
    /// Work-items of a group as launched.
    LocalSize,
    /// Groups.
    GroupCount,
    /// Work-items in all.
    GlobalSize,
    /// Offset of the global ids.
    GlobalOffset,
    /// Dimensions.
    WorkDim,
    /// Address of the launch's printf buffer.
    PrintfBuffer,
}

impl LaunchFact {
    /// The fact an opcode reads.
    pub fn of(op: Opcode) -> Option<LaunchFact> {
        match op {
            Opcode::LocalSize => Some(LaunchFact::LocalSize),
            Opcode::GroupCount => Some(LaunchFact::GroupCount),
            Opcode::GlobalSize => Some(LaunchFact::GlobalSize),
            Opcode::GlobalOffset => Some(LaunchFact::GlobalOffset),
            Opcode::WorkDim => Some(LaunchFact::WorkDim),
            Opcode::PrintfBuffer => Some(LaunchFact::PrintfBuffer),
            _ => None,
        }
    }

    /// Its `arg_type` in `.ze_info`.
    pub fn ze_name(self) -> &'static str {
        match self {
            LaunchFact::LocalSize => "enqueued_local_size",
            LaunchFact::GroupCount => "group_count",
            LaunchFact::GlobalSize => "global_size",
            LaunchFact::GlobalOffset => "global_id_offset",
            LaunchFact::WorkDim => "work_dimensions",
            LaunchFact::PrintfBuffer => "printf_buffer",
        }
    }

    /// Its size in bytes.
    pub const fn bytes(self) -> u32 {
        match self {
            LaunchFact::WorkDim => 4,
            LaunchFact::PrintfBuffer => 8,
            _ => 12,
        }
    }
}

/// A place in the cross-thread data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slot {
    /// Bytes from the start of the cross-thread data.
    pub offset: u32,
    /// Size in bytes.
    pub bytes: u32,
}

/// The payload of a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Payload {
    /// SIMD width of the dispatch.
    pub simd: u32,
    /// Scratch of a thread in bytes.
    pub scratch_bytes: u32,
    /// Whether local ids come in registers.
    pub local_ids: bool,
    /// Per kernel argument: what it is and where.
    pub args: Vec<(ArgKind, Slot)>,
    /// Facts about arguments that the kernel reads: of which of its kind, what, and where.
    pub arg_facts: Vec<(u8, ArgFact, Slot)>,
    /// Launch facts that the kernel reads.
    pub facts: Vec<(LaunchFact, Slot)>,
    /// Bytes of the cross-thread data, a multiple of the GRF size.
    pub cross_bytes: u32,
    /// Bytes of it that are arguments and facts.
    pub cross_used: u32,
    /// The register file.
    grf: GrfFile,
    /// Registers of the local ids of one dimension, or of what stands for all of them.
    id_grfs: u32,
}

/// Bytes of each of the packed local ids.
const PACKED_ID_BYTES: u32 = 2;
/// Bytes of all three.
pub(crate) const PACKED_IDS: u32 = 3 * PACKED_ID_BYTES;

/// By argument of a kernel: whether it is a surface where nothing reads where in that the buffer
/// begins. Then it begins where the surface does: whoever launches the kernel sees that it does not
/// ask (NEO, `KernelHw::setBufferSurfaceState`).
fn unread_surfaces(func: &Function) -> Vec<bool> {
    let mut unread: Vec<bool> = func
        .sig
        .params
        .iter()
        .map(|p| p.kind == ArgKind::Surface)
        .collect();
    let Some(entry) = func.layout.entry().filter(|_| unread.contains(&true)) else {
        return unread;
    };
    let mut read = |v: Value| {
        if let ValueDef::Param(block, n) = func.dfg.def(v)
            && block == entry
            && let Some(unread) = unread.get_mut(usize::from(n))
        {
            *unread = false;
        }
    };
    for &block in func.layout.blocks() {
        for &inst in func.layout.insts(block) {
            func.dfg.data(inst).for_each_arg(&func.dfg, &mut read);
        }
    }
    unread
}

impl Payload {
    /// Lays out the payload of a kernel; `functions`: it and those that it calls.
    ///
    /// # Errors
    /// The function is no kernel, reads local ids without lanes of work-items, lacks what an
    /// instruction asks of it, or has arguments that cannot be passed.
    pub fn of<'f>(
        func: &Function,
        functions: impl Iterator<Item = &'f Function>,
        target: &Target,
    ) -> Result<Payload, CodegenError> {
        let grf = target.grf();
        let abi = target.abi();
        let unsupported = |what: &str| CodegenError::Unsupported {
            function: func.name.clone(),
            what: what.to_string(),
            at: None,
            origin: Origin::default(),
        };
        let FuncKind::Kernel {
            simd,
            scratch_bytes,
            ..
        } = func.kind
        else {
            return Err(CodegenError::internal(
                &func.name,
                "payload of a subroutine",
            ));
        };
        let mut local_ids = false;
        let mut used = Vec::new();
        let mut asked = Vec::new();
        for f in functions {
            let insts = f.layout.blocks().iter().flat_map(|&b| f.layout.insts(b));
            for &inst in insts {
                let data = f.dfg.data(inst);
                match *data {
                    InstData::Launch { opcode, .. } => {
                        local_ids |= opcode == Opcode::LocalId;
                        used.extend(LaunchFact::of(opcode));
                    }
                    InstData::Nullary { opcode } => used.extend(LaunchFact::of(opcode)),
                    InstData::ArgQuery { fact, of, .. } => asked.push((of, fact)),
                    _ => {}
                }
            }
        }
        let unread = unread_surfaces(func);
        used.sort();
        used.dedup();
        asked.sort();
        asked.dedup();
        let mut end = 0u32;
        let mut place = |bytes: u32| {
            let align = grf.natural_align(bytes);
            let offset = end.next_multiple_of(align);
            end = offset + bytes;
            Slot { offset, bytes }
        };
        let args = func
            .sig
            .params
            .iter()
            .enumerate()
            .map(|(n, p)| match p.kind {
                // In no register, but in tables.
                ArgKind::Image(..) | ArgKind::Sampler => (p.kind, place(0)),
                ArgKind::Surface if unread.get(n) == Some(&true) => (p.kind, place(0)),
                _ => (p.kind, place(p.ty.bytes())),
            })
            .collect();
        if func.sig.params.iter().any(|p| p.ty.is_pred()) {
            return Err(unsupported("a predicate as a kernel argument"));
        }
        let arg_facts = asked
            .into_iter()
            .map(|(n, f)| (n, f, place(f.scalar().bytes())))
            .collect();
        let facts = used.into_iter().map(|f| (f, place(f.bytes()))).collect();
        let payload = Payload {
            simd,
            scratch_bytes,
            local_ids,
            args,
            facts,
            arg_facts,
            cross_used: end,
            cross_bytes: end.next_multiple_of(grf.bytes).max(grf.bytes),
            grf,
            id_grfs: if local_ids {
                grf.hold(simd * abi.local_id_bytes)
            } else {
                abi.no_id_grfs
            },
        };
        // One register has the address that the payload is loaded from.
        let address = u32::from(abi.loads_payload) * grf.bytes;
        let fit = grf.size().saturating_sub(payload.cross_address() + address);
        if payload.cross_bytes > fit {
            let bytes = payload.cross_bytes;
            return Err(unsupported(&format!(
                "{bytes} bytes of arguments and facts of the launch, of which {fit} fit in a thread's registers,"
            )));
        }
        Ok(payload)
    }

    /// Registers from the thread header on that hold the payload.
    pub fn grfs(&self) -> u32 {
        (self.cross_address() + self.cross_bytes) / self.grf.bytes
    }

    /// Whether the cross-thread data holds nothing.
    pub fn cross_is_empty(&self) -> bool {
        self.args.iter().all(|(_, slot)| slot.bytes == 0)
            && self.facts.is_empty()
            && self.arg_facts.is_empty()
    }

    /// The image of a number: its shape, and what it is for.
    pub fn image(&self, image: u8) -> Option<(ImageShape, ImageAccess)> {
        let kinds = self.args.iter().map(|a| a.0);
        let mut images = kinds.filter_map(|k| match k {
            ArgKind::Image(shape, access) => Some((shape, access)),
            _ => None,
        });
        images.nth(image.into())
    }

    /// The binding table index of the n-th image: behind all surfaces.
    pub fn image_index(&self, image: u8) -> u8 {
        let surfaces = self.args.iter().filter(|(k, _)| *k == ArgKind::Surface);
        (surfaces.count() as u8).saturating_add(image)
    }

    /// Whether the local ids are one work-item's: three words in a row (zebin spec,
    /// `packed_local_ids`).
    pub fn packed_ids(&self) -> bool {
        self.local_ids && self.simd == 1
    }

    /// Byte address in the register file of the local ids of a dimension.
    pub fn local_id_address(&self, dim: Dim) -> u32 {
        if self.packed_ids() {
            return self.grf.bytes + PACKED_ID_BYTES * dim.index() as u32;
        }
        self.grf.bytes * (1 + self.id_grfs * dim.index() as u32)
    }

    /// Byte address in the register file of the cross-thread data.
    pub fn cross_address(&self) -> u32 {
        let rest = if self.local_ids {
            0
        } else {
            self.id_grfs * self.grf.bytes
        };
        self.grf.bytes + self.per_thread_bytes().max(rest)
    }

    /// Size of the per-thread data in `.ze_info` terms, in bytes.
    pub fn per_thread_bytes(&self) -> u32 {
        if self.packed_ids() {
            self.grf.bytes
        } else if self.local_ids {
            3 * self.grf.bytes * self.id_grfs
        } else {
            0
        }
    }
}

/// Refuses a kernel whose functions ask for what it lacks: an argument by its number, or scratch.
pub(crate) fn has_what_is_asked<'f>(
    kernel: &Function,
    functions: impl Iterator<Item = &'f Function>,
) -> Result<(), CodegenError> {
    for f in functions {
        let insts = f.layout.blocks().iter().flat_map(|&b| f.layout.insts(b));
        for &inst in insts {
            let data = f.dfg.data(inst);
            if let Some(what) = kernel.lacks(data) {
                return Err(CodegenError::Unsupported {
                    function: f.name.clone(),
                    what: format!("what %{} does not have ({what})", kernel.name),
                    at: Some(data.opcode().name().to_string()),
                    origin: f.srclocs[inst].into(),
                });
            }
        }
    }
    Ok(())
}
