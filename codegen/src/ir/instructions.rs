//! Instruction data, one variant per format, generated from the rows of formats in `meta`.

use super::dfg::DataFlowGraph;
use super::entities::{Block, CaseTable, Constant, DataRef, FuncRef, Value};
use super::immediate::{Immediate, Keyed};
use super::opcode::{Format, Opcode};
use super::operands::{Import, Inline, Pooled, Renaming};
use super::text::{Parser, Res, Token};
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityList, ListPool, PrimaryMap};

/// List of values in a function's pool.
pub type ValueList = EntityList<Value>;
/// Pool of a function's value lists.
pub type ValueListPool = ListPool<Value>;

/// Dimension of the grid.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Dim {
    /// First.
    X,
    /// Second.
    Y,
    /// Third.
    Z,
}

impl Dim {
    /// 0, 1 or 2.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Returns the name in the text format.
    pub const fn name(self) -> &'static str {
        match self {
            Dim::X => "x",
            Dim::Y => "y",
            Dim::Z => "z",
        }
    }
}

impl Immediate for Dim {
    fn print(&self, out: &mut String) {
        out.push_str(self.name());
    }

    fn parse(p: &mut Parser<'_>, _: Opcode, _: &str) -> Res<Dim> {
        let dim = match p.peek() {
            Token::Word("x") => Dim::X,
            Token::Word("y") => Dim::Y,
            Token::Word("z") => Dim::Z,
            _ => return p.error(format!("expected `x`, `y` or `z`, found {}", p.found())),
        };
        p.skip();
        Ok(dim)
    }
}

impl Keyed for Dim {
    fn key(&self, w: &mut dyn FnMut(&[u8])) {
        w(&[*self as u8]);
    }
}

/// Destination of a branch: a block and the arguments for its parameters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct BlockCall {
    /// The block.
    pub block: Block,
    /// One value per parameter.
    pub args: ValueList,
}

/// Maximum number of cases of a `switch`.
pub const MAX_CASES: usize = 65_536;

/// Cases of a `switch`.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Cases {
    /// The bits of each case's value, zero-extended.
    pub values: Vec<u64>,
    /// Default destination, then the destination of each case.
    pub dests: Vec<BlockCall>,
}

include!(concat!(env!("OUT_DIR"), "/data.rs"));
