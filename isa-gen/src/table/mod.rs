//! Constant tables that `gantry-meta` generates, and the types of their entries.

pub(crate) mod compact;
pub(crate) mod timing;
pub(crate) mod xe;

use crate::platform::{COLUMNS, Platform};
use crate::swsb::{Pipe, TokenKind};
use crate::sync_fn::SyncFn;
use crate::types::Type;
use compact::{
    CompactClass, CompactColumn, CompactCopy, CompactImm, CompactShape, CompactTable, ImmKind,
    ImmPlace,
};
use timing::{ClassTimes, Unit};
use xe::{NO_BASE, SwsbTable, XeTables};

/// Set of element types.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TypeSet(u32);

impl TypeSet {
    /// Creates a set of types.
    pub const fn of(types: &[Type]) -> TypeSet {
        let mut bits = 0;
        let mut i = 0;
        while i < types.len() {
            bits |= 1 << types[i] as u16;
            i += 1;
        }
        TypeSet(bits)
    }

    /// Returns true if the type is in the set.
    pub const fn contains(self, t: Type) -> bool {
        self.0 & (1 << t as u16) != 0
    }

    /// Iterates over the types, in the order of [`Type::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Type> {
        Type::ALL.into_iter().filter(move |t| self.contains(*t))
    }
}

/// Properties of an opcode on a platform.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpInfo {
    /// Mnemonic.
    pub mnemonic: &'static str,
    /// Operand format.
    pub format: Format,
    /// Opcode number in the encoding.
    pub opcode: u8,
    /// Allowed pairs of destination types and source types. Empty for formats without data
    /// operands.
    pub types: &'static [(TypeSet, TypeSet)],
    /// True if the instruction may be predicated.
    pub pred: bool,
    /// True if the instruction may have a condition modifier.
    pub cond: bool,
    /// True if the instruction may saturate.
    pub sat: bool,
    /// True if sources may have modifiers.
    pub mods: bool,
    /// True if the instruction may also write the accumulator.
    pub acc: bool,
    /// True if the instruction has the branch control `.b`.
    pub branch_ctrl: bool,
    /// True if a negated source is an inverted one, written `~`.
    pub bitwise: bool,
    /// True if operands name special accumulators (`mme`).
    pub mme: bool,
}

impl OpInfo {
    /// Returns true if a destination type and a source type may be used together.
    pub fn allows(&self, dst: Type, src: Type) -> bool {
        self.types
            .iter()
            .any(|(d, s)| d.contains(dst) && s.contains(src))
    }
}

/// Row of the opcode table.
#[derive(Debug)]
pub(crate) struct OpRow {
    pub mnemonic: &'static str,
    pub doc: &'static str,
    pub format: Format,
    pub columns: [Option<OpInfo>; COLUMNS],
}

/// Properties of a math function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MathInfo {
    /// Name after `math.`.
    pub name: &'static str,
    /// Number of sources, 1 or 2.
    pub sources: u8,
    /// True if operands name a special accumulator (`mme`).
    pub is_macro: bool,
    /// Allowed pairs of destination types and source types.
    pub types: &'static [(TypeSet, TypeSet)],
    /// Number of the function in each column.
    pub codes: [Option<u8>; COLUMNS],
}

/// Position of a field in an instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FieldPosition {
    pub first: (u8, u8),
    pub more: (u8, u8),
}

/// Position of a field that a layout does not have.
pub(crate) const NO_POSITION: FieldPosition = FieldPosition {
    first: (0, 0),
    more: (0, 0),
};

/// Bit layout of a group of formats.
#[derive(Debug)]
pub(crate) struct Layout {
    pub name: &'static str,
    /// Position of each field, in the order of [`Field`].
    pub positions: [FieldPosition; Field::ALL.len()],
    pub more: &'static [(u8, u8)],
    /// Unit of a branch target in bytes.
    pub target_unit: i32,
}

/// Layout as a type. The codec of a format is compiled once per layout, so that field positions are
/// constants.
pub(crate) trait NativeLayout {
    const LAYOUT: &'static Layout;
    /// False for [`Absent`].
    const EXISTS: bool = true;
}

/// Stands for a layout that the platform does not have.
pub(crate) enum Absent {}

impl NativeLayout for Absent {
    const LAYOUT: &'static Layout = &Layout {
        name: "none",
        positions: [NO_POSITION; Field::ALL.len()],
        more: &[],
        target_unit: 1,
    };
    const EXISTS: bool = false;
}

/// Encodings of element types, in both directions.
#[derive(Debug)]
pub(crate) struct TypeCodes {
    /// Code of each type, in the order of [`Type::ALL`], or [`NO_CODE`].
    pub of: [u8; Type::ALL.len()],
    /// Type of each code.
    pub back: &'static [Option<Type>],
}

/// Marks a type without a code.
pub(crate) const NO_CODE: u8 = 0xff;

impl TypeCodes {
    /// Returns the code of a type.
    #[inline]
    pub(crate) fn code(&self, t: Type) -> Option<u64> {
        match self.of.get(t as usize) {
            Some(&c) if c != NO_CODE => Some(c.into()),
            _ => None,
        }
    }

    /// Returns the type of a code.
    #[inline]
    pub(crate) fn ty(&self, code: u64) -> Option<Type> {
        self.back.get(code as usize).copied().flatten()
    }
}

/// Tables of a platform.
#[derive(Debug)]
pub(crate) struct PlatformTables {
    pub ops: [Option<Op>; 128],
    /// Constant bits of each opcode's instructions, by opcode number.
    pub bases: [u128; 128],
    pub reg_types: TypeCodes,
    pub imm_types: TypeCodes,
    /// Types of three-source operands in Align16.
    pub ternary_types: TypeCodes,
    /// Types of three-source operands in Align1, with the execution type as bit 3.
    pub align1_types: TypeCodes,
    /// Unit of a sub-register number of a three-source operand in Align16, in bytes.
    pub ternary_unit: u8,
    /// Encodings of Xe.
    pub xe: Option<XeTables>,
    pub compact: CompactColumn,
}

impl PlatformTables {
    pub(crate) fn of(p: Platform) -> &'static PlatformTables {
        // The column of every platform is in the table.
        let [first, ..] = &PLATFORMS;
        PLATFORMS.get(p.column()).unwrap_or(first)
    }

    /// Returns the constant bits of the opcode with this number.
    #[inline]
    pub(crate) fn base(&self, opcode: u8) -> u128 {
        self.bases.get(usize::from(opcode)).copied().unwrap_or(0)
    }
}

impl Field {
    /// Returns the name of the field in error messages.
    pub(crate) fn name(self) -> &'static str {
        Field::NAMES.get(self as usize).copied().unwrap_or("")
    }
}

include!(concat!(env!("OUT_DIR"), "/tables.rs"));

#[cfg(test)]
mod tests {
    use super::*;

    /// Bounds the size of the generated data. `cargo test -p gantry-isa-gen generated --
    /// --nocapture` prints it.
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
