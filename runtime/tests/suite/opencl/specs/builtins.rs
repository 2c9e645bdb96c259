//! Functions of extensions that pocl lacks. The expectation is computed here.

use super::super::case::{Case, Memory, any, within, zero};
use crate::rng::Rng;

/// Work-items of a launch.
const N: usize = 128;

pub fn cases() -> Vec<Case> {
    let case = |kernel| Case::new("builtins", kernel).line(N as u32, 64);
    let fine = |m: &mut Memory, _: u32| m.fill(0, |_| 1);
    let mut cases = vec![
        case("bit_functions")
            .buffer::<i32>(N, zero)
            .buffer::<i32>(N, any)
            .buffer::<u64>(N, any)
            .expect(bit_functions),
        case("clocks").buffer::<i32>(N, zero).expect(fine),
        case("where_it_runs").buffer::<i32>(N, zero).expect(fine),
        case("copies")
            .buffer::<i32>(N, zero)
            .buffer::<i32>(2 * N, any)
            .local::<i32>(80)
            .expect(copies),
        Case::new("local64", "local_quads")
            .line(N as u32, 32)
            .buffer::<i64>(N, zero)
            .buffer::<i64>(N, any)
            .local::<i64>(6)
            .expect(|m, _| {
                let x = m.get::<i64>(1);
                m.fill(0, |i| {
                    let group = x[i / 32 * 32..][..32].iter().copied();
                    match i % 32 % 6 {
                        0 => group.fold(0, i64::wrapping_add),
                        1 => group.fold(0, i64::max),
                        2 => group.fold(0, i64::min),
                        3 => group.fold(0, |a, b| a ^ b),
                        4 => group.fold(0, |a, b| a | b),
                        _ => group.fold(-1, |a, b| a & b),
                    }
                });
            }),
    ];
    cases.extend(of_bfloats());
    cases.extend(of_rectangles());
    cases
}

fn bit_functions(m: &mut Memory, _: u32) {
    let (x, q) = (m.get::<i32>(1), m.get::<u64>(2));
    m.fill(0, |i| {
        let x = x[i];
        let mask = 0x1ff << 3;
        let inserted = x & !mask | !x << 3 & mask;
        let (signed, unsigned) = (x << 16 >> 21, (x as u32) << 12 >> 19);
        let mul = |v: i32, n: i32| v.wrapping_mul(n);
        let r = [
            mul(signed, 3),
            mul(unsigned as i32, 5),
            mul(x.reverse_bits(), 7),
            mul((x ^ 0x1234).reverse_bits(), 9),
            i32::from((x as u16).reverse_bits()),
        ];
        r.into_iter().fold(inserted, i32::wrapping_add)
    });
    m.fill(2, |i| q[i].reverse_bits());
}

fn copies(m: &mut Memory, _: u32) {
    let mut x = m.get::<i32>(1);
    m.fill(0, |i| {
        let (g, l) = (i / 64 * 64, i % 64);
        x[g + 63 - l].wrapping_add(x[g + l % 16 * 3])
    });
    for g in (0..N).step_by(64) {
        (0..8).for_each(|k| x[g + k * 5] = k as i32 + 100);
    }
    m.set(1, x);
}

/// Generates a float that is a number.
fn number(r: &mut Rng, _: usize) -> f32 {
    let v = r.wild_f32();
    if v.is_nan() { 1.5 } else { v }
}

/// Returns the bits of a float rounded to nearest even, with the lowest `left_out` bits removed.
fn rounded(v: f32, left_out: u32) -> u32 {
    let bits = v.to_bits();
    let odd = bits >> left_out & 1;
    if v.is_infinite() {
        return bits;
    }
    (bits + (1 << (left_out - 1)) - 1 + odd) >> left_out << left_out
}

fn of_bfloats() -> Vec<Case> {
    vec![
        Case::new("bfloat", "bfloat_rounding")
            .line(N as u32, 64)
            .buffer::<u16>(N, zero)
            .buffer::<f32>(N, zero)
            .buffer::<f32>(N, number)
            .expect(|m, _| {
                let x = m.get::<f32>(2);
                m.fill(0, |i| (rounded(x[i], 16) >> 16) as u16);
                m.fill(1, |i| f32::from_bits(x[i].to_bits() << 16));
            }),
        Case::new("bfloat", "bfloat_vectors")
            .line(N as u32, 64)
            .buffer::<u16>(4 * N, zero)
            .buffer::<f32>(4 * N, number)
            .expect(|m, _| {
                let x = m.get::<f32>(1);
                m.fill(0, |i| (rounded(x[i], 16) >> 16) as u16);
            }),
        Case::new("tf32", "tf32_rounding")
            .line(N as u32, 64)
            .buffer::<u32>(N, zero)
            .buffer::<f32>(N, zero)
            .buffer::<f32>(N, number)
            .expect(|m, _| {
                let x = m.get::<f32>(2);
                m.fill(0, |i| rounded(x[i], 13));
                m.fill(1, |i| f32::from_bits(rounded(x[i], 13)));
            }),
        Case::new("tf32", "tf32_product")
            .line(32, 16)
            .buffer::<f32>(32 * 8, within(-1.0, 1.0))
            .ulps_of(4.0, 4.0)
            .buffer::<u16>(32 * 8, |r, i| (tf32(r) >> (i / 8 % 2 * 16)) as u16)
            .buffer::<u32>(32 * 8, |r, _| tf32(r))
            .expect(tf32_product),
    ]
}

/// Generates the bits of a float of 10 bits of fraction. The upper half is that of a float too.
fn tf32(r: &mut Rng) -> u32 {
    rounded((r.unit() * 2.0 - 1.0) as f32, 13)
}

/// Computes a product in which two lanes have half of each element of the first matrix.
fn tf32_product(m: &mut Memory, _: u32) {
    let (c, a, b) = (m.get::<f32>(0), m.get::<u16>(1), m.get::<u32>(2));
    m.fill(0, |at| {
        let (i, row) = (at / 8, at % 8);
        let first = i / 16 * 16;
        let products = (0..8).map(|k| {
            let half = |n: usize| u32::from(a[(first + 2 * k + n) * 8 + row]);
            let x = f32::from_bits(half(0) | half(1) << 16);
            f64::from(x) * f64::from(f32::from_bits(b[i * 8 + k]))
        });
        (f64::from(c[at]) + products.sum::<f64>()) as f32
    });
}

/// Rectangle that blocks are read from: bytes of a row, rows, bytes between rows.
const WIDTH: usize = 128;
const HEIGHT: usize = 40;
const PITCH: usize = 192;

fn of_rectangles() -> Vec<Case> {
    let case = |kernel, label, x: i32, y: i32| {
        Case::new("block_2d", kernel)
            .label(label)
            .line(16, 16)
            .buffer::<u8>(PITCH * HEIGHT, any)
            .scalar(WIDTH as i32)
            .scalar(HEIGHT as i32)
            .scalar(PITCH as i32)
            .scalar(x)
            .scalar(y)
    };
    let mut cases = Vec::new();
    macro_rules! at {
        ($label:literal, $x:literal, $y:literal) => {
            cases.push(
                first::<u16>(case("blocks_of_rows", $label, $x, $y), 32 + 256 + 128)
                    .expect(|m, _| rows(m, $x, $y)),
            );
            cases.push(
                first::<u32>(case("blocks_turned", $label, $x, $y), 384)
                    .expect(|m, _| turned(m, $x, $y)),
            );
        };
    }
    at!("inside", 16, 3);
    at!("beyond the right and the bottom", 104, 30);
    at!("before the left and the top", -8, -2);
    cases
}

/// Adds a buffer before a case's arguments.
fn first<T: super::super::case::Element>(mut case: Case, n: usize) -> Case {
    let mut args = std::mem::take(&mut case.args);
    case = case.buffer::<T>(n, zero);
    case.args.append(&mut args);
    case
}

/// Returns bytes of the rectangle, 0 outside, as a little-endian number.
fn part(x: &[u8], column: i32, row: i32, bytes: usize) -> u32 {
    (0..bytes).rev().fold(0, |v, k| {
        let column = column + k as i32;
        let inside = (0..WIDTH as i32).contains(&column) && (0..HEIGHT as i32).contains(&row);
        let at = row * PITCH as i32 + column;
        v << 8 | if inside { u32::from(x[at as usize]) } else { 0 }
    })
}

fn rows(m: &mut Memory, x: i32, y: i32) {
    let b = m.get::<u8>(1);
    m.fill(0, |i| {
        // A block of `rows` rows of 32 bytes, and one beside it. A lane has two bytes of each row.
        let (i, rows) = match i {
            0..32 => (i, 1),
            32..288 => (i - 32, 8),
            _ => (i - 288, 4),
        };
        let (lane, k) = (i / (2 * rows), i % (2 * rows));
        let column = x + (k / rows * 32 + lane * 2) as i32;
        part(&b, column, y + (k % rows) as i32, 2) as u16
    });
}

fn turned(m: &mut Memory, x: i32, y: i32) {
    let b = m.get::<u8>(1);
    m.fill(0, |i| {
        let (lane, k) = ((i % 128 / 8) as i32, (i % 8) as i32);
        match i / 128 {
            // Four bytes, or two words, of a column.
            0 => (0..4)
                .rev()
                .fold(0, |v, r| v << 8 | part(&b, x + lane, y + 4 * k + r, 1)),
            1 => (0..2)
                .rev()
                .fold(0, |v, r| v << 16 | part(&b, x + 2 * lane, y + 2 * k + r, 2)),
            // A row belongs to a lane.
            _ => part(&b, x + 4 * k, y + lane, 4),
        }
    });
}
