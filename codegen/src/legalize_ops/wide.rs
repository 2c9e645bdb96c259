//! 64-bit integer operations by 32-bit ones.

use super::{Expander, Results, Rule};
use crate::ir::{FloatCC, Inst, InstData, IntCC, Opcode, Region, Scalar, Type, Value};
use smallvec::smallvec;

/// Returns the rule for an operation on 64-bit integers; `None` for those that the legalizer
/// splits. `from` and `to` are the types of the first operand and of the result.
pub(super) fn rule(op: Opcode, from: Scalar, to: Scalar) -> Option<Rule> {
    use Opcode::*;
    // Doubles are converted by the ALU ([`is_sum`]), or refused as the target has none.
    if from == Scalar::F64 || to == Scalar::F64 {
        return None;
    }
    Some(match op {
        Imul => Rule::masked(imul),
        Imad => Rule::masked(imad),
        Iabs => Rule::masked(iabs),
        Smin | Smax | Umin | Umax => Rule::masked(minmax),
        Icmp => Rule::masked(icmp),
        Ishl => Rule::masked(ishl),
        Ushr | Sshr => Rule::masked(shr),
        SstruncSat | SutruncSat | UstruncSat | UutruncSat => Rule::masked(truncate),
        FcvtFromSint | FcvtFromSintRte | FcvtFromSintRtz | FcvtFromSintRtp | FcvtFromSintRtn => {
            Rule::masked(from_int)
        }
        FcvtFromUint | FcvtFromUintRte | FcvtFromUintRtz | FcvtFromUintRtp | FcvtFromUintRtn => {
            Rule::masked(from_int)
        }
        FcvtToSint | FcvtToUint => Rule::masked(to_int),
        _ => return None,
    })
}

/// Returns true for operations that an ALU with 64-bit sums has: shifts, and conversions between
/// integers and f64.
pub(super) fn is_sum(op: Opcode, from: Scalar, to: Scalar) -> bool {
    use Opcode::*;
    let converts = !matches!(
        op,
        SstruncSat | SutruncSat | UstruncSat | UutruncSat | Imul | Imad
    ) && (from == Scalar::F64 || to == Scalar::F64);
    converts || matches!(op, Ishl | Ushr | Sshr | Iabs)
}

/// Lower and upper half of a 64-bit value.
#[derive(Clone, Copy)]
pub(super) struct DwordPair {
    pub(super) low: Value,
    pub(super) high: Value,
}

/// Returns the region of the lower or the upper dwords of qwords.
pub(super) fn half(high: bool) -> Region {
    Region {
        vstride: 2,
        width: 1,
        hstride: 0,
        offset: if high { 4 } else { 0 },
        parent_width: 0,
    }
}

impl Expander<'_> {
    /// Splits a 64-bit integer or double. The halves of a zero-extended dword are the dword and
    /// zero.
    pub(super) fn split(&mut self, v: Value) -> DwordPair {
        let lanes = self.ty(v).lanes();
        if let Some(&InstData::Unary {
            opcode: Opcode::Uextend,
            arg,
        }) = self.func.dfg.def_inst(v).map(|i| self.func.dfg.data(i))
            && self.ty(arg).scalar() == Scalar::I32
        {
            return DwordPair {
                low: arg,
                high: self.int(self.ty(arg), 0),
            };
        }
        let both = self.to(Opcode::Bitcast, Type::clamped(Scalar::I32, 2 * lanes), v);
        let one = Type::clamped(Scalar::I32, lanes);
        DwordPair {
            low: self.region(one, both, half(false)),
            high: self.region(one, both, half(true)),
        }
    }

    /// Joins two halves to a 64-bit integer.
    pub(super) fn join(&mut self, p: DwordPair) -> Value {
        let lanes = self.ty(p.low).lanes();
        let opcode = Opcode::Undef;
        let both = Type::clamped(Scalar::I32, 2 * lanes);
        let v = self.one(InstData::Nullary { opcode }, Some(both));
        let v = self.replace(v, p.low, half(false));
        let v = self.replace(v, p.high, half(true));
        self.to(Opcode::Bitcast, Type::clamped(Scalar::I64, lanes), v)
    }

    fn pairs(&mut self, inst: Inst) -> (DwordPair, DwordPair) {
        let [a, b] = self.args(inst);
        (self.split(a), self.split(b))
    }

    /// Selects the operand for which the compare holds.
    fn pick(&mut self, cc: IntCC, a: Value, b: Value) -> Value {
        let m = self.icmp(cc, a, b);
        self.select(m, a, b)
    }
}

fn imul(e: &mut Expander<'_>, inst: Inst) -> Results {
    let (a, b) = e.pairs(inst);
    let low = e.bin(Opcode::Imul, a.low, b.low);
    let top = e.bin(Opcode::Umulh, a.low, b.low);
    let mut high = top;
    for (x, y) in [(a.low, b.high), (b.low, a.high)] {
        if e.constant(y) != Some(0) {
            let product = e.bin(Opcode::Imul, x, y);
            high = e.bin(Opcode::Iadd, high, product);
        }
    }
    smallvec![e.join(DwordPair { low, high })]
}

fn imad(e: &mut Expander<'_>, inst: Inst) -> Results {
    let [a, b, c] = e.args(inst);
    let product = e.bin(Opcode::Imul, a, b);
    smallvec![e.bin(Opcode::Iadd, product, c)]
}

/// Computes `(x ^ s) - s`, with the sign of `x` in every bit of `s`.
fn iabs(e: &mut Expander<'_>, inst: Inst) -> Results {
    let [x] = e.args(inst);
    let s = e.signs(x);
    let flipped = e.bin(Opcode::Bxor, x, s);
    smallvec![e.bin(Opcode::Isub, flipped, s)]
}

fn minmax(e: &mut Expander<'_>, inst: Inst) -> Results {
    let [a, b] = e.args(inst);
    let cc = match e.func.dfg.data(inst).opcode() {
        Opcode::Smin => IntCC::SignedLessThan,
        Opcode::Smax => IntCC::SignedGreaterThan,
        Opcode::Umin => IntCC::UnsignedLessThan,
        _ => IntCC::UnsignedGreaterThan,
    };
    smallvec![e.pick(cc, a, b)]
}

fn icmp(e: &mut Expander<'_>, inst: Inst) -> Results {
    let InstData::IntCompare { cond, .. } = *e.func.dfg.data(inst) else {
        return Results::new();
    };
    let (a, b) = e.pairs(inst);
    if matches!(cond, IntCC::Equal | IntCC::NotEqual) {
        let low = e.bin(Opcode::Bxor, a.low, b.low);
        let high = e.bin(Opcode::Bxor, a.high, b.high);
        let any = e.bin(Opcode::Bor, low, high);
        let zero = e.int(e.ty(any), 0);
        return smallvec![e.icmp(cond, any, zero)];
    }
    use IntCC::*;
    // The upper halves decide unless they are equal; then the lower halves do, unsigned.
    let (strict, lower) = match cond {
        SignedLessThan => (SignedLessThan, UnsignedLessThan),
        SignedLessThanOrEqual => (SignedLessThan, UnsignedLessThanOrEqual),
        SignedGreaterThan => (SignedGreaterThan, UnsignedGreaterThan),
        SignedGreaterThanOrEqual => (SignedGreaterThan, UnsignedGreaterThanOrEqual),
        UnsignedLessThan => (UnsignedLessThan, UnsignedLessThan),
        UnsignedLessThanOrEqual => (UnsignedLessThan, UnsignedLessThanOrEqual),
        UnsignedGreaterThan => (UnsignedGreaterThan, UnsignedGreaterThan),
        _ => (UnsignedGreaterThan, UnsignedGreaterThanOrEqual),
    };
    let low = e.icmp(lower, a.low, b.low);
    let equal = e.icmp(Equal, a.high, b.high);
    let high = e.icmp(strict, a.high, b.high);
    let tie = e.bin(Opcode::Band, equal, low);
    smallvec![e.bin(Opcode::Bor, high, tie)]
}

/// Shift count modulo 32, and a flag for counts of 32 or more. Bits that move between halves are
/// shifted in two steps, since a count of 32 means none.
struct ShiftCount {
    few: Value,
    /// `31 - few`.
    rest: Value,
    one: Value,
    many: Value,
}

impl Expander<'_> {
    fn count(&mut self, by: Value) -> ShiftCount {
        let by = self.split(by).low;
        let ty = self.ty(by);
        let (ones, bit, one) = (self.int(ty, 31), self.int(ty, 32), self.int(ty, 1));
        let zero = self.int(ty, 0);
        let few = self.bin(Opcode::Band, by, ones);
        let rest = self.bin(Opcode::Bxor, few, ones);
        let high = self.bin(Opcode::Band, by, bit);
        let many = self.icmp(IntCC::NotEqual, high, zero);
        ShiftCount {
            few,
            rest,
            one,
            many,
        }
    }
}

/// Shifts halves left by a constant.
fn ishl_by(e: &mut Expander<'_>, a: DwordPair, by: u32) -> DwordPair {
    let zero = e.int(e.ty(a.low), 0);
    match by % 64 {
        0 => a,
        32 => DwordPair {
            low: zero,
            high: a.low,
        },
        n @ 33.. => DwordPair {
            low: zero,
            high: e.shift(Opcode::Ishl, a.low, n - 32),
        },
        n => {
            let over = e.shift(Opcode::Ushr, a.low, 32 - n);
            let high = match e.constant(a.high) {
                Some(0) => over,
                _ => {
                    let high = e.shift(Opcode::Ishl, a.high, n);
                    e.bin(Opcode::Bor, high, over)
                }
            };
            DwordPair {
                low: e.shift(Opcode::Ishl, a.low, n),
                high,
            }
        }
    }
}

/// Shifts halves right by a constant.
fn shr_by(e: &mut Expander<'_>, op: Opcode, a: DwordPair, by: u32) -> DwordPair {
    let by = by % 64;
    if by == 0 {
        return a;
    }
    if by < 32 {
        let low = e.shift(Opcode::Ushr, a.low, by);
        let over = e.shift(Opcode::Ishl, a.high, 32 - by);
        return DwordPair {
            low: e.bin(Opcode::Bor, low, over),
            high: e.shift(op, a.high, by),
        };
    }
    DwordPair {
        low: match by {
            32 => a.high,
            n => e.shift(op, a.high, n - 32),
        },
        high: match op {
            Opcode::Sshr => e.shift(Opcode::Sshr, a.high, 31),
            _ => e.int(e.ty(a.high), 0),
        },
    }
}

fn ishl(e: &mut Expander<'_>, inst: Inst) -> Results {
    let [a, by] = e.args(inst);
    if let Some(by) = e.constant(by) {
        let a = e.split(a);
        let shifted = ishl_by(e, a, (by % 64) as u32);
        return smallvec![e.join(shifted)];
    }
    let (a, n) = (e.split(a), e.count(by));
    let low = e.bin(Opcode::Ishl, a.low, n.few);
    let high = e.bin(Opcode::Ishl, a.high, n.few);
    let over = e.bin(Opcode::Ushr, a.low, n.one);
    let over = e.bin(Opcode::Ushr, over, n.rest);
    let high = e.bin(Opcode::Bor, high, over);
    let zero = e.int(e.ty(low), 0);
    let high = e.select(n.many, low, high);
    let low = e.select(n.many, zero, low);
    smallvec![e.join(DwordPair { low, high })]
}

fn shr(e: &mut Expander<'_>, inst: Inst) -> Results {
    let op = e.func.dfg.data(inst).opcode();
    let [a, by] = e.args(inst);
    if let Some(by) = e.constant(by) {
        let a = e.split(a);
        let shifted = shr_by(e, op, a, (by % 64) as u32);
        return smallvec![e.join(shifted)];
    }
    let (a, n) = (e.split(a), e.count(by));
    let high = e.bin(op, a.high, n.few);
    let low = e.bin(Opcode::Ushr, a.low, n.few);
    let over = e.bin(Opcode::Ishl, a.high, n.one);
    let over = e.bin(Opcode::Ishl, over, n.rest);
    let low = e.bin(Opcode::Bor, low, over);
    let fill = match op {
        Opcode::Sshr => {
            let count = e.int(e.ty(high), 31);
            e.bin(Opcode::Sshr, a.high, count)
        }
        _ => e.int(e.ty(high), 0),
    };
    let low = e.select(n.many, high, low);
    let high = e.select(n.many, fill, high);
    smallvec![e.join(DwordPair { low, high })]
}

/// Clamps, then truncates.
fn truncate(e: &mut Expander<'_>, inst: Inst) -> Results {
    let (op, to) = (e.func.dfg.data(inst).opcode(), e.result(inst));
    let [x] = e.args(inst);
    let ty = e.ty(x);
    let bits = to.scalar().bits();
    let (least, most) = match op {
        Opcode::SstruncSat => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        Opcode::UstruncSat => (0, (1 << (bits - 1)) - 1),
        _ => (0, (1i64 << bits) - 1),
    };
    let unsigned = matches!(op, Opcode::UstruncSat | Opcode::UutruncSat);
    let below = if unsigned {
        IntCC::UnsignedLessThan
    } else {
        IntCC::SignedLessThan
    };
    let (least, most) = (e.int(ty, least), e.int(ty, most));
    let x = e.pick(below, x, most);
    let x = if unsigned {
        x
    } else {
        e.pick(IntCC::SignedGreaterThan, x, least)
    };
    smallvec![e.to(Opcode::Ireduce, to, x)]
}

/// Converts to float. The number is shifted until its highest significant bit is the last one. The
/// upper dword, with the other bits gathered in its lowest bit, converts with the right rounding. A
/// power of two scales the result.
fn from_int(e: &mut Expander<'_>, inst: Inst) -> Results {
    let (op, to) = (e.func.dfg.data(inst).opcode(), e.result(inst));
    let [x] = e.args(inst);
    let ty = e.ty(x);
    let lanes = to.lanes();
    let (i32, f32) = (
        Type::clamped(Scalar::I32, lanes),
        Type::clamped(Scalar::F32, lanes),
    );
    let signed = op.name().starts_with("fcvt_from_sint");
    if to.scalar() == Scalar::F16 {
        // All numbers beyond the range of f16 round like this limit.
        let limit = e.int(ty, 1 << 20);
        let minus = e.int(ty, -(1 << 20));
        let x = if signed {
            let x = e.pick(IntCC::SignedLessThan, x, limit);
            e.pick(IntCC::SignedGreaterThan, x, minus)
        } else {
            e.pick(IntCC::UnsignedLessThan, x, limit)
        };
        let x = e.to(Opcode::Ireduce, i32, x);
        return smallvec![e.to(op, to, x)];
    }
    let one = e.int(i32, 1);
    let n = if signed {
        let signs = e.signs(x);
        let unlike = e.bin(Opcode::Bxor, x, signs);
        let unlike = e.split(unlike);
        let n = e.clz_of(unlike);
        e.bin(Opcode::Isub, n, one)
    } else {
        let p = e.split(x);
        e.clz_of(p)
    };
    // By 64 for zero, which shifts by none.
    let count = e.to(Opcode::Uextend, ty, n);
    let shifted = e.bin(Opcode::Ishl, x, count);
    let s = e.split(shifted);
    let zero = e.int(i32, 0);
    let rest = e.icmp(IntCC::NotEqual, s.low, zero);
    let sticky = e.select(rest, one, zero);
    let top = e.bin(Opcode::Bor, s.high, sticky);
    let f = e.to(op, f32, top);
    // 2 to the power of 32 - n, as bits.
    let bias = e.int(i32, 127 + 32);
    let exponent = e.bin(Opcode::Isub, bias, n);
    let at = e.int(i32, 23);
    let scale = e.bin(Opcode::Ishl, exponent, at);
    let scale = e.to(Opcode::Bitcast, f32, scale);
    smallvec![e.bin(Opcode::Fmul, f, scale)]
}

/// Converts to integer: the upper and lower dwords of the magnitude, each by a saturating
/// conversion. Numbers out of range are clamped.
fn to_int(e: &mut Expander<'_>, inst: Inst) -> Results {
    let (op, to) = (e.func.dfg.data(inst).opcode(), e.result(inst));
    let [x] = e.args(inst);
    let lanes = to.lanes();
    let (i32, f32) = (
        Type::clamped(Scalar::I32, lanes),
        Type::clamped(Scalar::F32, lanes),
    );
    let x = match e.ty(x).scalar() {
        Scalar::F32 => x,
        _ => e.to(Opcode::Fpromote, f32, x),
    };
    let signed = op == Opcode::FcvtToSint;
    let magnitude = if signed { e.un(Opcode::Fabs, x) } else { x };
    let whole = e.un(Opcode::Ftrunc, magnitude);
    let down = e.float(f32, 1.0 / 4_294_967_296.0);
    let up = e.float(f32, -4_294_967_296.0);
    let upper = e.bin(Opcode::Fmul, whole, down);
    let upper = e.un(Opcode::Ftrunc, upper);
    let lower = e.ter(Opcode::Fma, upper, up, whole);
    let high = e.to(Opcode::FcvtToUint, i32, upper);
    let low = e.to(Opcode::FcvtToUint, i32, lower);
    let v = e.join(DwordPair { low, high });
    let (v, least, most, limit) = if signed {
        let minus = e.un(Opcode::Ineg, v);
        let nothing = e.float(f32, 0.0);
        let negative = e.fcmp(FloatCC::LessThan, x, nothing);
        let v = e.select(negative, minus, v);
        (v, i64::MIN, i64::MAX, 9_223_372_036_854_775_808.0)
    } else {
        (v, 0, -1, 18_446_744_073_709_551_616.0)
    };
    let beyond = e.float(f32, limit);
    let over = e.fcmp(FloatCC::GreaterThanOrEqual, x, beyond);
    let most = e.int(to, most);
    let v = e.select(over, most, v);
    let under = e.float(f32, if signed { -limit } else { 0.0 });
    let below = e.fcmp(FloatCC::LessThan, x, under);
    let least = e.int(to, least);
    let v = e.select(below, least, v);
    // A NaN is equal to nothing.
    let nan = e.fcmp(FloatCC::NotEqual, x, x);
    let zero = e.int(to, 0);
    smallvec![e.select(nan, zero, v)]
}
