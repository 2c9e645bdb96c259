//! Assembly text in IGA's syntax, both ways.

mod assemble;
mod columns;
mod cursor;
mod disasm;
mod float;
mod number;
mod operands;
mod parse;
mod print;

pub use assemble::{Assembled, Located, assemble};
pub use disasm::{Listing, disassemble, list};
pub use print::print_inst;
