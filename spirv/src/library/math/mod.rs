//! Elementary functions of singles and doubles, and of halves by way of singles. Each says its method where it stands; `docs/spirv-math.md` has the errors.

mod exponential;
mod gamma;
pub(super) mod kit;
mod power;
mod reduction;
mod trigonometric;

use super::{Call, Method, wrong};
use crate::emit::{Emit, Leaves};
use crate::error::Error;
use gantry_codegen::ir::{Scalar, Value};
use kit::Kit;
use spirv::OpenclStd100Op as Std;
use std::f64::consts::FRAC_1_PI;

type E<'a, 'm, 'f> = Emit<'a, 'm, 'f>;

type K<'k, 'a, 'm, 'f> = Kit<'k, 'a, 'm, 'f>;

/// A function's form.
#[derive(Clone, Copy)]
enum Form {
    One(fn(&mut K<'_, '_, '_, '_>, Value) -> Value),
    Two(fn(&mut K<'_, '_, '_, '_>, Value, Value) -> Value),
    /// By an integer.
    Whole(fn(&mut K<'_, '_, '_, '_>, Value, Value) -> Value),
    /// With a second result: a float, or an integer.
    Both(fn(&mut K<'_, '_, '_, '_>, Value) -> (Value, Value)),
}

pub(super) fn find(which: Std) -> Option<Method> {
    form(which).map(|_| Method::All(all))
}

/// A function whose angle goes by turns, as the one whose angle does not; any other as itself.
fn in_radians(which: Std) -> Std {
    match which {
        Std::asinpi => Std::asin,
        Std::acospi => Std::acos,
        Std::atanpi => Std::atan,
        Std::atan2pi => Std::atan2,
        which => which,
    }
}

fn form(which: Std) -> Option<Form> {
    use Form::{Both, One, Two, Whole};
    use exponential as x;
    use trigonometric as t;
    Some(match in_radians(which) {
        Std::exp => One(x::exp),
        Std::exp2 => One(x::exp2),
        Std::exp10 => One(x::exp10),
        Std::expm1 => One(x::expm1),
        Std::log => One(x::log),
        Std::log2 => One(x::log2),
        Std::log10 => One(x::log10),
        Std::log1p => One(x::log1p),
        Std::sinh => One(x::sinh),
        Std::cosh => One(x::cosh),
        Std::tanh => One(x::tanh),
        Std::asinh => One(x::asinh),
        Std::acosh => One(x::acosh),
        Std::atanh => One(x::atanh),
        Std::sin => One(|k, a| t::sin_cos(k, a).0),
        Std::cos => One(|k, a| t::sin_cos(k, a).1),
        Std::sincos => Both(t::sin_cos),
        Std::tan => One(t::tan),
        Std::sinpi => One(|k, a| t::in_turns(k, a).0),
        Std::cospi => One(|k, a| t::in_turns(k, a).1),
        Std::tanpi => One(t::tanpi),
        Std::asin => One(t::asin),
        Std::acos => One(t::acos),
        Std::atan => One(t::atan),
        Std::atan2 => Two(t::atan2),
        Std::cbrt => One(power::cbrt),
        Std::rsqrt => One(power::rsqrt),
        Std::hypot => Two(power::hypot),
        Std::pow => Two(power::pow),
        Std::powr | Std::half_powr => Two(power::powr),
        Std::pown => Whole(power::pown),
        Std::rootn => Whole(power::rootn),
        Std::erf => One(gamma::erf),
        Std::erfc => One(gamma::erfc),
        Std::tgamma => One(gamma::tgamma),
        Std::lgamma => One(|k, a| gamma::lgamma(k, a).0),
        Std::lgamma_r => Both(gamma::lgamma),
        _ => return None,
    })
}

/// An argument as singles or doubles.
pub(super) fn wide(e: &mut E<'_, '_, '_>, v: Value) -> Result<Value, Error> {
    Ok(match e.want_float(v)? {
        Scalar::F16 => {
            let ty = e.lanes(Scalar::F32, e.b.ty(v).lanes());
            e.b.ins().fpromote(ty, v)
        }
        _ => v,
    })
}

/// What was computed of halves as halves.
pub(super) fn back(e: &mut E<'_, '_, '_>, v: Value, scalar: Scalar) -> Value {
    if scalar != Scalar::F16 {
        return v;
    }
    let ty = e.lanes(Scalar::F16, e.b.ty(v).lanes());
    e.b.ins().fdemote(ty, v)
}

/// Of each scalar; halves as singles.
fn all(e: &mut E<'_, '_, '_>, call: &Call<'_>) -> Result<Leaves, Error> {
    let form = form(call.which).ok_or_else(wrong)?;
    let arg = |e: &mut E<'_, '_, '_>, n: usize| -> Result<Leaves, Error> {
        e.get(*call.args.get(n).ok_or_else(wrong)?)
    };
    let first = arg(e, 0)?;
    let second = match form {
        Form::Two(_) | Form::Whole(_) => arg(e, 1)?,
        Form::One(_) | Form::Both(_) => Leaves::new(),
    };
    let (mut out, mut besides) = (Leaves::new(), Leaves::new());
    for (n, a) in first.iter().enumerate() {
        let scalar = e.want_float(*a)?;
        let mut v = Leaves::from_slice(&[wide(e, *a)?]);
        if let Some(b) = second.get(n) {
            let of = match form {
                Form::Whole(_) => Scalar::I32,
                _ => scalar,
            };
            if e.scalar_of(*b) != of {
                return Err(wrong());
            }
            v.push(if of == scalar { wide(e, *b)? } else { *b });
        }
        e.even(&mut v);
        let first = *v.first().ok_or_else(wrong)?;
        let mut k = Kit::new(e, first, scalar == Scalar::F16);
        let mut v = match (form, v.as_slice()) {
            (Form::One(f), &[a]) => f(&mut k, a),
            (Form::Two(f) | Form::Whole(f), &[a, b]) => f(&mut k, a, b),
            (Form::Both(f), &[a]) => {
                let (v, beside) = f(&mut k, a);
                besides.push(beside);
                v
            }
            _ => return Err(wrong()),
        };
        if in_radians(call.which) != call.which {
            v = k.times(v, FRAC_1_PI);
        }
        out.push(back(e, v, scalar));
    }
    if !besides.is_empty() {
        // Sines and cosines are of one type; signs are integers.
        if call.which == Std::sincos {
            for (b, a) in besides.iter_mut().zip(&first) {
                let scalar = e.scalar_of(*a);
                *b = back(e, *b, scalar);
            }
        }
        super::classes::put(e, call, 1, &besides)?;
    }
    Ok(out)
}
