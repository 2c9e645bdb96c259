//! A timeline whose memory grows with the number of ranges, not of points. It is for structures
//! that keep many timelines.
//!
//! Points are grouped into chunks. Two [`Timeline`]s over chunks record which bits are occupied in
//! all of a chunk, and which in a part of one. For the latter a linked list per chunk has the exact
//! ranges.

use super::timeline::Timeline;
use crate::mir::liveness::Range;

/// Points of a chunk, as a power of two.
const CHUNK: u32 = 6;

/// Bits that are occupied in a part of a chunk.
#[derive(Clone, Copy, Debug)]
struct PartialRange {
    range: Range,
    /// Number plus one of the chunk's next entry, or 0.
    next: u32,
    taken: u128,
}

/// Sparse timeline of 128 bits.
#[derive(Clone, Debug, Default)]
pub(in crate::regalloc) struct SparseTimeline {
    /// Bits occupied in all of a chunk.
    all: Timeline<u128>,
    /// Bits occupied in a part of a chunk.
    some: Timeline<u128>,
    /// Number plus one of each chunk's first entry.
    first: Vec<u32>,
    entries: Vec<PartialRange>,
}

/// Returns the chunks that are completely inside a range.
fn inside(range: Range) -> Range {
    Range {
        start: range.start.div_ceil(1 << CHUNK),
        end: range.end >> CHUNK,
    }
}

/// Returns the chunks at the start and end of a range that it only partly covers, with the covered
/// part.
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

impl SparseTimeline {
    /// Clears the timeline for `points` points.
    pub(in crate::regalloc) fn clear(&mut self, points: u32) {
        let chunks = points.div_ceil(1 << CHUNK);
        self.all.clear(chunks);
        self.some.clear(chunks);
        self.first.clear();
        self.first.resize(chunks as usize, 0);
        self.entries.clear();
    }

    /// Returns the bits that are occupied anywhere in a range.
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

    /// Marks bits as occupied over a range.
    pub(in crate::regalloc) fn take(&mut self, range: Range, more: u128) {
        let inside = inside(range);
        if inside.start < inside.end {
            self.all.take(inside, more);
        }
        for (chunk, part) in ends(range) {
            let Some(first) = self.first.get_mut(chunk as usize) else {
                continue;
            };
            self.entries.push(PartialRange {
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

    fn entry(&self, number: u32) -> Option<&PartialRange> {
        self.entries.get((number as usize).checked_sub(1)?)
    }

    /// Returns the bytes of allocated memory.
    #[cfg(test)]
    pub(in crate::regalloc) fn bytes(&self) -> usize {
        let own = self.first.capacity() * size_of::<u32>();
        let entries = self.entries.capacity() * size_of::<PartialRange>();
        own + entries + self.all.bytes() + self.some.bytes()
    }
}
