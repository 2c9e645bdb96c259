//! Samplers, bind groups, queries and shader modules.

use crate::buffer::Buffer;
use gantry::runtime::{self, AddressMode, Arg, Compare, FilterMode};
use std::fmt;
use std::sync::{Arc, Mutex};
use wgpu_hal as hal;
use wgpu_types as wgt;

/// Sampler.
#[derive(Debug)]
pub struct Sampler(pub(crate) runtime::Sampler);

impl Sampler {
    /// Creates a sampler. Those of Gantry have one address mode and one filter.
    ///
    /// # Errors
    /// The sampler has several, or something else that there is not. The error says what.
    pub(crate) fn new(desc: &hal::SamplerDescriptor<'_>) -> Result<Sampler, &'static str> {
        let [mode, second, third] = desc.address_modes;
        if mode != second || mode != third {
            return Err("address modes that differ by coordinate");
        }
        if desc.mag_filter != desc.min_filter {
            return Err("filters that differ for smaller and larger texels");
        }
        if desc.mipmap_filter != wgt::MipmapFilterMode::Nearest {
            return Err("a linear filter between levels");
        }
        if desc.lod_clamp.start > 0.0 {
            return Err("a least level of detail");
        }
        if desc.anisotropy_clamp > 1 {
            return Err("anisotropic filters");
        }
        let address = match mode {
            wgt::AddressMode::ClampToEdge => AddressMode::ClampToEdge,
            wgt::AddressMode::Repeat => AddressMode::Repeat,
            wgt::AddressMode::MirrorRepeat => AddressMode::Mirror,
            wgt::AddressMode::ClampToBorder => AddressMode::Clamp,
        };
        let filter = match desc.mag_filter {
            wgt::FilterMode::Nearest => FilterMode::Nearest,
            wgt::FilterMode::Linear => FilterMode::Linear,
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
        let sampler = runtime::Sampler::new(address, filter).normalized();
        Ok(Sampler(sampler.comparing(compare)))
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
