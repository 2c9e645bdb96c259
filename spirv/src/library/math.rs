//! Elementary functions, each by the builder's own ([`Math`]).

use super::{Call, Method, wrong};
use crate::emit::{Emit, Leaves};
use crate::error::Error;
use gantry_codegen::builder::Math;
use gantry_codegen::ir::{Scalar, Value};
use spirv::OpenclStd100Op as Std;

type E<'a, 'm, 'f> = Emit<'a, 'm, 'f>;

/// A function's form.
#[derive(Clone, Copy)]
enum Form {
    One(fn(&mut Math<'_, '_>, Value) -> Value),
    Two(fn(&mut Math<'_, '_>, Value, Value) -> Value),
    /// By an integer.
    Whole(fn(&mut Math<'_, '_>, Value, Value) -> Value),
    /// With a second result: a float, or an integer.
    Both(fn(&mut Math<'_, '_>, Value) -> (Value, Value)),
}

pub(super) fn find(which: Std) -> Option<Method> {
    form(which).map(|_| Method::All(all))
}

fn form(which: Std) -> Option<Form> {
    use Form::{Both, One, Two, Whole};
    Some(match which {
        Std::exp => One(|m, x| m.exp(x)),
        Std::exp2 => One(|m, x| m.exp2(x)),
        Std::exp10 => One(|m, x| m.exp10(x)),
        Std::expm1 => One(|m, x| m.expm1(x)),
        Std::log => One(|m, x| m.log(x)),
        Std::log2 => One(|m, x| m.log2(x)),
        Std::log10 => One(|m, x| m.log10(x)),
        Std::log1p => One(|m, x| m.log1p(x)),
        Std::sinh => One(|m, x| m.sinh(x)),
        Std::cosh => One(|m, x| m.cosh(x)),
        Std::tanh => One(|m, x| m.tanh(x)),
        Std::asinh => One(|m, x| m.asinh(x)),
        Std::acosh => One(|m, x| m.acosh(x)),
        Std::atanh => One(|m, x| m.atanh(x)),
        Std::sin => One(|m, x| m.sin(x)),
        Std::cos => One(|m, x| m.cos(x)),
        Std::sincos => Both(|m, x| m.sincos(x)),
        Std::tan => One(|m, x| m.tan(x)),
        Std::sinpi => One(|m, x| m.sinpi(x)),
        Std::cospi => One(|m, x| m.cospi(x)),
        Std::tanpi => One(|m, x| m.tanpi(x)),
        Std::asin => One(|m, x| m.asin(x)),
        Std::acos => One(|m, x| m.acos(x)),
        Std::atan => One(|m, x| m.atan(x)),
        Std::asinpi => One(|m, x| m.asinpi(x)),
        Std::acospi => One(|m, x| m.acospi(x)),
        Std::atanpi => One(|m, x| m.atanpi(x)),
        Std::atan2 => Two(|m, x, y| m.atan2(x, y)),
        Std::atan2pi => Two(|m, x, y| m.atan2pi(x, y)),
        Std::cbrt => One(|m, x| m.cbrt(x)),
        Std::rsqrt => One(|m, x| m.rsqrt(x)),
        Std::hypot => Two(|m, x, y| m.hypot(x, y)),
        Std::pow => Two(|m, x, y| m.pow(x, y)),
        Std::powr | Std::half_powr => Two(|m, x, y| m.powr(x, y)),
        Std::pown => Whole(|m, x, n| m.pown(x, n)),
        Std::rootn => Whole(|m, x, n| m.rootn(x, n)),
        Std::erf => One(|m, x| m.erf(x)),
        Std::erfc => One(|m, x| m.erfc(x)),
        Std::tgamma => One(|m, x| m.tgamma(x)),
        Std::lgamma => One(|m, x| m.lgamma(x)),
        Std::lgamma_r => Both(|m, x| m.lgamma_r(x)),
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

/// Of each scalar.
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
    for (n, &a) in first.iter().enumerate() {
        let scalar = e.want_float(a)?;
        let b = second.get(n).copied();
        if let Some(b) = b {
            let of = match form {
                Form::Whole(_) => Scalar::I32,
                _ => scalar,
            };
            if e.scalar_of(b) != of {
                return Err(wrong());
            }
        }
        let mut m = e.b.math_in(e.module);
        out.push(match (form, b) {
            (Form::One(f), None) => f(&mut m, a),
            (Form::Two(f) | Form::Whole(f), Some(b)) => f(&mut m, a, b),
            (Form::Both(f), None) => {
                let (v, beside) = f(&mut m, a);
                besides.push(beside);
                v
            }
            _ => return Err(wrong()),
        });
    }
    if !besides.is_empty() {
        super::classes::put(e, call, 1, &besides)?;
    }
    Ok(out)
}
