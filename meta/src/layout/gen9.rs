//! Native form of Gen9.
//!
//! Source: PRM of Skylake, Vol. 2a "EU instruction fields". `isa-gen/tests/suite/bulk.rs` tests
//! each bit against Intel's assembler.

use super::{Case, Field, FieldBits, FormatLayout, GenLayouts, Layout, at, gen8, split};
use crate::format::Format;
use crate::types::Ty;
use Field::*;

const BASIC: usize = 0;
const MATH: usize = 1;
const TERNARY: usize = 2;
const BRANCH: usize = 3;
const SEND: usize = 4;
const SENDS: usize = 5;
const NULLARY: usize = 6;

pub(super) fn layouts() -> GenLayouts {
    let format = |format, layout, fixed: &[(Field, u64)]| FormatLayout {
        format,
        layout,
        fixed: fixed.to_vec(),
    };
    // The fields of a missing JIP or UIP operand hold the immediate file and type d.
    let imm0 = [(DstHs, 1), (Src0File, 3), (Src0Type, 1)];
    let imm1 = [(DstHs, 1), (Src1File, 3), (Src1Type, 1)];
    let ip = 0xA0;
    GenLayouts {
        layouts: vec![
            basic(),
            math(),
            ternary(),
            branch(),
            send(),
            sends(),
            nullary(),
        ],
        formats: vec![
            format(Format::Nullary, NULLARY, &[]),
            format(Format::Unary, BASIC, &[]),
            format(Format::Binary, BASIC, &[]),
            format(Format::Math, MATH, &[]),
            format(Format::Ternary, TERNARY, &[(AccessMode, 1)]),
            format(Format::Wait, BASIC, &[(DstHs, 1)]),
            format(Format::Send, SEND, &[(DstHs, 1), (Src1File, 3)]),
            format(Format::SplitSend, SENDS, &[]),
            format(
                Format::Jmpi,
                BRANCH,
                &[(DstHs, 1), (DstReg, ip), (Src0Reg, ip), (Src1Type, 1)],
            ),
            format(Format::BranchJip, BRANCH, &imm1),
            format(Format::BranchJipUip, BRANCH, &imm0),
            format(
                Format::BranchRegJip,
                BRANCH,
                &[(DstHs, 1), (DstReg, ip), (DstType, 1), (Src0Type, 1)],
            ),
            format(
                Format::BranchRegJipUip,
                BRANCH,
                &[(DstHs, 1), (DstReg, ip), (DstType, 1), (Src0Type, 1)],
            ),
            format(
                Format::Call,
                BRANCH,
                &[(DstHs, 1), (DstType, 1), (Src1Type, 1)],
            ),
            format(
                Format::Ret,
                BRANCH,
                &[
                    (DstHs, 1),
                    (Src0Type, 1),
                    (Src0Vs, 2),
                    (Src0Width, 1),
                    (Src0Hs, 1),
                ],
            ),
        ],
        reg_types: vec![
            (Ty::Ud, 0),
            (Ty::D, 1),
            (Ty::Uw, 2),
            (Ty::W, 3),
            (Ty::Ub, 4),
            (Ty::B, 5),
            (Ty::Df, 6),
            (Ty::F, 7),
            (Ty::Uq, 8),
            (Ty::Q, 9),
            (Ty::Hf, 10),
        ],
        imm_types: vec![
            (Ty::Ud, 0),
            (Ty::D, 1),
            (Ty::Uw, 2),
            (Ty::W, 3),
            (Ty::Uv, 4),
            (Ty::Vf, 5),
            (Ty::V, 6),
            (Ty::F, 7),
            (Ty::Uq, 8),
            (Ty::Q, 9),
            (Ty::Df, 10),
            (Ty::Hf, 11),
        ],
        align1_types: Vec::new(),
        ternary_types: vec![
            (Ty::F, 0),
            (Ty::D, 1),
            (Ty::Ud, 2),
            (Ty::Df, 3),
            (Ty::Hf, 4),
        ],
        ternary_other: Some(TERNARY),
        ternary_unit: 2,
        qword_targets: Vec::new(),
        ops: gen8::calls(&["call", "calla"]),
    }
}

/// Fields that one- and two-source instructions have in Align16 instead of strides and
/// sub-registers.
pub(super) fn align16() -> Vec<FieldBits> {
    vec![
        at(DstMask, 51, 48).when([Case::Align16]),
        split(Src0Swizzle, [(67, 64), (83, 80)]).when([Case::Align16]),
        split(Src1Swizzle, [(99, 96), (115, 112)]).when([Case::Align16]),
    ]
}

/// Fields of bits 0 to 34, except those that depend on the format (24 to 28).
pub(super) fn header() -> Vec<FieldBits> {
    vec![
        at(Opcode, 6, 0),
        at(AccessMode, 8, 8),
        at(NoDdClr, 9, 9),
        at(NoDdChk, 10, 10),
        split(ChanOff, [(11, 11), (13, 12)]),
        at(ThreadCtrl, 15, 14),
        at(PredCtrl, 19, 16),
        at(PredInv, 20, 20),
        at(ExecSize, 23, 21),
        at(Compacted, 29, 29),
        at(Debug, 30, 30),
        at(Sat, 31, 31),
        at(Flag, 33, 32),
        at(NoMask, 34, 34),
    ]
}

pub(super) fn nullary() -> Layout {
    Layout {
        name: "nullary",
        fields: vec![at(Opcode, 6, 0), at(Compacted, 29, 29), at(Debug, 30, 30)],
        shapes: vec![vec![]],
    }
}

pub(super) fn dst() -> Vec<FieldBits> {
    vec![
        at(DstFile, 36, 35),
        at(DstType, 40, 37),
        at(DstAddrMode, 63, 63),
        at(DstHs, 62, 61),
        at(DstReg, 60, 53).when([Case::DstDirect, Case::DstMacro]),
        at(DstSub, 52, 48).when([Case::DstDirect]),
        at(DstAddrSub, 60, 57).when([Case::DstIndirect]),
        split(DstAddrImm, [(56, 48), (47, 47)]).when([Case::DstIndirect]),
        at(DstMme, 51, 48).when([Case::DstMacro]),
    ]
}

pub(super) fn src0() -> Vec<FieldBits> {
    use Case::{Src0Direct, Src0Indirect, Src0Macro};
    let any = [Src0Direct, Src0Indirect, Src0Macro];
    vec![
        at(Src0File, 42, 41),
        at(Src0Type, 46, 43),
        at(Src0AddrMode, 79, 79).when(any),
        at(Src0Neg, 78, 78).when(any),
        at(Src0Abs, 77, 77).when(any),
        at(Src0Vs, 88, 85).when(any),
        at(Src0Width, 84, 82).when([Src0Direct, Src0Indirect]),
        at(Src0Hs, 81, 80).when([Src0Direct, Src0Indirect]),
        at(Src0Reg, 76, 69).when([Src0Direct, Src0Macro]),
        at(Src0Sub, 68, 64).when([Src0Direct]),
        at(Src0AddrSub, 76, 73).when([Src0Indirect]),
        split(Src0AddrImm, [(72, 64), (95, 95)]).when([Src0Indirect]),
        at(Src0Mme, 67, 64).when([Src0Macro]),
    ]
}

pub(super) fn src1() -> Vec<FieldBits> {
    use Case::{Imm32, Src0Direct, Src0Indirect, Src0Macro, Src1Direct, Src1Indirect, Src1Macro};
    let any = [Src1Direct, Src1Indirect, Src1Macro];
    vec![
        // There is no source 1 if source 0 is an immediate.
        at(Src1File, 90, 89).when([Src0Direct, Src0Indirect, Src0Macro]),
        at(Src1Type, 94, 91).when([Src0Direct, Src0Indirect, Src0Macro]),
        at(Src1AddrMode, 111, 111).when(any),
        at(Src1Neg, 110, 110).when(any),
        at(Src1Abs, 109, 109).when(any),
        at(Src1Vs, 120, 117).when(any),
        at(Src1Width, 116, 114).when([Src1Direct, Src1Indirect]),
        at(Src1Hs, 113, 112).when([Src1Direct, Src1Indirect]),
        at(Src1Reg, 108, 101).when([Src1Direct, Src1Macro]),
        at(Src1Sub, 100, 96).when([Src1Direct]),
        at(Src1AddrSub, 108, 105).when([Src1Indirect]),
        split(Src1AddrImm, [(104, 96), (121, 121)]).when([Src1Indirect]),
        at(Src1Mme, 99, 96).when([Src1Macro]),
        at(Field::Imm32, 127, 96).when([Imm32]),
        at(Field::Imm64, 127, 64).when([Case::Imm64]),
    ]
}

pub(super) fn operand_shapes() -> Vec<Vec<Case>> {
    use Case::*;
    let mut shapes = Vec::new();
    for d in [DstDirect, DstIndirect, DstMacro] {
        shapes.push(vec![d, Imm32]);
        shapes.push(vec![d, Imm64]);
        for s0 in [Src0Direct, Src0Indirect, Src0Macro] {
            shapes.push(vec![d, s0]);
            for s1 in [Src1Direct, Src1Indirect, Src1Macro, Imm32] {
                shapes.push(vec![d, s0, s1]);
            }
        }
    }
    shapes
}

pub(super) fn join(parts: impl IntoIterator<Item = Vec<FieldBits>>) -> Vec<FieldBits> {
    parts.into_iter().flatten().collect()
}

pub(super) fn basic() -> Layout {
    Layout {
        name: "basic",
        fields: join([
            header(),
            vec![at(CondMod, 27, 24), at(AccWr, 28, 28)],
            dst(),
            src0(),
            src1(),
            align16(),
        ]),
        shapes: [operand_shapes(), vec![vec![Case::Align16]]].concat(),
    }
}

pub(super) fn math() -> Layout {
    Layout {
        name: "math",
        fields: join([
            header(),
            vec![at(MathFn, 27, 24), at(AccWr, 28, 28)],
            dst(),
            src0(),
            src1(),
        ]),
        shapes: operand_shapes(),
    }
}

pub(super) fn ternary() -> Layout {
    Layout {
        name: "ternary",
        fields: join([
            header(),
            vec![
                at(CondMod, 27, 24),
                at(AccWr, 28, 28),
                at(Src2Half, 35, 35),
                at(Src1Half, 36, 36),
                at(Src0Abs, 37, 37),
                at(Src0Neg, 38, 38),
                at(Src1Abs, 39, 39),
                at(Src1Neg, 40, 40),
                at(Src2Abs, 41, 41),
                at(Src2Neg, 42, 42),
                at(SrcType, 45, 43),
                at(DstType, 48, 46),
                at(DstMask, 52, 49),
                // In dwords: bytes 4, 8, ... of the register.
                at(DstSub, 55, 53),
                at(DstReg, 63, 56),
                at(Src0Rep, 64, 64),
                at(Src0Swizzle, 72, 65),
                split(Src0Sub, [(84, 84), (75, 73)]),
                at(Src0Reg, 83, 76),
                at(Src1Rep, 85, 85),
                at(Src1Swizzle, 93, 86),
                split(Src1Sub, [(105, 105), (96, 94)]),
                at(Src1Reg, 104, 97),
                at(Src2Rep, 106, 106),
                at(Src2Swizzle, 114, 107),
                split(Src2Sub, [(126, 126), (117, 115)]),
                at(Src2Reg, 125, 118),
            ],
        ]),
        shapes: vec![vec![]],
    }
}

pub(super) fn branch() -> Layout {
    use Case::{DstDirect, DstIndirect};
    let registers = vec![
        at(DstFile, 36, 35),
        at(DstType, 40, 37),
        at(DstAddrMode, 63, 63),
        at(DstHs, 62, 61),
        at(DstReg, 60, 53).when([DstDirect]),
        at(DstSub, 52, 48).when([DstDirect]),
        at(DstAddrSub, 60, 57).when([DstIndirect]),
        split(DstAddrImm, [(56, 48), (47, 47)]).when([DstIndirect]),
    ];
    // A branch always has the fields of source 0 and the file of source 1, unless UIP overlaps
    // them.
    let registers0 = [
        at(Src0File, 42, 41),
        at(Src0Type, 46, 43),
        at(Src0AddrMode, 79, 79),
        at(Src0Neg, 78, 78),
        at(Src0Abs, 77, 77),
        at(Src0Vs, 88, 85),
        at(Src0Width, 84, 82),
        at(Src0Hs, 81, 80),
        at(Src0Reg, 76, 69),
        at(Src0Sub, 68, 64),
        at(Src1File, 90, 89),
        at(Src1Type, 94, 91),
    ]
    .into_iter()
    .map(|f| match f.field {
        Src0File | Src0Type => f,
        _ => f.when([Case::Src0Direct]),
    })
    .collect();
    Layout {
        name: "branch",
        fields: join([
            header(),
            vec![at(BranchCtrl, 28, 28)],
            registers,
            registers0,
            vec![
                at(Src1AddrMode, 111, 111).when([Case::Src1Direct]),
                at(Src1Neg, 110, 110).when([Case::Src1Direct]),
                at(Src1Abs, 109, 109).when([Case::Src1Direct]),
                at(Src1Vs, 120, 117).when([Case::Src1Direct]),
                at(Src1Width, 116, 114).when([Case::Src1Direct]),
                at(Src1Hs, 113, 112).when([Case::Src1Direct]),
                at(Src1Reg, 108, 101).when([Case::Src1Direct]),
                at(Src1Sub, 100, 96).when([Case::Src1Direct]),
                at(Jip, 127, 96).when([Case::Jip, Case::JipUip]),
                at(Uip, 95, 64).when([Case::JipUip]),
            ],
        ]),
        shapes: vec![
            vec![DstDirect, Case::Src0Direct, Case::Jip],
            vec![DstDirect, Case::Src0Direct, Case::Src1Direct],
            vec![DstDirect, Case::Src0Direct],
            vec![DstDirect, Case::JipUip],
            vec![DstIndirect, Case::JipUip],
        ],
    }
}

pub(super) fn send() -> Layout {
    use Case::{DescImm, DescReg};
    Layout {
        name: "send",
        fields: join([
            header(),
            vec![at(Sfid, 27, 24), at(NoSrcDepSet, 28, 28)],
            dst(),
            src0()
                .into_iter()
                // The bits of the region hold parts of the extended descriptor.
                .filter(|f| matches!(f.field, Src0File | Src0Type))
                .collect(),
            vec![
                at(Src0AddrMode, 79, 79),
                at(Src0Reg, 76, 69).when([Case::Src0Direct]),
                at(Src0AddrSub, 76, 73).when([Case::Src0Indirect]),
                // In units of 16 bytes, as in the split send.
                split(Src0AddrImm, [(72, 68), (78, 78)]).when([Case::Src0Indirect]),
                at(Src1File, 90, 89),
                split(ExFunc, [(67, 64), (83, 80), (88, 85), (94, 91)]),
                at(Desc, 126, 96).when([DescImm]),
                at(Field::Eot, 127, 127),
                at(Src1Reg, 108, 101).when([DescReg]),
                at(DescHf, 126, 126).when([DescReg]),
            ],
        ]),
        shapes: [DescImm, DescReg]
            .into_iter()
            .flat_map(|d| {
                [
                    vec![d, Case::DstDirect, Case::Src0Direct],
                    vec![d, Case::DstIndirect, Case::Src0Direct],
                    vec![d, Case::DstDirect, Case::Src0Indirect],
                    vec![d, Case::DstIndirect, Case::Src0Indirect],
                ]
            })
            .collect(),
    }
}

pub(super) fn sends() -> Layout {
    use Case::{DescImm, ExImm, ExReg};
    Layout {
        name: "sends",
        fields: join([
            header(),
            vec![
                at(Sfid, 27, 24).when([ExImm]),
                at(NoSrcDepSet, 28, 28),
                at(DstFile, 35, 35),
                at(Src1File, 36, 36),
                at(DstType, 40, 37),
                at(Src1Reg, 51, 44),
                at(DstReg, 60, 53).when([Case::DstDirect]),
                at(DstAddrSub, 60, 57).when([Case::DstIndirect]),
                split(DstAddrImm, [(56, 52), (62, 62)]).when([Case::DstIndirect]),
                at(Field::ExReg, 61, 61),
                at(DstAddrMode, 63, 63),
                at(ExLen, 67, 64).when([ExImm]),
                at(Src0Reg, 76, 69).when([Case::Src0Direct]),
                at(Src0AddrSub, 76, 73).when([Case::Src0Indirect]),
                split(Src0AddrImm, [(72, 68), (78, 78)]).when([Case::Src0Indirect]),
                at(Field::DescReg, 77, 77),
                at(Src0AddrMode, 79, 79),
                at(ExFunc, 95, 80).when([ExImm]),
                at(ExAddrSub, 82, 80).when([ExReg]),
                at(Desc, 126, 96).when([DescImm]),
                at(DescHf, 126, 126).when([Case::DescReg]),
                at(Field::Eot, 127, 127),
            ],
        ]),
        shapes: [ExImm, ExReg]
            .into_iter()
            .flat_map(|e| [vec![e, DescImm], vec![e, Case::DescReg]])
            .flat_map(|s| {
                [
                    [s.clone(), vec![Case::DstDirect]],
                    [s, vec![Case::DstIndirect]],
                ]
            })
            .map(|s| s.concat())
            .flat_map(|s| {
                [
                    [s.clone(), vec![Case::Src0Direct]],
                    [s, vec![Case::Src0Indirect]],
                ]
            })
            .map(|s| s.concat())
            .collect(),
    }
}
