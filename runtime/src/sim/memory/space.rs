//! The device's address space: buffers at their addresses, and what a launch sees of them.

use super::ranges::Ranges;
use super::{Block, Mapped, Table};
use crate::backend::BufferBackend;
use crate::error::Error;
use std::cell::Cell;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Address of the first allocation. High, so that a truncated pointer is an invalid one.
const FIRST: u64 = 0x5500_0000_0000;
/// Distance and alignment of allocations; the gap between them catches runs past an end.
const GAP: u64 = 0x1_0000;
/// Bytes that one buffer may have.
const LIMIT: u64 = 1 << 40;
/// Addresses of all buffers.
const ADDRESSES: Range<u64> = FIRST..FIRST + 64 * LIMIT;

/// The device's address space.
pub(crate) struct Space {
    inner: Mutex<Inner>,
}

struct Inner {
    table: Table,
    ranges: Ranges,
}

/// The addresses of so many bytes, with the gap behind them.
fn addresses(bytes: u64) -> Option<u64> {
    bytes.checked_next_multiple_of(GAP)?.checked_add(GAP)
}

impl Space {
    pub(crate) fn new() -> Space {
        Space {
            inner: Mutex::new(Inner {
                table: Table::default(),
                ranges: Ranges::new(ADDRESSES),
            }),
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves addresses for so many bytes.
    pub(crate) fn reserve(self: &Arc<Self>, bytes: u64) -> Result<Reserved, Error> {
        let none = || Error::Buffer(format!("no address space left for {bytes} bytes"));
        let length = addresses(bytes).ok_or_else(none)?;
        let base = self.inner().ranges.take(length).ok_or_else(none)?;
        Ok(Reserved {
            space: self.clone(),
            base,
            length,
        })
    }

    pub(crate) fn alloc(self: &Arc<Self>, bytes: usize) -> Result<Arc<SimBuffer>, Error> {
        if bytes as u64 > LIMIT {
            return Err(Error::Buffer(format!(
                "a buffer of {bytes} bytes is too large"
            )));
        }
        let addresses = self.reserve(bytes as u64)?;
        let base = addresses.base;
        let block = Block::new(bytes)
            .ok_or_else(|| Error::Buffer(format!("no memory left for {bytes} bytes")))?;
        let block = Arc::new(block);
        let mapped = Mapped {
            base,
            block: block.clone(),
        };
        self.inner().table.insert(mapped);
        Ok(Arc::new(SimBuffer {
            base,
            block,
            addresses,
        }))
    }

    /// Every allocation, by address, as it is now.
    pub(crate) fn snapshot(&self) -> Table {
        self.inner().table.clone()
    }
}

/// Addresses, until it is dropped.
pub(crate) struct Reserved {
    space: Arc<Space>,
    pub(crate) base: u64,
    length: u64,
}

impl Drop for Reserved {
    fn drop(&mut self) {
        let range = self.base..self.base + self.length;
        self.space.inner().ranges.give(range);
    }
}

/// A buffer of the simulator; its addresses go when it does.
pub(crate) struct SimBuffer {
    pub(crate) base: u64,
    pub(crate) block: Arc<Block>,
    /// Given back after the buffer is out of the table.
    addresses: Reserved,
}

impl Drop for SimBuffer {
    fn drop(&mut self) {
        self.addresses.space.inner().table.remove(self.base);
    }
}

impl BufferBackend for SimBuffer {
    fn len(&self) -> usize {
        self.block.len()
    }

    fn address(&self) -> u64 {
        self.base
    }

    fn read(&self, at: usize, out: &mut [u8]) -> Result<(), Error> {
        self.block.read(at as u64, out);
        Ok(())
    }

    fn write(&self, at: usize, data: &[u8]) -> Result<(), Error> {
        self.block.write(at as u64, data);
        Ok(())
    }

    fn device(&self) -> usize {
        Arc::as_ptr(&self.addresses.space) as usize
    }
}

/// A worker's view of the address space: the launch's snapshot, and blocks of its own. The last block found is kept at
/// hand.
pub(crate) struct View<'t> {
    table: &'t Table,
    own: [Option<&'t Mapped>; 2],
    /// The chunk of the table, and the place there; [`OWN`] and the place among the view's own.
    last: Cell<(usize, usize)>,
}

/// The table has no such chunk.
const OWN: usize = usize::MAX;

impl<'t> View<'t> {
    pub(crate) fn new(table: &'t Table, own: [Option<&'t Mapped>; 2]) -> View<'t> {
        View {
            table,
            own,
            last: Cell::new((0, 0)),
        }
    }

    /// The block with `n` bytes from `address` on, and the offset in it.
    #[inline(always)]
    pub(crate) fn find(&self, address: u64, n: u64) -> Option<(&Block, u64)> {
        if let Some(hit) = self
            .get(self.last.get())
            .and_then(|m| within(m, address, n))
        {
            return Some(hit);
        }
        self.search(address, n)
    }

    #[inline(always)]
    fn get(&self, (chunk, at): (usize, usize)) -> Option<&Mapped> {
        match self.table.get((chunk, at)) {
            None if chunk == OWN => self.own.get(at).copied().flatten(),
            found => found,
        }
    }

    #[inline(never)]
    fn search(&self, address: u64, n: u64) -> Option<(&Block, u64)> {
        let place = self.nearest(address)?;
        self.last.set(place);
        within(self.get(place)?, address, n)
    }

    /// The last block that begins at or below an address.
    fn nearest(&self, address: u64) -> Option<(usize, usize)> {
        let begin = |place| self.get(place).map_or(0, |m| m.base);
        let mut best = self.table.below(address);
        for at in 0..self.own.len() {
            let own = (OWN, at);
            let base = begin(own);
            if base != 0 && base <= address && best.is_none_or(|b| begin(b) < base) {
                best = Some(own);
            }
        }
        best
    }

    /// The nearest block below an address, for messages: its base and size.
    pub(crate) fn near(&self, address: u64) -> Option<(u64, u64)> {
        let m = self.get(self.nearest(address)?)?;
        Some((m.base, m.block.len() as u64))
    }
}

/// An access in a block, if it is all inside.
#[inline(always)]
fn within(m: &Mapped, address: u64, n: u64) -> Option<(&Block, u64)> {
    let at = address.checked_sub(m.base)?;
    m.block.holds(at, n).then_some((&*m.block, at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_dropped_buffers_fault_and_come_again() {
        let space = Arc::new(Space::new());
        let kept = space.alloc(100).unwrap();
        let first = space.alloc(1 << 30).unwrap().base;
        let table = space.snapshot();
        let view = View::new(&table, [None; 2]);
        assert!(view.find(kept.base + 92, 8).is_some());
        assert!(view.find(kept.base + 93, 8).is_none());
        assert!(view.find(first, 4).is_none(), "it is gone");
        // More than three times all addresses.
        let mut again = None;
        for n in 0..200_000u32 {
            // The host's part of a buffer takes its time.
            let base = match n % 64 {
                0 => space.alloc(1 << 30).unwrap().base,
                _ => space.reserve(1 << 30).unwrap().base,
            };
            if base == first {
                again.get_or_insert(n);
            }
        }
        assert!(again.is_some_and(|n| n > 60_000), "{again:?}");
        // And when most of them are taken.
        let most: Vec<Reserved> = (0..65_000)
            .map(|_| space.reserve(1 << 30).unwrap())
            .collect();
        for _ in 0..10_000 {
            space.reserve(1 << 30).unwrap();
        }
        assert!(
            (0..1000)
                .map(|_| space.reserve(1 << 30))
                .collect::<Result<Vec<_>, _>>()
                .is_err()
        );
        drop(most);
        assert!(space.reserve(LIMIT * 32).is_ok(), "it is one piece");
        assert_eq!(space.snapshot().iter().count(), 1);
    }

    #[test]
    fn own_blocks_are_seen_among_the_others() {
        let space = Arc::new(Space::new());
        let below = space.alloc(64).unwrap();
        let place = space.reserve(64).unwrap();
        let above = space.alloc(64).unwrap();
        let own = Mapped {
            base: place.base,
            block: Arc::new(Block::new(64).unwrap()),
        };
        let table = space.snapshot();
        let view = View::new(&table, [None, Some(&own)]);
        for (base, block) in [
            (below.base, &*below.block),
            (own.base, &*own.block),
            (above.base, &*above.block),
        ] {
            let (found, at) = view.find(base + 8, 8).unwrap();
            assert!(std::ptr::eq(found, block) && at == 8);
            assert!(view.find(base + 64, 1).is_none());
            assert_eq!(view.near(base + 100), Some((base, 64)));
        }
    }
}
