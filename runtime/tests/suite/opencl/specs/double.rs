//! Double precision.

use super::super::case::{Case, any, either, within, zero};
use crate::rng::Rng;

pub fn cases() -> Vec<Case> {
    let case = |kernel| Case::new("double", kernel).line(128, 64);
    vec![
        case("double_arithmetic")
            .buffer::<f64>(128, zero)
            .ulps_of(2.0, 10_000.0)
            .buffer::<f64>(128, either(0.01, 100.0))
            .buffer::<f64>(128, either(0.01, 100.0)),
        case("double_division")
            .buffer::<f64>(128, zero)
            .buffer::<f64>(128, within(0.01, 1e6))
            .buffer::<f64>(128, either(0.01, 1e6)),
        case("double_conversions")
            .buffer::<f64>(128, within(0.0, 255.0))
            .buffer::<f32>(128, within(-1e6, 1e6))
            .buffer::<i32>(128, any)
            .buffer::<i64>(128, any)
            .buffer::<u8>(128, any),
        case("double_results")
            .buffer::<f64>(128, either(0.001, 9e6))
            .buffer::<f64>(128, either(0.001, 9e6))
            .buffer::<f64>(128 * 8, zero)
            .buffer::<i32>(128 * 4, zero),
        case("double_exponential")
            .buffer::<f64>(128, zero)
            .ulps(8.0)
            .buffer::<f64>(128, within(0.1, 20.0)),
        case("double_rounding")
            .buffer::<f64>(128, zero)
            .buffer::<i64>(128, zero)
            .buffer::<f64>(128, |r: &mut Rng, i| match i % 4 {
                0 => r.below(100) as f64 - 50.5,
                _ => r.unit() * 2e5 - 1e5,
            }),
        case("double_dot")
            .buffer::<f64>(128, zero)
            .ulps_of(8.0, 1.0)
            .buffer::<f64>(128 * 4 * 5, within(-1.0, 1.0))
            .buffer::<f64>(20, within(-1.0, 1.0))
            .scalar(5),
        Case::new("double", "double_jacobi")
            .grid([30, 14, 1], [10, 7, 1])
            .buffer::<f64>(512, zero)
            .buffer::<f64>(512, within(-1.0, 1.0))
            .scalar(32),
    ]
}
