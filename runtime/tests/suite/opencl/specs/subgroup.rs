//! Sub-groups, which pocl lacks. The expectation is computed here, a sub-group of the width at a
//! time.

use super::super::case::{Case, Memory, any, within, zero};
use crate::rng::Rng;

/// Work-items of each launch: whole sub-groups at every width.
const N: usize = 128;

pub fn cases() -> Vec<Case> {
    let case = |kernel| Case::new("subgroup", kernel).line(N as u32, 64);
    // Indices that are in range at every width.
    let order = |r: &mut Rng, _: usize| r.below(8) as u32;
    vec![
        case("shuffles")
            .buffer::<f32>(N, zero)
            .ulps_of(4.0, 16.0)
            .buffer::<f32>(N, within(-4.0, 4.0))
            .buffer::<u32>(N, order)
            .expect(shuffles),
        case("shuffles_small")
            .buffer::<u16>(N, any)
            .buffer::<u8>(N, any)
            .buffer::<u64>(N, any)
            .buffer::<u32>(N, order)
            .expect(shuffles_small),
        case("reductions")
            .buffer::<i32>(N, zero)
            .buffer::<i32>(N, within(-10.0, 20.0))
            .buffer::<f32>(N, |r: &mut Rng, _| r.below(100) as f32)
            .expect(reductions),
        case("reductions_wide")
            .buffer::<i64>(N, zero)
            .buffer::<i64>(N, any)
            .buffer::<u16>(N, any)
            .expect(reductions_wide)
            // `mov (8|M0) r31.4<1>:ud r26.0` destroys r32.0, which the next `mov (8|M0) r28.6<1>:ud
            // r32.0` reads.
            .skip(
                &["bxt"],
                &[16],
                "the compiler's code overwrites what it still needs",
            ),
    ]
}

/// Returns a work-item's position in its sub-group and the sub-group's values.
fn place<T>(values: &[T], i: usize, width: u32) -> (usize, &[T]) {
    let width = width as usize;
    (i % width, &values[i / width * width..][..width])
}

fn shuffles(m: &mut Memory, width: u32) {
    let (x, order) = (m.get::<f32>(1), m.get::<u32>(2));
    let w = width as usize;
    let first: Vec<f32> = (0..N)
        .map(|i| {
            let (k, s) = place(&x, i, width);
            s[order[i] as usize] + s[k ^ 5]
        })
        .collect();
    let sums: Vec<f32> = (0..N)
        .map(|i| {
            let (k, s) = place(&x, i, width);
            let (_, next) = place(&first, i, width);
            let up = if k == 0 { s[w - 1] } else { s[k - 1] * 2.0 };
            let from = k + (k & 3);
            let down = if from < w { s[from] } else { next[from - w] };
            next[k] + (up + down)
        })
        .collect();
    m.fill(0, |i| {
        let (_, s) = place(&x, i, width);
        let (k, r) = place(&sums, i, width);
        r[k] + s[2] + r[order[0] as usize]
    });
}

fn shuffles_small(m: &mut Memory, width: u32) {
    let (w, b) = (m.get::<u16>(0), m.get::<u8>(1));
    let (q, order) = (m.get::<u64>(2), m.get::<u32>(3));
    m.fill(0, |i| {
        let k = order[i] as usize;
        let byte = u16::from(place(&b, i, width).1[3]);
        let quad = place(&q, i, width).1[k] as u16;
        place(&w, i, width).1[k]
            .wrapping_add(byte)
            .wrapping_add(quad)
    });
}

fn reductions(m: &mut Memory, width: u32) {
    let (x, f) = (m.get::<i32>(1), m.get::<f32>(2));
    m.fill(0, |i| {
        let (k, s) = place(&x, i, width);
        let (_, g) = place(&f, i, width);
        let r = s.iter().sum::<i32>() + s.iter().min().unwrap() + s[..=k].iter().sum::<i32>();
        let before = s[..k].iter().copied().max().unwrap_or(i32::MIN);
        let most = g.iter().copied().fold(0.0, f32::max) as i32;
        let r = r.wrapping_add(before.wrapping_add(most + g[..=k].iter().sum::<f32>() as i32));
        r.wrapping_add(i32::from(s.iter().any(|v| *v > 5)) + i32::from(s.iter().all(|v| *v < 7)))
    });
}

fn reductions_wide(m: &mut Memory, width: u32) {
    let (x, w) = (m.get::<i64>(1), m.get::<u16>(2));
    m.fill(0, |i| {
        let (k, s) = place(&x, i, width);
        let (_, t) = place(&w, i, width);
        let sum = s.iter().fold(0i64, |a, v| a.wrapping_add(*v));
        let most = s[..=k].iter().max().unwrap();
        let words: i32 = t[..k].iter().map(|v| i32::from(*v)).sum();
        sum.wrapping_add(*most).wrapping_add(words.into())
    });
}
