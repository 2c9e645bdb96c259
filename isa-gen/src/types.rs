//! Element types of Gen operands.

use crate::names::{key, table_key};
use std::fmt;

/// Keys of the suffixes, in the order of [`Type::ALL`].
static SUFFIX_KEYS: [u64; Type::ALL.len()] = {
    let mut keys = [0; Type::ALL.len()];
    let mut n = 0;
    while n < keys.len() {
        keys[n] = table_key(Type::ALL[n].suffix());
        n += 1;
    }
    keys
};

/// Element type of an operand, from the PRM's "Numeric Data Types" (Vol. 7, EU Data Types).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Type {
    /// Unsigned byte.
    Ub,
    /// Signed byte.
    B,
    /// Unsigned word (2 bytes).
    Uw,
    /// Signed word (2 bytes).
    W,
    /// Unsigned dword (4 bytes).
    Ud,
    /// Signed dword (4 bytes).
    D,
    /// Unsigned qword (8 bytes).
    Uq,
    /// Signed qword (8 bytes).
    Q,
    /// Half-precision float (2 bytes).
    Hf,
    /// Single-precision float (4 bytes).
    F,
    /// Double-precision float (8 bytes).
    Df,
    /// bfloat16: the upper 2 bytes of a single-precision float (Xe-HP on).
    Bf,
    /// TensorFloat-32: a single-precision float of which 19 bits count (Xe-HPC, `dpas`).
    Tf32,
    /// Byte float with 5 exponent bits (Xe-HPC).
    Bf8,
    /// Byte float with 4 exponent bits (Xe-HPC).
    Hf8,
    /// Native float, 66 bits in an accumulator (Gen11).
    Nf,
    /// Single bits, packed (only in `dpas`).
    U1,
    /// Unsigned 2-bit integers, packed (only in `dpas`).
    U2,
    /// Signed 2-bit integers, packed (only in `dpas`).
    S2,
    /// Unsigned 4-bit integers, packed (only in `dpas`).
    U4,
    /// Signed 4-bit integers, packed (only in `dpas`).
    S4,
    /// Immediate only: eight unsigned 4-bit integers, read as unsigned words.
    Uv,
    /// Immediate only: eight signed 4-bit integers, read as signed words.
    V,
    /// Immediate only: four 8-bit restricted floats, read as single-precision floats.
    Vf,
}

impl Type {
    /// Every type, in declaration order.
    pub const ALL: [Type; 24] = [
        Type::Ub,
        Type::B,
        Type::Uw,
        Type::W,
        Type::Ud,
        Type::D,
        Type::Uq,
        Type::Q,
        Type::Hf,
        Type::F,
        Type::Df,
        Type::Bf,
        Type::Tf32,
        Type::Bf8,
        Type::Hf8,
        Type::Nf,
        Type::U1,
        Type::U2,
        Type::S2,
        Type::U4,
        Type::S4,
        Type::Uv,
        Type::V,
        Type::Vf,
    ];

    /// Returns the size of one element in bytes.
    ///
    /// A packed vector immediate counts as the element that an instruction reads: 2 for `uv` and
    /// `v`, 4 for `vf`. Types below a byte are packed into bytes and count as 1. `nf` counts as 4,
    /// as in IGA.
    #[inline]
    pub const fn bytes(self) -> u32 {
        match self {
            Type::Ub
            | Type::B
            | Type::Bf8
            | Type::Hf8
            | Type::U1
            | Type::U2
            | Type::S2
            | Type::U4
            | Type::S4 => 1,
            Type::Uw | Type::W | Type::Hf | Type::Bf | Type::Uv | Type::V => 2,
            Type::Ud | Type::D | Type::F | Type::Tf32 | Type::Vf | Type::Nf => 4,
            Type::Uq | Type::Q | Type::Df => 8,
        }
    }

    /// Returns the size of one element in bits, also for types below a byte.
    pub const fn bits(self) -> u32 {
        match self {
            Type::U1 => 1,
            Type::U2 | Type::S2 => 2,
            Type::U4 | Type::S4 => 4,
            _ => self.bytes() * 8,
        }
    }

    /// Returns true if elements are floating-point numbers.
    pub const fn is_float(self) -> bool {
        matches!(
            self,
            Type::Hf
                | Type::F
                | Type::Df
                | Type::Vf
                | Type::Bf
                | Type::Tf32
                | Type::Bf8
                | Type::Hf8
                | Type::Nf
        )
    }

    /// Returns true if elements are integers.
    pub const fn is_int(self) -> bool {
        !self.is_float()
    }

    /// Returns true if elements are signed integers or floats.
    pub const fn is_signed(self) -> bool {
        !matches!(
            self,
            Type::Ub | Type::Uw | Type::Ud | Type::Uq | Type::Uv | Type::U1 | Type::U2 | Type::U4
        )
    }

    /// Returns true if elements are smaller than a byte (only in `dpas`).
    pub const fn is_sub_byte(self) -> bool {
        matches!(self, Type::U1 | Type::U2 | Type::S2 | Type::U4 | Type::S4)
    }

    /// Returns true if this is one of the packed vector immediates (`uv`, `v`, `vf`).
    pub const fn is_packed_imm(self) -> bool {
        matches!(self, Type::Uv | Type::V | Type::Vf)
    }

    /// Returns the suffix in IGA syntax, without the colon.
    pub const fn suffix(self) -> &'static str {
        match self {
            Type::Ub => "ub",
            Type::B => "b",
            Type::Uw => "uw",
            Type::W => "w",
            Type::Ud => "ud",
            Type::D => "d",
            Type::Uq => "uq",
            Type::Q => "q",
            Type::Hf => "hf",
            Type::F => "f",
            Type::Df => "df",
            Type::Bf => "bf",
            Type::Tf32 => "tf32",
            Type::Bf8 => "bf8",
            Type::Hf8 => "hf8",
            Type::Nf => "nf",
            Type::U1 => "u1",
            Type::U2 => "u2",
            Type::S2 => "s2",
            Type::U4 => "u4",
            Type::S4 => "s4",
            Type::Uv => "uv",
            Type::V => "v",
            Type::Vf => "vf",
        }
    }

    /// Returns the type with this IGA suffix (without the colon).
    ///
    /// ```
    /// use gantry_isa_gen::Type;
    /// assert_eq!(Type::from_suffix("df"), Some(Type::Df));
    /// assert_eq!(Type::from_suffix("i32"), None);
    /// ```
    pub fn from_suffix(s: &str) -> Option<Type> {
        let key = key(s)?;
        let at = SUFFIX_KEYS.iter().position(|k| *k == key)?;
        Type::ALL.get(at).copied()
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.suffix())
    }
}
