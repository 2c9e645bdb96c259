//! Spilling: lowers the demand of code until it fits the GRF file.
//!
//! [`belady`] decides which registers are in the file at each point. Here its edits become spills,
//! fills and repeated constants, and registers in scratch get slots. The parts of a live range that
//! remain in the file become registers of their own ([`live_range_split`]).
//!
//! Needs: [`VCode`] and its liveness. Makes: the same code with edits, its liveness, and the
//! scratch that it takes.

mod belady;
pub(in crate::regalloc) mod copy_webs;
mod live_range_split;
pub(in crate::regalloc) mod paired_slots;
mod resident;

use super::fragmentation::Holes;
use crate::error::CodegenError;
use crate::ir::MAX_SCRATCH;
use crate::isel::lower_sends;
use crate::mir::insert::{Inserted, NEW};
use crate::mir::liveness::Liveness;
use crate::mir::logical::Dir;
use crate::mir::{
    Access, MInst, Place, Routine, VCode, VReg, VRegData, insert, liveness, routines,
};
use crate::regalloc::Room;
use crate::regalloc::report::{SpilledValue, held};
use belady::Walk;
use cranelift_entity::{EntityRef, EntitySet, SecondaryMap};
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};

/// What an edit does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// From the slot to the file.
    Fill,
    /// From the file to the slot.
    Store,
}

/// Where an edit stands before an instruction, among others there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Order {
    /// Right behind the instruction before.
    After,
    /// At a block's start, for an edge into it.
    Edge,
    /// For the instruction.
    Before,
    /// At a block's end, for an edge out of it.
    Last,
}

/// A register comes to the file, or goes to its slot.
#[derive(Clone, Copy, Debug)]
struct Edit {
    /// The instruction that it stands before.
    at: u32,
    order: Order,
    kind: Kind,
    reg: VReg,
}

/// What spilling came to.
#[derive(Clone, Debug, Default)]
pub struct Spilled {
    /// Scratch of a thread in bytes, what the kernel has of its own included.
    pub scratch: u32,
    /// Bytes of that for spilled registers.
    pub bytes: u32,
    /// Registers with a slot.
    pub registers: u32,
    /// Fills, in instructions.
    pub fills: u32,
    /// Stores, in instructions.
    pub stores: u32,
    /// Constants that are made again.
    pub remats: u32,
    /// Each of them, if that was asked for.
    pub values: Vec<SpilledValue>,
}

impl Spilled {
    /// Adds what was spilled later, behind this in scratch.
    pub(in crate::regalloc) fn add(&mut self, later: Spilled) {
        self.scratch = self.scratch.max(later.scratch);
        self.bytes += later.bytes;
        self.registers += later.registers;
        self.fills += later.fills;
        self.stores += later.stores;
        self.remats += later.remats;
        self.values.extend(later.values);
    }
}

/// Bytes that messages of scratch want beside what they move: a header, and a GRF for what is
/// smaller than one.
pub(in crate::regalloc) fn spare(code: &VCode) -> u32 {
    2 * code.grf.bytes
}

/// Spills until at most `cap` bytes are live at every instruction, as far as single instructions
/// let. `origin`: per instruction what it was, kept up.
///
/// # Errors
/// The slots take more scratch than a thread can have; the platform lacks the messages.
pub(in crate::regalloc) fn to_fit(
    name: &str,
    code: &VCode,
    live: &Liveness,
    room: Room<'_>,
    cap: u32,
    origin: &mut Vec<u32>,
) -> Result<(VCode, Liveness, Spilled), CodegenError> {
    let stays = staying(code);
    let reserved = reserved(code, live, &stays, cap);
    let mut walk = Walk::new(code, live, &stays, reserved, cap);
    // Where all of the file is to be used, what cannot be is known.
    if cap == room.grfs.min(code.grf.count) * code.grf.bytes {
        walk.holes = Holes::of(code, live).find(cap).unwrap_or_default();
    }
    walk.run();
    let Walk {
        info,
        mut edits,
        left,
        ..
    } = walk;
    edits.retain(|e| info[e.reg].bytes > 0);
    apply(name, code, live, room, (&edits, Some(&left)), origin)
}

/// Spills registers wherever they occur: they come to the file for each instruction.
///
/// # Errors
/// The slots take more scratch than a thread can have; the platform lacks the messages.
pub(in crate::regalloc) fn everywhere(
    name: &str,
    code: &VCode,
    live: &Liveness,
    room: Room<'_>,
    regs: &BTreeSet<VReg>,
    origin: &mut Vec<u32>,
) -> Result<(VCode, Liveness, Spilled), CodegenError> {
    let mut edits = Vec::new();
    for (at, m) in (0..).zip(&code.insts) {
        let mut accesses: Vec<(VReg, Access)> = Vec::new();
        m.for_each_vreg(|r, a| accesses.push((r, a)));
        accesses.retain(|x| regs.contains(&x.0));
        let all: BTreeSet<VReg> = accesses.iter().map(|x| x.0).collect();
        for reg in all {
            let mut of = accesses.iter().filter(|x| x.0 == reg);
            if of.clone().any(|x| x.1 != Access::Def) {
                edits.push(Edit {
                    at,
                    order: Order::Before,
                    kind: Kind::Fill,
                    reg,
                });
            }
            if of.any(|x| x.1 != Access::Use) {
                edits.push(Edit {
                    at: at + 1,
                    order: Order::After,
                    kind: Kind::Store,
                    reg,
                });
            }
        }
    }
    edits.sort_by_key(|e| (e.at, e.order));
    apply(name, code, live, room, (&edits, None), origin)
}

/// Puts edits into code. With the instructions that registers left for, constants are made again,
/// and have no slots.
fn apply(
    name: &str,
    code: &VCode,
    live: &Liveness,
    room: Room<'_>,
    (edits, left): (&[Edit], Option<&SecondaryMap<VReg, Option<u32>>>),
    origin: &mut Vec<u32>,
) -> Result<(VCode, Liveness, Spilled), CodegenError> {
    let Room {
        target, scratch, ..
    } = room;
    let occurrences = live.occurrences(code);
    let stored: BTreeSet<VReg> = edits
        .iter()
        .filter(|e| e.kind == Kind::Store)
        .map(|e| e.reg)
        .collect();
    let (slots, end) = slots(code, live, &stored, scratch);
    if end > MAX_SCRATCH {
        return Err(CodegenError::Unsupported {
            function: name.to_string(),
            what: format!("{end} bytes of scratch for a thread; {MAX_SCRATCH} is the most"),
            at: None,
            origin: Default::default(),
        });
    }
    let mut vregs = code.vregs.clone();
    let mut spilled = Spilled {
        scratch: if stored.is_empty() { scratch } else { end },
        bytes: end - scratch.next_multiple_of(code.grf.bytes),
        registers: stored.len() as u32,
        ..Spilled::default()
    };
    let mut values: BTreeMap<VReg, SpilledValue> = BTreeMap::new();
    if room.report {
        let at = |r| left.and_then(|l| l[r]);
        let by = edits.iter().map(|e| (e.reg, at(e.reg)));
        values.extend(by.map(|(r, at)| (r, value(code, live, (r, at), slots[r], origin))));
    }
    let mut new: Vec<Inserted> = Vec::new();
    let mut insts: Vec<MInst> = Vec::new();
    let header = header(code);
    // GRFs of the payload that are in their slots.
    let mut payload: BTreeSet<u32> = BTreeSet::new();
    for e in edits {
        insts.clear();
        let again = left.and_then(|_| belady::remat(code, &occurrences, e.reg));
        match (e.kind, again) {
            (Kind::Fill, Some(m)) => {
                insts.push(*m);
                spilled.remats += 1;
                if let Some(v) = values.get_mut(&e.reg) {
                    v.remats += 1;
                }
            }
            (Kind::Store, Some(_)) => {}
            (kind, None) => {
                let mut s = lower_sends::spill::Scratch {
                    target,
                    header,
                    vregs: &mut vregs,
                    out: &mut insts,
                };
                let Some(slot) = slots[e.reg] else {
                    // Never stored: no byte of it is defined.
                    new.push(Inserted {
                        at: e.at as usize,
                        after: e.order == Order::After,
                        inst: MInst::Start { dst: e.reg },
                    });
                    continue;
                };
                let fixed = matches!(code.vregs[e.reg].place, Place::Fixed(_));
                if fixed && kind == Kind::Store && !payload.insert(slot / code.grf.bytes) {
                    continue;
                }
                access(&mut s, kind, e.reg, slot, code.vregs[e.reg])
                    .map_err(|m| CodegenError::internal(name, m))?;
                let mut own = (0, 0);
                let (all, one) = match kind {
                    Kind::Fill => (&mut spilled.fills, &mut own.0),
                    Kind::Store => (&mut spilled.stores, &mut own.1),
                };
                *one = insts.len() as u32;
                *all += *one;
                if let Some(v) = values.get_mut(&e.reg) {
                    v.fills += own.0;
                    v.stores += own.1;
                }
            }
        }
        new.extend(insts.iter().map(|&inst| Inserted {
            at: e.at as usize,
            after: e.order == Order::After,
            inst,
        }));
    }
    spilled.values = values.into_values().collect();
    let touched: BTreeSet<VReg> = edits.iter().map(|e| e.reg).collect();
    let mut named: EntitySet<VReg> = EntitySet::with_capacity(vregs.len());
    named.extend(touched.iter().copied());
    named.extend((code.vregs.len()..vregs.len()).map(VReg::new));
    for m in &new {
        m.inst.for_each_vreg(|r, _| {
            named.insert(r);
        });
    }
    let (mut out, moved) = insert::with(code, new, origin);
    out.vregs = vregs;
    let live = live.with_inserted(name, (code, &out), &moved, named)?;
    debug_assert!(liveness::liveness(name, &out).is_ok_and(|l| l.same(&live)));
    let names = live_range_split::split(&mut out, &live, &touched);
    // Calls see what lives across them, which is not what it was.
    let live = match out.routines.len() {
        0 | 1 => live.renamed(&names),
        _ => liveness::liveness(name, &out)?,
    };
    debug_assert!(liveness::liveness(name, &out).is_ok_and(|l| l.same(&live)));
    Ok((out, live, spilled))
}

/// A register that is spilled, and the instruction that it first left for.
fn value(
    code: &VCode,
    live: &Liveness,
    (r, left): (VReg, Option<u32>),
    slot: Option<u32>,
    origin: &[u32],
) -> SpilledValue {
    let mut forced_by = Vec::new();
    let at = left.map(|i| i as usize);
    let inst = at.and_then(|i| code.insts.get(i));
    if let Some(m) = inst {
        m.for_each_vreg(|other, _| {
            let h = held(code, other);
            if other != r && !forced_by.contains(&h) {
                forced_by.push(h);
            }
        });
    }
    // What is new stands before the next that is not.
    let before = |point: u32| {
        let rest = origin.iter().skip(point as usize / 2);
        let next = rest.copied().find(|o| *o != NEW);
        next.unwrap_or(u32::MAX / 2) * 2 + point % 2
    };
    let ranges = live.ranges[r].iter();
    let life = ranges.map(|x| before(x.start)..before(x.end));
    SpilledValue {
        held: held(code, r),
        slot,
        fills: 0,
        stores: 0,
        remats: 0,
        left_for: inst.map_or_else(String::new, |m| m.to_string()),
        loc: at.map_or(Default::default(), |i| code.locs.get(i)),
        forced_by,
        life: life.collect(),
    }
}

/// The thread header, which every message of scratch begins with.
fn header(code: &VCode) -> VReg {
    code.header().unwrap_or(VReg::new(0))
}

/// Registers that are never spilled: the thread header, which spilling needs; what must lie in
/// certain registers at the end; what callers and subroutines share.
fn staying(code: &VCode) -> SecondaryMap<VReg, bool> {
    let mut out = routines::shared(code);
    out.resize(code.vregs.len());
    out[header(code)] = true;
    for (r, d) in &code.vregs {
        out[r] |= match d.place {
            Place::AtLeast(_) => true,
            // In the thread header.
            Place::Fixed(at) => at < code.grf.bytes,
            Place::Any => false,
        };
    }
    out
}

/// Per instruction the bytes of what stays.
fn staying_bytes(code: &VCode, live: &Liveness, stays: &SecondaryMap<VReg, bool>) -> Vec<u32> {
    let mut delta = vec![0i64; code.insts.len() + 1];
    for (r, data) in code.vregs.iter().filter(|(r, _)| stays[*r]) {
        for range in &live.ranges[r] {
            delta[range.start as usize / 2] += i64::from(data.bytes);
            delta[(range.end.div_ceil(2) as usize).min(code.insts.len())] -= i64::from(data.bytes);
        }
    }
    let mut sum = 0;
    let each = delta[..code.insts.len()].iter().map(|d| {
        sum += d;
        sum.max(0) as u32
    });
    each.collect()
}

/// Per instruction the bytes that it alone wants: of what stays, of what it names, of what an
/// address is in use of; of a call, what its routine wants beside what stays.
fn wanted_alone(code: &VCode, stays: &SecondaryMap<VReg, bool>, staying: &[u32]) -> Vec<u32> {
    let mut pinned: SmallVec<[VReg; 4]> = SmallVec::new();
    let named = |m: &MInst| {
        let mut all = pinned.clone();
        m.for_each_vreg(|r, _| all.push(r));
        all.sort_unstable();
        all.dedup();
        match *m {
            MInst::LoadAddress {
                base: Some(base), ..
            } => pinned.push(base),
            MInst::Touch { reg, .. } => pinned.retain(|r| *r != reg),
            _ => {}
        }
        let own = all.into_iter().filter(|r| !stays[*r]);
        let data = own.map(|r| code.vregs[r]);
        data.map(|d| d.bytes.next_multiple_of(d.align.max(1))).sum()
    };
    let named: Vec<u32> = code.insts.iter().map(named).collect();
    let mut out: Vec<u32> = (staying.iter().zip(named)).map(|(s, n)| s + n).collect();
    let calls = code.calls();
    let mut least: SecondaryMap<Routine, u32> = SecondaryMap::new();
    // Callees come behind their callers.
    for routine in code.routines.keys().rev() {
        let insts = code.routine_insts(routine);
        let first = calls.partition_point(|c| c.0 < insts.start);
        let own = calls.iter().skip(first);
        for &(i, called) in own.take_while(|c| c.0 < insts.end) {
            if let (Some(o), Some(s)) = (out.get_mut(i), staying.get(i)) {
                *o = (*o).max(s + least[called]);
            }
        }
        let body = out.get(insts).unwrap_or(&[]);
        least[routine] = body.iter().copied().max().unwrap_or(0);
    }
    out
}

/// The instruction that wants most of the file for itself, and what lives then whatever is spilled,
/// in bytes: with it, what messages of scratch want. At the first one that is all that lives:
/// nothing was stored before it.
pub(in crate::regalloc) fn alone(code: &VCode, live: &Liveness) -> (usize, u32) {
    let stays = staying(code);
    let mut all = wanted_alone(code, &stays, &staying_bytes(code, live, &stays));
    let begins = liveness::demand(code, &live.ranges);
    if let (Some(first), Some(begins)) = (all.first_mut(), begins.first()) {
        *first = (*first).max(begins.peak());
    }
    let most = all.into_iter().enumerate().max_by_key(|x| (x.1, x.0));
    let (at, bytes) = most.unwrap_or((0, 0));
    (at, bytes + spare(code))
}

/// Per instruction the bytes of what stays, and what a called routine may want.
fn reserved(code: &VCode, live: &Liveness, stays: &SecondaryMap<VReg, bool>, cap: u32) -> Vec<u32> {
    let mut out = staying_bytes(code, live, stays);
    let calls = code.calls();
    if calls.is_empty() {
        return out;
    }
    // What a routine and those that it calls have live of their own, or, where that is much, cannot
    // do without: callees come behind their callers.
    let own = liveness::demand(code, &live.ranges);
    let alone = wanted_alone(code, stays, &out);
    let mut need: SecondaryMap<Routine, u32> = SecondaryMap::new();
    for routine in code.routines.keys().rev() {
        let insts = code.routine_insts(routine);
        let peaks = own.get(insts.clone()).unwrap_or(&[]).iter();
        let mut most = peaks.map(|d| d.peak()).max().unwrap_or(0);
        let first = calls.partition_point(|c| c.0 < insts.start);
        for &(i, called) in calls.iter().skip(first).take_while(|c| c.0 < insts.end) {
            let across = own.get(i).map_or(0, |d| d.during);
            most = most.max(across + need[called]);
        }
        let least = alone.get(insts).unwrap_or(&[]).iter().max();
        let least = least.map_or(0, |l| l + spare(code));
        need[routine] = most.min(least.max(cap / 2)).min(cap);
    }
    for routine in code.routines.keys().skip(1) {
        // It has its share, wherever it is called.
        let more = cap.saturating_sub(need[routine].max(cap / 2));
        let insts = code.routine_insts(routine);
        for r in out.get_mut(insts).unwrap_or(&mut []) {
            *r += more;
        }
    }
    for (i, called) in calls {
        if let Some(r) = out.get_mut(i) {
            *r += need[called];
        }
    }
    out
}

/// A slot, in bytes from scratch's start, for each register that is stored; and where the last one
/// ends. Registers that never live at once may share one. Registers of the payload share their
/// GRFs' slots.
fn slots(
    code: &VCode,
    live: &Liveness,
    stored: &BTreeSet<VReg>,
    scratch: u32,
) -> (SecondaryMap<VReg, Option<u32>>, u32) {
    let grf = code.grf.bytes;
    let mut out: SecondaryMap<VReg, Option<u32>> = SecondaryMap::with_capacity(code.vregs.len());
    let mut end = scratch.next_multiple_of(grf);
    let mut payload: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    // By where they begin to live; per size, slots and when they are free again.
    let mut all: Vec<(u32, u32, VReg)> = Vec::new();
    for &r in stored {
        let data = code.vregs[r];
        if let Place::Fixed(at) = data.place {
            let first = at / grf * grf;
            let bytes = (at + data.bytes).next_multiple_of(grf) - first;
            // Runs that begin together share, if the first is as long.
            let key = (first, bytes);
            let slot = *payload.entry(key).or_insert_with(|| {
                end += bytes;
                end - bytes
            });
            out[r] = Some(slot + at % grf);
            continue;
        }
        let ranges = &live.ranges[r];
        let (Some(first), Some(last)) = (ranges.first(), ranges.last()) else {
            continue;
        };
        all.push((first.start, last.end, r));
    }
    all.sort_unstable();
    let mut free: BTreeMap<u32, BTreeSet<(u32, u32)>> = BTreeMap::new();
    let mut routine = Routine::new(0);
    for (start, last, r) in all {
        // Each routine has slots of its own.
        while routine.index() + 1 < code.routines.len()
            && code.routine_insts(routine).end <= start as usize / 2
        {
            routine = Routine::new(routine.index() + 1);
            free.clear();
        }
        let bytes = code.vregs[r].bytes.next_multiple_of(grf);
        let list = free.entry(bytes).or_default();
        let slot = match list.first().copied() {
            Some((until, slot)) if until <= start => {
                list.remove(&(until, slot));
                slot
            }
            _ => {
                end += bytes;
                end - bytes
            }
        };
        list.insert((last, slot));
        out[r] = Some(slot);
    }
    (out, end)
}

/// The instructions of an edit. A part of a GRF goes through a GRF of its own; so does the end of a
/// register of more, the rest as it is.
fn access(
    s: &mut lower_sends::spill::Scratch<'_>,
    kind: Kind,
    r: VReg,
    slot: u32,
    data: VRegData,
) -> Result<(), gantry_isa_gen::message::MessageError> {
    let grf = s.target.grf();
    let inside = slot % grf.bytes;
    let at = slot - inside;
    let grfs = grf.hold(inside + data.bytes);
    let whole = inside == 0 && data.bytes.is_multiple_of(grf.bytes);
    let fixed = match data.place {
        Place::Fixed(at) => Some(at - at % grf.bytes),
        _ => None,
    };
    let (full, rest) = (data.bytes / grf.bytes, data.bytes % grf.bytes);
    let end = full * grf.bytes;
    let long = inside == 0 && full > 0 && (fixed.is_some() || data.align >= grf.bytes);
    match (kind, fixed) {
        // The payload's GRFs as they are.
        (Kind::Store, Some(first)) if !whole => {
            let all = s.vregs.push(VRegData {
                bytes: grfs * grf.bytes,
                align: grf.bytes,
                place: Place::Fixed(first),
                value: None.into(),
            });
            s.whole(Dir::Write, (all, 0), at, grfs, false)
        }
        (Kind::Store, _) if whole => s.whole(Dir::Write, (r, 0), at, grfs, false),
        (Kind::Fill, _) if whole => s.whole(Dir::Read, (r, 0), at, grfs, true),
        (Kind::Store, _) if long => {
            s.whole(Dir::Write, (r, 0), at, full, false)?;
            let t = s.vregs.push(VRegData::anywhere(grf.bytes, grf));
            s.move_bytes((t, 0), (r, end), rest, true);
            s.whole(Dir::Write, (t, 0), at + end, 1, false)
        }
        (Kind::Fill, _) if long => {
            s.whole(Dir::Read, (r, 0), at, full, true)?;
            let t = s.vregs.push(VRegData::anywhere(grf.bytes, grf));
            s.whole(Dir::Read, (t, 0), at + end, 1, true)?;
            s.move_bytes((r, end), (t, 0), rest, false);
            Ok(())
        }
        (Kind::Store, _) => {
            let t = s.vregs.push(VRegData::anywhere(grfs * grf.bytes, grf));
            s.move_between((t, 0), (r, 0), data.bytes);
            s.whole(Dir::Write, (t, 0), at, grfs, false)
        }
        (Kind::Fill, _) => {
            let t = s.vregs.push(VRegData::anywhere(grfs * grf.bytes, grf));
            s.whole(Dir::Read, (t, 0), at, grfs, true)?;
            s.move_between((r, 0), (t, inside), data.bytes);
            Ok(())
        }
    }
}
