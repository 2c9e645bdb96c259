//! Gen instruction rows, bit layouts, compaction tables and IR opcodes as data, and the writers
//! that turn them into Rust and ISLE for the build scripts of `gantry-isa-gen` and
//! `gantry-codegen`.
//!
//! A fact lives here once: [`instructions`] has one row per instruction with a column per
//! generation, [`layout`] says which bits hold which field, [`compact`] has the tables of the
//! 64-bit form, [`timing`] how long instructions take, and [`mod@write`] prints all of it as Rust
//! constants. Adding a generation is adding columns. `cargo run -p gantry-meta` prints every row.

pub mod compact;
mod fingerprint;
pub mod format;
pub mod generation;
pub mod instructions;
pub mod ir;
pub mod layout;
pub mod row;
pub mod timing;
pub mod types;
pub mod write;

pub use fingerprint::fingerprint;
pub use format::Format;
pub use generation::Generation;
pub use row::{Column, MathRow, Row, RowError};
pub use types::{Ty, TypeSet};

/// The walkthrough's examples, as documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../docs/add-a-gen-instruction.md")]
struct AddAGenInstruction;
