//! Scheduling: the order of instructions within their blocks.
//!
//! A thread issues its instructions in order, and waits where one needs what is not there yet: some cycles for a result of the ALU, hundreds for a load. Two passes
//! move what may be moved so that there is something else to do meanwhile:
//!
//! - [`raise`], before allocation: loads, and what they need, come first, as long as what lives stays below a limit; what reads them comes as late as it came.
//!   Registers that copies join count as one, so that no copy becomes a move.
//! - [`schedule`], after allocation: a list scheduler over the bytes of the register file. Of the instructions that need not wait it takes the one with the
//!   longest way to the end of the block.
//!
//! Both need code whose flags have their places, and keep its meaning: what reads a byte of a register, a flag, an accumulator or of memory reads what the same
//! instruction wrote as before, and blocks begin and end with the same. Nothing passes what is fixed: control flow, the mask stack, calls, barriers,
//! fences, changes of modes, clocks. Source locations move with their instructions. With [`check`](crate::CompileOptions::check) a walk over the code as it was and as it is
//! looks at that.
//!
//! How long instructions take is in [`isa::perf`]. A block of `n` instructions takes `n` times its logarithm.

mod check;
mod graph;
mod list;
mod space;
#[cfg(test)]
mod tests;
mod units;

use crate::liveness::{Liveness, Range, liveness};
use crate::regalloc::Allocation;
use crate::result::CodegenError;
use crate::target::Target;
use crate::vcode::srclocs::SrcLocs;
use crate::vcode::{MInst, VCode, VReg};
use cranelift_entity::SecondaryMap;
use gantry_isa_gen::{self as isa};
use graph::Graph;
use isa::perf::Clock;
use list::{List, Policy};
use space::Space;
use units::Units;

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
            let Some(&kept) = code.insts.get(first) else {
                break;
            };
            let mut to = first;
            while !std::mem::replace(&mut done[to], true) {
                let from = next(to);
                code.insts[to] = match from == first {
                    true => kept,
                    false => code.insts[from],
                };
                to = from;
            }
        }
    }

    /// Takes it back.
    pub(crate) fn undo(&self, code: &mut VCode) {
        let mut back = Order::new(code);
        back.from = vec![0; self.from.len()];
        for (to, &from) in (0u32..).zip(&self.from) {
            if let Some(b) = back.from.get_mut(from as usize) {
                *b = to;
            }
        }
        back.moved = self.moved;
        back.apply(code);
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
pub(crate) fn schedule(code: &VCode, alloc: &Allocation, target: &Target) -> Order {
    let space = Space {
        platform: target.platform(),
        grf: target.grf().bytes,
        address: |r: VReg| alloc.address[r],
        size: |r: VReg| code.vregs[r].bytes,
        values: !code.labels.is_empty(),
    };
    ordered(code, &space, &mut Longest, |_, _| {})
}

/// An order of allocated code by a policy. `edit`: what is done to the dependences of each segment before.
fn ordered<A: Fn(VReg) -> u32, S: Fn(VReg) -> u32>(
    code: &VCode,
    space: &Space<A, S>,
    policy: &mut impl Policy,
    mut edit: impl FnMut(&mut Graph, &Units),
) -> Order {
    let mut order = Order::new(code);
    let mut units = Units::default();
    let mut graph = Graph::new(space.chunks(code.grf.size()));
    let mut clock = Clock::default();
    let mut list = List::default();
    for data in code.blocks.values() {
        clock.reset();
        let mut at = data.start;
        while at < data.end {
            at = units.segment(code, space, at..data.end, false);
            graph.build(&units);
            edit(&mut graph, &units);
            list.run(&units, &graph, &mut clock, policy);
            list.order(&units, &mut order);
            units.fixed(&mut clock, &mut order);
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
        let mut up: SecondaryMap<VReg, u32> = SecondaryMap::with_capacity(code.vregs.len());
        for r in code.vregs.keys() {
            up[r] = r.as_u32();
        }
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
        let mut address: SecondaryMap<VReg, u32> = SecondaryMap::with_capacity(code.vregs.len());
        let mut end = file.size();
        for (r, data) in &code.vregs {
            let to = root(r, &mut up);
            address[r] = match (data.place, to == r) {
                // Payload registers may lie over each other: nobody writes them.
                (crate::vcode::Place::Fixed(at), true) => at,
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

/// What lives, as instructions are put in order: bytes, and registers that the block has still to name.
struct Pressure<'a> {
    code: &'a VCode,
    live: &'a Liveness,
    /// How often the rest of the block names each register.
    left: SecondaryMap<VReg, u32>,
    /// Whether a register lives now.
    lives: SecondaryMap<VReg, bool>,
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
            m.for_each_vreg(|r, _| {
                self.left[r] = 0;
                self.lives[r] = false;
            });
        }
        for m in inside {
            m.for_each_vreg(|r, _| {
                if self.left[r] == 0 {
                    let ranges: &[Range] = &self.live.ranges[r];
                    let n = ranges.partition_point(|x| x.end <= start);
                    // What begins with the block's first instruction lives from the point behind, or from its own.
                    self.lives[r] = ranges.get(n).is_some_and(|x| x.start < start)
                        || start == 0 && ranges.get(n).is_some_and(|x| x.start == 0);
                }
                self.left[r] += 1;
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
                if !self.lives[r] {
                    more += self.code.vregs[r].bytes;
                }
            });
        }
        self.now + more
    }

    /// Instructions run.
    fn run(&mut self, insts: &[MInst]) {
        for m in insts {
            m.for_each_vreg(|r, _| {
                let bytes = self.code.vregs[r].bytes;
                if !std::mem::replace(&mut self.lives[r], true) {
                    self.now += bytes;
                }
                self.left[r] = self.left[r].saturating_sub(1);
            });
        }
        for m in insts {
            m.for_each_vreg(|r, _| {
                if self.left[r] == 0 && self.lives[r] && !self.leaves(r) {
                    self.lives[r] = false;
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

/// An order for code before its allocation in which loads come early, while no more than `limit` bytes live. Needs code whose flags have their places.
pub(crate) fn raise(code: &VCode, live: &Liveness, target: &Target, limit: u32) -> Order {
    let joined = Joined::new(code);
    let space = Space {
        platform: target.platform(),
        grf: target.grf().bytes,
        address: |r: VReg| joined.address[r],
        size: |r: VReg| code.vregs[r].bytes,
        values: true,
    };
    let mut order = Order::new(code);
    let mut units = Units::default();
    let mut graph = Graph::new(space.chunks(joined.end));
    let mut clock = Clock::default();
    let mut list = List::default();
    let mut needed = Vec::new();
    let mut pressure = Pressure {
        code,
        live,
        left: SecondaryMap::with_capacity(code.vregs.len()),
        lives: SecondaryMap::with_capacity(code.vregs.len()),
        now: 0,
        limit,
        end: 0,
    };
    for data in code.blocks.values() {
        let insts = data.start..data.end;
        let peak = live.demand.get(insts.clone()).unwrap_or(&[]);
        let peak = peak.iter().map(|d| d.peak()).max().unwrap_or(0);
        let loads = code.insts.get(insts.clone()).unwrap_or(&[]).iter();
        let loads = loads.filter(|m| units::is_message(m)).count();
        if loads < LOADS || peak > limit {
            insts.for_each(|n| order.push(n));
            continue;
        }
        clock.reset();
        pressure.block(insts);
        let mut at = data.start;
        while at < data.end {
            at = units.segment(code, &space, at..data.end, true);
            if (0..units.len()).any(|n| units.loads(n)) {
                graph.build(&units);
                graph.needed(|n| units.loads(n), &mut needed);
                let policy = &mut Raise {
                    units: &units,
                    pressure: &mut pressure,
                    needed: &needed,
                };
                list.run(&units, &graph, &mut clock, policy);
                list.order(&units, &mut order);
            } else {
                for n in 0..units.len() {
                    units.issue(n, &mut clock);
                    pressure.run(units.insts(code, n));
                    units.places(n).for_each(|at| order.push(at));
                }
            }
            pressure.run(units.fixed_inst(code));
            units.fixed(&mut clock, &mut order);
        }
    }
    order
}

/// Messages of a block from which on loads are raised in it.
pub(crate) const LOADS: usize = 2;

/// Whether raising loads may change anything.
pub(crate) fn has_loads(code: &VCode) -> bool {
    code.insts.iter().filter(|m| units::is_message(m)).count() >= LOADS
}

/// The part of the file that raised loads may fill: in quarters. The rest is for what does not fit into the holes between them.
const QUARTERS: u32 = 3;

/// Code with its loads early, what lives in it, and how many instructions were moved. What lives at once is no more than `file` bytes, or than it was.
///
/// # Errors
/// As those of [`liveness`]. With `check`, an order that does not keep what code means.
pub(crate) fn raise_loads(
    name: &str,
    mut code: VCode,
    target: &Target,
    file: u32,
    check: bool,
) -> Result<(VCode, Liveness, u32), CodegenError> {
    let live = liveness(name, &code)?;
    let limit = file / 4 * QUARTERS;
    let order = raise(&code, &live, target, limit);
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
    let after = liveness(name, &code)?;
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
) -> Result<(VCode, u32), CodegenError> {
    let order = schedule(&code, alloc, target);
    if check {
        let labels = !code.labels.is_empty();
        check::verify(&code, &order, target, |r| alloc.address[r], labels)
            .map_err(|e| CodegenError::internal(name, format!("schedule: {e}")))?;
    }
    order.apply(&mut code);
    Ok((code, order.moved))
}
