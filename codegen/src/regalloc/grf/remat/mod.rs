//! Rematerialization: cheap values are computed again before their readers, instead of being live
//! where demand exceeds the GRF file.
//!
//! The optimizer computes common values once, above all addresses, and they are live from their
//! first reader to the last. If demand is too high, such a value is worth its bytes only if
//! recomputing costs more than a fill. Candidates take a few integer instructions. Their sources
//! are live anyway, or become live a little longer for all values computed from them. Before each
//! reader after a stretch of high demand, such a value is recomputed into a register of its own.
//!
//! Input: [`VCode`] without calls, and its [`Liveness`]. Output: the same code with repeated
//! instructions, and without those that have no readers left.

mod peaks;
#[cfg(test)]
mod tests;

use crate::error::CodegenError;
use crate::mir::insert::{Inserted, insert, remove};
use crate::mir::liveness::{Liveness, Occurrences, liveness};
use crate::mir::loops::Loops;
use crate::mir::{Access, MInst, RegConstraint, VBlock, VCode, VReg, VirtReg};
use cranelift_entity::SecondaryMap;
use gantry_isa_gen::{Dst, Inst, Op, Src};
use peaks::Peaks;
use smallvec::SmallVec;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Maximum number of instructions to rematerialize a value, including its sources.
const MAX_INSTS: usize = 6;
/// Maximum number of rounds over the whole code.
const ROUNDS: u32 = 3;
/// Minimum distance, in instructions, between two readers for a value to leave.
const MIN_DISTANCE: u32 = 8;
/// Reciprocal of the fraction of the GRF file that stays free, since alignment wastes bytes.
const SLACK: u32 = 32;

/// Rematerializable definition of a value.
#[derive(Clone, Default)]
struct RematDef {
    /// Instructions of the definition, all in one block.
    writes: SmallVec<[u32; 2]>,
    /// Registers that the instructions read.
    sources: SmallVec<[VReg; 2]>,
}

/// Instructions that rematerialize a value before a reader.
#[derive(Clone, Default)]
struct RematRecipe {
    /// Instructions to repeat, in order.
    insts: SmallVec<[u32; MAX_INSTS]>,
    /// Registers that the instructions write.
    regs: SmallVec<[VReg; 4]>,
    /// Registers that they read and that are not live there.
    leaves: SmallVec<[VReg; 2]>,
}

/// Value that may be rematerialized before a reader.
struct Candidate {
    reg: VReg,
    /// Previous reader, or the definition.
    from: u32,
    /// End of its live range: the reader, or the end of the reader's loop.
    to: u32,
    reader: u32,
    recipe: RematRecipe,
}

/// Analysis of the values that can be rematerialized, and of demand.
struct Remat<'a> {
    code: &'a VCode,
    live: &'a Liveness,
    occurrences: Arc<Occurrences>,
    block_of: Vec<u32>,
    loops: Loops,
    defs: SecondaryMap<VReg, Option<RematDef>>,
    peaks: Peaks,
    limit: u32,
}

/// Rematerializes values while more than `limit` bytes are live somewhere, for a few rounds at
/// most. Each round uses the demand at that time. Returns the liveness of the code if it changed.
///
/// # Errors
/// Returns the errors of [`liveness`].
pub(crate) fn remat_to_fit(
    name: &str,
    code: &mut VCode,
    live: &Liveness,
    limit: u32,
) -> Result<Option<Liveness>, CodegenError> {
    let mut changed: Option<Liveness> = None;
    for _ in 0..ROUNDS {
        let before = changed.as_ref().unwrap_or(live);
        if remat_round(code, before, limit) == 0 {
            break;
        }
        let after = liveness(name, code)?;
        let lower = after.peak().1 < before.peak().1;
        changed = Some(after);
        if !lower {
            break;
        }
    }
    Ok(changed)
}

/// Rematerializes values where more than `limit` bytes are live. Returns the number of
/// rematerializations.
fn remat_round(code: &mut VCode, live: &Liveness, limit: u32) -> u32 {
    let room = limit - limit / SLACK;
    if live.least() <= limit || !live.abandoned.is_empty() || code.routines.len() > 1 {
        return 0;
    }
    let mut r = Remat::new(code, live, room);
    let candidates = r.candidates();
    let chosen = r.choose(candidates);
    if chosen.is_empty() {
        return 0;
    }
    let Remat {
        occurrences,
        block_of,
        defs,
        ..
    } = r;
    RematEdit {
        occurrences: &occurrences,
        block_of: &block_of,
        defs: &defs,
        live,
        code,
        new: Vec::new(),
        reads: SecondaryMap::new(),
        count: 0,
    }
    .apply(&chosen)
}

/// Returns true if an instruction computes the same wherever its sources have the same values:
/// integers, in all channels, from registers and immediates.
fn is_plain(inst: &Inst<VirtReg>) -> bool {
    let op = matches!(
        inst.op,
        Op::Mov | Op::Add | Op::Shl | Op::Shr | Op::Asr | Op::And | Op::Or | Op::Xor | Op::Not
    );
    let integer = |ty: gantry_isa_gen::Type| !ty.is_float();
    let dst = matches!(inst.dst, Dst::Direct { ty, .. } if integer(ty));
    let src = |s: &Src<VirtReg>| match s {
        Src::Direct { at, ty, .. } => at.reg.is_grf() && integer(*ty),
        Src::Imm { ty, .. } => integer(*ty),
        Src::None => true,
        _ => false,
    };
    let all = inst.no_mask && inst.pred.is_none() && inst.cond.is_none() && !inst.sat;
    op && all && dst && inst.srcs.iter().all(src)
}

impl<'a> Remat<'a> {
    fn new(code: &'a VCode, live: &'a Liveness, limit: u32) -> Remat<'a> {
        let mut out = Remat {
            code,
            live,
            occurrences: live.occurrences(code),
            block_of: code.block_of(),
            loops: Loops::new(code),
            defs: SecondaryMap::with_capacity(code.vregs.len()),
            peaks: Peaks::new(live.demand.iter().map(|d| d.least())),
            limit,
        };
        for r in code.vregs.keys() {
            out.defs[r] = out.rematerializable(r);
        }
        out
    }

    fn block(&self, inst: u32) -> VBlock {
        VBlock::from_u32(self.block_of.get(inst as usize).copied().unwrap_or(0))
    }

    /// Returns the last instruction that writes a register, if the register has the same value
    /// wherever it is read. Returns `Some(None)` for payload registers.
    fn stable(&self, r: VReg) -> Option<Option<u32>> {
        let list = self.occurrences.of(r);
        let mut writes = list.iter().filter(|o| o.access != Access::Use);
        let Some(first) = writes.next() else {
            return matches!(self.code.vregs[r].constraint, RegConstraint::Fixed(_))
                .then_some(None);
        };
        let last = writes.next_back().unwrap_or(first);
        // Every read is after a write. Otherwise the register would be live at the start.
        let never_before = self.live.ranges[r].first().is_some_and(|x| x.start > 0);
        let begins = first.access == Access::Def
            && list.first().is_some_and(|o| o.access == Access::Def)
            && !list
                .iter()
                .any(|o| o.access == Access::Def && o.inst > first.inst);
        let one = self.block(first.inst) == self.block(last.inst);
        (never_before && begins && one).then_some(Some(last.inst))
    }

    /// Returns the definition of a register if it can be rematerialized.
    fn rematerializable(&self, r: VReg) -> Option<RematDef> {
        let code = self.code;
        let mut list = self.occurrences.of(r).iter();
        let first = list.find(|o| o.access != Access::Use)?;
        let plain = |i: u32| match code.insts.get(i as usize) {
            Some(MInst::Op { inst, .. }) => Some(inst).filter(|inst| is_plain(inst)),
            _ => None,
        };
        // Most registers are ruled out by this alone.
        plain(first.inst)?;
        let last = self.stable(r)??;
        if code.vregs[r].constraint != RegConstraint::Any {
            return None;
        }
        let mut out = RematDef::default();
        for o in self.occurrences.of(r) {
            match o.access {
                Access::Use if o.inst <= last => {
                    // Only later instructions of the definition itself may read it.
                    let m = code.insts.get(o.inst as usize)?;
                    let mut own = false;
                    m.for_each_vreg(|w, a| own |= w == r && a != Access::Use);
                    if !own {
                        return None;
                    }
                }
                Access::Use => {}
                _ if out.writes.last() == Some(&o.inst) => {}
                _ => out.writes.push(o.inst),
            }
            if out.writes.len() > MAX_INSTS {
                return None;
            }
        }
        for &i in &out.writes {
            let inst = plain(i)?;
            for s in &inst.srcs {
                if let Src::Direct { at, .. } = s
                    && let Some(s) = at.reg.as_grf()
                    && s != r
                    && !out.sources.contains(&s)
                {
                    out.sources.push(s);
                }
            }
        }
        let first = out.writes.first().copied()?;
        let is_stable = |s: &VReg| match self.stable(*s) {
            Some(None) => true,
            Some(Some(home)) => home < first || self.block(home) != self.block(first),
            None => false,
        };
        // Spilling rematerializes constants.
        (!out.sources.is_empty() && out.sources.iter().all(is_stable)).then_some(out)
    }

    /// Returns the recipe of a register before an instruction.
    fn recipe(&self, r: VReg, reader: u32) -> RematRecipe {
        let mut out = RematRecipe::default();
        recipe(&self.defs, self.live, (r, reader), 0, &mut out);
        out
    }

    /// Returns all values, before a reader, that are live through a stretch where demand exceeds
    /// the limit.
    fn candidates(&mut self) -> Vec<Candidate> {
        let mut out = Vec::new();
        for r in self.code.vregs.keys() {
            // Small values are not worth it.
            let small = self.code.vregs[r].bytes < self.code.grf.bytes;
            let made = self.defs[r].as_ref().filter(|_| !small);
            let Some(&last) = made.and_then(|c| c.writes.last()) else {
                continue;
            };
            let depth = self.loops.depth(self.block(last));
            let mut readers: SmallVec<[u32; 8]> = SmallVec::new();
            let mut plain = true;
            let mut deeper = false;
            for o in self.occurrences.of(r).iter().filter(|o| o.inst > last) {
                let m = self.code.insts.get(o.inst as usize);
                plain &= matches!(m, Some(MInst::Op { .. } | MInst::Copy { .. }));
                deeper |= self.loops.depth(self.block(o.inst)) > depth;
                if readers.last() != Some(&o.inst) {
                    readers.push(o.inst);
                }
            }
            if !plain || deeper && readers.len() > 1 {
                continue;
            }
            // A value that enters a loop is live up to its end.
            let end = self.live.ranges[r].last().map_or(0, |x| x.end / 2);
            let mut from = last;
            for reader in readers {
                let to = if deeper { end.max(reader) } else { reader };
                if reader - from > MIN_DISTANCE
                    && self.peaks.max(from + 1, to) > i64::from(self.limit)
                {
                    let recipe = self.recipe(r, reader);
                    // In a loop, one instruction is cheaper than a fill, and more may not be.
                    if deeper && (recipe.insts.len() > 1 || !recipe.leaves.is_empty()) {
                        continue;
                    }
                    out.push(Candidate {
                        reg: r,
                        from,
                        to,
                        reader,
                        recipe,
                    });
                }
                from = reader;
            }
        }
        out
    }

    /// Chooses the readers that each register is rematerialized before.
    fn choose(&mut self, candidates: Vec<Candidate>) -> BTreeMap<VReg, Vec<u32>> {
        let bytes = |r: VReg| self.code.vregs[r].bytes;
        let area = |r: VReg, from: u32, to: u32| u64::from(bytes(r)) * u64::from(to - from);
        // End of the live range that would be extended to a reader.
        let ends = |r: VReg, reader: u32| {
            let ranges = &self.live.ranges[r];
            let n = ranges.partition_point(|x| x.end <= reader * 2);
            let end = n.checked_sub(1).and_then(|n| ranges.get(n));
            end.map_or(0, |x| x.end / 2).min(reader)
        };
        // All values with the same extended sources pay together for the extension.
        let mut groups: BTreeMap<SmallVec<[VReg; 2]>, (u64, u32)> = BTreeMap::new();
        for i in &candidates {
            let (saved, last) = groups.entry(i.recipe.leaves.clone()).or_default();
            *saved += area(i.reg, i.from, i.to);
            *last = (*last).max(i.reader);
        }
        let pays = |i: &&Candidate| {
            let group = groups.get(&i.recipe.leaves);
            group.is_some_and(|&(saved, last)| {
                let all = i.recipe.leaves.iter();
                let longer: u64 = all.map(|l| area(*l, ends(*l, last), last)).sum();
                saved > 2 * longer
            })
        };
        let mut order: Vec<&Candidate> = candidates.iter().filter(pays).collect();
        // Prefers long live ranges and few instructions.
        order.sort_by_key(|i| {
            let worth = area(i.reg, i.from, i.to) / i.recipe.insts.len().max(1) as u64;
            (Reverse(worth), i.reader, i.reg)
        });
        let mut until: BTreeMap<VReg, u32> = BTreeMap::new();
        let mut out: BTreeMap<VReg, Vec<u32>> = BTreeMap::new();
        for i in order {
            if self.peaks.max(i.from + 1, i.to) <= i64::from(self.limit) {
                continue;
            }
            self.peaks.add(i.from + 1, i.to, -i64::from(bytes(i.reg)));
            for &l in &i.recipe.leaves {
                let end = until.entry(l).or_insert_with(|| ends(l, i.reader));
                if *end < i.reader {
                    self.peaks.add(*end, i.reader, bytes(l).into());
                    *end = i.reader;
                }
            }
            out.entry(i.reg).or_default().push(i.reader);
        }
        out.values_mut().for_each(|list| list.sort_unstable());
        out
    }
}

/// Collects the instructions that define a register before a reader. `pending` is the number of
/// instructions that follow them.
fn recipe(
    defs: &SecondaryMap<VReg, Option<RematDef>>,
    live: &Liveness,
    (r, reader): (VReg, u32),
    pending: usize,
    out: &mut RematRecipe,
) {
    let Some(made) = &defs[r] else {
        return;
    };
    let pending = pending + made.writes.len();
    for &s in &made.sources {
        if live.lives_at(s, reader * 2) || out.regs.contains(&s) || out.leaves.contains(&s) {
            continue;
        }
        let more = defs[s].as_ref().map_or(MAX_INSTS + 1, |c| c.writes.len());
        if out.insts.len() + more + pending <= MAX_INSTS {
            recipe(defs, live, (s, reader), pending, out)
        } else {
            out.leaves.push(s)
        }
    }
    out.insts.extend_from_slice(&made.writes);
    out.regs.push(r);
}

/// Rewriting of the code.
struct RematEdit<'a> {
    occurrences: &'a Occurrences,
    block_of: &'a [u32],
    defs: &'a SecondaryMap<VReg, Option<RematDef>>,
    live: &'a Liveness,
    code: &'a mut VCode,
    new: Vec<Inserted>,
    /// Number of reads of each register, except by its own definition.
    reads: SecondaryMap<VReg, u32>,
    count: u32,
}

/// Calls `f` for each read of a register that the instruction does not also write.
fn reads_of(m: &MInst, mut f: impl FnMut(VReg)) {
    let mut written: SmallVec<[VReg; 2]> = SmallVec::new();
    m.for_each_vreg(|r, a| {
        if a != Access::Use {
            written.push(r);
        }
    });
    m.for_each_vreg(|r, a| {
        if a == Access::Use && !written.contains(&r) {
            f(r);
        }
    });
}

impl RematEdit<'_> {
    fn apply(mut self, chosen: &BTreeMap<VReg, Vec<u32>>) -> u32 {
        for m in &self.code.insts {
            reads_of(m, |r| self.reads[r] += 1);
        }
        for (&r, readers) in chosen {
            self.rewrite_readers(r, readers);
        }
        // Removes definitions without readers, then sources that only those read.
        let mut gone = vec![false; self.code.insts.len()];
        let mut work: Vec<VReg> = chosen.keys().copied().collect();
        while let Some(r) = work.pop() {
            let Some(made) = self.defs[r].as_ref().filter(|_| self.reads[r] == 0) else {
                continue;
            };
            for &i in &made.writes {
                if !std::mem::replace(&mut gone[i as usize], true) {
                    reads_of(&self.code.insts[i as usize], |s| {
                        self.reads[s] = self.reads[s].saturating_sub(1);
                        work.push(s);
                    });
                }
            }
        }
        let (code, mut new) = (self.code, self.new);
        // Keeps the order of insertion before each instruction.
        new.sort_by_key(|n| n.at);
        let before: Vec<usize> = new.iter().map(|n| n.at).collect();
        insert(code, new);
        // Original instructions keep their order and come after those inserted before them.
        let mut next = 0;
        let mut gone_now = vec![false; code.insts.len()];
        for (i, g) in gone.into_iter().enumerate() {
            while before.get(next).is_some_and(|at| *at <= i) {
                next += 1;
            }
            if let Some(now) = gone_now.get_mut(i + next) {
                *now = g;
            }
        }
        remove(code, |i| gone_now.get(i).copied().unwrap_or(false));
        self.count
    }

    /// Rematerializes a register before the readers in `before`. Later readers in other blocks get
    /// definitions of their own too.
    fn rewrite_readers(&mut self, r: VReg, before: &[u32]) {
        let (occurrences, defs) = (self.occurrences, self.defs);
        let Some(&last) = defs[r].as_ref().and_then(|c| c.writes.last()) else {
            return;
        };
        let mut now: Option<(VReg, u32)> = None;
        let list = occurrences.of(r).iter().filter(|o| o.inst > last);
        let mut seen = None;
        for o in list {
            if seen.replace(o.inst) == Some(o.inst) {
                continue;
            }
            let block = self.block_of.get(o.inst as usize).copied().unwrap_or(0);
            let again = before.binary_search(&o.inst).is_ok() || now.is_some_and(|n| n.1 != block);
            if again && let Some(name) = self.rematerialize(r, o.inst) {
                now = Some((name, block));
            }
            if let Some((name, of)) = now
                && of == block
                && let Some(m) = self.code.insts.get_mut(o.inst as usize)
            {
                let reads = &mut self.reads;
                m.map_vregs(|x, a| {
                    if x != r || a != Access::Use {
                        return x;
                    }
                    reads[r] = reads[r].saturating_sub(1);
                    name
                });
            }
        }
    }

    /// Rematerializes a register before an instruction. Returns its new register.
    fn rematerialize(&mut self, r: VReg, reader: u32) -> Option<VReg> {
        let mut all = RematRecipe::default();
        recipe(self.defs, self.live, (r, reader), 0, &mut all);
        let mut names: SmallVec<[(VReg, VReg); 4]> = SmallVec::new();
        for &old in &all.regs {
            let data = self.code.vregs[old];
            names.push((old, self.code.vregs.push(data)));
        }
        for &i in &all.insts {
            let mut m = *self.code.insts.get(i as usize)?;
            m.map_vregs(|x, _| names.iter().find(|n| n.0 == x).map_or(x, |n| n.1));
            reads_of(&m, |s| self.reads[s] += 1);
            self.new.push(Inserted {
                at: reader as usize,
                after: false,
                inst: m,
            });
        }
        self.count += 1;
        names.iter().find(|n| n.0 == r).map(|n| n.1)
    }
}
