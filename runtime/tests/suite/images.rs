//! Images in the API: launches that are refused, and an image over a buffer's memory. Accesses of
//! kernels to images are tested in `opencl/`.

use crate::common::{compile_source, have, launch, simulator};
use gantry_runtime::{
    Arg, ChannelOrder, ChannelType, Device, Grid, ImageDesc, ImageFormat, Module,
};

const KERNELS: &str = include_str!("../../../isa-gen/tests/kernels/image.cl");

fn with_kernels(f: impl Fn(&Device, &Module)) {
    if !have("ocloc") {
        return;
    }
    let device = simulator();
    let zebin = compile_source(KERNELS, 16, "-cl-std=CL2.0");
    f(&device, &device.load(&zebin).unwrap());
}

#[test]
fn an_image_over_a_buffer_is_its_memory() {
    with_kernels(|d, m| {
        let format = |order| ImageFormat::new(order, ChannelType::SignedInt32).unwrap();
        let r = format(ChannelOrder::R);
        let input: Vec<i32> = (0..50).map(|i| i * i - 700).collect();
        let memory = d.buffer_from(&input).unwrap();
        let line = d.image(r, ImageDesc::d1(50)).unwrap();
        line.write(&input).unwrap();
        let over = d.image_of(&memory, r, ImageDesc::d1_buffer(50)).unwrap();
        let out = d
            .image(format(ChannelOrder::Rgba), ImageDesc::d1(50))
            .unwrap();
        let run = || {
            let args = vec![(&line).into(), (&over).into(), (&out).into()];
            launch(m, "image_1d", Grid::new([50, 1, 1]).group([16, 1, 1]), args);
            out.read::<i32>().unwrap()
        };
        let sums = |add: i32| {
            input
                .iter()
                .flat_map(move |v| [v * 2 + add + 50, 50, 50, 52])
        };
        assert_eq!(run(), sums(0).collect::<Vec<_>>());
        let more: Vec<i32> = input.iter().map(|v| v + 1000).collect();
        memory.write(&more).unwrap();
        assert_eq!(run(), sums(1000).collect::<Vec<_>>());
    });
}

#[test]
fn wrong_arguments_are_named() {
    with_kernels(|d, m| {
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
