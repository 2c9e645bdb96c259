//! Sines and their like, and their inverses.

use super::kit::Kit;
use gantry_codegen::ir::Value;
use std::f64::consts::{FRAC_1_PI, FRAC_2_PI, FRAC_PI_2, FRAC_PI_4, PI};

type K<'k, 'a, 'm, 'f> = Kit<'k, 'a, 'm, 'f>;

/// Half of pi in three parts.
const HALF_PI: [f64; 3] = [
    1.570_796_370_506_286_6,
    -4.371_138_828_673_793e-8,
    -1.715_124_510_005_152_5e-15,
];

/// Sine and cosine of what is left of a multiple of half of pi.
fn turned(k: &mut K<'_, '_, '_, '_>, r: Value, n: Value) -> (Value, Value) {
    let z = k.mul(r, r);
    let s = k.poly(
        z,
        &[-1.951_529_589_1e-4, 8.332_160_873_6e-3, -1.666_665_461_1e-1],
    );
    let cube = k.mul(z, r);
    let s = k.fma(s, cube, r);
    let c = k.poly(
        z,
        &[
            2.443_315_711_809_948e-5,
            -1.388_731_625_493_765e-3,
            4.166_664_568_298_827e-2,
            -0.5,
            1.0,
        ],
    );
    // The number of quarters, modulo 4.
    let quarter = k.times(n, 0.25);
    let whole = k.floor(quarter);
    let n = k.fma_n(whole, -4.0, n);
    let n = k.int_of(n);
    let odd = k.has(n, 1);
    let (sine, cosine) = (k.sel(odd, c, s), k.sel(odd, s, c));
    let minus = k.has(n, 2);
    let other = k.neg(sine);
    let sine = k.sel(minus, other, sine);
    let one = k.i(1);
    let next = k.e.b.ins().iadd(n, one);
    let minus = k.has(next, 2);
    let other = k.neg(cosine);
    (sine, k.sel(minus, other, cosine))
}

/// By Cody and Waite, with half of pi in 72 bits: the error grows with the argument, and beyond 2^17 it is more than OpenCL allows.
pub(super) fn sin_cos(k: &mut K<'_, '_, '_, '_>, x: Value) -> (Value, Value) {
    let n = k.times(x, FRAC_2_PI);
    let n = k.rint(n);
    let mut r = x;
    for part in HALF_PI {
        r = k.fma_n(n, -part, r);
    }
    let (s, c) = turned(k, r, n);
    // A zero is itself.
    let zero = k.eq_n(x, 0.0);
    (k.sel(zero, x, s), c)
}

pub(super) fn sin(k: &mut K<'_, '_, '_, '_>, x: Value) -> Value {
    sin_cos(k, x).0
}

pub(super) fn cos(k: &mut K<'_, '_, '_, '_>, x: Value) -> Value {
    sin_cos(k, x).1
}

pub(super) fn tan(k: &mut K<'_, '_, '_, '_>, x: Value) -> Value {
    let (s, c) = sin_cos(k, x);
    k.div(s, c)
}

/// Quarters are exact here.
fn in_turns(k: &mut K<'_, '_, '_, '_>, x: Value) -> (Value, Value) {
    let two = k.add(x, x);
    let n = k.rint(two);
    let r = k.fma_n(n, -0.5, x);
    let high = k.times(r, PI);
    let (s, c) = turned(k, high, n);
    let zero = k.eq_n(x, 0.0);
    (k.sel(zero, x, s), c)
}

pub(super) fn sinpi(k: &mut K<'_, '_, '_, '_>, x: Value) -> Value {
    in_turns(k, x).0
}

pub(super) fn cospi(k: &mut K<'_, '_, '_, '_>, x: Value) -> Value {
    in_turns(k, x).1
}

pub(super) fn tanpi(k: &mut K<'_, '_, '_, '_>, x: Value) -> Value {
    let (s, c) = in_turns(k, x);
    k.div(s, c)
}

pub(super) fn over_pi(k: &mut K<'_, '_, '_, '_>, v: Value) -> Value {
    k.times(v, FRAC_1_PI)
}

/// The arcsine of a magnitude up to a half; of a larger one that of the root of half of what it lacks. And whether it was larger.
fn arc(k: &mut K<'_, '_, '_, '_>, a: Value) -> (Value, Value) {
    let large = k.gt_n(a, 0.5);
    let half = k.n(0.5);
    let minus = k.n(-0.5);
    let lack = k.fma(a, minus, half);
    let square = k.mul(a, a);
    let z = k.sel(large, lack, square);
    let root = k.sqrt(lack);
    let s = k.sel(large, root, a);
    let p = k.poly(
        z,
        &[
            4.216_319_904_8e-2,
            2.418_131_104_9e-2,
            4.547_002_599_8e-2,
            7.495_300_268_6e-2,
            1.666_675_242_2e-1,
        ],
    );
    let cube = k.mul(z, s);
    (k.fma(p, cube, s), large)
}

pub(super) fn asin(k: &mut K<'_, '_, '_, '_>, x: Value) -> Value {
    let a = k.abs(x);
    let (p, large) = arc(k, a);
    // Half of pi in two parts.
    let low = k.n(-HALF_PI[1]);
    let twice = k.fma_n(p, 2.0, low);
    let high = k.n(HALF_PI[0]);
    let far = k.sub(high, twice);
    let v = k.sel(large, far, p);
    let v = k.with_sign(v, x);
    let over = k.gt_n(a, 1.0);
    let v = k.sel_n(over, f64::NAN, v);
    let nan = k.nan(x);
    k.sel(nan, x, v)
}

pub(super) fn acos(k: &mut K<'_, '_, '_, '_>, x: Value) -> Value {
    let a = k.abs(x);
    let (p, large) = arc(k, a);
    let twice = k.add(p, p);
    let pi = k.n(2.0 * HALF_PI[0]);
    let rest = k.plus(twice, -2.0 * HALF_PI[1]);
    let other = k.sub(pi, rest);
    let minus = k.minus(x);
    let far = k.sel(minus, other, twice);
    let signed = k.with_sign(p, x);
    let low = k.plus(signed, -HALF_PI[1]);
    let high = k.n(HALF_PI[0]);
    let near = k.sub(high, low);
    let v = k.sel(large, far, near);
    let over = k.gt_n(a, 1.0);
    let v = k.sel_n(over, f64::NAN, v);
    let nan = k.nan(x);
    k.sel(nan, x, v)
}

/// The arctangent of a magnitude: around 0, 1 and infinity.
fn arctangent(k: &mut K<'_, '_, '_, '_>, a: Value) -> Value {
    let far = k.gt_n(a, 2.414_213_562_373_095);
    let middle = k.gt_n(a, 0.414_213_562_373_095);
    let minus = k.n(-1.0);
    let inverse = k.div(minus, a);
    let (less, more) = (k.plus(a, -1.0), k.plus(a, 1.0));
    let q = k.div(less, more);
    let t = k.sel(middle, q, a);
    let t = k.sel(far, inverse, t);
    let zero = k.n(0.0);
    let base = k.sel_n(middle, FRAC_PI_4, zero);
    let base = k.sel_n(far, FRAC_PI_2, base);
    let z = k.mul(t, t);
    let p = k.poly(
        z,
        &[
            8.053_744_495_38e-2,
            -1.387_768_560_32e-1,
            1.997_771_064_78e-1,
            -3.333_294_915_39e-1,
        ],
    );
    let cube = k.mul(z, t);
    let v = k.fma(p, cube, t);
    k.add(base, v)
}

pub(super) fn atan(k: &mut K<'_, '_, '_, '_>, x: Value) -> Value {
    let a = k.abs(x);
    let v = arctangent(k, a);
    let v = k.with_sign(v, x);
    let nan = k.nan(x);
    k.sel(nan, x, v)
}

pub(super) fn atan2(k: &mut K<'_, '_, '_, '_>, y: Value, x: Value) -> Value {
    let (ay, ax) = (k.abs(y), k.abs(x));
    let (low, high) = (k.min(ay, ax), k.max(ay, ax));
    let q = k.div(low, high);
    // Both zero, both infinite.
    let same = k.eq(low, high);
    let q = k.sel_n(same, 1.0, q);
    let zero = k.eq_n(high, 0.0);
    let q = k.sel_n(zero, 0.0, q);
    let v = arctangent(k, q);
    let steep = k.lt(ax, ay);
    let right = k.n(FRAC_PI_2);
    let other = k.sub(right, v);
    let v = k.sel(steep, other, v);
    let minus = k.minus(x);
    let pi = k.n(PI);
    let other = k.sub(pi, v);
    let v = k.sel(minus, other, v);
    let v = k.with_sign(v, y);
    let (first, second) = (k.nan(y), k.nan(x));
    let nan = k.or(first, second);
    k.sel_n(nan, f64::NAN, v)
}
