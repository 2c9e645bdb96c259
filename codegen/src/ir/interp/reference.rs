//! Independent semantics of operations for tests, computed per lane by the host's arithmetic.
//!
//! Lanes are bits, zero-extended from the width of the scalar type, both as operands and as
//! results.

use super::alu::{float, signed};
use crate::ir::{FloatCC, IntCC, Opcode, Scalar, Type};
use half::f16;

/// Rounds a float to a lane, to nearest even.
fn round(scalar: Scalar, v: f64) -> u64 {
    match scalar {
        Scalar::F16 => u64::from(f16::from_f64(v).to_bits()),
        Scalar::F32 => u64::from((v as f32).to_bits()),
        _ => v.to_bits(),
    }
}

/// Clamps a number to the signed or unsigned range of a lane.
fn clamp(v: i128, scalar: Scalar, to_signed: bool) -> u64 {
    let mask = i128::from(scalar.mask());
    let (low, high) = if to_signed {
        (-(mask / 2) - 1, mask / 2)
    } else {
        (0, mask)
    };
    v.clamp(low, high) as u64 & scalar.mask()
}

/// Returns `v - floor(v)`, below 1 even if that rounds to 1. Halves are computed in single
/// precision and may reach 1.
fn fraction(t: Scalar, v: f64) -> u64 {
    let bits = round(t, v - v.floor());
    let one = round(t, 1.0);
    match t {
        Scalar::F32 | Scalar::F64 if bits == one => one - 1,
        _ => bits,
    }
}

/// Executes an operation of one operand; `None` for other opcodes.
pub(super) fn unary(opcode: Opcode, from: Type, to: Type, x: u64) -> Option<u64> {
    let (f, t) = (from.scalar(), to.scalar());
    let int = |v: i64| v as u64 & t.mask();
    let math = |v: fn(f64) -> f64| round(t, v(float(f, x)));
    let (s, u) = (i128::from(signed(f, x)), i128::from(x));
    Some(match opcode {
        Opcode::Ineg => int(signed(f, x).wrapping_neg()),
        Opcode::Iabs => int(signed(f, x).wrapping_abs()),
        Opcode::Bnot => !x & f.mask(),
        Opcode::Bfrev => u64::from((x as u32).reverse_bits()),
        Opcode::Popcnt => u64::from(x.count_ones()),
        Opcode::Clz => u64::from((x as u32).leading_zeros()),
        Opcode::FbhU if x == 0 => t.mask(),
        Opcode::FbhU => u64::from((x as u32).leading_zeros()),
        Opcode::FbhS => {
            let v = x as u32 as i32;
            // Distance to the first bit that differs from the sign.
            let unlike = (v ^ (v >> 31)).leading_zeros();
            if unlike == 32 {
                t.mask()
            } else {
                u64::from(unlike)
            }
        }
        Opcode::Fbl if x == 0 => t.mask(),
        Opcode::Fbl => u64::from(x.trailing_zeros()),
        Opcode::Sextend => int(signed(f, x)),
        Opcode::Uextend => x,
        Opcode::Ireduce => x & t.mask(),
        Opcode::SstruncSat => clamp(s, t, true),
        Opcode::SutruncSat => clamp(s, t, false),
        Opcode::UstruncSat => clamp(u, t, true),
        Opcode::UutruncSat => clamp(u, t, false),
        // Through a double, a 64-bit integer would be rounded twice on its way to single.
        Opcode::FcvtFromSint if t == Scalar::F32 => u64::from((signed(f, x) as f32).to_bits()),
        Opcode::FcvtFromUint if t == Scalar::F32 => u64::from((x as f32).to_bits()),
        Opcode::FcvtFromSint => round(t, signed(f, x) as f64),
        Opcode::FcvtFromUint => round(t, x as f64),
        // Rust's casts truncate, clamp, and make NaN zero.
        Opcode::FcvtToSint => clamp(i128::from(float(f, x) as i64), t, true),
        Opcode::FcvtToUint => clamp(i128::from(float(f, x) as u64), t, false),
        Opcode::Fpromote | Opcode::Fdemote => round(t, float(f, x)),
        Opcode::Fneg => x ^ (1 << (f.bits() - 1)),
        Opcode::Fabs => x & !(1 << (f.bits() - 1)),
        Opcode::Fsat => math(|v| if v.is_nan() { 0.0 } else { v.clamp(0.0, 1.0) }),
        Opcode::Ffloor => math(f64::floor),
        Opcode::Fceil => math(f64::ceil),
        Opcode::Ftrunc => math(f64::trunc),
        Opcode::Fnearest => math(f64::round_ties_even),
        Opcode::Ffrac => fraction(t, float(f, x)),
        Opcode::Finv => math(|v| 1.0 / v),
        Opcode::Fsqrt => math(f64::sqrt),
        Opcode::Frsqrt => math(|v| 1.0 / v.sqrt()),
        Opcode::Fexp2 => math(f64::exp2),
        Opcode::Flog2 => math(f64::log2),
        Opcode::Fsin => math(f64::sin),
        Opcode::Fcos => math(f64::cos),
        _ => return None,
    })
}

/// Returns quotient and remainder of 32-bit integers. Division by zero yields what Gen's math unit
/// returns for both: the largest number, or the smallest for a negative dividend.
fn divide(a: i64, b: i64, is_signed: bool) -> (i64, i64) {
    match (b, is_signed) {
        (0, false) => (i64::from(u32::MAX), i64::from(u32::MAX)),
        (0, true) if a < 0 => (i64::from(i32::MIN), i64::from(i32::MIN)),
        (0, true) => (i64::from(i32::MAX), i64::from(i32::MAX)),
        _ => (a.wrapping_div(b), a.wrapping_rem(b)),
    }
}

/// Executes an operation of two operands of one type; `None` for other opcodes.
pub(super) fn binary(opcode: Opcode, t: Scalar, a: u64, b: u64) -> Option<u64> {
    let mask = t.mask();
    let int = |v: i128| v as u64 & mask;
    let (sa, sb) = (signed(t, a), signed(t, b));
    let (wide_a, wide_b) = (i128::from(sa), i128::from(sb));
    let count = (b % u64::from(t.bits())) as u32;
    let math = |v: fn(f64, f64) -> f64| round(t, v(float(t, a), float(t, b)));
    Some(match opcode {
        Opcode::Iadd | Opcode::Iaddc => a.wrapping_add(b) & mask,
        Opcode::Isub | Opcode::Isubb => a.wrapping_sub(b) & mask,
        Opcode::Imul => a.wrapping_mul(b) & mask,
        Opcode::Smulh => int(wide_a.wrapping_mul(wide_b) >> t.bits()),
        Opcode::Umulh => int(i128::from(a).wrapping_mul(i128::from(b)) >> t.bits()),
        Opcode::Smin => int(wide_a.min(wide_b)),
        Opcode::Smax => int(wide_a.max(wide_b)),
        Opcode::Umin => a.min(b),
        Opcode::Umax => a.max(b),
        Opcode::Savg => int((wide_a + wide_b + 1) >> 1),
        Opcode::Uavg => int((i128::from(a) + i128::from(b) + 1) >> 1),
        Opcode::Band => a & b,
        Opcode::Bor => a | b,
        Opcode::Bxor => a ^ b,
        Opcode::Ishl => (a << count) & mask,
        Opcode::Ushr => a >> count,
        Opcode::Sshr => int(i128::from(sa >> count)),
        Opcode::Sdiv => int(i128::from(divide(sa, sb, true).0)),
        Opcode::Srem => int(i128::from(divide(sa, sb, true).1)),
        Opcode::Udiv => int(i128::from(divide(a as i64, b as i64, false).0)),
        Opcode::Urem => int(i128::from(divide(a as i64, b as i64, false).1)),
        Opcode::Fadd => math(|x, y| x + y),
        Opcode::Fsub => math(|x, y| x - y),
        Opcode::Fmul => math(|x, y| x * y),
        Opcode::Fdiv => math(|x, y| x / y),
        Opcode::Fmin => math(f64::min),
        Opcode::Fmax => math(f64::max),
        Opcode::Fpow => math(|x, y| x.abs().powf(y)),
        _ => return None,
    })
}

/// Returns the second result of `iaddc` and `isubb`: carry, borrow.
pub(super) fn carry(opcode: Opcode, t: Scalar, a: u64, b: u64) -> u64 {
    match opcode {
        Opcode::Iaddc => u64::from(u128::from(a) + u128::from(b) > u128::from(t.mask())),
        _ => u64::from(a < b),
    }
}

/// Extracts a bit field, cut off at bit 31. Width and offset are taken modulo 32; width 0 returns
/// 0.
fn field(width: u64, offset: u64, v: u64, sign: bool) -> u64 {
    let (width, offset) = (width % 32, offset % 32);
    if width == 0 {
        return 0;
    }
    let width = width.min(32 - offset);
    let bits = (v >> offset) & ((1 << width) - 1);
    let top = bits >> (width - 1) & 1 == 1;
    if sign && top {
        (bits | u64::MAX << width) & 0xffff_ffff
    } else {
        bits
    }
}

/// Executes an operation of three operands of one type; `None` for other opcodes.
pub(super) fn ternary(opcode: Opcode, t: Scalar, a: u64, b: u64, c: u64) -> Option<u64> {
    let (x, y, z) = (float(t, a), float(t, b), float(t, c));
    Some(match opcode {
        Opcode::Imad => a.wrapping_mul(b).wrapping_add(c) & t.mask(),
        Opcode::Ubfe => field(a, b, c, false),
        Opcode::Sbfe => field(a, b, c, true),
        Opcode::Fma if t == Scalar::F32 => {
            u64::from((x as f32).mul_add(y as f32, z as f32).to_bits())
        }
        Opcode::Fma => round(t, x.mul_add(y, z)),
        Opcode::Flrp => round(t, x * y + (1.0 - x) * z),
        _ => return None,
    })
}

/// Compares lanes by `icmp`.
pub(super) fn int_compare(cond: IntCC, t: Scalar, a: u64, b: u64) -> bool {
    let (sa, sb) = (signed(t, a), signed(t, b));
    match cond {
        IntCC::Equal => a == b,
        IntCC::NotEqual => a != b,
        IntCC::SignedLessThan => sa < sb,
        IntCC::SignedLessThanOrEqual => sa <= sb,
        IntCC::SignedGreaterThan => sa > sb,
        IntCC::SignedGreaterThanOrEqual => sa >= sb,
        IntCC::UnsignedLessThan => a < b,
        IntCC::UnsignedLessThanOrEqual => a <= b,
        IntCC::UnsignedGreaterThan => a > b,
        IntCC::UnsignedGreaterThanOrEqual => a >= b,
    }
}

/// Compares lanes by `fcmp`.
pub(super) fn float_compare(cond: FloatCC, t: Scalar, a: u64, b: u64) -> bool {
    let (x, y) = (float(t, a), float(t, b));
    match cond {
        FloatCC::Equal => x == y,
        FloatCC::NotEqual => x != y,
        FloatCC::LessThan => x < y,
        FloatCC::LessThanOrEqual => x <= y,
        FloatCC::GreaterThan => x > y,
        FloatCC::GreaterThanOrEqual => x >= y,
    }
}
