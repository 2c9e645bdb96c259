//! Scheduling: the order of instructions within their blocks.
//!
//! A thread issues its instructions in order, and waits where one needs what is not there yet: some
//! cycles for a result of the ALU, hundreds for a load. Two passes move what may be moved so that
//! there is something else to do meanwhile:
//!
//! - [`raise`], before allocation: loads, and what they need, come first, as long as what lives
//!   stays below a limit; what reads them comes as late as it came. Registers that copies join
//!   count as one, so that no copy becomes a move.
//! - [`schedule`], after allocation: a list scheduler over the bytes of the register file. Of the
//!   instructions that need not wait it takes the one with the longest way to the end of the block.
//!
//! Both need code whose flags have their places, and keep its meaning: what reads a byte of a
//! register, a flag, an accumulator or of memory reads what the same instruction wrote as before,
//! and blocks begin and end with the same. Nothing passes what is fixed: control flow, the mask
//! stack, calls, barriers, fences, changes of modes, clocks. Source locations move with their
//! instructions. With [`check`](crate::CompileOptions::check) a walk over the code as it was and as
//! it is looks at that.
//!
//! How long instructions take is in [`isa::perf`]. A block of `n` instructions takes `n` times its
//! logarithm.

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
use graph::Graph;
use isa::perf::Clock;
use list::{List, Policy};
use space::Space;
use units::Units;

/// Memory that is kept from one function to the next.
#[derive(Default)]
pub(crate) struct Memory {
    units: Units,
    graph: Graph,
    clock: Clock,
    list: List,
    needed: Vec<bool>,
}

/// An order of all instructions: for each place, who stands there now.
pub(crate) struct Order {
    /// By place, the instruction's place before.
    from: Vec<u32>,
    /// How many stand elsewhere.
    pub(crate) moved: u32,
}

impl Order {
    fn new(code: &VCode) -> Order {
        Order {
            from: Vec::with_capacity(code.insts.len()),
            moved: 0,
        }
    }

    fn push(&mut self, at: usize) {
        self.moved += u32::from(self.from.len() != at);
        self.from.push(at as u32);
    }

    /// Puts code in this order.
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
        // In place, ring by ring: each takes what the next one has.
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

    /// Takes it back.
    pub(crate) fn undo(&self, code: &mut VCode) {
        let back = Order {
            from: self.places(),
            moved: self.moved,
        };
        back.apply(code);
    }

    /// By the place of each before, its place now.
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

/// Instructions with the longest way to the end of their block first.
struct Longest;

impl Policy for Longest {
    fn rank(&self, graph: &Graph, n: usize) -> Option<u32> {
        Some(u32::MAX - graph.way(n))
    }
}

/// An order for allocated code that hides latencies. Needs places for all registers.
pub(crate) fn schedule(
    code: &VCode,
    alloc: &Allocation,
    target: &Target,
    memory: &mut Memory,
) -> Order {
    let space = Space {
        platform: target.platform(),
        grf: target.grf().bytes,
        address: |r: VReg| alloc.address[r],
        size: |r: VReg| code.vregs[r].bytes,
        values: !code.labels.is_empty(),
        lone: code.lone_surfaces,
    };
    ordered(code, &space, &mut Longest, memory, |_, _| {})
}

/// An order of allocated code by a policy. `edit`: what is done to the dependences of each segment
/// before.
fn ordered<A: Fn(VReg) -> u32, S: Fn(VReg) -> u32>(
    code: &VCode,
    space: &Space<A, S>,
    policy: &mut impl Policy,
    memory: &mut Memory,
    mut edit: impl FnMut(&mut Graph, &Units),
) -> Order {
    let mut order = Order::new(code);
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

/// Where the registers of code are before they have a place: those that copies join are in one.
struct Joined {
    address: SecondaryMap<VReg, u32>,
    end: u32,
}

impl Joined {
    fn new(code: &VCode) -> Joined {
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
            address[r] = match (data.place, to == r) {
                // Payload registers may lie over each other: nobody writes them.
                (crate::mir::Place::Fixed(at), true) => at,
                (_, false) => address[to],
                _ => {
                    let at = end;
                    end += data.bytes.next_multiple_of(file.bytes);
                    at
                }
            };
        }
        Joined { address, end }
    }
}

/// How it stands with a register.
#[derive(Clone, Copy, Default)]
struct State {
    /// How often the rest of the block names it.
    left: u32,
    /// Whether it lives now.
    lives: bool,
}

/// What lives, as instructions are put in order: bytes, and registers that the block has still to
/// name.
struct Pressure<'a> {
    code: &'a VCode,
    live: &'a Liveness,
    of: SecondaryMap<VReg, State>,
    now: u32,
    limit: u32,
    end: u32,
}

impl Pressure<'_> {
    /// Begins a block.
    fn block(&mut self, insts: std::ops::Range<usize>) {
        let code = self.code;
        let (start, end) = (insts.start as u32 * 2, insts.end as u32 * 2);
        self.end = end;
        let inside = code.insts.get(insts.clone()).unwrap_or(&[]);
        for m in inside {
            m.for_each_vreg(|r, _| self.of[r] = State::default());
        }
        for m in inside {
            m.for_each_vreg(|r, _| {
                let state = &mut self.of[r];
                if state.left == 0 {
                    let ranges: &[Range] = &self.live.ranges[r];
                    let n = ranges.partition_point(|x| x.end <= start);
                    // What begins with the block's first instruction lives from the point behind,
                    // or from its own.
                    state.lives = ranges.get(n).is_some_and(|x| x.start < start)
                        || start == 0 && ranges.get(n).is_some_and(|x| x.start == 0);
                }
                state.left += 1;
            });
        }
        self.now = self.live.demand.get(insts.start).map_or(0, |d| d.before);
    }

    /// Whether a register lives behind the block.
    fn leaves(&self, r: VReg) -> bool {
        let ranges: &[Range] = &self.live.ranges[r];
        let n = ranges.partition_point(|x| x.end < self.end);
        ranges
            .get(n)
            .is_some_and(|x| x.start < self.end && x.end >= self.end)
    }

    /// The most bytes that live while an instruction runs, if it runs now.
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

    /// Instructions run.
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
                let State { left, lives } = self.of[r];
                if left == 0 && lives && !self.leaves(r) {
                    self.of[r].lives = false;
                    self.now = self.now.saturating_sub(self.code.vregs[r].bytes);
                }
            });
        }
    }
}

/// Loads and what they need first, in the order in which they are, while there is room.
struct Raise<'a, 'b> {
    units: &'a Units,
    pressure: &'a mut Pressure<'b>,
    /// Whether some load needs it.
    needed: &'a [bool],
}

impl Policy for Raise<'_, '_> {
    fn rank(&self, _: &Graph, n: usize) -> Option<u32> {
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

/// An order for code before its allocation in which loads come early, while no more than `limit`
/// bytes live. Needs code whose flags have their places.
pub(crate) fn raise(
    code: &VCode,
    live: &Liveness,
    target: &Target,
    limit: u32,
    memory: &mut Memory,
) -> Order {
    let joined = Joined::new(code);
    let space = Space {
        platform: target.platform(),
        grf: target.grf().bytes,
        address: |r: VReg| joined.address[r],
        size: |r: VReg| code.vregs[r].bytes,
        values: true,
        lone: code.lone_surfaces,
    };
    let mut order = Order::new(code);
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
        let peak = live.demand.get(insts.clone()).unwrap_or(&[]);
        let peak = peak.iter().map(|d| d.peak()).max().unwrap_or(0);
        let inside = code.insts.get(insts.clone()).unwrap_or(&[]);
        let loads = inside.iter().filter(|m| units::is_message(m)).count();
        // What is behind the last load stays.
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
                let policy = &mut Raise {
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

/// Messages of a block from which on loads are raised in it.
pub(crate) const LOADS: usize = 2;

/// Whether raising loads may change anything.
pub(crate) fn has_loads(code: &VCode) -> bool {
    let mut messages = code.insts.iter().filter(|m| units::is_message(m));
    messages.nth(LOADS - 1).is_some()
}

/// The part of the file that raised loads may fill: in quarters. The rest is for what does not fit
/// into the holes between them.
const QUARTERS: u32 = 3;

/// Code with its loads early, what lives in it, and how many instructions were moved. What lives at
/// once is no more than `file` bytes, or than it was.
///
/// # Errors
/// As those of [`liveness`]. With `check`, an order that does not keep what code means.
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
        let joined = Joined::new(&code);
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

/// Allocated code in its last order, and how many instructions were moved.
///
/// # Errors
/// With `check`, an order that does not keep what code means.
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
