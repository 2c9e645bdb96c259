//! YAML as the format has it: block lists and maps, written and parsed.

#[cfg(feature = "read")]
mod node;
mod text;

#[cfg(feature = "read")]
pub(crate) use node::{Node, parse};
pub(crate) use text::{Text, plain, quoted, scalar};
