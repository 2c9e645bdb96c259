//! The fields before the operands: execution size, masks, predicate, flag modifier, options.

use super::Ctx;
use super::bits::Fields;
use crate::decode::DecodeError;
use crate::encode::EncodeError;
use crate::inst::{Cond, CondMod, Inst, InstOpts, PredCtrl, Predicate, Subfn};
use crate::op::{Format, MathFn, Op};
use crate::reg::{Arf, Reg, RegRef};
use crate::region::{ChannelOffset, ExecSize};
use crate::table::Field;

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

/// In Align16 the other codes stand for one of a row's channels, which no [`PredCtrl`] says.
fn align16_has(ctrl: PredCtrl) -> bool {
    matches!(
        ctrl,
        PredCtrl::Sequential | PredCtrl::AnyH(4) | PredCtrl::AllH(4)
    )
}

/// Conditions with their codes (PRM Vol. 2a, "CondModifier").
const COND: [(Cond, u64); 8] = [
    (Cond::Eq, 1),
    (Cond::Ne, 2),
    (Cond::Gt, 3),
    (Cond::Ge, 4),
    (Cond::Lt, 5),
    (Cond::Le, 6),
    (Cond::Ov, 8),
    (Cond::Un, 9),
];

fn flag_code(r: RegRef<Reg>) -> Result<u64, EncodeError> {
    match (r.reg, r.sub) {
        (Reg::Arf(Arf::Flag, n @ 0..=1), 0 | 2) => Ok(u64::from(n) * 2 + u64::from(r.sub / 2)),
        _ => Err(EncodeError::Operand {
            operand: "flag",
            why: "must be f0.0, f0.1, f1.0 or f1.1",
        }),
    }
}

fn flag(code: u64) -> RegRef<Reg> {
    RegRef::new(
        Reg::Arf(Arf::Flag, ((code >> 1) & 1) as u8),
        ((code & 1) * 2) as u16,
    )
}

pub(super) fn lower(ctx: &Ctx<'_>, i: &Inst<Reg>, f: &mut Fields) -> Result<(), EncodeError> {
    let allow = |ok, what| {
        if ok {
            Ok(())
        } else {
            Err(EncodeError::NotAllowed { op: i.op, what })
        }
    };
    let info = ctx.info;
    let nullary = info.format == Format::Nullary;
    let macro_fn = matches!(i.subfn, Subfn::Math(m) if m.is_macro());
    allow(i.pred.is_none() || info.pred, "a predicate")?;
    allow(
        match i.cond {
            None => true,
            Some(c) if c.cond == Cond::Eo => macro_fn,
            Some(_) => info.cond,
        },
        "this flag modifier",
    )?;
    allow(!i.sat || info.sat, "saturation")?;
    allow(
        !matches!(i.subfn, Subfn::Math(_)) || info.format == Format::Math,
        "a math function",
    )?;
    allow(
        !matches!(i.subfn, Subfn::BranchCtrl(true)) || info.branch_ctrl,
        "a branch control",
    )?;
    let has = |o| i.opts.contains(o);
    allow(!has(InstOpts::ACC_WR_EN) || info.acc, "{AccWrEn}")?;
    let send = matches!(info.format, Format::Send | Format::SplitSend);
    allow(
        send || !has(InstOpts::EOT) && !has(InstOpts::NO_SRC_DEP_SET),
        "{EOT} or {NoSrcDepSet}",
    )?;
    allow(
        !(send || nullary) || !has(InstOpts::NO_DD_CHK) && !has(InstOpts::NO_DD_CLR),
        "{NoDDChk} or {NoDDClr}",
    )?;
    let thread = [InstOpts::ATOMIC, InstOpts::SWITCH, InstOpts::NO_PREEMPT];
    allow(
        thread.into_iter().filter(|o| has(*o)).count() <= 1,
        "more than one of {Atomic}, {Switch} and {NoPreempt}",
    )?;
    let no_preempt = ctx.platform.features().no_preempt;
    allow(no_preempt || !has(InstOpts::NO_PREEMPT), "{NoPreempt}")?;
    allow(!(no_preempt && send && has(InstOpts::SWITCH)), "{Switch}")?;
    allow(
        !has(InstOpts::NO_SRC_DEP_SET) || f.width(Field::NoSrcDepSet) != 0,
        "{NoSrcDepSet}",
    )?;
    allow(
        !nullary || thread.into_iter().all(|o| !has(o)) && !i.no_mask,
        "thread control or a mask",
    )?;

    allow(
        i.op != Op::Illegal || !has(InstOpts::BREAKPOINT),
        "{Breakpoint}",
    )?;
    f.set(Field::Debug, has(InstOpts::BREAKPOINT).into());
    if nullary {
        return Ok(());
    }
    f.set(Field::NoDdClr, has(InstOpts::NO_DD_CLR).into());
    f.set(Field::NoDdChk, has(InstOpts::NO_DD_CHK).into());
    let thread = if has(InstOpts::ATOMIC) {
        1
    } else if has(InstOpts::SWITCH) {
        2
    } else if has(InstOpts::NO_PREEMPT) {
        3
    } else {
        0
    };
    f.set(Field::ThreadCtrl, thread);
    f.set(Field::AccWr, has(InstOpts::ACC_WR_EN).into());
    f.set(Field::NoSrcDepSet, has(InstOpts::NO_SRC_DEP_SET).into());
    f.set(
        Field::BranchCtrl,
        (i.subfn == Subfn::BranchCtrl(true)).into(),
    );
    f.set(Field::NoMask, i.no_mask.into());
    f.set(Field::Sat, i.sat.into());
    if info.format == Format::Jmpi {
        allow(
            i.exec == ExecSize::S1 && i.offset == ChannelOffset::M0,
            "an execution size or channel offset",
        )?;
    }
    f.set(Field::ExecSize, i.exec.log2().into());
    f.set(Field::ChanOff, u64::from(i.offset.channels() / 4));
    if let Some(p) = i.pred {
        let code = PRED
            .iter()
            .position(|c| *c == p.ctrl)
            .ok_or(EncodeError::Operand {
                operand: "predicate",
                why: "a group is of 2, 4, 8, 16 or 32 channels",
            })?;
        let align16 = (macro_fn && ctx.platform.features().align16) || f.on(Field::AccessMode);
        if align16 && !align16_has(p.ctrl) {
            return Err(EncodeError::Operand {
                operand: "predicate",
                why: "in Align16 it goes by channels, `any4h` or `all4h`",
            });
        }
        f.set(Field::PredCtrl, code as u64 + 1);
        f.set(Field::PredInv, p.inverse.into());
        f.set(Field::Flag, flag_code(p.flag)?);
    }
    if let Some(c) = i.cond {
        let code = flag_code(c.flag)?;
        if i.pred.is_some() && f.get(Field::Flag) != code {
            return Err(EncodeError::Operand {
                operand: "flag",
                why: "predicate and flag modifier must name the same one",
            });
        }
        f.set(Field::Flag, code);
        if let Some((_, code)) = COND.iter().find(|(x, _)| *x == c.cond) {
            f.set(Field::CondMod, *code);
        }
    }
    Ok(())
}

pub(super) fn lift(ctx: &Ctx<'_>, f: &Fields, i: &mut Inst<Reg>) -> Result<(), DecodeError> {
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
        let bad = |field| DecodeError::field(field, f.get(field));
        i.exec = ExecSize::from_log2(f.get(Field::ExecSize) as u8)
            .ok_or_else(|| bad(Field::ExecSize))?;
        i.offset = ChannelOffset::new(f.get(Field::ChanOff) as u32 * 4)
            .ok_or_else(|| bad(Field::ChanOff))?;
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
        let (cond, _) = *COND
            .iter()
            .find(|(_, code)| *code == cond)
            .ok_or_else(|| DecodeError::field(Field::CondMod, cond))?;
        i.cond = Some(CondMod { cond, flag });
    }
    // The math macros always set the flag; their function number takes the condition's place.
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
