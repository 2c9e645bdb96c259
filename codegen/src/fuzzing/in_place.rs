//! Chains of writes to regions of one large vector, by values that are read from it: histograms,
//! swaps, sorts in registers. Reads are mostly of the newest version, sometimes of an older one.

use super::generate::Gen;
use crate::ir::{IntCC, Region, Scalar, Type, Value};

/// Lanes of the vectors: two GRFs and more.
const LANES: std::ops::Range<u32> = 17..65;

impl Gen<'_, '_, '_> {
    /// Generates a chain in the current block, and keeps parts of the last vector.
    pub(super) fn in_place(&mut self) {
        let whole = self.in_place_type();
        let first = self.value(whole);
        let last = self.in_place_chain(first);
        self.parts_of(last);
    }

    /// Generates a loop with a chain on a vector that it carries.
    pub(super) fn in_place_loop(&mut self) {
        let whole = self.in_place_type();
        let first = self.value(whole);
        let carried = self.b.var(first);
        let i32 = Type::scalar_of(Scalar::I32);
        let zero = self.b.ins().iconst(i32, 0);
        let count = self.b.var(zero);
        let (head, end) = (self.b.create_block(), self.b.create_block());
        self.b.ins().jump(head, &[]);
        self.b.switch_to_block(head);
        let before = self.pool.len();
        let v = self.b.use_var(carried);
        let last = self.in_place_chain(v);
        self.b.def_var_all_lanes(carried, last);
        self.pool.truncate(before);
        let (n, one) = (self.b.use_var(count), self.b.ins().iconst(i32, 1));
        let n = self.b.ins().iadd(n, one);
        self.b.def_var_all_lanes(count, n);
        let rounds = 1 + i64::from(self.rng.below(3));
        let bound = self.b.ins().iconst(i32, rounds);
        let again = self.b.ins().icmp(IntCC::SignedLessThan, n, bound);
        self.b.ins().brif(again, head, &[], end, &[]);
        self.b.seal_block(head);
        self.b.seal_block(end);
        self.b.switch_to_block(end);
        let v = self.b.use_var(carried);
        self.parts_of(v);
    }

    fn in_place_type(&mut self) -> Type {
        let lanes = LANES.start + self.rng.below(LANES.end - LANES.start);
        let scalar = self
            .rng
            .pick(&[Scalar::I32, Scalar::I32, Scalar::I16, Scalar::I8]);
        Type::clamped(scalar.unwrap_or(Scalar::I32), lanes)
    }

    /// Returns the last vector of a chain of two to six writes.
    fn in_place_chain(&mut self, first: Value) -> Value {
        let whole = self.b.ty(first);
        let slack = self.rng.below(whole.lanes() / 2);
        let index = self.index(whole.scalar().bytes(), slack, 1);
        let mut versions = vec![first];
        let mut newest = first;
        // Part that is written later than it is computed.
        let mut held: Option<(Value, Region)> = None;
        for _ in 0..2 + self.rng.below(5) {
            let part = self.rng.pick(&[1, 1, 2, 4, 8, 16]).unwrap_or(1);
            let part = part.min(whole.lanes() - slack);
            let from = self.region(whole, part, slack, true);
            let to = if self.rng.one_in(2) {
                from
            } else {
                self.region(whole, part, slack, true)
            };
            let of = if self.rng.one_in(3) {
                self.rng.pick(&versions).unwrap_or(newest)
            } else {
                newest
            };
            let at = [(); 2].map(|()| self.rng.one_in(3).then_some(index));
            let read = self.b.ins().rdregion_at(whole.by(part), of, from, at[0]);
            let other = self.value(whole.by(part));
            let new = match self.rng.below(3) {
                0 => self.b.ins().iadd(read, other),
                1 => self.b.ins().bxor(other, read),
                _ => read,
            };
            if self.rng.one_in(4) {
                self.pool.push(read);
            }
            if held.is_none() && self.rng.one_in(3) {
                held = Some((new, to));
                continue;
            }
            let mask = self.rng.one_in(6).then(|| {
                let mask = Type::clamped(Scalar::B1, part);
                self.value(mask)
            });
            newest = self.b.ins().wrregion_at(newest, to, at[1], new, mask);
            versions.push(newest);
            if let Some((new, to)) = held.take_if(|_| self.rng.one_in(2)) {
                newest = self.b.ins().wrregion_at(newest, to, None, new, None);
                versions.push(newest);
            }
        }
        if self.rng.one_in(4)
            && let Some(old) = self.rng.pick(&versions)
        {
            self.parts_of(old);
        }
        newest
    }
}
