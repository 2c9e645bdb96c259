//! Semantics of operations without a single Gen counterpart, computed per lane by the host's
//! arithmetic.
//!
//! Lanes are bits, zero-extended from the width of the scalar type, both as operands and as
//! results.

use super::alu::signed;
use crate::ir::{Opcode, Scalar};
use gantry_isa_gen::Type;
use gantry_isa_gen::sem::convert::{float_value, write_float};
use gantry_isa_gen::sem::{FpMode, Round, exact};

fn float_type(t: Scalar) -> Type {
    match t {
        Scalar::F16 => Type::Hf,
        Scalar::F32 => Type::F,
        _ => Type::Df,
    }
}

/// Evaluates a function of doubles on lanes of a type, rounded to nearest. Rounding twice is
/// harmless for all types, since a double is precise enough.
fn nearest(t: Scalar, args: &[u64], mode: &FpMode, f: impl Fn(&[f64]) -> f64) -> u64 {
    let ty = float_type(t);
    let mode = FpMode {
        round: Round::Nearest,
        ..*mode
    };
    let args: Vec<f64> = args.iter().map(|&a| float_value(a, ty, &mode)).collect();
    write_float(f(&args), ty, false, &mode)
}

/// Returns `x - floor(x)` of doubles, below 1.
fn fraction(x: u64, mode: &FpMode) -> u64 {
    let x = float_value(x, Type::Df, mode);
    let below = 1.0 - f64::EPSILON / 2.0;
    let f = exact::add(x, -x.floor(), mode.round);
    write_float(if f >= 1.0 { below } else { f }, Type::Df, false, mode)
}

/// Executes an operation of one operand; `None` for those of Gen.
pub(super) fn unary(opcode: Opcode, t: Scalar, x: u64, mode: &FpMode) -> Option<u64> {
    let unused = 64 - t.bits();
    Some(match opcode {
        Opcode::FsqrtRn => nearest(t, &[x], mode, |a| a[0].sqrt()),
        Opcode::Ffrac if t == Scalar::F64 => fraction(x, mode),
        Opcode::Ctz => u64::from(x.trailing_zeros().min(t.bits())),
        _ if t == Scalar::I32 => return None,
        Opcode::Popcnt => u64::from(x.count_ones()),
        Opcode::Clz => u64::from(x.leading_zeros() - unused),
        Opcode::Bfrev => x.reverse_bits() >> unused,
        _ => return None,
    })
}

/// Returns quotient and remainder of 64-bit magnitudes. Division by 0 yields all ones, and the
/// dividend.
fn divide(a: u64, b: u64) -> (u64, u64) {
    match b {
        0 => (u64::MAX, a),
        b => (a / b, a % b),
    }
}

fn negate_if(negative: bool, v: u64) -> u64 {
    if negative { v.wrapping_neg() } else { v }
}

/// Executes an operation of two operands of type `t`, with a result of type `to`. Returns `None`
/// for those of Gen.
pub(super) fn binary(
    opcode: Opcode,
    t: Scalar,
    to: Scalar,
    a: u64,
    b: u64,
    mode: &FpMode,
) -> Option<u64> {
    if opcode == Opcode::FdivRn {
        return Some(nearest(t, &[a, b], mode, |v| v[0] / v[1]));
    }
    if !t.is_int() {
        return None;
    }
    let (mask, bits) = (t.mask(), t.bits());
    let (sa, sb) = (signed(t, a), signed(t, b));
    let (wide, swide) = (u128::from(a), i128::from(sa));
    let (wb, swb) = (u128::from(b), i128::from(sb));
    let (least, most) = (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1);
    let count = (b % u64::from(bits)) as u32;
    let rotated = |n: u32| match n {
        0 => a,
        n => (a << n | a >> (bits - n)) & mask,
    };
    Some(match opcode {
        Opcode::SaddSat => (swide + swb).clamp(least, most) as u64 & mask,
        Opcode::SsubSat => (swide - swb).clamp(least, most) as u64 & mask,
        Opcode::UaddSat => (wide + wb).min(mask.into()) as u64,
        Opcode::UsubSat => a.saturating_sub(b),
        Opcode::Smulh => ((swide * swb) >> bits) as u64 & mask,
        Opcode::Umulh => ((wide * wb) >> bits) as u64,
        Opcode::SmulWide => (swide * swb) as u64 & to.mask(),
        Opcode::UmulWide => (wide * wb) as u64,
        Opcode::Shadd => ((swide + swb) >> 1) as u64 & mask,
        Opcode::Uhadd => ((wide + wb) >> 1) as u64,
        Opcode::Rotl => rotated(count),
        Opcode::Rotr => rotated((bits - count) % bits),
        Opcode::Bfmask => {
            let ones = (1u128 << (a % u64::from(bits))) - 1;
            (ones << count) as u64 & mask
        }
        Opcode::Udiv if t == Scalar::I64 => divide(a, b).0,
        Opcode::Urem if t == Scalar::I64 => divide(a, b).1,
        Opcode::Sdiv if t == Scalar::I64 => negate_if(
            (sa < 0) != (sb < 0),
            divide(sa.unsigned_abs(), sb.unsigned_abs()).0,
        ),
        Opcode::Srem if t == Scalar::I64 => {
            negate_if(sa < 0, divide(sa.unsigned_abs(), sb.unsigned_abs()).1)
        }
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

/// Returns the sum of the products of four pairs of bytes.
fn four_bytes(a: u64, b: u64, a_signed: bool, b_signed: bool) -> i64 {
    let byte = |v: u64, n: u32, sign: bool| match ((v >> (8 * n)) as u8, sign) {
        (x, true) => i64::from(x as i8),
        (x, false) => i64::from(x),
    };
    let products = (0..4).map(|n| byte(a, n, a_signed) * byte(b, n, b_signed));
    products.sum()
}

/// Executes an operation of three operands of a type; `None` for those of Gen.
pub(super) fn ternary(opcode: Opcode, t: Scalar, a: u64, b: u64, c: u64) -> Option<u64> {
    let (mask, bits) = (t.mask(), t.bits());
    let dot = |x: bool, y: bool| (c as i64).wrapping_add(four_bytes(a, b, x, y)) as u64 & mask;
    // Operands have 32 bits.
    let signed_dot = |y: bool| {
        let sum = i64::from(c as u32 as i32) + four_bytes(a, b, true, y);
        sum.clamp(i32::MIN.into(), i32::MAX.into()) as u64 & mask
    };
    Some(match opcode {
        Opcode::Sdp4a => dot(true, true),
        Opcode::Udp4a => dot(false, false),
        Opcode::Sudp4a => dot(true, false),
        Opcode::Sdp4aSat => signed_dot(true),
        Opcode::Sudp4aSat => signed_dot(false),
        Opcode::Udp4aSat => {
            let sum = c as i64 + four_bytes(a, b, false, false);
            sum.min(mask as i64) as u64
        }
        Opcode::Bfi => {
            let first = a.trailing_zeros() % 64;
            a & (b << first) & mask | !a & c
        }
        Opcode::Ubfe | Opcode::Sbfe if t != Scalar::I32 => {
            let (width, offset) = ((a % u64::from(bits)) as u32, (b % u64::from(bits)) as u32);
            if width == 0 {
                return Some(0);
            }
            let width = width.min(bits - offset);
            let field = (c >> offset) & (u64::MAX >> (64 - width));
            let shift = 64 - width;
            match opcode {
                Opcode::Ubfe => field,
                _ => ((field << shift) as i64 >> shift) as u64 & mask,
            }
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const IEEE: FpMode = FpMode::IEEE;

    fn i64s(opcode: Opcode, a: i64, b: i64) -> Option<i64> {
        let r = binary(opcode, Scalar::I64, Scalar::I64, a as u64, b as u64, &IEEE)?;
        Some(r as i64)
    }

    fn i8s(opcode: Opcode, a: i8, b: i8) -> Option<i8> {
        let (a, b) = (u64::from(a as u8), u64::from(b as u8));
        Some(binary(opcode, Scalar::I8, Scalar::I8, a, b, &IEEE)? as i8)
    }

    #[test]
    fn integers() {
        assert_eq!(i8s(Opcode::SaddSat, 100, 100), Some(127));
        assert_eq!(i8s(Opcode::SsubSat, -100, 100), Some(-128));
        assert_eq!(i8s(Opcode::UaddSat, -1, 1), Some(-1));
        assert_eq!(i8s(Opcode::UsubSat, 1, 2), Some(0));
        assert_eq!(i64s(Opcode::SaddSat, i64::MAX, 1), Some(i64::MAX));
        assert_eq!(i64s(Opcode::Smulh, -1, 1), Some(-1));
        assert_eq!(i64s(Opcode::Umulh, -1, -1), Some(-2));
        assert_eq!(i8s(Opcode::Smulh, -128, -128), Some(64));
        assert_eq!(i8s(Opcode::Rotl, -127, 9), Some(3));
        assert_eq!(i8s(Opcode::Rotr, 1, 1), Some(-128));
        assert_eq!(i8s(Opcode::Shadd, -1, -2), Some(-2));
        assert_eq!(i8s(Opcode::Uhadd, -1, -1), Some(-1));
        assert_eq!(i64s(Opcode::Sdiv, -7, 2), Some(-3));
        assert_eq!(i64s(Opcode::Srem, -7, 2), Some(-1));
        assert_eq!(i64s(Opcode::Sdiv, i64::MIN, -1), Some(i64::MIN));
        assert_eq!(i64s(Opcode::Srem, i64::MIN, -1), Some(0));
        assert_eq!(i8s(Opcode::Bfmask, 3, 7), Some(-128));
        assert_eq!(i8s(Opcode::Bfmask, 8, 1), Some(0));
        let wide = |op, a, b| binary(op, Scalar::I32, Scalar::I64, a, b, &IEEE);
        assert_eq!(wide(Opcode::SmulWide, 0xffff_ffff, 2), Some(-2i64 as u64));
        assert_eq!(wide(Opcode::UmulWide, 0xffff_ffff, 2), Some(0x1_ffff_fffe));
    }

    #[test]
    fn bits() {
        let un = |op, t, x| unary(op, t, x, &IEEE);
        assert_eq!(un(Opcode::Ctz, Scalar::I8, 0), Some(8));
        assert_eq!(un(Opcode::Ctz, Scalar::I64, 1 << 40), Some(40));
        assert_eq!(un(Opcode::Clz, Scalar::I16, 1), Some(15));
        assert_eq!(un(Opcode::Clz, Scalar::I64, 0), Some(64));
        assert_eq!(un(Opcode::Bfrev, Scalar::I16, 1), Some(0x8000));
        assert_eq!(un(Opcode::Popcnt, Scalar::I64, u64::MAX), Some(64));
        let ter = |op, t, a, b, c| ternary(op, t, a, b, c);
        assert_eq!(ter(Opcode::Ubfe, Scalar::I8, 4, 6, 0xc5), Some(3));
        assert_eq!(ter(Opcode::Sbfe, Scalar::I8, 4, 6, 0xc5), Some(0xff));
        assert_eq!(ter(Opcode::Sbfe, Scalar::I64, 64, 6, 1), Some(0));
        assert_eq!(ter(Opcode::Bfi, Scalar::I8, 0x70, 3, 0xff), Some(0xbf));
        assert_eq!(ter(Opcode::Bfi, Scalar::I8, 0, 3, 0x12), Some(0x12));
        let (a, b) = (0xff02_7f80, 0x8003_0201);
        assert_eq!(
            ter(Opcode::Sdp4a, Scalar::I32, a, b, 5),
            Some(5 + 128 + 6 + 254 - 128)
        );
        assert_eq!(
            ter(Opcode::Udp4a, Scalar::I32, a, b, 5),
            Some(5 + 255 * 128 + 6 + 254 + 128)
        );
        assert_eq!(
            ter(Opcode::Sudp4a, Scalar::I32, a, b, 1 << 20),
            Some((1 << 20) - 128 + 6 + 254 - 128)
        );
        let sat = |op, a, b, c| ter(op, Scalar::I32, a, b, c);
        let (most, least) = (0x7fff_ffff, 0x8000_0000);
        assert_eq!(sat(Opcode::Sdp4aSat, a, b, most), Some(most));
        assert_eq!(sat(Opcode::Sdp4aSat, 0x80, 1, least + 127), Some(least));
        assert_eq!(
            sat(Opcode::Sudp4aSat, 0x80, 1, least + 129),
            Some(least + 1)
        );
        assert_eq!(sat(Opcode::Sudp4aSat, 0x7f, 0xff, most - 9), Some(most));
        assert_eq!(sat(Opcode::Udp4aSat, a, b, 0xffff_fff0), Some(0xffff_ffff));
        assert_eq!(sat(Opcode::Udp4aSat, 1, 1, 0xffff_fffe), Some(0xffff_ffff));
    }

    #[test]
    fn floats() {
        let div = |t, a, b, mode: &FpMode| binary(Opcode::FdivRn, t, t, a, b, mode);
        let f = |v: f32| u64::from(v.to_bits());
        assert_eq!(div(Scalar::F32, f(1.0), f(3.0), &IEEE), Some(0x3eaa_aaab));
        // Half of the third denormal is a tie.
        assert_eq!(div(Scalar::F32, 3, f(2.0), &IEEE), Some(2));
        let flush = FpMode {
            keep_f: false,
            round: Round::Zero,
            ..IEEE
        };
        assert_eq!(div(Scalar::F32, 3, f(2.0), &flush), Some(0));
        assert_eq!(div(Scalar::F32, f(1.0), f(3.0), &flush), Some(0x3eaa_aaab));
        let tiny = (-1e-30f64).to_bits();
        let below = (1.0 - f64::EPSILON / 2.0).to_bits();
        assert_eq!(unary(Opcode::Ffrac, Scalar::F64, tiny, &IEEE), Some(below));
    }
}
