//! Kernels of Intel's compiler for every platform on the simulator. They have the operations whose
//! code differs most between platforms, and are compared with the same computation on the host.

use crate::common::{Rng, compile_for, have, launch, on, same};
use gantry_runtime::{Buffer, Device, Grid, Module, Plain};
use half::f16;

/// Devices with the options of their features.
const DEVICES: [(&str, &str); 5] = [
    ("skl", "-DDOUBLES"),
    ("icllp", ""),
    ("tgllp", "-DBYTES"),
    ("dg2", "-DBYTES -DSYSTOLIC=8"),
    ("pvc", "-DBYTES -DDOUBLES -DSYSTOLIC=16"),
];

/// Runs `f` on the kernels of each device whose options contain a word. Prints that it is skipped
/// if there is no ocloc.
fn on_devices(with: &str, f: impl Fn(&Device, &Module, &str, &str)) {
    if !have("ocloc") {
        return;
    }
    let rounded = "-cl-std=CL2.0 -cl-fp32-correctly-rounded-divide-sqrt";
    for (device, has) in DEVICES.into_iter().filter(|(_, o)| o.contains(with)) {
        let source = include_str!("../kernels/alu.cl");
        let zebin = compile_for(device, source, &format!("{rounded} {has}"));
        on(device, &zebin, |d, m| f(d, m, device, has));
    }
}

/// Runs a kernel of two inputs and an output.
fn run<A: Plain, O: Plain + Default>(
    d: &Device,
    m: &Module,
    name: &str,
    (a, b): (&[A], &[A]),
    outputs: usize,
) -> Buffer {
    let out = d.buffer_from(&vec![O::default(); outputs]).unwrap();
    let n = a.len() as u32;
    launch(
        m,
        name,
        Grid::new([n, 1, 1]).group([32, 1, 1]),
        vec![
            (&d.buffer_from(a).unwrap()).into(),
            (&d.buffer_from(b).unwrap()).into(),
            (&out).into(),
        ],
    );
    out
}

/// Compares floats bit by bit, except that all NaNs are equal.
fn same_bits(what: &str, got: &[u64], want: &[u64], nan: impl Fn(u64) -> bool, per: usize) {
    assert_eq!(got.len(), want.len());
    for (i, (g, w)) in got.iter().zip(want).enumerate() {
        let (item, result) = (i / per, i % per);
        assert!(
            g == w || nan(*g) && nan(*w),
            "{what}: item {item} result {result}: got {g:#x}, want {w:#x}"
        );
    }
}

#[test]
fn quotients_and_roots_are_correctly_rounded() {
    let seed = 71;
    println!("seed {seed}");
    on_devices("", |d, m, device, _| {
        let mut r = Rng(seed);
        let n = 4096;
        let mut v = || (0..n).map(|_| r.wild_f32()).collect::<Vec<f32>>();
        let (a, b) = (v(), v());
        let out = run::<f32, f32>(d, m, "quotients", (&a, &b), 2 * n);
        let bits = |v: f32| u64::from(v.to_bits());
        let want: Vec<u64> = a
            .iter()
            .zip(&b)
            .flat_map(|(x, y)| [bits(x / y), bits(x.sqrt())])
            .collect();
        let got: Vec<u64> = out.read::<f32>().unwrap().into_iter().map(bits).collect();
        let nan = |b: u64| f32::from_bits(b as u32).is_nan();
        same_bits(device, &got, &want, nan, 2);
    });
}

#[test]
fn doubles_are_exact() {
    let seed = 72;
    println!("seed {seed}");
    on_devices("DOUBLES", |d, m, device, _| {
        let mut r = Rng(seed);
        let n = 2048;
        let mut double = || match r.below(5) {
            0 => f64::from(r.wild_f32()),
            1 => f64::from_bits(r.u64()),
            2 => f64::from_bits(r.u64() & 0x800f_ffff_ffff_ffff),
            _ => f64::from_bits(r.u64() & 0x800f_ffff_ffff_ffff | (1000 + r.below(64)) << 52),
        };
        let mut v = || (0..n).map(|_| double()).collect::<Vec<f64>>();
        let (a, b) = (v(), v());
        let out = run::<f64, f64>(d, m, "doubles", (&a, &b), 8 * n);
        let want: Vec<u64> = a
            .iter()
            .zip(&b)
            .flat_map(|(&x, &y)| {
                [
                    x / y,
                    x.sqrt(),
                    x.mul_add(y, x),
                    x + y,
                    x * y,
                    x.round_ties_even(),
                    f64::from(x as f32),
                    x as i64 as f64,
                ]
            })
            .map(f64::to_bits)
            .collect();
        let got = out.read::<u64>().unwrap();
        same_bits(device, &got, &want, |b| f64::from_bits(b).is_nan(), 8);
    });
}

#[test]
fn products_of_dwords() {
    let seed = 73;
    println!("seed {seed}");
    on_devices("", |d, m, device, _| {
        let mut r = Rng(seed);
        let n = 2048;
        let a: Vec<i32> = (0..n).map(|_| r.wild_i32()).collect();
        // Dividing by zero, and the smallest number by -1, are undefined in OpenCL.
        let b: Vec<i32> = (0..n).map(|_| r.wild_i32().clamp(1, i32::MAX)).collect();
        let out = run::<i32, i32>(d, m, "products", (&a, &b), 10 * n);
        let (mut want, mut quotients) = (Vec::new(), Vec::new());
        for (&x, &y) in a.iter().zip(&b) {
            let (ux, uy) = (x as u32, y as u32);
            quotients.extend([(ux / uy) as i32, (ux % uy) as i32]);
            let product = i64::from(x >> 8) * i64::from(y >> 24) + i64::from(x);
            let words = i32::from(x as i16) * i32::from(y as i16);
            want.extend([
                x.wrapping_mul(y),
                ((i64::from(x) * i64::from(y)) >> 32) as i32,
                ((u64::from(ux) * u64::from(uy)) >> 32) as i32,
                product.clamp(i32::MIN.into(), i32::MAX.into()) as i32,
                x / y,
                x % y,
                x.rotate_left(uy & 31),
                i32::from((x as u16).rotate_left(5)),
                words.wrapping_add(x),
                (x & y) ^ (!x | (y >> 3)),
            ]);
        }
        same(device, &out, &want);
        let out = run::<i32, i32>(d, m, "unsigned_quotients", (&a, &b), 2 * n);
        same(device, &out, &quotients);
    });
}

#[test]
fn products_of_qwords() {
    let seed = 74;
    println!("seed {seed}");
    on_devices("", |d, m, device, _| {
        let mut r = Rng(seed);
        let n = 1024;
        let a: Vec<i64> = (0..n).map(|_| r.wild_i64()).collect();
        let b: Vec<i64> = (0..n).map(|_| r.wild_i64().clamp(1, i64::MAX)).collect();
        let out = run::<i64, i64>(d, m, "longs", (&a, &b), 12 * n);
        let mut want = Vec::new();
        for (&x, &y) in a.iter().zip(&b) {
            let (ux, uy, s) = (x as u64, y as u64, y as u32 & 63);
            want.extend([
                x.wrapping_mul(y),
                ((i128::from(x) * i128::from(y)) >> 64) as i64,
                ((u128::from(ux) * u128::from(uy)) >> 64) as i64,
                x.wrapping_add(y),
                x.wrapping_sub(y),
                x.saturating_add(y),
                x << s,
                x >> s,
                (ux >> s) as i64,
                x.min(y),
                x / y,
                (ux % uy) as i64,
            ]);
        }
        same(device, &out, &want);
    });
}

#[test]
fn halves_are_rounded_once() {
    let seed = 75;
    println!("seed {seed}");
    on_devices("", |d, m, device, _| {
        let mut r = Rng(seed);
        let n = 4096;
        let mut v = || (0..n).map(|_| r.u64() as u16).collect::<Vec<u16>>();
        let (a, b) = (v(), v());
        let out = run::<u16, u16>(d, m, "halves", (&a, &b), 8 * n);
        // A single of a half's sum or product rounds to the half that is nearest to the exact one.
        let half = |v: f32| u64::from(f16::from_f32(v).to_bits());
        let mut want = Vec::new();
        for (&x, &y) in a.iter().zip(&b) {
            let (x, y) = (f16::from_bits(x).to_f32(), f16::from_bits(y).to_f32());
            // The exact value of a multiply-add takes at most 80 bits: a sum to odd, then one
            // rounding.
            want.extend([
                half(x + y),
                half(x * y),
                fused(x, y, x),
                half(x.min(y)),
                half(x.max(y)),
                half(x.floor()),
                half(x * 3.0 + y),
                half(x as i32 as f32),
            ]);
        }
        let got: Vec<u64> = out
            .read::<u16>()
            .unwrap()
            .into_iter()
            .map(u64::from)
            .collect();
        for (i, (g, w)) in got.iter().zip(&want).enumerate() {
            let nan = |b: u64| f16::from_bits(b as u16).is_nan();
            let zeros = g & 0x7fff == 0 && w & 0x7fff == 0;
            assert!(
                g == w || nan(*g) && nan(*w) || zeros && matches!(i % 8, 3 | 4),
                "{device}: item {} result {}: got {g:#x}, want {w:#x} of {:#x}, {:#x}",
                i / 8,
                i % 8,
                a[i / 8],
                b[i / 8]
            );
        }
    });
}

/// Computes `a * b + c` of halves exactly, and returns the bits of the nearest half.
fn fused(a: f32, b: f32, c: f32) -> u64 {
    let near = f64::from(a) * f64::from(b) + f64::from(c);
    if !near.is_finite() || near == 0.0 {
        return u64::from(f16::from_f32(near as f32).to_bits());
    }
    // Halves are multiples of 2^-24, their products of 2^-48.
    let scaled = |v: f64, by: i32| (v * f64::from(by).exp2()) as i128;
    let exact = (scaled(a.into(), 24) * scaled(b.into(), 24)) + (scaled(c.into(), 24) << 24);
    let sign = if exact < 0 { 0x8000 } else { 0 };
    let magnitude = exact.unsigned_abs();
    // The largest half below, then the nearer of it and the next.
    let value = |bits: u64| scaled(f16::from_bits(bits as u16).to_f64(), 24).unsigned_abs() << 24;
    let below = (0..0x7c00u64)
        .collect::<Vec<_>>()
        .partition_point(|b| value(*b) <= magnitude)
        - 1;
    let below = below as u64;
    let next = if below == 0x7bff {
        65536u128 << 48
    } else {
        value(below + 1)
    };
    if magnitude >= next {
        return sign | 0x7c00;
    }
    let (low, high) = (magnitude - value(below), next - magnitude);
    sign | match low.cmp(&high) {
        std::cmp::Ordering::Less => below,
        std::cmp::Ordering::Greater => below + 1,
        std::cmp::Ordering::Equal => below + below % 2,
    }
}

#[test]
fn dot_products_of_bytes() {
    let seed = 76;
    println!("seed {seed}");
    on_devices("BYTES", |d, m, device, _| {
        let mut r = Rng(seed);
        let n = 1024;
        let mut v = || (0..n).map(|_| r.i32()).collect::<Vec<i32>>();
        let (a, b) = (v(), v());
        let out = run::<i32, i32>(d, m, "bytes", (&a, &b), 4 * n);
        let dot = |x: i32, xs: bool, y: i32, ys: bool| -> i32 {
            let byte = |v: u8, s: bool| if s { i32::from(v as i8) } else { i32::from(v) };
            let pairs = x.to_le_bytes().into_iter().zip(y.to_le_bytes());
            pairs.map(|(p, q)| byte(p, xs) * byte(q, ys)).sum()
        };
        let want: Vec<i32> = a
            .iter()
            .zip(&b)
            .flat_map(|(&x, &y)| {
                [
                    y.wrapping_add(dot(x, true, y, true)),
                    dot(x, false, y, false),
                    7 + dot(x, true, y, false),
                    x.wrapping_add(dot(x, false, y, true)),
                ]
            })
            .collect();
        same(device, &out, &want);
    });
}

#[test]
fn matrices_of_bytes() {
    let seed = 77;
    println!("seed {seed}");
    on_devices("SYSTOLIC", |d, m, device, has| {
        let columns = if has.contains("SYSTOLIC=8") { 8 } else { 16 };
        let mut r = Rng(seed);
        let mut v = |n| (0..n).map(|_| r.i32()).collect::<Vec<i32>>();
        let (a, b) = (v(64), v(128));
        let out = d.buffer(4 * 4 * columns).unwrap();
        launch(
            m,
            "matrices",
            Grid::new([columns as u32, 1, 1]).group([columns as u32, 1, 1]),
            vec![
                (&d.buffer_from(&a).unwrap()).into(),
                (&d.buffer_from(&b).unwrap()).into(),
                (&out).into(),
            ],
        );
        let byte = |v: &[i32], k: usize| i32::from(v[k / 4].to_le_bytes()[k % 4] as i8);
        let mut want = Vec::new();
        for column in 0..columns {
            for row in 0..4 {
                let sum: i32 = (0..32)
                    .map(|k| {
                        let x = if columns == 8 {
                            byte(&a, row * 32 + k)
                        } else {
                            // Lane l has bytes 2l and 2l+1 of each row: rows 0, 1 in its first
                            // dword.
                            let (lane, odd) = (k / 2, k % 2);
                            byte(&a, ((row / 2) * 16 + lane) * 4 + row % 2 * 2 + odd)
                        };
                        let y = byte(&b, ((k / 4) * columns + column) * 4 + k % 4);
                        x * y
                    })
                    .sum();
                want.push(sum + row as i32 + 1);
            }
        }
        same(device, &out, &want);
    });
}
