//! Versions of a parameter in its routine: registers that copies connect. With a register of a
//! result among them, the routine changes its argument in place.

use super::items;
use super::sites::{RefParam, named};
use crate::mir::bale::{Bale, BaleSrc, View};
use crate::mir::liveness::Liveness;
use crate::mir::lowered::{Lowered, LoweredFunction};
use crate::mir::{MInst, VReg};
use cranelift_entity::SecondaryMap;
use std::collections::{HashMap, HashSet};

/// Versions of a parameter that are followed.
const VERSIONS: usize = 64;

/// Copies of a function: what each register is copied to, and from.
#[derive(Default)]
struct Copies {
    to: HashMap<VReg, Vec<VReg>>,
    from: HashMap<VReg, Vec<VReg>>,
}

/// Finds the versions of each parameter.
pub(super) fn find(f: &LoweredFunction, params: &mut [RefParam]) {
    let mut copies = Copies::default();
    for block in &f.blocks {
        for at in block.code.start..block.code.end {
            if let Some(&Lowered::Inst(MInst::Copy { dst, src })) = f.code.get(at as usize) {
                copies.to.entry(src).or_default().push(dst);
                copies.from.entry(dst).or_default().push(src);
            }
        }
    }
    let mut seen: HashSet<VReg> = HashSet::new();
    for p in params {
        let results: Vec<VReg> = p
            .sites
            .first()
            .map_or_else(Vec::new, |s| results(f, s.call));
        let mut n = 0;
        while let Some(&r) = p.web.get(n) {
            n += 1;
            if results.contains(&r) {
                // Callers copy from it.
                p.whole |= p.result.is_some_and(|other| other != r);
                p.result = Some(r);
                continue;
            }
            for &to in copies.to.get(&r).into_iter().flatten() {
                if !p.web.contains(&to) {
                    p.web.push(to);
                }
            }
            if p.web.len() > VERSIONS {
                p.whole = true;
                break;
            }
        }
        let same = |r: &VReg| f.vregs[*r].bytes == f.vregs[p.reg].bytes;
        let from_web = |r: &VReg| {
            let from = copies.from.get(r).into_iter().flatten();
            from.into_iter().all(|s| p.web.contains(s))
        };
        let versions = p.web.get(1..).unwrap_or_default();
        let closed = versions.iter().all(|r| same(r) && from_web(r));
        let returned = closed && p.result.is_some();
        p.whole |= !(versions.is_empty() || returned);
        // Two parameters may become one value.
        let alone = p.web.iter().all(|r| seen.insert(*r));
        p.whole |= !alone;
    }
}

/// Returns the registers of a call's results.
fn results(f: &LoweredFunction, call: usize) -> Vec<VReg> {
    let after = f.code.get(call + 1..).unwrap_or_default().iter();
    after
        .map_while(|item| match item {
            Lowered::Inst(MInst::Start { dst }) => Some(*dst),
            _ => None,
        })
        .collect()
}

/// Collects the accesses of parameters.
pub(super) fn uses(f: &LoweredFunction, params: &mut [RefParam]) {
    let mut of: SecondaryMap<VReg, u32> = SecondaryMap::new();
    // Occurrences that belong to calls.
    let mut said: HashSet<(usize, VReg)> = HashSet::new();
    for (n, p) in params.iter().enumerate() {
        for &r in &p.web {
            of[r] = n as u32 + 1;
        }
        for s in &p.sites {
            said.extend([(s.copy, p.reg), (s.touch, p.reg)]);
            if let (Some(result), Some(r)) = (s.result, p.result) {
                said.insert((result.start, r));
                said.extend(result.copy.map(|(at, _)| (at, r)));
            }
        }
    }
    let number = |r: VReg| of[r].checked_sub(1).map(|n| n as usize);
    for (b, block) in f.blocks.iter().enumerate() {
        for at in items(f, block) {
            let Some(item) = f.code.get(at) else { continue };
            let mut all: Vec<VReg> = Vec::new();
            named(item, |r, _| all.push(r));
            for r in all {
                let Some(p) = number(r).and_then(|n| params.get_mut(n)) else {
                    continue;
                };
                if said.contains(&(at, r)) {
                    continue;
                }
                match *item {
                    Lowered::Bale(ref bale) => {
                        if accesses(bale, p) {
                            if p.uses.last() != Some(&(b, at)) {
                                p.uses.push((b, at));
                            }
                        } else {
                            p.whole = true;
                        }
                    }
                    Lowered::Inst(MInst::Copy { dst, src })
                        if p.web.contains(&dst) && p.web.contains(&src) =>
                    {
                        if p.copies.last() != Some(&(b, at)) {
                            p.copies.push((b, at));
                        }
                    }
                    Lowered::Inst(MInst::Touch { reg, write: false }) if p.result == Some(reg) => {
                        p.returns.push(at);
                    }
                    _ => p.whole = true,
                }
            }
        }
    }
}

/// Returns true if a bale accesses versions of a parameter only by operands that can become
/// indirect: sources, and writes of a part if it is changed in place.
fn accesses(bale: &Bale, p: &RefParam) -> bool {
    let of = |v: &View| v.reg.as_grf().is_some_and(|r| p.web.contains(&r));
    let by = |v: &View| v.index.is_some_and(|i| of_index(p, i.reg)) || of(v) && v.index.is_some();
    let sources = bale.operation.srcs.iter().flatten();
    let mut views = sources.filter_map(|s| match s {
        BaleSrc::View(v, _) => Some(v),
        BaleSrc::Imm(..) => None,
    });
    let writes = of(&bale.dst);
    !views.any(by)
        && !by(&bale.dst)
        && !bale.carry.is_some_and(|c| of(&c) || by(&c))
        && (!writes || p.result.is_some() && !bale.starts)
}

fn of_index(p: &RefParam, r: VReg) -> bool {
    p.web.contains(&r)
}

/// Returns true if no two versions of a parameter are live at once. A copy reads and writes at one
/// point.
pub(super) fn is_one_value(live: &Liveness, p: &RefParam) -> bool {
    let mut all: Vec<(u32, u32)> = Vec::new();
    for &r in &p.web {
        if live.abandoned.contains(&r) {
            return false;
        }
        all.extend(live.ranges[r].iter().map(|x| (x.start, x.end)));
    }
    all.sort_unstable();
    all.windows(2).all(|w| w[1].0 + 1 >= w[0].1)
}
