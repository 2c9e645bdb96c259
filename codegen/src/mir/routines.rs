//! Routines of a kernel: payload registers that subroutines read, and registers that are live while
//! they run.

use crate::mir::insert::{Inserted, insert};
use crate::mir::{MInst, RegConstraint, Routine, VCode, VReg};
use crate::target::abi::MAX_ROUTINES;
use cranelift_entity::{EntityRef, EntitySet, SecondaryMap};

/// Marks payload registers that a subroutine reads as read at its calls, so that they are kept up
/// to there.
///
/// The thread header is always marked: spill code may read it later. If a call is in an endless
/// loop, no instruction after the loop reads it.
pub(crate) fn keep_payload(code: &mut VCode) {
    let calls = code.calls();
    if calls.is_empty() {
        return;
    }
    // Callees come after their callers. In reverse order, the needs of callees are known first.
    let mut needs: SecondaryMap<Routine, Vec<VReg>> = SecondaryMap::new();
    for routine in code.routines.keys().rev() {
        let mut seen: EntitySet<VReg> = EntitySet::new();
        let mut list = Vec::new();
        let mut need = |r: VReg, list: &mut Vec<VReg>| {
            if seen.insert(r) {
                list.push(r);
            }
        };
        if let Some(header) = code.header() {
            need(header, &mut list);
        }
        let insts = code.routine_insts(routine);
        for m in &code.insts[insts] {
            m.for_each_vreg(|r, _| {
                if matches!(code.vregs[r].constraint, RegConstraint::Fixed(_)) {
                    need(r, &mut list);
                }
            });
            if let MInst::Call { routine, .. } = m {
                needs[*routine].iter().for_each(|&r| need(r, &mut list));
            }
        }
        needs[routine] = list;
    }
    let reads = |&(at, routine): &(usize, Routine)| {
        let of = needs[routine].iter();
        of.map(move |&reg| Inserted {
            at,
            after: false,
            inst: MInst::Touch { reg, write: false },
        })
    };
    let new: Vec<Inserted> = calls.iter().flat_map(reads).collect();
    insert(code, new);
}

/// Marks the return address as read at the start of a routine that never returns. A call writes it
/// while the routine's parameters are live already. Nothing else in the routine would show that.
pub(crate) fn keep_links(code: &mut VCode) {
    let calls = code.calls();
    if calls.is_empty() {
        return;
    }
    let mut returns: EntitySet<Routine> = EntitySet::new();
    for routine in code.routines.keys() {
        let insts = &code.insts[code.routine_insts(routine)];
        if insts.iter().any(|m| matches!(m, MInst::Return { .. })) {
            returns.insert(routine);
        }
    }
    let mut new = Vec::new();
    for &(at, routine) in &calls {
        if let Some(MInst::Call { link, .. }) = code.insts.get(at)
            && returns.insert(routine)
        {
            new.push(Inserted {
                at: code.routine_insts(routine).start,
                after: false,
                inst: MInst::Touch {
                    reg: *link,
                    write: false,
                },
            });
        }
    }
    // Callees come after their callers, but not in the order of their calls.
    new.sort_by_key(|n| n.at);
    insert(code, new);
}

/// Returns for each routine those that run while it runs, in order: itself and its callees, at any
/// depth.
pub(crate) fn running(code: &VCode) -> SecondaryMap<Routine, Vec<Routine>> {
    let mut out: SecondaryMap<Routine, Vec<Routine>> = SecondaryMap::new();
    for routine in code.routines.keys().rev() {
        let mut all = vec![routine];
        let insts = code.routine_insts(routine);
        for m in &code.insts[insts] {
            if let MInst::Call { routine, .. } = m {
                all.extend_from_slice(&out[*routine]);
                // Limits the list if there are many calls of routines with many callees.
                if all.len() > 4 * MAX_ROUTINES {
                    all.sort_unstable();
                    all.dedup();
                }
            }
        }
        all.sort_unstable();
        all.dedup();
        out[routine] = all;
    }
    out
}

/// Returns the registers that must keep their position: those that instructions of several routines
/// name, and those whose address is passed.
pub(crate) fn shared(code: &VCode) -> SecondaryMap<VReg, bool> {
    let mut out = SecondaryMap::new();
    if code.routines.len() < 2 {
        return out;
    }
    let mut owner: SecondaryMap<VReg, Option<Routine>> = SecondaryMap::new();
    for routine in code.routines.keys() {
        let insts = code.routine_insts(routine);
        for m in &code.insts[insts] {
            m.for_each_vreg(|r, _| match owner[r] {
                None => owner[r] = Some(routine),
                Some(other) => out[r] |= other != routine,
            });
            if let MInst::RegAddress { base, .. } = *m {
                out[base] = true;
            }
        }
    }
    out
}

/// Returns the routine of each block.
pub(crate) fn of_blocks(code: &VCode) -> Vec<Routine> {
    let mut out = vec![Routine::new(0); code.blocks.len()];
    for (r, d) in &code.routines {
        if let Some(blocks) = out.get_mut(d.first as usize..d.end as usize) {
            blocks.fill(r);
        }
    }
    out
}
