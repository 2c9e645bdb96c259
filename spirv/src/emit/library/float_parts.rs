//! Decomposition of floats: exponents, fractions, remainders. All functions are exact.

use super::floats::{copysign, first};
use super::{Call, wrong};
use crate::emit::{Emit, Leaves};
use crate::error::Error;
use gantry_codegen::ir::{FloatCC, IntCC, Scalar, Value};
use spirv::OpenclStd100Op as Std;

type E<'a, 'm, 'f> = Emit<'a, 'm, 'f>;
type R = Result<Value, Error>;

/// Fraction bits, exponent bias, and integer type of a float format.
pub(super) fn format(scalar: Scalar) -> Result<(u32, i64, Scalar), Error> {
    match scalar {
        Scalar::F16 => Ok((10, 15, Scalar::I16)),
        Scalar::F32 => Ok((23, 127, Scalar::I32)),
        Scalar::F64 => Ok((52, 1023, Scalar::I64)),
        _ => Err(wrong()),
    }
}

/// Signed integer constant in the type of a value.
fn int(e: &mut E<'_, '_, '_>, like: Value, n: i64) -> Value {
    e.same(like, n as u64)
}

/// Splits a float into a significand of magnitude 1 to 2 and an exponent, an integer of the same
/// width. Unspecified for zeros, infinities and NaNs.
pub(super) fn split(e: &mut E<'_, '_, '_>, a: Value) -> Result<(Value, Value), Error> {
    let scalar = e.want_float(a)?;
    let (fraction, bias, _) = format(scalar)?;
    let least = e.float(a, 2f64.powi(1 - bias as i32));
    let magnitude = e.b.ins().fabs(a);
    let denormal = e.b.ins().fcmp(FloatCC::LessThan, magnitude, least);
    let up = e.float(a, 2f64.powi(fraction as i32 + 1));
    let scaled = e.b.ins().fmul(a, up);
    let v = e.choose(denormal, scaled, a)?;
    let bits = e.bits(v)?;
    let by = int(e, bits, i64::from(fraction));
    let exponent = e.b.ins().ushr(bits, by);
    let mask = int(e, bits, 2 * bias + 1);
    let exponent = e.b.ins().band(exponent, mask);
    let normal = int(e, bits, bias);
    let small = int(e, bits, bias + i64::from(fraction) + 1);
    let bias_of = e.choose(denormal, small, normal)?;
    let exponent = e.b.ins().isub(exponent, bias_of);
    let keep = (1u64 << (scalar.bits() - 1)) | ((1 << fraction) - 1);
    let keep = e.same(bits, keep);
    let one = e.same(bits, (bias as u64) << fraction);
    let kept = e.b.ins().band(bits, keep);
    let m = e.b.ins().bor(kept, one);
    Ok((first(e.bitcast(&[m], scalar, 1)?)?, exponent))
}

/// Tests that a float is neither zero, infinite nor NaN.
fn ordinary(e: &mut E<'_, '_, '_>, a: Value) -> R {
    let magnitude = e.b.ins().fabs(a);
    let (zero, infinity) = (e.float(a, 0.0), e.float(a, f64::INFINITY));
    let some = e.b.ins().fcmp(FloatCC::GreaterThan, magnitude, zero);
    let finite = e.b.ins().fcmp(FloatCC::LessThan, magnitude, infinity);
    Ok(e.b.ins().band(some, finite))
}

/// `ilogb`: the minimum for zeros, the maximum for infinities and NaNs.
pub(super) fn ilogb(e: &mut E<'_, '_, '_>, a: Value, exponent: Value) -> R {
    let n = e.resize(exponent, Scalar::I32, true);
    let (zero, infinity) = (e.float(a, 0.0), e.float(a, f64::INFINITY));
    let magnitude = e.b.ins().fabs(a);
    let none = e.b.ins().fcmp(FloatCC::Equal, magnitude, zero);
    let (low, high) = (
        int(e, n, i64::from(i32::MIN)),
        int(e, n, i64::from(i32::MAX)),
    );
    let n = e.choose(none, low, n)?;
    let infinite = e.b.ins().fcmp(FloatCC::Equal, magnitude, infinity);
    let n = e.choose(infinite, high, n)?;
    let nan = e.is_nan(a);
    e.choose(nan, high, n)
}

pub(super) fn logb(e: &mut E<'_, '_, '_>, a: Value) -> R {
    let (_, exponent) = split(e, a)?;
    let ty = e.b.ty(a);
    let v = e.b.ins().fcvt_from_sint(ty, exponent);
    // Negative infinity for zero. Infinity and NaN propagate.
    let magnitude = e.b.ins().fabs(a);
    let zero = e.float(a, 0.0);
    let none = e.b.ins().fcmp(FloatCC::Equal, magnitude, zero);
    let minus = e.float(a, f64::NEG_INFINITY);
    let fits = ordinary(e, a)?;
    let v = e.choose(fits, v, magnitude)?;
    e.choose(none, minus, v)
}

/// `ldexp`: multiplies the significand by two powers of two, of which only the second may round.
/// Halves are computed as singles.
pub(super) fn ldexp(e: &mut E<'_, '_, '_>, a: Value, n: Value) -> R {
    let scalar = e.want_float(a)?;
    if e.want_int(n)? != Scalar::I32 {
        return Err(wrong());
    }
    if scalar == Scalar::F16 {
        let half = e.b.ty(a);
        let single = e.lanes(Scalar::F32, half.lanes());
        let a = e.b.ins().fpromote(single, a);
        let v = ldexp(e, a, n)?;
        return Ok(e.b.ins().fdemote(half, v));
    }
    let (fraction, bias, _) = format(scalar)?;
    let (m, exponent) = split(e, a)?;
    let exponent = e.resize(exponent, Scalar::I32, true);
    let within = |e: &mut E<'_, '_, '_>, v: Value, low: i64, high: i64| {
        let (low, high) = (int(e, v, low), int(e, v, high));
        let v = e.b.ins().smax(v, low);
        e.b.ins().smin(v, high)
    };
    let n = within(e, n, -4 * bias, 4 * bias);
    let n = e.b.ins().iadd(exponent, n);
    let n = within(e, n, -bias - i64::from(fraction) - 4, bias + 2);
    let one = int(e, n, 1);
    let half = e.b.ins().sshr(n, one);
    let rest = e.b.ins().isub(n, half);
    let by = power(e, half, scalar)?;
    let v = e.b.ins().fmul(m, by);
    let by = power(e, rest, scalar)?;
    let v = e.b.ins().fmul(v, by);
    let fits = ordinary(e, a)?;
    e.choose(fits, v, a)
}

/// Power of two. The exponent is above the negated bias, and at most the bias.
pub(super) fn power(e: &mut E<'_, '_, '_>, n: Value, scalar: Scalar) -> R {
    let (fraction, bias, bits) = format(scalar)?;
    let add = int(e, n, bias);
    let n = e.b.ins().iadd(n, add);
    let n = e.resize(n, bits, false);
    let by = int(e, n, i64::from(fraction));
    let v = e.b.ins().ishl(n, by);
    first(e.bitcast(&[v], scalar, 1)?)
}

fn arg(e: &mut E<'_, '_, '_>, call: &Call<'_>, n: usize) -> Result<Leaves, Error> {
    e.get(*call.args.get(n).ok_or_else(wrong)?)
}

/// Stores the second result of a function through its pointer argument.
pub(super) fn put(
    e: &mut E<'_, '_, '_>,
    call: &Call<'_>,
    n: usize,
    v: &[Value],
) -> Result<(), Error> {
    let pointer = *call.args.get(n).ok_or_else(wrong)?;
    let (class, of) = e.pointer(pointer)?;
    let scalar = e.scalar(of)?;
    if v.iter().any(|v| e.scalar_of(*v) != scalar) {
        return Err(wrong());
    }
    let access = e.access(class, of, &[])?;
    let addr = e.address(pointer, &access)?;
    e.store_leaves(of, v, addr, access)
}

/// `frexp`: splits a float into a fraction of magnitude 0.5 to 1 and an exponent.
pub(super) fn halves(e: &mut E<'_, '_, '_>, a: Value) -> Result<(Value, Value), Error> {
    let (m, n) = split(e, a)?;
    let half = e.float(a, 0.5);
    let m = e.b.ins().fmul(m, half);
    let n = e.resize(n, Scalar::I32, true);
    let (one, zero) = (int(e, n, 1), int(e, n, 0));
    let n = e.b.ins().iadd(n, one);
    let fits = ordinary(e, a)?;
    Ok((e.choose(fits, m, a)?, e.choose(fits, n, zero)?))
}

/// `modf`: fractional and integral part, both with the sign.
pub(super) fn parts_of(e: &mut E<'_, '_, '_>, a: Value) -> Result<(Value, Value), Error> {
    e.want_float(a)?;
    let whole = e.b.ins().ftrunc(a);
    let rest = e.b.ins().fsub(a, whole);
    // The fraction of an infinity is zero.
    let (magnitude, infinity) = (e.b.ins().fabs(a), e.float(a, f64::INFINITY));
    let infinite = e.b.ins().fcmp(FloatCC::Equal, magnitude, infinity);
    let zero = e.float(a, 0.0);
    let rest = e.choose(infinite, zero, rest)?;
    Ok((copysign(e, rest, a)?, whole))
}

pub(super) fn frexp(e: &mut E<'_, '_, '_>, call: &Call<'_>) -> Result<Leaves, Error> {
    let (mut out, mut exponents) = (Leaves::new(), Leaves::new());
    for a in arg(e, call, 0)? {
        let (m, n) = halves(e, a)?;
        out.push(m);
        exponents.push(n);
    }
    put(e, call, 1, &exponents)?;
    Ok(out)
}

pub(super) fn modf(e: &mut E<'_, '_, '_>, call: &Call<'_>) -> Result<Leaves, Error> {
    let (mut out, mut wholes) = (Leaves::new(), Leaves::new());
    for a in arg(e, call, 0)? {
        let (rest, whole) = parts_of(e, a)?;
        out.push(rest);
        wholes.push(whole);
    }
    put(e, call, 1, &wholes)?;
    Ok(out)
}

pub(super) fn fract(e: &mut E<'_, '_, '_>, call: &Call<'_>) -> Result<Leaves, Error> {
    let (mut out, mut wholes) = (Leaves::new(), Leaves::new());
    for a in arg(e, call, 0)? {
        let scalar = e.want_float(a)?;
        let (fraction, ..) = format(scalar)?;
        let whole = e.b.ins().ffloor(a);
        let rest = e.b.ins().fsub(a, whole);
        let most = e.float(a, 1.0 - 2f64.powi(-(fraction as i32) - 1));
        let rest = e.b.ins().fmin(rest, most);
        let (magnitude, infinity) = (e.b.ins().fabs(a), e.float(a, f64::INFINITY));
        let infinite = e.b.ins().fcmp(FloatCC::Equal, magnitude, infinity);
        let zero = e.float(a, 0.0);
        let signed = copysign(e, zero, a)?;
        let rest = e.choose(infinite, signed, rest)?;
        // Zeros and NaNs propagate.
        let (none, nan) = (e.b.ins().fcmp(FloatCC::Equal, a, zero), e.is_nan(a));
        let same = e.b.ins().bor(none, nan);
        out.push(e.choose(same, a, rest)?);
        wholes.push(whole);
    }
    put(e, call, 1, &wholes)?;
    Ok(out)
}

/// Remainder and low bits of the quotient, by long division of the significands as integers. The
/// number of steps is the difference of the exponents.
pub(super) fn remainder(
    e: &mut E<'_, '_, '_>,
    a: Value,
    b: Value,
    nearest: bool,
) -> Result<(Value, Value), Error> {
    let scalar = e.want_float(a)?;
    if e.b.ty(a) != e.b.ty(b) {
        return Err(wrong());
    }
    // The loop diverges, so operands need a lane for each channel.
    let (a, b) = (e.b.splat(a, e.simd), e.b.splat(b, e.simd));
    let (fraction, ..) = format(scalar)?;
    let (ma, ea) = split(e, a)?;
    let (mb, eb) = split(e, b)?;
    let mantissa = |e: &mut E<'_, '_, '_>, m: Value| -> R {
        let bits = e.bits(m)?;
        let low = e.same(bits, (1 << fraction) - 1);
        let bits = e.b.ins().band(bits, low);
        let hidden = e.same(bits, 1 << fraction);
        Ok(e.b.ins().bor(bits, hidden))
    };
    let (fa, fb) = (mantissa(e, ma)?, mantissa(e, mb)?);
    let zero = int(e, fa, 0);
    let steps = e.b.ins().isub(ea, eb);
    // A smaller dividend takes no step, and is selected below.
    let (left, rest, quotient) = (e.b.var(steps), e.b.var(fa), e.b.var(zero));
    e.b.simd_loop_begin();
    let n = e.b.use_var(left);
    let done = e.b.ins().icmp(IntCC::SignedLessThan, n, zero);
    e.b.simd_break_if(done);
    let (r, q) = (e.b.use_var(rest), e.b.use_var(quotient));
    let one = int(e, r, 1);
    let fits = e.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, r, fb);
    let less = e.b.ins().isub(r, fb);
    let r = e.choose(fits, less, r)?;
    let q = e.b.ins().ishl(q, one);
    let more = e.b.ins().iadd(q, one);
    let q = e.choose(fits, more, q)?;
    let last = e.b.ins().icmp(IntCC::Equal, n, zero);
    let twice = e.b.ins().ishl(r, one);
    let r = e.choose(last, r, twice)?;
    let n = e.b.ins().isub(n, one);
    e.b.def_var(rest, r);
    e.b.def_var(quotient, q);
    e.b.def_var(left, n);
    e.b.simd_loop_end();
    let (r, q) = (e.b.use_var(rest), e.b.use_var(quotient));
    // Magnitude of the remainder: the rest of the significand scaled by the divisor's exponent.
    let ty = e.b.ty(a);
    let v = e.b.ins().fcvt_from_uint(ty, r);
    let down = int(e, eb, -i64::from(fraction));
    let exponent = e.b.ins().iadd(eb, down);
    let exponent = e.resize(exponent, Scalar::I32, true);
    let v = ldexp(e, v, exponent)?;
    let magnitude = e.b.ins().fabs(a);
    let divisor = e.b.ins().fabs(b);
    let smaller = e.b.ins().fcmp(FloatCC::LessThan, magnitude, divisor);
    let mut v = e.choose(smaller, magnitude, v)?;
    let mut q = e.choose(smaller, zero, q)?;
    if nearest {
        // Round to nearest even: one more if the rest exceeds half of the divisor, or equals it
        // with an odd quotient.
        let other = e.b.ins().fsub(divisor, v);
        let more = e.b.ins().fcmp(FloatCC::GreaterThan, v, other);
        let same = e.b.ins().fcmp(FloatCC::Equal, v, other);
        let one = int(e, q, 1);
        let low = e.b.ins().band(q, one);
        let odd = e.b.ins().icmp(IntCC::Equal, low, one);
        let tie = e.b.ins().band(same, odd);
        let up = e.b.ins().bor(more, tie);
        let minus = e.b.ins().fneg(other);
        v = e.choose(up, minus, v)?;
        let next = e.b.ins().iadd(q, one);
        q = e.choose(up, next, q)?;
    }
    // The sign of the dividend, inverted for a difference.
    let bits = e.bits(v)?;
    let sign = e.bits(a)?;
    let top = e.same(bits, 1 << (scalar.bits() - 1));
    let sign = e.b.ins().band(sign, top);
    let bits = e.b.ins().bxor(bits, sign);
    let v = first(e.bitcast(&[bits], scalar, 1)?)?;
    // Infinite divisors give the dividend. Infinite dividends, zero divisors and NaNs give NaN.
    let infinity = e.float(a, f64::INFINITY);
    let by_infinity = e.b.ins().fcmp(FloatCC::Equal, divisor, infinity);
    let v = e.choose(by_infinity, a, v)?;
    let q = e.choose(by_infinity, zero, q)?;
    let none = e.float(a, 0.0);
    let finite = e.b.ins().fcmp(FloatCC::LessThan, magnitude, infinity);
    let some = e.b.ins().fcmp(FloatCC::GreaterThan, divisor, none);
    let good = e.b.ins().band(finite, some);
    let nan = e.float(a, f64::NAN);
    let v = e.choose(good, v, nan)?;
    let q = e.choose(good, q, zero)?;
    Ok((v, q))
}

/// `remquo`: remainder, and seven low bits of the quotient with its sign.
pub(super) fn remquo(e: &mut E<'_, '_, '_>, call: &Call<'_>) -> Result<Leaves, Error> {
    if call.which != Std::remquo {
        return Err(wrong());
    }
    let (a, b) = (arg(e, call, 0)?, arg(e, call, 1)?);
    let (mut out, mut quotients) = (Leaves::new(), Leaves::new());
    for (a, b) in a.iter().zip(&b) {
        let mut v = [*a, *b];
        e.even(&mut v);
        let (r, q) = remainder(e, v[0], v[1], true)?;
        let q = e.resize(q, Scalar::I32, false);
        let low = int(e, q, 0x7f);
        let q = e.b.ins().band(q, low);
        let (sa, sb) = (e.bits(v[0])?, e.bits(v[1])?);
        let signs = e.b.ins().bxor(sa, sb);
        let zero = int(e, signs, 0);
        let negative = e.b.ins().icmp(IntCC::SignedLessThan, signs, zero);
        let minus = e.b.ins().ineg(q);
        quotients.push(e.choose(negative, minus, q)?);
        out.push(r);
    }
    put(e, call, 2, &quotients)?;
    Ok(out)
}
