//! Rows of the math unit, which has one opcode and a function number.

use crate::format::Format;
use crate::generation::*;
use crate::row::*;
use crate::types::*;

pub(super) fn rows() -> Vec<Row> {
    vec![
        Row::new("math", "Computes an extended math function.", Format::Math)
            .code(ALL, 0x38)
            .with(PRED | SAT | MODS | ACC)
            .without(GEN7P5, MODS)
            .types(GEN7P5, [(F, F), (D, D), (UD, UD)])
            .types(
                GEN8_TO_11 | XE_LP,
                [(D, D), (UD, UD), (D, UD), (HF_F, HF_F)],
            )
            .types(XE_HP_ON, [(F, F), (HF, HF), (DF, DF)]),
    ]
}

pub(super) fn functions() -> Vec<MathRow> {
    let float = [(HF_F, HF_F)];
    // Intel's compiler emits unsigned remainders with signed destinations.
    let int = [(D, D), (UD, UD), (D, UD)];
    vec![
        MathRow::new("inv", "1 / x.", 1, float).code(ALL, 1),
        MathRow::new("log", "Logarithm to base 2.", 1, float).code(ALL, 2),
        MathRow::new("exp", "2 to the power x.", 1, float).code(ALL, 3),
        MathRow::new("sqt", "Square root.", 1, float).code(ALL, 4),
        MathRow::new("rsqt", "1 / square root.", 1, float).code(ALL, 5),
        MathRow::new("sin", "Sine of radians.", 1, float).code(ALL, 6),
        MathRow::new("cos", "Cosine of radians.", 1, float).code(ALL, 7),
        MathRow::new("fdiv", "x / y.", 2, float).code(PRE_XE, 9),
        MathRow::new("pow", "|x| to the power y.", 2, float).code(PRE_XE, 10),
        MathRow::new(
            "idiv",
            "Quotient, and the remainder in the next register.",
            2,
            int,
        )
        .code(PRE_XE | XE_LP | XE_HP, 11),
        MathRow::new("iqot", "Quotient.", 2, int).code(PRE_XE | XE_LP | XE_HP, 12),
        MathRow::new("irem", "Remainder.", 2, int).code(PRE_XE | XE_LP | XE_HP, 13),
        MathRow::new(
            "invm",
            "First step of a correctly rounded x / y; sets the flag if no further step is needed.",
            2,
            [(F, F), (DF, DF)],
        )
        .with_mme()
        .code(GEN8_TO_11 | XE, 14),
        MathRow::new(
            "rsqtm",
            "First step of a correctly rounded square root; sets the flag if no further step is needed.",
            1,
            [(F, F), (DF, DF)],
        )
        .with_mme()
        .code(GEN8_TO_11 | XE, 15),
    ]
}
