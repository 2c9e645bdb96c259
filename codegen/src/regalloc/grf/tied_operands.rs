//! Destinations written over dying sources. Each lane of a result may be written just where that
//! lane of a source is read for the last time. Both may then share one place, though the result's
//! live range starts before the source's ends. The writer is one instruction or the pieces of one
//! that legalization split.

use crate::mir::{MInst, VCode, VReg, VirtReg};
use gantry_isa_gen::legal::geometry::dst_span_bytes;
use gantry_isa_gen::sem::dpas::Dpas;
use gantry_isa_gen::{Dst, Inst, Region, Src};
use smallvec::SmallVec;

/// Maximum number of instructions that write a result while its source is live.
pub(in crate::regalloc) const MAX_INSTS: u32 = 8;

/// Returns the register that an instruction writes.
pub(in crate::regalloc) fn written(m: &MInst) -> Option<VReg> {
    match m {
        MInst::Op { inst, .. } => match inst.dst {
            Dst::Direct { at, .. } => at.reg.as_grf(),
            _ => None,
        },
        _ => None,
    }
}

/// Returns true if instructions `first` to `last` read `from` only where they write the same lanes
/// of `to`. `first` is the one that starts `to`. Lanes that an earlier one of them wrote may not be
/// read.
pub(in crate::regalloc) fn can_tie(
    code: &VCode,
    to: VReg,
    from: VReg,
    first: u32,
    last: u32,
) -> bool {
    if last < first || last - first >= MAX_INSTS {
        return false;
    }
    // Bytes that earlier instructions wrote, so that the source's lanes there are lost.
    let mut written: SmallVec<[(u32, u32); MAX_INSTS as usize]> = SmallVec::new();
    (first..=last).all(|i| match code.insts.get(i as usize) {
        Some(MInst::Op { inst, .. }) if writes_in_place(inst, to, from) => {
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

/// Returns true if an instruction writes `to` and reads `from` only lane by lane at the bytes that
/// it writes.
fn writes_in_place(inst: &Inst<VirtReg>, to: VReg, from: VReg) -> bool {
    let message = inst.op.is_send();
    let Dst::Direct { at: dst, hs, ty } = inst.dst else {
        return false;
    };
    if inst.op.is_systolic() {
        // Each row of the accumulator is overwritten by the same row of the result. The factors are
        // read until the last row is done.
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
                    // `<1;0>` is a row a lane.
                    Region::Ternary { vs, hs: step } => {
                        exec == 1 || hs == 1 && (step == 1 || (vs, step) == (1, 0))
                    }
                    Region::Scalar3 { hs: step } => exec == 1 || step == 1 && hs == 1,
                    Region::VxH { .. } => false,
                };
                at.sub == dst.sub && of.bytes() == ty.bytes() && packed
            }
            Src::Direct { at, .. } => at.reg != VirtReg::grf(to),
            Src::Indirect { .. } | Src::Macro { .. } => false,
            _ => true,
        })
}
