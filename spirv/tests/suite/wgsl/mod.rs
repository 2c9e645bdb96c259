//! WGSL compute shaders against plain Rust, on the simulator for every platform and SIMD width. The
//! legality rules check the code, and launches check SWSB annotations.
//!
//! `GANTRY_SHADER=name` runs shaders whose name contains it. Covered instructions and functions are
//! printed.

mod case;
mod cover;
mod front;
mod modules;
mod specs;
mod textures;

use crate::targets::TARGETS;
use case::Case;
use std::collections::BTreeSet;

fn check(target: &str) {
    let only = std::env::var("GANTRY_SHADER").unwrap_or_default();
    let mut wrong = Vec::new();
    let (mut shaders, mut runs) = (0, 0);
    let mut cover = cover::Cover::default();
    for case in specs::all() {
        if !case.name.contains(&only) {
            continue;
        }
        shaders += 1;
        cover.add(case.text);
        for simd in [8, 16, 32] {
            for robust in [true, false] {
                if !robust && !case.also_unchecked {
                    continue;
                }
                runs += 1;
                if let Err(e) = case.run(target, simd, robust) {
                    let checks = if robust { "" } else { ", unchecked" };
                    wrong.push(format!("{} on {target} SIMD{simd}{checks}: {e}", case.name));
                }
            }
        }
    }
    println!(
        "{target}: {shaders} shaders, {runs} launches, {} wrong",
        wrong.len()
    );
    if target == "skl" {
        println!("{cover}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Checks that every file has a case, and that names are unique.
#[test]
fn all_files() {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/wgsl");
    let files: BTreeSet<String> = std::fs::read_dir(dir)
        .unwrap()
        .filter_map(|e| {
            e.unwrap()
                .file_name()
                .to_str()?
                .strip_suffix(".wgsl")
                .map(str::to_owned)
        })
        .collect();
    let cases: Vec<Case> = specs::all();
    let names: BTreeSet<String> = cases.iter().map(|c| c.name.to_owned()).collect();
    assert_eq!(names.len(), cases.len());
    assert_eq!(files, names);
}

macro_rules! targets {
    ($($name:ident)*) => {
        const NAMES: [&str; TARGETS.len()] = [$(stringify!($name)),*];
        $(#[test]
        fn $name() {
            check(stringify!($name));
        })*
    };
}

targets! { bdw chv skl bxt icllp tgllp dg2 pvc }

#[test]
fn every_target() {
    assert_eq!(NAMES, TARGETS);
}
