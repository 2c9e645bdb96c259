//! Messages that synchronize and end threads: gateway, thread spawner, ray tracing.

use super::expr::Expr;
use super::field::{Codec, Field, Meaning, arg, fails, field, header_forbidden};
use super::row::{Form, LSC, Message, Payload, Port};
use crate::generation::{ALL, XE};

/// Payload of one GRF, which the descriptor does not call a header.
fn one_grf() -> Payload {
    Payload::address(Expr::Num(1))
}

fn no_dereference() -> Field {
    arg("no_dereference", 4, 1, Codec::Flag)
}

fn barrier() -> Message {
    Message::new("Barrier", "Gateway barrier.")
        .text("barrier")
        .payload(one_grf())
        .form(
            Form::of(Port::Gateway, 4)
                .value("barrier", "Barrier")
                .fields([
                    field(11, 1)
                        .named("ActiveThreadsOnly", &["", "active threads only"])
                        .on(XE),
                    header_forbidden(),
                ])
                .says("GatewayOpcode", "signal barrier", "signal barrier"),
        )
}

fn gateway() -> Message {
    let form = |number, value, text: &'static str| {
        Form::of(Port::Gateway, number)
            .value("", value)
            .says("GatewayOpcode", text, text)
    };
    let end = field(0, 3).error_on(
        ALL.without(LSC),
        &[0],
        (0, 3),
        "threads of this platform end at another shared function",
    );
    Message::new("Gateway", "Gateway operation other than a barrier.")
        .of("GatewayOp")
        .text("{}")
        .payload(one_grf())
        .form(
            form(
                0,
                "Gateway(GatewayOp::ThreadEnd { no_dereference })",
                "end of thread",
            )
            .on(LSC)
            .fields([end, no_dereference(), header_forbidden()]),
        )
        .forms(
            [
                (1, "Gateway(GatewayOp::Signal)", "signal event"),
                (2, "Gateway(GatewayOp::Monitor)", "monitor event"),
                (3, "Gateway(GatewayOp::Unmonitor)", "unmonitor event"),
                (6, "Gateway(GatewayOp::Wait)", "wait for event"),
            ]
            .map(|(n, value, text)| form(n, value, text).fields([header_forbidden()])),
        )
        .form(
            Form::other(Port::Gateway)
                // Two bits, as in Intel's listing.
                .fields([fails(0, 2, "no such operation")])
                .described(""),
        )
}

fn thread_end() -> Message {
    Message::new("ThreadEnd", "End of thread, sent to the thread spawner.")
        .arg(
            "no_dereference",
            "bool",
            "Does not dereference the URB handle in the header (bit 4; set by every compute compiler).",
        )
        .text("end of thread")
        .payload(one_grf())
        .form(
            Form::of(Port::Spawner, 0)
                .value("", "ThreadEnd { no_dereference }")
                .fields([no_dereference()]),
        )
        .form(
            Form::other(Port::Spawner)
                .fields([field(0, 3).select(0)])
                .described("end of thread"),
        )
        .form(
            Form::other(Port::Spawner)
                .fields([fails(0, 32, "unknown message")])
                .described(""),
        )
}

/// Channels of a ray tracing message.
fn simd16() -> Field {
    arg("simd", 8, 1, Codec::Simd16)
        .named("SimdMode:MDC_SM2", &["SIMD8", "SIMD16"])
        .words("simd", &["simd8", "simd16"])
}

fn rays() -> [Message; 2] {
    let trace = Message::new("TraceRay", "Ray tracing: traces a ray per channel.")
        .of("Simd")
        .text("trace ray simd{}")
        .payload(one_grf())
        .form(
            Form::of(Port::Rta, 0)
                .value("", "TraceRay(simd)")
                .fields([simd16(), header_forbidden()])
                .described("{simd} trace ray"),
        )
        .form(
            Form::other(Port::Rta)
                .fields([fails(14, 4, "no such message type")])
                .described(""),
        );
    let number = || field(14, 4).listed("MessageType", Meaning::Plain);
    let spawn = Message::new(
        "Spawn",
        "Bindless thread dispatch: spawns a thread per channel.",
    )
    .of("Simd")
    .text("spawn simd{}")
    .payload(one_grf())
    .form(
        Form::of(Port::Btd, 1)
            .value("", "Spawn(simd)")
            .fields([simd16(), number()])
            .described("bindless {simd} spawn thread"),
    )
    .form(
        Form::other(Port::Btd)
            .fields([fails(14, 4, "no such message type"), number()])
            .described(""),
    );
    [trace, spawn]
}

pub(super) fn rows() -> Vec<Message> {
    let [trace, spawn] = rays();
    vec![barrier(), gateway(), thread_end(), trace, spawn]
}
