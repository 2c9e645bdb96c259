//! The constant tables that `gantry-meta` generates, and the types of their entries.

use crate::codec::Codec;
use crate::codec::xe::table::{NO_BASE, SwsbTable, XeTables};
use crate::compact::table::{
    CompactClass, CompactColumn, CompactCopy, CompactImm, CompactShape, CompactTable, ImmKind,
    ImmPlace,
};
use crate::inst::SyncFn;
use crate::perf::{ClassTimes, Unit};
use crate::platform::{COLUMNS, Platform};
use crate::swsb::{Pipe, TokenKind};
use crate::types::Type;

/// A set of element types.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TypeSet(u32);

impl TypeSet {
    /// The set of the types listed.
    pub const fn of(types: &[Type]) -> TypeSet {
        let mut bits = 0;
        let mut i = 0;
        while i < types.len() {
            bits |= 1 << types[i] as u16;
            i += 1;
        }
        TypeSet(bits)
    }

    /// Whether the type is in the set.
    pub const fn contains(self, t: Type) -> bool {
        self.0 & (1 << t as u16) != 0
    }

    /// The types, in the order of [`Type::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Type> {
        Type::ALL.into_iter().filter(move |t| self.contains(*t))
    }
}

/// What a platform says about an opcode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpInfo {
    /// The name in text.
    pub mnemonic: &'static str,
    /// Operand format.
    pub format: Format,
    /// Opcode number.
    pub opcode: u8,
    /// Allowed types: destination set, source set. Empty for formats without data operands.
    pub types: &'static [(TypeSet, TypeSet)],
    /// May be predicated.
    pub pred: bool,
    /// May have a flag modifier.
    pub cond: bool,
    /// May saturate.
    pub sat: bool,
    /// Sources may have modifiers.
    pub mods: bool,
    /// May write the accumulator too.
    pub acc: bool,
    /// Has the branch control `.b`.
    pub branch_ctrl: bool,
    /// A negated source is an inverted one, written `~`.
    pub bitwise: bool,
    /// Operands carry special accumulators (`mme`).
    pub mme: bool,
}

impl OpInfo {
    /// Whether the destination type may go with a source of this type.
    pub fn allows(&self, dst: Type, src: Type) -> bool {
        self.types
            .iter()
            .any(|(d, s)| d.contains(dst) && s.contains(src))
    }
}

/// A row of the opcode table.
#[derive(Debug)]
pub(crate) struct OpRow {
    pub mnemonic: &'static str,
    pub doc: &'static str,
    pub format: Format,
    pub columns: [Option<OpInfo>; COLUMNS],
}

/// What is known of a math function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MathInfo {
    /// The name after `math.`.
    pub name: &'static str,
    /// Number of sources, 1 or 2.
    pub sources: u8,
    /// Whether operands carry a special accumulator (`mme`).
    pub is_macro: bool,
    /// Allowed types: destination set, source set.
    pub types: &'static [(TypeSet, TypeSet)],
    /// The function's number in each column.
    pub codes: [Option<u8>; COLUMNS],
}

/// Where a field lives: its lowest run of bits as (lowest bit, bits), and the further runs as a range of
/// [`Layout::more`], the least significant first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub first: (u8, u8),
    pub more: (u8, u8),
}

/// The place of a field that a layout does not have.
pub(crate) const NOWHERE: Place = Place {
    first: (0, 0),
    more: (0, 0),
};

/// The fields of a group of formats.
#[derive(Debug)]
pub(crate) struct Layout {
    pub name: &'static str,
    /// In the order of [`Field`].
    pub places: [Place; Field::ALL.len()],
    pub more: &'static [(u8, u8)],
    /// Bytes that a branch target counts.
    pub target_unit: i32,
}

/// A layout as a type: the codec of a format is compiled for each, so that the place of every field is a constant in it.
pub(crate) trait NativeLayout {
    const LAYOUT: &'static Layout;
    /// Whether this is a layout at all.
    const EXISTS: bool = true;
}

/// The type of no layout.
pub(crate) enum Absent {}

impl NativeLayout for Absent {
    const LAYOUT: &'static Layout = &Layout {
        name: "none",
        places: [NOWHERE; Field::ALL.len()],
        more: &[],
        target_unit: 1,
    };
    const EXISTS: bool = false;
}

/// The codes of types, both ways.
#[derive(Debug)]
pub(crate) struct TypeCodes {
    /// In the order of [`Type::ALL`]; [`NO_CODE`] where a type has none.
    pub of: [u8; Type::ALL.len()],
    /// The type of each code.
    pub back: &'static [Option<Type>],
}

/// The code of a type that has none.
pub(crate) const NO_CODE: u8 = 0xff;

impl TypeCodes {
    /// The code of a type.
    #[inline]
    pub(crate) fn code(&self, t: Type) -> Option<u64> {
        match self.of.get(t as usize) {
            Some(&c) if c != NO_CODE => Some(c.into()),
            _ => None,
        }
    }

    /// The type of a code.
    #[inline]
    pub(crate) fn ty(&self, code: u64) -> Option<Type> {
        self.back.get(code as usize).copied().flatten()
    }
}

/// The tables of a platform.
#[derive(Debug)]
pub(crate) struct PlatformTables {
    pub ops: [Option<Op>; 128],
    /// What is the same in every instruction of an opcode, by its number.
    pub bases: [u128; 128],
    /// How each format is encoded and decoded.
    pub codecs: [Option<Codec>; Format::ALL.len()],
    pub reg_types: TypeCodes,
    pub imm_types: TypeCodes,
    /// Of three-source operands in Align16.
    pub ternary_types: TypeCodes,
    /// Of three-source operands in Align1, with the execution type as bit 3.
    pub align1_types: TypeCodes,
    /// Bytes that a sub-register of a three-source source counts in Align16.
    pub ternary_unit: u8,
    /// The codes of Xe.
    pub xe: Option<XeTables>,
    pub compact: CompactColumn,
}

impl PlatformTables {
    pub(crate) fn of(p: Platform) -> &'static PlatformTables {
        // Every platform's column is one of the table's.
        let [first, ..] = &PLATFORMS;
        PLATFORMS.get(p.column()).unwrap_or(first)
    }

    /// How a format is encoded and decoded; `None` where the platform does not have it.
    #[inline]
    pub(crate) fn codec(&self, f: Format) -> Option<&Codec> {
        self.codecs.get(f as usize)?.as_ref()
    }

    /// What is the same in every instruction of the opcode with this number.
    #[inline]
    pub(crate) fn base(&self, opcode: u8) -> u128 {
        self.bases.get(usize::from(opcode)).copied().unwrap_or(0)
    }
}

impl Field {
    /// What messages call it.
    pub(crate) fn name(self) -> &'static str {
        Field::NAMES.get(self as usize).copied().unwrap_or("")
    }
}

include!(concat!(env!("OUT_DIR"), "/tables.rs"));

#[cfg(test)]
mod tests {
    use super::*;

    /// Generated code is data; `cargo test -p gantry-isa-gen generated -- --nocapture` says how much.
    #[test]
    fn generated_tables_stay_small() {
        let source = include_str!(concat!(env!("OUT_DIR"), "/tables.rs"));
        let mut bytes = size_of_val(&OPS) + size_of_val(&MATH) + size_of_val(&PLATFORMS);
        bytes += size_of::<Layout>() * source.matches("impl NativeLayout for").count();
        for c in OPS.iter().flat_map(|o| o.columns.iter().flatten()) {
            bytes += size_of_val(c.types);
        }
        let lines = source.lines().count();
        println!("{lines} generated lines, {bytes} bytes of data without compaction tables");
        assert!(bytes < 256 * 1024, "{bytes}");
    }

    #[test]
    fn tables_are_in_the_order_of_their_enums() {
        for (op, row) in Op::ALL.iter().zip(&OPS) {
            assert_eq!(format!("{op:?}").to_lowercase(), row.mnemonic);
        }
        for (f, row) in MathFn::ALL.iter().zip(&MATH) {
            assert_eq!(format!("{f:?}").to_lowercase(), row.name);
        }
        for p in Platform::ALL {
            assert!(p.column() < COLUMNS);
        }
    }
}
