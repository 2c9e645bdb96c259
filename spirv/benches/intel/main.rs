//! Comparison with Intel's compiler on the same SPIR-V: `cargo bench -p gantry-spirv --bench
//! intel`.
//!
//! Every launched kernel of the corpus, in a module of its own (`cut.rs`), is compiled by both.
//! Gantry runs in this process. Intel's compiler is timed through its driver without a GPU, in a
//! process that reads all modules first (`driver.rs`), and its zebin comes from `ocloc`. Where the
//! source requires no width, both choose one. Both zebins make the same launches on the simulator,
//! with the same expected results. Executed instructions are counted.
//!
//! - `--count`: only executed instructions, after one compile, so that the load of the machine does
//!   not matter.
//! - `--keep DIR`: keeps modules and zebins there, and reuses Intel's.
//! - `--times`: only compile times at each level, beside Intel's compiler, with times of our
//!   stages.
//! - `--times ours`: the same without Intel's.
//! - `--ablation`: every kernel with each optimizer pass off, one at a time.
//! - `--others FOLDER GANTRY`: adds another comparison, whose `compare.py` takes the command.
//! - `--target icllp`: product.
//! - `--simd 16`: width for both, where the source allows it.
//! - `--kernel NAME`: kernels whose name contains it.
//! - `--a64`: 64-bit addresses for Intel's buffers, as ours have.
//! - `--grf 256`: 256 GRFs a thread for both.
//! - `--level 1`: ours at `-O 1`.
//! - `--rounds 5`: the fastest of so many compiles counts.
//! - `--write FILE`: writes the table into a page, between its marks; `--write FOLDER` into the
//!   page of the target.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    dead_code,
    unused_imports,
    reason = "a benchmark by the tests' kit"
)]

mod ablation;
#[path = "../../../runtime/tests/suite/opencl/case.rs"]
mod case;
#[path = "../../../runtime/tests/suite/opencl/cl.rs"]
mod cl;
#[path = "../../../runtime/tests/suite/opencl/compare.rs"]
mod compare;
mod cut;
#[path = "../../../runtime/tests/common/driven.rs"]
mod driven;
mod driver;
#[path = "../../../runtime/tests/suite/opencl/judge.rs"]
mod judge;
#[path = "../../../isa-gen/tests/kernels/mod.rs"]
mod kernels;
#[path = "../../../runtime/tests/suite/opencl/reference.rs"]
mod reference;
#[path = "../../../runtime/tests/common/rng.rs"]
mod rng;
mod sides;
#[path = "../../../runtime/tests/suite/opencl/simulated.rs"]
mod simulated;
#[path = "../../tests/suite/opencl/source.rs"]
mod source;
#[path = "../../../runtime/tests/suite/opencl/specs/mod.rs"]
mod specs;
mod table;
mod timing;

use case::Case;
use gantry_codegen::{GrfMode, OptLevel};
use kernels::Device;
use sides::{Made, Ran};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// As in the `gantry` command.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Command-line options.
struct Asked {
    target: String,
    kernel: String,
    /// Width for both. `None` lets each choose.
    simd: Option<u32>,
    /// Makes Intel's compiler assume buffers over 4 GiB.
    a64: bool,
    /// Makes kernels of both use the large GRF mode.
    large: bool,
    /// Optimization level of ours.
    level: OptLevel,
    /// Number of compiles of which the fastest counts. `None` if nothing is timed.
    rounds: Option<u32>,
    /// Set if only times are wanted. The value says if Intel's are included.
    times: Option<bool>,
    /// Set to turn each pass off.
    ablation: bool,
    /// Folder of another comparison, and the command.
    others: Option<(PathBuf, PathBuf)>,
    /// Folder that keeps modules and zebins.
    keep: Option<PathBuf>,
    write: Option<PathBuf>,
}

/// Kernel with both results.
struct Row {
    file: &'static str,
    kernel: &'static str,
    /// Error if the compiler rejects it.
    ours: Result<(Made, Ran), String>,
    theirs: Result<(Made, Ran), String>,
}

/// Kernel with its module.
struct Kernel {
    file: &'static str,
    name: &'static str,
    words: Vec<u32>,
}

fn asked() -> Asked {
    let mut asked = Asked {
        target: "skl".to_owned(),
        kernel: String::new(),
        simd: None,
        a64: false,
        large: false,
        level: OptLevel::default(),
        rounds: Some(5),
        times: None,
        ablation: false,
        others: None,
        keep: None,
        write: None,
    };
    let mut args = std::env::args().skip(1).peekable();
    while let Some(arg) = args.next() {
        if arg == "--times" {
            asked.times = Some(args.next_if(|a| a == "ours").is_none());
            continue;
        }
        let mut value = || args.next().unwrap_or_else(|| panic!("{arg} wants a value"));
        match arg.as_str() {
            // Argument that cargo passes to every benchmark.
            "--bench" => {}
            "--target" => asked.target = value(),
            "--kernel" => asked.kernel = value(),
            "--simd" => asked.simd = Some(value().parse().expect("a number")),
            "--a64" => asked.a64 = true,
            "--grf" => {
                let mode = GrfMode::from_name(&value()).expect("128 or 256");
                asked.large = mode == GrfMode::Large;
            }
            "--level" => asked.level = OptLevel::from_name(&value()).expect("0, 1 or 2"),
            "--rounds" => asked.rounds = Some(value().parse().expect("a number")),
            "--ablation" => asked.ablation = true,
            "--others" => {
                let folder = value().into();
                let gantry = args.next().expect("the command");
                asked.others = Some((folder, gantry.into()));
            }
            "--count" => asked.rounds = None,
            "--keep" => asked.keep = Some(value().into()),
            "--write" => asked.write = Some(value().into()),
            _ => panic!("what is {arg}?"),
        }
    }
    asked
}

/// All launched kernels at the requested width. Without one, at any width where the source allows
/// it, else at 16.
fn kernels_of(device: &Device, cases: &[&Case], simd: Option<u32>) -> Vec<Kernel> {
    let needed = |file: &str| cases.iter().any(|c| c.file == file);
    let widths = match simd {
        Some(w) => vec![Some(w)],
        None => vec![Some(16), None],
    };
    let mut files: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for width in widths {
        for f in source::files(device, width, needed) {
            files.insert(f.name, f.words);
        }
    }
    let mut out: Vec<Kernel> = Vec::new();
    for c in cases {
        let there = out.iter().any(|k| (k.file, k.name) == (c.file, c.kernel));
        if let (Some(words), false) = (files.get(c.file), there) {
            out.push(Kernel {
                file: c.file,
                name: c.kernel,
                words: cut::one_kernel(words, c.kernel),
            });
        }
    }
    out
}

fn main() {
    if driver::is_child() {
        return driver::child();
    }
    let asked = asked();
    if !kernels::have_ocloc() || !reference::have_pocl() {
        return;
    }
    let device = Device::named(&asked.target).expect("a device of the corpus");
    let all = specs::cases();
    let cases: Vec<&Case> = all
        .iter()
        .filter(|c| c.name().contains(&asked.kernel))
        .filter(|c| c.skipped_theirs(device.name, 16).is_none())
        .filter(|c| c.only.is_none_or(|w| Some(w) == asked.simd.or(Some(16))))
        // Output of `printf` is tested elsewhere.
        .filter(|c| !c.prints)
        .collect();
    let kernels = kernels_of(device, &cases, asked.simd);
    let passing = tempfile::tempdir().expect("a folder");
    let dir = asked.keep.as_deref().unwrap_or(passing.path());
    std::fs::create_dir_all(dir).expect("a folder");
    if asked.ablation {
        let text = ablation::text(&asked, &kernels, &cases).unwrap();
        print!("{text}");
        if let Some(page) = &asked.write {
            table::write(page, &asked.target, &text);
        }
        return;
    }
    if let Some(both) = asked.times {
        let rounds = asked.rounds.unwrap_or(1);
        let theirs = || {
            if both {
                driver::times(device.name, &kernels, 1, passing.path())
            } else {
                BTreeMap::new()
            }
        };
        return timing::print(device.name, &kernels, rounds, theirs);
    }
    let times = match asked.rounds {
        Some(rounds) => driver::times(device.name, &kernels, rounds, passing.path()),
        None => BTreeMap::new(),
    };
    let mut rows = Vec::new();
    for (n, k) in kernels.iter().enumerate() {
        let mine = |c: &&&Case| (c.file, c.kernel) == (k.file, k.name);
        let cases: Vec<&Case> = cases.iter().filter(mine).copied().collect();
        let run = |made: Made| sides::run(&made, &cases).map(|r| (made, r));
        let ours = sides::ours(k, &asked, dir).and_then(run);
        let theirs = sides::theirs(k, &asked, dir)
            .map(|m| m.in_time(times.get(&n).copied()))
            .and_then(run);
        rows.push(Row {
            file: k.file,
            kernel: k.name,
            ours,
            theirs,
        });
    }
    let text = table::text(&asked, &rows);
    print!("{text}");
    if let Some(page) = &asked.write {
        table::write(page, &table::named(&asked), &text);
    }
}
