//! "General restrictions on regioning parameters" and "region alignment rules".

use super::geometry::{
    dst_grfs_spanned, dst_span_bytes, grfs_spanned, is_dst_stride, is_encodable, row_crosses_grf,
};
use super::{Ctx, Operand, Part};
use crate::inst::Src;
use crate::op::Format;
use crate::reg::Register;
use crate::region::Region;

/// Runs a test over every source with a rectangle; the test gives the message.
fn each<R: Register>(
    c: &mut Ctx<'_, R>,
    test: impl Fn(&Ctx<'_, R>, &Operand<R>, (u32, u32, u32)) -> Option<String>,
) {
    if !c.is_align1_data() {
        return;
    }
    let found: Vec<(Part, String)> = c
        .srcs
        .iter()
        .filter_map(|s| Some((s.part, test(c, s, s.rect?)?)))
        .collect();
    for (part, message) in found {
        c.find(part, message);
    }
}

fn text((vs, w, hs): (u32, u32, u32)) -> String {
    format!("<{vs};{w},{hs}>")
}

/// Strides and widths have encodings, and the region is of the kind that the format takes.
pub(super) fn region_encodable<R: Register>(c: &mut Ctx<'_, R>) {
    each(c, |_, _, r| {
        (!is_encodable(r.0, r.1, r.2)).then(|| format!("{} cannot be encoded", text(r)))
    });
    if c.is_align1_data() {
        let reduced: Vec<u8> = (0u8..)
            .zip(&c.inst.srcs)
            .filter(|(_, s)| {
                matches!(
                    s,
                    Src::Direct {
                        region: Region::Ternary { .. } | Region::Scalar3 { .. },
                        ..
                    } | Src::Indirect {
                        region: Region::Ternary { .. } | Region::Scalar3 { .. },
                        ..
                    }
                )
            })
            .map(|(n, _)| n)
            .collect();
        for n in reduced {
            c.find(
                Part::Src(n),
                "the region is one of three-source instructions",
            );
        }
    }
}

/// Execution size is at least the width.
pub(super) fn width_within_exec<R: Register>(c: &mut Ctx<'_, R>) {
    each(c, |c, _, r| {
        (r.1 > c.channels())
            .then(|| format!("{} is wider than the {} channels", text(r), c.channels()))
    });
}

/// If the width is the execution size and the horizontal stride is not 0, the vertical stride is their product.
pub(super) fn full_width_stride<R: Register>(c: &mut Ctx<'_, R>) {
    each(c, |c, _, r| {
        (r.1 == c.channels() && r.2 != 0 && r.0 != r.1 * r.2).then(|| {
            format!(
                "{} is one row of {} channels, so its vertical stride must be {}",
                text(r),
                c.channels(),
                r.1 * r.2
            )
        })
    });
}

/// A width of 1 has a horizontal stride of 0.
pub(super) fn width_one_stride<R: Register>(c: &mut Ctx<'_, R>) {
    each(c, |_, _, r| {
        (r.1 == 1 && r.2 != 0).then(|| {
            format!(
                "{} has a width of 1, so its horizontal stride must be 0",
                text(r)
            )
        })
    });
}

/// One channel and a width of 1 have strides of 0.
pub(super) fn one_channel_strides<R: Register>(c: &mut Ctx<'_, R>) {
    each(c, |c, _, r| {
        (c.channels() == 1 && r.1 == 1 && (r.0 != 0 || r.2 != 0))
            .then(|| format!("{} is read by one channel, so it must be <0;1,0>", text(r)))
    });
}

/// Strides of 0 have a width of 1.
pub(super) fn zero_strides_width<R: Register>(c: &mut Ctx<'_, R>) {
    each(c, |_, _, r| {
        (r.0 == 0 && r.2 == 0 && r.1 != 1)
            .then(|| format!("{} has strides of 0, so its width must be 1", text(r)))
    });
}

/// The vertical stride crosses registers, the horizontal one does not: no row lies in two.
pub(super) fn row_within_grf<R: Register>(c: &mut Ctx<'_, R>) {
    each(c, |c, s, r| {
        let crosses = row_crosses_grf(
            s.offset(c.grf())?,
            s.region()?,
            c.inst.exec,
            s.bytes(),
            c.grf(),
        )?;
        crosses.then(|| format!("a row of {} lies in two registers", text(r)))
    });
}

/// A direct source spans two adjacent registers at most.
pub(super) fn source_span<R: Register>(c: &mut Ctx<'_, R>) {
    each(c, |c, s, r| {
        let n = grfs_spanned(
            s.offset(c.grf())?,
            s.region()?,
            c.inst.exec,
            s.bytes(),
            c.grf(),
        )?;
        (n > 2).then(|| {
            format!(
                "{} over {} channels takes {n} registers, 2 is the most",
                text(r),
                c.channels()
            )
        })
    });
}

/// VxH and Vx1 regions are for indirect source 0.
pub(super) fn vxh_indirect<R: Register>(c: &mut Ctx<'_, R>) {
    let found: Vec<(u8, &'static str)> = (0u8..)
        .zip(&c.inst.srcs)
        .filter_map(|(n, s)| match s {
            Src::Direct {
                region: Region::VxH { .. },
                ..
            } => Some((n, "a region of two numbers needs an indirect source")),
            Src::Indirect {
                region: Region::VxH { .. },
                ..
            } if n > 0 => Some((n, "only source 0 may take an address per row")),
            Src::Indirect {
                region: Region::VxH { w, hs },
                ..
            } if !is_encodable(0, (*w).into(), (*hs).into()) || u32::from(*w) > c.channels() => {
                Some((n, "the region cannot be encoded"))
            }
            _ => None,
        })
        .collect();
    for (n, message) in found {
        c.find(Part::Src(n), message);
    }
}

/// A destination's stride is 1, 2 or 4 elements.
pub(super) fn dst_stride<R: Register>(c: &mut Ctx<'_, R>) {
    if c.dst.is_some() && !is_dst_stride(c.dst_stride) {
        c.find(
            Part::Dst,
            format!("a stride of {} is not 1, 2 or 4", c.dst_stride),
        );
    }
}

/// A destination spans two adjacent registers at most.
pub(super) fn dst_span<R: Register>(c: &mut Ctx<'_, R>) {
    if !c.info.format.has_types() {
        return;
    }
    let Some(d) = c.written() else { return };
    let Some(offset) = d.offset(c.grf()) else {
        return;
    };
    let n = dst_grfs_spanned(offset, c.dst_stride, c.inst.exec, d.bytes(), c.grf());
    if n > 2 {
        let channels = c.channels();
        let bytes = d.bytes() * c.dst_stride;
        c.find(
            Part::Dst,
            format!("{channels} channels of {bytes} bytes take {n} registers, 2 is the most"),
        );
    }
}

/// Where a math destination spans two registers, half of its elements lie in each.
pub(super) fn math_dst_split<R: Register>(c: &mut Ctx<'_, R>) {
    if c.info.format != Format::Math {
        return;
    }
    let (Some(d), grf) = (c.written(), c.grf()) else {
        return;
    };
    let Some(offset) = d.offset(grf) else { return };
    let step = c.dst_stride * d.bytes();
    if offset + dst_span_bytes(c.dst_stride, c.inst.exec, d.bytes()) <= grf {
        return;
    }
    let first = (grf - offset).div_ceil(step.max(1));
    if first * 2 != c.channels() {
        c.find(
            Part::Dst,
            "the result must be split evenly between its two registers",
        );
    }
}
