//! Types of values, and operations on one component.

use half::f16;
use smallvec::SmallVec;
use spirv::{Op, OpenclStd100Op as Std};

/// Kind of a component. Integers and floats are held as bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Kind {
    Bool,
    Int(u32),
    Float(u32),
}

/// Scalar or vector type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Ty {
    pub kind: Kind,
    pub count: u32,
}

/// Bits of each component.
pub type Value = SmallVec<[u64; 4]>;

pub const U32: Ty = Ty {
    kind: Kind::Int(32),
    count: 1,
};

impl Kind {
    pub fn bits(self) -> u32 {
        match self {
            Kind::Bool => 1,
            Kind::Int(b) | Kind::Float(b) => b,
        }
    }

    pub fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }

    pub fn of(self, count: u32) -> Ty {
        Ty { kind: self, count }
    }

    /// Sign-extends bits.
    pub fn signed(self, v: u64) -> i64 {
        let up = 64 - self.bits();
        ((v << up) as i64) >> up
    }

    fn least(self) -> i64 {
        i64::MIN >> (64 - self.bits())
    }

    /// Converts bits to a double, exactly.
    pub fn float(self, v: u64) -> f64 {
        match self.bits() {
            16 => f16::from_bits(v as u16).to_f64(),
            32 => f64::from(f32::from_bits(v as u32)),
            _ => f64::from_bits(v),
        }
    }

    /// Rounds to the bits of a float. NaN becomes 1, as generated code does too.
    pub fn rounded(self, v: f64) -> u64 {
        let v = if v.is_nan() { 1.0 } else { v };
        match self.bits() {
            16 => u64::from(f16::from_f64(v).to_bits()),
            32 => u64::from((v as f32).to_bits()),
            _ => v.to_bits(),
        }
    }

    /// Replaces NaN in bits of a float.
    pub fn clean(self, v: u64) -> u64 {
        match self {
            Kind::Float(_) if self.float(v).is_nan() => self.rounded(1.0),
            _ => v & self.mask(),
        }
    }
}

impl Ty {
    pub fn scalar(self) -> Ty {
        self.kind.of(1)
    }

    pub fn bits(self) -> u32 {
        self.kind.bits() * self.count
    }

    /// Bytes in memory. A 3-vector has the size of a 4-vector.
    pub fn size(self) -> u32 {
        let n = if self.count == 3 { 4 } else { self.count };
        self.kind.bits() / 8 * n
    }
}

/// Evaluates a core instruction on one component of each operand.
pub fn core(op: Op, of: Kind, args: &[u64]) -> u64 {
    let a = args[0];
    let b = args.get(1).copied().unwrap_or(0);
    let (sa, sb) = (of.signed(a), of.signed(b));
    let (fa, fb) = match of {
        Kind::Float(_) => (of.float(a), of.float(b)),
        _ => (0.0, 0.0),
    };
    let bits = u64::from(of.bits());
    // Generated code makes divisors positive, and shift counts less than the width.
    let divisor = b & (of.mask() >> 2) | 1;
    let amount = b & (bits - 1);
    let truth = |t: bool| u64::from(t);
    let v = match op {
        Op::IAdd => a.wrapping_add(b),
        Op::ISub => a.wrapping_sub(b),
        Op::IMul => a.wrapping_mul(b),
        Op::UDiv => a / divisor,
        Op::UMod => a % divisor,
        Op::SDiv => (sa / divisor as i64) as u64,
        Op::SRem => (sa % divisor as i64) as u64,
        Op::SMod => sa.rem_euclid(divisor as i64) as u64,
        Op::BitwiseAnd => a & b,
        Op::BitwiseOr => a | b,
        Op::BitwiseXor => a ^ b,
        Op::Not => !a,
        Op::SNegate => a.wrapping_neg(),
        Op::ShiftLeftLogical => a << amount,
        Op::ShiftRightLogical => a >> amount,
        Op::ShiftRightArithmetic => (sa >> amount) as u64,
        Op::BitCount => u64::from(a.count_ones()),
        Op::IEqual | Op::LogicalEqual => truth(a == b),
        Op::INotEqual | Op::LogicalNotEqual => truth(a != b),
        Op::UGreaterThan => truth(a > b),
        Op::ULessThanEqual => truth(a <= b),
        Op::SLessThan => truth(sa < sb),
        Op::SGreaterThanEqual => truth(sa >= sb),
        Op::LogicalAnd => a & b,
        Op::LogicalOr => a | b,
        Op::LogicalNot => a ^ 1,
        Op::FOrdEqual => truth(fa == fb),
        Op::FUnordNotEqual => truth(fa != fb),
        Op::FOrdLessThan => truth(fa < fb),
        Op::FUnordGreaterThanEqual => truth(fa >= fb),
        Op::SignBitSet => truth(fa.is_sign_negative()),
        Op::IsInf => truth(fa.is_infinite()),
        Op::FNegate => return a ^ 1 << (bits - 1),
        // Double rounding of singles is exact for these four.
        Op::FAdd => return of.rounded(fa + fb),
        Op::FSub => return of.rounded(fa - fb),
        Op::FMul => return of.rounded(fa * fb),
        Op::FDiv => return of.rounded(fa / fb),
        other => panic!("{other:?} has no meaning here"),
    };
    match op {
        _ if is_question(op) => v,
        _ => v & of.mask(),
    }
}

/// Returns true for instructions with bool results.
pub fn is_question(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        IEqual
            | INotEqual
            | UGreaterThan
            | ULessThanEqual
            | SLessThan
            | SGreaterThanEqual
            | FOrdEqual
            | FUnordNotEqual
            | FOrdLessThan
            | FUnordGreaterThanEqual
            | SignBitSet
            | IsInf
    )
}

/// Evaluates an OpenCL.std function on one component of each argument.
pub fn function(which: Std, of: Kind, args: &[u64]) -> u64 {
    let get = |n: usize| args.get(n).copied().unwrap_or(0);
    let (a, b, c) = (get(0), get(1), get(2));
    let bits = of.bits();
    if let Kind::Float(_) = of {
        let (x, y, z) = (of.float(a), of.float(b), of.float(c));
        let sign = 1u64 << (bits - 1);
        return match which {
            Std::fma if bits == 32 => of.rounded(f64::from((x as f32).mul_add(y as f32, z as f32))),
            Std::fma => of.rounded(x.mul_add(y, z)),
            // Exact, for doubles too.
            Std::fmod => of.rounded(x % y),
            Std::remainder => of.rounded(libm::remainder(x, y)),
            Std::fabs => a & !sign,
            Std::copysign => a & !sign | b & sign,
            Std::floor => of.rounded(x.floor()),
            Std::ceil => of.rounded(x.ceil()),
            Std::trunc => of.rounded(x.trunc()),
            Std::rint => of.rounded(x.round_ties_even()),
            // Either zero is allowed. Generated code makes them positive.
            Std::fmin => of.rounded(x.min(y) + 0.0),
            Std::fmax => of.rounded(x.max(y) + 0.0),
            other => panic!("{other:?} has no meaning here"),
        };
    }
    let wide = |v: u64| i128::from(of.signed(v));
    let (sa, sb, sc) = (wide(a), wide(b), wide(c));
    let (ua, ub, uc) = (u128::from(a), u128::from(b), u128::from(c));
    let least = i128::from(of.least());
    let clamp = |v: i128| v.clamp(least, -1 - least) as u64;
    let most = u128::from(of.mask());
    let v = match which {
        Std::u_max => a.max(b),
        Std::u_min => a.min(b),
        Std::s_max => sa.max(sb) as u64,
        Std::s_min => sa.min(sb) as u64,
        Std::clz => u64::from(a.leading_zeros() - (64 - bits)),
        Std::ctz => u64::from(a.trailing_zeros().min(bits)),
        Std::popcount => u64::from(a.count_ones()),
        Std::rotate => {
            let by = (b % u64::from(bits)) as u32;
            match by {
                0 => a,
                _ => a << by | a >> (bits - by),
            }
        }
        Std::s_abs => sa.unsigned_abs() as u64,
        Std::s_abs_diff => sa.abs_diff(sb) as u64,
        Std::u_abs_diff => a.abs_diff(b),
        Std::s_add_sat => clamp(sa + sb),
        Std::u_add_sat => (ua + ub).min(most) as u64,
        Std::s_sub_sat => clamp(sa - sb),
        Std::u_sub_sat => a.saturating_sub(b),
        Std::s_hadd => ((sa + sb) >> 1) as u64,
        Std::u_hadd => ((ua + ub) >> 1) as u64,
        Std::s_rhadd => ((sa + sb + 1) >> 1) as u64,
        Std::u_rhadd => ((ua + ub + 1) >> 1) as u64,
        Std::s_mul_hi => ((sa * sb) >> bits) as u64,
        Std::u_mul_hi => ((ua * ub) >> bits) as u64,
        Std::s_mad_hi => ((sa * sb) >> bits).wrapping_add(sc) as u64,
        Std::u_mad_hi => ((ua * ub) >> bits).wrapping_add(uc) as u64,
        Std::s_mad_sat => clamp(sa * sb + sc),
        Std::u_mad_sat => match (ua * ub).checked_add(uc) {
            Some(v) => v.min(most) as u64,
            None => most as u64,
        },
        Std::bitselect => a & !c | b & c,
        other => panic!("{other:?} has no meaning here"),
    };
    v & of.mask()
}

/// Converts a component, rounding to nearest, and saturating if asked.
pub fn convert(op: Op, saturates: bool, from: Kind, to: Kind, v: u64) -> u64 {
    let mask = to.mask();
    let signed = |v: i128| {
        let least = i128::from(to.least());
        v.clamp(least, -1 - least) as u64 & mask
    };
    let unsigned = |v: i128| v.clamp(0, i128::from(mask)) as u64;
    let (s, u) = match from {
        Kind::Float(_) => (0, 0),
        _ => (i128::from(from.signed(v)), i128::from(v)),
    };
    match op {
        Op::SConvert if saturates => signed(s),
        Op::UConvert if saturates => unsigned(u),
        Op::SatConvertSToU => unsigned(s),
        Op::SatConvertUToS => signed(u),
        Op::SConvert => s as u64 & mask,
        Op::UConvert => v & mask,
        Op::ConvertFToS => signed(from.float(v) as i128),
        Op::ConvertFToU => unsigned(from.float(v) as i128),
        Op::ConvertSToF if to.bits() == 32 => u64::from((s as f32).to_bits()),
        Op::ConvertUToF if to.bits() == 32 => u64::from((u as f32).to_bits()),
        Op::ConvertSToF => to.rounded(s as f64),
        Op::ConvertUToF => to.rounded(u as f64),
        Op::FConvert => to.rounded(from.float(v)),
        other => panic!("{other:?} has no meaning here"),
    }
}

/// Value that an atomic leaves in memory.
pub fn atomic(op: Op, of: Kind, old: u64, a: u64, b: u64) -> u64 {
    let (so, sa) = (of.signed(old), of.signed(a));
    let v = match op {
        Op::AtomicIAdd => old.wrapping_add(a),
        Op::AtomicISub => old.wrapping_sub(a),
        Op::AtomicAnd => old & a,
        Op::AtomicOr => old | a,
        Op::AtomicXor => old ^ a,
        Op::AtomicSMin => so.min(sa) as u64,
        Op::AtomicSMax => so.max(sa) as u64,
        Op::AtomicUMin => old.min(a),
        Op::AtomicUMax => old.max(a),
        Op::AtomicExchange => a,
        Op::AtomicIIncrement => old.wrapping_add(1),
        Op::AtomicIDecrement => old.wrapping_sub(1),
        Op::AtomicCompareExchange if old == b => a,
        Op::AtomicCompareExchange => old,
        other => panic!("{other:?} has no meaning here"),
    };
    v & of.mask()
}
