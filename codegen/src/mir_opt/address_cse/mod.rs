//! Address commoning: indirect operands share what was loaded into the address register.
//!
//! Legalization loads the address of every indirect operand of every piece of a bale anew, always
//! into the same words of `a0`. Here, where registers have their places, an address is a sum of
//! numbers that are known: the byte where its base is, a constant, and a word in the register file.
//! Two of the same index are a constant apart, which the operand adds itself as far as it reaches
//! ([`indirect_reach`](isa::Features)); so the second is not loaded. What is loaded goes to the
//! word of `a0` that is free, or else was named longest ago, so that addresses stay as long as
//! there is room, and loads of addresses need not wait for each other.
//!
//! Addresses are loaded in the block that they are read in, and are forgotten where
//!
//! - bytes of the index are written, by whatever: an operation, a response, a move of allocation,
//!   an indirect destination (whose [`MInst::Touch`] says of which register);
//! - a word is: by an operation, which are those that load what descriptors of messages are in;
//! - a routine is called.
//!
//! A base that moves, is spilled or is another register in the same place needs no care: its
//! address is what it is where it would have been loaded. Words that instructions of the block name
//! themselves, or messages to and from scratch where these need one, are not taken.
//!
//! No sum of an address and an offset wraps where that of the address alone did not: an operand
//! whose channels may all be off may have an index that leads before the file, so nothing that lies
//! behind it takes its address. What an operand reaches that runs for all channels is in the file
//! (an index out of bounds has no meaning in the IR), and so is all that lies behind.
//!
//! Needs: allocated code, whose indirect operands add nothing to their addresses yet. Makes: the
//! same with fewer [`MInst::LoadAddress`]. Takes time linear in instructions; with
//! [`check`](crate::CompileOptions::check) a walk over both compares where all operands are
//! ([`check::verify`]).

pub(crate) mod check;
#[cfg(test)]
mod tests;

use crate::error::CodegenError;
use crate::isel::lower_sends::spill;
use crate::mir::spans::Spans;
use crate::mir::srclocs::SrcLocs;
use crate::mir::{Access, BlockData, MInst, RegKind, VCode, VReg, VirtReg};
use crate::regalloc::Allocation;
use crate::target::Target;
use gantry_isa_gen::legal::geometry::{dst_span_bytes, span_bytes};
use gantry_isa_gen::{self as isa, Arf, Desc, Dst, ExecSize, Reg, RegRef, Region, Src, Type, perf};
use std::ops::Range;

/// What a word of `a0` holds: `start` and what is in the file at `index`, modulo 2 to the 16.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Address {
    /// The byte of the register file where the base begins, and what is added to that.
    start: u16,
    /// The byte of the register file where the index is.
    index: Option<u32>,
}

/// A word of `a0`, as it is in the new code.
#[derive(Clone, Copy, Default)]
struct Word {
    holds: Option<Address>,
    /// When it was named last: the number of the load, from 1 on.
    named: u32,
    /// Up to which instruction operands read it.
    until: usize,
    /// Whether some operand surely reaches a byte of the file by it.
    in_file: bool,
}

/// Who reads an address.
#[derive(Clone, Copy, Default)]
struct Readers {
    /// The last instruction.
    last: usize,
    /// Whether one runs for all of its channels, and so reaches the file.
    sure: bool,
}

/// Where in the new code a word of the old one is, and what is added to it.
type Shared = Option<(usize, i16)>;

/// The words of `a0` that an instruction reads an indirect operand's address from: the first, and
/// how many.
fn words(addr: RegRef<Reg>, exec: ExecSize, region: Option<Region>) -> Range<usize> {
    let first = usize::from(addr.sub) / word();
    let rows = match region {
        Some(Region::VxH { w, .. }) => exec.channels() / u32::from(w).max(1),
        _ => 1,
    };
    first..first + rows as usize
}

/// Bytes of an address.
fn word() -> usize {
    Type::Uw.bytes() as usize
}

/// An instruction's indirect operands: the words that they read, and what they add.
fn indirect(inst: &isa::Inst<VirtReg>) -> impl Iterator<Item = (Range<usize>, i16)> + '_ {
    let sources = inst.srcs.iter().filter_map(|s| match *s {
        Src::Indirect {
            addr, imm, region, ..
        } => Some((words(addr, inst.exec, Some(region)), imm)),
        _ => None,
    });
    let dst = match inst.dst {
        Dst::Indirect { addr, imm, .. } => Some((words(addr, inst.exec, None), imm)),
        _ => None,
    };
    sources.chain(dst)
}

/// Words of `a0` from a byte of it on.
fn named(sub: u16, bytes: u32) -> Range<usize> {
    let start = usize::from(sub);
    start / word()..(start + bytes as usize).div_ceil(word())
}

/// Whether a register is `a0`.
fn is_address(at: RegRef<VirtReg>) -> bool {
    matches!(at.reg.kind(), RegKind::Phys(Reg::Arf(Arf::Address, _)))
}

/// The words of `a0` that an instruction writes by name.
fn written(inst: &isa::Inst<VirtReg>) -> Range<usize> {
    match inst.dst {
        Dst::Direct { at, hs, ty } if is_address(at) => {
            named(at.sub, dst_span_bytes(hs.into(), inst.exec, ty.bytes()))
        }
        _ => 0..0,
    }
}

/// The words of `a0` that an instruction reads by name: descriptors are doublewords.
fn read(inst: &isa::Inst<VirtReg>) -> impl Iterator<Item = Range<usize>> + '_ {
    let sources = inst.srcs.iter().filter_map(|s| match *s {
        Src::Direct { at, region, ty, .. } if is_address(at) => {
            span_bytes(region, inst.exec, ty.bytes()).map(|bytes| named(at.sub, bytes))
        }
        _ => None,
    });
    let descs = inst.send.iter().flat_map(|s| [s.ex, s.desc]);
    let descs = descs.filter_map(|d| match d {
        Desc::Reg(at) => Some(named(at.sub, Type::Ud.bytes())),
        Desc::Imm(_) => None,
    });
    sources.chain(descs)
}

/// Whether an instruction runs for all of its channels, and so surely for some.
fn is_sure(inst: &isa::Inst<VirtReg>) -> bool {
    inst.no_mask && inst.pred.is_none()
}

struct Sharing<'a> {
    code: &'a VCode,
    alloc: &'a Allocation,
    target: &'a Target,
    words: Vec<Word>,
    /// By word of the old code.
    now: Vec<Shared>,
    /// Words that instructions of the block name themselves, as bits.
    taken: u32,
    /// By instruction of the block that loads an address: who reads it.
    readers: Vec<Readers>,
    loads: u32,
    /// Instructions that are others now.
    changed: Vec<(usize, MInst)>,
    /// Loads that are gone.
    gone: Vec<usize>,
}

/// Loads each address once, as far as operands reach. Gives the code, and how many loads are gone
/// from it. `check`: compares where operands are.
///
/// # Errors
/// One is elsewhere, which is a bug of this pass.
pub(crate) fn share(
    name: &str,
    code: VCode,
    alloc: &Allocation,
    target: &Target,
    check: bool,
) -> Result<(VCode, u32), CodegenError> {
    let before = check.then(|| code.clone());
    let (code, gone) = shared(code, alloc, target);
    if let Some(before) = before {
        check::verify(&before, &code, alloc, target)
            .map_err(|e| CodegenError::internal(name, format!("addresses: {e}")))?;
    }
    Ok((code, gone))
}

/// The same, unchecked.
fn shared(mut code: VCode, alloc: &Allocation, target: &Target) -> (VCode, u32) {
    let (changed, gone) = {
        let count = target.features().address_words as usize;
        let mut s = Sharing {
            code: &code,
            alloc,
            target,
            words: vec![Word::default(); count],
            now: vec![None; count],
            taken: 0,
            readers: Vec::new(),
            loads: 0,
            changed: Vec::new(),
            gone: Vec::new(),
        };
        for data in code.blocks.values() {
            let before = (s.changed.len(), s.gone.len());
            if s.prepare(data) && s.block(data).is_none() {
                // It stays as it was.
                s.changed.truncate(before.0);
                s.gone.truncate(before.1);
            }
        }
        (s.changed, s.gone)
    };
    for (n, m) in changed {
        if let Some(inst) = code.insts.get_mut(n) {
            *inst = m;
        }
    }
    remove(&mut code, &gone);
    (code, gone.len() as u32)
}

/// Takes instructions out of code, in order.
fn remove(code: &mut VCode, gone: &[usize]) {
    if gone.is_empty() {
        return;
    }
    let place = |n: usize| n - gone.partition_point(|g| *g < n);
    let mut locs = SrcLocs::default();
    for (at, loc) in code.locs.runs() {
        locs.push(place(at), loc);
    }
    code.locs = locs;
    for b in code.blocks.values_mut() {
        (b.start, b.end) = (place(b.start), place(b.end));
    }
    let (mut n, mut next) = (0, 0);
    code.insts.retain(|_| {
        let goes = gone.get(next) == Some(&n);
        next += usize::from(goes);
        n += 1;
        !goes
    });
}

impl Sharing<'_> {
    /// What is asked of a block before it is changed: who reads addresses, which words are no
    /// addresses. Gives whether there is something to do.
    fn prepare(&mut self, data: &BlockData) -> bool {
        let insts = self.code.insts.get(data.start..data.end).unwrap_or(&[]);
        let loads = |m: &&MInst| matches!(m, MInst::LoadAddress { .. });
        if insts.iter().filter(loads).nth(1).is_none() {
            return false;
        }
        self.words.fill(Word::default());
        self.now.fill(None);
        self.taken = 0;
        self.loads = 0;
        self.readers.clear();
        self.readers.resize(insts.len(), Readers::default());
        let mut loaded = vec![None; self.now.len()];
        for (n, m) in insts.iter().enumerate() {
            match m {
                &MInst::LoadAddress { sub, count, .. } => {
                    let first = usize::from(sub);
                    let all = loaded.get_mut(first..first + count.channels() as usize);
                    let Some(all) = all else { return false };
                    all.fill(Some(n));
                }
                MInst::Op { inst, .. } => {
                    for (words, imm) in indirect(inst) {
                        let all = loaded.get(words).unwrap_or(&[None]);
                        if imm != 0 || all.contains(&None) {
                            return false;
                        }
                        for load in all.iter().flatten() {
                            let readers = &mut self.readers[*load];
                            readers.last = data.start + n;
                            readers.sure |= is_sure(inst);
                        }
                    }
                    for words in read(inst) {
                        let all = loaded.get(words.clone()).unwrap_or(&[]);
                        if all.iter().any(Option::is_some) {
                            return false;
                        }
                        self.take(words);
                    }
                    if let Some(all) = loaded.get_mut(written(inst)) {
                        all.fill(None);
                    }
                    self.take(written(inst));
                    if self.is_scratch(inst) {
                        self.take(named(spill::STATE, Type::Ud.bytes()));
                    }
                }
                _ => {}
            }
        }
        true
    }

    fn take(&mut self, words: Range<usize>) {
        for w in words {
            self.taken |= 1u32.checked_shl(w as u32).unwrap_or(0);
        }
    }

    /// Whether a message is one to or from scratch that emission needs a word for.
    fn is_scratch(&self, inst: &isa::Inst<VirtReg>) -> bool {
        let direct = inst.send.filter(|d| matches!(d.ex, Desc::Imm(_)));
        let lsc = direct.filter(|_| self.target.features().lsc);
        let message = lsc.and_then(|_| perf::message(self.target.platform(), inst));
        message.is_some_and(|m| spill::slot(&m).is_some())
    }

    /// Goes over a block; nothing if a word that is needed is in the way of another.
    fn block(&mut self, data: &BlockData) -> Option<()> {
        let code = self.code;
        for n in data.start..data.end {
            let m = code.insts.get(n)?;
            match m {
                MInst::LoadAddress { .. } => {
                    let readers = *self.readers.get(n - data.start)?;
                    self.load(n, m, readers)?;
                    continue;
                }
                MInst::Op { inst, .. } => {
                    self.operands(n, m)?;
                    for w in written(inst) {
                        self.words.get_mut(w)?.holds = None;
                        *self.now.get_mut(w)? = None;
                    }
                    // What it writes is told behind it.
                    let told = code.insts.get(n + 1..data.end).unwrap_or(&[]);
                    let mut told = told
                        .iter()
                        .map_while(|m| matches!(m, MInst::Touch { .. }).then_some(m));
                    if matches!(inst.dst, Dst::Indirect { .. })
                        && !told.any(|m| matches!(m, MInst::Touch { write: true, .. }))
                    {
                        self.forget(|_| true);
                    }
                }
                MInst::Call { .. } => {
                    self.words.fill(Word::default());
                    self.now.fill(None);
                }
                _ => {}
            }
            self.writes(m);
        }
        Some(())
    }

    /// Forgets addresses by the byte where their index is.
    fn forget(&mut self, gone: impl Fn(u32) -> bool) {
        for w in &mut self.words {
            if w.holds.is_some_and(|a| a.index.is_some_and(&gone)) {
                w.holds = None;
            }
        }
    }

    /// Forgets addresses whose indices an instruction writes.
    fn writes(&mut self, m: &MInst) {
        let alloc = self.alloc;
        match *m {
            MInst::Start { .. } => return,
            MInst::Copy { dst, src } if alloc.address[dst] == alloc.address[src] => return,
            _ => {}
        }
        let code = self.code;
        let spans = Spans {
            platform: self.target.platform(),
            grf: self.target.grf().bytes,
            size: |r: VReg| code.vregs[r].bytes,
        };
        spans.each(m, |r, bytes, access| {
            if access != Access::Use {
                let at = alloc.address[r];
                let index = Type::Uw.bytes();
                self.forget(|i| i < at + bytes.end && at + bytes.start < i + index);
            }
        });
    }

    /// An instruction's indirect operands, by the words that their addresses are in now.
    fn operands(&mut self, n: usize, m: &MInst) -> Option<()> {
        let MInst::Op {
            mut inst,
            starts,
            keeps,
        } = *m
        else {
            return Some(());
        };
        let exec = inst.exec;
        let mut any = false;
        let mut place = |addr: &mut RegRef<Reg>, imm: &mut i16, region: Option<Region>| {
            let old = words(*addr, exec, region);
            let (first, by) = (*self.now.get(old.start)?)?;
            for (k, w) in old.clone().enumerate() {
                // Rows are together, and as far apart from where they were.
                if *self.now.get(w)? != Some((first + k, by)) {
                    return None;
                }
            }
            addr.sub = (first * word()) as u16;
            *imm = by;
            any = true;
            Some(())
        };
        for s in &mut inst.srcs {
            if let Src::Indirect {
                addr, imm, region, ..
            } = s
            {
                place(addr, imm, Some(*region))?;
            }
        }
        if let Dst::Indirect { addr, imm, .. } = &mut inst.dst {
            place(addr, imm, None)?;
        }
        if any {
            let op = MInst::Op {
                inst,
                starts,
                keeps,
            };
            self.changed.push((n, op));
        }
        Some(())
    }

    /// An address that is loaded.
    fn load(&mut self, n: usize, m: &MInst, readers: Readers) -> Option<()> {
        let MInst::LoadAddress {
            sub,
            count,
            base,
            offset,
            index,
        } = *m
        else {
            return None;
        };
        self.loads += 1;
        let (old, count) = (usize::from(sub), count.channels() as usize);
        let base = base.map_or(0, |b| self.alloc.address[b]);
        let address = |k: usize| Address {
            start: (base + offset) as u16,
            index: index.map(|(r, at)| self.alloc.address[r] + at + (k * word()) as u32),
        };
        let all = || (0..self.words.len()).step_by(count);
        let there = all().find_map(|first| {
            let by = self.apart(first, count, address)?;
            (first == old || self.is_free(first, count)).then_some((first, by))
        });
        let (first, by) = match there {
            Some(there) => {
                self.gone.push(n);
                there
            }
            None => {
                let idle = |first: &usize| self.is_idle(*first, count, n);
                let age = |first: &usize| {
                    let words = self.words.get(*first..*first + count).unwrap_or(&[]);
                    let held = words.iter().any(|w| w.holds.is_some());
                    (held, words.iter().map(|w| w.named).max())
                };
                let mut free = all().filter(|f| self.is_free(*f, count)).filter(idle);
                // The first of those that were named longest ago; else where it was, where nothing
                // is in its way that was not before.
                let oldest = free.by_ref().min_by_key(age);
                let first = oldest.or_else(|| Some(old).filter(idle))?;
                for k in 0..count {
                    let address = address(k);
                    *self.words.get_mut(first + k)? = Word {
                        holds: Some(address),
                        ..Word::default()
                    };
                }
                let mut load = *m;
                if let MInst::LoadAddress { sub, .. } = &mut load {
                    *sub = first as u16;
                }
                self.changed.push((n, load));
                (first, 0)
            }
        };
        for k in 0..count {
            let w = self.words.get_mut(first + k)?;
            w.named = self.loads;
            w.until = w.until.max(readers.last);
            w.in_file |= readers.sure;
            *self.now.get_mut(old + k)? = Some((first + k, by));
        }
        Some(())
    }

    /// What has to be added to so many words from one on for them to be addresses, if an operand
    /// can add that.
    fn apart(&self, first: usize, count: usize, address: impl Fn(usize) -> Address) -> Option<i16> {
        let f = self.target.features();
        let mut by = None;
        for (k, w) in self.words.get(first..first + count)?.iter().enumerate() {
            let (is, wanted) = (w.holds?, address(k));
            let more = wanted.start.wrapping_sub(is.start) as i16;
            let in_reach = (-f.indirect_reach..f.indirect_reach).contains(&more.into())
                && more % f.indirect_src1_unit == 0
                && (more <= 0 || w.in_file);
            if is.index != wanted.index || !in_reach || by.is_some_and(|by| by != more) {
                return None;
            }
            by = Some(more);
        }
        by
    }

    /// Whether no instruction of the block has its own use for any of so many words.
    fn is_free(&self, first: usize, count: usize) -> bool {
        let taken = (first..first + count).any(|w| self.taken >> w & 1 == 1);
        !taken && first + count <= self.words.len()
    }

    /// Whether none of so many words is read from an instruction on.
    fn is_idle(&self, first: usize, count: usize, n: usize) -> bool {
        let words = self.words.get(first..first + count);
        words.is_some_and(|w| w.iter().all(|w| w.until <= n))
    }
}
