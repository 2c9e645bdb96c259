//! Remedies for hardware errata (the table is in [`crate::target::errata`]), applied before
//! physical instructions.

use super::Physical;
use crate::isel::lower_sends;
use crate::target::Target;
use crate::target::errata::{Remedy, remedies};
use gantry_isa_gen::effects::{self, Access, Storage};
use gantry_isa_gen::message::{MessageError, MsgOp, Surface};
use gantry_isa_gen::{
    self as isa, Cond, CondMod, Dst, ExecSize, Inst, InstOpts, Op, Reg, RegRef, Region, Src,
    SrcMods, Type,
};

type Insertions = Vec<(usize, Inst<Reg>)>;

/// Applies the remedies that the target's platform needs.
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

/// Returns true for each memory that code writes and others read: global memory, and local.
fn writes(insts: &[Inst<Reg>], target: &Target) -> [bool; 2] {
    let mut out = [false; 2];
    for inst in insts.iter().filter(|i| i.op.is_send()) {
        let message = effects::message(target.platform(), inst);
        // An unknown message may be a write.
        let known = message.is_some_and(|m| !matches!(m.op, MsgOp::Raw { .. }));
        out[0] |= !known;
        effects::accesses(
            target.platform(),
            inst,
            |_| None,
            |a: Access| match a {
                Access {
                    storage: Storage::Global,
                    write: true,
                    ..
                } => out[0] = true,
                Access {
                    storage: Storage::Slm,
                    write: true,
                    ..
                } => out[1] = true,
                _ => {}
            },
        );
    }
    out
}

/// Returns a fence, and the instruction that waits for it, for each written memory before each end
/// of the thread. No value is live there but the payload of the last message, which is the thread
/// header.
fn fences(insts: &[Inst<Reg>], target: &Target) -> Result<Insertions, MessageError> {
    let [global, slm] = writes(insts, target);
    let mut out = Insertions::new();
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
        // GRFs next to the payload, where values seldom are.
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

/// Returns a `csel` of the first four words of a register from themselves. It has a condition, but
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

/// Returns true if an instruction may disable channels.
fn diverges(inst: &Inst<Reg>) -> bool {
    let branch = matches!(
        inst.op,
        Op::If | Op::While | Op::Goto | Op::Break | Op::Cont | Op::Halt
    );
    let answers = inst.op.is_send() && !inst.dst.is_null() && inst.pred.is_some();
    branch || answers
}

fn reads(insts: &[Inst<Reg>]) -> Insertions {
    let all = insts.iter().enumerate().filter(|(_, i)| diverges(i));
    all.map(|(n, _)| (n, read_again())).collect()
}
