//! Powers and roots.

use super::exponential::{LOG2E, small};
use super::kit::{Kit, PerType, Poly};
use crate::ir::{FloatCC, Value};
use std::f64::consts::LN_2;

type K<'k, 'f> = Kit<'k, 'f>;

/// `(2 atanh(s) - 2s) / s^3` by `s^2`, for fractions around 1. Doubles leave out the last
/// coefficient, 2/3.
const ATANH: Poly = PerType {
    single: &[2.0 / 11.0, 2.0 / 9.0, 2.0 / 7.0, 2.0 / 5.0, 2.0 / 3.0],
    double: &[
        0.118_826_273_810_965_24,
        0.116_880_540_942_686_6,
        0.133_356_417_740_002_68,
        0.153_845_750_605_605_99,
        0.181_818_185_945_704_7,
        0.222_222_222_198_524_64,
        0.285_714_285_714_353_8,
        0.399_999_999_999_999_9,
    ],
};

/// Returns the base-2 logarithm of a positive, finite number in two parts. Uses `2 atanh(s)` with
/// `s = f / (2 + f)` in two parts. The relative error is about 2^-30 for singles, 2^-64 for
/// doubles.
pub(super) fn log2_parts(k: &mut K<'_, '_>, x: Value) -> (Value, Value) {
    let (f, n) = k.fraction(x);
    let n = k.of_int(n);
    let two = k.n(2.0);
    let (d, d_low) = k.sum(two, f);
    let (s, r) = k.div_by(f, d);
    let rest = k.fnma(s, d, f);
    let rest = k.fnma(s, d_low, rest);
    let s_low = k.mul(rest, r);
    let twice = k.add(s_low, s_low);
    let high = k.add(s, s);
    let (sum, low) = if k.wide {
        // The cube and two thirds of it have two parts too. The second part of `s` enters by the
        // derivative.
        let (z, z_low) = k.product(s, s);
        let q = k.series(z, ATANH);
        let q = k.mul(q, z);
        let thirds = k.n(2.0 / 3.0);
        let (p, p_low) = k.sum(thirds, q);
        let p_low = k.plus(p_low, 3.700_743_415_417_188e-17);
        let (cube, cube_low) = k.product(s, z);
        let cube_low = k.fma(s, z_low, cube_low);
        let (t, t_low) = k.product(cube, p);
        let t_low = k.fma(cube, p_low, t_low);
        let t_low = k.fma(cube_low, p, t_low);
        let twice = k.fma(twice, z, twice);
        let (sum, low) = k.sum(high, t);
        let low = k.add(low, t_low);
        (sum, k.add(low, twice))
    } else {
        let z = k.mul(s, s);
        let p = k.series(z, ATANH);
        let cube = k.mul(s, z);
        let low = k.fma(cube, p, twice);
        k.sum(high, low)
    };
    let [e_high, e_low] = k.by(LOG2E);
    let e = k.n(e_high);
    let (h, l) = k.product(sum, e);
    let l = k.fma_n(sum, e_low, l);
    let l = k.fma_n(low, e_high, l);
    let (total, lost) = k.sum(n, h);
    (total, k.add(lost, l))
}

/// Returns `2^(high + low)` as a number near 1 and a power of two, within the range of finite,
/// nonzero results.
pub(super) fn exp2_parts(k: &mut K<'_, '_>, high: Value, low: Value) -> (Value, Value) {
    let most = k.by(PerType {
        single: 240.0,
        double: 2000.0,
    });
    let low = k.clamp(low, -1.0, 1.0);
    let high = k.clamp(high, -most, most);
    let (n, whole) = k.nearest(high);
    let r = k.sub(high, n);
    let r = k.add(r, low);
    let r = k.times(r, LN_2);
    (small(k, r), whole)
}

/// Returns `2^(y * log2 a)` of a positive number, for an exponent in two parts.
fn raise(k: &mut K<'_, '_>, a: Value, y: Value, y_low: Option<Value>) -> Value {
    let (h, l) = log2_parts(k, a);
    let (high, low) = k.product(y, h);
    let low = k.fma(y, l, low);
    let low = match y_low {
        Some(y_low) => k.fma(y_low, h, low),
        None => low,
    };
    let (v, n) = exp2_parts(k, high, low);
    k.scale(v, n)
}

/// Raises a magnitude to a power, with the special cases 0, 1 and infinity.
fn magnitude(k: &mut K<'_, '_>, x: Value, y: Value, y_low: Option<Value>) -> Value {
    let a = k.abs(x);
    let v = raise(k, a, y, y_low);
    let up = k.gt_n(y, 0.0);
    let (zero, infinity) = (k.n(0.0), k.n(f64::INFINITY));
    // Special cases follow from the signs of the exponent and the logarithm.
    let whole = k.abs(y);
    let endless = k.eq(whole, infinity);
    let (none, top) = (k.eq_n(a, 0.0), k.eq(a, infinity));
    let ends = k.or(none, top);
    let ends = k.or(ends, endless);
    let more = k.gt_n(a, 1.0);
    let falls = k.b.ins().bxor(more, up);
    let end = k.sel(falls, zero, infinity);
    let v = k.sel(ends, end, v);
    let one = k.eq_n(a, 1.0);
    k.sel_n(one, 1.0, v)
}

/// Returns predicates: a float is a whole number, and an odd one.
fn whole_odd(k: &mut K<'_, '_>, y: Value) -> (Value, Value) {
    let near = k.b.ins().fnearest(y);
    let whole = k.eq(near, y);
    let half = k.times(y, 0.5);
    let near = k.b.ins().fnearest(half);
    let even = k.eq(near, half);
    let odd = k.not(even);
    (whole, k.and(whole, odd))
}

/// Computes the power of the magnitude. The sign is that of an odd exponent; a non-whole exponent
/// of a negative base yields a NaN.
pub(super) fn pow(k: &mut K<'_, '_>, x: Value, y: Value) -> Value {
    let v = magnitude(k, x, y, None);
    let (whole, odd) = whole_odd(k, y);
    let minus = k.minus(x);
    let turned = k.and(minus, odd);
    let v = k.negate_if(turned, v);
    let below = k.lt_n(x, 0.0);
    let part = k.not(whole);
    let wrong = k.and(below, part);
    let low = k.eq_n(x, f64::NEG_INFINITY);
    let finite = k.not(low);
    let wrong = k.and(wrong, finite);
    let v = k.sel_n(wrong, f64::NAN, v);
    let v = k.nan_of(x, y, v);
    let one = k.eq_n(x, 1.0);
    let none = k.eq_n(y, 0.0);
    let one = k.or(one, none);
    k.sel_n(one, 1.0, v)
}

/// Returns a NaN for a negative base, and for 0^0, 1^inf and inf^0.
pub(super) fn powr(k: &mut K<'_, '_>, x: Value, y: Value) -> Value {
    let v = magnitude(k, x, y, None);
    let none = k.eq_n(y, 0.0);
    let v = k.sel_n(none, 1.0, v);
    let infinity = k.n(f64::INFINITY);
    let (nothing, top) = (k.eq_n(x, 0.0), k.eq(x, infinity));
    let end = k.or(nothing, top);
    let bad = k.and(end, none);
    let below = k.lt_n(x, 0.0);
    let bad = k.or(bad, below);
    let exponent = k.abs(y);
    let endless = k.eq(exponent, infinity);
    let one = k.eq_n(x, 1.0);
    let other = k.and(endless, one);
    let bad = k.or(bad, other);
    let v = k.sel_n(bad, f64::NAN, v);
    k.nan_of(x, y, v)
}

/// Applies the sign of the base where the integer exponent is odd.
fn signed(k: &mut K<'_, '_>, x: Value, n: Value, v: Value) -> Value {
    let odd = k.has(n, 1);
    let minus = k.minus(x);
    let turned = k.and(minus, odd);
    let v = k.negate_if(turned, v);
    let nan = k.nan(x);
    k.sel(nan, x, v)
}

/// Converts the exponent to a float. For singles, the bits that are lost form its second part.
pub(super) fn pown(k: &mut K<'_, '_>, x: Value, n: Value) -> Value {
    let mut y = k.of_int(n);
    let mut low = None;
    if !k.wide {
        y = k.clamp(y, -2_147_483_520.0, 2_147_483_520.0);
        let back = k.int_of(y);
        let lost = k.b.ins().isub(n, back);
        low = Some(k.of_int(lost));
    }
    let v = magnitude(k, x, y, low);
    let v = signed(k, x, n, v);
    let none = k.eq_n(y, 0.0);
    k.sel_n(none, 1.0, v)
}

/// Uses the reciprocal of `n`, in two parts, as the exponent.
pub(super) fn rootn(k: &mut K<'_, '_>, x: Value, n: Value) -> Value {
    let f = k.of_int(n);
    let one = k.n(1.0);
    let (y, r) = k.div_by(one, f);
    let rest = k.fnma(y, f, one);
    let low = k.mul(rest, r);
    let v = magnitude(k, x, y, Some(low));
    let v = signed(k, x, n, v);
    let odd = k.has(n, 1);
    let below = k.lt_n(x, 0.0);
    let even = k.not(odd);
    let bad = k.and(below, even);
    let none = k.eq_n(f, 0.0);
    let bad = k.or(bad, none);
    k.sel_n(bad, f64::NAN, v)
}

/// Computes the cube root by the math unit and Newton steps (two for doubles). The exponent is
/// split into a multiple of three and a rest.
pub(super) fn cbrt(k: &mut K<'_, '_>, x: Value) -> Value {
    let a = k.abs(x);
    let (f, n) = k.fraction(a);
    let m = k.plus(f, 1.0);
    // Division by three, rounded down, as a multiplication of a non-negative number.
    let (off, third, by) = (k.i(1200), k.i(21_846), k.i(16));
    let up = k.b.ins().iadd(n, off);
    let q = k.b.ins().imul(up, third);
    let q = k.b.ins().ushr(q, by);
    let three = k.i(3);
    let whole = k.b.ins().imul(q, three);
    let rest = k.b.ins().isub(up, whole);
    let by = k.power(rest);
    let m = k.mul(m, by);
    let single = k.narrowed(m);
    let l = k.b.ins().flog2(single);
    let part = k.b.ins().fconst(k.single, 1.0 / 3.0);
    let l = k.b.ins().fmul(l, part);
    let s = k.b.ins().fexp2(l);
    // One third of the inverse square.
    let three = k.b.ins().fconst(k.single, 3.0);
    let d = k.b.ins().fmul(s, s);
    let d = k.b.ins().fmul(d, three);
    let d = k.b.ins().finv(d);
    let (mut y, d) = (k.widened(s), k.widened(d));
    for _ in 0..if k.wide { 2 } else { 1 } {
        let square = k.mul(y, y);
        let minus = k.neg(m);
        let over = k.fma(square, y, minus);
        y = k.fnma(over, d, y);
    }
    let back = k.i(400);
    let third = k.b.ins().isub(q, back);
    let by = k.power(third);
    let v = k.mul(y, by);
    let v = k.with_sign(v, x);
    // Zeros, infinities and NaNs are returned unchanged.
    let zero = k.eq_n(a, 0.0);
    let infinity = k.n(f64::INFINITY);
    let finite = k.lt(a, infinity);
    let bad = k.not(finite);
    let same = k.or(zero, bad);
    k.sel(same, x, v)
}

/// Scales both by the exponent of the larger one.
pub(super) fn hypot(k: &mut K<'_, '_>, x: Value, y: Value) -> Value {
    let (ax, ay) = (k.abs(x), k.abs(y));
    let (low, high) = (k.min(ax, ay), k.max(ax, ay));
    let (by, back) = k.scales(high);
    let (low, high) = (k.mul(low, by), k.mul(high, by));
    let square = k.mul(low, low);
    let sum = k.fma(high, high, square);
    let v = k.sqrt(sum);
    let v = k.mul(v, back);
    let v = k.nan_of(x, y, v);
    let infinity = k.n(f64::INFINITY);
    let (first, second) = (k.eq(ax, infinity), k.eq(ay, infinity));
    let top = k.or(first, second);
    k.sel(top, infinity, v)
}

/// Inverse root for doubles: that of singles, of a fraction with an even exponent, and Newton
/// steps.
pub(super) fn rsqrt(k: &mut K<'_, '_>, x: Value) -> Value {
    if !k.wide {
        return k.b.ins().frsqrt(x);
    }
    let (f, n) = k.fraction(x);
    let m = k.plus(f, 1.0);
    let one = k.i(1);
    let odd = k.b.ins().band(n, one);
    let by = k.power(odd);
    let m = k.mul(m, by);
    let s = k.narrowed(m);
    let r = k.b.ins().frsqrt(s);
    let mut r = k.widened(r);
    let one_and = k.n(1.0);
    for _ in 0..2 {
        let square = k.mul(r, m);
        let off = k.fnma(square, r, one_and);
        let half = k.times(r, 0.5);
        r = k.fma(off, half, r);
    }
    let half = k.b.ins().sshr(n, one);
    let zero = k.i(0);
    let half = k.b.ins().isub(zero, half);
    let by = k.power(half);
    let v = k.mul(r, by);
    let top = k.eq_n(x, f64::INFINITY);
    let v = k.sel_n(top, 0.0, v);
    let none = k.eq_n(x, 0.0);
    let infinity = k.n(f64::INFINITY);
    let end = k.with_sign(infinity, x);
    let v = k.sel(none, end, v);
    let none = k.n(0.0);
    let fits = k.b.ins().fcmp(FloatCC::GreaterThanOrEqual, x, none);
    let nan = k.n(f64::NAN);
    k.sel(fits, v, nan)
}
