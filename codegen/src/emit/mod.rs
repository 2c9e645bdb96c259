//! Emission: machine code with places becomes instructions of the ISA crate, then bytes.
//!
//! Copies between different places become moves; terminators become `jmpi`, or nothing where
//! control falls through; branch targets become distances in bytes. Blocks that only jump are left
//! out. The mask stack's instructions are in `simdcf`.

mod by_reference;
mod bytes;
mod errata;
mod labels;
mod mask_stack;
mod prologue;
mod scratch;
#[cfg(test)]
mod tests;

pub use labels::LabelRange;

use crate::error::CodegenError;
use crate::ir::{DataRef, SourceLoc};
use crate::isel::lower_sends;
use crate::mir::liveness::Liveness;
use crate::mir::operand::{dst, imm, scalar, uniform};
use crate::mir::srclocs::SrcLocs;
use crate::mir::{MInst, RegKind, SymbolPart, VBlock, VCode, VReg, VirtReg, check_counts};
use crate::regalloc::Allocation;
use crate::sized;
use crate::target::abi::Payload;
use crate::target::{GrfFile, Target};
use bytes::Encoded;
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityRef, SecondaryMap};
use gantry_isa_gen::{
    self as isa, Arf, Dst, ExecSize, Op, PredCtrl, Predicate, Reg, RegRef, Region, Src, SrcMods,
    Target as BranchTarget, Type,
};
use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::fmt::Write as _;
use std::ops::Range;

/// Bytes of an instruction in its native form.
pub(crate) const NATIVE: i32 = 16;

/// A compiled function body.
#[derive(Clone, Debug, Default)]
pub struct Code {
    /// Physical instructions, branch targets resolved.
    pub insts: Vec<isa::Inst<Reg>>,
    /// Their bytes.
    pub bytes: Vec<u8>,
    /// How many of them are in their compact form, which their options say.
    pub compacted: u32,
    /// Bytes from the start to where threads begin whose ids the hardware made: 0 where nothing is
    /// loaded before.
    pub entry: u32,
    /// Addresses that the loader fills in.
    pub relocations: Vec<Relocation>,
    /// Where it comes from, in order: each entry is of the bytes up to the next one. Empty where
    /// the IR has no source locations.
    pub locations: Vec<Located>,
    /// Where values with labels are, by name and place. Empty where the IR has no labels.
    pub labels: Vec<LabelRange>,
}

impl Code {
    /// What it takes by the model of [`isa::perf::cycles`].
    pub fn cycles(&self, platform: isa::Platform) -> isa::perf::Cycles {
        let mut at = 0;
        let insts = self.insts.iter().map(|i| {
            let here = at;
            at += bytes::size(i);
            (here, i)
        });
        isa::perf::cycles(platform, insts)
    }

    /// Where the instruction at an offset comes from.
    pub fn source_loc(&self, offset: u64) -> SourceLoc {
        let after = self.locations.partition_point(|l| l.offset <= offset);
        let entry = after.checked_sub(1).and_then(|n| self.locations.get(n));
        entry.map_or(SourceLoc::NONE, |l| l.loc)
    }
}

/// Where code comes from, from an offset on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Located {
    /// Bytes from the code's start.
    pub offset: u64,
    /// Where it comes from; nowhere behind code that comes from somewhere.
    pub loc: SourceLoc,
}

/// A place in the code that the loader writes a part of an address to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Relocation {
    /// Bytes from the code's start.
    pub offset: u64,
    /// Whose address.
    pub data: DataRef,
    /// Which part of it.
    pub part: SymbolPart,
}

/// Bytes of the register file that an instruction reaches through an address register.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Reach {
    /// The instruction's number.
    pub(crate) inst: usize,
    /// The bytes.
    pub(crate) bytes: Range<u32>,
    /// Written; else read.
    pub(crate) write: bool,
}

/// Physical instructions, and what stands beside them by their numbers.
#[derive(Debug, Default)]
pub(crate) struct Physical {
    /// The instructions; how far their targets are is counted in bytes as if none were compact.
    pub(crate) insts: Vec<isa::Inst<Reg>>,
    /// What they reach through addresses, in their order.
    pub(crate) reaches: Vec<Reach>,
    /// Instructions whose immediate is a part of an address.
    symbols: Vec<(usize, DataRef, SymbolPart)>,
    /// Where they come from.
    locs: SrcLocs,
    /// Where the code of each machine instruction begins, if anybody asks.
    places: Vec<u32>,
    /// The instruction that a thread begins with whose ids the hardware made.
    entry: usize,
    /// Copies between different places.
    pub(crate) moves: usize,
}

/// Bytes of which a place is a multiple that threads begin at.
const ENTRY_UNIT: usize = 64;

impl Physical {
    /// Puts instructions before all others; threads whose ids the hardware made begin with that of
    /// number `entry`.
    fn prepend(&mut self, mut more: Vec<isa::Inst<Reg>>, entry: usize) {
        let by = more.len();
        more.append(&mut self.insts);
        self.insts = more;
        for r in &mut self.reaches {
            r.inst += by;
        }
        for s in &mut self.symbols {
            s.0 += by;
        }
        let mut locs = SrcLocs::default();
        for (n, loc) in self.locs.runs() {
            locs.push(n + by, loc);
        }
        self.locs = locs;
        for p in &mut self.places {
            *p += by as u32;
        }
        self.entry = entry;
    }

    /// Puts instructions that do nothing before the entry, so that it is where threads may begin if
    /// those before it are not compact.
    fn align_entry(&mut self) {
        let entry = self.entry;
        let unit = ENTRY_UNIT / NATIVE as usize;
        let rest = (unit - entry % unit) % unit;
        let nop = isa::Inst::new(Op::Nop, ExecSize::S1);
        self.insert((0..rest).map(|_| (entry, nop)).collect());
        self.entry = entry + rest;
    }

    /// As text, each instruction with its number, which targets are.
    pub(crate) fn text(&self, target: &Target) -> String {
        let mut out = String::new();
        for (n, inst) in self.insts.iter().enumerate() {
            let label = |to: BranchTarget| match to {
                BranchTarget::Rel(by) => (n as i64 + i64::from(by / NATIVE)).to_string(),
                BranchTarget::Label(b) => format!("block{b}"),
            };
            let line = isa::text::print_inst(target.platform(), inst, &label);
            let _ = writeln!(out, "{n:5}: {}", line.trim_end());
        }
        out
    }

    /// Puts instructions before others, given by number and in their order. What goes to one of
    /// those goes to what is before it; but channels that leave for the end of a loop meet at the
    /// `while` itself.
    pub(crate) fn insert(&mut self, more: Vec<(usize, isa::Inst<Reg>)>) {
        if more.is_empty() {
            return;
        }
        // Where each instruction begins, with what is before it, and one more.
        let mut starts = Vec::with_capacity(self.insts.len() + 1);
        let mut added = more.iter().peekable();
        let mut before = 0;
        for n in 0..=self.insts.len() {
            starts.push(n + before);
            while added.next_if(|(at, _)| *at == n).is_some() {
                before += 1;
            }
        }
        let start = |n: usize| starts.get(n).copied().unwrap_or(n + before);
        // Where it stands itself.
        let own = |n: usize| start(n + 1).saturating_sub(1);
        let ends: Vec<bool> = self.insts.iter().map(|i| i.op == Op::While).collect();
        let mut out = Vec::with_capacity(self.insts.len() + more.len());
        let mut more = more.into_iter().peekable();
        for (n, mut inst) in std::mem::take(&mut self.insts).into_iter().enumerate() {
            while let Some((_, i)) = more.next_if(|(at, _)| *at == n) {
                out.push(i);
            }
            for s in &mut inst.srcs {
                if let Src::Target(BranchTarget::Rel(by)) = *s {
                    let to = (n as i64 + i64::from(by / NATIVE)).max(0) as usize;
                    let leaves = inst.op != Op::Jmpi && ends.get(to) == Some(&true);
                    let to = if leaves { own(to) } else { start(to) };
                    let by = to as i64 - own(n) as i64;
                    *s = Src::Target(BranchTarget::Rel(by as i32 * NATIVE));
                }
            }
            out.push(inst);
        }
        self.insts = out;
        self.entry = start(self.entry);
        for r in &mut self.reaches {
            r.inst = own(r.inst);
        }
        for s in &mut self.symbols {
            s.0 = own(s.0);
        }
        let mut locs = SrcLocs::default();
        for (n, loc) in self.locs.runs() {
            locs.push(start(n), loc);
        }
        self.locs = locs;
        for p in &mut self.places {
            *p = start(*p as usize) as u32;
        }
    }
}

struct Emitter<'a> {
    code: &'a VCode,
    alloc: &'a Allocation,
    target: &'a Target,
    /// Where control goes that is sent to a block: past blocks that only jump.
    goal: SecondaryMap<VBlock, PackedOption<VBlock>>,
    /// The next block that is emitted.
    behind: SecondaryMap<VBlock, PackedOption<VBlock>>,
    out: Vec<isa::Inst<Reg>>,
    symbols: Vec<(usize, DataRef, SymbolPart)>,
    reaches: Vec<Reach>,
    /// By the word that a routine is passed, where the registers are that it may be the place of.
    passed: HashMap<VReg, Vec<Range<u32>>>,
    /// Where blocks start, as far as emitted.
    starts: Vec<i32>,
    masks: mask_stack::Masks,
    /// Messages to and from scratch where what they write of the address register is read behind
    /// them.
    kept: HashSet<usize>,
    /// Copies between different places, so far.
    moves: usize,
}

/// Whether a block, its registers placed, only jumps.
fn only_jumps(code: &VCode, alloc: &Allocation, block: VBlock) -> bool {
    code.block_insts(block).iter().all(|m| match *m {
        MInst::Jump | MInst::Start { .. } | MInst::Touch { .. } => true,
        MInst::Copy { dst, src } => alloc.address[dst] == alloc.address[src],
        _ => false,
    })
}

/// Per block, where control goes that is sent to it. Blocks that only lead to each other, in a
/// ring, stay.
fn goals(code: &VCode, alloc: &Allocation) -> SecondaryMap<VBlock, PackedOption<VBlock>> {
    let mut out: SecondaryMap<VBlock, PackedOption<VBlock>> = sized(code.blocks.len());
    let mut on_path: SecondaryMap<VBlock, bool> = sized(code.blocks.len());
    let mut path = Vec::new();
    for b in code.blocks.keys() {
        let mut at = b;
        // Up to what is known, what does something, or what the path was at before.
        let goal = loop {
            if let Some(known) = out[at].expand() {
                break known;
            }
            let next = match code.blocks[at].succs[..] {
                [next] if only_jumps(code, alloc, at) => next,
                _ => break at,
            };
            if std::mem::replace(&mut on_path[at], true) {
                break at;
            }
            path.push(at);
            at = next;
        };
        out[goal] = goal.into();
        for before in path.drain(..) {
            on_path[before] = false;
            out[before] = goal.into();
        }
    }
    out
}

/// Per block, the first block behind it that has code of its own.
fn behind(
    code: &VCode,
    goal: &SecondaryMap<VBlock, PackedOption<VBlock>>,
) -> SecondaryMap<VBlock, PackedOption<VBlock>> {
    let mut out = sized(code.blocks.len());
    let mut next = PackedOption::default();
    for b in code.blocks.keys().rev() {
        out[b] = next;
        if goal[b].expand() == Some(b) {
            next = b.into();
        }
    }
    out
}

/// Makes physical instructions of a function.
///
/// # Errors
/// Something has no place, which is a bug of the stages before.
pub(crate) fn physical(
    name: &str,
    code: &VCode,
    alloc: &Allocation,
    target: &Target,
) -> Result<Physical, CodegenError> {
    let fail = |i: usize, m: &MInst, what: String| {
        CodegenError::internal(name, format!("instruction {i} (`{m}`): {what}"))
    };
    check_counts(code).map_err(|what| CodegenError::internal(name, what))?;
    let goal = goals(code, alloc);
    let mut e = Emitter {
        code,
        alloc,
        target,
        behind: behind(code, &goal),
        goal,
        out: Vec::with_capacity(code.insts.len()),
        symbols: Vec::new(),
        reaches: Vec::new(),
        starts: Vec::with_capacity(code.blocks.len()),
        masks: mask_stack::Masks::default(),
        kept: scratch::kept(code, alloc, target),
        passed: by_reference::places(code, alloc),
        moves: 0,
    };
    let mut locs = SrcLocs::default();
    let mut from = code.locs.cursor();
    let mut places: Vec<u32> = Vec::new();
    for (b, data) in &code.blocks {
        e.starts.push(e.out.len() as i32);
        e.masks.close();
        if !code.labels.is_empty() {
            places.resize(data.start, e.out.len() as u32);
        }
        if e.goal(b) != b {
            continue;
        }
        for i in data.start..data.end {
            let m = &code.insts[i];
            locs.push(e.out.len(), from.at(i));
            if !code.labels.is_empty() {
                places.push(e.out.len() as u32);
            }
            e.inst(b, i, m).map_err(|what| fail(i, m, what))?;
        }
    }
    let Emitter {
        out: mut insts,
        starts,
        masks,
        symbols,
        reaches,
        moves,
        ..
    } = e;
    masks
        .finish(&mut insts, &starts, target.features().goto_on_true)
        .map_err(|what| CodegenError::internal(name, what))?;
    for (i, inst) in insts.iter_mut().enumerate() {
        for s in &mut inst.srcs {
            if let Src::Target(BranchTarget::Label(b)) = *s {
                let to = starts.get(b as usize).copied().unwrap_or_default();
                *s = Src::Target(BranchTarget::Rel((to - i as i32) * NATIVE));
            }
        }
    }
    if !code.labels.is_empty() {
        places.resize(code.insts.len() + 1, insts.len() as u32);
    }
    let mut physical = Physical {
        insts,
        reaches,
        symbols,
        locs,
        places,
        entry: 0,
        moves,
    };
    errata::apply(&mut physical, target)
        .map_err(|e| CodegenError::internal(name, e.to_string()))?;
    Ok(physical)
}

/// Puts before a kernel's instructions those that load its payload, where its target wants some.
///
/// # Errors
/// The platform lacks the message.
pub(crate) fn add_prologue(
    name: &str,
    physical: &mut Physical,
    payload: &Payload,
    target: &Target,
) -> Result<(), CodegenError> {
    prologue::add(physical, payload, target)
        .map_err(|e| CodegenError::internal(name, e.to_string()))
}

/// Emits physical instructions of a function. `compact`: instructions in their compact form where
/// they have one. `check`: every instruction also passes the legality rules.
///
/// # Errors
/// An instruction that the encoder or the legality check refuses, which is a bug of the stages
/// before.
pub(crate) fn emit(
    name: &str,
    mut physical: Physical,
    (code, live, alloc): (&VCode, &Liveness, &Allocation),
    target: &Target,
    compact: bool,
    check: bool,
) -> Result<Code, CodegenError> {
    physical.align_entry();
    let Physical {
        mut insts,
        symbols,
        locs,
        places,
        entry,
        ..
    } = physical;
    // How far the entry is from the start is known then.
    let fixed = (0..entry).chain(symbols.iter().map(|s| s.0));
    let fixed: Vec<usize> = fixed.collect();
    let platform = target.platform();
    let Encoded {
        bytes,
        offsets,
        compacted,
    } = bytes::encode(name, platform, &mut insts, &fixed, compact, check)?;
    let offset = |n: usize| u64::from(offsets.get(n).copied().unwrap_or(0));
    let relocations = symbols.iter().map(|&(i, data, part)| Relocation {
        // The immediate is the upper half of the instruction, or the upper half of that.
        offset: offset(i)
            + match part {
                SymbolPart::Whole => 8,
                SymbolPart::Low | SymbolPart::High => 12,
            },
        data,
        part,
    });
    let relocations = relocations.collect();
    let runs = locs.runs().filter(|(n, _)| *n < insts.len());
    let locations = runs.map(|(n, loc)| Located {
        offset: offset(n),
        loc,
    });
    let places: Vec<u64> = places.iter().map(|n| offset(*n as usize)).collect();
    Ok(Code {
        labels: labels::ranges(code, live, alloc, &places),
        locations: locations.collect(),
        insts,
        bytes,
        relocations,
        compacted,
        entry: offset(entry) as u32,
    })
}

/// Whether a move writes what stands there already.
fn moves_nothing(inst: &isa::Inst<Reg>) -> bool {
    let Dst::Direct { at: to, hs, ty } = inst.dst else {
        return false;
    };
    let Src::Direct {
        at: from,
        region: Region::Rect { vs, w, hs: step },
        ty: of,
        mods,
    } = inst.srcs[0]
    else {
        return false;
    };
    let exec = inst.exec.channels();
    // Neighbours as far apart as the destination's.
    let alike = exec == 1 || step == hs && (u32::from(w) == exec || vs == w * hs);
    inst.op == Op::Mov
        && matches!(to.reg, Reg::Grf(_))
        && to == from
        && ty == of
        && !inst.sat
        && inst.cond.is_none()
        && mods == SrcMods::default()
        && alike
}

impl Emitter<'_> {
    /// The register and sub-register of a byte address.
    fn grf(&self, address: u32) -> Result<RegRef<Reg>, String> {
        let file = self.target.grf();
        let n =
            u8::try_from(file.of(address)).map_err(|_| format!("byte {address} is in no GRF"))?;
        Ok(RegRef::new(Reg::Grf(n), (address % file.bytes) as u16))
    }

    fn address(&self, r: VReg, sub: u32) -> u32 {
        self.alloc.address[r] + sub
    }

    /// Where a register is.
    fn bytes_of(&self, r: VReg) -> Range<u32> {
        let start = self.address(r, 0);
        start..start + self.code.vregs[r].bytes
    }

    fn place(&self, at: RegRef<VirtReg>) -> Result<RegRef<Reg>, String> {
        match at.reg.kind() {
            RegKind::Phys(reg) => Ok(RegRef::new(reg, at.sub)),
            RegKind::Grf(r) => self.grf(self.address(r, at.sub.into())),
            RegKind::Flag(f) => Err(format!("{f} has no register")),
        }
    }

    fn inst(&mut self, block: VBlock, i: usize, m: &MInst) -> Result<(), String> {
        match *m {
            MInst::Op { ref inst, .. } => {
                let mut wrong = None;
                let Ok::<_, Infallible>(inst) = inst.map(|at, _| {
                    let place = self.place(at);
                    Ok(place.unwrap_or_else(|e| {
                        wrong = Some(e);
                        RegRef::new(Reg::NULL, 0)
                    }))
                });
                if let Some(e) = wrong {
                    return Err(e);
                }
                if let Some(all) = lower_sends::spill::placed(self.target, &inst) {
                    let kept = self.kept.contains(&i);
                    let around = kept.then(|| lower_sends::spill::around(self.target));
                    self.out.extend(around.map(|a| a[0]));
                    self.out.extend(all);
                    self.out.extend(around.map(|a| a[1]));
                } else if !moves_nothing(&inst) {
                    self.out.push(inst);
                }
            }
            MInst::Start { .. } => {}
            MInst::Touch { reg, write } => {
                if let Some(inst) = self.out.len().checked_sub(1) {
                    let own = [self.bytes_of(reg)];
                    let last = self.out.last();
                    let all = match self.passed.get(&reg) {
                        // By the word that it is passed, a routine reaches what any of its callers
                        // passes.
                        Some(all) if last.is_some_and(by_reference::reads_by_address) => &all[..],
                        Some(_) => &[],
                        // What is told of a call its routine says by itself.
                        None if last.is_some_and(|i| i.op == Op::Call) => &[],
                        None => &own[..],
                    };
                    self.reaches.extend(all.iter().map(|bytes| Reach {
                        inst,
                        bytes: bytes.clone(),
                        write,
                    }));
                }
            }
            MInst::Copy { dst, src } => {
                let bytes = self.code.vregs[dst].bytes;
                let (to, from) = (self.address(dst, 0), self.address(src, 0));
                self.moves += usize::from(to != from);
                self.copy(to, from, bytes)?;
            }
            MInst::LoadAddress {
                sub,
                count,
                base,
                offset,
                index,
            } => {
                let a0 = Reg::Arf(Arf::Address, 0);
                let start = base.map_or(offset, |b| self.address(b, offset));
                let start = imm(start.into(), Type::Uw);
                let a0 = dst(RegRef::new(a0, sub * 2), Type::Uw);
                let mut inst = match index {
                    Some((r, at)) => {
                        let index = scalar(self.grf(self.address(r, at))?, Type::Uw);
                        uniform(Op::Add, a0, [index, start])
                    }
                    None => uniform(Op::Mov, a0, [start]),
                };
                inst.exec = count;
                if let Src::Direct { region, .. } = &mut inst.srcs[0]
                    && count.channels() > 1
                {
                    *region = Region::packed(count);
                }
                self.out.push(inst);
            }
            MInst::PlaceOf { dst: to, base } => {
                let to = dst(self.grf(self.address(to, 0))?, Type::Uw);
                let place = imm(self.address(base, 0).into(), Type::Uw);
                self.out.push(uniform(Op::Mov, to, [place]));
            }
            MInst::Symbol {
                dst: to,
                data,
                part,
            } => {
                let (at, ty) = match part {
                    SymbolPart::Whole => (0, Type::Uq),
                    SymbolPart::Low => (0, Type::Ud),
                    SymbolPart::High => (Type::Ud.bytes(), Type::Ud),
                };
                let to = dst(self.grf(self.address(to, at))?, ty);
                self.symbols.push((self.out.len(), data, part));
                self.out.push(uniform(Op::Mov, to, [imm(0, ty)]));
            }
            MInst::Jump => self.jump(block, 0, None),
            MInst::Branch { flag, sub, test } => {
                let flag = self.place(RegRef::new(flag, sub))?;
                let pred = |turned: bool| {
                    Some(Predicate {
                        flag,
                        inverse: test.inverse != turned,
                        ctrl: test.ctrl,
                    })
                };
                let [then, other] = self.code.blocks[block].succs[..] else {
                    return Err("a branch without two successors".to_string());
                };
                if self.goal(then) == self.goal(other) {
                    self.jump(block, 0, None);
                } else if self.follows(block, then) && !self.follows(block, other) {
                    self.jump(block, 1, pred(true));
                } else {
                    self.jump(block, 0, pred(false));
                    self.jump(block, 1, None);
                }
            }
            MInst::Leave { flag, to, exec } => {
                let by = match flag {
                    Some((flag, sub, inverse)) => Some(Predicate {
                        flag: self.place(RegRef::new(flag, sub))?,
                        inverse,
                        ctrl: PredCtrl::Sequential,
                    }),
                    None => None,
                };
                self.leave(by, to, exec);
            }
            MInst::Join { at, exec } => {
                let start = self.starts.last().map_or(0, |s| *s as usize);
                self.join(block, start, at, exec);
            }
            MInst::BranchExec { none_first, exec } => {
                self.branch_exec(block, none_first, exec)?;
            }
            MInst::Call {
                routine,
                link,
                exec,
            } => {
                let first = VBlock::from_u32(self.code.routines[routine].first);
                let to = self.goal(first);
                let mut call = isa::Inst::new(Op::Call, exec);
                call.dst = dst(self.grf(self.address(link, 0))?, Type::D);
                call.srcs[0] = Src::Target(BranchTarget::Label(to.index() as u32));
                self.out.push(call);
            }
            MInst::Return { link, exec } => {
                let mut ret = isa::Inst::new(Op::Ret, exec);
                ret.srcs[0] = Src::Direct {
                    at: self.grf(self.address(link, 0))?,
                    region: Region::rect(2, 2, 1),
                    ty: Type::D,
                    mods: SrcMods::default(),
                };
                self.out.push(ret);
            }
            MInst::EndThread { payload } => {
                self.masks.end = self.out.len();
                let payload = self.grf(self.address(payload, 0))?;
                let send =
                    lower_sends::end_thread(self.target, payload).map_err(|e| e.to_string())?;
                self.out.push(send);
            }
        }
        Ok(())
    }

    fn goal(&self, block: VBlock) -> VBlock {
        self.goal[block].expand().unwrap_or(block)
    }

    /// Whether control that leaves the end of a block is where it would go anyway.
    fn follows(&self, block: VBlock, to: VBlock) -> bool {
        self.behind[block].expand() == Some(self.goal(to))
    }

    /// Whether the first instruction of a block is one that channels wait at.
    fn begins_with_join(&self, block: VBlock) -> bool {
        let mut insts = self.code.block_insts(self.goal(block)).iter();
        let first = insts.find(|m| match **m {
            MInst::Start { .. } | MInst::Touch { .. } => false,
            MInst::Copy { dst, src } => self.alloc.address[dst] != self.alloc.address[src],
            _ => true,
        });
        matches!(first, Some(MInst::Join { .. }))
    }

    /// A jump to a successor, nothing if it is the next block and unconditional.
    fn jump(&mut self, block: VBlock, succ: usize, pred: Option<Predicate<Reg>>) {
        let Some(&to) = self.code.blocks[block].succs.get(succ) else {
            return;
        };
        if pred.is_none() && self.follows(block, to) {
            return;
        }
        self.jump_to(to, pred);
    }

    fn jump_to(&mut self, to: VBlock, pred: Option<Predicate<Reg>>) {
        let to = self.goal(to);
        let mut inst = uniform(Op::Jmpi, Dst::None, []);
        inst.pred = pred;
        inst.srcs[0] = Src::Target(BranchTarget::Label(to.index() as u32));
        self.out.push(inst);
    }

    /// Moves of the widest units that both addresses allow. Places may overlap: then upwards or
    /// downwards, a GRF at a time, so that nothing is overwritten before it was read.
    fn copy(&mut self, dst: u32, src: u32, bytes: u32) -> Result<(), String> {
        if dst == src {
            return Ok(());
        }
        let GrfFile { bytes: grf, .. } = self.target.grf();
        let overlap = dst.abs_diff(src) < bytes;
        let first = self.out.len();
        let mut done = 0;
        while done < bytes {
            let (d, s, rest) = (dst + done, src + done, bytes - done);
            let unit = [4, 2, 1]
                .into_iter()
                .find(|u| (d | s).is_multiple_of(*u) && rest >= *u)
                .unwrap_or(1);
            let room = |at: u32, grfs: u32| grfs * grf - at % grf;
            let aligned = d.is_multiple_of(grf) && s.is_multiple_of(grf);
            let grfs = if aligned && !overlap { 2 } else { 1 };
            let most = (rest.min(room(d, grfs)).min(room(s, grfs)) / unit).max(1);
            let lanes = 1 << most.min(16).ilog2();
            let exec = ExecSize::new(lanes).ok_or("copy width")?;
            let ty = match unit {
                4 => Type::Ud,
                2 => Type::Uw,
                _ => Type::Ub,
            };
            let mut mov = isa::Inst::new(Op::Mov, exec);
            mov.no_mask = true;
            mov.dst = Dst::Direct {
                at: self.grf(d)?,
                hs: 1,
                ty,
            };
            mov.srcs[0] = Src::Direct {
                at: self.grf(s)?,
                region: Region::packed(exec),
                ty,
                mods: SrcMods::default(),
            };
            self.out.push(mov);
            done += lanes * unit;
        }
        if overlap
            && dst > src
            && let Some(moves) = self.out.get_mut(first..)
        {
            moves.reverse();
        }
        Ok(())
    }
}
