//! Rules of execution size, channel offset, predicate, condition modifier and options.

use super::InstPart;
use super::rule::{FindingSink, InstKinds, Rule, always};
use super::view::InstView;
use crate::inst::{Cond, InstOpts, PredCtrl, Subfn};
use crate::op::{Format, MathFn, Op};
use crate::platform::Features;
use crate::reg::{Arf, Reg};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "controls-allowed",
        text: "an instruction has a predicate, condition modifier, saturation and source modifiers only if its opcode allows them",
        hint: "use a separate instruction, such as a `mov` or a `cmp`",
        kinds: InstKinds::ANY,
        applies: always,
        check: controls_allowed,
    },
    Rule {
        name: "options-allowed",
        text: "an instruction has only options of the platform and of its kind",
        hint: "omit the option: the scoreboard or the annotation orders dependencies",
        kinds: InstKinds::ANY,
        applies: always,
        check: options_allowed,
    },
    Rule {
        name: "channel-range",
        text: "the channel offset is a multiple of the execution size (of 4 at least)",
        hint: "use a channel offset that is a multiple of the execution size",
        kinds: InstKinds::ANY,
        applies: always,
        check: channel_range,
    },
    Rule {
        name: "flag-shared",
        text: "predicate and condition modifier share one field for their flag",
        hint: "use one flag for both, or two instructions",
        kinds: InstKinds::ANY,
        applies: always,
        check: |v, out| {
            if !v.one_flag {
                let what = format_args!("predicate and condition modifier must name the same flag");
                out.find(InstPart::Flag, what);
            }
        },
    },
    Rule {
        name: "flag-exists",
        text: "a flag is a 16-bit half of one of the platform's flag registers",
        hint: "use f0 or f1 (Xe-HPC also has f2 and f3)",
        kinds: InstKinds::ANY,
        applies: always,
        check: flag_exists,
    },
    Rule {
        name: "flag-channels",
        text: "32 channels need both halves of a flag",
        hint: "name the lower half; the bit of a channel is its number",
        kinds: InstKinds::ANY,
        applies: always,
        check: flag_channels,
    },
    Rule {
        name: "condition-needed",
        text: "`cmp` and (except on Xe-HPC) `csel` need a condition, `sel` a condition or a predicate",
        hint: "name the condition",
        kinds: InstKinds::ALU,
        applies: always,
        check: condition_needed,
    },
    Rule {
        name: "logic-condition",
        text: "bitwise operations never overflow and are never unordered",
        hint: "use `eq` or `ne`",
        kinds: InstKinds::DATA,
        applies: always,
        check: |v, out| {
            let op = v.op;
            if v.info.bitwise && matches!(v.cond, Some((_, Cond::Ov | Cond::Un))) {
                out.find(
                    InstPart::Flag,
                    format_args!("`{op}` never satisfies that condition"),
                );
            }
        },
    },
    Rule {
        name: "align16-predicate",
        text: "an Align16 predicate is per channel, `any4h` or `all4h`",
        hint: "combine the bits of the flag first",
        kinds: InstKinds::MACRO.union(InstKinds::TERNARY),
        applies: |f| f.align16,
        check: align16_predicate,
    },
    Rule {
        name: "cmp-null-switch",
        text: "a compare with a null destination needs the option Switch",
        hint: "add {Switch}, or write the result to a register",
        kinds: InstKinds::DATA,
        applies: |f| f.cmp_null_switch,
        check: |v, out| {
            let null = v.dst.is_some_and(|d| d.is_null());
            let cmp = matches!(v.op, Op::Cmp | Op::Cmpn);
            if cmp && null && !v.opts.contains(InstOpts::SWITCH) {
                let op = v.op;
                out.find(
                    InstPart::Inst,
                    format_args!("`{op}` to null needs {{Switch}}"),
                );
            }
        },
    },
    Rule {
        name: "acc-write-enable",
        text: "AccWrEn needs a destination that fits an accumulator: no bytes, no architecture register but null",
        hint: "write the accumulator with a separate instruction",
        kinds: InstKinds::TYPED,
        applies: always,
        check: acc_write_enable,
    },
];

fn controls_allowed(v: &InstView, out: &mut FindingSink<'_>) {
    let (info, op) = (v.info, v.op);
    let macro_fn = matches!(v.subfn, Subfn::Math(f) if f.is_macro());
    if v.pred.is_some() && !info.pred {
        out.find(InstPart::Flag, format_args!("`{op}` cannot be predicated"));
    }
    match v.cond {
        Some((_, Cond::Eo)) if !macro_fn => {
            let what = format_args!("only a math macro has the condition `eo`");
            out.find(InstPart::Flag, what);
        }
        Some((_, c)) if c != Cond::Eo && !info.cond => {
            out.find(
                InstPart::Flag,
                format_args!("`{op}` has no condition modifier"),
            );
        }
        _ => {}
    }
    if v.sat && !info.sat {
        out.find(InstPart::Dst, format_args!("`{op}` cannot saturate"));
    }
    if matches!(v.subfn, Subfn::BranchCtrl(true)) && !info.branch_ctrl {
        out.find(InstPart::Inst, format_args!("`{op}` has no branch control"));
    }
    for s in v.srcs() {
        if s.is_modified() && !info.mods {
            out.find(s.part, format_args!("`{op}` has no source modifiers"));
        } else if s.abs && info.bitwise {
            let what = format_args!("`{op}` can invert a source, but has no absolute value");
            out.find(s.part, what);
        }
    }
}

/// Option, its name, the kinds of instructions that take it, and a test of the platform for it.
type OptionRule = (InstOpts, &'static str, InstKinds, fn(&Features) -> bool);

/// Options that not every instruction or platform has.
const OPTIONS: &[OptionRule] = &[
    (InstOpts::NO_DD_CLR, "NoDDClr", InstKinds::ANY, |f| !f.swsb),
    (InstOpts::NO_DD_CHK, "NoDDChk", InstKinds::ANY, |f| !f.swsb),
    (InstOpts::EOT, "EOT", InstKinds::SEND, always),
    (
        InstOpts::NO_SRC_DEP_SET,
        "NoSrcDepSet",
        InstKinds::SEND,
        |f| !f.swsb,
    ),
    (InstOpts::SERIALIZE, "Serialize", InstKinds::SEND, |f| {
        f.serialize
    }),
    (InstOpts::EX_BSO, "ExBSO", InstKinds::SEND, |f| f.ex_bso),
    (InstOpts::CPS, "CPS", InstKinds::SEND, |f| f.ex_bso),
];

fn options_allowed(v: &InstView, out: &mut FindingSink<'_>) {
    for (opt, name, kinds, exists) in OPTIONS {
        if !v.opts.contains(*opt) {
            continue;
        }
        if !exists(v.f) {
            let p = v.platform;
            out.find(
                InstPart::Inst,
                format_args!("{{{name}}} does not exist on {p}"),
            );
        } else if !kinds.intersects(v.kind) {
            let op = v.op;
            out.find(
                InstPart::Inst,
                format_args!("`{op}` does not take {{{name}}}"),
            );
        }
    }
    if v.opts.contains(InstOpts::ACC_WR_EN) && !v.info.acc {
        let op = v.op;
        let what = format_args!("`{op}` cannot also write the accumulator");
        out.find(InstPart::Inst, what);
    }
}

fn channel_range(v: &InstView, out: &mut FindingSink<'_>) {
    let (n, first) = (v.exec, v.first);
    if !first.is_multiple_of(n.max(4)) {
        let what = format_args!("{n} channels cannot start at channel {first}");
        out.find(InstPart::Inst, what);
    }
}

fn flags(v: &InstView) -> impl Iterator<Item = super::view::FlagUse> {
    let pred = v.pred.map(|p| p.0);
    pred.into_iter().chain(v.cond.map(|c| c.0))
}

fn flag_exists(v: &InstView, out: &mut FindingSink<'_>) {
    let most = v.f.flag_regs;
    for flag in flags(v) {
        let reg = match flag.reg {
            Some(Reg::Arf(Arf::Flag, n)) => u32::from(n) < most,
            Some(_) => false,
            None => true,
        };
        if !reg || !matches!(flag.sub, 0 | 2) {
            let what = format_args!("not a flag sub-register of the platform");
            out.find(InstPart::Flag, what);
        }
    }
}

fn flag_channels(v: &InstView, out: &mut FindingSink<'_>) {
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
            out.find(InstPart::Flag, what);
        }
    }
}

fn condition_needed(v: &InstView, out: &mut FindingSink<'_>) {
    let (missing, what) = match v.op {
        Op::Csel if v.f.csel_alone => (false, ""),
        Op::Cmp | Op::Cmpn | Op::Csel => (v.cond.is_none(), "a condition modifier"),
        Op::Sel => (
            v.cond.is_none() == v.pred.is_none(),
            "either a predicate or a condition modifier",
        ),
        _ => (false, ""),
    };
    if missing {
        let op = v.op;
        out.find(InstPart::Flag, format_args!("`{op}` needs {what}"));
    }
}

fn align16_predicate(v: &InstView, out: &mut FindingSink<'_>) {
    let align16 = match v.kind {
        InstKinds::TERNARY => v.f.ternary_align16,
        _ => matches!(v.subfn, Subfn::Math(MathFn::Invm | MathFn::Rsqtm)) || v.info.mme,
    };
    let plain = |ctrl| {
        matches!(
            ctrl,
            PredCtrl::Sequential | PredCtrl::AnyH(4) | PredCtrl::AllH(4)
        )
    };
    if align16 && v.pred.is_some_and(|(_, ctrl)| !plain(ctrl)) {
        let what = format_args!("an Align16 predicate is per channel, `any4h` or `all4h`");
        out.find(InstPart::Flag, what);
    }
}

fn acc_write_enable(v: &InstView, out: &mut FindingSink<'_>) {
    if !v.opts.contains(InstOpts::ACC_WR_EN) {
        return;
    }
    let Some(d) = v.dst else { return };
    if d.bytes() == 1 {
        out.find(
            InstPart::Dst,
            format_args!("an accumulator cannot hold bytes"),
        );
    }
    if d.arf().is_some_and(|a| !matches!(a, Arf::Null | Arf::Acc)) {
        let what = format_args!(
            "an architecture register cannot be written together with the accumulator"
        );
        out.find(InstPart::Dst, what);
    }
}
