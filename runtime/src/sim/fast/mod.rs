//! The paths that most instructions take: decoded once into a handler, which runs all channels as host SIMD loops.
//!
//! A handler is one operation at one width in one kind of lane ([`float`], [`int`], [`acc`]), for operands in one kind of
//! [`places`]. Where those are rows of dwords, as mostly they are, it loads, computes and stores without a branch; any
//! other direct operands it looks at when it runs ([`lanes`]). What an operation computes is `isa-gen`'s semantics, inlined.
//! Handlers cannot fail, so operands with addresses that are known only when they run, and registers with effects, take
//! the general path (`alu`). [`choose`] says which operations have one.

mod acc;
mod choose;
mod float;
mod int;
mod lanes;
mod places;

use super::host::{Simd, Work};
use super::program::{DstOp, MicroOp, Pred};
use super::thread::Thread;
use gantry_isa_gen::Op;
use gantry_isa_gen::sem::{self, FpMode, Round, truth_of_mask};
use places::{Anywhere, One, Place, Places, Rows};
use std::marker::PhantomData;

pub(super) use choose::{Operands, handler};
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

/// The handler of what has nothing to do.
pub(super) fn nothing(_: &mut Thread, _: &MicroOp, _: u32) {}

bitflags::bitflags! {
    /// Floats that are IEEE's: rounded to nearest, denormals kept.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub(super) struct Ieee: u8 {
        const SINGLE = 1;
        const DOUBLE = 2;
        const HALF = 4;
    }
}

impl Ieee {
    /// Those that are in a floating-point mode.
    pub(super) fn of(mode: &FpMode) -> Ieee {
        let mut out = Ieee::empty();
        if mode.round == Round::Nearest {
            out.set(Ieee::SINGLE, mode.keep_f);
            out.set(Ieee::DOUBLE, mode.keep_df);
            out.set(Ieee::HALF, mode.keep_hf);
        }
        out
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

/// Ends a comparison: the flags, and all ones or zero to a destination.
#[inline(always)]
fn compared<const N: usize, P: Places>(t: &mut Thread, op: &MicroOp, mask: u32, flags: u32) {
    if let Some(bit) = op.flag {
        t.regs.set_flags(bit, mask, flags);
    }
    if !matches!(op.dst, DstOp::Null) {
        // Ones of any size.
        let yes = truth_of_mask::<N>(flags);
        P::store(t, op, mask, &yes.map(i64::from));
    }
}

/// The channels in which `sel` without a condition takes source 0.
#[inline(always)]
fn picked(t: &Thread, op: &MicroOp) -> u32 {
    match op.pick {
        Pred::None => 0,
        pick => t.predicate(pick),
    }
}

/// A call of a family's body: compiled for this operation and its places alone where the host's vectors are wide, for all
/// operations of its family, wherever their operands lie, elsewhere.
struct Call<'a, K, P, const N: usize> {
    t: &'a mut Thread,
    op: &'a MicroOp,
    mask: u32,
    what: PhantomData<(K, P)>,
}

impl<K: Known, P: Places, const N: usize> Work for Call<'_, K, P, N> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, host: S) {
        K::Of::run::<N, P>(host, self.t, self.op, self.mask, K::OP);
    }

    #[inline(always)]
    fn plain(self) {
        any::<K::Of, N>(self.t, self.op, self.mask);
    }
}

/// The handler of a known operation at a width of up to `N` channels.
fn known<K: Known, P: Places, const N: usize>(t: &mut Thread, op: &MicroOp, mask: u32) {
    t.host.call(Call::<K, P, N> {
        t,
        op,
        mask,
        what: PhantomData,
    });
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
                    (32, $splat, false) => Some(known::<K, Rows<$splat, false>, 32>),
                    (16, $splat, false) => Some(known::<K, Rows<$splat, false>, 16>),
                    (8, $splat, false) => Some(known::<K, Rows<$splat, false>, 8>),
                    (32, $splat, true) if MODS => Some(known::<K, Rows<$splat, MODS>, 32>),
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
