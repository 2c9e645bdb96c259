//! Launches a second: through `run()`, through queues, by a command list, and of pocl.
//!
//! `cargo bench -p gantry-runtime --bench queue` needs pocl for its column. `GANTRY_CASES` sets the
//! number of launches, a million by default.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a measurement, not product code"
)]

#[path = "../tests/suite/opencl/cl.rs"]
#[allow(dead_code, reason = "a binding for tests, of which this uses a part")]
mod cl;
#[path = "../tests/common/mod.rs"]
mod common;
#[path = "../tests/suite/queue_stress.rs"]
#[allow(dead_code, unused_imports, reason = "its kernel is used here")]
mod queue_stress;
#[path = "../tests/common/rng.rs"]
mod rng;

use gantry_isa_gen::Platform;
use gantry_runtime::{
    CommandList, Device, Grid, Kernel, Launch, Order, Queue, QueueOptions, SimOptions,
};
use std::time::Instant;

const SOURCE: &str = "
kernel void nothing() {}
kernel void saxpy(global const uint *x, global uint *y, uint n) {
    size_t i = get_global_id(0);
    y[i] = y[i] * 3 + x[i] + n;
}";

/// Launches that a queue holds before the host waits.
const AHEAD: usize = 10_000;

fn queue(device: &Device, order: Order) -> Queue {
    device.queue(QueueOptions {
        order,
        ..QueueOptions::default()
    })
}

/// Returns how often a second something happens that is done `times` times.
fn rate(times: usize, work: impl FnOnce(usize)) -> f64 {
    let start = Instant::now();
    work(times);
    times as f64 / start.elapsed().as_secs_f64()
}

/// Submits launches to a queue, some of them ahead.
fn submit(queue: &Queue, launch: &Launch<'static>, times: usize) {
    for part in (0..times).step_by(AHEAD) {
        for _ in part..times.min(part + AHEAD) {
            queue.launch(launch.clone()).unwrap();
        }
        queue.finish();
    }
}

fn row(name: &str, times: usize, device: &Device, launch: &Launch<'static>, pocl: Option<f64>) {
    let run = rate(times, |n| {
        for _ in 0..n {
            launch.clone().run().unwrap();
        }
    });
    let in_order = queue(device, Order::InOrder);
    let ordered = rate(times, |n| submit(&in_order, launch, n));
    let unordered = queue(device, Order::OutOfOrder);
    let out = rate(times, |n| submit(&unordered, launch, n));
    let mut list = CommandList::new(device);
    for _ in 0..100 {
        list.launch(launch.clone()).unwrap();
    }
    let replay = rate(times, |n| {
        for _ in 0..n / 100 {
            in_order.replay(&list).submit().unwrap();
        }
        in_order.finish();
    });
    let pocl = pocl.map_or("-".to_owned(), |n| format!("{n:.0}"));
    println!("{name:22}{times:>9}{run:>11.0}{ordered:>11.0}{out:>14.0}{replay:>9.0}{pocl:>9}");
}

fn empty(device: &Device) -> Kernel {
    let info = "kernels:\n  - {name: t, execution_env: {simd_size: 8}}\n";
    let zebin = common::text::zebin(Platform::Gen9, info, &common::text::whole(""));
    device.load(&zebin).unwrap().kernel("t").unwrap()
}

fn main() {
    let given = std::env::var("GANTRY_CASES").ok();
    let times = given.map_or(1_000_000, |n| n.parse().unwrap());
    let device = Device::simulator(SimOptions::default());
    let grid = Grid::new([8, 1, 1]);
    let pocl = cl::Pocl::open();
    if let Err(e) = &pocl {
        println!("skipped: no column of pocl: {e}");
    }
    let pocl = pocl.ok().map(|p| {
        let program = p.build(SOURCE, "-cl-std=CL1.2").unwrap();
        (p, program)
    });
    let on_pocl = |kernel: &str, args: &[cl::Arg], times: usize| {
        let (pocl, program) = pocl.as_ref()?;
        let range = cl::Range {
            global: [8, 1, 1],
            local: [8, 1, 1],
            offset: [0; 3],
        };
        // Compilation is not part of the time.
        pocl.run(program, kernel, args, range).unwrap();
        Some(rate(times, |n| {
            pocl.run_often(program, kernel, args, range, n).unwrap();
        }))
    };
    println!(
        "launches a second         times      run()   in order  out of order   replay     pocl"
    );
    let launch = empty(&device).launch(grid);
    let reference = on_pocl("nothing", &[], times);
    row("empty", times, &device, &launch, reference);
    let (x, y) = (device.buffer(32).unwrap(), device.buffer(32).unwrap());
    let kernel = queue_stress::kernel(&device);
    let launch = kernel.launch(grid).arg(&x).arg(&y).arg(1u32);
    let buffers = [[0; 32]; 2].map(|b: [u8; 32]| cl::Arg::Buffer(b.to_vec()));
    let args: Vec<_> = buffers
        .into_iter()
        .chain([cl::Arg::Value(vec![1, 0, 0, 0])])
        .collect();
    let times = times.min(10_000);
    let reference = on_pocl("saxpy", &args, times);
    row("saxpy, dependent", times, &device, &launch, reference);
}
