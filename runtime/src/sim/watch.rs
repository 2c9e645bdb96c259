//! Observers of a thread's execution loop: one that observes nothing, and [`Watcher`].

use super::hazard::{Scoreboard, ScoreboardModel};
use super::launch::LaunchPlan;
use super::pace::Pace;
use super::program::{MicroOp, MicroOpKind, Program};
use super::thread::Thread;
use super::trace;
use crate::watch::{Amount, Hazard, HazardKind, InstructionCount, Report, TraceEvent, Watch};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Observer of instructions as they run. The loop is compiled for each observer, so that one that
/// observes nothing costs nothing.
pub(super) trait Observer {
    /// True if it observes anything.
    const OBSERVES: bool;
    /// Announces that the next instructions are of this thread of its group.
    fn thread(&mut self, number: u32);
    /// Observes the instruction at index `pc` before it runs, with its sources still in the
    /// registers. Bit 0 of `mask` is its first channel.
    fn before(&mut self, t: &Thread, pc: u32, op: &MicroOp, mask: u32);
    /// Observes the instruction after it has run, or ended the launch.
    fn after(&mut self, t: &Thread, pc: u32, op: &MicroOp, mask: u32);
}

/// Observer that observes nothing.
pub(super) struct NoObserver;

impl Observer for NoObserver {
    const OBSERVES: bool = false;
    fn thread(&mut self, _: u32) {}
    fn before(&mut self, _: &Thread, _: u32, _: &MicroOp, _: u32) {}
    fn after(&mut self, _: &Thread, _: u32, _: &MicroOp, _: u32) {}
}

/// Observer that counts what each instruction does.
pub(super) struct Counter<'p> {
    plan: &'p LaunchPlan<'p>,
    /// Amounts by operation.
    amounts: Vec<Amount>,
    /// Amounts of sends whose message depends on registers, by operation and message.
    messages: BTreeMap<(u32, String), Amount>,
    /// Message of such a send that runs.
    message: Option<String>,
    /// Bytes that the thread had read and written before the send that runs.
    bytes: (u64, u64),
}

impl<'p> Counter<'p> {
    fn new(plan: &'p LaunchPlan<'p>) -> Counter<'p> {
        Counter {
            plan,
            amounts: vec![Amount::default(); plan.program.ops.len()],
            messages: BTreeMap::new(),
            message: None,
            bytes: (0, 0),
        }
    }

    fn finish(self) -> Report {
        let mut report = Report::default();
        let mut count = |pc: usize, message: Option<String>, amount: Amount| {
            let (Some(op), true) = (self.plan.program.ops.get(pc), amount.executed > 0) else {
                return;
            };
            report.instructions.push(InstructionCount {
                kernel: self.plan.kernel.name.clone(),
                ip: op.ip,
                text: self.plan.program.text(pc as u32),
                source: self.plan.source_line(op.ip),
                message,
                amount,
            });
        };
        for (pc, amount) in self.amounts.iter().enumerate() {
            let message = match self.plan.program.ops.get(pc).map(|o| &o.kind) {
                Some(MicroOpKind::Send(s)) => s.fixed_message().map(|m| m.op.to_string()),
                _ => None,
            };
            count(pc, message, *amount);
        }
        for ((pc, message), amount) in self.messages {
            count(pc as usize, Some(message), amount);
        }
        report
    }
}

impl Observer for Counter<'_> {
    const OBSERVES: bool = true;

    fn thread(&mut self, _: u32) {}

    #[inline(always)]
    fn before(&mut self, t: &Thread, pc: u32, op: &MicroOp, _: u32) {
        if let MicroOpKind::Send(s) = &op.kind {
            self.bytes = (t.counts.bytes_read, t.counts.bytes_written);
            self.message = match s.fixed_message() {
                Some(_) => None,
                None => self
                    .plan
                    .program
                    .message(&t.regs, pc, s)
                    .map(|m| m.op.to_string()),
            };
        }
    }

    #[inline(always)]
    fn after(&mut self, t: &Thread, pc: u32, op: &MicroOp, mask: u32) {
        let mut amount = Amount {
            executed: 1,
            channels: u64::from(mask.count_ones()),
            bytes_read: 0,
            bytes_written: 0,
        };
        if let MicroOpKind::Send(_) = &op.kind {
            amount.bytes_read = t.counts.bytes_read - self.bytes.0;
            amount.bytes_written = t.counts.bytes_written - self.bytes.1;
            if let Some(message) = self.message.take() {
                let by_message = self.messages.entry((pc, message)).or_default();
                by_message.add(&amount);
                return;
            }
        }
        if let Some(a) = self.amounts.get_mut(pc as usize) {
            a.add(&amount);
        }
    }
}

/// Observer for a [`Watch`], on one host core.
pub(super) struct Watcher<'p> {
    watch: &'p Watch,
    plan: &'p LaunchPlan<'p>,
    program: &'p Program,
    kernel: &'p str,
    group: [u32; 3],
    thread: u32,
    /// True if the trace's filter passes something of the thread.
    traced: bool,
    line: trace::Line,
    counter: Option<Counter<'p>>,
    hazards: Option<GroupScoreboards>,
    pace: Option<Pace>,
}

/// Scoreboards of a group's threads, and the hazards found.
struct GroupScoreboards {
    model: ScoreboardModel,
    threads: Vec<Scoreboard>,
    /// GroupScoreboards by later instruction, earlier instruction and kind.
    found: BTreeMap<(u32, u32, HazardKind), Hazard>,
}

impl<'p> Watcher<'p> {
    pub(super) fn new(watch: &'p Watch, plan: &'p LaunchPlan<'p>) -> Watcher<'p> {
        let program = plan.program;
        Watcher {
            watch,
            plan,
            program,
            kernel: &plan.kernel.name,
            group: [0; 3],
            thread: 0,
            traced: false,
            line: trace::Line::default(),
            counter: watch.counts.then(|| Counter::new(plan)),
            hazards: (watch.hazards && program.platform.features().swsb).then(|| {
                GroupScoreboards {
                    model: ScoreboardModel::new(program),
                    threads: Vec::new(),
                    found: BTreeMap::new(),
                }
            }),
            pace: watch.cycles.then(|| Pace::new(program)),
        }
    }

    /// Begins a group.
    pub(super) fn group(&mut self, id: [u32; 3]) {
        self.group = id;
        if let Some(h) = &mut self.hazards {
            h.threads.clear();
        }
        if let Some(p) = &mut self.pace {
            p.group();
        }
    }

    /// Returns the counter, if nothing else is asked for.
    pub(super) fn only_counts(&mut self) -> Option<&mut Counter<'p>> {
        match (&self.watch.filter, &self.hazards, &self.pace) {
            (None, None, None) => self.counter.as_mut(),
            _ => None,
        }
    }

    /// Adds the observations to the watch.
    pub(super) fn finish(self) {
        if let Some(c) = self.counter {
            self.watch.add(c.finish());
        }
        if let Some(p) = self.pace {
            self.watch.add(Report {
                cycles: p.finish(),
                ..Report::default()
            });
        }
        if let Some(h) = self.hazards {
            self.watch.add(Report {
                hazards: h.found.into_values().collect(),
                ..Report::default()
            });
        }
    }

    /// Checks an instruction against the scoreboard of its thread.
    fn check(&mut self, t: &Thread, pc: u32, op: &MicroOp, mask: u32) {
        let Some(h) = &mut self.hazards else {
            return;
        };
        let Some(board) = h.threads.get_mut(self.thread as usize) else {
            return;
        };
        for f in board.issue(&h.model, self.program, t, pc, op, mask) {
            match h.found.entry((pc, f.earlier, f.kind)) {
                Entry::Occupied(mut o) => o.get_mut().count += 1,
                Entry::Vacant(v) => {
                    v.insert(Hazard {
                        kernel: self.kernel.to_owned(),
                        group: self.group,
                        thread: self.thread,
                        ip: op.ip,
                        instruction: self.program.text(pc),
                        kind: f.kind,
                        register: f.place.register,
                        part: f.place.part,
                        earlier_ip: self.program.ops.get(f.earlier as usize).map_or(0, |o| o.ip),
                        earlier: self.program.text(f.earlier),
                        cover: f.cover.clone(),
                        source: self.plan.source_line(op.ip),
                        count: 1,
                    });
                }
            }
        }
    }

    fn takes(&self, op: &MicroOp) -> bool {
        let filter = self.watch.filter.as_ref();
        self.traced && filter.is_some_and(|f| f.takes_ip(op.ip))
    }
}

impl Observer for Watcher<'_> {
    const OBSERVES: bool = true;

    fn thread(&mut self, number: u32) {
        self.thread = number;
        let filter = self.watch.filter.as_ref();
        self.traced = filter.is_some_and(|f| f.takes_thread(self.kernel, self.group, number));
        if let Some(h) = &mut self.hazards {
            let needed = number as usize + 1;
            if h.threads.len() < needed {
                h.threads.resize_with(needed, Scoreboard::default);
            }
        }
        if let Some(p) = &mut self.pace {
            p.thread(number);
        }
    }

    fn before(&mut self, t: &Thread, pc: u32, op: &MicroOp, mask: u32) {
        if let Some(c) = &mut self.counter {
            c.before(t, pc, op, mask);
        }
        self.check(t, pc, op, mask);
        if self.takes(op) {
            self.line.before(t, self.program, pc, op, mask);
        }
    }

    fn after(&mut self, t: &Thread, pc: u32, op: &MicroOp, mask: u32) {
        if let Some(p) = &mut self.pace {
            p.executed(self.thread, pc);
        }
        if let Some(c) = &mut self.counter {
            c.after(t, pc, op, mask);
        }
        if let Some(h) = &mut self.hazards
            && t.pc != pc + 1
            && let Some(board) = h.threads.get_mut(self.thread as usize)
        {
            board.drain();
        }
        if self.takes(op) {
            self.line.after(t, op, mask);
            self.watch.emit(&TraceEvent {
                kernel: self.kernel,
                group: self.group,
                thread: self.thread,
                ip: op.ip,
                instruction: &self.program.text(pc),
                source: self.plan.source_line(op.ip),
                mask,
                operands: self.line.operands(),
            });
        }
    }
}
