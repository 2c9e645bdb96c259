//! What allocation came to, for people: where demand is highest and what is live there, what was
//! spilled and for what, where everything was.

use super::{Allocated, Room};
use crate::ir::{SourceLoc, Value};
use crate::mir::insert::NEW;
use crate::mir::liveness::Liveness;
use crate::mir::{VCode, VReg};
use std::cmp::Reverse;
use std::ops::Range;

/// The most values that are named at the peak.
const NAMED: usize = 16;

/// A value where it matters, or a register that is of no value of the IR: a part of an
/// instruction's work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Held {
    /// The value, as numbered after inlining and expansion, which keep the numbers of what was
    /// there.
    pub value: Option<Value>,
    /// The virtual register.
    pub register: u32,
    /// Its size in bytes.
    pub bytes: u32,
}

/// Where most is live.
#[derive(Clone, PartialEq, Debug)]
pub struct Peak {
    /// Bytes.
    pub bytes: u32,
    /// The machine instruction, counted before anything was spilled.
    pub instruction: usize,
    /// It, as text.
    pub text: String,
    /// Where it is from.
    pub loc: SourceLoc,
    /// What is live there, the largest first, as far as the list goes.
    pub live: Vec<Held>,
}

/// A value that was in scratch.
#[derive(Clone, PartialEq, Debug)]
pub struct SpilledValue {
    /// The value.
    pub held: Held,
    /// Its first byte of scratch; without one it is a constant that is made again.
    pub slot: Option<u32>,
    /// Messages that bring it to the file.
    pub fills: u32,
    /// Messages that bring it to scratch.
    pub stores: u32,
    /// How often it is made again.
    pub remats: u32,
    /// The instruction that it first had to leave for, as text.
    pub left_for: String,
    /// Where that is from.
    pub loc: SourceLoc,
    /// What that instruction names.
    pub forced_by: Vec<Held>,
    /// When it lives, in points (two an instruction) of the code before allocation.
    pub life: Vec<Range<u32>>,
}

/// A register's place.
#[derive(Clone, PartialEq, Debug)]
pub struct Placed {
    /// Whose it is.
    pub held: Held,
    /// The first byte in the file.
    pub at: u32,
    /// When, in points (two an instruction) of the code as it was placed.
    pub ranges: Vec<Range<u32>>,
}

/// What allocation of a kernel came to.
#[derive(Clone, PartialEq, Debug)]
pub struct AllocationReport {
    /// Bytes of the file that values may be in.
    pub file: u32,
    /// Bytes of a GRF.
    pub grf: u32,
    /// Live bytes per instruction, before anything was spilled.
    pub demand: Vec<u32>,
    /// Where most of that is.
    pub peak: Peak,
    /// Bytes that live at once at most in the file, behind spilling.
    pub live: u32,
    /// Bytes of all GRFs that anything lives in at one instruction, at most. What this is more than
    /// `live` is lost between values.
    pub used: u32,
    /// What was spilled.
    pub spilled: Vec<SpilledValue>,
    /// Values that moved: which are in several places of the file.
    pub splits: u32,
    /// Where everything was.
    pub placed: Vec<Placed>,
    /// Per instruction of the code as it was placed, the one that it was before anything was
    /// spilled, or the next one for those that are new.
    pub origin: Vec<u32>,
}

/// The most bytes of GRFs that something is in at one point.
fn touched(placed: &[Placed], grf: u32) -> u32 {
    // Where values come, and go, before what comes there.
    let mut events: Vec<(u32, bool, u32, u32)> = Vec::new();
    for p in placed {
        let (first, end) = (p.at / grf, (p.at + p.held.bytes).div_ceil(grf));
        // What lives nowhere would go before it comes.
        for r in p.ranges.iter().filter(|r| r.start < r.end) {
            events.push((r.start, true, first, end));
            events.push((r.end, false, first, end));
        }
    }
    events.sort_unstable();
    let (mut values, mut here, mut most) = (Vec::new(), 0, 0);
    for (_, comes, first, end) in events {
        for n in first as usize..end as usize {
            if values.len() <= n {
                values.resize(n + 1, 0u32);
            }
            if comes {
                here += u32::from(values[n] == 0);
                values[n] += 1;
            } else {
                values[n] -= 1;
                here -= u32::from(values[n] == 0);
            }
        }
        most = most.max(here);
    }
    most * grf
}

/// A register of code.
pub(super) fn held(code: &VCode, register: VReg) -> Held {
    let data = code.vregs[register];
    Held {
        value: data.value.expand(),
        register: register.as_u32(),
        bytes: data.bytes,
    }
}

impl AllocationReport {
    /// Of code that had this liveness before.
    pub(crate) fn new(
        before: &VCode,
        live: &Liveness,
        after: &Allocated,
        room: Room<'_>,
    ) -> AllocationReport {
        let demand: Vec<u32> = live.demand.iter().map(|d| d.peak()).collect();
        let (instruction, bytes) = live.peak();
        let point = instruction as u32 * 2;
        let here = |r: &VReg| live.lives_at(*r, point) || live.lives_at(*r, point + 1);
        let mut at_peak: Vec<Held> = before
            .vregs
            .keys()
            .filter(here)
            .map(|r| held(before, r))
            .collect();
        at_peak.sort_by_key(|h| (Reverse(h.bytes), h.register));
        at_peak.truncate(NAMED);
        let code = &after.code;
        let mut placed = Vec::new();
        for r in code.vregs.keys() {
            let ranges: Vec<Range<u32>> = after.live.ranges[r]
                .iter()
                .map(|x| x.start..x.end)
                .collect();
            if ranges.is_empty() {
                continue;
            }
            let at = after.alloc.address[r];
            let held = held(code, r);
            placed.push(Placed { held, at, ranges });
        }
        let mut next = before.insts.len() as u32;
        let mut origin: Vec<u32> = if after.origin.is_empty() {
            (0..next).collect()
        } else {
            after.origin.clone()
        };
        for n in origin.iter_mut().rev() {
            match *n {
                NEW => *n = next,
                old => next = old,
            }
        }
        AllocationReport {
            file: room.grfs.min(before.grf.count) * before.grf.bytes,
            grf: before.grf.bytes,
            demand,
            peak: Peak {
                bytes,
                instruction,
                text: before
                    .insts
                    .get(instruction)
                    .map_or_else(String::new, |m| m.to_string()),
                loc: before.locs.get(instruction),
                live: at_peak,
            },
            live: after.live.peak().1,
            used: touched(&placed, before.grf.bytes),
            spilled: after.spilled.values.clone(),
            splits: after.splits,
            placed,
            origin,
        }
    }
}
