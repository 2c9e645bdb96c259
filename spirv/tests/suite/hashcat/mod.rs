//! Sample of hashcat's kernels: real programs of up to half a million instructions with all
//! callees.
//!
//! It needs `GANTRY_HASHCAT=/usr/share/hashcat/OpenCL` (of Debian's `hashcat-data`) and `ocloc`.
//! `GANTRY_SEED` draws `GANTRY_FILES` (6) of the kernel files. The first `GANTRY_BEHIND` (0) of
//! them are skipped, to continue an earlier run. Intel's front end makes SPIR-V of each, with
//! hashcat's macros.
//!
//! Each kernel is compiled for `GANTRY_TARGETS` (`skl`), in a process for each file, which measures
//! time and memory. The legality rules check every instruction. Intel's assembler checks one file
//! in `GANTRY_ASSEMBLED` (4), and Intel's driver, without a GPU, every zebin. With
//! `GANTRY_INTEL=1`, Intel's compiler compiles the same SPIR-V. The test prints the share that
//! compiles, rejections by reason, and CPU time and memory of both.

mod oracles;
mod process;
mod source;

use gantry_codegen::{CompileOptions, Target, compile};
use gantry_spirv::{Options, translate};
use oracles::CodeChecker;
use process::Took;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// File, target and output folder.
const COMPILE: &str = "GANTRY_HASHCAT_COMPILE";

/// In a process of its own: compiles a file, and writes the zebin, the names of its kernels and
/// their code.
fn compile_file(job: &str) -> Result<(), String> {
    let [file, target, out] = job.split('|').collect::<Vec<_>>()[..] else {
        return Err("a file, a target, and where the code goes".to_owned());
    };
    let bytes = fs::read(file).unwrap();
    let (words, _) = bytes.as_chunks::<4>();
    let words: Vec<u32> = words.iter().map(|w| u32::from_le_bytes(*w)).collect();
    let options = CompileOptions::for_target(target).map_err(|e| e.to_string())?;
    let wanted = Options {
        target: Some(options.clone()),
        ..Options::default()
    };
    let t = translate(&words, &wanted).map_err(|e| e.to_string())?;
    let done = compile(&t.module, &options).map_err(|e| e.to_string())?;
    let out = Path::new(out);
    fs::write(out.with_extension("zebin"), &done.zebin).unwrap();
    let mut names = String::new();
    for (n, k) in done.kernels.iter().enumerate() {
        names += &format!("{}\n", k.name);
        fs::write(out.with_extension(format!("{n}.code")), &k.code.bytes).unwrap();
    }
    fs::write(out.with_extension("names"), names).unwrap();
    Ok(())
}

/// Message of an error without place, names and numbers.
fn reason(e: &str) -> String {
    let line = e.lines().next().unwrap_or_default();
    let what = line.rsplit_once(": ").map_or(line, |x| x.1);
    what.split_whitespace()
        .map(|w| if w.parse::<u64>().is_ok() { "N" } else { w })
        .collect::<Vec<_>>()
        .join(" ")
}

/// Results of all files for a target.
#[derive(Default)]
struct Sum {
    tried: u64,
    whole: u64,
    kernels: u64,
    bytes: u64,
    took: Took,
    /// Totals of files that Intel's compiler compiled too: ours and Intel's.
    both: [Took; 2],
    compared: u64,
    refused: BTreeMap<String, Vec<String>>,
}

struct Sample {
    dir: tempfile::TempDir,
    /// Intel's assembler checks one file in so many.
    assembled: u64,
    intel: bool,
}

impl Sample {
    fn file(
        &self,
        name: &str,
        spv: &Path,
        target: &Target,
        sum: &mut Sum,
        checker: &mut CodeChecker,
    ) {
        let out = self.dir.path().join(target.name()).join(name);
        fs::create_dir_all(out.parent().unwrap()).unwrap();
        let job = format!("{}|{}|{}", spv.display(), target.name(), out.display());
        let (took, said) = process::run(&mut process::again(COMPILE, &job), self.dir.path());
        sum.tried += 1;
        sum.took.add(took);
        let what = match said {
            Ok(_) => {
                let names = fs::read_to_string(out.with_extension("names")).unwrap();
                let mut bytes = 0;
                for (n, kernel) in names.lines().enumerate() {
                    let path = out.with_extension(format!("{n}.code"));
                    let code = fs::read(&path).unwrap();
                    bytes += code.len();
                    let ask = sum.whole.is_multiple_of(self.assembled);
                    if let Err(e) = checker.code(&code, ask) {
                        panic!("{name}, {kernel}: {e}");
                    }
                    fs::remove_file(path).unwrap();
                    sum.kernels += 1;
                }
                sum.whole += 1;
                sum.bytes += bytes as u64;
                format!("{bytes} bytes of code")
            }
            Err(text) => {
                // The line follows the name of the test if tests run sequentially.
                let said = text.lines().find_map(|l| l.split_once("refused: "));
                let e = said.map(|s| s.1);
                let Some(e) = e else {
                    panic!("{name} on {}: {text}", target.name());
                };
                let on = format!("{name} on {}", target.name());
                sum.refused.entry(reason(e)).or_default().push(on);
                e.to_owned()
            }
        };
        println!(
            "{name} {} {:.1} MB {:.2} s {} MiB: {what}",
            target.name(),
            fs::metadata(spv).unwrap().len() as f64 * 1e-6,
            took.time.as_secs_f64(),
            took.peak >> 10
        );
        if self.intel {
            self.intels(spv, target, took, sum);
        }
    }

    /// Compiles the same file with Intel's compiler.
    fn intels(&self, spv: &Path, target: &Target, ours: Took, sum: &mut Sum) {
        let dir = self.dir.path().join("intel");
        fs::create_dir_all(&dir).unwrap();
        let mut command = Command::new("ocloc");
        command
            .args(["compile", "-spirv_input", "-device", target.name()])
            .arg("-file")
            .arg(spv);
        let (took, said) = process::run(&mut command, &dir);
        println!(
            "    Intel's compiler: {:.2} s {} MiB{}",
            took.time.as_secs_f64(),
            took.peak >> 10,
            if said.is_ok() { "" } else { ", refused" }
        );
        sum.both[0].add(ours);
        sum.both[1].add(took);
        sum.compared += 1;
        fs::remove_dir_all(&dir).unwrap();
    }
}

#[test]
fn hashcats_kernels_compile() {
    if let Ok(job) = env::var(COMPILE) {
        if let Err(e) = compile_file(&job) {
            println!("refused: {e}");
            std::process::exit(1);
        }
        return;
    }
    if let Ok(folder) = env::var(oracles::DRIVER) {
        return oracles::drive(&folder);
    }
    let Ok(folder) = env::var("GANTRY_HASHCAT") else {
        println!("skipped: GANTRY_HASHCAT names no folder of kernels");
        return;
    };
    let number = |name: &str, or: u64| {
        let v = env::var(name).ok();
        v.and_then(|v| v.parse().ok()).unwrap_or(or)
    };
    let (seed, count) = (number("GANTRY_SEED", 1), number("GANTRY_FILES", 6));
    let named = env::var("GANTRY_TARGETS").unwrap_or("skl".to_owned());
    let targets = named.split(',').map(|n| Target::lookup(n).unwrap());
    let mut all: Vec<(Target, Sum, CodeChecker)> = targets
        .map(|t| (t.clone(), Sum::default(), CodeChecker::new(t.platform())))
        .collect();
    let sample = Sample {
        dir: tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap(),
        assembled: number("GANTRY_ASSEMBLED", 4).max(1),
        intel: number("GANTRY_INTEL", 0) == 1,
    };
    let (mut names, files) = source::drawn(&folder, seed, count);
    let behind = usize::try_from(number("GANTRY_BEHIND", 0)).unwrap();
    names.drain(..behind.min(names.len()));
    let mut none = 0;
    for name in &names {
        match source::spirv(&folder, name) {
            Ok(spv) => {
                for (target, sum, checker) in &mut all {
                    sample.file(name, &spv, target, sum, checker);
                }
            }
            Err(e) => {
                println!("{name}: Intel's front end: {e}");
                none += 1;
            }
        }
    }
    println!(
        "{} of {files} files by seed {seed}, {none} not taken by Intel's front end",
        names.len()
    );
    for (target, sum, checker) in &all {
        for (reason, names) in &sum.refused {
            println!("{:4} {reason}: {}", names.len(), names.join(", "));
        }
        println!(
            "{}: {} of {} files compile, {} kernels, {} bytes of code in {:.1} s, {} MiB at most",
            target.name(),
            sum.whole,
            sum.tried,
            sum.kernels,
            sum.bytes,
            sum.took.time.as_secs_f64(),
            sum.took.peak >> 10
        );
        println!(
            "    {} instructions are legal; Intel's assembler was shown {}, {} different ones, and agrees",
            checker.legal, checker.assembled, checker.distinct
        );
        if sum.whole > 0 {
            let zebins = sample.dir.path().join(target.name());
            match oracles::driver(&zebins, target) {
                Ok(line) => println!("    {line}"),
                Err(e) => panic!("{}: {e}", target.name()),
            }
        }
        let [ours, theirs] = sum.both;
        if sum.compared > 0 {
            println!(
                "    {} files in {:.1} s, {} MiB at most; by Intel's compiler in {:.1} s, {} MiB",
                sum.compared,
                ours.time.as_secs_f64(),
                ours.peak >> 10,
                theirs.time.as_secs_f64(),
                theirs.peak >> 10
            );
        }
        assert!(
            sum.tried > 0 && sum.whole * 10 >= sum.tried * 9,
            "most should compile"
        );
    }
}
