//! Compiling by way of a cache of code.

use gantry_codegen::ir::Module;
use gantry_codegen::{CacheKey, CodegenError, CompileOptions, Compiled, Context};
use gantry_runtime::{CachedCode, CodeCache};
use std::io;
use std::ops::Deref;

/// A zebin that was in a cache, or was made for want of it.
#[derive(Debug)]
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
    if let Some(code) = cache.get(key.as_bytes()) {
        return Ok(Zebin::Cached(code));
    }
    let compiled = context.compile(module, options)?;
    let stored = cache.put(key.as_bytes(), &compiled.zebin);
    Ok(Zebin::Compiled { compiled, stored })
}
