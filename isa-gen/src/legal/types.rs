//! Rules of types: "General restrictions based on operand types", mixed float mode, and single
//! opcodes.

use super::InstPart;
use super::rule::{FindingSink, InstKinds, Rule, always};
use super::view::InstView;
use crate::diag::Count;
use crate::inst::Subfn;
use crate::op::{MathFn, Op};
use crate::types::Type;

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "quadwords",
        text: "the ALU has no 64-bit integers",
        hint: "use dwords, and `addc` for the carry",
        kinds: InstKinds::DATA,
        applies: |f| !f.native_i64,
        check: |v, out| {
            lacking(
                v,
                out,
                |t| matches!(t, Type::Q | Type::Uq),
                "64-bit integers",
            )
        },
    },
    Rule {
        name: "doubles",
        text: "the ALU has no double-precision floats",
        hint: "use single-precision floats",
        kinds: InstKinds::ALU,
        applies: |f| !f.native_f64,
        check: |v, out| lacking(v, out, |t| t == Type::Df, "double floats"),
    },
    Rule {
        name: "dword-multiply",
        text: "the multiplier takes words as the second factor",
        hint: "multiply by the words of the second factor, or use `mul` to the accumulator and `mach`",
        kinds: InstKinds::DATA,
        applies: |f| !f.mul_32x32,
        check: |v, out| {
            if v.op == Op::Mul && v.is_dword_multiply() {
                let what = format_args!("two dwords cannot be multiplied");
                out.find(InstPart::Src(1), what);
            }
        },
    },
    Rule {
        name: "dst-exec-type-stride",
        text: "a destination narrower than the execution type has a stride of the execution type's size",
        hint: "widen the stride, and pack with a `mov` of the same type",
        kinds: InstKinds::DATA,
        applies: always,
        check: dst_exec_type_stride,
    },
    Rule {
        name: "dst-exec-type-align",
        text: "a destination narrower than the execution type is aligned to it; a byte or word may also be the second element of its channel, and on Xe-HPC a byte any of a dword's",
        hint: "move the destination to a multiple of the execution type's size",
        kinds: InstKinds::DATA,
        applies: always,
        check: dst_exec_type_align,
    },
    Rule {
        name: "byte-dst-packed",
        text: "only raw moves write packed bytes",
        hint: "write every other byte, and pack with a `mov` of bytes",
        kinds: InstKinds::DATA,
        applies: always,
        check: |v, out| {
            if let Some(d) = v.written_by_many()
                && d.bytes() == 1
                && v.dst_stride == 1
                && !v.is_raw_move()
            {
                let what = format_args!("only a raw move of bytes may write them packed");
                out.find(InstPart::Dst, what);
            }
        },
    },
    Rule {
        name: "byte-source1",
        text: "source 1 is not a byte",
        hint: "convert the bytes to words first, or swap the sources",
        kinds: InstKinds::DATA,
        applies: |f| !f.byte_src1,
        check: |v, out| {
            for s in v.srcs().skip(1).filter(|s| s.bytes() == 1) {
                out.find(s.part, format_args!("only source 0 may be bytes"));
            }
        },
    },
    Rule {
        name: "byte-and-64-bit",
        text: "bytes and 64-bit types do not convert to each other, except in bitwise operations",
        hint: "convert through a dword",
        kinds: InstKinds::DATA,
        applies: always,
        check: |v, out| {
            if !v.info.bitwise {
                not_together(v, out, |t| t.bytes() == 1, "a byte");
            }
        },
    },
    Rule {
        name: "half-and-64-bit",
        text: "half-precision floats and 64-bit types do not convert to each other",
        hint: "convert through a single-precision float",
        kinds: InstKinds::DATA,
        applies: |f| f.half,
        check: |v, out| not_together(v, out, |t| t == Type::Hf, "a half float"),
    },
    Rule {
        name: "half-and-int",
        text: "conversions between half-precision floats and integers have dword stride and dword alignment",
        hint: "convert to every other word, and pack with a `mov` of words",
        kinds: InstKinds::DATA,
        applies: |f| f.half,
        check: half_and_int,
    },
    Rule {
        name: "half-dst-words",
        text: "half-precision floats converted from single precision are in every other word, or packed from a 16-byte boundary",
        hint: "convert to every other word, and pack with a `mov` of words",
        kinds: InstKinds::DATA,
        applies: |f| f.half_dst_words,
        check: half_dst_words,
    },
    Rule {
        name: "vector-immediate",
        text: "with a vector immediate, the destination is aligned to 16 bytes and its stride is at least the size of the immediate's elements",
        hint: "align the destination to 16 bytes",
        kinds: InstKinds::DATA,
        applies: always,
        check: vector_immediate,
    },
    Rule {
        name: "mixed-float",
        text: "mixed float mode has direct sources, 8 channels with single-precision results, aligned accumulators, and strided math",
        hint: "convert to single precision with a `mov` first",
        kinds: InstKinds::DATA,
        applies: |f| f.mixed_float,
        check: mixed_float,
    },
    Rule {
        name: "mixed-float-packed",
        text: "packed half-precision results of mixed float mode have 8 channels and are aligned to 16 bytes",
        hint: "write every other word, or align the destination",
        kinds: InstKinds::DATA,
        applies: |f| f.mixed_float,
        check: mixed_float_packed,
    },
    Rule {
        name: "math-int-exec",
        text: "integer division has at most 8 channels",
        hint: "split the instruction by channels",
        kinds: InstKinds::DATA,
        applies: |f| f.math_int_div,
        check: |v, out| {
            if int_division(v) && v.exec > 8 {
                let what = format_args!("integer division has at most 8 channels");
                out.find(InstPart::Inst, what);
            }
        },
    },
    Rule {
        name: "math-int-mods",
        text: "integer division has no source modifiers",
        hint: "negate with a `mov` first",
        kinds: InstKinds::DATA,
        applies: |f| f.math_int_div,
        check: |v, out| {
            for s in v.srcs().filter(|s| s.is_modified()) {
                if int_division(v) {
                    out.find(
                        s.part,
                        format_args!("integer division has no source modifiers"),
                    );
                }
            }
        },
    },
    Rule {
        name: "mul-dword-first",
        text: "in a product of a dword and a narrower type, the dword is source 0",
        hint: "swap the sources",
        kinds: InstKinds::DATA,
        applies: always,
        check: |v, out| {
            let (Some(a), Some(b)) = (v.src(0), v.src(1)) else {
                return;
            };
            if v.op == Op::Mul && b.ty.is_int() && a.bytes() < 4 && b.bytes() == 4 {
                let what = format_args!("the dword must be source 0");
                out.find(InstPart::Src(1), what);
            }
        },
    },
    Rule {
        name: "mul-dword-flags",
        text: "a product of a dword that is truncated to 32 bits has no condition modifier and does not saturate",
        hint: "compare with a `cmp`, or keep the whole product",
        kinds: InstKinds::DATA,
        applies: always,
        check: |v, out| {
            let dword = v.srcs().any(|s| matches!(s.ty, Type::D | Type::Ud));
            let cut = v.dst.is_some_and(|d| d.ty.is_int() && d.bytes() <= 4);
            if v.op == Op::Mul && dword && cut && (v.sat || v.cond.is_some()) {
                let what = format_args!(
                    "the product is truncated before it could be compared or saturated"
                );
                out.find(InstPart::Inst, what);
            }
        },
    },
    Rule {
        name: "mul-mixed-mods",
        text: "in a product of a dword and a narrower type, the narrower source has no modifiers",
        hint: "modify it with a `mov` first",
        kinds: InstKinds::DATA,
        applies: |f| !f.mul_mixed_mods,
        check: |v, out| {
            let int_dword = matches!(v.exec_type, Some(Type::D));
            for s in v.srcs().filter(|s| s.bytes() < 4 && s.is_modified()) {
                if v.op == Op::Mul && int_dword {
                    let what = format_args!("the narrower factor cannot be modified");
                    out.find(s.part, what);
                }
            }
        },
    },
    Rule {
        name: "mach-types",
        text: "the sources of `mach` have one type",
        hint: "use one signedness for both",
        kinds: InstKinds::DATA,
        applies: always,
        check: |v, out| {
            if let (Op::Mach, Some(a), Some(b)) = (v.op, v.src(0), v.src(1))
                && a.bytes() != b.bytes()
            {
                let what = format_args!("the sources of `mach` must have one type");
                out.find(InstPart::Src(1), what);
            }
        },
    },
];

/// Reports operands of types that the ALU lacks.
fn lacking(v: &InstView, out: &mut FindingSink<'_>, lacks: fn(Type) -> bool, what: &str) {
    for o in v.operands().filter(|o| lacks(o.ty) && !o.is_null()) {
        out.find(o.part, format_args!("the platform has no {what}"));
    }
}

fn int_division(v: &InstView) -> bool {
    matches!(
        v.subfn,
        Subfn::Math(MathFn::Idiv | MathFn::Iqot | MathFn::Irem)
    )
}

fn dst_exec_type_stride(v: &InstView, out: &mut FindingSink<'_>) {
    let (Some(d), Some(exec)) = (v.written_by_many(), v.exec_type) else {
        return;
    };
    if v.mixed_float || exec.bytes() <= d.bytes() || (d.bytes() == 1 && v.is_raw_move()) {
        return;
    }
    // Intel's compiler also writes bytes of word operations four bytes apart.
    let step = v.dst_step();
    if step != exec.bytes() && !(d.bytes() == 1 && step > exec.bytes()) {
        let (ty, size) = (d.ty, exec.bytes());
        let what = format_args!(
            "`{ty}` elements must be {} apart, the size of the execution type",
            Count(size, "byte")
        );
        out.find(InstPart::Dst, what);
    }
}

fn dst_exec_type_align(v: &InstView, out: &mut FindingSink<'_>) {
    let (Some(d), Some(exec)) = (v.written_by_many(), v.exec_type) else {
        return;
    };
    let Some(sub) = d.grf_sub() else { return };
    if v.mixed_float || exec.bytes() <= d.bytes() || (d.bytes() == 1 && v.is_raw_move()) {
        return;
    }
    let over = sub % exec.bytes();
    // The relaxed rule: all elements in the lower half of the channel's word, or all in the upper
    // half.
    let relaxed = match d.bytes() {
        1 => over == 1 || exec.bytes() == 4 && v.f.byte_dst_anywhere,
        2 => over == 2,
        _ => false,
    };
    if over != 0 && !relaxed {
        let size = exec.bytes();
        let what = format_args!("byte {sub} is not aligned to the execution type of {size} bytes");
        out.find(InstPart::Dst, what);
    }
}

fn not_together(v: &InstView, out: &mut FindingSink<'_>, small: fn(Type) -> bool, what: &str) {
    let Some(d) = v.dst else { return };
    for s in v.srcs() {
        if (small(d.ty) && s.bytes() == 8) || (d.bytes() == 8 && small(s.elements())) {
            let what = format_args!("{what} and a 64-bit type do not convert to each other");
            out.find(s.part, what);
        }
    }
}

fn half_and_int(v: &InstView, out: &mut FindingSink<'_>) {
    let Some(d) = v.written_by_many() else { return };
    let converts = v.srcs().any(|s| {
        let t = s.elements();
        (d.ty == Type::Hf && t.is_int()) || (d.ty.is_int() && t == Type::Hf)
    });
    if !converts {
        return;
    }
    if v.dst_step() != 4 {
        let what = format_args!(
            "a conversion between half-precision float and integer must have a stride of 4 bytes"
        );
        out.find(InstPart::Dst, what);
    }
    if d.grf_sub().is_some_and(|o| o % 4 != 0) {
        let what = format_args!(
            "a conversion between half-precision float and integer must be aligned to 4 bytes"
        );
        out.find(InstPart::Dst, what);
    }
}

fn half_dst_words(v: &InstView, out: &mut FindingSink<'_>) {
    let Some(d) = v.written_by_many() else { return };
    let from_single = v.srcs().any(|s| s.elements() == Type::F);
    if d.ty != Type::Hf || !from_single {
        return;
    }
    let packed = v.dst_stride == 1 && d.grf_sub().is_none_or(|o| o % 16 == 0);
    if v.dst_stride != 2 && !packed {
        let what = format_args!(
            "half-precision results must be in every other word, or packed from a 16-byte boundary"
        );
        out.find(InstPart::Dst, what);
    }
}

fn vector_immediate(v: &InstView, out: &mut FindingSink<'_>) {
    let Some(d) = v.written_by_many() else { return };
    let Some(imm) = v.srcs().find(|s| s.ty.is_packed_imm()) else {
        return;
    };
    if d.grf_sub().is_some_and(|o| o % 16 != 0) {
        let what = format_args!("with a vector immediate it must start at a 16-byte boundary");
        out.find(InstPart::Dst, what);
    }
    // Intel's compilers also write dwords from vectors of words.
    let (ty, bytes) = (imm.ty, imm.bytes());
    if v.dst_step() < bytes {
        let what = format_args!("with a `{ty}` immediate its stride must be {bytes} bytes or more");
        out.find(InstPart::Dst, what);
    }
}

/// Returns true if sources are half-precision and single-precision floats and nothing else.
fn mixed(v: &InstView) -> bool {
    v.mixed_float && v.srcs().all(|s| s.ty.is_float())
}

fn mixed_float(v: &InstView, out: &mut FindingSink<'_>) {
    let (true, Some(d)) = (mixed(v), v.dst) else {
        return;
    };
    let wide = v.op == Op::Mov && v.f.half_mov_wide;
    if v.exec > 8 && d.ty == Type::F && !wide {
        let what = format_args!("mixed float mode has at most 8 single-precision results");
        out.find(InstPart::Dst, what);
    }
    let math = matches!(v.subfn, Subfn::Math(_));
    for s in v.srcs() {
        if s.is_indirect() {
            let what = format_args!("a mixed float source cannot be indirect");
            out.find(s.part, what);
        } else if s.is_acc() && d.ty == Type::Hf && v.dst_stride == 1 && s.sub() != Some(0) {
            let what = format_args!("the accumulator must be read from its start");
            out.find(s.part, what);
        } else if math && s.ty == Type::Hf && s.rect.is_some_and(|(_, _, hs)| hs == 1) {
            let what = format_args!("half-precision operands of mixed-mode math must be strided");
            out.find(s.part, what);
        }
    }
    let acc = v.reads_acc() || v.srcs().any(|s| s.is_acc());
    if d.ty == Type::Hf && acc && v.dst_stride != 2 && v.exec > 1 {
        let what =
            format_args!("half-precision results with an accumulator must be in every other word");
        out.find(InstPart::Dst, what);
    }
}

fn mixed_float_packed(v: &InstView, out: &mut FindingSink<'_>) {
    let (true, Some(d)) = (mixed(v), v.written_by_many()) else {
        return;
    };
    if d.ty != Type::Hf || v.dst_stride != 1 {
        return;
    }
    if v.exec > 8 {
        let what = format_args!("mixed float mode has at most 8 packed half-precision results");
        out.find(InstPart::Dst, what);
    }
    if d.grf_sub().is_some_and(|o| o % 16 != 0) {
        let what = format_args!(
            "packed half-precision results of mixed float mode must be aligned to 16 bytes"
        );
        out.find(InstPart::Dst, what);
    }
}
