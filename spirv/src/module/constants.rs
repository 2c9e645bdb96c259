//! Constants, specialization included, and folding of scalars.

use super::types::{Ty, Type, Types};
use crate::error::Error;
use crate::read::Id;
use spirv::Op;

/// Value of a constant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Constant {
    /// Bits of a scalar.
    Bits(u64),
    /// Constituents: constants or globals.
    Composite(Vec<Id>),
    /// Bits of each scalar of a composite.
    Scalars(Vec<u64>),
    /// Zeros.
    Null,
    /// Any value.
    Undef,
    /// Program-scope variable in global or constant memory, and byte offset into it.
    Address(Id, u64),
    /// Addressing mode, normalized coordinates, filter.
    Sampler(u32, bool, u32),
}

/// Truncates a value to its low bits.
pub(crate) fn low(bits: u32, value: u64) -> u64 {
    match bits {
        0 => 0,
        1..=63 => value & ((1 << bits) - 1),
        _ => value,
    }
}

/// Sign-extends a value of `bits` bits.
pub(crate) fn signed(bits: u32, value: u64) -> i64 {
    let unused = 64 - bits.clamp(1, 64);
    ((value << unused) as i64) >> unused
}

/// Folds an instruction of scalars. Each argument is its width in bits and its value.
///
/// # Errors
/// A type or opcode that cannot be folded.
pub(crate) fn fold(types: &Types, op: Op, ty: Ty, args: &[(u32, u64)]) -> Result<Constant, Error> {
    let out = match types.kind(ty) {
        Type::Bool => 1,
        Type::Int(n) | Type::Float(n) => *n,
        Type::Pointer(..) => 64,
        _ => return Err(Error::unsupported("OpSpecConstantOp of this type")),
    };
    let arg = |n: usize| args.get(n).copied().unwrap_or((32, 0));
    let ((bits, a), (_, b), (_, c)) = (arg(0), arg(1), arg(2));
    let (sa, sb) = (signed(bits, a), signed(bits, b));
    let shift = (b % u64::from(bits.max(1))) as u32;
    if let Some(value) = floats(op, out, bits, [a, b]) {
        return Ok(Constant::Bits(low(out, value)));
    }
    let value = match op {
        Op::SConvert => sa as u64,
        Op::UConvert | Op::Bitcast | Op::ConvertPtrToU | Op::ConvertUToPtr => a,
        Op::SNegate => a.wrapping_neg(),
        Op::Not => !a,
        Op::IAdd => a.wrapping_add(b),
        Op::ISub => a.wrapping_sub(b),
        Op::IMul => a.wrapping_mul(b),
        Op::UDiv => a.checked_div(b).unwrap_or(0),
        Op::UMod => a.checked_rem(b).unwrap_or(0),
        Op::SDiv => sa.checked_div(sb).unwrap_or(0) as u64,
        Op::SRem => sa.checked_rem(sb).unwrap_or(0) as u64,
        Op::SMod => match sa.checked_rem(sb) {
            Some(r) if r != 0 && (r < 0) != (sb < 0) => (r + sb) as u64,
            r => r.unwrap_or(0) as u64,
        },
        Op::ShiftLeftLogical => a.wrapping_shl(shift),
        Op::ShiftRightLogical => a.wrapping_shr(shift),
        Op::ShiftRightArithmetic => sa.wrapping_shr(shift) as u64,
        Op::BitwiseAnd | Op::LogicalAnd => a & b,
        Op::BitwiseOr | Op::LogicalOr => a | b,
        Op::BitwiseXor | Op::LogicalNotEqual => a ^ b,
        Op::LogicalEqual => u64::from(a == b),
        Op::LogicalNot => a ^ 1,
        Op::Select => match a & 1 {
            1 => b,
            _ => c,
        },
        Op::IEqual => u64::from(a == b),
        Op::INotEqual => u64::from(a != b),
        Op::ULessThan => u64::from(a < b),
        Op::ULessThanEqual => u64::from(a <= b),
        Op::UGreaterThan => u64::from(a > b),
        Op::UGreaterThanEqual => u64::from(a >= b),
        Op::SLessThan => u64::from(sa < sb),
        Op::SLessThanEqual => u64::from(sa <= sb),
        Op::SGreaterThan => u64::from(sa > sb),
        Op::SGreaterThanEqual => u64::from(sa >= sb),
        _ => {
            let what = format!("OpSpecConstantOp with Op{op:?}");
            return Err(Error::unsupported(what));
        }
    };
    Ok(Constant::Bits(low(out, value)))
}

/// Converts the bits of a float to a double.
fn widen(bits: u32, value: u64) -> f64 {
    match bits {
        16 => half::f16::from_bits(value as u16).to_f64(),
        32 => f32::from_bits(value as u32).into(),
        _ => f64::from_bits(value),
    }
}

/// Rounds a double to the bits of a float. Rounding the result of one operation on halves or
/// singles by way of a double is exact.
fn narrow(bits: u32, value: f64) -> u64 {
    match bits {
        16 => half::f16::from_f64(value).to_bits().into(),
        32 => (value as f32).to_bits().into(),
        _ => value.to_bits(),
    }
}

/// Folds an instruction with float operands or a float result. Returns `None` for others. `out` and
/// `bits` are the widths of the result and of the operands.
fn floats(op: Op, out: u32, bits: u32, [a, b]: [u64; 2]) -> Option<u64> {
    let (x, y) = (widen(bits, a), widen(bits, b));
    let truth = |t: bool| Some(u64::from(t));
    let float = |v: f64| Some(narrow(out, v));
    let unordered = x.is_nan() || y.is_nan();
    match op {
        Op::FConvert => float(x),
        Op::QuantizeToF16 => {
            let h = half::f16::from_f64(x);
            let normal = h.is_normal() || !h.is_finite();
            float(if normal {
                h.to_f64()
            } else {
                0.0f64.copysign(x)
            })
        }
        Op::ConvertFToS => {
            let most = (1i128 << (out.clamp(1, 64) - 1)) - 1;
            Some((x as i128).clamp(-most - 1, most) as u64)
        }
        Op::ConvertFToU => Some((x as i128).clamp(0, (1i128 << out.clamp(1, 64)) - 1) as u64),
        // Rounds 64-bit integers only once.
        Op::ConvertSToF if out == 32 => Some((signed(bits, a) as f32).to_bits().into()),
        Op::ConvertUToF if out == 32 => Some((a as f32).to_bits().into()),
        Op::ConvertSToF => float(signed(bits, a) as f64),
        Op::ConvertUToF => float(a as f64),
        Op::FNegate => Some(a ^ 1 << (bits.clamp(1, 64) - 1)),
        Op::FAdd => float(x + y),
        Op::FSub => float(x - y),
        Op::FMul => float(x * y),
        Op::FDiv => float(x / y),
        Op::FRem => float(x % y),
        Op::FMod => {
            let r = x % y;
            float(if r != 0.0 && (r < 0.0) != (y < 0.0) {
                r + y
            } else {
                r
            })
        }
        Op::FOrdEqual => truth(x == y),
        Op::FUnordEqual => truth(unordered || x == y),
        Op::FOrdNotEqual => truth(!unordered && x != y),
        Op::FUnordNotEqual => truth(x != y),
        Op::FOrdLessThan => truth(x < y),
        Op::FUnordLessThan => truth(unordered || x < y),
        Op::FOrdGreaterThan => truth(x > y),
        Op::FUnordGreaterThan => truth(unordered || x > y),
        Op::FOrdLessThanEqual => truth(x <= y),
        Op::FUnordLessThanEqual => truth(unordered || x <= y),
        Op::FOrdGreaterThanEqual => truth(x >= y),
        Op::FUnordGreaterThanEqual => truth(unordered || x >= y),
        _ => None,
    }
}
