//! Messages of the read-only port that control compression (Xe-HP on), and what the data ports say
//! of other numbers. Most of these messages stay raw.

use super::expr::{Expr, addresses, row};
use super::field::{
    Field, fails, field, header, header_of, header_required, mask, only, simd3, slots3, surface,
    surface_of,
};
use super::row::{Form, LSC, Message, Payload, Port};
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
    let unknown = |port| Form::other(port).fields([]).described("");
    let title = |port: Port| {
        let (lo, len) = port.number();
        field(lo, len).named("MessageType", &[])
    };
    let error = || fails(14, 5, "no such message type");
    vec![
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
        unknown(Port::DataCache0).fields([title(Port::DataCache0), error()]),
        unknown(Port::DataCache1).fields([error()]),
        unknown(Port::ReadOnly).fields([title(Port::ReadOnly), header(), surface(), error()]),
        unknown(Port::DataCache2).fields([fails(0, 32, "unknown message")]),
    ]
}

/// Write that leaves the memory uncompressed, with the fields of an untyped write.
fn uncompressed_write() -> Message {
    let form = |number, gens, value, a64, text| {
        Form::of(Port::ReadOnly, number)
            .on(gens)
            .value("uncompressed write", value)
            .fields([mask(), simd3(), surface_of(a64), header_of(a64), only(gens)])
            .says("MessageType", text, text)
    };
    Message::new(
        "UncompressedWrite",
        "Untyped write to compressible memory that leaves it uncompressed (Xe-HP on; Xe-HPG on with 32-bit addresses).",
    )
    .addr()
    .arg("rgba", "Rgba", "Dwords that are written.")
    .simd()
    .text("uncompressed write {addr} simd{simd} {rgba}")
    .payload(Payload {
        data: Expr::Count("rgba").times(row(Expr::Num(4))),
        ..Payload::address(addresses())
    })
    .form(form(
        0x09,
        LSC,
        "UncompressedWrite { addr: AddrModel::A32(surface), rgba, simd }",
        false,
        "untyped surface uncompressed write",
    ))
    .form(form(
        0x19,
        XE_HP_ON,
        "UncompressedWrite { addr: AddrModel::A64(surface), rgba, simd }",
        true,
        "A64 untyped surface uncompressed write",
    ))
}

/// Returns the messages, and that of raw bits.
pub(super) fn rows() -> Vec<Message> {
    vec![
        uncompressed_write(),
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
