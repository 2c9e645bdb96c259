//! Half precision, which pocl lacks. The expectation is computed here, rounded once for each
//! operation. Where the compiler may fuse a product with a sum, two units in the last place are
//! allowed.

use super::super::case::{Case, Memory, any, either, within, zero};
use crate::rng::Rng;
use half::f16;

fn round(v: f64) -> f16 {
    f16::from_f64(v)
}

/// Computes `a * b + c`, rounded once.
fn fma(a: f16, b: f16, c: f16) -> f16 {
    round(a.to_f64() * b.to_f64() + c.to_f64())
}

pub fn cases() -> Vec<Case> {
    let case = |kernel| Case::new("half", kernel).line(128, 64);
    let near = |r: &mut Rng, _: usize| f16::from_f64(r.unit() * 4.0 + 0.25);
    vec![
        case("half_arithmetic")
            .buffer::<f16>(128, zero)
            .ulps_of(2.0, 32.0)
            .buffer::<f16>(128, either(0.1, 8.0))
            .buffer::<f16>(128, either(0.1, 8.0))
            .expect(|m, _| {
                let (a, b) = (m.get::<f16>(1), m.get::<f16>(2));
                m.fill(0, |i| {
                    let (x, y) = (a[i], b[i]);
                    let t = fma(x, y, x - y) + f16::from_f64(x.to_f64().abs()) * -y;
                    let t = t + if x > y { x } else { y };
                    let limit = f16::from_f64(2.5);
                    t - if x < limit { x } else { limit }
                });
            }),
        case("half_results")
            .buffer::<f16>(128, within(-200.0, 200.0))
            .buffer::<f16>(128, within(-200.0, 200.0))
            .buffer::<f16>(128 * 8, zero)
            .expect(half_results),
        case("half_rounding")
            .buffer::<f32>(128, |r: &mut Rng, i| match i % 4 {
                0 => r.wild_f32(),
                1 => (r.unit() * 2e-6 - 1e-6) as f32,
                _ => (r.unit() * 140_000.0 - 70_000.0) as f32,
            })
            .buffer::<u16>(128 * 4, zero)
            .expect(|m, _| {
                let a = m.get::<f32>(0);
                m.fill(1, |i| {
                    let x = a[i / 4];
                    let positive = x > 0.0;
                    match i % 4 {
                        0 => half_bits(x, false, false),
                        1 => half_bits(x, !positive, positive),
                        2 => half_bits(x, true, false),
                        _ => half_bits(x, false, true),
                    }
                });
            }),
        case("half_math")
            .buffer::<f16>(128, zero)
            .ulps_of(4.0, 16.0)
            .buffer::<f16>(128, near)
            .buffer::<f16>(128, near)
            .expect(|m, _| {
                let (a, b) = (m.get::<f16>(1), m.get::<f16>(2));
                m.fill(0, |i| {
                    let (x, y) = (a[i].to_f64(), b[i].to_f64());
                    round(
                        x.sqrt() + y.exp2() + x.log2() + y.sin() + x.cos() + x / y + 1.0 / x.sqrt(),
                    )
                });
            }),
        case("half_and_single")
            .buffer::<f32>(128, zero)
            .ulps_of(2.0, 16.0)
            .buffer::<f16>(128, either(0.1, 4.0))
            .ulps_of(2.0, 16.0)
            .buffer::<f32>(128, either(0.1, 4.0))
            .expect(|m, _| {
                let (h, a) = (m.get::<f16>(1), m.get::<f32>(2));
                m.fill(0, |i| a[i] * h[i].to_f32() + h[i].to_f32());
                m.fill(1, |i| f16::from_f32(a[i] + 1.0) * h[i]);
            }),
        case("half_conversions")
            .buffer::<f16>(128, within(-100.0, 300.0))
            .buffer::<i32>(128, within(-2000.0, 2000.0))
            .buffer::<u8>(128, any)
            .buffer::<i16>(128, within(-2000.0, 2000.0))
            .buffer::<f32>(512, zero)
            .buffer::<f16>(512, either(0.01, 300.0))
            .expect(half_conversions),
        case("half_vectors")
            .buffer::<f16>(1024, zero)
            .ulps_of(2.0, 16.0)
            .buffer::<f16>(1024, either(0.1, 2.0))
            .buffer::<f16>(516, either(0.1, 2.0))
            .scalar(f16::from_f32(1.5))
            .expect(half_vectors),
        case("half_classes")
            .buffer::<i16>(128, zero)
            .buffer::<f16>(128, |r: &mut Rng, i| match i % 4 {
                0 => f16::from_f64(r.below(100) as f64 - 50.5),
                _ => f16::from_f64(r.unit() * 400.0 - 200.0),
            })
            .expect(|m, _| {
                let a = m.get::<f16>(1);
                m.fill(0, |i| {
                    let x = a[i].to_f64();
                    let negative = i16::from(x < 0.0) << 2;
                    let ceil = round(x.ceil()).to_bits() as i16;
                    negative | (x.floor() as i16) << 3 | ceil | x.round_ties_even() as i16
                });
            }),
    ]
}

fn half_conversions(m: &mut Memory, _: u32) {
    let out = m.get::<f16>(0);
    let (n, c, s) = (m.get::<i32>(1), m.get::<u8>(2), m.get::<i16>(3));
    let h = m.get::<f16>(5);
    m.fill(0, |i| {
        round(n[i].into()) + round(f64::from(c[i])) + round(f64::from(s[i]))
    });
    m.fill(1, |i| out[i].to_f64() as i32);
    m.fill(2, |i| out[i].to_f64() as u8);
    m.fill(3, |i| out[i].to_f64().round_ties_even() as i16);
    m.fill(4, |i| h[i].to_f32());
    // Doubling is exact: nothing is rounded to zero.
    m.fill(5, |i| h[i] + h[i]);
}

fn half_vectors(m: &mut Memory, _: u32) {
    let (a, b, k) = (m.get::<f16>(1), m.get::<f16>(2), f16::from_f32(1.5));
    m.fill(0, |at| {
        let (i, lane) = (at / 8, at % 8);
        let v = |i: usize| &b[i * 4..i * 4 + 4];
        if lane == 0 {
            let products = v(i).iter().zip(v(i + 1));
            return round(products.map(|(x, y)| x.to_f64() * y.to_f64()).sum());
        }
        let turned = if lane < 4 { v(i)[lane] } else { v(i)[7 - lane] };
        let x = fma(a[at], k, turned);
        if x > a[at] { -x } else { x }
    });
}

fn half_results(m: &mut Memory, _: u32) {
    let (a, b) = (m.get::<f16>(0), m.get::<f16>(1));
    m.fill(2, |i| {
        let (x, y) = (a[i / 8], b[i / 8]);
        let (fx, fy) = (x.to_f64(), y.to_f64());
        match i % 8 {
            0 => round(fx + fy),
            1 => round(fx - fy),
            2 | 7 => round(fx * fy),
            3 => round(fx * fy + 1.5),
            4 => f16::min(x, y),
            5 => round(fx.floor()),
            _ if fx < fy => x,
            _ => -y,
        }
    });
}

/// Returns a half's bits: the nearest, or the next one up or down where the nearest is on the other
/// side.
fn half_bits(v: f32, up: bool, down: bool) -> u16 {
    let near = f16::from_f32(v);
    let back = near.to_f32();
    let bits = near.to_bits();
    if near.is_nan() {
        bits
    } else if up && back < v || down && back > v {
        let away = (v > 0.0) == up;
        match bits {
            0 if down => 0x8001,
            0x8000 if up => 1,
            _ if away => bits + 1,
            _ => bits - 1,
        }
    } else {
        bits
    }
}
