//! Functions that are exact, or rounded once.

use super::*;
use crate::ulp::dd::{self, dd};

/// Adjacent number in a type, in the direction of `b`.
fn next(ty: Type, a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        return f64::NAN;
    }
    if a == b {
        return b;
    }
    let sign = 1u64 << (ty.bits() - 1);
    let bits = ty.of(a);
    let up = b > a;
    ty.value(match (a == 0.0, a > 0.0) {
        (true, _) => 1 | if up { 0 } else { sign },
        (_, positive) if positive == up => bits + 1,
        _ => bits - 1,
    })
}

fn least(ty: Type) -> f64 {
    1.0 - ty.value(ty.of(1.0)) / libm::exp2(f64::from(ty.format().0))
}

#[rustfmt::skip]
pub fn parts() -> Vec<Function> {
    use Draw::{Any, Near};
    vec![
        row!(ceil(Float) -> Float, ROUNDED, Any, |a, _| alone(a[0].ceil())),
        row!(fabs(Float) -> Float, EXACT, Any, |a, _| alone(a[0].abs())),
        row!(floor(Float) -> Float, ROUNDED, Any, |a, _| alone(a[0].floor())),
        row!(rint(Float) -> Float, ROUNDED, Any, |a, _| alone(libm::rint(a[0]))),
        row!(round(Float) -> Float, ROUNDED, Any, |a, _| alone(libm::round(a[0]))),
        row!(trunc(Float) -> Float, ROUNDED, Any, |a, _| alone(a[0].trunc())),
        row!(sign(Float) -> Float, EXACT, Any, |a, _| alone(match a[0] {
            v if v.is_nan() => 0.0,
            0.0 => a[0],
            v => v.signum(),
        })),
        row!(logb(Float) -> Float, EXACT, Any, |a, _| alone(match a[0] {
            0.0 => f64::NEG_INFINITY,
            v if !v.is_finite() => v.abs(),
            v => f64::from(libm::ilogb(v)),
        })),
        row!(ilogb(Float) -> Int, EXACT, Any, |a, _| alone(match a[0] {
            0.0 => f64::from(i32::MIN),
            v if !v.is_finite() => f64::from(i32::MAX),
            v => f64::from(libm::ilogb(v)),
        })),
        row!(copysign(Float, Float) -> Float, EXACT, Any, |a, _| alone(a[0].copysign(a[1]))),
        row!(fdim(Float, Float) -> Float, ROUNDED, Near, |a, _| alone(match (a[0], a[1]) {
            (x, y) if x <= y => Real::from(0.0),
            (x, y) if x.is_finite() && y.is_finite() => dd::sum(x, -y).into(),
            (x, y) => Real::from(x - y),
        })),
        row!(fmax(Float, Float) -> Float, EXACT, Any, |a, _| alone(a[0].max(a[1]))),
        row!(fmin(Float, Float) -> Float, EXACT, Any, |a, _| alone(a[0].min(a[1]))),
        row!(maxmag(Float, Float) -> Float, EXACT, Any, |a, _| alone(match (a[0].abs(), a[1].abs()) {
            (x, y) if x > y => a[0],
            (x, y) if y > x => a[1],
            _ => a[0].max(a[1]),
        })),
        row!(minmag(Float, Float) -> Float, EXACT, Any, |a, _| alone(match (a[0].abs(), a[1].abs()) {
            (x, y) if x < y => a[0],
            (x, y) if y < x => a[1],
            _ => a[0].min(a[1]),
        })),
        row!(fmod(Float, Float) -> Float, EXACT, Any, |a, _| alone(libm::fmod(a[0], a[1]))),
        row!(remainder(Float, Float) -> Float, EXACT, Any, |a, _| alone(libm::remainder(a[0], a[1]))),
        row!(remquo(Float, Float, OutInt) -> Float, EXACT, Near, |a, _| {
            let (r, q) = libm::remquo(a[0], a[1]);
            let ordinary = a[0].is_finite() && a[1] != 0.0 && !a[1].is_nan();
            let sign = if q < 0 { -1.0 } else { 1.0 };
            let q = f64::from(q.unsigned_abs() & 0x7f);
            (r.into(), (if ordinary { sign * q } else { f64::NAN }).into())
        }),
        row!(nextafter(Float, Float) -> Float, EXACT, Near, |a, ty| alone(next(ty, a[0], a[1]))),
        row!(ldexp(Float, Int) -> Float, ROUNDED, Draw::WholePower, |a, _| if finite(&a[..1]) { alone(Real { v: dd(a[0]), e: (a[1] as i32).clamp(-10_000, 10_000) }) } else { alone(a[0]) }),
        row!(frexp(Float, OutInt) -> Float, EXACT, Any, |a, _| if finite(a) {
                let (m, e) = libm::frexp(a[0]);
                (m.into(), f64::from(e).into())
            } else { // The exponent of infinities and NaNs is not said.
            (a[0].into(), (if a[0] == 0.0 { 0.0 } else { f64::NAN }).into()) }),
        row!(modf(Float, OutFloat) -> Float, EXACT, Any, |a, _| {
            let whole = a[0].trunc();
            let rest = if a[0].is_infinite() { 0.0 } else { a[0] - whole };
            (rest.copysign(a[0]).into(), whole.into())
        }),
        row!(fract(Float, OutFloat) -> Float, ROUNDED, Any, |a, ty| {
            let whole = a[0].floor();
            let v = match a[0] {
                v if v.is_infinite() => 0f64.copysign(v),
                0.0 => a[0],
                v if v.is_nan() => v,
                v if v == whole => 0.0,
                v if v < 0.0 && v > -1e-3 => {
                    let one = ty.value(ty.of(1.0 + v));
                    one.min(least(ty))
                }
                v => (v - whole).min(least(ty)),
            };
            (v.into(), whole.into())
        }),
        row!(nan(Bits) -> Float, EXACT, Any, |_, _| alone(f64::NAN)),
    ]
}

/// `a * b + c`, to about 100 bits.
fn fused(a: &[f64], ty: Type) -> (Real, Real) {
    alone(match (ty, a.iter().all(|a| a.is_finite())) {
        (Type::Double, _) | (_, false) => a[0].mul_add(a[1], a[2]).into(),
        // The product is exact.
        _ => {
            let v = dd::sum(a[0] * a[1], a[2]);
            Real::from(v)
        }
    })
}

#[rustfmt::skip]
pub fn others() -> Vec<Function> {
    use Draw::{Any, Near};
    vec![
        row!(fma(Float, Float, Float) -> Float, ROUNDED, Near, fused),
        row!(fclamp(Float, Float, Float) -> Float, UNSAID, Any, |a, _| alone(a[0].max(a[1]).min(a[2]))),
        row!(step(Float, Float) -> Float, EXACT, Any, |a, _| alone(if a[1] < a[0] { 0.0 } else { 1.0 })),
        row!(fmax_common(Float, Float) -> Float, UNSAID, Any, |a, _| alone(a[0].max(a[1]))),
        row!(fmin_common(Float, Float) -> Float, UNSAID, Any, |a, _| alone(a[0].min(a[1]))),
    ]
}
