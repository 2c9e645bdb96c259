//! Gantry's IR, lowering, register allocation, emission and zebin writing for Intel Gen GPUs.

pub mod bale;
pub mod builder;
pub mod compile;
pub mod display;
pub mod emit;
pub mod expand;
pub mod fired;
pub mod flags;
pub mod fuzzing;
pub mod inline;
pub mod interp;
pub mod ir;
pub mod legalize;
pub mod liveness;
pub mod lower;
pub mod lowered;
mod operand;
mod printf;
pub mod regalloc;
pub mod result;
mod routines;
pub mod sends;
pub mod simdcf;
pub mod target;
pub mod text;
pub mod vcode;
pub mod verifier;
pub mod zebin;

pub use compile::{CompileOptions, Compiled, CompiledKernel, KernelStats, Stage, compile};
pub use inline::Inline;
pub use result::CodegenError;
pub use simdcf::SimdCf;
pub use target::Target;
