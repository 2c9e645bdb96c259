//! Integer arithmetic and bits.

use super::row::Class::{Bits, I32, Int};
use super::row::Format::{Binary, Ternary, Unary};
use super::row::Out::{Ctrl, Same, Two};
use super::row::{Row, op};

#[rustfmt::skip] // A row a line.
pub(super) fn rows() -> Vec<Row> {
    vec![
        op("iadd", Binary, Int, Same, "Sum, low bits."),
        op("isub", Binary, Int, Same, "Difference, low bits."),
        op("sadd_sat", Binary, Int, Same, "Sum of signed integers, clamped."),
        op("uadd_sat", Binary, Int, Same, "Sum of unsigned integers, clamped."),
        op("ssub_sat", Binary, Int, Same, "Difference of signed integers, clamped."),
        op("usub_sat", Binary, Int, Same, "Difference of unsigned integers, clamped."),
        op("iaddc", Binary, Int, Two, "Sum, and carry as 0 or 1."),
        op("isubb", Binary, Int, Two, "Difference, and borrow as 0 or 1."),
        op("imul", Binary, Int, Same, "Product, low bits."),
        op("imad", Ternary, Int, Same, "`a * b + c`, low bits."),
        op("smulh", Binary, Int, Same, "Upper half of the signed product."),
        op("umulh", Binary, Int, Same, "Upper half of the unsigned product."),
        op("smul_wide", Binary, Int, Ctrl, "Signed product, twice as wide: `smul_wide.i64 v1, v2`."),
        op("umul_wide", Binary, Int, Ctrl, "Unsigned product, twice as wide: `umul_wide.i64 v1, v2`."),
        op("sdp4a", Ternary, I32, Same, "`c` and the products of the four signed bytes of `a` and of `b`, low bits of the sum."),
        op("udp4a", Ternary, I32, Same, "`c` and the products of the four unsigned bytes of `a` and of `b`, low bits of the sum."),
        op("sudp4a", Ternary, I32, Same, "`c` and the products of the four signed bytes of `a` and the unsigned ones of `b`, low bits of the sum."),
        op("ineg", Unary, Int, Same, "Negation, low bits."),
        op("iabs", Unary, Int, Same, "Absolute value, low bits."),
        op("smin", Binary, Int, Same, "Signed minimum."),
        op("smax", Binary, Int, Same, "Signed maximum."),
        op("umin", Binary, Int, Same, "Unsigned minimum."),
        op("umax", Binary, Int, Same, "Unsigned maximum."),
        op("savg", Binary, Int, Same, "`(a + b + 1) >> 1` of signed integers, without overflow."),
        op("uavg", Binary, Int, Same, "`(a + b + 1) >> 1` of unsigned integers, without overflow."),
        op("shadd", Binary, Int, Same, "`(a + b) >> 1` of signed integers, without overflow."),
        op("uhadd", Binary, Int, Same, "`(a + b) >> 1` of unsigned integers, without overflow."),
        op("band", Binary, Bits, Same, "Bitwise and; of predicates too."),
        op("bor", Binary, Bits, Same, "Bitwise or; of predicates too."),
        op("bxor", Binary, Bits, Same, "Bitwise exclusive or; of predicates too."),
        op("bnot", Unary, Bits, Same, "Bitwise not; of predicates too."),
        op("ishl", Binary, Int, Same, "Shift left; the count is taken modulo the width."),
        op("ushr", Binary, Int, Same, "Shift right, zeros in; the count is taken modulo the width."),
        op("sshr", Binary, Int, Same, "Shift right, signs in; the count is taken modulo the width."),
        op("rotl", Binary, Int, Same, "Rotation left; the count is taken modulo the width."),
        op("rotr", Binary, Int, Same, "Rotation right; the count is taken modulo the width."),
        op("bfrev", Unary, Int, Same, "Bits in reverse order."),
        op("popcnt", Unary, Int, Same, "Number of set bits."),
        op("clz", Unary, Int, Same, "Number of zero bits above the highest set bit; the width for 0."),
        op("ctz", Unary, Int, Same, "Number of zero bits below the lowest set bit; the width for 0."),
        op("fbh_s", Unary, I32, Same, "Distance from bit 31 to the highest bit that differs from the sign; -1 if none does."),
        op("fbh_u", Unary, I32, Same, "Distance from bit 31 to the highest set bit; -1 for 0."),
        op("fbl", Unary, I32, Same, "Number of the lowest set bit; -1 for 0."),
        op("ubfe", Ternary, Int, Same, "Bit field (width, offset, value), zero-extended; width and offset modulo the type's width, width 0 gives 0."),
        op("sbfe", Ternary, Int, Same, "Bit field (width, offset, value), sign-extended; width and offset modulo the type's width, width 0 gives 0."),
        op("bfmask", Binary, Int, Same, "Ones in a bit field (width, offset), both modulo the type's width."),
        op("bfi", Ternary, Int, Same, "Bit field insert (mask, field, value): the value's bits under the mask become those of the field, shifted to the mask's lowest bit."),
        op("sdiv", Binary, Int, Same, "Signed quotient, toward zero, low bits; any value for a divisor of 0."),
        op("udiv", Binary, Int, Same, "Unsigned quotient; any value for a divisor of 0."),
        op("srem", Binary, Int, Same, "Signed remainder, the dividend's sign; any value for a divisor of 0."),
        op("urem", Binary, Int, Same, "Unsigned remainder; any value for a divisor of 0."),
    ]
}
