//! The checker: follows every byte of the register file and of scratch through the code as it is allocated, and says where an instruction of the code
//! as it was would read another value than it did.
//!
//! It knows nothing of ranges, bundles, slots or the map: only both codes, which instructions are new, and addresses. A byte holds a set of
//! bytes of values: those of the register that was written there last, and, by copies, of others. New instructions move bytes, to and from scratch
//! too, or make a constant again; they compute nothing.

mod state;

use super::Allocated;
use crate::liveness::Liveness;
use crate::sends::spill::Scratch;
use crate::target::Target;
use crate::vcode::insert::NEW;
use crate::vcode::routines;
use crate::vcode::spans::Spans;
use crate::vcode::{Access, MInst, Place, Routine, VBlock, VCode, VReg, VirtReg};
use cranelift_entity::{EntityRef, SecondaryMap};
use gantry_isa_gen::message::{Dir, Message, MsgOp};
use gantry_isa_gen::{Desc, Dst, Inst, Op, Region, Src};
use state::{Bytes, Set, State};
use std::collections::{BTreeMap, BTreeSet};

/// Where scratch begins among the bytes that are followed, behind any register file.
const SCRATCH: u32 = 1 << 24;
/// Where constants that are made again are, so many bytes apart: made again, they come from there.
const CONSTANTS: u32 = 1 << 26;
const CONSTANT: u32 = 512;

/// Bytes of registers that are a constant's, from its first on, and that as a register that is none.
type Constants = SecondaryMap<VReg, Vec<(Bytes, VReg)>>;

/// What is checked, and what is known of it.
struct Checker<'a> {
    before: &'a VCode,
    /// When values live in it: what is undefined and not live is forgotten.
    live: &'a Liveness,
    after: &'a Allocated,
    target: &'a Target,
    /// Bytes of registers that are only ever one constant, and that constant, as a register that is none; and those by what makes them.
    constants: Constants,
    names: BTreeMap<String, VReg>,
    /// Where those constants are that new instructions make.
    again: BTreeMap<VReg, u32>,
    /// Values that several routines name.
    shared: SecondaryMap<VReg, bool>,
    of_blocks: Vec<Routine>,
    /// What routines write: bytes of the file and of scratch, and values.
    bytes: SecondaryMap<Routine, BTreeSet<(u32, u32)>>,
    values: SecondaryMap<Routine, BTreeSet<VReg>>,
    /// What is where as a routine returns, if it is known to.
    exits: SecondaryMap<Routine, Option<State>>,
    callers: SecondaryMap<Routine, Vec<usize>>,
}

/// After how many instructions of a block what is dead is forgotten.
const PRUNE: usize = 64;

/// What happens at an instruction, for who asks.
type Res = Result<(), String>;

/// Checks an allocation of code that had these live ranges.
///
/// # Errors
/// The first read of a byte that does not hold what is read, or a new instruction that does more than move.
pub(crate) fn check(before: &VCode, live: &Liveness, after: &Allocated, target: &Target) -> Res {
    let mut c = Checker::new(before, live, after, target);
    c.pairs()?;
    let code = &after.code;
    let mut entry: Vec<Option<State>> = vec![None; code.blocks.len()];
    if let Some(first) = entry.first_mut() {
        *first = Some(c.start());
    }
    // The blocks in order, so that most of what leads to one was looked at before it.
    let mut work = BTreeSet::from([0usize]);
    while let Some(b) = work.pop_first() {
        let Some(mut state) = entry.get(b).cloned().flatten() else {
            continue;
        };
        let block = VBlock::new(b);
        let mut returns = true;
        for i in code.blocks[block].start..code.blocks[block].end {
            c.step(i, &mut state)?;
            match &code.insts[i] {
                MInst::Call { routine, .. } => {
                    let first = code.routines[*routine].first as usize;
                    if meet_into(&mut entry[first], &state) {
                        work.insert(first);
                    }
                    let Some(after) = c.returned(*routine, &state) else {
                        returns = false;
                        break;
                    };
                    state = after;
                }
                MInst::Return { .. } => {
                    let own = c.of_blocks[b];
                    if meet_into(&mut c.exits[own], &state) {
                        work.extend(&c.callers[own]);
                    }
                }
                _ => {}
            }
        }
        // Where a routine does not return yet, the block is looked at again when it does.
        for s in code.blocks[block].succs.iter().filter(|_| returns) {
            if meet_into(&mut entry[s.index()], &state) {
                work.insert(s.index());
            }
        }
    }
    for (block, data) in &code.blocks {
        let Some(mut state) = entry[block.index()].clone() else {
            continue;
        };
        for i in data.start..data.end {
            c.reads(i, &state)
                .map_err(|e| format!("instruction {i} (`{}`) {e}", code.insts[i]))?;
            c.step(i, &mut state)?;
            if let MInst::Call { routine, .. } = &code.insts[i] {
                match c.returned(*routine, &state) {
                    Some(after) => state = after,
                    None => break,
                }
            }
        }
    }
    Ok(())
}

/// Meets a state into one that is perhaps not known yet; whether that changed.
fn meet_into(slot: &mut Option<State>, state: &State) -> bool {
    match slot {
        None => {
            *slot = Some(state.clone());
            true
        }
        Some(old) => old.meet(state),
    }
}

fn is_message(inst: &Inst<VirtReg>) -> bool {
    matches!(inst.op, Op::Send | Op::Sendc | Op::Sends | Op::Sendsc)
}

/// An instruction that only makes a constant, in all channels, as text without where to.
fn constant_of(m: &MInst) -> Option<String> {
    let MInst::Op { inst, .. } = m else {
        return None;
    };
    let mut plain = *inst;
    plain.dst = match inst.dst {
        Dst::Direct { hs, ty, .. } => Dst::Direct {
            at: gantry_isa_gen::RegRef::new(VirtReg::NULL, 0),
            hs,
            ty,
        },
        _ => return None,
    };
    let alone = inst.op == Op::Mov && inst.no_mask && inst.pred.is_none() && inst.cond.is_none();
    // Rounding depends on where it happens.
    let exact = match (inst.dst, inst.srcs[0]) {
        (Dst::Direct { ty, .. }, Src::Imm { ty: of, .. }) => {
            ty == of || !ty.is_float() && !of.is_float()
        }
        _ => false,
    };
    (alone && exact).then(|| format!("{plain:?}"))
}

impl<'a> Checker<'a> {
    fn new(
        before: &'a VCode,
        live: &'a Liveness,
        after: &'a Allocated,
        target: &'a Target,
    ) -> Checker<'a> {
        let code = &after.code;
        let mut callers: SecondaryMap<Routine, Vec<usize>> = SecondaryMap::new();
        if code.routines.len() > 1 {
            for b in code.blocks.keys() {
                for m in code.block_insts(b) {
                    if let MInst::Call { routine, .. } = m
                        && callers[*routine].last() != Some(&b.index())
                    {
                        callers[*routine].push(b.index());
                    }
                }
            }
        }
        let (constants, names) = constants(before, target);
        let mut c = Checker {
            before,
            live,
            after,
            target,
            constants,
            names,
            again: BTreeMap::new(),
            shared: routines::shared(before),
            of_blocks: routines::of_blocks(code),
            bytes: SecondaryMap::new(),
            values: SecondaryMap::new(),
            exits: SecondaryMap::new(),
            callers,
        };
        for i in 0..code.insts.len() {
            if c.old(i).is_some() {
                continue;
            }
            let text = constant_of(&code.insts[i]);
            let next = CONSTANTS + c.again.len() as u32 * CONSTANT;
            if let Some(&constant) = text.and_then(|t| c.names.get(&t)) {
                c.again.entry(constant).or_insert(next);
            }
        }
        c.effects();
        c
    }

    /// Both codes have the same instructions in the same blocks, but for the new ones.
    fn pairs(&self) -> Res {
        let code = &self.after.code;
        let mut next = 0;
        for (b, data) in &code.blocks {
            for i in data.start..data.end {
                let (Some(m), from) = (code.insts.get(i), self.old(i)) else {
                    return Err(format!("{b} has no instruction {i}"));
                };
                let Some(old) = from else { continue };
                let was = self.before.insts.get(old);
                let same = was.is_some_and(|w| match (w, m) {
                    (MInst::Op { inst: a, .. }, MInst::Op { inst: b, .. }) => a.op == b.op,
                    (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b),
                });
                if old != next || !same {
                    return Err(format!("instruction {i} (`{m}`) is not what was there"));
                }
                next += 1;
            }
            if self.before.blocks.get(b).map(|b| b.end) != Some(next) {
                return Err(format!("{b} has not the instructions that it had"));
            }
        }
        Ok(())
    }

    /// The instruction that one was, if it is not new.
    fn old(&self, i: usize) -> Option<usize> {
        if self.after.origin.is_empty() {
            return Some(i);
        }
        let n = self.after.origin.get(i).copied();
        n.filter(|n| *n != NEW).map(|n| n as usize)
    }

    fn place(&self, r: VReg) -> u32 {
        self.after.alloc.address[r]
    }

    /// The thread's payload is in its registers; what else lives at the start is undefined.
    fn start(&self) -> State {
        let mut state = State::new();
        for (r, data) in &self.before.vregs {
            if let Place::Fixed(at) = data.place {
                state.add((at, at + data.bytes), (r, i64::from(at)));
            } else if self.live.ranges[r].first().is_some_and(|x| x.start == 0) {
                state.forget(r, data.bytes);
            }
        }
        for (&constant, &at) in &self.again {
            state.add((at, at + CONSTANT), (constant, i64::from(at)));
        }
        state
    }

    /// What routines write.
    fn effects(&mut self) {
        let code = &self.after.code;
        for routine in code.routines.keys().rev().filter(|r| r.index() > 0) {
            let (mut bytes, mut values) = (BTreeSet::new(), BTreeSet::new());
            for i in code.routine_insts(routine) {
                let Some(m) = code.insts.get(i) else { continue };
                m.for_each_vreg(|r, a| {
                    let at = self.place(r);
                    if a != Access::Use {
                        bytes.insert((at, at + code.vregs[r].bytes));
                    }
                });
                match (m, self.old(i).and_then(|n| self.before.insts.get(n))) {
                    (_, Some(old)) => old.for_each_vreg(|r, a| {
                        if a != Access::Use {
                            values.insert(r);
                        }
                    }),
                    (MInst::Op { inst, .. }, None) => {
                        if let Some((Dir::Write, at, n)) = self.scratch(inst) {
                            bytes.insert((at, at + n));
                        }
                    }
                    _ => {}
                }
                if let MInst::Call { routine, .. } = m {
                    bytes.extend(self.bytes[*routine].iter().copied());
                    values.extend(self.values[*routine].iter().copied());
                }
            }
            self.bytes[routine] = bytes;
            self.values[routine] = values;
        }
    }

    /// What is where after a call: what the routine writes is where it leaves it. None while it is not known to return.
    fn returned(&self, routine: Routine, state: &State) -> Option<State> {
        let exit = self.exits[routine].as_ref()?;
        let mut out = state.clone();
        for &r in &self.values[routine] {
            let bytes = self.before.vregs[r].bytes;
            out.kill(r, (0, bytes));
        }
        for &bytes in &self.bytes[routine] {
            out.take_from(exit, bytes);
        }
        let left: BTreeMap<VReg, Vec<(u32, u32)>> = exit
            .undefined()
            .map(|(r, list)| (r, list.to_vec()))
            .collect();
        for &r in &self.values[routine] {
            out.set_undefined(r, left.get(&r).cloned());
        }
        Some(out)
    }

    /// Forgets values that do not live behind an instruction of the code as it was.
    fn prune(&self, inst: usize, state: &mut State) {
        let point = inst as u32 * 2 + 2;
        state.prune(|r| {
            // What is no register is a constant; liveness knows each routine alone.
            if r.index() >= self.before.vregs.len() || self.shared[r] {
                return true;
            }
            let ranges = &self.live.ranges[r];
            let n = ranges.partition_point(|x| x.end < point);
            ranges.get(n).is_some_and(|x| x.start < point) || !self.live.weak[r].is_empty()
        });
    }

    /// A message to or from scratch: where, and how many bytes.
    fn scratch(&self, inst: &Inst<VirtReg>) -> Option<(Dir, u32, u32)> {
        let descs = inst.send.as_ref()?;
        let (Desc::Imm(ex), Desc::Imm(desc)) = (descs.ex, descs.desc) else {
            return None;
        };
        let m = Message::decode(self.target.platform(), ex, desc).ok()?;
        match m.op {
            MsgOp::Scratch {
                dir, count, offset, ..
            } => {
                let bytes = |n: u32| n * Scratch::UNIT;
                let (at, size) = (bytes(offset.into()), bytes(count.into()));
                Some((dir, SCRATCH + at, size))
            }
            _ => None,
        }
    }

    fn spans<'v>(&self, code: &'v VCode) -> Spans<impl Fn(VReg) -> u32 + 'v> {
        Spans {
            platform: self.target.platform(),
            grf: code.grf.bytes,
            size: |r: VReg| code.vregs[r].bytes,
        }
    }

    /// Whether what an instruction reads is where it reads it.
    fn reads(&self, i: usize, state: &State) -> Res {
        let code = &self.after.code;
        let m = &code.insts[i];
        let Some(old) = self.old(i) else {
            return self.new_reads(m, state);
        };
        let was = &self.before.insts[old];
        let mut wrong = None;
        let mut look = |r: VReg, byte: u32, place: u32, bytes: u32| {
            if wrong.is_none()
                && let Some(byte) =
                    state.missing(place, r, (byte, byte + bytes), &self.constants[r])
            {
                let there: Vec<String> = state.at(place).iter().map(|v| v.0.to_string()).collect();
                wrong = Some(format!(
                    "reads byte {byte} of {r} at byte {place} of the file, which holds {}",
                    if there.is_empty() {
                        "nothing known".to_owned()
                    } else {
                        there.join(", ")
                    }
                ));
            }
        };
        match (was, m) {
            // Its value goes on under another name wherever it is.
            (MInst::Copy { .. }, _) => {}
            (MInst::Op { inst: was, .. }, MInst::Op { inst, .. }) if !is_message(inst) => {
                for (x, y) in was.srcs.iter().zip(&inst.srcs) {
                    self.lanes(x, y, inst.exec.channels(), &mut look);
                }
                self.kept(was, inst, m, &mut look);
            }
            _ => {
                let mut places = Vec::new();
                self.spans(code).each(m, |r, bytes, a| {
                    places.push((self.place(r) + bytes.start, a))
                });
                let mut n = 0;
                self.spans(self.before).each(was, |r, bytes, a| {
                    let (place, access) = places.get(n).copied().unwrap_or((u32::MAX / 2, a));
                    n += 1;
                    let kept = a == Access::Modify && matches!(was, MInst::Touch { .. });
                    // What begins a value reads none, if it is also one of several in a register.
                    let other = a != Access::Def && access != a;
                    if a == Access::Use || kept || other {
                        look(r, bytes.start, place, bytes.end - bytes.start);
                    }
                });
            }
        }
        wrong.map_or(Ok(()), Err)
    }

    /// The lanes of a source.
    fn lanes(
        &self,
        was: &Src<VirtReg>,
        now: &Src<VirtReg>,
        lanes: u32,
        look: &mut impl FnMut(VReg, u32, u32, u32),
    ) {
        match (*was, *now) {
            (Src::Direct { at, region, ty, .. }, Src::Direct { at: new, .. }) => {
                let (VirtReg::Grf(r), VirtReg::Grf(n)) = (at.reg, new.reg) else {
                    return;
                };
                let (size, all) = (ty.bytes(), self.before.vregs[r].bytes);
                let place = self.place(n) + u32::from(new.sub);
                let mut seen = None;
                for lane in 0..lanes {
                    let Some(e) = element(region, lane) else {
                        return look(r, 0, self.place(n), all);
                    };
                    if seen == Some(e) {
                        continue;
                    }
                    seen = Some(e);
                    let byte = u32::from(at.sub) + e * size;
                    // What three-source instructions read of channels behind a register's end goes nowhere.
                    if byte + size <= all {
                        look(r, byte, place + e * size, size);
                    }
                }
            }
            (Src::Macro { at, .. }, Src::Macro { at: new, .. }) => {
                if let (VirtReg::Grf(r), VirtReg::Grf(n)) = (at.reg, new.reg) {
                    look(r, 0, self.place(n), self.before.vregs[r].bytes);
                }
            }
            _ => {}
        }
    }

    /// What an instruction that writes only some channels leaves of its destination.
    fn kept(
        &self,
        was: &Inst<VirtReg>,
        now: &Inst<VirtReg>,
        m: &MInst,
        look: &mut impl FnMut(VReg, u32, u32, u32),
    ) {
        let some = !now.no_mask || now.pred.is_some() && now.op != Op::Sel;
        if let (Dst::Direct { at, hs, ty }, Dst::Direct { at: new, .. }) = (was.dst, now.dst)
            && let (VirtReg::Grf(r), VirtReg::Grf(n)) = (at.reg, new.reg)
            && matches!(m, MInst::Op { starts: false, .. })
            && some
        {
            for lane in 0..now.exec.channels() {
                let byte = lane * u32::from(hs) * ty.bytes();
                let place = self.place(n) + u32::from(new.sub) + byte;
                look(r, u32::from(at.sub) + byte, place, ty.bytes());
            }
        }
    }

    /// What messages to scratch need.
    fn new_reads(&self, m: &MInst, state: &State) -> Res {
        let MInst::Op { inst, .. } = m else {
            return Ok(());
        };
        if self.scratch(inst).is_none() {
            return Ok(());
        }
        let header = self
            .before
            .vregs
            .iter()
            .find(|(_, d)| d.place == Place::Fixed(0));
        let (Some((header, data)), Src::Direct { at, .. }) = (header, inst.srcs[0]) else {
            return Err("has no header".to_owned());
        };
        let VirtReg::Grf(r) = at.reg else {
            return Err("has no header".to_owned());
        };
        let place = self.place(r) + u32::from(at.sub);
        match state.missing(place, header, (0, data.bytes), &[]) {
            None => Ok(()),
            Some(_) => Err(format!("has no thread header at byte {place} of the file")),
        }
    }

    /// What an instruction does to the state.
    fn step(&self, i: usize, state: &mut State) -> Res {
        let m = &self.after.code.insts[i];
        match self.old(i) {
            Some(old) => {
                let was = &self.before.insts[old];
                self.old_step(was, m, state);
                if was.is_terminator() || old % PRUNE == 0 {
                    self.prune(old, state);
                }
                Ok(())
            }
            None => self
                .new_step(m, state)
                .map_err(|e| format!("instruction {i} (`{m}`) {e}")),
        }
    }

    fn old_step(&self, was: &MInst, m: &MInst, state: &mut State) {
        match (was, m) {
            (&MInst::Copy { dst, src }, &MInst::Copy { dst: to, src: from }) => {
                let bytes = self.before.vregs[dst].bytes;
                state.rename(dst, src, bytes, &self.constants[src]);
                let bytes = self.after.code.vregs[to].bytes;
                state.copy(self.place(to), self.place(from), bytes);
            }
            (MInst::Start { dst }, _) => state.forget(*dst, self.before.vregs[*dst].bytes),
            (MInst::Touch { reg, write: true }, MInst::Touch { reg: new, .. }) => {
                // Somewhere in it: nothing else is there now, and it is nowhere else.
                let bytes = self.before.vregs[*reg].bytes;
                let at = self.place(*new);
                state.kill(*reg, (0, bytes));
                state.put((at, at + bytes), &Set::from_slice(&[(*reg, i64::from(at))]));
            }
            (
                MInst::Op {
                    inst: a, starts, ..
                },
                MInst::Op { inst: b, .. },
            ) if !is_message(a) => {
                let (Dst::Direct { at, hs, ty }, Dst::Direct { at: new, .. }) = (a.dst, b.dst)
                else {
                    return self.whole(was, m, state);
                };
                let (VirtReg::Grf(r), VirtReg::Grf(n)) = (at.reg, new.reg) else {
                    return;
                };
                if *starts {
                    state.forget(r, self.before.vregs[r].bytes);
                }
                let (place, sub) = (self.place(n) + u32::from(new.sub), u32::from(at.sub));
                let (step, size, lanes) =
                    (u32::from(hs) * ty.bytes(), ty.bytes(), a.exec.channels());
                let runs = if step == size { 1 } else { lanes };
                let run = if step == size { lanes * size } else { size };
                for k in 0..runs {
                    self.write(state, r, sub + k * step, place + k * step, run);
                }
                let own = |c: &&(Bytes, VReg)| c.0 == (sub, sub + run);
                if step == size
                    && let Some((_, constant)) = self.constants[r].iter().find(own)
                {
                    state.add((place, place + run), (*constant, i64::from(place)));
                }
            }
            _ => self.whole(was, m, state),
        }
    }

    /// Bytes of a value are written, at a place.
    fn write(&self, state: &mut State, r: VReg, byte: u32, place: u32, bytes: u32) {
        let bytes = bytes.min(self.before.vregs[r].bytes.saturating_sub(byte));
        state.kill(r, (byte, byte + bytes));
        let delta = i64::from(place) - i64::from(byte);
        state.put((place, place + bytes), &Set::from_slice(&[(r, delta)]));
    }

    /// What an instruction without lanes writes.
    fn whole(&self, was: &MInst, m: &MInst, state: &mut State) {
        let mut places = Vec::new();
        self.spans(&self.after.code).each(m, |r, bytes, a| {
            places.push((self.place(r) + bytes.start, a));
        });
        let mut n = 0;
        self.spans(self.before).each(was, |r, bytes, a| {
            let place = places.get(n).map(|p| p.0);
            n += 1;
            let Some(place) = place.filter(|_| a != Access::Use) else {
                return;
            };
            if a == Access::Def {
                state.forget(r, self.before.vregs[r].bytes);
            }
            self.write(state, r, bytes.start, place, bytes.end - bytes.start);
        });
    }

    /// A new instruction moves bytes, or makes a constant.
    fn new_step(&self, m: &MInst, state: &mut State) -> Res {
        let code = &self.after.code;
        match m {
            MInst::Start { .. } => Ok(()),
            MInst::Copy { dst, src } => {
                state.copy(self.place(*dst), self.place(*src), code.vregs[*dst].bytes);
                Ok(())
            }
            MInst::Op { inst, .. } => {
                if let Some((dir, at, bytes)) = self.scratch(inst) {
                    return self.scratch_step(inst, dir, at, bytes, state);
                }
                if let Some(text) = constant_of(m) {
                    return self.constant_step(inst, &text, state);
                }
                self.mov_step(inst, state)
            }
            _ => Err("is new, and no move".to_owned()),
        }
    }

    fn scratch_step(
        &self,
        inst: &Inst<VirtReg>,
        dir: Dir,
        at: u32,
        bytes: u32,
        state: &mut State,
    ) -> Res {
        let grf = self.after.code.grf.bytes;
        let place = |at: gantry_isa_gen::RegRef<VirtReg>| match at.reg {
            VirtReg::Grf(r) => Ok(self.place(r) + u32::from(at.sub)),
            _ => Err("has no data".to_owned()),
        };
        let data = match (dir, inst.op, inst.dst, inst.srcs[0], inst.srcs[1]) {
            (Dir::Read, _, Dst::Direct { at, .. }, _, _) => place(at)?,
            (Dir::Write, Op::Sends | Op::Sendsc, _, _, Src::Direct { at, .. }) => place(at)?,
            // Behind the header.
            (Dir::Write, _, _, Src::Direct { at, .. }, _) => place(at)? + grf,
            _ => return Err("has no data".to_owned()),
        };
        match dir {
            Dir::Read => state.copy(data, at, bytes),
            Dir::Write => state.copy(at, data, bytes),
        }
        Ok(())
    }

    fn constant_step(&self, inst: &Inst<VirtReg>, text: &str, state: &mut State) -> Res {
        let Dst::Direct { at, hs, ty } = inst.dst else {
            return Err("has no destination".to_owned());
        };
        let VirtReg::Grf(r) = at.reg else {
            return Err("has no destination".to_owned());
        };
        let place = self.place(r) + u32::from(at.sub);
        let bytes = inst.exec.channels() * u32::from(hs) * ty.bytes();
        match self.names.get(text).and_then(|c| self.again.get(c)) {
            Some(&from) => state.copy(place, from, bytes),
            None => state.put((place, place + bytes), &Set::new()),
        }
        Ok(())
    }

    fn mov_step(&self, inst: &Inst<VirtReg>, state: &mut State) -> Res {
        let (
            Dst::Direct { at: to, hs, ty },
            Src::Direct {
                at: from,
                region,
                ty: of,
                mods,
            },
        ) = (inst.dst, inst.srcs[0])
        else {
            return Err("is new, and no move".to_owned());
        };
        let (VirtReg::Grf(to_reg), VirtReg::Grf(from_reg)) = (to.reg, from.reg) else {
            return Err("is new, and no move of registers".to_owned());
        };
        let lanes = inst.exec.channels();
        let packed = (0..lanes).all(|n| element(region, n) == Some(n)) && (hs == 1 || lanes == 1);
        let plain = inst.op == Op::Mov
            && inst.no_mask
            && inst.pred.is_none()
            && inst.cond.is_none()
            && !inst.sat
            && mods == gantry_isa_gen::SrcMods::default()
            && ty == of
            && packed;
        if !plain {
            return Err("is new, and no plain move".to_owned());
        }
        let place = |r: VReg, sub: u16| self.place(r) + u32::from(sub);
        let bytes = lanes * ty.bytes();
        state.copy(place(to_reg, to.sub), place(from_reg, from.sub), bytes);
        Ok(())
    }
}

/// The element of a region that a lane reads, if it is known.
fn element(region: Region, n: u32) -> Option<u32> {
    Some(match region {
        Region::Rect { vs, w, hs } => {
            let w = u32::from(w).max(1);
            n / w * u32::from(vs) + n % w * u32::from(hs)
        }
        Region::Ternary { hs, .. } | Region::Scalar3 { hs } => n * u32::from(hs),
        Region::VxH { .. } => return None,
    })
}

/// Bytes of registers that are written by one instruction alone, which makes a constant, and these; the same for all that are made alike.
fn constants(code: &VCode, target: &Target) -> (Constants, BTreeMap<String, VReg>) {
    let spans = Spans {
        platform: target.platform(),
        grf: code.grf.bytes,
        size: |r: VReg| code.vregs[r].bytes,
    };
    let mut writes: SecondaryMap<VReg, Vec<Bytes>> = SecondaryMap::new();
    for m in &code.insts {
        spans.each(m, |r, bytes, a| {
            if a != Access::Use && !matches!(m, MInst::Start { .. }) {
                writes[r].push((bytes.start, bytes.end));
            }
        });
    }
    let mut names: BTreeMap<String, VReg> = BTreeMap::new();
    let mut out = Constants::new();
    for m in &code.insts {
        let MInst::Op { inst, .. } = m else { continue };
        if let (Dst::Direct { at, hs: 1, ty }, Some(text)) = (inst.dst, constant_of(m))
            && let VirtReg::Grf(r) = at.reg
        {
            let from = u32::from(at.sub);
            let to = from + inst.exec.channels() * ty.bytes();
            let over = writes[r].iter().filter(|w| w.0 < to && w.1 > from);
            if over.count() == 1 {
                let next = VReg::new(code.vregs.len() + names.len());
                out[r].push(((from, to), *names.entry(text).or_insert(next)));
            }
        }
    }
    (out, names)
}
