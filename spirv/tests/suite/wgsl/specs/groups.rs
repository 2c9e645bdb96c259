//! Work-groups and sub-groups: sums, sorts, atomics, local memory.

use super::{Numbers, shader};
use crate::wgsl::case::{Bytes, Case, Tolerance};

pub fn cases() -> Vec<Case> {
    vec![
        scan(),
        scan_tree(),
        matmul(),
        reduce(),
        histogram(),
        bitonic_sort(),
        atomics(),
        float_sum(),
        subgroups(),
        workgroup_zero(),
        transpose(),
        bools(),
    ]
}

fn scan() -> Case {
    let data = Numbers(1).words(128 * 5);
    let mut want = data.clone();
    for g in want.chunks_mut(128) {
        let mut sum = 0u32;
        for x in g {
            sum = sum.wrapping_add(*x);
            *x = sum;
        }
    }
    shader!("scan", [5, 1, 1]).inout(0, &data, &want, Tolerance::Exact)
}

fn scan_tree() -> Case {
    let data = Numbers(2).words(128 * 4);
    let mut want = vec![0; data.len()];
    for (g, w) in data.chunks(128).zip(want.chunks_mut(128)) {
        let mut sum = 0u32;
        for (x, w) in g.iter().zip(w) {
            *w = sum;
            sum = sum.wrapping_add(*x);
        }
    }
    shader!("scan_tree", [4, 1, 1])
        .input(0, &data)
        .output(1, &want, Tolerance::Exact)
}

fn matmul() -> Case {
    let (m, n, k) = (16usize, 24usize, 40usize);
    let mut r = Numbers(3);
    let (a, b) = (r.floats(m * k, 4.0), r.floats(k * n, 4.0));
    let mut c = vec![0.0; m * n];
    for y in 0..m {
        for x in 0..n {
            c[y * n + x] = (0..k).map(|i| a[y * k + i] * b[i * n + x]).sum();
        }
    }
    shader!("matmul", [3, 2, 1])
        .input(0, &[m as u32, n as u32, k as u32])
        .input(1, &a)
        .input(2, &b)
        .output(3, &c, Tolerance::Near(1e-4))
}

fn reduce() -> Case {
    let mut r = Numbers(4);
    let data: Vec<i32> = (0..1777).map(|_| r.below(2001) as i32 - 1000).collect();
    let mut want = vec![0; 3];
    for (i, x) in data.iter().enumerate() {
        want[i / 256 % 3] += x;
    }
    shader!("reduce", [3, 1, 1])
        .input(0, &data)
        .output(1, &want, Tolerance::Exact)
}

fn histogram() -> Case {
    let data: Vec<u32> = Numbers(5).words(1000).iter().map(|w| w & w >> 5).collect();
    let mut want = vec![0u32; 256];
    for b in data.to_bytes() {
        want[b as usize] += 1;
    }
    shader!("histogram", [16, 1, 1])
        .input(0, &data)
        .output(1, &want, Tolerance::Exact)
}

fn bitonic_sort() -> Case {
    let data: Vec<i32> = Numbers(6).words(512).iter().map(|w| *w as i32).collect();
    let mut want = data.clone();
    want.chunks_mut(256).for_each(<[i32]>::sort_unstable);
    shader!("bitonic_sort", [2, 1, 1]).inout(0, &data, &want, Tolerance::Exact)
}

fn atomics() -> Case {
    let data = Numbers(7).words(256);
    let fold = |start: u32, f: fn(u32, u32) -> u32| data.iter().fold(start, |a, b| f(a, *b));
    let sum = fold(0, |a, b| a + b % 16);
    let least = data.iter().map(|v| *v as i32).min().unwrap().min(0);
    let from = [0, 1_000_000u32, 0, 0, u32::MAX, 0, 0, 0];
    let want = [
        sum,
        1_000_000 - sum,
        least as u32,
        fold(0, u32::max),
        fold(u32::MAX, |a, b| a & (b | 0xff00)),
        fold(0, |a, b| a | (b & 0xff0f)),
        fold(0, |a, b| a ^ b),
        0,
    ];
    // Any may be last, and all others come before another.
    let mut case = shader!("atomics", [4, 1, 1]).input(0, &data);
    case = case.inout(1, &from[..], &want[..], Tolerance::Exact);
    case = case.bytes(2, vec![0; 1024], vec![], Tolerance::Any);
    case.check = Some(|b| {
        let word = |b: &[u8], n: usize| u32::from_le_bytes(b[4 * n..][..4].try_into().unwrap());
        let last = word(&b[&1], 7) as usize;
        let ok = (1..=256).contains(&last)
            && (0..256).all(|n| word(&b[&2], n) == u32::from(n + 1 != last));
        ok.then_some(())
            .ok_or_else(|| format!("{last} is the last, and not all others were before one"))
    });
    case.ignore = vec![(1, 7)];
    case
}

fn float_sum() -> Case {
    // Integers are exact in any order.
    let mut r = Numbers(8);
    let data: Vec<f32> = (0..320).map(|_| r.below(1000) as f32).collect();
    let mut want = vec![0f32; 4];
    for (i, x) in data.iter().enumerate() {
        want[i % 4] += x;
    }
    shader!("float_sum", [5, 1, 1])
        .input(0, &data)
        .output(1, &want, Tolerance::Exact)
}

fn subgroup_results(simd: u32) -> Vec<(u32, Vec<u8>)> {
    let data: Vec<u32> = subgroup_data();
    let mut out = vec![0u32; 64 * 18];
    let size = simd as usize;
    for (which, part) in data.chunks(size).enumerate() {
        let all = |f: fn(u32, u32) -> u32| part.iter().copied().reduce(f).unwrap();
        let ballot = (0..size).fold(0u32, |b, i| b | u32::from(part[i] % 3 == 1) << i);
        let odd = part.iter().filter(|v| *v % 2 == 1).count() as u32;
        for (lane, v) in part.iter().copied().enumerate() {
            let o = &mut out[(which * size + lane) * 18..][..18];
            let before: u32 = part[..lane].iter().fold(0, |a, b| a.wrapping_add(*b));
            let product = |p: &[u32]| p.iter().fold(1u32, |a, b| a.wrapping_mul(b | 1));
            o.copy_from_slice(&[
                lane as u32,
                simd,
                which as u32,
                64 / simd,
                all(|a, b| a.wrapping_add(b)),
                before,
                before.wrapping_add(v),
                all(u32::max) - all(u32::min),
                all(|a, b| a ^ b)
                    ^ part.iter().fold(u32::MAX, |a, b| a & (b | 0xf0))
                    ^ all(|a, b| a | b),
                ballot,
                part[5].wrapping_add(part[0]),
                part[(lane + 3) % size],
                part[lane ^ 1],
                if lane >= 2 { part[lane - 2] } else { 0 },
                if lane + 2 < size { part[lane + 2] } else { 0 },
                u32::from(part.iter().any(|v| *v > 250))
                    + 2 * u32::from(part.iter().all(|v| *v < 250)),
                if v % 2 == 1 { odd } else { product(part) },
                product(&part[..=lane]),
            ]);
        }
    }
    vec![(1, out[..].to_bytes())]
}

fn subgroup_data() -> Vec<u32> {
    let mut r = Numbers(9);
    (0..64)
        .map(|i| if i < 32 { r.below(250) } else { r.below(256) })
        .collect()
}

fn subgroups() -> Case {
    let mut case = shader!("subgroups", [1, 1, 1]).input(0, &subgroup_data());
    case = case.output(1, &vec![0u32; 64 * 18], Tolerance::Exact);
    case.by_width = Some(subgroup_results);
    case
}

fn workgroup_zero() -> Case {
    let want: Vec<u32> = (0..240).map(|i| i % 40).collect();
    shader!("workgroup_zero", [6, 1, 1]).output(0, &want, Tolerance::Exact)
}

fn transpose() -> Case {
    let (w, h) = (21usize, 13usize);
    let data = Numbers(10).floats(w * h, 9.0);
    let want: Vec<f32> = (0..w * h).map(|i| data[i % h * w + i / h]).collect();
    shader!("transpose", [3, 2, 1])
        .input(0, &[w as u32, h as u32])
        .input(1, &data)
        .output(2, &want, Tolerance::Exact)
}

fn bools() -> Case {
    let mut r = Numbers(11);
    let mut data: Vec<u32> = (0..128).map(|_| r.below(70)).collect();
    data[70] = 77;
    let mut want = Vec::new();
    for group in data.chunks(64) {
        let flags: Vec<bool> = group.iter().map(|v| v % 3 == 0).collect();
        let any = group.contains(&77);
        for (l, v) in group.iter().enumerate() {
            let mut mine = [false; 9];
            for i in 0..9usize {
                mine[(*v as usize + i * i) % 9] = flags[(l + i) % 64] != (i == 4);
            }
            let bits = (0..9).fold(0u32, |b, i| b | u32::from(mine[i]) << i);
            let (a, even) = (group[5] > 8, group[5] % 2 == 0);
            want.push(
                bits + 1000 * u32::from(any)
                    + 10_000 * u32::from(a)
                    + 100_000
                    + 1_000_000 * u32::from(even),
            );
        }
    }
    shader!("bools", [2, 1, 1])
        .input(0, &data)
        .output(1, &want, Tolerance::Exact)
}
