//! Rules that sources have the stride and offset of the destination: 64-bit operands on Cherryview
//! and Broxton, floats and 64-bit operands from Xe-HP on.

use super::InstPart;
use super::geometry::uniform_stride;
use super::rule::{FindingSink, InstKinds, Rule};
use super::view::{InstView, Operand};
use crate::diag::Count;
use crate::inst::InstOpts;
use crate::op::Op;
use crate::platform::Features;
use crate::reg::Arf;
use crate::region::{ExecSize, Region};

fn restricted(f: &Features) -> bool {
    f.restricted_64bit
}

fn in_step(f: &Features) -> bool {
    f.regioning_in_step
}

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "64-bit-qword-aligned",
        text: "with 64-bit operands and products of dwords, source and destination strides are equal multiples of 8 bytes",
        hint: "spread the elements to 8 bytes each with a `mov` first",
        kinds: InstKinds::DATA,
        applies: restricted,
        check: qword_aligned,
    },
    Rule {
        name: "64-bit-linear",
        text: "with 64-bit operands and products of dwords, the vertical stride is width times horizontal stride",
        hint: "copy to a packed region first",
        kinds: InstKinds::DATA,
        applies: restricted,
        check: |v, out| {
            for s in v.srcs().filter(|s| v.is_64bit() && !s.is_scalar()) {
                if s.rect.is_some_and(|(vs, w, hs)| w > 1 && vs != w * hs) {
                    out.find(s.part, format_args!("the rows must be contiguous"));
                }
            }
        },
    },
    Rule {
        name: "64-bit-same-offset",
        text: "with 64-bit operands and products of dwords, source and destination start at the same offset, except scalars",
        hint: "move the source to the destination's offset",
        kinds: InstKinds::DATA,
        applies: restricted,
        check: |v, out| {
            let Some(to) = v.written().and_then(Operand::grf_sub) else {
                return;
            };
            for s in v.srcs().filter(|s| v.is_64bit() && !s.is_scalar()) {
                if let Some(from) = s.grf_sub()
                    && from != to
                    && v.exec > 1
                {
                    let what = format_args!("it starts at byte {from}, the destination at {to}");
                    out.find(s.part, what);
                }
            }
        },
    },
    Rule {
        name: "64-bit-direct",
        text: "with 64-bit operands and products of dwords, no operand is indirect",
        hint: "copy the operand by dwords first",
        kinds: InstKinds::DATA,
        applies: restricted,
        check: |v, out| {
            for o in v.operands().filter(|o| o.is_indirect()) {
                if v.is_64bit() {
                    let what = format_args!("an operand of a 64-bit operation cannot be indirect");
                    out.find(o.part, what);
                }
            }
        },
    },
    Rule {
        name: "64-bit-no-arf",
        text: "with 64-bit operands and products of dwords, no operand is an architecture register",
        hint: "copy the register to a GRF first",
        kinds: InstKinds::DATA,
        applies: restricted,
        check: |v, out| {
            if !v.is_64bit() {
                return;
            }
            for o in v.operands().filter(|o| o.arf().is_some() && !o.is_null()) {
                let what = format_args!("an operand of a 64-bit operation must be a GRF");
                out.find(o.part, what);
            }
            if v.op == Op::Mac || v.opts.contains(InstOpts::ACC_WR_EN) {
                let what = format_args!("a 64-bit operation cannot use the accumulator");
                out.find(InstPart::Inst, what);
            }
        },
    },
    Rule {
        name: "64-bit-dep-ctrl",
        text: "64-bit operations and products of dwords have no dependency control",
        hint: "omit NoDDClr and NoDDChk",
        kinds: InstKinds::DATA,
        applies: restricted,
        check: |v, out| {
            let dep = InstOpts::NO_DD_CHK | InstOpts::NO_DD_CLR;
            if v.is_64bit() && v.opts.intersects(dep) {
                let what = format_args!("a 64-bit operation cannot have dependency control");
                out.find(InstPart::Inst, what);
            }
        },
    },
    Rule {
        name: "in-step-stride",
        text: "with floats and 64-bit operands, a source is a scalar or has the destination's stride in bytes",
        hint: "copy the source by integers to the destination's stride",
        kinds: InstKinds::ALU,
        applies: in_step,
        check: in_step_stride,
    },
    Rule {
        name: "in-step-offset",
        text: "with floats and 64-bit operands, a source starts at the destination's offset, except scalars",
        hint: "copy the source by integers to the destination's offset",
        kinds: InstKinds::ALU,
        applies: in_step,
        check: in_step_offset,
    },
    Rule {
        name: "in-step-arf",
        text: "with floats and 64-bit operands, architecture registers are null or accumulators; one channel may write a flag",
        hint: "copy the register to a GRF first",
        kinds: InstKinds::ALU,
        applies: in_step,
        check: |v, out| {
            // Intel's compiler shifts halves of qwords to flags.
            let flag =
                |o: &Operand| v.exec == 1 && o.part == InstPart::Dst && o.arf() == Some(Arf::Flag);
            for o in v.operands().filter(|o| must_step(v) && !flag(o)) {
                if o.arf().is_some_and(|a| !matches!(a, Arf::Null | Arf::Acc)) {
                    let what = format_args!(
                        "an architecture register with floats or 64-bit operands must be null or an accumulator"
                    );
                    out.find(o.part, what);
                }
            }
        },
    },
    Rule {
        name: "vxh-integers",
        text: "regions with an address per row have integers of less than 64 bits",
        hint: "read the bits as integers: as `ud` for `f`, in two halves for 64 bits",
        kinds: InstKinds::DATA,
        applies: in_step,
        check: |v, out| {
            for s in v.srcs() {
                if matches!(s.region, Some(Region::VxH { .. }))
                    && (s.ty.is_float() || s.bytes() == 8)
                {
                    let ty = s.ty;
                    let what = format_args!("`{ty}` cannot be read with an address per row");
                    out.find(s.part, what);
                }
            }
        },
    },
];

fn is_restricted(v: &InstView, s: &Operand) -> bool {
    v.is_64bit() && !s.is_scalar() && !s.is_imm() && v.exec > 1
}

/// Returns the number of bytes from element to element, if it is constant.
fn step(v: &InstView, s: &Operand) -> Option<u32> {
    let exec = ExecSize::new(v.exec)?;
    Some(uniform_stride(s.rectangle()?, exec)? * s.bytes())
}

fn qword_aligned(v: &InstView, out: &mut FindingSink<'_>) {
    let Some(d) = v.written() else { return };
    let to = v.dst_step();
    for s in v.srcs().filter(|s| is_restricted(v, s)) {
        let Some((vs, w, hs)) = s.rect else { continue };
        let from = if w > 1 { hs } else { vs } * s.bytes();
        let apart = |step: u32| !step.is_multiple_of(8);
        if apart(from) || apart(to) || from != to {
            let part = if apart(to) { d.part } else { s.part };
            let what = format_args!(
                "the source's stride is {}, the destination's {to}",
                Count(from, "byte")
            );
            out.find(part, what);
        }
    }
}

/// Returns true if the operation's sources must have the stride and offset of the destination.
/// Moves between half-precision (or bfloat16) and single-precision floats are exempt.
fn must_step(v: &InstView) -> bool {
    let float = v.dst.is_some_and(|d| d.ty.is_float());
    let narrows = v.op == Op::Mov && v.mixed_float;
    (float && !narrows) || v.is_64bit()
}

fn in_step_stride(v: &InstView, out: &mut FindingSink<'_>) {
    if !must_step(v) || v.exec == 1 {
        return;
    }
    let Some(d) = v.written() else { return };
    let to = v.dst_step();
    for s in v.srcs().filter(|s| !s.is_scalar() && !s.is_imm()) {
        // Regions with an address per row are subject to another rule.
        if s.rect.is_none() || s.is_indirect() || d.is_indirect() {
            continue;
        }
        match step(v, s) {
            Some(from) if from == to => {}
            Some(from) => {
                let what = format_args!(
                    "the source's stride is {}, the destination's {to}",
                    Count(from, "byte")
                );
                out.find(s.part, what);
            }
            None => out.find(
                s.part,
                format_args!("the source's elements have no constant stride"),
            ),
        }
    }
}

fn in_step_offset(v: &InstView, out: &mut FindingSink<'_>) {
    if !must_step(v) || v.exec == 1 {
        return;
    }
    let Some(to) = v.written().and_then(Operand::sub) else {
        return;
    };
    for s in v.srcs().filter(|s| !s.is_scalar()) {
        if let Some(from) = s.sub()
            && from != to
        {
            let what = format_args!("it starts at byte {from}, the destination at {to}");
            out.find(s.part, what);
        }
    }
}
