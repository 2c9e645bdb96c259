//! Bundles: virtual registers that share one place because copies join them and their lives never meet.

use crate::liveness::{Liveness, Range};
use crate::vcode::{MInst, Place, VCode, VReg};
use cranelift_entity::{EntityRef, SecondaryMap};

/// Virtual registers in one place.
#[derive(Clone, Debug)]
pub struct Bundle {
    /// The registers.
    pub vregs: Vec<VReg>,
    /// Their live ranges, in order.
    pub ranges: Vec<Range>,
    /// Size in bytes.
    pub bytes: u32,
    /// Alignment in bytes.
    pub align: u32,
    /// Constraint.
    pub place: Place,
}

/// All bundles of a function.
#[derive(Clone, Debug)]
pub struct Bundles {
    list: Vec<Bundle>,
}

/// Whether two lists of ranges, each in order, share a point.
fn meet(a: &[Range], b: &[Range]) -> bool {
    let (mut i, mut j) = (0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        if x.start < y.end && y.start < x.end {
            return true;
        }
        if x.end <= y.end {
            i += 1;
        } else {
            j += 1;
        }
    }
    false
}

impl Bundles {
    /// One bundle a register, merged over copies in program order.
    pub fn merge(code: &VCode, live: &Liveness) -> Bundles {
        let mut list: Vec<Bundle> = code
            .vregs
            .iter()
            .map(|(r, d)| Bundle {
                vregs: vec![r],
                ranges: live.ranges[r].clone(),
                bytes: d.bytes,
                align: d.align,
                place: d.place,
            })
            .collect();
        let mut of: SecondaryMap<VReg, usize> = SecondaryMap::new();
        for r in code.vregs.keys() {
            of[r] = r.index();
        }
        for m in &code.insts {
            let &MInst::Copy { dst, src } = m else {
                continue;
            };
            let (a, b) = (of[dst], of[src]);
            let free = |b: &Bundle| b.place == Place::Any;
            if a == b || !free(&list[a]) || !free(&list[b]) || list[a].bytes != list[b].bytes {
                continue;
            }
            if meet(&list[a].ranges, &list[b].ranges) {
                continue;
            }
            let from = std::mem::replace(
                &mut list[b],
                Bundle {
                    vregs: Vec::new(),
                    ranges: Vec::new(),
                    bytes: 0,
                    align: 1,
                    place: Place::Any,
                },
            );
            let to = &mut list[a];
            to.align = to.align.max(from.align);
            to.ranges.extend(from.ranges);
            to.ranges.sort_by_key(|r| r.start);
            for &r in &from.vregs {
                of[r] = a;
            }
            to.vregs.extend(from.vregs);
        }
        Bundles { list }
    }

    /// The bundles that hold registers.
    pub fn iter(&self) -> impl Iterator<Item = &Bundle> {
        self.list.iter().filter(|b| !b.vregs.is_empty())
    }
}
