//! How fast the simulator runs kernels of Intel's compiler: instructions of hardware threads per second.
//!
//! `cargo bench -p gantry-runtime` needs `ocloc` on PATH; without it nothing is measured.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a measurement, not product code"
)]

#[path = "../tests/common/mod.rs"]
mod common;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use gantry_runtime::{Arg, Device, DeviceKind, Grid, Module};

fn measure(c: &mut Criterion, name: &str, m: &Module, kernel: &str, grid: Grid, args: &[Arg]) {
    let k = m.kernel(kernel).unwrap();
    let run = || k.launch(grid).args(args.to_vec()).run().unwrap();
    let stats = run();
    let mut g = c.benchmark_group("simulator");
    g.sample_size(20);
    g.throughput(Throughput::Elements(stats.instructions));
    g.bench_function(name, |b| b.iter(run));
    g.finish();
}

fn simulator(c: &mut Criterion) {
    if !common::have("ocloc") {
        return;
    }
    let d = Device::open(DeviceKind::Simulator).unwrap();
    for simd in [8, 16, 32] {
        let core = d.load(&common::compile("core.cl", simd, "")).unwrap();
        let n = 1u32 << 20;
        let x = d.buffer_from(&vec![1.5f32; n as usize]).unwrap();
        let y = d.buffer_from(&vec![0.5f32; n as usize]).unwrap();
        measure(
            c,
            &format!("saxpy_simd{simd}"),
            &core,
            "saxpy",
            Grid::new([n, 1, 1]).group([256, 1, 1]),
            &[(&x).into(), (&y).into(), 2.0f32.into(), (n as i32).into()],
        );
    }
    let float = d.load(&common::compile("float.cl", 16, "")).unwrap();
    let (w, h) = (512u32, 256u32);
    let out = d.buffer((w * h * 4) as usize).unwrap();
    measure(
        c,
        "mandelbrot_simd16",
        &float,
        "mandelbrot",
        Grid::new([w, h, 1]).group([64, 1, 1]),
        &[
            (&out).into(),
            (w as i32).into(),
            (h as i32).into(),
            256i32.into(),
        ],
    );
}

criterion_group!(benches, simulator);
criterion_main!(benches);
