//! Relaxes placement constraints of small values.
//!
//! The response to a message must start at a GRF when it arrives, but not for its whole live range.
//! If many small responses fill the GRF file, each is moved at once to a register aligned to its
//! own size. Small values of the thread payload fragment the GRF file where they arrive. They are
//! moved too if demand exceeds the GRF file.

use crate::isel::lower_sends::spill::Scratch;
use crate::mir::insert::{Inserted, insert_into};
use crate::mir::liveness::{Liveness, Occurrences};
use crate::mir::{Access, MInst, RegConstraint, VCode, VReg, VRegData, VirtReg, routines};
use crate::sized;
use crate::target::Target;
use cranelift_entity::SecondaryMap;
use gantry_isa_gen::{Dst, Region, Src};

/// Maximum size of such a value in bytes: one element.
const SMALL: u32 = 4;

/// Clears `may` for registers that an instruction reads other than from their start with the same
/// element in each channel.
fn exclude_other_reads(m: &MInst, may: &mut SecondaryMap<VReg, bool>) {
    let MInst::Op { inst, .. } = m else {
        return m.for_each_vreg(|r, _| may[r] = false);
    };
    for s in &inst.srcs {
        let (at, broadcast) = match *s {
            Src::Direct { at, region, .. } => {
                let one = match region {
                    Region::Rect { vs, hs, .. } => vs == 0 && hs == 0,
                    Region::Ternary { vs, hs } => vs == 0 && hs == 0,
                    Region::Scalar3 { hs } => hs == 0,
                    _ => false,
                };
                (at, one && at.sub == 0 && !inst.op.has_runs())
            }
            Src::Macro { at, .. } => (at, false),
            _ => continue,
        };
        if let (Some(r), false) = (at.reg.as_grf(), broadcast) {
            may[r] = false;
        }
    }
}

/// Moves small responses to registers with less alignment. Returns true if there were any.
pub(in crate::regalloc) fn relax_responses(
    code: &mut VCode,
    origin: &mut Vec<u32>,
    target: &Target,
) -> bool {
    let shared = routines::shared(code);
    let grf = code.grf.bytes;
    let mut may: SecondaryMap<VReg, bool> = sized(code.vregs.len());
    for (r, d) in &code.vregs {
        let small = d.bytes <= SMALL && d.bytes.is_power_of_two() && d.align >= grf;
        may[r] = small && d.constraint == RegConstraint::Any && !shared[r];
    }
    if may.values().all(|m| !m) {
        return false;
    }
    let occurrences = Occurrences::new(code);
    for m in &code.insts {
        exclude_other_reads(m, &mut may);
    }
    let mut found = Vec::new();
    for r in code.vregs.keys().filter(|r| may[*r]) {
        let mut writes = occurrences.of(r).iter().filter(|o| o.access != Access::Use);
        if let (Some(first), None) = (writes.next(), writes.next())
            && first.access == Access::Def
            && let Some(MInst::Op { inst, .. }) = code.insts.get(first.inst as usize)
            && inst.op.is_send()
        {
            found.push((first.inst as usize, r));
        }
    }
    if found.is_empty() {
        return false;
    }
    found.sort_unstable();
    let mut new = Vec::new();
    let mut moves = Vec::new();
    for (at, r) in found {
        let data = code.vregs[r];
        let arrives = code.vregs.push(data);
        code.vregs[r].align = data.bytes;
        if let Some(MInst::Op { inst, .. }) = code.insts.get_mut(at)
            && let Dst::Direct { at, .. } = &mut inst.dst
        {
            at.reg = VirtReg::grf(arrives);
        }
        moves.clear();
        let mut s = Scratch {
            target,
            header: r,
            vregs: &mut code.vregs,
            out: &mut moves,
        };
        s.move_bytes((r, 0), (arrives, 0), data.bytes, true);
        new.extend(moves.iter().map(|&inst| Inserted {
            at: at + 1,
            after: true,
            inst,
        }));
    }
    insert_into(code, new, origin);
    true
}

/// Moves small payload values that are live at the peak to where they do not fragment the GRF file.
/// Does so only if one GRF holds all of them. Returns true if there were any.
pub(in crate::regalloc) fn relax_payload(
    code: &mut VCode,
    live: &Liveness,
    origin: &mut Vec<u32>,
    target: &Target,
) -> bool {
    let grf = code.grf.bytes;
    let shared = routines::shared(code);
    let at = live.peak().0 as u32 * 2;
    let mut may: SecondaryMap<VReg, bool> = sized(code.vregs.len());
    let mut bytes = 0;
    for (r, d) in &code.vregs {
        let small = matches!(d.constraint, RegConstraint::Fixed(at) if at >= grf) && d.bytes < grf;
        if small && !shared[r] && live.lives_at(r, 0) && live.lives_at(r, at) {
            may[r] = true;
            bytes += d.bytes;
        }
    }
    if bytes == 0 || bytes > grf {
        return false;
    }
    for m in &code.insts {
        m.for_each_vreg(|r, access| may[r] &= access == Access::Use);
    }
    let found: Vec<VReg> = code.vregs.keys().filter(|r| may[*r]).collect();
    let mut moves = Vec::new();
    for &r in &found {
        let data = code.vregs[r];
        let arrives = code.vregs.push(data);
        let anywhere = VRegData::anywhere(data.bytes, code.grf);
        code.vregs[r].constraint = RegConstraint::Any;
        code.vregs[r].align = data.align.max(anywhere.align);
        let mut s = Scratch {
            target,
            header: r,
            vregs: &mut code.vregs,
            out: &mut moves,
        };
        s.move_bytes((r, 0), (arrives, 0), data.bytes, true);
    }
    let new = moves.iter().map(|&inst| Inserted {
        at: 0,
        after: false,
        inst,
    });
    insert_into(code, new.collect(), origin);
    !found.is_empty()
}
