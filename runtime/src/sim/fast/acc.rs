//! Integers through the accumulator: products of two dwords (`mul` to acc0, then `mach` or `macl`),
//! carries and borrows.
//!
//! An accumulator's integers are wider than its register: see
//! [`WideAcc`](super::super::alu::WideAcc).

use super::super::alu::{in_acc, reads_whole_acc};
use super::super::program::{DstOp, MicroOp, SrcOp};
use super::super::regs;
use super::super::thread::Thread;
use super::lanes::Lane;
use super::{OpFamily, OperandAccess, Simd, arity, handlers, picked};
use gantry_isa_gen::sem::{int, truth_of_mask};
use gantry_isa_gen::{Op, SrcMods};

handlers!(
   /// Returns the handler of an operation whose destination is an accumulator.
    to_acc,
    ToAcc,
    modified [],
    rows [],
    others [Mov, Add, Add3, Mul, And, Or, Xor, Not, Shl, Shr, Asr, Sel, Rol, Ror, Bfn]
);
handlers!(
   /// Returns the handler of an operation that reads or writes acc0 implicitly.
    implicit,
    Implicit,
    modified [],
    rows [],
    others [Mach, Macl, Addc, Subb]
);

/// Accesses elements of an accumulator: the register's contents, and the whole integers, one for
/// every `$words` words.
macro_rules! elements {
    ($read:ident, $write:ident, $t:ty, $signed:ty, $bytes:literal, $words:literal) => {
        /// Returns the whole integers from a byte of the GRF file on: see
        /// [`acc_value`](super::super::alu::acc_value).
        #[inline(always)]
        fn $read<const N: usize>(t: &Thread, at: u32, signed: bool) -> [i64; N] {
            let mut out = [0; N];
            let word = at.saturating_sub(regs::ACC) / 2;
            let wide = t.acc_wide.get(word as usize..).unwrap_or_default();
            let wide: Option<&[[i64; $words]; N]> = wide.as_chunks().0.first_chunk();
            if let (Some(row), Some(wide)) = (t.regs.elements::<$bytes, N>(at), wide) {
                for i in 0..N {
                    let bits = <$t>::from_le_bytes(row[i]);
                    let own = if signed {
                        i64::from(bits as $signed)
                    } else {
                        i64::from(bits)
                    };
                    let v = wide[i][0];
                    out[i] = if v as $t == bits { v } else { own };
                }
            }
            out
        }

        /// Writes the channels of a mask from a byte of the GRF file on.
        #[inline(always)]
        fn $write<const N: usize>(t: &mut Thread, at: u32, mask: u32, v: &[i64; N]) {
            let on = truth_of_mask::<N>(mask);
            let word = at.saturating_sub(regs::ACC) / 2;
            let wide = t.acc_wide.get_mut(word as usize..).unwrap_or_default();
            let wide: Option<&mut [[i64; $words]; N]> = wide.as_chunks_mut().0.first_chunk_mut();
            let row = t.regs.elements_mut::<$bytes, N>(at);
            if let (Some(row), Some(wide)) = (row, wide) {
                for i in 0..N {
                    wide[i][0] = if on[i] != 0 { v[i] } else { wide[i][0] };
                }
                for i in 0..N {
                    let old = <$t>::from_le_bytes(row[i]);
                    row[i] = (if on[i] != 0 { v[i] as $t } else { old }).to_le_bytes();
                }
            }
        }
    };
}
elements!(read_dwords, write_dwords, u32, i32, 4, 2);
elements!(read_words, write_words, u16, i16, 2, 1);

/// Loads a source's lanes. Those of an accumulator are the whole integers.
#[inline(always)]
fn load<const N: usize, P: OperandAccess>(t: &Thread, op: &MicroOp, k: usize) -> [i64; N] {
    if reads_whole_acc(op.alu.op)
        && let (Some(SrcOp::Packed { at }), Some(Some(ty))) = (op.srcs.get(k), op.alu.srcs.get(k))
        && in_acc(*at)
    {
        let mut v = match ty.bytes() {
            4 => read_dwords(t, *at, ty.is_signed()),
            _ => read_words(t, *at, ty.is_signed()),
        };
        let mods = op.alu.mods.get(k).copied().unwrap_or_default();
        if mods != SrcMods::default() {
            for v in &mut v {
                *v = v.modified(mods, false);
            }
        }
        return v;
    }
    P::load(t, op, k)
}

struct ToAcc;

impl OpFamily for ToAcc {
    #[inline(always)]
    fn run<const N: usize, P: OperandAccess>(
        _: impl Simd,
        t: &mut Thread,
        op: &MicroOp,
        mask: u32,
        which: Op,
    ) {
        let a = load::<N, P>(t, op, 0);
        let b = if arity(which) > 1 {
            load::<N, P>(t, op, 1)
        } else {
            [0; N]
        };
        let c = if arity(which) > 2 {
            load::<N, P>(t, op, 2)
        } else {
            [0; N]
        };
        let r = match which {
            Op::Sel => int::select(picked(t, op), &a, &b),
            Op::Bfn => int::boolean(op.alu.table, &a, &b, &c),
            Op::Rol | Op::Ror => {
                let dwords = [&a, &b].map(|v| v.map(|v| v as u32));
                let [a, b] = &dwords;
                int::apply(which, a, b, a, 31).unwrap_or(*a).map(i64::from)
            }
            _ => int::apply(which, &a, &b, &c, 31).unwrap_or(a),
        };
        if let DstOp::Direct { at, .. } = op.dst {
            match op.alu.dst.bytes() {
                4 => write_dwords(t, at, mask, &r),
                _ => write_words(t, at, mask, &r),
            }
        }
    }
}

struct Implicit;

impl OpFamily for Implicit {
    #[inline(always)]
    fn run<const N: usize, P: OperandAccess>(
        _: impl Simd,
        t: &mut Thread,
        op: &MicroOp,
        mask: u32,
        which: Op,
    ) {
        let a = P::load::<i64, N>(t, op, 0);
        let b = P::load::<i64, N>(t, op, 1);
        let acc = if matches!(which, Op::Mach | Op::Macl) {
            read_dwords(t, regs::ACC, op.alu.dst.is_signed())
        } else {
            [0; N]
        };
        let (r, acc) = int::through_acc(which, &a, &b, &acc);
        P::store(t, op, mask, &r.map(|v| v as u32));
        if which != Op::Macl {
            write_dwords(t, regs::ACC, mask, &acc);
        }
    }
}
