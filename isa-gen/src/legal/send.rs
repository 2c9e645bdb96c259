//! Rules of sends.

use super::InstPart;
use super::rule::{FindingSink, InstKinds, Rule, always};
use super::view::{DescView, InstView, OperandLocation};
use crate::inst::{InstOpts, Subfn};
use crate::op::Format;

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "send-operands",
        text: "payloads and response are whole GRFs; only a response or a second payload may be null",
        hint: "align the payload to a register",
        kinds: InstKinds::SEND,
        applies: always,
        check: send_operands,
    },
    Rule {
        name: "send-descriptors",
        text: "a descriptor in a register is in a0.0, an extended descriptor in a dword of a0",
        hint: "move the descriptor to a0.0",
        kinds: InstKinds::SEND,
        applies: always,
        check: send_descriptors,
    },
    Rule {
        name: "send-message-length",
        text: "a message has one register or more",
        hint: "give the length of the payload in bits 28:25 of the descriptor",
        kinds: InstKinds::SEND,
        applies: always,
        check: |v, out| {
            if let Some(SendLengths { src0: 0, .. }) = lengths(v) {
                out.find(InstPart::Desc, format_args!("a message of no registers"));
            }
        },
    },
    Rule {
        name: "send-lengths",
        text: "payloads and response are within the GRF file",
        hint: "start at a lower register, or correct the lengths in the descriptors",
        kinds: InstKinds::SEND,
        applies: always,
        check: send_lengths,
    },
    Rule {
        name: "send-overlap",
        text: "the two payloads do not overlap",
        hint: "put the payloads into disjoint registers",
        kinds: InstKinds::SEND,
        applies: |f| f.split_send || f.unified_send,
        check: send_overlap,
    },
    Rule {
        name: "send-r127",
        text: "a response that reaches r127 does not overlap the payload",
        hint: "allocate the response below r127",
        kinds: InstKinds::SEND,
        applies: |f| !f.unified_send,
        check: send_r127,
    },
    Rule {
        name: "send-eot",
        text: "the thread's last message comes from the last sixteen registers and has no response",
        hint: "copy the payload to r112 or above",
        kinds: InstKinds::SEND,
        applies: always,
        check: send_eot,
    },
    Rule {
        name: "lsc-transpose-exec",
        text: "a transposed message of the load/store cache has one channel",
        hint: "send it with (1|M0)",
        kinds: InstKinds::SEND,
        applies: |f| f.lsc,
        check: lsc_transpose_exec,
    },
];

/// SendLengths in GRFs, as far as known.
struct SendLengths {
    dst: u32,
    src0: u32,
    src1: u32,
}

fn lengths(v: &InstView) -> Option<SendLengths> {
    let send = v.send?;
    let (src0, dst) = match send.desc {
        DescView::Imm(d) => (d >> 25 & 15, d >> 20 & 31),
        DescView::Reg(..) => (1, 0),
    };
    let src1 = match (send.src1_len, send.ex) {
        (Some(n), _) => n.into(),
        (None, DescView::Imm(ex)) if v.info.format == Format::XeSend => ex >> 6 & 31,
        (None, DescView::Imm(ex)) => ex >> 6 & 15,
        (None, DescView::Reg(..)) => 1,
    };
    Some(SendLengths { dst, src0, src1 })
}

fn send_operands(v: &InstView, out: &mut FindingSink<'_>) {
    for o in v.operands() {
        let null_ok = matches!(o.part, InstPart::Dst | InstPart::Src(1));
        match o.location {
            OperandLocation::Grf(_, sub) if sub % v.grf() != 0 => {
                let what = format_args!("a send operand must start at the start of a register");
                out.find(o.part, what);
            }
            OperandLocation::Grf(..) => {}
            OperandLocation::Indirect(..) if !v.f.unified_send => {}
            _ if o.is_null() && null_ok => {}
            _ => out.find(o.part, format_args!("a send operand must be a GRF")),
        }
    }
}

fn send_descriptors(v: &InstView, out: &mut FindingSink<'_>) {
    let Some(send) = v.send else { return };
    if let DescView::Reg(a0, sub) = send.desc
        && (!a0 || sub != 0)
    {
        out.find(
            InstPart::Desc,
            format_args!("a descriptor in a register must be in a0.0"),
        );
    }
    if let DescView::Reg(a0, sub) = send.ex
        && (!a0 || sub % 4 != 0 || sub >= 32)
    {
        let what = format_args!("an extended descriptor in a register must be in a dword of a0");
        out.find(InstPart::Desc, what);
    }
}

fn grf(v: &InstView, part: InstPart) -> Option<u32> {
    v.operands().find(|o| o.part == part)?.grf()
}

fn send_lengths(v: &InstView, out: &mut FindingSink<'_>) {
    let Some(l) = lengths(v) else { return };
    let count = v.f.grf_count_large;
    for (part, len) in [
        (InstPart::Dst, l.dst),
        (InstPart::Src(0), l.src0),
        (InstPart::Src(1), l.src1),
    ] {
        if let Some(at) = grf(v, part)
            && at + len > count
        {
            let most = count - 1;
            let what = format_args!("{len} registers from r{at} go beyond r{most}");
            out.find(part, what);
        }
    }
}

fn send_overlap(v: &InstView, out: &mut FindingSink<'_>) {
    let Some(l) = lengths(v) else { return };
    if let (Some(a), Some(b)) = (grf(v, InstPart::Src(0)), grf(v, InstPart::Src(1)))
        && a < b + l.src1
        && b < a + l.src0
        && l.src1 > 0
    {
        out.find(InstPart::Src(1), format_args!("the two payloads overlap"));
    }
}

fn send_r127(v: &InstView, out: &mut FindingSink<'_>) {
    let Some(l) = lengths(v) else { return };
    if let (Some(d), Some(a)) = (grf(v, InstPart::Dst), grf(v, InstPart::Src(0)))
        && v.info.format == Format::Send
        && d + l.dst > 127
        && a + l.src0 > d
    {
        let what = format_args!("a response that reaches r127 must not overlap the payload");
        out.find(InstPart::Dst, what);
    }
}

fn send_eot(v: &InstView, out: &mut FindingSink<'_>) {
    if !v.opts.contains(InstOpts::EOT) {
        return;
    }
    // In large GRF mode these are the last sixteen of 256.
    let first = v.f.grf_count - 16;
    for s in v.srcs() {
        if s.grf().is_some_and(|n| n < first) {
            let what = format_args!("the thread's last message must come from r{first} or above");
            out.find(s.part, what);
        }
    }
    if v.written().is_some() {
        let what = format_args!("the thread's last message has no response");
        out.find(InstPart::Dst, what);
    }
}

/// Shared functions of the load/store cache: `tgm`, `slm`, `ugm`.
const LSC: [u8; 3] = [13, 14, 15];
/// Operations that can be transposed: load, strided load, store, strided store.
const TRANSPOSABLE: [u32; 4] = [0, 1, 4, 5];

fn lsc_transpose_exec(v: &InstView, out: &mut FindingSink<'_>) {
    let (Subfn::Send(sfid), Some(send)) = (v.subfn, v.send) else {
        return;
    };
    let DescView::Imm(desc) = send.desc else {
        return;
    };
    let lsc = LSC.contains(&sfid.number()) && TRANSPOSABLE.contains(&(desc & 63));
    if lsc && desc >> 15 & 1 == 1 && v.exec != 1 {
        let what = format_args!("a transposed message has one channel");
        out.find(InstPart::Inst, what);
    }
}
