//! Instances, and adapters: one for each product.

use crate::api::Gantry;
use crate::device::{Device, Shared, unexpected};
use crate::never::Surface;
use crate::options::{Options, OptionsError};
use crate::queue::Queue;
use crate::texture;
use gantry::codegen::CompileOptions;
use gantry::isa::{DeviceLimits, Product};
use gantry::runtime::{self, SimOptions};
use std::sync::Arc;
use wgpu_hal as hal;
use wgpu_types as wgt;

/// Instance.
#[derive(Clone, Debug)]
pub struct Instance {
    options: Options,
    /// Products of its adapters.
    products: Vec<&'static Product>,
}

/// Adapter: a product that a simulator can be opened of.
#[derive(Clone, Debug)]
pub struct Adapter {
    options: Options,
    product: &'static Product,
}

/// Makes an instance of wgpu whose adapters are Gantry's simulators.
///
/// # Errors
/// There is no such product, or it has no sub-groups of the size.
pub fn instance(options: &Options) -> Result<wgpu::Instance, OptionsError> {
    let instance = Instance {
        products: options.products()?,
        options: options.clone(),
    };
    // SAFETY: the instance is this API's own.
    Ok(unsafe { wgpu::Instance::from_hal::<Gantry>(instance) })
}

/// Returns the features of a product.
fn features(limits: &DeviceLimits) -> wgt::Features {
    use wgt::Features as F;
    let mut all = F::SUBGROUP
        | F::SUBGROUP_BARRIER
        | F::SHADER_F16
        | F::SHADER_INT64
        | F::IMMEDIATES
        | F::TIMESTAMP_QUERY
        | F::TIMESTAMP_QUERY_INSIDE_ENCODERS
        | F::TIMESTAMP_QUERY_INSIDE_PASSES
        | F::MAPPABLE_PRIMARY_BUFFERS
        | F::PASSTHROUGH_SHADERS
        | F::PIPELINE_CACHE
        | F::FLOAT32_FILTERABLE
        | F::BGRA8UNORM_STORAGE
        | F::TEXTURE_FORMAT_16BIT_NORM
        | F::TEXTURE_ADAPTER_SPECIFIC_FORMAT_FEATURES
        | F::TEXTURE_ATOMIC;
    if limits.atomics64 {
        all |= F::SHADER_INT64_ATOMIC_ALL_OPS | F::SHADER_INT64_ATOMIC_MIN_MAX;
    }
    if limits.doubles {
        all |= F::SHADER_F64;
    }
    all
}

/// Returns the limits of a product.
fn limits(product: &DeviceLimits) -> wgt::Limits {
    wgt::Limits {
        max_bind_groups: 8,
        max_storage_buffers_per_shader_stage: 64,
        max_uniform_buffers_per_shader_stage: 64,
        max_dynamic_storage_buffers_per_pipeline_layout: 64,
        max_dynamic_uniform_buffers_per_pipeline_layout: 64,
        max_buffers_and_acceleration_structures_per_shader_stage: 128,
        max_storage_buffer_binding_size: (1 << 31) - 4,
        max_uniform_buffer_binding_size: 1 << 20,
        max_buffer_size: 1 << 31,
        min_uniform_buffer_offset_alignment: 32,
        min_storage_buffer_offset_alignment: 32,
        max_compute_workgroup_storage_size: product.slm_per_group,
        max_compute_invocations_per_workgroup: product.group_items,
        max_compute_workgroup_size_x: product.group_items,
        max_compute_workgroup_size_y: product.group_items,
        max_compute_workgroup_size_z: product.group_items,
        max_immediate_size: 256,
        ..wgt::Limits::defaults()
    }
}

impl hal::Instance for Instance {
    type A = Gantry;

    unsafe fn init(_: &hal::InstanceDescriptor<'_>) -> Result<Self, hal::InstanceError> {
        // wgpu's own list of APIs calls this, which Gantry is not in. `InstanceError` has no
        // constructor for others, so the default products stand in.
        let options = Options::default();
        Ok(Instance {
            products: options.products().unwrap_or_default(),
            options,
        })
    }

    unsafe fn create_surface(
        &self,
        _: raw_window_handle::RawDisplayHandle,
        _: raw_window_handle::RawWindowHandle,
    ) -> Result<Surface, hal::InstanceError> {
        // No adapter supports it, and that is wgpu's own error.
        Ok(Surface)
    }

    unsafe fn enumerate_adapters(&self, _: Option<&Surface>) -> Vec<hal::ExposedAdapter<Gantry>> {
        let adapters = self.products.iter().map(|product| Adapter {
            options: self.options.clone(),
            product,
        });
        adapters.map(Adapter::exposed).collect()
    }
}

impl Adapter {
    fn exposed(self) -> hal::ExposedAdapter<Gantry> {
        let four = wgt::BufferSize::MIN.saturating_mul(wgt::BufferSize::MIN.saturating_add(3));
        let gpu = self.product.limits();
        let width = self.options.sub_group_size;
        let info = wgt::AdapterInfo {
            name: format!("{} ({})", self.product.title, self.product.name()),
            driver: "Gantry".to_owned(),
            driver_info: "simulator".to_owned(),
            vendor: 0x8086,
            device: self.product.pci_ids.first().map_or(0, |id| u32::from(*id)),
            subgroup_min_size: width,
            subgroup_max_size: width,
            ..wgt::AdapterInfo::new(wgt::DeviceType::IntegratedGpu, wgt::Backend::Vulkan)
        };
        hal::ExposedAdapter {
            adapter: self,
            info,
            features: features(&gpu),
            capabilities: hal::Capabilities {
                limits: limits(&gpu),
                alignments: hal::Alignments {
                    buffer_copy_offset: four,
                    buffer_copy_pitch: four,
                    uniform_bounds_check_alignment: wgt::BufferSize::MIN,
                    raw_tlas_instance_size: 0,
                    ray_tracing_scratch_buffer_alignment: 1,
                    ray_tracing_pipeline_group_data_size: 1,
                    ray_tracing_pipeline_group_data_alignment: 1,
                    ray_tracing_pipeline_data_offset_alignment: 1,
                },
                downlevel: wgt::DownlevelCapabilities {
                    flags: wgt::DownlevelFlags::all(),
                    limits: wgt::DownlevelLimits {},
                    shader_model: wgt::ShaderModel::Sm5,
                },
                cooperative_matrix_properties: Vec::new(),
            },
        }
    }
}

impl hal::Adapter for Adapter {
    type A = Gantry;

    unsafe fn open(
        &self,
        _: wgt::Features,
        _: &wgt::Limits,
        _: &wgt::MemoryHints,
    ) -> Result<hal::OpenDevice<Gantry>, hal::DeviceError> {
        let target = CompileOptions::for_target(self.product.name());
        let target = target.map_err(|e| unexpected("an adapter", &e))?;
        let device = runtime::Device::simulator(SimOptions {
            threads: self.options.threads,
            ..SimOptions::of(self.product)
        });
        let shared = Arc::new(Shared {
            device,
            target,
            cache: self.options.cache.clone(),
            sub_group_size: self.options.sub_group_size,
        });
        Ok(hal::OpenDevice {
            queue: Queue::new(&shared),
            device: Device(shared),
        })
    }
    unsafe fn texture_format_capabilities(
        &self,
        format: wgt::TextureFormat,
    ) -> hal::TextureFormatCapabilities {
        texture::capabilities(format)
    }
    unsafe fn surface_capabilities(&self, _: &Surface) -> Option<hal::SurfaceCapabilities> {
        None
    }
    unsafe fn get_presentation_timestamp(&self) -> wgt::PresentationTimestamp {
        wgt::PresentationTimestamp::INVALID_TIMESTAMP
    }
    fn get_ordered_buffer_usages(&self) -> wgt::BufferUses {
        // Commands run one after the other: nothing needs a barrier.
        wgt::BufferUses::all()
    }
    fn get_ordered_texture_usages(&self) -> wgt::TextureUses {
        wgt::TextureUses::all()
    }
}
