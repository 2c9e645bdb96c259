//! OpenCL.std, over the builder.

use crate::body::BInst;
use crate::emit::{Emit, Leaves};
use crate::error::Error;
use crate::read::{self, Id};
use spirv::OpenclStd100Op as Std;

/// Whether a function of OpenCL.std is one of those known.
pub(crate) fn is_opencl_supported(number: u32) -> bool {
    matches!(Std::from_u32(number), Some(Std::mad | Std::fma))
}

/// A function of OpenCL.std.
pub(crate) fn opencl(
    e: &mut Emit<'_, '_, '_>,
    inst: &BInst,
    number: u32,
    args: &[Id],
) -> Result<Leaves, Error> {
    let unsupported = || Error::unsupported(read::opencl_name(number));
    let which = Std::from_u32(number).ok_or_else(unsupported)?;
    let _ = inst;
    let mut leaves = Vec::new();
    for a in args {
        leaves.push(e.get(*a)?);
    }
    let mut out = Leaves::new();
    for n in 0..leaves.first().map_or(0, |l| l.len()) {
        let part = leaves.iter().map(|l| l.get(n).copied());
        let mut part: Leaves = part
            .collect::<Option<_>>()
            .ok_or_else(|| Error::malformed("arguments of several sizes"))?;
        e.even(&mut part);
        out.push(match (which, part.as_slice()) {
            (Std::mad | Std::fma, &[a, b, c]) => e.b.ins().fma(a, b, c),
            _ => return Err(unsupported()),
        });
    }
    Ok(out)
}
