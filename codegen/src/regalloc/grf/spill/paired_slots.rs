//! Registers that are always read and written near each other become one before values leave for
//! scratch, so that one message moves both.
//!
//! They are as large as each other and whole GRFs, and their reads and writes are as many, of the
//! same kind, each in the same block as the other's and not far from it. Nothing else is asked of
//! them: what is left over of one while the other lives is little.

use super::belady;
use crate::isel::lower_sends;
use crate::mir::liveness::{Liveness, Occurrences};
use crate::mir::{Access, MInst, Place, VCode, VReg, VRegData, VirtReg, routines};
use crate::target::Target;
use cranelift_entity::SecondaryMap;
use gantry_isa_gen::{Dst, Src};
use std::collections::BTreeMap;

/// How far apart, in instructions, what two registers are in for may be.
const NEAR: u32 = 24;
/// Registers that nobody names for so many instructions are those that may leave.
const LONG: u32 = 48;

/// What must be equal: size, and per occurrence its block and whether it writes.
type Shape = (u32, Vec<(u32, bool)>);

/// Registers in the file that only plain instructions name, and that may go to scratch.
fn candidates(code: &VCode, occurrences: &Occurrences, most: u32) -> SecondaryMap<VReg, bool> {
    let grf = code.grf.bytes;
    let shared = routines::shared(code);
    let mut out: SecondaryMap<VReg, bool> = SecondaryMap::new();
    for (r, d) in &code.vregs {
        let whole = d.bytes.is_multiple_of(grf) && d.bytes.is_power_of_two();
        out[r] = whole
            && d.place == Place::Any
            && d.bytes * 2 <= most
            && !shared[r]
            && belady::remat(code, occurrences, r).is_none();
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

/// Makes registers of pairs of them, if there are any.
pub(in crate::regalloc) fn pair(code: &VCode, live: &Liveness, target: &Target) -> Option<VCode> {
    let occurrences = live.occurrences(code);
    let most = lower_sends::spill::Scratch::most(target);
    let may = candidates(code, &occurrences, most);
    let block_of = code.block_of();
    let block = |inst: u32| block_of.get(inst as usize).copied().unwrap_or(0);
    // In the order of their numbers, which is mostly that of the program.
    let mut waiting: BTreeMap<Shape, VReg> = BTreeMap::new();
    // Per register of a pair: the other, the one that stands for both, and where it is in that.
    let mut found: SecondaryMap<VReg, Option<(VReg, VReg, u32)>> = SecondaryMap::new();
    let mut any = false;
    for r in code.vregs.keys().filter(|r| may[*r]) {
        let list = occurrences.of(r);
        let gaps = list.windows(2).map(|w| w[1].inst - w[0].inst);
        if gaps.max().is_none_or(|g| g < LONG) {
            continue;
        }
        let kinds = list
            .iter()
            .map(|o| (block(o.inst), o.access != Access::Use));
        let shape = (code.vregs[r].bytes, kinds.collect());
        let near = |other: &VReg| {
            let both = list.iter().zip(occurrences.of(*other));
            both.into_iter()
                .all(|(a, b)| a.inst.abs_diff(b.inst) <= NEAR)
        };
        match waiting.remove(&shape) {
            Some(first) if near(&first) => {
                found[first] = Some((r, first, 0));
                found[r] = Some((first, first, code.vregs[r].bytes));
                any = true;
            }
            _ => {
                waiting.insert(shape, r);
            }
        }
    }
    any.then(|| {
        let mut code = code.clone();
        rewrite(&mut code, live, &found);
        code
    })
}

/// Gives the registers of pairs their names. A write begins the value of both where the other has
/// none.
fn rewrite(
    code: &mut VCode,
    live: &Liveness,
    found: &SecondaryMap<VReg, Option<(VReg, VReg, u32)>>,
) {
    let alive = |r: VReg, point: u32| live.lives_at(r, point);
    // A value that begins beside the other's, undefined.
    let nothing = code.vregs.push(VRegData {
        bytes: 1,
        align: 1,
        place: Place::Any,
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
                        nothing
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
            // Of two values it is neither.
            data.value = None.into();
            if r == name {
                data.bytes *= 2;
            }
        }
    }
    code.labels.retain(|l| !several[l.1]);
}
