//! The math box's float functions: computed in double, so at most one rounding away from exact in
//! single.

use super::Undefined;
use crate::op::MathFn;

/// One function of one or two operands.
///
/// # Errors
/// The function takes integers, or is half of a macro (`invm`, `rsqtm`).
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
        // The hardware takes the base's absolute value.
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
