//! Kernels of Intel's compiler on the simulator: integers, against the same thing done here.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "test code"
)]

mod common;

use common::{Rng, at_widths, have, launch, same, simulator};
use gantry_runtime::{Device, Grid, Module, Plain};

/// Runs a kernel of two inputs and an output of `per` elements for each work-item.
fn two<T: Plain + PartialEq + std::fmt::Debug, A: Plain, B: Plain>(
    d: &Device,
    m: &Module,
    name: &str,
    inputs: (&[A], &[B]),
    want: impl Fn(A, B) -> Vec<T>,
) {
    let (a, b) = inputs;
    let want: Vec<T> = a.iter().zip(b).flat_map(|(a, b)| want(*a, *b)).collect();
    let out = d.buffer_from(&vec![T::default(); want.len()]).unwrap();
    let n = a.len() as u32;
    launch(
        m,
        name,
        Grid::new([n, 1, 1]).group([64, 1, 1]),
        vec![
            (&d.buffer_from(a).unwrap()).into(),
            (&d.buffer_from(b).unwrap()).into(),
            (&out).into(),
        ],
    );
    same(name, &out, &want);
}

fn arith(x: i32, y: i32) -> Vec<i32> {
    let (ux, uy) = (x as u32, y as u32);
    let s = uy & 31;
    vec![
        x.wrapping_add(y),
        x.wrapping_sub(y),
        x.wrapping_mul(y),
        x.wrapping_div(y),
        x.wrapping_rem(y),
        (ux / uy) as i32,
        (ux % uy) as i32,
        ((i64::from(x) * i64::from(y)) >> 32) as i32,
        ((u64::from(ux) * u64::from(uy)) >> 32) as i32,
        x << s,
        x >> s,
        (ux >> s) as i32,
        x.leading_zeros() as i32,
        ux.count_ones() as i32,
        x.rotate_left(s),
        x.wrapping_abs(),
        x.abs_diff(y) as i32,
        ((i64::from(x) + i64::from(y)) >> 1) as i32,
        ((u64::from(ux) + u64::from(uy) + 1) >> 1) as i32,
        x.saturating_add(y),
        ux.saturating_add(uy) as i32,
        x.saturating_sub(y),
        ux.saturating_sub(uy) as i32,
        x.min(y),
        ux.max(uy) as i32,
        x.max(-100).min(y | 127),
        (x & 0xfff) * (y & 0xfff) + 5,
        x & !y,
        (x ^ y) | 1,
        i32::from(x < y) + 2 * i32::from(ux < uy) + 4 * i32::from(x == y) + 8 * i32::from(x >= y),
        (((i64::from(x) * i64::from(y)) >> 32) as i32).wrapping_add(3),
        (x & !0x0ff0_0ff0) | (y & 0x0ff0_0ff0),
    ]
}

#[test]
fn dwords() {
    at_widths("int.cl", |d, m, _| {
        let mut r = Rng(100);
        let a: Vec<i32> = (0..1024).map(|_| r.wild_i32()).collect();
        let b: Vec<i32> = (0..1024)
            .map(|_| Some(r.wild_i32()).filter(|v| *v != 0).unwrap_or(7))
            .map(|v| if v < 0 && v > -100 { v & 0xff | 1 } else { v })
            .collect();
        two(d, m, "arith", (&a, &b), arith);
    });
}

fn small(c: i8, s: i16) -> Vec<i32> {
    let (uc, us) = (c as u8, s as u16);
    let cs = s as i8;
    vec![
        i32::from(c.wrapping_add(cs)),
        i32::from((i32::from(c) * i32::from(s)) as i16),
        i32::from((i32::from(uc) + i32::from(us)) as u8),
        i32::from(c) / ((i32::from(s) & 15) + 1),
        i32::from(us) % (i32::from(uc) | 1),
        i32::from(c.saturating_add(cs)),
        i32::from(uc.saturating_sub(us as u8)),
        i32::from(s.clamp(-128, 127)),
        i32::from(s.clamp(0, 255)),
        i32::from(s.wrapping_shl(3)),
        i32::from(s >> 2),
        i32::from(us >> 2),
        s.leading_zeros() as i32,
        (i32::from(c) + i32::from(cs)) >> 1,
        (i32::from(s) * i32::from(c)) >> 16,
        i32::from(s.unsigned_abs()),
    ]
}

#[test]
fn bytes_and_words() {
    at_widths("int.cl", |d, m, _| {
        let mut r = Rng(101);
        let a: Vec<i8> = (0..1024).map(|_| r.u64() as i8).collect();
        let b: Vec<i16> = (0..1024).map(|_| r.wild_i32() as i16).collect();
        two(d, m, "small", (&a, &b), small);
    });
}

fn wide(x: i64, y: i64) -> Vec<i64> {
    let (ux, uy) = (x as u64, y as u64);
    let s = (y & 63) as u32;
    vec![
        x.wrapping_add(y),
        x.wrapping_sub(y),
        x.wrapping_mul(y),
        x << s,
        x >> s,
        (ux >> s) as i64,
        x.min(y),
        ux.max(uy) as i64,
        x & y,
        x ^ !y,
        i64::from(x < y) + 2 * i64::from(ux < uy) + 4 * i64::from(x == y),
        ((u128::from(ux) * u128::from(uy)) >> 64) as i64,
        x.wrapping_abs(),
        i64::from(ux.count_ones()),
        i64::from(x.leading_zeros()),
        i64::from(x as i32) + i64::from(y as u32),
    ]
}

#[test]
fn qwords() {
    at_widths("int.cl", |d, m, simd| {
        let mut r = Rng(102);
        let a: Vec<i64> = (0..512).map(|_| r.wild_i64()).collect();
        let b: Vec<i64> = (0..512).map(|_| r.wild_i64()).collect();
        two(d, m, "wide", (&a, &b), wide);
        let b: Vec<i64> = b
            .iter()
            .map(|v| if *v == 0 || *v == -1 { 3 } else { *v })
            .collect();
        two(d, m, "wide_div", (&a, &b), |x, y| {
            vec![
                x / y,
                x % y,
                (x as u64 / y as u64) as i64,
                (x as u64 % y as u64) as i64,
            ]
        });
        let p = d.buffer_from(&[5i64, 6, 7, 8]).unwrap();
        launch(
            m,
            "wide_atomics",
            Grid::new([512, 1, 1]).group([64, 1, 1]),
            vec![(&p).into(), (&d.buffer_from(&a).unwrap()).into()],
        );
        let sum = a.iter().fold(0i64, |s, v| s.wrapping_add(*v));
        let all = a.iter().fold(8, |s, v| s ^ v);
        let want = [5i64.wrapping_add(sum), 6i64.wrapping_sub(sum), 7 + 512, all];
        same(&format!("wide_atomics simd{simd}"), &p, &want);
    });
}

#[test]
fn subgroups() {
    at_widths("int.cl", |d, m, simd| {
        let mut r = Rng(103);
        let n = 256;
        let v: Vec<i32> = (0..n).map(|_| r.i32()).collect();
        let out = d.buffer(n * 32).unwrap();
        launch(
            m,
            "subgroups",
            Grid::new([n as u32, 1, 1]).group([64, 1, 1]),
            vec![(&d.buffer_from(&v).unwrap()).into(), (&out).into()],
        );
        let mut want = Vec::new();
        for (s, g) in v.chunks(simd as usize).enumerate() {
            let sum = g.iter().fold(0i32, |a, b| a.wrapping_add(*b));
            for i in 0..g.len() {
                let scan = g[..=i].iter().fold(0i32, |a, b| a.wrapping_add(*b));
                let max = g[..i].iter().copied().max().unwrap_or(i32::MIN);
                let any = i32::from(g.iter().any(|v| *v > 2_000_000_000));
                let all = i32::from(g.iter().all(|v| *v > -2_147_483_647));
                want.extend([
                    sum,
                    scan,
                    max,
                    g[3],
                    g[(i * 5 + 1) % g.len()],
                    any + 2 * all,
                    // Past the end the second operand's lanes follow, which are the same values.
                    g[(i + 1) % g.len()],
                    (s % (64 / simd as usize)) as i32 * 100 + i as i32,
                ]);
            }
        }
        same(&format!("subgroups simd{simd}"), &out, &want);
        if simd <= 16 {
            let u: Vec<u32> = v.iter().map(|v| *v as u32).collect();
            let out = d.buffer(n * 4).unwrap();
            launch(
                m,
                "blocks",
                Grid::new([n as u32, 1, 1]).group([64, 1, 1]),
                vec![(&d.buffer_from(&u).unwrap()).into(), (&out).into()],
            );
            let want: Vec<u32> = u
                .iter()
                .enumerate()
                .map(|(i, v)| v.wrapping_mul(3).wrapping_add(i as u32 % simd))
                .collect();
            same(&format!("blocks simd{simd}"), &out, &want);
        }
    });
}

#[test]
fn calls() {
    if !have("ocloc") {
        return;
    }
    // This compiler crashes on subroutines at SIMD32.
    for simd in [8, 16] {
        let d = simulator();
        let m = d
            .load(&common::compile("calls.cl", simd, "-cl-std=CL2.0"))
            .unwrap();
        let mut r = Rng(104);
        let v: Vec<i32> = (0..300).map(|_| r.below(1000) as i32).collect();
        let out = d.buffer(1200).unwrap();
        launch(
            &m,
            "calls",
            Grid::new([300, 1, 1]).group([50, 1, 1]),
            vec![(&d.buffer_from(&v).unwrap()).into(), (&out).into()],
        );
        let twice = |x: i32, y: i32| x * 2 + y.max(x);
        let want: Vec<i32> = v
            .iter()
            .enumerate()
            .map(|(i, &v)| {
                let v = if v & 1 == 1 { twice(v, i as i32) } else { v };
                twice(v, 7)
            })
            .collect();
        same(&format!("calls simd{simd}"), &out, &want);
    }
}
