//! Single and double floats in IEEE mode, and conversions from and to them.

use super::super::program::MicroOp;
use super::super::thread::Thread;
use super::lanes::Lane;
use super::{
    Handler, KnownOp, OpFamily, OperandAccess, OperandLayout, Simd, arity, compared, handlers,
    of_place, of_rows, picked,
};
use gantry_isa_gen::sem::float::{self, FloatLane};
use gantry_isa_gen::sem::{Round, int};
use gantry_isa_gen::{MathFn, Op, Type};
use std::marker::PhantomData;

handlers!(
   /// Returns the handler of an operation on single floats.
    single,
    Float<f32>,
    modified [Mov, Add, Mul, Mad, Cmp, Sel],
    rows [],
    others [Csel, Lrp, Frc, Rndd, Rnde, Rndz, Rndu, Math]
);
handlers!(
   /// Returns the handler of an operation on double floats.
    double,
    Float<f64>,
    modified [],
    rows [],
    others [Mov, Add, Mul, Mad, Cmp, Sel]
);

/// Returns true if a math function has an implementation on lanes.
pub(super) fn has_math(f: MathFn) -> bool {
    float::math::<f32, 1>(f, &[1.0], &[1.0], Round::Nearest).is_ok()
}

/// Float type of the host.
trait HostFloat: Lane + FloatLane {
    /// Returns `self * b + c`, rounded once.
    fn mul_add(self, b: Self, c: Self) -> Self;
}

impl HostFloat for f32 {
    #[inline(always)]
    fn mul_add(self, b: f32, c: f32) -> f32 {
        f32::mul_add(self, b, c)
    }
}

impl HostFloat for f64 {
    #[inline(always)]
    fn mul_add(self, b: f64, c: f64) -> f64 {
        f64::mul_add(self, b, c)
    }
}

/// Operations on lanes of floats.
struct Float<T>(PhantomData<T>);

impl<T: HostFloat> OpFamily for Float<T> {
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
        let mut r = match which {
            Op::Cmp => {
                let flags = op.alu.cond.map_or(0, |c| float::compare(host, c, &a, &b));
                return compared::<N, P>(t, op, mask, flags);
            }
            Op::Sel => {
                let pick = match op.alu.cond {
                    Some(c) => float::sel_pick(host, c, &a, &b),
                    None => picked(t, op),
                };
                int::select(pick, &a, &b)
            }
            Op::Csel => {
                let c = P::load::<T, N>(t, op, 2);
                let pick = op
                    .alu
                    .cond
                    .map_or(0, |cond| float::compare(host, cond, &c, &zero));
                int::select(pick, &a, &b)
            }
            Op::Math => {
                let f = op.alu.math.unwrap_or(MathFn::Inv);
                float::math(f, &a, &b, Round::Nearest).unwrap_or(a)
            }
            Op::Mad if host.fma() => {
                let c = P::load::<T, N>(t, op, 2);
                let mut out = zero;
                for i in 0..N {
                    out[i] = b[i].mul_add(c[i], a[i]);
                }
                out
            }
            Op::Mad | Op::Lrp => {
                let c = P::load::<T, N>(t, op, 2);
                float::apply(which, &a, &b, &c, Round::Nearest).unwrap_or(a)
            }
            _ => float::apply(which, &a, &b, &zero, Round::Nearest).unwrap_or(a),
        };
        if !P::PLAIN
            && let (Some(bit), Some(cond)) = (op.flag, op.alu.cond)
        {
            let flags = float::compare(host, cond, &r, &zero);
            t.regs.set_flags(bit, mask, flags);
        }
        if !P::PLAIN && op.alu.sat {
            let one = T::of(1.0);
            for v in &mut r {
                // This also turns a NaN into 0.
                *v = if *v >= one {
                    one
                } else if *v > T::ZERO {
                    *v
                } else {
                    T::ZERO
                };
            }
        }
        P::store(t, op, mask, &r);
    }
}

/// Conversions from lanes of one type to lanes of another.
struct Convert<From, To>(PhantomData<(From, To)>);

macro_rules! convert {
    ($from:ty, $to:ty) => {
        impl OpFamily for Convert<$from, $to> {
            #[inline(always)]
            fn run<const N: usize, P: OperandAccess>(
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
        impl KnownOp for Convert<$from, $to> {
            type Of = Self;
            const OP: Op = Op::Mov;
        }
    };
}
// Rounded to nearest.
convert!(i32, f32);
convert!(u32, f32);
// Rounded towards zero and clamped, with a NaN as 0 (Skylake PRM, Vol. 7, "Float to Integer").
convert!(f32, i32);
convert!(f32, u32);
convert!(f64, i32);
convert!(f64, u32);
convert!(i32, f64);
convert!(u32, f64);
convert!(f32, f64);
convert!(f64, f32);

/// Returns the handler of a conversion between floats, or between floats and integers of at most 32
/// bits.
pub(super) fn conversion(from: Type, to: Type, n: u32, place: OperandLayout) -> Option<Handler> {
    let small = |t: Type| t.is_int() && t.bytes() <= 4;
    let double = place.without_rows();
    Some(match (from, to) {
        (Type::Ud, Type::F) => of_rows::<Convert<u32, f32>, false>(n, place),
        (t, Type::F) if small(t) => of_rows::<Convert<i32, f32>, false>(n, place),
        (Type::F, Type::Ud) => of_rows::<Convert<f32, u32>, false>(n, place),
        (Type::F, Type::D) => of_rows::<Convert<f32, i32>, false>(n, place),
        (Type::Ud, Type::Df) => of_place::<Convert<u32, f64>>(n, double),
        (t, Type::Df) if small(t) => of_place::<Convert<i32, f64>>(n, double),
        (Type::Df, Type::Ud) => of_place::<Convert<f64, u32>>(n, double),
        (Type::Df, Type::D) => of_place::<Convert<f64, i32>>(n, double),
        (Type::F, Type::Df) => of_place::<Convert<f32, f64>>(n, double),
        (Type::Df, Type::F) => of_place::<Convert<f64, f32>>(n, double),
        _ => return None,
    })
}
