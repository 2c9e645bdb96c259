//! The allocation map: for each GRF, which of its bytes are taken at which program points.

use crate::liveness::Range;
use crate::target::GrfFile;
use std::collections::BTreeMap;

type Map = BTreeMap<u32, Taken>;

/// From its key on, up to `end`, these bytes of the GRF are taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Taken {
    end: u32,
    bytes: u64,
}

/// Per GRF an ordered map from program point to the bytes taken; all maps share one pool. Entries of a GRF never overlap in
/// time: where two values share a GRF, the time they share is an entry of its own.
pub struct AllocationMap {
    grf: u32,
    grfs: Vec<Map>,
    /// What is taken while routines run that know nothing of it: values of different callers may be in one place.
    weak: Vec<Map>,
    /// While a place is looked for: what is taken in each GRF, as far as that was asked.
    known: Vec<Option<u64>>,
}

/// When a value lives.
#[derive(Clone, Copy, Debug)]
pub struct Life<'a> {
    /// In order.
    pub ranges: &'a [Range],
    /// The bodies of routines that it lives across.
    pub weak: &'a [Range],
}

/// The bytes of GRF `n`, of `grf` bytes (64 at most), that `bytes` bytes from address `at` cover.
pub(super) fn mask(grf: u32, n: u32, at: u32, bytes: u32) -> u64 {
    let first = at.max(n * grf) - n * grf;
    let last = (at + bytes).min((n + 1) * grf) - n * grf;
    u64::MAX >> (64 - (last - first).clamp(1, 64)) << first
}

impl Default for AllocationMap {
    /// Of a file without registers.
    fn default() -> Self {
        AllocationMap {
            grf: 0,
            grfs: Vec::new(),
            weak: Vec::new(),
            known: Vec::new(),
        }
    }
}

impl AllocationMap {
    /// Empties it for another function; its memory stays.
    pub fn clear(&mut self, file: GrfFile) {
        self.grf = file.bytes;
        for maps in [&mut self.grfs, &mut self.weak] {
            maps.clear();
            maps.resize_with(file.count as usize, Map::new);
        }
    }

    /// The bytes of a GRF that are taken somewhere in a range.
    fn taken(map: &Map, range: Range) -> u64 {
        let mut out = 0;
        // From the last one that begins in the range to the one that reaches into it.
        for (_, t) in map.range(..range.end).rev() {
            if t.end <= range.start {
                break;
            }
            out |= t.bytes;
        }
        out
    }

    /// The bytes of a GRF that a value with such a life cannot have.
    fn blocked(&self, grf: u32, life: Life<'_>) -> u64 {
        let n = grf as usize;
        let (Some(strong), Some(weak)) = (self.grfs.get(n), self.weak.get(n)) else {
            return u64::MAX;
        };
        let whole = mask(self.grf, 0, 0, self.grf);
        let mut out = 0;
        for (map, ranges) in [
            (strong, life.ranges),
            (weak, life.ranges),
            (strong, life.weak),
        ] {
            if map.is_empty() {
                continue;
            }
            for range in ranges {
                out |= AllocationMap::taken(map, *range);
                if out == whole {
                    return out;
                }
            }
        }
        out
    }

    /// The lowest free place of so many bytes, so aligned, in the bytes `within`, for a value with such a life. In bytes.
    pub fn find(
        &mut self,
        bytes: u32,
        align: u32,
        within: std::ops::Range<u32>,
        life: Life<'_>,
    ) -> Option<u32> {
        let grf = self.grf;
        let lowest = within.start;
        let end = within.end.min(self.grfs.len() as u32 * grf);
        let align = align.max(1);
        let mut at = lowest.next_multiple_of(align);
        // What is taken in a GRF over all ranges is asked once per GRF, not once per place.
        let mut known = std::mem::take(&mut self.known);
        known.clear();
        known.resize(self.grfs.len(), None);
        let mut found = None;
        while at + bytes <= end {
            let blocked = (at / grf..(at + bytes).div_ceil(grf)).find(|&g| {
                let taken = known[g as usize].get_or_insert_with(|| self.blocked(g, life));
                *taken & mask(grf, g, at, bytes) != 0
            });
            match blocked {
                None => {
                    found = Some(at);
                    break;
                }
                // A run of GRFs goes on behind the GRF in its way.
                Some(g) if align >= grf => at = ((g + 1) * grf).next_multiple_of(align),
                Some(_) => at += align,
            }
        }
        self.known = known;
        found
    }

    /// Takes `bytes` bytes at `at` for a value with such a life.
    pub fn insert(&mut self, at: u32, bytes: u32, life: Life<'_>) {
        let size = self.grf;
        for grf in at / size..(at + bytes).div_ceil(size) {
            let m = mask(size, grf, at, bytes);
            let n = grf as usize;
            if let Some(map) = self.grfs.get_mut(n) {
                life.ranges.iter().for_each(|r| take(map, *r, m));
            }
            if let Some(map) = self.weak.get_mut(n) {
                life.weak.iter().for_each(|r| take(map, *r, m));
            }
        }
    }
}

/// Takes bytes of a GRF over a range.
fn take(map: &mut Map, range: Range, bytes: u64) {
    // Cut the entry that spans the range's start, then add to or fill in what lies within it.
    if let Some((_, t)) = map.range_mut(..range.start).next_back()
        && t.end > range.start
    {
        let tail = *t;
        t.end = range.start;
        map.insert(range.start, tail);
    }
    let mut at = range.start;
    while at < range.end {
        match map.range_mut(at..).next() {
            Some((&key, t)) if key == at => {
                let tail = *t;
                t.end = tail.end.min(range.end);
                t.bytes |= bytes;
                at = t.end;
                if tail.end > range.end {
                    map.insert(range.end, tail);
                }
            }
            next => {
                let end = next.map_or(range.end, |(k, _)| (*k).min(range.end));
                map.insert(at, Taken { end, bytes });
                at = end;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: GrfFile = GrfFile {
        bytes: 32,
        count: 2,
    };

    const fn range(start: u32, end: u32) -> Range {
        Range { start, end }
    }

    fn empty(file: GrfFile) -> AllocationMap {
        let mut map = AllocationMap::default();
        map.clear(file);
        map
    }

    fn life(ranges: &[Range]) -> Life<'_> {
        Life { ranges, weak: &[] }
    }

    #[test]
    fn small_values_share_a_grf() {
        let mut m = empty(FILE);
        m.insert(0, 4, life(&[range(0, 10)]));
        assert_eq!(m.find(4, 4, 0..u32::MAX, life(&[range(5, 6)])), Some(4));
        assert_eq!(m.find(4, 4, 0..u32::MAX, life(&[range(10, 12)])), Some(0));
        assert_eq!(m.find(32, 32, 0..u32::MAX, life(&[range(9, 12)])), Some(32));
        assert_eq!(m.find(64, 32, 0..u32::MAX, life(&[range(9, 12)])), None);
    }

    #[test]
    fn values_of_different_callers_share_a_place() {
        let mut m = empty(FILE);
        let weak = [range(100, 200)];
        let (first, later, both) = ([range(0, 10)], [range(10, 20)], [range(5, 20)]);
        let across = |ranges| Life {
            ranges,
            weak: &weak,
        };
        m.insert(0, 32, across(&first));
        assert_eq!(m.find(32, 32, 0..u32::MAX, across(&later)), Some(0));
        assert_eq!(m.find(32, 32, 0..u32::MAX, across(&both)), Some(32));
        // Not with what is in the routine.
        assert_eq!(
            m.find(32, 32, 0..u32::MAX, life(&[range(150, 151)])),
            Some(32)
        );
        m.insert(32, 32, life(&[range(150, 151)]));
        assert_eq!(m.find(32, 32, 0..u32::MAX, across(&both)), None);
    }

    /// Against a plain table of points by bytes, over random insertions.
    #[test]
    fn agrees_with_a_table() {
        let mut seed = 0x1234_5678_9abc_def0u64;
        eprintln!("seed {seed:#x}");
        let mut next = move |n: u32| {
            seed = seed
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            ((seed >> 33) as u32) % n
        };
        const POINTS: usize = 60;
        for _ in 0..50 {
            let mut m = empty(GrfFile { count: 4, ..FILE });
            let mut table = vec![[false; 128]; POINTS];
            for _ in 0..40 {
                let start = next(50);
                let ranges = [
                    range(start, start + 1 + next(5)),
                    range((start + 6).min(58), (start + 7).min(59)),
                ];
                let bytes = 1 << next(7);
                let align = bytes.min(32);
                let free = |at: u32| {
                    ranges.iter().all(|r| {
                        (r.start..r.end)
                            .all(|p| (at..at + bytes).all(|b| !table[p as usize][b as usize]))
                    })
                };
                let expect = (0..128)
                    .step_by(align as usize)
                    .find(|&at| at + bytes <= 128 && free(at));
                assert_eq!(m.find(bytes, align, 0..u32::MAX, life(&ranges)), expect);
                if let Some(at) = expect {
                    m.insert(at, bytes, life(&ranges));
                    for r in &ranges {
                        for p in r.start..r.end {
                            for b in at..at + bytes {
                                table[p as usize][b as usize] = true;
                            }
                        }
                    }
                }
            }
        }
    }
}
