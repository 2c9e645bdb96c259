//! Launches on the simulator.

use super::case::{self, Case};
use gantry_runtime::zebin::Zebin;
use gantry_runtime::{
    Arg, Buffer, Device, Error, Grid, Image, LaunchStats, Module, SimOptions, Watch,
};

/// Loads a zebin on a simulator of its platform, with a thread of the host for each core.
pub fn load(bytes: &[u8]) -> Result<Module, String> {
    load_on(bytes, 0)
}

/// Loads a zebin on a simulator of its platform, with a number of host threads. With one thread,
/// groups run one after the other, and loops that retry until they succeed take the same turns each
/// time.
pub fn load_on(bytes: &[u8], threads: usize) -> Result<Module, String> {
    let platform = Zebin::parse(bytes).map_err(|e| e.to_string())?.platform;
    let device = Device::simulator(SimOptions {
        platform,
        instruction_limit: 2_000_000,
        threads,
        ..SimOptions::default()
    });
    device.load(bytes).map_err(|e| e.to_string())
}

/// Results of a launch.
pub struct LaunchResults {
    /// Contents of buffers and images afterwards.
    pub contents: Vec<Vec<u8>>,
    /// Printed text.
    pub text: String,
    /// Statistics.
    #[allow(dead_code, reason = "not every user counts")]
    pub stats: LaunchStats,
}

/// Memory that a launch may write.
enum Memory {
    Buffer(Buffer),
    Image(Image),
}

/// Launches a kernel, with a watch.
pub fn launch(case: &Case, module: &Module, watch: Option<&Watch>) -> Result<LaunchResults, Error> {
    let device = module.device();
    let mut memories = Vec::new();
    let mut args = Vec::new();
    for arg in &case.args {
        args.push(match arg {
            case::Arg::Buffer { data, .. } => {
                let buffer = device.buffer_from(data)?;
                memories.push(Memory::Buffer(buffer.clone()));
                Arg::Buffer(buffer)
            }
            case::Arg::Image {
                format, desc, data, ..
            } => {
                let image = device.image(*format, *desc)?;
                image.write(data)?;
                memories.push(Memory::Image(image.clone()));
                Arg::Image(image)
            }
            case::Arg::Sampler(sampler) => Arg::Sampler(*sampler),
            case::Arg::Value(bytes) => Arg::bytes(bytes),
            case::Arg::Local(bytes) => Arg::Local(*bytes),
        });
    }
    let grid = Grid::new(case.range.global)
        .group(case.range.local)
        .offset(case.range.offset);
    let kernel = module.kernel(case.kernel)?;
    let mut text = String::new();
    let printf = |t: &str| text.push_str(t);
    let mut launch = kernel.launch(grid).args(args).printf(printf);
    if let Some(w) = watch {
        launch = launch.watch(w);
    }
    let stats = launch.run()?;
    let contents = memories.iter().map(|m| match m {
        Memory::Buffer(buffer) => buffer.read(),
        Memory::Image(image) => image.read(),
    });
    Ok(LaunchResults {
        contents: contents.collect::<Result<_, _>>()?,
        text,
        stats,
    })
}
