//! `gantry compare`.

use crate::{Failure, print};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Compare the figures of two compilations, kernel by kernel
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Earlier output of `gantry compile --stats`: a JSON object a line. It may be that of several
    /// compilations
    before: PathBuf,
    /// Later output
    after: PathBuf,
    /// Fail if any kernel got worse, or is missing
    #[arg(long)]
    fail_on_worse: bool,
    /// Percent that a figure may grow by before it counts as worse
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0)]
    tolerance: f64,
}

/// Figure that is compared: its name here, and the names of its summands.
struct Figure {
    name: &'static str,
    of: &'static [&'static str],
    /// True if more is better.
    more: bool,
}

const fn less(name: &'static str, of: &'static [&'static str]) -> Figure {
    Figure {
        name,
        of,
        more: false,
    }
}

const FIGURES: [Figure; 6] = [
    less("instructions", &["instructions"]),
    less("bytes", &["bytes"]),
    less("cycles", &["cycles"]),
    less("cycles of threads", &["cycles_of_threads"]),
    less("spills and fills", &["stores", "fills"]),
    Figure {
        name: "SIMD width",
        of: &["simd_width"],
        more: true,
    },
];

/// Figures of a kernel; `None` for one that its compilation did not print.
type Figures = [Option<f64>; FIGURES.len()];

/// Kernels by name and by the number of earlier ones with that name, in order.
type Kernels = BTreeMap<(String, u32), Figures>;

fn read(path: &Path) -> Result<Kernels, Failure> {
    let text = std::fs::read_to_string(path).map_err(|e| Failure::file(path, e))?;
    let mut out = Kernels::new();
    for (n, line) in text.lines().enumerate().filter(|l| !l.1.trim().is_empty()) {
        let wrong =
            |what: &dyn std::fmt::Display| Failure::file(path, format!("line {}: {what}", n + 1));
        let value: Value = serde_json::from_str(line).map_err(|e| wrong(&e))?;
        // A line about the cache is of no kernel.
        let Some(name) = value.get("kernel") else {
            if value.is_object() {
                continue;
            }
            return Err(wrong(&"no JSON object"));
        };
        let name = name
            .as_str()
            .ok_or_else(|| wrong(&"a kernel without a name"))?;
        let mut nth = 0;
        while out.contains_key(&(name.to_owned(), nth)) {
            nth += 1;
        }
        let figures = FIGURES.map(|f| {
            let parts = f.of.iter().map(|of| value.get(of).and_then(Value::as_f64));
            parts.sum::<Option<f64>>()
        });
        out.insert((name.to_owned(), nth), figures);
    }
    Ok(out)
}

/// Sum of a figure over all kernels.
#[derive(Default)]
struct Sum {
    better: u32,
    worse: u32,
    same: u32,
    /// Logarithms of the ratios, where neither is 0.
    logs: Vec<f64>,
}

/// Describes the differences. Returns true with them if any is worse.
fn compare(before: &Kernels, after: &Kernels, tolerance: f64) -> (String, bool) {
    let mut out = String::new();
    let mut bad = false;
    let mut sums: [Sum; FIGURES.len()] = Default::default();
    let title = |(name, nth): &(String, u32)| match nth {
        0 => name.clone(),
        n => format!("{name} ({})", n + 1),
    };
    for (key, was) in before {
        let Some(is) = after.get(key) else {
            let _ = writeln!(out, "{}: gone", title(key));
            bad = true;
            continue;
        };
        let mut changes = Vec::new();
        for (((f, sum), was), is) in FIGURES.iter().zip(&mut sums).zip(was).zip(is) {
            let (Some(was), Some(is)) = (*was, *is) else {
                continue;
            };
            if was > 0.0 && is > 0.0 {
                sum.logs.push((is / was).ln());
            }
            if was == is {
                sum.same += 1;
                continue;
            }
            let better = (is > was) == f.more;
            if better {
                sum.better += 1
            } else {
                sum.worse += 1
            }
            let beyond = (is - was).abs() * 100.0 > tolerance * was;
            bad |= !better && beyond;
            let percent = if was > 0.0 {
                format!(" ({:+.1}%)", (is / was - 1.0) * 100.0)
            } else {
                String::new()
            };
            let word = if better { "better" } else { "worse" };
            changes.push(format!("{} {was} -> {is}{percent} {word}", f.name));
        }
        if !changes.is_empty() {
            let _ = writeln!(out, "{}: {}", title(key), changes.join(", "));
        }
    }
    for key in after.keys().filter(|k| !before.contains_key(k)) {
        let _ = writeln!(out, "{}: new", title(key));
    }
    for (f, sum) in FIGURES.iter().zip(&sums) {
        let Sum {
            better,
            worse,
            same,
            logs,
        } = sum;
        if better + worse + same == 0 {
            continue;
        }
        let mean = match logs.len() {
            0 => String::new(),
            n => {
                let mean = (logs.iter().sum::<f64>() / n as f64).exp();
                format!(", geometric mean of the ratios {mean:.4}")
            }
        };
        let _ = writeln!(
            out,
            "{}: {better} better, {worse} worse, {same} the same{mean}",
            f.name
        );
    }
    (out, bad)
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let (before, after) = (read(&args.before)?, read(&args.after)?);
    let (text, bad) = compare(&before, &after, args.tolerance);
    print(&text)?;
    if bad && args.fail_on_worse {
        Err(Failure::new("some kernel got worse"))
    } else {
        Ok(())
    }
}
