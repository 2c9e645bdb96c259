//! Values of the address register that must survive messages to and from scratch. Such messages of
//! the load/store cache write the surface's state there, which no stage before emission knows.

use crate::isel::lower_sends::spill;
use crate::isel::lower_sends::spill::STATE;
use crate::mir::{MInst, VCode, VirtReg};
use crate::regalloc::Allocation;
use crate::target::Target;
use gantry_isa_gen::effects::{self, Storage};
use gantry_isa_gen::{Desc, Type};
use std::collections::HashSet;

/// Returns the bytes of the address register from `start` up to `end`, as bits.
fn bits(start: u32, end: u32) -> u32 {
    let below = |n: u32| 1u32.checked_shl(n).map_or(u32::MAX, |b| b - 1);
    below(end) & !below(start)
}

/// Returns the messages to or from scratch that overwrite a value of the address register that is
/// read later. Addresses are loaded in the block where they are used.
pub(super) fn kept(code: &VCode, alloc: &Allocation, target: &Target) -> HashSet<usize> {
    let mut out = HashSet::new();
    if !target.features().lsc {
        return out;
    }
    let state = u32::from(STATE);
    let state = bits(state, state + Type::Ud.bytes());
    let place = |r: VirtReg| {
        let r = r.as_grf()?;
        let start = alloc.address[r];
        Some(start..start + code.vregs[r].bytes)
    };
    let names_it = |m: &MInst| match m {
        MInst::LoadAddress { .. } => true,
        MInst::Op { inst, .. } => inst.send.is_some_and(|d| matches!(d.ex, Desc::Reg(_))),
        _ => false,
    };
    for (block, data) in &code.blocks {
        if !code.block_insts(block).iter().any(names_it) {
            continue;
        }
        let mut live = 0;
        for i in (data.start..data.end).rev() {
            match &code.insts[i] {
                &MInst::LoadAddress { sub, count, .. } => {
                    let start = u32::from(sub) * Type::Uw.bytes();
                    live &= !bits(start, start + count.channels() * Type::Uw.bytes());
                }
                MInst::Op { inst, .. } => {
                    let (mut read, mut written) = (0, 0);
                    effects::accesses(target.platform(), inst, place, |a| {
                        if a.storage == Storage::Address {
                            let of = if a.write { &mut written } else { &mut read };
                            *of |= bits(a.start, a.end);
                        }
                    });
                    let whole = inst.pred.is_none();
                    live = if whole { live & !written } else { live } | read;
                    let message = inst.send.filter(|d| matches!(d.ex, Desc::Imm(_)));
                    let message = message.and_then(|_| effects::message(target.platform(), inst));
                    if live & state != 0 && message.is_some_and(|m| spill::slot(&m).is_some()) {
                        out.insert(i);
                    }
                }
                _ => {}
            }
        }
    }
    out
}
