//! Where labelled values are in compiled code: what a debugger asks for.

use crate::ir::Type;
use crate::mir::VCode;
use crate::mir::liveness::Liveness;
use crate::regalloc::Allocation;

/// A value with a name is in these registers while this code runs.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct LabelRange {
    /// The name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Where it begins in the register file, in bytes.
    pub address: u32,
    /// Its size in bytes.
    pub bytes: u32,
    /// The first instruction that finds it there, in bytes from the code's start. Where several
    /// instructions write it, it is what comes after the first: it may not be whole yet.
    pub start: u64,
    /// One past the last instruction that does.
    pub end: u64,
}

/// Where the labelled values of a function are, by name and place. A value that is folded into its
/// users, or a predicate in a flag, is nowhere. `places`: where the code of each machine
/// instruction begins, and at the end all of it ends, in bytes.
pub(crate) fn ranges(
    code: &VCode,
    live: &Liveness,
    alloc: &Allocation,
    places: &[u64],
) -> Vec<LabelRange> {
    let mut out = Vec::new();
    for (name, r) in &code.labels {
        let Some(&ty) = code.label_types.get(name) else {
            continue;
        };
        for range in &live.ranges[*r] {
            // Instruction i reads at point 2i: who reads at a point inside finds the value.
            let first = range.start.div_ceil(2) as usize;
            let end = range.end.div_ceil(2) as usize;
            let place = |i: usize| places.get(i.min(code.insts.len())).copied();
            if let (Some(start), Some(end)) = (place(first), place(end))
                && start < end
            {
                out.push(LabelRange {
                    name: name.clone(),
                    ty,
                    start,
                    end,
                    address: alloc.address[*r],
                    bytes: code.vregs[*r].bytes,
                });
            }
        }
    }
    out.sort_unstable();
    // Of copies in one place, the ranges that touch are one.
    let mut merged: Vec<LabelRange> = Vec::with_capacity(out.len());
    for r in out {
        match merged.last_mut() {
            Some(last)
                if (&last.name, last.address, last.bytes) == (&r.name, r.address, r.bytes)
                    && r.start <= last.end =>
            {
                last.end = last.end.max(r.end);
            }
            _ => merged.push(r),
        }
    }
    merged
}
