//! Compute pipelines: kernels that stages are compiled to.

use crate::cache::Cache;
use crate::device::Shared;
use crate::resource::{Layout, Shader, Source};
use gantry::codegen::Context;
use gantry::runtime::Kernel;
use gantry::spirv::wgsl::{NagaEntry, naga_to_spirv};
use gantry::spirv::{Options, Simd, cache_key};
use std::fmt::Display;
use std::sync::{Arc, OnceLock};
use wgpu_hal as hal;
use wgpu_types as wgt;

/// Compute pipeline. A handle.
#[derive(Clone, Debug)]
pub struct Pipeline(Arc<Stage>);

/// Stage as it was compiled, and as it is to be compiled.
struct Stage {
    kernel: Kernel,
    /// Kernel for dispatches that bind the same memory twice.
    may_alias: OnceLock<Result<Kernel, String>>,
    shared: Arc<Shared>,
    cache: Option<Cache>,
    words: Vec<u32>,
    options: Options,
    entry: String,
}

impl std::fmt::Debug for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Stage").field(&self.kernel).finish()
    }
}

fn refused(what: impl Display) -> hal::PipelineError {
    hal::PipelineError::Linkage(wgt::ShaderStages::COMPUTE, what.to_string())
}

impl Pipeline {
    pub(crate) fn new(
        shared: &Arc<Shared>,
        layout: &Layout,
        stage: &hal::ProgrammableStage<'_, Shader>,
        cache: Option<&Cache>,
    ) -> Result<Pipeline, hal::PipelineError> {
        let words = match &*stage.module.0 {
            Source::Spirv(words) => words.clone(),
            Source::Naga(shader) => {
                let entry = NagaEntry {
                    constants: stage.constants.clone(),
                    zero_workgroup_memory: stage.zero_initialize_workgroup_memory,
                    ..NagaEntry::new(&shader.module, &shader.info, stage.entry_point)
                };
                naga_to_spirv(&entry).map_err(refused)?
            }
        };
        let mut options = Options {
            // Programs that ask for no checks count on a driver that checks, as Vulkan's do.
            robust: Some(true),
            kernel: Some(stage.entry_point.to_owned()),
            simd: Simd::Width(shared.sub_group_size),
            ..Options::default()
        };
        for (set, group) in (0..).zip(&layout.groups) {
            let entries = group.iter().flat_map(|g| g.0.iter());
            for (entry, count) in entries.filter_map(|e| Some((e, e.count?))) {
                options
                    .binding_arrays
                    .insert((set, entry.binding), count.get());
            }
        }
        let kernel =
            compile(shared, cache, &words, &options, stage.entry_point).map_err(refused)?;
        Ok(Pipeline(Arc::new(Stage {
            kernel,
            may_alias: OnceLock::new(),
            shared: shared.clone(),
            cache: cache.cloned(),
            words,
            options,
            entry: stage.entry_point.to_owned(),
        })))
    }

    /// Returns the kernel, or one for arguments that share memory.
    pub(crate) fn kernel(&self, may_alias: bool) -> Result<&Kernel, String> {
        let stage = &*self.0;
        if !may_alias {
            return Ok(&stage.kernel);
        }
        let make = || {
            let options = Options {
                may_alias: true,
                ..stage.options.clone()
            };
            let cache = stage.cache.as_ref();
            compile(&stage.shared, cache, &stage.words, &options, &stage.entry)
        };
        stage
            .may_alias
            .get_or_init(make)
            .as_ref()
            .map_err(String::clone)
    }
}

/// Compiles a kernel, unless a cache has it: the one of the pipeline, or that of the instance.
fn compile(
    shared: &Shared,
    cache: Option<&Cache>,
    words: &[u32],
    options: &Options,
    entry: &str,
) -> Result<Kernel, String> {
    let target = &shared.target;
    let said = |e: &dyn Display| e.to_string();
    let load = |zebin: &[u8]| shared.device.load(zebin).and_then(|m| m.kernel(entry));
    let key = cache.map(|cache| (cache, cache_key(words, options, target)));
    if let Some((cache, key)) = &key
        && let Some(zebin) = cache.get(key.as_bytes())
    {
        return load(&zebin).map_err(|e| said(&e));
    }
    let mut context = Context::new();
    let kernel = |zebin: &[u8]| {
        if let Some((cache, key)) = &key {
            cache.put(key.as_bytes(), zebin);
        }
        load(zebin).map_err(|e| said(&e))
    };
    match &shared.cache {
        Some(all) => {
            let zebin = gantry::compile_spirv_cached(all, &mut context, words, options, target);
            kernel(&zebin.map_err(|e| said(&e))?)
        }
        None => {
            let compiled = gantry::spirv::compile(words, options, target, &mut context);
            kernel(&compiled.map_err(|e| said(&e))?.1.zebin)
        }
    }
}
