//! Bytes of its registers that an instruction reads and writes.

use super::{Access, MInst, SymbolPart, VReg};
use gantry_isa_gen::{Dst, Platform, RegRef, Src, Type, effects};
use std::ops::Range;

/// Computes the bytes that an instruction accesses of each register, for a platform and its GRF
/// size.
pub(crate) struct Spans<F> {
    pub(crate) platform: Platform,
    pub(crate) grf: u32,
    /// Size of a register in bytes.
    pub(crate) size: F,
}

impl<F: Fn(VReg) -> u32> Spans<F> {
    /// Calls `f` with every register and the range of its bytes, from the register's start, that
    /// the instruction accesses. Uses come first.
    pub(crate) fn each(&self, m: &MInst, mut f: impl FnMut(VReg, Range<u32>, Access)) {
        let MInst::Op { inst, starts, .. } = m else {
            return m.for_each_vreg(|r, a| {
                let size = (self.size)(r);
                let low = Type::Ud.bytes();
                match m {
                    MInst::Symbol { part, .. } => match part {
                        SymbolPart::Whole => f(r, 0..size.min(2 * low), a),
                        SymbolPart::Low => f(r, 0..size.min(low), a),
                        SymbolPart::High => f(r, low.min(size)..size.min(2 * low), a),
                    },
                    _ => f(r, 0..size, a),
                }
            });
        };
        let message = effects::message(self.platform, inst);
        let [a, b, c, written] = effects::operand_bytes(inst, message.as_ref(), self.grf);
        let mut span = |r: VReg, sub: u16, bytes: Option<u32>, a: Access| {
            let (sub, size) = (u32::from(sub), (self.size)(r));
            let end = bytes.map_or(size, |b| (sub + b).min(size));
            f(r, sub.min(end)..end, a);
        };
        for (s, read) in inst.srcs.iter().zip([a, b, c]) {
            // A macro operand belongs to its whole register.
            let (at, bytes) = match *s {
                Src::Direct { at, .. } => (at, read),
                Src::Macro { at, .. } => (RegRef::new(at.reg, 0), None),
                _ => continue,
            };
            if let Some(r) = at.reg.as_grf() {
                span(r, at.sub, bytes, Access::Use);
            }
        }
        let access = if *starts { Access::Def } else { Access::Modify };
        let (at, bytes) = match inst.dst {
            Dst::Direct { at, .. } => (at, written),
            Dst::Macro { at, .. } => (RegRef::new(at.reg, 0), None),
            _ => return,
        };
        if let Some(r) = at.reg.as_grf() {
            span(r, at.sub, bytes, access);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mir::VirtReg;
    use crate::mir::operand::{begins, dst, scalar};
    use cranelift_entity::EntityRef;
    use gantry_isa_gen::{ExecSize, Inst, Op, Subfn};

    /// The systolic array reads and writes rows, whose number does not follow from regions and exec
    /// size.
    #[test]
    fn products_name_all_their_rows() {
        let at = |n| RegRef::new(VirtReg::grf(VReg::new(n)), 0);
        for (grf, exec) in [(32, ExecSize::S8), (64, ExecSize::S16)] {
            let mut inst = Inst::new(Op::Dpas, exec);
            inst.subfn = Subfn::Dpas {
                depth: 8,
                repeat: 5,
            };
            inst.dst = dst(at(0), Type::F);
            inst.srcs = [
                scalar(at(1), Type::Hf),
                scalar(at(2), Type::Hf),
                scalar(at(3), Type::Hf),
            ];
            let spans = Spans {
                platform: Platform::XeHpg,
                grf,
                size: |_| 4096,
            };
            let mut all = Vec::new();
            spans.each(&begins(inst), |r, bytes, a| all.push((r.index(), bytes, a)));
            let want = [
                (1, 0..5 * grf / 2, Access::Use),
                (2, 0..8 * grf, Access::Use),
                (3, 0..5 * 32, Access::Use),
                (0, 0..5 * grf, Access::Def),
            ];
            assert_eq!(all, want);
        }
    }
}
