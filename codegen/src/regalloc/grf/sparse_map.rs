//! What is taken at which program points, where many such lists are kept: as [`Timeline`] says it,
//! with memory by what is taken, not by points.
//!
//! Points are in chunks. Timelines of chunks say what is taken in all of one, and what in some part
//! of one; of the latter a list says where.

use super::timeline::Timeline;
use crate::mir::liveness::Range;

/// Points of a chunk, as a power of two.
const CHUNK: u32 = 6;

/// What is taken in a part of a chunk.
#[derive(Clone, Copy, Debug)]
struct Entry {
    range: Range,
    /// The number of the next of the chunk, from 1; 0 where there is none.
    next: u32,
    taken: u128,
}

/// What is taken of as many bytes as there are bits.
#[derive(Clone, Debug, Default)]
pub(in crate::regalloc) struct Sparse {
    /// In all of a chunk.
    all: Timeline<u128>,
    /// In some part of a chunk.
    some: Timeline<u128>,
    /// The number of the first entry of each chunk, from 1.
    first: Vec<u32>,
    entries: Vec<Entry>,
}

/// The chunks that a range has all of.
fn inside(range: Range) -> Range {
    Range {
        start: range.start.div_ceil(1 << CHUNK),
        end: range.end >> CHUNK,
    }
}

/// The chunks that a range has some part of, at its beginning and at its end.
fn ends(range: Range) -> impl Iterator<Item = (u32, Range)> {
    let chunk = |n: u32| Range {
        start: n << CHUNK,
        end: (n + 1) << CHUNK,
    };
    let first = range.start >> CHUNK;
    let last = range.end.saturating_sub(1) >> CHUNK;
    let last = (last != first).then_some(last);
    let both = [Some(first), last].into_iter().flatten();
    both.filter_map(move |n| {
        let of = chunk(n);
        let part = Range {
            start: range.start.max(of.start),
            end: range.end.min(of.end),
        };
        let whole = (part.start, part.end) == (of.start, of.end);
        (part.start < part.end && !whole).then_some((n, part))
    })
}

impl Sparse {
    /// Empties it for so many points.
    pub(in crate::regalloc) fn clear(&mut self, points: u32) {
        let chunks = points.div_ceil(1 << CHUNK);
        self.all.clear(chunks);
        self.some.clear(chunks);
        self.first.clear();
        self.first.resize(chunks as usize, 0);
        self.entries.clear();
    }

    /// What is taken anywhere in a range.
    pub(in crate::regalloc) fn taken(&self, range: Range) -> u128 {
        if range.start >= range.end {
            return 0;
        }
        let around = Range {
            start: range.start >> CHUNK,
            end: range.end.div_ceil(1 << CHUNK),
        };
        let mut out = self.all.taken(around) | self.some.taken(inside(range));
        for (chunk, part) in ends(range) {
            let mut next = self.first.get(chunk as usize).copied().unwrap_or(0);
            while let Some(e) = self.entry(next) {
                if e.range.start < part.end && part.start < e.range.end {
                    out |= e.taken;
                }
                next = e.next;
            }
        }
        out
    }

    /// Takes bytes over a range.
    pub(in crate::regalloc) fn take(&mut self, range: Range, more: u128) {
        let inside = inside(range);
        if inside.start < inside.end {
            self.all.take(inside, more);
        }
        for (chunk, part) in ends(range) {
            let Some(first) = self.first.get_mut(chunk as usize) else {
                continue;
            };
            self.entries.push(Entry {
                range: part,
                next: *first,
                taken: more,
            });
            *first = self.entries.len() as u32;
            let of = Range {
                start: chunk,
                end: chunk + 1,
            };
            self.some.take(of, more);
        }
    }

    fn entry(&self, number: u32) -> Option<&Entry> {
        self.entries.get((number as usize).checked_sub(1)?)
    }

    /// Bytes of its lists, as they were asked for.
    #[cfg(test)]
    pub(in crate::regalloc) fn bytes(&self) -> usize {
        let own = self.first.capacity() * size_of::<u32>();
        let entries = self.entries.capacity() * size_of::<Entry>();
        own + entries + self.all.bytes() + self.some.bytes()
    }
}
