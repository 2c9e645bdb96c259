//! Headers of messages to and from scratch: the thread's own, or a copy of it that says that
//! scratch begins at a later window.

use super::state::{Set, State};
use super::{Checker, Res};
use crate::isel::lower_sends::spill::Scratch;
use crate::mir::{MInst, VCode, VReg, VirtReg};
use cranelift_entity::{EntityRef, SecondaryMap};
use gantry_isa_gen::{Dst, Inst, Op, Region, Src, SrcMods, Type};

/// A header's base in the making: where to, where from, and how many windows behind it.
struct Base {
    to: VReg,
    from: VReg,
    windows: u32,
}

/// The base that a new instruction makes.
fn base(inst: &Inst<VirtReg>) -> Option<Base> {
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
    (plain && at_base && whole && mods == SrcMods::default()).then_some(Base {
        to: t,
        from: f,
        windows: bytes / Scratch::WINDOW,
    })
}

/// Per register the window that new instructions make it a header of; 0 for those that are of none.
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

/// The thread's header, and its bytes. Code that spills reads it where the code as it was may not:
/// in loops without end.
pub(super) fn header(code: &VCode) -> Option<(VReg, u32)> {
    code.header().map(|r| (r, code.vregs[r].bytes))
}

impl Checker<'_> {
    /// What stands for a window's base: no register, nor a constant.
    fn base_of(&self, window: u32) -> VReg {
        VReg::new(self.before.vregs.len() + self.names.len() + window as usize)
    }

    /// The window that a message goes to.
    pub(super) fn window(&self, inst: &Inst<VirtReg>) -> u32 {
        match inst.srcs[0] {
            Src::Direct { at, .. } => at.reg.as_grf().map_or(0, |r| self.windows[r]),
            _ => 0,
        }
    }

    /// A new instruction makes a header's base, if it does.
    pub(super) fn base_step(&self, inst: &Inst<VirtReg>, state: &mut State) -> bool {
        let Some(b) = base(inst) else {
            return false;
        };
        let at = self.place(b.to) + Scratch::BASE;
        let name = self.base_of(b.windows);
        state.put((at, at + 4), &Set::from_slice(&[(name, i64::from(at))]));
        true
    }

    /// What messages to scratch, and their headers, need.
    pub(super) fn new_reads(&self, m: &MInst, state: &State) -> Res {
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
                    "has not where scratch begins at byte {at} of the file"
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
                "has no thread header at byte {place} of the file for window {} of scratch",
                self.window(inst)
            ))
        }
    }
}
