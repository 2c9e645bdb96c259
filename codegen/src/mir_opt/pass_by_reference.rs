//! Large parameters of subroutines, passed by where they are.
//!
//! A routine has a register of its own for each parameter, which its callers copy to. Where what
//! they pass lives on behind the call, or is there while the routine is called for something else,
//! each call copies it whole. So a register that the routine reads only where an instruction could
//! read it by an address is not copied: the parameter is a word that says where in the file it is,
//! and the routine reads it by indirect operands. What is passed so keeps its place
//! ([`routines::shared`](crate::mir::routines)), and is read behind the call ([`MInst::Touch`]), so
//! that the routine's own registers are elsewhere.
//!
//! Instructions are counted, by how deep in loops they are: the copies that are not made, against
//! the places that are passed, the addresses that are loaded of them, and what bales are cut to
//! more, their operands indirect. Which copies there would be liveness says of code that is cut for
//! this alone; only kernels that call subroutines with such parameters pay for that.
//!
//! Needs: lowered code whose messages have their payloads. Makes: the same with some parameters as
//! words.

use crate::isel::split_regions::{Counter, legalize};
use crate::mir::bale::{Bale, BaleSrc, Index, View};
use crate::mir::liveness::liveness;
use crate::mir::loops::Loops;
use crate::mir::lowered::{CodeRange, Lowered, LoweredBlock, LoweredFunction};
use crate::mir::srclocs::SrcLocs;
use crate::mir::{Access, MInst, Place, Routine, VBlock, VReg, VRegData, VirtReg};
use crate::target::Target;
use cranelift_entity::{EntityRef, SecondaryMap};
use gantry_isa_gen::Type;
use std::collections::HashMap;

/// An instruction in a loop counts for so many around it.
const IN_LOOP: u64 = 8;
/// Loops in each other that are told apart.
const DEEPEST: usize = 4;

/// A call, and what it passes.
struct Site {
    block: usize,
    /// Of the function's code: the copy to the parameter's register, what says that it is read, and
    /// the call.
    copy: usize,
    touch: usize,
    call: usize,
    from: VReg,
}

/// A parameter that may be passed by its place.
struct Param {
    reg: VReg,
    routine: Routine,
    sites: Vec<Site>,
    /// Bales that read it: the block, and where in the function's code.
    uses: Vec<(usize, usize)>,
    /// Whether something needs it in a register of the routine's.
    whole: bool,
}

/// Makes words of the parameters that it pays for, and says how many those are. `shares`: addresses
/// are loaded once for several operands.
pub(crate) fn pass(name: &str, f: &mut LoweredFunction, target: &Target, shares: bool) -> u32 {
    let mut params = calls(f);
    if params.is_empty() {
        return 0;
    }
    uses(f, &mut params);
    params.retain(|p| !p.whole && !p.uses.is_empty());
    if params.is_empty() {
        return 0;
    }
    let Some(gains) = gains(name, f, target, shares, &params) else {
        return 0;
    };
    let chosen: Vec<&Param> = params
        .iter()
        .zip(gains)
        .filter_map(|(p, gain)| gain.then_some(p))
        .collect();
    rewrite(f, &chosen);
    chosen.len() as u32
}

/// Registers of whole GRFs that calls copy something to.
fn calls(f: &LoweredFunction) -> Vec<Param> {
    let mut out: Vec<Param> = Vec::new();
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
                            out.push(Param {
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
                            param.sites.push(Site {
                                block: b,
                                copy: at,
                                touch,
                                call,
                                from: src,
                            });
                        }
                    }
                    // A predicate on its way.
                    Some(Lowered::Inst(MInst::Op { .. })) => {}
                    _ => break,
                }
            }
        }
    }
    out
}

/// Who reads the parameters.
fn uses(f: &LoweredFunction, params: &mut [Param]) {
    let mut of: SecondaryMap<VReg, u32> = SecondaryMap::new();
    // What calls say of them.
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

/// Where the items of a block are in the function's code.
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

/// The sources of a bale that an address could name.
fn read(bale: &Bale) -> impl Iterator<Item = &View> {
    let sources = bale.operation.srcs.iter().flatten();
    sources.filter_map(|s| match s {
        BaleSrc::View(v, _) if v.index.is_none() => Some(v),
        _ => None,
    })
}

/// Calls `f` with the registers that a bale names and no address could: those that it writes, and
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

/// A bale with a register's place in a word.
fn indirect(bale: &Bale, reg: VReg, word: VReg) -> Bale {
    let mut out = *bale;
    for s in out.operation.srcs.iter_mut().flatten() {
        if let BaleSrc::View(v, _) = s
            && v.reg == VirtReg::grf(reg)
            && v.index.is_none()
        {
            v.reg = View::FILE;
            v.index = Some(Index {
                reg: word,
                rows: 1,
                aligned: true,
            });
        }
    }
    out
}

/// Of each parameter, whether it pays.
fn gains(
    name: &str,
    f: &LoweredFunction,
    target: &Target,
    shares: bool,
    params: &[Param],
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
        // Any register of a word will do to count with.
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
            let after = counter.count(&indirect(bale, p.reg, word), |offset| {
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
            let lives = live.weak[s.from].contains(&p.routine) || data.place != Place::Any;
            if lives && is_aligned(f, s.from) {
                gain = gain.saturating_add(weight(s.block) * u64::from(copies));
            }
            cost = cost.saturating_add(weight(s.block).saturating_mul(more));
        }
        out.push(gain > cost);
    }
    Some(out)
}

/// Whether a register begins with a GRF.
fn is_aligned(f: &LoweredFunction, r: VReg) -> bool {
    let data = &f.vregs[r];
    match data.place {
        Place::Fixed(at) => at.is_multiple_of(f.grf.bytes),
        _ => data.align >= f.grf.bytes,
    }
}

/// Makes words of parameters.
fn rewrite(f: &mut LoweredFunction, params: &[&Param]) {
    // By block, what is new, and before which item of the function's code.
    let mut new: HashMap<usize, Vec<(usize, MInst)>> = HashMap::new();
    for p in params {
        let word = f.vregs.push(VRegData::anywhere(Type::Uw.bytes(), f.grf));
        for &(_, at) in &p.uses {
            if let Some(Lowered::Bale(bale)) = f.code.get_mut(at) {
                *bale = indirect(bale, p.reg, word);
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
                (s.copy, MInst::PlaceOf { dst: word, base }),
                (s.touch, read(word)),
            ];
            for (at, m) in changes {
                if let Some(item) = f.code.get_mut(at) {
                    *item = Lowered::Inst(m);
                }
            }
            // Results begin right behind the call.
            let end = f.blocks.get(s.block).map_or(0, |b| b.code.end as usize);
            let behind = f.code.get(s.call + 1..end).unwrap_or(&[]).iter();
            let starts = behind.take_while(|m| matches!(m, Lowered::Inst(MInst::Start { .. })));
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
