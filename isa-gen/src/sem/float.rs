//! Float operations.

use super::convert::{float_value, flush_df, flush_f, write_float};
use super::int::select;
use super::{AluOp, Bits, Extra, FpMode, LANES, Outcome, Round, Undefined, math};
use crate::inst::{Cond, SrcMods};
use crate::op::Op;
use crate::types::Type;

/// A float that lanes are computed in.
pub trait FloatLane: Copy + PartialOrd + Default + Sized {
    /// Zero.
    const ZERO: Self;
    /// From a double; exact for values that the lane holds.
    fn of(v: f64) -> Self;
    /// As a double, exactly.
    fn value(self) -> f64;
    /// Sum.
    fn add(self, o: Self, r: Round) -> Self;
    /// Product.
    fn mul(self, o: Self, r: Round) -> Self;
    /// `self * b + c`, rounded once.
    fn fma(self, b: Self, c: Self, r: Round) -> Self;
    /// [`Self::fma`] on lanes.
    #[inline(always)]
    fn fma_lanes<const N: usize>(
        a: &[Self; N],
        b: &[Self; N],
        c: &[Self; N],
        r: Round,
    ) -> [Self; N] {
        let mut out = [Self::ZERO; N];
        for i in 0..N {
            out[i] = a[i].fma(b[i], c[i], r);
        }
        out
    }
    /// Negation.
    fn neg(self) -> Self;
    /// Absolute value.
    fn abs(self) -> Self;
    /// Whether a NaN.
    fn is_nan(self) -> bool;
    /// Zero in place of a denormal that is not kept.
    fn flush(self, mode: &FpMode) -> Self;
    /// Towards plus infinity, to an integer.
    fn ceil(self) -> Self;
    /// Towards minus infinity, to an integer.
    fn floor(self) -> Self;
    /// To the nearest integer, ties to even.
    fn round_even(self) -> Self;
    /// Towards zero, to an integer.
    fn trunc(self) -> Self;
}

/// The sum of two doubles and the sign-exact error of its rounding (Knuth's TwoSum).
#[inline(always)]
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    let bb = s - a;
    (s, (a - (s - bb)) + (b - bb))
}

/// `p + c` rounded to odd: any later rounding to a format with two bits fewer is then the rounding of the exact sum
/// (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums").
#[inline(always)]
fn add_odd(p: f64, c: f64) -> f64 {
    let (s, e) = two_sum(p, c);
    let bits = s.to_bits();
    // Inexact, finite, and even: step towards the error.
    let inexact = e != 0.0 && !e.is_nan() && s.is_finite();
    let up = (e > 0.0) == (s > 0.0);
    let stepped = if up {
        bits.wrapping_add(1)
    } else {
        bits.wrapping_sub(1)
    };
    if inexact && bits & 1 == 0 {
        f64::from_bits(stepped)
    } else {
        s
    }
}

impl FloatLane for f32 {
    const ZERO: f32 = 0.0;
    #[inline(always)]
    fn of(v: f64) -> f32 {
        v as f32
    }
    #[inline(always)]
    fn value(self) -> f64 {
        f64::from(self)
    }
    #[inline(always)]
    fn add(self, o: f32, r: Round) -> f32 {
        if r == Round::Nearest {
            self + o
        } else {
            super::convert::to_single(add_odd(f64::from(self), f64::from(o)), r)
        }
    }
    #[inline(always)]
    fn mul(self, o: f32, r: Round) -> f32 {
        if r == Round::Nearest {
            self * o
        } else {
            super::convert::to_single(f64::from(self) * f64::from(o), r)
        }
    }
    #[inline(always)]
    fn fma(self, b: f32, c: f32, r: Round) -> f32 {
        // The product of two singles is exact in double.
        let s = add_odd(f64::from(self) * f64::from(b), f64::from(c));
        if r == Round::Nearest {
            s as f32
        } else {
            super::convert::to_single(s, r)
        }
    }
    #[inline(always)]
    fn fma_lanes<const N: usize>(a: &[f32; N], b: &[f32; N], c: &[f32; N], r: Round) -> [f32; N] {
        // The sum in double decides the single unless it lies exactly between two, or is tiny. That is rare, and one
        // check for all lanes is cheap.
        let mut sums = [0f64; N];
        let mut doubtful = r != Round::Nearest;
        for i in 0..N {
            let s = f64::from(a[i]) * f64::from(b[i]) + f64::from(c[i]);
            sums[i] = s;
            let between = s.to_bits() & 0x1fff_ffff == 0x1000_0000;
            let tiny = s.abs() < f64::from(f32::MIN_POSITIVE) * 2.0 && s != 0.0;
            doubtful |= between | tiny;
        }
        let mut out = [0f32; N];
        if doubtful {
            for i in 0..N {
                out[i] = a[i].fma(b[i], c[i], r);
            }
        } else {
            for i in 0..N {
                out[i] = sums[i] as f32;
            }
        }
        out
    }
    #[inline(always)]
    fn neg(self) -> f32 {
        -self
    }
    #[inline(always)]
    fn abs(self) -> f32 {
        f32::abs(self)
    }
    #[inline(always)]
    fn is_nan(self) -> bool {
        f32::is_nan(self)
    }
    #[inline(always)]
    fn flush(self, mode: &FpMode) -> f32 {
        flush_f(self, mode.keep_f)
    }
    fn ceil(self) -> f32 {
        f32::ceil(self)
    }
    fn floor(self) -> f32 {
        f32::floor(self)
    }
    fn round_even(self) -> f32 {
        f32::round_ties_even(self)
    }
    fn trunc(self) -> f32 {
        f32::trunc(self)
    }
}

impl FloatLane for f64 {
    const ZERO: f64 = 0.0;
    fn of(v: f64) -> f64 {
        v
    }
    fn value(self) -> f64 {
        self
    }
    fn add(self, o: f64, r: Round) -> f64 {
        let (s, e) = two_sum(self, o);
        super::convert::directed_df(s, e, r)
    }
    fn mul(self, o: f64, r: Round) -> f64 {
        let p = self * o;
        if r == Round::Nearest {
            return p;
        }
        super::convert::directed_df(p, f64::mul_add(self, o, -p), r)
    }
    fn fma(self, b: f64, c: f64, r: Round) -> f64 {
        let v = f64::mul_add(self, b, c);
        if r == Round::Nearest {
            return v;
        }
        // Exact minus rounded, up to its sign: the product in two parts, then the sum's remainder.
        let p = self * b;
        let pe = f64::mul_add(self, b, -p);
        let (s, se) = two_sum(p, c);
        let err = (s - v) + (se + pe);
        super::convert::directed_df(v, err, r)
    }
    fn neg(self) -> f64 {
        -self
    }
    fn abs(self) -> f64 {
        f64::abs(self)
    }
    fn is_nan(self) -> bool {
        f64::is_nan(self)
    }
    fn flush(self, mode: &FpMode) -> f64 {
        flush_df(self, mode.keep_df)
    }
    fn ceil(self) -> f64 {
        f64::ceil(self)
    }
    fn floor(self) -> f64 {
        f64::floor(self)
    }
    fn round_even(self) -> f64 {
        f64::round_ties_even(self)
    }
    fn trunc(self) -> f64 {
        f64::trunc(self)
    }
}

/// Absolute value, then negation.
#[inline(always)]
pub fn float_mods<T: FloatLane>(v: T, mods: SrcMods) -> T {
    let v = if mods.abs { v.abs() } else { v };
    if mods.neg { v.neg() } else { v }
}

/// A lane-wise operation; `None` for those that are not (comparisons, selections, `math`).
#[inline(always)]
pub fn apply<T: FloatLane, const N: usize>(
    op: Op,
    a: &[T; N],
    b: &[T; N],
    c: &[T; N],
    r: Round,
) -> Option<[T; N]> {
    let mut out = [T::ZERO; N];
    match op {
        Op::Mov => out = *a,
        Op::Add => {
            for i in 0..N {
                out[i] = a[i].add(b[i], r);
            }
        }
        Op::Mul => {
            for i in 0..N {
                out[i] = a[i].mul(b[i], r);
            }
        }
        Op::Mad => out = T::fma_lanes(b, c, a, r),
        Op::Lrp => {
            // src0 * src1 + (1 - src0) * src2
            for i in 0..N {
                let rest = T::of(1.0).add(a[i].neg(), r).mul(c[i], r);
                out[i] = a[i].fma(b[i], rest, r);
            }
        }
        Op::Frc => {
            for i in 0..N {
                let f = a[i].add(a[i].floor().neg(), Round::Nearest);
                // Just below an integer the difference rounds up to 1, which no fraction is.
                out[i] = if f.value() >= 1.0 {
                    let below = T::of(1.0 - f64::EPSILON / 2.0);
                    if below.value() < 1.0 {
                        below
                    } else {
                        T::of(1.0 - f64::from(f32::EPSILON) / 2.0)
                    }
                } else {
                    f
                };
            }
        }
        Op::Rndu => {
            for i in 0..N {
                out[i] = a[i].ceil();
            }
        }
        Op::Rndd => {
            for i in 0..N {
                out[i] = a[i].floor();
            }
        }
        Op::Rnde => {
            for i in 0..N {
                out[i] = a[i].round_even();
            }
        }
        Op::Rndz => {
            for i in 0..N {
                out[i] = a[i].trunc();
            }
        }
        _ => return None,
    }
    Some(out)
}

/// A condition between two lanes, as a channel mask. With a NaN only `ne` and `un` are true.
#[inline(always)]
pub fn compare<T: FloatLane, const N: usize>(cond: Cond, a: &[T; N], b: &[T; N]) -> u32 {
    #[inline(always)]
    fn gather<T: FloatLane, const N: usize>(
        a: &[T; N],
        b: &[T; N],
        f: impl Fn(T, T) -> bool,
    ) -> u32 {
        let mut m = 0;
        for i in 0..N {
            m |= u32::from(f(a[i], b[i])) << i;
        }
        m
    }
    match cond {
        Cond::Eq => gather(a, b, |x, y| x == y),
        Cond::Ne => gather(a, b, |x, y| x != y),
        Cond::Gt => gather(a, b, |x, y| x > y),
        Cond::Ge => gather(a, b, |x, y| x >= y),
        Cond::Lt => gather(a, b, |x, y| x < y),
        Cond::Le => gather(a, b, |x, y| x <= y),
        Cond::Un => gather(a, b, |x, y| x.is_nan() || y.is_nan()),
        Cond::Ov | Cond::Eo => 0,
    }
}

/// The channels of `sel` with a condition that take source 0: of a number and a NaN the number is taken
/// (Skylake PRM, Vol. 7, "sel - Select", IEEE minimum and maximum).
#[inline(always)]
pub fn sel_pick<T: FloatLane, const N: usize>(cond: Cond, a: &[T; N], b: &[T; N]) -> u32 {
    let mut pick = compare(cond, a, b);
    if matches!(cond, Cond::Ge | Cond::Gt | Cond::Lt | Cond::Le) {
        for i in 0..N {
            pick |= u32::from(b[i].is_nan() && !a[i].is_nan()) << i;
        }
    }
    pick
}

/// Any float operation.
pub(super) fn eval<T: FloatLane>(
    alu: &AluOp,
    n: usize,
    srcs: [&Bits; 3],
    extra: &Extra,
) -> Result<Outcome, Undefined> {
    let mode = &extra.mode;
    let ty = |i: usize| alu.srcs.get(i).copied().flatten();
    // A plain move or selection between equal types keeps the bits of denormals and NaNs.
    let raw = matches!(alu.op, Op::Mov | Op::Sel | Op::Csel)
        && alu.srcs.iter().flatten().all(|t| *t == alu.dst);
    let read_mode = if raw { &FpMode::IEEE } else { mode };
    let lane = |i: usize| {
        let mut out = [T::ZERO; LANES];
        if let (Some(t), Some(b), Some(m)) = (ty(i), srcs.get(i), alu.mods.get(i)) {
            for (o, v) in out.iter_mut().zip(b.iter()).take(n) {
                *o = float_mods(T::of(float_value(*v, t, read_mode)), *m);
            }
        }
        out
    };
    let (a, b, c) = (lane(0), lane(1), lane(2));
    let mut flags = None;
    let mut bits = None;
    let r: [T; LANES] = match alu.op {
        Op::Cmp | Op::Cmpn => {
            let f = alu.cond.map_or(0, |cond| {
                if alu.op == Op::Cmpn {
                    sel_pick(cond, &a, &b)
                } else {
                    compare(cond, &a, &b)
                }
            });
            flags = Some(f);
            let ones = super::convert::element_mask(alu.dst);
            let mut out = [0; LANES];
            for (i, o) in out.iter_mut().enumerate() {
                *o = if f >> i & 1 == 1 { ones } else { 0 };
            }
            bits = Some(out);
            a
        }
        Op::Sel => {
            let pick = match alu.cond {
                Some(cond) => sel_pick(cond, &a, &b),
                None => extra.pick,
            };
            flags = Some(0);
            select(pick, &a, &b)
        }
        Op::Csel => {
            let pick = alu
                .cond
                .map_or(0, |cond| compare(cond, &c, &[T::ZERO; LANES]));
            flags = Some(0);
            select(pick, &a, &b)
        }
        Op::Math => {
            let f = alu
                .math
                .ok_or_else(|| Undefined("math without a function".to_owned()))?;
            let mut out = [T::ZERO; LANES];
            for i in 0..n {
                out[i] = T::of(math::eval(f, a[i].value(), b[i].value())?);
            }
            out
        }
        _ => apply(alu.op, &a, &b, &c, mode.round)
            .ok_or_else(|| Undefined(format!("{:?} is not a float operation", alu.op)))?,
    };
    let flags = match (flags, alu.cond) {
        (Some(f), _) => f,
        (None, None) => 0,
        (None, Some(Cond::Ov)) => {
            let mut m = 0;
            for (i, v) in r.iter().enumerate() {
                let infinite = v.value().is_infinite();
                let from_infinite = [&a, &b, &c].iter().any(|s| s[i].value().is_infinite());
                m |= u32::from(infinite && !from_infinite) << i;
            }
            m
        }
        (None, Some(Cond::Un)) => compare(Cond::Un, &r, &r),
        (None, Some(cond)) => compare(cond, &r, &[T::ZERO; LANES]),
    };
    let mut out = Outcome {
        bits: bits.unwrap_or([0; LANES]),
        flags,
        wide: [0; LANES],
        acc: None,
    };
    if bits.is_none() {
        // A move or a selection between equal types keeps NaN payloads, which conversions would quiet.
        let same = raw && !alu.sat;
        for (i, v) in r.iter().take(n).enumerate() {
            out.bits[i] = if same && v.is_nan() {
                nan_bits(alu, &srcs, i, extra.pick, v.value())
            } else {
                write_float(v.value(), alu.dst, alu.sat, read_mode)
            };
        }
    }
    Ok(out)
}

/// A NaN's own bits, with the modifiers of the source that it came from.
fn nan_bits(alu: &AluOp, srcs: &[&Bits; 3], i: usize, pick: u32, value: f64) -> u64 {
    let from = if alu.op == Op::Mov || alu.cond.is_none() && pick >> i & 1 == 1 {
        0
    } else {
        1
    };
    let (Some(b), Some(m)) = (srcs.get(from), alu.mods.get(from)) else {
        return write_float(value, alu.dst, false, &FpMode::IEEE);
    };
    let sign = 1u64 << (alu.dst.bytes() * 8 - 1);
    let mut v = b[i];
    if m.abs {
        v &= !sign;
    }
    if m.neg {
        v ^= sign;
    }
    // Sources of a min or max may both be a NaN: then source 1 was taken; anything else is a quiet NaN.
    if float_value(v, alu.dst, &FpMode::IEEE).is_nan() {
        v
    } else {
        write_float(value, alu.dst, false, &FpMode::IEEE)
    }
}

/// Whether a type's lanes fit single precision exactly.
pub const fn is_single(ty: Type) -> bool {
    matches!(ty, Type::F | Type::Vf | Type::Hf)
}
