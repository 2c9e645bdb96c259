//! Loads zebins and launches their kernels on the embedded simulator or, through Level Zero, on a
//! GPU.
//!
//! ```no_run
//! use gantry_runtime::{Device, DeviceKind, Grid};
//!
//! # fn main() -> Result<(), gantry_runtime::Error> {
//! # let (zebin, xs, ys, n) = (Vec::new(), vec![0f32; 1024], vec![0f32; 1024], 1024u32);
//! let device = Device::open(DeviceKind::Auto)?; // a GPU if there is one, else the simulator
//! let module = device.load(&zebin)?; // bytes from codegen, ocloc, SYCL, a file
//! let kernel = module.kernel("saxpy")?;
//! let x = device.buffer_from(&xs)?;
//! let y = device.buffer_from(&ys)?;
//! let stats = kernel
//!     .launch(Grid::new([n, 1, 1]).group([64, 1, 1]))
//!     .arg(&x)
//!     .arg(&y)
//!     .arg(2.0f32)
//!     .arg(n as i32)
//!     .run()?;
//! let ys: Vec<f32> = y.read()?;
//! println!("{} instructions", stats.instructions);
//! # Ok(())
//! # }
//! ```
//!
//! There is no global state. Devices, modules, kernels and buffers are cheap handles. They may be
//! cloned, sent to other threads and used from many threads at once.

mod backend;
mod bind;
mod buffer;
mod cache;
mod device;
mod error;
mod image;
mod launch;
mod level_zero;
mod limits;
mod module;
mod pool;
mod sampler;
mod sim;
mod watch;
pub mod zebin;

pub use buffer::{Buffer, Plain};
pub use cache::{CacheStats, CachedCode, CodeCache};
pub use device::{Device, DeviceKind};
pub use error::{Error, Fault, Stopped};
pub use image::{
    AddressMode, ChannelOrder, ChannelType, Compare, FilterMode, Image, ImageDesc, ImageFormat,
    ImageType, Sampler,
};
pub use launch::{Arg, Cancel, Grid, Launch, LaunchStats, Local, Progress, ScratchStats};
pub use limits::{Excess, Limits};
pub use module::{Kernel, Module};
pub use pool::Pool;
pub use sim::{Bounds, SimOptions};
pub use watch::{
    Amount, Hazard, HazardKind, InstructionCount, Report, Total, TraceEvent, TraceFilter,
    TraceOperand, Watch,
};
