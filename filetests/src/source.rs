//! Languages of filetests, and translation of their files to modules.

use crate::file::TestFile;
use gantry_codegen::ir::Module;
use gantry_codegen::text;
use gantry_codegen::verifier::{verify_module, verify_parsed};
use gantry_codegen::{CompileOptions, Inline, Target};
use gantry_spirv::{Options, Simd, Translated, assemble, translate};

/// Language of a module, by the file's name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// IR text (`.gir`), and any file that is not of another language.
    Gir,
    /// WGSL (`.wgsl`).
    Wgsl,
    /// SPIR-V as `spirv-dis` prints it (`.spvasm`).
    Spvasm,
    /// `k.spv.test`, whose module is the binary `k.spv` beside it.
    Spirv,
}

impl Language {
    /// Returns the language of a file.
    pub fn of(path: &str) -> Language {
        let ends = |end| path.ends_with(end);
        match () {
            () if ends(".wgsl") => Language::Wgsl,
            () if ends(".spvasm") => Language::Spvasm,
            () if ends(".spv.test") => Language::Spirv,
            () => Language::Gir,
        }
    }

    /// Returns the SIMD widths at which a file's kernels are tested. IR states its own.
    pub fn widths(self) -> &'static [Simd] {
        match self {
            Language::Gir => &[Simd::Auto],
            _ => &[Simd::Width(8), Simd::Width(16), Simd::Width(32)],
        }
    }
}

/// Returns a test for targets that have everything that a module of the file uses, whatever
/// language the file is in.
pub(crate) fn fits(file: &TestFile, module: &Module) -> impl Fn(&Target) -> bool {
    let text = match Language::of(&file.path) {
        Language::Gir => None,
        _ => Some(module.to_string()),
    };
    move |target| file.text_is_for(text.as_deref().unwrap_or(&file.body), target)
}

/// Returns the modules of a text, which lines `; module` separate. In each the lines of others are
/// blank, so that line numbers stay correct.
fn parts(body: &str) -> Vec<String> {
    let mut out = vec![String::new()];
    let mut above = String::new();
    for line in body.split_inclusive('\n') {
        if line.trim() == "; module" {
            out.push(above.clone());
        }
        above.push('\n');
        if let Some(part) = out.last_mut() {
            part.push_str(line);
        }
    }
    out
}

/// Translates a file's body to a module of a width, for its target. Several modules of IR are
/// linked. The module verifies.
///
/// # Errors
/// The body is no module. The message has the location.
pub fn module(file: &TestFile, simd: Simd) -> Result<Module, String> {
    let language = Language::of(&file.path);
    if language == Language::Gir {
        let parsed = |body: &str| {
            text::parse(body)
                .and_then(|p| verify_parsed(&p).map(|()| p.module))
                .map_err(|d| d.render(&file.path, &file.source))
        };
        let parts = parts(&file.body);
        if let [one] = parts.as_slice() {
            return parsed(one);
        }
        let modules = parts.iter().map(|part| parsed(part));
        let modules = modules.collect::<Result<Vec<Module>, String>>()?;
        let modules: Vec<&Module> = modules.iter().collect();
        let linked = Module::link(&modules).map_err(|e| e.to_string())?;
        verify_module(&linked).map_err(|e| e.to_string())?;
        return Ok(linked);
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

/// Returns the words of a file of SPIR-V.
fn words(file: &TestFile, language: Language) -> Result<Vec<u32>, String> {
    if language == Language::Spvasm {
        return assemble(&file.body).map_err(|e| format!("{}: {e}", file.path));
    }
    let path = file.path.trim_end_matches(".test");
    let bytes = std::fs::read(path).map_err(|e| format!("{path}: {e}"))?;
    let (words, rest) = bytes.as_chunks::<4>();
    if rest.is_empty() {
        Ok(words.iter().map(|w| u32::from_le_bytes(*w)).collect())
    } else {
        Err(format!("{path}: SPIR-V consists of whole words"))
    }
}
