//! Decides which registers are in the GRF file at each point, and which are in scratch. The scan
//! visits blocks in order. To make room it evicts the register with the furthest next read:
//! Belady's rule, as in Braun and Hack, "Register Spilling and Live-Range Splitting for SSA-Form
//! Programs". Reads after a loop count as far away, so that registers that a loop does not need
//! leave before it.
//!
//! A slot holds its register's value from a store until the register is written again. Registers
//! that are written in a single block are stored once, right after the write, unless that is in a
//! deeper loop.

use super::resident::ResidentSet;
use super::{EditKind, EditOrder, SpillEdit};
use crate::mir::insert::together;
use crate::mir::liveness::{Liveness, Occurrence, Occurrences};
use crate::mir::loops::{Loop, Loops};
use crate::mir::{Access, MInst, VBlock, VCode, VReg};
use cranelift_entity::{EntityRef, SecondaryMap};
use smallvec::SmallVec;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Extra distance, in instructions, of reads after the end of a loop.
const LOOP_EXIT: u64 = 1 << 24;
/// Distance of the next read, in instructions, below which a register is reloaded at a block's
/// start if only some predecessors have it.
const SOON_READ: u64 = 100;
/// Number of occurrences to try one by one before a binary search.
const LINEAR_SEARCH: usize = 8;
/// Number of instructions of a loop to search for registers to reload before it.
const LOOP_SEARCH: usize = 256;
/// Number of enclosing loops to search for earlier reads.
const MAX_LOOPS: usize = 8;

/// Facts about a register that hold for its whole live range.
#[derive(Clone, Copy, Default)]
pub(super) struct RegInfo {
    /// Bytes in the GRF file. 0 if the register is never spilled or not counted.
    pub(super) bytes: u32,
    /// True if its definition can be rematerialized.
    remat: bool,
    /// True if it is stored right after its definition.
    stored_at_def: bool,
    /// True if it has a slot.
    pub(super) spilled: bool,
}

/// Registers in the GRF file at some point, in order.
type RegSet = Vec<VReg>;

/// State of the scan over the blocks.
pub(super) struct BeladyScan<'a> {
    code: &'a VCode,
    live: &'a Liveness,
    occurrences: Arc<Occurrences>,
    /// Per register, number of occurrences before the instruction of the last query of its next
    /// read. Instructions are scanned in order.
    passed: Vec<Cell<u32>>,
    loops: Loops,
    pub(super) info: SecondaryMap<VReg, RegInfo>,
    /// Bytes per instruction of unspillable registers and for calls.
    reserved: Vec<u32>,
    /// Bytes per point that fragmentation makes unusable. Empty if there is no fragmentation.
    pub(super) unusable: Vec<u32>,
    /// Maximum number of bytes in the GRF file.
    cap: u32,
    block_of: Vec<u32>,
    /// Peak demand of each loop, by its first block.
    demand_of: SecondaryMap<VBlock, u32>,
    /// Registers in the GRF file, and the distance of the next read plus one of each.
    resident: ResidentSet,
    next: SecondaryMap<VReg, u64>,
    bytes: u32,
    /// Registers whose slot holds their value, except those that are stored after their definition.
    valid: BTreeSet<VReg>,
    /// Registers in the GRF file at the start and end of each block.
    starts: Vec<RegSet>,
    ends: Vec<RegSet>,
    valid_at_end: Vec<RegSet>,
    /// Point, plus one, before which a register may not be evicted. It is twice the index of an
    /// instruction that reads the register, one more if the instruction writes it.
    needed: SecondaryMap<VReg, u32>,
    /// Number of predecessors that have each register in the GRF file. Used on entry to a block.
    count: SecondaryMap<VReg, u32>,
    /// Registers whose address is in use.
    pinned: SmallVec<[VReg; 4]>,
    pub(super) edits: Vec<SpillEdit>,
    /// Instruction that each register was first evicted for.
    pub(super) left: SecondaryMap<VReg, Option<u32>>,
}

impl<'a> BeladyScan<'a> {
    /// Creates a scan. `unspillable` registers are ignored, and `reserved` is their size in bytes
    /// per instruction.
    pub(super) fn new(
        code: &'a VCode,
        live: &'a Liveness,
        unspillable: &SecondaryMap<VReg, bool>,
        reserved: Vec<u32>,
        cap: u32,
    ) -> BeladyScan<'a> {
        let block_of = code.block_of();
        let loops = Loops::new(code);
        let occurrences = live.occurrences(code);
        let mut info: SecondaryMap<VReg, RegInfo> = SecondaryMap::new();
        info.resize(code.vregs.len());
        for (r, data) in &code.vregs {
            if unspillable[r] || live.ranges[r].is_empty() {
                continue;
            }
            info[r] = RegInfo {
                // The unused part of a GRF is only usable for registers with less alignment, and
                // there may be none.
                bytes: data.bytes.next_multiple_of(data.align.max(1)),
                remat: constant_def(code, &occurrences, r).is_some(),
                ..RegInfo::default()
            };
        }
        let mut next = SecondaryMap::new();
        let mut needed = SecondaryMap::new();
        next.resize(code.vregs.len());
        needed.resize(code.vregs.len());
        // Visits inner loops before outer ones.
        let mut demand_of: SecondaryMap<VBlock, u32> = SecondaryMap::new();
        for (b, data) in code.blocks.iter().rev() {
            let insts = &live.demand[data.start..data.end];
            let most = insts.iter().map(|d| d.peak()).max().unwrap_or(0);
            if let Some(l) = loops.of(b) {
                let head = VBlock::from_u32(l.first);
                demand_of[head] = demand_of[head].max(most);
                if head == b
                    && let Some(outer) = loops.outer(&l)
                {
                    let around = VBlock::from_u32(outer.first);
                    demand_of[around] = demand_of[around].max(demand_of[head]);
                }
            }
        }
        BeladyScan {
            code,
            live,
            occurrences,
            passed: vec![Cell::new(0); code.vregs.len()],
            loops,
            info,
            reserved,
            unusable: Vec::new(),
            cap,
            block_of,
            demand_of,
            resident: ResidentSet::default(),
            next,
            bytes: 0,
            valid: BTreeSet::new(),
            starts: vec![RegSet::new(); code.blocks.len()],
            ends: vec![RegSet::new(); code.blocks.len()],
            valid_at_end: vec![RegSet::new(); code.blocks.len()],
            needed,
            count: SecondaryMap::new(),
            pinned: SmallVec::new(),
            edits: Vec::new(),
            left: SecondaryMap::with_capacity(code.vregs.len()),
        }
    }

    /// Scans the blocks in order, then fixes the edges.
    pub(super) fn run(&mut self) {
        for b in self.code.blocks.keys() {
            self.enter(b);
            self.block(b);
        }
        for (b, data) in &self.code.blocks {
            for &p in &data.preds {
                self.fix_edge(p, b);
            }
        }
        self.edits.sort_by_key(|e| (e.at, e.order));
    }

    fn live_at(&self, r: VReg, point: u32) -> bool {
        self.live.lives_at(r, point)
    }

    fn start_of(&self, block: VBlock) -> u32 {
        self.code.blocks[block].start as u32
    }

    /// Returns true if a register is live into a block.
    fn live_in(&self, r: VReg, block: VBlock) -> bool {
        let first = self.start_of(block);
        self.live.lives_into(&self.occurrences, r, first)
    }

    fn reads(o: &Occurrence) -> bool {
        o.access != Access::Def
    }

    /// Returns the number of a register's occurrences before an instruction.
    fn passed(&self, r: VReg, list: &[Occurrence], from: u32) -> usize {
        let before = |o: &Occurrence| o.inst < from;
        let Some(passed) = self.passed.get(r.index()) else {
            return list.partition_point(before);
        };
        let mut n = passed.get() as usize;
        match list.get(..n).map(<[Occurrence]>::last) {
            Some(last) if last.is_none_or(before) => {
                let rest = &list[n..];
                let near = rest
                    .iter()
                    .take(LINEAR_SEARCH)
                    .take_while(|o| before(o))
                    .count();
                n += match near {
                    LINEAR_SEARCH => rest.partition_point(before),
                    _ => near,
                };
            }
            _ => n = list.partition_point(before),
        }
        passed.set(n as u32);
        n
    }

    /// Returns the index of the next instruction that reads a register, with an extra distance
    /// after loops.
    fn next_read(&self, r: VReg, from: u32) -> u64 {
        let list = self.occurrences.of(r);
        let n = self.passed(r, list, from);
        let last = self.code.insts.len().saturating_sub(1) as u32;
        let block = |inst: u32| {
            VBlock::from_u32(
                self.block_of
                    .get(inst.min(last) as usize)
                    .copied()
                    .unwrap_or(0),
            )
        };
        let mut best = u64::MAX >> 1;
        let here = self.loops.of(block(from));
        if let Some(o) = list.iter().skip(n).find(|o| Self::reads(o)) {
            // At least this many enclosing loops end before the read.
            let to = block(o.inst);
            let depth = here.map_or(0, |l| l.depth);
            let left = here.is_some_and(|l| l.last < to.as_u32());
            let exits = depth.saturating_sub(self.loops.depth(to)).max(left.into());
            let exits = u64::from(exits);
            best = u64::from(o.inst) + exits * LOOP_EXIT;
        }
        // Reads in the next iteration of an enclosing loop.
        let mut l = here;
        for exits in 0..MAX_LOOPS as u64 {
            let Some(x) = l else { break };
            let first = self.start_of(VBlock::from_u32(x.first));
            let end = self.code.blocks[VBlock::from_u32(x.last)].end as u32;
            let m = list.partition_point(|o| o.inst < first);
            let before = list.get(m..n).unwrap_or(&[]);
            if let Some(o) = before.iter().find(|o| Self::reads(o)) {
                let distance = u64::from(end) + u64::from(o.inst - first) + exits * LOOP_EXIT;
                best = best.min(distance);
                break;
            }
            l = self.loops.outer(&x);
        }
        best + 1
    }

    fn is_resident(&self, r: VReg) -> bool {
        self.next[r] != 0
    }

    fn add_resident(&mut self, r: VReg, from: u32) {
        let key = self.next_read(r, from);
        if std::mem::replace(&mut self.next[r], key) == 0 {
            self.bytes += self.info[r].bytes;
            self.resident.insert(r);
        }
    }

    fn remove_resident(&mut self, r: VReg) {
        let key = std::mem::take(&mut self.next[r]);
        if key != 0 {
            self.resident.remove(r);
            self.bytes -= self.info[r].bytes;
        }
    }

    /// Chooses the registers that are in the GRF file at a block's start.
    fn enter(&mut self, b: VBlock) {
        let start = self.start_of(b);
        self.resident.clear();
        self.bytes = 0;
        self.valid.clear();
        self.pinned.clear();
        let data = &self.code.blocks[b];
        let before: SmallVec<[VBlock; 4]> = data.preds.iter().copied().filter(|p| *p < b).collect();
        let header = self.loops.at(b);
        if before.is_empty() {
            self.enter_routine(b);
        }
        // Registers in the GRF file at the end of all predecessors, or of some of them.
        let mut count = std::mem::take(&mut self.count);
        let mut seen: Vec<VReg> = Vec::new();
        for p in &before {
            for &r in &self.ends[p.index()] {
                if count[r] == 0 {
                    seen.push(r);
                }
                count[r] += 1;
            }
        }
        let all_seen = seen.clone();
        seen.retain(|&r| self.live_in(r, b));
        let all = before.len() as u32;
        let (mut first, mut second): (Vec<VReg>, Vec<VReg>) =
            seen.iter().partition(|r| count[**r] == all);
        let key = |w: &Self, r: VReg| (w.next_read(r, start), r);
        let mut room = self.room(start, start * 2);
        if let Some(l) = header {
            // For a loop header: first the registers that the loop uses, including spilled ones.
            // Then, as far as there is room, those that are live through it.
            let end = self.code.blocks[VBlock::from_u32(l.last)].end as u32;
            first.append(&mut second);
            let (used, through): (Vec<VReg>, Vec<VReg>) =
                first.into_iter().partition(|&r| self.occurs(r, start, end));
            // Registers that are kept through a loop must leave room for the loop's own values.
            let comes = self.live.demand.get(start as usize).map_or(0, |d| d.before);
            let own = self.demand_of[b].saturating_sub(comes);
            first = used;
            let mut more = self.reloads_for_loop(&l, b, |r| count[r] > 0);
            more.sort_by_key(|&r| key(self, r));
            first.sort_by_key(|&r| key(self, r));
            let mut left = room.saturating_sub(own);
            first.retain(|&r| take_bytes(&mut left, self.info[r].bytes));
            more.retain(|&r| take_bytes(&mut left, self.info[r].bytes));
            first.append(&mut more);
            second = through;
            room = left;
        } else {
            first.sort_by_key(|&r| key(self, r));
            first.retain(|&r| take_bytes(&mut room, self.info[r].bytes));
            second.retain(|&r| key(self, r).0 < u64::from(start) + SOON_READ);
        }
        second.sort_by_key(|&r| key(self, r));
        second.retain(|&r| take_bytes(&mut room, self.info[r].bytes));
        for r in first.into_iter().chain(second) {
            self.add_resident(r, start);
        }
        // Slots are valid if they are on all forward edges. A loop that writes the register makes
        // them invalid.
        if let Some(p) = before.first() {
            let mut valid: Vec<VReg> = self.valid_at_end[p.index()].clone();
            for p in before.iter().skip(1) {
                let other = &self.valid_at_end[p.index()];
                valid.retain(|r| other.binary_search(r).is_ok());
            }
            let back = |w: &Self, r: VReg| match header {
                Some(l) if w.is_resident(r) => {
                    let end = w.code.blocks[VBlock::from_u32(l.last)].end as u32;
                    w.written(r, start, end)
                }
                _ => false,
            };
            valid.retain(|&r| self.live_in(r, b) && !back(self, r));
            self.valid.extend(valid);
        }
        for r in all_seen {
            count[r] = 0;
        }
        self.count = count;
        // Registers outside the GRF file are in their slots.
        let mut list: RegSet = self.resident.iter().collect();
        list.sort_unstable();
        self.starts[b.index()] = list;
        let outside = seen.into_iter().filter(|&r| {
            !self.is_resident(r) && !self.info[r].stored_at_def && !self.info[r].remat
        });
        let outside: Vec<VReg> = outside.collect();
        self.valid.extend(outside);
    }

    /// Brings the registers that are live into a routine to the GRF file.
    fn enter_routine(&mut self, b: VBlock) {
        let start = self.start_of(b);
        let all: Vec<VReg> = (0..self.code.vregs.len())
            .map(VReg::new)
            .filter(|&r| self.info[r].bytes > 0 && self.live_in(r, b))
            .collect();
        for r in all {
            self.add_resident(r, start);
        }
        self.make_room(start, 0, (0, start * 2));
    }

    /// Returns the bytes that spillable registers may use at a point of an instruction.
    fn room(&self, inst: u32, point: u32) -> u32 {
        let reserved = self.reserved.get(inst as usize).copied().unwrap_or(0);
        let unusable = self.unusable.get(point as usize).copied().unwrap_or(0);
        self.cap.saturating_sub(reserved + unusable)
    }

    fn occurs(&self, r: VReg, from: u32, to: u32) -> bool {
        let list = self.occurrences.of(r);
        let n = list.partition_point(|o| o.inst < from);
        list.get(n).is_some_and(|o| o.inst < to)
    }

    fn written(&self, r: VReg, from: u32, to: u32) -> bool {
        let list = self.occurrences.of(r);
        let n = list.partition_point(|o| o.inst < from);
        let inside = list.iter().skip(n).take_while(|o| o.inst < to);
        inside.into_iter().any(|o| o.access != Access::Use)
    }

    /// Returns registers that are in scratch before a loop and are read in it.
    fn reloads_for_loop(&self, l: &Loop, b: VBlock, known: impl Fn(VReg) -> bool) -> Vec<VReg> {
        let first = self.code.blocks[b].start;
        let end = self.code.blocks[VBlock::from_u32(l.last)].end;
        let mut out: BTreeSet<VReg> = BTreeSet::new();
        let insts = &self.code.insts[first..end];
        for m in insts.iter().take(LOOP_SEARCH) {
            m.for_each_vreg(|r, a| {
                if a != Access::Def
                    && self.info[r].spilled
                    && !known(r)
                    && !out.contains(&r)
                    && self.live_in(r, b)
                {
                    out.insert(r);
                }
            });
        }
        out.into_iter().collect()
    }

    fn block(&mut self, b: VBlock) {
        let (start, end) = (self.code.blocks[b].start, self.code.blocks[b].end);
        for i in start..end {
            self.inst(i as u32);
        }
        let point = end as u32 * 2;
        let succs = self.code.blocks[b].succs.clone();
        let lives =
            |w: &Self, r: VReg| w.live_at(r, point - 1) && succs.iter().any(|&s| w.live_in(r, s));
        let mut list: RegSet = self.resident.iter().collect();
        for &r in &list {
            self.next[r] = 0;
        }
        list.retain(|&r| lives(self, r));
        list.sort_unstable();
        self.ends[b.index()] = list;
        let valid = self.valid.iter().copied().filter(|&r| lives(self, r));
        self.valid_at_end[b.index()] = valid.collect();
    }

    fn inst(&mut self, i: u32) {
        let code = self.code;
        let m = &code.insts[i as usize];
        let mut uses: SmallVec<[VReg; 4]> = SmallVec::new();
        let mut defs: SmallVec<[VReg; 2]> = SmallVec::new();
        let mut writes: SmallVec<[VReg; 2]> = SmallVec::new();
        m.for_each_vreg(|r, a| {
            if self.info[r].bytes == 0 {
                return;
            }
            match a {
                Access::Def => defs.push(r),
                _ if !uses.contains(&r) => uses.push(r),
                _ => {}
            }
            if a != Access::Use {
                writes.push(r);
            }
        });
        match *m {
            MInst::LoadAddress {
                base: Some(base), ..
            } if !self.pinned.contains(&base) => self.pinned.push(base),
            MInst::Touch { reg, .. } => self.pinned.retain(|r| *r != reg),
            _ => {}
        }
        // Makes room for operands that are not in the GRF file, then fills them.
        let early = defs.iter().any(|&r| self.live_at(r, i * 2));
        let both = i * 2 + 2;
        for &r in &uses {
            self.needed[r] = self.needed[r].max(both - u32::from(!early));
        }
        for &r in &writes {
            self.needed[r] = both;
        }
        let mut bytes = 0;
        for &r in uses.iter().filter(|r| !self.is_resident(**r)) {
            bytes += self.info[r].bytes;
        }
        self.make_room(i, bytes, (0, i * 2));
        // An operand's last read makes room for results, unless a result is live before the read.
        let mut dying: SmallVec<[VReg; 4]> = SmallVec::new();
        for &r in &uses {
            let inside = self.is_resident(r);
            if !inside {
                self.edit(i, EditOrder::Before, EditKind::Fill, r);
                self.info[r].spilled = true;
                if !self.info[r].stored_at_def && !self.info[r].remat {
                    self.valid.insert(r);
                }
            }
            let dies = !self.live_at(r, i * 2 + 1) && !defs.contains(&r);
            if dies && !early {
                self.remove_resident(r)
            } else {
                self.add_resident(r, i + 1)
            }
            if dies && early {
                dying.push(r);
            }
        }
        for &r in &writes {
            self.valid.remove(&r);
        }
        for &r in &defs {
            self.add_resident(r, i + 1);
        }
        self.make_room(i, 0, (1, i * 2 + u32::from(!early)));
        dying.iter().for_each(|&r| self.remove_resident(r));
        // Results without a reader. The point after a terminator is in another block.
        for &r in &writes {
            if !self.live_at(r, i * 2 + 2) {
                self.remove_resident(r);
            }
        }
    }

    /// Evicts registers until `more` bytes fit before an instruction. With `after`, the registers
    /// live after the instruction must fit, though evictions still come before it. `point` selects
    /// the room.
    fn make_room(&mut self, i: u32, more: u32, (after, point): (u32, u32)) {
        let room = self.room(i, point);
        while self.bytes + more > room {
            let now = u64::from(i + after);
            let free = (self.resident.iter())
                .filter(|&r| self.needed[r] <= i * 2 + after && !self.pinned.contains(&r));
            // Prefers registers whose next read is far, that are large, and that are cheap to
            // reload.
            let gain = |&r: &VReg| {
                let info = &self.info[r];
                let far = (self.next[r].saturating_sub(now)).min(LOOP_EXIT * 4);
                let weight = match (info.remat, info.bytes >= self.code.grf.bytes) {
                    (true, _) => 8,
                    (_, true) => 4,
                    _ => 1,
                };
                (far * weight, r)
            };
            let Some(r) = free.max_by_key(gain) else {
                return;
            };
            if self.live_at(r, i * 2) {
                self.store(r, i, EditOrder::Before);
            }
            self.remove_resident(r);
            self.left[r].get_or_insert(i);
        }
    }

    /// Returns true if a register starts in this block and is not written yet, so that its slot may
    /// hold anything.
    fn undefined(&self, r: VReg, i: u32) -> bool {
        let list = self.occurrences.of(r);
        let before = list.partition_point(|o| o.inst < i);
        let last = before.checked_sub(1).and_then(|n| list.get(n));
        last.is_some_and(|o| {
            let begins = matches!(self.code.insts[o.inst as usize], MInst::Start { .. });
            begins && self.block_of[o.inst as usize] == self.block_of[i as usize]
        })
    }

    /// Stores a register to its slot unless the slot holds its value already.
    fn store(&mut self, r: VReg, i: u32, order: EditOrder) {
        if self.info[r].remat || self.info[r].stored_at_def {
            return;
        }
        let def_end = def_end(&self.occurrences, &self.block_of, r);
        let info = &mut self.info[r];
        if let Some(def_end) = def_end
            && def_end <= i
        {
            let of = |inst: u32| {
                VBlock::from_u32(self.block_of[(inst as usize).min(self.block_of.len() - 1)])
            };
            let at_start = def_end == 0;
            if at_start || self.loops.depth(of(def_end - 1)) <= self.loops.depth(of(i)) {
                info.stored_at_def = true;
                info.spilled = true;
                let order = if at_start {
                    EditOrder::Edge
                } else {
                    EditOrder::After
                };
                self.edit(def_end, order, EditKind::Spill, r);
                return;
            }
        }
        info.spilled = true;
        let undefined = self.undefined(r, i);
        if self.valid.insert(r) && !undefined {
            self.edit(i, order, EditKind::Spill, r);
        }
    }

    fn edit(&mut self, at: u32, order: EditOrder, kind: EditKind, reg: VReg) {
        let at = match order {
            EditOrder::Before => {
                together(self.code, at as usize, |r| self.info[r].bytes == 0) as u32
            }
            _ => at,
        };
        self.edits.push(SpillEdit {
            at,
            order,
            kind,
            reg,
        });
    }

    /// Inserts the spills and fills of an edge.
    fn fix_edge(&mut self, from: VBlock, to: VBlock) {
        let source = &self.code.blocks[from];
        let (at, order) = match source.succs.len() {
            1 => (source.end as u32 - 1, EditOrder::Last),
            _ => (self.start_of(to), EditOrder::Edge),
        };
        let have = std::mem::take(&mut self.ends[from.index()]);
        let want = std::mem::take(&mut self.starts[to.index()]);
        let valid = std::mem::take(&mut self.valid_at_end[from.index()]);
        self.valid.clear();
        self.valid.extend(valid.iter().copied());
        for &r in &have {
            if want.binary_search(&r).is_err() && self.live_in(r, to) {
                self.store(r, at, order);
            }
        }
        for &r in &want {
            if have.binary_search(&r).is_err() {
                self.info[r].spilled = true;
                self.edit(at, order, EditKind::Fill, r);
            }
        }
        self.ends[from.index()] = have;
        self.starts[to.index()] = want;
        self.valid_at_end[from.index()] = valid;
    }
}

/// Takes bytes from the room if there are enough.
fn take_bytes(room: &mut u32, bytes: u32) -> bool {
    let enough = bytes <= *room;
    if enough {
        *room -= bytes;
    }
    enough
}

/// Returns the index after the instruction that completes a register's definition. Returns `None`
/// unless all writes are in one block and before any read there of an older value. 0 if the
/// register is never written.
fn def_end(occurrences: &Occurrences, block_of: &[u32], r: VReg) -> Option<u32> {
    let list = occurrences.of(r);
    let writes = || list.iter().filter(|o| o.access != Access::Use);
    let (Some(first), Some(last)) = (writes().next(), writes().next_back()) else {
        return Some(0);
    };
    let block = |o: &Occurrence| block_of.get(o.inst as usize).copied();
    let one = block(first) == block(last) && first.access == Access::Def;
    // Not if the block first reads a value of the previous iteration.
    let begins = list.first().is_some_and(|o| o.access == Access::Def);
    (one && begins && writes().skip(1).all(|o| o.access == Access::Modify)).then(|| last.inst + 1)
}

/// Returns true if an instruction moves an immediate to contiguous channels without rounding.
fn is_exact(inst: &gantry_isa_gen::Inst<crate::mir::VirtReg>) -> bool {
    use gantry_isa_gen::{Dst, Src};
    match (inst.dst, inst.srcs[0]) {
        (Dst::Direct { ty, hs: 1, .. }, Src::Imm { ty: of, .. }) => {
            ty == of || !ty.is_float() && !of.is_float()
        }
        _ => false,
    }
}

/// Returns the instruction that defines a register from immediates alone, which is valid anywhere.
pub(super) fn constant_def<'c>(
    code: &'c VCode,
    occurrences: &Occurrences,
    r: VReg,
) -> Option<&'c MInst> {
    use gantry_isa_gen::Op;
    let mut writes = occurrences.of(r).iter().filter(|o| o.access != Access::Use);
    let (first, None) = (writes.next()?, writes.next()) else {
        return None;
    };
    let m = code.insts.get(first.inst as usize)?;
    let MInst::Op {
        inst, starts: true, ..
    } = m
    else {
        return None;
    };
    let plain = inst.op == Op::Mov
        && inst.pred.is_none()
        && inst.cond.is_none()
        && inst.no_mask
        && is_exact(inst);
    plain.then_some(m)
}
