//! Structures, matrices and halves in memory.

use super::{Numbers, shader};
use crate::wgsl::case::{Bytes, Case, Tolerance};
use half::f16;

pub fn cases() -> Vec<Case> {
    vec![
        structs(),
        whole_copies(),
        std140(),
        std430_matrices(),
        matrix_functions(),
        halves(),
        nbody(),
        pushed(),
    ]
}

fn structs() -> Case {
    // Bytes: id at 0, v at 16, w at 28, k at 32. The inner structure ends at 48. pair at 48, tail
    // at 64 and 80, 96 in all.
    let n = 50;
    let mut from = Numbers(80).words(24 * n);
    for item in from.chunks_mut(24) {
        for x in &mut item[4..8] {
            *x = ((*x % 1000) as f32 / 8.0).to_bits();
        }
    }
    let mut want = vec![0u32; from.len()];
    for (i, (f, t)) in from.chunks(24).zip(want.chunks_mut(24)).enumerate() {
        let mut s = f.to_vec();
        let float = |x: u32| f32::from_bits(x);
        s[0] ^= 0xffff;
        (s[4], s[5], s[6]) = (
            (float(f[6]) * 2.0).to_bits(),
            (float(f[4]) * 2.0).to_bits(),
            (float(f[5]) * 2.0).to_bits(),
        );
        s[7] = (float(f[7]) + float(s[4])).to_bits();
        s[8 + i % 3] = s[0];
        (s[12], s[13]) = (f[13].wrapping_neg(), f[12].wrapping_neg());
        for c in 0..3 {
            s[16 + c] = f[20 + c].wrapping_add(f[16 + c]);
        }
        s[21] = f[18];
        s[9] = s[9].wrapping_add(1);
        for (at, (t, s)) in t.iter_mut().zip(&s).enumerate() {
            // Padding is not written.
            let gap = matches!(at, 1..=3 | 11 | 14 | 15 | 19 | 23);
            *t = if gap { 0 } else { *s };
        }
    }
    shader!("structs", [2, 1, 1])
        .input(0, &from)
        .output(1, &want, Tolerance::Exact)
}

fn whole_copies() -> Case {
    // Words: head at 0, 80 rows of 4 words at 4, three times 100 words at 324, 624 in all.
    let from = Numbers(85).words(2 * 624);
    let mut want = vec![0u32; from.len()];
    for (from, to) in from.chunks(624).zip(want.chunks_mut(624).rev()) {
        to.copy_from_slice(from);
        to[1..4].fill(0);
        for i in 0..16 {
            let w = &mut to[324 + 100 + i];
            *w = w.wrapping_add(i as u32).wrapping_add(from[624 - 1]);
        }
    }
    shader!("whole_copies", [2, 1, 1])
        .input(0, &from)
        .output(1, &want, Tolerance::Exact)
}

fn std140() -> Case {
    let mut r = Numbers(81);
    // Words: view has 16. normal has columns at 16, 20, 24. planes at 28, offset at 40, scale at
    // 43, two at 44 and 46.
    let c = r.floats(48, 3.0);
    let points = r.floats(32 * 4, 4.0);
    let mut want = Vec::new();
    for (i, p) in points.chunks(4).enumerate() {
        for row in 0..4 {
            want.push((0..4).map(|k| c[4 * k + row] * p[k]).sum::<f32>());
        }
        for row in 0..3 {
            want.push(
                (0..3).map(|k| c[16 + 4 * k + row] * p[k]).sum::<f32>() + c[40 + row] * c[43],
            );
        }
        want.push((0..4).map(|k| c[28 + i % 3 * 4 + k] * p[k]).sum());
        want.extend([0, 1].map(|row| c[44 + row] * p[0] + c[46 + row] * p[1]));
        want.extend([c[i % 4 * 4 + 1], c[16 + i % 3 * 4 + 2]]);
    }
    let mut case = shader!("std140", [2, 1, 1])
        .input(0, &c)
        .input(1, &points)
        .output(2, &want, Tolerance::Near(1e-4));
    case.slack = 1e-4;
    case
}

/// Matrix by columns.
type M = Vec<Vec<f32>>;

fn times(a: &M, b: &M) -> M {
    let column = |c: &Vec<f32>| {
        (0..a[0].len())
            .map(|r| (0..a.len()).map(|k| a[k][r] * c[k]).sum())
            .collect()
    };
    b.iter().map(column).collect()
}

fn read(words: &[f32], at: usize, columns: usize, rows: usize, stride: usize) -> M {
    (0..columns)
        .map(|c| words[at + c * stride..][..rows].to_vec())
        .collect()
}

fn std430_matrices() -> Case {
    // Words: a at 0 (2 columns of 4 words), b at 8 (3 of 2), c at 16 (4 of 4). d at 32 (twice 2 of
    // 2), e at 40 (3 of 4), 52 in all.
    let many = Numbers(82).floats(16 * 52, 2.0);
    // Words: ab at 0 (3 of 4), ba at 12 (2 of 2), ct at 16 (3 of 4). dd at 28 (2 of 2), ec at 32 (4
    // of 4). column at 48, element at 51, 52 in all.
    let mut want = vec![0f32; 16 * 52];
    for (i, (m, o)) in many.chunks(52).zip(want.chunks_mut(52)).enumerate() {
        let (a, b) = (read(m, 0, 2, 3, 4), read(m, 8, 3, 2, 2));
        let (c, e) = (read(m, 16, 4, 3, 4), read(m, 40, 3, 4, 4));
        let (d0, d1) = (read(m, 32, 2, 2, 2), read(m, 36, 2, 2, 2));
        let mut put = |at: usize, stride: usize, v: &M| {
            for (n, column) in v.iter().enumerate() {
                o[at + n * stride..][..column.len()].copy_from_slice(column);
            }
        };
        put(0, 4, &times(&a, &b));
        put(12, 2, &times(&b, &a));
        put(
            16,
            4,
            &(0..3).map(|r| (0..4).map(|k| c[k][r]).collect()).collect(),
        );
        let mut dd = times(&d0, &d1);
        for (x, y) in dd.iter_mut().flatten().zip(d1.iter().flatten()) {
            *x -= y * 2.0;
        }
        put(28, 2, &dd);
        let mut ec = times(&e, &c);
        ec[i % 4][i % 3] = 100.0;
        put(32, 4, &ec);
        put(48, 4, &vec![c[i % 4].clone()]);
        o[51] = e[i % 3][i % 4];
    }
    let mut case = shader!("std430_matrices", [2, 1, 1])
        .input(0, &many)
        .output(1, &want, Tolerance::Near(1e-4));
    case.slack = 1e-5;
    case
}

fn determinant(m: &[Vec<f64>]) -> f64 {
    match m.len() {
        1 => m[0][0],
        n => (0..n)
            .map(|r| {
                let rest: Vec<Vec<f64>> = m[1..]
                    .iter()
                    .map(|c| {
                        c.iter()
                            .enumerate()
                            .filter(|(i, _)| *i != r)
                            .map(|(_, x)| *x)
                            .collect()
                    })
                    .collect();
                m[0][r] * determinant(&rest) * if r % 2 == 0 { 1.0 } else { -1.0 }
            })
            .sum(),
    }
}

fn matrix_functions() -> Case {
    let mut r = Numbers(83);
    let (m2, m3, m4) = (
        r.floats(32 * 4, 3.0),
        r.floats(32 * 12, 3.0),
        r.floats(32 * 16, 2.0),
    );
    let wide = |m: &M| {
        m.iter()
            .map(|c| c.iter().map(|x| f64::from(*x)).collect())
            .collect::<Vec<Vec<f64>>>()
    };
    let mut want = Vec::new();
    for i in 0..32 {
        let (a, b, c) = (
            read(&m2, 4 * i, 2, 2, 2),
            read(&m3, 12 * i, 3, 3, 4),
            read(&m4, 16 * i, 4, 4, 4),
        );
        want.extend(
            [
                determinant(&wide(&a)),
                determinant(&wide(&b)),
                determinant(&wide(&c)),
            ]
            .map(|x| x as f32),
        );
        let v = [1.0f32, -2.0, 3.0, 0.5];
        let row = |m: &M, n: usize| (0..m[0].len()).map(|k| v[k] * m[n][k]).sum::<f32>();
        want.push(row(&c, 0) + row(&c, 1) * row(&c, 2) - row(&c, 3));
        want.push((0..3).map(|n| 2.0 * row(&b, n)).sum());
        want.push((v[1] + c[1][1]) + (7.0 + c[2][3]));
        want.push(a[1][0] * 0.5 + a[0][1] * 2.0);
        want.push(v[1] * a[1][0] + v[3] * a[1][1]);
    }
    let mut case = shader!("matrix_functions", [2, 1, 1])
        .input(0, &m2)
        .input(1, &m3)
        .input(2, &m4)
        .output(3, &want, Tolerance::Near(1e-4));
    case.slack = 1e-4;
    case
}

fn halves() -> Case {
    // Bytes: a at 0, b at 8, c at 16 (4 bytes), d at 20. The size is 32, since the alignment is 8.
    let n = 48;
    let mut r = Numbers(84);
    let (mut from, mut want) = (Vec::new(), Vec::new());
    for i in 0..n {
        let h: Vec<f16> = (0..7).map(|_| f16::from_f32(r.float() * 9.0)).collect();
        let c = (r.float() * 5.0 * 16.0).round() / 16.0;
        let write = |out: &mut Vec<u8>, a: f16, b: [f16; 3], c: f32, d: [f16; 3]| {
            let mut item = [0u8; 32];
            item[..2].copy_from_slice(&a.to_le_bytes());
            for k in 0..3 {
                item[8 + 2 * k..][..2].copy_from_slice(&b[k].to_le_bytes());
                item[20 + 2 * k..][..2].copy_from_slice(&d[k].to_le_bytes());
            }
            item[16..20].copy_from_slice(&[c].to_bytes());
            out.extend(item);
        };
        let f = |x: f16| x.to_f32();
        let (a, b, d) = (h[0], [h[1], h[2], h[3]], [h[4], h[5], h[6]]);
        write(&mut from, a, b, c, d);
        let a2 = f16::from_f32(f(a) * 2.0 + f(b[2]));
        let hc = f16::from_f32(c);
        let b2 = [b[2], b[0], b[1]].map(|x| f16::from_f32(f(x) + f(hc)));
        let c2 = f(d[i % 3]) * 0.5;
        let d2 = [d[0], f16::from_f32(f(d[1]).abs().sqrt()), d[2]];
        write(&mut want, a2, b2, c2, d2);
    }
    let zeros = vec![0; want.len()];
    let mut case = shader!("halves", [3, 1, 1]);
    case = case.bytes(0, from.clone(), from, Tolerance::Exact);
    case.bytes(1, zeros, want, Tolerance::Exact)
}

fn pushed() -> Case {
    // Words: scale at 0, offset at 2, table at 4, m at 16, 20 in all.
    let mut r = Numbers(86);
    let p = r.floats(20, 3.0);
    let table: Vec<u32> = (0..12).map(|_| r.below(1000)).collect();
    let data = r.floats(48 * 4, 4.0);
    let mut want = Vec::new();
    for (i, v) in data.chunks(4).enumerate() {
        for row in 0..2 {
            let m = p[16 + row] * v[0] + p[18 + row] * v[1];
            want.push(m * p[0] + p[2 + row]);
        }
        want.push(table[i / 16 * 4 + i % 4] as f32);
        want.push(table[i % 3 * 4 + 1] as f32);
    }
    let mut words: Vec<u32> = p.iter().map(|x| x.to_bits()).collect();
    words[4..16].copy_from_slice(&table);
    let mut case = shader!("pushed", [3, 1, 1]).inout(0, &data, &want, Tolerance::Near(1e-5));
    case.slack = 1e-5;
    case.pushed = words.to_bytes();
    case
}

fn nbody() -> Case {
    // Bytes: place at 0, mass at 12, speed at 16, 32 in all.
    let from = Numbers(85).floats(64 * 8, 2.0);
    let mut want = vec![0f32; from.len()];
    for (me, to) in from.chunks(8).zip(want.chunks_mut(8)) {
        let mut pull = [0f32; 3];
        for other in from.chunks(8) {
            let d = [0, 1, 2].map(|k| other[k] - me[k]);
            let r2 = d.iter().map(|x| x * x).sum::<f32>() + 0.01;
            let by = other[3] / (r2 * r2.sqrt());
            (0..3).for_each(|k| pull[k] += d[k] * by);
        }
        to[3] = me[3];
        for k in 0..3 {
            to[4 + k] = me[4 + k] + pull[k] * 0.01;
            to[k] = me[k] + to[4 + k] * 0.01;
        }
    }
    let mut case =
        shader!("nbody", [2, 1, 1])
            .input(0, &from)
            .output(1, &want, Tolerance::Near(1e-4));
    case.slack = 1e-4;
    case
}
