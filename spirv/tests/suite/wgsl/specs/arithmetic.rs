//! Arithmetic, conversions, bits and functions of GLSL.std.450.

use super::{Numbers, shader};
use crate::wgsl::case::{Case, Tolerance};
use half::f16;

pub fn cases() -> Vec<Case> {
    vec![
        saxpy(),
        packing(),
        bits(),
        vectors(),
        math(),
        common(),
        geometry(),
        integers(),
        conversions(),
        dot4(),
        long_integers(),
    ]
}

fn saxpy() -> Case {
    let mut r = Numbers(60);
    let (x, y) = (r.floats(150, 8.0), r.floats(150, 8.0));
    let mut want = y.clone();
    for i in 0..140 {
        want[i] = 2.5 * x[i] + y[i];
    }
    shader!("saxpy", [3, 1, 1])
        .input(0, &[2.5f32.to_bits(), 140])
        .input(1, &x)
        .inout(2, &y, &want, Tolerance::Near(1e-6))
}

fn packing() -> Case {
    let mut r = Numbers(61);
    let floats: Vec<f32> = r.floats(64 * 4, 1.3);
    let words = r.words(64);
    let snorm = |x: f32, most: f32| (x.clamp(-1.0, 1.0) * most).round_ties_even() as i32 as u32;
    let unorm = |x: f32, most: f32| (x.clamp(0.0, 1.0) * most).round_ties_even() as u32;
    let half = |x: f32| u32::from(f16::from_f32(x).to_bits());
    let (mut packed, mut unpacked) = (Vec::new(), Vec::new());
    for v in floats.chunks(4) {
        packed.push((0..4).fold(0, |w, i| w | (snorm(v[i], 127.0) & 255) << (8 * i)));
        packed.push((0..4).fold(0, |w, i| w | unorm(v[i], 255.0) << (8 * i)));
        packed.push(snorm(v[0], 32767.0) & 0xffff | snorm(v[1], 32767.0) << 16);
        packed.push(unorm(v[2], 65535.0) | unorm(v[3], 65535.0) << 16);
        packed.push(half(v[1] * 100.0) | half(v[2] * 100.0) << 16);
    }
    for w in &words {
        let b = w.to_le_bytes();
        let h = [*w as u16, (w >> 16) as u16];
        unpacked.extend(b.map(|b| (f32::from(b as i8) / 127.0).max(-1.0)));
        unpacked.extend(b.map(|b| f32::from(b) / 255.0));
        unpacked.extend(h.map(|h| (f32::from(h as i16) / 32767.0).max(-1.0)));
        unpacked.extend(h.map(|h| f32::from(h) / 65535.0));
        unpacked.extend(h.map(|h| f16::from_bits(h & 0x7bff).to_f32()));
        unpacked.extend([0.0, 1.0]);
    }
    shader!("packing", [2, 1, 1])
        .input(0, &floats)
        .input(1, &words)
        .output(2, &packed, Tolerance::Exact)
        .output(3, &unpacked, Tolerance::Near(1e-6))
}

fn bits() -> Case {
    let mut words: Vec<u32> = Numbers(62).words(64);
    words[..6].copy_from_slice(&[0, u32::MAX, 1, 0x8000_0000, 0x7fff_ffff, 2]);
    let mut want = Vec::new();
    // Offsets and counts beyond the word are clamped.
    let field = |i: u32, o: u32, c: u32| {
        let _ = i;
        let o = o.min(32);
        (o, c.min(32 - o))
    };
    for (i, w) in words.iter().copied().enumerate() {
        let i = i as u32;
        let s = w as i32;
        let top = |w: u32| 31u32.wrapping_sub(w.leading_zeros());
        let (o, c) = field(i, i % 40, i * 7 % 40);
        let unsigned = if c == 0 {
            0
        } else {
            w << (32 - c - o) >> (32 - c)
        };
        let (o, c) = field(i, i % 32, i * 5 % 33);
        let signed = if c == 0 {
            0
        } else {
            (w << (32 - c - o)) as i32 >> (32 - c)
        };
        let (o, c) = field(i, i % 32, i * 3 % 33);
        let mask = if c == 0 { 0 } else { u32::MAX >> (32 - c) << o };
        want.extend([
            w.count_ones(),
            w.reverse_bits(),
            top(w),
            top(if s < 0 { !w } else { w }),
            if w == 0 { u32::MAX } else { w.trailing_zeros() },
            w.leading_zeros(),
            w.trailing_zeros(),
            unsigned,
            signed as u32,
            w & !mask | (!w << o.min(31)) & mask,
            (w << (i % 32)) ^ (w >> (i % 32)),
            (s >> (i % 32)) as u32,
            !w & (w | 0xff00),
            w.count_ones() * 64 + (!w).count_ones(),
        ]);
    }
    shader!("bits", [2, 1, 1])
        .input(0, &words)
        .output(1, &want, Tolerance::Exact)
}

fn vectors() -> Case {
    let mut data = Numbers(63).floats(64 * 4, 5.0);
    data[4..8].copy_from_slice(&[1.0, 2.0, 3.0, 4.0]);
    let mut want = Vec::new();
    for (i, v) in data.chunks(4).enumerate() {
        let mut w = [v[3], v[2], v[1], v[0]];
        w[0] = v[i % 4];
        w[i % 3] = 5.0;
        let more: Vec<bool> = v.iter().map(|x| *x > 0.0).collect();
        let s: Vec<f32> = (0..4).map(|c| if more[c] { -v[c] } else { w[c] }).collect();
        let flag = |b: bool, x: f32| if b { x } else { 0.0 };
        let n = [
            flag(more.contains(&true), 1.0),
            flag(!more.contains(&false), 2.0),
            flag((0..4).any(|c| v[c] == w[c]), 4.0),
        ];
        want.extend([
            s[1] * 2.0 + i as f32,
            s[0] * 2.0 + n[0],
            s[3] * 2.0 + n[1],
            s[2] * 2.0 + n[2],
        ]);
    }
    shader!("vectors", [2, 1, 1])
        .input(0, &data)
        .output(1, &want, Tolerance::Near(1e-6))
}

fn math() -> Case {
    let data = Numbers(64).floats(64, 10.0);
    let mut want = Vec::new();
    for x in &data {
        let x = f64::from(*x);
        let y = f64::from(x as f32 / 20.0);
        let z = f64::from(x as f32 * 0.3);
        want.extend(
            [
                x.sin(),
                x.cos(),
                x.tan(),
                y.asin(),
                y.acos(),
                x.atan(),
                z.sinh(),
                z.cosh(),
                x.tanh(),
                x.asinh(),
                f64::from(x.abs() as f32 + 1.0).acosh(),
                y.atanh(),
                x.atan2(3.0),
                x.abs().powf(f64::from(1.7f32)),
                x.exp(),
                x.abs().ln(),
                x.exp2(),
                x.abs().log2(),
                x.abs().sqrt(),
                1.0 / x.abs().sqrt(),
            ]
            .map(|v| v as f32),
        );
    }
    shader!("math", [2, 1, 1])
        .input(0, &data)
        .output(1, &want, Tolerance::Near(2e-6))
}

fn common() -> Case {
    let mut data = Numbers(65).floats(64, 6.0);
    data[..6].copy_from_slice(&[0.5, 1.5, -2.5, 0.0, -1.0, 3.0]);
    let frexp = |x: f32| {
        if x == 0.0 {
            return (x, 0);
        }
        let e = (x.to_bits() >> 23 & 255) as i32 - 126;
        (x / 2f32.powi(e), e)
    };
    let mut want = Vec::new();
    for (i, x) in data.iter().copied().enumerate() {
        let t = ((x + 4.0) / 8.0).clamp(0.0, 1.0);
        let (m, e) = frexp(x);
        let quantized = f16::from_f32(x * 0.3).to_f32();
        want.extend([
            x.round_ties_even(),
            x.trunc(),
            x.floor(),
            x.ceil(),
            x - x.floor(),
            if x == 0.0 { 0.0 } else { x.signum() },
            x.abs(),
            x.clamp(-2.0, 3.5),
            x.clamp(0.0, 1.0),
            x + (10.0 - x) * 0.25,
            f32::from(x >= 0.5),
            t * t * (3.0 - 2.0 * t),
            x * 2.0 + 1.0,
            x.min(1.0) + x.max(-1.0),
            x.to_degrees(),
            x.to_radians(),
            x * 2f32.powi(i as i32 % 7 - 3),
            x.fract(),
            x.trunc(),
            m,
            e as f32,
            if quantized.abs() < 6.1e-5 {
                0.0
            } else {
                quantized
            },
            x % 2.5,
            0.5 + e as f32,
            -2.0,
        ]);
    }
    shader!("common", [2, 1, 1])
        .input(0, &data)
        .output(1, &want, Tolerance::Near(2e-6))
}

fn geometry() -> Case {
    let mut r = Numbers(66);
    // 3-vectors have a stride of four words.
    let (a, b) = (r.floats(32 * 4, 5.0), r.floats(32 * 4, 5.0));
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut want = Vec::new();
    for (u, v) in a.chunks(4).zip(b.chunks(4)) {
        let u: Vec<f64> = u[..3].iter().map(|x| f64::from(*x)).collect();
        let v: Vec<f64> = v[..3].iter().map(|x| f64::from(*x)).collect();
        let length = |v: &[f64]| dot(v, v).sqrt();
        let unit = |v: &[f64]| v.iter().map(|x| x / length(v)).collect::<Vec<f64>>();
        let n = unit(&v);
        let by =
            |a: &[f64], k: f64, b: &[f64]| (0..3).map(|i| a[i] + k * b[i]).collect::<Vec<f64>>();
        let cross: Vec<f64> = (0..3)
            .map(|i| u[(i + 1) % 3] * v[(i + 2) % 3] - u[(i + 2) % 3] * v[(i + 1) % 3])
            .collect();
        let reflected = by(&u, -2.0 * dot(&n, &u), &n);
        let (i, eta) = (unit(&u), 0.75);
        let k = 1.0 - eta * eta * (1.0 - dot(&n, &i).powi(2));
        let scaled: Vec<f64> = i.iter().map(|x| eta * x).collect();
        let r = if k < 0.0 {
            vec![0.0; 3]
        } else {
            by(&scaled, -(eta * dot(&n, &i) + k.sqrt()), &n)
        };
        let f: Vec<f64> = n
            .iter()
            .map(|x| if dot(&v, &u) < 0.0 { *x } else { -x })
            .collect();
        let all = [
            cross[0],
            cross[1],
            cross[2],
            dot(&u, &v),
            n[0],
            n[1],
            n[2],
            length(&u),
            reflected[0],
            reflected[1],
            reflected[2],
            length(&by(&u, -1.0, &v)),
            r[0] + f[0],
            r[1] + f[1],
            r[2],
            f[2] + u[0] * v[1] + u[1] * v[2] + 3.5,
        ];
        want.extend(all.map(|x| x as f32));
    }
    let mut case = shader!("geometry", [2, 1, 1])
        .input(0, &a)
        .input(1, &b)
        .output(2, &want, Tolerance::Near(3e-5));
    case.slack = 1e-5;
    case
}

fn integers() -> Case {
    let mut r = Numbers(67);
    let mut data: Vec<i32> = (0..128).map(|_| r.next() as i32 >> r.below(31)).collect();
    data[..10].copy_from_slice(&[5, 0, i32::MIN, -1, 0, 0, i32::MIN, 0, -7, 2]);
    let mut want = Vec::new();
    for v in data.chunks(2) {
        let (a, b) = (v[0], v[1]);
        let (ua, ub) = (a as u32, b as u32);
        let pick = if a != b.wrapping_neg() {
            if ua >= ub { 8 } else { 4 }
        } else if a < b {
            2
        } else {
            1
        };
        let mixed = a.wrapping_mul(b).wrapping_sub(a & b).wrapping_add(a | b) ^ !a;
        want.extend([
            if b == 0 { a } else { a.wrapping_div(b) },
            if b == 0 { 0 } else { a.wrapping_rem(b) },
            ua.checked_div(ub).unwrap_or(ua) as i32,
            ua.checked_rem(ub).unwrap_or(0) as i32,
            a.wrapping_abs().wrapping_add(b.signum()),
            a.min(b).wrapping_sub(a.max(b)),
            a.clamp(-50, 50),
            (ua.min(ub) ^ ua.max(ub)) as i32,
            ua.clamp(5, 500) as i32,
            mixed,
            a.wrapping_neg(),
            pick,
        ]);
    }
    shader!("integers", [2, 1, 1])
        .input(0, &data)
        .output(1, &want, Tolerance::Exact)
}

fn conversions() -> Case {
    let mut data = Numbers(68).floats(64, 1e5);
    data[..10].copy_from_slice(&[0.0, -0.0, 1.5, -1.5, 3e9, -3e9, 5e9, 1e30, -1e30, 0.99]);
    let mut want = Vec::new();
    for (i, f) in data.iter().copied().enumerate() {
        let i = i as u32;
        want.extend([
            // WGSL clamps to the greatest single below 2^31, and so on.
            f.clamp(-2_147_483_600.0, 2_147_483_500.0)
                .min(2_147_483_520.0)
                .max(-2_147_483_648.0f32.max(f)) as i32 as u32,
            f as u32,
            (i as i32 - 10).to_owned() as f32 as i32 as u32,
            0,
            u32::from(f != 0.0) + 2 * u32::from(i != 0),
            f32::from(f > 1.0).to_bits(),
            0,
            f.to_bits().wrapping_mul(2),
        ]);
        let w = want.len() - 8;
        let whole = |f: f32| f.clamp(-2_147_483_648.0, 2_147_483_520.0) as i32;
        want[w] = whole(f) as u32;
        want[w + 1] = f.clamp(0.0, 4_294_967_040.0) as u32;
        want[w + 2] = ((i as i32 - 10) as f32).to_bits();
        want[w + 3] = (i.wrapping_mul(0x1000_0001) as f32).to_bits();
        want[w + 6] = (whole(f) ^ whole(-f)) as u32;
    }
    shader!("conversions", [2, 1, 1])
        .input(0, &data)
        .output(1, &want, Tolerance::Exact)
}

fn dot4() -> Case {
    let data = Numbers(69).words(128);
    let mut want = Vec::new();
    for v in data.chunks(2) {
        let (a, b) = (v[0].to_le_bytes(), v[1].to_le_bytes());
        let word = |f: &dyn Fn(usize) -> u8| u32::from_le_bytes([0, 1, 2, 3].map(f));
        let s = |n: usize| i32::from(a[n] as i8);
        want.extend([
            (0..4).map(|n| s(n) * i32::from(b[n] as i8)).sum::<i32>() as u32,
            (0..4).map(|n| u32::from(a[n]) * u32::from(b[n])).sum(),
            word(&|n| (s(n) * 3) as u8),
            word(&|n| b[n].wrapping_add(5)),
            word(&|n| (s(n) * 2).clamp(-128, 127) as u8),
            word(&|n| b[n].saturating_mul(2)),
        ]);
    }
    shader!("dot4", [2, 1, 1])
        .input(0, &data)
        .output(1, &want, Tolerance::Exact)
}

fn long_integers() -> Case {
    let data = Numbers(70).words(128);
    let mut want = Vec::new();
    for (i, v) in data.chunks(2).enumerate() {
        let a = u64::from(v[0]) << 32 | u64::from(v[1]);
        let p = a.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(i as u64);
        let s = p as i64 >> 7;
        let m = if s < 0 { s as u64 } else { p };
        want.extend([
            p as u32,
            (p >> 32) as u32,
            m as u32,
            (a.max(p) >> 32) as u32,
        ]);
    }
    shader!("long_integers", [2, 1, 1])
        .input(0, &data)
        .output(1, &want, Tolerance::Exact)
}
