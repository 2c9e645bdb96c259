//! Generic pointers: their representation in memory, and accesses through them.
//!
//! A generic pointer has 64 bits, and a tag in the upper three says which memory it points to, as
//! in code of Intel's compiler. The rest is an SLM offset, a scratch offset of the thread, or an
//! address. A pointer that is known to point to one memory ([`crate::infer_address_spaces`]) has no
//! tag until it is compared, stored or converted to an integer. An access through a pointer to
//! several memories is emitted for each of them, under branches.

use super::{Emit, Leaves};
use crate::body::BInst;
use crate::error::Error;
use crate::frame_layout::NULL_BYTES;
use crate::infer_address_spaces::{MemorySet, PointsTo};
use crate::intel_builtins;
use crate::module::types::{Ty, Type};
use crate::module::{Def, Module};
use crate::op_info::is_atomic;
use crate::read::{self, Id};
use gantry_codegen::builder::Variable;
use gantry_codegen::ir::{self, FuncKind, IntCC, Region, Scalar, Value};
use smallvec::SmallVec;
use spirv::{MemorySemantics, Op, OpenclStd100Op as Std, StorageClass};

/// Lowest bit of the tag.
const TAG: u32 = 61;
const LOCAL: u64 = 2;
const PRIVATE: u64 = 1;

/// Tag of a memory. `None` if pointers to it are addresses.
fn tag(class: StorageClass) -> Option<u64> {
    match MemorySet::of(class) {
        MemorySet::LOCAL => Some(LOCAL),
        MemorySet::PRIVATE => Some(PRIVATE),
        _ => None,
    }
}

/// Returns true if an instruction accesses memory through operand `n`.
fn accesses(m: &Module<'_>, inst: &BInst, operands: &[u32], n: usize) -> bool {
    match inst.op {
        Op::Load | Op::Store => n == 0,
        Op::CopyMemory | Op::CopyMemorySized => n < 2,
        Op::ExtInst => n > 1 && operands.get(1) != Some(&(Std::printf as u32)),
        Op::SubgroupBlockReadINTEL | Op::SubgroupBlockWriteINTEL => n == 0,
        Op::FunctionCall => n == 1 && intel_builtins::accesses(m, operands),
        op => n == 0 && is_atomic(op),
    }
}

impl Emit<'_, '_, '_> {
    pub(super) fn is_generic(&self, ty: Ty) -> bool {
        let generic = StorageClass::Generic;
        matches!(self.m.types.kind(ty), Type::Pointer(class, _) if *class == generic)
    }

    /// Memory of a pointer, if it is generic.
    fn generic(&self, id: Id) -> Option<PointsTo> {
        let ty = self.body.type_of(self.m, id)?;
        self.is_generic(ty).then(|| self.spaces[id])
    }

    /// IR scalar of a leaf of a value. Pointers to a known memory, and pointers that carry a buffer
    /// index, differ from their type.
    pub(super) fn leaf_scalar(&self, id: Id, leaf: Ty) -> Result<Scalar, Error> {
        match self.generic(id) {
            Some(PointsTo::One(class)) if tag(class).is_some() => Ok(Scalar::I32),
            _ if self.carries_buffer_index(id) => Ok(Scalar::I64),
            _ => self.scalar(leaf),
        }
    }

    /// Memory that a pointer points to: `Generic` if there are several.
    pub(super) fn memory_of(&self, id: Id, class: StorageClass) -> StorageClass {
        if class != StorageClass::Generic {
            if let Def::Global(g) = self.m.def(id) {
                return self.m.globals.get(g).map_or(class, |g| g.class);
            }
            // Constant data is accessed like read-only buffers.
            return if self.body.constant_pointers.contains(&id) {
                StorageClass::Uniform
            } else {
                class
            };
        }
        if let Some((_, class, _)) = self.narrowed.iter().find(|n| n.0 == id) {
            return *class;
        }
        match self.spaces[id] {
            PointsTo::One(class) => class,
            PointsTo::None | PointsTo::Null => StorageClass::CrossWorkgroup,
            PointsTo::Several(_) => StorageClass::Generic,
        }
    }

    /// Memories that a pointer may point to.
    pub(super) fn kinds_of(&self, id: Id) -> MemorySet {
        let ty = self.body.type_of(self.m, id).map(|t| self.m.types.kind(t));
        match (ty, self.spaces[id]) {
            (Some(Type::Pointer(StorageClass::Generic, _)), PointsTo::Several(kinds)) => kinds,
            (Some(Type::Pointer(class, _)), _) => MemorySet::of(self.memory_of(id, *class)),
            _ => MemorySet::GLOBAL,
        }
    }

    /// Pointer as accesses take it.
    pub(super) fn place_of(&mut self, id: Id) -> Result<Value, Error> {
        if let Some((.., v)) = self.narrowed.iter().find(|n| n.0 == id) {
            return Ok(*v);
        }
        match *self.bare(id)?.as_slice() {
            [v] => Ok(v),
            _ => Err(Error::malformed("a composite in the place of a pointer")),
        }
    }

    /// Operand of a move, select or phi, in the representation of the result `to`.
    pub(super) fn passed(&mut self, id: Id, to: Id) -> Result<Leaves, Error> {
        if self.carries_buffer_index(to) {
            return self.with_buffer_index(id);
        }
        let Some(PointsTo::One(class)) = self.generic(to) else {
            return self.get(id);
        };
        let leaves = self.bare(id)?;
        match (self.generic(id), leaves.as_slice()) {
            // No value reaches it.
            (Some(PointsTo::None | PointsTo::Null), &[v]) => {
                Ok(Leaves::from_slice(&[self.untagged(v, class)]))
            }
            _ => Ok(leaves),
        }
    }

    /// Adds the tag to a generic pointer.
    pub(super) fn tagged(&mut self, id: Id, leaves: Leaves) -> Leaves {
        match (self.generic(id), leaves.as_slice()) {
            (Some(PointsTo::One(class)), &[v]) => {
                let v = self.with_tag(v, class);
                Leaves::from_slice(&[v])
            }
            _ => leaves,
        }
    }

    fn with_tag(&mut self, v: Value, class: StorageClass) -> Value {
        let Some(tag) = tag(class) else {
            return v;
        };
        let wide = self.resize(v, Scalar::I64, false);
        let bits = self.same(wide, tag << TAG);
        let out = self.b.ins().bor(wide, bits);
        match self.behind_null(class) {
            0 => out,
            _ => {
                let zero = self.same(v, 0);
                let null = self.b.ins().icmp(IntCC::Equal, v, zero);
                let zero = self.same(out, 0);
                self.b.ins().select(null, zero, out)
            }
        }
    }

    /// Bytes reserved at the start of a memory, so that no pointer to an object is null.
    pub(super) fn behind_null(&self, class: StorageClass) -> u32 {
        let [local, private] = self.nulls;
        let asked = match MemorySet::of(class) {
            MemorySet::LOCAL => local,
            MemorySet::PRIVATE => private,
            _ => false,
        };
        if asked { NULL_BYTES } else { 0 }
    }

    /// Tag bits of a pointer.
    fn tag_of(&mut self, v: Value) -> Value {
        let lanes = self.b.ty(v).lanes();
        let halves = self.lanes(Scalar::I32, 2 * lanes);
        let halves = self.b.ins().bitcast(halves, v);
        let region = Region::new(2, 1, 0, Scalar::I32.bytes() as u16);
        let ty = self.lanes(Scalar::I32, lanes);
        let upper = self.b.ins().rdregion(ty, halves, region);
        let by = self.same(upper, u64::from(TAG - 32));
        self.b.ins().ushr(upper, by)
    }

    /// Returns true if a tag denotes a memory.
    fn is_in(&mut self, bits: Value, class: StorageClass) -> Value {
        if let Some(tag) = tag(class) {
            let tag = self.same(bits, tag);
            return self.b.ins().icmp(IntCC::Equal, bits, tag);
        }
        let [local, private] = [LOCAL, PRIVATE].map(|tag| {
            let tag = self.same(bits, tag);
            self.b.ins().icmp(IntCC::NotEqual, bits, tag)
        });
        self.b.ins().band(local, private)
    }

    /// Pointer to a memory as accesses of it take it.
    fn untagged(&mut self, v: Value, class: StorageClass) -> Value {
        match tag(class) {
            Some(_) => self.resize(v, Scalar::I32, false),
            None => v,
        }
    }

    /// Emits casts between generic and other pointers. A pointer to a known memory stays unchanged.
    pub(super) fn cast(&mut self, inst: &BInst, arg: Id, ty: Ty) -> Result<Leaves, Error> {
        let (class, _) = self.pointer(arg)?;
        let wanted = match self.m.types.kind(ty) {
            Type::Pointer(class, _) => *class,
            _ => return Err(Error::malformed("a cast to what is no pointer")),
        };
        if (inst.op == Op::PtrCastToGeneric) != (wanted == StorageClass::Generic) {
            return Err(Error::malformed("a cast to another kind of pointer"));
        }
        let v = self.place_of(arg)?;
        if wanted == StorageClass::Generic
            || MemorySet::of(class) == MemorySet::of(wanted) && class != StorageClass::Generic
        {
            return Ok(Leaves::from_slice(&[v]));
        }
        let to = self.scalar(ty)?;
        if class != StorageClass::Generic {
            let none = self.number(to, 0);
            return Ok(Leaves::from_slice(&[none]));
        }
        let place = self.untagged(v, wanted);
        if inst.op == Op::GenericCastToPtr {
            return Ok(Leaves::from_slice(&[place]));
        }
        let bits = self.tag_of(v);
        let is = self.is_in(bits, wanted);
        let (v, none) = (place, self.same(place, 0));
        Ok(Leaves::from_slice(&[self.choose(is, v, none)?]))
    }

    /// Memory semantics that denote the memory of a generic pointer.
    pub(super) fn semantics_of(&mut self, pointer: Id) -> Result<Leaves, Error> {
        let [local, global] = [
            MemorySemantics::WORKGROUP_MEMORY,
            MemorySemantics::CROSS_WORKGROUP_MEMORY,
        ]
        .map(|s| u64::from(s.bits()));
        let (class, _) = self.pointer(pointer)?;
        let v = match class {
            StorageClass::Generic => {
                let v = self.place_of(pointer)?;
                let bits = self.tag_of(v);
                let is = self.is_in(bits, StorageClass::Workgroup);
                let [local, global] = [local, global].map(|n| self.same(bits, n));
                self.choose(is, local, global)?
            }
            StorageClass::Workgroup => self.number(Scalar::I32, local),
            _ => self.number(Scalar::I32, global),
        };
        Ok(Leaves::from_slice(&[v]))
    }

    /// Memories that a kernel may use.
    fn present(&self) -> MemorySet {
        let mut all = MemorySet::GLOBAL;
        let local = |t: &(Id, Ty)| {
            matches!(
                self.m.types.kind(t.1),
                Type::Pointer(StorageClass::Workgroup, _)
            )
        };
        // A called function does not know the arguments of its kernel.
        let called = self.b.func().kind == FuncKind::Subroutine;
        if called || !self.frame.slm.is_empty() || self.body.params.iter().any(local) {
            all = all.union(MemorySet::LOCAL);
        }
        if self.frame.private_bytes > 0 {
            all = all.union(MemorySet::PRIVATE);
        }
        all
    }

    /// Emits an instruction. An access through a pointer to several memories is emitted for each of
    /// them.
    pub(super) fn by_memory(&mut self, inst: &BInst) -> Result<Leaves, Error> {
        if !self.several {
            return self.family(inst);
        }
        let operands = self.body.operands(inst);
        let mut several = None;
        // Only operands that are ids.
        self.body.for_each_use(inst, |id| {
            let word = id.as_u32();
            let place = operands.iter().enumerate();
            let mut place = place.filter(|(_, w)| **w == word).map(|(n, _)| n);
            let known = self.narrowed.iter().any(|n| n.0 == id);
            if let (Some(PointsTo::Several(kinds)), false, None) =
                (self.generic(id), known, several)
                && place.any(|n| accesses(self.m, inst, operands, n))
            {
                several = Some((id, kinds));
            }
        });
        let Some((id, kinds)) = several else {
            return self.family(inst);
        };
        let v = self.place_of(id)?;
        if self.b.ty(v).scalar() != Scalar::I64 {
            return Err(Error::malformed(format!(
                "{} through what is no pointer",
                read::name(inst.op)
            )));
        }
        let present = self.present();
        let mut classes: SmallVec<[StorageClass; 3]> = SmallVec::new();
        for class in [
            StorageClass::Workgroup,
            StorageClass::Function,
            StorageClass::CrossWorkgroup,
        ] {
            let kind = MemorySet::of(class);
            // Private memory has no atomics.
            let never = kind == MemorySet::PRIVATE && is_atomic(inst.op);
            if kinds.intersects(kind) && present.intersects(kind) && !never {
                classes.push(class);
            }
        }
        let last = classes.pop().unwrap_or(StorageClass::CrossWorkgroup);
        let mut vars: SmallVec<[Variable; 4]> = SmallVec::new();
        if classes.is_empty() {
            let place = self.untagged(v, last);
            self.in_memory(inst, (id, last, place), &mut vars)?;
            return Ok(vars.into_iter().map(|v| self.b.use_var(v)).collect());
        }
        let bits = self.tag_of(v);
        let uniform = self.b.ty(v).lanes() == 1;
        let mut done = Ok(());
        for &class in &classes {
            let is = self.is_in(bits, class);
            if uniform {
                self.b.uniform_if_begin(is)
            } else {
                self.b.simd_if_begin(is)
            }
            let place = self.untagged(v, class);
            done = done.and(self.in_memory(inst, (id, class, place), &mut vars));
            if uniform {
                self.b.uniform_else()
            } else {
                self.b.simd_else()
            }
        }
        let place = self.untagged(v, last);
        done = done.and(self.in_memory(inst, (id, last, place), &mut vars));
        for _ in &classes {
            if uniform {
                self.b.uniform_if_end()
            } else {
                self.b.simd_if_end()
            }
        }
        done?;
        Ok(vars.into_iter().map(|v| self.b.use_var(v)).collect())
    }

    /// Emits an instruction for one memory, and keeps its result in variables.
    fn in_memory(
        &mut self,
        inst: &BInst,
        narrowed: (Id, StorageClass, Value),
        vars: &mut SmallVec<[Variable; 4]>,
    ) -> Result<(), Error> {
        self.narrowed.push(narrowed);
        let leaves = self.by_memory(inst);
        self.narrowed.pop();
        let leaves = leaves?;
        if vars.is_empty() {
            let types = leaves.iter().map(|v| self.b.ty(*v));
            let types: SmallVec<[ir::Type; 4]> = types.collect();
            vars.extend(types.into_iter().map(|t| self.b.declare_var(t)));
        }
        for (var, leaf) in vars.iter().zip(leaves) {
            self.b.def_var(*var, leaf);
        }
        Ok(())
    }
}
