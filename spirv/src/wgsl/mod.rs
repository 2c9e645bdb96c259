//! WGSL front end: compute shaders become SPIR-V through naga, and are translated like any other.

mod directives;
mod modules;
mod overrides;

pub use modules::{NagaEntry, compile_naga, naga_to_spirv, translate_naga};
/// The version of naga whose modules [`NagaEntry`] takes.
pub use naga;

use crate::error::{CompileError, Errors};
use crate::options::Options;
use crate::pipeline::{compile, translate};
use crate::translated::Translated;
use gantry_codegen::{CodegenError, CompileOptions, Compiled, Context};
use naga::back::pipeline_constants::process_overrides;
use naga::back::spv;
use naga::compact::{KeepUnused, compact};
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::{Capabilities, ValidationFlags, Validator};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Maximum bytes of a text with line information.
const MAX_LOCATED: usize = 256 << 10;

/// Error of translating a text.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WgslError {
    /// Error of naga about the text, with its lines.
    #[error("{0}")]
    Text(String),
    /// Panic of naga, with its message. It is a bug there, not in the text.
    #[error("naga, which reads WGSL, panicked: {0}")]
    Panic(String),
    /// SPIR-V that is invalid or not supported.
    #[error(transparent)]
    Spirv(#[from] Errors),
    /// The same of an entry point of a module of naga.
    #[error("the entry point `{entry}`: {errors}")]
    Entry {
        /// Name of the entry point.
        entry: String,
        /// Everything that is invalid or not supported.
        errors: Errors,
    },
}

impl WgslError {
    fn of_entry(entry: &str, errors: Errors) -> WgslError {
        let entry = entry.to_owned();
        WgslError::Entry { entry, errors }
    }
}

/// Error of translating or compiling a text.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CompileWgslError {
    /// Text that is invalid or not supported.
    #[error(transparent)]
    Wgsl(#[from] WgslError),
    /// Error of the compiler about the IR.
    #[error(transparent)]
    Codegen(#[from] CodegenError),
}

impl From<CompileError> for CompileWgslError {
    fn from(e: CompileError) -> CompileWgslError {
        match e {
            CompileError::Spirv(e) => CompileWgslError::Wgsl(e.into()),
            CompileError::Codegen(e) => CompileWgslError::Codegen(e),
        }
    }
}

/// Converts the compute shaders of a text to SPIR-V. An override that needs a value and has none is
/// an error.
///
/// # Errors
/// Errors of naga, or a text without compute shaders.
pub fn to_spirv(text: &str) -> Result<Vec<u32>, WgslError> {
    with_overrides(text, &Options::default())
}

thread_local! {
    static IN_NAGA: Cell<bool> = const { Cell::new(false) };
}

/// Returns true while this thread runs naga's code.
pub fn is_in_naga() -> bool {
    IN_NAGA.get()
}

/// Runs naga, and turns panics into errors. The process's panic hook runs first. A hook that is to
/// stay silent for these panics can test [`is_in_naga`].
fn in_naga<T>(f: impl FnOnce() -> Result<T, WgslError>) -> Result<T, WgslError> {
    IN_NAGA.set(true);
    // The state that naga worked on is dropped.
    let done = catch_unwind(AssertUnwindSafe(f));
    IN_NAGA.set(false);
    done.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        Err(WgslError::Panic(text.unwrap_or_default()))
    })
}

/// Converts a text with values of overrides.
fn with_overrides(text: &str, options: &Options) -> Result<Vec<u32>, WgslError> {
    in_naga(|| written(text, options))
}

fn written(text: &str, options: &Options) -> Result<Vec<u32>, WgslError> {
    let parsed = directives::without(text);
    let mut module = naga::front::wgsl::parse_str(&parsed)
        .map_err(|e| WgslError::Text(e.emit_to_string(text)))?;
    let compute = |e: &naga::EntryPoint| e.stage == naga::ShaderStage::Compute;
    // Other stages are ignored.
    module.entry_points.retain(compute);
    validate(&module, text)?;
    let asked = overrides::asked(&module, options).map_err(WgslError::Text)?;
    if module.entry_points.is_empty() {
        return Err(WgslError::Text("there is no compute shader".to_owned()));
    }
    compact(&mut module, KeepUnused::No);
    let info = validate(&module, text)?;
    let values = overrides::of(&module, asked);
    let (module, info) = process_overrides(&module, &info, None, &values)
        .map_err(|e| WgslError::Text(e.to_string()))?;
    // naga counts lines from the start for each statement, which is quadratic.
    let named = options.source_name.as_deref();
    let named = named.filter(|_| text.len() <= MAX_LOCATED);
    let options = spv::Options {
        debug_info: named.map(|file_name| spv::DebugInfo {
            source_code: text,
            file_name,
            language: spv::SourceLanguage::WGSL,
        }),
        ..compute_options()
    };
    let words = spv::write_vec(&module, &info, &options, None);
    words.map_err(|e| WgslError::Text(e.to_string()))
}

/// Options of naga's writer.
fn compute_options<'a>() -> spv::Options<'a> {
    let unchecked = BoundsCheckPolicy::Unchecked;
    spv::Options {
        lang_version: (1, 3),
        // Names are for messages, and to find bindings.
        flags: spv::WriterFlags::DEBUG,
        // The translation checks indices at accesses, without branches.
        bounds_check_policies: BoundsCheckPolicies {
            index: unchecked,
            buffer: unchecked,
            image_load: unchecked,
            binding_array: unchecked,
        },
        zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode::Native,
        force_loop_bounding: false,
        ..spv::Options::default()
    }
}

fn validate(module: &naga::Module, text: &str) -> Result<naga::valid::ModuleInfo, WgslError> {
    let mut validator = Validator::new(ValidationFlags::all(), Capabilities::all());
    let info = validator
        .subgroup_stages(naga::valid::ShaderStages::COMPUTE)
        .subgroup_operations(naga::valid::SubgroupOperationSet::all())
        .validate(module);
    info.map_err(|e| WgslError::Text(e.emit_to_string(text)))
}

/// Translates the compute shaders of a text. Accesses are robust, unless the options say otherwise.
///
/// # Errors
/// Errors of naga, and everything that is not supported.
pub fn translate_wgsl(text: &str, options: &Options) -> Result<Translated, WgslError> {
    let words = with_overrides(text, options)?;
    Ok(translate(&words, &of_words(options))?)
}

/// Translates the compute shaders of a text and compiles them for `target`, in the memory of a
/// context. It is [`compile`] for WGSL.
///
/// # Errors
/// Those of [`translate_wgsl`] and of [`Context::compile`].
pub fn compile_wgsl(
    text: &str,
    options: &Options,
    target: &CompileOptions,
    context: &mut Context,
) -> Result<(Translated, Compiled), CompileWgslError> {
    let words = with_overrides(text, options)?;
    Ok(compile(&words, &of_words(options), target, context)?)
}

/// Returns the options for the SPIR-V that naga writes. All overrides have their values there.
fn of_words(options: &Options) -> Options {
    Options {
        robust: Some(options.robust.unwrap_or(true)),
        spec_constants: Default::default(),
        constants: Default::default(),
        ..options.clone()
    }
}
