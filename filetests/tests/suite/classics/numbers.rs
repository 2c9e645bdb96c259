//! Compute-bound kernels: n-body, SHA-256, Black-Scholes.

use super::{Classic, Launch, f32s, int, kernel, noise, u32s};
use gantry_codegen::builder::Val;
use gantry_codegen::ir::{Dim, Region, Scalar, scalars::*};
use gantry_filetests::launch::Arg;

pub fn classics() -> Vec<Classic> {
    vec![nbody(), sha256(), black_scholes()]
}

/// Computes accelerations of bodies by each other: all pairs, softened.
fn nbody() -> Classic {
    const SOFT: f32 = 0.25;
    let function = kernel("nbody", 8, None, 0, |k| {
        let (bodies, out) = (k.buffer(), k.buffer());
        let n = k.param(I32);
        let i = k.global_id(Dim::X);
        let own = k.address(bodies, i, 16);
        let place = [0, 4, 8].map(|offset| k.load_at(F32, own, offset));
        let pull = [0; 3].map(|_| k.var(k.float(F32.by(8), 0.0)));
        k.uniform_for(n, |j| {
            let at = bodies + (j << 4).uextend(Scalar::I64);
            let other = k.block_load(F32.by(4), at, 0);
            let lane = |c| other.map(|b, v| b.lane(v, c));
            let d = [0, 1, 2].map(|c| lane(c) - place[c as usize]);
            let r2 = d[0].fma(
                d[0],
                d[1].fma(d[1], d[2].fma(d[2], k.float(F32, SOFT.into()))),
            );
            let r = r2.map(|b, v| b.ins().frsqrt(v));
            let s = (r * r) * (r * lane(3));
            for (p, d) in pull.iter().zip(d) {
                p.set(d.fma(s, p.get()));
            }
        });
        let to = k.address(out, i, 12);
        for (c, p) in (0..).zip(pull) {
            k.store_at(p.get(), to, 4 * c);
        }
    });
    let launch = |n: usize| {
        let bodies: Vec<f32> = noise(21, 4 * n)
            .iter()
            .map(|x| (x % 33) as f32 * 0.25)
            .collect();
        let body = |i: usize| [0, 1, 2, 3].map(|c| f64::from(bodies[4 * i + c]));
        let mut out = Vec::new();
        for i in 0..n {
            let mut a = [0.0f64; 3];
            for j in 0..n {
                let (p, q) = (body(i), body(j));
                let d = [0, 1, 2].map(|c| q[c] - p[c]);
                let r2: f64 = d.iter().map(|d| d * d).sum::<f64>() + f64::from(SOFT);
                for c in 0..3 {
                    a[c] += d[c] * q[3] / (r2 * r2.sqrt());
                }
            }
            out.extend(a.map(|v| v as f32));
        }
        Launch {
            global: [n as u32, 1, 1],
            tolerance: 2e-5,
            args: vec![
                Arg::Buffer(f32s(&bodies)),
                Arg::Buffer(f32s(&vec![0.0; 3 * n])),
                int(n as i32),
            ],
            expect: vec![None, Some(f32s(&out)), None],
        }
    };
    Classic {
        name: "nbody",
        about: "N-body attraction: each channel loops over all bodies.",
        function,
        small: vec![launch(16)],
        more: vec![launch(40)],
    }
}

const FIRST: [u32; 8] = [
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
];

/// Computes the first 32 fraction bits of the cube roots of the first 64 primes.
fn constants() -> [u32; 64] {
    let prime = |n: u128| (2..n).all(|d| !n.is_multiple_of(d));
    let mut primes = (2..).filter(|&n| prime(n));
    [(); 64].map(|()| {
        // The largest r with r^3 <= p * 2^96.
        let p = primes.next().unwrap() << 96;
        let (mut low, mut high) = (0u128, 1u128 << 36);
        while high - low > 1 {
            let r = (low + high) / 2;
            if r * r * r <= p { low = r } else { high = r }
        }
        low as u32
    })
}

/// Computes the model: one block of 16 words, from the standard's initial state.
fn compress(block: &[u32]) -> [u32; 8] {
    let k = constants();
    let mut w = block.to_vec();
    for t in 16..64 {
        let (a, b) = (w[t - 15], w[t - 2]);
        let s0 = a.rotate_right(7) ^ a.rotate_right(18) ^ (a >> 3);
        let s1 = b.rotate_right(17) ^ b.rotate_right(19) ^ (b >> 10);
        w.push(
            w[t - 16]
                .wrapping_add(s0)
                .wrapping_add(w[t - 7])
                .wrapping_add(s1),
        );
    }
    let mut s = FIRST;
    for t in 0..64 {
        let [a, b, c, d, e, f, g, h] = s;
        let s1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let t1 = h
            .wrapping_add(s1)
            .wrapping_add((e & f) ^ (!e & g))
            .wrapping_add(k[t])
            .wrapping_add(w[t]);
        let s0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let t2 = s0.wrapping_add((a & b) ^ (a & c) ^ (b & c));
        s = [t1.wrapping_add(t2), a, b, c, d.wrapping_add(t1), e, f, g];
    }
    std::array::from_fn(|i| s[i].wrapping_add(FIRST[i]))
}

/// Pads a message of up to 55 bytes to one block.
fn padded(message: &[u8]) -> Vec<u32> {
    let mut bytes = message.to_vec();
    bytes.push(0x80);
    bytes.resize(56, 0);
    bytes.extend((8 * message.len() as u64).to_be_bytes());
    let words = bytes
        .chunks(4)
        .map(|c| c.iter().fold(0, |w, &b| w << 8 | u32::from(b)));
    words.collect()
}

#[test]
fn the_model_of_sha256_is_right() {
    // FIPS 180-4's example.
    let abc = compress(&padded(b"abc"));
    assert_eq!(abc[..2], [0xba7816bf, 0x8f01cfea]);
    assert_eq!(compress(&padded(b""))[7], 0x7852b855);
}

/// Rotates as it is commonly written.
fn turned(v: Val<'_>, n: i32) -> Val<'_> {
    v.ushr(n) | (v << (32 - n))
}

/// Computes a block a channel. The message schedule is a ring of 16 words in registers, and the
/// constants are in registers too. Both are indexed dynamically.
fn sha256() -> Classic {
    const LANES: u32 = 8;
    let function = kernel("sha256", LANES, None, 0, |k| {
        let (blocks, out) = (k.buffer(), k.buffer());
        let i = k.global_id(Dim::X);
        let table: Vec<i64> = constants().iter().map(|&c| c.into()).collect();
        let table = k.ints(Scalar::I32, &table);
        let ring = k.var(k.undef(I32.by(16 * LANES)));
        let block = k.address(blocks, i, 64);
        for t in 0..16 {
            let w = k.load_at(I32, block, 4 * t);
            let place = 4 * LANES as u16 * t as u16;
            ring.set(ring.get().with_region(Region::new(8, 8, 1, place), None, w));
        }
        let first = FIRST.map(|f| k.int(I32.by(LANES), f.into()));
        let state = first.map(|f| k.var(f));
        k.uniform_for(k.int(I32, 64), |t| {
            let [a, b, c, d, e, f, g, h] = state.map(|s| s.get());
            // Word t - 16 + n of the schedule.
            let word = |n: i32| {
                let index = (((t + n) & 15) << 5).ireduce(Scalar::I16);
                ring.get()
                    .region(LANES, Region::new(8, 8, 1, 0), Some(index))
            };
            let w = word(0);
            let constant = table.region(
                1,
                Region::new(0, 1, 0, 0),
                Some((t << 2).ireduce(Scalar::I16)),
            );
            let s1 = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25);
            let choice = (e & f) ^ (!e & g);
            let t1 = h + s1 + choice + constant + w;
            let s0 = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22);
            let most = (a & b) ^ (a & c) ^ (b & c);
            let next = [t1 + s0 + most, a, b, c, d + t1, e, f, g];
            // The word that the ring needs in 16 rounds.
            let (x, y) = (word(1), word(14));
            let s0 = turned(x, 7) ^ turned(x, 18) ^ x.ushr(3);
            let s1 = turned(y, 17) ^ turned(y, 19) ^ y.ushr(10);
            let later = w + s0 + word(9) + s1;
            let index = ((t & 15) << 5).ireduce(Scalar::I16);
            ring.set(
                ring.get()
                    .with_region(Region::new(8, 8, 1, 0), Some(index), later),
            );
            for (s, n) in state.iter().zip(next) {
                s.set(n);
            }
        });
        let to = k.address(out, i, 32);
        for (n, (s, f)) in (0..).zip(state.iter().zip(first)) {
            k.store_at(s.get() + f, to, 4 * n);
        }
    });
    let launch = |messages: &[&[u8]]| {
        let blocks: Vec<u32> = messages.iter().flat_map(|m| padded(m)).collect();
        let digests: Vec<u32> = blocks.chunks(16).flat_map(compress).collect();
        Launch {
            global: [messages.len() as u32, 1, 1],
            tolerance: 0.0,
            args: vec![
                Arg::Buffer(u32s(&blocks)),
                Arg::Buffer(u32s(&vec![0; digests.len()])),
            ],
            expect: vec![None, Some(u32s(&digests))],
        }
    };
    let texts: Vec<Vec<u8>> = (0..24).map(|n| vec![b'a' + n; 2 * n as usize]).collect();
    let texts: Vec<&[u8]> = texts.iter().map(|t| &t[..]).collect();
    Classic {
        name: "sha256",
        about: "SHA-256 of a block per channel: schedule and constants in registers, with indirect access.",
        function,
        small: vec![launch(&[
            b"abc",
            b"",
            b"The quick brown fox jumps over the lazy dog",
        ])],
        more: vec![launch(&texts)],
    }
}

/// Computes an exponential by the math unit.
fn exp(v: Val<'_>) -> Val<'_> {
    (v * std::f32::consts::LOG2_E).map(|b, x| b.ins().fexp2(x))
}

/// Computes a logarithm by the math unit.
fn ln(v: Val<'_>) -> Val<'_> {
    v.map(|b, x| b.ins().flog2(x)) * std::f32::consts::LN_2
}

/// Computes prices of calls and puts. The normal distribution is by Abramowitz and Stegun's
/// polynomial.
fn black_scholes() -> Classic {
    const WEIGHTS: [f32; 5] = [
        0.319_381_53,
        -0.356_563_78,
        1.781_477_9,
        -1.821_255_9,
        1.330_274_5,
    ];
    const RATE: f32 = 0.02;
    const VOLATILITY: f32 = 0.3;
    let function = kernel("black_scholes", 16, None, 0, |k| {
        let (spots, strikes, years) = (k.buffer(), k.buffer(), k.buffer());
        let (calls, puts) = (k.buffer(), k.buffer());
        let i = k.global_id(Dim::X);
        let [s, x, t] = [spots, strikes, years].map(|p| k.load(F32, p, i));
        let one = k.float(F32.by(16), 1.0);
        let spread = t.sqrt() * VOLATILITY;
        let drift = t * (RATE + VOLATILITY * VOLATILITY / 2.0);
        let d1 = (ln(s / x) + drift) / spread;
        let d2 = d1 - spread;
        // Probability below d, for d1 and d2.
        let normal = |which: usize| {
            let d = [d1, d2][which];
            let u = (d.abs().fma(0.231_641_9, one)).map(|b, v| b.ins().finv(v));
            let mut sum = k.float(F32.by(16), WEIGHTS[4].into());
            for w in WEIGHTS.iter().rev().skip(1) {
                sum = sum.fma(u, k.float(F32.by(16), (*w).into()));
            }
            let tail = exp(d * d * -0.5) * (sum * u) * 0.398_942_3;
            let above = d.gt(0.0);
            above.select(one - tail, tail)
        };
        let later = x * exp(t * -RATE);
        let call = s * normal(0) - later * normal(1);
        k.store(call, calls, i);
        k.store(call - s + later, puts, i);
    });
    let launch = |n: usize| {
        let part = |seed, low: f32, step: f32| -> Vec<f32> {
            let some = noise(seed, n);
            some.iter().map(|x| low + (x % 40) as f32 * step).collect()
        };
        let (s, x, t) = (
            part(31, 5.0, 0.25),
            part(32, 6.0, 0.25),
            part(33, 0.25, 0.25),
        );
        // The distribution itself, by Simpson's rule rather than the polynomial of the kernel.
        let normal = |d: f64| {
            let steps = 400;
            let h = d / f64::from(steps);
            let f = |i: i32| (-0.5 * (h * f64::from(i)).powi(2)).exp();
            let weight = |i: i32| match i {
                0 | 400 => 1.0,
                _ if i % 2 == 1 => 4.0,
                _ => 2.0,
            };
            let sum: f64 = (0..=steps).map(|i| weight(i) * f(i)).sum();
            0.5 + sum * h / 3.0 / (2.0 * std::f64::consts::PI).sqrt()
        };
        let (mut calls, mut puts) = (Vec::new(), Vec::new());
        for i in 0..n {
            let [s, x, t] = [s[i], x[i], t[i]].map(f64::from);
            let (r, v) = (f64::from(RATE), f64::from(VOLATILITY));
            let d1 = ((s / x).ln() + (r + v * v / 2.0) * t) / (v * t.sqrt());
            let d2 = d1 - v * t.sqrt();
            let call = s * normal(d1) - x * (-r * t).exp() * normal(d2);
            let put = x * (-r * t).exp() * normal(-d2) - s * normal(-d1);
            calls.push(((call * 1e4).round() / 1e4) as f32);
            puts.push(((put * 1e4).round() / 1e4) as f32);
        }
        let zeros = Arg::Buffer(f32s(&vec![0.0; n]));
        Launch {
            global: [n as u32, 1, 1],
            tolerance: 2e-4,
            args: vec![
                Arg::Buffer(f32s(&s)),
                Arg::Buffer(f32s(&x)),
                Arg::Buffer(f32s(&t)),
                zeros.clone(),
                zeros,
            ],
            expect: vec![None, None, None, Some(f32s(&calls)), Some(f32s(&puts))],
        }
    };
    Classic {
        name: "black_scholes",
        about: "Black-Scholes option prices: logarithms, exponentials, roots and quotients of the math unit.",
        function,
        small: vec![launch(16)],
        more: vec![launch(100)],
    }
}
