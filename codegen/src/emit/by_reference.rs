//! Addresses in the GRF file, and arguments passed by reference: the registers whose address a word
//! may be.

use crate::mir::operand::{dst, imm, scalar, uniform};
use crate::mir::{MInst, VCode, VReg};
use crate::regalloc::Allocation;
use gantry_isa_gen::{Dst, ExecSize, Inst, Op, Reg, RegRef, Region, Src, Type};
use std::collections::HashMap;
use std::ops::Range;

/// Returns true if an instruction writes, or reads, through an address register.
pub(super) fn is_by_address(inst: &Inst<Reg>, write: bool) -> bool {
    if write {
        return matches!(inst.dst, Dst::Indirect { .. });
    }
    inst.srcs.iter().any(|s| matches!(s, Src::Indirect { .. }))
}

/// Returns the instruction that makes `count` addresses of a number and consecutive words, if there
/// are any.
pub(super) fn address(
    to: RegRef<Reg>,
    count: ExecSize,
    start: u32,
    index: Option<RegRef<Reg>>,
) -> Inst<Reg> {
    let (to, start) = (dst(to, Type::Uw), imm(start.into(), Type::Uw));
    let mut inst = match index {
        Some(index) => uniform(Op::Add, to, [scalar(index, Type::Uw), start]),
        None => uniform(Op::Mov, to, [start]),
    };
    inst.exec = count;
    if let Src::Direct { region, .. } = &mut inst.srcs[0]
        && count.channels() > 1
    {
        *region = Region::packed(count);
    }
    inst
}

/// Largest number of separate positions for a routine's parameter.
const MOST_PASSED: usize = 8;

/// Returns the bytes of the registers whose address each word may be. Many of them are merged into
/// one range, with the bytes between them.
pub(super) fn places(code: &VCode, alloc: &Allocation) -> HashMap<VReg, Vec<Range<u32>>> {
    let mut out: HashMap<VReg, Vec<Range<u32>>> = HashMap::new();
    if code.routines.len() < 2 {
        return out;
    }
    for m in &code.insts {
        if let MInst::RegAddress { dst, base, .. } = *m {
            let start = alloc.address[base];
            let all = out.entry(dst).or_default();
            all.push(start..start + code.vregs[base].bytes);
        }
    }
    for all in out.values_mut() {
        all.sort_unstable_by_key(|r| (r.start, r.end));
        all.dedup();
        if all.len() > MOST_PASSED {
            let start = all.iter().map(|r| r.start).min().unwrap_or(0);
            let end = all.iter().map(|r| r.end).max().unwrap_or(0);
            all.clear();
            all.push(start..end);
        }
    }
    out
}
