//! Measures what a dispatch costs on the host, beside the same launch by the runtime:
//! `cargo run --release -p gantry-wgpu --example dispatches`.

use gantry::codegen::CompileOptions;
use gantry::runtime::{Device, DeviceKind, QueueOptions};
use std::error::Error;
use std::time::Instant;

const EMPTY: &str = "@compute @workgroup_size(1) fn main() { }";
const COUNT: u32 = 10_000;

/// Returns the least time of a dispatch in several runs, in microseconds.
fn least(mut run: impl FnMut() -> Result<(), Box<dyn Error>>) -> Result<f64, Box<dyn Error>> {
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let start = Instant::now();
        run()?;
        best = best.min(start.elapsed().as_secs_f64() * 1e6 / f64::from(COUNT));
    }
    Ok(best)
}

fn main() -> Result<(), Box<dyn Error>> {
    let own = Device::open(DeviceKind::Simulator)?;
    let target = CompileOptions::for_device(&own.info())?;
    let options = gantry::spirv::Options::default();
    let compiled = gantry::compile_wgsl(EMPTY, &options, &target)?;
    let kernel = own.load(&compiled.zebin)?.kernel("main")?;
    let queue = own.queue(QueueOptions::default());
    let by_runtime = least(|| {
        for _ in 0..COUNT {
            queue.launch(kernel.dispatch([1; 3]))?;
        }
        queue.finish();
        Ok(())
    })?;

    let instance = gantry_wgpu::instance(&gantry_wgpu::Options::default())?;
    let adapter = pollster::block_on(instance.request_adapter(&Default::default()))?;
    let (device, queue) = pollster::block_on(adapter.request_device(&Default::default()))?;
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(EMPTY.into()),
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &module,
        entry_point: None,
        compilation_options: Default::default(),
        cache: None,
    });
    let record = |count| {
        let mut encoder = device.create_command_encoder(&Default::default());
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&pipeline);
        for _ in 0..count {
            pass.dispatch_workgroups(1, 1, 1);
        }
        drop(pass);
        encoder.finish()
    };
    let wait = || device.poll(wgpu::PollType::wait_indefinitely());
    let one_pass = least(|| {
        queue.submit([record(COUNT)]);
        wait()?;
        Ok(())
    })?;
    let submissions = least(|| {
        for _ in 0..COUNT {
            queue.submit([record(1)]);
        }
        wait()?;
        Ok(())
    })?;
    println!("microseconds for each of {COUNT} empty dispatches:");
    println!("{by_runtime:7.2} launches on a queue of the runtime");
    println!("{one_pass:7.2} dispatches in one pass");
    println!("{submissions:7.2} submissions of one dispatch");
    Ok(())
}
