//! Splitting: where what lives at once fits, and a register finds no place that is free all its
//! life, values move, and live on as other registers.
//!
//! A scan over the blocks in order, as of a linear-scan allocator that moves what it placed. A
//! bundle begins to live where the placement of whole lives wants it, if it has a place there, else
//! where least is in the way: that moves aside, once, and stays there. If nothing else helps, all
//! that lives is packed anew. Where ways meet that have a value in different places, the edges move
//! it.
//!
//! Needs: [`VCode`] whose demand fits, its liveness, places for most bundles. Makes: the code with
//! copies, a register for each place that a value was in, and their addresses. What callers and
//! subroutines share stays where it is wanted; what lives across a call leaves those places before
//! it, and is in the way of all that the routine has of its own.

mod copy_cycles;
mod occupancy;
mod parallel_moves;

use super::bundles::Bundles;
use crate::mir::insert::{Inserted, insert_into, together};
use crate::mir::liveness::{Liveness, Occurrences};
use crate::mir::loops::Loops;
use crate::mir::{Access, MInst, Place, Routine, VBlock, VCode, VReg, routines};
use cranelift_entity::{EntityRef, EntitySet, PrimaryMap, SecondaryMap};
use occupancy::{Bytes, File, meet, places};
use parallel_moves::Move;
use smallvec::SmallVec;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// How many places are tried from which what is there would move aside.
const WINDOWS: usize = 16;

/// Code after splitting.
pub(in crate::regalloc) struct Split {
    pub(in crate::regalloc) code: VCode,
    /// An address per register.
    pub(in crate::regalloc) address: SecondaryMap<VReg, u32>,
    /// Registers that were in several places.
    pub(in crate::regalloc) splits: u32,
}

/// Places every register in the first `limit` bytes of the file, where `wanted` says by bundle if
/// it can. `None`: not even so.
pub(in crate::regalloc) fn split(
    code: &VCode,
    live: &Liveness,
    bundles: &mut Bundles<'_>,
    wanted: &SecondaryMap<VReg, Option<u32>>,
    limit: u32,
    origin: &mut Vec<u32>,
) -> Option<Split> {
    let mut scan = Scan::new(code, live, bundles, wanted, limit)?;
    let mut out = code.clone();
    for b in code.blocks.keys() {
        scan.block(b, &mut out)?;
    }
    let Scan {
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
    Some(Split {
        code: out,
        address,
        splits,
    })
}

/// A block's live registers' bundles and where they are, in order.
type Places = Vec<(VReg, u32)>;

fn find(places: &Places, root: VReg) -> Option<u32> {
    let n = places.binary_search_by_key(&root, |p| p.0).ok()?;
    places.get(n).map(|p| p.1)
}

struct Scan<'a> {
    code: &'a VCode,
    live: &'a Liveness,
    occurrences: Arc<Occurrences>,
    loops: Loops,
    wanted: &'a SecondaryMap<VReg, Option<u32>>,
    limit: u32,
    /// Bundles that may not be in the file's last register.
    answers: EntitySet<VReg>,
    /// Per register its bundle.
    root: PrimaryMap<VReg, VReg>,
    /// The place of bundles that callers and subroutines share.
    kept: SecondaryMap<VReg, Option<u32>>,
    /// Per routine those that it names.
    own: SecondaryMap<Routine, BTreeSet<(VReg, u32)>>,
    /// Per routine those that run while it runs.
    running: SecondaryMap<Routine, Vec<Routine>>,
    /// Per routine what its callers have across its calls.
    barred: SecondaryMap<Routine, Option<File>>,
    routines: Vec<Routine>,
    /// Per bundle the alignment.
    align: SecondaryMap<VReg, u32>,
    /// Registers by where a range of theirs begins and ends, in order; how many of those are behind
    /// us.
    begins: Vec<(u32, VReg)>,
    ends: Vec<(u32, VReg)>,
    begun: usize,
    ended: usize,
    /// Registers with a range that has the point, on whatever way.
    covering: BTreeSet<VReg>,
    /// Of bundles that live, the registers that do, and the place.
    members: SecondaryMap<VReg, SmallVec<[VReg; 1]>>,
    at: SecondaryMap<VReg, u32>,
    file: File,
    /// Bundles whose address is in use, and those that began at this instruction.
    pinned: SmallVec<[VReg; 4]>,
    fresh: SmallVec<[VReg; 4]>,
    /// Where registers were that end at this instruction: free behind it.
    dying: SmallVec<[Bytes; 4]>,
    /// Their bundles.
    leaving: SmallVec<[VReg; 4]>,
    starts: Vec<Option<Places>>,
    exits: Vec<Option<Places>>,
    /// Per register its name at each place that it was in.
    names: SecondaryMap<VReg, SmallVec<[(u32, VReg); 1]>>,
    vregs: PrimaryMap<VReg, crate::mir::VRegData>,
    address: SecondaryMap<VReg, u32>,
    new: Vec<Inserted>,
}

impl<'a> Scan<'a> {
    fn new(
        code: &'a VCode,
        live: &'a Liveness,
        bundles: &mut Bundles<'_>,
        wanted: &'a SecondaryMap<VReg, Option<u32>>,
        limit: u32,
    ) -> Option<Scan<'a>> {
        let mut root = PrimaryMap::with_capacity(code.vregs.len());
        let mut align: SecondaryMap<VReg, u32> = SecondaryMap::with_capacity(code.vregs.len());
        let (mut begins, mut ends) = (Vec::new(), Vec::new());
        let mut answers = EntitySet::new();
        for (r, data) in &code.vregs {
            let to = bundles.root(r);
            root.push(to);
            align[to] = align[to].max(data.align);
            if bundles.limit(to, limit) < limit {
                answers.insert(to);
            }
            begins.extend(live.ranges[r].iter().map(|x| (x.start, r)));
            ends.extend(live.ranges[r].iter().map(|x| (x.end, r)));
        }
        let shared = routines::shared(code);
        let mut kept: SecondaryMap<VReg, Option<u32>> = SecondaryMap::new();
        for r in code.vregs.keys().filter(|r| shared[*r]) {
            if !live.ranges[r].is_empty() {
                kept[root[r]] = Some(wanted[root[r]]?);
            }
        }
        let mut own: SecondaryMap<Routine, BTreeSet<(VReg, u32)>> = SecondaryMap::new();
        for routine in code.routines.keys().skip(1) {
            for m in code.insts.get(code.routine_insts(routine)).unwrap_or(&[]) {
                m.for_each_vreg(|r, _| own[routine].extend(kept[root[r]].map(|at| (root[r], at))));
            }
        }
        // What is hardest to place first.
        begins.sort_by_key(|&(point, r)| {
            let data = &code.vregs[r];
            let anywhere = data.place == Place::Any && kept[root[r]].is_none();
            (point, anywhere, Reverse(data.bytes.max(data.align)), r)
        });
        ends.sort_unstable();
        Some(Scan {
            kept,
            own,
            running: routines::running(code),
            barred: SecondaryMap::new(),
            routines: routines::of_blocks(code),
            code,
            live,
            occurrences: live.occurrences(code),
            loops: Loops::new(code),
            wanted,
            limit,
            answers,
            root,
            align,
            begins,
            ends,
            begun: 0,
            ended: 0,
            covering: BTreeSet::new(),
            members: SecondaryMap::new(),
            at: SecondaryMap::new(),
            file: File::new(code.grf),
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

    /// The register that is `r` while its bundle is at an address.
    fn name(&mut self, r: VReg, at: u32) -> VReg {
        if let Some(n) = self.names[r].iter().find(|n| n.0 == at) {
            return n.1;
        }
        let name = if self.names[r].is_empty() {
            r
        } else {
            let mut data = self.code.vregs[r];
            data.place = Place::Any;
            self.vregs.push(data)
        };
        self.names[r].push((at, name));
        self.address[name] = at;
        name
    }

    fn bytes(&self, root: VReg) -> u32 {
        self.code.vregs[root].bytes
    }

    fn place(&self, root: VReg) -> Bytes {
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

    /// Where a bundle may be.
    fn within(&self, root: VReg) -> Bytes {
        let file = self.code.grf.size();
        if let Some(at) = self.kept[root] {
            return at..at + self.bytes(root);
        }
        match self.code.vregs[root].place {
            Place::Any if self.answers.contains(root) => 0..self.limit - self.code.grf.bytes,
            Place::Any => 0..self.limit,
            Place::AtLeast(first) => first..file,
            Place::Fixed(at) => at..at + self.bytes(root),
        }
    }

    /// Whether a bundle that lives may be moved before the instruction.
    fn moves(&self, root: VReg) -> bool {
        self.code.vregs[root].place == Place::Any
            && self.kept[root].is_none()
            && self.members[root].len() == 1
            && !self.pinned.contains(&root)
            && !self.fresh.contains(&root)
    }

    /// Walks a block and what leads on to blocks that were walked before.
    fn block(&mut self, b: VBlock, out: &mut VCode) -> Option<()> {
        let code = self.code;
        let data = &code.blocks[b];
        self.enter(b)?;
        for i in data.start..data.end {
            self.inst(i as u32, out)?;
        }
        let mut exit: Places = Vec::new();
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
        // Places that nobody asks for any more.
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

    /// Everything is where the block before has it that is in most loops; the other edges move it.
    fn enter(&mut self, b: VBlock) -> Option<()> {
        let code = self.code;
        let data = &code.blocks[b];
        let point = data.start as u32 * 2;
        self.file = match &self.barred[self.routines[b.index()]] {
            Some(barred) => barred.emptied(),
            None => File::new(code.grf),
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
        let mut coming: Vec<VReg> = self.covering.iter().copied().collect();
        let begin = self.begins.iter().skip(self.begun);
        coming.extend(begin.take_while(|x| x.0 <= point).map(|x| x.1));
        coming.retain(|&r| {
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
        let mut homeless = Vec::new();
        for r in coming {
            match find(&known, self.root[r]) {
                Some(at) => {
                    self.covering.insert(r);
                    self.put(r, at);
                }
                None => homeless.push(r),
            }
        }
        homeless.sort_by_key(|&r| {
            let data = &code.vregs[r];
            (
                data.place == Place::Any,
                Reverse(data.bytes.max(data.align)),
                r,
            )
        });
        for r in homeless {
            self.begin(r, None)?;
            self.covering.insert(r);
        }
        let mut start: Places = Vec::new();
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

    /// Moves, at the end of one block, what the next has elsewhere.
    fn edge(&mut self, from: VBlock, exit: &Places, to: VBlock, start: &Places) -> Option<()> {
        let mut moves = Vec::new();
        for &(who, to) in start {
            let from = find(exit, who)?;
            let bytes = self.bytes(who);
            moves.push(Move {
                who,
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
        // What has left its place on the way leaves it to others.
        let mut taken = self.file.emptied();
        for &(who, at) in start {
            taken.put(who, &(at..at + self.bytes(who)));
        }
        let moves = self.order(moves, &taken)?;
        // Whoever of the bundle comes into the block.
        self.copies(at, &moves, |s, who| s.coming(who, block))
    }

    /// The registers of a bundle that come with a value into a block.
    fn coming(&self, who: VReg, block: VBlock) -> SmallVec<[VReg; 2]> {
        let start = self.code.blocks[block].start as u32;
        let members = self.covering.iter().copied();
        members
            .filter(|&r| self.root[r] == who)
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

    /// Places a register that begins to live: at an instruction, or, without one, where a block
    /// begins that nothing before leads to.
    fn begin(&mut self, r: VReg, at: Option<u32>) -> Option<()> {
        let root = self.root[r];
        if !self.members[root].is_empty() {
            // Laid over another of its bundle.
            self.members[root].push(r);
            return Some(());
        }
        let (bytes, align) = (self.bytes(root), self.align[root]);
        let within = self.within(root);
        if let Place::Fixed(to) = self.code.vregs[root].place
            && at.is_none_or(|i| i == 0)
        {
            // What is there when the thread starts may overlap: nobody writes it.
            self.put(r, to);
            return Some(());
        }
        let place = |at: u32| at..at + bytes;
        // What went over into it just now leaves its place to it.
        let last = Some(self.at[root]).filter(|_| self.leaving.contains(&root));
        let found = last
            .into_iter()
            .chain(self.wanted[root])
            .find(|&at| self.file.is_free(&place(at)))
            .or_else(|| self.file.find((bytes, align), &within, &[]))
            .or_else(|| self.aside(root, &within, at?))
            .or_else(|| self.pack(root, &within, at?))?;
        self.put(r, found);
        self.fresh.push(root);
        Some(())
    }

    /// How hard a bundle is to place.
    fn size(&self, root: VReg) -> u32 {
        self.bytes(root).max(self.align[root])
    }

    /// What it costs to move everything out of some bytes, if all of it moves, and is smaller than
    /// a bundle, where there is one.
    fn cost(&self, file: &File, window: &Bytes, than: Option<VReg>) -> Option<u32> {
        if file.is_barred(window) {
            return None;
        }
        let mut cost = 0;
        for who in file.who(window) {
            if !self.moves(who) || than.is_some_and(|t| self.size(who) >= self.size(t)) {
                return None;
            }
            // A copy moves up to two GRFs.
            cost += self.bytes(who).div_ceil(2 * self.code.grf.bytes);
        }
        Some(cost)
    }

    /// Moves away, before an instruction, what is least in the way of a bundle; and, out of the way
    /// of that, what is smaller.
    fn aside(&mut self, root: VReg, within: &Bytes, i: u32) -> Option<u32> {
        let (bytes, align) = (self.bytes(root), self.align[root]);
        let windows = places((bytes, align), within).map(|at| at..at + bytes);
        let mut windows: Vec<(u32, u32)> = windows
            .filter_map(|w| Some((self.cost(&self.file, &w, None)?, w.start)))
            .collect();
        windows.sort_unstable();
        for (_, at) in windows.into_iter().take(WINDOWS) {
            if let Some(moves) = self.clear(&(at..at + bytes)) {
                self.carry_out(i, moves)?;
                return Some(at);
            }
        }
        None
    }

    /// The moves that clear some bytes.
    fn clear(&self, window: &Bytes) -> Option<Vec<Move>> {
        let mut file = self.file.clone();
        let mut but = self.dying.to_vec();
        but.push(window.clone());
        let mut goals: BTreeMap<VReg, u32> = BTreeMap::new();
        // By size.
        let mut out: BTreeSet<(u32, Reverse<VReg>)> = BTreeSet::new();
        for who in file.who(window) {
            file.take(who, &self.place(who));
            out.insert((self.size(who), Reverse(who)));
        }
        while let Some((_, Reverse(who))) = out.pop_last() {
            let (bytes, align) = (self.bytes(who), self.align[who]);
            let within = self.within(who);
            let free = file.find((bytes, align), &within, &but);
            let to = free.or_else(|| {
                let windows = places((bytes, align), &within).map(|at| at..at + bytes);
                let windows = windows.filter(|w| !but.iter().any(|b| meet(b, w)));
                let best = windows
                    .filter_map(|w| Some((self.cost(&file, &w, Some(who))?, w.start)))
                    .min()?;
                Some(best.1)
            })?;
            let place = to..to + bytes;
            for smaller in file.who(&place) {
                let at = goals.remove(&smaller).unwrap_or(self.at[smaller]);
                file.take(smaller, &(at..at + self.bytes(smaller)));
                out.insert((self.size(smaller), Reverse(smaller)));
            }
            file.put(who, &place);
            goals.insert(who, to);
        }
        self.ordered(goals)
    }

    /// Moves of bundles to their places, at once.
    fn ordered(&self, goals: BTreeMap<VReg, u32>) -> Option<Vec<Move>> {
        let mut taken = self.file.clone();
        let mut moves = Vec::new();
        for &who in goals.keys() {
            taken.take(who, &self.place(who));
        }
        for (who, to) in goals {
            let bytes = self.bytes(who);
            taken.put(who, &(to..to + bytes));
            moves.push(Move {
                who,
                part: 0,
                from: self.at[who],
                to,
                bytes,
            });
        }
        // By way of what ends here nothing goes.
        for d in &self.dying {
            taken.put(VReg::from_u32(0), d);
        }
        self.order(moves, &taken)
    }

    /// Packs everything anew before an instruction, so that a bundle has a place.
    fn pack(&mut self, root: VReg, within: &Bytes, i: u32) -> Option<u32> {
        let (bytes, align) = (self.bytes(root), self.align[root]);
        let mut fixed = self.file.emptied();
        let mut order: Vec<VReg> = Vec::new();
        for w in self.file.who(&(0..self.code.grf.size())) {
            if self.moves(w) {
                order.push(w)
            } else {
                fixed.put(w, &self.place(w))
            }
        }
        order.sort_by_key(|&w| (Reverse(self.size(w)), self.at[w], w));
        // Where most of it is free behind the instruction alone.
        let mut goals: Vec<(u32, u32)> = places((bytes, align), within)
            .map(|at| at..at + bytes)
            .filter(|place| fixed.is_free(place))
            .map(|place| {
                let shared = |d: &Bytes| {
                    let end = d.end.min(place.end);
                    end.saturating_sub(d.start.max(place.start))
                };
                let most = self.dying.iter().map(shared).sum::<u32>();
                (u32::MAX - most, place.start)
            })
            .collect();
        goals.sort_unstable();
        for (_, at) in goals.into_iter().take(WINDOWS) {
            let mut file = fixed.clone();
            file.put(root, &(at..at + bytes));
            let place = |&who: &VReg| {
                let shape = (self.bytes(who), self.align[who]);
                let to = file.find(shape, &self.within(who), &self.dying)?;
                file.put(who, &(to..to + shape.0));
                Some((who, to))
            };
            let all: Option<BTreeMap<VReg, u32>> = order.iter().map(place).collect();
            if let Some(moves) = all.and_then(|all| self.ordered(all)) {
                self.carry_out(i, moves)?;
                return Some(at);
            }
        }
        None
    }

    /// Before a call: what lives across it leaves the places that routines share which will run,
    /// and is in the way of what they have of their own.
    fn call(&mut self, routine: Routine, i: u32) -> Option<()> {
        let code = self.code;
        let all: Vec<VReg> = self.file.who(&(0..code.grf.size())).into_iter().collect();
        let shared = self.running[routine].iter().flat_map(|r| &self.own[*r]);
        let but: Vec<Bytes> = shared.map(|&(r, at)| at..at + self.bytes(r)).collect();
        // What moves does so before all that stands with the call, where what that names last still
        // lives.
        let with = together(code, i as usize, |_| false)..i as usize;
        let last = code.insts.get(with).unwrap_or(&[]).iter();
        let last = last.filter_map(|m| match *m {
            MInst::Touch { reg, .. } if !self.is_live(reg) => Some(self.place(self.root[reg])),
            _ => None,
        });
        let taken: Vec<Bytes> = but.iter().cloned().chain(last).collect();
        let mut file = self.file.clone();
        let mut moves = Vec::new();
        for who in all {
            let place = self.place(who);
            if !but.iter().any(|b| meet(b, &place)) || self.kept[who].is_some() {
                continue;
            }
            if !self.moves(who) {
                return None;
            }
            let shape = (self.bytes(who), self.align[who]);
            let to = file.find(shape, &self.within(who), &taken)?;
            file.put(who, &(to..to + shape.0));
            moves.push(Move {
                who,
                part: 0,
                from: place.start,
                to,
                bytes: shape.0,
            });
        }
        self.carry_out(i, moves)?;
        // What the routine names lives in it too.
        let mut file = self.file.clone();
        for &(who, _) in &self.own[routine] {
            if !self.members[who].is_empty() {
                file.take(who, &self.place(who));
            }
        }
        let barred = self.barred[routine].get_or_insert_with(|| File::new(code.grf));
        barred.bar(&file);
        Some(())
    }

    /// Moves bundles before an instruction.
    fn carry_out(&mut self, i: u32, moves: Vec<Move>) -> Option<()> {
        // Between a call and what stands right behind it is the routine.
        let call = matches!(self.code.insts.get(i as usize), Some(MInst::Call { .. }));
        if !moves.is_empty()
            && !call
            && together(self.code, i as usize, |r| self.kept[self.root[r]].is_some()) != i as usize
        {
            return None;
        }
        // The last of a bundle's moves, or its parts', is to its place.
        let to = moves.iter().map(|m| (m.who, m.to.wrapping_sub(m.part)));
        let places: BTreeMap<VReg, u32> = to.collect();
        self.copies(i, &moves, |s, who| s.members[who].iter().copied().collect())?;
        for &who in places.keys() {
            let place = self.place(who);
            self.file.take(who, &place);
        }
        for (who, at) in places {
            self.at[who] = at;
            let place = self.place(who);
            self.file.put(who, &place);
        }
        Some(())
    }

    /// What lives to the end of the block before, but not on the way here, and is written while the
    /// instruction reads, begins without a range that does.
    fn begin_anew(&mut self, i: u32) -> Option<()> {
        let mut begin: SmallVec<[VReg; 2]> = SmallVec::new();
        if let Some(m) = self.code.insts.get(i as usize) {
            m.for_each_vreg(|r, access| {
                if access != Access::Use && !self.is_live(r) && self.live.lives_at(r, i * 2) {
                    begin.push(r);
                }
            });
        }
        for r in begin {
            self.begin(r, Some(i))?;
            self.covering.insert(r);
        }
        Some(())
    }

    /// Ends and begins what does at an instruction, and names its registers.
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
                    // It is read here still.
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
            while let Some(&(begin, r)) = self.begins.get(self.begun)
                && begin <= point
            {
                self.begun += 1;
                if !self.is_live(r) {
                    self.begin(r, Some(i))?;
                }
                self.covering.insert(r);
            }
            if point % 2 == 0 {
                self.begin_anew(i)?;
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
