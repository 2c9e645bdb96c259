//! The math macros: `math.invm`, `math.rsqtm` and `madm`, of which compilers build correctly
//! rounded quotients and square roots.
//!
//! Intermediate results of such a sequence may be too large or too small for their type, or need
//! more precision than it has. A special accumulator (`mme0` to `mme7`) keeps what the register
//! cannot. The last step of a sequence writes no special accumulator (`nomme`) and so rounds to the
//! type, denormals included; before it, singles are computed with a double's precision and range,
//! doubles with 64 bits of significand and any exponent. Sequences of Intel's compiler then end in
//! the correctly rounded result, which is what they promise
//! (`IR_Builder::translateVISAArithmeticDoubleInst` and its siblings).
//!
//! What a special accumulator holds for a channel is 0 where the register's element is the value.
//! Otherwise:
//!
//! | type | bits | mean |
//! |---|---|---|
//! | `f` | 28:0 | the significand's bits after those in the register |
//! | | 31:29 | 0: the exponent is the register's; else 4 more than what stands above the register's 8 bits of it |
//! | `df` | 10:0 | the significand's bits after those in the register |
//! | | 31:16 | 0: the exponent is the register's; else the exponent, and the register has 0 in place of it |

use super::convert::write_float;
use super::exact::{Format, Real, fma};
use super::{AluOp, Bits, Extra, FpMode, LANES, Outcome, Round, Undefined, convert, float, mask};
use crate::inst::{Cond, SrcMods};
use crate::op::{MathFn, Op};
use crate::types::Type;

/// What a special accumulator holds, by channel.
pub type Special = [u32; LANES];

/// A register element with what a special accumulator adds to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Element {
    bits: u64,
    special: u32,
}

impl Element {
    fn plain(bits: u64) -> Element {
        Element { bits, special: 0 }
    }
}

/// A type that macros compute in: values of the type and their wider relatives.
trait Wide: Copy {
    /// The type.
    const TYPE: Type;
    /// Reads an element, with modifiers.
    fn read(e: Element, mods: SrcMods, mode: &FpMode) -> Self;
    /// The element for a destination with a special accumulator.
    fn wide(self, round: Round) -> Element;
    /// `c + a * b`, rounded to the type, as element bits.
    fn last(c: Self, a: Self, b: Self, mode: &FpMode) -> u64;
    /// `c + a * b`, as wide as the type has it.
    fn step(c: Self, a: Self, b: Self, round: Round) -> Self;
    /// A double with the sign and kind (zero, finite, infinite, NaN) of the value.
    fn kind(self) -> f64;
    /// `1 / self`, of a finite number that is not zero.
    fn reciprocal(self) -> Self;
    /// `1 / sqrt(self)`, of a positive finite number.
    fn reciprocal_root(self) -> Self;
}

/// A single with a double's precision and range.
#[derive(Clone, Copy, Debug)]
struct Single(f64);

/// The exponent of a double whose single has 0 in its exponent's field.
const SINGLE_ZERO: i64 = 1023 - 127;

impl Wide for Single {
    const TYPE: Type = Type::F;

    fn read(e: Element, mods: SrcMods, mode: &FpMode) -> Single {
        let low = u64::from(e.special & 0x1fff_ffff);
        let code = i64::from(e.special >> 29);
        let v = if code == 0 {
            let v = convert::float_value(e.bits, Type::F, mode);
            f64::from_bits(v.to_bits() | low)
        } else {
            let exponent = (e.bits >> 23 & 0xff) as i64 + (code - 4) * 256 + SINGLE_ZERO;
            let fraction = (e.bits & 0x7f_ffff) << 29 | low;
            f64::from_bits((e.bits >> 31 & 1) << 63 | (exponent as u64 & 0x7ff) << 52 | fraction)
        };
        Single(float::float_mods(v, mods))
    }

    fn wide(self, _: Round) -> Element {
        let bits = self.0.to_bits();
        let sign = (bits >> 63) << 31;
        let exponent = (bits >> 52 & 0x7ff) as i64 - SINGLE_ZERO;
        if !self.0.is_normal() {
            // Zero, infinite, a NaN; or far below what any sequence needs.
            return Element::plain(write_float(self.0, Type::F, false, &FpMode::IEEE));
        }
        let above = exponent.div_euclid(256);
        let code = match (above, exponent) {
            (0, 1..=254) => 0,
            (-3..=3, _) => above + 4,
            (4.., _) => return Element::plain(sign | 0x7f80_0000),
            _ => return Element::plain(sign),
        };
        Element {
            bits: sign | (exponent as u64 & 0xff) << 23 | (bits >> 29 & 0x7f_ffff),
            special: (code as u32) << 29 | (bits & 0x1fff_ffff) as u32,
        }
    }

    fn last(c: Single, a: Single, b: Single, mode: &FpMode) -> u64 {
        let bits = if a.0.is_finite() && b.0.is_finite() && c.0.is_finite() {
            let [x, y, z] = [a, b, c].map(|v| Real::of(v.0));
            let exact = x.times(y).plus(z, mode.round);
            exact.pack(Format::SINGLE, mode.round)
        } else {
            let v = f64::mul_add(a.0, b.0, c.0);
            Format::SINGLE.round(v, mode.round)
        };
        flushed(bits, Type::F, mode)
    }

    fn step(c: Single, a: Single, b: Single, round: Round) -> Single {
        Single(fma(a.0, b.0, c.0, round))
    }

    fn kind(self) -> f64 {
        self.0
    }

    fn reciprocal(self) -> Single {
        Single(1.0 / self.0)
    }

    fn reciprocal_root(self) -> Single {
        Single(1.0 / self.0.sqrt())
    }
}

/// A double with 64 bits of significand and any exponent.
#[derive(Clone, Copy, Debug)]
enum Double {
    Finite(Real),
    /// An infinity or a NaN.
    Special(f64),
}

/// Bits of the significand that the register does not hold.
const DOUBLE_MORE: u32 = 11;

impl Wide for Double {
    const TYPE: Type = Type::Df;

    fn read(e: Element, mods: SrcMods, mode: &FpMode) -> Double {
        let v = float::float_mods(convert::float_value(e.bits, Type::Df, mode), mods);
        if !v.is_finite() {
            return Double::Special(v);
        }
        let r = Real::of(v);
        Double::Finite(Real {
            mant: r.mant << DOUBLE_MORE | u128::from(e.special & 0x7ff),
            exp: r.exp - DOUBLE_MORE as i32 + (e.special as i32 >> 16),
            ..r
        })
    }

    fn wide(self, round: Round) -> Element {
        let r = match self {
            Double::Finite(r) => r,
            Double::Special(v) => return Element::plain(v.to_bits()),
        };
        let f = Format::DOUBLE;
        let (mant, exp) = r.round(f.fraction + 1 + DOUBLE_MORE, i32::MIN, round);
        let rounded = Real { mant, exp, ..r };
        if mant == 0 {
            return Element::plain(rounded.pack(f, Round::Zero));
        }
        let exponent = rounded.exponent();
        // A carry may have made the significand a bit longer: its lowest bit is then 0.
        let more = (mant >> u32::from(mant >> 64 != 0)) as u32 & 0x7ff;
        let inside = (f.smallest()..=f.largest()).contains(&exponent);
        let upper = Real {
            exp: if inside { exp } else { exp - exponent },
            ..rounded
        };
        let exponent = exponent.clamp(i16::MIN.into(), i16::MAX.into()) as u32;
        Element {
            bits: upper.pack(f, Round::Zero),
            special: more | if inside { 0 } else { exponent << 16 },
        }
    }

    fn last(c: Double, a: Double, b: Double, mode: &FpMode) -> u64 {
        let bits = match Double::step(c, a, b, mode.round) {
            Double::Finite(r) => r.pack(Format::DOUBLE, mode.round),
            Double::Special(v) => v.to_bits(),
        };
        flushed(bits, Type::Df, mode)
    }

    fn step(c: Double, a: Double, b: Double, round: Round) -> Double {
        match (a, b, c) {
            (Double::Finite(x), Double::Finite(y), Double::Finite(z)) => {
                Double::Finite(x.times(y).plus(z, round))
            }
            _ => Double::Special(f64::mul_add(a.kind(), b.kind(), c.kind())),
        }
    }

    fn kind(self) -> f64 {
        match self {
            Double::Special(v) => v,
            Double::Finite(r) => {
                let magnitude = if r.mant == 0 { 0.0f64 } else { 1.0 };
                if r.negative { -magnitude } else { magnitude }
            }
        }
    }

    fn reciprocal(self) -> Double {
        self.by_significand(1, |v| 1.0 / v)
    }

    fn reciprocal_root(self) -> Double {
        self.by_significand(2, |v| 1.0 / v.sqrt())
    }
}

impl Double {
    /// A function of the significand, where a power of two may be taken out of the operand by its
    /// `degree`-th part.
    fn by_significand(self, degree: i32, f: fn(f64) -> f64) -> Double {
        let Double::Finite(x) = self else {
            return self;
        };
        let out = x.exponent().div_euclid(degree) * degree;
        let significand = Real {
            exp: x.exp - out,
            ..x
        };
        let mut r = Real::of(f(significand.to_f64(Round::Nearest)));
        r.exp -= out / degree;
        Double::Finite(r)
    }
}

/// An element, zero where it is a denormal that is not kept.
fn flushed(bits: u64, ty: Type, mode: &FpMode) -> u64 {
    write_float(convert::float_value(bits, ty, mode), ty, false, mode)
}

/// The special accumulator's condition `eo` and the result, of one channel.
fn channel<W: Wide>(
    alu: &AluOp,
    sources: [Element; 3],
    wide: bool,
    mode: &FpMode,
) -> Result<(Element, bool), Undefined> {
    let mut values = sources.into_iter().zip(alu.mods);
    let mut next = || values.next().map(|(e, m)| W::read(e, m, mode));
    let (Some(a), Some(b), Some(c)) = (next(), next(), next()) else {
        return Err(Undefined("a math macro without sources".to_owned()));
    };
    let special = |v: f64| {
        let bits = write_float(v, W::TYPE, false, mode);
        Ok((Element::plain(bits), true))
    };
    let common = |v: f64| v.is_finite() && v != 0.0;
    let result = match (alu.op, alu.math) {
        // Source 0 is the addend.
        (Op::Madm, _) if wide => W::step(a, b, c, mode.round),
        (Op::Madm, _) => return Ok((Element::plain(W::last(a, b, c, mode)), false)),
        (Op::Math, Some(MathFn::Invm)) if common(a.kind()) && common(b.kind()) => b.reciprocal(),
        (Op::Math, Some(MathFn::Invm)) => {
            // A zero, infinity or NaN: what the finite operand is does not matter, but for its
            // sign.
            let unit = |v: f64| if common(v) { v.signum() } else { v };
            return special(unit(a.kind()) / unit(b.kind()));
        }
        (Op::Math, Some(MathFn::Rsqtm)) if common(a.kind()) && a.kind() > 0.0 => {
            a.reciprocal_root()
        }
        (Op::Math, Some(MathFn::Rsqtm)) => return special(a.kind().sqrt()),
        (op, _) => return Err(Undefined(format!("{op} is no math macro"))),
    };
    Ok((result.wide(mode.round), false))
}

/// Computes the first `n` channels of `madm`, `math.invm` or `math.rsqtm`. `special` is what the
/// sources' special accumulators hold, zeros for `nomme`; `wide` says that the destination has one.
/// Gives the result and what the destination's special accumulator holds.
///
/// `invm` gives an approximation of `1 / source 1`, `rsqtm` one of `1 / sqrt(source 0)`. Where an
/// operand is zero, infinite or a NaN (or negative, for the root) they give the quotient of the
/// sources or the square root itself, and the condition `eo` is true: no further step is needed.
///
/// # Errors
/// The operation is no math macro, or has no meaning for these types.
pub fn eval(
    alu: &AluOp,
    n: usize,
    srcs: [&Bits; 3],
    special: [&Special; 3],
    wide: bool,
    extra: &Extra,
) -> Result<(Outcome, Special), Undefined> {
    let mode = &extra.mode;
    let ty = alu.dst;
    if alu.srcs.iter().flatten().any(|t| *t != ty) {
        return Err(Undefined("a math macro has one type".to_owned()));
    }
    let one = match ty {
        Type::F => channel::<Single>,
        Type::Df => channel::<Double>,
        _ => return Err(Undefined(format!("the math macros have no {ty}"))),
    };
    let mut out = Outcome {
        bits: [0; LANES],
        flags: 0,
        wide: [0; LANES],
        acc: None,
    };
    let mut kept = [0; LANES];
    let mut early = 0;
    for i in 0..n.min(LANES) {
        let source = |k: usize| Element {
            bits: srcs[k][i],
            special: special[k][i],
        };
        let (element, done) = one(alu, [source(0), source(1), source(2)], wide, mode)?;
        early |= u32::from(done) << i;
        out.bits[i] = element.bits;
        kept[i] = element.special;
    }
    out.flags = match alu.cond {
        None => 0,
        Some(Cond::Eo) => early,
        Some(cond) => {
            let mut seen = [0.0; LANES];
            for (s, bits) in seen.iter_mut().zip(&out.bits).take(n) {
                *s = convert::float_value(*bits, ty, &FpMode::IEEE);
            }
            float::compare(super::Plain, cond, &seen, &[0.0; LANES]) & mask(n)
        }
    };
    // Saturation means something of a result that is no step on the way.
    if alu.sat && !wide {
        for bits in out.bits.iter_mut().take(n) {
            let v = convert::float_value(*bits, ty, &FpMode::IEEE);
            *bits = write_float(v, ty, true, mode);
        }
    }
    Ok((out, kept))
}
