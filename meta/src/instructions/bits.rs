//! Rows of bit fields and bit counts.

use crate::format::Format;
use crate::generation::*;
use crate::row::*;
use crate::types::*;

pub(super) fn rows() -> Vec<Row> {
    vec![
        Row::new("bfrev", "Reverses the order of the bits.", Format::Unary)
            .code(PRE_XE, 0x17)
            .code(XE, 0x77)
            .with(PRED | ACC)
            .types(ALL, [(UD, UD), (D, D)]),
        Row::new(
            "bfe",
            "Extracts source 0 bits at offset source 1 from source 2.",
            Format::Ternary,
        )
        .code(PRE_XE, 0x18)
        .code(XE, 0x78)
        .with(PRED | ACC)
        .types(ALL, [(UD, UD), (D, D)]),
        Row::new(
            "bfi1",
            "Creates a mask of source 0 bits at offset source 1.",
            Format::Binary,
        )
        .code(PRE_XE, 0x19)
        .code(XE, 0x79)
        .with(PRED | ACC)
        .types(ALL, [(UD, UD), (D, D)]),
        Row::new(
            "bfi2",
            "Inserts source 1 into source 2 under the mask of source 0.",
            Format::Ternary,
        )
        .code(PRE_XE, 0x1A)
        .code(XE, 0x7A)
        .with(PRED | ACC)
        .types(ALL, [(UD, UD), (D, D)]),
        Row::new("lzd", "Counts leading zeros.", Format::Unary)
            .code(ALL, 0x4A)
            .with(ALU)
            .types(PRE_XE, [(UD, DWORD)])
            .types(XE, [(UD, BWD)]),
        Row::new(
            "fbh",
            "Finds the first bit from the top that differs from the sign (or is set, unsigned).",
            Format::Unary,
        )
        .code(ALL, 0x4B)
        .with(PRED | ACC)
        .types(ALL, [(UD, DWORD)]),
        Row::new(
            "fbl",
            "Finds the first set bit from the bottom.",
            Format::Unary,
        )
        .code(ALL, 0x4C)
        .with(PRED | ACC)
        .types(ALL, [(UD, UB | UW | UD)]),
        Row::new("cbit", "Counts the set bits.", Format::Unary)
            .code(ALL, 0x4D)
            .with(PRED | ACC)
            .types(ALL, [(UD, UB | UW | UD)]),
    ]
}
