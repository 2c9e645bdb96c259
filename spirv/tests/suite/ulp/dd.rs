//! Double-double numbers of about 104 bits: arithmetic and reference functions. Each is accurate to
//! 2^-72 at least, as `spots.rs` checks.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// Sum of two doubles, the second below a unit in the last place of the first.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Dd(pub f64, pub f64);

pub const ZERO: Dd = Dd(0.0, 0.0);
pub const ONE: Dd = Dd(1.0, 0.0);
pub const PI: Dd = Dd(3.141592653589793, 1.2246467991473532e-16);
pub const LN2: Dd = Dd(0.6931471805599453, 2.3190468138462996e-17);
pub const LN10: Dd = Dd(2.302585092994046, -2.1707562233822494e-16);
/// `ln(2) - LN2`.
const LN2_REST: f64 = 5.707708438416212e-34;

fn two_sum(a: f64, b: f64) -> Dd {
    let s = a + b;
    let t = s - a;
    Dd(s, (a - (s - t)) + (b - t))
}

fn quick(a: f64, b: f64) -> Dd {
    let s = a + b;
    Dd(s, b - (s - a))
}

pub fn two_prod(a: f64, b: f64) -> Dd {
    let p = a * b;
    Dd(p, a.mul_add(b, -p))
}

pub fn dd(v: f64) -> Dd {
    Dd(v, 0.0)
}

/// Exact sum.
pub fn sum(a: f64, b: f64) -> Dd {
    two_sum(a, b)
}

impl Add for Dd {
    type Output = Dd;
    fn add(self, o: Dd) -> Dd {
        let (s, t) = (two_sum(self.0, o.0), two_sum(self.1, o.1));
        let v = quick(s.0, s.1 + t.0);
        quick(v.0, v.1 + t.1)
    }
}

impl Neg for Dd {
    type Output = Dd;
    fn neg(self) -> Dd {
        Dd(-self.0, -self.1)
    }
}

impl Sub for Dd {
    type Output = Dd;
    fn sub(self, o: Dd) -> Dd {
        self + -o
    }
}

impl Mul for Dd {
    type Output = Dd;
    fn mul(self, o: Dd) -> Dd {
        let p = two_prod(self.0, o.0);
        let low = self.0.mul_add(o.1, self.1 * o.0) + p.1;
        quick(p.0, low)
    }
}

impl Div for Dd {
    type Output = Dd;
    fn div(self, o: Dd) -> Dd {
        let q = self.0 / o.0;
        let r = self - o * dd(q);
        let q2 = r.0 / o.0;
        let r = r - o * dd(q2);
        let q3 = r.0 / o.0;
        let v = quick(q, q2);
        v + dd(q3)
    }
}

impl Dd {
    /// Product with a power of two.
    pub fn scale(self, e: i32) -> Dd {
        Dd(libm::scalbn(self.0, e), libm::scalbn(self.1, e))
    }

    pub fn abs(self) -> Dd {
        if self.0 < 0.0 { -self } else { self }
    }

    pub fn sqrt(self) -> Dd {
        if self.0 == 0.0 {
            return ZERO;
        }
        let r = self.0.sqrt();
        let v = two_sum(r, (self - two_prod(r, r)).0 / (2.0 * r));
        v + dd((self - v * v).0 / (2.0 * r))
    }
}

/// `e^r - 1`, by the Taylor series of `r / 512` and repeated doubling.
fn exp_less(r: Dd) -> Dd {
    let r = r.scale(-9);
    let mut term = r;
    let mut s = r;
    for n in 2..10 {
        term = term * r / dd(f64::from(n));
        s = s + term;
    }
    for _ in 0..9 {
        s = s.scale(1) + s * s;
    }
    s
}

/// `e^x` as a number near 1 and a power of two.
pub fn exp(x: Dd) -> (Dd, i32) {
    if x.0.abs() > 1e5 {
        return (ONE, if x.0 > 0.0 { 100_000 } else { -100_000 });
    }
    let n = (x.0 / LN2.0).round();
    let r = x - two_prod(n, LN2.0) - two_prod(n, LN2.1) - dd(n * LN2_REST);
    (exp_less(r) + ONE, n as i32)
}

/// `e^x - 1`.
pub fn expm1(x: Dd) -> (Dd, i32) {
    if x.0.abs() < 1e-100 {
        return (x, 0);
    }
    if x.0.abs() < 0.4 {
        return (exp_less(x), 0);
    }
    let (v, e) = exp(x);
    match e {
        // 1 is negligible.
        150.. => (v, e),
        ..-150 => (-ONE, 0),
        _ => (v.scale(e) - ONE, 0),
    }
}

/// Logarithm of a number in the range of doubles.
pub fn log(x: Dd) -> Dd {
    let e = libm::ilogb(x.0);
    // The scaled number is from 0.7 to 1.4. The smallest doubles need two steps.
    let m = x.scale(-e / 2).scale(-e - -e / 2);
    let (m, e) = if m.0 > std::f64::consts::SQRT_2 {
        (m.scale(-1), e + 1)
    } else {
        (m, e)
    };
    let l = log1p(m - ONE);
    let n = f64::from(e);
    two_prod(n, LN2.0) + (two_prod(n, LN2.1) + dd(n * LN2_REST)) + l
}

/// `log(1 + f)`: the double result and a Newton step.
pub fn log1p(f: Dd) -> Dd {
    if f.0.abs() > 0.6 {
        return log(ONE + f);
    }
    if f.0.abs() < 1e-100 {
        return f;
    }
    let y = libm::log1p(f.0);
    let e = exp_less(dd(y));
    let d = (f - e) / (ONE + e);
    dd(y) + (d - (d * d).scale(-1))
}

/// Bits of 2/pi after the point, as many as the exponents of doubles require.
const TWO_OVER_PI: [u32; 40] = [
    0xa2f9_836e,
    0x4e44_1529,
    0xfc27_57d1,
    0xf534_ddc0,
    0xdb62_9599,
    0x3c43_9041,
    0xfe51_63ab,
    0xdebb_c561,
    0xb724_6e3a,
    0x424d_d2e0,
    0x0649_2eea,
    0x09d1_921c,
    0xfe1d_eb1c,
    0xb129_a73e,
    0xe882_35f5,
    0x2ebb_4484,
    0xe99c_7026,
    0xb45f_7e41,
    0x3991_d639,
    0x8353_39f4,
    0x9c84_5f8b,
    0xbdf9_283b,
    0x1ff8_97ff,
    0xde05_980f,
    0xef2f_118b,
    0x5a0a_6d1f,
    0x6d36_7ecf,
    0x27cb_09b7,
    0x4f46_3f66,
    0x9e5f_ea2d,
    0x7527_bac7,
    0xebe5_f17b,
    0x3d07_39f7,
    0x8a52_92ea,
    0x6bfb_5fb1,
    0x1f8d_5d08,
    0x5603_3046,
    0xfc7b_6bab,
    0xf0cf_bc20,
    0x9af4_361d,
];

/// Quadrant of a finite number (modulo 4), and the remainder in quadrants, from -1/2 to 1/2.
fn quarters(x: f64) -> (i32, Dd) {
    if x.abs() < 0.5 {
        let two_over_pi = Dd(0.6366197723675814, -3.935735335036497e-17);
        let q = two_over_pi * dd(x);
        return if q.0.abs() > 0.5 {
            (q.0.signum() as i32, q - dd(q.0.signum()))
        } else {
            (0, q)
        };
    }
    // x = m * 2^e. Words of 2/pi whose product with 2^e is a multiple of 4 are skipped.
    let e = libm::ilogb(x.abs()) - 52;
    let m = libm::scalbn(x.abs(), -e) as u64;
    let from = (e - 2).max(0) / 32;
    let mut product = [0u64; 12];
    for i in 0..9 {
        let w = TWO_OVER_PI.get((from + 8) as usize - i).copied();
        for (j, part) in [m & 0xffff_ffff, m >> 32].into_iter().enumerate() {
            let mut carry = u64::from(w.unwrap_or(0)) * part;
            for p in &mut product[i + j..] {
                let s = *p + (carry & 0xffff_ffff);
                *p = s & 0xffff_ffff;
                carry = (carry >> 32) + (s >> 32);
            }
        }
    }
    // Position of the point in the product, and extraction of 32 bits.
    let point = 32 * (from + 9) - e;
    let word = |at: i32| {
        let (i, by) = ((at.max(0) / 32) as usize, at.max(0) % 32);
        let get = |i: usize| product.get(i).copied().unwrap_or(0);
        ((get(i) | get(i + 1) << 32) >> by) as u32
    };
    let whole = word(point) as i32 & 3;
    let up = word(point - 32) >> 31 == 1;
    let mut v = ZERO;
    for i in 1..=7 {
        let w = word(point - 32 * i);
        let w = if up { !w } else { w };
        v = v + dd(libm::scalbn(f64::from(w), -32 * i));
    }
    let (n, v) = if up { (whole + 1, -v) } else { (whole, v) };
    if x < 0.0 { (-n, -v) } else { (n, v) }
}

/// Sine and cosine up to pi/4, by Taylor series.
fn circle(r: Dd) -> (Dd, Dd) {
    let z = r * r;
    let (mut s, mut c) = (r, ONE);
    let mut term = ONE;
    for n in 1..15 {
        let k = f64::from(2 * n);
        term = -(term * z) / dd(k * (k - 1.0));
        c = c + term;
        s = s + term * r / dd(k + 1.0);
    }
    (s, c)
}

/// Sine and cosine of a quadrant and a remainder.
fn turned(n: i32, part: Dd) -> (Dd, Dd) {
    let (s, c) = circle(part * PI.scale(-1));
    match n.rem_euclid(4) {
        0 => (s, c),
        1 => (c, -s),
        2 => (-s, -c),
        _ => (-c, s),
    }
}

pub fn sin_cos(x: f64) -> (Dd, Dd) {
    if x.abs() < 1e-20 {
        return (dd(x), ONE);
    }
    let (n, part) = quarters(x);
    turned(n, part)
}

/// Sine and cosine of `pi * x`.
pub fn sin_cos_pi(x: f64) -> (Dd, Dd) {
    let r = libm::fmod(x, 2.0);
    let n = libm::rint(2.0 * r);
    turned(n as i32, dd(2.0 * r - n))
}

/// Angle of `y / x`, of finite nonzero numbers.
pub fn atan2(y: f64, x: f64) -> (Dd, i32) {
    // Scales both to near 1.
    let (e, f) = (libm::ilogb(y), libm::ilogb(x));
    let s = |v: f64, e: i32| libm::scalbn(libm::scalbn(v, -e / 2), -e - -e / 2);
    if x > 0.0 && e < f - 60 {
        return (dd(s(y, e)) / dd(s(x, f)), e - f);
    }
    let most = e.max(f);
    (direction(dd(s(y, most)), dd(s(x, most))), 0)
}

/// Angle of numbers near 1.
fn direction(y: Dd, x: Dd) -> Dd {
    let a = libm::atan2(y.0, x.0);
    let (s, c) = sin_cos(a);
    // The correction is small.
    dd(a) + (y * c - x * s) / (x * c + y * s)
}

pub fn asin(x: f64) -> Dd {
    let c = ((ONE - dd(x)) * (ONE + dd(x))).sqrt();
    if x.abs() < 1e-30 {
        return dd(x);
    }
    direction(dd(x), c)
}

pub fn acos(x: f64) -> Dd {
    let s = ((ONE - dd(x)) * (ONE + dd(x))).sqrt();
    direction(s, dd(x))
}

pub fn tanh(x: f64) -> Dd {
    if x.abs() > 40.0 {
        // 1 - 2 e^-2x, and smaller terms.
        let (v, e) = exp(dd(-2.0 * x.abs()));
        let v = ONE - v.scale(e.max(-1000) + 1);
        return if x < 0.0 { -v } else { v };
    }
    let (t, e) = expm1(dd(2.0 * x));
    let t = t.scale(e);
    t / (t + dd(2.0))
}

/// Half of the sum or difference of `e^x` and `e^-x`, for positive `x`.
pub fn hyperbolic(x: f64, plus: bool) -> (Dd, i32) {
    if x > 100.0 {
        let (v, e) = exp(dd(x));
        return (v, e - 1);
    }
    if plus {
        let (v, e) = exp(dd(x));
        let v = v.scale(e);
        return ((v + ONE / v).scale(-1), 0);
    }
    let (t, e) = expm1(dd(x));
    let t = t.scale(e);
    ((t + t / (t + ONE)).scale(-1), 0)
}

/// `log(a + sqrt(a^2 + 1))` for positive `a`.
pub fn asinh(a: f64) -> Dd {
    if a > 1e30 {
        return log(dd(a)) + LN2;
    }
    let a = dd(a);
    let square = a * a;
    let root = (square + ONE).sqrt();
    log1p(a + square / (root + ONE))
}

/// `log(x + sqrt(x^2 - 1))` for `x` from 1 on.
pub fn acosh(x: f64) -> Dd {
    if x > 1e30 {
        return log(dd(x)) + LN2;
    }
    let t = sum(x, -1.0);
    log1p(t + (t * (t + dd(2.0))).sqrt())
}

pub fn atanh(x: f64) -> Dd {
    let a = dd(x);
    // For small arguments, both logarithms are small and of opposite signs.
    (log1p(a) - log1p(-a)).scale(-1)
}

pub fn cbrt(x: f64) -> Dd {
    let e = libm::ilogb(x) / 3;
    let m = libm::scalbn(libm::scalbn(x, -e), -2 * e);
    let mut y = dd(libm::cbrt(m));
    for _ in 0..2 {
        y = y - (y * y * y - dd(m)) / (y * y * dd(3.0));
    }
    y.scale(e)
}

pub fn hypot(x: f64, y: f64) -> (Dd, i32) {
    let e = libm::ilogb(x.abs().max(y.abs()));
    let s = |v: f64| libm::scalbn(libm::scalbn(v, -e / 2), -e - -e / 2);
    let (x, y) = (s(x), s(y));
    ((two_prod(x, x) + two_prod(y, y)).sqrt(), e)
}

/// `e^(y * log x)` for positive `x`.
pub fn pow(x: f64, y: Dd) -> (Dd, i32) {
    match libm::log(x) * y.0 {
        v if v > 1e5 => (ONE, 100_000),
        v if v < -1e5 => (ONE, -100_000),
        _ => exp(log(dd(x)) * y),
    }
}

const TWO_OVER_ROOT_PI: Dd = Dd(1.1283791670955126, 1.533545961316588e-17);

/// `erf` of positive numbers, by the series of positive terms.
pub fn erf(x: f64) -> Dd {
    if x > 6.5 {
        return ONE - erfc(x).0.scale(erfc(x).1.max(-1000));
    }
    let square = two_prod(x, x);
    let mut term = dd(x);
    let mut s = term;
    for n in 1..400 {
        term = term * square.scale(1) / dd(f64::from(2 * n + 1));
        s = s + term;
        if term.0 < 1e-34 * s.0 {
            break;
        }
    }
    let (e, n) = exp(-square);
    (s * e * TWO_OVER_ROOT_PI).scale(n)
}

/// `erfc` of positive numbers: the complement of the series, or from 2 on a continued fraction.
pub fn erfc(x: f64) -> (Dd, i32) {
    if x < 2.0 {
        return (ONE - erf(x), 0);
    }
    let steps = (40.0 + 700.0 / (x * x)) as i32;
    let mut f = dd(x);
    for n in (1..=steps).rev() {
        f = dd(x) + dd(f64::from(n) / 2.0) / f;
    }
    let (e, n) = exp(-two_prod(x, x));
    let root = TWO_OVER_ROOT_PI.scale(-1);
    (e * root / f, n)
}

/// Coefficients of Stirling's series, `B(2k) / (2k (2k - 1))`, as fractions.
const STIRLING: [(f64, f64); 15] = [
    (1.0, 12.0),
    (-1.0, 360.0),
    (1.0, 1260.0),
    (-1.0, 1680.0),
    (1.0, 1188.0),
    (-691.0, 360_360.0),
    (1.0, 156.0),
    (-3617.0, 122_400.0),
    (43_867.0, 244_188.0),
    (-174_611.0, 125_400.0),
    (77_683.0, 5796.0),
    (-236_364_091.0, 1_506_960.0),
    (657_931.0, 300.0),
    (-3_392_780_147.0, 93_960.0),
    (1_723_168_255_201.0, 2_492_028.0),
];

const HALF_LOG_2PI: Dd = Dd(0.9189385332046728, -3.8782941580672414e-17);

/// Log-gamma of a positive number: that of a number of at least 40, and the product that leads
/// there.
fn lgamma_parts(x: Dd) -> (Dd, Dd) {
    let (mut z, mut product) = (x, ONE);
    while z.0 < 40.0 {
        product = product * z;
        z = z + ONE;
    }
    let q = ONE / z;
    let square = q * q;
    let mut s = ZERO;
    for (a, b) in STIRLING.iter().rev() {
        s = s * square + dd(*a) / dd(*b);
    }
    let v = (z - dd(0.5)) * log(z) - z + HALF_LOG_2PI + s * q;
    (v, product)
}

/// Gamma of a finite number that is not an integer below 1.
pub fn tgamma(x: f64) -> (Dd, i32) {
    if x > 1000.0 {
        return (ONE, 100_000);
    }
    if x > 0.0 {
        let (l, product) = lgamma_parts(dd(x));
        let (v, e) = exp(l);
        return (v / product, e);
    }
    if x > -1e-200 {
        let up = libm::scalbn(x, 600);
        return (ONE / dd(up), 600);
    }
    // pi / (sin(pi x) gamma(1 - x)), where 1 - x is exact in two parts.
    let (l, product) = lgamma_parts(sum(1.0, -x));
    let s = sin_cos_pi(x).0;
    if l.0 > 1e5 {
        return (if s.0 < 0.0 { -ONE } else { ONE }, -100_000);
    }
    let (v, e) = exp(-l);
    (PI / s * v * product, e)
}

/// Logarithm of the magnitude of gamma.
pub fn lgamma(x: f64) -> Dd {
    if x > 0.0 {
        let (l, product) = lgamma_parts(dd(x));
        return l - log(product);
    }
    let (l, product) = lgamma_parts(sum(1.0, -x));
    let s = sin_cos_pi(x).0.abs();
    log(PI / s) - (l - log(product))
}
