//! The Intel Gen ISA as a leaf crate, from Haswell to Ponte Vecchio: platforms and their features, registers, regions,
//! types, [`Inst`], encoding and compaction, IGA syntax both ways, messages, legality rules and each opcode's semantics.
//!
//! ```
//! use gantry_isa_gen::{Platform, legal, text};
//!
//! let platform = Platform::from_name("skl").ok_or("no such platform")?;
//! let program = text::assemble(platform, "add (8|M0) r5.0<1>:f r6.0<8;8,1>:f 1.5:f\n")?;
//! assert_eq!(program.bytes.len(), 16);
//! assert!(legal::check(platform, &program.insts[0].inst).is_empty());
//! let listing = text::disassemble(platform, &program.bytes);
//! assert_eq!(listing.lines().nth(1).map(str::trim), Some("add (8|M0)               r5.0<1>:f     r6.0<8;8,1>:f     1.5:f"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Code asks a platform for its [`Features`] by name. What an instruction may have and which bits hold it is in tables that
//! `gantry-meta` writes at build time: one column per generation, walked by one encoder, one decoder, one printer and one
//! parser.

mod codec;
pub mod compact;
pub mod decode;
pub mod diag;
pub mod encode;
pub mod fuzz;
pub mod inst;
pub mod legal;
pub mod message;
mod names;
pub mod op;
pub mod perf;
pub mod platform;
pub mod printf;
pub mod reg;
pub mod region;
pub mod sem;
pub mod swsb;
mod table;
pub mod text;
pub mod types;

pub use inst::{
    Cond, CondMod, Desc, Dst, Inst, InstOpts, PredCtrl, Predicate, RegRole, SendDescs, Src,
    SrcMods, Subfn, SyncFn, Target,
};
pub use op::{MathFn, Op};
pub use platform::{DeviceInfo, Features, PRODUCTS, Platform, Product};
pub use reg::{Arf, Reg, RegRef, Register};
pub use region::{ChannelOffset, ExecSize, Region};
pub use swsb::Swsb;
pub use types::Type;

/// The walkthrough's examples, as documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../docs/add-a-platform.md")]
struct AddAPlatform;
