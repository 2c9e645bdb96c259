//! Texels from bytes, and bytes from texels, by the format that the image has at the launch.
//!
//! A texel is up to four dwords in memory. They hold up to four components of a channel type,
//! arranged by a channel order, both in OpenCL's numbers.

use super::body::Body;
use super::packed::TENS;
use super::place::FIRST_ORDER;
use crate::ir::{FloatCC, ImageFact, IntCC, MemFlags, Scalar, Type, Value};

/// Dwords and components of a texel.
pub(super) const PARTS: usize = 4;

/// Channel types.
const SNORM8: i64 = 0x10d0;
const SNORM16: i64 = 0x10d1;
const UNORM8: i64 = 0x10d2;
const UNORM16: i64 = 0x10d3;
const SINT8: i64 = 0x10d7;
const SINT16: i64 = 0x10d8;
const UINT8: i64 = 0x10da;
const UINT16: i64 = 0x10db;
const HALF: i64 = 0x10dd;
/// Channel types of packed texels: `UNORM_INT_2_101010`, `UNSIGNED_INT_2_101010`, `FLOAT_10_11_11`
/// and `FLOAT_5_999`.
const UNORM10: i64 = 0x10e5;
const UINT10: i64 = 0x11d0;
const FLOAT11: i64 = 0x11d1;
const SHARED: i64 = 0x11d2;

/// Channel orders.
const ALPHA: i64 = FIRST_ORDER + 1;
const RGBA: i64 = FIRST_ORDER + 5;
const BGRA: i64 = FIRST_ORDER + 6;
const INTENSITY: i64 = FIRST_ORDER + 8;
const LUMINANCE: i64 = FIRST_ORDER + 9;
const SRGBA: i64 = FIRST_ORDER + 0x11;
const SBGRA: i64 = FIRST_ORDER + 0x12;

impl Body<'_> {
    /// Loads the texels at addresses. Lanes outside of the mask get the border: zeros, and 1 in the
    /// components that the format does not have.
    pub fn fetch(&mut self, address: Value, mask: Value) -> Vec<Value> {
        let words = self.load_words(address, mask);
        let components = if self.access.float {
            self.floats_of(&words)
        } else {
            self.integers_of(&words)
        };
        self.arranged(&components)
    }

    /// Loads the dwords of texels. Those that a texel does not have are 0, as the rest of a dword.
    fn load_words(&mut self, address: Value, mask: Value) -> Vec<Value> {
        let shift = self.texel_shift();
        let small = |scalar: Scalar| {
            move |body: &mut Self| {
                let ty = body.lanes(scalar);
                let none = body.b.ins().iconst(ty, 0);
                let v = body.b.ins().load_masked(ty, address, 0, mask, none);
                let int = body.lanes(Scalar::I32);
                let zero = body.int(0);
                vec![body.b.ins().uextend(int, v), zero, zero, zero]
            }
        };
        let words = |count: u32| {
            move |body: &mut Self| {
                let ty = body.lanes(Scalar::I32);
                let ty = ty.by(count * ty.lanes());
                let none = body.b.ins().iconst(ty, 0);
                let v = body.b.ins().load_masked(ty, address, 0, mask, none);
                let mut out = body.split(v, count);
                let zero = body.int(0);
                out.resize(PARTS, zero);
                out
            }
        };
        self.choose(
            shift,
            &mut words(4),
            &mut [
                (&[0], &mut small(Scalar::I8)),
                (&[1], &mut small(Scalar::I16)),
                (&[2], &mut words(1)),
                (&[3], &mut words(2)),
            ],
        )
    }

    /// Returns the fields of some bits in dwords, zero-extended.
    fn fields(&mut self, words: &[Value], bits: i64) -> Vec<Value> {
        let each = (32 / bits) as usize;
        let ones = self.int((1 << bits) - 1);
        let mut out = Vec::new();
        for n in 0..PARTS {
            let Some(&word) = words.get(n / each) else {
                continue;
            };
            let by = (n % each) as i64 * bits;
            let by = self.int(by);
            let v = self.b.ins().ushr(word, by);
            out.push(self.and(v, ones));
        }
        out
    }

    /// Sign-extends fields of some bits.
    fn signed(&mut self, fields: &[Value], bits: i64) -> Vec<Value> {
        let by = self.int(32 - bits);
        let mut out = Vec::new();
        for &v in fields {
            let v = self.b.ins().ishl(v, by);
            out.push(self.b.ins().sshr(v, by));
        }
        out
    }

    /// Returns the components of integer texels.
    fn integers_of(&mut self, words: &[Value]) -> Vec<Value> {
        let channel = self.fact(ImageFact::ChannelType);
        let unsigned = |bits: i64| move |body: &mut Self| body.fields(words, bits);
        let signed = |bits: i64| {
            move |body: &mut Self| {
                let fields = body.fields(words, bits);
                body.signed(&fields, bits)
            }
        };
        self.choose(
            channel,
            &mut |_| words.to_vec(),
            &mut [
                (&[UINT8], &mut unsigned(8)),
                (&[UINT16], &mut unsigned(16)),
                (&[SINT8], &mut signed(8)),
                (&[SINT16], &mut signed(16)),
                (&[UINT10], &mut |body| body.packed_fields(words, &TENS)),
            ],
        )
    }

    /// Returns the components of float texels. Colors of sRGB are linear.
    fn floats_of(&mut self, words: &[Value]) -> Vec<Value> {
        let channel = self.fact(ImageFact::ChannelType);
        let scaled = |body: &mut Self, fields: Vec<Value>, bits: i64| -> Vec<Value> {
            let most = ((1u32 << bits) - 1) as f32;
            let scale = body.float(f64::from(1.0 / most));
            let mut out = Vec::new();
            for v in fields {
                let v = body.single_of(v);
                out.push(body.b.ins().fmul(v, scale));
            }
            out
        };
        let unorm = |bits: i64| {
            move |body: &mut Self| {
                let fields = body.fields(words, bits);
                scaled(body, fields, bits)
            }
        };
        let snorm = |bits: i64| {
            move |body: &mut Self| {
                let fields = body.fields(words, bits);
                let fields = body.signed(&fields, bits);
                // The lowest number is -1 as the one above it.
                let least = body.float(-1.0);
                let all = scaled(body, fields, bits - 1);
                all.into_iter()
                    .map(|v| body.b.ins().fmax(v, least))
                    .collect()
            }
        };
        let mut half = |body: &mut Self| {
            let mut out = Vec::new();
            for v in body.fields(words, 16) {
                let (words, halves) = (body.lanes(Scalar::I16), body.lanes(Scalar::F16));
                let v = body.b.ins().ireduce(words, v);
                let v = body.b.ins().bitcast(halves, v);
                let singles = body.lanes(Scalar::F32);
                out.push(body.b.ins().fpromote(singles, v));
            }
            out
        };
        let mut single = |body: &mut Self| {
            let all = words.iter().map(|&v| body.cast(Scalar::F32, v));
            let all = all.collect::<Vec<_>>();
            // Behind all numbers of formats that are not packed.
            let first = body.one(UNORM10);
            let is_packed = body.icmp(IntCC::UnsignedGreaterThanOrEqual, channel, first);
            body.choose_if(
                is_packed,
                &mut |body| {
                    body.choose(
                        channel,
                        &mut |body| body.unorm10(words),
                        &mut [
                            (&[FLOAT11], &mut |body| body.float11(words)),
                            (&[SHARED], &mut |body| body.shared_exponent(words)),
                        ],
                    )
                },
                &all,
            )
        };
        let linear = self.choose(
            channel,
            &mut single,
            &mut [
                (&[UNORM8], &mut unorm(8)),
                (&[UNORM16], &mut unorm(16)),
                (&[SNORM8], &mut snorm(8)),
                (&[SNORM16], &mut snorm(16)),
                (&[HALF], &mut half),
            ],
        );
        let encoded = self.is_srgb();
        let colors = linear.clone();
        self.choose_if(
            encoded,
            &mut |body| {
                let mut out = Vec::new();
                for (n, &v) in colors.iter().enumerate() {
                    out.push(if n < 3 { body.linear_of_srgb(v) } else { v });
                }
                out
            },
            &linear,
        )
    }

    /// Returns true if the image has colors of sRGB.
    fn is_srgb(&mut self) -> Value {
        let order = self.fact(ImageFact::ChannelOrder);
        let first = self.one(SRGBA);
        self.icmp(IntCC::UnsignedGreaterThanOrEqual, order, first)
    }

    /// Converts components of sRGB to linear light (OpenCL 8.4).
    fn linear_of_srgb(&mut self, c: Value) -> Value {
        let by = self.float(1.0 / 12.92);
        let low = self.b.ins().fmul(c, by);
        let [plus, by, power] = [0.055, 1.0 / 1.055, 2.4].map(|n| self.float(n));
        let high = self.b.ins().fadd(c, plus);
        let high = self.b.ins().fmul(high, by);
        let high = self.b.ins().fpow(high, power);
        let border = self.float(0.04045);
        let is_low = self.b.ins().fcmp(FloatCC::LessThanOrEqual, c, border);
        self.b.ins().select(is_low, low, high)
    }

    /// Converts linear light to components of sRGB.
    fn srgb_of_linear(&mut self, c: Value) -> Value {
        let c = self.b.ins().fsat(c);
        let by = self.float(12.92);
        let low = self.b.ins().fmul(c, by);
        let [by, minus, power] = [1.055, -0.055, 1.0 / 2.4].map(|n| self.float(n));
        let high = self.b.ins().fpow(c, power);
        let high = self.b.ins().fmul(high, by);
        let high = self.b.ins().fadd(high, minus);
        let border = self.float(0.003_130_8);
        let is_low = self.b.ins().fcmp(FloatCC::LessThan, c, border);
        self.b.ins().select(is_low, low, high)
    }

    /// Arranges components from memory as red, green, blue and alpha.
    fn arranged(&mut self, components: &[Value]) -> Vec<Value> {
        let &[a, b, c, d] = components else {
            return components.to_vec();
        };
        let (zero, one) = if self.access.float {
            (self.float(0.0), self.float(1.0))
        } else {
            (self.int(0), self.int(1))
        };
        let order = self.fact(ImageFact::ChannelOrder);
        self.choose(
            order,
            &mut |_| vec![a, b, c, one],
            &mut [
                (&[RGBA, SRGBA], &mut |_| vec![a, b, c, d]),
                (&[BGRA, SBGRA], &mut |_| vec![c, b, a, d]),
                (&[ALPHA], &mut |_| vec![zero, zero, zero, a]),
                (&[INTENSITY], &mut |_| vec![a; PARTS]),
                (&[LUMINANCE], &mut |_| vec![a, a, a, one]),
            ],
        )
    }

    /// Stores texels to addresses.
    pub fn put(&mut self, address: Value, mask: Value, texel: &[Value]) {
        let &[r, g, b, a] = texel else {
            return;
        };
        let order = self.fact(ImageFact::ChannelOrder);
        let components = self.choose(
            order,
            &mut |_| vec![r, g, b, a],
            &mut [
                (&[BGRA, SBGRA], &mut |_| vec![b, g, r, a]),
                (&[ALPHA], &mut |_| vec![a, g, b, r]),
            ],
        );
        let words = if self.access.float {
            self.words_of_floats(&components)
        } else {
            self.words_of_integers(&components)
        };
        self.store_words(address, mask, &words);
    }

    /// Packs fields of some bits, of which nothing else is set, to dwords.
    fn packed(&mut self, fields: &[Value], bits: i64) -> Vec<Value> {
        let each = (32 / bits) as usize;
        let mut out = Vec::new();
        for some in fields.chunks(each) {
            let mut word: Option<Value> = None;
            for (n, &field) in some.iter().enumerate() {
                word = Some(match word {
                    None => field,
                    Some(word) => {
                        let by = self.int(n as i64 * bits);
                        let high = self.b.ins().ishl(field, by);
                        self.b.ins().bor(word, high)
                    }
                });
            }
            out.extend(word);
        }
        let zero = self.int(0);
        out.resize(PARTS, zero);
        out
    }

    /// Returns the dwords of integer components, clamped to the range of the format.
    fn words_of_integers(&mut self, components: &[Value]) -> Vec<Value> {
        let channel = self.fact(ImageFact::ChannelType);
        let unsigned = |bits: i64| {
            move |body: &mut Self| {
                let most = body.int((1 << bits) - 1);
                let all = components.iter().map(|&v| body.b.ins().umin(v, most));
                let all: Vec<_> = all.collect();
                body.packed(&all, bits)
            }
        };
        let signed = |bits: i64| {
            move |body: &mut Self| {
                let most = (1 << (bits - 1)) - 1;
                let [low, high, ones] = [-most - 1, most, (1 << bits) - 1].map(|n| body.int(n));
                let mut all = Vec::new();
                for &v in components {
                    let v = body.clamp(v, low, high);
                    all.push(body.and(v, ones));
                }
                body.packed(&all, bits)
            }
        };
        self.choose(
            channel,
            &mut |_| components.to_vec(),
            &mut [
                (&[UINT8], &mut unsigned(8)),
                (&[UINT16], &mut unsigned(16)),
                (&[SINT8], &mut signed(8)),
                (&[SINT16], &mut signed(16)),
                (&[UINT10], &mut |body| body.words_of_tens(components)),
            ],
        )
    }

    /// Returns the dwords of float components, rounded to the nearest even and clamped to the range
    /// of the format.
    fn words_of_floats(&mut self, components: &[Value]) -> Vec<Value> {
        let encoded = self.is_srgb();
        let colors = components.to_vec();
        let components = self.choose_if(
            encoded,
            &mut |body| {
                let mut out = Vec::new();
                for (n, &v) in colors.iter().enumerate() {
                    out.push(if n < 3 { body.srgb_of_linear(v) } else { v });
                }
                out
            },
            components,
        );
        let components = components.as_slice();
        let channel = self.fact(ImageFact::ChannelType);
        let unorm = |bits: i64| {
            move |body: &mut Self| {
                let scale = body.float(((1i64 << bits) - 1) as f64);
                let mut all = Vec::new();
                for &v in components {
                    let v = body.b.ins().fsat(v);
                    let v = body.b.ins().fmul(v, scale);
                    let v = body.b.ins().fnearest(v);
                    all.push(body.int_of(v));
                }
                body.packed(&all, bits)
            }
        };
        let snorm = |bits: i64| {
            move |body: &mut Self| {
                let most = ((1i64 << (bits - 1)) - 1) as f64;
                let [scale, low, zero] = [most, -most - 1.0, 0.0].map(|n| body.float(n));
                let ones = body.int((1 << bits) - 1);
                let mut all = Vec::new();
                for &v in components {
                    // A NaN is 0.
                    let number = body.b.ins().fcmp(FloatCC::Equal, v, v);
                    let v = body.b.ins().select(number, v, zero);
                    let v = body.b.ins().fmul(v, scale);
                    let v = body.b.ins().fnearest(v);
                    let v = body.b.ins().fmax(v, low);
                    let v = body.b.ins().fmin(v, scale);
                    let v = body.int_of(v);
                    all.push(body.and(v, ones));
                }
                body.packed(&all, bits)
            }
        };
        let mut half = |body: &mut Self| {
            let mut all = Vec::new();
            for &v in components {
                let (halves, words) = (body.lanes(Scalar::F16), body.lanes(Scalar::I16));
                let v = body.b.ins().fdemote(halves, v);
                let v = body.b.ins().bitcast(words, v);
                let ints = body.lanes(Scalar::I32);
                all.push(body.b.ins().uextend(ints, v));
            }
            body.packed(&all, 16)
        };
        let mut single = |body: &mut Self| {
            let all = components.iter().map(|&v| body.cast(Scalar::I32, v));
            all.collect::<Vec<_>>()
        };
        self.choose(
            channel,
            &mut single,
            &mut [
                (&[UNORM8], &mut unorm(8)),
                (&[UNORM16], &mut unorm(16)),
                (&[SNORM8], &mut snorm(8)),
                (&[SNORM16], &mut snorm(16)),
                (&[HALF], &mut half),
                (&[UNORM10], &mut |body| body.words_of_unorm10(components)),
                (&[FLOAT11], &mut |body| body.words_of_float11(components)),
            ],
        )
    }

    /// Stores as many bytes of dwords as a texel has.
    fn store_words(&mut self, address: Value, mask: Value, words: &[Value]) {
        let shift = self.texel_shift();
        let mem = MemFlags::default();
        let small = |scalar: Scalar| {
            move |body: &mut Self| {
                let ty: Type = body.lanes(scalar);
                if let Some(&word) = words.first() {
                    let v = body.b.ins().ireduce(ty, word);
                    body.b.ins().store_to(mem, v, address, 0, Some(mask));
                }
                Vec::new()
            }
        };
        let many = |count: usize| {
            move |body: &mut Self| {
                let v = match words.get(..count) {
                    Some(&[word]) => word,
                    Some(words) => body.join(words),
                    None => return Vec::new(),
                };
                body.b.ins().store_to(mem, v, address, 0, Some(mask));
                Vec::new()
            }
        };
        self.choose(
            shift,
            &mut many(4),
            &mut [
                (&[0], &mut small(Scalar::I8)),
                (&[1], &mut small(Scalar::I16)),
                (&[2], &mut many(1)),
                (&[3], &mut many(2)),
            ],
        );
    }
}
