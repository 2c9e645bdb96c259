//! Coalescing of moves to and from parts of registers. A response is read where it arrived, and a
//! payload is computed in place.
//!
//! Input: code with allocated flags. Register allocation joins registers that whole copies connect.
//! It does not handle a register that is part of another. Such parts are components of responses,
//! parts of payloads, or half the lanes of either. Here a move of whole GRFs between registers is
//! removed in two cases.
//!
//! - Forward: all writes of its destination are moves from one register at a constant distance, and
//!   that register is not written afterwards. Then the destination is a name for that part.
//! - Backward: its destination is filled and then read, as payloads are, and its source lives in
//!   the same block only. Then the source is computed in place. Several moves that together bring
//!   all of a source count as one.
//!
//! A register that is filled piece by piece is often a chain of copies, each with one more piece.
//! Such chains become one register first.
//!
//! Registers that such moves connect are first split into pieces (`regalloc::grf::split_wide`),
//! since halves of one may go to different registers.
//!
//! Code that calls routines has its own case (`shared_arguments.rs`).
//!
//! There is one pass over the code for each case. A register's accesses are visited a constant
//! number of times for each of its moves.

use crate::entity_set::Marks;
use crate::graph::union_find::UnionFind;
use crate::mir::insert::remove;
use crate::mir::operand::whole_move;
use crate::mir::spans::Spans;
use crate::mir::{Access, MInst, RegConstraint, VCode, VReg, VirtReg};
use crate::mir_opt::shared_arguments;
use crate::regalloc::grf::split_wide;
use crate::sized;
use crate::target::Target;
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityRef, SecondaryMap};
use gantry_isa_gen::{Dst, ExecSize, Inst, Op, Region, Src};
use smallvec::SmallVec;

/// Maximal distance, in instructions, between a value's start and its move to the payload. Parts of
/// a payload that are not filled yet take up GRFs, too.
const MAX_DISTANCE: usize = 96;
/// Maximal accesses of a register that is considered.
const MAX_ACCESSES: usize = 64;

/// Move of bytes between registers.
#[derive(Clone, Copy)]
struct RegMove {
    to: VReg,
    /// Byte offset in the destination.
    at: u32,
    from: VReg,
    /// Byte offset in the source.
    of: u32,
    bytes: u32,
}

/// Access to some bytes of a register.
#[derive(Clone, Copy)]
struct ByteAccess {
    inst: usize,
    start: u32,
    end: u32,
}

/// Accesses of a register.
#[derive(Clone, Default)]
struct RegUses {
    writes: SmallVec<[ByteAccess; 4]>,
    reads: SmallVec<[ByteAccess; 4]>,
    /// Instructions where a value of it starts.
    begins: SmallVec<[usize; 2]>,
    /// Set if it must stay a separate register.
    stays: bool,
    /// Set if a copy of it, or of a register that is all of it, takes several instructions. It may
    /// become another register, but no part of one.
    whole: bool,
    /// Current start of its value, if others are computed in it.
    begun: Option<usize>,
    /// Reads of the values that are computed in it.
    made: Vec<ByteAccess>,
}

/// Register that is part of another, and its byte offset.
#[derive(Clone, Copy, Default)]
struct SubRegister {
    of: PackedOption<VReg>,
    at: u32,
}

struct Coalescer<'a> {
    code: &'a mut VCode,
    block: Vec<u32>,
    /// Index into `uses` of each register that is moved; 0 for others.
    moved: SecondaryMap<VReg, u32>,
    /// Accesses of registers that are moved. Entry 0 is empty, for all others.
    uses: Vec<RegUses>,
    parts: SecondaryMap<VReg, SubRegister>,
    gone: Vec<bool>,
    count: u32,
}

/// Returns true if an operand is contiguous.
fn is_contiguous(region: Region, exec: ExecSize) -> bool {
    let n = exec.channels();
    match region {
        Region::Rect { vs, w, hs } => {
            n == 1 || hs == 1 && (u32::from(w) == n || vs == w) || w == 1 && vs == 1
        }
        _ => false,
    }
}

/// Returns the move of an instruction that copies contiguous bytes between GRFs.
fn as_move(inst: &Inst<VirtReg>) -> Option<RegMove> {
    if inst.op != Op::Mov || inst.pred.is_some() || inst.cond.is_some() || inst.sat {
        return None;
    }
    let &Dst::Direct { at: to, hs: 1, ty } = &inst.dst else {
        return None;
    };
    let &Src::Direct {
        at: from,
        region,
        ty: of,
        mods,
    } = &inst.srcs[0]
    else {
        return None;
    };
    let (Some(d), Some(s)) = (to.reg.as_grf(), from.reg.as_grf()) else {
        return None;
    };
    let same = ty == of || ty.bytes() == of.bytes() && !ty.is_float() && !of.is_float();
    let fits = same && mods == Default::default() && is_contiguous(region, inst.exec);
    fits.then(|| RegMove {
        to: d,
        at: to.sub.into(),
        from: s,
        of: from.sub.into(),
        bytes: inst.exec.channels() * ty.bytes(),
    })
}

/// Returns the exec size of a move that copies this many bytes, if one instruction can.
fn exec_of_copy(bytes: u32) -> Option<ExecSize> {
    match bytes {
        32 => Some(ExecSize::S8),
        64 => Some(ExecSize::S16),
        _ => None,
    }
}

impl RegMove {
    /// Returns true if the move covers whole GRFs.
    fn is_whole(&self, grf: u32) -> bool {
        let whole = |n: u32| n.is_multiple_of(grf);
        whole(self.at) && whole(self.of) && whole(self.bytes) && self.to != self.from
    }
}

/// Returns the registers that moves of whole GRFs connect, and those that copies connect with them.
/// `None` if there are no such moves.
fn connected_registers(code: &VCode) -> Option<Marks<VReg>> {
    let grf = code.grf.bytes;
    let mut sets: UnionFind<VReg> = UnionFind::new(code.vregs.len());
    let mut moves = Vec::new();
    for m in &code.insts {
        match m {
            MInst::Copy { dst, src } => {
                sets.union(*src, *dst);
            }
            MInst::Op { inst, .. } => moves.extend(as_move(inst).filter(|m| m.is_whole(grf))),
            _ => {}
        }
    }
    if moves.is_empty() {
        return None;
    }
    let mut roots: Marks<VReg> = Marks::sized(code.vregs.len());
    for m in moves {
        roots.insert(sets.find(m.to));
        roots.insert(sets.find(m.from));
    }
    let mut out: Marks<VReg> = Marks::sized(code.vregs.len());
    for r in code.vregs.keys() {
        if roots.contains(sets.find(r)) {
            out.insert(r);
        }
    }
    Some(out)
}

/// Joins both registers of a copy that is the last use of its source and the only start of its
/// destination. The source must live in one block. Returns the number of copies that were removed.
fn join_chains(code: &mut VCode, wanted: &Marks<VReg>) -> u32 {
    /// Occurrences of a register.
    #[derive(Clone, Copy, Default)]
    struct Occurrences {
        /// Block of its occurrences; `None` before the first.
        block: Option<u32>,
        many: bool,
        last: usize,
        begins: u32,
    }
    let mut insts = code.insts.iter();
    if !insts.any(|m| matches!(m, MInst::Copy { src, .. } if wanted.contains(*src))) {
        return 0;
    }
    let block = code.block_of();
    let mut named: SecondaryMap<VReg, Occurrences> = sized(code.vregs.len());
    for (i, (m, &b)) in code.insts.iter().zip(&block).enumerate() {
        m.for_each_vreg(|r, access| {
            let n = &mut named[r];
            n.many |= n.block.is_some_and(|other| other != b);
            n.block = Some(b);
            n.last = i;
            n.begins += u32::from(access == Access::Def);
        });
    }
    let mut joined: SecondaryMap<VReg, PackedOption<VReg>> = sized(code.vregs.len());
    // Block in which each register occurred last.
    let mut seen: SecondaryMap<VReg, Option<u32>> = sized(code.vregs.len());
    let mut gone = vec![false; code.insts.len()];
    let mut count = 0;
    for (i, (m, &b)) in code.insts.iter_mut().zip(&block).enumerate() {
        let before = match *m {
            MInst::Copy { dst, src } => Some((dst, seen[dst], joined[src].expand().unwrap_or(src))),
            _ => None,
        };
        m.for_each_vreg(|r, _| seen[r] = Some(b));
        let Some((dst, seen_before, src)) = before else {
            continue;
        };
        let (from, to) = (named[src], named[dst]);
        let alike = {
            let (a, b) = (code.vregs[src], code.vregs[dst]);
            a.constraint == RegConstraint::Any
                && b.constraint == RegConstraint::Any
                && a.bytes == b.bytes
                && a.align == b.align
        };
        let done = !from.many && from.last == i;
        if wanted.contains(src) && alike && done && to.begins == 1 && seen_before != Some(b) {
            joined[dst] = src.into();
            named[src] = Occurrences {
                begins: from.begins,
                ..to
            };
            gone[i] = true;
            count += 1;
        }
    }
    if count == 0 {
        return 0;
    }
    let to = |r: VReg| joined[r].expand().unwrap_or(r);
    for m in &mut code.insts {
        m.map_vregs(|r, _| to(r));
    }
    for (_, r) in &mut code.labels {
        *r = to(*r);
    }
    remove(code, |i| gone.get(i).copied().unwrap_or(false));
    count
}

/// Runs the pass. Returns the number of moves that were removed.
pub(crate) fn run(code: &mut VCode, target: &Target) -> u32 {
    // Instructions alone do not show what routines pass to each other.
    if code.routines.len() > 1 {
        return shared_arguments::run(code);
    }
    let Some(wanted) = connected_registers(code) else {
        return 0;
    };
    let chained = join_chains(code, &wanted);
    let mut origin = vec![0; code.insts.len()];
    split_wide::split(code, &mut origin, target, |r| wanted.contains(r));
    let mut c = Coalescer {
        block: code.block_of(),
        moved: sized(code.vregs.len()),
        uses: vec![RegUses::default()],
        parts: sized(code.vregs.len()),
        gone: vec![false; code.insts.len()],
        count: chained,
        code,
    };
    c.drop_undef_copies();
    let moves = c.collect_moves();
    c.collect_uses(target);
    for &i in &moves {
        c.forward(i);
    }
    for i in moves {
        c.backward(i);
    }
    c.finish()
}

impl Coalescer<'_> {
    /// Turns copies of undefined registers into starts of their destinations.
    fn drop_undef_copies(&mut self) {
        let anywhere = |r: VReg| self.code.vregs[r].constraint == RegConstraint::Any;
        let mut insts = self.code.insts.iter();
        if !insts.any(|m| matches!(m, MInst::Copy { src, .. } if anywhere(*src))) {
            return;
        }
        let mut writes: SecondaryMap<VReg, u32> = sized(self.code.vregs.len());
        for m in &self.code.insts {
            m.for_each_vreg(|r, a| {
                let begins = matches!(m, MInst::Start { .. });
                writes[r] += u32::from(a != Access::Use && !begins);
            });
        }
        for m in &mut self.code.insts {
            if let MInst::Copy { dst, src } = *m
                && writes[src] == 0
                && self.code.vregs[src].constraint == RegConstraint::Any
            {
                *m = MInst::Start { dst };
                writes[dst] -= 1;
            }
        }
    }

    /// Returns the moves of whole GRFs, and numbers their registers.
    fn collect_moves(&mut self) -> Vec<usize> {
        let mut out = Vec::new();
        let mut count = self.uses.len() as u32;
        for i in 0..self.code.insts.len() {
            let Some(m) = self.move_at(i) else {
                continue;
            };
            out.push(i);
            for r in [m.to, m.from] {
                if self.moved[r] == 0 {
                    self.moved[r] = count;
                    count += 1;
                }
            }
        }
        self.uses.resize_with(count as usize, RegUses::default);
        out
    }

    /// Returns the accesses of a register.
    fn of(&self, r: VReg) -> &RegUses {
        &self.uses[self.moved[r] as usize]
    }

    fn of_mut(&mut self, r: VReg) -> &mut RegUses {
        &mut self.uses[self.moved[r] as usize]
    }

    fn collect_uses(&mut self, target: &Target) {
        let code = &*self.code;
        let spans = Spans {
            platform: target.platform(),
            grf: code.grf.bytes,
            size: |r: VReg| code.vregs[r].bytes,
        };
        for (i, m) in code.insts.iter().enumerate() {
            let mut any = false;
            m.for_each_vreg(|r, _| any |= self.moved[r] != 0);
            if !any {
                continue;
            }
            let plain = match m {
                MInst::Op { inst, .. } => {
                    let macros = |s: &Src<VirtReg>| matches!(s, Src::Macro { .. });
                    !matches!(inst.dst, Dst::Macro { .. }) && !inst.srcs.iter().any(macros)
                }
                m => matches!(m, MInst::Start { .. } | MInst::Copy { .. }),
            };
            let whole = match m {
                MInst::Copy { dst, .. } => exec_of_copy(code.vregs[*dst].bytes).is_none(),
                _ => false,
            };
            let begins = matches!(m, MInst::Start { .. });
            spans.each(m, |r, bytes, access| {
                let n = self.moved[r] as usize;
                if n == 0 {
                    return;
                }
                let uses = &mut self.uses[n];
                uses.whole |= whole;
                uses.stays |= !plain || uses.writes.len() + uses.reads.len() > MAX_ACCESSES;
                if access == Access::Def {
                    uses.begins.push(i);
                }
                let touched = ByteAccess {
                    inst: i,
                    start: bytes.start,
                    end: bytes.end,
                };
                match access {
                    Access::Use => uses.reads.push(touched),
                    _ if !begins => uses.writes.push(touched),
                    _ => {}
                }
            });
        }
    }

    /// Returns the move of whole GRFs that an instruction is.
    fn move_at(&self, i: usize) -> Option<RegMove> {
        let m = match *self.code.insts.get(i)? {
            MInst::Op { ref inst, .. } => as_move(inst)?,
            MInst::Copy { dst, src } => RegMove {
                to: dst,
                at: 0,
                from: src,
                of: 0,
                bytes: self.code.vregs[dst].bytes,
            },
            _ => return None,
        };
        m.is_whole(self.code.grf.bytes).then_some(m)
    }

    /// Returns the register that contains one, or itself, and the byte offset in it.
    fn part(&self, mut r: VReg) -> (VReg, u32) {
        let mut at = 0;
        while let Some(of) = self.parts[r].of.expand() {
            at += self.parts[r].at;
            r = of;
        }
        (r, at)
    }

    fn of_block(&self, i: usize) -> Option<u32> {
        self.block.get(i).copied()
    }

    /// Returns true if a part fits a register by size and alignment.
    fn fits(&self, part: VReg, of: VReg, at: u32) -> bool {
        let whole = self.of(part).whole;
        let (part, of) = (self.code.vregs[part], self.code.vregs[of]);
        (!whole || at == 0 && part.bytes == of.bytes)
            && part.constraint == RegConstraint::Any
            && at + part.bytes <= of.bytes
            && of.align >= part.align
            && at.is_multiple_of(part.align)
    }

    /// Returns true if no message takes both payloads from one register after the merge: they must
    /// be apart.
    fn sent_apart(&self, reads: &[ByteAccess], from: VReg) -> bool {
        reads.iter().all(|r| match self.code.insts.get(r.inst) {
            Some(MInst::Op { inst, .. }) if inst.op.is_send() => {
                inst.srcs.iter().all(|s| match s {
                    Src::Direct { at, .. } => {
                        at.reg.as_grf().is_none_or(|r| self.part(r).0 != from)
                    }
                    _ => true,
                })
            }
            _ => true,
        })
    }

    /// Forward case: if the instruction is the last write of its destination, the destination may
    /// become a name for its source.
    fn forward(&mut self, i: usize) {
        let Some(last) = self.move_at(i) else {
            return;
        };
        let to = last.to;
        let uses = self.of(to);
        let block = self.of_block(i);
        if uses.stays
            || self.parts[to].of.is_some()
            || uses.writes.last().is_none_or(|w| w.inst != i)
        {
            return;
        }
        let (of, base) = self.part(last.from);
        let Some(at) = (base + last.of).checked_sub(last.at) else {
            return;
        };
        let from = self.of(of);
        let first = uses.writes.first().map_or(i, |w| w.inst);
        let same = |w: &ByteAccess| {
            self.move_at(w.inst).is_some_and(|m| {
                let (r, base) = self.part(m.from);
                r == of && base + m.of == at + m.at
            })
        };
        let ok = of != to
            && !from.stays
            && self.fits(to, of, at)
            && self.of_block(first) == block
            && uses.writes.iter().all(same)
            // Nothing of an older value is kept.
            && matches!(*uses.begins, [b] if b <= first && self.of_block(b) == block)
            && from.writes.iter().all(|w| w.inst < first && self.of_block(w.inst) == block)
            && (from.writes.is_empty() || !from.begins.is_empty())
            && uses.reads.iter().all(|r| r.inst > i || self.of_block(r.inst) != block)
            && self.sent_apart(&uses.reads, of);
        if !ok {
            return;
        }
        // A removed move reads nothing.
        let gone: SmallVec<[usize; 4]> = uses.writes.iter().map(|w| w.inst).collect();
        let begin = uses.begins.first().copied();
        let (reads, whole) = (uses.reads.clone(), uses.whole);
        for &n in &gone {
            self.gone[n] = true;
            self.count += 1;
        }
        if let Some(b) = begin {
            self.gone[b] = true;
        }
        let from = self.of_mut(of);
        from.whole |= whole;
        from.reads.retain(|r| !gone.contains(&r.inst));
        from.reads.extend(reads.iter().map(|r| ByteAccess {
            inst: r.inst,
            start: r.start + at,
            end: r.end + at,
        }));
        self.parts[to] = SubRegister { of: of.into(), at };
    }

    /// Returns the moves that together bring all of a register to another, if the instruction is
    /// the last of them, and the offset there.
    fn all_of(&self, i: usize) -> Option<(SmallVec<[usize; 4]>, u32)> {
        let m = self.move_at(i)?;
        let (value, base) = self.part(m.from);
        let at = m.at.checked_sub(base + m.of)?;
        let bytes = self.code.vregs[value].bytes;
        if self.of(value).stays {
            return None;
        }
        if m.bytes == bytes {
            return Some((SmallVec::from_slice(&[i]), at));
        }
        let (mut moves, mut moved) = (SmallVec::new(), 0);
        for r in &self.of(value).reads {
            let Some(other) = self.move_at(r.inst).filter(|_| !self.gone[r.inst]) else {
                continue;
            };
            let (from, base) = self.part(other.from);
            let same = from == value && other.to == m.to && other.at == at + base + other.of;
            // Each byte once: the next move brings the bytes that follow.
            if same && base + other.of == moved {
                moves.push(r.inst);
                moved += other.bytes;
            }
        }
        let last = moves.last().is_some_and(|&n| n == i);
        (last && moved == bytes).then_some((moves, at))
    }

    /// Backward case: computes the source of a move in its destination.
    fn backward(&mut self, i: usize) {
        if self.gone[i] {
            return;
        }
        let (Some(m), Some((moves, at))) = (self.move_at(i), self.all_of(i)) else {
            return;
        };
        let (value, _) = self.part(m.from);
        let payload = m.to;
        let bytes = self.code.vregs[value].bytes;
        let first_move = moves.first().copied().unwrap_or(i);
        let (uses, whole) = (self.of(value), self.of(payload));
        let block = self.of_block(i);
        let here = |t: &ByteAccess| self.of_block(t.inst) == block;
        let (Some(first), Some(&begin)) = (uses.begins.first(), whole.begins.first()) else {
            return;
        };
        let begin_now = whole.begun.unwrap_or(begin);
        let first_now = uses.begun.unwrap_or(*first);
        // A copy starts its whole destination.
        let copy = |n: usize| matches!(self.code.insts.get(n), Some(MInst::Copy { .. }));
        let is_value = value != payload
            && !uses.stays
            && self.fits(value, payload, at)
            && uses.begins.len() == 1
            && self.of_block(*first) == block
            && uses
                .writes
                .iter()
                .all(|w| here(w) && w.inst < first_move && w.inst >= *first)
            && uses.reads.iter().all(here)
            && first_now + MAX_DISTANCE >= i
            && !copy(first_now)
            && (moves.contains(&begin_now) || !copy(begin_now));
        // Later writes may overwrite the value if nothing reads it after the move.
        let read_before = uses.reads.iter().chain(&uses.made).all(|r| r.inst <= i);
        let written = whole.writes.last().map_or(0, |w| w.inst);
        let is_payload = !whole.stays
            && self.code.vregs[payload].constraint == RegConstraint::Any
            && self.parts[payload].of.is_none()
            && whole.begins.len() == 1
            && self.of_block(begin) == block
            && whole.writes.iter().all(|w| here(w) && w.inst >= begin)
            && whole.reads.iter().all(|r| here(r) && r.inst > written)
            && whole.writes.iter().all(|w| {
                let behind = w.inst > i && read_before;
                moves.contains(&w.inst) || behind || w.end <= at || w.start >= at + bytes
            });
        let apart = || {
            self.sent_apart(&uses.reads, payload)
                && self.sent_apart(&uses.made, payload)
                && self.sent_apart(&whole.reads, value)
        };
        if !is_value || !is_payload || !apart() {
            return;
        }
        let last = begin_now.max(first_now);
        self.remove_start(last);
        for &n in &moves {
            self.gone[n] = true;
            self.count += 1;
        }
        let uses = self.of(value);
        let reads = uses.reads.iter().chain(&uses.made);
        let reads: SmallVec<[ByteAccess; 4]> = reads.copied().collect();
        let whole = uses.whole;
        let of = self.of_mut(payload);
        of.begun = Some(begin_now.min(first_now));
        of.made.extend(reads);
        of.whole |= whole;
        self.parts[value] = SubRegister {
            of: payload.into(),
            at,
        };
    }

    /// Removes a start of a register that has become part of one that has started already.
    fn remove_start(&mut self, i: usize) {
        match self.code.insts.get_mut(i) {
            Some(MInst::Op { starts, .. }) => *starts = false,
            Some(MInst::Start { .. }) => self.gone[i] = true,
            _ => {}
        }
    }

    /// Renames registers and removes instructions.
    fn finish(self) -> u32 {
        if self.count == 0 {
            return 0;
        }
        let mut parts: SecondaryMap<VReg, (VReg, u32)> =
            SecondaryMap::with_default((VReg::new(0), 0));
        parts.resize(self.code.vregs.len());
        for r in self.code.vregs.keys() {
            parts[r] = self.part(r);
        }
        let name = |reg: &mut VirtReg, sub: &mut u16| {
            if let Some(r) = reg.as_grf() {
                let (of, at) = parts[r];
                *reg = VirtReg::grf(of);
                *sub += at as u16;
            }
        };
        for m in &mut self.code.insts {
            match m {
                MInst::Op { inst, .. } => {
                    for s in &mut inst.srcs {
                        if let Src::Direct { at, .. } = s {
                            name(&mut at.reg, &mut at.sub);
                        }
                    }
                    if let Dst::Direct { at, .. } = &mut inst.dst {
                        name(&mut at.reg, &mut at.sub);
                    }
                }
                MInst::Start { dst } => *dst = parts[*dst].0,
                MInst::Copy { dst, src } => {
                    let bytes = self.code.vregs[*dst].bytes;
                    let ((d, da), (s, sa)) = (parts[*dst], parts[*src]);
                    let whole = |r: VReg| self.code.vregs[r].bytes == bytes;
                    *m = match (exec_of_copy(bytes), whole(d) && whole(s)) {
                        (Some(exec), false) => whole_move(exec, (d, da), (s, sa), d == *dst),
                        _ => MInst::Copy { dst: d, src: s },
                    };
                }
                _ => {}
            }
        }
        let vregs = &self.code.vregs;
        self.code.labels.retain_mut(|(_, r)| {
            let (of, at) = parts[*r];
            let kept = at == 0 && vregs[of].bytes == vregs[*r].bytes;
            *r = of;
            kept
        });
        remove(self.code, |i| self.gone.get(i).copied().unwrap_or(false));
        self.count
    }
}
