//! Compiling by way of a cache of code.

use crate::spirv_in::SpirvError;
use gantry_codegen::ir::Module;
use gantry_codegen::{CacheKey, CodegenError, CompileOptions, Compiled, Context};
use gantry_runtime::{CachedCode, CodeCache};
use gantry_spirv::Options;
use std::io;
use std::ops::Deref;

/// A zebin that was in a cache, or was made for want of it.
#[derive(Debug)]
#[non_exhaustive]
pub enum Zebin {
    /// It was there.
    Cached(CachedCode),
    /// It was compiled.
    Compiled {
        /// The module, compiled.
        compiled: Compiled,
        /// Whether it could be stored. It is as good if not.
        stored: io::Result<()>,
    },
}

impl Zebin {
    /// Whether it was in the cache.
    pub fn is_hit(&self) -> bool {
        matches!(self, Zebin::Cached(_))
    }
}

impl Deref for Zebin {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Zebin::Cached(code) => code,
            Zebin::Compiled { compiled, .. } => &compiled.zebin,
        }
    }
}

/// The zebin of a module: from the cache if it is there, else compiled and stored there. What options ask to be dumped is dumped only where it
/// is compiled.
///
/// ```
/// use gantry::codegen::{CompileOptions, Context, text};
/// use gantry::runtime::{CodeCache, Device, DeviceKind};
///
/// # let dir = tempfile::tempdir()?;
/// # let directory = dir.path();
/// let device = Device::open(DeviceKind::Auto)?;
/// let options = CompileOptions::for_device(&device.info())?;
/// let cache = CodeCache::open(directory)?;
/// let mut context = Context::new();
/// let module = text::parse("kernel %nothing() simd8 {\nblock0:\n    return\n}\n")?.module;
/// let first = gantry::compile_cached(&cache, &mut context, &module, &options)?;
/// let again = gantry::compile_cached(&cache, &mut context, &module, &options)?;
/// assert!(!first.is_hit() && again.is_hit() && first[..] == again[..]);
/// device.load(&again)?.kernel("nothing")?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The module does not compile. (What is wrong with a cache is none: it is then as if nothing were in it.)
pub fn compile_cached(
    cache: &CodeCache,
    context: &mut Context,
    module: &Module,
    options: &CompileOptions,
) -> Result<Zebin, CodegenError> {
    let key = CacheKey::new(module, options);
    by_key(cache, key, || context.compile(module, options))
}

/// The zebin of the kernels of a module of SPIR-V, by way of a cache. Its key is of the words: what is in the cache is found without translating them. The
/// zebin says what a host needs to know of its kernels: names, bindings, the size of a group.
///
/// # Errors
/// As those of [`compile_spirv`](crate::compile_spirv).
pub fn compile_spirv_cached(
    cache: &CodeCache,
    context: &mut Context,
    words: &[u32],
    options: &Options,
    target: &CompileOptions,
) -> Result<Zebin, SpirvError> {
    let key = gantry_spirv::cache_key(words, options, target);
    by_key(cache, key, || {
        Ok(gantry_spirv::compile(words, options, target, context)?.1)
    })
}

/// The same of the compute shaders of a text of WGSL.
///
/// # Errors
/// As those of [`compile_wgsl`](crate::compile_wgsl).
#[cfg(feature = "wgsl")]
pub fn compile_wgsl_cached(
    cache: &CodeCache,
    context: &mut Context,
    text: &str,
    options: &Options,
    target: &CompileOptions,
) -> Result<Zebin, SpirvError> {
    let key = gantry_spirv::wgsl_cache_key(text, options, target);
    by_key(cache, key, || {
        crate::spirv_in::compile_text(context, text, options, target)
    })
}

fn by_key<E>(
    cache: &CodeCache,
    key: CacheKey,
    compile: impl FnOnce() -> Result<Compiled, E>,
) -> Result<Zebin, E> {
    if let Some(code) = cache.get(key.as_bytes()) {
        return Ok(Zebin::Cached(code));
    }
    let compiled = compile()?;
    let stored = cache.put(key.as_bytes(), &compiled.zebin);
    Ok(Zebin::Compiled { compiled, stored })
}
