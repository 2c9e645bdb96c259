//! Dispatches: overrides, uniforms, indirect counts, timestamps, offsets, immediates, sub-groups.

use crate::common::{Gpu, TARGETS, storage_entry};
use std::num::NonZeroU64;

const SCALE: &str = "
struct Scale { by: u32 }
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@group(0) @binding(1) var<uniform> scale: Scale;
override plus: u32 = 0u;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    data[id.x] = data[id.x] * scale.by + plus;
}
";

#[test]
fn dispatches_known_and_indirect_with_timestamps() {
    use wgpu::BufferUsages as U;
    for target in TARGETS {
        let gpu = Gpu::open(target);
        let n = 1000u32;
        let data = gpu.storage(&(0..n).collect::<Vec<_>>());
        let scale = gpu.buffer(&[3], U::UNIFORM);
        let counts = gpu.buffer(&[n.div_ceil(64), 1, 1], U::INDIRECT);
        let pipeline = gpu.pipeline(SCALE, &[("plus", 1.0)]);
        let resources = [data.as_entire_binding(), scale.as_entire_binding()];
        let group = gpu.group(&pipeline, &resources);
        let queries = gpu.device.create_query_set(&wgpu::QuerySetDescriptor {
            label: None,
            ty: wgpu::QueryType::Timestamp,
            count: 2,
        });
        let times = gpu.buffer(&[0; 4], U::QUERY_RESOLVE | U::COPY_SRC);
        gpu.submit(|encoder| {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: None,
                timestamp_writes: Some(wgpu::ComputePassTimestampWrites {
                    query_set: &queries,
                    beginning_of_pass_write_index: Some(0),
                    end_of_pass_write_index: Some(1),
                }),
            });
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.dispatch_workgroups(n.div_ceil(64), 1, 1);
            pass.dispatch_workgroups_indirect(&counts, 0);
            pass.dispatch_workgroups(0, 1, 1);
            drop(pass);
            encoder.resolve_query_set(&queries, 0..2, &times, 0);
        });
        let want: Vec<u32> = (0..n).map(|x| (x * 3 + 1) * 3 + 1).collect();
        assert_eq!(gpu.read(&data), want, "{target}");
        let [low, _, high, _] = gpu.read(&times)[..] else {
            panic!("{target}: two times");
        };
        assert!(low < high, "{target}: {low} to {high} ns");
    }
}

/// Two bindings of one buffer, at offsets given when the group is set.
#[test]
fn dynamic_offsets_and_ranges() {
    let text = "
        @group(0) @binding(0) var<storage, read> source: array<u32, 16>;
        @group(0) @binding(1) var<storage, read_write> to: array<u32>;
        @compute @workgroup_size(16)
        fn main(@builtin(local_invocation_index) i: u32) {
            to[i] = source[i] + arrayLength(&to);
        }";
    for target in TARGETS {
        let gpu = Gpu::open(target);
        let all = gpu.storage(&(0..256).collect::<Vec<_>>());
        let entries = [storage_entry(0, true, true), storage_entry(1, false, true)];
        let pipeline = gpu.laid_out(text, &entries, 0);
        let part = |buffer, size| {
            wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer,
                offset: 0,
                size: NonZeroU64::new(size),
            })
        };
        // wgpu refuses a buffer that is read and written in one dispatch, so there are two.
        let from = gpu.storage(&(0..256).collect::<Vec<_>>());
        let source = gpu.group(&pipeline, &[part(&from, 64), part(&all, 32)]);
        gpu.submit(|encoder| {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &source, &[128, 512]);
            pass.dispatch_workgroups(1, 1, 1);
        });
        let want: Vec<u32> = (0..256)
            .map(|i| {
                if (128..136).contains(&i) {
                    i - 128 + 32 + 8
                } else {
                    i
                }
            })
            .collect();
        assert_eq!(
            gpu.read(&all),
            want,
            "{target}: bounds are those of the range"
        );
    }
}

#[test]
fn immediates_shared_memory_and_sub_groups() {
    let text = "
        struct Numbers { a: u32, b: u32 }
        var<immediate> numbers: Numbers;
        var<workgroup> sums: array<u32, 64>;
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(64)
        fn main(@builtin(local_invocation_index) i: u32, @builtin(subgroup_size) size: u32) {
            sums[63u - i] = i * numbers.a;
            workgroupBarrier();
            out[i] = sums[i] + numbers.b;
            out[64u + i] = subgroupAdd(1u);
            out[128u + i] = size;
        }";
    for target in TARGETS {
        let gpu = Gpu::open(target);
        let out = gpu.storage(&[0; 192]);
        let pipeline = gpu.laid_out(text, &[storage_entry(0, false, false)], 8);
        let group = gpu.group(&pipeline, &[out.as_entire_binding()]);
        gpu.submit(|encoder| {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.set_immediates(4, &100u32.to_le_bytes());
            pass.set_immediates(0, &7u32.to_le_bytes());
            pass.dispatch_workgroups(1, 1, 1);
        });
        let got = gpu.read(&out);
        let width = gpu.adapter.get_info().subgroup_max_size;
        for i in 0..64 {
            assert_eq!(got[i], (63 - i as u32) * 7 + 100, "{target}");
            assert_eq!(got[64 + i], width, "{target}");
            assert_eq!(got[128 + i], width, "{target}");
        }
    }
}
