//! `gantry validate`.

use crate::code::{self, Code, Instructions};
use crate::input::Language;
use crate::{Failure, input, print};
use gantry::filetests::file::without_header;
use gantry::isa::diag::{Count, Diagnostic, Diagnostics};
use gantry::isa::legal::Rule;
use gantry::isa::text::{assemble, disassemble};
use gantry::isa::{Platform, legal};
use std::path::{Path, PathBuf};

/// Check instructions against the rules of the hardware; each finding has its offset in bytes
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Zebin, file of bare instructions, or assembly text (`.asm`)
    file: PathBuf,
    /// Platform of bare instructions, which must be given, and of text, where it is skl by default;
    /// a zebin states its own
    #[arg(long, visible_alias = "target", value_name = "NAME")]
    platform: Option<String>,
}

/// Findings of a file.
#[derive(Default)]
struct ValidationReport {
    instructions: usize,
    findings: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let report = match input::language(&args.file)? {
        Language::Asm => {
            let name = args.platform.as_deref().unwrap_or(input::TEXT_PLATFORM);
            text(&args.file, input::platform(name)?)?
        }
        _ => {
            let file = code::read(&args.file, args.platform.as_deref())?;
            let mut report = ValidationReport::default();
            for code in &file.sections {
                binary(file.platform, code, &mut report);
            }
            report
        }
    };
    let ValidationReport {
        instructions,
        findings,
    } = report;
    print(&findings.concat())?;
    let instructions = Count(instructions, "instruction");
    match findings.len() {
        0 => print(&format!("{instructions}, no findings\n")),
        n => Err(Failure::file(
            &args.file,
            format!("{} in {instructions}", Count(n, "finding")),
        )),
    }
}

/// Returns the findings in a text, each with its line.
fn text(path: &Path, platform: Platform) -> Result<ValidationReport, Failure> {
    let source = input::read_text(path)?;
    let name = path.display().to_string();
    let render = |d: Diagnostics| d.render(&name, &source);
    let program =
        assemble(platform, &without_header(&source)).map_err(|d| Failure::Rendered(render(d)))?;
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

fn binary(platform: Platform, code: &Code, report: &mut ValidationReport) {
    let name = code.name().map_or(String::new(), |n| format!("{n}: "));
    let Instructions { list, left, .. } = code.instructions(platform);
    for l in &list {
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
    if left > 0 {
        let left = Count(left, "byte");
        report
            .findings
            .push(format!("{name}{left} at the end: no whole instruction\n"));
    }
}
