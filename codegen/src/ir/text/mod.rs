//! Text format of the IR (`.gir`): parser and printer. `parse(print(m)) == m`.

mod lexer;
pub(crate) mod literal;
mod parser;
mod print;

pub(crate) use lexer::Token;
pub use parser::{Parsed, SourceMap, parse};
pub(crate) use parser::{Parser, Res};
pub(crate) use print::inst_text;

pub use literal::{quote, unquote};
