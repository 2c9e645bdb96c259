//! Rows of sends.

use crate::format::Format;
use crate::generation::*;
use crate::row::*;

pub(super) fn rows() -> Vec<Row> {
    vec![
        Row::new(
            "send",
            "Sends a message to a shared function.",
            Format::Send,
        )
        .code(ALL, 0x31)
        .with(PRED)
        .formatted(XE, Format::XeSend),
        Row::new(
            "sendc",
            "Sends a message once earlier threads of the same pixels are done.",
            Format::Send,
        )
        .code(ALL, 0x32)
        .with(PRED)
        .formatted(XE, Format::XeSend),
        Row::new(
            "sends",
            "Sends a message with a split payload.",
            Format::SplitSend,
        )
        .code(GEN9_TO_11, 0x33)
        .with(PRED),
        Row::new(
            "sendsc",
            "Sends a message with a split payload once earlier threads of the same pixels are done.",
            Format::SplitSend,
        )
        .code(GEN9_TO_11, 0x34)
        .with(PRED),
    ]
}
