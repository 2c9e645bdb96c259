//! Conversions with TF32 and bfloat8, and stochastic rounding, in integers.
//!
//! Xe-HPC has instructions for all of them. That to TF32 is used there. The others take packed
//! operands from the start of a GRF, of several channels, without a predicate, so that a conversion
//! of other lanes would be copied to and from there (`docs/fidelity.md`).

use super::{Expander, Results, Rule};
use crate::ir::{Inst, IntCC, Opcode, Scalar, Value};
use crate::target::Target;
use gantry_isa_gen as isa;
use smallvec::smallvec;

/// Returns the rule for a conversion that the target lacks.
pub(super) fn rule(opcode: Opcode, target: &Target) -> Option<Rule> {
    Some(Rule::masked(match opcode {
        // The platform that rounds stochastically has the type.
        Opcode::FdemoteTf32Rte if isa::Op::Srnd.info(target.platform()).is_none() => to_tf32,
        Opcode::FdemoteBf8Rte => to_bf8,
        Opcode::FpromoteBf8 => of_bf8,
        Opcode::FdemoteStochastic => stochastic,
        _ => return None,
    }))
}

/// Float whose bits are in an integer.
struct Bits {
    /// Sign bit.
    sign: Value,
    /// All other bits.
    magnitude: Value,
    /// Infinity of the format.
    infinity: i64,
    /// Quiet bit of its NaNs.
    quiet: i64,
    /// Smallest normal number.
    least: i64,
}

/// Rounds a single to its upper 19 bits, to nearest even.
fn to_tf32(e: &mut Expander<'_>, inst: Inst) -> Results {
    let [x] = e.args(inst);
    let mut bits = e.float_bits(x);
    if e.float.flush_f32 {
        e.flush(&mut bits);
    }
    smallvec![e.upper_bits(&bits, 13)]
}

/// Rounds a half to its upper byte, to nearest even.
fn to_bf8(e: &mut Expander<'_>, inst: Inst) -> Results {
    let ty = e.result(inst);
    let [x] = e.args(inst);
    let mut bits = e.float_bits(x);
    if e.float.flush_f16 {
        e.flush(&mut bits);
    }
    let upper = e.upper_bits(&bits, 8);
    let upper = e.shift(Opcode::Ushr, upper, 8);
    smallvec![e.to(Opcode::Ireduce, ty, upper)]
}

/// Makes a half of its upper byte.
fn of_bf8(e: &mut Expander<'_>, inst: Inst) -> Results {
    let [x] = e.args(inst);
    let Some(wide) = e.ty(x).with_scalar(Scalar::I16) else {
        return smallvec![x];
    };
    let wide = e.to(Opcode::Uextend, wide, x);
    let wide = e.shift(Opcode::Ishl, wide, 8);
    let half = e.cast(Scalar::F16, wide);
    let mut bits = e.float_bits(half);
    if e.float.flush_f16 {
        e.flush(&mut bits);
    }
    let magnitude = e.or_nan(&bits, bits.magnitude);
    let out = e.bin(Opcode::Bor, magnitude, bits.sign);
    smallvec![e.cast(Scalar::F16, out)]
}

/// Adds random bits below the last place of the result, and drops what is there. A carry out of the
/// fraction goes into the exponent, as it should.
fn stochastic(e: &mut Expander<'_>, inst: Inst) -> Results {
    let ty = e.result(inst);
    let [x, random] = e.args(inst);
    let bits = e.float_bits(x);
    let i = e.ty(bits.magnitude);
    let random = e.cast(i.scalar(), random);
    let low = e.int(
        i,
        if ty.scalar() == Scalar::F16 {
            0x1fff
        } else {
            0xff
        },
    );
    let random = e.bin(Opcode::Band, random, low);
    let sum = e.bin(Opcode::Iadd, bits.magnitude, random);
    if ty.scalar() != Scalar::F16 {
        let infinity = e.int(i, bits.infinity);
        let over = e.icmp(IntCC::SignedGreaterThan, sum, infinity);
        let sum = e.select(over, infinity, sum);
        let sum = e.or_nan(&bits, sum);
        let out = e.bin(Opcode::Bor, sum, bits.sign);
        let out = e.shift(Opcode::Ushr, out, 8);
        return smallvec![e.to(Opcode::Ireduce, ty, out)];
    }
    // Normal halves have another bias, denormal ones are multiples of 2^-24.
    let bias = e.int(i, 112 << 23);
    let normal = e.bin(Opcode::Isub, sum, bias);
    let normal = e.shift(Opcode::Ushr, normal, 13);
    let single = e.cast(Scalar::F32, sum);
    let unit = e.float(e.ty(single), f64::from(1 << 24));
    let units = e.bin(Opcode::Fmul, single, unit);
    let denormal = e.to(Opcode::FcvtToSint, i, units);
    let least = e.int(i, 0x3880_0000);
    let small = e.icmp(IntCC::SignedLessThan, sum, least);
    let out = e.select(small, denormal, normal);
    let (limit, infinity) = (e.int(i, 0x4780_0000), e.int(i, 0x7c00));
    let over = e.icmp(IntCC::SignedGreaterThanOrEqual, sum, limit);
    let out = e.select(over, infinity, out);
    let (most, nan) = (e.int(i, bits.infinity), e.int(i, 0x7e00));
    let is_nan = e.icmp(IntCC::SignedGreaterThan, bits.magnitude, most);
    let out = e.select(is_nan, nan, out);
    let sign = e.shift(Opcode::Ushr, bits.sign, 16);
    let out = e.bin(Opcode::Bor, out, sign);
    let Some(words) = ty.with_scalar(Scalar::I16) else {
        return smallvec![out];
    };
    let out = e.to(Opcode::Ireduce, words, out);
    smallvec![e.cast(Scalar::F16, out)]
}

impl Expander<'_> {
    /// Takes a single or a half apart.
    fn float_bits(&mut self, v: Value) -> Bits {
        let (int, infinity, quiet, least) = match self.ty(v).scalar() {
            Scalar::F16 => (Scalar::I16, 0x7c00, 0x200, 0x400),
            _ => (Scalar::I32, 0x7f80_0000, 0x40_0000, 0x80_0000),
        };
        let bits = self.cast(int, v);
        let ty = self.ty(bits);
        let top = 1i64 << (int.bits() - 1);
        let (sign, rest) = (self.int(ty, top), self.int(ty, top - 1));
        Bits {
            sign: self.bin(Opcode::Band, bits, sign),
            magnitude: self.bin(Opcode::Band, bits, rest),
            infinity,
            quiet,
            least,
        }
    }

    /// Replaces a denormal by zero.
    fn flush(&mut self, bits: &mut Bits) {
        let ty = self.ty(bits.magnitude);
        let (least, zero) = (self.int(ty, bits.least), self.int(ty, 0));
        let denormal = self.icmp(IntCC::SignedLessThan, bits.magnitude, least);
        bits.magnitude = self.select(denormal, zero, bits.magnitude);
    }

    /// Returns a magnitude, or that of the quiet NaN if the float is a NaN.
    fn or_nan(&mut self, bits: &Bits, magnitude: Value) -> Value {
        let ty = self.ty(magnitude);
        let infinity = self.int(ty, bits.infinity);
        let nan = self.icmp(IntCC::SignedGreaterThan, bits.magnitude, infinity);
        let quiet = self.int(ty, bits.infinity | bits.quiet);
        self.select(nan, quiet, magnitude)
    }

    /// Rounds away the lowest bits of a float, to nearest even.
    fn upper_bits(&mut self, bits: &Bits, dropped: u32) -> Value {
        let ty = self.ty(bits.magnitude);
        let unit = 1i64 << dropped;
        let odd = self.shift(Opcode::Ushr, bits.magnitude, dropped);
        let one = self.int(ty, 1);
        let odd = self.bin(Opcode::Band, odd, one);
        let half = self.int(ty, unit / 2 - 1);
        let sum = self.bin(Opcode::Iadd, bits.magnitude, half);
        let sum = self.bin(Opcode::Iadd, sum, odd);
        let kept = self.int(ty, -unit);
        let upper = self.bin(Opcode::Band, sum, kept);
        let upper = self.or_nan(bits, upper);
        self.bin(Opcode::Bor, upper, bits.sign)
    }
}
