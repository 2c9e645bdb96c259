//! Execution size, channel offset, predicate, flag modifier.

use super::{Ctx, Part};
use crate::inst::{Cond, InstOpts, PredCtrl, Subfn};
use crate::op::{Format, Op};
use crate::reg::{Arf, Reg, RegRef, Register};

/// The row allows the controls that are set.
pub(super) fn controls_allowed<R: Register>(c: &mut Ctx<'_, R>) {
    let (i, info) = (c.inst, c.info);
    let macro_fn = matches!(i.subfn, Subfn::Math(f) if f.is_macro());
    let op = i.op;
    if i.pred.is_some() && !info.pred {
        c.find(Part::Flag, format!("`{op}` cannot be predicated"));
    }
    match i.cond {
        Some(m) if m.cond == Cond::Eo && !macro_fn => {
            c.find(Part::Flag, "only a math macro has the condition `eo`");
        }
        Some(m) if m.cond != Cond::Eo && !info.cond => {
            c.find(Part::Flag, format!("`{op}` has no flag modifier"));
        }
        _ => {}
    }
    if i.sat && !info.sat {
        c.find(Part::Dst, format!("`{op}` cannot saturate"));
    }
    if i.opts.contains(InstOpts::ACC_WR_EN) && !info.acc {
        c.find(
            Part::Inst,
            format!("`{op}` cannot write the accumulator too"),
        );
    }
    if matches!(i.subfn, Subfn::BranchCtrl(true)) && !info.branch_ctrl {
        c.find(Part::Inst, format!("`{op}` has no branch control"));
    }
    if !info.mods {
        let modified: Vec<Part> = c
            .srcs
            .iter()
            .filter(|s| s.modified)
            .map(|s| s.part)
            .collect();
        for part in modified {
            c.find(part, format!("`{op}` has no source modifiers"));
        }
    }
}

/// Channels lie within the 32 of a thread, in a group of their own size.
pub(super) fn channel_range<R: Register>(c: &mut Ctx<'_, R>) {
    let (n, first) = (c.channels(), c.inst.offset.channels());
    if !first.is_multiple_of(n.max(4)) {
        c.find(
            Part::Inst,
            format!("{n} channels cannot start at channel {first}"),
        );
    }
}

fn same_flag<R: Register>(a: RegRef<R>, b: RegRef<R>) -> bool {
    a == b
}

/// Predicate and flag modifier have one field for their flag.
pub(super) fn flag_shared<R: Register>(c: &mut Ctx<'_, R>) {
    if let (Some(p), Some(m)) = (c.inst.pred, c.inst.cond)
        && !same_flag(p.flag, m.flag)
    {
        c.find(
            Part::Flag,
            "predicate and flag modifier must name the same flag",
        );
    }
}

/// A flag is one of the platform's, and 32 channels need both of its halves.
pub(super) fn flag_channels<R: Register>(c: &mut Ctx<'_, R>) {
    let flags = [c.inst.pred.map(|p| p.flag), c.inst.cond.map(|m| m.flag)];
    let most = c.features.flag_regs;
    for flag in flags.into_iter().flatten() {
        match flag.reg.as_phys() {
            Some(Reg::Arf(Arf::Flag, n)) if u32::from(n) < most && matches!(flag.sub, 0 | 2) => {}
            None if matches!(flag.sub, 0 | 2) => {}
            _ => c.find(Part::Flag, "not a flag sub-register of the platform"),
        }
        let last = c.inst.offset.channels() + c.channels();
        let scalar_all = c
            .inst
            .pred
            .is_some_and(|p| matches!(p.ctrl, PredCtrl::AnyH(_) | PredCtrl::AllH(_)));
        if flag.sub == 2 && last > 16 && !scalar_all && c.info.format != Format::Jmpi {
            c.find(
                Part::Flag,
                format!("channels up to {last} do not fit the upper half of a flag"),
            );
        }
    }
}

/// Compares and selects say by what.
pub(super) fn condition_needed<R: Register>(c: &mut Ctx<'_, R>) {
    let i = c.inst;
    let (missing, what) = match i.op {
        Op::Cmp | Op::Cmpn | Op::Csel => (i.cond.is_none(), "a flag modifier"),
        Op::Sel => (
            i.cond.is_none() == i.pred.is_none(),
            "a predicate or a flag modifier, and not both",
        ),
        _ => (false, ""),
    };
    if missing {
        c.find(Part::Flag, format!("`{}` needs {what}", i.op));
    }
}

/// In Align16 a predicate goes by channels, or by groups of four.
pub(super) fn align16_predicate<R: Register>(c: &mut Ctx<'_, R>) {
    let i = c.inst;
    let align16 = c.info.format == Format::Ternary && c.features.ternary_align16
        || matches!(i.subfn, Subfn::Math(f) if f.is_macro());
    let grouped = i.pred.is_some_and(|p| {
        !matches!(
            p.ctrl,
            PredCtrl::Sequential | PredCtrl::AnyH(4) | PredCtrl::AllH(4)
        )
    });
    if align16 && grouped {
        c.find(
            Part::Flag,
            "an Align16 predicate goes by channels, `any4h` or `all4h`",
        );
    }
}
