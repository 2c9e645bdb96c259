//! Live range splitting. If demand fits but a register finds no place that is free over its whole
//! live range, values move between places.
//!
//! The algorithm is a linear scan over the blocks that may move placed bundles. A new bundle starts
//! at its place from whole-range placement, if that is free. Otherwise other bundles move away from
//! where that costs least, and stay in their new places. As a last resort all live bundles are
//! repacked. Moves on edges reconcile the places of predecessors.
//!
//! Input: [`VCode`] whose demand fits, its liveness, and places for most bundles. Output: the code
//! with copies, one register per place that a value was in, and their addresses. Registers that
//! callers and subroutines share stay in their places. Values live across a call leave those places
//! before it, and keep the routine's own values out of theirs.

mod calls;
mod copy_cycles;
mod occupancy;
mod parallel_moves;

use super::bundles::Bundles;
use crate::mir::insert::{Inserted, insert_into, together};
use crate::mir::liveness::{Liveness, Occurrences};
use crate::mir::loops::Loops;
use crate::mir::{Access, MInst, RegConstraint, Routine, VBlock, VCode, VReg, routines};
use cranelift_entity::{EntityRef, EntitySet, PrimaryMap, SecondaryMap};
use occupancy::{ByteRange, Occupancy, candidate_addresses, overlap};
use parallel_moves::Move;
use smallvec::SmallVec;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Maximum number of places to try to clear.
const MAX_WINDOWS: usize = 16;

/// Code after splitting.
pub(in crate::regalloc) struct SplitResult {
    pub(in crate::regalloc) code: VCode,
    /// Address of each register.
    pub(in crate::regalloc) address: SecondaryMap<VReg, u32>,
    /// Number of registers that were in several places.
    pub(in crate::regalloc) splits: u32,
}

/// Places every register in the first `limit` bytes of the GRF file, at the address in `wanted` of
/// its bundle if possible. Returns `None` if splitting fails too.
pub(in crate::regalloc) fn split(
    code: &VCode,
    live: &Liveness,
    bundles: &mut Bundles<'_>,
    wanted: &SecondaryMap<VReg, Option<u32>>,
    limit: u32,
    origin: &mut Vec<u32>,
) -> Option<SplitResult> {
    let mut scan = SplitScan::new(code, live, bundles, wanted, limit)?;
    let mut out = code.clone();
    for b in code.blocks.keys() {
        scan.block(b, &mut out)?;
    }
    let SplitScan {
        names,
        vregs,
        address,
        mut new,
        ..
    } = scan;
    out.vregs = vregs;
    let splits = code.vregs.keys().filter(|r| names[*r].len() > 1).count() as u32;
    new.sort_by_key(|n| n.at);
    insert_into(&mut out, new, origin);
    let rest = code.labels.iter().flat_map(|(name, r)| {
        let others = names[*r].iter().map(|n| n.1).filter(move |n| n != r);
        others.map(move |n| (name.clone(), n))
    });
    out.labels.extend(rest);
    Some(SplitResult {
        code: out,
        address,
        splits,
    })
}

/// Bundles live at a block's start or end and their addresses, in order.
type BundlePlaces = Vec<(VReg, u32)>;

fn find(places: &BundlePlaces, root: VReg) -> Option<u32> {
    let n = places.binary_search_by_key(&root, |p| p.0).ok()?;
    places.get(n).map(|p| p.1)
}

/// State of the scan over the blocks.
struct SplitScan<'a> {
    code: &'a VCode,
    live: &'a Liveness,
    occurrences: Arc<Occurrences>,
    loops: Loops,
    wanted: &'a SecondaryMap<VReg, Option<u32>>,
    limit: u32,
    /// Bundles that may not use the last GRF of the file.
    responses: EntitySet<VReg>,
    /// Bundle of each register.
    root: PrimaryMap<VReg, VReg>,
    /// Places of bundles that callers and subroutines share.
    shared_places: SecondaryMap<VReg, Option<u32>>,
    /// Shared bundles that each routine names.
    named_shared: SecondaryMap<Routine, BTreeSet<(VReg, u32)>>,
    /// Routines that may be active while each routine runs.
    active: SecondaryMap<Routine, Vec<Routine>>,
    /// Bytes per routine that its callers use across its calls.
    reserved: SecondaryMap<Routine, Option<Occupancy>>,
    routines: Vec<Routine>,
    /// Alignment of each bundle.
    align: SecondaryMap<VReg, u32>,
    /// Starts and ends of all live ranges, in order, and the number of those before the current
    /// point.
    begins: Vec<(u32, VReg)>,
    ends: Vec<(u32, VReg)>,
    started: usize,
    ended: usize,
    /// Registers whose live range includes the current point, in program order rather than on the
    /// current path.
    covering: BTreeSet<VReg>,
    /// Live registers of each live bundle, and the bundle's address.
    members: SecondaryMap<VReg, SmallVec<[VReg; 1]>>,
    at: SecondaryMap<VReg, u32>,
    file: Occupancy,
    /// Bundles whose address is in use, and those that start at the current instruction.
    pinned: SmallVec<[VReg; 4]>,
    fresh: SmallVec<[VReg; 4]>,
    /// Places of registers whose live ranges end at the current instruction. They are free after
    /// it.
    dying: SmallVec<[ByteRange; 4]>,
    /// Bundles of those registers.
    leaving: SmallVec<[VReg; 4]>,
    starts: Vec<Option<BundlePlaces>>,
    exits: Vec<Option<BundlePlaces>>,
    /// Register that stands for each register at each of its places.
    names: SecondaryMap<VReg, SmallVec<[(u32, VReg); 1]>>,
    vregs: PrimaryMap<VReg, crate::mir::VRegData>,
    address: SecondaryMap<VReg, u32>,
    new: Vec<Inserted>,
}

impl<'a> SplitScan<'a> {
    fn new(
        code: &'a VCode,
        live: &'a Liveness,
        bundles: &mut Bundles<'_>,
        wanted: &'a SecondaryMap<VReg, Option<u32>>,
        limit: u32,
    ) -> Option<SplitScan<'a>> {
        let mut root = PrimaryMap::with_capacity(code.vregs.len());
        let mut align: SecondaryMap<VReg, u32> = SecondaryMap::with_capacity(code.vregs.len());
        let (mut begins, mut ends) = (Vec::new(), Vec::new());
        let mut responses = EntitySet::new();
        for (r, data) in &code.vregs {
            let to = bundles.root(r);
            root.push(to);
            align[to] = align[to].max(data.align);
            if bundles.limit(to, limit) < limit {
                responses.insert(to);
            }
            begins.extend(live.ranges[r].iter().map(|x| (x.start, r)));
            ends.extend(live.ranges[r].iter().map(|x| (x.end, r)));
        }
        let shared = routines::shared(code);
        let mut shared_places: SecondaryMap<VReg, Option<u32>> = SecondaryMap::new();
        for r in code.vregs.keys().filter(|r| shared[*r]) {
            if !live.ranges[r].is_empty() {
                shared_places[root[r]] = Some(wanted[root[r]]?);
            }
        }
        let mut named_shared: SecondaryMap<Routine, BTreeSet<(VReg, u32)>> = SecondaryMap::new();
        for routine in code.routines.keys().skip(1) {
            for m in &code.insts[code.routine_insts(routine)] {
                m.for_each_vreg(|r, _| {
                    named_shared[routine].extend(shared_places[root[r]].map(|at| (root[r], at)))
                });
            }
        }
        // Starts with the hardest to place.
        begins.sort_by_key(|&(point, r)| {
            let data = &code.vregs[r];
            let anywhere =
                data.constraint == RegConstraint::Any && shared_places[root[r]].is_none();
            (point, anywhere, Reverse(data.bytes.max(data.align)), r)
        });
        ends.sort_unstable();
        Some(SplitScan {
            shared_places,
            named_shared,
            active: routines::running(code),
            reserved: SecondaryMap::new(),
            routines: routines::of_blocks(code),
            code,
            live,
            occurrences: live.occurrences(code),
            loops: Loops::new(code),
            wanted,
            limit,
            responses,
            root,
            align,
            begins,
            ends,
            started: 0,
            ended: 0,
            covering: BTreeSet::new(),
            members: SecondaryMap::new(),
            at: SecondaryMap::new(),
            file: Occupancy::new(code.grf),
            pinned: SmallVec::new(),
            fresh: SmallVec::new(),
            dying: SmallVec::new(),
            leaving: SmallVec::new(),
            starts: vec![None; code.blocks.len()],
            exits: vec![None; code.blocks.len()],
            names: SecondaryMap::new(),
            vregs: code.vregs.clone(),
            address: SecondaryMap::new(),
            new: Vec::new(),
        })
    }

    /// Returns the register that stands for `r` while its bundle is at an address.
    fn name(&mut self, r: VReg, at: u32) -> VReg {
        if let Some(n) = self.names[r].iter().find(|n| n.0 == at) {
            return n.1;
        }
        let name = if self.names[r].is_empty() {
            r
        } else {
            let mut data = self.code.vregs[r];
            data.constraint = RegConstraint::Any;
            self.vregs.push(data)
        };
        self.names[r].push((at, name));
        self.address[name] = at;
        name
    }

    fn bytes(&self, root: VReg) -> u32 {
        self.code.vregs[root].bytes
    }

    fn place(&self, root: VReg) -> ByteRange {
        let at = self.at[root];
        at..at + self.bytes(root)
    }

    fn is_live(&self, r: VReg) -> bool {
        self.members[self.root[r]].contains(&r)
    }

    fn put(&mut self, r: VReg, at: u32) {
        let root = self.root[r];
        if self.members[root].is_empty() {
            self.at[root] = at;
            let place = self.place(root);
            self.file.put(root, &place);
        }
        self.members[root].push(r);
    }

    fn take(&mut self, r: VReg) {
        let root = self.root[r];
        self.members[root].retain(|m| *m != r);
        if self.members[root].is_empty() {
            let place = self.place(root);
            self.file.take(root, &place);
        }
    }

    /// Returns the bytes that a bundle may use.
    fn within(&self, root: VReg) -> ByteRange {
        let file = self.code.grf.size();
        if let Some(at) = self.shared_places[root] {
            return at..at + self.bytes(root);
        }
        match self.code.vregs[root].constraint {
            RegConstraint::Any if self.responses.contains(root) => {
                0..self.limit - self.code.grf.bytes
            }
            RegConstraint::Any => 0..self.limit,
            RegConstraint::AtLeast(first) => first..file,
            RegConstraint::Fixed(at) => at..at + self.bytes(root),
        }
    }

    /// Returns true if a live bundle may move before the current instruction.
    fn may_move(&self, root: VReg) -> bool {
        self.code.vregs[root].constraint == RegConstraint::Any
            && self.shared_places[root].is_none()
            && self.members[root].len() == 1
            && !self.pinned.contains(&root)
            && !self.fresh.contains(&root)
    }

    /// Scans a block, then its edges to blocks that were scanned before.
    fn block(&mut self, b: VBlock, out: &mut VCode) -> Option<()> {
        let code = self.code;
        let data = &code.blocks[b];
        self.enter(b)?;
        for i in data.start..data.end {
            self.inst(i as u32, out)?;
        }
        let mut exit: BundlePlaces = Vec::new();
        let all: Vec<VReg> = self.covering.iter().copied().collect();
        for r in all.into_iter().filter(|&r| self.is_live(r)) {
            let root = self.root[r];
            exit.push((root, self.at[root]));
        }
        exit.sort_unstable();
        exit.dedup();
        for &s in data.succs.iter().filter(|s| **s <= b) {
            let goals = self.starts[s.index()].clone()?;
            self.edge(b, &exit, s, &goals)?;
        }
        self.exits[b.index()] = Some(exit);
        // Releases places that no later block needs.
        for p in data.preds.iter().chain([&b]) {
            if code.blocks[*p].succs.iter().all(|s| *s <= b) {
                self.exits[p.index()] = None;
            }
        }
        for s in data.succs.iter().chain([&b]) {
            if code.blocks[*s].preds.iter().all(|p| *p <= b) {
                self.starts[s.index()] = None;
            }
        }
        Some(())
    }

    /// Enters a block with the places of the predecessor in the deepest loop. The other edges get
    /// moves.
    fn enter(&mut self, b: VBlock) -> Option<()> {
        let code = self.code;
        let data = &code.blocks[b];
        let point = data.start as u32 * 2;
        self.file = match &self.reserved[self.routines[b.index()]] {
            Some(reserved) => reserved.without_bundles(),
            None => Occupancy::new(code.grf),
        };
        for r in std::mem::take(&mut self.covering) {
            let root = self.root[r];
            self.members[root].clear();
            if self.live.lives_at(r, point) {
                self.covering.insert(r);
            }
        }
        while self.ends.get(self.ended).is_some_and(|e| e.0 <= point) {
            self.ended += 1;
        }
        self.pinned.clear();
        self.fresh.clear();
        self.dying.clear();
        self.leaving.clear();
        let mut live_into: Vec<VReg> = self.covering.iter().copied().collect();
        let begin = self.begins.iter().skip(self.started);
        live_into.extend(begin.take_while(|x| x.0 <= point).map(|x| x.1));
        live_into.retain(|&r| {
            self.live
                .lives_into(&self.occurrences, r, data.start as u32)
        });
        let before = data.preds.iter().copied().filter(|p| *p < b);
        let from = before
            .clone()
            .filter(|p| self.exits[p.index()].is_some())
            .max_by_key(|p| (self.loops.depth(*p), Reverse(*p)));
        let known = from.and_then(|p| self.exits[p.index()].clone());
        let known = known.unwrap_or_default();
        let mut unplaced = Vec::new();
        for r in live_into {
            match find(&known, self.root[r]) {
                Some(at) => {
                    self.covering.insert(r);
                    self.put(r, at);
                }
                None => unplaced.push(r),
            }
        }
        unplaced.sort_by_key(|&r| {
            let data = &code.vregs[r];
            (
                data.constraint == RegConstraint::Any,
                Reverse(data.bytes.max(data.align)),
                r,
            )
        });
        for r in unplaced {
            self.place_register(r, None)?;
            self.covering.insert(r);
        }
        let mut start: BundlePlaces = Vec::new();
        for &r in &self.covering {
            let root = self.root[r];
            if !self.members[root].is_empty() {
                start.push((root, self.at[root]));
            }
        }
        start.sort_unstable();
        start.dedup();
        for p in before.filter(|p| Some(*p) != from) {
            if let Some(exit) = self.exits[p.index()].clone() {
                self.edge(p, &exit, b, &start)?;
            }
        }
        self.starts[b.index()] = Some(start);
        Some(())
    }

    /// Inserts moves at the end of one block for bundles whose places in the next differ.
    fn edge(
        &mut self,
        from: VBlock,
        exit: &BundlePlaces,
        to: VBlock,
        start: &BundlePlaces,
    ) -> Option<()> {
        let mut moves = Vec::new();
        for &(bundle, to) in start {
            let from = find(exit, bundle)?;
            let bytes = self.bytes(bundle);
            moves.push(Move {
                bundle,
                part: 0,
                from,
                to,
                bytes,
            });
        }
        if moves.iter().all(|m| m.from == m.to) {
            return Some(());
        }
        let source = &self.code.blocks[from];
        if source.succs.len() != 1 {
            return None;
        }
        let (at, block) = (source.end as u32 - 1, to);
        // Bundles that are not live on this edge leave their places free.
        let mut taken = self.file.without_bundles();
        for &(bundle, at) in start {
            taken.put(bundle, &(at..at + self.bytes(bundle)));
        }
        let moves = self.sequence(moves, &taken)?;
        // Moves the bundle's registers that are live into the block.
        self.emit_moves(at, &moves, |s, bundle| s.live_into(bundle, block))
    }

    /// Returns the registers of a bundle that are live into a block.
    fn live_into(&self, bundle: VReg, block: VBlock) -> SmallVec<[VReg; 2]> {
        let start = self.code.blocks[block].start as u32;
        let members = self.covering.iter().copied();
        members
            .filter(|&r| self.root[r] == bundle)
            .filter(|&r| self.live.lives_into(&self.occurrences, r, start))
            .collect()
    }

    fn copy(&mut self, at: u32, r: VReg, m: &Move) {
        let (src, dst) = (self.name(r, m.from), self.name(r, m.to));
        self.new.push(Inserted {
            at: at as usize,
            after: false,
            inst: MInst::Copy { dst, src },
        });
    }

    /// Places a register whose live range starts at an instruction. Without one, it starts at a
    /// block without scanned predecessors.
    fn place_register(&mut self, r: VReg, at: Option<u32>) -> Option<()> {
        let root = self.root[r];
        if !self.members[root].is_empty() {
            // Tied to another register of the bundle.
            self.members[root].push(r);
            return Some(());
        }
        let (bytes, align) = (self.bytes(root), self.align[root]);
        let within = self.within(root);
        if let RegConstraint::Fixed(to) = self.code.vregs[root].constraint
            && at.is_none_or(|i| i == 0)
        {
            // Payload registers may overlap at the start of the thread, since nothing writes them.
            self.put(r, to);
            return Some(());
        }
        let place = |at: u32| at..at + bytes;
        // A tied source that ends here leaves its place to the result.
        let last = Some(self.at[root]).filter(|_| self.leaving.contains(&root));
        let found = last
            .into_iter()
            .chain(self.wanted[root])
            .find(|&at| self.file.is_free(&place(at)))
            .or_else(|| self.file.find((bytes, align), &within, &[]))
            .or_else(|| self.make_room(root, &within, at?))
            .or_else(|| self.repack(root, &within, at?))?;
        self.put(r, found);
        self.fresh.push(root);
        Some(())
    }

    /// Returns a measure of how hard a bundle is to place.
    fn size(&self, root: VReg) -> u32 {
        self.bytes(root).max(self.align[root])
    }

    /// Returns the cost of moving everything out of some bytes. Returns `None` if not all of it may
    /// move, or is not smaller than bundle `than`.
    fn cost(&self, file: &Occupancy, window: &ByteRange, than: Option<VReg>) -> Option<u32> {
        if file.is_reserved(window) {
            return None;
        }
        let mut cost = 0;
        for bundle in file.occupants(window) {
            if !self.may_move(bundle) || than.is_some_and(|t| self.size(bundle) >= self.size(t)) {
                return None;
            }
            // A copy instruction moves up to two GRFs.
            cost += self.bytes(bundle).div_ceil(2 * self.code.grf.bytes);
        }
        Some(cost)
    }

    /// Frees a place for a bundle before an instruction by moving the bundles that cost least.
    /// Smaller bundles may move in turn to make room for those.
    fn make_room(&mut self, root: VReg, within: &ByteRange, i: u32) -> Option<u32> {
        let (bytes, align) = (self.bytes(root), self.align[root]);
        let windows = candidate_addresses((bytes, align), within).map(|at| at..at + bytes);
        let mut windows: Vec<(u32, u32)> = windows
            .filter_map(|w| Some((self.cost(&self.file, &w, None)?, w.start)))
            .collect();
        windows.sort_unstable();
        for (_, at) in windows.into_iter().take(MAX_WINDOWS) {
            if let Some(moves) = self.clearing_moves(&(at..at + bytes)) {
                self.apply_moves(i, moves)?;
                return Some(at);
            }
        }
        None
    }

    /// Returns moves that clear some bytes.
    fn clearing_moves(&self, window: &ByteRange) -> Option<Vec<Move>> {
        let mut file = self.file.clone();
        let mut avoid = self.dying.to_vec();
        avoid.push(window.clone());
        let mut goals: BTreeMap<VReg, u32> = BTreeMap::new();
        // Bundles without a place, by size.
        let mut out: BTreeSet<(u32, Reverse<VReg>)> = BTreeSet::new();
        for bundle in file.occupants(window) {
            file.take(bundle, &self.place(bundle));
            out.insert((self.size(bundle), Reverse(bundle)));
        }
        while let Some((_, Reverse(bundle))) = out.pop_last() {
            let (bytes, align) = (self.bytes(bundle), self.align[bundle]);
            let within = self.within(bundle);
            let free = file.find((bytes, align), &within, &avoid);
            let to = free.or_else(|| {
                let windows = candidate_addresses((bytes, align), &within).map(|at| at..at + bytes);
                let windows = windows.filter(|w| !avoid.iter().any(|b| overlap(b, w)));
                let best = windows
                    .filter_map(|w| Some((self.cost(&file, &w, Some(bundle))?, w.start)))
                    .min()?;
                Some(best.1)
            })?;
            let place = to..to + bytes;
            for smaller in file.occupants(&place) {
                let at = goals.remove(&smaller).unwrap_or(self.at[smaller]);
                file.take(smaller, &(at..at + self.bytes(smaller)));
                out.insert((self.size(smaller), Reverse(smaller)));
            }
            file.put(bundle, &place);
            goals.insert(bundle, to);
        }
        self.sequence_goals(goals)
    }

    /// Returns parallel moves of bundles to their goals in order.
    fn sequence_goals(&self, goals: BTreeMap<VReg, u32>) -> Option<Vec<Move>> {
        let mut taken = self.file.clone();
        let mut moves = Vec::new();
        for &bundle in goals.keys() {
            taken.take(bundle, &self.place(bundle));
        }
        for (bundle, to) in goals {
            let bytes = self.bytes(bundle);
            taken.put(bundle, &(to..to + bytes));
            moves.push(Move {
                bundle,
                part: 0,
                from: self.at[bundle],
                to,
                bytes,
            });
        }
        // No move goes through the place of a dying register.
        for d in &self.dying {
            taken.put(VReg::from_u32(0), d);
        }
        self.sequence(moves, &taken)
    }

    /// Repacks all live bundles before an instruction, so that a bundle has a place.
    fn repack(&mut self, root: VReg, within: &ByteRange, i: u32) -> Option<u32> {
        let (bytes, align) = (self.bytes(root), self.align[root]);
        let mut fixed = self.file.without_bundles();
        let mut order: Vec<VReg> = Vec::new();
        for w in self.file.occupants(&(0..self.code.grf.size())) {
            if self.may_move(w) {
                order.push(w)
            } else {
                fixed.put(w, &self.place(w))
            }
        }
        order.sort_by_key(|&w| (Reverse(self.size(w)), self.at[w], w));
        // Prefers places that are mostly freed by the instruction itself.
        let mut goals: Vec<(u32, u32)> = candidate_addresses((bytes, align), within)
            .map(|at| at..at + bytes)
            .filter(|place| fixed.is_free(place))
            .map(|place| {
                let shared = |d: &ByteRange| {
                    let end = d.end.min(place.end);
                    end.saturating_sub(d.start.max(place.start))
                };
                let most = self.dying.iter().map(shared).sum::<u32>();
                (u32::MAX - most, place.start)
            })
            .collect();
        goals.sort_unstable();
        for (_, at) in goals.into_iter().take(MAX_WINDOWS) {
            let mut file = fixed.clone();
            file.put(root, &(at..at + bytes));
            let place = |&bundle: &VReg| {
                let layout = (self.bytes(bundle), self.align[bundle]);
                let to = file.find(layout, &self.within(bundle), &self.dying)?;
                file.put(bundle, &(to..to + layout.0));
                Some((bundle, to))
            };
            let all: Option<BTreeMap<VReg, u32>> = order.iter().map(place).collect();
            if let Some(moves) = all.and_then(|all| self.sequence_goals(all)) {
                self.apply_moves(i, moves)?;
                return Some(at);
            }
        }
        None
    }

    /// Inserts moves of bundles before an instruction and updates their places.
    fn apply_moves(&mut self, i: u32, moves: Vec<Move>) -> Option<()> {
        // The routine runs between a call and the instructions tied to it.
        let call = matches!(self.code.insts.get(i as usize), Some(MInst::Call { .. }));
        if !moves.is_empty()
            && !call
            && together(self.code, i as usize, |r| {
                self.shared_places[self.root[r]].is_some()
            }) != i as usize
        {
            return None;
        }
        // The last move of a bundle, or of its parts, is to its final place.
        let to = moves.iter().map(|m| (m.bundle, m.to.wrapping_sub(m.part)));
        let places: BTreeMap<VReg, u32> = to.collect();
        self.emit_moves(i, &moves, |s, bundle| {
            s.members[bundle].iter().copied().collect()
        })?;
        for &bundle in places.keys() {
            let place = self.place(bundle);
            self.file.take(bundle, &place);
        }
        for (bundle, at) in places {
            self.at[bundle] = at;
            let place = self.place(bundle);
            self.file.put(bundle, &place);
        }
        Some(())
    }

    /// Starts registers that the instruction writes while it reads. They are live at the end of the
    /// previous block in program order, but not on the path to this one. So no range of theirs
    /// starts here.
    fn place_written(&mut self, i: u32) -> Option<()> {
        let mut begin: SmallVec<[VReg; 2]> = SmallVec::new();
        if let Some(m) = self.code.insts.get(i as usize) {
            m.for_each_vreg(|r, access| {
                if access != Access::Use && !self.is_live(r) && self.live.lives_at(r, i * 2) {
                    begin.push(r);
                }
            });
        }
        for r in begin {
            self.place_register(r, Some(i))?;
            self.covering.insert(r);
        }
        Some(())
    }

    /// Processes live ranges that end or start at an instruction, and renames its operands.
    fn inst(&mut self, i: u32, out: &mut VCode) -> Option<()> {
        self.fresh.clear();
        self.dying.clear();
        self.leaving.clear();
        let mut named: SmallVec<[(VReg, VReg); 8]> = SmallVec::new();
        for point in [i * 2, i * 2 + 1] {
            while let Some(&(end, r)) = self.ends.get(self.ended)
                && end <= point
            {
                self.ended += 1;
                self.covering.remove(&r);
                if !self.is_live(r) {
                    continue;
                }
                if end == i * 2 + 1 {
                    // Still read by this instruction.
                    let root = self.root[r];
                    named.push((r, self.name(r, self.at[root])));
                    self.dying.push(self.place(root));
                    self.leaving.push(root);
                }
                self.take(r);
            }
            if let Some(&MInst::Call { routine, .. }) = self.code.insts.get(i as usize)
                && point % 2 == 1
            {
                self.call(routine, i)?;
            }
            while let Some(&(begin, r)) = self.begins.get(self.started)
                && begin <= point
            {
                self.started += 1;
                if !self.is_live(r) {
                    self.place_register(r, Some(i))?;
                }
                self.covering.insert(r);
            }
            if point % 2 == 0 {
                self.place_written(i)?;
            }
        }
        let Some(m) = out.insts.get_mut(i as usize) else {
            return Some(());
        };
        let mut inst = *m;
        inst.map_vregs(|r, access| {
            let ended = named.iter().find(|n| n.0 == r && access == Access::Use);
            match ended {
                Some(n) => n.1,
                None => {
                    let at = self.at[self.root[r]];
                    self.name(r, at)
                }
            }
        });
        *m = inst;
        match self.code.insts.get(i as usize) {
            Some(&MInst::LoadAddress {
                base: Some(base), ..
            }) => self.pinned.push(self.root[base]),
            Some(&MInst::Touch { reg, .. }) => {
                let root = self.root[reg];
                self.pinned.retain(|r| *r != root);
            }
            _ => {}
        }
        Some(())
    }
}
