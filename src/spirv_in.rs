//! Compiling SPIR-V and WGSL.

use gantry_codegen::{CodegenError, CompileOptions, Compiled, Context};
use gantry_spirv::{CompileError, Errors, Options};

/// Why a module of SPIR-V is not compiled.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpirvError {
    /// What is wrong with it, or not supported.
    #[error(transparent)]
    Spirv(#[from] Errors),
    /// What is wrong with a text of WGSL, or not supported.
    #[cfg(feature = "wgsl")]
    #[error(transparent)]
    Wgsl(#[from] gantry_spirv::wgsl::WgslError),
    /// What the compiler says of its IR.
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
/// Everything found wrong with the module, or what the compiler says of its IR.
pub fn compile_spirv(
    words: &[u32],
    options: &Options,
    target: &CompileOptions,
) -> Result<Compiled, SpirvError> {
    let compiled = gantry_spirv::compile(words, options, target, &mut Context::new());
    Ok(compiled?.1)
}

/// Options that name the target.
#[cfg(feature = "wgsl")]
fn for_target(options: &Options, target: &CompileOptions) -> Options {
    Options {
        target: Some(target.clone()),
        ..options.clone()
    }
}

/// Compiles the compute shaders of a text of WGSL.
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
/// // The zebin knows what is bound where, and the size of a group; the bytes of the buffer, which the shader asks for, are filled in.
/// kernel.dispatch([2, 1, 1]).bind(0, 0, &data).run()?;
/// assert_eq!(data.read::<u32>()?, [42; 100]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// What naga says of the text, everything found that is not supported, or what the compiler says of its IR.
#[cfg(feature = "wgsl")]
pub fn compile_wgsl(
    text: &str,
    options: &Options,
    target: &CompileOptions,
) -> Result<Compiled, SpirvError> {
    compile_text(&mut Context::new(), text, options, target)
}

/// The same in a context's memory.
#[cfg(feature = "wgsl")]
pub(crate) fn compile_text(
    context: &mut Context,
    text: &str,
    options: &Options,
    target: &CompileOptions,
) -> Result<Compiled, SpirvError> {
    let translated = gantry_spirv::wgsl::translate_wgsl(text, &for_target(options, target))?;
    Ok(context.compile(&translated.module, target)?)
}

/// The words of a file of SPIR-V, whichever byte comes first; none where bytes are left over.
pub fn spirv_words(bytes: &[u8]) -> Option<Vec<u32>> {
    let (words, rest) = bytes.as_chunks::<4>();
    let swapped = words.first() == Some(&[0x07, 0x23, 0x02, 0x03]);
    let word = |w: &[u8; 4]| match swapped {
        true => u32::from_be_bytes(*w),
        false => u32::from_le_bytes(*w),
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
