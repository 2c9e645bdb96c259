//! Dense linear algebra: matrix product, transpose, Fourier transform.

use super::{Classic, Launch, f32s, halves, i32s, int, kernel, noise};
use gantry_codegen::ir::{Dim, Region, Scalar, scalars::*};
use gantry_filetests::launch::Arg;
use std::f64::consts::PI;

pub fn classics() -> Vec<Classic> {
    vec![sgemm(), transpose(), fft()]
}

/// Computes C = A * B, by tiles of 8 by 8 in local memory.
fn sgemm() -> Classic {
    const TILE: i32 = 8;
    let bytes = (TILE * TILE * 4) as u32;
    let function = kernel("sgemm", 8, Some([8, 8, 1]), 2 * bytes, |k| {
        let (a, b, c) = (k.buffer(), k.buffer(), k.buffer());
        // Columns of C, and of A.
        let (n, depth) = (k.param(I32), k.param(I32));
        let (x, y) = (k.local_id(Dim::X), k.local_id(Dim::Y));
        let column = k.group_id(Dim::X) * TILE + x;
        let row = k.group_id(Dim::Y) * TILE + y;
        let here = (y * TILE + x) << 2;
        let sum = k.var(k.float(F32.by(8), 0.0));
        k.uniform_for(depth >> 3, |tile| {
            let first = tile * TILE;
            let from_a = k.load(F32, a, row * depth + (first + x));
            let from_b = k.load(F32, b, (first + y) * n + column);
            k.slm_store(from_a, here);
            k.slm_store(from_b, here + bytes as i32);
            k.group_barrier();
            k.uniform_for(k.int(I32, TILE.into()), |i| {
                let va = k.slm_load(F32, (y * TILE + i) << 2);
                let vb = k.slm_load(F32, ((i * TILE + x) << 2) + bytes as i32);
                sum.set(va.fma(vb, sum.get()));
            });
            k.group_barrier();
        });
        k.store(sum.get(), c, row * n + column);
    });
    let launch = |m: usize, n: usize, depth: usize| {
        let (a, b) = (halves(1, m * depth), halves(2, depth * n));
        let mut c = vec![0.0f32; m * n];
        for (i, c) in c.iter_mut().enumerate() {
            let (row, column) = (i / n, i % n);
            *c = (0..depth)
                .map(|d| a[row * depth + d] * b[d * n + column])
                .sum();
        }
        Launch {
            global: [n as u32, m as u32, 1],
            tolerance: 0.0,
            args: vec![
                Arg::Buffer(f32s(&a)),
                Arg::Buffer(f32s(&b)),
                Arg::Buffer(f32s(&vec![0.0; m * n])),
                int(n as i32),
                int(depth as i32),
            ],
            expect: vec![None, None, Some(f32s(&c)), None, None],
        }
    };
    Classic {
        name: "sgemm",
        about: "Matrix product, tiled: the group loads the tiles into SLM.",
        function,
        small: vec![launch(8, 8, 16)],
        more: vec![launch(16, 24, 32), launch(32, 8, 8)],
    }
}

/// Transposes tiles of 8 by 8, each by one region whose rows are columns.
fn transpose() -> Classic {
    let function = kernel("transpose", 1, None, 0, |k| {
        let (from, to) = (k.buffer(), k.buffer());
        let (width, height) = (k.param(I32), k.param(I32));
        let (x, y) = (k.group_id(Dim::X) << 3, k.group_id(Dim::Y) << 3);
        let mut rows = k.undef(I32.by(64));
        let mut at = k.address(from, y * width + x, 4);
        let pitch = (width << 2).uextend(Scalar::I64);
        for i in 0..8 {
            let row = k.block_load(I32.by(8), at, 0);
            rows = rows.with_region(Region::new(8, 8, 1, 32 * i), None, row);
            at += pitch;
        }
        let turned = rows.region(64, Region::new(1, 8, 8, 0), None);
        let mut at = k.address(to, x * height + y, 4);
        let pitch = (height << 2).uextend(Scalar::I64);
        for i in 0..8 {
            k.block_store(turned.slice(8 * i, 8), at, 0);
            at += pitch;
        }
    });
    let launch = |w: usize, h: usize| {
        let a: Vec<i32> = (0..(w * h) as i32).collect();
        let b: Vec<i32> = (0..w * h).map(|i| a[i % h * w + i / h]).collect();
        Launch {
            global: [w as u32 / 8, h as u32 / 8, 1],
            tolerance: 0.0,
            args: vec![
                Arg::Buffer(i32s(&a)),
                Arg::Buffer(i32s(&vec![-1; w * h])),
                int(w as i32),
                int(h as i32),
            ],
            expect: vec![None, Some(i32s(&b)), None, None],
        }
    };
    Classic {
        name: "transpose",
        about: "Matrix transpose: a tile per thread, transposed in registers by a region of columns.",
        function,
        small: vec![launch(16, 8)],
        more: vec![launch(8, 8), launch(40, 24)],
    }
}

/// Computes Cooley and Tukey's transform by radix 2 of 32 complex numbers, decimation in time, in
/// local memory.
fn fft() -> Classic {
    const N: usize = 32;
    let function = kernel("fft", 16, Some([16, 1, 1]), 8 * N as u32, |k| {
        let (from, to) = (k.buffer(), k.buffer());
        let x = k.local_id(Dim::X);
        let first = k.group_id(Dim::X) * N as i32;
        let read = |half: i32| {
            let i = x + half * 16;
            let place = i.map(|b, v| b.ins().bfrev(v)).ushr(27) << 3;
            let at = k.address(from, first + i, 8);
            k.slm_store(k.load_at(F32, at, 0), place);
            k.slm_store(k.load_at(F32, at, 4), place + 4);
        };
        read(0);
        read(1);
        k.group_barrier();
        let span = k.var(k.int(I32, 1));
        k.uniform_loop(|| {
            let s = span.get().splat(16);
            let inside = x & (s - 1);
            let a = (((x - inside) << 1) + inside) << 3;
            let b = a + (s << 3);
            // The butterfly's angle is -pi * inside / span.
            let angle = inside.to_float(Scalar::F32) / s.to_float(Scalar::F32) * -(PI as f32);
            let (wr, wi) = (
                angle.map(|b, v| b.ins().fcos(v)),
                angle.map(|b, v| b.ins().fsin(v)),
            );
            let (ar, ai) = (k.slm_load(F32, a), k.slm_load(F32, a + 4));
            let (br, bi) = (k.slm_load(F32, b), k.slm_load(F32, b + 4));
            let (tr, ti) = (br * wr - bi * wi, br * wi + bi * wr);
            k.slm_store(ar + tr, a);
            k.slm_store(ai + ti, a + 4);
            k.slm_store(ar - tr, b);
            k.slm_store(ai - ti, b + 4);
            k.group_barrier();
            let next = span.get() << 1;
            span.set(next);
            k.uniform_break_if(next.eq(N as i32));
        });
        for half in 0..2 {
            let i = x + half * 16;
            let at = k.address(to, first + i, 8);
            k.store_at(k.slm_load(F32, i << 3), at, 0);
            k.store_at(k.slm_load(F32, (i << 3) + 4), at, 4);
        }
    });
    let launch = |groups: usize| {
        let a: Vec<f32> = noise(5, 2 * N * groups)
            .iter()
            .map(|x| (x % 9) as f32 - 4.0)
            .collect();
        let mut out = Vec::new();
        for g in a.chunks(2 * N) {
            for f in 0..N {
                let (mut re, mut im) = (0.0f64, 0.0f64);
                for (t, c) in g.chunks(2).enumerate() {
                    let (s, co) = (-2.0 * PI * (f * t % N) as f64 / N as f64).sin_cos();
                    re += f64::from(c[0]) * co - f64::from(c[1]) * s;
                    im += f64::from(c[0]) * s + f64::from(c[1]) * co;
                }
                // Few digits suffice for the tolerance.
                out.extend([re, im].map(|v| ((v * 1e5).round() / 1e5) as f32));
            }
        }
        Launch {
            global: [16 * groups as u32, 1, 1],
            tolerance: 1e-3,
            args: vec![
                Arg::Buffer(f32s(&a)),
                Arg::Buffer(f32s(&vec![0.0; a.len()])),
            ],
            expect: vec![None, Some(f32s(&out))],
        }
    };
    Classic {
        name: "fft",
        about: "Fourier transform of 32 complex numbers: butterflies in SLM, twiddle factors by the math unit.",
        function,
        small: vec![launch(1)],
        more: vec![launch(3)],
    }
}
