//! Reads and writes of instructions, in chunks of everything that has a state.

use crate::mir::{Access as Named, MInst, SymbolPart, VReg, VirtReg};
use gantry_isa_gen::effects::{self, Access, Reordering, Storage};
use gantry_isa_gen::message::Message;
use gantry_isa_gen::{Dst, Platform, Src, Type};

/// Read or written bytes (or units) of a chunk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ChunkAccess {
    /// Chunk.
    pub(super) chunk: u32,
    /// Bit per byte.
    pub(super) mask: u64,
    /// True for a write, which may be partial. Otherwise a read.
    pub(super) write: bool,
}

/// Bits of a mask. A chunk has this many bytes of the GRF file, of flags or of the address
/// register, or units of everything else. A GRF is no larger.
const BITS: u32 = u64::BITS;
const ACC: u32 = 0;
const ADDRESS: u32 = 1;
const FLAG: u32 = 2;
const GLOBAL: u32 = 3;
const SLM: u32 = 4;
const SCRATCH: u32 = 5;
/// Number of chunks of scratch that messages reach, of 64 hwords each: 12 bits of hwords.
const SCRATCHES: u32 = (1 << 12) / BITS;
const FILE: u32 = SCRATCH + SCRATCHES;

/// Addresses of registers, and the effects of instructions on them.
pub(super) struct StateSpace<A, S> {
    pub(super) platform: Platform,
    /// Bytes of a GRF.
    pub(super) grf: u32,
    /// Byte address of a register.
    pub(super) address: A,
    /// Size of a register in bytes.
    pub(super) size: S,
    /// True if an instruction that starts a register's value must stay before its other writes.
    /// This is so while liveness is still used.
    pub(super) values: bool,
    /// Bit per `noalias` surface.
    pub(super) lone: u64,
}

/// Returns true for an access to GRFs through an address register.
fn is_anywhere(a: &Access) -> bool {
    a.storage == Storage::Grf && a.end == u32::MAX
}

impl<A: Fn(VReg) -> u32, S: Fn(VReg) -> u32> StateSpace<A, S> {
    /// Returns the number of chunks, for a GRF file of `file` bytes.
    pub(super) fn chunks(&self, file: u32) -> usize {
        (FILE + file.div_ceil(BITS)) as usize
    }

    /// Calls `f` with the chunks of an access.
    fn split(&self, a: &Access, mut f: impl FnMut(ChunkAccess)) {
        if a.storage == Storage::Global {
            let one = (a.end == a.start + 1).then(|| 1 << a.start & self.lone);
            return f(ChunkAccess {
                chunk: GLOBAL,
                mask: one.filter(|m| *m != 0).unwrap_or(!self.lone),
                write: a.write,
            });
        }
        let base = match a.storage {
            Storage::Acc => ACC,
            Storage::Address => ADDRESS,
            Storage::Flag => FLAG,
            Storage::Global => GLOBAL,
            Storage::Slm => SLM,
            Storage::Scratch => SCRATCH,
            Storage::Grf => FILE,
        };
        let mut chunk = base + a.start / BITS;
        let mut first = a.start % BITS;
        let mut left = a.end.saturating_sub(a.start);
        while left > 0 {
            let here = left.min(BITS - first);
            f(ChunkAccess {
                chunk,
                mask: u64::MAX >> (BITS - here) << first,
                write: a.write,
            });
            left -= here;
            (chunk, first) = (chunk + 1, 0);
        }
    }

    fn bytes(&self, r: VReg, from: u32, bytes: u32, write: bool) -> Access {
        let start = (self.address)(r) + from;
        Access {
            storage: Storage::Grf,
            start,
            end: start + bytes,
            write,
        }
    }

    /// Returns the message of a send whose descriptors are known.
    pub(super) fn message(&self, m: &MInst) -> Option<Message> {
        match m {
            MInst::Op { inst, .. } => effects::message(self.platform, inst),
            _ => None,
        }
    }

    /// Calls `f` with everything that an instruction with this message reads and writes. `told` is
    /// set if other instructions state its accesses through an address register.
    pub(super) fn each(
        &self,
        m: &MInst,
        message: Option<&Message>,
        told: bool,
        mut f: impl FnMut(&Access),
    ) -> Reordering {
        let all = |r: VReg, write: bool| self.bytes(r, 0, (self.size)(r), write);
        match *m {
            MInst::Op { ref inst, .. } => {
                let mut anywhere = false;
                let grf = |r: VirtReg| {
                    let r = r.as_grf()?;
                    let start = (self.address)(r);
                    Some(start..start + (self.size)(r))
                };
                // A macro leaves undefined values in its registers.
                for s in &inst.srcs {
                    if let Src::Macro { at, .. } = s
                        && let Some(r) = at.reg.as_grf()
                    {
                        f(&all(r, false));
                    }
                }
                if let Dst::Macro { at, .. } = inst.dst
                    && let Some(r) = at.reg.as_grf()
                {
                    f(&all(r, true));
                }
                let order = effects::accesses_of(self.platform, inst, message, grf, |a| {
                    if is_anywhere(&a) {
                        anywhere = true;
                        return;
                    }
                    f(&a);
                    // A write to the thread header's register invalidates the base of scratch in
                    // it.
                    if a.storage == Storage::Grf && a.write && a.start < self.grf {
                        f(&Access {
                            storage: Storage::Scratch,
                            start: 0,
                            end: SCRATCHES * BITS,
                            write: true,
                        });
                    }
                });
                if anywhere && !told {
                    Reordering::Fixed
                } else {
                    order
                }
            }
            MInst::Start { .. } => Reordering::Free,
            MInst::Copy { dst, src } if (self.address)(dst) == (self.address)(src) => {
                Reordering::Free
            }
            MInst::Copy { dst, src } => {
                f(&all(src, false));
                f(&all(dst, true));
                Reordering::Free
            }
            MInst::LoadAddress {
                sub, count, index, ..
            } => {
                let words = count.channels() * Type::Uw.bytes();
                if let Some((r, _)) = index {
                    f(&all(r, false));
                }
                let start = u32::from(sub) * Type::Uw.bytes();
                f(&Access {
                    storage: Storage::Address,
                    start,
                    end: start + words,
                    write: true,
                });
                Reordering::Free
            }
            MInst::RegAddress { dst, index, .. } => {
                if let Some((r, _)) = index {
                    f(&all(r, false));
                }
                f(&all(dst, true));
                Reordering::Free
            }
            MInst::Symbol { dst, part, .. } => {
                let low = Type::Ud.bytes();
                let (from, bytes) = match part {
                    SymbolPart::Whole => (0, 2 * low),
                    SymbolPart::Low => (0, low),
                    SymbolPart::High => (low, low),
                };
                f(&self.bytes(dst, from, bytes, true));
                Reordering::Free
            }
            MInst::Touch { reg, write } => {
                f(&all(reg, false));
                if write {
                    f(&all(reg, true));
                }
                Reordering::Free
            }
            MInst::Jump
            | MInst::Branch { .. }
            | MInst::Leave { .. }
            | MInst::Join { .. }
            | MInst::BranchExec { .. }
            | MInst::JumpTable { .. }
            | MInst::Call { .. }
            | MInst::Return { .. }
            | MInst::EndThread { .. } => {
                m.for_each_vreg(|r, named| f(&all(r, named != Named::Use)));
                if let MInst::Branch { .. } | MInst::Leave { .. } = m {
                    f(&Access {
                        storage: Storage::Flag,
                        start: 0,
                        end: 8,
                        write: false,
                    });
                }
                Reordering::Fixed
            }
        }
    }

    /// Calls `f` with the registers that an instruction names for liveness, as reads or writes of
    /// all their bytes.
    pub(super) fn named(&self, m: &MInst, mut f: impl FnMut(&Access)) {
        if !self.values || matches!(m, MInst::Op { starts: false, .. }) {
            return;
        }
        let simple = !matches!(m, MInst::Op { .. });
        m.for_each_vreg(|r, named| {
            let write = named == Named::Def;
            if write || simple && named == Named::Use {
                f(&self.bytes(r, 0, (self.size)(r), write));
            }
        });
    }

    /// Adds the chunks of an access.
    pub(super) fn touches(&self, a: &Access, out: &mut Vec<ChunkAccess>) {
        self.split(a, |t| out.push(t));
    }
}
