//! Exact functions of floats: rounding, minimum and maximum, parts.

use super::common::floats;
use super::{Method, wrong};
use crate::emit::{Emit, Leaves};
use crate::error::Error;
use gantry_codegen::ir::{FloatCC, Scalar, Value};
use spirv::OpenclStd100Op as Std;

type E<'a, 'm, 'f> = Emit<'a, 'm, 'f>;
type R = Result<Value, Error>;

pub(super) fn find(which: Std) -> Option<Method> {
    use Method::{All, One, Three, Two};
    Some(match which {
        Std::fabs => One(|e, a| e.want_float(a).map(|_| e.b.ins().fabs(a))),
        Std::floor => One(|e, a| e.want_float(a).map(|_| e.b.ins().ffloor(a))),
        Std::ceil => One(|e, a| e.want_float(a).map(|_| e.b.ins().fceil(a))),
        Std::trunc => One(|e, a| e.want_float(a).map(|_| e.b.ins().ftrunc(a))),
        Std::rint => One(|e, a| e.want_float(a).map(|_| e.b.ins().fnearest(a))),
        Std::round => One(round),
        Std::fmin => Two(|e, a, b| floats(e, &[a, b]).map(|()| e.b.ins().fmin(a, b))),
        Std::fmax => Two(|e, a, b| floats(e, &[a, b]).map(|()| e.b.ins().fmax(a, b))),
        Std::maxmag => Two(|e, a, b| magnitude(e, a, b, true)),
        Std::minmag => Two(|e, a, b| magnitude(e, a, b, false)),
        Std::fdim => Two(|e, a, b| {
            floats(e, &[a, b])?;
            let d = e.b.ins().fsub(a, b);
            let zero = e.float(a, 0.0);
            // NaN propagates.
            let at_most = e.b.ins().fcmp(FloatCC::LessThanOrEqual, a, b);
            e.choose(at_most, zero, d)
        }),
        Std::fma | Std::mad => {
            Three(|e, a, b, c| floats(e, &[a, b, c]).map(|()| e.b.ins().fma(a, b, c)))
        }
        Std::sqrt => One(|e, a| e.want_float(a).map(|_| e.root(a))),
        Std::copysign => Two(copysign),
        Std::nextafter => Two(nextafter),
        Std::nan => All(|e, call| {
            let v = e.get(*call.args.first().ok_or_else(wrong)?)?;
            let ty = call.inst.ty.expand().ok_or_else(wrong)?;
            let scalar = e.scalar(ty)?;
            let mut out = Leaves::new();
            for bits in v {
                e.want_int(bits)?;
                let quiet = match scalar {
                    Scalar::F16 => 0x7e00,
                    Scalar::F32 => 0x7fc0_0000,
                    _ => 0x7ff8_0000_0000_0000,
                };
                let quiet = e.same(bits, quiet);
                let v = e.b.ins().bor(bits, quiet);
                out.extend(e.bitcast(&[v], scalar, 1)?);
            }
            Ok(out)
        }),
        Std::ilogb => One(|e, a| {
            let (_, exponent) = super::float_parts::split(e, a)?;
            super::float_parts::ilogb(e, a, exponent)
        }),
        Std::logb => One(super::float_parts::logb),
        Std::ldexp => Two(super::float_parts::ldexp),
        Std::frexp => All(super::float_parts::frexp),
        Std::modf => All(super::float_parts::modf),
        Std::fract => All(super::float_parts::fract),
        Std::fmod => Two(|e, a, b| super::float_parts::remainder(e, a, b, false).map(|r| r.0)),
        Std::remainder => Two(|e, a, b| super::float_parts::remainder(e, a, b, true).map(|r| r.0)),
        Std::remquo => All(super::float_parts::remquo),
        _ => return None,
    })
}

/// `round`: to nearest, halves away from zero. Truncates, and adds one if the rest is a half or
/// more.
fn round(e: &mut E<'_, '_, '_>, a: Value) -> R {
    e.want_float(a)?;
    let whole = e.b.ins().ftrunc(a);
    let rest = e.b.ins().fsub(a, whole);
    let rest = e.b.ins().fabs(rest);
    let (half, one, zero) = (e.float(a, 0.5), e.float(a, 1.0), e.float(a, 0.0));
    let up = e.b.ins().fcmp(FloatCC::GreaterThanOrEqual, rest, half);
    let by = e.choose(up, one, zero)?;
    let by = copysign(e, by, a)?;
    // The sum keeps the sign of -0.0.
    Ok(e.b.ins().fadd(whole, by))
}

/// `maxmag` or `minmag`: the operand of larger or smaller magnitude. Of equal ones, the larger or
/// smaller value.
fn magnitude(e: &mut E<'_, '_, '_>, a: Value, b: Value, max: bool) -> R {
    floats(e, &[a, b])?;
    let (ma, mb) = (e.b.ins().fabs(a), e.b.ins().fabs(b));
    let (cc, both) = if max {
        (FloatCC::GreaterThan, e.b.ins().fmax(a, b))
    } else {
        (FloatCC::LessThan, e.b.ins().fmin(a, b))
    };
    let first = e.b.ins().fcmp(cc, ma, mb);
    let second = e.b.ins().fcmp(cc, mb, ma);
    let v = e.choose(second, b, both)?;
    e.choose(first, a, v)
}

pub(super) fn copysign(e: &mut E<'_, '_, '_>, a: Value, sign: Value) -> R {
    floats(e, &[a, sign])?;
    let scalar = e.scalar_of(a);
    let (a, s) = (e.bits(a)?, e.bits(sign)?);
    let top = 1u64 << (scalar.bits() - 1);
    let (rest, top) = (e.same(a, top - 1), e.same(a, top));
    let (a, s) = (e.b.ins().band(a, rest), e.b.ins().band(s, top));
    let v = e.b.ins().bor(a, s);
    first(e.bitcast(&[v], scalar, 1)?)
}

/// Single leaf.
pub(super) fn first(v: Leaves) -> R {
    v.first().copied().ok_or_else(wrong)
}

/// `nextafter`: adjacent floats differ by one in their bits, upward away from zero.
fn nextafter(e: &mut E<'_, '_, '_>, a: Value, b: Value) -> R {
    floats(e, &[a, b])?;
    let scalar = e.scalar_of(a);
    let bits = e.bits(a)?;
    let (one, minus, zero) = (e.same(bits, 1), e.same(bits, u64::MAX), e.float(a, 0.0));
    let up = e.b.ins().fcmp(FloatCC::LessThan, a, b);
    let positive = e.b.ins().fcmp(FloatCC::GreaterThan, a, zero);
    let toward = e.b.ins().bxor(up, positive);
    let by = e.choose(toward, minus, one)?;
    let next = e.b.ins().iadd(bits, by);
    let next = first(e.bitcast(&[next], scalar, 1)?)?;
    // From zero: the smallest number with the sign of the other operand.
    let least = first(e.bitcast(&[one], scalar, 1)?)?;
    let least = copysign(e, least, b)?;
    let none = e.b.ins().fcmp(FloatCC::Equal, a, zero);
    let next = e.choose(none, least, next)?;
    let same = e.b.ins().fcmp(FloatCC::Equal, a, b);
    let v = e.choose(same, b, next)?;
    // NaN propagates.
    let nan = e.is_nan(a);
    let v = e.choose(nan, a, v)?;
    let nan = e.is_nan(b);
    e.choose(nan, b, v)
}
