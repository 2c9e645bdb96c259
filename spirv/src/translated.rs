//! Result of the translation.

use gantry_codegen::ir;

/// Kernel that was translated.
///
/// [`ir::Function::reflection`] describes its parameters to a host. Those of a kernel are
/// numbered as in OpenCL's `clSetKernelArg`. Those of a shader are its resources in order of
/// set, binding and element, then sizes of buffers, then push constants.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kernel {
    /// Name of the entry point.
    pub name: String,
    /// Function in [`Translated::module`].
    pub function: ir::FuncRef,
    /// SIMD width.
    pub simd: u32,
    /// Work-items of a group in each dimension, if the kernel requires them.
    pub group_size: Option<[u32; 3]>,
    /// True for a compute shader.
    pub is_shader: bool,
}

/// Result of a translation.
#[derive(Clone, Debug)]
pub struct Translated {
    /// IR of all kernels and the functions that they call.
    pub module: ir::Module,
    /// Kernels, in the order of the entry points.
    pub kernels: Vec<Kernel>,
}
