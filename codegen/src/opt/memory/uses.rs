//! Users of values.

use crate::entity_set::EntityLists;
use crate::ir::{Block, Function, Inst, Value};

/// Instructions that use each value, one entry per operand.
#[derive(Debug)]
pub(super) struct Uses(EntityLists<Value, Inst>);

impl Uses {
    /// Collects the uses in some blocks.
    pub(super) fn new(func: &Function, blocks: &[Block]) -> Uses {
        let dfg = &func.dfg;
        Uses(EntityLists::grouped(dfg.num_values(), |each| {
            for &inst in blocks.iter().flat_map(|&b| func.layout.insts(b)) {
                dfg.data(inst).for_each_arg(dfg, |v| each(v, inst));
            }
        }))
    }

    /// Returns the users of a value in block order; an instruction is listed once per operand.
    pub(super) fn of(&self, v: Value) -> &[Inst] {
        &self.0[v]
    }
}
