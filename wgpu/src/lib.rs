//! wgpu on Gantry: compute programs written for wgpu, with no GPU, no Vulkan and no driver.
//!
//! [`instance`] makes a `wgpu::Instance` whose adapters are Gantry's simulators, one a product.
//! Everything else is wgpu: validation, `naga`, usage tracking. Shaders are compiled to Intel Gen
//! code, and the simulator executes its bytes.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let instance = gantry_wgpu::instance(&gantry_wgpu::Options::default())?;
//! let adapter = pollster::block_on(instance.request_adapter(&Default::default()))?;
//! let (device, queue) = pollster::block_on(adapter.request_device(&Default::default()))?;
//! # Ok(())
//! # }
//! ```
//!
//! Only compute is there. Render pipelines, surfaces and ray tracing are refused by wgpu's own
//! errors.
//!
//! Rooms of this crate: modules, each of which uses only those listed above it, but for the types
//! that [`wgpu_hal::Api`] ties together.
//!
//! | room | holds |
//! |---|---|
//! | `options` | options of an instance |
//! | `buffer` | buffers and their mappings |
//! | `texture` | textures, views and formats |
//! | `resource` | samplers, bind groups, queries, shader modules |
//! | `fence` | fences |
//! | `cache` | pipeline caches |
//! | `pipeline` | compute pipelines |
//! | `command` | commands that an encoder has recorded |
//! | `encoder` | command encoders |
//! | `device` | devices |
//! | `queue` | queues |
//! | `instance` | instances and adapters |
//! | `never` | what only graphics has |
//! | `api` | the types of the API |
#![allow(
    unsafe_code,
    reason = "the methods of wgpu-hal are unsafe functions, and wgpu-core keeps their contracts"
)]

mod api;
mod buffer;
mod cache;
mod command;
mod device;
mod encoder;
mod fence;
mod instance;
mod never;
mod options;
mod pipeline;
mod queue;
mod resource;
mod texture;

pub use instance::instance;
pub use options::{Options, OptionsError};

/// The program of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
