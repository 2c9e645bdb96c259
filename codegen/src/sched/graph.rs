//! Who must run before whom.

use super::units::Units;
use smallvec::SmallVec;

/// Some bytes of a chunk, and who was there.
type Entry = (u64, u32);

/// Who last wrote the bytes of a chunk, and who has read them since.
#[derive(Default)]
struct Chunk {
    writes: SmallVec<[Entry; 1]>,
    reads: SmallVec<[Entry; 2]>,
}

/// One waits for another, for so many cycles from when that is issued.
#[derive(Clone, Copy)]
struct Edge {
    from: u32,
    to: u32,
    cycles: u32,
}

/// Dependences within a segment. All go from an earlier unit to a later one.
///
/// Each byte of a chunk has one last writer, and whoever writes it takes from the readers what they read of it: so there are at most as many edges as touches, times the bytes of
/// a chunk, and mostly one for each.
pub(super) struct Graph {
    chunks: Vec<Chunk>,
    /// Chunks that are not empty.
    used: Vec<u32>,
    /// In the order of those that wait.
    edges: Vec<Edge>,
    /// Per unit, the last edge from it.
    last: Vec<u32>,
    /// Edges in the order of those that are waited for.
    sorted: Vec<Edge>,
    /// Per unit, where its edges start in that order; one more at the end.
    starts: Vec<u32>,
    /// Per unit, on how many edges it waits.
    waits: Vec<u32>,
    /// Per unit, cycles until all that waits for it has been done.
    way: Vec<u32>,
}

impl Graph {
    pub(super) fn new(chunks: usize) -> Graph {
        let mut all = Vec::new();
        all.resize_with(chunks, Chunk::default);
        Graph {
            chunks: all,
            used: Vec::new(),
            edges: Vec::new(),
            last: Vec::new(),
            sorted: Vec::new(),
            starts: Vec::new(),
            waits: Vec::new(),
            way: Vec::new(),
        }
    }

    /// Of the units of a segment.
    pub(super) fn build(&mut self, units: &Units) {
        for &c in &self.used {
            if let Some(chunk) = self.chunks.get_mut(c as usize) {
                chunk.writes.clear();
                chunk.reads.clear();
            }
        }
        self.used.clear();
        self.edges.clear();
        self.last.clear();
        self.last.resize(units.len(), u32::MAX);
        for n in 0..units.len() {
            self.unit(units, n);
        }
        self.index(units);
    }

    /// Finds edges by where they start, and how far it is from each unit.
    fn index(&mut self, units: &Units) {
        self.starts.clear();
        self.starts.resize(units.len() + 1, 0);
        self.waits.clear();
        self.waits.resize(units.len(), 0);
        for e in &self.edges {
            self.starts[e.from as usize] += 1;
            self.waits[e.to as usize] += 1;
        }
        let mut sum = 0;
        for s in &mut self.starts {
            sum += *s;
            *s = sum;
        }
        self.sorted.clear();
        self.sorted.extend_from_slice(&self.edges);
        // From the last: those from one unit end where those of the next one start, and each start moves to where the first of them is.
        for e in self.edges.iter().rev() {
            let end = &mut self.starts[e.from as usize];
            *end -= 1;
            self.sorted[*end as usize] = *e;
        }
        self.way.clear();
        self.way.resize(units.len(), 0);
        for n in (0..units.len()).rev() {
            let own = units.timing(n).map_or(0, |t| t.issue);
            let behind = self
                .after(n)
                .map(|(to, cycles)| cycles.saturating_add(self.way(to)));
            self.way[n] = behind.max().unwrap_or(0).max(own);
        }
    }

    /// How many dependences there are.
    #[cfg(test)]
    pub(super) fn edges(&self) -> usize {
        self.edges.len()
    }

    /// Forgets one dependence: who waited for whom.
    #[cfg(test)]
    pub(super) fn forget(&mut self, n: usize, units: &Units) -> (usize, usize) {
        let e = self.edges.remove(n);
        self.index(units);
        (e.from as usize, e.to as usize)
    }

    /// Adds what a unit waits for.
    fn unit(&mut self, units: &Units, n: usize) {
        let to = n as u32;
        let (edges, last) = (&mut self.edges, &mut self.last);
        let mut edge = |from: u32, write_to_read: bool| {
            if from == to {
                return;
            }
            // What is no instruction takes no time; a reader is in the way until it has read.
            let cycles = units.timing(from as usize).map_or(0, |t| {
                t.issue + if write_to_read { t.result } else { t.read }
            });
            // One for each that it waits for.
            let last = &mut last[from as usize];
            match edges.get_mut(*last as usize).filter(|e| e.to == to) {
                Some(e) => e.cycles = e.cycles.max(cycles),
                None => {
                    *last = edges.len() as u32;
                    edges.push(Edge { from, to, cycles });
                }
            }
        };
        for t in units.touches(n).iter().filter(|t| !t.write) {
            let Some(chunk) = self.chunks.get_mut(t.chunk as usize) else {
                continue;
            };
            for (_, from) in chunk.writes.iter().filter(|w| w.0 & t.mask != 0) {
                edge(*from, true);
            }
        }
        for t in units.touches(n).iter().filter(|t| t.write) {
            let Some(chunk) = self.chunks.get_mut(t.chunk as usize) else {
                continue;
            };
            chunk.reads.retain(|r| {
                if r.0 & t.mask != 0 {
                    edge(r.1, false);
                    r.0 &= !t.mask;
                }
                r.0 != 0
            });
            chunk.writes.retain(|w| {
                if w.0 & t.mask != 0 {
                    edge(w.1, true);
                    w.0 &= !t.mask;
                }
                w.0 != 0
            });
        }
        // What it writes is what later ones find, also where it reads the same.
        for t in units.touches(n) {
            let Some(chunk) = self.chunks.get_mut(t.chunk as usize) else {
                continue;
            };
            if chunk.reads.is_empty() && chunk.writes.is_empty() {
                self.used.push(t.chunk);
            }
            match t.write {
                true => chunk.writes.push((t.mask, to)),
                false => chunk.reads.push((t.mask, to)),
            }
        }
    }

    /// Who waits for a unit, and for how long.
    pub(super) fn after(&self, n: usize) -> impl Iterator<Item = (usize, u32)> + '_ {
        let range = match self.starts.get(n..n + 2) {
            Some(&[from, to]) => from as usize..to as usize,
            _ => 0..0,
        };
        let edges = self.sorted.get(range).unwrap_or(&[]).iter();
        edges.map(|e| (e.to as usize, e.cycles))
    }

    /// For how many others each unit waits.
    pub(super) fn waits(&self) -> &[u32] {
        &self.waits
    }

    /// Cycles from when a unit is issued until all is done that waits for it, in the segment.
    pub(super) fn way(&self, n: usize) -> u32 {
        self.way.get(n).copied().unwrap_or(0)
    }

    /// Marks units of a kind, and all that they wait for.
    pub(super) fn needed(&self, is: impl Fn(usize) -> bool, out: &mut Vec<bool>) {
        let len = self.waits.len();
        out.clear();
        out.extend((0..len).map(is));
        for n in (0..len).rev() {
            if self.after(n).any(|(to, _)| out.get(to) == Some(&true))
                && let Some(o) = out.get_mut(n)
            {
                *o = true;
            }
        }
    }
}
