//! Compares.

use crate::generation::Generation::Gen9;
use crate::row::{Format, Row, op};
use crate::types::*;

pub(super) fn rows() -> Vec<Row> {
    vec![
        Row::new(
            "cmp",
            "Compares; sets the flag, and the destination to all ones or zeros.",
            Format::Binary,
        )
        .on(
            [Gen9],
            op(0x10)
                .types([
                    (BWD, BWD),
                    (F, BWD),
                    (F, F),
                    (DF, DF),
                    (HF, HF),
                    (HF, BWD),
                    (QWORD, WD),
                    (WD, QWORD),
                    (QWORD, QWORD),
                    (HF_F, HF_F),
                ])
                .pred()
                .cond()
                .mods()
                .acc(),
        ),
        Row::new(
            "cmpn",
            "Compares, true also where source 1 is a NaN.",
            Format::Binary,
        )
        .on(
            [Gen9],
            op(0x11)
                .types([
                    (BWD, BWD),
                    (F, BWD),
                    (F, F),
                    (DF, DF),
                    (HF, HF),
                    (HF_F, HF_F),
                ])
                .pred()
                .cond()
                .mods()
                .acc(),
        ),
    ]
}
