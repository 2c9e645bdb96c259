//! Pipeline caches: data that a program stores and brings back.
#![allow(
    unsafe_code,
    reason = "wgpu trusts the data of a pipeline cache, as drivers do"
)]

use crate::common::Gpu;
use std::time::Instant;

const KERNEL: &str = "
    @group(0) @binding(0) var<storage, read_write> data: array<u32>;
    @compute @workgroup_size(64)
    fn main(@builtin(global_invocation_id) id: vec3<u32>) {
        for (var i = 0u; i < 20u; i++) { data[id.x] = data[id.x] * 3u + i; }
    }";

fn cache(gpu: &Gpu, data: Option<&[u8]>, fallback: bool) -> wgpu::PipelineCache {
    let desc = wgpu::PipelineCacheDescriptor {
        label: None,
        data,
        fallback,
    };
    // SAFETY: Gantry checks the data against its digest.
    unsafe { gpu.device.create_pipeline_cache(&desc) }
}

/// Runs the kernel by a cache of some data. Returns the result and the data afterwards.
fn run(gpu: &Gpu, data: Option<&[u8]>, fallback: bool) -> (Vec<u32>, Vec<u8>) {
    let cache = cache(gpu, data, fallback);
    let pipeline = gpu.pipeline_of(KERNEL, None, &[], Some(&cache));
    let words = gpu.storage(&[7; 64]);
    let group = gpu.group(&pipeline, &[words.as_entire_binding()]);
    gpu.dispatch(&pipeline, &group, 1);
    (gpu.read(&words), cache.get_data().unwrap())
}

#[test]
fn pipelines_come_from_stored_data() {
    for target in ["skl", "tgllp", "pvc"] {
        let gpu = Gpu::open(target);
        let start = Instant::now();
        let (want, data) = run(&gpu, None, false);
        let first = start.elapsed();
        assert!(data.len() > 1000, "{target}: the kernel is in it");
        // Another device, as after a restart, takes the data and adds nothing.
        let other = Gpu::open(target);
        let start = Instant::now();
        let (got, again) = run(&other, Some(&data), false);
        println!("{target}: {first:?}, then {:?}", start.elapsed());
        assert_eq!((got, &again), (want.clone(), &data), "{target}");
        // Damage of the shader's bytes is a miss; what is stored then is whole again.
        let mut damaged = data.clone();
        let last = damaged.len() - 1;
        damaged[last] ^= 1;
        let (got, again) = run(&other, Some(&damaged), true);
        assert_eq!((got, &again), (want, &data), "{target}");
    }
}

/// The rules of wgpu: data of another device is an error. Data that is cut off is one, unless a
/// fallback is asked for.
#[test]
fn data_of_other_devices_is_refused() {
    let (want, data) = run(&Gpu::open("skl"), None, false);
    let gpu = Gpu::open("dg2");
    let error = |data: &[u8], fallback| {
        let scope = gpu.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let _ = cache(&gpu, Some(data), fallback);
        pollster::block_on(scope.pop()).is_some()
    };
    assert!(error(&data, false) && error(&data, true));
    assert!(error(&data[..40], false) && !error(&data[..40], true));
    let (_, from_none) = run(&gpu, None, false);
    for some in [&from_none[..from_none.len() / 2], &[0; 5], &[]] {
        let (got, stored) = run(&gpu, Some(some), true);
        assert_eq!((&got, &stored), (&want, &from_none));
    }
}
