//! Parameters of data port messages.

/// Surface that a data port message accesses: bits 7:0 of its descriptor.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Surface {
    /// Entry of the kernel's binding table, 0 to 252 (252 is bindless).
    Bti(u8),
    /// Shared local memory (254).
    Slm,
    /// Stateless, coherent with the host (255).
    Stateless,
    /// Stateless, not coherent (253).
    StatelessNonCoherent,
}

impl Surface {
    /// Decodes a binding table index field.
    pub const fn from_bits(bits: u8) -> Surface {
        match bits {
            253 => Surface::StatelessNonCoherent,
            254 => Surface::Slm,
            255 => Surface::Stateless,
            n => Surface::Bti(n),
        }
    }

    /// Encodes the binding table index field. A `Bti` of 253 or more decodes to the special meaning
    /// of that index.
    pub const fn bits(self) -> u8 {
        match self {
            Surface::Bti(n) => n,
            Surface::Slm => 254,
            Surface::Stateless => 255,
            Surface::StatelessNonCoherent => 253,
        }
    }

    /// Returns true if addresses are relative to the general state base, without a surface.
    pub const fn is_stateless(self) -> bool {
        matches!(self, Surface::Stateless | Surface::StatelessNonCoherent)
    }
}

/// Address model of a data port message.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AddrModel {
    /// 32-bit byte offsets into a surface.
    A32(Surface),
    /// 64-bit virtual addresses. The surface selects coherence only (`Stateless` or
    /// `StatelessNonCoherent`).
    A64(Surface),
}

impl AddrModel {
    /// A64 as compilers use it by default: coherent, index 255.
    pub const FLAT: AddrModel = AddrModel::A64(Surface::Stateless);

    /// Returns the surface.
    pub const fn surface(self) -> Surface {
        match self {
            AddrModel::A32(s) | AddrModel::A64(s) => s,
        }
    }

    /// Returns true if addresses have 64 bits.
    pub const fn is_a64(self) -> bool {
        matches!(self, AddrModel::A64(_))
    }
}

/// Direction of a data transfer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Dir {
    /// Memory to registers.
    Read,
    /// Registers to memory.
    Write,
}

/// Number of channels of a message.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Simd {
    /// Eight channels.
    S8,
    /// Sixteen channels.
    S16,
    /// Thirty-two channels (Xe-HPC).
    S32,
}

impl Simd {
    /// Number of channels of a message.
    pub const fn channels(self) -> u32 {
        match self {
            Simd::S8 => 8,
            Simd::S16 => 16,
            Simd::S32 => 32,
        }
    }

    /// Returns the SIMD mode with this number of channels (8, 16 or 32).
    pub const fn new(channels: u32) -> Option<Simd> {
        match channels {
            8 => Some(Simd::S8),
            16 => Some(Simd::S16),
            32 => Some(Simd::S32),
            _ => None,
        }
    }
}

/// Component mask of a surface message: bit n enables component n of x, y, z, w (dwords 0 to 3).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Rgba(u8);

impl Rgba {
    /// Creates a mask from bits 3:0, or returns `None` for 0 and values above 15.
    pub const fn new(mask: u8) -> Option<Rgba> {
        if mask >= 1 && mask <= 15 {
            Some(Rgba(mask))
        } else {
            None
        }
    }

    /// Enables the first `n` components, `n` from 1 to 4.
    pub const fn first(n: u32) -> Option<Rgba> {
        if n >= 1 && n <= 4 {
            Some(Rgba(((1u32 << n) - 1) as u8))
        } else {
            None
        }
    }

    /// Returns the mask.
    pub const fn mask(self) -> u8 {
        self.0
    }

    /// Returns the number of enabled components.
    pub const fn count(self) -> u32 {
        self.0.count_ones()
    }
}

/// Integer atomic operation, in encoding order (MDC_AOP).
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

    /// Returns the number of data operands that follow the addresses.
    pub const fn sources(self) -> u32 {
        match self {
            AtomicOp::Inc | AtomicOp::Dec | AtomicOp::PreDec => 0,
            AtomicOp::CmpWr => 2,
            AtomicOp::CmpWr2W => 4,
            _ => 1,
        }
    }
}

/// Float atomic operation (MDC_FOP).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FloatAtomicOp {
    /// Maximum.
    FMax,
    /// Minimum.
    FMin,
    /// Compare (as floats) and write.
    FCmpWr,
    /// Add (Xe-HP on).
    FAdd,
    /// Memory minus source (Xe-HP on).
    FSub,
}

impl FloatAtomicOp {
    /// Every operation, encoded as 1 to 5.
    pub const ALL: [FloatAtomicOp; 5] = [
        FloatAtomicOp::FMax,
        FloatAtomicOp::FMin,
        FloatAtomicOp::FCmpWr,
        FloatAtomicOp::FAdd,
        FloatAtomicOp::FSub,
    ];

    /// Returns the number of data operands that follow the addresses.
    pub const fn sources(self) -> u32 {
        match self {
            FloatAtomicOp::FCmpWr => 2,
            _ => 1,
        }
    }
}

/// Unit of a block message.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BlockUnit {
    /// 16 bytes. Addresses are multiples of 16, and are in owords with A32.
    Oword,
    /// One oword, in the upper half of its GRF.
    OwordHigh,
    /// 16 bytes. Addresses are multiples of 4 and in bytes. Reads only.
    OwordUnaligned,
    /// 32 bytes. Addresses are multiples of 4. A64 only.
    Hword,
}

impl BlockUnit {
    /// Returns the name.
    pub const fn name(self) -> &'static str {
        match self {
            BlockUnit::Oword => "oword",
            BlockUnit::OwordHigh => "oword high",
            BlockUnit::OwordUnaligned => "oword unaligned",
            BlockUnit::Hword => "hword",
        }
    }
}

/// Data port that carries a message.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Cache {
    /// Data cache.
    Data,
    /// Constant cache, read-only.
    Constant,
}

/// Slots (channels) of a typed message (MDC_SG3).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Slots {
    /// Four slots and four of another vertex (SIMD4x2).
    Dual,
    /// Lower eight slots.
    Low,
    /// Upper eight slots.
    High,
}

impl Slots {
    /// Every value, in encoding order.
    pub const ALL: [Slots; 3] = [Slots::Dual, Slots::Low, Slots::High];
}
