//! Liveness of code after insertion. Live ranges of registers that only old instructions name are
//! shifted, not computed again.

use super::{
    BlockMarks, Demand, GiveUp, LiveOutLoad, Liveness, Occurrences, Range, RangeBuilder, Ranges,
    demand, within,
};
use crate::error::CodegenError;
use crate::mir::{Access, VCode, VReg};
use cranelift_entity::{EntityRef, EntitySet, SecondaryMap};

/// Result of following some registers.
struct FollowedRanges {
    /// Ranges of each of them.
    ranges: Vec<Ranges>,
    /// Instructions and the registers that they kill.
    kills: Vec<(u32, VReg)>,
    load: LiveOutLoad,
}

/// Computes the live ranges of registers `of`. Returns `None` if too much is live.
fn follow(
    code: &VCode,
    occurrences: &Occurrences,
    of: &[VReg],
    bytes: u32,
) -> Option<FollowedRanges> {
    let mut walk = RangeBuilder {
        code,
        block_of: code.block_of(),
        marks: vec![BlockMarks::default(); code.blocks.len()],
        work: Vec::new(),
        outs: Vec::new(),
        ranges: Vec::new(),
        kills: Vec::new(),
        load: LiveOutLoad::new(code, bytes),
        most: code.blocks.len(),
    };
    let mut ranges = Vec::with_capacity(of.len());
    for (&r, mark) in of.iter().zip(1..) {
        match walk.register(r, mark, false, occurrences.of(r)) {
            Ok(_) => ranges.push(Ranges::from_slice(&walk.ranges)),
            Err(GiveUp::Capacity | GiveUp::Long) => return None,
        }
    }
    let (kills, load) = (walk.kills, walk.load);
    Some(FollowedRanges {
        ranges,
        kills,
        load,
    })
}

impl Liveness {
    /// Returns the liveness of `code`, which is `before` with more instructions and more registers.
    /// `self` is the liveness of `before`. `moved` is the new index of each old instruction.
    /// `named` are the registers that new instructions name, and all new registers.
    ///
    /// # Errors
    /// As those of [`super::liveness`].
    pub(crate) fn with_inserted(
        &self,
        name: &str,
        (before, code): (&VCode, &VCode),
        moved: &[u32],
        mut named: EntitySet<VReg>,
    ) -> Result<Liveness, CodegenError> {
        let bytes = code.grf.size().saturating_mul(super::FILES);
        let old = self.occurrences(before);
        // A register that an instruction starts while it reads the old value for the last time has
        // one range. An instruction may now be in between.
        for r in before.vregs.keys() {
            let anew = |o: &super::Occurrence| {
                o.early && o.access == Access::Def && o.inst > 0 && self.lives_at(r, o.inst * 2 - 1)
            };
            if old.of(r).iter().any(anew) {
                named.insert(r);
            }
        }
        let occurrences = Occurrences::of_those(code, |r| named.contains(r));
        let followed: Vec<VReg> = code.vregs.keys().filter(|r| named.contains(*r)).collect();
        let were = before.vregs.len();
        let known: Vec<VReg> = followed
            .iter()
            .copied()
            .filter(|r| r.index() < were)
            .collect();
        let simple = self.abandoned.is_empty() && code.routines.len() < 2;
        let now = follow(code, &occurrences, &followed, bytes).filter(|_| simple);
        let (Some(now), Some(then)) = (now, follow(before, &old, &known, bytes)) else {
            return within(name, code, bytes);
        };
        let mut kills = now.kills;
        let mut ranges: Vec<Ranges> = Vec::with_capacity(code.vregs.len());
        let block_of = before.block_of();
        let place = |i: u32| moved.get(i as usize).copied().unwrap_or(0);
        let mut theirs = now.ranges.into_iter();
        for r in code.vregs.keys() {
            if named.contains(r) {
                ranges.push(theirs.next().unwrap_or_default());
                continue;
            }
            let shifted = self.ranges[r].iter().map(|x| {
                let first = x.start / 2;
                let block = block_of.get(first as usize);
                let block = block.map(|b| crate::mir::VBlock::from_u32(*b));
                // A register that is live into a block is so before all new instructions of the
                // block.
                let comes = block.filter(|b| {
                    x.start == before.blocks[*b].start as u32 * 2 && self.lives_into(&old, r, first)
                });
                let start = match comes {
                    Some(b) => code.blocks[b].start as u32 * 2,
                    None => place(first) * 2 + x.start % 2,
                };
                let last = (x.end - 1) / 2;
                let end = place(last) * 2 + (x.end - 1) % 2 + 1;
                Range { start, end }
            });
            ranges.push(shifted.collect());
        }
        let ends = self.kills.iter().filter(|k| !named.contains(k.1));
        kills.extend(ends.map(|&(i, r)| (place(i), r)));
        let ranges: SecondaryMap<VReg, Ranges> = ranges.into();
        let mut demand: Vec<Demand> = demand(code, &ranges);
        for (block, data) in &code.blocks {
            let was = before.blocks[block].end.checked_sub(1);
            let was = was.and_then(|n| self.demand.get(n)).map_or(0, |d| d.left);
            let last = data.end.checked_sub(1).and_then(|n| demand.get_mut(n));
            if let (Some(d), true) = (last, data.start < data.end) {
                let n = block.index();
                d.left = (was + now.load.bytes[n]).saturating_sub(then.load.bytes[n]);
            }
        }
        let live = Liveness {
            ranges,
            weak: SecondaryMap::new(),
            demand,
            kills,
            abandoned: Vec::new(),
            occurrences: None,
        };
        Ok(live)
    }
}
