//! Rules of messages: descriptors are defined, and payloads and response have the lengths that the
//! operation needs.

use super::InstPart;
use super::rule::{InstKinds, Rule, always};
use super::view::{DescView, InstView};
use crate::diag::Count;
use crate::inst::{InstOpts, Subfn};
use crate::message::{Lengths, LscPort, Message, MessageError, MsgOp, SendBits, Sfid};
use crate::op::Format;

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "message-reserved",
        text: "no field of a descriptor has a reserved value",
        hint: "see the descriptor's fields in the disassembler's comment",
        kinds: InstKinds::SEND,
        applies: always,
        check: |v, out| {
            if let Some(Err(e @ MessageError::Reserved { .. })) = message(v) {
                out.find(InstPart::Desc, format_args!("{e}"));
            }
        },
    },
    Rule {
        name: "message-response",
        text: "the response has the length that the operation returns, or is omitted",
        hint: "correct bits 24:20 of the descriptor",
        kinds: InstKinds::SEND,
        applies: always,
        check: |v, out| {
            let Some((m, l)) = measured(v) else { return };
            let (n, need) = (u32::from(m.response_grfs), l.response);
            if n != need && n != 0 {
                let what = format_args!("the response has {}, not {n}", Count(need, "register"));
                out.find(InstPart::Desc, what);
            }
        },
    },
    Rule {
        name: "message-payload",
        text: "the payloads have the length that the operation needs",
        hint: "correct the lengths in the descriptors",
        kinds: InstKinds::SEND,
        applies: always,
        check: |v, out| {
            let Some((m, l)) = measured(v) else { return };
            let need = l.address + l.data + u32::from(l.header || m.header);
            let n = u32::from(m.src0_grfs) + u32::from(m.src1_grfs);
            if n < need {
                let what = format_args!("the payloads have {}, not {n}", Count(need, "register"));
                out.find(InstPart::Desc, what);
            }
        },
    },
    Rule {
        name: "lsc-payload",
        text: "in messages of the load/store cache, source 0 holds the addresses and source 1 the data",
        hint: "correct the lengths: vector size times channels, each element of all channels in whole registers",
        kinds: InstKinds::SEND,
        applies: |f| f.lsc,
        check: |v, out| {
            let Some((m, l)) = measured(v) else { return };
            let MsgOp::Lsc(op) = m.op else {
                return;
            };
            let (a, d) = (u32::from(m.src0_grfs), u32::from(m.src1_grfs));
            // The surface determines the number of coordinates of an image.
            if a != l.address && op.port != LscPort::Tgm {
                let need = l.address;
                let what = format_args!("the addresses take {}, not {a}", Count(need, "register"));
                out.find(InstPart::Src(0), what);
            }
            if d != l.data {
                let need = l.data;
                let what = format_args!("the data take {}, not {d}", Count(need, "register"));
                out.find(InstPart::Src(1), what);
            }
        },
    },
];

/// Decodes the message of a send with immediate descriptors.
fn message(v: &InstView) -> Option<Result<Message, MessageError>> {
    let send = v.send?;
    let (DescView::Imm(desc), DescView::Imm(ex)) = (send.desc, send.ex) else {
        return None;
    };
    let bits = match v.subfn {
        Subfn::Send(sfid) => SendBits {
            sfid,
            ex: ex
                & if send.src1_len.is_some() {
                    !0x3f
                } else {
                    !0x7ff
                },
            desc,
            src1_len: send.src1_len.unwrap_or((ex >> 6 & 31) as u8),
            eot: v.opts.contains(InstOpts::EOT),
        },
        _ => {
            let bits = SendBits::of_descs(ex, desc);
            let src1_len = match v.info.format {
                Format::Send => 0,
                _ => bits.src1_len,
            };
            SendBits { src1_len, ..bits }
        }
    };
    (bits.sfid != Sfid::NULL).then(|| Message::read(v.platform, &bits))
}

/// Returns a message whose descriptor determines its lengths, with the lengths that it needs.
fn measured(v: &InstView) -> Option<(Message, Lengths)> {
    let m = message(v)?.ok()?;
    let measured = m.op.access().is_some() || matches!(m.op, MsgOp::Scratch { .. } | MsgOp::Lsc(_));
    measured.then(|| (m, m.op.lengths_for(v.platform, v.exec)))
}
