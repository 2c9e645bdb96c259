//! Baseline allocators for comparison (`docs/regalloc.md`): the main one with registers of whole
//! GRFs, and a linear scan.

use super::spill;
use super::spill::Spilled;
use crate::error::CodegenError;
use crate::mir::liveness::Liveness;
use crate::mir::{MInst, RegConstraint, VCode, VReg, routines};
use crate::regalloc::timing::Phases;
use crate::regalloc::{AllocEnv, Allocated, Allocation, out_of_registers};
use cranelift_entity::{EntityRef, SecondaryMap};
use std::collections::BTreeSet;

gantry_isa_gen::named_enum! {
    /// Register allocation algorithm.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub enum Allocator {
        /// Main allocator, at byte granularity.
        #[default]
        Bytes = "bytes",
        /// Main allocator with each register rounded up to whole GRFs, and aligned to them.
        Grfs = "grfs",
        /// Linear scan in the order of starts. Each register gets the lowest place that is free
        /// from its first point to its last. Copies are not coalesced. If there is no place, the
        /// register that is live longest is spilled everywhere.
        LinearScan = "linear-scan",
    }
}

/// Rounds registers up to whole GRFs. Registers copied to or from the payload keep its size, but
/// also start at a GRF.
pub(crate) fn round_to_grfs(code: &mut VCode) {
    let grf = code.grf.bytes;
    let mut kept: SecondaryMap<VReg, bool> = SecondaryMap::new();
    for (r, d) in &code.vregs {
        kept[r] = d.constraint != RegConstraint::Any;
    }
    loop {
        let mut more = false;
        for m in &code.insts {
            if let MInst::Copy { dst, src } = *m
                && kept[dst] != kept[src]
            {
                (kept[dst], kept[src], more) = (true, true, true);
            }
        }
        if !more {
            break;
        }
    }
    for (r, d) in code.vregs.iter_mut() {
        if d.constraint == RegConstraint::Any {
            d.align = d.align.max(grf);
        }
        if !kept[r] {
            d.bytes = d.bytes.next_multiple_of(grf);
        }
    }
}

/// Maximum length, in points, of live ranges of registers that spilling inserted.
const SPILL_RANGE: u32 = 8;

/// Live interval of a register, without holes.
#[derive(Clone, Copy)]
struct Interval {
    start: u32,
    end: u32,
    reg: VReg,
}

/// Returns the live intervals by start. A register that is live across a routine is live in all of
/// it.
fn intervals(code: &VCode, live: &Liveness) -> Vec<Interval> {
    let mut out = Vec::new();
    for reg in code.vregs.keys() {
        let ranges = live.ranges[reg].iter().map(|r| (r.start, r.end));
        let bodies = live.weak[reg].iter().map(|r| {
            let insts = code.routine_insts(*r);
            (insts.start as u32 * 2, insts.end as u32 * 2)
        });
        let hull = ranges.chain(bodies);
        let hull = hull.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        out.extend(hull.map(|(start, end)| Interval { start, end, reg }));
    }
    out.sort_by_key(|i| (i.start, i.reg));
    out
}

/// Registers that occupy a place at the current point.
struct LinearScanState<'a> {
    code: &'a VCode,
    taken: Vec<bool>,
    active: Vec<(Interval, u32)>,
    fixed: Vec<(Interval, u32)>,
}

impl LinearScanState<'_> {
    fn mark(&mut self, at: u32, bytes: u32, taken: bool) {
        let range = at as usize..(at + bytes) as usize;
        self.taken.get_mut(range).unwrap_or(&mut []).fill(taken);
    }

    /// Releases registers whose intervals ended before a point.
    fn expire(&mut self, point: u32) {
        for n in (0..self.active.len()).rev() {
            if self.active[n].0.end <= point {
                let (i, at) = self.active.swap_remove(n);
                self.mark(at, self.code.vregs[i.reg].bytes, false);
            }
        }
    }

    /// Returns the lowest free place within a range of bytes.
    fn place(&self, i: Interval, within: std::ops::Range<u32>) -> Option<u32> {
        let data = self.code.vregs[i.reg];
        let align = data.align.max(1);
        let mut at = within.start.next_multiple_of(align);
        while at + data.bytes <= within.end {
            let bytes = self.taken.get(at as usize..(at + data.bytes) as usize)?;
            let met = |&&(f, place): &&(Interval, u32)| {
                let size = self.code.vregs[f.reg].bytes;
                f.start < i.end && i.start < f.end && place < at + data.bytes && at < place + size
            };
            if bytes.iter().all(|t| !t) && self.fixed.iter().find(met).is_none() {
                return Some(at);
            }
            at += align;
        }
        None
    }
}

/// Scans once. Returns a place for each register, or the registers to spill, or the one without a
/// place that cannot be spilled.
fn scan(
    code: &VCode,
    live: &Liveness,
    limit: u32,
    may_spill: impl Fn(VReg) -> bool,
) -> Result<Allocation, Result<Vec<VReg>, VReg>> {
    let file = code.grf;
    let mut out = Allocation::default();
    let mut to_spill: Vec<VReg> = Vec::new();
    let (fixed, rest): (Vec<Interval>, Vec<Interval>) = intervals(code, live)
        .into_iter()
        .partition(|i| matches!(code.vregs[i.reg].constraint, RegConstraint::Fixed(_)));
    let place_of = |i: &Interval| match code.vregs[i.reg].constraint {
        RegConstraint::Fixed(at) => at,
        _ => 0,
    };
    let mut s = LinearScanState {
        code,
        taken: vec![false; file.size() as usize],
        active: Vec::new(),
        fixed: fixed.iter().map(|i| (*i, place_of(i))).collect(),
    };
    for (i, at) in &s.fixed {
        out.address[i.reg] = *at;
    }
    for i in rest {
        s.expire(i.start);
        let bytes = code.vregs[i.reg].bytes;
        let within = match code.vregs[i.reg].constraint {
            RegConstraint::AtLeast(first) => first..file.size(),
            _ => 0..limit,
        };
        let long = |x: &Interval| x.end - x.start > SPILL_RANGE && may_spill(x.reg);
        let at = loop {
            if let Some(at) = s.place(i, within.clone()) {
                break Some(at);
            }
            // Spills the register that is live longest, possibly this one.
            let others = s.active.iter().enumerate();
            let last = others
                .filter(|(_, (x, _))| long(x) && (x.end > i.end || !long(&i)))
                .max_by_key(|(_, (x, _))| x.end);
            let Some((n, _)) = last else { break None };
            let (x, at) = s.active.swap_remove(n);
            s.mark(at, code.vregs[x.reg].bytes, false);
            to_spill.push(x.reg);
        };
        match at {
            Some(at) => {
                s.mark(at, bytes, true);
                s.active.push((i, at));
                out.address[i.reg] = at;
            }
            None if long(&i) => to_spill.push(i.reg),
            None if to_spill.is_empty() => return Err(Err(i.reg)),
            None => {}
        }
    }
    if to_spill.is_empty() {
        Ok(out)
    } else {
        Err(Ok(to_spill))
    }
}

/// Allocates every virtual register by linear scan.
///
/// # Errors
/// Returns an error if a register that may not be spilled finds no place, or if scratch messages do
/// not reach all slots.
pub(crate) fn linear_scan(
    name: &str,
    code: VCode,
    live: Liveness,
    env: AllocEnv<'_>,
) -> Result<Allocated, CodegenError> {
    let limit = env.grfs.min(code.grf.count) * code.grf.bytes;
    let mut stays = routines::shared(&code);
    for m in &code.insts {
        // Its address is taken, so its place may not change.
        if let MInst::LoadAddress {
            base: Some(base), ..
        } = *m
        {
            stays[base] = true;
        }
    }
    let registers = code.vregs.len();
    let mut spilled: BTreeSet<VReg> = BTreeSet::new();
    let mut now = Allocated {
        alloc: Allocation::default(),
        origin: Vec::new(),
        spilled: Spilled {
            scratch: env.scratch,
            ..Spilled::default()
        },
        code,
        live,
        splits: 0,
        phases: Phases::default(),
    };
    let first = (now.code.clone(), now.live.clone());
    loop {
        let (code, live) = (&now.code, &now.live);
        let may_spill = |r: VReg| {
            let any = code.vregs[r].constraint == RegConstraint::Any;
            any && r.index() < registers && !stays[r] && !spilled.contains(&r)
        };
        let reg = match scan(code, live, limit, may_spill) {
            Ok(alloc) => return Ok(Allocated { alloc, ..now }),
            Err(Ok(to_spill)) => {
                spilled.extend(to_spill);
                None
            }
            Err(Err(reg)) => Some(reg),
        };
        if reg.is_some() {
            return Err(out_of_registers(name, (code, live), limit));
        }
        let (code, live) = &first;
        let mut origin = (0..code.insts.len() as u32).collect();
        let (code, live, all) =
            spill::spill_everywhere(name, code, live, env, &spilled, &mut origin)?;
        now = Allocated {
            code,
            live,
            origin,
            alloc: Allocation::default(),
            spilled: all,
            splits: 0,
            phases: Phases::default(),
        };
    }
}
