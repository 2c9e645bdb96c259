//! What a filetest's file is written in, and the module that it is.

use crate::file::TestFile;
use gantry_codegen::ir::Module;
use gantry_codegen::text;
use gantry_codegen::verifier::{verify_module, verify_parsed};
use gantry_codegen::{CompileOptions, Inline};
use gantry_spirv::{Options, Simd, Translated, assemble, translate};

/// Languages of modules, by the file's name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// IR text (`.gir`), and what else is no file of the others.
    Gir,
    /// WGSL (`.wgsl`).
    Wgsl,
    /// SPIR-V as `spirv-dis` prints it (`.spvasm`).
    Spvasm,
    /// `k.spv.test`, whose module is the binary `k.spv` beside it.
    Spirv,
}

impl Language {
    /// The language of a file.
    pub fn of(path: &str) -> Language {
        let ends = |end| path.ends_with(end);
        match () {
            () if ends(".wgsl") => Language::Wgsl,
            () if ends(".spvasm") => Language::Spvasm,
            () if ends(".spv.test") => Language::Spirv,
            () => Language::Gir,
        }
    }

    /// The widths at which a file's kernels are tried: what IR is, it says itself.
    pub fn widths(self) -> &'static [Simd] {
        match self {
            Language::Gir => &[Simd::Auto],
            _ => &[Simd::Width(8), Simd::Width(16), Simd::Width(32)],
        }
    }
}

/// The module that a file's body is, of a width and for its target; it verifies.
///
/// # Errors
/// It is none, with the place.
pub fn module(file: &TestFile, simd: Simd) -> Result<Module, String> {
    let language = Language::of(&file.path);
    if language == Language::Gir {
        return text::parse(&file.body)
            .and_then(|p| verify_parsed(&p).map(|()| p.module))
            .map_err(|d| d.render(&file.path, &file.source));
    }
    let options = Options {
        simd,
        target: Some(CompileOptions::for_target(&file.target).map_err(|e| e.to_string())?),
        source_name: Some(file.path.clone()),
        inline: Inline::default(),
        ..Options::default()
    };
    let translated = match language {
        Language::Wgsl => wgsl(file, &options)?,
        _ => translate(&words(file, language)?, &options).map_err(|e| e.to_string())?,
    };
    verify_module(&translated.module).map_err(|e| format!("{e}\n{}", translated.module))?;
    Ok(translated.module)
}

#[cfg(feature = "wgsl")]
fn wgsl(file: &TestFile, options: &Options) -> Result<Translated, String> {
    gantry_spirv::wgsl::translate_wgsl(&file.body, options).map_err(|e| e.to_string())
}

#[cfg(not(feature = "wgsl"))]
fn wgsl(_: &TestFile, _: &Options) -> Result<Translated, String> {
    Err("WGSL needs the feature `wgsl`".to_owned())
}

/// The words of a file of SPIR-V.
fn words(file: &TestFile, language: Language) -> Result<Vec<u32>, String> {
    if language == Language::Spvasm {
        return assemble(&file.body).map_err(|e| format!("{}: {e}", file.path));
    }
    let path = file.path.trim_end_matches(".test");
    let bytes = std::fs::read(path).map_err(|e| format!("{path}: {e}"))?;
    let (words, rest) = bytes.as_chunks::<4>();
    match rest.is_empty() {
        true => Ok(words.iter().map(|w| u32::from_le_bytes(*w)).collect()),
        false => Err(format!("{path}: SPIR-V consists of whole words")),
    }
}
