//! Grids of points: Sobel's filter, Mandelbrot's set, Jacobi's relaxation.

use super::{Classic, Launch, f32s, float, halves, i32s, int, kernel, noise, u8s};
use gantry_codegen::builder::{Operand, Val};
use gantry_codegen::interp::{Addressing, Component, Sampler};
use gantry_codegen::ir::{Dim, ImageAccess, ImagePlace, ImageShape, Region, Scalar, scalars::*};
use gantry_filetests::launch::{Arg, ImageArg};

/// Image and sampler of the blur.
const TEXELS: ImagePlace = ImagePlace {
    image: 0,
    sampler: 0,
};

/// Tests if signed numbers are between two bounds, both excluded.
fn between<'k>(v: Val<'k>, low: impl Operand<'k>, high: impl Operand<'k>) -> Val<'k> {
    v.gt(low) & v.lt(high)
}

pub fn classics() -> Vec<Classic> {
    vec![sobel(), mandelbrot(), jacobi(), blur()]
}

/// Computes 16 pixels of a row in a thread from three rows of 18. Each row's left, middle and right
/// neighbours are one region.
fn sobel() -> Classic {
    let function = kernel("sobel", 1, None, 0, |k| {
        let (from, to) = (k.buffer(), k.buffer());
        let width = k.param(I32);
        let first = k.group_id(Dim::Y) * width + (k.group_id(Dim::X) << 4);
        let row = |n: i32| {
            let at = from + (first + width * n).uextend(Scalar::I64);
            let pixels = k.block_load(I8.by(18), at, 0).uextend(Scalar::I16);
            let around = pixels.region(48, Region::new(1, 16, 1, 0), None);
            [0, 16, 32].map(|lane| around.slice(lane, 16))
        };
        let rows = [row(0), row(1), row(2)];
        let across = |n: usize| rows[n][2] - rows[n][0];
        let along = |n: usize| rows[n][0] + (rows[n][1] << 1) + rows[n][2];
        let gx = across(0) + (across(1) << 1) + across(2);
        let gy = along(2) - along(0);
        let edge = (gx.abs() + gy.abs()).map(|b, v| b.ins().uutrunc_sat(I8.by(16), v));
        k.block_store(edge, to + (first + width + 1).uextend(Scalar::I64), 0);
    });
    let launch = |columns: usize, h: usize| {
        let w = 16 * columns + 2;
        let image: Vec<u8> = noise(3, w * h)
            .iter()
            .enumerate()
            .map(|(i, n)| if (i % w) > w / 2 { 200 } else { (n % 60) as u8 })
            .collect();
        let mut out = vec![0u8; w * h];
        for y in 1..h - 1 {
            for x in 1..w - 1 {
                let p = |dx: usize, dy: usize| i32::from(image[(y + dy - 1) * w + x + dx - 1]);
                let gx = p(2, 0) + 2 * p(2, 1) + p(2, 2) - p(0, 0) - 2 * p(0, 1) - p(0, 2);
                let gy = p(0, 2) + 2 * p(1, 2) + p(2, 2) - p(0, 0) - 2 * p(1, 0) - p(2, 0);
                out[y * w + x] = (gx.abs() + gy.abs()).min(255) as u8;
            }
        }
        Launch {
            global: [columns as u32, h as u32 - 2, 1],
            tolerance: 0.0,
            args: vec![
                Arg::Buffer(u8s(&image)),
                Arg::Buffer(u8s(&vec![0; w * h])),
                int(w as i32),
            ],
            expect: vec![None, Some(u8s(&out)), None],
        }
    };
    Classic {
        name: "sobel",
        about: "Sobel filter: left, middle and right neighbours in one region with overlapping rows.",
        function,
        small: vec![launch(1, 6)],
        more: vec![launch(2, 3), launch(3, 11)],
    }
}

/// Applies the weights 1 2 1 along both axes, by four samples between texels. Each sample is the
/// mean of four.
fn blur() -> Classic {
    let function = kernel("blur", 16, None, 0, |k| {
        k.image(ImageShape::D2, ImageAccess::Read);
        k.image(ImageShape::D2, ImageAccess::Write);
        k.sampler();
        let (x, y) = (k.global_id(Dim::X), k.global_id(Dim::Y));
        let (left, above) = (x.to_float(Scalar::F32), y.to_float(Scalar::F32));
        let (right, below) = (left + 1.0, above + 1.0);
        let sum = (k.sample(TEXELS, [left, above]) + k.sample(TEXELS, [right, above]))
            + (k.sample(TEXELS, [left, below]) + k.sample(TEXELS, [right, below]));
        k.image_store(sum * 0.25, 1, [x, y]);
    });
    let launch = |w: usize, h: usize| {
        let image: Vec<u8> = noise(5, 4 * w * h).iter().map(|n| *n as u8).collect();
        let mut out = vec![0f32; 4 * w * h];
        for (i, o) in out.iter_mut().enumerate() {
            let (c, x, y) = (i % 4, i / 4 % w, i / 4 / w);
            for (dy, wy) in [1.0, 2.0, 1.0].into_iter().enumerate() {
                for (dx, wx) in [1.0, 2.0, 1.0].into_iter().enumerate() {
                    let px = (x + dx).saturating_sub(1).min(w - 1);
                    let py = (y + dy).saturating_sub(1).min(h - 1);
                    *o += f32::from(image[(py * w + px) * 4 + c]) * wx * wy / (16.0 * 255.0);
                }
            }
        }
        let of = |component| ImageArg {
            shape: ImageShape::D2,
            extent: [w as u32, h as u32, 1],
            samples: 1,
            levels: 1,
            components: 4,
            component,
        };
        Launch {
            global: [w as u32, h as u32, 1],
            // Hardware's weights have 8 bits.
            tolerance: 0.004,
            args: vec![
                Arg::Image(of(Component::Unorm8), u8s(&image)),
                Arg::Image(of(Component::F32), f32s(&vec![0.0; out.len()])),
                Arg::Sampler(Sampler::new(Addressing::Edge, true)),
            ],
            expect: vec![None, Some(f32s(&out)), None],
        }
    };
    Classic {
        name: "blur",
        about: "Blur by the sampler: four samples between texels weight nine texels.",
        function,
        small: vec![launch(5, 3)],
        more: vec![launch(33, 7), launch(16, 1), launch(1, 1)],
    }
}

fn mandelbrot() -> Classic {
    let function = kernel("mandelbrot", 16, None, 0, |k| {
        let out = k.buffer();
        let (left, top, step) = (k.param(F32), k.param(F32), k.param(F32));
        let (width, most) = (k.param(I32), k.param(I32));
        let (x, y) = (k.global_id(Dim::X), k.global_id(Dim::Y));
        let cr = x.to_float(Scalar::F32).fma(step, left);
        let ci = y.to_float(Scalar::F32).fma(step, top);
        let (zr, zi) = (k.var(cr), k.var(ci));
        let count = k.var(k.int(I32.by(16), 0));
        k.simd_loop(|| {
            let (r, i) = (zr.get(), zi.get());
            let (rr, ii) = (r * r, i * i);
            let far = (rr + ii).gt(4.0);
            let done = count.get().ge(most);
            k.simd_break_if(far | done);
            zi.set((r + r).fma(i, ci));
            zr.set((rr - ii) + cr);
            count.set(count.get() + 1);
        });
        k.store(count.get(), out, y * width + x);
    });
    let launch = |w: usize, h: usize, most: i32| {
        let (left, top, step) = (-2.0f32, -1.25f32, 2.5 / w as f32);
        let point = |i: usize| {
            let (cr, ci) = (
                ((i % w) as f32).mul_add(step, left),
                ((i / w) as f32).mul_add(step, top),
            );
            let (mut zr, mut zi, mut n) = (cr, ci, 0);
            while zr * zr + zi * zi <= 4.0 && n < most {
                (zr, zi) = (zr * zr - zi * zi + cr, (zr + zr).mul_add(zi, ci));
                n += 1;
            }
            n
        };
        let counts: Vec<i32> = (0..w * h).map(point).collect();
        Launch {
            global: [w as u32, h as u32, 1],
            tolerance: 0.0,
            args: vec![
                Arg::Buffer(i32s(&vec![-1; w * h])),
                float(left),
                float(top),
                float(step),
                int(w as i32),
                int(most),
            ],
            expect: vec![Some(i32s(&counts)), None, None, None, None, None],
        }
    };
    Classic {
        name: "mandelbrot",
        about: "Mandelbrot set: a divergent loop that channels leave one by one.",
        function,
        small: vec![launch(16, 8, 30)],
        more: vec![launch(64, 48, 100), launch(16, 1, 0)],
    }
}

/// Makes one sweep of a relaxation for Poisson's equation; the border stays.
fn jacobi() -> Classic {
    let function = kernel("jacobi", 16, None, 0, |k| {
        let (from, source, to) = (k.buffer(), k.buffer(), k.buffer());
        let (width, height) = (k.param(I32), k.param(I32));
        let (x, y) = (k.global_id(Dim::X), k.global_id(Dim::Y));
        let at = y * width + x;
        let u = k.var(k.load(F32, from, at));
        k.simd_if(between(x, 0, width - 1) & between(y, 0, height - 1), || {
            let west = k.load(F32, from, at - 1);
            let east = k.load(F32, from, at + 1);
            let north = k.load(F32, from, at - width);
            let south = k.load(F32, from, at + width);
            let sum = (west + east) + (north + south);
            u.set((sum - k.load(F32, source, at)) * 0.25);
        });
        k.store(u.get(), to, at);
    });
    let launch = |w: usize, h: usize| {
        let (u, f) = (halves(8, w * h), halves(9, w * h));
        let point = |i: usize| {
            let (x, y) = (i % w, i / w);
            if x > 0 && x < w - 1 && y > 0 && y < h - 1 {
                (u[i - 1] + u[i + 1] + (u[i - w] + u[i + w]) - f[i]) * 0.25
            } else {
                u[i]
            }
        };
        let next: Vec<f32> = (0..w * h).map(point).collect();
        Launch {
            global: [w as u32, h as u32, 1],
            tolerance: 0.0,
            args: vec![
                Arg::Buffer(f32s(&u)),
                Arg::Buffer(f32s(&f)),
                Arg::Buffer(f32s(&vec![0.0; w * h])),
                int(w as i32),
                int(h as i32),
            ],
            expect: vec![None, None, Some(f32s(&next)), None, None],
        }
    };
    Classic {
        name: "jacobi",
        about: "Sweep of Jacobi relaxation: divergent branch between interior and border channels.",
        function,
        small: vec![launch(16, 5)],
        more: vec![launch(48, 17), launch(20, 6), launch(16, 1)],
    }
}
