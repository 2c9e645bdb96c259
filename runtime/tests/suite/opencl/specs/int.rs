//! Integers, compared in every bit.

use super::super::case::{Case, any, within, zero};
use crate::rng::Rng;

/// Generates divisors with which no quotient overflows.
pub(super) fn divisor(r: &mut Rng, _: usize) -> i32 {
    match r.wild_i32() {
        0 | -1 => 7,
        v => v,
    }
}

pub(super) fn long_divisor(r: &mut Rng, _: usize) -> i64 {
    match r.wild_i64() {
        0 | -1 => 7,
        v => v,
    }
}

pub fn cases() -> Vec<Case> {
    let case = |kernel| Case::new("int", kernel);
    vec![
        case("bytes")
            .line(256, 64)
            .buffer::<u8>(256, zero)
            .buffer::<u8>(256, any)
            .buffer::<i8>(256, any),
        case("byte_vectors")
            .line(100, 32)
            .buffer::<u8>(1600, zero)
            .buffer::<u8>(1616, any)
            .buffer::<i8>(400, any),
        case("words")
            .line(256, 64)
            .buffer::<u16>(256, zero)
            .buffer::<u16>(256, any)
            .buffer::<i16>(256, any),
        // mul24 and mad24 take 24 bits.
        case("dwords")
            .line(1000, 64)
            .buffer::<u32>(1000, zero)
            .buffer::<u32>(1000, within(0.0, 16_777_216.0))
            .buffer::<i32>(1000, within(-8_388_608.0, 8_388_607.0)),
        case("int_division")
            .line(500, 50)
            .buffer::<i32>(500, zero)
            .buffer::<i32>(500, any)
            .buffer(500, divisor)
            .buffer::<u32>(500, any)
            .scalar(37),
        case("quads")
            .line(256, 64)
            .buffer::<u64>(256, zero)
            .buffer::<u64>(256, any)
            .buffer::<i64>(256, any),
        case("quads_wide")
            .line(256, 64)
            .buffer::<u64>(256, zero)
            .buffer::<u64>(256, any)
            .buffer::<i64>(256, any),
        case("quad_division")
            .line(128, 64)
            .buffer::<u64>(128, zero)
            .buffer::<u64>(128, any)
            .buffer(128, long_divisor),
        case("int_conversions")
            .line(256, 64)
            .buffer::<i64>(256, any)
            .buffer::<i32>(256, any)
            .buffer::<i16>(256, any)
            .buffer::<i8>(256, any)
            .buffer::<f32>(256, zero),
        // A float outside of ulong has no conversion to it.
        case("from_floats")
            .line(256, 64)
            .buffer::<u64>(256, zero)
            .buffer::<u32>(256, zero)
            .buffer::<u16>(256, zero)
            .buffer::<u8>(256, zero)
            .buffer::<f32>(256, |r: &mut Rng, i| match i % 3 {
                0 => (r.unit() * 300.0) as f32,
                1 => (r.unit() * 70_000.0) as f32,
                _ => (r.unit() * 6e9) as f32,
            }),
        case("bit_fields")
            .line(256, 64)
            .buffer::<u32>(256, zero)
            .buffer::<u32>(256, any),
        case("carries")
            .line(100, 20)
            .buffer::<u32>(400, zero)
            .buffer::<u32>(400, any)
            .buffer::<u32>(400, any),
        case("three_adds")
            .line(256, 64)
            .buffer::<i32>(256, zero)
            .buffer::<i32>(256, any)
            .buffer::<i32>(256, any)
            .buffer::<i16>(256, any)
            .scalar(12_345),
    ]
}
