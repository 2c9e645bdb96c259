//! Adds, multiplies, rounding.

use crate::generation::Generation::Gen9;
use crate::row::{Column, Format, Row, op};
use crate::types::*;

/// Floats only, with everything allowed.
fn float(opcode: u8) -> Column {
    op(opcode).types([(F, F)]).pred().cond().sat().mods().acc()
}

pub(super) fn rows() -> Vec<Row> {
    vec![
        Row::new("add", "Adds.", Format::Binary).on(
            [Gen9],
            op(0x40)
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
                .sat()
                .mods()
                .acc(),
        ),
        Row::new("mul", "Multiplies, keeping the low half.", Format::Binary).on(
            [Gen9],
            op(0x41)
                .types([
                    (BYTE, BYTE),
                    (WORD, BYTE),
                    (DWORD, BYTE),
                    (WORD, WORD),
                    (DWORD, WORD),
                    (DWORD, DWORD),
                    (QWORD, DWORD),
                    (F, F),
                    (DF, DF),
                    (HF, HF),
                    (HF_F, HF_F),
                ])
                .pred()
                .cond()
                .sat()
                .mods()
                .acc(),
        ),
        Row::new("avg", "Averages, rounding up.", Format::Binary).on(
            [Gen9],
            op(0x42)
                .types([(BWD, BWD)])
                .pred()
                .cond()
                .sat()
                .mods()
                .acc(),
        ),
        Row::new("frc", "Fraction: x - floor(x).", Format::Unary)
            .on([Gen9], op(0x43).types([(F, F)]).pred().cond().mods().acc()),
        Row::new("rndu", "Rounds up.", Format::Unary).on([Gen9], float(0x44)),
        Row::new("rndd", "Rounds down.", Format::Unary).on([Gen9], float(0x45)),
        Row::new(
            "rnde",
            "Rounds to the nearest, ties to even.",
            Format::Unary,
        )
        .on([Gen9], float(0x46)),
        Row::new("rndz", "Rounds towards zero.", Format::Unary).on([Gen9], float(0x47)),
        Row::new(
            "mac",
            "Multiplies and adds the accumulator.",
            Format::Binary,
        )
        .on(
            [Gen9],
            op(0x48)
                .types([(BWD, BYTE | WORD), (F, F), (DF, DF), (HF, HF), (HF_F, HF_F)])
                .pred()
                .cond()
                .sat()
                .mods()
                .acc(),
        ),
        Row::new(
            "mach",
            "Multiplies, adding to the accumulator; the destination gets the high half.",
            Format::Binary,
        )
        .on(
            [Gen9],
            op(0x49).types([(DWORD, DWORD)]).pred().sat().mods().acc(),
        ),
        Row::new(
            "addc",
            "Adds; the accumulator gets the carry.",
            Format::Binary,
        )
        .on([Gen9], op(0x4E).types([(UD, UD)]).pred().cond().acc()),
        Row::new(
            "subb",
            "Subtracts; the accumulator gets the borrow.",
            Format::Binary,
        )
        .on([Gen9], op(0x4F).types([(UD, UD)]).pred().cond().sat().acc()),
        Row::new(
            "sad2",
            "Sums the absolute differences of pairs of bytes.",
            Format::Binary,
        )
        .on(
            [Gen9],
            op(0x50)
                .types([(WORD, BYTE)])
                .pred()
                .cond()
                .sat()
                .mods()
                .acc(),
        ),
        Row::new(
            "sada2",
            "Sums the absolute differences of pairs of bytes and the accumulator.",
            Format::Binary,
        )
        .on(
            [Gen9],
            op(0x51)
                .types([(WORD, BYTE)])
                .pred()
                .cond()
                .sat()
                .mods()
                .acc(),
        ),
        Row::new("dp4", "Dot product of four.", Format::Binary).on([Gen9], float(0x54)),
        Row::new("dph", "Homogeneous dot product.", Format::Binary).on([Gen9], float(0x55)),
        Row::new("dp3", "Dot product of three.", Format::Binary).on([Gen9], float(0x56)),
        Row::new("dp2", "Dot product of two.", Format::Binary).on([Gen9], float(0x57)),
        Row::new("line", "Evaluates a line equation.", Format::Binary).on([Gen9], float(0x59)),
        Row::new("pln", "Evaluates a plane equation.", Format::Binary)
            .on([Gen9], op(0x5A).types([(F, F)]).pred().cond().sat().acc()),
        Row::new(
            "mad",
            "Source 0 plus source 1 times source 2.",
            Format::Ternary,
        )
        .on(
            [Gen9],
            op(0x5B)
                .types([(F, F), (DF, DF), (HF, HF), (HF_F, HF_F)])
                .pred()
                .cond()
                .sat()
                .mods()
                .acc(),
        ),
        Row::new(
            "madm",
            "A step of a math macro: `mad` with special accumulators.",
            Format::Ternary,
        )
        .on(
            [Gen9],
            op(0x5D)
                .types([(F, F), (DF, DF)])
                .pred()
                .cond()
                .sat()
                .mods()
                .acc()
                .mme(),
        ),
        Row::new(
            "lrp",
            "Interpolates from source 2 to source 1 by source 0.",
            Format::Ternary,
        )
        .on(
            [Gen9],
            op(0x5C).types([(F, F)]).pred().cond().sat().mods().acc(),
        ),
    ]
}
