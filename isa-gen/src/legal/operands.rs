//! Rules of operands: number, types and registers.

use super::InstPart;
use super::rule::{FindingSink, InstKinds, Rule, always};
use super::view::{InstView, Operand, OperandLocation, SourceKind};
use crate::inst::{Subfn, Target};
use crate::op::{Format, Op};
use crate::reg::Arf;
use crate::types::Type;

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "operand-count",
        text: "the instruction has the operands, descriptors and function of its format",
        hint: "see the opcode's row for its operands",
        kinds: InstKinds::ANY,
        applies: always,
        check: operand_count,
    },
    Rule {
        name: "types-allowed",
        text: "the opcode's table of types allows each source type with the destination type",
        hint: "convert with a `mov` first",
        kinds: InstKinds::TYPED.union(InstKinds::SYNC),
        applies: always,
        check: types_allowed,
    },
    Rule {
        name: "source-null",
        text: "null is not a data source",
        hint: "read a register or an immediate",
        kinds: InstKinds::ALU.union(InstKinds::MACRO),
        applies: always,
        check: |v, out| {
            for s in v.srcs().filter(|s| s.is_null()) {
                out.find(s.part, format_args!("null cannot be read"));
            }
        },
    },
    Rule {
        name: "register-exists",
        text: "a register exists on the platform",
        hint: "use one of the 128 GRFs (256 in large GRF mode), or an accumulator of the platform",
        kinds: InstKinds::ANY,
        applies: always,
        check: register_exists,
    },
    Rule {
        name: "source1-file",
        text: "source 1 is a GRF or an immediate, or an accumulator on Xe",
        hint: "swap the sources, or copy the register first",
        kinds: InstKinds::DATA,
        applies: always,
        check: source1_file,
    },
    Rule {
        name: "math-operands",
        text: "math operands are direct GRFs, the second source may be an immediate",
        hint: "copy the operand to a GRF first",
        kinds: InstKinds::DATA,
        applies: always,
        check: math_operands,
    },
    Rule {
        name: "immediate-place",
        text: "only the last of one or two sources may be an immediate, and one of 64 bits must be alone",
        hint: "swap the sources, or move the immediate to a register first",
        kinds: InstKinds::DATA
            .union(InstKinds::MACRO)
            .union(InstKinds::DPAS),
        applies: always,
        check: immediate_place,
    },
    Rule {
        name: "immediate-type",
        text: "there are no byte immediates, and an immediate fits its type",
        hint: "use a word immediate",
        kinds: InstKinds::ANY,
        applies: always,
        check: immediate_type,
    },
    Rule {
        name: "subregister-aligned",
        text: "a register operand is aligned to the size of its type",
        hint: "move the element to an aligned offset",
        kinds: InstKinds::ANY,
        applies: always,
        check: subregister_aligned,
    },
    Rule {
        name: "address-register",
        text: "the address of an indirect operand is a word of a0, and its offset is in range (for source 1, in its units)",
        hint: "add the rest of the offset to the address register",
        kinds: InstKinds::ANY,
        applies: always,
        check: address_register,
    },
    Rule {
        name: "accumulator-type",
        text: "accumulators cannot hold bytes or be payloads",
        hint: "convert to words first",
        kinds: InstKinds::ANY,
        applies: always,
        check: accumulator_type,
    },
    Rule {
        name: "accumulator-cmp",
        text: "the destination of a compare is not an accumulator",
        hint: "write a GRF or null",
        kinds: InstKinds::DATA,
        applies: |f| f.acc_restricted,
        check: |v, out| {
            if matches!(v.op, Op::Cmp | Op::Cmpn) && v.dst.is_some_and(|d| d.is_acc()) {
                let what = format_args!("a compare cannot write the accumulator");
                out.find(InstPart::Dst, what);
            }
        },
    },
    Rule {
        name: "accumulator-mul",
        text: "an integer source of a multiply is not an accumulator (on Gen7.5, no source is)",
        hint: "copy the accumulator to a GRF first",
        kinds: InstKinds::DATA,
        applies: always,
        check: |v, out| {
            let bad = |t: Type| t.is_int() || v.f.acc_restricted;
            for s in v.srcs().filter(|s| s.is_acc() && bad(s.ty)) {
                if v.op == Op::Mul {
                    out.find(s.part, format_args!("`mul` cannot read this accumulator"));
                }
            }
        },
    },
    Rule {
        name: "accumulator-dword-mul",
        text: "a multiply of two dwords does not write the accumulator",
        hint: "multiply by a word, and continue with `mach`",
        kinds: InstKinds::DATA,
        applies: |f| f.acc_no_dword_mul,
        check: |v, out| {
            if v.op == Op::Mul && v.is_dword_multiply() && v.dst.is_some_and(|d| d.is_acc()) {
                let what = format_args!("a product of dwords cannot be written to the accumulator");
                out.find(InstPart::Dst, what);
            }
        },
    },
    Rule {
        name: "accumulator-logic-mods",
        text: "a bitwise operation does not invert an accumulator",
        hint: "invert it with `not` from a GRF",
        kinds: InstKinds::DATA,
        applies: always,
        check: |v, out| {
            for s in v.srcs().filter(|s| s.is_acc() && s.is_modified()) {
                if v.info.bitwise {
                    out.find(s.part, format_args!("an accumulator cannot be inverted"));
                }
            }
        },
    },
    Rule {
        name: "movi-source",
        text: "`movi` reads through the address register",
        hint: "use `mov` for a direct source",
        kinds: InstKinds::DATA,
        applies: |f| f.align16,
        check: |v, out| {
            if v.op == Op::Movi && v.src(0).is_some_and(|s| !s.is_indirect()) {
                out.find(
                    InstPart::Src(0),
                    format_args!("the source must be indirect"),
                );
            }
        },
    },
    Rule {
        name: "wait-register",
        text: "`wait` reads and clears a notification register",
        hint: "wait on n0.0, n0.1 or n0.2",
        kinds: InstKinds::SYNC,
        applies: |f| !f.swsb,
        check: |v, out| {
            for s in v.srcs().filter(|s| s.arf() != Some(Arf::Notification)) {
                out.find(s.part, format_args!("not a notification register"));
            }
        },
    },
];

fn operand_count(v: &InstView, out: &mut FindingSink<'_>) {
    let (format, op) = (v.info.format, v.op);
    let want = match v.subfn {
        Subfn::Math(f) => f.sources(),
        _ => format.sources(),
    };
    let have = v
        .source_kinds
        .iter()
        .filter(|s| **s != SourceKind::None)
        .count();
    let gap = v
        .source_kinds
        .iter()
        .skip(have)
        .any(|s| *s != SourceKind::None);
    let by_register = format == Format::BranchRegJipUip
        && have == 1
        && !matches!(
            v.source_kinds[0],
            SourceKind::Target(Target::Rel(_) | Target::Label(_))
        );
    // `sync` without an operand, or a send of Xe without a second payload.
    let fewer = matches!(format, Format::Sync | Format::XeSend) && have < usize::from(want);
    if gap || (have != usize::from(want) && !by_register && !fewer) {
        let what = format_args!("`{op}` has {want} sources, not {have}");
        out.find(InstPart::Inst, what);
    }
    if format.has_dst() != v.dst.is_some() {
        let has = if format.has_dst() { "a" } else { "no" };
        out.find(InstPart::Dst, format_args!("`{op}` has {has} destination"));
    }
    if format.is_send() != v.send.is_some() {
        let what = format_args!("a send, and only a send, has descriptors");
        out.find(InstPart::Desc, what);
    }
    let (needs, name) = match (format, v.subfn) {
        (Format::Math, s) => (matches!(s, Subfn::Math(_)), "math"),
        (Format::Sync, s) => (matches!(s, Subfn::Sync(_)), "sync"),
        (Format::XeSend, s) => (matches!(s, Subfn::Send(_)), "send"),
        (Format::Dpas, s) => (matches!(s, Subfn::Dpas { .. }), "dpas"),
        (_, s) if op == Op::Bfn => (matches!(s, Subfn::Bfn(_)), "bfn"),
        (_, Subfn::None | Subfn::BranchCtrl(_)) => (true, ""),
        _ => (false, "a data instruction"),
    };
    if !needs {
        let what = format_args!("`{op}` has the function of {name}, and no other");
        out.find(InstPart::Inst, what);
    }
    if let Subfn::Math(f) = v.subfn
        && f.code(v.platform).is_none()
    {
        let p = v.platform;
        out.find(
            InstPart::Inst,
            format_args!("`math.{f}` does not exist on {p}"),
        );
    }
}

fn types_allowed(v: &InstView, out: &mut FindingSink<'_>) {
    let (Some(dst), true) = (v.dst, v.info.format.has_types()) else {
        return;
    };
    let op = v.op;
    for s in v.srcs() {
        // Source 0 of `dpas`, the accumulator, may be null.
        if v.kind == InstKinds::DPAS && s.is_null() {
            continue;
        }
        let (d, t) = (dst.ty, s.elements());
        if !v.allows(d, t) && !alternate_type(v, s).is_some_and(|t| v.allows(d, t)) {
            out.find(
                s.part,
                format_args!("`{op}` does not convert `{t}` to `{d}`"),
            );
        }
    }
}

/// Returns the other type that an immediate of a three-source instruction may have. These
/// immediates have 16 bits, and Intel's compiler writes a dword of `bfe` as a word.
fn alternate_type(v: &InstView, s: &Operand) -> Option<Type> {
    match s.ty {
        _ if v.kind != InstKinds::TERNARY || !s.is_imm() => None,
        Type::W => Some(Type::D),
        Type::Uw => Some(Type::Ud),
        _ => None,
    }
}

fn register_exists(v: &InstView, out: &mut FindingSink<'_>) {
    for o in v.operands() {
        let sub = match o.location {
            OperandLocation::Grf(Some(n), _) if n >= v.f.grf_count_large => {
                let most = v.f.grf_count_large - 1;
                out.find(o.part, format_args!("r{n} is beyond r{most}"));
                continue;
            }
            OperandLocation::Grf(_, sub) => sub,
            OperandLocation::Arf(Arf::Acc, n, sub) => {
                // The special accumulators of math macros follow the accumulators.
                if n >= v.f.accumulators.max(10) {
                    out.find(o.part, format_args!("there is no acc{n}"));
                }
                sub
            }
            _ => continue,
        };
        if sub >= v.grf() {
            let grf = v.grf();
            let what = format_args!("byte {sub} is beyond the register's {grf}");
            out.find(o.part, what);
        }
    }
}

fn source1_file(v: &InstView, out: &mut FindingSink<'_>) {
    let Some(s) = v.src(1) else { return };
    let ok = match s.arf() {
        None | Some(Arf::Null) => true,
        Some(Arf::Acc) => v.f.src1_acc,
        Some(_) => false,
    };
    if !ok {
        let what = format_args!("only source 0 may be an architecture register");
        out.find(s.part, what);
    }
}

fn math_operands(v: &InstView, out: &mut FindingSink<'_>) {
    if v.info.format != Format::Math {
        return;
    }
    for o in v.operands() {
        let bad = match o.location {
            OperandLocation::Imm(_) => o.part == InstPart::Src(0),
            OperandLocation::Indirect(..) => true,
            _ => o.arf().is_some(),
        };
        if bad {
            out.find(o.part, format_args!("a math operand is a direct GRF"));
        }
    }
}

fn immediate_place(v: &InstView, out: &mut FindingSink<'_>) {
    let n = v.srcs().count();
    for (k, s) in v.srcs().enumerate().filter(|(_, s)| s.is_imm()) {
        if v.kind != InstKinds::DATA {
            out.find(s.part, format_args!("the opcode takes no immediates"));
        } else if k + 1 < n {
            let what = format_args!("only the last source may be an immediate");
            out.find(s.part, what);
        } else if n > 1 && s.bytes() == 8 {
            let what = format_args!("a 64-bit immediate must be the only source");
            out.find(s.part, what);
        } else if v.op == Op::Movi && n == 1 {
            out.find(s.part, format_args!("the opcode takes a register"));
        }
    }
}

fn immediate_type(v: &InstView, out: &mut FindingSink<'_>) {
    for s in v.srcs() {
        let OperandLocation::Imm(bits) = s.location else {
            continue;
        };
        let (ty, width) = (s.ty, s.ty.bytes() * 8);
        let width = if ty.is_packed_imm() { 32 } else { width };
        if s.bytes() == 1 {
            out.find(s.part, format_args!("there are no `{ty}` immediates"));
        } else if width < 64 && bits >> width != 0 {
            out.find(s.part, format_args!("the immediate is wider than `{ty}`"));
        }
    }
    for o in v.operands().filter(|o| !o.is_imm()) {
        if o.ty.is_packed_imm() {
            let what = format_args!("only an immediate has a packed vector type");
            out.find(o.part, what);
        }
    }
}

fn subregister_aligned(v: &InstView, out: &mut FindingSink<'_>) {
    for o in v.operands() {
        let sub = match o.location {
            OperandLocation::Grf(_, sub)
            | OperandLocation::Arf(_, _, sub)
            | OperandLocation::Macro(sub, _) => sub,
            OperandLocation::Indirect(..) | OperandLocation::Imm(_) => continue,
        };
        if !sub.is_multiple_of(o.bytes()) {
            let ty = o.ty;
            let what = format_args!("byte {sub} is not aligned to `{ty}`");
            out.find(o.part, what);
        }
    }
}

fn address_register(v: &InstView, out: &mut FindingSink<'_>) {
    for o in v.operands() {
        let OperandLocation::Indirect(a0, sub, imm) = o.location else {
            continue;
        };
        if !a0 || sub % 2 != 0 || sub >= 32 {
            out.find(o.part, format_args!("the address must be a word of a0"));
            continue;
        }
        let reach = v.f.indirect_reach;
        let unit = v.f.indirect_src1_unit;
        if !(-reach..reach).contains(&imm.into()) {
            let most = reach - 1;
            let what = format_args!("the address offset must be -{reach} to {most}");
            out.find(o.part, what);
        } else if o.part == InstPart::Src(1) && imm % unit != 0 {
            let what = format_args!("the address offset must be a multiple of {unit}");
            out.find(o.part, what);
        }
    }
}

fn accumulator_type(v: &InstView, out: &mut FindingSink<'_>) {
    let none = match v.kind {
        InstKinds::TERNARY => v.f.ternary_align16,
        InstKinds::SEND | InstKinds::DPAS | InstKinds::BRANCH => true,
        _ => false,
    };
    for o in v.operands().filter(|o| o.is_acc()) {
        if none {
            let what = format_args!("an accumulator cannot be this operand");
            out.find(o.part, what);
        } else if o.bytes() == 1 {
            out.find(o.part, format_args!("an accumulator cannot hold bytes"));
        }
    }
}
