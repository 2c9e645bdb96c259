//! Error function and gamma function.

use super::exponential::{natural, reduced, small};
use super::kit::{Kit, PerType, Poly};
use super::power::{exp2_parts, log2_parts};
use super::trigonometric::in_turns;
use crate::ir::Value;
use std::f64::consts::{FRAC_1_PI, FRAC_2_SQRT_PI, LOG2_E, PI};

type K<'k, 'f> = Kit<'k, 'f>;

/// `erf(x) / x` by `x^2`, up to 1.
const ERF: Poly = PerType {
    single: &[
        7.875_875_062_685_488e-5,
        -8.016_864_287_165_87e-4,
        0.005_189_087_423_433_974,
        -0.026_854_212_010_626_412,
        0.112_835_947_151_602_18,
        -0.376_126_266_667_203_34,
        1.128_379_165_848_350_9,
    ],
    double: &[
        5.957_176_147_748_911e-11,
        -1.137_284_885_679_167_4e-9,
        1.465_977_527_404_743_6e-8,
        -1.635_031_270_105_469_5e-7,
        1.646_100_048_412_136_8e-6,
        -1.492_559_526_683_118_2e-5,
        1.205_533_111_164_271e-4,
        -8.548_326_980_833_79e-4,
        0.005_223_977_624_818_014_5,
        -0.026_866_170_645_076_792,
        0.112_837_916_709_548_79,
        -0.376_126_389_031_837_5,
        FRAC_2_SQRT_PI,
    ],
};

/// `(1 + 2a) e^(a^2) erfc(a)` by `(a - M) / (a + M)`, from 0 to the underflow of `erfc`.
const ERFC: Poly = PerType {
    single: &[
        2.686_109_284_596_724_2e-5,
        -3.622_954_924_456_913e-4,
        -0.001_249_958_389_772_632_4,
        0.001_273_455_173_667_547,
        0.008_635_760_434_248_027,
        -0.008_045_565_181_857_19,
        -0.054_204_539_245_133_65,
        0.164_053_421_463_256_72,
        -0.166_031_402_685_383_55,
        -0.092_763_911_453_230_75,
        1.276_978_392_513_397_3,
    ],
    double: &[
        -1.094_836_812_779_407_5e-9,
        -6.544_809_637_162_719e-9,
        -5.732_869_287_862_736e-9,
        4.137_161_006_733_423e-8,
        8.986_622_362_225_036e-8,
        -1.444_094_930_479_574e-7,
        -6.058_648_425_989_622e-7,
        3.608_828_987_652_022e-7,
        3.466_351_485_382_748_4e-6,
        -7.342_503_844_097_082e-7,
        -2.009_835_452_609_167e-5,
        4.950_572_543_847_218e-6,
        1.250_988_251_551_598e-4,
        -1.051_600_646_314_725_5e-4,
        -7.798_321_918_771_739e-4,
        0.001_888_690_398_156_304_7,
        0.002_529_391_808_644_996_6,
        -0.023_770_514_921_910_23,
        0.068_308_027_344_358_29,
        -0.119_273_663_415_170_8,
        0.129_645_158_702_751_64,
        -0.047_562_294_353_453_01,
        -0.135_621_106_124_581_11,
        1.253_008_058_269_729_6,
    ],
};

/// Parameter `M` of [`ERFC`], and the end of its range.
const ERFC_PLACE: PerType<(f64, f64)> = PerType {
    single: (2.0, 10.5),
    double: (3.0, 27.5),
};

/// `log(gamma(2 + t)) / t`, for `|t|` up to 1/2.
const LOG_GAMMA: Poly = PerType {
    single: &[
        5.631_591_990_363_806e-4,
        -0.001_312_562_382_262_114_5,
        0.002_881_965_559_043_12,
        -0.007_366_421_845_287_885,
        0.020_581_239_427_812_42,
        -0.067_353_265_739_450_29,
        0.322_467_030_051_472_8,
        0.422_784_342_647_004_4,
    ],
    double: &[
        -5.728_653_108_508_01e-7,
        1.215_962_060_274_501_5e-6,
        -1.982_565_620_739_196e-6,
        4.255_370_284_311_048_4e-6,
        -9.452_938_473_714_576e-6,
        2.053_558_102_050_052_3e-5,
        -4.492_443_535_898_787e-5,
        9.945_371_368_841_632e-5,
        -2.231_548_946_380_911_6e-4,
        5.096_698_119_432_116e-4,
        -0.001_192_753_906_259_858_1,
        0.002_890_510_319_262_199_4,
        -0.007_385_551_028_771_468_5,
        0.020_580_808_427_990_12,
        -0.067_352_301_053_197_59,
        0.322_467_033_424_112_15,
        0.422_784_335_098_467_13,
    ],
};

/// Correction terms of Stirling's formula, times `z`, by `1 / z^2`.
const STIRLING: Poly = PerType {
    single: &[1.0 / 1260.0, -1.0 / 360.0, 1.0 / 12.0],
    double: &[
        1.0 / 156.0,
        -691.0 / 360_360.0,
        1.0 / 1188.0,
        -1.0 / 1680.0,
        1.0 / 1260.0,
        -1.0 / 360.0,
        1.0 / 12.0,
    ],
};

/// Start of the range of Stirling's formula. Then, for the product that leads there: differences of
/// the products of paired factors from the first pair's product.
const STEPS: PerType<(f64, &[f64])> = PerType {
    single: (8.0, &[6.0, 10.0, 12.0]),
    double: (12.0, &[10.0, 18.0, 24.0, 28.0, 30.0]),
};

/// Returns `erfc` of positive numbers as `v * 2^n`: `e^(-a^2) / (1 + 2a)` times a polynomial, with
/// the square in two parts.
///
/// The form is that of M. M. Shepherd and J. G. Laframboise, "Chebyshev approximation of (1 + 2x)
/// exp(x^2) erfc x in 0 <= x < inf".
fn complement(k: &mut K<'_, '_>, a: Value) -> (Value, Value) {
    let (middle, end) = k.by(ERFC_PLACE);
    let end = k.n(end);
    let a = k.min(a, end);
    let (square, low) = k.product(a, a);
    let minus = k.neg(square);
    let (r, n) = reduced(k, minus);
    let e = small(k, r);
    let e = k.fnma(e, low, e);
    let (less, more) = (k.plus(a, -middle), k.plus(a, middle));
    let t = k.div(less, more);
    let p = k.series(t, ERFC);
    let p = k.mul(p, e);
    let two = k.n(2.0);
    let one = k.n(1.0);
    let d = k.fma(a, two, one);
    (k.div(p, d), n)
}

/// Uses `x * T(x^2)` up to 1. If a channel has a larger argument, uses the complement.
pub(super) fn erf(k: &mut K<'_, '_>, x: Value) -> Value {
    let a = k.abs(x);
    let z = k.mul(a, a);
    let near = k.series(z, ERF);
    let near = k.mul(near, a);
    let large = k.gt_n(a, 1.0);
    let [v] = k.seldom(large, [near], |k| {
        let (v, n) = complement(k, a);
        let v = k.scale(v, n);
        let one = k.n(1.0);
        [k.sub(one, v)]
    });
    let v = k.with_sign(v, x);
    let nan = k.nan(x);
    k.sel(nan, x, v)
}

pub(super) fn erfc(k: &mut K<'_, '_>, x: Value) -> Value {
    let a = k.abs(x);
    let (v, n) = complement(k, a);
    let v = k.scale(v, n);
    let two = k.n(2.0);
    let other = k.sub(two, v);
    let minus = k.lt_n(x, 0.0);
    let v = k.sel(minus, other, v);
    let nan = k.nan(x);
    k.sel(nan, x, v)
}

/// Returns the gamma function of a number `x + low` of at least 1/2, as `p * 2^n / product`.
///
/// Uses Stirling's formula in powers of two, `2^((z - 1/2) log2 z - z log2 e + ...)`. Small numbers
/// are shifted up into its range, and `product` undoes the shift.
fn upper(k: &mut K<'_, '_>, x: Value, low: Value) -> (Value, Value, Value) {
    let (from, pairs) = k.by(STEPS);
    let few = k.lt_n(x, from);
    let by = k.n(from);
    let (up, lost) = k.two_sum(x, by);
    let both = k.add(low, lost);
    let (z, low) = (k.sel(few, up, x), k.sel(few, both, low));
    // Factors x (x + n), x (x + n) + n - 1 and so on, with the accumulated rounding error.
    let last = k.n(from - 1.0);
    let (last, lost) = k.two_sum(x, last);
    let (first, first_low) = k.product(x, last);
    let first_low = k.fma(x, lost, first_low);
    let (mut product, mut off) = (first, first_low);
    for p in pairs {
        let f = k.plus(first, *p);
        let back = k.plus(f, -p);
        let f_low = k.sub(first, back);
        let f_low = k.add(f_low, first_low);
        off = k.mul(off, f);
        off = k.fma(product, f_low, off);
        let (next, lost) = k.product(product, f);
        off = k.add(off, lost);
        product = next;
    }
    let (one, zero) = (k.n(1.0), k.n(0.0));
    let product = k.sel(few, product, one);
    let off = k.sel(few, off, zero);
    let inverse = k.recip(product);
    let off = k.mul(off, inverse);

    let (h, l) = log2_parts(k, z);
    let less = k.plus(z, -0.5);
    let (p, p_low) = k.product(less, h);
    let p_low = k.fma(less, l, p_low);
    let [e_high, e_low] = k.by(super::exponential::LOG2E);
    let e = k.n(e_high);
    let (q, q_low) = k.product(z, e);
    let q_low = k.fma_n(z, e_low, q_low);
    let minus = k.neg(q);
    let (s, s_low) = k.two_sum(p, minus);
    // Logarithm of sqrt(2 pi).
    let root = k.n(1.325_748_064_736_159_3);
    let (s, t_low) = k.sum(s, root);
    let inverse = k.div(one, z);
    let square = k.mul(inverse, inverse);
    let c = k.series(square, STIRLING);
    let c = k.times(c, LOG2_E);
    // Derivative, times the low part of the argument.
    let minus = k.times(inverse, -0.5 * LOG2_E);
    let d = k.add(h, minus);
    let rest = k.fma(c, inverse, t_low);
    let rest = k.fma(d, low, rest);
    let rest = k.fma_n(off, -LOG2_E, rest);
    let off = k.sub(p_low, q_low);
    let rest = k.add(rest, off);
    let rest = k.add(rest, s_low);
    let (p, n) = exp2_parts(k, s, rest);
    (p, n, product)
}

/// Reflects numbers below 1/2: `pi / (sin(pi x) * gamma(1 - x))`.
pub(super) fn tgamma(k: &mut K<'_, '_>, x: Value) -> Value {
    let most = k.by(PerType {
        single: 60.0,
        double: 200.0,
    });
    let c = k.clamp(x, -most, most);
    let turned = k.lt_n(x, 0.5);
    let minus = k.neg(c);
    let one = k.n(1.0);
    let (other, lost) = k.two_sum(one, minus);
    let zero = k.n(0.0);
    let (arg, low) = (k.sel(turned, other, c), k.sel(turned, lost, zero));
    let (p, n, product) = upper(k, arg, low);
    let [over, under, n] = k.seldom(turned, [p, product, n], |k| {
        // Scales the sine to near 1.
        let (s, _) = in_turns(k, x);
        let magnitude = k.abs(s);
        let (by, _) = k.scales(magnitude);
        let s = k.mul(s, by);
        let d = k.mul(s, p);
        let pi = k.times(product, PI);
        let up = k.exponent(by);
        [pi, d, k.b.ins().isub(up, n)]
    });
    let v = k.div(over, under);
    let v = k.scale(v, n);
    // Zeros give infinities of their sign. Negative whole numbers give NaNs.
    let floor = k.floor(x);
    let whole = k.eq(floor, x);
    let below = k.lt_n(x, 0.0);
    let bad = k.and(whole, below);
    let v = k.sel_n(bad, f64::NAN, v);
    let zero = k.eq_n(x, 0.0);
    let infinity = k.n(f64::INFINITY);
    let end = k.with_sign(infinity, x);
    let v = k.sel(zero, end, v);
    let nan = k.nan(x);
    k.sel(nan, x, v)
}

/// Returns the logarithm of the gamma function's magnitude, and its sign.
///
/// Below 5/2 by a series around 2 (around 1, minus the logarithm), then by the gamma function
/// itself, and above by Stirling's formula. Numbers below 1/2 are reflected by `pi / sin(pi x)`.
pub(super) fn lgamma(k: &mut K<'_, '_>, x: Value) -> (Value, Value) {
    let turned = k.lt_n(x, 0.5);
    let one = k.n(1.0);
    let other = k.sub(one, x);
    let arg = k.sel(turned, other, x);
    // Series around 1 or 2.
    let parts = k.fraction(arg);
    let (l, _) = natural(k, parts, None);
    let first = k.lt_n(arg, 1.5);
    let (two, zero) = (k.n(2.0), k.n(0.0));
    let center = k.sel(first, one, two);
    let t = k.sub(arg, center);
    let p = k.series(t, LOG_GAMMA);
    let minus = k.neg(l);
    let less = k.sel(first, minus, zero);
    let near = k.fma(p, t, less);
    let high = k.gt_n(arg, 2.5);
    let [v] = k.seldom(high, [near], |k| {
        let (from, _) = k.by(STEPS);
        let end = k.n(from);
        let middle = k.min(arg, end);
        let (p, n, product) = upper(k, middle, zero);
        let g = k.div(p, product);
        let g = k.scale(g, n);
        let parts = k.fraction(g);
        let (by_gamma, _) = natural(k, parts, None);
        // Stirling's formula.
        let most = k.n(2f64.powi(60));
        let a = k.min(arg, most);
        let inverse = k.div(one, a);
        let square = k.mul(inverse, inverse);
        let s = k.series(square, STIRLING);
        let s = k.mul(s, inverse);
        let s = k.plus(s, 0.918_938_533_204_672_8 - 0.5);
        let (a, b) = (k.plus(arg, -0.5), k.plus(l, -1.0));
        let far = k.fma(a, b, s);
        let few = k.lt_n(arg, from);
        [k.sel(few, by_gamma, far)]
    });

    let plus = k.i(1);
    let [v, sign] = k.seldom(turned, [v, plus], |k| {
        let (s, _) = in_turns(k, x);
        let magnitude = k.abs(s);
        let ratio = k.times(magnitude, FRAC_1_PI);
        let parts = k.fraction(ratio);
        let (l, _) = natural(k, parts, None);
        let sum = k.add(l, v);
        let v = k.neg(sum);
        let pole = k.eq_n(s, 0.0);
        let v = k.sel_n(pole, f64::INFINITY, v);
        let (below, down) = (k.lt_n(x, 0.0), k.lt_n(s, 0.0));
        let negative = k.and(below, down);
        let minus = k.i(-1);
        [v, k.sel(negative, minus, plus)]
    });
    let a = k.abs(x);
    let endless = k.eq_n(a, f64::INFINITY);
    let v = k.sel_n(endless, f64::INFINITY, v);
    let nan = k.nan(x);
    (k.sel(nan, x, v), sign)
}
