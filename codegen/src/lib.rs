//! Gantry's IR, lowering, register allocation, emission and zebin writing for Intel Gen GPUs.
//!
//! What is public here is for hosts and stays as it is from one minor version to the next: the IR with its [text](mod@text), its
//! [builder], its [verifier] and its [interpreter](interp); [`compile()`] with its [`CompileOptions`], and what comes of it; [`CacheKey`].
//! The stages in between are private; `docs/pipeline.md` tells of them.

mod address;
mod addresses;
pub mod builder;
mod by_address;
mod coalesce;
mod compile;
mod constants;
mod context;
#[doc(hidden)]
pub mod dominators;
mod emit;
mod expand;
#[doc(hidden)]
pub mod fired;
mod flags;
#[doc(hidden)]
pub mod fuzzing;
mod grf_mode;
mod inline;
pub mod interp;
pub mod ir;
mod key;
mod legalize;
mod liveness;
mod lower;
#[doc(hidden)]
pub mod maps;
mod opt;
mod pipeline;
mod printf;
mod regalloc;
mod result;
mod sched;
mod scoreboard;
mod sends;
mod simdcf;
mod target;
pub mod text;
mod vcode;
pub mod verifier;
mod zebin;

pub use compile::{
    Begun, CompileOptions, Compiled, CompiledKernel, Demand, KernelStats, compile, compile_kernel,
    listing,
};
pub use context::Context;
pub use emit::{Code, LabelRange, Located, Relocation};
pub use grf_mode::GrfMode;
pub use inline::Inline;
pub use key::{CacheKey, VERSION};
use maps::sized;
pub use opt::{OptLevel, Pass, PassSet, PassStats};
pub use pipeline::Stage;
pub use regalloc::baseline::Allocator;
pub use regalloc::phases::{Phase, Phases};
pub use regalloc::report;
pub use regalloc::spill::Spilled;
pub use result::CodegenError;
pub use simdcf::{Finding, Rule, SimdCf};
pub use target::abi::{LaunchFact, Payload, Slot};
pub use target::{GrfFile, Target};
pub use vcode::SymbolPart;
