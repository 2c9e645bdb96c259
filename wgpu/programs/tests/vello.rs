//! Scenes of vello, all of whose stages run on Gantry's device, beside vello's stages on the host.

use gantry_wgpu_programs::vector::Painter;
use gantry_wgpu_programs::{Gpu, scenes, targets};
use nv_flip::{DEFAULT_PIXELS_PER_DEGREE, FlipImageRgb8, FlipPool, flip};
use scenes::SIZE;
use vello::AaConfig;

/// Mean of the perceived difference that vello's own tests allow between device and host.
const TOLERANCE: f32 = 0.01;

/// Returns the mean of the perceived difference of two pictures.
fn difference(a: &[u8], b: &[u8]) -> f32 {
    let [a, b] = [a, b].map(|pixels| {
        let colors: Vec<u8> = pixels.chunks(4).flat_map(|p| &p[..3]).copied().collect();
        FlipImageRgb8::with_data(SIZE, SIZE, &colors)
    });
    FlipPool::from_image(&flip(a, b, DEFAULT_PIXELS_PER_DEGREE)).mean()
}

/// Draws some scenes on a target and on the host, and compares.
fn assert_like_host(target: &str, method: AaConfig, are_drawn: impl Fn(&str) -> bool) {
    let gpu = Gpu::open(target).unwrap();
    let mut on_device = Painter::new(&gpu, false, method).unwrap();
    let mut on_host = Painter::new(&gpu, true, method).unwrap();
    for (name, scene) in scenes::all().unwrap() {
        if !are_drawn(name) {
            continue;
        }
        let got = on_device.draw(&scene).unwrap();
        let want = on_host.draw(&scene).unwrap();
        let is_blank = want.chunks(4).all(|p| p == [0, 0, 0, 255]);
        assert_eq!(is_blank, name == "empty", "{name} on {target}");
        let mean = difference(&got, &want);
        let far = got
            .iter()
            .zip(&want)
            .filter(|(g, w)| g.abs_diff(**w) > 8)
            .count();
        println!("{target}: {name}: mean {mean:.6}, {far} components differ by more than 8");
        assert!(mean < TOLERANCE, "{name} on {target}: {mean}");
    }
}

#[test]
fn scenes_by_area() {
    for target in targets() {
        assert_like_host(&target, AaConfig::Area, |_| true);
    }
}

#[test]
fn scenes_by_samples() {
    for target in targets() {
        assert_like_host(&target, AaConfig::Msaa16, |_| true);
    }
}

/// A renderer compiles all shaders of its method before it draws.
#[test]
fn one_scene_on_the_other_targets() {
    for target in ["bdw", "skl", "icllp"] {
        for method in [AaConfig::Area, AaConfig::Msaa8] {
            assert_like_host(target, method, |name| name == "gradients");
        }
    }
}
