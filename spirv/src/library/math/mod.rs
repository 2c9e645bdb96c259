//! Elementary functions of singles and doubles, and of halves by way of singles. Each says its method where it stands; `docs/spirv-math.md` has the errors.

mod exponential;
mod gamma;
mod kit;
mod power;
mod reduction;
mod trigonometric;

use super::{Call, Method, wrong};
use crate::emit::{Emit, Leaves};
use crate::error::Error;
use gantry_codegen::ir::{Scalar, Value};
use kit::Kit;
use spirv::OpenclStd100Op as Std;

type E<'a, 'm, 'f> = Emit<'a, 'm, 'f>;

/// A function of singles.
type F1 = fn(&mut Kit<'_, '_, '_, '_>, Value) -> Value;
type F2 = fn(&mut Kit<'_, '_, '_, '_>, Value, Value) -> Value;

pub(super) fn find(which: Std) -> Option<Method> {
    match which {
        Std::sincos | Std::lgamma_r | Std::pown | Std::rootn => Some(Method::All(others)),
        _ if one(which).is_some() || two(which).is_some() => Some(Method::All(others)),
        _ => None,
    }
}

fn one(which: Std) -> Option<F1> {
    use exponential as x;
    use trigonometric as t;
    Some(match which {
        Std::exp => x::exp,
        Std::exp2 => x::exp2,
        Std::exp10 => x::exp10,
        Std::expm1 => x::expm1,
        Std::log => x::log,
        Std::log2 => x::log2,
        Std::log10 => x::log10,
        Std::log1p => x::log1p,
        Std::sinh => x::sinh,
        Std::cosh => x::cosh,
        Std::tanh => x::tanh,
        Std::asinh => x::asinh,
        Std::acosh => x::acosh,
        Std::atanh => x::atanh,
        Std::sin => t::sin,
        Std::cos => t::cos,
        Std::tan => t::tan,
        Std::sinpi => t::sinpi,
        Std::cospi => t::cospi,
        Std::tanpi => t::tanpi,
        Std::asin => t::asin,
        Std::acos => t::acos,
        Std::atan => t::atan,
        Std::asinpi => |k, a| {
            let v = t::asin(k, a);
            t::over_pi(k, v)
        },
        Std::acospi => |k, a| {
            let v = t::acos(k, a);
            t::over_pi(k, v)
        },
        Std::atanpi => |k, a| {
            let v = t::atan(k, a);
            t::over_pi(k, v)
        },
        Std::cbrt => power::cbrt,
        Std::rsqrt => power::rsqrt,
        Std::erf => gamma::erf,
        Std::erfc => gamma::erfc,
        Std::tgamma => gamma::tgamma,
        Std::lgamma => |k, a| gamma::lgamma(k, a).0,
        _ => return None,
    })
}

fn two(which: Std) -> Option<F2> {
    Some(match which {
        Std::pow => power::pow,
        Std::powr | Std::half_powr => power::powr,
        Std::hypot => power::hypot,
        Std::atan2 => trigonometric::atan2,
        Std::atan2pi => |k, y, x| {
            let v = trigonometric::atan2(k, y, x);
            trigonometric::over_pi(k, v)
        },
        _ => return None,
    })
}

/// An argument as singles or doubles.
fn wide(e: &mut E<'_, '_, '_>, v: Value) -> Result<Value, Error> {
    Ok(match e.want_float(v)? {
        Scalar::F16 => {
            let ty = e.lanes(Scalar::F32, e.b.ty(v).lanes());
            e.b.ins().fpromote(ty, v)
        }
        _ => v,
    })
}

fn back(e: &mut E<'_, '_, '_>, v: Value, scalar: Scalar) -> Value {
    if scalar != Scalar::F16 {
        return v;
    }
    let ty = e.lanes(Scalar::F16, e.b.ty(v).lanes());
    e.b.ins().fdemote(ty, v)
}

fn others(e: &mut E<'_, '_, '_>, call: &Call<'_>) -> Result<Leaves, Error> {
    let first = e.get(*call.args.first().ok_or_else(wrong)?)?;
    let two_arguments = two(call.which).is_some() || matches!(call.which, Std::pown | Std::rootn);
    let second = match two_arguments {
        true => Some(e.get(*call.args.get(1).ok_or_else(wrong)?)?),
        false => None,
    };
    let (mut out, mut besides) = (Leaves::new(), Leaves::new());
    for (n, a) in first.iter().enumerate() {
        let scalar = e.want_float(*a)?;
        let mut x = wide(e, *a)?;
        let mut y = None;
        if let Some(second) = &second {
            let b = *second.get(n).ok_or_else(wrong)?;
            let b = match matches!(call.which, Std::pown | Std::rootn) {
                true if e.scalar_of(b) == Scalar::I32 => b,
                true => return Err(wrong()),
                false if e.scalar_of(b) == scalar => wide(e, b)?,
                false => return Err(wrong()),
            };
            let mut v = [x, b];
            e.even(&mut v);
            x = v[0];
            y = Some(v[1]);
        }
        let mut k = Kit::new(e, x, scalar == Scalar::F16);
        let v = match (call.which, y) {
            (Std::sincos, _) => {
                let (s, c) = trigonometric::sin_cos(&mut k, x);
                besides.push(back(e, c, scalar));
                s
            }
            (Std::lgamma_r, _) => {
                let (v, sign) = gamma::lgamma(&mut k, x);
                besides.push(sign);
                v
            }
            (Std::pown, Some(n)) => power::pown(&mut k, x, n),
            (Std::rootn, Some(n)) => power::rootn(&mut k, x, n),
            (which, Some(y)) => two(which).ok_or_else(wrong)?(&mut k, x, y),
            (which, None) => one(which).ok_or_else(wrong)?(&mut k, x),
        };
        out.push(back(e, v, scalar));
    }
    if !besides.is_empty() {
        super::classes::put(e, call, 1, &besides)?;
    }
    Ok(out)
}
