//! Access to private variables in registers ([`crate::promote_arrays`]).
//!
//! Each is a variable of the builder: its first scalar for all channels, then its second, and so
//! on. A uniform variable has one lane for each scalar. A pointer into it is the index of a scalar.
//! It has a constant part known here, and a dynamic part that is the value of the pointer. Indices
//! are in bounds.

use super::{Emit, Leaves};
use crate::body::BInst;
use crate::error::Error;
use crate::module::types::Type;
use crate::read::Id;
use gantry_codegen::builder::Variable;
use gantry_codegen::ir::{IntCC, Region, Scalar, Value};
use spirv::Op;
use std::collections::BTreeMap;

/// Maximum number of positions that a load with a divergent index selects among. With more, each
/// channel computes an address.
const MAX_PLACES: u32 = 3;

/// Promoted variables.
#[derive(Default)]
pub(super) struct PromotedVars {
    /// Variables by index. `None` for those in scratch.
    vars: Vec<Option<Variable>>,
    which: Vec<bool>,
    /// Pointers into them: true if there is a dynamic part, and the constant part.
    at: BTreeMap<Id, (bool, u32)>,
}

impl PromotedVars {
    pub fn new(which: Vec<bool>) -> PromotedVars {
        PromotedVars {
            vars: vec![None; which.len()],
            which,
            at: BTreeMap::new(),
        }
    }
}

/// Access to a promoted variable.
struct ArrayAccess {
    var: Variable,
    scalar: Scalar,
    /// Lanes of each scalar.
    lanes: u32,
    /// Number of possible positions.
    places: u32,
    /// Index of the first scalar, clamped to the last position. The dynamic part may be uniform or
    /// divergent.
    constant: u32,
    index: Option<Value>,
}

impl Emit<'_, '_, '_> {
    /// Index of the variable that a pointer points into, if it is promoted.
    pub(super) fn held(&self, pointer: Id) -> Option<usize> {
        let n = self.arrays.of(pointer)?;
        self.held.which.get(n).copied()?.then_some(n)
    }

    /// Defines a promoted variable.
    pub(super) fn hold(&mut self, id: Id, n: usize, init: Option<Id>) -> Result<Leaves, Error> {
        let array = self.arrays.all.get(n);
        let array = array.ok_or_else(|| Error::internal("no such variable"))?;
        let lanes = array.lanes(self.simd);
        let ty = self.lanes(array.scalar, array.leaves * lanes);
        let var = self.b.declare_var(ty);
        if let Some(slot) = self.held.vars.get_mut(n) {
            *slot = Some(var);
        }
        self.held.at.insert(id, (false, 0));
        let all = match init {
            Some(init) => self.filled(init, lanes)?,
            None => self.b.ins().undef(ty),
        };
        self.b.def_var_all_lanes(var, all);
        Ok(Leaves::from_slice(&[self.number(Scalar::I32, 0)]))
    }

    /// Concatenates the leaves of a value in the layout of a variable.
    fn filled(&mut self, value: Id, lanes: u32) -> Result<Value, Error> {
        let leaves = self.get(value)?;
        let all: Vec<Value> = leaves.iter().map(|v| self.as_held(*v, lanes)).collect();
        let first = all.first().ok_or_else(|| Error::internal("no value"))?;
        let scalar = self.b.ty(*first).scalar();
        Ok(self.join(scalar, &all, lanes))
    }

    /// Splats a value to the lanes of a scalar of the variable.
    fn as_held(&mut self, v: Value, lanes: u32) -> Value {
        match lanes {
            1 => v,
            _ => self.b.splat(v, lanes),
        }
    }

    /// Copies a constant to a whole variable.
    pub(super) fn fill_held(&mut self, n: usize, from: Id) -> Result<(), Error> {
        let array = self.arrays.all.get(n);
        let lanes = array.map_or(self.simd, |a| a.lanes(self.simd));
        let all = self.filled(from, lanes)?;
        let var = self.held.vars.get(n).copied().flatten();
        let var = var.ok_or_else(|| Error::malformed("a variable before it begins"))?;
        if lanes == 1 {
            self.b.def_var_all_lanes(var, all);
            return Ok(());
        }
        // Inactive channels may be overwritten, except in a call that only some channels make.
        let scalar = self.b.ty(all).scalar();
        let bytes = self.simd * scalar.bytes();
        let mut now = self.b.use_var(var);
        for part in 0..self.b.ty(all).lanes() / self.simd {
            let new = self.b.slice(all, part * self.simd, self.simd);
            let region = Region::contiguous(self.simd as u16, (part * bytes) as u16);
            let mask = self.b.exec_mask();
            now = self.b.ins().wrregion_at(now, region, None, new, mask);
        }
        self.b.def_var_all_lanes(var, now);
        Ok(())
    }

    /// Access chain on a promoted variable.
    pub(super) fn held_chain(&mut self, inst: &BInst) -> Result<Leaves, Error> {
        let base = self.operand(inst, 0)?;
        let (_, mut ty) = self.pointer(base)?;
        let words: Vec<u32> = self.body.operands(inst).to_vec();
        let first = matches!(inst.op, Op::PtrAccessChain | Op::InBoundsPtrAccessChain);
        let result = inst.ty.expand().and_then(|t| self.m.pointee(t));
        let (mut indexed, mut constant) = self.held.at.get(&base).copied().unwrap_or_default();
        let mut index = self.one(base)?;
        for (n, word) in words.iter().enumerate().skip(1) {
            let id = Id::of(*word);
            let known = self.m.bits(id).map(|bits| bits as u32);
            let outside = || Error::malformed("an index outside of a composite");
            let step = if first && n == 1 {
                self.m.types.leaves(ty)
            } else if let Type::Struct(_) = self.m.types.kind(ty) {
                let member = known.ok_or_else(outside)?;
                let (next, before) = self
                    .m
                    .types
                    .member(ty, u64::from(member))
                    .ok_or_else(outside)?;
                constant = constant.wrapping_add(before);
                ty = next;
                continue;
            } else {
                let (next, _) = self.m.types.offset(ty, 0).ok_or_else(outside)?;
                ty = next;
                self.m.types.leaves(ty)
            };
            match known {
                Some(k) => constant = constant.wrapping_add(k.wrapping_mul(step)),
                None => {
                    let by = self.one(id)?;
                    if !self.b.ty(by).scalar().is_int() {
                        return Err(Error::malformed("an index that is no integer"));
                    }
                    let by = self.resize(by, Scalar::I32, true);
                    let by = self.times(by, u64::from(step));
                    index = if std::mem::replace(&mut indexed, true) {
                        let mut v = [index, by];
                        self.even(&mut v);
                        self.b.ins().iadd(v[0], v[1])
                    } else {
                        by
                    };
                }
            }
        }
        if result != Some(ty) {
            return Err(Error::malformed(
                "a pointer to another type than the indices lead to",
            ));
        }
        if let Some(id) = inst.id.expand() {
            self.held.at.insert(id, (indexed, constant));
        }
        Ok(Leaves::from_slice(&[index]))
    }

    /// Describes an access to a number of leaves through a pointer.
    fn held_part(&mut self, pointer: Id, n: usize, leaves: u32) -> Result<ArrayAccess, Error> {
        let array = self.arrays.all.get(n).cloned();
        let array = array.ok_or_else(|| Error::internal("no such variable"))?;
        let var = self.held.vars.get(n).copied().flatten();
        let var = var.ok_or_else(|| Error::malformed("a variable before it begins"))?;
        let last = array.leaves.checked_sub(leaves);
        let last = last.ok_or_else(|| Error::malformed("an access larger than its variable"))?;
        let (indexed, constant) = self.held.at.get(&pointer).copied().unwrap_or_default();
        let mut part = ArrayAccess {
            var,
            scalar: array.scalar,
            lanes: array.lanes(self.simd),
            places: last + 1,
            constant: constant.min(last),
            index: None,
        };
        if indexed {
            let mut index = self.one(pointer)?;
            if self.b.ty(index).lanes() > 1 {
                // Indices are in bounds, and 16 bits hold all of them. The clamp below covers the
                // rest.
                index = self.resize(index, Scalar::I16, false);
            }
            let by = self.same(index, u64::from(constant));
            let index = if constant == 0 {
                index
            } else {
                self.b.ins().iadd(index, by)
            };
            let most = self.same(index, u64::from(last));
            part.constant = 0;
            part.index = Some(self.b.ins().umin(index, most));
        }
        Ok(part)
    }

    /// Byte offset of a scalar, as regions take it.
    fn bytes_of(&mut self, part: &ArrayAccess, index: Value) -> Value {
        let bytes = self.times(index, u64::from(part.lanes * part.scalar.bytes()));
        self.resize(bytes, Scalar::I16, false)
    }

    /// Region of one scalar of an access.
    fn region(&self, part: &ArrayAccess, n: u32) -> Region {
        let offset = (part.constant + n) * part.lanes * part.scalar.bytes();
        Region::contiguous(part.lanes as u16, offset as u16)
    }

    /// Channels whose access is at a position.
    fn is_at(&mut self, index: Value, place: u32) -> Value {
        let place = self.same(index, u64::from(place));
        self.b.ins().icmp(IntCC::Equal, index, place)
    }

    pub(super) fn load_held(&mut self, inst: &BInst, n: usize) -> Result<Leaves, Error> {
        let pointer = self.operand(inst, 0)?;
        let (_, of) = self.pointer(pointer)?;
        if inst.ty.expand() != Some(of) {
            return Err(Error::malformed("a load of another type than is there"));
        }
        let leaves = self.m.types.leaves(of);
        let mut part = self.held_part(pointer, n, leaves)?;
        let all = self.b.use_var(part.var);
        let ty = self.lanes(part.scalar, self.simd);
        let mut out = Leaves::new();
        match part.index {
            Some(index) if self.b.ty(index).lanes() > 1 && part.places > MAX_PLACES => {
                let mut at = self.bytes_of(&part, index);
                if part.lanes > 1 {
                    let lane = self.b.iota(Scalar::I16, self.simd);
                    let lane = self.times(lane, u64::from(part.scalar.bytes()));
                    at = self.b.ins().iadd(at, lane);
                }
                for n in 0..leaves {
                    let offset = n * part.lanes * part.scalar.bytes();
                    let region = Region::new(0, 1, 0, offset as u16);
                    out.push(self.b.ins().rdregion_at(ty, all, region, at));
                }
            }
            Some(index) if self.b.ty(index).lanes() > 1 => {
                for place in 0..part.places {
                    part.constant = place;
                    let here = self.is_at(index, place);
                    for n in 0..leaves {
                        let mut region = self.region(&part, n);
                        if part.lanes == 1 {
                            region = Region::new(0, 1, 0, region.offset);
                        }
                        let v = self.b.ins().rdregion(ty, all, region);
                        match out.get_mut(n as usize) {
                            Some(old) => *old = self.b.ins().select(here, v, *old),
                            None => out.push(v),
                        }
                    }
                }
            }
            index => {
                let index = index.map(|i| self.bytes_of(&part, i));
                let ty = self.lanes(part.scalar, part.lanes);
                for n in 0..leaves {
                    let region = self.region(&part, n);
                    out.push(self.b.ins().rdregion_at(ty, all, region, index));
                }
            }
        }
        Ok(out)
    }

    pub(super) fn store_held(&mut self, inst: &BInst, n: usize) -> Result<(), Error> {
        let (pointer, value) = (self.operand(inst, 0)?, self.operand(inst, 1)?);
        let (_, of) = self.pointer(pointer)?;
        if self.type_of(value)? != of {
            return Err(Error::malformed("a store of another type than is there"));
        }
        let values = self.get(value)?;
        let mut part = self.held_part(pointer, n, values.len() as u32)?;
        let values: Vec<Value> = values
            .iter()
            .map(|v| self.as_held(*v, part.lanes))
            .collect();
        let mut all = self.b.use_var(part.var);
        if part.lanes == 1 {
            let index = part.index.map(|i| self.bytes_of(&part, i));
            for (n, v) in values.iter().enumerate() {
                let region = self.region(&part, n as u32);
                all = self.b.ins().wrregion_at(all, region, index, *v, None);
            }
            self.b.def_var_all_lanes(part.var, all);
            return Ok(());
        }
        let mask = self.b.exec_mask();
        match part.index {
            Some(index) if self.b.ty(index).lanes() > 1 => {
                for place in 0..part.places {
                    let here = self.is_at(index, place);
                    let mask = self.b.ins().band(mask, here);
                    part.constant = place;
                    for (n, v) in values.iter().enumerate() {
                        let region = self.region(&part, n as u32);
                        all = self.b.ins().wrregion_at(all, region, None, *v, mask);
                    }
                }
            }
            index => {
                let index = index.map(|i| self.bytes_of(&part, i));
                for (n, v) in values.iter().enumerate() {
                    let region = self.region(&part, n as u32);
                    all = self.b.ins().wrregion_at(all, region, index, *v, mask);
                }
            }
        }
        self.b.def_var_all_lanes(part.var, all);
        Ok(())
    }
}
