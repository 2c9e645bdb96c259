//! Destinations over dying sources: where an instruction, or the pieces of one that was cut, writes
//! each lane just where it reads that lane of a register for the last time, both may be in one
//! place, though the result's life begins before the source's ends.

use crate::mir::{MInst, VCode, VReg, VirtReg};
use gantry_isa_gen::legal::geometry::dst_span_bytes;
use gantry_isa_gen::sem::dpas::Dpas;
use gantry_isa_gen::{Dst, Inst, Region, Src};
use smallvec::SmallVec;

/// The most instructions that a result is made by while its source lives.
const LONGEST: u32 = 8;

/// The register that an instruction writes.
pub(in crate::regalloc) fn written(m: &MInst) -> Option<VReg> {
    match m {
        MInst::Op { inst, .. } => match inst.dst {
            Dst::Direct { at, .. } => at.reg.as_grf(),
            _ => None,
        },
        _ => None,
    }
}

/// Whether the instructions from the one that begins `to` up to `last` read `from` only where they
/// write `to` in its stead, lane over lane, and where none of them wrote before.
pub(in crate::regalloc) fn overlays(
    code: &VCode,
    to: VReg,
    from: VReg,
    first: u32,
    last: u32,
) -> bool {
    if last < first || last - first >= LONGEST {
        return false;
    }
    // What was written before an instruction: what of the source lay there is gone.
    let mut written: SmallVec<[(u32, u32); LONGEST as usize]> = SmallVec::new();
    (first..=last).all(|i| match code.insts.get(i as usize) {
        Some(MInst::Op { inst, .. }) if lane_over_lane(inst, to, from) => {
            let Dst::Direct { at, hs, ty } = inst.dst else {
                return false;
            };
            let start =  u32::from(at.sub);
            let block = Dpas::of(inst).map(|d| d.sum_bytes(d.dst));
            let own = || dst_span_bytes(hs.into(), inst.exec, ty.bytes());
            let end = start + block.unwrap_or_else(own);
            let reads = |s: &Src<VirtReg>| matches!(s, Src::Direct { at, .. } if at.reg == VirtReg::grf(from));
            let gone = written.iter().any(|w| w.0 < end && w.1 > start);
            written.push((start, end));
            !(gone && inst.srcs.iter().any(reads))
        }
        _ => false,
    })
}

/// Whether an instruction writes `to`, and reads `from` lane by lane at the bytes that it writes,
/// if at all.
fn lane_over_lane(inst: &Inst<VirtReg>, to: VReg, from: VReg) -> bool {
    let message = inst.op.is_send();
    let Dst::Direct { at: dst, hs, ty } = inst.dst else {
        return false;
    };
    if inst.op.is_systolic() {
        // Row over row of what is added to; the factors are read until the last row is done.
        let of = |n: usize| inst.srcs.get(n);
        let factor = |n: usize| matches!(of(n), Some(Src::Direct { at, .. }) if at.reg != VirtReg::grf(from) && at.reg != VirtReg::grf(to));
        let acc = match of(0) {
            Some(Src::Direct { at, ty: own, .. }) if at.reg == VirtReg::grf(from) => {
                at.sub == dst.sub && own.bytes() == ty.bytes()
            }
            _ => true,
        };
        return dst.reg == VirtReg::grf(to) && acc && factor(1) && factor(2);
    }
    let exec = inst.exec.channels();
    !message
        && dst.reg == VirtReg::grf(to)
        && inst.srcs.iter().all(|s| match *s {
            Src::Direct {
                at, region, ty: of, ..
            } if at.reg == VirtReg::grf(from) => {
                let packed = match region {
                    Region::Rect { vs, w, hs: step } => {
                        exec == 1 || step == hs && (u32::from(w) == exec || vs == w * hs)
                    }
                    Region::Ternary { hs: step, .. } | Region::Scalar3 { hs: step } => {
                        exec == 1 || step == 1 && hs == 1
                    }
                    Region::VxH { .. } => false,
                };
                at.sub == dst.sub && of.bytes() == ty.bytes() && packed
            }
            Src::Direct { at, .. } => at.reg != VirtReg::grf(to),
            Src::Indirect { .. } | Src::Macro { .. } => false,
            _ => true,
        })
}
