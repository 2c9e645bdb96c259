//! Native form of Gen10: that of Gen9, with an Align1 form of three-source instructions.
//!
//! Source: PRM of Ice Lake, Vol. 2a "EU instruction fields" (which Gen10 shares except for types).
//! `isa-gen/tests/suite/bulk.rs` tests each bit against Intel's assembler.

use super::gen8::{calls, register_descriptors_are_whole};
use super::{Case, Field, GenLayouts, Layout, at, gen9};
use crate::format::Format;
use crate::types::Ty;
use Field::*;

pub(super) fn layouts() -> GenLayouts {
    let mut l = gen9::layouts();
    register_descriptors_are_whole(&mut l);
    align1_ternary(&mut l);
    l.ops = calls(&["calla"]);
    l
}

/// Sets the Align1 form of three-source instructions. (Those of math macros stay in Align16.)
pub(super) fn align1_ternary(l: &mut GenLayouts) {
    let layout = l.layouts.len();
    l.layouts.push(ternary());
    for f in &mut l.formats {
        if f.format == Format::Ternary {
            l.ternary_other = Some(f.layout);
            f.layout = layout;
            f.fixed.clear();
        }
    }
    l.align1_types = vec![
        (Ty::Ud, 0),
        (Ty::D, 1),
        (Ty::Uw, 2),
        (Ty::W, 3),
        (Ty::Ub, 4),
        (Ty::B, 5),
        // The following have `ExecType` as bit 3.
        (Ty::Hf, 8),
        (Ty::F, 9),
        (Ty::Df, 10),
    ];
}

fn ternary() -> Layout {
    use Case::*;
    Layout {
        name: "ternary, Align1",
        fields: gen9::join([
            gen9::header(),
            vec![
                at(CondMod, 27, 24),
                at(AccWr, 28, 28),
                at(ExecType, 35, 35),
                // Among registers, 1 for an accumulator.
                at(DstFile, 36, 36),
                at(Src0Abs, 37, 37),
                at(Src0Neg, 38, 38),
                at(Src1Abs, 39, 39),
                at(Src1Neg, 40, 40),
                at(Src2Abs, 41, 41),
                at(Src2Neg, 42, 42),
                at(Src0File, 43, 43),
                at(Src1File, 44, 44),
                at(Src2File, 45, 45),
                at(DstType, 48, 46),
                at(DstHs, 49, 49),
                // In qwords.
                at(DstSub, 55, 54).when([DstDirect]),
                at(DstMme, 55, 52).when([DstMacro]),
                at(DstReg, 63, 56),
                at(Src0Type, 66, 64),
                at(Field::Src0Imm, 82, 67).when([Case::Src0Imm]),
                at(Src0Vs, 68, 67).when([Src0Direct, Src0Macro]),
                at(Src0Hs, 70, 69).when([Src0Direct, Src0Macro]),
                at(Src0Sub, 75, 71).when([Src0Direct]),
                at(Src0Mme, 75, 72).when([Src0Macro]),
                at(Src0Reg, 83, 76).when([Src0Direct, Src0Macro]),
                at(Src1Type, 87, 85),
                at(Src1Vs, 89, 88),
                at(Src1Hs, 91, 90),
                at(Src1Sub, 96, 92).when([Src1Direct]),
                at(Src1Mme, 96, 93).when([Src1Macro]),
                at(Src1Reg, 104, 97),
                at(Src2Type, 108, 106),
                at(Field::Src2Imm, 124, 109).when([Case::Src2Imm]),
                at(Src2Hs, 112, 111).when([Src2Direct, Src2Macro]),
                at(Src2Sub, 117, 113).when([Src2Direct]),
                at(Src2Mme, 117, 114).when([Src2Macro]),
                at(Src2Reg, 125, 118).when([Src2Direct, Src2Macro]),
            ],
        ]),
        shapes: vec![
            vec![DstDirect, Src0Direct, Src1Direct, Src2Direct],
            vec![DstDirect, Case::Src0Imm, Src1Direct, Case::Src2Imm],
            vec![DstMacro, Src0Macro, Src1Macro, Src2Macro],
        ],
    }
}
