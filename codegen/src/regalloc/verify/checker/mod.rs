//! Symbolic checker of allocations. It tracks every byte of the GRF file and of scratch through the
//! allocated code. It reports each instruction of the original code that would read another value
//! than before.
//!
//! The checker does not use ranges, bundles, slots or the allocation map. It uses only both codes,
//! the set of inserted instructions, and addresses. Each byte holds a set of bytes of values: those
//! of the register last written there and, through copies, those of others. Inserted instructions
//! move bytes, also to and from scratch, or rematerialize a constant. They compute nothing.

mod headers;
mod places;
mod reads;
mod state;
mod steps;

use crate::isel::lower_sends::spill::{Scratch, slot};
use crate::mir::insert::NEW;
use crate::mir::liveness::Liveness;
use crate::mir::spans::Spans;
use crate::mir::{Access, MInst, RegConstraint, Routine, VBlock, VCode, VReg, VirtReg, routines};
use crate::regalloc::Allocated;
use crate::target::Target;
use cranelift_entity::{EntityRef, SecondaryMap};
use gantry_isa_gen::legal::geometry::element_offset;
use gantry_isa_gen::message::Dir;
use gantry_isa_gen::{Dst, Inst, Op, Region, Src, effects};
use state::{ByteRange, ByteState};
use std::collections::{BTreeMap, BTreeSet};

/// Start of scratch among the tracked bytes, beyond any GRF file.
const SCRATCH: u32 = 1 << 24;
/// Start of the bytes that stand for rematerialized constants, and the distance between two
/// constants. Rematerializing copies the constant from there.
const CONSTANTS: u32 = 1 << 26;
const CONSTANT: u32 = 512;

/// Bytes of registers that always hold a constant, from its first byte on. A constant is named by a
/// virtual register number beyond all registers.
type Constants = SecondaryMap<VReg, Vec<(ByteRange, VReg)>>;

/// State of the check.
struct Checker<'a> {
    before: &'a VCode,
    /// Live ranges of the original code. Undefined values that are not live are dropped.
    live: &'a Liveness,
    after: &'a Allocated,
    target: &'a Target,
    /// Bytes of scratch that the kernel itself uses.
    own: u32,
    /// Bytes of registers that only ever hold one constant, and the names of constants by the
    /// instruction that defines them.
    constants: Constants,
    constant_names: BTreeMap<String, VReg>,
    /// Bytes that stand for each rematerialized constant.
    rematerialized: BTreeMap<VReg, u32>,
    /// Instructions of the original code that define one of those constants.
    constant_defs: BTreeMap<usize, VReg>,
    /// Window of scratch that each register is a header for.
    windows: SecondaryMap<VReg, u32>,
    /// Thread header and its size in bytes.
    header: Option<(VReg, u32)>,
    /// Values that several routines name.
    shared: SecondaryMap<VReg, bool>,
    routine_of: Vec<Routine>,
    /// Bytes of the GRF file and of scratch that each routine writes, and the values it writes.
    bytes: SecondaryMap<Routine, BTreeSet<(u32, u32)>>,
    values: SecondaryMap<Routine, BTreeSet<VReg>>,
    /// State when each routine returns, if that was reached.
    exits: SecondaryMap<Routine, Option<ByteState>>,
    callers: SecondaryMap<Routine, Vec<usize>>,
}

/// Result of a check, with a message about one instruction.
type CheckResult = Result<(), String>;

/// Checks an allocation of code with these live ranges. The kernel itself uses the first `own`
/// bytes of a thread's scratch.
///
/// # Errors
/// Returns the first read of a byte that does not hold the value, a misplaced register, or an
/// inserted instruction that does more than move.
pub(crate) fn check(
    before: &VCode,
    live: &Liveness,
    after: &Allocated,
    target: &Target,
    own: u32,
) -> CheckResult {
    let mut c = Checker::new(before, live, after, target, own);
    c.check_instructions()?;
    c.check_places()?;
    let code = &after.code;
    let mut entry: Vec<Option<ByteState>> = vec![None; code.blocks.len()];
    if let Some(first) = entry.first_mut() {
        *first = Some(c.start());
    }
    // Visits blocks in order, so that most predecessors come first.
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
                    let Some(after) = c.state_after_call(*routine, &state) else {
                        returns = false;
                        break;
                    };
                    state = after;
                }
                MInst::Return { .. } => {
                    let own = c.routine_of[b];
                    if meet_into(&mut c.exits[own], &state) {
                        work.extend(&c.callers[own]);
                    }
                }
                _ => {}
            }
        }
        // If a called routine does not return yet, the block is visited again when it does.
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
            c.check_reads(i, &state)
                .map_err(|e| format!("instruction {i} (`{}`) {e}", code.insts[i]))?;
            c.step(i, &mut state)?;
            if let MInst::Call { routine, .. } = &code.insts[i] {
                match c.state_after_call(*routine, &state) {
                    Some(after) => state = after,
                    None => break,
                }
            }
        }
    }
    Ok(())
}

/// Meets a state into an entry that may be unknown so far. Returns true if the entry changed.
fn meet_into(slot: &mut Option<ByteState>, state: &ByteState) -> bool {
    match slot {
        None => {
            *slot = Some(state.clone());
            true
        }
        Some(original) => original.meet(state),
    }
}

/// Returns the text of an instruction that only defines a constant in all channels, without its
/// destination.
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
    // The result of rounding depends on the rounding mode in effect.
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
        let (constants, constant_names) = constants(before, target);
        let mut c = Checker {
            before,
            live,
            after,
            target,
            own,
            constants,
            constant_names,
            rematerialized: BTreeMap::new(),
            constant_defs: BTreeMap::new(),
            windows: SecondaryMap::new(),
            header: headers::header(before),
            shared: routines::shared(before),
            routine_of: routines::of_blocks(code),
            bytes: SecondaryMap::new(),
            values: SecondaryMap::new(),
            exits: SecondaryMap::new(),
            callers,
        };
        for i in 0..code.insts.len() {
            if c.original(i).is_some() {
                continue;
            }
            let text = constant_of(&code.insts[i]);
            let next = CONSTANTS + c.rematerialized.len() as u32 * CONSTANT;
            if let Some(&constant) = text.and_then(|t| c.constant_names.get(&t)) {
                c.rematerialized.entry(constant).or_insert(next);
            }
        }
        if !c.rematerialized.is_empty() {
            let made = before.insts.iter().map(constant_of).enumerate();
            let made = made.filter_map(|(i, text)| Some((i, *c.constant_names.get(&text?)?)));
            c.constant_defs = made
                .filter(|m| c.rematerialized.contains_key(&m.1))
                .collect();
        }
        c.windows = headers::windows(code, |i| c.original(i).is_none());
        c.compute_effects();
        c
    }

    /// Checks that both codes have the same instructions in the same blocks, except for inserted
    /// ones.
    fn check_instructions(&self) -> CheckResult {
        let code = &self.after.code;
        let mut next = 0;
        for (b, data) in &code.blocks {
            for i in data.start..data.end {
                let (Some(m), from) = (code.insts.get(i), self.original(i)) else {
                    return Err(format!("{b} has no instruction {i}"));
                };
                let Some(original) = from else { continue };
                let was = self.before.insts.get(original);
                let same = was.is_some_and(|w| match (w, m) {
                    (MInst::Op { inst: a, .. }, MInst::Op { inst: b, .. }) => a.op == b.op,
                    (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b),
                });
                if original != next || !same {
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

    /// Returns the original index of an instruction, unless it is inserted.
    fn original(&self, i: usize) -> Option<usize> {
        if self.after.origin.is_empty() {
            return Some(i);
        }
        let n = self.after.origin.get(i).copied();
        n.filter(|n| *n != NEW).map(|n| n as usize)
    }

    fn place(&self, r: VReg) -> u32 {
        self.after.alloc.address[r]
    }

    /// Returns the state at the start. The payload is in its registers, and all other live values
    /// are undefined.
    fn start(&self) -> ByteState {
        let mut state = ByteState::new();
        for (r, data) in &self.before.vregs {
            if let RegConstraint::Fixed(at) = data.constraint {
                state.add((at, at + data.bytes), (r, i64::from(at)));
            } else if self.live.ranges[r].first().is_some_and(|x| x.start == 0) {
                state.forget(r, data.bytes);
            }
        }
        for (&constant, &at) in &self.rematerialized {
            state.add((at, at + CONSTANT), (constant, i64::from(at)));
        }
        state
    }

    /// Computes the bytes and values that routines write.
    fn compute_effects(&mut self) {
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
                match (m, self.original(i).and_then(|n| self.before.insts.get(n))) {
                    (_, Some(original)) => original.for_each_vreg(|r, a| {
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

    /// Returns the state after a call: what the routine writes is as the routine leaves it. Returns
    /// `None` while the routine is not known to return.
    fn state_after_call(&self, routine: Routine, state: &ByteState) -> Option<ByteState> {
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

    /// Drops values that are not live after an instruction of the original code.
    fn prune(&self, inst: usize, state: &mut ByteState) {
        let point = inst as u32 * 2 + 2;
        state.prune(|r| {
            // Constants have numbers beyond all registers. Liveness covers each routine separately
            // and does not know what spilling reads.
            let header = self.header.is_some_and(|h| h.0 == r);
            if header || r.index() >= self.before.vregs.len() || self.shared[r] {
                return true;
            }
            let ranges = &self.live.ranges[r];
            let n = ranges.partition_point(|x| x.end < point);
            ranges.get(n).is_some_and(|x| x.start < point) || !self.live.weak[r].is_empty()
        });
    }

    /// Returns direction, address and size in bytes of a scratch message.
    fn scratch(&self, inst: &Inst<VirtReg>) -> Option<(Dir, u32, u32)> {
        let m = effects::message(self.target.platform(), inst)?;
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

/// Returns the element of a region that a lane reads, if it is known.
fn element(region: Region, n: u32) -> Option<u32> {
    element_offset(region, n, 1)
}

/// Facts about all values of a register.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum ConstantFact {
    /// Nothing is written.
    #[default]
    Nothing,
    /// Each value is this constant.
    Constant(VReg),
    /// Values differ.
    Several,
}

/// Propagates constants through copies to registers that only ever hold one. `only` has the facts
/// from all other instructions.
fn through_copies(code: &VCode, only: &mut SecondaryMap<VReg, ConstantFact>) {
    let mut copies: SecondaryMap<VReg, Vec<VReg>> = SecondaryMap::new();
    for m in &code.insts {
        if let MInst::Copy { dst, src } = *m {
            copies[src].push(dst);
        }
    }
    let mut work: Vec<VReg> = code
        .vregs
        .keys()
        .filter(|r| only[*r] != ConstantFact::Nothing)
        .collect();
    while let Some(src) = work.pop() {
        for &dst in &copies[src] {
            let both = match (only[dst], only[src]) {
                (ConstantFact::Nothing, from) => from,
                (to, from) if to == from => to,
                _ => ConstantFact::Several,
            };
            if std::mem::replace(&mut only[dst], both) != both {
                work.push(dst);
            }
        }
    }
}

/// Returns the bytes of registers that exactly one instruction writes, with a constant, and the
/// names of constants. Equal definitions have the same name. Also covers registers that hold a
/// constant only through copies.
fn constants(code: &VCode, target: &Target) -> (Constants, BTreeMap<String, VReg>) {
    let spans = Spans {
        platform: target.platform(),
        grf: code.grf.bytes,
        size: |r: VReg| code.vregs[r].bytes,
    };
    let mut only: SecondaryMap<VReg, ConstantFact> = SecondaryMap::new();
    // Number of copies to each register.
    let mut given: SecondaryMap<VReg, usize> = SecondaryMap::new();
    let mut writes: SecondaryMap<VReg, Vec<ByteRange>> = SecondaryMap::new();
    for m in &code.insts {
        spans.each(m, |r, bytes, a| {
            if a == Access::Use || matches!(m, MInst::Start { .. }) {
                return;
            }
            writes[r].push((bytes.start, bytes.end));
            match m {
                MInst::Copy { .. } => given[r] += 1,
                _ => only[r] = ConstantFact::Several,
            }
        });
    }
    for (r, data) in &code.vregs {
        if data.constraint != RegConstraint::Any {
            only[r] = ConstantFact::Several;
        }
    }
    let mut constant_names: BTreeMap<String, VReg> = BTreeMap::new();
    let mut out = Constants::new();
    for m in &code.insts {
        let MInst::Op { inst, .. } = m else { continue };
        if let (Dst::Direct { at, hs: 1, ty }, Some(text)) = (inst.dst, constant_of(m))
            && let Some(r) = at.reg.as_grf()
        {
            let from = u32::from(at.sub);
            let to = from + inst.exec.channels() * ty.bytes();
            let over = |w: &&ByteRange| w.0 < to && w.1 > from;
            let next = VReg::new(code.vregs.len() + constant_names.len());
            let name = *constant_names.entry(text).or_insert(next);
            if writes[r].iter().filter(over).count() == 1 {
                out[r].push(((from, to), name));
            }
            // Writes all of the register, and every other write is a copy.
            let copies = writes[r].len() - 1;
            let all = (from, to) == (0, code.vregs[r].bytes)
                && code.vregs[r].constraint == RegConstraint::Any;
            if all && given[r] == copies {
                only[r] = ConstantFact::Constant(name);
            }
        }
    }
    through_copies(code, &mut only);
    for (r, data) in &code.vregs {
        if let ConstantFact::Constant(name) = only[r]
            && out[r].is_empty()
        {
            out[r].push(((0, data.bytes), name));
        }
    }
    (out, constant_names)
}
