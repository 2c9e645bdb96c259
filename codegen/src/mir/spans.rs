//! Bytes of its registers that an instruction reads and writes.

use super::{Access, MInst, SymbolPart, VReg, VirtReg};
use gantry_isa_gen::legal::geometry::{dst_span_bytes, span_bytes};
use gantry_isa_gen::sem::dpas::Dpas;
use gantry_isa_gen::{Dst, Inst, Platform, Src, Type, perf};
use std::ops::Range;

/// Computes the bytes that an instruction accesses of each register, for a platform and its GRF
/// size.
pub(crate) struct Spans<F> {
    pub(crate) platform: Platform,
    pub(crate) grf: u32,
    /// Size of a register in bytes.
    pub(crate) size: F,
}

/// Returns bytes of the sources and of the destination of an instruction whose operands are runs of
/// GRFs. These are payloads and response of a message, or operands of the systolic array. The inner
/// `None` is for unknown sizes, the outer one for other instructions.
fn blocks(platform: Platform, inst: &Inst<VirtReg>, grf: u32) -> Option<Option<[u32; 4]>> {
    if !inst.op.has_runs() {
        return None;
    }
    if !inst.op.is_send() {
        return Some(Dpas::operand_bytes(inst, grf));
    }
    Some(perf::message(platform, inst).map(|m| {
        let grfs = [m.src0_grfs, m.src1_grfs, 0, m.response_grfs];
        grfs.map(|n| u32::from(n) * grf)
    }))
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
        // Bytes of sources and destination, where regions do not give them.
        let blocks = blocks(self.platform, inst, self.grf);
        let mut span = |r: VReg, sub: u16, bytes: Option<u32>, a: Access| {
            let (sub, size) = (u32::from(sub), (self.size)(r));
            let end = bytes.map_or(size, |b| (sub + b).min(size));
            f(r, sub.min(end)..end, a);
        };
        for (n, s) in inst.srcs.iter().enumerate() {
            match *s {
                Src::Direct { at, region, ty, .. } => {
                    let Some(r) = at.reg.as_grf() else { continue };
                    let bytes = match blocks {
                        Some(known) => known.and_then(|l| l.get(n).copied()),
                        None => span_bytes(region, inst.exec, ty.bytes()),
                    };
                    span(r, at.sub, bytes, Access::Use);
                }
                Src::Macro { at, .. } => {
                    if let Some(r) = at.reg.as_grf() {
                        span(r, 0, None, Access::Use);
                    }
                }
                _ => {}
            }
        }
        let access = if *starts { Access::Def } else { Access::Modify };
        match inst.dst {
            Dst::Direct { at, hs, ty } => {
                let Some(r) = at.reg.as_grf() else { return };
                let bytes = match blocks {
                    Some(known) => known.map(|l| l[3]),
                    None => Some(dst_span_bytes(hs.into(), inst.exec, ty.bytes())),
                };
                span(r, at.sub, bytes, access);
            }
            Dst::Macro { at, .. } => {
                if let Some(r) = at.reg.as_grf() {
                    span(r, 0, None, access);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mir::operand::{begins, dst, scalar};
    use cranelift_entity::EntityRef;
    use gantry_isa_gen::{ExecSize, Op, RegRef, Subfn};

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
