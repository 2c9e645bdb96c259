//! Math macros `math.invm`, `math.rsqtm` and `madm`, from which compilers build correctly rounded
//! quotients and square roots.
//!
//! Intermediate results of such a sequence may be too large or too small for their type, or need
//! more precision. A special accumulator (`mme0` to `mme7`) holds the bits that the register
//! cannot.
//!
//! The last step of a sequence writes no special accumulator (`nomme`) and so rounds to the type,
//! denormals included. Earlier steps compute single precision with the precision and range of a
//! double, and double precision with 64 bits of significand and any exponent. Sequences of Intel's
//! compiler then end in the correctly rounded result, as documented
//! (`IR_Builder::translateVISAArithmeticDoubleInst` and its siblings).
//!
//! A special accumulator is 0 for a channel if the register's element is the value. Otherwise:
//!
//! | type | bits | meaning |
//! |---|---|---|
//! | `f` | 28:0 | bits of the significand below those in the register |
//! | | 31:29 | 0: the register has the exponent; else its bits above the register's 8, plus 4 |
//! | `df` | 10:0 | bits of the significand below those in the register |
//! | | 31:16 | 0: the register has the exponent; else the exponent, and the register has 0 |

use super::convert::write_float;
use super::exact::{Format, Real, fma};
use super::{AluOp, Bits, Extra, FpMode, LANES, Outcome, Round, Undefined, convert, float, mask};
use crate::inst::{Cond, SrcMods};
use crate::op::{MathFn, Op};
use crate::types::Type;

/// Contents of a special accumulator, by channel.
pub type Special = [u32; LANES];

/// Register element with its special accumulator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct MacroElement {
    bits: u64,
    special: u32,
}

impl MacroElement {
    fn plain(bits: u64) -> MacroElement {
        MacroElement { bits, special: 0 }
    }
}

/// Extended-precision value of a type, in which macros are computed.
trait ExtendedFloat: Copy {
    /// Register type.
    const TYPE: Type;
    /// Reads an element, with modifiers.
    fn read(e: MacroElement, mods: SrcMods, mode: &FpMode) -> Self;
    /// Converts to an element for a destination with a special accumulator.
    fn wide(self, round: Round) -> MacroElement;
    /// Computes `c + a * b`, rounded to the type, as element bits.
    fn last(c: Self, a: Self, b: Self, mode: &FpMode) -> u64;
    /// Computes `c + a * b` in the extended precision.
    fn step(c: Self, a: Self, b: Self, round: Round) -> Self;
    /// Returns a double with the sign and class (zero, finite, infinite, NaN) of the value.
    fn kind(self) -> f64;
    /// Computes `1 / self` for a finite number other than zero.
    fn reciprocal(self) -> Self;
    /// Computes `1 / sqrt(self)` for a positive finite number.
    fn reciprocal_root(self) -> Self;
}

/// Single-precision value with the precision and range of a double.
#[derive(Clone, Copy, Debug)]
struct ExtendedSingle(f64);

/// Exponent of a double whose single-precision exponent field is 0.
const SINGLE_ZERO: i64 = 1023 - 127;

impl ExtendedFloat for ExtendedSingle {
    const TYPE: Type = Type::F;

    fn read(e: MacroElement, mods: SrcMods, mode: &FpMode) -> ExtendedSingle {
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
        ExtendedSingle(float::float_mods(v, mods))
    }

    fn wide(self, _: Round) -> MacroElement {
        let bits = self.0.to_bits();
        let sign = (bits >> 63) << 31;
        let exponent = (bits >> 52 & 0x7ff) as i64 - SINGLE_ZERO;
        if !self.0.is_normal() {
            // Zero, infinity, NaN, or far below the range of any sequence.
            return MacroElement::plain(write_float(self.0, Type::F, false, &FpMode::IEEE));
        }
        let above = exponent.div_euclid(256);
        let code = match (above, exponent) {
            (0, 1..=254) => 0,
            (-3..=3, _) => above + 4,
            (4.., _) => return MacroElement::plain(sign | 0x7f80_0000),
            _ => return MacroElement::plain(sign),
        };
        MacroElement {
            bits: sign | (exponent as u64 & 0xff) << 23 | (bits >> 29 & 0x7f_ffff),
            special: (code as u32) << 29 | (bits & 0x1fff_ffff) as u32,
        }
    }

    fn last(c: ExtendedSingle, a: ExtendedSingle, b: ExtendedSingle, mode: &FpMode) -> u64 {
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

    fn step(
        c: ExtendedSingle,
        a: ExtendedSingle,
        b: ExtendedSingle,
        round: Round,
    ) -> ExtendedSingle {
        ExtendedSingle(fma(a.0, b.0, c.0, round))
    }

    fn kind(self) -> f64 {
        self.0
    }

    fn reciprocal(self) -> ExtendedSingle {
        ExtendedSingle(1.0 / self.0)
    }

    fn reciprocal_root(self) -> ExtendedSingle {
        ExtendedSingle(1.0 / self.0.sqrt())
    }
}

/// Double-precision value with 64 bits of significand and any exponent.
#[derive(Clone, Copy, Debug)]
enum ExtendedDouble {
    Finite(Real),
    /// Infinity or NaN.
    Special(f64),
}

/// Number of significand bits that the register does not hold.
const DOUBLE_MORE: u32 = 11;

impl ExtendedFloat for ExtendedDouble {
    const TYPE: Type = Type::Df;

    fn read(e: MacroElement, mods: SrcMods, mode: &FpMode) -> ExtendedDouble {
        let v = float::float_mods(convert::float_value(e.bits, Type::Df, mode), mods);
        if !v.is_finite() {
            return ExtendedDouble::Special(v);
        }
        let r = Real::of(v);
        ExtendedDouble::Finite(Real {
            mant: r.mant << DOUBLE_MORE | u128::from(e.special & 0x7ff),
            exp: r.exp - DOUBLE_MORE as i32 + (e.special as i32 >> 16),
            ..r
        })
    }

    fn wide(self, round: Round) -> MacroElement {
        let r = match self {
            ExtendedDouble::Finite(r) => r,
            ExtendedDouble::Special(v) => return MacroElement::plain(v.to_bits()),
        };
        let f = Format::DOUBLE;
        let (mant, exp) = r.round(f.fraction + 1 + DOUBLE_MORE, i32::MIN, round);
        let rounded = Real { mant, exp, ..r };
        if mant == 0 {
            return MacroElement::plain(rounded.pack(f, Round::Zero));
        }
        let exponent = rounded.exponent();
        // A carry may have lengthened the significand by a bit, whose lowest bit is then 0.
        let more = (mant >> u32::from(mant >> 64 != 0)) as u32 & 0x7ff;
        let inside = (f.smallest()..=f.largest()).contains(&exponent);
        let upper = Real {
            exp: if inside { exp } else { exp - exponent },
            ..rounded
        };
        let exponent = exponent.clamp(i16::MIN.into(), i16::MAX.into()) as u32;
        MacroElement {
            bits: upper.pack(f, Round::Zero),
            special: more | if inside { 0 } else { exponent << 16 },
        }
    }

    fn last(c: ExtendedDouble, a: ExtendedDouble, b: ExtendedDouble, mode: &FpMode) -> u64 {
        let bits = match ExtendedDouble::step(c, a, b, mode.round) {
            ExtendedDouble::Finite(r) => r.pack(Format::DOUBLE, mode.round),
            ExtendedDouble::Special(v) => v.to_bits(),
        };
        flushed(bits, Type::Df, mode)
    }

    fn step(
        c: ExtendedDouble,
        a: ExtendedDouble,
        b: ExtendedDouble,
        round: Round,
    ) -> ExtendedDouble {
        match (a, b, c) {
            (ExtendedDouble::Finite(x), ExtendedDouble::Finite(y), ExtendedDouble::Finite(z)) => {
                ExtendedDouble::Finite(x.times(y).plus(z, round))
            }
            _ => ExtendedDouble::Special(f64::mul_add(a.kind(), b.kind(), c.kind())),
        }
    }

    fn kind(self) -> f64 {
        match self {
            ExtendedDouble::Special(v) => v,
            ExtendedDouble::Finite(r) => {
                let magnitude = if r.mant == 0 { 0.0f64 } else { 1.0 };
                if r.negative { -magnitude } else { magnitude }
            }
        }
    }

    fn reciprocal(self) -> ExtendedDouble {
        self.by_significand(1, |v| 1.0 / v)
    }

    fn reciprocal_root(self) -> ExtendedDouble {
        self.by_significand(2, |v| 1.0 / v.sqrt())
    }
}

impl ExtendedDouble {
    /// Applies `f`, for which `f(x * 2^(n * degree))` is `f(x) * 2^-n`, to the significand and
    /// scales the result by the exponent.
    fn by_significand(self, degree: i32, f: fn(f64) -> f64) -> ExtendedDouble {
        let ExtendedDouble::Finite(x) = self else {
            return self;
        };
        let out = x.exponent().div_euclid(degree) * degree;
        let significand = Real {
            exp: x.exp - out,
            ..x
        };
        let mut r = Real::of(f(significand.to_f64(Round::Nearest)));
        r.exp -= out / degree;
        ExtendedDouble::Finite(r)
    }
}

/// Flushes a denormal element to zero, unless denormals are kept.
fn flushed(bits: u64, ty: Type, mode: &FpMode) -> u64 {
    write_float(convert::float_value(bits, ty, mode), ty, false, mode)
}

/// Computes the result and the condition `eo` of one channel.
fn channel<W: ExtendedFloat>(
    alu: &AluOp,
    sources: [MacroElement; 3],
    wide: bool,
    mode: &FpMode,
) -> Result<(MacroElement, bool), Undefined> {
    let mut values = sources.into_iter().zip(alu.mods);
    let mut next = || values.next().map(|(e, m)| W::read(e, m, mode));
    let (Some(a), Some(b), Some(c)) = (next(), next(), next()) else {
        return Err(Undefined("a math macro without sources".to_owned()));
    };
    let special = |v: f64| {
        let bits = write_float(v, W::TYPE, false, mode);
        Ok((MacroElement::plain(bits), true))
    };
    let common = |v: f64| v.is_finite() && v != 0.0;
    let result = match (alu.op, alu.math) {
        // Source 0 is the addend.
        (Op::Madm, _) if wide => W::step(a, b, c, mode.round),
        (Op::Madm, _) => return Ok((MacroElement::plain(W::last(a, b, c, mode)), false)),
        (Op::Math, Some(MathFn::Invm)) if common(a.kind()) && common(b.kind()) => b.reciprocal(),
        (Op::Math, Some(MathFn::Invm)) => {
            // A zero, infinity or NaN. Only the sign of the other, finite operand matters.
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

/// Computes the first `n` channels of `madm`, `math.invm` or `math.rsqtm`.
///
/// `special` holds the special accumulators of the sources, zeros for `nomme`. `wide` is set if the
/// destination has one. Returns the result and the special accumulator of the destination.
///
/// `invm` gives an approximation of `1 / source 1`, `rsqtm` one of `1 / sqrt(source 0)`. If an
/// operand is zero, infinite or a NaN (or negative, for the root), the result is exact. It is the
/// quotient of the sources, or the square root itself. The condition `eo` is then true: no further
/// step is needed.
///
/// # Errors
/// Returns an error if the operation is not a math macro, or is not defined for these types.
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
        Type::F => channel::<ExtendedSingle>,
        Type::Df => channel::<ExtendedDouble>,
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
        let source = |k: usize| MacroElement {
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
    // Saturation applies only to the last step.
    if alu.sat && !wide {
        for bits in out.bits.iter_mut().take(n) {
            let v = convert::float_value(*bits, ty, &FpMode::IEEE);
            *bits = write_float(v, ty, true, mode);
        }
    }
    Ok((out, kept))
}
