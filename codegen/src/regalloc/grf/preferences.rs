//! Placement preferences. A value prefers the place that it is moved to or from, which makes the
//! move redundant. It avoids the bank of another source of the same instruction.

use super::bundles::Bundles;
use crate::mir::{MInst, VCode, VReg, VirtReg};
use gantry_isa_gen::{Dst, Inst, Op, RegRef, Region, Src};

/// Maximum number of preferences considered per bundle.
const MAX_PREFERENCES: usize = 4;

/// GRFs of one half of the GRF file. In each half, even and odd GRFs are separate banks.
const HALF: u32 = 64;

/// Preference of a bundle relative to another one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Preference {
    of: VReg,
    other: VReg,
    /// Distance in bytes from the other bundle's address to this one's. For a move it makes both
    /// ends coincide. For a bank conflict it is between the addresses that are read together.
    offset: i32,
}

/// Preferences of all bundles, sorted by root.
pub(in crate::regalloc) struct Preferences {
    moves: Vec<Preference>,
    conflicts: Vec<Preference>,
    grf: u32,
}

fn grf(at: RegRef<VirtReg>) -> Option<(VReg, i32)> {
    Some((at.reg.as_grf()?, i32::from(at.sub)))
}

/// Returns the register of a source and the source's first byte in it.
fn source(src: &Src<VirtReg>) -> Option<(VReg, i32)> {
    match src {
        Src::Direct { at, .. } => grf(*at),
        _ => None,
    }
}

/// Returns destination and source of a plain move, which is redundant if both have one place.
fn plain_move(inst: &Inst<VirtReg>) -> Option<[(VReg, i32); 2]> {
    if inst.op != Op::Mov || inst.pred.is_some() || inst.sat || inst.cond.is_some() {
        return None;
    }
    let &Dst::Direct { at: to, hs: 1, ty } = &inst.dst else {
        return None;
    };
    let &Src::Direct {
        at,
        region,
        ty: from,
        mods,
    } = &inst.srcs[0]
    else {
        return None;
    };
    let lanes = inst.exec.channels();
    let contiguous = match region {
        Region::Rect { vs, w, hs } => lanes == 1 || hs == 1 && (vs == w || lanes <= w.into()),
        _ => false,
    };
    let same = from.bytes() == ty.bytes() && from.is_float() == ty.is_float();
    let plain = !mods.neg && !mods.abs;
    if plain && same && contiguous {
        Some([grf(to)?, grf(at)?])
    } else {
        None
    }
}

impl Preferences {
    /// Collects the preferences of a function's code. `banks` tells if three-source instructions
    /// take longer with two sources in one bank.
    pub(in crate::regalloc) fn new(
        code: &VCode,
        bundles: &Bundles<'_>,
        banks: bool,
    ) -> Preferences {
        let mut out = Preferences {
            moves: Vec::new(),
            conflicts: Vec::new(),
            grf: code.grf.bytes,
        };
        let both = |list: &mut Vec<Preference>, (a, at): (VReg, i32), (b, from): (VReg, i32)| {
            let (a, b) = (bundles.find(a), bundles.find(b));
            if a != b {
                let offset = from - at;
                list.push(Preference {
                    of: a,
                    other: b,
                    offset,
                });
                list.push(Preference {
                    of: b,
                    other: a,
                    offset: -offset,
                });
            }
        };
        for m in &code.insts {
            match m {
                MInst::Copy { dst, src } => both(&mut out.moves, (*dst, 0), (*src, 0)),
                MInst::Op { inst, .. } => {
                    if let Some([to, from]) = plain_move(inst) {
                        both(&mut out.moves, to, from);
                    }
                    let three = banks && !inst.op.is_send();
                    if let (true, Some(a), Some(b)) =
                        (three, source(&inst.srcs[1]), source(&inst.srcs[2]))
                    {
                        both(&mut out.conflicts, a, b);
                    }
                }
                _ => {}
            }
        }
        for list in [&mut out.moves, &mut out.conflicts] {
            list.sort_unstable();
            list.dedup();
        }
        out
    }

    fn of(list: &[Preference], root: VReg) -> &[Preference] {
        let first = list.partition_point(|w| w.of < root);
        let own = list[first..].iter().take(MAX_PREFERENCES);
        let count = own.take_while(|w| w.of == root).count();
        &list[first..first + count]
    }

    /// Returns the addresses that make a bundle's moves redundant, for partners that have a place
    /// already.
    pub(in crate::regalloc) fn addresses(
        &self,
        root: VReg,
        place: impl Fn(VReg) -> Option<u32>,
    ) -> impl Iterator<Item = u32> {
        let own = Preferences::of(&self.moves, root).iter();
        own.filter_map(move |w| place(w.other)?.checked_add_signed(w.offset))
    }

    /// Returns true if a bundle at an address is in the same bank as another source of an
    /// instruction.
    pub(in crate::regalloc) fn has_bank_conflict(
        &self,
        root: VReg,
        at: u32,
        place: impl Fn(VReg) -> Option<u32>,
    ) -> bool {
        Preferences::of(&self.conflicts, root).iter().any(|w| {
            let other = place(w.other).and_then(|p| p.checked_add_signed(w.offset));
            other.is_some_and(|other| {
                let (a, b) = (at / self.grf, other / self.grf);
                a != b && a % 2 == b % 2 && a / HALF == b / HALF
            })
        })
    }
}
