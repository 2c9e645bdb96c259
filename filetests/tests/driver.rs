//! Intel's own driver, without a GPU, takes the zebin of every run filetest on every product that it knows; of the others the notes are those
//! that Intel's compiler writes.
//!
//! The driver reads its environment when it is loaded, so each product is asked in a process of its own: this test binary, run again.
#![allow(clippy::unwrap_used, clippy::panic, reason = "test code")]

use gantry_codegen::ir::FuncKind;
use gantry_codegen::{CompileOptions, Target, compile};
use gantry_filetests::TestFile;
use gantry_runtime::{Device, DeviceKind};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The products that the driver of Debian 12 has for Level Zero.
const DRIVEN: [&str; 4] = ["skl", "kbl", "cfl", "icllp"];
const CHILD: &str = "GANTRY_DRIVER_CHILD";

fn required() -> bool {
    std::env::var_os("GANTRY_REQUIRE_ORACLES").is_some_and(|v| v == "1")
}

fn have_ocloc() -> bool {
    let there = Command::new("ocloc").arg("--help").output().is_ok();
    assert!(
        there || !required(),
        "ocloc is not on PATH, and GANTRY_REQUIRE_ORACLES=1"
    );
    if !there {
        println!("skipped: ocloc is not on PATH");
    }
    there
}

fn files(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, out);
        } else if path.extension().is_some_and(|e| e == "gir") {
            out.push(path);
        }
    }
}

/// The zebins of every run filetest for a target, with the names of their kernels.
fn zebins(target: &Target) -> Vec<(PathBuf, Vec<String>, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("filetests/run");
    let mut paths = Vec::new();
    files(&root, &mut paths);
    let mut out = Vec::new();
    for path in paths {
        let source = std::fs::read_to_string(&path).unwrap();
        let file = TestFile::parse(&path.display().to_string(), &source).unwrap();
        if file.body.contains("f64") && !target.features().native_f64 {
            continue;
        }
        let module = gantry_codegen::text::parse(&file.body).unwrap().module;
        let kernels = module.functions.values();
        let kernels = kernels.filter(|f| matches!(f.kind, FuncKind::Kernel { .. }));
        let names = kernels.map(|f| f.name.clone()).collect();
        let compiled = compile(&module, &CompileOptions::new(target.clone()));
        let zebin = compiled
            .unwrap_or_else(|e| panic!("{}: {e}", path.display()))
            .zebin;
        out.push((path, names, zebin));
    }
    out
}

#[test]
fn the_driver_takes_every_run_filetest() {
    if let Ok(name) = std::env::var(CHILD) {
        let device = match Device::open(DeviceKind::LevelZero) {
            Ok(d) => d,
            Err(e) => {
                assert!(!required(), "{e}");
                return println!("skipped: {e}");
            }
        };
        let target = Target::from_name(&name).unwrap();
        let mut count = 0;
        for (path, names, zebin) in zebins(&target) {
            let path = path.display();
            let module = device
                .load(&zebin)
                .unwrap_or_else(|e| panic!("{name}, {path}: {e}"));
            for kernel in names {
                if let Err(e) = module.kernel(&kernel) {
                    panic!("{name}, {path}, %{kernel}: {e}");
                }
                count += 1;
            }
        }
        return println!("{name}: the driver takes {count} kernels");
    }
    if !have_ocloc() {
        return;
    }
    for name in DRIVEN {
        let dir = tempfile::tempdir().unwrap();
        let out = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "the_driver_takes_every_run_filetest",
                "--nocapture",
            ])
            .current_dir(dir.path())
            .env(CHILD, name)
            .env("NEOReadDebugKeys", "1")
            .env("SetCommandStreamReceiver", "1")
            .env("ProductFamilyOverride", name)
            .output()
            .unwrap();
        let text = format!(
            "{}{}",
            String::from_utf8_lossy(&out.stdout),
            String::from_utf8_lossy(&out.stderr)
        );
        assert!(out.status.success(), "{text}");
        let line = text.lines().find(|l| l.contains("the driver takes"));
        assert!(line.is_some() || text.contains("skipped"), "{text}");
        println!("{}", line.unwrap_or("skipped"));
    }
}

/// The product family in a zebin's notes.
fn family(zebin: &[u8]) -> Option<u32> {
    // Sizes of the owner and of what is noted, and type 1.
    let head = [8u32, 4, 1].map(u32::to_le_bytes).concat();
    let head = [head, b"IntelGT\0".to_vec()].concat();
    let at = zebin.windows(head.len()).position(|w| w == head)? + head.len();
    Some(u32::from_le_bytes(zebin.get(at..at + 4)?.try_into().ok()?))
}

#[test]
fn families_are_those_that_intels_compiler_writes() {
    if !have_ocloc() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("k.cl");
    std::fs::write(&source, "kernel void k(global int *a) { a[0] = 1; }").unwrap();
    let module = gantry_codegen::text::parse("kernel %k() simd8 {\nblock0:\n    return\n}\n")
        .unwrap()
        .module;
    for target in Target::all() {
        let name = target.name();
        let out = dir.path().join(name);
        Command::new("ocloc")
            .args(["compile", "-file"])
            .arg(&source)
            .args(["-device", name, "-out_dir"])
            .arg(&out)
            .args([
                "-internal_options",
                "-cl-allow-zebin -ze-allow-zebin -cl-enable-zebin",
            ])
            .output()
            .unwrap();
        let Ok(entries) = std::fs::read_dir(&out) else {
            // This ocloc has no Cherryview.
            assert_eq!(name, "chv", "ocloc makes nothing for {name}");
            continue;
        };
        let theirs = entries
            .filter_map(|e| std::fs::read(e.unwrap().path()).ok())
            .find_map(|bytes| family(&bytes));
        let ours = compile(&module, &CompileOptions::new(target.clone())).unwrap();
        assert!(theirs.is_some(), "{name}");
        assert_eq!(family(&ours.zebin), theirs, "{name}");
    }
}
