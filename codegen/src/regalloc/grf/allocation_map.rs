//! The allocation map records which bytes of the GRF file are occupied at which program points.
//!
//! Most values occupy whole GRFs. One [`Timeline`] has a bit per GRF, so a single query tells which
//! GRFs are free over a whole live range. GRFs that are only partly occupied have further timelines
//! with a bit per byte. There are many of those, so their memory grows with the number of values,
//! not of points ([`SparseTimeline`]).

use super::sparse_map::SparseTimeline;
use super::timeline::Timeline;
use crate::mir::liveness::Range;
use crate::target::GrfFile;
use std::ops::BitOrAssign;

/// Occupied GRFs, one bit each.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct OccupiedGrfs {
    /// GRFs that one value occupies completely.
    whole: u128,
    /// GRFs that are occupied in part.
    part: u128,
}

impl BitOrAssign for OccupiedGrfs {
    fn bitor_assign(&mut self, other: OccupiedGrfs) {
        self.whole |= other.whole;
        self.part |= other.part;
    }
}

/// Number of bits of a timeline.
const BANK: u32 = u128::BITS;

/// Occupied bytes of a few GRFs, one bit each. The memory is cleared when the first byte is
/// occupied.
#[derive(Default)]
struct ByteBank {
    used: bool,
    taken: SparseTimeline,
}

/// Bytes occupied by either strong or weak live ranges.
#[derive(Default)]
struct Occupied {
    points: u32,
    /// Timelines of GRFs, [`BANK`] of them each.
    grfs: Vec<Timeline<OccupiedGrfs>>,
    /// Timelines of bytes, [`BANK`] of them each.
    bytes: Vec<ByteBank>,
    any: bool,
}

impl Occupied {
    fn clear(&mut self, file: GrfFile, points: u32) {
        (self.points, self.any) = (points, false);
        self.grfs
            .resize_with(file.count.div_ceil(BANK) as usize, Timeline::default);
        self.grfs.iter_mut().for_each(|b| b.clear(points));
        self.bytes
            .resize_with(file.size().div_ceil(BANK) as usize, ByteBank::default);
        self.bytes.iter_mut().for_each(|b| b.used = false);
    }

    /// Returns the bytes of a bank that lie in partly occupied GRFs and are occupied within the
    /// ranges.
    fn parts(&self, bank: usize, ranges: &[Range]) -> u128 {
        let mut out = 0;
        if let Some(b) = self.bytes.get(bank).filter(|b| b.used) {
            ranges.iter().for_each(|r| out |= b.taken.taken(*r));
        }
        out
    }

    /// Marks `bytes` bytes at `at` as occupied over the ranges. GRFs have `size` bytes.
    fn take(&mut self, size: u32, at: u32, bytes: u32, ranges: &[Range]) {
        self.any |= !ranges.is_empty();
        let end = at + bytes;
        let grfs = at / size..end.div_ceil(size);
        let whole = at.div_ceil(size)..end / size;
        for (n, bank) in (0u32..).zip(&mut self.grfs) {
            let inside = |of: &std::ops::Range<u32>| bits(n, of);
            let whole = inside(&whole);
            let part = inside(&grfs) & !whole;
            if whole | part != 0 {
                let more = OccupiedGrfs { whole, part };
                ranges.iter().for_each(|r| bank.take(*r, more));
            }
        }
        if whole == grfs {
            return;
        }
        // Completely occupied GRFs are recorded above.
        let parts = if whole.start < whole.end {
            [at..whole.start * size, whole.end * size..end]
        } else {
            [at..end, end..end]
        };
        for part in parts.iter().filter(|p| p.start < p.end) {
            for n in part.start / BANK..part.end.div_ceil(BANK) {
                let Some(b) = self.bytes.get_mut(n as usize) else {
                    break;
                };
                if !std::mem::replace(&mut b.used, true) {
                    b.taken.clear(self.points);
                }
                let more = bits(n, part);
                ranges.iter().for_each(|r| b.taken.take(*r, more));
            }
        }
    }
}

/// Returns the bits of a range that lie in a bank.
fn bits(bank: u32, of: &std::ops::Range<u32>) -> u128 {
    let first = of.start.max(bank * BANK);
    let end = of.end.min((bank + 1) * BANK);
    match end.checked_sub(first) {
        None | Some(0) => 0,
        Some(n) => u128::MAX >> (BANK - n) << (first - bank * BANK),
    }
}

/// Allocation map of a GRF file. Its memory is reused from one function to the next.
pub struct AllocationMap {
    file: GrfFile,
    strong: Occupied,
    /// Bytes that are occupied across calls while a routine runs that does not know of them. Values
    /// of different callers may share such a place.
    weak: Occupied,
    /// Occupied GRFs of each bank, as found by the last query.
    taken: Vec<OccupiedGrfs>,
}

/// Live ranges of a value.
#[derive(Clone, Copy, Debug)]
pub struct LiveRanges<'a> {
    /// Ranges in order.
    pub ranges: &'a [Range],
    /// Bodies of the routines that the value is live across.
    pub weak: &'a [Range],
}

/// Returns the bytes of GRF `n` that `bytes` bytes from address `at` cover. A GRF has `grf` bytes,
/// 64 at most.
pub(in crate::regalloc) fn mask(grf: u32, n: u32, at: u32, bytes: u32) -> u64 {
    let first = at.max(n * grf) - n * grf;
    let last = (at + bytes).min((n + 1) * grf) - n * grf;
    u64::MAX >> (64 - (last - first).clamp(1, 64)) << first
}

/// Returns the first GRF from `from` on that is in a set, or not in it.
fn next(set: impl Fn(usize) -> Option<u128>, from: u32, is: bool) -> u32 {
    let mut grf = from;
    while let Some(bits) = set((grf / BANK) as usize) {
        let bits = (if is { bits } else { !bits }) >> (grf % BANK);
        if bits != 0 {
            return grf + bits.trailing_zeros();
        }
        grf = (grf / BANK + 1) * BANK;
    }
    grf
}

impl Default for AllocationMap {
    /// Returns the map of an empty GRF file.
    fn default() -> Self {
        AllocationMap {
            file: GrfFile { bytes: 1, count: 0 },
            strong: Occupied::default(),
            weak: Occupied::default(),
            taken: Vec::new(),
        }
    }
}

impl AllocationMap {
    /// Clears the map for a function with `points` program points. Keeps its memory.
    pub fn clear(&mut self, file: GrfFile, points: u32) {
        self.strong.clear(file, points);
        if self.weak.any || self.file != file {
            self.weak.clear(file, 0);
        }
        self.file = file;
    }

    /// Finds the GRFs that a live value cannot have.
    fn query(&mut self, live: LiveRanges<'_>) {
        self.taken.clear();
        let banks = self.strong.grfs.iter().zip(&self.weak.grfs);
        self.taken.extend(banks.map(|(strong, weak)| {
            let mut out = OccupiedGrfs::default();
            for range in live.ranges {
                out |= strong.taken(*range);
                if out.whole == u128::MAX {
                    break;
                }
            }
            live.weak.iter().for_each(|r| out |= strong.taken(*r));
            if self.weak.any {
                live.ranges.iter().for_each(|r| out |= weak.taken(*r));
            }
            out
        }));
    }

    /// Returns the bytes of a GRF that a value with these live ranges cannot have. `last` caches
    /// the last bank queried and its occupied bytes.
    fn blocked(&self, grf: u32, live: LiveRanges<'_>, last: &mut (u32, u128)) -> u64 {
        let Some(taken) = self.taken.get((grf / BANK) as usize) else {
            return u64::MAX;
        };
        let bit = 1 << (grf % BANK);
        if taken.whole & bit != 0 {
            return u64::MAX;
        }
        if taken.part & bit == 0 {
            return 0;
        }
        let at = grf * self.file.bytes;
        let n = at / BANK;
        if last.0 != n {
            let bank = n as usize;
            let strong = self.strong.parts(bank, live.ranges) | self.strong.parts(bank, live.weak);
            *last = (n, strong | self.weak.parts(bank, live.ranges));
        }
        (last.1 >> (at % BANK)) as u64
    }

    /// Returns the lowest free address in `within` for a value of `bytes` bytes with this alignment
    /// and these live ranges.
    pub fn find(
        &mut self,
        bytes: u32,
        align: u32,
        within: std::ops::Range<u32>,
        live: LiveRanges<'_>,
    ) -> Option<u32> {
        let grf = self.file.bytes;
        let end = within.end.min(self.file.size());
        let align = align.max(1);
        let mut at = within.start.next_multiple_of(align);
        self.query(live);
        let whole = |n: usize| self.taken.get(n).map(|t| t.whole);
        if align >= grf && bytes.is_multiple_of(grf) {
            let any = |n: usize| self.taken.get(n).map(|t| t.whole | t.part);
            while at + bytes <= end {
                let taken = next(any, at / grf, true);
                if taken >= (at + bytes) / grf {
                    return Some(at);
                }
                at = (next(any, taken, false) * grf).next_multiple_of(align);
            }
            return None;
        }
        let mut last = (u32::MAX, 0);
        if bytes <= align && align < grf {
            // The value fits into one GRF. All of its starts are tested at once.
            let starts = (u64::MAX / ((1 << align) - 1)) & mask(grf, 0, 0, grf);
            while at + bytes <= end {
                let g = at / grf;
                // Smears occupied bits so that each bit covers `bytes` bytes from there on.
                let mut taken = self.blocked(g, live, &mut last);
                let mut have = 1;
                while have < bytes {
                    let more = have.min(bytes - have);
                    taken |= taken >> more;
                    have += more;
                }
                let free = !taken & starts & (u64::MAX << (at - g * grf));
                if free != 0 {
                    let found = g * grf + free.trailing_zeros();
                    return Some(found).filter(|at| at + bytes <= end);
                }
                at = next(whole, g + 1, false) * grf;
            }
            return None;
        }
        while at + bytes <= end {
            let blocked = (at / grf..(at + bytes).div_ceil(grf))
                .find(|&g| self.blocked(g, live, &mut last) & mask(grf, g, at, bytes) != 0);
            let aligned_start = |g: u32| (g * grf).next_multiple_of(align);
            at = match blocked {
                None => return Some(at),
                // Continues after the occupied GRF.
                Some(g) if align >= grf => aligned_start(g + 1),
                Some(g) => match next(whole, g, false) {
                    free if free == g => at + align,
                    free => aligned_start(free),
                },
            };
        }
        None
    }

    /// Returns the bytes of allocated memory.
    #[cfg(test)]
    fn memory(&self) -> usize {
        let of = |file: &Occupied| {
            let grfs = file.grfs.iter().map(Timeline::bytes).sum::<usize>();
            let bytes = file.bytes.iter().map(|b| b.taken.bytes()).sum::<usize>();
            grfs + bytes
        };
        of(&self.strong) + of(&self.weak)
    }

    /// Marks `bytes` bytes at `at` as occupied for a value with these live ranges.
    pub fn insert(&mut self, at: u32, bytes: u32, live: LiveRanges<'_>) {
        let size = self.file.bytes;
        self.strong.take(size, at, bytes, live.ranges);
        if !live.weak.is_empty() {
            if !self.weak.any {
                self.weak.clear(self.file, self.strong.points);
            }
            self.weak.take(size, at, bytes, live.weak);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzzing::Rng;

    const FILE: GrfFile = GrfFile {
        bytes: 32,
        count: 2,
    };

    const fn range(start: u32, end: u32) -> Range {
        Range { start, end }
    }

    fn empty(file: GrfFile) -> AllocationMap {
        let mut map = AllocationMap::default();
        map.clear(file, 1000);
        map
    }

    fn live(ranges: &[Range]) -> LiveRanges<'_> {
        LiveRanges { ranges, weak: &[] }
    }

    #[test]
    fn small_values_share_a_grf() {
        let mut m = empty(FILE);
        m.insert(0, 4, live(&[range(0, 10)]));
        assert_eq!(m.find(4, 4, 0..u32::MAX, live(&[range(5, 6)])), Some(4));
        assert_eq!(m.find(4, 4, 0..u32::MAX, live(&[range(10, 12)])), Some(0));
        assert_eq!(m.find(32, 32, 0..u32::MAX, live(&[range(9, 12)])), Some(32));
        assert_eq!(m.find(64, 32, 0..u32::MAX, live(&[range(9, 12)])), None);
    }

    #[test]
    fn values_of_different_callers_share_a_place() {
        let mut m = empty(FILE);
        let weak = [range(100, 200)];
        let (first, later, both) = ([range(0, 10)], [range(10, 20)], [range(5, 20)]);
        let across = |ranges| LiveRanges {
            ranges,
            weak: &weak,
        };
        m.insert(0, 32, across(&first));
        assert_eq!(m.find(32, 32, 0..u32::MAX, across(&later)), Some(0));
        assert_eq!(m.find(32, 32, 0..u32::MAX, across(&both)), Some(32));
        // A weak range does not share a place with a value of the routine itself.
        assert_eq!(
            m.find(32, 32, 0..u32::MAX, live(&[range(150, 151)])),
            Some(32)
        );
        m.insert(32, 32, live(&[range(150, 151)]));
        assert_eq!(m.find(32, 32, 0..u32::MAX, across(&both)), None);
    }

    /// A table of points by bytes would take 64 MiB.
    #[test]
    fn parts_of_grfs_take_memory_by_values() {
        let file = GrfFile {
            bytes: 64,
            count: 128,
        };
        let (points, values) = (1 << 16, 1 << 12);
        let mut m = AllocationMap::default();
        m.clear(file, points);
        let start = |n: u32| n * (points / values);
        for n in 0..values {
            let ranges = [range(start(n), start(n) + 300)];
            let at = m.find(32, 32, 0..u32::MAX, live(&ranges)).unwrap();
            m.insert(at, 32, live(&ranges));
        }
        let all = range(0, points);
        assert_eq!(m.find(32, 32, 0..19 * 32, live(&[all])), None);
        assert!(m.memory() < 8 << 20, "{} bytes", m.memory());
    }

    /// Compares the map with a plain table of points by bytes, over random insertions.
    #[test]
    fn agrees_with_a_table() {
        const SEED: u64 = 12;
        eprintln!("seed {SEED}");
        let mut rng = Rng::new(SEED);
        let (mut found, mut none) = (0, 0);
        let mut m = AllocationMap::default();
        for n in 0..60 {
            let points = [60, 300, 1100][n % 3];
            let grfs = [(4, 32), (140, 32), (256, 64), (3, 64)][n % 4];
            let file = GrfFile {
                count: grfs.0,
                bytes: grfs.1,
            };
            let size = file.size();
            // The second routine is the last third of the points. None of its values has weak
            // ranges.
            let body = range(points / 3 * 2, points);
            let weak = n % 2 == 1;
            m.clear(file, points);
            // Per byte and point: occupied by a strong range, occupied by a weak range.
            let mut table = vec![vec![[false; 2]; points as usize]; size as usize];
            for _ in 0..150 {
                let mut ranges = Vec::new();
                let inside = weak && rng.below(3) == 0;
                let (mut at, end) = if inside {
                    (body.start, body.end)
                } else if weak {
                    (0, body.start)
                } else {
                    (0, points)
                };
                while at + 1 < end && ranges.len() < 4 {
                    let start = at + rng.below(end - at);
                    let most = 1 + rng.below(1 + [4, 40, 600][n % 3]);
                    at = end.min(start + 1 + rng.below(most));
                    ranges.push(range(start, at));
                    at += 1;
                }
                let across: &[Range] = if weak && !inside && rng.below(2) == 0 {
                    &[body]
                } else {
                    &[]
                };
                let live = LiveRanges {
                    ranges: &ranges,
                    weak: across,
                };
                let bytes = match rng.below(3) {
                    0 => 1 << rng.below(8),
                    1 => 1 + rng.below(5 * file.bytes),
                    _ => file.bytes * (1 + rng.below(4)),
                };
                let align = 1 << rng.below(file.bytes.trailing_zeros() + 1);
                let first = rng.below(2) * rng.below(size);
                let all = |ranges: &'_ [Range], of: &[[bool; 2]], kinds: &[usize]| {
                    ranges.iter().all(|r| {
                        let points = &of[r.start as usize..r.end as usize];
                        points.iter().all(|p| kinds.iter().all(|&k| !p[k]))
                    })
                };
                let free: Vec<bool> = table
                    .iter()
                    .map(|b| all(&ranges, b, &[0, 1]) && all(across, b, &[0]))
                    .collect();
                let places = (0..size).filter(|at| at % align == 0 && *at >= first);
                let mut places = places.filter(|at| at + bytes <= size);
                let place = |at: u32| at as usize..(at + bytes) as usize;
                let expect = places.find(|&at| free[place(at)].iter().all(|f| *f));
                assert_eq!(m.find(bytes, align, first..u32::MAX, live), expect);
                let Some(at) = expect else {
                    none += 1;
                    continue;
                };
                found += 1;
                m.insert(at, bytes, live);
                for b in &mut table[place(at)] {
                    for (kind, list) in [(0, &ranges[..]), (1, across)] {
                        for r in list {
                            let points = &mut b[r.start as usize..r.end as usize];
                            points.iter_mut().for_each(|p| p[kind] = true);
                        }
                    }
                }
            }
        }
        assert!(found > 3000 && none > 500, "{found}, {none}");
    }
}
