//! Rows of floating-point arithmetic and math functions.

use super::format::Format::{Binary, Ternary, Unary};
use super::row::Class::Float;
use super::row::Out::Same;
use super::row::{Row, op};

#[rustfmt::skip] // A row a line.
pub(super) fn rows() -> Vec<Row> {
    vec![
        op("fadd", Binary, Float, Same, "Sum."),
        op("fsub", Binary, Float, Same, "Difference."),
        op("fmul", Binary, Float, Same, "Product."),
        op("fma", Ternary, Float, Same, "`a * b + c`, rounded once."),
        op("flrp", Ternary, Float, Same, "`a * b + (1 - a) * c`, where the difference and its product are rounded; 32 bits only."),
        op("fmin", Binary, Float, Same, "Minimum; the number if one operand is a NaN."),
        op("fmax", Binary, Float, Same, "Maximum; the number if one operand is a NaN."),
        op("fneg", Unary, Float, Same, "Inverts the sign bit."),
        op("fabs", Unary, Float, Same, "Clears the sign bit."),
        op("fsat", Unary, Float, Same, "Clamped to 0 .. 1; NaN is 0."),
        op("ffloor", Unary, Float, Same, "Rounded down."),
        op("fceil", Unary, Float, Same, "Rounded up."),
        op("ftrunc", Unary, Float, Same, "Rounded toward zero."),
        op("fnearest", Unary, Float, Same, "Rounded to nearest, ties to even."),
        op("ffrac", Unary, Float, Same, "`x - floor(x)`, rounded; below 1 for single and double precision."),
        op("fdiv", Binary, Float, Same, "Quotient by the math unit or its reciprocal, not correctly rounded; correctly rounded for doubles."),
        op("fdiv_rn", Binary, Float, Same, "Quotient, rounded to nearest even."),
        op("fpow", Binary, Float, Same, "`abs(a)` to the power of b by the math unit, or its logarithm and exponential; not for doubles."),
        op("finv", Unary, Float, Same, "Reciprocal by the math unit; correctly rounded for doubles."),
        op("fsqrt", Unary, Float, Same, "Square root by the math unit; correctly rounded for doubles."),
        op("fsqrt_rn", Unary, Float, Same, "Square root, rounded to nearest even."),
        op("frsqrt", Unary, Float, Same, "Reciprocal square root by the math unit; for doubles the rounded reciprocal of the rounded root."),
        op("fexp2", Unary, Float, Same, "2 to the power of x by the math unit; not for doubles."),
        op("flog2", Unary, Float, Same, "Logarithm to base 2 by the math unit; not for doubles."),
        op("fsin", Unary, Float, Same, "Sine of radians by the math unit; not for doubles."),
        op("fcos", Unary, Float, Same, "Cosine of radians by the math unit; not for doubles."),
    ]
}
