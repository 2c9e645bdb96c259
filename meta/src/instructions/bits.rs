//! Bit fields and bit counts.

use crate::generation::Generation::Gen9;
use crate::row::{Format, Row, op};
use crate::types::*;

pub(super) fn rows() -> Vec<Row> {
    vec![
        Row::new("bfrev", "Reverses the order of the bits.", Format::Unary)
            .on([Gen9], op(0x17).types([(UD, UD)]).pred().acc()),
        Row::new(
            "bfe",
            "Extracts source 0 bits at offset source 1 from source 2.",
            Format::Ternary,
        )
        .on([Gen9], op(0x18).types([(UD, UD), (D, D)]).pred().acc()),
        Row::new(
            "bfi1",
            "Makes the mask of source 0 bits at offset source 1.",
            Format::Binary,
        )
        .on([Gen9], op(0x19).types([(UD, UD), (D, D)]).pred().acc()),
        Row::new(
            "bfi2",
            "Inserts source 1 into source 2 under the mask of source 0.",
            Format::Ternary,
        )
        .on([Gen9], op(0x1A).types([(UD, UD), (D, D)]).pred().acc()),
        Row::new("lzd", "Counts leading zeros.", Format::Unary).on(
            [Gen9],
            op(0x4A)
                .types([(UD, DWORD)])
                .pred()
                .cond()
                .sat()
                .mods()
                .acc(),
        ),
        Row::new(
            "fbh",
            "Finds the first bit from the top that differs from the sign (or is set, unsigned).",
            Format::Unary,
        )
        .on([Gen9], op(0x4B).types([(UD, DWORD)]).pred().acc()),
        Row::new(
            "fbl",
            "Finds the first set bit from the bottom.",
            Format::Unary,
        )
        .on([Gen9], op(0x4C).types([(UD, UB | UW | UD)]).pred().acc()),
        Row::new("cbit", "Counts the set bits.", Format::Unary)
            .on([Gen9], op(0x4D).types([(UD, UB | UW | UD)]).pred().acc()),
    ]
}
