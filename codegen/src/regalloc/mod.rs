//! Byte-granular allocation of the GRF file.
//!
//! The GRF file is an address space of bytes. A value is a byte range with a size and an alignment;
//! uniform values share GRFs. The algorithm follows regalloc2:
//!
//! 1. Copies merge live ranges into bundles ([`grf::bundles`]).
//! 2. Each bundle gets one place for its whole live range ([`grf::place`]) from an allocation map
//!    keyed by program point ([`grf::allocation_map`]).
//! 3. If some bundles find no place, wide registers are split into pieces ([`grf::split_wide`]),
//!    then values move to make room for others ([`grf::split`]).
//! 4. If demand exceeds the GRF file, values are spilled to scratch ([`grf::spill`]). What remains
//!    of their live ranges becomes registers of their own.
//!
//! A separate symbolic checker ([`verify::checker`]) proves the result on the code.
//!
//! Input: [`VCode`] with physical flags, and its [`Liveness`]. Output: the code with spill code and
//! moves inserted, and a byte address per virtual register.

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
use grf::fragmentation::Fragmentation;
use grf::spill::Spilled;
use std::collections::BTreeSet;
use timing::{Phase, Phases};

/// Places of all virtual registers.
#[derive(Clone, Debug, Default)]
pub struct Allocation {
    /// Byte address in the GRF file per virtual register.
    pub address: SecondaryMap<VReg, u32>,
}

/// Result of allocation: the code with all inserted instructions, and the addresses of its
/// registers.
#[derive(Clone, Debug)]
pub struct Allocated {
    /// The code.
    pub code: VCode,
    /// Liveness of the code.
    pub live: Liveness,
    /// Original index of each instruction, [`u32::MAX`] for inserted ones. Empty if nothing was
    /// inserted.
    pub origin: Vec<u32>,
    /// Addresses of the registers.
    pub alloc: Allocation,
    /// Spilled values and the scratch that they use.
    pub spilled: Spilled,
    /// Number of registers that became several because they moved.
    pub splits: u32,
    /// Time of each phase.
    pub phases: Phases,
}

/// Resources and options of one allocation.
#[derive(Clone, Copy, Debug)]
pub struct AllocEnv<'a> {
    /// Target that the GRF file belongs to.
    pub target: &'a Target,
    /// Number of GRFs, from GRF 0, that values may use. Values with fixed places may lie outside.
    pub grfs: u32,
    /// Bytes of a thread's scratch that the kernel uses itself.
    pub scratch: u32,
    /// True if spilled values are recorded for the report.
    pub report: bool,
    /// Attempts to spill, one after the other until one succeeds.
    pub spill_attempts: &'a [SpillAttempt],
}

/// Attempt to spill: the part of the GRF file that values may fill.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SpillAttempt {
    /// Sixteenths of the file.
    pub sixteenths: u32,
    /// True if space for the headers and payloads of scratch messages is reserved.
    pub reserve: bool,
}

impl SpillAttempt {
    /// Returns the bytes that values may fill, of a file of `bytes` bytes of which messages take
    /// `messages`.
    fn limit(self, bytes: u32, messages: u32) -> u32 {
        let part = bytes * self.sixteenths / 16;
        if self.reserve {
            part.saturating_sub(messages)
        } else {
            part
        }
    }
}

/// Maximum number of rounds that spill registers which liveness analysis abandoned. The live ranges
/// that are left in the GRF file are short.
const ABANDONED_ROUNDS: u32 = 4;

/// Code under allocation, with its liveness and statistics.
struct Attempt<'a> {
    name: &'a str,
    code: VCode,
    live: Liveness,
    origin: Vec<u32>,
    spilled: Spilled,
    splits: u32,
    phases: Phases,
    /// True if the GRF file has banks that three-source instructions read in separate cycles.
    banks: bool,
}

impl Attempt<'_> {
    /// Gives each register one place for its whole live range. Returns `None` if that is not
    /// possible.
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

    /// Recomputes liveness after the code has changed.
    fn recompute_liveness(&mut self) -> Result<(), CodegenError> {
        let (name, code) = (self.name, &self.code);
        self.live = self.phases.run(Phase::Liveness, || liveness(name, code))?;
        Ok(())
    }

    /// Gives each register a place like [`Attempt::place`], or moves values between places if that
    /// fails.
    fn split(
        &mut self,
        limit: u32,
        map: &mut AllocationMap,
    ) -> Result<Option<Allocation>, CodegenError> {
        let (code, live, banks) = (&self.code, &self.live, self.banks);
        // Results in the places of operands that die may make the code fit.
        let tied = live.peak().1 > limit;
        if tied && !Bundles::may_fit_tied(code, live, limit) {
            return Ok(None);
        }
        let mut bundles = self.phases.run(Phase::Place, || {
            if tied {
                Bundles::merge_tied(code, live, limit)
            } else {
                Bundles::merge(code, live)
            }
        });
        if tied && bundles.least().into_iter().any(|bytes| bytes > limit) {
            return Ok(None);
        }
        // Spilling fills the GRF file wherever it can. Retrying placement in another order almost
        // never helps after it.
        let orders = self.spilled.registers + self.spilled.remats == 0;
        let (placed, all) = self.phases.run(Phase::Place, || {
            let placed = grf::place::place(code, live, &bundles, limit, map, (orders, banks));
            let all = placed.all(code, &mut bundles);
            (placed, all)
        });
        if all.is_some() {
            return Ok(all);
        }
        if Fragmentation::of_bundles(code, &bundles)
            .unusable_bytes(limit)
            .is_some()
        {
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
        self.recompute_liveness()?;
        self.splits = split.splits;
        let address = split.address;
        Ok(Some(Allocation { address }))
    }

    /// Spills registers that liveness analysis abandoned. They stay in scratch except at the
    /// instructions that name them.
    fn spill_abandoned(&mut self, env: AllocEnv<'_>) -> Result<(), CodegenError> {
        for _ in 0..ABANDONED_ROUNDS {
            if self.live.abandoned.is_empty() {
                return Ok(());
            }
            if self.origin.is_empty() {
                self.origin.extend(0..self.code.insts.len() as u32);
            }
            let regs: BTreeSet<VReg> = self.live.abandoned.iter().copied().collect();
            let env = AllocEnv {
                scratch: self.spilled.scratch,
                ..env
            };
            let (code, live) = (&self.code, &self.live);
            let (code, live, spilled) =
                grf::spill::spill_everywhere(self.name, code, live, env, &regs, &mut self.origin)?;
            (self.code, self.live) = (code, live);
            self.spilled.add(spilled);
        }
        Err(out_of_registers(
            self.name,
            (&self.code, &self.live),
            env.grfs * self.code.grf.bytes,
        ))
    }

    fn finish(self, alloc: Allocation) -> Allocated {
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

/// Allocates every virtual register in the GRF file or in scratch. The contents of `map` are
/// discarded; only its memory is reused.
///
/// # Errors
/// [`CodegenError::OutOfRegisters`] if one instruction needs more bytes than there are.
pub fn allocate(
    name: &str,
    code: VCode,
    live: Liveness,
    env: AllocEnv<'_>,
    map: &mut AllocationMap,
) -> Result<Allocated, CodegenError> {
    let bytes = env.grfs.min(code.grf.count) * code.grf.bytes;
    let banks = env.target.features().grf_banks;
    let mut work = Attempt {
        name,
        code,
        live,
        origin: Vec::new(),
        spilled: Spilled {
            scratch: env.scratch,
            ..Spilled::default()
        },
        splits: 0,
        phases: Phases::default(),
        banks,
    };

    work.spill_abandoned(env)?;
    if let Some(alloc) = work.place(bytes, map) {
        return Ok(work.finish(alloc));
    }
    if work.origin.is_empty() {
        work.origin.extend(0..work.code.insts.len() as u32);
    }
    let (code, origin) = (&mut work.code, &mut work.origin);
    let live = &work.live;
    let pieces = work.phases.run(Phase::Pieces, || {
        split_into_parts(code, live, origin, env.target, bytes)
    });
    if pieces {
        work.recompute_liveness()?;
    }
    if let Some(alloc) = work.split(bytes, map)? {
        return Ok(work.finish(alloc));
    }
    let (mut joined, mut phases) = (None, work.phases);
    let apart = (work.code, work.live);
    let coalesce = || grf::spill::copy_webs::coalesce(&apart.0, &apart.1);
    if let Some(code) = phases.run(Phase::Join, coalesce) {
        let live = phases.run(Phase::Liveness, || liveness(name, &code))?;
        joined = Some((code, live));
    }
    // If demand is barely above the limit, choosing spilled values one by one is better.
    let (code, live) = joined.as_ref().unwrap_or(&apart);
    if live.peak().1 > bytes / 4 * 5 {
        let pair = || grf::spill::paired_slots::pair(code, live, env.target);
        if let Some(code) = phases.run(Phase::Join, pair) {
            let live = phases.run(Phase::Liveness, || liveness(name, &code))?;
            joined = Some((code, live));
        }
    }
    let messages = grf::spill::message_reserve(&apart.0);
    // The code before coalescing is the last resort. The first attempt nearly always succeeds.
    let codes = joined.iter().chain([&apart]);
    let attempts = codes.flat_map(|code| env.spill_attempts.iter().map(move |a| (code, a)));
    let mut failed = None;
    for ((code, live), attempt) in attempts {
        let cap = attempt.limit(bytes, messages);
        let mut origin = work.origin.clone();
        let attempt_env = AllocEnv {
            scratch: work.spilled.scratch,
            ..env
        };
        phases.attempts += 1;
        let spill = || grf::spill::spill_to_fit(name, code, live, attempt_env, cap, &mut origin);
        let (code, live, more) = phases.run(Phase::Spill, spill)?;
        let mut spilled = work.spilled.clone();
        spilled.add(more);
        let mut less = Attempt {
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
            return Ok(less.finish(alloc));
        }
        phases = less.phases;
        failed = Some((less.code, less.live));
    }
    let (code, live) = failed.as_ref().unwrap_or(&apart);
    Err(out_of_registers(name, (code, live), bytes))
}

/// Rewrites code that does not fit `bytes` bytes as it is: small values move to places of their
/// own, and wide registers become parts. Returns true if anything changed.
fn split_into_parts(
    code: &mut VCode,
    live: &Liveness,
    origin: &mut Vec<u32>,
    target: &Target,
    bytes: u32,
) -> bool {
    // If demand is far above the limit, moving the payload frees too little to matter.
    let more = (bytes + 1..=bytes / 4 * 5).contains(&live.peak().1);
    let payload = more && grf::relax_constraints::relax_payload(code, live, origin, target);
    let relaxed = grf::relax_constraints::relax_responses(code, origin, target) || payload;
    grf::split_wide::split(code, origin, target, |_| true) || relaxed
}

/// Error that names the instruction with the highest demand. Prefers an instruction whose own
/// operands do not fit. Otherwise reports the point of peak demand, or, if that fits, the peak of
/// aligned sizes.
fn out_of_registers(name: &str, (code, live): (&VCode, &Liveness), available: u32) -> CodegenError {
    let alone = grf::spill::largest_instruction(code, live);
    let peak = live.peak();
    let (at, needed) = match (alone.1 > available, peak.1 > available) {
        (true, _) => alone,
        (false, true) => peak,
        (false, false) => grf::place::aligned_peak(code, live),
    };
    let numbers = [needed, available];
    code.out_of_registers(name, at, numbers, alone.1 > available)
}
