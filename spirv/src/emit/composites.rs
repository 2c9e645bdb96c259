//! Construction and decomposition of vectors, structures and arrays.

use super::{Emit, Leaves};
use crate::body::BInst;
use crate::error::Error;
use crate::module::constants::Constant;
use crate::module::types::{Ty, Type};
use crate::read::Id;
use gantry_codegen::ir::{IntCC, Value};
use spirv::Op;

/// Returns true if this file emits an instruction.
pub(super) fn is_supported(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        CompositeConstruct
            | CompositeExtract
            | CompositeInsert
            | CopyObject
            | CopyLogical
            | VectorShuffle
            | VectorExtractDynamic
            | VectorInsertDynamic
    )
}

fn outside() -> Error {
    Error::malformed("an index outside of a composite")
}

impl Emit<'_, '_, '_> {
    pub(super) fn composite(&mut self, inst: &BInst) -> Result<Leaves, Error> {
        let words: Vec<u32> = self.body.operands(inst).to_vec();
        let ty = inst.ty.expand().ok_or_else(|| Error::internal("no type"))?;
        let want = self.m.types.leaves(ty) as usize;
        let out = match inst.op {
            Op::CopyObject => {
                let to = inst.id.expand().ok_or_else(|| Error::internal("no id"))?;
                self.passed(self.operand(inst, 0)?, to)?
            }
            Op::CopyLogical => self.get(self.operand(inst, 0)?)?,
            Op::CompositeConstruct => {
                let mut all = Leaves::new();
                for n in 0..words.len() {
                    let part = self.get(self.operand(inst, n)?)?;
                    all.extend(part);
                }
                all
            }
            Op::CompositeExtract => {
                let mut from = self.operand(inst, 0)?;
                let mut indices = words.get(1..).unwrap_or(&[]);
                // Extract from the constant itself, since it may be too large for a value.
                while let (Some(Constant::Composite(parts)), Some((n, rest))) = (
                    self.m.constant(from).map(|c| &c.value),
                    indices.split_first(),
                ) {
                    from = *parts.get(*n as usize).ok_or_else(outside)?;
                    indices = rest;
                }
                let all = self.get(from)?;
                let (_, first, count) = self.part(from, indices)?;
                all.get(first..first + count).ok_or_else(outside)?.into()
            }
            Op::CompositeInsert => {
                let (new, into) = (self.operand(inst, 0)?, self.operand(inst, 1)?);
                let (new, mut all) = (self.get(new)?, self.get(into)?);
                let (_, first, count) = self.part(into, words.get(2..).unwrap_or(&[]))?;
                let place = all.get_mut(first..first + count).ok_or_else(outside)?;
                if new.len() != count {
                    return Err(Error::malformed("a part of another type is inserted"));
                }
                place.copy_from_slice(&new);
                all
            }
            Op::VectorShuffle => {
                let (a, b) = (self.operand(inst, 0)?, self.operand(inst, 1)?);
                let mut all = self.get(a)?;
                all.extend(self.get(b)?);
                let first = *all.first().ok_or_else(outside)?;
                let scalar = self.b.ty(first).scalar();
                let zero = self.number(scalar, 0);
                let pick = |n: &u32| match *n {
                    // Any value.
                    u32::MAX => Ok(zero),
                    n => all.get(n as usize).copied().ok_or_else(outside),
                };
                let indices = words.get(2..).unwrap_or(&[]);
                indices.iter().map(pick).collect::<Result<_, _>>()?
            }
            Op::VectorExtractDynamic => {
                let (from, index) = (self.operand(inst, 0)?, self.operand(inst, 1)?);
                let (all, index) = (self.get(from)?, self.one(index)?);
                let mut out = *all.first().ok_or_else(outside)?;
                // With robust access, an index out of bounds gives zero.
                let skip = usize::from(!self.robust);
                if self.robust {
                    out = self.same(out, 0);
                }
                for (n, v) in all.iter().enumerate().skip(skip) {
                    let here = self.is_number(index, n as u64)?;
                    out = self.choose(here, *v, out)?;
                }
                Leaves::from_slice(&[out])
            }
            Op::VectorInsertDynamic => {
                let (into, new) = (self.operand(inst, 0)?, self.operand(inst, 1)?);
                let index = self.operand(inst, 2)?;
                let (all, new, index) = (self.get(into)?, self.one(new)?, self.one(index)?);
                let mut out = Leaves::new();
                for (n, v) in all.iter().enumerate() {
                    let here = self.is_number(index, n as u64)?;
                    out.push(self.choose(here, new, *v)?);
                }
                out
            }
            _ => return Err(Error::internal("no composite")),
        };
        if out.len() == want {
            Ok(out)
        } else {
            Err(Error::malformed(
                "a composite of another size than its type",
            ))
        }
    }

    fn is_number(&mut self, v: Value, n: u64) -> Result<Value, Error> {
        if self.b.ty(v).scalar().is_int() {
            let n = self.same(v, n);
            Ok(self.b.ins().icmp(IntCC::Equal, v, n))
        } else {
            Err(Error::malformed("an index that is no integer"))
        }
    }

    /// Type, first leaf and number of leaves of the part that indices select.
    fn part(&self, of: Id, indices: &[u32]) -> Result<(Ty, usize, usize), Error> {
        let (mut ty, mut first) = (self.type_of(of)?, 0);
        for n in indices {
            let (next, at) = self.m.types.member(ty, u64::from(*n)).ok_or_else(outside)?;
            ty = next;
            first += at;
        }
        Ok((ty, first as usize, self.m.types.leaves(ty) as usize))
    }

    /// Number of components of a vector, 1 for a scalar.
    pub fn components(&self, ty: Ty) -> u32 {
        match self.m.types.kind(ty) {
            Type::Vector(_, n) => *n,
            _ => 1,
        }
    }
}
