//! Rows of bitwise operations, shifts and rotates.

use crate::format::Format;
use crate::generation::*;
use crate::row::*;
use crate::types::*;

/// Integer types of Gen8 to Gen11.
const INTS: [Combo; 4] = [(BWD, BWD), (QWORD, WD), (WD, QWORD), (QWORD, QWORD)];
/// Integer types with bytes and qwords together, which Intel's compiler combines by bitwise
/// operations.
const BITS: [Combo; 3] = [(BWD, BWD), (QWORD, BWDQ), (WD, QWORD)];
/// Integer types of Xe-HP on.
const XE_INTS: [Combo; 3] = [(BWD, BWD), (QWORD, WDQ), (WD, QWORD)];

pub(super) fn rows() -> Vec<Row> {
    vec![
        Row::new("not", "Inverts every bit.", Format::Unary)
            .code(PRE_XE, 0x04)
            .code(XE, 0x64)
            .with(PRED | COND | MODS | ACC | BITWISE)
            .types(GEN7P5 | XE_LP | XE_HPC, [(BWD, BWD)])
            .types(GEN8_TO_11, INTS)
            .types(XE_HP | XE_HPG, XE_INTS),
        Row::new("and", "Computes the bitwise and.", Format::Binary)
            .code(PRE_XE, 0x05)
            .code(XE, 0x65)
            .with(PRED | COND | MODS | ACC | BITWISE)
            .types(GEN7P5 | XE_LP | XE_HPC, [(BWD, BWD)])
            .types(GEN8_TO_11, BITS)
            .types(XE_HP | XE_HPG, XE_INTS),
        Row::new("or", "Computes the bitwise or.", Format::Binary)
            .code(PRE_XE, 0x06)
            .code(XE, 0x66)
            .with(PRED | COND | MODS | ACC | BITWISE)
            .types(GEN7P5 | XE_LP | XE_HPC, [(BWD, BWD)])
            .types(GEN8_TO_11, BITS)
            .types(XE_HP | XE_HPG, XE_INTS),
        Row::new("xor", "Computes the bitwise exclusive or.", Format::Binary)
            .code(PRE_XE, 0x07)
            .code(XE, 0x67)
            .with(PRED | COND | MODS | ACC | BITWISE)
            .types(GEN7P5 | XE_LP | XE_HPC, [(BWD, BWD)])
            .types(GEN8_TO_11, BITS)
            .types(XE_HP | XE_HPG, XE_INTS),
        Row::new(
            "bfn",
            "Computes any bitwise function of three sources, given by its truth table.",
            Format::Ternary,
        )
        .code(XE_HP_ON, 0x6B)
        .with(PRED | COND | ACC)
        .types(XE_HP_ON, [(UW | UD, WD)]),
        Row::new(
            "shr",
            "Shifts right, filling with zeros; the count is taken modulo the width.",
            Format::Binary,
        )
        .code(PRE_XE, 0x08)
        .code(XE, 0x68)
        .with(ALU)
        .types(GEN7P5 | XE_LP, [(BWD, BWD)])
        .types(GEN8_TO_11, INTS)
        .types(XE_HP_ON, XE_INTS),
        Row::new(
            "shl",
            "Shifts left; the count is taken modulo the width.",
            Format::Binary,
        )
        .code(PRE_XE, 0x09)
        .code(XE, 0x69)
        .with(ALU)
        .types(GEN7P5 | XE_LP, [(BWD, BWD)])
        .types(GEN8_TO_11, INTS)
        .types(XE_HP_ON, XE_INTS),
        Row::new(
            "asr",
            "Shifts right, filling with the sign; the count is taken modulo the width.",
            Format::Binary,
        )
        .code(PRE_XE, 0x0C)
        .code(XE, 0x6C)
        .with(ALU)
        .types(GEN7P5 | XE_LP, [(BWD, BWD)])
        .types(GEN8_TO_11, INTS)
        .types(XE_HP_ON, XE_INTS),
        Row::new("ror", "Rotates right.", Format::Binary)
            .code(GEN11, 0x0E)
            .code(XE, 0x6E)
            .with(PRED | COND | ACC)
            .types(GEN11 | XE_LP | XE_HP | XE_HPG, [(UW | UD, WD)])
            .types(XE_HPC, [(UW | UD, WD), (UQ, QWORD | WD)]),
        Row::new("rol", "Rotates left.", Format::Binary)
            .code(GEN11, 0x0F)
            .code(XE, 0x6F)
            .with(PRED | COND | ACC)
            .types(GEN11 | XE_LP | XE_HP | XE_HPG, [(UW | UD, WD)])
            .types(XE_HPC, [(UW | UD, WD), (UQ, QWORD | WD)]),
    ]
}
