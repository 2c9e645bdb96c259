//! The routines of a kernel: what its subroutines need of it, and what of its values lives while
//! they run.

use crate::mir::insert::{Inserted, insert};
use crate::mir::{MInst, Place, Routine, VCode, VReg};
use crate::target::abi::MAX_ROUTINES;
use cranelift_entity::{EntityRef, EntitySet, SecondaryMap};

/// Marks what subroutines read of the thread's payload as read where they are called, so that it is
/// kept up to there; and the thread's header always: spilling may come to read it, and where a call
/// is in a loop without end, nothing behind the loop does.
pub(crate) fn keep_payload(code: &mut VCode) {
    let calls = code.calls();
    if calls.is_empty() {
        return;
    }
    // Those called come behind their callers: the last ones need what they need themselves.
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
        for m in code.insts.get(insts).unwrap_or(&[]) {
            m.for_each_vreg(|r, _| {
                if matches!(code.vregs[r].place, Place::Fixed(_)) {
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

/// Marks the way back as read where a routine begins that never returns. A call writes it where the
/// routine's parameters live already; nothing else of the routine would say so.
pub(crate) fn keep_links(code: &mut VCode) {
    let calls = code.calls();
    if calls.is_empty() {
        return;
    }
    let mut returns: EntitySet<Routine> = EntitySet::new();
    for routine in code.routines.keys() {
        let insts = code.insts.get(code.routine_insts(routine)).unwrap_or(&[]);
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
    // Callees come behind their callers, but not in the order of their calls.
    new.sort_by_key(|n| n.at);
    insert(code, new);
}

/// For each routine those that run while it runs: itself, and what it calls, at any depth; in
/// order.
pub(crate) fn running(code: &VCode) -> SecondaryMap<Routine, Vec<Routine>> {
    let mut out: SecondaryMap<Routine, Vec<Routine>> = SecondaryMap::new();
    for routine in code.routines.keys().rev() {
        let mut all = vec![routine];
        let insts = code.routine_insts(routine);
        for m in code.insts.get(insts).unwrap_or(&[]) {
            if let MInst::Call { routine, .. } = m {
                all.extend_from_slice(&out[*routine]);
                // Many calls of many: not one list of all of them.
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

/// The registers that stay where they are: those that instructions of several routines name, and
/// those that are passed by where they are.
pub(crate) fn shared(code: &VCode) -> SecondaryMap<VReg, bool> {
    let mut out = SecondaryMap::new();
    if code.routines.len() < 2 {
        return out;
    }
    let mut owner: SecondaryMap<VReg, Option<Routine>> = SecondaryMap::new();
    for routine in code.routines.keys() {
        let insts = code.routine_insts(routine);
        for m in code.insts.get(insts).unwrap_or(&[]) {
            m.for_each_vreg(|r, _| match owner[r] {
                None => owner[r] = Some(routine),
                Some(other) => out[r] |= other != routine,
            });
            if let MInst::PlaceOf { base, .. } = *m {
                out[base] = true;
            }
        }
    }
    out
}

/// The routine of each block.
pub(crate) fn of_blocks(code: &VCode) -> Vec<Routine> {
    let mut out = vec![Routine::new(0); code.blocks.len()];
    for (r, d) in &code.routines {
        if let Some(blocks) = out.get_mut(d.first as usize..d.end as usize) {
            blocks.fill(r);
        }
    }
    out
}
