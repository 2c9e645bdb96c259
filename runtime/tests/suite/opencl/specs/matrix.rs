//! Systolic matrix products, which pocl lacks. The expectation is computed here.
//!
//! A sub-group of `LANES` multiplies M rows by as many columns. A lane holds `EACH` elements of
//! every row of the first matrix, and a column of the second, its elements packed in dwords.

use super::super::case::{Case, Element, Memory, any, either, within};
use crate::rng::Rng;
use half::f16;

/// Distribution of the first matrix over a device's lanes.
#[derive(Clone, Copy)]
struct FragmentShape {
    lanes: usize,
    /// Bytes of a row that a lane holds.
    row: usize,
}

const DPAS8: FragmentShape = FragmentShape { lanes: 8, row: 4 };
const DPAS16: FragmentShape = FragmentShape { lanes: 16, row: 2 };

/// Work-items of a launch.
const N: usize = 32;

fn bfloat(r: &mut Rng, _: usize) -> u16 {
    (((r.unit() * 2.0 - 1.0) as f32).to_bits() >> 16) as u16
}

fn bfloat_value(bits: u16) -> f64 {
    f32::from_bits(u32::from(bits) << 16).into()
}

pub fn cases() -> Vec<Case> {
    let mut cases = of(
        "matrix8",
        DPAS8,
        [
            |m, _| halves(m, DPAS8),
            |m, _| bfloats(m, DPAS8),
            |m, _| bytes(m, DPAS8),
            |m, _| one_row(m, DPAS8),
        ],
    );
    cases.extend(of(
        "matrix16",
        DPAS16,
        [
            |m, _| halves(m, DPAS16),
            |m, _| bfloats(m, DPAS16),
            |m, _| bytes(m, DPAS16),
            |m, _| one_row(m, DPAS16),
        ],
    ));
    cases
}

fn of(file: &'static str, shape: FragmentShape, models: [fn(&mut Memory, u32); 4]) -> Vec<Case> {
    let case = |kernel| Case::new(file, kernel).line(N as u32, 16);
    let FragmentShape { row, .. } = shape;
    let [halves, bfloats, bytes, one_row] = models;
    vec![
        case("matrix_half")
            .buffer::<f32>(N * 8, within(-1.0, 1.0))
            .ulps_of(4.0, 4.0)
            .buffer::<f16>(N * 8 * row / 2, either(0.1, 1.0))
            .buffer::<f16>(N * 16, either(0.1, 1.0))
            .expect(halves),
        case("matrix_bfloat")
            .buffer::<f32>(N * 4, within(-1.0, 1.0))
            .ulps_of(4.0, 4.0)
            .buffer(N * 4 * row / 2, bfloat)
            .buffer(N * 16, bfloat)
            .expect(bfloats),
        case("matrix_bytes")
            .buffer::<i32>(N * 8, within(-1000.0, 1000.0))
            .buffer::<i8>((N + 3) * 8 * row, any)
            .buffer::<u8>((N + 3) * 8 * row, any)
            .buffer::<i8>((N + 3) * 32, any)
            .scalar(3)
            .expect(bytes),
        case("matrix_one_row")
            .buffer::<i32>(N, within(-1000.0, 1000.0))
            .buffer::<i8>(N * row, any)
            .buffer::<u8>(N * 32, any)
            .expect(one_row),
    ]
}

/// Returns the sum of products of row `m` with the column of work-item `i`. There are `rows` rows
/// and elements of `bytes` bytes. Lanes read `step` items further than their own.
fn dot<A: Copy, B: Copy>(
    shape: FragmentShape,
    (a, a_value): (&[A], impl Fn(A) -> f64),
    (b, b_value): (&[B], impl Fn(B) -> f64),
    (rows, bytes, step): (usize, usize, usize),
    (i, m): (usize, usize),
) -> f64 {
    let first = i / shape.lanes * shape.lanes;
    let (each, column) = (shape.row / bytes, 32 / bytes);
    (0..column)
        .map(|k| {
            let lane = first + k / each + step;
            let x = a_value(a[(lane * rows + m) * each + k % each]);
            x * b_value(b[(i + step) * column + k])
        })
        .sum()
}

fn halves(m: &mut Memory, shape: FragmentShape) {
    let (c, a, b) = (m.get::<f32>(0), m.get::<f16>(1), m.get::<f16>(2));
    m.fill(0, |at| {
        let (a, b) = ((&a[..], f16::to_f64), (&b[..], f16::to_f64));
        f32::from_f64(f64::from(c[at]) + dot(shape, a, b, (8, 2, 0), (at / 8, at % 8)))
    });
}

fn bfloats(m: &mut Memory, shape: FragmentShape) {
    let (c, a, b) = (m.get::<f32>(0), m.get::<u16>(1), m.get::<u16>(2));
    m.fill(0, |at| {
        let (a, b) = ((&a[..], bfloat_value), (&b[..], bfloat_value));
        f32::from_f64(f64::from(c[at]) + dot(shape, a, b, (4, 2, 0), (at / 4, at % 4)))
    });
}

fn bytes(m: &mut Memory, shape: FragmentShape) {
    let (c, a) = (m.get::<i32>(0), m.get::<i8>(1));
    let (u, b) = (m.get::<u8>(2), m.get::<i8>(3));
    m.fill(0, |at| {
        let place = (at / 8, at % 8);
        let products = (0..3).map(|k| {
            let signed = dot(shape, (&a, f64::from), (&b, f64::from), (8, 1, k), place);
            signed + dot(shape, (&u, f64::from), (&b, f64::from), (8, 1, k), place)
        });
        c[at] + products.sum::<f64>() as i32
    });
}

fn one_row(m: &mut Memory, shape: FragmentShape) {
    let (c, a, b) = (m.get::<i32>(0), m.get::<i8>(1), m.get::<u8>(2));
    m.fill(0, |i| {
        c[i] + dot(shape, (&a, f64::from), (&b, f64::from), (1, 1, 0), (i, 0)) as i32
    });
}
