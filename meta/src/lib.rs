//! Gen instruction rows, bit layouts and IR opcodes as tables, and the writers of Rust and ISLE from them.

pub mod ir;
