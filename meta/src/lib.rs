//! Tables of Gen instructions, bit layouts, compaction, messages, timing and IR opcodes. Writers
//! generate Rust and ISLE from them for the build scripts of `gantry-isa-gen` and `gantry-codegen`.
//!
//! Each fact is stated here once. [`instructions`] has one row per instruction with a column per
//! generation. [`layout`] maps fields to bits, and [`compact`] has the tables of the 8-byte form.
//! [`messages`] has one row per message of a shared function, and [`timing`] the latencies of
//! instructions. [`mod@write`] prints all of it as Rust constants. A new generation is a new
//! column. `cargo run -p gantry-meta` prints every row.
//!
//! Rooms of this crate: modules, each of which uses only those listed above it.
//! `tests/suite/house/rooms.rs` checks that.
//!
//! | room | holds |
//! |---|---|
//! | `fingerprint` | fingerprint of a package's sources |
//! | `listed` | enums with their documentation |
//! | `generation` | generations, and sets of them |
//! | `format` | formats of instructions, for codecs |
//! | `types` | element types |
//! | `row` | rows of instructions |
//! | `instructions` | instructions by family |
//! | `layout` | bits of fields by generation |
//! | `compact` | tables of the 8-byte form |
//! | `timing` | latencies |
//! | `messages` | messages of the shared functions |
//! | `ir` | opcodes of the IR, and their writers |
//! | `write` | writers of Rust |

pub mod compact;
mod fingerprint;
pub mod format;
pub mod generation;
pub mod instructions;
pub mod ir;
pub mod layout;
mod listed;
pub mod messages;
pub mod row;
pub mod timing;
pub mod types;
pub mod write;

pub use fingerprint::fingerprint;
pub use format::Format;
pub use generation::Generation;
pub use row::{Column, MathRow, Row, RowError};
pub use types::{Ty, TypeSet};

/// Examples of the walkthrough, as documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../docs/add-a-gen-instruction.md")]
struct AddAGenInstruction;
