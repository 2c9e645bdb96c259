//! Integers through the accumulator: products of two dwords (`mul` to acc0, then `mach` or `macl`), carries and borrows.
//!
//! An accumulator's integers are wider than its register: see [`WideAcc`](super::super::alu::WideAcc).

use super::super::program::{DstOp, MicroOp};
use super::super::regs;
use super::super::thread::Thread;
use super::{Family, Places, Simd, arity, handlers};
use gantry_isa_gen::Op;
use gantry_isa_gen::sem::{int, truth_of_mask};

handlers!(
    /// Operations whose destination is an accumulator.
    to_acc,
    ToAcc,
    modified [],
    rows [],
    others [Mov, Add, Mul]
);
handlers!(
    /// Operations that read or write acc0 without naming it.
    implicit,
    Implicit,
    modified [],
    rows [],
    others [Mach, Macl, Addc, Subb]
);

/// The wide elements of an accumulator from a byte of the register file on: one every second word.
#[inline(always)]
fn wide<const N: usize>(t: &mut Thread, at: u32) -> Option<&mut [[i64; 2]; N]> {
    let word = at.checked_sub(regs::ACC)? / 2;
    t.acc_wide
        .get_mut(word as usize..)?
        .as_chunks_mut()
        .0
        .first_chunk_mut()
}

/// Writes the channels of a mask to an accumulator that begins at `at`.
#[inline(always)]
fn write<const N: usize>(t: &mut Thread, at: u32, mask: u32, v: &[i64; N]) {
    let on = truth_of_mask::<N>(mask);
    if let Some(wide) = wide::<N>(t, at) {
        for i in 0..N {
            wide[i][0] = if on[i] != 0 { v[i] } else { wide[i][0] };
        }
    }
    if let Some(row) = t.regs.elements_mut::<4, N>(at) {
        for i in 0..N {
            let old = u32::from_le_bytes(row[i]);
            row[i] = (if on[i] != 0 { v[i] as u32 } else { old }).to_le_bytes();
        }
    }
}

/// The whole integers of acc0: see [`acc_value`](super::super::alu::acc_value).
#[inline(always)]
fn read<const N: usize>(t: &mut Thread, signed: bool) -> [i64; N] {
    let mut out = [0; N];
    let Some(row) = t.regs.elements::<4, N>(regs::ACC).copied() else {
        return out;
    };
    let Some(wide) = wide::<N>(t, regs::ACC) else {
        return out;
    };
    for i in 0..N {
        let bits = u32::from_le_bytes(row[i]);
        let own = if signed {
            i64::from(bits as i32)
        } else {
            i64::from(bits)
        };
        let v = wide[i][0];
        out[i] = if v as u32 == bits { v } else { own };
    }
    out
}

struct ToAcc;

impl Family for ToAcc {
    #[inline(always)]
    fn run<const N: usize, P: Places>(
        _: impl Simd,
        t: &mut Thread,
        op: &MicroOp,
        mask: u32,
        which: Op,
    ) {
        let a = P::load::<i64, N>(t, op, 0);
        let b = if arity(which) > 1 {
            P::load::<i64, N>(t, op, 1)
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
    fn run<const N: usize, P: Places>(
        _: impl Simd,
        t: &mut Thread,
        op: &MicroOp,
        mask: u32,
        which: Op,
    ) {
        let a = P::load::<i64, N>(t, op, 0);
        let b = P::load::<i64, N>(t, op, 1);
        let acc = if matches!(which, Op::Mach | Op::Macl) {
            read(t, op.alu.dst.is_signed())
        } else {
            [0; N]
        };
        let (r, acc) = int::through_acc(which, &a, &b, &acc);
        P::store(t, op, mask, &r.map(|v| v as u32));
        if which != Op::Macl {
            write(t, regs::ACC, mask, &acc);
        }
    }
}
