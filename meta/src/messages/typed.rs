//! Messages to images: typed surfaces, their atomics and counters, and media blocks.

use super::atomic::int_op;
use super::expr::{Expr, row};
use super::field::{
    Codec, Field, arg, atomic_simd, field, header, header_required, mask, returns, slots2, slots3,
    surface,
};
use super::row::{Coordinates, Form, Message, Payload, Port};
use crate::generation::{GEN10, GEN11, Gens, XE};

const GEN10_ON: Gens = GEN10.and(GEN11).and(XE);

fn typed() -> Message {
    let form = |number, value, text: &'static str, summary| {
        Form::of(Port::DataCache1, number)
            .value("typed surface", value)
            .fields([slots3(), mask(), surface(), header()])
            .says("MessageType", text, summary)
            .coordinates(Coordinates::Half)
    };
    Message::new(
        "Typed",
        "Typed surface access: texels by coordinates, converted by the surface's format.",
    )
    .dir()
    .surface()
    .arg("rgba", "Rgba", "Components that are accessed.")
    .arg("slots", "Slots", "Slots that are accessed.")
    .arg(
        "status",
        "bool",
        "True if a read also returns whether pages are resident (Gen10 on).",
    )
    .text("typed {dir} {surface} {rgba}{slots=Slots::Dual? simd4x2}{slots=Slots::High? upper slots}{status? with status}")
    // The surface determines the number of coordinates (u, v, r, level of detail; one GRF each).
    .payload(Payload::moved(
        Expr::Num(0),
        Expr::Count("rgba").plus(Expr::Flag("status")),
    ))
    .form(form(
        0x05,
        "Typed { dir: Dir::Read, surface, rgba, slots, status: false }",
        "typed surface read",
        "typed surface read{slots} with {rgba}",
    ))
    .form(form(
        0x0d,
        "Typed { dir: Dir::Write, surface, rgba, slots, status: false }",
        "typed surface write",
        "typed surface write{slots} with {rgba}",
    ))
    .form(
        form(
            0x0e,
            "Typed { dir: Dir::Read, surface, rgba, slots, status: true }",
            "typed surface read",
            "typed surface read{slots} returning status with {rgba}",
        )
        .on(GEN10_ON),
    )
}

fn typed_atomic() -> Message {
    let form = |number, value, summary| {
        let high = slots2();
        let (sgh, high_words) = (["", "_sgh"], ["", " (slot group high)"]);
        let again = field(12, 1).words("high", &high_words);
        Form::of(Port::DataCache1, number)
            .value("typed atomic", value)
            .fields([
                high.words("sgh", &sgh),
                again,
                int_op(),
                returns(),
                surface(),
                header(),
            ])
            .says("MessageType", "typed", summary)
    };
    Message::new("TypedAtomic", "Typed atomic on a texel.")
        .arg("op", "AtomicOp", "Operation.")
        .surface()
        .arg("half", "bool", "True for 16 bits, false for 32.")
        .arg(
            "high",
            "bool",
            "True for the upper eight slots, false for the lower.",
        )
        .returns()
        .text("typed atomic {op} {surface} d{half?16|32}{high? upper slots}{returns? returning}")
        .payload(Payload::atomic(Expr::Num(0), Expr::Num(1)))
        .form(form(
            0x06,
            "TypedAtomic { op, surface, half: false, high, returns }",
            "typed{sgh} atomic 32-bit integer{high} {op}",
        ))
        .form(
            form(
                0x07,
                "TypedAtomic { op, surface, half: true, high, returns }",
                "typed{sgh} atomic 16-bit integer{high} {op}",
            )
            .on(XE)
            .coordinates(Coordinates::Half),
        )
}

fn counter_atomic() -> Message {
    let form = |number, value, text: &'static str, summary| {
        Form::of(Port::DataCache1, number)
            .value("counter atomic", value)
            .fields([
                atomic_simd(12, true),
                int_op(),
                returns(),
                surface(),
                header_required(),
            ])
            .says("MessageType", text, summary)
            .coordinates(Coordinates::HalfIf(12))
    };
    Message::new(
        "CounterAtomic",
        "Atomic on the append counter of a surface.",
    )
    .arg("op", "AtomicOp", "Operation.")
    .surface()
    .arg("half", "bool", "True for 16 bits, false for 32.")
    .simd()
    .returns()
    .text("counter atomic {op} {surface} simd{simd} d{half?16|32}{returns? returning}")
    .payload(Payload::atomic(Expr::Num(0), row(Expr::Num(4))).headed())
    .form(form(
        0x0b,
        "CounterAtomic { op, surface, half: false, simd, returns }",
        "typed atomic 32-bit counter",
        "typed atomic 32-bit counter {op}",
    ))
    .form(
        form(
            0x0c,
            "CounterAtomic { op, surface, half: true, simd, returns }",
            "typed atomic 16-bit counter",
            "typed atomic 16-bit counter {op}",
        )
        .on(XE),
    )
}

/// Override of the vertical line stride, in the words of Intel's assembler.
fn stride() -> Field {
    arg("stride", 8, 3, Codec::Uint("u8"))
        .label("stride override")
        .words(
            "stride",
            &[
                "",
                " with vertical line stride  and skip",
                " with vertical line stride override and offset",
                " with vertical line stride override,skip, and offset",
                " with vertical line stride ",
                " with vertical line stride  and skip",
                " with vertical line stride override and offset",
                " with vertical line stride override,skip, and offset",
            ],
        )
}

fn media_block() -> Message {
    let form = |number, value, summary| {
        Form::of(Port::DataCache1, number)
            .value("media block", value)
            .fields([stride(), surface(), header_required()])
            .described(summary)
    };
    let mut write = form(
        0x0a,
        "MediaBlock { dir: Dir::Write, surface, stride }",
        "media block write{stride}",
    );
    write
        .fields
        .insert(0, field(25, 4).error(&[0], "a write has a payload"));
    Message::new(
        "MediaBlock",
        "Media block access: a rectangle of bytes. Position and size are in the header.",
    )
    .dir()
    .surface()
    .arg(
        "stride",
        "u8",
        "Override of the vertical line stride: bits 10:8 of the descriptor.",
    )
    .text("media block {dir} {surface}")
    .payload(Payload::none().headed())
    .form(form(
        0x04,
        "MediaBlock { dir: Dir::Read, surface, stride }",
        "media block read{stride}",
    ))
    .form(write)
}

pub(super) fn rows() -> Vec<Message> {
    vec![typed(), typed_atomic(), counter_atomic(), media_block()]
}
