//! Modelled time of code, without execution.

use super::{Clock, Slot, timing};
use crate::effects::accesses;
use crate::inst::{Inst, Src, Target};
use crate::platform::Platform;
use crate::reg::Reg;

/// Assumed trip count of a loop.
const TURNS: u64 = 8;
/// Maximum loop depth that is counted.
const DEEPEST: u32 = 8;

/// Modelled time of code, in cycles.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cycles {
    /// Time of a thread that has an EU for itself, from its first instruction to its last.
    pub alone: u64,
    /// Time for which it occupies the unit of the EU that it uses most, which other threads cannot
    /// use meanwhile.
    pub busy: u64,
}

impl Cycles {
    /// Returns the time of `threads` threads of an EU that begin at once. It is the time of one
    /// thread, or that of the unit that all wait for.
    pub fn of_threads(&self, threads: u32) -> u64 {
        self.alone.max(self.busy.saturating_mul(threads.into()))
    }
}

/// Computes the time of instructions, given with their offsets in bytes.
///
/// Each instruction runs once, and eight times more often for each loop around it. A loop is the
/// code from a backward branch to its target. Both sides of a branch count, as if channels diverge.
/// The running time grows with the logarithm of the number of loops.
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

/// Returns the loop depth of each instruction.
fn depths(code: &[(u32, &Inst<Reg>)]) -> Vec<u32> {
    // First and last instruction of each loop, sorted by the first.
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
    // Several backward branches to one target are one loop.
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
