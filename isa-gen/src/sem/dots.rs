//! Operations across channels: dot products, line and plane equations, sums of absolute
//! differences, and dot products of the bytes in dwords.

use super::float::FloatLane;
use super::int::IntLane;
use super::{LANES, Round};
use crate::op::Op;

/// Returns the number of source channels that an operation on `n` channels reads.
///
/// They are whole pairs for `sad2` and `sada2`. They are whole groups of four for `dp2`, `dp3`,
/// `dp4`, `dph`, and for the coefficients of `line` and `pln`. Other operations read `n`. Disabled
/// channels are read too if others depend on them.
pub fn channels_read(op: Op, n: usize) -> usize {
    let group = match op {
        Op::Sad2 | Op::Sada2 => 2,
        Op::Dp2 | Op::Dp3 | Op::Dp4 | Op::Dph | Op::Line | Op::Pln => 4,
        _ => 1,
    };
    n.next_multiple_of(group).min(LANES)
}

/// Computes the float operations among them, or returns `None` for others. A dot product adds its
/// terms in order, each in a fused step. Only the sum of a plane equation is rounded, as in the
/// emulation by native floats on Gen11 (Mesa, `lower_linterp`).
pub(super) fn float<T: FloatLane>(
    op: Op,
    a: &[T; LANES],
    b: &[T; LANES],
    c: &[T; LANES],
    r: Round,
) -> Option<[T; LANES]> {
    let (terms, last) = match op {
        Op::Dp2 => (2, false),
        Op::Dp3 => (3, false),
        Op::Dp4 => (4, false),
        Op::Dph => (3, true),
        Op::Line => {
            let mut out = [T::ZERO; LANES];
            for (o, x) in out.iter_mut().zip(b) {
                *o = a[0].fma(*x, a[3], r);
            }
            return Some(out);
        }
        Op::Pln => {
            let mut out = [T::ZERO; LANES];
            for (o, (u, v)) in out.iter_mut().zip(b.iter().zip(c)) {
                let [p, q, r0] = [a[0], a[1], a[3]].map(T::value);
                let sum = f64::mul_add(p, u.value(), r0);
                *o = T::rounded(f64::mul_add(q, v.value(), sum), r);
            }
            return Some(out);
        }
        _ => return None,
    };
    let mut out = [T::ZERO; LANES];
    for (group, (x, y)) in out.chunks_mut(4).zip(a.chunks(4).zip(b.chunks(4))) {
        let mut products = x.iter().zip(y).take(terms);
        let mut sum = products.next().map_or(T::ZERO, |(x, y)| x.mul(*y, r));
        for (x, y) in products {
            sum = x.fma(*y, sum, r);
        }
        if last && let Some(w) = y.get(3) {
            sum = sum.add(*w, r);
        }
        group.fill(sum);
    }
    Some(out)
}

/// `sad2`: returns the sum of absolute differences of channels `i` and `i + 1`, for even channels.
/// Odd channels are undefined, here 0.
pub(super) fn differences<T: IntLane>(a: &[T; LANES], b: &[T; LANES], i: usize) -> i64 {
    let d = |j: usize| match (a.get(j), b.get(j)) {
        (Some(x), Some(y)) => (x.value() - y.value()).abs() as i64,
        _ => 0,
    };
    if i.is_multiple_of(2) {
        d(i) + d(i + 1)
    } else {
        0
    }
}

/// `dp4a`: returns the dot product of the bytes of two dwords, each signed or not.
pub(super) fn four_bytes(x: u32, x_signed: bool, y: u32, y_signed: bool) -> i64 {
    let byte = |v: u8, signed: bool| {
        if signed {
            i64::from(v as i8)
        } else {
            i64::from(v)
        }
    };
    x.to_le_bytes()
        .into_iter()
        .zip(y.to_le_bytes())
        .map(|(a, b)| byte(a, x_signed) * byte(b, y_signed))
        .sum()
}
