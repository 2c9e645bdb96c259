//! Shared parts of tests: kernels as text (`text`), compilation of OpenCL C with Intel's compiler,
//! and random inputs.
#![allow(dead_code, unused_imports, reason = "each test file uses its own part")]

pub mod driven;
pub mod text;

pub use crate::rng::Rng;

use gantry_runtime::{Arg, Buffer, Device, Grid, LaunchStats, Module, Plain, SimOptions, Watch};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Options for zebin output on the generations that do not have it by default.
pub const ZEBIN: &str = "-cl-allow-zebin -ze-allow-zebin -cl-enable-zebin";

/// Exec sizes that every kernel is compiled for.
pub const WIDTHS: [u32; 3] = [8, 16, 32];

/// Returns true if an oracle is installed. If not, prints that the test is skipped, or fails where
/// oracles are required.
pub fn have(tool: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|d| d.join(tool).is_file());
    if !found {
        assert!(
            std::env::var_os("GANTRY_REQUIRE_ORACLES").is_none_or(|v| v != "1"),
            "{tool} is not on PATH, and GANTRY_REQUIRE_ORACLES=1"
        );
        println!("skipped: {tool} is not on PATH");
    }
    found
}

/// Compiles a file of `tests/kernels` for skl with `SIMD` defined as a width. The file's kernels
/// ask for that width.
pub fn compile(file: &str, simd: u32, options: &str) -> Vec<u8> {
    compile_source(&kernel_file(file), simd, options)
}

/// Reads a file of `tests/kernels`.
fn kernel_file(file: &str) -> String {
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/kernels")
        .join(file);
    std::fs::read_to_string(source).unwrap()
}

/// Compiles OpenCL C for skl.
pub fn compile_source(text: &str, simd: u32, options: &str) -> Vec<u8> {
    compile_for("skl", text, &format!("-DSIMD={simd} {options}"))
}

/// Compiles OpenCL C for a device.
pub fn compile_for(device: &str, text: &str, options: &str) -> Vec<u8> {
    compile_with(device, text, options, &[])
}

/// Zebins by device, source, options and environment.
type Compiled = BTreeMap<(String, String, String, String), Arc<OnceLock<Vec<u8>>>>;

/// Compiles OpenCL C for a device, with variables in the compiler's environment. Each combination
/// is compiled once in a test process.
pub fn compile_with(device: &str, text: &str, options: &str, env: &[(&str, &str)]) -> Vec<u8> {
    static DONE: Mutex<Compiled> = Mutex::new(BTreeMap::new());
    let key = (
        device.to_owned(),
        text.to_owned(),
        options.to_owned(),
        format!("{env:?}"),
    );
    let mut done = DONE.lock().unwrap_or_else(PoisonError::into_inner);
    let zebin = done.entry(key).or_default().clone();
    drop(done);
    zebin
        .get_or_init(|| run_ocloc(device, text, options, env))
        .clone()
}

fn run_ocloc(device: &str, text: &str, options: &str, env: &[(&str, &str)]) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    let cl = dir.path().join("k.cl");
    std::fs::write(&cl, text).unwrap();
    let out = Command::new("ocloc")
        .args(["compile", "-device", device, "-internal_options", ZEBIN])
        .args(["-options", options])
        .envs(env.iter().copied())
        .arg("-file")
        .arg(&cl)
        .arg("-out_dir")
        .arg(dir.path())
        .output()
        .unwrap();
    let bin = std::fs::read_dir(dir.path())
        .unwrap()
        .map(|e| e.unwrap().path())
        .find(|p| p.extension().is_some_and(|e| e == "bin"));
    match bin {
        Some(b) if out.status.success() => std::fs::read(b).unwrap(),
        _ => panic!(
            "ocloc: {}{}",
            String::from_utf8_lossy(&out.stdout),
            String::from_utf8_lossy(&out.stderr)
        ),
    }
}

/// Creates a simulator with a low instruction limit.
pub fn simulator() -> Device {
    Device::simulator(SimOptions {
        instruction_limit: 2_000_000,
        ..SimOptions::default()
    })
}

thread_local! {
   /// True while launches are watched for hazards.
    static WATCHED: Cell<bool> = const { Cell::new(false) };
}

/// Runs `f`, whose launches must have no hazard.
pub fn watched(f: impl FnOnce()) {
    WATCHED.set(true);
    f();
    WATCHED.set(false);
}

/// Launches a kernel.
pub fn launch(module: &Module, name: &str, grid: Grid, args: Vec<Arg>) -> LaunchStats {
    let kernel = module.kernel(name).unwrap();
    let watch = Watch::new().hazards();
    let mut launch = kernel.launch(grid).args(args);
    if WATCHED.get() {
        launch = launch.watch(&watch);
    }
    let stats = match launch.run() {
        Ok(s) => s,
        Err(e) => panic!("{e}"),
    };
    if let Some(h) = watch.report().hazards.first() {
        panic!("{h}");
    }
    stats
}

/// Compares results element by element, and reports which differ.
pub fn same<T: Plain + PartialEq + std::fmt::Debug>(what: &str, got: &Buffer, want: &[T]) {
    let got: Vec<T> = got.read().unwrap();
    assert_eq!(got.len(), want.len(), "{what}: lengths");
    let bad: Vec<_> = (0..want.len()).filter(|&i| got[i] != want[i]).collect();
    if let Some(&i) = bad.first() {
        panic!(
            "{what}: {} of {} differ, first [{i}]: got {:?}, want {:?}",
            bad.len(),
            want.len(),
            got[i],
            want[i]
        );
    }
}

/// Devices, and the exec sizes that the compiler supports for them.
const DEVICES: [(&str, &[u32]); 6] = [
    ("bdw", &[8, 16, 32]),
    ("skl", &[8, 16, 32]),
    ("icllp", &[8, 16, 32]),
    ("tgllp", &[8, 16, 32]),
    ("dg2", &[8, 16, 32]),
    ("pvc", &[16, 32]),
];

/// Devices whose instructions have scoreboard annotations.
const SCOREBOARD: [&str; 3] = ["tgllp", "dg2", "pvc"];

/// Runs `f` on a device's zebin, on a simulator of its own. On devices with a scoreboard it runs
/// once more, with a check that there are no hazards.
pub fn on(name: &str, zebin: &[u8], f: impl Fn(&Device, &Module)) {
    let run = || {
        let device = simulator();
        let module = device.load(zebin).unwrap();
        f(&device, &module);
    };
    run();
    if SCOREBOARD.contains(&name) {
        watched(run);
    }
}

/// Runs `f` [`on`] the kernels of a file of `tests/kernels`, compiled for each device and width.
/// Prints that it is skipped if there is no ocloc.
pub fn everywhere(file: &str, f: impl Fn(&Device, &Module, &str)) {
    if !have("ocloc") {
        return;
    }
    let text = kernel_file(file);
    for (name, widths) in DEVICES {
        for simd in widths {
            let options = format!("-cl-std=CL2.0 -DSIMD={simd}");
            let zebin = compile_for(name, &text, &options);
            on(name, &zebin, |d, m| f(d, m, &format!("{name} simd{simd}")));
        }
    }
}
