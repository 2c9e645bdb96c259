//! Operand element types and sets of them.

use crate::listed::listed_enum;
use std::fmt;
use std::ops::BitOr;

/// Kind of the elements of a type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Unsigned integers.
    Unsigned,
    /// Signed integers.
    Signed,
    /// Floating-point numbers.
    Float,
}

/// Form in which operands hold elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Registers or immediates of one element.
    Plain,
    /// Packed vector immediates.
    Vector,
}

/// Defines the element types by rows of variant, suffix, bits, kind and form.
macro_rules! types {
    ($(
        $(#[doc = $doc:literal])+
        $Ty:ident $suffix:literal $bits:literal $Kind:ident $form:ident;
    )+) => {
        listed_enum! {
            /// Element type of an operand, which is also `gantry_isa_gen::Type`.
            #[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord, Hash)]
            pub enum Ty {
                $($(#[doc = $doc])+ $Ty,)+
            }
        }

        impl Ty {
            /// Returns the suffix in assembly text.
            pub const fn suffix(self) -> &'static str {
                match self {
                    $(Ty::$Ty => $suffix,)+
                }
            }

            /// Returns the size of an element in bits.
            ///
            /// A vector immediate counts as the element that an instruction reads. `nf` counts as
            /// 32 bits, as in IGA.
            pub const fn bits(self) -> u32 {
                match self {
                    $(Ty::$Ty => $bits,)+
                }
            }

            /// Returns the kind of the elements.
            pub const fn kind(self) -> Kind {
                match self {
                    $(Ty::$Ty => Kind::$Kind,)+
                }
            }

            /// Returns the form in which operands hold the elements.
            pub const fn form(self) -> Form {
                match self {
                    $(Ty::$Ty => Form::$form,)+
                }
            }
        }
    };
}

types! {
    /// Unsigned byte.
    Ub "ub" 8 Unsigned Plain;
    /// Signed byte.
    B "b" 8 Signed Plain;
    /// Unsigned word (2 bytes).
    Uw "uw" 16 Unsigned Plain;
    /// Signed word (2 bytes).
    W "w" 16 Signed Plain;
    /// Unsigned dword (4 bytes).
    Ud "ud" 32 Unsigned Plain;
    /// Signed dword (4 bytes).
    D "d" 32 Signed Plain;
    /// Unsigned qword (8 bytes).
    Uq "uq" 64 Unsigned Plain;
    /// Signed qword (8 bytes).
    Q "q" 64 Signed Plain;
    /// Half-precision float (2 bytes).
    Hf "hf" 16 Float Plain;
    /// Single-precision float (4 bytes).
    F "f" 32 Float Plain;
    /// Double-precision float (8 bytes).
    Df "df" 64 Float Plain;
    /// bfloat16: the upper 2 bytes of a single-precision float (Xe-HP on).
    Bf "bf" 16 Float Plain;
    /// TensorFloat-32: a single-precision float of which 19 bits count (Xe-HPC, `dpas`).
    Tf32 "tf32" 32 Float Plain;
    /// Byte float with 5 exponent bits (Xe-HPC).
    Bf8 "bf8" 8 Float Plain;
    /// Byte float with 4 exponent bits (Xe-HPC).
    Hf8 "hf8" 8 Float Plain;
    /// Native float, 66 bits in an accumulator (Gen11).
    Nf "nf" 32 Float Plain;
    /// Single bits, packed (only in `dpas`).
    U1 "u1" 1 Unsigned Plain;
    /// Unsigned 2-bit integers, packed (only in `dpas`).
    U2 "u2" 2 Unsigned Plain;
    /// Signed 2-bit integers, packed (only in `dpas`).
    S2 "s2" 2 Signed Plain;
    /// Unsigned 4-bit integers, packed (only in `dpas`).
    U4 "u4" 4 Unsigned Plain;
    /// Signed 4-bit integers, packed (only in `dpas`).
    S4 "s4" 4 Signed Plain;
    /// Immediate only: eight unsigned 4-bit integers, read as unsigned words.
    Uv "uv" 16 Unsigned Vector;
    /// Immediate only: eight signed 4-bit integers, read as signed words.
    V "v" 16 Signed Vector;
    /// Immediate only: four 8-bit restricted floats, read as single-precision floats.
    Vf "vf" 32 Float Vector;
}

/// Set of element types.
///
/// ```
/// use gantry_meta::types::{BWD, F, Ty};
/// assert!((BWD | F).contains(Ty::F));
/// assert_eq!((BWD | F).to_string(), "ub,b,uw,w,ud,d,f");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub struct TypeSet(u32);

impl TypeSet {
    /// Creates a set of types.
    pub const fn of(types: &[Ty]) -> TypeSet {
        let mut bits = 0;
        let mut i = 0;
        while i < types.len() {
            bits |= 1 << types[i] as u16;
            i += 1;
        }
        TypeSet(bits)
    }

    /// Returns true if the type is in the set.
    pub const fn contains(self, t: Ty) -> bool {
        self.0 & (1 << t as u16) != 0
    }

    /// Returns true if the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Iterates over the types, in the order of [`Ty::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Ty> {
        Ty::ALL.into_iter().filter(move |t| self.contains(*t))
    }
}

impl BitOr for TypeSet {
    type Output = TypeSet;
    fn bitor(self, o: TypeSet) -> TypeSet {
        TypeSet(self.0 | o.0)
    }
}

impl fmt::Display for TypeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.iter().map(Ty::suffix).collect();
        f.write_str(&names.join(","))
    }
}

/// No type, for a missing operand.
pub const NO_TYPE: TypeSet = TypeSet::of(&[]);
/// `ub`, `b`.
pub const BYTE: TypeSet = TypeSet::of(&[Ty::Ub, Ty::B]);
/// `uw`, `w`.
pub const WORD: TypeSet = TypeSet::of(&[Ty::Uw, Ty::W]);
/// `ud`, `d`.
pub const DWORD: TypeSet = TypeSet::of(&[Ty::Ud, Ty::D]);
/// `uq`, `q`.
pub const QWORD: TypeSet = TypeSet::of(&[Ty::Uq, Ty::Q]);
/// Words and dwords.
pub const WD: TypeSet = TypeSet::of(&[Ty::Uw, Ty::W, Ty::Ud, Ty::D]);
/// Bytes, words and dwords.
pub const BWD: TypeSet = TypeSet::of(&[Ty::Ub, Ty::B, Ty::Uw, Ty::W, Ty::Ud, Ty::D]);
/// `ub`.
pub const UB: TypeSet = TypeSet::of(&[Ty::Ub]);
/// `b`.
pub const B: TypeSet = TypeSet::of(&[Ty::B]);
/// `uw`.
pub const UW: TypeSet = TypeSet::of(&[Ty::Uw]);
/// `w`.
pub const W: TypeSet = TypeSet::of(&[Ty::W]);
/// `ud`.
pub const UD: TypeSet = TypeSet::of(&[Ty::Ud]);
/// `d`.
pub const D: TypeSet = TypeSet::of(&[Ty::D]);
/// `uq`.
pub const UQ: TypeSet = TypeSet::of(&[Ty::Uq]);
/// `hf`.
pub const HF: TypeSet = TypeSet::of(&[Ty::Hf]);
/// `f`.
pub const F: TypeSet = TypeSet::of(&[Ty::F]);
/// `hf`, `f`: mixed-mode float.
pub const HF_F: TypeSet = TypeSet::of(&[Ty::Hf, Ty::F]);
/// `df`.
pub const DF: TypeSet = TypeSet::of(&[Ty::Df]);
/// `bf`: bfloat16.
pub const BF: TypeSet = TypeSet::of(&[Ty::Bf]);
/// `bf`, `f`: mixed-mode bfloat.
pub const BF_F: TypeSet = TypeSet::of(&[Ty::Bf, Ty::F]);
/// `tf32`.
pub const TF32: TypeSet = TypeSet::of(&[Ty::Tf32]);
/// `bf8`.
pub const BF8: TypeSet = TypeSet::of(&[Ty::Bf8]);
/// `hf8`.
pub const HF8: TypeSet = TypeSet::of(&[Ty::Hf8]);
/// `nf`: the 66-bit native float of Gen11.
pub const NF: TypeSet = TypeSet::of(&[Ty::Nf]);
/// `u1`, `u2`, `s2`, `u4`, `s4`: packed below a byte, only in `dpas`.
pub const SUB_BYTE: TypeSet = TypeSet::of(&[Ty::U1, Ty::U2, Ty::S2, Ty::U4, Ty::S4]);
/// `q`.
pub const Q: TypeSet = TypeSet::of(&[Ty::Q]);
/// Words, dwords and qwords.
pub const WDQ: TypeSet = TypeSet::of(&[Ty::Uw, Ty::W, Ty::Ud, Ty::D, Ty::Uq, Ty::Q]);
/// Integers of all sizes.
pub const BWDQ: TypeSet =
    TypeSet::of(&[Ty::Ub, Ty::B, Ty::Uw, Ty::W, Ty::Ud, Ty::D, Ty::Uq, Ty::Q]);
