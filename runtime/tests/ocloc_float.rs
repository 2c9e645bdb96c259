//! Kernels of Intel's compiler on the simulator: floats, against the same thing done here.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "test code"
)]

mod common;

use common::{Rng, close, launch, same};
use gantry_runtime::{Buffer, Device, Grid, Module};
use half::f16;

fn at_widths(f: impl Fn(&Device, &Module, u32)) {
    common::at_widths("float.cl", f);
}

fn line(n: usize) -> Grid {
    Grid::new([n as u32, 1, 1]).group([64, 1, 1])
}

fn yes(b: bool) -> f32 {
    if b { 1.0 } else { 0.0 }
}

/// Compares floats bit by bit, but for NaNs, which are all the same.
fn same_floats(what: &str, got: &Buffer, want: &[f32], per: usize) {
    let got: Vec<f32> = got.read().unwrap();
    assert_eq!(got.len(), want.len());
    for (i, (g, w)) in got.iter().zip(want).enumerate() {
        let ok = g.to_bits() == w.to_bits() || g.is_nan() && w.is_nan() || g == w && *g == 0.0;
        assert!(
            ok,
            "{what}: item {} result {}: got {g:e}, want {w:e}",
            i / per,
            i % per
        );
    }
}

#[test]
fn exact_operations() {
    at_widths(|d, m, simd| {
        let mut r = Rng(200);
        let n = 2048;
        let mut v = || (0..n).map(|_| r.wild_f32()).collect::<Vec<f32>>();
        let (a, b, c) = (v(), v(), v());
        let out = d.buffer(n * 24 * 4).unwrap();
        launch(
            m,
            "exact",
            line(n),
            vec![
                (&d.buffer_from(&a).unwrap()).into(),
                (&d.buffer_from(&b).unwrap()).into(),
                (&d.buffer_from(&c).unwrap()).into(),
                (&out).into(),
            ],
        );
        let mut want = Vec::new();
        for i in 0..n {
            let (x, y, z) = (a[i], b[i], c[i]);
            let pick = |p: bool| if p { 1.0 } else { 2.0 };
            want.extend([
                x + y,
                x - y,
                x * y,
                x.mul_add(y, z),
                x.floor(),
                x.ceil(),
                x.round_ties_even(),
                x.trunc(),
                x.abs(),
                -y,
                x.copysign(y),
                x.min(y),
                x.max(y),
                pick(x < y),
                pick(x >= y),
                pick(x == y),
                pick(x != y),
                yes(x.is_nan()),
                yes(x.is_infinite()) + 2.0 * yes(y.is_finite()),
                // What the compiler makes of it takes a NaN to 0.
                if x.is_nan() { 0.0 } else { x.clamp(0.0, 1.0) },
                yes(x < y) + 2.0 * yes(x.is_nan() || y.is_nan()),
                (-x).mul_add(y, z.abs()),
                f32::from_bits(x.to_bits() & 0x7fff_ff00),
                yes(x.is_sign_negative()),
            ]);
        }
        same_floats(&format!("exact simd{simd}"), &out, &want, 24);
    });
}

#[test]
fn approximations() {
    at_widths(|d, m, _| {
        let mut r = Rng(201);
        let n = 1024;
        let a: Vec<f32> = (0..n).map(|_| r.f32(0.01, 90.0)).collect();
        let out = d.buffer(n * 48).unwrap();
        launch(
            m,
            "approximate",
            line(n),
            vec![(&d.buffer_from(&a).unwrap()).into(), (&out).into()],
        );
        let got: Vec<f32> = out.read().unwrap();
        for (x, g) in a.iter().zip(got.chunks(12)) {
            let x = f64::from(*x);
            let want = [
                x.sqrt(),
                1.0 / x.sqrt(),
                1.0 / x,
                (x * 0.1).exp2(),
                x.log2(),
                (x * 0.01).sin(),
                (x * 0.01).cos(),
                3.0 / x,
                x.powf(1.5),
                x.sqrt(),
                7.0 / x,
                (-x * 0.05).exp() + x.ln() + x.sin() + x.powf(0.3) + (x * 0.01).tan(),
            ];
            for (k, (g, w)) in g.iter().zip(want).enumerate() {
                // A few units of the last place, or of 1 near the zeros of log and of the sum.
                let near = 6e-7 * w.abs().max(0.2);
                assert!((f64::from(*g) - w).abs() <= near, "{k} of {x}: {g} {w}");
            }
        }
    });
}

fn half_bits(v: f32, up: bool, down: bool) -> u16 {
    let near = f16::from_f32(v);
    let back = near.to_f32();
    let bits = near.to_bits();
    if near.is_nan() {
        bits
    } else if up && back < v || down && back > v {
        let away = (v > 0.0) == up;
        match bits {
            0 if down => 0x8001,
            0x8000 if up => 1,
            _ if away => bits + 1,
            _ => bits - 1,
        }
    } else {
        bits
    }
}

#[test]
fn conversions() {
    at_widths(|d, m, simd| {
        let mut r = Rng(202);
        let n = 2048;
        let a: Vec<f32> = (0..n)
            .map(|_| {
                let v = match r.below(3) {
                    0 => r.f32(-5e9, 5e9),
                    1 => r.f32(-300.0, 300.0),
                    _ => r.f32(-70000.0, 70000.0),
                };
                if r.below(8) == 0 { v.round() + 0.5 } else { v }
            })
            .collect();
        let b: Vec<i32> = (0..n).map(|_| r.wild_i32()).collect();
        let out = d.buffer(n * 96).unwrap();
        launch(
            m,
            "convert",
            line(n),
            vec![
                (&d.buffer_from(&a).unwrap()).into(),
                (&d.buffer_from(&b).unwrap()).into(),
                (&out).into(),
            ],
        );
        let got: Vec<i32> = out.read().unwrap();
        for (i, g) in got.chunks(24).enumerate() {
            let (x, v) = (a[i], b[i]);
            // An integer as a float, rounded to either side.
            let sides = |v: i32| {
                let near = v as f32;
                let (n, w) = (f64::from(near), f64::from(v));
                let up = if n < w { near.next_up() } else { near };
                let down = if n > w { near.next_down() } else { near };
                (up, down)
            };
            let (up, down) = sides(v);
            let zero = if v < 0 { up } else { down };
            let positive = x > 0.0;
            let want = [
                x as i32,
                x as u32 as i32,
                i32::from(x as i16),
                i32::from(x as u8),
                x.round_ties_even() as i32,
                x.ceil() as i32,
                x.floor() as i32,
                (v as f32).to_bits() as i32,
                (v as u32 as f32).to_bits() as i32,
                zero.to_bits() as i32,
                up.to_bits() as i32,
                down.to_bits() as i32,
                f32::from(v as i16).to_bits() as i32,
                f32::from(v as u8).to_bits() as i32,
                i32::from(x as i8),
                (x.abs() % 1000.0) as i32,
                i32::from(half_bits(x, false, false)),
                i32::from(half_bits(x, !positive, positive)),
                f16::from_bits(v as u16).to_f32().to_bits() as i32,
                i32::from(half_bits(x, true, false)),
                i32::from(half_bits(x, false, true)),
                i32::from(x as u16),
                (x * 3.0) as i32,
                i32::from(f16::from_f32((v >> 12) as f32).to_bits()),
            ];
            for (k, (g, w)) in g.iter().zip(want).enumerate() {
                let nan = k == 18 && f16::from_bits(v as u16).is_nan();
                // The compiler's `fmod` divides by the math box: a unit, or a whole turn, away for numbers it can tell apart.
                let turn = (g - w).rem_euclid(1000);
                let remainder = k == 15
                    && (x.abs() > 1e6 || turn <= 1 || turn == 999)
                    && (0..=1000).contains(g);
                assert!(
                    *g == w || nan || remainder,
                    "simd{simd} item {i} result {k} of {x:e}, {v}: {g:#x} {w:#x}"
                );
            }
        }
    });
}

#[test]
fn halves() {
    at_widths(|d, m, simd| {
        let mut r = Rng(203);
        let n = 2048;
        let mut v = || {
            (0..n)
                .map(|_| f16::from_f32(r.f32(-200.0, 200.0)))
                .collect::<Vec<f16>>()
        };
        let (a, b) = (v(), v());
        let out = d.buffer(n * 16).unwrap();
        launch(
            m,
            "halves",
            line(n),
            vec![
                (&d.buffer_from(&a).unwrap()).into(),
                (&d.buffer_from(&b).unwrap()).into(),
                (&out).into(),
            ],
        );
        let mut want = Vec::new();
        for (x, y) in a.iter().zip(&b) {
            let (fx, fy) = (x.to_f64(), y.to_f64());
            let h = f16::from_f64;
            want.extend([
                h(fx + fy),
                h(fx - fy),
                h(fx * fy),
                h(fx * fy + 1.5),
                if fx < fy { *x } else { *y },
                h(fx.floor()),
                if fx < fy { *x } else { -*y },
                h(fx * fy),
            ]);
        }
        same(&format!("halves simd{simd}"), &out, &want);
    });
}

#[test]
fn doubles() {
    at_widths(|d, m, simd| {
        let mut r = Rng(204);
        let n = 1024;
        let mut v = || {
            (0..n)
                .map(|_| (r.u64() as i64 as f64) / 1e12)
                .collect::<Vec<f64>>()
        };
        let (a, b) = (v(), v());
        let out = d.buffer(n * 64).unwrap();
        let ints = d.buffer(n * 16).unwrap();
        launch(
            m,
            "doubles",
            line(n),
            vec![
                (&d.buffer_from(&a).unwrap()).into(),
                (&d.buffer_from(&b).unwrap()).into(),
                (&out).into(),
                (&ints).into(),
            ],
        );
        let (mut want, mut want_ints) = (Vec::new(), Vec::new());
        for (x, y) in a.iter().zip(&b) {
            want.extend([
                x + y,
                x - y,
                x * y,
                x.mul_add(*y, 0.25),
                x.min(*y),
                x.abs() - y,
                if x > y { *x } else { y * 2.0 },
                f64::from(*x as f32),
            ]);
            want_ints.extend([
                *x as i32,
                i32::from(x < y),
                (y * 1e-3) as f32 as i32,
                ((x + f64::from(*x as i32)) as f32).to_bits() as i32,
            ]);
        }
        same(&format!("doubles simd{simd}"), &out, &want);
        same(&format!("doubles' integers simd{simd}"), &ints, &want_ints);
    });
}

/// Distance of two points of the escape-time test.
const STEP: f32 = 0.033;

#[test]
fn loops_and_products() {
    at_widths(|d, m, simd| {
        let (w, h, most) = (96i32, 64i32, 300);
        let out = d.buffer((w * h * 4) as usize).unwrap();
        let stats = launch(
            m,
            "mandelbrot",
            Grid::new([w as u32, h as u32, 1]).group([32, 1, 1]),
            vec![(&out).into(), w.into(), STEP.into(), most.into()],
        );
        assert_eq!(stats.threads as i32, w * h / simd as i32);
        let got: Vec<i32> = out.read().unwrap();
        for (i, g) in got.iter().enumerate() {
            let (px, py) = (i as i32 % w, i as i32 / w);
            let cx = (px as f32).mul_add(STEP, -2.2);
            let cy = (py as f32).mul_add(STEP, -1.2);
            let (mut x, mut y, mut n) = (0f32, 0f32, 0);
            while n < most && x.mul_add(x, y * y) <= 4.0 {
                let t = x.mul_add(x, -(y * y)) + cx;
                y = (2.0 * x).mul_add(y, cy);
                x = t;
                n += 1;
            }
            // Every rounding is written out, so nothing may differ.
            assert_eq!(*g, n, "mandelbrot simd{simd} at ({px}, {py})");
        }

        let n = 32usize;
        let mut r = Rng(205);
        let mut v = || (0..n * n).map(|_| r.f32(-1.0, 1.0)).collect::<Vec<f32>>();
        let (a, b) = (v(), v());
        let c = d.buffer(n * n * 4).unwrap();
        launch(
            m,
            "matmul",
            Grid::new([n as u32, n as u32, 1]).group([8, 8, 1]),
            vec![
                (&d.buffer_from(&a).unwrap()).into(),
                (&d.buffer_from(&b).unwrap()).into(),
                (&c).into(),
                (n as i32).into(),
            ],
        );
        let mut want = Vec::new();
        for y in 0..n {
            for x in 0..n {
                want.push((0..n).fold(0f32, |s, k| a[y * n + k].mul_add(b[k * n + x], s)));
            }
        }
        close(&format!("matmul simd{simd}"), &c, &want, 0);
    });
}
