//! Compute shaders of naga's test inputs: `GANTRY_NAGA=DIR` is a directory of them (`naga/tests/in`
//! of gfx-rs/wgpu). Prints the share that compiles for each target and width, and the reasons for
//! rejections.

use crate::targets::TARGETS;
use gantry_codegen::{CompileOptions, compile};
use gantry_spirv::wgsl::{WgslError, translate_wgsl};
use gantry_spirv::{Fault, Options, Simd};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

fn files(dir: &Path, out: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(dir)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, out);
        } else if path.extension().is_some_and(|e| e == "wgsl") {
            out.push(path);
        }
    }
}

/// Compiles a text at a width for a target.
fn one(text: &str, simd: u32, target: &str) -> Result<(), String> {
    let options = Options {
        simd: Simd::Width(simd),
        ..Options::default()
    };
    let translated = match translate_wgsl(text, &options) {
        Ok(t) => t,
        Err(WgslError::Text(e)) => {
            let line = e.lines().next().unwrap_or_default();
            return Err(format!("naga: {line}"));
        }
        Err(WgslError::Spirv(e)) => {
            if let Some(e) = e.0.iter().find(|e| e.fault == Fault::Internal) {
                panic!("{e}");
            }
            let what: BTreeSet<String> = e.0.iter().map(|e| reason(&e.to_string())).collect();
            let what: Vec<String> = what.into_iter().collect();
            return Err(what.join("; "));
        }
        Err(e) => return Err(e.to_string()),
    };
    let mut options = CompileOptions::for_target(target).unwrap();
    options.check = true;
    match compile(&translated.module, &options) {
        Ok(_) => Ok(()),
        Err(e) => Err(format!("compiler: {e}")),
    }
}

/// Message of an error without its place.
fn reason(line: &str) -> String {
    match line.split_once(": ") {
        Some((place, what)) if place.contains("word ") => what.to_owned(),
        _ => line.to_owned(),
    }
}

#[test]
fn compute_shaders() {
    let Some(dir) = std::env::var_os("GANTRY_NAGA") else {
        println!("skipped: GANTRY_NAGA names no directory of naga's test inputs");
        return;
    };
    let mut all = Vec::new();
    files(Path::new(&dir), &mut all);
    let (mut texts, mut old) = (Vec::new(), BTreeMap::new());
    for path in all {
        let text = std::fs::read_to_string(&path).unwrap();
        if text.contains("@compute") {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            // Texts that naga itself rejects are of another version of naga.
            match one(&text, 16, "skl") {
                Err(e) if e.starts_with("naga: ") => {
                    old.insert(name, e);
                }
                _ => texts.push((name, text)),
            }
        }
    }
    let mut refused: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for target in TARGETS {
        for simd in [8, 16, 32] {
            let mut done = 0;
            for (name, text) in &texts {
                let result = catch_unwind(AssertUnwindSafe(|| one(text, simd, target)));
                match result {
                    Ok(Ok(())) => done += 1,
                    Ok(Err(e)) => {
                        refused.entry(e).or_default().insert(name.clone());
                    }
                    Err(_) => panic!("{name} for {target} at SIMD{simd} panics"),
                }
            }
            println!(
                "{target:6} SIMD{simd:<2} {done} of {} files compile",
                texts.len()
            );
        }
    }
    for (why, names) in &refused {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        println!("    {why}: {}", names.join(" "));
    }
    println!("{} files that this naga does not take:", old.len());
    for (name, why) in &old {
        println!("    {name}: {why}");
    }
    assert!(!texts.is_empty());
}
