//! Formats of textures: what they can be used for, packed texels, and atomics.

use crate::common::{Gpu, TARGETS};
use wgpu::{TextureFormat as F, TextureUsages as U};

/// Formats of color and depth that WebGPU has without a feature, and those of 16 bits.
const FORMATS: [F; 45] = [
    F::R8Unorm,
    F::R8Snorm,
    F::R8Uint,
    F::R8Sint,
    F::R16Uint,
    F::R16Sint,
    F::R16Unorm,
    F::R16Snorm,
    F::R16Float,
    F::Rg8Unorm,
    F::Rg8Snorm,
    F::Rg8Uint,
    F::Rg8Sint,
    F::R32Uint,
    F::R32Sint,
    F::R32Float,
    F::Rg16Uint,
    F::Rg16Sint,
    F::Rg16Unorm,
    F::Rg16Snorm,
    F::Rg16Float,
    F::Rgba8Unorm,
    F::Rgba8UnormSrgb,
    F::Rgba8Snorm,
    F::Rgba8Uint,
    F::Rgba8Sint,
    F::Bgra8Unorm,
    F::Bgra8UnormSrgb,
    F::Rgb10a2Uint,
    F::Rgb10a2Unorm,
    F::Rg11b10Ufloat,
    F::Rgb9e5Ufloat,
    F::Rg32Uint,
    F::Rg32Sint,
    F::Rg32Float,
    F::Rgba16Uint,
    F::Rgba16Sint,
    F::Rgba16Unorm,
    F::Rgba16Snorm,
    F::Rgba16Float,
    F::Rgba32Uint,
    F::Rgba32Sint,
    F::Rgba32Float,
    F::Depth16Unorm,
    F::Depth32Float,
];

/// Every format does what WebGPU wants of it, but for rendering.
#[test]
fn formats_can_what_webgpu_wants() {
    let gpu = Gpu::open("tgllp");
    let rendering = U::RENDER_ATTACHMENT | U::TRANSIENT_ATTACHMENT;
    for format in FORMATS {
        let wanted = format.guaranteed_format_features(gpu.device.features());
        let found = gpu.adapter.get_texture_format_features(format);
        let missing = wanted.allowed_usages - rendering - found.allowed_usages;
        assert!(missing.is_empty(), "{format:?} lacks {missing:?}");
        use wgpu::TextureFormatFeatureFlags as Flags;
        let flags = Flags::FILTERABLE
            | Flags::STORAGE_READ_ONLY
            | Flags::STORAGE_WRITE_ONLY
            | Flags::STORAGE_READ_WRITE
            | Flags::STORAGE_ATOMIC;
        let missing = (wanted.flags & flags) - found.flags;
        assert!(missing.is_empty(), "{format:?} lacks {missing:?}");
    }
    let shared = gpu.adapter.get_texture_format_features(F::Rgb9e5Ufloat);
    assert!(!shared.allowed_usages.contains(U::STORAGE_BINDING));
}

const WIDTH: usize = 32;
const SIZE: [u32; 2] = [WIDTH as u32, 1];

/// Returns a texture of words.
fn filled(gpu: &Gpu, format: F, usage: U, words: &[u32]) -> wgpu::Texture {
    let texture = gpu.texture(SIZE, format, usage | U::COPY_DST);
    gpu.write_texture(&texture, bytemuck::cast_slice(words));
    texture
}

/// Reads a texture of words.
fn words(gpu: &Gpu, texture: &wgpu::Texture) -> Vec<u32> {
    gpu.read_texture(texture)[..WIDTH].to_vec()
}

/// Returns texels with bits of all kinds, whose floats are finite.
fn some_words() -> Vec<u32> {
    let word = |n: u32| {
        let word = n.wrapping_mul(0x9e37_79b9) ^ (n << 7);
        // Exponents of 15 at most, in all three floats.
        word & 0x7fdf_fbff
    };
    let mut all: Vec<u32> = (0..WIDTH as u32).map(word).collect();
    all[1] = 1;
    all[2] = 3 << 30;
    all
}

/// Returns a float of 5 bits of exponent and some of mantissa.
fn small_float(bits: u32, mantissa: i32) -> f64 {
    let exponent = (bits >> mantissa) as i32;
    let rest = f64::from(bits & ((1 << mantissa) - 1)) / 2f64.powi(mantissa);
    match exponent {
        0 => rest * 2f64.powi(-14),
        e => (1.0 + rest) * 2f64.powi(e - 15),
    }
}

/// Returns the components of a texel.
fn components(format: F, w: u32) -> [f64; 4] {
    let field = |at: u32, bits: u32| w >> at & ((1 << bits) - 1);
    match format {
        F::Rgb10a2Unorm => {
            let part = |at| f64::from(field(at, 10)) / 1023.0;
            [part(0), part(10), part(20), f64::from(w >> 30) / 3.0]
        }
        F::Rgb10a2Uint => [field(0, 10), field(10, 10), field(20, 10), w >> 30].map(f64::from),
        F::Rg11b10Ufloat => [
            small_float(field(0, 11), 6),
            small_float(field(11, 11), 6),
            small_float(field(22, 10), 5),
            1.0,
        ],
        _ => {
            let scale = 2f64.powi((w >> 27) as i32 - 24);
            let [r, g, b] = [0, 9, 18].map(|at| f64::from(field(at, 9)) * scale);
            [r, g, b, 1.0]
        }
    }
}

#[test]
fn packed_texels_are_loaded_and_sampled() {
    let floats = "
        @group(0) @binding(0) var source: texture_2d<f32>;
        @group(0) @binding(1) var by: sampler;
        @group(0) @binding(2) var<storage, read_write> result: array<array<vec4<f32>, 2>>;
        @compute @workgroup_size(32)
        fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let at = (f32(id.x) + 1.0) / 32.0;
            result[id.x][0] = textureLoad(source, vec2(id.x, 0u), 0);
            result[id.x][1] = textureSampleLevel(source, by, vec2(at, 0.5), 0.0);
        }";
    let whole = "
        @group(0) @binding(0) var source: texture_2d<u32>;
        @group(0) @binding(1) var<storage, read_write> result: array<array<vec4<f32>, 2>>;
        @compute @workgroup_size(32)
        fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            result[id.x][0] = vec4<f32>(textureLoad(source, vec2(id.x, 0u), 0));
        }";
    let all = some_words();
    for target in TARGETS {
        let gpu = Gpu::open(target);
        for format in [
            F::Rgb10a2Unorm,
            F::Rgb10a2Uint,
            F::Rg11b10Ufloat,
            F::Rgb9e5Ufloat,
        ] {
            let is_whole = format == F::Rgb10a2Uint;
            let texture = filled(&gpu, format, U::TEXTURE_BINDING, &all);
            let view = texture.create_view(&Default::default());
            let sampler = gpu.device.create_sampler(&wgpu::SamplerDescriptor {
                mag_filter: wgpu::FilterMode::Linear,
                ..Default::default()
            });
            let result = gpu.storage(&[0; 8 * WIDTH]);
            let pipeline = gpu.pipeline(if is_whole { whole } else { floats }, &[]);
            let mut bound = vec![
                wgpu::BindingResource::TextureView(&view),
                wgpu::BindingResource::Sampler(&sampler),
                result.as_entire_binding(),
            ];
            if is_whole {
                bound.remove(1);
            }
            let group = gpu.group(&pipeline, &bound);
            gpu.dispatch(&pipeline, &group, 1);
            let got = gpu.read(&result);
            for (n, got) in got.chunks(8).enumerate() {
                let own = components(format, all[n]);
                let next = components(format, all[(n + 1).min(WIDTH - 1)]);
                for c in 0..4 {
                    let mean = if is_whole {
                        0.0
                    } else {
                        (own[c] + next[c]) / 2.0
                    };
                    for (got, want) in [(got[c], own[c]), (got[4 + c], mean)] {
                        let got = f64::from(f32::from_bits(got));
                        let near = (got - want).abs() <= 1e-6 * want.abs().max(1e-3);
                        assert!(near, "{target}, {format:?}, {n}: {got}, not {want}");
                    }
                }
            }
        }
    }
}

#[test]
fn packed_texels_are_stored() {
    let text = |format: &str, of: &str, to: &str| {
        format!(
            "@group(0) @binding(0) var source: texture_2d<{of}>;
            @group(0) @binding(1) var result: texture_storage_2d<{format}, write>;
            @compute @workgroup_size(32)
            fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
                let texel = textureLoad(source, vec2(id.x, 0u), 0);
                textureStore(result, vec2(id.x, 0u), {to});
            }}"
        )
    };
    // Sums whose bits are those of the texels; a texel out of range.
    let all = some_words();
    for target in TARGETS {
        let gpu = Gpu::open(target);
        for (format, name, of) in [
            (F::Rgb10a2Unorm, "rgb10a2unorm", "f32"),
            (F::Rgb10a2Uint, "rgb10a2uint", "u32"),
            (F::Rg11b10Ufloat, "rg11b10ufloat", "f32"),
        ] {
            let from = filled(&gpu, format, U::TEXTURE_BINDING, &all);
            for (to, change) in [("texel", false), (&*format!("texel * {of}(3)"), true)] {
                let stored = gpu.texture(SIZE, format, U::STORAGE_BINDING | U::COPY_SRC);
                let pipeline = gpu.pipeline(&text(name, of, to), &[]);
                let views = [&from, &stored].map(|t| t.create_view(&Default::default()));
                let bound = views.each_ref().map(wgpu::BindingResource::TextureView);
                let group = gpu.group(&pipeline, &bound);
                gpu.dispatch(&pipeline, &group, 1);
                for (got, from) in words(&gpu, &stored).into_iter().zip(&all) {
                    if !change {
                        assert_eq!(got, *from, "{target}, {format:?}");
                        continue;
                    }
                    let most = match format {
                        F::Rgb10a2Unorm => [1.0; 4],
                        F::Rgb10a2Uint => [1023.0, 1023.0, 1023.0, 3.0],
                        _ => [65024.0, 65024.0, 64512.0, 1.0],
                    };
                    let (parts, olds) = (components(format, got), components(format, *from));
                    for ((got, old), most) in parts.into_iter().zip(olds).zip(most) {
                        let want = (3.0 * old).min(most);
                        let step = match format {
                            F::Rg11b10Ufloat => (want / 60.0).max(2f64.powi(-19)),
                            _ => 1e-3,
                        };
                        let near = (got - want).abs() <= step;
                        assert!(near, "{target}, {format:?}, {from:#x}: {got}, not {want}");
                    }
                }
            }
        }
    }
}

#[test]
fn texels_are_updated_at_once() {
    let text = "
        @group(0) @binding(0) var counts: texture_storage_2d<r32uint, atomic>;
        @group(0) @binding(1) var least: texture_storage_2d<r32sint, atomic>;
        @compute @workgroup_size(64)
        fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            textureAtomicAdd(counts, vec2(id.x % 7u, 0u), 1u);
            textureAtomicMax(counts, vec2(8u + id.x % 3u, 0u), id.x);
            textureAtomicOr(counts, vec2(12u, 0u), 1u << (id.x % 20u));
            // Outside.
            textureAtomicAdd(counts, vec2(32u + id.x, 0u), 1u);
            textureAtomicMin(least, vec2(id.x % 5u, 0u), 3 - i32(id.x));
        }";
    for target in TARGETS {
        let gpu = Gpu::open(target);
        let usage = U::STORAGE_BINDING | U::STORAGE_ATOMIC | U::COPY_SRC;
        let counts = filled(&gpu, F::R32Uint, usage, &[0; WIDTH]);
        let least = filled(&gpu, F::R32Sint, usage, &[9; WIDTH]);
        let pipeline = gpu.pipeline(text, &[]);
        let views = [&counts, &least].map(|t| t.create_view(&Default::default()));
        let bound = views.each_ref().map(wgpu::BindingResource::TextureView);
        let group = gpu.group(&pipeline, &bound);
        gpu.dispatch(&pipeline, &group, 10);
        let all = 640u32;
        let mut want = vec![0; WIDTH];
        for n in 0..7 {
            want[n as usize] = (0..all).filter(|i| i % 7 == n).count() as u32;
        }
        for n in 0..3u32 {
            want[8 + n as usize] = (0..all).filter(|i| i % 3 == n).max().unwrap();
        }
        want[12] = (1 << 20) - 1;
        assert_eq!(words(&gpu, &counts), want, "{target}");
        let mut want = vec![9; WIDTH];
        for n in 0..5 {
            let last = (0..640).filter(|i| i % 5 == n).max().unwrap();
            want[n as usize] = 3 - last;
        }
        let want: Vec<u32> = want.into_iter().map(|v: i32| v as u32).collect();
        assert_eq!(words(&gpu, &least), want, "{target}");
    }
}
