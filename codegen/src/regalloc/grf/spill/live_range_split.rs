//! Splits live ranges after spilling. Each part of a live range whose value comes from no other
//! part in the GRF file becomes a register of its own.

use crate::graph::union_find::UnionFind;
use crate::mir::liveness::{Liveness, Range};
use crate::mir::{Access, RegConstraint, VBlock, VCode, VReg};
use cranelift_entity::{EntityRef, EntitySet, entity_impl};
use std::collections::{BTreeMap, BTreeSet};

/// Range of a register, by its index.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct RangeIndex(u32);
entity_impl!(RangeIndex);

/// Returns the index of the range, of some in order, that has a point.
fn at(ranges: &[Range], point: u32) -> Option<usize> {
    let n = ranges.partition_point(|x| x.end <= point);
    ranges.get(n).filter(|x| x.start <= point).map(|_| n)
}

/// Makes a register of each separate part of the live ranges of `regs`. The part that is live when
/// the thread starts keeps the register. For each register that was split, returns the register of
/// each of its ranges.
pub(super) fn split(
    code: &mut VCode,
    live: &Liveness,
    regs: &BTreeSet<VReg>,
) -> BTreeMap<VReg, Vec<VReg>> {
    let block_of = code.block_of();
    let mut names: BTreeMap<VReg, Vec<VReg>> = BTreeMap::new();
    for &r in regs {
        let ranges = &live.ranges[r];
        // A payload register that was stored and filled again has no fixed place any more.
        let data = &mut code.vregs[r];
        if matches!(data.constraint, RegConstraint::Fixed(_))
            && ranges.first().is_some_and(|x| x.start > 0)
        {
            data.constraint = RegConstraint::Any;
            data.align = code.grf.natural_align(data.bytes);
        }
        if ranges.len() < 2 {
            continue;
        }
        let mut parts: UnionFind<RangeIndex> = UnionFind::new(ranges.len());
        for (n, range) in ranges.iter().enumerate() {
            let inst = |point: u32| (point / 2) as usize;
            let (Some(&first), Some(&last)) = (
                block_of.get(inst(range.start)),
                block_of.get(inst(range.end - 1)),
            ) else {
                continue;
            };
            for b in first..=last {
                let data = &code.blocks[VBlock::from_u32(b)];
                if data.end as u32 * 2 > range.end {
                    continue;
                }
                for s in &data.succs {
                    let start = code.blocks[*s].start as u32 * 2;
                    // Execution mostly continues in the same range.
                    if range.start <= start && start < range.end {
                        continue;
                    }
                    if let Some(m) = at(ranges, start) {
                        let n = parts.find(RangeIndex::new(n));
                        let m = parts.find(RangeIndex::new(m));
                        // The root of a part is its first range.
                        parts.union(n.min(m), n.max(m));
                    }
                }
            }
        }
        let data = code.vregs[r];
        let fixed = matches!(data.constraint, RegConstraint::Fixed(_));
        let mut of: BTreeMap<RangeIndex, VReg> = BTreeMap::new();
        let mut list = Vec::with_capacity(ranges.len());
        for n in 0..ranges.len() as u32 {
            let root = parts.find(RangeIndex(n));
            let name = *of.entry(root).or_insert_with(|| match n {
                0 => r,
                _ => {
                    let mut data = data;
                    if fixed {
                        data.constraint = RegConstraint::Any;
                        data.align = code.grf.natural_align(data.bytes);
                    }
                    code.vregs.push(data)
                }
            });
            list.push(name);
        }
        names.insert(r, list);
    }
    if names.is_empty() {
        return names;
    }
    let mut several: EntitySet<VReg> = EntitySet::new();
    several.extend(names.keys().copied());
    // Visits the code in order. Rewriting register by register would lose locality.
    for (i, m) in (0u32..).zip(&mut code.insts) {
        let mut one = false;
        m.for_each_vreg(|r, _| one |= several.contains(r));
        if !one {
            continue;
        }
        m.map_vregs(|r, a| {
            let Some(list) = names.get(&r) else {
                return r;
            };
            // A use is live at the point itself, a definition at the next one.
            let ranges = &live.ranges[r];
            let n = match a {
                Access::Use => at(ranges, i * 2),
                Access::Def | Access::Modify => at(ranges, i * 2 + 1),
            };
            n.and_then(|n| list.get(n)).copied().unwrap_or(r)
        });
    }
    let labels: Vec<(String, VReg)> = code
        .labels
        .iter()
        .flat_map(|(name, r)| {
            let pieces: BTreeSet<VReg> = names.get(r).into_iter().flatten().copied().collect();
            let rest = pieces.into_iter().filter(move |p| p != r);
            rest.map(move |p| (name.clone(), p))
        })
        .collect();
    code.labels.extend(labels);
    names
}
