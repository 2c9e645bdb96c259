//! Comparison with Intel's compiler.

use crate::{Arguments, Res};
use gantry_codegen::compile;
use gantry_filetests::pressure::{Kernel, ir, opencl};
use gantry_filetests::runner::{CompileVariant, RUNNERS, simulate};
use gantry_runtime::LaunchStats;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Options for zebin output on the generations that do not have it by default.
const ZEBIN: &str = "-cl-allow-zebin -ze-allow-zebin -cl-enable-zebin";

/// Compiles with Intel's compiler for skl. Returns the zebin, and the time of the fastest of
/// `rounds` runs.
pub fn ocloc(k: &Kernel, asked: &Arguments, rounds: u32, dir: &Path) -> Res<(Vec<u8>, Duration)> {
    let kernel = &k.name;
    let source = opencl::source(kernel, &k.program);
    let options = if asked.wide {
        "-cl-intel-greater-than-4GB-buffer-required"
    } else {
        ""
    };
    let file = dir.join(format!("{kernel}.cl"));
    let out = dir.join(format!("{kernel}.ocloc.zebin"));
    std::fs::write(&file, &source).map_err(|e| e.to_string())?;
    let mut best = Duration::MAX;
    for _ in 0..rounds {
        let start = Instant::now();
        let done = Command::new("ocloc")
            .args(["compile", "-q", "-device", "skl", "-output_no_suffix"])
            .args(["-internal_options", ZEBIN, "-options", options])
            .arg("-file")
            .arg(&file)
            .arg("-output")
            .arg(format!("{kernel}.ocloc.zebin"))
            .arg("-out_dir")
            .arg(dir)
            .output()
            .map_err(|e| format!("ocloc: {e}"))?;
        best = best.min(start.elapsed());
        if !done.status.success() {
            return Err(String::from_utf8_lossy(&done.stdout).into_owned());
        }
    }
    let bytes = std::fs::read(&out).map_err(|e| e.to_string())?;
    Ok((bytes, best))
}

/// Compiles with Gantry. Returns the zebin, the time of the fastest of `rounds` runs, and the
/// demand: bytes live at once, registers in scratch.
pub fn ours(k: &Kernel, asked: &Arguments, rounds: u32) -> Res<(Vec<u8>, Duration, u32)> {
    let module = ir::module(&k.name, &k.program, !asked.wide).map_err(|e| e.to_string())?;
    let options = asked.options()?;
    let mut best = Duration::MAX;
    let mut out = None;
    for _ in 0..rounds {
        let start = Instant::now();
        let done = compile(&module, &options).map_err(|e| e.to_string())?;
        best = best.min(start.elapsed());
        let demand = done.kernels.iter().map(|k| k.stats.grf_bytes_demand).max();
        out = Some((done.zebin, demand.unwrap_or(0)));
    }
    let (zebin, demand) = out.ok_or("no round")?;
    Ok((zebin, best, demand))
}

/// Figures of one side.
struct Side {
    scratch: u32,
    stats: LaunchStats,
    time: Duration,
}

impl Side {
    fn row(&self) -> String {
        let s = &self.stats.scratch;
        let n = self.stats.threads;
        format!(
            "{:>7} {:>6} {:>6} {:>6} {:>7} {:>8} {:>9.2}",
            self.scratch,
            s.end,
            s.reads / n,
            s.writes / n,
            (s.bytes_read + s.bytes_written) / n,
            self.stats.instructions / n,
            self.time.as_secs_f64() * 1e3
        )
    }
}

/// Figures of both sides, the demand, and an error in the other side's result.
type Comparison = (Side, Side, u32, Option<String>);

fn measure(k: &Kernel, asked: &Arguments, dir: &Path) -> Res<Comparison> {
    let run = k.launch();
    let module = ir::module(&k.name, &k.program, !asked.wide).map_err(|e| e.to_string())?;
    let (zebin, time, demand) = ours(k, asked, 5)?;
    let text = module.to_string();
    std::fs::write(dir.join(format!("{}.gir", k.name)), text).map_err(|e| e.to_string())?;
    let file = dir.join(format!("{}.zebin", k.name));
    std::fs::write(file, &zebin).map_err(|e| e.to_string())?;
    let (ran, stats, scratch) = simulate(&zebin, &run)?;
    let us = Side {
        scratch,
        stats,
        time,
    };
    let (zebin, time) = ocloc(k, asked, 2, dir)?;
    let (theirs, stats, scratch) = simulate(&zebin, &run)?;
    let them = Side {
        scratch,
        stats,
        time,
    };
    let mut wrong = None;
    for runner in RUNNERS.iter().filter(|r| !r.compiles()) {
        let prepared = runner.prepare(&module, "skl", CompileVariant::default())?;
        let interpreted = prepared.run(&run)?;
        k.same(&interpreted, &ran)?;
        wrong = k.same(&interpreted, &theirs).err();
    }
    Ok((us, them, demand, wrong))
}

/// Prints the table.
pub fn table(asked: &Arguments) -> Res<()> {
    let made = tempfile::tempdir().map_err(|e| e.to_string())?;
    let dir = asked.keep.as_deref().unwrap_or(made.path());
    std::fs::create_dir_all(dir).map_err(|e| e.to_string())?;
    const HEAD: &str = "scratch  slots  fills spills   bytes executed   compile";
    println!(
        "A thread's scratch in the zebin and up to where it is used, fills and spills in messages and in bytes,"
    );
    println!(
        "instructions, milliseconds to compile. `=`: no more scratch, fills and spills than Intel's."
    );
    println!(
        "{:<12} {:>6}  | ours{:>50} | Intel's",
        "kernel", "demand", ""
    );
    println!("{:<12} {:>6}  | {HEAD} | {HEAD}", "", "");
    let (mut good, mut of) = (0, 0);
    let mut wrongs = Vec::new();
    for k in &asked.kernels {
        let (us, them, demand, wrong) = match measure(k, asked, dir) {
            Ok(found) => found,
            Err(e) => {
                println!("{:<12} {}", k.name, e.lines().next().unwrap_or(""));
                continue;
            }
        };
        let (a, b) = (&us.stats.scratch, &them.stats.scratch);
        let equal = us.scratch <= them.scratch && a.reads <= b.reads && a.writes <= b.writes;
        if k.counted {
            of += 1;
            good += u32::from(equal);
        }
        let mark = if equal { '=' } else { ' ' };
        println!(
            "{:<12} {demand:>6} {mark}| {} | {}",
            k.name,
            us.row(),
            them.row()
        );
        wrongs.extend(wrong);
    }
    for w in wrongs {
        println!("another result from Intel's compiler: {w}");
    }
    println!("no more than Intel's in all three on {good} of {of} that are judged");
    Ok(())
}
