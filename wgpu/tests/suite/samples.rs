//! Compute shaders of webgpu-samples, from a checkout that `GANTRY_WEBGPU_SAMPLES` names.

use crate::common::{Gpu, TARGETS};
use std::path::PathBuf;
use wgpu::BufferUsages as U;

/// Samples of a checkout.
struct Samples(PathBuf);

impl Samples {
    /// Returns the checkout. Without one, says so.
    fn open() -> Option<Samples> {
        let found = std::env::var_os("GANTRY_WEBGPU_SAMPLES");
        if found.is_none() {
            println!("skipped: GANTRY_WEBGPU_SAMPLES names no checkout of webgpu-samples");
        }
        Some(Samples(PathBuf::from(found?).join("sample")))
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).unwrap()
    }
}

/// Resource of a shader.
enum Bound<'a> {
    Buffer(&'a wgpu::Buffer),
    Texture(&'a wgpu::Texture),
    Sampler(&'a wgpu::Sampler),
}

/// Shader with its resources: group, binding, resource.
struct Shader<'a> {
    gpu: &'a Gpu,
    pipeline: wgpu::ComputePipeline,
}

impl<'a> Shader<'a> {
    fn new(gpu: &'a Gpu, text: &str, entry: &str, constants: &[(&str, f64)]) -> Shader<'a> {
        let pipeline = gpu.pipeline_of(text, Some(entry), constants, None);
        Shader { gpu, pipeline }
    }

    fn run(&self, resources: &[(u32, u32, Bound<'_>)], groups: [u32; 2]) {
        let views: Vec<_> = resources
            .iter()
            .map(|(.., r)| match r {
                Bound::Texture(t) => Some(t.create_view(&Default::default())),
                _ => None,
            })
            .collect();
        let last = resources.iter().map(|(group, ..)| *group).max();
        self.gpu.submit(|encoder| {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(&self.pipeline);
            for index in 0..=last.unwrap_or_default() {
                let own = resources.iter().zip(&views).filter(|(r, _)| r.0 == index);
                let entries: Vec<_> = own
                    .filter_map(|((_, binding, resource), view)| {
                        let resource = match resource {
                            Bound::Buffer(b) => b.as_entire_binding(),
                            Bound::Sampler(s) => wgpu::BindingResource::Sampler(s),
                            Bound::Texture(_) => wgpu::BindingResource::TextureView(view.as_ref()?),
                        };
                        let binding = *binding;
                        Some(wgpu::BindGroupEntry { binding, resource })
                    })
                    .collect();
                let group = self
                    .gpu
                    .device
                    .create_bind_group(&wgpu::BindGroupDescriptor {
                        label: None,
                        layout: &self.pipeline.get_bind_group_layout(index),
                        entries: &entries,
                    });
                pass.set_bind_group(index, &group, &[]);
            }
            pass.dispatch_workgroups(groups[0], groups[1], 1);
        });
    }
}

fn words(numbers: &[f32]) -> Vec<u32> {
    numbers.iter().map(|n| n.to_bits()).collect()
}

fn floats(words: &[u32]) -> Vec<f32> {
    words.iter().map(|w| f32::from_bits(*w)).collect()
}

fn random(count: usize) -> impl Iterator<Item = u32> {
    (0..count as u32).map(|i| i.wrapping_add(17).wrapping_mul(2_654_435_761) >> 7)
}

/// Creates a texture of 64 texels in each row, 4 bytes each.
fn texture(gpu: &Gpu, format: wgpu::TextureFormat, rows: u32, texels: &[u32]) -> wgpu::Texture {
    use wgpu::TextureUsages as T;
    let stores = if format == wgpu::TextureFormat::Rgba8Unorm && texels.is_empty() {
        T::STORAGE_BINDING | T::COPY_SRC
    } else {
        T::TEXTURE_BINDING | T::COPY_DST
    };
    let texture = gpu.texture([64, rows], format, stores);
    if !texels.is_empty() {
        gpu.write_texture(&texture, bytemuck::cast_slice(texels));
    }
    texture
}

fn read_texture(gpu: &Gpu, texture: &wgpu::Texture) -> Vec<[u8; 4]> {
    let words = gpu.read_texture(texture);
    words.into_iter().map(u32::to_le_bytes).collect()
}

#[test]
fn game_of_life() {
    let Some(samples) = Samples::open() else {
        return;
    };
    let start: Vec<u32> = random(32 * 16).map(|n| n & 1).collect();
    let cell = |x: usize, y: usize| start[y % 16 * 32 + x % 32];
    let next = |i: usize| {
        let (x, y) = (i % 32, i / 32);
        let around = (0..9).filter(|k| *k != 4);
        let n: u32 = around.map(|k| cell(x + k % 3 + 31, y + k / 3 + 15)).sum();
        u32::from(n == 3 || n == 2 && cell(x, y) == 1)
    };
    // The shader's own wrapping: -1 is 2^32 - 1, which 16 and 32 divide into as hoped.
    let want: Vec<u32> = (0..32 * 16).map(next).collect();
    for target in TARGETS {
        let gpu = Gpu::open(target);
        let shader = Shader::new(&gpu, &samples.read("gameOfLife/compute.wgsl"), "main", &[]);
        let (size, now) = (gpu.storage(&[32, 16]), gpu.storage(&start));
        let to = gpu.storage(&[9; 32 * 16]);
        let all = [&size, &now, &to].map(Bound::Buffer);
        let all: Vec<_> = (0..).zip(all).map(|(n, b)| (0, n, b)).collect();
        shader.run(&all, [4, 2]);
        assert_eq!(gpu.read(&to), want, "{target}");
    }
}

/// The birds are the same on all targets, and none is faster than the shader allows.
#[test]
fn boids() {
    let Some(samples) = Samples::open() else {
        return;
    };
    let start: Vec<f32> = random(4 * 200)
        .map(|n| (n & 0xffff) as f32 / 32768.0 - 1.0)
        .collect();
    let mut first: Option<Vec<f32>> = None;
    for target in TARGETS {
        let gpu = Gpu::open(target);
        let text = samples.read("computeBoids/updateSprites.wgsl");
        let shader = Shader::new(&gpu, &text, "main", &[]);
        let params = words(&[0.04, 0.1, 0.025, 0.025, 0.02, 0.05, 0.005]);
        let params = gpu.buffer(&params, U::UNIFORM);
        let [a, b] = [gpu.storage(&words(&start)), gpu.storage(&words(&start))];
        for (from, to) in [(&a, &b), (&b, &a)] {
            let all = [&params, from, to].map(Bound::Buffer);
            let all: Vec<_> = (0..).zip(all).map(|(n, b)| (0, n, b)).collect();
            shader.run(&all, [4, 1]);
        }
        let got = floats(&gpu.read(&a));
        for bird in got.chunks(4) {
            assert!(bird[2].hypot(bird[3]) < 0.1001, "{target}: {bird:?}");
        }
        let first = first.get_or_insert_with(|| got.clone());
        let near = got.iter().zip(&*first).all(|(a, b)| (a - b).abs() < 1e-3);
        assert!(near && got != start, "{target}");
    }
}

#[test]
fn deferred_lights() {
    let Some(samples) = Samples::open() else {
        return;
    };
    let lights: Vec<f32> = random(8 * 100).map(|n| (n & 0xff) as f32 / 16.0).collect();
    let mut want = lights.clone();
    for (n, light) in want.chunks_mut(8).enumerate() {
        light[1] = light[1] - 0.5 - 0.003 * (n % 64) as f32;
        if light[1] < 4.0 {
            light[1] = 40.0;
        }
    }
    for target in TARGETS {
        let gpu = Gpu::open(target);
        let text = samples.read("deferredRendering/lightUpdate.wgsl");
        let shader = Shader::new(&gpu, &text, "main", &[]);
        let data = gpu.storage(&words(&lights));
        let count = gpu.buffer(&[100, 0, 0, 0], U::UNIFORM);
        let extent = words(&[0.0, 4.0, 0.0, 0.0, 0.0, 40.0, 0.0, 0.0]);
        let extent = gpu.buffer(&extent, U::UNIFORM);
        let all = [&data, &count, &extent].map(Bound::Buffer);
        let all: Vec<_> = (0..).zip(all).map(|(n, b)| (0, n, b)).collect();
        shader.run(&all, [2, 1]);
        let got = floats(&gpu.read(&data));
        let near = got.iter().zip(&want).all(|(a, b)| (a - b).abs() < 1e-4);
        assert!(near, "{target}");
    }
}

#[test]
fn picked_primitive_and_atomic() {
    let Some(samples) = Samples::open() else {
        return;
    };
    let texels: Vec<u32> = random(64 * 4).collect();
    for target in TARGETS {
        let gpu = Gpu::open(target);
        let text = samples.read("primitivePicking/computePickPrimitive.wgsl");
        let shader = Shader::new(&gpu, &text, "main", &[]);
        let mut frame = [0f32; 36];
        frame[32..34].copy_from_slice(&[37.5, 2.25]);
        let frame = gpu.storage(&words(&frame));
        let texture = texture(&gpu, wgpu::TextureFormat::R32Uint, 4, &texels);
        let all = [
            (0, 0, Bound::Buffer(&frame)),
            (0, 1, Bound::Texture(&texture)),
        ];
        shader.run(&all, [1, 1]);
        assert_eq!(gpu.read(&frame)[34], texels[2 * 64 + 37], "{target}");

        let text = samples.read("bitonicSort/atomicToZero.wgsl");
        let shader = Shader::new(&gpu, &text, "atomicToZero", &[]);
        let counter = gpu.storage(&[77, 5]);
        shader.run(&[(0, 3, Bound::Buffer(&counter))], [1, 1]);
        assert_eq!(gpu.read(&counter), [0, 5], "{target}");
    }
}

/// The text of the sort is a template in TypeScript.
#[test]
fn bitonic_sort() {
    let Some(samples) = Samples::open() else {
        return;
    };
    let script = samples.read("bitonicSort/bitonicCompute.ts");
    let text = script.split('`').nth(1).unwrap();
    let text = text.replace("${workgroupSize * 2}", "128");
    let text = text.replace("${workgroupSize}", "64");
    let numbers: Vec<u32> = random(512).collect();
    let mut want = numbers.clone();
    want.sort_unstable();
    for target in TARGETS {
        let gpu = Gpu::open(target);
        let shader = Shader::new(&gpu, &text, "computeMain", &[]);
        let mut from = gpu.storage(&numbers);
        let counter = gpu.storage(&[0]);
        let mut step = |algorithm: u32, height: u32| {
            // The global steps write only what they swap.
            let to = gpu.storage(&gpu.read(&from));
            let uniforms = [0, 0, algorithm, height];
            let uniforms = gpu.buffer(&uniforms, U::UNIFORM);
            let all = [&from, &to, &uniforms, &counter].map(Bound::Buffer);
            let all: Vec<_> = (0..).zip(all).map(|(n, b)| (0, n, b)).collect();
            shader.run(&all, [4, 1]);
            from = to;
        };
        let mut highest = 2;
        while highest <= 512 {
            step(if highest <= 128 { 1 } else { 3 }, highest);
            let mut height = highest / 2;
            while height > 1 {
                step(if height <= 128 { 2 } else { 4 }, height);
                height /= 2;
            }
            highest *= 2;
        }
        assert_eq!(gpu.read(&from), want, "{target}");
    }
}

#[test]
fn image_blur() {
    let Some(samples) = Samples::open() else {
        return;
    };
    let texels: Vec<u32> = random(64 * 40).map(|n| n | 0xff00_0000).collect();
    let byte = |x: i32, y: i32, c: usize| {
        let at = y.clamp(0, 39) as usize * 64 + x.clamp(0, 63) as usize;
        f32::from(texels[at].to_le_bytes()[c])
    };
    for target in TARGETS {
        let gpu = Gpu::open(target);
        let shader = Shader::new(&gpu, &samples.read("imageBlur/blur.wgsl"), "main", &[]);
        let sampler = gpu.device.create_sampler(&wgpu::SamplerDescriptor {
            mag_filter: wgpu::FilterMode::Linear,
            min_filter: wgpu::FilterMode::Linear,
            ..Default::default()
        });
        // A filter of 15 texels: blocks of 114 are written.
        let params = gpu.buffer(&[15, 114], U::UNIFORM);
        let flip = gpu.buffer(&[0], U::UNIFORM);
        let from = texture(&gpu, wgpu::TextureFormat::Rgba8Unorm, 40, &texels);
        let to = texture(&gpu, wgpu::TextureFormat::Rgba8Unorm, 40, &[]);
        let all = [
            (0, 0, Bound::Sampler(&sampler)),
            (0, 1, Bound::Buffer(&params)),
            (1, 1, Bound::Texture(&from)),
            (1, 2, Bound::Texture(&to)),
            (1, 3, Bound::Buffer(&flip)),
        ];
        shader.run(&all, [1, 10]);
        for (i, got) in read_texture(&gpu, &to).into_iter().enumerate() {
            let (x, y) = (i as i32 % 64, i as i32 / 64);
            for c in 0..3 {
                let mean = (-7..=7).map(|k| byte(x + k, y, c)).sum::<f32>() / 15.0;
                let far = (f32::from(got[c]) - mean).abs();
                assert!(far < 1.0, "{target} at {x}, {y}: {got:?}, not {mean}");
            }
        }
    }
}

#[test]
fn probability_map() {
    let Some(samples) = Samples::open() else {
        return;
    };
    let text = samples.read("particles/probabilityMap.wgsl");
    let texels: Vec<u32> = random(64 * 2).map(|n| n << 7).collect();
    let alphas: Vec<f32> = texels.iter().map(|t| (t >> 24) as f32 / 255.0).collect();
    for target in TARGETS {
        let gpu = Gpu::open(target);
        let from = texture(&gpu, wgpu::TextureFormat::Rgba8Unorm, 2, &texels);
        let ubo = gpu.buffer(&[64, 0, 0, 0], U::UNIFORM);
        let [none, weights, sums] = [(); 3].map(|()| gpu.storage(&[0; 64 * 2]));
        let shader = Shader::new(&gpu, &text, "import_level", &[]);
        let all = [
            (0, 0, Bound::Buffer(&ubo)),
            (0, 1, Bound::Buffer(&none)),
            (0, 2, Bound::Buffer(&weights)),
            (0, 3, Bound::Texture(&from)),
        ];
        shader.run(&all, [1, 2]);
        let got = floats(&gpu.read(&weights));
        let near = got.iter().zip(&alphas).all(|(a, b)| (a - b).abs() < 1e-5);
        assert!(near, "{target}");
        let to = texture(&gpu, wgpu::TextureFormat::Rgba8Unorm, 1, &[]);
        let shader = Shader::new(&gpu, &text, "export_level", &[]);
        let all = [
            (0, 0, Bound::Buffer(&ubo)),
            (0, 1, Bound::Buffer(&weights)),
            (0, 2, Bound::Buffer(&sums)),
            (0, 3, Bound::Texture(&to)),
        ];
        shader.run(&all, [1, 1]);
        let sums = floats(&gpu.read(&sums));
        for x in 0..32 {
            let four = [0, 1, 64, 65].map(|k| alphas[2 * x + k]);
            let mean = four.iter().sum::<f32>() / 4.0;
            assert!((sums[x] - mean).abs() < 1e-5, "{target} at {x}");
            let first = read_texture(&gpu, &to)[x][0];
            let want = 255.0 * four[0] / (4.0 * mean).max(1e-4);
            assert!((f32::from(first) - want).abs() < 1.0, "{target} at {x}");
        }
    }
}

/// The others become pipelines on every target: they are parts of pictures that are rendered.
#[test]
fn cornell_box_and_particles() {
    let Some(samples) = Samples::open() else {
        return;
    };
    let common = samples.read("cornell/common.wgsl");
    let radiosity = samples.read("cornell/radiosity.wgsl") + &common;
    let raytracer = samples.read("cornell/raytracer.wgsl") + &common;
    let tonemapper = samples.read("cornell/tonemapper.wgsl");
    let tonemapper = tonemapper.replace("{OUTPUT_FORMAT}", "rgba8unorm") + &common;
    let particles = samples.read("particles/particle.wgsl");
    let size: &[(&str, f64)] = &[("WorkgroupSizeX", 16.0), ("WorkgroupSizeY", 16.0)];
    let photons: &[(&str, f64)] = &[
        ("PhotonsPerWorkgroup", 256.0),
        ("PhotonEnergy", 100_000.0),
        ("AccumulationToLightmapWorkgroupSizeX", 16.0),
        ("AccumulationToLightmapWorkgroupSizeY", 16.0),
    ];
    for target in TARGETS {
        let gpu = Gpu::open(target);
        Shader::new(&gpu, &radiosity, "radiosity", &photons[..2]);
        Shader::new(&gpu, &radiosity, "accumulation_to_lightmap", &photons[2..]);
        Shader::new(&gpu, &raytracer, "main", size);
        Shader::new(&gpu, &tonemapper, "main", size);
        Shader::new(&gpu, &particles, "simulate", &[]);
    }
}
