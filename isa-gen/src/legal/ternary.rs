//! Three-source instructions in their Align16 form.

use super::{Ctx, Operand, Part, Place};
use crate::inst::Src;
use crate::op::Format;
use crate::reg::Register;
use crate::region::Region;

/// Operands are direct GRFs with the regions that Align16 has.
pub(super) fn ternary_operands<R: Register>(c: &mut Ctx<'_, R>) {
    if c.info.format != Format::Ternary || c.info.mme || !c.features.ternary_align16 {
        return;
    }
    let found: Vec<Part> = c
        .dst
        .iter()
        .chain(&c.srcs)
        .filter(|o| !o.is_direct() || o.arf().is_some())
        .map(|o| o.part)
        .collect();
    for part in found {
        c.find(part, "a three-source operand is a direct GRF");
    }
    if c.dst_stride != 1 {
        c.find(Part::Dst, "a three-source destination is packed");
    }
    let wrong: Vec<u8> = (0u8..)
        .zip(&c.inst.srcs)
        .filter(|(n, s)| match s {
            Src::Direct { region, .. } => !match (n, region) {
                (2, Region::Scalar3 { hs }) => *hs <= 1,
                (0 | 1, Region::Ternary { vs, hs }) => matches!((vs, hs), (2, 1) | (0, 0)),
                _ => false,
            },
            _ => false,
        })
        .map(|(n, _)| n)
        .collect();
    for n in wrong {
        let want = if n == 2 {
            "<1> or <0>"
        } else {
            "<2;1> or <0;0>"
        };
        c.find(Part::Src(n), format!("the region must be {want}"));
    }
}

/// Rows of channels start at 16 bytes.
pub(super) fn ternary_alignment<R: Register>(c: &mut Ctx<'_, R>) {
    if c.info.format != Format::Ternary || c.info.mme || !c.features.ternary_align16 {
        return;
    }
    let rows = |o: &Operand<R>| match o.place {
        Place::Direct(at) => at.sub % 16 != 0,
        _ => false,
    };
    let mut found: Vec<Part> = Vec::new();
    if c.channels() > 1 && c.dst.is_some_and(|d| rows(&d)) {
        found.push(Part::Dst);
    }
    found.extend(
        c.srcs
            .iter()
            .filter(|s| !s.is_scalar() && rows(s))
            .map(|s| s.part),
    );
    for part in found {
        c.find(part, "a row of channels must start at a 16-byte boundary");
    }
}

/// 16 channels at most, and as many as two registers hold.
pub(super) fn ternary_exec<R: Register>(c: &mut Ctx<'_, R>) {
    if c.info.format != Format::Ternary {
        return;
    }
    let most = c
        .dst
        .iter()
        .chain(&c.srcs)
        .map(|o| 2 * c.grf() / o.bytes())
        .min()
        .unwrap_or(16)
        .min(16);
    if c.channels() > most {
        let n = c.channels();
        c.find(
            Part::Inst,
            format!("{n} channels are more than the {most} that two registers hold"),
        );
    }
}
