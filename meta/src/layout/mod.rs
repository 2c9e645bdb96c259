//! Bit layouts as data: which bits of the native 128-bit form hold which field, per generation and
//! format.

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

/// A run of bits, both ends included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bits {
    /// Highest bit, 0 .. 127.
    pub hi: u8,
    /// Lowest bit.
    pub lo: u8,
}

/// Where a field lives: its runs of bits, the least significant run first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FieldBits {
    /// The field.
    pub field: Field,
    /// Its runs, the least significant first.
    pub parts: Vec<Bits>,
    /// It exists when any of these cases holds; always, if there are none.
    pub when: Vec<Case>,
}

impl FieldBits {
    /// Number of bits.
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

/// The layout of a group of formats.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layout {
    /// What it is called in messages.
    pub name: &'static str,
    /// Its fields.
    pub fields: Vec<FieldBits>,
    /// The combinations of cases that can hold together.
    pub shapes: Vec<Vec<Case>>,
}

/// A layout that does not fit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LayoutError {
    /// The layout's name.
    pub layout: &'static str,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "layout `{}`: {}", self.layout, self.message)
    }
}

impl std::error::Error for LayoutError {}

impl Layout {
    /// The layout, if its fields fit 128 bits and no two that can hold together share a bit.
    ///
    /// ```
    /// use gantry_meta::layout::{at, Field, Layout};
    /// let two = Layout { name: "two", fields: vec![at(Field::Opcode, 6, 0), at(Field::AccessMode, 6, 6)], shapes: vec![vec![]] };
    /// assert_eq!(two.check().unwrap_err().to_string(), "layout `two`: AccessMode and Opcode share bit 6 in shape []");
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
                return fail(format!("{:?} has a run of bits that is none", f.field));
            }
            if f.width() > 64 {
                return fail(format!("{:?} is wider than 64 bits", f.field));
            }
            if self.fields.iter().filter(|o| o.field == f.field).count() > 1 {
                return fail(format!("{:?} has two places", f.field));
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

/// How a format is laid out: its layout's index and the fields whose values it fixes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FormatLayout {
    /// The format.
    pub format: Format,
    /// Index into [`GenLayouts::layouts`].
    pub layout: usize,
    /// Fields that always hold a value in this format.
    pub fixed: Vec<(Field, u64)>,
}

/// Fields that an opcode fixes beside those of its format.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OpFixed {
    /// The mnemonic.
    pub op: &'static str,
    /// Fields that always hold a value.
    pub fixed: Vec<(Field, u64)>,
}

/// Everything about one generation's native encoding.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GenLayouts {
    /// The layouts.
    pub layouts: Vec<Layout>,
    /// The formats that the generation has.
    pub formats: Vec<FormatLayout>,
    /// Type codes of register operands.
    pub reg_types: Vec<(Ty, u8)>,
    /// Type codes of immediates.
    pub imm_types: Vec<(Ty, u8)>,
    /// Type codes of three-source operands in Align16.
    pub ternary_types: Vec<(Ty, u8)>,
    /// Type codes of three-source operands in Align1, with the execution type as bit 3.
    pub align1_types: Vec<(Ty, u8)>,
    /// The other layout of three-source instructions, as an index into [`Self::layouts`]: in
    /// Align16, on Xe of `bfn`.
    pub ternary_other: Option<usize>,
    /// Bytes that a sub-register of a three-source source counts in Align16.
    pub ternary_unit: u8,
    /// The layouts whose targets count 8 bytes, as indices into [`Self::layouts`]; those of the
    /// others count one.
    pub qword_targets: Vec<usize>,
    /// Opcodes that fix more than their format does.
    pub ops: Vec<OpFixed>,
}

impl GenLayouts {
    /// The bits that are the same in every instruction of an opcode: its number and the fixed
    /// fields.
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

/// The layouts of a generation, checked.
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
            return fail(format!("{:?} stands twice", f.format));
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

/// A field in one run of bits, always there.
pub fn at(field: Field, hi: u8, lo: u8) -> FieldBits {
    FieldBits {
        field,
        parts: vec![Bits { hi, lo }],
        when: Vec::new(),
    }
}

/// A field in several runs of bits, the least significant first, always there.
pub fn split<const N: usize>(field: Field, parts: [(u8, u8); N]) -> FieldBits {
    FieldBits {
        field,
        parts: parts.into_iter().map(|(hi, lo)| Bits { hi, lo }).collect(),
        when: Vec::new(),
    }
}

impl FieldBits {
    /// The bits of a native instruction in which the field holds a value; none where the value is
    /// too wide for it.
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

    /// The field exists only when one of the cases holds.
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
