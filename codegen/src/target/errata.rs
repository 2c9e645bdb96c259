//! What hardware does wrong, as far as it matters to compute, and on which platforms: one table.
//! What is done about each is in `emit::errata`, by one pass over physical instructions.
//!
//! Source: Intel's open compiler, `visa/SWWA.cpp` and `visa/PrologEpilog.cpp`, and what it was seen
//! to emit for each platform.

use gantry_isa_gen::Platform;

/// What is done about an erratum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Remedy {
    /// The thread waits, before it ends, until what it wrote through a data port is where others
    /// see it.
    FenceBeforeEnd,
    /// An instruction that reads and writes, and changes nothing, before what makes channels stay
    /// behind: a divergent branch or a message under a predicate that answers. It keeps the ALU
    /// from taking a source for the one that it read last.
    ReadAgain,
}

/// An erratum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Erratum {
    /// Its numbers in Intel's tables of workarounds.
    pub(crate) names: &'static str,
    /// Which platforms have it.
    pub(crate) platforms: &'static [Platform],
    /// What is done about it.
    pub(crate) remedy: Remedy,
}

/// All of them.
pub(crate) static ERRATA: [Erratum; 2] = [
    Erratum {
        names: "Wa_1807084924, Wa_22013689345",
        platforms: &[Platform::XeLp, Platform::XeHpg],
        remedy: Remedy::FenceBeforeEnd,
    },
    Erratum {
        names: "Wa_16012061344, Wa_16012292205",
        platforms: &[Platform::XeLp],
        remedy: Remedy::ReadAgain,
    },
];

/// What is to be done on a platform.
pub(crate) fn remedies(platform: Platform) -> impl Iterator<Item = Remedy> {
    let of = ERRATA
        .iter()
        .filter(move |e| e.platforms.contains(&platform));
    of.map(|e| e.remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_erratum_is_of_some_platform_and_named() {
        for e in ERRATA {
            assert!(!e.platforms.is_empty(), "{}", e.names);
            assert!(e.names.starts_with("Wa_"), "{}", e.names);
        }
    }
}
