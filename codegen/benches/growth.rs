//! How time and memory grow with the size of a function: per shape and size the seconds of each stage and the peak memory, and how many
//! times more ten times the instructions take.
//!
//! `cargo bench -p gantry-codegen --bench growth [-- SHAPE... [--sizes 1000,10000,100000]]`
//!
//! Each measurement is a process of its own, so that its peak memory is its own. The columns `build`, `print`, `parse`, `check` (the
//! parsed text verified), `compile` and `total` are seconds of the processor where the host says (Linux), the pipeline's stages seconds of the
//! wall.

use gantry_codegen::fuzzing::shapes::Shape;
use gantry_codegen::ir::Module;
use gantry_codegen::{CompileOptions, Phase, compile, text, verifier};
use std::error::Error;
use std::process::Command;
use std::time::Instant;

type Res<T> = Result<T, Box<dyn Error>>;

/// Kilobytes of memory that this process had at most.
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

/// Seconds that this process has had a processor, which do not count other processes' share; of the wall where the host does not say.
fn seconds(start: Instant) -> f64 {
    // The count is brought up to date when the thread gives way.
    std::thread::yield_now();
    let stat = std::fs::read_to_string("/proc/self/schedstat").ok();
    let nanoseconds = stat.and_then(|s| s.split(' ').next()?.parse::<u64>().ok());
    match nanoseconds {
        Some(n) => n as f64 * 1e-9,
        None => start.elapsed().as_secs_f64(),
    }
}

/// One measurement: `name seconds` per line, then `instructions`, `machine` and `kilobytes`.
fn measure(shape: Shape, size: usize, with_text: bool) -> Res<()> {
    let start = Instant::now();
    let mut last = seconds(start);
    let mut lap = |name: &str| {
        let now = seconds(start);
        println!("{name} {}", now - last);
        last = now;
    };
    let module = shape.module(size)?;
    lap("build");
    if with_text {
        let text = module.to_string();
        lap("print");
        let parsed = text::parse(&text).map_err(|e| e.to_string())?;
        lap("parse");
        verifier::verify_parsed(&parsed).map_err(|e| e.to_string())?;
        lap("check");
    } else {
        let options = CompileOptions {
            check: false,
            ..CompileOptions::for_target("skl")?
        };
        let compiled = compile(&module, &options)?;
        lap("compile");
        for k in &compiled.kernels {
            for (stage, time) in &k.stats.stages {
                println!("{stage} {}", time.as_secs_f64());
            }
            for phase in Phase::ALL {
                let time = k.stats.phases.time(phase);
                println!("regalloc.{} {}", phase.name(), time.as_secs_f64());
            }
            println!("machine {}", k.stats.instructions);
        }
    }
    println!("instructions {}", instructions(&module));
    println!("kilobytes {}", peak_memory().unwrap_or(0));
    Ok(())
}

/// What a measurement printed.
fn child(shape: Shape, size: usize, with_text: bool) -> Res<Vec<(String, f64)>> {
    let mode = if with_text { "--text" } else { "--compile" };
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

const STAGES: [&str; 14] = [
    "build", "print", "parse", "check", "verify", "inline", "lower", "legalize", "flags",
    "liveness", "regalloc", "emit", "compile", "total",
];

fn table(shapes: &[Shape], sizes: &[usize]) -> Res<()> {
    print!("{:18} {:>8} {:>8}", "shape", "insts", "machine");
    STAGES.iter().for_each(|s| print!(" {s:>8}"));
    println!(" {:>9} {:>7}", "kB", "B/inst");
    for &shape in shapes {
        let mut before: Option<(usize, Vec<f64>)> = None;
        for &size in sizes {
            // The fastest of several; memory is that of compiling.
            let mut found = child(shape, size, false)?;
            for text in [true, false, true, false, false] {
                for (name, time) in child(shape, size, text)? {
                    match found.iter_mut().find(|(n, _)| *n == name) {
                        Some((_, old)) if STAGES.contains(&name.as_str()) => *old = old.min(time),
                        Some(_) => {}
                        None => found.push((name, time)),
                    }
                }
            }
            let get = |name: &str| found.iter().find(|(n, _)| n == name).map_or(0.0, |f| f.1);
            let times: Vec<f64> = STAGES
                .iter()
                .map(|&s| match s {
                    "total" => ["build", "print", "parse", "check", "compile"]
                        .map(get)
                        .iter()
                        .sum(),
                    s => get(s),
                })
                .collect();
            let (insts, kilobytes) = (get("instructions"), get("kilobytes"));
            print!("{:18} {insts:8} {:8}", shape.name(), get("machine"));
            times.iter().for_each(|t| print!(" {t:8.4}"));
            println!(" {kilobytes:9} {:7.0}", kilobytes * 1024.0 / insts.max(1.0));
            if let Some((smaller, old)) = before {
                print!("{:36}", format!("  times, a decade"));
                // Growth that ten times the instructions would have.
                let decades = (insts / smaller as f64).log10();
                for (t, o) in times.iter().zip(old) {
                    let growth = (t / o.max(1e-6)).powf(1.0 / decades);
                    // What takes no time cannot be compared.
                    match *t < 0.001 {
                        true => print!(" {:>8}", "-"),
                        false => print!(" {growth:8.1}"),
                    }
                }
                println!();
            }
            before = Some((insts as usize, times));
        }
    }
    Ok(())
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
        return measure(shape, size.parse()?, mode == "--text");
    }
    let mut shapes = Vec::new();
    let mut sizes = vec![1000, 10_000, 100_000];
    let mut args = args.iter();
    while let Some(a) = args.next() {
        if a == "--sizes" {
            let list = args.next().map_or("", String::as_str).split(',');
            sizes = list.map(str::parse).collect::<Result<_, _>>()?;
        } else {
            shapes.push(Shape::from_name(a).ok_or_else(|| format!("no shape `{a}`"))?);
        }
    }
    if shapes.is_empty() {
        shapes = Shape::ALL.to_vec();
    }
    table(&shapes, &sizes)
}
