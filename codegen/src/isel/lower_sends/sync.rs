//! Barriers, fences and the end of the thread.

use super::{MessagePart, Payloads, SendLowering, forms, instruction};
use crate::ir::FenceSpaces;
use crate::mir::bale::{BaleSrc, Operation};
use crate::mir::logical::{BarrierPart, Lane};
use crate::mir::operand::{dst, imm, scalar, scalar_src, synchronize, thread_switch, uniform};
use crate::mir::{MInst, VReg, VirtReg};
use crate::target::Target;
use crate::target::abi::Barrier;
use gantry_isa_gen::message::{Message, MessageError, MsgOp};
use gantry_isa_gen::{self as isa, Arf, Dst, ExecSize, Op, Reg, RegRef, Src, SyncFn, Type};
use smallvec::{SmallVec, smallvec};

/// Returns the last instruction of a thread, with a copy of the thread header as its payload.
///
/// # Errors
/// The platform lacks the message.
pub(crate) fn end_thread(
    target: &Target,
    payload: RegRef<Reg>,
) -> Result<isa::Inst<Reg>, MessageError> {
    let message = Message::new(target.platform(), forms::thread_end(target));
    let mut send = instruction::of_message(target, &message, ExecSize::S8, Reg::NULL, false)?;
    send.srcs[0] = scalar(payload, Type::Ud);
    Ok(send)
}

/// Returns a load of `n` dwords of the thread payload to registers from `to` on. `offset` is the
/// register with the offset in general state.
///
/// # Errors
/// The platform lacks the message.
pub(crate) fn load_payload(
    target: &Target,
    n: u8,
    offset: RegRef<Reg>,
    to: RegRef<Reg>,
) -> Result<isa::Inst<Reg>, MessageError> {
    let exec = ExecSize::S1;
    let op = forms::payload_load(n);
    let message = Message::split_for(target.platform(), op, exec.channels());
    let mut send = instruction::of_message(target, &message, exec, Reg::NULL, false)?;
    send.dst = dst(to, Type::Ud);
    send.srcs[0] = scalar(offset, Type::Ud);
    Ok(send)
}

/// Returns a fence of one kind of memory before the thread ends, and the instruction that waits for
/// it. The thread header is its payload, and an unused register takes the response.
///
/// # Errors
/// The platform lacks the message.
pub(crate) fn end_fence(
    target: &Target,
    slm: bool,
    header: RegRef<Reg>,
    answer: RegRef<Reg>,
) -> Result<[isa::Inst<Reg>; 2], MessageError> {
    let (op, exec) = forms::end_fence(target, slm);
    let message = Message::new(target.platform(), op);
    let mut send = instruction::of_message(target, &message, exec, Reg::NULL, false)?;
    send.dst = dst(answer, Type::Ud);
    send.srcs[0] = scalar(header, Type::Ud);
    let null = Dst::null(Reg::NULL, Type::Ud);
    Ok([send, uniform(Op::Mov, null, [scalar(answer, Type::Ud)])])
}

impl SendLowering<'_> {
    pub(super) fn barrier(&mut self, header: VReg, named: Option<(u8, Lane)>, part: BarrierPart) {
        if part != BarrierPart::Wait {
            self.barrier_message(header, named);
        }
        if part != BarrierPart::Arrive {
            self.barrier_wait(named.map(|n| n.0));
        }
    }

    /// Emits the message that tells that the thread has arrived.
    fn barrier_message(&mut self, header: VReg, named: Option<(u8, Lane)>) {
        if named.is_some() && !self.target.features().named_barriers {
            return self.fail("a named barrier where the hardware has none");
        }
        let t = self.out.temp_grfs(1);
        let dwords = self.out.grf.bytes / Type::Ud.bytes();
        let zero = Operation::new(Op::Mov, Type::Ud, &[BaleSrc::Imm(0, Type::Ud)]);
        self.out.bale(t, dwords, zero);
        let to = |at, ty| dst(RegRef::new(VirtReg::grf(t), at), ty);
        // There are as many producers as consumers.
        let counts = |from| {
            let mut mov = uniform(Op::Mov, to(10, Type::Ub), [from]);
            mov.exec = ExecSize::S2;
            mov
        };
        let insts: SmallVec<[isa::Inst<VirtReg>; 2]> = match (named, self.target.abi().barrier) {
            (Some((number, Lane::Known(n))), _) => {
                let all = u64::from(number) | u64::from(n & 0xff) << 16 | u64::from(n & 0xff) << 24;
                smallvec![uniform(Op::Mov, to(8, Type::Ud), [imm(all, Type::Ud)])]
            }
            (Some((number, Lane::Reg(threads))), _) => {
                let number = uniform(Op::Mov, to(8, Type::Ud), [imm(number.into(), Type::Ud)]);
                smallvec![number, counts(scalar_src(threads, 0, Type::Ub))]
            }
            // From the thread header: the barrier's id and count, or the counts.
            (None, Barrier::Masked(mask)) => {
                let from = [scalar_src(header, 8, Type::Ud), imm(mask.into(), Type::Ud)];
                smallvec![uniform(Op::And, to(8, Type::Ud), from)]
            }
            (None, Barrier::Counted) => smallvec![counts(scalar_src(header, 11, Type::Ub))],
        };
        for inst in insts {
            self.out.emit(MInst::Op {
                inst,
                starts: false,
                keeps: None.into(),
            });
        }
        let p = Payloads {
            dst: None,
            src0: (t, 0),
            src1: None,
        };
        self.send(MsgOp::Barrier, &MessagePart::whole(ExecSize::S1), p, false);
    }

    /// Emits the instruction that waits for the other threads.
    fn barrier_wait(&mut self, named: Option<u8>) {
        self.out.emit_op(if self.target.features().swsb {
            let mut wait = synchronize(SyncFn::Bar, VirtReg::NULL);
            if let Some(number) = named {
                wait.srcs[0] = imm(number.into(), Type::Ud);
            }
            wait
        } else {
            let n0 = RegRef::new(VirtReg::phys(Reg::Arf(Arf::Notification, 0)), 0);
            uniform(Op::Wait, Dst::None, [scalar(n0, Type::Ud)])
        });
    }

    /// Emits fences with a commit, and for each an instruction that waits for it. `before_barrier`
    /// is set if no message comes between this and a barrier.
    pub(super) fn fence(&mut self, header: VReg, spaces: FenceSpaces, before_barrier: bool) {
        for (op, exec) in forms::fences(self.target, spaces, before_barrier) {
            self.fence_of(header, op, exec);
        }
    }

    fn fence_of(&mut self, header: VReg, op: MsgOp, exec: ExecSize) {
        let t = self.out.temp_grfs(1);
        let p = Payloads {
            dst: Some((t, 0)),
            src0: (header, 0),
            src1: None,
        };
        self.send(op, &MessagePart::whole(exec), p, true);
        let null = Dst::null(VirtReg::NULL, Type::Ud);
        let mut mov: isa::Inst<VirtReg> =
            uniform(Op::Mov, null, [scalar_src(t, 0, Type::Ud), Src::None]);
        mov.opts = thread_switch(self.target);
        self.out.emit_op(mov);
    }
}
