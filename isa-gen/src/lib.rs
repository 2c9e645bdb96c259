//! Instruction set of Intel Gen GPUs, from Haswell to Ponte Vecchio, as a crate without
//! dependencies on the compiler.
//!
//! It describes platforms and their features, registers, regions and types, and the machine
//! instruction, [`Inst`]. It encodes, decodes and compacts instructions, and reads and writes IGA
//! syntax. It models send messages, checks legality rules, and defines the semantics of each
//! opcode.
//!
//! ```
//! use gantry_isa_gen::{Platform, legal, text};
//!
//! let platform = Platform::from_name("skl").ok_or("no such platform")?;
//! let program = text::assemble(platform, "add (8|M0) r5.0<1>:f r6.0<8;8,1>:f 1.5:f\n")?;
//! assert_eq!(program.bytes.len(), 16);
//! assert!(legal::check(platform, &program.insts[0].inst).is_empty());
//! let listing = text::disassemble(platform, &program.bytes);
//! let columns = "add (8|M0)               r5.0<1>:f     r6.0<8;8,1>:f     1.5:f";
//! assert_eq!(listing.lines().nth(1).map(str::trim), Some(columns));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Rooms of this crate: modules, each of which uses only those listed above it.
//! `tests/suite/house/rooms.rs` checks that.
//!
//! | room | holds |
//! |---|---|
//! | `diag` | errors in source texts |
//! | `named` | the macro of enums with names |
//! | `names` | lookup by name |
//! | `types` | element types |
//! | `sync_fn` | functions of `sync` |
//! | `swsb` | SWSB annotations |
//! | `platform` | platforms, their features, products |
//! | `sfid` | shared functions and their properties by platform |
//! | `table` | constant tables that `gantry-meta` writes, and their types |
//! | `op` | opcodes and math functions |
//! | `reg` | registers |
//! | `region` | regions, exec sizes, channel offsets |
//! | `inst` | instructions |
//! | `printf` | format strings of `printf` |
//! | `codec` | encoder and decoder of each format |
//! | `compact` | the 8-byte form |
//! | `encode` | encoding |
//! | `decode` | decoding |
//! | `exec_unit` | pipe or function that executes an instruction |
//! | `message` | messages and descriptors |
//! | `sem` | semantics of each opcode |
//! | `legal` | legality rules |
//! | `effects` | storage that an instruction reads and writes |
//! | `perf` | latencies, the model of cycles |
//! | `text` | IGA syntax, both ways |
//! | `fuzz` | random instructions, for tests (feature `fuzzing`) |
//!
//! Code asks a platform for its [`Features`] by name. Tables say what an instruction may have and
//! which bits hold it. `gantry-meta` writes these tables at build time, with one column per
//! generation. One encoder, one decoder, one printer and one parser are driven by them.

mod codec;
pub mod compact;
pub mod decode;
pub mod diag;
pub mod effects;
pub mod encode;
pub mod exec_unit;
#[cfg(feature = "fuzzing")]
pub mod fuzz;
pub mod inst;
pub mod legal;
pub mod message;
mod named;
mod names;
pub mod op;
pub mod perf;
pub mod platform;
pub mod printf;
pub mod reg;
pub mod region;
pub mod sem;
mod sfid;
pub mod swsb;
mod sync_fn;
mod table;
pub mod text;
pub mod types;

pub use inst::{
    Cond, CondMod, Desc, Dst, Inst, InstOpts, PredCtrl, Predicate, RegRole, SendDescs, Src,
    SrcMods, Subfn, SyncFn, Target,
};
pub use op::{MathFn, Op};
pub use platform::{DeviceInfo, DeviceLimits, Features, GpuSize, PRODUCTS, Platform, Product};
pub use reg::{Arf, Reg, RegRef, Register};
pub use region::{ChannelOffset, ExecSize, Region};
pub use swsb::Swsb;
pub use types::Type;

/// Examples of the walkthroughs, as documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../docs/add-a-platform.md")]
#[doc = include_str!("../../docs/add-a-message.md")]
struct Walkthroughs;
