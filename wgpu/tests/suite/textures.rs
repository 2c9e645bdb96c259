//! Textures: copies, loads, stores and samples.

use crate::common::{Gpu, TARGETS, extent, rows};

/// Blurs and stores texels of a level; copies rows in and out.
#[test]
fn texels_are_loaded_sampled_and_stored() {
    let text = "
        @group(0) @binding(0) var source: texture_2d<f32>;
        @group(0) @binding(1) var smooth_: sampler;
        @group(0) @binding(2) var result: texture_storage_2d<rgba8unorm, write>;
        @compute @workgroup_size(8, 8)
        fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let size = vec2<f32>(textureDimensions(source));
            let own = textureLoad(source, vec2<i32>(id.xy), 0);
            // Half of each of two texels.
            let mean = textureSampleLevel(source, smooth_, (vec2<f32>(id.xy) + vec2(1.0, 0.5)) / size, 0.0);
            textureStore(result, vec2<i32>(id.xy), vec4(own.r, mean.g, own.b, 1.0));
        }";
    for target in TARGETS {
        let gpu = Gpu::open(target);
        use wgpu::TextureUsages as U;
        let texture = |usage| gpu.texture([16, 8], wgpu::TextureFormat::Rgba8Unorm, usage);
        let from = texture(U::TEXTURE_BINDING | U::COPY_DST);
        let to = texture(U::STORAGE_BINDING | U::COPY_SRC);
        let texel = |x: u32, y: u32| [(x * 16) as u8, (x * 8 + y) as u8, (y * 4) as u8, 255];
        let texels: Vec<[u8; 4]> = (0..8)
            .flat_map(|y| (0..16).map(move |x| texel(x, y)))
            .collect();
        gpu.write_texture(&from, texels.as_flattened());
        let sampler = gpu.device.create_sampler(&wgpu::SamplerDescriptor {
            mag_filter: wgpu::FilterMode::Linear,
            min_filter: wgpu::FilterMode::Linear,
            ..Default::default()
        });
        let pipeline = gpu.pipeline(text, &[]);
        let [from_view, to_view] = [&from, &to].map(|t| t.create_view(&Default::default()));
        let group = gpu.group(
            &pipeline,
            &[
                wgpu::BindingResource::TextureView(&from_view),
                wgpu::BindingResource::Sampler(&sampler),
                wgpu::BindingResource::TextureView(&to_view),
            ],
        );
        gpu.submit(|encoder| {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.dispatch_workgroups(2, 1, 1);
        });
        let got = gpu.read_texture(&to);
        for (y, row) in (0..).zip(got.chunks(64)) {
            for x in 0..16 {
                let [r, g, b, a] = row[x as usize].to_le_bytes();
                let own = texel(x, y);
                let next = texel((x + 1).min(15), y);
                assert_eq!([r, b, a], [own[0], own[2], 255], "{target} at {x}, {y}");
                let mean = (u16::from(own[1]) + u16::from(next[1])) / 2;
                assert!(
                    u16::from(g).abs_diff(mean) <= 1,
                    "{target} at {x}, {y}: {g}, not {mean}"
                );
            }
            assert!(row[16..].iter().all(|t| *t == 0));
        }
    }
}

/// Views of some levels and some layers at once are read, written and sampled, as arrays, as single
/// textures and as cubes.
#[test]
fn views_have_some_levels_of_some_layers() {
    let text = "
        @group(0) @binding(0) var several: texture_2d_array<f32>;
        @group(0) @binding(1) var single: texture_2d<f32>;
        @group(0) @binding(2) var cube: texture_cube<f32>;
        @group(0) @binding(3) var nearest: sampler;
        @group(0) @binding(4) var written: texture_storage_2d<rgba8unorm, write>;
        @group(0) @binding(5) var<storage, read_write> out: array<u32>;
        fn word(t: vec4<f32>) -> u32 { return pack4x8unorm(t); }
        @compute @workgroup_size(8, 8)
        fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let at = id.xy;
            let flat = id.y * 8u + id.x;
            // Levels 1 to 3 of layers 2 to 4.
            var n = 0u;
            for (var level = 0u; level < textureNumLevels(several); level += 1u) {
                let size = textureDimensions(several, level);
                for (var layer = 0u; layer < textureNumLayers(several); layer += 1u) {
                    if all(at < size) {
                        out[n + at.y * size.x + at.x] = word(textureLoad(several, at, layer, level));
                    }
                    n += size.x * size.y;
                }
            }
            // Levels 2 and 3 of layer 4.
            for (var level = 0u; level < textureNumLevels(single); level += 1u) {
                let size = textureDimensions(single, level);
                if all(at < size) {
                    out[n + at.y * size.x + at.x] = word(textureLoad(single, at, level));
                }
                n += size.x * size.y;
            }
            // The middle of each face of level 1, of layers 1 to 6; it has an even size.
            var faces = array(
                vec3(1.0, 0.3, 0.3), vec3(-1.0, 0.3, 0.3), vec3(0.3, 1.0, 0.3),
                vec3(0.3, -1.0, 0.3), vec3(0.3, 0.3, 1.0), vec3(0.3, 0.3, -1.0));
            if flat < 6u {
                out[n + flat] = word(textureSampleLevel(cube, nearest, faces[flat], 1.0));
            }
            if all(at < textureDimensions(written)) {
                textureStore(written, at, unpack4x8unorm(0xff000000u + flat));
            }
        }";
    // A texel of level `l`, layer `z`.
    let texel = |l: u32, z: u32, x: u32, y: u32| [(x * 16 + y) as u8, z as u8, l as u8, 255];
    const LAYERS: u32 = 9;
    for target in TARGETS {
        let gpu = Gpu::open(target);
        use wgpu::TextureUsages as U;
        let texture = gpu.device.create_texture(&wgpu::TextureDescriptor {
            label: None,
            size: wgpu::Extent3d {
                width: 8,
                height: 8,
                depth_or_array_layers: LAYERS,
            },
            mip_level_count: 4,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::Rgba8Unorm,
            usage: U::TEXTURE_BINDING | U::COPY_DST | U::COPY_SRC | U::STORAGE_BINDING,
            view_formats: &[],
        });
        for level in 0..4 {
            let n = 8 >> level;
            let texels: Vec<[u8; 4]> = (0..LAYERS)
                .flat_map(|z| (0..n).flat_map(move |y| (0..n).map(move |x| texel(level, z, x, y))))
                .collect();
            gpu.queue.write_texture(
                wgpu::TexelCopyTextureInfo {
                    mip_level: level,
                    ..texture.as_image_copy()
                },
                texels.as_flattened(),
                wgpu::TexelCopyBufferLayout {
                    rows_per_image: Some(n),
                    ..rows(4 * n)
                },
                wgpu::Extent3d {
                    width: n,
                    height: n,
                    depth_or_array_layers: LAYERS,
                },
            );
        }
        use wgpu::TextureViewDimension as V;
        let view = |dimension, levels: std::ops::Range<u32>, layers: std::ops::Range<u32>| {
            texture.create_view(&wgpu::TextureViewDescriptor {
                dimension: Some(dimension),
                base_mip_level: levels.start,
                mip_level_count: Some(levels.end - levels.start),
                base_array_layer: layers.start,
                array_layer_count: Some(layers.end - layers.start),
                ..Default::default()
            })
        };
        let views = [
            view(V::D2Array, 1..4, 2..5),
            view(V::D2, 2..4, 4..5),
            view(V::Cube, 1..3, 1..7),
            view(V::D2, 1..2, 8..9),
        ];
        let pipeline = gpu.pipeline(text, &[]);
        let sampler = gpu.device.create_sampler(&Default::default());
        let out = gpu.storage(&[0; 256]);
        let group = gpu.group(
            &pipeline,
            &[
                wgpu::BindingResource::TextureView(&views[0]),
                wgpu::BindingResource::TextureView(&views[1]),
                wgpu::BindingResource::TextureView(&views[2]),
                wgpu::BindingResource::Sampler(&sampler),
                wgpu::BindingResource::TextureView(&views[3]),
                out.as_entire_binding(),
            ],
        );
        gpu.dispatch(&pipeline, &group, 1);
        let mut want: Vec<[u8; 4]> = Vec::new();
        for level in 1..4 {
            for z in 2..5 {
                let n = 8 >> level;
                want.extend((0..n * n).map(|i| texel(level, z, i % n, i / n)));
            }
        }
        for level in 2..4 {
            let n = 8 >> level;
            want.extend((0..n * n).map(|i| texel(level, 4, i % n, i / n)));
        }
        let got: Vec<[u8; 4]> = gpu.read(&out).iter().map(|w| w.to_le_bytes()).collect();
        assert_eq!(got[..want.len()], want, "{target}");
        for (face, t) in (1..7).zip(&got[want.len()..]) {
            assert_eq!([t[1], t[2], t[3]], [face, 2, 255], "{target}");
        }
        // What was stored, among texels that are not touched. Half of it is copied to another
        // layer.
        let written = gpu.storage(&[0; 64 * 4 * 2]);
        gpu.submit(|encoder| {
            let at = |x, z| wgpu::TexelCopyTextureInfo {
                mip_level: 1,
                origin: wgpu::Origin3d { x, y: 0, z },
                ..texture.as_image_copy()
            };
            encoder.copy_texture_to_texture(at(0, 8), at(2, 7), extent([2, 4]));
            let copy = wgpu::TexelCopyTextureInfo {
                mip_level: 1,
                origin: wgpu::Origin3d { x: 0, y: 0, z: 7 },
                ..texture.as_image_copy()
            };
            let to = wgpu::TexelCopyBufferInfo {
                buffer: &written,
                layout: wgpu::TexelCopyBufferLayout {
                    rows_per_image: Some(4),
                    ..rows(256)
                },
            };
            let size = wgpu::Extent3d {
                width: 4,
                height: 4,
                depth_or_array_layers: 2,
            };
            encoder.copy_texture_to_buffer(copy, to, size);
        });
        let got = gpu.read(&written);
        for i in 0..16 {
            let (x, y) = (i % 4, i / 4);
            let at = (y * 64 + x) as usize;
            let [before, now] = [got[at], got[at + 256]];
            let stored = |x: u32| 0xff00_0000 + y * 8 + x;
            match x.checked_sub(2) {
                None => assert_eq!(before.to_le_bytes(), texel(1, 7, x, y), "{target}"),
                Some(from) => assert_eq!(before, stored(from), "{target}"),
            }
            assert_eq!(now, stored(x), "{target}");
        }
    }
}
