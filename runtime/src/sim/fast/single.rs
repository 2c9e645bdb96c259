//! Single floats, in IEEE mode, and conversions from and to them.

use super::super::program::{DstOp, MicroOp, Pred};
use super::super::thread::Thread;
use super::{Family, Handler, Known, Place, Places, Simd, arity, handlers, of_rows};
use gantry_isa_gen::sem::float;
use gantry_isa_gen::sem::{Round, int, truth_of_mask};
use gantry_isa_gen::{Op, Type};
use std::marker::PhantomData;

handlers!(
    /// Operations on single floats.
    handler,
    Single,
    modified [Mov, Add, Mul, Mad, Cmp, Sel],
    rows [],
    others [Csel, Lrp, Frc, Rndd, Rnde, Rndz, Rndu]
);

/// Lanes of single floats.
struct Single;

impl Family for Single {
    #[inline(always)]
    fn run<const N: usize, P: Places>(
        host: impl Simd,
        t: &mut Thread,
        op: &MicroOp,
        mask: u32,
        which: Op,
    ) {
        let a = P::load::<f32, N>(t, op, 0);
        let b = if arity(which) > 1 {
            P::load::<f32, N>(t, op, 1)
        } else {
            [0.0; N]
        };
        let mut r = match which {
            Op::Cmp => {
                let flags = op.alu.cond.map_or(0, |c| float::compare(host, c, &a, &b));
                if let Some(bit) = op.flag {
                    t.regs.set_flags(bit, mask, flags);
                }
                if !matches!(op.dst, DstOp::Null) {
                    P::store(t, op, mask, &truth_of_mask::<N>(flags));
                }
                return;
            }
            Op::Sel => {
                let pick = match op.alu.cond {
                    Some(c) => float::sel_pick(host, c, &a, &b),
                    None if matches!(op.pick, Pred::None) => 0,
                    None => t.predicate(op.pick),
                };
                int::select(pick, &a, &b)
            }
            Op::Csel => {
                let c = P::load::<f32, N>(t, op, 2);
                let pick = op
                    .alu
                    .cond
                    .map_or(0, |cond| float::compare(host, cond, &c, &[0.0; N]));
                int::select(pick, &a, &b)
            }
            Op::Mad if host.fma() => {
                let c = P::load::<f32, N>(t, op, 2);
                let mut out = [0.0; N];
                for i in 0..N {
                    out[i] = f32::mul_add(b[i], c[i], a[i]);
                }
                out
            }
            Op::Mad | Op::Lrp => {
                let c = P::load::<f32, N>(t, op, 2);
                float::apply(which, &a, &b, &c, Round::Nearest).unwrap_or(a)
            }
            _ => float::apply(which, &a, &b, &[0.0; N], Round::Nearest).unwrap_or(a),
        };
        if !P::PLAIN
            && let (Some(bit), Some(cond)) = (op.flag, op.alu.cond)
        {
            let flags = float::compare(host, cond, &r, &[0.0; N]);
            t.regs.set_flags(bit, mask, flags);
        }
        if !P::PLAIN && op.alu.sat {
            for v in &mut r {
                // Also turns a NaN into 0.
                *v = if *v >= 1.0 {
                    1.0
                } else if *v > 0.0 {
                    *v
                } else {
                    0.0
                };
            }
        }
        P::store(t, op, mask, &r);
    }
}

/// Conversions from lanes of one kind to lanes of another.
struct Convert<From, To>(PhantomData<(From, To)>);

macro_rules! convert {
    ($from:ty, $to:ty) => {
        impl Family for Convert<$from, $to> {
            #[inline(always)]
            fn run<const N: usize, P: Places>(
                _: impl Simd,
                t: &mut Thread,
                op: &MicroOp,
                mask: u32,
                _: Op,
            ) {
                let a: [$from; N] = P::load(t, op, 0);
                let mut out = [<$to>::default(); N];
                for i in 0..N {
                    out[i] = a[i] as $to;
                }
                P::store(t, op, mask, &out);
            }
        }
        impl Known for Convert<$from, $to> {
            type Of = Self;
            const OP: Op = Op::Mov;
        }
    };
}
// To nearest.
convert!(i32, f32);
convert!(u32, f32);
// Towards zero, to the nearest that there is, a NaN to 0 (Skylake PRM, Vol. 7, "Float to Integer").
convert!(f32, i32);
convert!(f32, u32);

/// Integers of at most 32 bits to floats.
pub(super) fn from_int(ty: Type, n: u32, place: Place) -> Handler {
    if ty == Type::Ud {
        of_rows::<Convert<u32, f32>, false>(n, place)
    } else {
        of_rows::<Convert<i32, f32>, false>(n, place)
    }
}

/// Floats to dwords.
pub(super) fn to_int(ty: Type, n: u32, place: Place) -> Handler {
    if ty == Type::Ud {
        of_rows::<Convert<f32, u32>, false>(n, place)
    } else {
        of_rows::<Convert<f32, i32>, false>(n, place)
    }
}
