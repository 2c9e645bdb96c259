//! Atomics: an operation on one element per lane.

use super::scattered::model;
use super::{MessagePart, PayloadStart, Payloads, SendLowering, forms, lsc};
use crate::ir::AtomicOp;
use crate::mir::bale::{BaleSrc, Operation, View};
use crate::mir::logical::Atomic;
use crate::mir::lowered::at;
use crate::mir::{MInst, VReg};
use gantry_isa_gen::message::{self, FloatAtomicOp, MsgOp};
use gantry_isa_gen::{Op, Type};

/// Returns the operation of messages on integers; `None` for one on floats.
pub(super) const fn integer_op(op: AtomicOp) -> Option<message::AtomicOp> {
    use message::AtomicOp as Int;
    Some(match op {
        AtomicOp::Fmin | AtomicOp::Fmax | AtomicOp::Fcmpxchg => return None,
        AtomicOp::Add => Int::Add,
        AtomicOp::Sub => Int::Sub,
        AtomicOp::Inc => Int::Inc,
        AtomicOp::Dec => Int::Dec,
        AtomicOp::And => Int::And,
        AtomicOp::Or => Int::Or,
        AtomicOp::Xor => Int::Xor,
        AtomicOp::Xchg => Int::Mov,
        AtomicOp::Smin => Int::IMin,
        AtomicOp::Smax => Int::IMax,
        AtomicOp::Umin => Int::UMin,
        AtomicOp::Umax => Int::UMax,
        AtomicOp::Cmpxchg => Int::CmpWr,
    })
}

impl Atomic {
    /// Returns the types of an element in a register and in a payload.
    fn moved(&self) -> (Type, Type) {
        match self.ty.bytes() {
            2 => (Type::Uw, Type::Ud),
            _ => (self.ty, self.ty),
        }
    }

    fn message(&self, part: &MessagePart) -> MsgOp {
        let (addr, _) = model(self.mem.space);
        let returns = self.result.is_some();
        let simd = part.simd;
        let word = self.ty.bytes() == 2;
        let float = |op| {
            if word {
                MsgOp::SizedFloatAtomic {
                    op,
                    bits: 16,
                    addr,
                    returns,
                    simd,
                }
            } else {
                MsgOp::FloatAtomic {
                    op,
                    addr,
                    returns,
                    simd,
                }
            }
        };
        let op = match (self.op, integer_op(self.op)) {
            (AtomicOp::Fmin, _) => return float(FloatAtomicOp::FMin),
            (AtomicOp::Fmax, _) => return float(FloatAtomicOp::FMax),
            (_, None) => return float(FloatAtomicOp::FCmpWr),
            (_, Some(op)) => op,
        };
        if word {
            return MsgOp::HalfAtomic {
                op,
                addr,
                returns,
                simd,
            };
        }
        MsgOp::Atomic {
            op,
            addr,
            qword: self.ty.bytes() == 8,
            returns,
            simd,
        }
    }
}

impl SendLowering<'_> {
    pub(super) fn atomic(&mut self, a: &Atomic) {
        let mut starts = !a.keeps;
        let (addr, _) = model(a.mem.space);
        for part in self.parts(
            a.lanes,
            a.mask,
            (false, false),
            forms::atomic_channels(self.target, addr),
        ) {
            let (src0, src1) = self.atomic_payload(a, &part);
            let op = if self.target.features().lsc {
                lsc::atomic(a.op, a.mem, a.ty)
            } else {
                a.message(&part)
            };
            let Some(out) = a.result else {
                let p = Payloads {
                    dst: None,
                    src0,
                    src1,
                };
                self.send(op, &part, p, false);
                continue;
            };
            let (ty, slot) = a.moved();
            let hold = part.channels * slot.bytes();
            let t = self.out.temp_grfs(self.out.grf.hold(hold));
            let p = Payloads {
                dst: Some((t, 0)),
                src0,
                src1,
            };
            if part.pred.is_some() {
                self.out.emit(MInst::Start { dst: t });
            }
            self.send(op, &part, p, true);
            let from = at(t, 0, part.lanes, slot).narrowed(ty).plain();
            let to = at(out, part.first * ty.bytes(), part.lanes, ty);
            let mov = Operation::new(Op::Mov, ty, &[from]);
            let begins = std::mem::replace(&mut starts, false);
            self.out.code.push(part.given(mov, to, begins));
        }
    }

    /// Emits addresses and operands. These are two payloads if sends are split and there are
    /// operands, else one.
    fn atomic_payload(
        &mut self,
        a: &Atomic,
        part: &MessagePart,
    ) -> (PayloadStart, Option<PayloadStart>) {
        let grf = self.out.grf;
        let channels = part.channels;
        let (_, ty) = model(a.mem.space);
        let operands: Vec<VReg> = a.data.into_iter().flatten().collect();
        let addr_bytes = grf.hold(channels * ty.bytes()) * grf.bytes;
        let (element, slot) = a.moved();
        let each = grf.hold(channels * slot.bytes()) * grf.bytes;
        let data_bytes = each * operands.len() as u32;
        let split = self.target.split_sends() && !operands.is_empty();
        let (addr, data) = if split {
            let (x, y) = (self.out.temp(addr_bytes), self.out.temp(data_bytes));
            ((x, 0), (y, 0))
        } else {
            let r = self.out.temp(addr_bytes + data_bytes);
            ((r, 0), (r, addr_bytes))
        };
        let src = at(a.addr, part.first * ty.bytes(), part.lanes, ty).plain();
        let o = match a.offset {
            0 => Operation::new(Op::Mov, ty, &[src]),
            n => {
                let i = BaleSrc::Imm(u64::from(n as u32), Type::D);
                Operation::new(Op::Add, ty, &[src, i])
            }
        };
        self.out
            .bale_at(at(addr.0, 0, part.lanes, ty), true, part.lanes, o);
        for (n, reg) in operands.into_iter().enumerate() {
            let first = part.first * element.bytes();
            let from = at(reg, first, part.lanes, element).plain();
            let to = View {
                offset: data.1 + n as u32 * each,
                ..at(data.0, 0, part.lanes, slot)
            };
            let mov = Operation::new(Op::Mov, slot, &[from]);
            self.out.bale_at(to, split && n == 0, part.lanes, mov);
        }
        (addr, split.then_some(data))
    }
}
