//! Compact forms of Gen7.5. The tables are those of Gen8 except for types; three-source
//! instructions have none.
#![allow(
    clippy::unusual_byte_groupings,
    reason = "the groups are the runs of native bits, the highest first"
)]

use super::GenCompact;
use super::gen8::{Basic, compact};
use crate::format::Format;

pub(super) fn tables() -> GenCompact {
    let form = Basic {
        control_to: &[(23, 8), (31, 31), (90, 89)],
        datatype: &DATATYPE,
        datatype_to: &[(46, 32), (63, 61)],
        files: [(38, 37), (43, 42)],
    };
    compact(&form, None, &[Format::Send])
}

/// Register files, types, destination mode and stride, by index.
const DATATYPE: [u64; 32] = [
    0b001_000000000000001,
    0b001_000000000100000,
    0b001_000000000100001,
    0b001_000000001100001,
    0b001_000000010111101,
    0b001_000001011111101,
    0b001_000001110100001,
    0b001_000001110100101,
    0b001_000001110111101,
    0b001_000010000100001,
    0b001_000110000100000,
    0b001_000110000100001,
    0b001_001010010100101,
    0b001_001110010100100,
    0b001_001110010100101,
    0b001_111001110111101,
    0b001_111011110011101,
    0b001_111011110111100,
    0b001_111011110111101,
    0b001_111111110111100,
    0b000_000001000001100,
    0b001_000000000111101,
    0b001_000000010100101,
    0b001_000010000100000,
    0b001_001010010100100,
    0b001_001110010000100,
    0b001_010010100001001,
    0b001_101111110111101,
    0b001_111111110111101,
    0b001_011110110101100,
    0b001_010010100101000,
    0b001_010110100101000,
];
