//! Float functions of the math unit. They are computed in double precision, so they are at most one
//! rounding away from exact in single precision.

use super::Undefined;
use crate::op::MathFn;

/// Computes a function of one or two operands.
///
/// # Errors
/// Returns an error if the function takes integers, or is a step of a macro (`invm`, `rsqtm`).
#[inline(always)]
pub fn eval(f: MathFn, a: f64, b: f64) -> Result<f64, Undefined> {
    Ok(match f {
        MathFn::Inv => 1.0 / a,
        MathFn::Log => a.log2(),
        MathFn::Exp => a.exp2(),
        MathFn::Sqt => a.sqrt(),
        MathFn::Rsqt => 1.0 / a.sqrt(),
        MathFn::Sin => a.sin(),
        MathFn::Cos => a.cos(),
        MathFn::Fdiv => a / b,
        // The hardware uses the absolute value of the base.
        MathFn::Pow => a.abs().powf(b),
        MathFn::Idiv | MathFn::Iqot | MathFn::Irem => {
            return Err(Undefined("integer division takes integers".to_owned()));
        }
        MathFn::Invm | MathFn::Rsqtm => {
            return Err(Undefined(
                "the macro forms of math (invm, rsqtm) are not supported".to_owned(),
            ));
        }
    })
}
