//! What the functions are written with: singles and their bits, of as many lanes as the argument.

use crate::emit::Emit;
use gantry_codegen::ir::{FloatCC, IntCC, Scalar, Type, Value};

/// The builder, and the type of what is computed.
pub(super) struct Kit<'k, 'a, 'm, 'f> {
    pub e: &'k mut Emit<'a, 'm, 'f>,
    float: Type,
    int: Type,
}

impl<'k, 'a, 'm, 'f> Kit<'k, 'a, 'm, 'f> {
    pub fn new(e: &'k mut Emit<'a, 'm, 'f>, like: Value) -> Self {
        let lanes = e.b.ty(like).lanes();
        let (float, int) = (e.lanes(Scalar::F32, lanes), e.lanes(Scalar::I32, lanes));
        Kit { e, float, int }
    }

    pub fn n(&mut self, v: f64) -> Value {
        self.e.b.ins().fconst(self.float, v)
    }

    pub fn i(&mut self, v: i64) -> Value {
        self.e.b.ins().iconst(self.int, v)
    }

    pub fn add(&mut self, a: Value, b: Value) -> Value {
        self.e.b.ins().fadd(a, b)
    }

    pub fn sub(&mut self, a: Value, b: Value) -> Value {
        self.e.b.ins().fsub(a, b)
    }

    pub fn mul(&mut self, a: Value, b: Value) -> Value {
        self.e.b.ins().fmul(a, b)
    }

    pub fn div(&mut self, a: Value, b: Value) -> Value {
        self.e.b.ins().fdiv_rn(a, b)
    }

    pub fn fma(&mut self, a: Value, b: Value, c: Value) -> Value {
        self.e.b.ins().fma(a, b, c)
    }

    /// `c - a * b`.
    pub fn fnma(&mut self, a: Value, b: Value, c: Value) -> Value {
        let a = self.neg(a);
        self.e.b.ins().fma(a, b, c)
    }

    /// `a * n`.
    pub fn times(&mut self, a: Value, n: f64) -> Value {
        let n = self.n(n);
        self.mul(a, n)
    }

    /// `a + n`.
    pub fn plus(&mut self, a: Value, n: f64) -> Value {
        let n = self.n(n);
        self.add(a, n)
    }

    /// `a * n + c`.
    pub fn fma_n(&mut self, a: Value, n: f64, c: Value) -> Value {
        let n = self.n(n);
        self.fma(a, n, c)
    }

    pub fn neg(&mut self, a: Value) -> Value {
        self.e.b.ins().fneg(a)
    }

    pub fn abs(&mut self, a: Value) -> Value {
        self.e.b.ins().fabs(a)
    }

    pub fn sqrt(&mut self, a: Value) -> Value {
        self.e.b.ins().fsqrt_rn(a)
    }

    pub fn rint(&mut self, a: Value) -> Value {
        self.e.b.ins().fnearest(a)
    }

    pub fn floor(&mut self, a: Value) -> Value {
        self.e.b.ins().ffloor(a)
    }

    pub fn min(&mut self, a: Value, b: Value) -> Value {
        self.e.b.ins().fmin(a, b)
    }

    pub fn max(&mut self, a: Value, b: Value) -> Value {
        self.e.b.ins().fmax(a, b)
    }

    pub fn clamp(&mut self, a: Value, low: f64, high: f64) -> Value {
        let (low, high) = (self.n(low), self.n(high));
        let a = self.max(a, low);
        self.min(a, high)
    }

    pub fn lt(&mut self, a: Value, b: Value) -> Value {
        self.e.b.ins().fcmp(FloatCC::LessThan, a, b)
    }

    pub fn lt_n(&mut self, a: Value, n: f64) -> Value {
        let n = self.n(n);
        self.lt(a, n)
    }

    pub fn gt_n(&mut self, a: Value, n: f64) -> Value {
        let n = self.n(n);
        self.lt(n, a)
    }

    pub fn eq(&mut self, a: Value, b: Value) -> Value {
        self.e.b.ins().fcmp(FloatCC::Equal, a, b)
    }

    pub fn eq_n(&mut self, a: Value, n: f64) -> Value {
        let n = self.n(n);
        self.eq(a, n)
    }

    pub fn nan(&mut self, a: Value) -> Value {
        self.e.is_nan(a)
    }

    pub fn and(&mut self, a: Value, b: Value) -> Value {
        self.e.b.ins().band(a, b)
    }

    pub fn or(&mut self, a: Value, b: Value) -> Value {
        self.e.b.ins().bor(a, b)
    }

    pub fn not(&mut self, a: Value) -> Value {
        self.e.b.ins().bnot(a)
    }

    pub fn sel(&mut self, c: Value, a: Value, b: Value) -> Value {
        self.e.b.ins().select(c, a, b)
    }

    pub fn sel_n(&mut self, c: Value, n: f64, b: Value) -> Value {
        let n = self.n(n);
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

    pub fn bits(&mut self, a: Value) -> Value {
        self.e.b.ins().bitcast(self.int, a)
    }

    pub fn of_bits(&mut self, a: Value) -> Value {
        self.e.b.ins().bitcast(self.float, a)
    }

    pub fn int_of(&mut self, a: Value) -> Value {
        self.e.b.ins().fcvt_to_sint(self.int, a)
    }

    pub fn of_int(&mut self, a: Value) -> Value {
        self.e.b.ins().fcvt_from_sint(self.float, a)
    }

    /// Whether bits are set in an integer.
    pub fn has(&mut self, a: Value, bits: i64) -> Value {
        let bits = self.i(bits);
        let v = self.e.b.ins().band(a, bits);
        let zero = self.i(0);
        self.e.b.ins().icmp(IntCC::NotEqual, v, zero)
    }

    /// Whether the sign is minus, of zeros and NaNs too.
    pub fn minus(&mut self, a: Value) -> Value {
        let (v, zero) = (self.bits(a), self.i(0));
        self.e.b.ins().icmp(IntCC::SignedLessThan, v, zero)
    }

    /// A magnitude with a sign.
    pub fn with_sign(&mut self, a: Value, sign: Value) -> Value {
        let (a, s) = (self.bits(a), self.bits(sign));
        let (rest, top) = (self.i(0x7fff_ffff), self.i(i64::from(i32::MIN)));
        let (a, s) = (self.e.b.ins().band(a, rest), self.e.b.ins().band(s, top));
        let v = self.e.b.ins().bor(a, s);
        self.of_bits(v)
    }

    /// `a * 2^n` for whole `n` from -252 to 254, in two steps.
    pub fn scale(&mut self, a: Value, n: Value) -> Value {
        let n = self.int_of(n);
        let one = self.i(1);
        let half = self.e.b.ins().sshr(n, one);
        let rest = self.e.b.ins().isub(n, half);
        let (first, second) = (self.power(half), self.power(rest));
        let v = self.mul(a, first);
        self.mul(v, second)
    }

    /// `2^n` for whole numbers from -126 to 127.
    pub fn power(&mut self, n: Value) -> Value {
        let (bias, by) = (self.i(127), self.i(23));
        let n = self.e.b.ins().iadd(n, bias);
        let v = self.e.b.ins().ishl(n, by);
        self.of_bits(v)
    }

    /// Of a positive number: a fraction from about 0.7 to 1.4, less 1, and the exponent as a float.
    pub fn fraction(&mut self, a: Value) -> (Value, Value) {
        let small = self.lt_n(a, 2f64.powi(-126));
        let scaled = self.times(a, 2f64.powi(24));
        let v = self.sel(small, scaled, a);
        let bits = self.bits(v);
        // The bits of the root of a half are where the fraction begins.
        let begin = self.i(0x3f35_04f3);
        let off = self.e.b.ins().isub(bits, begin);
        let by = self.i(23);
        let exponent = self.e.b.ins().sshr(off, by);
        let part = self.e.b.ins().ishl(exponent, by);
        let m = self.e.b.ins().isub(bits, part);
        let m = self.of_bits(m);
        let f = self.plus(m, -1.0);
        let n = self.of_int(exponent);
        let less = self.plus(n, -24.0);
        (f, self.sel(small, less, n))
    }
}
