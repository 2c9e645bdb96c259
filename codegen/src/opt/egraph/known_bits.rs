//! Known bits: bits of integers that are zero in every lane.
//!
//! They are computed with each node from those of its operands, so a value that a loop carries has
//! none. All nodes of a class are equal: what is known of one is known of all.

use super::EGraph;
use crate::ir::{InstData, IntCC, Opcode, Type, Value};
use crate::opt::memory::launch_range;

impl EGraph<'_> {
    /// Returns the bits that may be set in a lane of an integer.
    pub(super) fn possible(&self, v: Value) -> u64 {
        self.ty(v).scalar().mask() & !self.known[v].zeros
    }

    /// Returns true if no lane of an integer is negative.
    pub(super) fn is_not_negative(&self, v: Value) -> bool {
        let ty = self.ty(v);
        ty.scalar().is_int() && self.possible(v) >> (ty.scalar().bits() - 1) == 0
    }

    /// Returns the bits that are zero in every lane of a node.
    pub(super) fn zeros(&self, ty: Type, data: &InstData) -> u64 {
        if !ty.scalar().is_int() {
            return 0;
        }
        ty.scalar().mask() & !self.possible_of(ty, data)
    }

    fn possible_of(&self, ty: Type, data: &InstData) -> u64 {
        let mask = ty.scalar().mask();
        match *data {
            InstData::Imm { bits, .. } => bits & mask,
            InstData::ImmVec { constant, .. } => {
                let lanes = self.func.dfg.constant(constant).iter();
                lanes.fold(0, |all, lane| all | lane) & mask
            }
            InstData::Launch { opcode, dim } => {
                let (_, most) = launch_range(self.func, opcode, dim);
                up_to(most.unsigned_abs()) & mask
            }
            InstData::Unary { opcode, arg } => self.possible_of_unary(ty, opcode, arg),
            InstData::Binary { opcode, args } => self.possible_of_binary(ty, opcode, args),
            InstData::Ternary {
                opcode: Opcode::Select,
                args: [_, a, b],
            } => self.possible(a) | self.possible(b),
            InstData::RdRegion { arg, .. } => self.possible(arg),
            InstData::WrRegion { args: [old, x], .. } => self.possible(old) | self.possible(x),
            _ => mask,
        }
    }

    fn possible_of_unary(&self, ty: Type, opcode: Opcode, arg: Value) -> u64 {
        let mask = ty.scalar().mask();
        let of = self.ty(arg);
        match opcode {
            Opcode::Uextend => self.possible(arg),
            Opcode::Sextend if self.is_not_negative(arg) => self.possible(arg),
            Opcode::Sextend => self.possible(arg) | mask & !of.scalar().mask(),
            Opcode::Ireduce => self.possible(arg) & mask,
            Opcode::Popcnt | Opcode::Clz | Opcode::Ctz => up_to(ty.scalar().bits().into()) & mask,
            Opcode::PredToBits => up_to(u64::MAX >> (64 - of.lanes().clamp(1, 64))) & mask,
            Opcode::Iabs if self.is_not_negative(arg) => self.possible(arg),
            _ => mask,
        }
    }

    fn possible_of_binary(&self, ty: Type, opcode: Opcode, [x, y]: [Value; 2]) -> u64 {
        let (bits, mask) = (ty.scalar().bits(), ty.scalar().mask());
        let (a, b) = (self.possible(x), self.possible(y));
        let by = || self.immediate(y);
        let count = || by().map(|k| (k % u64::from(bits)) as u32);
        let nonnegative = || self.is_not_negative(x) && self.is_not_negative(y);
        match opcode {
            Opcode::Band => a & b,
            Opcode::Bor | Opcode::Bxor => a | b,
            Opcode::Iadd => up_to_or_all(a.checked_add(b), mask) & multiple_of(a | b),
            Opcode::Isub => multiple_of(a | b) & mask,
            Opcode::Imul => {
                let zeros = a.trailing_zeros() + b.trailing_zeros();
                let low = u64::MAX.checked_shl(zeros).unwrap_or(0);
                up_to_or_all(a.checked_mul(b), mask) & low
            }
            Opcode::UmulWide => up_to_or_all(a.checked_mul(b), mask),
            Opcode::SmulWide if nonnegative() => up_to_or_all(a.checked_mul(b), mask),
            Opcode::Ishl => match count() {
                Some(k) => a << k & mask,
                None => multiple_of(a) & mask,
            },
            Opcode::Ushr => count().map_or(up_to(a), |k| a >> k),
            Opcode::Sshr if self.is_not_negative(x) => count().map_or(up_to(a), |k| a >> k),
            Opcode::Rotl => match count() {
                Some(k) if k > 0 => (a << k | a >> (bits - k)) & mask,
                _ => mask,
            },
            Opcode::Rotr => match count() {
                Some(k) if k > 0 => (a >> k | a << (bits - k)) & mask,
                _ => mask,
            },
            Opcode::Umin => up_to(a.min(b)) & (a | b),
            Opcode::Umax => a | b,
            Opcode::Smin if nonnegative() => up_to(a.min(b)) & (a | b),
            Opcode::Smin | Opcode::Smax => a | b,
            // A divisor of zero gives any value.
            Opcode::Udiv => match by() {
                Some(k) => a.checked_div(k).map_or(mask, up_to),
                None => mask,
            },
            Opcode::Urem => match by().and_then(|k| k.checked_sub(1)) {
                Some(most) => up_to(most.min(a)),
                None => mask,
            },
            _ => mask,
        }
    }

    /// Returns the result of a compare with a constant if known bits decide it.
    pub(super) fn decided(&self, cond: IntCC, x: Value, constant: u64) -> Option<bool> {
        let most = self.possible(x);
        let negative = constant >> (self.ty(x).scalar().bits() - 1) != 0;
        match cond {
            IntCC::Equal => (constant & !most != 0).then_some(false),
            IntCC::NotEqual => (constant & !most != 0).then_some(true),
            IntCC::UnsignedLessThan => (most < constant).then_some(true),
            IntCC::UnsignedLessThanOrEqual => (most <= constant).then_some(true),
            IntCC::UnsignedGreaterThan => (most <= constant).then_some(false),
            IntCC::UnsignedGreaterThanOrEqual => (most < constant).then_some(false),
            _ if !self.is_not_negative(x) => None,
            IntCC::SignedLessThan if negative || constant == 0 => Some(false),
            IntCC::SignedLessThanOrEqual if negative => Some(false),
            IntCC::SignedGreaterThan if negative => Some(true),
            IntCC::SignedGreaterThanOrEqual if negative || constant == 0 => Some(true),
            IntCC::SignedLessThan => (most < constant).then_some(true),
            IntCC::SignedLessThanOrEqual => (most <= constant).then_some(true),
            IntCC::SignedGreaterThan => (most <= constant).then_some(false),
            IntCC::SignedGreaterThanOrEqual => (most < constant).then_some(false),
        }
    }
}

/// Returns the bits that may be set in numbers up to a maximum.
fn up_to(most: u64) -> u64 {
    u64::MAX.checked_shr(most.leading_zeros()).unwrap_or(0)
}

/// Returns the bits that may be set up to a maximum, or all of a lane if it is above all lanes.
fn up_to_or_all(most: Option<u64>, mask: u64) -> u64 {
    most.filter(|m| *m <= mask).map_or(mask, up_to)
}

/// Returns the bits that may be set in multiples of the power of two that divides `possible`.
fn multiple_of(possible: u64) -> u64 {
    u64::MAX.checked_shl(possible.trailing_zeros()).unwrap_or(0)
}
