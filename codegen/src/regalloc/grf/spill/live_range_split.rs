//! The pieces of a register's life: where it has a value that comes from nowhere else in the file,
//! it is a register of its own.

use crate::mir::liveness::{Liveness, Range};
use crate::mir::{Access, Place, VBlock, VCode, VReg};
use cranelift_entity::EntitySet;
use std::collections::{BTreeMap, BTreeSet};

fn find(up: &mut [u32], n: u32) -> u32 {
    let mut at = n;
    while up[at as usize] != at {
        up[at as usize] = up[up[at as usize] as usize];
        at = up[at as usize];
    }
    at
}

/// Which of some ranges, in order, has a point.
fn at(ranges: &[Range], point: u32) -> Option<usize> {
    let n = ranges.partition_point(|x| x.end <= point);
    ranges.get(n).filter(|x| x.start <= point).map(|_| n)
}

/// Makes a register of each piece of these registers. What is there when the thread starts keeps
/// its name. Gives, per register with several pieces, the name of each of its ranges.
pub(super) fn split(
    code: &mut VCode,
    live: &Liveness,
    regs: &BTreeSet<VReg>,
) -> BTreeMap<VReg, Vec<VReg>> {
    let block_of = code.block_of();
    let mut names: BTreeMap<VReg, Vec<VReg>> = BTreeMap::new();
    for &r in regs {
        let ranges = &live.ranges[r];
        // What was stored where it was, and came back, may be anywhere.
        let data = &mut code.vregs[r];
        if matches!(data.place, Place::Fixed(_)) && ranges.first().is_some_and(|x| x.start > 0) {
            data.place = Place::Any;
            data.align = code.grf.natural_align(data.bytes);
        }
        if ranges.len() < 2 {
            continue;
        }
        let mut up: Vec<u32> = (0..ranges.len() as u32).collect();
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
                    // Mostly it goes on in the same range.
                    if range.start <= start && start < range.end {
                        continue;
                    }
                    if let Some(m) = at(ranges, start) {
                        let (a, b) = (find(&mut up, n as u32), find(&mut up, m as u32));
                        up[b.max(a) as usize] = a.min(b);
                    }
                }
            }
        }
        let data = code.vregs[r];
        let fixed = matches!(data.place, Place::Fixed(_));
        let mut of: BTreeMap<u32, VReg> = BTreeMap::new();
        let mut list = Vec::with_capacity(ranges.len());
        for n in 0..ranges.len() as u32 {
            let root = find(&mut up, n);
            let name = *of.entry(root).or_insert_with(|| match n {
                0 => r,
                _ => {
                    let mut data = data;
                    if fixed {
                        data.place = Place::Any;
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
    // In the code's order: register by register, each instruction would be out of the way of the
    // one before.
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
            // A value is read at the point, and there after it where it is written.
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
