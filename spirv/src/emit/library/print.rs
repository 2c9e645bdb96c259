//! `printf`, by the IR's, with the format as a string of the module.

use super::{Call, Method, wrong};
use crate::emit::{Emit, Leaves};
use crate::error::Error;
use gantry_codegen::ir::{Scalar, scalars::I32};
use spirv::OpenclStd100Op as Std;

pub(super) fn find(which: Std) -> Option<Method> {
    (which == Std::printf).then_some(Method::All(printf))
}

/// Prints a line for each active channel. Components of vectors are concatenated, and strings are
/// constants of the module.
fn printf(e: &mut Emit<'_, '_, '_>, call: &Call<'_>) -> Result<Leaves, Error> {
    let (format, rest) = call.args.split_first().ok_or_else(wrong)?;
    let format = e.string(*format)?;
    let mut args = Vec::new();
    for a in rest {
        if let Ok(text) = e.string(*a) {
            let address = e.b.ins().symbol_addr(text);
            args.push(e.b.splat(address, e.simd));
            continue;
        }
        let mut values = e.get(*a)?;
        for v in &mut values {
            *v = e.b.splat(*v, e.simd);
            // C's default argument promotions.
            match e.scalar_of(*v) {
                Scalar::B1 => return Err(wrong()),
                Scalar::I8 | Scalar::I16 => *v = e.resize(*v, Scalar::I32, true),
                Scalar::F16 => {
                    let ty = e.lanes(Scalar::F32, e.simd);
                    *v = e.b.ins().fpromote(ty, *v);
                }
                _ => {}
            }
        }
        let first = *values.first().ok_or_else(wrong)?;
        let scalar = e.scalar_of(first);
        args.push(e.join(scalar, &values, e.simd));
    }
    e.b.simd_printf(format, &args);
    // Success.
    let zero = e.b.ins().iconst(I32, 0);
    Ok(Leaves::from_slice(&[zero]))
}
