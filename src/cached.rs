//! Compilation through a cache of code.

use crate::spirv_in::SpirvError;
use gantry_codegen::ir::Module;
use gantry_codegen::{CacheKey, CodegenError, CompileOptions, Compiled, Context};
use gantry_runtime::{CachedCode, CodeCache};
use gantry_spirv::Options;
use std::io;
use std::ops::Deref;

/// Zebin from a cache, or one that was compiled because the cache had none.
#[derive(Debug)]
#[non_exhaustive]
pub enum Zebin {
    /// Zebin that was in the cache.
    Cached(CachedCode),
    /// Zebin that was compiled.
    Compiled {
        /// Compiled module.
        compiled: Compiled,
        /// Result of storing it in the cache. The zebin is valid either way.
        stored: io::Result<()>,
    },
}

impl Zebin {
    /// Returns true if the zebin was in the cache.
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

/// Returns the zebin of a module from the cache, or compiles and stores it. Dumps that the options
/// ask for are made only when it is compiled.
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
/// The module does not compile. A fault of the cache is no error: it counts as a miss.
pub fn compile_cached(
    cache: &CodeCache,
    context: &mut Context,
    module: &Module,
    options: &CompileOptions,
) -> Result<Zebin, CodegenError> {
    let key = CacheKey::new(module, options);
    by_key(cache, key, || context.compile(module, options))
}

/// Compiles the kernels of a SPIR-V module through a cache. The key is that of the words, so a hit
/// needs no translation. The zebin describes the kernels for a host: names, bindings and group
/// size.
///
/// # Errors
/// Errors are those of [`compile_spirv`](crate::compile_spirv).
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

/// Compiles the compute shaders of a WGSL text through a cache, as [`compile_spirv_cached`] does.
///
/// # Errors
/// Errors are those of [`compile_wgsl`](crate::compile_wgsl).
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
