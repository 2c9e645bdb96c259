//! CSE of addresses: indirect operands share values of the address register.
//!
//! Legalization loads the address of every indirect operand of every piece of a bale separately,
//! always into the same words of `a0`. After allocation, an address is a sum of known numbers: the
//! byte offset of its base, a constant, and a word in the GRF file. Two addresses with the same
//! index differ by a constant. An operand can add a constant within its reach
//! ([`indirect_reach`](isa::Features)), so the second address need not be loaded. A load goes to a
//! word of `a0` that is free, or else to the least recently used one. So addresses stay as long as
//! possible, and loads need not wait for each other.
//!
//! Addresses whose indices are neighbouring words of one register and that differ in nothing else
//! are loaded at once, by one instruction of several channels: those of a histogram, whose indices
//! are computed in one vector.
//!
//! Addresses that all predecessors of a block leave in the same words are there at its start, if
//! the block is no loop header. An address that each path from a block loads is loaded once, at the
//! end of the block (`arms.rs`). Addresses become invalid where
//!
//! - bytes of the index are written: by an operation, a response, a move of allocation, or an
//!   indirect destination (whose [`MInst::Touch`] names the register);
//! - their word is written, by an operation that loads message descriptors;
//! - a routine is called.
//!
//! A base that moves, is spilled or shares its place with another register needs no care: its
//! address is fixed at the load. Words that instructions of the block name themselves are not used.
//! Nor are those that scratch messages need.
//!
//! No sum of an address and an offset wraps if the address alone did not. An operand whose channels
//! may all be off may have an index that leads before the GRF file. So operands at higher offsets
//! do not use its address. An operand that runs for all channels is in the GRF file, since an index
//! out of bounds has no meaning in the IR. All addresses at higher offsets are then valid.
//!
//! Input: allocated code whose indirect operands have no offsets yet. Output: the same with fewer
//! [`MInst::LoadAddress`]. The work is linear in instructions: a load looks at [`AHEAD`] of them
//! for its neighbours. With [`check`](crate::CompileOptions::check), a walk over both versions
//! compares the addresses of all operands ([`check::verify`]).

mod arms;
pub(crate) mod check;
#[cfg(test)]
mod tests;

use crate::error::CodegenError;
use crate::isel::lower_sends::spill;
use crate::mir::spans::Spans;
use crate::mir::{Access, BlockData, MInst, RegKind, VBlock, VCode, VReg, VirtReg, insert};
use crate::regalloc::Allocation;
use crate::target::Target;
use cranelift_entity::{EntitySet, SecondaryMap};
use gantry_isa_gen::legal::geometry::{dst_span_bytes, span_bytes};
use gantry_isa_gen::{
    self as isa, Arf, Desc, Dst, ExecSize, Reg, RegRef, Region, Src, Type, effects,
};
use smallvec::SmallVec;
use std::ops::Range;

/// Maximal number of instructions between an address and a neighbour that is loaded with it.
const AHEAD: usize = 64;
/// Maximal number of addresses that one instruction loads.
const AT_ONCE: usize = 8;

/// Value of a word of `a0`: `start` plus the word in the GRF file at `index`, modulo 2^16.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Address {
    /// Byte offset of the base in the GRF file, plus a constant.
    start: u16,
    /// Byte offset of the index in the GRF file.
    index: Option<u32>,
}

/// State of a word of `a0` in the new code.
#[derive(Clone, Copy, Default)]
struct AddressWord {
    holds: Option<Address>,
    /// Number of the load that last used it, from 1 on.
    named: u32,
    /// Last instruction that reads it.
    until: usize,
    /// Set if some operand certainly accesses the GRF file by it.
    in_file: bool,
}

/// Readers of an address.
#[derive(Clone, Copy, Default)]
struct AddressReaders {
    /// Last reader.
    last: usize,
    /// Set if a reader runs for all of its channels, so that the address is in the GRF file.
    sure: bool,
}

/// New word of an old word of `a0`, and the offset to add to it.
type MovedWord = Option<(usize, i16)>;

/// Returns the words of `a0` that an indirect operand reads its address from.
fn words(addr: RegRef<Reg>, exec: ExecSize, region: Option<Region>) -> Range<usize> {
    let first = usize::from(addr.sub) / word();
    let rows = match region {
        Some(Region::VxH { w, .. }) => exec.channels() / u32::from(w).max(1),
        _ => 1,
    };
    first..first + rows as usize
}

/// Returns the bytes of an address.
fn word() -> usize {
    Type::Uw.bytes() as usize
}

/// Returns an instruction's indirect operands: the words that they read, and their offsets.
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

/// Returns the words of `a0` that a range of its bytes covers.
fn named(sub: u16, bytes: u32) -> Range<usize> {
    let start = usize::from(sub);
    start / word()..(start + bytes as usize).div_ceil(word())
}

/// Returns true if a register is `a0`.
fn is_address(at: RegRef<VirtReg>) -> bool {
    matches!(at.reg.kind(), RegKind::Phys(Reg::Arf(Arf::Address, _)))
}

/// Returns the words of `a0` that an instruction writes by name.
fn written(inst: &isa::Inst<VirtReg>) -> Range<usize> {
    match inst.dst {
        Dst::Direct { at, hs, ty } if is_address(at) => {
            named(at.sub, dst_span_bytes(hs.into(), inst.exec, ty.bytes()))
        }
        _ => 0..0,
    }
}

/// Returns the words of `a0` that an instruction reads by name; descriptors are dwords.
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

/// Returns true if an instruction runs for all of its channels.
fn runs_all_channels(inst: &isa::Inst<VirtReg>) -> bool {
    inst.no_mask && inst.pred.is_none()
}

struct AddressCse<'a> {
    code: &'a VCode,
    alloc: &'a Allocation,
    target: &'a Target,
    words: Vec<AddressWord>,
    /// New place of each word of the old code.
    now: Vec<MovedWord>,
    /// Mask of words that instructions of the block name themselves.
    taken: u32,
    /// Words by which routines access their arguments.
    passed: EntitySet<VReg>,
    /// Readers of each load of an address, by instruction of the block.
    readers: Vec<AddressReaders>,
    loads: u32,
    /// Instructions that changed.
    changed: Vec<(usize, MInst)>,
    /// Loads that were removed.
    gone: Vec<usize>,
}

/// Runs the pass. Returns the code and the number of loads that were removed. With `check`, the
/// addresses of all operands are compared.
///
/// # Errors
/// An operand with a different address, which is a bug of this pass.
pub(crate) fn run(
    name: &str,
    code: VCode,
    alloc: &Allocation,
    target: &Target,
    check: bool,
) -> Result<(VCode, u32), CodegenError> {
    let before = check.then(|| code.clone());
    let (code, gone) = run_unchecked(code, alloc, target);
    if let Some(before) = before {
        check::verify(&before, &code, alloc, target)
            .map_err(|e| CodegenError::internal(name, format!("addresses: {e}")))?;
    }
    Ok((code, gone))
}

/// Returns the words by which routines access their arguments.
fn passed(code: &VCode) -> EntitySet<VReg> {
    let mut out = EntitySet::new();
    if code.routines.len() > 1 {
        for m in &code.insts {
            if let MInst::RegAddress { dst, .. } = *m {
                out.insert(dst);
            }
        }
    }
    out
}

/// Runs the pass without the check.
fn run_unchecked(code: VCode, alloc: &Allocation, target: &Target) -> (VCode, u32) {
    let with_loads = AddressCse::new(&code, alloc, target).with_loads_of_arms();
    let (alone, gone) = remove_loads(code, alloc, target);
    if let Some((code, new)) = with_loads {
        let (code, more) = remove_loads(code, alloc, target);
        if more > gone + new {
            return (code, more - new);
        }
    }
    (alone, gone)
}

/// Removes loads of addresses that are there already. Returns the number of those.
fn remove_loads(mut code: VCode, alloc: &Allocation, target: &Target) -> (VCode, u32) {
    let (changed, gone) = {
        let mut s = AddressCse::new(&code, alloc, target);
        let mut ends: SecondaryMap<VBlock, Option<Vec<AddressWord>>> = SecondaryMap::new();
        for (block, data) in &code.blocks {
            let before = (s.changed.len(), s.gone.len());
            s.begin(data, &ends);
            if !s.prepare(data) {
                continue;
            }
            if s.block(data).is_some() {
                ends[block] = Some(s.words.clone());
            } else {
                // The block stays as it was.
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
    if !gone.is_empty() {
        // In order.
        insert::remove(&mut code, |i| gone.binary_search(&i).is_ok());
    }
    (code, gone.len() as u32)
}

impl<'a> AddressCse<'a> {
    fn new(code: &'a VCode, alloc: &'a Allocation, target: &'a Target) -> AddressCse<'a> {
        let count = target.features().address_words as usize;
        AddressCse {
            code,
            alloc,
            target,
            words: vec![AddressWord::default(); count],
            now: vec![None; count],
            taken: 0,
            passed: passed(code),
            readers: Vec::new(),
            loads: 0,
            changed: Vec::new(),
            gone: Vec::new(),
        }
    }

    /// Starts a block with the addresses that are in their words at the end of all predecessors.
    fn begin(&mut self, data: &BlockData, ends: &SecondaryMap<VBlock, Option<Vec<AddressWord>>>) {
        self.words.fill(AddressWord::default());
        let mut preds = data.preds.iter().map(|p| ends[*p].as_ref());
        let Some(Some(first)) = preds.next() else {
            return;
        };
        for (to, from) in self.words.iter_mut().zip(first) {
            (to.holds, to.in_file) = (from.holds, from.in_file);
        }
        for other in preds {
            let Some(other) = other else {
                // The predecessor comes later, or is not known.
                self.words.fill(AddressWord::default());
                return;
            };
            for (to, from) in self.words.iter_mut().zip(other) {
                to.in_file &= from.in_file;
                if to.holds != from.holds {
                    *to = AddressWord::default();
                }
            }
        }
    }

    /// Collects the readers of addresses and the named words of a block. Returns false if there is
    /// nothing to do.
    fn prepare(&mut self, data: &BlockData) -> bool {
        let insts = &self.code.insts[data.start..data.end];
        let known = self.words.iter().any(|w| w.holds.is_some());
        if !known && !insts.iter().any(|m| matches!(m, MInst::LoadAddress { .. })) {
            return false;
        }
        self.now.fill(None);
        self.taken = 0;
        self.loads = 0;
        self.readers.clear();
        self.readers.resize(insts.len(), AddressReaders::default());
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
                            readers.sure |= runs_all_channels(inst);
                        }
                    }
                    for words in read(inst) {
                        let all = &loaded[words.clone()];
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
        for (w, word) in self.words.iter_mut().enumerate() {
            if self.taken >> w & 1 == 1 {
                *word = AddressWord::default();
            }
        }
        true
    }

    fn take(&mut self, words: Range<usize>) {
        for w in words {
            self.taken |= 1u32.checked_shl(w as u32).unwrap_or(0);
        }
    }

    /// Returns true for a scratch message that needs a word at emission.
    fn is_scratch(&self, inst: &isa::Inst<VirtReg>) -> bool {
        let direct = inst.send.filter(|d| matches!(d.ex, Desc::Imm(_)));
        let lsc = direct.filter(|_| self.target.features().lsc);
        let message = lsc.and_then(|_| effects::message(self.target.platform(), inst));
        message.is_some_and(|m| spill::slot(&m).is_some())
    }

    /// Rewrites a block; `None` if a word is needed for two purposes.
    fn block(&mut self, data: &BlockData) -> Option<()> {
        let code = self.code;
        for n in data.start..data.end {
            let m = code.insts.get(n)?;
            match m {
                MInst::LoadAddress { .. } => {
                    let readers = *self.readers.get(n - data.start)?;
                    self.load(n, m, readers, data)?;
                    continue;
                }
                MInst::Op { inst, .. } => {
                    self.operands(n, m)?;
                    for w in written(inst) {
                        self.words.get_mut(w)?.holds = None;
                        *self.now.get_mut(w)? = None;
                    }
                    // The registers that it writes are named by the next instructions.
                    let told = &code.insts[n + 1..data.end];
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
                    self.words.fill(AddressWord::default());
                    self.now.fill(None);
                }
                _ => {}
            }
            // A routine that writes by the word that it is passed leaves the word as it is.
            let by_word = matches!(m, MInst::Touch { reg, .. } if self.passed.contains(*reg));
            if !by_word {
                self.writes(m);
            }
        }
        Some(())
    }

    /// Invalidates addresses by the byte offset of their index.
    fn forget(&mut self, gone: impl Fn(u32) -> bool) {
        for w in &mut self.words {
            if w.holds.is_some_and(|a| a.index.is_some_and(&gone)) {
                w.holds = None;
            }
        }
    }

    /// Invalidates addresses whose index an instruction writes.
    fn writes(&mut self, m: &MInst) {
        let mut written: SmallVec<[Range<u32>; 4]> = SmallVec::new();
        self.each_write(m, |bytes| written.push(bytes));
        let index = Type::Uw.bytes();
        for bytes in written {
            self.forget(|i| i < bytes.end && bytes.start < i + index);
        }
    }

    /// Calls `f` with the bytes of the GRF file that an instruction writes.
    fn each_write(&self, m: &MInst, mut f: impl FnMut(Range<u32>)) {
        let (code, alloc) = (self.code, self.alloc);
        match *m {
            MInst::Start { .. } => return,
            MInst::Copy { dst, src } if alloc.address[dst] == alloc.address[src] => return,
            _ => {}
        }
        let spans = Spans {
            platform: self.target.platform(),
            grf: self.target.grf().bytes,
            size: |r: VReg| code.vregs[r].bytes,
        };
        spans.each(m, |r, bytes, access| {
            if access != Access::Use {
                let at = alloc.address[r];
                f(at + bytes.start..at + bytes.end);
            }
        });
    }

    /// Redirects an instruction's indirect operands to the current words of their addresses.
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
                // Rows must stay consecutive and have the same offset.
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

    /// Handles a load of an address.
    fn load(
        &mut self,
        n: usize,
        m: &MInst,
        readers: AddressReaders,
        data: &BlockData,
    ) -> Option<()> {
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
            let by = self.offset_from(first, count, address)?;
            (first == old || self.is_free(first, count)).then_some((first, by))
        });
        let (first, by) = match there {
            Some(there) => {
                self.gone.push(n);
                there
            }
            None => {
                // Several neighbours if there is room for them, else the wanted addresses alone.
                let (sizes, last) = self.neighbours(n, m, data);
                let places = sizes.into_iter().find_map(|size| {
                    let oldest = self.oldest(size, n);
                    oldest.map(|first| (first, size))
                });
                let original = || self.is_idle(old, count, n).then_some((old, count));
                let (first, size) = places.or_else(original)?;
                for k in 0..size {
                    let holds = Some(address(k));
                    let until = last.get(k).map_or(0, |last| *last);
                    *self.words.get_mut(first + k)? = AddressWord {
                        holds,
                        until,
                        ..AddressWord::default()
                    };
                }
                let mut load = *m;
                if let MInst::LoadAddress { sub, count, .. } = &mut load {
                    *sub = first as u16;
                    *count = ExecSize::new(size as u32)?;
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

    /// Returns the numbers of words that one instruction may load at a load, in the order of
    /// preference. Also returns the last reader of each word.
    fn neighbours(
        &self,
        n: usize,
        m: &MInst,
        data: &BlockData,
    ) -> (SmallVec<[usize; 4]>, [usize; AT_ONCE]) {
        let mut last = [0; AT_ONCE];
        let mut alone = SmallVec::new();
        let MInst::LoadAddress {
            count,
            base,
            offset,
            index,
            ..
        } = *m
        else {
            return (alone, last);
        };
        alone.push(count.channels() as usize);
        let (Some((reg, at)), ExecSize::S1) = (index, count) else {
            return (alone, last);
        };
        let start = |base: Option<VReg>, offset: u32| {
            (base.map_or(0, |b| self.alloc.address[b]) + offset) as u16
        };
        let wanted = start(base, offset);
        let from = self.alloc.address[reg] + at;
        // A row of the source does not cross a GRF.
        let room = (self.target.grf().bytes - from % self.target.grf().bytes) as usize / word();
        let mut found = [false; AT_ONCE];
        found[0] = true;
        let end = data.end.min(n + 1 + AHEAD);
        for next in n + 1..end {
            match self.code.insts[next] {
                MInst::LoadAddress {
                    count: ExecSize::S1,
                    base,
                    offset,
                    index: Some((r, to)),
                    ..
                } if r == reg && start(base, offset) == wanted => {
                    let k = to.checked_sub(at).map(|apart| apart as usize / word());
                    if let Some(k) = k.filter(|&k| k > 0 && k < AT_ONCE.min(room)) {
                        found[k] = true;
                        last[k] = self.readers[next - data.start].last;
                    }
                }
                MInst::Call { .. } => break,
                ref m if self.may_write(m, from..from + (AT_ONCE * word()) as u32) => break,
                _ => {}
            }
        }
        let all = found.iter().take_while(|f| **f).count();
        let mut sizes: SmallVec<[usize; 4]> = SmallVec::new();
        let widest = 1 << all.ilog2();
        sizes.extend(std::iter::successors(Some(widest), |n| {
            (*n > 1).then_some(n / 2)
        }));
        (sizes, last)
    }

    /// Returns true if an instruction may write some bytes of the GRF file.
    fn may_write(&self, m: &MInst, bytes: Range<u32>) -> bool {
        let mut writes = false;
        self.each_write(m, |written| {
            writes |= written.start < bytes.end && bytes.start < written.end;
        });
        writes
    }

    /// Returns the least recently used words that are free for as many addresses.
    fn oldest(&self, count: usize, n: usize) -> Option<usize> {
        let all = (0..self.words.len()).step_by(count);
        let free = all.filter(|&f| self.is_free(f, count) && self.is_idle(f, count, n));
        free.min_by_key(|&first| {
            let words = &self.words[first..first + count];
            let held = words.iter().any(|w| w.holds.is_some());
            (held, words.iter().map(|w| w.named).max())
        })
    }

    /// Returns the offset from `count` words to a group of addresses, if operands can add it.
    fn offset_from(
        &self,
        first: usize,
        count: usize,
        address: impl Fn(usize) -> Address,
    ) -> Option<i16> {
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

    /// Returns true if no instruction of the block names any of these words itself.
    fn is_free(&self, first: usize, count: usize) -> bool {
        let taken = (first..first + count).any(|w| self.taken >> w & 1 == 1);
        !taken && first + count <= self.words.len()
    }

    /// Returns true if no instruction after the given one reads any of these words.
    fn is_idle(&self, first: usize, count: usize, n: usize) -> bool {
        let words = self.words.get(first..first + count);
        words.is_some_and(|w| w.iter().all(|w| w.until <= n))
    }
}
