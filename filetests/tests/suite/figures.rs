//! Figures of the run filetests' kernels, in `figures.txt`: instructions, bytes of code, bytes of
//! registers and modelled cycles.
//!
//! A change of any figure is visible in review, as with shader-db for Mesa.
//! `GANTRY_BLESS=1 cargo test -p gantry-filetests --test suite figures::` writes the file anew.

use gantry_codegen::{CompileOptions, Target, compile, text};
use gantry_filetests::{TestFile, files};
use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;

/// One product of each family of code.
const TARGETS: [&str; 7] = ["bdw", "skl", "bxt", "icllp", "tgllp", "dg2", "pvc"];

/// Returns the figures, a line a file. A line has the file's name, and for each target the sums
/// over its kernels. It has a `-` where the target lacks what the file needs.
fn figures(root: &Path) -> String {
    let mut out =
        "; instructions, bytes of code, bytes of registers live at once, modelled cycles: "
            .to_owned()
            + &TARGETS.join(" | ")
            + "\n";
    for path in files(root).unwrap() {
        let name = path.strip_prefix(root).unwrap().display().to_string();
        let source = std::fs::read_to_string(&path).unwrap();
        let file = TestFile::parse(&name, &source).unwrap();
        let module = text::parse(&file.body).unwrap().module;
        let columns = TARGETS.map(|t| {
            let target = Target::lookup(t).unwrap();
            if !file.is_for(&target) {
                return "-".to_owned();
            }
            let options = CompileOptions {
                report: true,
                ..CompileOptions::new(target)
            };
            let compiled = compile(&module, &options);
            let compiled = compiled.unwrap_or_else(|e| panic!("{name}, {t}: {e}"));
            let sum = |f: fn(&gantry_codegen::CompiledKernel) -> usize| -> usize {
                compiled.kernels.iter().map(f).sum()
            };
            let (instructions, bytes) = (sum(|k| k.stats.instructions), sum(|k| k.stats.bytes));
            format!(
                "{instructions} {bytes} {} {}",
                sum(|k| k.stats.grf_bytes_demand as usize),
                sum(|k| k.stats.cycles.map_or(0, |c| c.alone as usize)),
            )
        });
        let name = name.replace('\\', "/");
        writeln!(out, "{name}: {}", columns.join(" | ")).unwrap();
    }
    out
}

/// Returns the geometric means of the ratios of figures, now to before, over all files and targets
/// that both have.
fn means(before: &str, now: &str) -> String {
    let numbers = |text: &str| -> HashMap<String, Vec<f64>> {
        let lines = text.lines().filter_map(|l| l.split_once(": "));
        let numbers = |s: &str| {
            s.split_whitespace()
                .filter_map(|n| n.parse().ok())
                .collect()
        };
        let all = lines.flat_map(|(name, columns)| {
            let columns = columns.split(" | ").enumerate();
            columns.map(move |(n, c)| (format!("{name} {n}"), numbers(c)))
        });
        all.collect()
    };
    let (before, now) = (numbers(before), numbers(now));
    let names = ["instructions", "bytes", "registers", "cycles"];
    let ratio = |n: usize| {
        let both = before.iter().filter_map(|(key, was)| {
            let (was, is) = (*was.get(n)?, *now.get(key)?.get(n)?);
            (was > 0.0 && is > 0.0).then(|| (is / was).ln())
        });
        let logs: Vec<f64> = both.collect();
        (logs.iter().sum::<f64>() / logs.len().max(1) as f64).exp()
    };
    let means = names.iter().enumerate();
    let means = means.map(|(n, name)| format!("{name} {:.4}", ratio(n)));
    means.collect::<Vec<_>>().join(", ")
}

#[test]
fn figures_are_as_they_were() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = here.join("figures.txt");
    let now = figures(&here.join("filetests/run"));
    let before = std::fs::read_to_string(&path).unwrap_or_default();
    let means = means(&before, &now);
    if std::env::var_os("GANTRY_BLESS").is_some_and(|v| v == "1") {
        println!("now to before: {means}");
        return std::fs::write(&path, now).unwrap();
    }
    let before: Vec<&str> = before.lines().collect();
    let new: Vec<&str> = now.lines().filter(|l| !before.contains(l)).collect();
    let old = before.iter().filter(|l| !now.lines().any(|n| n == **l));
    let old: Vec<&str> = old.copied().collect();
    let some = |lines: &[&str]| lines[..lines.len().min(20)].join("\n");
    assert!(
        new.is_empty() && old.is_empty(),
        "{} lines of figures.txt differ (GANTRY_BLESS=1 writes it anew); now to before: {means}; before:\n{}\nnow:\n{}",
        old.len().max(new.len()),
        some(&old),
        some(&new)
    );
}
