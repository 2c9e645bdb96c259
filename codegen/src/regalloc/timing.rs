//! Where the time of an allocation goes.

use std::time::{Duration, Instant};

/// A part of allocation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Bundles, and a place for each all its life.
    Place,
    /// Liveness of code that allocation changed, but for what spilling put into it.
    Liveness,
    /// Small results move on, wide registers fall apart.
    Pieces,
    /// Registers become one before values leave.
    Join,
    /// Values leave the file; with the liveness of what that comes to.
    Spill,
    /// Values move.
    Split,
}

impl Phase {
    /// Every phase, in order.
    pub const ALL: [Phase; 6] = [
        Phase::Place,
        Phase::Liveness,
        Phase::Pieces,
        Phase::Join,
        Phase::Spill,
        Phase::Split,
    ];

    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            Phase::Place => "place",
            Phase::Liveness => "liveness",
            Phase::Pieces => "pieces",
            Phase::Join => "join",
            Phase::Spill => "spill",
            Phase::Split => "split",
        }
    }
}

/// Time of each phase.
#[derive(Clone, Copy, Debug, Default)]
pub struct Phases {
    times: [Duration; Phase::ALL.len()],
    /// How often values left the file for a share of it, to find places for what was left.
    pub attempts: u32,
}

impl Phases {
    /// The time of one.
    pub fn time(&self, phase: Phase) -> Duration {
        self.times[phase as usize]
    }

    /// Does something for a phase.
    pub(super) fn run<T>(&mut self, phase: Phase, f: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let out = f();
        self.times[phase as usize] += start.elapsed();
        out
    }
}
