//! SPIR-V and WGSL front end: translates modules into [`gantry_codegen::ir`].
//!
//! OpenCL C, SYCL, GLSL and WGSL reach it as SPIR-V, WGSL by way of naga. Each kernel is
//! translated for one SIMD width. A scalar of a work-item becomes a value with a lane for each
//! work-item of the thread, or of one lane if it is uniform. Divergent control flow becomes
//! masks, and uniform control flow stays branches.
//!
//! [`translate`] makes IR, and [`compile`] machine code. `pipeline` lists the phases.
//!
//! Rooms of this crate, from bottom to top. A room uses those above it in this list, never those
//! below; `tests/suite/house/rooms.rs` checks it.
//!
//! | room | holds |
//! |---|---|
//! | `constants` | values that a caller gives to specialization constants |
//! | `error` | errors with their place in the module |
//! | `read` | words to instructions |
//! | `op_info` | properties of instructions |
//! | `capabilities` | capabilities, modes and decorations: supported, ignored, refused |
//! | `module` | types, constants and functions of a module |
//! | `intel_builtins` | functions that modules only declare |
//! | `link` | several modules as one |
//! | `body` | instructions of a function in blocks |
//! | `builtins` | built-in variables |
//! | `calling_convention` | structures by value |
//! | `cfg` | dominators, loops, structured form of a body |
//! | `inline_policy` | which calls are inlined |
//! | `inline` | inlining |
//! | `large_copies` | copies of large objects |
//! | `globals_to_locals` | variables of one function |
//! | `builtin_loads` | loads of built-ins |
//! | `mem2reg` | private variables become values |
//! | `large_constants` | large constants in constant data |
//! | `if_conversion` | if-conversion |
//! | `jump_threading` | jump threading |
//! | `promoted_arrays` | private variables that become vectors in registers |
//! | `uniformity` | uniformity analysis |
//! | `promote_arrays` | choice of private variables that become vectors |
//! | `infer_address_spaces` | generic pointers |
//! | `logical_pointers` | pointers without addresses |
//! | `contraction` | products and sums |
//! | `prepared` | a function after all passes |
//! | `frame_layout` | private memory of a kernel |
//! | `emit` | instructions, and functions of OpenCL.std and GLSL.std.450, to IR |
//! | `check` | support of a whole module |
//! | `entry_points` | kernels to translate |
//! | `width` | choice of the SIMD width |
//! | `pipeline` | all phases, in order |
//! | `wgsl` | WGSL, by naga |
//! | `assemble` | SPIR-V assembly |
//! | `key` | keys of compile caches |

mod assemble;
mod body;
mod builtin_loads;
mod builtins;
mod calling_convention;
mod capabilities;
mod cfg;
mod check;
mod constants;
mod contraction;
mod emit;
mod entry_points;
mod error;
mod frame_layout;
mod globals_to_locals;
mod if_conversion;
mod infer_address_spaces;
mod inline;
mod inline_policy;
mod intel_builtins;
mod jump_threading;
mod key;
mod large_constants;
mod large_copies;
mod link;
mod logical_pointers;
mod mem2reg;
mod module;
mod op_info;
mod pipeline;
mod prepared;
mod promote_arrays;
mod promoted_arrays;
mod read;
mod uniformity;
#[cfg(feature = "wgsl")]
pub mod wgsl;
mod width;

pub use assemble::{AssembleError, assemble};
pub use constants::{NoSpecValue, SpecValue};
pub use error::{CompileError, Error, Errors, Fault};
pub use key::cache_key;
#[cfg(feature = "wgsl")]
pub use key::wgsl_cache_key;
pub use link::link;

use gantry_codegen::{Begun, CompileOptions, Compiled, Context, Inline, ir};
use std::collections::BTreeMap;
use width::WidthOracle;

/// SIMD width: number of work-items of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Simd {
    /// Width that the kernel requires, else the widest of 32, 16 and 8 that is worthwhile and
    /// does not spill.
    #[default]
    Auto,
    /// Width 8, 16 or 32, unless the kernel requires another one.
    Width(u32),
}

/// Options of the translation.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// SIMD width.
    pub simd: Simd,
    /// Options that the kernels will be compiled with. Where the width is to be chosen and an
    /// estimate of register demand is inconclusive, the compiler computes the demand. Without
    /// it, the estimate decides alone.
    pub target: Option<CompileOptions>,
    /// Kernel to translate. `None` translates all.
    pub kernel: Option<String>,
    /// Values of specialization constants by their `SpecId`: bits, of which as many count as the
    /// constant has.
    pub spec_constants: BTreeMap<u32, u64>,
    /// Values of specialization constants by name (`OpName`, or that of a WGSL override) or by
    /// `SpecId` in decimal. They are numbers of any type, converted to the type of the constant,
    /// and take precedence over `spec_constants`. It is an error if the module has no such
    /// constant, for `spec_constants` too.
    pub constants: BTreeMap<String, SpecValue>,
    /// Makes accesses of shaders outside of arrays read zeros and write nothing, atomics
    /// included. By default WGSL has it, since the language promises it, and SPIR-V has not.
    pub robust: Option<bool>,
    /// Rounds quotients and square roots of singles correctly, as OpenCL's
    /// `-cl-fp32-correctly-rounded-divide-sqrt` does. By default they are the math unit's: OpenCL
    /// and WGSL allow 2.5 ulp of quotients and 3 of roots. Those of halves and doubles always
    /// round correctly.
    pub exact_division: bool,
    /// Rounds a product and the sum that it is part of separately, where the module allows
    /// contraction.
    pub exact_sums: bool,
    /// Name of a WGSL text in line information, for faults, profiles and traces. It does not
    /// change the code. SPIR-V has names and lines of its own (`OpLine`).
    pub source_name: Option<String>,
    /// Functions that are not inlined: those whose copies would add too much to a large kernel,
    /// none, or all that can be called.
    pub inline: Inline,
}

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

/// Translates the kernels of a module.
///
/// # Errors
/// All invalid or unsupported parts of the module that were found.
pub fn translate(words: &[u32], options: &Options) -> Result<Translated, Errors> {
    let mut context = Context::new();
    let mut oracle = WidthOracle::new(options.target.as_ref(), &mut context);
    pipeline::translate(words, options, &mut oracle)
}

/// Translates the kernels of a module and compiles them for `target`, in the memory of a context.
///
/// It is [`translate`] and [`Context::compile`] in one. Stages that the compiler runs to find
/// which width fits are not run again. `options.target` is ignored.
///
/// # Errors
/// Those of [`translate`] and of [`Context::compile`].
pub fn compile(
    words: &[u32],
    options: &Options,
    target: &CompileOptions,
    context: &mut Context,
) -> Result<(Translated, Compiled), CompileError> {
    let options = Options {
        target: Some(target.clone()),
        ..options.clone()
    };
    let mut oracle = WidthOracle::beginning(target, context);
    let translated = pipeline::translate(words, &options, &mut oracle)?;
    let begun = oracle.begun().unwrap_or_else(|| Begun::new(target));
    let compiled = begun.compile(context, &translated.module)?;
    Ok((translated, compiled))
}
