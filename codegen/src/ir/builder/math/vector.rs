//! Lengths of vectors, without overflow or underflow of the components' squares.

use super::K;
use crate::ir::Value;

/// Scales components to near 1 by a power of two. Returns them, the sum of their squares, and the
/// inverse power.
fn near_one(k: &mut K<'_, '_>, first: Value, v: &[Value]) -> (Vec<Value>, Value, Value) {
    let mut most = k.abs(first);
    for c in v.iter().skip(1) {
        let c = k.abs(*c);
        most = k.max(most, c);
    }
    let (by, back) = k.scales(most);
    let scaled: Vec<Value> = v.iter().map(|c| k.mul(*c, by)).collect();
    let mut sum = None;
    for &c in &scaled {
        sum = Some(match sum {
            None => k.mul(c, c),
            Some(sum) => k.fma(c, c, sum),
        });
    }
    (scaled, sum.unwrap_or(most), back)
}

pub(super) fn length(k: &mut K<'_, '_>, first: Value, v: &[Value]) -> Value {
    let (_, sum, by) = near_one(k, first, v);
    let r = k.sqrt(sum);
    let r = k.mul(r, by);
    let endless = k.eq_n(sum, f64::INFINITY);
    k.sel(endless, sum, r)
}

/// Divides by the root of the sum of squares. A zero vector is unchanged. Infinite components
/// become 1, and the others 0.
pub(super) fn normalize(k: &mut K<'_, '_>, first: Value, mut v: Vec<Value>) -> Vec<Value> {
    let infinity = k.n(f64::INFINITY);
    let (mut ends, mut any) = (Vec::with_capacity(v.len()), None);
    for c in &v {
        let a = k.abs(*c);
        let end = k.eq(a, infinity);
        ends.push(end);
        any = Some(match any {
            Some(before) => k.or(before, end),
            None => end,
        });
    }
    for (c, end) in v.iter_mut().zip(ends) {
        let (zero, one) = (k.times(*c, 0.0), k.n(1.0));
        let one = k.with_sign(one, *c);
        let other = k.sel(end, one, zero);
        *c = k.sel(any.unwrap_or(end), other, *c);
    }
    let first = v.first().copied().unwrap_or(first);
    let (scaled, sum, _) = near_one(k, first, &v);
    let none = k.eq_n(sum, 0.0);
    let length = k.sqrt(sum);
    let all = v.iter().zip(scaled);
    all.map(|(c, s)| {
        let q = k.div(s, length);
        let q = k.with_sign(q, *c);
        k.sel(none, *c, q)
    })
    .collect()
}
