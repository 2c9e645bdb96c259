//! Native form of Gen11: that of Gen10 with other type codes and without Align16.
//!
//! Source: PRM of Ice Lake, Vol. 2a "EU instruction fields". `isa-gen/tests/suite/bulk.rs` tests
//! each bit against Intel's assembler.

use super::gen8::register_descriptors_are_whole;
use super::gen10::align1_ternary;
use super::{Field, GenLayouts, OpFixed, gen9};
use crate::types::Ty;

pub(super) fn layouts() -> GenLayouts {
    let mut l = gen9::layouts();
    register_descriptors_are_whole(&mut l);
    align1_ternary(&mut l);
    l.ternary_other = None;
    l.align1_types.push((Ty::Nf, 11));
    l.ops = vec![OpFixed {
        op: "call",
        fixed: vec![
            (Field::Src0Vs, 2),
            (Field::Src0Width, 2),
            (Field::Src0Hs, 1),
        ],
    }];
    l.reg_types = vec![
        (Ty::Ud, 0),
        (Ty::D, 1),
        (Ty::Uw, 2),
        (Ty::W, 3),
        (Ty::Ub, 4),
        (Ty::B, 5),
        (Ty::Uq, 6),
        (Ty::Q, 7),
        (Ty::Hf, 8),
        (Ty::F, 9),
        (Ty::Df, 10),
        (Ty::Nf, 11),
    ];
    l.imm_types = vec![
        (Ty::Ud, 0),
        (Ty::D, 1),
        (Ty::Uw, 2),
        (Ty::W, 3),
        (Ty::Uv, 4),
        (Ty::V, 5),
        (Ty::Uq, 6),
        (Ty::Q, 7),
        (Ty::Hf, 8),
        (Ty::F, 9),
        (Ty::Df, 10),
        (Ty::Vf, 11),
    ];
    l
}
