//! Trigonometric functions and their inverses.

use super::kit::{Kit, PerType, Poly};
use super::reduction;
use crate::ir::Value;
use std::f64::consts::{FRAC_2_PI, FRAC_PI_2, PI};

type K<'k, 'f> = Kit<'k, 'f>;

/// pi/2 in three parts.
pub(super) const HALF_PI: PerType<[f64; 3]> = PerType {
    single: [
        1.570_796_370_506_286_6,
        -4.371_138_828_673_793e-8,
        -1.715_124_510_005_881_9e-15,
    ],
    double: [
        FRAC_PI_2,
        6.123_233_995_736_766e-17,
        -1.497_384_904_859_169_8e-33,
    ],
};

/// `(sin r - r) / r^3` by `r^2`, up to pi/4.
const SIN: Poly = PerType {
    single: &[-1.951_529_589_1e-4, 8.332_160_873_6e-3, -1.666_665_461_1e-1],
    double: &[
        1.591_627_556_613_198_3e-10,
        -2.505_110_594_526_084_8e-8,
        2.755_731_597_746_006e-6,
        -1.984_126_983_651_581_5e-4,
        0.008_333_333_333_330_787,
        -0.166_666_666_666_666_66,
    ],
};

/// `(cos r - 1 + r^2 / 2) / r^4` by `r^2`.
const COS: Poly = PerType {
    single: &[
        2.443_315_711_809_948e-5,
        -1.388_731_625_493_765e-3,
        4.166_664_568_298_827e-2,
    ],
    double: &[
        -1.138_147_274_178_129_3e-11,
        2.087_613_006_576_344e-9,
        -2.755_731_719_347_384_3e-7,
        2.480_158_729_861_382_3e-5,
        -0.001_388_888_888_888_729_6,
        0.041_666_666_666_666_664,
    ],
};

/// `(asin s - s) / s^3` by `s^2`, up to 1/2.
const ASIN: Poly = PerType {
    single: &[
        4.216_319_904_8e-2,
        2.418_131_104_9e-2,
        4.547_002_599_8e-2,
        7.495_300_268_6e-2,
        1.666_675_242_2e-1,
    ],
    double: &[
        0.028_757_851_367_421_566,
        -0.014_851_887_071_247_204,
        0.017_400_879_442_694_02,
        0.005_457_506_718_640_358,
        0.010_322_814_350_185_78,
        0.011_479_177_415_184_906,
        0.013_971_212_973_552_933,
        0.017_352_392_720_869_973,
        0.022_372_172_942_149_89,
        0.030_381_944_138_531_247,
        0.044_642_857_146_355_43,
        0.074_999_999_999_984_33,
        0.166_666_666_666_666_69,
    ],
};

/// `(atan t - t) / t^3` by `t^2`, up to tan(pi/8).
const ATAN: Poly = PerType {
    single: &[
        -0.064_515_972_589_529_92,
        0.107_436_316_271_445_74,
        -0.142_639_463_579_123_4,
        0.199_995_402_169_375_34,
        -0.333_333_317_600_080_4,
    ],
    double: &[
        -0.019_174_543_572_021_332,
        0.039_229_744_536_612_23,
        -0.050_853_834_888_428_31,
        0.058_581_362_519_061_465,
        -0.066_645_099_898_180_45,
        0.076_921_830_873_420_26,
        -0.090_909_045_736_690_6,
        0.111_111_110_151_467_14,
        -0.142_857_142_846_651_8,
        0.199_999_999_999_955_13,
        -0.333_333_333_333_333_3,
    ],
};

/// Angle reduced modulo pi/2: the remainder in two parts, and the multiple modulo 4. The second
/// part is small or absent.
pub(super) struct ReducedAngle {
    pub r: Value,
    pub low: Option<Value>,
    pub n: Value,
}

/// Returns sine and cosine of a reduced angle.
fn turned(k: &mut K<'_, '_>, ReducedAngle { r, low, n }: ReducedAngle) -> (Value, Value) {
    let z = k.mul(r, r);
    let s = k.series(z, SIN);
    let cube = k.mul(z, r);
    let c = k.series(z, COS);
    let c = k.mul(c, z);
    let one = k.n(1.0);
    let (s, c) = match low {
        None => {
            let half = k.plus(c, -0.5);
            (k.fma(s, cube, r), k.fma(half, z, one))
        }
        Some(low) => {
            let s = k.fma(s, cube, low);
            // Rounding error of 1 - z/2, and the derivative.
            let minus = k.n(-0.5);
            let first = k.fma(z, minus, one);
            let lost = k.sub(one, first);
            let lost = k.fma(z, minus, lost);
            let rest = k.fnma(r, low, lost);
            let c = k.fma(c, z, rest);
            (k.add(s, r), k.add(c, first))
        }
    };
    let odd = k.has(n, 1);
    let (sine, cosine) = (k.sel(odd, c, s), k.sel(odd, s, c));
    let minus = k.has(n, 2);
    let sine = k.negate_if(minus, sine);
    let one = k.i(1);
    let next = k.b.ins().iadd(n, one);
    let minus = k.has(next, 2);
    (sine, k.negate_if(minus, cosine))
}

/// Reduces an angle by Cody and Waite, with pi/2 in three parts. If a channel has a large argument,
/// Payne-Hanek reduction is used.
fn reduced(k: &mut K<'_, '_>, x: Value) -> ReducedAngle {
    let t = k.times(x, FRAC_2_PI);
    let (t, n) = k.nearest(t);
    let [first, second, third] = k.by(HALF_PI);
    // Exact, as the differences of doubles below.
    let r = k.fma_n(t, -first, x);
    let (r, low) = if k.wide {
        let second = k.n(second);
        let (w, lost) = k.product(t, second);
        let v = k.sub(r, w);
        let low = k.sub(r, v);
        let low = k.sub(low, w);
        let low = k.sub(low, lost);
        (v, Some(k.fma_n(t, -third, low)))
    } else {
        let r = k.fma_n(t, -second, r);
        (k.fma_n(t, -third, r), None)
    };
    // Halves never exceed the limit.
    if k.half {
        return ReducedAngle { r, low, n };
    }
    let limit = k.by(reduction::LIMIT);
    let a = k.abs(x);
    let large = k.gt_n(a, limit);
    // Singles do not use the second part.
    let fast = [r, low.unwrap_or(r), n];
    let [r, second, n] = k.seldom(large, fast, |k| reduction::payne_hanek(k, x));
    let low = low.map(|_| second);
    ReducedAngle { r, low, n }
}

/// Returns sine and cosine. The sine of a zero is that zero.
pub(super) fn sin_cos(k: &mut K<'_, '_>, x: Value) -> (Value, Value) {
    let rest = reduced(k, x);
    let (s, c) = turned(k, rest);
    let zero = k.eq_n(x, 0.0);
    (k.sel(zero, x, s), c)
}

pub(super) fn tan(k: &mut K<'_, '_>, x: Value) -> Value {
    let (s, c) = sin_cos(k, x);
    let v = k.div(s, c);
    // Tiny arguments are returned unchanged, since the division would lose bits to underflow.
    let a = k.abs(x);
    let small = k.lt_n(a, 2f64.powi(-28));
    k.sel(small, x, v)
}

/// Returns sine and cosine of `pi x`. Results at quarters are exact. Sines of whole numbers are
/// zeros of the argument's sign, and cosines of odd halves are +0.
pub(super) fn in_turns(k: &mut K<'_, '_>, x: Value) -> (Value, Value) {
    // Remainder modulo 2.
    let half = k.times(x, 0.5);
    let even = k.b.ins().fnearest(half);
    let x1 = k.fma_n(even, -2.0, x);
    let two = k.add(x1, x1);
    let (t, n) = k.nearest(two);
    let q = k.fma_n(t, -0.5, x1);
    let high = k.times(q, PI);
    let low = if k.wide {
        let minus = k.neg(high);
        let low = k.fma_n(q, PI, minus);
        Some(k.fma_n(q, 1.224_646_799_147_353_2e-16, low))
    } else {
        None
    };
    let rest = ReducedAngle { r: high, low, n };
    let (s, c) = turned(k, rest);
    let zero = k.eq_n(s, 0.0);
    let nothing = k.times(x, 0.0);
    (k.sel(zero, nothing, s), k.plus(c, 0.0))
}

pub(super) fn tanpi(k: &mut K<'_, '_>, x: Value) -> Value {
    let (s, c) = in_turns(k, x);
    let v = k.div(s, c);
    let infinity = k.n(f64::INFINITY);
    let end = k.with_sign(infinity, s);
    let pole = k.eq_n(c, 0.0);
    let v = k.sel(pole, end, v);
    // Zeros take the sign of the quotient. Tiny values use the product instead: the cosine is 1,
    // and the division would lose bits to underflow.
    let a = k.abs(s);
    let small = k.lt_n(a, 2f64.powi(-28));
    let product = k.mul(s, c);
    k.sel(small, product, v)
}

/// Returns the arcsine of a magnitude up to 1/2, else that of `sqrt((1 - a) / 2)`. The second
/// result is set for larger magnitudes.
fn arc(k: &mut K<'_, '_>, a: Value) -> (Value, Value) {
    let large = k.gt_n(a, 0.5);
    let half = k.n(0.5);
    let minus = k.n(-0.5);
    let lack = k.fma(a, minus, half);
    let square = k.mul(a, a);
    let z = k.sel(large, lack, square);
    let root = k.sqrt(lack);
    let s = k.sel(large, root, a);
    let p = k.series(z, ASIN);
    let cube = k.mul(z, s);
    (k.fma(p, cube, s), large)
}

/// Returns a NaN for magnitudes above 1, and for NaNs.
fn up_to_one(k: &mut K<'_, '_>, a: Value, v: Value) -> Value {
    let fits = k.at_most(a, 1.0);
    let nan = k.n(f64::NAN);
    k.sel(fits, v, nan)
}

pub(super) fn asin(k: &mut K<'_, '_>, x: Value) -> Value {
    let a = k.abs(x);
    let (p, large) = arc(k, a);
    let [first, second, _] = k.by(HALF_PI);
    let low = k.n(-second);
    let twice = k.fma_n(p, 2.0, low);
    let high = k.n(first);
    let far = k.sub(high, twice);
    let v = k.sel(large, far, p);
    let v = k.with_sign(v, x);
    up_to_one(k, a, v)
}

pub(super) fn acos(k: &mut K<'_, '_>, x: Value) -> Value {
    let a = k.abs(x);
    let (p, large) = arc(k, a);
    let [first, second, _] = k.by(HALF_PI);
    let twice = k.add(p, p);
    let pi = k.n(2.0 * first);
    let rest = k.plus(twice, -2.0 * second);
    let other = k.sub(pi, rest);
    let minus = k.minus(x);
    let far = k.sel(minus, other, twice);
    let signed = k.with_sign(p, x);
    let low = k.plus(signed, -second);
    let high = k.n(first);
    let near = k.sub(high, low);
    let v = k.sel(large, far, near);
    up_to_one(k, a, v)
}

/// Returns the angle of a quotient from 0 to 1 whose divisor is from 2^-60 to 2^100. Below
/// tan(pi/8) by the series around 0, above by that around 1.
fn angle(k: &mut K<'_, '_>, low: Value, high: Value) -> Value {
    let far = {
        let edge = k.times(high, 0.414_213_562_373_095);
        k.lt(edge, low)
    };
    let (less, more) = (k.sub(low, high), k.add(low, high));
    let over = k.sel(far, less, low);
    let under = k.sel(far, more, high);
    let t = k.div(over, under);
    let z = k.mul(t, t);
    let p = k.series(z, ATAN);
    let cube = k.mul(z, t);
    let v = k.fma(p, cube, t);
    let [first, second, _] = k.by(HALF_PI);
    let zero = k.n(0.0);
    let rest = k.sel_n(far, 0.5 * second, zero);
    let base = k.sel_n(far, 0.5 * first, zero);
    let v = k.add(v, rest);
    k.add(base, v)
}

/// Subtracts an angle from `parts` times pi/2 where a predicate is set.
fn rest_of(k: &mut K<'_, '_>, c: Value, parts: f64, v: Value) -> Value {
    let [first, second, _] = k.by(HALF_PI);
    let lower = k.plus(v, -parts * second);
    let whole = k.n(parts * first);
    let other = k.sub(whole, lower);
    k.sel(c, other, v)
}

pub(super) fn atan(k: &mut K<'_, '_>, x: Value) -> Value {
    let a = k.abs(x);
    let (one, most) = (k.n(1.0), k.n(2f64.powi(64)));
    let (low, high) = (k.min(a, one), k.max(a, one));
    let high = k.min(high, most);
    let v = angle(k, low, high);
    let steep = k.gt_n(a, 1.0);
    let v = rest_of(k, steep, 1.0, v);
    let v = k.with_sign(v, x);
    let nan = k.nan(x);
    k.sel(nan, x, v)
}

/// Scales both by the exponent of the larger one.
pub(super) fn atan2(k: &mut K<'_, '_>, y: Value, x: Value) -> Value {
    let (ay, ax) = (k.abs(y), k.abs(x));
    let (low, high) = (k.min(ay, ax), k.max(ay, ax));
    let (by, _) = k.scales(high);
    let (l, h) = (k.mul(low, by), k.mul(high, by));
    // Infinity against a finite number.
    let infinite = k.eq_n(high, f64::INFINITY);
    let l = k.sel_n(infinite, 0.0, l);
    let h = k.sel_n(infinite, 1.0, h);
    // Both zero, or both infinite.
    let same = k.eq(low, high);
    let one = k.n(1.0);
    let h = k.sel(same, one, h);
    let zero = k.eq_n(high, 0.0);
    let all = k.sel_n(zero, 0.0, one);
    let l = k.sel(same, all, l);
    let v = angle(k, l, h);
    let steep = k.lt(ax, ay);
    let v = rest_of(k, steep, 1.0, v);
    let minus = k.minus(x);
    let v = rest_of(k, minus, 2.0, v);
    let v = k.with_sign(v, y);
    k.nan_of(x, y, v)
}
