//! Gantry's IR, lowering, register allocation, emission and zebin writing for Intel Gen GPUs.

pub mod builder;
pub mod compile;
mod context;
pub mod emit;
pub mod expand;
pub mod fired;
pub mod flags;
pub mod fuzzing;
pub mod inline;
pub mod interp;
pub mod ir;
mod key;
pub mod legalize;
pub mod liveness;
pub mod lower;
mod pipeline;
mod printf;
pub mod regalloc;
pub mod result;
pub mod sends;
pub mod simdcf;
pub mod target;
pub mod text;
pub mod vcode;
pub mod verifier;
pub mod zebin;

pub use compile::{CompileOptions, Compiled, CompiledKernel, KernelStats, compile, listing};
pub use context::Context;
pub use emit::LabelRange;
pub use inline::Inline;
pub use key::{CacheKey, VERSION};
pub use pipeline::Stage;
pub use result::CodegenError;
pub use simdcf::SimdCf;
pub use target::Target;
