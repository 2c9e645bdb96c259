//! "General restrictions based on operand types", the rules of mixed floats, and those of single opcodes.

use super::Part;
use super::rule::{Kinds, Rule, Sink, always};
use super::view::View;
use crate::inst::Subfn;
use crate::op::{MathFn, Op};
use crate::types::Type;

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "quadwords",
        text: "the ALU has no 64-bit integers",
        hint: "use doublewords, and `addc` for the carry",
        kinds: Kinds::DATA,
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
        text: "the ALU has no double floats",
        hint: "use single floats",
        kinds: Kinds::ALU,
        applies: |f| !f.native_f64,
        check: |v, out| lacking(v, out, |t| t == Type::Df, "double floats"),
    },
    Rule {
        name: "dword-multiply",
        text: "the multiplier takes words as the second factor",
        hint: "multiply by the words of the second factor, or use `mul` to the accumulator and `mach`",
        kinds: Kinds::DATA,
        applies: |f| !f.mul_32x32,
        check: |v, out| {
            if v.op == Op::Mul && v.is_dword_multiply() {
                let what = format_args!("two doublewords cannot be multiplied");
                out.find(Part::Src(1), what);
            }
        },
    },
    Rule {
        name: "dst-exec-type-stride",
        text: "a destination narrower than the execution type is strided to its size",
        hint: "widen the stride, and pack with a `mov` of the same type",
        kinds: Kinds::DATA,
        applies: always,
        check: dst_exec_type_stride,
    },
    Rule {
        name: "dst-exec-type-align",
        text: "a destination narrower than the execution type is aligned to it; a byte or word may take the second place, and on Xe-HPC a byte any of a doubleword's",
        hint: "move the destination to a multiple of the execution type's size",
        kinds: Kinds::DATA,
        applies: always,
        check: dst_exec_type_align,
    },
    Rule {
        name: "byte-dst-packed",
        text: "packed bytes are written by raw moves alone",
        hint: "write every other byte, and pack with a `mov` of bytes",
        kinds: Kinds::DATA,
        applies: always,
        check: |v, out| {
            if let Some(d) = v.written_by_many()
                && d.bytes() == 1
                && v.dst_stride == 1
                && !v.is_raw_move()
            {
                let what = format_args!("only a raw move of bytes may write them packed");
                out.find(Part::Dst, what);
            }
        },
    },
    Rule {
        name: "byte-source1",
        text: "source 1 is no byte",
        hint: "convert the bytes to words first, or swap the sources",
        kinds: Kinds::DATA,
        applies: |f| !f.byte_src1,
        check: |v, out| {
            for s in v.srcs().skip(1).filter(|s| s.bytes() == 1) {
                out.find(s.part, format_args!("only source 0 may be of bytes"));
            }
        },
    },
    Rule {
        name: "byte-and-64-bit",
        text: "bytes and 64-bit types do not convert into each other, but in bitwise operations",
        hint: "go through a doubleword",
        kinds: Kinds::DATA,
        applies: always,
        check: |v, out| {
            if !v.info.bitwise {
                not_together(v, out, |t| t.bytes() == 1, "a byte");
            }
        },
    },
    Rule {
        name: "half-and-64-bit",
        text: "half floats and 64-bit types do not convert into each other",
        hint: "go through a single float",
        kinds: Kinds::DATA,
        applies: |f| f.half,
        check: |v, out| not_together(v, out, |t| t == Type::Hf, "a half float"),
    },
    Rule {
        name: "half-and-int",
        text: "conversions between half float and integer are strided by and aligned to doublewords",
        hint: "convert to every other word, and pack with a `mov` of words",
        kinds: Kinds::DATA,
        applies: |f| f.half,
        check: half_and_int,
    },
    Rule {
        name: "half-dst-words",
        text: "halves made of singles are every other word, or packed from a 16-byte boundary",
        hint: "convert to every other word, and pack with a `mov` of words",
        kinds: Kinds::DATA,
        applies: |f| f.half_dst_words,
        check: half_dst_words,
    },
    Rule {
        name: "vector-immediate",
        text: "with a vector immediate the destination is aligned to 16 bytes and strided by its elements' size or more",
        hint: "align the destination to 16 bytes",
        kinds: Kinds::DATA,
        applies: always,
        check: vector_immediate,
    },
    Rule {
        name: "mixed-float",
        text: "mixed half and single floats: direct sources, 8 channels to singles, aligned accumulators, strided math",
        hint: "convert the halves with a `mov` first",
        kinds: Kinds::DATA,
        applies: |f| f.mixed_float,
        check: mixed_float,
    },
    Rule {
        name: "mixed-float-packed",
        text: "packed halves of mixed floats: 8 channels, on a 16-byte boundary",
        hint: "write every other word, or align the destination",
        kinds: Kinds::DATA,
        applies: |f| f.mixed_float,
        check: mixed_float_packed,
    },
    Rule {
        name: "math-int-exec",
        text: "integer division takes 8 channels at most",
        hint: "split the instruction by channels",
        kinds: Kinds::DATA,
        applies: |f| f.math_int_div,
        check: |v, out| {
            if int_division(v) && v.exec > 8 {
                let what = format_args!("integer division takes 8 channels at most");
                out.find(Part::Inst, what);
            }
        },
    },
    Rule {
        name: "math-int-mods",
        text: "integer division has no source modifiers",
        hint: "negate with a `mov` first",
        kinds: Kinds::DATA,
        applies: |f| f.math_int_div,
        check: |v, out| {
            for s in v.srcs().filter(|s| s.is_modified()) {
                if int_division(v) {
                    out.find(s.part, format_args!("integer division modifies no source"));
                }
            }
        },
    },
    Rule {
        name: "mul-dword-first",
        text: "where a doubleword is multiplied by something narrower, the doubleword is source 0",
        hint: "swap the sources",
        kinds: Kinds::DATA,
        applies: always,
        check: |v, out| {
            let (Some(a), Some(b)) = (v.src(0), v.src(1)) else {
                return;
            };
            if v.op == Op::Mul && b.ty.is_int() && a.bytes() < 4 && b.bytes() == 4 {
                let what = format_args!("the doubleword must be source 0");
                out.find(Part::Src(1), what);
            }
        },
    },
    Rule {
        name: "mul-dword-flags",
        text: "a product of a doubleword that is cut to 32 bits has no flag modifier and does not saturate",
        hint: "compare with a `cmp`, or keep the whole product",
        kinds: Kinds::DATA,
        applies: always,
        check: |v, out| {
            let dword = v.srcs().any(|s| matches!(s.ty, Type::D | Type::Ud));
            let cut = v.dst.is_some_and(|d| d.ty.is_int() && d.bytes() <= 4);
            if v.op == Op::Mul && dword && cut && (v.sat || v.cond.is_some()) {
                let what = format_args!("the product's upper half is gone before it is judged");
                out.find(Part::Inst, what);
            }
        },
    },
    Rule {
        name: "mul-mixed-mods",
        text: "where a doubleword is multiplied by something narrower, the narrower one has no modifiers",
        hint: "modify it with a `mov` first",
        kinds: Kinds::DATA,
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
        kinds: Kinds::DATA,
        applies: always,
        check: |v, out| {
            if let (Op::Mach, Some(a), Some(b)) = (v.op, v.src(0), v.src(1))
                && a.bytes() != b.bytes()
            {
                let what = format_args!("the sources of `mach` must have one type");
                out.find(Part::Src(1), what);
            }
        },
    },
];

/// Operands of types that the ALU lacks.
fn lacking(v: &View, out: &mut Sink<'_>, lacks: fn(Type) -> bool, what: &str) {
    for o in v.operands().filter(|o| lacks(o.ty) && !o.is_null()) {
        out.find(o.part, format_args!("the platform has no {what}"));
    }
}

fn int_division(v: &View) -> bool {
    matches!(
        v.subfn,
        Subfn::Math(MathFn::Idiv | MathFn::Iqot | MathFn::Irem)
    )
}

fn dst_exec_type_stride(v: &View, out: &mut Sink<'_>) {
    let (Some(d), Some(exec)) = (v.written_by_many(), v.exec_type) else {
        return;
    };
    if v.mixed_float || exec.bytes() <= d.bytes() || (d.bytes() == 1 && v.is_raw_move()) {
        return;
    }
    // Intel's compiler writes bytes of words four apart as well.
    let step = v.dst_step();
    if step != exec.bytes() && !(d.bytes() == 1 && step > exec.bytes()) {
        let (ty, size) = (d.ty, exec.bytes());
        let what = format_args!(
            "`{ty}` elements must be {size} bytes apart, the size of the execution type"
        );
        out.find(Part::Dst, what);
    }
}

fn dst_exec_type_align(v: &View, out: &mut Sink<'_>) {
    let (Some(d), Some(exec)) = (v.written_by_many(), v.exec_type) else {
        return;
    };
    let Some(sub) = d.grf_sub() else { return };
    if v.mixed_float || exec.bytes() <= d.bytes() || (d.bytes() == 1 && v.is_raw_move()) {
        return;
    }
    let over = sub % exec.bytes();
    // The relaxed rule: all in the lower or all in the upper half of the channel's word.
    let relaxed = match d.bytes() {
        1 => over == 1 || exec.bytes() == 4 && v.f.byte_dst_anywhere,
        2 => over == 2,
        _ => false,
    };
    if over != 0 && !relaxed {
        let size = exec.bytes();
        let what = format_args!("byte {sub} is not aligned to the execution type of {size} bytes");
        out.find(Part::Dst, what);
    }
}

fn not_together(v: &View, out: &mut Sink<'_>, small: fn(Type) -> bool, what: &str) {
    let Some(d) = v.dst else { return };
    for s in v.srcs() {
        if (small(d.ty) && s.bytes() == 8) || (d.bytes() == 8 && small(s.elements())) {
            let what = format_args!("{what} and a 64-bit type do not convert into each other");
            out.find(s.part, what);
        }
    }
}

fn half_and_int(v: &View, out: &mut Sink<'_>) {
    let Some(d) = v.written_by_many() else { return };
    let converts = v.srcs().any(|s| {
        let t = s.elements();
        (d.ty == Type::Hf && t.is_int()) || (d.ty.is_int() && t == Type::Hf)
    });
    if !converts {
        return;
    }
    if v.dst_step() != 4 {
        let what =
            format_args!("a conversion between half float and integer must be strided by 4 bytes");
        out.find(Part::Dst, what);
    }
    if d.grf_sub().is_some_and(|o| o % 4 != 0) {
        let what =
            format_args!("a conversion between half float and integer must be aligned to 4 bytes");
        out.find(Part::Dst, what);
    }
}

fn half_dst_words(v: &View, out: &mut Sink<'_>) {
    let Some(d) = v.written_by_many() else { return };
    let from_single = v.srcs().any(|s| s.elements() == Type::F);
    if d.ty != Type::Hf || !from_single {
        return;
    }
    let packed = v.dst_stride == 1 && d.grf_sub().is_none_or(|o| o % 16 == 0);
    if v.dst_stride != 2 && !packed {
        let what = format_args!(
            "half floats made of singles must be every other word, or packed from a 16-byte boundary"
        );
        out.find(Part::Dst, what);
    }
}

fn vector_immediate(v: &View, out: &mut Sink<'_>) {
    let Some(d) = v.written_by_many() else { return };
    let Some(imm) = v.srcs().find(|s| s.ty.is_packed_imm()) else {
        return;
    };
    if d.grf_sub().is_some_and(|o| o % 16 != 0) {
        let what = format_args!("with a vector immediate it must start at a 16-byte boundary");
        out.find(Part::Dst, what);
    }
    // Intel's compilers write doublewords from word vectors as well.
    let (ty, bytes) = (imm.ty, imm.bytes());
    if v.dst_step() < bytes {
        let what = format_args!("with a `{ty}` immediate its stride must be {bytes} bytes or more");
        out.find(Part::Dst, what);
    }
}

/// Half and single floats and nothing else.
fn mixed(v: &View) -> bool {
    v.mixed_float && v.srcs().all(|s| s.ty.is_float())
}

fn mixed_float(v: &View, out: &mut Sink<'_>) {
    let (true, Some(d)) = (mixed(v), v.dst) else {
        return;
    };
    let wide = v.op == Op::Mov && v.f.half_mov_wide;
    if v.exec > 8 && d.ty == Type::F && !wide {
        let what = format_args!("mixed half and single floats make 8 singles at most");
        out.find(Part::Dst, what);
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
            let what = format_args!("half floats of mixed math must be strided");
            out.find(s.part, what);
        }
    }
    let acc = v.reads_acc() || v.srcs().any(|s| s.is_acc());
    if d.ty == Type::Hf && acc && v.dst_stride != 2 && v.exec > 1 {
        let what = format_args!("half floats made with the accumulator must be every other word");
        out.find(Part::Dst, what);
    }
}

fn mixed_float_packed(v: &View, out: &mut Sink<'_>) {
    let (true, Some(d)) = (mixed(v), v.written_by_many()) else {
        return;
    };
    if d.ty != Type::Hf || v.dst_stride != 1 {
        return;
    }
    if v.exec > 8 {
        let what = format_args!("mixed floats make 8 packed halves at most");
        out.find(Part::Dst, what);
    }
    if d.grf_sub().is_some_and(|o| o % 16 != 0) {
        let what = format_args!("packed halves of mixed floats must start at a 16-byte boundary");
        out.find(Part::Dst, what);
    }
}
