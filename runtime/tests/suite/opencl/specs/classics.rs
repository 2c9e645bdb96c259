//! Common textbook kernels.

use super::super::case::{Case, any, index, within, zero};
use crate::rng::Rng;

pub fn cases() -> Vec<Case> {
    let case = |kernel| Case::new("classics", kernel);
    // Whole groups and others, all work-items and some.
    let shapes = [
        ("of one", 1, 1),
        ("of a group of 7", 7, 7),
        ("of a group", 64, 64),
        ("in groups of 40", 1000, 40),
        ("in groups of 64", 1000, 64),
        ("in large groups", 4096, 256),
    ];
    let saxpy = shapes.map(|(label, n, group)| {
        case("saxpy")
            .label(label)
            .line(n, group)
            .buffer::<f32>(n as usize, within(-9.0, 9.0))
            .buffer::<f32>(n as usize, within(-9.0, 9.0))
            .scalar(1.5f32)
            .scalar((n - n / 5) as i32)
    });
    let vadd = shapes.map(|(label, n, group)| {
        case("vadd")
            .label(label)
            .line(n, group)
            .buffer::<i32>(n as usize, any)
            .buffer::<i32>(n as usize, any)
            .buffer::<i32>(n as usize, zero)
    });
    let others = vec![
        case("sgemm")
            .grid([32, 32, 1], [16, 16, 1])
            .buffer::<f32>(1024, zero)
            .ulps_of(16.0, 1.0)
            .buffer::<f32>(1024, within(-1.0, 1.0))
            .buffer::<f32>(1024, within(-1.0, 1.0))
            .scalar(32),
        // The bodies that move are not among those that attract.
        case("nbody")
            .line(64, 32)
            .offset([48, 0, 0])
            .buffer::<f32>(112 * 4, within(0.1, 1.0))
            .ulps_of(32.0, 1.0)
            .buffer::<f32>(112 * 4, within(-0.1, 0.1))
            .ulps_of(64.0, 4.0)
            .scalar(48)
            .scalar(0.01f32),
        case("fft_radix2")
            .line(128, 64)
            .buffer::<f32>(512, within(-1.0, 1.0))
            .ulps_of(16.0, 1.0)
            .scalar(3),
        case("sha256_block")
            .line(40, 20)
            .buffer::<u32>(320, any)
            .buffer::<u32>(640, any),
        case("black_scholes")
            .line(256, 64)
            .buffer::<f32>(256, zero)
            .ulps_of(64.0, 16.0)
            .buffer::<f32>(256, zero)
            .ulps_of(64.0, 16.0)
            .buffer::<f32>(256, within(5.0, 30.0))
            .buffer::<f32>(256, within(1.0, 100.0))
            .buffer::<f32>(256, within(0.25, 10.0))
            .scalar(0.02f32)
            .scalar(0.3f32),
        case("spmv")
            .line(100, 50)
            .buffer::<f32>(100, zero)
            .ulps_of(8.0, 1.0)
            .buffer::<f32>(1000, within(-1.0, 1.0))
            .buffer::<i32>(1000, within(0.0, 64.0))
            .buffer::<i32>(101, |_, i| (i * i / 10) as i32)
            .buffer::<f32>(64, within(-1.0, 1.0)),
        case("kmeans_assign")
            .line(200, 50)
            .buffer::<i32>(200, zero)
            .buffer::<f32>(600, within(-1.0, 1.0))
            .buffer::<f32>(24, within(-1.0, 1.0))
            .scalar(8)
            .scalar(3),
        case("conv2d")
            .grid([40, 24, 1], [8, 8, 1])
            .buffer::<f32>(960, zero)
            .ulps_of(8.0, 1.0)
            .buffer::<f32>(960, within(0.0, 1.0))
            .buffer::<f32>(25, within(-0.1, 0.2))
            .scalar(40)
            .scalar(24),
        case("mandelbrot")
            .grid([64, 32, 1], [16, 4, 1])
            .buffer::<u8>(2048, zero)
            .scalar(64)
            .scalar(32)
            .scalar(15),
        case("xorshift")
            .line(100, 64)
            .buffer::<u32>(100, zero)
            .scalar(42u32)
            .scalar(20),
        case("levenshtein_row")
            .line(40, 20)
            .buffer::<u8>(40, zero)
            .buffer::<i8>(32, |r: &mut Rng, _| r.below(4) as i8)
            .buffer::<i8>(32, |r: &mut Rng, _| r.below(4) as i8)
            .scalar(32),
        case("game_of_life")
            .grid([30, 14, 1], [10, 7, 1])
            .buffer::<u8>(512, zero)
            .buffer::<u8>(512, |r: &mut Rng, _| r.below(2) as u8)
            .scalar(32),
        case("ray_spheres")
            .grid([32, 24, 1], [16, 8, 1])
            .buffer::<f32>(768, zero)
            .ulps_of(64.0, 0.25)
            .buffer::<f32>(24, |r: &mut Rng, i| match i % 4 {
                3 => 1.0,
                2 => 4.0 + index::<f32>(r, i) / 4.0,
                _ => (r.unit() * 4.0 - 2.0) as f32,
            })
            .scalar(6)
            .scalar(32)
            .scalar(24),
    ];
    saxpy.into_iter().chain(vadd).chain(others).collect()
}
