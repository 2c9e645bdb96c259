//! Parameters of data port messages.

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
    /// Thirty-two channels (XeHPC).
    S32,
}

impl Simd {
    /// How many channels.
    pub const fn channels(self) -> u32 {
        match self {
            Simd::S8 => 8,
            Simd::S16 => 16,
            Simd::S32 => 32,
        }
    }

    /// The mode of so many channels (8, 16 or 32).
    pub const fn new(channels: u32) -> Option<Simd> {
        match channels {
            8 => Some(Simd::S8),
            16 => Some(Simd::S16),
            32 => Some(Simd::S32),
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

/// A float atomic operation (MDC_FOP).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FloatAtomicOp {
    /// Maximum.
    FMax,
    /// Minimum.
    FMin,
    /// Compare (as floats) and write.
    FCmpWr,
    /// Add (XeHP and later).
    FAdd,
    /// Memory minus source (XeHP and later).
    FSub,
}

impl FloatAtomicOp {
    /// Every operation; encodings 1 to 5.
    pub const ALL: [FloatAtomicOp; 5] = [
        FloatAtomicOp::FMax,
        FloatAtomicOp::FMin,
        FloatAtomicOp::FCmpWr,
        FloatAtomicOp::FAdd,
        FloatAtomicOp::FSub,
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

/// Which slots of the thread a typed message takes (MDC_SG3).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Slots {
    /// Four slots and four of another vertex (SIMD4x2).
    Dual,
    /// The lower eight.
    Low,
    /// The upper eight.
    High,
}

impl Slots {
    /// Every value, in encoding order.
    pub const ALL: [Slots; 3] = [Slots::Dual, Slots::Low, Slots::High];
}
