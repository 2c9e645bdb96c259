//! Text format of the IR (`.gir`): parser and printer. `parse(print(m)) == m`.

mod lexer;
pub(crate) mod literal;
mod parser;
mod print;

pub use parser::{Parsed, SourceMap, parse};
pub(crate) use print::inst_text;

pub use literal::{quote, unquote};
