//! Cache keys of compiled modules.
//!
//! A key is the SHA-256 of a canonical serialization of the compiler's version, the options and the
//! module. Fields follow each other, integers are little-endian, lists and names come after their
//! lengths, and options after a flag. Nothing of a process, a host or a build is included.

use crate::driver::options::CompileOptions;
use crate::ir::instructions::ValueList;
use crate::ir::{
    ArgFact, ArgKind, BindingPlace, Block, Block2dShape, BlockCall, Constant, Data, DataReloc,
    DpasShape, FuncKind, Function, Inst, InstData, MemFlags, Module, Param, ParamInfo, ParamRole,
    Region, Resource, SourceFile, SourceLoc, Space, Type, Value,
};
use crate::passes::Pass;
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityRef, SecondaryMap};
use sha2::{Digest, Sha256};
use std::fmt;

/// Compiler version: that of the package, and a fingerprint of its sources.
pub const VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "+",
    env!("GANTRY_CODEGEN_SOURCES")
);

/// Key of a module compiled with some options. It is the same in every process, on every host, and
/// in every build of one version.
///
/// Two modules have the same key if they compile to the same result. Numbers of values and blocks
/// do not count, nor do entities that no instruction names. Names of functions and data do, since
/// loaders look them up. So do source locations, which become debug information, but not names of
/// values. All options count except [`CompileOptions::dump`], which changes no code. The module
/// need not be valid.
///
/// ```
/// use gantry_codegen::{CacheKey, CompileOptions, text};
///
/// let options = CompileOptions::for_target("skl")?;
/// let key = |text: &str|  text::parse(text).map(|p| CacheKey::new(&p.module, &options));
/// let a = key("kernel %k(i32) simd8 {\nblock0(v0: i32):\n    v1 = iadd v0, v0\n    return\n}\n")?;
/// let b = key("kernel %k(i32) simd8 {\nblock3(v7: i32):\n    v5 = iadd v7, v7\n    return\n}\n")?;
/// let c = key("kernel %k(i32) simd8 {\nblock0(v0: i32):\n    v1 = isub v0, v0\n    return\n}\n")?;
/// assert!(a == b && a != c);
/// assert_eq!(a.to_string().len(), 64);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CacheKey([u8; 32]);

impl CacheKey {
    /// Returns the key of a front end's source and options. `front_end` is its name and version.
    /// `parts` are its own options and its source, as bytes. A cache lookup with such a key does
    /// not need to run the front end.
    pub fn of_source(front_end: &str, parts: &[&[u8]], options: &CompileOptions) -> CacheKey {
        let mut w = KeyWriter::new(options);
        w.u8(1);
        w.str(front_end);
        w.len(parts.len());
        for part in parts {
            w.len(part.len());
            // Large inputs need no copy.
            w.flush();
            w.hash.update(part);
        }
        w.key()
    }

    /// Returns the key of a module and options, by this version of the compiler.
    pub fn new(module: &Module, options: &CompileOptions) -> CacheKey {
        let mut w = KeyWriter::new(options);
        w.u8(0);
        w.len(module.data.len());
        module.data.values().for_each(|d| w.data(d));
        w.len(module.functions.len());
        for f in module.functions.values() {
            FunctionWriter::new(&mut w, f).function(module);
        }
        w.key()
    }

    /// Returns the bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// Hexadecimal digits, usable as a file name.
impl fmt::Display for CacheKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|b| write!(f, "{b:02x}"))
    }
}

impl fmt::Debug for CacheKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CacheKey({self})")
    }
}

/// Number of bytes that are hashed at once.
const ROOM: usize = 4 << 10;

struct KeyWriter {
    hash: Sha256,
    buffer: Vec<u8>,
    /// Numbers of the source files of locations, from 1, in order of occurrence.
    files: SecondaryMap<SourceFile, u32>,
    met_files: u32,
}

impl KeyWriter {
    /// Returns a writer with the prefix of all keys.
    fn new(options: &CompileOptions) -> KeyWriter {
        let mut w = KeyWriter {
            hash: Sha256::new(),
            buffer: Vec::with_capacity(ROOM + 64),
            files: SecondaryMap::new(),
            met_files: 0,
        };
        w.str(VERSION);
        w.options(options);
        w
    }

    fn key(mut self) -> CacheKey {
        self.flush();
        CacheKey(self.hash.finalize().into())
    }

    fn flush(&mut self) {
        self.hash.update(&self.buffer);
        self.buffer.clear();
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= ROOM {
            self.flush();
        }
    }

    fn u8(&mut self, x: u8) {
        self.bytes(&[x]);
    }

    fn u32(&mut self, x: u32) {
        self.bytes(&x.to_le_bytes());
    }

    fn u64(&mut self, x: u64) {
        self.bytes(&x.to_le_bytes());
    }

    fn len(&mut self, n: usize) {
        self.u64(n as u64);
    }

    fn str(&mut self, s: &str) {
        self.len(s.len());
        self.bytes(s.as_bytes());
    }

    fn ty(&mut self, ty: Type) {
        self.u8(ty.scalar() as u8);
        self.u32(ty.lanes());
    }

    fn options(&mut self, options: &CompileOptions) {
        // Destructured in full, so that a new option must be handled here.
        let CompileOptions {
            target,
            dump: _,
            report: _,
            simd_cf,
            inline,
            opt: _,
            without: _,
            large_buffers: _,
            grfs,
            grf_mode,
            allocator,
            by_channel,
            check,
        } = options;
        self.str(target.name());
        self.u32(target.family());
        self.str(simd_cf.name());
        self.str(inline.name());
        // Levels and buffer sizes count only by the passes that run.
        let passes: Vec<Pass> = options.passes().iter().collect();
        self.len(passes.len());
        for pass in passes {
            self.str(pass.name());
        }
        self.u32(grfs.unwrap_or(u32::MAX));
        self.str(grf_mode.name());
        self.str(allocator.name());
        self.u8(u8::from(*by_channel));
        // Checks change no code. But a result that was not checked must not serve a request with
        // checks.
        self.u8(u8::from(*check));
    }

    fn data(&mut self, data: &Data) {
        let Data {
            name,
            align,
            scalar,
            bytes,
            string,
            written,
            relocs,
        } = data;
        self.u8(u8::from(*string));
        self.u8(u8::from(*written));
        self.str(name);
        self.u32(*align);
        self.u8(*scalar as u8);
        self.len(bytes.len());
        self.bytes(bytes);
        self.len(relocs.len());
        for r in relocs {
            let DataReloc {
                offset,
                data,
                addend,
            } = *r;
            self.u32(offset);
            self.u32(data.as_u32());
            self.bytes(&addend.to_le_bytes());
        }
    }

    fn param(&mut self, param: &Param) {
        self.ty(param.ty);
        self.u8(param.noalias.into());
        match param.kind {
            ArgKind::Value => self.u8(0),
            ArgKind::Ptr => self.u8(1),
            ArgKind::Slm => self.u8(2),
            ArgKind::Surface => self.u8(3),
            ArgKind::Image(shape, access) => {
                self.u8(4);
                self.str(shape.name());
                self.str(access.name());
            }
            ArgKind::Sampler => self.u8(5),
        }
    }

    fn param_info(&mut self, info: &ParamInfo) {
        let ParamInfo { name, role } = info;
        self.str(name);
        match *role {
            ParamRole::Argument => self.u8(0),
            ParamRole::Resource(place, resource) => {
                let BindingPlace {
                    set,
                    binding,
                    element,
                } = place;
                self.u8(1);
                [set, binding, element].iter().for_each(|&n| self.u32(n));
                match resource {
                    Resource::StorageBuffer { least, read_only } => {
                        self.u8(u8::from(read_only));
                        self.u32(least);
                    }
                    Resource::UniformBuffer { least } => {
                        self.u8(2);
                        self.u32(least);
                    }
                    Resource::Image => self.u8(3),
                    Resource::Sampler => self.u8(4),
                }
            }
            ParamRole::PushConstants => self.u8(2),
            ParamRole::SizeOf(of) => {
                self.u8(3);
                self.u32(of);
            }
        }
    }

    fn kind(&mut self, kind: FuncKind) {
        match kind {
            FuncKind::Kernel {
                simd,
                slm_bytes,
                scratch_bytes,
                group_size,
                float,
            } => {
                self.u8(1);
                self.u32(simd);
                self.u32(slm_bytes);
                self.u32(scratch_bytes);
                self.u8(u8::from(group_size.is_some()));
                group_size.iter().flatten().for_each(|&n| self.u32(n));
                let crate::ir::FloatControls {
                    flush_f16,
                    flush_f32,
                    flush_f64,
                    toward_zero,
                    contract,
                } = float;
                for flag in [flush_f16, flush_f32, flush_f64, toward_zero, contract] {
                    self.u8(u8::from(flag));
                }
            }
            FuncKind::Subroutine => self.u8(0),
        }
    }

    /// Writes a location: the number of its file, followed by the name the first time.
    fn srcloc(&mut self, module: &Module, loc: SourceLoc) {
        self.u32(loc.line());
        if loc.is_none() {
            return;
        }
        self.u32(loc.column().into());
        let file = loc.file();
        let Some(name) = module.files.get(file) else {
            return self.u32(0);
        };
        let new = self.files[file] == 0;
        if new {
            self.met_files += 1;
            self.files[file] = self.met_files;
        }
        self.u32(self.files[file]);
        if new {
            self.str(name);
        }
    }

    fn region(&mut self, region: &Region) {
        let Region {
            vstride,
            width,
            hstride,
            offset,
            parent_width,
        } = *region;
        for n in [vstride, width, hstride, offset, parent_width] {
            self.u32(n.into());
        }
    }

    fn mem(&mut self, mem: MemFlags) {
        let MemFlags {
            space,
            align,
            volatile,
            constant,
        } = mem;
        match space {
            Space::Global => self.u8(0),
            Space::Slm => self.u8(1),
            Space::Surface(n) => [2, n].iter().for_each(|&b| self.u8(b)),
            Space::Scratch => self.u8(3),
        }
        self.u8(align);
        self.u8(u8::from(volatile));
        self.u8(u8::from(constant));
    }
}

/// Function being written. Values and blocks are numbered from 1 in order of occurrence.
struct FunctionWriter<'a> {
    w: &'a mut KeyWriter,
    func: &'a Function,
    values: SecondaryMap<Value, u32>,
    met: u32,
    blocks: SecondaryMap<Block, u32>,
    met_blocks: u32,
}

impl<'a> FunctionWriter<'a> {
    fn new(w: &'a mut KeyWriter, func: &'a Function) -> FunctionWriter<'a> {
        FunctionWriter {
            w,
            func,
            values: SecondaryMap::with_capacity(func.dfg.num_values()),
            met: 0,
            blocks: SecondaryMap::with_capacity(func.dfg.num_blocks()),
            met_blocks: 0,
        }
    }

    fn function(mut self, module: &Module) {
        let Function {
            name: _,
            kind: _,
            sig: _,
            dfg: _,
            layout: _,
            srclocs,
            // Not in a zebin.
            labels: _,
            samplers,
            reflection,
        } = self.func;
        let func = self.func;
        let placed = func.layout.blocks().iter();
        let mut placed = placed.flat_map(|&b| func.layout.insts(b));
        let located = func.has_srclocs() && placed.any(|&i| !srclocs[i].is_none());
        let w = &mut *self.w;
        w.str(&func.name);
        w.kind(func.kind);
        w.len(func.sig.params.len());
        func.sig.params.iter().for_each(|p| w.param(p));
        w.len(func.sig.results.len());
        func.sig.results.iter().for_each(|t| w.ty(*t));
        w.len(samplers.len());
        for s in samplers {
            let crate::ir::Sampler {
                addressing,
                linear,
                normalized,
            } = *s;
            w.u8(addressing as u8);
            w.u8(u8::from(linear));
            w.u8(u8::from(normalized));
        }
        w.len(reflection.iter().len());
        reflection.iter().for_each(|i| w.param_info(i));
        w.u8(u8::from(located));
        w.len(func.layout.blocks().len());
        for &block in func.layout.blocks() {
            self.block(block);
            let params = if func.dfg.has_block(block) {
                func.dfg.block_params(block)
            } else {
                &[]
            };
            self.defined(params);
            let insts = func.layout.insts(block);
            self.w.len(insts.len());
            insts.iter().for_each(|&i| self.inst(i));
            if located {
                insts
                    .iter()
                    .for_each(|&i| self.w.srcloc(module, srclocs[i]));
            }
        }
    }

    /// Invalid entities have the number 0: nothing with them is ever compiled.
    fn value(&mut self, v: Value) {
        if !self.func.dfg.has_value(v) {
            return self.w.u32(0);
        }
        if self.values[v] == 0 {
            self.met += 1;
            self.values[v] = self.met;
        }
        self.w.u32(self.values[v]);
    }

    fn block(&mut self, b: Block) {
        if !self.func.dfg.has_block(b) {
            return self.w.u32(0);
        }
        if self.blocks[b] == 0 {
            self.met_blocks += 1;
            self.blocks[b] = self.met_blocks;
        }
        self.w.u32(self.blocks[b]);
    }

    /// Writes values with their types.
    fn defined(&mut self, values: &[Value]) {
        self.w.len(values.len());
        for &v in values {
            self.value(v);
            if self.func.dfg.has_value(v) {
                self.w.ty(self.func.dfg.ty(v));
            }
        }
    }

    fn values(&mut self, values: &[Value]) {
        values.iter().for_each(|&v| self.value(v));
    }

    fn optional(&mut self, values: &[PackedOption<Value>]) {
        for v in values {
            self.w.u8(u8::from(v.is_some()));
            v.expand().into_iter().for_each(|v| self.value(v));
        }
    }

    fn list(&mut self, list: ValueList) {
        let values = list.as_slice(&self.func.dfg.pool);
        self.w.len(values.len());
        self.values(values);
    }

    fn call(&mut self, call: &BlockCall) {
        self.block(call.block);
        self.list(call.args);
    }

    fn constant(&mut self, constant: Constant) {
        let lanes = if self.func.dfg.has_constant(constant) {
            self.func.dfg.constant(constant)
        } else {
            &[]
        };
        self.w.len(lanes.len());
        lanes.iter().for_each(|&bits| self.w.u64(bits));
    }

    fn inst(&mut self, inst: Inst) {
        let dfg = &self.func.dfg;
        if !dfg.has_inst(inst) {
            return self.w.u32(u32::MAX);
        }
        let data = dfg.data(inst);
        self.w.u32(data.opcode() as u32);
        self.defined(dfg.results(inst));
        self.operands(data);
    }

    /// Writes the format's number, then all operands.
    fn operands(&mut self, data: &InstData) {
        match *data {
            InstData::Nullary { opcode: _ } => self.w.u8(0),
            InstData::Imm { opcode: _, bits } => {
                self.w.u8(1);
                self.w.u64(bits);
            }
            InstData::ImmVec {
                opcode: _,
                constant,
            } => {
                self.w.u8(2);
                self.constant(constant);
            }
            InstData::Launch { opcode: _, dim } => {
                self.w.u8(3);
                self.w.u8(dim as u8);
            }
            InstData::Unary { opcode: _, arg } => {
                self.w.u8(4);
                self.value(arg);
            }
            InstData::Binary { opcode: _, args } => {
                self.w.u8(5);
                self.values(&args);
            }
            InstData::Ternary { opcode: _, args } => {
                self.w.u8(6);
                self.values(&args);
            }
            InstData::IntCompare {
                opcode: _,
                cond,
                args,
            } => {
                self.w.u8(7);
                self.w.u8(cond as u8);
                self.values(&args);
            }
            InstData::FloatCompare {
                opcode: _,
                cond,
                args,
            } => {
                self.w.u8(8);
                self.w.u8(cond as u8);
                self.values(&args);
            }
            InstData::RdRegion {
                opcode: _,
                arg,
                ref region,
                index,
            } => {
                self.w.u8(9);
                self.value(arg);
                self.w.region(region);
                self.optional(&[index]);
            }
            InstData::WrRegion {
                opcode: _,
                args,
                ref region,
                index,
                mask,
            } => {
                self.w.u8(10);
                self.values(&args);
                self.w.region(region);
                self.optional(&[index, mask]);
            }
            InstData::RdPred {
                opcode: _,
                arg,
                offset,
            } => {
                self.w.u8(11);
                self.value(arg);
                self.w.u8(offset);
            }
            InstData::WrPred {
                opcode: _,
                args,
                offset,
            } => {
                self.w.u8(12);
                self.values(&args);
                self.w.u8(offset);
            }
            InstData::Load {
                opcode: _,
                mem,
                addr,
                offset,
                mask,
                old,
            } => {
                self.w.u8(13);
                self.w.mem(mem);
                self.value(addr);
                self.w.u32(offset as u32);
                self.optional(&[mask, old]);
            }
            InstData::Store {
                opcode: _,
                mem,
                args,
                offset,
                mask,
            } => {
                self.w.u8(14);
                self.w.mem(mem);
                self.values(&args);
                self.w.u32(offset as u32);
                self.optional(&[mask]);
            }
            InstData::Atomic {
                opcode: _,
                op,
                mem,
                addr,
                offset,
                data,
                mask,
                old,
            } => {
                self.w.u8(15);
                self.w.u8(op as u8);
                self.w.mem(mem);
                self.value(addr);
                self.w.u32(offset as u32);
                self.optional(&data);
                self.optional(&[mask, old]);
            }
            InstData::Fence {
                opcode: _,
                spaces,
                scope,
            } => [16, spaces as u8, scope as u8]
                .iter()
                .for_each(|&b| self.w.u8(b)),
            InstData::Image {
                opcode: _,
                at,
                coords,
                lod,
                data,
                mask,
                old,
            } => {
                [17, at.image, at.sampler]
                    .iter()
                    .for_each(|&b| self.w.u8(b));
                self.optional(&coords);
                self.optional(&[lod, data, mask, old]);
            }
            InstData::ArgQuery {
                opcode: _,
                fact,
                of,
            } => {
                let fact = match fact {
                    ArgFact::Image(f) => f as u8,
                    ArgFact::Sampler(f) => f as u8,
                };
                [18, fact, of].iter().for_each(|&b| self.w.u8(b));
            }
            InstData::Media {
                opcode: _,
                image,
                width,
                coords,
                data,
            } => {
                [19, image, width].iter().for_each(|&b| self.w.u8(b));
                self.values(&coords);
                self.optional(&[data]);
            }
            InstData::Send {
                opcode: _,
                exec,
                descs,
                payload,
                second,
                mask,
            } => {
                [20, exec].iter().for_each(|&b| self.w.u8(b));
                descs.iter().for_each(|&d| self.w.u32(d));
                self.value(payload);
                self.optional(&[second, mask]);
            }
            InstData::Dpas {
                opcode: _,
                shape,
                args,
            } => {
                let DpasShape {
                    columns,
                    rows,
                    repeat,
                } = shape;
                [28, columns as u8, rows as u8, repeat]
                    .iter()
                    .for_each(|&b| self.w.u8(b));
                self.values(&args);
            }
            InstData::Block2d {
                opcode: _,
                shape,
                args,
                data,
            } => {
                let Block2dShape {
                    layout,
                    bytes,
                    rows,
                    columns,
                    blocks,
                } = shape;
                [29, layout as u8, bytes, rows, columns, blocks]
                    .iter()
                    .for_each(|&b| self.w.u8(b));
                self.values(&args);
                self.optional(&[data]);
            }
            InstData::NamedBarrier {
                opcode: _,
                number,
                threads,
            } => {
                [30, number].iter().for_each(|&b| self.w.u8(b));
                self.value(threads);
            }
            InstData::Symbol { opcode: _, data } => {
                self.w.u8(21);
                self.w.u32(data.index() as u32);
            }
            InstData::Call {
                opcode: _,
                func,
                args,
            } => {
                self.w.u8(22);
                self.w.u32(func.index() as u32);
                self.list(args);
            }
            InstData::Jump {
                opcode: _,
                ref dest,
            } => {
                self.w.u8(23);
                self.call(dest);
            }
            InstData::Brif {
                opcode: _,
                cond,
                ref dests,
            } => {
                self.w.u8(24);
                self.value(cond);
                dests.iter().for_each(|d| self.call(d));
            }
            InstData::Switch {
                opcode: _,
                arg,
                cases,
            } => {
                self.w.u8(26);
                self.value(arg);
                let cases = self.func.dfg.cases(cases);
                self.w.len(cases.values.len());
                cases.values.iter().for_each(|&v| self.w.u64(v));
                self.w.len(cases.dests.len());
                cases.dests.iter().for_each(|d| self.call(d));
            }
            InstData::Printf {
                opcode: _,
                format,
                args,
                mask,
            } => {
                self.w.u8(27);
                self.w.u32(format.index() as u32);
                self.list(args);
                self.optional(&[mask]);
            }
            InstData::Return { opcode: _, args } => {
                self.w.u8(25);
                self.list(args);
            }
        }
    }
}
