//! Library functions that other files leave out. Both sides may have the error that OpenCL allows.

use super::super::case::{Case, any, either, within, zero};
use crate::rng::Rng;

/// Work-items of a launch.
const N: usize = 128;

pub fn cases() -> Vec<Case> {
    let case = |kernel| Case::new("library", kernel).line(N as u32, 64);
    let double = |kernel| Case::new("library64", kernel).line(N as u32, 64);
    let wild = |r: &mut Rng, _: usize| (r.wild_i32() as f32) * 1e10;
    vec![
        case("inverse_functions")
            .buffer::<f32>(7 * N, zero)
            .ulps_of(16.0, 0.5)
            .buffer::<f32>(N, within(-1.0, 1.0))
            .buffer::<f32>(N, within(0.1, 40.0)),
        case("other_exponents")
            .buffer::<f32>(12 * N, zero)
            .ulps_of(24.0, 1.0)
            .buffer::<f32>(N, within(0.2, 4.0))
            .buffer::<f32>(N, within(0.01, 10.0)),
        case("rough_functions")
            .buffer::<f32>(17 * N, zero)
            .ulps_of(8192.0, 0.25)
            .buffer::<f32>(N, within(0.1, 1.4))
            .buffer::<f32>(N, within(0.1, 10.0)),
        case("half_stores")
            .buffer::<u16>(11 * N, zero)
            .buffer::<f32>(N, either(0.001, 60000.0))
            .buffer::<f32>(N, zero),
        case("long_conversions")
            .buffer::<f32>(7 * N, zero)
            .buffer::<i64>(N, any)
            .buffer::<i64>(6 * N, zero)
            .buffer::<f32>(N, wild),
        case("comparisons")
            .buffer::<i32>(N, zero)
            .buffer::<f32>(4 * N, any)
            .buffer::<f32>(4 * N, any)
            .buffer::<i64>(2 * N, any),
        double("double_functions")
            .buffer::<f64>(16 * N, zero)
            .ulps_of(24.0, 0.5)
            .buffer::<f64>(N, within(-3.0, 3.0))
            .buffer::<f64>(N, within(0.1, 10.0)),
        double("double_parts")
            .buffer::<f64>(7 * N, zero)
            .buffer::<i64>(6 * N, zero)
            .buffer::<f64>(N, either(0.5, 3000.0))
            .buffer::<f64>(N, within(0.1, 10.0)),
    ]
}
