//! The types of the API.

use crate::buffer::Buffer;
use crate::cache::Cache;
use crate::command::CommandBuffer;
use crate::device::Device;
use crate::encoder::Encoder;
use crate::fence::Fence;
use crate::instance::{Adapter, Instance};
use crate::never::{Never, Surface};
use crate::pipeline::Pipeline;
use crate::queue::Queue;
use crate::resource::{Group, GroupLayout, Layout, QuerySet, Sampler, Shader};
use crate::texture::{Texture, TextureView};
use std::any::Any;
use wgpu_hal as hal;
use wgpu_types as wgt;

/// Gantry as an API of wgpu.
#[derive(Clone, Debug)]
pub struct Gantry;

impl hal::Api for Gantry {
    // wgpu has no variant for others. Under `Vulkan` it passes SPIR-V through.
    const VARIANT: wgt::Backend = wgt::Backend::Vulkan;

    type Instance = Instance;
    type Surface = Surface;
    type Adapter = Adapter;
    type Device = Device;
    type Queue = Queue;
    type CommandEncoder = Encoder;
    type CommandBuffer = CommandBuffer;
    type Buffer = Buffer;
    type Texture = Texture;
    type SurfaceTexture = Never;
    type TextureView = TextureView;
    type Sampler = Sampler;
    type QuerySet = QuerySet;
    type Fence = Fence;
    type BindGroupLayout = GroupLayout;
    type BindGroup = Group;
    type PipelineLayout = Layout;
    type ShaderModule = Shader;
    type RenderPipeline = Never;
    type ComputePipeline = Pipeline;
    type RayTracingPipeline = Never;
    type PipelineCache = Cache;
    type AccelerationStructure = Never;
}

// wgpu-hal has a macro for this, and keeps it to itself.
macro_rules! resources {
    ($($t:ty: $($r:ident),*;)*) => {$(
        impl hal::DynResource for $t {
            fn as_any(&self) -> &dyn Any {
                self
            }
            fn as_any_mut(&mut self) -> &mut dyn Any {
                self
            }
        }
        $(impl hal::$r for $t {})*
    )*};
}
resources! {
    Instance: ;
    Surface: ;
    Adapter: ;
    Device: ;
    Queue: ;
    Encoder: ;
    CommandBuffer: DynCommandBuffer;
    Buffer: DynBuffer;
    Texture: DynTexture;
    TextureView: DynTextureView;
    Sampler: DynSampler;
    QuerySet: DynQuerySet;
    Fence: DynFence;
    GroupLayout: DynBindGroupLayout;
    Group: DynBindGroup;
    Layout: DynPipelineLayout;
    Shader: DynShaderModule;
    Cache: DynPipelineCache;
    Pipeline: DynComputePipeline;
    Never: DynSurfaceTexture, DynRenderPipeline, DynRayTracingPipeline, DynAccelerationStructure;
}
