//! Units of scheduling: an instruction with everything that must stay with it.

use super::Schedule;
use super::space::{ChunkAccess, StateSpace};
use crate::mir::{MInst, VCode, VReg, VirtReg};
use gantry_isa_gen::effects::{Reordering, Storage};
use gantry_isa_gen::perf::{self, Clock, Slot, Timing, Unit};
use gantry_isa_gen::{Dst, Inst};
use std::ops::Range;

/// Largest number of pieces of a split instruction that stay together.
const PIECES: usize = 8;

/// Largest number of units in a segment. Longer blocks are split, and no instruction moves between
/// their segments, so that a segment's data stays in the caches.
const WINDOW: usize = 4 << 10;

struct UnitNode {
    insts: Range<usize>,
    touches: Range<usize>,
    /// Registers that the hardware waits for.
    reads: Range<usize>,
    writes: Range<usize>,
    /// Timing. `None` for operations that emit no instruction.
    timing: Option<Timing>,
    loads: bool,
}

/// Segment: the instructions up to one that is fixed, and that one.
#[derive(Default)]
pub(super) struct SegmentUnits {
    nodes: Vec<UnitNode>,
    touches: Vec<ChunkAccess>,
    /// Registers that are read, node after node, and those that are written.
    read: Vec<Slot>,
    written: Vec<Slot>,
    fixed: Option<UnitNode>,
    /// True if the fixed instruction is a call, or belongs to one and follows it.
    after_call: bool,
}

/// Returns true for messages.
pub(super) fn is_message(m: &MInst) -> bool {
    matches!(m, MInst::Op { inst, .. } if inst.op.is_send())
}

/// Returns the register that an instruction writes.
fn written(inst: &Inst<VirtReg>) -> Option<VReg> {
    match inst.dst {
        Dst::Direct { at, .. } => at.reg.as_grf(),
        _ => None,
    }
}

/// Returns true for messages that may load from memory.
pub(super) fn may_load(m: &MInst) -> bool {
    matches!(m, MInst::Op { inst, .. } if inst.op.is_send() && written(inst).is_some())
}

/// Returns true if an instruction is another piece of the same bale as the one before it.
fn continues(before: &MInst, m: &MInst) -> bool {
    match (before, m) {
        (
            MInst::Op { inst: a, .. },
            MInst::Op {
                inst: b,
                starts: false,
                ..
            },
        ) => a.op == b.op && !a.op.is_send() && written(b).is_some() && written(a) == written(b),
        _ => false,
    }
}

/// Returns the instructions that belong together from index `at` on, and true if they are fixed
/// because of a call.
fn together(code: &VCode, at: usize, end: usize, pieces: bool) -> (Range<usize>, bool) {
    let inst = |n: usize| code.insts.get(n).filter(|_| n < end);
    let mut to = at + 1;
    while matches!(inst(to), Some(MInst::Touch { .. }))
        && matches!(inst(at), Some(MInst::Op { .. }))
    {
        to += 1;
    }
    // The reads before a call that mark its routine's registers stay right before it.
    if to > at + 1 && matches!(inst(to), Some(MInst::Call { .. })) {
        return (at..at + 1, true);
    }
    if pieces && to == at + 1 {
        while to - at < PIECES
            && let (Some(a), Some(b)) = (inst(to - 1), inst(to))
            && continues(a, b)
            && !matches!(inst(to + 1), Some(MInst::Touch { .. }))
        {
            to += 1;
        }
    }
    (at..to, false)
}

/// Returns the timing of copies and other operations that become ALU instructions on a number of
/// GRFs.
fn simple(platform: gantry_isa_gen::Platform, grfs: u32) -> Timing {
    let exec = gantry_isa_gen::ExecSize::S1;
    let one = perf::timing(
        platform,
        &Inst::<VirtReg>::new(gantry_isa_gen::Op::Mov, exec),
    );
    Timing {
        issue: one.issue * grfs,
        busy: one.busy * grfs,
        ..one
    }
}

impl SegmentUnits {
    /// Starts a block.
    pub(super) fn begin(&mut self) {
        self.after_call = false;
    }

    /// Collects units from the start of a range up to a fixed one, which is included, or up to the
    /// limit. Returns the start of the next segment. With `pieces`, those of a split instruction
    /// stay together.
    pub(super) fn segment<A: Fn(VReg) -> u32, S: Fn(VReg) -> u32>(
        &mut self,
        code: &VCode,
        space: &StateSpace<A, S>,
        range: Range<usize>,
        pieces: bool,
    ) -> usize {
        self.nodes.clear();
        self.touches.clear();
        self.read.clear();
        self.written.clear();
        self.fixed = None;
        let mut at = range.start;
        let results = std::mem::take(&mut self.after_call);
        while at < range.end && self.nodes.len() < WINDOW {
            let (insts, stays) = together(code, at, range.end, pieces);
            let first = code.insts.get(at);
            // The starts of a call's results follow it.
            let result = results && at == range.start && matches!(first, Some(MInst::Start { .. }));
            at = insts.end;
            let (node, order) = self.node(code, space, insts);
            if order == Reordering::Fixed || stays || result {
                self.after_call = result || matches!(first, Some(MInst::Call { .. }));
                self.fixed = Some(node);
                return at;
            }
            self.nodes.push(node);
        }
        at
    }

    fn node<A: Fn(VReg) -> u32, S: Fn(VReg) -> u32>(
        &mut self,
        code: &VCode,
        space: &StateSpace<A, S>,
        insts: Range<usize>,
    ) -> (UnitNode, Reordering) {
        let (touches, read, written) = (self.touches.len(), self.read.len(), self.written.len());
        let mut order = Reordering::Free;
        let mut timing: Option<Timing> = None;
        let mut loads = false;
        let all = &code.insts[insts.clone()];
        let told = all.iter().any(|m| matches!(m, MInst::Touch { .. }));
        // A touch that belongs to no instruction.
        if matches!(all.first(), Some(MInst::Touch { .. })) {
            order = Reordering::Fixed;
        }
        for m in all {
            let mut reads_memory = false;
            let mut writes_file = false;
            let message = space.message(m);
            let sends = is_message(m);
            let touch = matches!(m, MInst::Touch { .. });
            // Then all bytes of the destination are named below.
            let begins = space.values && matches!(m, MInst::Op { starts: true, .. });
            let one = space.each(m, message.as_ref(), told, |a| {
                let register = a.storage == Storage::Grf;
                if !(begins && register && a.write) {
                    space.touches(a, &mut self.touches);
                }
                if a.write && !touch {
                    self.written.extend(Slot::of(a, space.grf));
                } else if !touch {
                    self.read.extend(Slot::of(a, space.grf));
                }
                reads_memory |= !register && !a.write && sends;
                writes_file |= register && a.write;
            });
            space.named(m, |a| space.touches(a, &mut self.touches));
            if one == Reordering::Fixed {
                order = Reordering::Fixed;
            }
            loads |= sends && reads_memory && writes_file;
            let more = match m {
                MInst::Op { inst, .. } => {
                    Some(perf::timing_of(space.platform, inst, message.as_ref()))
                }
                MInst::Copy { dst, src } if (space.address)(*dst) == (space.address)(*src) => None,
                MInst::Copy { dst, .. } => {
                    let grfs = (space.size)(*dst).div_ceil(space.grf);
                    Some(simple(space.platform, grfs))
                }
                MInst::LoadAddress { .. } | MInst::RegAddress { .. } | MInst::Symbol { .. } => {
                    Some(simple(space.platform, 1))
                }
                MInst::Start { .. } | MInst::Touch { .. } => None,
                _ => Some(Timing {
                    unit: Unit::None,
                    ..simple(space.platform, 1)
                }),
            };
            timing = match (timing, more) {
                (Some(a), Some(b)) => Some(Timing {
                    issue: a.issue + b.issue,
                    busy: a.busy + b.busy,
                    ..a
                }),
                (a, b) => a.or(b),
            };
        }
        let node = UnitNode {
            insts,
            touches: touches..self.touches.len(),
            reads: read..self.read.len(),
            writes: written..self.written.len(),
            timing,
            loads,
        };
        (node, order)
    }

    /// Returns the number of units that may move.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the reads and writes of a unit.
    pub(super) fn touches(&self, n: usize) -> &[ChunkAccess] {
        &self.touches[self.nodes[n].touches.clone()]
    }

    /// Returns the instructions of a unit.
    pub(super) fn insts<'c>(&self, code: &'c VCode, n: usize) -> &'c [MInst] {
        &code.insts[self.nodes[n].insts.clone()]
    }

    /// Returns the indices of the instructions of a unit.
    pub(super) fn places(&self, n: usize) -> Range<usize> {
        self.nodes.get(n).map_or(0..0, |n| n.insts.clone())
    }

    /// Returns the timing of a unit. `None` for operations that emit no instruction.
    pub(super) fn timing(&self, n: usize) -> Option<&Timing> {
        self.nodes.get(n).and_then(|n| n.timing.as_ref())
    }

    /// Returns true for a message that loads from memory.
    pub(super) fn loads(&self, n: usize) -> bool {
        self.nodes.get(n).is_some_and(|n| n.loads)
    }

    /// Returns the registers of a unit that the hardware waits for: reads and writes.
    fn slots(&self, node: &UnitNode) -> (&[Slot], &[Slot]) {
        let reads = &self.read[node.reads.clone()];
        let writes = &self.written[node.writes.clone()];
        (reads, writes)
    }

    /// Returns the first cycle at which a unit waits for nothing that was issued.
    pub(super) fn earliest(&self, n: usize, clock: &Clock) -> u32 {
        match self.nodes.get(n) {
            Some(node) if node.timing.is_some() => {
                let (reads, writes) = self.slots(node);
                clock.earliest(reads.iter().copied(), writes.iter().copied())
            }
            _ => 0,
        }
    }

    fn issue_node(&self, node: &UnitNode, clock: &mut Clock) {
        if let Some(timing) = &node.timing {
            let (reads, writes) = self.slots(node);
            clock.issue(timing, reads.iter().copied(), writes.iter().copied());
        }
    }

    /// Issues a unit.
    pub(super) fn issue(&self, n: usize, clock: &mut Clock) {
        if let Some(node) = self.nodes.get(n) {
            self.issue_node(node, clock);
        }
    }

    /// Returns the fixed instruction.
    pub(super) fn fixed_inst<'c>(&self, code: &'c VCode) -> &'c [MInst] {
        match &self.fixed {
            Some(node) => &code.insts[node.insts.clone()],
            None => &[],
        }
    }

    /// Issues the fixed instruction.
    pub(super) fn fixed(&self, clock: &mut Clock, order: &mut Schedule) {
        if let Some(node) = &self.fixed {
            self.issue_node(node, clock);
            node.insts.clone().for_each(|n| order.push(n));
        }
    }
}
