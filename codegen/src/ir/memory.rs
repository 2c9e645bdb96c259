//! Where accesses go, what is promised of them, and what atomics do.

use super::types::Scalar;

/// Alignment in bytes of what a kernel finds in local memory behind its own part.
pub(crate) const SLM_ALIGN: u32 = 16;

/// Barriers of a work-group that have a number, from 1 on; its own is 0 of the hardware's 32.
pub const MOST_BARRIERS: u32 = 31;

/// A memory that accesses go to, and with it what an address is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Space {
    /// Everything, by 64-bit addresses (A64): `i64`.
    #[default]
    Global,
    /// The work-group's local memory, by offsets in bytes: `i32`.
    Slm,
    /// The n-th surface argument of the kernel, by offsets in bytes: `i32`.
    Surface(u8),
    /// The hardware thread's own scratch, by offsets in bytes: `i32`.
    Scratch,
}

impl Space {
    /// The scalar type of an address.
    pub const fn address(self) -> Scalar {
        match self {
            Space::Global => Scalar::I64,
            Space::Slm | Space::Surface(_) | Space::Scratch => Scalar::I32,
        }
    }
}

/// What an access is, besides what is read or written: where, and what is promised of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct MemFlags {
    /// Where.
    pub space: Space,
    /// The alignment that every address is promised to have: its logarithm in bytes and 1; 0: that
    /// of an element.
    pub align: u8,
    /// It is neither left out, nor merged or exchanged with others.
    pub volatile: bool,
    /// Nobody writes there while the kernel runs: a read may take the way for constants.
    pub constant: bool,
}

impl MemFlags {
    /// Accesses to a space without promises.
    pub const fn of(space: Space) -> MemFlags {
        MemFlags {
            space,
            align: 0,
            volatile: false,
            constant: false,
        }
    }

    /// The same with the promise that addresses are multiples of so many bytes, a power of two.
    pub const fn aligned(self, bytes: u32) -> MemFlags {
        MemFlags {
            align: bytes.trailing_zeros() as u8 + 1,
            ..self
        }
    }

    /// The alignment of addresses in bytes, for elements of so many bytes.
    pub fn alignment(self, element: u32) -> u32 {
        match self.align {
            0 => element.max(1),
            n => 1 << (n - 1).min(31),
        }
    }
}

/// What an atomic puts in the place of the old value, from its operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AtomicOp {
    /// The sum.
    Add,
    /// The old value less the operand.
    Sub,
    /// The old value and 1.
    Inc,
    /// The old value less 1.
    Dec,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// The operand.
    Xchg,
    /// The signed minimum.
    Smin,
    /// The signed maximum.
    Smax,
    /// The unsigned minimum.
    Umin,
    /// The unsigned maximum.
    Umax,
    /// The second operand, where the old value is the first.
    Cmpxchg,
    /// The minimum of floats.
    Fmin,
    /// The maximum of floats.
    Fmax,
    /// The second operand, where the old value equals the first as floats do.
    Fcmpxchg,
}

impl AtomicOp {
    /// Every operation.
    pub const ALL: [AtomicOp; 16] = [
        AtomicOp::Add,
        AtomicOp::Sub,
        AtomicOp::Inc,
        AtomicOp::Dec,
        AtomicOp::And,
        AtomicOp::Or,
        AtomicOp::Xor,
        AtomicOp::Xchg,
        AtomicOp::Smin,
        AtomicOp::Smax,
        AtomicOp::Umin,
        AtomicOp::Umax,
        AtomicOp::Cmpxchg,
        AtomicOp::Fmin,
        AtomicOp::Fmax,
        AtomicOp::Fcmpxchg,
    ];

    /// The name in text.
    pub const fn name(self) -> &'static str {
        match self {
            AtomicOp::Add => "add",
            AtomicOp::Sub => "sub",
            AtomicOp::Inc => "inc",
            AtomicOp::Dec => "dec",
            AtomicOp::And => "and",
            AtomicOp::Or => "or",
            AtomicOp::Xor => "xor",
            AtomicOp::Xchg => "xchg",
            AtomicOp::Smin => "smin",
            AtomicOp::Smax => "smax",
            AtomicOp::Umin => "umin",
            AtomicOp::Umax => "umax",
            AtomicOp::Cmpxchg => "cmpxchg",
            AtomicOp::Fmin => "fmin",
            AtomicOp::Fmax => "fmax",
            AtomicOp::Fcmpxchg => "fcmpxchg",
        }
    }

    /// How many operands it has besides the address: 0, 1 or 2.
    pub const fn operands(self) -> usize {
        match self {
            AtomicOp::Inc | AtomicOp::Dec => 0,
            AtomicOp::Cmpxchg | AtomicOp::Fcmpxchg => 2,
            _ => 1,
        }
    }

    /// Whether it is of floats.
    pub const fn is_float(self) -> bool {
        matches!(self, AtomicOp::Fmin | AtomicOp::Fmax | AtomicOp::Fcmpxchg)
    }
}

/// Who must see the accesses before a fence before those after it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Scope {
    /// The work-group.
    Group,
    /// All threads of the device.
    #[default]
    Device,
    /// The host too.
    System,
}

impl Scope {
    /// Every scope.
    pub const ALL: [Scope; 3] = [Scope::Group, Scope::Device, Scope::System];

    /// The name in text.
    pub const fn name(self) -> &'static str {
        match self {
            Scope::Group => "group",
            Scope::Device => "device",
            Scope::System => "system",
        }
    }
}

/// Which memories a fence orders accesses to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FenceSpaces {
    /// Global memory: buffers and surfaces.
    Global,
    /// Local memory.
    Slm,
    /// Both.
    All,
}

impl FenceSpaces {
    /// Every choice.
    pub const ALL: [FenceSpaces; 3] = [FenceSpaces::Global, FenceSpaces::Slm, FenceSpaces::All];

    /// The name in text.
    pub const fn name(self) -> &'static str {
        match self {
            FenceSpaces::Global => "global",
            FenceSpaces::Slm => "slm",
            FenceSpaces::All => "all",
        }
    }

    /// Whether global memory is meant.
    pub const fn global(self) -> bool {
        !matches!(self, FenceSpaces::Slm)
    }

    /// Whether local memory is meant.
    pub const fn slm(self) -> bool {
        !matches!(self, FenceSpaces::Global)
    }
}
