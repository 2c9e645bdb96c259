//! Which operands, of which types, in which registers.

use super::{Ctx, Part, Place, element_type};
use crate::inst::{Src, Subfn, Target};
use crate::op::{Format, Op};
use crate::reg::{Arf, Reg, Register};
use crate::types::Type;

/// There are as many operands as the format has.
pub(super) fn operand_count<R: Register>(c: &mut Ctx<'_, R>) {
    let format = c.info.format;
    let want = match c.inst.subfn {
        Subfn::Math(f) => f.sources(),
        _ => format.sources(),
    };
    let have = c.inst.srcs.iter().filter(|s| **s != Src::None).count();
    let gap = c.inst.srcs.iter().skip(have).any(|s| *s != Src::None);
    let by_register = format == Format::BranchRegJipUip
        && have == 1
        && !matches!(
            c.inst.srcs[0],
            Src::Target(Target::Rel(_) | Target::Label(_))
        );
    if gap || (have != usize::from(want) && !by_register) {
        c.find(
            Part::Inst,
            format!("`{}` has {want} sources, not {have}", c.inst.op),
        );
    }
    if format.has_dst() != c.dst.is_some() {
        let has = if format.has_dst() { "a" } else { "no" };
        c.find(Part::Dst, format!("`{}` has {has} destination", c.inst.op));
    }
    if matches!(format, Format::Send | Format::SplitSend) != c.inst.send.is_some() {
        c.find(Part::Desc, "a send, and only a send, has descriptors");
    }
    if format == Format::Math && !matches!(c.inst.subfn, Subfn::Math(_)) {
        c.find(Part::Inst, "`math` needs a function");
    }
}

/// Each source's type goes with the destination's.
pub(super) fn types_allowed<R: Register>(c: &mut Ctx<'_, R>) {
    let (Some(dst), true) = (c.dst, c.info.format.has_types()) else {
        return;
    };
    let combos = c.combos();
    let wrong: Vec<(Part, Type)> = c
        .srcs
        .iter()
        .map(|s| (s.part, element_type(s.ty)))
        .filter(|(_, t)| {
            !combos
                .iter()
                .any(|(d, s)| d.contains(dst.ty) && s.contains(*t))
        })
        .collect();
    for (part, ty) in wrong {
        c.find(
            part,
            format!("`{}` does not make `{}` of `{ty}`", c.inst.op, dst.ty),
        );
    }
}

/// Null is no source of data.
pub(super) fn source_null<R: Register>(c: &mut Ctx<'_, R>) {
    if !c.info.format.has_types() {
        return;
    }
    let nulls: Vec<Part> = c
        .srcs
        .iter()
        .filter(|s| s.is_null())
        .map(|s| s.part)
        .collect();
    for part in nulls {
        c.find(part, "null cannot be read");
    }
}

/// Source 1 is a GRF or an immediate.
pub(super) fn source1_file<R: Register>(c: &mut Ctx<'_, R>) {
    let arf = c
        .srcs
        .get(1)
        .is_some_and(|s| s.arf().is_some() && !s.is_null());
    if arf && c.is_align1_data() {
        c.find(
            Part::Src(1),
            "only source 0 may be an architecture register",
        );
    }
}

/// The math box reads and writes direct GRFs; its second source may be an immediate.
pub(super) fn math_operands<R: Register>(c: &mut Ctx<'_, R>) {
    if c.info.format != Format::Math {
        return;
    }
    let found: Vec<Part> = c
        .dst
        .iter()
        .chain(&c.srcs)
        .filter(|o| match o.place {
            Place::Imm(_) => o.part == Part::Src(0),
            _ => o.arf().is_some() || matches!(o.place, Place::Indirect(..)),
        })
        .map(|o| o.part)
        .collect();
    for part in found {
        c.find(part, "a math operand is a direct GRF");
    }
}

/// Only the last source of one or two may be an immediate, and a 64-bit one must be alone.
pub(super) fn immediate_place<R: Register>(c: &mut Ctx<'_, R>) {
    if !c.info.format.has_types() {
        return;
    }
    let n = c.srcs.len();
    let found: Vec<(Part, &'static str)> = c
        .srcs
        .iter()
        .enumerate()
        .filter(|(_, s)| s.is_imm())
        .filter_map(|(k, s)| {
            if n == 3 {
                Some((s.part, "a three-source instruction has no immediates"))
            } else if k + 1 < n {
                Some((s.part, "only the last source may be an immediate"))
            } else if n > 1 && s.bytes() == 8 {
                Some((s.part, "a 64-bit immediate must be the only source"))
            } else if c.info.format == Format::Wait || c.inst.op == Op::Movi {
                Some((s.part, "the opcode takes a register"))
            } else {
                None
            }
        })
        .collect();
    for (part, message) in found {
        c.find(part, message);
    }
}

/// There are no byte immediates, and an immediate's bits are no wider than its type.
pub(super) fn immediate_type<R: Register>(c: &mut Ctx<'_, R>) {
    let found: Vec<(Part, String)> = c
        .srcs
        .iter()
        .filter_map(|s| {
            let Place::Imm(bits) = s.place else {
                return None;
            };
            let width = if s.ty.is_packed_imm() {
                32
            } else {
                s.bytes() * 8
            };
            if s.bytes() == 1 {
                Some((s.part, format!("there are no `{}` immediates", s.ty)))
            } else if width < 64 && bits >> width != 0 {
                Some((s.part, format!("the immediate is wider than `{}`", s.ty)))
            } else {
                None
            }
        })
        .collect();
    for (part, message) in found {
        c.find(part, message);
    }
    let packed: Vec<Part> = c
        .dst
        .iter()
        .chain(&c.srcs)
        .filter(|s| s.ty.is_packed_imm() && !s.is_imm())
        .map(|s| s.part)
        .collect();
    for part in packed {
        c.find(part, "a packed vector type is an immediate's");
    }
}

/// A register operand starts at an element of its type.
pub(super) fn subregister_aligned<R: Register>(c: &mut Ctx<'_, R>) {
    let found: Vec<(Part, u16, Type)> = c
        .dst
        .iter()
        .chain(&c.srcs)
        .filter_map(|o| match o.place {
            Place::Direct(at) if !u32::from(at.sub).is_multiple_of(o.bytes()) => {
                Some((o.part, at.sub, o.ty))
            }
            _ => None,
        })
        .collect();
    for (part, sub, ty) in found {
        c.find(part, format!("byte {sub} is not where a `{ty}` can start"));
    }
}

/// An indirect operand's address is a word of a0, and its offset has ten bits.
pub(super) fn address_register<R: Register>(c: &mut Ctx<'_, R>) {
    let found: Vec<(Part, &'static str)> = c
        .dst
        .iter()
        .chain(&c.srcs)
        .filter_map(|o| {
            let Place::Indirect(addr, imm) = o.place else {
                return None;
            };
            let a0 = match addr.reg.as_phys() {
                Some(r) => r == Reg::Arf(Arf::Address, 0),
                None => true,
            };
            if !a0 || addr.sub % 2 != 0 || addr.sub >= 32 {
                Some((o.part, "the address must be a word of a0"))
            } else if !(-512..512).contains(&imm) {
                Some((o.part, "the address offset must be -512 to 511"))
            } else {
                None
            }
        })
        .collect();
    for (part, message) in found {
        c.find(part, message);
    }
}

/// Accumulators hold no bytes and are no operands of three-source instructions or sends.
pub(super) fn accumulator_type<R: Register>(c: &mut Ctx<'_, R>) {
    let format = c.info.format;
    let found: Vec<(Part, &'static str)> = c
        .dst
        .iter()
        .chain(&c.srcs)
        .filter(|o| o.is_acc())
        .filter_map(|o| {
            if matches!(format, Format::Ternary | Format::Send | Format::SplitSend) {
                Some((o.part, "an accumulator cannot be this operand"))
            } else if o.bytes() == 1 {
                Some((o.part, "an accumulator holds no bytes"))
            } else {
                None
            }
        })
        .collect();
    for (part, message) in found {
        c.find(part, message);
    }
}
