//! Native form of Gen8: that of Gen9 without split sends.
//!
//! Source: PRM of Broadwell, Vol. 7 "EU instruction fields". `isa-gen/tests/suite/bulk.rs` tests
//! each bit against Intel's assembler.

use super::{Case, Field, GenLayouts, OpFixed, at, gen9};
use crate::format::Format;

/// Fields that exist from Gen9 on.
const LATER: [Field; 4] = [
    Field::Src1Half,
    Field::Src2Half,
    Field::ExFunc,
    Field::NoSrcDepSet,
];

pub(super) fn layouts() -> GenLayouts {
    let mut l = gen9::layouts();
    l.formats.retain(|f| f.format != Format::SplitSend);
    register_descriptors_are_whole(&mut l);
    for layout in &mut l.layouts {
        // Three sources have one type, and their sub-registers are in dwords.
        layout.fields.retain(|f| !LATER.contains(&f.field));
        if layout.name == "ternary" {
            for f in &mut layout.fields {
                match f.field {
                    Field::Src0Sub => *f = at(Field::Src0Sub, 75, 73),
                    Field::Src1Sub => *f = at(Field::Src1Sub, 96, 94),
                    Field::Src2Sub => *f = at(Field::Src2Sub, 117, 115),
                    _ => {}
                }
            }
        }
        for f in &mut layout.fields {
            if f.field == Field::Desc {
                *f = at(Field::Desc, 124, 96).when([Case::DescImm]);
            }
        }
    }
    l.ternary_unit = 4;
    l.ops = calls(&["calla"]);
    l
}

/// Removes a bit of a register descriptor that only Gen9 has in the instruction.
pub(super) fn register_descriptors_are_whole(l: &mut GenLayouts) {
    for layout in &mut l.layouts {
        layout.fields.retain(|f| f.field != Field::DescHf);
    }
}

/// Returns the fixed fields of calls, which have the region `<2;2,1>` in the fields of source 0.
pub(super) fn calls(names: &[&'static str]) -> Vec<OpFixed> {
    let region = [
        (Field::Src0Vs, 2),
        (Field::Src0Width, 1),
        (Field::Src0Hs, 1),
    ];
    names
        .iter()
        .map(|op| OpFixed {
            op,
            fixed: region.into(),
        })
        .collect()
}
