//! Code that is kept on disk: the second start of a host compiles nothing.

use gantry::prelude::*;
use std::{error::Error, path::Path};

const TEXT: &str = "
    @group(0) @binding(0) var<storage, read_write> y: array<f32>;
    @compute @workgroup_size(64) fn halve(@builtin(global_invocation_id) id: vec3<u32>) {
        if id.x < arrayLength(&y) { y[id.x] *= 0.5; }
    }";

fn main() -> Result<(), Box<dyn Error>> {
    println!("compiled before: {}", run(Path::new("gantry-cache"))?);
    Ok(())
}

/// Starts with a directory of code, and returns true if nothing was compiled.
pub(crate) fn run(directory: &Path) -> Result<bool, Box<dyn Error>> {
    let device = Device::open(DeviceKind::Auto)?;
    let target = CompileOptions::for_device(&device.info())?;
    let (cache, mut context) = (CodeCache::open(directory)?, Context::new());
    let code = compile_wgsl_cached(&cache, &mut context, TEXT, &Default::default(), &target)?;
    let y = device.buffer_from(&[3f32; 64])?;
    let halve = device.load(&code)?.kernel("halve")?;
    halve.dispatch([1, 1, 1]).bind(0, 0, &y).run()?;
    assert_eq!(y.read::<f32>()?, [1.5; 64]);
    Ok(code.is_hit())
}
