//! Birds that fly and are drawn by compute shaders.

use std::error::Error;
use wgpu::util::{BufferInitDescriptor, DeviceExt};

/// Width and height of a frame.
pub(crate) const SIZE: u32 = 256;

/// Number of birds.
pub(crate) const BIRDS: u32 = 300;

const SHADER: &str = "
    struct Bird { at: vec2<f32>, speed: vec2<f32> }
    @group(0) @binding(0) var<storage, read> before: array<Bird>;
    @group(0) @binding(1) var<storage, read_write> after: array<Bird>;
    @group(0) @binding(2) var frame: texture_storage_2d<rgba8unorm, write>;

    @compute @workgroup_size(64)
    fn fly(@builtin(global_invocation_id) id: vec3<u32>) {
        if id.x >= arrayLength(&before) { return; }
        var own = before[id.x];
        var middle = vec2(0.0);
        var heading = vec2(0.0);
        var away = vec2(0.0);
        var near = 0.0;
        for (var i = 0u; i < arrayLength(&before); i++) {
            let other = before[i];
            let between = other.at - own.at;
            if i == id.x || length(between) > 0.2 { continue; }
            near += 1.0;
            middle += between;
            heading += other.speed;
            if length(between) < 0.04 { away -= between; }
        }
        if near > 0.0 {
            own.speed += 0.02 * middle / near + 0.05 * heading / near + 0.1 * away;
        }
        own.speed = normalize(own.speed) * clamp(length(own.speed), 0.005, 0.02);
        // The edges are one: who leaves comes back on the other side.
        own.at = fract(own.at + own.speed + 1.0);
        after[id.x] = own;
    }

    @compute @workgroup_size(8, 8)
    fn clear(@builtin(global_invocation_id) id: vec3<u32>) {
        textureStore(frame, id.xy, vec4(0.02, 0.03, 0.08, 1.0));
    }

    @compute @workgroup_size(64)
    fn draw(@builtin(global_invocation_id) id: vec3<u32>) {
        if id.x >= arrayLength(&before) { return; }
        let bird = before[id.x];
        let direction = normalize(bird.speed);
        let color = vec4(0.5 + 0.5 * direction, 0.9, 1.0);
        for (var k = 0; k < 6; k++) {
            let at = bird.at * vec2<f32>(textureDimensions(frame)) - f32(k) * direction;
            textureStore(frame, vec2<i32>(at), color);
        }
    }
";

/// Returns where the birds are first, and where they fly.
pub(crate) fn birds() -> Vec<[f32; 4]> {
    let fraction = |n: u32, by: f32| (n as f32 * by).fract();
    let bird = |n| {
        let (sin, cos) = (std::f32::consts::TAU * fraction(n, 0.377)).sin_cos();
        [
            fraction(n, 0.618),
            fraction(n, 0.754),
            0.01 * cos,
            0.01 * sin,
        ]
    };
    (0..BIRDS).map(bird).collect()
}

/// Places and velocities of the birds, and the pixels of a frame.
type Flight = (Vec<[f32; 4]>, Vec<u8>);

/// Lets the birds fly for some steps and draws them. Returns them, and the pixels of the frame.
pub(crate) fn fly(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    birds: &[[f32; 4]],
    steps: usize,
) -> Result<Flight, Box<dyn Error>> {
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(SHADER.into()),
    });
    let pipeline = |entry| {
        device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: None,
            module: &module,
            entry_point: Some(entry),
            compilation_options: Default::default(),
            cache: None,
        })
    };
    let [step, clear, draw] = ["fly", "clear", "draw"].map(pipeline);
    let [mut from, mut to] = [(); 2].map(|()| {
        device.create_buffer_init(&BufferInitDescriptor {
            label: None,
            contents: bytemuck::cast_slice(birds),
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
        })
    });
    let frame = device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size: wgpu::Extent3d {
            width: SIZE,
            height: SIZE,
            depth_or_array_layers: 1,
        },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: wgpu::TextureFormat::Rgba8Unorm,
        usage: wgpu::TextureUsages::STORAGE_BINDING | wgpu::TextureUsages::COPY_SRC,
        view_formats: &[],
    });
    let view = frame.create_view(&Default::default());
    let group = |pipeline: &wgpu::ComputePipeline, resources: &[(u32, wgpu::BindingResource)]| {
        let entries: Vec<_> = resources
            .iter()
            .map(|(binding, resource)| wgpu::BindGroupEntry {
                binding: *binding,
                resource: resource.clone(),
            })
            .collect();
        device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipeline.get_bind_group_layout(0),
            entries: &entries,
        })
    };
    let mut encoder = device.create_command_encoder(&Default::default());
    let mut pass = encoder.begin_compute_pass(&Default::default());
    pass.set_pipeline(&step);
    for _ in 0..steps {
        let both = [(0, from.as_entire_binding()), (1, to.as_entire_binding())];
        pass.set_bind_group(0, &group(&step, &both), &[]);
        pass.dispatch_workgroups(BIRDS.div_ceil(64), 1, 1);
        std::mem::swap(&mut from, &mut to);
    }
    let picture = (2, wgpu::BindingResource::TextureView(&view));
    pass.set_pipeline(&clear);
    pass.set_bind_group(0, &group(&clear, std::slice::from_ref(&picture)), &[]);
    pass.dispatch_workgroups(SIZE / 8, SIZE / 8, 1);
    pass.set_pipeline(&draw);
    let drawn = [(0, from.as_entire_binding()), picture];
    pass.set_bind_group(0, &group(&draw, &drawn), &[]);
    pass.dispatch_workgroups(BIRDS.div_ceil(64), 1, 1);
    drop(pass);
    let [flown, pixels] = [from.size(), u64::from(SIZE * SIZE * 4)].map(|size| {
        device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size,
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        })
    });
    encoder.copy_buffer_to_buffer(&from, 0, &flown, 0, from.size());
    let layout = wgpu::TexelCopyBufferLayout {
        offset: 0,
        bytes_per_row: Some(SIZE * 4),
        rows_per_image: None,
    };
    let to = wgpu::TexelCopyBufferInfo {
        buffer: &pixels,
        layout,
    };
    encoder.copy_texture_to_buffer(frame.as_image_copy(), to, frame.size());
    queue.submit([encoder.finish()]);
    for buffer in [&flown, &pixels] {
        buffer.map_async(wgpu::MapMode::Read, .., |_| ());
    }
    device.poll(wgpu::PollType::wait_indefinitely())?;
    let birds = bytemuck::cast_slice(&flown.slice(..).get_mapped_range()?).to_vec();
    let pixels = pixels.slice(..).get_mapped_range()?.to_vec();
    Ok((birds, pixels))
}
