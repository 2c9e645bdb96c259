//! Branches with a known outcome on some incoming edges, by a constant argument or by a dominating
//! branch on the same condition (jump threading).

use super::generate::Gen;
use crate::ir::{IntCC, Scalar, Type};

impl Gen<'_, '_, '_> {
    /// Generates a uniform branch, and a second one on a value passed by it or on the same
    /// condition. Values computed between them are used by both sides of the second, and sometimes
    /// after it.
    pub(super) fn known_branch(&mut self, budget: u32, depth: u32) {
        let first = self.value(Type::scalar_of(Scalar::B1));
        let scalars = [Scalar::I8, Scalar::I16, Scalar::I32, Scalar::I64];
        let scalar = self.rng.pick(&scalars).unwrap_or(Scalar::I32);
        let int = Type::scalar_of(scalar);
        let ty = if self.rng.one_in(4) {
            self.pred_type()
        } else {
            self.data_type()
        };
        let [then, other, again] = [(); 3].map(|()| self.b.create_block());
        let came = self.b.append_block_param(again, int);
        let beside = self.b.append_block_param(again, ty);
        let brings = |g: &mut Self| {
            let number = if g.rng.one_in(4) {
                g.value(int)
            } else {
                let few = i64::from(g.rng.below(4));
                g.b.ins().iconst(int, few)
            };
            [number, g.value(ty)]
        };
        // One side may branch to the merge block directly.
        let blocks = if self.rng.one_in(2) {
            let args = brings(self);
            self.b.ins().brif(first, then, &[], again, &args);
            vec![then]
        } else {
            self.b.ins().brif(first, then, &[], other, &[]);
            vec![then, other]
        };
        for block in blocks {
            self.b.seal_block(block);
            self.b.switch_to_block(block);
            let before = self.pool.len();
            self.body(budget, depth + 1);
            let args = brings(self);
            self.pool.truncate(before);
            self.b.ins().jump(again, &args);
        }
        self.b.seal_block(again);
        self.b.switch_to_block(again);
        let by = i64::from(self.rng.below(3));
        let by = self.b.ins().iconst(int, by);
        let sum = self.b.ins().iadd(came, by);
        let cond = match self.rng.below(4) {
            0 => first,
            1 => self.b.ins().icmp(IntCC::SignedLessThan, sum, by),
            2 => self.b.ins().icmp(IntCC::NotEqual, came, by),
            _ => self.b.ins().icmp(IntCC::Equal, sum, by),
        };
        let [yes, no, end] = [(); 3].map(|()| self.b.create_block());
        let merged = self.b.append_block_param(end, ty);
        self.b.ins().brif(cond, yes, &[], no, &[]);
        let known = self.pool.len();
        self.pool.extend([came, sum, beside]);
        self.meet(&[yes, no], (end, merged), budget, depth);
        if self.rng.one_in(2) {
            self.pool.drain(known..known + 3);
        }
    }
}
