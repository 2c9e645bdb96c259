//! Where placement would have values, if it may choose: where what they are moved to or from is, so
//! that nothing is moved, and in another bank than what an instruction reads beside them.

use super::bundles::Bundles;
use crate::mir::{MInst, VCode, VReg, VirtReg};
use gantry_isa_gen::{Dst, Inst, Op, RegRef, Region, Src};

/// How many wishes of a bundle are looked at.
const MOST: usize = 4;

/// Registers of a half of the file: banks are even and odd registers of either half.
const HALF: u32 = 64;

/// A wish of a bundle that another has to do with.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Wish {
    of: VReg,
    other: VReg,
    /// Bytes from the other's address to this one's, where they would be one; or from address to
    /// address of what is read in one step.
    behind: i32,
}

/// All wishes of some code, by their bundles' roots.
pub(in crate::regalloc) struct Hints {
    near: Vec<Wish>,
    apart: Vec<Wish>,
    grf: u32,
}

fn grf(at: RegRef<VirtReg>) -> Option<(VReg, i32)> {
    Some((at.reg.as_grf()?, i32::from(at.sub)))
}

/// The register and byte that a source begins at.
fn source(src: &Src<VirtReg>) -> Option<(VReg, i32)> {
    match src {
        Src::Direct { at, .. } => grf(*at),
        _ => None,
    }
}

/// Where a move goes and where it comes from, if it only moves: without it, both could be one.
fn moved(inst: &Inst<VirtReg>) -> Option<[(VReg, i32); 2]> {
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
    let neighbours = match region {
        Region::Rect { vs, w, hs } => lanes == 1 || hs == 1 && (vs == w || lanes <= w.into()),
        _ => false,
    };
    let same = from.bytes() == ty.bytes() && from.is_float() == ty.is_float();
    let plain = !mods.neg && !mods.abs;
    if plain && same && neighbours {
        Some([grf(to)?, grf(at)?])
    } else {
        None
    }
}

impl Hints {
    /// Of some code. `banks`: whether three-source instructions take longer where two of their
    /// sources are in one bank.
    pub(in crate::regalloc) fn new(code: &VCode, bundles: &Bundles<'_>, banks: bool) -> Hints {
        let mut out = Hints {
            near: Vec::new(),
            apart: Vec::new(),
            grf: code.grf.bytes,
        };
        let both = |list: &mut Vec<Wish>, (a, at): (VReg, i32), (b, from): (VReg, i32)| {
            let (a, b) = (bundles.find(a), bundles.find(b));
            if a != b {
                let behind = from - at;
                list.push(Wish {
                    of: a,
                    other: b,
                    behind,
                });
                list.push(Wish {
                    of: b,
                    other: a,
                    behind: -behind,
                });
            }
        };
        for m in &code.insts {
            match m {
                MInst::Copy { dst, src } => both(&mut out.near, (*dst, 0), (*src, 0)),
                MInst::Op { inst, .. } => {
                    if let Some([to, from]) = moved(inst) {
                        both(&mut out.near, to, from);
                    }
                    let three = banks && !inst.op.is_send();
                    if let (true, Some(a), Some(b)) =
                        (three, source(&inst.srcs[1]), source(&inst.srcs[2]))
                    {
                        both(&mut out.apart, a, b);
                    }
                }
                _ => {}
            }
        }
        for list in [&mut out.near, &mut out.apart] {
            list.sort_unstable();
            list.dedup();
        }
        out
    }

    fn of(list: &[Wish], root: VReg) -> &[Wish] {
        let first = list.partition_point(|w| w.of < root);
        let own = list[first..].iter().take(MOST);
        let count = own.take_while(|w| w.of == root).count();
        &list[first..first + count]
    }

    /// The addresses that would spare a bundle's moves, as far as others have their places.
    pub(in crate::regalloc) fn near(
        &self,
        root: VReg,
        place: impl Fn(VReg) -> Option<u32>,
    ) -> impl Iterator<Item = u32> {
        let own = Hints::of(&self.near, root).iter();
        own.filter_map(move |w| place(w.other)?.checked_add_signed(w.behind))
    }

    /// Whether a bundle at an address is in one bank with something that is read beside it.
    pub(in crate::regalloc) fn in_one_bank(
        &self,
        root: VReg,
        at: u32,
        place: impl Fn(VReg) -> Option<u32>,
    ) -> bool {
        Hints::of(&self.apart, root).iter().any(|w| {
            let other = place(w.other).and_then(|p| p.checked_add_signed(w.behind));
            other.is_some_and(|other| {
                let (a, b) = (at / self.grf, other / self.grf);
                a != b && a % 2 == b % 2 && a / HALF == b / HALF
            })
        })
    }
}
