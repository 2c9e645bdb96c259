//! Compiling SPIR-V.

use gantry_codegen::{CodegenError, CompileOptions, Compiled, compile};
use gantry_spirv::{Errors, Options, translate};

/// Why a module of SPIR-V is not compiled.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SpirvError {
    /// What is wrong with it, or not supported.
    #[error(transparent)]
    Spirv(#[from] Errors),
    /// What the compiler says of its IR.
    #[error(transparent)]
    Codegen(#[from] CodegenError),
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
    let translated = translate(words, options)?;
    Ok(compile(&translated.module, target)?)
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
