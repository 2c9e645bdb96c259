//! Restrictions of 64-bit operands on Cherryview and Broxton, and of floats and 64 bits from Xe-HP on: sources lie in
//! step with the destination.

use super::Part;
use super::geometry::uniform_stride;
use super::rule::{Kinds, Rule, Sink};
use super::view::{Operand, View};
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
        text: "of 64-bit operands and products of doublewords, source and destination strides are multiples of 8 bytes, and alike",
        hint: "spread the elements to 8 bytes each with a `mov` first",
        kinds: Kinds::DATA,
        applies: restricted,
        check: qword_aligned,
    },
    Rule {
        name: "64-bit-linear",
        text: "of 64-bit operands and products of doublewords, the vertical stride is width times horizontal stride",
        hint: "copy to a packed region first",
        kinds: Kinds::DATA,
        applies: restricted,
        check: |v, out| {
            for s in v.srcs().filter(|s| v.is_64bit() && !s.is_scalar()) {
                if s.rect.is_some_and(|(vs, w, hs)| w > 1 && vs != w * hs) {
                    out.find(s.part, format_args!("the rows must follow on each other"));
                }
            }
        },
    },
    Rule {
        name: "64-bit-same-offset",
        text: "of 64-bit operands and products of doublewords, source and destination start at the same offset, but for scalars",
        hint: "move the source to where the destination starts",
        kinds: Kinds::DATA,
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
        text: "of 64-bit operands and products of doublewords, none is indirect",
        hint: "copy the operand by doublewords first",
        kinds: Kinds::DATA,
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
        text: "of 64-bit operands and products of doublewords, none is an architecture register",
        hint: "copy the register to a GRF first",
        kinds: Kinds::DATA,
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
                out.find(Part::Inst, what);
            }
        },
    },
    Rule {
        name: "64-bit-dep-ctrl",
        text: "64-bit operations and products of doublewords take no dependency control",
        hint: "leave NoDDClr and NoDDChk out",
        kinds: Kinds::DATA,
        applies: restricted,
        check: |v, out| {
            let dep = InstOpts::NO_DD_CHK | InstOpts::NO_DD_CLR;
            if v.is_64bit() && v.opts.intersects(dep) {
                let what = format_args!("a 64-bit operation takes no dependency control");
                out.find(Part::Inst, what);
            }
        },
    },
    Rule {
        name: "in-step-stride",
        text: "of floats and 64-bit operands, a source is a scalar or strided as the destination, in bytes",
        hint: "copy the source by integers to where the destination's elements lie",
        kinds: Kinds::ALU,
        applies: in_step,
        check: in_step_stride,
    },
    Rule {
        name: "in-step-offset",
        text: "of floats and 64-bit operands, a source starts at the destination's offset, but for scalars",
        hint: "copy the source by integers to the destination's offset",
        kinds: Kinds::ALU,
        applies: in_step,
        check: in_step_offset,
    },
    Rule {
        name: "in-step-arf",
        text: "of floats and 64-bit operands, architecture registers are null and accumulators; one channel may write a flag",
        hint: "copy the register to a GRF first",
        kinds: Kinds::ALU,
        applies: in_step,
        check: |v, out| {
            // Intel's compiler shifts halves of quadwords to flags.
            let flag =
                |o: &Operand| v.exec == 1 && o.part == Part::Dst && o.arf() == Some(Arf::Flag);
            for o in v.operands().filter(|o| must_step(v) && !flag(o)) {
                if o.arf().is_some_and(|a| !matches!(a, Arf::Null | Arf::Acc)) {
                    let what =
                        format_args!("only null and accumulators go with floats and 64 bits");
                    out.find(o.part, what);
                }
            }
        },
    },
    Rule {
        name: "vxh-integers",
        text: "regions of an address per row are of integers below 64 bits",
        hint: "read the bits as integers: by `ud` for `f`, in two halves for 64 bits",
        kinds: Kinds::DATA,
        applies: in_step,
        check: |v, out| {
            for s in v.srcs() {
                if matches!(s.region, Some(Region::VxH { .. }))
                    && (s.ty.is_float() || s.bytes() == 8)
                {
                    let ty = s.ty;
                    let what = format_args!("`{ty}` cannot be read through an address per row");
                    out.find(s.part, what);
                }
            }
        },
    },
];

fn is_restricted(v: &View, s: &Operand) -> bool {
    v.is_64bit() && !s.is_scalar() && !s.is_imm() && v.exec > 1
}

/// Bytes from element to element, where that is one number.
fn step(v: &View, s: &Operand) -> Option<u32> {
    let exec = ExecSize::new(v.exec)?;
    Some(uniform_stride(s.rectangle()?, exec)? * s.bytes())
}

fn qword_aligned(v: &View, out: &mut Sink<'_>) {
    let Some(d) = v.written() else { return };
    let to = v.dst_step();
    for s in v.srcs().filter(|s| is_restricted(v, s)) {
        let Some((vs, w, hs)) = s.rect else { continue };
        let from = if w > 1 { hs } else { vs } * s.bytes();
        let apart = |step: u32| !step.is_multiple_of(8);
        if apart(from) || apart(to) || from != to {
            let part = if apart(to) { d.part } else { s.part };
            let what = format_args!("the source's stride is {from} bytes, the destination's {to}");
            out.find(part, what);
        }
    }
}

/// Whether the operation's sources must lie in step with its destination. Moves between half (or brain) and single
/// floats need not.
fn must_step(v: &View) -> bool {
    let float = v.dst.is_some_and(|d| d.ty.is_float());
    let narrows = v.op == Op::Mov && v.mixed_float;
    (float && !narrows) || v.is_64bit()
}

fn in_step_stride(v: &View, out: &mut Sink<'_>) {
    if !must_step(v) || v.exec == 1 {
        return;
    }
    let Some(d) = v.written() else { return };
    let to = v.dst_step();
    for s in v.srcs().filter(|s| !s.is_scalar() && !s.is_imm()) {
        // An address per row is another rule's.
        if s.rect.is_none() || s.is_indirect() || d.is_indirect() {
            continue;
        }
        match step(v, s) {
            Some(from) if from == to => {}
            Some(from) => {
                let what =
                    format_args!("the source's stride is {from} bytes, the destination's {to}");
                out.find(s.part, what);
            }
            None => out.find(
                s.part,
                format_args!("the source's elements lie at no one stride"),
            ),
        }
    }
}

fn in_step_offset(v: &View, out: &mut Sink<'_>) {
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
