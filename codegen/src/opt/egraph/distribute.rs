//! Distribution of a product over a sum with a constant: `(x + k) * c` is `x * c` and a constant,
//! where the program computes `x * c` in any case.

use super::EGraph;
use super::keys::{has_key, hash_of, ordered};
use crate::ir::{InstData, Opcode, Type, Value};

impl EGraph<'_> {
    /// Returns the sum of a known product and a constant that a product by a constant is.
    pub(super) fn shared_product(&mut self, ty: Type, data: &InstData) -> Option<Value> {
        let &InstData::Binary {
            opcode: opcode @ (Opcode::Imul | Opcode::Ishl),
            args: [sum, by],
        } = data
        else {
            return None;
        };
        let factor = self.immediate(by)?;
        if opcode == Opcode::Ishl && factor >= u64::from(ty.scalar().bits()) {
            return None;
        }
        let summand = self.members(sum).into_iter().find_map(|m| {
            let &InstData::Binary {
                opcode: Opcode::Iadd,
                args: [x, k],
            } = self.data(m)?
            else {
                return None;
            };
            let product = InstData::Binary {
                opcode,
                args: [x, by],
            };
            Some((self.known_node(ty, &product)?, self.immediate(k)?))
        });
        let (product, k) = summand?;
        let bits = match opcode {
            Opcode::Ishl => k << factor,
            _ => k.wrapping_mul(factor),
        } & ty.scalar().mask();
        let opcode = Opcode::Iconst;
        let constant = self.node(ty, InstData::Imm { opcode, bits }, None);
        let sum = InstData::Binary {
            opcode: Opcode::Iadd,
            args: [product, constant],
        };
        Some(self.node(ty, sum, None))
    }

    /// Returns the class of a node, if there is one.
    fn known_node(&self, ty: Type, data: &InstData) -> Option<Value> {
        let wanted = (ty, ordered(data));
        let hash = hash_of(&wanted);
        let dfg = &self.func.dfg;
        let found = self
            .nodes
            .find(hash, |n| n.hash == hash as u32 && has_key(dfg, n, &wanted));
        found.map(|n| n.class)
    }
}
