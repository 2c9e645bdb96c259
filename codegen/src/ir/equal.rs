//! Equality of functions, as far as their texts tell.

use super::dfg::DataFlowGraph;
use super::entities::{Block, Inst, Value};
use super::function::Function;

impl Function {
    /// Returns true if two functions have the same text.
    ///
    /// That is: name, kind, signature, order of blocks and instructions, numbers and types of all
    /// values, operands, immediates, source locations and names of values. Contents of arenas do
    /// not count: numbers of instructions and constants, and values without a definition.
    pub fn same_code(&self, other: &Function) -> bool {
        self.name == other.name
            && self.kind == other.kind
            && self.linkage == other.linkage
            && self.sig == other.sig
            && self.labels == other.labels
            && self.samplers == other.samplers
            && self.reflection == other.reflection
            && self.layout.blocks() == other.layout.blocks()
            && self
                .layout
                .blocks()
                .iter()
                .all(|&block| same_block(self, other, block))
    }
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        self.same_code(other)
    }
}

fn same_values(a: &DataFlowGraph, xs: &[Value], b: &DataFlowGraph, ys: &[Value]) -> bool {
    xs == ys && xs.iter().all(|&v| a.ty(v) == b.ty(v))
}

fn same_block(a: &Function, b: &Function, block: Block) -> bool {
    let (xs, ys) = (a.layout.insts(block), b.layout.insts(block));
    same_values(
        &a.dfg,
        a.dfg.block_params(block),
        &b.dfg,
        b.dfg.block_params(block),
    ) && xs.len() == ys.len()
        && xs
            .iter()
            .zip(ys)
            .all(|(&x, &y)| a.srclocs[x] == b.srclocs[y] && same_inst(&a.dfg, x, &b.dfg, y))
}

fn same_inst(a: &DataFlowGraph, x: Inst, b: &DataFlowGraph, y: Inst) -> bool {
    same_values(a, a.results(x), b, b.results(y)) && a.data(x).same(a, b.data(y), b)
}
