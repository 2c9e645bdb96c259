//! Messages to the unified return buffer.

use super::field::{Codec, Field, Meaning, arg, clear, fails, field, header_required};
use super::row::{Form, LSC, Message, Payload, Port};
use crate::generation::{ALL, GEN7P5, Gens};

const GEN8_ON: Gens = ALL.without(GEN7P5);

/// Fields of reads and writes.
fn offsets() -> [Field; 2] {
    [
        arg("offset", 4, 11, Codec::Uint("u16"))
            .label("offset")
            .listed("GlobalUrbOffset", Meaning::Number("", " owords")),
        arg("per_slot", 17, 1, Codec::Flag)
            .named("PerSlotOffsetPresent", &["", "per-slot offsets"])
            .words("slots", &["", " with per-slot offset enabled"]),
    ]
}

fn number() -> Field {
    field(0, 4).listed("URBOpcode", Meaning::Plain)
}

pub(super) fn rows() -> Vec<Message> {
    let masked = arg("masked", 15, 1, Codec::Flag)
        .named("ChannelMaskEnable", &["disabled", "enabled"])
        .words("masked", &["", "masked "]);
    let message = Message::new(
        "Urb",
        "Message to the unified return buffer, of eight channels.",
    )
    .of("Urb")
    .text("{}")
    // The operation decides which parts there are.
    .payload(Payload::hook("message.lengths()"))
    .form(
        Form::of(Port::Urb, 7)
            .on(GEN8_ON)
            .value(
                "URB",
                "Urb(Urb { op: UrbOp::Write { masked }, offset, per_slot })",
            )
            .lacks("")
            .fields(offsets())
            .fields([masked, header_required(), number()])
            .described("urb dword {masked}write{slots}"),
    )
    .form(
        Form::of(Port::Urb, 8)
            .on(GEN8_ON)
            .value("URB", "Urb(Urb { op: UrbOp::Read, offset, per_slot })")
            .lacks("")
            .fields(offsets())
            .fields([header_required(), number()])
            .described("urb dword read{slots}"),
    )
    .form(
        Form::of(Port::Urb, 9)
            .on(LSC)
            .value(
                "URB fence",
                "Urb(Urb { op: UrbOp::Fence, offset, per_slot })",
            )
            .lacks("")
            .fields([
                clear("offset", "0", "offset"),
                clear("per_slot", "false", "per-slot offset"),
                number(),
            ])
            .described("urb fence"),
    )
    .form(
        Form::other(Port::Urb)
            .fields([fails(0, 4, "no such operation")])
            .described(""),
    );
    vec![message]
}
