//! Modelled time of one thread.

use super::{Timing, Unit};
use crate::effects::{Access, Storage};

/// Register at the granularity of hardware dependences: a GRF, a flag register, the accumulators or
/// the address register.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Slot(u32);

/// Slot of the first flag register, after those of the accumulators and the address register.
const FLAGS_FROM: u32 = 2;
/// Number of flag registers.
const FLAGS: u32 = 2;
/// Number of slots by which a clock grows.
const MORE: usize = 128;
/// Cycles for which issuing a branch or message occupies the port that all threads share.
const PORT: u32 = 2;
/// Slot of the first GRF.
const GRFS: u32 = FLAGS_FROM + FLAGS;

impl Slot {
    const ACC: Slot = Slot(0);

    /// Returns the slots of an access, for GRFs of `grf` bytes, a power of two. Memory has none,
    /// and an access to any GRF counts as none.
    #[inline]
    pub fn of(access: &Access, grf: u32) -> impl Iterator<Item = Slot> + use<> {
        let last = access.end.max(access.start + 1) - 1;
        let shift = grf.trailing_zeros();
        let (first, end) = match access.storage {
            Storage::Acc => (0, 1),
            Storage::Address => (1, 2),
            Storage::Flag => {
                let n = |at: u32| FLAGS_FROM + (at / 4).min(FLAGS - 1);
                (n(access.start), n(last) + 1)
            }
            Storage::Grf if access.end == u32::MAX => (0, 0),
            Storage::Grf => (GRFS + (access.start >> shift), GRFS + (last >> shift) + 1),
            Storage::Global | Storage::Slm | Storage::Scratch => (0, 0),
        };
        (first..end).map(Slot)
    }

    /// Returns the cycles until an instruction has written the slot.
    pub fn latency(self, timing: &Timing) -> u32 {
        match self {
            Slot::ACC => timing.acc,
            Slot(n) if (FLAGS_FROM..GRFS).contains(&n) => timing.flag,
            _ => timing.result,
        }
    }

    fn index(self) -> usize {
        self.0 as usize
    }
}

/// Clock: issue times of the instructions of one thread that nothing else disturbs.
///
/// ```
/// use gantry_isa_gen::effects::accesses;
/// use gantry_isa_gen::perf::{Clock, Slot, timing};
/// use gantry_isa_gen::{Platform, Reg, text};
/// let platform = Platform::from_name("skl").ok_or("no such platform")?;
/// let program = text::assemble(
///     platform,
///     "add (8|M0) r5.0<1>:f r6.0<8;8,1>:f 1.5:f\nadd (8|M0) r7.0<1>:f r5.0<8;8,1>:f 1.5:f\n",
/// )?;
/// let mut clock = Clock::default();
/// for i in &program.insts {
///     let (mut reads, mut writes) = (Vec::new(), Vec::new());
///     let grf = |r| if let Reg::Grf(n) = r { Some(u32::from(n) * 32..4096) } else { None };
///     accesses(platform, &i.inst, grf, |a| {
///         let slots = if a.write { &mut writes } else { &mut reads };
///         slots.extend(Slot::of(&a, 32));
///     });
///     clock.issue(&timing(platform, &i.inst), reads, writes);
/// }
/// // The second waits for the first.
/// assert_eq!(clock.now(), 2 + 8 + 2);
/// assert_eq!(clock.busy(), 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Clock {
    /// Cycle in which the next instruction may be issued.
    now: u32,
    /// Cycles in which the ALU and the math unit become free.
    free: [u32; 2],
    /// Cycles that they were in use, and the port that issues all else.
    used: [u32; 3],
    /// Cycles in which each slot is written, and has been read.
    ready: Vec<[u32; 2]>,
    /// Slots that are not 0 in `ready`.
    named: Vec<Slot>,
}

impl Clock {
    /// Resets the clock, keeping its memory.
    pub fn reset(&mut self) {
        self.now = 0;
        self.free = [0; 2];
        self.used = [0; 3];
        for slot in self.named.drain(..) {
            if let Some(ready) = self.ready.get_mut(slot.index()) {
                *ready = [0; 2];
            }
        }
    }

    /// Returns the cycle in which the next instruction may be issued.
    pub fn now(&self) -> u32 {
        self.now
    }

    /// Returns the number of cycles in which the most used unit was in use, which all threads of an
    /// EU share.
    pub fn busy(&self) -> u32 {
        self.used.iter().copied().max().unwrap_or(0)
    }

    /// Returns the cycle in which the last result is available.
    pub fn done(&self) -> u32 {
        let ready = self.ready.iter().map(|r| r[0]);
        ready.max().unwrap_or(0).max(self.now)
    }

    #[inline]
    fn slot(&self, slot: Slot) -> [u32; 2] {
        self.ready.get(slot.index()).copied().unwrap_or_default()
    }

    /// Returns the first cycle in which an instruction with these accesses does not have to wait.
    pub fn earliest(
        &self,
        reads: impl IntoIterator<Item = Slot>,
        writes: impl IntoIterator<Item = Slot>,
    ) -> u32 {
        let mut from = 0;
        for s in reads {
            from = self.slot(s)[0].max(from);
        }
        for s in writes {
            let [written, read] = self.slot(s);
            from = written.max(read).max(from);
        }
        from
    }

    #[inline]
    fn at(&mut self, slot: Slot) -> &mut [u32; 2] {
        if self.ready.len() <= slot.index() {
            let slots = (slot.index() + 1).next_multiple_of(MORE);
            self.ready.resize(slots, [0; 2]);
        }
        let ready = &mut self.ready[slot.index()];
        if *ready == [0; 2] {
            self.named.push(slot);
        }
        ready
    }

    /// Issues an instruction.
    pub fn issue<I: IntoIterator<Item = Slot>>(&mut self, timing: &Timing, reads: I, writes: I)
    where
        I::IntoIter: Clone,
    {
        let (reads, writes) = (reads.into_iter(), writes.into_iter());
        let from = self.now.max(self.earliest(reads.clone(), writes.clone()));
        self.now = from.saturating_add(timing.issue);
        let unit = match timing.unit {
            Unit::Alu => Some(0),
            Unit::Math => Some(1),
            Unit::None => None,
        };
        if let Some(n) = unit {
            self.now = self.now.max(self.free[n]);
            self.free[n] = self.now.saturating_add(timing.busy);
            self.used[n] += timing.busy;
        } else {
            self.used[2] += timing.issue.min(PORT);
        }
        let now = self.now;
        for slot in reads {
            let read = &mut self.at(slot)[1];
            *read = (*read).max(now + timing.read);
        }
        for slot in writes {
            self.at(slot)[0] = now.saturating_add(slot.latency(timing));
        }
    }
}
