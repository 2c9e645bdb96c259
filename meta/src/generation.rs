//! The generations that have columns in the tables.

use std::fmt;

/// A generation of the Gen ISA: one column of every table.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord, Hash)]
pub enum Generation {
    /// Gen9 (Skylake and its kin).
    Gen9,
}

impl Generation {
    /// All of them, in column order; `gantry_isa_gen::Platform` has the same variants.
    pub const ALL: [Generation; 1] = [Generation::Gen9];

    /// The column's position.
    pub const fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Generation::Gen9 => f.write_str("Gen9"),
        }
    }
}
