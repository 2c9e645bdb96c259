//! Kernels of the demo, a file each: the code for the device and its reference on the CPU.

pub mod edges;
pub mod linear;
pub mod mandelbrot;
pub mod saxpy;

use gantry_codegen::builder::BuildError;
use gantry_codegen::ir::{Function, Module, Type};

/// Builds a module of one kernel.
///
/// # Errors
/// The kernel was built wrongly.
pub fn module(build: impl FnOnce() -> Result<Function, BuildError>) -> Result<Module, BuildError> {
    let mut m = Module::default();
    m.functions.push(build()?);
    Ok(m)
}

/// Returns a vector type; the kernels' own sizes all fit.
fn vector(lane: Type, lanes: u32) -> Type {
    Type::new(lane.scalar(), lanes).unwrap_or(lane)
}
