//! `illegal`, `nop`, `wait`.

use crate::generation::Generation::Gen9;
use crate::row::{Format, Row, op};
use crate::types::UD;

pub(super) fn rows() -> Vec<Row> {
    vec![
        Row::new(
            "illegal",
            "Raises the illegal-opcode exception.",
            Format::Nullary,
        )
        .on([Gen9], op(0x00)),
        Row::new("nop", "Does nothing.", Format::Nullary).on([Gen9], op(0x7E)),
        Row::new(
            "wait",
            "Waits until the notification register is not zero, then clears it.",
            Format::Wait,
        )
        .on([Gen9], op(0x30).types([(UD, UD)])),
    ]
}
