//! Rows of adds, multiplies and rounding.

use crate::format::Format;
use crate::generation::*;
use crate::row::*;
use crate::types::*;

pub(super) fn rows() -> Vec<Row> {
    vec![
        Row::new("add", "Adds.", Format::Binary)
            .code(ALL, 0x40)
            .with(ALU)
            .types(GEN7P5, [(BWD, BWD), (F, BWD), (F, F), (DF, DF)])
            .types(
                GEN8_TO_11,
                [
                    (BWD, BWD),
                    (F, BWD),
                    (DF, DF),
                    (HF, BWD),
                    (QWORD, WD),
                    (WD, QWORD),
                    (QWORD, QWORD),
                    (HF_F, HF_F),
                ],
            )
            .types(XE_LP, [(BWD, BWD), (F, BWD), (HF_F, HF_F), (HF, BWD)])
            .types(
                XE_HP_ON,
                [
                    (BWD, BWD),
                    (HF, HF),
                    (BF_F, BF_F),
                    (DF, DF),
                    (QWORD, WDQ),
                    (WD, QWORD),
                ],
            ),
        Row::new("add3", "Adds three sources.", Format::Ternary)
            .code(XE_HP_ON, 0x52)
            .with(ALU)
            .types(XE_HP_ON, [(WD, WD)]),
        Row::new(
            "addc",
            "Adds, writing the carry to the accumulator.",
            Format::Binary,
        )
        .code(ALL, 0x4E)
        .with(PRED | COND | ACC)
        .types(ALL, [(UD, UD | W)]),
        Row::new(
            "subb",
            "Subtracts, writing the borrow to the accumulator.",
            Format::Binary,
        )
        .code(ALL, 0x4F)
        .with(PRED | COND | SAT | ACC)
        .types(ALL, [(UD, UD)]),
        Row::new("mul", "Multiplies, keeping the low half.", Format::Binary)
            .code(ALL, 0x41)
            .with(ALU)
            .types(
                GEN7P5,
                [(B, B), (W, B), (D, B), (W, W), (D, W | D), (F, F), (DF, DF)],
            )
            .types(
                GEN8,
                [
                    (BYTE, BYTE),
                    (WORD, BYTE),
                    (DWORD, BYTE),
                    (WORD, WORD),
                    (DWORD, WORD),
                    (DWORD, DWORD),
                    (QWORD, DWORD),
                    (DF, DF),
                    (HF_F, HF_F),
                ],
            )
            .types(
                GEN9_TO_11,
                [
                    (BYTE, BYTE),
                    (WORD, BYTE),
                    (DWORD, BYTE),
                    (WORD, WORD),
                    (DWORD, WORD),
                    (DWORD, DWORD),
                    (QWORD, DWORD),
                    (DF, DF),
                    (HF_F, HF_F),
                ],
            )
            .types(
                XE_LP,
                [
                    (BYTE, BYTE),
                    (WORD, BYTE),
                    (DWORD, BYTE),
                    (WORD, WORD),
                    (DWORD, WD),
                    (HF_F, HF_F),
                ],
            )
            .types(
                XE_HP | XE_HPG,
                [
                    (BYTE, BYTE),
                    (WORD, BYTE),
                    (DWORD, BYTE),
                    (WORD, WORD),
                    (DWORD, WD),
                    (HF, HF),
                    (BF_F, BF_F),
                    (DF, DF),
                    (QWORD, DWORD),
                ],
            )
            .types(
                XE_HPC,
                [
                    (WORD, BYTE | WORD),
                    (DWORD, WD),
                    (HF, HF),
                    (BF_F, BF_F),
                    (DF, DF),
                ],
            ),
        Row::new("avg", "Averages, rounding up.", Format::Binary)
            .code(ALL, 0x42)
            .with(ALU)
            .types(ALL, [(BWD, BWD)]),
        Row::new(
            "frc",
            "Computes the fraction `x - floor(x)`.",
            Format::Unary,
        )
        .code(ALL, 0x43)
        .with(PRED | COND | MODS | ACC)
        .types(ALL, [(F, F)]),
        Row::new("rndu", "Rounds up.", Format::Unary)
            .code(ALL, 0x44)
            .with(ALU)
            .types(ALL, [(F, F)]),
        Row::new("rndd", "Rounds down.", Format::Unary)
            .code(ALL, 0x45)
            .with(ALU)
            .types(ALL, [(F, F)]),
        Row::new(
            "rnde",
            "Rounds to the nearest, ties to even.",
            Format::Unary,
        )
        .code(ALL, 0x46)
        .with(ALU)
        .types(ALL, [(F, F)]),
        Row::new("rndz", "Rounds towards zero.", Format::Unary)
            .code(ALL, 0x47)
            .with(ALU)
            .types(ALL, [(F, F)]),
        Row::new(
            "mac",
            "Multiplies and adds the accumulator.",
            Format::Binary,
        )
        .code(ALL, 0x48)
        .with(ALU)
        .types(GEN7P5, [(BWD, BYTE | WORD), (F, F), (DF, DF)])
        .types(
            GEN8_TO_11,
            [(BWD, BYTE | WORD), (DWORD, WD), (DF, DF), (HF_F, HF_F)],
        )
        .types(XE_LP, [(BWD, BYTE | WORD), (HF_F, HF_F)])
        .types(
            XE_HP | XE_HPG,
            [(BWD, BYTE | WORD), (HF, HF), (BF_F, BF_F), (DF, DF)],
        )
        .types(
            XE_HPC,
            [(WD, BYTE | WORD), (HF, HF), (BF_F, BF_F), (DF, DF)],
        ),
        Row::new(
            "mach",
            "Multiplies and adds the accumulator, keeping the high half.",
            Format::Binary,
        )
        .code(ALL, 0x49)
        .with(PRED | SAT | MODS | ACC)
        .without(XE, SAT)
        .types(ALL, [(DWORD, DWORD)]),
        Row::new(
            "macl",
            "Multiplies and adds the accumulator, keeping the low half.",
            Format::Binary,
        )
        .code(XE_HPC, 0x53)
        .with(PRED | MODS)
        .types(XE_HPC, [(DWORD, DWORD)]),
        Row::new(
            "mad",
            "Computes source 0 plus source 1 times source 2.",
            Format::Ternary,
        )
        .code(ALL, 0x5B)
        .with(ALU)
        .types(GEN7P5, [(F, F), (DF, DF)])
        .types(GEN8 | GEN9 | GEN10, [(DF, DF), (HF_F, HF_F)])
        .types(
            GEN11,
            [
                (DF, DF),
                (HF_F, HF_F),
                (WD, BYTE),
                (WD, WD),
                (F | NF, F | NF),
            ],
        )
        .types(XE_LP, [(HF_F, HF_F), (WD, BYTE), (WD, WD)])
        .types(
            XE_HP | XE_HPG,
            [(HF, HF), (BF_F, BF_F), (WD, BYTE), (WD, WD), (DF, DF)],
        )
        .types(
            XE_HPC,
            [(HF, HF), (BF_F, BF_F), (WORD, BYTE), (WD, WD), (DF, DF)],
        ),
        Row::new(
            "madm",
            "Computes a step of a math macro: `mad` with special accumulators.",
            Format::Ternary,
        )
        .code(GEN8_TO_11 | XE_HP_ON, 0x5D)
        .with(ALU | MME)
        .without(XE_HP_ON, COND | SAT)
        .types(GEN8_TO_11 | XE_HP_ON, [(F, F), (DF, DF)]),
        Row::new(
            "lrp",
            "Interpolates from source 2 to source 1 by source 0.",
            Format::Ternary,
        )
        .code(GEN7P5_TO_10, 0x5C)
        .with(ALU)
        .types(GEN7P5_TO_10, [(F, F)]),
    ]
}
