//! `y[i] = a * x[i] + y[i]`: one work-item a lane, sixteen a thread, the last thread partly off.

use gantry_codegen::builder::{BuildError, FunctionBuilder};
use gantry_codegen::ir::{Dim, Function, IntCC, scalars::*};

/// Work-items of a hardware thread.
pub const SIMD: u32 = 16;

/// Builds the kernel. Arguments are x, y, a (`f32`), n (`i32`).
///
/// # Errors
/// This file has a mistake.
pub fn build() -> Result<Function, BuildError> {
    let mut f = Function::kernel("saxpy", SIMD);
    let mut b = FunctionBuilder::new(&mut f);
    let (x, y) = (b.ptr_param(), b.ptr_param());
    let (a, n) = (b.param(F32), b.param(I32));
    let i = b.global_id(Dim::X);
    let n = b.splat(n, SIMD);
    let inside = b.ins().icmp(IntCC::SignedLessThan, i, n);
    b.simd_if(inside, |b| {
        let (px, py) = (b.element_addr(x, i, 4), b.element_addr(y, i, 4));
        let (vx, vy) = (b.simd_load(F32, px, 0), b.simd_load(F32, py, 0));
        let va = b.splat(a, SIMD);
        let r = b.ins().fma(va, vx, vy);
        b.simd_store(r, py, 0);
    });
    b.ins().return_(&[]);
    b.finish()?;
    Ok(f)
}

/// Computes the result on the CPU.
pub fn reference(a: f32, x: &[f32], y: &mut [f32]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y = a.mul_add(*x, *y);
    }
}
