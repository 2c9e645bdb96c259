//! Addresses of variables of the program, as constants.

use super::constants::{Constant, signed};
use super::types::{Ty, Type};
use super::{Def, Module};
use crate::error::Error;
use crate::read::Id;
use spirv::{Op, StorageClass};

/// What an instruction of constants makes of an address, of the type that it says; `None` where it takes none.
///
/// # Errors
/// Its indices are not constants, or lead to nothing.
pub(super) fn fold(
    m: &Module<'_>,
    op: Op,
    ty: Ty,
    operands: &[Id],
) -> Option<Result<Constant, Error>> {
    let (first, rest) = operands.split_first()?;
    let (base, at) = of(m, *first)?;
    let whole = match m.types.kind(ty) {
        Type::Pointer(..) => true,
        Type::Int(bits) => *bits == 64,
        _ => false,
    };
    let to = m.type_of(*first).and_then(|t| m.pointee(t));
    let offset = match op {
        Op::Bitcast | Op::PtrCastToGeneric | Op::ConvertPtrToU | Op::ConvertUToPtr if whole => {
            Ok(0)
        }
        Op::AccessChain | Op::InBoundsAccessChain => behind(m, to?, None, rest),
        Op::PtrAccessChain | Op::InBoundsPtrAccessChain => {
            let (element, rest) = rest.split_first()?;
            behind(m, to?, Some(*element), rest)
        }
        _ => return None,
    };
    Some(offset.map(|offset| Constant::Address(base, at.wrapping_add(offset))))
}

/// The variable that a constant is an address in, and bytes from its beginning.
pub(crate) fn of(m: &Module<'_>, id: Id) -> Option<(Id, u64)> {
    match m.def(id) {
        Def::Global(g) => {
            let class = m.globals.get(g)?.class;
            let data = matches!(
                class,
                StorageClass::CrossWorkgroup | StorageClass::UniformConstant | StorageClass::Input
            );
            data.then_some((id, 0))
        }
        _ => match m.constant(id)?.value {
            Constant::Address(base, at) => Some((base, at)),
            _ => None,
        },
    }
}

/// Bytes from a pointer to what indices lead to, of which the first may be one of elements behind each other. `ty`: what is there.
///
/// # Errors
/// An index is no constant, or leads to nothing.
pub(crate) fn behind(
    m: &Module<'_>,
    mut ty: Ty,
    element: Option<Id>,
    indices: &[Id],
) -> Result<u64, Error> {
    let number = |id: Id| {
        let bits = m.bits(id);
        let bits =
            bits.ok_or_else(|| Error::unsupported("an address by an index that is no number"))?;
        let width = m.type_of(id).map_or(64, |t| m.types.size(t) * 8);
        Ok::<u64, Error>(signed(width as u32, bits) as u64)
    };
    let mut out = match element {
        Some(id) => number(id)?.wrapping_mul(m.types.size(ty)),
        None => 0,
    };
    for index in indices {
        let found = m.types.offset(ty, number(*index)?);
        let (next, at) =
            found.ok_or_else(|| Error::malformed("an index outside of a composite"))?;
        out = out.wrapping_add(at);
        ty = next;
    }
    Ok(out)
}
