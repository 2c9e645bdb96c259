//! Rules of regions: "General restrictions on regioning parameters" and "region alignment rules" of
//! the PRMs.

use super::InstPart;
use super::geometry::{
    dst_grfs_spanned, dst_span_bytes, element_offset, grfs_spanned, is_dst_stride, is_encodable,
    register_of_channels, row_crosses_grf, span_bytes,
};
use super::rule::{FindingSink, InstKinds, Rule, always};
use super::view::{InstView, Operand};
use crate::op::Format;
use crate::region::{ExecSize, Region};
use crate::types::Type;

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "region-encodable",
        text: "strides are 0 or powers of two, up to 32 vertically and 4 horizontally; the width is a power of two up to 16",
        hint: "split the instruction, or copy to a simpler region",
        kinds: InstKinds::DATA,
        applies: always,
        check: region_encodable,
    },
    Rule {
        name: "width-within-exec",
        text: "the execution size is at least the width",
        hint: "use a region at most as wide as the execution size",
        kinds: InstKinds::DATA,
        applies: always,
        check: |v, out| {
            each(v, |s, r| {
                if r.1 > v.exec {
                    let (t, n) = (RegionText(r), v.exec);
                    out.find(s.part, format_args!("{t} is wider than the {n} channels"));
                }
            });
        },
    },
    Rule {
        name: "full-width-stride",
        text: "a single row with a horizontal stride has a vertical stride of width times horizontal stride",
        hint: "set the vertical stride to width times horizontal stride",
        kinds: InstKinds::DATA,
        applies: always,
        check: |v, out| {
            each(v, |s, r| {
                if r.1 == v.exec && r.2 != 0 && r.0 != r.1 * r.2 {
                    let (t, n, want) = (RegionText(r), v.exec, r.1 * r.2);
                    out.find(
                        s.part,
                        format_args!(
                            "{t} is one row of {n} channels, so its vertical stride must be {want}"
                        ),
                    );
                }
            });
        },
    },
    Rule {
        name: "width-one-stride",
        text: "a width of 1 has a horizontal stride of 0",
        hint: "set the horizontal stride to 0",
        kinds: InstKinds::DATA,
        applies: always,
        check: |v, out| {
            each(v, |s, r| {
                if r.1 == 1 && r.2 != 0 {
                    let t = RegionText(r);
                    let what =
                        format_args!("{t} has a width of 1, so its horizontal stride must be 0");
                    out.find(s.part, what);
                }
            });
        },
    },
    Rule {
        name: "one-channel-strides",
        text: "one channel and a width of 1 have strides of 0",
        hint: "write the region <0;1,0>",
        kinds: InstKinds::DATA,
        applies: always,
        check: |v, out| {
            each(v, |s, r| {
                if v.exec == 1 && r.1 == 1 && (r.0 != 0 || r.2 != 0) {
                    let t = RegionText(r);
                    let what = format_args!("{t} is read by one channel, so it must be <0;1,0>");
                    out.find(s.part, what);
                }
            });
        },
    },
    Rule {
        name: "zero-strides-width",
        text: "strides of 0 have a width of 1",
        hint: "write the region <0;1,0>",
        kinds: InstKinds::DATA,
        applies: always,
        check: |v, out| {
            each(v, |s, r| {
                if r.0 == 0 && r.2 == 0 && r.1 != 1 {
                    let t = RegionText(r);
                    let what = format_args!("{t} has strides of 0, so its width must be 1");
                    out.find(s.part, what);
                }
            });
        },
    },
    Rule {
        name: "row-within-grf",
        text: "only the vertical stride crosses registers: no row is in two",
        hint: "use rows that end with the register",
        kinds: InstKinds::DATA,
        applies: always,
        check: row_within_grf,
    },
    Rule {
        name: "source-span",
        text: "a direct source spans two adjacent registers at most",
        hint: "split the instruction by channels",
        kinds: InstKinds::DATA,
        applies: always,
        check: source_span,
    },
    Rule {
        name: "indirect-span",
        text: "an indirect operand spans at most two adjacent registers, or one on platforms where it cannot cross registers",
        hint: "split the instruction by channels",
        kinds: InstKinds::DATA,
        applies: always,
        check: indirect_span,
    },
    Rule {
        name: "vxh-indirect",
        text: "only an indirect source 0 has a region with an address per row",
        hint: "use an address register, in source 0",
        kinds: InstKinds::DATA,
        applies: always,
        check: vxh_indirect,
    },
    Rule {
        name: "vxh-addresses",
        text: "the addresses of the rows are within a0",
        hint: "start lower in a0, or use fewer channels",
        kinds: InstKinds::DATA,
        applies: always,
        check: vxh_addresses,
    },
    Rule {
        name: "dst-stride",
        text: "a destination's stride is 1, 2 or 4 elements",
        hint: "write to a temporary, and move from there",
        kinds: InstKinds::ANY,
        applies: always,
        check: |v, out| {
            if v.dst.is_some() && !is_dst_stride(v.dst_stride) {
                let hs = v.dst_stride;
                out.find(
                    InstPart::Dst,
                    format_args!("a stride of {hs} is not 1, 2 or 4"),
                );
            }
        },
    },
    Rule {
        name: "dst-span",
        text: "a destination spans two adjacent registers at most",
        hint: "split the instruction by channels",
        kinds: InstKinds::ALU,
        applies: always,
        check: dst_span,
    },
    Rule {
        name: "math-dst-split",
        text: "a math result in two registers is split evenly between them",
        hint: "align the destination to the register, or split the instruction",
        kinds: InstKinds::DATA,
        applies: always,
        check: |v, out| {
            if v.info.format == Format::Math {
                dst_split(v, out);
            }
        },
    },
    Rule {
        name: "dst-split",
        text: "a result in two registers is split evenly between them",
        hint: "align the destination to the register, or split the instruction",
        kinds: InstKinds::DATA,
        applies: |f| f.even_split,
        check: |v, out| {
            if v.info.format != Format::Math {
                dst_split(v, out);
            }
        },
    },
    Rule {
        name: "dst-owords",
        text: "with a source in two registers, a result in one register is in one half of it, or evenly in both",
        hint: "align the destination to 16 bytes, or split the instruction",
        kinds: InstKinds::DATA,
        applies: |f| f.even_split,
        check: dst_owords,
    },
    Rule {
        name: "source-spans-as-dst",
        text: "with a result in two registers, sources are in two registers too, except scalars and packed words",
        hint: "split the instruction by channels",
        kinds: InstKinds::DATA,
        applies: |f| f.spans_alike,
        check: source_spans_as_dst,
    },
    Rule {
        name: "halves-of-registers",
        text: "with sources and result in two registers, each register of the result comes from one register of each source",
        hint: "split the instruction by channels",
        kinds: InstKinds::DATA,
        applies: |f| f.spans_alike,
        check: halves_of_registers,
    },
];

/// Region in IGA syntax.
struct RegionText((u32, u32, u32));

impl std::fmt::Display for RegionText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (vs, w, hs) = self.0;
        write!(f, "<{vs};{w},{hs}>")
    }
}

/// Calls `test` for every source with a rectangular region.
fn each(v: &InstView, mut test: impl FnMut(&Operand, (u32, u32, u32))) {
    for s in v.srcs() {
        if let Some(r) = s.rect {
            test(s, r);
        }
    }
}

fn exec(v: &InstView) -> ExecSize {
    ExecSize::new(v.exec).unwrap_or(ExecSize::S1)
}

fn region_encodable(v: &InstView, out: &mut FindingSink<'_>) {
    each(v, |s, r| {
        if matches!(
            s.region,
            Some(Region::Ternary { .. } | Region::Scalar3 { .. })
        ) {
            let what = format_args!("only three-source instructions have this region");
            out.find(s.part, what);
        } else if !is_encodable(r.0, r.1, r.2) {
            let t = RegionText(r);
            out.find(s.part, format_args!("{t} cannot be encoded"));
        }
    });
}

fn row_within_grf(v: &InstView, out: &mut FindingSink<'_>) {
    each(v, |s, r| {
        let (Some(sub), Some(region)) = (s.grf_sub(), s.rectangle()) else {
            return;
        };
        if row_crosses_grf(sub, region, exec(v), s.bytes(), v.grf()) == Some(true) {
            let t = RegionText(r);
            out.find(s.part, format_args!("a row of {t} is in two registers"));
        }
    });
}

fn registers(v: &InstView, s: &Operand) -> Option<u32> {
    grfs_spanned(s.grf_sub()?, s.rectangle()?, exec(v), s.bytes(), v.grf())
}

fn dst_registers(v: &InstView, d: &Operand) -> Option<u32> {
    Some(dst_grfs_spanned(
        d.grf_sub()?,
        v.dst_stride,
        exec(v),
        d.bytes(),
        v.grf(),
    ))
}

fn source_span(v: &InstView, out: &mut FindingSink<'_>) {
    each(v, |s, r| {
        if let Some(n) = registers(v, s)
            && n > 2
        {
            let (t, channels) = (RegionText(r), v.exec);
            let what =
                format_args!("{t} over {channels} channels takes {n} registers, 2 is the most");
            out.find(s.part, what);
        }
    });
}

fn indirect_span(v: &InstView, out: &mut FindingSink<'_>) {
    for o in v.operands().filter(|o| o.is_indirect()) {
        let crosses = v.f.indirect_grf_crossing && (o.bytes() > 1 || v.f.indirect_byte_crossing);
        let most = if crosses { 2 } else { 1 } * v.grf();
        let span = match o.region {
            None => Some(dst_span_bytes(v.dst_stride, exec(v), o.bytes())),
            Some(Region::VxH { w, hs }) => span_bytes(Region::rect(0, w, hs), exec(v), o.bytes()),
            Some(_) => o
                .rectangle()
                .and_then(|r| span_bytes(r, exec(v), o.bytes())),
        };
        if let Some(span) = span
            && span > most
        {
            let what = format_args!("it spans {span} bytes, {most} is the most");
            out.find(o.part, what);
        }
    }
}

fn vxh_indirect(v: &InstView, out: &mut FindingSink<'_>) {
    for (n, s) in v.srcs().enumerate() {
        let Some(Region::VxH { w, hs }) = s.region else {
            continue;
        };
        if !s.is_indirect() {
            let what = format_args!("a region of two numbers needs an indirect source");
            out.find(s.part, what);
        } else if n > 0 {
            let what = format_args!("only source 0 may have an address per row");
            out.find(s.part, what);
        } else if !is_encodable(0, w.into(), hs.into()) || u32::from(w) > v.exec {
            out.find(s.part, format_args!("the region cannot be encoded"));
        }
    }
}

fn vxh_addresses(v: &InstView, out: &mut FindingSink<'_>) {
    for s in v.srcs() {
        let (Some(Region::VxH { w, .. }), super::view::OperandLocation::Indirect(true, sub, _)) =
            (s.region, s.location)
        else {
            continue;
        };
        let rows = v.exec / u32::from(w).max(1);
        if sub / 2 + rows > 16 {
            let first = sub / 2;
            let what = format_args!("{rows} addresses from a0.{first} go beyond a0.15");
            out.find(s.part, what);
        }
    }
}

fn dst_span(v: &InstView, out: &mut FindingSink<'_>) {
    let Some(n) = v.written().and_then(|d| dst_registers(v, d)) else {
        return;
    };
    if n > 2 {
        let (channels, bytes) = (v.exec, v.dst_step());
        let what =
            format_args!("{channels} channels of {bytes} bytes take {n} registers, 2 is the most");
        out.find(InstPart::Dst, what);
    }
}

fn dst_split(v: &InstView, out: &mut FindingSink<'_>) {
    let Some((d, sub)) = v.written().and_then(|d| Some((d, d.grf_sub()?))) else {
        return;
    };
    let grf = v.grf();
    if sub + dst_span_bytes(v.dst_stride, exec(v), d.bytes()) <= grf {
        return;
    }
    let first = grf.saturating_sub(sub).div_ceil(v.dst_step().max(1));
    if first * 2 != v.exec {
        let what = format_args!("the result must be split evenly between its two registers");
        out.find(InstPart::Dst, what);
    }
}

fn dst_owords(v: &InstView, out: &mut FindingSink<'_>) {
    let Some((d, sub)) = v.written().and_then(|d| Some((d, d.grf_sub()?))) else {
        return;
    };
    let two = v.srcs().any(|s| registers(v, s) == Some(2));
    if !two || dst_registers(v, d) != Some(1) {
        return;
    }
    let upper = (0..v.exec)
        .filter(|c| sub + c * v.dst_step() >= v.grf() / 2)
        .count();
    let lower = v.exec as usize - upper;
    if upper != 0 && lower != 0 && upper != lower {
        let what = format_args!("{lower} elements are in the lower half, {upper} in the upper");
        out.find(InstPart::Dst, what);
    }
}

fn is_packed(v: &InstView, s: &Operand) -> bool {
    let at = |c| s.rectangle().and_then(|r| element_offset(r, c, s.bytes()));
    (0..v.exec).all(|c| at(c) == Some(c * s.bytes()))
}

fn source_spans_as_dst(v: &InstView, out: &mut FindingSink<'_>) {
    let Some(d) = v.written() else { return };
    if dst_registers(v, d) != Some(2) {
        return;
    }
    let packed_dwords = v.dst_stride == 1 && d.bytes() == 4;
    for (n, s) in v.srcs().enumerate() {
        let packed_words =
            n == 0 && packed_dwords && matches!(s.ty, Type::W | Type::Uw) && is_packed(v, s);
        if registers(v, s) == Some(1) && !s.is_scalar() && !packed_words {
            let what = format_args!("the result is in two registers, so this must be too");
            out.find(s.part, what);
        }
    }
}

fn halves_of_registers(v: &InstView, out: &mut FindingSink<'_>) {
    let Some((d, sub)) = v.written().and_then(|d| Some((d, d.grf_sub()?))) else {
        return;
    };
    if dst_registers(v, d) != Some(2) {
        return;
    }
    for s in v.srcs() {
        if registers(v, s) != Some(2) {
            continue;
        }
        let (Some(from), Some(region)) = (s.grf_sub(), s.rectangle()) else {
            continue;
        };
        let Some(of) = register_of_channels(from, region, exec(v), s.bytes(), v.grf()) else {
            continue;
        };
        let wrong = (0..v.exec).any(|c| {
            let second = (sub + c * v.dst_step()) / v.grf().max(1) > 0;
            of.get(c as usize).is_some_and(|r| (*r > 0) != second)
        });
        if wrong {
            let what =
                format_args!("a register of the result comes from two registers of this source");
            out.find(s.part, what);
        }
    }
}
