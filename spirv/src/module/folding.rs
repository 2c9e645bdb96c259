//! Folding of `OpSpecConstantOp`, on scalars and on composites.

use super::constants::{Constant, fold};
use super::types::{Ty, Type};
use super::{Module, addresses};
use crate::error::Error;
use crate::read::{self, Id};
use spirv::Op;

/// Maximum number of scalars of an operand or a result.
const MAX_SCALARS: u32 = 4096;

/// Width in bits and value of each scalar of a constant.
type Scalars = Vec<(u32, u64)>;

/// Folds an instruction to a result of type `ty`.
///
/// # Errors
/// An operand that is not a suitable constant, or an instruction that cannot be folded.
pub(super) fn result(m: &Module<'_>, op: Op, ty: Ty, words: &[u32]) -> Result<Constant, Error> {
    let id = |n: usize| words.get(n).map(|w| Id::of(*w));
    let missing = || Error::malformed(format!("{}: an operand is missing", read::name(op)));
    let operand = |n: usize| id(n).ok_or_else(missing);
    let literals = |n: usize| words.get(n..).unwrap_or(&[]);
    match op {
        Op::CompositeExtract => {
            let whole = operand(0)?;
            let all = scalars(m, whole)?;
            let (of, range) = part(m, type_of(m, whole)?, literals(1))?;
            if of != ty {
                return Err(Error::malformed("a part of another type than the result's"));
            }
            Ok(made(m, ty, all.get(range).unwrap_or(&[])))
        }
        Op::CompositeInsert => {
            let (new, whole) = (operand(0)?, operand(1)?);
            let (new, mut all) = (scalars(m, new)?, scalars(m, whole)?);
            let (of, range) = part(m, ty, literals(2))?;
            let fits = type_of(m, whole)? == ty && type_of(m, operand(0)?)? == of;
            if !fits {
                return Err(Error::malformed("a part of another type than is there"));
            }
            for (to, from) in all.iter_mut().skip(range.start).zip(new) {
                *to = from;
            }
            Ok(made(m, ty, &all))
        }
        Op::VectorShuffle => {
            let (mut all, second) = (scalars(m, operand(0)?)?, scalars(m, operand(1)?)?);
            all.extend(second);
            let width = widths(m, ty)?.first().copied().unwrap_or(32);
            let picked = literals(2).iter().map(|n| match n {
                // Any value.
                &u32::MAX => Ok((width, 0)),
                n => {
                    let one = usize::try_from(*n).ok().and_then(|n| all.get(n));
                    let none = || Error::malformed("a component that neither vector has");
                    one.copied().ok_or_else(none)
                }
            });
            let picked: Scalars = picked.collect::<Result<_, _>>()?;
            if picked.len() != m.types.leaves(ty) as usize {
                return Err(Error::malformed(
                    "components of another number than the result's",
                ));
            }
            Ok(made(m, ty, &picked))
        }
        Op::Bitcast if m.types.leaves(ty) != 1 || operand(0).is_ok_and(|id| count(m, id) != 1) => {
            let from = scalars(m, operand(0)?)?;
            Ok(made(m, ty, &recut(&from, &widths(m, ty)?)?))
        }
        _ => {
            // All operands of the others are ids.
            let operands: Vec<Id> = words.iter().map(|w| Id::of(*w)).collect();
            if let Some(address) = addresses::fold(m, op, ty, &operands) {
                return address;
            }
            each(m, op, ty, &operands)
        }
    }
}

/// Folds an operation for each scalar.
fn each(m: &Module<'_>, op: Op, ty: Ty, operands: &[Id]) -> Result<Constant, Error> {
    let all = operands.iter().map(|id| scalars(m, *id));
    let all: Vec<Scalars> = all.collect::<Result<_, _>>()?;
    let count = widths(m, ty)?.len();
    let types = m.types.scalars(ty);
    let mut out = Vec::with_capacity(count);
    for (n, (of, _)) in types.iter().enumerate() {
        let mut args = Vec::with_capacity(all.len());
        for of in &all {
            // One condition may select between composites.
            let at = if of.len() == 1 { 0 } else { n };
            let one = of.get(at).copied();
            let short = || Error::malformed(format!("{} of too few components", read::name(op)));
            args.push(one.ok_or_else(short)?);
        }
        match fold(&m.types, op, *of, &args)? {
            Constant::Bits(bits) => out.push((0, bits)),
            _ => return Err(Error::internal("no number")),
        }
    }
    Ok(made(m, ty, &out))
}

/// Constant of a list of scalars.
fn made(m: &Module<'_>, ty: Ty, scalars: &[(u32, u64)]) -> Constant {
    let composite = m.types.count(ty).is_some();
    match scalars {
        [(_, bits)] if !composite => Constant::Bits(*bits),
        all => Constant::Scalars(all.iter().map(|s| s.1).collect()),
    }
}

fn type_of(m: &Module<'_>, id: Id) -> Result<Ty, Error> {
    let ty = m.type_of(id);
    ty.ok_or_else(|| Error::malformed(format!("{id} is no constant")))
}

fn count(m: &Module<'_>, id: Id) -> u32 {
    m.type_of(id).map_or(0, |t| m.types.leaves(t))
}

/// Type and scalar range of the part of a composite that indices select.
fn part(
    m: &Module<'_>,
    mut ty: Ty,
    indices: &[u32],
) -> Result<(Ty, std::ops::Range<usize>), Error> {
    let mut first = 0;
    for n in indices {
        let found = m.types.member(ty, u64::from(*n));
        let (of, at) = found.ok_or_else(|| Error::malformed("an index outside of a composite"))?;
        first += at as usize;
        ty = of;
    }
    Ok((ty, first..first + m.types.leaves(ty) as usize))
}

/// Width in bits of each scalar of a type.
fn widths(m: &Module<'_>, ty: Ty) -> Result<Vec<u32>, Error> {
    let leaves = m.types.leaves(ty);
    if leaves > MAX_SCALARS {
        let what = format!("OpSpecConstantOp of {leaves} scalars: {MAX_SCALARS} are the most");
        return Err(Error::limit(what));
    }
    let width = |t: Ty| match m.types.kind(t) {
        Type::Int(n) | Type::Float(n) => *n,
        Type::Bool => 1,
        _ => 64,
    };
    Ok(m.types.scalars(ty).iter().map(|s| width(s.0)).collect())
}

/// Scalars of a constant.
fn scalars(m: &Module<'_>, id: Id) -> Result<Scalars, Error> {
    let mut out = Scalars::new();
    let mut todo = vec![id];
    widths(m, type_of(m, id)?)?;
    while let Some(id) = todo.pop() {
        let of = || Error::unsupported(format!("OpSpecConstantOp of {id}, which is no number"));
        let c = m.constant(id).ok_or_else(of)?;
        let widths = widths(m, c.ty)?;
        match &c.value {
            Constant::Bits(bits) => out.extend(widths.first().map(|w| (*w, *bits))),
            Constant::Scalars(all) => out.extend(widths.into_iter().zip(all.iter().copied())),
            Constant::Composite(parts) => todo.extend(parts.iter().rev()),
            Constant::Null | Constant::Undef => out.extend(widths.into_iter().map(|w| (w, 0))),
            Constant::Address(..) | Constant::Sampler(..) => return Err(of()),
        }
    }
    Ok(out)
}

/// Reinterprets scalars as scalars of other widths, in little-endian order.
fn recut(from: &[(u32, u64)], widths: &[u32]) -> Result<Scalars, Error> {
    let bits = |all: &mut dyn Iterator<Item = u32>| all.map(u64::from).sum::<u64>();
    let have = bits(&mut from.iter().map(|f| f.0));
    if have != bits(&mut widths.iter().copied()) {
        return Err(Error::malformed("a bitcast between sizes that differ"));
    }
    let bytes: Vec<u8> = from
        .iter()
        .flat_map(|(w, bits)| bits.to_le_bytes().into_iter().take(*w as usize / 8))
        .collect();
    let mut rest = bytes.as_slice();
    let mut out = Scalars::new();
    for w in widths {
        let split = rest.split_at_checked(*w as usize / 8);
        let (now, then) = split.ok_or_else(|| Error::malformed("a bitcast of bools"))?;
        let value = now.iter().rev().fold(0, |v, b| v << 8 | u64::from(*b));
        out.push((*w, value));
        rest = then;
    }
    Ok(out)
}
