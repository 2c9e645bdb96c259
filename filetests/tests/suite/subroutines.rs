//! Access of subroutines to their kernel's images, scratch, data and launch, inlined and called in
//! hardware.

use gantry_codegen::{CompileOptions, Inline, Target, compile, text};
use gantry_runtime::{
    AddressMode, ChannelOrder, ChannelType, Device, FilterMode, Grid, ImageDesc, ImageFormat,
    Sampler, SimOptions,
};

const TEXT: &str = "
const %table = i32 [100, 200, 300]

kernel %k(i32 image1d read, i64 ptr, i32 sampler) simd16 scratch 1024 {
block0(v0: i32, v1: i64, v2: i32):
    v3 = iconst.i32 1
    v4 = call %f(v3)
    bstore v4, v1
    v5 = iconst.i32 2
    v6 = call %f(v5)
    bstore v6, v1+4
    return
}

function %f(i32) -> i32 {
block0(v0: i32):
    v1 = image_query.i32 width image 0
    v2 = image_load.i32x4 image 0 (v0)
    v3 = rdregion.i32 v2, <0;1,0>, 0
    v4 = iconst.i32 64
    bstore v1, scratch v4
    v5 = bload.i32 scratch v4
    v6 = symbol_addr.i64 %table
    v7 = iconst.i64 4
    v8 = iadd v6, v7
    v9 = bload.i32 v8
    v10 = iadd v3, v5
    v11 = iadd v10, v9
    v12 = fconst.f32 3.0
    v13 = sample.i32x4 image 0 sampler 0 (v12)
    v14 = rdregion.i32 v13, <0;1,0>, 0
    v15 = iadd v11, v14
    v16 = local_size.i32 x
    v17 = iadd v15, v16
    return v17
}
";

#[test]
fn subroutines_find_what_their_kernel_has() {
    let module = text::parse(TEXT).unwrap().module;
    let format = ImageFormat::new(ChannelOrder::R, ChannelType::UnsignedInt8).unwrap();
    // The kernel has an image.
    for target in Target::all().filter(|t| t.features().sampler) {
        for inline in Inline::ALL {
            let name = format!("{}, {}", target.name(), inline.name());
            let mut options = CompileOptions::new(target.clone());
            (options.inline, options.check) = (inline, true);
            let compiled = compile(&module, &options).unwrap_or_else(|e| panic!("{name}: {e}"));
            let device = Device::simulator(SimOptions::default());
            let texels = device.buffer_from(&[0u8, 1, 2, 3, 4, 5, 6, 7]).unwrap();
            let image = device.image_of(&texels, format, ImageDesc::d1(8)).unwrap();
            let out = device.buffer_from(&[0i32; 2]).unwrap();
            let module = device.load(&compiled.zebin).unwrap();
            let kernel = module.kernel("k").unwrap();
            let launch = kernel.launch(Grid::new([16, 1, 1]).group([16, 1, 1]));
            let sampler = Sampler::new(AddressMode::ClampToEdge, FilterMode::Nearest);
            let ran = launch.arg(&image).arg(&out).arg(sampler).run();
            ran.unwrap_or_else(|e| panic!("{name}: {e}"));
            // The image's width, an element of the table, a sample, the group's size, and a texel.
            let all = 8 + 200 + 3 + 16;
            assert_eq!(out.read::<i32>().unwrap(), [all + 1, all + 2], "{name}");
        }
    }
}

/// A subroutine is verified without its kernels, so what they lack is reported for each kernel.
#[test]
fn subroutines_ask_for_nothing_that_their_kernel_lacks() {
    let asked = [
        ("i32", "image_query.i32 width image 1", "image 1"),
        ("i32x4", "image_load.i32x4 image 1 (v1)", "image 1"),
        (
            "i8x4",
            "media_load.i8x4 image 1 (v1, v1) width 4",
            "image 1",
        ),
        ("i32", "sampler_query.i32 snap sampler 1", "sampler 1"),
        ("i32x4", "sample.i32x4 image 0 sampler 1 (v2)", "sampler 1"),
        ("i32", "bload.i32 surface 1 v1", "surface 1"),
        ("i32", "load.i32 surface 1 v1", "surface 1"),
        ("i32", "atomic.i32 add surface 1 v1, v1", "surface 1"),
        ("i32", "bload.i32 scratch v1", "no scratch"),
    ];
    for inline in Inline::ALL {
        for (ty, instruction, what) in asked {
            let text = format!(
                "
kernel %k(i32 image1d read, i64 ptr, i32 sampler, i32 surface) simd16 {{
block0(v0: i32, v1: i64, v2: i32, v3: i32):
    v4 = call %f()
    bstore v4, v1
    return
}}

function %f() -> {ty} {{
block0:
    v1 = iconst.i32 1
    v2 = fconst.f32 1.0
    v3 = {instruction}
    return v3
}}
"
            );
            let module = text::parse(&text).unwrap().module;
            let mut options = CompileOptions::for_target("skl").unwrap();
            options.inline = inline;
            let name = format!("{instruction}, {}", inline.name());
            let error = match compile(&module, &options) {
                Ok(_) => panic!("{name}: compiles"),
                Err(e) => e.to_string(),
            };
            assert!(error.contains(what), "{name}: {error}");
            assert!(error.contains("what %k does not have"), "{name}: {error}");
        }
    }
}
