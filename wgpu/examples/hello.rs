//! Doubles numbers by a WGSL kernel: `cargo run --release -p gantry-wgpu --example hello`.

use wgpu::util::{BufferInitDescriptor, DeviceExt};

const KERNEL: &str = "
    @group(0) @binding(0) var<storage, read_write> data: array<u32>;
    @compute @workgroup_size(64)
    fn double(@builtin(global_invocation_id) id: vec3<u32>) { data[id.x] *= 2u; }
";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let instance = gantry_wgpu::instance(&gantry_wgpu::Options::default())?;
    let adapter = pollster::block_on(instance.request_adapter(&Default::default()))?;
    let (device, queue) = pollster::block_on(adapter.request_device(&Default::default()))?;
    let numbers: Vec<u32> = (0..1000).collect();
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
    let data = device.create_buffer_init(&BufferInitDescriptor {
        label: None,
        contents: bytemuck::cast_slice(&numbers),
        usage,
    });
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(KERNEL.into()),
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &module,
        entry_point: None,
        compilation_options: Default::default(),
        cache: None,
    });
    let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[wgpu::BindGroupEntry {
            binding: 0,
            resource: data.as_entire_binding(),
        }],
    });
    let mut encoder = device.create_command_encoder(&Default::default());
    let mut pass = encoder.begin_compute_pass(&Default::default());
    pass.set_pipeline(&pipeline);
    pass.set_bind_group(0, &group, &[]);
    pass.dispatch_workgroups(1000u32.div_ceil(64), 1, 1);
    drop(pass);
    let read = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: data.size(),
        usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    encoder.copy_buffer_to_buffer(&data, 0, &read, 0, data.size());
    queue.submit([encoder.finish()]);
    read.map_async(wgpu::MapMode::Read, .., |_| ());
    device.poll(wgpu::PollType::wait_indefinitely())?;
    let bytes = read.slice(..).get_mapped_range()?;
    let doubled: &[u32] = bytemuck::cast_slice(&bytes);
    println!("{:?} .. on {}", &doubled[..8], adapter.get_info().name);
    Ok(())
}
