//! Operand element types and sets of them.

use std::fmt;
use std::ops::BitOr;

/// Element type, with the variants of `gantry_isa_gen::Type`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the names are the ISA's own type suffixes")]
pub enum Ty {
    Ub,
    B,
    Uw,
    W,
    Ud,
    D,
    Uq,
    Q,
    Hf,
    F,
    Df,
    Bf,
    Tf32,
    Bf8,
    Hf8,
    Nf,
    U1,
    U2,
    S2,
    U4,
    S4,
    Uv,
    V,
    Vf,
}

impl Ty {
    /// Every type.
    pub const ALL: [Ty; 24] = [
        Ty::Ub,
        Ty::B,
        Ty::Uw,
        Ty::W,
        Ty::Ud,
        Ty::D,
        Ty::Uq,
        Ty::Q,
        Ty::Hf,
        Ty::F,
        Ty::Df,
        Ty::Bf,
        Ty::Tf32,
        Ty::Bf8,
        Ty::Hf8,
        Ty::Nf,
        Ty::U1,
        Ty::U2,
        Ty::S2,
        Ty::U4,
        Ty::S4,
        Ty::Uv,
        Ty::V,
        Ty::Vf,
    ];

    /// Returns the suffix in assembly text.
    pub fn suffix(self) -> String {
        format!("{self:?}").to_lowercase()
    }
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
        let names: Vec<String> = self.iter().map(Ty::suffix).collect();
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
