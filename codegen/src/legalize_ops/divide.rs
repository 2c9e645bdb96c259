//! Division of 64-bit integers by an estimate of the reciprocal. Also 32-bit division by one step
//! of the same, where the math unit does not divide.
//!
//! An f32 reciprocal of the divisor `d`, slightly reduced, gives `r <= 2^64 / d` with 20 good bits.
//! Two Newton steps in integers, `r += r * (2^64 - d * r) / 2^64`, leave `2^64 / d - r < 2`. So the
//! upper half of `n * r` is at most two less than the quotient. Two corrections each add one if the
//! remainder is not below the divisor.

use super::{Expander, Results, Rule};
use crate::ir::{Inst, IntCC, Opcode, Scalar, Type, Value};
use crate::legalize_ops::wide::DwordPair;
use smallvec::smallvec;

/// Returns the rule for 64-bit division, and for other widths if the math unit does not divide.
pub(super) fn rule(op: Opcode, t: Scalar, math: bool) -> Option<Rule> {
    let quotient = matches!(
        op,
        Opcode::Sdiv | Opcode::Udiv | Opcode::Srem | Opcode::Urem
    );
    match t {
        _ if !quotient => None,
        Scalar::I64 => Some(Rule::long(divide)),
        Scalar::I32 if !math => Some(Rule::masked(divide)),
        Scalar::I8 | Scalar::I16 if !math => Some(Rule::whole(in_dwords)),
        _ => None,
    }
}

/// Divides bytes and words as dwords.
fn in_dwords(e: &mut Expander<'_>, inst: Inst) -> Results {
    let (op, ty) = (e.func.dfg.data(inst).opcode(), e.result(inst));
    let i32 = Type::clamped(Scalar::I32, ty.lanes());
    let extend = match op {
        Opcode::Udiv | Opcode::Urem => Opcode::Uextend,
        _ => Opcode::Sextend,
    };
    let args: [Value; 2] = e.args(inst);
    let [n, d] = args.map(|v| e.to(extend, i32, v));
    let r = e.bin(op, n, d);
    smallvec![e.to(Opcode::Ireduce, ty, r)]
}

const TWO_32: f64 = 4_294_967_296.0;

impl Expander<'_> {
    /// Returns a number of at most `2^32 / d`, which is at most a millionth too small for large
    /// quotients.
    fn reciprocal_32(&mut self, d: Value) -> Value {
        let i32 = self.ty(d);
        let f32 = Type::clamped(Scalar::F32, i32.lanes());
        let whole = self.to(Opcode::FcvtFromUint, f32, d);
        let inverse = self.un(Opcode::Finv, whole);
        let most = self.float(f32, TWO_32 * (1.0 - 1.0 / 1_048_576.0));
        let r = self.bin(Opcode::Fmul, inverse, most);
        self.to(Opcode::FcvtToUint, i32, r)
    }

    /// Returns the math unit's result for division by 0: the largest number for both quotient and
    /// remainder. A signed result has the dividend's sign.
    fn or_largest(&mut self, v: Value, d: Value, signed: Option<Value>) -> Value {
        let ty = self.ty(v);
        let largest = match signed {
            None => self.int(ty, -1),
            Some(n) => {
                let sign = self.shift(Opcode::Sshr, n, 31);
                let most = self.int(ty, i32::MAX.into());
                self.bin(Opcode::Bxor, sign, most)
            }
        };
        let zero = self.int(ty, 0);
        let none = self.icmp(IntCC::Equal, d, zero);
        self.select(none, largest, v)
    }

    /// Returns the upper half of a product.
    fn upper_half(&mut self, a: Value, b: Value) -> Value {
        match self.ty(a).scalar() {
            Scalar::I64 => self.umulh_64(a, b),
            _ => self.bin(Opcode::Umulh, a, b),
        }
    }

    /// Returns a number of at most `2^64 / d`, which is at most a millionth too small for large
    /// quotients.
    fn reciprocal(&mut self, d: Value) -> Value {
        let p = self.split(d);
        let i32 = self.ty(p.low);
        let f32 = Type::clamped(Scalar::F32, i32.lanes());
        let low = self.to(Opcode::FcvtFromUint, f32, p.low);
        let high = self.to(Opcode::FcvtFromUint, f32, p.high);
        let up = self.float(f32, TWO_32);
        let whole = self.ter(Opcode::Fma, high, up, low);
        let inverse = self.un(Opcode::Finv, whole);
        // The relative errors of the roundings above and of this one sum to less than 2^-21.
        let most = self.float(f32, TWO_32 * TWO_32 * (1.0 - 1.0 / 1_048_576.0));
        let r = self.bin(Opcode::Fmul, inverse, most);
        let down = self.float(f32, 1.0 / TWO_32);
        let upper = self.bin(Opcode::Fmul, r, down);
        let upper = self.un(Opcode::Ftrunc, upper);
        let minus = self.float(f32, -TWO_32);
        let lower = self.ter(Opcode::Fma, upper, minus, r);
        let high = self.to(Opcode::FcvtToUint, i32, upper);
        let low = self.to(Opcode::FcvtToUint, i32, lower);
        self.join(DwordPair { low, high })
    }

    /// Returns the unsigned quotient and remainder. For a 64-bit division by 0 these are all ones
    /// and the dividend.
    fn udivrem(&mut self, n: Value, d: Value) -> (Value, Value) {
        let ty = self.ty(n);
        // Each step doubles the good bits.
        let (mut r, steps) = match ty.scalar() {
            Scalar::I64 => (self.reciprocal(d), 2),
            _ => (self.reciprocal_32(d), 1),
        };
        let minus = self.un(Opcode::Ineg, d);
        for _ in 0..steps {
            let rest = self.bin(Opcode::Imul, minus, r);
            let more = self.upper_half(r, rest);
            r = self.bin(Opcode::Iadd, r, more);
        }
        let mut q = self.upper_half(n, r);
        let product = self.bin(Opcode::Imul, d, q);
        let mut rest = self.bin(Opcode::Isub, n, product);
        let one = self.int(ty, 1);
        for _ in 0..2 {
            let more = self.icmp(IntCC::UnsignedGreaterThanOrEqual, rest, d);
            let (q1, rest1) = (
                self.bin(Opcode::Iadd, q, one),
                self.bin(Opcode::Isub, rest, d),
            );
            q = self.select(more, q1, q);
            rest = self.select(more, rest1, rest);
        }
        if ty.scalar() != Scalar::I64 {
            return (q, rest);
        }
        let (zero, all) = (self.int(ty, 0), self.int(ty, -1));
        let none = self.icmp(IntCC::Equal, d, zero);
        (self.select(none, all, q), rest)
    }
}

/// Divides by magnitudes. The quotient has the sign of both operands together, the remainder that
/// of the dividend.
fn divide(e: &mut Expander<'_>, inst: Inst) -> Results {
    let op = e.func.dfg.data(inst).opcode();
    let [n, d] = e.args(inst);
    let unsigned = matches!(op, Opcode::Udiv | Opcode::Urem);
    let quotient = matches!(op, Opcode::Sdiv | Opcode::Udiv);
    let (a, b) = if unsigned {
        (n, d)
    } else {
        (e.un(Opcode::Iabs, n), e.un(Opcode::Iabs, d))
    };
    let (q, r) = e.udivrem(a, b);
    let v = if quotient { q } else { r };
    let wide = e.ty(n).scalar() == Scalar::I64;
    if unsigned {
        return smallvec![if wide { v } else { e.or_largest(v, d, None) }];
    }
    let sign = if quotient {
        e.bin(Opcode::Bxor, n, d)
    } else {
        n
    };
    let sign = match e.ty(sign).scalar() {
        Scalar::I64 => e.signs(sign),
        _ => e.shift(Opcode::Sshr, sign, 31),
    };
    let flipped = e.bin(Opcode::Bxor, v, sign);
    let v = e.bin(Opcode::Isub, flipped, sign);
    smallvec![if wide { v } else { e.or_largest(v, d, Some(n)) }]
}
