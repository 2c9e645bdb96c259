//! The 64-bit form: which native bits come from tables, which are copied, and which instructions
//! have it.
//!
//! Facts from the PRMs ("EU Compact Instructions"), Mesa's `brw_eu_compact.c` and the tables of
//! Intel's GED; every entry is checked against Intel's disassembler and assembler by
//! `isa-gen/tests/suite/compact.rs`.

use crate::format::Format;
use crate::generation::Generation;
use crate::layout::Bits;
use std::fmt;

mod flat;
mod gen7p5;
mod gen8;
mod xe;
mod xe_hpc;

pub use flat::{Find, FlatImm, FlatShape, FlatTable};

/// The class number of opcodes that have no compact form.
pub const NO_CLASS: u8 = 0xff;
/// The class number of `math` where its function tells the class.
pub const MATH_CLASS: u8 = 0xfe;

/// What an instruction has, as far as the compact form cares. It decides which of the form's parts
/// apply.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum Shape {
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

impl Shape {
    /// All of them.
    pub const ALL: [Shape; 5] = [
        Shape::OneReg,
        Shape::OneImm,
        Shape::TwoReg,
        Shape::TwoImm,
        Shape::Ternary,
    ];
}

/// A set of shapes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shapes(u8);

impl Shapes {
    /// Every shape.
    pub const ALL: Shapes = Shapes(0x1f);
    /// Those without an immediate.
    pub const REG: Shapes = Shapes::of(&[Shape::OneReg, Shape::TwoReg]);
    /// Those with an immediate.
    pub const IMM: Shapes = Shapes::of(&[Shape::OneImm, Shape::TwoImm]);
    /// Those whose source 0 is a register.
    pub const SRC0: Shapes = Shapes::of(&[Shape::OneReg, Shape::TwoReg, Shape::TwoImm]);
    /// Those whose source 1 is a register.
    pub const SRC1: Shapes = Shapes::of(&[Shape::TwoReg]);

    const fn of(shapes: &[Shape]) -> Shapes {
        let mut bits = 0;
        let mut i = 0;
        while i < shapes.len() {
            bits |= 1 << shapes[i] as u8;
            i += 1;
        }
        Shapes(bits)
    }

    /// Returns true if the shape is in the set.
    pub const fn contains(self, s: Shape) -> bool {
        self.0 & (1 << s as u8) != 0
    }
}

/// A table of native bits, chosen by an index in the compact form.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Table {
    /// What it is called in messages.
    pub name: &'static str,
    /// The index's bits in the compact form, the least significant first.
    pub index: Vec<Bits>,
    /// One entry per index value.
    pub entries: &'static [u64],
    /// Where an entry's bits go in the native form, the least significant first, and in which
    /// shapes. The shapes of a part must be among those of the part before it: a shape has the
    /// lower bits of each entry.
    pub to: Vec<(Bits, Shapes)>,
}

/// Bits copied as they are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Copy {
    /// In the compact form.
    pub from: Bits,
    /// In the native form.
    pub to: Bits,
    /// In which shapes.
    pub shapes: Shapes,
}

/// Where in the native 32 bits of an immediate its compact bits are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ImmPlace {
    /// The lowest; zeros above.
    Low,
    /// The lowest; copies of the highest of them above.
    Signed,
    /// The highest; zeros below.
    High,
}

/// How the compact bits of an immediate become 32 native bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ImmKind {
    /// Where they are.
    pub place: ImmPlace,
    /// The value has 16 bits and fills both halves.
    pub halves: bool,
}

/// An immediate in the compact form. In the native form it is always in bits 127:96.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Imm {
    /// Its bits in the compact form, the least significant first.
    pub from: Vec<Bits>,
    /// The kind for each value of the native type field; `None` has no compact form. One kind: for
    /// every type.
    pub kinds: Vec<Option<ImmKind>>,
    /// The native type field of one-source and of two-source instructions.
    pub type_at: [Bits; 2],
}

/// One layout of the 64 bits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Form {
    /// What it is called in messages.
    pub name: &'static str,
    /// Its tables.
    pub tables: Vec<Table>,
    /// Its copied bits.
    pub copies: Vec<Copy>,
    /// Its immediate, in the shapes that have one.
    pub imm: Option<Imm>,
}

/// How the native bits tell the shape of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Test {
    /// A field of at most two bits.
    pub at: Bits,
    /// The shape for each of its values; `None` has no compact form.
    pub shapes: [Option<Shape>; 4],
}

/// A class of instructions that are compacted alike.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Class {
    /// What it is called in messages.
    pub name: &'static str,
    /// The formats of its instructions.
    pub formats: &'static [Format],
    /// Mnemonics of such formats that have no compact form.
    pub but: &'static [&'static str],
    /// Of `math` instructions, those with so many sources.
    pub math: Option<u8>,
    /// Index of its form in [`GenCompact::forms`].
    pub form: usize,
    /// How to tell the shape.
    pub test: Test,
    /// Such words exist and have a meaning, but to compact one would change what it means.
    pub only_expand: bool,
}

/// The compact forms of a generation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GenCompact {
    /// The forms.
    pub forms: Vec<Form>,
    /// The classes.
    pub classes: Vec<Class>,
}

/// A table that does not fit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CompactError {
    /// The form's name.
    pub form: &'static str,
    /// The table's name, or another part's.
    pub part: &'static str,
    /// What is wrong.
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

/// The compact forms of a generation, checked.
///
/// # Errors
/// A table that breaks a rule.
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

impl Form {
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
        for s in Shape::ALL {
            self.no_overlap(s)?;
        }
        Ok(())
    }

    /// No shape may write a native bit twice, or take a compact bit twice.
    fn no_overlap(&self, shape: Shape) -> Result<(), CompactError> {
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
        if let (Some(imm), true) = (&self.imm, Shapes::IMM.contains(shape)) {
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

/// A table whose parts are in every shape.
fn table(
    name: &'static str,
    index: &[(u8, u8)],
    entries: &'static [u64],
    to: &[(u8, u8)],
) -> Table {
    Table {
        name,
        index: index.iter().map(|b| bits(*b)).collect(),
        entries,
        to: to.iter().map(|b| (bits(*b), Shapes::ALL)).collect(),
    }
}

impl Table {
    /// Every part is only in these shapes.
    fn every(mut self, shapes: Shapes) -> Table {
        for (_, s) in &mut self.to {
            *s = shapes;
        }
        self
    }

    /// One more part, in these shapes.
    fn and(mut self, to: (u8, u8), shapes: Shapes) -> Table {
        self.to.push((bits(to), shapes));
        self
    }
}

/// Bits copied in every shape.
fn copy(from: (u8, u8), to: (u8, u8)) -> Copy {
    copy_in(Shapes::ALL, from, to)
}

/// Bits copied in some shapes.
fn copy_in(shapes: Shapes, from: (u8, u8), to: (u8, u8)) -> Copy {
    Copy {
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
        let form = Form {
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
