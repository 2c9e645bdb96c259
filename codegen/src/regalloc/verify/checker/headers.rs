//! Headers of scratch messages: the thread header, or a copy whose scratch base points to a later
//! window.

use super::state::{ByteState, ValueSet};
use super::{CheckResult, Checker};
use crate::isel::lower_sends::spill::Scratch;
use crate::mir::{MInst, VCode, VReg, VirtReg};
use cranelift_entity::{EntityRef, SecondaryMap};
use gantry_isa_gen::{Dst, Inst, Op, Region, Src, SrcMods, Type};

/// Computation of a header's scratch base: destination, source, and distance in windows.
struct BaseUpdate {
    to: VReg,
    from: VReg,
    windows: u32,
}

/// Returns the base that an inserted instruction computes.
fn base(inst: &Inst<VirtReg>) -> Option<BaseUpdate> {
    let plain = inst.op == Op::Add
        && inst.exec.channels() == 1
        && inst.no_mask
        && inst.pred.is_none()
        && inst.cond.is_none()
        && !inst.sat;
    let (
        Dst::Direct {
            at: to,
            ty: Type::Ud,
            ..
        },
        Src::Direct {
            at: from,
            region: Region::SCALAR,
            ty: Type::Ud,
            mods,
        },
        Src::Imm { bits, ty: Type::Ud },
    ) = (inst.dst, inst.srcs[0], inst.srcs[1])
    else {
        return None;
    };
    let bytes = u32::try_from(bits).ok()?;
    let (Some(t), Some(f)) = (to.reg.as_grf(), from.reg.as_grf()) else {
        return None;
    };
    let at_base = u32::from(to.sub) == Scratch::BASE && u32::from(from.sub) == Scratch::BASE;
    let whole = bytes > 0 && bytes.is_multiple_of(Scratch::WINDOW);
    (plain && at_base && whole && mods == SrcMods::default()).then_some(BaseUpdate {
        to: t,
        from: f,
        windows: bytes / Scratch::WINDOW,
    })
}

/// Returns the window that inserted instructions make each register a header for. 0 for all other
/// registers.
pub(super) fn windows(code: &VCode, new: impl Fn(usize) -> bool) -> SecondaryMap<VReg, u32> {
    let mut out = SecondaryMap::new();
    let insts = code.insts.iter().enumerate().filter(|(i, _)| new(*i));
    for (_, m) in insts {
        if let MInst::Op { inst, .. } = m
            && let Some(b) = base(inst)
        {
            out[b.to] = b.windows;
        }
    }
    out
}

/// Returns the thread header and its size in bytes. Spill code reads it even if the original code
/// may not, as in endless loops.
pub(super) fn header(code: &VCode) -> Option<(VReg, u32)> {
    code.header().map(|r| (r, code.vregs[r].bytes))
}

impl Checker<'_> {
    /// Returns the name of a window's base, beyond all registers and constants.
    fn base_of(&self, window: u32) -> VReg {
        VReg::new(self.before.vregs.len() + self.constant_names.len() + window as usize)
    }

    /// Returns the window that a message accesses.
    pub(super) fn window(&self, inst: &Inst<VirtReg>) -> u32 {
        match inst.srcs[0] {
            Src::Direct { at, .. } => at.reg.as_grf().map_or(0, |r| self.windows[r]),
            _ => 0,
        }
    }

    /// Applies an inserted instruction that computes a header's base. Returns false for other
    /// instructions.
    pub(super) fn base_step(&self, inst: &Inst<VirtReg>, state: &mut ByteState) -> bool {
        let Some(b) = base(inst) else {
            return false;
        };
        let at = self.place(b.to) + Scratch::BASE;
        let name = self.base_of(b.windows);
        state.put(
            (at, at + 4),
            &ValueSet::from_slice(&[(name, i64::from(at))]),
        );
        true
    }

    /// Checks the operands of scratch messages and of their headers.
    pub(super) fn check_inserted_reads(&self, m: &MInst, state: &ByteState) -> CheckResult {
        let MInst::Op { inst, .. } = m else {
            return Ok(());
        };
        let is = |at: u32, r: VReg, bytes| state.missing(at, r, bytes, &[]).is_none();
        let base = (Scratch::BASE, Scratch::BASE + 4);
        if let Some(b) = super::headers::base(inst) {
            let at = self.place(b.from) + Scratch::BASE;
            return match self.header {
                Some((header, _)) if is(at, header, base) => Ok(()),
                _ => Err(format!(
                    "does not have the scratch base at byte {at} of the GRF file"
                )),
            };
        }
        if self.scratch(inst).is_none() {
            return Ok(());
        }
        let (Some((header, bytes)), Src::Direct { at, .. }) = (self.header, inst.srcs[0]) else {
            return Err("has no header".to_owned());
        };
        let Some(r) = at.reg.as_grf() else {
            return Err("has no header".to_owned());
        };
        let place = self.place(r) + u32::from(at.sub);
        let right = match self.window(inst) {
            0 => is(place, header, (0, bytes)),
            window => {
                is(place, header, (0, base.0))
                    && is(place + base.1, header, (base.1, bytes))
                    && is(place + base.0, self.base_of(window), (0, 4))
            }
        };
        if right {
            Ok(())
        } else {
            Err(format!(
                "has no thread header at byte {place} of the GRF file for window {} of scratch",
                self.window(inst)
            ))
        }
    }
}
