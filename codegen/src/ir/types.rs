//! Value types: a scalar type and a lane count.

use std::fmt;

gantry_isa_gen::named_enum! {
    /// Scalar type of a lane.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
    pub enum Scalar {
        /// 8-bit integer.
        I8 = "i8",
        /// 16-bit integer.
        I16 = "i16",
        /// 32-bit integer.
        I32 = "i32",
        /// 64-bit integer.
        I64 = "i64",
        /// Half float.
        F16 = "f16",
        /// Single float.
        F32 = "f32",
        /// Double float.
        F64 = "f64",
        /// Bit of a predicate.
        B1 = "b1",
    }
}

impl Scalar {
    /// Bytes of a lane in a register; 0 for a predicate, which lives in a flag register.
    pub const fn bytes(self) -> u32 {
        match self {
            Scalar::I8 => 1,
            Scalar::I16 | Scalar::F16 => 2,
            Scalar::I32 | Scalar::F32 => 4,
            Scalar::I64 | Scalar::F64 => 8,
            Scalar::B1 => 0,
        }
    }

    /// Bits of a lane.
    pub const fn bits(self) -> u32 {
        match self {
            Scalar::B1 => 1,
            s => s.bytes() * 8,
        }
    }

    /// Mask of the bits of a lane, in the low bits of a `u64`.
    pub const fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }

    /// Returns the low bits of a number that fits a lane, signed or unsigned; else the whole
    /// number.
    pub const fn low_bits(self, number: u64) -> u64 {
        let mask = self.mask();
        if number | (mask >> 1) == u64::MAX {
            number & mask
        } else {
            number
        }
    }

    /// Returns true if lanes are integers; false for predicates.
    pub const fn is_int(self) -> bool {
        matches!(self, Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64)
    }

    /// Returns true if lanes are floats.
    pub const fn is_float(self) -> bool {
        matches!(self, Scalar::F16 | Scalar::F32 | Scalar::F64)
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Type of a value: `f32x16`, `i32` (one lane), `b1x32`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Type {
    scalar: Scalar,
    lanes: u16,
}

impl Type {
    /// Maximum size of a value in bytes: the whole GRF file of a thread in the 128-GRF mode.
    pub const MAX_BYTES: u32 = 4096;
    /// Maximum number of lanes of a predicate: a constant has 64 bits.
    pub const MAX_PRED_LANES: u32 = 64;
    /// Maximum number of lanes of a flag. A longer predicate is compiled as two, and is no mask of
    /// SIMD control flow.
    pub const FLAG_LANES: u32 = 32;

    /// Returns a type of this many lanes. `None` for no lanes, or for more than the GRF file (64
    /// lanes for a predicate) holds.
    pub const fn new(scalar: Scalar, lanes: u32) -> Option<Type> {
        let fits = match scalar {
            Scalar::B1 => lanes <= Type::MAX_PRED_LANES,
            s => lanes <= Type::MAX_BYTES && lanes * s.bytes() <= Type::MAX_BYTES,
        };
        if lanes == 0 || !fits {
            return None;
        }
        Some(Type {
            scalar,
            lanes: lanes as u16,
        })
    }

    /// Returns a type with the lane count clamped to 1 and to what fits. For callers that know
    /// their widths; [`Type::new`] reports an error.
    pub const fn clamped(scalar: Scalar, lanes: u32) -> Type {
        let most = match scalar {
            Scalar::B1 => Type::MAX_PRED_LANES,
            s => Type::MAX_BYTES / s.bytes(),
        };
        let lanes = match lanes {
            0 => 1,
            n if n > most => most,
            n => n,
        };
        Type {
            scalar,
            lanes: lanes as u16,
        }
    }

    /// Returns the type with another lane count, clamped as by [`Type::clamped`]: `F32.by(16)` is
    /// `f32x16`.
    pub const fn by(self, lanes: u32) -> Type {
        Type::clamped(self.scalar, lanes)
    }

    /// Returns the type of one lane.
    pub const fn scalar_of(scalar: Scalar) -> Type {
        Type { scalar, lanes: 1 }
    }

    /// Returns the scalar type of a lane.
    pub const fn scalar(self) -> Scalar {
        self.scalar
    }

    /// Number of lanes.
    pub const fn lanes(self) -> u32 {
        self.lanes as u32
    }

    /// Size in registers, in bytes; 0 for a predicate.
    pub const fn bytes(self) -> u32 {
        self.lanes as u32 * self.scalar.bytes()
    }

    /// Returns true for a predicate.
    pub const fn is_pred(self) -> bool {
        matches!(self.scalar, Scalar::B1)
    }

    /// Returns the type with another scalar type; `None` if that would not fit.
    pub const fn with_scalar(self, scalar: Scalar) -> Option<Type> {
        Type::new(scalar, self.lanes as u32)
    }

    /// Parses a type (`f32x16`).
    ///
    /// ```
    /// use gantry_codegen::ir::{Scalar, Type};
    /// assert_eq!(Type::parse("f32x16"), Type::new(Scalar::F32, 16));
    /// assert_eq!(Type::parse("b1x65"), None);
    /// ```
    pub fn parse(text: &str) -> Option<Type> {
        let (name, lanes) = match text.split_once('x') {
            Some((n, l)) if !l.is_empty() && l.bytes().all(|b| b.is_ascii_digit()) => {
                (n, l.parse().ok().filter(|_| !l.starts_with('0'))?)
            }
            Some(_) => return None,
            None => (text, 1),
        };
        let scalar = Scalar::from_name(name)?;
        Type::new(scalar, lanes)
    }
}

/// One-lane types; `F32.by(16)` is `f32x16`.
pub mod scalars {
    use super::{Scalar, Type};
    /// `i8`.
    pub const I8: Type = Type::scalar_of(Scalar::I8);
    /// `i16`.
    pub const I16: Type = Type::scalar_of(Scalar::I16);
    /// `i32`.
    pub const I32: Type = Type::scalar_of(Scalar::I32);
    /// `i64`.
    pub const I64: Type = Type::scalar_of(Scalar::I64);
    /// `f16`.
    pub const F16: Type = Type::scalar_of(Scalar::F16);
    /// `f32`.
    pub const F32: Type = Type::scalar_of(Scalar::F32);
    /// `f64`.
    pub const F64: Type = Type::scalar_of(Scalar::F64);
    /// `b1`.
    pub const B1: Type = Type::scalar_of(Scalar::B1);
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.lanes {
            1 => write!(f, "{}", self.scalar),
            n => write!(f, "{}x{n}", self.scalar),
        }
    }
}
