//! Math unit, and the library's functions around it. Both sides may have the error that OpenCL
//! allows.

use super::super::case::{Case, either, within, zero};
use crate::rng::Rng;

pub fn cases() -> Vec<Case> {
    let case = |kernel| Case::new("math", kernel).line(256, 64);
    vec![
        case("native_math")
            .buffer::<f32>(256, zero)
            .ulps_of(64.0, 16.0)
            .buffer::<f32>(256, within(0.5, 1.2))
            .buffer::<f32>(256, within(0.5, 2.0)),
        case("exponentials")
            .buffer::<f32>(256, zero)
            .ulps_of(16.0, 8.0)
            .buffer::<f32>(256, within(0.1, 3.0))
            .buffer::<f32>(256, within(0.1, 3.0)),
        case("trigonometry")
            .buffer::<f32>(256, zero)
            .ulps_of(16.0, 4.0)
            .buffer::<f32>(256, within(-1.0, 1.0))
            .buffer::<f32>(256, within(-1.0, 1.0)),
        case("hyperbolic")
            .buffer::<f32>(256, zero)
            .ulps_of(16.0, 4.0)
            .buffer::<f32>(256, within(-0.99, 0.99)),
        case("special_functions")
            .buffer::<f32>(256, zero)
            .ulps_of(16.0, 4.0)
            .buffer::<f32>(256, within(0.5, 4.0)),
        case("exact_division")
            .buffer::<f32>(256, zero)
            .ulps(8.0)
            .buffer::<f32>(256, within(0.01, 100.0))
            .buffer::<f32>(256, within(0.01, 100.0)),
        case("rounding")
            .buffer::<f32>(256, zero)
            .ulps_of(4.0, 1000.0)
            .buffer::<i32>(256, zero)
            .buffer::<f32>(256, |r: &mut Rng, i| match i % 4 {
                0 => (r.below(200) as f32) - 100.5,
                _ => (r.unit() * 2000.0 - 1000.0) as f32,
            })
            .buffer::<f32>(256, either(0.001, 1000.0)),
        // A quotient is defined to seven bits.
        case("remainders")
            .buffer::<f32>(256, zero)
            .buffer::<f32>(256, either(1.0, 50.0))
            .buffer::<f32>(256, either(1.0, 50.0)),
        // Infinities and NaNs have no conversion to int.
        case("float_classes")
            .buffer::<i32>(256, zero)
            .buffer::<f32>(256, |r: &mut Rng, i| match i % 8 {
                0 => 0.0,
                1 => 1e-40,
                2 => -1e-40,
                _ => (r.unit() * 2000.0 - 1000.0) as f32,
            })
            .buffer::<f32>(256, |r: &mut Rng, i| match i % 7 {
                0 => -0.0,
                1 => f32::MIN_POSITIVE,
                _ => (r.unit() * 2000.0 - 1000.0) as f32,
            }),
        case("blends")
            .buffer::<f32>(1024, zero)
            .ulps_of(16.0, 16.0)
            .buffer::<f32>(1024, within(0.1, 1.0))
            .buffer::<f32>(1024, within(2.0, 3.0))
            .scalar(0.3f32),
    ]
}
