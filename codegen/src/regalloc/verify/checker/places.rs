//! Checks that registers have valid places: within the GRF file, aligned, and as their constraints
//! require.

use super::{CheckResult, Checker};
use crate::mir::{MInst, RegConstraint, VReg, VirtReg};
use gantry_isa_gen::{Dst, Op, Region, Src};

impl Checker<'_> {
    /// Checks every register that an instruction names.
    pub(super) fn check_places(&self) -> CheckResult {
        let code = &self.after.code;
        let mut places: Vec<(VReg, u32)> = Vec::new();
        let mut spans: Vec<(u32, u32)> = Vec::new();
        // Registers whose address was loaded, and their places at that time.
        let mut loaded: Vec<(VReg, u32)> = Vec::new();
        for (i, m) in code.insts.iter().enumerate() {
            let say = |e: String| format!("instruction {i} (`{m}`) {e}");
            places.clear();
            spans.clear();
            let mut wrong = None;
            self.spans(code).each(m, |r, bytes, _| {
                let at = self.place(r);
                places.push((r, at + bytes.start));
                spans.push((at + bytes.start, at + bytes.end));
                let data = &code.vregs[r];
                if wrong.is_none() && at.saturating_add(data.bytes) > code.grf.size() {
                    wrong = Some(format!("has {r} at byte {at}, beyond the GRF file"));
                } else if wrong.is_none() && !is_valid(data.constraint, data.align, at) {
                    wrong = Some(format!("has {r} at byte {at}, where it may not be"));
                }
            });
            if let Some(e) = wrong {
                return Err(say(e));
            }
            // The PRM does not allow a response in r127 to overlap the payload.
            if let (MInst::Op { inst, .. }, &[.., payload, response]) = (m, &spans[..])
                && matches!(inst.op, Op::Send | Op::Sendc)
                && matches!(inst.dst, Dst::Direct { at, .. } if at.reg.is_grf())
                && response.1 == code.grf.size()
                && payload.1 > response.0
            {
                return Err(say(
                    "has its response in the last register and over its payload".to_owned(),
                ));
            }
            if let MInst::Copy { dst, src } = m
                && code.vregs[*dst].bytes != code.vregs[*src].bytes
            {
                return Err(say("copies between registers of two sizes".to_owned()));
            }
            let Some(was) = self.original(i).and_then(|n| self.before.insts.get(n)) else {
                continue;
            };
            match (was, m) {
                (
                    &MInst::LoadAddress {
                        base: Some(base), ..
                    },
                    &MInst::LoadAddress {
                        base: Some(now), ..
                    },
                )
                | (&MInst::RegAddress { base, .. }, &MInst::RegAddress { base: now, .. }) => {
                    loaded.push((base, self.place(now)));
                }
                (&MInst::Touch { reg, .. }, &MInst::Touch { reg: now, .. }) => {
                    let moved = |l: &&(VReg, u32)| l.0 == reg && l.1 != self.place(now);
                    if let Some((_, at)) = loaded.iter().find(moved) {
                        return Err(say(format!("is of {reg}, whose address was byte {at}")));
                    }
                    loaded.retain(|l| l.0 != reg);
                }
                _ => {}
            }
            let mut n = 0;
            self.spans(self.before).each(was, |r, bytes, _| {
                let place = places.get(n).copied();
                n += 1;
                let Some((now, place)) = place.filter(|_| wrong.is_none()) else {
                    return;
                };
                let data = &self.before.vregs[r];
                let start = place.wrapping_sub(bytes.start);
                let of_place = match data.constraint {
                    // The state tracks where the value is later.
                    RegConstraint::Fixed(_) => RegConstraint::Any,
                    other => other,
                };
                let align = match data.constraint {
                    RegConstraint::Fixed(_) => 1,
                    _ if data.bytes <= 4 && data.bytes.is_power_of_two() && one_element(was, r) => {
                        data.align.min(data.bytes)
                    }
                    _ => data.align,
                };
                let named = matches!(was, MInst::Start { .. } | MInst::Touch { .. });
                if !named && !is_valid(of_place, align, start) {
                    wrong = Some(format!(
                        "has {r} as {now} at byte {start}, where it may not be"
                    ));
                }
            });
            if let Some(e) = wrong {
                return Err(say(e));
            }
        }
        Ok(())
    }
}

/// Returns true if an instruction only reads a register from its start, with the same element in
/// every channel. Such a read needs only the alignment of the element, wherever the value comes
/// from.
fn one_element(m: &MInst, r: VReg) -> bool {
    let MInst::Op { inst, .. } = m else {
        return false;
    };
    let written = matches!(inst.dst, Dst::Direct { at, .. } | Dst::Macro { at, .. } if at.reg == VirtReg::grf(r));
    let mut all = inst.srcs.iter();
    !inst.op.has_runs()
        && !written
        && all.all(|s| match *s {
            Src::Direct { at, region, .. } if at.reg == VirtReg::grf(r) => match region {
                Region::Rect { vs, hs, .. } => (vs, hs, at.sub) == (0, 0, 0),
                Region::Ternary { vs, hs } => (vs, hs, at.sub) == (0, 0, 0),
                Region::Scalar3 { .. } => at.sub == 0,
                _ => false,
            },
            Src::Macro { at, .. } => at.reg != VirtReg::grf(r),
            _ => true,
        })
}

/// Returns true if an address satisfies a constraint.
fn is_valid(place: RegConstraint, align: u32, at: u32) -> bool {
    match place {
        RegConstraint::Any => at.is_multiple_of(align),
        RegConstraint::Fixed(fixed) => at == fixed,
        RegConstraint::AtLeast(least) => at >= least && at.is_multiple_of(align),
    }
}
