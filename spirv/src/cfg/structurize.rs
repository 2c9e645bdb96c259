//! The graph as a script: nested blocks, loops and branches, after Ramsey, "Beyond Relooper" (2022), for the control flow of channels.
//!
//! Needs a graph whose loops have one latch each. The script is a flat list of steps, whose nesting may be of any depth. A block to which several
//! lead is a label: its scope begins where its dominator ends, and it stands behind the scope. What is behind a loop stands behind all of it, even
//! what its header dominates, so that channels that leave wait there for the others. Every other block stands where the only branch to it is.
//!
//! Whether a step is of channels (masks) or of the thread (branches) is not said here: [`crate::uniformity`] decides that by places in the script.

use super::{Graph, Loop};
use crate::body::{Block, Body, Term};
use cranelift_entity::SecondaryMap;
use gantry_codegen::maps::sized;

/// A step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// From here on channels may leave for a label.
    Begin(Block),
    /// The label's channels are here; its block follows.
    End(Block),
    LoopBegin(Loop),
    LoopEnd(Loop),
    /// A block's instructions, without its terminator.
    Code(Block),
    /// A branch both sides of which follow: the first.
    If(Block),
    Else(Block),
    EndIf(Block),
    /// A switch of which some targets follow.
    Arms(Block),
    Arm(Block, Block),
    EndArm(Block),
    EndArms(Block),
    /// What the phis of a block take when control comes from another.
    Edge(Block, Block),
    /// The channels of one block for which its terminator says another leave for it: on a condition, on its negation, of a switch.
    LeaveIf(Block, Block),
    LeaveUnless(Block, Block),
    LeaveCase(Block, Block),
    /// All channels do.
    Leave(Block, Block),
    /// The thread's channels end.
    Return(Block),
}

/// The steps, and where things are among them.
#[derive(Debug, Default)]
pub(crate) struct StructuredCfg {
    pub steps: Vec<Step>,
    /// Where a block's code is.
    pub code: SecondaryMap<Block, u32>,
    /// Where a block's terminator begins.
    pub term: SecondaryMap<Block, u32>,
    /// Where a label's scope begins and ends.
    pub scope: SecondaryMap<Block, (u32, u32)>,
    /// Where a loop begins and ends.
    pub loops: SecondaryMap<Loop, (u32, u32)>,
    /// Labels.
    pub labels: Vec<Block>,
    /// For each step: the label (or header) to which control falls from there.
    falls: Vec<Option<Block>>,
}

impl StructuredCfg {
    /// The label whose end comes next for channels behind a step, or the header to which they go back.
    pub fn falls_to(&self, step: usize) -> Option<Block> {
        self.falls.get(step + 1).copied().flatten()
    }

    /// The script of a body.
    pub fn new(body: &Body, g: &Graph) -> StructuredCfg {
        let blocks = body.blocks.len();
        let mut w = Writer {
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
        w.todo.push(Todo::Visit(g.entry));
        while let Some(t) = w.todo.pop() {
            w.todo(t);
        }
        let mut out = w.out;
        out.find_falls(g);
        out
    }

    fn find_falls(&mut self, g: &Graph) {
        // Where the constructs end that a step is the end of a side of.
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

enum Todo {
    Visit(Block),
    Node(Block),
    Goto(Block, Block),
    Step(Step),
}

struct Writer<'a> {
    body: &'a Body,
    g: &'a Graph,
    /// Blocks that stand where the branch to them is.
    inline: SecondaryMap<Block, bool>,
    /// Labels whose scope begins where a block ends, in order.
    merges: SecondaryMap<Block, Vec<Block>>,
    /// Labels whose scope begins before a loop, in order.
    exits: SecondaryMap<Loop, Vec<Block>>,
    out: StructuredCfg,
    /// What is to be written, last first.
    todo: Vec<Todo>,
}

impl Writer<'_> {
    /// Finds where each block stands.
    fn place(&mut self) {
        for &b in &self.g.order {
            let Some(d) = self.g.idom[b].expand() else {
                continue;
            };
            match self.g.left(d, b) {
                Some(l) => self.exits[l].push(b),
                None if self.g.forward_preds[b].len() == 1 => self.inline[b] = true,
                None => self.merges[d].push(b),
            }
        }
    }

    /// Whether a block stands where another branches to it.
    fn follows(&self, from: Block, to: Block) -> bool {
        self.inline[to] && !self.g.is_back(from, to)
    }

    fn begin(&mut self, label: Block) {
        self.out.scope[label].0 = self.out.steps.len() as u32;
        self.out.labels.push(label);
        self.out.steps.push(Step::Begin(label));
    }

    /// What stands behind the scopes of labels, first to last, last to be done.
    fn behind(&mut self, labels: &[Block]) {
        for &l in labels.iter().rev() {
            self.todo.push(Todo::Visit(l));
            self.todo.push(Todo::Step(Step::End(l)));
        }
    }

    fn todo(&mut self, t: Todo) {
        match t {
            Todo::Visit(b) => {
                let Some(l) = self.g.headed(b) else {
                    return self.todo(Todo::Node(b));
                };
                let exits = std::mem::take(&mut self.exits[l]);
                self.behind(&exits);
                exits.iter().rev().for_each(|e| self.begin(*e));
                self.out.loops[l].0 = self.out.steps.len() as u32;
                self.out.steps.push(Step::LoopBegin(l));
                self.todo.push(Todo::Step(Step::LoopEnd(l)));
                self.todo.push(Todo::Node(b));
            }
            Todo::Node(b) => {
                self.out.code[b] = self.out.steps.len() as u32;
                self.out.steps.push(Step::Code(b));
                let merges = std::mem::take(&mut self.merges[b]);
                self.behind(&merges);
                merges.iter().rev().for_each(|m| self.begin(*m));
                self.out.term[b] = self.out.steps.len() as u32;
                self.terminator(b);
            }
            Todo::Goto(from, to) => {
                if self.follows(from, to) {
                    self.out.steps.push(Step::Edge(from, to));
                    self.todo.push(Todo::Visit(to));
                } else {
                    self.out.steps.push(Step::Leave(from, to))
                }
            }
            Todo::Step(s) => {
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
            Term::Branch(t) => self.todo.push(Todo::Goto(b, *t)),
            Term::Cond(_, t, e) => {
                let (t, e) = (*t, *e);
                match (self.follows(b, t), self.follows(b, e)) {
                    (true, true) => {
                        self.out.steps.push(Step::If(b));
                        self.todo.push(Todo::Step(Step::EndIf(b)));
                        self.todo.push(Todo::Goto(b, e));
                        self.todo.push(Todo::Step(Step::Else(b)));
                        self.todo.push(Todo::Goto(b, t));
                    }
                    (true, false) => {
                        self.out.steps.push(Step::LeaveUnless(b, e));
                        self.todo.push(Todo::Goto(b, t));
                    }
                    (false, true) => {
                        self.out.steps.push(Step::LeaveIf(b, t));
                        self.todo.push(Todo::Goto(b, e));
                    }
                    // The nearer one comes last: control may fall to it. Ways back are at the end of their loop.
                    (false, false) => {
                        let far = |x: Block| {
                            if self.g.is_back(b, x) {
                                0
                            } else {
                                self.g.place[x]
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
        self.todo.push(Todo::Step(Step::EndArms(b)));
        for t in here.iter().rev() {
            self.todo.push(Todo::Step(Step::EndArm(b)));
            self.todo.push(Todo::Goto(b, *t));
            self.todo.push(Todo::Step(Step::Arm(b, *t)));
        }
    }
}
