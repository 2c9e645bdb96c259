//! The `send` of a message in the form of the platform. It has one payload or two, and its SFID in
//! a descriptor or in a field of its own.

use crate::mir::operand::scalar;
use crate::target::Target;
use gantry_isa_gen::message::{Message, MessageError, SendBits};
use gantry_isa_gen::{
    Desc, Dst, ExecSize, Inst, InstOpts, Op, RegRef, Register, SendDescs, Src, Subfn, Type,
};

/// Returns a `send` without a mask with descriptors `bits`. Destination and second payload are
/// null, the first payload is missing. `null` is the null register. `split` is set if it will get a
/// second payload.
pub(super) fn of_bits<R: Register>(
    target: &Target,
    bits: SendBits,
    exec: ExecSize,
    null: R,
    split: bool,
) -> Inst<R> {
    let f = target.features();
    let op = if split && f.split_send {
        Op::Sends
    } else {
        Op::Send
    };
    let mut send = Inst::new(op, exec);
    send.no_mask = true;
    send.dst = Dst::null(null, Type::Ud);
    send.opts.set(InstOpts::EOT, bits.eot);
    if f.unified_send {
        send.subfn = Subfn::Send(bits.sfid);
        send.srcs[1] = scalar(RegRef::new(null, 0), Type::Ud);
    }
    send.send = Some(SendDescs {
        ex: Desc::Imm(bits.ex_desc(target.platform())),
        desc: Desc::Imm(bits.desc),
        src1_len: f.src1_len.then_some(bits.src1_len),
    });
    send
}

/// Returns a `send` of a message.
///
/// # Errors
/// The platform lacks it.
pub(super) fn of_message<R: Register>(
    target: &Target,
    message: &Message,
    exec: ExecSize,
    null: R,
    split: bool,
) -> Result<Inst<R>, MessageError> {
    let bits = message.bits(target.platform())?;
    Ok(of_bits(target, bits, exec, null, split))
}

/// Returns true if an instruction has a second payload.
pub(crate) fn has_second<R: Copy + PartialEq>(inst: &Inst<R>, null: R) -> bool {
    matches!(inst.srcs[1], Src::Direct { at, .. } if at.reg != null)
}
