//! The table that the demo prints, and the progress bar.

use gantry_codegen::KernelStats;
use gantry_runtime::{LaunchStats, Progress};
use indicatif::{ProgressBar, ProgressStyle};
use std::fmt;
use std::time::Duration;

/// Time between two drawings of the bar.
const STEP: Duration = Duration::from_millis(100);

/// A line of the table.
#[derive(Clone, Debug)]
pub struct Line {
    /// Kernel.
    pub kernel: String,
    /// Figures of its compilation.
    pub compiled: KernelStats,
    /// Time from IR, or from a text, to zebin.
    pub compile_time: Duration,
    /// Figures of its launch.
    pub launch: LaunchStats,
    /// Result of the check.
    pub check: String,
}

/// The table.
#[derive(Clone, Debug, Default)]
pub struct Table(pub Vec<Line>);

const HEADER: [&str; 8] = [
    "kernel",
    "SIMD",
    "instrs",
    "compile",
    "threads",
    "simulated",
    "launch",
    "check",
];

fn duration(d: Duration) -> String {
    let s = d.as_secs_f64();
    match s {
        s if s < 1e-3 => format!("{:.0} us", s * 1e6),
        s if s < 1.0 => format!("{:.1} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}

/// A count with its thousands apart.
fn count(n: u64) -> String {
    let digits = n.to_string();
    let groups: Vec<_> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(|g| String::from_utf8_lossy(g).into_owned())
        .collect();
    groups.join(",")
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rows = vec![HEADER.map(String::from)];
        rows.extend(self.0.iter().map(|l| {
            [
                l.kernel.clone(),
                l.compiled.simd_width.to_string(),
                l.compiled.instructions.to_string(),
                duration(l.compile_time),
                count(l.launch.threads),
                count(l.launch.instructions),
                duration(Duration::from_secs_f64(l.launch.wall_seconds)),
                l.check.clone(),
            ]
        }));
        let widths: Vec<usize> = (0..HEADER.len())
            .map(|c| {
                rows.iter()
                    .filter_map(|r| r.get(c))
                    .map(String::len)
                    .max()
                    .unwrap_or(0)
            })
            .collect();
        for row in &rows {
            for (n, (cell, width)) in row.iter().zip(&widths).enumerate() {
                match n {
                    0 => write!(f, "{cell:<width$}")?,
                    7 => write!(f, "  {cell}")?,
                    _ => write!(f, "  {cell:>width$}")?,
                }
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

/// Runs something while a bar shows the threads that are done. Short work shows none.
pub fn with_bar<T>(what: &str, progress: &Progress, work: impl FnOnce() -> T) -> T {
    let mut bar = None;
    let draw = |seen: &Progress| {
        let bar = bar.get_or_insert_with(|| {
            let style =
                ProgressStyle::with_template("{msg:12} [{bar:40}] {pos}/{len} threads {eta}");
            let bar = ProgressBar::new(seen.total());
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.set_message(what.to_string());
            bar
        });
        bar.set_length(seen.total());
        bar.set_position(seen.done());
    };
    let out = progress.watch(STEP, draw, work);
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(count(7), "7");
        assert_eq!(duration(Duration::from_micros(320)), "320 us");
    }
}
