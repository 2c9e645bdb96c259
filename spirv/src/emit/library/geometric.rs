//! Geometric functions. Those of halves are computed as singles.

use super::math::{back, wide};
use super::{Call, Method, wrong};
use crate::emit::{Emit, Leaves};
use crate::error::Error;
use gantry_codegen::ir::{Scalar, Value};
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

/// Components of an argument, widened, and their original type.
fn arg(e: &mut E<'_, '_, '_>, call: &Call<'_>, n: usize) -> Result<(Leaves, Scalar), Error> {
    let id = *call.args.get(n).ok_or_else(wrong)?;
    let mut v = e.get(id)?;
    e.even(&mut v);
    let scalar = e.want_float(*v.first().ok_or_else(wrong)?)?;
    for c in &mut v {
        *c = wide(e, *c)?;
    }
    Ok((v, scalar))
}

/// Components of both arguments, and their original type.
fn two(e: &mut E<'_, '_, '_>, call: &Call<'_>) -> Result<(Leaves, Leaves, Scalar), Error> {
    let (mut all, scalar) = arg(e, call, 0)?;
    let count = all.len();
    let (second, other) = arg(e, call, 1)?;
    if scalar != other || second.len() != count {
        return Err(wrong());
    }
    all.extend(second);
    e.even(&mut all);
    let (a, b) = all.split_at(count);
    Ok((Leaves::from_slice(a), Leaves::from_slice(b), scalar))
}

/// Difference of two products. The `fma` avoids rounding one of them.
fn difference(e: &mut E<'_, '_, '_>, a: Value, b: Value, c: Value, d: Value) -> Value {
    let cd = e.b.ins().fmul(c, d);
    let minus = e.b.ins().fneg(cd);
    e.b.ins().fma(a, b, minus)
}

fn cross(e: &mut E<'_, '_, '_>, call: &Call<'_>) -> Result<Leaves, Error> {
    let (a, b, scalar) = two(e, call)?;
    if !matches!(a.len(), 3 | 4) {
        return Err(wrong());
    }
    let mut out = Leaves::new();
    for n in 0..3 {
        let (i, j) = ((n + 1) % 3, (n + 2) % 3);
        let d = difference(e, a[i], b[j], a[j], b[i]);
        out.push(back(e, d, scalar));
    }
    if a.len() == 4 {
        let zero = e.float(a[0], 0.0);
        out.push(back(e, zero, scalar));
    }
    Ok(out)
}

fn root(e: &mut E<'_, '_, '_>, v: &[Value], scalar: Scalar) -> Leaves {
    let r = e.b.math().length(v);
    Leaves::from_slice(&[back(e, r, scalar)])
}

fn length(e: &mut E<'_, '_, '_>, call: &Call<'_>) -> Result<Leaves, Error> {
    let (v, scalar) = arg(e, call, 0)?;
    Ok(root(e, &v, scalar))
}

fn distance(e: &mut E<'_, '_, '_>, call: &Call<'_>) -> Result<Leaves, Error> {
    let (a, b, scalar) = two(e, call)?;
    let all = a.iter().zip(&b);
    let d: Leaves = all.map(|(a, b)| e.b.ins().fsub(*a, *b)).collect();
    Ok(root(e, &d, scalar))
}

fn normalize(e: &mut E<'_, '_, '_>, call: &Call<'_>) -> Result<Leaves, Error> {
    let (v, scalar) = arg(e, call, 0)?;
    let all = e.b.math().normalize(&v);
    Ok(all.into_iter().map(|c| back(e, c, scalar)).collect())
}
