//! Images and samplers: kernels of Intel's compiler on the simulator, against the same thing computed here.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "test code"
)]

mod common;

use common::{Rng, compile_source, have, simulator};
use gantry_runtime::{
    AddressMode, Arg, ChannelOrder, ChannelType, Device, FilterMode, Grid, Image, ImageDesc,
    ImageFormat, Module, Sampler,
};

const KERNELS: &str = include_str!("../../isa-gen/tests/kernels/image.cl");

fn at_widths(f: impl Fn(&Device, &Module, &mut Rng, u32)) {
    if !have("ocloc") {
        return;
    }
    for simd in common::WIDTHS {
        let device = simulator();
        let module = device
            .load(&compile_source(KERNELS, simd, "-cl-std=CL2.0"))
            .unwrap();
        let seed = 7 + u64::from(simd);
        println!("SIMD{simd}, seed {seed}");
        f(&device, &module, &mut Rng(seed), simd);
    }
}

fn format(order: ChannelOrder, channel: ChannelType) -> ImageFormat {
    ImageFormat::new(order, channel).unwrap()
}

fn random(d: &Device, r: &mut Rng, format: ImageFormat, desc: ImageDesc) -> (Image, Vec<u8>) {
    let image = d.image(format, desc).unwrap();
    let bytes: Vec<u8> = (0..image.byte_len()).map(|_| r.u64() as u8).collect();
    image.write(&bytes).unwrap();
    (image, bytes)
}

fn launch(m: &Module, kernel: &str, global: [u32; 3], args: Vec<Arg>) {
    common::launch(m, kernel, Grid::new(global).group([8, 4, 1]), args);
}

#[test]
fn copies() {
    at_widths(|d, m, r, simd| {
        // An odd size: threads at the edge have fewer work-items.
        let desc = ImageDesc::d2(21, 13);
        let (input, bytes) = random(d, r, ImageFormat::RGBA8, desc);
        for order in [ChannelOrder::Rgba, ChannelOrder::Bgra] {
            let out = d
                .image(format(order, ChannelType::UnormInt8), desc)
                .unwrap();
            launch(
                m,
                "image_copy",
                [21, 13, 1],
                vec![(&input).into(), (&out).into()],
            );
            let want: Vec<u8> = bytes
                .chunks(4)
                .flat_map(|c| match order {
                    ChannelOrder::Bgra => [c[0], c[1], c[2], c[3]],
                    _ => [c[2], c[1], c[0], c[3]],
                })
                .collect();
            assert!(out.read::<u8>().unwrap() == want, "{order:?} SIMD{simd}");
        }
    });
}

#[test]
fn blurs_with_every_address_mode() {
    at_widths(|d, m, r, simd| {
        let (w, h) = (21i32, 13i32);
        let desc = ImageDesc::d2(w as u32, h as u32);
        let (input, bytes) = random(d, r, ImageFormat::RGBA8, desc);
        for address in [
            AddressMode::None,
            AddressMode::Clamp,
            AddressMode::ClampToEdge,
        ] {
            let out = d.image(ImageFormat::RGBA8, desc).unwrap();
            launch(
                m,
                "image_blur",
                [w as u32, h as u32, 1],
                vec![
                    (&input).into(),
                    (&out).into(),
                    Sampler::new(address, FilterMode::Nearest).into(),
                ],
            );
            let at = |x: i32, y: i32, c: usize| {
                let (cx, cy) = (x.clamp(0, w - 1), y.clamp(0, h - 1));
                if address == AddressMode::ClampToEdge || (cx, cy) == (x, y) {
                    u32::from(bytes[(cy * w + cx) as usize * 4 + c])
                } else {
                    0
                }
            };
            let got = out.read::<u8>().unwrap();
            for (i, got) in got.into_iter().enumerate() {
                let (x, y, c) = (i as i32 / 4 % w, i as i32 / 4 / w, i % 4);
                let sum: u32 = (-1..=1)
                    .flat_map(|dy| (-1..=1).map(move |dx| (dx, dy)))
                    .map(|(dx, dy)| at(x + dx, y + dy, c))
                    .sum();
                // Ninths have no ties.
                let want = (f64::from(sum) / 9.0).round() as u8;
                assert_eq!(got, want, "{address:?} SIMD{simd} ({x}, {y}).{c}");
            }
        }
    });
}

#[test]
fn resizes_linearly() {
    at_widths(|d, m, r, simd| {
        let (w, h) = (9u32, 7u32);
        let (input, bytes) = random(d, r, ImageFormat::RGBA8, ImageDesc::d2(w, h));
        let (ow, oh) = (25u32, 18u32);
        let out = d
            .image(
                format(ChannelOrder::Rgba, ChannelType::Float),
                ImageDesc::d2(ow, oh),
            )
            .unwrap();
        launch(
            m,
            "image_resize",
            [ow, oh, 1],
            vec![(&input).into(), (&out).into()],
        );
        let got = out.read::<f32>().unwrap();
        for (i, got) in got.into_iter().enumerate() {
            let (x, y, c) = (i as u32 / 4 % ow, i as u32 / 4 / ow, i % 4);
            let axis = |i: u32, n: u32, size: u32| {
                let u = (f64::from(i) + 0.5) / f64::from(n) * f64::from(size) - 0.5;
                let i = u.floor();
                let wrap = |i: i64| i.rem_euclid(i64::from(size)) as usize;
                (wrap(i as i64), wrap(i as i64 + 1), u - i)
            };
            let (x0, x1, a) = axis(x, ow, w);
            let (y0, y1, b) = axis(y, oh, h);
            let at = |x: usize, y: usize| f64::from(bytes[(y * w as usize + x) * 4 + c]) / 255.0;
            let want = (1.0 - a) * (1.0 - b) * at(x0, y0)
                + a * (1.0 - b) * at(x1, y0)
                + (1.0 - a) * b * at(x0, y1)
                + a * b * at(x1, y1);
            assert!(
                (f64::from(got) - want).abs() < 1e-5,
                "SIMD{simd} ({x}, {y}).{c}: got {got}, want {want}"
            );
        }
    });
}

#[test]
fn other_shapes() {
    at_widths(|d, m, r, simd| {
        let rgba16 = format(ChannelOrder::Rgba, ChannelType::UnsignedInt16);
        let (w, h, n) = (11usize, 6usize, 5usize);
        let desc = ImageDesc::d3(w as u32, h as u32, n as u32);
        let input = d.image(rgba16, desc).unwrap();
        let values: Vec<u16> = (0..w * h * n * 4).map(|_| r.u64() as u16).collect();
        input.write(&values).unwrap();
        let out = d
            .image(format(ChannelOrder::Rgba, ChannelType::UnsignedInt32), desc)
            .unwrap();
        launch(
            m,
            "image_3d",
            [w as u32, h as u32, n as u32],
            vec![(&input).into(), (&out).into()],
        );
        let got = out.read::<u32>().unwrap();
        for (i, got) in got.into_iter().enumerate() {
            let x = i / 4 % w;
            let next = if x + 1 < w {
                u32::from(values[i + 4])
            } else {
                0
            };
            let want = u32::from(values[i]) + next + n as u32;
            // Outside, an integer load without a sampler is undefined.
            if x + 1 < w {
                assert_eq!(got, want, "3D SIMD{simd} {i}");
            }
        }

        let ints = format(ChannelOrder::R, ChannelType::SignedInt32);
        let input: Vec<i32> = (0..50).map(|_| r.i32() >> 8).collect();
        let line = d.image(ints, ImageDesc::d1(50)).unwrap();
        line.write(&input).unwrap();
        let memory = d.buffer_from(&input).unwrap();
        let over = d.image_of(&memory, ints, ImageDesc::d1_buffer(50)).unwrap();
        let out = d
            .image(
                format(ChannelOrder::Rgba, ChannelType::SignedInt32),
                ImageDesc::d1(50),
            )
            .unwrap();
        let args = vec![(&line).into(), (&over).into(), (&out).into()];
        common::launch(m, "image_1d", Grid::new([50, 1, 1]).group([16, 1, 1]), args);
        let want: Vec<i32> = input
            .iter()
            .flat_map(|v| [v * 2 + 50, 50, 50, 52])
            .collect();
        assert_eq!(out.read::<i32>().unwrap(), want, "1D SIMD{simd}");
    });
}

#[test]
fn reads_and_writes_one_image() {
    at_widths(|d, m, r, simd| {
        let rgba8 = format(ChannelOrder::Rgba, ChannelType::UnsignedInt8);
        let (image, bytes) = random(d, r, rgba8, ImageDesc::d2(21, 13));
        launch(m, "image_read_write", [21, 13, 1], vec![(&image).into()]);
        // The kernel xors with the channel order, 0x10b5; what is above 255 is clamped.
        let want = vec![255; bytes.len()];
        assert_eq!(image.read::<u8>().unwrap(), want, "SIMD{simd}");
    });
}

#[test]
fn wrong_arguments_are_named() {
    at_widths(|d, m, _, _| {
        let two = d.image(ImageFormat::RGBA8, ImageDesc::d2(4, 4)).unwrap();
        let one = d.image(ImageFormat::RGBA8, ImageDesc::d1(4)).unwrap();
        let grid = Grid::new([4, 4, 1]);
        let run = |args: Vec<Arg>| {
            let kernel = m.kernel("image_copy").unwrap();
            kernel
                .launch(grid)
                .args(args)
                .run()
                .unwrap_err()
                .to_string()
        };
        let e = run(vec![(&one).into(), (&two).into()]);
        assert!(
            e.contains("expected a 2D image, got a 1D image of 4"),
            "{e}"
        );
        let e = run(vec![(&two).into(), 1i32.into()]);
        assert!(e.contains("argument 1 (`out`): expected a 2D image"), "{e}");
        let other = simulator();
        let far = other
            .image(ImageFormat::RGBA8, ImageDesc::d2(4, 4))
            .unwrap();
        let e = run(vec![(&two).into(), (&far).into()]);
        assert!(e.contains("an image of another"), "{e}");
    });
}
