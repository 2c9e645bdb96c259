//! The error function and the gamma function.

use super::exponential::{exp, log};
use super::kit::Kit;
use super::power::pow;
use super::trigonometric::sinpi;
use gantry_codegen::ir::Value;
use std::f64::consts::PI;

type K<'k, 'a, 'm, 'f> = Kit<'k, 'a, 'm, 'f>;

/// Below 1: `x * T(x^2)`.
fn near(k: &mut K<'_, '_, '_, '_>, x: Value) -> Value {
    let z = k.mul(x, x);
    let p = k.poly(
        z,
        &[
            7.853_861_353_153_693e-5,
            -8.010_193_625_184_903e-4,
            5.188_327_685_732_524e-3,
            -2.685_381_193_529_856e-2,
            1.128_358_514_861_418e-1,
            -3.761_262_582_423_3e-1,
            1.128_379_165_726_71,
        ],
    );
    k.mul(p, x)
}

/// From 1 on: `e^(-a^2) / a * P(1 / a^2)`, the square in two parts.
fn far(k: &mut K<'_, '_, '_, '_>, a: Value) -> Value {
    let square = k.mul(a, a);
    let minus = k.neg(square);
    let low = k.fma(a, a, minus);
    let e = exp(k, minus);
    let other = k.neg(low);
    let e = k.fma(e, other, e);
    let one = k.n(1.0);
    let q = k.div(one, a);
    let y = k.mul(q, q);
    let first = k.poly(
        y,
        &[
            2.326_819_970_068_386e-2,
            -1.387_039_388_740_657e-1,
            3.687_424_674_597_105e-1,
            -5.824_733_027_278_666e-1,
            6.210_004_621_745_983e-1,
            -4.944_515_323_274_145e-1,
            3.404_879_937_665_872e-1,
            -2.741_127_028_184_656e-1,
            5.638_259_427_386_472e-1,
        ],
    );
    let second = k.poly(
        y,
        &[
            -1.047_766_399_936_249e1,
            1.297_719_955_372_516e1,
            -7.495_518_717_768_503,
            2.921_019_019_210_786,
            -1.015_265_279_202_7,
            4.218_463_358_204_948e-1,
            -2.820_767_439_740_514e-1,
            5.641_895_067_754_075e-1,
        ],
    );
    let low = k.lt_n(a, 2.0);
    let p = k.sel(low, first, second);
    let v = k.mul(e, q);
    let v = k.mul(v, p);
    let gone = k.gt_n(a, 11.0);
    k.sel_n(gone, 0.0, v)
}

pub(super) fn erf(k: &mut K<'_, '_, '_, '_>, x: Value) -> Value {
    let a = k.abs(x);
    let small = near(k, x);
    let rest = far(k, a);
    let one = k.n(1.0);
    let v = k.sub(one, rest);
    let v = k.with_sign(v, x);
    let large = k.gt_n(a, 1.0);
    let v = k.sel(large, v, small);
    let nan = k.nan(x);
    k.sel(nan, x, v)
}

pub(super) fn erfc(k: &mut K<'_, '_, '_, '_>, x: Value) -> Value {
    let a = k.abs(x);
    let small = near(k, x);
    let one = k.n(1.0);
    let small = k.sub(one, small);
    let v = far(k, a);
    let two = k.n(2.0);
    let other = k.sub(two, v);
    let minus = k.minus(x);
    let v = k.sel(minus, other, v);
    let large = k.gt_n(a, 1.0);
    let v = k.sel(large, v, small);
    let nan = k.nan(x);
    k.sel(nan, x, v)
}

/// Moved up by 8, and the product of what was passed.
fn moved(k: &mut K<'_, '_, '_, '_>, x: Value) -> (Value, Value) {
    let mut product = x;
    for n in 1..8 {
        let f = k.plus(x, f64::from(n));
        product = k.mul(product, f);
    }
    let low = k.lt_n(x, 8.0);
    let up = k.plus(x, 8.0);
    let one = k.n(1.0);
    (k.sel(low, up, x), k.sel(low, product, one))
}

/// From a half on, by Stirling: `sqrt(2 pi) * (z^(z/2 - 1/4))^2 * e^-z * (1 + 1 / 12z + ...)`.
fn upper(k: &mut K<'_, '_, '_, '_>, x: Value) -> Value {
    let (z, product) = moved(k, x);
    let half = k.times(z, 0.5);
    let power = k.plus(half, -0.25);
    let p = pow(k, z, power);
    let minus = k.neg(z);
    let e = exp(k, minus);
    let one = k.n(1.0);
    let q = k.div(one, z);
    let s = k.poly(q, &[-139.0 / 51840.0, 1.0 / 288.0, 1.0 / 12.0, 1.0]);
    let v = k.mul(p, e);
    let v = k.mul(v, p);
    let v = k.mul(v, s);
    let v = k.times(v, 2.506_628_274_631_000_7);
    let v = k.div(v, product);
    let over = k.gt_n(x, 35.05);
    k.sel_n(over, f64::INFINITY, v)
}

/// Below a half, `pi / (sin(pi x) * gamma(1 - x))`.
pub(super) fn tgamma(k: &mut K<'_, '_, '_, '_>, x: Value) -> Value {
    let low = k.lt_n(x, 0.5);
    let one = k.n(1.0);
    let other = k.sub(one, x);
    let arg = k.sel(low, other, x);
    let g = upper(k, arg);
    let s = sinpi(k, x);
    let pi = k.n(PI);
    let q = k.div(pi, s);
    let turned = k.div(q, g);
    let v = k.sel(low, turned, g);
    // A zero gives an infinity of its sign; whole numbers below give none.
    let zero = k.eq_n(x, 0.0);
    let infinity = k.div(one, x);
    let floor = k.floor(x);
    let whole = k.eq(floor, x);
    let below = k.lt_n(x, 0.0);
    let bad = k.and(whole, below);
    let v = k.sel_n(bad, f64::NAN, v);
    let v = k.sel(zero, infinity, v);
    let nan = k.nan(x);
    k.sel(nan, x, v)
}

/// The logarithm of the gamma function's magnitude, and its sign.
pub(super) fn lgamma(k: &mut K<'_, '_, '_, '_>, x: Value) -> (Value, Value) {
    let low = k.lt_n(x, 0.5);
    let one = k.n(1.0);
    let other = k.sub(one, x);
    let arg = k.sel(low, other, x);
    // Below 8 that of the gamma function itself; above by Stirling.
    let g = upper(k, arg);
    let near = log(k, g);
    let z = arg;
    let l = log(k, z);
    let less = k.plus(z, -0.5);
    let minus = k.neg(z);
    let v = k.fma(less, l, minus);
    let v = k.plus(v, 0.918_938_533_204_672_7);
    let q = k.div(one, z);
    let square = k.mul(q, q);
    let s = k.poly(square, &[1.0 / 1260.0, -1.0 / 360.0, 1.0 / 12.0]);
    let v = k.fma(s, q, v);
    let small = k.lt_n(arg, 8.0);
    let v = k.sel(small, near, v);
    let s = sinpi(k, x);
    let magnitude = k.abs(s);
    let pi = k.n(PI);
    let ratio = k.div(pi, magnitude);
    let ratio = log(k, ratio);
    let turned = k.sub(ratio, v);
    let v = k.sel(low, turned, v);
    let end = k.abs(x);
    let endless = k.eq_n(end, f64::INFINITY);
    let v = k.sel_n(endless, f64::INFINITY, v);
    let nan = k.nan(x);
    let v = k.sel(nan, x, v);
    let (plus, minus) = (k.i(1), k.i(-1));
    let below = k.lt_n(x, 0.0);
    let down = k.lt_n(s, 0.0);
    let negative = k.and(below, down);
    (v, k.sel(negative, minus, plus))
}
