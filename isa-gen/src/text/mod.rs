//! Assembler and disassembler in IGA syntax.

mod assemble;
mod bfn;
mod columns;
mod cursor;
mod disasm;
mod float;
mod number;
mod operands;
mod options;
mod parse;
mod print;
mod send;

pub use assemble::{Assembled, Located, assemble, parse_inst};
pub use disasm::{Listing, disassemble, disassemble_with, list};
pub use print::{print_inst, write_inst};
