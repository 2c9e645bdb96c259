//! Devices, which make everything else.

use crate::api::Gantry;
use crate::buffer::{Buffer, of_binding};
use crate::cache::{self, Cache};
use crate::encoder::Encoder;
use crate::fence::Fence;
use crate::never::Never;
use crate::pipeline::Pipeline;
use crate::queue::Queue;
use crate::resource::{
    Bound, BoundResource, Group, GroupLayout, Layout, QuerySet, Sampler, Shader, Source,
};
use crate::texture::{Texture, TextureView};
use gantry::codegen::CompileOptions;
use gantry::runtime::{self, CodeCache};
use std::fmt::Display;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use wgpu_hal as hal;
use wgpu_types as wgt;

type Of<T> = Result<T, hal::DeviceError>;

/// Device. A handle.
#[derive(Clone, Debug)]
pub struct Device(pub(crate) Arc<Shared>);

/// State that a device shares with what it makes.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) device: runtime::Device,
    /// Options of its compiler.
    pub(crate) target: CompileOptions,
    pub(crate) cache: Option<Arc<CodeCache>>,
    /// Channels of every sub-group.
    pub(crate) sub_group_size: u32,
}

/// Logs an error that nobody expects. wgpu-hal's own has no text.
pub(crate) fn unexpected(what: &str, error: &dyn Display) -> hal::DeviceError {
    log::error!("gantry-wgpu: {what}: {error}");
    hal::DeviceError::Unexpected
}

fn missing(what: &str) -> hal::DeviceError {
    unexpected("a bind group", &format_args!("{what} is missing"))
}

impl hal::Device for Device {
    type A = Gantry;

    unsafe fn create_buffer(&self, desc: &hal::BufferDescriptor<'_>) -> Of<Buffer> {
        Buffer::new(&self.0.device, desc.size)
    }
    unsafe fn destroy_buffer(&self, _: Buffer) {}
    unsafe fn add_raw_buffer(&self, _: &Buffer) {}
    unsafe fn map_buffer(
        &self,
        buffer: &Buffer,
        range: hal::MemoryRange,
    ) -> Of<hal::BufferMapping> {
        let ptr = buffer.map(range)?;
        Ok(hal::BufferMapping {
            ptr,
            is_coherent: true,
        })
    }
    unsafe fn unmap_buffer(&self, buffer: &Buffer) {
        buffer.unmap();
    }
    unsafe fn flush_mapped_ranges<I>(&self, _: &Buffer, _: I) {}
    unsafe fn invalidate_mapped_ranges<I>(&self, _: &Buffer, _: I) {}

    unsafe fn create_texture(&self, desc: &hal::TextureDescriptor<'_>) -> Of<Texture> {
        Texture::new(&self.0.device, desc)
    }
    unsafe fn destroy_texture(&self, _: Texture) {}
    unsafe fn add_raw_texture(&self, _: &Texture) {}
    unsafe fn create_texture_view(
        &self,
        texture: &Texture,
        desc: &hal::TextureViewDescriptor<'_>,
    ) -> Of<TextureView> {
        texture.view(desc)
    }
    unsafe fn destroy_texture_view(&self, _: TextureView) {}
    unsafe fn create_sampler(&self, desc: &hal::SamplerDescriptor<'_>) -> Of<Sampler> {
        Ok(Sampler::new(desc))
    }
    unsafe fn destroy_sampler(&self, _: Sampler) {}

    unsafe fn create_command_encoder(
        &self,
        _: &hal::CommandEncoderDescriptor<'_, Queue>,
    ) -> Of<Encoder> {
        Ok(Encoder::default())
    }

    unsafe fn create_bind_group_layout(
        &self,
        desc: &hal::BindGroupLayoutDescriptor<'_>,
    ) -> Of<GroupLayout> {
        Ok(GroupLayout(desc.entries.into()))
    }
    unsafe fn destroy_bind_group_layout(&self, _: GroupLayout) {}
    unsafe fn create_pipeline_layout(
        &self,
        desc: &hal::PipelineLayoutDescriptor<'_, GroupLayout>,
    ) -> Of<Layout> {
        Ok(Layout {
            groups: desc.bind_group_layouts.iter().map(|g| g.cloned()).collect(),
        })
    }
    unsafe fn destroy_pipeline_layout(&self, _: Layout) {}
    unsafe fn create_bind_group(
        &self,
        desc: &hal::BindGroupDescriptor<'_, GroupLayout, Buffer, Sampler, TextureView, Never>,
    ) -> Of<Group> {
        let mut all = Vec::new();
        for entry in desc.entries {
            let mut layouts = desc.layout.0.iter();
            let layout = layouts.find(|l| l.binding == entry.binding);
            let layout = layout.ok_or_else(|| missing("a layout of a binding"))?;
            for element in 0..entry.count {
                let at = (entry.resource_index + element) as usize;
                let resource = match layout.ty {
                    wgt::BindingType::Buffer {
                        has_dynamic_offset, ..
                    } => {
                        let binding = desc.buffers.get(at);
                        let binding = binding.ok_or_else(|| missing("a buffer"))?;
                        let buffer = of_binding(binding).ok_or_else(|| missing("a buffer"))?;
                        let rest = buffer.len().saturating_sub(binding.offset);
                        BoundResource::Buffer {
                            size: binding.size.map_or(rest, |n| n.get()),
                            offset: binding.offset,
                            buffer,
                            is_dynamic: has_dynamic_offset,
                        }
                    }
                    wgt::BindingType::Sampler(_) => {
                        let sampler = desc.samplers.get(at).ok_or_else(|| missing("a sampler"))?;
                        BoundResource::Other(sampler.0.into())
                    }
                    wgt::BindingType::Texture { .. } | wgt::BindingType::StorageTexture { .. } => {
                        let texture = desc.textures.get(at).ok_or_else(|| missing("a texture"))?;
                        BoundResource::Other((&texture.view.image).into())
                    }
                    _ => return Err(missing("a kind of binding")),
                };
                all.push(Bound {
                    binding: entry.binding,
                    element,
                    resource,
                });
            }
        }
        all.sort_by_key(|b| (b.binding, b.element));
        Ok(Group(all.into()))
    }
    unsafe fn destroy_bind_group(&self, _: Group) {}

    unsafe fn create_shader_module(
        &self,
        _: &hal::ShaderModuleDescriptor<'_>,
        shader: hal::ShaderInput<'_>,
    ) -> Result<Shader, hal::ShaderError> {
        let source = match shader {
            hal::ShaderInput::Naga(n) => Source::Naga(Box::new(n)),
            hal::ShaderInput::SpirV(words) => Source::Spirv(words.to_vec()),
            _ => {
                return Err(hal::ShaderError::Compilation(
                    "neither naga's nor SPIR-V".to_owned(),
                ));
            }
        };
        Ok(Shader(Arc::new(source)))
    }
    unsafe fn destroy_shader_module(&self, _: Shader) {}

    unsafe fn create_render_pipeline(
        &self,
        _: &hal::RenderPipelineDescriptor<'_, Layout, Shader, Cache>,
    ) -> Result<Never, hal::PipelineError> {
        Err(hal::PipelineError::Linkage(
            wgt::ShaderStages::VERTEX_FRAGMENT,
            "only compute".to_owned(),
        ))
    }
    unsafe fn destroy_render_pipeline(&self, pipeline: Never) {
        match pipeline {}
    }
    unsafe fn create_compute_pipeline(
        &self,
        desc: &hal::ComputePipelineDescriptor<'_, Layout, Shader, Cache>,
    ) -> Result<Pipeline, hal::PipelineError> {
        Pipeline::new(&self.0, desc.layout, &desc.stage, desc.cache)
    }
    unsafe fn destroy_compute_pipeline(&self, _: Pipeline) {}
    unsafe fn create_ray_tracing_pipeline(
        &self,
        _: &hal::RayTracingPipelineDescriptor<'_, Layout, Shader, Cache>,
    ) -> Result<Never, hal::PipelineError> {
        Err(hal::PipelineError::Linkage(
            wgt::ShaderStages::COMPUTE,
            "only compute".to_owned(),
        ))
    }
    unsafe fn destroy_ray_tracing_pipeline(&self, pipeline: Never) {
        match pipeline {}
    }
    unsafe fn get_raytracing_pipeline_group_data(
        &self,
        p: &Never,
        _: std::ops::Range<u32>,
    ) -> Of<Vec<u8>> {
        match *p {}
    }
    unsafe fn create_pipeline_cache(
        &self,
        desc: &hal::PipelineCacheDescriptor<'_>,
    ) -> Result<Cache, hal::PipelineCacheError> {
        Ok(Cache::new(desc.data))
    }
    fn pipeline_cache_validation_key(&self) -> Option<[u8; 16]> {
        let key = cache::validation_key(&self.0.target, self.0.sub_group_size);
        Some(key)
    }
    unsafe fn pipeline_cache_get_data(&self, cache: &Cache) -> Option<Vec<u8>> {
        Some(cache.data())
    }
    unsafe fn destroy_pipeline_cache(&self, _: Cache) {}

    unsafe fn create_query_set(
        &self,
        desc: &wgt::QuerySetDescriptor<hal::Label<'_>>,
    ) -> Of<QuerySet> {
        Ok(QuerySet(Arc::new(Mutex::new(vec![0; desc.count as usize]))))
    }
    unsafe fn destroy_query_set(&self, _: QuerySet) {}

    unsafe fn create_fence(&self) -> Of<Fence> {
        Ok(Fence::default())
    }
    unsafe fn destroy_fence(&self, _: Fence) {}
    unsafe fn get_fence_value(&self, fence: &Fence) -> Of<hal::FenceValue> {
        fence.value()
    }
    unsafe fn wait(
        &self,
        fence: &Fence,
        value: hal::FenceValue,
        timeout: Option<Duration>,
    ) -> Of<bool> {
        fence.wait(value, timeout)
    }

    unsafe fn start_graphics_debugger_capture(&self) -> bool {
        false
    }
    unsafe fn stop_graphics_debugger_capture(&self) {}

    unsafe fn create_acceleration_structure(
        &self,
        _: &hal::AccelerationStructureDescriptor<'_>,
    ) -> Of<Never> {
        Err(hal::DeviceError::Unexpected)
    }
    unsafe fn get_acceleration_structure_build_sizes(
        &self,
        _: &hal::GetAccelerationStructureBuildSizesDescriptor<'_, Buffer>,
    ) -> hal::AccelerationStructureBuildSizes {
        Default::default()
    }
    unsafe fn get_acceleration_structure_device_address(&self, a: &Never) -> wgt::BufferAddress {
        match *a {}
    }
    unsafe fn destroy_acceleration_structure(&self, a: Never) {
        match a {}
    }
    fn tlas_instance_to_bytes(&self, _: hal::TlasInstance) -> Vec<u8> {
        Vec::new()
    }
    fn get_internal_counters(&self) -> wgt::HalCounters {
        Default::default()
    }
    fn check_if_oom(&self) -> Of<()> {
        Ok(())
    }
}
