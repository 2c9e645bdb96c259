//! Exact real numbers with a single rounding. This is the slow but always correct path, for
//! rounding modes and formats that the host does not have.

use super::Round;

/// Binary floating-point format of IEEE 754: sign, exponent, fraction from the highest bit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Format {
    /// Number of exponent bits.
    pub exponent: u32,
    /// Number of fraction bits, without the hidden bit.
    pub fraction: u32,
    /// True if the largest exponent encodes infinities and NaNs. Otherwise (`hf8`) it is an
    /// ordinary exponent, and only all ones is a NaN.
    pub infinite: bool,
}

impl Format {
    /// `hf`.
    pub const HALF: Format = Format::ieee(5, 10);
    /// `f`.
    pub const SINGLE: Format = Format::ieee(8, 23);
    /// `df`.
    pub const DOUBLE: Format = Format::ieee(11, 52);
    /// `bf`.
    pub const BFLOAT: Format = Format::ieee(8, 7);
    /// `tf32`. Its 19 bits are the upper bits of a dword.
    pub const TF32: Format = Format::ieee(8, 10);
    /// `bf8`.
    pub const BF8: Format = Format::ieee(5, 2);
    /// `hf8`, OCP's E4M3: larger numbers use the encodings of the infinities.
    pub const HF8: Format = Format {
        exponent: 4,
        fraction: 3,
        infinite: false,
    };

    const fn ieee(exponent: u32, fraction: u32) -> Format {
        Format {
            exponent,
            fraction,
            infinite: true,
        }
    }

    const fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    /// Returns the exponent of the smallest normal number.
    pub const fn smallest(self) -> i32 {
        1 - self.bias()
    }

    /// Returns the exponent of the largest number.
    pub const fn largest(self) -> i32 {
        if self.infinite {
            self.bias()
        } else {
            self.bias() + 1
        }
    }

    const fn sign_bit(self, negative: bool) -> u64 {
        (negative as u64) << (self.exponent + self.fraction)
    }

    const fn fraction_mask(self) -> u64 {
        (1 << self.fraction) - 1
    }

    /// Returns a mask of all bits but the sign.
    const fn magnitude_mask(self) -> u64 {
        (1 << (self.exponent + self.fraction)) - 1
    }

    /// Returns infinity if the format has it, else the NaN.
    pub const fn infinity(self, negative: bool) -> u64 {
        let magnitude = if self.infinite {
            self.magnitude_mask() & !self.fraction_mask()
        } else {
            self.magnitude_mask()
        };
        self.sign_bit(negative) | magnitude
    }

    /// Returns the largest finite number.
    const fn max(self, negative: bool) -> u64 {
        self.sign_bit(negative) | (self.infinity(false) - 1)
    }

    /// Returns the quiet NaN.
    pub const fn nan(self, negative: bool) -> u64 {
        let quiet = if self.infinite {
            1 << (self.fraction - 1)
        } else {
            0
        };
        self.infinity(negative) | quiet
    }

    /// Returns the exact value of an element's bits. A double can represent every value of every
    /// format.
    pub fn value(self, bits: u64) -> f64 {
        if self == Format::DOUBLE {
            // Denormals of doubles are below the powers of two used here.
            return f64::from_bits(bits);
        }
        let negative = bits & self.sign_bit(true) != 0;
        let magnitude = bits & self.magnitude_mask();
        let fraction = magnitude & self.fraction_mask();
        let exponent = (magnitude >> self.fraction) as i32;
        let v = if magnitude >= self.infinity(false) {
            if magnitude == self.infinity(false) && self.infinite {
                f64::INFINITY
            } else {
                f64::NAN
            }
        } else if exponent == 0 {
            fraction as f64 * power(self.smallest() - self.fraction as i32)
        } else {
            let hidden = 1 << self.fraction;
            (fraction | hidden) as f64 * power(exponent - self.bias() - self.fraction as i32)
        };
        if negative { -v } else { v }
    }

    /// Rounds a double to the nearest number of the format, ties to even. Returns 2 to the power
    /// `largest() + 1` if that is nearest. Infinities and NaNs are preserved.
    #[inline(always)]
    pub fn nearest(self, v: f64) -> f64 {
        let exponent = (v.to_bits() >> 52 & 0x7ff) as i32 - 1023;
        if exponent > self.largest() {
            return v;
        }
        // Adding a number whose unit is the last place that is kept rounds the sum there.
        let unit = exponent.max(self.smallest()) + 52 - self.fraction as i32;
        let large = power(unit).copysign(v);
        ((v + large) - large).copysign(v)
    }

    /// Rounds a double once to an element.
    pub fn round(self, v: f64, round: Round) -> u64 {
        if v.is_nan() {
            self.nan(v.is_sign_negative())
        } else if v.is_infinite() {
            self.infinity(v.is_sign_negative())
        } else {
            Real::of(v).pack(self, round)
        }
    }
}

/// Returns 2 to a power in the range of normal doubles.
const fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// Highest bit of a normalized [`Real`], with room for one carry above it.
const TOP: u32 = 125;

/// Finite number `mant * 2^exp` with a sign.
///
/// The lowest bit of `mant` is sticky: it also stands for all lost bits below it. Roundings take
/// place far above it, so that they are those of the exact number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Real {
    /// Sign, also of zero.
    pub negative: bool,
    /// Significand, an integer.
    pub mant: u128,
    /// Exponent of the significand.
    pub exp: i32,
}

impl Real {
    /// Converts a finite double.
    pub fn of(v: f64) -> Real {
        let bits = v.to_bits();
        let fraction = bits & Format::DOUBLE.fraction_mask();
        let exponent = (bits >> 52 & 0x7ff) as i32;
        Real {
            negative: v.is_sign_negative(),
            mant: u128::from(if exponent == 0 {
                fraction
            } else {
                fraction | 1 << 52
            }),
            exp: exponent.max(1) - 1075,
        }
    }

    /// Converts an integer.
    pub fn of_int(v: i128) -> Real {
        Real {
            negative: v < 0,
            mant: v.unsigned_abs(),
            exp: 0,
        }
        .normal()
    }

    /// Negates the number.
    #[must_use]
    pub fn negate(self) -> Real {
        Real {
            negative: !self.negative,
            ..self
        }
    }

    /// Returns the exponent of the highest bit, undefined for zero.
    pub fn exponent(self) -> i32 {
        self.exp + 127 - self.mant.leading_zeros() as i32
    }

    /// Normalizes the number to have its highest bit at [`TOP`].
    fn normal(self) -> Real {
        let Some(top) = self.mant.checked_ilog2() else {
            return self;
        };
        Real {
            mant: if top <= TOP {
                self.mant << (TOP - top)
            } else {
                shift_right(self.mant, top - TOP)
            },
            exp: self.exp + top as i32 - TOP as i32,
            ..self
        }
    }

    /// Multiplies two numbers. The product is exact for significands of up to 64 bits, which all
    /// formats have.
    #[must_use]
    pub fn times(self, o: Real) -> Real {
        Real {
            negative: self.negative != o.negative,
            mant: self.mant.wrapping_mul(o.mant),
            exp: self.exp + o.exp,
        }
    }

    /// Adds two numbers. A sum of two different numbers that is zero is negative only when rounding
    /// down.
    #[must_use]
    pub fn plus(self, o: Real, round: Round) -> Real {
        match (self.mant, o.mant) {
            (0, 0) if self.negative == o.negative => return self,
            (0, 0) => {
                return Real {
                    negative: round == Round::Down,
                    ..self
                };
            }
            (0, _) => return o,
            (_, 0) => return self,
            _ => {}
        }
        let (mut a, mut b) = (self.normal(), o.normal());
        if (a.exp, a.mant) < (b.exp, b.mant) {
            (a, b) = (b, a);
        }
        let small = shift_right(b.mant, (a.exp - b.exp) as u32);
        let mant = if a.negative == b.negative {
            a.mant + small
        } else {
            a.mant - small
        };
        Real {
            negative: if mant == 0 {
                round == Round::Down
            } else {
                a.negative
            },
            mant,
            exp: a.exp,
        }
    }

    /// Rounds to `bits` significant bits, or fewer if the lowest would be below `2^lowest`. Returns
    /// the significand, which is one bit longer if rounding carried, and its exponent.
    pub fn round(self, bits: u32, lowest: i32, round: Round) -> (u128, i32) {
        let r = self.normal();
        let exp = (r.exp + (TOP + 1 - bits) as i32).max(lowest);
        let drop = (exp - r.exp) as u32;
        if r.mant == 0 {
            return (0, exp);
        }
        let (kept, half, below) = if drop > 127 {
            (0, false, true)
        } else {
            let half = r.mant >> (drop - 1) & 1 == 1;
            let below = r.mant & ((1 << (drop - 1)) - 1) != 0;
            (r.mant >> drop, half, below)
        };
        let up = match round {
            Round::Nearest => half && (below || kept & 1 == 1),
            Round::Up => !r.negative && (half || below),
            Round::Down => r.negative && (half || below),
            Round::Zero => false,
        };
        (kept + u128::from(up), exp)
    }

    /// Rounds to an element of a format.
    pub fn pack(self, f: Format, round: Round) -> u64 {
        let lowest = f.smallest() - f.fraction as i32;
        if self.mant == 0 {
            return f.sign_bit(self.negative);
        }
        let (mant, exp) = self.round(f.fraction + 1, lowest, round);
        // With the smallest exponent, the fraction correctly carries into the exponent.
        let biased = (exp - lowest) as u128;
        let magnitude = (biased << f.fraction) + mant;
        if magnitude >= u128::from(f.infinity(false)) {
            let away = match round {
                Round::Nearest => true,
                Round::Up => !self.negative,
                Round::Down => self.negative,
                Round::Zero => false,
            };
            return if away {
                f.infinity(self.negative)
            } else {
                f.max(self.negative)
            };
        }
        f.sign_bit(self.negative) | magnitude as u64
    }

    /// Rounds to a double.
    pub fn to_f64(self, round: Round) -> f64 {
        f64::from_bits(self.pack(Format::DOUBLE, round))
    }
}

/// Shifts right and keeps the lowest bit sticky.
fn shift_right(v: u128, n: u32) -> u128 {
    match n {
        0 => v,
        1..=127 => v >> n | u128::from(v & ((1 << n) - 1) != 0),
        _ => u128::from(v != 0),
    }
}

/// Computes `a * b + c` on doubles, rounded once in any mode.
pub fn fma(a: f64, b: f64, c: f64, round: Round) -> f64 {
    let nearest = f64::mul_add(a, b, c);
    if round == Round::Nearest || !(a.is_finite() && b.is_finite() && c.is_finite()) {
        return nearest;
    }
    Real::of(a)
        .times(Real::of(b))
        .plus(Real::of(c), round)
        .to_f64(round)
}

/// Computes `a + b` on doubles, rounded once in any mode.
pub fn add(a: f64, b: f64, round: Round) -> f64 {
    if round == Round::Nearest || !(a.is_finite() && b.is_finite()) {
        return a + b;
    }
    Real::of(a).plus(Real::of(b), round).to_f64(round)
}

/// Computes `a * b` on doubles, rounded once in any mode.
pub fn mul(a: f64, b: f64, round: Round) -> f64 {
    if round == Round::Nearest || !(a.is_finite() && b.is_finite()) {
        return a * b;
    }
    Real::of(a).times(Real::of(b)).to_f64(round)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sem::tests::Rng;

    fn double(r: &mut Rng) -> f64 {
        match r.u64() % 4 {
            0 => f64::from_bits(r.u64()),
            1 => f64::from_bits(r.u64() & 0x800f_ffff_ffff_ffff | (r.u64() % 120) << 52),
            2 => f64::from_bits(r.u64() & 0x800f_ffff_ffff_ffff | (990 + r.u64() % 66) << 52),
            _ => (r.u64() % 64) as f64 - 32.0,
        }
    }

    #[test]
    fn nearest_agrees_with_the_host() {
        let seed = 31;
        println!("seed {seed}");
        let mut r = Rng(seed);
        for _ in 0..300_000 {
            let v = [double(&mut r), double(&mut r), double(&mut r)];
            if v.iter().any(|x| !x.is_finite()) {
                continue;
            }
            let [a, b, c] = v;
            let [x, y, z] = v.map(Real::of);
            let same = |got: f64, want: f64| got.to_bits() == want.to_bits();
            let sum = x.plus(y, Round::Nearest).to_f64(Round::Nearest);
            assert!(same(sum, a + b), "{a:e} + {b:e}: {sum:e}");
            let product = x.times(y).to_f64(Round::Nearest);
            assert!(same(product, a * b), "{a:e} * {b:e}: {product:e}");
            let near = x.times(y).plus(z, Round::Nearest).to_f64(Round::Nearest);
            let want = f64::mul_add(a, b, c);
            assert!(same(near, want), "{a:e} * {b:e} + {c:e}: {near:e} {want:e}");
            let single = f32::from_bits(x.pack(Format::SINGLE, Round::Nearest) as u32);
            assert!(single.to_bits() == (a as f32).to_bits(), "{a:e}");
            assert!(same(Format::DOUBLE.value(a.to_bits()), a), "{a:e}");
        }
    }

    #[test]
    fn directed_results_bracket_the_exact_one() {
        let seed = 32;
        println!("seed {seed}");
        let mut r = Rng(seed);
        for _ in 0..200_000 {
            let v = [double(&mut r), double(&mut r), double(&mut r)];
            if v.iter().any(|x| !x.is_finite()) {
                continue;
            }
            let [a, b, c] = v;
            let with = |round| fma(a, b, c, round);
            let (near, up, down) = (with(Round::Nearest), with(Round::Up), with(Round::Down));
            assert!(down <= up && (near == up || near == down), "{v:?}");
            assert!(down == up || down.next_up() == up, "{v:?}");
            let zero = with(Round::Zero);
            let want = if down < 0.0 { up } else { down };
            assert_eq!(zero, want, "{v:?}");
        }
        // Integers show on which side of it the exact result is.
        for _ in 0..100_000 {
            let mut int = |bits: u32| (r.u64() >> (64 - bits)) as i64 - (1 << (bits - 1));
            let (a, b, c, k) = (int(53), int(53), int(53), int(6).unsigned_abs() as u32);
            let exact = i128::from(a) * i128::from(b) + (i128::from(c) << k);
            let c = c as f64 * f64::from(k).exp2();
            let with = |round| fma(a as f64, b as f64, c, round) as i128;
            assert!(with(Round::Down) <= exact && exact <= with(Round::Up));
        }
        assert_eq!(fma(f64::MAX, 2.0, 0.0, Round::Zero), f64::MAX);
        assert_eq!(fma(f64::MAX, 2.0, 0.0, Round::Up), f64::INFINITY);
        assert_eq!(fma(-f64::MAX, 2.0, 0.0, Round::Up), -f64::MAX);
        let tiny = f64::from_bits(1);
        assert_eq!(fma(tiny, tiny, 0.0, Round::Up), tiny);
        assert_eq!(fma(tiny, tiny, 1.0, Round::Up), 1.0f64.next_up());
        assert_eq!(fma(tiny, -tiny, 1.0, Round::Zero), 1.0f64.next_down());
        assert!(add(1.0, -1.0, Round::Down).is_sign_negative());
        assert!(add(1.0, -1.0, Round::Up).is_sign_positive());
    }

    #[test]
    fn small_formats_round_trip() {
        use half::{bf16, f16};
        for bits in 0..=u16::MAX {
            let (h, b) = (f16::from_bits(bits), bf16::from_bits(bits));
            let bits = u64::from(bits);
            let got = Format::HALF.value(bits);
            assert!(got == h.to_f64() || got.is_nan() && h.is_nan());
            if !h.is_nan() {
                assert_eq!(Format::HALF.round(got, Round::Zero), bits);
            }
            let got = Format::BFLOAT.value(bits);
            assert!(got == b.to_f64() || got.is_nan() && b.is_nan());
            if !b.is_nan() {
                assert_eq!(Format::BFLOAT.round(got, Round::Nearest), bits);
            }
        }
        for f in [Format::BF8, Format::HF8, Format::TF32] {
            for bits in 0..1 << (1 + f.exponent + f.fraction) {
                let v = f.value(bits);
                for round in [Round::Nearest, Round::Up, Round::Down, Round::Zero] {
                    if !v.is_nan() {
                        assert_eq!(f.round(v, round), bits, "{f:?} {v}");
                    }
                }
            }
        }
        assert_eq!(Format::HF8.value(0x7e), 448.0);
        assert!(Format::HF8.value(0x7f).is_nan());
        assert_eq!(Format::BF8.value(0x7b), 57344.0);
    }

    #[test]
    fn small_formats_round_to_nearest() {
        use half::{bf16, f16};
        let seed = 33;
        println!("seed {seed}");
        let mut r = Rng(seed);
        for _ in 0..200_000 {
            let v = f64::from_bits(r.u64() & 0x800f_ffff_ffff_ffff | (990 + r.u64() % 56) << 52);
            for f in [Format::HALF, Format::BFLOAT, Format::BF8, Format::TF32] {
                let got = f.nearest(v);
                let bits = f.round(v, Round::Nearest);
                assert_eq!(f.round(got, Round::Nearest), bits, "{v:e}");
                let overflow = got.abs() >= f64::from(f.largest() + 1).exp2();
                assert!(f.value(bits) == got || overflow, "{v:e}");
            }
            // The crate may round a double twice.
            let single = v as f32;
            let (h, b) = (f16::from_f32(single), bf16::from_f32(single));
            let near = |f: Format| f.round(single.into(), Round::Nearest);
            assert_eq!(near(Format::HALF), u64::from(h.to_bits()), "{single:e}");
            assert_eq!(near(Format::BFLOAT), u64::from(b.to_bits()), "{single:e}");
        }
    }
}
