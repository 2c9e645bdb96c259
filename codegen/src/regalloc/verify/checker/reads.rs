//! Checks that instructions read the values that they read before allocation.

use super::state::ByteState;
use super::{CheckResult, Checker, element};
use crate::mir::{Access, MInst, VReg, VirtReg};
use gantry_isa_gen::sem::dpas::Dpas;
use gantry_isa_gen::{Dst, Inst, Op, RegRef, Src};

/// Address that holds nothing.
const NOWHERE: u32 = 1 << 30;

/// Returns true if an instruction without lanes may leave some of the bytes that it names as
/// written unchanged.
fn may_keep_bytes(m: &MInst) -> bool {
    match m {
        MInst::Touch { .. } => true,
        MInst::Op { inst, .. } => inst.op.is_send() && (!inst.no_mask || inst.pred.is_some()),
        _ => false,
    }
}

/// Returns true if the first half of an instruction writes before the second half reads. That is so
/// if it writes more than a GRF.
fn writes_early(inst: &Inst<VirtReg>, grf: u32) -> bool {
    match inst.dst {
        Dst::Direct { at, hs, ty } => {
            let bytes = inst.exec.channels() * u32::from(hs) * ty.bytes();
            at.reg.is_grf() && bytes > grf
        }
        _ => false,
    }
}

impl Checker<'_> {
    /// Checks that the operands of an instruction hold their values.
    pub(super) fn check_reads(&self, i: usize, state: &ByteState) -> CheckResult {
        let code = &self.after.code;
        let m = &code.insts[i];
        let Some(old) = self.original(i) else {
            return self.check_inserted_reads(m, state);
        };
        let was = &self.before.insts[old];
        let mut wrong = None;
        let mut check = |r: VReg, byte: u32, place: u32, bytes: u32| {
            if wrong.is_none()
                && let Some(byte) =
                    state.missing(place, r, (byte, byte + bytes), &self.constants[r])
            {
                let there: Vec<String> = state.at(place).iter().map(|v| v.0.to_string()).collect();
                wrong = Some(format!(
                    "reads byte {byte} of {r} at byte {place} of the GRF file, which holds {}",
                    if there.is_empty() {
                        "nothing known".to_owned()
                    } else {
                        there.join(", ")
                    }
                ));
            }
        };
        if let MInst::Op { inst, .. } = m
            && let Some(e) = self.rows_overwritten(inst)
        {
            return Err(e);
        }
        match (was, m) {
            // A copy's value continues under another name wherever it is.
            (MInst::Copy { .. }, _) => {}
            (
                MInst::Op {
                    inst: was, starts, ..
                },
                MInst::Op { inst, .. },
            ) if !inst.op.has_runs() => {
                for (x, y) in was.srcs.iter().zip(&inst.srcs) {
                    self.check_lanes(x, y, inst.exec.channels(), &mut check);
                }
                // A definition keeps nothing, though its register may now be shared with other
                // values.
                if !starts {
                    self.check_kept_bytes(was, inst, m, &mut check);
                }
                if wrong.is_none() && writes_early(was, self.before.grf.bytes) {
                    wrong = self.half_overwritten(was, inst, state);
                }
            }
            _ => {
                let mut places = Vec::new();
                self.spans(code).each(m, |r, bytes, a| {
                    places.push((self.place(r) + bytes.start, a))
                });
                let mut n = 0;
                self.spans(self.before).each(was, |r, bytes, a| {
                    let (place, access) = places.get(n).copied().unwrap_or((u32::MAX / 2, a));
                    n += 1;
                    let kept = a == Access::Modify && may_keep_bytes(was);
                    // A definition reads nothing, even if its register is shared with other values.
                    let other = a != Access::Def && access != a;
                    if a == Access::Use || kept || other {
                        check(r, bytes.start, place, bytes.end - bytes.start);
                    }
                });
            }
        }
        wrong.map_or(Ok(()), Err)
    }

    /// Checks the lanes of a source.
    fn check_lanes(
        &self,
        was: &Src<VirtReg>,
        now: &Src<VirtReg>,
        lanes: u32,
        check: &mut impl FnMut(VReg, u32, u32, u32),
    ) {
        match (*was, *now) {
            (Src::Direct { at, region, ty, .. }, Src::Direct { at: new, .. }) => {
                let (Some(r), Some(n)) = (at.reg.as_grf(), new.reg.as_grf()) else {
                    return;
                };
                let (size, all) = (ty.bytes(), self.before.vregs[r].bytes);
                let place = self.place(n) + u32::from(new.sub);
                let mut seen = None;
                for lane in 0..lanes {
                    let Some(e) = element(region, lane) else {
                        return check(r, 0, self.place(n), all);
                    };
                    if seen == Some(e) {
                        continue;
                    }
                    seen = Some(e);
                    let byte = u32::from(at.sub) + e * size;
                    // Three-source instructions may read channels beyond a register's end, whose
                    // results are not used.
                    if byte + size <= all {
                        check(r, byte, place + e * size, size);
                    }
                }
            }
            (Src::Macro { at, .. }, Src::Macro { at: new, .. }) => {
                if let (Some(r), Some(n)) = (at.reg.as_grf(), new.reg.as_grf()) {
                    check(r, 0, self.place(n), self.before.vregs[r].bytes);
                }
            }
            _ => {}
        }
    }

    /// Returns a message if the first half of an instruction overwrites what the second half reads
    /// from other registers.
    fn half_overwritten(
        &self,
        was: &Inst<VirtReg>,
        now: &Inst<VirtReg>,
        state: &ByteState,
    ) -> Option<String> {
        let (Dst::Direct { at, hs, ty }, Dst::Direct { at: new, .. }) = (was.dst, now.dst) else {
            return None;
        };
        let (Some(own), Some(n)) = (at.reg.as_grf(), new.reg.as_grf()) else {
            return None;
        };
        let (lanes, size) = (was.exec.channels(), ty.bytes());
        let (start, step) = (self.place(n) + u32::from(new.sub), u32::from(hs) * size);
        let written = |byte: u32| {
            let k = byte.wrapping_sub(start);
            byte >= start && k / step < lanes / 2 && k % step < size
        };
        for (x, y) in was.srcs.iter().zip(&now.srcs) {
            let (Src::Direct { at, region, ty, .. }, Src::Direct { at: new, .. }) = (*x, *y) else {
                continue;
            };
            let (Some(r), Some(n)) = (at.reg.as_grf(), new.reg.as_grf()) else {
                continue;
            };
            // Overlap within one register is in the code itself, not from allocation.
            if r == own {
                continue;
            }
            let place = self.place(n) + u32::from(new.sub);
            let size = ty.bytes();
            for lane in lanes / 2..lanes {
                let Some(e) = element(region, lane).map(|e| e * size) else {
                    continue;
                };
                for k in (e..e + size).filter(|k| written(place + k)) {
                    let byte = u32::from(at.sub) + k;
                    let inside = byte < self.before.vregs[r].bytes;
                    if inside && state.missing(NOWHERE, r, (byte, byte + 1), &[]).is_some() {
                        return Some(format!(
                            "reads byte {byte} of {r} at byte {} of the GRF file, which its first half writes",
                            place + k
                        ));
                    }
                }
            }
        }
        None
    }

    /// Returns a message if the systolic array reads bytes that an earlier row of its result
    /// overwrites. The result may have the place of the accumulator, row over row, and of nothing
    /// else.
    fn rows_overwritten(&self, inst: &Inst<VirtReg>) -> Option<String> {
        let [acc, columns, rows, sums] = Dpas::operand_bytes(inst, self.after.code.grf.bytes)?;
        let Dst::Direct { at, .. } = inst.dst else {
            return None;
        };
        let start = |at: RegRef<VirtReg>| {
            let r = at.reg.as_grf()?;
            Some(self.place(r) + u32::from(at.sub))
        };
        let to = start(at)?;
        for (s, bytes) in inst.srcs.iter().zip([acc, columns, rows]) {
            let Src::Direct { at: of, .. } = *s else {
                continue;
            };
            let Some(from) = start(of) else { continue };
            let in_place = bytes == acc && from == to && acc == sums && *s == inst.srcs[0];
            if from < to + sums && to < from + bytes && !in_place {
                return Some(format!(
                    "reads byte {from} and on of the GRF file, where an earlier row of its result is written"
                ));
            }
        }
        None
    }

    /// Checks the destination bytes that an instruction with inactive channels leaves unchanged.
    fn check_kept_bytes(
        &self,
        was: &Inst<VirtReg>,
        now: &Inst<VirtReg>,
        m: &MInst,
        check: &mut impl FnMut(VReg, u32, u32, u32),
    ) {
        let some = !now.no_mask || now.pred.is_some() && now.op != Op::Sel;
        if let (Dst::Direct { at, hs, ty }, Dst::Direct { at: new, .. }) = (was.dst, now.dst)
            && let (Some(r), Some(n)) = (at.reg.as_grf(), new.reg.as_grf())
            && matches!(m, MInst::Op { starts: false, .. })
            && some
        {
            for lane in 0..now.exec.channels() {
                let byte = lane * u32::from(hs) * ty.bytes();
                let place = self.place(n) + u32::from(new.sub) + byte;
                check(r, u32::from(at.sub) + byte, place, ty.bytes());
            }
        }
    }
}
