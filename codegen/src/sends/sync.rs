//! Barriers, fences and the end of the thread.

use super::{Part, Payloads, Sends, forms, instruction};
use crate::ir::FenceSpaces;
use crate::target::Target;
use crate::vcode::bale::{BaleSrc, Operation};
use crate::vcode::operand::{dst, imm, scalar, scalar_src, synchronize, thread_switch, uniform};
use crate::vcode::{MInst, VReg, VirtReg};
use gantry_isa_gen::message::{Message, MessageError, MsgOp};
use gantry_isa_gen::{self as isa, Arf, Dst, ExecSize, Op, Reg, RegRef, Src, SyncFn, Type};

/// The last instruction of a thread, with a copy of the thread header as its payload.
///
/// # Errors
/// The platform lacks the message.
pub(crate) fn end_thread(
    target: &Target,
    payload: RegRef<Reg>,
) -> Result<isa::Inst<Reg>, MessageError> {
    let op = MsgOp::ThreadEnd {
        no_dereference: true,
    };
    let message = Message::new(target.platform(), op);
    let mut send = instruction::of_message(target, &message, ExecSize::S8, Reg::NULL, false)?;
    send.srcs[0] = scalar(payload, Type::Ud);
    Ok(send)
}

/// A fence of one kind of memory before the thread ends, and the instruction that waits for it. The thread header is its payload; the answer comes to
/// a register that nobody else needs.
///
/// # Errors
/// The platform lacks the message.
pub(crate) fn end_fence(
    target: &Target,
    slm: bool,
    header: RegRef<Reg>,
    answer: RegRef<Reg>,
) -> Result<[isa::Inst<Reg>; 2], MessageError> {
    let op = MsgOp::Fence {
        slm,
        commit: true,
        flush: 0,
    };
    let message = Message::new(target.platform(), op);
    let mut send = instruction::of_message(target, &message, ExecSize::S8, Reg::NULL, false)?;
    send.dst = dst(answer, Type::Ud);
    send.srcs[0] = scalar(header, Type::Ud);
    let null = Dst::null(Reg::NULL, Type::Ud);
    Ok([send, uniform(Op::Mov, null, [scalar(answer, Type::Ud)])])
}

impl Sends<'_> {
    pub(super) fn barrier(&mut self, header: VReg) {
        let t = self.out.temp_grfs(1);
        let dwords = self.out.grf.bytes / Type::Ud.bytes();
        let zero = Operation::new(Op::Mov, Type::Ud, &[BaleSrc::Imm(0, Type::Ud)]);
        self.out.bale(t, dwords, zero);
        // The barrier's id and count, from the thread header.
        let mask = u64::from(self.target.abi().barrier_mask);
        self.out.emit(MInst::Op {
            inst: uniform(
                Op::And,
                dst(RegRef::new(VirtReg::Grf(t), 8), Type::Ud),
                [scalar_src(header, 8, Type::Ud), imm(mask, Type::Ud)],
            ),
            starts: false,
            keeps: None,
        });
        let p = Payloads {
            dst: None,
            src0: (t, 0),
            src1: None,
        };
        self.send(MsgOp::Barrier, &Part::whole(ExecSize::S1), p, false);
        self.out.emit_op(match self.target.features().swsb {
            true => synchronize(SyncFn::Bar, VirtReg::NULL),
            false => {
                let n0 = RegRef::new(VirtReg::Phys(Reg::Arf(Arf::Notification, 0)), 0);
                uniform(Op::Wait, Dst::None, [scalar(n0, Type::Ud)])
            }
        });
    }

    /// Fences with a commit, and for each an instruction that waits for it. Where local memory lies in the L3 cache, one fence orders both.
    pub(super) fn fence(&mut self, header: VReg, spaces: FenceSpaces) {
        let one = self.target.features().slm_in_l3;
        if spaces.slm() && !one {
            self.fence_of(header, true, 0);
        }
        if spaces.global() || one {
            let flush = forms::global_flush(self.target);
            self.fence_of(header, false, flush);
        }
    }

    fn fence_of(&mut self, header: VReg, slm: bool, flush: u8) {
        let t = self.out.temp_grfs(1);
        let p = Payloads {
            dst: Some((t, 0)),
            src0: (header, 0),
            src1: None,
        };
        let op = MsgOp::Fence {
            slm,
            commit: true,
            flush,
        };
        self.send(op, &Part::whole(ExecSize::S8), p, true);
        let null = Dst::null(VirtReg::NULL, Type::Ud);
        let mut mov: isa::Inst<VirtReg> =
            uniform(Op::Mov, null, [scalar_src(t, 0, Type::Ud), Src::None]);
        mov.opts = thread_switch(self.target);
        self.out.emit_op(mov);
    }
}
