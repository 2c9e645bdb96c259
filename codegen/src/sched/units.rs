//! What is moved as one: an instruction, with what belongs to it.

use super::Order;
use super::space::{Space, Touch};
use crate::mir::{MInst, VCode, VReg, VirtReg};
use gantry_isa_gen::perf::{self, Clock, Freedom, Slot, Timing, Unit};
use gantry_isa_gen::{Dst, Inst};
use std::ops::Range;

/// The most pieces of an instruction that was cut that stay together.
const PIECES: usize = 8;

/// Units up to which all are looked at at once: in longer blocks nothing passes from one such part
/// to the next, and what is known of them stays in the caches.
const WINDOW: usize = 4 << 10;

struct Node {
    insts: Range<usize>,
    touches: Range<usize>,
    /// Registers that the hardware waits for.
    reads: Range<usize>,
    writes: Range<usize>,
    /// None for what is no instruction.
    timing: Option<Timing>,
    loads: bool,
}

/// The instructions up to one that stays where it is, and that one.
#[derive(Default)]
pub(super) struct Units {
    nodes: Vec<Node>,
    touches: Vec<Touch>,
    /// Registers that are read, node after node, and those that are written.
    read: Vec<Slot>,
    written: Vec<Slot>,
    fixed: Option<Node>,
    /// Whether the fixed one is a call, or stands behind one for its sake.
    behind_call: bool,
}

/// Whether an instruction is a message.
pub(super) fn is_message(m: &MInst) -> bool {
    matches!(m, MInst::Op { inst, .. } if inst.op.is_send())
}

/// The register that an instruction writes.
fn written(inst: &Inst<VirtReg>) -> Option<VReg> {
    match inst.dst {
        Dst::Direct { at, .. } => at.reg.as_grf(),
        _ => None,
    }
}

/// Whether an instruction is a message that may bring something from memory.
pub(super) fn may_load(m: &MInst) -> bool {
    matches!(m, MInst::Op { inst, .. } if inst.op.is_send() && written(inst).is_some())
}

/// Whether an instruction is a further piece of the one before it, which was cut.
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

/// The instructions that belong together from one on, and whether they stay where they are for the
/// sake of a call.
fn together(code: &VCode, at: usize, end: usize, pieces: bool) -> (Range<usize>, bool) {
    let inst = |n: usize| code.insts.get(n).filter(|_| n < end);
    let mut to = at + 1;
    while matches!(inst(to), Some(MInst::Touch { .. }))
        && matches!(inst(at), Some(MInst::Op { .. }))
    {
        to += 1;
    }
    // What is said before a call of the registers that its routine reads stands right before it.
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

/// What copies and other things take that become instructions of the ALU, of so many bytes.
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

impl Units {
    /// Begins where nothing stands before.
    pub(super) fn begin(&mut self) {
        self.behind_call = false;
    }

    /// Takes the instructions from the start of a range up to one that stays where it is, that one
    /// included, or as many as are looked at at once, and says where the next one is. `pieces`:
    /// those of an instruction that was cut stay together.
    pub(super) fn segment<A: Fn(VReg) -> u32, S: Fn(VReg) -> u32>(
        &mut self,
        code: &VCode,
        space: &Space<A, S>,
        range: Range<usize>,
        pieces: bool,
    ) -> usize {
        self.nodes.clear();
        self.touches.clear();
        self.read.clear();
        self.written.clear();
        self.fixed = None;
        let mut at = range.start;
        let results = std::mem::take(&mut self.behind_call);
        while at < range.end && self.nodes.len() < WINDOW {
            let (insts, stays) = together(code, at, range.end, pieces);
            let first = code.insts.get(at);
            // Behind a call stands what its results begin with.
            let result = results && at == range.start && matches!(first, Some(MInst::Start { .. }));
            at = insts.end;
            let (node, freedom) = self.node(code, space, insts);
            if freedom == Freedom::Fixed || stays || result {
                self.behind_call = result || matches!(first, Some(MInst::Call { .. }));
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
        space: &Space<A, S>,
        insts: Range<usize>,
    ) -> (Node, Freedom) {
        let (touches, read, written) = (self.touches.len(), self.read.len(), self.written.len());
        let mut freedom = Freedom::Free;
        let mut timing: Option<Timing> = None;
        let mut loads = false;
        let all = code.insts.get(insts.clone()).unwrap_or(&[]);
        let told = all.iter().any(|m| matches!(m, MInst::Touch { .. }));
        // A word on a register that belongs to no instruction.
        if matches!(all.first(), Some(MInst::Touch { .. })) {
            freedom = Freedom::Fixed;
        }
        for m in all {
            let mut reads_memory = false;
            let mut writes_file = false;
            let message = space.message(m);
            let sends = is_message(m);
            let touch = matches!(m, MInst::Touch { .. });
            // Then all bytes of the register that it writes are named below.
            let begins = space.values && matches!(m, MInst::Op { starts: true, .. });
            let one = space.each(m, message.as_ref(), told, |a| {
                let register = a.store == perf::Store::Grf;
                if !(begins && register && a.write) {
                    space.touches(a, &mut self.touches);
                }
                match a.write {
                    _ if touch => {}
                    true => self.written.extend(Slot::of(a, space.grf)),
                    false => self.read.extend(Slot::of(a, space.grf)),
                }
                reads_memory |= !register && !a.write && sends;
                writes_file |= register && a.write;
            });
            space.named(m, |a| space.touches(a, &mut self.touches));
            if one == Freedom::Fixed {
                freedom = Freedom::Fixed;
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
                MInst::LoadAddress { .. } | MInst::PlaceOf { .. } | MInst::Symbol { .. } => {
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
        let node = Node {
            insts,
            touches: touches..self.touches.len(),
            reads: read..self.read.len(),
            writes: written..self.written.len(),
            timing,
            loads,
        };
        (node, freedom)
    }

    /// How many may move.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// What one reads and writes.
    pub(super) fn touches(&self, n: usize) -> &[Touch] {
        let node = self.nodes.get(n);
        node.and_then(|n| self.touches.get(n.touches.clone()))
            .unwrap_or(&[])
    }

    /// The instructions of one.
    pub(super) fn insts<'c>(&self, code: &'c VCode, n: usize) -> &'c [MInst] {
        let node = self.nodes.get(n);
        node.and_then(|n| code.insts.get(n.insts.clone()))
            .unwrap_or(&[])
    }

    /// Where the instructions of one are.
    pub(super) fn places(&self, n: usize) -> Range<usize> {
        self.nodes.get(n).map_or(0..0, |n| n.insts.clone())
    }

    /// What one takes; none for what is no instruction.
    pub(super) fn timing(&self, n: usize) -> Option<&Timing> {
        self.nodes.get(n).and_then(|n| n.timing.as_ref())
    }

    /// Whether it is a message that brings something from memory.
    pub(super) fn loads(&self, n: usize) -> bool {
        self.nodes.get(n).is_some_and(|n| n.loads)
    }

    /// What one reads and what it writes, of the registers that the hardware waits for.
    fn slots(&self, node: &Node) -> (&[Slot], &[Slot]) {
        let reads = self.read.get(node.reads.clone()).unwrap_or(&[]);
        let writes = self.written.get(node.writes.clone()).unwrap_or(&[]);
        (reads, writes)
    }

    /// From which cycle on one waits for nothing that was issued.
    pub(super) fn earliest(&self, n: usize, clock: &Clock) -> u32 {
        match self.nodes.get(n) {
            Some(node) if node.timing.is_some() => {
                let (reads, writes) = self.slots(node);
                clock.earliest(reads.iter().copied(), writes.iter().copied())
            }
            _ => 0,
        }
    }

    fn issue_node(&self, node: &Node, clock: &mut Clock) {
        if let Some(timing) = &node.timing {
            let (reads, writes) = self.slots(node);
            clock.issue(timing, reads.iter().copied(), writes.iter().copied());
        }
    }

    /// Issues one.
    pub(super) fn issue(&self, n: usize, clock: &mut Clock) {
        if let Some(node) = self.nodes.get(n) {
            self.issue_node(node, clock);
        }
    }

    /// The instruction that stays where it is.
    pub(super) fn fixed_inst<'c>(&self, code: &'c VCode) -> &'c [MInst] {
        let node = self.fixed.as_ref();
        node.and_then(|n| code.insts.get(n.insts.clone()))
            .unwrap_or(&[])
    }

    /// Issues the instruction that stays where it is.
    pub(super) fn fixed(&self, clock: &mut Clock, order: &mut Order) {
        if let Some(node) = &self.fixed {
            self.issue_node(node, clock);
            node.insts.clone().for_each(|n| order.push(n));
        }
    }
}
