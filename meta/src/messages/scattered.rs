//! Untyped and scattered messages: elements of memory for each channel.

use super::expr::{Expr, addresses, row};
use super::field::{
    Codec, Field, Meaning, arg, field, header, header_of, invalidate, mask, simd, simd3, stateless,
    surface, surface_of,
};
use super::row::{Form, Message, Payload, Port};
use crate::generation::{ALL, GEN7P5, GEN11, Gens, XE};

/// Generations with 64-bit addresses.
const GEN8_ON: Gens = ALL.without(GEN7P5);
/// Generations with scattered qwords at 32-bit addresses.
const GEN11_ON: Gens = GEN11.and(XE);

const ELEMENTS: [&str; 4] = ["1 element", "2 elements", "4 elements", "8 elements"];

/// Number of elements, by its logarithm.
fn elements(name: &'static str, arg_name: &'static str) -> Field {
    arg(arg_name, 10, 2, Codec::Log2(3)).named(name, &ELEMENTS)
}

fn dwords() -> Field {
    elements("DataElements:MDC_DWS_DS", "count").label("count")
}

/// Bytes of a channel, by their logarithm.
fn bytes(name: &'static str, most: u32) -> Field {
    let f = elements(name, "bytes")
        .label("data size")
        .of("byte scattered");
    Field {
        codec: Codec::Log2(most),
        ..f
    }
    .words("bytes", &[" 8b", " 16b", " 32b"])
}

/// Fields after the elements of a scattered message with 32-bit addresses.
fn a32() -> [Field; 4] {
    let legacy = Field {
        codec: Codec::Always(1),
        ..field(9, 1)
    };
    [
        simd(8),
        surface(),
        legacy
            .listed("LegacySimdMode", Meaning::Plain)
            .warn(&[0], "always set"),
        header(),
    ]
}

/// Fields of a scattered message with 64-bit addresses: unit, elements, and the others.
fn a64(unit: u32, elements: Field) -> [Field; 6] {
    let names = ["byte", "dword", "qword", "byte, status"];
    [
        field(8, 2).select(unit).named("SubType", &names),
        elements,
        simd(12),
        stateless(),
        invalidate(),
        header_of(true),
    ]
}

fn untyped() -> Message {
    let form = |number, value, a64: bool, text: &'static str, summary| {
        Form::of(Port::DataCache1, number)
            .on(if a64 { GEN8_ON } else { ALL })
            .value("untyped surface", value)
            .fields([mask(), simd3(), surface_of(a64), header_of(a64)])
            .says("MessageType", text, summary)
    };
    Message::new(
        "Untyped",
        "Untyped surface access: up to four consecutive dwords per channel, each dword of all channels in its own GRF (two GRFs in SIMD16).",
    )
    .dir()
    .addr()
    .arg("rgba", "Rgba", "Dwords that are accessed.")
    .simd()
    .text("untyped {dir} {addr} simd{simd} {rgba}")
    .payload(Payload::moved(
        addresses(),
        Expr::Count("rgba").times(row(Expr::Num(4))),
    ))
    .form(form(
        0x01,
        "Untyped { dir: Dir::Read, addr: AddrModel::A32(surface), rgba, simd }",
        false,
        "untyped surface read",
        "untyped surface read with {rgba}",
    ))
    .form(form(
        0x09,
        "Untyped { dir: Dir::Write, addr: AddrModel::A32(surface), rgba, simd }",
        false,
        "untyped surface write",
        "untyped surface write with {rgba}",
    ))
    .form(form(
        0x11,
        "Untyped { dir: Dir::Read, addr: AddrModel::A64(surface), rgba, simd }",
        true,
        "a64 untyped surface read",
        "a64 untyped surface read with {rgba}",
    ))
    .form(form(
        0x19,
        "Untyped { dir: Dir::Write, addr: AddrModel::A64(surface), rgba, simd }",
        true,
        "a64 untyped surface write",
        "a64 untyped surface write with {rgba}",
    ))
}

fn byte_scattered() -> Message {
    let a32 = |number, value, text, summary| {
        Form::of(Port::DataCache0, number)
            .value("byte scattered", value)
            .fields([
                bytes("DataElements:MDC_DS", 2),
                simd(8),
                surface(),
                invalidate(),
                header(),
            ])
            .says("MessageType", text, summary)
    };
    let a64 = |number, value, text, summary| {
        Form::of(Port::DataCache1, number)
            .on(GEN8_ON)
            .value("A64 byte scattered", value)
            .fields(a64(0, bytes("DataElements:MDC_A64_DS", 3)))
            .says("MessageType", text, summary)
    };
    Message::new(
        "ByteScattered",
        "Byte scattered access: 1, 2 or 4 bytes per channel, each in the low part of a dword. With 64-bit addresses also 8 bytes, each in a qword: Intel's compiler emits these on Gen8.",
    )
    .dir()
    .addr()
    .arg("bytes", "u8", "Bytes per channel: 1, 2, 4 or 8.")
    .simd()
    .text("byte scattered {dir} {addr} simd{simd} d{bytes*8}")
    .payload(Payload::moved(
        addresses(),
        row(Expr::Arg("bytes").max(Expr::Num(4))),
    ))
    .form(a32(
        0x04,
        "ByteScattered { dir: Dir::Read, addr: AddrModel::A32(surface), bytes, simd }",
        "byte gathering read",
        "byte gathering read{bytes}",
    ))
    .form(a32(
        0x0c,
        "ByteScattered { dir: Dir::Write, addr: AddrModel::A32(surface), bytes, simd }",
        "byte scattering write",
        "byte scattering write{bytes}",
    ))
    .form(a64(
        0x10,
        "ByteScattered { dir: Dir::Read, addr: AddrModel::A64(surface), bytes, simd }",
        "a64 gathering read",
        "a64 byte gathering read{bytes}",
    ))
    .form(a64(
        0x1a,
        "ByteScattered { dir: Dir::Write, addr: AddrModel::A64(surface), bytes, simd }",
        "a64 scattering write",
        "a64 byte scattering write{bytes}",
    ))
}

fn dword_scattered() -> Message {
    let a32 = |number, value, text, summary| {
        let count = dwords().words("count", &["", " x2", " x4", " x8"]);
        Form::of(Port::DataCache0, number)
            .value("dword scattered", value)
            .fields([count, invalidate()])
            .fields(a32())
            .says("MessageType", text, summary)
    };
    let a64 = |number, value, text, summary| {
        Form::of(Port::DataCache1, number)
            .on(GEN8_ON)
            .value("dword scattered", value)
            .lacks("A64 dword scattered")
            .fields(a64(1, dwords()))
            .says("MessageType", text, summary)
    };
    Message::new(
        "DwordScattered",
        "Dword scattered access: 1, 2, 4 or 8 consecutive dwords per channel. A32 offsets are in dwords.",
    )
    .dir()
    .addr()
    .arg("count", "u8", "Dwords per channel: 1, 2, 4 or 8.")
    .simd()
    .arg("cache", "Cache", "Data port that carries the message.")
    .text("{cache=Cache::Constant?constant }dword scattered {dir} {addr} simd{simd} x{count}")
    .payload(Payload::moved(
        addresses(),
        Expr::Arg("count").times(row(Expr::Num(4))),
    ))
    .form(a32(
        0x03,
        "DwordScattered { dir: Dir::Read, addr: AddrModel::A32(surface), count, simd, cache: Cache::Data }",
        "dword gathering read",
        "dword gathering read{count}",
    ))
    .form(a32(
        0x0b,
        "DwordScattered { dir: Dir::Write, addr: AddrModel::A32(surface), count, simd, cache: Cache::Data }",
        "dword scattering write",
        "dword scattering write{count}",
    ))
    .form(a64(
        0x10,
        "DwordScattered { dir: Dir::Read, addr: AddrModel::A64(surface), count, simd, cache: Cache::Data }",
        "a64 gathering read",
        "a64 dword gathering read",
    ))
    .form(a64(
        0x1a,
        "DwordScattered { dir: Dir::Write, addr: AddrModel::A64(surface), count, simd, cache: Cache::Data }",
        "a64 scattering write",
        "a64 dword scattering write",
    ))
    .form(
        Form::of(Port::ReadOnly, 0x03)
            .value(
                "dword scattered",
                "DwordScattered { dir: Dir::Read, addr: AddrModel::A32(surface), count, simd, cache: Cache::Constant }",
            )
            .lacks("constant dword scattered")
            .fields([invalidate(), dwords()])
            .fields(super::scattered::a32())
            .says(
                "MessageType",
                "constant dword gathering read",
                "constant dword gathering read",
            ),
    )
}

fn qword_scattered() -> Message {
    // Intel's assembler says the same of writes.
    let text = "qword gathering read";
    let a32 = |number, value| {
        Form::of(Port::DataCache0, number)
            .on(GEN11_ON)
            .value("qword scattered", value)
            .fields([dwords()])
            .fields(a32())
            .says("MessageType", text, text)
    };
    let a64 = |number, value, text, summary| {
        Form::of(Port::DataCache1, number)
            .on(GEN8_ON)
            .value("qword scattered", value)
            .lacks("A64 qword scattered")
            .fields(a64(2, dwords()))
            .says("MessageType", text, summary)
    };
    Message::new(
        "QwordScattered",
        "Qword scattered access: 1, 2, 4 or 8 consecutive qwords per channel. A64 only before Gen11.",
    )
    .dir()
    .addr()
    .arg("count", "u8", "Qwords per channel: 1, 2, 4 or 8.")
    .simd()
    .text("qword scattered {dir} {addr} simd{simd} x{count}")
    .payload(Payload::moved(
        addresses(),
        Expr::Arg("count").times(row(Expr::Num(8))),
    ))
    .form(a32(
        0x05,
        "QwordScattered { dir: Dir::Read, addr: AddrModel::A32(surface), count, simd }",
    ))
    .form(a32(
        0x0d,
        "QwordScattered { dir: Dir::Write, addr: AddrModel::A32(surface), count, simd }",
    ))
    .form(a64(
        0x10,
        "QwordScattered { dir: Dir::Read, addr: AddrModel::A64(surface), count, simd }",
        "a64 gathering read",
        "a64 qword gathering read",
    ))
    .form(a64(
        0x1a,
        "QwordScattered { dir: Dir::Write, addr: AddrModel::A64(surface), count, simd }",
        "a64 scattering write",
        "a64 qword scattering write",
    ))
}

/// Subtypes of messages with 64-bit addresses that are reserved.
fn reserved() -> [Form; 2] {
    let form = |number, title, text, write: bool| {
        let [unit, elements, simd, surface, invalidate, header] =
            a64(3, bytes("DataElements:MDC_A64_DS", 3));
        let unit = unit.label("subtype");
        let unit = if write {
            unit.error_at(&[3], (14, 5), "a write returns no status")
        } else {
            unit
        };
        let listed = |f: Field| f.not_encoded();
        Form::of(Port::DataCache1, number)
            .on(GEN8_ON)
            .reserved("A64 scattered")
            .fields([
                unit,
                listed(elements),
                listed(simd),
                surface,
                invalidate,
                header,
            ])
            .says("MessageType", title, text)
    };
    [
        form(
            0x10,
            "a64 gathering read",
            "a64 byte gathering read{bytes}",
            false,
        ),
        form(
            0x1a,
            "a64 scattering write",
            "a64 byte scattering write{bytes}",
            true,
        ),
    ]
}

pub(super) fn rows() -> Vec<Message> {
    vec![
        untyped(),
        byte_scattered(),
        dword_scattered(),
        qword_scattered().forms(reserved()),
    ]
}
