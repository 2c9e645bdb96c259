//! Bundles: virtual registers that share one place because copies join them and their lives never
//! meet.
//!
//! Bundles are the sets of a union-find forest. A register alone has the ranges that liveness
//! found; where two are joined, the ranges of the bundle that has fewer go into an ordered map of
//! the other, so that each range moves a logarithm of times at most.

use super::tied_operands::{overlays, written};
use crate::mir::liveness::{Liveness, Range, Weak};
use crate::mir::{Access, MInst, Place, Routine, VCode, VReg};
use crate::sized;
use cranelift_bforest::{Map, MapForest};
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityRef, EntitySet, PrimaryMap, SecondaryMap};
use gantry_isa_gen::{Dst, Op};
use smallvec::SmallVec;
use std::collections::HashSet;

/// The most places where two bundles that are joined share points.
const MOST_SHARED: usize = 4;

/// Virtual registers in one place.
#[derive(Clone, Copy, Debug)]
pub struct Bundle {
    /// The register that stands for all.
    pub root: VReg,
    /// The first of the live ranges.
    pub start: u32,
    /// Size in bytes.
    pub bytes: u32,
    /// Alignment in bytes.
    pub align: u32,
    /// Constraint.
    pub place: Place,
}

/// What two bundles share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sharing {
    /// No point.
    Nothing,
    /// Only points where one's value is made lane over lane of the other's.
    Overlay,
    /// Others.
    Meet,
}

/// What is known of a bundle, at its root.
#[derive(Clone)]
struct Root {
    align: u32,
    /// Its place among the bundles.
    order: VReg,
    /// How many ranges.
    count: u32,
    /// The routines that it lives across.
    weak: Weak,
    /// The ranges by start, if registers were joined; else they are the register's own.
    joined: Option<Map<u32, u32>>,
}

/// The register that the answer to a message of one payload comes to.
fn answer(m: &MInst) -> Option<VReg> {
    match m {
        MInst::Op { inst, .. } if matches!(inst.op, Op::Send | Op::Sendc) => match inst.dst {
            Dst::Direct { at, .. } => at.reg.as_grf(),
            _ => None,
        },
        _ => None,
    }
}

/// All bundles of a function.
pub struct Bundles<'a> {
    code: &'a VCode,
    live: &'a Liveness,
    /// The next register towards the root, itself at the root.
    up: SecondaryMap<VReg, VReg>,
    roots: PrimaryMap<VReg, Root>,
    forest: MapForest<u32, u32>,
    /// Those that a message's answer comes to, by their roots.
    answers: EntitySet<VReg>,
}

impl<'a> Bundles<'a> {
    /// One bundle a register, merged over copies in program order.
    pub fn merge(code: &'a VCode, live: &'a Liveness) -> Bundles<'a> {
        let mut b = Bundles {
            code,
            live,
            up: SecondaryMap::with_default(VReg::new(0)),
            roots: PrimaryMap::with_capacity(code.vregs.len()),
            forest: MapForest::new(),
            answers: EntitySet::with_capacity(code.vregs.len()),
        };
        let calls = code.routines.len() > 1;
        b.up.resize(code.vregs.len());
        for (r, d) in &code.vregs {
            b.up[r] = r;
            b.roots.push(Root {
                align: d.align,
                order: r,
                count: live.ranges[r].len() as u32,
                weak: if calls {
                    live.weak[r].clone()
                } else {
                    Weak::new()
                },
                joined: None,
            });
        }
        b.answers.extend(code.insts.iter().filter_map(answer));
        // Bundles that meet meet for good.
        let mut apart: HashSet<(VReg, VReg)> = HashSet::new();
        for m in &code.insts {
            let &MInst::Copy { dst, src } = m else {
                continue;
            };
            let (to, from) = (b.root(dst), b.root(src));
            if to == from || !b.may_share(to, from) {
                continue;
            }
            let (large, small) = if b.roots[to].count >= b.roots[from].count {
                (to, from)
            } else {
                (from, to)
            };
            if apart.contains(&(large, small)) || apart.contains(&(small, large)) {
                continue;
            }
            let sharing = b.sharing(large, small);
            if sharing == Sharing::Meet {
                apart.insert((large, small));
            } else {
                b.join(large, small, sharing);
                b.roots[large].order = b.roots[to].order;
                if b.answers.contains(small) {
                    b.answers.insert(large);
                }
            }
        }
        b
    }

    /// Whether both may be anywhere and are of one size.
    fn may_share(&self, a: VReg, b: VReg) -> bool {
        let (a, b) = (&self.code.vregs[a], &self.code.vregs[b]);
        a.place == Place::Any && b.place == Place::Any && a.bytes == b.bytes
    }

    /// The register that stands for a register's bundle.
    pub fn root(&mut self, r: VReg) -> VReg {
        let mut at = r;
        while self.up[at] != at {
            // Every other register on the way is hung higher.
            self.up[at] = self.up[self.up[at]];
            at = self.up[at];
        }
        at
    }

    /// Where a bundle ends at the latest that has the first `limit` bytes of the file. The answer
    /// to a message of one payload may not lie over the payload where it reaches the file's last
    /// register (PRM, "send": r127 as the return address); no answer reaches it.
    pub(in crate::regalloc) fn limit(&self, root: VReg, limit: u32) -> u32 {
        let file = self.code.grf;
        if self.answers.contains(root) {
            limit.min(file.size() - file.bytes)
        } else {
            limit
        }
    }

    /// Calls `f` on the ranges of a bundle in order while it says to go on.
    fn each(&self, root: VReg, mut f: impl FnMut(Range) -> bool) {
        match &self.roots[root].joined {
            None => {
                self.live.ranges[root].iter().all(|r| f(*r));
            }
            Some(map) => {
                map.iter(&self.forest)
                    .all(|(start, end)| f(Range { start, end }));
            }
        }
    }

    /// The last range of a bundle that begins before a point.
    fn last_before(&self, root: VReg, point: u32) -> Option<Range> {
        match &self.roots[root].joined {
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

    /// Where a routine is.
    fn body(&self, routine: Routine) -> Range {
        let insts = self.code.routine_insts(routine);
        Range {
            start: insts.start as u32 * 2,
            end: insts.end as u32 * 2,
        }
    }

    /// Whether one bundle lives across a routine in which the other lives.
    fn meet_across(&self, a: VReg, b: VReg) -> bool {
        let inside = |across: VReg, other: VReg| {
            self.roots[across].weak.iter().any(|&routine| {
                let body = self.body(routine);
                let last = self.last_before(other, body.end);
                last.is_some_and(|r| r.end > body.start)
            })
        };
        inside(a, b) || inside(b, a)
    }

    /// The bodies of the routines that a bundle lives across, into a list.
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

    /// What two bundles share.
    fn sharing(&mut self, large: VReg, small: VReg) -> Sharing {
        if self.meet_across(large, small) {
            return Sharing::Meet;
        }
        let mut shared: SmallVec<[(Range, Range); 2]> = SmallVec::new();
        self.each(small, |r| {
            let mut end = r.end;
            while shared.len() <= MOST_SHARED
                && let Some(l) = self.last_before(large, end).filter(|l| l.end > r.start)
            {
                shared.push((l, r));
                end = l.start;
            }
            shared.len() <= MOST_SHARED
        });
        let laid_over = |(l, r)| self.laid_over(large, l, small, r);
        match shared.len() {
            0 => Sharing::Nothing,
            n if n <= MOST_SHARED && shared.into_iter().all(laid_over) => Sharing::Overlay,
            _ => Sharing::Meet,
        }
    }

    /// Whether what two ranges share is the making of one's value over the other's.
    fn laid_over(&mut self, a: VReg, x: Range, b: VReg, y: Range) -> bool {
        let (old, new, begin, from, to) = if x.start < y.start {
            (x, y, y.start, a, b)
        } else {
            (y, x, x.start, b, a)
        };
        let end = old.end.min(new.end);
        let first = begin / 2;
        let Some(made) = self.code.insts.get(first as usize).and_then(written) else {
            return false;
        };
        if old.end > new.end || self.root(made) != to || old.start == new.start {
            return false;
        }
        // The register that is read there and is the other's.
        let mut source = None;
        if let Some(m) = self.code.insts.get(first as usize) {
            m.for_each_vreg(|r, access| {
                if access == Access::Use && source.is_none() && r != made {
                    source = Some(r).filter(|&r| self.find(r) == from);
                }
            });
        }
        source.is_some_and(|s| overlays(self.code, made, s, first, end.div_ceil(2) - 1))
    }

    /// [`Bundles::root`] without shortening the way.
    pub(in crate::regalloc) fn find(&self, r: VReg) -> VReg {
        let mut at = r;
        while self.up[at] != at {
            at = self.up[at];
        }
        at
    }

    /// Makes two bundles that do not meet one.
    fn join(&mut self, large: VReg, small: VReg, sharing: Sharing) {
        self.up[small] = large;
        let mut moved: SmallVec<[Range; 8]> = SmallVec::new();
        self.each(small, |r| {
            moved.push(r);
            true
        });
        if let Some(mut map) = self.roots[small].joined.take() {
            map.clear(&mut self.forest);
        }
        let mut map = match self.roots[large].joined.take() {
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
            match sharing {
                Sharing::Nothing => drop(map.insert(r.start, r.end, &mut self.forest, &())),
                _ => self.insert(&mut map, r),
            }
        }
        let align = self.roots[small].align;
        let count = self.roots[small].count;
        let weak = std::mem::take(&mut self.roots[small].weak);
        let root = &mut self.roots[large];
        root.joined = Some(map);
        root.count += count;
        root.align = root.align.max(align);
        root.weak.extend(weak);
        root.weak.sort_unstable();
        root.weak.dedup();
    }

    /// Adds a range, cut where one that is there already takes its place.
    fn insert(&mut self, map: &mut Map<u32, u32>, r: Range) {
        let before = map.get_or_less(r.start, &self.forest, &());
        let start = before.map_or(r.start, |(_, end)| r.start.max(end.min(r.end)));
        let mut end = r.end;
        // What shares points with it further on begins where it is made over it.
        if let Some((key, _)) = map
            .get_or_less(r.end.saturating_sub(1), &self.forest, &())
            .filter(|&(key, _)| key > r.start)
        {
            end = end.min(key);
        }
        if start < end {
            map.insert(start, end, &mut self.forest, &());
        }
    }

    /// The ranges of a bundle, in order, into a list.
    pub fn ranges(&self, root: VReg, out: &mut Vec<Range>) {
        out.clear();
        self.each(root, |r| {
            // What touches is one.
            match out.last_mut() {
                Some(last) if last.end == r.start => last.end = r.end,
                _ => out.push(r),
            }
            true
        });
    }

    /// The bundles that live somewhere, in a fixed order.
    pub fn list(&self) -> Vec<Bundle> {
        // By its place among them, each bundle's root.
        let mut order: SecondaryMap<VReg, PackedOption<VReg>> = sized(self.roots.len());
        for (r, root) in &self.roots {
            if self.up[r] == r {
                order[root.order] = r.into();
            }
        }
        let mut out = Vec::with_capacity(self.roots.len());
        for r in order.values().filter_map(|r| r.expand()) {
            let mut first = None;
            self.each(r, |range| {
                first = Some(range.start);
                false
            });
            let data = &self.code.vregs[r];
            out.extend(first.map(|start| Bundle {
                root: r,
                start,
                bytes: data.bytes,
                align: self.roots[r].align,
                place: data.place,
            }));
        }
        out
    }
}
