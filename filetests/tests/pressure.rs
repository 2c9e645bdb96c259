//! The kernels of the run filetests with a part of the register file: what does not fit is spilled, and does the same.
#![allow(clippy::unwrap_used, clippy::panic, reason = "test code")]

use gantry_codegen::{Allocator, Target, text};
use gantry_filetests::command::run::launches;
use gantry_filetests::runner::{RUNNERS, Way};
use gantry_filetests::{TestFile, files};
use std::path::Path;

/// A product of each family of code.
const TARGETS: [&str; 5] = ["bdw", "skl", "bxt", "icllp", "tgllp"];

/// Whether a kernel was refused since one of its instructions takes more than there is by itself, which spilling does not help, or since the kernel's own
/// scratch leaves none for spilling.
fn alone(error: &str) -> bool {
    let by_itself = error.contains("out of registers: ") && error.contains(" alone (`");
    by_itself || error.contains("bytes of scratch for a thread")
}

#[test]
fn spilled_kernels_do_the_same() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("filetests/run");
    let simulator = RUNNERS.into_iter().find(|r| r.compiles()).unwrap();
    let only = std::env::var("GANTRY_FILE").unwrap_or_default();
    let mut bad = 0;
    let coarse = [Allocator::Grfs, Allocator::LinearScan].map(|a| (128, a));
    let files_of = [64, 32, 16].map(|n| (n, Allocator::Bytes));
    for (grfs, allocator) in files_of.into_iter().chain(coarse) {
        let (mut done, mut refused, mut failures) = (0, 0, Vec::new());
        for path in files(&root).unwrap() {
            let name = path.strip_prefix(&root).unwrap().display().to_string();
            if !name.contains(&only) {
                continue;
            }
            let source = std::fs::read_to_string(&path).unwrap();
            let file = TestFile::parse(&name, &source).unwrap();
            let module = text::parse(&file.body).unwrap().module;
            for target in TARGETS.map(|t| Target::from_name(t).unwrap()) {
                if !file.is_for(&target) {
                    continue;
                }
                for way in Way::all(&module) {
                    let way = Way {
                        grfs: Some(grfs),
                        allocator,
                        ..way
                    };
                    done += 1;
                    match launches(&file, &module, simulator, &target, way) {
                        Ok(f) => failures.extend(f.into_iter().map(|f| format!("{name}: {f}"))),
                        Err(e) if alone(&e) => refused += 1,
                        Err(e) => failures.push(format!("{name}: {e}")),
                    }
                }
            }
        }
        println!(
            "{grfs} registers, places by {}: {done} compiled, {refused} refused for one instruction, {} failed",
            allocator.name(),
            failures.len()
        );
        for f in failures.iter().take(30) {
            println!("{}", f.chars().take(300).collect::<String>());
        }
        assert!(refused * 20 < done, "{refused} of {done} refused");
        bad += failures.len();
    }
    assert_eq!(bad, 0);
}
