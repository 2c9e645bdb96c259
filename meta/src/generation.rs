//! Generations, which are the columns of the tables, and sets of them.

use crate::listed::listed_enum;
use std::fmt;
use std::ops::BitOr;

listed_enum! {
    /// Generation of the Gen ISA: a column of every table.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord, Hash)]
    pub enum Generation {
        /// Gen7.5 (Haswell).
        Gen7p5,
        /// Gen8 (Broadwell, Cherryview).
        Gen8,
        /// Gen9 (Skylake and its derivatives).
        Gen9,
        /// Gen10 (Cannon Lake).
        Gen10,
        /// Gen11 (Ice Lake and its derivatives).
        Gen11,
        /// Xe-LP (Tiger Lake and other Gen12LP devices), IGA's `12p1`.
        XeLp,
        /// Xe-HP.
        XeHp,
        /// Xe-HPG (DG2).
        XeHpg,
        /// Xe-HPC (Ponte Vecchio).
        XeHpc,
    }
}

impl Generation {
    /// Returns the index of the column.
    pub const fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

/// Set of generations, as rows name them.
///
/// ```
/// use gantry_meta::generation::{GEN9, Generation, XE, XE_HPC};
/// assert!((GEN9 | XE).contains(Generation::XeLp));
/// assert_eq!((GEN9 | XE_HPC).to_string(), "Gen9+XeHpc");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Gens(u16);

impl Gens {
    /// Creates a set of one generation.
    pub const fn of(g: Generation) -> Gens {
        Gens(1 << g as u16)
    }

    /// Returns the union of two sets.
    pub const fn and(self, o: Gens) -> Gens {
        Gens(self.0 | o.0)
    }

    /// Returns the generations that are not in the other set.
    pub const fn without(self, o: Gens) -> Gens {
        Gens(self.0 & !o.0)
    }

    /// Returns true if both sets have a generation in common.
    pub const fn meets(self, o: Gens) -> bool {
        self.0 & o.0 != 0
    }

    /// Returns the set as bits, bit n for the generation of column n.
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// Returns true if the generation is in the set.
    pub const fn contains(self, g: Generation) -> bool {
        self.0 & (1 << g as u16) != 0
    }

    /// Iterates over the generations, in column order.
    pub fn iter(self) -> impl Iterator<Item = Generation> {
        Generation::ALL
            .into_iter()
            .filter(move |g| self.contains(*g))
    }
}

impl BitOr for Gens {
    type Output = Gens;
    fn bitor(self, o: Gens) -> Gens {
        self.and(o)
    }
}

impl fmt::Display for Gens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.iter().map(|g| g.to_string()).collect();
        f.write_str(&names.join("+"))
    }
}

/// Gen7.5.
pub const GEN7P5: Gens = Gens::of(Generation::Gen7p5);
/// Gen8.
pub const GEN8: Gens = Gens::of(Generation::Gen8);
/// Gen9.
pub const GEN9: Gens = Gens::of(Generation::Gen9);
/// Gen10.
pub const GEN10: Gens = Gens::of(Generation::Gen10);
/// Gen11.
pub const GEN11: Gens = Gens::of(Generation::Gen11);
/// Xe-LP.
pub const XE_LP: Gens = Gens::of(Generation::XeLp);
/// Xe-HP.
pub const XE_HP: Gens = Gens::of(Generation::XeHp);
/// Xe-HPG.
pub const XE_HPG: Gens = Gens::of(Generation::XeHpg);
/// Xe-HPC.
pub const XE_HPC: Gens = Gens::of(Generation::XeHpc);
/// Gen8 to Gen11.
pub const GEN8_TO_11: Gens = GEN8.and(GEN9).and(GEN10).and(GEN11);
/// Gen9 to Gen11, the generations with split sends.
pub const GEN9_TO_11: Gens = GEN9.and(GEN10).and(GEN11);
/// Gen7.5 to Gen10.
pub const GEN7P5_TO_10: Gens = GEN7P5.and(GEN8).and(GEN9).and(GEN10);
/// Gen7.5 to Gen11, the generations before Xe.
pub const PRE_XE: Gens = GEN7P5_TO_10.and(GEN11);
/// Xe-HP and later.
pub const XE_HP_ON: Gens = XE_HP.and(XE_HPG).and(XE_HPC);
/// Xe-LP and later, the generations with SWSB.
pub const XE: Gens = XE_LP.and(XE_HP_ON);
/// Every generation.
pub const ALL: Gens = PRE_XE.and(XE);
