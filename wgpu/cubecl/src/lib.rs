//! CubeCL's runtime for wgpu on Gantry's device: what CubeCL's tests take as `TestRuntime`.

use cubecl_common::device::{Device, DeviceId};
use cubecl_core::__private::Runtime;
use cubecl_wgpu::{
    AutoCompiler, RuntimeOptions, WgpuDevice, WgpuRuntime, WgpuServer, WgpuSetup, init_device,
};
use std::error::Error;
use std::sync::OnceLock;

fn setup() -> Result<WgpuSetup, Box<dyn Error>> {
    let instance = gantry_wgpu::instance(&gantry_wgpu::Options::default())?;
    let adapter = pollster::block_on(instance.request_adapter(&Default::default()))?;
    let mappable = wgpu::Features::MAPPABLE_PRIMARY_BUFFERS;
    let desc = wgpu::DeviceDescriptor {
        required_features: adapter.features().difference(mappable),
        required_limits: adapter.limits(),
        ..Default::default()
    };
    let (device, queue) = pollster::block_on(adapter.request_device(&desc))?;
    let backend = adapter.get_info().backend;
    Ok(WgpuSetup {
        instance,
        adapter,
        device,
        queue,
        backend,
    })
}

/// Device. All are one, which is registered when it is first asked for.
#[derive(Clone, Debug)]
pub struct GantryDevice(WgpuDevice);

impl Default for GantryDevice {
    fn default() -> Self {
        static ONE: OnceLock<WgpuDevice> = OnceLock::new();
        let make = || {
            let setup = setup().unwrap_or_else(|e| panic!("a device: {e}"));
            init_device(setup, RuntimeOptions::default())
        };
        GantryDevice(ONE.get_or_init(make).clone())
    }
}

impl Device for GantryDevice {
    fn from_id(id: DeviceId) -> Self {
        GantryDevice(WgpuDevice::from_id(id))
    }
    fn to_id(&self) -> DeviceId {
        self.0.to_id()
    }
}

/// Runtime: wgpu's server with that device.
#[derive(Clone, Debug)]
pub struct GantryRuntime;

impl Runtime for GantryRuntime {
    type Server = WgpuServer<AutoCompiler>;
    type Device = GantryDevice;

    fn can_read_tensor(shape: &cubecl_zspace::Shape, strides: &cubecl_zspace::Strides) -> bool {
        <WgpuRuntime as Runtime>::can_read_tensor(shape, strides)
    }
    fn target_properties() -> cubecl_ir::TargetProperties {
        <WgpuRuntime as Runtime>::target_properties()
    }
    fn enumerate_devices(_: u16) -> Vec<DeviceId> {
        vec![GantryDevice::default().to_id()]
    }
}
