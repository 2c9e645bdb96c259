//! Geometric functions; of halves by singles.

use super::math::kit::Kit;
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

/// An argument's components, and what they were.
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

/// Both arguments' components, and what they were.
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

/// Products' difference: the rounding error of one product is made good by another `fma`.
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

/// Components brought near 1 by the largest one's power of two, the sum of their squares, and the power that leads back.
fn near_one(e: &mut E<'_, '_, '_>, v: &[Value]) -> Result<(Leaves, Value, Value), Error> {
    let first = *v.first().ok_or_else(wrong)?;
    let mut k = Kit::new(e, first, false);
    let mut most = k.abs(first);
    for c in v.iter().skip(1) {
        let c = k.abs(*c);
        most = k.max(most, c);
    }
    let (by, back) = k.scales(most);
    let scaled: Leaves = v.iter().map(|c| k.mul(*c, by)).collect();
    let mut all = scaled.iter();
    let c = *all.next().ok_or_else(wrong)?;
    let mut sum = k.mul(c, c);
    for c in all {
        sum = k.fma(*c, *c, sum);
    }
    Ok((scaled, sum, back))
}

fn root(e: &mut E<'_, '_, '_>, v: &[Value], scalar: Scalar) -> Result<Leaves, Error> {
    let (_, sum, by) = near_one(e, v)?;
    let mut k = Kit::new(e, sum, false);
    let r = k.sqrt(sum);
    let r = k.mul(r, by);
    let endless = k.eq_n(sum, f64::INFINITY);
    let r = k.sel(endless, sum, r);
    Ok(Leaves::from_slice(&[back(e, r, scalar)]))
}

fn length(e: &mut E<'_, '_, '_>, call: &Call<'_>) -> Result<Leaves, Error> {
    let (v, scalar) = arg(e, call, 0)?;
    root(e, &v, scalar)
}

fn distance(e: &mut E<'_, '_, '_>, call: &Call<'_>) -> Result<Leaves, Error> {
    let (a, b, scalar) = two(e, call)?;
    let all = a.iter().zip(&b);
    let d: Leaves = all.map(|(a, b)| e.b.ins().fsub(*a, *b)).collect();
    root(e, &d, scalar)
}

/// By the root of the sum of squares; a vector of zeros is itself. Where there are infinities they are 1, and others 0.
fn normalize(e: &mut E<'_, '_, '_>, call: &Call<'_>) -> Result<Leaves, Error> {
    let (mut v, scalar) = arg(e, call, 0)?;
    let first = *v.first().ok_or_else(wrong)?;
    let mut k = Kit::new(e, first, false);
    let infinity = k.n(f64::INFINITY);
    let mut any = None;
    let mut ends = Vec::new();
    for c in &v {
        let a = k.abs(*c);
        let end = k.eq(a, infinity);
        ends.push(end);
        any = Some(match any {
            Some(before) => k.or(before, end),
            None => end,
        });
    }
    let any = any.ok_or_else(wrong)?;
    for (c, end) in v.iter_mut().zip(ends) {
        let (zero, one) = (k.times(*c, 0.0), k.n(1.0));
        let one = k.with_sign(one, *c);
        let other = k.sel(end, one, zero);
        *c = k.sel(any, other, *c);
    }
    let (scaled, sum, _) = near_one(e, &v)?;
    let mut k = Kit::new(e, sum, false);
    let none = k.eq_n(sum, 0.0);
    let length = k.sqrt(sum);
    let mut out = Leaves::new();
    for (c, s) in v.iter().zip(&scaled) {
        let mut k = Kit::new(e, sum, false);
        let q = k.div(*s, length);
        let q = k.with_sign(q, *c);
        let q = k.sel(none, *c, q);
        out.push(back(e, q, scalar));
    }
    Ok(out)
}
