//! `gantry validate`.

use crate::input::Language;
use crate::{Failure, input, print};
use gantry::isa::diag::{Diagnostic, Diagnostics};
use gantry::isa::legal::Rule;
use gantry::isa::text::{assemble, disassemble, list};
use gantry::isa::{Platform, legal};
use std::path::{Path, PathBuf};

/// Check instructions against the rules of the hardware; each finding has its offset in bytes
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Zebin, file of bare instructions, or assembly text (`.asm`)
    file: PathBuf,
    /// Platform of bare instructions and of text
    #[arg(long, default_value = "skl")]
    platform: String,
}

/// Findings of a file.
#[derive(Default)]
struct ValidationReport {
    instructions: usize,
    findings: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let report = match input::language(&args.file)? {
        Language::Asm => text(&args.file, input::platform(&args.platform)?)?,
        _ => {
            let (platform, code) = input::code(&args.file, &args.platform)?;
            let mut report = ValidationReport::default();
            for kernel in &code {
                binary(platform, kernel, &mut report);
            }
            report
        }
    };
    let ValidationReport {
        instructions,
        findings,
    } = report;
    print(&findings.concat())?;
    match findings.len() {
        0 => print(&format!("{instructions} instructions, no findings\n")),
        n => Err(Failure::file(
            &args.file,
            format!("{n} findings in {instructions} instructions"),
        )),
    }
}

/// Returns the findings in a text, each with its line.
fn text(path: &Path, platform: Platform) -> Result<ValidationReport, Failure> {
    let source = input::read_text(path)?;
    let name = path.display().to_string();
    let render = |d: Diagnostics| d.render(&name, &source);
    let program = assemble(platform, &source).map_err(|d| Failure::Rendered(render(d)))?;
    let mut report = ValidationReport::default();
    for i in &program.insts {
        report.instructions += 1;
        for f in legal::check(platform, &i.inst) {
            let at = Diagnostic::new(i.span, format!("{:#06x}: {f}", i.offset));
            let shown = render(Diagnostics(vec![at]));
            report.findings.push(shown + &advice(f.rule));
        }
    }
    Ok(report)
}

/// Formats a rule and its hint.
fn advice(rule: &Rule) -> String {
    format!("  = rule: {}\n  = hint: {}\n", rule.text, rule.hint)
}

fn binary(platform: Platform, code: &input::Code, report: &mut ValidationReport) {
    let name = code
        .kernel
        .as_ref()
        .map_or(String::new(), |k| format!("{k}: "));
    // The zeros after a kernel are for the prefetcher.
    let end = code
        .bytes
        .iter()
        .rposition(|&b| b != 0)
        .map_or(0, |at| at + 1);
    let program = list(platform, &code.bytes);
    for l in program.iter().take_while(|l| l.offset < end) {
        report.instructions += 1;
        let found: Vec<(String, String)> = match &l.inst {
            Ok(inst) => legal::check(platform, inst)
                .iter()
                .map(|f| (f.to_string(), advice(f.rule)))
                .collect(),
            Err(e) => vec![(e.to_string(), String::new())],
        };
        let bytes = code
            .bytes
            .get(l.offset..l.offset + l.len)
            .unwrap_or_default();
        for (f, advice) in found {
            let text = disassemble(platform, bytes);
            let inst = text.lines().last().unwrap_or_default().trim();
            report
                .findings
                .push(format!("{name}{:#06x}: {f}\n  {inst}\n{advice}", l.offset));
        }
    }
    let left = program.last().map_or(0, |l| l.offset + l.len);
    if left < end {
        let left = end - left;
        report.findings.push(format!(
            "{name}{left} bytes at the end are no whole instruction\n"
        ));
    }
}
