//! Names that a host uses, in one `use`. `Module`, `Kernel` and `Sampler` are the runtime's, loaded
//! on a device. Those of the IR have the prefix `Ir`.
//!
//! ```
//! use gantry::prelude::*;
//!
//! let device = Device::open(DeviceKind::Auto)?;
//! let target = CompileOptions::for_device(&device.info())?;
//! let text = "kernel %nothing() simd8 {\nblock0:\n    return\n}\n";
//! let module: IrModule = gantry::codegen::text::parse(text)?.module;
//! let module: Module = device.load(&compile(&module, &target)?.zebin)?;
//! module.kernel("nothing")?.launch(Grid::new([8, 1, 1])).run()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use crate::{SpirvError, compile_cached, compile_spirv, compile_spirv_cached, spirv_words};
#[cfg(feature = "wgsl")]
pub use crate::{compile_wgsl, compile_wgsl_cached, translate_wgsl};
pub use gantry_codegen::builder::{FunctionBuilder, KernelBuilder};
pub use gantry_codegen::ir::{Function, Module as IrModule, Sampler as IrSampler, Type};
pub use gantry_codegen::{CompileOptions, Compiled, Context, OptLevel, Target, compile};
pub use gantry_runtime::{
    Arg, Buffer, CodeCache, Device, DeviceKind, Error, Grid, Image, ImageDesc, ImageFormat, Kernel,
    Launch, LaunchStats, Local, Module, Sampler, SimOptions, Watch,
};
pub use gantry_spirv::{Options as SpirvOptions, Simd};
