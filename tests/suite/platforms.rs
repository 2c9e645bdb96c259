//! Names of platforms and products: those that Intel's tools accept, with the same meaning.

use crate::common::{Scratch, oracle, run};
use gantry::runtime::zebin::Zebin;
use gantry_isa_gen::Platform;
use std::process::Command;

/// Returns the device names in the help of `ocloc compile`.
fn device_names() -> Vec<String> {
    let help = run(Command::new("ocloc").args(["compile", "--help"]));
    let text = help.out + &help.err;
    let line = text
        .lines()
        .find_map(|l| l.trim().strip_prefix("<device_type> can be: "))
        .unwrap();
    line.split(',')
        .map(str::trim)
        .filter(|n| !n.contains(' '))
        .map(str::to_string)
        .collect()
}

#[test]
fn every_name_that_ocloc_lists_is_of_the_platform_that_it_compiles_for() {
    if !oracle("ocloc") {
        return;
    }
    let names = device_names();
    assert!(names.len() > 30, "{names:?}");
    let dir = Scratch::new();
    let source = dir.write("k.cl", "kernel void k(global int *a) { a[0] = 1; }");
    let mut compiled = 0;
    for name in &names {
        let platform = Platform::from_name(name);
        assert!(platform.is_some(), "{name}");
        let out = dir.path(name);
        let made = run(Command::new("ocloc")
            .args(["compile", "-file", &source, "-device", name, "-q"])
            .arg("-out_dir")
            .arg(&out)
            .args([
                "-internal_options",
                "-cl-allow-zebin -ze-allow-zebin -cl-enable-zebin",
            ]));
        // A family's name (`xe`, `gen9`) yields an archive of several zebins.
        let files = std::fs::read_dir(&out).into_iter().flatten();
        let mut files = files.map(|f| f.unwrap().path());
        let zebin = files.find(|f| f.extension().is_some_and(|e| e == "bin"));
        let Some(zebin) = zebin.map(|f| std::fs::read(f).unwrap()) else {
            continue;
        };
        assert_eq!(made.status, Some(0), "{name}");
        if zebin.starts_with(b"\x7fELF") {
            assert_eq!(
                Some(Zebin::parse(&zebin).unwrap().platform),
                platform,
                "{name}"
            );
            compiled += 1;
        }
    }
    println!("{} names, {compiled} compiled for", names.len());
    assert!(compiled > 20);
}

#[test]
fn every_name_that_iga64_lists_is_known() {
    if !oracle("iga64") {
        return;
    }
    let help = run(Command::new("iga64").args(["-h=p"]));
    let text = help.out + &help.err;
    let mut names = 0;
    // `  - 12p1  for xe/xelp/tgl/tgllp/dg1`
    for line in text
        .lines()
        .filter_map(|l| l.trim().strip_prefix("- ")?.split_once(" for "))
    {
        let (number, parts) = line;
        let platform = Platform::from_name(number.trim());
        assert!(platform.is_some(), "{number}");
        for part in parts.trim().split('/') {
            assert_eq!(Platform::from_name(part), platform, "{part}");
            names += 1;
        }
    }
    assert!(names >= 9, "{text}");
}
