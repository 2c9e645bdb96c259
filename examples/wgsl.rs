//! A WGSL shader by its bindings: the zebin has the bindings and the group size.

use gantry::runtime::{Device, DeviceKind};
use gantry::{codegen::CompileOptions, spirv::Options};

const TEXT: &str = "
    @group(0) @binding(0) var<storage, read> x: array<f32>;
    @group(0) @binding(1) var<storage, read_write> y: array<f32>;
    @compute @workgroup_size(64) fn add(@builtin(global_invocation_id) id: vec3<u32>) {
        if id.x < arrayLength(&y) { y[id.x] += x[id.x]; }
    }";

/// Adds 1.5 to 1, a hundred times.
pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::open(DeviceKind::Auto)?;
    let target = CompileOptions::for_device(&device.info())?;
    let zebin = gantry::compile_wgsl(TEXT, &Options::default(), &target)?.zebin;
    let add = device.load(&zebin)?.kernel("add")?;
    let x = device.buffer_from(&[1.5f32; 100])?;
    let y = device.buffer_from(&[1f32; 100])?;
    let launch = add.dispatch([2, 1, 1]).bind(0, 0, &x).bind(0, 1, &y);
    launch.run()?;
    assert_eq!(y.read::<f32>()?, [2.5; 100]);
    Ok(())
}
