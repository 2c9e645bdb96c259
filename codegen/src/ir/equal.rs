//! Equality of functions, as far as their texts tell.

use super::dfg::DataFlowGraph;
use super::entities::{Block, Inst, Value};
use super::function::Function;
use super::instructions::{BlockCall, InstData};

impl Function {
    /// Returns true if two functions have the same text.
    ///
    /// That is: name, kind, signature, order of blocks and instructions, numbers and types of all
    /// values, operands, immediates, source locations and names of values. Contents of arenas do
    /// not count: numbers of instructions and constants, and values without a definition.
    pub fn same_code(&self, other: &Function) -> bool {
        self.name == other.name
            && self.kind == other.kind
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

fn same_call(a: &DataFlowGraph, x: &BlockCall, b: &DataFlowGraph, y: &BlockCall) -> bool {
    x.block == y.block && x.args.as_slice(&a.pool) == y.args.as_slice(&b.pool)
}

fn same_inst(a: &DataFlowGraph, x: Inst, b: &DataFlowGraph, y: Inst) -> bool {
    if !same_values(a, a.results(x), b, b.results(y)) {
        return false;
    }
    // Data in a pool is compared by content, the rest directly.
    match (a.data(x), b.data(y)) {
        (
            InstData::ImmVec {
                opcode,
                constant: c,
            },
            InstData::ImmVec {
                opcode: other,
                constant: d,
            },
        ) => opcode == other && a.constant(*c) == b.constant(*d),
        (
            InstData::Call { opcode, func, args },
            InstData::Call {
                opcode: o,
                func: g,
                args: other,
            },
        ) => opcode == o && func == g && args.as_slice(&a.pool) == other.as_slice(&b.pool),
        (
            InstData::Printf {
                format, args, mask, ..
            },
            InstData::Printf {
                format: other,
                args: ys,
                mask: m,
                ..
            },
        ) => format == other && mask == m && args.as_slice(&a.pool) == ys.as_slice(&b.pool),
        (InstData::Return { args, .. }, InstData::Return { args: other, .. }) => {
            args.as_slice(&a.pool) == other.as_slice(&b.pool)
        }
        (InstData::Jump { dest, .. }, InstData::Jump { dest: other, .. }) => {
            same_call(a, dest, b, other)
        }
        (
            InstData::Brif { cond, dests, .. },
            InstData::Brif {
                cond: c,
                dests: other,
                ..
            },
        ) => cond == c && dests.iter().zip(other).all(|(d, e)| same_call(a, d, b, e)),
        (
            InstData::Switch { arg, cases, .. },
            InstData::Switch {
                arg: other,
                cases: c,
                ..
            },
        ) => {
            let (x, y) = (a.cases(*cases), b.cases(*c));
            let dests = || x.dests.iter().zip(&y.dests);
            arg == other
                && x.values == y.values
                && x.dests.len() == y.dests.len()
                && dests().all(|(d, e)| same_call(a, d, b, e))
        }
        (d, e) => d == e,
    }
}
