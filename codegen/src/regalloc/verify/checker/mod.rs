//! The checker: follows every byte of the register file and of scratch through the code as it is
//! allocated, and says where an instruction of the code as it was would read another value than it
//! did.
//!
//! It knows nothing of ranges, bundles, slots or the map: only both codes, which instructions are
//! new, and addresses. A byte holds a set of bytes of values: those of the register that was
//! written there last, and, by copies, of others. New instructions move bytes, to and from scratch
//! too, or make a constant again; they compute nothing.

mod headers;
mod places;
mod reads;
mod state;
mod steps;

use crate::isel::lower_sends::spill::{Scratch, slot};
use crate::mir::insert::NEW;
use crate::mir::liveness::Liveness;
use crate::mir::spans::Spans;
use crate::mir::{Access, MInst, Place, Routine, VBlock, VCode, VReg, VirtReg, routines};
use crate::regalloc::Allocated;
use crate::target::Target;
use cranelift_entity::{EntityRef, SecondaryMap};
use gantry_isa_gen::legal::geometry::element_offset;
use gantry_isa_gen::message::Dir;
use gantry_isa_gen::{Dst, Inst, Op, Region, Src, perf};
use state::{Bytes, State};
use std::collections::{BTreeMap, BTreeSet};

/// Where scratch begins among the bytes that are followed, behind any register file.
const SCRATCH: u32 = 1 << 24;
/// Where constants that are made again are, so many bytes apart: made again, they come from there.
const CONSTANTS: u32 = 1 << 26;
const CONSTANT: u32 = 512;

/// Bytes of registers that are a constant's, from its first on, and that as a register that is
/// none.
type Constants = SecondaryMap<VReg, Vec<(Bytes, VReg)>>;

/// What is checked, and what is known of it.
struct Checker<'a> {
    before: &'a VCode,
    /// When values live in it: what is undefined and not live is forgotten.
    live: &'a Liveness,
    after: &'a Allocated,
    target: &'a Target,
    /// Bytes of scratch that the kernel has of its own.
    own: u32,
    /// Bytes of registers that are only ever one constant, and that constant, as a register that is
    /// none; and those by what makes them.
    constants: Constants,
    names: BTreeMap<String, VReg>,
    /// Where those constants are that new instructions make.
    again: BTreeMap<VReg, u32>,
    /// Instructions of the code as it was that make one of those.
    makers: BTreeMap<usize, VReg>,
    /// The window of scratch that registers are made headers of.
    windows: SecondaryMap<VReg, u32>,
    /// The thread's header, and its bytes.
    header: Option<(VReg, u32)>,
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

/// What happens at an instruction, for who asks.
type Res = Result<(), String>;

/// Checks an allocation of code that had these live ranges, and of a thread's scratch the first
/// `own` bytes.
///
/// # Errors
/// The first read of a byte that does not hold what is read, a register where it may not be, or a
/// new instruction that does more than move.
pub(crate) fn check(
    before: &VCode,
    live: &Liveness,
    after: &Allocated,
    target: &Target,
    own: u32,
) -> Res {
    let mut c = Checker::new(before, live, after, target, own);
    c.pairs()?;
    c.places()?;
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
        own: u32,
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
            own,
            constants,
            names,
            again: BTreeMap::new(),
            makers: BTreeMap::new(),
            windows: SecondaryMap::new(),
            header: headers::header(before),
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
        if !c.again.is_empty() {
            let made = before.insts.iter().map(constant_of).enumerate();
            let made = made.filter_map(|(i, text)| Some((i, *c.names.get(&text?)?)));
            c.makers = made.filter(|m| c.again.contains_key(&m.1)).collect();
        }
        c.windows = headers::windows(code, |i| c.old(i).is_none());
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

    /// What is where after a call: what the routine writes is where it leaves it. None while it is
    /// not known to return.
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
            // What is no register is a constant; liveness knows each routine alone, and nothing of
            // what spilling reads.
            let header = self.header.is_some_and(|h| h.0 == r);
            if header || r.index() >= self.before.vregs.len() || self.shared[r] {
                return true;
            }
            let ranges = &self.live.ranges[r];
            let n = ranges.partition_point(|x| x.end < point);
            ranges.get(n).is_some_and(|x| x.start < point) || !self.live.weak[r].is_empty()
        });
    }

    /// A message to or from scratch: where, and how many bytes.
    fn scratch(&self, inst: &Inst<VirtReg>) -> Option<(Dir, u32, u32)> {
        let m = perf::message(self.target.platform(), inst)?;
        let (dir, at, bytes) = slot(&m)?;
        let window = self.window(inst) * Scratch::WINDOW;
        Some((dir, SCRATCH + window + at, bytes))
    }

    fn spans<'v>(&self, code: &'v VCode) -> Spans<impl Fn(VReg) -> u32 + 'v> {
        Spans {
            platform: self.target.platform(),
            grf: code.grf.bytes,
            size: |r: VReg| code.vregs[r].bytes,
        }
    }
}

/// The element of a region that a lane reads, if it is known.
fn element(region: Region, n: u32) -> Option<u32> {
    element_offset(region, n, 1)
}

/// What is known of all of a register's values.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Only {
    /// Nothing was written.
    #[default]
    Nothing,
    /// Each is this constant.
    Constant(VReg),
    /// They differ.
    Several,
}

/// Makes what copies give constants, where all that a register is ever given is one. `only`: what
/// is known of registers but for copies.
fn through_copies(code: &VCode, only: &mut SecondaryMap<VReg, Only>) {
    let mut copies: SecondaryMap<VReg, Vec<VReg>> = SecondaryMap::new();
    for m in &code.insts {
        if let MInst::Copy { dst, src } = *m {
            copies[src].push(dst);
        }
    }
    let mut work: Vec<VReg> = code
        .vregs
        .keys()
        .filter(|r| only[*r] != Only::Nothing)
        .collect();
    while let Some(src) = work.pop() {
        for &dst in &copies[src] {
            let both = match (only[dst], only[src]) {
                (Only::Nothing, from) => from,
                (to, from) if to == from => to,
                _ => Only::Several,
            };
            if std::mem::replace(&mut only[dst], both) != both {
                work.push(dst);
            }
        }
    }
}

/// Bytes of registers that one instruction alone writes, which makes a constant, and these; the
/// same for all that are made alike. And registers that are only ever given one by copies.
fn constants(code: &VCode, target: &Target) -> (Constants, BTreeMap<String, VReg>) {
    let spans = Spans {
        platform: target.platform(),
        grf: code.grf.bytes,
        size: |r: VReg| code.vregs[r].bytes,
    };
    let mut only: SecondaryMap<VReg, Only> = SecondaryMap::new();
    // Copies to each.
    let mut given: SecondaryMap<VReg, usize> = SecondaryMap::new();
    let mut writes: SecondaryMap<VReg, Vec<Bytes>> = SecondaryMap::new();
    for m in &code.insts {
        spans.each(m, |r, bytes, a| {
            if a == Access::Use || matches!(m, MInst::Start { .. }) {
                return;
            }
            writes[r].push((bytes.start, bytes.end));
            match m {
                MInst::Copy { .. } => given[r] += 1,
                _ => only[r] = Only::Several,
            }
        });
    }
    for (r, data) in &code.vregs {
        if data.place != Place::Any {
            only[r] = Only::Several;
        }
    }
    let mut names: BTreeMap<String, VReg> = BTreeMap::new();
    let mut out = Constants::new();
    for m in &code.insts {
        let MInst::Op { inst, .. } = m else { continue };
        if let (Dst::Direct { at, hs: 1, ty }, Some(text)) = (inst.dst, constant_of(m))
            && let Some(r) = at.reg.as_grf()
        {
            let from = u32::from(at.sub);
            let to = from + inst.exec.channels() * ty.bytes();
            let over = |w: &&Bytes| w.0 < to && w.1 > from;
            let next = VReg::new(code.vregs.len() + names.len());
            let name = *names.entry(text).or_insert(next);
            if writes[r].iter().filter(over).count() == 1 {
                out[r].push(((from, to), name));
            }
            // All of it, and but for copies nothing else.
            let copies = writes[r].len() - 1;
            let all = (from, to) == (0, code.vregs[r].bytes) && code.vregs[r].place == Place::Any;
            if all && given[r] == copies {
                only[r] = Only::Constant(name);
            }
        }
    }
    through_copies(code, &mut only);
    for (r, data) in &code.vregs {
        if let Only::Constant(name) = only[r]
            && out[r].is_empty()
        {
            out[r].push(((0, data.bytes), name));
        }
    }
    (out, names)
}
