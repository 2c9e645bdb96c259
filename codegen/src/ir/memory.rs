//! Memory accesses: address spaces, promises about accesses, atomic operations and fences.

use super::cache::CachePolicy;
use super::immediate::{Keyed, keyword};
use super::types::Scalar;

/// Alignment in bytes of the SLM arguments of a kernel, which follow its static SLM.
pub(crate) const SLM_ALIGN: u32 = 16;

/// Maximum number of named barriers of a work-group, numbered from 1. Number 0 of the hardware's 32
/// is the work-group's own barrier.
pub const MAX_BARRIERS: u32 = 31;

/// Address space, which determines the type of an address.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Space {
    /// All memory, by 64-bit addresses (A64): `i64`.
    #[default]
    Global,
    /// SLM of the work-group, by byte offsets: `i32`.
    Slm,
    /// Surface argument n of the kernel, by byte offsets: `i32`.
    Surface(u8),
    /// Scratch of the hardware thread, by byte offsets: `i32`.
    Scratch,
}

impl Space {
    /// Returns the scalar type of an address.
    pub const fn address(self) -> Scalar {
        match self {
            Space::Global => Scalar::I64,
            Space::Slm | Space::Surface(_) | Space::Scratch => Scalar::I32,
        }
    }
}

/// Address space of an access, and the promises about it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct MemFlags {
    /// Address space.
    pub space: Space,
    /// Promised alignment of every address: 1 plus its logarithm in bytes, or 0 for that of an
    /// element.
    pub align: u8,
    /// The access is not removed, merged or reordered with others.
    pub volatile: bool,
    /// Memory that nothing writes while the kernel runs, so reads may use the constant cache.
    pub constant: bool,
    /// Cache policy, on targets whose messages have one. Others ignore it.
    pub cache: CachePolicy,
}

impl MemFlags {
    /// Returns the flags of an access to a space, without promises.
    pub const fn of(space: Space) -> MemFlags {
        MemFlags {
            space,
            align: 0,
            volatile: false,
            constant: false,
            cache: CachePolicy::DEFAULT,
        }
    }

    /// Returns the flags with the promise that addresses are multiples of `bytes`, a power of two.
    pub const fn aligned(self, bytes: u32) -> MemFlags {
        MemFlags {
            align: bytes.trailing_zeros() as u8 + 1,
            ..self
        }
    }

    /// Returns the flags with a cache policy.
    pub const fn cached(self, cache: CachePolicy) -> MemFlags {
        MemFlags { cache, ..self }
    }

    /// Returns the alignment of addresses in bytes, for elements of `element` bytes.
    pub fn alignment(self, element: u32) -> u32 {
        match self.align {
            0 => element.max(1),
            n => 1 << (n - 1).min(31),
        }
    }
}

impl Keyed for MemFlags {
    fn key(&self, w: &mut dyn FnMut(&[u8])) {
        let MemFlags {
            space,
            align,
            volatile,
            constant,
            cache,
        } = *self;
        match space {
            Space::Global => w(&[0]),
            Space::Slm => w(&[1]),
            Space::Surface(n) => w(&[2, n]),
            Space::Scratch => w(&[3]),
        }
        w(&[align, u8::from(volatile), u8::from(constant)]);
        w(&cache.key());
    }
}

gantry_isa_gen::named_enum! {
    /// Operation of an atomic: the new value, computed from the old value and the operands.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub enum AtomicOp {
        /// Sum.
        Add = "add",
        /// Old value minus the operand.
        Sub = "sub",
        /// Old value plus 1.
        Inc = "inc",
        /// Old value minus 1.
        Dec = "dec",
        /// Bitwise and.
        And = "and",
        /// Bitwise or.
        Or = "or",
        /// Bitwise exclusive or.
        Xor = "xor",
        /// Operand.
        Xchg = "xchg",
        /// Signed minimum.
        Smin = "smin",
        /// Signed maximum.
        Smax = "smax",
        /// Unsigned minimum.
        Umin = "umin",
        /// Unsigned maximum.
        Umax = "umax",
        /// Second operand, if the old value is the first.
        Cmpxchg = "cmpxchg",
        /// Minimum of floats.
        Fmin = "fmin",
        /// Maximum of floats.
        Fmax = "fmax",
        /// Second operand, if the old value equals the first in a float compare.
        Fcmpxchg = "fcmpxchg",
    }
}

impl AtomicOp {
    /// Number of operands besides the address: 0, 1 or 2.
    pub const fn operands(self) -> usize {
        match self {
            AtomicOp::Inc | AtomicOp::Dec => 0,
            AtomicOp::Cmpxchg | AtomicOp::Fcmpxchg => 2,
            _ => 1,
        }
    }

    /// Returns true if it operates on floats.
    pub const fn is_float(self) -> bool {
        matches!(self, AtomicOp::Fmin | AtomicOp::Fmax | AtomicOp::Fcmpxchg)
    }
}

keyword!(AtomicOp);

gantry_isa_gen::named_enum! {
    /// Observers for which a fence orders the accesses before it and after it.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub enum Scope {
        /// Work-group.
        Group = "group",
        /// All threads of the device.
        #[default]
        Device = "device",
        /// The device and the host.
        System = "system",
    }
}

keyword!(Scope);

gantry_isa_gen::named_enum! {
    /// Memories to which a fence orders accesses.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub enum FenceSpaces {
        /// Global memory: buffers and surfaces.
        Global = "global",
        /// Local memory.
        Slm = "slm",
        /// Both.
        All = "all",
    }
}

impl FenceSpaces {
    /// Returns true if it orders global memory.
    pub const fn global(self) -> bool {
        !matches!(self, FenceSpaces::Slm)
    }

    /// Returns true if it orders local memory.
    pub const fn slm(self) -> bool {
        !matches!(self, FenceSpaces::Global)
    }
}

keyword!(FenceSpaces);
