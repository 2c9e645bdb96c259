//! The 64-bit form: which native bits come from tables and which are copied.

use crate::generation::Generation;
use crate::layout::Bits;
use std::fmt;

mod gen9;

/// A table of native bits, chosen by an index in the compact form.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Table {
    /// What it is called in messages.
    pub name: &'static str,
    /// The index's bits in the compact form.
    pub index: Bits,
    /// One entry per index value.
    pub entries: Vec<u64>,
    /// Where an entry's bits go in the native form, the least significant first.
    pub to: Vec<Bits>,
    /// Does not apply when a source is an immediate.
    pub unless_imm: bool,
}

/// Bits copied as they are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Copy {
    /// In the compact form.
    pub from: Bits,
    /// In the native form.
    pub to: Bits,
    /// Does not apply when a source is an immediate.
    pub unless_imm: bool,
}

/// One compact form.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Form {
    /// Its tables.
    pub tables: Vec<Table>,
    /// Its copied bits.
    pub copies: Vec<Copy>,
    /// Where the immediate's bits are, the least significant first; it is sign-extended to 32. Empty: none.
    pub imm: Vec<Bits>,
}

/// The compact forms of a generation.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GenCompact {
    /// One- and two-source instructions.
    pub basic: Form,
    /// Three-source instructions.
    pub ternary: Form,
}

/// A table that does not fit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CompactError {
    /// The table's name.
    pub table: &'static str,
    /// What is wrong.
    pub message: &'static str,
}

impl fmt::Display for CompactError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "compaction table `{}`: {}", self.table, self.message)
    }
}

impl std::error::Error for CompactError {}

fn width(b: Bits) -> u32 {
    u32::from(b.hi.saturating_sub(b.lo)) + 1
}

fn check(form: &Form) -> Result<(), CompactError> {
    let mut native = [false; 128];
    let mut mark = |table: &'static str, b: Bits| {
        for bit in b.lo..=b.hi {
            match native.get_mut(usize::from(bit)) {
                Some(slot) if !*slot => *slot = true,
                _ => {
                    return Err(CompactError {
                        table,
                        message: "writes a native bit twice, or beyond 127",
                    });
                }
            }
        }
        Ok(())
    };
    for t in &form.tables {
        let fail = |message| {
            Err(CompactError {
                table: t.name,
                message,
            })
        };
        if t.entries.len() != 1 << width(t.index) {
            return fail("must have one entry per index value");
        }
        let bits: u32 = t.to.iter().map(|b| width(*b)).sum();
        if bits >= 64 || t.entries.iter().any(|e| e >> bits != 0) {
            return fail("has an entry wider than the bits it goes to");
        }
        for b in &t.to {
            mark(t.name, *b)?;
        }
    }
    for c in &form.copies {
        if width(c.from) != width(c.to) {
            return Err(CompactError {
                table: "copies",
                message: "must copy as many bits as it writes",
            });
        }
        mark("copies", c.to)?;
    }
    Ok(())
}

/// The compact forms of a generation, checked.
pub fn tables(g: Generation) -> Result<GenCompact, CompactError> {
    let t = match g {
        Generation::Gen9 => gen9::tables(),
        _ => GenCompact::default(),
    };
    check(&t.basic)?;
    check(&t.ternary)?;
    Ok(t)
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
}
