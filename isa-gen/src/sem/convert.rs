//! The read and write phases: element bits to lanes and back.

use super::{FpMode, LANES, Round};
use crate::inst::SrcMods;
use crate::types::Type;
use half::f16;

/// The integer value of an element. Floats are not read this way.
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

/// Integer modifiers: absolute value, then negation; on logic operations negation is "not".
#[inline]
pub fn int_mods<T: super::int::IntLane>(v: T, mods: SrcMods, logic: bool) -> T {
    let v = if mods.abs { v.abs() } else { v };
    match (mods.neg, logic) {
        (false, _) => v,
        (true, false) => T::ZERO.sub(v),
        (true, true) => v.not(),
    }
}

/// A single, flushed to zero where it is a denormal that is not kept.
#[inline]
pub fn flush_f(v: f32, keep: bool) -> f32 {
    if !keep && v.is_subnormal() {
        f32::from_bits(v.to_bits() & 0x8000_0000)
    } else {
        v
    }
}

/// A double, flushed to zero where it is a denormal that is not kept.
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

/// The value of an element as a double, exactly (64-bit integers are rounded to nearest).
#[inline]
pub fn float_value(bits: u64, ty: Type, mode: &FpMode) -> f64 {
    match ty {
        Type::Hf => f64::from(f16::from_bits(flush_hf(bits as u16, mode.keep_hf)).to_f32()),
        Type::F | Type::Vf => f64::from(flush_f(f32::from_bits(bits as u32), mode.keep_f)),
        Type::Df => flush_df(f64::from_bits(bits), mode.keep_df),
        _ => int_value(bits, ty) as f64,
    }
}

/// The smallest and largest value of an integer type.
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

/// All bits of an element of a type.
pub const fn element_mask(ty: Type) -> u64 {
    match ty.bytes() {
        1 => 0xff,
        2 => 0xffff,
        4 => 0xffff_ffff,
        _ => u64::MAX,
    }
}

/// An exact integer result as element bits: clamped where saturating, else its low bits; rounded for float
/// destinations.
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
    match ty {
        Type::Df => {
            let near = v as f64;
            let err = v - near as i128;
            write_float(
                directed_df(near, err.signum() as f64, mode.round),
                ty,
                sat,
                mode,
            )
        }
        Type::F | Type::Vf => {
            let near = v as f32;
            let err = v - near as i128;
            let r = directed_f(near, err.signum() as f64, mode.round);
            write_float(f64::from(r), ty, sat, mode)
        }
        // Beyond 53 bits every integer is infinite as a half.
        _ => write_float(v as f64, ty, sat, mode),
    }
}

/// A float result as element bits: rounded to a float destination, or truncated and clamped to an integer one (a NaN
/// becomes 0). `v` carries the exact result or one rounded so that a second rounding to `ty` is right.
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
        // `as` saturates; bounds of 64-bit types are not exact doubles, so the clamp is on integers.
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
        Type::Hf => u64::from(flush_hf(to_half(v, mode.round), mode.keep_hf)),
        Type::F | Type::Vf => u64::from(flush_f(to_single(v, mode.round), mode.keep_f).to_bits()),
        _ => flush_df(v, mode.keep_df).to_bits(),
    }
}

/// Steps to the neighbour that directed rounding wants, where rounding to nearest went the other way. `err` has the
/// sign of "exact minus nearest".
#[inline]
pub fn directed_df(near: f64, err: f64, round: Round) -> f64 {
    match round {
        Round::Nearest => near,
        Round::Up if err > 0.0 => near.next_up(),
        Round::Down if err < 0.0 => near.next_down(),
        Round::Zero if err > 0.0 && near < 0.0 => near.next_up(),
        Round::Zero if err < 0.0 && near > 0.0 => near.next_down(),
        _ => near,
    }
}

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

/// A double as a single, rounded.
#[inline]
pub fn to_single(v: f64, round: Round) -> f32 {
    let near = v as f32;
    if round == Round::Nearest {
        return near;
    }
    if near.is_infinite() && v.is_finite() {
        // Overflow: directed rounding stays at the largest finite number on one side.
        let err = if near > 0.0 { -1.0 } else { 1.0 };
        return directed_f(near, err, round);
    }
    directed_f(near, v - f64::from(near), round)
}

/// A double as the bits of a half, rounded once.
pub fn to_half(v: f64, round: Round) -> u16 {
    let near = f16::from_f64(v);
    if round == Round::Nearest || v.is_nan() {
        return near.to_bits();
    }
    let err = if near.is_infinite() && v.is_finite() {
        if v > 0.0 { -1.0 } else { 1.0 }
    } else {
        v - near.to_f64()
    };
    let up = match round {
        Round::Up => err > 0.0,
        Round::Zero => err > 0.0 && v < 0.0,
        _ => false,
    };
    let down = match round {
        Round::Down => err < 0.0,
        Round::Zero => err < 0.0 && v > 0.0,
        _ => false,
    };
    let b = near.to_bits();
    match (up, down, b & 0x8000 != 0) {
        (true, _, false) | (_, true, true) => b.wrapping_add(1),
        (true, _, true) => b.wrapping_sub(1),
        // Zero has no magnitude to take from.
        (_, true, false) if b == 0 => 0x8001,
        (_, true, false) => b.wrapping_sub(1),
        _ => b,
    }
}

/// Reads the first `n` lanes of an integer execution type; the others are zero.
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
