//! Compact (8-byte) form: the native bits that tables supply, those that are copied, and the
//! instructions that have the form.
//!
//! Sources: the PRMs ("EU Compact Instructions"), Mesa's `brw_eu_compact.c` and the tables of
//! Intel's GED. `isa-gen/tests/suite/compact.rs` tests every entry against Intel's disassembler and
//! assembler.

use crate::format::Format;
use crate::generation::Generation;
use crate::layout::Bits;
use crate::listed::listed_enum;
use std::fmt;

mod flat;
mod gen7p5;
mod gen8;
mod xe;
mod xe_hpc;

pub use flat::{FlatImm, FlatShape, FlatTable, InverseTable};

/// Class number of opcodes without a compact form.
pub const NO_CLASS: u8 = 0xff;
/// Class number of `math`, whose function determines the class.
pub const MATH_CLASS: u8 = 0xfe;

listed_enum! {
    /// Operand shape of an instruction, which decides which parts of the form apply.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
    pub enum OperandShape {
        /// One source, in a register.
        OneReg,
        /// One source, an immediate.
        OneImm,
        /// Two sources in registers.
        TwoReg,
        /// Two sources, the second an immediate.
        TwoImm,
        /// Three sources.
        Ternary,
    }
}

/// Set of shapes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OperandShapes(u8);

impl OperandShapes {
    /// Every shape.
    pub const ALL: OperandShapes = OperandShapes(0x1f);
    /// Shapes without an immediate.
    pub const REG: OperandShapes = OperandShapes::of(&[OperandShape::OneReg, OperandShape::TwoReg]);
    /// Shapes with an immediate.
    pub const IMM: OperandShapes = OperandShapes::of(&[OperandShape::OneImm, OperandShape::TwoImm]);
    /// Shapes whose source 0 is a register.
    pub const SRC0: OperandShapes = OperandShapes::of(&[
        OperandShape::OneReg,
        OperandShape::TwoReg,
        OperandShape::TwoImm,
    ]);
    /// Shapes whose source 1 is a register.
    pub const SRC1: OperandShapes = OperandShapes::of(&[OperandShape::TwoReg]);

    const fn of(shapes: &[OperandShape]) -> OperandShapes {
        let mut bits = 0;
        let mut i = 0;
        while i < shapes.len() {
            bits |= 1 << shapes[i] as u8;
            i += 1;
        }
        OperandShapes(bits)
    }

    /// Returns true if the shape is in the set.
    pub const fn contains(self, s: OperandShape) -> bool {
        self.0 & (1 << s as u8) != 0
    }
}

/// Table of native bits, selected by an index in the compact form.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CompactTable {
    /// Name in error messages.
    pub name: &'static str,
    /// Bits of the index in the compact form, the least significant first.
    pub index: Vec<Bits>,
    /// Entry per index value.
    pub entries: &'static [u64],
    /// Positions of an entry's bits in the native form, the least significant first, each with the
    /// shapes that have it. The shapes of a part must be among those of the part before it: a shape
    /// has the lower bits of each entry.
    pub to: Vec<(Bits, OperandShapes)>,
}

/// Bits copied unchanged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BitCopy {
    /// Bits in the compact form.
    pub from: Bits,
    /// Bits in the native form.
    pub to: Bits,
    /// Shapes that have them.
    pub shapes: OperandShapes,
}

/// Position of the compact bits in the native 32 bits of an immediate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ImmPlace {
    /// Lowest bits, zero-extended.
    Low,
    /// Lowest bits, sign-extended.
    Signed,
    /// Highest bits, zeros below.
    High,
}

/// Expansion of the compact bits of an immediate to 32 native bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ImmKind {
    /// Position of the bits.
    pub place: ImmPlace,
    /// True if the value has 16 bits and fills both halves.
    pub halves: bool,
}

/// Immediate in the compact form. In the native form it is always in bits 127:96.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CompactImm {
    /// Bits in the compact form, the least significant first.
    pub from: Vec<Bits>,
    /// Expansion for each value of the native type field, `None` without a compact form. A single
    /// one is for every type.
    pub kinds: Vec<Option<ImmKind>>,
    /// Native type field of one-source and of two-source instructions.
    pub type_at: [Bits; 2],
}

/// Layout of the 64 bits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CompactForm {
    /// Name in error messages.
    pub name: &'static str,
    /// Tables.
    pub tables: Vec<CompactTable>,
    /// Copied bits.
    pub copies: Vec<BitCopy>,
    /// Immediate, in the shapes that have one.
    pub imm: Option<CompactImm>,
}

/// Test of native bits for the shape of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShapeTest {
    /// Field of at most two bits.
    pub at: Bits,
    /// Shape for each of its values, `None` without a compact form.
    pub shapes: [Option<OperandShape>; 4],
}

/// Class of instructions that are compacted alike.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CompactClass {
    /// Name in error messages.
    pub name: &'static str,
    /// Formats of its instructions.
    pub formats: &'static [Format],
    /// Mnemonics of these formats that have no compact form.
    pub but: &'static [&'static str],
    /// Number of sources of its `math` instructions.
    pub math: Option<u8>,
    /// Index of its form in [`GenCompact::forms`].
    pub form: usize,
    /// Test for the shape.
    pub test: ShapeTest,
    /// True if such words can be expanded but must not be produced, because compaction would change
    /// their meaning.
    pub only_expand: bool,
}

/// Compact forms of a generation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GenCompact {
    /// Forms.
    pub forms: Vec<CompactForm>,
    /// Classes.
    pub classes: Vec<CompactClass>,
}

/// Error in a table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CompactError {
    /// Name of the form.
    pub form: &'static str,
    /// Name of the table or another part.
    pub part: &'static str,
    /// Description of the error.
    pub message: &'static str,
}

impl fmt::Display for CompactError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "compact form `{}`, {}: {}",
            self.form, self.part, self.message
        )
    }
}

impl std::error::Error for CompactError {}

/// Returns the compact forms of a generation, checked.
///
/// # Errors
/// Returns an error if a table violates a rule.
pub fn tables(g: Generation) -> Result<GenCompact, CompactError> {
    let t = match g {
        Generation::Gen7p5 => gen7p5::tables(),
        Generation::Gen8 => gen8::gen8(),
        Generation::Gen9 | Generation::Gen10 => gen8::gen9(),
        Generation::Gen11 => gen8::gen11(),
        Generation::XeLp => xe::xe_lp(),
        Generation::XeHp | Generation::XeHpg => xe::xe_hp(),
        Generation::XeHpc => xe_hpc::tables(),
    };
    t.check()?;
    Ok(t)
}

impl GenCompact {
    fn check(&self) -> Result<(), CompactError> {
        for f in &self.forms {
            f.check()?;
        }
        for c in &self.classes {
            let fail = |message| CompactError {
                form: c.name,
                part: "class",
                message,
            };
            if c.form >= self.forms.len() {
                return Err(fail("has a form that does not exist"));
            }
            if c.test.at.hi - c.test.at.lo > 1 {
                return Err(fail("tells its shape by more than two bits"));
            }
            let others = self.classes.iter().filter(|o| o.name != c.name);
            if others
                .flat_map(|o| o.formats)
                .any(|f| c.formats.contains(f))
            {
                return Err(fail("has a format that another class has"));
            }
        }
        Ok(())
    }
}

impl CompactForm {
    fn check(&self) -> Result<(), CompactError> {
        let fail = |part, message| CompactError {
            form: self.name,
            part,
            message,
        };
        for t in &self.tables {
            let bits: u32 = t.index.iter().map(|b| flat::width(*b)).sum();
            if t.entries.len() != 1 << bits {
                return Err(fail(t.name, "must have one entry per index value"));
            }
            let bits: u32 = t.to.iter().map(|(b, _)| flat::width(*b)).sum();
            if bits >= 64 || t.entries.iter().any(|e| e >> bits != 0) {
                return Err(fail(t.name, "has an entry wider than the bits it goes to"));
            }
            let nested =
                t.to.windows(2)
                    .all(|w| matches!(w, [(_, a), (_, b)] if a.0 & b.0 == b.0));
            if !nested {
                return Err(fail(t.name, "has a part in a shape that lacks a lower one"));
            }
        }
        if self
            .copies
            .iter()
            .any(|c| flat::width(c.from) != flat::width(c.to))
        {
            return Err(fail("copies", "must copy as many bits as they write"));
        }
        for s in OperandShape::ALL {
            self.no_overlap(s)?;
        }
        Ok(())
    }

    /// Checks that no shape writes a native bit twice, or uses a compact bit twice.
    fn no_overlap(&self, shape: OperandShape) -> Result<(), CompactError> {
        let (mut native, mut compact) = (0u128, 0u128);
        let mark = |part, word: &mut u128, b: &Bits| {
            let m = flat::mask(*b);
            if *word & m != 0 {
                return Err(CompactError {
                    form: self.name,
                    part,
                    message: "has a bit that another part has",
                });
            }
            *word |= m;
            Ok(())
        };
        for t in &self.tables {
            let mut used = false;
            for (b, _) in t.to.iter().filter(|(_, s)| s.contains(shape)) {
                mark(t.name, &mut native, b)?;
                used = true;
            }
            for b in t.index.iter().filter(|_| used) {
                mark(t.name, &mut compact, b)?;
            }
        }
        for c in self.copies.iter().filter(|c| c.shapes.contains(shape)) {
            mark("copies", &mut native, &c.to)?;
            mark("copies", &mut compact, &c.from)?;
        }
        if let (Some(imm), true) = (&self.imm, OperandShapes::IMM.contains(shape)) {
            mark("imm", &mut native, &flat::IMM)?;
            for b in &imm.from {
                mark("imm", &mut compact, b)?;
            }
        }
        Ok(())
    }
}

const fn bits((hi, lo): (u8, u8)) -> Bits {
    Bits { hi, lo }
}

/// Creates a table whose parts are in every shape.
fn table(
    name: &'static str,
    index: &[(u8, u8)],
    entries: &'static [u64],
    to: &[(u8, u8)],
) -> CompactTable {
    CompactTable {
        name,
        index: index.iter().map(|b| bits(*b)).collect(),
        entries,
        to: to.iter().map(|b| (bits(*b), OperandShapes::ALL)).collect(),
    }
}

impl CompactTable {
    /// Restricts every part to these shapes.
    fn every(mut self, shapes: OperandShapes) -> CompactTable {
        for (_, s) in &mut self.to {
            *s = shapes;
        }
        self
    }

    /// Adds a part, in these shapes.
    fn and(mut self, to: (u8, u8), shapes: OperandShapes) -> CompactTable {
        self.to.push((bits(to), shapes));
        self
    }
}

/// Creates bits copied in every shape.
fn copy(from: (u8, u8), to: (u8, u8)) -> BitCopy {
    copy_in(OperandShapes::ALL, from, to)
}

/// Creates bits copied in some shapes.
fn copy_in(shapes: OperandShapes, from: (u8, u8), to: (u8, u8)) -> BitCopy {
    BitCopy {
        from: bits(from),
        to: bits(to),
        shapes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_generation_fits() {
        for g in Generation::ALL {
            assert_eq!(tables(g).err(), None);
        }
    }

    #[test]
    fn a_bit_of_two_parts_is_found() {
        let form = CompactForm {
            name: "f",
            tables: vec![table("t", &[(0, 0)], &[0, 1], &[(5, 5)])],
            copies: vec![copy((6, 1), (6, 1))],
            imm: None,
        };
        assert_eq!(
            form.check().map_err(|e| e.to_string()),
            Err("compact form `f`, copies: has a bit that another part has".into())
        );
    }
}
