//! Rows of moves, conversions and selects.

use crate::format::Format;
use crate::generation::*;
use crate::row::*;
use crate::types::*;

pub(super) fn rows() -> Vec<Row> {
    vec![
        Row::new("mov", "Copies, converting between types.", Format::Unary)
            .code(PRE_XE, 0x01)
            .code(XE, 0x61)
            .with(ALU)
            .types(ALL, [(BWD, BWD), (F, BWD), (BWD, F), (F, F)])
            .types(PRE_XE, [(DF, WD), (DF, F), (WD, DF), (F, DF), (DF, DF)])
            .types(GEN8_TO_11, [(QWORD, WD), (WD, QWORD), (QWORD, QWORD)])
            .types(
                GEN8_TO_11,
                [(QWORD, F), (QWORD, DF), (F, QWORD), (DF, QWORD)],
            )
            .types(
                GEN8_TO_11 | XE,
                [(HF, BWD), (HF, F), (BWD, HF), (F, HF), (HF, HF)],
            )
            .types(XE_HP_ON, [(BF, F), (WDQ | F | DF, DF), (DF, WDQ | F)])
            .types(XE_HP_ON, [(WDQ | F, QWORD), (QWORD, WD | F)])
            .types(XE_HP, [(F, BF)])
            .types(
                XE_HPC,
                [(BF8, HF), (HF8, HF), (HF, BF8), (HF, HF8), (TF32, F)],
            ),
        Row::new(
            "movi",
            "Copies with an index: each channel's source address comes from the address register.",
            Format::Binary,
        )
        .code(PRE_XE, 0x03)
        .code(XE, 0x63)
        .with(PRED | SAT | MODS | ACC)
        .formatted(GEN7P5 | GEN8 | GEN9, Format::Unary)
        .types(
            PRE_XE,
            [(B, B), (UB, UB), (W, W), (UW, UW), (D, D), (UD, UD), (F, F)],
        )
        .types(XE_LP, [(D, D), (UD, UD), (F, F)])
        .types(XE_HP_ON, [(D, D), (UD, UD)]),
        Row::new(
            "dim",
            "Copies a double from an immediate in two halves.",
            Format::Unary,
        )
        .code(GEN7P5, 0x0A)
        .with(PRED | COND | SAT | ACC)
        .types(GEN7P5, [(DF, F)]),
        Row::new(
            "f16to32",
            "Converts half precision to single precision.",
            Format::Unary,
        )
        .code(GEN7P5, 0x14)
        .with(ALU)
        .types(GEN7P5, [(F, W)]),
        Row::new(
            "f32to16",
            "Converts single precision to half precision.",
            Format::Unary,
        )
        .code(GEN7P5, 0x13)
        .with(ALU)
        .types(GEN7P5, [(W, F)]),
        Row::new(
            "srnd",
            "Rounds stochastically to a narrower float.",
            Format::Binary,
        )
        .code(XE_HPC, 0x54)
        .with(SAT)
        .types(XE_HPC, [(HF, F), (BF8, HF)]),
        Row::new(
            "sel",
            "Selects source 0 or 1 by the predicate, or their minimum or maximum by the condition.",
            Format::Binary,
        )
        .code(PRE_XE, 0x02)
        .code(XE, 0x62)
        .with(ALU)
        .types(GEN7P5, [(BWD, BWD), (F, F), (DF, DF)])
        .types(
            GEN8_TO_11,
            [
                (BWD, BWD),
                (DF, DF),
                (QWORD, WD),
                (WD, QWORD),
                (QWORD, QWORD),
                (HF_F, HF_F),
            ],
        )
        .types(XE_LP, [(BWD, BWD), (F, F), (HF, HF)])
        .types(
            XE_HP | XE_HPG,
            [
                (BWD, BWD),
                (HF, HF),
                (BF_F, BF_F),
                (DF, DF),
                (QWORD, WDQ),
                (WD, QWORD),
            ],
        )
        .types(XE_HPC, [(BWD, BWD), (HF, HF), (BF_F, BF_F), (DF, DF)]),
        Row::new(
            "smov",
            "Copies the element that the immediate's bits select for each channel.",
            Format::Binary,
        )
        .code(GEN8_TO_11, 0x0A)
        .with(PRED | ACC)
        .types(GEN8, [(WDQ | F | DF, WDQ | F | DF)])
        .types(
            GEN9_TO_11,
            [
                (WD | HF_F, WD | HF_F),
                (QWORD | DF, WD | HF_F),
                (WD | HF_F, QWORD | DF),
                (QWORD | DF, QWORD | DF),
            ],
        ),
        Row::new(
            "csel",
            "Selects source 0 or 1 by comparing source 2 with zero.",
            Format::Ternary,
        )
        .code(GEN8_TO_11, 0x12)
        .code(XE, 0x72)
        .with(COND | SAT | MODS | ACC)
        .types(GEN8 | GEN9, [(F, F)])
        .types(GEN10 | GEN11, [(F, F), (HF, HF), (D, D), (W, W)])
        .types(XE, [(F, F), (HF, HF), (DWORD, DWORD), (WORD, WORD)]),
    ]
}
