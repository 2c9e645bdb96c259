//! Bundles are sets of virtual registers that share one place. Copies connect them, and their live
//! ranges do not interfere.
//!
//! Bundles are the sets of a union-find forest. A single register has the ranges that liveness
//! analysis found. On a merge, the ranges of the bundle with fewer of them move into an ordered map
//! of the other. So each range moves a logarithmic number of times at most.

use super::tied_operands::{MAX_INSTS, can_tie, written};
use crate::graph::union_find::UnionFind;
use crate::mir::liveness::{Liveness, Range, RoutineList};
use crate::mir::loops::Loops;
use crate::mir::{Access, MInst, RegConstraint, Routine, VBlock, VCode, VReg};
use crate::sized;
use cranelift_bforest::{Map, MapForest};
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, PrimaryMap, SecondaryMap};
use gantry_isa_gen::{Dst, Op};
use smallvec::SmallVec;
use std::collections::HashSet;

/// Maximum number of overlaps of two bundles that may be merged.
const MAX_OVERLAPS: usize = 4;

/// Virtual registers that share one place.
#[derive(Clone, Copy, Debug)]
pub struct Bundle {
    /// Representative of the bundle.
    pub root: VReg,
    /// Start of the first live range.
    pub start: u32,
    /// Size in bytes.
    pub bytes: u32,
    /// Alignment in bytes.
    pub align: u32,
    /// Placement constraint.
    pub place: RegConstraint,
}

/// Overlap of the live ranges of two bundles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Overlap {
    /// No common point.
    None,
    /// Overlap only where one value is written lane by lane over the other.
    Tied,
    /// Any other overlap.
    Interference,
}

/// Data of a bundle, kept at its root.
#[derive(Clone)]
struct BundleData {
    align: u32,
    /// Position in the order of bundles.
    order: VReg,
    /// Number of ranges.
    count: u32,
    /// Routines that the bundle is live across.
    weak: RoutineList,
    /// Ranges by start, if registers were merged. Otherwise they are the register's own.
    merged: Option<Map<u32, u32>>,
}

/// Returns the destination of a `send` with one payload.
fn response(m: &MInst) -> Option<VReg> {
    match m {
        MInst::Op { inst, .. } if matches!(inst.op, Op::Send | Op::Sendc) => match inst.dst {
            Dst::Direct { at, .. } => at.reg.as_grf(),
            _ => None,
        },
        _ => None,
    }
}

/// Executions of a loop's block per execution of the block around it, as a power of two.
const LOG2_FREQUENCY: u32 = 3;
/// Maximal loop depth that counts.
const MAX_DEPTH: u32 = 8;

/// Returns the destinations and sources of all copies: the large and frequent ones first, else in
/// the order of the program.
///
/// Two registers that a third one is copied to or from may interfere with each other. Then one of
/// the copies stays, and that is the one that is tried last.
fn copies(code: &VCode) -> Vec<(VReg, VReg)> {
    let mut all: Vec<(VBlock, VReg, VReg)> = Vec::new();
    for (block, data) in &code.blocks {
        for m in &code.insts[data.start..data.end] {
            if let &MInst::Copy { dst, src } = m {
                all.push((block, dst, src));
            }
        }
    }
    if all.len() > 1 && code.blocks.len() > 1 {
        let loops = Loops::new(code);
        let cost = |&(block, dst, _): &(VBlock, VReg, VReg)| {
            let depth = loops.depth(block).min(MAX_DEPTH);
            u64::from(code.vregs[dst].bytes) << (LOG2_FREQUENCY * depth)
        };
        all.sort_by_key(|c| std::cmp::Reverse(cost(c)));
    }
    all.into_iter().map(|(_, dst, src)| (dst, src)).collect()
}

/// All bundles of a function.
pub struct Bundles<'a> {
    code: &'a VCode,
    live: &'a Liveness,
    sets: UnionFind<VReg>,
    roots: PrimaryMap<VReg, BundleData>,
    forest: MapForest<u32, u32>,
    /// Roots of bundles that a message's response is written to.
    responses: EntitySet<VReg>,
    /// Ranges in which a result is in the place of an operand that is not dead yet, and its bytes.
    reused: Vec<(Range, u32)>,
}

impl<'a> Bundles<'a> {
    /// Starts with one bundle per register, then merges over copies, the costly ones first.
    pub fn merge(code: &'a VCode, live: &'a Liveness) -> Bundles<'a> {
        let mut b = Bundles {
            code,
            live,
            sets: UnionFind::new(code.vregs.len()),
            roots: PrimaryMap::with_capacity(code.vregs.len()),
            forest: MapForest::new(),
            responses: EntitySet::with_capacity(code.vregs.len()),
            reused: Vec::new(),
        };
        let calls = code.routines.len() > 1;
        for (r, d) in &code.vregs {
            b.roots.push(BundleData {
                align: d.align,
                order: r,
                count: live.ranges[r].len() as u32,
                weak: if calls {
                    live.weak[r].clone()
                } else {
                    RoutineList::new()
                },
                merged: None,
            });
        }
        b.responses.extend(code.insts.iter().filter_map(response));
        // Interference is permanent.
        let mut interfering: HashSet<(VReg, VReg)> = HashSet::new();
        for (dst, src) in copies(code) {
            let (to, from) = (b.root(dst), b.root(src));
            if to == from || !b.may_merge(to, from) {
                continue;
            }
            let (large, small) = if b.roots[to].count >= b.roots[from].count {
                (to, from)
            } else {
                (from, to)
            };
            if interfering.contains(&(large, small)) || interfering.contains(&(small, large)) {
                continue;
            }
            let overlap = b.overlap(large, small);
            if overlap == Overlap::Interference {
                interfering.insert((large, small));
            } else {
                b.merge_roots(to, large, small, overlap);
            }
        }
        b
    }

    /// Starts like [`Bundles::merge`]. Then merges results with operands that die where they are
    /// written (*copy kills*), near instructions where more than `limit` bytes are live.
    ///
    /// A result that an instruction writes while it reads is live together with its operands. It
    /// may still have the place of one of them, lane over lane.
    pub(in crate::regalloc) fn merge_tied(
        code: &'a VCode,
        live: &'a Liveness,
        limit: u32,
    ) -> Bundles<'a> {
        let mut b = Bundles::merge(code, live);
        // Instructions from here on have more live bytes within the reach of a tie.
        let mut high = 0;
        for (i, m) in code.insts.iter().enumerate() {
            let reach = (i + MAX_INSTS as usize).min(live.demand.len());
            while high < reach && (high < i || live.demand[high].peak() <= limit) {
                high += 1;
            }
            if high < reach && matches!(m, MInst::Op { starts: true, .. }) {
                b.tie(i, m);
            }
        }
        b
    }

    /// Returns true if copy kills may make code fit that does not fit without them. At each point
    /// at most one result is in an operand's place.
    pub(in crate::regalloc) fn may_fit_tied(code: &VCode, live: &Liveness, limit: u32) -> bool {
        let each = code.insts.iter().zip(&live.demand);
        let mut high = each.filter(|(_, d)| d.peak() > limit);
        high.all(|(m, d)| {
            written(m).is_some_and(|r| d.peak() <= limit.saturating_add(code.vregs[r].bytes))
        })
    }

    /// Merges the result of instruction `i` with an operand in whose place it may be written.
    fn tie(&mut self, i: usize, m: &MInst) {
        let Some(to) = written(m) else { return };
        let bytes = self.code.vregs[to].bytes;
        let mut from: SmallVec<[VReg; 4]> = SmallVec::new();
        m.for_each_vreg(|r, access| {
            let dies = |r: VReg| {
                let ranges = &self.live.ranges[r];
                let n = ranges.partition_point(|x| x.end <= i as u32 * 2);
                ranges
                    .get(n)
                    .is_some_and(|x| x.end < (i as u32 + MAX_INSTS) * 2)
            };
            let same = access == Access::Use && r != to && self.code.vregs[r].bytes == bytes;
            if same && dies(r) {
                from.push(r);
            }
        });
        for r in from {
            let (a, b) = (self.root(to), self.root(r));
            if a == b || !self.may_merge(a, b) {
                continue;
            }
            let (large, small) = if self.roots[a].count >= self.roots[b].count {
                (a, b)
            } else {
                (b, a)
            };
            if self.overlap(large, small) == Overlap::Tied {
                self.merge_roots(a, large, small, Overlap::Tied);
                return;
            }
        }
    }

    /// Merges bundle `small` into `large`. The result has the order of `to`, which is one of them.
    fn merge_roots(&mut self, to: VReg, large: VReg, small: VReg, overlap: Overlap) {
        self.join(large, small, overlap);
        self.roots[large].order = self.roots[to].order;
        if self.responses.contains(small) {
            self.responses.insert(large);
        }
    }

    /// Takes the bytes of results in the places of operands out of the bytes that are live before
    /// and after each instruction. Returns the larger of the two for each.
    pub(in crate::regalloc) fn least(&self) -> Vec<u32> {
        let mut delta = vec![0i64; self.code.insts.len() * 2 + 2];
        for &(range, bytes) in &self.reused {
            for (point, change) in [(range.start, 1), (range.end, -1)] {
                if let Some(d) = delta.get_mut(point as usize) {
                    *d += i64::from(bytes) * change;
                }
            }
        }
        let mut reused = 0;
        let each = self.live.demand.iter().zip(delta.chunks(2));
        let least = each.map(|(d, delta)| {
            let mut of = |bytes: u32, change: Option<&i64>| {
                reused += change.copied().unwrap_or(0);
                (i64::from(bytes) - reused).max(0) as u32
            };
            let before = of(d.before, delta.first());
            before.max(of(d.after, delta.get(1)))
        });
        least.collect()
    }

    /// Returns true if two registers have no placement constraint and the same size.
    fn may_merge(&self, a: VReg, b: VReg) -> bool {
        let (a, b) = (&self.code.vregs[a], &self.code.vregs[b]);
        a.constraint == RegConstraint::Any
            && b.constraint == RegConstraint::Any
            && a.bytes == b.bytes
    }

    /// Returns the root of a register's bundle, and compresses the path.
    pub fn root(&mut self, r: VReg) -> VReg {
        self.sets.find(r)
    }

    /// Returns the end of the bytes that a bundle may use, out of the first `limit`. A response
    /// that reaches the file's last register may not overlap a single payload (PRM, "send": r127 as
    /// the return address). Therefore no response uses that register.
    pub(in crate::regalloc) fn limit(&self, root: VReg, limit: u32) -> u32 {
        let file = self.code.grf;
        if self.responses.contains(root) {
            limit.min(file.size() - file.bytes)
        } else {
            limit
        }
    }

    /// Calls `f` on the ranges of a bundle in order, until it returns false.
    fn for_each_range(&self, root: VReg, mut f: impl FnMut(Range) -> bool) {
        match &self.roots[root].merged {
            None => {
                self.live.ranges[root].iter().all(|r| f(*r));
            }
            Some(map) => {
                map.iter(&self.forest)
                    .all(|(start, end)| f(Range { start, end }));
            }
        }
    }

    /// Returns the last range of a bundle that starts before a point.
    fn last_before(&self, root: VReg, point: u32) -> Option<Range> {
        match &self.roots[root].merged {
            None => {
                let list = &self.live.ranges[root];
                let n = list.partition_point(|r| r.start < point);
                n.checked_sub(1).and_then(|n| list.get(n)).copied()
            }
            Some(map) => {
                let (start, end) = map.get_or_less(point.checked_sub(1)?, &self.forest, &())?;
                Some(Range { start, end })
            }
        }
    }

    /// Returns the program points of a routine.
    fn body(&self, routine: Routine) -> Range {
        let insts = self.code.routine_insts(routine);
        Range {
            start: insts.start as u32 * 2,
            end: insts.end as u32 * 2,
        }
    }

    /// Returns true if one bundle is live across a routine in which the other is live.
    fn interfere_across_calls(&self, a: VReg, b: VReg) -> bool {
        let inside = |across: VReg, other: VReg| {
            self.roots[across].weak.iter().any(|&routine| {
                let body = self.body(routine);
                let last = self.last_before(other, body.end);
                last.is_some_and(|r| r.end > body.start)
            })
        };
        inside(a, b) || inside(b, a)
    }

    /// Writes the bodies of the routines that a bundle is live across to a list.
    pub fn weak(&self, root: VReg, out: &mut Vec<Range>) {
        out.clear();
        for &routine in &self.roots[root].weak {
            let body = self.body(routine);
            match out.last_mut() {
                Some(last) if last.end == body.start => last.end = body.end,
                _ => out.push(body),
            }
        }
    }

    /// Computes the overlap of two bundles.
    fn overlap(&mut self, large: VReg, small: VReg) -> Overlap {
        if self.interfere_across_calls(large, small) {
            return Overlap::Interference;
        }
        let mut shared: SmallVec<[(Range, Range); 2]> = SmallVec::new();
        self.for_each_range(small, |r| {
            let mut end = r.end;
            while shared.len() <= MAX_OVERLAPS
                && let Some(l) = self.last_before(large, end).filter(|l| l.end > r.start)
            {
                shared.push((l, r));
                end = l.start;
            }
            shared.len() <= MAX_OVERLAPS
        });
        let is_tied = |(l, r)| self.is_tied(large, l, small, r);
        match shared.len() {
            0 => Overlap::None,
            n if n <= MAX_OVERLAPS && shared.into_iter().all(is_tied) => Overlap::Tied,
            _ => Overlap::Interference,
        }
    }

    /// Returns true if two ranges overlap only where one value is written over the other.
    fn is_tied(&self, a: VReg, x: Range, b: VReg, y: Range) -> bool {
        let begin = x.start.max(y.start);
        let first = begin / 2;
        let Some(made) = self.code.insts.get(first as usize).and_then(written) else {
            return false;
        };
        // At the start of a block, an operand's range and that of a result may start at one point.
        let is_new = |start: u32, root: VReg| start == begin && self.find(made) == root;
        let (old, new, from) = if is_new(y.start, b) {
            (x, y, a)
        } else if is_new(x.start, a) {
            (y, x, b)
        } else {
            return false;
        };
        let end = old.end.min(new.end);
        if old.end > new.end {
            return false;
        }
        // Register of the other bundle that the instruction reads.
        let mut source = None;
        if let Some(m) = self.code.insts.get(first as usize) {
            m.for_each_vreg(|r, access| {
                if access == Access::Use && source.is_none() && r != made {
                    source = Some(r).filter(|&r| self.find(r) == from);
                }
            });
        }
        source.is_some_and(|s| can_tie(self.code, made, s, first, end.div_ceil(2) - 1))
    }

    /// Returns the root like [`Bundles::root`], without compressing the path.
    pub(in crate::regalloc) fn find(&self, r: VReg) -> VReg {
        self.sets.root(r)
    }

    /// Merges two bundles that do not interfere.
    fn join(&mut self, large: VReg, small: VReg, overlap: Overlap) {
        self.sets.union(large, small);
        let mut moved: SmallVec<[Range; 8]> = SmallVec::new();
        self.for_each_range(small, |r| {
            moved.push(r);
            true
        });
        if let Some(mut map) = self.roots[small].merged.take() {
            map.clear(&mut self.forest);
        }
        let mut map = match self.roots[large].merged.take() {
            Some(map) => map,
            None => {
                let mut map = Map::new();
                for r in &self.live.ranges[large] {
                    map.insert(r.start, r.end, &mut self.forest, &());
                }
                map
            }
        };
        for r in moved {
            match overlap {
                Overlap::None => drop(map.insert(r.start, r.end, &mut self.forest, &())),
                _ => self.insert(large, &mut map, r),
            }
        }
        let align = self.roots[small].align;
        let count = self.roots[small].count;
        let weak = std::mem::take(&mut self.roots[small].weak);
        let root = &mut self.roots[large];
        root.merged = Some(map);
        root.count += count;
        root.align = root.align.max(align);
        root.weak.extend(weak);
        root.weak.sort_unstable();
        root.weak.dedup();
    }

    /// Adds a range, cut where existing ranges overlap it.
    fn insert(&mut self, root: VReg, map: &mut Map<u32, u32>, r: Range) {
        let before = map.get_or_less(r.start, &self.forest, &());
        let start = before.map_or(r.start, |(_, end)| r.start.max(end.min(r.end)));
        let mut end = r.end;
        // A later range that overlaps this one starts where its value is written over it.
        if let Some((key, _)) = map
            .get_or_less(r.end.saturating_sub(1), &self.forest, &())
            .filter(|&(key, _)| key > r.start)
        {
            end = end.min(key);
        }
        let bytes = self.code.vregs[root].bytes;
        let cut = [(r.start, start.min(r.end)), (end.max(start), r.end)];
        for (start, end) in cut.into_iter().filter(|c| c.0 < c.1) {
            self.reused.push((Range { start, end }, bytes));
        }
        if start < end {
            map.insert(start, end, &mut self.forest, &());
        }
    }

    /// Writes the ranges of a bundle to a list, in order.
    pub fn ranges(&self, root: VReg, out: &mut Vec<Range>) {
        out.clear();
        self.for_each_range(root, |r| {
            // Adjacent ranges are merged.
            match out.last_mut() {
                Some(last) if last.end == r.start => last.end = r.end,
                _ => out.push(r),
            }
            true
        });
    }

    /// Returns the bundles with a live range, in a fixed order.
    pub fn list(&self) -> Vec<Bundle> {
        // Root of each bundle, by position in the order.
        let mut order: SecondaryMap<VReg, PackedOption<VReg>> = sized(self.roots.len());
        for (r, root) in &self.roots {
            if self.sets.is_root(r) {
                order[root.order] = r.into();
            }
        }
        let mut out = Vec::with_capacity(self.roots.len());
        for r in order.values().filter_map(|r| r.expand()) {
            let mut first = None;
            self.for_each_range(r, |range| {
                first = Some(range.start);
                false
            });
            let data = &self.code.vregs[r];
            out.extend(first.map(|start| Bundle {
                root: r,
                start,
                bytes: data.bytes,
                align: self.roots[r].align,
                place: data.constraint,
            }));
        }
        out
    }
}
