//! Who must run before whom.

use super::space::Touch;
use super::units::Units;

/// Some bytes of a chunk, who was there, and the next entry of the list, in which there is no
/// order.
struct Entry {
    mask: u64,
    unit: u32,
    next: u32,
}

/// The end of a list of entries.
const NOBODY: u32 = u32::MAX;

/// Lists of who last wrote the bytes of a chunk, and of who has read them since.
#[derive(Clone, Copy)]
struct Chunk {
    writes: u32,
    reads: u32,
}

impl Chunk {
    const NONE: Chunk = Chunk {
        writes: NOBODY,
        reads: NOBODY,
    };
}

/// Takes bytes from all entries of a list but one's own, and calls `f` with those who had some of
/// them; gives the list of those that have others.
#[inline]
fn without(
    entries: &mut [Entry],
    mut at: u32,
    (own, bytes): (u32, u64),
    mut f: impl FnMut(u32),
) -> u32 {
    let mut kept = NOBODY;
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

/// One waits for another, for so many cycles from when that is issued.
#[derive(Clone, Copy)]
struct Edge {
    from: u32,
    to: u32,
    cycles: u32,
}

/// Dependences within a segment. All go from an earlier unit to a later one.
///
/// Each byte of a chunk has one last writer, and whoever writes it takes from the readers what they
/// read of it: so there are at most as many edges as touches, times the bytes of a chunk, and
/// mostly one for each.
#[derive(Default)]
pub(super) struct Graph {
    chunks: Vec<Chunk>,
    entries: Vec<Entry>,
    /// Chunks that may not be empty.
    used: Vec<u32>,
    /// Per unit, cycles until its sources have been read, and until its results are there.
    times: Vec<[u32; 2]>,
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
    /// Makes room for so many chunks.
    pub(super) fn reserve(&mut self, chunks: usize) {
        if self.chunks.len() < chunks {
            self.chunks.resize(chunks, Chunk::NONE);
        }
    }

    /// Of the units of a segment.
    pub(super) fn build(&mut self, units: &Units) {
        for c in self.used.drain(..) {
            if let Some(chunk) = self.chunks.get_mut(c as usize) {
                *chunk = Chunk::NONE;
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
        // From the last: those from one unit end where those of the next one start, and each start
        // moves to where the first of them is.
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
        // What is no instruction takes no time; a reader is in the way until it has read.
        self.times.push(units.timing(n).map_or([0; 2], |t| {
            [t.read, t.result].map(|cycles| t.issue + cycles)
        }));
        let times = &self.times;
        let mut edge = |from: u32, wrote: bool| {
            let cycles = times[from as usize][usize::from(wrote)];
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
        let touches = units.touches(n);
        let (chunks, entries, used) = (&mut self.chunks, &mut self.entries, &mut self.used);
        let mut add = |entries: &mut Vec<Entry>, t: &Touch, chunk: Chunk, first: u32| {
            if chunk.reads == NOBODY && chunk.writes == NOBODY {
                used.push(t.chunk);
            }
            entries.push(Entry {
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
        // What it writes is what later ones find, also where it reads the same.
        for t in touches.iter().filter(|t| t.write) {
            let Some(chunk) = chunks.get_mut(t.chunk as usize) else {
                continue;
            };
            let others = (to, t.mask);
            let reads = without(entries, chunk.reads, others, |who| edge(who, false));
            let writes = without(entries, chunk.writes, others, |who| edge(who, true));
            let writes = add(entries, t, *chunk, writes);
            *chunk = Chunk { writes, reads };
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
