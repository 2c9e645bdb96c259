//! Floating-point arithmetic and the math box.

use super::row::Class::Float;
use super::row::Format::{Binary, Ternary, Unary};
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
        op("fmin", Binary, Float, Same, "Minimum; the number where one operand is a NaN."),
        op("fmax", Binary, Float, Same, "Maximum; the number where one operand is a NaN."),
        op("fneg", Unary, Float, Same, "The sign bit inverted."),
        op("fabs", Unary, Float, Same, "The sign bit cleared."),
        op("fsat", Unary, Float, Same, "Clamped to 0 .. 1; NaN is 0."),
        op("ffloor", Unary, Float, Same, "Rounded down."),
        op("fceil", Unary, Float, Same, "Rounded up."),
        op("ftrunc", Unary, Float, Same, "Rounded toward zero."),
        op("fnearest", Unary, Float, Same, "Rounded to nearest, ties to even."),
        op("ffrac", Unary, Float, Same, "`x - floor(x)`, rounded; singles and doubles to below 1."),
        op("fdiv", Binary, Float, Same, "Quotient, by the math box or by its reciprocal: not correctly rounded; of doubles correctly."),
        op("fdiv_rn", Binary, Float, Same, "Quotient, rounded to nearest even."),
        op("fpow", Binary, Float, Same, "`abs(a)` to the power of b, by the math box, or its logarithm and exponential; not of doubles."),
        op("finv", Unary, Float, Same, "Reciprocal, by the math box; of doubles correctly rounded."),
        op("fsqrt", Unary, Float, Same, "Square root, by the math box; of doubles correctly rounded."),
        op("fsqrt_rn", Unary, Float, Same, "Square root, rounded to nearest even."),
        op("frsqrt", Unary, Float, Same, "Reciprocal square root, by the math box; of doubles the rounded reciprocal of the rounded root."),
        op("fexp2", Unary, Float, Same, "2 to the power of x, by the math box; not of doubles."),
        op("flog2", Unary, Float, Same, "Logarithm to base 2, by the math box; not of doubles."),
        op("fsin", Unary, Float, Same, "Sine of radians, by the math box; not of doubles."),
        op("fcos", Unary, Float, Same, "Cosine of radians, by the math box; not of doubles."),
    ]
}
