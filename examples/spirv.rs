//! Kernels of SPIR-V, as OpenCL C and SYCL compile to: launches `add` of the given file.

use gantry::codegen::CompileOptions;
use gantry::runtime::{Device, DeviceKind, Grid};
use gantry::spirv::Options;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args().nth(1).ok_or("which file of SPIR-V?")?;
    println!("{:?}", run(&std::fs::read(file)?)?);
    Ok(())
}

/// Runs the kernel, and returns the contents of `y` after the launch.
pub(crate) fn run(bytes: &[u8]) -> Result<Vec<f32>, Box<dyn Error>> {
    let words = gantry::spirv_words(bytes).ok_or("SPIR-V consists of words")?;
    let device = Device::open(DeviceKind::Auto)?;
    let target = CompileOptions::for_device(&device.info())?;
    let zebin = gantry::compile_spirv(&words, &Options::default(), &target)?.zebin;
    let add = device.load(&zebin)?.kernel("add")?;
    let x = device.buffer_from(&[1.5f32; 64])?;
    let y = device.buffer_from(&[1f32; 64])?;
    add.launch(Grid::new([64, 1, 1])).arg(&x).arg(&y).run()?;
    Ok(y.read()?)
}
