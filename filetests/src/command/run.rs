//! `test run`: the `; run:` lines on every runner, compiled for every product; masks of channels on the mask stack and as flags, subroutines inline
//! and called.

use super::{Command, Outcome, parse};
use crate::Options;
use crate::differential;
use crate::file::{Test, TestFile};
use crate::launch::{self, Expect};
use crate::runner::{Prepared, RUNNERS, Runner, Way};
use gantry_codegen::Target;
use gantry_codegen::ir::Module;

/// Launches every `; run:` line on every runner, or on those that the options name.
pub(super) struct Run;

impl Command for Run {
    fn name(&self) -> &'static str {
        "run"
    }

    fn options(&self) -> &'static [&'static str] {
        const NAMES: [&str; RUNNERS.len()] = ["simulator", "interpreter"];
        &NAMES
    }

    fn directives(&self) -> &'static [&'static str] {
        &["run"]
    }

    fn run(&self, file: &TestFile, test: &Test, _options: Options) -> Result<Outcome, String> {
        let module = parse(file)?;
        let mut failures = Vec::new();
        for runner in RUNNERS {
            if !test.options.is_empty() && !test.has(runner.name()) {
                continue;
            }
            // The interpreter knows no targets; code is made and run for every product.
            let targets: Vec<Target> = match runner.compiles() {
                true => {
                    let named = differential::named();
                    let targets = named.unwrap_or_else(|| Target::all().collect());
                    targets.into_iter().filter(|t| file.is_for(t)).collect()
                }
                false => Target::from_name(&file.target).into_iter().collect(),
            };
            let ways = match runner.compiles() {
                true => Way::all(&module),
                false => vec![Way::default()],
            };
            for (target, way) in targets
                .iter()
                .flat_map(|t| ways.iter().map(move |w| (t, *w)))
            {
                failures.extend(launches(file, &module, runner, target, way)?);
            }
        }
        match failures.is_empty() {
            true => Ok(Outcome::Pass),
            false => Err(failures.join("\n")),
        }
    }
}

/// Launches every `; run:` line of a file on a runner, compiled for a target in a way: what went wrong.
///
/// # Errors
/// A line means nothing, there is none, or the module cannot be compiled.
pub fn launches(
    file: &TestFile,
    module: &Module,
    runner: &dyn Runner,
    target: &Target,
    way: Way,
) -> Result<Vec<String>, String> {
    let mut runs = Vec::new();
    for d in file.named("run") {
        let run = launch::Run::parse(&d.text).map_err(|e| format!("line {}: {e}", d.line))?;
        runs.push((d.line, run));
    }
    if runs.is_empty() {
        return Err("there is no `; run:` line".to_owned());
    }
    let mut who = format!("{}, {}", runner.name(), target.name());
    if way != Way::default() {
        who = format!("{who}, {way}");
    }
    let prepared = runner
        .prepare(module, target.name(), way)
        .map_err(|e| format!("{who}: {e}"))?;
    let failed = |(line, run): &(u32, launch::Run)| {
        let e = one(&*prepared, run).err()?;
        Some(format!("line {line}, {who}: {e}"))
    };
    Ok(runs.iter().filter_map(failed).collect())
}

/// Text in quotes.
fn escape(text: &str) -> String {
    gantry_codegen::text::quote(text.as_bytes())
}

fn one(prepared: &dyn Prepared, run: &launch::Run) -> Result<(), String> {
    let expected = match (&run.expect, prepared.run(run)) {
        (Expect::Error(text), Err(e)) if e.contains(text) => return Ok(()),
        (Expect::Error(text), Err(e)) => {
            return Err(format!("expected the error `{text}`, got: {e}"));
        }
        (Expect::Error(text), Ok(_)) => return Err(format!("it runs, and should fail: {text}")),
        (Expect::Args(_), Err(e)) => return Err(e),
        (Expect::Args(expected), Ok(got)) => {
            if let Some(text) = run.prints.as_ref().filter(|t| **t != got.printed) {
                let (want, have) = (escape(text), escape(&got.printed));
                return Err(format!("%{} prints {have}, not {want}", run.kernel));
            }
            expected.iter().zip(got.buffers)
        }
    };
    for (i, (expected, got)) in expected.enumerate() {
        match (expected, got) {
            (None, _) => {}
            (Some(data), Some(bytes)) => data
                .compare(&bytes, run.tolerance)
                .map_err(|e| format!("%{}, argument {i}: {e}", run.kernel))?,
            (Some(_), None) => {
                return Err(format!("argument {i} is no buffer: `_` must stand for it"));
            }
        }
    }
    Ok(())
}
