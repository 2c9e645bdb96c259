//! Which execution path an ALU operation can take: decided once, when a kernel is decoded.

use super::program::Kind;
use gantry_isa_gen::sem::AluOp;
use gantry_isa_gen::{Arf, Cond, Dst, Inst, InstOpts, Op, Reg, SrcMods, Type};

/// Which execution path an ALU operation can take.
pub(super) fn alu_kind(alu: &AluOp, inst: &Inst<Reg>) -> Kind {
    let touches_acc = inst.opts.contains(InstOpts::ACC_WR_EN)
        || matches!(inst.dst, Dst::Direct { at, .. } if matches!(at.reg, Reg::Arf(Arf::Acc, _)));
    if touches_acc {
        return Kind::Alu;
    }
    let types = || alu.srcs.iter().flatten().copied();
    let null = inst.dst.is_null();
    let single = |t: Type| matches!(t, Type::F | Type::Vf);
    let simple_cond = !matches!(alu.cond, Some(Cond::Ov | Cond::Un));
    match alu.op {
        Op::Mov
        | Op::Add
        | Op::Mul
        | Op::Mad
        | Op::Sel
        | Op::Cmp
        | Op::Lrp
        | Op::Rndd
        | Op::Rnde
        | Op::Rndz
        | Op::Rndu
            if simple_cond
                && types().all(single)
                && (alu.dst == Type::F || (null && alu.op == Op::Cmp)) =>
        {
            return Kind::FastF;
        }
        _ => {}
    }
    let small = |t: Type| t.is_int() && t.bytes() <= 4;
    if wide_fast(alu) {
        return Kind::FastI64;
    }
    if alu.sat || !simple_cond || !types().all(small) || !small(alu.dst) {
        return Kind::Alu;
    }
    let unsigned =
        types().all(|t| !t.is_signed()) && alu.mods.iter().all(|m| *m == SrcMods::default());
    let signed = types().all(|t| t.is_signed() || t.bytes() < 4);
    // Only the low bits of the result are kept, and they depend on the low bits of the sources alone.
    let modular = match alu.op {
        Op::Mov | Op::Add | Op::Mul | Op::Mad | Op::Xor | Op::And | Op::Or | Op::Not | Op::Shl => {
            !alu.mods.iter().any(|m| m.abs)
        }
        Op::Bfi1 | Op::Bfi2 | Op::Bfrev | Op::Cbit | Op::Lzd | Op::Fbl => {
            alu.mods.iter().all(|m| *m == SrcMods::default())
        }
        _ => false,
    };
    match alu.op {
        _ if modular => {
            let sign_matters = alu.cond.is_some() && alu.dst == Type::Ud;
            if sign_matters {
                Kind::FastU32
            } else {
                Kind::FastI32
            }
        }
        Op::Cmp | Op::Sel if alu.cond.is_some() => {
            let negated = alu.mods.iter().any(|m| *m != SrcMods::default());
            if signed && !negated {
                Kind::FastI32
            } else if unsigned {
                Kind::FastU32
            } else if alu.op == Op::Cmp {
                // 64 bits hold either sign, negated or not.
                Kind::FastI64
            } else {
                Kind::Alu
            }
        }
        Op::Sel if alu.mods.iter().all(|m| !m.abs) => Kind::FastI32,
        Op::Asr
            if signed
                && alu.cond.is_none()
                && alu.mods.iter().all(|m| *m == SrcMods::default()) =>
        {
            Kind::FastI32
        }
        Op::Shr
            if alu.cond.is_none()
                && matches!(alu.srcs[0], Some(Type::Ud | Type::Uw | Type::Ub))
                && alu.mods.iter().all(|m| *m == SrcMods::default()) =>
        {
            Kind::FastU32
        }
        Op::Avg => Kind::Alu,
        _ => Kind::Alu,
    }
}

/// Whether the path of 64-bit integers computes an operation.
fn wide_fast(alu: &AluOp) -> bool {
    let types = || alu.srcs.iter().flatten().copied();
    let wide = alu.dst.bytes() == 8 || types().any(|t| t.bytes() == 8);
    if !wide || alu.sat || alu.dst.is_float() || types().any(Type::is_float) {
        return false;
    }
    let plain = alu.mods.iter().all(|m| !m.abs);
    let unmodified = alu.mods.iter().all(|m| *m == SrcMods::default());
    match alu.op {
        // Only low bits are kept.
        Op::Mov | Op::Add | Op::Mul | Op::And | Op::Or | Op::Xor | Op::Not | Op::Shl => {
            plain && alu.cond.is_none()
        }
        Op::Sel => plain && alu.cond.is_none(),
        Op::Asr => unmodified && alu.cond.is_none() && alu.srcs[0] != Some(Type::Uq),
        // 64 signed bits hold every value but an unsigned qword's.
        Op::Cmp => {
            unmodified
                && !types().any(|t| t == Type::Uq)
                && !matches!(alu.cond, Some(Cond::Ov | Cond::Un))
        }
        _ => false,
    }
}
