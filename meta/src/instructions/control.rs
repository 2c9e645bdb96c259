//! Rows of `illegal`, `nop`, `wait` and `sync`.

use crate::format::Format;
use crate::generation::*;
use crate::row::*;
use crate::types::*;

pub(super) fn rows() -> Vec<Row> {
    vec![
        Row::new(
            "illegal",
            "Raises the illegal-opcode exception.",
            Format::Nullary,
        )
        .code(ALL, 0x00),
        Row::new("nop", "Does nothing.", Format::Nullary)
            .code(PRE_XE, 0x7E)
            .code(XE, 0x60),
        Row::new(
            "wait",
            "Waits until the notification register is not zero, then clears it.",
            Format::Wait,
        )
        .code(PRE_XE, 0x30)
        .types(PRE_XE, [(UD, UD)]),
        Row::new(
            "sync",
            "Waits for outstanding instructions or for another unit.",
            Format::Sync,
        )
        .code(XE, 0x01),
    ]
}
