//! Comparison table with its means.

use crate::sides::{Made, Ran};
use crate::{Asked, Row};
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

/// Reasons for kernels that execute more than [`MAX_RATIO`] times Intel's instructions: lines of
/// name and reason. `name@product` is specific to a product.
const REASONS: &str = include_str!("reasons.txt");
/// Ratio of executed instructions above which a kernel needs a reason.
const MAX_RATIO: f64 = 1.3;

/// Title of a table: the product, and the GRF mode if it is not the default.
pub fn named(asked: &Asked) -> String {
    if asked.large {
        format!("{}, 256 registers", asked.target)
    } else {
        asked.target.clone()
    }
}

/// Marks around the table of a product in a page.
fn marks(target: &str) -> [String; 2] {
    ["begin", "end"].map(|m| format!("<!-- {target}: {m} -->\n"))
}

/// Reason for a kernel, if known.
fn reason(name: &str, target: &str) -> Option<&'static str> {
    let own = format!("{name}@{target}");
    let of = |wanted: &str| {
        let mut lines = REASONS.lines().filter_map(|l| l.split_once(": "));
        lines.find(|l| l.0 == wanted).map(|l| l.1)
    };
    of(&own).or_else(|| of(name))
}

/// Geometric mean, 1 for an empty list.
pub fn mean(values: &[f64]) -> f64 {
    let sum: f64 = values.iter().map(|v| v.ln()).sum();
    (sum / values.len().max(1) as f64).exp()
}

pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(1.0)
}

fn millis(time: Option<Duration>) -> String {
    time.map_or("–".to_owned(), |t| {
        format!("{:.2}", t.as_secs_f64() * 1e3)
    })
}

/// Ratios of ours to Intel's.
#[derive(Default)]
struct Ratios {
    instructions: Vec<f64>,
    sends: Vec<f64>,
    bytes: Vec<f64>,
    /// Modelled cycles for a work-item: of a single thread, and of a full EU.
    cycles: [Vec<f64>; 2],
    /// Executed `sync` instructions, ours and Intel's.
    syncs: [u64; 2],
    times: Vec<f64>,
    /// Number of kernels by our width and Intel's.
    widths: [[u32; 3]; 3],
    /// Scratch bytes, ours and Intel's.
    scratch: [u64; 2],
}

fn at(simd: u32) -> usize {
    match simd {
        32 => 2,
        16 => 1,
        _ => 0,
    }
}

/// Renders the table.
pub fn text(asked: &Asked, rows: &[Row]) -> String {
    let mut out = String::new();
    let mut all = Ratios::default();
    let mut table = String::new();
    let mut failed = Vec::new();
    let mut above: Vec<(f64, String)> = Vec::new();
    for r in rows {
        let name = format!("{}.{}", r.file, r.kernel);
        let ((made, ran), (their_made, their_ran)) = match (&r.ours, &r.theirs) {
            (Ok(a), Ok(b)) => (a, b),
            (a, b) => {
                for (who, e) in [("Gantry", a.as_ref().err()), ("Intel", b.as_ref().err())] {
                    if let Some(e) = e {
                        let line = e.lines().next().unwrap_or("");
                        failed.push(format!("- {name}, {who}: {line}\n"));
                    }
                }
                continue;
            }
        };
        let ratio = |a: f64, b: f64| a / b.max(1e-9);
        let instructions = ratio(ran.instructions as f64, their_ran.instructions as f64);
        all.instructions.push(instructions);
        if instructions > MAX_RATIO {
            above.push((instructions, name.clone()));
        }
        if ran.sends > 0 && their_ran.sends > 0 {
            all.sends.push(ran.sends as f64 / their_ran.sends as f64);
        }
        all.bytes
            .push(ratio(made.bytes as f64, their_made.bytes as f64));
        let time = made.time.zip(their_made.time);
        let time = time.map(|(a, b)| b.as_secs_f64() / a.as_secs_f64());
        all.times.extend(time);
        all.widths[at(made.simd)][at(their_made.simd)] += 1;
        all.scratch[0] += u64::from(made.scratch);
        all.scratch[1] += u64::from(their_made.scratch);
        all.syncs[0] += ran.syncs;
        all.syncs[1] += their_ran.syncs;
        let cycles = |threads: u32| {
            let of = |r: &Ran| r.cycles.of_threads(threads) as f64;
            ratio(of(ran), of(their_ran))
        };
        all.cycles[0].push(cycles(1));
        all.cycles[1].push(cycles(made.threads));
        let _ = write!(
            table,
            "| {name} | {} / {} | {} / {} | {instructions:.2} | {} / {} | {} / {} | {} / {} | {} / {} | {} / {} | {} / {} |",
            made.simd,
            their_made.simd,
            ran.instructions,
            their_ran.instructions,
            ran.syncs,
            their_ran.syncs,
            ran.sends,
            their_ran.sends,
            ran.cycles.alone / ran.threads.max(1),
            their_ran.cycles.alone / their_ran.threads.max(1),
            made.bytes,
            their_made.bytes,
            made.scratch,
            their_made.scratch,
            ran.scratch,
            their_ran.scratch,
        );
        if asked.rounds.is_some() {
            let _ = write!(
                table,
                " {} / {} | {} |",
                millis(made.time),
                millis(their_made.time),
                time.map_or("–".to_owned(), |t| format!("{t:.0}")),
            );
        }
        table.push('\n');
    }
    let a64 = if asked.a64 {
        ", its buffers with 64-bit addresses"
    } else {
        ""
    };
    let large = if asked.large {
        ", 256 registers a thread"
    } else {
        ""
    };
    let _ = writeln!(
        out,
        "{} kernels on `{}`{large}{a64}. Ours over Intel's, in geometric mean: executed instructions {:.2}, sends {:.2}, bytes of code {:.2}; modelled cycles for a work-item, of a thread alone {:.2}, of those of an EU {:.2}. Scratch of a thread, summed: {} bytes, Intel's {}; `sync` executed: {}, Intel's {}.",
        all.instructions.len(),
        asked.target,
        mean(&all.instructions),
        mean(&all.sends),
        mean(&all.bytes),
        mean(&all.cycles[0]),
        mean(&all.cycles[1]),
        all.scratch[0],
        all.scratch[1],
        all.syncs[0],
        all.syncs[1],
    );
    if asked.rounds.is_some() {
        let _ = writeln!(
            out,
            "Intel's compiler takes {:.0} times as long, in geometric mean; in the median {:.0} times.",
            mean(&all.times),
            median(all.times.clone()),
        );
    }
    out.push_str("\n| width, ours | Intel's 8 | 16 | 32 |\n|---|---|---|---|\n");
    for (n, simd) in [8, 16, 32].into_iter().enumerate() {
        let [a, b, c] = all.widths[n];
        let _ = writeln!(out, "| {simd} | {a} | {b} | {c} |");
    }
    let (heads, rule) = match asked.rounds {
        Some(_) => (" ms to compile | times as fast |", "---|---|"),
        None => ("", ""),
    };
    let _ = writeln!(
        out,
        "\nOurs / Intel's:\n\n| kernel | width | executed | ratio | syncs | sends | cycles | bytes of code | scratch | scratch messages |{heads}\n\
         |---|---|---|---|---|---|---|---|---|---|{rule}",
    );
    out.push_str(&table);
    if !above.is_empty() {
        let _ = writeln!(out, "\n{} above {MAX_RATIO}, and why:\n", above.len());
        above.sort_by(|a, b| b.0.total_cmp(&a.0));
        for (ratio, name) in &above {
            let why = reason(name, &asked.target).unwrap_or("not looked into");
            let _ = writeln!(out, "- `{name}` ({ratio:.2}): {why}");
        }
    }
    if !failed.is_empty() {
        out.push_str("\nNot compared:\n\n");
        failed.iter().for_each(|f| out.push_str(f));
    }
    out
}

/// Writes the text into a page, between the marks of the product. In a folder the page is
/// `spirv-intel-TARGET.md`.
pub fn write(page: &Path, target: &str, text: &str) {
    let name = target.replace(", 256 registers", "-256");
    let page = if page.is_dir() {
        page.join(format!("spirv-intel-{name}.md"))
    } else {
        page.to_path_buf()
    };
    let [begin, end] = marks(target);
    let old = std::fs::read_to_string(&page).unwrap();
    let (head, rest) = old.split_once(&begin).expect("a mark where it begins");
    let (_, tail) = rest.split_once(&end).expect("a mark where it ends");
    std::fs::write(&page, format!("{head}{begin}{text}{end}{tail}")).unwrap();
}
