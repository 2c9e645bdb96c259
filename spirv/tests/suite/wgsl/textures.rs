//! Textures of WGSL on every platform, by samplers and by plain memory accesses: levels, gradients,
//! cubes, comparisons, formats. Judged by plain Rust.

use crate::targets::TARGETS;
use gantry_codegen::{CompileOptions, compile};
use gantry_runtime::{
    AddressMode, ChannelOrder, ChannelType, Compare, Device, FilterMode, Image, ImageDesc,
    ImageFormat, Launch, Sampler, SimOptions, Watch,
};
use gantry_spirv::wgsl::translate_wgsl;
use gantry_spirv::{Options, Simd};

/// Runs the entry point `main` on every platform, at two widths, and compares the buffer at binding
/// 0 with what is wanted. `bind` binds the rest.
fn check(
    text: &str,
    groups: u32,
    want: &[f32],
    bind: impl for<'k> Fn(&Device, Launch<'k>) -> Launch<'k>,
) {
    for target in TARGETS {
        for simd in [8, 16] {
            let options = Options {
                simd: Simd::Width(simd),
                ..Options::default()
            };
            let module = translate_wgsl(text, &options).unwrap().module;
            let mut options = CompileOptions::for_target(target).unwrap();
            options.check = true;
            let zebin = compile(&module, &options).unwrap().zebin;
            let device = Device::simulator(SimOptions::default());
            let kernel = device.load(&zebin).unwrap().kernel("main").unwrap();
            let out = device.buffer(4 * want.len()).unwrap();
            let watch = Watch::new().hazards();
            let launch = kernel.dispatch([groups, 1, 1]).bind(0, 0, &out);
            bind(&device, launch).watch(&watch).run().unwrap();
            assert!(watch.report().hazards.is_empty(), "{target}");
            let got: Vec<f32> = out.read().unwrap();
            for (n, (g, w)) in got.iter().zip(want).enumerate() {
                let near = (g - w).abs() <= 2e-5 * w.abs().max(1.0);
                assert!(near, "{target}, SIMD{simd}, {n}: {g}, not {w}");
            }
        }
    }
}

fn image(device: &Device, order: ChannelOrder, channel: ChannelType, desc: ImageDesc) -> Image {
    let format = ImageFormat::new(order, channel).unwrap();
    device.image(format, desc).unwrap()
}

/// A float image of which each texel is `of(n)`.
fn singles(device: &Device, desc: ImageDesc, of: fn(u32) -> f32) -> Image {
    let i = image(device, ChannelOrder::R, ChannelType::Float, desc);
    let texels: Vec<f32> = (0..desc.texels() as u32).map(of).collect();
    i.write(&texels).unwrap();
    i
}

fn linear() -> Sampler {
    Sampler::new(AddressMode::ClampToEdge, FilterMode::Linear).normalized()
}

/// Value of a texel by its number.
fn value(n: u32) -> f32 {
    (n * n % 97) as f32 * 0.5
}

/// First texel of a level, and its sizes.
fn level(size: [u32; 2], layers: u32, level: u32) -> (u32, [u32; 2]) {
    let at = |l: u32| size.map(|n| (n >> l).max(1));
    let before = (0..level).map(|l| at(l)[0] * at(l)[1] * layers).sum();
    (before, at(level))
}

/// Bilinear filter of a layer of a level, clamped to its edge.
fn bilinear(size: [u32; 2], layers: u32, l: u32, layer: u32, u: f32, v: f32) -> f32 {
    let (first, [w, h]) = level(size, layers, l);
    let axis = |c: f32, n: u32| {
        let from = c * n as f32 - 0.5;
        let texel = |i: f32| i.clamp(0.0, (n - 1) as f32) as u32;
        (
            texel(from.floor()),
            texel(from.floor() + 1.0),
            from - from.floor(),
        )
    };
    let ((x0, x1, a), (y0, y1, b)) = (axis(u, w), axis(v, h));
    let at = |x, y| value(first + (layer * h + y) * w + x);
    let row = |y| at(x0, y) * (1.0 - a) + at(x1, y) * a;
    row(y0) * (1.0 - b) + row(y1) * b
}

#[test]
fn levels_of_an_array() {
    let text = "
@group(0) @binding(0) var<storage, read_write> o: array<f32>;
@group(0) @binding(1) var t: texture_2d_array<f32>;
@group(0) @binding(2) var s: sampler;
@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let n = id.x;
    let l = n % 4u;
    let at = vec2f(f32(n * 5u % 32u) + 0.5, f32(n * 11u % 32u) + 0.5) / 32.0;
    o[n] = textureSampleLevel(t, s, at, n / 16u, f32(l)).x;
    o[32u + n] = textureLoad(t, vec2u(n % 3u, n % 2u), n % 2u, l).x;
    let size = textureDimensions(t, l);
    o[64u + n] = f32(size.x * 100u + size.y * 10u + textureNumLayers(t) + textureNumLevels(t));
    let step = f32(1u << l) / 13.0;
    o[96u + n] = textureSampleGrad(t, s, at, 1, vec2f(step, 0.0), vec2f(0.0, 0.25 * step)).x;
}
";
    let (size, layers) = ([13, 6], 2);
    let mut want = vec![0.0; 128];
    for n in 0..32u32 {
        let (l, k) = (n % 4, n as usize);
        let [u, v] = [5, 11].map(|by| ((n * by % 32) as f32 + 0.5) / 32.0);
        want[k] = bilinear(size, layers, l, n / 16, u, v);
        let (first, [w, h]) = level(size, layers, l);
        let (x, y) = (n % 3, n % 2);
        // Outside it is zero.
        want[32 + k] = if x < w && y < h {
            value(first + (n % 2 * h + y) * w + x)
        } else {
            0.0
        };
        want[64 + k] = (w * 100 + h * 10 + layers + 4) as f32;
        want[96 + k] = bilinear(size, layers, l, 1, u, v);
    }
    check(text, 1, &want, |device, launch| {
        let desc = ImageDesc::d2_array(13, 6, 2).with_levels(4);
        let t = singles(device, desc, value);
        launch.bind(0, 1, &t).bind(0, 2, linear())
    });
}

/// The value of a cube's texel tells its face, its place and its level.
#[test]
fn cubes() {
    let text = "
@group(0) @binding(0) var<storage, read_write> o: array<f32>;
@group(0) @binding(1) var t: texture_cube<f32>;
@group(0) @binding(2) var s: sampler;
@group(0) @binding(3) var many: texture_cube_array<f32>;
@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let n = id.x;
    let face = n % 6u;
    var d = vec3f(0.25, -0.75, 0.5);
    let sign = select(1.0, -1.0, face % 2u == 1u);
    d[face / 2u] = sign;
    o[n] = textureSampleLevel(t, s, d, 0.0).x;
    o[16u + n] = textureSampleLevel(t, s, d, f32(n / 6u)).x;
    o[32u + n] = textureSampleLevel(many, s, d, n / 6u, 0.0).x;
    // A step of one texel of the level along the face.
    var step = vec3f(0.0);
    step[(face / 2u + 1u) % 3u] = f32(1u << (n / 6u)) * 2.0 / 8.0;
    o[48u + n] = textureSampleGrad(t, s, d, step, 0.5 * step).x;
    o[64u + n] = f32(textureDimensions(t, n / 6u).x * 10u + textureDimensions(many).y
        + 100u * textureNumLayers(many) + 1000u * textureNumLevels(t));
}
";
    // Face, and columns and rows as shares of the face.
    let place = |face: usize| {
        let mut d = [0.25, -0.75, 0.5f32];
        d[face / 2] = if face % 2 == 1 { -1.0 } else { 1.0 };
        let [x, y, z] = d;
        let (s, t) = [(-z, -y), (z, -y), (x, z), (x, -z), (x, -y), (-x, -y)][face];
        [s, t].map(|c| (c + 1.0) / 2.0)
    };
    let nearest = |size: u32, l: u32, face: usize, cube: u32| {
        let (first, [w, _]) = level([size, size], 6, l);
        let [x, y] = place(face).map(|c| (c * w as f32).floor() as u32);
        value(first + ((6 * cube + face as u32) * w + y) * w + x)
    };
    let mut want = vec![0.0; 80];
    for n in 0..16usize {
        let (face, l) = (n % 6, (n / 6) as u32);
        want[n] = nearest(8, 0, face, 0);
        want[16 + n] = nearest(8, l, face, 0);
        want[32 + n] = nearest(4, 0, face, l);
        want[48 + n] = nearest(8, l, face, 0);
        want[64 + n] = ((8 >> l) * 10 + 4 + 300 + 4000) as f32;
    }
    check(text, 1, &want, |device, launch| {
        let t = singles(device, ImageDesc::cube(8).with_levels(4), value);
        let many = singles(device, ImageDesc::cube_array(4, 3), value);
        let s = Sampler::new(AddressMode::Repeat, FilterMode::Nearest).normalized();
        launch.bind(0, 1, &t).bind(0, 2, s).bind(0, 3, &many)
    });
}

#[test]
fn comparisons_of_depths() {
    let text = "
@group(0) @binding(0) var<storage, read_write> o: array<f32>;
@group(0) @binding(1) var t: texture_depth_2d;
@group(0) @binding(2) var s: sampler_comparison;
@group(0) @binding(3) var cube: texture_depth_cube;
@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let n = id.x;
    let reference = f32(n) / 16.0;
    o[n] = textureSampleCompareLevel(t, s, vec2f(0.5), reference);
    let four = textureGatherCompare(t, s, vec2f(0.5), reference);
    o[16u + n] = four.x + 2.0 * four.y + 4.0 * four.z + 8.0 * four.w;
    o[32u + n] = textureSampleCompareLevel(cube, s, vec3f(0.0, 1.0, 0.0), reference);
}
";
    // Rows are (0.25, 0.5), (0.75, 0.125). A gather begins at the lower left and goes around.
    let order = [0.75, 0.125, 0.5, 0.25];
    let mut want = vec![0.0; 48];
    for n in 0..16 {
        let less = |d: f32| f32::from(u8::from((n as f32 / 16.0) < d));
        want[n] = order.iter().map(|d| less(*d) / 4.0).sum();
        let bits = order.iter().zip([1.0, 2.0, 4.0, 8.0]);
        want[16 + n] = bits.map(|(d, bit)| less(*d) * bit).sum();
        want[32 + n] = less(0.625);
    }
    check(text, 1, &want, |device, launch| {
        let depths = |desc: ImageDesc, texels: &[f32]| {
            let i = image(device, ChannelOrder::Depth, ChannelType::Float, desc);
            i.write(texels).unwrap();
            i
        };
        let t = depths(ImageDesc::d2(2, 2), &[0.25, 0.5, 0.75, 0.125]);
        let cube = depths(ImageDesc::cube(1), &[0.0, 0.0, 0.625, 0.0, 0.0, 0.0]);
        let s = linear().comparing(Compare::Less);
        launch.bind(0, 1, &t).bind(0, 2, s).bind(0, 3, &cube)
    });
}

/// Formats that textures are read in, with the components that they lack.
#[test]
fn formats_of_sampled_textures() {
    let text = "
@group(0) @binding(0) var<storage, read_write> o: array<vec4f>;
@group(0) @binding(1) var t_bgra: texture_2d<f32>;
@group(0) @binding(2) var t_snorm: texture_2d<f32>;
@group(0) @binding(3) var t_srgb: texture_2d<f32>;
@group(0) @binding(4) var t_half: texture_2d<f32>;
@group(0) @binding(5) var t_unorm: texture_2d<f32>;
@group(0) @binding(6) var t_words: texture_2d<u32>;
@group(0) @binding(7) var t_bytes: texture_1d<i32>;
@compute @workgroup_size(4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let at = vec2u(id.x, 0u);
    o[id.x] = textureLoad(t_bgra, at, 0);
    o[4u + id.x] = textureLoad(t_snorm, at, 0);
    o[8u + id.x] = textureLoad(t_srgb, at, 0);
    o[12u + id.x] = textureLoad(t_half, at, 0);
    o[16u + id.x] = textureLoad(t_unorm, at, 0);
    o[20u + id.x] = vec4f(textureLoad(t_words, at, 0));
    o[24u + id.x] = vec4f(textureLoad(t_bytes, id.x, 0));
}
";
    let raw: Vec<u8> = (0..16u8)
        .map(|n| n.wrapping_mul(77).wrapping_add(5))
        .collect();
    let mut want: Vec<f32> = Vec::new();
    let unorm = |n: usize| f32::from(raw[n]) / 255.0;
    let snorm = |n: usize| (f32::from(raw[n] as i8) / 127.0).max(-1.0);
    let linear = |c: f32| match c {
        c if c <= 0.04045 => c / 12.92,
        c => ((c + 0.055) / 1.055).powf(2.4),
    };
    (0..4).for_each(|n| want.extend([2, 1, 0, 3].map(|c| unorm(4 * n + c))));
    (0..4).for_each(|n| want.extend([snorm(2 * n), snorm(2 * n + 1), 0.0, 1.0]));
    (0..4).for_each(|n| {
        want.extend([0, 1, 2].map(|c| linear(unorm(4 * n + c))));
        want.push(unorm(4 * n + 3));
    });
    (0..4).for_each(|n| want.extend([n as f32 - 1.5, 0.0, 0.0, 1.0]));
    (0..4).for_each(|n| {
        let short = |k: usize| u16::from_le_bytes([raw[2 * k], raw[2 * k + 1]]);
        want.extend([
            f32::from(short(2 * n)) / 65535.0,
            f32::from(short(2 * n + 1)) / 65535.0,
        ]);
        want.extend([0.0, 1.0]);
    });
    (0..4).for_each(|n| want.extend([0, 1, 2, 3].map(|c| (100_000 * n + c) as f32)));
    (0..4).for_each(|n| want.extend([f32::from(raw[n] as i8), 0.0, 0.0, 1.0]));
    check(text, 1, &want, |device, launch| {
        let made = |order, channel, desc| {
            let i = image(device, order, channel, desc);
            let bytes = i.byte_len();
            i.write(&raw[..bytes.min(raw.len())]).unwrap();
            i
        };
        let row = ImageDesc::d2(4, 1);
        let half = image(device, ChannelOrder::R, ChannelType::HalfFloat, row);
        // -1.5, -0.5, 0.5, 1.5.
        half.write(&[0xbe00u16, 0xb800, 0x3800, 0x3e00]).unwrap();
        let words = image(device, ChannelOrder::Rgba, ChannelType::UnsignedInt32, row);
        let texels: Vec<u32> = (0..16).map(|n| n / 4 * 100_000 + n % 4).collect();
        words.write(&texels).unwrap();
        launch
            .bind(0, 1, made(ChannelOrder::Bgra, ChannelType::UnormInt8, row))
            .bind(0, 2, made(ChannelOrder::Rg, ChannelType::SnormInt8, row))
            .bind(0, 3, made(ChannelOrder::Srgba, ChannelType::UnormInt8, row))
            .bind(0, 4, &half)
            .bind(0, 5, made(ChannelOrder::Rg, ChannelType::UnormInt16, row))
            .bind(0, 6, &words)
            .bind(
                0,
                7,
                made(ChannelOrder::R, ChannelType::SignedInt8, ImageDesc::d1(4)),
            )
    });
}

/// Formats that storage textures are written in: what is stored is loaded again as it is rounded.
#[test]
fn formats_of_storage_textures() {
    let text = "
@group(0) @binding(0) var<storage, read_write> o: array<vec4f>;
@group(0) @binding(1) var t_bytes: texture_storage_2d<rgba8unorm, write>;
@group(0) @binding(2) var t_snorm: texture_storage_2d<rgba8snorm, write>;
@group(0) @binding(3) var t_half: texture_storage_2d<rgba16float, write>;
@group(0) @binding(4) var t_pairs: texture_storage_3d<rg32uint, write>;
@group(0) @binding(5) var t_small: texture_storage_2d<rgba8sint, write>;
@group(0) @binding(6) var t_single: texture_storage_2d<r32float, read_write>;
@group(0) @binding(7) var t_bgra: texture_storage_2d<bgra8unorm, write>;
@compute @workgroup_size(4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let n = f32(id.x);
    let v = vec4f(n * 0.3, n - 1.0, 0.5, -n) * 1.5;
    textureStore(t_bytes, id.xy, v);
    textureStore(t_snorm, id.xy, v);
    textureStore(t_half, id.xy, v);
    textureStore(t_pairs, vec3u(id.x % 2u, 0u, id.x / 2u), vec4u(id.x, 70000u * id.x, 9u, 9u));
    textureStore(t_small, id.xy, vec4i(i32(id.x) * 100, -300, 7, -1));
    textureStore(t_single, vec2u(id.x, 1u), textureLoad(t_single, vec2u(id.x, 0u)) * 2.0);
    // Outside.
    textureStore(t_single, vec2u(id.x + 4u, 0u), vec4f(9.0));
    textureStore(t_bgra, id.xy, v);
    o[id.x] = v;
}
";
    let texel = |n: u32| {
        let n = n as f32;
        [n * 0.3, n - 1.0, 0.5, -n].map(|c| c * 1.5)
    };
    let want: Vec<f32> = (0..4).flat_map(texel).collect();
    for target in TARGETS {
        let options = Options::default();
        let module = translate_wgsl(text, &options).unwrap().module;
        let options = CompileOptions::for_target(target).unwrap();
        let zebin = compile(&module, &options).unwrap().zebin;
        let device = Device::simulator(SimOptions::default());
        let kernel = device.load(&zebin).unwrap().kernel("main").unwrap();
        let out = device.buffer(64).unwrap();
        let row = ImageDesc::d2(4, 1);
        let rgba = |channel| image(&device, ChannelOrder::Rgba, channel, row);
        let bytes = rgba(ChannelType::UnormInt8);
        let snorm = rgba(ChannelType::SnormInt8);
        let half = rgba(ChannelType::HalfFloat);
        let volume = ImageDesc::d3(2, 1, 2);
        let pairs = image(
            &device,
            ChannelOrder::Rg,
            ChannelType::UnsignedInt32,
            volume,
        );
        let small = rgba(ChannelType::SignedInt8);
        let single = singles(&device, ImageDesc::d2(4, 2), |n| n as f32);
        let bgra = image(&device, ChannelOrder::Bgra, ChannelType::UnormInt8, row);
        let images = [&bytes, &snorm, &half, &pairs, &small, &single, &bgra];
        let mut launch = kernel.dispatch([1, 1, 1]).bind(0, 0, &out);
        for (n, image) in (1..).zip(images) {
            launch = launch.bind(0, n, image);
        }
        launch.run().unwrap();
        assert_eq!(out.read::<f32>().unwrap(), want, "{target}");
        let unorm = |c: f32| (c.clamp(0.0, 1.0) * 255.0).round_ties_even() as u8;
        let stored: Vec<u8> = want.iter().map(|c| unorm(*c)).collect();
        assert_eq!(bytes.read::<u8>().unwrap(), stored, "{target}");
        let swapped: Vec<u8> = stored
            .chunks(4)
            .flat_map(|c| [c[2], c[1], c[0], c[3]])
            .collect();
        assert_eq!(bgra.read::<u8>().unwrap(), swapped, "{target}");
        let stored = want.iter().map(|c| (c * 127.0).round_ties_even() as i8);
        assert_eq!(
            snorm.read::<i8>().unwrap(),
            stored.collect::<Vec<_>>(),
            "{target}"
        );
        let stored = want.iter().map(|c| half::f16::from_f32(*c).to_bits());
        assert_eq!(
            half.read::<u16>().unwrap(),
            stored.collect::<Vec<_>>(),
            "{target}"
        );
        let stored: Vec<u32> = (0..4).flat_map(|n| [n, 70000 * n]).collect();
        assert_eq!(pairs.read::<u32>().unwrap(), stored, "{target}");
        let stored: Vec<i8> = [0, 100, 127, 127]
            .into_iter()
            .flat_map(|first| [first, -128, 7, -1])
            .collect();
        assert_eq!(small.read::<i8>().unwrap(), stored, "{target}");
        assert_eq!(
            single.read::<f32>().unwrap(),
            [0.0, 1.0, 2.0, 3.0, 0.0, 2.0, 4.0, 6.0],
            "{target}"
        );
    }
}

/// Arrays of bindings whose length only the host tells, by constants and by indices.
#[test]
fn arrays_without_a_length() {
    let text = "
enable wgpu_binding_array;
struct Words { n: array<u32> }
@group(0) @binding(0) var textures: binding_array<texture_2d<f32>>;
@group(0) @binding(1) var s: sampler;
@group(0) @binding(2) var<storage, read_write> buffers: binding_array<Words>;
@compute @workgroup_size(8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let n = buffers[0].n[id.x];
    let texel = textureSampleLevel(textures[n], s, vec2f(0.5), 0.0).x;
    buffers[n].n[id.x] += u32(texel) + arrayLength(&buffers[1].n);
}
";
    let refused = translate_wgsl(text, &Options::default())
        .unwrap_err()
        .to_string();
    assert!(
        refused.contains("neither the module nor an option tells"),
        "{refused}"
    );
    for target in TARGETS {
        let options = Options {
            binding_arrays: [((0, 0), 3), ((0, 2), 3)].into(),
            ..Options::default()
        };
        let module = translate_wgsl(text, &options).unwrap().module;
        let options = CompileOptions::for_target(target).unwrap();
        let zebin = compile(&module, &options).unwrap().zebin;
        let device = Device::simulator(SimOptions::default());
        let kernel = device.load(&zebin).unwrap().kernel("main").unwrap();
        // The fourth and the last two are beyond.
        let which = device.buffer_from(&[0u32, 1, 2, 3, 2, 1, 4, 9]).unwrap();
        let others = [
            device.buffer_from(&[7u32; 8]).unwrap(),
            device.buffer_from(&[9u32; 8]).unwrap(),
        ];
        let textures = [10.0f32, 20.0, 30.0].map(|v| {
            let i = image(
                &device,
                ChannelOrder::R,
                ChannelType::Float,
                ImageDesc::d2(1, 1),
            );
            i.write(&[v]).unwrap();
            i
        });
        let mut launch = kernel
            .dispatch([1, 1, 1])
            .bind(0, 1, linear())
            .bind(0, 2, &which);
        for (n, b) in (1..).zip(&others) {
            launch = launch.bind_element(0, 2, n, b);
        }
        for (n, t) in (0..).zip(&textures) {
            launch = launch.bind_element(0, 0, n, t);
        }
        launch.run().unwrap();
        assert_eq!(
            which.read::<u32>().unwrap(),
            [18, 1, 2, 3, 2, 1, 4, 9],
            "{target}"
        );
        assert_eq!(
            others[0].read::<u32>().unwrap(),
            [7, 35, 7, 7, 7, 35, 7, 7],
            "{target}"
        );
        assert_eq!(
            others[1].read::<u32>().unwrap(),
            [9, 9, 47, 9, 47, 9, 9, 9],
            "{target}"
        );
    }
}
