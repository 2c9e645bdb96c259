//! Division of 64-bit integers, by an estimate of the reciprocal.
//!
//! A single's reciprocal of the divisor `d`, made a little smaller than it is, gives `r <= 2^64 / d` with 20 good bits. Two steps of Newton's
//! iteration in integers, `r += r * (2^64 - d * r) / 2^64`, leave `2^64 / d - r < 2`, so that the upper half of `n * r` is the quotient or
//! one or two less: each of two corrections adds one where the rest is not below the divisor.

use super::{Expander, Results, Rule};
use crate::expand::wide::Pair;
use crate::ir::{Inst, IntCC, Opcode, Scalar, Type, Value};
use smallvec::smallvec;

/// The rule for a division of 64-bit integers.
pub(super) fn rule(op: Opcode, t: Scalar) -> Option<Rule> {
    let quotient = matches!(
        op,
        Opcode::Sdiv | Opcode::Udiv | Opcode::Srem | Opcode::Urem
    );
    (quotient && t == Scalar::I64).then(|| Rule::long(divide))
}

const TWO_32: f64 = 4_294_967_296.0;

impl Expander<'_> {
    /// At most `2^64 / d`, and less by a millionth at most where that is large.
    fn reciprocal(&mut self, d: Value) -> Value {
        let p = self.split(d);
        let i32 = self.ty(p.low);
        let f32 = Type::clamped(Scalar::F32, i32.lanes());
        let low = self.to(Opcode::FcvtFromUint, f32, p.low);
        let high = self.to(Opcode::FcvtFromUint, f32, p.high);
        let up = self.float(f32, TWO_32);
        let whole = self.ter(Opcode::Fma, high, up, low);
        let inverse = self.un(Opcode::Finv, whole);
        // The roundings above and this one are below 2^-21 of it together.
        let most = self.float(f32, TWO_32 * TWO_32 * (1.0 - 1.0 / 1_048_576.0));
        let r = self.bin(Opcode::Fmul, inverse, most);
        let down = self.float(f32, 1.0 / TWO_32);
        let upper = self.bin(Opcode::Fmul, r, down);
        let upper = self.un(Opcode::Ftrunc, upper);
        let minus = self.float(f32, -TWO_32);
        let lower = self.ter(Opcode::Fma, upper, minus, r);
        let high = self.to(Opcode::FcvtToUint, i32, upper);
        let low = self.to(Opcode::FcvtToUint, i32, lower);
        self.join(Pair { low, high })
    }

    /// Quotient and remainder of numbers without signs. By 0 they are all ones, and the dividend.
    fn udivrem(&mut self, n: Value, d: Value) -> (Value, Value) {
        let ty = self.ty(n);
        let mut r = self.reciprocal(d);
        let minus = self.un(Opcode::Ineg, d);
        for _ in 0..2 {
            let rest = self.bin(Opcode::Imul, minus, r);
            let more = self.umulh_64(r, rest);
            r = self.bin(Opcode::Iadd, r, more);
        }
        let mut q = self.umulh_64(n, r);
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
        let (zero, all) = (self.int(ty, 0), self.int(ty, -1));
        let none = self.icmp(IntCC::Equal, d, zero);
        (self.select(none, all, q), rest)
    }
}

/// A quotient of numbers with signs is that of their magnitudes with the sign of both together, a remainder with the dividend's.
fn divide(e: &mut Expander<'_>, inst: Inst) -> Results {
    let op = e.func.dfg.data(inst).opcode();
    let [n, d] = e.args(inst);
    let unsigned = matches!(op, Opcode::Udiv | Opcode::Urem);
    let quotient = matches!(op, Opcode::Sdiv | Opcode::Udiv);
    let (a, b) = match unsigned {
        true => (n, d),
        false => (e.un(Opcode::Iabs, n), e.un(Opcode::Iabs, d)),
    };
    let (q, r) = e.udivrem(a, b);
    let v = if quotient { q } else { r };
    if unsigned {
        return smallvec![v];
    }
    let sign = match quotient {
        true => e.bin(Opcode::Bxor, n, d),
        false => n,
    };
    let sign = e.signs(sign);
    let flipped = e.bin(Opcode::Bxor, v, sign);
    smallvec![e.bin(Opcode::Isub, flipped, sign)]
}
