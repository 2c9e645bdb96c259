//! WGSL, through naga: its compute shaders as SPIR-V, which is translated like any other.

use crate::{Errors, Options, Translated, translate};
use naga::back::pipeline_constants::process_overrides;
use naga::back::{PipelineConstants, spv};
use naga::compact::{KeepUnused, compact};
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::{Capabilities, ValidationFlags, Validator};

/// Why a text is not translated.
#[derive(Clone, Debug, thiserror::Error)]
pub enum WgslError {
    /// What naga says of the text, with its lines.
    #[error("{0}")]
    Text(String),
    /// What is wrong with the SPIR-V, or not supported.
    #[error(transparent)]
    Spirv(#[from] Errors),
}

/// The compute shaders of a text as SPIR-V.
///
/// # Errors
/// What naga says of it, and a text without compute shaders.
pub fn to_spirv(text: &str) -> Result<Vec<u32>, WgslError> {
    with_overrides(text, &Options::default())
}

/// The same with values of overrides that have an id.
fn with_overrides(text: &str, options: &Options) -> Result<Vec<u32>, WgslError> {
    let mut module =
        naga::front::wgsl::parse_str(text).map_err(|e| WgslError::Text(e.emit_to_string(text)))?;
    let compute = |e: &naga::EntryPoint| e.stage == naga::ShaderStage::Compute;
    // What is wrong with the others is told all the same.
    validate(&module, text)?;
    module.entry_points.retain(compute);
    if module.entry_points.is_empty() {
        return Err(WgslError::Text("there is no compute shader".to_owned()));
    }
    compact(&mut module, KeepUnused::No);
    let info = validate(&module, text)?;
    let values = overrides(&module, options);
    let (module, info) = process_overrides(&module, &info, None, &values)
        .map_err(|e| WgslError::Text(e.to_string()))?;
    let unchecked = BoundsCheckPolicy::Unchecked;
    let options = spv::Options {
        lang_version: (1, 3),
        // Names are for messages and for who looks for a binding.
        flags: spv::WriterFlags::DEBUG,
        // Indices are looked at where accesses are made, without branches.
        bounds_check_policies: BoundsCheckPolicies {
            index: unchecked,
            buffer: unchecked,
            image_load: unchecked,
            binding_array: unchecked,
        },
        zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode::Native,
        force_loop_bounding: false,
        ..spv::Options::default()
    };
    let words = spv::write_vec(&module, &info, &options, None);
    words.map_err(|e| WgslError::Text(e.to_string()))
}

/// The values asked for of overrides, by their ids.
fn overrides(module: &naga::Module, options: &Options) -> PipelineConstants {
    let mut out = PipelineConstants::default();
    for (_, o) in module.overrides.iter() {
        let Some(id) = o.id else { continue };
        let Some(bits) = options.spec_constant(u32::from(id)) else {
            continue;
        };
        let value = match module.types[o.ty].inner {
            naga::TypeInner::Scalar(s) => match (s.kind, s.width) {
                (naga::ScalarKind::Float, 4) => f64::from(f32::from_bits(bits as u32)),
                (naga::ScalarKind::Float, 8) => f64::from_bits(bits),
                (naga::ScalarKind::Sint, _) => f64::from(bits as u32 as i32),
                _ => f64::from(bits as u32),
            },
            _ => f64::from(bits as u32),
        };
        out.insert(id.to_string(), value);
    }
    out
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
/// What naga says of it, and everything found that is not supported.
pub fn translate_wgsl(text: &str, options: &Options) -> Result<Translated, WgslError> {
    let words = with_overrides(text, options)?;
    let options = Options {
        robust: Some(options.robust.unwrap_or(true)),
        ..options.clone()
    };
    Ok(translate(&words, &options)?)
}
