//! Calls that copy large arguments, and what becomes of the results.

use super::{items, near};
use crate::mir::bale::{Bale, BaleSrc, Index, View};
use crate::mir::lowered::{Lowered, LoweredFunction};
use crate::mir::{Access, MInst, RegConstraint, Routine, VReg};
use cranelift_entity::SecondaryMap;
use gantry_isa_gen::{Op, SrcMods};
use std::collections::HashMap;

/// Part of a vector that is as large as a parameter.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct VectorPart {
    pub reg: VReg,
    pub offset: u32,
    pub index: Option<Index>,
}

impl VectorPart {
    /// Returns true if both are the same bytes of their vectors.
    pub(super) fn is_at(&self, other: &VectorPart) -> bool {
        let index = match (&self.index, &other.index) {
            (None, None) => true,
            (Some(a), Some(b)) => a.is_same(b),
            _ => false,
        };
        index && self.offset == other.offset
    }

    /// Returns the known lowest bits of its address: their number, and these.
    pub(super) fn known(&self, f: &LoweredFunction) -> (u32, u32) {
        let data = &f.vregs[self.reg];
        let grf = f.grf.bytes;
        let (mut bits, mut at) = match data.constraint {
            RegConstraint::Fixed(at) => (grf.trailing_zeros(), at),
            _ => (data.align.min(grf).trailing_zeros(), 0),
        };
        at += self.offset;
        if let Some(i) = self.index {
            bits = bits.min(i.known.into());
            at += u32::from(i.residue);
        }
        (bits, at & ((1 << bits) - 1))
    }
}

/// Bale that makes an argument.
#[derive(Clone, Copy)]
pub(super) struct Definition {
    /// Index in the function's code.
    pub at: usize,
    /// Part of a vector that it moves, if it only does that.
    pub part: Option<VectorPart>,
}

/// Write of a result into a part of a vector.
#[derive(Clone, Copy)]
pub(super) struct WriteBack {
    /// Item before it that begins the new vector: a copy of the old one, or a start.
    pub begin: Option<usize>,
    /// Old vector. `None` if it is undefined.
    pub old: Option<VReg>,
    /// Index of the write in the function's code.
    pub write: usize,
    pub part: VectorPart,
}

/// Result of a call that may be its argument, changed.
#[derive(Clone, Copy)]
pub(super) struct SiteResult {
    /// Index of the start of the routine's register.
    pub start: usize,
    /// Copy from it, and its destination.
    pub copy: Option<(usize, VReg)>,
    pub back: Option<WriteBack>,
}

/// Call and its argument.
pub(super) struct CallSite {
    pub block: usize,
    /// Indices in the function's code: the copy to the parameter's register, the read of it, and
    /// the call.
    pub copy: usize,
    pub touch: usize,
    pub call: usize,
    pub from: VReg,
    /// Bale before it that makes the argument for this call alone.
    pub def: Option<Definition>,
    pub result: Option<SiteResult>,
}

/// Parameter that may be passed by reference.
pub(super) struct RefParam {
    pub reg: VReg,
    pub routine: Routine,
    pub sites: Vec<CallSite>,
    /// Registers of the routine that have versions of it, the parameter first. With a result, the
    /// last one is the result's.
    pub web: Vec<VReg>,
    /// Register of the routine's result that is the parameter, changed.
    pub result: Option<VReg>,
    /// Bales that access it: block, and index in the function's code.
    pub uses: Vec<(usize, usize)>,
    /// Copies between versions, and reads of the result at returns.
    pub copies: Vec<(usize, usize)>,
    pub returns: Vec<usize>,
    /// Set if something needs it in a register of the routine.
    pub whole: bool,
}

/// Returns the registers of whole GRFs that calls copy arguments to.
pub(super) fn calls(f: &LoweredFunction) -> Vec<RefParam> {
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
                                web: vec![dst],
                                result: None,
                                uses: Vec::new(),
                                copies: Vec::new(),
                                returns: Vec::new(),
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
                                def: None,
                                result: None,
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

/// Calls `f` with each register of an item, and true if it is written.
pub(super) fn named(item: &Lowered, mut f: impl FnMut(VReg, bool)) {
    match item {
        Lowered::Bale(b) => {
            let sources = b.operation.srcs.iter().flatten();
            for s in sources {
                if let BaleSrc::View(v, _) = s {
                    v.reg.as_grf().into_iter().for_each(|r| f(r, false));
                    v.index.iter().for_each(|i| f(i.reg, false));
                }
            }
            for v in [Some(b.dst), b.carry].into_iter().flatten() {
                v.index.iter().for_each(|i| f(i.reg, false));
                v.reg.as_grf().into_iter().for_each(|r| f(r, true));
            }
        }
        Lowered::Inst(m) => m.for_each_vreg(|r, a| f(r, a != Access::Use)),
        Lowered::Send(_) | Lowered::Sent(_) => {}
    }
}

/// Counts the items that name each register.
fn counts(f: &LoweredFunction) -> SecondaryMap<VReg, u32> {
    let mut out: SecondaryMap<VReg, u32> = SecondaryMap::with_capacity(f.vregs.len());
    for block in &f.blocks {
        for at in items(f, block) {
            if let Some(item) = f.code.get(at) {
                named(item, |r, _| out[r] += 1);
            }
        }
    }
    out
}

/// Finds the definitions of arguments and the places of results.
pub(super) fn places(f: &LoweredFunction, params: &mut [RefParam]) {
    let count = counts(f);
    for p in params {
        for s in &mut p.sites {
            s.def = definition(f, s).filter(|_| count[s.from] == 2);
            let Some(result) = p.result else { continue };
            s.result = site_result(f, s, result).map(|mut r| {
                let copy = r.copy.filter(|(_, to)| count[*to] == 2);
                let back = copy.and_then(|(at, to)| write_back(f, s.block, at, to));
                // The old vector must be there where the argument is made.
                let first = s.def.map_or(s.copy, |d| d.at);
                r.back = back.filter(|b| {
                    let old = b.old.as_slice();
                    !is_written(f, first..b.write, old)
                });
                r
            });
            p.whole |= s.result.is_none();
        }
    }
}

/// Returns a bale that only moves whole consecutive elements, as the elements that it reads.
fn moved(b: &Bale) -> Option<View> {
    let o = &b.operation;
    let Some(BaleSrc::View(v, m)) = o.srcs[0] else {
        return None;
    };
    let plain = o.op == Op::Mov && !o.sat && o.mode == 0 && m == SrcMods::default();
    let alike = v.ty.bytes() == o.ty.bytes() && v.ty.is_float() == o.ty.is_float();
    (plain && alike && is_unmasked(b)).then_some(v)
}

fn is_unmasked(b: &Bale) -> bool {
    b.mask.is_none() && b.flag.is_none() && b.under.is_none() && b.carry.is_none()
}

/// Returns consecutive elements as a part of a vector.
fn part(v: &View, lanes: u32) -> Option<VectorPart> {
    let one = v.index.is_none_or(|i| i.rows == 1);
    (one && (lanes == 1 || v.step(0, lanes) == Some(1))).then_some(VectorPart {
        reg: v.reg.as_grf()?,
        offset: v.offset,
        index: v.index,
    })
}

/// Returns true if a view is all of a register.
fn is_all(f: &LoweredFunction, v: &View, lanes: u32) -> bool {
    let bytes = v.reg.as_grf().map(|r| f.vregs[r].bytes);
    v.offset == 0
        && v.index.is_none()
        && v.step(0, lanes) == Some(1)
        && bytes == Some(lanes * v.ty.bytes())
}

/// Returns true if an item in `range` writes one of the registers.
fn is_written(f: &LoweredFunction, range: std::ops::Range<usize>, regs: &[VReg]) -> bool {
    let mut found = false;
    for at in range {
        for at in near(f, at) {
            if let Some(item) = f.code.get(at) {
                named(item, |r, write| found |= write && regs.contains(&r));
            }
        }
    }
    found
}

/// Items that are looked at before and after a call.
const NEAR: usize = 256;

/// Returns the bale before a call that makes its argument.
fn definition(f: &LoweredFunction, s: &CallSite) -> Option<Definition> {
    let first = f.blocks.get(s.block)?.code.start as usize;
    let first = first.max(s.copy.saturating_sub(NEAR));
    for at in (first..s.copy).rev() {
        let Some(Lowered::Bale(b)) = f.code.get(at) else {
            continue;
        };
        if b.dst.reg.as_grf() != Some(s.from) {
            continue;
        }
        if !b.starts || !is_unmasked(b) || !is_all(f, &b.dst, b.lanes) {
            return None;
        }
        let of = moved(b).and_then(|v| part(&v, b.lanes));
        let of = of.filter(|p| {
            let index = p.index.map(|i| i.reg);
            let regs: Vec<VReg> = [p.reg].into_iter().chain(index).collect();
            !is_written(f, at + 1..s.call, &regs)
        });
        return Some(Definition { at, part: of });
    }
    None
}

/// Returns the result of a call in a register of the routine.
fn site_result(f: &LoweredFunction, s: &CallSite, result: VReg) -> Option<SiteResult> {
    let end = f.blocks.get(s.block)?.code.end as usize;
    let mut start = None;
    for at in s.call + 1..end {
        match f.code.get(at) {
            Some(Lowered::Inst(MInst::Start { dst })) if *dst == result => start = Some(at),
            Some(Lowered::Inst(MInst::Copy { dst, src })) if *src == result => {
                return Some(SiteResult {
                    start: start?,
                    copy: Some((at, *dst)),
                    back: None,
                });
            }
            // Other results of the call.
            Some(Lowered::Inst(MInst::Start { .. } | MInst::Copy { .. } | MInst::Op { .. })) => {}
            _ => break,
        }
    }
    Some(SiteResult {
        start: start?,
        copy: None,
        back: None,
    })
}

/// Returns the write of a result, all of it, into a part of a vector.
fn write_back(f: &LoweredFunction, block: usize, copy: usize, of: VReg) -> Option<WriteBack> {
    let end = f.blocks.get(block)?.code.end as usize;
    for write in copy + 1..end.min(copy + NEAR) {
        let Some(Lowered::Bale(b)) = f.code.get(write) else {
            continue;
        };
        let mut reads = false;
        named(&Lowered::Bale(*b), |r, _| reads |= r == of);
        if !reads {
            continue;
        }
        let from = moved(b).filter(|v| is_all(f, v, b.lanes))?;
        let to = part(&b.dst, b.lanes).filter(|_| from.reg.as_grf() == Some(of))?;
        if b.starts {
            return to.index.is_none().then_some(WriteBack {
                begin: None,
                old: None,
                write,
                part: to,
            });
        }
        for begin in (copy + 1..write).rev() {
            let old = match f.code.get(begin) {
                Some(Lowered::Inst(MInst::Copy { dst, src })) if *dst == to.reg => Some(*src),
                Some(Lowered::Inst(MInst::Start { dst })) if *dst == to.reg => None,
                Some(item) => {
                    let mut writes = false;
                    named(item, |r, write| writes |= write && r == to.reg);
                    if writes {
                        return None;
                    }
                    continue;
                }
                None => continue,
            };
            return Some(WriteBack {
                begin: Some(begin),
                old,
                write,
                part: to,
            });
        }
        return None;
    }
    None
}
