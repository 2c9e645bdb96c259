//! Execution size, channel offset, predicate, flag modifier, options.

use super::Part;
use super::rule::{Kinds, Rule, Sink, always};
use super::view::View;
use crate::inst::{Cond, InstOpts, PredCtrl, Subfn};
use crate::op::{Format, MathFn, Op};
use crate::platform::Features;
use crate::reg::{Arf, Reg};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "controls-allowed",
        text: "an opcode takes only the predicate, flag modifier, saturation and modifiers that it has",
        hint: "do it in an instruction of its own, such as a `mov` or a `cmp`",
        kinds: Kinds::ANY,
        applies: always,
        check: controls_allowed,
    },
    Rule {
        name: "options-allowed",
        text: "an instruction takes only the options that the platform and its kind have",
        hint: "leave the option out: dependencies are the scoreboard's, or the annotation's",
        kinds: Kinds::ANY,
        applies: always,
        check: options_allowed,
    },
    Rule {
        name: "channel-range",
        text: "channels start at a multiple of their number (4 at least)",
        hint: "take the channel offset that is a multiple of the execution size",
        kinds: Kinds::ANY,
        applies: always,
        check: channel_range,
    },
    Rule {
        name: "flag-shared",
        text: "predicate and flag modifier have one field for their flag",
        hint: "use one flag for both, or two instructions",
        kinds: Kinds::ANY,
        applies: always,
        check: |v, out| {
            if !v.one_flag {
                let what = format_args!("predicate and flag modifier must name the same flag");
                out.find(Part::Flag, what);
            }
        },
    },
    Rule {
        name: "flag-exists",
        text: "a flag is a 16-bit half of one of the platform's flag registers",
        hint: "use f0 or f1 (f2 and f3 are Xe-HPC's)",
        kinds: Kinds::ANY,
        applies: always,
        check: flag_exists,
    },
    Rule {
        name: "flag-channels",
        text: "32 channels need both halves of a flag",
        hint: "name the lower half; a channel's bit is its number's",
        kinds: Kinds::ANY,
        applies: always,
        check: flag_channels,
    },
    Rule {
        name: "condition-needed",
        text: "`cmp` and (but on Xe-HPC) `csel` need a condition, `sel` a condition or a predicate",
        hint: "say what is compared by",
        kinds: Kinds::ALU,
        applies: always,
        check: condition_needed,
    },
    Rule {
        name: "logic-condition",
        text: "bitwise operations produce no overflow and no unordered condition",
        hint: "use `eq` or `ne`",
        kinds: Kinds::DATA,
        applies: always,
        check: |v, out| {
            let op = v.op;
            if v.info.bitwise && matches!(v.cond, Some((_, Cond::Ov | Cond::Un))) {
                out.find(
                    Part::Flag,
                    format_args!("`{op}` never meets that condition"),
                );
            }
        },
    },
    Rule {
        name: "align16-predicate",
        text: "an Align16 predicate goes by channels, `any4h` or `all4h`",
        hint: "combine the flag with a `mov` of it first",
        kinds: Kinds::MACRO.union(Kinds::TERNARY),
        applies: |f| f.align16,
        check: align16_predicate,
    },
    Rule {
        name: "cmp-null-switch",
        text: "a compare with a null destination needs the option Switch",
        hint: "add {Switch}, or write the result to a register",
        kinds: Kinds::DATA,
        applies: |f| f.cmp_null_switch,
        check: |v, out| {
            let null = v.dst.is_some_and(|d| d.is_null());
            let cmp = matches!(v.op, Op::Cmp | Op::Cmpn);
            if cmp && null && !v.opts.contains(InstOpts::SWITCH) {
                let op = v.op;
                out.find(Part::Inst, format_args!("`{op}` to null needs {{Switch}}"));
            }
        },
    },
    Rule {
        name: "acc-write-enable",
        text: "AccWrEn wants a destination that an accumulator can hold: no bytes, no architecture register but null",
        hint: "write the accumulator with an instruction of its own",
        kinds: Kinds::TYPED,
        applies: always,
        check: acc_write_enable,
    },
];

fn controls_allowed(v: &View, out: &mut Sink<'_>) {
    let (info, op) = (v.info, v.op);
    let macro_fn = matches!(v.subfn, Subfn::Math(f) if f.is_macro());
    if v.pred.is_some() && !info.pred {
        out.find(Part::Flag, format_args!("`{op}` cannot be predicated"));
    }
    match v.cond {
        Some((_, Cond::Eo)) if !macro_fn => {
            let what = format_args!("only a math macro has the condition `eo`");
            out.find(Part::Flag, what);
        }
        Some((_, c)) if c != Cond::Eo && !info.cond => {
            out.find(Part::Flag, format_args!("`{op}` has no flag modifier"));
        }
        _ => {}
    }
    if v.sat && !info.sat {
        out.find(Part::Dst, format_args!("`{op}` cannot saturate"));
    }
    if matches!(v.subfn, Subfn::BranchCtrl(true)) && !info.branch_ctrl {
        out.find(Part::Inst, format_args!("`{op}` has no branch control"));
    }
    for s in v.srcs() {
        if s.is_modified() && !info.mods {
            out.find(s.part, format_args!("`{op}` has no source modifiers"));
        } else if s.abs && info.bitwise {
            let what = format_args!("`{op}` inverts a source, it has no absolute value");
            out.find(s.part, what);
        }
    }
}

/// An option, its name, the kinds that take it, and where it exists.
type Opt = (InstOpts, &'static str, Kinds, fn(&Features) -> bool);

/// Options that are not everywhere.
const OPTIONS: &[Opt] = &[
    (InstOpts::NO_DD_CLR, "NoDDClr", Kinds::ANY, |f| !f.swsb),
    (InstOpts::NO_DD_CHK, "NoDDChk", Kinds::ANY, |f| !f.swsb),
    (InstOpts::EOT, "EOT", Kinds::SEND, always),
    (InstOpts::NO_SRC_DEP_SET, "NoSrcDepSet", Kinds::SEND, |f| {
        !f.swsb
    }),
    (InstOpts::SERIALIZE, "Serialize", Kinds::SEND, |f| {
        f.serialize
    }),
    (InstOpts::EX_BSO, "ExBSO", Kinds::SEND, |f| f.ex_bso),
    (InstOpts::CPS, "CPS", Kinds::SEND, |f| f.ex_bso),
];

fn options_allowed(v: &View, out: &mut Sink<'_>) {
    for (opt, name, kinds, exists) in OPTIONS {
        if !v.opts.contains(*opt) {
            continue;
        }
        if !exists(v.f) {
            let p = v.platform;
            out.find(Part::Inst, format_args!("{{{name}}} does not exist on {p}"));
        } else if !kinds.intersects(v.kind) {
            let op = v.op;
            out.find(Part::Inst, format_args!("`{op}` does not take {{{name}}}"));
        }
    }
    if v.opts.contains(InstOpts::ACC_WR_EN) && !v.info.acc {
        let op = v.op;
        let what = format_args!("`{op}` cannot write the accumulator too");
        out.find(Part::Inst, what);
    }
}

fn channel_range(v: &View, out: &mut Sink<'_>) {
    let (n, first) = (v.exec, v.first);
    if !first.is_multiple_of(n.max(4)) {
        let what = format_args!("{n} channels cannot start at channel {first}");
        out.find(Part::Inst, what);
    }
}

fn flags(v: &View) -> impl Iterator<Item = super::view::FlagUse> {
    let pred = v.pred.map(|p| p.0);
    pred.into_iter().chain(v.cond.map(|c| c.0))
}

fn flag_exists(v: &View, out: &mut Sink<'_>) {
    let most = v.f.flag_regs;
    for flag in flags(v) {
        let reg = match flag.reg {
            Some(Reg::Arf(Arf::Flag, n)) => u32::from(n) < most,
            Some(_) => false,
            None => true,
        };
        if !reg || !matches!(flag.sub, 0 | 2) {
            let what = format_args!("not a flag sub-register of the platform");
            out.find(Part::Flag, what);
        }
    }
}

fn flag_channels(v: &View, out: &mut Sink<'_>) {
    let last = v.first + v.exec;
    let grouped = v
        .pred
        .is_some_and(|(_, ctrl)| matches!(ctrl, PredCtrl::AnyH(_) | PredCtrl::AllH(_)));
    if last <= 16 || grouped || v.info.format == Format::Jmpi {
        return;
    }
    for flag in flags(v) {
        if flag.sub == 2 {
            let what = format_args!("channels up to {last} do not fit the upper half of a flag");
            out.find(Part::Flag, what);
        }
    }
}

fn condition_needed(v: &View, out: &mut Sink<'_>) {
    let (missing, what) = match v.op {
        Op::Csel if v.f.csel_alone => (false, ""),
        Op::Cmp | Op::Cmpn | Op::Csel => (v.cond.is_none(), "a flag modifier"),
        Op::Sel => (
            v.cond.is_none() == v.pred.is_none(),
            "a predicate or a flag modifier, and not both",
        ),
        _ => (false, ""),
    };
    if missing {
        let op = v.op;
        out.find(Part::Flag, format_args!("`{op}` needs {what}"));
    }
}

fn align16_predicate(v: &View, out: &mut Sink<'_>) {
    let align16 = match v.kind {
        Kinds::TERNARY => v.f.ternary_align16,
        _ => matches!(v.subfn, Subfn::Math(MathFn::Invm | MathFn::Rsqtm)) || v.info.mme,
    };
    let plain = |ctrl| {
        matches!(
            ctrl,
            PredCtrl::Sequential | PredCtrl::AnyH(4) | PredCtrl::AllH(4)
        )
    };
    if align16 && v.pred.is_some_and(|(_, ctrl)| !plain(ctrl)) {
        let what = format_args!("an Align16 predicate goes by channels, `any4h` or `all4h`");
        out.find(Part::Flag, what);
    }
}

fn acc_write_enable(v: &View, out: &mut Sink<'_>) {
    if !v.opts.contains(InstOpts::ACC_WR_EN) {
        return;
    }
    let Some(d) = v.dst else { return };
    if d.bytes() == 1 {
        out.find(Part::Dst, format_args!("an accumulator holds no bytes"));
    }
    if d.arf().is_some_and(|a| !matches!(a, Arf::Null | Arf::Acc)) {
        let what = format_args!("an architecture register and the accumulator together");
        out.find(Part::Dst, what);
    }
}
