//! Emission of the mask stack: channels that leave, join points, and branches on an empty execution
//! mask.
//!
//! Channels leave by `goto`, or by `halt` if they do not resume. Other forms are chosen if they
//! save an instruction:
//!
//! - `if` and `endif`, if control goes to the join point itself when no channel is left.
//! - `else`, for a `goto` of all channels at the end of a then side.
//! - `break` and `cont`, for channels that leave a loop, or go to its end.
//!
//! Addresses are known only here, so a form is chosen from the code emitted so far.
//! [`MaskStackInsts::join`] and [`MaskStackInsts::again`] choose some forms, and
//! [`MaskStackInsts::finish`] the others.

use super::{Emitter, NATIVE};
use crate::mir::{JoinPoint, VBlock};
use cranelift_entity::SecondaryMap;
use gantry_isa_gen::{ExecSize, Inst, Op, Predicate, Reg, Src, Target as BranchTarget};
use smallvec::SmallVec;

/// Jump target if no channel runs (JIP).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Jip {
    Next,
    Block(VBlock),
}

/// Instruction by which channels leave.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LeaveForm {
    Goto,
    /// Before an `else`, which is the leave of this number.
    If(usize),
    Else,
    /// Out of the loop whose `while` is this instruction.
    Break(usize),
    Cont(usize),
    Halt,
}

struct Leave {
    inst: usize,
    to: Option<JoinPoint>,
    jip: Jip,
    /// Channels that leave. `None` is all.
    by: Option<Predicate<Reg>>,
    form: LeaveForm,
}

struct JoinInst {
    inst: usize,
    at: Option<JoinPoint>,
    jip: Jip,
}

/// Instruction whose JIP may still change.
#[derive(Clone, Copy)]
enum OpenInst {
    Leave(usize),
    JoinInst(usize),
}

/// Instructions of the mask stack emitted so far.
#[derive(Default)]
pub(super) struct MaskStackInsts {
    leaves: Vec<Leave>,
    joins: Vec<JoinInst>,
    /// Leaves per join point.
    of_point: SecondaryMap<JoinPoint, SmallVec<[usize; 2]>>,
    /// Instruction of each join point.
    at: SecondaryMap<JoinPoint, usize>,
    /// Last `while`, and the instruction that it goes back to.
    last_while: Option<(usize, usize)>,
    /// Last instruction, while its block is still being emitted.
    open: Option<(usize, OpenInst)>,
    /// Instruction that ends the thread.
    pub(super) end: usize,
}

impl MaskStackInsts {
    /// Returns the open instruction if it is the last of `len` instructions.
    fn open(&self, len: usize) -> Option<OpenInst> {
        self.open.filter(|(i, _)| i + 1 == len).map(|(_, o)| o)
    }

    /// Ends the emitted block: its last instruction no longer changes.
    pub(super) fn close(&mut self) {
        self.open = None;
    }

    /// Returns true if all leaves for a join point satisfy a condition.
    fn all(&self, at: JoinPoint, is: impl Fn(&Leave) -> bool) -> bool {
        self.of_point[at]
            .iter()
            .all(|&l| self.leaves.get(l).is_some_and(&is))
    }

    fn turn(&mut self, at: JoinPoint, form: LeaveForm) {
        for &l in &self.of_point[at] {
            if let Some(l) = self.leaves.get_mut(l) {
                l.form = form;
            }
        }
    }

    /// Sets targets, and chooses the remaining forms.
    pub(super) fn finish(
        mut self,
        insts: &mut [Inst<Reg>],
        starts: &[i32],
        goto_on_true: bool,
    ) -> Result<(), String> {
        let place = |jip: Jip, inst: usize| match jip {
            Jip::Next => inst + 1,
            Jip::Block(b) => starts.get(b.as_u32() as usize).map_or(0, |s| *s as usize),
        };
        // Join points that only an `if` leads to.
        for n in 0..self.joins.len() {
            let Some((at, inst)) = self.joins.get(n).map(|j| (j.at, j.inst)) else {
                continue;
            };
            let ends_if = at.is_some_and(|at| {
                self.all(at, |l| match l.form {
                    LeaveForm::Else => true,
                    LeaveForm::Goto => place(l.jip, l.inst) == self.at[at] && l.by.is_some(),
                    _ => false,
                })
            });
            if let (true, Some(i), Some(at)) = (ends_if, insts.get_mut(inst), at) {
                i.op = Op::Endif;
                for &l in &self.of_point[at] {
                    if let Some(l) = self.leaves.get_mut(l).filter(|l| l.form == LeaveForm::Goto) {
                        // An `if` of its own, without `else`.
                        l.form = LeaveForm::If(usize::MAX);
                    }
                }
            }
        }
        let target = |from: usize, to: usize| {
            Src::Target(BranchTarget::Rel((to as i32 - from as i32) * NATIVE))
        };
        for l in &self.leaves {
            let at = |p: Option<JoinPoint>| p.map_or(self.end, |p| self.at[p]);
            let (jip, own) = (place(l.jip, l.inst), at(l.to));
            let (op, stays, [jip, uip]) = match l.form {
                LeaveForm::Goto => (Op::Goto, !goto_on_true, [jip, own]),
                LeaveForm::If(other) => {
                    let end = self.leaves.get(other).map_or(own, |e| at(e.to));
                    (Op::If, true, [own, end])
                }
                LeaveForm::Else => (Op::Else, false, [jip, own]),
                LeaveForm::Break(end) => (Op::Break, false, [jip, end]),
                LeaveForm::Cont(end) => (Op::Cont, false, [jip, end]),
                LeaveForm::Halt => (Op::Halt, false, [jip, own]),
            };
            let Some(i) = insts.get_mut(l.inst) else {
                continue;
            };
            if uip <= l.inst || jip <= l.inst {
                return Err("channels leave for a place before it".to_string());
            }
            i.op = op;
            i.pred = l.by.map(|p| Predicate {
                inverse: p.inverse != stays,
                ..p
            });
            i.srcs[0] = target(l.inst, jip);
            i.srcs[1] = target(l.inst, uip);
        }
        for j in &self.joins {
            if let Some(i) = insts.get_mut(j.inst) {
                i.srcs[0] = target(j.inst, place(j.jip, j.inst));
            }
        }
        Ok(())
    }
}

impl Emitter<'_> {
    fn push(&mut self, op: Op, exec: ExecSize) -> usize {
        self.out.push(Inst::new(op, exec));
        self.out.len() - 1
    }

    /// Emits a leave.
    pub(super) fn leave(
        &mut self,
        by: Option<Predicate<Reg>>,
        to: Option<JoinPoint>,
        exec: ExecSize,
    ) {
        let form = match (to, by) {
            (None, _) => LeaveForm::Halt,
            (Some(_), None) => LeaveForm::Else,
            (Some(_), Some(_)) => LeaveForm::Goto,
        };
        let inst = self.push(Op::Goto, exec);
        let n = self.masks.leaves.len();
        self.masks.leaves.push(Leave {
            inst,
            to,
            jip: Jip::Next,
            by,
            form,
        });
        if let Some(to) = to {
            self.masks.of_point[to].push(n);
        }
        self.masks.open = Some((inst, OpenInst::Leave(n)));
    }

    /// Emits a join point. `start` is the block's first instruction.
    pub(super) fn join(&mut self, block: VBlock, start: usize, at: JoinPoint, exec: ExecSize) {
        let here = self.out.len();
        let m = &mut self.masks;
        m.at[at] = here;
        // All other channels have left just before: the leave becomes an `else`, if it starts the
        // block that the resumed channels jump to.
        if let Some(OpenInst::Leave(n)) = m.open(here)
            && m.leaves.get(n).is_some_and(|l| l.form == LeaveForm::Else)
            && here == start + 1
            && m.all(at, |l| {
                l.form == LeaveForm::Goto && l.jip == Jip::Block(block)
            })
        {
            m.turn(at, LeaveForm::If(n));
            return;
        }
        // Join point after a loop, for channels that left the loop.
        if let Some((end, head)) = m.last_while
            && end + 1 == here
            && here == start
            && m.all(at, |l| {
                l.form == LeaveForm::Goto && (head..end).contains(&l.inst)
            })
        {
            m.turn(at, LeaveForm::Break(end));
            return;
        }
        self.join_instruction(Some(at), Jip::Next, exec);
    }

    fn join_instruction(&mut self, at: Option<JoinPoint>, jip: Jip, exec: ExecSize) {
        let inst = self.push(Op::Join, exec);
        let n = self.masks.joins.len();
        self.masks.joins.push(JoinInst { inst, at, jip });
        self.masks.open = Some((inst, OpenInst::JoinInst(n)));
    }

    /// Emits a branch to one successor if no channel runs, and to the other if any does.
    pub(super) fn branch_exec(
        &mut self,
        block: VBlock,
        none_first: bool,
        exec: ExecSize,
    ) -> Result<(), String> {
        let succs = &self.code.blocks[block].succs;
        let (&[a, b], turned) = (&succs[..], usize::from(!none_first)) else {
            return Err("a branch without two successors".to_string());
        };
        let (none, some) = if none_first { (a, b) } else { (b, a) };
        let (none, some) = (self.goal(none), self.goal(some));
        if none == some {
            self.jump(block, 0, None);
            return Ok(());
        }
        if some <= block {
            self.again(some, exec);
            self.jump(block, turned, None);
            return Ok(());
        }
        let jip = Jip::Block(none);
        match self.masks.open(self.out.len()) {
            Some(OpenInst::Leave(n)) if self.masks.leaves.get(n).is_some() => {
                if let Some(l) = self.masks.leaves.get_mut(n) {
                    l.jip = jip;
                }
            }
            Some(OpenInst::JoinInst(n)) if self.masks.joins.get(n).is_some() => {
                if let Some(j) = self.masks.joins.get_mut(n) {
                    j.jip = jip;
                }
            }
            _ => self.join_instruction(None, jip, exec),
        }
        // Channels that wait at the very next instruction would keep control from jumping.
        let waited = self.begins_with_join(some) && self.follows(block, some);
        if waited {
            self.jump_to(some, None)
        } else {
            self.jump(block, 1 - turned, None)
        }
        Ok(())
    }

    /// Emits the end of a loop.
    fn again(&mut self, head: VBlock, exec: ExecSize) {
        let first = self
            .starts
            .get(head.as_u32() as usize)
            .map_or(0, |s| *s as usize);
        let here = self.out.len();
        // Channels that wait just before the end may wait at the end itself.
        if let Some(OpenInst::JoinInst(n)) = self.masks.open(here)
            && n + 1 == self.masks.joins.len()
            && let Some(at) = self.masks.joins.get(n).and_then(|j| j.at)
            && self.masks.all(at, |l| {
                l.form == LeaveForm::Goto && (first..here).contains(&l.inst)
            })
        {
            self.masks.joins.pop();
            self.out.pop();
            let end = self.out.len();
            self.masks.at[at] = end;
            self.masks.turn(at, LeaveForm::Cont(end));
        }
        let inst = self.push(Op::While, exec);
        if let Some(i) = self.out.last_mut() {
            i.srcs[0] = Src::Target(BranchTarget::Label(head.as_u32()));
        }
        self.masks.last_while = Some((inst, first));
        self.masks.open = None;
    }
}
