//! Loops of many iterations over a circular buffer, as in hash functions: the index is taken modulo
//! a power of two.

use super::generate::Gen;
use crate::ir::{IntCC, Region, Scalar, Type};

impl Gen<'_, '_, '_> {
    /// Generates a counted loop over the elements of a vector. It reads and writes them at the
    /// counter plus a constant, modulo their number.
    pub(super) fn ring_loop(&mut self) {
        let scalar = match self.rng.below(3) {
            0 => Scalar::I16,
            1 => Scalar::I64,
            _ => Scalar::I32,
        };
        let ty = Type::scalar_of(scalar);
        let elements = 1u32 << (1 + self.rng.below(4));
        let element = Type::scalar_of(Scalar::I32);
        let lanes = Type::clamped(Scalar::I32, elements);
        let ring = self.value(lanes);
        let ring = self.b.var(ring);
        let sum = self.value(element);
        let sum = self.b.var(sum);
        let first = i64::from(self.rng.below(40)) - 20;
        // Mostly a multiple of the buffer's length, and too many to be unrolled fully.
        let rounds = i64::from(elements * (1 + self.rng.below(8)) + u32::from(self.rng.one_in(4)));
        let number = self.b.ins().iconst(ty, first);
        let number = self.b.var(number);
        let [head, body, end] = [(); 3].map(|()| self.b.create_block());
        self.b.ins().jump(head, &[]);
        self.b.switch_to_block(head);
        let n = self.b.use_var(number);
        let bound = self.b.ins().iconst(ty, first + rounds);
        let (cc, dests) = match self.rng.below(3) {
            0 => (IntCC::NotEqual, [body, end]),
            1 => (IntCC::SignedLessThan, [body, end]),
            _ => (IntCC::SignedGreaterThanOrEqual, [end, body]),
        };
        let cond = self.b.ins().icmp(cc, n, bound);
        self.b.ins().brif(cond, dests[0], &[], dests[1], &[]);
        self.b.seal_block(body);
        self.b.switch_to_block(body);
        for _ in 0..1 + self.rng.below(3) {
            self.ring_step(number, ring, sum, (ty, elements));
        }
        // Some bodies exceed the limit of full unrolling.
        for _ in 0..[0, 0, 30, 90][self.rng.below(4) as usize] {
            let (x, y) = (self.b.use_var(sum), self.b.use_var(sum));
            let two = self.b.ins().iconst(element, 3);
            let x = self.b.ins().imul(x, two);
            let x = self.b.ins().bxor(x, y);
            self.b.def_var_all_lanes(sum, x);
        }
        let (n, one) = (self.b.use_var(number), self.b.ins().iconst(ty, 1));
        let n = self.b.ins().iadd(n, one);
        self.b.def_var_all_lanes(number, n);
        self.b.ins().jump(head, &[]);
        self.b.seal_block(head);
        self.b.seal_block(end);
        self.b.switch_to_block(end);
        for var in [ring, sum] {
            let v = self.b.use_var(var);
            self.pool.push(v);
        }
        // The counter is also used after the loop.
        let n = self.b.use_var(number);
        self.pool.push(n);
    }

    fn ring_step(
        &mut self,
        number: crate::ir::builder::Variable,
        ring: crate::ir::builder::Variable,
        sum: crate::ir::builder::Variable,
        (ty, elements): (Type, u32),
    ) {
        let word = Type::scalar_of(Scalar::I16);
        let place = |g: &mut Self| {
            let n = g.b.use_var(number);
            let by = i64::from(g.rng.below(elements));
            let by = g.b.ins().iconst(ty, by);
            let n = g.b.ins().iadd(n, by);
            let mask = g.b.ins().iconst(ty, i64::from(elements) - 1);
            let n = g.b.ins().band(n, mask);
            let n = match ty.scalar() {
                Scalar::I16 => n,
                _ => g.b.ins().ireduce(word, n),
            };
            let two = g.b.ins().iconst(word, 2);
            g.b.ins().ishl(n, two)
        };
        let (from, to) = (place(self), place(self));
        let all = self.b.use_var(ring);
        let region = Region::contiguous(1, 0);
        let element = Type::scalar_of(Scalar::I32);
        let x = self.b.ins().rdregion_at(element, all, region, from);
        let s = self.b.use_var(sum);
        let x = self.b.ins().iadd(x, s);
        let all = self.b.ins().wrregion_at(all, region, to, x, None);
        self.b.def_var_all_lanes(ring, all);
        self.b.def_var_all_lanes(sum, x);
    }
}
