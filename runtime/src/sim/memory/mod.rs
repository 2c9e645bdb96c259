//! Memory of the simulated device: blocks of atomic words, and the address space that they are in.
//!
//! This file has the blocks, whose words are in `words`. `space` is the address space, with free
//! addresses in `ranges` and blocks by address in `table`.
//!
//! Threads of a launch run on several cores and may race, as on hardware. Words are atomics with
//! relaxed ordering, so races give some value and never undefined behaviour. Narrower writes are
//! read-modify-write on their word.

mod ranges;
mod space;
mod table;
mod words;

pub(crate) use space::{Reserved, SimBuffer, Space, View};
pub(crate) use table::{Mapped, Table};

use crate::host_memory::HostMemory;
use crate::sim::host::Simd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use words::Words;

/// Bytes of a word.
const WORD: u64 = 8;

/// Zero-initialized array of bytes.
///
/// Words have 64 bits, so that atomics on qwords are single steps. Narrower accesses are blended
/// into their word.
pub(crate) struct Block {
    words: Words,
    len: usize,
    /// True if several threads of the host use it at once. If not, blending needs no compare and
    /// exchange.
    shared: bool,
}

/// Returns a mask of the low `n` bytes (1 to 8).
#[inline(always)]
const fn low_bytes(n: u64) -> u64 {
    u64::MAX >> ((8 - n) * 8)
}

impl Block {
    /// Allocates a block; `None` if there is not that much memory. The host allocates pages when
    /// they are first used.
    pub(crate) fn new(len: usize) -> Option<Block> {
        let n = len.div_ceil(WORD as usize);
        Some(Block {
            words: Words::zeroed(n)?,
            len,
            shared: true,
        })
    }

    /// Allocates a block that one thread of the host uses at a time.
    pub(crate) fn unshared(len: usize) -> Option<Block> {
        Block::new(len).map(|b| Block { shared: false, ..b })
    }

    /// Creates a block over memory of the host.
    pub(crate) fn of_host(memory: HostMemory) -> Block {
        Block {
            len: memory.len(),
            words: Words::of_host(memory),
            shared: true,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns the host's address of the first byte.
    pub(crate) fn start(&self) -> NonNull<u8> {
        NonNull::from(&*self.words).cast()
    }

    /// Sets all bytes to zero.
    pub(crate) fn clear(&self) {
        for w in self.words.iter() {
            w.store(0, Relaxed);
        }
    }

    /// Returns true if `n` bytes from `at` on are inside.
    #[inline(always)]
    pub(crate) fn holds(&self, at: u64, n: u64) -> bool {
        at.checked_add(n).is_some_and(|end| end <= self.len as u64)
    }

    #[inline(always)]
    fn word(&self, i: u64) -> u64 {
        self.words.get(i as usize).map_or(0, |w| w.load(Relaxed))
    }

    /// Loads `n` bytes (1 to 8), zero-extended. Bytes outside read as zero; callers check with
    /// [`Self::holds`] where that matters.
    #[inline(always)]
    pub(crate) fn load(&self, at: u64, n: u64) -> u64 {
        let i = at / WORD;
        let inside = at % WORD;
        let mut v = self.word(i) >> (inside * 8);
        if inside + n > WORD {
            v |= self.word(i + 1) << ((WORD - inside) * 8);
        }
        v & low_bytes(n)
    }

    /// Loads four bytes at a multiple of four.
    #[inline(always)]
    pub(crate) fn load32_aligned(&self, at: u64) -> u32 {
        (self.word(at / WORD) >> ((at & 4) * 8)) as u32
    }

    /// Replaces the bits of `mask` in a word.
    #[inline(always)]
    fn blend(&self, i: u64, mask: u64, bits: u64) {
        if let Some(w) = self.words.get(i as usize) {
            let mut old = w.load(Relaxed);
            if !self.shared {
                return w.store(old & !mask | bits, Relaxed);
            }
            while let Err(now) = w.compare_exchange_weak(old, old & !mask | bits, Relaxed, Relaxed)
            {
                old = now;
            }
        }
    }

    /// Stores the low `n` bytes (1 to 8). Bytes outside are dropped.
    #[inline(always)]
    pub(crate) fn store(&self, at: u64, n: u64, v: u64) {
        let i = at / WORD;
        let inside = at % WORD;
        if inside == 0 && n == WORD {
            if let Some(w) = self.words.get(i as usize) {
                w.store(v, Relaxed);
            }
            return;
        }
        let (mask, v) = (low_bytes(n), v & low_bytes(n));
        self.blend(i, mask << (inside * 8), v << (inside * 8));
        if inside + n > WORD {
            let done = (WORD - inside) * 8;
            self.blend(i + 1, mask >> done, v >> done);
        }
    }

    /// Replaces `n` bytes (2, 4 or 8) at a multiple of `n` by `f` of them, atomically. Returns the
    /// old value.
    #[inline(always)]
    pub(crate) fn update(&self, at: u64, n: u64, mut f: impl FnMut(u64) -> u64) -> u64 {
        let Some(w) = self.words.get((at / WORD) as usize) else {
            return 0;
        };
        let shift = at % WORD * 8;
        let mask = low_bytes(n);
        let mut old = w.load(Relaxed);
        loop {
            let part = old >> shift & mask;
            let new = old & !(mask << shift) | (f(part) & mask) << shift;
            if !self.shared {
                w.store(new, Relaxed);
                return part;
            }
            match w.compare_exchange_weak(old, new, Relaxed, Relaxed) {
                Ok(_) => return part,
                Err(now) => old = now,
            }
        }
    }

    /// Copies out of the block. Bytes outside are zero.
    #[inline]
    pub(crate) fn read(&self, at: u64, out: &mut [u8]) {
        let shift = at % WORD * 8;
        let first = (at / WORD) as usize;
        let n = out.len() / WORD as usize;
        let (chunks, rest) = out.as_chunks_mut();
        let words = |from: usize| {
            let inside = self.words.get(from..from + n);
            inside.filter(|w| w.len() == n)
        };
        match (words(first), words(first + 1)) {
            (Some(words), _) if shift == 0 => {
                for (c, w) in chunks.iter_mut().zip(words) {
                    *c = w.load(Relaxed).to_le_bytes();
                }
            }
            (Some(low), Some(high)) if shift != 0 => {
                for ((c, l), h) in chunks.iter_mut().zip(low).zip(high) {
                    let v = l.load(Relaxed) >> shift | h.load(Relaxed) << (64 - shift);
                    *c = v.to_le_bytes();
                }
            }
            _ => {
                for (i, c) in chunks.iter_mut().enumerate() {
                    *c = self.load(at + i as u64 * WORD, WORD).to_le_bytes();
                }
            }
        }
        let end = at + n as u64 * WORD;
        if !rest.is_empty() {
            let v = self.load(end, rest.len() as u64).to_le_bytes();
            for (b, v) in rest.iter_mut().zip(v) {
                *b = v;
            }
        }
    }

    /// Copies out of the block, a vector at a time where possible. Bytes outside are zero.
    #[inline(always)]
    pub(crate) fn read_vectors(&self, host: impl Simd, at: u64, out: &mut [u8]) {
        let (chunks, rest) = out.as_chunks_mut::<32>();
        if !at.is_multiple_of(WORD) || !rest.is_empty() {
            return self.read(at, out);
        }
        for (k, chunk) in (0..).zip(chunks) {
            let at = at + k * 32;
            let words: Option<&[AtomicU64; 4]> = self
                .words
                .get((at / WORD) as usize..)
                .and_then(<[_]>::first_chunk);
            match words {
                Some([a, b, c, d]) => {
                    *chunk = host.vector([a, b, c, d].map(|w| w.load(Relaxed)));
                }
                None => self.read(at, chunk),
            }
        }
    }

    /// Copies into the block. Bytes outside are dropped.
    #[inline]
    pub(crate) fn write(&self, at: u64, data: &[u8]) {
        // The head up to a word's beginning, then words, then the rest.
        let head = ((WORD - at % WORD) % WORD).min(data.len() as u64) as usize;
        let (head, body) = data.split_at(head);
        self.write_part(at, head);
        let at = at + head.len() as u64;
        let (chunks, rest) = body.as_chunks();
        let words = self.words.get((at / WORD) as usize..).unwrap_or_default();
        for (c, w) in chunks.iter().zip(words) {
            w.store(u64::from_le_bytes(*c), Relaxed);
        }
        self.write_part(at + chunks.len() as u64 * WORD, rest);
    }

    /// Stores less than a word's bytes.
    #[inline(always)]
    fn write_part(&self, at: u64, data: &[u8]) {
        if data.is_empty() {
            return;
        }
        let mut v = [0; 8];
        for (v, b) in v.iter_mut().zip(data) {
            *v = *b;
        }
        self.store(at, data.len() as u64, u64::from_le_bytes(v));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::host::{Host, Work};

    /// Generates a pseudo-random number.
    fn next(seed: &mut u64) -> u64 {
        *seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        *seed >> 24
    }

    struct Vectors<'a>(&'a Block, u64, &'a mut [u8]);

    impl Work for Vectors<'_> {
        type Output = ();
        #[inline(always)]
        fn run<S: Simd>(self, host: S) {
            self.0.read_vectors(host, self.1, self.2);
        }
    }

    #[test]
    fn bytes_are_where_they_were_put() {
        let mut seed = 7;
        for len in [0usize, 1, 7, 8, 9, 61, 64, 96, 200] {
            let block = Block::unshared(len).unwrap();
            let mut model = vec![0u8; len];
            for _ in 0..2000 {
                let n = (next(&mut seed) as usize % 24).min(len);
                let at = next(&mut seed) as usize % (len - n + 1);
                let data: Vec<u8> = (0..n).map(|_| next(&mut seed) as u8).collect();
                block.write(at as u64, &data);
                model[at..at + n].copy_from_slice(&data);
                let mut got = vec![0; len - at];
                block.read(at as u64, &mut got);
                assert_eq!(got, model[at..]);
                for host in [Host::detect(), Host::plain()] {
                    got.fill(0xcc);
                    host.call(Vectors(&block, at as u64, &mut got));
                    assert_eq!(got, model[at..]);
                }
                if (1..=8).contains(&n) {
                    let v = next(&mut seed) << 24 | next(&mut seed);
                    block.store(at as u64, n as u64, v);
                    model[at..at + n].copy_from_slice(&v.to_le_bytes()[..n]);
                    let low = v << (64 - n * 8) >> (64 - n * 8);
                    assert_eq!(block.load(at as u64, n as u64), low);
                }
            }
        }
    }

    #[test]
    fn atomics_of_qwords_and_stores_of_their_halves_lose_nothing() {
        const N: u64 = 200_000;
        let block = Block::new(16).unwrap();
        std::thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    for _ in 0..N {
                        block.update(8, 8, |v| v.wrapping_add(1 << 32));
                    }
                });
            }
            s.spawn(|| {
                for i in 1..=N {
                    block.store(8, 4, i);
                }
            });
        });
        assert_eq!(block.load(8, 8), (2 * N) << 32 | N);
    }
}
