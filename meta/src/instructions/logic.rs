//! Bitwise operations and shifts.

use crate::generation::Generation::Gen9;
use crate::row::{Column, Format, Row, op};
use crate::types::*;

const INTS: [(TypeSet, TypeSet); 4] = [(BWD, BWD), (QWORD, WD), (WD, QWORD), (QWORD, QWORD)];

fn logic(opcode: u8) -> Column {
    op(opcode).types(INTS).pred().cond().mods().acc().bitwise()
}

pub(super) fn rows() -> Vec<Row> {
    vec![
        Row::new("not", "Inverts every bit.", Format::Unary).on([Gen9], logic(0x04)),
        Row::new("and", "Bitwise and.", Format::Binary).on([Gen9], logic(0x05)),
        Row::new("or", "Bitwise or.", Format::Binary).on([Gen9], logic(0x06)),
        Row::new("xor", "Bitwise exclusive or.", Format::Binary).on([Gen9], logic(0x07)),
        Row::new(
            "shr",
            "Shifts right, filling with zeros; the count is taken modulo the width.",
            Format::Binary,
        )
        .on(
            [Gen9],
            op(0x08).types(INTS).pred().cond().sat().mods().acc(),
        ),
        Row::new(
            "shl",
            "Shifts left; the count is taken modulo the width.",
            Format::Binary,
        )
        .on(
            [Gen9],
            op(0x09).types(INTS).pred().cond().sat().mods().acc(),
        ),
        Row::new(
            "asr",
            "Shifts right, filling with the sign; the count is taken modulo the width.",
            Format::Binary,
        )
        .on(
            [Gen9],
            op(0x0C).types(INTS).pred().cond().sat().mods().acc(),
        ),
    ]
}
