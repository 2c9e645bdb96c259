//! Parts of the demo: kernels built with
//! [`FunctionBuilder`](gantry_codegen::builder::FunctionBuilder) and one from WGSL, their
//! references on the CPU, and pictures.
//!
//! Rooms of this crate: modules, each of which uses only those listed above it.
//! `tests/suite/house/rooms.rs` checks that.
//!
//! | room | holds |
//! |---|---|
//! | `error` | errors that stop the demo |
//! | `report` | the table that is printed, the progress bar |
//! | `picture` | pictures as PNG files |
//! | `kernels` | kernels and their references on the CPU |
//! | `demo` | compiling, launching and checking them |
//! | `given` | a kernel of the user's |

pub mod demo;
mod error;
pub mod given;
pub mod kernels;
pub mod picture;
pub mod report;

pub use error::DemoError;
