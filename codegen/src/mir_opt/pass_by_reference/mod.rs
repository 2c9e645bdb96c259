//! Passing of large parameters of subroutines by reference.
//!
//! A routine has a register for each parameter, which its callers copy to. If the argument is live
//! across the call, or while the routine is called with another argument, each call copies all of
//! it. So a parameter is not copied if the routine reads it only where an instruction can read it
//! indirectly. The parameter becomes a word with the byte offset of the argument in the GRF file,
//! and the routine reads it by indirect operands. Such an argument keeps its place
//! ([`routines::shared`](crate::mir::routines)). It counts as read after the call
//! ([`MInst::Touch`]), so that the routine's own registers are elsewhere.
//!
//! An argument that is a region of a larger vector is passed by its address in that vector. If the
//! routine returns its argument, changed, it writes it in place (`web.rs`): the argument counts as
//! written after the call. A result that the caller writes into a region is made there. The
//! argument is that region then, or the bale that computes it, such as a constant, writes there.
//!
//! The benefit is counted in instructions, weighted by loop depth. The gain is the copies that are
//! not made. The cost is the offsets that are passed, the addresses that are loaded, and the
//! additional splits of bales with indirect operands. Liveness of separately legalized code tells
//! which copies there would be. Only kernels that call subroutines with such parameters pay for
//! that.
//!
//! Input: lowered code whose messages have their payloads. Output: the same with some parameters as
//! words.

mod sites;
mod web;

use self::sites::{CallSite, RefParam, VectorPart, WriteBack};
use crate::isel::split_regions::{Counter, legalize};
use crate::mir::bale::{Bale, BaleSrc, Index, View};
use crate::mir::liveness::liveness;
use crate::mir::loops::Loops;
use crate::mir::lowered::{CodeRange, Lowered, LoweredBlock, LoweredFunction};
use crate::mir::srclocs::SrcLocs;
use crate::mir::{MInst, RegConstraint, VBlock, VReg, VRegData, VirtReg};
use crate::target::Target;
use cranelift_entity::EntityRef;
use gantry_isa_gen::Type;
use std::collections::{HashMap, HashSet};

/// Weight of an instruction in a loop, relative to one around the loop.
const IN_LOOP: u64 = 8;
/// Maximal loop depth that counts.
const DEEPEST: usize = 4;

/// Runs the pass. Returns the number of parameters that are passed by reference. `shares`:
/// addresses are loaded once for several operands.
pub(crate) fn run(name: &str, f: &mut LoweredFunction, target: &Target, shares: bool) -> u32 {
    let mut params = sites::calls(f);
    if params.is_empty() {
        return 0;
    }
    web::find(f, &mut params);
    sites::places(f, &mut params);
    web::uses(f, &mut params);
    params.retain(|p| !p.whole && !p.uses.is_empty());
    if params.is_empty() {
        return 0;
    }
    let Some(is_profitable) = is_profitable(name, f, target, shares, &params) else {
        return 0;
    };
    let chosen: Vec<&RefParam> = params
        .iter()
        .zip(is_profitable)
        .filter_map(|(p, gain)| gain.then_some(p))
        .collect();
    rewrite(f, &chosen);
    chosen.len() as u32
}

/// Returns the indices of a block's items in the function's code.
fn items<'a>(f: &'a LoweredFunction, block: &LoweredBlock) -> impl Iterator<Item = usize> + 'a {
    let CodeRange { start, end } = block.code;
    (start..end).flat_map(|at| {
        let at = at as usize;
        match f.code.get(at) {
            Some(Lowered::Sent(part)) => part.start as usize..part.end as usize,
            _ => at..at + 1,
        }
    })
}

/// Returns the indices of an item, or of what it was lowered to.
fn near(f: &LoweredFunction, at: usize) -> std::ops::Range<usize> {
    match f.code.get(at) {
        Some(Lowered::Sent(part)) => part.start as usize..part.end as usize,
        _ => at..at + 1,
    }
}

/// Returns a bale that accesses versions of a parameter by its offset in a word. `known` are the
/// known lowest bits of that.
fn indirect(bale: &Bale, p: &RefParam, word: VReg, (bits, residue): (u32, u32)) -> Bale {
    let mut out = *bale;
    let by_word = |v: &mut View| {
        let of = v.reg.as_grf().is_some_and(|r| p.web.contains(&r));
        if of && v.index.is_none() {
            v.reg = View::FILE;
            v.index = Some(Index {
                reg: word,
                at: 0,
                rows: 1,
                known: bits as u8,
                residue: residue as u16,
                parent: 0,
            });
        }
    };
    for s in out.operation.srcs.iter_mut().flatten() {
        if let BaleSrc::View(v, _) = s {
            by_word(v);
        }
    }
    by_word(&mut out.dst);
    out
}

/// Way in which a call passes an argument by reference.
enum Passing {
    /// The argument has a register.
    Whole,
    /// The argument is a part of a vector.
    Part(VectorPart),
    /// The result has a register, which the argument is copied to.
    Result,
    /// The argument is the part of a vector that the result is written to.
    InPlace(WriteBack),
    /// The argument is computed in the part of a vector that the result is written to.
    Computed(usize, WriteBack),
}

/// Returns how a call passes an argument.
fn passing(s: &CallSite) -> Passing {
    let part = s.def.and_then(|d| d.part);
    let Some(result) = s.result else {
        return part.map_or(Passing::Whole, Passing::Part);
    };
    match (result.back, s.def) {
        (Some(back), _) if part.is_some_and(|p| back.old == Some(p.reg) && p.is_at(&back.part)) => {
            Passing::InPlace(back)
        }
        (Some(back), Some(def)) if back.part.index.is_none() => Passing::Computed(def.at, back),
        _ => Passing::Result,
    }
}

/// Returns the known lowest bits of all addresses of a parameter: their number, and these.
fn known(f: &LoweredFunction, p: &RefParam) -> (u32, u32) {
    let grf = (f.grf.bytes.trailing_zeros(), 0);
    let of = |s: &CallSite| match passing(s) {
        Passing::Part(part) => part.known(f),
        Passing::InPlace(back) | Passing::Computed(_, back) => back.part.known(f),
        // Others are copied if they are not aligned.
        Passing::Whole | Passing::Result => grf,
    };
    let mut all = p.sites.iter().map(of);
    let first = all.next().unwrap_or(grf);
    let (bits, at) = all.fold(first, |(bits, at), (more, other)| {
        let bits = bits.min(more).min((at ^ other).trailing_zeros());
        (bits, at & ((1 << bits) - 1))
    });
    (bits, at & ((1 << bits) - 1))
}

/// Returns for each parameter whether passing it by reference is cheaper.
fn is_profitable(
    name: &str,
    f: &LoweredFunction,
    target: &Target,
    shares: bool,
    params: &[RefParam],
) -> Option<Vec<bool>> {
    let code = legalize(name, f.clone(), target, Vec::new()).ok()?;
    let live = liveness(name, &code).ok()?;
    let loops = Loops::new(&code);
    let weight = |block: usize| {
        let depth = loops.depth(VBlock::new(block)) as usize;
        IN_LOOP.pow(depth.min(DEEPEST) as u32)
    };
    let mut counter = Counter::new(f, target);
    let mut offsets: Vec<u32> = Vec::new();
    let mut out = Vec::with_capacity(params.len());
    for p in params {
        // Any word register will do for counting.
        let word = counter.word();
        let known = known(f, p);
        if !web::is_one_value(&live, p) {
            out.push(false);
            continue;
        }
        let mut more = 1;
        let mut block = None;
        for &(b, at) in &p.uses {
            let Some(Lowered::Bale(bale)) = f.code.get(at) else {
                continue;
            };
            if block != Some(b) {
                block = Some(b);
                offsets.clear();
            }
            let before = counter.count(bale, |_| {})?;
            let mut loads = 0;
            let reach = target.features().indirect_reach;
            let after = counter.count(&indirect(bale, p, word, known), |offset| {
                let near = |o: &u32| {
                    let more = offset as i32 - *o as i32;
                    (-reach..reach).contains(&more)
                };
                if !shares || !offsets.iter().any(near) {
                    loads += 1;
                    offsets.push(offset);
                }
            });
            let Some(after) = after else {
                more = u64::MAX;
                break;
            };
            more = u64::saturating_add(
                more,
                weight(b).saturating_mul(u64::from(after.saturating_sub(before) + loads)),
            );
        }
        let (mut gain, mut cost) = (0u64, 0u64);
        for s in &p.sites {
            let mut count = |at: usize| match f.code.get(at) {
                Some(Lowered::Bale(bale)) => counter.count(bale, |_| {}).unwrap_or(0),
                _ => 0,
            };
            let copies = match passing(s) {
                Passing::Part(_) => s.def.map_or(0, |d| count(d.at)),
                Passing::InPlace(back) => s.def.map_or(0, |d| count(d.at)) + count(back.write),
                Passing::Computed(_, back) => count(back.write),
                Passing::Result => 0,
                Passing::Whole => {
                    let data = &code.vregs[s.from];
                    let lives = live.weak[s.from].contains(&p.routine)
                        || data.constraint != RegConstraint::Any;
                    // Two GRFs an instruction.
                    let copies = data.bytes.div_ceil(2 * f.grf.bytes);
                    if lives && is_aligned(f, s.from) {
                        copies
                    } else {
                        0
                    }
                }
            };
            gain = gain.saturating_add(weight(s.block) * u64::from(copies));
            cost = cost.saturating_add(weight(s.block).saturating_mul(more));
        }
        out.push(gain > cost);
    }
    Some(out)
}

/// Returns true if a register starts at a GRF boundary.
fn is_aligned(f: &LoweredFunction, r: VReg) -> bool {
    let data = &f.vregs[r];
    match data.constraint {
        RegConstraint::Fixed(at) => at.is_multiple_of(f.grf.bytes),
        _ => data.align >= f.grf.bytes,
    }
}

/// Changes of the items of blocks.
#[derive(Default)]
struct Edits {
    /// New instructions by block, each with the index of the item that it goes before.
    new: HashMap<usize, Vec<(usize, MInst)>>,
    /// Items that go.
    gone: HashSet<usize>,
}

impl Edits {
    fn insert(&mut self, block: usize, at: usize, m: MInst) {
        self.new.entry(block).or_default().push((at, m));
    }

    fn remove(&mut self, block: usize, at: usize) {
        self.new.entry(block).or_default();
        self.gone.insert(at);
    }
}

/// Rewrites parameters as words.
fn rewrite(f: &mut LoweredFunction, params: &[&RefParam]) {
    let mut edits = Edits::default();
    for p in params {
        let known = known(f, p);
        let word = f.vregs.push(VRegData::anywhere(Type::Uw.bytes(), f.grf));
        for &(_, at) in &p.uses {
            if let Some(Lowered::Bale(bale)) = f.code.get_mut(at) {
                *bale = indirect(bale, p, word, known);
            }
        }
        for &(b, at) in &p.copies {
            edits.remove(b, at);
        }
        let read = |reg: VReg| Lowered::Inst(MInst::Touch { reg, write: false });
        for &at in &p.returns {
            set(f, at, read(word));
        }
        for s in &p.sites {
            let (base, offset, index) = pass(f, s, &mut edits);
            let address = MInst::RegAddress {
                dst: word,
                base,
                offset,
                index,
            };
            set(f, s.copy, Lowered::Inst(address));
            set(f, s.touch, read(word));
            if let Some(result) = s.result {
                edits.remove(s.block, result.start);
            }
            // Results start right after the call.
            let end = f.blocks[s.block].code.end as usize;
            let after = f.code[s.call + 1..end].iter();
            let starts = after.take_while(|m| matches!(m, Lowered::Inst(MInst::Start { .. })));
            let after = s.call + 1 + starts.count();
            let (reg, write) = (base, p.result.is_some());
            edits.insert(s.block, after, MInst::Touch { reg, write });
        }
    }
    apply(f, edits);
}

/// Replaces an item.
fn set(f: &mut LoweredFunction, at: usize, by: Lowered) {
    if let Some(item) = f.code.get_mut(at) {
        *item = by;
    }
}

/// Rewrites what is around a call. Returns the address that it passes.
fn pass(
    f: &mut LoweredFunction,
    s: &CallSite,
    edits: &mut Edits,
) -> (VReg, u32, Option<(VReg, u32)>) {
    let of = |p: &VectorPart| {
        let index = p.index.map(|i| (i.reg, u32::from(i.at)));
        (p.reg, p.offset, index)
    };
    let aligned = |f: &mut LoweredFunction, r: VReg| {
        if is_aligned(f, r) {
            return r;
        }
        let bytes = f.vregs[s.from].bytes;
        f.vregs.push(VRegData::anywhere(bytes, f.grf))
    };
    match passing(s) {
        Passing::Whole => {
            let base = aligned(f, s.from);
            if base != s.from {
                let (dst, src) = (base, s.from);
                edits.insert(s.block, s.copy, MInst::Copy { dst, src });
            }
            (base, 0, None)
        }
        Passing::Part(part) => {
            s.def.iter().for_each(|d| edits.remove(s.block, d.at));
            of(&part)
        }
        Passing::Result => {
            let copy = s.result.and_then(|r| r.copy);
            let base = match copy {
                Some((at, to)) => {
                    let base = aligned(f, to);
                    if base == to {
                        edits.remove(s.block, at);
                    } else {
                        let (dst, src) = (to, base);
                        set(f, at, Lowered::Inst(MInst::Copy { dst, src }));
                    }
                    base
                }
                None => {
                    let bytes = f.vregs[s.from].bytes;
                    f.vregs.push(VRegData::anywhere(bytes, f.grf))
                }
            };
            let (dst, src) = (base, s.from);
            edits.insert(s.block, s.copy, MInst::Copy { dst, src });
            (base, 0, None)
        }
        Passing::InPlace(back) => {
            s.def.iter().for_each(|d| edits.remove(s.block, d.at));
            begin_early(s, &back, s.copy, edits);
            of(&back.part)
        }
        Passing::Computed(at, back) => {
            begin_early(s, &back, at, edits);
            if let Some(Lowered::Bale(b)) = f.code.get_mut(at) {
                b.dst.reg = VirtReg::grf(back.part.reg);
                b.dst.offset = back.part.offset;
                b.starts = false;
            }
            of(&back.part)
        }
    }
}

/// Begins the vector that a result is written to before another item, and removes that write.
fn begin_early(s: &CallSite, back: &WriteBack, at: usize, edits: &mut Edits) {
    let dst = back.part.reg;
    let begin = match back.old {
        Some(src) => MInst::Copy { dst, src },
        None => MInst::Start { dst },
    };
    edits.insert(s.block, at, begin);
    let copy = s.result.and_then(|r| r.copy).map(|c| c.0);
    for item in [Some(back.write), back.begin, copy].into_iter().flatten() {
        edits.remove(s.block, item);
    }
}

/// Applies changes of the items of blocks.
fn apply(f: &mut LoweredFunction, edits: Edits) {
    let Edits { new, gone } = edits;
    for (b, mut new) in new {
        let Some(block) = f.blocks.get_mut(b) else {
            continue;
        };
        new.sort_by_key(|n| n.0);
        let mut new = new.into_iter().peekable();
        let CodeRange { start, end } = block.code;
        let first = f.code.len();
        let mut locs = SrcLocs::default();
        let mut from = block.locs.cursor();
        for at in start as usize..end as usize {
            locs.push(f.code.len() - first, from.at(at - start as usize));
            while let Some((_, m)) = new.next_if(|n| n.0 <= at) {
                f.code.push(Lowered::Inst(m));
            }
            if !gone.contains(&at) {
                f.code.extend(f.code.get(at).copied());
            }
        }
        block.code = CodeRange::since(first, &f.code);
        block.locs = locs;
    }
}
