//! Constant addresses of program-scope variables.

use super::constants::{Constant, signed};
use super::types::{Ty, Type};
use super::{Def, Module};
use crate::error::Error;
use crate::read::Id;
use spirv::{Op, StorageClass};

/// Folds a constant instruction on an address to a result of type `ty`. Returns `None` if its first
/// operand is no address.
///
/// # Errors
/// Indices that are not constants or are out of range.
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

/// Returns the variable that a constant points into, and the byte offset.
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

/// Byte offset of an access chain. `ty` is the pointee. `element` is the index of the element for a
/// `PtrAccessChain`.
///
/// # Errors
/// An index that is not a constant or is out of range.
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
