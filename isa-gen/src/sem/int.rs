//! Integer operations.

use super::convert::{read_int, write_int};
use super::{
    AluOp, Bits, Extra, LANES, Outcome, Pack, Plain, Undefined, bits, dots, is_logic, truth_of_mask,
};
use crate::inst::Cond;
use crate::op::{MathFn, Op};
use crate::types::Type;

/// Integer type that lanes are computed in. Operations wrap.
pub trait IntLane: Copy + PartialOrd + Default {
    /// Zero.
    const ZERO: Self;
    /// One.
    const ONE: Self;
    /// Truncates to the low bits of a value.
    fn of(v: i128) -> Self;
    /// Returns the value.
    fn value(self) -> i128;
    /// Sum.
    fn add(self, o: Self) -> Self;
    /// Difference.
    fn sub(self, o: Self) -> Self;
    /// Product.
    fn mul(self, o: Self) -> Self;
    /// Bitwise and.
    fn and(self, o: Self) -> Self;
    /// Bitwise or.
    fn or(self, o: Self) -> Self;
    /// Bitwise exclusive or.
    fn xor(self, o: Self) -> Self;
    /// Bitwise complement.
    fn not(self) -> Self;
    /// Absolute value.
    fn abs(self) -> Self;
    /// Shift left. `n` is below the lane's width.
    fn shl(self, n: u32) -> Self;
    /// Shift right with the lane's signedness. `n` is below the lane's width.
    fn shr(self, n: u32) -> Self;
    /// Rotation left in the lane's width.
    fn rotate(self, n: u32) -> Self;
    /// Returns the low 32 bits.
    fn low(self) -> u32;
}

macro_rules! int_lane {
    ($t:ty, $abs:expr) => {
        impl IntLane for $t {
            const ZERO: Self = 0;
            const ONE: Self = 1;
            #[inline(always)]
            #[allow(trivial_numeric_casts, reason = "i128 is one of the lanes")]
            fn of(v: i128) -> Self {
                v as $t
            }
            #[inline(always)]
            #[allow(trivial_numeric_casts, reason = "i128 is one of the lanes")]
            fn value(self) -> i128 {
                self as i128
            }
            #[inline(always)]
            fn add(self, o: Self) -> Self {
                self.wrapping_add(o)
            }
            #[inline(always)]
            fn sub(self, o: Self) -> Self {
                self.wrapping_sub(o)
            }
            #[inline(always)]
            fn mul(self, o: Self) -> Self {
                self.wrapping_mul(o)
            }
            #[inline(always)]
            fn and(self, o: Self) -> Self {
                self & o
            }
            #[inline(always)]
            fn or(self, o: Self) -> Self {
                self | o
            }
            #[inline(always)]
            fn xor(self, o: Self) -> Self {
                self ^ o
            }
            #[inline(always)]
            fn not(self) -> Self {
                !self
            }
            #[inline(always)]
            fn abs(self) -> Self {
                $abs(self)
            }
            #[inline(always)]
            fn shl(self, n: u32) -> Self {
                self.wrapping_shl(n)
            }
            #[inline(always)]
            fn shr(self, n: u32) -> Self {
                self.wrapping_shr(n)
            }
            #[inline(always)]
            fn rotate(self, n: u32) -> Self {
                self.rotate_left(n)
            }
            #[inline(always)]
            #[allow(trivial_numeric_casts, reason = "u32 is one of the lanes")]
            fn low(self) -> u32 {
                self as u32
            }
        }
    };
}
int_lane!(i32, i32::wrapping_abs);
int_lane!(u32, std::convert::identity);
int_lane!(i64, i64::wrapping_abs);
int_lane!(u64, std::convert::identity);
int_lane!(i128, i128::wrapping_abs);

#[inline(always)]
fn zip2<T: IntLane, const N: usize>(a: &[T; N], b: &[T; N], f: impl Fn(T, T) -> T) -> [T; N] {
    let mut out = [T::ZERO; N];
    for i in 0..N {
        out[i] = f(a[i], b[i]);
    }
    out
}

/// Computes a lane-wise operation of one or two sources, `mad` or a bit-field operation. Returns
/// `None` for others. `shift_mask` is 31, or 63 if an operand has 64 bits: shift counts are taken
/// modulo that.
#[inline(always)]
pub fn apply<T: IntLane, const N: usize>(
    op: Op,
    a: &[T; N],
    b: &[T; N],
    c: &[T; N],
    shift_mask: u32,
) -> Option<[T; N]> {
    let bits1 = |f: fn(u32) -> u32| zip2(a, a, |x, _| T::of(i128::from(f(x.low()))));
    Some(match op {
        Op::Mov => *a,
        Op::Not => zip2(a, a, |x, _| x.not()),
        Op::And => zip2(a, b, T::and),
        Op::Or => zip2(a, b, T::or),
        Op::Xor => zip2(a, b, T::xor),
        Op::Add => zip2(a, b, T::add),
        Op::Mul => zip2(a, b, T::mul),
        Op::Avg => zip2(a, b, |x, y| x.add(y).add(T::ONE).shr(1)),
        Op::Shl => zip2(a, b, |x, y| x.shl(y.low() & shift_mask)),
        Op::Shr | Op::Asr => zip2(a, b, |x, y| x.shr(y.low() & shift_mask)),
        // Rotates are in lanes of the element's width.
        Op::Rol => zip2(a, b, |x, y| x.rotate(y.low() & shift_mask)),
        Op::Ror => zip2(a, b, |x, y| x.rotate(y.low().wrapping_neg() & shift_mask)),
        Op::Add3 => {
            let mut out = zip2(a, b, T::add);
            for i in 0..N {
                out[i] = out[i].add(c[i]);
            }
            out
        }
        Op::Mad => {
            let mut out = zip2(b, c, T::mul);
            for i in 0..N {
                out[i] = out[i].add(a[i]);
            }
            out
        }
        Op::Bfrev => bits1(u32::reverse_bits),
        Op::Cbit => bits1(u32::count_ones),
        Op::Lzd => bits1(u32::leading_zeros),
        Op::Fbl => bits1(|x| if x == 0 { u32::MAX } else { x.trailing_zeros() }),
        Op::Bfi1 => zip2(a, b, |w, o| {
            T::of(i128::from(bits::field_mask(w.low(), o.low())))
        }),
        Op::Bfi2 => {
            let mut out = *a;
            for i in 0..N {
                // The inserted bits begin at the mask's lowest bit (Intel's compiler lowers vISA's
                // BFI to `bfi1` and `bfi2` alone).
                let m = a[i].low();
                let inserted = b[i].low() << (m.trailing_zeros() & 31);
                let v = m & inserted | !m & c[i].low();
                out[i] = T::of(i128::from(v));
            }
            out
        }
        _ => return None,
    })
}

/// Computes the bitwise function with a truth table (`bfn`): bit `a + 2 * b + 4 * c` of the table
/// is the result.
#[inline(always)]
pub fn boolean<T: IntLane, const N: usize>(
    table: u8,
    a: &[T; N],
    b: &[T; N],
    c: &[T; N],
) -> [T; N] {
    // Each bit of the table is replicated to whole lanes; then each source selects one of two.
    let bit = |i: u8| T::ZERO.sub(T::of(i128::from(table >> i & 1)));
    let pick = |by: T, no: T, yes: T| no.xor(by.and(no.xor(yes)));
    let (b0, b1, b2, b3) = (bit(0), bit(1), bit(2), bit(3));
    let (b4, b5, b6, b7) = (bit(4), bit(5), bit(6), bit(7));
    let mut out = [T::ZERO; N];
    for i in 0..N {
        let low = pick(b[i], pick(a[i], b0, b1), pick(a[i], b2, b3));
        let high = pick(b[i], pick(a[i], b4, b5), pick(a[i], b6, b7));
        out[i] = pick(c[i], low, high);
    }
    out
}

/// Compares lanes by a condition, as a channel mask.
#[inline(always)]
pub fn compare<T: IntLane, const N: usize>(
    pack: impl Pack,
    cond: Cond,
    a: &[T; N],
    b: &[T; N],
) -> u32 {
    super::compare(pack, cond, a, b)
}

/// Selects lanes by a channel mask: `a` if the bit is set, else `b`.
#[inline(always)]
pub fn select<T: Copy, const N: usize>(pick: u32, a: &[T; N], b: &[T; N]) -> [T; N] {
    let pick = truth_of_mask::<N>(pick);
    let mut out = *b;
    for i in 0..N {
        out[i] = if pick[i] != 0 { a[i] } else { b[i] };
    }
    out
}

/// Divides integers as the math unit does, and returns quotient and remainder. With a zero divisor
/// both are the largest number, or the smallest for a negative dividend (Skylake PRM, Vol. 7, "math
/// - Extended Math Function", integer divide).
fn divide(a: i64, b: i64, signed: bool) -> (i64, i64) {
    if b == 0 {
        let v = if !signed {
            i64::from(u32::MAX)
        } else if a < 0 {
            i64::from(i32::MIN)
        } else {
            i64::from(i32::MAX)
        };
        return (v, v);
    }
    (a.wrapping_div(b), a.wrapping_rem(b))
}

/// Computes an operation that reads or writes the accumulator implicitly. Returns the result and
/// the new accumulator.
#[inline(always)]
pub fn through_acc<const N: usize>(
    op: Op,
    a: &[i64; N],
    b: &[i64; N],
    acc: &[i64; N],
) -> ([i64; N], [i64; N]) {
    let mut r = [0; N];
    let mut out = [0; N];
    for i in 0..N {
        (r[i], out[i]) = match op {
            Op::Addc => {
                let sum = (a[i] & 0xffff_ffff) + (b[i] & 0xffff_ffff);
                (sum, sum >> 32 & 1)
            }
            Op::Subb => {
                let difference = (a[i] & 0xffff_ffff) - (b[i] & 0xffff_ffff);
                (difference, i64::from(difference < 0))
            }
            // The accumulator holds source 0 times the low word of source 1. The product of the
            // high word is added.
            _ => {
                let product = a[i].wrapping_mul(b[i] >> 16) << 16;
                let sum = acc[i].wrapping_add(product);
                (if op == Op::Mach { sum >> 32 } else { sum }, sum)
            }
        };
    }
    (r, out)
}

/// Evaluates any integer operation.
pub(super) fn eval<T: IntLane>(
    alu: &AluOp,
    n: usize,
    srcs: [&Bits; 3],
    extra: &Extra,
) -> Result<Outcome, Undefined> {
    let op = alu.op;
    let logic = is_logic(op);
    let ty = |i: usize| alu.srcs.get(i).copied().flatten();
    let read = dots::channels_read(op, n);
    let lane = |i: usize| match (ty(i), srcs.get(i), alu.mods.get(i)) {
        (Some(t), Some(b), Some(m)) => read_int::<T>(b, t, *m, logic, read),
        _ => [T::ZERO; LANES],
    };
    let (a, b, c) = (lane(0), lane(1), lane(2));
    let t0 = ty(0).unwrap_or(Type::D);
    let wide = alu.srcs.iter().flatten().any(|t| t.bytes() == 8) || alu.dst.bytes() == 8;
    let shift_mask = if wide { 63 } else { 31 };
    let mut acc = None;
    let mut flags = None;
    let from = |f: &dyn Fn(usize) -> i64| -> [T; LANES] {
        let mut out = [T::ZERO; LANES];
        for (i, o) in out.iter_mut().enumerate().take(n) {
            *o = T::of(i128::from(f(i)));
        }
        out
    };
    let r: [T; LANES] = match op {
        Op::Shr => {
            // The shift is logical: the bits of a signed source are unsigned.
            let bits = t0.bytes() * 8;
            let mut out = a;
            for (o, (x, s)) in out.iter_mut().zip(a.iter().zip(&b)) {
                let v = (x.value() as u128) & ((1u128 << bits) - 1);
                *o = T::of((v >> (s.low() & shift_mask)) as i128);
            }
            out
        }
        Op::Bfe => from(&|i| bits::extract(a[i].low(), b[i].low(), c[i].low(), alu.dst == Type::D)),
        Op::Fbh => from(&|i| i64::from(bits::first_bit_high(a[i].low(), t0 == Type::D))),
        Op::Ror | Op::Rol => from(&|i| {
            let count = b[i].low();
            let count = if op == Op::Ror {
                count.wrapping_neg()
            } else {
                count
            };
            bits::rotate_left(a[i].value() as u64, count, t0.bits()) as i64
        }),
        Op::Bfn => boolean(alu.table, &a, &b, &c),
        Op::Sad2 | Op::Sada2 => from(&|i| {
            let sum = dots::differences(&a, &b, i);
            if op == Op::Sada2 {
                sum + extra.acc[i]
            } else {
                sum
            }
        }),
        Op::Dp4a => {
            let signed = |i: usize| ty(i).is_some_and(Type::is_signed);
            from(&|i| {
                let dot = dots::four_bytes(b[i].low(), signed(1), c[i].low(), signed(2));
                a[i].value() as i64 + dot
            })
        }
        Op::Mac => {
            let mut out = [T::ZERO; LANES];
            for (i, o) in out.iter_mut().enumerate().take(n) {
                let product = a[i].value().wrapping_mul(b[i].value());
                *o = T::of(product.wrapping_add(extra.acc[i].into()));
            }
            out
        }
        Op::Addc | Op::Subb | Op::Mach | Op::Macl => {
            let (x, y) = (a.map(|v| v.value() as i64), b.map(|v| v.value() as i64));
            let (r, sums) = through_acc(op, &x, &y, &extra.acc);
            acc = Some(sums);
            from(&|i| r[i])
        }
        Op::Cmp | Op::Cmpn => {
            let f = alu.cond.map_or(0, |cond| compare(Plain, cond, &a, &b));
            flags = Some(f);
            from(&|i| if f >> i & 1 == 1 { -1 } else { 0 })
        }
        Op::Sel => {
            let pick = match alu.cond {
                Some(cond) => compare(Plain, cond, &a, &b),
                None => extra.pick,
            };
            flags = Some(0);
            select(pick, &a, &b)
        }
        Op::Csel => {
            let pick = alu
                .cond
                .map_or(0, |cond| compare(Plain, cond, &c, &[T::ZERO; LANES]));
            flags = Some(0);
            select(pick, &a, &b)
        }
        Op::Math => {
            let signed = t0.is_signed();
            let div = |i: usize| divide(a[i].value() as i64, b[i].value() as i64, signed);
            match alu.math {
                // `idiv` writes the quotient here and the remainder to the next registers. The
                // caller evaluates twice.
                Some(MathFn::Iqot | MathFn::Idiv) => from(&|i| div(i).0),
                Some(MathFn::Irem) => from(&|i| div(i).1),
                _ => return Err(Undefined("this math function takes floats".to_owned())),
            }
        }
        _ => apply(op, &a, &b, &c, shift_mask)
            .ok_or_else(|| Undefined(format!("{op} is not an integer operation")))?,
    };
    let flags = match (flags, alu.cond) {
        (Some(f), _) => f,
        (None, None) => 0,
        (None, Some(Cond::Ov)) => {
            let (lo, hi) = super::convert::int_range(alu.dst);
            let mut m = 0;
            for (i, v) in r.iter().enumerate() {
                m |= u32::from(v.value() < lo || v.value() > hi) << i;
            }
            m
        }
        (None, Some(cond)) => {
            // The result as in the destination, before saturation: carries beyond it are not
            // visible.
            let mut seen = r;
            if !alu.sat && alu.dst.is_int() {
                for v in &mut seen {
                    *v = T::of(super::convert::int_value(v.value() as u64, alu.dst));
                }
            }
            compare(Plain, cond, &seen, &[T::ZERO; LANES])
        }
    };
    let mut out = Outcome {
        bits: [0; LANES],
        flags,
        wide: [0; LANES],
        acc,
    };
    for (i, v) in r.iter().take(n).enumerate() {
        out.bits[i] = write_int(v.value(), alu.dst, alu.sat, &extra.mode);
        out.wide[i] = v.value() as i64;
    }
    Ok(out)
}
