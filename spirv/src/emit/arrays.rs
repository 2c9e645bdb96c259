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
use gantry_codegen::ir::{IntCC, Opcode, Region, Scalar, Value};
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
    /// Pointers into them.
    at: BTreeMap<Id, HeldIndex>,
}

/// Index that a pointer into a promoted variable is.
#[derive(Clone, Copy, Default)]
struct HeldIndex {
    /// Set if there is a dynamic part.
    indexed: bool,
    constant: u32,
    /// Set if the sum may be outside of the variable, since a part of it is no index of an array.
    open: bool,
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
        self.held.at.insert(id, HeldIndex::default());
        let all = match init {
            Some(init) => self.filled(init, lanes)?,
            None => self.b.ins().undef(ty),
        };
        self.b.def_var_all_lanes(var, all);
        Ok(Leaves::from_slice(&[self.number(Scalar::I32, 0)]))
    }

    /// Begins the lifetime of a promoted variable. Its contents need no registers before that.
    pub(super) fn begin_held(&mut self, inst: &BInst) -> Result<(), Error> {
        let pointer = self.operand(inst, 0)?;
        let Some(n) = self.held(pointer) else {
            return Ok(());
        };
        let array = self.arrays.all.get(n).filter(|a| a.fresh);
        let var = self.held.vars.get(n).copied().flatten();
        if let Some((array, var)) = array.zip(var) {
            let ty = self.lanes(array.scalar, array.leaves * array.lanes(self.simd));
            let none = self.b.ins().undef(ty);
            self.b.def_var_all_lanes(var, none);
        }
        Ok(())
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
        let mut at = self.held.at.get(&base).copied().unwrap_or_default();
        let mut index = self.one(base)?;
        for (n, word) in words.iter().enumerate().skip(1) {
            let id = Id::of(*word);
            let known = self.m.bits(id).map(|bits| bits as u32);
            let outside = || Error::malformed("an index outside of a composite");
            let mut count = None;
            let step = if first && n == 1 {
                self.m.types.leaves(ty)
            } else if let Type::Struct(_) = self.m.types.kind(ty) {
                let member = known.ok_or_else(outside)?;
                let (next, before) = self
                    .m
                    .types
                    .member(ty, u64::from(member))
                    .ok_or_else(outside)?;
                at.constant = at.constant.wrapping_add(before);
                ty = next;
                continue;
            } else {
                count = self.m.types.count(ty).and_then(|n| u32::try_from(n).ok());
                let (next, _) = self.m.types.offset(ty, 0).ok_or_else(outside)?;
                ty = next;
                self.m.types.leaves(ty)
            };
            match known {
                Some(k) => {
                    at.open |= k != 0 && count.is_none_or(|n| k >= n);
                    at.constant = at.constant.wrapping_add(k.wrapping_mul(step));
                }
                None => {
                    let mut by = self.one(id)?;
                    if !self.b.ty(by).scalar().is_int() {
                        return Err(Error::malformed("an index that is no integer"));
                    }
                    let divergent = self.b.ty(by).lanes() > 1;
                    match count {
                        // 16 bits hold all indices.
                        Some(n) if divergent => {
                            by = self.resize(by, Scalar::I16, false);
                            by = self.at_most(by, n.saturating_sub(1));
                        }
                        Some(n) => {
                            by = self.resize(by, Scalar::I32, true);
                            by = self.at_most(by, n.saturating_sub(1));
                        }
                        None => {
                            by = self.resize(by, Scalar::I32, true);
                            at.open = true;
                        }
                    }
                    let by = self.times(by, u64::from(step));
                    index = if std::mem::replace(&mut at.indexed, true) {
                        self.sum(index, by)
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
            self.held.at.insert(id, at);
        }
        Ok(Leaves::from_slice(&[index]))
    }

    fn at_most(&mut self, index: Value, last: u32) -> Value {
        let last = self.same(index, u64::from(last));
        self.b.ins().umin(index, last)
    }

    /// Sum of two indices, which 16 bits hold if one has 16.
    fn sum(&mut self, a: Value, b: Value) -> Value {
        let mut v = [a, b];
        if v.iter().any(|v| self.b.ty(*v).scalar() == Scalar::I16) {
            v = v.map(|v| self.resize(v, Scalar::I16, false));
        }
        self.even(&mut v);
        self.b.ins().iadd(v[0], v[1])
    }

    /// Describes an access to a number of leaves through a pointer.
    fn held_part(&mut self, pointer: Id, n: usize, leaves: u32) -> Result<ArrayAccess, Error> {
        let at = self.held.at.get(&pointer).copied().unwrap_or_default();
        self.held_at(pointer, n, leaves, (at, None))
    }

    /// Describes an access at an index. Its dynamic part is the given one, or that of the pointer.
    fn held_at(
        &mut self,
        pointer: Id,
        n: usize,
        leaves: u32,
        (at, index): (HeldIndex, Option<Value>),
    ) -> Result<ArrayAccess, Error> {
        let array = self.arrays.all.get(n).cloned();
        let array = array.ok_or_else(|| Error::internal("no such variable"))?;
        let var = self.held.vars.get(n).copied().flatten();
        let var = var.ok_or_else(|| Error::malformed("a variable before it begins"))?;
        let last = array.leaves.checked_sub(leaves);
        let last = last.ok_or_else(|| Error::malformed("an access larger than its variable"))?;
        let mut part = ArrayAccess {
            var,
            scalar: array.scalar,
            lanes: array.lanes(self.simd),
            places: last + 1,
            constant: at.constant.min(last),
            index: None,
        };
        if !at.indexed {
            return Ok(part);
        }
        let mut index = match index {
            Some(index) => index,
            None => self.one(pointer)?,
        };
        let divergent = self.b.ty(index).lanes() > 1;
        if divergent {
            // Indices are in bounds, and 16 bits hold all of them. The clamp covers the rest.
            index = self.resize(index, Scalar::I16, false);
        }
        let visits = divergent && part.places <= MAX_PLACES;
        if at.open || visits {
            part.constant = 0;
            if at.constant != 0 {
                let by = self.same(index, u64::from(at.constant));
                index = self.b.ins().iadd(index, by);
            }
        }
        if at.open {
            index = self.at_most(index, last);
        }
        part.index = Some(index);
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
        let part = self.held_part(pointer, n, leaves)?;
        Ok(self.load_part(part, leaves))
    }

    /// Loads some scalars, from the element on that an index counts from a pointer.
    pub(super) fn load_held_vector(
        &mut self,
        (pointer, n): (Id, usize),
        index: Id,
        count: u32,
    ) -> Result<Leaves, Error> {
        let part = self.held_vector((pointer, n), index, count)?;
        Ok(self.load_part(part, count))
    }

    /// Stores scalars, from the element on that an index counts from a pointer.
    pub(super) fn store_held_vector(
        &mut self,
        (pointer, n): (Id, usize),
        index: Id,
        values: &[Value],
    ) -> Result<(), Error> {
        let part = self.held_vector((pointer, n), index, values.len() as u32)?;
        self.store_part(part, values);
        Ok(())
    }

    /// Describes an access to some scalars, from an element on that an index counts from a pointer
    /// in steps of as many.
    fn held_vector(
        &mut self,
        (pointer, n): (Id, usize),
        index: Id,
        count: u32,
    ) -> Result<ArrayAccess, Error> {
        let mut at = self.held.at.get(&pointer).copied().unwrap_or_default();
        at.open = true;
        if let Some(known) = self.m.bits(index) {
            at.constant = at.constant.wrapping_add((known as u32).wrapping_mul(count));
            return self.held_at(pointer, n, count, (at, None));
        }
        let by = self.one(index)?;
        let by = self.resize(by, Scalar::I32, true);
        let mut index = self.times(by, u64::from(count));
        if std::mem::replace(&mut at.indexed, true) {
            let before = self.one(pointer)?;
            index = self.sum(before, index);
        }
        self.held_at(pointer, n, count, (at, Some(index)))
    }

    /// Copies between memory and promoted variables, or between two of these. Returns false if
    /// neither end is promoted.
    pub(super) fn copy_held(&mut self, inst: &BInst, [to, from]: [Id; 2]) -> Result<bool, Error> {
        let ends = [to, from].map(|id| (self.held(id), self.arrays.typed(id)));
        let Some(typed) = ends.iter().find(|e| e.0.is_some()).map(|e| e.1) else {
            return Ok(false);
        };
        let (_, ty) = self.pointer(typed)?;
        let skip = if inst.op == Op::CopyMemorySized { 3 } else { 2 };
        let words = self.body.operands(inst).get(skip..).unwrap_or(&[]).to_vec();
        let unaligned = skip == 3 && words.first().is_none_or(|m| m & 2 == 0);
        let count = self.m.types.leaves(ty);
        let leaves = match ends[1] {
            (Some(n), typed) => {
                let part = self.held_part(typed, n, count)?;
                self.load_part(part, count)
            }
            (None, _) => {
                let (class, _) = self.pointer(from)?;
                let mut access = self.access(class, ty, &words)?;
                access.align = if unaligned { 1 } else { access.align };
                access.mem = self.with_cache_policy(from, Opcode::Load, access.mem);
                let addr = self.address(from, &access)?;
                self.load_leaves(ty, addr, access)?
            }
        };
        if let (Some(n), typed) = ends[0] {
            let part = self.held_part(typed, n, count)?;
            self.store_part(part, &leaves);
            return Ok(true);
        }
        let (class, _) = self.pointer(to)?;
        let mut access = self.access(class, ty, &words)?;
        access.align = if unaligned { 1 } else { access.align };
        access.mem = self.with_cache_policy(to, Opcode::Store, access.mem);
        let addr = self.address(to, &access)?;
        self.store_leaves(ty, &leaves, addr, access)?;
        Ok(true)
    }

    fn load_part(&mut self, mut part: ArrayAccess, leaves: u32) -> Leaves {
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
                    let offset = (part.constant + n) * part.lanes * part.scalar.bytes();
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
        out
    }

    pub(super) fn store_held(&mut self, inst: &BInst, n: usize) -> Result<(), Error> {
        let (pointer, value) = (self.operand(inst, 0)?, self.operand(inst, 1)?);
        let (_, of) = self.pointer(pointer)?;
        if self.type_of(value)? != of {
            return Err(Error::malformed("a store of another type than is there"));
        }
        let values = self.get(value)?;
        let part = self.held_part(pointer, n, values.len() as u32)?;
        self.store_part(part, &values);
        Ok(())
    }

    fn store_part(&mut self, mut part: ArrayAccess, values: &[Value]) {
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
            return;
        }
        let mask = self.b.exec_mask();
        match part.index {
            Some(index) if self.b.ty(index).lanes() > 1 => {
                let first = part.constant;
                for place in first..part.places {
                    let here = self.is_at(index, place - first);
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
    }
}
