//! What messages do: operations, their parameters, and the payload lengths they need.

use super::Sfid;
use crate::platform::Platform;

/// What a data port message addresses: bits 7:0 of its descriptor.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Surface {
    /// An entry of the kernel's binding table, 0 .. 252 (252 is bindless).
    Bti(u8),
    /// Shared local memory (254).
    Slm,
    /// Stateless, coherent with the host (255).
    Stateless,
    /// Stateless, not coherent (253).
    StatelessNonCoherent,
}

impl Surface {
    /// The surface of a binding table index field.
    pub const fn from_bits(bits: u8) -> Surface {
        match bits {
            253 => Surface::StatelessNonCoherent,
            254 => Surface::Slm,
            255 => Surface::Stateless,
            n => Surface::Bti(n),
        }
    }

    /// The binding table index field. A `Bti` of 253 or more is read back as what that index means.
    pub const fn bits(self) -> u8 {
        match self {
            Surface::Bti(n) => n,
            Surface::Slm => 254,
            Surface::Stateless => 255,
            Surface::StatelessNonCoherent => 253,
        }
    }

    /// Whether addresses are relative to general state base, without a surface.
    pub const fn is_stateless(self) -> bool {
        matches!(self, Surface::Stateless | Surface::StatelessNonCoherent)
    }
}

/// How a data port message forms addresses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AddrModel {
    /// 32-bit byte offsets into a surface.
    A32(Surface),
    /// 64-bit virtual addresses; the surface says only how coherent (`Stateless` or `StatelessNonCoherent`).
    A64(Surface),
}

impl AddrModel {
    /// A64 as compilers use it by default: coherent, index 255.
    pub const FLAT: AddrModel = AddrModel::A64(Surface::Stateless);

    /// The surface of either model.
    pub const fn surface(self) -> Surface {
        match self {
            AddrModel::A32(s) | AddrModel::A64(s) => s,
        }
    }

    /// Whether addresses have 64 bits.
    pub const fn is_a64(self) -> bool {
        matches!(self, AddrModel::A64(_))
    }
}

/// Whether a message reads or writes memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Dir {
    /// Memory to registers.
    Read,
    /// Registers to memory.
    Write,
}

/// How many channels a scattered message has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Simd {
    /// Eight channels.
    S8,
    /// Sixteen channels.
    S16,
}

impl Simd {
    /// How many channels.
    pub const fn channels(self) -> u32 {
        match self {
            Simd::S8 => 8,
            Simd::S16 => 16,
        }
    }

    /// The mode of so many channels (8 or 16).
    pub const fn new(channels: u32) -> Option<Simd> {
        match channels {
            8 => Some(Simd::S8),
            16 => Some(Simd::S16),
            _ => None,
        }
    }
}

/// The channels (x, y, z, w: dwords 0 to 3) of an untyped surface message: bit n set means that channel n moves.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Rgba(u8);

impl Rgba {
    /// A mask of 1 to 15.
    pub const fn new(mask: u8) -> Option<Rgba> {
        if mask >= 1 && mask <= 15 {
            Some(Rgba(mask))
        } else {
            None
        }
    }

    /// The first `n` channels, `n` from 1 to 4.
    pub const fn first(n: u32) -> Option<Rgba> {
        if n >= 1 && n <= 4 {
            Some(Rgba(((1u32 << n) - 1) as u8))
        } else {
            None
        }
    }

    /// The mask.
    pub const fn mask(self) -> u8 {
        self.0
    }

    /// How many channels move.
    pub const fn count(self) -> u32 {
        self.0.count_ones()
    }
}

/// An integer atomic operation, in encoding order (MDC_AOP).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AtomicOp {
    /// Compare and write two dwords.
    CmpWr2W,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise xor.
    Xor,
    /// Exchange.
    Mov,
    /// Increment.
    Inc,
    /// Decrement; returns the old value.
    Dec,
    /// Add.
    Add,
    /// Memory minus source.
    Sub,
    /// Source minus memory.
    RevSub,
    /// Signed maximum.
    IMax,
    /// Signed minimum.
    IMin,
    /// Unsigned maximum.
    UMax,
    /// Unsigned minimum.
    UMin,
    /// Compare and write: source 1 is written where memory equals source 0.
    CmpWr,
    /// Decrement; returns the new value.
    PreDec,
}

impl AtomicOp {
    /// Every operation, in encoding order.
    pub const ALL: [AtomicOp; 16] = [
        AtomicOp::CmpWr2W,
        AtomicOp::And,
        AtomicOp::Or,
        AtomicOp::Xor,
        AtomicOp::Mov,
        AtomicOp::Inc,
        AtomicOp::Dec,
        AtomicOp::Add,
        AtomicOp::Sub,
        AtomicOp::RevSub,
        AtomicOp::IMax,
        AtomicOp::IMin,
        AtomicOp::UMax,
        AtomicOp::UMin,
        AtomicOp::CmpWr,
        AtomicOp::PreDec,
    ];

    /// How many data operands follow the addresses.
    pub const fn sources(self) -> u32 {
        match self {
            AtomicOp::Inc | AtomicOp::Dec | AtomicOp::PreDec => 0,
            AtomicOp::CmpWr => 2,
            AtomicOp::CmpWr2W => 4,
            _ => 1,
        }
    }
}

/// A single-float atomic operation (MDC_FOP).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FloatAtomicOp {
    /// Maximum.
    FMax,
    /// Minimum.
    FMin,
    /// Compare (as floats) and write.
    FCmpWr,
}

impl FloatAtomicOp {
    /// Every operation; encodings 1, 2, 3.
    pub const ALL: [FloatAtomicOp; 3] = [
        FloatAtomicOp::FMax,
        FloatAtomicOp::FMin,
        FloatAtomicOp::FCmpWr,
    ];

    /// How many data operands follow the addresses.
    pub const fn sources(self) -> u32 {
        match self {
            FloatAtomicOp::FCmpWr => 2,
            _ => 1,
        }
    }
}

/// The unit of a block message.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BlockUnit {
    /// 16 bytes; addresses are a multiple of 16, and count owords in A32.
    Oword,
    /// One oword, in the upper half of its GRF.
    OwordHigh,
    /// 16 bytes; addresses are a multiple of 4, and count bytes. Reads only.
    OwordUnaligned,
    /// 32 bytes; addresses are a multiple of 4. A64 only.
    Hword,
}

/// Which data port carries a message.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Cache {
    /// The data cache.
    Data,
    /// The constant cache, read-only.
    Constant,
}

/// What a message does. Lengths are not here: see [`Message`](super::Message).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MsgOp {
    /// Untyped surface: up to four consecutive dwords per channel, each to its own GRF (two in SIMD16).
    Untyped {
        /// Read or write.
        dir: Dir,
        /// Where.
        addr: AddrModel,
        /// Which of the four dwords.
        rgba: Rgba,
        /// How many channels.
        simd: Simd,
    },
    /// Byte scattered: 1, 2 or 4 bytes per channel, in the low part of a dword each.
    ByteScattered {
        /// Read or write.
        dir: Dir,
        /// Where.
        addr: AddrModel,
        /// Bytes per channel: 1, 2 or 4.
        bytes: u8,
        /// How many channels.
        simd: Simd,
    },
    /// Dword scattered: 1, 2, 4 or 8 consecutive dwords per channel. A32 offsets count dwords.
    DwordScattered {
        /// Read or write.
        dir: Dir,
        /// Where.
        addr: AddrModel,
        /// Dwords per channel: 1, 2, 4 or 8.
        count: u8,
        /// How many channels.
        simd: Simd,
        /// Through which cache.
        cache: Cache,
    },
    /// Qword scattered: 1, 2, 4 or 8 consecutive qwords per channel. A64.
    QwordScattered {
        /// Read or write.
        dir: Dir,
        /// Where.
        addr: AddrModel,
        /// Qwords per channel: 1, 2, 4 or 8.
        count: u8,
        /// How many channels.
        simd: Simd,
    },
    /// Integer atomic on a dword, or (A64) on a qword.
    Atomic {
        /// The operation.
        op: AtomicOp,
        /// Where.
        addr: AddrModel,
        /// Qwords instead of dwords (A64 only).
        qword: bool,
        /// Whether a value comes back.
        returns: bool,
        /// How many channels; A64 has 8 only.
        simd: Simd,
    },
    /// Single-float atomic.
    FloatAtomic {
        /// The operation.
        op: FloatAtomicOp,
        /// Where.
        addr: AddrModel,
        /// Whether a value comes back.
        returns: bool,
        /// How many channels; A64 has 8 only.
        simd: Simd,
    },
    /// Block: consecutive bytes to consecutive registers; the address is in the header.
    Block {
        /// Read or write.
        dir: Dir,
        /// Where.
        addr: AddrModel,
        /// The unit.
        unit: BlockUnit,
        /// How many units: 1, 2, 4 or 8 (1 for `OwordHigh`).
        count: u8,
        /// Through which cache.
        cache: Cache,
    },
    /// Scratch block: whole GRFs of the thread's own scratch space, at `r0.5` of the header.
    Scratch {
        /// Read or write.
        dir: Dir,
        /// How many GRFs: 1, 2, 4 or 8.
        count: u8,
        /// Offset in the scratch space, in GRFs of 32 bytes: 0 .. 4095.
        offset: u16,
        /// Channel mode: the execution mask counts dwords (true) or owords.
        dword_mode: bool,
    },
    /// Memory fence.
    Fence {
        /// SLM (true) or global memory.
        slm: bool,
        /// A register is written back when the fence is done.
        commit: bool,
        /// Which caches are flushed: bits 12:8 of the descriptor.
        flush: u8,
    },
    /// Gateway barrier.
    Barrier,
    /// End of thread, to the thread spawner.
    ThreadEnd {
        /// The URB handle in the header is not dereferenced (bit 4; set by every compute compiler).
        no_dereference: bool,
    },
    /// A message that is not described here: named by its shared function.
    Raw {
        /// Who receives it.
        sfid: Sfid,
        /// Function control: descriptor bits 18:0, 31:29 where they are, and (split send) the extended descriptor's
        /// upper half in 63:32.
        control: u64,
    },
}

/// Payload lengths of an operation, in GRFs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lengths {
    /// A header GRF is required.
    pub header: bool,
    /// Addresses.
    pub address: u32,
    /// Data written.
    pub data: u32,
    /// Data that comes back.
    pub response: u32,
}

impl MsgOp {
    /// Who receives it.
    pub fn sfid(&self) -> Sfid {
        match *self {
            MsgOp::Untyped { .. }
            | MsgOp::QwordScattered { .. }
            | MsgOp::Atomic { .. }
            | MsgOp::FloatAtomic { .. } => Sfid::DATA_CACHE_1,
            MsgOp::DwordScattered {
                cache: Cache::Constant,
                ..
            }
            | MsgOp::Block {
                cache: Cache::Constant,
                ..
            } => Sfid::CONSTANT_CACHE,
            MsgOp::ByteScattered { addr, .. }
            | MsgOp::DwordScattered { addr, .. }
            | MsgOp::Block { addr, .. } => {
                if addr.is_a64() {
                    Sfid::DATA_CACHE_1
                } else {
                    Sfid::DATA_CACHE_0
                }
            }
            MsgOp::Scratch { .. } | MsgOp::Fence { .. } => Sfid::DATA_CACHE_0,
            MsgOp::Barrier => Sfid::GATEWAY,
            MsgOp::ThreadEnd { .. } => Sfid::THREAD_SPAWNER,
            MsgOp::Raw { sfid, .. } => sfid,
        }
    }

    /// What the payloads need, in GRFs. Zero throughout for [`MsgOp::Raw`].
    pub fn lengths(&self, platform: Platform) -> Lengths {
        let grf = platform.features().grf_bytes;
        // GRFs of one element per channel.
        let rows = |simd: Simd, bytes: u32| (simd.channels() * bytes).div_ceil(grf);
        let addresses = |addr: AddrModel, simd| rows(simd, if addr.is_a64() { 8 } else { 4 });
        let moved = |dir, address, n| match dir {
            Dir::Read => Lengths {
                header: false,
                address,
                data: 0,
                response: n,
            },
            Dir::Write => Lengths {
                header: false,
                address,
                data: n,
                response: 0,
            },
        };
        let headed = |l: Lengths| Lengths { header: true, ..l };
        match *self {
            MsgOp::Untyped {
                dir,
                addr,
                rgba,
                simd,
            } => moved(dir, addresses(addr, simd), rgba.count() * rows(simd, 4)),
            MsgOp::ByteScattered {
                dir, addr, simd, ..
            } => moved(dir, addresses(addr, simd), rows(simd, 4)),
            MsgOp::DwordScattered {
                dir,
                addr,
                count,
                simd,
                ..
            } => moved(dir, addresses(addr, simd), u32::from(count) * rows(simd, 4)),
            MsgOp::QwordScattered {
                dir,
                addr,
                count,
                simd,
            } => moved(dir, addresses(addr, simd), u32::from(count) * rows(simd, 8)),
            MsgOp::Atomic {
                op,
                addr,
                qword,
                returns,
                simd,
            } => {
                let row = rows(simd, if qword { 8 } else { 4 });
                let wide = if op == AtomicOp::CmpWr2W { 2 } else { 1 };
                Lengths {
                    header: false,
                    address: addresses(addr, simd),
                    data: op.sources() * row,
                    response: u32::from(returns) * row * wide,
                }
            }
            MsgOp::FloatAtomic {
                op,
                addr,
                returns,
                simd,
            } => Lengths {
                header: false,
                address: addresses(addr, simd),
                data: op.sources() * rows(simd, 4),
                response: u32::from(returns) * rows(simd, 4),
            },
            MsgOp::Block {
                dir, unit, count, ..
            } => {
                let bytes = if unit == BlockUnit::Hword { 32 } else { 16 };
                headed(moved(dir, 0, (u32::from(count) * bytes).div_ceil(grf)))
            }
            MsgOp::Scratch { dir, count, .. } => headed(moved(dir, 0, u32::from(count))),
            MsgOp::Fence { commit, .. } => headed(Lengths {
                header: true,
                address: 0,
                data: 0,
                response: u32::from(commit),
            }),
            // The gateway and the thread spawner take one GRF that the descriptor does not call a header.
            MsgOp::Barrier | MsgOp::ThreadEnd { .. } => Lengths {
                header: false,
                address: 1,
                data: 0,
                response: 0,
            },
            MsgOp::Raw { .. } => Lengths {
                header: false,
                address: 0,
                data: 0,
                response: 0,
            },
        }
    }
}
