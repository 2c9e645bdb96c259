//! Dependence graph of a segment.

use super::space::ChunkAccess;
use super::units::SegmentUnits;

/// Bytes of a chunk, the unit that accessed them, and the next entry of the list, which has no
/// order.
struct AccessEntry {
    mask: u64,
    unit: u32,
    next: u32,
}

/// End of a list of entries.
const NO_ENTRY: u32 = u32::MAX;

/// Lists of the last writers of the bytes of a chunk, and of their readers since.
#[derive(Clone, Copy)]
struct ChunkAccesses {
    writes: u32,
    reads: u32,
}

impl ChunkAccesses {
    const NONE: ChunkAccesses = ChunkAccesses {
        writes: NO_ENTRY,
        reads: NO_ENTRY,
    };
}

/// Removes bytes from all entries of a list but one's own, and calls `f` with the units that had
/// some of them. Returns the list of entries with other bytes.
#[inline]
fn without(
    entries: &mut [AccessEntry],
    mut at: u32,
    (own, bytes): (u32, u64),
    mut f: impl FnMut(u32),
) -> u32 {
    let mut kept = NO_ENTRY;
    while let Some(e) = entries.get_mut(at as usize) {
        let next = e.next;
        if e.mask & bytes != 0 && e.unit != own {
            f(e.unit);
            e.mask &= !bytes;
        }
        if e.mask != 0 {
            e.next = kept;
            kept = at;
        }
        at = next;
    }
    kept
}

/// Dependence: `to` waits for `from`, for a number of cycles from its issue.
#[derive(Clone, Copy)]
struct Dependence {
    from: u32,
    to: u32,
    cycles: u32,
}

/// Dependences within a segment. All go from an earlier unit to a later one.
///
/// Each byte of a chunk has one last writer, and a write removes the readers of its bytes. So there
/// are at most as many edges as touches, times the bytes of a chunk. Mostly there is one per touch.
#[derive(Default)]
pub(super) struct DependenceGraph {
    chunks: Vec<ChunkAccesses>,
    entries: Vec<AccessEntry>,
    /// Chunks that may not be empty.
    used: Vec<u32>,
    /// Cycles per unit until its sources have been read, and until its results are available.
    times: Vec<[u32; 2]>,
    /// Edges, ordered by waiting unit.
    edges: Vec<Dependence>,
    /// Last edge from each unit.
    last: Vec<u32>,
    /// Edges, ordered by the unit waited for.
    sorted: Vec<Dependence>,
    /// Start of each unit's edges in that order, and the end of the last.
    starts: Vec<u32>,
    /// Number of edges that each unit waits on.
    waits: Vec<u32>,
    /// Cycles per unit until all units that wait for it are done: its critical path.
    critical_path: Vec<u32>,
}

impl DependenceGraph {
    /// Makes space for a number of chunks.
    pub(super) fn reserve(&mut self, chunks: usize) {
        if self.chunks.len() < chunks {
            self.chunks.resize(chunks, ChunkAccesses::NONE);
        }
    }

    /// Builds the graph of a segment's units.
    pub(super) fn build(&mut self, units: &SegmentUnits) {
        for c in self.used.drain(..) {
            if let Some(chunk) = self.chunks.get_mut(c as usize) {
                *chunk = ChunkAccesses::NONE;
            }
        }
        self.entries.clear();
        self.times.clear();
        self.edges.clear();
        self.last.clear();
        self.last.resize(units.len(), u32::MAX);
        for n in 0..units.len() {
            self.unit(units, n);
        }
        self.index(units);
    }

    /// Sorts edges by start, and computes the critical path from each unit.
    fn index(&mut self, units: &SegmentUnits) {
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
        // Goes from the last edge to the first. The edges of a unit end where the next unit's
        // start, and each start moves to its first edge.
        for e in self.edges.iter().rev() {
            let end = &mut self.starts[e.from as usize];
            *end -= 1;
            self.sorted[*end as usize] = *e;
        }
        self.critical_path.clear();
        self.critical_path.resize(units.len(), 0);
        for n in (0..units.len()).rev() {
            let own = units.timing(n).map_or(0, |t| t.issue);
            let dependents = self
                .after(n)
                .map(|(to, cycles)| cycles.saturating_add(self.critical_path(to)));
            self.critical_path[n] = dependents.max().unwrap_or(0).max(own);
        }
    }

    /// Returns the number of dependences.
    #[cfg(test)]
    pub(super) fn edges(&self) -> usize {
        self.edges.len()
    }

    /// Removes one dependence, and returns its waiting unit and the unit waited for.
    #[cfg(test)]
    pub(super) fn forget(&mut self, n: usize, units: &SegmentUnits) -> (usize, usize) {
        let e = self.edges.remove(n);
        self.index(units);
        (e.from as usize, e.to as usize)
    }

    /// Adds the dependences of a unit.
    fn unit(&mut self, units: &SegmentUnits, n: usize) {
        let to = n as u32;
        let (edges, last) = (&mut self.edges, &mut self.last);
        // Operations that emit no instruction take no time. A reader blocks writers until it has
        // read.
        self.times.push(units.timing(n).map_or([0; 2], |t| {
            [t.read, t.result].map(|cycles| t.issue + cycles)
        }));
        let times = &self.times;
        let mut edge = |from: u32, wrote: bool| {
            let cycles = times[from as usize][usize::from(wrote)];
            // One edge per unit waited for.
            let last = &mut last[from as usize];
            match edges.get_mut(*last as usize).filter(|e| e.to == to) {
                Some(e) => e.cycles = e.cycles.max(cycles),
                None => {
                    *last = edges.len() as u32;
                    edges.push(Dependence { from, to, cycles });
                }
            }
        };
        let touches = units.touches(n);
        let (chunks, entries, used) = (&mut self.chunks, &mut self.entries, &mut self.used);
        let mut add =
            |entries: &mut Vec<AccessEntry>, t: &ChunkAccess, chunk: ChunkAccesses, first: u32| {
                if chunk.reads == NO_ENTRY && chunk.writes == NO_ENTRY {
                    used.push(t.chunk);
                }
                entries.push(AccessEntry {
                    mask: t.mask,
                    unit: to,
                    next: first,
                });
                entries.len() as u32 - 1
            };
        for t in touches.iter().filter(|t| !t.write) {
            let Some(chunk) = chunks.get_mut(t.chunk as usize) else {
                continue;
            };
            let mut at = chunk.writes;
            while let Some(e) = entries.get(at as usize) {
                if e.mask & t.mask != 0 {
                    edge(e.unit, true);
                }
                at = e.next;
            }
            chunk.reads = add(entries, t, *chunk, chunk.reads);
        }
        // Later units find its writes, also where it reads the same bytes.
        for t in touches.iter().filter(|t| t.write) {
            let Some(chunk) = chunks.get_mut(t.chunk as usize) else {
                continue;
            };
            let others = (to, t.mask);
            let reads = without(entries, chunk.reads, others, |who| edge(who, false));
            let writes = without(entries, chunk.writes, others, |who| edge(who, true));
            let writes = add(entries, t, *chunk, writes);
            *chunk = ChunkAccesses { writes, reads };
        }
    }

    /// Returns the units that wait for a unit, and their cycles.
    pub(super) fn after(&self, n: usize) -> impl Iterator<Item = (usize, u32)> + '_ {
        let range = self.starts[n] as usize..self.starts[n + 1] as usize;
        let edges = self.sorted[range].iter();
        edges.map(|e| (e.to as usize, e.cycles))
    }

    /// Returns the number of units that each unit waits for.
    pub(super) fn waits(&self) -> &[u32] {
        &self.waits
    }

    /// Returns the cycles from a unit's issue until everything in the segment that waits for it is
    /// done.
    pub(super) fn critical_path(&self, n: usize) -> u32 {
        self.critical_path.get(n).copied().unwrap_or(0)
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
