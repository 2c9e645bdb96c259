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
//!
//! Rooms of this crate: modules, each of which uses only those listed above it.
//! `tests/suite/house/rooms.rs` checks that.
//!
//! | room | holds |
//! |---|---|
//! | `limits` | limits on input |
//! | `pool` | threads of the host |
//! | `host_memory` | memory of the host that devices use |
//! | `sampler` | samplers |
//! | `image_type` | dimensionality of images |
//! | `zebin` | what launches need of a zebin |
//! | `error` | errors and faults |
//! | `watch` | observers of launches: counts, hazards, traces |
//! | `control` | statistics, progress and cancellation of launches |
//! | `graph` | commands that wait for each other, and events |
//! | `buffer` | device memory |
//! | `mapping` | buffers in the host's memory |
//! | `image` | images, their views and copies |
//! | `packed` | texels of images that are one dword |
//! | `arg` | arguments |
//! | `image_facts` | images and samplers as kernels find them in the payload |
//! | `backend` | traits that a device implements |
//! | `sim` | the simulator |
//! | `level_zero` | GPUs through Level Zero |
//! | `device` | devices |
//! | `module` | modules and kernels |
//! | `bind` | arguments by number and by binding |
//! | `grid` | sizes of launches |
//! | `launch` | launches |
//! | `queue` | queues and command lists |
//! | `cache` | the code cache on disk, and the remote one behind it |

mod arg;
mod backend;
mod bind;
mod buffer;
mod cache;
mod control;
mod device;
mod error;
mod graph;
mod grid;
mod host_memory;
mod image;
mod image_facts;
mod image_type;
mod launch;
mod level_zero;
mod limits;
mod mapping;
mod module;
mod packed;
mod pool;
mod queue;
mod sampler;
mod sim;
mod watch;
pub mod zebin;

pub use arg::{Arg, Local};
pub use buffer::{Buffer, MemoryKind, Pitch, Plain};
pub use cache::{CacheStats, CachedCode, CodeCache};
#[cfg(feature = "remote-cache")]
pub use cache::{RemoteCache, RemoteStats};
pub use control::{Cancel, LaunchStats, Progress, ScratchStats};
pub use device::{Device, DeviceKind};
pub use error::{Error, Fault, Stopped};
pub use graph::{Event, EventState, EventTimes, HostEvent, Pending};
pub use grid::Grid;
pub use host_memory::HostMemory;
pub use image::{
    AddressMode, ChannelOrder, ChannelType, Compare, FilterMode, Image, ImageDesc, ImageFormat,
    ImagePlace, ImageType, ImageView, MipFilter, Sampler,
};
pub use launch::Launch;
pub use limits::{Excess, Limits};
pub use mapping::Mapping;
pub use module::{Kernel, Module};
pub use pool::Pool;
pub use queue::{CommandList, OnDrop, Order, Queue, QueueOptions, Recorded, Replay};
pub use sim::{Bounds, SimOptions};
pub use watch::{
    Amount, Hazard, HazardKind, InstructionCount, Report, Total, TraceEvent, TraceFilter,
    TraceOperand, Watch,
};
