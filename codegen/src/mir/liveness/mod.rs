//! Live ranges and register demand of virtual registers in the GRF file.
//!
//! Program points: instruction `i` reads at `2i` and writes at `2i + 1`. A range is half open. An
//! instruction that writes more than one GRF while it reads writes at `2i` already. The hardware
//! executes it in halves, and the second half would read what the first one wrote.
//!
//! Input: [`VCode`] with predecessors. Output: ranges in order, and per instruction the bytes that
//! are live before, during and after it.

mod inserted;
mod load;

pub(crate) use load::LiveOutLoad;

use crate::error::CodegenError;
use crate::mir::{Access, MInst, RegConstraint, Routine, VBlock, VCode, VReg, routines};
use crate::sized;
use cranelift_entity::{EntityRef, SecondaryMap};
use gantry_isa_gen::Dst;
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Program points from `start` up to, not including, `end`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    /// First point.
    pub start: u32,
    /// One past the last point.
    pub end: u32,
}

/// Bytes live around an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Demand {
    /// Live before it, last uses included (stage 1).
    pub before: u32,
    /// Live across it (stage 2).
    pub during: u32,
    /// Live after it, results included, also unused ones (stage 3).
    pub after: u32,
    /// Live out of it, without results that are not used (stage 4).
    pub left: u32,
    /// Bytes of the peak in parts of wide registers that nothing needs here (stage 5). They were
    /// read for the last time, by a *first kill*, or are not written yet. 0 until something asks
    /// if the parts fit.
    pub apart: u32,
    /// Bytes of the rest that results have in common with operands that die in the instruction
    /// which writes them (stage 6): by a *copy kill* the result takes the operand's place, lane
    /// over lane. 0 like the one above.
    pub reused: u32,
}

impl Demand {
    /// Returns the bytes that are live at this instruction, with registers as a whole: the larger
    /// of before and after.
    pub fn peak(&self) -> u32 {
        self.before.max(self.after)
    }

    /// Returns the bytes that must exist at this instruction: the peak without stages 5 and 6.
    pub fn least(&self) -> u32 {
        self.peak().saturating_sub(self.apart + self.reused)
    }
}

/// Live ranges and demand of a function.
#[derive(Clone, Debug, Default)]
pub struct Liveness {
    /// Ranges per register, in order, not touching.
    pub ranges: SecondaryMap<VReg, Ranges>,
    /// Routines, per register and in order, that run while it is live and do not name it. Values
    /// that are live only there may share its bytes.
    pub weak: SecondaryMap<VReg, RoutineList>,
    /// Demand per instruction.
    pub demand: Vec<Demand>,
    /// Instructions and the registers that they kill by a last use, register after register.
    kills: Vec<(u32, VReg)>,
    /// Registers that were not followed: their live ranges are long and demand is far above the
    /// size of the GRF file. They are taken to be live everywhere and are in no demand. In order.
    /// Almost all code has none.
    pub abandoned: Vec<VReg>,
    /// Occurrences of registers, if still known.
    occurrences: Option<Arc<Occurrences>>,
}

/// Routines across which a register is live.
pub type RoutineList = SmallVec<[Routine; 1]>;

/// Live ranges of one register: mostly one.
pub type Ranges = SmallVec<[Range; 2]>;

impl Liveness {
    /// Returns the instruction of highest demand and that demand in bytes.
    pub fn peak(&self) -> (usize, u32) {
        let mut most = (0, 0);
        for (i, d) in self.demand.iter().enumerate() {
            let peak = d.peak();
            if peak > most.1 {
                most = (i, peak);
            }
        }
        most
    }

    /// Returns the bytes that must exist at some instruction. No allocation keeps all values in
    /// fewer bytes of the file.
    pub fn least(&self) -> u32 {
        let all = self.demand.iter().map(Demand::least);
        all.max().unwrap_or(0)
    }

    /// Returns true if a register is live at a point.
    pub(crate) fn lives_at(&self, r: VReg, point: u32) -> bool {
        let ranges = &self.ranges[r];
        let n = ranges.partition_point(|x| x.end <= point);
        ranges.get(n).is_some_and(|x| x.start <= point)
    }

    /// Returns true if a register is live into the block that begins with instruction `first`.
    pub(crate) fn lives_into(&self, occurrences: &Occurrences, r: VReg, first: u32) -> bool {
        if !self.lives_at(r, first * 2) {
            return false;
        }
        // A register that the first instruction writes while it reads is live from the same point
        // on.
        let list = occurrences.of(r);
        let n = list.partition_point(|o| o.inst < first);
        let mut here = list
            .iter()
            .skip(n)
            .take_while(|o| o.inst == first)
            .peekable();
        here.peek().is_none() || here.any(|o| o.access != Access::Def)
    }

    /// Returns the occurrences of registers in `code`, whose liveness this is.
    pub(crate) fn occurrences(&self, code: &VCode) -> Arc<Occurrences> {
        let known = self.occurrences.clone();
        known.unwrap_or_else(|| Arc::new(Occurrences::new(code)))
    }

    /// Returns true if another liveness is equal.
    pub(crate) fn same(&self, other: &Liveness) -> bool {
        let demand = self.demand == other.demand && self.kills() == other.kills();
        demand && self.ranges == other.ranges && self.weak == other.weak
    }

    /// Returns the liveness after live ranges of registers became registers of their own, in code
    /// without calls. `names` has the new register of each range, per old register.
    pub(crate) fn renamed(mut self, names: &BTreeMap<VReg, Vec<VReg>>) -> Liveness {
        for (inst, r) in &mut self.kills {
            if let Some(list) = names.get(r) {
                let n = self.ranges[*r].partition_point(|x| x.end <= *inst * 2);
                *r = list.get(n).copied().unwrap_or(*r);
            }
        }
        for (&r, list) in names {
            let ranges = std::mem::take(&mut self.ranges[r]);
            for (&name, range) in list.iter().zip(ranges) {
                self.ranges[name].push(range);
            }
        }
        self.occurrences = None;
        self
    }

    /// Returns the liveness of the same code with instructions reordered within blocks. `places` is
    /// the new index of each instruction.
    ///
    /// # Errors
    /// As those of [`liveness`].
    pub(crate) fn reordered(
        &self,
        name: &str,
        code: &VCode,
        places: &[u32],
    ) -> Result<Liveness, CodegenError> {
        let Some(occurrences) = &self.occurrences else {
            return liveness(name, code);
        };
        let occurrences = Arc::new(occurrences.moved(places));
        of_occurrences(
            name,
            code,
            code.grf.size().saturating_mul(FILES),
            occurrences,
        )
    }

    /// Returns the instructions and the registers that they kill, in order of instructions.
    pub fn kills(&self) -> Vec<(u32, VReg)> {
        let mut out = self.kills.clone();
        out.sort_unstable();
        out
    }
}

/// Returns true if an instruction writes while it still reads.
fn writes_early(m: &MInst, grf: u32) -> bool {
    match m {
        MInst::Op { inst, .. } => match inst.dst {
            Dst::Direct { at, hs, ty } if at.reg.is_grf() => {
                let more = inst.exec.channels() * u32::from(hs) * ty.bytes() > grf;
                // The systolic array writes a row before it reads the next one.
                more && !inst.op.is_send() || inst.op.is_systolic()
            }
            _ => false,
        },
        _ => false,
    }
}

/// Occurrences of each register by instruction. Reads of an instruction come before its writes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Occurrences {
    /// Start of each register's list, and the end of the last.
    starts: Vec<u32>,
    list: Vec<Occurrence>,
}

/// Instruction that names a register, and the kind of access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Occurrence {
    pub(crate) inst: u32,
    pub(crate) access: Access,
    /// True if it starts a value while it still reads.
    early: bool,
}

impl Occurrences {
    pub(crate) fn new(code: &VCode) -> Occurrences {
        Occurrences::of_those(code, |_| true)
    }

    /// Returns the occurrences of some registers only.
    fn of_those(code: &VCode, those: impl Fn(VReg) -> bool) -> Occurrences {
        let mut starts = vec![0u32; code.vregs.len() + 1];
        let mut all: Vec<(VReg, Occurrence)> = Vec::with_capacity(code.insts.len() * 4);
        for (inst, m) in (0u32..).zip(&code.insts) {
            let begins = matches!(m, MInst::Op { starts: true, .. });
            let early = begins && writes_early(m, code.grf.bytes);
            m.for_each_vreg(|r, access| {
                if !those(r) {
                    return;
                }
                starts[r.index()] += 1;
                let here = Occurrence {
                    inst,
                    access,
                    early,
                };
                all.push((r, here));
            });
        }
        let mut sum = 0;
        for s in &mut starts {
            sum += std::mem::replace(s, sum);
        }
        let nothing = Occurrence {
            inst: 0,
            access: Access::Use,
            early: false,
        };
        let mut list = vec![nothing; sum as usize];
        for (r, o) in all {
            let next = &mut starts[r.index()];
            list[*next as usize] = o;
            *next += 1;
        }
        // Each start is now that of the next register.
        starts.rotate_right(1);
        starts[0] = 0;
        Occurrences { starts, list }
    }

    /// Returns the occurrences after reordering. `places` is the new index of each instruction.
    fn moved(&self, places: &[u32]) -> Occurrences {
        let mut list = self.list.clone();
        for o in &mut list {
            o.inst = places.get(o.inst as usize).copied().unwrap_or(o.inst);
        }
        let mut rest = &mut list[..];
        let mut before = 0;
        for &end in self.starts.iter().skip(1) {
            let (own, others) = rest.split_at_mut((end - before) as usize);
            if !own.is_sorted_by_key(|o| o.inst) {
                own.sort_by_key(|o| o.inst);
            }
            (rest, before) = (others, end);
        }
        let starts = self.starts.clone();
        Occurrences { starts, list }
    }

    pub(crate) fn of(&self, r: VReg) -> &[Occurrence] {
        let (from, to) = (self.starts[r.index()], self.starts[r.index() + 1]);
        &self.list[from as usize..to as usize]
    }
}

/// State of a block for one register. A field is set if it equals the register's mark, a number
/// from 1.
#[derive(Clone, Copy, Default)]
struct BlockMarks {
    /// It occurs here.
    occurs: u32,
    /// A value of it starts here.
    begins: u32,
    live_in: u32,
    live_out: u32,
}

/// Computes live ranges of one register at a time, from its uses back to its definitions. There is
/// never a set of registers per block.
struct RangeBuilder<'a> {
    code: &'a VCode,
    block_of: Vec<u32>,
    marks: Vec<BlockMarks>,
    work: Vec<VBlock>,
    /// Blocks at whose end the register is live.
    outs: Vec<VBlock>,
    ranges: Vec<Range>,
    kills: Vec<(u32, VReg)>,
    load: LiveOutLoad,
    /// Number of block ends at which a register may be live.
    most: usize,
}

/// Reason to stop following a register.
enum GiveUp {
    /// Live at the ends of too many blocks.
    Long,
    /// The sum of live bytes is too large.
    Capacity,
}

impl RangeBuilder<'_> {
    fn block(&self, inst: u32) -> VBlock {
        VBlock::from_u32(self.block_of[inst as usize])
    }

    /// Computes the live ranges of a register into `self.ranges`. Returns the number of block ends
    /// at which it is live. `mark` is not 0 and was not used before.
    fn register(
        &mut self,
        r: VReg,
        mark: u32,
        may_leave: bool,
        occurrences: &[Occurrence],
    ) -> Result<usize, GiveUp> {
        let code = self.code;
        self.ranges.clear();
        self.outs.clear();
        self.work.clear();
        if let (Some(first), Some(last)) = (occurrences.first(), occurrences.last())
            && first.access == Access::Def
            && self.block(first.inst) == self.block(last.inst)
        {
            // Most registers occur in one block only.
            self.within(r, mark, self.block(first.inst), occurrences);
            self.in_order();
            return Ok(0);
        }
        for &Occurrence { inst, access, .. } in occurrences {
            let block = self.block(inst);
            let m = &mut self.marks[block.index()];
            if m.occurs != mark {
                m.occurs = mark;
                if access != Access::Def {
                    m.live_in = mark;
                    self.work.push(block);
                }
            }
            if access == Access::Def {
                m.begins = mark;
            }
        }
        while let Some(block) = self.work.pop() {
            for &p in &code.blocks[block].preds {
                let m = &mut self.marks[p.index()];
                if m.live_out == mark {
                    continue;
                }
                m.live_out = mark;
                self.outs.push(p);
                if may_leave && self.outs.len() > self.most {
                    return Err(GiveUp::Long);
                }
                let bytes = code.vregs[r].bytes;
                if !self.load.add(p, bytes, bytes.max(LEAST)) {
                    return Err(GiveUp::Capacity);
                }
                if m.begins != mark && m.live_in != mark {
                    m.live_in = mark;
                    self.work.push(p);
                }
            }
        }
        // With many blocks, a scan of all blocks in order is cheaper than the sort below.
        if self.outs.len() > code.blocks.len() / IN_ORDER {
            self.outs.clear();
            let marks = &self.marks;
            let out = |b: &VBlock| marks[b.index()].live_out == mark;
            self.outs.extend(code.blocks.keys().filter(out));
        }
        for &block in &self.outs {
            let data = &code.blocks[block];
            // Live through the block.
            if self.marks[block.index()].occurs != mark {
                self.ranges.push(Range {
                    start: data.start as u32 * 2,
                    end: data.end as u32 * 2,
                });
            }
        }
        let mut rest = occurrences;
        while let Some(first) = rest.first() {
            let block = self.block(first.inst);
            let end = code.blocks[block].end;
            let n = rest.partition_point(|o| (o.inst as usize) < end);
            let (here, later) = rest.split_at(n);
            self.within(r, mark, block, here);
            rest = later;
        }
        self.in_order();
        Ok(self.outs.len())
    }

    /// Takes a register that was not followed to its end out of the load.
    fn give_up(&mut self, r: VReg) {
        let bytes = self.code.vregs[r].bytes;
        for b in &self.outs {
            let load = &mut self.load.bytes[b.index()];
            *load = load.saturating_sub(bytes);
        }
    }

    /// Sorts the ranges and merges those that touch.
    fn in_order(&mut self) {
        if self.ranges.len() < 2 {
            return;
        }
        self.ranges.sort_by_key(|x| x.start);
        self.ranges.dedup_by(|next, prev| {
            let touch = next.start <= prev.end;
            if touch {
                prev.end = prev.end.max(next.end);
            }
            touch
        });
    }

    /// Adds ranges and last uses in a block where the register occurs.
    fn within(&mut self, r: VReg, mark: u32, block: VBlock, here: &[Occurrence]) {
        let data = &self.code.blocks[block];
        let live_out = self.marks[block.index()].live_out == mark;
        // Goes backward. `open` is the end of the range being followed.
        let mut open = live_out.then_some(data.end as u32 * 2);
        for o in here.iter().rev() {
            let point = o.inst * 2;
            match o.access {
                Access::Def => self.ranges.push(Range {
                    start: if o.early { point } else { point + 1 },
                    end: open.take().unwrap_or(point + 2),
                }),
                Access::Modify => open = open.or(Some(point + 2)),
                Access::Use if open.is_none() => {
                    open = Some(point + 1);
                    self.kills.push((o.inst, r));
                }
                Access::Use => {}
            }
        }
        if let Some(end) = open {
            self.ranges.push(Range {
                start: data.start as u32 * 2,
                end,
            });
        }
    }
}

/// Blocks are scanned in order for a register that is live at the ends of more than one in this
/// many blocks.
const IN_ORDER: usize = 8;
/// Bytes that a register counts for at least: following a small one takes as long.
const LEAST: u32 = 16;

/// Multiple of the GRF file's size up to which average live bytes are followed. Above it, registers
/// with the longest live ranges are taken to be live everywhere.
const FILES: u32 = 8;

/// Returns the registers that must be in the GRF file between instructions or have a constraint.
/// They are followed however long their live ranges are.
fn followed(code: &VCode) -> SecondaryMap<VReg, bool> {
    let mut out = match code.routines.len() {
        0 | 1 => SecondaryMap::new(),
        _ => routines::shared(code),
    };
    for (r, data) in &code.vregs {
        out[r] |= data.constraint != RegConstraint::Any;
    }
    for m in &code.insts {
        if let MInst::LoadAddress { base: Some(r), .. } | MInst::Touch { reg: r, .. } = *m {
            out[r] = true;
        }
    }
    out
}

/// Computes liveness.
///
/// Following registers takes time in proportion to a few sizes of the GRF file per block, times the
/// logarithm of the number of blocks. If more is live, registers with the longest live ranges are
/// abandoned: allocation keeps them in scratch.
///
/// # Errors
/// [`CodegenError::OutOfRegisters`] if registers that cannot be in scratch exceed that limit alone.
pub fn liveness(name: &str, code: &VCode) -> Result<Liveness, CodegenError> {
    within(name, code, code.grf.size().saturating_mul(FILES))
}

/// Computes liveness with an average limit of `bytes` live at a block's end.
///
/// # Errors
/// As those of [`liveness`].
pub(crate) fn within(name: &str, code: &VCode, bytes: u32) -> Result<Liveness, CodegenError> {
    of_occurrences(name, code, bytes, Arc::new(Occurrences::new(code)))
}

/// Computes liveness from known occurrences of registers.
fn of_occurrences(
    name: &str,
    code: &VCode,
    bytes: u32,
    occurrences: Arc<Occurrences>,
) -> Result<Liveness, CodegenError> {
    let block_of = code.block_of();
    let mut walk = RangeBuilder {
        code,
        block_of,
        marks: vec![BlockMarks::default(); code.blocks.len()],
        work: Vec::new(),
        outs: Vec::new(),
        ranges: Vec::new(),
        kills: Vec::with_capacity(code.insts.len()),
        load: LiveOutLoad::new(code, bytes),
        most: code.blocks.len(),
    };
    let mut ranges: Vec<Ranges> = Vec::with_capacity(code.vregs.len());
    // If too much is live: registers that are followed all the same. `ends` is the number of block
    // ends at which each register so far is live.
    let mut stays: Option<SecondaryMap<VReg, bool>> = None;
    let mut ends: Vec<u32> = Vec::with_capacity(code.vregs.len());
    let mut abandoned: BTreeSet<VReg> = BTreeSet::new();
    let mut mark = 0;
    for r in code.vregs.keys() {
        loop {
            mark += 1;
            let may_leave = stays.as_ref().is_some_and(|s| !s[r]);
            match walk.register(r, mark, may_leave, occurrences.of(r)) {
                Ok(n) => {
                    ranges.push(Ranges::from_slice(&walk.ranges));
                    ends.push(n as u32);
                    break;
                }
                Err(GiveUp::Long) => {
                    walk.give_up(r);
                    abandoned.insert(r);
                    ranges.push(Ranges::new());
                    ends.push(0);
                    break;
                }
                Err(GiveUp::Capacity) if walk.most == 0 => {
                    return Err(walk.load.error(name, code, code.grf.size()));
                }
                Err(GiveUp::Capacity) => {
                    walk.give_up(r);
                    let stays = stays.get_or_insert_with(|| followed(code));
                    let longest = ends.iter().copied().max().unwrap_or(0) as usize;
                    walk.most = walk.most.min(longest.max(1)) / 2;
                    let long = |r: &VReg| ends[r.index()] as usize > walk.most && !stays[*r];
                    let before = code.vregs.keys().take(ends.len());
                    let more: Vec<VReg> = before.filter(long).collect();
                    for r in more {
                        ends[r.index()] = 0;
                        abandoned.insert(r);
                    }
                    walk.load.total = 0;
                }
            }
        }
    }
    let mut ranges: SecondaryMap<VReg, Ranges> = ranges.into();
    for &r in &abandoned {
        ranges[r].clear();
    }
    let mut kills = walk.kills;
    let calls = code.calls();
    let mut weak: SecondaryMap<VReg, RoutineList> = SecondaryMap::new();
    if !calls.is_empty() {
        weak = across_calls(code, &calls, &mut ranges);
    }
    let mut demand = demand(code, &ranges);
    // Ranges also end at a block's end. Those that continue in the next block are live out.
    for (block, data) in &code.blocks {
        let last = data.end.checked_sub(1).and_then(|n| demand.get_mut(n));
        if let (Some(d), true, true) = (last, data.start < data.end, abandoned.is_empty()) {
            d.left = walk.load.bytes[block.index()];
        }
    }
    if !calls.is_empty() {
        add_callers(code, &calls, &ranges, &mut demand);
    }
    if !abandoned.is_empty() {
        kills.retain(|k| !abandoned.contains(&k.1));
        let all = Range {
            start: 0,
            end: code.insts.len() as u32 * 2,
        };
        abandoned.iter().for_each(|r| ranges[*r].push(all));
    }
    Ok(Liveness {
        ranges,
        weak,
        demand,
        kills,
        abandoned: abandoned.into_iter().collect(),
        occurrences: Some(occurrences),
    })
}

/// Returns the routines across which each register is live. A register that such a routine names is
/// live in the whole routine.
fn across_calls(
    code: &VCode,
    calls: &[(usize, Routine)],
    ranges: &mut SecondaryMap<VReg, Ranges>,
) -> SecondaryMap<VReg, RoutineList> {
    let running = routines::running(code);
    let mut out: SecondaryMap<VReg, RoutineList> = sized(code.vregs.len());
    let mut seen: SecondaryMap<Routine, u32> = SecondaryMap::new();
    let mut found: Vec<Routine> = Vec::new();
    for r in code.vregs.keys() {
        let mark = r.as_u32() + 1;
        found.clear();
        for range in &ranges[r] {
            // A call reads at twice its number, and writes at the next point.
            let first = calls.partition_point(|c| (c.0 as u32) * 2 < range.start);
            let inside = calls.iter().skip(first);
            for &(_, called) in inside.take_while(|c| (c.0 as u32) * 2 + 1 < range.end) {
                if std::mem::replace(&mut seen[called], mark) != mark {
                    found.extend_from_slice(&running[called]);
                }
            }
        }
        if found.is_empty() {
            continue;
        }
        found.sort_unstable();
        found.dedup();
        for &routine in &found {
            let insts = code.routine_insts(routine);
            let body = Range {
                start: insts.start as u32 * 2,
                end: insts.end as u32 * 2,
            };
            let own = &mut ranges[r];
            let met = |x: &Range| x.start < body.end && x.end > body.start;
            if own.iter().any(met) {
                // A range that ends where the routine begins, in a loop at the end of the routine
                // before, is one range with what begins there.
                let cut = |x: &Range| {
                    let (before, after) = (x.end.min(body.start), x.start.max(body.end));
                    let parts = [(x.start, before), (after, x.end)];
                    parts.map(|(start, end)| Range { start, end })
                };
                let rest = own.iter().flat_map(cut);
                *own = rest.filter(|x| x.start < x.end).collect();
                own.push(body);
                own.sort_by_key(|x| x.start);
            } else {
                out[r].push(routine);
            }
        }
    }
    out
}

/// Adds to the demand of each routine the bytes that its callers keep while it runs: the maximum
/// over its calls. Registers that the routine names are not counted again.
fn add_callers(
    code: &VCode,
    calls: &[(usize, Routine)],
    ranges: &SecondaryMap<VReg, Ranges>,
    demand: &mut [Demand],
) {
    // Bytes per call that are live across it in registers that the routine names.
    let mut named = vec![0u32; calls.len()];
    for (r, data) in code.vregs.iter().filter(|(r, _)| ranges[*r].len() > 1) {
        let lives = |point: u32| {
            let n = ranges[r].partition_point(|x| x.end <= point);
            ranges[r].get(n).is_some_and(|x| x.start <= point)
        };
        for range in &ranges[r] {
            let first = calls.partition_point(|c| (c.0 as u32) * 2 < range.start);
            let inside = calls.iter().enumerate().skip(first);
            for (n, &(_, called)) in inside.take_while(|c| (c.1.0 as u32) * 2 + 1 < range.end) {
                let body = code.routine_insts(called);
                let (start, end) = (body.start as u32 * 2, body.end as u32 * 2);
                if end > start && lives(start) && lives(end - 1) {
                    named[n] += data.bytes;
                }
            }
        }
    }
    let mut kept: SecondaryMap<Routine, u32> = SecondaryMap::new();
    for routine in code.routines.keys() {
        let insts = code.routine_insts(routine);
        let more = kept[routine];
        for d in demand.get_mut(insts.clone()).unwrap_or(&mut []) {
            d.before += more;
            d.during += more;
            d.after += more;
            d.left += more;
        }
        let first = calls.partition_point(|c| c.0 < insts.start);
        let own = calls.iter().zip(&named).skip(first);
        for (&(i, called), named) in own.take_while(|c| c.0.0 < insts.end) {
            let during = demand.get(i).map_or(0, |d| d.during);
            kept[called] = kept[called].max(during.saturating_sub(*named));
        }
    }
}

/// Sums live bytes at every point.
pub(crate) fn demand(code: &VCode, ranges: &SecondaryMap<VReg, Ranges>) -> Vec<Demand> {
    // Changes per instruction, and one more. The first two are the bytes that start less those that
    // end, at its read point and at its write point. The third is the bytes that end at its read
    // point, the fourth the change of bytes live through it.
    let mut changes = vec![[0i32; 4]; code.insts.len() + 1];
    for (r, data) in &code.vregs {
        let bytes = data.bytes as i32;
        for range in &ranges[r] {
            let (start, end) = (range.start as usize, range.end as usize);
            changes[start / 2][start % 2] += bytes;
            let last = &mut changes[end / 2];
            last[end % 2] -= bytes;
            if end.is_multiple_of(2) {
                last[2] += bytes;
            }
            // Instructions that the value is live through.
            let (first, last) = (start.div_ceil(2), end / 2);
            if last > first {
                changes[first][3] += bytes;
                changes[last][3] -= bytes;
            }
        }
    }
    let (mut live, mut through) = (0i32, 0i32);
    let of = |(&[reads, writes, _, across], next): (&[i32; 4], &[i32; 4])| {
        let before = live + reads;
        live = before + writes;
        through += across;
        Demand {
            before: before.max(0) as u32,
            during: through.max(0) as u32,
            after: live.max(0) as u32,
            left: (live - next[2]).max(0) as u32,
            apart: 0,
            reused: 0,
        }
    };
    changes.iter().zip(changes.iter().skip(1)).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Demand above the capacity of all blocks together is found before it is known in which block.
    #[test]
    fn a_load_is_of_all_blocks() {
        let block = VBlock::from_u32;
        let mut load = LiveOutLoad {
            bytes: vec![0; 2],
            total: 0,
            most: 200,
        };
        assert!(load.add(block(0), 150, 150));
        assert!(load.add(block(1), 50, 50));
        assert!(!load.add(block(0), 1, 1));
        assert_eq!((load.bytes, load.total), (vec![151, 50], 201));
    }
}
