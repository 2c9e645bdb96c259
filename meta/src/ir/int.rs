//! Integer arithmetic and bits.

use super::row::Class::{Bits, I32, Int};
use super::row::Format::{Binary, Ternary, Unary};
use super::row::Out::{Same, Two};
use super::row::{Row, op};

#[rustfmt::skip] // A row a line.
pub(super) fn rows() -> Vec<Row> {
    vec![
        op("iadd", Binary, Int, Same, "Sum, low bits.").commutes(),
        op("isub", Binary, Int, Same, "Difference, low bits."),
        op("imul", Binary, Int, Same, "Product, low bits.").commutes(),
        op("imad", Ternary, Int, Same, "`a * b + c`, low bits."),
        op("smulh", Binary, I32, Same, "Upper half of the signed product.").commutes(),
        op("umulh", Binary, I32, Same, "Upper half of the unsigned product.").commutes(),
        op("ineg", Unary, Int, Same, "Negation, low bits."),
        op("iabs", Unary, Int, Same, "Absolute value, low bits."),
        op("smin", Binary, Int, Same, "Signed minimum.").commutes(),
        op("smax", Binary, Int, Same, "Signed maximum.").commutes(),
        op("umin", Binary, Int, Same, "Unsigned minimum.").commutes(),
        op("umax", Binary, Int, Same, "Unsigned maximum.").commutes(),
        op("savg", Binary, Int, Same, "`(a + b + 1) >> 1` of signed integers, without overflow; not for 64 bits.").commutes(),
        op("uavg", Binary, Int, Same, "`(a + b + 1) >> 1` of unsigned integers, without overflow; not for 64 bits.").commutes(),
        op("band", Binary, Bits, Same, "Bitwise and; of predicates too.").commutes(),
        op("bor", Binary, Bits, Same, "Bitwise or; of predicates too.").commutes(),
        op("bxor", Binary, Bits, Same, "Bitwise exclusive or; of predicates too.").commutes(),
        op("bnot", Unary, Bits, Same, "Bitwise not; of predicates too."),
        op("ishl", Binary, Int, Same, "Shift left; the count is taken modulo the width."),
        op("ushr", Binary, Int, Same, "Shift right, zeros in; the count is taken modulo the width."),
        op("sshr", Binary, Int, Same, "Shift right, signs in; the count is taken modulo the width."),
        op("bfrev", Unary, I32, Same, "Bits in reverse order."),
        op("popcnt", Unary, I32, Same, "Number of set bits."),
        op("clz", Unary, I32, Same, "Number of zero bits above the highest set bit; 32 for 0."),
        op("fbh_s", Unary, I32, Same, "Distance from bit 31 to the highest bit that differs from the sign; -1 if none does."),
        op("fbh_u", Unary, I32, Same, "Distance from bit 31 to the highest set bit; -1 for 0."),
        op("fbl", Unary, I32, Same, "Number of the lowest set bit; -1 for 0."),
        op("ubfe", Ternary, I32, Same, "Bit field (width, offset, value), zero-extended; width and offset modulo 32, width 0 gives 0."),
        op("sbfe", Ternary, I32, Same, "Bit field (width, offset, value), sign-extended; width and offset modulo 32, width 0 gives 0."),
        op("iaddc", Binary, I32, Two, "Sum, and carry as 0 or 1.").commutes(),
        op("isubb", Binary, I32, Two, "Difference, and borrow as 0 or 1."),
        op("sdiv", Binary, I32, Same, "Signed quotient, toward zero; undefined for a divisor of 0."),
        op("udiv", Binary, I32, Same, "Unsigned quotient; undefined for a divisor of 0."),
        op("srem", Binary, I32, Same, "Signed remainder, the dividend's sign; undefined for a divisor of 0."),
        op("urem", Binary, I32, Same, "Unsigned remainder; undefined for a divisor of 0."),
    ]
}
