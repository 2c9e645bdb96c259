//! Correctly rounded division and square root. f32 and f64 share one algorithm; f16 goes through
//! f32.
//!
//! Significands in [1, 2), or [1, 4) for roots, are divided by an estimate of the reciprocal. The
//! result is less than two units in the last place off. The remainder, which `fma` computes
//! exactly, then decides which float is nearest. The result is assembled from integers, so that
//! denormals are rounded once. Nothing depends on the rounding of the sums.

use super::{Expander, Results, Rule};
use crate::ir::{FloatCC, Inst, IntCC, Opcode, Scalar, Type, Value};
use crate::legalize_ops::wide::DwordPair;
use smallvec::smallvec;

/// Returns the rule for an operation on floats of a type.
pub(super) fn rule(op: Opcode, t: Scalar) -> Option<Rule> {
    use Opcode::*;
    let double = t == Scalar::F64;
    Some(match op {
        FdivRn | FsqrtRn if t == Scalar::F16 => Rule::whole(in_singles),
        FdivRn => Rule::long(divide),
        Fdiv if double => Rule::long(divide),
        Finv if double => Rule::whole(inverse),
        FsqrtRn => Rule::long(root),
        Fsqrt if double => Rule::long(root),
        Frsqrt if double => Rule::whole(inverse_root),
        _ => return None,
    })
}

/// Divides or takes the root of f16 by way of f32. 24 bits are enough to round a quotient or root
/// of 11 bits twice. The math unit is off by some units of 24 bits. The remainder is exact; with
/// its correction, the f32 result rounds to f16 as the exact one does. No exact result is within
/// 2^-26 of its size of the boundary between two f32 that round to different f16.
fn in_singles(e: &mut Expander<'_>, inst: Inst) -> Results {
    let (op, ty) = (e.func.dfg.data(inst).opcode(), e.result(inst));
    let f32 = Type::clamped(Scalar::F32, ty.lanes());
    let args: [Value; 2] = e.args(inst);
    let root = op == Opcode::FsqrtRn;
    let a = e.to(Opcode::Fpromote, f32, args[0]);
    let b = if root {
        a
    } else {
        e.to(Opcode::Fpromote, f32, args[1])
    };
    // Rounding the sum to nearest is part of the argument above.
    if e.float.toward_zero {
        let r = if root { e.un(op, a) } else { e.bin(op, a, b) };
        return smallvec![e.to(Opcode::FdemoteRte, ty, r)];
    }
    let (estimate, by, slope) = if root {
        let (g, r) = (e.un(Opcode::Fsqrt, a), e.un(Opcode::Frsqrt, a));
        let half = e.float(f32, 0.5);
        (g, g, e.bin(Opcode::Fmul, r, half))
    } else {
        let r = e.un(Opcode::Finv, b);
        (e.bin(Opcode::Fmul, a, r), b, r)
    };
    let minus = e.un(Opcode::Fneg, estimate);
    let rest = e.ter(Opcode::Fma, minus, by, a);
    let better = e.ter(Opcode::Fma, rest, slope, estimate);
    // For zeros, infinities and NaNs the estimate is the result.
    let (size, zero) = (e.un(Opcode::Fabs, rest), e.float(f32, 0.0));
    let off = e.fcmp(FloatCC::GreaterThan, size, zero);
    let r = e.select(off, better, estimate);
    smallvec![e.to(Opcode::FdemoteRte, ty, r)]
}

fn inverse(e: &mut Expander<'_>, inst: Inst) -> Results {
    let [x] = e.args(inst);
    let one = e.float(e.ty(x), 1.0);
    smallvec![e.bin(Opcode::FdivRn, one, x)]
}

fn inverse_root(e: &mut Expander<'_>, inst: Inst) -> Results {
    let [x] = e.args(inst);
    let root = e.un(Opcode::FsqrtRn, x);
    smallvec![e.un(Opcode::Finv, root)]
}

/// Float type, the integer type of its bits, and its parameters.
#[derive(Clone, Copy)]
struct FloatFormat {
    float: Type,
    int: Type,
    /// Dword vector type, for exponents.
    i32: Type,
    /// Bits of the fraction.
    fraction: u32,
    bias: i64,
}

impl FloatFormat {
    fn of(ty: Type) -> FloatFormat {
        let (int, fraction, bias) = match ty.scalar() {
            Scalar::F64 => (Scalar::I64, 52, 1023),
            _ => (Scalar::I32, 23, 127),
        };
        FloatFormat {
            float: ty,
            int: Type::clamped(int, ty.lanes()),
            i32: Type::clamped(Scalar::I32, ty.lanes()),
            fraction,
            bias,
        }
    }

    fn double(self) -> bool {
        self.float.scalar() == Scalar::F64
    }

    /// Returns the unit in the last place of numbers in [1, 2).
    fn unit(self) -> f64 {
        f64::from(-(self.fraction as i32)).exp2()
    }

    /// Returns the least normal number.
    fn least(self) -> f64 {
        ((1 - self.bias) as f64).exp2()
    }
}

/// Significand in [1, 2), and biased exponent.
#[derive(Clone, Copy)]
struct Unpacked {
    significand: Value,
    exponent: Value,
}

impl Expander<'_> {
    /// Casts a float to its bits.
    fn bits_of(&mut self, f: FloatFormat, v: Value) -> Value {
        self.to(Opcode::Bitcast, f.int, v)
    }

    /// Splits a positive number. The parts are meaningless for zero, infinity and NaN.
    fn unpack(&mut self, f: FloatFormat, x: Value) -> Unpacked {
        // Denormals are scaled to normal numbers.
        let up = f.fraction + 2 - f.fraction % 2;
        let (least, scale) = (
            self.float(f.float, f.least()),
            self.float(f.float, f64::from(up).exp2()),
        );
        let tiny = self.fcmp(FloatCC::LessThan, x, least);
        let large = self.bin(Opcode::Fmul, x, scale);
        let x = self.select(tiny, large, x);
        let (up, zero) = (self.int(f.i32, up.into()), self.int(f.i32, 0));
        let up = self.select(tiny, up, zero);
        let (low, high, at) = if f.double() {
            let p = self.split(x);
            (Some(p.low), p.high, 20)
        } else {
            (None, self.bits_of(f, x), 23)
        };
        let (shift, fraction) = (self.int(f.i32, at), self.int(f.i32, (1 << at) - 1));
        let one = self.int(f.i32, f.bias << at);
        let exponent = self.bin(Opcode::Ushr, high, shift);
        let exponent = self.bin(Opcode::Isub, exponent, up);
        let high = self.bin(Opcode::Band, high, fraction);
        let high = self.bin(Opcode::Bor, high, one);
        let significand = match low {
            Some(low) => {
                let v = self.join(DwordPair { low, high });
                self.cast(Scalar::F64, v)
            }
            None => self.cast(Scalar::F32, high),
        };
        Unpacked {
            significand,
            exponent,
        }
    }

    /// Applies a function of the math unit, at f32 precision, to a number near 1.
    fn estimate(&mut self, f: FloatFormat, op: Opcode, x: Value) -> Value {
        if !f.double() {
            return self.un(op, x);
        }
        let f32 = Type::clamped(Scalar::F32, f.float.lanes());
        let x = self.to(Opcode::Fdemote, f32, x);
        let x = self.un(op, x);
        self.to(Opcode::Fpromote, f.float, x)
    }

    /// Shifts an exponent to its position in a float.
    fn shift_exponent(&mut self, f: FloatFormat, exponent: Value) -> Value {
        let at = self.int(f.i32, if f.double() { 20 } else { 23 });
        let high = self.bin(Opcode::Ishl, exponent, at);
        if f.double() {
            let low = self.int(f.i32, 0);
            self.join(DwordPair { low, high })
        } else {
            high
        }
    }

    /// Selects `yes` or zero.
    fn select_int(&mut self, f: FloatFormat, mask: Value, yes: i64) -> Value {
        let (yes, no) = (self.int(f.int, yes), self.int(f.int, 0));
        self.select(mask, yes, no)
    }

    /// Flushes a denormal result if the mode asks for it.
    fn flush_denormal(&mut self, v: Value) -> Value {
        let ty = self.ty(v);
        if !self.float.flushes(ty.scalar()) {
            return v;
        }
        let one = self.float(ty, 1.0);
        self.bin(Opcode::Fmul, v, one)
    }
}

fn divide(e: &mut Expander<'_>, inst: Inst) -> Results {
    let [x, y] = e.args(inst);
    let f = FloatFormat::of(e.ty(x));
    let (a, b) = (e.un(Opcode::Fabs, x), e.un(Opcode::Fabs, y));
    let (n, d) = (e.unpack(f, a), e.unpack(f, b));
    let m = d.significand;
    // The dividend's significand is at least the divisor's: the quotient is in [1, 2).
    let below = e.fcmp(FloatCC::LessThan, n.significand, m);
    let twice = e.bin(Opcode::Fadd, n.significand, n.significand);
    let top = e.select(below, twice, n.significand);
    let (bias, less) = (e.int(f.i32, f.bias), e.int(f.i32, f.bias - 1));
    let bias = e.select(below, less, bias);
    let exponent = e.bin(Opcode::Isub, n.exponent, d.exponent);
    let exponent = e.bin(Opcode::Iadd, exponent, bias);

    let minus = e.un(Opcode::Fneg, m);
    let one = e.float(f.float, 1.0);
    let mut r = e.estimate(f, Opcode::Finv, m);
    for _ in 0..if f.double() { 2 } else { 0 } {
        let error = e.ter(Opcode::Fma, minus, r, one);
        r = e.ter(Opcode::Fma, r, error, r);
    }
    let q = e.bin(Opcode::Fmul, top, r);
    let rest = e.ter(Opcode::Fma, minus, q, top);
    let q = e.ter(Opcode::Fma, rest, r, q);
    let q = e.bin(Opcode::Fmax, q, one);

    // Correct to the float below the exact quotient. Then the remainder is below a unit times the
    // divisor.
    let mut rest = e.ter(Opcode::Fma, minus, q, top);
    let unit = e.float(f.float, f.unit());
    let unit = e.bin(Opcode::Fmul, m, unit);
    let (zero, bit) = (e.float(f.float, 0.0), e.int(f.int, 1));
    let mut bits = e.bits_of(f, q);
    let steps = [
        (FloatCC::LessThan, zero, Opcode::Isub, Opcode::Fadd),
        (
            FloatCC::GreaterThanOrEqual,
            unit,
            Opcode::Iadd,
            Opcode::Fsub,
        ),
    ];
    for (cc, limit, step, back) in steps {
        let beyond = e.fcmp(cc, rest, limit);
        let next = e.bin(step, bits, bit);
        bits = e.select(beyond, next, bits);
        let next = e.bin(back, rest, unit);
        rest = e.select(beyond, next, rest);
    }

    // Significand with its hidden bit, followed by a bit for half a unit or more and a sticky bit.
    let hidden = e.int(f.int, (f.bias - 1) << f.fraction);
    let bits = e.bin(Opcode::Isub, bits, hidden);
    let two = e.int(f.int, 2);
    let bits = e.bin(Opcode::Ishl, bits, two);
    let twice = e.bin(Opcode::Fadd, rest, rest);
    let half = e.fcmp(FloatCC::GreaterThanOrEqual, twice, unit);
    let some = e.fcmp(FloatCC::GreaterThan, rest, zero);
    let (half, some) = (e.select_int(f, half, 2), e.select_int(f, some, 1));
    let bits = e.bin(Opcode::Bor, bits, half);
    let bits = e.bin(Opcode::Bor, bits, some);
    let bits = rounded(e, f, bits, exponent);

    // Operands without parts: 0, infinity and NaN.
    let infinite = e.float(f.float, f64::INFINITY);
    let (a_some, a_finite) = (
        e.fcmp(FloatCC::GreaterThan, a, zero),
        e.fcmp(FloatCC::LessThan, a, infinite),
    );
    let (b_some, b_finite) = (
        e.fcmp(FloatCC::GreaterThan, b, zero),
        e.fcmp(FloatCC::LessThan, b, infinite),
    );
    let usual = [a_finite, b_some, b_finite].into_iter();
    let usual = usual.fold(a_some, |all, p| e.bin(Opcode::Band, all, p));
    // Factor for these: a NaN, 0 or infinity by the divisor, otherwise 1.
    let nan = e.fcmp(FloatCC::NotEqual, b, b);
    let factor = e.select(b_finite, one, zero);
    let factor = e.select(nan, b, factor);
    let none = e.fcmp(FloatCC::Equal, b, zero);
    let factor = e.select(none, infinite, factor);
    let special = e.bin(Opcode::Fmul, a, factor);
    let q = e.to(Opcode::Bitcast, f.float, bits);
    let q = e.select(usual, q, special);

    let (x, y, q) = (e.bits_of(f, x), e.bits_of(f, y), e.bits_of(f, q));
    let signs = e.bin(Opcode::Bxor, x, y);
    let sign = e.int(f.int, 1i64 << (f.int.scalar().bits() - 1));
    let sign = e.bin(Opcode::Band, signs, sign);
    let q = e.bin(Opcode::Bor, q, sign);
    let q = e.to(Opcode::Bitcast, f.float, q);
    smallvec![e.flush_denormal(q)]
}

/// Rounds a significand with two extra bits, the last of them sticky, and any exponent. Returns the
/// bits of a positive float.
fn rounded(e: &mut Expander<'_>, f: FloatFormat, bits: Value, exponent: Value) -> Value {
    let (one, zero) = (e.int(f.i32, 1), e.int(f.i32, 0));
    let deep = e.int(f.i32, i64::from(f.fraction) + 3);
    let down = e.bin(Opcode::Isub, one, exponent);
    let down = e.bin(Opcode::Smin, down, deep);
    let down = e.bin(Opcode::Smax, down, zero);
    let down = if f.double() {
        e.to(Opcode::Uextend, f.int, down)
    } else {
        down
    };
    let kept = e.bin(Opcode::Ushr, bits, down);
    let back = e.bin(Opcode::Ishl, kept, down);
    let lost = e.icmp(IntCC::NotEqual, back, bits);
    let lost = e.select_int(f, lost, 1);
    let kept = e.bin(Opcode::Bor, kept, lost);
    // To nearest even.
    let (bit, two) = (e.int(f.int, 1), e.int(f.int, 2));
    let last = e.bin(Opcode::Ushr, kept, two);
    let last = e.bin(Opcode::Band, last, bit);
    let up = e.bin(Opcode::Iadd, kept, bit);
    let up = e.bin(Opcode::Iadd, up, last);
    let kept = e.bin(Opcode::Ushr, up, two);
    // The hidden bit adds one to the exponent.
    let most = e.int(f.i32, 2 * f.bias + 1);
    let exponent = e.bin(Opcode::Smax, exponent, one);
    let exponent = e.bin(Opcode::Smin, exponent, most);
    let exponent = e.bin(Opcode::Isub, exponent, one);
    let exponent = e.shift_exponent(f, exponent);
    let bits = e.bin(Opcode::Iadd, exponent, kept);
    let infinite = e.int(f.int, (2 * f.bias + 1) << f.fraction);
    e.bin(Opcode::Umin, bits, infinite)
}

/// Takes the root of a significand in [1, 4) by Goldschmidt's iteration. The exact remainder then
/// decides which float is nearest. A root is never a denormal, nor halfway between two floats.
fn root(e: &mut Expander<'_>, inst: Inst) -> Results {
    let [x] = e.args(inst);
    let f = FloatFormat::of(e.ty(x));
    let p = e.unpack(f, x);
    let (bit, bias) = (e.int(f.i32, 1), e.int(f.i32, f.bias));
    let exponent = e.bin(Opcode::Isub, p.exponent, bias);
    let odd = e.bin(Opcode::Band, exponent, bit);
    let none = e.int(f.i32, 0);
    let odd = e.icmp(IntCC::NotEqual, odd, none);
    let twice = e.bin(Opcode::Fadd, p.significand, p.significand);
    let m = e.select(odd, twice, p.significand);
    let exponent = e.bin(Opcode::Sshr, exponent, bit);

    let (half, one) = (e.float(f.float, 0.5), e.float(f.float, 1.0));
    let r = e.estimate(f, Opcode::Frsqrt, m);
    let (mut g, mut h) = (e.bin(Opcode::Fmul, m, r), e.bin(Opcode::Fmul, r, half));
    for _ in 0..if f.double() { 2 } else { 0 } {
        let minus = e.un(Opcode::Fneg, g);
        let error = e.ter(Opcode::Fma, minus, h, half);
        (g, h) = (
            e.ter(Opcode::Fma, g, error, g),
            e.ter(Opcode::Fma, h, error, h),
        );
    }
    let minus = e.un(Opcode::Fneg, g);
    let rest = e.ter(Opcode::Fma, minus, g, m);
    let g = e.ter(Opcode::Fma, rest, h, g);
    let g = e.bin(Opcode::Fmax, g, one);

    // The next float is nearer if the remainder exceeds the root times a unit.
    let minus = e.un(Opcode::Fneg, g);
    let rest = e.ter(Opcode::Fma, minus, g, m);
    let unit = e.float(f.float, f.unit());
    let middle = e.bin(Opcode::Fmul, g, unit);
    let lower = e.un(Opcode::Fneg, middle);
    let above = e.fcmp(FloatCC::GreaterThan, rest, middle);
    let below = e.fcmp(FloatCC::LessThanOrEqual, rest, lower);
    let bits = e.bits_of(f, g);
    let (up, down) = (e.select_int(f, above, 1), e.select_int(f, below, 1));
    let bits = e.bin(Opcode::Iadd, bits, up);
    let bits = e.bin(Opcode::Isub, bits, down);
    let exponent = e.shift_exponent(f, exponent);
    let bits = e.bin(Opcode::Iadd, bits, exponent);
    let root = e.to(Opcode::Bitcast, f.float, bits);

    // 0, infinity and NaN are their own roots; negative numbers have none.
    let (zero, infinite) = (e.float(f.float, 0.0), e.float(f.float, f64::INFINITY));
    let (positive, finite) = (
        e.fcmp(FloatCC::GreaterThan, x, zero),
        e.fcmp(FloatCC::LessThan, x, infinite),
    );
    let usual = e.bin(Opcode::Band, positive, finite);
    let negative = e.fcmp(FloatCC::LessThan, x, zero);
    let nan = e.float(f.float, f64::NAN);
    let special = e.select(negative, nan, x);
    let root = e.select(usual, root, special);
    smallvec![e.flush_denormal(root)]
}
