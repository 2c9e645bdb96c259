//! Texels that are one dword: 10, 10, 10 and 2 bits, or floats of 11, 11 and 10 bits, or three
//! floats with one exponent. The first component has the lowest bits.
//!
//! Texels with one exponent are only read, as by samplers.

use super::body::Body;
use super::formats::PARTS;
use crate::ir::{Scalar, Value};

/// Bits of the components of `UNORM_INT_2_101010` and its integers.
pub(super) const TENS: [i64; 4] = [10, 10, 10, 2];
/// Bits of the components of `FLOAT_10_11_11`.
const FLOATS: [i64; 3] = [11, 11, 10];
/// Bits of the components and the exponent of `FLOAT_5_999`.
const SHARED: [i64; 4] = [9, 9, 9, 5];

/// Bits of the mantissa of a single, and of a half.
const SINGLE_MANTISSA: i64 = 23;
/// Exponent of a single that is 1, less those of `FLOAT_5_999` for its lowest bit.
const SHARED_BIAS: i64 = 127 - 15 - 9;
/// Bits of a half behind its sign and exponent, and of its quiet NaN.
const HALF_BITS: i64 = 15;
const HALF_NAN: i64 = 0x7e00;

impl Body<'_> {
    /// Returns the fields of a dword, the lowest first.
    pub fn packed_fields(&mut self, words: &[Value], bits: &[i64]) -> Vec<Value> {
        let Some(&word) = words.first() else {
            return Vec::new();
        };
        let (mut at, mut out) = (0, Vec::new());
        for &n in bits {
            let mut v = word;
            if at > 0 {
                let by = self.int(at);
                v = self.b.ins().ushr(v, by);
            }
            at += n;
            if at < 32 {
                let ones = self.int((1 << n) - 1);
                v = self.and(v, ones);
            }
            out.push(v);
        }
        out
    }

    /// Joins fields, of which nothing else is set, to the first dword of a texel.
    fn joined_fields(&mut self, fields: &[Value], bits: &[i64]) -> Vec<Value> {
        let (mut at, mut word) = (0, None);
        for (&field, n) in fields.iter().zip(bits) {
            word = Some(match word {
                None => field,
                Some(word) => {
                    let by = self.int(at);
                    let high = self.b.ins().ishl(field, by);
                    self.b.ins().bor(word, high)
                }
            });
            at += n;
        }
        let zero = self.int(0);
        let mut out: Vec<Value> = word.into_iter().collect();
        out.resize(PARTS, zero);
        out
    }

    /// Returns the components of `UNORM_INT_2_101010`.
    pub fn unorm10(&mut self, words: &[Value]) -> Vec<Value> {
        let mut out = Vec::new();
        for (v, bits) in self.packed_fields(words, &TENS).into_iter().zip(TENS) {
            let most = ((1u32 << bits) - 1) as f32;
            let scale = self.float(f64::from(1.0 / most));
            let v = self.single_of(v);
            out.push(self.b.ins().fmul(v, scale));
        }
        out
    }

    /// Returns the dwords of `UNORM_INT_2_101010`.
    pub fn words_of_unorm10(&mut self, components: &[Value]) -> Vec<Value> {
        let mut all = Vec::new();
        for (&v, bits) in components.iter().zip(TENS) {
            let scale = self.float(((1i64 << bits) - 1) as f64);
            let v = self.b.ins().fsat(v);
            let v = self.b.ins().fmul(v, scale);
            let v = self.b.ins().fnearest(v);
            all.push(self.int_of(v));
        }
        self.joined_fields(&all, &TENS)
    }

    /// Returns the dwords of `UNSIGNED_INT_2_101010`.
    pub fn words_of_tens(&mut self, components: &[Value]) -> Vec<Value> {
        let mut all = Vec::new();
        for (&v, bits) in components.iter().zip(TENS) {
            let most = self.int((1 << bits) - 1);
            all.push(self.b.ins().umin(v, most));
        }
        self.joined_fields(&all, &TENS)
    }

    /// Returns the components of `FLOAT_10_11_11`: halves without their sign and lowest bits.
    pub fn float11(&mut self, words: &[Value]) -> Vec<Value> {
        let mut out = Vec::new();
        for (v, bits) in self.packed_fields(words, &FLOATS).into_iter().zip(FLOATS) {
            let by = self.int(HALF_BITS - bits);
            let v = self.b.ins().ishl(v, by);
            let (words, halves) = (self.lanes(Scalar::I16), self.lanes(Scalar::F16));
            let v = self.b.ins().ireduce(words, v);
            let v = self.b.ins().bitcast(halves, v);
            let singles = self.lanes(Scalar::F32);
            out.push(self.b.ins().fpromote(singles, v));
        }
        out.push(self.float(1.0));
        out
    }

    /// Returns the dwords of `FLOAT_10_11_11`, rounded to the nearest even. What is below 0 is 0,
    /// and a NaN stays one.
    pub fn words_of_float11(&mut self, components: &[Value]) -> Vec<Value> {
        let mut all = Vec::new();
        for (&v, bits) in components.iter().zip(FLOATS) {
            let cut = HALF_BITS - bits;
            let (words, halves) = (self.lanes(Scalar::I16), self.lanes(Scalar::F16));
            let v = self.b.ins().fdemote(halves, v);
            let v = self.b.ins().bitcast(words, v);
            let ints = self.lanes(Scalar::I32);
            let v = self.b.ins().sextend(ints, v);
            let (zero, nan) = (self.int(0), self.int(HALF_NAN));
            let v = self.clamp(v, zero, nan);
            let by = self.int(cut);
            let last = self.b.ins().ushr(v, by);
            let one = self.int(1);
            let last = self.and(last, one);
            let below_half = self.int((1 << (cut - 1)) - 1);
            let v = self.b.ins().iadd(v, below_half);
            let v = self.b.ins().iadd(v, last);
            all.push(self.b.ins().ushr(v, by));
        }
        self.joined_fields(&all, &FLOATS)
    }

    /// Returns the components of `FLOAT_5_999`.
    pub fn shared_exponent(&mut self, words: &[Value]) -> Vec<Value> {
        let mut fields = self.packed_fields(words, &SHARED);
        let Some(exponent) = fields.pop() else {
            return fields;
        };
        let bias = self.int(SHARED_BIAS);
        let exponent = self.b.ins().iadd(exponent, bias);
        let by = self.int(SINGLE_MANTISSA);
        let scale = self.b.ins().ishl(exponent, by);
        let scale = self.cast(Scalar::F32, scale);
        let mut out = Vec::new();
        for v in fields {
            let v = self.single_of(v);
            out.push(self.b.ins().fmul(v, scale));
        }
        out.push(self.float(1.0));
        out
    }
}
