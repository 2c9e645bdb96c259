//! Branches.

use super::{Ctx, Part};
use crate::inst::{Src, Target};
use crate::op::Format;
use crate::reg::Register;

/// Targets are where an instruction can start, and `jmpi` is not a matter of channels.
pub(super) fn branch_targets<R: Register>(c: &mut Ctx<'_, R>) {
    if !c.info.format.is_branch() {
        return;
    }
    let odd: Vec<u8> = (0u8..)
        .zip(&c.inst.srcs)
        .filter(|(_, s)| matches!(s, Src::Target(Target::Rel(r)) if r % 8 != 0))
        .map(|(n, _)| n)
        .collect();
    for n in odd {
        c.find(
            Part::Src(n),
            "no instruction starts there: not a multiple of 8 bytes",
        );
    }
    if c.info.format == Format::Jmpi && (c.channels() != 1 || !c.inst.no_mask) {
        c.find(
            Part::Inst,
            "`jmpi` moves the whole thread: one channel, with `(W)`",
        );
    }
}
