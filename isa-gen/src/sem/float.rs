//! Float operations.

use super::convert::{float_value, flush_df, flush_f, stochastic, write_float};
use super::int::select;
use super::{
    AluOp, Bits, Extra, FpMode, LANES, Outcome, Pack, Plain, Round, Undefined, dots, exact, mask,
    math, truth_of,
};
use crate::inst::{Cond, SrcMods};
use crate::op::{MathFn, Op};
use crate::types::Type;

/// Float type that lanes are computed in.
pub trait FloatLane: Copy + PartialOrd + Default + Sized {
    /// Zero.
    const ZERO: Self;
    /// Converts from a double, exact for values that the lane can hold.
    fn of(v: f64) -> Self;
    /// Converts from a double with rounding.
    fn rounded(v: f64, r: Round) -> Self;
    /// Converts to a double, exactly.
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
    /// Returns true if the value is a NaN.
    fn is_nan(self) -> bool;
    /// Flushes a denormal to zero, unless denormals are kept.
    fn flush(self, mode: &FpMode) -> Self;
    /// Rounds to an integer towards plus infinity.
    fn ceil(self) -> Self;
    /// Rounds to an integer towards minus infinity.
    fn floor(self) -> Self;
    /// Rounds to the nearest integer, ties to even.
    fn round_even(self) -> Self;
    /// Rounds to an integer towards zero.
    fn trunc(self) -> Self;
}

/// Returns the sum of two doubles and its rounding error, whose sign is exact (Knuth's TwoSum).
#[inline(always)]
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    let bb = s - a;
    (s, (a - (s - bb)) + (b - bb))
}

/// Computes `p + c`, rounded to odd. A second rounding, to a format with two bits fewer, then gives
/// the rounding of the exact sum. See Boldo and Melquiond, "Emulation of FMA and correctly rounded
/// sums".
#[inline(always)]
pub(super) fn add_odd(p: f64, c: f64) -> f64 {
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

/// Computes [`add_odd`] with the correct sign of zero: a sum of two different numbers that is zero
/// is negative when rounding down.
#[inline(always)]
fn add_odd_signed(p: f64, c: f64, r: Round) -> f64 {
    let s = add_odd(p, c);
    if r == Round::Down && s == 0.0 && p.is_sign_negative() != c.is_sign_negative() {
        -0.0
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
    fn rounded(v: f64, r: Round) -> f32 {
        match r {
            Round::Nearest => v as f32,
            r => super::convert::to_single(v, r),
        }
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
            super::convert::to_single(add_odd_signed(f64::from(self), f64::from(o), r), r)
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
        // The product of two single-precision floats is exact in double precision.
        let s = add_odd_signed(f64::from(self) * f64::from(b), f64::from(c), r);
        if r == Round::Nearest {
            s as f32
        } else {
            super::convert::to_single(s, r)
        }
    }
    #[inline(always)]
    fn fma_lanes<const N: usize>(a: &[f32; N], b: &[f32; N], c: &[f32; N], r: Round) -> [f32; N] {
        // The sum in double precision determines the single-precision result unless it is a tie, or
        // tiny. That is rare, and one check for all lanes is cheap.
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
    fn rounded(v: f64, _: Round) -> f64 {
        v
    }
    fn value(self) -> f64 {
        self
    }
    fn add(self, o: f64, r: Round) -> f64 {
        exact::add(self, o, r)
    }
    fn mul(self, o: f64, r: Round) -> f64 {
        exact::mul(self, o, r)
    }
    fn fma(self, b: f64, c: f64, r: Round) -> f64 {
        exact::fma(self, b, c, r)
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

/// Half-precision float. A result is kept as a double, rounded to odd such that rounding it to half
/// precision is the rounding of the exact result.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug, Default)]
pub(super) struct Half(pub(super) f64);

impl FloatLane for Half {
    const ZERO: Half = Half(0.0);
    fn of(v: f64) -> Half {
        Half(v)
    }
    fn rounded(v: f64, _: Round) -> Half {
        Half(v)
    }
    fn value(self) -> f64 {
        self.0
    }
    fn add(self, o: Half, r: Round) -> Half {
        Half(add_odd_signed(self.0, o.0, r))
    }
    fn mul(self, o: Half, _: Round) -> Half {
        Half(self.0 * o.0)
    }
    fn fma(self, b: Half, c: Half, r: Round) -> Half {
        Half(add_odd_signed(self.0 * b.0, c.0, r))
    }
    fn neg(self) -> Half {
        Half(-self.0)
    }
    fn abs(self) -> Half {
        Half(self.0.abs())
    }
    fn is_nan(self) -> bool {
        self.0.is_nan()
    }
    fn flush(self, mode: &FpMode) -> Half {
        Half(float_value(
            write_float(self.0, Type::Hf, false, mode),
            Type::Hf,
            mode,
        ))
    }
    fn ceil(self) -> Half {
        Half(self.0.ceil())
    }
    fn floor(self) -> Half {
        Half(self.0.floor())
    }
    fn round_even(self) -> Half {
        Half(self.0.round_ties_even())
    }
    fn trunc(self) -> Half {
        Half(self.0.trunc())
    }
}

/// Applies source modifiers: absolute value, then negation.
#[inline(always)]
pub fn float_mods<T: FloatLane>(v: T, mods: SrcMods) -> T {
    let v = if mods.abs { v.abs() } else { v };
    if mods.neg { v.neg() } else { v }
}

/// Computes a lane-wise operation, or returns `None` for others (comparisons, selections, `math`).
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
                // Just below an integer the difference rounds up to 1, which is not a fraction.
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

#[inline(always)]
fn each<T: FloatLane, const N: usize>(
    f: MathFn,
    a: &[T; N],
    b: &[T; N],
    r: Round,
) -> Result<[T; N], Undefined> {
    let mut out = [T::ZERO; N];
    for i in 0..N {
        out[i] = T::rounded(math::eval(f, a[i].value(), b[i].value())?, r);
    }
    Ok(out)
}

/// Computes a function of the math unit.
///
/// # Errors
/// Returns an error if the function takes integers, or is a step of a macro.
#[inline(always)]
pub fn math<T: FloatLane, const N: usize>(
    f: MathFn,
    a: &[T; N],
    b: &[T; N],
    r: Round,
) -> Result<[T; N], Undefined> {
    // The four functions that hosts have vector instructions for are loops of their own.
    match f {
        MathFn::Inv => each(MathFn::Inv, a, b, r),
        MathFn::Sqt => each(MathFn::Sqt, a, b, r),
        MathFn::Rsqt => each(MathFn::Rsqt, a, b, r),
        MathFn::Fdiv => each(MathFn::Fdiv, a, b, r),
        f => each(f, a, b, r),
    }
}

/// Compares lanes by a condition, as a channel mask. With a NaN, only `ne` and `un` are true.
#[inline(always)]
pub fn compare<T: FloatLane, const N: usize>(
    pack: impl Pack,
    cond: Cond,
    a: &[T; N],
    b: &[T; N],
) -> u32 {
    match cond {
        Cond::Un => pack.mask_of(&truth_of(a, b, |x, y| x.is_nan() | y.is_nan())),
        cond => super::compare(pack, cond, a, b),
    }
}

/// Returns the channels of `sel` with a condition that take source 0. Of a number and a NaN the
/// number is taken (Skylake PRM, Vol. 7, "sel - Select", IEEE minimum and maximum).
#[inline(always)]
pub fn sel_pick<T: FloatLane, const N: usize>(
    pack: impl Pack,
    cond: Cond,
    a: &[T; N],
    b: &[T; N],
) -> u32 {
    let pick = compare(pack, cond, a, b);
    if matches!(cond, Cond::Ge | Cond::Gt | Cond::Lt | Cond::Le) {
        pick | pack.mask_of(&truth_of(a, b, |x, y| y.is_nan() & !x.is_nan()))
    } else {
        pick
    }
}

/// Evaluates any float operation.
pub(super) fn eval<T: FloatLane>(
    alu: &AluOp,
    n: usize,
    srcs: [&Bits; 3],
    extra: &Extra,
) -> Result<Outcome, Undefined> {
    let mode = &extra.mode;
    // A move or selection between equal types preserves the bits of denormals and NaNs.
    let raw = matches!(alu.op, Op::Mov | Op::Sel | Op::Csel)
        && alu.srcs.iter().flatten().all(|t| *t == alu.dst);
    let read_mode = if raw { &FpMode::IEEE } else { mode };
    let read = dots::channels_read(alu.op, n);
    let lane = |i: usize| {
        let mut out = [T::ZERO; LANES];
        // The second factors of `pln` are in a separate source.
        let like = if alu.op == Op::Pln { i.min(1) } else { i };
        let ty = alu.srcs.get(like).copied().flatten();
        if let (Some(t), Some(b), Some(m)) = (ty, srcs.get(i), alu.mods.get(like)) {
            for (o, v) in out.iter_mut().zip(b.iter()).take(read) {
                *o = float_mods(T::of(float_value(*v, t, read_mode)), *m);
            }
        }
        out
    };
    let (a, b, c) = (lane(0), lane(1), lane(2));
    let mut flags = None;
    let mut bits = None;
    // Channels of a selection that take source 0.
    let mut pick = u32::MAX;
    let r: [T; LANES] = match alu.op {
        Op::Cmp | Op::Cmpn => {
            let f = alu.cond.map_or(0, |cond| {
                if alu.op == Op::Cmpn {
                    compare_nan(cond, &a, &b)
                } else {
                    compare(Plain, cond, &a, &b)
                }
            }) & mask(n);
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
            pick = match alu.cond {
                Some(cond) => sel_pick(Plain, cond, &a, &b),
                None => extra.pick,
            };
            flags = Some(0);
            select(pick, &a, &b)
        }
        Op::Csel => {
            pick = alu
                .cond
                .map_or(0, |cond| compare(Plain, cond, &c, &[T::ZERO; LANES]));
            flags = Some(0);
            select(pick, &a, &b)
        }
        Op::Mac => {
            let mut acc = [T::ZERO; LANES];
            for (o, v) in acc.iter_mut().zip(&extra.acc).take(n) {
                *o = T::of(float_value(*v as u64, alu.acc_type(), mode));
            }
            T::fma_lanes(&a, &b, &acc, mode.round)
        }
        Op::Math => {
            let f = alu
                .math
                .ok_or_else(|| Undefined("math without a function".to_owned()))?;
            math(f, &a, &b, mode.round)?
        }
        Op::Srnd => {
            let none = || Undefined(format!("srnd to {} has no meaning", alu.dst));
            let from = alu.srcs[0].unwrap_or(Type::F);
            let mut out = [0; LANES];
            for (i, o) in out.iter_mut().enumerate().take(n) {
                let v = source_bits(alu, &srcs, 0, i);
                let random = srcs[1][i];
                *o = stochastic(v, from, alu.dst, random).ok_or_else(none)?;
            }
            bits = Some(out);
            a
        }
        op => match dots::float(op, &a, &b, &c, mode.round) {
            Some(r) => r,
            None => apply(op, &a, &b, &c, mode.round)
                .ok_or_else(|| Undefined(format!("{op} is not a float operation")))?,
        },
    };
    let flags = match (flags, alu.cond) {
        (Some(f), _) => f,
        (None, None) => 0,
        (None, Some(cond)) => {
            // The result as in a float destination, before saturation.
            let mut seen = [0f64; LANES];
            for (s, v) in seen.iter_mut().zip(&r).take(n) {
                *s = if alu.dst.is_float() {
                    let bits = write_float(v.value(), alu.dst, false, mode);
                    float_value(bits, alu.dst, &FpMode::IEEE)
                } else {
                    v.value()
                };
            }
            match cond {
                Cond::Ov => {
                    let mut m = 0;
                    for (i, v) in seen.iter().enumerate() {
                        let from_infinite = [&a, &b, &c].iter().any(|s| s[i].value().is_infinite());
                        m |= u32::from(v.is_infinite() && !from_infinite) << i;
                    }
                    m
                }
                Cond::Un => compare(Plain, Cond::Un, &seen, &seen),
                cond => compare(Plain, cond, &seen, &[0.0; LANES]),
            }
        }
    };
    let mut out = Outcome {
        bits: bits.unwrap_or([0; LANES]),
        flags,
        wide: [0; LANES],
        acc: None,
    };
    if bits.is_none() {
        // A move or a selection between equal types preserves NaN payloads, which conversions would
        // quiet.
        let same = raw && !alu.sat;
        for (i, v) in r.iter().take(n).enumerate() {
            out.bits[i] = if same && v.is_nan() {
                source_bits(alu, &srcs, usize::from(pick >> i & 1 == 0), i)
            } else {
                write_float(v.value(), alu.dst, alu.sat, read_mode)
            };
        }
    }
    Ok(out)
}

/// Returns the bits of a source with its modifiers.
fn source_bits(alu: &AluOp, srcs: &[&Bits; 3], source: usize, channel: usize) -> u64 {
    let sign = 1u64 << (alu.srcs[source].map_or(32, Type::bits) - 1);
    let mut v = srcs[source][channel];
    if alu.mods[source].abs {
        v &= !sign;
    }
    if alu.mods[source].neg {
        v ^= sign;
    }
    v
}

/// `cmpn`: compares like [`compare`], but an ordering is true if source 1 is a NaN. A `sel` by it
/// then takes source 0, the number.
fn compare_nan<T: FloatLane, const N: usize>(cond: Cond, a: &[T; N], b: &[T; N]) -> u32 {
    let mut m = compare(Plain, cond, a, b);
    if matches!(cond, Cond::Ge | Cond::Gt | Cond::Lt | Cond::Le) {
        for (i, v) in b.iter().enumerate() {
            m |= u32::from(v.is_nan()) << i;
        }
    }
    m
}
