//! Damaged zebins: cut short, or with bits flipped anywhere, code included. Each is refused, or its
//! launch ends with an error or a result. Nothing panics and nothing runs forever.

use crate::common;
use crate::common::{Rng, have};
use gantry_runtime::zebin::{ArgKind, Zebin};
use gantry_runtime::{
    AddressMode, Arg, Device, Error, FilterMode, Grid, ImageDesc, ImageFormat, ImageType, Sampler,
    SimOptions,
};

/// Loads a zebin and launches each kernel once on small buffers. Counts launches that ended well
/// and those that ended with a fault. A load that is refused counts as neither.
fn try_all(d: &Device, bytes: &[u8], ended: &mut [usize; 3]) {
    let module = match d.load(bytes) {
        Ok(m) => m,
        Err(e) => {
            assert!(!e.to_string().is_empty());
            ended[2] += 1;
            return;
        }
    };
    let names: Vec<String> = module.kernels().map(str::to_owned).collect();
    for name in names {
        let kernel = module.kernel(&name).unwrap();
        let args: Vec<Arg> = kernel
            .args()
            .iter()
            .map(|a| match a.kind {
                ArgKind::Buffer => Arg::Buffer(d.buffer(4096).unwrap()),
                ArgKind::Local => Arg::Local(256),
                ArgKind::Value { size } if size < 4096 => Arg::Value(vec![1; size as usize]),
                ArgKind::Image(ty) => Arg::Image(d.image(ImageFormat::RGBA8, shape(ty)).unwrap()),
                ArgKind::Sampler => {
                    Sampler::new(AddressMode::ClampToEdge, FilterMode::Linear).into()
                }
                _ => Arg::Null,
            })
            .collect();
        let run = kernel
            .launch(Grid::new([64, 1, 1]).group([32, 1, 1]))
            .args(args)
            .run();
        match run {
            Ok(_) => ended[0] += 1,
            Err(e) => {
                let text = e.to_string();
                assert!(text.contains(&format!("`{name}`")), "{text}");
                if let Error::Fault(f) = &e {
                    assert_eq!(f.kernel, name);
                }
                ended[1] += 1;
            }
        }
    }
}

fn shape(ty: Option<ImageType>) -> ImageDesc {
    match ty {
        Some(ImageType::D1) => ImageDesc::d1(9),
        Some(ImageType::D1Buffer) => ImageDesc::d1_buffer(9),
        Some(ImageType::D1Array) => ImageDesc::d1_array(9, 3),
        Some(ImageType::D2Array) => ImageDesc::d2_array(9, 3, 2),
        Some(ImageType::D3) => ImageDesc::d3(9, 3, 2),
        Some(ImageType::D2Msaa) => ImageDesc::d2_msaa(9, 3, 4),
        Some(ImageType::D2ArrayMsaa) => ImageDesc::d2_array_msaa(9, 3, 2, 4),
        Some(ImageType::Cube) => ImageDesc::cube(5),
        Some(ImageType::CubeArray) => ImageDesc::cube_array(5, 2),
        Some(ImageType::D2) | None => ImageDesc::d2(9, 3),
    }
}

fn device() -> Device {
    Device::simulator(SimOptions {
        instruction_limit: 20_000,
        ..SimOptions::default()
    })
}

/// Source of few kernels, so that thousands of cases take seconds.
const SOURCE: &str = "
#define K __kernel __attribute__((intel_reqd_sub_group_size(SIMD)))
K void loops(__global const int *in, __global int *out, __local int *tmp, int n) {
    int i = get_global_id(0), l = get_local_id(0), s = 0;
    tmp[l] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = 0; j < n + (in[i] & 7); j++) {
        if (j & 1) { s += tmp[(l + j) & 31]; } else { s ^= j * in[i]; }
        if (s > 1000000) break;
    }
    atomic_add(&out[l & 3], s);
    out[i + 4] = s;
}
K void floats(__global const float4 *in, __global float4 *out, float k) {
    int i = get_global_id(0);
    float4 v = in[i];
    out[i] = native_sqrt(v) * k + (v.x > v.y ? floor(v) : fmax(v, 1.0f));
}
K void pictures(read_only image2d_t in, read_only image3d_t more, write_only image2d_t out, sampler_t s) {
    int2 p = (int2)(get_global_id(0), get_image_width(out) - 3);
    write_imagef(out, p, read_imagef(in, s, p) + read_imagef(more, s, (float4)(p.x)));
}
";

#[test]
fn cut_short() {
    if !have("ocloc") {
        return;
    }
    let whole = common::compile_source(SOURCE, 16, "");
    let d = device();
    let mut ended = [0; 3];
    for n in (0..whole.len()).step_by(7) {
        try_all(&d, &whole[..n], &mut ended);
    }
    assert_eq!(ended[0] + ended[1], 0, "a part of a zebin ran");
}

#[test]
fn flipped_anywhere() {
    if !have("ocloc") {
        return;
    }
    let seed = 31;
    println!("seed {seed}");
    let mut r = Rng(seed);
    let d = device();
    let mut ended = [0; 3];
    for simd in [8, 16, 32] {
        let whole = common::compile_source(SOURCE, simd, "");
        for _ in 0..400 {
            let mut b = whole.clone();
            for _ in 0..=r.below(3) {
                let at = r.below(b.len() as u64) as usize;
                b[at] ^= 1 << r.below(8);
            }
            try_all(&d, &b, &mut ended);
        }
    }
    assert!(ended.iter().all(|&n| n > 0), "{ended:?}");
}

#[test]
fn flipped_in_the_code() {
    if !have("ocloc") {
        return;
    }
    let seed = 32;
    println!("seed {seed}");
    let mut r = Rng(seed);
    let d = device();
    let mut ended = [0; 3];
    for simd in [8, 16, 32] {
        let whole = common::compile_source(SOURCE, simd, "");
        let code = Zebin::parse(&whole).unwrap().code;
        for _ in 0..500 {
            let mut b = whole.clone();
            for c in &code {
                for _ in 0..=r.below(3) {
                    let at = c.start + r.below(c.len() as u64) as usize;
                    b[at] ^= 1 << r.below(8);
                }
            }
            try_all(&d, &b, &mut ended);
        }
        // Random bytes that never were code.
        for _ in 0..150 {
            let mut b = whole.clone();
            for c in &code {
                for v in &mut b[c.clone()] {
                    *v = r.u64() as u8;
                }
            }
            try_all(&d, &b, &mut ended);
        }
    }
    assert_eq!(ended[2], 0, "code is not looked at when loading");
    assert!(ended[0] > 100 && ended[1] > 100, "{ended:?}");
}
