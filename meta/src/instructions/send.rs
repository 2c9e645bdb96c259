//! Messages.

use crate::generation::Generation::Gen9;
use crate::row::{Format, Row, op};

pub(super) fn rows() -> Vec<Row> {
    vec![
        Row::new(
            "send",
            "Sends a message to a shared function.",
            Format::Send,
        )
        .on([Gen9], op(0x31).pred()),
        Row::new(
            "sendc",
            "Sends once earlier threads of the same pixels are done.",
            Format::Send,
        )
        .on([Gen9], op(0x32).pred()),
        Row::new(
            "sends",
            "Sends a message with a split payload.",
            Format::SplitSend,
        )
        .on([Gen9], op(0x33).pred()),
        Row::new(
            "sendsc",
            "Sends a split payload once earlier threads are done.",
            Format::SplitSend,
        )
        .on([Gen9], op(0x34).pred()),
    ]
}
