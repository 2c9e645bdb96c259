//! Rounding of f64, conversions in two steps, and division and power where the math unit lacks
//! them.

use super::{Expander, Results, Rule};
use crate::ir::{FloatCC, Inst, IntCC, Opcode, Scalar, Type, Value};
use smallvec::smallvec;

/// Returns the rule for an operation from a type to a type.
pub(super) fn rule(op: Opcode, from: Scalar, to: Scalar) -> Option<Rule> {
    use Opcode::*;
    let double = from == Scalar::F64;
    Some(match op {
        FcvtToSintRte | FcvtToSintRtp | FcvtToSintRtn => Rule::whole(round_and_convert),
        FcvtToUintRte | FcvtToUintRtp | FcvtToUintRtn => Rule::whole(round_and_convert),
        Ffloor | Fceil | Ftrunc | Fnearest if double => Rule::long(round),
        Ffrac if double => Rule::long(fraction),
        Fdemote | FdemoteRte | FdemoteRtz | FdemoteRtp | FdemoteRtn
            if double && to == Scalar::F16 =>
        {
            Rule::long(demote)
        }
        _ => return None,
    })
}

/// Returns the rule for an operation of a math unit without division and power.
pub(super) fn without_math(op: Opcode, from: Scalar) -> Option<Rule> {
    Some(match (op, from) {
        (Opcode::Fdiv | Opcode::Fpow, Scalar::F16) => Rule::whole(in_singles),
        (Opcode::Fdiv, _) => Rule::masked(quotient),
        (Opcode::Fpow, _) => Rule::masked(power),
        _ => return None,
    })
}

fn in_singles(e: &mut Expander<'_>, inst: Inst) -> Results {
    let (op, ty) = (e.func.dfg.data(inst).opcode(), e.result(inst));
    let f32 = Type::clamped(Scalar::F32, ty.lanes());
    let args: [Value; 2] = e.args(inst);
    let [a, b] = args.map(|v| e.to(Opcode::Fpromote, f32, v));
    let r = e.bin(op, a, b);
    smallvec![e.to(Opcode::Fdemote, ty, r)]
}

/// Multiplies by the reciprocal. The math unit has no reciprocal of large divisors, and that of
/// small ones overflows. So the divisor is scaled, and the product by the same factor.
fn quotient(e: &mut Expander<'_>, inst: Inst) -> Results {
    let [a, b] = e.args(inst);
    let ty = e.ty(a);
    let (far, step) = (f64::from(96).exp2(), f64::from(64).exp2());
    let magnitude = e.un(Opcode::Fabs, b);
    let [most, least, one, down, up] =
        [far, far.recip(), 1.0, step.recip(), step].map(|x| e.float(ty, x));
    let large = e.fcmp(FloatCC::GreaterThan, magnitude, most);
    let small = e.fcmp(FloatCC::LessThan, magnitude, least);
    let scale = e.select(large, down, one);
    let scale = e.select(small, up, scale);
    let divisor = e.bin(Opcode::Fmul, b, scale);
    let inverse = e.un(Opcode::Finv, divisor);
    let product = e.bin(Opcode::Fmul, a, inverse);
    smallvec![e.bin(Opcode::Fmul, product, scale)]
}

/// Computes a power by logarithm and exponential. For a base of 1 or an exponent of 0 it is 1.
fn power(e: &mut Expander<'_>, inst: Inst) -> Results {
    let [a, b] = e.args(inst);
    let ty = e.ty(a);
    let (zero, one) = (e.float(ty, 0.0), e.float(ty, 1.0));
    let magnitude = e.un(Opcode::Fabs, a);
    let log = e.un(Opcode::Flog2, magnitude);
    let log = e.bin(Opcode::Fmul, log, b);
    let power = e.un(Opcode::Fexp2, log);
    let none = e.fcmp(FloatCC::Equal, b, zero);
    let unit = e.fcmp(FloatCC::Equal, magnitude, one);
    let trivial = e.bin(Opcode::Bor, none, unit);
    smallvec![e.select(trivial, one, power)]
}

/// Rounds an f32 to its upper half, to nearest even.
pub(super) fn to_bfloat(e: &mut Expander<'_>, inst: Inst) -> Results {
    let ty = e.result(inst);
    let [x] = e.args(inst);
    let bits = e.cast(Scalar::I32, x);
    let i32 = e.ty(bits);
    let magnitude = e.int(i32, 0x7fff_ffff);
    let magnitude = e.bin(Opcode::Band, bits, magnitude);
    let mut from = bits;
    if e.float.flush_f32 {
        let (least, sign) = (e.int(i32, 0x0080_0000), e.int(i32, 1 << 31));
        let denormal = e.icmp(IntCC::SignedLessThan, magnitude, least);
        let zero = e.bin(Opcode::Band, bits, sign);
        from = e.select(denormal, zero, bits);
    }
    let upper = e.shift(Opcode::Ushr, from, 16);
    let one = e.int(i32, 1);
    let odd = e.bin(Opcode::Band, upper, one);
    let half = e.int(i32, 0x7fff);
    let sum = e.bin(Opcode::Iadd, from, half);
    let sum = e.bin(Opcode::Iadd, sum, odd);
    let near = e.shift(Opcode::Ushr, sum, 16);
    let (infinity, quiet) = (e.int(i32, 0x7f80_0000), e.int(i32, 0x40));
    let nan = e.icmp(IntCC::SignedGreaterThan, magnitude, infinity);
    let quiet = e.bin(Opcode::Bor, upper, quiet);
    let out = e.select(nan, quiet, near);
    smallvec![e.to(Opcode::Ireduce, ty, out)]
}

fn round_and_convert(e: &mut Expander<'_>, inst: Inst) -> Results {
    use Opcode::*;
    let (op, ty) = (e.func.dfg.data(inst).opcode(), e.result(inst));
    let [x] = e.args(inst);
    let (round, convert) = match op {
        FcvtToSintRte => (Fnearest, FcvtToSint),
        FcvtToSintRtp => (Fceil, FcvtToSint),
        FcvtToSintRtn => (Ffloor, FcvtToSint),
        FcvtToUintRte => (Fnearest, FcvtToUint),
        FcvtToUintRtp => (Fceil, FcvtToUint),
        _ => (Ffloor, FcvtToUint),
    };
    let whole = e.un(round, x);
    smallvec![e.to(convert, ty, whole)]
}

impl Expander<'_> {
    /// Returns a positive float with the sign of another.
    pub(super) fn with_sign(&mut self, v: Value, of: Value) -> Value {
        let ty = self.ty(v);
        let int = match ty.scalar() {
            Scalar::F64 => Scalar::I64,
            _ => Scalar::I32,
        };
        let (v, of) = (self.cast(int, v), self.cast(int, of));
        let sign = self.int(self.ty(v), 1i64 << (int.bits() - 1));
        let sign = self.bin(Opcode::Band, of, sign);
        let v = self.bin(Opcode::Bor, v, sign);
        self.cast(ty.scalar(), v)
    }
}

/// Rounds to an integer. Adding and subtracting 2^52 gives an integer less than one away from the
/// number in any rounding mode. One step up or down then gives the result. Numbers of 2^52 or more
/// are integers.
fn round(e: &mut Expander<'_>, inst: Inst) -> Results {
    let op = e.func.dfg.data(inst).opcode();
    let [x] = e.args(inst);
    let ty = e.ty(x);
    let magnitude = e.un(Opcode::Fabs, x);
    let (large, one) = (e.float(ty, 4_503_599_627_370_496.0), e.float(ty, 1.0));
    let up = e.bin(Opcode::Fadd, magnitude, large);
    let near = e.bin(Opcode::Fsub, up, large);
    let step = |e: &mut Expander<'_>, near, from, cc, step| {
        let beyond = e.fcmp(cc, near, from);
        let next = e.bin(step, near, one);
        e.select(beyond, next, near)
    };
    let (above, below) = (FloatCC::GreaterThan, FloatCC::LessThan);
    let whole = match op {
        Opcode::Ffloor | Opcode::Fceil => {
            let near = e.with_sign(near, x);
            let r = match op {
                Opcode::Ffloor => step(e, near, x, above, Opcode::Fsub),
                _ => step(e, near, x, below, Opcode::Fadd),
            };
            // The upper integer of -0.5 is -0, but the sum has lost its sign.
            match op {
                Opcode::Ffloor => r,
                _ => {
                    let r = e.un(Opcode::Fabs, r);
                    e.with_sign(r, x)
                }
            }
        }
        Opcode::Fnearest if !e.float.toward_zero => e.with_sign(near, x),
        Opcode::Fnearest => {
            // The sum was truncated; the remainder is exact and decides.
            let rest = e.bin(Opcode::Fsub, magnitude, near);
            let half = e.float(ty, 0.5);
            let more = e.fcmp(above, rest, half);
            let tie = e.fcmp(FloatCC::Equal, rest, half);
            let halved = e.bin(Opcode::Fmul, near, half);
            let cut = e.bin(Opcode::Fadd, halved, large);
            let cut = e.bin(Opcode::Fsub, cut, large);
            let odd = e.fcmp(FloatCC::NotEqual, cut, halved);
            let tie = e.bin(Opcode::Band, tie, odd);
            let up = e.bin(Opcode::Bor, more, tie);
            let next = e.bin(Opcode::Fadd, near, one);
            let near = e.select(up, next, near);
            e.with_sign(near, x)
        }
        _ => {
            let near = step(e, near, magnitude, above, Opcode::Fsub);
            e.with_sign(near, x)
        }
    };
    let small = e.fcmp(below, magnitude, large);
    smallvec![e.select(small, whole, x)]
}

/// Returns `x - floor(x)`, below 1.
fn fraction(e: &mut Expander<'_>, inst: Inst) -> Results {
    let [x] = e.args(inst);
    let ty = e.ty(x);
    let floor = e.un(Opcode::Ffloor, x);
    let f = e.bin(Opcode::Fsub, x, floor);
    let (one, most) = (e.float(ty, 1.0), e.float(ty, 1.0 - f64::EPSILON / 2.0));
    // False for NaN.
    let over = e.fcmp(FloatCC::GreaterThanOrEqual, f, one);
    smallvec![e.select(over, most, f)]
}

/// Demotes f64 to f16 by way of f32. For rounding to nearest, the first step rounds to odd, so that
/// the second rounds as from f64.
fn demote(e: &mut Expander<'_>, inst: Inst) -> Results {
    let (op, to) = (e.func.dfg.data(inst).opcode(), e.result(inst));
    let [x] = e.args(inst);
    let f32 = Type::clamped(Scalar::F32, to.lanes());
    let nearest = match op {
        Opcode::FdemoteRte => true,
        Opcode::Fdemote => !e.float.toward_zero,
        _ => false,
    };
    let x = if e.float.flush_f32 {
        at_least_normal(e, x)
    } else {
        x
    };
    let s = e.to(op, f32, x);
    if !nearest {
        return smallvec![e.to(op, to, s)];
    }
    let back = e.to(Opcode::Fpromote, e.ty(x), s);
    let (above, below) = (
        e.fcmp(FloatCC::GreaterThan, x, back),
        e.fcmp(FloatCC::LessThan, x, back),
    );
    // An inexact even number moves to its odd neighbour towards the f64 value. For negative
    // numbers, larger bits are smaller numbers.
    let bits = e.cast(Scalar::I32, s);
    let i32 = e.ty(bits);
    let (one, zero, minus) = (e.int(i32, 1), e.int(i32, 0), e.int(i32, -1));
    let (up, down) = (e.select(above, one, zero), e.select(below, minus, zero));
    let step = e.bin(Opcode::Bor, up, down);
    let negative = e.icmp(IntCC::SignedLessThan, bits, zero);
    let back_step = e.un(Opcode::Ineg, step);
    let step = e.select(negative, back_step, step);
    let odd = e.bin(Opcode::Band, bits, one);
    let odd = e.icmp(IntCC::NotEqual, odd, zero);
    let step = e.select(odd, zero, step);
    let bits = e.bin(Opcode::Iadd, bits, step);
    let s = e.cast(Scalar::F32, bits);
    smallvec![e.to(op, to, s)]
}

/// Replaces a number that f32 would flush by a normal one that rounds to the same f16.
fn at_least_normal(e: &mut Expander<'_>, x: Value) -> Value {
    let ty = e.ty(x);
    let (least, zero) = (
        e.float(ty, f64::from(f32::MIN_POSITIVE) * 4.0),
        e.float(ty, 0.0),
    );
    let magnitude = e.un(Opcode::Fabs, x);
    let small = e.fcmp(FloatCC::LessThan, magnitude, least);
    let some = e.fcmp(FloatCC::GreaterThan, magnitude, zero);
    let small = e.bin(Opcode::Band, small, some);
    let signed = e.with_sign(least, x);
    e.select(small, signed, x)
}
