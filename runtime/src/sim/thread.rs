//! Hardware thread: its registers, its channels and the loop that runs it.

use super::alu;
use super::barrier::Joined;
use super::fast::Ieee;
use super::host::{Host, Simd, Work};
use super::program::{
    BarrierId, DstOp, Jump, LEFT_CODE, MicroOp, MicroOpKind, NO_OP, Pred, Program, SrcOp,
};
use super::regs::{self, Regs};
use super::send::{self, SendOutcome};
use super::special::{self, Special};
use super::watch::Observer;
use super::worker::Group;
use crate::control::ScratchStats;
use gantry_isa_gen::message::Dir;
use gantry_isa_gen::sem::FpMode;

/// Reason why a thread stopped running for now.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum StopReason {
    /// Its end (EOT).
    Ended,
    /// Wait for a barrier.
    Waiting,
    /// Wait for the other thread of its pair, in `dpasw`.
    Fused,
    /// End of its time slice.
    Slice,
    /// Fault that ends the launch.
    Fault(String),
}

/// Counts of a thread's work.
#[derive(Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) instructions: u64,
    pub(super) channels: u64,
    pub(super) sends: u64,
    pub(super) bytes_read: u64,
    pub(super) bytes_written: u64,
    pub(super) scratch: ScratchStats,
}

impl Counts {
    pub(super) fn add(&mut self, o: &Counts) {
        self.instructions += o.instructions;
        self.channels += o.channels;
        self.sends += o.sends;
        self.bytes_read += o.bytes_read;
        self.bytes_written += o.bytes_written;
        self.scratch.reads += o.scratch.reads;
        self.scratch.writes += o.scratch.writes;
        self.scratch.bytes_read += o.scratch.bytes_read;
        self.scratch.bytes_written += o.scratch.bytes_written;
        self.scratch.end = self.scratch.end.max(o.scratch.end);
    }

    /// Counts a scratch block message of `hwords` hwords, from `first` on.
    pub(super) fn scratch_block(&mut self, dir: Dir, hwords: u8, first: u16) {
        let bytes = u64::from(hwords) * 32;
        let (messages, moved) = match dir {
            Dir::Read => (&mut self.scratch.reads, &mut self.scratch.bytes_read),
            Dir::Write => (&mut self.scratch.writes, &mut self.scratch.bytes_written),
        };
        *messages += 1;
        *moved += bytes;
        self.scratch.end = self.scratch.end.max(u64::from(first) * 32 + bytes);
    }
}

/// Hardware thread.
pub(super) struct Thread {
    pub(super) regs: Regs,
    /// Contents of the accumulators beyond their registers.
    pub(super) acc_wide: alu::WideAcc,
    /// Special accumulators of math macros, if the thread has used them.
    pub(super) special_acc: Option<Box<special::Accumulators>>,
    /// True while it waits in `dpasw` with its half of source 2.
    pub(super) lends: bool,
    /// Both halves of source 2, once the pair has them.
    pub(super) lent: Option<Vec<u8>>,
    /// Index of the operation to run next.
    pub(super) pc: u32,
    /// Channels at `pc`.
    pub(super) active: u32,
    /// Channels that wait to rejoin.
    waiting: u32,
    /// Channels of the subroutine that runs. All others wait for its end, wherever they are.
    call_mask: u32,
    /// Operation index at which each waiting channel waits.
    wait_at: [u32; 32],
    pub(super) mode: FpMode,
    /// Float types that follow IEEE in this mode.
    ieee: Ieee,
    pub(super) counts: Counts,
    /// True for a thread that has ended or not started.
    pub(super) done: bool,
    /// Barriers signalled and not yet waited for.
    pub(super) barriers: Joined,
    pub(super) scratch: alu::LaneBuffers,
    /// Vector unit of the host.
    pub(super) host: Host,
}

/// Call of [`Thread::run_here`].
struct RunThread<'a, 'w, O> {
    thread: &'a mut Thread,
    program: &'a Program,
    group: &'a mut Group<'w>,
    slice: u64,
    observer: &'a mut O,
}

impl<O: Observer> Work for RunThread<'_, '_, O> {
    type Output = StopReason;
    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> StopReason {
        self.thread
            .run_here(self.program, self.group, self.slice, self.observer)
    }
}

impl Thread {
    /// Creates a thread whose GRFs have `grf_end` bytes in total.
    pub(super) fn new(grf_end: u32) -> Thread {
        Thread {
            regs: Regs::new(grf_end),
            acc_wide: [0; alu::WIDE_ACC],
            special_acc: None,
            lends: false,
            lent: None,
            pc: 0,
            active: 0,
            waiting: 0,
            call_mask: u32::MAX,
            wait_at: [0; 32],
            mode: FpMode::of_cr0(0),
            ieee: Ieee::empty(),
            counts: Counts::default(),
            done: true,
            barriers: Joined::default(),
            scratch: alu::LaneBuffers::default(),
            host: Host::detect(),
        }
    }

    /// Resets to a fresh thread with the channels `dispatch`, at the operation `pc`.
    pub(super) fn reset(&mut self, dispatch: u32, pc: u32) {
        self.regs.clear();
        self.acc_wide = [0; alu::WIDE_ACC];
        self.special_acc = None;
        self.lends = false;
        self.lent = None;
        self.pc = pc;
        self.active = dispatch;
        self.waiting = 0;
        self.call_mask = u32::MAX;
        self.set_mode(0);
        self.counts = Counts::default();
        self.done = false;
        self.barriers = Joined::default();
        self.regs.set_u32(regs::SR0 + 8, dispatch);
    }

    /// Returns the channels of an operation that run. Bit 0 of the mask is its first channel.
    #[inline(always)]
    fn enabled(&self, op: &MicroOp) -> u32 {
        let mask = if op.no_mask {
            op.full
        } else {
            self.active >> op.shift & op.full
        };
        match op.pred {
            Pred::None => mask,
            _ => mask & self.predicate(op.pred),
        }
    }

    /// Returns the channels that a predicate enables.
    #[inline(always)]
    pub(super) fn predicate(&self, pred: Pred) -> u32 {
        // A flag register's bits wrap within it.
        let from = |bit: u8| {
            let flag = self.regs.flag(bit / 32);
            flag.rotate_right(u32::from(bit & 31))
        };
        let (bits, invert) = match pred {
            Pred::None => return u32::MAX,
            Pred::Seq { bit, invert } => (from(bit), invert),
            Pred::Vertical { bit, all, invert } => {
                let (a, b) = (from(bit & 31), from(bit & 31 | 32));
                (if all { a & b } else { a | b }, invert)
            }
            Pred::Horizontal {
                bit,
                group,
                all,
                invert,
            } => {
                let flags = from(bit);
                let ones = gantry_isa_gen::sem::mask(usize::from(group));
                let mut out = 0u32;
                let mut at = 0u32;
                while at < 32 {
                    let part = flags >> at & ones;
                    let yes = if all { part == ones } else { part != 0 };
                    if yes {
                        out |= ones << at;
                    }
                    at += u32::from(group).max(1);
                }
                (out, invert)
            }
        };
        if invert { !bits } else { bits }
    }

    /// Runs until the thread stops, for at most `slice` instructions.
    pub(super) fn run<O: Observer>(
        &mut self,
        program: &Program,
        group: &mut Group<'_>,
        slice: u64,
        observer: &mut O,
    ) -> StopReason {
        self.host.call(RunThread {
            thread: self,
            program,
            group,
            slice,
            observer,
        })
    }

    #[inline(always)]
    fn run_here<O: Observer>(
        &mut self,
        program: &Program,
        group: &mut Group<'_>,
        slice: u64,
        observer: &mut O,
    ) -> StopReason {
        let end = self.counts.instructions.saturating_add(slice);
        while self.counts.instructions < end {
            if !O::OBSERVES {
                self.handlers(program, end - self.counts.instructions);
                if self.counts.instructions >= end {
                    break;
                }
            }
            let Some(op) = program.ops.get(self.pc as usize) else {
                return StopReason::Fault(LEFT_CODE.to_owned());
            };
            if op.join && self.waiting != 0 {
                self.rejoin();
            }
            let pc = self.pc;
            let mask = self.enabled(op);
            match op.kind {
                // The wait runs when the barrier is complete.
                MicroOpKind::Wait(id)
                    if group.barriers().must_wait(&self.barriers, self.barrier(id)) =>
                {
                    return StopReason::Waiting;
                }
                MicroOpKind::Special(Special::Fused(_)) if mask != 0 && self.lent.is_none() => {
                    self.lends = true;
                    return StopReason::Fused;
                }
                _ => {}
            }
            if O::OBSERVES {
                observer.before(self, pc, op, mask);
            }
            self.counts.instructions += 1;
            self.counts.channels += u64::from(mask.count_ones());
            let stop = self.step(program, group, op, mask);
            if O::OBSERVES {
                observer.after(self, pc, op, mask);
            }
            if let Some(stop) = stop {
                return stop;
            }
        }
        StopReason::Slice
    }

    /// Runs operations that have handlers, up to the first that has none, and at most `most`. Only
    /// the handlers access the thread meanwhile.
    #[inline(always)]
    fn handlers(&mut self, program: &Program, most: u64) {
        let (mut pc, mut instructions, mut channels) = (self.pc, 0, 0);
        while let Some(op) = program.ops.get(pc as usize)
            && let MicroOpKind::Fast(run) = op.kind
            && self.ieee.contains(op.needs)
            && instructions < most
        {
            if op.join && self.waiting != 0 {
                self.pc = pc;
                self.rejoin();
            }
            let mask = self.enabled(op);
            instructions += 1;
            channels += u64::from(mask.count_ones());
            if mask != 0 {
                run(self, op, mask);
            }
            pc += 1;
        }
        self.pc = pc;
        self.counts.instructions += instructions;
        self.counts.channels += channels;
    }

    /// Returns the id of the barrier that is waited for.
    fn barrier(&self, id: BarrierId) -> u32 {
        match id {
            BarrierId::Known(id) => id,
            BarrierId::Reg(at) => self.regs.u32(at) & 0xff,
        }
    }

    /// Runs an operation in the channels of `mask`. Returns the reason if the thread stops.
    #[inline(always)]
    fn step(
        &mut self,
        program: &Program,
        group: &mut Group<'_>,
        op: &MicroOp,
        mask: u32,
    ) -> Option<StopReason> {
        match &op.kind {
            MicroOpKind::Fast(run) if self.ieee.contains(op.needs) => {
                if mask != 0 {
                    run(self, op, mask);
                }
                self.pc += 1;
            }
            MicroOpKind::Fast(_)
            | MicroOpKind::Alu
            | MicroOpKind::Special(_)
            | MicroOpKind::Movi => {
                if mask != 0 {
                    if op.special {
                        self.refresh(op);
                    }
                    let done = match op.kind {
                        MicroOpKind::Special(s) => special::execute(self, op, s, mask),
                        _ => alu::execute(self, op, mask),
                    };
                    if let Err(why) = done {
                        return Some(StopReason::Fault(why));
                    }
                    if op.special {
                        self.set_mode(self.regs.u32(regs::CR0));
                    }
                }
                self.pc += 1;
            }
            MicroOpKind::Send(s) => {
                self.counts.sends += 1;
                match send::execute(self, op, s, mask, group) {
                    Ok(SendOutcome::Next) => self.pc += 1,
                    Ok(SendOutcome::Ended) => {
                        self.done = true;
                        return Some(StopReason::Ended);
                    }
                    Err(why) => return Some(StopReason::Fault(why)),
                }
            }
            MicroOpKind::Wait(id) => {
                let id = self.barrier(*id);
                if let Err(why) = group.barriers().pass(&mut self.barriers, id) {
                    return Some(StopReason::Fault(why));
                }
                self.regs.set_u32(regs::N0, 0);
                self.pc += 1;
            }
            MicroOpKind::Bad(why) => return Some(StopReason::Fault(why.clone())),
            branch => {
                if let Err(why) = self.branch(program, op, branch, mask) {
                    return Some(StopReason::Fault(why));
                }
            }
        }
        None
    }

    /// Sets the floating-point mode from a `cr0.0` value.
    pub(super) fn set_mode(&mut self, cr0: u32) {
        self.mode = FpMode::of_cr0(cr0);
        self.ieee = Ieee::of(&self.mode);
    }

    /// Returns the channels of the running subroutine that wait at an operation.
    #[inline(always)]
    fn waiting_at(&self, at: u32) -> u32 {
        let mut here = 0;
        for (ch, w) in self.wait_at.iter().enumerate() {
            here |= u32::from(*w == at) << ch;
        }
        here & self.waiting & self.call_mask
    }

    /// Activates the channels that wait at `pc`.
    #[inline(always)]
    fn rejoin(&mut self) {
        let here = self.waiting_at(self.pc);
        self.waiting &= !here;
        self.active |= here;
    }

    /// Updates computed registers before they are read.
    fn refresh(&mut self, op: &MicroOp) {
        self.regs.set_u32(regs::CE0, self.active);
        self.regs.set_u32(regs::IP, op.ip);
        // The timestamp counts instructions, so it grows and is the same in every run.
        let now = self.counts.instructions;
        self.regs.set_u32(regs::TM0, now as u32);
        self.regs.set_u32(regs::TM0 + 4, (now >> 32) as u32);
    }

    /// Makes channels wait at an operation.
    #[inline(always)]
    fn park(&mut self, channels: u32, at: u32) {
        for (ch, w) in self.wait_at.iter_mut().enumerate() {
            *w = if channels >> ch & 1 == 1 { at } else { *w };
        }
        self.active &= !channels;
        self.waiting |= channels;
    }

    /// Continues after a branch at the next operation if a channel runs or waits there, else at
    /// `jip`.
    #[inline(always)]
    fn fall_or_jump(&mut self, op: &MicroOp, jip: u32) -> Result<(), String> {
        let next = self.pc + 1;
        if self.active != 0 || self.waiting_at(next) != 0 {
            self.pc = next;
            return Ok(());
        }
        self.jump(op, jip)
    }

    fn jump(&mut self, op: &MicroOp, to: u32) -> Result<(), String> {
        if to == NO_OP {
            return Err(format!(
                "the branch at {:#x} leads to no instruction",
                op.ip
            ));
        }
        self.pc = to;
        Ok(())
    }

    #[inline(always)]
    fn branch(
        &mut self,
        program: &Program,
        op: &MicroOp,
        kind: &MicroOpKind,
        mask: u32,
    ) -> Result<(), String> {
        // Masks by channel number: channels that take the branch, and those of the instruction that
        // do not.
        let taken = mask << op.shift & self.active;
        let scope = op.full << op.shift & self.active;
        let rest = scope & !taken;
        match *kind {
            MicroOpKind::Jmpi(Jump { jip, uip }) => {
                if mask & 1 == 0 {
                    self.pc += 1;
                    return Ok(());
                }
                if uip != NO_OP {
                    // The distance is in a register, from an instruction.
                    let from = program.ops.get(uip as usize).map_or(0, |o| o.ip);
                    let distance = self.scalar_source(op) as i32;
                    return self.jump(op, program.at(i64::from(from) + i64::from(distance)));
                }
                self.jump(op, jip)
            }
            MicroOpKind::If(j) => {
                self.park(rest, j.jip);
                self.fall_or_jump(op, j.jip)
            }
            MicroOpKind::Else(j) => {
                self.park(taken, j.uip);
                self.fall_or_jump(op, j.jip)
            }
            MicroOpKind::Join(j) => {
                // A `join` or `endif` at the very end of a nest has no further target.
                if j.jip == NO_OP {
                    self.pc += 1;
                    return Ok(());
                }
                self.fall_or_jump(op, j.jip)
            }
            MicroOpKind::While(j) => {
                if taken == 0 {
                    self.pc += 1;
                    return Ok(());
                }
                self.park(rest, self.pc + 1);
                self.jump(op, j.jip)
            }
            MicroOpKind::Leave(j) => {
                self.park(taken, j.uip);
                self.fall_or_jump(op, j.jip)
            }
            // A forward `goto` is like `if`: the channels whose predicate is false leave. With
            // branch control, as backward ones have it, those whose predicate is true do.
            MicroOpKind::Goto(j, false) => {
                self.park(rest, j.uip);
                self.fall_or_jump(op, j.jip)
            }
            MicroOpKind::Goto(j, true) => {
                if taken == 0 {
                    return self.fall_or_jump(op, j.jip);
                }
                self.park(rest, self.pc + 1);
                self.jump(op, j.uip)
            }
            MicroOpKind::Brd(j) => {
                self.park(taken, j.jip);
                self.fall_or_jump(op, j.jip)
            }
            MicroOpKind::Brc(j) => {
                self.park(taken, j.uip);
                self.fall_or_jump(op, j.jip)
            }
            MicroOpKind::Call(j) => self.call(program, op, (taken, rest), j.jip),
            MicroOpKind::Calla => {
                let to = i64::from(self.scalar_source(op) as u32);
                self.call(program, op, (taken, rest), program.at(to))
            }
            MicroOpKind::Ret => {
                let [back, mask] = self.return_address(op);
                let back = program.at(i64::from(back));
                // Without a predicate all active channels return.
                let taken = match op.pred {
                    Pred::None => self.active,
                    _ => taken,
                };
                if taken != 0 && back == NO_OP {
                    return Err("`ret` leads to no instruction".to_owned());
                }
                self.park(taken, back);
                if self.active != 0 {
                    self.pc += 1;
                    return Ok(());
                }
                // Channels of the subroutine that have not returned.
                let inside = self.waiting & self.call_mask;
                let next = self
                    .wait_at
                    .iter()
                    .enumerate()
                    .filter(|(ch, at)| inside >> ch & 1 == 1 && **at != back)
                    .map(|(_, at)| *at)
                    .min();
                match next {
                    Some(next) => self.jump(op, next),
                    None => {
                        self.call_mask = mask;
                        self.jump(op, back)
                    }
                }
            }
            _ => Err("not a branch".to_owned()),
        }
    }

    /// Returns the first element of source 0.
    fn scalar_source(&self, op: &MicroOp) -> u64 {
        let bytes = op.alu.srcs[0].map_or(4, |t| t.bytes());
        match &op.srcs[0] {
            SrcOp::Scalar { at } | SrcOp::Packed { at } | SrcOp::Rect { at, .. } => {
                self.regs.element(*at, bytes)
            }
            SrcOp::Value(v) => *v,
            SrcOp::Imm(v) => v[0],
            _ => 0,
        }
    }

    /// Calls a subroutine with channels `taken`, while channels `rest` wait after the call. The
    /// return address and the previous call mask go to the destination (Skylake PRM, Vol. 2a,
    /// "call").
    fn call(
        &mut self,
        program: &Program,
        op: &MicroOp,
        (taken, rest): (u32, u32),
        to: u32,
    ) -> Result<(), String> {
        if let DstOp::Direct { at, .. } = op.dst {
            let back = program.ops.get(self.pc as usize + 1).map_or(0, |o| o.ip);
            self.regs.set_u32(at, back);
            self.regs.set_u32(at + 4, self.call_mask);
        }
        if taken == 0 {
            self.pc += 1;
            return Ok(());
        }
        self.park(rest, self.pc + 1);
        self.call_mask = self.active;
        self.jump(op, to)
    }

    /// Returns what a call wrote: the return address and the call mask.
    fn return_address(&self, op: &MicroOp) -> [u32; 2] {
        match &op.srcs[0] {
            SrcOp::Scalar { at } | SrcOp::Packed { at } | SrcOp::Rect { at, .. } => {
                [self.regs.u32(*at), self.regs.u32(*at + 4)]
            }
            _ => [self.scalar_source(op) as u32, u32::MAX],
        }
    }
}
