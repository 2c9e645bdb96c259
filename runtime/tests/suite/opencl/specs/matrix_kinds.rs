//! Systolic matrix products of elements below a byte, and those whose first matrix two sub-groups
//! share. pocl lacks them. The expectation is computed here from bits.

use super::super::case::{Case, Memory, any, either, within};
use crate::rng::Rng;
use half::f16;

/// Work-items of a launch, in groups of two sub-groups.
const N: usize = 32;

pub fn cases() -> Vec<Case> {
    let kinds = |kernel| Case::new("matrix_kinds", kernel).line(N as u32, 16);
    let wide = |kernel| Case::new("matrix_kinds16", kernel).line(N as u32, 16);
    let split = |kernel| Case::new("matrix_split", kernel).line(N as u32, 16);
    let start = || within::<i32>(-1000.0, 1000.0);
    let bfloat = |r: &mut Rng, _: usize| (((r.unit() * 2.0 - 1.0) as f32).to_bits() >> 16) as u16;
    vec![
        kinds("matrix_nibbles")
            .buffer::<i32>(N * 8, start())
            .buffer::<u8>(N * 32, any)
            .buffer::<u8>(N * 32, any)
            .buffer::<i32>(N * 4, start())
            .expect(|m, _| {
                let (a, b) = (m.get::<u8>(1), m.get::<u8>(2));
                add(m, 0, 8, Product::of(64, I4, I4, 8), (&a, &b));
                // First half of a work-item's elements.
                let first: Vec<u8> = a.chunks(32).flat_map(|c| c[..16].to_vec()).collect();
                add(m, 3, 4, Product::of(64, U4, I4, 4), (&first, &b));
            }),
        kinds("matrix_crumbs")
            .buffer::<i32>(N, start())
            .buffer::<u8>(N * 2, any)
            .buffer::<u8>(N * 16, any)
            .buffer::<i32>(N * 2, start())
            .buffer::<u8>(N * 8, any)
            .expect(|m, _| {
                let (a, b, e) = (m.get::<u8>(1), m.get::<u8>(2), m.get::<u8>(4));
                add(m, 0, 1, Product::of(64, I2, I2, 1), (&a, &b));
                let first: Vec<u8> = b.chunks(16).flat_map(|c| c[..8].to_vec()).collect();
                add(m, 3, 2, Product::of(32, I8, U2, 2), (&e, &first));
            }),
        kinds("matrix_mixed")
            .buffer::<i32>(N * 4, start())
            .buffer::<u8>(N * 8, any)
            .buffer::<u8>(N * 32, any)
            .expect(|m, _| {
                let (a, b) = (m.get::<u8>(1), m.get::<u8>(2));
                add(m, 0, 4, Product::of(32, U4, I8, 4), (&a, &b));
            }),
        wide("wide_nibbles")
            .buffer::<i32>(N * 8, start())
            .buffer::<u8>(N * 16, any)
            .buffer::<u8>(N * 32, any)
            .buffer::<i32>(N * 4, start())
            .buffer::<u8>(N * 4, any)
            .expect(|m, _| {
                let (a, b, e) = (m.get::<u8>(1), m.get::<u8>(2), m.get::<u8>(4));
                add(m, 0, 8, Product::of(64, I4, I4, 8).wide(), (&a, &b));
                add(m, 3, 4, Product::of(32, U4, I8, 4).wide(), (&e, &b));
            }),
        wide("wide_crumbs")
            .buffer::<i32>(N, start())
            .buffer::<u8>(N, any)
            .buffer::<u8>(N * 16, any)
            .buffer::<i32>(N * 2, start())
            .buffer::<u8>(N * 4, any)
            .expect(|m, _| {
                let (a, b, e) = (m.get::<u8>(1), m.get::<u8>(2), m.get::<u8>(4));
                add(m, 0, 1, Product::of(64, I2, I2, 1).wide(), (&a, &b));
                let first: Vec<u8> = b.chunks(16).flat_map(|c| c[..8].to_vec()).collect();
                add(m, 3, 2, Product::of(32, I8, U2, 2).wide(), (&e, &first));
            }),
        split("split_bytes")
            .buffer::<i32>(N * 8, start())
            .buffer::<u8>((N + 3) * 16, any)
            .buffer::<u8>((N + 3) * 32, any)
            .scalar(3)
            .expect(|m, _| {
                let (a, b) = (m.get::<u8>(1), m.get::<u8>(2));
                for step in 0..3 {
                    let from = (&a[step * 16..], &b[step * 32..]);
                    add(m, 0, 8, Product::of(32, I8, I8, 8).split(), from);
                }
            }),
        split("split_fewer_rows")
            .buffer::<i32>(N * 4, start())
            .buffer::<i32>(N * 2, start())
            .buffer::<u8>(N * 8, any)
            .buffer::<u8>(N * 4, any)
            .buffer::<u8>(N * 32, any)
            .expect(|m, _| {
                let (a, e, b) = (m.get::<u8>(2), m.get::<u8>(3), m.get::<u8>(4));
                add(m, 0, 4, Product::of(32, U8, I8, 4).split(), (&a, &b));
                add(m, 1, 2, Product::of(32, I8, U8, 2).split(), (&e, &b));
            }),
        split("split_halves")
            .buffer::<f32>(N * 8, within(-1.0, 1.0))
            .ulps_of(4.0, 4.0)
            .buffer::<f16>(N * 8, either(0.1, 1.0))
            .buffer::<f16>(N * 16, either(0.1, 1.0))
            .buffer::<f32>(N * 4, within(-1.0, 1.0))
            .ulps_of(4.0, 4.0)
            .buffer::<u16>(N * 4, bfloat)
            .buffer::<u16>(N * 16, bfloat)
            .expect(|m, _| {
                let bytes =
                    |w: Vec<u16>| -> Vec<u8> { w.into_iter().flat_map(u16::to_le_bytes).collect() };
                let [a, b, e, f] = [1, 2, 4, 5].map(|k| bytes(m.get(k)));
                let (c, d) = (m.get::<f32>(0), m.get::<f32>(3));
                let p = Product::of(16, HALF, HALF, 8).split();
                m.fill(0, |i| {
                    (f64::from(c[i]) + p.sum(&a, &b, i / 8, i % 8)) as f32
                });
                let p = Product::of(16, BFLOAT, BFLOAT, 4).split();
                m.fill(3, |i| {
                    (f64::from(d[i]) + p.sum(&e, &f, i / 4, i % 4)) as f32
                });
            }),
    ]
}

/// Element type: its bits, and the conversion to its value.
type Element = (usize, fn(u64) -> f64);

const I8: Element = (8, |v| f64::from(v as i8));
const U8: Element = (8, |v| v as f64);
const I4: Element = (4, |v| f64::from((v << 4) as i8 >> 4));
const U4: Element = (4, |v| v as f64);
const I2: Element = (2, |v| f64::from((v << 6) as i8 >> 6));
const U2: Element = (2, |v| v as f64);
const HALF: Element = (16, |v| f16::from_bits(v as u16).to_f64());
const BFLOAT: Element = (16, |v| f64::from(f32::from_bits((v as u32) << 16)));

/// Product of sums over `depth` elements. Each lane holds its part of each row of the first matrix,
/// and a column of the second.
struct Product {
    lanes: usize,
    depth: usize,
    a: Element,
    b: Element,
    rows: usize,
    /// Number of sub-groups that share the rows.
    shared: usize,
}

impl Product {
    fn of(depth: usize, a: Element, b: Element, rows: usize) -> Product {
        Product {
            lanes: 8,
            depth,
            a,
            b,
            rows,
            shared: 1,
        }
    }

    /// Widens the product to 16 lanes.
    fn wide(self) -> Product {
        Product { lanes: 16, ..self }
    }

    /// Splits the rows over two sub-groups.
    fn split(self) -> Product {
        Product { shared: 2, ..self }
    }

    /// Multiplies row `m` by the column of work-item `i`.
    fn sum(&self, a: &[u8], b: &[u8], i: usize, m: usize) -> f64 {
        let (rows, each) = (self.rows / self.shared, self.depth / self.lanes);
        let pair = self.lanes * self.shared;
        let first = i / pair * pair + m / rows * self.lanes;
        let products = (0..self.depth).map(|k| {
            let row = (first + k / each) * rows + m % rows;
            let x = element(a, row * each + k % each, self.a);
            x * element(b, i * self.depth + k, self.b)
        });
        products.sum()
    }
}

/// Returns element `k` of consecutive elements.
fn element(bytes: &[u8], k: usize, (bits, value): Element) -> f64 {
    let at = k * bits;
    let pair = [bytes[at / 8], bytes.get(at / 8 + 1).copied().unwrap_or(0)];
    let v = u64::from(u16::from_le_bytes(pair));
    value(v >> (at % 8) & (u64::MAX >> (64 - bits)))
}

/// Adds the products of integers to a buffer of `rows` rows.
fn add(m: &mut Memory, buffer: usize, rows: usize, p: Product, (a, b): (&[u8], &[u8])) {
    let c = m.get::<i32>(buffer);
    m.fill(buffer, |i| c[i] + p.sum(a, b, i / rows, i % rows) as i32);
}
