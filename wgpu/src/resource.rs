//! Samplers, bind groups, queries and shader modules.

use crate::buffer::Buffer;
use gantry::runtime::{self, AddressMode, Arg, Compare, FilterMode, MipFilter};
use std::fmt;
use std::sync::{Arc, Mutex};
use wgpu_hal as hal;
use wgpu_types as wgt;

/// Sampler.
#[derive(Debug)]
pub struct Sampler(pub(crate) runtime::Sampler);

impl Sampler {
    /// Creates a sampler. Footprints are as wide as long: WebGPU clamps `anisotropy_clamp` to what
    /// a device has, which is 1 here.
    pub(crate) fn new(desc: &hal::SamplerDescriptor<'_>) -> Sampler {
        let address = desc.address_modes.map(|mode| match mode {
            wgt::AddressMode::ClampToEdge => AddressMode::ClampToEdge,
            wgt::AddressMode::Repeat => AddressMode::Repeat,
            wgt::AddressMode::MirrorRepeat => AddressMode::Mirror,
            wgt::AddressMode::ClampToBorder => AddressMode::Clamp,
        });
        let filter = |mode| match mode {
            wgt::FilterMode::Nearest => FilterMode::Nearest,
            wgt::FilterMode::Linear => FilterMode::Linear,
        };
        let mip = match desc.mipmap_filter {
            wgt::MipmapFilterMode::Nearest => MipFilter::Nearest,
            wgt::MipmapFilterMode::Linear => MipFilter::Linear,
        };
        let compare = match desc.compare {
            None | Some(wgt::CompareFunction::Never) => Compare::Never,
            Some(wgt::CompareFunction::Less) => Compare::Less,
            Some(wgt::CompareFunction::Equal) => Compare::Equal,
            Some(wgt::CompareFunction::LessEqual) => Compare::LessOrEqual,
            Some(wgt::CompareFunction::Greater) => Compare::Greater,
            Some(wgt::CompareFunction::NotEqual) => Compare::NotEqual,
            Some(wgt::CompareFunction::GreaterEqual) => Compare::GreaterOrEqual,
            Some(wgt::CompareFunction::Always) => Compare::Always,
        };
        let sampler = runtime::Sampler::new(address[0], filter(desc.mag_filter))
            .addressing(address)
            .minifying(filter(desc.min_filter))
            .between_levels(mip)
            .lod_clamp(desc.lod_clamp.start, desc.lod_clamp.end)
            .normalized()
            .comparing(compare);
        Sampler(sampler)
    }
}

/// Timestamps, in nanoseconds of the device's clock.
#[derive(Clone, Debug)]
pub struct QuerySet(pub(crate) Arc<Mutex<Vec<u64>>>);

/// Layout of a bind group.
#[derive(Clone, Debug)]
pub struct GroupLayout(pub(crate) Arc<[wgt::BindGroupLayoutEntry]>);

/// Layout of a pipeline. Kernels know their own bindings.
#[derive(Debug)]
pub struct Layout {
    /// Layouts of the bind groups.
    pub(crate) groups: Vec<Option<GroupLayout>>,
}

/// Resource at a binding.
#[derive(Clone, Debug)]
pub(crate) enum BoundResource {
    /// Range of a buffer.
    Buffer {
        buffer: Buffer,
        offset: u64,
        size: u64,
        /// True if `set_bind_group` adds an offset.
        is_dynamic: bool,
    },
    /// Texture view or sampler.
    Other(Arg),
}

/// Element of a binding.
#[derive(Clone, Debug)]
pub(crate) struct Bound {
    pub(crate) binding: u32,
    pub(crate) element: u32,
    pub(crate) resource: BoundResource,
}

/// Bind group, in order of bindings.
#[derive(Clone, Debug)]
pub struct Group(pub(crate) Arc<[Bound]>);

/// Shader module.
#[derive(Clone)]
pub struct Shader(pub(crate) Arc<Source>);

/// Source of a shader module.
pub(crate) enum Source {
    /// Module of naga.
    Naga(Box<hal::NagaShader>),
    /// Words that naga has not seen.
    Spirv(Vec<u32>),
}

impl fmt::Debug for Shader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Shader")
    }
}
