//! Comparison with coarser allocators.

use crate::{Arguments, Res};
use gantry_codegen::ir::Module;
use gantry_codegen::report::AllocationReport;
use gantry_codegen::{Allocator, KernelStats, compile, text};
use gantry_filetests::launch::Run;
use gantry_filetests::pressure::ir;
use gantry_filetests::runner::simulate;
use gantry_filetests::{TestFile, files};
use std::path::Path;

/// Figures of one allocator for a kernel.
#[derive(Clone, Copy, Default)]
struct AllocatorFigures {
    /// Bytes of the GRF file that suffice for all values. If they do not fit the file, the highest
    /// demand.
    bytes: u32,
    more: bool,
    spills: u64,
    fills: u64,
    moves: u64,
    executed: u64,
    /// True if most values at the point of highest demand are smaller than a GRF.
    small: bool,
}

/// Percentage of values smaller than a GRF, at the point of highest demand, from which on a kernel
/// is one of small values. These are uniform values, and bytes and words of few lanes.
const SMALL: usize = 50;

/// Returns the percentage of values smaller than a GRF at the point of highest demand.
fn small(report: &AllocationReport) -> usize {
    let points = report.placed.iter().flat_map(|p| &p.ranges);
    let last = points.map(|x| x.end).max().unwrap_or(0);
    // Changes at each point, as starts minus ends: bytes, values, small values.
    let mut change = vec![[0i64; 3]; last as usize + 1];
    for p in &report.placed {
        let is_small = i64::from(p.held.bytes < report.grf);
        let one = [i64::from(p.held.bytes), 1, is_small];
        for x in &p.ranges {
            for (point, sign) in [(x.start, 1), (x.end, -1)] {
                let at = &mut change[point as usize];
                at.iter_mut().zip(one).for_each(|(a, n)| *a += sign * n);
            }
        }
    }
    let mut now = [0i64; 3];
    let mut most = now;
    for c in change {
        now.iter_mut().zip(c).for_each(|(n, c)| *n += c);
        most = most.max(now);
    }
    (most[2] * 100 / most[1].max(1)) as usize
}

fn compiled(
    asked: &Arguments,
    m: &Module,
    allocator: Allocator,
    grfs: u32,
) -> Res<(Vec<u8>, KernelStats)> {
    let mut options = asked.options()?;
    options.report = true;
    options.debug.allocator = allocator;
    options.grfs = Some(grfs);
    let mut out = compile(m, &options).map_err(|e| e.to_string())?;
    let kernel = out.kernels.pop().ok_or("no kernel")?;
    Ok((out.zebin, kernel.stats))
}

/// Returns the fewest GRFs that hold all values.
fn needed(asked: &Arguments, m: &Module, allocator: Allocator, file: u32) -> Option<u32> {
    let holds = |n: u32| {
        let made = compiled(asked, m, allocator, n);
        made.is_ok_and(|(_, s)| s.spilled.registers + s.spilled.remats == 0)
    };
    let (mut low, mut high) = (0, file);
    if !holds(high) {
        return None;
    }
    while high - low > 1 {
        let middle = (low + high) / 2;
        if holds(middle) {
            high = middle
        } else {
            low = middle
        }
    }
    Some(high)
}

fn measure(
    asked: &Arguments,
    m: &Module,
    runs: &[Run],
    allocator: Allocator,
) -> Res<AllocatorFigures> {
    const FILE: u32 = 128;
    let (zebin, stats) = compiled(asked, m, allocator, FILE)?;
    let need = needed(asked, m, allocator, FILE);
    let mut row = AllocatorFigures {
        bytes: need.map_or(stats.grf_bytes_demand, |n| n * 32),
        more: need.is_none(),
        moves: stats.moves as u64,
        small: stats.report.is_some_and(|r| small(&r) >= SMALL),
        ..AllocatorFigures::default()
    };
    for run in runs {
        let (_, stats, _) = simulate(&zebin, run)?;
        row.spills += stats.scratch.writes;
        row.fills += stats.scratch.reads;
        row.executed += stats.instructions;
    }
    Ok(row)
}

/// Sums of a group of kernels, per allocator.
#[derive(Default)]
struct Sums {
    kernels: u32,
    names: Vec<String>,
    /// Logarithms of the bytes.
    bytes: [f64; 3],
    rows: [AllocatorFigures; 3],
}

impl Sums {
    fn add(&mut self, name: &str, rows: &[AllocatorFigures; 3]) {
        self.kernels += 1;
        self.names.push(name.to_string());
        for (n, r) in rows.iter().enumerate() {
            self.bytes[n] += f64::from(r.bytes.max(1)).ln();
            let all = &mut self.rows[n];
            all.spills += r.spills;
            all.fills += r.fills;
            all.moves += r.moves;
            all.executed += r.executed;
        }
    }

    fn print(&self, title: &str) {
        let mean = |n: usize| (self.bytes[n] / f64::from(self.kernels.max(1))).exp();
        let part = |n: usize| format!("{:.2}", mean(0) / mean(n));
        println!(
            "{title}: {} kernels; bytes, of those by GRFs {}, of those by linear scan {}",
            self.kernels,
            part(1),
            part(2)
        );
        for (a, r) in Allocator::ALL.iter().zip(&self.rows) {
            println!(
                "    {:<12} spills {:>7} fills {:>7} moves {:>6} executed {:>9}",
                a.name(),
                r.spills,
                r.fills,
                r.moves,
                r.executed
            );
        }
    }
}

/// Prints the row of a kernel.
fn line(
    asked: &Arguments,
    (name, m): (&str, &Module),
    runs: &[Run],
    sums: &mut Sums,
    few: &mut Sums,
) -> Res<()> {
    let mut rows = [AllocatorFigures::default(); 3];
    for (row, allocator) in rows.iter_mut().zip(Allocator::ALL) {
        *row =
            measure(asked, m, runs, allocator).map_err(|e| format!("{}: {e}", allocator.name()))?;
    }
    let cell = |r: &AllocatorFigures| {
        let more = if r.more { '>' } else { ' ' };
        format!(
            "{more}{:>5} {:>6} {:>6} {:>5} {:>8}",
            r.bytes, r.spills, r.fills, r.moves, r.executed
        )
    };
    println!(
        "{name:<14} | {} | {} | {}",
        cell(&rows[0]),
        cell(&rows[1]),
        cell(&rows[2])
    );
    sums.add(name, &rows);
    if rows[0].small {
        few.add(name, &rows);
    }
    Ok(())
}

/// Prints the table.
pub fn table(asked: &Arguments) -> Res<()> {
    const HEAD: &str = " bytes spills  fills moves executed";
    println!(
        "Bytes of the file that hold all (>: more than there are; what lives at once), executed spills and fills, moves in the"
    );
    println!("code, executed instructions of all launches.");
    println!(
        "{:<14} | {:<35} | {:<35} | linear scan",
        "", "by bytes", "by whole GRFs"
    );
    println!("{:<14} | {HEAD} | {HEAD} | {HEAD}", "kernel");
    let (mut sums, mut few) = (Sums::default(), Sums::default());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("filetests/run/classics");
    for path in files(&root).map_err(|e| e.to_string())? {
        let name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let source = std::fs::read_to_string(&path).map_err(|e| e.to_string())?;
        let file = TestFile::parse(&name, &source).map_err(|e| e.to_string())?;
        let module = text::parse(&file.body).map_err(|e| e.to_string())?.module;
        let runs: Res<Vec<Run>> = source
            .lines()
            .filter_map(|l| l.strip_prefix("; run: "))
            .map(|l| Run::parse(l).map_err(|e| e.to_string()))
            .collect();
        if let Err(e) = line(asked, (&name, &module), &runs?, &mut sums, &mut few) {
            println!("{name:<14} {e}");
        }
    }
    let mut pressed = Sums::default();
    for k in &asked.kernels {
        let m = ir::module(&k.name, &k.program, !asked.wide).map_err(|e| e.to_string())?;
        if let Err(e) = line(asked, (&k.name, &m), &[k.launch()], &mut pressed, &mut few) {
            println!("{:<14} {e}", k.name);
        }
    }
    sums.print("classics");
    pressed.print("high pressure");
    few.print("uniform, 8 and 16 bits: half of the values or more, where most lives, are smaller than a GRF");
    println!("    {}", few.names.join(" "));
    Ok(())
}
