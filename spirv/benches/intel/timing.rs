//! Compile times by level and stage, beside Intel's compiler.

use crate::Kernel;
use crate::table::{mean, median};
use gantry_codegen::{CompileOptions, Context, OptLevel, Pass, Phase, Stage};
use gantry_spirv::{Options, compile};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Optimization levels that are timed.
const LEVELS: [OptLevel; 3] = OptLevel::ALL;
/// Times of stages, phases and passes, of what precedes them, and of the rest.
type Parts = BTreeMap<String, Duration>;

const REST: &str = "front end, zebin, other widths";
const ALL: &str = "all";

/// Consecutive compiles of a kernel in each round.
const COMPILES: u32 = 8;

/// Updates the least times of a kernel at a level, over [`COMPILES`] compiles from words to zebin.
fn ours(k: &Kernel, device: &str, level: OptLevel, best: &mut Parts) -> Result<(), String> {
    let mut target = CompileOptions::for_target(device).map_err(|e| e.to_string())?;
    target.check = false;
    target.opt = level;
    let options = Options {
        kernel: Some(k.name.to_owned()),
        ..Options::default()
    };
    let mut context = Context::new();
    for _ in 0..COMPILES {
        let mut now = Parts::new();
        let start = Instant::now();
        let compiled = compile(&k.words, &options, &target, &mut context);
        let all = start.elapsed();
        now.insert(ALL.to_owned(), all);
        let mut rest = all;
        for k in compiled.map_err(|e| e.to_string())?.1.kernels {
            let stages = k.stats.stages.iter().map(|s| s.1);
            rest = rest.saturating_sub(stages.sum());
            for (stage, time) in k.stats.stages {
                *now.entry(stage.to_owned()).or_default() += time;
            }
            for p in k.stats.passes {
                *now.entry(format!("- {}", p.pass.name())).or_default() += p.time;
            }
            for p in Phase::ALL {
                *now.entry(format!("-- {}", p.name())).or_default() += k.stats.phases.time(p);
            }
        }
        now.insert(REST.to_owned(), rest);
        for (name, time) in now {
            let least = best.entry(name).or_insert(time);
            *least = time.min(*least);
        }
    }
    Ok(())
}

/// Prints the ratio to Intel's compiler at each level, and the times of our stages. `round` runs
/// one round of Intel's.
pub fn print(
    device: &str,
    kernels: &[Kernel],
    rounds: u32,
    round: impl Fn() -> BTreeMap<usize, Duration>,
) {
    let mut sums: [Parts; LEVELS.len()] = Default::default();
    let mut ratios: [Vec<f64>; LEVELS.len()] = Default::default();
    let mut both: Vec<(f64, String)> = Vec::new();
    let mut made: Vec<Result<[Parts; LEVELS.len()], String>> =
        vec![Ok(Default::default()); kernels.len()];
    let mut theirs: BTreeMap<usize, Duration> = BTreeMap::new();
    // Alternates rounds, so that slow phases of the machine affect both.
    for _ in 0..rounds.max(1) {
        for (n, time) in round() {
            let least = theirs.entry(n).or_insert(time);
            *least = time.min(*least);
        }
        for (k, made) in kernels.iter().zip(&mut made) {
            if let Ok(best) = made {
                let mut levels = LEVELS.iter().zip(best.iter_mut());
                if let Err(e) = levels.try_for_each(|(level, best)| ours(k, device, *level, best)) {
                    *made = Err(e);
                }
            }
        }
    }
    let mut count = 0;
    for ((n, k), made) in kernels.iter().enumerate().zip(made) {
        let made = match made {
            Ok(made) => made,
            Err(e) => {
                println!("{}.{}: {e}", k.file, k.name);
                continue;
            }
        };
        count += 1;
        for (level, parts) in made.into_iter().enumerate() {
            if let Some(theirs) = theirs.get(&n) {
                let ours = parts[ALL].as_secs_f64();
                ratios[level].push(theirs.as_secs_f64() / ours);
                if level == LEVELS.len() - 1 {
                    let name = format!("{}.{}: {:.2} ms", k.file, k.name, ours * 1e3);
                    both.push((theirs.as_secs_f64() / ours, name));
                }
            }
            for (name, time) in parts {
                *sums[level].entry(name).or_default() += time;
            }
        }
    }
    println!("{count} kernels on {device}");
    for (level, ratios) in LEVELS.iter().zip(&ratios) {
        if !ratios.is_empty() {
            println!(
                "-O {}: Intel's compiler takes {:.0} times as long in the median, {:.0} times in geometric mean, of {}",
                level.name(),
                median(ratios.clone()),
                mean(ratios),
                ratios.len()
            );
        }
    }
    both.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (ratio, name) in both.iter().take(10) {
        println!("  {ratio:.0} times: {name}");
    }
    println!(
        "\n| part | -O 0, ms | % | -O 1, ms | % | -O 2, ms | % |\n|---|---|---|---|---|---|---|"
    );
    let mut names = vec![ALL.to_owned(), REST.to_owned()];
    for stage in Stage::ALL {
        names.push(stage.name().to_owned());
        if stage == Stage::Opt {
            names.extend(Pass::ALL.map(|p| format!("- {}", p.name())));
        }
        if stage == Stage::Regalloc {
            names.extend(Phase::ALL.map(|p| format!("-- {}", p.name())));
        }
    }
    for name in names {
        let cells = sums.iter().map(|s| {
            let get = |name: &str| s.get(name).map_or(0.0, |t| t.as_secs_f64() * 1e3);
            let (t, all) = (get(&name), get(ALL));
            format!(" {t:.2} | {:.1} |", t / all * 100.0)
        });
        println!("| {name} |{}", cells.collect::<String>());
    }
}
