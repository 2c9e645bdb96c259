//! Free addresses of the simulated device.
//!
//! Addresses that were never used are handed out first, so that a use after free still faults.
//! Freed ranges rest: they are reused only after many later frees, or when no new addresses are
//! left.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

/// Limit on the number of resting ranges.
const RESTING: usize = 1 << 16;

/// Free addresses of a space.
pub(super) struct FreeRanges {
    /// First of all addresses.
    first: u64,
    /// Addresses that were never used.
    new: Range<u64>,
    /// Resting ranges, the oldest first.
    resting: VecDeque<Range<u64>>,
    /// Free ranges that no longer rest, from start to end. No two touch.
    free: BTreeMap<u64, u64>,
    /// Free ranges by length and start.
    by_length: BTreeSet<(u64, u64)>,
}

impl FreeRanges {
    pub(super) fn new(all: Range<u64>) -> FreeRanges {
        FreeRanges {
            first: all.start,
            new: all,
            resting: VecDeque::new(),
            free: BTreeMap::new(),
            by_length: BTreeSet::new(),
        }
    }

    /// Takes addresses of a length and returns the first. Resting ranges are released only if
    /// nothing else is left, the oldest first.
    pub(super) fn take(&mut self, length: u64) -> Option<u64> {
        loop {
            if self.new.end - self.new.start >= length {
                let first = self.new.start;
                self.new.start += length;
                return Some(first);
            }
            if let Some(&(have, first)) = self.by_length.range((length, 0)..).next() {
                self.remove(first, have);
                if have > length {
                    self.insert(first + length, have - length);
                }
                return Some(first);
            }
            let oldest = self.resting.pop_front()?;
            self.release(oldest);
        }
    }

    /// Returns true if some of the addresses have been handed out, and may be in use.
    pub(super) fn has_handed_out(&self, range: &Range<u64>) -> bool {
        range.start < self.new.start && range.end > self.first
    }

    /// Returns addresses, which begin to rest.
    pub(super) fn give(&mut self, range: Range<u64>) {
        self.resting.push_back(range);
        if self.resting.len() > RESTING
            && let Some(oldest) = self.resting.pop_front()
        {
            self.release(oldest);
        }
    }

    fn insert(&mut self, first: u64, length: u64) {
        self.free.insert(first, first + length);
        self.by_length.insert((length, first));
    }

    fn remove(&mut self, first: u64, length: u64) {
        self.free.remove(&first);
        self.by_length.remove(&(length, first));
    }

    /// Releases addresses, merged with adjacent free ranges.
    fn release(&mut self, range: Range<u64>) {
        let Range { mut start, mut end } = range;
        if let Some((&first, &last)) = self.free.range(..start).next_back()
            && last == start
        {
            self.remove(first, last - first);
            start = first;
        }
        if let Some(&last) = self.free.get(&end) {
            self.remove(end, last - end);
            end = last;
        }
        if end == self.new.start {
            self.new.start = start;
        } else {
            self.insert(start, end - start);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_back_rests_and_is_free_as_one() {
        let mut r = FreeRanges::new(0..100);
        let all: Vec<u64> = (0..10).map(|_| r.take(10).unwrap()).collect();
        assert_eq!(all, (0..10).map(|n| n * 10).collect::<Vec<_>>());
        assert_eq!(r.take(1), None);
        for n in [30, 70, 40, 20] {
            r.give(n..n + 10);
        }
        // The shortest free range that is long enough. No more ranges are released than needed.
        assert_eq!(r.take(4), Some(30));
        assert_eq!((r.resting.len(), r.free.len()), (3, 1));
        assert_eq!(r.take(10), Some(70));
        assert_eq!(r.take(16), Some(34), "merged with its neighbour");
        r.give(30..34);
        r.give(34..50);
        assert_eq!(r.take(30), Some(20));
        assert_eq!(r.take(1), None);
    }

    #[test]
    fn nothing_is_given_twice() {
        let mut seed = 5u64;
        let mut next = |n: u64| {
            seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            (seed >> 33) % n
        };
        let mut r = FreeRanges::new(0..50_000);
        let mut taken: BTreeMap<u64, u64> = BTreeMap::new();
        let mut refused = 0;
        for step in 0..100_000 {
            if next(2) == 0 {
                let n = 1 + next(400);
                let Some(first) = r.take(n) else {
                    refused += 1;
                    continue;
                };
                assert!(first + n <= 50_000);
                let below = taken.range(..first + n).next_back();
                assert!(below.is_none_or(|(_, end)| *end <= first));
                taken.insert(first, first + n);
            } else if let Some((&first, &end)) = taken.range(next(50_000)..).next() {
                taken.remove(&first);
                r.give(first..end);
            }
            if step % 500 != 0 {
                continue;
            }
            let free: u64 = r.free.iter().map(|(a, b)| b - a).sum();
            assert_eq!(r.free.len(), r.by_length.len());
            let resting: u64 = r.resting.iter().map(|r| r.end - r.start).sum();
            let held: u64 = taken.iter().map(|(a, b)| b - a).sum();
            assert_eq!(free + resting + held + (r.new.end - r.new.start), 50_000);
        }
        assert!(refused > 100);
        // All addresses, once returned, form one range.
        for (first, end) in taken {
            r.give(first..end);
        }
        assert!(r.take(50_000).is_some());
    }
}
