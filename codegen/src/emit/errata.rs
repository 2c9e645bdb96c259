//! What is done about what hardware does wrong ([`crate::target::errata`] has the table), where it
//! is done: before instructions whose places are known.

use super::Physical;
use crate::isel::lower_sends;
use crate::target::Target;
use crate::target::errata::{Remedy, remedies};
use gantry_isa_gen::message::{MessageError, MsgOp, Surface};
use gantry_isa_gen::perf::{self, Access, Store};
use gantry_isa_gen::{
    self as isa, Cond, CondMod, Dst, ExecSize, Inst, InstOpts, Op, Reg, RegRef, Region, Src,
    SrcMods, Type,
};

type Found = Vec<(usize, Inst<Reg>)>;

/// Applies what the target's platform needs.
///
/// # Errors
/// The platform lacks a message.
pub(super) fn apply(physical: &mut Physical, target: &Target) -> Result<(), MessageError> {
    for remedy in remedies(target.platform()) {
        let more = match remedy {
            Remedy::FenceBeforeEnd => fences(&physical.insts, target)?,
            Remedy::ReadAgain => reads(&physical.insts),
        };
        physical.insert(more);
    }
    Ok(())
}

/// Which memories code writes that others see: global memory, and local.
fn writes(insts: &[Inst<Reg>], target: &Target) -> [bool; 2] {
    let mut out = [false; 2];
    for inst in insts.iter().filter(|i| i.op.is_send()) {
        let message = perf::message(target.platform(), inst);
        // What a message does that is not known may be a write.
        let known = message.is_some_and(|m| !matches!(m.op, MsgOp::Raw { .. }));
        out[0] |= !known;
        perf::accesses(
            target.platform(),
            inst,
            |_| None,
            |a: Access| match a {
                Access {
                    store: Store::Global,
                    write: true,
                    ..
                } => out[0] = true,
                Access {
                    store: Store::Slm,
                    write: true,
                    ..
                } => out[1] = true,
                _ => {}
            },
        );
    }
    out
}

/// A fence and what waits for it, for each memory that is written, before each end of the thread.
/// Nothing lives there but the payload of the last message, which is the thread header.
fn fences(insts: &[Inst<Reg>], target: &Target) -> Result<Found, MessageError> {
    let [global, slm] = writes(insts, target);
    let mut out = Found::new();
    let spaces = [(global, Surface::Stateless), (slm, Surface::Slm)];
    for (n, inst) in insts.iter().enumerate() {
        let Src::Direct { at: header, .. } = inst.srcs[0] else {
            continue;
        };
        if !inst.opts.contains(InstOpts::EOT) {
            continue;
        }
        let Reg::Grf(payload) = header.reg else {
            continue;
        };
        // Beside the payload, where values seldom are.
        let beside = |n: u8| payload.checked_sub(n).unwrap_or(payload + n);
        let wanted = spaces.iter().filter(|s| s.0);
        for (answer, (_, space)) in (1u8..).zip(wanted) {
            let answer = RegRef::new(Reg::Grf(beside(answer)), 0);
            let fence = lower_sends::end_fence(target, *space == Surface::Slm, header, answer)?;
            out.extend(fence.map(|i| (n, i)));
        }
    }
    Ok(out)
}

/// A selection of the first four words of a register among themselves. It has a condition, and
/// writes no flag.
fn read_again() -> Inst<Reg> {
    let at = RegRef::new(Reg::Grf(0), 0);
    let ty = Type::W;
    let mut csel = Inst::new(Op::Csel, ExecSize::S4);
    csel.no_mask = true;
    csel.dst = Dst::Direct { at, hs: 1, ty };
    let mods = SrcMods::default();
    let source = |region| Src::Direct {
        at,
        region,
        ty,
        mods,
    };
    let row = source(Region::Ternary { vs: 4, hs: 1 });
    csel.srcs = [row, row, source(Region::Scalar3 { hs: 1 })];
    csel.cond = Some(CondMod {
        cond: Cond::Eq,
        flag: RegRef::new(Reg::Arf(isa::Arf::Flag, 0), 0),
    });
    csel
}

/// Whether channels may stay behind.
fn diverges(inst: &Inst<Reg>) -> bool {
    let branch = matches!(
        inst.op,
        Op::If | Op::While | Op::Goto | Op::Break | Op::Cont | Op::Halt
    );
    let answers = inst.op.is_send() && !inst.dst.is_null() && inst.pred.is_some();
    branch || answers
}

fn reads(insts: &[Inst<Reg>]) -> Found {
    let all = insts.iter().enumerate().filter(|(_, i)| diverges(i));
    all.map(|(n, _)| (n, read_again())).collect()
}
