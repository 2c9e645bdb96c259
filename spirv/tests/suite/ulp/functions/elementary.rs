//! Functions that are not exact.

use super::*;
use crate::ulp::dd::{self, Dd, dd};

/// Row of a function of one argument: limits for half, single and double, evaluation in doubles,
/// and a finer one.
macro_rules! one {
    ($op:ident, $limits:expr, $draw:expr, $plain:expr, $fine:expr) => {
        Function {
            name: stringify!($op),
            op: Std::$op,
            arguments: &[Kind::Float],
            result: Kind::Float,
            limits: $limits,
            draw: $draw,
            plain: |a, _| alone(($plain as fn(f64) -> f64)(a[0])),
            fine: |a, _| {
                let plain = ($plain as fn(f64) -> f64)(a[0]);
                // Zeros at integers and half-integers are exact. Others underflow in doubles.
                let exact = plain == 0.0 && (2.0 * a[0]).trunc() == 2.0 * a[0];
                let pole = plain.is_infinite() && a[0].abs() <= 1.0;
                let ordinary = finite(a) && !plain.is_nan() && !exact && !pole;
                fine(plain, ordinary, || ($fine as fn(f64) -> Real)(a[0]))
            },
        }
    };
}

/// Sine and cosine of pi times a number, in doubles. The remainder below a quarter turn is exact.
fn turned(x: f64) -> (f64, f64) {
    let r = libm::fmod(x, 2.0);
    let n = libm::rint(2.0 * r);
    let part = (2.0 * r - n) * std::f64::consts::FRAC_PI_2;
    let (s, c) = (libm::sin(part), libm::cos(part));
    match (n as i32).rem_euclid(4) {
        0 => (s, c),
        1 => (c, -s),
        2 => (-s, -c),
        _ => (-c, s),
    }
}

fn sin_pi(x: f64) -> f64 {
    match x {
        _ if !x.is_finite() => f64::NAN,
        _ if x == x.trunc() => 0f64.copysign(x),
        _ => turned(x).0,
    }
}

fn cos_pi(x: f64) -> f64 {
    match x {
        _ if !x.is_finite() => f64::NAN,
        _ if libm::fmod(x.abs(), 1.0) == 0.5 => 0.0,
        _ => turned(x).1,
    }
}

/// `tanpi`: zero at integers and infinite halfway between, with alternating signs.
fn tan_pi(x: f64) -> f64 {
    if !x.is_finite() {
        return f64::NAN;
    }
    let r = libm::fmod(x.abs(), 2.0);
    let v = match r {
        0.0 => 0.0,
        0.5 => f64::INFINITY,
        1.0 => -0.0,
        1.5 => f64::NEG_INFINITY,
        _ => {
            let (s, c) = turned(r);
            s / c
        }
    };
    if x.is_sign_negative() { -v } else { v }
}

fn gamma(x: f64) -> f64 {
    match x {
        _ if x < 0.0 && x == x.trunc() => f64::NAN,
        _ => libm::tgamma(x),
    }
}

/// Product with a number, scaled to avoid overflow and underflow of its parts.
fn angle(x: f64, by: Dd) -> Real {
    let e = libm::ilogb(x);
    let m = libm::scalbn(libm::scalbn(x, -e / 2), -e - -e / 2);
    scaled((dd(m) * by, e))
}

/// Quotient by pi, scaled to avoid underflow of its parts.
fn over_pi(r: Real) -> Real {
    let by = if r.v.0.abs() < 1e-100 { 300 } else { 0 };
    scaled((r.v.scale(by) / dd::PI, r.e - by))
}

#[rustfmt::skip]
pub fn of_one() -> Vec<Function> {
    use std::f64::consts::{LN_10, PI};
    vec![
        one!(exp, limits(2.0, 3.0, 3.0), ROOM, libm::exp, |x| scaled(
            dd::exp(dd(x))
        )),
        one!(
            exp2,
            limits(2.0, 3.0, 3.0),
            Draw::Within(-110_000, 110_000),
            libm::exp2,
            |x| {
                let x = x.clamp(-1e5, 1e5);
                let n = x.round();
                let (v, e) = dd::exp(dd::LN2 * dd(x - n));
                scaled((v, e + n as i32))
            }
        ),
        one!(
            exp10,
            limits(2.0, 3.0, 3.0),
            Draw::Within(-33_000, 32_000),
            libm::exp10,
            |x| { scaled(dd::exp(dd::LN10 * dd(x.clamp(-1e5, 1e5)))) }
        ),
        one!(expm1, limits(2.0, 3.0, 3.0), ROOM, libm::expm1, |x| scaled(
            dd::expm1(dd(x))
        )),
        one!(
            log,
            limits(2.0, 3.0, 3.0),
            Draw::Within(0, 300),
            libm::log,
            |x| dd::log(dd(x)).into()
        ),
        one!(
            log2,
            limits(2.0, 3.0, 3.0),
            Draw::Within(0, 300),
            libm::log2,
            |x| (dd::log(dd(x)) / dd::LN2).into()
        ),
        one!(
            log10,
            limits(2.0, 3.0, 3.0),
            Draw::Within(0, 300),
            libm::log10,
            |x| (dd::log(dd(x)) / dd::LN10).into()
        ),
        one!(
            log1p,
            limits(2.0, 2.0, 2.0),
            Draw::Within(-100, 300),
            libm::log1p,
            |x| dd::log1p(dd(x)).into()
        ),
        one!(
            sin,
            limits(2.0, 4.0, 4.0),
            Draw::Within(-10_000, 10_000),
            libm::sin,
            |x| dd::sin_cos(x).0.into()
        ),
        one!(
            cos,
            limits(2.0, 4.0, 4.0),
            Draw::Within(-10_000, 10_000),
            libm::cos,
            |x| dd::sin_cos(x).1.into()
        ),
        one!(
            tan,
            limits(2.0, 5.0, 5.0),
            Draw::Within(-10_000, 10_000),
            libm::tan,
            |x| {
                let (s, c) = dd::sin_cos(x);
                (s / c).into()
            }
        ),
        one!(
            sinpi,
            limits(2.0, 4.0, 4.0),
            Draw::Within(-1000, 1000),
            sin_pi,
            |x| dd::sin_cos_pi(x).0.into()
        ),
        one!(
            cospi,
            limits(2.0, 4.0, 4.0),
            Draw::Within(-1000, 1000),
            cos_pi,
            |x| dd::sin_cos_pi(x).1.into()
        ),
        one!(
            tanpi,
            limits(2.0, 6.0, 6.0),
            Draw::Within(-1000, 1000),
            tan_pi,
            |x| {
                let (s, c) = dd::sin_cos_pi(x);
                if c.0 == 0.0 {
                    tan_pi(x).into()
                } else {
                    (s / c).into()
                }
            }
        ),
        one!(asin, limits(2.0, 4.0, 4.0), UNIT, libm::asin, |x| dd::asin(
            x
        )
        .into()),
        one!(acos, limits(2.0, 4.0, 4.0), UNIT, libm::acos, |x| dd::acos(
            x
        )
        .into()),
        one!(
            atan,
            limits(2.0, 5.0, 5.0),
            Draw::Within(-500, 500),
            libm::atan,
            |x| scaled(dd::atan2(x, 1.0))
        ),
        one!(
            asinpi,
            limits(2.0, 5.0, 5.0),
            UNIT,
            |x| libm::asin(x) / PI,
            |x| over_pi(dd::asin(x).into())
        ),
        one!(
            acospi,
            limits(2.0, 5.0, 5.0),
            UNIT,
            |x| libm::acos(x) / PI,
            |x| over_pi(dd::acos(x).into())
        ),
        one!(
            atanpi,
            limits(2.0, 5.0, 5.0),
            Draw::Within(-500, 500),
            |x| libm::atan(x) / PI,
            |x| { over_pi(scaled(dd::atan2(x, 1.0))) }
        ),
        one!(sinh, limits(2.0, 4.0, 4.0), ROOM, libm::sinh, |x| {
            let (v, e) = dd::hyperbolic(x.abs(), false);
            scaled((if x < 0.0 { -v } else { v }, e))
        }),
        one!(cosh, limits(2.0, 4.0, 4.0), ROOM, libm::cosh, |x| scaled(
            dd::hyperbolic(x.abs(), true)
        )),
        one!(
            tanh,
            limits(2.0, 5.0, 5.0),
            Draw::Within(-2500, 2500),
            libm::tanh,
            |x| dd::tanh(x).into()
        ),
        one!(
            asinh,
            limits(2.0, 4.0, 4.0),
            Draw::Within(-500, 500),
            libm::asinh,
            |x| {
                let v = dd::asinh(x.abs());
                (if x < 0.0 { -v } else { v }).into()
            }
        ),
        one!(
            acosh,
            limits(2.0, 4.0, 4.0),
            Draw::Within(100, 500),
            |x| if x < 1.0 { f64::NAN } else { libm::acosh(x) },
            |x| dd::acosh(x).into()
        ),
        one!(atanh, limits(2.0, 5.0, 5.0), UNIT, libm::atanh, |x| {
            if x.abs() == 1.0 {
                libm::atanh(x).into()
            } else {
                dd::atanh(x).into()
            }
        }),
        one!(cbrt, limits(2.0, 2.0, 2.0), WIDE, libm::cbrt, |x| {
            let v = dd::cbrt(x.abs());
            (if x < 0.0 { -v } else { v }).into()
        }),
        one!(sqrt, limits(0.5, 3.0, 0.5), WIDE, libm::sqrt, |x| {
            libm::sqrt(x).into()
        }),
        one!(
            rsqrt,
            limits(1.0, 2.0, 2.0),
            WIDE,
            |x| 1.0 / libm::sqrt(x),
            |x| {
                // Scaled to near 1 by an even power of two.
                let e = libm::ilogb(x) & !1;
                let m = libm::scalbn(libm::scalbn(x, -e / 2), -e / 2);
                scaled((dd::ONE / dd(m).sqrt(), -e / 2))
            }
        ),
        one!(
            erf,
            limits(4.0, 16.0, 16.0),
            Draw::Within(-600, 600),
            libm::erf,
            |x| {
                let v = dd::erf(x.abs());
                (if x < 0.0 { -v } else { v }).into()
            }
        ),
        one!(
            erfc,
            limits(4.0, 16.0, 16.0),
            Draw::Within(-600, 2700),
            libm::erfc,
            |x| if x < 0.0 { (dd::ONE + dd::erf(-x)).into() } else { scaled(dd::erfc(x)) }
        ),
        one!(
            tgamma,
            limits(4.0, 16.0, 16.0),
            Draw::Within(-18_000, 17_200),
            gamma,
            |x| scaled(dd::tgamma(x))
        ),
        one!(
            lgamma,
            UNSAID,
            Draw::Within(-2000, 2000),
            libm::lgamma,
            |x| match x {
                1.0 | 2.0 => 0.0.into(),
                _ if x < 0.0 && x == x.trunc() => f64::INFINITY.into(),
                _ if !(1e-290..1e290).contains(&x.abs()) => libm::lgamma(x).into(),
                _ => dd::lgamma(x).into(),
            }
        ),
        one!(
            degrees,
            limits(2.0, 2.0, 2.0),
            WIDE,
            |x| x * (180.0 / PI),
            |x| angle(x, dd(180.0) / dd::PI)
        ),
        one!(
            radians,
            limits(2.0, 2.0, 2.0),
            WIDE,
            |x| x * (PI / 180.0),
            |x| angle(x, dd::PI / dd(180.0))
        ),
        one!(
            half_cos,
            [None, Some(8192.0), None],
            Draw::Within(-10_000, 10_000),
            libm::cos,
            |x| libm::cos(x).into()
        ),
        one!(half_exp, [None, Some(8192.0), None], ROOM, libm::exp, |x| {
            libm::exp(x).into()
        }),
        one!(
            half_exp2,
            [None, Some(8192.0), None],
            ROOM,
            libm::exp2,
            |x| libm::exp2(x).into()
        ),
        one!(
            half_exp10,
            [None, Some(8192.0), None],
            ROOM,
            |x| libm::exp(x * LN_10),
            |x| libm::exp(x).into()
        ),
        one!(half_log, [None, Some(8192.0), None], ROOM, libm::log, |x| {
            libm::log(x).into()
        }),
        one!(
            half_log2,
            [None, Some(8192.0), None],
            ROOM,
            libm::log2,
            |x| libm::log2(x).into()
        ),
        one!(
            half_log10,
            [None, Some(8192.0), None],
            ROOM,
            libm::log10,
            |x| libm::log10(x).into()
        ),
        one!(
            half_recip,
            [None, Some(8192.0), None],
            ROOM,
            |x| 1.0 / x,
            |x| (1.0 / x).into()
        ),
        one!(
            half_rsqrt,
            [None, Some(8192.0), None],
            ROOM,
            |x| 1.0 / x.sqrt(),
            |x| x.into()
        ),
        one!(
            half_sin,
            [None, Some(8192.0), None],
            Draw::Within(-10_000, 10_000),
            libm::sin,
            |x| libm::sin(x).into()
        ),
        one!(
            half_sqrt,
            [None, Some(8192.0), None],
            ROOM,
            libm::sqrt,
            |x| libm::sqrt(x).into()
        ),
        one!(
            half_tan,
            [None, Some(8192.0), None],
            Draw::Within(-10_000, 10_000),
            libm::tan,
            |x| libm::tan(x).into()
        ),
    ]
}

/// Special cases of `pow`, `powr` or integer powers.
fn power(x: f64, y: f64, r: bool) -> f64 {
    if r {
        let bad = x < 0.0
            || x.is_nan()
            || y.is_nan()
            || (x == 0.0 || x.is_infinite()) && y == 0.0
            || x == 1.0 && y.is_infinite();
        // The sign of a zero does not matter here.
        return if bad { f64::NAN } else { libm::pow(x.abs(), y) };
    }
    libm::pow(x, y)
}

/// Power of finite numbers: of the magnitude, with the sign.
fn fine_power(x: f64, y: Dd) -> Real {
    let (v, e) = dd::pow(x.abs(), y);
    let odd = y.1 == 0.0 && libm::fmod(y.0, 2.0).abs() == 1.0;
    scaled((if x < 0.0 && odd { -v } else { v }, e))
}

/// Special cases of `rootn`, or `None`.
fn root(x: f64, n: f64) -> Option<f64> {
    let odd = libm::fmod(n, 2.0) != 0.0;
    Some(match x {
        _ if n == 0.0 || x.is_nan() || x < 0.0 && !odd => f64::NAN,
        _ if x == 0.0 && odd => {
            if n < 0.0 {
                1.0 / x
            } else {
                x
            }
        }
        _ if x == 0.0 => {
            if n < 0.0 {
                f64::INFINITY
            } else {
                0.0
            }
        }
        _ if x.is_infinite() => {
            if n < 0.0 {
                1.0 / x
            } else {
                x
            }
        }
        _ => return None,
    })
}

fn root_of(a: &[f64], _: Type) -> (Real, Real) {
    let (x, n) = (a[0], a[1]);
    if let Some(v) = root(x, n) {
        return alone(v);
    }
    let (v, e) = dd::pow(x.abs(), dd::ONE / dd(n));
    alone(scaled((if x < 0.0 { -v } else { v }, e)))
}

#[rustfmt::skip]
pub fn of_two() -> Vec<Function> {
    use Draw::{Near, Power, Root, WholePower};
    use std::f64::consts::PI;
    let atan2_fine: Meant = |a, _| {
        let plain = libm::atan2(a[0], a[1]);
        fine(plain, finite(a), || scaled(dd::atan2(a[0], a[1])))
    };
    macro_rules! two {
        ($op:ident($b:ident), $limits:expr, $draw:expr, $plain:expr, $fine:expr) => {
            Function {
                name: stringify!($op),
                op: Std::$op,
                arguments: &[Kind::Float, Kind::$b],
                result: Kind::Float,
                limits: $limits,
                draw: $draw,
                plain: $plain,
                fine: $fine,
            }
        };
    }
    vec![
        two!(
            pow(Float),
            limits(4.0, 16.0, 16.0),
            Power,
            |a, _| alone(power(a[0], a[1], false)),
            |a, _| {
                let plain = power(a[0], a[1], false);
                fine(plain, finite(a) && !plain.is_nan(), || {
                    fine_power(a[0], dd(a[1]))
                })
            }
        ),
        two!(
            powr(Float),
            limits(4.0, 16.0, 16.0),
            Power,
            |a, _| alone(power(a[0], a[1], true)),
            |a, _| {
                let plain = power(a[0], a[1], true);
                fine(plain, finite(a) && !plain.is_nan(), || {
                    fine_power(a[0], dd(a[1]))
                })
            }
        ),
        two!(
            pown(Int),
            limits(4.0, 16.0, 16.0),
            WholePower,
            |a, _| alone(power(a[0], a[1], false)),
            |a, _| {
                let plain = power(a[0], a[1], false);
                fine(plain, finite(a), || fine_power(a[0], dd(a[1])))
            }
        ),
        two!(rootn(Int), limits(4.0, 16.0, 16.0), Root, root_of, root_of),
        two!(
            hypot(Float),
            limits(2.0, 4.0, 4.0),
            Near,
            |a, _| alone(libm::hypot(a[0], a[1])),
            |a, _| {
                fine(libm::hypot(a[0], a[1]), finite(a), || {
                    scaled(dd::hypot(a[0], a[1]))
                })
            }
        ),
        two!(
            atan2(Float),
            limits(2.0, 6.0, 6.0),
            Near,
            |a, _| alone(libm::atan2(a[0], a[1])),
            atan2_fine
        ),
        two!(
            atan2pi(Float),
            limits(2.0, 6.0, 6.0),
            Near,
            |a, _| alone(libm::atan2(a[0], a[1]) / PI),
            |a, _| {
                let plain = libm::atan2(a[0], a[1]) / PI;
                fine(plain, finite(a), || over_pi(scaled(dd::atan2(a[0], a[1]))))
            }
        ),
        two!(
            half_divide(Float),
            [None, Some(8192.0), None],
            WIDE,
            |a, _| alone(a[0] / a[1]),
            |a, _| alone(a[0] / a[1])
        ),
        two!(
            half_powr(Float),
            [None, Some(8192.0), None],
            Power,
            |a, _| alone(power(a[0], a[1], true)),
            |a, _| alone(a[0])
        ),
        row!(sincos(Float, OutFloat) -> Float, limits(2.0, 4.0, 4.0), Draw::Within(-10_000, 10_000), |a, ty| match ty {
            Type::Double if finite(a) => {
                let (s, c) = dd::sin_cos(a[0]);
                (s.into(), c.into())
            }
            _ => (libm::sin(a[0]).into(), libm::cos(a[0]).into()),
        }),
        row!(lgamma_r(Float, OutInt) -> Float, UNSAID, Draw::Within(-2000, 2000), |a, ty| {
            let (plain, sign) = libm::lgamma_r(a[0]);
            let whole = a[0] <= 0.0 && a[0] == a[0].trunc();
            let ordinary = finite(a) && !whole && a[0] != 1.0 && a[0] != 2.0 && (1e-290..1e290).contains(&a[0].abs());
            let v = if ty == Type::Double && ordinary { dd::lgamma(a[0]).into() } else { plain.into() };
            // The sign at poles, of infinities and of NaNs is unspecified.
            let sign = if whole || !a[0].is_finite() { f64::NAN } else { f64::from(sign) };
            (v, sign.into())
        }),
    ]
}

/// Scales components to near 1. Returns them, the root of the sum of their squares, and the
/// exponent.
fn norm(a: &[f64]) -> ([Dd; 3], Dd, i32) {
    let most = a.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    let e = libm::ilogb(most);
    let s = [0, 1, 2].map(|n| dd(libm::scalbn(libm::scalbn(a[n], -e / 2), -e - -e / 2)));
    let sum = s[0] * s[0] + s[1] * s[1] + s[2] * s[2];
    (s, sum.sqrt(), e)
}

fn length(a: &[f64], _: Type) -> (Real, Real) {
    alone(match a {
        _ if a.iter().any(|v| v.is_infinite()) => f64::INFINITY.into(),
        _ if a.iter().any(|v| v.is_nan()) => f64::NAN.into(),
        _ if a.iter().all(|v| *v == 0.0) => 0.0.into(),
        _ => {
            let (_, root, e) = norm(a);
            scaled((root, e))
        }
    })
}

/// First component of `normalize`.
fn normalize(a: &[f64], _: Type) -> (Real, Real) {
    if a.iter().any(|v| v.is_nan()) {
        return alone(f64::NAN);
    }
    if a.iter().all(|v| *v == 0.0) {
        return alone(a[0]);
    }
    let mut a = a.to_vec();
    if a.iter().any(|v| v.is_infinite()) {
        for v in &mut a {
            *v = if v.is_infinite() {
                v.signum()
            } else {
                0f64.copysign(*v)
            };
        }
    }
    if a[0] == 0.0 {
        return alone(a[0]);
    }
    let (s, root, e) = norm(&a);
    // Components that are small beside the others were lost in scaling.
    if s[0].0.abs() < 1e-200 {
        let first = libm::ilogb(a[0]);
        let m = libm::scalbn(libm::scalbn(a[0], -first / 2), -first - -first / 2);
        return alone(scaled((dd(m) / root, first - e)));
    }
    alone(scaled((s[0] / root, 0)))
}

/// Functions of 3-vectors.
pub fn geometric() -> Vec<Function> {
    vec![
        row!(length(Float, Float, Float) -> Float, limits(1.75, 4.25, 8.5), Draw::Near, length),
        row!(normalize(Float, Float, Float) -> Float, limits(4.0, 5.0, 7.5), Draw::Near, normalize),
    ]
}
