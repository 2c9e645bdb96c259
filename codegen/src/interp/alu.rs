//! What operations compute, for one lane. Bits are zero-extended from the lane's width, before and after.

use crate::ir::{FloatCC, IntCC, Opcode, Scalar, Type};
use half::f16;

/// The lane as a signed number.
pub(super) fn signed(scalar: Scalar, bits: u64) -> i64 {
    let shift = 64 - scalar.bits();
    ((bits << shift) as i64) >> shift
}

/// The lane as a float.
pub(super) fn float(scalar: Scalar, bits: u64) -> f64 {
    match scalar {
        Scalar::F16 => f16::from_bits(bits as u16).to_f64(),
        Scalar::F32 => f64::from(f32::from_bits(bits as u32)),
        Scalar::F64 => f64::from_bits(bits),
        _ => bits as f64,
    }
}

/// A float as a lane, to nearest even.
fn round(scalar: Scalar, v: f64) -> u64 {
    match scalar {
        Scalar::F16 => u64::from(f16::from_f64(v).to_bits()),
        Scalar::F32 => u64::from((v as f32).to_bits()),
        _ => v.to_bits(),
    }
}

/// A number clamped to the signed or unsigned range of a lane.
fn clamp(v: i128, scalar: Scalar, to_signed: bool) -> u64 {
    let mask = i128::from(scalar.mask());
    let (low, high) = match to_signed {
        true => (-(mask / 2) - 1, mask / 2),
        false => (0, mask),
    };
    v.clamp(low, high) as u64 & scalar.mask()
}

/// `v - floor(v)`: below 1 also where that rounds to 1, but for halves, which are computed in single.
fn fraction(t: Scalar, v: f64) -> u64 {
    let bits = round(t, v - v.floor());
    let one = round(t, 1.0);
    match t {
        Scalar::F32 | Scalar::F64 if bits == one => one - 1,
        _ => bits,
    }
}

/// An operation of one operand; `None` for an opcode that is none.
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
            // The distance to the first bit unlike the sign.
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

/// Quotient and remainder of 32-bit integers. By zero both are what Gen's math box gives: the largest number, or for a
/// negative dividend the smallest.
fn divide(a: i64, b: i64, is_signed: bool) -> (i64, i64) {
    match (b, is_signed) {
        (0, false) => (i64::from(u32::MAX), i64::from(u32::MAX)),
        (0, true) if a < 0 => (i64::from(i32::MIN), i64::from(i32::MIN)),
        (0, true) => (i64::from(i32::MAX), i64::from(i32::MAX)),
        _ => (a.wrapping_div(b), a.wrapping_rem(b)),
    }
}

/// An operation of two operands of one type; `None` for an opcode that is none.
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

/// The second result of `iaddc` and `isubb`: carry, borrow.
pub(super) fn carry(opcode: Opcode, t: Scalar, a: u64, b: u64) -> u64 {
    match opcode {
        Opcode::Iaddc => u64::from(u128::from(a) + u128::from(b) > u128::from(t.mask())),
        _ => u64::from(a < b),
    }
}

/// A bit field: it ends at bit 31, width and offset are taken modulo 32, width 0 gives 0.
fn field(width: u64, offset: u64, v: u64, sign: bool) -> u64 {
    let (width, offset) = (width % 32, offset % 32);
    if width == 0 {
        return 0;
    }
    let width = width.min(32 - offset);
    let bits = (v >> offset) & ((1 << width) - 1);
    let top = bits >> (width - 1) & 1 == 1;
    match sign && top {
        true => (bits | u64::MAX << width) & 0xffff_ffff,
        false => bits,
    }
}

/// An operation of three operands of one type; `None` for an opcode that is none.
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

/// `icmp` of a lane.
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

/// `fcmp` of a lane.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn i32s(opcode: Opcode, a: i32, b: i32) -> Option<i32> {
        binary(
            opcode,
            Scalar::I32,
            u64::from(a as u32),
            u64::from(b as u32),
        )
        .map(|v| v as i32)
    }

    fn un(opcode: Opcode, from: Scalar, to: Scalar, x: u64) -> Option<u64> {
        unary(opcode, Type::scalar_of(from), Type::scalar_of(to), x)
    }

    #[test]
    fn integers() {
        assert_eq!(i32s(Opcode::Iadd, i32::MAX, 1), Some(i32::MIN));
        assert_eq!(i32s(Opcode::Smulh, -1, 1), Some(-1));
        assert_eq!(i32s(Opcode::Umulh, -1, -1), Some(-2));
        assert_eq!(i32s(Opcode::Savg, -1, -2), Some(-1));
        assert_eq!(i32s(Opcode::Sshr, -8, 33), Some(-4));
        assert_eq!(i32s(Opcode::Ushr, -8, 60), Some(15));
        assert_eq!(i32s(Opcode::Sdiv, -7, 2), Some(-3));
        assert_eq!(i32s(Opcode::Srem, -7, 2), Some(-1));
        assert_eq!(i32s(Opcode::Sdiv, i32::MIN, -1), Some(i32::MIN));
        assert_eq!(i32s(Opcode::Udiv, 7, 0), Some(-1));
        assert_eq!(i32s(Opcode::Sdiv, -7, 0), Some(i32::MIN));
        assert_eq!(binary(Opcode::Ishl, Scalar::I8, 0x81, 9), Some(0x02));
        assert_eq!(carry(Opcode::Iaddc, Scalar::I32, 0xffff_ffff, 1), 1);
        assert_eq!(carry(Opcode::Isubb, Scalar::I32, 0, 1), 1);
        assert_eq!(
            ternary(Opcode::Sbfe, Scalar::I32, 4, 4, 0xf0),
            Some(0xffff_ffff)
        );
        assert_eq!(
            ternary(Opcode::Ubfe, Scalar::I32, 8, 28, 0xa000_0000),
            Some(0xa)
        );
        assert_eq!(ternary(Opcode::Ubfe, Scalar::I32, 32, 0, 0xa), Some(0));
    }

    #[test]
    fn bits() {
        let (i8, i32) = (Scalar::I8, Scalar::I32);
        assert_eq!(un(Opcode::FbhS, i32, i32, 0xffff_fffe), Some(31));
        assert_eq!(un(Opcode::FbhS, i32, i32, 0xffff_ffff), Some(0xffff_ffff));
        assert_eq!(un(Opcode::FbhU, i32, i32, 1), Some(31));
        assert_eq!(un(Opcode::Fbl, i32, i32, 8), Some(3));
        assert_eq!(un(Opcode::Sextend, i8, i32, 0x80), Some(0xffff_ff80));
        assert_eq!(un(Opcode::SutruncSat, i32, i8, 0xffff_ffff), Some(0));
        assert_eq!(un(Opcode::UstruncSat, i32, i8, 0xffff_ffff), Some(0x7f));
        assert_eq!(un(Opcode::SstruncSat, i32, i8, 0xffff_ff00), Some(0x80));
    }

    #[test]
    fn floats() {
        let f = |v: f32| u64::from(v.to_bits());
        let (f32s, i8, i32) = (Scalar::F32, Scalar::I8, Scalar::I32);
        assert_eq!(un(Opcode::FcvtToSint, f32s, i8, f(-1000.5)), Some(0x80));
        assert_eq!(un(Opcode::FcvtToUint, f32s, i32, f(-1.0)), Some(0));
        assert_eq!(
            un(Opcode::FcvtToUint, f32s, i32, f(1e20)),
            Some(0xffff_ffff)
        );
        assert_eq!(un(Opcode::FcvtToSint, f32s, i32, f(f32::NAN)), Some(0));
        assert_eq!(un(Opcode::Fsat, f32s, f32s, f(f32::NAN)), Some(0));
        assert_eq!(un(Opcode::Fnearest, f32s, f32s, f(2.5)), Some(f(2.0)));
        assert_eq!(un(Opcode::Fneg, f32s, f32s, f(0.0)), Some(f(-0.0)));
        assert_eq!(
            binary(Opcode::Fmin, f32s, f(f32::NAN), f(2.0)),
            Some(f(2.0))
        );
        assert!(float_compare(
            FloatCC::NotEqual,
            f32s,
            f(f32::NAN),
            f(f32::NAN)
        ));
        assert!(!float_compare(
            FloatCC::GreaterThanOrEqual,
            f32s,
            f(f32::NAN),
            f(1.0)
        ));
        assert!(int_compare(IntCC::UnsignedGreaterThan, i8, 0x80, 0x7f));
        assert!(int_compare(IntCC::SignedLessThan, i8, 0x80, 0x7f));
    }
}
