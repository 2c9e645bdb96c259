//! Branches, `sync` and the software scoreboard.

use super::Part;
use super::rule::{Kinds, Rule, Sink, always};
use super::view::{Place, Slot, View};
use crate::inst::{Subfn, SyncFn, Target};
use crate::op::{Format, Op};
use crate::swsb::{Pipe, TokenKind};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "branch-targets",
        text: "a target is where an instruction can start",
        hint: "branch to a label",
        kinds: Kinds::BRANCH,
        applies: always,
        check: |v, out| {
            for (n, s) in (0u8..).zip(v.slots) {
                if matches!(s, Slot::Target(Target::Rel(r)) if r % 8 != 0) {
                    let what =
                        format_args!("no instruction starts there: not a multiple of 8 bytes");
                    out.find(Part::Src(n), what);
                }
            }
        },
    },
    Rule {
        name: "branch-range",
        text: "a target is within 16 bits of units of 8 bytes",
        hint: "jump with `jmpi`, or move the code",
        kinds: Kinds::BRANCH,
        applies: |f| !f.branch_bytes,
        check: |v, out| {
            for (n, s) in (0u8..).zip(v.slots) {
                let Slot::Target(Target::Rel(r)) = s else {
                    continue;
                };
                let far = !(-0x8000..0x8000).contains(&(r / 8));
                if far && !matches!(v.info.format, Format::Jmpi | Format::Call) {
                    out.find(Part::Src(n), format_args!("{r} bytes are too far"));
                }
            }
        },
    },
    Rule {
        name: "jmpi-scalar",
        text: "`jmpi` moves the whole thread: one channel, without a mask",
        hint: "write (W) and (1|M0)",
        kinds: Kinds::BRANCH,
        applies: always,
        check: |v, out| {
            if v.info.format == Format::Jmpi && (v.exec != 1 || !v.no_mask) {
                let what = format_args!("`jmpi` moves the whole thread: one channel, with `(W)`");
                out.find(Part::Inst, what);
            }
        },
    },
    Rule {
        name: "sync-operand",
        text: "`sync` reads null; `allrd` and `allwr` may take a mask of tokens, `bar` its barriers",
        hint: "leave the operand out",
        kinds: Kinds::SYNC,
        applies: |f| f.swsb,
        check: sync_operand,
    },
    Rule {
        name: "swsb-exists",
        text: "before Xe the hardware tracks dependencies: there is no annotation",
        hint: "leave the annotation out",
        kinds: Kinds::ANY,
        applies: |f| !f.swsb,
        check: |v, out| {
            if !v.swsb.is_empty() {
                let p = v.platform;
                let what = format_args!("there is no software scoreboard on {p}");
                out.find(Part::Inst, what);
            }
        },
    },
    Rule {
        name: "swsb-distance",
        text: "a distance is 1 to 7, in a pipe that the platform has",
        hint: "a dependency further back needs no distance",
        kinds: Kinds::ANY,
        applies: |f| f.swsb,
        check: swsb_distance,
    },
    Rule {
        name: "swsb-token",
        text: "a token is one of the platform's",
        hint: "use $0 to $15 ($31 on Xe-HPC)",
        kinds: Kinds::ANY,
        applies: |f| f.swsb,
        check: |v, out| {
            if let Some(t) = v.swsb.token
                && u32::from(t.sbid) >= v.f.sb_tokens
            {
                let n = t.sbid;
                out.find(Part::Inst, format_args!("there is no token ${n}"));
            }
        },
    },
    Rule {
        name: "swsb-token-set",
        text: "a token is set by instructions that run out of order: messages, the systolic array, the math box and what it does",
        hint: "wait for a token with .dst or .src",
        kinds: Kinds::ANY,
        applies: |f| f.swsb,
        check: swsb_token_set,
    },
    Rule {
        name: "swsb-together",
        text: "a distance goes with a token that is set; with one waited for only where the encoding has room",
        hint: "wait for one of them in a `sync.nop` before",
        kinds: Kinds::ANY,
        applies: |f| f.swsb,
        check: swsb_together,
    },
];

fn sync_operand(v: &View, out: &mut Sink<'_>) {
    let Some(s) = v.src(0) else { return };
    let Subfn::Sync(function) = v.subfn else {
        return;
    };
    let ok = match s.place {
        // A mask of tokens, or the barriers that are waited on.
        Place::Imm(_) => matches!(function, SyncFn::Allrd | SyncFn::Allwr | SyncFn::Bar),
        _ => s.is_null() || function == SyncFn::Bar,
    };
    if !ok {
        out.find(s.part, format_args!("`sync` does not take this operand"));
    }
}

fn swsb_distance(v: &View, out: &mut Sink<'_>) {
    let Some(d) = v.swsb.distance else { return };
    if !(1..=7).contains(&d.n) {
        let n = d.n;
        out.find(Part::Inst, format_args!("a distance of {n} is not 1 to 7"));
    }
    if d.pipe != Pipe::Own && !v.f.swsb_pipes.contains(&d.pipe) {
        let p = v.platform;
        out.find(
            Part::Inst,
            format_args!("{d} names a pipe that {p} has not"),
        );
    }
}

/// Whether an instruction runs out of order.
fn out_of_order(v: &View) -> bool {
    let f64_by_math = v.f.out_of_order_f64 && v.is_64bit();
    let math = v.op == Op::Math && !v.f.swsb_pipes.contains(&Pipe::Math);
    matches!(v.kind, Kinds::SEND | Kinds::DPAS) || math || f64_by_math
}

fn swsb_token_set(v: &View, out: &mut Sink<'_>) {
    let set = v.swsb.token.is_some_and(|t| t.kind == TokenKind::Set);
    if set && !out_of_order(v) {
        let op = v.op;
        let what = format_args!("`{op}` runs in order and sets no token");
        out.find(Part::Inst, what);
    }
}

fn swsb_together(v: &View, out: &mut Sink<'_>) {
    let (Some(d), Some(t)) = (v.swsb.distance, v.swsb.token) else {
        return;
    };
    let sets = out_of_order(v);
    let ok = match t.kind {
        TokenKind::Set => sets,
        // In the instruction's own pipe, and where that is no question of which.
        TokenKind::Dst | TokenKind::Src => {
            !sets && (d.pipe == Pipe::Own || v.f.swsb_pipes.len() > 1)
        }
    };
    if !ok {
        let what = format_args!("{d} and {t} cannot stand together");
        out.find(Part::Inst, what);
    }
}
