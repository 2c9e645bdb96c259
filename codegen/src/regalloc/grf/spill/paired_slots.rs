//! Pairs registers that are always accessed near each other before spilling, so that one message
//! transfers both.
//!
//! Both have the same size of whole GRFs. Their reads and writes correspond one to one, each in the
//! same block and a short distance apart. Nothing else is required, since their live ranges
//! differ little.

use super::belady;
use crate::isel::lower_sends;
use crate::mir::liveness::{Liveness, Occurrences};
use crate::mir::{Access, MInst, RegConstraint, VCode, VReg, VRegData, VirtReg, routines};
use crate::target::Target;
use cranelift_entity::SecondaryMap;
use gantry_isa_gen::{Dst, Src};
use std::collections::BTreeMap;

/// Maximum distance, in instructions, between corresponding accesses.
const MAX_DISTANCE: u32 = 24;
/// Minimum gap, in instructions, between two accesses of a register that is likely to be spilled.
const MIN_GAP: u32 = 48;

/// Size in bytes, and per access its block and true for a write. Pairs have equal patterns.
type AccessPattern = (u32, Vec<(u32, bool)>);

/// Returns the spillable registers that only plain instructions name.
fn candidates(code: &VCode, occurrences: &Occurrences, most: u32) -> SecondaryMap<VReg, bool> {
    let grf = code.grf.bytes;
    let shared = routines::shared(code);
    let mut out: SecondaryMap<VReg, bool> = SecondaryMap::new();
    for (r, d) in &code.vregs {
        let whole = d.bytes.is_multiple_of(grf) && d.bytes.is_power_of_two();
        out[r] = whole
            && d.constraint == RegConstraint::Any
            && d.bytes * 2 <= most
            && !shared[r]
            && belady::constant_def(code, occurrences, r).is_none();
    }
    for m in &code.insts {
        match m {
            MInst::Op { inst, .. } => {
                for s in &inst.srcs {
                    if let Src::Macro { at, .. } = s
                        && let Some(r) = at.reg.as_grf()
                    {
                        out[r] = false;
                    }
                }
                if let Dst::Macro { at, .. } = &inst.dst
                    && let Some(r) = at.reg.as_grf()
                {
                    out[r] = false;
                }
            }
            MInst::Start { .. } => {}
            _ => m.for_each_vreg(|r, _| out[r] = false),
        }
    }
    out
}

/// Merges pairs of registers. Returns `None` if there are none.
pub(in crate::regalloc) fn pair(code: &VCode, live: &Liveness, target: &Target) -> Option<VCode> {
    let occurrences = live.occurrences(code);
    let most = lower_sends::spill::Scratch::most(target);
    let may = candidates(code, &occurrences, most);
    let block_of = code.block_of();
    let block = |inst: u32| block_of.get(inst as usize).copied().unwrap_or(0);
    // Visits registers by number, which is mostly program order.
    let mut unpaired: BTreeMap<AccessPattern, VReg> = BTreeMap::new();
    // Per paired register: its partner, the merged register, and the byte offset in that.
    let mut found: SecondaryMap<VReg, Option<(VReg, VReg, u32)>> = SecondaryMap::new();
    let mut any = false;
    for r in code.vregs.keys().filter(|r| may[*r]) {
        let list = occurrences.of(r);
        let gaps = list.windows(2).map(|w| w[1].inst - w[0].inst);
        if gaps.max().is_none_or(|g| g < MIN_GAP) {
            continue;
        }
        let kinds = list
            .iter()
            .map(|o| (block(o.inst), o.access != Access::Use));
        let pattern = (code.vregs[r].bytes, kinds.collect());
        let near = |other: &VReg| {
            let both = list.iter().zip(occurrences.of(*other));
            both.into_iter()
                .all(|(a, b)| a.inst.abs_diff(b.inst) <= MAX_DISTANCE)
        };
        match unpaired.remove(&pattern) {
            Some(first) if near(&first) => {
                found[first] = Some((r, first, 0));
                found[r] = Some((first, first, code.vregs[r].bytes));
                any = true;
            }
            _ => {
                unpaired.insert(pattern, r);
            }
        }
    }
    any.then(|| {
        let mut code = code.clone();
        rewrite(&mut code, live, &found);
        code
    })
}

/// Renames paired registers. A write starts the live range of the merged register if its partner is
/// not live.
fn rewrite(
    code: &mut VCode,
    live: &Liveness,
    found: &SecondaryMap<VReg, Option<(VReg, VReg, u32)>>,
) {
    let alive = |r: VReg, point: u32| live.lives_at(r, point);
    // Stands for an undefined value that starts while the partner is live.
    let undefined = code.vregs.push(VRegData {
        bytes: 1,
        align: 1,
        constraint: RegConstraint::Any,
        value: None.into(),
    });
    for (i, m) in (0u32..).zip(&mut code.insts) {
        match m {
            MInst::Op { inst, starts, .. } => {
                for s in &mut inst.srcs {
                    if let Src::Direct { at, .. } = s
                        && let Some(r) = at.reg.as_grf()
                        && let Some((_, name, offset)) = found[r]
                    {
                        at.reg = VirtReg::grf(name);
                        at.sub += offset as u16;
                    }
                }
                if let Dst::Direct { at, .. } = &mut inst.dst
                    && let Some(r) = at.reg.as_grf()
                    && let Some((other, name, offset)) = found[r]
                {
                    at.reg = VirtReg::grf(name);
                    at.sub += offset as u16;
                    *starts &= !alive(other, i * 2 + 1);
                }
            }
            MInst::Start { dst } => {
                if let Some((other, name, _)) = found[*dst] {
                    *dst = if alive(other, i * 2 + 1) {
                        undefined
                    } else {
                        name
                    };
                }
            }
            _ => m.map_vregs(|r, _| found[r].map_or(r, |f| f.1)),
        }
    }
    let mut several: SecondaryMap<VReg, bool> = SecondaryMap::new();
    for (r, data) in code.vregs.iter_mut() {
        if let Some((_, name, _)) = found[r] {
            several[r] = true;
            // The merged register has two IR values, so it is labelled with neither.
            data.value = None.into();
            if r == name {
                data.bytes *= 2;
            }
        }
    }
    code.labels.retain(|l| !several[l.1]);
}
