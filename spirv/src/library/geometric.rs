//! Geometric functions.

use super::{Call, Method, wrong};
use crate::emit::{Emit, Leaves};
use crate::error::Error;
use gantry_codegen::ir::{FloatCC, Value};
use spirv::OpenclStd100Op as Std;

type E<'a, 'm, 'f> = Emit<'a, 'm, 'f>;

pub(super) fn find(which: Std) -> Option<Method> {
    Some(Method::All(match which {
        Std::cross => cross,
        Std::length | Std::fast_length => length,
        Std::distance | Std::fast_distance => distance,
        Std::normalize | Std::fast_normalize => normalize,
        _ => return None,
    }))
}

fn arg(e: &mut E<'_, '_, '_>, call: &Call<'_>, n: usize) -> Result<Leaves, Error> {
    let id = *call.args.get(n).ok_or_else(wrong)?;
    let mut v = e.get(id)?;
    e.even(&mut v);
    match v.iter().all(|v| e.scalar_of(*v).is_float()) {
        true => Ok(v),
        false => Err(wrong()),
    }
}

/// Products' difference: the rounding error of one product is made good by another `fma`.
fn difference(e: &mut E<'_, '_, '_>, a: Value, b: Value, c: Value, d: Value) -> Value {
    let cd = e.b.ins().fmul(c, d);
    let minus = e.b.ins().fneg(cd);
    e.b.ins().fma(a, b, minus)
}

fn cross(e: &mut E<'_, '_, '_>, call: &Call<'_>) -> Result<Leaves, Error> {
    let mut all = arg(e, call, 0)?;
    let count = all.len();
    all.extend(arg(e, call, 1)?);
    if !matches!(count, 3 | 4) || all.len() != 2 * count {
        return Err(wrong());
    }
    e.even(&mut all);
    let (a, b) = all.split_at(count);
    let mut out = Leaves::new();
    for n in 0..3 {
        let (i, j) = ((n + 1) % 3, (n + 2) % 3);
        out.push(difference(e, a[i], b[j], a[j], b[i]));
    }
    if count == 4 {
        let zero = e.float(a[0], 0.0);
        out.push(zero);
    }
    Ok(out)
}

/// The root of the sum of squares, of components brought near 1 by their largest one's power of two.
fn norm(e: &mut E<'_, '_, '_>, v: &[Value]) -> Result<(Value, Value, Leaves), Error> {
    let first = *v.first().ok_or_else(wrong)?;
    let mut most = e.b.ins().fabs(first);
    for c in v.iter().skip(1) {
        let c = e.b.ins().fabs(*c);
        most = e.b.ins().fmax(most, c);
    }
    let (large, small) = (e.float(first, 1e18), e.float(first, 1e-18));
    let (one, up, down) = (
        e.float(first, 1.0),
        e.float(first, 2f64.powi(64)),
        e.float(first, 2f64.powi(-64)),
    );
    let is_large = e.b.ins().fcmp(FloatCC::GreaterThan, most, large);
    let is_small = e.b.ins().fcmp(FloatCC::LessThan, most, small);
    let by = e.choose(is_small, up, one)?;
    let by = e.choose(is_large, down, by)?;
    let back = e.choose(is_small, down, one)?;
    let back = e.choose(is_large, up, back)?;
    let mut sum: Option<Value> = None;
    let mut scaled = Leaves::new();
    for c in v {
        let c = e.b.ins().fmul(*c, by);
        scaled.push(c);
        sum = Some(match sum {
            None => e.b.ins().fmul(c, c),
            Some(s) => e.b.ins().fma(c, c, s),
        });
    }
    Ok((sum.ok_or_else(wrong)?, back, scaled))
}

fn root(e: &mut E<'_, '_, '_>, v: &[Value]) -> Result<Leaves, Error> {
    let (sum, back, _) = norm(e, v)?;
    let r = e.b.ins().fsqrt_rn(sum);
    Ok(Leaves::from_slice(&[e.b.ins().fmul(r, back)]))
}

fn length(e: &mut E<'_, '_, '_>, call: &Call<'_>) -> Result<Leaves, Error> {
    let v = arg(e, call, 0)?;
    root(e, &v)
}

fn distance(e: &mut E<'_, '_, '_>, call: &Call<'_>) -> Result<Leaves, Error> {
    let mut all = arg(e, call, 0)?;
    let count = all.len();
    all.extend(arg(e, call, 1)?);
    e.even(&mut all);
    let (a, b) = all.split_at(count);
    let d: Leaves = a
        .iter()
        .zip(b)
        .map(|(a, b)| e.b.ins().fsub(*a, *b))
        .collect();
    root(e, &d)
}

/// By the root of the sum of squares; a vector of zeros is itself.
fn normalize(e: &mut E<'_, '_, '_>, call: &Call<'_>) -> Result<Leaves, Error> {
    let v = arg(e, call, 0)?;
    let (sum, _, scaled) = norm(e, &v)?;
    let zero = e.float(sum, 0.0);
    let none = e.b.ins().fcmp(FloatCC::Equal, sum, zero);
    let length = e.b.ins().fsqrt_rn(sum);
    let mut out = Leaves::new();
    for (c, s) in v.iter().zip(&scaled) {
        let q = e.b.ins().fdiv_rn(*s, length);
        out.push(e.choose(none, *c, q)?);
    }
    Ok(out)
}
