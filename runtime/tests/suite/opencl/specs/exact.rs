//! Results that are defined to the bit.

use super::super::case::{Case, any, zero};
use super::int::{divisor, long_divisor};
use crate::rng::Rng;

pub fn cases() -> Vec<Case> {
    let case = |kernel| Case::new("exact", kernel).line(256, 64);
    vec![
        case("dword_results")
            .buffer::<i32>(256, any)
            .buffer(256, divisor)
            .buffer::<i32>(256 * 32, zero),
        case("small_results")
            .buffer::<i8>(256, any)
            .buffer::<i16>(256, any)
            .buffer::<i32>(256 * 16, zero),
        case("qword_results")
            .buffer::<i64>(256, any)
            .buffer::<i64>(256, any)
            .buffer::<i64>(256 * 16, zero),
        case("qword_quotients")
            .buffer::<i64>(256, any)
            .buffer(256, long_divisor)
            .buffer::<i64>(256 * 4, zero),
        // Equal values that differ in the sign of zero: either is the minimum.
        case("float_results")
            .buffer::<f32>(256, any)
            .buffer::<f32>(256, any)
            .buffer::<f32>(256, any)
            .buffer::<f32>(256 * 24, zero)
            .ulps(0.0),
        case("converted")
            .buffer::<f32>(256, |r: &mut Rng, i| {
                let scale = [300.0, 70_000.0, 5e9][i % 3];
                let v = (r.unit() * 2.0 - 1.0) * scale;
                if r.below(8) == 0 {
                    v.round() as f32 + 0.5
                } else {
                    v as f32
                }
            })
            .buffer::<i32>(256, any)
            .buffer::<i32>(256 * 18, zero),
    ]
}
