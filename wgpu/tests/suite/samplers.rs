//! Samplers against a plain model: filters by size and between levels, modes by coordinate, clamps.

use crate::common::{Gpu, TARGETS, extent, rows};
use wgpu::{AddressMode, FilterMode, MipmapFilterMode};

/// Texels of the first level of the texture.
const SIZE: [u32; 2] = [8, 4];
const LEVELS: u32 = 4;
/// Places that are sampled.
const PLACES: usize = 64;
/// Levels of detail, none of which is near to where another level or filter begins.
const LODS: [f32; 10] = [-9.0, -1.7, -0.3, 0.3, 0.7, 1.3, 1.8, 2.4, 3.3, 9.3];

const SHADER: &str = "
    @group(0) @binding(0) var source: texture_2d<f32>;
    @group(0) @binding(1) var by: sampler;
    @group(0) @binding(2) var<storage> places: array<vec4<f32>>;
    @group(0) @binding(3) var<storage, read_write> result: array<vec4<f32>>;
    @compute @workgroup_size(64)
    fn main(@builtin(global_invocation_id) id: vec3<u32>) {
        let p = places[id.x];
        let step = vec2(exp2(p.z) / 8.0, 0.0);
        result[id.x] = vec4(
            textureSampleLevel(source, by, p.xy, p.z).x,
            textureSampleLevel(source, by, p.xy, 0.0).x,
            textureSampleGrad(source, by, p.xy, step, step / 3.0).x,
            textureSampleGrad(source, by, p.xy, vec2(0.0), step.yx * 0.5).x,
        );
    }";

/// Returns the size of a level.
fn size(level: u32) -> [u32; 2] {
    SIZE.map(|n| (n >> level).max(1))
}

/// Returns a texel.
fn texel(level: u32, x: u32, y: u32) -> f32 {
    (level * 37 + x * 5 + y * 11) as f32 % 17.0
}

/// Returns the texel of a coordinate that may be outside.
fn wrapped(mode: AddressMode, i: i64, n: i64) -> u32 {
    let inside = match mode {
        AddressMode::Repeat => i.rem_euclid(n),
        AddressMode::MirrorRepeat => match i.rem_euclid(2 * n) {
            i if i < n => i,
            i => 2 * n - 1 - i,
        },
        _ => i.clamp(0, n - 1),
    };
    inside as u32
}

/// Samples one level.
fn in_level(s: &wgpu::SamplerDescriptor<'_>, filter: FilterMode, level: u32, at: [f32; 2]) -> f32 {
    let modes = [s.address_mode_u, s.address_mode_v];
    let size = size(level);
    let axes = [0, 1].map(|n| {
        let place = f64::from(at[n]) * f64::from(size[n]);
        let from = match filter {
            FilterMode::Linear => place - 0.5,
            FilterMode::Nearest => place,
        };
        let first = from.floor();
        let [a, b] = [0, 1].map(|k| wrapped(modes[n], first as i64 + k, size[n].into()));
        match filter {
            FilterMode::Linear => [(a, 1.0 - (from - first)), (b, from - first)],
            FilterMode::Nearest => [(a, 1.0), (b, 0.0)],
        }
    });
    let mut sum = 0.0;
    for (x, wx) in axes[0] {
        for (y, wy) in axes[1] {
            sum += f64::from(texel(level, x, y)) * wx * wy;
        }
    }
    sum as f32
}

/// Samples at a level of detail.
fn sampled(s: &wgpu::SamplerDescriptor<'_>, at: [f32; 2], lod: f32) -> f32 {
    let lod = lod.clamp(s.lod_min_clamp, s.lod_max_clamp);
    let filter = if lod <= 0.0 {
        s.mag_filter
    } else {
        s.min_filter
    };
    let lod = lod.clamp(0.0, (LEVELS - 1) as f32);
    match s.mipmap_filter {
        MipmapFilterMode::Nearest => in_level(s, filter, lod.round() as u32, at),
        MipmapFilterMode::Linear => {
            let weight = lod.fract();
            let [a, b] = [lod.floor(), lod.ceil()].map(|l| in_level(s, filter, l as u32, at));
            a * (1.0 - weight) + b * weight
        }
    }
}

/// Returns samplers that have all filters, and different modes and clamps.
fn samplers() -> Vec<wgpu::SamplerDescriptor<'static>> {
    use AddressMode::{ClampToEdge, MirrorRepeat, Repeat};
    let modes = [
        [ClampToEdge; 2],
        [Repeat, ClampToEdge],
        [MirrorRepeat, Repeat],
        [ClampToEdge, MirrorRepeat],
    ];
    let clamps = [[0.0, 32.0], [0.0, 1.25], [1.5, 32.0], [2.0, 2.0]];
    let filters = [FilterMode::Nearest, FilterMode::Linear];
    let mut out = Vec::new();
    for (n, mag_filter) in (0..).zip(filters) {
        for min_filter in filters {
            for mipmap_filter in [MipmapFilterMode::Nearest, MipmapFilterMode::Linear] {
                let k = out.len() + n;
                let [address_mode_u, address_mode_v] = modes[k % 4];
                let [lod_min_clamp, lod_max_clamp] = clamps[out.len() / 2 % 4];
                let some = wgpu::SamplerDescriptor {
                    address_mode_u,
                    address_mode_v,
                    mag_filter,
                    min_filter,
                    mipmap_filter,
                    ..Default::default()
                };
                out.push(some.clone());
                out.push(wgpu::SamplerDescriptor {
                    lod_min_clamp,
                    lod_max_clamp,
                    ..some
                });
            }
        }
    }
    out
}

fn texture(gpu: &Gpu) -> wgpu::Texture {
    use wgpu::TextureUsages as U;
    let texture = gpu.device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size: extent(SIZE),
        mip_level_count: LEVELS,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: wgpu::TextureFormat::R32Float,
        usage: U::TEXTURE_BINDING | U::COPY_DST,
        view_formats: &[],
    });
    for level in 0..LEVELS {
        let [width, height] = size(level);
        let texels: Vec<f32> = (0..height)
            .flat_map(|y| (0..width).map(move |x| texel(level, x, y)))
            .collect();
        let to = wgpu::TexelCopyTextureInfo {
            mip_level: level,
            ..texture.as_image_copy()
        };
        let bytes = bytemuck::cast_slice(&texels);
        let (layout, extent) = (rows(4 * width), extent([width, height]));
        gpu.queue.write_texture(to, bytes, layout, extent);
    }
    texture
}

/// Places are nowhere near an edge of a texel of any level.
fn places() -> Vec<[f32; 4]> {
    let place = |n: usize| {
        let along = |k: usize| (k % 53) as f32 * 0.0625 - 1.5 + 0.0137;
        [along(n * 7), along(n * 11 + 3), LODS[n % LODS.len()], 0.0]
    };
    (0..PLACES).map(place).collect()
}

#[test]
fn filters_modes_and_clamps_are_those_of_a_model() {
    let places = places();
    for target in TARGETS {
        let gpu = Gpu::open(target);
        let texture = texture(&gpu);
        let view = texture.create_view(&Default::default());
        let pipeline = gpu.pipeline(SHADER, &[]);
        let given = gpu.storage(bytemuck::cast_slice(&places));
        for s in samplers() {
            let sampler = gpu.device.create_sampler(&s);
            let result = gpu.storage(&[0; 4 * PLACES]);
            let group = gpu.group(
                &pipeline,
                &[
                    wgpu::BindingResource::TextureView(&view),
                    wgpu::BindingResource::Sampler(&sampler),
                    given.as_entire_binding(),
                    result.as_entire_binding(),
                ],
            );
            gpu.dispatch(&pipeline, &group, 1);
            let got = gpu.read(&result);
            for (place, got) in places.iter().zip(got.chunks(4)) {
                let [u, v, lod, _] = *place;
                // A step along rows is half as many texels.
                let want = [lod, 0.0, lod, lod - 2.0].map(|lod| sampled(&s, [u, v], lod));
                for (n, (got, want)) in got.iter().zip(want).enumerate() {
                    let got = f32::from_bits(*got);
                    let near = (got - want).abs() <= 1e-2;
                    assert!(near, "{target}, {n} of {place:?}: {got}, not {want}: {s:?}");
                }
            }
        }
    }
}

/// A device has no anisotropic filters, and clamps what is asked for.
#[test]
fn anisotropy_is_clamped() {
    let gpu = Gpu::open("tgllp");
    let scope = gpu.device.push_error_scope(wgpu::ErrorFilter::Validation);
    let _ = gpu.device.create_sampler(&wgpu::SamplerDescriptor {
        mag_filter: FilterMode::Linear,
        min_filter: FilterMode::Linear,
        mipmap_filter: MipmapFilterMode::Linear,
        anisotropy_clamp: 8,
        ..Default::default()
    });
    assert!(pollster::block_on(scope.pop()).is_none());
}
