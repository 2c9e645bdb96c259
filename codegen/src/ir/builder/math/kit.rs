//! What the functions are written with: singles or doubles and their bits, of as many lanes as the
//! argument.
//!
//! A double's exponent and sign are in its upper doubleword, which is all that most functions look
//! at: [`Kit::top`] is that, or all of a single.

use crate::ir::builder::FunctionBuilder;
use crate::ir::{FloatCC, IntCC, Module, Region, Scalar, Type, Value};

/// What differs between the types.
#[derive(Clone, Copy)]
pub(super) struct By<T> {
    pub single: T,
    pub double: T,
}

/// Coefficients of a polynomial, the highest first.
pub(super) type Poly = By<&'static [f64]>;

/// The builder, and the type of what is computed.
pub(super) struct Kit<'k, 'f> {
    pub b: &'k mut FunctionBuilder<'f>,
    /// The module that the function becomes part of, for its data.
    pub module: Option<&'k mut Module>,
    /// Whether it is doubles.
    pub wide: bool,
    /// Whether arguments are halves, which are few.
    pub half: bool,
    lanes: u32,
    float: Type,
    pub single: Type,
    int: Type,
}

impl<'k, 'f> Kit<'k, 'f> {
    /// For a value's type, singles or doubles.
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

    /// What is said for the type.
    pub fn by<T>(&self, of: By<T>) -> T {
        if self.wide { of.double } else { of.single }
    }

    /// The bits of a fraction, and an exponent's bias.
    pub fn format(&self) -> (i64, i64) {
        self.by(By {
            single: (23, 127),
            double: (20, 1023),
        })
    }

    pub fn n(&mut self, v: f64) -> Value {
        self.b.ins().fconst(self.float, v)
    }

    /// A number for an instruction of two operands: of doubles eight, which is as many as it takes,
    /// read twice where there are more lanes.
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

    /// The inverse to about 2^-22 of a single, to 2^-43 of a double; of numbers from 2^-126 to
    /// 2^126.
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

    /// A quotient and the inverse of its divisor, which is from 2^-126 to 2^126: what the inverse
    /// lacks is made good by a step of Newton's, whatever the math box's error; the quotient is
    /// within 0.51 ulp or so.
    pub fn div_by(&mut self, a: Value, b: Value) -> (Value, Value) {
        let r = self.recip(b);
        let q = self.mul(a, r);
        let rest = self.fnma(q, b, a);
        (self.fma(rest, r, q), r)
    }

    /// As [`Kit::div_by`].
    pub fn div(&mut self, a: Value, b: Value) -> Value {
        self.div_by(a, b).0
    }

    /// A root of zero or a number from 2^-120 to 2^120, within 0.51 ulp or so: by the inverse root
    /// of singles, and steps of Newton's.
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

    /// `c - a * b`.
    pub fn fnma(&mut self, a: Value, b: Value, c: Value) -> Value {
        let a = self.neg(a);
        self.b.ins().fma(a, b, c)
    }

    /// `a * n`.
    pub fn times(&mut self, a: Value, n: f64) -> Value {
        let n = self.short(n);
        self.mul(a, n)
    }

    /// `a + n`.
    pub fn plus(&mut self, a: Value, n: f64) -> Value {
        let n = self.short(n);
        self.add(a, n)
    }

    /// `a * n + c`.
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

    /// The nearest whole number, as a float and as an integer, of magnitudes below 2^31.
    pub fn nearest(&mut self, a: Value) -> (Value, Value) {
        if !self.wide {
            let n = self.b.ins().fnearest(a);
            let i = self.int_of(n);
            return (n, i);
        }
        // Where the last bit is that of one.
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

    /// Whether it is a number up to another.
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

    /// A polynomial, the highest coefficient first.
    pub fn poly(&mut self, x: Value, c: &[f64]) -> Value {
        let mut all = c.iter();
        let mut v = self.n(all.next().copied().unwrap_or(0.0));
        for c in all {
            let c = self.n(*c);
            v = self.fma(v, x, c);
        }
        v
    }

    /// The coefficients' polynomial for the type.
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

    /// A doubleword of a double: 0 is the lower one.
    fn word(&mut self, a: Value, n: u16) -> Value {
        let (pairs, region) = (self.pairs(a), self.half_of(n));
        self.b.ins().rdregion(self.int, pairs, region)
    }

    /// A single's bits, or a double's upper ones.
    pub fn top(&mut self, a: Value) -> Value {
        if self.wide {
            self.word(a, 1)
        } else {
            self.b.ins().bitcast(self.int, a)
        }
    }

    /// A double's lower doubleword.
    pub fn lower(&mut self, a: Value) -> Value {
        self.word(a, 0)
    }

    /// A float with other upper bits.
    pub fn with_top(&mut self, a: Value, top: Value) -> Value {
        if !self.wide {
            return self.b.ins().bitcast(self.float, top);
        }
        let (pairs, region) = (self.pairs(a), self.half_of(1));
        let pairs = self.b.ins().wrregion(pairs, region, top);
        self.b.ins().bitcast(self.float, pairs)
    }

    /// A float of upper bits alone.
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

    /// Values of one lane or as many as the argument, in as many lanes as that.
    pub fn spread(&mut self, a: Value) -> Value {
        self.b.splat(a, self.lanes)
    }

    /// Whether bits are set in an integer.
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

    /// Whether the sign is minus, of zeros and NaNs too.
    pub fn minus(&mut self, a: Value) -> Value {
        let v = self.top(a);
        self.ilt(v, 0)
    }

    /// A magnitude with a sign.
    pub fn with_sign(&mut self, a: Value, sign: Value) -> Value {
        let (t, s) = (self.top(a), self.top(sign));
        let (rest, top) = (self.i(0x7fff_ffff), self.i(i64::from(i32::MIN)));
        let (t, s) = (self.b.ins().band(t, rest), self.b.ins().band(s, top));
        let v = self.b.ins().bor(t, s);
        self.with_top(a, v)
    }

    /// Turned around where a predicate says so.
    pub fn negate_if(&mut self, c: Value, a: Value) -> Value {
        let other = self.neg(a);
        self.sel(c, other, a)
    }

    /// `a * 2^n` for a magnitude around 1, in two steps of which only the second rounds. `n` is up
    /// to 250 for singles, 2040 for doubles.
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

    /// `2^n` for whole numbers of the exponent's range.
    pub fn power(&mut self, n: Value) -> Value {
        let (by, bias) = self.format();
        let (bias, by) = (self.i(bias), self.i(by));
        let n = self.b.ins().iadd(n, bias);
        let v = self.b.ins().ishl(n, by);
        self.of_top(v)
    }

    /// Of a positive number: a fraction from about 0.7 to 1.4, less 1, and the exponent.
    pub fn fraction(&mut self, a: Value) -> (Value, Value) {
        // The bits of the root of a half are where the fraction begins.
        let (least, up, begin) = self.by(By {
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

    /// Powers of two that bring a magnitude near 1 (a denormal below it), and back.
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

    /// The exponent of a positive, normal number.
    pub fn exponent(&mut self, a: Value) -> Value {
        let (by, bias) = self.format();
        let (by, bias) = (self.i(by), self.i(bias));
        let top = self.top(a);
        let e = self.b.ins().ushr(top, by);
        self.b.ins().isub(e, bias)
    }

    /// A value, or a NaN if one of two numbers is one.
    pub fn nan_of(&mut self, a: Value, b: Value, v: Value) -> Value {
        let (first, second) = (self.nan(a), self.nan(b));
        let either = self.or(first, second);
        self.sel_n(either, f64::NAN, v)
    }

    /// `a + b` and what it lost, where `a` is the larger one or zero.
    pub fn sum(&mut self, a: Value, b: Value) -> (Value, Value) {
        let s = self.add(a, b);
        let back = self.sub(s, a);
        (s, self.sub(b, back))
    }

    /// `a + b` and what it lost.
    pub fn two_sum(&mut self, a: Value, b: Value) -> (Value, Value) {
        let s = self.add(a, b);
        let t = self.sub(s, a);
        let u = self.sub(s, t);
        let (x, y) = (self.sub(a, u), self.sub(b, t));
        (s, self.add(x, y))
    }

    /// `a * b` and what it lost.
    pub fn product(&mut self, a: Value, b: Value) -> (Value, Value) {
        let p = self.mul(a, b);
        let minus = self.neg(p);
        (p, self.fma(a, b, minus))
    }

    /// Replaces `v` by what `slow` gives, where a predicate is set. A thread none of whose channels
    /// needs it skips it.
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
