//! Modelled time of code, without running it.

use super::{Clock, Slot, accesses, timing};
use crate::inst::{Inst, Src, Target};
use crate::platform::Platform;
use crate::reg::Reg;

/// How often a loop is taken to run.
const TURNS: u64 = 8;
/// Loops around each other that are counted.
const DEEPEST: u32 = 8;

/// What code takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cycles {
    /// A thread that has an EU for itself, from its first instruction to its last.
    pub alone: u64,
    /// For how long it uses the unit of the EU that it uses most, which other threads cannot have
    /// meanwhile.
    pub busy: u64,
}

impl Cycles {
    /// What so many threads of an EU take together, that begin at once: what one takes, or what the
    /// unit takes that they all wait for.
    pub fn of_threads(&self, threads: u32) -> u64 {
        self.alone.max(self.busy.saturating_mul(threads.into()))
    }
}

/// What instructions take, each with its offset in bytes, if each runs once, and eight times more
/// for each loop that it is in: what lies between a branch back and where it goes. Both sides of a
/// branch count, as for channels that part. Takes time with the logarithm of how many loops there
/// are.
///
/// ```
/// use gantry_isa_gen::{Platform, perf, text};
/// let platform = Platform::from_name("skl").ok_or("no such platform")?;
/// let once = "add (8|M0) r5.0<1>:f r6.0<8;8,1>:f 1.5:f\n";
/// let again = format!("L0:\n{once}(f0.0) while (8|M0) L0\n");
/// let cycles = |source: &str| {
///     let program = text::assemble(platform, source)?;
///     let insts = program.insts.iter().scan(0, |at, i| {
///         let here = *at;
///         *at += 16;
///         Some((here, &i.inst))
///     });
///     Ok::<_, Box<dyn std::error::Error>>(perf::cycles(platform, insts))
/// };
/// assert_eq!(cycles(once)?.alone, 2);
/// assert_eq!(cycles(&again)?.alone, 8 * (2 + 8));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn cycles<'a>(
    platform: Platform,
    code: impl IntoIterator<Item = (u32, &'a Inst<Reg>)>,
) -> Cycles {
    let code: Vec<(u32, &Inst<Reg>)> = code.into_iter().collect();
    let depths = depths(&code);
    let grf_bytes = platform.features().grf_bytes;
    let grf = |r: Reg| match r {
        Reg::Grf(n) => Some(u32::from(n) * grf_bytes..u32::MAX),
        Reg::Arf(..) => None,
    };
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    let mut clock = Clock::default();
    let mut out = Cycles::default();
    for ((_, inst), depth) in code.iter().zip(depths) {
        reads.clear();
        writes.clear();
        accesses(platform, inst, grf, |a| {
            let slots = if a.write { &mut writes } else { &mut reads };
            slots.extend(Slot::of(&a, grf_bytes));
        });
        let (now, busy) = (clock.now(), clock.busy());
        clock.issue(
            &timing(platform, inst),
            reads.iter().copied(),
            writes.iter().copied(),
        );
        let times = TURNS.saturating_pow(depth.min(DEEPEST));
        let sum = |all: u64, more: u32| all.saturating_add(times.saturating_mul(more.into()));
        out.alone = sum(out.alone, clock.now() - now);
        out.busy = sum(out.busy, clock.busy() - busy);
    }
    out
}

/// How many loops each instruction is in.
fn depths(code: &[(u32, &Inst<Reg>)]) -> Vec<u32> {
    // First and last instruction of each loop, by the first.
    let mut loops: Vec<(usize, usize)> = Vec::new();
    for (last, (at, inst)) in code.iter().enumerate() {
        for s in &inst.srcs {
            if let Src::Target(Target::Rel(by)) = *s
                && by <= 0
                && let Some(to) = at.checked_add_signed(by)
                && let Ok(first) = code.binary_search_by_key(&to, |c| c.0)
            {
                loops.push((first, last));
            }
        }
    }
    // Several branches back to one place are one loop.
    loops.sort_unstable_by_key(|l| (l.0, std::cmp::Reverse(l.1)));
    loops.dedup_by_key(|l| l.0);
    let mut changes = vec![0i32; code.len() + 1];
    for (first, last) in loops {
        changes[first] += 1;
        changes[last + 1] -= 1;
    }
    let inside = changes.iter().scan(0i32, |now, by| {
        *now += by;
        Some((*now).max(0) as u32)
    });
    inside.take(code.len()).collect()
}
