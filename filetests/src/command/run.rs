//! `test run`: `run:` lines on every runner, compiled for every product.
//!
//! Variants have channel masks on the mask stack and as flags, and subroutines inline and called.
//! Shaders run at every width.

use super::{Command, Outcome};
use crate::Options;
use crate::file::{Test, TestFile};
use crate::launch::{self, Expect};
use crate::runner::{CompileVariant, Prepared, RUNNERS, Runner, named_targets};
use crate::source::{self, Language};
use gantry_codegen::Target;
use gantry_codegen::ir::Module;
use gantry_spirv::Simd;

/// Launches every `run:` line on every runner, or on those that the options name.
pub(super) struct Run;

/// Options that name a width.
const WIDTHS: [(&str, Simd); 3] = [
    ("simd8", Simd::Width(8)),
    ("simd16", Simd::Width(16)),
    ("simd32", Simd::Width(32)),
];

impl Command for Run {
    fn name(&self) -> &'static str {
        "run"
    }

    fn options(&self) -> &'static [&'static str] {
        const NAMES: [&str; RUNNERS.len() + WIDTHS.len()] =
            ["simulator", "interpreter", "simd8", "simd16", "simd32"];
        &NAMES
    }

    fn directives(&self) -> &'static [&'static str] {
        &["run"]
    }

    fn run(&self, file: &TestFile, test: &Test, options: &Options) -> Result<Outcome, String> {
        let mut reports = Reports::default();
        let asked = WIDTHS.iter().filter(|(name, _)| test.has(name));
        let asked: Vec<Simd> = asked.map(|(_, simd)| *simd).collect();
        let widths = match (Language::of(&file.path), asked.as_slice()) {
            (Language::Gir, [_, ..]) => return Err("IR says its width itself".to_owned()),
            (language, []) => language.widths(),
            (_, asked) => asked,
        };
        for &simd in widths {
            let module = source::module(file, simd)?;
            each_variant(file, test, options, (&module, simd), &mut reports)?;
        }
        if reports.0.is_empty() {
            Ok(Outcome::Pass)
        } else {
            Err(reports.to_string())
        }
    }
}

/// Launches a module on each runner, for each target, in each variant.
fn each_variant(
    file: &TestFile,
    test: &Test,
    options: &Options,
    (module, simd): (&Module, Simd),
    reports: &mut Reports,
) -> Result<(), String> {
    let any = RUNNERS.iter().any(|r| test.has(r.name()));
    for runner in RUNNERS {
        if any && !test.has(runner.name()) {
            continue;
        }
        // The interpreter has no targets. Code is compiled and run for every product.
        let targets: Vec<Target> = if runner.compiles() {
            let named = options.targets.clone().or_else(named_targets);
            let targets = named.unwrap_or_else(|| Target::all().collect());
            let fits = source::fits(file, module);
            targets.into_iter().filter(fits).collect()
        } else {
            Target::lookup(&file.target).into_iter().collect()
        };
        let variants = if runner.compiles() {
            CompileVariant::all(module)
        } else {
            vec![CompileVariant::default()]
        };
        let level =
            |w: &&CompileVariant| !runner.compiles() || options.opt.is_none_or(|o| o == w.opt);
        for target in &targets {
            for &variant in variants.iter().filter(level) {
                let mut who = name(runner, target, variant);
                if let Simd::Width(n) = simd {
                    who += &format!(", SIMD{n}");
                }
                for (line, what) in launched(file, module, runner, target, variant)
                    .map_err(|e| format!("{who}: {e}"))?
                {
                    reports.add(line, what, &who);
                }
            }
        }
    }
    Ok(())
}

/// Failures by line and message. One wrong number is one report, whatever the number of runners.
#[derive(Default)]
struct Reports(Vec<Report>);

struct Report {
    line: u32,
    what: String,
    on: Vec<String>,
}

impl Reports {
    fn add(&mut self, line: u32, what: String, who: &str) {
        let mut all = self.0.iter_mut();
        match all.find(|r| r.line == line && r.what == what) {
            Some(report) => report.on.push(who.to_owned()),
            None => self.0.push(Report {
                line,
                what,
                on: vec![who.to_owned()],
            }),
        }
    }
}

impl std::fmt::Display for Reports {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for r in &self.0 {
            let first = r.on.first().map_or("", String::as_str);
            write!(f, "line {}, {first}", r.line)?;
            match r.on.len() {
                0 | 1 => writeln!(f, ": {}", r.what)?,
                n => writeln!(f, " (the same on {} more): {}", n - 1, r.what)?,
            }
        }
        Ok(())
    }
}

/// Returns the name of a runner with its target and variant.
fn name(runner: &dyn Runner, target: &Target, variant: CompileVariant) -> String {
    let who = format!("{}, {}", runner.name(), target.name());
    if variant == CompileVariant::default() {
        who
    } else {
        format!("{who}, {variant}")
    }
}

/// Launches every `run:` line of a file on a runner, compiled for a target in a variant. Returns
/// the failures.
///
/// # Errors
/// A line is malformed, there is none, or the module cannot be compiled.
pub fn launches(
    file: &TestFile,
    module: &Module,
    runner: &dyn Runner,
    target: &Target,
    variant: CompileVariant,
) -> Result<Vec<String>, String> {
    let who = name(runner, target, variant);
    let failures = launched(file, module, runner, target, variant);
    let failures = failures.map_err(|e| format!("{who}: {e}"))?;
    let say = |(line, what)| format!("line {line}, {who}: {what}");
    Ok(failures.into_iter().map(say).collect())
}

/// Launches as [`launches`] does, and returns each failure with its line.
fn launched(
    file: &TestFile,
    module: &Module,
    runner: &dyn Runner,
    target: &Target,
    variant: CompileVariant,
) -> Result<Vec<(u32, String)>, String> {
    let mut runs = Vec::new();
    for d in file.named("run") {
        let run = launch::Run::parse(&d.text).map_err(|e| format!("line {}: {e}", d.line))?;
        runs.push((d.line, run));
    }
    if runs.is_empty() {
        return Err("there is no `run:` line".to_owned());
    }
    let prepared = runner.prepare(module, target.name(), variant)?;
    let failed = |(line, run): &(u32, launch::Run)| Some((*line, one(&*prepared, run).err()?));
    Ok(runs.iter().filter_map(failed).collect())
}

/// Quotes a text.
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
                .map_err(|e| format!("%{}, {}: {e}", run.kernel, run.name(i)))?,
            (Some(_), None) => {
                let what = format!("{} is no buffer: `_` must stand for it", run.name(i));
                return Err(what);
            }
        }
    }
    Ok(())
}
