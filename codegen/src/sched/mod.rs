//! Scheduling: the order of instructions within their blocks.
//!
//! A thread issues its instructions in order, and stalls if one needs a result that is not
//! available yet. An ALU result takes some cycles, a load hundreds. Two passes reorder instructions
//! to hide these latencies:
//!
//! - [`raise`], before allocation: loads and what they need come first, as long as demand stays
//!   below a limit. Users of loaded values keep their order. Registers joined by copies count as
//!   one, so that no copy becomes a move.
//! - [`schedule`], after allocation: a list scheduler over the bytes of the GRF file. Of the
//!   instructions that need not wait, it takes the one with the longest critical path.
//!
//! Both need code whose flags are allocated, and keep its meaning. Every read of a register, a
//! flag, an accumulator or of memory gets the same write as before. Blocks begin and end with the
//! same state. Some instructions are fixed: control flow, the mask stack, calls, barriers, fences,
//! changes of modes, clocks. No instruction moves across them. Source locations move with their
//! instructions. With [`check`](crate::CompileOptions::check), a walk over the code before and
//! after checks all this.
//!
//! Latencies are in [`isa::perf`]. A block of `n` instructions takes `n log n` time.

mod check;
mod graph;
mod list;
mod space;
#[cfg(test)]
mod tests;
mod units;

use crate::error::CodegenError;
use crate::mir::liveness::{Liveness, Range, liveness};
use crate::mir::srclocs::SrcLocs;
use crate::mir::{MInst, VCode, VReg};
use crate::regalloc::Allocation;
use crate::sized;
use crate::target::Target;
use cranelift_entity::SecondaryMap;
use gantry_isa_gen as isa;
use graph::DependenceGraph;
use isa::perf::Clock;
use list::{ListScheduler, Policy};
use space::StateSpace;
use units::SegmentUnits;

/// Memory that is kept from one function to the next.
#[derive(Default)]
pub(crate) struct Memory {
    units: SegmentUnits,
    graph: DependenceGraph,
    clock: Clock,
    list: ListScheduler,
    needed: Vec<bool>,
}

/// Order of all instructions: the old index of the instruction at each new index.
pub(crate) struct Schedule {
    /// Old index by new index.
    from: Vec<u32>,
    /// Number of instructions that moved.
    pub(crate) moved: u32,
}

impl Schedule {
    fn new(code: &VCode) -> Schedule {
        Schedule {
            from: Vec::with_capacity(code.insts.len()),
            moved: 0,
        }
    }

    fn push(&mut self, at: usize) {
        self.moved += u32::from(self.from.len() != at);
        self.from.push(at as u32);
    }

    /// Puts code into this order.
    pub(crate) fn apply(&self, code: &mut VCode) {
        if self.moved == 0 {
            return;
        }
        if code.locs.runs().next().is_some() {
            let mut locs = SrcLocs::default();
            for (to, &from) in self.from.iter().enumerate() {
                locs.push(to, code.locs.get(from as usize));
            }
            code.locs = locs;
        }
        // Moves in place, cycle by cycle of the permutation.
        let mut done = vec![false; self.from.len()];
        let next = |n: usize| self.from.get(n).map_or(n, |f| *f as usize);
        for first in 0..self.from.len() {
            if done[first] || next(first) == first {
                continue;
            }
            let kept = code.insts[first];
            let mut to = first;
            while !std::mem::replace(&mut done[to], true) {
                let from = next(to);
                code.insts[to] = if from == first {
                    kept
                } else {
                    code.insts[from]
                };
                to = from;
            }
        }
    }

    /// Undoes the order.
    pub(crate) fn undo(&self, code: &mut VCode) {
        let back = Schedule {
            from: self.places(),
            moved: self.moved,
        };
        back.apply(code);
    }

    /// Returns the new index by old index.
    fn places(&self) -> Vec<u32> {
        let mut out = vec![0; self.from.len()];
        for (to, &from) in (0u32..).zip(&self.from) {
            if let Some(place) = out.get_mut(from as usize) {
                *place = to;
            }
        }
        out
    }
}

/// Policy that takes instructions with the longest critical path first.
struct CriticalPath;

impl Policy for CriticalPath {
    fn rank(&self, graph: &DependenceGraph, n: usize) -> Option<u32> {
        Some(u32::MAX - graph.critical_path(n))
    }
}

/// Returns an order for allocated code that hides latencies. All registers must be allocated.
pub(crate) fn schedule(
    code: &VCode,
    alloc: &Allocation,
    target: &Target,
    memory: &mut Memory,
) -> Schedule {
    let space = StateSpace {
        platform: target.platform(),
        grf: target.grf().bytes,
        address: |r: VReg| alloc.address[r],
        size: |r: VReg| code.vregs[r].bytes,
        values: !code.labels.is_empty(),
        lone: code.lone_surfaces,
    };
    ordered(code, &space, &mut CriticalPath, memory, |_, _| {})
}

/// Returns an order of allocated code by a policy. `edit` changes the dependences of each segment
/// before it is ordered.
fn ordered<A: Fn(VReg) -> u32, S: Fn(VReg) -> u32>(
    code: &VCode,
    space: &StateSpace<A, S>,
    policy: &mut impl Policy,
    memory: &mut Memory,
    mut edit: impl FnMut(&mut DependenceGraph, &SegmentUnits),
) -> Schedule {
    let mut order = Schedule::new(code);
    let Memory {
        units,
        graph,
        clock,
        list,
        ..
    } = memory;
    units.begin();
    graph.reserve(space.chunks(code.grf.size()));
    for data in code.blocks.values() {
        clock.reset();
        let mut at = data.start;
        while at < data.end {
            at = units.segment(code, space, at..data.end, false);
            graph.build(units);
            edit(graph, units);
            list.run(units, graph, clock, policy);
            list.order(units, &mut order);
            units.fixed(clock, &mut order);
        }
    }
    order
}

/// Addresses of registers before allocation. Registers joined by copies have the same.
struct CopyClasses {
    address: SecondaryMap<VReg, u32>,
    end: u32,
}

impl CopyClasses {
    fn new(code: &VCode) -> CopyClasses {
        let file = code.grf;
        let mut up: SecondaryMap<VReg, u32> =
            (0..code.vregs.len() as u32).collect::<Vec<u32>>().into();
        let root = |mut r: VReg, up: &mut SecondaryMap<VReg, u32>| {
            while up[r] != r.as_u32() {
                up[r] = up[VReg::from_u32(up[r])];
                r = VReg::from_u32(up[r]);
            }
            r
        };
        for m in &code.insts {
            if let MInst::Copy { dst, src } = *m {
                let (a, b) = (root(dst, &mut up), root(src, &mut up));
                let (first, second) = (a.min(b), a.max(b));
                up[second] = first.as_u32();
            }
        }
        let mut address: SecondaryMap<VReg, u32> = sized(code.vregs.len());
        let mut end = file.size();
        for (r, data) in &code.vregs {
            let to = root(r, &mut up);
            address[r] = match (data.constraint, to == r) {
                // Payload registers may overlap: none is written.
                (crate::mir::RegConstraint::Fixed(at), true) => at,
                (_, false) => address[to],
                _ => {
                    let at = end;
                    end += data.bytes.next_multiple_of(file.bytes);
                    at
                }
            };
        }
        CopyClasses { address, end }
    }
}

/// State of a register.
#[derive(Clone, Copy, Default)]
struct RegisterState {
    /// Number of times that the rest of the block names it.
    left: u32,
    /// True if it is live now.
    lives: bool,
}

/// Live bytes during scheduling of a block, and the registers that the rest of it names.
struct Pressure<'a> {
    code: &'a VCode,
    live: &'a Liveness,
    of: SecondaryMap<VReg, RegisterState>,
    now: u32,
    limit: u32,
    end: u32,
}

impl Pressure<'_> {
    /// Starts a block.
    fn block(&mut self, insts: std::ops::Range<usize>) {
        let code = self.code;
        let (start, end) = (insts.start as u32 * 2, insts.end as u32 * 2);
        self.end = end;
        let inside = &code.insts[insts.clone()];
        for m in inside {
            m.for_each_vreg(|r, _| self.of[r] = RegisterState::default());
        }
        for m in inside {
            m.for_each_vreg(|r, _| {
                let state = &mut self.of[r];
                if state.left == 0 {
                    let ranges: &[Range] = &self.live.ranges[r];
                    let n = ranges.partition_point(|x| x.end <= start);
                    // A register that the first instruction starts becomes live at the next point,
                    // or at its own.
                    state.lives = ranges.get(n).is_some_and(|x| x.start < start)
                        || start == 0 && ranges.get(n).is_some_and(|x| x.start == 0);
                }
                state.left += 1;
            });
        }
        self.now = self.live.demand.get(insts.start).map_or(0, |d| d.before);
    }

    /// Returns true if a register is live out of the block.
    fn leaves(&self, r: VReg) -> bool {
        let ranges: &[Range] = &self.live.ranges[r];
        let n = ranges.partition_point(|x| x.end < self.end);
        ranges
            .get(n)
            .is_some_and(|x| x.start < self.end && x.end >= self.end)
    }

    /// Returns the maximum of live bytes while instructions run, if they run now.
    fn peak(&self, insts: &[MInst]) -> u32 {
        let mut more = 0;
        for m in insts {
            m.for_each_vreg(|r, _| {
                if !self.of[r].lives {
                    more += self.code.vregs[r].bytes;
                }
            });
        }
        self.now + more
    }

    /// Updates the state for instructions that run.
    fn run(&mut self, insts: &[MInst]) {
        let mut last = false;
        for m in insts {
            m.for_each_vreg(|r, _| {
                let state = &mut self.of[r];
                if !std::mem::replace(&mut state.lives, true) {
                    self.now += self.code.vregs[r].bytes;
                }
                state.left = state.left.saturating_sub(1);
                last |= state.left == 0;
            });
        }
        if !last {
            return;
        }
        for m in insts {
            m.for_each_vreg(|r, _| {
                let RegisterState { left, lives } = self.of[r];
                if left == 0 && lives && !self.leaves(r) {
                    self.of[r].lives = false;
                    self.now = self.now.saturating_sub(self.code.vregs[r].bytes);
                }
            });
        }
    }
}

/// Policy that takes loads and what they need first, in their order, while there is space.
struct RaiseLoads<'a, 'b> {
    units: &'a SegmentUnits,
    pressure: &'a mut Pressure<'b>,
    /// True for units that some load needs.
    needed: &'a [bool],
}

impl Policy for RaiseLoads<'_, '_> {
    fn rank(&self, _: &DependenceGraph, n: usize) -> Option<u32> {
        let needed = self.needed.get(n).copied().unwrap_or(false);
        needed.then_some(n as u32)
    }

    fn fits(&self, n: usize) -> bool {
        let insts = self.units.insts(self.pressure.code, n);
        self.pressure.peak(insts) <= self.pressure.limit
    }

    fn issued(&mut self, n: usize) {
        let insts = self.units.insts(self.pressure.code, n);
        self.pressure.run(insts);
    }
}

/// Returns an order for code before allocation with early loads and at most `limit` bytes live.
/// Flags must be allocated.
pub(crate) fn raise(
    code: &VCode,
    live: &Liveness,
    target: &Target,
    limit: u32,
    memory: &mut Memory,
) -> Schedule {
    let joined = CopyClasses::new(code);
    let space = StateSpace {
        platform: target.platform(),
        grf: target.grf().bytes,
        address: |r: VReg| joined.address[r],
        size: |r: VReg| code.vregs[r].bytes,
        values: true,
        lone: code.lone_surfaces,
    };
    let mut order = Schedule::new(code);
    let Memory {
        units,
        graph,
        clock,
        list,
        needed,
    } = memory;
    graph.reserve(space.chunks(joined.end));
    let mut pressure = Pressure {
        code,
        live,
        of: sized(code.vregs.len()),
        now: 0,
        limit,
        end: 0,
    };
    for data in code.blocks.values() {
        let insts = data.start..data.end;
        let peak = &live.demand[insts.clone()];
        let peak = peak.iter().map(|d| d.peak()).max().unwrap_or(0);
        let inside = &code.insts[insts.clone()];
        let loads = inside.iter().filter(|m| units::is_message(m)).count();
        // Instructions after the last load stay.
        let last = match inside.iter().rposition(units::may_load) {
            Some(n) if loads >= LOADS && peak <= limit => data.start + n,
            _ => {
                insts.for_each(|n| order.push(n));
                continue;
            }
        };
        clock.reset();
        pressure.block(insts);
        units.begin();
        let mut at = data.start;
        while at <= last {
            at = units.segment(code, &space, at..data.end, true);
            if (0..units.len()).any(|n| units.loads(n)) {
                graph.build(units);
                graph.needed(|n| units.loads(n), needed);
                let policy = &mut RaiseLoads {
                    units,
                    pressure: &mut pressure,
                    needed,
                };
                list.run(units, graph, clock, policy);
                list.order(units, &mut order);
            } else {
                for n in 0..units.len() {
                    units.issue(n, clock);
                    pressure.run(units.insts(code, n));
                    units.places(n).for_each(|at| order.push(at));
                }
            }
            pressure.run(units.fixed_inst(code));
            units.fixed(clock, &mut order);
        }
        (at..data.end).for_each(|n| order.push(n));
    }
    order
}

/// Number of messages in a block from which on its loads are raised.
pub(crate) const LOADS: usize = 2;

/// Returns true if raising loads may change anything.
pub(crate) fn has_loads(code: &VCode) -> bool {
    let mut messages = code.insts.iter().filter(|m| units::is_message(m));
    messages.nth(LOADS - 1).is_some()
}

/// Part of the GRF file that raised loads may fill, in quarters. The rest is for fragmentation.
const QUARTERS: u32 = 3;

/// Raises the loads of code. Returns its liveness and the number of moved instructions. Demand does
/// not exceed `file` bytes, or what it was.
///
/// # Errors
/// As those of [`liveness`]. With `check`, an order that does not keep the meaning of code.
pub(crate) fn raise_loads(
    name: &str,
    mut code: VCode,
    target: &Target,
    file: u32,
    check: bool,
    memory: &mut Memory,
) -> Result<(VCode, Liveness, u32), CodegenError> {
    let live = liveness(name, &code)?;
    let limit = file / 4 * QUARTERS;
    let order = raise(&code, &live, target, limit, memory);
    if order.moved == 0 {
        return Ok((code, live, 0));
    }
    if check {
        let joined = CopyClasses::new(&code);
        let place = |r: VReg| joined.address[r];
        check::verify(&code, &order, target, place, true)
            .map_err(|e| CodegenError::internal(name, format!("raise: {e}")))?;
    }
    order.apply(&mut code);
    let after = live.reordered(name, &code, &order.places())?;
    debug_assert!(liveness(name, &code).is_ok_and(|l| l.same(&after)));
    if after.peak().1 > limit.max(live.peak().1) {
        order.undo(&mut code);
        return Ok((code, live, 0));
    }
    Ok((code, after, order.moved))
}

/// Returns allocated code in its final order, and the number of moved instructions.
///
/// # Errors
/// With `check`, an order that does not keep the meaning of code.
pub(crate) fn reorder(
    name: &str,
    mut code: VCode,
    alloc: &Allocation,
    target: &Target,
    check: bool,
    memory: &mut Memory,
) -> Result<(VCode, u32), CodegenError> {
    let order = schedule(&code, alloc, target, memory);
    if check {
        let labels = !code.labels.is_empty();
        check::verify(&code, &order, target, |r| alloc.address[r], labels)
            .map_err(|e| CodegenError::internal(name, format!("schedule: {e}")))?;
    }
    order.apply(&mut code);
    Ok((code, order.moved))
}
