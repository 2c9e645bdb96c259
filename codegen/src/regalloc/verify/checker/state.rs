//! Contents of every byte of the GRF file and of scratch, as sets of values' bytes.

use crate::mir::VReg;
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// Values that a run of bytes holds, in order. Each has the distance of the run's bytes from its
/// own: byte `at` holds byte `at - delta` of the value.
pub(super) type ValueSet = SmallVec<[(VReg, i64); 2]>;

/// Range of bytes: start and exclusive end.
pub(super) type ByteRange = (u32, u32);

/// Starts of runs per value.
type RunIndex = BTreeMap<VReg, SmallVec<[u32; 2]>>;

/// Number of runs from which on an index of values is kept.
const INDEXED_RUNS: usize = 24;

/// Contents that are the same on all paths to a program point.
#[derive(Clone, Debug)]
pub(super) struct ByteState {
    /// Runs of bytes with equal contents, by their starts. The first starts at 0.
    runs: BTreeMap<u32, ValueSet>,
    /// Index of the runs that hold each value, if there are many runs. It may also have runs that
    /// no longer hold the value.
    run_index: Option<RunIndex>,
    /// Undefined bytes of values, whatever their places hold. The ranges are in order and not
    /// adjacent.
    undefined: BTreeMap<VReg, Vec<ByteRange>>,
    /// Number of runs after the last pruning.
    pruned: usize,
}

/// Number of runs below which pruning is not worth it.
const PRUNED_RUNS: usize = 64;

/// Removes bytes from ordered ranges.
fn without(list: &mut Vec<ByteRange>, (from, to): ByteRange) {
    if !list.iter().any(|&(a, b)| a < to && b > from) {
        return;
    }
    let cut = |&(a, b): &ByteRange| {
        let parts = [(a, b.min(from)), (a.max(to), b)];
        parts.into_iter().filter(|(a, b)| a < b)
    };
    *list = list.iter().flat_map(cut).collect();
}

/// Returns the intersection of two lists of ranges.
fn common(a: &[ByteRange], b: &[ByteRange]) -> Vec<ByteRange> {
    let both = |&(x, y): &ByteRange| {
        b.iter()
            .map(move |&(p, q)| (x.max(p), y.min(q)))
            .filter(|(x, y)| x < y)
    };
    a.iter().flat_map(both).collect()
}

impl ByteState {
    /// Returns a state without known contents and without undefined values.
    pub(super) fn new() -> ByteState {
        ByteState {
            runs: BTreeMap::from([(0, ValueSet::new())]),
            run_index: None,
            undefined: BTreeMap::new(),
            pruned: 1,
        }
    }

    /// Adds a run's values to the index.
    fn index_run(run_index: &mut Option<RunIndex>, start: u32, set: &ValueSet) {
        let Some(run_index) = run_index else { return };
        for &(r, _) in set {
            let list = run_index.entry(r).or_default();
            if !list.contains(&start) {
                list.push(start);
            }
        }
    }

    /// Rebuilds the index if there are many runs.
    fn rebuild_index(&mut self) {
        self.run_index = (self.runs.len() > INDEXED_RUNS).then(RunIndex::new);
        if self.run_index.is_some() {
            for (start, set) in &self.runs {
                ByteState::index_run(&mut self.run_index, *start, set);
            }
        }
    }

    /// Returns the runs that hold bytes of a value, with their bytes and distances.
    fn places(&mut self, r: VReg) -> SmallVec<[(ByteRange, i64); 2]> {
        let mut out = SmallVec::new();
        let runs = &self.runs;
        let end = |start: u32| runs.range(start + 1..).next().map_or(u32::MAX, |n| *n.0);
        let mut each = |start: u32, set: &ValueSet| {
            let before = out.len();
            let held = set.iter().filter(|v| v.0 == r);
            out.extend(held.map(|v| ((start, end(start)), v.1)));
            out.len() > before
        };
        match &mut self.run_index {
            None => runs.iter().for_each(|(start, set)| {
                each(*start, set);
            }),
            Some(run_index) => {
                if let Some(list) = run_index.get_mut(&r) {
                    list.retain(|start| runs.get(start).is_some_and(|set| each(*start, set)));
                }
            }
        }
        out
    }

    /// Returns the end and the values of the run that contains a byte.
    fn run(&self, at: u32) -> (u32, &[(VReg, i64)]) {
        let set = self.runs.range(..=at).next_back();
        let set = set.map_or(&[][..], |r| &r.1[..]);
        let next = self.runs.range(at + 1..).next();
        (next.map_or(u32::MAX, |n| *n.0), set)
    }

    /// Splits the run that contains a byte so that a run starts there.
    fn split_at(&mut self, at: u32) {
        if !self.runs.contains_key(&at) {
            let set = ValueSet::from_slice(self.run(at).1);
            ByteState::index_run(&mut self.run_index, at, &set);
            self.runs.insert(at, set);
            if self.run_index.is_none() && self.runs.len() > INDEXED_RUNS {
                self.rebuild_index();
            }
        }
    }

    /// Changes the values of a range of bytes.
    fn change(&mut self, (from, to): ByteRange, mut f: impl FnMut(&mut ValueSet)) {
        if from >= to {
            return;
        }
        self.split_at(from);
        self.split_at(to);
        for (start, set) in self.runs.range_mut(from..to) {
            f(set);
            ByteState::index_run(&mut self.run_index, *start, set);
        }
        self.merge_runs((from, to));
    }

    /// Merges runs with equal values, from the one before a range to the one after it.
    fn merge_runs(&mut self, (from, to): ByteRange) {
        let first = self.runs.range(..from).next_back();
        let first = first.map_or(from, |r| *r.0);
        let all = self.runs.range(first..=to);
        let both = all.clone().zip(all.skip(1));
        let same = both.filter(|(a, b)| a.1 == b.1);
        let joined: SmallVec<[u32; 4]> = same.map(|(_, b)| *b.0).collect();
        for start in joined {
            self.runs.remove(&start);
        }
    }

    /// Sets the values of a range of bytes.
    pub(super) fn put(&mut self, bytes: ByteRange, set: &ValueSet) {
        self.change(bytes, |s| s.clone_from(set));
    }

    /// Adds a value to a range of bytes.
    pub(super) fn add(&mut self, bytes: ByteRange, value: (VReg, i64)) {
        self.change(bytes, |s| {
            if let Err(n) = s.binary_search(&value) {
                s.insert(n, value);
            }
        });
    }

    /// Removes old bytes of a value that gets new ones.
    pub(super) fn kill(&mut self, r: VReg, (from, to): ByteRange) {
        for ((start, end), delta) in self.places(r) {
            let (a, b) = (i64::from(from) + delta, i64::from(to) + delta);
            let (a, b) = (a.max(start.into()), b.min(end.into()));
            if a < b {
                self.change((a as u32, b as u32), |s| s.retain(|v| *v != (r, delta)));
            }
        }
        if let Some(list) = self.undefined.get_mut(&r) {
            without(list, (from, to));
            if list.is_empty() {
                self.undefined.remove(&r);
            }
        }
    }

    /// Makes all of a value undefined.
    pub(super) fn forget(&mut self, r: VReg, bytes: u32) {
        self.kill(r, (0, bytes));
        if bytes > 0 {
            self.undefined.insert(r, vec![(0, bytes)]);
        }
    }

    /// Makes a value equal to another one, wherever that is held. `same` has the bytes of the other
    /// value that hold constants.
    pub(super) fn rename(&mut self, to: VReg, from: VReg, bytes: u32, same: &[(ByteRange, VReg)]) {
        let undefined = self.undefined.get(&from).cloned();
        self.kill(to, (0, bytes));
        let mut constant: Vec<(ByteRange, i64)> = Vec::new();
        for &((a, b), c) in same {
            for ((start, end), delta) in self.places(c) {
                let x = delta.max(start.into());
                let y = (delta + i64::from(b - a)).min(end.into());
                if x < y {
                    constant.push(((x as u32, y as u32), delta - i64::from(a)));
                }
            }
        }
        for (bytes, delta) in constant {
            self.add(bytes, (to, delta));
        }
        for (bytes, delta) in self.places(from) {
            self.add(bytes, (to, delta));
        }
        if let Some(list) = undefined {
            self.undefined.insert(to, list);
        }
    }

    /// Copies a range of bytes.
    pub(super) fn copy(&mut self, to: u32, from: u32, bytes: u32) {
        let moved = i64::from(to) - i64::from(from);
        let mut parts: Vec<(ByteRange, ValueSet)> = Vec::new();
        let mut at = from;
        while at < from + bytes {
            let (end, held) = self.run(at);
            let end = end.min(from + bytes);
            let set = held.iter().map(|&(v, delta)| (v, delta + moved));
            let place = |x: u32| (i64::from(x) + moved) as u32;
            parts.push(((place(at), place(end)), set.collect()));
            at = end;
        }
        for (bytes, set) in parts {
            self.put(bytes, &set);
        }
    }

    /// Returns the first byte of part of a value that is not at `place`. `same` has the bytes of
    /// the value that hold constants, from their first byte on.
    pub(super) fn missing(
        &self,
        place: u32,
        r: VReg,
        (from, to): ByteRange,
        same: &[(ByteRange, VReg)],
    ) -> Option<u32> {
        let none = Vec::new();
        let undefined = self.undefined.get(&r).unwrap_or(&none);
        let delta = i64::from(place) - i64::from(from);
        let end = place + (to - from);
        let mut at = place;
        while at < end {
            let (stop, set) = self.run(at);
            let stop = stop.min(end);
            let byte = |x: u32| (i64::from(x) - delta) as u32;
            let constant = |v: &(VReg, i64)| {
                same.iter().any(|&((a, b), c)| {
                    a <= byte(at) && byte(stop) <= b && *v == (c, delta + i64::from(a))
                })
            };
            if !set.contains(&(r, delta)) && !set.iter().any(constant) {
                let mut left = vec![(byte(at), byte(stop))];
                undefined.iter().for_each(|u| without(&mut left, *u));
                if let Some(first) = left.first() {
                    return Some(first.0);
                }
            }
            at = stop;
        }
        None
    }

    /// Returns the values at a byte.
    pub(super) fn at(&self, place: u32) -> &[(VReg, i64)] {
        self.run(place).1
    }

    /// Returns true if there are twice as many runs as after the last pruning.
    pub(super) fn has_grown(&self) -> bool {
        self.runs.len() > 2 * self.pruned + PRUNED_RUNS
    }

    /// Drops values that are not live.
    pub(super) fn prune(&mut self, lives: impl Fn(VReg) -> bool) {
        self.undefined.retain(|r, _| lives(*r));
        let mut last: Option<ValueSet> = None;
        self.runs.retain(|_, set| {
            set.retain(|v| lives(v.0));
            let new = last.as_ref() != Some(set);
            if new {
                last = Some(set.clone());
            }
            new
        });
        self.pruned = self.runs.len();
        self.rebuild_index();
    }

    /// Returns the values with undefined bytes.
    pub(super) fn undefined(&self) -> impl Iterator<Item = (VReg, &[ByteRange])> {
        self.undefined.iter().map(|(r, list)| (*r, &list[..]))
    }

    /// Sets the undefined bytes of a value.
    pub(super) fn set_undefined(&mut self, r: VReg, list: Option<Vec<ByteRange>>) {
        match list {
            Some(list) => self.undefined.insert(r, list),
            None => self.undefined.remove(&r),
        };
    }

    /// Takes over a range of bytes of another state.
    pub(super) fn take_from(&mut self, other: &ByteState, (from, to): ByteRange) {
        let mut at = from;
        while at < to {
            let (end, set) = other.run(at);
            let end = end.min(to);
            self.put((at, end), &ValueSet::from_slice(set));
            at = end;
        }
    }

    /// Keeps what is also true of another state. Returns true if anything was lost. A value that is
    /// undefined in one state keeps its places in the other.
    pub(super) fn meet(&mut self, other: &ByteState) -> bool {
        let mut out: Vec<(u32, ValueSet)> = Vec::with_capacity(self.runs.len());
        let none = ValueSet::new();
        let (mut ours, mut theirs) = (self.runs.iter().peekable(), other.runs.iter().peekable());
        let (mut a, mut b, mut at) = (&none, &none, 0);
        loop {
            if let Some(next) = ours.next_if(|r| *r.0 <= at) {
                a = next.1;
            }
            if let Some(next) = theirs.next_if(|r| *r.0 <= at) {
                b = next.1;
            }
            let ends = [ours.peek(), theirs.peek()];
            let ends = ends.into_iter().flatten().map(|r| *r.0);
            let end = ends.min().unwrap_or(u32::MAX);
            // Undefined bytes may start and end within runs.
            let mut cuts: SmallVec<[u32; 4]> = SmallVec::new();
            cuts.push(at);
            let mut ends = |values: &ValueSet, lost: &BTreeMap<VReg, Vec<ByteRange>>| {
                for &(r, delta) in values {
                    for &(x, y) in lost.get(&r).map_or(&[][..], |l| &l[..]) {
                        for edge in [x, y].map(|e| i64::from(e) + delta) {
                            if edge > i64::from(at) && edge < i64::from(end) {
                                cuts.push(edge as u32);
                            }
                        }
                    }
                }
            };
            ends(a, &other.undefined);
            ends(b, &self.undefined);
            cuts.sort_unstable();
            cuts.dedup();
            for &cut in &cuts {
                let lost = |s: &ByteState, &(r, delta): &(VReg, i64)| {
                    let byte = i64::from(cut) - delta;
                    let list = s.undefined.get(&r).map_or(&[][..], |l| &l[..]);
                    list.iter()
                        .any(|&(x, y)| (i64::from(x)..i64::from(y)).contains(&byte))
                };
                let keep = a
                    .iter()
                    .filter(|v| b.binary_search(v).is_ok() || lost(other, v));
                let mut set: ValueSet = keep.copied().collect();
                for v in b {
                    if lost(self, v)
                        && let Err(n) = set.binary_search(v)
                    {
                        set.insert(n, *v);
                    }
                }
                if out.last().is_none_or(|l| l.1 != set) {
                    out.push((cut, set));
                }
            }
            if end == u32::MAX {
                break;
            }
            at = end;
        }
        let out: BTreeMap<u32, ValueSet> = out.into_iter().collect();
        let undefined: BTreeMap<VReg, Vec<ByteRange>> = self
            .undefined
            .iter()
            .filter_map(|(r, list)| {
                let both = common(list, other.undefined.get(r)?);
                (!both.is_empty()).then_some((*r, both))
            })
            .collect();
        let changed = out != self.runs || undefined != self.undefined;
        if changed {
            (self.runs, self.undefined) = (out, undefined);
            self.rebuild_index();
        }
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzzing::Rng;
    use std::collections::BTreeSet;

    const BYTES: u32 = 24;
    const VALUES: u32 = 4;
    const SIZE: u32 = 8;

    /// Reference state with a set of values' bytes per byte, and a set of undefined bytes.
    #[derive(Clone, PartialEq, Debug, Default)]
    struct PlainState {
        holds: Vec<BTreeSet<(u32, u32)>>,
        undefined: BTreeSet<(u32, u32)>,
    }

    impl PlainState {
        fn kill(&mut self, r: u32, from: u32, to: u32) {
            let old = |v: &(u32, u32)| v.0 == r && (from..to).contains(&v.1);
            self.holds.iter_mut().for_each(|s| s.retain(|v| !old(v)));
            self.undefined.retain(|v| !old(v));
        }
    }

    fn plain(s: &ByteState) -> PlainState {
        let byte = |at: u32, v: &(VReg, i64)| {
            let byte = u32::try_from(i64::from(at) - v.1).ok()?;
            (byte < SIZE).then_some((v.0.as_u32(), byte))
        };
        let at = |at: u32| s.at(at).iter().filter_map(|v| byte(at, v)).collect();
        let undefined = s.undefined().flat_map(|(r, list)| {
            let bytes = list.iter().flat_map(|&(a, b)| a..b);
            bytes.map(move |b| (r.as_u32(), b))
        });
        PlainState {
            holds: (0..BYTES).map(at).collect(),
            undefined: undefined.collect(),
        }
    }

    fn random(rng: &mut Rng, s: &mut ByteState, p: &mut PlainState) {
        let number = rng.below(VALUES);
        let (r, from) = (VReg::from_u32(number), rng.below(SIZE));
        let len = 1 + rng.below(SIZE - from);
        let at = rng.below(BYTES - SIZE);
        match rng.below(4) {
            0 => {
                s.forget(r, SIZE);
                p.kill(number, 0, SIZE);
                p.undefined.extend((0..SIZE).map(|b| (number, b)));
            }
            1 => {
                s.kill(r, (from, from + len));
                let delta = i64::from(at) - i64::from(from);
                s.put((at, at + len), &ValueSet::from_slice(&[(r, delta)]));
                p.kill(number, from, from + len);
                for k in 0..len {
                    p.holds[(at + k) as usize] = BTreeSet::from([(number, from + k)]);
                }
            }
            2 => {
                let to = rng.below(BYTES - SIZE);
                s.copy(to, at, len);
                let moved: Vec<_> = (at..at + len)
                    .map(|x| p.holds[x as usize].clone())
                    .collect();
                for (k, set) in moved.into_iter().enumerate() {
                    p.holds[to as usize + k] = set;
                }
            }
            _ => {
                let other = rng.below(VALUES);
                if other == number {
                    return;
                }
                s.rename(r, VReg::from_u32(other), SIZE, &[]);
                p.kill(number, 0, SIZE);
                for set in &mut p.holds {
                    let new = set.iter().filter(|v| v.0 == other).map(|v| (number, v.1));
                    let new: Vec<_> = new.collect();
                    set.extend(new);
                }
                let new = p.undefined.iter().filter(|v| v.0 == other);
                let new: Vec<_> = new.map(|v| (number, v.1)).collect();
                p.undefined.extend(new);
            }
        }
    }

    #[test]
    fn runs_are_bytes() {
        let mut rng = Rng::new(5);
        for _ in 0..3000 {
            let mut both = [(); 2].map(|()| {
                let mut p = PlainState {
                    holds: vec![BTreeSet::new(); BYTES as usize],
                    ..PlainState::default()
                };
                let mut s = ByteState::new();
                for _ in 0..rng.below(10) {
                    random(&mut rng, &mut s, &mut p);
                    assert_eq!(plain(&s), p);
                }
                (s, p)
            });
            let [(a, x), (b, y)] = &mut both;
            let r = rng.below(VALUES);
            let at = rng.below(BYTES - SIZE);
            let missing = (0..SIZE).find(|k| {
                let there = x.holds[(at + k) as usize].contains(&(r, *k));
                !there && !x.undefined.contains(&(r, *k))
            });
            assert_eq!(a.missing(at, VReg::from_u32(r), (0, SIZE), &[]), missing);
            // A value that is undefined on one path keeps its places on the other.
            let met = PlainState {
                holds: (x.holds.iter().zip(&y.holds))
                    .map(|(p, q)| {
                        let all = p.union(q);
                        all.filter(|v| {
                            (p.contains(v) || x.undefined.contains(v))
                                && (q.contains(v) || y.undefined.contains(v))
                        })
                        .copied()
                        .collect()
                    })
                    .collect(),
                undefined: x.undefined.intersection(&y.undefined).copied().collect(),
            };
            a.meet(b);
            assert_eq!(plain(a), met);
            assert!(!a.meet(b) || met != *x);
        }
    }
}
