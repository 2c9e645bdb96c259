//! Kernels as authors of CM and ESIMD write them, beside Intel's vector compiler.
//!
//! Each kernel is written twice. `filetests/filetests/cm/NAME.gir` is Gantry's IR.
//! `tests/cm/NAME.ll` is LLVM IR with the `llvm.genx` intrinsics of that compiler, which `ocloc`
//! compiles with `-vc-codegen`. Both run on the simulator with equal arguments, and are held to
//! plain Rust.
//!
//! `tests/cm/figures.txt` has what each executes, and `tests/cm/intel.txt` the same of Intel's
//! code. `GANTRY_BLESS=1 cargo test -p gantry --test suite cm::` writes both anew.
//! `GANTRY_ORACLES_2026=ROOT` is the tree of the newer compiler, without which its figures stay.

mod kernels;

use crate::common::{Random, Scratch, corpus, oracle, run};
use gantry::codegen::{CompileOptions, Target, compile, text};
use gantry::filetests::TestFile;
use gantry::runtime::{Device, Grid, SimOptions, Watch};
use kernels::{Arg, KERNELS, Kernel};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Products that kernels are compiled for.
const TARGETS: [&str; 5] = ["skl", "icllp", "tgllp", "dg2", "pvc"];

/// Products that the newer compiler knows.
const NEWER: [&str; 3] = ["tgllp", "dg2", "pvc"];

/// Seed of the arguments that figures are of.
const SEED: u64 = 1;

/// Most that the geometric mean of the ratios may be: executed instructions, Gantry's to Intel's.
/// The aim is 1.0. Who makes code better lowers these.
const LIMITS: [f64; 5] = [0.96, 0.955, 0.94, 0.785, 0.715];

/// Instructions and moves that a launch executes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Figures {
    instructions: u64,
    moves: u64,
}

/// Figures by kernel, then by column: a target, or a target with the year of the compiler.
type Table = BTreeMap<String, BTreeMap<String, Figures>>;

fn tree(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/cm")
        .join(name)
}

fn blessing() -> bool {
    std::env::var_os("GANTRY_BLESS").is_some_and(|v| v == "1")
}

/// Compiles a kernel's IR to a zebin.
fn gantry_zebin(kernel: &Kernel, target: &str) -> Vec<u8> {
    let name = format!("cm/{}.gir", kernel.name);
    let source = std::fs::read_to_string(corpus(&name)).unwrap();
    let file = TestFile::parse(&name, &source).unwrap();
    let module = text::parse(&file.body).unwrap().module;
    let target = Target::lookup(target).unwrap();
    let compiled = compile(&module, &CompileOptions::new(target));
    compiled.unwrap_or_else(|e| panic!("{name}: {e}")).zebin
}

/// Launches a thread of a kernel, compares surfaces with those of plain Rust, and counts.
fn launch(zebin: &[u8], kernel: &Kernel, args: &[Arg], what: &str) -> Figures {
    let device = Device::simulator(SimOptions::default());
    let module = device.load(zebin).unwrap_or_else(|e| panic!("{what}: {e}"));
    let entry = module.kernel(kernel.name).unwrap();
    let watch = Watch::new().counts();
    let mut launch = entry.launch(Grid::new([1, 1, 1])).watch(&watch);
    let mut surfaces = BTreeMap::new();
    for (n, arg) in args.iter().enumerate() {
        launch = match arg {
            Arg::Surface(bytes) => {
                let buffer = device.buffer_from(bytes).unwrap();
                surfaces.insert(n, buffer.clone());
                launch.arg(buffer)
            }
            Arg::I32(number) => launch.arg(*number),
            Arg::F32(number) => launch.arg(*number),
        };
    }
    let stats = launch.run().unwrap_or_else(|e| panic!("{what}: {e}"));
    for (n, expected) in (kernel.expected)(args) {
        let found: Vec<u8> = surfaces[&n].read().unwrap();
        assert_eq!(found, expected, "{what}: argument {n}");
    }
    let opcodes = watch.report().by_opcode();
    let moves = opcodes.iter().filter(|o| o.name == "mov");
    Figures {
        instructions: stats.instructions,
        moves: moves.map(|o| o.amount.executed).sum(),
    }
}

/// Launches all kernels of zebins that `zebin` makes, with arguments from a seed.
fn launch_all(zebin: impl Fn(&Kernel) -> Vec<u8>, seed: u64, column: &str, table: &mut Table) {
    for kernel in &KERNELS {
        let args = (kernel.draw)(&mut Random(seed));
        let what = format!("{}, {column}, seed {seed}", kernel.name);
        let figures = launch(&zebin(kernel), kernel, &args, &what);
        let row = table.entry(kernel.name.to_owned()).or_default();
        row.insert(column.to_owned(), figures);
    }
}

/// Returns the text of a table, a line a kernel, with its columns in the given order.
fn text_of(title: &str, columns: &[String], table: &Table) -> String {
    let mut out = format!("; {title}: {}\n", columns.join(" | "));
    for kernel in &KERNELS {
        let row = &table[kernel.name];
        let cells = columns.iter().map(|c| match row.get(c) {
            Some(f) => format!("{} {}", f.instructions, f.moves),
            None => "-".to_owned(),
        });
        let cells: Vec<String> = cells.collect();
        writeln!(out, "{}: {}", kernel.name, cells.join(" | ")).unwrap();
    }
    out
}

/// Reads such a text.
fn table_of(text: &str) -> Table {
    let columns = text.lines().next().and_then(|l| l.split_once(": "));
    let columns: Vec<&str> = columns.map_or(Vec::new(), |(_, c)| c.split(" | ").collect());
    let mut table = Table::new();
    for (name, cells) in text.lines().skip(1).filter_map(|l| l.split_once(": ")) {
        let row = table.entry(name.to_owned()).or_default();
        for (column, cell) in columns.iter().zip(cells.split(" | ")) {
            if let Some((instructions, moves)) = cell.split_once(' ') {
                let figures = Figures {
                    instructions: instructions.parse().unwrap(),
                    moves: moves.parse().unwrap(),
                };
                row.insert((*column).to_owned(), figures);
            }
        }
    }
    table
}

fn ours() -> Vec<String> {
    TARGETS.map(str::to_owned).to_vec()
}

/// Columns of Intel's figures.
fn theirs() -> Vec<String> {
    let older = TARGETS.iter().map(|t| format!("{t} 2022"));
    let newer = NEWER.iter().map(|t| format!("{t} 2026"));
    older.chain(newer).collect()
}

/// Kernels compute what plain Rust does, with other arguments each time that `GANTRY_SEED` says so.
#[test]
fn kernels_agree_with_plain_rust() {
    let seed = std::env::var("GANTRY_SEED").ok();
    let seed: u64 = seed.and_then(|s| s.parse().ok()).unwrap_or(2);
    println!("GANTRY_SEED={seed}");
    for target in TARGETS {
        for seed in [seed, seed.wrapping_add(1)] {
            launch_all(|k| gantry_zebin(k, target), seed, target, &mut Table::new());
        }
    }
}

/// Executed instructions and moves are those of `tests/cm/figures.txt`, and beside Intel's within
/// the limits.
#[test]
fn figures_are_as_they_were() {
    let mut table = Table::new();
    for target in TARGETS {
        launch_all(|k| gantry_zebin(k, target), SEED, target, &mut table);
    }
    let now = text_of("executed instructions, moves", &ours(), &table);
    let path = tree("figures.txt");
    if blessing() {
        std::fs::write(&path, &now).unwrap();
    }
    let intel = std::fs::read_to_string(tree("intel.txt")).unwrap();
    let means = compared(&table, &table_of(&intel));
    let before = std::fs::read_to_string(&path).unwrap();
    let differ = now.lines().filter(|l| !before.lines().any(|b| b == *l));
    let differ: Vec<&str> = differ.collect();
    assert!(
        differ.is_empty(),
        "figures.txt differs (GANTRY_BLESS=1 writes it anew); now:\n{}",
        differ.join("\n")
    );
    for (n, mean) in means.iter().enumerate() {
        assert!(
            *mean <= LIMITS[n],
            "{}: {mean:.3} of Intel's instructions, more than {}",
            TARGETS[n],
            LIMITS[n]
        );
    }
}

/// Prints both sides, kernel by kernel, and returns the geometric mean of the ratios of executed
/// instructions for each target. Of two compilers of Intel's, that of fewer instructions counts.
fn compared(ours: &Table, theirs: &Table) -> Vec<f64> {
    let mut means = Vec::new();
    for target in TARGETS {
        let (mut logs, mut moves) = (0.0, (0, 0));
        println!("{target:16} instructions moves | Intel's | ratio");
        for kernel in &KERNELS {
            let our = ours[kernel.name][target];
            let row = theirs[kernel.name].iter();
            let of_target = row.filter(|(c, _)| c.split(' ').next() == Some(target));
            let their = of_target.map(|(_, f)| *f).min_by_key(|f| f.instructions);
            let their = their.unwrap_or_else(|| panic!("{}, {target}: no figures", kernel.name));
            let ratio = our.instructions as f64 / their.instructions as f64;
            println!(
                "{:16} {:6} {:5} | {:6} {:5} | {ratio:.2}",
                kernel.name, our.instructions, our.moves, their.instructions, their.moves
            );
            logs += ratio.ln();
            moves = (moves.0 + our.moves, moves.1 + their.moves);
        }
        let mean = (logs / KERNELS.len() as f64).exp();
        println!(
            "{target:16} geometric mean {mean:.3}, moves {} | {}",
            moves.0, moves.1
        );
        means.push(mean);
    }
    means
}

/// Joins the files in LLVM IR: definitions, and each declaration once.
fn joined() -> String {
    let (mut heads, mut bodies) = (BTreeSet::new(), String::new());
    for kernel in &KERNELS {
        let text = std::fs::read_to_string(tree(&format!("{}.ll", kernel.name))).unwrap();
        let mut inside = false;
        for line in text.lines().filter(|l| !l.starts_with(';')) {
            inside |= line.starts_with("define ");
            if inside {
                bodies += line;
                bodies.push('\n');
            } else {
                heads.insert(line.to_owned());
            }
            inside &= line != "}";
        }
    }
    // The target comes first.
    let mut heads: Vec<String> = heads.into_iter().collect();
    heads.sort_by_key(|h| !h.starts_with("target"));
    format!("{}\n{bodies}", heads.join("\n"))
}

/// Compiles SPIR-V by Intel's vector compiler, `ocloc` being its command.
fn intel_zebin(mut ocloc: Command, dir: &Scratch, spirv: &str, target: &str, year: u32) -> Vec<u8> {
    let name = format!("{target}-{year}");
    let args = ["compile", "-spirv_input", "-file", spirv, "-device", target];
    let outputs = [
        "-out_dir",
        &dir.text(""),
        "-output",
        &name,
        "-output_no_suffix",
    ];
    let zebin = "-cl-allow-zebin -ze-allow-zebin -cl-enable-zebin";
    let options = ["-options", "-vc-codegen", "-internal_options", zebin];
    run(ocloc.args(args).args(outputs).args(options)).ok();
    let [bare, suffixed] = [name.clone(), format!("{name}.bin")].map(|n| dir.path(&n));
    std::fs::read(if suffixed.exists() { suffixed } else { bare }).unwrap()
}

/// Command of the newer compiler.
fn newer_ocloc(root: &Path) -> Command {
    let programs = std::fs::read_dir(root.join("usr/bin")).unwrap();
    let mut programs = programs.map(|e| e.unwrap());
    let ocloc = programs.find(|p| p.file_name().to_string_lossy().starts_with("ocloc"));
    let libraries = root.join("usr/lib/x86_64-linux-gnu");
    let mut command = Command::new(libraries.join("ld-linux-x86-64.so.2"));
    command
        .arg("--library-path")
        .arg(libraries)
        .arg(ocloc.unwrap().path());
    command
}

/// Intel's code computes what plain Rust does, so that the comparison is with right code, and
/// executes what `tests/cm/intel.txt` says.
#[test]
fn intels_code_agrees_with_plain_rust() {
    let found = ["ocloc", "llvm-as-14", "llvm-spirv-14"].map(oracle);
    if found.contains(&false) {
        return;
    }
    let dir = Scratch::new();
    let (module, bitcode, spirv) = (
        dir.write("all.ll", joined()),
        dir.text("bc"),
        dir.text("spv"),
    );
    run(Command::new("llvm-as-14").args([&module, "-o", &bitcode])).ok();
    let extensions = [
        "--spirv-ext=+SPV_INTEL_vector_compute",
        "--spirv-allow-unknown-intrinsics",
    ];
    run(Command::new("llvm-spirv-14")
        .args(extensions)
        .args([&bitcode, "-o", &spirv]))
    .ok();
    let mut table = Table::new();
    let root = std::env::var_os("GANTRY_ORACLES_2026").map(PathBuf::from);
    let older = TARGETS.iter().map(|t| (*t, None));
    let newer = NEWER
        .iter()
        .filter_map(|t| root.as_deref().map(|r| (*t, Some(r))));
    for (target, root) in older.chain(newer) {
        let year = if root.is_some() { 2026 } else { 2022 };
        let ocloc = root.map_or_else(|| Command::new("ocloc"), newer_ocloc);
        let zebin = intel_zebin(ocloc, &dir, &spirv, target, year);
        let column = format!("{target} {year}");
        for seed in [3, 2, SEED] {
            launch_all(|_| zebin.clone(), seed, &column, &mut table);
        }
    }
    let path = tree("intel.txt");
    let before = std::fs::read_to_string(&path).unwrap_or_default();
    let mut kept = table_of(&before);
    for (name, row) in table {
        let kept = kept.entry(name.clone()).or_default();
        for (column, figures) in row {
            let was = kept.insert(column.clone(), figures);
            if was != Some(figures) {
                println!("{name}, {column}: {figures:?}, in the file {was:?}");
            }
        }
    }
    let now = text_of(
        "executed instructions, moves of Intel's code",
        &theirs(),
        &kept,
    );
    if blessing() {
        return std::fs::write(&path, now).unwrap();
    }
    assert_eq!(
        now, before,
        "intel.txt differs (GANTRY_BLESS=1 writes it anew)"
    );
}
