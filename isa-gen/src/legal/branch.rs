//! Rules of branches, `sync` and the software scoreboard.

use super::InstPart;
use super::rule::{FindingSink, InstKinds, Rule, always};
use super::view::{InstView, OperandLocation, SourceKind};
use crate::inst::{Subfn, SyncFn, Target};
use crate::op::{Format, Op};
use crate::swsb::{Pipe, TokenKind};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "branch-targets",
        text: "a target is an offset at which an instruction can start",
        hint: "branch to a label",
        kinds: InstKinds::BRANCH,
        applies: always,
        check: |v, out| {
            for (n, s) in (0u8..).zip(v.source_kinds) {
                if matches!(s, SourceKind::Target(Target::Rel(r)) if r % 8 != 0) {
                    let what =
                        format_args!("no instruction can start there: not a multiple of 8 bytes");
                    out.find(InstPart::Src(n), what);
                }
            }
        },
    },
    Rule {
        name: "branch-range",
        text: "a target fits a signed 16-bit number of 8-byte units",
        hint: "jump with `jmpi`, or move the code",
        kinds: InstKinds::BRANCH,
        applies: |f| !f.branch_bytes,
        check: |v, out| {
            for (n, s) in (0u8..).zip(v.source_kinds) {
                let SourceKind::Target(Target::Rel(r)) = s else {
                    continue;
                };
                let far = !(-0x8000..0x8000).contains(&(r / 8));
                if far && !matches!(v.info.format, Format::Jmpi | Format::Call) {
                    out.find(InstPart::Src(n), format_args!("{r} bytes are too far"));
                }
            }
        },
    },
    Rule {
        name: "jmpi-scalar",
        text: "`jmpi` moves the whole thread: it has one channel and no mask",
        hint: "write (W) and (1|M0)",
        kinds: InstKinds::BRANCH,
        applies: always,
        check: |v, out| {
            if v.info.format == Format::Jmpi && (v.exec != 1 || !v.no_mask) {
                let what = format_args!("`jmpi` moves the whole thread: one channel, with `(W)`");
                out.find(InstPart::Inst, what);
            }
        },
    },
    Rule {
        name: "sync-operand",
        text: "`sync` reads null; `allrd` and `allwr` may take a mask of tokens, `bar` a mask of barriers",
        hint: "omit the operand",
        kinds: InstKinds::SYNC,
        applies: |f| f.swsb,
        check: sync_operand,
    },
    Rule {
        name: "swsb-exists",
        text: "there are no annotations before Xe, where hardware tracks dependencies",
        hint: "omit the annotation",
        kinds: InstKinds::ANY,
        applies: |f| !f.swsb,
        check: |v, out| {
            if !v.swsb.is_empty() {
                let p = v.platform;
                let what = format_args!("there is no software scoreboard on {p}");
                out.find(InstPart::Inst, what);
            }
        },
    },
    Rule {
        name: "swsb-distance",
        text: "a distance is 1 to 7, in a pipe of the platform",
        hint: "a dependency further back needs no distance",
        kinds: InstKinds::ANY,
        applies: |f| f.swsb,
        check: swsb_distance,
    },
    Rule {
        name: "swsb-token",
        text: "a token exists on the platform",
        hint: "use $0 to $15 ($31 on Xe-HPC)",
        kinds: InstKinds::ANY,
        applies: |f| f.swsb,
        check: |v, out| {
            if let Some(t) = v.swsb.token
                && u32::from(t.sbid) >= v.f.sb_tokens
            {
                let n = t.sbid;
                out.find(InstPart::Inst, format_args!("there is no token ${n}"));
            }
        },
    },
    Rule {
        name: "swsb-token-set",
        text: "only instructions that execute out of order set a token: sends, and those of the systolic array and the math unit",
        hint: "wait for a token with .dst or .src",
        kinds: InstKinds::ANY,
        applies: |f| f.swsb,
        check: swsb_token_set,
    },
    Rule {
        name: "swsb-together",
        text: "a distance can be combined with setting a token, and with waiting for one only if that has an encoding",
        hint: "wait for one of them in a `sync.nop` before the instruction",
        kinds: InstKinds::ANY,
        applies: |f| f.swsb,
        check: swsb_together,
    },
];

fn sync_operand(v: &InstView, out: &mut FindingSink<'_>) {
    let Some(s) = v.src(0) else { return };
    let Subfn::Sync(function) = v.subfn else {
        return;
    };
    let ok = match s.location {
        // A mask of tokens, or the barriers to wait for.
        OperandLocation::Imm(_) => matches!(function, SyncFn::Allrd | SyncFn::Allwr | SyncFn::Bar),
        _ => s.is_null() || function == SyncFn::Bar,
    };
    if !ok {
        out.find(s.part, format_args!("`sync` does not take this operand"));
    }
}

fn swsb_distance(v: &InstView, out: &mut FindingSink<'_>) {
    let Some(d) = v.swsb.distance else { return };
    if !(1..=7).contains(&d.n) {
        let n = d.n;
        out.find(
            InstPart::Inst,
            format_args!("a distance of {n} is not 1 to 7"),
        );
    }
    if d.pipe != Pipe::Own && !v.f.swsb_pipes.contains(&d.pipe) {
        let p = v.platform;
        out.find(
            InstPart::Inst,
            format_args!("{d} names a pipe that {p} does not have"),
        );
    }
}

/// Returns true if an instruction executes out of order.
fn out_of_order(v: &InstView) -> bool {
    let f64_by_math = v.f.out_of_order_f64 && v.is_64bit();
    let math = v.op == Op::Math && !v.f.swsb_pipes.contains(&Pipe::Math);
    matches!(v.kind, InstKinds::SEND | InstKinds::DPAS) || math || f64_by_math
}

fn swsb_token_set(v: &InstView, out: &mut FindingSink<'_>) {
    let set = v.swsb.token.is_some_and(|t| t.kind == TokenKind::Set);
    if set && !out_of_order(v) {
        let op = v.op;
        let what = format_args!("`{op}` executes in order and cannot set a token");
        out.find(InstPart::Inst, what);
    }
}

fn swsb_together(v: &InstView, out: &mut FindingSink<'_>) {
    let (Some(d), Some(t)) = (v.swsb.distance, v.swsb.token) else {
        return;
    };
    let sets = out_of_order(v);
    let ok = match t.kind {
        TokenKind::Set => sets,
        // Allowed in the instruction's own pipe, and on platforms with a single pipe.
        TokenKind::Dst | TokenKind::Src => {
            !sets && (d.pipe == Pipe::Own || v.f.swsb_pipes.len() > 1)
        }
    };
    if !ok {
        let what = format_args!("{d} and {t} cannot be combined");
        out.find(InstPart::Inst, what);
    }
}
