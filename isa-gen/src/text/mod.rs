//! Assembly text in IGA's syntax, both ways.

mod columns;
mod disasm;
mod float;
mod print;

pub use disasm::{Listing, disassemble, list};
pub use print::print_inst;
