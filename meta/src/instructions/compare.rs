//! Rows of compares.

use crate::format::Format;
use crate::generation::*;
use crate::row::*;
use crate::types::*;

pub(super) fn rows() -> Vec<Row> {
    vec![
        Row::new(
            "cmp",
            "Compares; sets the flag, and the destination to all ones or zeros.",
            Format::Binary,
        )
        .code(PRE_XE, 0x10)
        .code(XE, 0x70)
        .with(PRED | COND | MODS | ACC)
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
        .types(XE_LP, [(BWD, BWD), (HF_F, HF_F)])
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
            "cmpn",
            "Compares; also true if source 1 is a NaN.",
            Format::Binary,
        )
        .code(PRE_XE, 0x11)
        .code(XE, 0x71)
        .with(PRED | COND | MODS | ACC)
        .types(GEN7P5, [(BWD, BWD), (F, BWD), (F, F), (DF, DF)])
        .types(GEN8_TO_11, [(BWD, BWD), (F, BWD), (DF, DF), (HF_F, HF_F)])
        .types(XE_LP, [(BWD, BWD), (F, F), (HF, HF)])
        .types(XE_HP_ON, [(BWD, BWD), (F, F), (HF, HF), (DF, DF)]),
    ]
}
