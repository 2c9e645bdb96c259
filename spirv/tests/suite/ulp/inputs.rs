//! Arguments: special ones, and random ones by distribution.

use crate::rng::Rng;
use crate::ulp::functions::{Draw, Function, Kind};
use crate::ulp::number::Type;

/// Numbers at which functions change, of both signs, rounded to the type.
pub fn special(ty: Type) -> Vec<u64> {
    let mut v: Vec<f64> = vec![
        0.0, 0.1, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 7.0, 10.0, 11.5,
        31.0, 88.7, 100.0, 171.6, 184.0, 709.7, 745.0, 1e4, 1e10, 1e20, 1e30, 1e-3, 1e-10, 1e-30,
    ];
    use std::f64::consts::{E, FRAC_PI_2, FRAC_PI_4, PI, SQRT_2};
    v.extend([
        E,
        PI,
        FRAC_PI_2,
        FRAC_PI_4,
        SQRT_2,
        3.0 * FRAC_PI_2,
        2.0 * PI,
        1000.0 * PI,
    ]);
    for n in [
        -3, -1, 10, 11, 15, 16, 22, 23, 24, 30, 31, 32, 52, 53, 62, 63, 64, 126, 127,
    ] {
        let p = libm::exp2(f64::from(n));
        v.extend([p, p - 0.5, p + 0.5, p - 1.0, p + 1.0]);
    }
    let mut bits: Vec<u64> = v.into_iter().map(|v| ty.of(v)).collect();
    let one = ty.of(1.0);
    let infinity = ty.of(f64::INFINITY);
    let (p, _) = ty.format();
    let least = 1u64 << (p - 1);
    // Neighbors of one and a half, subnormals, and neighbors of the least normal and the greatest
    // number.
    bits.extend([
        one - 1,
        one + 1,
        ty.of(0.5) - 1,
        ty.of(0.5) + 1,
        ty.of(2.0) - 1,
        ty.of(2.0) + 1,
    ]);
    bits.extend([1, 2, 3, least / 2, least - 1, least, least + 1, 2 * least]);
    bits.extend([
        infinity - 1,
        infinity - least,
        infinity,
        infinity + least / 2,
    ]);
    let sign = 1u64 << (ty.bits() - 1);
    let all: std::collections::BTreeSet<u64> =
        bits.into_iter().flat_map(|b| [b, b | sign]).collect();
    all.into_iter().collect()
}

/// Integers at which functions change.
pub fn special_integers() -> Vec<u64> {
    let mut v = vec![
        0,
        1,
        2,
        3,
        4,
        5,
        10,
        15,
        24,
        31,
        64,
        126,
        127,
        128,
        149,
        150,
        1000,
        1022,
        1023,
        1024,
        1074,
        1075,
        2098,
        16_777_215,
        16_777_217,
        i32::MAX,
    ];
    let minus: Vec<i32> = v.iter().map(|v| -v).collect();
    v.extend(minus);
    v.push(i32::MIN);
    v.into_iter().map(|v| u64::from(v as u32)).collect()
}

fn any(r: &mut Rng, ty: Type) -> u64 {
    r.u64() >> (64 - ty.bits())
}

/// Draws a number of either sign with a limited exponent.
fn about(r: &mut Rng, ty: Type, exponents: i32) -> f64 {
    let (_, least) = ty.format();
    let most = exponents.min(-least);
    let e = r.below(2 * most as u64) as i32 - most;
    let m = 1.0 + r.unit();
    let v = libm::scalbn(m, e);
    if r.below(2) == 0 { -v } else { v }
}

/// Draws the arguments of a call.
pub fn draw(r: &mut Rng, f: &Function, ty: Type) -> Vec<u64> {
    let inputs = || {
        f.arguments
            .iter()
            .filter(|k| !matches!(k, Kind::OutFloat | Kind::OutInt))
    };
    let mut v: Vec<u64> = Vec::new();
    let how = r.below(8);
    for k in inputs() {
        let first = v.first().map(|b| ty.value(*b));
        v.push(match k {
            Kind::Int => integer(r, f.draw, first, ty),
            Kind::Bits => any(r, ty),
            _ => number(r, f.draw, how, first, ty),
        });
    }
    v
}

fn integer(r: &mut Rng, draw: Draw, first: Option<f64>, ty: Type) -> u64 {
    let x = first.unwrap_or(1.0);
    let n = match (draw, r.below(4)) {
        (_, 0) => r.wild_i32(),
        (Draw::WholePower, 1 | 2) => {
            // Keeps a power within the range of the type.
            let l = libm::log2(x.abs());
            let range = f64::from(-ty.format().1) * 1.1;
            ((2.0 * r.unit() - 1.0) * range / if l == 0.0 { 1.0 } else { l }) as i32
        }
        (_, 3) => r.below(41) as i32 - 20,
        _ => r.below(4001) as i32 - 2000,
    };
    u64::from(n as u32)
}

fn number(r: &mut Rng, draw: Draw, how: u64, first: Option<f64>, ty: Type) -> u64 {
    if how == 0 {
        return any(r, ty);
    }
    match (draw, first) {
        (Draw::Within(from, to), _) if how < 5 => {
            let (from, to) = (f64::from(from) / 100.0, f64::from(to) / 100.0);
            // Ranges of halves and singles are smaller.
            let part = match (ty, how) {
                (Type::Half, 1 | 2) => 0.02,
                (Type::Single, 1 | 2) => 0.13,
                (_, 4) => 0.01,
                _ => 1.0,
            };
            ty.of(part * (from + r.unit() * (to - from)))
        }
        (Draw::Power, Some(x)) if how < 6 => {
            let range = f64::from(-ty.format().1) * 1.1;
            let l = libm::log2(x.abs());
            ty.of((2.0 * r.unit() - 1.0) * range / if l == 0.0 { 1.0 } else { l })
        }
        (Draw::Power, None) if how < 3 => {
            ty.of(1.0 + about(r, ty, 30).clamp(-0.9, 0.9) * libm::exp2(-3.0))
        }
        (Draw::Power | Draw::Root, None) if how < 6 => ty.of(about(r, ty, 40).abs()),
        (Draw::Near, Some(x)) if how < 6 => {
            let by = about(r, ty, if how < 4 { 2 } else { 30 });
            ty.of(x * by)
        }
        // Integers and half-integers, and their neighbors.
        _ if how == 6 => {
            let v = (r.below(2001) as f64 - 1000.0) / 2.0;
            let b = ty.of(v);
            match r.below(3) {
                0 => b,
                1 => b.wrapping_add(1) & (u64::MAX >> (64 - ty.bits())),
                _ => b.wrapping_sub(1) & (u64::MAX >> (64 - ty.bits())),
            }
        }
        _ => ty.of(about(r, ty, if how == 7 { 1100 } else { 12 })),
    }
}
