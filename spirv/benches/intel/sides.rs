//! Zebins of both compilers, and their executed instructions.

use crate::case::Case;
use crate::{Asked, Kernel, judge, simulated};
use gantry_codegen::{CompileOptions, Context, GrfMode};
use gantry_isa_gen::perf::Cycles;
use gantry_runtime::Watch;
use gantry_runtime::zebin::Zebin;
use gantry_spirv::{Options, compile};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Options for zebins on generations where they are not the default.
const ZEBIN: &str = "-cl-allow-zebin -ze-allow-zebin -cl-enable-zebin";

/// Compiled kernel.
pub struct Made {
    pub zebin: Vec<u8>,
    pub simd: u32,
    /// Code size in bytes.
    pub bytes: usize,
    /// Scratch bytes of a thread.
    pub scratch: u32,
    /// Threads of an EU.
    pub threads: u32,
    /// Fastest compile time.
    pub time: Option<Duration>,
}

impl Made {
    fn of(zebin: Vec<u8>, kernel: &str, time: Option<Duration>) -> Result<Made, String> {
        let read = Zebin::parse(&zebin).map_err(|e| e.to_string())?;
        let at = read.kernels.iter().position(|k| k.name == kernel);
        let at = at.ok_or_else(|| format!("no kernel {kernel} in the zebin"))?;
        let info = &read.kernels[at];
        let features = read.platform.features();
        let code = read.code(&zebin, at).unwrap_or_default();
        let code = &code[..trimmed(code)];
        Ok(Made {
            simd: info.env.simd_size,
            scratch: info.scratch_bytes(),
            bytes: code.len(),
            // Threads share the registers of an EU.
            threads: features.eu_threads * features.grf_count / info.grf_count.max(1),
            zebin,
            time,
        })
    }

    /// Sets the compile time.
    pub fn in_time(self, time: Option<Duration>) -> Made {
        Made { time, ..self }
    }
}

/// Code size without trailing zeros.
fn trimmed(code: &[u8]) -> usize {
    code.iter().rposition(|b| *b != 0).map_or(0, |n| n + 1)
}

/// Compiles with Gantry, from words to zebin, and times the fastest of several compiles if asked.
pub fn ours(k: &Kernel, asked: &Asked, dir: &Path) -> Result<Made, String> {
    let (device, rounds) = (&asked.target, asked.rounds);
    let mut target = CompileOptions::for_target(device).map_err(|e| e.to_string())?;
    target.check = false;
    target.opt = asked.level;
    if asked.large {
        target.grf_mode = GrfMode::Large;
    }
    let made = made(k, &target, rounds.map_or(1, |r| r.max(1) * 4))?;
    let file = dir.join(format!("{}.{}.{device}.gantry.zebin", k.file, k.name));
    std::fs::write(file, &made.zebin).map_err(|e| e.to_string())?;
    let time = made.time.filter(|_| rounds.is_some());
    Ok(made.in_time(time))
}

/// Compiles with Gantry and given options, and times the fastest of `rounds` compiles.
pub fn made(k: &Kernel, target: &CompileOptions, rounds: u32) -> Result<Made, String> {
    let options = Options {
        kernel: Some(k.name.to_owned()),
        ..Options::default()
    };
    let mut context = Context::new();
    let mut best = Duration::MAX;
    let mut zebin = Vec::new();
    for _ in 0..rounds.max(1) {
        let start = Instant::now();
        let compiled = compile(&k.words, &options, target, &mut context);
        best = best.min(start.elapsed());
        zebin = compiled.map_err(|e| e.to_string())?.1.zebin;
    }
    Made::of(zebin, k.name, Some(best))
}

/// Compiles with Intel's compiler.
pub fn theirs(k: &Kernel, asked: &Asked, dir: &Path) -> Result<Made, String> {
    let device = &asked.target;
    let (mut options, mut kind) = ("-cl-std=CL2.0".to_owned(), String::new());
    if asked.a64 {
        options += " -cl-intel-greater-than-4GB-buffer-required";
        kind += ".a64";
    }
    if asked.large {
        options += " -cl-intel-256-GRF-per-thread";
        kind += ".256";
    }
    let name = format!("{}.{}.{device}{kind}", k.file, k.name);
    let file = dir.join(format!("{name}.spv"));
    let zebin = format!("{name}.zebin");
    let bytes: Vec<u8> = k.words.iter().flat_map(|w| w.to_le_bytes()).collect();
    if std::fs::read(&file).is_ok_and(|kept| kept == bytes)
        && let Ok(kept) = std::fs::read(dir.join(&zebin))
    {
        return Made::of(kept, k.name, None);
    }
    std::fs::write(&file, bytes).map_err(|e| e.to_string())?;
    let done = Command::new("ocloc")
        .args(["compile", "-q", "-spirv_input", "-device", device])
        .args(["-internal_options", ZEBIN, "-options", &options])
        .args(["-output_no_suffix", "-output", &zebin])
        .arg("-file")
        .arg(&file)
        .arg("-out_dir")
        .arg(dir)
        .output()
        .map_err(|e| format!("ocloc: {e}"))?;
    let bytes = std::fs::read(dir.join(&zebin));
    let bytes = bytes.map_err(|_| String::from_utf8_lossy(&done.stdout).into_owned())?;
    Made::of(bytes, k.name, None)
}

/// Executed instructions over all launches of a kernel.
#[derive(Clone, Copy, Default)]
pub struct Ran {
    /// Instructions other than `sync`.
    pub instructions: u64,
    pub syncs: u64,
    pub sends: u64,
    /// Block messages to scratch: fills, spills, and private memory.
    pub scratch: u64,
    pub threads: u64,
    /// Cycles of all threads by the model of `docs/scheduling.md`.
    pub cycles: Cycles,
}

/// Makes the launches and checks their results.
pub fn run(made: &Made, cases: &[&Case]) -> Result<Ran, String> {
    let module = simulated::load_on(&made.zebin, 1)?;
    let mut out = Ran::default();
    let watch = Watch::new().counts().cycles();
    for case in cases {
        let stats = judge::watched(case, &module, made.simd, Some(&watch));
        let stats = stats.map_err(|e| format!("wrong: {e}"))?;
        out.instructions += stats.instructions;
        out.sends += stats.sends;
        out.threads += stats.threads;
        out.scratch += stats.scratch.reads + stats.scratch.writes;
    }
    let report = watch.report();
    out.cycles = report.cycles;
    let totals = report.by_opcode();
    let syncs = totals.iter().filter(|t| t.name.starts_with("sync"));
    out.syncs = syncs.map(|t| t.amount.executed).sum();
    out.instructions -= out.syncs;
    Ok(out)
}
