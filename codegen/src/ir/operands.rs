//! Parts of an instruction's data that have value operands, or data in a pool of the function.
//! Generated functions of `InstData` call these for each field.

use super::dfg::DataFlowGraph;
use super::entities::{Block, CaseTable, Constant, Value};
use super::instructions::{BlockCall, ValueList};
use cranelift_entity::packed_option::PackedOption;

/// Value operands in the instruction itself. Passes visit them for every instruction, so the
/// functions are always inlined.
pub(super) trait Inline {
    /// Calls `f` on every value.
    fn visit(&self, f: &mut impl FnMut(Value));

    /// Replaces every value `v` by `f(v)`.
    fn map(&mut self, f: &mut impl FnMut(Value) -> Value);
}

impl Inline for Value {
    #[inline(always)]
    fn visit(&self, f: &mut impl FnMut(Value)) {
        f(*self);
    }

    #[inline(always)]
    fn map(&mut self, f: &mut impl FnMut(Value) -> Value) {
        *self = f(*self);
    }
}

impl Inline for PackedOption<Value> {
    #[inline(always)]
    fn visit(&self, f: &mut impl FnMut(Value)) {
        if let Some(v) = self.expand() {
            f(v);
        }
    }

    #[inline(always)]
    fn map(&mut self, f: &mut impl FnMut(Value) -> Value) {
        if let Some(v) = self.expand() {
            *self = f(v).into();
        }
    }
}

impl<T: Inline, const N: usize> Inline for [T; N] {
    #[inline(always)]
    fn visit(&self, f: &mut impl FnMut(Value)) {
        for part in self {
            part.visit(f);
        }
    }

    #[inline(always)]
    fn map(&mut self, f: &mut impl FnMut(Value) -> Value) {
        for part in self {
            part.map(f);
        }
    }
}

/// Names of one function's values and blocks in another.
pub(crate) trait Renaming {
    /// Returns the name of a value.
    fn value(&self, v: Value) -> Value;

    /// Returns the name of a block, if it has one.
    fn block(&self, b: Block) -> Option<Block>;
}

/// Import of instructions from a function into another.
pub(crate) struct Import<'a, R> {
    /// Graph that the instructions are from.
    pub from: &'a DataFlowGraph,
    /// Graph of the function that they are added to.
    pub to: &'a mut DataFlowGraph,
    /// Names there.
    pub names: &'a R,
}

/// Data in pools of the function.
pub(super) trait Pooled {
    /// Calls `f` on every value.
    fn visit_in(&self, dfg: &DataFlowGraph, f: &mut impl FnMut(Value));

    /// Replaces every value `v` by `f(v)`.
    fn map_in(&mut self, dfg: &mut DataFlowGraph, f: &mut impl FnMut(Value) -> Value);

    /// Clones what is in pools, so that changes do not affect the original.
    fn own(&mut self, dfg: &mut DataFlowGraph);

    /// Moves it to another function. Returns `None` if a block has no name there.
    fn import(&mut self, import: &mut Import<'_, impl Renaming>) -> Option<()>;

    /// Returns true if the contents are those of another function's data.
    fn same(&self, dfg: &DataFlowGraph, other: &Self, other_dfg: &DataFlowGraph) -> bool;
}

impl Pooled for ValueList {
    fn visit_in(&self, dfg: &DataFlowGraph, f: &mut impl FnMut(Value)) {
        self.as_slice(&dfg.pool).iter().copied().for_each(f);
    }

    fn map_in(&mut self, dfg: &mut DataFlowGraph, f: &mut impl FnMut(Value) -> Value) {
        for v in self.as_mut_slice(&mut dfg.pool) {
            *v = f(*v);
        }
    }

    fn own(&mut self, dfg: &mut DataFlowGraph) {
        *self = self.deep_clone(&mut dfg.pool);
    }

    fn import(&mut self, import: &mut Import<'_, impl Renaming>) -> Option<()> {
        let values = self.as_slice(&import.from.pool).iter();
        let values: Vec<Value> = values.map(|&v| import.names.value(v)).collect();
        *self = ValueList::from_slice(&values, &mut import.to.pool);
        Some(())
    }

    fn same(&self, dfg: &DataFlowGraph, other: &Self, other_dfg: &DataFlowGraph) -> bool {
        self.as_slice(&dfg.pool) == other.as_slice(&other_dfg.pool)
    }
}

impl Pooled for BlockCall {
    fn visit_in(&self, dfg: &DataFlowGraph, f: &mut impl FnMut(Value)) {
        self.args.visit_in(dfg, f);
    }

    fn map_in(&mut self, dfg: &mut DataFlowGraph, f: &mut impl FnMut(Value) -> Value) {
        self.args.map_in(dfg, f);
    }

    fn own(&mut self, dfg: &mut DataFlowGraph) {
        self.args.own(dfg);
    }

    fn import(&mut self, import: &mut Import<'_, impl Renaming>) -> Option<()> {
        self.block = import.names.block(self.block)?;
        self.args.import(import)
    }

    fn same(&self, dfg: &DataFlowGraph, other: &Self, other_dfg: &DataFlowGraph) -> bool {
        self.block == other.block && self.args.same(dfg, &other.args, other_dfg)
    }
}

impl<T: Pooled, const N: usize> Pooled for [T; N] {
    fn visit_in(&self, dfg: &DataFlowGraph, f: &mut impl FnMut(Value)) {
        for part in self {
            part.visit_in(dfg, f);
        }
    }

    fn map_in(&mut self, dfg: &mut DataFlowGraph, f: &mut impl FnMut(Value) -> Value) {
        for part in self {
            part.map_in(dfg, f);
        }
    }

    fn own(&mut self, dfg: &mut DataFlowGraph) {
        for part in self {
            part.own(dfg);
        }
    }

    fn import(&mut self, import: &mut Import<'_, impl Renaming>) -> Option<()> {
        self.iter_mut().try_for_each(|part| part.import(import))
    }

    fn same(&self, dfg: &DataFlowGraph, other: &Self, other_dfg: &DataFlowGraph) -> bool {
        let mut pairs = self.iter().zip(other);
        pairs.all(|(a, b)| a.same(dfg, b, other_dfg))
    }
}

impl Pooled for CaseTable {
    fn visit_in(&self, dfg: &DataFlowGraph, f: &mut impl FnMut(Value)) {
        for dest in &dfg.cases(*self).dests {
            dest.visit_in(dfg, f);
        }
    }

    fn map_in(&mut self, dfg: &mut DataFlowGraph, f: &mut impl FnMut(Value) -> Value) {
        let (cases, pool) = dfg.cases_mut(*self);
        for dest in cases.into_iter().flat_map(|c| &mut c.dests) {
            for v in dest.args.as_mut_slice(pool) {
                *v = f(*v);
            }
        }
    }

    fn own(&mut self, dfg: &mut DataFlowGraph) {
        let mut cases = dfg.cases(*self).clone();
        for dest in &mut cases.dests {
            dest.own(dfg);
        }
        *self = dfg.make_cases(cases);
    }

    fn import(&mut self, import: &mut Import<'_, impl Renaming>) -> Option<()> {
        let mut cases = import.from.cases(*self).clone();
        for dest in &mut cases.dests {
            dest.import(import)?;
        }
        *self = import.to.make_cases(cases);
        Some(())
    }

    fn same(&self, dfg: &DataFlowGraph, other: &Self, other_dfg: &DataFlowGraph) -> bool {
        let (a, b) = (dfg.cases(*self), other_dfg.cases(*other));
        a.values == b.values
            && a.dests.len() == b.dests.len()
            && (a.dests.iter().zip(&b.dests)).all(|(a, b)| a.same(dfg, b, other_dfg))
    }
}

/// Bits of lanes, which no pass changes.
impl Pooled for Constant {
    fn visit_in(&self, _: &DataFlowGraph, _: &mut impl FnMut(Value)) {}

    fn map_in(&mut self, _: &mut DataFlowGraph, _: &mut impl FnMut(Value) -> Value) {}

    fn own(&mut self, _: &mut DataFlowGraph) {}

    fn import(&mut self, import: &mut Import<'_, impl Renaming>) -> Option<()> {
        *self = import
            .to
            .make_constant(import.from.constant(*self).to_vec());
        Some(())
    }

    fn same(&self, dfg: &DataFlowGraph, other: &Self, other_dfg: &DataFlowGraph) -> bool {
        dfg.constant(*self) == other_dfg.constant(*other)
    }
}
