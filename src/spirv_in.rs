//! Compilation of SPIR-V and WGSL.

use gantry_codegen::{CodegenError, CompileOptions, Compiled, Context};
#[cfg(feature = "wgsl")]
use gantry_spirv::wgsl::CompileWgslError;
use gantry_spirv::{CompileError, Errors, Options};

/// Reason why a SPIR-V module or WGSL text does not compile.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpirvError {
    /// Module that is wrong, or not supported in part.
    #[error(transparent)]
    Spirv(#[from] Errors),
    /// WGSL text that is wrong, or not supported in part.
    #[cfg(feature = "wgsl")]
    #[error(transparent)]
    Wgsl(#[from] gantry_spirv::wgsl::WgslError),
    /// IR that the compiler refuses.
    #[error(transparent)]
    Codegen(#[from] CodegenError),
}

impl From<CompileError> for SpirvError {
    fn from(e: CompileError) -> SpirvError {
        match e {
            CompileError::Spirv(e) => SpirvError::Spirv(e),
            CompileError::Codegen(e) => SpirvError::Codegen(e),
        }
    }
}

#[cfg(feature = "wgsl")]
impl From<CompileWgslError> for SpirvError {
    fn from(e: CompileWgslError) -> SpirvError {
        match e {
            CompileWgslError::Wgsl(e) => SpirvError::Wgsl(e),
            CompileWgslError::Codegen(e) => SpirvError::Codegen(e),
        }
    }
}

/// Compiles the kernels of a module of SPIR-V.
///
/// ```no_run
/// use gantry::codegen::CompileOptions;
/// let words = gantry::spirv_words(&std::fs::read("k.spv")?).ok_or("no whole words")?;
/// let options = gantry::spirv::Options::default();
/// let zebin = gantry::compile_spirv(&words, &options, &CompileOptions::for_target("skl")?)?.zebin;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The module has errors, all of which are listed, or the compiler refuses its IR.
pub fn compile_spirv(
    words: &[u32],
    options: &Options,
    target: &CompileOptions,
) -> Result<Compiled, SpirvError> {
    let compiled = gantry_spirv::compile(words, options, target, &mut Context::new());
    Ok(compiled?.1)
}

/// Compiles the compute shaders of a WGSL text.
///
/// ```
/// use gantry::codegen::CompileOptions;
/// use gantry::runtime::{Device, DeviceKind};
/// use gantry::spirv::Options;
///
/// let text = "
///     @group(0) @binding(0) var<storage, read_write> data: array<u32>;
///     @compute @workgroup_size(64)
///     fn double(@builtin(global_invocation_id) id: vec3<u32>) {
///         data[id.x] *= 2u;
///     }
/// ";
/// let device = Device::open(DeviceKind::Auto)?;
/// let target = CompileOptions::for_device(&device.info())?;
/// let zebin = gantry::compile_wgsl(text, &Options::default(), &target)?.zebin;
///
/// let data = device.buffer_from(&[21u32; 100])?;
/// let kernel = device.load(&zebin)?.kernel("double")?;
/// // The zebin has the bindings and the group size. The buffer's length, which the shader asks
/// // for, is filled in.
/// kernel.dispatch([2, 1, 1]).bind(0, 0, &data).run()?;
/// assert_eq!(data.read::<u32>()?, [42; 100]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// naga refuses the text, parts of it are not supported, or the compiler refuses its IR.
#[cfg(feature = "wgsl")]
pub fn compile_wgsl(
    text: &str,
    options: &Options,
    target: &CompileOptions,
) -> Result<Compiled, SpirvError> {
    compile_text(&mut Context::new(), text, options, target)
}

/// Compiles a WGSL text in a context's memory.
#[cfg(feature = "wgsl")]
pub(crate) fn compile_text(
    context: &mut Context,
    text: &str,
    options: &Options,
    target: &CompileOptions,
) -> Result<Compiled, SpirvError> {
    Ok(gantry_spirv::wgsl::compile_wgsl(text, options, target, context)?.1)
}

/// Returns the words of a SPIR-V file in either byte order; `None` if bytes are left over.
pub fn spirv_words(bytes: &[u8]) -> Option<Vec<u32>> {
    let (words, rest) = bytes.as_chunks::<4>();
    let swapped = words.first() == Some(&[0x07, 0x23, 0x02, 0x03]);
    let word = |w: &[u8; 4]| {
        if swapped {
            u32::from_be_bytes(*w)
        } else {
            u32::from_le_bytes(*w)
        }
    };
    rest.is_empty().then(|| words.iter().map(word).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        assert_eq!(spirv_words(&[3, 2, 0x23, 7]), Some(vec![0x0723_0203]));
        assert_eq!(spirv_words(&[7, 0x23, 2, 3]), Some(vec![0x0723_0203]));
        assert_eq!(spirv_words(&[7, 0x23, 2]), None);
    }
}
