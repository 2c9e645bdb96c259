//! Integers, in lanes of 32 or 64 bits.

use super::super::program::MicroOp;
use super::super::thread::Thread;
use super::lanes::Lane;
use super::{OpFamily, OperandAccess, Simd, arity, compared, handlers, picked};
use gantry_isa_gen::Op;
use gantry_isa_gen::sem::int::{self, IntLane};
use std::marker::PhantomData;

handlers!(
   /// Returns the handler of an operation that is modulo 2^32, or signed.
    signed,
    Int<i32>,
    modified [Mov, Add, Mad],
    rows [Add3, Mul, Xor, And, Or, Not, Shl, Asr, Sel, Cmp, Rol, Ror, Bfn, Bfi2],
    others [Csel, Bfi1, Bfrev, Cbit, Lzd, Fbl]
);
handlers!(
   /// Returns the handler of an unsigned operation, or one whose flags test an unsigned result.
    unsigned,
    Int<u32>,
    modified [],
    rows [Shr, Sel, Cmp],
    others [Mov, Add, Add3, Mul, Mad, Xor, And, Or, Not, Shl, Bfi1, Bfi2, Bfrev, Cbit, Lzd, Fbl, Rol, Ror, Bfn]
);

handlers!(
   /// Returns the handler of an operation that has an operand of 64 bits, or compares mixed signs.
    wide,
    Int<i64>,
    modified [],
    rows [],
    others [Mov, Add, Mul, And, Or, Xor, Not, Shl, Asr, Sel, Cmp]
);

handlers!(
   /// Returns the handler of an operation on unsigned 64 bits that signed lanes do not hold.
    unsigned_wide,
    Int<u64>,
    modified [],
    rows [],
    others [Shr, Cmp]
);

/// Operations on lanes of integers.
struct Int<T>(PhantomData<T>);

impl<T: Lane + IntLane> OpFamily for Int<T> {
    #[inline(always)]
    fn run<const N: usize, P: OperandAccess>(
        host: impl Simd,
        t: &mut Thread,
        op: &MicroOp,
        mask: u32,
        which: Op,
    ) {
        let zero = [T::ZERO; N];
        let a = P::load::<T, N>(t, op, 0);
        let b = if arity(which) > 1 {
            P::load::<T, N>(t, op, 1)
        } else {
            zero
        };
        let c = if arity(which) > 2 {
            P::load::<T, N>(t, op, 2)
        } else {
            zero
        };
        let r = match which {
            Op::Cmp => {
                let flags = op.alu.cond.map_or(0, |c| int::compare(host, c, &a, &b));
                return compared::<N, P>(t, op, mask, flags);
            }
            Op::Sel => {
                let pick = match op.alu.cond {
                    Some(c) => int::compare(host, c, &a, &b),
                    None => picked(t, op),
                };
                int::select(pick, &a, &b)
            }
            Op::Csel => {
                let pick = op
                    .alu
                    .cond
                    .map_or(0, |cond| int::compare(host, cond, &c, &zero));
                int::select(pick, &a, &b)
            }
            Op::Bfn => int::boolean(op.alu.table, &a, &b, &c),
            _ => {
                let shift_mask = (size_of::<T>() * 8 - 1) as u32;
                int::apply(which, &a, &b, &c, shift_mask).unwrap_or(a)
            }
        };
        if !P::PLAIN
            && let (Some(bit), Some(cond)) = (op.flag, op.alu.cond)
        {
            // Flags test the result as the destination holds it.
            let mut seen = r;
            if op.alu.dst.bytes() < 4 {
                for v in &mut seen {
                    *v = T::of_element(v.bits(), op.alu.dst);
                }
            }
            let flags = int::compare(host, cond, &seen, &zero);
            t.regs.set_flags(bit, mask, flags);
        }
        P::store(t, op, mask, &r);
    }
}
