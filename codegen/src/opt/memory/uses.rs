//! Users of values.

use crate::ir::{Block, Function, Inst, Value};
use crate::sized;
use cranelift_entity::SecondaryMap;

/// Instructions that use each value, one entry per operand.
#[derive(Debug)]
pub(super) struct Uses {
    users: Vec<Inst>,
    /// Range of each value's users in `users`.
    at: SecondaryMap<Value, (u32, u32)>,
}

impl Uses {
    /// Collects the uses in some blocks.
    pub(super) fn new(func: &Function, blocks: &[Block]) -> Uses {
        let mut uses = Uses {
            users: Vec::new(),
            at: sized(func.dfg.num_values()),
        };
        let dfg = &func.dfg;
        let insts = || blocks.iter().flat_map(|&b| func.layout.insts(b));
        let mut all = 0u32;
        for &inst in insts() {
            dfg.data(inst).for_each_arg(dfg, |v| {
                uses.at[v].1 += 1;
                all += 1;
            });
        }
        let mut sum = 0;
        for place in uses.at.values_mut() {
            let count = place.1;
            *place = (sum, sum);
            sum += count;
        }
        uses.users = vec![Inst::from_u32(0); all as usize];
        for &inst in insts() {
            dfg.data(inst).for_each_arg(dfg, |v| {
                let end = &mut uses.at[v].1;
                if let Some(user) = uses.users.get_mut(*end as usize) {
                    *user = inst;
                }
                *end += 1;
            });
        }
        uses
    }

    /// Returns the users of a value in block order; an instruction is listed once per operand.
    pub(super) fn of(&self, v: Value) -> &[Inst] {
        let (from, to) = self.at[v];
        &self.users[from as usize..to as usize]
    }
}
