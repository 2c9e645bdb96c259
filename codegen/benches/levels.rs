//! Compile time and code size of the optimization levels on small kernels. For each level it prints
//! the seconds for all kernels of some files, by stage and pass, and the resulting instructions and
//! bytes.
//!
//! `cargo bench -p gantry-codegen --bench levels [-- PATH... [-O 0,1,2] [--target skl] [--rounds 9]
//! [--without PASS,...] [--inside]]`
//!
//! A path is a `.gir` file or a directory, searched recursively. By default these are the filetests
//! that run. The time of a kernel is the least of the rounds, as are those of its stages.
//! `--inside` prints stages and passes. Files that a target cannot compile are left out at all
//! levels.

use gantry_codegen::ir::{FuncKind, Module};
use gantry_codegen::text::parse;
use gantry_codegen::{CompileOptions, CompiledKernel, Context, OptLevel, Pass, PassSet};
use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

type Res<T> = Result<T, Box<dyn Error>>;

/// Same allocator as in the `gantry` command.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

struct Settings {
    paths: Vec<PathBuf>,
    levels: Vec<OptLevel>,
    target: String,
    rounds: usize,
    without: PassSet,
    inside: bool,
}

fn settings() -> Res<Settings> {
    let mut out = Settings {
        paths: Vec::new(),
        levels: OptLevel::ALL.to_vec(),
        target: "skl".to_owned(),
        rounds: 9,
        without: PassSet::default(),
        inside: false,
    };
    let mut args = std::env::args().skip(1).filter(|a| a != "--bench");
    while let Some(a) = args.next() {
        let mut value = || args.next().ok_or(format!("{a} wants a value"));
        match a.as_str() {
            "-O" => {
                let levels = value()?;
                let levels: Option<_> = levels.split(',').map(OptLevel::from_name).collect();
                out.levels = levels.ok_or("levels are 0, 1 and 2")?;
            }
            "--target" => out.target = value()?,
            "--rounds" => out.rounds = value()?.parse()?,
            "--without" => {
                let passes = value()?;
                let passes: Option<_> = passes.split(',').map(Pass::from_name).collect();
                out.without = passes.ok_or("no such pass")?;
            }
            "--inside" => out.inside = true,
            _ => out.paths.push(a.into()),
        }
    }
    if out.paths.is_empty() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        out.paths.push(root.join("../filetests/filetests/run"));
    }
    Ok(out)
}

fn find(path: &Path, out: &mut Vec<PathBuf>) -> Res<()> {
    if path.is_dir() {
        let entries = std::fs::read_dir(path)?.map(|e| Ok(e?.path()));
        let mut entries: Vec<PathBuf> = entries.collect::<Res<_>>()?;
        entries.sort();
        return entries.iter().try_for_each(|p| find(p, out));
    }
    if path.extension().is_some_and(|e| e == "gir") {
        out.push(path.to_owned());
    }
    Ok(())
}

/// Sums of figures over the kernels of a level.
#[derive(Default)]
struct Sums {
    seconds: f64,
    instructions: usize,
    bytes: usize,
    /// Seconds of stages and passes.
    parts: BTreeMap<String, f64>,
}

/// Returns stages and passes of a compilation with their seconds.
fn parts(k: &CompiledKernel) -> Vec<(String, f64)> {
    let stages = k.stats.stages.iter();
    let stages = stages.map(|(name, time)| ((*name).to_owned(), time.as_secs_f64()));
    let passes = k.stats.passes.iter();
    let passes = passes.map(|p| (format!("opt: {}", p.pass.name()), p.time.as_secs_f64()));
    stages.chain(passes).collect()
}

/// Adds the figures of the kernels of a module. Returns an error if one cannot be compiled.
fn measure(
    module: &Module,
    options: &CompileOptions,
    context: &mut Context,
    rounds: usize,
    sums: &mut Sums,
) -> Res<()> {
    for func in module.functions.values() {
        if !matches!(func.kind, FuncKind::Kernel { .. }) {
            continue;
        }
        let mut least = f64::INFINITY;
        let mut inside: BTreeMap<String, f64> = BTreeMap::new();
        for round in 0..rounds {
            let start = Instant::now();
            let kernel = context.compile_kernel(module, func, options)?;
            least = least.min(start.elapsed().as_secs_f64());
            for (name, time) in parts(&kernel) {
                let slot = inside.entry(name).or_insert(time);
                *slot = slot.min(time);
            }
            if round == 0 {
                sums.instructions += kernel.stats.instructions;
                sums.bytes += kernel.stats.bytes;
            }
        }
        sums.seconds += least;
        for (name, time) in inside {
            *sums.parts.entry(name).or_default() += time;
        }
    }
    Ok(())
}

fn main() -> Res<()> {
    let settings = settings()?;
    let mut files = Vec::new();
    settings
        .paths
        .iter()
        .try_for_each(|p| find(p, &mut files))?;
    let options = |opt| -> Res<CompileOptions> {
        Ok(CompileOptions {
            opt,
            without: settings.without,
            check: false,
            ..CompileOptions::for_target(&settings.target)?
        })
    };
    let mut context = Context::new();
    let (mut modules, mut instructions) = (Vec::new(), 0);
    for file in &files {
        let text = std::fs::read_to_string(file)?;
        // Filetest commands are not part of the module.
        let command = |l: &&str| l.starts_with("test ") || l.starts_with("target ");
        let text: Vec<&str> = text.lines().filter(|l| !command(l)).collect();
        let Ok(parsed) = parse(&text.join("\n")) else {
            continue;
        };
        let mut each = OptLevel::ALL.into_iter();
        let fits = each.try_for_each(|opt| {
            let mut sums = Sums::default();
            measure(&parsed.module, &options(opt)?, &mut context, 1, &mut sums)
        });
        if fits.is_ok() {
            let functions = parsed.module.functions.values();
            let blocks = functions.flat_map(|f| f.layout.blocks().iter().map(move |&b| (f, b)));
            instructions += blocks.map(|(f, b)| f.layout.insts(b).len()).sum::<usize>();
            modules.push(parsed.module);
        }
    }
    println!(
        "{} of {} files, {instructions} instructions of IR",
        modules.len(),
        files.len()
    );
    let mut all = Vec::new();
    for &level in &settings.levels {
        let mut sums = Sums::default();
        for module in &modules {
            let options = options(level)?;
            measure(module, &options, &mut context, settings.rounds, &mut sums)?;
        }
        println!(
            "-O {}: {:.2} ms, {:.0} instructions of IR a millisecond; {} instructions, {} bytes",
            level.name(),
            sums.seconds * 1e3,
            instructions as f64 / sums.seconds * 1e-3,
            sums.instructions,
            sums.bytes
        );
        all.push(sums);
    }
    if settings.inside {
        let mut names: Vec<&String> = all.iter().flat_map(|s| s.parts.keys()).collect();
        names.sort();
        names.dedup();
        for name in names {
            let times = all.iter().map(|s| s.parts.get(name).unwrap_or(&0.0) * 1e3);
            let times: Vec<String> = times.map(|t| format!("{t:9.3}")).collect();
            println!("{name:24} {}", times.join(" "));
        }
    }
    Ok(())
}
