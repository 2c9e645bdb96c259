//! Floats of the three types as bits, and OpenCL's unit in the last place.

use crate::ulp::dd::Dd;
use half::f16;

/// Float type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Type {
    Half,
    Single,
    Double,
}

impl Type {
    pub const ALL: [Type; 3] = [Type::Half, Type::Single, Type::Double];

    pub fn name(self) -> &'static str {
        match self {
            Type::Half => "half",
            Type::Single => "float",
            Type::Double => "double",
        }
    }

    pub fn bits(self) -> u32 {
        16 << self as u32
    }

    /// Significand bits with the hidden one, and least exponent.
    pub fn format(self) -> (i32, i32) {
        match self {
            Type::Half => (11, -14),
            Type::Single => (24, -126),
            Type::Double => (53, -1022),
        }
    }

    /// Value of bits.
    pub fn value(self, bits: u64) -> f64 {
        match self {
            Type::Half => f16::from_bits(bits as u16).to_f64(),
            Type::Single => f64::from(f32::from_bits(bits as u32)),
            Type::Double => f64::from_bits(bits),
        }
    }

    /// Rounds a number to bits.
    pub fn of(self, v: f64) -> u64 {
        match self {
            Type::Half => u64::from(f16::from_f64(v).to_bits()),
            Type::Single => u64::from((v as f32).to_bits()),
            Type::Double => v.to_bits(),
        }
    }
}

/// Reference value: a sum of two floats times a power of two. Infinities, NaNs and zeros are in the
/// first.
#[derive(Clone, Copy, Debug)]
pub struct Real {
    pub v: Dd,
    pub e: i32,
}

impl From<f64> for Real {
    fn from(v: f64) -> Real {
        Real {
            v: Dd(v, 0.0),
            e: 0,
        }
    }
}

impl From<Dd> for Real {
    fn from(v: Dd) -> Real {
        Real { v, e: 0 }
    }
}

/// Exponent of a finite nonzero number.
pub fn exponent(v: f64) -> i32 {
    match v.to_bits() >> 52 & 0x7ff {
        0 => libm::ilogb(v),
        e => e as i32 - 1023,
    }
}

/// Number times a power of two, rounded once.
fn scale(v: f64, by: i32) -> f64 {
    match by {
        -1022..=1023 => v * f64::from_bits(((by + 1023) as u64) << 52),
        _ => libm::scalbn(v, by),
    }
}

/// Error of a result in OpenCL's units in the last place. It is infinite for a NaN on one side, and
/// for a zero of the other sign.
pub fn error(ty: Type, got: u64, want: Real) -> f64 {
    let g = ty.value(got);
    let w = want.v.0;
    if w.is_nan() || g.is_nan() {
        return if w.is_nan() && g.is_nan() {
            0.0
        } else {
            f64::INFINITY
        };
    }
    if w == 0.0 || w.is_infinite() {
        let same = g == w && g.is_sign_negative() == w.is_sign_negative();
        return if same { 0.0 } else { f64::INFINITY };
    }
    let (bits, least) = ty.format();
    let most = 2 - least;
    let mut e = exponent(w) + want.e;
    // Below a power of two, floats are denser. A sum is one if its second part is zero.
    let power = scale(w.abs(), -exponent(w)) == 1.0;
    if power && (want.v.1 == 0.0 || (want.v.1 < 0.0) == (w > 0.0)) {
        e -= 1;
    }
    let unit = e.clamp(least, most - 1) - (bits - 1);
    if g.is_infinite() {
        // As if it were the power of two after the greatest number.
        if (g > 0.0) != (w > 0.0) {
            return f64::INFINITY;
        }
        if e >= most {
            return 0.0;
        }
        let whole = scale(g.signum(), most - unit);
        let (a, b) = scaled(want, unit);
        return ((whole - a) - b).abs();
    }
    let (a, b) = scaled(want, unit);
    let g = if unit < -1000 {
        scale(scale(g, 500), -unit - 500)
    } else {
        scale(g, -unit)
    };
    ((g - a) - b).abs()
}

/// Reference value in units of a power of two.
fn scaled(want: Real, unit: i32) -> (f64, f64) {
    let by = want.e - unit;
    let half = by / 2;
    let s = |v: f64| scale(scale(v, half), by - half);
    (s(want.v.0), s(want.v.1))
}
