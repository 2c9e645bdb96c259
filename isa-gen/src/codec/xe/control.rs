//! Fields before the operands: scoreboard annotation, execution size, masks, predicate, condition
//! modifier, options.

use super::{XeCtx, field_error, operand_error, swsb};
use crate::codec::bits::Fields;
use crate::codec::error::{DecodeError, EncodeError};
use crate::codec::parts::{self, type_of};
use crate::inst::{Cond, CondMod, Inst, InstOpts, PredCtrl, Predicate, Subfn};
use crate::op::{Format, MathFn, Op};
use crate::reg::{Arf, Reg, RegRef};
use crate::region::{ChannelOffset, ExecSize};
use crate::table::{Field, NativeLayout};

/// Returns the code of a predicate control: by groups of channels, or by all channels (Xe-HPC).
#[inline(always)]
fn pred_code(ctrl: PredCtrl, whole: bool) -> Option<u64> {
    let group = |n: u8| {
        (n.is_power_of_two() && (2..=32).contains(&n)).then(|| 2 + 2 * u64::from(n.ilog2()))
    };
    match (ctrl, whole) {
        (PredCtrl::Sequential, _) => Some(1),
        (PredCtrl::Any, true) => Some(2),
        (PredCtrl::All, true) => Some(3),
        (PredCtrl::AnyV, false) => Some(2),
        (PredCtrl::AllV, false) => Some(3),
        (PredCtrl::AnyH(n), false) => group(n),
        (PredCtrl::AllH(n), false) => group(n).map(|c| c + 1),
        _ => None,
    }
}

fn pred_ctrl(code: u64, whole: bool) -> Option<PredCtrl> {
    let group = 1u8.checked_shl((code as u32 >> 1).wrapping_sub(1));
    match (code, whole) {
        (1, _) => Some(PredCtrl::Sequential),
        (2, true) => Some(PredCtrl::Any),
        (3, true) => Some(PredCtrl::All),
        (2, false) => Some(PredCtrl::AnyV),
        (3, false) => Some(PredCtrl::AllV),
        (4..=13, false) => group.map(|n| {
            if code.is_multiple_of(2) {
                PredCtrl::AnyH(n)
            } else {
                PredCtrl::AllH(n)
            }
        }),
        _ => None,
    }
}

/// Returns the code of a condition. `bfn` has two bits for it.
#[inline(always)]
fn cond_code(op: Op, cond: Cond) -> Option<u64> {
    match (op, cond) {
        (Op::Bfn, Cond::Eq) => Some(1),
        (Op::Bfn, Cond::Gt) => Some(2),
        (Op::Bfn, Cond::Lt) => Some(3),
        (Op::Bfn, _) => None,
        _ => parts::cond_code(cond),
    }
}

fn cond_of(op: Op, code: u64) -> Option<Cond> {
    match (op, code) {
        (Op::Bfn, 2) => Some(Cond::Gt),
        (Op::Bfn, 3) => Some(Cond::Lt),
        _ => parts::cond_of(code),
    }
}

#[inline(always)]
fn flag_code(cx: &XeCtx, r: RegRef<Reg>) -> Result<u64, EncodeError> {
    match (r.reg, r.sub) {
        (Reg::Arf(Arf::Flag, n), 0 | 2) if u32::from(n) < cx.c.platform.features().flag_regs => {
            Ok(u64::from(n) * 2 + u64::from(r.sub / 2))
        }
        _ => Err(operand_error(
            "flag",
            "the platform has no such flag sub-register",
        )),
    }
}

#[inline(always)]
fn flag(code: u64) -> RegRef<Reg> {
    RegRef::new(
        Reg::Arf(Arf::Flag, (code >> 1) as u8),
        ((code & 1) * 2) as u16,
    )
}

/// Returns true if the format has an execution size and a channel offset.
#[inline(always)]
fn has_exec(format: Format) -> bool {
    !matches!(format, Format::Nullary | Format::Sync | Format::Jmpi)
}

/// Checks that the opcode allows the controls of the instruction.
#[inline(always)]
fn check(cx: &XeCtx, i: &Inst<Reg>) -> Result<(), EncodeError> {
    let info = cx.c.info;
    let allow = |ok, what| {
        if ok {
            Ok(())
        } else {
            Err(EncodeError::NotAllowed { op: i.op, what })
        }
    };
    let macro_fn = matches!(i.subfn, Subfn::Math(m) if m.is_macro());
    allow(i.pred.is_none() || info.pred, "a predicate")?;
    allow(
        match i.cond {
            None => true,
            Some(c) if c.cond == Cond::Eo => macro_fn,
            Some(_) => info.cond,
        },
        "this condition modifier",
    )?;
    allow(!i.sat || info.sat, "saturation")?;
    allow(
        match i.subfn {
            Subfn::None | Subfn::BranchCtrl(false) => true,
            Subfn::BranchCtrl(true) => info.branch_ctrl,
            Subfn::Math(_) => info.format == Format::Math,
            Subfn::Sync(_) => info.format == Format::Sync,
            Subfn::Send(_) => info.format == Format::XeSend,
            Subfn::Dpas { .. } => info.format == Format::Dpas,
            Subfn::Bfn(_) => i.op == Op::Bfn,
        },
        "this function",
    )?;
    let mut may =
        InstOpts::ATOMIC | InstOpts::BREAKPOINT | InstOpts::COMPACTED | InstOpts::NO_ACC_SB_SET;
    may.set(InstOpts::ACC_WR_EN, info.acc);
    let send = InstOpts::EOT | InstOpts::SERIALIZE | InstOpts::EX_BSO | InstOpts::CPS;
    may.set(send, info.format == Format::XeSend);
    if info.format == Format::Nullary {
        may.remove(InstOpts::ATOMIC);
    }
    if i.op == Op::Illegal {
        may = InstOpts::COMPACTED;
        allow(i.swsb.is_empty(), "an annotation")?;
    }
    allow(may.contains(i.opts), "one of its options")?;
    allow(
        info.format != Format::Nullary || !i.no_mask,
        "a mask control",
    )?;
    allow(
        has_exec(info.format) || i.exec == ExecSize::S1 && i.offset == ChannelOffset::M0,
        "an execution size or channel offset",
    )
}

#[inline(always)]
pub(super) fn lower<L: NativeLayout>(
    cx: &XeCtx,
    i: &Inst<Reg>,
    f: &mut Fields<L>,
) -> Result<(), EncodeError> {
    check(cx, i)?;
    let info = cx.c.info;
    let has = |o| i.opts.contains(o);
    if i.op == Op::Illegal {
        return Ok(());
    }
    f.put(Field::Swsb, swsb::lower(cx, i)?);
    f.put(Field::Debug, has(InstOpts::BREAKPOINT).into());
    if info.format == Format::Nullary {
        return Ok(());
    }
    f.put(Field::ThreadCtrl, has(InstOpts::ATOMIC).into());
    f.put(Field::AccWr, has(InstOpts::ACC_WR_EN).into());
    f.put(
        Field::BranchCtrl,
        (i.subfn == Subfn::BranchCtrl(true)).into(),
    );
    f.put(Field::NoMask, i.no_mask.into());
    f.put(Field::Sat, i.sat.into());
    if has_exec(info.format) {
        f.put(Field::ExecSize, i.exec.log2().into());
        let channels = u64::from(i.offset.channels());
        if channels & ((1 << cx.x.chan_shift) - 1) != 0 {
            return Err(operand_error("channel offset", "must be a multiple of 8"));
        }
        f.put(Field::ChanOff, channels >> cx.x.chan_shift);
    }
    if let Some(p) = i.pred {
        let code = pred_code(p.ctrl, cx.x.whole_preds).ok_or(operand_error(
            "predicate",
            "the platform does not combine flag bits so",
        ))?;
        f.put(Field::PredCtrl, code);
        f.put(Field::PredInv, p.inverse.into());
        f.put(Field::Flag, flag_code(cx, p.flag)?);
    }
    if let Some(c) = i.cond {
        let code = flag_code(cx, c.flag)?;
        if i.pred.is_some() && f.get(Field::Flag) != code {
            return Err(operand_error(
                "flag",
                "predicate and condition modifier must name the same one",
            ));
        }
        f.put(Field::Flag, code);
        if c.cond != Cond::Eo {
            let code = cond_code(i.op, c.cond).ok_or(operand_error(
                "condition modifier",
                "the opcode has no such condition",
            ))?;
            f.put(Field::CondMod, code);
        }
    }
    Ok(())
}

/// Returns true if source 0 is a 64-bit immediate, which overlaps the condition modifier.
#[inline(always)]
fn wide_imm<L: NativeLayout>(cx: &XeCtx, f: &Fields<L>) -> bool {
    let ty = || {
        type_of(
            &cx.c.tables.imm_types,
            f.get(Field::Src0Type),
            Field::Src0Type,
        )
    };
    cx.c.info.format == Format::Unary
        && f.on(Field::Src0IsImm)
        && ty().is_ok_and(|t| t.bytes() == 8)
}

#[inline(always)]
pub(super) fn lift<L: NativeLayout>(
    cx: &XeCtx,
    f: &Fields<L>,
    i: &mut Inst<Reg>,
) -> Result<(), DecodeError> {
    let info = cx.c.info;
    if i.op == Op::Illegal {
        return Ok(());
    }
    swsb::lift(cx, f.get(Field::Swsb), i)?;
    let mut opt = |field, o| i.opts.set(o, f.on(field));
    opt(Field::Debug, InstOpts::BREAKPOINT);
    if info.format == Format::Nullary {
        return Ok(());
    }
    opt(Field::ThreadCtrl, InstOpts::ATOMIC);
    if info.acc {
        opt(Field::AccWr, InstOpts::ACC_WR_EN);
    }
    if info.branch_ctrl && f.on(Field::BranchCtrl) {
        i.subfn = Subfn::BranchCtrl(true);
    }
    i.no_mask = f.on(Field::NoMask);
    i.sat = info.sat && f.on(Field::Sat);
    if has_exec(info.format) {
        i.exec = ExecSize::from_log2(f.get(Field::ExecSize) as u8)
            .ok_or_else(|| field_error(Field::ExecSize, f))?;
        i.offset = ChannelOffset::new((f.get(Field::ChanOff) as u32) << cx.x.chan_shift)
            .ok_or_else(|| field_error(Field::ChanOff, f))?;
    } else if info.format == Format::Jmpi && f.on(Field::ExecSize) {
        return Err(field_error(Field::ExecSize, f));
    }
    let flag = flag(f.get(Field::Flag));
    let pred = f.get(Field::PredCtrl);
    if info.pred && pred != 0 {
        i.pred = Some(Predicate {
            flag,
            inverse: f.on(Field::PredInv),
            ctrl: pred_ctrl(pred, cx.x.whole_preds)
                .ok_or_else(|| field_error(Field::PredCtrl, f))?,
        });
    }
    let cond = f.get(Field::CondMod);
    if info.cond && cond != 0 && !wide_imm(cx, f) {
        let cond = cond_of(i.op, cond).ok_or_else(|| field_error(Field::CondMod, f))?;
        i.cond = Some(CondMod { cond, flag });
    }
    // Math macros always set the flag.
    if info.format == Format::Math
        && MathFn::from_code(cx.c.platform, f.get(Field::MathFn) as u8)
            .is_some_and(MathFn::is_macro)
    {
        i.cond = Some(CondMod {
            cond: Cond::Eo,
            flag,
        });
    }
    Ok(())
}
