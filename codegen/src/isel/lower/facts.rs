//! Properties of opcodes, conditions, types and views that rules ask for. They do not depend on the
//! function.

use crate::ir::{FloatCC, IntCC, Opcode};
use crate::mir::VirtReg;
use crate::mir::bale::{BaleSrc, Operation, View};
use gantry_isa_gen::{Cond, SrcMods, Type as GenType};
use smallvec::SmallVec;

include!(concat!(env!("OUT_DIR"), "/operations.rs"));

/// Returns true for opcodes that are one instruction on their lanes, and so can write a region
/// directly or saturate. Constants are not: they are immediates.
pub(super) fn is_operation(op: Opcode) -> bool {
    has_operation(op) && !matches!(op, Opcode::Iconst | Opcode::Fconst)
}

pub(super) fn fits_word(x: i64) -> bool {
    i16::try_from(x).is_ok()
}

/// Returns the hardware's condition, and the one for swapped operands.
pub(super) fn int_conditions(cc: IntCC) -> (Cond, Cond) {
    match cc {
        IntCC::Equal => (Cond::Eq, Cond::Eq),
        IntCC::NotEqual => (Cond::Ne, Cond::Ne),
        IntCC::SignedLessThan | IntCC::UnsignedLessThan => (Cond::Lt, Cond::Gt),
        IntCC::SignedLessThanOrEqual | IntCC::UnsignedLessThanOrEqual => (Cond::Le, Cond::Ge),
        IntCC::SignedGreaterThan | IntCC::UnsignedGreaterThan => (Cond::Gt, Cond::Lt),
        IntCC::SignedGreaterThanOrEqual | IntCC::UnsignedGreaterThanOrEqual => (Cond::Ge, Cond::Le),
    }
}

/// Returns the hardware's condition, and the one for swapped operands.
pub(super) fn float_conditions(cc: FloatCC) -> (Cond, Cond) {
    match cc {
        FloatCC::Equal => (Cond::Eq, Cond::Eq),
        FloatCC::NotEqual => (Cond::Ne, Cond::Ne),
        FloatCC::LessThan => (Cond::Lt, Cond::Gt),
        FloatCC::LessThanOrEqual => (Cond::Le, Cond::Ge),
        FloatCC::GreaterThan => (Cond::Gt, Cond::Lt),
        FloatCC::GreaterThanOrEqual => (Cond::Ge, Cond::Le),
    }
}

/// Replaces sources in `old` by a read of `dst`, a copy of `old` that the operation writes a part
/// of. These are sources that are exactly the lanes that are written, and those that have no lane
/// in common with them.
pub(super) fn read_in_place(mut o: Operation, old: VirtReg, dst: &View, lanes: u32) -> Operation {
    let bytes = |v: &View| -> Elements { (0..lanes).map(|i| v.byte(i)).collect() };
    for s in o.srcs.iter_mut().flatten() {
        if let BaleSrc::View(v, _) = s
            && v.reg == old
            && is_same_index(v, dst)
        {
            let one = v.index.is_none_or(|i| i.rows == 1);
            let same = v.ty.bytes() == dst.ty.bytes();
            let same = same && (0..lanes).all(|i| v.byte(i) == dst.byte(i));
            let apart = || are_apart(bytes(v), v.ty.bytes(), bytes(dst), dst.ty.bytes());
            if same || one && apart() {
                v.reg = dst.reg;
            }
        }
    }
    o
}

/// First bytes of elements.
pub(super) type Elements = SmallVec<[u32; 64]>;

/// Returns true if elements of `size` bytes and others of `of` bytes have no byte in common. They
/// may be interleaved.
pub(super) fn are_apart(mut elements: Elements, size: u32, others: Elements, of: u32) -> bool {
    elements.sort_unstable();
    let near = |&at: &u32| {
        let n = elements.partition_point(|b| *b + size <= at);
        elements.get(n).is_some_and(|b| *b < at + of)
    };
    !others.iter().any(near)
}

/// Returns true if both views have no index, or the same one.
fn is_same_index(a: &View, b: &View) -> bool {
    match (&a.index, &b.index) {
        (None, None) => true,
        (Some(a), Some(b)) => a.is_same(b),
        _ => false,
    }
}

/// Returns a view read as a type, without modifiers.
pub(super) fn view_src(view: View, ty: GenType) -> BaleSrc {
    BaleSrc::View(View { ty, ..view }, SrcMods::default())
}

/// Returns all bits of an element set.
pub(super) fn ones(ty: GenType) -> u64 {
    u64::MAX >> (64 - 8 * ty.bytes().clamp(1, 8))
}

pub(super) fn negated(bits: u64, ty: GenType) -> u64 {
    if ty.is_float() {
        bits ^ (1 << (ty.bytes() * 8 - 1))
    } else {
        bits.wrapping_neg() & ones(ty)
    }
}

/// Sign-extends the low `bits` bits.
pub(super) fn sign_extend(x: u64, bits: u32) -> i64 {
    let s = 64 - bits.clamp(1, 64);
    ((x << s) as i64) >> s
}
