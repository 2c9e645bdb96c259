//! The paths that most instructions take: decoded once into a handler, which runs all channels as host SIMD loops.
//!
//! A handler is one operation at one width in one kind of lane ([`single`], [`int`]): where its operands lie
//! is all that is left to look at when it runs ([`lanes`]). What the operation computes is `isa-gen`'s semantics, inlined.
//! Handlers cannot fail, so operands with addresses that are known only when they run, and registers with effects, take
//! the general path (`alu`).

mod acc;
mod float;
mod host;
mod int;
mod lanes;
mod places;

use super::alu::{in_acc, reads_whole_acc};
use super::program::{DstOp, MicroOp, SrcOp};
use super::regs;
use super::thread::Thread;
use gantry_isa_gen::sem::{self, AluOp, FpMode, Round};
use gantry_isa_gen::{Cond, Op, SrcMods, Type};
#[cfg(target_arch = "x86_64")]
use host::Avx2;
use host::Simd;
use places::{Anywhere, One, Place, Places, Rows};
use std::marker::PhantomData;

pub(super) use host::Host;
pub(super) use places::RowSource;

/// Runs an operation in the channels of a mask that is not empty.
pub(super) type Handler = fn(&mut Thread, &MicroOp, u32);

/// The handler of an operation.
#[derive(Clone, Copy)]
pub(super) struct Fast {
    pub(super) run: Handler,
    /// The floats that must be IEEE's.
    pub(super) needs: Ieee,
    /// The sources as rows, where the handler is for those.
    pub(super) rows: [RowSource; 3],
}

bitflags::bitflags! {
    /// Floats that are IEEE's: rounded to nearest, denormals kept.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub(super) struct Ieee: u8 {
        const SINGLE = 1;
        const DOUBLE = 2;
    }
}

impl Ieee {
    /// Those that are in a floating-point mode.
    pub(super) fn of(mode: &FpMode) -> Ieee {
        let mut out = Ieee::empty();
        if mode.round == Round::Nearest {
            out.set(Ieee::SINGLE, mode.keep_f);
            out.set(Ieee::DOUBLE, mode.keep_df);
        }
        out
    }
}

/// The operands' places and effects, as far as the choice depends on them.
pub(super) struct Operands<'a> {
    pub(super) n: u32,
    pub(super) dst: &'a DstOp,
    pub(super) srcs: &'a [SrcOp; 3],
    pub(super) acc_wr_en: bool,
    /// Flags are written.
    pub(super) flags: bool,
    /// Registers that are computed when read, or have effects when written.
    pub(super) special: bool,
}

/// Chooses the handler of an operation.
pub(super) fn handler(alu: &AluOp, o: &Operands<'_>) -> Option<Fast> {
    let indirect = o
        .srcs
        .iter()
        .any(|s| matches!(s, SrcOp::Indirect { .. } | SrcOp::MultiIndirect { .. }));
    // A result and a condition may go to the same flags: the general path has their order.
    let to_flags =
        matches!(o.dst, DstOp::Direct { at, .. } if (regs::FLAGS..regs::SR0).contains(at));
    if o.special || indirect || matches!(o.dst, DstOp::Indirect { .. }) || to_flags && o.flags {
        return None;
    }
    let (place, rows) = Place::of(alu, o);
    let (run, needs) = choose(alu, o, place)?;
    Some(Fast { run, needs, rows })
}

/// The handler, and the floats that must be IEEE's.
fn choose(alu: &AluOp, o: &Operands<'_>, place: Place) -> Option<(Handler, Ieee)> {
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
    if alu.op == Op::Mov && alu.cond.is_none() && !alu.sat {
        let from = alu.srcs[0]?;
        if from == alu.dst && unmodified && matches!(from, Type::Hf | Type::Bf) {
            // Moves between equal types keep all bits.
            return int::signed(Op::Mov, o.n, place).map(any_mode);
        }
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
        Lanes::Signed => int::signed(alu.op, o.n, place),
        Lanes::Unsigned => int::unsigned(alu.op, o.n, place),
        Lanes::Wide => int::wide(alu.op, o.n, place.without_rows()),
    }
    .map(any_mode)
}

/// The handler of an operation that has an integer in an accumulator, named or not: those are wider than their registers.
/// The outer `None` is for all other operations, and those that see no more than the register.
fn through_acc(alu: &AluOp, o: &Operands<'_>, place: Place) -> Option<Option<Handler>> {
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

/// What lanes hold an integer operation of at most 32 bits.
enum Lanes {
    Signed,
    Unsigned,
    Wide,
}

fn narrow_lanes(alu: &AluOp, unmodified: bool) -> Option<Lanes> {
    let types = || alu.srcs.iter().flatten().copied();
    let unsigned = types().all(|t| !t.is_signed()) && unmodified;
    let signed = types().all(|t| t.is_signed() || t.bytes() < 4);
    let no_abs = alu.mods.iter().all(|m| !m.abs);
    // Only the low bits of the result are kept, and they depend on the low bits of the sources alone.
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
        // A rotation is of the source's own width.
        Op::Rol | Op::Ror => {
            let dword = |t: Option<Type>| matches!(t, Some(Type::D | Type::Ud));
            unmodified && dword(alu.srcs[0]) && dword(Some(alu.dst))
        }
        _ => false,
    };
    match alu.op {
        // A flag looks at the result as its type has it.
        _ if modular && alu.cond.is_some() && alu.dst == Type::Ud => Some(Lanes::Unsigned),
        _ if modular => Some(Lanes::Signed),
        Op::Cmp | Op::Sel if alu.cond.is_some() => {
            if signed && unmodified {
                Some(Lanes::Signed)
            } else if unsigned {
                Some(Lanes::Unsigned)
            } else if alu.op == Op::Cmp {
                // 64 bits hold either sign, negated or not.
                Some(Lanes::Wide)
            } else {
                None
            }
        }
        Op::Csel if signed && unmodified => Some(Lanes::Signed),
        Op::Sel if no_abs => Some(Lanes::Signed),
        Op::Asr if signed && alu.cond.is_none() && unmodified => Some(Lanes::Signed),
        Op::Shr
            if alu.cond.is_none()
                && unmodified
                && matches!(alu.srcs[0], Some(Type::Ud | Type::Uw | Type::Ub)) =>
        {
            Some(Lanes::Unsigned)
        }
        _ => None,
    }
}

/// Whether lanes of 64 bits hold an operation that has an operand of 64 bits.
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
        // 64 signed bits hold every value but an unsigned qword's.
        Op::Cmp => {
            unmodified
                && !types().any(|t| t == Type::Uq)
                && !matches!(alu.cond, Some(Cond::Ov | Cond::Un))
        }
        _ => false,
    }
}

/// Whether unsigned lanes of 64 bits hold an operation that signed ones do not.
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

/// How many sources an operation with a handler has.
const fn arity(op: Op) -> usize {
    match op {
        Op::Mov
        | Op::Not
        | Op::Frc
        | Op::Rndd
        | Op::Rnde
        | Op::Rndz
        | Op::Rndu
        | Op::Bfrev
        | Op::Cbit
        | Op::Lzd
        | Op::Fbl => 1,
        Op::Mad | Op::Lrp | Op::Bfi2 | Op::Add3 | Op::Csel | Op::Bfn => 3,
        _ => 2,
    }
}

/// Operations that share a kind of lane, for any host, at any width and wherever their operands lie.
trait Family {
    fn run<const N: usize, P: Places>(
        host: impl Simd,
        t: &mut Thread,
        op: &MicroOp,
        mask: u32,
        which: Op,
    );
}

/// One operation of a family, known when it is compiled.
trait Known {
    type Of: Family;
    const OP: Op;
}

/// A call of a family's body, as the host's dispatcher takes it.
#[cfg(target_arch = "x86_64")]
struct Call<'a, K, P, const N: usize> {
    t: &'a mut Thread,
    op: &'a MicroOp,
    mask: u32,
    host: Avx2,
    what: PhantomData<(K, P)>,
}

#[cfg(target_arch = "x86_64")]
impl<K: Known, P: Places, const N: usize> pulp::NullaryFnOnce for Call<'_, K, P, N> {
    type Output = ();
    #[inline(always)]
    fn call(self) {
        K::Of::run::<N, P>(self.host, self.t, self.op, self.mask, K::OP);
    }
}

/// The handler of a known operation at a width of up to `N` channels: compiled for this operation and its places alone where
/// the host's vectors are wide, for all operations of its family, wherever their operands lie, elsewhere.
fn known<K: Known, P: Places, const N: usize>(t: &mut Thread, op: &MicroOp, mask: u32) {
    match t.host {
        #[cfg(target_arch = "x86_64")]
        Host::Avx2(v3) => v3.vectorize(Call::<K, P, N> {
            t,
            op,
            mask,
            host: Avx2(v3),
            what: PhantomData,
        }),
        Host::Plain => any::<K::Of, N>(t, op, mask),
    }
}

/// The handler of all operations of a family.
#[inline(never)]
fn any<F: Family, const N: usize>(t: &mut Thread, op: &MicroOp, mask: u32) {
    F::run::<N, Anywhere>(sem::Plain, t, op, mask, op.alu.op);
}

/// The handler for operands anywhere. Few operations have 32 channels: each family has one body for those.
fn anywhere<K: Known>(n: u32) -> Handler {
    match n {
        32 => any::<K::Of, 32>,
        16 => known::<K, Anywhere, 16>,
        _ => known::<K, Anywhere, 8>,
    }
}

/// The handler for these places where one is compiled for them: `$splat` are the sources that may be one dword for all.
macro_rules! of_rows {
    ($name:ident: $($splat:literal),*) => {
        fn $name<K: Known, const MODS: bool>(n: u32, splat: u8, mods: bool) -> Option<Handler> {
            match (n, splat, mods) {
                $(
                    (16, $splat, false) => Some(known::<K, Rows<$splat, false>, 16>),
                    (8, $splat, false) => Some(known::<K, Rows<$splat, false>, 8>),
                    (16, $splat, true) if MODS => Some(known::<K, Rows<$splat, MODS>, 16>),
                    (8, $splat, true) if MODS => Some(known::<K, Rows<$splat, MODS>, 8>),
                )*
                _ => None,
            }
        }
    };
}
of_rows!(one_row: 0, 1);
of_rows!(two_rows: 0, 1, 2);
of_rows!(three_rows: 0, 1, 2, 3, 4, 5, 6);

/// The handler of an operation that has bodies for rows, with modifiers or not.
fn of_rows<K: Known, const MODS: bool>(n: u32, place: Place) -> Handler {
    let rows = match place {
        Place::Rows { splat, mods } => {
            if const { arity(K::OP) == 1 } {
                one_row::<K, MODS>(n, splat, mods)
            } else if const { arity(K::OP) == 2 } {
                two_rows::<K, MODS>(n, splat, mods)
            } else {
                three_rows::<K, MODS>(n, splat, mods)
            }
        }
        _ => None,
    };
    rows.unwrap_or_else(|| of_place::<K>(n, place))
}

/// The handler of an operation that has none.
fn of_place<K: Known>(n: u32, place: Place) -> Handler {
    match place {
        Place::One => known::<K, One, 1>,
        _ => anywhere::<K>(n),
    }
}

/// The handlers of operations: with bodies for rows and their modifiers, for rows without modifiers, and for neither.
macro_rules! handlers {
    ($(#[$doc:meta])* $name:ident, $family:ty, modified [$($m:ident),*], rows [$($r:ident),*], others [$($o:ident),*]) => {
        $(#[$doc])*
        pub(super) fn $name(op: gantry_isa_gen::Op, n: u32, place: super::Place) -> Option<super::Handler> {
            use gantry_isa_gen::Op;
            $(super::known_op!($m, $family);)*
            $(super::known_op!($r, $family);)*
            $(super::known_op!($o, $family);)*
            Some(match op {
                $(Op::$m => super::of_rows::<$m, true>(n, place),)*
                $(Op::$r => super::of_rows::<$r, false>(n, place),)*
                $(Op::$o => super::of_place::<$o>(n, place),)*
                _ => return None,
            })
        }
    };
}
use handlers;

/// An operation's type, of its own name.
macro_rules! known_op {
    ($op:ident, $family:ty) => {
        struct $op;
        impl super::Known for $op {
            type Of = $family;
            const OP: Op = Op::$op;
        }
    };
}
use known_op;

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "test code"
)]
mod tests;
