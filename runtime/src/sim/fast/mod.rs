//! Fast paths that most instructions take. An instruction is decoded once into a handler, which
//! runs all channels as host SIMD loops.
//!
//! A handler is one operation at one width in one lane type ([`float`], [`int`], [`acc`]), for
//! operands of one layout ([`places`]). For rows of dwords, the most frequent layout, it loads,
//! computes and stores without a branch. Other direct operands it examines when it runs
//! ([`lanes`]). Operations compute what `isa-gen`'s semantics define, inlined.
//!
//! Handlers cannot fail. Operands whose addresses are known only at run time, and registers with
//! effects, therefore take the general path (`alu`). [`choose`] selects the handler of an
//! operation.

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
use places::{Anywhere, One, OperandAccess, OperandLayout, Rows};
use std::marker::PhantomData;

pub(super) use choose::{Operands, handler};
pub(super) use places::RowSource;

/// Function that runs an operation in the channels of a mask, which is not empty.
pub(super) type Handler = fn(&mut Thread, &MicroOp, u32);

/// Handler of an operation with its requirements.
#[derive(Clone, Copy)]
pub(super) struct FastHandler {
    pub(super) run: Handler,
    /// Float types that must follow IEEE.
    pub(super) needs: Ieee,
    /// Sources as rows, for a row handler.
    pub(super) rows: [RowSource; 3],
}

/// Handler of an operation that does nothing.
pub(super) fn nothing(_: &mut Thread, _: &MicroOp, _: u32) {}

bitflags::bitflags! {
   /// Float types that follow IEEE: rounded to nearest, denormals kept.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub(super) struct Ieee: u8 {
        const SINGLE = 1;
        const DOUBLE = 2;
        const HALF = 4;
    }
}

impl Ieee {
    /// Returns the types that follow IEEE in a floating-point mode.
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

/// Returns the number of sources of an operation with a handler.
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

/// Operations that share a lane type, for any host, at any width and for any operand layout.
trait OpFamily {
    fn run<const N: usize, P: OperandAccess>(
        host: impl Simd,
        t: &mut Thread,
        op: &MicroOp,
        mask: u32,
        which: Op,
    );
}

/// Operation of a family as a type, known at compile time.
trait KnownOp {
    type Of: OpFamily;
    const OP: Op;
}

/// Writes the result of a comparison: the flags, and all ones or zero to a destination.
#[inline(always)]
fn compared<const N: usize, P: OperandAccess>(t: &mut Thread, op: &MicroOp, mask: u32, flags: u32) {
    if let Some(bit) = op.flag {
        t.regs.set_flags(bit, mask, flags);
    }
    if !matches!(op.dst, DstOp::Null) {
        // Ones of any size.
        let yes = truth_of_mask::<N>(flags);
        P::store(t, op, mask, &yes.map(i64::from));
    }
}

/// Returns the channels in which `sel` without a condition takes source 0.
#[inline(always)]
fn picked(t: &Thread, op: &MicroOp) -> u32 {
    match op.pick {
        Pred::None => 0,
        pick => t.predicate(pick),
    }
}

/// Call of a family's body. On hosts with wide vectors it is compiled for this operation and
/// operand layout. Elsewhere one body serves all operations of its family and all layouts.
struct FamilyCall<'a, K, P, const N: usize> {
    t: &'a mut Thread,
    op: &'a MicroOp,
    mask: u32,
    what: PhantomData<(K, P)>,
}

impl<K: KnownOp, P: OperandAccess, const N: usize> Work for FamilyCall<'_, K, P, N> {
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

/// Handles a known operation at a width of up to `N` channels.
fn known<K: KnownOp, P: OperandAccess, const N: usize>(t: &mut Thread, op: &MicroOp, mask: u32) {
    t.host.call(FamilyCall::<K, P, N> {
        t,
        op,
        mask,
        what: PhantomData,
    });
}

/// Handles all operations of a family.
#[inline(never)]
fn any<F: OpFamily, const N: usize>(t: &mut Thread, op: &MicroOp, mask: u32) {
    F::run::<N, Anywhere>(sem::Plain, t, op, mask, op.alu.op);
}

/// Returns the handler for operands of any layout. Few operations have 32 channels, so each family
/// has one body for those.
fn anywhere<K: KnownOp>(n: u32) -> Handler {
    match n {
        32 => any::<K::Of, 32>,
        16 => known::<K, Anywhere, 16>,
        _ => known::<K, Anywhere, 8>,
    }
}

/// Defines a function that returns the row handler, if one is compiled for the sources. `$splat`
/// lists the sets of sources that may be one dword for all channels.
macro_rules! of_rows {
    ($name:ident: $($splat:literal),*) => {
        fn $name<K: KnownOp, const MODS: bool>(n: u32, splat: u8, mods: bool) -> Option<Handler> {
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

/// Returns the handler of an operation that has bodies for rows. `MODS` is true if they include
/// source modifiers.
fn of_rows<K: KnownOp, const MODS: bool>(n: u32, place: OperandLayout) -> Handler {
    let rows = match place {
        OperandLayout::Rows { splat, mods } => {
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

/// Returns the handler of an operation that has no bodies for rows.
fn of_place<K: KnownOp>(n: u32, place: OperandLayout) -> Handler {
    match place {
        OperandLayout::One => known::<K, One, 1>,
        _ => anywhere::<K>(n),
    }
}

/// Defines the handlers of operations: with bodies for rows and their modifiers, for rows without
/// modifiers, and for neither.
macro_rules! handlers {
    ($(#[$doc:meta])* $name:ident, $family:ty, modified [$($m:ident),*], rows [$($r:ident),*], others [$($o:ident),*]) => {
        $(#[$doc])*
        pub(super) fn $name(op: gantry_isa_gen::Op, n: u32, place: super::OperandLayout) -> Option<super::Handler> {
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

/// Defines an operation's type under the operation's name.
macro_rules! known_op {
    ($op:ident, $family:ty) => {
        struct $op;
        impl super::KnownOp for $op {
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
