//! Modelled time of threads along the paths that they take, each alone on an EU:
//! `gantry_isa_gen::perf`.

use super::program::Program;
use gantry_isa_gen::Reg;
use gantry_isa_gen::effects::accesses;
use gantry_isa_gen::perf::{Clock, Cycles, Slot, Timing, timing};

/// Timing of an instruction, and the registers that it accesses.
struct InstTiming {
    timing: Timing,
    reads: Box<[Slot]>,
    writes: Box<[Slot]>,
}

/// Clocks of a group's threads.
pub(super) struct Pace {
    /// Timing by operation; `None` where there is no instruction.
    steps: Vec<Option<InstTiming>>,
    threads: Vec<Clock>,
    sum: Cycles,
}

impl Pace {
    pub(super) fn new(program: &Program) -> Pace {
        let platform = program.platform;
        let grf_bytes = platform.features().grf_bytes;
        let grf = |r: Reg| match r {
            Reg::Grf(n) => Some(u32::from(n) * grf_bytes..u32::MAX),
            Reg::Arf(..) => None,
        };
        let step = |inst: &Option<_>| {
            let inst = inst.as_ref()?;
            let (mut reads, mut writes) = (Vec::new(), Vec::new());
            accesses(platform, inst, grf, |a| {
                let slots = if a.write { &mut writes } else { &mut reads };
                slots.extend(Slot::of(&a, grf_bytes));
            });
            Some(InstTiming {
                timing: timing(platform, inst),
                reads: reads.into(),
                writes: writes.into(),
            })
        };
        Pace {
            steps: program.insts.iter().map(step).collect(),
            threads: Vec::new(),
            sum: Cycles::default(),
        }
    }

    /// Begins a group, and adds up the threads of the one before.
    pub(super) fn group(&mut self) {
        for clock in self.threads.drain(..) {
            self.sum.alone = self.sum.alone.saturating_add(clock.now().into());
            self.sum.busy = self.sum.busy.saturating_add(clock.busy().into());
        }
    }

    /// Ensures that there is a thread of this number.
    pub(super) fn thread(&mut self, number: u32) {
        let needed = number as usize + 1;
        if self.threads.len() < needed {
            self.threads.resize_with(needed, Clock::default);
        }
    }

    /// Advances a thread's clock by an operation that it executed.
    pub(super) fn executed(&mut self, thread: u32, pc: u32) {
        let step = self.steps.get(pc as usize).and_then(Option::as_ref);
        if let (Some(step), Some(clock)) = (step, self.threads.get_mut(thread as usize)) {
            let (reads, writes) = (step.reads.iter().copied(), step.writes.iter().copied());
            clock.issue(&step.timing, reads, writes);
        }
    }

    /// Returns the cycles of all threads.
    pub(super) fn finish(mut self) -> Cycles {
        self.group();
        self.sum
    }
}
