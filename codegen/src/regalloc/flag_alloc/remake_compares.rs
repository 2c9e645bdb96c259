//! Compares that are made again in place of a spill of their flag.
//!
//! A spilled flag costs a move to the GRF file and a move back for each reload. A compare whose
//! operands are unchanged and still live costs as much as the move back. If that holds at all
//! reloads, each becomes the compare, and nothing is spilled.
//!
//! Input: the result of regalloc2 for a routine. The work is linear, but for logarithms.

use super::sink_compares::compare;
use super::{FlagUse, each_named, predicate_is_kept};
use crate::mir::{Access, MInst, RegConstraint, VCode, VReg, VirtReg};
use cranelift_entity::EntitySet;
use gantry_isa_gen::Inst;
use regalloc2::{Allocation, AllocationKind, Edit, InstPosition, Output, ProgPoint};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// Fate of an edit of regalloc2.
#[derive(Clone, Copy)]
pub(super) enum Replacement {
    /// It stays a move.
    Move,
    /// It goes.
    Nothing,
    /// The compare, which writes the flag that the edit writes.
    Compare(Inst<VirtReg>),
}

/// Spill slot.
#[derive(Default)]
struct Slot {
    /// Edit that writes it, and the compare whose flag that is.
    spill: Option<(usize, usize)>,
    /// Edits that read it, and the instructions that they come before.
    reloads: Vec<(usize, usize)>,
    /// Set if more writes it, or reads it where it is.
    other: bool,
}

/// Accesses to registers, by instruction.
type Accesses = BTreeMap<VReg, Vec<(usize, Access)>>;

fn slot(a: Allocation) -> Option<usize> {
    match a.kind() {
        AllocationKind::Stack => a.as_stack().map(|s| s.index()),
        _ => None,
    }
}

/// Registers of a block, each with the compare whose flag it holds, if it holds one.
#[derive(Default)]
struct Holders {
    block: Option<u32>,
    of: SmallVec<[(Allocation, usize); 4]>,
}

impl Holders {
    fn get(&self, a: Allocation) -> Option<usize> {
        self.of.iter().find(|h| h.0 == a).map(|h| h.1)
    }

    fn set(&mut self, a: Allocation, compare: Option<usize>) {
        self.of.retain(|h| h.0 != a);
        self.of.extend(compare.map(|c| (a, c)));
    }

    /// Records the flags that an instruction writes.
    fn instruction(&mut self, m: &MInst, at: usize, allocs: &[Allocation]) {
        if let MInst::Call { .. } = m {
            self.of.clear();
        }
        let alone = compare(m).is_some_and(|(_, keeps)| keeps.is_none());
        let keeps =
            matches!(m, MInst::Op { keeps, .. } if keeps.is_some()) && !predicate_is_kept(m);
        let mut next = 0;
        each_named(m, |_, u| {
            next += usize::from(keeps && u == FlagUse::Write);
            if let (FlagUse::Write, Some(a)) = (u, allocs.get(next)) {
                self.set(*a, alone.then_some(at));
            }
            next += 1;
        });
    }
}

/// Returns the slots of a routine. `insts` are the instructions that regalloc2 knows.
fn slots(code: &VCode, block_of: &[u32], insts: &[u32], output: &Output) -> Vec<Slot> {
    let mut slots: Vec<Slot> = Vec::new();
    slots.resize_with(output.num_spillslots, Slot::default);
    for s in output.allocs.iter().filter_map(|a| slot(*a)) {
        slots[s].other = true;
    }
    let mut held = Holders::default();
    let mut edits = output.edits.iter().enumerate().peekable();
    for (n, &at) in insts.iter().enumerate() {
        let at = at as usize;
        let block = block_of.get(at).copied();
        if std::mem::replace(&mut held.block, block) != block {
            held.of.clear();
        }
        for pos in [InstPosition::Before, InstPosition::After] {
            if pos == InstPosition::After
                && let Some(m) = code.insts.get(at)
            {
                let first = output.inst_alloc_offsets.get(n).map_or(0, |o| *o as usize);
                let own = output.allocs.get(first..).unwrap_or(&[]);
                held.instruction(m, at, own);
            }
            let here =
                |e: &(usize, &(ProgPoint, Edit))| e.1.0.inst().index() == n && e.1.0.pos() == pos;
            while let Some((edit, (_, Edit::Move { from, to }))) = edits.next_if(here) {
                let compare = held.get(*from);
                match (slot(*from), slot(*to)) {
                    (None, Some(s)) => {
                        let s = &mut slots[s];
                        s.other |= compare.is_none() || s.spill.is_some();
                        s.spill = compare.map(|c| (edit, c));
                    }
                    (Some(s), None) => {
                        let after = usize::from(pos == InstPosition::After);
                        slots[s].reloads.push((edit, at + after));
                    }
                    (Some(a), Some(b)) => {
                        slots[a].other = true;
                        slots[b].other = true;
                    }
                    (None, None) => {}
                }
                held.set(*to, compare.filter(|_| slot(*to).is_none()));
            }
        }
    }
    slots.retain(|s| !s.other && s.spill.is_some() && !s.reloads.is_empty());
    slots
}

/// Returns the accesses to the operands of compares.
fn accesses(code: &VCode, slots: &[Slot]) -> Accesses {
    let mut wanted: EntitySet<VReg> = EntitySet::new();
    for (_, at) in slots.iter().filter_map(|s| s.spill) {
        code.insts[at].for_each_vreg(|r, _| {
            wanted.insert(r);
        });
    }
    let mut out = Accesses::new();
    for (i, m) in code.insts.iter().enumerate() {
        m.for_each_vreg(|r, access| {
            if wanted.contains(r) {
                out.entry(r).or_default().push((i, access));
            }
        });
    }
    out
}

/// Returns true if a register has at `at` the value that it had at `from`, and is read later.
/// `here` is set if both are in one block.
fn lives(code: &VCode, all: &Accesses, r: VReg, from: usize, at: usize, here: bool) -> bool {
    let Some(list) = all.get(&r) else {
        return false;
    };
    let writes = |i: &(usize, Access)| i.1 != Access::Use;
    let kept = if here {
        !list.iter().any(|i| writes(i) && i.0 >= from && i.0 < at)
    } else {
        let argument = matches!(code.vregs[r].constraint, RegConstraint::Fixed(_));
        argument && !list.iter().any(writes)
    };
    let next = list.iter().find(|i| i.0 >= at);
    kept && next.is_some_and(|i| i.1 == Access::Use)
}

/// Returns what becomes of each edit. Empty if all stay moves.
pub(super) fn replacements(code: &VCode, insts: &[u32], output: &Output) -> Vec<Replacement> {
    if output.num_spillslots == 0 {
        return Vec::new();
    }
    let block_of = code.block_of();
    let slots = slots(code, &block_of, insts, output);
    if slots.is_empty() {
        return Vec::new();
    }
    let accesses = accesses(code, &slots);
    let mut out = vec![Replacement::Move; output.edits.len()];
    for s in &slots {
        let Some((spill, from)) = s.spill else {
            continue;
        };
        let Some(MInst::Op { inst, .. }) = code.insts.get(from) else {
            continue;
        };
        let lives_at = |&(_, at): &(usize, usize)| {
            let here = at > from && block_of.get(at) == block_of.get(from);
            let mut all = true;
            code.insts[from].for_each_vreg(|r, _| all &= lives(code, &accesses, r, from, at, here));
            all
        };
        if !s.reloads.iter().all(lives_at) {
            continue;
        }
        out[spill] = Replacement::Nothing;
        for &(edit, _) in &s.reloads {
            out[edit] = Replacement::Compare(*inst);
        }
    }
    out
}
