//! Values that are cheap to make are made again where they are read, instead of living up to there
//! where more lives than the file has.
//!
//! What the optimizer found to be the same is computed once, addresses above all, and lives from
//! its first reader to its last. Where that is too much, a value is worth its bytes only if it
//! costs more to make than to fetch: what few integer instructions make of values that live anyway,
//! or live a little longer for all that are made of them, has a register of its own from right
//! before each reader that stands behind a stretch without room.
//!
//! Needs: [`VCode`] without calls, its [`Liveness`]. Makes: the same code, with such instructions
//! repeated; those that nobody reads any more are gone.

mod peaks;
#[cfg(test)]
mod tests;

use crate::error::CodegenError;
use crate::mir::insert::{Inserted, insert, remove};
use crate::mir::liveness::{Liveness, Occurrences, liveness};
use crate::mir::loops::Loops;
use crate::mir::{Access, MInst, Place, VBlock, VCode, VReg, VirtReg};
use cranelift_entity::SecondaryMap;
use gantry_isa_gen::{Dst, Inst, Op, Src};
use peaks::Peaks;
use smallvec::SmallVec;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Instructions that a value may take to make again, with those that make what it is made of.
const MOST: usize = 6;
/// How often all is looked at.
const ROUNDS: u32 = 3;
/// Instructions that are too few between two readers for a value to leave.
const NEAR: u32 = 8;
/// What this leaves free of the file, as a part of it: values are aligned.
const SLACK: u32 = 32;

/// How a value is made.
#[derive(Clone, Default)]
struct Cheap {
    /// The instructions, of one block.
    writes: SmallVec<[u32; 2]>,
    /// The registers that they read.
    sources: SmallVec<[VReg; 2]>,
}

/// What makes a value before an instruction.
#[derive(Clone, Default)]
struct Recipe {
    /// Instructions to be repeated, in order.
    insts: SmallVec<[u32; MOST]>,
    /// Registers that these write.
    regs: SmallVec<[VReg; 4]>,
    /// Registers that they read and that do not live any more.
    leaves: SmallVec<[VReg; 2]>,
}

/// A value that may leave before a reader.
struct Item {
    reg: VReg,
    /// The reader before it, or what makes the value.
    from: u32,
    reader: u32,
    recipe: Recipe,
}

struct Remake<'a> {
    code: &'a VCode,
    live: &'a Liveness,
    occurrences: Arc<Occurrences>,
    block_of: Vec<u32>,
    loops: Loops,
    cheap: SecondaryMap<VReg, Option<Cheap>>,
    peaks: Peaks,
    limit: u32,
}

/// Makes values again while more than `limit` bytes live somewhere, a few times at most: each time
/// by what lives then. The code's liveness.
///
/// # Errors
/// As those of [`liveness`].
pub(crate) fn remake_to_fit(
    name: &str,
    code: &mut VCode,
    mut live: Liveness,
    limit: u32,
) -> Result<Liveness, CodegenError> {
    for _ in 0..ROUNDS {
        if remake(code, &live, limit) == 0 {
            break;
        }
        let before = live.peak().1;
        live = liveness(name, code)?;
        if live.peak().1 >= before {
            break;
        }
    }
    Ok(live)
}

/// Makes values again where more than `limit` bytes live; how many.
fn remake(code: &mut VCode, live: &Liveness, limit: u32) -> u32 {
    let room = limit - limit / SLACK;
    if live.peak().1 <= limit || !live.abandoned.is_empty() || code.routines.len() > 1 {
        return 0;
    }
    let mut r = Remake::new(code, live, room);
    let items = r.items();
    let chosen = r.choose(items);
    if chosen.is_empty() {
        return 0;
    }
    let Remake {
        occurrences,
        block_of,
        cheap,
        ..
    } = r;
    Edit {
        occurrences: &occurrences,
        block_of: &block_of,
        cheap: &cheap,
        live,
        code,
        new: Vec::new(),
        reads: SecondaryMap::new(),
        made: 0,
    }
    .carry_out(&chosen)
}

/// Whether an instruction computes the same wherever it stands, as long as its sources are the
/// same: integers, in all lanes, of registers and immediates.
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

impl<'a> Remake<'a> {
    fn new(code: &'a VCode, live: &'a Liveness, limit: u32) -> Remake<'a> {
        let mut out = Remake {
            code,
            live,
            occurrences: live.occurrences(code),
            block_of: code.block_of(),
            loops: Loops::new(code),
            cheap: SecondaryMap::with_capacity(code.vregs.len()),
            peaks: Peaks::new(live.demand.iter().map(|d| d.peak())),
            limit,
        };
        for r in code.vregs.keys() {
            out.cheap[r] = out.cheap(r);
        }
        out
    }

    fn block(&self, inst: u32) -> VBlock {
        VBlock::from_u32(self.block_of.get(inst as usize).copied().unwrap_or(0))
    }

    /// The last instruction that writes a register which has one value wherever it is read; none
    /// for what the thread begins with.
    fn stable(&self, r: VReg) -> Option<Option<u32>> {
        let list = self.occurrences.of(r);
        let mut writes = list.iter().filter(|o| o.access != Access::Use);
        let Some(first) = writes.next() else {
            return matches!(self.code.vregs[r].place, Place::Fixed(_)).then_some(None);
        };
        let last = writes.next_back().unwrap_or(first);
        // Where it is read, it was written: it would live from the start on else.
        let never_before = self.live.ranges[r].first().is_some_and(|x| x.start > 0);
        let begins = first.access == Access::Def
            && list.first().is_some_and(|o| o.access == Access::Def)
            && !list
                .iter()
                .any(|o| o.access == Access::Def && o.inst > first.inst);
        let one = self.block(first.inst) == self.block(last.inst);
        (never_before && begins && one).then_some(Some(last.inst))
    }

    /// How a register is made, if that may be repeated.
    fn cheap(&self, r: VReg) -> Option<Cheap> {
        let code = self.code;
        let last = self.stable(r)??;
        if code.vregs[r].place != Place::Any {
            return None;
        }
        let mut out = Cheap::default();
        for o in self.occurrences.of(r) {
            match o.access {
                Access::Use if o.inst <= last => {
                    // Read by what makes the rest of it, at most.
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
            if out.writes.len() > MOST {
                return None;
            }
        }
        for &i in &out.writes {
            let Some(MInst::Op { inst, .. }) = code.insts.get(i as usize) else {
                return None;
            };
            if !is_plain(inst) {
                return None;
            }
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
        let stays = |s: &VReg| match self.stable(*s) {
            Some(None) => true,
            Some(Some(home)) => home < first || self.block(home) != self.block(first),
            None => false,
        };
        // Constants are made again when they are spilled.
        (!out.sources.is_empty() && out.sources.iter().all(stays)).then_some(out)
    }

    /// What makes a register before an instruction.
    fn recipe(&self, r: VReg, reader: u32) -> Recipe {
        let mut out = Recipe::default();
        recipe(&self.cheap, self.live, (r, reader), 0, &mut out);
        out
    }

    /// Every value with a stretch behind it that has no room, before a reader.
    fn items(&mut self) -> Vec<Item> {
        let mut out = Vec::new();
        for r in self.code.vregs.keys() {
            // Few bytes are not worth it.
            let small = self.code.vregs[r].bytes < self.code.grf.bytes;
            let made = self.cheap[r].as_ref().filter(|_| !small);
            let Some(&last) = made.and_then(|c| c.writes.last()) else {
                continue;
            };
            let depth = self.loops.depth(self.block(last));
            let mut readers: SmallVec<[u32; 8]> = SmallVec::new();
            let mut plain = true;
            for o in self.occurrences.of(r).iter().filter(|o| o.inst > last) {
                let m = self.code.insts.get(o.inst as usize);
                plain &= matches!(m, Some(MInst::Op { .. } | MInst::Copy { .. }));
                plain &= self.loops.depth(self.block(o.inst)) <= depth;
                if readers.last() != Some(&o.inst) {
                    readers.push(o.inst);
                }
            }
            if !plain {
                continue;
            }
            let mut from = last;
            for reader in readers {
                if reader - from > NEAR && self.peaks.most(from + 1, reader) > i64::from(self.limit)
                {
                    out.push(Item {
                        reg: r,
                        from,
                        reader,
                        recipe: self.recipe(r, reader),
                    });
                }
                from = reader;
            }
        }
        out
    }

    /// The readers before which registers are made again.
    fn choose(&mut self, items: Vec<Item>) -> BTreeMap<VReg, Vec<u32>> {
        let bytes = |r: VReg| self.code.vregs[r].bytes;
        let area = |r: VReg, from: u32, to: u32| u64::from(bytes(r)) * u64::from(to - from);
        // Where a register ends that is to live longer.
        let ends = |r: VReg, reader: u32| {
            let ranges = &self.live.ranges[r];
            let n = ranges.partition_point(|x| x.end <= reader * 2);
            let end = n.checked_sub(1).and_then(|n| ranges.get(n));
            end.map_or(0, |x| x.end / 2).min(reader)
        };
        // What is made of the same pays together for that to live longer.
        let mut groups: BTreeMap<SmallVec<[VReg; 2]>, (u64, u32)> = BTreeMap::new();
        for i in &items {
            let (saved, last) = groups.entry(i.recipe.leaves.clone()).or_default();
            *saved += area(i.reg, i.from, i.reader);
            *last = (*last).max(i.reader);
        }
        let pays = |i: &&Item| {
            let group = groups.get(&i.recipe.leaves);
            group.is_some_and(|&(saved, last)| {
                let all = i.recipe.leaves.iter();
                let longer: u64 = all.map(|l| area(*l, ends(*l, last), last)).sum();
                saved > 2 * longer
            })
        };
        let mut order: Vec<&Item> = items.iter().filter(pays).collect();
        // First what is long and cheap.
        order.sort_by_key(|i| {
            let worth = area(i.reg, i.from, i.reader) / i.recipe.insts.len().max(1) as u64;
            (Reverse(worth), i.reader, i.reg)
        });
        let mut until: BTreeMap<VReg, u32> = BTreeMap::new();
        let mut out: BTreeMap<VReg, Vec<u32>> = BTreeMap::new();
        for i in order {
            if self.peaks.most(i.from + 1, i.reader) <= i64::from(self.limit) {
                continue;
            }
            self.peaks
                .add(i.from + 1, i.reader, -i64::from(bytes(i.reg)));
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

/// Gathers what makes a register before an instruction. `pending`: instructions that come behind
/// it.
fn recipe(
    cheap: &SecondaryMap<VReg, Option<Cheap>>,
    live: &Liveness,
    (r, reader): (VReg, u32),
    pending: usize,
    out: &mut Recipe,
) {
    let Some(made) = &cheap[r] else {
        return;
    };
    let pending = pending + made.writes.len();
    for &s in &made.sources {
        if live.lives_at(s, reader * 2) || out.regs.contains(&s) || out.leaves.contains(&s) {
            continue;
        }
        let more = cheap[s].as_ref().map_or(MOST + 1, |c| c.writes.len());
        if out.insts.len() + more + pending <= MOST {
            recipe(cheap, live, (s, reader), pending, out)
        } else {
            out.leaves.push(s)
        }
    }
    out.insts.extend_from_slice(&made.writes);
    out.regs.push(r);
}

/// What was chosen, done.
struct Edit<'a> {
    occurrences: &'a Occurrences,
    block_of: &'a [u32],
    cheap: &'a SecondaryMap<VReg, Option<Cheap>>,
    live: &'a Liveness,
    code: &'a mut VCode,
    new: Vec<Inserted>,
    /// Per register how often others than what makes it read it.
    reads: SecondaryMap<VReg, u32>,
    made: u32,
}

/// The registers that an instruction reads but those that it writes, as often as it does.
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

impl Edit<'_> {
    fn carry_out(mut self, chosen: &BTreeMap<VReg, Vec<u32>>) -> u32 {
        for m in &self.code.insts {
            reads_of(m, |r| self.reads[r] += 1);
        }
        for (&r, readers) in chosen {
            self.register(r, readers);
        }
        // What nobody reads any more, and what only that read.
        let mut gone = vec![false; self.code.insts.len()];
        let mut work: Vec<VReg> = chosen.keys().copied().collect();
        while let Some(r) = work.pop() {
            let Some(made) = self.cheap[r].as_ref().filter(|_| self.reads[r] == 0) else {
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
        // In the order in which they were made, before each instruction.
        new.sort_by_key(|n| n.at);
        let before: Vec<usize> = new.iter().map(|n| n.at).collect();
        insert(code, new);
        // Those that were there are where they were, and behind all that came before them.
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
        self.made
    }

    /// Makes a register again before some of its readers, and where others read that come behind in
    /// other blocks.
    fn register(&mut self, r: VReg, before: &[u32]) {
        let (occurrences, cheap) = (self.occurrences, self.cheap);
        let Some(&last) = cheap[r].as_ref().and_then(|c| c.writes.last()) else {
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
            if again && let Some(name) = self.make(r, o.inst) {
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

    /// Makes a register again before an instruction; its name there.
    fn make(&mut self, r: VReg, reader: u32) -> Option<VReg> {
        let mut all = Recipe::default();
        recipe(self.cheap, self.live, (r, reader), 0, &mut all);
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
        self.made += 1;
        names.iter().find(|n| n.0 == r).map(|n| n.1)
    }
}
