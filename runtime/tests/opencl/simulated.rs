//! Launches on the simulator.

use crate::case::{self, Case};
use gantry_runtime::zebin::Zebin;
use gantry_runtime::{Arg, Buffer, Device, Error, Grid, Module, SimOptions, Watch};

/// Loads a zebin on a simulator of the platform that it is for.
pub fn load(bytes: &[u8]) -> Result<Module, String> {
    let platform = Zebin::parse(bytes).map_err(|e| e.to_string())?.platform;
    let device = Device::simulator(SimOptions {
        platform,
        instruction_limit: 2_000_000,
    });
    device.load(bytes).map_err(|e| e.to_string())
}

/// Launches a kernel, and gives what its buffers and images hold afterwards.
pub fn run(case: &Case, module: &Module) -> Result<Vec<Vec<u8>>, String> {
    launch(case, module, None).map_err(|e| e.to_string())
}

/// As [`run`], with someone who looks.
pub fn launch(case: &Case, module: &Module, watch: Option<&Watch>) -> Result<Vec<Vec<u8>>, Error> {
    let device = module.device();
    let mut buffers: Vec<Buffer> = Vec::new();
    let mut args = Vec::new();
    for arg in &case.args {
        args.push(match arg {
            case::Arg::Buffer { data, .. } => {
                let buffer = device.buffer_from(data)?;
                buffers.push(buffer.clone());
                Arg::Buffer(buffer)
            }
            case::Arg::Value(bytes) => Arg::bytes(bytes),
            case::Arg::Local(bytes) => Arg::Local(*bytes),
            case::Arg::Image { .. } | case::Arg::Sampler(_) => Arg::Null,
        });
    }
    let grid = Grid::new(case.range.global)
        .group(case.range.local)
        .offset(case.range.offset);
    let kernel = module.kernel(case.kernel)?;
    let mut launch = kernel.launch(grid).args(args);
    if let Some(w) = watch {
        launch = launch.watch(w);
    }
    launch.run()?;
    buffers.iter().map(Buffer::read::<u8>).collect()
}
