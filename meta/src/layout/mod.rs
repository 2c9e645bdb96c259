//! Bit layouts: the fields of the native 128-bit form, per generation and format.

use crate::format::Format;
use crate::generation::Generation;
use crate::row::Row;
use crate::types::Ty;
use std::fmt;

mod field;
mod gen10;
mod gen11;
mod gen7p5;
mod gen8;
mod gen9;
pub mod xe;

pub use field::{Case, Field};

/// Bit range, with both ends included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bits {
    /// Highest bit, 0 to 127.
    pub hi: u8,
    /// Lowest bit.
    pub lo: u8,
}

/// Position of a field.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FieldBits {
    /// Field.
    pub field: Field,
    /// Bit ranges, the least significant first.
    pub parts: Vec<Bits>,
    /// Cases in which the field exists, any of them; none if it always exists.
    pub when: Vec<Case>,
}

impl FieldBits {
    /// Returns the width of the field in bits.
    pub fn width(&self) -> u32 {
        self.parts
            .iter()
            .map(|b| u32::from(b.hi.saturating_sub(b.lo)) + 1)
            .sum()
    }

    fn holds(&self, shape: &[Case]) -> bool {
        self.when.is_empty() || self.when.iter().any(|c| shape.contains(c))
    }
}

/// Layout of a group of formats.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layout {
    /// Name in error messages.
    pub name: &'static str,
    /// Fields.
    pub fields: Vec<FieldBits>,
    /// Combinations of cases that can occur together.
    pub shapes: Vec<Vec<Case>>,
}

/// Error in a layout.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LayoutError {
    /// Name of the layout.
    pub layout: &'static str,
    /// Description of the error.
    pub message: String,
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "layout `{}`: {}", self.layout, self.message)
    }
}

impl std::error::Error for LayoutError {}

impl Layout {
    /// Checks that the fields fit 128 bits, and that no two that can occur together share a bit.
    ///
    /// ```
    /// use gantry_meta::layout::{at, Field, Layout};
    /// let two = Layout {
    ///     name: "two",
    ///     fields: vec![at(Field::Opcode, 6, 0), at(Field::AccessMode, 6, 6)],
    ///     shapes: vec![vec![]],
    /// };
    /// assert_eq!(
    ///     two.check().unwrap_err().to_string(),
    ///     "layout `two`: AccessMode and Opcode share bit 6 in shape []"
    /// );
    /// ```
    pub fn check(self) -> Result<Layout, LayoutError> {
        let fail = |message| {
            Err(LayoutError {
                layout: self.name,
                message,
            })
        };
        for f in &self.fields {
            if f.parts.is_empty() || f.parts.iter().any(|b| b.hi < b.lo || b.hi > 127) {
                return fail(format!("{:?} has an empty bit range", f.field));
            }
            if f.width() > 64 {
                return fail(format!("{:?} is wider than 64 bits", f.field));
            }
            if self.fields.iter().filter(|o| o.field == f.field).count() > 1 {
                return fail(format!("{:?} has two positions", f.field));
            }
        }
        for shape in &self.shapes {
            let mut owner: [Option<Field>; 128] = [None; 128];
            for f in self.fields.iter().filter(|f| f.holds(shape)) {
                for bit in f.parts.iter().flat_map(|b| b.lo..=b.hi) {
                    match owner.get_mut(usize::from(bit)) {
                        Some(slot @ None) => *slot = Some(f.field),
                        Some(Some(other)) => {
                            return fail(format!(
                                "{:?} and {other:?} share bit {bit} in shape {shape:?}",
                                f.field
                            ));
                        }
                        None => return fail(format!("{:?} has bit {bit}", f.field)),
                    }
                }
            }
        }
        Ok(self)
    }
}

/// Layout of a format: the index of the layout and the fields with fixed values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FormatLayout {
    /// Format.
    pub format: Format,
    /// Index into [`GenLayouts::layouts`].
    pub layout: usize,
    /// Fields with a fixed value in this format.
    pub fixed: Vec<(Field, u64)>,
}

/// Fields that an opcode fixes in addition to those of its format.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OpFixed {
    /// Mnemonic.
    pub op: &'static str,
    /// Fields with a fixed value.
    pub fixed: Vec<(Field, u64)>,
}

/// Native encoding of a generation.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GenLayouts {
    /// Layouts.
    pub layouts: Vec<Layout>,
    /// Formats that the generation has.
    pub formats: Vec<FormatLayout>,
    /// Type codes of register operands.
    pub reg_types: Vec<(Ty, u8)>,
    /// Type codes of immediates.
    pub imm_types: Vec<(Ty, u8)>,
    /// Type codes of three-source operands in Align16.
    pub ternary_types: Vec<(Ty, u8)>,
    /// Type codes of three-source operands in Align1, with the execution type as bit 3.
    pub align1_types: Vec<(Ty, u8)>,
    /// Second layout of three-source instructions, as an index into [`Self::layouts`]: that of
    /// Align16, or of `bfn` on Xe.
    pub ternary_other: Option<usize>,
    /// Unit of a sub-register of a three-source operand in Align16, in bytes.
    pub ternary_unit: u8,
    /// Layouts with branch targets in units of 8 bytes, as indices into [`Self::layouts`]. Targets
    /// of the others are in bytes.
    pub qword_targets: Vec<usize>,
    /// Opcodes that fix more fields than their format.
    pub ops: Vec<OpFixed>,
}

impl GenLayouts {
    /// Returns the constant bits of an opcode: its number and the fixed fields.
    pub fn base(&self, row: &Row, g: Generation) -> Result<u128, LayoutError> {
        let Some(column) = row.column(g) else {
            return Ok(0);
        };
        let Some((format, layout)) = self
            .formats
            .iter()
            .find(|f| f.format == column.format)
            .and_then(|f| Some((f, self.layouts.get(f.layout)?)))
        else {
            return Ok(0);
        };
        let of_op = self.ops.iter().filter(|o| o.op == row.mnemonic);
        let opcode = (Field::Opcode, u64::from(column.opcode));
        let mut word = 0;
        for (field, value) in std::iter::once(&opcode)
            .chain(&format.fixed)
            .chain(of_op.flat_map(|o| &o.fixed))
        {
            let bits = layout
                .fields
                .iter()
                .find(|b| b.field == *field)
                .and_then(|b| b.word(*value));
            let Some(bits) = bits else {
                return Err(LayoutError {
                    layout: layout.name,
                    message: format!("{field:?} cannot hold {value} of `{}`", row.mnemonic),
                });
            };
            word |= bits;
        }
        Ok(word)
    }
}

/// Returns the layouts of a generation, checked.
pub fn layouts(g: Generation) -> Result<GenLayouts, LayoutError> {
    let l = match g {
        Generation::Gen7p5 => gen7p5::layouts(),
        Generation::Gen8 => gen8::layouts(),
        Generation::Gen9 => gen9::layouts(),
        Generation::Gen10 => gen10::layouts(),
        Generation::Gen11 => gen11::layouts(),
        Generation::XeLp | Generation::XeHp | Generation::XeHpg | Generation::XeHpc => {
            xe::layouts(g)
        }
    };
    let fail = |message| {
        Err(LayoutError {
            layout: "formats",
            message,
        })
    };
    for (n, f) in l.formats.iter().enumerate() {
        if l.formats.iter().take(n).any(|o| o.format == f.format) {
            return fail(format!("{:?} occurs twice", f.format));
        }
        let Some(layout) = l.layouts.get(f.layout) else {
            return fail(format!("{:?} has a layout that does not exist", f.format));
        };
        for (field, _) in &f.fixed {
            if !layout.fields.iter().any(|b| b.field == *field) {
                return fail(format!(
                    "{:?} fixes {field:?}, which its layout does not have",
                    f.format
                ));
            }
        }
    }
    let layouts = l
        .layouts
        .into_iter()
        .map(Layout::check)
        .collect::<Result<_, _>>()?;
    Ok(GenLayouts { layouts, ..l })
}

/// Creates a field with one bit range, which always exists.
pub fn at(field: Field, hi: u8, lo: u8) -> FieldBits {
    FieldBits {
        field,
        parts: vec![Bits { hi, lo }],
        when: Vec::new(),
    }
}

/// Creates a field with several bit ranges, the least significant first, which always exists.
pub fn split<const N: usize>(field: Field, parts: [(u8, u8); N]) -> FieldBits {
    FieldBits {
        field,
        parts: parts.into_iter().map(|(hi, lo)| Bits { hi, lo }).collect(),
        when: Vec::new(),
    }
}

impl FieldBits {
    /// Returns the bits of a native instruction whose field has a value, or `None` if the value
    /// does not fit.
    pub fn word(&self, value: u64) -> Option<u128> {
        let mut word = 0u128;
        let mut left = u128::from(value);
        for part in &self.parts {
            let width = u32::from(part.hi.saturating_sub(part.lo)) + 1;
            word |= (left & ((1 << width) - 1)) << part.lo;
            left >>= width;
        }
        (left == 0).then_some(word)
    }

    /// Restricts the field to cases, any of which must hold.
    pub fn when<const N: usize>(mut self, cases: [Case; N]) -> Self {
        self.when = cases.into();
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_generation_fits() {
        for g in Generation::ALL {
            assert!(layouts(g).is_ok(), "{:?}", layouts(g).err());
        }
    }
}
