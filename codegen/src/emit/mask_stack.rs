//! Emission of the mask stack: channels that leave, points where they wait, branches that ask
//! whether any runs.
//!
//! Channels leave by `goto`, for good by `halt`. Where the place that control goes to when nobody
//! is left is the point itself, that is `if` and `endif`; a first side's `goto` of all channels is
//! `else`; what leads out of a loop, or to its end, is `break` and `cont`. Only here are addresses
//! known, so that a form is chosen from what was emitted: by [`Masks::join`] and [`Masks::again`]
//! where that saves an instruction, the others in [`Masks::finish`].

use super::{Emitter, NATIVE};
use crate::mir::JoinPoint;
use crate::mir::VBlock;
use cranelift_entity::SecondaryMap;
use gantry_isa_gen::{ExecSize, Inst, Op, Predicate, Reg, Src, Target as BranchTarget};
use smallvec::SmallVec;

/// Where control goes when no channel runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Jip {
    Next,
    Block(VBlock),
}

/// How channels leave.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Goto,
    /// Before an `else`, which is the leaving of this number.
    If(usize),
    Else,
    /// Out of the loop whose `while` is this instruction.
    Break(usize),
    Cont(usize),
    Halt,
}

struct Leaving {
    inst: usize,
    to: Option<JoinPoint>,
    jip: Jip,
    /// The channels that leave; without it, all.
    by: Option<Predicate<Reg>>,
    form: Form,
}

struct Joining {
    inst: usize,
    at: Option<JoinPoint>,
    jip: Jip,
}

/// An instruction whose JIP may still be said.
#[derive(Clone, Copy)]
enum Open {
    Leaving(usize),
    Joining(usize),
}

/// The mask stack's instructions of a function, as far as emitted.
#[derive(Default)]
pub(super) struct Masks {
    leaves: Vec<Leaving>,
    joins: Vec<Joining>,
    /// Who leaves for a point.
    of_point: SecondaryMap<JoinPoint, SmallVec<[usize; 2]>>,
    /// Where channels wait, as the number of an instruction.
    at: SecondaryMap<JoinPoint, usize>,
    /// The last `while`, and the instruction it goes back to.
    last_while: Option<(usize, usize)>,
    /// The last instruction, of a block that is still being emitted.
    open: Option<(usize, Open)>,
    /// Where the thread ends.
    pub(super) end: usize,
}

impl Masks {
    /// What is open at the end of so many instructions.
    fn open(&self, len: usize) -> Option<Open> {
        self.open.filter(|(i, _)| i + 1 == len).map(|(_, o)| o)
    }

    /// Nothing that follows belongs to the block that was emitted.
    pub(super) fn close(&mut self) {
        self.open = None;
    }

    /// Whether all that leave for a point are of one kind.
    fn all(&self, at: JoinPoint, is: impl Fn(&Leaving) -> bool) -> bool {
        self.of_point[at]
            .iter()
            .all(|&l| self.leaves.get(l).is_some_and(&is))
    }

    fn turn(&mut self, at: JoinPoint, form: Form) {
        for &l in &self.of_point[at] {
            if let Some(l) = self.leaves.get_mut(l) {
                l.form = form;
            }
        }
    }

    /// Puts targets in place and chooses the forms that are left to choose.
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
        // Points that an `if` alone leads to.
        for n in 0..self.joins.len() {
            let Some((at, inst)) = self.joins.get(n).map(|j| (j.at, j.inst)) else {
                continue;
            };
            let ends_if = at.is_some_and(|at| {
                self.all(at, |l| match l.form {
                    Form::Else => true,
                    Form::Goto => place(l.jip, l.inst) == self.at[at] && l.by.is_some(),
                    _ => false,
                })
            });
            if let (true, Some(i), Some(at)) = (ends_if, insts.get_mut(inst), at) {
                i.op = Op::Endif;
                for &l in &self.of_point[at] {
                    if let Some(l) = self.leaves.get_mut(l).filter(|l| l.form == Form::Goto) {
                        // Its own: no `else`.
                        l.form = Form::If(usize::MAX);
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
                Form::Goto => (Op::Goto, !goto_on_true, [jip, own]),
                Form::If(other) => {
                    let end = self.leaves.get(other).map_or(own, |e| at(e.to));
                    (Op::If, true, [own, end])
                }
                Form::Else => (Op::Else, false, [jip, own]),
                Form::Break(end) => (Op::Break, false, [jip, end]),
                Form::Cont(end) => (Op::Cont, false, [jip, end]),
                Form::Halt => (Op::Halt, false, [jip, own]),
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

    /// Channels leave.
    pub(super) fn leave(
        &mut self,
        by: Option<Predicate<Reg>>,
        to: Option<JoinPoint>,
        exec: ExecSize,
    ) {
        let form = match (to, by) {
            (None, _) => Form::Halt,
            (Some(_), None) => Form::Else,
            (Some(_), Some(_)) => Form::Goto,
        };
        let inst = self.push(Op::Goto, exec);
        let n = self.masks.leaves.len();
        self.masks.leaves.push(Leaving {
            inst,
            to,
            jip: Jip::Next,
            by,
            form,
        });
        if let Some(to) = to {
            self.masks.of_point[to].push(n);
        }
        self.masks.open = Some((inst, Open::Leaving(n)));
    }

    /// Channels that wait come back. `start`: the block's first instruction.
    pub(super) fn join(&mut self, block: VBlock, start: usize, at: JoinPoint, exec: ExecSize) {
        let here = self.out.len();
        let m = &mut self.masks;
        m.at[at] = here;
        // All others have left just before: an `else`, if that begins the block that those who come
        // back were sent to.
        if let Some(Open::Leaving(n)) = m.open(here)
            && m.leaves.get(n).is_some_and(|l| l.form == Form::Else)
            && here == start + 1
            && m.all(at, |l| l.form == Form::Goto && l.jip == Jip::Block(block))
        {
            m.turn(at, Form::If(n));
            return;
        }
        // Behind a loop, for those who come from it.
        if let Some((end, head)) = m.last_while
            && end + 1 == here
            && here == start
            && m.all(at, |l| {
                l.form == Form::Goto && (head..end).contains(&l.inst)
            })
        {
            m.turn(at, Form::Break(end));
            return;
        }
        self.join_instruction(Some(at), Jip::Next, exec);
    }

    fn join_instruction(&mut self, at: Option<JoinPoint>, jip: Jip, exec: ExecSize) {
        let inst = self.push(Op::Join, exec);
        let n = self.masks.joins.len();
        self.masks.joins.push(Joining { inst, at, jip });
        self.masks.open = Some((inst, Open::Joining(n)));
    }

    /// To a successor where no channel runs, to the other where any does.
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
            Some(Open::Leaving(n)) if self.masks.leaves.get(n).is_some() => {
                if let Some(l) = self.masks.leaves.get_mut(n) {
                    l.jip = jip;
                }
            }
            Some(Open::Joining(n)) if self.masks.joins.get(n).is_some() => {
                if let Some(j) = self.masks.joins.get_mut(n) {
                    j.jip = jip;
                }
            }
            _ => self.join_instruction(None, jip, exec),
        }
        // Channels that wait at the very next instruction would keep control from going where it
        // shall.
        let waited = self.begins_with_join(some) && self.follows(block, some);
        if waited {
            self.jump_to(some, None)
        } else {
            self.jump(block, 1 - turned, None)
        }
        Ok(())
    }

    /// The end of a loop.
    fn again(&mut self, head: VBlock, exec: ExecSize) {
        let first = self
            .starts
            .get(head.as_u32() as usize)
            .map_or(0, |s| *s as usize);
        let here = self.out.len();
        // Who waits just before the end may wait at it.
        if let Some(Open::Joining(n)) = self.masks.open(here)
            && n + 1 == self.masks.joins.len()
            && let Some(at) = self.masks.joins.get(n).and_then(|j| j.at)
            && self.masks.all(at, |l| {
                l.form == Form::Goto && (first..here).contains(&l.inst)
            })
        {
            self.masks.joins.pop();
            self.out.pop();
            let end = self.out.len();
            self.masks.at[at] = end;
            self.masks.turn(at, Form::Cont(end));
        }
        let inst = self.push(Op::While, exec);
        if let Some(i) = self.out.last_mut() {
            i.srcs[0] = Src::Target(BranchTarget::Label(head.as_u32()));
        }
        self.masks.last_while = Some((inst, first));
        self.masks.open = None;
    }
}
