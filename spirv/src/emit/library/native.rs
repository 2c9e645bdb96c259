//! `native_` and `half_` functions, by the math unit.

use super::common::floats;
use super::{Method, wrong};
use crate::emit::Emit;
use crate::error::Error;
use gantry_codegen::ir::{Scalar, Value};
use spirv::OpenclStd100Op as Std;

type E<'a, 'm, 'f> = Emit<'a, 'm, 'f>;
type R = Result<Value, Error>;

pub(super) fn find(which: Std) -> Option<Method> {
    use Method::{One, Two};
    Some(match which {
        Std::native_sin | Std::half_sin => One(|e, a| single(e, a).map(|()| e.b.ins().fsin(a))),
        Std::native_cos | Std::half_cos => One(|e, a| single(e, a).map(|()| e.b.ins().fcos(a))),
        Std::native_tan => One(|e, a| {
            let (s, c) = both(e, a)?;
            Ok(quotient(e, s, c))
        }),
        Std::half_tan => One(|e, a| {
            let (s, c) = both(e, a)?;
            Ok(e.b.ins().fdiv(s, c))
        }),
        Std::native_exp2 | Std::half_exp2 => One(|e, a| single(e, a).map(|()| e.b.ins().fexp2(a))),
        Std::native_exp | Std::half_exp => One(|e, a| exponential(e, a, std::f64::consts::LOG2_E)),
        Std::native_exp10 | Std::half_exp10 => {
            One(|e, a| exponential(e, a, std::f64::consts::LOG2_10))
        }
        Std::native_log2 | Std::half_log2 => One(|e, a| single(e, a).map(|()| e.b.ins().flog2(a))),
        Std::native_log | Std::half_log => One(|e, a| logarithm(e, a, std::f64::consts::LN_2)),
        Std::native_log10 | Std::half_log10 => {
            One(|e, a| logarithm(e, a, std::f64::consts::LOG10_2))
        }
        Std::native_sqrt | Std::half_sqrt => One(|e, a| float(e, a).map(|()| e.b.ins().fsqrt(a))),
        Std::native_rsqrt | Std::half_rsqrt => {
            One(|e, a| float(e, a).map(|()| e.b.ins().frsqrt(a)))
        }
        Std::native_recip | Std::half_recip => One(|e, a| float(e, a).map(|()| e.b.ins().finv(a))),
        Std::native_divide => Two(|e, a, b| floats(e, &[a, b]).map(|()| quotient(e, a, b))),
        Std::half_divide => Two(|e, a, b| floats(e, &[a, b]).map(|()| e.b.ins().fdiv(a, b))),
        Std::native_powr => Two(|e, a, b| {
            floats(e, &[a, b])?;
            single(e, a)?;
            Ok(power(e, a, b))
        }),
        _ => return None,
    })
}

fn float(e: &E<'_, '_, '_>, a: Value) -> Result<(), Error> {
    e.want_float(a).map(|_| ())
}

/// Rejects doubles.
fn single(e: &E<'_, '_, '_>, a: Value) -> Result<(), Error> {
    match e.want_float(a)? {
        Scalar::F64 => Err(wrong()),
        _ => Ok(()),
    }
}

/// Sine and cosine.
fn both(e: &mut E<'_, '_, '_>, a: Value) -> Result<(Value, Value), Error> {
    single(e, a)?;
    Ok((e.b.ins().fsin(a), e.b.ins().fcos(a)))
}

/// Returns true if functions that the math unit lacks are approximated. `native_` functions have no
/// limits on error or range.
fn rough(e: &E<'_, '_, '_>, a: Value) -> bool {
    !e.quotients && e.b.ty(a).scalar() == Scalar::F32
}

/// Quotient. If approximated, it underflows or overflows where the reciprocal does.
fn quotient(e: &mut E<'_, '_, '_>, a: Value, b: Value) -> Value {
    if !rough(e, a) {
        return e.b.ins().fdiv(a, b);
    }
    let inverse = e.b.ins().finv(b);
    e.b.ins().fmul(a, inverse)
}

/// Power of a positive base.
fn power(e: &mut E<'_, '_, '_>, a: Value, b: Value) -> Value {
    if !rough(e, a) {
        return e.b.ins().fpow(a, b);
    }
    let logarithm = e.b.ins().flog2(a);
    let product = e.b.ins().fmul(logarithm, b);
    e.b.ins().fexp2(product)
}

fn exponential(e: &mut E<'_, '_, '_>, a: Value, by: f64) -> R {
    single(e, a)?;
    let by = e.float(a, by);
    let v = e.b.ins().fmul(a, by);
    Ok(e.b.ins().fexp2(v))
}

fn logarithm(e: &mut E<'_, '_, '_>, a: Value, by: f64) -> R {
    single(e, a)?;
    let v = e.b.ins().flog2(a);
    let by = e.float(a, by);
    Ok(e.b.ins().fmul(v, by))
}
