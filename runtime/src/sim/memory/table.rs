//! Map from addresses to blocks.
//!
//! Launches use the table as it was when they began, while others create and drop buffers. A copy
//! therefore shares everything. A change while a copy exists copies a chunk of some hundred blocks,
//! and the list of chunks.

use super::Block;
use std::ops::Range;
use std::sync::Arc;

/// Block at its address.
#[derive(Clone)]
pub(crate) struct Mapped {
    pub(crate) base: u64,
    pub(crate) block: Arc<Block>,
}

/// Limit on the blocks of a chunk.
const MOST: usize = 512;

/// Blocks by address.
#[derive(Clone, Default)]
pub(crate) struct Table {
    /// Chunks in address order, none empty.
    chunks: Arc<Vec<Arc<Vec<Mapped>>>>,
}

impl Table {
    /// Returns the position of an address: the chunk that it is in, or would be, and an index
    /// there. The index is that of the first block that does not begin at or below it.
    fn place(&self, address: u64) -> (usize, usize) {
        let begins = |c: &Arc<Vec<Mapped>>| c.first().is_some_and(|m| m.base <= address);
        let n = self.chunks.partition_point(begins).saturating_sub(1);
        let chunk = self.chunks.get(n);
        let at = chunk.map_or(0, |c| c.partition_point(|m| m.base <= address));
        (n, at)
    }

    /// Returns the position of the last block that begins at or below an address.
    pub(super) fn below(&self, address: u64) -> Option<(usize, usize)> {
        let (n, at) = self.place(address);
        Some((n, at.checked_sub(1)?))
    }

    /// Returns the block at a position.
    #[inline(always)]
    pub(super) fn get(&self, (n, at): (usize, usize)) -> Option<&Mapped> {
        self.chunks.get(n)?.get(at)
    }

    /// Returns the last block that begins at or below an address.
    fn at_or_below(&self, address: u64) -> Option<&Mapped> {
        self.get(self.below(address)?)
    }

    /// Returns the block that begins at an address.
    pub(crate) fn at(&self, address: u64) -> Option<&Arc<Block>> {
        let found = self.at_or_below(address);
        found.filter(|m| m.base == address).map(|m| &m.block)
    }

    /// Returns true if a block has some of the addresses.
    pub(super) fn overlaps(&self, range: Range<u64>) -> bool {
        let last = range.end.saturating_sub(1);
        let found = self.at_or_below(last);
        found.is_some_and(|m| m.base >= range.start || range.start - m.base < m.block.len() as u64)
    }

    /// Inserts a block at an address where none is.
    pub(super) fn insert(&mut self, new: Mapped) {
        let (n, at) = self.place(new.base);
        let chunks = Arc::make_mut(&mut self.chunks);
        let Some(chunk) = chunks.get_mut(n).map(Arc::make_mut) else {
            chunks.push(Arc::new(vec![new]));
            return;
        };
        chunk.insert(at.min(chunk.len()), new);
        if chunk.len() > MOST {
            // Addresses mostly grow, so the chunk that is left behind is nearly full.
            let last = at + 1 == chunk.len();
            let keep = if last { MOST } else { MOST / 2 };
            let rest = chunk.split_off(keep);
            chunks.insert(n + 1, Arc::new(rest));
        }
    }

    /// Removes the block that begins at an address.
    pub(super) fn remove(&mut self, address: u64) {
        if self.at(address).is_none() {
            return;
        }
        let (n, at) = self.place(address);
        let chunks = Arc::make_mut(&mut self.chunks);
        let Some(chunk) = chunks.get_mut(n).map(Arc::make_mut) else {
            return;
        };
        chunk.remove(at - 1);
        let left = chunk.len();
        if left == 0 {
            chunks.remove(n);
        } else if let Some(next) = chunks.get(n + 1)
            && left + next.len() <= MOST / 2
        {
            let next = chunks.remove(n + 1);
            if let Some(chunk) = chunks.get_mut(n).map(Arc::make_mut) {
                chunk.extend(next.iter().cloned());
            }
        }
    }

    #[cfg(test)]
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Mapped> {
        self.chunks.iter().flat_map(|c| c.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn mapped(base: u64) -> Mapped {
        let block = Arc::new(Block::new(8).unwrap());
        block.store(0, 8, base);
        Mapped { base, block }
    }

    /// A copy costs nothing, and a change beside one copies a chunk at most, however many blocks
    /// there are.
    #[test]
    fn copies_share_what_does_not_change() {
        let mut table = Table::default();
        for n in 0..20_000 {
            table.insert(mapped(n * 16));
        }
        let copy = table.clone();
        assert!(Arc::ptr_eq(&copy.chunks, &table.chunks));
        table.insert(mapped(16 * 7777 + 8));
        table.remove(16 * 12_345);
        let shared = |c: &&Arc<Vec<Mapped>>| copy.chunks.iter().any(|d| Arc::ptr_eq(c, d));
        let all = table.chunks.len();
        assert!(all >= 39, "{all} chunks");
        assert!(table.chunks.iter().filter(shared).count() + 3 >= all);
        assert!(copy.at(16 * 12_345).is_some() && table.at(16 * 12_345).is_none());
    }

    /// Random changes are compared with an ordered map. Copies do not change.
    #[test]
    fn it_is_an_ordered_map() {
        let mut seed = 3u64;
        let mut next = |n: u64| {
            seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            (seed >> 33) % n
        };
        let mut table = Table::default();
        let mut model = BTreeMap::new();
        let mut kept = Vec::new();
        for step in 0..40_000u64 {
            // The table grows first, then shrinks.
            let add = next(100) < if step < 25_000 { 80 } else { 10 };
            let base = 16 * next(6000);
            if add && !model.contains_key(&base) {
                table.insert(mapped(base));
                model.insert(base, ());
            } else if !add {
                let base = model.range(base..).next().map_or(base, |(b, _)| *b);
                table.remove(base);
                model.remove(&base);
            }
            let ask = next(16 * 6000);
            let below = model.range(..=ask).next_back().map(|(b, _)| *b);
            assert_eq!(table.at_or_below(ask).map(|m| m.base), below);
            assert_eq!(table.at(ask).is_some(), model.contains_key(&ask));
            if step % 5000 == 0 {
                kept.push((table.clone(), model.clone()));
            }
        }
        kept.push((table, model));
        for (table, model) in kept {
            let bases: Vec<u64> = table.iter().map(|m| m.base).collect();
            assert_eq!(bases, model.into_keys().collect::<Vec<_>>());
            for m in table.iter() {
                assert_eq!(m.block.load(0, 8), m.base);
            }
            assert!(table.chunks.iter().all(|c| (1..=MOST).contains(&c.len())));
        }
    }
}
