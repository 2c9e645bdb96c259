//! Structurizer: the graph as nested scopes, loops and branches.
//!
//! Needs a graph whose loops have one latch each. It follows Ramsey, "Beyond Relooper" (2022),
//! adapted to diverging channels. The result is a flat list of steps, nested to any depth.
//!
//! - A block of several forward predecessors is a label. Its scope begins where its immediate
//!   dominator ends, and the block follows the scope.
//! - A block after a loop follows the whole loop, even if the header dominates it. Channels that
//!   leave the loop wait there for the others.
//! - Any other block is inlined at the only branch to it.
//!
//! Each step may act on channels (masks) or on the whole thread (branches). [`crate::uniformity`]
//! decides that, by positions in the list.

use super::{Graph, Loop};
use crate::body::{Block, Body, Term};
use cranelift_entity::SecondaryMap;
use gantry_codegen::entity_set::sized;

/// Step of the structured form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// Beginning of the scope of a label: channels may leave for it from here on.
    Begin(Block),
    /// End of the scope of a label: its channels join, and its block follows.
    End(Block),
    LoopBegin(Loop),
    LoopEnd(Loop),
    /// Instructions of a block, without its terminator.
    Code(Block),
    /// Two-way branch of a block whose sides both follow.
    If(Block),
    Else(Block),
    EndIf(Block),
    /// Switch of a block, some of whose targets follow.
    Arms(Block),
    Arm(Block, Block),
    EndArm(Block),
    EndArms(Block),
    /// Edge between two blocks, which assigns the phis of the second.
    Edge(Block, Block),
    /// Channels of the first block leave for the second: if its condition holds, if it does not, or
    /// by the cases of its switch.
    LeaveIf(Block, Block),
    LeaveUnless(Block, Block),
    LeaveCase(Block, Block),
    /// All channels of the first block leave for the second.
    Leave(Block, Block),
    /// Channels of the thread end.
    Return(Block),
}

/// Structured form of a body.
#[derive(Debug, Default)]
pub(crate) struct StructuredCfg {
    pub steps: Vec<Step>,
    /// Step of the code of each block.
    pub code: SecondaryMap<Block, u32>,
    /// First step of the terminator of each block.
    pub term: SecondaryMap<Block, u32>,
    /// First and last step of the scope of each label.
    pub scope: SecondaryMap<Block, (u32, u32)>,
    /// First and last step of each loop.
    pub loops: SecondaryMap<Loop, (u32, u32)>,
    /// Labels.
    pub labels: Vec<Block>,
    /// Label or header that control falls through to from each step, if that is next.
    falls: Vec<Option<Block>>,
}

impl StructuredCfg {
    /// Returns the label or header that control reaches from a step without a jump.
    pub fn falls_to(&self, step: usize) -> Option<Block> {
        self.falls.get(step + 1).copied().flatten()
    }

    /// Structures a body.
    pub fn new(body: &Body, g: &Graph) -> StructuredCfg {
        let blocks = body.blocks.len();
        let mut w = Structurizer {
            body,
            g,
            inline: sized(blocks),
            merges: sized(blocks),
            exits: SecondaryMap::new(),
            out: StructuredCfg {
                code: sized(blocks),
                term: sized(blocks),
                scope: sized(blocks),
                ..StructuredCfg::default()
            },
            todo: Vec::new(),
        };
        w.place();
        w.todo.push(StructureTask::Visit(g.entry));
        while let Some(t) = w.todo.pop() {
            w.todo(t);
        }
        let mut out = w.out;
        out.find_falls(g);
        out
    }

    fn find_falls(&mut self, g: &Graph) {
        // Steps after the constructs that enclose the current side.
        let mut over: Vec<usize> = Vec::new();
        self.falls = vec![None; self.steps.len() + 1];
        for (n, step) in self.steps.iter().enumerate().rev() {
            let next = self.falls[n + 1];
            self.falls[n] = match *step {
                Step::EndIf(_) | Step::EndArms(_) => {
                    over.push(n + 1);
                    next
                }
                Step::If(_) | Step::Arms(_) => {
                    over.pop();
                    None
                }
                Step::Else(_) | Step::EndArm(_) => over
                    .last()
                    .and_then(|o| self.falls.get(*o).copied().flatten()),
                Step::End(b) => Some(b),
                Step::LoopEnd(l) => Some(g.loops[l].header),
                _ => None,
            };
        }
    }
}

enum StructureTask {
    Visit(Block),
    Node(Block),
    Goto(Block, Block),
    Step(Step),
}

struct Structurizer<'a> {
    body: &'a Body,
    g: &'a Graph,
    /// Blocks that are inlined at the branch to them.
    inline: SecondaryMap<Block, bool>,
    /// Labels whose scopes begin at the end of each block, in order.
    merges: SecondaryMap<Block, Vec<Block>>,
    /// Labels whose scopes begin before each loop, in order.
    exits: SecondaryMap<Loop, Vec<Block>>,
    out: StructuredCfg,
    /// Work stack.
    todo: Vec<StructureTask>,
}

impl Structurizer<'_> {
    /// Decides how each block is placed.
    fn place(&mut self) {
        for &b in &self.g.order {
            let Some(d) = self.g.idom[b].expand() else {
                continue;
            };
            match self.g.exited_loop(d, b) {
                Some(l) => self.exits[l].push(b),
                None if self.g.forward_preds[b].len() == 1 => self.inline[b] = true,
                None => self.merges[d].push(b),
            }
        }
    }

    /// Returns true if `to` is inlined at a branch of `from`.
    fn follows(&self, from: Block, to: Block) -> bool {
        self.inline[to] && !self.g.is_back(from, to)
    }

    fn begin(&mut self, label: Block) {
        self.out.scope[label].0 = self.out.steps.len() as u32;
        self.out.labels.push(label);
        self.out.steps.push(Step::Begin(label));
    }

    /// Schedules the ends of scopes and the blocks of their labels.
    fn behind(&mut self, labels: &[Block]) {
        for &l in labels.iter().rev() {
            self.todo.push(StructureTask::Visit(l));
            self.todo.push(StructureTask::Step(Step::End(l)));
        }
    }

    fn todo(&mut self, t: StructureTask) {
        match t {
            StructureTask::Visit(b) => {
                let Some(l) = self.g.loop_with_header(b) else {
                    return self.todo(StructureTask::Node(b));
                };
                let exits = std::mem::take(&mut self.exits[l]);
                self.behind(&exits);
                exits.iter().rev().for_each(|e| self.begin(*e));
                self.out.loops[l].0 = self.out.steps.len() as u32;
                self.out.steps.push(Step::LoopBegin(l));
                self.todo.push(StructureTask::Step(Step::LoopEnd(l)));
                self.todo.push(StructureTask::Node(b));
            }
            StructureTask::Node(b) => {
                self.out.code[b] = self.out.steps.len() as u32;
                self.out.steps.push(Step::Code(b));
                let merges = std::mem::take(&mut self.merges[b]);
                self.behind(&merges);
                merges.iter().rev().for_each(|m| self.begin(*m));
                self.out.term[b] = self.out.steps.len() as u32;
                self.terminator(b);
            }
            StructureTask::Goto(from, to) => {
                if self.follows(from, to) {
                    self.out.steps.push(Step::Edge(from, to));
                    self.todo.push(StructureTask::Visit(to));
                } else {
                    self.out.steps.push(Step::Leave(from, to))
                }
            }
            StructureTask::Step(s) => {
                let at = self.out.steps.len() as u32;
                match s {
                    Step::End(b) => self.out.scope[b].1 = at,
                    Step::LoopEnd(l) => self.out.loops[l].1 = at,
                    _ => {}
                }
                self.out.steps.push(s);
            }
        }
    }

    fn terminator(&mut self, b: Block) {
        match &self.body.blocks[b].term {
            Term::Branch(t) => self.todo.push(StructureTask::Goto(b, *t)),
            Term::Cond(_, t, e) => {
                let (t, e) = (*t, *e);
                match (self.follows(b, t), self.follows(b, e)) {
                    (true, true) => {
                        self.out.steps.push(Step::If(b));
                        self.todo.push(StructureTask::Step(Step::EndIf(b)));
                        self.todo.push(StructureTask::Goto(b, e));
                        self.todo.push(StructureTask::Step(Step::Else(b)));
                        self.todo.push(StructureTask::Goto(b, t));
                    }
                    (true, false) => {
                        self.out.steps.push(Step::LeaveUnless(b, e));
                        self.todo.push(StructureTask::Goto(b, t));
                    }
                    (false, true) => {
                        self.out.steps.push(Step::LeaveIf(b, t));
                        self.todo.push(StructureTask::Goto(b, e));
                    }
                    // The nearer target comes last, since control may fall through to it. Back
                    // edges count as nearest: they are at the end of their loop.
                    (false, false) => {
                        let far = |x: Block| {
                            if self.g.is_back(b, x) {
                                0
                            } else {
                                self.g.rpo_index[x]
                            }
                        };
                        if far(t) >= far(e) {
                            self.out.steps.push(Step::LeaveIf(b, t));
                            self.out.steps.push(Step::Leave(b, e));
                        } else {
                            self.out.steps.push(Step::LeaveUnless(b, e));
                            self.out.steps.push(Step::Leave(b, t));
                        }
                    }
                }
            }
            Term::Switch(..) => self.switch(b),
            Term::Return | Term::Unreachable => self.out.steps.push(Step::Return(b)),
        }
    }

    fn switch(&mut self, b: Block) {
        let (here, away): (Vec<Block>, Vec<Block>) =
            self.g.succs[b].iter().partition(|t| self.follows(b, **t));
        let mut away = away;
        let last = match here.is_empty() {
            true if !away.is_empty() => Some(away.remove(0)),
            _ => None,
        };
        let leave = away.iter().rev().map(|t| Step::LeaveCase(b, *t));
        self.out.steps.extend(leave);
        if let Some(t) = last {
            self.out.steps.push(Step::Leave(b, t));
            return;
        }
        self.out.steps.push(Step::Arms(b));
        self.todo.push(StructureTask::Step(Step::EndArms(b)));
        for t in here.iter().rev() {
            self.todo.push(StructureTask::Step(Step::EndArm(b)));
            self.todo.push(StructureTask::Goto(b, *t));
            self.todo.push(StructureTask::Step(Step::Arm(b, *t)));
        }
    }
}
