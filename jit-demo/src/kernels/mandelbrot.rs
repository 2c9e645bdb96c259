//! Mandelbrot set: a pixel a lane, in a loop that each lane leaves when it is done.

use super::vector;
use gantry_codegen::builder::{BuildError, FunctionBuilder};
use gantry_codegen::ir::{Dim, FloatCC, Function, IntCC, Type, scalars::*};

/// Work-items of a hardware thread.
pub const SIMD: u32 = 16;

/// Part of the plane that a picture shows.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// Real part of the left column.
    pub left: f32,
    /// Imaginary part of the top row.
    pub top: f32,
    /// Distance between two pixels.
    pub step: f32,
    /// Number of iterations after which a point counts as inside.
    pub limit: i32,
}

/// Builds the kernel.
///
/// Arguments are iterations out (`i32` a pixel, row after row), width (`i32`), limit (`i32`), and
/// left, top, step (`f32`). The grid's x is a pixel's column, y its row.
///
/// # Errors
/// This file has a mistake.
pub fn build() -> Result<Function, BuildError> {
    let mut f = Function::kernel("mandelbrot", SIMD);
    let mut b = FunctionBuilder::new(&mut f);
    let out = b.ptr_param();
    let (width, limit) = (b.param(I32), b.param(I32));
    let (left, top, step) = (b.param(F32), b.param(F32), b.param(F32));
    let lanes = |t: Type| vector(t, SIMD);

    let column = b.global_id(Dim::X);
    let row = b.ins().group_id(Dim::Y);
    let widths = b.splat(width, SIMD);
    let inside = b.ins().icmp(IntCC::SignedLessThan, column, widths);
    b.simd_if(inside, |b| {
        let x = b.ins().fcvt_from_sint(lanes(F32), column);
        let (steps, lefts) = (b.splat(step, SIMD), b.splat(left, SIMD));
        let cr = b.ins().fma(x, steps, lefts);
        let y = b.ins().fcvt_from_sint(F32, row);
        let ci = b.ins().fma(y, step, top);
        let ci = b.splat(ci, SIMD);
        let zero = b.ins().fconst(lanes(F32), 0.0);
        let (zr, zi) = (b.var(zero), b.var(zero));
        let none = b.ins().iconst(lanes(I32), 0);
        let n = b.var(none);
        b.simd_loop(|b| {
            let (r, i, count) = (b.use_var(zr), b.use_var(zi), b.use_var(n));
            let (rr, ii) = (b.ins().fmul(r, r), b.ins().fmul(i, i));
            let norm = b.ins().fadd(rr, ii);
            let four = b.ins().fconst(lanes(F32), 4.0);
            let limits = b.splat(limit, SIMD);
            let escaped = b.ins().fcmp(FloatCC::GreaterThan, norm, four);
            let done = b.ins().icmp(IntCC::SignedGreaterThanOrEqual, count, limits);
            let leave = b.ins().bor(escaped, done);
            b.simd_break_if(leave);
            let difference = b.ins().fsub(rr, ii);
            let next_r = b.ins().fadd(difference, cr);
            let twice = b.ins().fadd(r, r);
            let next_i = b.ins().fma(twice, i, ci);
            let one = b.ins().iconst(lanes(I32), 1);
            let next_n = b.ins().iadd(count, one);
            b.assign(zr, next_r);
            b.assign(zi, next_i);
            b.assign(n, next_n);
        });
        let start = b.ins().imul(row, width);
        let start = b.splat(start, SIMD);
        let pixel = b.ins().iadd(start, column);
        let at = b.element_addr(out, pixel, 4);
        let count = b.use_var(n);
        b.simd_store(count, at, 0);
    });
    b.ins().return_(&[]);
    b.finish()?;
    Ok(f)
}

/// Computes the set on the CPU: iterations a pixel, row after row.
pub fn reference(v: &View, width: u32, height: u32) -> Vec<i32> {
    let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    pixels
        .map(|(x, y)| {
            let cr = (x as f32).mul_add(v.step, v.left);
            let ci = (y as f32).mul_add(v.step, v.top);
            let (mut r, mut i, mut n) = (0f32, 0f32, 0);
            while r * r + i * i <= 4.0 && n < v.limit {
                let next = r * r - i * i + cr;
                i = (r + r).mul_add(i, ci);
                r = next;
                n += 1;
            }
            n
        })
        .collect()
}
