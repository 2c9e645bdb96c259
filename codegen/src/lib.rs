//! Gantry's IR, lowering, register allocation, emission and zebin writing for Intel Gen GPUs.
//!
//! The public API is for hosts and stays compatible from one minor version to the next. It is the
//! IR with its [text](mod@text), its [builder], its [verifier] and its [interpreter](interp),
//! [`compile()`] with its [`CompileOptions`] and results, and [`CacheKey`]. The stages in between
//! are private; `docs/pipeline.md` describes them.
//!
//! ```
//! use gantry_codegen::{CompileOptions, compile, text};
//!
//! // Stores a number to a buffer.
//! let module = text::parse(
//!     "kernel %store(i64 ptr) simd8 {
//! block0(v0: i64):
//!     v1 = iconst.i32 42
//!     bstore v1, v0
//!     return
//! }
//! ",
//! )?
//! .module;
//! let compiled = compile(&module, &CompileOptions::for_target("tgllp")?)?;
//! assert_eq!(compiled.kernels[0].name, "store");
//! // The zebin is an ELF file that drivers and `gantry-runtime` load.
//! assert_eq!(&compiled.zebin[1..4], b"ELF");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Rooms of this crate: modules, each of which uses only those listed above it.
//! `tests/suite/house/rooms.rs` checks that.
//!
//! | room | holds |
//! |---|---|
//! | `entity_set` | maps, sets and lists keyed by entities |
//! | `graph` | orders, dominators, loops and disjoint sets, independent of code |
//! | `ir` | the IR: types, data flow graph, text, builder, verifier, interpreter |
//! | `error` | errors of compilation |
//! | `fuzzing` | random valid IR, for tests (feature `fuzzing`) |
//! | `target` | products, features of their platforms, ABIs, errata |
//! | `rule_coverage` | rules and repairs that a kernel used (feature `fuzzing`) |
//! | `legalize_ops` | operations that a target lacks, rewritten in the IR |
//! | `images_in_memory` | images by loads and stores, on targets without a sampler |
//! | `passes` | names of passes and stages, levels, the order of stages |
//! | `opt` | the optimizer: e-graph, memory, loops, control flow, vectors |
//! | `mir` | machine instructions and functions, display, verifier, liveness |
//! | `isel` | IR to machine instructions: bales, messages, regions |
//! | `regalloc` | flags, the GRF file, the checker |
//! | `mir_opt` | passes over machine code around allocation |
//! | `sched` | instruction scheduling |
//! | `emit` | physical instructions and bytes |
//! | `scoreboard` | SWSB annotations |
//! | `zebin` | zebins of compiled code |
//! | `driver` | options, the pipeline, context, choice of a width, cache key |

mod driver;
mod emit;
#[doc(hidden)]
pub mod entity_set;
mod error;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
#[doc(hidden)]
pub mod graph;
mod images_in_memory;
pub mod ir;
mod isel;
mod legalize_ops;
mod mir;
mod mir_opt;
mod opt;
mod passes;
mod regalloc;
#[doc(hidden)]
pub mod rule_coverage;
mod sched;
mod scoreboard;
mod target;
mod zebin;

pub use driver::cache_key::{CacheKey, VERSION};
pub use driver::context::Context;
pub use driver::options::{
    CompileOptions, Compiled, CompiledKernel, DebugOptions, Demand, KernelStats, ModuleCompilation,
    compile, compile_kernel, listing,
};
pub use driver::policy::GrfMode;
pub use driver::width::{WidthCandidate, WidthJudge};
pub use emit::{Code, LabelRange, Located, Relocation};
use entity_set::sized;
pub use error::{CodegenError, LookupError};
pub use ir::{builder, interp, text, verifier};
pub use isel::mask_stack::{Finding, Rule, SimdCf};
pub use mir::SymbolPart;
pub use opt::inline::Inline;
pub use passes::{FormKind, OptLevel, Pass, PassSet, PassStats, Stage};
pub use regalloc::grf::baseline::Allocator;
pub use regalloc::grf::spill::Spilled;
pub use regalloc::report;
pub use regalloc::timing::{Phase, Phases};
pub use target::abi::{LaunchFact, Payload, Slot};
pub use target::{GrfFile, Target};
