//! Three kernels in WGSL, for times beside other drivers.

use crate::Gpu;
use crate::network::numbers;
use std::error::Error;
use wgpu::util::{BufferInitDescriptor, DeviceExt};

/// y = 3 x + y over 2^20 numbers.
pub const SAXPY: Kernel = Kernel {
    text: "
        @group(0) @binding(0) var<storage, read> x: array<f32>;
        @group(0) @binding(1) var<storage, read_write> y: array<f32>;
        @compute @workgroup_size(256)
        fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            y[id.x] = 3.0 * x[id.x] + y[id.x];
        }",
    count: 1 << 20,
    groups: [4096, 1],
};

/// Product of two matrices of 256 by 256, by tiles in the memory of a group.
pub const PRODUCT: Kernel = Kernel {
    text: "
        @group(0) @binding(0) var<storage, read> a: array<f32>;
        @group(0) @binding(1) var<storage, read_write> b: array<f32>;
        var<workgroup> left: array<array<f32, 16>, 16>;
        var<workgroup> right: array<array<f32, 16>, 16>;
        @compute @workgroup_size(16, 16)
        fn main(
            @builtin(global_invocation_id) id: vec3<u32>,
            @builtin(local_invocation_id) own: vec3<u32>,
        ) {
            var sum = 0.0;
            for (var at = 0u; at < 256u; at += 16u) {
                left[own.y][own.x] = a[id.y * 256u + at + own.x];
                right[own.y][own.x] = a[(at + own.y) * 256u + id.x];
                workgroupBarrier();
                for (var k = 0u; k < 16u; k++) { sum += left[own.y][k] * right[k][own.x]; }
                workgroupBarrier();
            }
            b[id.y * 256u + id.x] = sum;
        }",
    count: 256 * 256,
    groups: [16, 16],
};

/// Pull of 2048 bodies on each other.
pub const BODIES: Kernel = Kernel {
    text: "
        @group(0) @binding(0) var<storage, read> bodies: array<vec4<f32>>;
        @group(0) @binding(1) var<storage, read_write> pulls: array<vec4<f32>>;
        @compute @workgroup_size(64)
        fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let own = bodies[id.x].xyz;
            var pull = vec3(0.0);
            for (var i = 0u; i < arrayLength(&bodies); i++) {
                let to = bodies[i].xyz - own;
                let far = dot(to, to) + 0.01;
                pull += to * (abs(bodies[i].w) * inverseSqrt(far) / far);
            }
            pulls[id.x] = vec4(pull, 0.0);
        }",
    count: 4 * 2048,
    groups: [32, 1],
};

/// Kernel of two buffers, the second of which it changes.
pub struct Kernel {
    text: &'static str,
    /// Numbers of each buffer.
    count: usize,
    groups: [u32; 2],
}

impl Kernel {
    /// Compiles and runs the kernel. Returns the second buffer.
    ///
    /// # Errors
    /// The device is lost.
    pub fn run(&self, gpu: &Gpu) -> Result<Vec<f32>, Box<dyn Error>> {
        let Gpu { device, queue, .. } = gpu;
        let [x, y] = [1, 2].map(|seed| {
            device.create_buffer_init(&BufferInitDescriptor {
                label: None,
                contents: bytemuck::cast_slice(&numbers(seed, self.count)),
                usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
            })
        });
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(self.text.into()),
        });
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: None,
            module: &module,
            entry_point: None,
            compilation_options: Default::default(),
            cache: None,
        });
        let entries = [(0, &x), (1, &y)].map(|(binding, buffer)| wgpu::BindGroupEntry {
            binding,
            resource: buffer.as_entire_binding(),
        });
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipeline.get_bind_group_layout(0),
            entries: &entries,
        });
        let read = device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: y.size(),
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut encoder = device.create_command_encoder(&Default::default());
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(self.groups[0], self.groups[1], 1);
        drop(pass);
        encoder.copy_buffer_to_buffer(&y, 0, &read, 0, y.size());
        queue.submit([encoder.finish()]);
        read.map_async(wgpu::MapMode::Read, .., |_| ());
        device.poll(wgpu::PollType::wait_indefinitely())?;
        Ok(bytemuck::cast_slice(&read.slice(..).get_mapped_range()?).to_vec())
    }
}
