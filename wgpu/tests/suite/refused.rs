//! What is not there, and what goes wrong: errors of wgpu, never a panic.

use crate::common::Gpu;
use gantry_wgpu::{Options, OptionsError, instance};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;

#[test]
fn options_that_cannot_be() {
    let unknown = Options {
        target: Some("gpu9".to_owned()),
        ..Options::default()
    };
    let Err(e) = instance(&unknown) else {
        panic!("there is no gpu9");
    };
    let text = e.to_string();
    assert!(
        text.starts_with("there is no product `gpu9`; there are "),
        "{text}"
    );
    let odd = Options {
        sub_group_size: 24,
        ..Options::default()
    };
    assert!(matches!(
        instance(&odd),
        Err(OptionsError::SubGroupSize(24))
    ));
}

#[test]
fn render_pipelines_are_errors() {
    let gpu = Gpu::open("tgllp");
    let text = "
        @vertex fn v() -> @builtin(position) vec4<f32> { return vec4(0.0); }
        @fragment fn f() -> @location(0) vec4<f32> { return vec4(1.0); }";
    let module = gpu.shader(text);
    let scope = gpu.device.push_error_scope(wgpu::ErrorFilter::Validation);
    let internal = gpu.device.push_error_scope(wgpu::ErrorFilter::Internal);
    let _ = gpu
        .device
        .create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: None,
            layout: None,
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: None,
                compilation_options: Default::default(),
                buffers: &[],
            },
            primitive: Default::default(),
            depth_stencil: None,
            multisample: Default::default(),
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: None,
                compilation_options: Default::default(),
                targets: &[Some(wgpu::TextureFormat::Rgba8Unorm.into())],
            }),
            multiview_mask: None,
            cache: None,
        });
    let errors = [internal, scope].map(|s| pollster::block_on(s.pop()));
    assert!(errors.iter().any(Option::is_some));
}

/// A shader that never ends loses its device, and another device goes on.
#[test]
fn faults_lose_the_device() {
    let gpu = Gpu::open("skl");
    let (tell, lost) = mpsc::channel();
    gpu.device.set_device_lost_callback(move |reason, _| {
        let _ = tell.send(reason);
    });
    let text = "
        @group(0) @binding(0) var<storage, read_write> data: array<atomic<u32>>;
        @compute @workgroup_size(1)
        fn main() { while atomicLoad(&data[0]) == 0u { } }";
    let data = gpu.storage(&[0; 4]);
    let pipeline = gpu.pipeline(text, &[]);
    let group = gpu.group(&pipeline, &[data.as_entire_binding()]);
    gpu.dispatch(&pipeline, &group, 1);
    // wgpu itself panics where it waits for a lost device.
    let wait = || gpu.device.poll(wgpu::PollType::wait_indefinitely());
    assert!(catch_unwind(AssertUnwindSafe(wait)).is_err());
    assert!(matches!(lost.recv(), Ok(wgpu::DeviceLostReason::Unknown)));
    let other = Gpu::open("skl");
    let words = other.storage(&[1, 2, 3, 4]);
    assert_eq!(other.read(&words), [1, 2, 3, 4]);
}
