//! Element types of Gen operands.

use crate::names::{key, table_key};
use std::fmt;

/// The suffixes, in the order of [`Type::ALL`].
static SUFFIX_KEYS: [u64; Type::ALL.len()] = {
    let mut keys = [0; Type::ALL.len()];
    let mut n = 0;
    while n < keys.len() {
        keys[n] = table_key(Type::ALL[n].suffix());
        n += 1;
    }
    keys
};

/// The element type of an operand, as the PRM's "Numeric Data Types" lists them (Vol. 7, EU Data Types).
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
    /// Unsigned doubleword (4 bytes).
    Ud,
    /// Signed doubleword (4 bytes).
    D,
    /// Unsigned quadword (8 bytes).
    Uq,
    /// Signed quadword (8 bytes).
    Q,
    /// Half float (2 bytes).
    Hf,
    /// Single float (4 bytes).
    F,
    /// Double float (8 bytes).
    Df,
    /// Brain float: the upper 2 bytes of a single float (XeHP on).
    Bf,
    /// A single float of which 19 bits count (XeHPC, `dpas`).
    Tf32,
    /// Byte float with 5 exponent bits (XeHPC).
    Bf8,
    /// Byte float with 4 exponent bits (XeHPC).
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
    /// Immediate only: four 8-bit restricted floats, read as single floats.
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

    /// Size of one element in bytes. The packed vector immediates count as the element that an
    /// instruction sees: 2 for `uv` and `v`, 4 for `vf`. The types below a byte come by the byte and count as 1; `nf`
    /// counts as 4, as IGA has it.
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

    /// Size of one element in bits, also of those below a byte.
    pub const fn bits(self) -> u32 {
        match self {
            Type::U1 => 1,
            Type::U2 | Type::S2 => 2,
            Type::U4 | Type::S4 => 4,
            _ => self.bytes() * 8,
        }
    }

    /// Whether elements are floating-point numbers.
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

    /// Whether elements are integers.
    pub const fn is_int(self) -> bool {
        !self.is_float()
    }

    /// Whether elements are integers with a sign, or floats.
    pub const fn is_signed(self) -> bool {
        !matches!(
            self,
            Type::Ub | Type::Uw | Type::Ud | Type::Uq | Type::Uv | Type::U1 | Type::U2 | Type::U4
        )
    }

    /// Whether elements are smaller than a byte (only in `dpas`).
    pub const fn is_sub_byte(self) -> bool {
        matches!(self, Type::U1 | Type::U2 | Type::S2 | Type::U4 | Type::S4)
    }

    /// Whether this is one of the packed vector immediates (`uv`, `v`, `vf`).
    pub const fn is_packed_imm(self) -> bool {
        matches!(self, Type::Uv | Type::V | Type::Vf)
    }

    /// The suffix in IGA syntax, without the colon.
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

    /// The type with this IGA suffix (without the colon).
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
