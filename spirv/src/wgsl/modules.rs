//! Modules of naga: SPIR-V of one entry point, without a text.
//!
//! A host that has parsed and validated a shader, as wgpu has, hands over the module itself.

use super::{CompileWgslError, of_words};
use super::{WgslError, compute_options, in_naga};
use crate::options::Options;
use crate::pipeline::{compile, translate};
use crate::translated::Translated;
use gantry_codegen::{CompileOptions, Compiled, Context};
use naga::back::PipelineConstants;
use naga::back::pipeline_constants::process_overrides;
use naga::back::spv::{self, ZeroInitializeWorkgroupMemoryMode};
use naga::valid::ModuleInfo;
use naga::{Module, ShaderStage};
use std::error::Error;

/// Entry point of a module of naga, and what its pipeline says of it.
///
/// ```
/// use gantry_codegen::{CompileOptions, Context};
/// use gantry_spirv::Options;
/// use gantry_spirv::wgsl::{NagaEntry, compile_naga, naga};
///
/// let module = naga::front::wgsl::parse_str("
///     override factor: u32;
///     @group(0) @binding(0) var<storage, read_write> data: array<u32>;
///     @compute @workgroup_size(64)
///     fn scale(@builtin(global_invocation_id) id: vec3<u32>) { data[id.x] *= factor; }
/// ")?;
/// let (flags, all) = (Default::default(), naga::valid::Capabilities::all());
/// let info = naga::valid::Validator::new(flags, all).validate(&module)?;
/// let entry = NagaEntry {
///     constants: [("factor".to_owned(), 3.0)].into_iter().collect(),
///     ..NagaEntry::new(&module, &info, "scale")
/// };
/// let target = CompileOptions::for_target("tgllp")?;
/// let (_, compiled) = compile_naga(&entry, &Options::default(), &target, &mut Context::new())?;
/// assert_eq!(compiled.kernels[0].name, "scale");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct NagaEntry<'a> {
    /// Validated module, which may have other entry points.
    pub module: &'a Module,
    /// Result of its validation.
    pub info: &'a ModuleInfo,
    /// Name of the compute entry point.
    pub entry: &'a str,
    /// Values of overrides, by their name, or in decimal by their `@id` if they have one.
    pub constants: PipelineConstants,
    /// Zeroes workgroup memory before the shader begins, as WebGPU requires.
    pub zero_workgroup_memory: bool,
}

impl<'a> NagaEntry<'a> {
    /// Creates an entry point without values of overrides, whose workgroup memory is zeroed.
    pub fn new(module: &'a Module, info: &'a ModuleInfo, entry: &'a str) -> NagaEntry<'a> {
        NagaEntry {
            module,
            info,
            entry,
            constants: PipelineConstants::default(),
            zero_workgroup_memory: true,
        }
    }

    fn error(&self, why: impl std::fmt::Display) -> WgslError {
        WgslError::Text(format!("the entry point `{}`: {why}", self.entry))
    }

    fn written(&self) -> Result<Vec<u32>, WgslError> {
        let compute = |e: &&naga::EntryPoint| e.stage == ShaderStage::Compute;
        let mut all = self.module.entry_points.iter().filter(compute);
        if !all.any(|e| e.name == self.entry) {
            let all = self.module.entry_points.iter().filter(compute);
            let names: Vec<&str> = all.map(|e| e.name.as_str()).collect();
            return Err(self.error(match names.as_slice() {
                [] => "the module has no compute shader".to_owned(),
                names => format!("the module's compute shaders are {}", names.join(", ")),
            }));
        }
        let entry = Some((ShaderStage::Compute, self.entry));
        let (module, info) = process_overrides(self.module, self.info, entry, &self.constants)
            .map_err(|e| self.error(with_causes(&e)))?;
        let options = spv::Options {
            zero_initialize_workgroup_memory: if self.zero_workgroup_memory {
                ZeroInitializeWorkgroupMemoryMode::Native
            } else {
                ZeroInitializeWorkgroupMemoryMode::None
            },
            ..compute_options()
        };
        let pipeline = spv::PipelineOptions {
            shader_stage: ShaderStage::Compute,
            entry_point: self.entry.to_owned(),
        };
        let words = spv::write_vec(&module, &info, &options, Some(&pipeline));
        words.map_err(|e| self.error(with_causes(&e)))
    }
}

/// Describes an error and its causes.
fn with_causes(e: &dyn Error) -> String {
    let mut text = e.to_string();
    let mut cause = e.source();
    while let Some(e) = cause {
        text = format!("{text}: {e}");
        cause = e.source();
    }
    text
}

/// Converts an entry point to SPIR-V, whose only entry point it is.
///
/// # Errors
/// There is no such compute shader, an override has no value or one that it cannot hold, or naga
/// does not write it.
pub fn naga_to_spirv(entry: &NagaEntry<'_>) -> Result<Vec<u32>, WgslError> {
    in_naga(|| entry.written()).map_err(|e| match e {
        WgslError::Panic(why) => WgslError::Panic(format!("{why} (in `{}`)", entry.entry)),
        e => e,
    })
}

/// Translates an entry point. Accesses are robust, unless the options say otherwise.
///
/// # Errors
/// Those of [`naga_to_spirv`], and everything that is not supported.
pub fn translate_naga(entry: &NagaEntry<'_>, options: &Options) -> Result<Translated, WgslError> {
    let words = naga_to_spirv(entry)?;
    translate(&words, &of_words(options)).map_err(|e| WgslError::of_entry(entry.entry, e))
}

/// Translates an entry point and compiles it for `target`, in the memory of a context.
///
/// # Errors
/// Those of [`translate_naga`] and of [`Context::compile`].
pub fn compile_naga(
    entry: &NagaEntry<'_>,
    options: &Options,
    target: &CompileOptions,
    context: &mut Context,
) -> Result<(Translated, Compiled), CompileWgslError> {
    let words = naga_to_spirv(entry)?;
    let done = compile(&words, &of_words(options), target, context);
    done.map_err(|e| match CompileWgslError::from(e) {
        CompileWgslError::Wgsl(WgslError::Spirv(e)) => WgslError::of_entry(entry.entry, e).into(),
        e => e,
    })
}
