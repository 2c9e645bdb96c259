//! Block accesses: consecutive bytes at one address, to and from consecutive registers.

use super::super::program::MicroOp;
use super::super::regs::Regs;
use super::super::thread::Thread;
use super::Payload;
use super::window::Window;
use gantry_isa_gen::message::Dir;

/// Source of a block message's address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum BlockAddress {
    /// First qword of the header.
    Header64,
    /// Dword 2 of the header, in units of so many bytes.
    Header32(u32),
    /// As [`BlockAddress::Header32`], relative to the base in dword 5 of the header. Stateless
    /// messages have it (header "MHC_A32": buffer base address).
    Based32(u32),
    /// Byte offset from the scratch space in the header (dword 5).
    Scratch(u32),
    /// Constant.
    Known(u32),
    /// First address of the payload, of 2, 4 or 8 bytes.
    Payload(u32),
}

/// Block access.
#[derive(Clone, Copy)]
pub(super) struct Block {
    pub(super) dir: Dir,
    /// Number of bytes, a multiple of 4.
    pub(super) bytes: u32,
    /// Byte of the first register where they begin.
    pub(super) first: u32,
    pub(super) address: BlockAddress,
    /// Required alignment of the address, in bytes.
    pub(super) aligned: u32,
}

/// Returns the base address in a header: bits 31:10 of dword 5.
fn base(regs: &Regs, p: &Payload) -> u64 {
    u64::from(regs.u32(p.header + 20) & !0x3ff)
}

impl Block {
    /// Returns the address, if it is aligned.
    fn address(&self, regs: &Regs, p: &Payload) -> Result<u64, String> {
        let address = match self.address {
            BlockAddress::Header64 => regs.u64(p.header),
            BlockAddress::Header32(scale) => u64::from(regs.u32(p.header + 8)) * u64::from(scale),
            BlockAddress::Based32(scale) => {
                let offset = u64::from(regs.u32(p.header + 8)) * u64::from(scale);
                base(regs, p) + offset
            }
            BlockAddress::Scratch(offset) => base(regs, p) + u64::from(offset),
            BlockAddress::Known(address) => u64::from(address),
            BlockAddress::Payload(bytes) => regs.element(p.address, bytes),
        };
        if !address.is_multiple_of(u64::from(self.aligned)) {
            return Err(format!(
                "a block message at {address:#x}, which is not a multiple of {}",
                self.aligned
            ));
        }
        Ok(address)
    }

    fn count(&self, t: &mut Thread, bytes: u32) {
        match self.dir {
            Dir::Read => t.counts.bytes_read += u64::from(bytes),
            Dir::Write => t.counts.bytes_written += u64::from(bytes),
        }
    }

    #[inline(always)]
    pub(super) fn run(
        &self,
        t: &mut Thread,
        window: &Window<'_>,
        p: &Payload,
    ) -> Result<(), String> {
        let address = self.address(&t.regs, p)?;
        self.count(t, self.bytes);
        let n = self.bytes as usize;
        if let Some(e) = window.extent(address, u64::from(self.bytes))
            && let Some(at) = e.offset(address)
        {
            match (self.dir, p.response) {
                (Dir::Read, Some(dst)) => {
                    e.block.read(at, t.regs.get_mut(dst + self.first, n));
                }
                (Dir::Read, None) => {}
                (Dir::Write, _) => e.block.write(at, t.regs.get(p.data + self.first, n)),
            }
            return Ok(());
        }
        self.dwords(t, window, p, address, |_| true)
    }

    /// Runs the access where each channel moves its own dword of every register. `NoMask` moves all
    /// dwords.
    pub(super) fn run_masked(
        &self,
        t: &mut Thread,
        window: &Window<'_>,
        p: &Payload,
        mask: u32,
        op: &MicroOp,
    ) -> Result<(), String> {
        let address = self.address(&t.regs, p)?;
        self.count(t, self.bytes);
        let channels = u32::from(op.n).max(8);
        self.dwords(t, window, p, address, |dword| {
            op.no_mask || mask >> (dword % channels) & 1 == 1
        })
    }

    /// Accesses each dword separately.
    fn dwords(
        &self,
        t: &mut Thread,
        window: &Window<'_>,
        p: &Payload,
        address: u64,
        on: impl Fn(u32) -> bool,
    ) -> Result<(), String> {
        let what = match self.dir {
            Dir::Read => "a read",
            Dir::Write => "a write",
        };
        let begin = (self.dir == Dir::Read).then_some(address);
        for k in (0..self.bytes).step_by(4).filter(|k| on(k / 4)) {
            let found = window.at(address.wrapping_add(u64::from(k)), 4, begin, what)?;
            match (self.dir, p.response) {
                (Dir::Read, Some(dst)) => {
                    let v = found.map_or(0, |(b, at)| b.load(at, 4));
                    t.regs.set_u32(dst + self.first + k, v as u32);
                }
                (Dir::Read, None) => {}
                (Dir::Write, _) => {
                    if let Some((b, at)) = found {
                        b.store(at, 4, u64::from(t.regs.u32(p.data + self.first + k)));
                    }
                }
            }
        }
        Ok(())
    }
}
