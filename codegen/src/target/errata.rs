//! Table of hardware errata that matter to compute, and their platforms. One pass over physical
//! instructions, `emit::errata`, applies the remedies.
//!
//! Source: Intel's open compiler, `visa/SWWA.cpp` and `visa/PrologEpilog.cpp`, and its output for
//! each platform.

use gantry_isa_gen::Platform;

/// Remedy for an erratum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Remedy {
    /// A fence before the end of a thread: it waits until the thread's writes through a data port
    /// are visible to others.
    FenceBeforeEnd,
    /// An instruction that reads and writes a register without a change, before instructions that
    /// may disable channels. These are divergent branches and messages with a response under a
    /// predicate. It keeps the ALU from mistaking a source for the one that it read last.
    ReadAgain,
}

/// Erratum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Erratum {
    /// Numbers in Intel's tables of workarounds.
    pub(crate) names: &'static str,
    /// Platforms that have it.
    pub(crate) platforms: &'static [Platform],
    /// Remedy.
    pub(crate) remedy: Remedy,
}

/// All errata.
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

/// Returns the remedies for a platform.
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
