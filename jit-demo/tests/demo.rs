//! The demo as a user runs it: on the simulator with odd sizes, on Intel's driver without a GPU,
//! and with bad input.
#![allow(clippy::unwrap_used, clippy::panic, reason = "test code")]

use gantry_codegen::CompileOptions;
use gantry_jit_demo::demo::Demo;
use gantry_jit_demo::picture::Picture;
use gantry_runtime::{Device, DeviceKind};
use std::path::PathBuf;
use std::process::{Command, Output};

fn demo() -> Demo {
    Demo {
        device: Device::open(DeviceKind::Simulator).unwrap(),
        options: CompileOptions::for_target("skl").unwrap(),
        computes: true,
    }
}

#[test]
fn saxpy_of_any_length() {
    for n in [1, 15, 16, 17, 1000] {
        assert_eq!(
            demo().saxpy(n).unwrap().check,
            format!("{n} elements equal")
        );
    }
}

#[test]
fn mandelbrot_of_any_size() {
    for (w, h) in [(1, 1), (16, 2), (37, 21)] {
        let (_, picture) = demo().mandelbrot(w, h).unwrap();
        assert_eq!((picture.width, picture.height), (w as usize, h as usize));
    }
}

#[test]
fn linear_of_any_size() {
    for (width, height) in [(1, 1), (2, 1), (8, 6), (9, 7), (33, 17)] {
        let rgb = (0..3 * width * height)
            .map(|i| (i * 89 % 251) as u8)
            .collect();
        let picture = Picture { width, height, rgb };
        let (_, out) = demo().linear(&picture).unwrap();
        assert_eq!((out.width, out.height), (width, height));
    }
}

#[test]
fn edges_of_any_size() {
    for (width, height) in [(1, 1), (16, 16), (17, 3), (40, 35)] {
        let rgb = (0..3 * width * height)
            .map(|i| (i * 71 % 253) as u8)
            .collect();
        let picture = Picture { width, height, rgb };
        let (_, out) = demo().edges(&picture).unwrap();
        assert_eq!((out.width, out.height), (width, height));
        // The demo itself compares it with the CPU's, so a wrong picture would fail.
        assert!(width == 1 || out.rgb.iter().any(|b| *b > 0));
    }
}

/// A flat picture stays as it is: the nine taps are all of the picture or its border.
#[test]
fn linear_keeps_a_flat_picture() {
    let picture = Picture {
        width: 10,
        height: 9,
        rgb: vec![77; 270],
    };
    assert_eq!(demo().linear(&picture).unwrap().1, picture);
}

struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let dir = std::env::temp_dir().join(format!("gantry-demo-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        Scratch(dir)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn run(dir: &Scratch, args: &[&str], env: &[(&str, &str)]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gantry-jit-demo"))
        .current_dir(&dir.0)
        .args(["--elements", "100", "--size", "32", "16"])
        .args(args)
        .envs(env.iter().copied())
        .output()
        .unwrap()
}

#[test]
fn the_command_draws_pictures() {
    let dir = Scratch::new("pictures");
    let out = run(&dir, &["--device", "sim"], &[]);
    assert!(out.status.success(), "{out:?}");
    let text = String::from_utf8(out.stdout).unwrap();
    for word in [
        "saxpy",
        "mandelbrot",
        "linear",
        "edges",
        "pictures/linear.png",
        "pictures/edges.png",
    ] {
        assert!(text.contains(word), "{text}");
    }
    let set = Picture::read(&dir.0.join("pictures/mandelbrot.png")).unwrap();
    assert_eq!((set.width, set.height), (32, 16));
}

#[test]
fn bad_input_is_one_clear_error() {
    let dir = Scratch::new("bad");
    std::fs::write(dir.0.join("not.png"), "hello").unwrap();
    let cases: [(&[&str], &str); 5] = [
        (&["--input", "not.png"], "not.png: not a readable PNG"),
        (&["--input", "missing.png"], "missing.png: No such file"),
        (&["--device", "toaster"], "`toaster` is not a device"),
        (&["--target", "hsw"], "no code generator for `hsw`"),
        (&["--size", "0", "4"], "--size takes"),
    ];
    for (args, message) in cases {
        let out = run(&dir, args, &[]);
        let err = String::from_utf8(out.stderr).unwrap();
        assert_eq!(out.status.code(), Some(1), "{err}");
        assert!(err.starts_with("error: ") && err.contains(message), "{err}");
        assert!(!err.contains("panicked"), "{err}");
    }
}

/// Intel's driver accepts the zebins of all kernels: module, kernel, arguments, launch. It has no
/// GPU here and computes nothing.
#[test]
fn intels_driver_takes_the_kernels() {
    let dir = Scratch::new("driver");
    let env = [
        ("NEOReadDebugKeys", "1"),
        ("SetCommandStreamReceiver", "1"),
        ("ProductFamilyOverride", "skl"),
        ("PrintDebugMessages", "1"),
    ];
    let out = run(&dir, &["--device", "level-zero"], &env);
    let (text, err) = (
        String::from_utf8_lossy(&out.stdout),
        String::from_utf8_lossy(&out.stderr),
    );
    if !out.status.success() && err.contains("no device") {
        assert!(
            std::env::var_os("GANTRY_REQUIRE_ORACLES").is_none_or(|v| v != "1"),
            "Intel's driver is missing, and GANTRY_REQUIRE_ORACLES=1: {err}"
        );
        eprintln!(
            "skipped: Intel's Level Zero driver is not here ({})",
            err.trim()
        );
        return;
    }
    assert!(out.status.success(), "{text}{err}");
    assert!(
        !err.contains("recompiled from IR") && !text.contains("recompiled from IR"),
        "{text}{err}"
    );
    assert_eq!(
        text.matches("not checked: the device does not compute")
            .count(),
        4,
        "{text}"
    );
}

#[test]
fn a_kernel_of_ones_own() {
    let dir = Scratch::new("given");
    let file = dir.0.join("k.wgsl");
    let text = "
        @group(0) @binding(0) var<storage, read> x: array<u32>;
        @group(0) @binding(1) var<storage, read_write> y: array<u32>;
        @compute @workgroup_size(64)
        fn squares(@builtin(global_invocation_id) id: vec3<u32>) { y[id.x] = x[id.x] * x[id.x]; }
        @compute @workgroup_size(8) fn nothing() {}
    ";
    std::fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap();
    let out = run(
        &dir,
        &["--device", "sim", "--wgsl", file, "--kernel", "squares"],
        &[],
    );
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(
        text.contains("2 of 2 buffers as the interpreter has them"),
        "{text}"
    );
    // The same kernel as SPIR-V.
    let source = std::fs::read_to_string(file).unwrap();
    let words = gantry_spirv::wgsl::to_spirv(&source).unwrap();
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    std::fs::write(dir.0.join("k.spv"), bytes).unwrap();
    let out = run(
        &dir,
        &["--device", "sim", "--spirv", "k.spv", "--kernel", "squares"],
        &[],
    );
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(text.contains("2 of 2 buffers"), "{text}");
    let out = run(&dir, &["--spirv", "k.spv"], &[]);
    let text = String::from_utf8(out.stderr).unwrap();
    assert!(
        text.contains("--kernel must choose one of: squares, nothing"),
        "{text}"
    );
    let out = run(&dir, &["--wgsl", "none.wgsl"], &[]);
    assert!(!out.status.success());
}
