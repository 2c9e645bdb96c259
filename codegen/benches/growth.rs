//! Growth of time and memory with the size of a function. For each level, shape and size it prints
//! the seconds of each stage, the peak memory, and the growth for ten times the instructions.
//!
//! `cargo bench -p gantry-codegen --bench growth [-- SHAPE... [-O 0,1,2] [--sizes
//! 1000,10000,100000] [--rounds 9] [--inside] [--text]]`
//!
//! - `-O`: levels, by default all three.
//! - `--inside`: also passes of the optimizer and phases of allocation.
//! - `--text`: also building, printing, parsing and verification of the IR.
//!
//! Each measurement is a process of its own, so that its peak memory is its own. The least of
//! several rounds counts. `build`, `print`, `parse`, `check` (verification of the parsed text) and
//! `compile` are seconds of CPU time where the host reports it (Linux). Stages of the pipeline are
//! wall time.
//!
//! From the second size on, a second row has the growth factor of each column per decade of
//! instructions. Columns below a millisecond are left out. The factor is the median over rounds,
//! and each round measures all sizes in succession. The speed of a shared machine may vary by half
//! within seconds. So the least of the rounds is more reliable for short measurements (20 ms) than
//! for long ones (200 ms).

use gantry_codegen::fuzzing::shapes::Shape;
use gantry_codegen::ir::Module;
use gantry_codegen::{CompileOptions, OptLevel, Pass, Phase, Stage, compile, text, verifier};
use std::collections::BTreeMap;
use std::error::Error;
use std::process::Command;
use std::time::Instant;

type Res<T> = Result<T, Box<dyn Error>>;

/// Same allocator as in the `gantry` command.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Peak memory of this process, in kilobytes.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse().ok()
}

fn instructions(module: &Module) -> usize {
    let blocks = |f: &gantry_codegen::ir::Function| -> usize {
        let blocks = f.layout.blocks().iter();
        blocks.map(|&b| f.layout.insts(b).len()).sum()
    };
    module.functions.values().map(blocks).sum()
}

/// CPU time of this process in seconds, which excludes other processes; wall time if the host does
/// not report it.
fn seconds(start: Instant) -> f64 {
    // The counter is updated when the thread yields.
    std::thread::yield_now();
    let stat = std::fs::read_to_string("/proc/self/schedstat").ok();
    let nanoseconds = stat.and_then(|s| s.split(' ').next()?.parse::<u64>().ok());
    match nanoseconds {
        Some(n) => n as f64 * 1e-9,
        None => start.elapsed().as_secs_f64(),
    }
}

/// Runs one measurement. Prints `name seconds` per line, then `instructions`, `machine` and
/// `kilobytes`.
fn measure(shape: Shape, size: usize, level: Option<OptLevel>) -> Res<()> {
    let start = Instant::now();
    let mut last = seconds(start);
    let mut lap = |name: &str| {
        let now = seconds(start);
        println!("{name} {}", now - last);
        last = now;
    };
    let module = shape.module(size)?;
    lap("build");
    match level {
        None => {
            let text = module.to_string();
            lap("print");
            let parsed = text::parse(&text).map_err(|e| e.to_string())?;
            lap("parse");
            verifier::verify_parsed(&parsed).map_err(|e| e.to_string())?;
            lap("check");
        }
        Some(opt) => {
            let options = CompileOptions {
                check: false,
                opt,
                ..CompileOptions::for_target("skl")?
            };
            let compiled = compile(&module, &options)?;
            lap("compile");
            for k in &compiled.kernels {
                for (stage, time) in &k.stats.stages {
                    println!("{stage} {}", time.as_secs_f64());
                }
                for p in &k.stats.passes {
                    println!("pass.{} {}", p.pass.name(), p.time.as_secs_f64());
                }
                for phase in Phase::ALL {
                    let time = k.stats.phases.time(phase);
                    println!("phase.{} {}", phase.name(), time.as_secs_f64());
                }
                println!("machine {}", k.stats.instructions);
            }
        }
    }
    println!("instructions {}", instructions(&module));
    println!("kilobytes {}", peak_memory().unwrap_or(0));
    Ok(())
}

/// Runs a measurement in a child process, and returns its output.
fn child(shape: Shape, size: usize, level: Option<OptLevel>) -> Res<Vec<(String, f64)>> {
    let mode = level.map_or("text", OptLevel::name);
    let out = Command::new(std::env::current_exe()?)
        .args(["--one", shape.name(), &size.to_string(), mode])
        .output()?;
    if !out.status.success() {
        let error = String::from_utf8_lossy(&out.stderr);
        return Err(format!("{} of {size}: {}: {error}", shape.name(), out.status).into());
    }
    let text = String::from_utf8(out.stdout)?;
    let lines = text.lines().filter_map(|l| l.split_once(' '));
    lines
        .map(|(name, x)| Ok((name.to_string(), x.parse()?)))
        .collect()
}

/// Figures by name, with a value for each round.
type Figures = BTreeMap<String, Vec<f64>>;

/// Settings of the command line.
struct Settings {
    shapes: Vec<Shape>,
    levels: Vec<OptLevel>,
    sizes: Vec<usize>,
    rounds: usize,
    inside: bool,
    text: bool,
}

impl Settings {
    /// Returns the names of the time columns.
    fn columns(&self) -> Vec<String> {
        let mut out = Vec::new();
        if self.text {
            out.extend(["build", "print", "parse", "check"].map(str::to_owned));
        }
        for stage in Stage::ALL {
            out.push(stage.name().to_owned());
            if self.inside && stage == Stage::Opt {
                let passes = Pass::ALL.iter();
                out.extend(passes.map(|p| format!("pass.{}", p.name())));
            }
            if self.inside && stage == Stage::Regalloc {
                let phases = Phase::ALL.iter();
                out.extend(phases.map(|p| format!("phase.{}", p.name())));
            }
        }
        out.push("compile".to_owned());
        out
    }

    /// Measures the figures of one shape, size and level in one round, by name.
    fn round(&self, shape: Shape, size: usize, level: OptLevel) -> Res<BTreeMap<String, f64>> {
        let mut out: BTreeMap<String, f64> = BTreeMap::new();
        let texts = std::iter::once(None).filter(|_| self.text);
        for level in std::iter::once(Some(level)).chain(texts) {
            let mut all: BTreeMap<String, f64> = BTreeMap::new();
            // Figures that several kernels report are summed.
            for (name, x) in child(shape, size, level)? {
                *all.entry(name).or_default() += x;
            }
            // Memory and counts are those of compilation, which comes first.
            for (name, x) in all {
                out.entry(name).or_insert(x);
            }
        }
        Ok(out)
    }

    /// Measures the figures of one shape and level by size. Each round measures all sizes, since
    /// the load of a machine changes with time.
    fn figures(&self, shape: Shape, level: OptLevel) -> Res<Vec<Figures>> {
        let mut out: Vec<Figures> = vec![BTreeMap::new(); self.sizes.len()];
        for _ in 0..self.rounds {
            for (&size, out) in self.sizes.iter().zip(&mut out) {
                for (name, x) in self.round(shape, size, level)? {
                    out.entry(name).or_default().push(x);
                }
            }
        }
        Ok(out)
    }

    fn table(&self) -> Res<()> {
        let columns = self.columns();
        print!("{:17} O {:>7} {:>7}", "shape", "insts", "machine");
        // Names of passes and phases are cut to the width of their columns.
        let short = |c: &str| -> String {
            let name = c.split_once('.').map_or(c, |(_, name)| name);
            name.chars().take(8).collect()
        };
        columns.iter().for_each(|c| print!(" {:>8}", short(c)));
        println!(" {:>8} {:>6}", "kB", "B/inst");
        let pairs = self.shapes.iter();
        for (&shape, &level) in pairs.flat_map(|s| self.levels.iter().map(move |l| (s, l))) {
            let mut before: Option<(f64, Figures)> = None;
            for found in self.figures(shape, level)? {
                let get = |name: &str| {
                    let all = found.get(name).into_iter().flatten();
                    all.copied().reduce(f64::min).unwrap_or(0.0)
                };
                let times: Vec<f64> = columns.iter().map(|c| get(c)).collect();
                let (insts, kilobytes) = (get("instructions"), get("kilobytes"));
                let name = (shape.name(), level.name());
                print!("{:17} {} {insts:7} {:7}", name.0, name.1, get("machine"));
                times.iter().for_each(|t| print!(" {t:8.4}"));
                println!(" {kilobytes:8} {:6.0}", kilobytes * 1024.0 / insts.max(1.0));
                if let Some((smaller, old)) = before {
                    print!("{:35}", "  times, a decade");
                    // Growth per ten times the instructions.
                    let decades = (insts / smaller).log10();
                    for (t, column) in times.iter().zip(&columns) {
                        let times = median_ratio(found.get(column), old.get(column));
                        match times {
                            Some(x) if *t >= 0.001 => print!(" {:8.1}", x.powf(1.0 / decades)),
                            // Very short times cannot be compared.
                            _ => print!(" {:>8}", "-"),
                        }
                    }
                    println!();
                }
                before = Some((insts, found));
            }
        }
        Ok(())
    }
}

/// Returns the median over rounds of the growth factor.
fn median_ratio(now: Option<&Vec<f64>>, before: Option<&Vec<f64>>) -> Option<f64> {
    let pairs = now?.iter().zip(before?);
    let mut all: Vec<f64> = pairs.map(|(t, o)| t / o.max(1e-6)).collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied()
}

/// Parses a comma-separated list of numbers or names.
fn list<T>(value: Option<&String>, read: impl Fn(&str) -> Option<T>) -> Res<Vec<T>> {
    let value = value.map_or("", String::as_str);
    let read = |s| read(s).ok_or_else(|| format!("what is `{s}`?").into());
    value.split(',').map(read).collect()
}

fn main() -> Res<()> {
    let args: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| a != "--bench")
        .collect();
    if let [one, shape, size, mode] = &args[..]
        && one == "--one"
    {
        let shape = Shape::from_name(shape).ok_or("no such shape")?;
        return measure(shape, size.parse()?, OptLevel::from_name(mode));
    }
    let mut settings = Settings {
        shapes: Vec::new(),
        levels: OptLevel::ALL.to_vec(),
        sizes: vec![1000, 10_000, 100_000],
        rounds: 9,
        inside: false,
        text: false,
    };
    let mut args = args.iter();
    while let Some(a) = args.next() {
        match a.as_str() {
            "-O" => settings.levels = list(args.next(), OptLevel::from_name)?,
            "--sizes" => settings.sizes = list(args.next(), |s| s.parse().ok())?,
            "--rounds" => {
                let rounds = list(args.next(), |s| s.parse::<usize>().ok())?;
                settings.rounds = rounds.into_iter().sum();
            }
            "--inside" => settings.inside = true,
            "--text" => settings.text = true,
            _ => {
                let shape = Shape::from_name(a).ok_or_else(|| format!("no shape `{a}`"))?;
                settings.shapes.push(shape);
            }
        }
    }
    if settings.shapes.is_empty() {
        settings.shapes = Shape::ALL.to_vec();
    }
    settings.table()
}
