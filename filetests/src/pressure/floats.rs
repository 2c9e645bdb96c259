//! Kernels of floats with high register pressure.

use super::program::{Program, Ty, V};

/// Reads `n` floats, and reads each again when all are known: a vector, normalized.
pub fn live(p: &Program, n: u32) {
    let (input, out) = (p.input(Ty::F32, n), p.output(Ty::F32, n));
    let x = input.all(n);
    let mut sum = p.f32(1e-6);
    for v in &x {
        sum = v.fma(*v, sum);
    }
    let scale = sum.rsqrt();
    for (k, v) in (0..).zip(x) {
        out.put(k, v * scale);
    }
}

/// Computes `n` halves, less the largest of them.
pub fn live_halves(p: &Program, n: u32) {
    let (input, out) = (p.input(Ty::F16, n), p.output(Ty::F16, n));
    let x = input.all(n);
    if let Some(most) = x.iter().copied().reduce(V::max) {
        for (k, v) in (0..).zip(x) {
            out.put(k, v - most);
        }
    }
}

/// Computes a cosine transform of 8 values (the rotations of Loeffler, Ligtenberg and Moschytz).
fn dct8<'p>(p: &'p Program, x: [V<'p>; 8]) -> [V<'p>; 8] {
    let turn = |a: V<'p>, b: V<'p>, angle: f64, scale: f64| {
        let (s, c) = angle.sin_cos();
        let (s, c) = (p.f32((s * scale) as f32), p.f32((c * scale) as f32));
        (a.fma(c, b * s), b.fma(c, p.f32(0.0) - a * s))
    };
    let pi = std::f64::consts::PI;
    let low: [V<'p>; 4] = std::array::from_fn(|i| x[i] + x[7 - i]);
    let high: [V<'p>; 4] = std::array::from_fn(|i| x[i] - x[7 - i]);
    let (a, b) = (low[0] + low[3], low[1] + low[2]);
    let (c, d) = (low[1] - low[2], low[0] - low[3]);
    let (y2, y6) = turn(c, d, pi * 6.0 / 16.0, std::f64::consts::SQRT_2);
    let (e, f) = turn(high[0], high[3], pi * 3.0 / 16.0, 1.0);
    let (g, h) = turn(high[1], high[2], pi / 16.0, 1.0);
    let (i, j, k, l) = (e + g, f + h, e - g, f - h);
    let root = p.f32(std::f32::consts::SQRT_2);
    [a + b, i + j, y2, k * root, a - b, l * root, y6, i - j]
}

/// Computes a cosine transform of a block of 8x8, rows and columns.
pub fn dct(p: &Program) {
    let (input, out) = (p.input(Ty::F32, 64), p.output(Ty::F32, 64));
    let mut x = input.all(64);
    for (start, step) in (0..8).map(|r| (8 * r, 1)).chain((0..8).map(|c| (c, 8))) {
        let at = |i: usize| start + i * step;
        let y = dct8(p, std::array::from_fn(|i| x[at(i)]));
        for (i, v) in y.into_iter().enumerate() {
            x[at(i)] = v;
        }
    }
    out.put_all(&x);
}

/// Computes a matrix product, `rows` x `columns` of it a work-item. A thread shares the rows.
pub fn sgemm(p: &Program, rows: u32, columns: u32) {
    const DEPTH: u32 = 16;
    let a = p.shared(Ty::F32, DEPTH * rows);
    let b = p.input(Ty::F32, DEPTH * columns);
    let out = p.output(Ty::F32, rows * columns);
    let sums: Vec<_> = (0..rows * columns).map(|_| p.sum()).collect();
    p.repeat(DEPTH, |k| {
        let a: Vec<V<'_>> = (0..rows).map(|m| a.one_at(m, k, rows)).collect();
        let b: Vec<V<'_>> = (0..columns).map(|n| b.own_at(n, k, columns)).collect();
        for (i, sum) in sums.iter().enumerate() {
            let (m, n) = (i / columns as usize, i % columns as usize);
            sum.set(a[m].fma(b[n], sum.get()));
        }
    });
    let all: Vec<V<'_>> = sums.iter().map(|s| s.get()).collect();
    out.put_all(&all);
}

/// Computes a Fourier transform of `n` complex numbers.
pub fn fft(p: &Program, n: usize) {
    let (input, out) = (
        p.input(Ty::F32, 2 * n as u32),
        p.output(Ty::F32, 2 * n as u32),
    );
    let all = input.all(2 * n as u32);
    let bits = n.ilog2();
    // In the order of reversed bits.
    let mut x: Vec<(V<'_>, V<'_>)> = (0..n)
        .map(|i| i.reverse_bits() >> (usize::BITS - bits))
        .map(|i| (all[2 * i], all[2 * i + 1]))
        .collect();
    for stage in 0..bits {
        let half = 1 << stage;
        for i in (0..n).filter(|i| i & half == 0) {
            let turn = -std::f64::consts::PI * (i % half) as f64 / half as f64;
            let ((ar, ai), (br, bi)) = (x[i], x[i + half]);
            let (tr, ti) = match i % half {
                0 => (br, bi),
                _ => {
                    let (c, s) = (p.f32(turn.cos() as f32), p.f32(turn.sin() as f32));
                    (br * c - bi * s, br.fma(s, bi * c))
                }
            };
            x[i] = (ar + tr, ai + ti);
            x[i + half] = (ar - tr, ai - ti);
        }
    }
    let all: Vec<V<'_>> = x.iter().flat_map(|v| [v.0, v.1]).collect();
    out.put_all(&all);
}

/// Decomposes a matrix of `n` x `n` to two triangular ones, without pivoting.
pub fn lu(p: &Program, n: usize) {
    let each = (n * n) as u32;
    let (input, out) = (p.input(Ty::F32, each), p.output(Ty::F32, each));
    let mut a = input.all(each);
    // Far from singular.
    for i in 0..n {
        a[i * n + i] = a[i * n + i] + p.f32(8.0);
    }
    for k in 0..n {
        let inverse = p.f32(1.0).over(a[k * n + k]);
        for i in k + 1..n {
            let factor = a[i * n + k] * inverse;
            a[i * n + k] = factor;
            for j in k + 1..n {
                a[i * n + j] = a[i * n + j] - factor * a[k * n + j];
            }
        }
    }
    out.put_all(&a);
}

/// Computes the lower triangle whose product with its transpose is a symmetric matrix.
pub fn cholesky(p: &Program, n: usize) {
    let each = (n * (n + 1) / 2) as u32;
    let (input, out) = (p.input(Ty::F32, each), p.output(Ty::F32, each));
    let mut a = input.all(each);
    let at = |i: usize, j: usize| i * (i + 1) / 2 + j;
    for i in 0..n {
        a[at(i, i)] = a[at(i, i)] + p.f32(16.0);
    }
    for k in 0..n {
        let root = a[at(k, k)].rsqrt();
        for i in k..n {
            a[at(i, k)] = a[at(i, k)] * root;
        }
        for j in k + 1..n {
            for i in j..n {
                a[at(i, j)] = a[at(i, j)] - a[at(i, k)] * a[at(j, k)];
            }
        }
    }
    out.put_all(&a);
}

/// Keeps `through` values live across a loop that has `inside` sums of its own.
pub fn through(p: &Program, through: u32, inside: u32) {
    const TIMES: u32 = 32;
    let (kept, data) = (p.input(Ty::F32, through), p.input(Ty::F32, TIMES));
    let out = p.output(Ty::F32, through);
    let kept = kept.all(through);
    let sums: Vec<_> = (0..inside).map(|_| p.sum()).collect();
    p.repeat(TIMES, |i| {
        let mut x = data.own_at(0, i, 1);
        for s in &sums {
            x = x.fma(p.f32(0.75), s.get());
            s.set(x);
        }
    });
    for (k, v) in (0..).zip(kept) {
        out.put(k, v * sums[k as usize % sums.len()].get());
    }
}

/// Computes a filter with `taps` uniform coefficients, for `outputs` results at a time.
pub fn filter(p: &Program, taps: u32, outputs: u32) {
    const TIMES: u32 = 8;
    let each = TIMES + outputs;
    let (taken, input) = (p.shared(Ty::F32, taps), p.input(Ty::F32, each));
    let out = p.output(Ty::F32, outputs);
    let taken: Vec<V<'_>> = (0..taps).map(|k| taken.one(k)).collect();
    let sums: Vec<_> = (0..outputs).map(|_| p.sum()).collect();
    p.repeat(TIMES, |i| {
        for (j, s) in (0..).zip(&sums) {
            let mut x = input.own_at(j, i, 1);
            for t in &taken {
                x = x.fma(*t, s.get());
            }
            s.set(x);
        }
    });
    let all: Vec<V<'_>> = sums.iter().map(|s| s.get()).collect();
    out.put_all(&all);
}
