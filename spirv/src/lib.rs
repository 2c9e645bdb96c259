//! SPIR-V and WGSL front end: translates modules into [`gantry_codegen::ir`].
//!
//! OpenCL C, SYCL, GLSL and WGSL reach it as SPIR-V, WGSL by way of naga. Each kernel is
//! translated for one SIMD width. A scalar of a work-item becomes a value with a lane for each
//! work-item of the thread, or of one lane if it is uniform. Divergent control flow becomes
//! masks, and uniform control flow stays branches.
//!
//! [`translate`] makes IR, and [`compile`] machine code. `pipeline` lists the phases.
//!
//! ```
//! use gantry_codegen::{CompileOptions, Context};
//! use gantry_spirv::{Options, assemble, compile};
//!
//! let words = assemble(
//!     "
//!     OpCapability Addresses
//!     OpCapability Kernel
//!     OpMemoryModel Physical64 OpenCL
//!     OpEntryPoint Kernel %nothing \"nothing\"
//!     %void = OpTypeVoid
//!     %type = OpTypeFunction %void
//!     %nothing = OpFunction %void None %type
//!     %entry = OpLabel
//!     OpReturn
//!     OpFunctionEnd
//!     ",
//! )?;
//! let target = CompileOptions::for_target("dg2")?;
//! let (_, compiled) = compile(&words, &Options::default(), &target, &mut Context::new())?;
//! assert_eq!(compiled.kernels[0].name, "nothing");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Rooms of this crate: modules, each of which uses only those listed above it.
//! `tests/suite/house/rooms.rs` checks that.
//!
//! | room | holds |
//! |---|---|
//! | `constants` | values that a caller gives to specialization constants |
//! | `options` | options of the translation |
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
//! | `by_value_arguments` | structures by value as values |
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
//! | `translated` | kernels and their module |
//! | `work` | work that a kernel leaves at a width |
//! | `width` | choice of the SIMD width |
//! | `pipeline` | all phases, in order |
//! | `wgsl` | WGSL, by naga |
//! | `assemble` | SPIR-V assembly |
//! | `key` | keys of compile caches |

mod assemble;
mod body;
mod builtin_loads;
mod builtins;
mod by_value_arguments;
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
mod options;
mod pipeline;
mod prepared;
mod promote_arrays;
mod promoted_arrays;
mod read;
mod translated;
mod uniformity;
#[cfg(feature = "wgsl")]
pub mod wgsl;
mod width;
mod work;

pub use assemble::{AssembleError, assemble};
pub use constants::{NoSpecValue, SpecValue};
pub use error::{CompileError, Error, Errors, Fault};
pub use key::cache_key;
#[cfg(feature = "wgsl")]
pub use key::wgsl_cache_key;
pub use link::link;
pub use options::{Options, Simd};
pub use pipeline::{compile, translate};
pub use translated::{Kernel, Translated};

/// Examples of the walkthrough, as documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../docs/add-a-spirv-instruction.md")]
struct AddASpirvInstruction;
