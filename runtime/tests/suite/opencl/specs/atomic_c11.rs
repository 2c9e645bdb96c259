//! Atomics of C11 and of 16-bit and 64-bit floats. Where the result depends on their order, one
//! work-item runs.

use super::super::case::{Case, Memory, any, within, zero};
use crate::rng::Rng;
use half::f16;

/// Work-items of launches whose atomics commute.
const N: usize = 128;

pub fn cases() -> Vec<Case> {
    let mut cases = of_ints();
    // `send (8|M0) null r25:f 0xC 0x060742FF`: message type 0x1d of Gen9.
    let none = "the compiler sends float atomics, which the device does not have";
    cases.extend(of_floats().into_iter().map(|c| match c.file {
        "atomic_c11" => c.skip(&["bdw"], &[], none),
        _ => c,
    }));
    cases.extend(of_halves());
    cases
}

fn of_ints() -> Vec<Case> {
    let case = |kernel| Case::new("atomic_c11", kernel);
    vec![
        case("c11_ints")
            .buffer::<i32>(12, any)
            .buffer::<u32>(1, any)
            .buffer::<i32>(1, zero)
            .buffer::<i32>(3, |_, i| [0, 1, 1][i])
            .scalar(-77),
        case("c11_local")
            .line(N as u32, 32)
            .buffer::<i32>(N, zero)
            .buffer::<i32>(N, |r: &mut Rng, _| r.below(1000) as i32)
            .local::<i32>(4),
        case("spin_lock")
            .line(N as u32, 64)
            .buffer::<i32>(1, zero)
            .buffer::<i32>(1, zero)
            .buffer::<i32>(N, |r: &mut Rng, _| r.below(1000) as i32)
            .expect(|m, width| {
                let first = m.get::<i32>(2).into_iter().step_by(width as usize);
                m.set(1, [first.sum::<i32>()]);
            }),
    ]
}

fn of_floats() -> Vec<Case> {
    let case = |kernel| Case::new("atomic_c11", kernel);
    // Whole numbers, so that sums are exact in any order.
    let whole = |r: &mut Rng, _: usize| r.below(2000) as f32 - 1000.0;
    vec![
        case("float_atomics")
            .line(N as u32, 32)
            .buffer::<f32>(6, |_, i| [0.0, 0.0, 0.0, 2000.0, -2000.0, 5.0][i])
            .buffer::<f32>(N, zero)
            .buffer::<f32>(N, whole)
            .local::<f32>(3)
            .expect(float_atomics),
        case("float_atomic_order")
            .buffer::<f32>(6, |_, i| [1.5, 1.5, 1.5, 1.5, 2.0, 3.0][i])
            .buffer::<f32>(6, zero)
            .scalar(2.25f32)
            .expect(|m, _| {
                m.set(0, [3.75f32, 1.5, 2.25, 2.25, 2.25, 3.0]);
                m.set(1, [1.5f32, 1.5, 1.5, 1.5, 2.0, 3.0]);
            }),
        Case::new("atomic_double", "double_atomics")
            .line(N as u32, 32)
            .buffer::<f64>(N + 3, |r, i| if i == 0 { 0.0 } else { r.unit() })
            .buffer::<f64>(N, zero)
            .buffer::<f64>(N, |r: &mut Rng, _| r.below(2000) as f64 - 1000.0)
            .expect(|m, _| {
                let (mut p, x) = (m.get::<f64>(0), m.get::<f64>(2));
                m.fill(1, |i| p[i + 3]);
                p[0] = x.iter().sum::<f64>();
                p[1] = x.iter().copied().fold(p[1], f64::min);
                p[2] = x.iter().copied().fold(p[2], f64::max);
                (0..N).for_each(|i| p[i + 3] += x[i]);
                m.set(0, p);
            }),
    ]
}

/// Computes each sum, minimum and maximum, and the value that each work-item got of its group's.
fn float_atomics(m: &mut Memory, _: u32) {
    let (mut p, x) = (m.get::<f32>(0), m.get::<f32>(2));
    let least = |x: &[f32]| x.iter().copied().fold(0.0, f32::min);
    let most = |x: &[f32]| x.iter().copied().fold(0.0, f32::max);
    m.fill(1, |i| {
        let group = &x[i / 32 * 32..][..32];
        let local = match i % 32 % 3 {
            0 => group.iter().sum(),
            1 => least(group),
            _ => most(group),
        };
        // The maximum and minimum over an unchanged 2000 and -2000, and 5.
        5.0 + local
    });
    p[0] = x.iter().sum();
    p[1] = least(&x);
    p[2] = most(&x);
    m.set(0, p);
}

fn of_halves() -> Vec<Case> {
    let case = |kernel| Case::new("atomic_half", kernel);
    vec![
        case("half_atomics")
            .line(N as u32, 32)
            .buffer::<f16>(N + 2, within(-3.0, 3.0))
            .buffer::<f16>(N, zero)
            .buffer::<f16>(N, within(-4.0, 4.0))
            .expect(|m, _| {
                let (mut p, x) = (m.get::<f16>(0), m.get::<f16>(2));
                m.fill(1, |i| p[i + 2]);
                p[0] = x.iter().copied().fold(p[0], f16::min);
                p[1] = x.iter().copied().fold(p[1], f16::max);
                (0..N).for_each(|i| p[i + 2] = p[i + 2].max(x[i]));
                m.set(0, p);
            }),
        case("half_exchange")
            .buffer::<f16>(3, |_, i| f16::from_f64([1.5, 2.0, 3.0][i]))
            .buffer::<f16>(3, zero)
            .scalar(f16::from_f64(7.25))
            .expect(|m, _| {
                m.set(0, [7.25, 7.25, 3.0].map(f16::from_f64));
                m.set(1, [1.5, 2.0, 3.0].map(f16::from_f64));
            }),
        case("word_atomics")
            .buffer::<i16>(9, |_, i| [100, 30000, -1, 0x55, 5, -3, 7, 7, 9][i])
            .buffer::<i16>(8, zero)
            .scalar(-9999i16)
            .expect(|m, _| {
                let p = m.get::<i16>(0);
                m.set(1, p[..8].to_vec());
                let k = -9999i16;
                // As an unsigned number -3 is more than `k`.
                let sums = [p[0] + k, p[1].wrapping_sub(k), 0, p[3] ^ k, k, -3, k, 7, 9];
                m.set(0, sums);
            }),
        case("word_atomics_of_many")
            .line(N as u32, 32)
            .buffer::<i16>(N + 2, any)
            .buffer::<i16>(N, zero)
            .buffer::<i16>(N, any)
            .local::<i16>(32)
            .expect(|m, _| {
                let (mut p, x) = (m.get::<i16>(0), m.get::<i16>(2));
                m.fill(1, |i| {
                    let sum = x[i].wrapping_add(3);
                    let least = (sum as u16).min(5) as i16;
                    let back = p[i + 2].wrapping_add(x[i]).wrapping_add(sum);
                    back.wrapping_add(least)
                });
                p[0] = x.iter().fold(p[0], |a, v| a.wrapping_add(*v));
                (0..N).for_each(|i| p[i + 2] = p[i + 2].wrapping_add(x[i]));
                m.set(0, p);
            }),
    ]
}
