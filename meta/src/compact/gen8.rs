//! Compact forms of Gen8 to Gen11, and what Gen7.5 shares with them. Gen11 has its own type codes
//! and no compact three-source instructions.
#![allow(
    clippy::unusual_byte_groupings,
    reason = "the groups are the runs of native bits, the highest first"
)]

use super::{
    CompactClass, CompactForm, CompactImm, GenCompact, ImmKind, ImmPlace, OperandShape,
    OperandShapes, ShapeTest, bits, copy, copy_in, table,
};
use crate::format::Format;

/// Differences between generations with otherwise equal forms.
pub(super) struct Basic {
    pub control_to: &'static [(u8, u8)],
    pub datatype: &'static [u64; 32],
    pub datatype_to: &'static [(u8, u8)],
    /// Native register files of source 0 and source 1.
    pub files: [(u8, u8); 2],
}

const GEN8_BASIC: Basic = Basic {
    control_to: &[(8, 8), (34, 34), (10, 9), (23, 12), (31, 31), (33, 32)],
    datatype: &DATATYPE,
    datatype_to: &[(46, 35), (94, 89), (63, 61)],
    files: [(42, 41), (90, 89)],
};

pub(super) fn gen8() -> GenCompact {
    compact(&GEN8_BASIC, Some(ternary()), &[Format::Send])
}

/// Compact forms from Gen9 on, where a `send` has none.
pub(super) fn gen9() -> GenCompact {
    compact(&GEN8_BASIC, Some(ternary()), &[])
}

pub(super) fn gen11() -> GenCompact {
    let form = Basic {
        datatype: &GEN11_DATATYPE,
        ..GEN8_BASIC
    };
    compact(&form, None, &[])
}

/// Builds the forms and classes of a generation before Xe.
pub(super) fn compact(
    form: &Basic,
    ternary: Option<CompactForm>,
    send: &'static [Format],
) -> GenCompact {
    use OperandShape::{OneImm, OneReg, TwoImm, TwoReg};
    let class = |name, formats, math, at, shapes| CompactClass {
        name,
        formats,
        but: &[],
        math,
        form: 0,
        test: ShapeTest {
            at: bits(at),
            shapes,
        },
        only_expand: false,
    };
    let [src0, src1] = form.files;
    // Files are ARF, GRF, (MRF), immediate. Intel's assembler compacts no second source in an ARF,
    // except in `math`.
    let mut classes = vec![
        CompactClass {
            // Its source is a 64-bit immediate.
            but: &["dim"],
            ..class(
                "one source",
                &[Format::Unary, Format::Wait, Format::Ret],
                Some(1),
                src0,
                [Some(OneReg), Some(OneReg), None, Some(OneImm)],
            )
        },
        class(
            "two sources",
            &[Format::Binary],
            None,
            src1,
            [None, Some(TwoReg), None, Some(TwoImm)],
        ),
        class(
            "math of two sources",
            &[],
            Some(2),
            src1,
            [Some(TwoReg), Some(TwoReg), None, Some(TwoImm)],
        ),
        // The distance of a jump is relative to its end, so a shorter jump would have another
        // target.
        CompactClass {
            only_expand: true,
            ..class(
                "jump",
                &[Format::Jmpi],
                None,
                src1,
                [None, Some(TwoReg), None, Some(TwoImm)],
            )
        },
        // The descriptor of a `send` is in a0 or an immediate.
        class(
            "send",
            send,
            None,
            src1,
            [Some(TwoReg), None, None, Some(TwoImm)],
        ),
    ];
    let mut forms = vec![basic(form)];
    if let Some(ternary) = ternary {
        forms.push(ternary);
        classes.push(CompactClass {
            form: 1,
            ..class(
                "three sources",
                &[Format::Ternary],
                None,
                (0, 0),
                [Some(OperandShape::Ternary); 4],
            )
        });
    }
    GenCompact { forms, classes }
}

fn basic(b: &Basic) -> CompactForm {
    let signed = ImmKind {
        place: ImmPlace::Signed,
        halves: false,
    };
    CompactForm {
        name: "basic",
        tables: vec![
            table("control", &[(12, 8)], &CONTROL, b.control_to),
            table("datatype", &[(17, 13)], b.datatype, b.datatype_to),
            table("subreg", &[(22, 18)], &SUBREG, &[(52, 48)])
                .and((68, 64), OperandShapes::SRC0)
                .and((100, 96), OperandShapes::SRC1),
            table("source 0", &[(34, 30)], &SOURCE, &[(88, 77)]),
            table("source 1", &[(39, 35)], &SOURCE, &[(120, 109)]).every(OperandShapes::REG),
        ],
        copies: vec![
            copy((6, 0), (6, 0)),
            copy((7, 7), (30, 30)),
            copy((23, 23), (28, 28)),
            copy((27, 24), (27, 24)),
            copy((47, 40), (60, 53)),
            copy((55, 48), (76, 69)),
            copy_in(OperandShapes::REG, (63, 56), (108, 101)),
        ],
        imm: Some(CompactImm {
            from: vec![bits((63, 56)), bits((39, 35))],
            kinds: vec![Some(signed)],
            type_at: [bits((0, 0)); 2],
        }),
    }
}

/// Form of three-source instructions in Align16 mode. Those in Align1 mode, from Gen10 on, have no
/// compact form.
fn ternary() -> CompactForm {
    CompactForm {
        name: "ternary",
        tables: vec![
            table("control", &[(9, 8)], &TERNARY_CONTROL, &[(28, 8), (36, 32)]),
            table(
                "source",
                &[(11, 10)],
                &TERNARY_SOURCE,
                &[
                    (55, 37),
                    (72, 65),
                    (93, 86),
                    (114, 107),
                    (84, 83),
                    (105, 104),
                    (126, 125),
                ],
            ),
        ],
        copies: vec![
            copy((6, 0), (6, 0)),
            copy((18, 12), (62, 56)),
            copy((28, 28), (64, 64)),
            copy((30, 30), (30, 30)),
            copy((31, 31), (31, 31)),
            copy((32, 32), (85, 85)),
            copy((33, 33), (106, 106)),
            copy((36, 34), (75, 73)),
            copy((39, 37), (96, 94)),
            copy((42, 40), (117, 115)),
            copy((49, 43), (82, 76)),
            copy((56, 50), (103, 97)),
            copy((63, 57), (124, 118)),
        ],
        imm: None,
    }
}

/// Control bits, by index.
const CONTROL: [u64; 32] = [
    0b00_0_000000000000_00_1_0,
    0b00_0_010000000000_00_0_0,
    0b00_0_010000000000_00_0_1,
    0b00_0_010000000000_00_1_0,
    0b00_0_010000000000_00_1_1,
    0b00_0_010000000000_01_0_0,
    0b00_0_010000000000_01_0_1,
    0b00_0_010000000000_01_1_1,
    0b00_0_010000000000_10_0_0,
    0b00_0_010000000000_10_0_1,
    0b00_0_010000000000_11_0_1,
    0b00_0_011000000000_00_0_0,
    0b00_0_011000000000_00_0_1,
    0b00_0_011000000000_00_1_0,
    0b00_0_011000000000_00_1_1,
    0b00_0_011000000000_01_0_0,
    0b00_0_011000000000_01_0_1,
    0b00_0_011000000000_01_1_1,
    0b00_0_011000000000_10_0_1,
    0b00_0_011000000000_11_0_1,
    0b00_0_011000000001_00_0_0,
    0b00_0_011000010000_00_0_0,
    0b00_0_100000000000_00_0_0,
    0b00_0_100000000000_00_1_0,
    0b00_0_100000000000_01_0_0,
    0b00_0_100000010000_00_0_0,
    0b00_1_011000000000_00_0_0,
    0b00_1_011000000001_00_0_0,
    0b00_1_100000000000_00_0_0,
    0b00_1_100000010000_00_0_0,
    0b01_0_100000000000_00_0_0,
    0b01_0_100000010000_00_0_0,
];

/// Register files, types, destination mode and stride, by index, up to Gen10.
const DATATYPE: [u64; 32] = [
    0b001_000000_000000000001,
    0b001_000000_000001000000,
    0b001_000000_000001000001,
    0b001_000000_000011000001,
    0b001_000000_000101011101,
    0b001_000000_010111011101,
    0b001_000000_011101000001,
    0b001_000000_011101000101,
    0b001_000000_011101011101,
    0b001_000001_000001000001,
    0b001_000011_000001000000,
    0b001_000011_000001000001,
    0b001_000101_000101000101,
    0b001_000111_000101000100,
    0b001_000111_000101000101,
    0b001_011100_011101011101,
    0b001_011101_011100011101,
    0b001_011101_011101011100,
    0b001_011101_011101011101,
    0b001_011111_011101011100,
    0b000_000000_010000001100,
    0b001_000000_000001011101,
    0b001_000000_000101000101,
    0b001_000001_000001000000,
    0b001_000101_000101000100,
    0b001_000111_000100000100,
    0b001_001001_001000001001,
    0b001_010111_011101011101,
    0b001_011111_011101011101,
    0b001_001111_001101001100,
    0b001_001001_001001001000,
    0b001_001011_001001001000,
];

/// Register files, types, destination mode and stride, by index, with the type codes of Gen11.
const GEN11_DATATYPE: [u64; 32] = [
    0b001_000000_000000000001,
    0b001_000000_000001000000,
    0b001_000000_000001000001,
    0b001_000000_000011000001,
    0b001_000000_000101100101,
    0b001_000000_101111100101,
    0b001_000000_100101000001,
    0b001_000000_100101000101,
    0b001_000000_100101100101,
    0b001_000001_000001000001,
    0b001_000011_000001000000,
    0b001_000011_000001000001,
    0b001_000101_000101000101,
    0b001_000111_000101000100,
    0b001_000111_000101000101,
    0b001_100100_100101100101,
    0b001_100101_100100100101,
    0b001_100101_100101100100,
    0b001_100101_100101100101,
    0b001_100111_100101100100,
    0b000_000000_010000001100,
    0b001_000000_000001100101,
    0b001_000000_000101000101,
    0b001_000001_000001000000,
    0b001_000101_000101000100,
    0b001_000111_000100000100,
    0b001_001001_001000001001,
    0b001_101111_100101100101,
    0b001_100111_100101100101,
    0b001_001111_001101001100,
    0b001_001001_001001001000,
    0b001_001011_001001001000,
];

/// Sub-register numbers by index.
const SUBREG: [u64; 32] = [
    0b00000_00000_00000,
    0b00000_00000_00001,
    0b00000_00000_01000,
    0b00000_00000_01111,
    0b00000_00000_10000,
    0b00000_00100_00000,
    0b00000_01000_00000,
    0b00000_01100_00000,
    0b00000_10000_00000,
    0b00000_10000_10000,
    0b00000_10100_00000,
    0b00100_00000_00000,
    0b00100_00000_00001,
    0b00100_00100_00001,
    0b00100_00100_00010,
    0b00100_00100_00011,
    0b00100_00100_00100,
    0b00100_00100_00111,
    0b00100_00100_01000,
    0b00100_00100_01110,
    0b00100_00100_01111,
    0b00100_01100_00000,
    0b00100_01111_01000,
    0b01000_00000_00000,
    0b01000_01100_00000,
    0b01100_00000_00000,
    0b01111_00100_00111,
    0b10000_00000_00000,
    0b10100_00000_00000,
    0b11000_00000_00000,
    0b11100_00000_00000,
    0b11100_00000_11100,
];

/// Source modifiers and regions by index.
const SOURCE: [u64; 32] = [
    0b000000000000,
    0b000000000010,
    0b000000010000,
    0b000000010010,
    0b000000011000,
    0b000000100000,
    0b000000101000,
    0b000001001000,
    0b000001010000,
    0b000001110000,
    0b000001111000,
    0b001100000000,
    0b001100000010,
    0b001100001000,
    0b001100010000,
    0b001100010010,
    0b001100100000,
    0b001100101000,
    0b001100111000,
    0b001101000000,
    0b001101000010,
    0b001101001000,
    0b001101010000,
    0b001101100000,
    0b001101101000,
    0b001101110000,
    0b001101110001,
    0b001101111000,
    0b010001101000,
    0b010001101001,
    0b010001101010,
    0b010110001000,
];

/// Control bits of three-source instructions by index.
const TERNARY_CONTROL: [u64; 4] = [
    0b00100_000000110000000000001,
    0b00000_000000110000000000001,
    0b00000_000001000000000000001,
    0b00000_000001000000000100001,
];

/// Types, modifiers and swizzles of three-source instructions by index.
const TERNARY_SOURCE: [u64; 4] = [
    0b00_00_00_11100100_11100100_11100100_0001111000000000000,
    0b00_00_00_11100100_11100100_11100100_0001111000000000010,
    0b00_00_00_11100100_11100100_11100100_0001111000000001000,
    0b00_00_00_11100100_11100100_11100100_0001111000000100000,
];
