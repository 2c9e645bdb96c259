//! Numeric and string algorithms of textbooks.

use super::super::case::{Case, any, within, zero};
use crate::rng::Rng;

pub fn cases() -> Vec<Case> {
    let case = |kernel| Case::new("numeric", kernel);
    vec![
        case("sgemm_naive")
            .grid([20, 20, 1], [10, 4, 1])
            .buffer::<f32>(400, zero)
            .ulps_of(16.0, 1.0)
            .buffer::<f32>(400, within(-1.0, 1.0))
            .buffer::<f32>(400, within(-1.0, 1.0))
            .scalar(20),
        case("fft_64")
            .line(96, 32)
            .buffer::<f32>(384, within(-1.0, 1.0))
            .ulps_of(16.0, 4.0),
        case("scan_blelloch")
            .line(128, 64)
            .buffer::<u32>(256, any)
            .buffer::<u32>(2, zero)
            .local::<u32>(128),
        case("bitonic_step")
            .line(256, 64)
            .buffer::<u32>(512, any)
            .scalar(64u32)
            .scalar(16u32),
        case("kmeans_update")
            .grid([8, 3, 1], [8, 1, 1])
            .buffer::<f32>(24, zero)
            .ulps_of(4.0, 0.1)
            .buffer::<f32>(300, within(-1.0, 1.0))
            .buffer::<i32>(100, within(0.0, 7.0))
            .scalar(100)
            .scalar(3),
        case("floyd_warshall_step")
            .grid([24, 24, 1], [8, 8, 1])
            .buffer::<f32>(576, |r: &mut Rng, i| match i % 25 {
                0 => 0.0,
                _ => (r.unit() * 100.0) as f32,
            })
            .scalar(24)
            .scalar(5),
        case("crc32")
            .line(50, 25)
            .buffer::<u32>(50, zero)
            .buffer::<u8>(1000, any)
            .scalar(20),
        case("points_in_circle")
            .line(128, 64)
            .buffer::<u32>(1, zero)
            .scalar(42u32)
            .scalar(25),
        case("heat_3d")
            .grid([10, 6, 4], [5, 3, 2])
            .buffer::<f32>(576, zero)
            .ulps_of(4.0, 1.0)
            .buffer::<f32>(576, within(0.0, 1.0))
            .scalar(0.1f32),
        case("string_search")
            .line(500, 50)
            .buffer::<i32>(1, |_, _| i32::MAX)
            .buffer::<i8>(504, |r: &mut Rng, _| b"ab"[r.below(2) as usize] as i8)
            .buffer::<i8>(4, |_, i| b"abba"[i] as i8)
            .scalar(4),
        // Its equations are well conditioned: the diagonal is the largest.
        case("gauss_solve")
            .line(64, 32)
            .buffer::<f32>(256, zero)
            .ulps_of(64.0, 0.1)
            .buffer::<f32>(1280, |r: &mut Rng, i| {
                let v = (r.unit() * 2.0 - 1.0) as f32;
                if i % 20 % 5 == i % 20 / 5 { v + 4.0 } else { v }
            }),
    ]
}
