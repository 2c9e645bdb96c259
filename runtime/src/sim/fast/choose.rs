//! Choice of an operation's handler, if it has one: by the lane type that holds its operands
//! exactly, and by their layout.

use super::super::alu::{in_acc, reads_whole_acc};
use super::super::program::{DstOp, SrcOp};
use super::super::regs;
use super::places::OperandLayout;
use super::{FastHandler, Handler, Ieee, acc, float, int};
use gantry_isa_gen::sem::{AluOp, ExecClass};
use gantry_isa_gen::{Cond, Op, SrcMods, Type};

/// Layout and effects of an operation's operands, as far as the choice depends on them.
pub(in super::super) struct Operands<'a> {
    pub(in super::super) n: u32,
    pub(in super::super) dst: &'a DstOp,
    pub(in super::super) srcs: &'a [SrcOp; 3],
    pub(in super::super) acc_wr_en: bool,
    /// True if flags are written.
    pub(in super::super) flags: bool,
    /// True if it accesses registers that are computed when read, or have effects when written.
    pub(in super::super) special: bool,
}

/// Chooses the handler of an operation.
pub(in super::super) fn handler(alu: &AluOp, o: &Operands<'_>) -> Option<FastHandler> {
    let indirect = o
        .srcs
        .iter()
        .any(|s| matches!(s, SrcOp::Indirect { .. } | SrcOp::MultiIndirect { .. }));
    // A result and a condition may go to the same flags. The general path has their order.
    let to_flags =
        matches!(o.dst, DstOp::Direct { at, .. } if (regs::FLAGS..regs::SR0).contains(at));
    if o.special || indirect || matches!(o.dst, DstOp::Indirect { .. }) || to_flags && o.flags {
        return None;
    }
    let (place, rows) = OperandLayout::of(alu, o);
    let (run, needs) = choose(alu, o, place)?;
    Some(FastHandler { run, needs, rows })
}

/// Chooses the handler, and the float types that must follow IEEE.
fn choose(alu: &AluOp, o: &Operands<'_>, place: OperandLayout) -> Option<(Handler, Ieee)> {
    let any_mode = |run: Handler| (run, Ieee::empty());
    if let Some(found) = through_acc(alu, o, place) {
        return found.map(any_mode);
    }
    let types = || alu.srcs.iter().flatten().copied();
    let null = matches!(o.dst, DstOp::Null);
    let simple_cond = !matches!(alu.cond, Some(Cond::Ov | Cond::Un | Cond::Eo));
    let unmodified = alu.mods.iter().all(|m| *m == SrcMods::default());
    let small = |t: Type| t.is_int() && t.bytes() <= 4;
    if alu.op == Op::Math && !alu.math.is_some_and(float::has_math) {
        return None;
    }
    let to = |t: Type| alu.dst == t || null && alu.op == Op::Cmp;
    if simple_cond && types().all(|t| matches!(t, Type::F | Type::Vf)) && to(Type::F) {
        return float::single(alu.op, o.n, place).map(|run| (run, Ieee::SINGLE));
    }
    if simple_cond && types().all(|t| t == Type::Df) && to(Type::Df) {
        let run = float::double(alu.op, o.n, place.without_rows())?;
        return Some((run, Ieee::DOUBLE));
    }
    let same = types().all(|t| t == alu.dst) && matches!(alu.dst, Type::Hf | Type::Bf);
    if matches!(alu.op, Op::Mov | Op::Sel) && same && unmodified && alu.cond.is_none() && !alu.sat {
        // Moves and selections between equal types keep all bits.
        return int::signed(alu.op, o.n, place).map(any_mode);
    }
    if types().any(|t| t == Type::Hf) || alu.dst == Type::Hf {
        let needs = halves(alu, null)?;
        return float::single(alu.op, o.n, place).map(|run| (run, needs));
    }
    if alu.op == Op::Mov && alu.cond.is_none() && !alu.sat {
        let from = alu.srcs[0]?;
        if unmodified || from.is_float() {
            let floats = [from, alu.dst].map(|t| match t {
                Type::F => Ieee::SINGLE,
                Type::Df => Ieee::DOUBLE,
                _ => Ieee::empty(),
            });
            if let Some(run) = float::conversion(from, alu.dst, o.n, place) {
                return Some((run, floats[0] | floats[1]));
            }
        }
    }
    if unsigned_wide(alu) {
        return int::unsigned_wide(alu.op, o.n, place.without_rows()).map(any_mode);
    }
    if wide_lanes(alu) {
        return int::wide(alu.op, o.n, place.without_rows()).map(any_mode);
    }
    if alu.sat || !simple_cond || !types().all(small) || !small(alu.dst) {
        return None;
    }
    match narrow_lanes(alu, unmodified)? {
        LaneType::Signed => int::signed(alu.op, o.n, place),
        LaneType::Unsigned => int::unsigned(alu.op, o.n, place),
        LaneType::Wide => int::wide(alu.op, o.n, place.without_rows()),
    }
    .map(any_mode)
}

/// Returns the float types that must follow IEEE for an operation with halves in lanes of singles.
/// `None` if such lanes do not give its results.
fn halves(alu: &AluOp, null: bool) -> Option<Ieee> {
    let single = |t: Type| matches!(t, Type::F | Type::Vf);
    let floats = alu
        .srcs
        .iter()
        .flatten()
        .all(|t| single(*t) || *t == Type::Hf);
    let to = matches!(alu.dst, Type::F | Type::Hf) || null && alu.op == Op::Cmp;
    // A condition tests the half that a result is converted to.
    let simple_cond = match alu.cond {
        None => true,
        Some(Cond::Ov | Cond::Un | Cond::Eo) => false,
        Some(_) => matches!(alu.op, Op::Cmp | Op::Sel),
    };
    let exact = match alu.class() {
        // A sum or product of halves that is first rounded to a single is still rounded as if once.
        ExecClass::Half => matches!(
            alu.op,
            Op::Mov
                | Op::Add
                | Op::Mul
                | Op::Cmp
                | Op::Sel
                | Op::Rndd
                | Op::Rnde
                | Op::Rndu
                | Op::Rndz
        ),
        // An operation with a single computes in singles.
        _ => !matches!(alu.op, Op::Csel | Op::Frc),
    };
    (floats && to && simple_cond && exact).then_some(Ieee::HALF | Ieee::SINGLE)
}

/// Chooses the handler of an operation that has an integer in an accumulator, named or implicit.
/// Such integers are wider than their registers. The outer `None` is for all other operations, and
/// those that read no more than the register.
fn through_acc(alu: &AluOp, o: &Operands<'_>, place: OperandLayout) -> Option<Option<Handler>> {
    let to = matches!(o.dst, DstOp::Direct { acc: true, .. }) && alu.dst.is_int();
    let implicit = matches!(alu.op, Op::Mach | Op::Macl | Op::Addc | Op::Subb);
    let from_acc = |(s, ty): (&SrcOp, Option<Type>)| {
        let (SrcOp::Scalar { at } | SrcOp::Packed { at } | SrcOp::Rect { at, .. }) = *s else {
            return None;
        };
        let packed = matches!(s, SrcOp::Packed { .. });
        ty.filter(|t| in_acc(at) && t.is_int()).map(|t| (t, packed))
    };
    let whole = || {
        let sources = o.srcs.iter().zip(alu.srcs).filter_map(from_acc);
        sources.filter(|_| reads_whole_acc(alu.op))
    };
    let from = whole().next().is_some();
    if !(to || implicit || from || o.acc_wr_en) {
        return None;
    }
    let dword = |t: Type| matches!(t, Type::D | Type::Ud);
    let small = |t: Type| t.is_int() && t.bytes() <= 4;
    let plain = alu.cond.is_none() && !alu.sat && alu.srcs.iter().flatten().all(|t| small(*t));
    let step = match o.dst {
        DstOp::Direct { step, .. } => *step,
        _ => alu.dst.bytes(),
    };
    let no_abs = alu.mods.iter().all(|m| !m.abs);
    let unmodified = alu.mods.iter().all(|m| *m == SrcMods::default());
    let low = matches!(alu.op, Op::Mov | Op::Add | Op::Add3 | Op::Mul | Op::Mad);
    let wide = place.without_rows();
    Some(if !plain || step != alu.dst.bytes() {
        None
    } else if implicit {
        let alone = !to && !from && dword(alu.dst) && (o.acc_wr_en || alu.op == Op::Macl);
        alone.then(|| acc::implicit(alu.op, o.n, wide)).flatten()
    } else if o.acc_wr_en {
        None
    } else if to {
        let all = whole().all(|(t, packed)| packed && matches!(t.bytes(), 2 | 4));
        let fits = match alu.op {
            Op::Shr => unmodified && alu.srcs[0].is_some_and(|t| !t.is_signed()),
            Op::Rol | Op::Ror => unmodified && alu.srcs[0].is_some_and(dword),
            _ => true,
        };
        let held = matches!(alu.dst, Type::D | Type::Ud | Type::W | Type::Uw);
        (all && fits && held)
            .then(|| acc::to_acc(alu.op, o.n, wide))
            .flatten()
    } else if no_abs && low && dword(alu.dst) && whole().all(|(t, _)| dword(t)) {
        // The low bits of a sum or product depend on low bits alone.
        int::signed(alu.op, o.n, place)
    } else {
        None
    })
}

/// Lane type that holds an integer operation of at most 32 bits.
enum LaneType {
    Signed,
    Unsigned,
    Wide,
}

fn narrow_lanes(alu: &AluOp, unmodified: bool) -> Option<LaneType> {
    let types = || alu.srcs.iter().flatten().copied();
    let unsigned = types().all(|t| !t.is_signed()) && unmodified;
    let signed = types().all(|t| t.is_signed() || t.bytes() < 4);
    let no_abs = alu.mods.iter().all(|m| !m.abs);
    // Only the low bits of the result are kept, and they depend on the low bits of the sources
    // alone.
    let modular = match alu.op {
        Op::Mov
        | Op::Add
        | Op::Add3
        | Op::Mul
        | Op::Mad
        | Op::Xor
        | Op::And
        | Op::Or
        | Op::Not
        | Op::Shl => no_abs,
        Op::Bfn => unmodified,
        Op::Bfi1 | Op::Bfi2 | Op::Bfrev | Op::Cbit | Op::Lzd | Op::Fbl => unmodified,
        // A rotation has the width of the source.
        Op::Rol | Op::Ror => {
            let dword = |t: Option<Type>| matches!(t, Some(Type::D | Type::Ud));
            unmodified && dword(alu.srcs[0]) && dword(Some(alu.dst))
        }
        _ => false,
    };
    match alu.op {
        // A flag tests the result in its own type.
        _ if modular && alu.cond.is_some() && alu.dst == Type::Ud => Some(LaneType::Unsigned),
        _ if modular => Some(LaneType::Signed),
        Op::Cmp | Op::Sel if alu.cond.is_some() => {
            if signed && unmodified {
                Some(LaneType::Signed)
            } else if unsigned {
                Some(LaneType::Unsigned)
            } else if alu.op == Op::Cmp {
                // 64 bits hold either sign, negated or not.
                Some(LaneType::Wide)
            } else {
                None
            }
        }
        Op::Csel if signed && unmodified => Some(LaneType::Signed),
        Op::Sel if no_abs => Some(LaneType::Signed),
        Op::Asr if signed && alu.cond.is_none() && unmodified => Some(LaneType::Signed),
        Op::Shr
            if alu.cond.is_none()
                && unmodified
                && matches!(alu.srcs[0], Some(Type::Ud | Type::Uw | Type::Ub)) =>
        {
            Some(LaneType::Unsigned)
        }
        _ => None,
    }
}

/// Returns true if lanes of 64 bits hold an operation that has an operand of 64 bits.
fn wide_lanes(alu: &AluOp) -> bool {
    let types = || alu.srcs.iter().flatten().copied();
    let wide = alu.dst.bytes() == 8 || types().any(|t| t.bytes() == 8);
    if !wide || alu.sat || alu.dst.is_float() || types().any(Type::is_float) {
        return false;
    }
    let plain = alu.mods.iter().all(|m| !m.abs);
    let unmodified = alu.mods.iter().all(|m| *m == SrcMods::default());
    match alu.op {
        // Only low bits are kept.
        Op::Mov | Op::Add | Op::Mul | Op::And | Op::Or | Op::Xor | Op::Not | Op::Shl | Op::Sel => {
            plain && alu.cond.is_none()
        }
        Op::Asr => unmodified && alu.cond.is_none() && alu.srcs[0] != Some(Type::Uq),
        // 64 signed bits hold every value except an unsigned qword's.
        Op::Cmp => {
            unmodified
                && !types().any(|t| t == Type::Uq)
                && !matches!(alu.cond, Some(Cond::Ov | Cond::Un))
        }
        _ => false,
    }
}

/// Returns true if unsigned lanes of 64 bits hold an operation that signed ones do not.
fn unsigned_wide(alu: &AluOp) -> bool {
    let mut types = alu.srcs.iter().flatten();
    let unmodified = alu.mods.iter().all(|m| *m == SrcMods::default());
    let small_or_wide = alu.dst.is_int() && unmodified && !alu.sat;
    match alu.op {
        Op::Shr => {
            small_or_wide
                && alu.cond.is_none()
                && alu.srcs[0] == Some(Type::Uq)
                && types.all(|t| t.is_int())
        }
        Op::Cmp => {
            small_or_wide
                && alu.srcs.contains(&Some(Type::Uq))
                && types.all(|t| t.is_int() && !t.is_signed())
                && !matches!(alu.cond, Some(Cond::Ov | Cond::Un))
        }
        _ => false,
    }
}
