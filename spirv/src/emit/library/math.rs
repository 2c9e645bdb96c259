//! Elementary functions, by the builder's implementations ([`Math`]).

use super::{Call, Method, wrong};
use crate::emit::{Emit, Leaves};
use crate::error::Error;
use gantry_codegen::builder::Math;
use gantry_codegen::ir::{Scalar, Value};
use spirv::OpenclStd100Op as Std;

type E<'a, 'm, 'f> = Emit<'a, 'm, 'f>;

/// Signature of a function.
#[derive(Clone, Copy)]
enum MathFn {
    One(fn(&mut Math<'_, '_>, Value) -> Value),
    Two(fn(&mut Math<'_, '_>, Value, Value) -> Value),
    /// The second argument is an integer.
    TwoInt(fn(&mut Math<'_, '_>, Value, Value) -> Value),
    /// There is a second result: a float or an integer.
    Pair(fn(&mut Math<'_, '_>, Value) -> (Value, Value)),
}

pub(super) fn find(which: Std) -> Option<Method> {
    form(which).map(|_| Method::All(all))
}

fn form(which: Std) -> Option<MathFn> {
    use MathFn::{One, Pair, Two, TwoInt};
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
        Std::sincos => Pair(|m, x| m.sincos(x)),
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
        Std::pown => TwoInt(|m, x, n| m.pown(x, n)),
        Std::rootn => TwoInt(|m, x, n| m.rootn(x, n)),
        Std::erf => One(|m, x| m.erf(x)),
        Std::erfc => One(|m, x| m.erfc(x)),
        Std::tgamma => One(|m, x| m.tgamma(x)),
        Std::lgamma => One(|m, x| m.lgamma(x)),
        Std::lgamma_r => Pair(|m, x| m.lgamma_r(x)),
        _ => return None,
    })
}

/// Widens halves to singles.
pub(super) fn wide(e: &mut E<'_, '_, '_>, v: Value) -> Result<Value, Error> {
    Ok(match e.want_float(v)? {
        Scalar::F16 => {
            let ty = e.lanes(Scalar::F32, e.b.ty(v).lanes());
            e.b.ins().fpromote(ty, v)
        }
        _ => v,
    })
}

/// Narrows a result to halves, if the arguments were.
pub(super) fn back(e: &mut E<'_, '_, '_>, v: Value, scalar: Scalar) -> Value {
    if scalar != Scalar::F16 {
        return v;
    }
    let ty = e.lanes(Scalar::F16, e.b.ty(v).lanes());
    e.b.ins().fdemote(ty, v)
}

/// Emits a function for each scalar.
fn all(e: &mut E<'_, '_, '_>, call: &Call<'_>) -> Result<Leaves, Error> {
    let form = form(call.which).ok_or_else(wrong)?;
    let arg = |e: &mut E<'_, '_, '_>, n: usize| -> Result<Leaves, Error> {
        e.get(*call.args.get(n).ok_or_else(wrong)?)
    };
    let first = arg(e, 0)?;
    let second = match form {
        MathFn::Two(_) | MathFn::TwoInt(_) => arg(e, 1)?,
        MathFn::One(_) | MathFn::Pair(_) => Leaves::new(),
    };
    let (mut out, mut besides) = (Leaves::new(), Leaves::new());
    for (n, &a) in first.iter().enumerate() {
        let scalar = e.want_float(a)?;
        let b = second.get(n).copied();
        if let Some(b) = b {
            let of = match form {
                MathFn::TwoInt(_) => Scalar::I32,
                _ => scalar,
            };
            if e.scalar_of(b) != of {
                return Err(wrong());
            }
        }
        let mut m = e.b.math_in(e.module);
        out.push(match (form, b) {
            (MathFn::One(f), None) => f(&mut m, a),
            (MathFn::Two(f) | MathFn::TwoInt(f), Some(b)) => f(&mut m, a, b),
            (MathFn::Pair(f), None) => {
                let (v, beside) = f(&mut m, a);
                besides.push(beside);
                v
            }
            _ => return Err(wrong()),
        });
    }
    if !besides.is_empty() {
        super::float_parts::put(e, call, 1, &besides)?;
    }
    Ok(out)
}
