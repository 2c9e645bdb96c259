//! Software scoreboard of a thread of Xe code.
//!
//! It tracks the registers that issued instructions have still to read or write. It checks that the
//! annotations (SWSB) of the instructions that follow wait for them.
//!
//! The model is what the hardware guarantees and Intel's compiler relies on, on the path that a
//! thread takes:
//! - An in-order pipe writes its results in order, some instructions later. A distance waits for
//!   all instructions of a pipe but the last few. A pipe is [`depth`] deep: older results are
//!   complete. A taken branch drains the pipes.
//! - Within a pipe, a later instruction neither writes nor is read before an earlier one. Where all
//!   distances count together (Xe-LP), only 64-bit instructions are slower than the others.
//! - Sends, the math unit and the systolic array read and write at any time. Tokens tell when they
//!   have. Each of these functions reads sources in order. One that has read, or ended, implies
//!   that all before it have read. Giving a token to an instruction waits for the instruction that
//!   had it.
//! - The hardware itself tracks the address register. It also tracks flags and accumulators, except
//!   between different pipes. There, a pipe's write after another's read or write must be waited
//!   for. So must everything that runs out of order.
//! - On Xe-HPC bytes are written by reading and writing their words.
//! - Channels that do not run are neither read nor written.

mod access;

use super::program::{MicroOp, Program};
use super::thread::Thread;
use crate::watch::HazardKind;
use access::{RegisterAccess, RegisterPart, access, conflict};
use gantry_isa_gen::exec_unit::{ExecUnit, Function, depth};
use gantry_isa_gen::swsb::{Distance, Pipe, TokenKind};
use gantry_isa_gen::{InstOpts, Src, Subfn, Swsb, SyncFn, Type};
use std::collections::VecDeque;

/// Static information on each instruction, by operation.
pub(super) struct ScoreboardModel {
    entries: Vec<InstModel>,
    /// Bytes of a GRF.
    grf: u32,
    /// True if distances count the instructions of all pipes together.
    one_pipe: bool,
    /// True if bytes are written by reading and writing their words.
    byte_rmw: bool,
}

struct InstModel {
    unit: ExecUnit,
    swsb: Swsb,
    /// Pipes that a distance without a pipe's name may mean: by the instruction and by its
    /// operands.
    own: u8,
    sync: Option<(SyncFn, u32)>,
    /// True if a later instruction sets this one's token. In a sequence of `dpas` the last one has
    /// it.
    in_sequence: bool,
}

/// Number of pipes.
const PIPES: usize = 4;

const fn index(pipe: Pipe) -> usize {
    match pipe {
        Pipe::Int | Pipe::Own | Pipe::All => 0,
        Pipe::Float => 1,
        Pipe::Long => 2,
        Pipe::Math => 3,
    }
}

impl ScoreboardModel {
    pub(super) fn new(program: &Program) -> ScoreboardModel {
        let f = program.platform.features();
        let one_pipe = f.swsb_pipes.len() == 1;
        let entries = (0..program.ops.len() as u32)
            .map(|pc| {
                let Some(inst) = program.inst(pc) else {
                    return InstModel {
                        unit: ExecUnit::Uncounted,
                        swsb: Swsb::NONE,
                        own: 0,
                        sync: None,
                        in_sequence: false,
                    };
                };
                let unit = ExecUnit::of(program.platform, inst);
                let bit = |p: Pipe| 1u8 << if one_pipe { 0 } else { index(p) };
                let of_type = |t: Type| bit(Pipe::of_type(f, t));
                let own = match unit {
                    ExecUnit::InOrder(p) => inst
                        .srcs
                        .iter()
                        .filter_map(Src::ty)
                        .fold(bit(p), |all, t| all | of_type(t)),
                    _ => u8::MAX,
                };
                let sync = match inst.subfn {
                    Subfn::Sync(f @ (SyncFn::Allrd | SyncFn::Allwr)) => {
                        let tokens = match inst.srcs[0] {
                            Src::Imm { bits, .. } => bits as u32,
                            _ => u32::MAX,
                        };
                        Some((f, tokens))
                    }
                    _ => None,
                };
                InstModel {
                    unit,
                    swsb: inst.swsb,
                    own,
                    sync,
                    in_sequence: unit == ExecUnit::OutOfOrder(Function::Systolic)
                        && inst.opts.contains(InstOpts::ATOMIC),
                }
            })
            .collect();
        ScoreboardModel {
            entries,
            grf: f.grf_bytes,
            one_pipe,
            byte_rmw: f.byte_rmw,
        }
    }

    fn pipe(&self, pipe: Pipe) -> usize {
        if self.one_pipe { 0 } else { index(pipe) }
    }
}

/// In-order instruction whose result may not be complete.
struct InOrder {
    /// Number of the instruction in its pipe.
    number: u64,
    pipe: Pipe,
    access: RegisterAccess,
}

/// Out-of-order instruction that may not have ended.
struct OutOfOrder {
    function: Function,
    token: Option<u8>,
    /// True while it waits for the token of a later instruction of its sequence.
    in_sequence: bool,
    reads_done: bool,
    access: RegisterAccess,
}

/// Read or write that nothing waits for.
pub(super) struct MissingWait {
    pub(super) kind: HazardKind,
    /// Operation index of the earlier instruction.
    pub(super) earlier: u32,
    /// Bytes that both touch.
    pub(super) place: RegisterPart,
    /// Annotation that would wait for it.
    pub(super) cover: String,
}

/// Scoreboard of one thread.
#[derive(Default)]
pub(super) struct Scoreboard {
    /// Instructions issued to each pipe, and below it the number of those that have certainly
    /// ended.
    issued: [u64; PIPES],
    ended: [u64; PIPES],
    in_order: [VecDeque<InOrder>; PIPES],
    out_of_order: Vec<OutOfOrder>,
    findings: Vec<MissingWait>,
}

impl Scoreboard {
    /// Issues an instruction. Returns the accesses that it makes too early.
    pub(super) fn issue(
        &mut self,
        model: &ScoreboardModel,
        program: &Program,
        t: &Thread,
        pc: u32,
        op: &MicroOp,
        mask: u32,
    ) -> &[MissingWait] {
        self.findings.clear();
        let Some(entry) = model.entries.get(pc as usize) else {
            return &self.findings;
        };
        self.wait(model, entry);
        let access = access(model, program, t, pc, op, mask);
        self.check(model, entry, &access);
        match entry.unit {
            ExecUnit::Uncounted => {}
            ExecUnit::InOrder(pipe) => {
                let p = model.pipe(pipe);
                if let (Some(queue), Some(issued)) =
                    (self.in_order.get_mut(p), self.issued.get_mut(p))
                {
                    queue.push_back(InOrder {
                        number: *issued,
                        pipe,
                        access,
                    });
                    *issued += 1;
                    // The depth is that of the deepest pipe, for pipes that count together.
                    while queue.len() as u64 > depth(Pipe::Math) {
                        queue.pop_front();
                    }
                }
            }
            ExecUnit::OutOfOrder(function) => self.start(entry, function, access, mask),
        }
        &self.findings
    }

    /// Empties the pipes after a taken branch: they are empty when its target is fetched.
    pub(super) fn drain(&mut self) {
        self.ended = self.issued;
    }

    /// Waits for what an annotation, or a `sync`, names.
    fn wait(&mut self, model: &ScoreboardModel, entry: &InstModel) {
        if let Some(Distance { pipe, n }) = entry.swsb.distance {
            let pipes = match pipe {
                _ if model.one_pipe => u8::MAX,
                Pipe::Own => entry.own,
                Pipe::All => u8::MAX,
                p => 1 << index(p),
            };
            for (p, (ended, issued)) in self.ended.iter_mut().zip(self.issued).enumerate() {
                if pipes >> p & 1 == 1 {
                    *ended = (*ended).max((issued + 1).saturating_sub(u64::from(n)));
                }
            }
        }
        if let Some(token) = entry.swsb.token {
            match token.kind {
                TokenKind::Src => self.end_reads(|t| t == token.sbid),
                TokenKind::Dst | TokenKind::Set => self.end(|t| t == token.sbid),
            }
        }
        match entry.sync {
            Some((SyncFn::Allrd, tokens)) => self.end_reads(|t| tokens >> (t & 31) & 1 == 1),
            Some((_, tokens)) => self.end(|t| tokens >> (t & 31) & 1 == 1),
            None => {}
        }
    }

    /// Ends the instructions with these tokens.
    fn end(&mut self, token: impl Fn(u8) -> bool) {
        self.end_reads(&token);
        self.out_of_order.retain(|o| !o.token.is_some_and(&token));
    }

    /// Marks the sources of the instructions with these tokens as read. So are those of
    /// instructions before them of the same function.
    fn end_reads(&mut self, token: impl Fn(u8) -> bool) {
        for last in (0..self.out_of_order.len()).rev() {
            let (earlier, rest) = self.out_of_order.split_at_mut(last);
            let Some(o) = rest.first_mut() else {
                continue;
            };
            if o.token.is_some_and(&token) {
                o.reads_done = true;
                for e in earlier.iter_mut().filter(|e| e.function == o.function) {
                    e.reads_done = true;
                }
            }
        }
    }

    /// Begins an out-of-order instruction.
    fn start(&mut self, entry: &InstModel, function: Function, access: RegisterAccess, mask: u32) {
        let token = match entry.swsb.token {
            Some(t) if t.kind == TokenKind::Set => Some(t.sbid),
            _ => None,
        };
        if token.is_some() && function == Function::Systolic {
            for o in &mut self.out_of_order {
                if o.in_sequence && o.token.is_none() {
                    o.token = token;
                }
            }
        }
        if mask == 0 {
            return;
        }
        // An instruction without a token is never waited for. Of all times that it ran, the last
        // counts.
        if token.is_none() {
            self.out_of_order
                .retain(|o| o.token.is_some() || o.access.pc != access.pc);
        }
        self.out_of_order.push(OutOfOrder {
            function,
            token,
            in_sequence: entry.in_sequence,
            reads_done: false,
            access,
        });
    }

    /// Checks what `now` accesses too early, the latest instruction first, since a wait for that
    /// waits for those before it. Anything found counts as waited for, so that each missing wait is
    /// reported once.
    fn check(&mut self, model: &ScoreboardModel, entry: &InstModel, now: &RegisterAccess) {
        if entry.unit == ExecUnit::Uncounted {
            return;
        }
        self.check_in_order(model, entry, now);
        self.check_out_of_order(model, entry, now);
    }

    fn check_in_order(&mut self, model: &ScoreboardModel, entry: &InstModel, now: &RegisterAccess) {
        let counters = self.ended.iter_mut().zip(self.issued);
        for (queue, (ended, issued)) in self.in_order.iter().zip(counters) {
            for earlier in queue.iter().rev() {
                let distance = issued - earlier.number;
                let pipe = earlier.pipe;
                if earlier.number < *ended || distance > depth(pipe) {
                    continue;
                }
                let (same, slower) = match entry.unit {
                    ExecUnit::InOrder(own) if model.one_pipe => {
                        (true, pipe == Pipe::Long && own != Pipe::Long)
                    }
                    ExecUnit::InOrder(own) => (own == pipe, false),
                    _ => (false, false),
                };
                let counts = |kind, rewrites| match kind {
                    HazardKind::ReadAfterWrite => true,
                    HazardKind::WriteAfterWrite => !same || slower || rewrites,
                    HazardKind::WriteAfterRead => !same,
                };
                let found = conflict(model, &earlier.access, now, true, counts);
                if let Some((kind, place)) = found {
                    let letter = if model.one_pipe { "" } else { pipe.letter() };
                    self.findings.push(MissingWait {
                        kind,
                        earlier: earlier.access.pc,
                        place,
                        cover: format!("{letter}@{}", distance.min(7)),
                    });
                    *ended = earlier.number + 1;
                }
            }
        }
    }

    fn check_out_of_order(
        &mut self,
        model: &ScoreboardModel,
        entry: &InstModel,
        now: &RegisterAccess,
    ) {
        let function = match entry.unit {
            ExecUnit::OutOfOrder(f) => Some(f),
            _ => None,
        };
        for at in (0..self.out_of_order.len()).rev() {
            let (before, rest) = self.out_of_order.split_at_mut(at);
            let Some(o) = rest.first_mut() else {
                continue;
            };
            // The instructions of a sequence of `dpas` do not depend on each other.
            let together = o.in_sequence && o.token.is_none();
            if together && function == Some(Function::Systolic) {
                continue;
            }
            let reads_matter = !o.reads_done && function != Some(o.function);
            let found = conflict(model, &o.access, now, false, |kind, _| {
                kind != HazardKind::WriteAfterRead || reads_matter
            });
            let Some((kind, place)) = found else {
                continue;
            };
            let wait = match kind {
                HazardKind::WriteAfterRead => "src",
                _ => "dst",
            };
            self.findings.push(MissingWait {
                kind,
                earlier: o.access.pc,
                place,
                cover: match o.token {
                    Some(n) => format!("${n}.{wait}"),
                    None => format!("a token on the earlier instruction, and its .{wait},"),
                },
            });
            o.reads_done = true;
            for b in before.iter_mut().filter(|b| b.function == o.function) {
                b.reads_done = true;
            }
            if kind != HazardKind::WriteAfterRead {
                o.access.clear();
            }
        }
    }
}
