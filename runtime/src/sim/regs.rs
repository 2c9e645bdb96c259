//! Register file of a thread as one array of bytes, and the offset of each register in it.

use gantry_isa_gen::sem::truth_of_mask;
use gantry_isa_gen::{Arf, Platform, Reg, RegRef};

/// Bytes of the largest GRF file: 256 registers of 64 bytes (Xe-HPC, large mode).
pub(super) const MAX_GRF_BYTES: u32 = 256 * 64;
/// Address register.
pub(super) const A0: u32 = MAX_GRF_BYTES;
/// Accumulators from acc0 on, each of a GRF's size.
pub(super) const ACC: u32 = A0 + 32;
/// Bytes of the largest accumulator.
const ACC_BYTES: u32 = 64;
/// Number of accumulators, including the special ones of math macros.
const ACCS: u32 = 24;
/// Flags f0 to f3, four bytes each.
pub(super) const FLAGS: u32 = ACC + ACCS * ACC_BYTES;
/// State register.
pub(super) const SR0: u32 = FLAGS + 32;
/// Control register.
pub(super) const CR0: u32 = SR0 + 32;
/// Channel enables.
pub(super) const CE0: u32 = CR0 + 32;
/// Notification.
pub(super) const N0: u32 = CE0 + 32;
/// Instruction pointer.
pub(super) const IP: u32 = N0 + 32;
/// Thread dependency.
const TDR: u32 = IP + 32;
/// Timestamp.
pub(super) const TM0: u32 = TDR + 32;
/// Debug.
const DBG: u32 = TM0 + 32;
/// Stack pointer.
const SP: u32 = DBG + 32;
/// Zeros that reads of null return, as far as a region can reach. They are never written.
const ZEROS: u32 = SP + 32;
/// Bytes of the GRF file. Packed reads fetch groups of eight channels, so there is room after
/// the last register.
pub(super) const FILE_BYTES: usize = (ZEROS + 32 * 32 * 8) as usize;

/// Offset of a register reference.
pub(super) struct FileOffset {
    /// Byte offset in the GRF file.
    pub(super) at: u32,
    /// True for an accumulator.
    pub(super) acc: bool,
    /// True if it is computed when read, or has effects when written.
    pub(super) special: bool,
}

/// Returns the offset of a register reference in the GRF file of a thread with `grfs` GRFs.
pub(super) fn place(platform: Platform, grfs: u32, r: RegRef<Reg>) -> Result<FileOffset, String> {
    let sub = u32::from(r.sub);
    let plain = |at: u32, limit: u32| {
        if sub < limit {
            Ok(FileOffset {
                at: at + sub,
                acc: false,
                special: false,
            })
        } else {
            Err(format!("byte {sub} of {} does not exist", r.reg))
        }
    };
    let special = |at| plain(at, 32).map(|p| FileOffset { special: true, ..p });
    let f = platform.features();
    let grf = f.grf_bytes;
    match r.reg {
        Reg::Grf(n) if u32::from(n) < grfs => plain(u32::from(n) * grf, grf),
        Reg::Arf(Arf::Null, _) => Ok(FileOffset {
            at: ZEROS,
            acc: false,
            special: false,
        }),
        Reg::Arf(Arf::Address, 0) => plain(A0, 32),
        Reg::Arf(Arf::Acc, n) if u32::from(n) < ACCS => {
            plain(ACC + u32::from(n) * grf, grf).map(|p| FileOffset { acc: true, ..p })
        }
        Reg::Arf(Arf::Flag, n) if u32::from(n) < f.flag_regs => plain(FLAGS + u32::from(n) * 4, 4),
        Reg::Arf(Arf::State, 0) => plain(SR0, 32),
        Reg::Arf(Arf::Control, 0) => special(CR0),
        Reg::Arf(Arf::ChannelEnable, 0) => special(CE0),
        Reg::Arf(Arf::Notification, 0) => plain(N0, 32),
        Reg::Arf(Arf::Ip, _) => special(IP),
        Reg::Arf(Arf::Tdr, 0) => plain(TDR, 32),
        Reg::Arf(Arf::Timestamp, 0) => special(TM0),
        Reg::Arf(Arf::Dbg, 0) => plain(DBG, 32),
        Reg::Arf(Arf::Sp, _) => plain(SP, 32),
        reg => Err(format!("register {reg} does not exist")),
    }
}

/// Register file of a thread.
#[derive(Clone)]
pub(super) struct Regs {
    bytes: Box<[u8; FILE_BYTES]>,
    grf_end: u32,
}

impl Regs {
    /// Creates a GRF file whose GRFs have `grf_end` bytes in total.
    pub(super) fn new(grf_end: u32) -> Regs {
        Regs {
            bytes: Box::new([0; FILE_BYTES]),
            grf_end: grf_end.min(MAX_GRF_BYTES),
        }
    }

    /// Zeroes all registers.
    pub(super) fn clear(&mut self) {
        let end = self.grf_end as usize;
        for part in [0..end, A0 as usize..ZEROS as usize] {
            if let Some(b) = self.bytes.get_mut(part) {
                b.fill(0);
            }
        }
    }

    /// Returns the end of the GRFs in bytes.
    #[inline(always)]
    pub(super) fn grf_end(&self) -> u32 {
        self.grf_end
    }

    /// Returns `n` bytes from `at` on; empty if they are not all in the file.
    #[inline(always)]
    pub(super) fn get(&self, at: u32, n: usize) -> &[u8] {
        self.bytes
            .get(at as usize..at as usize + n)
            .unwrap_or_default()
    }

    /// Returns `N` bytes from `at` on; zeros if they are not all in the file.
    #[inline(always)]
    pub(super) fn array<const N: usize>(&self, at: u32) -> [u8; N] {
        match self.bytes.get(at as usize..).and_then(<[u8]>::first_chunk) {
            Some(a) => *a,
            None => [0; N],
        }
    }

    /// Returns `n` writable bytes from `at` on; empty if they are not all in the file.
    #[inline(always)]
    pub(super) fn get_mut(&mut self, at: u32, n: usize) -> &mut [u8] {
        self.bytes
            .get_mut(at as usize..at as usize + n)
            .unwrap_or_default()
    }

    /// Returns `N` elements of `B` bytes from `at` on, if they are all in the file.
    #[inline(always)]
    pub(super) fn elements<const B: usize, const N: usize>(
        &self,
        at: u32,
    ) -> Option<&[[u8; B]; N]> {
        self.bytes.get(at as usize..)?.as_chunks().0.first_chunk()
    }

    /// Returns `N` writable elements of `B` bytes from `at` on, if they are all in the file.
    #[inline(always)]
    pub(super) fn elements_mut<const B: usize, const N: usize>(
        &mut self,
        at: u32,
    ) -> Option<&mut [[u8; B]; N]> {
        self.bytes
            .get_mut(at as usize..)?
            .as_chunks_mut()
            .0
            .first_chunk_mut()
    }

    #[inline(always)]
    pub(super) fn u32(&self, at: u32) -> u32 {
        u32::from_le_bytes(self.array(at))
    }

    #[inline(always)]
    pub(super) fn u64(&self, at: u32) -> u64 {
        u64::from_le_bytes(self.array(at))
    }

    #[inline(always)]
    pub(super) fn u16(&self, at: u32) -> u16 {
        u16::from_le_bytes(self.array(at))
    }

    #[inline(always)]
    pub(super) fn set_u32(&mut self, at: u32, v: u32) {
        if let Some(b) = self
            .bytes
            .get_mut(at as usize..)
            .and_then(<[u8]>::first_chunk_mut::<4>)
        {
            *b = v.to_le_bytes();
        }
    }

    /// Returns an element's bits, zero-extended.
    #[inline(always)]
    pub(super) fn element(&self, at: u32, bytes: u32) -> u64 {
        match bytes {
            1 => u64::from(self.array::<1>(at)[0]),
            2 => u64::from(self.u16(at)),
            4 => u64::from(self.u32(at)),
            _ => self.u64(at),
        }
    }

    /// Stores an element's low bytes.
    #[inline(always)]
    pub(super) fn set_element(&mut self, at: u32, bytes: u32, v: u64) {
        let n = bytes as usize;
        self.get_mut(at, n)
            .iter_mut()
            .zip(v.to_le_bytes())
            .for_each(|(o, b)| *o = b);
    }

    /// Sets the dwords of `mask` in a row of `channels` dwords from `at` on.
    #[inline(always)]
    pub(super) fn set_row(&mut self, at: u32, channels: u32, mask: u32, v: &[u32; 32]) {
        match channels {
            16 => self.set_dwords::<16>(at, mask, v),
            8 => self.set_dwords::<8>(at, mask, v),
            _ => self.set_dwords::<32>(at, mask, v),
        }
    }

    #[inline(always)]
    fn set_dwords<const N: usize>(&mut self, at: u32, mask: u32, v: &[u32; 32]) {
        let on = truth_of_mask::<N>(mask);
        let Some(out) = self.elements_mut::<4, N>(at) else {
            return;
        };
        for i in 0..N {
            let old = u32::from_le_bytes(out[i]);
            out[i] = (if on[i] != 0 { v[i] } else { old }).to_le_bytes();
        }
    }

    /// Returns a flag register, f0 to f3.
    #[inline(always)]
    pub(super) fn flag(&self, n: u8) -> u32 {
        self.u32(FLAGS + u32::from(n & 3) * 4)
    }

    /// Sets the flag bits of `mask` to those of `bits`. Bits count from bit `at` of all flags on,
    /// within one register of 32.
    #[inline(always)]
    pub(super) fn set_flags(&mut self, at: u8, mask: u32, bits: u32) {
        let word = FLAGS + u32::from(at / 32) * 4;
        let shift = u32::from(at % 32);
        let mask = mask.wrapping_shl(shift);
        let bits = bits.wrapping_shl(shift) & mask;
        let old = self.u32(word);
        self.set_u32(word, old & !mask | bits);
    }
}
