//! Coalesces copies before spilling: the registers of a bundle become one register. A loop-carried
//! value then has one slot, and is stored and filled once per iteration. With two registers it
//! would be filled from one slot and stored to the other.

use crate::mir::liveness::Liveness;
use crate::mir::{VCode, VReg, routines};
use crate::regalloc::grf::bundles::Bundles;
use cranelift_entity::SecondaryMap;

/// Renames all registers of a bundle to its root. Returns `None` if no bundle has several
/// registers. Copies within a bundle become copies of a register to itself, which are free.
pub(in crate::regalloc) fn coalesce(code: &VCode, live: &Liveness) -> Option<VCode> {
    let shared = routines::shared(code);
    let mut bundles = Bundles::merge(code, live);
    let mut names: SecondaryMap<VReg, Option<VReg>> = SecondaryMap::new();
    let mut kept = shared.clone();
    let mut members: Vec<(VReg, VReg)> = Vec::new();
    for r in code.vregs.keys() {
        let root = bundles.root(r);
        if root != r {
            members.push((r, root));
            kept[root] |= shared[r];
        }
    }
    members.retain(|m| !kept[m.1]);
    if members.is_empty() {
        return None;
    }
    let mut code = code.clone();
    for &(r, root) in &members {
        names[r] = Some(root);
        code.vregs[root].align = code.vregs[root].align.max(code.vregs[r].align);
    }
    for m in &mut code.insts {
        m.map_vregs(|r, _| names[r].unwrap_or(r));
    }
    // A register of several values has no label that is valid everywhere.
    let mut several: SecondaryMap<VReg, bool> = SecondaryMap::new();
    for (r, root) in members {
        (several[r], several[root]) = (true, true);
    }
    code.labels.retain(|l| !several[l.1]);
    Some(code)
}
