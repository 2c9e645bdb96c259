//! Scattered accesses: every channel has an address of its own.

use super::super::host::{Simd, Work};
use super::super::memory::Block;
use super::super::regs::Regs;
use super::super::thread::Thread;
use super::Payload;
use super::window::{Extent, Window};
use gantry_isa_gen::message::Dir;
use gantry_isa_gen::sem;

/// Limit on the channels of a message.
const MAX: usize = 32;

/// Iterates over the channel numbers of a mask.
#[inline(always)]
pub(super) fn channels(mut mask: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let i = mask.trailing_zeros();
        mask &= mask - 1;
        Some(i)
    })
}

/// Form of the channels' addresses in a payload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum AddressForm {
    /// One address a channel, of 2, 4 or 8 bytes.
    Each(u32),
    /// One address a channel, of 4 bytes, in units of dwords.
    Dwords,
    /// Address of the first channel, of 4 or 8 bytes, and in dword 2 the distance between channels
    /// in bytes.
    Strided(u32),
}

impl AddressForm {
    /// Reads the addresses of all channels before anything is written: a response may go to their
    /// registers.
    #[inline(always)]
    pub(super) fn read(self, regs: &Regs, at: u32, channels: u32, out: &mut [u64; MAX]) {
        let n = channels as usize;
        match self {
            AddressForm::Each(8) => {
                let bytes = regs.get(at, n * 8).as_chunks().0;
                for (o, b) in out.iter_mut().zip(bytes) {
                    *o = u64::from_le_bytes(*b);
                }
            }
            AddressForm::Each(4) => {
                let bytes = regs.get(at, n * 4).as_chunks().0;
                for (o, b) in out.iter_mut().zip(bytes) {
                    *o = u64::from(u32::from_le_bytes(*b));
                }
            }
            AddressForm::Dwords => {
                let bytes = regs.get(at, n * 4).as_chunks().0;
                for (o, b) in out.iter_mut().zip(bytes) {
                    *o = u64::from(u32::from_le_bytes(*b)) * 4;
                }
            }
            AddressForm::Each(_) => {
                for (i, o) in out.iter_mut().enumerate().take(n) {
                    *o = u64::from(regs.u16(at + i as u32 * 2));
                }
            }
            AddressForm::Strided(bytes) => {
                let (first, pitch) = (regs.element(at, bytes), regs.u32(at + 8));
                for (i, o) in out.iter_mut().enumerate().take(n) {
                    *o = first.wrapping_add(i as u64 * u64::from(pitch));
                }
            }
        }
    }
}

/// Scattered access: each channel moves elements that follow its address.
pub(super) struct Scatter {
    pub(super) dir: Dir,
    pub(super) channels: u32,
    pub(super) addresses: AddressForm,
    /// Bytes of an element in memory: 1, 2, 4 or 8.
    pub(super) memory: u32,
    /// Bytes of an element in registers: 4 or 8.
    pub(super) register: u32,
    /// Position of memory's bits in the register's element: 0 or 16.
    pub(super) shift: u32,
    /// Mask of the elements at an address that move. Each of them has a row in the registers.
    pub(super) elements: u64,
    /// Bytes between rows.
    pub(super) row: u32,
    /// Alignment of addresses, in bytes.
    pub(super) aligned: u32,
    /// True if unaligned addresses are an error.
    pub(super) strict: bool,
}

/// Call of [`Scatter::run_here`].
struct RunScatter<'a, 'g> {
    scatter: &'a Scatter,
    t: &'a mut Thread,
    window: &'a Window<'g>,
    p: &'a Payload,
    mask: u32,
}

impl Work for RunScatter<'_, '_> {
    type Output = Result<(), String>;
    #[inline(always)]
    fn run<S: Simd>(self, host: S) -> Result<(), String> {
        self.scatter
            .run_here(host, self.t, self.window, self.p, self.mask)
    }
}

/// Relation of the addresses of all channels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum AddressPattern {
    /// Each a step after the one before.
    Consecutive,
    /// All equal.
    Same,
    Other,
}

/// Defines a function that returns the first element of a row of registers, and the pattern of all.
macro_rules! pattern {
    ($name:ident, $t:ty, $bytes:literal) => {
        #[inline(always)]
        fn $name<const N: usize>(regs: &Regs, at: u32, log_step: u32) -> ($t, AddressPattern) {
            let Some(row) = regs.elements::<$bytes, N>(at) else {
                return (0, AddressPattern::Other);
            };
            let first = <$t>::from_le_bytes(row[0]);
            let (mut jumps, mut differs) = (0, 0);
            for i in 0..N {
                let distance = <$t>::from_le_bytes(row[i]).wrapping_sub(first);
                jumps |= distance ^ (i as $t) << log_step;
                differs |= distance;
            }
            let last = first.checked_add((N as $t - 1) << log_step);
            let pattern = if jumps == 0 && last.is_some() {
                AddressPattern::Consecutive
            } else if differs == 0 {
                AddressPattern::Same
            } else {
                AddressPattern::Other
            };
            (first, pattern)
        }
    };
}
pattern!(pattern32, u32, 4);
pattern!(pattern64, u64, 8);

impl AddressForm {
    /// Returns the first address, and the pattern of all. `step` is in bytes, a power of two.
    #[inline(always)]
    fn pattern(self, regs: &Regs, at: u32, channels: u32, step: u32) -> (u64, AddressPattern) {
        let log = step.trailing_zeros();
        let narrow = |(a, p): (u32, AddressPattern)| (u64::from(a), p);
        match (self, channels) {
            (AddressForm::Each(4), 16) => narrow(pattern32::<16>(regs, at, log)),
            (AddressForm::Each(4), 8) => narrow(pattern32::<8>(regs, at, log)),
            (AddressForm::Each(4), 32) => narrow(pattern32::<32>(regs, at, log)),
            (AddressForm::Each(8), 16) => pattern64::<16>(regs, at, log),
            (AddressForm::Each(8), 8) => pattern64::<8>(regs, at, log),
            (AddressForm::Each(8), 32) => pattern64::<32>(regs, at, log),
            _ => (0, AddressPattern::Other),
        }
    }
}

impl Scatter {
    pub(super) fn run(
        &self,
        t: &mut Thread,
        window: &Window<'_>,
        p: &Payload,
        mask: u32,
    ) -> Result<(), String> {
        t.host.call(RunScatter {
            scatter: self,
            t,
            window,
            p,
            mask,
        })
    }

    #[inline(always)]
    fn run_here(
        &self,
        host: impl Simd,
        t: &mut Thread,
        window: &Window<'_>,
        p: &Payload,
        mask: u32,
    ) -> Result<(), String> {
        let full = sem::mask(self.channels as usize);
        let mask = mask & full;
        if mask == 0 {
            return Ok(());
        }
        let moved = u64::from(mask.count_ones() * self.elements.count_ones() * self.memory);
        match self.dir {
            Dir::Read => t.counts.bytes_read += moved,
            Dir::Write => t.counts.bytes_written += moved,
        }
        // Bytes from an address to the end of its last element.
        let span = u64::from((64 - self.elements.leading_zeros()) * self.memory);
        if mask == full && self.together(host, &mut t.regs, window, p, span) {
            return Ok(());
        }
        let mut at = [0; MAX];
        self.addresses
            .read(&t.regs, p.address, self.channels, &mut at);
        let first = at[mask.trailing_zeros() as usize % MAX];
        if mask != full {
            // Channels that are off get the address of the first.
            for (i, a) in at.iter_mut().enumerate() {
                *a = if mask >> i & 1 == 1 { *a } else { first };
            }
        }
        if let Some(e) = window.extent(first, span)
            && self.to_offsets(&e, &mut at)
        {
            self.inside(&mut t.regs, e.block, p, &at, mask);
            return Ok(());
        }
        // Some addresses are outside. They are read again, since they have been made offsets.
        self.addresses
            .read(&t.regs, p.address, self.channels, &mut at);
        self.each(&mut t.regs, window, p, &at, mask)
    }

    /// Accesses all channels at once if they form one range of elements, or read at one address.
    /// Returns false otherwise.
    #[inline(always)]
    fn together(
        &self,
        host: impl Simd,
        regs: &mut Regs,
        window: &Window<'_>,
        p: &Payload,
        span: u64,
    ) -> bool {
        let (first, pattern) = self
            .addresses
            .pattern(regs, p.address, self.channels, self.memory);
        let bytes = match pattern {
            AddressPattern::Consecutive if self.elements == 1 => {
                u64::from(self.channels * self.memory)
            }
            AddressPattern::Same if self.dir == Dir::Read => span,
            _ => return false,
        };
        if first & u64::from(self.aligned - 1) != 0 {
            return false;
        }
        let Some(e) = window.extent(first, bytes) else {
            return false;
        };
        let Some(at) = e.offset(first) else {
            return false;
        };
        if pattern == AddressPattern::Consecutive {
            self.whole(host, regs, e.block, p, at);
        } else {
            self.same(regs, e.block, p, at);
        }
        true
    }

    /// Converts the addresses to offsets in a block. Returns false if one is not in it, or not
    /// aligned.
    #[inline(always)]
    fn to_offsets(&self, e: &Extent<'_>, at: &mut [u64; MAX]) -> bool {
        let (mut outside, mut bits) = (0, 0);
        for a in at.iter_mut().take(self.channels as usize) {
            bits |= *a;
            let offset = e.relative(*a);
            outside |= e.outside(offset);
            *a = e.from.wrapping_add(offset);
        }
        outside >> 63 == 0 && bits & u64::from(self.aligned - 1) == 0
    }

    /// Reads at one address for all channels.
    #[inline(always)]
    fn same(&self, regs: &mut Regs, block: &Block, p: &Payload, at: u64) {
        let Some(dst) = p.response else { return };
        let mask = sem::mask(self.channels as usize);
        let mut row = 0;
        let mut left = self.elements;
        while left != 0 {
            let k = u64::from(left.trailing_zeros()) * u64::from(self.memory);
            left &= left - 1;
            let v = block.load(at + k, u64::from(self.memory));
            if self.register == 4 {
                let v = (v as u32) << self.shift;
                regs.set_row(dst + row, self.channels, mask, &[v; MAX]);
            } else {
                for i in channels(mask) {
                    self.put(regs, dst + row + i * self.register, v);
                }
            }
            row += self.row;
        }
    }

    /// Accesses consecutive elements for all channels.
    #[inline(always)]
    fn whole(&self, host: impl Simd, regs: &mut Regs, block: &Block, p: &Payload, at: u64) {
        let n = (self.channels * self.memory) as usize;
        if self.memory != self.register {
            return self.whole_narrow(regs, block, p, at);
        }
        match (self.dir, p.response) {
            (Dir::Read, Some(dst)) => block.read_vectors(host, at, regs.get_mut(dst, n)),
            (Dir::Read, None) => {}
            (Dir::Write, _) => block.write(at, regs.get(p.data, n)),
        }
    }

    /// Accesses consecutive bytes or words for all channels, each in a dword of the registers.
    fn whole_narrow(&self, regs: &mut Regs, block: &Block, p: &Payload, at: u64) {
        let mut bytes = [0; MAX * 2];
        let size = self.memory as usize;
        let bytes = bytes
            .get_mut(..self.channels as usize * size)
            .unwrap_or_default();
        match (self.dir, p.response) {
            (Dir::Read, Some(dst)) => {
                block.read(at, bytes);
                for (i, e) in (0..).zip(bytes.chunks_exact(size)) {
                    let v = e.iter().rev().fold(0, |v, b| v << 8 | u64::from(*b));
                    self.put(regs, dst + i * self.register, v);
                }
            }
            (Dir::Read, None) => {}
            (Dir::Write, _) => {
                for (i, e) in (0..).zip(bytes.chunks_exact_mut(size)) {
                    let v = self.get(regs, p.data + i * self.register).to_le_bytes();
                    for (o, b) in e.iter_mut().zip(v) {
                        *o = b;
                    }
                }
                block.write(at, bytes);
            }
        }
    }

    /// Accesses elements that are all inside a block.
    #[inline(always)]
    fn inside(&self, regs: &mut Regs, block: &Block, p: &Payload, at: &[u64; MAX], mask: u32) {
        let mut row = 0;
        let mut left = self.elements;
        while left != 0 {
            let k = u64::from(left.trailing_zeros()) * u64::from(self.memory);
            left &= left - 1;
            match (self.dir, p.response) {
                (Dir::Read, Some(dst)) if self.memory == 4 && self.aligned >= 4 => {
                    let mut v = [0; MAX];
                    for (v, at) in v.iter_mut().zip(at).take(self.channels as usize) {
                        *v = block.load32_aligned(at + k);
                    }
                    regs.set_row(dst + row, self.channels, mask, &v);
                }
                (Dir::Read, Some(dst)) => {
                    for i in channels(mask) {
                        let v = block.load(at[i as usize % MAX] + k, u64::from(self.memory));
                        self.put(regs, dst + row + i * self.register, v);
                    }
                }
                (Dir::Read, None) => {}
                (Dir::Write, _) => {
                    for i in channels(mask) {
                        let v = self.get(regs, p.data + row + i * self.register);
                        block.store(at[i as usize % MAX] + k, u64::from(self.memory), v);
                    }
                }
            }
            row += self.row;
        }
    }

    /// Accesses each element separately.
    #[inline(never)]
    fn each(
        &self,
        regs: &mut Regs,
        window: &Window<'_>,
        p: &Payload,
        at: &[u64; MAX],
        mask: u32,
    ) -> Result<(), String> {
        let n = u64::from(self.memory);
        let what = match self.dir {
            Dir::Read => "a read",
            Dir::Write => "a write",
        };
        for i in channels(mask) {
            let address = at[i as usize % MAX];
            if self.strict && !address.is_multiple_of(u64::from(self.aligned)) {
                return Err(format!(
                    "{what} of elements of {n} bytes at {address:#x}, which is not a multiple of {}",
                    self.aligned
                ));
            }
        }
        let mut row = 0;
        let mut left = self.elements;
        while left != 0 {
            let k = u64::from(left.trailing_zeros()) * n;
            left &= left - 1;
            for i in channels(mask) {
                let first = at[i as usize % MAX];
                let begin = (self.dir == Dir::Read).then_some(first);
                let found = window.at(first.wrapping_add(k), n, begin, what)?;
                let element = row + i * self.register;
                match (self.dir, p.response) {
                    (Dir::Read, Some(dst)) => {
                        let v = found.map_or(0, |(b, at)| b.load(at, n));
                        self.put(regs, dst + element, v);
                    }
                    (Dir::Read, None) => {}
                    (Dir::Write, _) => {
                        if let Some((b, at)) = found {
                            b.store(at, n, self.get(regs, p.data + element));
                        }
                    }
                }
            }
            row += self.row;
        }
        Ok(())
    }

    #[inline(always)]
    fn put(&self, regs: &mut Regs, at: u32, v: u64) {
        if self.register == 8 {
            regs.set_element(at, 8, v);
        } else {
            regs.set_u32(at, (v as u32) << self.shift);
        }
    }

    #[inline(always)]
    fn get(&self, regs: &Regs, at: u32) -> u64 {
        if self.register == 8 {
            regs.u64(at)
        } else {
            u64::from(regs.u32(at) >> self.shift)
        }
    }
}
