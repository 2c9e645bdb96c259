//! Gantry: an embeddable just-in-time code generator for Intel Gen GPUs.
//!
//! This crate gathers the parts:
//!
//! - [`codegen`]: the IR, its text and its compiler;
//! - [`spirv`]: translation of SPIR-V to the IR ([`compile_spirv`]), and with the feature `wgsl`,
//!   which is on by default, of WGSL (`compile_wgsl`);
//! - [`runtime`]: devices (the embedded simulator, or a GPU through Level Zero), buffers and
//!   launches;
//! - [`isa`]: the Gen ISA itself.
//!
//! [`prelude`] has the names that a host uses.
//!
//! With the feature `cli`, which is on by default, it is also the `gantry` command, and has the
//! filetest runner as `filetests`. A program that embeds Gantry turns it off:
//! `gantry = { version = "0.1", default-features = false }`.
//!
//! ```
//! use gantry::codegen::{CompileOptions, compile, text};
//! use gantry::runtime::{Device, DeviceKind, Grid};
//!
//! // y = 2 * x in every work-item, eight to a hardware thread.
//! let module = text::parse(
//!     r#"
//! kernel %double(i64 ptr, i64 ptr) simd8 {
//! block0(v0: i64, v1: i64):
//!     v2 = group_id.i32 x
//!     v3 = iconst.i32 32
//!     v4 = imul v2, v3
//!     v5 = uextend.i64 v4
//!     v6 = iadd v0, v5
//!     v7 = bload.f32x8 v6
//!     v8 = fadd v7, v7
//!     v9 = iadd v1, v5
//!     bstore v8, v9
//!     return
//! }
//! "#,
//! )?
//! .module;
//! let device = Device::open(DeviceKind::Auto)?;
//! let compiled = compile(&module, &CompileOptions::for_device(&device.info())?)?;
//!
//! let x = device.buffer_from(&[1.5f32; 16])?;
//! let y = device.buffer(64)?;
//! let kernel = device.load(&compiled.zebin)?.kernel("double")?;
//! kernel.launch(Grid::new([16, 1, 1]).group([8, 1, 1])).arg(&x).arg(&y).run()?;
//! assert_eq!(y.read::<f32>()?, [3.0; 16]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cached;
pub mod prelude;
mod spirv_in;

#[cfg(feature = "wgsl")]
pub use cached::compile_wgsl_cached;
pub use cached::{Zebin, compile_cached, compile_spirv_cached};
pub use gantry_codegen as codegen;
#[cfg(feature = "cli")]
pub use gantry_filetests as filetests;
pub use gantry_isa_gen as isa;
pub use gantry_runtime as runtime;
pub use gantry_spirv as spirv;
pub use spirv_in::{SpirvError, compile_spirv, spirv_words};
#[cfg(feature = "wgsl")]
pub use {gantry_spirv::wgsl::translate_wgsl, spirv_in::compile_wgsl};

/// Examples of the page on the cache, compiled and run as tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/cache.md")]
pub struct CachePage;

/// Examples of the page on the IR, compiled and run as tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/ir.md")]
pub struct IrPage;

/// Examples of the page on SPIR-V and WGSL.
#[cfg(doctest)]
#[doc = include_str!("../docs/spirv.md")]
pub struct SpirvPage;

/// Examples of the README, compiled and run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
