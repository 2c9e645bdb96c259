//! Effect of each optimizer pass: all kernels with each pass turned off, one at a time.

use crate::case::Case;
use crate::sides::{self, Made, Ran};
use crate::table::mean;
use crate::{Asked, Kernel};
use gantry_codegen::{CompileOptions, Pass, PassSet};
use serde_json::Value;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// Results of a kernel by disabled pass, the first with all passes on.
type Row = Vec<Result<(Made, Ran), String>>;

/// Passes to turn off one after the other. `None` comes first.
fn choices() -> Vec<Option<Pass>> {
    let passes = Pass::ALL.into_iter().map(Some);
    std::iter::once(None).chain(passes).collect()
}

/// Compiles of each kernel with each pass off, in a round.
const COMPILES: u32 = 3;

/// Compiles a kernel with each pass off. Each round compiles all variants before any is launched,
/// since the speed of a machine changes from second to second. Equal zebins are launched once.
fn row(k: &Kernel, cases: &[&Case], options: &CompileOptions, rounds: u32) -> Row {
    let all: Vec<CompileOptions> = choices()
        .into_iter()
        .map(|off| CompileOptions {
            without: off.into_iter().collect::<PassSet>(),
            ..options.clone()
        })
        .collect();
    // Warms up. Otherwise the first variant would pay for cold caches.
    let _ = sides::made(k, options, COMPILES);
    let mut made: Vec<Result<Made, String>> = all
        .iter()
        .map(|options| sides::made(k, options, COMPILES))
        .collect();
    for _ in 1..rounds.max(1) {
        for (best, options) in made.iter_mut().zip(&all) {
            if let (Ok(best), Ok(again)) = (best, sides::made(k, options, COMPILES)) {
                best.time = best.time.min(again.time);
            }
        }
    }
    let mut out = Row::new();
    for made in made {
        let one = made.and_then(|made| {
            let known = out.iter().flatten().find(|o| o.0.zebin == made.zebin);
            let ran = match known {
                Some(same) => Ok(same.1),
                None => sides::run(&made, cases),
            };
            ran.map(|r| (made, r))
        });
        out.push(one);
    }
    out
}

/// Ratios with a pass off to all passes on, as geometric means.
#[derive(Default)]
struct Means {
    instructions: Vec<f64>,
    sends: Vec<f64>,
    bytes: Vec<f64>,
    /// Milliseconds over all kernels: with the pass off, with all on.
    times: [f64; 2],
}

impl Means {
    fn push(&mut self, off: [f64; 4], on: [f64; 4]) {
        self.instructions.push(off[0] / on[0].max(1e-9));
        if on[1] > 0.0 && off[1] > 0.0 {
            self.sends.push(off[1] / on[1]);
        }
        self.bytes.push(off[2] / on[2].max(1e-9));
        self.times[0] += off[3];
        self.times[1] += on[3];
    }

    /// Cells of a row. `times` is false if times were not taken in the same process.
    fn cells(&self, times: bool) -> String {
        if self.instructions.is_empty() {
            return " – | – | – | – |".to_owned();
        }
        let changed = self
            .instructions
            .iter()
            .filter(|r| (**r - 1.0).abs() > 1e-9);
        let mut out = format!(
            " {:.3} | {} | {:.3} | {:.3} |",
            mean(&self.instructions),
            changed.count(),
            mean(&self.sends),
            mean(&self.bytes),
        );
        if times {
            let _ = write!(out, " {:.2} |", self.times[0] / self.times[1].max(1e-9));
        }
        out
    }
}

/// Results of another comparison with each pass off. Its folder has a `compare.py` that takes a
/// compiler.
fn others(folder: &Path, gantry: &Path, work: &Path) -> Result<Vec<Value>, String> {
    let mut out = Vec::new();
    for off in choices() {
        let compiler = work.join("compiler.sh");
        let without = off.map_or(String::new(), |p| format!(" --without {}", p.name()));
        let gantry = std::path::absolute(gantry).map_err(|e| e.to_string())?;
        let text = format!("#!/bin/sh\nexec {} \"$@\"{without}\n", gantry.display());
        std::fs::write(&compiler, text).map_err(|e| e.to_string())?;
        Command::new("chmod")
            .arg("+x")
            .arg(&compiler)
            .status()
            .map_err(|e| e.to_string())?;
        let json = work.join("compare.json");
        let done = Command::new("python3")
            .arg(folder.join("compare.py"))
            .args(["--variants", "naive"])
            .arg("--gantry")
            .arg(&gantry)
            .arg("--compiler")
            .arg(&compiler)
            .arg("--work")
            .arg(work)
            .arg("--json")
            .arg(&json)
            .output()
            .map_err(|e| format!("python3: {e}"))?;
        let text = std::fs::read_to_string(&json)
            .map_err(|_| String::from_utf8_lossy(&done.stderr).into_owned())?;
        out.push(serde_json::from_str(&text).map_err(|e| e.to_string())?);
    }
    Ok(out)
}

/// Means of another comparison with a pass off.
fn means_of(off: &Value, on: &Value) -> Means {
    let mut out = Means::default();
    let figures = |rows: &Value, name: &str| -> Option<[f64; 4]> {
        let of = rows.get(name)?.get("naive")?;
        let get = |what: &str| of.get(what).and_then(Value::as_f64);
        Some([
            get("instructions")?,
            get("sends")?,
            get("bytes")?,
            get("ms")?,
        ])
    };
    for name in on.as_object().into_iter().flat_map(|o| o.keys()) {
        if let (Some(off), Some(on)) = (figures(off, name), figures(on, name)) {
            out.push(off, on);
        }
    }
    out
}

/// Table of all kernels and their launches. `--others` adds kernels of another comparison.
pub fn text(asked: &Asked, kernels: &[Kernel], cases: &[&Case]) -> Result<String, String> {
    let mut options = CompileOptions::for_target(&asked.target).map_err(|e| e.to_string())?;
    options.check = false;
    let choices = choices();
    let mut means: Vec<Means> = choices.iter().map(|_| Means::default()).collect();
    let mut failed = String::new();
    let mut count = 0;
    for k in kernels {
        let mine = |c: &&&Case| (c.file, c.kernel) == (k.file, k.name);
        let cases: Vec<&Case> = cases.iter().filter(mine).copied().collect();
        let all = row(k, &cases, &options, asked.rounds.unwrap_or(1));
        let figures = |(made, ran): &(Made, Ran)| {
            let time = made.time.map_or(0.0, |t| t.as_secs_f64() * 1e3);
            [
                ran.instructions as f64,
                ran.sends as f64,
                made.bytes as f64,
                time,
            ]
        };
        let Some(Ok(on)) = all.first() else {
            continue;
        };
        count += 1;
        for ((means, one), off) in means.iter_mut().zip(&all).zip(&choices) {
            match one {
                Ok(one) => means.push(figures(one), figures(on)),
                Err(e) => {
                    let name = off.map_or("none", Pass::name);
                    let line = e.lines().next().unwrap_or("");
                    let _ = writeln!(failed, "- `{name}` off, {}.{}: {line}", k.file, k.name);
                }
            }
        }
    }
    let work = asked
        .keep
        .as_deref()
        .map_or_else(std::env::temp_dir, Path::to_path_buf);
    let second = match &asked.others {
        Some((folder, gantry)) => others(folder, gantry, &work)?,
        None => Vec::new(),
    };
    let mut out = format!("{count} OpenCL kernels of the tests on `{}`", asked.target);
    if let Some(on) = second.first() {
        let number = on.as_object().map_or(0, |o| o.len());
        let _ = write!(out, ", {number} kernels of the other comparison");
    }
    out += ". With a pass off to all on: executed instructions (geometric mean), kernels that \
            execute another number, sends, bytes of code, compile time of all.\n\n\
            | off | executed | kernels | sends | bytes | time |";
    if second.is_empty() {
        out += "\n|---|---|---|---|---|---|\n";
    } else {
        out += " others: executed | kernels | sends | bytes |\n\
                |---|---|---|---|---|---|---|---|---|---|\n";
    }
    for (n, (off, means)) in choices.iter().zip(&means).enumerate().skip(1) {
        let name = off.map_or("none", Pass::name);
        let _ = write!(out, "| `{name}` |{}", means.cells(true));
        if let (Some(off), Some(on)) = (second.get(n), second.first()) {
            out += &means_of(off, on).cells(false);
        }
        out.push('\n');
    }
    if !failed.is_empty() {
        let _ = write!(out, "\nNot compiled, or wrong:\n\n{failed}");
    }
    Ok(out)
}
