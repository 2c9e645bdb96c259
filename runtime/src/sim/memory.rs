//! Memory of the simulated device: blocks of atomic words, and the address space they lie in.
//!
//! Threads of a launch run on several cores and may race, as on hardware. Words are atomics with relaxed ordering, so
//! races give some value and never undefined behaviour; narrower writes are read-modify-write on their word.

use crate::backend::BufferBackend;
use crate::error::Error;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, RwLock};

/// A zeroed run of bytes.
pub(crate) struct Block {
    words: Box<[AtomicU32]>,
    len: usize,
}

impl Block {
    /// `None` where there is not that much memory.
    pub(crate) fn new(len: usize) -> Option<Block> {
        let n = len.div_ceil(4);
        let mut words = Vec::new();
        words.try_reserve_exact(n).ok()?;
        words.resize_with(n, || AtomicU32::new(0));
        Some(Block {
            words: words.into_boxed_slice(),
            len,
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Sets all bytes to zero.
    pub(crate) fn clear(&self) {
        for w in &self.words {
            w.store(0, Relaxed);
        }
    }

    /// Whether `n` bytes from `at` on are inside.
    #[inline(always)]
    pub(crate) fn holds(&self, at: u64, n: u64) -> bool {
        at.checked_add(n).is_some_and(|end| end <= self.len as u64)
    }

    #[inline(always)]
    fn word(&self, i: usize) -> u32 {
        self.words.get(i).map_or(0, |w| w.load(Relaxed))
    }

    /// Four bytes. Outside reads as zero; callers check with [`Self::holds`] where that matters.
    #[inline(always)]
    pub(crate) fn load32(&self, at: u64) -> u32 {
        let i = (at / 4) as usize;
        let shift = at % 4 * 8;
        if shift == 0 {
            return self.word(i);
        }
        let both = u64::from(self.word(i)) | u64::from(self.word(i + 1)) << 32;
        (both >> shift) as u32
    }

    /// `n` bytes (1, 2 or 4), zero-extended.
    #[inline(always)]
    pub(crate) fn load(&self, at: u64, n: u32) -> u32 {
        match n {
            4 => self.load32(at),
            2 => self.load32(at) & 0xffff,
            _ => self.load32(at) & 0xff,
        }
    }

    fn blend(&self, i: usize, keep: u32, bits: u32) {
        if let Some(w) = self.words.get(i) {
            let mut old = w.load(Relaxed);
            while let Err(now) = w.compare_exchange_weak(old, old & keep | bits, Relaxed, Relaxed) {
                old = now;
            }
        }
    }

    /// Stores the low `n` bytes (1, 2 or 4).
    #[inline(always)]
    pub(crate) fn store(&self, at: u64, n: u32, v: u32) {
        let i = (at / 4) as usize;
        let shift = at % 4 * 8;
        if n == 4 && shift == 0 {
            if let Some(w) = self.words.get(i) {
                w.store(v, Relaxed);
            }
            return;
        }
        let mask = (1u64 << (n * 8)) - 1;
        let bits = (u64::from(v) & mask) << shift;
        let mask = mask << shift;
        self.blend(i, !(mask as u32), bits as u32);
        if mask >> 32 != 0 {
            self.blend(i + 1, !((mask >> 32) as u32), (bits >> 32) as u32);
        }
    }

    /// Stores four bytes.
    #[inline(always)]
    pub(crate) fn store32(&self, at: u64, v: u32) {
        self.store(at, 4, v);
    }

    /// Replaces an aligned dword by `f` of it, in one step; returns the old value.
    pub(crate) fn update32(&self, at: u64, mut f: impl FnMut(u32) -> u32) -> u32 {
        let Some(w) = self.words.get((at / 4) as usize) else {
            return 0;
        };
        let mut old = w.load(Relaxed);
        loop {
            match w.compare_exchange_weak(old, f(old), Relaxed, Relaxed) {
                Ok(_) => return old,
                Err(now) => old = now,
            }
        }
    }

    /// Copies out; what is outside is zero.
    pub(crate) fn read(&self, at: usize, out: &mut [u8]) {
        let mut at = at as u64;
        let mut chunks = out.chunks_exact_mut(4);
        for c in &mut chunks {
            c.copy_from_slice(&self.load32(at).to_le_bytes());
            at += 4;
        }
        for b in chunks.into_remainder() {
            *b = self.load(at, 1) as u8;
            at += 1;
        }
    }

    /// Copies in; what is outside vanishes.
    pub(crate) fn write(&self, at: usize, data: &[u8]) {
        let mut at = at as u64;
        let mut chunks = data.chunks_exact(4);
        for c in &mut chunks {
            let mut a = [0; 4];
            a.copy_from_slice(c);
            self.store32(at, u32::from_le_bytes(a));
            at += 4;
        }
        for b in chunks.remainder() {
            self.store(at, 1, u32::from(*b));
            at += 1;
        }
    }
}

/// Where the first allocation lies. High, so that a truncated pointer is an invalid one.
const FIRST: u64 = 0x5500_0000_0000;
/// Distance and alignment of allocations; the gap between them catches runs past an end.
const GAP: u64 = 0x1_0000;
/// Bytes that one device may hold.
const LIMIT: u64 = 1 << 40;

/// The device's address space.
pub(crate) struct Space {
    table: RwLock<Table>,
}

struct Table {
    blocks: BTreeMap<u64, Arc<Block>>,
    next: u64,
}

impl Space {
    pub(crate) fn new() -> Space {
        Space {
            table: RwLock::new(Table {
                blocks: BTreeMap::new(),
                next: FIRST,
            }),
        }
    }

    /// Reserves addresses for so many bytes.
    pub(crate) fn reserve(&self, bytes: u64) -> Result<u64, Error> {
        let mut t = self.table.write().unwrap_or_else(PoisonError::into_inner);
        let base = t.next;
        t.next = bytes
            .checked_next_multiple_of(GAP)
            .and_then(|n| base.checked_add(n)?.checked_add(GAP))
            .filter(|end| *end < FIRST + 64 * LIMIT)
            .ok_or_else(|| Error::Buffer(format!("no address space left for {bytes} bytes")))?;
        Ok(base)
    }

    pub(crate) fn alloc(self: &Arc<Self>, bytes: usize) -> Result<Arc<SimBuffer>, Error> {
        if bytes as u64 > LIMIT {
            return Err(Error::Buffer(format!(
                "a buffer of {bytes} bytes is too large"
            )));
        }
        let base = self.reserve(bytes as u64)?;
        let block = Block::new(bytes)
            .ok_or_else(|| Error::Buffer(format!("no memory left for {bytes} bytes")))?;
        let block = Arc::new(block);
        let mut t = self.table.write().unwrap_or_else(PoisonError::into_inner);
        t.blocks.insert(base, block.clone());
        Ok(Arc::new(SimBuffer {
            space: self.clone(),
            base,
            block,
        }))
    }

    /// Every allocation, by address.
    pub(crate) fn snapshot(&self) -> Vec<Mapped> {
        let t = self.table.read().unwrap_or_else(PoisonError::into_inner);
        t.blocks
            .iter()
            .map(|(base, block)| Mapped {
                base: *base,
                block: block.clone(),
            })
            .collect()
    }
}

/// A block at its address.
#[derive(Clone)]
pub(crate) struct Mapped {
    pub(crate) base: u64,
    pub(crate) block: Arc<Block>,
}

/// A buffer of the simulator; its addresses go when it does.
pub(crate) struct SimBuffer {
    space: Arc<Space>,
    pub(crate) base: u64,
    pub(crate) block: Arc<Block>,
}

impl Drop for SimBuffer {
    fn drop(&mut self) {
        let mut t = self
            .space
            .table
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        t.blocks.remove(&self.base);
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
        self.block.read(at, out);
        Ok(())
    }

    fn write(&self, at: usize, data: &[u8]) -> Result<(), Error> {
        self.block.write(at, data);
        Ok(())
    }

    fn device(&self) -> usize {
        Arc::as_ptr(&self.space) as usize
    }
}

/// What a worker sees of the address space: the launch's snapshot, with the last block found kept at hand.
pub(crate) struct View {
    blocks: Vec<Mapped>,
    last: Cell<usize>,
}

impl View {
    pub(crate) fn new(mut blocks: Vec<Mapped>) -> View {
        blocks.sort_by_key(|m| m.base);
        View {
            blocks,
            last: Cell::new(0),
        }
    }

    /// The block with `n` bytes from `address` on, and the offset in it.
    #[inline(always)]
    pub(crate) fn find(&self, address: u64, n: u64) -> Option<(&Block, u64)> {
        if let Some(hit) = self.within(self.last.get(), address, n) {
            return Some(hit);
        }
        self.search(address, n)
    }

    #[inline(always)]
    fn within(&self, i: usize, address: u64, n: u64) -> Option<(&Block, u64)> {
        let m = self.blocks.get(i)?;
        let at = address.checked_sub(m.base)?;
        m.block.holds(at, n).then_some((&*m.block, at))
    }

    #[inline(never)]
    fn search(&self, address: u64, n: u64) -> Option<(&Block, u64)> {
        let i = self
            .blocks
            .partition_point(|m| m.base <= address)
            .checked_sub(1)?;
        self.last.set(i);
        self.within(i, address, n)
    }

    /// The nearest block below an address, for messages: its base and size.
    pub(crate) fn near(&self, address: u64) -> Option<(u64, u64)> {
        let i = self
            .blocks
            .partition_point(|m| m.base <= address)
            .checked_sub(1)?;
        self.blocks.get(i).map(|m| (m.base, m.block.len() as u64))
    }
}
