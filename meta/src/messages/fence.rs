//! Fence of the data caches.

use super::expr::Expr;
use super::field::{Codec, Field, Meaning, arg, field, header_required};
use super::row::{Form, Message, Payload, Port};

fn bti() -> Field {
    field(0, 8)
}

fn commit() -> Field {
    arg("commit", 13, 1, Codec::Flag)
        .named("Commit", &["returns at once", "waits for the commit"])
        .words("commit", &["", "synchronized "])
}

/// Caches that are flushed (12:8).
fn flush() -> Field {
    arg("flush", 8, 5, Codec::Uint("u8")).label("flush targets")
}

/// Targets in the third level, in the words of Intel's assembler: no comma follows the first.
fn l3_targets(l3: u32) -> String {
    let names = ["r/w", "constant", "texture", "instruction"];
    match l3 {
        0 => return String::new(),
        15 => return " all L3 data".into(),
        _ => {}
    }
    let mut text = String::from(" L3");
    let mut listed = false;
    for (i, name) in names.iter().enumerate() {
        if l3 >> (3 - i) & 1 == 1 {
            let comma = if listed { "," } else { "" };
            text += &format!("{comma} {name} data");
            listed |= i > 0;
        }
    }
    text
}

pub(super) fn rows() -> Vec<Message> {
    let form = |bti: Field, text| {
        Form::of(Port::DataCache0, 0x07)
            .fields([commit(), bti])
            .described(text)
    };
    let titled = |f: Form| {
        let text = f.text;
        f.says("MessageType", "fence", text)
    };
    let l3: Vec<String> = (0..16).map(l3_targets).collect();
    let l3: Vec<&str> = l3.iter().map(String::as_str).collect();
    // The third level with the first.
    let both: Vec<u32> = (3..32).filter(|v| v & 1 == 1).collect();
    let fence = Message::new("Fence", "Memory fence.")
        .arg("slm", "bool", "True for SLM, false for global memory.")
        .arg(
            "commit",
            "bool",
            "True if a register is written back when the fence is complete.",
        )
        .arg(
            "flush",
            "u8",
            "Caches that are flushed: bits 12:8 of the descriptor.",
        )
        .text("{slm?slm|global} fence{commit? with commit}")
        .payload(
            Payload {
                response: Expr::Flag("commit"),
                ..Payload::none()
            }
            .headed(),
        )
        .form(titled(
            form(
                bti().select(254).listed("BTI", Meaning::Surface),
                "{commit}SLM fence",
            )
            .value("fence", "Fence { slm: true, commit, flush }")
            .fields([flush(), header_required()]),
        ))
        .form(titled(
            form(bti().select(0), "{commit}global fence flushing{l1}{l3}")
                .value("fence", "Fence { slm: false, commit, flush }")
                .fields([
                    flush().error_at(&both, (8, 1), "an L3 flush flushes L1"),
                    field(8, 1)
                        .named("L1Flush", &["", "L1"])
                        .words("l1", &["", " L1"]),
                    field(9, 4)
                        .listed("L3 Flush Targets", Meaning::Plain)
                        .words("l3", &l3),
                    header_required(),
                ]),
        ))
        .form(titled(
            form(
                Field {
                    codec: Codec::Reserved,
                    ..bti()
                }
                .label("binding table index")
                .error(&[], "a fence has BTI 0 or 254")
                .always(),
                "{commit}",
            )
            .reserved("fence")
            .fields([header_required()]),
        ));
    vec![fence]
}
