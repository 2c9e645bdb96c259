//! Byte-granular allocation of the GRF file.
//!
//! The file is an address space of bytes. A value is a range of them with a size and an alignment; uniform values share GRFs.
//! The parts follow regalloc2: copies merge live ranges into bundles ([`bundles`]), bundles get places from an
//! allocation map keyed by program point ([`map`], [`place`]), and a separate checker ([`checker`]) proves the result on the code. A bundle keeps one
//! place for its life. Where not all find one, wide registers fall into pieces ([`chunks`]), then values move aside for others ([`split`]). Where demand is
//! more than the file, values leave for scratch while they are not wanted ([`spill`]). Registers that are left live for parts of a value's life.
//!
//! Needs: [`VCode`] with physical flags, its [`Liveness`]. Makes: the code, with what spilling put into it, and a byte address per virtual register.

pub mod baseline;
pub mod bundles;
pub mod checker;
mod chunks;
#[cfg(test)]
mod corruptions;
pub(crate) mod local;
mod loops;
mod loosen;
#[cfg(test)]
mod machine;
pub mod map;
mod overlay;
mod place;
#[cfg(test)]
mod replay;
pub mod report;
pub mod spill;
mod split;

use crate::liveness::{Liveness, liveness};
use crate::result::CodegenError;
use crate::target::Target;
use crate::vcode::{VCode, VReg};
use bundles::Bundles;
use cranelift_entity::SecondaryMap;
use map::AllocationMap;
use spill::Spilled;
use std::collections::BTreeSet;

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
    /// Per instruction the number that it had; of those that are new [`u32::MAX`]. Empty where nothing was changed.
    pub origin: Vec<u32>,
    /// Its registers.
    pub alloc: Allocation,
    /// What was spilled.
    pub spilled: Spilled,
    /// Registers that became several because they moved.
    pub splits: u32,
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

/// What of the file, in sixteenths, spilling leaves for values, one attempt after the other. There is less room than bytes: values are aligned.
const SHARES: [u32; 8] = [16, 15, 14, 12, 10, 8, 6, 4];

/// How often registers may turn out to be too long-lived to follow: what is left of them in the file is short.
const ROUNDS: u32 = 4;

/// Code on its way, and what is known of it.
struct Work<'a> {
    name: &'a str,
    code: VCode,
    live: Liveness,
    origin: Vec<u32>,
    spilled: Spilled,
    splits: u32,
}

impl Work<'_> {
    /// Places every register for all its life.
    fn place(&self, limit: u32, map: &mut AllocationMap) -> Option<Allocation> {
        if self.live.peak().1 > limit {
            return None;
        }
        let mut bundles = Bundles::merge(&self.code, &self.live);
        let placed = place::place(&self.code, &self.live, &bundles, limit, map, true);
        placed.all(&self.code, &mut bundles)
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
        let (code, live) = (&self.code, &self.live);
        let mut bundles = Bundles::merge(code, live);
        // Behind spilling the file is full wherever it can be: another order of placement helps next to never.
        let orders = self.spilled.registers + self.spilled.remats == 0;
        let placed = place::place(code, live, &bundles, limit, map, orders);
        let all = placed.all(code, &mut bundles);
        if all.is_some() {
            return Ok(all);
        }
        let mut origin = self.origin.clone();
        let split = split::split(code, live, &mut bundles, &placed.wanted, limit, &mut origin);
        let Some(split) = split else {
            return Ok(None);
        };
        self.live = liveness(self.name, &split.code)?;
        self.code = split.code;
        self.origin = origin;
        self.splits = split.splits;
        let address = split.address;
        Ok(Some(Allocation { address }))
    }

    /// Keeps in scratch, but for the instructions that name them, registers that liveness did not follow.
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
                spill::everywhere(self.name, code, live, room, &regs, &mut self.origin)?;
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
    };
    work.leave_abandoned(room)?;
    if let Some(alloc) = work.place(bytes, map) {
        return Ok(work.done(alloc));
    }
    if work.origin.is_empty() {
        work.origin.extend(0..work.code.insts.len() as u32);
    }
    let loosened = loosen::loosen(&mut work.code, &mut work.origin, room.target);
    if chunks::split(&mut work.code, &mut work.origin, room.target) || loosened {
        work.live = liveness(name, &work.code)?;
    }
    if let Some(alloc) = work.split(bytes, map)? {
        return Ok(work.done(alloc));
    }
    // Where nothing else helps, registers are not joined.
    let apart = (work.code.clone(), work.live.clone());
    if spill::coalesce::coalesce(&mut work.code, &work.live) {
        work.live = liveness(name, &work.code)?;
    }
    // Where little more lives than there is room for, what leaves is better chosen one by one.
    let much = work.live.peak().1 > bytes / 4 * 5;
    if much && spill::pairs::pair(&mut work.code, &work.live, room.target) {
        work.live = liveness(name, &work.code)?;
    }
    let together = (work.code, work.live);
    // Small values come from scratch in GRFs of their own, for which there is room but at the first attempt.
    let spare = 2 * together.0.grf.bytes;
    let caps = SHARES.map(|share| (bytes * share / 16).saturating_sub(spare));
    let caps: Vec<u32> = [bytes].into_iter().chain(caps).collect();
    let attempts = [&together, &apart].into_iter();
    let mut failed = None;
    for ((code, live), &cap) in attempts.flat_map(|x| caps.iter().map(move |cap| (x, cap))) {
        let mut origin = work.origin.clone();
        let rest = Room {
            scratch: work.spilled.scratch,
            ..room
        };
        let (code, live, more) = spill::to_fit(name, code, live, rest, cap, &mut origin)?;
        let mut spilled = work.spilled.clone();
        spilled.add(more);
        let mut less = Work {
            name,
            code,
            live,
            origin,
            spilled,
            splits: 0,
        };
        if let Some(alloc) = less.split(bytes, map)? {
            return Ok(less.done(alloc));
        }
        failed = Some(out_of_registers(name, (&less.code, &less.live), bytes));
    }
    let (code, live) = &together;
    Err(failed.unwrap_or_else(|| out_of_registers(name, (code, live), bytes)))
}

/// The instruction where most is live, or, where that fits, where most is taken for the sake of alignment.
fn out_of_registers(name: &str, (code, live): (&VCode, &Liveness), available: u32) -> CodegenError {
    let peak = live.peak();
    let (at, needed) = match peak.1 <= available {
        true => place::aligned(code, live),
        false => peak,
    };
    CodegenError::OutOfRegisters {
        function: name.to_string(),
        needed,
        available,
        at,
        text: code
            .insts
            .get(at)
            .map(|m| m.to_string())
            .unwrap_or_default(),
        origin: code.locs.get(at).into(),
    }
}
