//! Sub-groups of the Khronos extensions, which pocl lacks. The expectation is computed here, a
//! sub-group of the width at a time.

use super::super::case::{Case, Memory, any, within, zero};
use half::f16;

/// Work-items of each launch: whole sub-groups at every width.
const N: usize = 128;

pub fn cases() -> Vec<Case> {
    let case = |kernel| Case::new("ballot", kernel).line(N as u32, 64);
    vec![
        case("ballots")
            .buffer::<u32>(N, zero)
            .buffer::<u32>(N, any)
            .expect(ballots),
        case("votes")
            .buffer::<u32>(N, zero)
            .buffer::<u32>(N, within(0.0, 64.0))
            .expect(votes),
        case("reductions_of_some")
            .buffer::<i32>(N, zero)
            .buffer::<i32>(N, within(0.0, 128.0))
            .expect(reductions_of_some),
        case("scans_of_some")
            .buffer::<i32>(N, zero)
            .buffer::<i32>(N, within(0.0, 128.0))
            .buffer::<f32>(N, |r, _| r.below(100) as f32)
            .expect(scans_of_some),
        case("clusters")
            .buffer::<i32>(N, zero)
            .buffer::<i32>(N, any)
            .buffer::<u16>(N, any)
            .expect(clusters),
        case("khr_shuffles")
            .buffer::<i64>(N, zero)
            .buffer::<i32>(N, any)
            .buffer::<i16>(N, any)
            .expect(khr_shuffles),
        case("small_reductions")
            .buffer::<i16>(N, zero)
            .buffer::<i8>(N, any)
            .buffer::<u16>(N, any)
            .buffer::<u64>(N, any)
            .buffer::<f16>(N, |r, _| f16::from_f64(f64::from(r.below(20) as u32)))
            .expect(small_reductions),
        case("vector_broadcasts")
            .buffer::<f32>(4 * N, zero)
            .buffer::<f32>(4 * N, within(-9.0, 9.0))
            .buffer::<i8>(2 * N, any)
            .buffer::<i16>(4 * N, any)
            .expect(vector_broadcasts),
    ]
}

/// Calls `f` for each work-item with its lane and the values of its sub-group.
fn each<T: Copy, U>(x: &[T], width: u32, mut f: impl FnMut(usize, &[T]) -> U) -> Vec<U> {
    let w = width as usize;
    (0..x.len())
        .map(|i| f(i % w, &x[i / w * w..][..w]))
        .collect()
}

/// Returns a mask of the lanes for which something is true.
fn bits<T>(s: &[T], f: impl Fn(usize, &T) -> bool) -> u32 {
    let lanes = s.iter().enumerate();
    lanes.fold(0, |m, (k, v)| m | u32::from(f(k, v)) << k)
}

fn ballots(m: &mut Memory, width: u32) {
    let x = m.get::<u32>(1);
    let out = each(&x, width, |k, s| {
        let b = bits(s, |k, v| v & 1 == 1 || k == 3);
        // This compiler's masks go beyond the sub-group.
        let (all, below) = (u32::MAX, (1u64 << k) as u32 - 1);
        let upto = below | 1 << k;
        let r = b + b.count_ones() + 5 * (b & upto).count_ones() + 7 * (b & below).count_ones();
        let r = r + 11 * b.trailing_zeros() + 13 * (31 - b.leading_zeros());
        let r = r + 17 * (b >> k & 1) + 19 * (b >> (s[k] & 7) & 1);
        let mul = |v: u32, n: u32| v.wrapping_mul(n);
        let r = r ^ mul(1 << k, 3) ^ mul(all & !below, 5) ^ mul(all & !upto, 7);
        r ^ mul(upto, 9) ^ mul(below, 11)
    });
    m.set(0, out);
}

/// Returns the values of lanes with an odd (or selected) value.
fn some<T: Copy>(s: &[T], on: impl Fn(&T) -> bool) -> Vec<T> {
    s.iter().copied().filter(on).collect()
}

fn votes(m: &mut Memory, width: u32) {
    let x = m.get::<u32>(1);
    let out = each(&x, width, |k, s| {
        if s[k] & 2 == 0 {
            return 0;
        }
        let there = some(s, |v| v & 2 != 0);
        let first = s.iter().position(|v| v & 2 != 0);
        let r = 1 + 2 * u32::from(first == Some(k));
        let r = r + 4 * u32::from(there.iter().all(|v| v & 4 != 0));
        let r = r + 8 * u32::from(there.iter().any(|v| v & 56 == 0));
        let r = r + 16 * u32::from(there.iter().all(|v| v & 6 == there[0] & 6));
        r + 32 * there[0] + bits(s, |_, v| v & 2 != 0 && v & 8 != 0)
    });
    m.set(0, out);
}

fn reductions_of_some(m: &mut Memory, width: u32) {
    let x = m.get::<i32>(1);
    let out = each(&x, width, |k, s| {
        if s[k] & 1 == 0 {
            return 0;
        }
        let t = some(s, |v| v & 1 == 1);
        let mul = |v: i32, n: i32| v.wrapping_mul(n);
        let r = t.iter().sum::<i32>() ^ mul(t.iter().fold(1, |a, v| mul(a, *v)), 3);
        let r = r ^ mul(*t.iter().min().unwrap(), 5) ^ mul(*t.iter().max().unwrap(), 7);
        let fold = |f: fn(i32, i32) -> i32| t.iter().copied().reduce(f).unwrap();
        let r = r ^ mul(fold(|a, b| a & b), 9) ^ mul(fold(|a, b| a | b), 11);
        let r = r ^ mul(fold(|a, b| a ^ b), 13);
        let r = r.wrapping_add(i32::from(t.iter().all(|v| v & 6 != 0)));
        let r = r.wrapping_add(2 * i32::from(t.iter().any(|v| v & 62 == 0)));
        let odd = t.iter().filter(|v| *v & 4 != 0).count() % 2;
        r.wrapping_add(4 * odd as i32)
    });
    m.set(0, out);
}

fn scans_of_some(m: &mut Memory, width: u32) {
    let (x, f) = (m.get::<i32>(1), m.get::<f32>(2));
    let out = each(&x, width, |k, s| {
        if s[k] & 1 == 0 {
            return 0;
        }
        let (upto, below) = (
            some(&s[..=k], |v| v & 1 == 1),
            some(&s[..k], |v| v & 1 == 1),
        );
        let mul = |v: i32, n: i32| v.wrapping_mul(n);
        let r = upto.iter().sum::<i32>() ^ mul(below.iter().fold(1, |a, v| mul(a, *v)), 3);
        let r = r ^ mul(below.iter().copied().min().unwrap_or(i32::MAX), 5);
        let r = r ^ mul(*upto.iter().max().unwrap(), 7);
        let r = r ^ mul(below.iter().fold(-1, |a, v| a & v), 9);
        let r = r ^ mul(upto.iter().fold(0, |a, v| a | v), 11);
        let r = r ^ mul(below.iter().fold(0, |a, v| a ^ v), 13);
        r.wrapping_add(i32::from(below.iter().any(|v| v & 64 != 0)))
    });
    let pairs: Vec<(i32, f32)> = x.into_iter().zip(f).collect();
    let floats = each(&pairs, width, |k, s| {
        if s[k].0 & 1 == 0 {
            return s[k].1;
        }
        let below: f32 = some(&s[..k], |v| v.0 & 1 == 1).iter().map(|v| v.1).sum();
        let upto = some(&s[..=k], |v| v.0 & 1 == 1);
        below + upto.iter().map(|v| v.1).fold(f32::INFINITY, f32::min)
    });
    m.set(0, out);
    m.set(2, floats);
}

fn clusters(m: &mut Memory, width: u32) {
    let (x, w) = (m.get::<i32>(1), m.get::<u16>(2));
    let out = each(&x, width, |k, s| {
        let of = |n: usize| s[k / n * n..][..n].iter().copied();
        let add = |a: i32, b: i32| a.wrapping_add(b);
        let mul = |a: i32, b: i32| a.wrapping_mul(b);
        let r = of(4).fold(0, add) ^ mul(of(2).max().unwrap(), 3);
        let r = r ^ mul(of(8).fold(-1, |a, b| a & b), 5);
        let r = r ^ mul(of(width as usize).map(|v| v | 1).fold(1, mul), 7);
        add(add(r, i32::from(of(4).any(|v| v & 7 == 0))), s[k])
    });
    let words = each(&w, width, |k, s| {
        let of = |n: usize| s[k / n * n..][..n].iter().copied();
        let sum = of(2).fold(0u16, u16::wrapping_add);
        of(4).min().unwrap().wrapping_add(sum)
    });
    m.set(0, out);
    m.set(2, words);
}

fn khr_shuffles(m: &mut Memory, width: u32) {
    let (x, w) = (m.get::<i32>(1), m.get::<i16>(2));
    let pairs: Vec<(i32, i16)> = x.into_iter().zip(w).collect();
    let out = each(&pairs, width, |k, s| {
        let x = |k: usize| s[k].0;
        let mul = |v: i32, n: i32| v.wrapping_mul(n);
        let r = i64::from(x((k + 3) % 8).wrapping_add(0));
        let r = r + i64::from(mul(x(k ^ 5), 3));
        let first = r as i32;
        // The first two are summed as `int`, the rest as they are.
        let r = i64::from(first);
        let r = r + i64::from(if k >= 2 { mul(x(k - 2), 5) } else { 0 });
        let r = r + i64::from(if k + 1 < s.len() { mul(x(k + 1), 7) } else { 0 });
        let r = r.wrapping_mul(1000).wrapping_add(s[k ^ 1].1.into());
        r.wrapping_add(i64::from(x(k & 3)) << 33)
    });
    m.set(0, out);
}

fn small_reductions(m: &mut Memory, width: u32) {
    let (c, w) = (m.get::<i8>(1), m.get::<u16>(2));
    let (q, h) = (m.get::<u64>(3), m.get::<f16>(4));
    let bytes = each(&c, width, |k, s| {
        let sum = s.iter().fold(0i8, |a, v| a.wrapping_add(*v));
        i16::from(sum) + i16::from(*s[..=k].iter().max().unwrap())
    });
    let words = each(&w, width, |k, s| {
        s[..k].iter().fold(0u16, |a, v| a.wrapping_add(*v))
    });
    let pairs = bytes.iter().zip(words);
    m.set(0, pairs.map(|(b, w)| b.wrapping_add(w as i16)));
    let quads = each(&q, width, |k, s| {
        let sum = s[..k].iter().fold(0u64, |a, v| a.wrapping_add(*v));
        (s.iter().max().unwrap() ^ sum).wrapping_add(s[5])
    });
    m.set(3, quads);
    let halves = each(&h, width, |k, s| {
        let most = s.iter().map(|v| v.to_f32()).fold(0.0, f32::max);
        let sum: f32 = s[..=k].iter().map(|v| v.to_f32()).sum();
        f16::from_f32(most + sum + s[1].to_f32())
    });
    m.set(4, halves);
}

fn vector_broadcasts(m: &mut Memory, width: u32) {
    let (v, c, s) = (m.get::<f32>(1), m.get::<i8>(2), m.get::<i16>(3));
    let first = |i: usize| i / width as usize * width as usize;
    let mut out = Vec::new();
    let mut words = Vec::new();
    for i in 0..N {
        let at = first(i);
        let add = f32::from(i16::from(c[2 * (at + 1)]) - i16::from(c[2 * (at + 1) + 1]));
        out.extend((0..4).rev().map(|k| v[4 * (at + 3) + k] + add));
        let w = &s[4 * (at + 2)..];
        words.extend([w[2], w[0], w[3], w[1]]);
    }
    m.set(0, out);
    m.set(3, words);
}
