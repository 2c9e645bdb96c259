//! Byte-granular allocation of the GRF file.
//!
//! The GRF file is an address space of bytes. A value is a byte range with a size and an alignment;
//! uniform values share GRFs. The algorithm follows regalloc2:
//!
//! 1. Copies merge live ranges into bundles ([`grf::bundles`]).
//! 2. Each bundle gets one place for its whole live range ([`grf::place`]) from an allocation map
//!    keyed by program point ([`grf::allocation_map`]).
//! 3. If some find none, wide registers are split into pieces ([`grf::split_wide`]), then values
//!    move to make room for others ([`grf::split`]).
//! 4. If demand exceeds the file, values are spilled to scratch ([`grf::spill`]). What remains of
//!    their live ranges becomes registers of their own.
//!
//! A separate symbolic checker ([`verify::checker`]) proves the result on the code.
//!
//! Needs: [`VCode`] with physical flags, its [`Liveness`]. Makes: the code, with what spilling put
//! into it, and a byte address per virtual register.

pub(crate) mod display;
pub(crate) mod flag_alloc;
pub(crate) mod grf;
pub mod report;
pub mod timing;
pub(crate) mod verify;

use crate::error::CodegenError;
use crate::mir::liveness::{Liveness, liveness};
use crate::mir::{VCode, VReg};
use crate::target::Target;
use cranelift_entity::SecondaryMap;
use grf::allocation_map::AllocationMap;
use grf::bundles::Bundles;
use grf::fragmentation::Holes;
use grf::spill::Spilled;
use std::collections::BTreeSet;
use timing::{Phase, Phases};

/// Where every virtual register is.
#[derive(Clone, Debug, Default)]
pub struct Allocation {
    /// Byte address in the GRF file per virtual register.
    pub address: SecondaryMap<VReg, u32>,
}

/// What is allocated: the code, with what spilling put into it, and where its registers are.
#[derive(Clone, Debug)]
pub struct Allocated {
    /// The code.
    pub code: VCode,
    /// Its liveness.
    pub live: Liveness,
    /// Per instruction the number that it had; of those that are new [`u32::MAX`]. Empty where
    /// nothing was changed.
    pub origin: Vec<u32>,
    /// Its registers.
    pub alloc: Allocation,
    /// What was spilled.
    pub spilled: Spilled,
    /// Registers that became several because they moved.
    pub splits: u32,
    /// How long it took.
    pub phases: Phases,
}

/// What allocation may use.
#[derive(Clone, Copy, Debug)]
pub struct Room<'a> {
    /// The target, whose file it is.
    pub target: &'a Target,
    /// GRFs from 0 that values may be in; what must be in certain others is there.
    pub grfs: u32,
    /// Scratch of a thread that the kernel uses itself, in bytes.
    pub scratch: u32,
    /// Whether it is written down what is spilled, and for what.
    pub report: bool,
}

/// What of the file, in sixteenths, spilling leaves for values, one attempt after the other. There
/// is less room than bytes: values are aligned.
const SHARES: [u32; 8] = [16, 15, 14, 12, 10, 8, 6, 4];

/// How often registers may turn out to be too long-lived to follow: what is left of them in the
/// file is short.
const ROUNDS: u32 = 4;

/// Code on its way, and what is known of it.
struct Work<'a> {
    name: &'a str,
    code: VCode,
    live: Liveness,
    origin: Vec<u32>,
    spilled: Spilled,
    splits: u32,
    phases: Phases,
    /// Whether the file has banks that instructions read from one after the other.
    banks: bool,
}

impl Work<'_> {
    /// Places every register for all its life.
    fn place(&mut self, limit: u32, map: &mut AllocationMap) -> Option<Allocation> {
        if self.live.peak().1 > limit {
            return None;
        }
        let (code, live, banks) = (&self.code, &self.live, self.banks);
        self.phases.run(Phase::Place, || {
            let mut bundles = Bundles::merge(code, live);
            let placed = grf::place::place(code, live, &bundles, limit, map, (true, banks));
            placed.all(code, &mut bundles)
        })
    }

    /// Follows what lives where, of code that has changed.
    fn follow(&mut self) -> Result<(), CodegenError> {
        let (name, code) = (self.name, &self.code);
        self.live = self.phases.run(Phase::Liveness, || liveness(name, code))?;
        Ok(())
    }

    /// The same, and where that cannot be, moves values.
    fn split(
        &mut self,
        limit: u32,
        map: &mut AllocationMap,
    ) -> Result<Option<Allocation>, CodegenError> {
        if self.live.peak().1 > limit {
            return Ok(None);
        }
        let (code, live, banks) = (&self.code, &self.live, self.banks);
        // Behind spilling the file is full wherever it can be: another order of placement helps
        // next to never.
        let orders = self.spilled.registers + self.spilled.remats == 0;
        let (mut bundles, placed, all) = self.phases.run(Phase::Place, || {
            let mut bundles = Bundles::merge(code, live);
            let placed = grf::place::place(code, live, &bundles, limit, map, (orders, banks));
            let all = placed.all(code, &mut bundles);
            (bundles, placed, all)
        });
        if all.is_some() {
            return Ok(all);
        }
        if Holes::of_bundles(code, &bundles).find(limit).is_some() {
            return Ok(None);
        }
        let mut origin = self.origin.clone();
        let split = self.phases.run(Phase::Split, || {
            grf::split::split(code, live, &mut bundles, &placed.wanted, limit, &mut origin)
        });
        let Some(split) = split else {
            return Ok(None);
        };
        self.code = split.code;
        self.origin = origin;
        self.follow()?;
        self.splits = split.splits;
        let address = split.address;
        Ok(Some(Allocation { address }))
    }

    /// Keeps in scratch, but for the instructions that name them, registers that liveness did not
    /// follow.
    fn leave_abandoned(&mut self, room: Room<'_>) -> Result<(), CodegenError> {
        for _ in 0..ROUNDS {
            if self.live.abandoned.is_empty() {
                return Ok(());
            }
            if self.origin.is_empty() {
                self.origin.extend(0..self.code.insts.len() as u32);
            }
            let regs: BTreeSet<VReg> = self.live.abandoned.iter().copied().collect();
            let room = Room {
                scratch: self.spilled.scratch,
                ..room
            };
            let (code, live) = (&self.code, &self.live);
            let (code, live, spilled) =
                grf::spill::everywhere(self.name, code, live, room, &regs, &mut self.origin)?;
            (self.code, self.live) = (code, live);
            self.spilled.add(spilled);
        }
        Err(out_of_registers(
            self.name,
            (&self.code, &self.live),
            room.grfs * self.code.grf.bytes,
        ))
    }

    fn done(self, alloc: Allocation) -> Allocated {
        Allocated {
            code: self.code,
            live: self.live,
            origin: self.origin,
            alloc,
            spilled: self.spilled,
            splits: self.splits,
            phases: self.phases,
        }
    }
}

/// Places every virtual register in the register file, or in scratch. `map`: any, for its memory.
///
/// # Errors
/// [`CodegenError::OutOfRegisters`] where one instruction needs more than there is.
pub fn allocate(
    name: &str,
    code: VCode,
    live: Liveness,
    room: Room<'_>,
    map: &mut AllocationMap,
) -> Result<Allocated, CodegenError> {
    let bytes = room.grfs.min(code.grf.count) * code.grf.bytes;
    let banks = room.target.features().grf_banks;
    let mut work = Work {
        name,
        code,
        live,
        origin: Vec::new(),
        spilled: Spilled {
            scratch: room.scratch,
            ..Spilled::default()
        },
        splits: 0,
        phases: Phases::default(),
        banks,
    };

    work.leave_abandoned(room)?;
    if let Some(alloc) = work.place(bytes, map) {
        return Ok(work.done(alloc));
    }
    if work.origin.is_empty() {
        work.origin.extend(0..work.code.insts.len() as u32);
    }
    let (code, origin) = (&mut work.code, &mut work.origin);
    let live = &work.live;
    let pieces = work.phases.run(Phase::Pieces, || {
        // Where much more lives than there is room for, one place more is little.
        let more = (bytes + 1..=bytes / 4 * 5).contains(&live.peak().1);
        let payload = more && grf::relax_constraints::payload(code, live, origin, room.target);
        let loosened = grf::relax_constraints::loosen(code, origin, room.target) || payload;
        grf::split_wide::split(code, origin, room.target, |_| true) || loosened
    });
    if pieces {
        work.follow()?;
    }
    if let Some(alloc) = work.split(bytes, map)? {
        return Ok(work.done(alloc));
    }
    let (mut joined, mut phases) = (None, work.phases);
    let apart = (work.code, work.live);
    let coalesce = || grf::spill::copy_webs::coalesce(&apart.0, &apart.1);
    if let Some(code) = phases.run(Phase::Join, coalesce) {
        let live = phases.run(Phase::Liveness, || liveness(name, &code))?;
        joined = Some((code, live));
    }
    // Where little more lives than there is room for, what leaves is better chosen one by one.
    let (code, live) = joined.as_ref().unwrap_or(&apart);
    if live.peak().1 > bytes / 4 * 5 {
        let pair = || grf::spill::paired_slots::pair(code, live, room.target);
        if let Some(code) = phases.run(Phase::Join, pair) {
            let live = phases.run(Phase::Liveness, || liveness(name, &code))?;
            joined = Some((code, live));
        }
    }
    // For what messages want of their own there is room but at the first attempt.
    let spare = grf::spill::spare(&apart.0);
    let caps = SHARES.map(|share| (bytes * share / 16).saturating_sub(spare));
    let caps: Vec<u32> = [bytes].into_iter().chain(caps).collect();
    // Where nothing else helps, registers are not joined. So there are 18 attempts at most, nearly
    // always one.
    let attempts = joined.iter().chain([&apart]);
    let mut failed = None;
    for ((code, live), &cap) in attempts.flat_map(|x| caps.iter().map(move |cap| (x, cap))) {
        let mut origin = work.origin.clone();
        let rest = Room {
            scratch: work.spilled.scratch,
            ..room
        };
        phases.attempts += 1;
        let spill = || grf::spill::to_fit(name, code, live, rest, cap, &mut origin);
        let (code, live, more) = phases.run(Phase::Spill, spill)?;
        let mut spilled = work.spilled.clone();
        spilled.add(more);
        let mut less = Work {
            name,
            code,
            live,
            origin,
            spilled,
            splits: 0,
            phases,
            banks,
        };
        if let Some(alloc) = less.split(bytes, map)? {
            return Ok(less.done(alloc));
        }
        phases = less.phases;
        failed = Some((less.code, less.live));
    }
    let (code, live) = failed.as_ref().unwrap_or(&apart);
    Err(out_of_registers(name, (code, live), bytes))
}

/// The instruction that alone wants more than there is; without one, that where most is live, or,
/// where that fits, where most is taken for the sake of alignment.
fn out_of_registers(name: &str, (code, live): (&VCode, &Liveness), available: u32) -> CodegenError {
    let alone = grf::spill::alone(code, live);
    let peak = live.peak();
    let (at, needed) = match (alone.1 > available, peak.1 > available) {
        (true, _) => alone,
        (false, true) => peak,
        (false, false) => grf::place::aligned(code, live),
    };
    let numbers = [needed, available];
    code.out_of_registers(name, at, numbers, alone.1 > available)
}
