//! Registers that copies join, and that may be in one place, are one register before values leave
//! for scratch: what a loop carries has one slot, and goes there and back once a round. As two
//! registers, it would come from the slot of one to go to that of the other.

use crate::mir::liveness::Liveness;
use crate::mir::{VCode, VReg, routines};
use crate::regalloc::grf::bundles::Bundles;
use cranelift_entity::SecondaryMap;

/// Gives the registers of a bundle one name, if any had another. Copies within it stay, of a
/// register to itself, which nobody counts.
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
    // What a register of several values has is none of them all along.
    let mut several: SecondaryMap<VReg, bool> = SecondaryMap::new();
    for (r, root) in members {
        (several[r], several[root]) = (true, true);
    }
    code.labels.retain(|l| !several[l.1]);
    Some(code)
}
