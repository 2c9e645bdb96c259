//! Programs of others on gantry-wgpu: networks of burn, scenes of vello.

pub mod kernels;
pub mod network;
pub mod scenes;
pub mod vector;

use std::error::Error;

/// Targets of the tests. `GANTRY_TARGET` names another.
pub fn targets() -> Vec<String> {
    match std::env::var("GANTRY_TARGET") {
        Ok(one) => vec![one],
        Err(_) => ["tgllp", "dg2", "pvc"].map(str::to_owned).to_vec(),
    }
}

/// Device of a target, and what it was made from.
pub struct Gpu {
    pub instance: wgpu::Instance,
    pub adapter: wgpu::Adapter,
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
}

impl Gpu {
    /// Opens the simulator of a target, with all that its adapter has.
    ///
    /// # Errors
    /// There is no such target.
    pub fn open(target: &str) -> Result<Gpu, Box<dyn Error>> {
        Gpu::of(gantry_wgpu::instance(&gantry_wgpu::Options {
            target: Some(target.to_owned()),
            ..gantry_wgpu::Options::default()
        })?)
    }

    /// Opens the machine's own Vulkan. The loader's `VK_ICD_FILENAMES` chooses the driver.
    ///
    /// # Errors
    /// There is no driver.
    pub fn vulkan() -> Result<Gpu, Box<dyn Error>> {
        let mut desc = wgpu::InstanceDescriptor::new_without_display_handle();
        desc.backends = wgpu::Backends::VULKAN;
        Gpu::of(wgpu::Instance::new(desc))
    }

    fn of(instance: wgpu::Instance) -> Result<Gpu, Box<dyn Error>> {
        let adapter = pollster::block_on(instance.request_adapter(&Default::default()))?;
        let unasked =
            wgpu::Features::MAPPABLE_PRIMARY_BUFFERS | wgpu::Features::all_experimental_mask();
        let desc = wgpu::DeviceDescriptor {
            required_features: adapter.features().difference(unasked),
            required_limits: adapter.limits(),
            ..Default::default()
        };
        let (device, queue) = pollster::block_on(adapter.request_device(&desc))?;
        Ok(Gpu {
            instance,
            adapter,
            device,
            queue,
        })
    }
}
