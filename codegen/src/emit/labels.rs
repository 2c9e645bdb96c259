//! Positions of labelled values in compiled code, for debuggers.

use crate::ir::Type;
use crate::mir::VCode;
use crate::mir::liveness::Liveness;
use crate::regalloc::Allocation;

/// Position of a labelled value while a range of code runs.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct LabelRange {
    /// Name.
    pub name: String,
    /// Type.
    pub ty: Type,
    /// Byte address in the GRF file.
    pub address: u32,
    /// Size in bytes.
    pub bytes: u32,
    /// First instruction that finds it there, in bytes from the code's start. If several
    /// instructions write the value, this is the one after the first write, and the value may not
    /// be complete yet.
    pub start: u64,
    /// End of the range: one past the last such instruction.
    pub end: u64,
}

/// Returns the positions of a function's labelled values, by name and position. A value that is
/// folded into its users, or a predicate in a flag, has none. `places` is the offset of each
/// machine instruction's code in bytes, and the end of the code.
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
            // Instruction i reads at point 2i: reads at a point inside the range find the value.
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
    // Ranges of copies at the same position that touch are merged.
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
