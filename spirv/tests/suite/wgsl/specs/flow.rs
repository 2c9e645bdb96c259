//! Control flow, calls, private memory.

use super::{Numbers, shader};
use crate::wgsl::case::{Case, Tolerance};

pub fn cases() -> Vec<Case> {
    vec![
        switches(),
        continuing(),
        collatz(),
        private_arrays(),
        mandelbrot(),
        insertion_sort(),
        functions(),
        life(),
        tables(),
        two_entries(),
        ids(),
    ]
}

fn switches() -> Case {
    fn kind(x: i32) -> i32 {
        match x & 7 {
            0 | 3 => 10,
            1 if x > 100 => 11,
            1 | 5 => -1,
            _ => x.wrapping_rem(5),
        }
    }
    let mut r = Numbers(20);
    let data: Vec<i32> = (0..256).map(|_| r.below(1000) as i32 - 500).collect();
    let want: Vec<i32> = data
        .iter()
        .map(|x| {
            let (mut x, mut sum) = (*x, 0);
            for i in 0..6 {
                match kind(x) {
                    10 => {
                        sum += 1;
                        continue;
                    }
                    -1 => {
                        sum += 100;
                        if sum <= 300 {
                            sum += 7;
                        }
                    }
                    _ => x = x.wrapping_mul(3).wrapping_add(i),
                }
                x = x.wrapping_add(13);
            }
            sum ^ x
        })
        .collect();
    shader!("switches", [4, 1, 1])
        .input(0, &data)
        .output(1, &want, Tolerance::Exact)
}

fn continuing() -> Case {
    let data: Vec<u32> = Numbers(21).words(96).iter().map(|x| x % 100_000).collect();
    let one = |start: u32| {
        let (mut x, mut count) = (start, 0u32);
        loop {
            if x % 7 == 3 {
                x += 5;
            } else {
                if count > 40 {
                    break;
                }
                x = x / 2 + count;
            }
            count += 1;
            if x < 2 || count == 50 {
                break;
            }
        }
        let mut outer = 0;
        loop {
            let mut inner = 0;
            loop {
                if inner == x % 4 {
                    break;
                }
                inner += 1;
                if outer * inner == 6 {
                    return x + 1_000_000;
                }
            }
            outer += 1;
            if outer > 4 {
                break;
            }
        }
        x * 100 + count
    };
    let want: Vec<u32> = data.iter().map(|x| one(*x)).collect();
    shader!("continuing", [3, 1, 1]).inout(0, &data, &want, Tolerance::Exact)
}

fn collatz() -> Case {
    let mut r = Numbers(22);
    let mut data: Vec<u32> = (0..128).map(|_| r.below(5000)).collect();
    data[3] = 0xffff_ffff;
    let one = |n: u32| {
        let (mut x, mut i) = (n, 0);
        while x > 1 {
            if x % 2 == 0 {
                x /= 2;
            } else {
                if x >= 0x5555_5555 {
                    return u32::MAX;
                }
                x = 3 * x + 1;
            }
            i += 1;
        }
        i
    };
    let want: Vec<u32> = data.iter().map(|x| one(*x)).collect();
    shader!("collatz", [2, 1, 1]).inout(0, &data, &want, Tolerance::Exact)
}

fn private_arrays() -> Case {
    let data = Numbers(23).words(64);
    let one = |(id, x): (usize, &u32)| {
        let (mut small, mut big, mut x) = ([0u32; 8], [0u32; 100], *x);
        for i in 0..100 {
            x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            small[(x >> 29) as usize] += 1;
            big[(x >> 8) as usize % 100] = i;
        }
        let sum = big
            .iter()
            .fold(0u32, |s, b| s.wrapping_mul(31).wrapping_add(*b));
        sum ^ small[id % 8] ^ (100 << 24)
    };
    let want: Vec<u32> = data.iter().enumerate().map(one).collect();
    shader!("private_arrays", [2, 1, 1]).inout(0, &data, &want, Tolerance::Exact)
}

fn mandelbrot() -> Case {
    let (width, height, limit, step) = (24u32, 16u32, 60u32, 0.125f32);
    let (left, top) = (-2.25f32, -1.0f32);
    let mut want = Vec::new();
    for y in 0..height {
        for x in 0..width {
            let (cx, cy) = (left + x as f32 * step, top + y as f32 * step);
            let (mut zx, mut zy, mut n) = (0f32, 0f32, 0);
            while n < limit && zx * zx + zy * zy <= 4.0 {
                (zx, zy) = ((zx * zx - zy * zy) + cx, 2.0 * zx * zy + cy);
                n += 1;
            }
            want.push(n);
        }
    }
    let view = [
        left.to_bits(),
        top.to_bits(),
        step.to_bits(),
        limit,
        width,
        0,
    ];
    shader!("mandelbrot", [3, 2, 1])
        .input(0, &view)
        .output(1, &want, Tolerance::Exact)
}

fn insertion_sort() -> Case {
    let data = Numbers(24).floats(32 * 12, 100.0);
    let mut want = data.clone();
    want.chunks_mut(12).for_each(|c| c.sort_by(f32::total_cmp));
    shader!("insertion_sort", [2, 1, 1]).inout(0, &data, &want, Tolerance::Exact)
}

fn functions() -> Case {
    let data = Numbers(25).floats(64, 30.0);
    let mut want = Vec::new();
    for group in data.chunks(32) {
        for (l, x) in group.iter().enumerate() {
            // Swapped: one is half, the other whole.
            let (a, n) = (x * 0.5, l as i32);
            let c = (n + 1) + (n + 2);
            let other = group[31 - l] * 2.0;
            want.push((a + other).clamp(-10.0, 10.0) + -(n as f32) + (c + 2 * n) as f32);
        }
    }
    shader!("functions", [2, 1, 1]).inout(0, &data, &want, Tolerance::Exact)
}

fn life() -> Case {
    let (w, h) = (19i32, 11i32);
    let mut r = Numbers(26);
    let data: Vec<u32> = (0..w * h).map(|_| u32::from(r.below(3) == 0)).collect();
    let cell = |x: i32, y: i32| data[(y.rem_euclid(h) * w + x.rem_euclid(w)) as usize];
    let mut want = Vec::new();
    for y in 0..h {
        for x in 0..w {
            let mut n = 0;
            for (dx, dy) in (0..9)
                .map(|i| (i % 3 - 1, i / 3 - 1))
                .filter(|d| *d != (0, 0))
            {
                n += cell(x + dx, y + dy);
            }
            want.push(u32::from(n == 3 || cell(x, y) == 1 && n == 2));
        }
    }
    shader!("life", [3, 3, 1])
        .input(0, &[w, h])
        .input(1, &data)
        .output(2, &want, Tolerance::Exact)
}

fn tables() -> Case {
    const K: [u32; 16] = [
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
        0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
        0x9bdc06a7, 0xc19bf174,
    ];
    let data = Numbers(27).words(128);
    let one = |(id, h): (usize, &u32)| {
        let mut h = *h;
        for i in 0..64u32 {
            h = h.rotate_left(5) ^ K[h.wrapping_add(i) as usize % 16];
            h = h.wrapping_add(K[i as usize % 16]);
        }
        let first = h % 3 * 4 + (id as u32 & 1) * 2;
        h.wrapping_add(first * 100 + first + 1)
    };
    let want: Vec<u32> = data.iter().enumerate().map(one).collect();
    shader!("tables", [2, 1, 1]).inout(0, &data, &want, Tolerance::Exact)
}

fn two_entries() -> Case {
    let data = Numbers(28).words(64);
    let want: Vec<u32> = data
        .iter()
        .map(|x| x.wrapping_mul(2).wrapping_add(1))
        .collect();
    shader!("two_entries", [2, 1, 1]).inout(0, &data, &want, Tolerance::Exact)
}

fn ids() -> Case {
    let n = [3u32, 2, 2];
    let mut want = Vec::new();
    for w in (0..12).map(|i| [i % 3, i / 3 % 2, i / 6]) {
        for i in 0..24u32 {
            let l = [i % 4, i / 4 % 3, i / 12];
            want.extend([w[0] * 4 + l[0], w[1] * 3 + l[1], w[2] * 2 + l[2], i]);
            want.extend([l[0], l[1], l[2], n[0]]);
            want.extend([w[0], w[1], w[2], n[1] * 10 + n[2]]);
        }
    }
    shader!("ids", n).output(0, &want, Tolerance::Exact)
}
