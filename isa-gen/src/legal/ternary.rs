//! Rules of three-source instructions in Align16 and Align1, and of the systolic array.

use super::InstPart;
use super::geometry::{dst_grfs_spanned, grfs_spanned};
use super::rule::{FindingSink, InstKinds, Rule, always};
use super::view::{InstView, Operand, OperandLocation};
use crate::inst::{InstOpts, Subfn};
use crate::op::Op;
use crate::platform::Features;
use crate::region::{ExecSize, Region};
use crate::sem::dpas::Dpas;
use crate::types::Type;

fn align16(f: &Features) -> bool {
    f.ternary_align16
}

fn align1(f: &Features) -> bool {
    !f.ternary_align16
}

fn dpas(f: &Features) -> bool {
    f.dpas
}

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "ternary-operands",
        text: "Align16 operands of three-source instructions are direct GRFs with the regions <2;1>, <0;0>, and <1>, <0> for source 2",
        hint: "copy the operand to a packed GRF region first",
        kinds: InstKinds::TERNARY,
        applies: align16,
        check: ternary_operands,
    },
    Rule {
        name: "ternary-alignment",
        text: "a row of channels of an Align16 operand is aligned to 16 bytes; before Gen9, one element to 4 bytes",
        hint: "align the operand",
        kinds: InstKinds::TERNARY,
        applies: align16,
        check: ternary_alignment,
    },
    Rule {
        name: "ternary-exec",
        text: "a three-source Align16 instruction has at most the channels that two registers hold, and at most 16",
        hint: "split the instruction by channels",
        kinds: InstKinds::TERNARY,
        applies: align16,
        check: ternary_exec,
    },
    Rule {
        name: "ternary-regions",
        text: "regions of three-source instructions: vertical stride 0, 1 (2 before Xe), 4 or 8, horizontal stride 0, 1, 2 or 4",
        hint: "copy the source to a region that has an encoding",
        kinds: InstKinds::TERNARY,
        applies: align1,
        check: ternary_regions,
    },
    Rule {
        name: "ternary-direct",
        text: "operands of three-source instructions are direct GRFs, accumulators or, for sources 0 and 2, word immediates",
        hint: "copy the operand to a GRF first",
        kinds: InstKinds::TERNARY,
        applies: align1,
        check: ternary_direct,
    },
    Rule {
        name: "ternary-dst-stride",
        text: "the destination of a three-source instruction has a stride of 1 or 2",
        hint: "write packed, and spread with a `mov`",
        kinds: InstKinds::TERNARY,
        applies: align1,
        check: |v, out| {
            if v.dst_stride > 2 {
                let hs = v.dst_stride;
                out.find(
                    InstPart::Dst,
                    format_args!("a stride of {hs} is not 1 or 2"),
                );
            }
        },
    },
    Rule {
        name: "ternary-span",
        text: "a source of three spans two adjacent registers at most",
        hint: "split the instruction by channels",
        kinds: InstKinds::TERNARY,
        applies: align1,
        check: ternary_span,
    },
    Rule {
        name: "ternary-bytes",
        text: "sources 1 and 2 of a three-source instruction are not bytes, except of `mad` to words",
        hint: "convert the bytes to words first",
        kinds: InstKinds::TERNARY,
        applies: align1,
        check: |v, out| {
            let to_words = v.op == Op::Mad && v.dst.is_some_and(|d| d.bytes() == 2);
            for s in v.srcs().skip(1).filter(|s| s.bytes() == 1) {
                if !to_words {
                    out.find(s.part, format_args!("this source may not be bytes"));
                }
            }
        },
    },
    Rule {
        name: "bfi2-types",
        text: "all operands of `bfe` and `bfi2` have one type",
        hint: "use `d` or `ud` for all operands",
        kinds: InstKinds::TERNARY,
        applies: always,
        check: |v, out| {
            let Some(d) = v.dst else { return };
            for s in v.srcs().filter(|s| s.ty != d.ty && !s.is_imm()) {
                if matches!(v.op, Op::Bfe | Op::Bfi2) && s.bytes() != d.bytes() {
                    let ty = d.ty;
                    out.find(
                        s.part,
                        format_args!("the destination is `{ty}`, so this must be too"),
                    );
                }
            }
        },
    },
    Rule {
        name: "dp4a-accumulators",
        text: "source 0 or 1 of `dp4a` may be an accumulator, not both",
        hint: "copy one to a GRF first",
        kinds: InstKinds::TERNARY,
        applies: |f| f.dp4a,
        check: |v, out| {
            let acc = |n| v.src(n).is_some_and(Operand::is_acc);
            if v.op == Op::Dp4a && acc(0) && acc(1) {
                let what = format_args!("only one of the sources may be an accumulator");
                out.find(InstPart::Src(1), what);
            }
        },
    },
    Rule {
        name: "dpas-exec",
        text: "a systolic instruction has as many channels as a GRF has dwords, starts at M0, and has no predicate",
        hint: "use 8 channels (16 on Xe-HPC)",
        kinds: InstKinds::DPAS,
        applies: dpas,
        check: dpas_exec,
    },
    Rule {
        name: "dpas-depth",
        text: "the systolic depth is 8, the repeat count 1 to 8",
        hint: "split the repeats",
        kinds: InstKinds::DPAS,
        applies: dpas,
        check: |v, out| {
            let Subfn::Dpas { depth, repeat } = v.subfn else {
                return;
            };
            if depth != 8 || !(1..=8).contains(&repeat) {
                let what =
                    format_args!("{depth}x{repeat} is not a depth of 8 repeated 1 to 8 times");
                out.find(InstPart::Inst, what);
            }
        },
    },
    Rule {
        name: "dpas-operands",
        text: "systolic operands are whole GRFs (source 0 may be null, source 2 may start at a multiple of its row)",
        hint: "align the operand to a register",
        kinds: InstKinds::DPAS,
        applies: dpas,
        check: dpas_operands,
    },
    Rule {
        name: "dpas-types",
        text: "sources 1 and 2 are both integers of at most a byte, or have one float type; source 0 has the destination's type",
        hint: "convert to one type first",
        kinds: InstKinds::DPAS,
        applies: dpas,
        check: dpas_types,
    },
    Rule {
        name: "dpas-range",
        text: "systolic operands are within the GRF file",
        hint: "start at a lower register",
        kinds: InstKinds::DPAS,
        applies: dpas,
        check: dpas_range,
    },
];

fn exec(v: &InstView) -> ExecSize {
    ExecSize::new(v.exec).unwrap_or(ExecSize::S1)
}

fn ternary_operands(v: &InstView, out: &mut FindingSink<'_>) {
    for o in v.operands() {
        if !matches!(o.location, OperandLocation::Grf(..)) {
            let what = format_args!("a three-source operand must be a direct GRF");
            out.find(o.part, what);
        }
    }
    if v.dst_stride != 1 {
        let what = format_args!("a three-source destination must be packed");
        out.find(InstPart::Dst, what);
    }
    for s in v.srcs() {
        let Some(region) = s.region else { continue };
        let (ok, want) = match (s.part, region) {
            (InstPart::Src(2), Region::Scalar3 { hs }) => (hs <= 1, "<1> or <0>"),
            (InstPart::Src(2), _) => (false, "<1> or <0>"),
            (_, Region::Ternary { vs, hs }) => {
                (matches!((vs, hs), (2, 1) | (0, 0)), "<2;1> or <0;0>")
            }
            _ => (false, "<2;1> or <0;0>"),
        };
        if !ok {
            out.find(s.part, format_args!("the region must be {want}"));
        }
    }
}

fn ternary_alignment(v: &InstView, out: &mut FindingSink<'_>) {
    let rows = |o: &Operand| o.grf_sub().is_some_and(|sub| sub % 16 != 0);
    let dst = v.dst.iter().filter(|_| v.exec > 1);
    for o in dst.chain(v.srcs().filter(|s| !s.is_scalar())) {
        if rows(o) {
            let what = format_args!("a row of channels must start at a 16-byte boundary");
            out.find(o.part, what);
        }
    }
    for o in v.srcs().filter(|s| s.is_scalar() && !v.f.ternary_words) {
        if o.grf_sub().is_some_and(|sub| sub % 4 != 0) {
            let what = format_args!("one element must start at a 4-byte boundary");
            out.find(o.part, what);
        }
    }
}

fn ternary_exec(v: &InstView, out: &mut FindingSink<'_>) {
    let widest = v.operands().map(Operand::bytes).max().unwrap_or(1);
    let most = (2 * v.grf() / widest).min(16);
    if v.exec > most {
        let n = v.exec;
        let what = format_args!("{n} channels are more than the {most} that two registers hold");
        out.find(InstPart::Inst, what);
    }
}

fn ternary_regions(v: &InstView, out: &mut FindingSink<'_>) {
    let unit = if v.f.ternary_single_step { 1 } else { 2 };
    for s in v.srcs() {
        let Some(region) = s.region else { continue };
        let stride = |hs| matches!(hs, 0 | 1 | 2 | 4);
        let ok = match (s.part, region) {
            (InstPart::Src(2), Region::Scalar3 { hs }) => stride(hs),
            // A scalar in source 0 or 1 may have this form.
            (_, Region::Scalar3 { hs: 0 }) => true,
            (InstPart::Src(0 | 1), Region::Ternary { vs, hs }) => {
                (vs == unit || matches!(vs, 0 | 4 | 8)) && stride(hs)
            }
            _ => false,
        };
        if !ok {
            out.find(
                s.part,
                format_args!("{region} is not a region of three-source instructions"),
            );
        }
    }
}

fn ternary_direct(v: &InstView, out: &mut FindingSink<'_>) {
    for o in v.operands() {
        let bad = match o.location {
            OperandLocation::Grf(..) | OperandLocation::Macro(..) => false,
            OperandLocation::Imm(_) => {
                o.part == InstPart::Src(1) || o.bytes() != 2 || o.ty.is_packed_imm()
            }
            OperandLocation::Indirect(..) => true,
            OperandLocation::Arf(..) => !(o.is_acc() || o.is_null() && o.part == InstPart::Dst),
        };
        if bad {
            let what = format_args!("not an operand of a three-source instruction");
            out.find(o.part, what);
        }
    }
}

fn ternary_span(v: &InstView, out: &mut FindingSink<'_>) {
    for s in v.srcs() {
        let (Some(sub), Some(region)) = (s.grf_sub(), s.rectangle()) else {
            continue;
        };
        if let Some(n) = grfs_spanned(sub, region, exec(v), s.bytes(), v.grf())
            && n > 2
        {
            let what = format_args!("it takes {n} registers, 2 is the most");
            out.find(s.part, what);
        }
    }
    if let Some(d) = v.written()
        && let Some(sub) = d.grf_sub()
    {
        let n = dst_grfs_spanned(sub, v.dst_stride, exec(v), d.bytes(), v.grf());
        if n > 2 {
            let what = format_args!("it takes {n} registers, 2 is the most");
            out.find(d.part, what);
        }
    }
}

fn dpas_exec(v: &InstView, out: &mut FindingSink<'_>) {
    let want = v.grf() / 4;
    if v.exec != want {
        let n = v.exec;
        out.find(
            InstPart::Inst,
            format_args!("it has {want} channels, not {n}"),
        );
    }
    if !v.first.is_multiple_of(want.max(1)) {
        let n = v.first;
        out.find(InstPart::Inst, format_args!("channels cannot start at {n}"));
    }
    let dep = InstOpts::ACC_WR_EN | InstOpts::EOT;
    if v.pred.is_some() || v.cond.is_some() || v.sat || v.opts.intersects(dep) {
        let what = format_args!(
            "a systolic instruction has no predicate, condition modifier, saturation or accumulator"
        );
        out.find(InstPart::Inst, what);
    }
}

/// Returns the size of an element in bits.
fn bits(ty: Type) -> u32 {
    match ty {
        Type::U2 | Type::S2 => 2,
        Type::U4 | Type::S4 => 4,
        t => t.bytes() * 8,
    }
}

/// Returns the number of multiplications of elements in a 32-bit channel.
fn per_channel(ty: Type) -> u32 {
    match bits(ty) {
        2 | 4 => 8,
        n => 32 / n.max(1),
    }
}

fn dpas_operands(v: &InstView, out: &mut FindingSink<'_>) {
    let null_ok = |o: &Operand| o.part == InstPart::Src(0) && o.is_null();
    for o in v.operands().filter(|o| !null_ok(o)) {
        let Some(sub) = o.grf_sub() else {
            out.find(o.part, format_args!("a systolic operand must be a GRF"));
            continue;
        };
        // A row of source 2 has the factors of all 8 steps of the depth.
        let row = 8 * per_channel(o.ty) * bits(o.ty) / 8;
        let unit = match o.part {
            InstPart::Src(2) => row.min(v.grf()),
            _ if o.bytes() == 2 => v.grf() / 2,
            _ => v.grf(),
        };
        if sub % unit.max(1) != 0 {
            let what = format_args!("byte {sub} is not a multiple of {unit}");
            out.find(o.part, what);
        }
        if o.is_modified() {
            let what = format_args!("a systolic operand has no modifiers");
            out.find(o.part, what);
        }
    }
    if v.dst_stride != 1 {
        out.find(
            InstPart::Dst,
            format_args!("a systolic result must be packed"),
        );
    }
}

fn dpas_types(v: &InstView, out: &mut FindingSink<'_>) {
    let small = |t: Type| t.is_int() && t.bytes() == 1;
    if let (Some(a), Some(b)) = (v.src(1), v.src(2)) {
        let floats = a.ty.is_float() && a.ty == b.ty;
        // Byte floats of both kinds may be mixed.
        let byte_floats = a.ty.is_float() && b.ty.is_float() && a.bytes() == 1 && b.bytes() == 1;
        if !(floats || byte_floats || small(a.ty) && small(b.ty)) {
            let (s, t) = (a.ty, b.ty);
            let what = format_args!("`{s}` and `{t}` cannot be multiplied");
            out.find(b.part, what);
        }
    }
    if let (Some(d), Some(c)) = (v.dst, v.src(0))
        && !c.is_null()
        && d.ty.is_int() != c.ty.is_int()
    {
        let ty = d.ty;
        out.find(c.part, format_args!("it cannot be added to a `{ty}`"));
    }
}

fn dpas_range(v: &InstView, out: &mut FindingSink<'_>) {
    let Subfn::Dpas { depth, repeat } = v.subfn else {
        return;
    };
    let (Some(dst), Some(src1), Some(src2)) = (v.dst, v.src(1), v.src(2)) else {
        return;
    };
    let d = Dpas {
        depth,
        repeat,
        channels: v.exec as u8,
        dst: dst.ty,
        src0: v.src(0).map(|s| s.ty),
        src1: src1.ty,
        src2: src2.ty,
    };
    let count = v.f.grf_count_large;
    for o in v.operands() {
        let Some(n) = o.grf() else { continue };
        let sub = o.grf_sub().unwrap_or(0);
        let bytes = match o.part {
            InstPart::Src(1) => d.src1_bytes(),
            InstPart::Src(2) if v.op == Op::Dpasw => d.halves(v.grf())[0],
            InstPart::Src(2) => d.src2_bytes(),
            _ => d.sum_bytes(o.ty),
        };
        let last = n + (sub + bytes.max(1)).div_ceil(v.grf());
        if last > count {
            let most = count - 1;
            out.find(o.part, format_args!("it extends beyond r{most}"));
        }
    }
}
