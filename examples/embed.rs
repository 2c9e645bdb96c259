//! Smallest host: IR by the builder, and a launch on whatever device there is. Its size is what a
//! host pays for all of Gantry (README).

use gantry::codegen::builder::FunctionBuilder;
use gantry::codegen::ir::{Function, Module, scalars::I32};
use gantry::codegen::{CompileOptions, compile};
use gantry::runtime::{Device, DeviceKind, Grid};
use std::error::Error;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let mut kernel = Function::kernel("double", 16);
    let mut b = FunctionBuilder::new(&mut kernel);
    let data = b.ptr_param();
    let v = b.ins().bload(I32.by(16), data, 0);
    let sum = b.ins().iadd(v, v);
    b.ins().bstore(sum, data, 0);
    b.ins().return_(&[]);
    b.finish()?;
    let mut module = Module::default();
    module.functions.push(kernel);
    let device = Device::open(DeviceKind::Auto)?;
    let compiled = compile(&module, &CompileOptions::for_device(&device.info())?)?;
    let numbers: Vec<i32> = (0..16).collect();
    let buffer = device.buffer_from(&numbers)?;
    let kernel = device.load(&compiled.zebin)?.kernel("double")?;
    kernel.launch(Grid::new([16, 1, 1])).arg(&buffer).run()?;
    println!("{:?}", buffer.read::<i32>()?);
    Ok(())
}
