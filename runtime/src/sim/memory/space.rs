//! Address space of the device: buffers at their addresses, and a launch's view of them.

use super::ranges::FreeRanges;
use super::{Block, Mapped, Table};
use crate::buffer::{BufferBackend, MemoryKind};
use crate::control::Span;
use crate::error::Error;
use crate::host_memory::HostMemory;
use memmap2::MmapMut;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Address of the first allocation. It is above 4 GiB, so that a truncated pointer is an invalid
/// one. Hosts mostly have their own memory at higher addresses than all of these.
const FIRST: u64 = 0x0010_0000_0000;
/// Alignment of allocations, and length of the gap after each, which catches accesses past the end.
const GAP: u64 = 0x1_0000;
/// Limit on the bytes of one buffer.
const LIMIT: u64 = 1 << 40;
/// Addresses of all buffers.
const ADDRESSES: Range<u64> = FIRST..FIRST + 64 * LIMIT;

/// Number of times that the host is asked for other addresses.
const TRIES: usize = 16;
/// Bytes of a fill that are written at a time.
const FILL: usize = 4096;

fn no_memory(bytes: usize) -> Error {
    Error::Buffer(format!("no memory left for {bytes} bytes"))
}

/// Address space of the device.
pub(crate) struct Space {
    inner: Mutex<SpaceState>,
}

struct SpaceState {
    table: Table,
    ranges: FreeRanges,
    /// Buffers by address.
    buffers: BTreeMap<u64, Weak<SimBuffer>>,
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
                buffers: BTreeMap::new(),
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
        let mut inner = self.inner();
        loop {
            let base = inner.ranges.take(length).ok_or_else(none)?;
            // Addresses that shared memory has are not handed out, nor come back.
            if !inner.table.overlaps(base..base + length) {
                return Ok(Reserved {
                    space: self.clone(),
                    base,
                    length,
                });
            }
        }
    }

    /// Allocates zeroed memory.
    pub(crate) fn alloc(self: &Arc<Self>, bytes: usize) -> Result<Arc<SimBuffer>, Error> {
        if bytes as u64 > LIMIT {
            return Err(Error::Buffer(format!(
                "a buffer of {bytes} bytes is too large"
            )));
        }
        let block = Block::new(bytes).ok_or_else(|| no_memory(bytes))?;
        self.place(block, MemoryKind::Device)
    }

    /// Gives a block addresses of the device.
    fn place(self: &Arc<Self>, block: Block, kind: MemoryKind) -> Result<Arc<SimBuffer>, Error> {
        let addresses = self.reserve(block.len() as u64)?;
        Ok(self.insert(addresses.base, Some(addresses), block, kind))
    }

    /// Uses memory of the host. Its addresses are the device's.
    pub(crate) fn of_host(self: &Arc<Self>, memory: HostMemory) -> Result<Arc<SimBuffer>, Error> {
        self.place(Block::of_host(memory), MemoryKind::Host)
    }

    /// Allocates zeroed memory whose addresses are those of the host.
    pub(crate) fn shared(
        self: &Arc<Self>,
        bytes: usize,
        kind: MemoryKind,
    ) -> Result<Arc<SimBuffer>, Error> {
        let mut refused = Vec::new();
        // Where the device has handed out the addresses that the host gives, others are tried.
        while refused.len() < TRIES {
            let pages = MmapMut::map_anon(bytes.max(1)).map_err(|_| no_memory(bytes))?;
            let base = pages.as_ptr().addr() as u64;
            let range = base..base + pages.len() as u64;
            let inner = self.inner();
            if inner.ranges.has_handed_out(&range) || inner.table.overlaps(range) {
                refused.push(pages);
                continue;
            }
            drop(inner);
            let block = Block::of_host(HostMemory::of_pages(pages, bytes));
            return Ok(self.insert(base, None, block, kind));
        }
        Err(Error::Buffer(format!(
            "no addresses of host and device are free for {bytes} bytes"
        )))
    }

    /// Adds a block at an address.
    fn insert(
        self: &Arc<Self>,
        base: u64,
        addresses: Option<Reserved>,
        block: Block,
        kind: MemoryKind,
    ) -> Arc<SimBuffer> {
        let block = Arc::new(block);
        let buffer = Arc::new(SimBuffer {
            base,
            block: block.clone(),
            kind,
            space: self.clone(),
            _addresses: addresses,
        });
        let mut inner = self.inner();
        inner.table.insert(Mapped { base, block });
        inner.buffers.insert(base, Arc::downgrade(&buffer));
        drop(inner);
        buffer
    }

    /// Returns the buffer that an address belongs to.
    pub(crate) fn buffer_at(&self, address: u64) -> Option<Arc<SimBuffer>> {
        let inner = self.inner();
        let (_, buffer) = inner.buffers.range(..=address).next_back()?;
        let buffer = buffer.upgrade();
        drop(inner);
        buffer.filter(|b| address == b.base || address - b.base < b.block.len() as u64)
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
    kind: MemoryKind,
    space: Arc<Space>,
    /// Addresses of the device, freed after the buffer is out of the table.
    _addresses: Option<Reserved>,
}

impl Drop for SimBuffer {
    fn drop(&mut self) {
        let mut inner = self.space.inner();
        inner.table.remove(self.base);
        inner.buffers.remove(&self.base);
    }
}

impl BufferBackend for SimBuffer {
    fn len(&self) -> usize {
        self.block.len()
    }

    fn address(&self) -> u64 {
        self.base
    }

    fn read(&self, at: usize, out: &mut [u8]) -> Result<Option<Span>, Error> {
        self.block.read(at as u64, out);
        Ok(None)
    }

    fn write(&self, at: usize, data: &[u8]) -> Result<Option<Span>, Error> {
        self.block.write(at as u64, data);
        Ok(None)
    }

    fn device(&self) -> usize {
        Arc::as_ptr(&self.space) as usize
    }

    fn kind(&self) -> MemoryKind {
        self.kind
    }

    fn host_ptr(&self) -> Option<NonNull<u8>> {
        Some(self.block.start())
    }

    fn fill(&self, at: usize, bytes: usize, pattern: &[u8]) -> Result<Option<Span>, Error> {
        // A chunk has whole patterns, so that each chunk is the same.
        let times = (FILL / pattern.len().max(1)).max(1);
        let chunk = pattern.repeat(times.min(bytes.div_ceil(pattern.len().max(1))));
        let mut done = 0;
        while done < bytes && !chunk.is_empty() {
            let n = chunk.len().min(bytes - done);
            let part = chunk.get(..n).unwrap_or_default();
            self.block.write((at + done) as u64, part);
            done += n;
        }
        Ok(None)
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
