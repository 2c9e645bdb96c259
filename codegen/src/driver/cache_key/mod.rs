//! Cache keys of compiled modules.
//!
//! A key is the SHA-256 of a canonical serialization of the compiler's version, the host's triple,
//! the options and the module. Fields follow each other, integers are little-endian, lists and
//! names come after their lengths, and options after a flag. Nothing of a process or a build is
//! included.

mod function;

use crate::driver::options::{CompileOptions, DebugOptions};
use crate::ir::{
    ArgKind, BindingPlace, Data, DataReloc, FuncKind, Module, Param, ParamInfo, ParamRole,
    Resource, SourceFile, SourceLoc, Type,
};
use crate::passes::Pass;
use cranelift_entity::SecondaryMap;
use function::FunctionWriter;
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
        w.str(&target_lexicon::HOST.to_string());
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
            check,
            debug:
                DebugOptions {
                    allocator,
                    lane_sharing,
                },
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
        self.u8(u8::from(*lane_sharing));
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
                    reciprocal,
                } = float;
                let modes = [flush_f16, flush_f32, flush_f64, toward_zero];
                for flag in modes.into_iter().chain([contract, reciprocal]) {
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
}
