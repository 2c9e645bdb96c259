//! Address space of the device: buffers at their addresses, and a launch's view of them.

use super::ranges::FreeRanges;
use super::{Block, Mapped, Table};
use crate::buffer::BufferBackend;
use crate::error::Error;
use std::cell::Cell;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Address of the first allocation. It is high, so that a truncated pointer is an invalid one.
const FIRST: u64 = 0x5500_0000_0000;
/// Alignment of allocations, and length of the gap after each, which catches accesses past the end.
const GAP: u64 = 0x1_0000;
/// Limit on the bytes of one buffer.
const LIMIT: u64 = 1 << 40;
/// Addresses of all buffers.
const ADDRESSES: Range<u64> = FIRST..FIRST + 64 * LIMIT;

/// Address space of the device.
pub(crate) struct Space {
    inner: Mutex<SpaceState>,
}

struct SpaceState {
    table: Table,
    ranges: FreeRanges,
}

/// Returns the length of the addresses for a number of bytes, including the gap.
fn addresses(bytes: u64) -> Option<u64> {
    bytes.checked_next_multiple_of(GAP)?.checked_add(GAP)
}

impl Space {
    pub(crate) fn new() -> Space {
        Space {
            inner: Mutex::new(SpaceState {
                table: Table::default(),
                ranges: FreeRanges::new(ADDRESSES),
            }),
        }
    }

    fn inner(&self) -> MutexGuard<'_, SpaceState> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves addresses for a number of bytes.
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

    /// Returns the current allocations by address.
    pub(crate) fn snapshot(&self) -> Table {
        self.inner().table.clone()
    }
}

/// Range of addresses, reserved until it is dropped.
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

/// Buffer of the simulator, whose addresses are freed with it.
pub(crate) struct SimBuffer {
    pub(crate) base: u64,
    pub(crate) block: Arc<Block>,
    /// Addresses, freed after the buffer is out of the table.
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

/// View of the address space by a worker: the launch's snapshot, and blocks of the worker's own. It
/// caches the last block found.
pub(crate) struct View<'t> {
    table: &'t Table,
    own: [Option<&'t Mapped>; 2],
    /// Chunk of the table and index there, or [`OWN`] and the index among the view's own blocks.
    last: Cell<(usize, usize)>,
}

/// Number of a chunk that the table does not have.
const OWN: usize = usize::MAX;

impl<'t> View<'t> {
    pub(crate) fn new(table: &'t Table, own: [Option<&'t Mapped>; 2]) -> View<'t> {
        View {
            table,
            own,
            last: Cell::new((0, 0)),
        }
    }

    /// Returns the block with `n` bytes from `address` on, and the offset in it.
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

    /// Returns the last block that begins at or below an address.
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

    /// Returns the base and size of the nearest block below an address, for messages.
    pub(crate) fn near(&self, address: u64) -> Option<(u64, u64)> {
        let m = self.get(self.nearest(address)?)?;
        Some((m.base, m.block.len() as u64))
    }
}

/// Returns an access in a block, if it is all inside.
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
            // Allocating the host's part of a buffer is slow, so most steps only reserve addresses.
            let base = match n % 64 {
                0 => space.alloc(1 << 30).unwrap().base,
                _ => space.reserve(1 << 30).unwrap().base,
            };
            if base == first {
                again.get_or_insert(n);
            }
        }
        assert!(again.is_some_and(|n| n > 60_000), "{again:?}");
        // The same while most addresses are taken.
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
