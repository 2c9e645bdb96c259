//! Allocation of flags that are live in one block each. Each flag gets the lowest free register, as
//! long as there are enough of them.
//!
//! Most functions have only such flags, so that no search is needed. Linear time.

use super::{FlagUse, each_flag, each_named, physical, predicate_is_kept};
use crate::mir::{MInst, VCode, VFlag};
use crate::sized;
use cranelift_entity::SecondaryMap;
use gantry_isa_gen::RegRef;

/// Live range and register of a flag.
#[derive(Clone, Copy, Default)]
struct FlagRange {
    /// Index of its block plus one.
    block: u32,
    /// Last instruction that names the flag.
    last: u32,
    register: u8,
}

/// Returns the flag whose bits an instruction keeps.
fn kept(m: &MInst) -> Option<VFlag> {
    match m {
        MInst::Op { keeps, .. } => keeps.expand(),
        _ => None,
    }
}

/// Calls `f` on the flags that an instruction reads or keeps, then on those that it writes.
fn each_in_order(m: &MInst, mut f: impl FnMut(VFlag, bool)) {
    let mut writes = false;
    each_named(m, |flag, u| match u {
        FlagUse::Write => writes = true,
        FlagUse::Read | FlagUse::Predicate => f(flag, false),
    });
    // A kept predicate was already named.
    if let Some(k) = kept(m).filter(|_| !predicate_is_kept(m)) {
        f(k, false);
    }
    if writes {
        each_named(m, |flag, u| {
            if u == FlagUse::Write {
                f(flag, true);
            }
        });
    }
}

/// Gives every flag one of `count` registers. Changes nothing and returns false if that takes more
/// than this simple algorithm. `whole` selects 32-bit registers.
pub(super) fn allocate(code: &mut VCode, count: u32, whole: bool) -> bool {
    let simple = code.routines.len() == 1 && code.blocks.values().all(|b| b.flags.is_empty());
    let Some(ranges) = simple.then(|| ranges(code, count)).flatten() else {
        return false;
    };
    for m in &mut code.insts {
        if let MInst::Op { .. } | MInst::Branch { .. } | MInst::Leave { .. } = m {
            each_flag(m, |at, _| {
                if let Some(f) = at.reg.as_flag() {
                    let p = physical(ranges[f].register.into(), whole);
                    *at = RegRef::new(p.reg, p.sub + at.sub);
                }
            });
            if let MInst::Op { keeps, .. } = m {
                *keeps = None.into();
            }
        }
    }
    true
}

/// Returns live ranges and registers of all flags. Returns `None` unless each flag is live in one
/// block only, starts with a write, and finds a register. One block is finished before the next
/// one, so that a large function's code is read only once.
fn ranges(code: &VCode, count: u32) -> Option<SecondaryMap<VFlag, FlagRange>> {
    let mut ranges: SecondaryMap<VFlag, FlagRange> = sized(code.flags.len());
    for (n, b) in (1u32..).zip(code.blocks.values()) {
        let insts = code.insts.get(b.start..b.end)?;
        let mut local = true;
        for (i, m) in (b.start as u32..).zip(insts) {
            if let MInst::Call { .. } = m {
                return None;
            }
            each_in_order(m, |f, write| {
                let range = &mut ranges[f];
                local &= if write {
                    range.block == 0
                } else {
                    range.block == n
                };
                range.block = n;
                range.last = i;
            });
        }
        if !local || !places(b.start as u32, insts, count, &mut ranges) {
            return None;
        }
    }
    Some(ranges)
}

/// Gives each flag of a block a register. Returns false if there are too few. `start` is the index
/// of the block's first instruction.
fn places(
    start: u32,
    insts: &[MInst],
    count: u32,
    ranges: &mut SecondaryMap<VFlag, FlagRange>,
) -> bool {
    let mut taken = 0u8;
    let mut fits = true;
    for (i, m) in (start..).zip(insts) {
        let keeps = kept(m);
        each_in_order(m, |f, write| {
            let last = ranges[f].last == i;
            if write {
                // The result reuses the register of the kept flag, which must not be read later.
                let at = match keeps {
                    Some(k) => {
                        fits &= ranges[k].last == i;
                        ranges[k].register
                    }
                    None => taken.trailing_ones() as u8,
                };
                fits &= u32::from(at) < count;
                ranges[f].register = at;
                if !last {
                    taken |= 1u8.checked_shl(at.into()).unwrap_or(0);
                }
            } else if last {
                taken &= !(1u8.checked_shl(ranges[f].register.into()).unwrap_or(0));
            }
        });
    }
    fits
}
