//! Compile time of the demo's kernels from IR to zebin, and of equivalent OpenCL C with Intel's
//! compiler. That runs as a process (`ocloc`) and in this process (`libocloc.so`).
//! `cargo bench -p gantry-jit-demo` prints the ratios of the same run at its end.
#![allow(
    missing_docs,
    reason = "criterion's macros write undocumented functions"
)]
#![allow(unsafe_code, reason = "FFI to libocloc")]

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use gantry_codegen::ir::Module;
use gantry_codegen::{CompileOptions, compile};
use gantry_jit_demo::kernels::{linear, mandelbrot, module, saxpy};
use std::ffi::{CString, c_char};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const SOURCE: &str = include_str!("kernels.cl");
const OPTIONS: &str = "-cl-allow-zebin -ze-allow-zebin -cl-enable-zebin";
/// Number of runs of each of Intel's compilers, of which the fastest counts.
const ROUNDS: u32 = 9;

type Invoke = unsafe extern "C" fn(
    u32,
    *const *const c_char,
    u32,
    *mut *const u8,
    *mut u64,
    *mut *const c_char,
    u32,
    *mut *const u8,
    *mut u64,
    *mut *const c_char,
    *mut u32,
    *mut *mut *mut u8,
    *mut *mut u64,
    *mut *mut *mut c_char,
) -> i32;

/// Returns the source of one kernel: its file is cut at the attribute lines.
fn source_of(name: &str) -> String {
    let parts = SOURCE.split("__attribute__").skip(1);
    parts
        .filter(|p| p.contains(&format!("void {name}(")))
        .map(|p| format!("__attribute__{p}"))
        .collect()
}

fn modules() -> Vec<(&'static str, Module)> {
    let build = |name, m: Result<Module, gantry_codegen::builder::BuildError>| match m {
        Ok(m) => Some((name, m)),
        Err(e) => {
            eprintln!("{name}: {e}");
            None
        }
    };
    [
        build("saxpy", module(saxpy::build)),
        build("mandelbrot", module(mandelbrot::build)),
        build("linear", module(linear::build)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Returns the time of the fastest of some runs; `None` if one fails.
fn fastest(mut run: impl FnMut() -> bool) -> Option<Duration> {
    (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            run().then(|| start.elapsed())
        })
        .collect::<Option<Vec<_>>>()?
        .into_iter()
        .min()
}

fn process(dir: &std::path::Path, name: &str) -> Option<Duration> {
    std::fs::write(dir.join(format!("{name}.cl")), source_of(name)).ok()?;
    fastest(|| {
        let status = Command::new("ocloc")
            .current_dir(dir)
            .args([
                "compile",
                "-file",
                &format!("{name}.cl"),
                "-device",
                "skl",
                "-out_dir",
                "out",
            ])
            .args(["-internal_options", OPTIONS])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        status.is_ok_and(|s| s.success())
    })
}

fn in_process(invoke: Invoke, name: &str) -> Option<Duration> {
    let args: Vec<CString> = [
        "ocloc",
        "compile",
        "-q",
        "-file",
        "k.cl",
        "-device",
        "skl",
        "-internal_options",
        OPTIONS,
    ]
    .iter()
    .filter_map(|a| CString::new(*a).ok())
    .collect();
    let args: Vec<*const c_char> = args.iter().map(|a| a.as_ptr()).collect();
    let source = CString::new(source_of(name)).ok()?;
    let file = c"k.cl";
    fastest(|| {
        let mut sources = [source.as_ptr().cast::<u8>()];
        let mut lengths = [source.as_bytes_with_nul().len() as u64];
        let mut names = [file.as_ptr()];
        let (mut n, mut data, mut sizes, mut outputs) = (
            0,
            std::ptr::null_mut(),
            std::ptr::null_mut(),
            std::ptr::null_mut(),
        );
        // SAFETY: every pointer is to live memory of the length that goes with it, as `ocloc_api.h`
        // asks. The outputs leak: a few megabytes in a benchmark.
        let status = unsafe {
            invoke(
                args.len() as u32,
                args.as_ptr(),
                1,
                sources.as_mut_ptr(),
                lengths.as_mut_ptr(),
                names.as_mut_ptr(),
                0,
                std::ptr::null_mut(),
                std::ptr::null_mut(),
                std::ptr::null_mut(),
                &mut n,
                &mut data,
                &mut sizes,
                &mut outputs,
            )
        };
        status == 0
    })
}

fn gantry(m: &Module, options: &CompileOptions) -> Option<Duration> {
    (0..200)
        .map(|_| {
            let start = Instant::now();
            compile(m, options).ok().map(|_| start.elapsed())
        })
        .collect::<Option<Vec<_>>>()?
        .into_iter()
        .min()
}

fn bench(c: &mut Criterion) {
    let options = match CompileOptions::for_target("skl") {
        Ok(o) => o,
        Err(e) => return eprintln!("{e}"),
    };
    let modules = modules();
    let mut group = c.benchmark_group("compile");
    for (name, m) in &modules {
        group.bench_function(*name, |b| {
            b.iter_batched(|| m, |m| compile(m, &options), BatchSize::SmallInput);
        });
    }
    group.finish();

    let dir = std::env::temp_dir().join(format!("gantry-bench-{}", std::process::id()));
    if let Err(e) = std::fs::create_dir_all(&dir) {
        return eprintln!("{}: {e}", dir.display());
    }
    // SAFETY: loading runs the library's initializers, which are Intel's and expect nothing of us.
    let library = unsafe { libloading::Library::new("libocloc.so") };
    // SAFETY: the type is that of `oclocInvoke` in `ocloc_api.h`.
    let invoke = library
        .as_ref()
        .ok()
        .and_then(|l| unsafe { l.get::<Invoke>(b"oclocInvoke").ok() });
    println!(
        "fastest of each, in this run: Gantry from IR to zebin, Intel's compiler from OpenCL C to zebin"
    );
    let show = |d: Option<Duration>| {
        d.map_or("not here".to_string(), |d| {
            format!("{:.3} ms", d.as_secs_f64() * 1e3)
        })
    };
    let ratio = |a: Option<Duration>, b: Option<Duration>| match (a, b) {
        (Some(a), Some(b)) => format!("{:.0}x", a.as_secs_f64() / b.as_secs_f64()),
        _ => "-".to_string(),
    };
    for (name, m) in &modules {
        let ours = gantry(m, &options);
        let process = process(&dir, name);
        let inside = invoke.as_ref().and_then(|f| in_process(**f, name));
        println!(
            "{name:12} Gantry {:>10}  ocloc process {:>12} ({:>6})  libocloc in process {:>12} ({:>6})",
            show(ours),
            show(process),
            ratio(process, ours),
            show(inside),
            ratio(inside, ours)
        );
    }
    let _ = std::fs::remove_dir_all(&dir);
}

criterion_group!(benches, bench);
criterion_main!(benches);
