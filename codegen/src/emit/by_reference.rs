//! What routines are passed by where it is: where the registers are that a word may be the place
//! of.

use crate::mir::{MInst, VCode, VReg};
use crate::regalloc::Allocation;
use gantry_isa_gen::{Inst, Reg, Src};
use std::collections::HashMap;
use std::ops::Range;

/// Whether an instruction reads something by an address register.
pub(super) fn reads_by_address(inst: &Inst<Reg>) -> bool {
    inst.srcs.iter().any(|s| matches!(s, Src::Indirect { .. }))
}

/// The most places that a routine's parameter is told to be in one by one.
const MOST_PASSED: usize = 8;

/// By the word that a routine is passed, where the registers are that it may be the place of; what
/// lies between them too, where there are many.
pub(super) fn places(code: &VCode, alloc: &Allocation) -> HashMap<VReg, Vec<Range<u32>>> {
    let mut out: HashMap<VReg, Vec<Range<u32>>> = HashMap::new();
    if code.routines.len() < 2 {
        return out;
    }
    for m in &code.insts {
        if let MInst::PlaceOf { dst, base } = *m {
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
