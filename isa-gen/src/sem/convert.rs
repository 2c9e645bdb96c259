//! Read and write phases: element bits to lanes and back.

use super::exact::{Format, Real};
use super::{FpMode, LANES, Round};
use crate::inst::SrcMods;
use crate::types::Type;
use half::{bf16, f16};

/// Returns the integer value of an element of an integer type.
#[inline]
pub fn int_value(bits: u64, ty: Type) -> i128 {
    match ty {
        Type::Ub => bits as u8 as i128,
        Type::B => bits as u8 as i8 as i128,
        Type::Uw | Type::Uv => bits as u16 as i128,
        Type::W | Type::V => bits as u16 as i16 as i128,
        Type::Ud => bits as u32 as i128,
        Type::D => bits as u32 as i32 as i128,
        Type::Uq => bits as i128,
        _ => bits as i64 as i128,
    }
}

/// Applies source modifiers to an integer: absolute value, then negation. On bitwise operations
/// negation is "not".
#[inline]
pub fn int_mods<T: super::int::IntLane>(v: T, mods: SrcMods, logic: bool) -> T {
    let v = if mods.abs { v.abs() } else { v };
    match (mods.neg, logic) {
        (false, _) => v,
        (true, false) => T::ZERO.sub(v),
        (true, true) => v.not(),
    }
}

/// Flushes a denormal single-precision float to zero, unless denormals are kept.
#[inline]
pub fn flush_f(v: f32, keep: bool) -> f32 {
    if !keep && v.is_subnormal() {
        f32::from_bits(v.to_bits() & 0x8000_0000)
    } else {
        v
    }
}

/// Flushes a denormal double-precision float to zero, unless denormals are kept.
#[inline]
pub fn flush_df(v: f64, keep: bool) -> f64 {
    if !keep && v.is_subnormal() {
        f64::from_bits(v.to_bits() & 1 << 63)
    } else {
        v
    }
}

fn flush_hf(bits: u16, keep: bool) -> u16 {
    if !keep && bits & 0x7c00 == 0 {
        bits & 0x8000
    } else {
        bits
    }
}

/// Returns the format of a float type that has less than single precision and is not `hf`.
fn small_format(ty: Type) -> Format {
    match ty {
        Type::Bf => Format::BFLOAT,
        Type::Tf32 => Format::TF32,
        Type::Bf8 => Format::BF8,
        _ => Format::HF8,
    }
}

/// Returns the exact value of an element as a double (64-bit integers are rounded to nearest).
#[inline]
pub fn float_value(bits: u64, ty: Type, mode: &FpMode) -> f64 {
    match ty {
        Type::F | Type::Vf => f64::from(flush_f(f32::from_bits(bits as u32), mode.keep_f)),
        Type::Hf => f64::from(f16::from_bits(flush_hf(bits as u16, mode.keep_hf)).to_f32()),
        Type::Df => flush_df(f64::from_bits(bits), mode.keep_df),
        // Native floats of accumulators are kept as doubles.
        Type::Nf => f64::from_bits(bits),
        // The upper half of a single-precision float, flushed like one.
        Type::Bf => f64::from(flush_f(f32::from_bits((bits as u32) << 16), mode.keep_f)),
        Type::Tf32 => f64::from(f32::from_bits(bits as u32 & TF32_BITS)),
        Type::Bf8 | Type::Hf8 => small_format(ty).value(bits),
        _ => int_value(bits, ty) as f64,
    }
}

/// Mask of the bits of a `tf32` in a dword.
const TF32_BITS: u32 = !0x1fff;

/// Returns the smallest and largest value of an integer type.
pub const fn int_range(ty: Type) -> (i128, i128) {
    match ty {
        Type::Ub => (0, u8::MAX as i128),
        Type::B => (i8::MIN as i128, i8::MAX as i128),
        Type::Uw | Type::Uv => (0, u16::MAX as i128),
        Type::W | Type::V => (i16::MIN as i128, i16::MAX as i128),
        Type::Ud => (0, u32::MAX as i128),
        Type::D => (i32::MIN as i128, i32::MAX as i128),
        Type::Uq => (0, u64::MAX as i128),
        _ => (i64::MIN as i128, i64::MAX as i128),
    }
}

/// Returns a mask of all bits of an element.
pub const fn element_mask(ty: Type) -> u64 {
    match ty.bytes() {
        1 => 0xff,
        2 => 0xffff,
        4 => 0xffff_ffff,
        _ => u64::MAX,
    }
}

/// Converts an exact integer result to element bits: clamped if saturating, else truncated to its
/// low bits; rounded for float destinations.
#[inline]
pub fn write_int(v: i128, ty: Type, sat: bool, mode: &FpMode) -> u64 {
    if ty.is_float() {
        return write_int_as_float(v, ty, sat, mode);
    }
    let v = if sat {
        let (lo, hi) = int_range(ty);
        v.clamp(lo, hi)
    } else {
        v
    };
    v as u64 & element_mask(ty)
}

fn write_int_as_float(v: i128, ty: Type, sat: bool, mode: &FpMode) -> u64 {
    let near = match ty {
        // Conversions of the host round once.
        Type::F | Type::Vf if mode.round == Round::Nearest => f64::from(v as f32),
        Type::F | Type::Vf => {
            let bits = Real::of_int(v).pack(Format::SINGLE, mode.round);
            f64::from(f32::from_bits(bits as u32))
        }
        _ if mode.round == Round::Nearest => v as f64,
        _ => Real::of_int(v).to_f64(mode.round),
    };
    write_float(near, ty, sat, mode)
}

/// Converts a float result to element bits: rounded for a float destination, truncated and clamped
/// for an integer one (a NaN becomes 0). `v` is the exact result, or one rounded such that the
/// second rounding to `ty` is correct.
#[inline]
pub fn write_float(v: f64, ty: Type, sat: bool, mode: &FpMode) -> u64 {
    if ty.is_int() {
        let (lo, hi) = int_range(ty);
        let v = match mode.round {
            _ if v.is_nan() => return 0,
            Round::Nearest | Round::Zero => v.trunc(),
            Round::Up => v.ceil(),
            Round::Down => v.floor(),
        };
        // `as` saturates. Bounds of 64-bit types are not exact doubles, so integers are clamped.
        return (v as i128).clamp(lo, hi) as u64 & element_mask(ty);
    }
    let v = if sat {
        // Also turns a NaN into 0, as the hardware does.
        if v >= 1.0 {
            1.0
        } else if v > 0.0 {
            v
        } else {
            0.0
        }
    } else {
        v
    };
    match ty {
        Type::F | Type::Vf => u64::from(flush_f(to_single(v, mode.round), mode.keep_f).to_bits()),
        Type::Hf => u64::from(flush_hf(to_half(v, mode.round), mode.keep_hf)),
        Type::Bf => u64::from(to_bfloat(v, mode)),
        Type::Tf32 => Format::TF32.round(v, mode.round) << 13,
        Type::Bf8 | Type::Hf8 => small_format(ty).round(v, mode.round),
        Type::Nf => v.to_bits(),
        _ => flush_df(v, mode.keep_df).to_bits(),
    }
}

/// Steps to the neighbour that directed rounding selects, if rounding to nearest went the other
/// direction. `err` has the sign of "exact minus nearest".
fn directed_f(near: f32, err: f64, round: Round) -> f32 {
    match round {
        Round::Nearest => near,
        Round::Up if err > 0.0 => near.next_up(),
        Round::Down if err < 0.0 => near.next_down(),
        Round::Zero if err > 0.0 && near < 0.0 => near.next_up(),
        Round::Zero if err < 0.0 && near > 0.0 => near.next_down(),
        _ => near,
    }
}

/// Rounds a double to single precision.
#[inline]
pub fn to_single(v: f64, round: Round) -> f32 {
    let near = v as f32;
    if round == Round::Nearest {
        return near;
    }
    if near.is_infinite() && v.is_finite() {
        // On overflow, directed rounding stays at the largest finite number on one side.
        let err = if near > 0.0 { -1.0 } else { 1.0 };
        return directed_f(near, err, round);
    }
    directed_f(near, v - f64::from(near), round)
}

/// Rounds a double once to the bits of a half-precision float.
#[inline]
pub fn to_half(v: f64, round: Round) -> u16 {
    if round == Round::Nearest {
        // The crate may convert through single precision, which is exact only after this rounding.
        return f16::from_f64(Format::HALF.nearest(v)).to_bits();
    }
    Format::HALF.round(v, round) as u16
}

/// Rounds a double once to the bits of a bfloat16. Its denormals are flushed together with those of
/// single precision.
fn to_bfloat(v: f64, mode: &FpMode) -> u16 {
    let bits = if mode.round == Round::Nearest {
        bf16::from_f64(Format::BFLOAT.nearest(v)).to_bits()
    } else {
        Format::BFLOAT.round(v, mode.round) as u16
    };
    if !mode.keep_f && bits & 0x7f80 == 0 {
        bits & 0x8000
    } else {
        bits
    }
}

/// `srnd`: rounds an element stochastically to a narrower float. It adds random bits below the last
/// bit that is kept, then truncates.
///
/// From `f` to `hf` 13 bits of `random` count, and from `hf` to `bf8` 8 bits. The lowest is at the
/// position of the source's lowest bit. Denormals are kept, NaNs and infinities are preserved.
/// Returns `None` for undefined types (`documentation/visa/instructions/SRND.md` of Intel's
/// compiler).
pub fn stochastic(bits: u64, from: Type, to: Type, random: u64) -> Option<u64> {
    let (source, result, width) = match (from, to) {
        (Type::F, Type::Hf) => (Format::SINGLE, Format::HALF, 13),
        (Type::Hf, Type::Bf8) => (Format::HALF, Format::BF8, 8),
        _ => return None,
    };
    let v = source.value(bits);
    if !v.is_finite() {
        return Some(result.round(v, Round::Zero));
    }
    // A carry out of the fraction correctly increments the exponent. A carry out of the exponent is
    // an overflow.
    let magnitude = bits & element_mask(from) >> 1;
    let bumped = magnitude + (random & ((1 << width) - 1));
    let negative = v.is_sign_negative();
    let limit = f64::from(result.largest() + 1).exp2();
    if bumped >= source.infinity(false) || source.value(bumped) >= limit {
        return Some(result.infinity(negative));
    }
    let sign = if negative { -1.0 } else { 1.0 };
    Some(result.round(source.value(bumped).copysign(sign), Round::Zero))
}

/// Reads the first `n` lanes of an integer execution type. The others are zero.
pub fn read_int<T: super::int::IntLane>(
    bits: &super::Bits,
    ty: Type,
    mods: SrcMods,
    logic: bool,
    n: usize,
) -> [T; LANES] {
    let mut out = [T::ZERO; LANES];
    for (o, b) in out.iter_mut().zip(bits).take(n) {
        *o = int_mods(T::of(int_value(*b, ty)), mods, logic);
    }
    out
}
