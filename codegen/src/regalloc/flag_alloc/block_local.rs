//! Flags that live in one block each, of which no more live at once than there are: the lowest that
//! is free.
//!
//! Most functions have no others, and for those nothing has to be searched. Work: linear.

use super::{Use, each_flag, each_named, physical, predicate_is_kept};
use crate::mir::{MInst, VCode, VFlag};
use crate::sized;
use cranelift_entity::SecondaryMap;
use gantry_isa_gen::RegRef;

/// Where a flag is used.
#[derive(Clone, Copy, Default)]
struct Life {
    /// Its block, counted from 1.
    block: u32,
    /// The last instruction that names it.
    last: u32,
    register: u8,
}

/// The flag whose bits an instruction keeps.
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
        Use::Write => writes = true,
        Use::Read | Use::Predicate => f(flag, false),
    });
    // As the predicate it was named.
    if let Some(k) = kept(m).filter(|_| !predicate_is_kept(m)) {
        f(k, false);
    }
    if writes {
        each_named(m, |flag, u| {
            if u == Use::Write {
                f(flag, true);
            }
        });
    }
}

/// Gives every flag one of so many registers; nothing is changed where that is not so simple.
/// `whole`: registers are of 32 bits.
pub(super) fn allocate(code: &mut VCode, count: u32, whole: bool) -> bool {
    let simple = code.routines.len() == 1 && code.blocks.values().all(|b| b.flags.is_empty());
    let Some(lives) = simple.then(|| lives(code, count)).flatten() else {
        return false;
    };
    for m in &mut code.insts {
        if let MInst::Op { .. } | MInst::Branch { .. } | MInst::Leave { .. } = m {
            each_flag(m, |at, _| {
                if let Some(f) = at.reg.as_flag() {
                    let p = physical(lives[f].register.into(), whole);
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

/// The lives and registers of all flags, if each is of one block, and begins with what writes it,
/// and there are enough registers. A block is done before the next one is looked at: a large
/// function's code is read once.
fn lives(code: &VCode, count: u32) -> Option<SecondaryMap<VFlag, Life>> {
    let mut lives: SecondaryMap<VFlag, Life> = sized(code.flags.len());
    for (n, b) in (1u32..).zip(code.blocks.values()) {
        let insts = code.insts.get(b.start..b.end)?;
        let mut local = true;
        for (i, m) in (b.start as u32..).zip(insts) {
            if let MInst::Call { .. } = m {
                return None;
            }
            each_in_order(m, |f, write| {
                let life = &mut lives[f];
                local &= if write {
                    life.block == 0
                } else {
                    life.block == n
                };
                life.block = n;
                life.last = i;
            });
        }
        if !local || !places(b.start as u32, insts, count, &mut lives) {
            return None;
        }
    }
    Some(lives)
}

/// Gives each flag of a block a register, if there are enough. `start`: the number of the block's
/// first instruction.
fn places(start: u32, insts: &[MInst], count: u32, lives: &mut SecondaryMap<VFlag, Life>) -> bool {
    let mut taken = 0u8;
    let mut fits = true;
    for (i, m) in (start..).zip(insts) {
        let keeps = kept(m);
        each_in_order(m, |f, write| {
            let last = lives[f].last == i;
            if write {
                // The kept one becomes the new one: nobody may ask for it later.
                let at = match keeps {
                    Some(k) => {
                        fits &= lives[k].last == i;
                        lives[k].register
                    }
                    None => taken.trailing_ones() as u8,
                };
                fits &= u32::from(at) < count;
                lives[f].register = at;
                if !last {
                    taken |= 1u8.checked_shl(at.into()).unwrap_or(0);
                }
            } else if last {
                taken &= !(1u8.checked_shl(lives[f].register.into()).unwrap_or(0));
            }
        });
    }
    fits
}
