//! Selects by predicates that are defined in some lanes only, and alike in those.

use super::EGraph;
use crate::ir::{InstData, Opcode, Value};

impl EGraph<'_> {
    /// Returns the operand that a select takes in every lane whose bit is defined.
    pub(super) fn defined_choice(&self, data: &InstData) -> Option<Value> {
        let &InstData::Ternary {
            opcode: Opcode::Select,
            args: [mask, x, y],
        } = data
        else {
            return None;
        };
        self.members(mask).into_iter().find_map(|m| {
            let &InstData::WrPred {
                args: [old, new], ..
            } = self.data(m)?
            else {
                return None;
            };
            let bits = self.immediate(new)?;
            let full = u64::MAX >> (64 - self.ty(new).lanes().clamp(1, 64));
            match bits & full {
                _ if !self.func.dfg.is_undef(old) => None,
                0 => Some(y),
                bits if bits == full => Some(x),
                _ => None,
            }
        })
    }
}
