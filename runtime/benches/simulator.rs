//! Speed of the simulator on kernels of Intel's compiler, on one core and on all.
//!
//! It is given in instructions of hardware threads and channel-operations (instructions times
//! enabled channels) per second. The wall time is also given as a multiple of pocl's, which
//! compiles the same kernel for this host.
//!
//! `cargo bench -p gantry-runtime` needs `ocloc`, and pocl for the ratio. A table of the fastest of
//! several runs comes first; `-- nothing` prints only that. `GANTRY_KERNEL` and `GANTRY_DEVICE`
//! select one kernel or device. Before the table comes the time of a one-thread launch by the
//! number of buffers that the device holds, which needs no tool.
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
#[path = "../tests/common/rng.rs"]
mod rng;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use gantry_runtime::{Arg, Device, Grid, Kernel, LaunchStats, SimOptions};
use std::time::Instant;

const SOURCE: &str = include_str!("../../isa-gen/tests/kernels/classics.cl");
/// Channels of a thread.
const SIMD: u32 = 16;
const DEVICES: [&str; 3] = ["skl", "tgllp", "dg2"];
/// Number of runs, of which the fastest counts.
const RUNS: u32 = 5;

/// Launch with arguments that both sides take.
struct Case {
    kernel: &'static str,
    global: [u32; 3],
    local: [u32; 3],
    args: Vec<Value>,
}

enum Value {
    Floats(usize),
    Bytes(usize),
    Int(i32),
}

fn cases() -> [Case; 3] {
    let (w, h) = (512u32, 512u32);
    [
        Case {
            kernel: "mandelbrot",
            global: [w, h, 1],
            local: [64, 1, 1],
            args: vec![
                Value::Bytes((w * h) as usize),
                Value::Int(w as i32),
                Value::Int(h as i32),
                Value::Int(255),
            ],
        },
        Case {
            kernel: "sgemm",
            global: [256, 256, 1],
            local: [16, 16, 1],
            args: vec![
                Value::Floats(256 * 256),
                Value::Floats(256 * 256),
                Value::Floats(256 * 256),
                Value::Int(256),
            ],
        },
        Case {
            kernel: "sha256_block",
            global: [1 << 16, 1, 1],
            local: [256, 1, 1],
            args: vec![Value::Bytes((8 * 4) << 16), Value::Bytes((16 * 4) << 16)],
        },
    ]
}

/// Returns the bytes of a buffer argument: small floats, or counted bytes.
fn bytes(v: &Value) -> Vec<u8> {
    match v {
        Value::Floats(n) => (0..*n)
            .flat_map(|i| ((i % 17) as f32 * 0.0625).to_le_bytes())
            .collect(),
        Value::Bytes(n) => (0..*n).map(|i| i as u8).collect(),
        Value::Int(i) => i.to_le_bytes().to_vec(),
    }
}

/// Returns the time of the fastest of several runs in seconds, after one warm-up run.
fn fastest<T>(mut run: impl FnMut() -> T) -> (T, f64) {
    let mut last = run();
    let mut best = f64::INFINITY;
    for _ in 0..RUNS {
        let start = Instant::now();
        last = run();
        best = best.min(start.elapsed().as_secs_f64());
    }
    (last, best)
}

fn on_pocl(pocl: &cl::Pocl, program: &cl::Program, case: &Case) -> f64 {
    let args: Vec<cl::Arg> = case
        .args
        .iter()
        .map(|a| match a {
            Value::Int(_) => cl::Arg::Value(bytes(a)),
            _ => cl::Arg::Buffer(bytes(a)),
        })
        .collect();
    let range = cl::Range {
        global: case.global,
        local: case.local,
        offset: [0; 3],
    };
    let run = || pocl.run(program, case.kernel, &args, range).unwrap();
    fastest(run).1
}

/// Kernel on the simulator, with its arguments.
struct Simulated {
    kernel: Kernel,
    args: Vec<Arg>,
    grid: Grid,
}

impl Simulated {
    /// Loads a kernel on `threads` of the host's threads; 0 is one a core.
    fn new(device: &str, case: &Case, threads: usize) -> Simulated {
        let d = Device::simulator(SimOptions {
            threads,
            ..SimOptions::default()
        });
        let zebin = common::compile_for(device, SOURCE, &format!("-cl-std=CL2.0 -DSIMD={SIMD}"));
        let args = case.args.iter().map(|a| match a {
            Value::Int(i) => (*i).into(),
            _ => (&d.buffer_from(&bytes(a)).unwrap()).into(),
        });
        Simulated {
            args: args.collect(),
            grid: Grid::new(case.global).group(case.local),
            kernel: d.load(&zebin).unwrap().kernel(case.kernel).unwrap(),
        }
    }

    fn run(&self) -> LaunchStats {
        let launch = self.kernel.launch(self.grid).args(self.args.clone());
        launch.run().unwrap()
    }
}

fn simulator(c: &mut Criterion) {
    if !common::have("ocloc") {
        return;
    }
    let pocl = cl::Pocl::open();
    if let Err(e) = &pocl {
        println!("skipped: no ratio to pocl: {e}");
    }
    // Attributes for Intel's compiler are removed for pocl's.
    let plain = SOURCE.replace("__attribute__((intel_reqd_sub_group_size(SIMD)))", "");
    let pocl = pocl.ok().map(|p| {
        let program = p.build(&plain, "-cl-std=CL1.2").unwrap();
        (p, program)
    });
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    println!(
        "{:14}{:8}{:>12}{:>10}{:>10}{:>12}{:>12}{:>10}",
        "SIMD16",
        "device",
        "instructions",
        "M inst/s",
        "M ch/s",
        format!("{cores}: M inst/s"),
        "M ch/s",
        "x pocl"
    );
    let unwanted = |var: &str, name: &str| std::env::var(var).is_ok_and(|w| w != name);
    for case in cases() {
        if unwanted("GANTRY_KERNEL", case.kernel) {
            continue;
        }
        let reference = pocl.as_ref().map(|(p, program)| on_pocl(p, program, &case));
        for device in DEVICES {
            if unwanted("GANTRY_DEVICE", device) {
                continue;
            }
            let [one, all_cores] = [1, 0].map(|threads| Simulated::new(device, &case, threads));
            let (stats, single) = fastest(|| one.run());
            let (_, all) = fastest(|| all_cores.run());
            let rate = |n: u64, seconds: f64| n as f64 / seconds / 1e6;
            println!(
                "{:14}{device:8}{:>12}{:>10.1}{:>10.0}{:>12.1}{:>12.0}{:>10}",
                case.kernel,
                stats.instructions,
                rate(stats.instructions, single),
                rate(stats.channels, single),
                rate(stats.instructions, all),
                rate(stats.channels, all),
                reference.map_or("-".to_owned(), |r| format!("{:.1}", all / r)),
            );
            let mut g = c.benchmark_group(format!("{}/{device}", case.kernel));
            g.sample_size(10);
            g.throughput(Throughput::Elements(stats.instructions));
            g.bench_function("one core", |b| b.iter(|| one.run()));
            g.bench_function("all cores", |b| b.iter(|| all_cores.run()));
            g.finish();
        }
    }
}

/// Times a launch of one thread beside numbers of live buffers.
fn launches() {
    let platform = gantry_isa_gen::Platform::Gen9;
    let info = "kernels:\n  - {name: t, execution_env: {simd_size: 8}}\n";
    let zebin = common::text::zebin(platform, info, common::text::end(platform));
    for live in [0, 1_000, 100_000] {
        let device = Device::simulator(SimOptions::default());
        let module = device.load(&zebin).unwrap();
        let kernel = module.kernel("t").unwrap();
        let _buffers: Vec<_> = (0..live).map(|_| device.buffer(64).unwrap()).collect();
        let run = || {
            for _ in 0..1000 {
                let grid = Grid::new([8, 1, 1]).group([8, 1, 1]);
                kernel.launch(grid).run().unwrap();
            }
        };
        let (_, seconds) = fastest(run);
        println!("{live:7} buffers: {:6.2} us a launch", seconds * 1e3);
        let (_, seconds) = fastest(|| {
            for _ in 0..1000 {
                device.buffer(64).unwrap();
            }
        });
        println!("{:16} {:6.2} us a new buffer", "", seconds * 1e3);
    }
}

fn all(c: &mut Criterion) {
    launches();
    simulator(c);
}

criterion_group!(benches, all);
criterion_main!(benches);
