//! Powers and roots.

use super::exponential::scaled;
use super::kit::Kit;
use gantry_codegen::ir::Value;
use std::f64::consts::LN_2;

type K<'k, 'a, 'm, 'f> = Kit<'k, 'a, 'm, 'f>;

/// The logarithm to base 2 of a positive, finite number in two parts, to about 2^-30 of itself: `2 atanh(s)` with `s = f / (2 + f)` in two parts.
fn log2_parts(k: &mut K<'_, '_, '_, '_>, x: Value) -> (Value, Value) {
    let (f, n) = k.fraction(x);
    let d = k.plus(f, 2.0);
    let back = k.plus(d, -2.0);
    let d_low = k.sub(f, back);
    let s = k.div(f, d);
    let rest = k.fnma(s, d, f);
    let rest = k.fnma(s, d_low, rest);
    let s_low = k.div(rest, d);
    let z = k.mul(s, s);
    let p = k.poly(z, &[2.0 / 11.0, 2.0 / 9.0, 2.0 / 7.0, 2.0 / 5.0, 2.0 / 3.0]);
    let cube = k.mul(s, z);
    let twice = k.add(s_low, s_low);
    let low = k.fma(cube, p, twice);
    let high = k.add(s, s);
    let sum = k.add(high, low);
    let off = k.sub(sum, high);
    let low = k.sub(low, off);
    // By log2(e) in two parts.
    let (e_high, e_low) = (1.442_695_021_629_333_5, 1.925_963_035_450_084_5e-8);
    let h = k.times(sum, e_high);
    let minus = k.neg(h);
    let l = k.fma_n(sum, e_high, minus);
    let l = k.fma_n(sum, e_low, l);
    let l = k.fma_n(low, e_high, l);
    let total = k.add(n, h);
    let off = k.sub(total, n);
    let lost = k.sub(h, off);
    (total, k.add(lost, l))
}

/// `2^(y * log2 a)` of a positive number by an exponent in two parts.
fn raise(k: &mut K<'_, '_, '_, '_>, a: Value, y: Value, y_low: Value) -> Value {
    let (h, l) = log2_parts(k, a);
    let high = k.mul(y, h);
    let minus = k.neg(high);
    let low = k.fma(y, h, minus);
    let low = k.fma(y, l, low);
    let low = k.fma(y_low, h, low);
    let low = k.clamp(low, -1.0, 1.0);
    let high = k.clamp(high, -200.0, 200.0);
    let n = k.rint(high);
    let r = k.sub(high, n);
    let r = k.add(r, low);
    let r = k.times(r, LN_2);
    scaled(k, r, n)
}

/// What a power of a magnitude is at the ends: of 0, infinities and 1.
fn ends(k: &mut K<'_, '_, '_, '_>, a: Value, y: Value, v: Value) -> Value {
    let up = k.gt_n(y, 0.0);
    let (zero, infinity) = (k.n(0.0), k.n(f64::INFINITY));
    // By an infinite exponent as by a sign of the logarithm.
    let whole = k.abs(y);
    let endless = k.eq(whole, infinity);
    let more = k.gt_n(a, 1.0);
    let grows = k.e.b.ins().bxor(more, up);
    let end = k.sel(grows, zero, infinity);
    let v = k.sel(endless, end, v);
    let none = k.eq_n(a, 0.0);
    let end = k.sel(up, zero, infinity);
    let v = k.sel(none, end, v);
    let top = k.eq(a, infinity);
    let end = k.sel(up, infinity, zero);
    let v = k.sel(top, end, v);
    let one = k.eq_n(a, 1.0);
    k.sel_n(one, 1.0, v)
}

/// By its magnitude; with the sign of an odd exponent, a NaN for one that is not whole.
pub(super) fn pow(k: &mut K<'_, '_, '_, '_>, x: Value, y: Value) -> Value {
    let a = k.abs(x);
    let zero = k.n(0.0);
    let v = raise(k, a, y, zero);
    let v = ends(k, a, y, v);
    let floor = k.floor(y);
    let whole = k.eq(floor, y);
    let half = k.times(y, 0.5);
    let even = k.floor(half);
    let even = k.eq(even, half);
    let odd = k.not(even);
    let odd = k.and(whole, odd);
    let minus = k.minus(x);
    let turned = k.and(minus, odd);
    let other = k.neg(v);
    let v = k.sel(turned, other, v);
    let below = k.lt_n(x, 0.0);
    let part = k.not(whole);
    let wrong = k.and(below, part);
    let low = k.eq_n(x, f64::NEG_INFINITY);
    let finite = k.not(low);
    let wrong = k.and(wrong, finite);
    let v = k.sel_n(wrong, f64::NAN, v);
    let (first, second) = (k.nan(x), k.nan(y));
    let nan = k.or(first, second);
    let v = k.sel_n(nan, f64::NAN, v);
    let one = k.eq_n(x, 1.0);
    let none = k.eq_n(y, 0.0);
    let one = k.or(one, none);
    k.sel_n(one, 1.0, v)
}

pub(super) fn powr(k: &mut K<'_, '_, '_, '_>, x: Value, y: Value) -> Value {
    let a = k.abs(x);
    let zero = k.n(0.0);
    let v = raise(k, a, y, zero);
    let v = ends(k, a, y, v);
    let none = k.eq_n(y, 0.0);
    let v = k.sel_n(none, 1.0, v);
    let below = k.lt_n(x, 0.0);
    // 0^0, 1^inf and inf^0 are NaNs.
    let infinity = k.n(f64::INFINITY);
    let (nothing, top) = (k.eq_n(a, 0.0), k.eq(a, infinity));
    let end = k.or(nothing, top);
    let bad = k.and(end, none);
    let bad = k.or(bad, below);
    let magnitude = k.abs(y);
    let endless = k.eq(magnitude, infinity);
    let one = k.eq_n(a, 1.0);
    let other = k.and(endless, one);
    let bad = k.or(bad, other);
    let (first, second) = (k.nan(x), k.nan(y));
    let nan = k.or(first, second);
    let bad = k.or(bad, nan);
    k.sel_n(bad, f64::NAN, v)
}

/// The exponent as a float and what that lost.
pub(super) fn pown(k: &mut K<'_, '_, '_, '_>, x: Value, n: Value) -> Value {
    let a = k.abs(x);
    let y = k.of_int(n);
    let limit = k.clamp(y, -2_147_483_520.0, 2_147_483_520.0);
    let back = k.int_of(limit);
    let lost = k.e.b.ins().isub(n, back);
    let low = k.of_int(lost);
    let v = raise(k, a, limit, low);
    let v = ends(k, a, y, v);
    let odd = k.has(n, 1);
    let minus = k.minus(x);
    let turned = k.and(minus, odd);
    let other = k.neg(v);
    let v = k.sel(turned, other, v);
    let nan = k.nan(x);
    let v = k.sel(nan, x, v);
    let none = k.eq_n(y, 0.0);
    k.sel_n(none, 1.0, v)
}

/// The inverse of the number in two parts as exponent.
pub(super) fn rootn(k: &mut K<'_, '_, '_, '_>, x: Value, n: Value) -> Value {
    let a = k.abs(x);
    let f = k.of_int(n);
    let one = k.n(1.0);
    let y = k.div(one, f);
    let rest = k.fnma(y, f, one);
    let low = k.mul(rest, y);
    let v = raise(k, a, y, low);
    let v = ends(k, a, y, v);
    let odd = k.has(n, 1);
    let minus = k.minus(x);
    let turned = k.and(minus, odd);
    let other = k.neg(v);
    let v = k.sel(turned, other, v);
    let below = k.lt_n(x, 0.0);
    let even = k.not(odd);
    let bad = k.and(below, even);
    let none = k.eq_n(f, 0.0);
    let bad = k.or(bad, none);
    let v = k.sel_n(bad, f64::NAN, v);
    let nan = k.nan(x);
    k.sel(nan, x, v)
}

/// By the math box, and a step of Newton's; the exponent is a third of one that three divides.
pub(super) fn cbrt(k: &mut K<'_, '_, '_, '_>, x: Value) -> Value {
    let a = k.abs(x);
    let (f, n) = k.fraction(a);
    let m = k.plus(f, 1.0);
    let third = k.times(n, 1.0 / 3.0);
    let third = k.floor(third);
    let rest = k.fma_n(third, -3.0, n);
    let rest = k.int_of(rest);
    let by = k.power(rest);
    let m = k.mul(m, by);
    let l = k.e.b.ins().flog2(m);
    let l = k.times(l, 1.0 / 3.0);
    let y = k.e.b.ins().fexp2(l);
    let square = k.mul(y, y);
    let minus = k.neg(m);
    let over = k.fma(square, y, minus);
    let d = k.times(square, 3.0);
    let step = k.div(over, d);
    let y = k.sub(y, step);
    let v = k.scale(y, third);
    let v = k.with_sign(v, x);
    // Zeros, infinities and NaNs are themselves.
    let (zero, infinity) = (k.eq_n(a, 0.0), k.n(f64::INFINITY));
    let finite = k.lt(a, infinity);
    let bad = k.not(finite);
    let same = k.or(zero, bad);
    k.sel(same, x, v)
}

/// Brought near 1 by powers of two.
pub(super) fn hypot(k: &mut K<'_, '_, '_, '_>, x: Value, y: Value) -> Value {
    let (ax, ay) = (k.abs(x), k.abs(y));
    let (low, high) = (k.min(ax, ay), k.max(ax, ay));
    let (large, small) = (k.gt_n(high, 1e18), k.lt_n(high, 1e-18));
    let one = k.n(1.0);
    let by = k.sel_n(large, 2f64.powi(-64), one);
    let by = k.sel_n(small, 2f64.powi(64), by);
    let back = k.sel_n(large, 2f64.powi(64), one);
    let back = k.sel_n(small, 2f64.powi(-64), back);
    let (low, scaled) = (k.mul(low, by), k.mul(high, by));
    let square = k.mul(low, low);
    let sum = k.fma(scaled, scaled, square);
    let v = k.sqrt(sum);
    let v = k.mul(v, back);
    let (first, second) = (k.nan(x), k.nan(y));
    let nan = k.or(first, second);
    let v = k.sel_n(nan, f64::NAN, v);
    let infinity = k.n(f64::INFINITY);
    let (first, second) = (k.eq(ax, infinity), k.eq(ay, infinity));
    let top = k.or(first, second);
    k.sel(top, infinity, v)
}
