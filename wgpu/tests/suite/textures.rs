//! Textures: copies, loads, stores and samples.

use crate::common::{Gpu, TARGETS};

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
        let size = wgpu::Extent3d {
            width: 16,
            height: 8,
            depth_or_array_layers: 1,
        };
        use wgpu::TextureUsages as U;
        let texture = |usage| {
            gpu.device.create_texture(&wgpu::TextureDescriptor {
                label: None,
                size,
                mip_level_count: 1,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format: wgpu::TextureFormat::Rgba8Unorm,
                usage,
                view_formats: &[],
            })
        };
        let from = texture(U::TEXTURE_BINDING | U::COPY_DST);
        let to = texture(U::STORAGE_BINDING | U::COPY_SRC);
        let texel = |x: u32, y: u32| [(x * 16) as u8, (x * 8 + y) as u8, (y * 4) as u8, 255];
        let texels: Vec<[u8; 4]> = (0..8)
            .flat_map(|y| (0..16).map(move |x| texel(x, y)))
            .collect();
        gpu.queue.write_texture(
            from.as_image_copy(),
            texels.as_flattened(),
            wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(64),
                rows_per_image: None,
            },
            size,
        );
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
        let out = gpu.storage(&[0; 64 * 8]);
        gpu.submit(|encoder| {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.dispatch_workgroups(2, 1, 1);
            drop(pass);
            encoder.copy_texture_to_buffer(
                to.as_image_copy(),
                wgpu::TexelCopyBufferInfo {
                    buffer: &out,
                    layout: wgpu::TexelCopyBufferLayout {
                        offset: 0,
                        bytes_per_row: Some(256),
                        rows_per_image: None,
                    },
                },
                size,
            );
        });
        let got = gpu.read(&out);
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
