//! Fields before the operands: execution size, masks, predicate, condition modifier, options.

use super::Ctx;
use super::bits::Fields;
use super::parts::{cond_code, cond_of, operand_error};
use crate::codec::error::{DecodeError, EncodeError};
use crate::inst::{Cond, CondMod, Inst, InstOpts, PredCtrl, Predicate, Subfn};
use crate::op::{Format, MathFn, Op};
use crate::reg::{Arf, Reg, RegRef};
use crate::region::{ChannelOffset, ExecSize};
use crate::table::{Field, NativeLayout};

const PRED: [PredCtrl; 13] = [
    PredCtrl::Sequential,
    PredCtrl::AnyV,
    PredCtrl::AllV,
    PredCtrl::AnyH(2),
    PredCtrl::AllH(2),
    PredCtrl::AnyH(4),
    PredCtrl::AllH(4),
    PredCtrl::AnyH(8),
    PredCtrl::AllH(8),
    PredCtrl::AnyH(16),
    PredCtrl::AllH(16),
    PredCtrl::AnyH(32),
    PredCtrl::AllH(32),
];

/// Returns true if Align16 has the predicate control. Its other codes replicate one channel of a
/// row, which [`PredCtrl`] does not represent.
fn align16_has(ctrl: PredCtrl) -> bool {
    matches!(
        ctrl,
        PredCtrl::Sequential | PredCtrl::AnyH(4) | PredCtrl::AllH(4)
    )
}

/// Returns the code of a predicate control, one more than its index in [`PRED`].
#[inline(always)]
fn pred_code(ctrl: PredCtrl) -> Option<u64> {
    let group = |n: u8| match n {
        2 | 4 | 8 | 16 | 32 => Some(u64::from(n.trailing_zeros()) * 2),
        _ => None,
    };
    match ctrl {
        PredCtrl::Sequential => Some(1),
        PredCtrl::AnyV => Some(2),
        PredCtrl::AllV => Some(3),
        PredCtrl::AnyH(n) => Some(group(n)? + 2),
        PredCtrl::AllH(n) => Some(group(n)? + 3),
        _ => None,
    }
}

#[inline(always)]
fn flag_code(r: RegRef<Reg>) -> Result<u64, EncodeError> {
    match (r.reg, r.sub) {
        (Reg::Arf(Arf::Flag, n @ 0..=1), 0 | 2) => Ok(u64::from(n) * 2 + u64::from(r.sub / 2)),
        _ => Err(operand_error("flag", "must be f0.0, f0.1, f1.0 or f1.1")),
    }
}

#[inline(always)]
fn flag(code: u64) -> RegRef<Reg> {
    RegRef::new(
        Reg::Arf(Arf::Flag, ((code >> 1) & 1) as u8),
        ((code & 1) * 2) as u16,
    )
}

/// Encodes the options.
#[inline(never)]
fn lower_opts<L: NativeLayout>(ctx: &Ctx, i: &Inst<Reg>) -> Result<Fields<L>, EncodeError> {
    let mut f = Fields::<L>::new(0);
    let info = ctx.info;
    let no_preempt = ctx.platform.features().no_preempt;
    let nullary = info.format == Format::Nullary;
    let send = matches!(info.format, Format::Send | Format::SplitSend);
    let has = |o| i.opts.contains(o);
    let thread = [InstOpts::ATOMIC, InstOpts::SWITCH, InstOpts::NO_PREEMPT];
    let threads = thread.into_iter().filter(|o| has(*o)).count();
    let wrong = [
        (has(InstOpts::ACC_WR_EN) && !info.acc, "{AccWrEn}"),
        (has(InstOpts::EOT) && !send, "{EOT}"),
        (
            has(InstOpts::NO_SRC_DEP_SET) && f.width(Field::NoSrcDepSet) == 0,
            "{NoSrcDepSet}",
        ),
        (
            (send || nullary) && (has(InstOpts::NO_DD_CHK) || has(InstOpts::NO_DD_CLR)),
            "{NoDDChk} or {NoDDClr}",
        ),
        (
            threads > 1,
            "more than one of {Atomic}, {Switch} and {NoPreempt}",
        ),
        (nullary && threads > 0, "thread control"),
        (has(InstOpts::NO_PREEMPT) && !no_preempt, "{NoPreempt}"),
        (has(InstOpts::SWITCH) && send && no_preempt, "{Switch}"),
        (
            has(InstOpts::BREAKPOINT) && i.op == Op::Illegal,
            "{Breakpoint}",
        ),
    ];
    if let Some((_, what)) = wrong.into_iter().find(|w| w.0) {
        return Err(EncodeError::NotAllowed { op: i.op, what });
    }
    f.put(Field::Debug, has(InstOpts::BREAKPOINT).into());
    f.put(Field::NoDdClr, has(InstOpts::NO_DD_CLR).into());
    f.put(Field::NoDdChk, has(InstOpts::NO_DD_CHK).into());
    let control = thread.into_iter().position(has);
    f.put(Field::ThreadCtrl, control.map_or(0, |n| n as u64 + 1));
    f.put(Field::AccWr, has(InstOpts::ACC_WR_EN).into());
    f.put(Field::NoSrcDepSet, has(InstOpts::NO_SRC_DEP_SET).into());
    Ok(f)
}

#[inline(always)]
pub(super) fn lower<L: NativeLayout>(
    ctx: &Ctx,
    i: &Inst<Reg>,
    f: &mut Fields<L>,
) -> Result<(), EncodeError> {
    let not = |what| Err(EncodeError::NotAllowed { op: i.op, what });
    let info = ctx.info;
    let nullary = info.format == Format::Nullary;
    if !i.opts.is_empty() {
        f.join(&lower_opts(ctx, i)?);
    }
    if i.sat {
        if !info.sat {
            return not("saturation");
        }
        f.put(Field::Sat, 1);
    }
    match i.subfn {
        Subfn::BranchCtrl(true) if !info.branch_ctrl => return not("a branch control"),
        Subfn::BranchCtrl(on) => f.put(Field::BranchCtrl, on.into()),
        Subfn::Math(_) if info.format != Format::Math => return not("a math function"),
        _ => {}
    }
    if nullary {
        let flags = i.pred.is_some() || i.cond.is_some();
        return if flags || i.no_mask {
            not("a mask, a predicate or a condition modifier")
        } else {
            Ok(())
        };
    }
    f.put(Field::NoMask, i.no_mask.into());
    if info.format == Format::Jmpi && (i.exec != ExecSize::S1 || i.offset != ChannelOffset::M0) {
        return not("an execution size or channel offset");
    }
    f.put(Field::ExecSize, i.exec.log2().into());
    f.put(Field::ChanOff, u64::from(i.offset.channels() / 4));
    if let Some(p) = i.pred {
        if !info.pred {
            return not("a predicate");
        }
        let Some(code) = pred_code(p.ctrl) else {
            return Err(operand_error(
                "predicate",
                "a group has 2, 4, 8, 16 or 32 channels",
            ));
        };
        let macro_fn = matches!(i.subfn, Subfn::Math(m) if m.is_macro());
        let align16 = f.on(Field::AccessMode) || (macro_fn && ctx.platform.features().align16);
        if align16 && !align16_has(p.ctrl) {
            return Err(operand_error(
                "predicate",
                "in Align16 it goes by channels, `any4h` or `all4h`",
            ));
        }
        f.put(Field::PredCtrl, code);
        f.put(Field::PredInv, p.inverse.into());
        f.put(Field::Flag, flag_code(p.flag)?);
    }
    if let Some(c) = i.cond {
        // The function number of math macros is in the field of the condition.
        let code = match c.cond {
            Cond::Eo if matches!(i.subfn, Subfn::Math(m) if m.is_macro()) => 0,
            Cond::Eo => return not("this condition modifier"),
            _ if !info.cond => return not("this condition modifier"),
            c => cond_code(c).unwrap_or(0),
        };
        let flag = flag_code(c.flag)?;
        if i.pred.is_some_and(|p| p.flag != c.flag) {
            return Err(operand_error(
                "flag",
                "predicate and condition modifier must name the same one",
            ));
        }
        f.put(Field::Flag, flag);
        f.put(Field::CondMod, code);
    }
    Ok(())
}

#[inline(always)]
pub(super) fn lift<L: NativeLayout>(
    ctx: &Ctx,
    f: &Fields<L>,
    i: &mut Inst<Reg>,
) -> Result<(), DecodeError> {
    let info = ctx.info;
    let illegal = i.op == Op::Illegal;
    let mut opt = |field, o| i.opts.set(o, f.on(field));
    if !illegal {
        opt(Field::Debug, InstOpts::BREAKPOINT);
    }
    if info.format == Format::Nullary {
        return Ok(());
    }
    let send = matches!(info.format, Format::Send | Format::SplitSend);
    if send {
        opt(Field::NoSrcDepSet, InstOpts::NO_SRC_DEP_SET);
    } else {
        opt(Field::NoDdClr, InstOpts::NO_DD_CLR);
        opt(Field::NoDdChk, InstOpts::NO_DD_CHK);
    }
    if info.acc {
        opt(Field::AccWr, InstOpts::ACC_WR_EN);
    }
    match f.get(Field::ThreadCtrl) {
        1 => i.opts.insert(InstOpts::ATOMIC),
        2 => i.opts.insert(InstOpts::SWITCH),
        3 if ctx.platform.features().no_preempt => i.opts.insert(InstOpts::NO_PREEMPT),
        _ => {}
    }
    if info.branch_ctrl && f.on(Field::BranchCtrl) {
        i.subfn = Subfn::BranchCtrl(true);
    }
    i.no_mask = f.on(Field::NoMask);
    i.sat = info.sat && f.on(Field::Sat);
    if info.format != Format::Jmpi {
        let field_error = |field| DecodeError::field(field, f.get(field));
        i.exec = ExecSize::from_log2(f.get(Field::ExecSize) as u8)
            .ok_or_else(|| field_error(Field::ExecSize))?;
        i.offset = ChannelOffset::new(f.get(Field::ChanOff) as u32 * 4)
            .ok_or_else(|| field_error(Field::ChanOff))?;
    }
    let flag = flag(f.get(Field::Flag));
    let pred = f.get(Field::PredCtrl);
    if info.pred && pred != 0 {
        let ctrl = *PRED
            .get(pred as usize - 1)
            .filter(|c| !f.on(Field::AccessMode) || align16_has(**c))
            .ok_or_else(|| DecodeError::field(Field::PredCtrl, pred))?;
        i.pred = Some(Predicate {
            flag,
            inverse: f.on(Field::PredInv),
            ctrl,
        });
    }
    let cond = f.get(Field::CondMod);
    if info.cond && cond != 0 {
        let cond = cond_of(cond).ok_or_else(|| DecodeError::field(Field::CondMod, cond))?;
        i.cond = Some(CondMod { cond, flag });
    }
    // Math macros always set the flag. Their function number is in the field of the condition.
    let function = f.get(Field::MathFn) as u8;
    if info.format == Format::Math
        && MathFn::from_code(ctx.platform, function).is_some_and(MathFn::is_macro)
    {
        i.cond = Some(CondMod {
            cond: Cond::Eo,
            flag,
        });
    }
    Ok(())
}
