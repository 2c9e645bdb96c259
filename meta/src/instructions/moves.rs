//! Moves and selects.

use crate::generation::Generation::Gen9;
use crate::row::{Format, Row, op};
use crate::types::*;

pub(super) fn rows() -> Vec<Row> {
    vec![
        Row::new("mov", "Copies, converting between types.", Format::Unary).on(
            [Gen9],
            op(0x01)
                .types([
                    (BWD, BWD),
                    (F, BWD),
                    (BWD, F),
                    (F, F),
                    (DF, WD),
                    (DF, F),
                    (WD, DF),
                    (F, DF),
                    (DF, DF),
                    (QWORD, WD),
                    (WD, QWORD),
                    (QWORD, QWORD),
                    (QWORD, F),
                    (QWORD, DF),
                    (F, QWORD),
                    (DF, QWORD),
                    (HF, BWD),
                    (HF, F),
                    (BWD, HF),
                    (F, HF),
                    (HF, HF),
                ])
                .pred()
                .cond()
                .sat()
                .mods()
                .acc(),
        ),
        Row::new(
            "movi",
            "Copies with an index: each channel's source address comes from the address register.",
            Format::Unary,
        )
        .on(
            [Gen9],
            op(0x03)
                .types([(B, B), (UB, UB), (W, W), (UW, UW), (D, D), (UD, UD), (F, F)])
                .pred()
                .sat()
                .mods()
                .acc(),
        ),
        Row::new(
            "sel",
            "Selects source 0 or 1 by the predicate, or their minimum or maximum by the condition.",
            Format::Binary,
        )
        .on(
            [Gen9],
            op(0x02)
                .types([
                    (BWD, BWD),
                    (F, F),
                    (DF, DF),
                    (QWORD, WD),
                    (WD, QWORD),
                    (QWORD, QWORD),
                    (HF, HF),
                    (HF_F, HF_F),
                ])
                .pred()
                .cond()
                .sat()
                .mods()
                .acc(),
        ),
        Row::new(
            "smov",
            "Copies the element that the immediate's bits pick for each channel.",
            Format::Binary,
        )
        .on(
            [Gen9],
            op(0x0A)
                .types([(WD | HF_F, WD | HF_F), (QWORD | DF, QWORD | DF)])
                .types([(QWORD | DF, WD | HF_F), (WD | HF_F, QWORD | DF)])
                .pred()
                .acc(),
        ),
        Row::new(
            "csel",
            "Selects source 0 or 1 by comparing source 2 with zero.",
            Format::Ternary,
        )
        .on([Gen9], op(0x12).types([(F, F)]).cond().sat().mods().acc()),
    ]
}
