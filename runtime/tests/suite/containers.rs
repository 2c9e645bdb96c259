//! Archives of several products and program binaries of OpenCL, as `ocloc` writes them.

use crate::common::{ZEBIN, have};
use gantry_runtime::{Device, Grid};
use std::process::Command;

const ADD: &str = "kernel void add(global uint *to, uint n) { to[get_global_id(0)] += n; }";

/// Compiles for a list of devices and returns the files of `ocloc` by their extension.
fn compiled(devices: &str, options: &str) -> Vec<(String, Vec<u8>)> {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("k.cl"), ADD).unwrap();
    let out = Command::new("ocloc")
        .args([
            "compile", "-file", "k.cl", "-device", devices, "-output", "out",
        ])
        .args(["-out_dir", ".", "-internal_options", options])
        .current_dir(dir.path())
        .output()
        .unwrap();
    assert!(
        out.status.success(),
        "{}",
        String::from_utf8_lossy(&out.stdout)
    );
    let files = std::fs::read_dir(dir.path())
        .unwrap()
        .map(|e| e.unwrap().path());
    files
        .filter(|f| f.file_name().is_some_and(|n| n != "k.cl"))
        .map(|f| {
            let extension = f.extension().map(|e| e.to_string_lossy().into_owned());
            (extension.unwrap_or_default(), std::fs::read(&f).unwrap())
        })
        .collect()
}

/// Returns the archive for a list of devices.
fn archive(devices: &str) -> Vec<u8> {
    let files = compiled(devices, ZEBIN);
    let archive = files.into_iter().find(|f| f.1.starts_with(b"!<arch>"));
    archive.unwrap().1
}

fn runs(device: &Device, bytes: &[u8]) {
    let kernel = device.load(bytes).unwrap().kernel("add").unwrap();
    let to = device.buffer_from(&[1u32; 40]).unwrap();
    let launch = kernel.launch(Grid::new([40, 1, 1])).arg(&to).arg(6u32);
    launch.run().unwrap();
    assert_eq!(to.read::<u32>().unwrap(), [7; 40]);
}

#[test]
fn a_device_takes_its_part_of_an_archive() {
    if !have("ocloc") {
        return;
    }
    let all = archive("skl,tgllp,dg2-g10,pvc");
    for name in ["skl", "kbl", "tgllp", "adl-p", "dg2", "pvc"] {
        runs(&Device::named(name).unwrap(), &all);
    }
    runs(&Device::named("sim").unwrap(), &all);
    let error = Device::named("icllp").unwrap().load(&all).unwrap_err();
    let error = error.to_string();
    assert!(error.contains("no zebin for icllp"), "{error}");
    for part in [
        "64.9.0.9 for skl",
        "64.12.0.0 for tgllp",
        "for dg2",
        "for pvc",
    ] {
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn programs_of_patch_tokens_are_refused_by_name() {
    if !have("ocloc") {
        return;
    }
    let files = compiled("skl", "");
    let program = files.iter().find(|f| f.0 == "bin").unwrap();
    let device = Device::named("skl").unwrap();
    let error = device.load(&program.1).unwrap_err().to_string();
    assert!(error.contains("patch tokens"), "{error}");
    assert!(error.contains("-cl-enable-zebin"), "{error}");
}

/// Bytes of an archive set to others, and its ends cut off: an error or a module, no panic.
#[test]
fn damaged_archives_load_or_fail() {
    if !have("ocloc") {
        return;
    }
    let all = archive("skl,tgllp");
    let device = Device::named("tgllp").unwrap();
    // All headers, and bytes of the zebins.
    let step = |n: usize| if n < 256 { 1 } else { 37 };
    let mut n = 0;
    while n < all.len() {
        let _ = device.load(&all[..n]);
        for value in [0, b' ', b'9', 0xff] {
            let mut bytes = all.clone();
            bytes[n] = value;
            let _ = device.load(&bytes);
        }
        n += step(n);
    }
}
