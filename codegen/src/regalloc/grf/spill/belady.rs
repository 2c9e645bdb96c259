//! Which registers are in the file where, and which are in scratch: a walk over the blocks in order
//! that, where room is wanted, lets go what is read again last (Belady's rule; Braun and Hack,
//! "Register Spilling and Live-Range Splitting for SSA-Form Programs"). What is read behind a loop
//! is read late, so that what a loop does not need leaves before it.
//!
//! A register's slot holds its value from a store on until the register is written again. Registers
//! that are written in one block alone are stored where they were written, unless that is in a
//! deeper loop, and once.

use super::resident::Inside;
use super::{Edit, Kind, Order};
use crate::mir::insert::together;
use crate::mir::liveness::{Liveness, Occurrence, Occurrences};
use crate::mir::loops::{Loop, Loops};
use crate::mir::{Access, MInst, VBlock, VCode, VReg};
use cranelift_entity::{EntityRef, SecondaryMap};
use smallvec::SmallVec;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;

/// How much further away what is behind a loop's end is than it stands, in instructions.
const EXIT: u64 = 1 << 24;
/// How far ahead a block's registers are read that only some ways to it have in the file.
const SOON: u64 = 100;
/// Occurrences that are gone through one by one before they are searched.
const NEAR: usize = 8;
/// How many instructions of a loop are looked at for what should come to the file before it.
const LOOK: usize = 256;
/// Loops around an instruction that are asked for earlier reads.
const AROUND: usize = 8;

/// What is known of a register for its whole life.
#[derive(Clone, Copy, Default)]
pub(super) struct Info {
    /// Bytes that it takes of the file; 0 for those that stay in it, or that nobody counts here.
    pub(super) bytes: u32,
    /// What makes it can be repeated.
    remat: bool,
    /// It is stored at its home.
    at_home: bool,
    /// It has a slot.
    pub(super) spilled: bool,
}

/// Registers in the file at a place, in order.
type Set = Vec<VReg>;

pub(super) struct Walk<'a> {
    code: &'a VCode,
    live: &'a Liveness,
    occurrences: Arc<Occurrences>,
    /// Per register how many occurrences were before the instruction that its next read was asked
    /// for last: instructions are walked in order.
    passed: Vec<Cell<u32>>,
    loops: Loops,
    pub(super) info: SecondaryMap<VReg, Info>,
    /// Per instruction, the bytes that registers have which stay, and what calls need.
    reserved: Vec<u32>,
    /// Per point the bytes that nothing can have; none at all if there are no such.
    pub(super) holes: Vec<u32>,
    /// Per instruction the most that may be in the file.
    cap: u32,
    block_of: Vec<u32>,
    /// Per loop's first block, the most bytes live at once in it.
    demand_of: SecondaryMap<VBlock, u32>,
    /// Registers in the file, and when each is read next, from 1.
    inside: Inside,
    next: SecondaryMap<VReg, u64>,
    bytes: u32,
    /// Registers whose slot holds their value, of those that are not stored at home.
    valid: BTreeSet<VReg>,
    /// At the start and at the end of each block.
    starts: Vec<Set>,
    ends: Vec<Set>,
    valid_at_end: Vec<Set>,
    /// A register may not leave before this point, from 1: twice an instruction's number where that
    /// reads it, one more where it writes it.
    needed: SecondaryMap<VReg, u32>,
    /// While a block is entered: how many blocks before it have a register in the file.
    count: SecondaryMap<VReg, u32>,
    /// Registers whose address is in use.
    pinned: SmallVec<[VReg; 4]>,
    pub(super) edits: Vec<Edit>,
    /// The instruction that a register first left the file for.
    pub(super) left: SecondaryMap<VReg, Option<u32>>,
}

impl<'a> Walk<'a> {
    /// `stays`: the registers that are not looked at. `reserved`: their bytes, per instruction.
    pub(super) fn new(
        code: &'a VCode,
        live: &'a Liveness,
        stays: &SecondaryMap<VReg, bool>,
        reserved: Vec<u32>,
        cap: u32,
    ) -> Walk<'a> {
        let block_of = code.block_of();
        let loops = Loops::new(code);
        let occurrences = live.occurrences(code);
        let mut info: SecondaryMap<VReg, Info> = SecondaryMap::new();
        info.resize(code.vregs.len());
        for (r, data) in &code.vregs {
            if stays[r] || live.ranges[r].is_empty() {
                continue;
            }
            info[r] = Info {
                // What stands at a GRF's start leaves the rest to what may stand elsewhere, of
                // which there may be none.
                bytes: data.bytes.next_multiple_of(data.align.max(1)),
                remat: remat(code, &occurrences, r).is_some(),
                ..Info::default()
            };
        }
        let mut next = SecondaryMap::new();
        let mut needed = SecondaryMap::new();
        next.resize(code.vregs.len());
        needed.resize(code.vregs.len());
        // From the inner loops to the outer ones.
        let mut demand_of: SecondaryMap<VBlock, u32> = SecondaryMap::new();
        for (b, data) in code.blocks.iter().rev() {
            let insts = live.demand.get(data.start..data.end).unwrap_or(&[]);
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
        Walk {
            code,
            live,
            occurrences,
            passed: vec![Cell::new(0); code.vregs.len()],
            loops,
            info,
            reserved,
            holes: Vec::new(),
            cap,
            block_of,
            demand_of,
            inside: Inside::default(),
            next,
            bytes: 0,
            valid: BTreeSet::new(),
            starts: vec![Set::new(); code.blocks.len()],
            ends: vec![Set::new(); code.blocks.len()],
            valid_at_end: vec![Set::new(); code.blocks.len()],
            needed,
            count: SecondaryMap::new(),
            pinned: SmallVec::new(),
            edits: Vec::new(),
            left: SecondaryMap::with_capacity(code.vregs.len()),
        }
    }

    /// Walks the blocks, in order, then the edges.
    pub(super) fn run(&mut self) {
        for b in self.code.blocks.keys() {
            self.enter(b);
            self.block(b);
        }
        for (b, data) in &self.code.blocks {
            for &p in &data.preds {
                self.edge(p, b);
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

    /// Whether a register comes into a block with a value.
    fn live_in(&self, r: VReg, block: VBlock) -> bool {
        let first = self.start_of(block);
        self.live.lives_into(&self.occurrences, r, first)
    }

    fn reads(o: &Occurrence) -> bool {
        o.access != Access::Def
    }

    /// How many of a register's occurrences are before an instruction.
    fn passed(&self, r: VReg, list: &[Occurrence], from: u32) -> usize {
        let before = |o: &Occurrence| o.inst < from;
        let Some(passed) = self.passed.get(r.index()) else {
            return list.partition_point(before);
        };
        let mut n = passed.get() as usize;
        match list.get(..n).map(<[Occurrence]>::last) {
            Some(last) if last.is_none_or(before) => {
                let rest = list.get(n..).unwrap_or(&[]);
                let near = rest.iter().take(NEAR).take_while(|o| before(o)).count();
                n += match near {
                    NEAR => rest.partition_point(before),
                    _ => near,
                };
            }
            _ => n = list.partition_point(before),
        }
        passed.set(n as u32);
        n
    }

    /// When a register is read next, from an instruction on, as an instruction's number, more
    /// behind loops.
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
            // Of the loops around, at least so many end before it.
            let to = block(o.inst);
            let depth = here.map_or(0, |l| l.depth);
            let left = here.is_some_and(|l| l.last < to.as_u32());
            let exits = depth.saturating_sub(self.loops.depth(to)).max(left.into());
            let exits = u64::from(exits);
            best = u64::from(o.inst) + exits * EXIT;
        }
        // Round a loop.
        let mut l = here;
        for exits in 0..AROUND as u64 {
            let Some(x) = l else { break };
            let first = self.start_of(VBlock::from_u32(x.first));
            let end = self.code.blocks[VBlock::from_u32(x.last)].end as u32;
            let m = list.partition_point(|o| o.inst < first);
            let before = list.get(m..n).unwrap_or(&[]);
            if let Some(o) = before.iter().find(|o| Self::reads(o)) {
                let way = u64::from(end) + u64::from(o.inst - first) + exits * EXIT;
                best = best.min(way);
                break;
            }
            l = self.loops.outer(&x);
        }
        best + 1
    }

    fn is_inside(&self, r: VReg) -> bool {
        self.next[r] != 0
    }

    fn put(&mut self, r: VReg, from: u32) {
        let key = self.next_read(r, from);
        if std::mem::replace(&mut self.next[r], key) == 0 {
            self.bytes += self.info[r].bytes;
            self.inside.insert(r);
        }
    }

    fn take(&mut self, r: VReg) {
        let key = std::mem::take(&mut self.next[r]);
        if key != 0 {
            self.inside.remove(r);
            self.bytes -= self.info[r].bytes;
        }
    }

    /// What begins a block in the file.
    fn enter(&mut self, b: VBlock) {
        let start = self.start_of(b);
        self.inside.clear();
        self.bytes = 0;
        self.valid.clear();
        self.pinned.clear();
        let data = &self.code.blocks[b];
        let before: SmallVec<[VBlock; 4]> = data.preds.iter().copied().filter(|p| *p < b).collect();
        let header = self.loops.at(b);
        if before.is_empty() {
            self.enter_routine(b);
        }
        // In the file at the end of all blocks before it, or of some.
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
            // What the loop reads, then what it leaves room for; also what is in scratch, and is
            // read in it.
            let end = self.code.blocks[VBlock::from_u32(l.last)].end as u32;
            first.append(&mut second);
            let (used, through): (Vec<VReg>, Vec<VReg>) =
                first.into_iter().partition(|&r| self.occurs(r, start, end));
            // What the loop makes itself must find room beside what stays in the file for all of
            // it.
            let comes = self.live.demand.get(start as usize).map_or(0, |d| d.before);
            let own = self.demand_of[b].saturating_sub(comes);
            first = used;
            let mut more = self.wanted_by(&l, b, |r| count[r] > 0);
            more.sort_by_key(|&r| key(self, r));
            first.sort_by_key(|&r| key(self, r));
            let mut left = room.saturating_sub(own);
            first.retain(|&r| fits(&mut left, self.info[r].bytes));
            more.retain(|&r| fits(&mut left, self.info[r].bytes));
            first.append(&mut more);
            second = through;
            room = left;
        } else {
            first.sort_by_key(|&r| key(self, r));
            first.retain(|&r| fits(&mut room, self.info[r].bytes));
            second.retain(|&r| key(self, r).0 < u64::from(start) + SOON);
        }
        second.sort_by_key(|&r| key(self, r));
        second.retain(|&r| fits(&mut room, self.info[r].bytes));
        for r in first.into_iter().chain(second) {
            self.put(r, start);
        }
        // Slots that hold their value on every way here; in a loop that writes the register, on
        // none.
        if let Some(p) = before.first() {
            let mut valid: Vec<VReg> = self.valid_at_end[p.index()].clone();
            for p in before.iter().skip(1) {
                let other = &self.valid_at_end[p.index()];
                valid.retain(|r| other.binary_search(r).is_ok());
            }
            let back = |w: &Self, r: VReg| match header {
                Some(l) if w.is_inside(r) => {
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
        // What is not in the file is in its slot.
        let mut list: Set = self.inside.iter().collect();
        list.sort_unstable();
        self.starts[b.index()] = list;
        let outside = seen
            .into_iter()
            .filter(|&r| !self.is_inside(r) && !self.info[r].at_home && !self.info[r].remat);
        let outside: Vec<VReg> = outside.collect();
        self.valid.extend(outside);
    }

    /// The registers that are there when a routine begins.
    fn enter_routine(&mut self, b: VBlock) {
        let start = self.start_of(b);
        let all: Vec<VReg> = (0..self.code.vregs.len())
            .map(VReg::new)
            .filter(|&r| self.info[r].bytes > 0 && self.live_in(r, b))
            .collect();
        for r in all {
            self.put(r, start);
        }
        self.limit(start, 0, (0, start * 2));
    }

    /// Bytes that may be in the file at a point of an instruction, but for those that stay.
    fn room(&self, inst: u32, point: u32) -> u32 {
        let reserved = self.reserved.get(inst as usize).copied().unwrap_or(0);
        let hole = self.holes.get(point as usize).copied().unwrap_or(0);
        self.cap.saturating_sub(reserved + hole)
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

    /// Registers that come into a loop in scratch, and are read in it.
    fn wanted_by(&self, l: &Loop, b: VBlock, known: impl Fn(VReg) -> bool) -> Vec<VReg> {
        let first = self.code.blocks[b].start;
        let end = self.code.blocks[VBlock::from_u32(l.last)].end;
        let mut out: BTreeSet<VReg> = BTreeSet::new();
        let insts = self.code.insts.get(first..end).unwrap_or(&[]);
        for m in insts.iter().take(LOOK) {
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
        let mut list: Set = self.inside.iter().collect();
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
        // Room for what is read and not there, then that.
        let early = defs.iter().any(|&r| self.live_at(r, i * 2));
        let both = i * 2 + 2;
        for &r in &uses {
            self.needed[r] = self.needed[r].max(both - u32::from(!early));
        }
        for &r in &writes {
            self.needed[r] = both;
        }
        let mut bytes = 0;
        for &r in uses.iter().filter(|r| !self.is_inside(**r)) {
            bytes += self.info[r].bytes;
        }
        self.limit(i, bytes, (0, i * 2));
        // What is read for the last time makes room for what is written, if that does not come
        // before it.
        let mut dying: SmallVec<[VReg; 4]> = SmallVec::new();
        for &r in &uses {
            let inside = self.is_inside(r);
            if !inside {
                self.edit(i, Order::Before, Kind::Fill, r);
                self.info[r].spilled = true;
                if !self.info[r].at_home && !self.info[r].remat {
                    self.valid.insert(r);
                }
            }
            let dies = !self.live_at(r, i * 2 + 1) && !defs.contains(&r);
            if dies && !early {
                self.take(r)
            } else {
                self.put(r, i + 1)
            }
            if dies && early {
                dying.push(r);
            }
        }
        for &r in &writes {
            self.valid.remove(&r);
        }
        for &r in &defs {
            self.put(r, i + 1);
        }
        self.limit(i, 0, (1, i * 2 + u32::from(!early)));
        dying.iter().for_each(|&r| self.take(r));
        // Written and read by nobody.
        for &r in defs.iter().chain(&uses) {
            if !self.live_at(r, i * 2 + 2) {
                self.take(r);
            }
        }
    }

    /// Makes room for so many more bytes before an instruction; `after`: before it, for what is
    /// there after it, or at a point.
    fn limit(&mut self, i: u32, more: u32, (after, point): (u32, u32)) {
        let room = self.room(i, point);
        while self.bytes + more > room {
            let now = u64::from(i + after);
            let free = (self.inside.iter())
                .filter(|&r| self.needed[r] <= i * 2 + after && !self.pinned.contains(&r));
            // Far away, large, and cheap to get back.
            let gain = |&r: &VReg| {
                let info = &self.info[r];
                let far = (self.next[r].saturating_sub(now)).min(EXIT * 4);
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
                self.store(r, i, Order::Before);
            }
            self.take(r);
            self.left[r].get_or_insert(i);
        }
    }

    /// Whether a register's value begins in this block and was not written yet: whatever is in its
    /// slot will do.
    fn undefined(&self, r: VReg, i: u32) -> bool {
        let list = self.occurrences.of(r);
        let before = list.partition_point(|o| o.inst < i);
        let last = before.checked_sub(1).and_then(|n| list.get(n));
        last.is_some_and(|o| {
            let begins = matches!(self.code.insts[o.inst as usize], MInst::Start { .. });
            begins && self.block_of[o.inst as usize] == self.block_of[i as usize]
        })
    }

    /// Puts a register's value into its slot, where it is not there yet.
    fn store(&mut self, r: VReg, i: u32, order: Order) {
        if self.info[r].remat || self.info[r].at_home {
            return;
        }
        let home = home(&self.occurrences, &self.block_of, r);
        let info = &mut self.info[r];
        if let Some(home) = home
            && home <= i
        {
            let of = |inst: u32| {
                VBlock::from_u32(self.block_of[(inst as usize).min(self.block_of.len() - 1)])
            };
            let at_start = home == 0;
            if at_start || self.loops.depth(of(home - 1)) <= self.loops.depth(of(i)) {
                info.at_home = true;
                info.spilled = true;
                let order = if at_start { Order::Edge } else { Order::After };
                self.edit(home, order, Kind::Store, r);
                return;
            }
        }
        info.spilled = true;
        let undefined = self.undefined(r, i);
        if self.valid.insert(r) && !undefined {
            self.edit(i, order, Kind::Store, r);
        }
    }

    fn edit(&mut self, at: u32, order: Order, kind: Kind, reg: VReg) {
        let at = match order {
            Order::Before => together(self.code, at as usize, |r| self.info[r].bytes == 0) as u32,
            _ => at,
        };
        self.edits.push(Edit {
            at,
            order,
            kind,
            reg,
        });
    }

    /// What must happen on an edge.
    fn edge(&mut self, from: VBlock, to: VBlock) {
        let source = &self.code.blocks[from];
        let (at, order) = match source.succs.len() {
            1 => (source.end as u32 - 1, Order::Last),
            _ => (self.start_of(to), Order::Edge),
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
                self.edit(at, order, Kind::Fill, r);
            }
        }
        self.ends[from.index()] = have;
        self.starts[to.index()] = want;
        self.valid_at_end[from.index()] = valid;
    }
}

/// Takes bytes from what is left, if they are there.
fn fits(room: &mut u32, bytes: u32) -> bool {
    let fits = bytes <= *room;
    if fits {
        *room -= bytes;
    }
    fits
}

/// The instruction behind which a register is whole, as a number from 1, if it is written in one
/// block alone, and read there only when it is; 0 if it is never written.
fn home(occurrences: &Occurrences, block_of: &[u32], r: VReg) -> Option<u32> {
    let list = occurrences.of(r);
    let writes = || list.iter().filter(|o| o.access != Access::Use);
    let (Some(first), Some(last)) = (writes().next(), writes().next_back()) else {
        return Some(0);
    };
    let block = |o: &Occurrence| block_of.get(o.inst as usize).copied();
    let one = block(first) == block(last) && first.access == Access::Def;
    // Not a value that the same block reads of the round before.
    let begins = list.first().is_some_and(|o| o.access == Access::Def);
    (one && begins && writes().skip(1).all(|o| o.access == Access::Modify)).then(|| last.inst + 1)
}

/// Whether an instruction moves an immediate, to neighbours, that no rounding mode changes.
fn exact(inst: &gantry_isa_gen::Inst<crate::mir::VirtReg>) -> bool {
    use gantry_isa_gen::{Dst, Src};
    match (inst.dst, inst.srcs[0]) {
        (Dst::Direct { ty, hs: 1, .. }, Src::Imm { ty: of, .. }) => {
            ty == of || !ty.is_float() && !of.is_float()
        }
        _ => false,
    }
}

/// The instruction that makes a register, if that can be done anywhere: from immediates alone.
pub(super) fn remat<'c>(code: &'c VCode, occurrences: &Occurrences, r: VReg) -> Option<&'c MInst> {
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
        && exact(inst);
    plain.then_some(m)
}
