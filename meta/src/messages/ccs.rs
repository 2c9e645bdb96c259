//! Messages of the read-only port that control compression (Xe-HP on), which stay raw, and what the
//! data ports say of other numbers.

use super::field::{
    Field, fails, field, header, header_of, header_required, mask, only, simd3, slots3, surface,
    surface_of,
};
use super::row::{Form, LSC, Message, Port};
use crate::generation::{Gens, XE_HP_ON};

/// Form of the read-only port that is only described.
fn described(number: u8, fields: Vec<Field>, on: Option<Gens>, text: &'static str) -> Form {
    let raw = |f: Field| f.not_encoded();
    Form::of(Port::ReadOnly, number)
        .fields(fields.into_iter().map(raw))
        .fields(on.map(only))
        .says("MessageType", text, text)
}

fn sector_op() -> Field {
    field(8, 4).named(
        "SectorUpdateOpcode",
        &["?", "slow clear", "?", "slow uncompress"],
    )
}

/// Returns the forms of messages without an operation.
pub(super) fn forms() -> Vec<Form> {
    let page_op = field(8, 2).named(
        "PageUpdateOpcode",
        &["fast clear", "?", "fast uncompress", "?"],
    );
    let uncompressed = |a64| vec![mask(), simd3(), surface_of(a64), header_of(a64)];
    let unknown = |port| Form::other(port).fields([]).described("");
    let title = |port: Port| {
        let (lo, len) = port.number();
        field(lo, len).named("MessageType", &[])
    };
    let error = || fails(14, 5, "no such message type");
    vec![
        described(
            0x09,
            uncompressed(false),
            Some(LSC),
            "untyped surface uncompressed write",
        ),
        described(
            0x0c,
            vec![sector_op(), slots3(), surface(), header()],
            None,
            "typed surface CCS update message",
        ),
        described(
            0x0d,
            vec![mask(), slots3(), surface(), header()],
            Some(LSC),
            "typed surface uncompressed write",
        ),
        described(
            0x17,
            vec![page_op, surface(), header_required()],
            Some(LSC),
            "A64 page CCS update operation",
        ),
        described(
            0x18,
            vec![sector_op(), simd3(), surface_of(true), header_of(true)],
            Some(XE_HP_ON),
            "A64 untyped surface CCS operation",
        ),
        described(
            0x19,
            uncompressed(true),
            Some(XE_HP_ON),
            "A64 untyped surface uncompressed write",
        ),
        unknown(Port::DataCache0).fields([title(Port::DataCache0), error()]),
        unknown(Port::DataCache1).fields([error()]),
        unknown(Port::ReadOnly).fields([title(Port::ReadOnly), header(), surface(), error()]),
        unknown(Port::DataCache2).fields([fails(0, 32, "unknown message")]),
    ]
}

/// Returns messages without forms.
pub(super) fn rows() -> Vec<Message> {
    vec![
        Message::new(
            "Raw",
            "Message that has no variant here, with its raw bits.",
        )
        .arg("sfid", "Sfid", "Shared function that receives it.")
        .arg(
            "control",
            "u64",
            "Function control: descriptor bits 18:0 and 31:29 in the same positions, and bits 31:11 of the extended descriptor in bits 63:43.",
        )
        .text("{sfid} message with control {control:#x}"),
    ]
}
