//! A kernel by the builder with operators: y = a * exp(x) + y, on whatever device there is.

use gantry::codegen::builder::KernelBuilder;
use gantry::codegen::ir::{Dim, Module, scalars::*};
use gantry::codegen::{CompileOptions, compile};
use gantry::runtime::{Device, DeviceKind, Grid};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let k = KernelBuilder::new("saxpy", 16);
    let (x, y, a) = (k.buffer(), k.buffer(), k.param(F32));
    let i = k.global_id(Dim::X);
    k.store(a * k.load(F32, x, i).exp() + k.load(F32, y, i), y, i);
    let mut module = Module::default();
    module.functions.push(k.finish()?);
    let device = Device::open(DeviceKind::Auto)?;
    let zebin = compile(&module, &CompileOptions::for_device(&device.info())?)?.zebin;
    let x = device.buffer_from(&[0.0f32, 1.0, -1.0, 10.0])?;
    let y = device.buffer_from(&[1.0f32, 2.0, 3.0, 4.0])?;
    let saxpy = device.load(&zebin)?.kernel("saxpy")?;
    let launch = saxpy.launch(Grid::new([4, 1, 1]));
    launch.arg(&x).arg(&y).arg(2.0f32).run()?;
    println!("{:?}", y.read::<f32>()?);
    Ok(())
}
