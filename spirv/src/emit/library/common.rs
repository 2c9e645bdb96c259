//! Common functions.

use super::{Method, wrong};
use crate::emit::Emit;
use crate::error::Error;
use gantry_codegen::ir::{FloatCC, Value};
use spirv::OpenclStd100Op as Std;

type E<'a, 'm, 'f> = Emit<'a, 'm, 'f>;
type R = Result<Value, Error>;

pub(super) fn find(which: Std) -> Option<Method> {
    use Method::{One, Three, Two};
    Some(match which {
        Std::fclamp => Three(|e, a, low, high| {
            floats(e, &[a, low, high])?;
            let v = e.b.ins().fmax(a, low);
            Ok(e.b.ins().fmin(v, high))
        }),
        Std::degrees => One(|e, a| times(e, a, 180.0 / std::f64::consts::PI)),
        Std::radians => One(|e, a| times(e, a, std::f64::consts::PI / 180.0)),
        Std::fmax_common => Two(|e, a, b| floats(e, &[a, b]).map(|()| e.b.ins().fmax(a, b))),
        Std::fmin_common => Two(|e, a, b| floats(e, &[a, b]).map(|()| e.b.ins().fmin(a, b))),
        Std::mix => Three(|e, a, b, t| {
            floats(e, &[a, b, t])?;
            let d = e.b.ins().fsub(b, a);
            Ok(e.b.ins().fma(d, t, a))
        }),
        Std::step => Two(|e, edge, a| {
            floats(e, &[edge, a])?;
            let below = e.b.ins().fcmp(FloatCC::LessThan, a, edge);
            let (zero, one) = (e.float(a, 0.0), e.float(a, 1.0));
            e.choose(below, zero, one)
        }),
        Std::smoothstep => Three(smoothstep),
        Std::sign => One(sign),
        _ => return None,
    })
}

pub(super) fn floats(e: &E<'_, '_, '_>, all: &[Value]) -> Result<(), Error> {
    let first = *all.first().ok_or_else(wrong)?;
    e.want_float(first)?;
    if all.iter().all(|v| e.b.ty(*v) == e.b.ty(first)) {
        Ok(())
    } else {
        Err(wrong())
    }
}

fn times(e: &mut E<'_, '_, '_>, a: Value, by: f64) -> R {
    e.want_float(a)?;
    let by = e.float(a, by);
    Ok(e.b.ins().fmul(a, by))
}

/// `t * t * (3 - 2 * t)` with the clamped position `t` between the edges.
fn smoothstep(e: &mut E<'_, '_, '_>, from: Value, to: Value, a: Value) -> R {
    floats(e, &[from, to, a])?;
    let over = e.b.ins().fsub(a, from);
    let span = e.b.ins().fsub(to, from);
    let t = e.quotient(over, span);
    let t = e.b.ins().fsat(t);
    let (minus_two, three) = (e.float(a, -2.0), e.float(a, 3.0));
    let s = e.b.ins().fma(minus_two, t, three);
    let square = e.b.ins().fmul(t, t);
    Ok(e.b.ins().fmul(square, s))
}

/// `sign`: 1 or -1. Zeros stay, and NaN gives 0.
fn sign(e: &mut E<'_, '_, '_>, a: Value) -> R {
    e.want_float(a)?;
    let (zero, one, minus) = (e.float(a, 0.0), e.float(a, 1.0), e.float(a, -1.0));
    let more = e.b.ins().fcmp(FloatCC::GreaterThan, a, zero);
    let less = e.b.ins().fcmp(FloatCC::LessThan, a, zero);
    let nan = e.is_nan(a);
    let v = e.choose(nan, zero, a)?;
    let v = e.choose(less, minus, v)?;
    e.choose(more, one, v)
}
