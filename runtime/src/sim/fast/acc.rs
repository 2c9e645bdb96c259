//! Integers through the accumulator: products of two dwords (`mul` to acc0, then `mach` or `macl`), carries and borrows.
//!
//! An accumulator's integers are wider than its register: see [`WideAcc`](super::super::alu::WideAcc).

use super::super::alu::{acc_value, set_acc};
use super::super::program::{DstOp, MicroOp};
use super::super::regs;
use super::super::thread::Thread;
use super::lanes::{load, store};
use super::{Family, arity, handlers};
use gantry_isa_gen::sem::int;
use gantry_isa_gen::{Op, Type};

handlers!(
    /// Operations whose destination is an accumulator.
    to_acc,
    ToAcc,
    [Mov, Add, Mul]
);
handlers!(
    /// Operations that read or write acc0 without naming it.
    implicit,
    Implicit,
    [Mach, Macl, Addc, Subb]
);

/// Bytes of an accumulator's element here: a dword.
const ELEMENT: u32 = 4;

/// Writes the channels of a mask to an accumulator that begins at `at`.
#[inline(always)]
fn write<const N: usize>(t: &mut Thread, at: u32, mask: u32, v: &[i64; N]) {
    for (i, v) in (0u32..).zip(v) {
        if mask >> i & 1 == 1 {
            set_acc(t, at + i * ELEMENT, Type::D, *v);
        }
    }
}

struct ToAcc;

impl Family for ToAcc {
    #[inline(always)]
    fn run<const N: usize, const FMA: bool>(t: &mut Thread, op: &MicroOp, mask: u32, which: Op) {
        let a = load::<i64, N>(t, op, 0);
        let b = if arity(which) > 1 {
            load::<i64, N>(t, op, 1)
        } else {
            [0; N]
        };
        let r = int::apply(which, &a, &b, &[0; N], 63).unwrap_or(a);
        if let DstOp::Direct { at, .. } = op.dst {
            write(t, at, mask, &r);
        }
    }
}

struct Implicit;

impl Family for Implicit {
    #[inline(always)]
    fn run<const N: usize, const FMA: bool>(t: &mut Thread, op: &MicroOp, mask: u32, which: Op) {
        let a = load::<i64, N>(t, op, 0);
        let b = load::<i64, N>(t, op, 1);
        let ty = op.alu.acc_type();
        let mut acc = [0; N];
        if matches!(which, Op::Mach | Op::Macl) {
            for (i, v) in (0u32..).zip(acc.iter_mut()) {
                *v = acc_value(t, regs::ACC + i * ELEMENT, ty);
            }
        }
        let (r, acc) = int::through_acc(which, &a, &b, &acc);
        store(t, op, mask, &r.map(|v| v as u32));
        if which != Op::Macl {
            write(t, regs::ACC, mask, &acc);
        }
    }
}
