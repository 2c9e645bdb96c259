//! Exponentials, logarithms, and what is made of them.

use super::kit::Kit;
use gantry_codegen::ir::Value;
use std::f64::consts::{LN_2, LN_10, LOG2_10, LOG2_E};

type K<'k, 'a, 'm, 'f> = Kit<'k, 'a, 'm, 'f>;

/// `(e^r - 1 - r) / r^2` up to half of `ln 2`.
const EXP: [f64; 6] = [
    1.987_569_15e-4,
    1.398_199_950_7e-3,
    8.333_451_907_3e-3,
    4.166_579_589_4e-2,
    1.666_666_545_9e-1,
    5.000_000_120_1e-1,
];

/// `e^r - 1` for small `r`.
fn less_one(k: &mut K<'_, '_, '_, '_>, r: Value) -> Value {
    let p = k.poly(r, &EXP);
    let square = k.mul(r, r);
    k.fma(p, square, r)
}

/// `e^r * 2^n`.
pub(super) fn scaled(k: &mut K<'_, '_, '_, '_>, r: Value, n: Value) -> Value {
    let v = less_one(k, r);
    let v = k.plus(v, 1.0);
    k.scale(v, n)
}

/// `x = n * ln 2 + r`, `ln 2` in two parts.
fn reduced(k: &mut K<'_, '_, '_, '_>, x: Value) -> (Value, Value) {
    let n = k.times(x, LOG2_E);
    let n = k.rint(n);
    let r = k.fma_n(n, -0.693_359_375, x);
    (k.fma_n(n, 2.121_944_400_546_905_8e-4, r), n)
}

pub(super) fn exp(k: &mut K<'_, '_, '_, '_>, x: Value) -> Value {
    let c = k.clamp(x, -105.0, 90.0);
    let (r, n) = reduced(k, c);
    let v = scaled(k, r, n);
    let nan = k.nan(x);
    k.sel(nan, x, v)
}

pub(super) fn exp2(k: &mut K<'_, '_, '_, '_>, x: Value) -> Value {
    let c = k.clamp(x, -152.0, 130.0);
    let n = k.rint(c);
    let r = k.sub(c, n);
    let r = k.times(r, LN_2);
    let v = scaled(k, r, n);
    let nan = k.nan(x);
    k.sel(nan, x, v)
}

pub(super) fn exp10(k: &mut K<'_, '_, '_, '_>, x: Value) -> Value {
    let c = k.clamp(x, -46.0, 40.0);
    let n = k.times(c, LOG2_10);
    let n = k.rint(n);
    let r = k.fma_n(n, -3.007_812_5e-1, c);
    let r = k.fma_n(n, -2.487_456_639_811_952e-4, r);
    let r = k.times(r, LN_10);
    let v = scaled(k, r, n);
    let nan = k.nan(x);
    k.sel(nan, x, v)
}

/// `2 * ((e^r - 1) * h + (h - 1/2))` with `h = 2^(n-1)`, which is finite where the result is.
pub(super) fn expm1(k: &mut K<'_, '_, '_, '_>, x: Value) -> Value {
    let c = k.clamp(x, -18.0, 89.5);
    let (r, n) = reduced(k, c);
    let q = less_one(k, r);
    let n = k.plus(n, -1.0);
    let n = k.int_of(n);
    let most = k.i(127);
    let n = k.e.b.ins().smin(n, most);
    let h = k.power(n);
    let rest = k.plus(h, -0.5);
    let v = k.fma(q, h, rest);
    let v = k.add(v, v);
    let large = k.gt_n(x, 88.8);
    let v = k.sel_n(large, f64::INFINITY, v);
    // Zeros and NaNs are themselves.
    let zero = k.eq_n(x, 0.0);
    let nan = k.nan(x);
    let same = k.or(zero, nan);
    k.sel(same, x, v)
}

/// `log(1 + f)` as `f - f^2/2 + s * (f^2/2 + R)`, `s = f / (2 + f)`: the last part, and half of the square.
fn parts(k: &mut K<'_, '_, '_, '_>, f: Value) -> (Value, Value) {
    let d = k.plus(f, 2.0);
    let s = k.div(f, d);
    let z = k.mul(s, s);
    let w = k.mul(z, z);
    let odd = k.poly(w, &[0.242_790_788_41, 0.400_009_721_52]);
    let even = k.poly(w, &[0.284_987_866_88, 0.666_666_626_93]);
    let odd = k.mul(odd, w);
    let r = k.fma(even, z, odd);
    let half = k.times(f, 0.5);
    let half = k.mul(half, f);
    let sum = k.add(half, r);
    (k.mul(s, sum), half)
}

/// Results of zeros, negative numbers, infinities and NaNs.
pub(super) fn log_ends(k: &mut K<'_, '_, '_, '_>, x: Value, v: Value) -> Value {
    let top = k.eq_n(x, f64::INFINITY);
    let v = k.sel(top, x, v);
    let zero = k.eq_n(x, 0.0);
    let v = k.sel_n(zero, f64::NEG_INFINITY, v);
    let below = k.lt_n(x, 0.0);
    let v = k.sel_n(below, f64::NAN, v);
    let nan = k.nan(x);
    k.sel(nan, x, v)
}

pub(super) fn log(k: &mut K<'_, '_, '_, '_>, x: Value) -> Value {
    let (f, n) = k.fraction(x);
    let (part, half) = parts(k, f);
    let low = k.fma_n(n, 9.058_000_614_5e-6, part);
    let low = k.sub(low, half);
    let sum = k.add(low, f);
    let v = k.fma_n(n, 6.931_381_225_6e-1, sum);
    log_ends(k, x, v)
}

/// A logarithm to another base: the natural one in two parts, the first of few bits, by two parts of the factor.
fn based(
    k: &mut K<'_, '_, '_, '_>,
    x: Value,
    (high, low): (f64, f64),
    (unit, rest): (f64, f64),
) -> Value {
    let (f, n) = k.fraction(x);
    let (part, half) = parts(k, f);
    let first = k.sub(f, half);
    let bits = k.bits(first);
    let mask = k.i(-0x1000);
    let bits = k.e.b.ins().band(bits, mask);
    let first = k.of_bits(bits);
    let second = k.sub(f, first);
    let second = k.sub(second, half);
    let second = k.add(second, part);
    let both = k.add(second, first);
    let v = k.times(both, low);
    let v = k.fma_n(n, rest, v);
    let v = k.fma_n(second, high, v);
    let v = k.fma_n(first, high, v);
    let v = k.fma_n(n, unit, v);
    log_ends(k, x, v)
}

pub(super) fn log2(k: &mut K<'_, '_, '_, '_>, x: Value) -> Value {
    based(k, x, (1.442_871_093_8, -1.760_528_539_3e-4), (1.0, 0.0))
}

pub(super) fn log10(k: &mut K<'_, '_, '_, '_>, x: Value) -> Value {
    based(
        k,
        x,
        (4.343_261_718_8e-1, -3.168_997_136_5e-5),
        (3.010_292_053_2e-1, 7.903_415_166_8e-7),
    )
}

/// `log(u) + (x - (u - 1)) / u` with `u = 1 + x` as rounded.
pub(super) fn log1p(k: &mut K<'_, '_, '_, '_>, x: Value) -> Value {
    let u = k.plus(x, 1.0);
    let back = k.plus(u, -1.0);
    let lost = k.sub(x, back);
    let c = k.div(lost, u);
    let l = log(k, u);
    let v = k.add(l, c);
    // Where the sum lost nothing that counts: of large numbers, and at the ends.
    let plain = k.gt_n(x, 1e9);
    let end = k.eq_n(u, 0.0);
    let plain = k.or(plain, end);
    let v = k.sel(plain, l, v);
    let small = k.eq_n(u, 1.0);
    k.sel(small, x, v)
}

/// `(e - 1 + (e - 1) / e) / 2`; of large numbers `(e^(x/2))^2 / 2`.
pub(super) fn sinh(k: &mut K<'_, '_, '_, '_>, x: Value) -> Value {
    let a = k.abs(x);
    let t = expm1(k, a);
    let e = k.plus(t, 1.0);
    let q = k.div(t, e);
    let v = k.add(t, q);
    let v = k.times(v, 0.5);
    let v = large(k, a, v);
    let v = k.with_sign(v, x);
    let nan = k.nan(x);
    k.sel(nan, x, v)
}

fn large(k: &mut K<'_, '_, '_, '_>, a: Value, v: Value) -> Value {
    let half = k.times(a, 0.5);
    let w = exp(k, half);
    let h = k.times(w, 0.5);
    let big = k.mul(h, w);
    let is = k.gt_n(a, 9.0);
    k.sel(is, big, v)
}

pub(super) fn cosh(k: &mut K<'_, '_, '_, '_>, x: Value) -> Value {
    let a = k.abs(x);
    let e = exp(k, a);
    let half = k.n(0.5);
    let q = k.div(half, e);
    let v = k.fma(e, half, q);
    large(k, a, v)
}

/// `t / (t + 2)` with `t = e^(2x) - 1`.
pub(super) fn tanh(k: &mut K<'_, '_, '_, '_>, x: Value) -> Value {
    let a = k.abs(x);
    let two = k.add(a, a);
    let t = expm1(k, two);
    let d = k.plus(t, 2.0);
    let v = k.div(t, d);
    let is = k.gt_n(a, 10.0);
    let v = k.sel_n(is, 1.0, v);
    let v = k.with_sign(v, x);
    let nan = k.nan(x);
    k.sel(nan, x, v)
}

/// `log1p(a + a^2 / (1 + sqrt(a^2 + 1)))`; of large numbers `log a + log 2`.
pub(super) fn asinh(k: &mut K<'_, '_, '_, '_>, x: Value) -> Value {
    let a = k.abs(x);
    let square = k.mul(a, a);
    let root = k.plus(square, 1.0);
    let root = k.sqrt(root);
    let d = k.plus(root, 1.0);
    let q = k.div(square, d);
    let arg = k.add(a, q);
    let v = log1p(k, arg);
    let l = log(k, a);
    let l = k.plus(l, LN_2);
    let is = k.gt_n(a, 1e6);
    let v = k.sel(is, l, v);
    let v = k.with_sign(v, x);
    let nan = k.nan(x);
    k.sel(nan, x, v)
}

/// `log1p(t + sqrt(2t + t^2))` with `t = x - 1`; of large numbers `log x + log 2`.
pub(super) fn acosh(k: &mut K<'_, '_, '_, '_>, x: Value) -> Value {
    let t = k.plus(x, -1.0);
    let two = k.add(t, t);
    let sum = k.fma(t, t, two);
    let root = k.sqrt(sum);
    let arg = k.add(t, root);
    let v = log1p(k, arg);
    let l = log(k, x);
    let l = k.plus(l, LN_2);
    let is = k.gt_n(x, 1e6);
    let v = k.sel(is, l, v);
    let below = k.lt_n(x, 1.0);
    k.sel_n(below, f64::NAN, v)
}

/// `log1p(2a / (1 - a)) / 2`.
pub(super) fn atanh(k: &mut K<'_, '_, '_, '_>, x: Value) -> Value {
    let a = k.abs(x);
    let one = k.n(1.0);
    let d = k.sub(one, a);
    let two = k.add(a, a);
    let q = k.div(two, d);
    let v = log1p(k, q);
    let v = k.times(v, 0.5);
    let over = k.gt_n(a, 1.0);
    let v = k.with_sign(v, x);
    let v = k.sel_n(over, f64::NAN, v);
    let nan = k.nan(x);
    k.sel(nan, x, v)
}
