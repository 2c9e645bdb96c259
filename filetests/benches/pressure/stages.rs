//! Compile time by stages, and by phases of allocation.

use crate::{Arguments, Res};
use gantry_codegen::ir::Module;
use gantry_codegen::{CompiledKernel, Context, Phase, text};
use gantry_filetests::pressure::ir;
use gantry_filetests::{TestFile, files};
use std::path::Path;
use std::time::{Duration, Instant};

/// Minimal number of compiles of a kernel, and below it their minimal time. Each figure is the
/// least of all.
const ROUNDS: u32 = 15;
const LEAST: Duration = Duration::from_millis(300);

/// Stages that the table has a column for besides allocation.
const STAGES: [&str; 7] = [
    "opt",
    "lower",
    "split-regions",
    "flag-alloc",
    "pre-ra-schedule",
    "schedule",
    "emit",
];
/// Index of the stage that computes liveness if loads are to be moved up; allocation uses its
/// results.
const PRE_RA_SCHEDULE: usize = 4;

/// Returns the headings of the stages' columns.
fn columns() -> impl Iterator<Item = &'static str> {
    STAGES.into_iter().chain(["liveness", "regalloc"])
}

/// Returns the width of a column: that of its heading, or of a time.
fn width(name: &str) -> usize {
    name.len().max(8)
}

/// Least times found, in milliseconds.
struct Times {
    total: f64,
    /// Times of [`STAGES`].
    stages: [f64; STAGES.len()],
    liveness: f64,
    regalloc: f64,
    phases: [f64; Phase::ALL.len()],
    attempts: u32,
    instructions: usize,
}

fn milliseconds(t: Duration) -> f64 {
    t.as_secs_f64() * 1e3
}

impl Times {
    fn of(total: Duration, kernels: &[CompiledKernel]) -> Times {
        let stage = |name: &str| {
            let of = kernels.iter().flat_map(|k| &k.stats.stages);
            milliseconds(of.filter(|s| s.0 == name).map(|s| s.1).sum())
        };
        let phase = |p: Phase| milliseconds(kernels.iter().map(|k| k.stats.phases.time(p)).sum());
        Times {
            total: milliseconds(total),
            stages: STAGES.map(stage),
            liveness: stage("liveness"),
            regalloc: stage("regalloc"),
            phases: Phase::ALL.map(phase),
            attempts: kernels.iter().map(|k| k.stats.phases.attempts).sum(),
            instructions: kernels.iter().map(|k| k.stats.instructions).sum(),
        }
    }

    fn least(&mut self, other: &Times) {
        let all = [&mut self.total, &mut self.liveness, &mut self.regalloc];
        let all = all.into_iter().chain(&mut self.stages);
        let others = [&other.total, &other.liveness, &other.regalloc];
        let others = others.into_iter().chain(&other.stages);
        let (all, others) = (all.chain(&mut self.phases), others.chain(&other.phases));
        for (a, b) in all.zip(others) {
            *a = a.min(*b);
        }
    }

    /// Returns the time of liveness and allocation, including all of the stage that moves loads up.
    fn allocation(&self) -> f64 {
        self.stages[PRE_RA_SCHEDULE] + self.liveness + self.regalloc
    }

    /// Returns the share of that in the total time.
    fn share(&self) -> f64 {
        self.allocation() / self.total
    }

    fn print(&self, name: &str) {
        print!("{name:<14} {:>6} {:>8.3}", self.instructions, self.total);
        let times = self.stages.iter().chain([&self.liveness, &self.regalloc]);
        for (s, name) in times.zip(columns()) {
            print!(" {s:>0$.3}", width(name));
        }
        print!(" {:>5.0}% {:>3}", self.share() * 100.0, self.attempts);
        for p in &self.phases {
            print!(" {p:>8.3}");
        }
        println!();
    }
}

fn measure(asked: &Arguments, m: &Module) -> Res<Times> {
    let options = asked.options()?;
    let mut context = Context::new();
    let mut found: Option<Times> = None;
    let begun = Instant::now();
    let mut rounds = 0;
    while rounds < ROUNDS || begun.elapsed() < LEAST {
        let start = Instant::now();
        let out = context.compile(m, &options).map_err(|e| e.to_string())?;
        let now = Times::of(start.elapsed(), &out.kernels);
        match &mut found {
            Some(t) => t.least(&now),
            None => found = Some(now),
        }
        rounds += 1;
    }
    found.ok_or_else(|| "no round".into())
}

/// Prints a group's sums.
fn sums(title: &str, all: &[Times]) {
    if all.is_empty() {
        return;
    }
    let sum = |f: fn(&Times) -> f64| all.iter().map(f).sum::<f64>();
    let total = sum(|t| t.total);
    let worst = all.iter().map(Times::share).fold(0.0, f64::max);
    println!(
        "{title}: {total:.2} ms, allocation {:.0}% of them, of one kernel at most {:.0}%",
        sum(Times::allocation) / total * 100.0,
        worst * 100.0
    );
}

/// Prints the table.
pub fn table(asked: &Arguments) -> Res<()> {
    println!(
        "Milliseconds of stages, allocation's share (pre-ra-schedule, which follows live values, liveness, regalloc), and of regalloc's phases; attempts at spilling."
    );
    print!("{:<14} {:>6} {:>8}", "kernel", "insts", "total");
    for name in columns() {
        print!(" {name:>0$}", width(name));
    }
    print!("  share  at");
    Phase::ALL.iter().for_each(|p| print!(" {:>8}", p.name()));
    println!();
    let mut classics = Vec::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("filetests/run/classics");
    for path in files(&root).map_err(|e| e.to_string())? {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        if !asked.is_for(&name) {
            continue;
        }
        let source = std::fs::read_to_string(&path).map_err(|e| e.to_string())?;
        let file = TestFile::parse(&name, &source).map_err(|e| e.to_string())?;
        let m = text::parse(&file.body).map_err(|e| e.to_string())?.module;
        let t = measure(asked, &m)?;
        t.print(&name);
        classics.push(t);
    }
    let (mut spilled, mut whole) = (Vec::new(), Vec::new());
    for k in &asked.kernels {
        let m = ir::module(&k.name, &k.program, !asked.wide).map_err(|e| e.to_string())?;
        let t = measure(asked, &m).map_err(|e| format!("{}: {e}", k.name))?;
        t.print(&k.name);
        match t.attempts {
            0 => whole.push(t),
            _ => spilled.push(t),
        }
    }
    sums("classics", &classics);
    sums("high pressure, all in the file", &whole);
    sums("high pressure, spilled", &spilled);
    Ok(())
}
