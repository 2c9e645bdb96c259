//! 3x3 linear filter, the first example of CM's tutorial, in whole-thread style.
//!
//! A thread computes a tile of 8 by 6 RGB pixels. It reads 8 rows of 32 bytes into registers, once.
//! The nine taps are then nine overlapping regions of those registers, each of 6 rows of 24 bytes.
//! Nothing is loaded or shuffled again.

use super::vector;
use gantry_codegen::builder::{BuildError, FunctionBuilder};
use gantry_codegen::ir::{Dim, Function, Region, Scalar, Type, Value, scalars::*};

/// Pixels of a tile along x.
pub const TILE_WIDTH: u32 = 8;
/// Pixels of a tile along y.
pub const TILE_HEIGHT: u32 = 6;
/// Bytes of a tile's row.
const ROW: u32 = 3 * TILE_WIDTH;
/// Bytes of a row that is read: the tile's, a pixel on either side, and two more up to a power of
/// two.
const READ: u32 = 32;
/// Number of rows that are read.
const READ_ROWS: u32 = TILE_HEIGHT + 2;

/// Builds the kernel.
///
/// Arguments are source, destination, and their pitches in bytes (`i32`, multiples of 4). The
/// source has a border of a pixel around the picture, and both are padded to whole tiles. Each
/// thread is a group of its own: x and y of the grid are a tile's column and row.
///
/// # Errors
/// This file has a mistake.
pub fn build() -> Result<Function, BuildError> {
    let mut f = Function::kernel("linear", 1);
    let mut b = FunctionBuilder::new(&mut f);
    let (src, dst) = (b.ptr_param(), b.ptr_param());
    let (src_pitch, dst_pitch) = (b.param(I32), b.param(I32));
    let read_row = vector(I32, READ / 4);
    let tile = |t: Type| vector(t, ROW * TILE_HEIGHT);

    let pixels = {
        let mut rows = b.ins().undef(vector(I32, READ * READ_ROWS / 4));
        let mut at = tile_address(&mut b, src, src_pitch);
        let pitch = b.ins().uextend(I64, src_pitch);
        for r in 0..READ_ROWS {
            let row = b.ins().bload(read_row, at, 0);
            let place = Region::contiguous((READ / 4) as u16, (r * READ) as u16);
            rows = b.ins().wrregion(rows, place, row);
            at = b.ins().iadd(at, pitch);
        }
        b.ins().bitcast(vector(I8, READ * READ_ROWS), rows)
    };

    let mut sum: Option<Value> = None;
    for (dy, dx) in (0..3).flat_map(|dy| (0..3).map(move |dx| (dy, dx))) {
        let tap = Region::new(READ as u16, ROW as u16, 1, (dy * READ + dx * 3) as u16);
        let bytes = b.ins().rdregion(tile(I8), pixels, tap);
        let words = b.ins().uextend(tile(I16), bytes);
        sum = Some(match sum {
            Some(s) => b.ins().iadd(s, words),
            None => words,
        });
    }
    let Some(sum) = sum else {
        return b.finish().map(|()| f);
    };
    let sum = b.ins().fcvt_from_uint(tile(F32), sum);
    let ninth = b.ins().fconst(tile(F32), NINTH.into());
    let half = b.ins().fconst(tile(F32), 0.5);
    let mean = b.ins().fma(sum, ninth, half);
    let bytes = b.ins().fcvt_to_uint(tile(I8), mean);

    let words = Type::new(Scalar::I32, ROW * TILE_HEIGHT / 4);
    let out = b.ins().bitcast(words.unwrap_or(I32), bytes);
    let mut at = tile_address(&mut b, dst, dst_pitch);
    let pitch = b.ins().uextend(I64, dst_pitch);
    for r in 0..TILE_HEIGHT {
        let row = b.slice(out, r * ROW / 4, ROW / 4);
        b.ins().bstore(row, at, 0);
        at = b.ins().iadd(at, pitch);
    }
    b.ins().return_(&[]);
    b.finish()?;
    Ok(f)
}

const NINTH: f32 = 1.0 / 9.0;

/// Computes the address of a thread's tile: `base + y * 6 * pitch + x * 24`.
fn tile_address(b: &mut FunctionBuilder<'_>, base: Value, pitch: Value) -> Value {
    let (x, y) = (b.ins().group_id(Dim::X), b.ins().group_id(Dim::Y));
    let height = b.ins().iconst(I32, TILE_HEIGHT.into());
    let width = b.ins().iconst(I32, ROW.into());
    let row = b.ins().imul(y, height);
    let row = b.ins().imul(row, pitch);
    let column = b.ins().imul(x, width);
    let offset = b.ins().iadd(row, column);
    let offset = b.ins().uextend(I64, offset);
    b.ins().iadd(base, offset)
}

/// Computes the filter on the CPU, over a source with its border: `width * height` RGB pixels.
pub fn reference(src: &[u8], src_pitch: usize, width: usize, height: usize) -> Vec<u8> {
    let at = |x: usize, y: usize| f32::from(src.get(y * src_pitch + x).copied().unwrap_or(0));
    let bytes = (0..height).flat_map(|y| (0..width * 3).map(move |x| (x, y)));
    bytes
        .map(|(x, y)| {
            let taps = (0..3).flat_map(|dy| (0..3).map(move |dx| (dx, dy)));
            let sum: f32 = taps.map(|(dx, dy)| at(x + 3 * dx, y + dy)).sum();
            sum.mul_add(NINTH, 0.5) as u8
        })
        .collect()
}
