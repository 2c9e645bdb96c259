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
//! The benefit is counted in instructions, weighted by loop depth. The gain is the copies that are
//! not made. The cost is the offsets that are passed, the addresses that are loaded, and the
//! additional splits of bales with indirect operands. Liveness of separately legalized code tells
//! which copies there would be. Only kernels that call subroutines with such parameters pay for
//! that.
//!
//! Input: lowered code whose messages have their payloads. Output: the same with some parameters as
//! words.

use crate::isel::split_regions::{Counter, legalize};
use crate::mir::bale::{Bale, BaleSrc, Index, View};
use crate::mir::liveness::liveness;
use crate::mir::loops::Loops;
use crate::mir::lowered::{CodeRange, Lowered, LoweredBlock, LoweredFunction};
use crate::mir::srclocs::SrcLocs;
use crate::mir::{Access, MInst, RegConstraint, Routine, VBlock, VReg, VRegData, VirtReg};
use crate::target::Target;
use cranelift_entity::{EntityRef, SecondaryMap};
use gantry_isa_gen::Type;
use std::collections::HashMap;

/// Weight of an instruction in a loop, relative to one around the loop.
const IN_LOOP: u64 = 8;
/// Maximal loop depth that counts.
const DEEPEST: usize = 4;

/// Call and its argument.
struct CallSite {
    block: usize,
    /// Indices in the function's code: the copy to the parameter's register, the read of it, and
    /// the call.
    copy: usize,
    touch: usize,
    call: usize,
    from: VReg,
}

/// Parameter that may be passed by reference.
struct RefParam {
    reg: VReg,
    routine: Routine,
    sites: Vec<CallSite>,
    /// Bales that read it: block, and index in the function's code.
    uses: Vec<(usize, usize)>,
    /// Set if something needs it in a register of the routine.
    whole: bool,
}

/// Runs the pass. Returns the number of parameters that are passed by reference. `shares`:
/// addresses are loaded once for several operands.
pub(crate) fn run(name: &str, f: &mut LoweredFunction, target: &Target, shares: bool) -> u32 {
    let mut params = calls(f);
    if params.is_empty() {
        return 0;
    }
    uses(f, &mut params);
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

/// Returns the registers of whole GRFs that calls copy arguments to.
fn calls(f: &LoweredFunction) -> Vec<RefParam> {
    let mut out: Vec<RefParam> = Vec::new();
    let mut known: HashMap<VReg, usize> = HashMap::new();
    for (b, block) in f.blocks.iter().enumerate() {
        let first = block.code.start as usize;
        for call in first..block.code.end as usize {
            let Some(Lowered::Inst(MInst::Call { routine, .. })) = f.code.get(call) else {
                continue;
            };
            let mut touched: HashMap<VReg, usize> = HashMap::new();
            for at in (first..call).rev() {
                match f.code.get(at) {
                    Some(&Lowered::Inst(MInst::Touch { reg, write: false })) => {
                        touched.insert(reg, at);
                    }
                    Some(&Lowered::Inst(MInst::Copy { dst, src })) => {
                        let Some(touch) = touched.remove(&dst) else {
                            break;
                        };
                        let data = &f.vregs[dst];
                        if data.bytes < f.grf.bytes || data.align < f.grf.bytes {
                            continue;
                        }
                        let n = *known.entry(dst).or_insert_with(|| {
                            out.push(RefParam {
                                reg: dst,
                                routine: *routine,
                                sites: Vec::new(),
                                uses: Vec::new(),
                                whole: false,
                            });
                            out.len() - 1
                        });
                        if let Some(param) = out.get_mut(n) {
                            param.whole |= param.routine != *routine;
                            param.sites.push(CallSite {
                                block: b,
                                copy: at,
                                touch,
                                call,
                                from: src,
                            });
                        }
                    }
                    // Setup of a predicate argument.
                    Some(Lowered::Inst(MInst::Op { .. })) => {}
                    _ => break,
                }
            }
        }
    }
    out
}

/// Collects the readers of the parameters.
fn uses(f: &LoweredFunction, params: &mut [RefParam]) {
    let mut of: SecondaryMap<VReg, u32> = SecondaryMap::new();
    // Occurrences that belong to calls.
    let mut said: HashMap<usize, VReg> = HashMap::new();
    for (n, p) in params.iter().enumerate() {
        of[p.reg] = n as u32 + 1;
        for s in &p.sites {
            said.extend([(s.copy, p.reg), (s.touch, p.reg)]);
        }
    }
    let number = |r: VReg| of[r].checked_sub(1).map(|n| n as usize);
    for (b, block) in f.blocks.iter().enumerate() {
        for at in items(f, block) {
            match f.code.get(at) {
                Some(Lowered::Bale(bale)) => {
                    others(bale, |r| {
                        if let Some(p) = number(r).and_then(|n| params.get_mut(n)) {
                            p.whole = true;
                        }
                    });
                    for n in read(bale).filter_map(|v| v.reg.as_grf().and_then(number)) {
                        if let Some(p) = params.get_mut(n)
                            && p.uses.last() != Some(&(b, at))
                        {
                            p.uses.push((b, at));
                        }
                    }
                }
                Some(Lowered::Inst(m)) => m.for_each_vreg(|r, access| {
                    let copied = access == Access::Use && matches!(m, MInst::Copy { .. });
                    if let Some(p) = number(r).and_then(|n| params.get_mut(n)) {
                        p.whole |= copied || said.get(&at) != Some(&r);
                    }
                }),
                Some(Lowered::Send(_)) => params.iter_mut().for_each(|p| p.whole = true),
                Some(Lowered::Sent(_)) | None => {}
            }
        }
    }
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

/// Returns the sources of a bale that can become indirect.
fn read(bale: &Bale) -> impl Iterator<Item = &View> {
    let sources = bale.operation.srcs.iter().flatten();
    sources.filter_map(|s| match s {
        BaleSrc::View(v, _) if v.index.is_none() => Some(v),
        _ => None,
    })
}

/// Calls `f` with the registers of a bale that cannot become indirect: those that it writes, and
/// those with or as a variable index.
fn others(bale: &Bale, mut f: impl FnMut(VReg)) {
    let sources = bale.operation.srcs.iter().flatten();
    let sources = sources.filter_map(|s| match s {
        BaleSrc::View(v, _) if v.index.is_some() => Some(v),
        _ => None,
    });
    for v in sources.chain([&bale.dst]).chain(&bale.carry) {
        v.reg.as_grf().into_iter().for_each(&mut f);
        v.index.iter().for_each(|i| f(i.reg));
    }
}

/// Returns a bale that reads a register by its offset in a word.
fn indirect(bale: &Bale, reg: VReg, word: VReg, grf: u32) -> Bale {
    let mut out = *bale;
    for s in out.operation.srcs.iter_mut().flatten() {
        if let BaleSrc::View(v, _) = s
            && v.reg == VirtReg::grf(reg)
            && v.index.is_none()
        {
            v.reg = View::FILE;
            v.index = Some(Index {
                reg: word,
                at: 0,
                rows: 1,
                known: grf.trailing_zeros() as u8,
                residue: 0,
                parent: 0,
            });
        }
    }
    out
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
            let after = counter.count(&indirect(bale, p.reg, word, f.grf.bytes), |offset| {
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
            let data = &code.vregs[s.from];
            // Two GRFs an instruction.
            let copies = data.bytes.div_ceil(2 * f.grf.bytes);
            let lives =
                live.weak[s.from].contains(&p.routine) || data.constraint != RegConstraint::Any;
            if lives && is_aligned(f, s.from) {
                gain = gain.saturating_add(weight(s.block) * u64::from(copies));
            }
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

/// Rewrites parameters as words.
fn rewrite(f: &mut LoweredFunction, params: &[&RefParam]) {
    // New instructions by block, each with the index of the item that it goes before.
    let mut new: HashMap<usize, Vec<(usize, MInst)>> = HashMap::new();
    let bytes = f.grf.bytes;
    for p in params {
        let word = f.vregs.push(VRegData::anywhere(Type::Uw.bytes(), f.grf));
        for &(_, at) in &p.uses {
            if let Some(Lowered::Bale(bale)) = f.code.get_mut(at) {
                *bale = indirect(bale, p.reg, word, bytes);
            }
        }
        for s in &p.sites {
            let new = new.entry(s.block).or_default();
            let base = if is_aligned(f, s.from) {
                s.from
            } else {
                let base = f
                    .vregs
                    .push(VRegData::anywhere(f.vregs[p.reg].bytes, f.grf));
                let (dst, src) = (base, s.from);
                new.push((s.copy, MInst::Copy { dst, src }));
                base
            };
            let read = |reg: VReg| MInst::Touch { reg, write: false };
            let changes = [
                (s.copy, MInst::RegAddress { dst: word, base }),
                (s.touch, read(word)),
            ];
            for (at, m) in changes {
                if let Some(item) = f.code.get_mut(at) {
                    *item = Lowered::Inst(m);
                }
            }
            // Results start right after the call.
            let end = f.blocks[s.block].code.end as usize;
            let after = f.code[s.call + 1..end].iter();
            let starts = after.take_while(|m| matches!(m, Lowered::Inst(MInst::Start { .. })));
            new.push((s.call + 1 + starts.count(), read(base)));
        }
    }
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
            f.code.extend(f.code.get(at).copied());
        }
        block.code = CodeRange::since(first, &f.code);
        block.locs = locs;
    }
}
