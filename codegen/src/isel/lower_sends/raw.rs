//! Messages with descriptors given by the IR. Lengths are checked against the descriptors, and the
//! instruction against the legality rules.

use super::{MessagePart, PayloadStart, Payloads, SendLowering, instruction};
use crate::mir::bale::Operation;
use crate::mir::logical::Raw;
use crate::mir::lowered::at;
use crate::mir::operand::{dst, scalar};
use crate::mir::{MInst, VReg};
use gantry_isa_gen::message::{Message, SendBits, Simd};
use gantry_isa_gen::{self as isa, ExecSize, Op, Reg, RegRef, Type};

impl SendLowering<'_> {
    pub(super) fn raw(&mut self, r: &Raw) {
        let Some(exec) = ExecSize::new(r.exec) else {
            return self.fail(format!("a message of {} channels", r.exec));
        };
        if let Err(what) = self.raw_fits(r, exec) {
            return self.fail(format!(
                "the message {:#x}, {:#x}: {what}",
                r.descs[0], r.descs[1]
            ));
        }
        let bits = SendBits::of_descs(r.descs[0], r.descs[1]);
        let part = MessagePart {
            first: 0,
            lanes: r.exec,
            simd: Simd::S8,
            channels: exec.channels(),
            exec,
            pred: r.mask,
            running: false,
            inverse: false,
            channel: 0,
        };
        let src0 = self.raw_payload(r.payload);
        let src1 = r.second.map(|s| self.raw_payload(s));
        let grf = self.out.grf;
        let Some((reply, bytes)) = r.reply else {
            let p = Payloads {
                dst: None,
                src0,
                src1,
            };
            return self.send_bits(bits, &part, p, false);
        };
        // The response is whole GRFs.
        let t = if self.holds(reply, 0, grf.hold(bytes) * grf.bytes) {
            self.at_grf(reply);
            reply
        } else {
            self.out.temp_grfs(grf.hold(bytes))
        };
        if r.keeps {
            // The message writes over the old value, in place or in a copy of whole GRFs.
            if t != reply {
                let old = at(reply, 0, bytes, Type::Ub).plain();
                self.out
                    .bale(t, bytes, Operation::new(Op::Mov, Type::Ub, &[old]));
            }
        } else if part.pred.is_some() {
            self.out.emit(MInst::Start { dst: t });
        }
        let p = Payloads {
            dst: Some((t, 0)),
            src0,
            src1,
        };
        self.send_bits(bits, &part, p, !r.keeps);
        if t != reply {
            let from = at(t, 0, bytes, Type::Ub).plain();
            let mov = Operation::new(Op::Mov, Type::Ub, &[from]);
            self.out.bale(reply, bytes, mov);
        }
    }

    /// Returns a value as a payload of whole GRFs.
    fn raw_payload(&mut self, (reg, bytes): (VReg, u32)) -> PayloadStart {
        let grf = self.out.grf;
        if self.holds(reg, 0, grf.hold(bytes) * grf.bytes) {
            self.at_grf(reg);
            return (reg, 0);
        }
        let t = self.out.temp_grfs(grf.hold(bytes));
        let from = at(reg, 0, bytes, Type::Ub).plain();
        let mov = Operation::new(Op::Mov, Type::Ub, &[from]);
        self.out.bale(t, bytes, mov);
        (t, 0)
    }

    /// Checks that payload lengths match the descriptors, and that the platform has the
    /// instruction.
    fn raw_fits(&self, r: &Raw, exec: ExecSize) -> Result<(), String> {
        let [ex, desc] = r.descs;
        let platform = self.target.platform();
        let message = Message::decode(platform, ex, desc).map_err(|e| e.to_string())?;
        if message.eot {
            return Err("it ends the thread".to_owned());
        }
        let grf = self.out.grf;
        let lengths = [
            ("a payload", Some(r.payload), message.src0_grfs),
            ("a second payload", r.second, message.src1_grfs),
            ("an answer", r.reply, message.response_grfs),
        ];
        for (what, value, said) in lengths {
            let have = value.map_or(0, |(_, bytes)| grf.hold(bytes));
            if have != u32::from(said) {
                return Err(format!(
                    "it says {what} of {said} registers, and has one of {have}"
                ));
            }
        }
        if r.second.is_some() && !self.target.split_sends() {
            return Err("no message here has two payloads".to_owned());
        }
        // Any registers that do not overlap.
        let first = |n: u32| RegRef::new(Reg::Grf(n.min(self.out.grf.count - 1) as u8), 0);
        let bits = SendBits::of_descs(ex, desc);
        let second = r.second.is_some();
        let mut inst = instruction::of_bits(self.target, bits, exec, Reg::NULL, second);
        if r.reply.is_some() {
            inst.dst = dst(first(1), Type::Ud);
        }
        let after = 1 + u32::from(message.response_grfs);
        inst.srcs[0] = scalar(first(after), Type::Ud);
        if second {
            inst.srcs[1] = scalar(first(after + u32::from(message.src0_grfs)), Type::Ud);
        }
        match isa::legal::check(platform, &inst).first() {
            Some(finding) => Err(finding.to_string()),
            None => Ok(()),
        }
    }
}
