//! Human-readable results of allocation. They are the peak demand with the values live there, the
//! spilled values with the instructions that they were spilled for, and all places.

use super::{AllocEnv, Allocated};
use crate::ir::{SourceLoc, Value};
use crate::mir::insert::NEW;
use crate::mir::liveness::Liveness;
use crate::mir::{VCode, VReg};
use std::cmp::Reverse;
use std::ops::Range;

/// Maximum number of values listed at the peak.
const MAX_LISTED: usize = 16;

/// A value, or a register without an IR value: an intermediate result of lowering.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Held {
    /// Value, as numbered after inlining and expansion. Both keep existing numbers.
    pub value: Option<Value>,
    /// Virtual register.
    pub register: u32,
    /// Size in bytes.
    pub bytes: u32,
}

/// Point of peak demand.
#[derive(Clone, PartialEq, Debug)]
pub struct Peak {
    /// Live bytes.
    pub bytes: u32,
    /// Index of the machine instruction before spilling.
    pub instruction: usize,
    /// Text of the instruction.
    pub text: String,
    /// Source location of the instruction.
    pub loc: SourceLoc,
    /// Live values, the largest first, up to a fixed number.
    pub live: Vec<Held>,
}

/// A spilled value.
#[derive(Clone, PartialEq, Debug)]
pub struct SpilledValue {
    /// Value or register.
    pub held: Held,
    /// First byte in scratch. `None` for a constant that is rematerialized instead.
    pub slot: Option<u32>,
    /// Number of fill messages.
    pub fills: u32,
    /// Number of spill messages.
    pub stores: u32,
    /// Number of rematerializations.
    pub remats: u32,
    /// Text of the instruction that it was first spilled for.
    pub left_for: String,
    /// Source location of that instruction.
    pub loc: SourceLoc,
    /// Values that the instruction names.
    pub forced_by: Vec<Held>,
    /// Live range before allocation, in program points (two per instruction).
    pub life: Vec<Range<u32>>,
}

/// Place of a register.
#[derive(Clone, PartialEq, Debug)]
pub struct PlacedRegister {
    /// Value or register.
    pub held: Held,
    /// First byte in the GRF file.
    pub at: u32,
    /// Live range after allocation, in program points (two per instruction).
    pub ranges: Vec<Range<u32>>,
}

/// Allocation of one kernel.
#[derive(Clone, PartialEq, Debug)]
pub struct AllocationReport {
    /// Bytes of the GRF file that values may use.
    pub file: u32,
    /// Bytes of a GRF.
    pub grf: u32,
    /// Live bytes per instruction, before spilling.
    pub demand: Vec<u32>,
    /// Point of peak demand.
    pub peak: Peak,
    /// Peak of live bytes in the GRF file after spilling.
    pub live: u32,
    /// Peak of bytes of GRFs that hold at least one live byte. The excess over `live` is lost to
    /// fragmentation.
    pub used: u32,
    /// Spilled values.
    pub spilled: Vec<SpilledValue>,
    /// Number of values that moved and so have several places in the GRF file.
    pub splits: u32,
    /// Places of all registers.
    pub placed: Vec<PlacedRegister>,
    /// Original index of each instruction of the allocated code. Inserted instructions have the
    /// index of the next original one.
    pub origin: Vec<u32>,
}

/// Returns the peak of bytes of GRFs that hold at least one live byte.
fn touched(placed: &[PlacedRegister], grf: u32) -> u32 {
    // Events: (point, starts, first GRF, end of GRFs). At one point, ends sort before starts.
    let mut events: Vec<(u32, bool, u32, u32)> = Vec::new();
    for p in placed {
        let (first, end) = (p.at / grf, (p.at + p.held.bytes).div_ceil(grf));
        // An empty range would end before it starts.
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

/// Returns the report entry of a register.
pub(super) fn held(code: &VCode, register: VReg) -> Held {
    let data = code.vregs[register];
    Held {
        value: data.value.expand(),
        register: register.as_u32(),
        bytes: data.bytes,
    }
}

impl AllocationReport {
    /// Builds the report of code that had this liveness before allocation.
    pub(crate) fn new(
        before: &VCode,
        live: &Liveness,
        after: &Allocated,
        env: AllocEnv<'_>,
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
        at_peak.truncate(MAX_LISTED);
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
            placed.push(PlacedRegister { held, at, ranges });
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
            file: env.grfs.min(before.grf.count) * before.grf.bytes,
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
