//! Rows of dot products, plane equations, sums of absolute differences, and the systolic array.

use crate::format::Format;
use crate::generation::*;
use crate::row::*;
use crate::types::*;

pub(super) fn rows() -> Vec<Row> {
    vec![
        Row::new(
            "sad2",
            "Sums the absolute differences of pairs of bytes.",
            Format::Binary,
        )
        .code(GEN7P5_TO_10, 0x50)
        .with(ALU)
        .types(GEN7P5_TO_10, [(WORD, BYTE)]),
        Row::new(
            "sada2",
            "Sums the absolute differences of pairs of bytes and the accumulator.",
            Format::Binary,
        )
        .code(GEN7P5_TO_10, 0x51)
        .with(ALU)
        .types(GEN7P5_TO_10, [(WORD, BYTE)]),
        Row::new(
            "dp4",
            "Computes the dot product of four channels.",
            Format::Binary,
        )
        .code(GEN7P5_TO_10, 0x54)
        .with(ALU)
        .types(GEN7P5_TO_10, [(F, F)]),
        Row::new(
            "dph",
            "Computes the homogeneous dot product.",
            Format::Binary,
        )
        .code(GEN7P5_TO_10, 0x55)
        .with(ALU)
        .types(GEN7P5_TO_10, [(F, F)]),
        Row::new(
            "dp3",
            "Computes the dot product of three channels.",
            Format::Binary,
        )
        .code(GEN7P5_TO_10, 0x56)
        .with(ALU)
        .types(GEN7P5_TO_10, [(F, F)]),
        Row::new(
            "dp2",
            "Computes the dot product of two channels.",
            Format::Binary,
        )
        .code(GEN7P5_TO_10, 0x57)
        .with(ALU)
        .types(GEN7P5_TO_10, [(F, F)]),
        Row::new("line", "Evaluates a line equation.", Format::Binary)
            .code(GEN7P5_TO_10, 0x59)
            .with(ALU)
            .types(GEN7P5_TO_10, [(F, F)]),
        Row::new("pln", "Evaluates a plane equation.", Format::Binary)
            .code(GEN7P5_TO_10, 0x5A)
            .with(PRED | COND | SAT | ACC)
            .types(GEN7P5_TO_10, [(F, F)]),
        Row::new(
            "dp4a",
            "Adds the dot product of four bytes to the accumulator source.",
            Format::Ternary,
        )
        .code(XE, 0x58)
        .with(PRED | COND | SAT | ACC)
        .types(XE, [(DWORD, DWORD | WORD)]),
        Row::new(
            "dpas",
            "Multiplies and accumulates on the systolic array.",
            Format::Dpas,
        )
        .code(XE_HP_ON, 0x59)
        .with(ACC)
        .types(
            XE_HP,
            [(DWORD, BYTE | DWORD | SUB_BYTE), (F, BF_F), (F, HF_F)],
        )
        .types(
            XE_HPG,
            [
                (DWORD, BYTE | DWORD | SUB_BYTE),
                (F, BF_F),
                (BF, BF_F),
                (F, HF_F),
                (HF, HF_F),
            ],
        )
        .types(
            XE_HPC,
            [
                (DWORD, BYTE | DWORD | SUB_BYTE),
                (F, F | BF8 | HF8),
                (F, BF_F),
                (BF, BF_F),
                (F, HF_F),
                (HF, HF_F),
                (F, F | TF32),
            ],
        ),
        Row::new(
            "dpasw",
            "Computes `dpas` with operands shared between two fused threads.",
            Format::Dpas,
        )
        .code(XE_HP | XE_HPG, 0x5A)
        .with(ACC)
        .types(
            XE_HP,
            [(DWORD, BYTE | DWORD | SUB_BYTE), (F, BF_F), (F, HF_F)],
        )
        .types(
            XE_HPG,
            [
                (DWORD, BYTE | DWORD | SUB_BYTE),
                (F, BF_F),
                (BF, BF_F),
                (F, HF_F),
                (HF, HF_F),
            ],
        ),
    ]
}
