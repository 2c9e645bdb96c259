//! Native form of Gen7.5.
//!
//! Source: PRM of Haswell, Vol. 7 "EU instruction fields". `isa-gen/tests/suite/bulk.rs` tests each
//! bit against Intel's assembler.

use super::gen9::{align16, join, operand_shapes};
use super::{Case, Field, FieldBits, FormatLayout, GenLayouts, Layout, OpFixed, at, gen8, split};
use crate::format::Format;
use crate::types::Ty;
use Field::*;

const BASIC: usize = 0;
const MATH: usize = 1;
const TERNARY: usize = 2;
const BRANCH: usize = 3;
const SEND: usize = 4;
const NULLARY: usize = 5;
const LONG_BRANCH: usize = 6;
const REG_BRANCH: usize = 7;

pub(super) fn layouts() -> GenLayouts {
    let format = |format, layout, fixed: &[(Field, u64)]| FormatLayout {
        format,
        layout,
        fixed: fixed.to_vec(),
    };
    // Targets are immediates of type `w`, except the long ones.
    let imm0 = [(DstHs, 1), (Src0File, 3), (Src0Type, 3)];
    let imm1 = [(Src1File, 3), (Src1Type, 1)];
    let ip = 0xA0;
    let by_ip = [(DstHs, 1), (DstReg, ip), (DstType, 1), (Src0Type, 3)];
    let op = |op, fixed: &[(Field, u64)]| OpFixed {
        op,
        fixed: fixed.to_vec(),
    };
    let mut ops = gen8::calls(&["call", "calla"]);
    ops.push(op("else", &imm0));
    ops.push(op("while", &imm1));
    ops.push(op("endif", &imm1));
    GenLayouts {
        layouts: vec![
            basic(),
            math(),
            ternary(),
            branch(),
            send(),
            nullary(),
            long_branch(),
            reg_branch(),
        ],
        formats: vec![
            format(Format::Nullary, NULLARY, &[]),
            format(Format::Unary, BASIC, &[]),
            format(Format::Binary, BASIC, &[]),
            format(Format::Math, MATH, &[]),
            format(Format::Ternary, TERNARY, &[(AccessMode, 1)]),
            format(Format::Wait, BASIC, &[(DstHs, 1)]),
            format(Format::Send, SEND, &[(DstHs, 1), (Src1File, 3)]),
            format(
                Format::Jmpi,
                LONG_BRANCH,
                &[(DstHs, 1), (DstReg, ip), (Src0Reg, ip), (Src1Type, 1)],
            ),
            format(Format::BranchJip, BRANCH, &[(DstHs, 1)]),
            format(Format::BranchJipUip, BRANCH, &imm0),
            format(Format::BranchRegJip, REG_BRANCH, &by_ip),
            format(Format::BranchRegJipUip, BRANCH, &by_ip),
            format(
                Format::Call,
                LONG_BRANCH,
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
        ],
        align1_types: Vec::new(),
        ternary_types: vec![(Ty::F, 0), (Ty::D, 1), (Ty::Ud, 2), (Ty::Df, 3)],
        ternary_other: Some(TERNARY),
        ternary_unit: 4,
        qword_targets: vec![BRANCH, REG_BRANCH],
        ops,
    }
}

/// Fields of bits 0 to 31 except those that depend on the format (24 to 28), and the odd half of
/// the channel offset.
fn header() -> Vec<FieldBits> {
    vec![
        at(Opcode, 6, 0),
        at(AccessMode, 8, 8),
        at(NoMask, 9, 9),
        at(NoDdClr, 10, 10),
        at(NoDdChk, 11, 11),
        split(ChanOff, [(47, 47), (13, 12)]),
        at(ThreadCtrl, 15, 14),
        at(PredCtrl, 19, 16),
        at(PredInv, 20, 20),
        at(ExecSize, 23, 21),
        at(Compacted, 29, 29),
        at(Debug, 30, 30),
        at(Sat, 31, 31),
    ]
}

fn nullary() -> Layout {
    Layout {
        name: "nullary",
        fields: vec![at(Opcode, 6, 0), at(Compacted, 29, 29), at(Debug, 30, 30)],
        shapes: vec![vec![]],
    }
}

fn dst() -> Vec<FieldBits> {
    vec![
        at(DstFile, 33, 32),
        at(DstType, 36, 34),
        at(DstAddrMode, 63, 63),
        at(DstHs, 62, 61),
        at(DstReg, 60, 53).when([Case::DstDirect]),
        at(DstSub, 52, 48).when([Case::DstDirect]),
        at(DstAddrSub, 60, 58).when([Case::DstIndirect]),
        at(DstAddrImm, 57, 48).when([Case::DstIndirect]),
    ]
}

fn src0() -> Vec<FieldBits> {
    use Case::{Src0Direct, Src0Indirect};
    let any = [Src0Direct, Src0Indirect];
    vec![
        at(Src0File, 38, 37),
        at(Src0Type, 41, 39),
        at(Src0AddrMode, 79, 79).when(any),
        at(Src0Neg, 78, 78).when(any),
        at(Src0Abs, 77, 77).when(any),
        at(Src0Vs, 88, 85).when(any),
        at(Src0Width, 84, 82).when(any),
        at(Src0Hs, 81, 80).when(any),
        at(Src0Reg, 76, 69).when([Src0Direct]),
        at(Src0Sub, 68, 64).when([Src0Direct]),
        at(Src0AddrSub, 76, 74).when([Src0Indirect]),
        at(Src0AddrImm, 73, 64).when([Src0Indirect]),
    ]
}

fn src1() -> Vec<FieldBits> {
    use Case::{Imm32, Src1Direct, Src1Indirect};
    let any = [Src1Direct, Src1Indirect];
    vec![
        at(Src1File, 43, 42),
        at(Src1Type, 46, 44),
        at(Src1AddrMode, 111, 111).when(any),
        at(Src1Neg, 110, 110).when(any),
        at(Src1Abs, 109, 109).when(any),
        at(Src1Vs, 120, 117).when(any),
        at(Src1Width, 116, 114).when(any),
        at(Src1Hs, 113, 112).when(any),
        at(Src1Reg, 108, 101).when([Src1Direct]),
        at(Src1Sub, 100, 96).when([Src1Direct]),
        at(Src1AddrSub, 108, 106).when([Src1Indirect]),
        at(Src1AddrImm, 105, 96).when([Src1Indirect]),
        at(Field::Imm32, 127, 96).when([Imm32]),
    ]
}

fn flag() -> Vec<FieldBits> {
    vec![at(Flag, 90, 89)]
}

/// Shapes without special accumulators and 64-bit immediates.
fn shapes() -> Vec<Vec<Case>> {
    let none = [
        Case::DstMacro,
        Case::Src0Macro,
        Case::Src1Macro,
        Case::Imm64,
    ];
    let mut shapes = operand_shapes();
    shapes.retain(|s| !s.iter().any(|c| none.contains(c)));
    shapes
}

fn basic() -> Layout {
    Layout {
        name: "basic",
        fields: join([
            header(),
            flag(),
            vec![at(CondMod, 27, 24), at(AccWr, 28, 28)],
            dst(),
            src0(),
            src1(),
            align16(),
        ]),
        shapes: [shapes(), vec![vec![Case::Align16]]].concat(),
    }
}

fn math() -> Layout {
    Layout {
        name: "math",
        fields: join([
            header(),
            flag(),
            vec![at(MathFn, 27, 24), at(AccWr, 28, 28)],
            dst(),
            src0(),
            src1(),
        ]),
        shapes: shapes(),
    }
}

fn ternary() -> Layout {
    Layout {
        name: "ternary",
        fields: join([
            header(),
            vec![
                at(CondMod, 27, 24),
                at(AccWr, 28, 28),
                at(Flag, 34, 33),
                at(Src0Abs, 36, 36),
                at(Src0Neg, 37, 37),
                at(Src1Abs, 38, 38),
                at(Src1Neg, 39, 39),
                at(Src2Abs, 40, 40),
                at(Src2Neg, 41, 41),
                at(SrcType, 43, 42),
                at(DstType, 45, 44),
                at(DstMask, 52, 49),
                // In dwords, as in the sources.
                at(DstSub, 55, 53),
                at(DstReg, 63, 56),
                at(Src0Rep, 64, 64),
                at(Src0Swizzle, 72, 65),
                at(Src0Sub, 75, 73),
                at(Src0Reg, 83, 76),
                at(Src1Rep, 85, 85),
                at(Src1Swizzle, 93, 86),
                at(Src1Sub, 96, 94),
                at(Src1Reg, 104, 97),
                at(Src2Rep, 106, 106),
                at(Src2Swizzle, 114, 107),
                at(Src2Sub, 117, 115),
                at(Src2Reg, 125, 118),
            ],
        ]),
        shapes: vec![vec![]],
    }
}

/// Branches with 16-bit targets, in units of 8 bytes.
fn branch() -> Layout {
    use Case::{DstDirect, Src0Direct};
    Layout {
        name: "branch",
        fields: join([
            header(),
            flag(),
            dst(),
            src0(),
            vec![
                at(Src1File, 43, 42),
                at(Src1Type, 46, 44),
                at(Jip, 111, 96).when([Case::Jip, Case::JipUip]),
                at(Uip, 127, 112).when([Case::JipUip]),
            ],
        ]),
        shapes: vec![
            vec![DstDirect, Src0Direct],
            vec![DstDirect, Case::Jip],
            vec![DstDirect, Case::JipUip],
        ],
    }
}

/// Branch with a 32-bit target, in units of 8 bytes, or a register.
fn reg_branch() -> Layout {
    use Case::{DstDirect, Src0Direct};
    Layout {
        name: "register branch",
        fields: join([
            header(),
            flag(),
            dst(),
            src0(),
            vec![at(Jip, 127, 96).when([Case::Jip])],
        ]),
        shapes: vec![vec![DstDirect, Src0Direct], vec![DstDirect, Case::Jip]],
    }
}

/// Jumps with a 32-bit target, in bytes.
fn long_branch() -> Layout {
    use Case::{DstDirect, Src0Direct, Src1Direct};
    let mut fields = join([header(), flag(), dst(), src0(), src1()]);
    fields.retain(|f| f.field != Field::Imm32);
    fields.push(at(Jip, 127, 96).when([Case::Jip]));
    Layout {
        name: "jump",
        fields,
        shapes: vec![
            vec![DstDirect, Src0Direct, Src1Direct],
            vec![DstDirect, Src0Direct, Case::Jip],
        ],
    }
}

fn send() -> Layout {
    use Case::{DescImm, DescReg, DstDirect, DstIndirect, Src0Direct, Src0Indirect};
    Layout {
        name: "send",
        fields: join([
            header(),
            flag(),
            vec![at(Sfid, 27, 24)],
            dst(),
            src0(),
            vec![
                at(Src1File, 43, 42),
                at(Desc, 124, 96).when([DescImm]),
                at(Eot, 127, 127),
                at(Src1Reg, 108, 101).when([DescReg]),
            ],
        ]),
        shapes: vec![
            vec![DescImm, DstDirect, Src0Direct],
            vec![DescReg, DstIndirect, Src0Indirect],
        ],
    }
}
