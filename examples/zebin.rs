//! A zebin that any compiler made, `ocloc` for one: lists its kernels, and launches `add`.

use gantry::runtime::{Device, DeviceKind, Grid};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args().nth(1).ok_or("no file: zebin FILE")?;
    println!("{:?}", run(&std::fs::read(file)?)?);
    Ok(())
}

/// Runs the kernel, and returns the contents of `y` after the launch.
pub(crate) fn run(zebin: &[u8]) -> Result<Vec<f32>, Box<dyn Error>> {
    let device = Device::open(DeviceKind::Auto)?;
    let module = device.load(zebin)?;
    for name in module.kernels() {
        let kernel = module.kernel(name)?;
        println!(
            "{name}: SIMD{}, {} arguments",
            kernel.simd_size(),
            kernel.args().len()
        );
    }
    let x = device.buffer_from(&[1.5f32; 64])?;
    let y = device.buffer_from(&[1f32; 64])?;
    let add = module.kernel("add")?;
    add.launch(Grid::new([64, 1, 1])).arg(&x).arg(&y).run()?;
    Ok(y.read()?)
}
