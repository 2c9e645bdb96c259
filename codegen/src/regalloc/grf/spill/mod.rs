//! Spilling: lowers the demand of code until it fits the GRF file.
//!
//! [`belady`] decides which registers are in the GRF file at each point. Its edits become spills,
//! fills and rematerialized constants, and spilled registers get slots. The parts of a live range
//! that remain in the GRF file become registers of their own ([`live_range_split`]).
//!
//! Input: [`VCode`] and its liveness. Output: the code with the edits, its liveness, and the
//! scratch that it uses.

mod belady;
pub(in crate::regalloc) mod copy_webs;
mod live_range_split;
pub(in crate::regalloc) mod paired_slots;
mod resident;

use super::fragmentation::Fragmentation;
use crate::error::CodegenError;
use crate::ir::MAX_SCRATCH;
use crate::isel::lower_sends;
use crate::mir::insert::{Inserted, NEW};
use crate::mir::liveness::Liveness;
use crate::mir::logical::Dir;
use crate::mir::{
    Access, MInst, RegConstraint, Routine, VCode, VReg, VRegData, insert, liveness, routines,
};
use crate::regalloc::AllocEnv;
use crate::regalloc::report::{SpilledValue, held};
use belady::BeladyScan;
use cranelift_entity::{EntityRef, EntitySet, SecondaryMap};
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};

/// Kind of an edit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum EditKind {
    /// Load from the slot.
    Fill,
    /// Store to the slot.
    Spill,
}

/// Position of an edit among others before the same instruction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum EditOrder {
    /// Right after the previous instruction.
    After,
    /// At a block's start, on an edge into it.
    Edge,
    /// Right before the instruction.
    Before,
    /// At a block's end, on an edge out of it.
    Last,
}

/// Load of a register from its slot, or store to it.
#[derive(Clone, Copy, Debug)]
struct SpillEdit {
    /// Instruction that the edit is inserted before.
    at: u32,
    order: EditOrder,
    kind: EditKind,
    reg: VReg,
}

/// Statistics of spilling.
#[derive(Clone, Debug, Default)]
pub struct Spilled {
    /// Bytes of scratch per thread, including the kernel's own.
    pub scratch: u32,
    /// Bytes of scratch for spilled registers.
    pub bytes: u32,
    /// Number of registers with a slot.
    pub registers: u32,
    /// Number of fill instructions.
    pub fills: u32,
    /// Number of store instructions.
    pub stores: u32,
    /// Number of rematerialized constants.
    pub remats: u32,
    /// Number of times that an undefined value left the GRF file. It takes no slot.
    pub undefined: u32,
    /// Report of each spilled value, if requested.
    pub values: Vec<SpilledValue>,
}

impl Spilled {
    /// Returns true if no value left the GRF file.
    pub fn is_empty(&self) -> bool {
        self.registers + self.remats + self.undefined == 0
    }

    /// Adds the statistics of later spilling, whose slots follow these in scratch.
    pub(in crate::regalloc) fn add(&mut self, later: Spilled) {
        self.scratch = self.scratch.max(later.scratch);
        self.bytes += later.bytes;
        self.registers += later.registers;
        self.fills += later.fills;
        self.stores += later.stores;
        self.remats += later.remats;
        self.undefined += later.undefined;
        self.values.extend(later.values);
    }
}

/// Returns the bytes that scratch messages need besides the data: a header, and a GRF for data
/// smaller than one.
pub(in crate::regalloc) fn message_reserve(code: &VCode) -> u32 {
    2 * code.grf.bytes
}

/// Spills until at most `cap` bytes are live at every instruction, as far as single instructions
/// allow. `origin` is updated with the original index of each instruction.
///
/// # Errors
/// Returns an error if the slots exceed the scratch of a thread, or if the platform lacks the
/// messages.
pub(in crate::regalloc) fn spill_to_fit(
    name: &str,
    code: &VCode,
    live: &Liveness,
    env: AllocEnv<'_>,
    cap: u32,
    origin: &mut Vec<u32>,
) -> Result<(VCode, Liveness, Spilled), CodegenError> {
    let unspillable = unspillable_regs(code);
    let reserved = reserved(code, live, &unspillable, cap);
    let mut scan = BeladyScan::new(code, live, &unspillable, reserved, cap);
    // If the whole GRF file is to be used, fragmentation is taken into account.
    if cap == env.grfs.min(code.grf.count) * code.grf.bytes {
        scan.unusable = Fragmentation::of_registers(code, live)
            .unusable_bytes(cap)
            .unwrap_or_default();
    }
    scan.run();
    let BeladyScan {
        info,
        mut edits,
        left,
        ..
    } = scan;
    edits.retain(|e| info[e.reg].bytes > 0);
    apply(name, code, live, env, (&edits, Some(&left)), origin)
}

/// Spills registers everywhere: each instruction that names one loads and stores it.
///
/// # Errors
/// Returns an error if the slots exceed the scratch of a thread, or if the platform lacks the
/// messages.
pub(in crate::regalloc) fn spill_everywhere(
    name: &str,
    code: &VCode,
    live: &Liveness,
    env: AllocEnv<'_>,
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
                edits.push(SpillEdit {
                    at,
                    order: EditOrder::Before,
                    kind: EditKind::Fill,
                    reg,
                });
            }
            if of.any(|x| x.1 != Access::Use) {
                edits.push(SpillEdit {
                    at: at + 1,
                    order: EditOrder::After,
                    kind: EditKind::Spill,
                    reg,
                });
            }
        }
    }
    edits.sort_by_key(|e| (e.at, e.order));
    apply(name, code, live, env, (&edits, None), origin)
}

/// Inserts edits into code. Given the instructions that registers left for, constants are
/// rematerialized and have no slots.
fn apply(
    name: &str,
    code: &VCode,
    live: &Liveness,
    env: AllocEnv<'_>,
    (edits, left): (&[SpillEdit], Option<&SecondaryMap<VReg, Option<u32>>>),
    origin: &mut Vec<u32>,
) -> Result<(VCode, Liveness, Spilled), CodegenError> {
    let AllocEnv {
        target, scratch, ..
    } = env;
    let occurrences = live.occurrences(code);
    let stored: BTreeSet<VReg> = edits
        .iter()
        .filter(|e| e.kind == EditKind::Spill)
        .map(|e| e.reg)
        .collect();
    let (slots, end) = assign_slots(code, live, &stored, scratch);
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
    if env.report {
        let at = |r| left.and_then(|l| l[r]);
        let by = edits.iter().map(|e| (e.reg, at(e.reg)));
        values.extend(by.map(|(r, at)| (r, report_value(code, live, (r, at), slots[r], origin))));
    }
    let mut new: Vec<Inserted> = Vec::new();
    let mut insts: Vec<MInst> = Vec::new();
    let header = header(code);
    // GRFs of the payload that are stored already.
    let mut payload: BTreeSet<u32> = BTreeSet::new();
    for e in edits {
        insts.clear();
        let again = left.and_then(|_| belady::constant_def(code, &occurrences, e.reg));
        match (e.kind, again) {
            (EditKind::Fill, Some(m)) => {
                insts.push(*m);
                spilled.remats += 1;
                if let Some(v) = values.get_mut(&e.reg) {
                    v.remats += 1;
                }
            }
            (EditKind::Spill, Some(_)) => {}
            (kind, None) => {
                let mut s = lower_sends::spill::Scratch {
                    target,
                    header,
                    vregs: &mut vregs,
                    out: &mut insts,
                };
                let Some(slot) = slots[e.reg] else {
                    // Never stored, so that no byte of it is defined.
                    spilled.undefined += 1;
                    new.push(Inserted {
                        at: e.at as usize,
                        after: e.order == EditOrder::After,
                        inst: MInst::Start { dst: e.reg },
                    });
                    continue;
                };
                let fixed = matches!(code.vregs[e.reg].constraint, RegConstraint::Fixed(_));
                if fixed && kind == EditKind::Spill && !payload.insert(slot / code.grf.bytes) {
                    continue;
                }
                lower_edit(&mut s, kind, e.reg, slot, code.vregs[e.reg])
                    .map_err(|m| CodegenError::internal(name, m))?;
                let mut own = (0, 0);
                let (all, one) = match kind {
                    EditKind::Fill => (&mut spilled.fills, &mut own.0),
                    EditKind::Spill => (&mut spilled.stores, &mut own.1),
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
            after: e.order == EditOrder::After,
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
    // Live ranges across calls have changed.
    let live = match out.routines.len() {
        0 | 1 => live.renamed(&names),
        _ => liveness::liveness(name, &out)?,
    };
    debug_assert!(liveness::liveness(name, &out).is_ok_and(|l| l.same(&live)));
    Ok((out, live, spilled))
}

/// Returns the report of a spilled register and of the instruction that it was first spilled for.
fn report_value(
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
    // An inserted instruction counts as the next original one.
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

/// Returns the thread header, which is the header of every scratch message.
fn header(code: &VCode) -> VReg {
    code.header().unwrap_or(VReg::new(0))
}

/// Returns the registers that are never spilled. These are the thread header, which spilling needs,
/// registers with fixed or minimal places, and those that callers and subroutines share. Payload
/// registers outside the header may be spilled.
fn unspillable_regs(code: &VCode) -> SecondaryMap<VReg, bool> {
    let mut out = routines::shared(code);
    out.resize(code.vregs.len());
    out[header(code)] = true;
    for (r, d) in &code.vregs {
        out[r] |= match d.constraint {
            RegConstraint::AtLeast(_) => true,
            // In the thread header.
            RegConstraint::Fixed(at) => at < code.grf.bytes,
            RegConstraint::Any => false,
        };
    }
    out
}

/// Returns the bytes of unspillable registers per instruction.
fn unspillable_bytes(
    code: &VCode,
    live: &Liveness,
    unspillable: &SecondaryMap<VReg, bool>,
) -> Vec<u32> {
    let mut delta = vec![0i64; code.insts.len() + 1];
    for (r, data) in code.vregs.iter().filter(|(r, _)| unspillable[*r]) {
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

/// Returns the minimum demand of each instruction in bytes: unspillable registers, its own
/// operands, and registers whose address is in use. A call needs at least what any instruction of
/// the routine needs.
fn min_demand(
    code: &VCode,
    unspillable: &SecondaryMap<VReg, bool>,
    unspillable_regs: &[u32],
) -> Vec<u32> {
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
        let own = all.into_iter().filter(|r| !unspillable[*r]);
        let data = own.map(|r| code.vregs[r]);
        data.map(|d| d.bytes.next_multiple_of(d.align.max(1))).sum()
    };
    let named: Vec<u32> = code.insts.iter().map(named).collect();
    let mut out: Vec<u32> = (unspillable_regs.iter().zip(named))
        .map(|(s, n)| s + n)
        .collect();
    let calls = code.calls();
    let mut least: SecondaryMap<Routine, u32> = SecondaryMap::new();
    // Callees come after their callers.
    for routine in code.routines.keys().rev() {
        let insts = code.routine_insts(routine);
        let first = calls.partition_point(|c| c.0 < insts.start);
        let own = calls.iter().skip(first);
        for &(i, called) in own.take_while(|c| c.0 < insts.end) {
            if let (Some(o), Some(s)) = (out.get_mut(i), unspillable_regs.get(i)) {
                *o = (*o).max(s + least[called]);
            }
        }
        least[routine] = out[insts].iter().copied().max().unwrap_or(0);
    }
    out
}

/// Returns the instruction with the highest minimum demand, and that demand in bytes. It includes
/// what scratch messages need. Everything live at the first instruction counts there, since nothing
/// can be stored before it.
pub(in crate::regalloc) fn largest_instruction(code: &VCode, live: &Liveness) -> (usize, u32) {
    let unspillable = unspillable_regs(code);
    let mut all = min_demand(
        code,
        &unspillable,
        &unspillable_bytes(code, live, &unspillable),
    );
    let begins = liveness::demand(code, &live.ranges);
    if let (Some(first), Some(begins)) = (all.first_mut(), begins.first()) {
        *first = (*first).max(begins.peak());
    }
    let most = all.into_iter().enumerate().max_by_key(|x| (x.1, x.0));
    let (at, bytes) = most.unwrap_or((0, 0));
    (at, bytes + message_reserve(code))
}

/// Returns per instruction the bytes of unspillable registers and the bytes that a called routine
/// may need.
fn reserved(
    code: &VCode,
    live: &Liveness,
    unspillable: &SecondaryMap<VReg, bool>,
    cap: u32,
) -> Vec<u32> {
    let mut out = unspillable_bytes(code, live, unspillable);
    let calls = code.calls();
    if calls.is_empty() {
        return out;
    }
    // Peak demand of each routine and its callees. If that is high, the minimum that spilling
    // leaves. Callees come after their callers.
    let own = liveness::demand(code, &live.ranges);
    let minimum = min_demand(code, unspillable, &out);
    let mut need: SecondaryMap<Routine, u32> = SecondaryMap::new();
    for routine in code.routines.keys().rev() {
        let insts = code.routine_insts(routine);
        let peaks = own[insts.clone()].iter();
        let mut most = peaks.map(|d| d.peak()).max().unwrap_or(0);
        let first = calls.partition_point(|c| c.0 < insts.start);
        for &(i, called) in calls.iter().skip(first).take_while(|c| c.0 < insts.end) {
            let across = own.get(i).map_or(0, |d| d.during);
            most = most.max(across + need[called]);
        }
        let least = minimum[insts].iter().max();
        let least = least.map_or(0, |l| l + message_reserve(code));
        need[routine] = most.min(least.max(cap / 2)).min(cap);
    }
    for routine in code.routines.keys().skip(1) {
        // A routine may use its share wherever it is called from.
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

/// Returns a slot in scratch for each stored register, and the end of the last slot, both in bytes.
/// Registers that are never live at the same time may share a slot. Payload registers in the same
/// GRFs share these GRFs' slots.
fn assign_slots(
    code: &VCode,
    live: &Liveness,
    stored: &BTreeSet<VReg>,
    scratch: u32,
) -> (SecondaryMap<VReg, Option<u32>>, u32) {
    let grf = code.grf.bytes;
    let mut out: SecondaryMap<VReg, Option<u32>> = SecondaryMap::with_capacity(code.vregs.len());
    let mut end = scratch.next_multiple_of(grf);
    let mut payload: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    // Registers by start of their live range. Per size, slots and the points from which on they are
    // free.
    let mut all: Vec<(u32, u32, VReg)> = Vec::new();
    for &r in stored {
        let data = code.vregs[r];
        if let RegConstraint::Fixed(at) = data.constraint {
            let first = at / grf * grf;
            let bytes = (at + data.bytes).next_multiple_of(grf) - first;
            // Runs of GRFs with the same start share a slot if they have the same length.
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
        // Each routine has its own slots.
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

/// Lowers an edit to instructions. Data smaller than a GRF goes through a temporary GRF. The
/// partial last GRF of a longer register does so too, while the rest is transferred directly.
fn lower_edit(
    s: &mut lower_sends::spill::Scratch<'_>,
    kind: EditKind,
    r: VReg,
    slot: u32,
    data: VRegData,
) -> Result<(), gantry_isa_gen::message::MessageError> {
    let grf = s.target.grf();
    let inside = slot % grf.bytes;
    let at = slot - inside;
    let grfs = grf.hold(inside + data.bytes);
    let whole = inside == 0 && data.bytes.is_multiple_of(grf.bytes);
    let fixed = match data.constraint {
        RegConstraint::Fixed(at) => Some(at - at % grf.bytes),
        _ => None,
    };
    let (full, rest) = (data.bytes / grf.bytes, data.bytes % grf.bytes);
    let end = full * grf.bytes;
    let long = inside == 0 && full > 0 && (fixed.is_some() || data.align >= grf.bytes);
    match (kind, fixed) {
        // Stores the GRFs of the payload as they are.
        (EditKind::Spill, Some(first)) if !whole => {
            let all = s.vregs.push(VRegData {
                bytes: grfs * grf.bytes,
                align: grf.bytes,
                constraint: RegConstraint::Fixed(first),
                value: None.into(),
            });
            s.whole(Dir::Write, (all, 0), at, grfs, false)
        }
        (EditKind::Spill, _) if whole => s.whole(Dir::Write, (r, 0), at, grfs, false),
        (EditKind::Fill, _) if whole => s.whole(Dir::Read, (r, 0), at, grfs, true),
        (EditKind::Spill, _) if long => {
            s.whole(Dir::Write, (r, 0), at, full, false)?;
            let t = s.vregs.push(VRegData::anywhere(grf.bytes, grf));
            s.move_bytes((t, 0), (r, end), rest, true);
            s.whole(Dir::Write, (t, 0), at + end, 1, false)
        }
        (EditKind::Fill, _) if long => {
            s.whole(Dir::Read, (r, 0), at, full, true)?;
            let t = s.vregs.push(VRegData::anywhere(grf.bytes, grf));
            s.whole(Dir::Read, (t, 0), at + end, 1, true)?;
            s.move_bytes((r, end), (t, 0), rest, false);
            Ok(())
        }
        (EditKind::Spill, _) => {
            let t = s.vregs.push(VRegData::anywhere(grfs * grf.bytes, grf));
            s.move_between((t, 0), (r, 0), data.bytes);
            s.whole(Dir::Write, (t, 0), at, grfs, false)
        }
        (EditKind::Fill, _) => {
            let t = s.vregs.push(VRegData::anywhere(grfs * grf.bytes, grf));
            s.whole(Dir::Read, (t, 0), at, grfs, true)?;
            s.move_between((r, 0), (t, inside), data.bytes);
            Ok(())
        }
    }
}
