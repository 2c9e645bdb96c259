//! Programs of the kinds that wgpu and webgpu-samples have as examples, each with a check of its
//! results.

use crate::common::{Gpu, TARGETS};
use wgpu::BufferUsages as U;

#[path = "../../examples/boids/flock.rs"]
mod flock;

/// Runs a shader once over words that it changes.
fn run(gpu: &Gpu, text: &str, words: &[u32], groups: u32) -> Vec<u32> {
    let data = gpu.storage(words);
    let pipeline = gpu.pipeline(text, &[]);
    let group = gpu.group(&pipeline, &[data.as_entire_binding()]);
    gpu.dispatch(&pipeline, &group, groups);
    gpu.read(&data)
}

/// As `hello_compute`: steps until the Collatz sequence of a number is at 1.
#[test]
fn collatz() {
    let text = "
        @group(0) @binding(0) var<storage, read_write> data: array<u32>;
        @compute @workgroup_size(1)
        fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            var n = data[id.x];
            var steps = 0u;
            while n > 1u {
                if n % 2u == 0u { n /= 2u; } else { n = 3u * n + 1u; }
                steps += 1u;
            }
            data[id.x] = steps;
        }";
    let steps = |mut n: u32| {
        let mut steps = 0;
        while n > 1 {
            n = if n.is_multiple_of(2) {
                n / 2
            } else {
                3 * n + 1
            };
            steps += 1;
        }
        steps
    };
    let numbers: Vec<u32> = (1..200).collect();
    let want: Vec<u32> = numbers.iter().map(|n| steps(*n)).collect();
    for target in TARGETS {
        let gpu = Gpu::open(target);
        assert_eq!(run(&gpu, text, &numbers, 199), want, "{target}");
    }
}

/// As `hello_workgroups`: what each invocation knows of its place.
#[test]
fn places_in_groups() {
    let text = "
        @group(0) @binding(0) var<storage, read_write> data: array<u32>;
        @compute @workgroup_size(4, 3, 2)
        fn main(
            @builtin(global_invocation_id) id: vec3<u32>,
            @builtin(local_invocation_id) own: vec3<u32>,
            @builtin(local_invocation_index) index: u32,
            @builtin(workgroup_id) group: vec3<u32>,
            @builtin(num_workgroups) groups: vec3<u32>,
        ) {
            let at = group.x * 24u + index;
            data[at] = dot(id, vec3(1u, 100u, 10000u)) + dot(own, vec3(0u, 10u, 1000u))
                + 1000000u * groups.x;
        }";
    let place = |at: u32| {
        let [x, y, z] = [at % 4, at / 4 % 3, at / 12 % 2];
        at / 24 * 4 + x + 110 * y + 11_000 * z + 5_000_000
    };
    let want: Vec<u32> = (0..5 * 24).map(place).collect();
    for target in TARGETS {
        let gpu = Gpu::open(target);
        assert_eq!(run(&gpu, text, &[0; 5 * 24], 5), want, "{target}");
    }
}

/// As `hello_synchronization`: barriers of a group, and atomics of all groups.
#[test]
fn barriers_and_atomics() {
    let text = "
        var<workgroup> shared_sum: atomic<u32>;
        var<workgroup> last: u32;
        @group(0) @binding(0) var<storage, read_write> data: array<atomic<u32>>;
        @compute @workgroup_size(100)
        fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) group: vec3<u32>) {
            atomicAdd(&shared_sum, i + group.x);
            workgroupBarrier();
            if i == 99u { last = atomicLoad(&shared_sum); }
            let sum = workgroupUniformLoad(&last);
            if i == 7u { atomicStore(&data[1u + group.x], sum); }
            atomicMax(&data[0], sum);
        }";
    let want: Vec<u32> = (0..20).map(|g| 4950 + 100 * g).collect();
    for target in TARGETS {
        let gpu = Gpu::open(target);
        let got = run(&gpu, text, &[0; 21], 20);
        assert_eq!(got[0], want[19], "{target}");
        assert_eq!(got[1..], want, "{target}");
    }
}

/// As `repeated_compute`: one pipeline for many submissions, with data between them.
#[test]
fn repeated() {
    let text = "
        @group(0) @binding(0) var<storage, read_write> data: array<u32>;
        @compute @workgroup_size(8)
        fn main(@builtin(global_invocation_id) id: vec3<u32>) { data[id.x] = data[id.x] * 5u + id.x; }";
    for target in TARGETS {
        let gpu = Gpu::open(target);
        let pipeline = gpu.pipeline(text, &[]);
        let data = gpu.storage(&[0; 64]);
        let group = gpu.group(&pipeline, &[data.as_entire_binding()]);
        for round in 0..20u32 {
            let start: Vec<u32> = (0..64).map(|i| i * round).collect();
            gpu.queue
                .write_buffer(&data, 0, bytemuck::cast_slice(&start));
            gpu.dispatch(&pipeline, &group, 8);
            let want: Vec<u32> = (0..64).map(|i| i * round * 5 + i).collect();
            assert_eq!(gpu.read(&data), want, "{target}, round {round}");
        }
    }
}

/// As `storage_texture`: an escape time fractal, a texel for each invocation.
#[test]
fn fractal_in_a_texture() {
    let text = "
        @group(0) @binding(0) var picture: texture_storage_2d<r32uint, write>;
        @compute @workgroup_size(8, 8)
        fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let c = vec2<i32>(id.xy) * 3 - vec2(140, 96);
            var z = vec2(0, 0);
            var n = 0u;
            while n < 30u && dot(z, z) < 4 * 64 * 64 {
                z = vec2(z.x * z.x - z.y * z.y, 2 * z.x * z.y) / 64 + c;
                n += 1u;
            }
            textureStore(picture, id.xy, vec4(n, 0u, 0u, 0u));
        }";
    let escape = |x: i32, y: i32| {
        let c = [x * 3 - 140, y * 3 - 96];
        let (mut z, mut n) = ([0, 0], 0);
        while n < 30 && z[0] * z[0] + z[1] * z[1] < 4 * 64 * 64 {
            let [a, b] = z;
            z = [(a * a - b * b) / 64 + c[0], 2 * a * b / 64 + c[1]];
            n += 1;
        }
        n
    };
    let want: Vec<u32> = (0..64 * 64).map(|i| escape(i % 64, i / 64)).collect();
    for target in TARGETS {
        let gpu = Gpu::open(target);
        use wgpu::TextureUsages as T;
        let usage = T::STORAGE_BINDING | T::COPY_SRC;
        let texture = gpu.texture([64, 64], wgpu::TextureFormat::R32Uint, usage);
        let view = texture.create_view(&Default::default());
        let pipeline = gpu.pipeline(text, &[]);
        let group = gpu.group(&pipeline, &[wgpu::BindingResource::TextureView(&view)]);
        gpu.submit(|encoder| {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.dispatch_workgroups(8, 8, 1);
        });
        assert_eq!(gpu.read_texture(&texture), want, "{target}");
    }
}

/// As `timestamp_queries`: times of a pass, inside of it and of its encoder, in order.
#[test]
fn timestamps() {
    let text = "
        @group(0) @binding(0) var<storage, read_write> data: array<u32>;
        @compute @workgroup_size(64)
        fn main(@builtin(local_invocation_index) i: u32) {
            for (var n = 0u; n < 100u; n++) { data[i] = data[i] * 3u + n; }
        }";
    for target in TARGETS {
        let gpu = Gpu::open(target);
        let pipeline = gpu.pipeline(text, &[]);
        let data = gpu.storage(&[1; 64]);
        let group = gpu.group(&pipeline, &[data.as_entire_binding()]);
        let queries = gpu.device.create_query_set(&wgpu::QuerySetDescriptor {
            label: None,
            ty: wgpu::QueryType::Timestamp,
            count: 5,
        });
        let out = gpu.buffer(&[0; 10], U::QUERY_RESOLVE | U::COPY_SRC);
        gpu.submit(|encoder| {
            encoder.write_timestamp(&queries, 0);
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: None,
                timestamp_writes: Some(wgpu::ComputePassTimestampWrites {
                    query_set: &queries,
                    beginning_of_pass_write_index: Some(1),
                    end_of_pass_write_index: Some(3),
                }),
            });
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.dispatch_workgroups(1, 1, 1);
            pass.write_timestamp(&queries, 2);
            pass.dispatch_workgroups(1, 1, 1);
            drop(pass);
            encoder.write_timestamp(&queries, 4);
            encoder.resolve_query_set(&queries, 0..5, &out, 0);
        });
        let words = gpu.read(&out);
        let times: Vec<u64> = bytemuck::pod_collect_to_vec(&words);
        assert!(
            times.is_sorted() && times[1] < times[2],
            "{target}: {times:?}"
        );
        assert!(times[2] < times[3], "{target}: {times:?}");
    }
}

/// As `boids`, without a window: on every target the birds fly as on the host.
#[test]
fn flocks_of_birds() {
    let mut want = flock::birds();
    for _ in 0..3 {
        want = fly_on_host(&want);
    }
    for target in TARGETS {
        let gpu = Gpu::open(target);
        let (got, pixels) = flock::fly(&gpu.device, &gpu.queue, &flock::birds(), 3).unwrap();
        for (g, w) in got.iter().zip(&want) {
            let near = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-3;
            assert!(g.iter().zip(w).all(near), "{target}: {g:?}, not {w:?}");
        }
        // Each bird is seen: its head has its color.
        for bird in &got {
            let [x, y] = [bird[0], bird[1]].map(|c| (c * flock::SIZE as f32) as usize);
            let at = 4 * (y * flock::SIZE as usize + x);
            assert_eq!(pixels[at + 2..at + 4], [230, 255], "{target}: {bird:?}");
        }
    }
}

/// Lets the birds fly for a step.
fn fly_on_host(before: &[[f32; 4]]) -> Vec<[f32; 4]> {
    let step = |(n, own): (usize, &[f32; 4])| {
        let [mut x, mut y, mut dx, mut dy] = *own;
        let (mut near, mut sums) = (0.0, [0.0f32; 6]);
        for (i, other) in before.iter().enumerate() {
            let between = [other[0] - x, other[1] - y];
            let far = between[0].hypot(between[1]);
            if i == n || far > 0.2 {
                continue;
            }
            near += 1.0;
            let away = if far < 0.04 { between } else { [0.0; 2] };
            let more = [between[0], between[1], other[2], other[3], away[0], away[1]];
            sums = std::array::from_fn(|k| sums[k] + more[k]);
        }
        if near > 0.0 {
            dx += (0.02 * sums[0] + 0.05 * sums[2]) / near - 0.1 * sums[4];
            dy += (0.02 * sums[1] + 0.05 * sums[3]) / near - 0.1 * sums[5];
        }
        let speed = dx.hypot(dy);
        [dx, dy] = [dx, dy].map(|d| d / speed * speed.clamp(0.005, 0.02));
        [x, y] = [x + dx + 1.0, y + dy + 1.0].map(f32::fract);
        [x, y, dx, dy]
    };
    before.iter().enumerate().map(step).collect()
}

/// As `gameOfLife`: two buffers, an override, and edges that are one.
#[test]
fn life() {
    let text = "
        override block = 4u;
        @group(0) @binding(0) var<storage, read> now: array<u32>;
        @group(0) @binding(1) var<storage, read_write> next: array<u32>;
        fn cell(x: u32, y: u32) -> u32 { return now[(y % 32u) * 32u + x % 32u]; }
        @compute @workgroup_size(block, block)
        fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            var n = 0u;
            for (var k = 0u; k < 9u; k++) {
                if k != 4u { n += cell(id.x + k % 3u + 31u, id.y + k / 3u + 31u); }
            }
            next[id.y * 32u + id.x] = u32(n == 3u || n == 2u && cell(id.x, id.y) == 1u);
        }";
    let mut want = vec![0; 32 * 32];
    for at in [1, 34, 64, 65, 66] {
        want[at] = 1;
    }
    let glider = want.clone();
    for _ in 0..40 {
        let cell = |x: usize, y: usize| want[y % 32 * 32 + x % 32];
        let next = |i: usize| {
            let (x, y) = (i % 32, i / 32);
            let around = (0..9).filter(|k| *k != 4);
            let n: u32 = around.map(|k| cell(x + k % 3 + 31, y + k / 3 + 31)).sum();
            u32::from(n == 3 || n == 2 && cell(x, y) == 1)
        };
        want = (0..32 * 32).map(next).collect();
    }
    for target in TARGETS {
        let gpu = Gpu::open(target);
        let pipeline = gpu.pipeline(text, &[("block", 8.0)]);
        let [a, b] = [gpu.storage(&glider), gpu.storage(&glider)];
        let groups = [(&a, &b), (&b, &a)].map(|(from, to)| {
            gpu.group(
                &pipeline,
                &[from.as_entire_binding(), to.as_entire_binding()],
            )
        });
        gpu.submit(|encoder| {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(&pipeline);
            for step in 0..40 {
                pass.set_bind_group(0, &groups[step % 2], &[]);
                pass.dispatch_workgroups(4, 4, 1);
            }
        });
        assert_eq!(gpu.read(&a), want, "{target}");
    }
}

/// As `bitonicSort`: a sort in the memory of a group.
#[test]
fn sort_in_a_group() {
    let text = "
        @group(0) @binding(0) var<storage, read_write> data: array<u32>;
        var<workgroup> local: array<u32, 512>;
        @compute @workgroup_size(256)
        fn main(@builtin(local_invocation_index) i: u32) {
            local[i] = data[i];
            local[i + 256u] = data[i + 256u];
            for (var run = 2u; run <= 512u; run *= 2u) {
                for (var step = run / 2u; step > 0u; step /= 2u) {
                    workgroupBarrier();
                    let a = (i / step) * step * 2u + i % step;
                    let b = a + step;
                    let falls = (a & run) != 0u;
                    if (local[a] > local[b]) != falls {
                        let kept = local[a];
                        local[a] = local[b];
                        local[b] = kept;
                    }
                }
            }
            workgroupBarrier();
            data[i] = local[i];
            data[i + 256u] = local[i + 256u];
        }";
    let numbers: Vec<u32> = (0..512u32)
        .map(|i| i.wrapping_mul(2_654_435_761) >> 12)
        .collect();
    let mut want = numbers.clone();
    want.sort_unstable();
    for target in TARGETS {
        let gpu = Gpu::open(target);
        assert_eq!(run(&gpu, text, &numbers, 1), want, "{target}");
    }
}
