//! Generator of types and operands.

use super::generate::Gen;
use crate::ir::opcode::Class;
use crate::ir::{Scalar, Type, Value};

const INTS: [Scalar; 4] = [Scalar::I32, Scalar::I16, Scalar::I8, Scalar::I64];
const FLOATS: [Scalar; 3] = [Scalar::F32, Scalar::F16, Scalar::F64];

impl Gen<'_, '_, '_> {
    /// Returns a lane count: often one or the SIMD width, sometimes odd.
    pub(super) fn lanes(&mut self) -> u32 {
        match self.rng.below(8) {
            0..=2 => self.simd,
            3 | 4 => 1,
            5 | 6 => self.rng.pick(&[2, 4, 8, 16]).unwrap_or(1),
            _ => 1 + self.rng.below(20),
        }
    }

    /// Returns a lane count of a predicate: sometimes more lanes than a flag has.
    pub(super) fn mask_lanes(&mut self) -> u32 {
        if self.rng.one_in(8) {
            let first = Type::FLAG_LANES + 1;
            first + self.rng.below(Type::MAX_PRED_LANES - Type::FLAG_LANES)
        } else {
            self.lanes()
        }
    }

    /// Returns an integer with the bits of a predicate's first lanes.
    pub(super) fn bits_of(&mut self, v: Value) -> Value {
        let lanes = self.b.ty(v).lanes();
        let mut v = v;
        if lanes > Type::FLAG_LANES {
            // Also the last lanes.
            let n = lanes - Type::FLAG_LANES;
            let high = self.b.ins().rdpred(n, v, Type::FLAG_LANES as u8);
            v = self.b.ins().rdpred(Type::FLAG_LANES, v, 0);
            let low = self.b.ins().rdpred(n, v, 0);
            let both = self.b.ins().bxor(low, high);
            v = self.b.ins().wrpred(v, both, 0);
        }
        self.b.ins().pred_to_bits(Type::scalar_of(Scalar::I32), v)
    }

    fn scalar(&mut self, of: &[Scalar]) -> Scalar {
        // The first of a list is the common one.
        let picked = if self.rng.one_in(2) {
            of.first().copied()
        } else {
            self.rng.pick(of)
        };
        picked.unwrap_or(Scalar::I32)
    }

    pub(super) fn int(&mut self) -> Scalar {
        self.scalar(&INTS)
    }

    pub(super) fn float(&mut self) -> Scalar {
        match self.scalar(&FLOATS) {
            Scalar::F64 if !self.options.doubles => Scalar::F32,
            s => s,
        }
    }

    /// Returns an integer or float type.
    pub(super) fn data(&mut self) -> Scalar {
        if self.options.floats && self.rng.one_in(2) {
            self.float()
        } else {
            self.int()
        }
    }

    /// Returns a type other than a predicate.
    pub(super) fn data_type(&mut self) -> Type {
        let scalar = self.data();
        Type::clamped(scalar, self.lanes())
    }

    pub(super) fn pred_type(&mut self) -> Type {
        Type::clamped(Scalar::B1, self.mask_lanes())
    }

    pub(super) fn type_of(&mut self, class: Class) -> Type {
        let lanes = self.lanes();
        match class {
            Class::Int => Type::clamped(self.int(), lanes),
            Class::I32 => Type::clamped(Scalar::I32, lanes),
            Class::Float => Type::clamped(self.float(), lanes),
            Class::Pred => self.pred_type(),
            Class::Bits | Class::Any | Class::None => {
                if self.rng.one_in(3) {
                    self.pred_type()
                } else {
                    Type::clamped(self.int(), lanes)
                }
            }
            Class::Data => self.data_type(),
        }
    }

    /// Returns the bits of a lane: small numbers, edge cases, or anything.
    pub(super) fn lane(&mut self, scalar: Scalar) -> u64 {
        let bits = match (self.rng.below(6), scalar) {
            (0, _) => 0,
            (1, _) => self.rng.bits(),
            (2, s) if !s.is_float() => s.mask() >> self.rng.below(2),
            (_, Scalar::F16) => {
                let v = self.rng.below(64) as f32 / 4.0 - 4.0;
                u64::from(half::f16::from_f32(v).to_bits())
            }
            (_, Scalar::F32) => u64::from((self.rng.below(512) as f32 / 8.0 - 16.0).to_bits()),
            (_, Scalar::F64) => (f64::from(self.rng.below(512)) / 8.0 - 16.0).to_bits(),
            _ => u64::from(self.rng.below(40)).wrapping_sub(8),
        };
        bits & scalar.mask()
    }

    /// Returns the lanes of a constant, often such that each fits in four bits.
    pub(super) fn lane_list(&mut self, ty: Type) -> Vec<u64> {
        let small = !ty.scalar().is_float() && self.rng.one_in(3);
        let mut lane = || {
            if small {
                u64::from(self.rng.below(8)) & ty.scalar().mask()
            } else {
                self.lane(ty.scalar())
            }
        };
        (0..ty.lanes()).map(|_| lane()).collect()
    }

    /// Returns a value of a type: an existing one, a new one, or one with a single use.
    pub(super) fn value(&mut self, ty: Type) -> Value {
        if let Some(v) = self.tree(ty) {
            return v;
        }
        let have: Vec<Value> = self
            .pool
            .iter()
            .copied()
            .filter(|&v| self.b.ty(v) == ty)
            .collect();
        if let Some(v) = self.rng.pick(&have)
            && !self.rng.one_in(8)
        {
            return v;
        }
        let v = self.fresh(ty);
        self.pool.push(v);
        v
    }

    /// Makes a value of a type from memory or a constant.
    fn fresh(&mut self, ty: Type) -> Value {
        if ty.is_pred() {
            if self.rng.one_in(3) {
                let bits = self.rng.bits() & (u64::MAX >> (64 - ty.lanes()));
                return self.b.ins().bconst(ty.lanes(), bits);
            }
            let of = Type::clamped(self.int(), ty.lanes());
            let (x, y) = (self.value(of), self.value(of));
            let cond = self.rng.pick(&crate::ir::IntCC::ALL);
            let cond = cond.unwrap_or(crate::ir::IntCC::Equal);
            return self.b.ins().icmp(cond, x, y);
        }
        let ways = if self.memory { 4 } else { 2 };
        match self.rng.below(ways) {
            0 => {
                let lanes = self.lane_list(ty);
                self.b.ins().vconst(ty.scalar(), &lanes)
            }
            1 => {
                let bits = self.lane(ty.scalar());
                self.b.ins().imm(ty, bits)
            }
            _ => {
                let offset = self.in_offset(ty);
                let input = self.input;
                self.b.ins().bload(ty, input, offset)
            }
        }
    }

    /// Returns an aligned offset in the input at which a value of this type fits.
    pub(super) fn in_offset(&mut self, ty: Type) -> i32 {
        let size = ty.scalar().bytes().max(1);
        let room = super::IN_BYTES.saturating_sub(ty.bytes()) / size;
        (self.rng.below(room + 1) * size) as i32
    }
}
