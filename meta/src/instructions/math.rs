//! The math box: one opcode, a function number beside it.

use crate::generation::Generation::Gen9;
use crate::row::{Format, MathRow, Row, op};
use crate::types::*;

pub(super) fn rows() -> Vec<Row> {
    vec![
        Row::new("math", "Computes an extended math function.", Format::Math).on(
            [Gen9],
            op(0x38)
                .types([(F, F), (D, D), (UD, UD), (HF_F, HF_F)])
                .pred()
                .sat()
                .mods()
                .acc(),
        ),
    ]
}

pub(super) fn functions() -> Vec<MathRow> {
    let float = [(HF_F, HF_F)];
    let int = [(D, D), (UD, UD)];
    vec![
        MathRow::new("inv", "1 / x.", 1, float).on([Gen9], 1),
        MathRow::new("log", "Logarithm to base 2.", 1, float).on([Gen9], 2),
        MathRow::new("exp", "2 to the power x.", 1, float).on([Gen9], 3),
        MathRow::new("sqt", "Square root.", 1, float).on([Gen9], 4),
        MathRow::new("rsqt", "1 / square root.", 1, float).on([Gen9], 5),
        MathRow::new("sin", "Sine of radians.", 1, float).on([Gen9], 6),
        MathRow::new("cos", "Cosine of radians.", 1, float).on([Gen9], 7),
        MathRow::new("fdiv", "x / y.", 2, float).on([Gen9], 9),
        MathRow::new("pow", "|x| to the power y.", 2, float).on([Gen9], 10),
        MathRow::new(
            "idiv",
            "Quotient, and the remainder in the next register.",
            2,
            int,
        )
        .on([Gen9], 11),
        MathRow::new("iqot", "Quotient.", 2, int).on([Gen9], 12),
        MathRow::new("irem", "Remainder.", 2, int).on([Gen9], 13),
        MathRow::new(
            "invm",
            "First step of a correctly rounded x / y; the flag says it is done.",
            2,
            [(F, F), (DF, DF)],
        )
        .with_mme()
        .on([Gen9], 14),
        MathRow::new(
            "rsqtm",
            "First step of a correctly rounded square root; the flag says it is done.",
            1,
            [(F, F), (DF, DF)],
        )
        .with_mme()
        .on([Gen9], 15),
    ]
}
