//! Exponentials, logarithms, and hyperbolic functions.

use super::kit::{Kit, PerType, Poly};
use crate::ir::{FloatCC, Value};
use std::f64::consts::{LN_2, LN_10, LOG2_10, LOG2_E, LOG10_2, LOG10_E};

type K<'k, 'f> = Kit<'k, 'f>;

/// `(e^r - 1 - r) / r^2` for `|r|` up to `ln(2) / 2`.
const EXP: Poly = PerType {
    single: &[
        1.987_569_15e-4,
        1.398_199_950_7e-3,
        8.333_451_907_3e-3,
        4.166_579_589_4e-2,
        1.666_666_545_9e-1,
        5.000_000_120_1e-1,
    ],
    double: &[
        2.510_063_446_187_849_7e-8,
        2.762_041_219_449_885e-7,
        2.755_726_793_523_192_6e-6,
        2.480_152_061_356_622_3e-5,
        1.984_126_986_339_221_4e-4,
        0.001_388_888_891_765_401_6,
        0.008_333_333_333_329_994,
        0.041_666_666_666_623_24,
        0.166_666_666_666_666_69,
        0.500_000_000_000_000_1,
    ],
};

/// `(2 atanh(s) - 2s) / s^3` by `s^2`, for fractions around 1.
const LOG: Poly = PerType {
    single: &[
        0.242_790_788_41,
        0.284_987_866_88,
        0.400_009_721_52,
        0.666_666_626_93,
    ],
    double: &[
        0.146_170_375_487_916_5,
        0.153_316_740_301_678_6,
        0.181_828_905_566_956_02,
        0.222_222_111_151_441_6,
        0.285_714_286_260_958_9,
        0.399_999_999_998_992_4,
        0.666_666_666_666_667,
    ],
};

/// `ln 2` in two parts.
const LN2: PerType<[f64; 2]> = PerType {
    single: [0.693_359_375, -2.121_944_400_546_905_8e-4],
    double: [LN_2, 2.319_046_813_846_299_6e-17],
};

/// `log10 2` in two parts.
const LOG10_OF_2: PerType<[f64; 2]> = PerType {
    single: [3.007_812_5e-1, 2.487_456_639_811_952e-4],
    double: [LOG10_2, -2.803_728_127_785_17e-18],
};

/// `log2 e` in two parts.
pub(super) const LOG2E: PerType<[f64; 2]> = PerType {
    single: [1.442_695_021_629_333_5, 1.925_963_035_450_084_5e-8],
    double: [LOG2_E, 2.035_527_374_093_103_3e-17],
};

/// `log10 e` in two parts.
const LOG10E: PerType<[f64; 2]> = PerType {
    single: [0.434_294_492_006_301_9, -1.010_305_042_727_291_4e-8],
    double: [LOG10_E, 1.098_319_650_216_765e-17],
};

/// Returns `e^r - 1` for small `r`.
fn less_one(k: &mut K<'_, '_>, r: Value) -> Value {
    let p = k.series(r, EXP);
    let square = k.mul(r, r);
    k.fma(p, square, r)
}

/// Returns `e^r` for small `r`.
pub(super) fn small(k: &mut K<'_, '_>, r: Value) -> Value {
    let v = less_one(k, r);
    k.plus(v, 1.0)
}

/// Returns `e^r * 2^n`, or `x` if that is a NaN.
fn scaled(k: &mut K<'_, '_>, x: Value, r: Value, n: Value) -> Value {
    let v = small(k, r);
    let v = k.scale(v, n);
    let nan = k.nan(x);
    k.sel(nan, x, v)
}

/// Splits `x = n * ln 2 + r`, with `ln 2` in two parts.
pub(super) fn reduced(k: &mut K<'_, '_>, x: Value) -> (Value, Value) {
    let n = k.times(x, LOG2_E);
    let (n, whole) = k.nearest(n);
    let [high, low] = k.by(LN2);
    let r = k.fma_n(n, -high, x);
    (k.fma_n(n, -low, r), whole)
}

/// Clamps an exponent to bounds at which the powers of a base are zero and infinity.
fn bounded(k: &mut K<'_, '_>, x: Value, base: f64) -> Value {
    let (low, high) = k.by(PerType {
        single: (-152.0, 130.0),
        double: (-1080.0, 1026.0),
    });
    k.clamp(x, low / base, high / base)
}

pub(super) fn exp(k: &mut K<'_, '_>, x: Value) -> Value {
    let c = bounded(k, x, LOG2_E);
    let (r, n) = reduced(k, c);
    scaled(k, x, r, n)
}

/// Uses the math unit for singles, as Intel's compiler does.
pub(super) fn exp2(k: &mut K<'_, '_>, x: Value) -> Value {
    if !k.wide {
        return k.b.ins().fexp2(x);
    }
    let c = bounded(k, x, 1.0);
    let (n, whole) = k.nearest(c);
    let r = k.sub(c, n);
    let r = k.times(r, LN_2);
    scaled(k, x, r, whole)
}

pub(super) fn exp10(k: &mut K<'_, '_>, x: Value) -> Value {
    let c = bounded(k, x, LOG2_10);
    let n = k.times(c, LOG2_10);
    let (n, whole) = k.nearest(n);
    let [high, low] = k.by(LOG10_OF_2);
    let r = k.fma_n(n, -high, c);
    let r = k.fma_n(n, -low, r);
    let r = k.times(r, LN_10);
    scaled(k, x, r, whole)
}

/// Returns a quarter of `e^x - 1`, as `(e^r - 1) * h + (h - 1/4)` with `h = 2^(n-2)`. It is finite
/// up to the overflow of half of `e^x - 1`.
fn quarter(k: &mut K<'_, '_>, x: Value) -> Value {
    let (r, n) = reduced(k, x);
    let q = less_one(k, r);
    let two = k.i(2);
    let n = k.b.ins().isub(n, two);
    let h = k.power(n);
    let rest = k.plus(h, -0.25);
    k.fma(q, h, rest)
}

pub(super) fn expm1(k: &mut K<'_, '_>, x: Value) -> Value {
    let (low, high) = k.by(PerType {
        single: (-18.0, 89.0),
        double: (-38.0, 710.0),
    });
    let c = k.clamp(x, low, high);
    let v = quarter(k, c);
    let v = k.times(v, 4.0);
    same_where_small(k, x, v, 60)
}

/// Returns small numbers, where the derivative is 1, and NaNs unchanged.
fn same_where_small(k: &mut K<'_, '_>, x: Value, v: Value, bits: i32) -> Value {
    let (a, least) = (k.abs(x), k.n(2f64.powi(-bits)));
    let fine = k.b.ins().fcmp(FloatCC::GreaterThanOrEqual, a, least);
    k.sel(fine, v, x)
}

/// Splits `log(1 + f)` as `f - f^2/2 + s * (f^2/2 + R)` with `s = f / (2 + f)`. Returns the last
/// summand, `f^2/2`, and `s`.
fn parts(k: &mut K<'_, '_>, f: Value) -> (Value, Value, Value) {
    let d = k.plus(f, 2.0);
    let s = k.div(f, d);
    let z = k.mul(s, s);
    let r = k.series(z, LOG);
    let half = k.times(f, 0.5);
    let half = k.mul(half, f);
    let sum = k.fma(r, z, half);
    (k.mul(s, sum), half, s)
}

/// Handles zeros, negative numbers, infinities and NaNs.
pub(super) fn log_ends(k: &mut K<'_, '_>, x: Value, v: Value) -> Value {
    let top = k.eq_n(x, f64::INFINITY);
    let v = k.sel(top, x, v);
    let zero = k.eq_n(x, 0.0);
    let v = k.sel_n(zero, f64::NEG_INFINITY, v);
    let none = k.n(0.0);
    let some = k.b.ins().fcmp(FloatCC::GreaterThanOrEqual, x, none);
    let nan = k.n(f64::NAN);
    k.sel(some, v, nan)
}

/// Returns `n * ln 2 + log(1 + f + more)` for a small `more`, and `n` as a float.
pub(super) fn natural(
    k: &mut K<'_, '_>,
    (f, n): (Value, Value),
    more: Option<Value>,
) -> (Value, Value) {
    let n = k.of_int(n);
    let (part, half, s) = parts(k, f);
    let [high, low] = k.by(LN2);
    let low = k.fma_n(n, low, part);
    let low = match more {
        // Approximates the derivative: 1 / (1 + f) = (1 - s) / (1 + s).
        Some(c) => {
            let less = k.plus(s, -1.0);
            let t = k.add(s, s);
            let one = k.n(1.0);
            let d = k.fma(t, less, one);
            k.fma(c, d, low)
        }
        None => low,
    };
    let low = k.sub(low, half);
    let sum = k.add(low, f);
    (k.fma_n(n, high, sum), n)
}

pub(super) fn log(k: &mut K<'_, '_>, x: Value) -> Value {
    let parts = k.fraction(x);
    let v = natural(k, parts, None).0;
    log_ends(k, x, v)
}

/// Returns a logarithm to another base: the natural one in two parts, times a factor in two parts.
fn based(k: &mut K<'_, '_>, x: Value, [high, low]: [f64; 2], [unit, rest]: [f64; 2]) -> Value {
    let (f, n) = k.fraction(x);
    let n = k.of_int(n);
    let (part, half, _) = parts(k, f);
    let first = k.sub(f, half);
    let second = k.sub(f, first);
    let second = k.sub(second, half);
    let second = k.add(second, part);
    let v = k.times(first, low);
    let v = k.fma_n(second, high, v);
    let v = if rest == 0.0 { v } else { k.fma_n(n, rest, v) };
    let v = k.fma_n(first, high, v);
    let v = if unit == 1.0 {
        k.add(n, v)
    } else {
        k.fma_n(n, unit, v)
    };
    log_ends(k, x, v)
}

pub(super) fn log2(k: &mut K<'_, '_>, x: Value) -> Value {
    let factor = k.by(LOG2E);
    based(k, x, factor, [1.0, 0.0])
}

pub(super) fn log10(k: &mut K<'_, '_>, x: Value) -> Value {
    let (factor, unit) = (k.by(LOG10E), k.by(LOG10_OF_2));
    based(k, x, factor, unit)
}

/// Returns `log(u) + c / u`, where `u` is the rounded `1 + x`, and `c` its rounding error.
pub(super) fn log1p(k: &mut K<'_, '_>, x: Value) -> Value {
    let one = k.n(1.0);
    let (u, c) = k.two_sum(one, x);
    let (f, n) = k.fraction(u);
    // Scaled as the fraction is; zero for large numbers.
    let (zero, most) = (k.i(0), k.i(60));
    let by = k.b.ins().smin(n, most);
    let by = k.b.ins().isub(zero, by);
    let by = k.power(by);
    let c = k.mul(c, by);
    let (v, _) = natural(k, (f, n), Some(c));
    let v = log_ends(k, u, v);
    let small = k.eq_n(u, 1.0);
    k.sel(small, x, v)
}

/// Returns half of `e^a - 1` and of `1 - e^-a` for positive numbers, up to just above the overflow
/// of the first.
fn halves(k: &mut K<'_, '_>, a: Value) -> (Value, Value) {
    let high = k.by(PerType {
        single: 89.4161,
        double: 710.4759,
    });
    let high = k.n(high);
    let c = k.min(a, high);
    let t = quarter(k, c);
    let twice = k.add(t, t);
    // For large numbers, t / (4t + 1) is 1/4.
    let most = k.n(2f64.powi(56));
    let t = k.min(t, most);
    let (four, one) = (k.n(4.0), k.n(1.0));
    let d = k.fma(t, four, one);
    let t = k.add(t, t);
    (twice, k.div(t, d))
}

/// Returns `((e^a - 1) + (1 - e^-a)) / 2`.
pub(super) fn sinh(k: &mut K<'_, '_>, x: Value) -> Value {
    let a = k.abs(x);
    let (up, down) = halves(k, a);
    let v = k.add(up, down);
    let v = k.with_sign(v, x);
    same_where_small(k, x, v, 28)
}

/// Returns `1 + ((e^a - 1) - (1 - e^-a)) / 2`.
pub(super) fn cosh(k: &mut K<'_, '_>, x: Value) -> Value {
    let a = k.abs(x);
    let (up, down) = halves(k, a);
    let v = k.sub(up, down);
    let v = k.plus(v, 1.0);
    let nan = k.nan(x);
    k.sel(nan, x, v)
}

/// Returns `t / (t + 2)` with `t = e^(2x) - 1`.
pub(super) fn tanh(k: &mut K<'_, '_>, x: Value) -> Value {
    let a = k.abs(x);
    let most = k.n(22.0);
    let a = k.min(a, most);
    let two = k.add(a, a);
    let t = quarter(k, two);
    let d = k.plus(t, 0.5);
    let v = k.div(t, d);
    let v = k.with_sign(v, x);
    same_where_small(k, x, v, 28)
}

/// Bound above which `log1p` is replaced by `log a + log 2`, since the root equals `a`.
const LARGE: f64 = (1u64 << 56) as f64;

/// Returns `log1p(a + a^2 / (1 + sqrt(a^2 + 1)))`.
pub(super) fn asinh(k: &mut K<'_, '_>, x: Value) -> Value {
    let a = k.abs(x);
    let most = k.n(LARGE);
    let c = k.min(a, most);
    let square = k.mul(c, c);
    let root = k.plus(square, 1.0);
    let root = k.sqrt(root);
    let d = k.plus(root, 1.0);
    let q = k.div(square, d);
    let arg = k.add(c, q);
    let v = of_large(k, a, arg);
    let v = k.with_sign(v, x);
    let nan = k.nan(x);
    k.sel(nan, x, v)
}

/// Returns `log1p(arg)`, or `log a + log 2` for a large `a`.
fn of_large(k: &mut K<'_, '_>, a: Value, arg: Value) -> Value {
    let is = k.gt_n(a, LARGE);
    let arg = k.sel(is, a, arg);
    let v = log1p(k, arg);
    let l = k.plus(v, LN_2);
    k.sel(is, l, v)
}

/// Returns `log1p(t + sqrt(2t + t^2))` with `t = x - 1`.
pub(super) fn acosh(k: &mut K<'_, '_>, x: Value) -> Value {
    let t = k.plus(x, -1.0);
    let c = k.clamp(t, 0.0, LARGE);
    let two = k.add(c, c);
    let sum = k.fma(c, c, two);
    let root = k.sqrt(sum);
    let arg = k.add(c, root);
    let v = of_large(k, x, arg);
    let one = k.n(1.0);
    let fits = k.b.ins().fcmp(FloatCC::GreaterThanOrEqual, x, one);
    let nan = k.n(f64::NAN);
    k.sel(fits, v, nan)
}

/// Returns `log1p(2a / (1 - a)) / 2`.
pub(super) fn atanh(k: &mut K<'_, '_>, x: Value) -> Value {
    let a = k.abs(x);
    let one = k.n(1.0);
    let d = k.sub(one, a);
    let two = k.add(a, a);
    let q = k.div(two, d);
    let v = log1p(k, q);
    let v = k.times(v, 0.5);
    let end = k.eq_n(a, 1.0);
    let v = k.sel_n(end, f64::INFINITY, v);
    let v = k.with_sign(v, x);
    let over = k.gt_n(a, 1.0);
    let v = k.sel_n(over, f64::NAN, v);
    let nan = k.nan(x);
    k.sel(nan, x, v)
}
