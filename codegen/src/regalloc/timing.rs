//! Time of allocation by phase.

use std::time::{Duration, Instant};

gantry_isa_gen::named_enum! {
    /// A phase of allocation.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Phase {
        /// Merging of registers into bundles, and one place for each bundle's whole live range.
        Place = "place",
        /// Recomputation of liveness after changes other than spilling.
        Liveness = "liveness",
        /// Relaxing of constraints of small values, and splitting of wide registers into pieces.
        Pieces = "pieces",
        /// Coalescing of registers before spilling.
        Join = "join",
        /// Spilling, with the liveness of the code that results.
        Spill = "spill",
        /// Live range splitting by moves within the GRF file.
        Split = "split",
    }
}

/// Time spent in each phase.
#[derive(Clone, Copy, Debug, Default)]
pub struct Phases {
    times: [Duration; Phase::ALL.len()],
    /// Number of spill attempts, each with a smaller part of the GRF file.
    pub attempts: u32,
}

impl Phases {
    /// Returns the time of one phase.
    pub fn time(&self, phase: Phase) -> Duration {
        self.times[phase as usize]
    }

    /// Runs a closure and adds its time to a phase.
    pub(super) fn run<T>(&mut self, phase: Phase, f: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let out = f();
        self.times[phase as usize] += start.elapsed();
        out
    }
}
