//! Toolkit of the math functions: floats (singles or doubles) and their bits, in as many lanes as
//! the argument.
//!
//! A double's exponent and sign are in its upper dword, and most functions read nothing else.
//! [`Kit::top`] returns that dword, or all of a single.

use crate::ir::builder::FunctionBuilder;
use crate::ir::{FloatCC, IntCC, Module, Region, Scalar, Type, Value};

/// One value for singles and one for doubles.
#[derive(Clone, Copy)]
pub(super) struct PerType<T> {
    pub single: T,
    pub double: T,
}

/// Coefficients of a polynomial, the highest first.
pub(super) type Poly = PerType<&'static [f64]>;

/// Function builder and the types of a computation.
pub(super) struct Kit<'k, 'f> {
    pub b: &'k mut FunctionBuilder<'f>,
    /// Module of the function, for tables in its data.
    pub module: Option<&'k mut Module>,
    /// True for doubles.
    pub wide: bool,
    /// True if arguments come from halves, which bounds their magnitude.
    pub half: bool,
    lanes: u32,
    float: Type,
    pub single: Type,
    int: Type,
}

impl<'k, 'f> Kit<'k, 'f> {
    /// Makes a kit for the type of a value, singles or doubles.
    pub fn new(
        b: &'k mut FunctionBuilder<'f>,
        module: Option<&'k mut Module>,
        like: Value,
        half: bool,
    ) -> Self {
        let float = b.ty(like);
        let (lanes, scalar) = (float.lanes(), float.scalar());
        let single = Type::clamped(Scalar::F32, lanes);
        let int = Type::clamped(Scalar::I32, lanes);
        Kit {
            b,
            module,
            wide: scalar == Scalar::F64,
            half,
            lanes,
            float,
            single,
            int,
        }
    }

    /// Returns the variant for the type.
    pub fn by<T>(&self, of: PerType<T>) -> T {
        if self.wide { of.double } else { of.single }
    }

    /// Returns the mantissa bits in the top dword, and the exponent bias.
    pub fn format(&self) -> (i64, i64) {
        self.by(PerType {
            single: (23, 127),
            double: (20, 1023),
        })
    }

    pub fn n(&mut self, v: f64) -> Value {
        self.b.ins().fconst(self.float, v)
    }

    /// Returns a constant for a two-operand instruction. Such an instruction handles at most eight
    /// doubles, so wider values read an eight-lane constant twice.
    fn short(&mut self, v: f64) -> Value {
        if !self.wide || self.lanes <= 8 {
            return self.n(v);
        }
        let eight = Type::clamped(Scalar::F64, 8);
        let v = self.b.ins().fconst(eight, v);
        let region = Region::new(0, 8, 1, 0);
        self.b.ins().rdregion(self.float, v, region)
    }

    pub fn i(&mut self, v: i64) -> Value {
        self.b.ins().iconst(self.int, v)
    }

    pub fn add(&mut self, a: Value, b: Value) -> Value {
        self.b.ins().fadd(a, b)
    }

    pub fn sub(&mut self, a: Value, b: Value) -> Value {
        self.b.ins().fsub(a, b)
    }

    pub fn mul(&mut self, a: Value, b: Value) -> Value {
        self.b.ins().fmul(a, b)
    }

    /// Returns the reciprocal of numbers from 2^-126 to 2^126, to about 2^-22 for singles and 2^-43
    /// for doubles.
    pub fn recip(&mut self, a: Value) -> Value {
        if !self.wide {
            return self.b.ins().finv(a);
        }
        let s = self.narrowed(a);
        let r = self.b.ins().finv(s);
        let r = self.widened(r);
        let one = self.n(1.0);
        let off = self.fnma(r, a, one);
        self.fma(off, r, r)
    }

    /// Returns a quotient and the reciprocal of its divisor, which is from 2^-126 to 2^126.
    ///
    /// A Newton step corrects the error of the math unit. The quotient is within about 0.51 ulp.
    pub fn div_by(&mut self, a: Value, b: Value) -> (Value, Value) {
        let r = self.recip(b);
        let q = self.mul(a, r);
        let rest = self.fnma(q, b, a);
        (self.fma(rest, r, q), r)
    }

    /// Divides as [`Kit::div_by`] does.
    pub fn div(&mut self, a: Value, b: Value) -> Value {
        self.div_by(a, b).0
    }

    /// Returns the square root of zero or a number from 2^-120 to 2^120, within about 0.51 ulp.
    /// Uses the inverse root of singles, and Newton steps.
    pub fn sqrt(&mut self, a: Value) -> Value {
        let least = self.b.ins().fconst(self.single, 2f64.powi(-124));
        let s = self.narrowed(a);
        let s = self.max(s, least);
        let r = self.b.ins().frsqrt(s);
        let r = self.widened(r);
        let (mut g, mut h) = (self.mul(a, r), self.times(r, 0.5));
        if self.wide {
            let half = self.n(0.5);
            let off = self.fnma(g, h, half);
            g = self.fma(g, off, g);
            h = self.fma(h, off, h);
        }
        let rest = self.fnma(g, g, a);
        self.fma(rest, h, g)
    }

    pub fn fma(&mut self, a: Value, b: Value, c: Value) -> Value {
        self.b.ins().fma(a, b, c)
    }

    /// Returns `c - a * b`.
    pub fn fnma(&mut self, a: Value, b: Value, c: Value) -> Value {
        let a = self.neg(a);
        self.b.ins().fma(a, b, c)
    }

    /// Returns `a * n`.
    pub fn times(&mut self, a: Value, n: f64) -> Value {
        let n = self.short(n);
        self.mul(a, n)
    }

    /// Returns `a + n`.
    pub fn plus(&mut self, a: Value, n: f64) -> Value {
        let n = self.short(n);
        self.add(a, n)
    }

    /// Returns `a * n + c`.
    pub fn fma_n(&mut self, a: Value, n: f64, c: Value) -> Value {
        let n = self.n(n);
        self.fma(a, n, c)
    }

    pub fn neg(&mut self, a: Value) -> Value {
        self.b.ins().fneg(a)
    }

    pub fn abs(&mut self, a: Value) -> Value {
        self.b.ins().fabs(a)
    }

    /// Rounds magnitudes below 2^31 to the nearest whole number, as a float and as an integer.
    pub fn nearest(&mut self, a: Value) -> (Value, Value) {
        if !self.wide {
            let n = self.b.ins().fnearest(a);
            let i = self.int_of(n);
            return (n, i);
        }
        // At this magnitude the last mantissa bit has the value 1.
        let magic = 1.5 * 2f64.powi(52);
        let sum = self.plus(a, magic);
        let i = self.word(sum, 0);
        (self.plus(sum, -magic), i)
    }

    pub fn floor(&mut self, a: Value) -> Value {
        self.b.ins().ffloor(a)
    }

    pub fn min(&mut self, a: Value, b: Value) -> Value {
        self.b.ins().fmin(a, b)
    }

    pub fn max(&mut self, a: Value, b: Value) -> Value {
        self.b.ins().fmax(a, b)
    }

    pub fn clamp(&mut self, a: Value, low: f64, high: f64) -> Value {
        let (low, high) = (self.short(low), self.short(high));
        let a = self.max(a, low);
        self.min(a, high)
    }

    pub fn lt(&mut self, a: Value, b: Value) -> Value {
        self.b.ins().fcmp(FloatCC::LessThan, a, b)
    }

    pub fn lt_n(&mut self, a: Value, n: f64) -> Value {
        let n = self.short(n);
        self.lt(a, n)
    }

    pub fn gt_n(&mut self, a: Value, n: f64) -> Value {
        let n = self.short(n);
        self.lt(n, a)
    }

    /// Returns `a <= n`; false for NaNs.
    pub fn at_most(&mut self, a: Value, n: f64) -> Value {
        let n = self.short(n);
        self.b.ins().fcmp(FloatCC::LessThanOrEqual, a, n)
    }

    pub fn eq(&mut self, a: Value, b: Value) -> Value {
        self.b.ins().fcmp(FloatCC::Equal, a, b)
    }

    pub fn eq_n(&mut self, a: Value, n: f64) -> Value {
        let n = self.short(n);
        self.eq(a, n)
    }

    pub fn nan(&mut self, a: Value) -> Value {
        self.b.ins().fcmp(FloatCC::NotEqual, a, a)
    }

    pub fn and(&mut self, a: Value, b: Value) -> Value {
        self.b.ins().band(a, b)
    }

    pub fn or(&mut self, a: Value, b: Value) -> Value {
        self.b.ins().bor(a, b)
    }

    pub fn not(&mut self, a: Value) -> Value {
        self.b.ins().bnot(a)
    }

    pub fn sel(&mut self, c: Value, a: Value, b: Value) -> Value {
        self.b.ins().select(c, a, b)
    }

    pub fn sel_n(&mut self, c: Value, n: f64, b: Value) -> Value {
        let n = self.short(n);
        self.sel(c, n, b)
    }

    /// Evaluates a polynomial, the highest coefficient first.
    pub fn poly(&mut self, x: Value, c: &[f64]) -> Value {
        let mut all = c.iter();
        let mut v = self.n(all.next().copied().unwrap_or(0.0));
        for c in all {
            let c = self.n(*c);
            v = self.fma(v, x, c);
        }
        v
    }

    /// Evaluates the polynomial for the type.
    pub fn series(&mut self, x: Value, c: Poly) -> Value {
        let c = self.by(c);
        self.poly(x, c)
    }

    fn pairs(&mut self, a: Value) -> Value {
        let ty = Type::clamped(Scalar::I32, 2 * self.lanes);
        self.b.ins().bitcast(ty, a)
    }

    fn half_of(&self, n: u16) -> Region {
        match self.lanes {
            1 => Region::scalar(4 * n),
            lanes => Region::new(2 * lanes as u16, lanes as u16, 2, 4 * n),
        }
    }

    /// Returns a dword of a double: 0 is the lower one.
    fn word(&mut self, a: Value, n: u16) -> Value {
        let (pairs, region) = (self.pairs(a), self.half_of(n));
        self.b.ins().rdregion(self.int, pairs, region)
    }

    /// Returns the bits of a single, or the upper dword of a double.
    pub fn top(&mut self, a: Value) -> Value {
        if self.wide {
            self.word(a, 1)
        } else {
            self.b.ins().bitcast(self.int, a)
        }
    }

    /// Returns the lower dword of a double.
    pub fn lower(&mut self, a: Value) -> Value {
        self.word(a, 0)
    }

    /// Replaces the upper dword of a double, or all bits of a single.
    pub fn with_top(&mut self, a: Value, top: Value) -> Value {
        if !self.wide {
            return self.b.ins().bitcast(self.float, top);
        }
        let (pairs, region) = (self.pairs(a), self.half_of(1));
        let pairs = self.b.ins().wrregion(pairs, region, top);
        self.b.ins().bitcast(self.float, pairs)
    }

    /// Returns a float with these upper bits, and zeros below.
    pub fn of_top(&mut self, top: Value) -> Value {
        let zero = self.n(0.0);
        self.with_top(zero, top)
    }

    pub fn int_of(&mut self, a: Value) -> Value {
        self.b.ins().fcvt_to_sint(self.int, a)
    }

    pub fn of_int(&mut self, a: Value) -> Value {
        self.b.ins().fcvt_from_sint(self.float, a)
    }

    pub fn narrowed(&mut self, a: Value) -> Value {
        if self.wide {
            self.b.ins().fdemote(self.single, a)
        } else {
            a
        }
    }

    pub fn widened(&mut self, a: Value) -> Value {
        if self.wide {
            self.b.ins().fpromote(self.float, a)
        } else {
            a
        }
    }

    pub fn of_unsigned(&mut self, a: Value) -> Value {
        self.b.ins().fcvt_from_uint(self.float, a)
    }

    pub fn int_type(&self) -> Type {
        self.int
    }

    /// Splats a one-lane value to the argument's lanes.
    pub fn spread(&mut self, a: Value) -> Value {
        self.b.splat(a, self.lanes)
    }

    /// Returns true in lanes where any of `bits` is set.
    pub fn has(&mut self, a: Value, bits: i64) -> Value {
        let bits = self.i(bits);
        let v = self.b.ins().band(a, bits);
        let zero = self.i(0);
        self.b.ins().icmp(IntCC::NotEqual, v, zero)
    }

    pub fn ilt(&mut self, a: Value, n: i64) -> Value {
        let n = self.i(n);
        self.b.ins().icmp(IntCC::SignedLessThan, a, n)
    }

    /// Returns true for negative signs, of zeros and NaNs too.
    pub fn minus(&mut self, a: Value) -> Value {
        let v = self.top(a);
        self.ilt(v, 0)
    }

    /// Returns the magnitude of `a` with the sign of `sign`.
    pub fn with_sign(&mut self, a: Value, sign: Value) -> Value {
        let (t, s) = (self.top(a), self.top(sign));
        let (rest, top) = (self.i(0x7fff_ffff), self.i(i64::from(i32::MIN)));
        let (t, s) = (self.b.ins().band(t, rest), self.b.ins().band(s, top));
        let v = self.b.ins().bor(t, s);
        self.with_top(a, v)
    }

    /// Negates where a predicate is set.
    pub fn negate_if(&mut self, c: Value, a: Value) -> Value {
        let other = self.neg(a);
        self.sel(c, other, a)
    }

    /// Returns `a * 2^n` for a magnitude around 1, in two steps of which only the second rounds.
    /// `n` is up to 250 for singles, 2040 for doubles.
    pub fn scale(&mut self, a: Value, n: Value) -> Value {
        let (one, (by, _)) = (self.i(1), self.format());
        let by = self.i(by);
        let half = self.b.ins().sshr(n, one);
        let rest = self.b.ins().isub(n, half);
        let up = self.b.ins().ishl(half, by);
        let top = self.top(a);
        let top = self.b.ins().iadd(top, up);
        let v = self.with_top(a, top);
        let second = self.power(rest);
        self.mul(v, second)
    }

    /// Returns `2^n` for whole numbers in the exponent range.
    pub fn power(&mut self, n: Value) -> Value {
        let (by, bias) = self.format();
        let (bias, by) = (self.i(bias), self.i(by));
        let n = self.b.ins().iadd(n, bias);
        let v = self.b.ins().ishl(n, by);
        self.of_top(v)
    }

    /// Splits a positive number into a fraction from about 0.7 to 1.4, minus 1, and the exponent.
    pub fn fraction(&mut self, a: Value) -> (Value, Value) {
        // Fractions begin at the square root of a half, given by its bits.
        let (least, up, begin) = self.by(PerType {
            single: (-126, 24, 0x3f35_04f3),
            double: (-1022, 54, 0x3fe6_a09e),
        });
        let small = self.lt_n(a, 2f64.powi(least));
        let scaled = self.times(a, 2f64.powi(up));
        let v = self.sel(small, scaled, a);
        let bits = self.top(v);
        let begin = self.i(begin);
        let off = self.b.ins().isub(bits, begin);
        let by = self.format().0;
        let by = self.i(by);
        let exponent = self.b.ins().sshr(off, by);
        let part = self.b.ins().ishl(exponent, by);
        let m = self.b.ins().isub(bits, part);
        let m = self.with_top(v, m);
        let f = self.plus(m, -1.0);
        let (up, none) = (self.i(i64::from(up)), self.i(0));
        let off = self.sel(small, up, none);
        (f, self.b.ins().isub(exponent, off))
    }

    /// Returns a power of two that scales a magnitude to near 1 (a denormal to less), and its
    /// inverse.
    pub fn scales(&mut self, a: Value) -> (Value, Value) {
        let (by, bias) = self.format();
        let (mask, least) = (self.i((2 * bias + 1) << by), self.i(1 << by));
        let (most, both) = (self.i((2 * bias - 1) << by), self.i((2 * bias) << by));
        let top = self.top(a);
        let e = self.b.ins().band(top, mask);
        let e = self.b.ins().smax(e, least);
        let e = self.b.ins().smin(e, most);
        let other = self.b.ins().isub(both, e);
        (self.of_top(other), self.of_top(e))
    }

    /// Returns the exponent of a positive, normal number.
    pub fn exponent(&mut self, a: Value) -> Value {
        let (by, bias) = self.format();
        let (by, bias) = (self.i(by), self.i(bias));
        let top = self.top(a);
        let e = self.b.ins().ushr(top, by);
        self.b.ins().isub(e, bias)
    }

    /// Returns a value, or a NaN if either of two numbers is a NaN.
    pub fn nan_of(&mut self, a: Value, b: Value, v: Value) -> Value {
        let (first, second) = (self.nan(a), self.nan(b));
        let either = self.or(first, second);
        self.sel_n(either, f64::NAN, v)
    }

    /// Returns `a + b` and its rounding error, if `a` is the larger one or zero (Fast2Sum).
    pub fn sum(&mut self, a: Value, b: Value) -> (Value, Value) {
        let s = self.add(a, b);
        let back = self.sub(s, a);
        (s, self.sub(b, back))
    }

    /// Returns `a + b` and its rounding error (2Sum).
    pub fn two_sum(&mut self, a: Value, b: Value) -> (Value, Value) {
        let s = self.add(a, b);
        let t = self.sub(s, a);
        let u = self.sub(s, t);
        let (x, y) = (self.sub(a, u), self.sub(b, t));
        (s, self.add(x, y))
    }

    /// Returns `a * b` and its rounding error.
    pub fn product(&mut self, a: Value, b: Value) -> (Value, Value) {
        let p = self.mul(a, b);
        let minus = self.neg(p);
        (p, self.fma(a, b, minus))
    }

    /// Replaces `v` by the results of `slow` where a predicate is set. A thread skips `slow` if
    /// none of its channels needs it.
    pub fn seldom<const N: usize>(
        &mut self,
        c: Value,
        v: [Value; N],
        slow: impl FnOnce(&mut Self) -> [Value; N],
    ) -> [Value; N] {
        let vars = v.map(|v| self.b.var(v));
        let any = match self.lanes {
            1 => c,
            _ => self.b.ins().any(c),
        };
        self.b.uniform_if_begin(any);
        let other = slow(self);
        for ((var, old), new) in vars.iter().zip(v).zip(other) {
            let new = self.b.ins().select(c, new, old);
            self.b.def_var_all_lanes(*var, new);
        }
        self.b.uniform_if_end();
        vars.map(|v| self.b.use_var(v))
    }
}
