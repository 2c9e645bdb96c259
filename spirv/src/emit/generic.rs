//! Generic pointers: as memory holds them, and accesses through those that may be to one of several memories.
//!
//! A generic pointer has 64 bits, and its highest three say which memory it is to, as in the code of Intel's compiler: an offset in local memory,
//! one in the thread's scratch, or else an address. Where only pointers to one memory lead to a pointer ([`crate::infer_address_spaces`]), it has no such bits
//! until it is compared, stored or made a number. An instruction that accesses memory through one of several is emitted for each of them, by a
//! branch.

use super::{Emit, Leaves};
use crate::body::{BInst, Body};
use crate::cfg::Graph;
use crate::error::Error;
use crate::infer_address_spaces::{MemoryKinds, PointsTo};
use crate::library::intel_builtins;
use crate::module::constants::Constant;
use crate::module::types::{Ty, Type};
use crate::module::{ConstData, Def, Module};
use crate::read::{self, Id};
use gantry_codegen::builder::Variable;
use gantry_codegen::ir::{self, FuncKind, IntCC, Region, Scalar, Value};
use smallvec::SmallVec;
use spirv::{MemorySemantics, Op, OpenclStd100Op as Std, StorageClass};

/// The lowest of the bits that say which memory a pointer is to.
const TAG: u32 = 61;
const LOCAL: u64 = 2;
const PRIVATE: u64 = 1;

/// Bytes of local memory, and of each work-item's private memory, that are left free where pointers to it may be null.
pub(crate) const NULL_BYTES: u32 = 16;

/// What says that a pointer is to a memory; none where that is an address.
fn tag(class: StorageClass) -> Option<u64> {
    match MemoryKinds::of(class) {
        MemoryKinds::LOCAL => Some(LOCAL),
        MemoryKinds::PRIVATE => Some(PRIVATE),
        _ => None,
    }
}

/// Whether a body has null pointers to a memory, or casts that may give such.
pub(crate) fn may_be_null(m: &Module<'_>, body: &Body, g: &Graph, class: StorageClass) -> bool {
    let is = |ty: Option<Ty>| match ty.map(|t| m.types.kind(t)) {
        Some(Type::Pointer(of, _)) => MemoryKinds::of(*of) == MemoryKinds::of(class),
        _ => false,
    };
    let is_null = |c: &ConstData| matches!(c.value, Constant::Null) && is(Some(c.ty));
    let cast = |i: &BInst| i.op == Op::GenericCastToPtrExplicit && is(i.ty.expand());
    let blocks = || g.order.iter().map(|b| &body.blocks[*b]);
    if !m.consts.values().any(is_null) {
        return blocks().flat_map(|b| &b.insts).any(cast);
    }
    let null = |id: Id| m.constant(id).is_some_and(is_null);
    blocks().any(|data| {
        let mut args = data.phis.iter().flat_map(|p| &p.args);
        args.any(|a| null(a.1))
            || data.insts.iter().any(|i| {
                let mut found = cast(i);
                body.for_each_use(i, |id| found |= null(id));
                found
            })
    })
}

/// Whether an instruction accesses memory through its n-th operand, if that is a pointer.
fn accesses(m: &Module<'_>, inst: &BInst, operands: &[u32], n: usize) -> bool {
    match inst.op {
        Op::Load | Op::Store => n == 0,
        Op::CopyMemory | Op::CopyMemorySized => n < 2,
        Op::ExtInst => n > 1 && operands.get(1) != Some(&(Std::printf as u32)),
        Op::SubgroupBlockReadINTEL | Op::SubgroupBlockWriteINTEL => n == 0,
        Op::FunctionCall => n == 1 && intel_builtins::accesses(m, operands),
        op => n == 0 && super::atomics::is_atomic(op),
    }
}

impl Emit<'_, '_, '_> {
    pub(super) fn is_generic(&self, ty: Ty) -> bool {
        let generic = StorageClass::Generic;
        matches!(self.m.types.kind(ty), Type::Pointer(class, _) if *class == generic)
    }

    /// What is known of a pointer, if it is a generic one.
    fn generic(&self, id: Id) -> Option<PointsTo> {
        let ty = self.body.type_of(self.m, id)?;
        self.is_generic(ty).then(|| self.spaces[id])
    }

    /// The kind of a leaf of a value: pointers that are known to be to one memory, or say which buffer they are into, are not as their types have them.
    pub(super) fn leaf_scalar(&self, id: Id, leaf: Ty) -> Result<Scalar, Error> {
        match self.generic(id) {
            Some(PointsTo::One(class)) if tag(class).is_some() => Ok(Scalar::I32),
            _ if self.says_which(id) => Ok(Scalar::I64),
            _ => self.scalar(leaf),
        }
    }

    /// The memory that a pointer is to, by its type's; `Generic` where it is one of several.
    pub(super) fn memory_of(&self, id: Id, class: StorageClass) -> StorageClass {
        if class != StorageClass::Generic {
            if let Def::Global(g) = self.m.def(id) {
                return self.m.globals.get(g).map_or(class, |g| g.class);
            }
            // Tables are as buffers that nobody writes.
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

    /// The kinds of memory that a pointer may be to.
    pub(super) fn kinds_of(&self, id: Id) -> MemoryKinds {
        let ty = self.body.type_of(self.m, id).map(|t| self.m.types.kind(t));
        match (ty, self.spaces[id]) {
            (Some(Type::Pointer(StorageClass::Generic, _)), PointsTo::Several(kinds)) => kinds,
            (Some(Type::Pointer(class, _)), _) => MemoryKinds::of(self.memory_of(id, *class)),
            _ => MemoryKinds::GLOBAL,
        }
    }

    /// A pointer as accesses take it.
    pub(super) fn place_of(&mut self, id: Id) -> Result<Value, Error> {
        if let Some((.., v)) = self.narrowed.iter().find(|n| n.0 == id) {
            return Ok(*v);
        }
        match *self.bare(id)?.as_slice() {
            [v] => Ok(v),
            _ => Err(Error::malformed("a composite in the place of a pointer")),
        }
    }

    /// A pointer of which another is made by no more than arithmetic: as that is.
    pub(super) fn passed(&mut self, id: Id, to: Id) -> Result<Leaves, Error> {
        if self.says_which(to) {
            return self.saying_which(id);
        }
        let Some(PointsTo::One(class)) = self.generic(to) else {
            return self.get(id);
        };
        let leaves = self.bare(id)?;
        match (self.generic(id), leaves.as_slice()) {
            // What nothing said.
            (Some(PointsTo::None | PointsTo::Null), &[v]) => {
                Ok(Leaves::from_slice(&[self.untagged(v, class)]))
            }
            _ => Ok(leaves),
        }
    }

    /// The leaves of a value with the bits that say which memory a generic pointer is to.
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

    /// Bytes at the beginning of a memory that nothing is in, so that no pointer is null.
    pub(super) fn behind_null(&self, class: StorageClass) -> u32 {
        let [local, private] = self.nulls;
        let asked = match MemoryKinds::of(class) {
            MemoryKinds::LOCAL => local,
            MemoryKinds::PRIVATE => private,
            _ => false,
        };
        if asked { NULL_BYTES } else { 0 }
    }

    /// The bits of a pointer that say which memory it is to.
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

    /// Whether the bits say that a pointer is to a memory.
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

    /// What accesses of a memory take for a pointer that is to it.
    fn untagged(&mut self, v: Value, class: StorageClass) -> Value {
        match tag(class) {
            Some(_) => self.resize(v, Scalar::I32, false),
            None => v,
        }
    }

    /// Casts between generic pointers and others. One from a memory that is known stays as it is.
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
            || MemoryKinds::of(class) == MemoryKinds::of(wanted) && class != StorageClass::Generic
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

    /// The memory that a fence for a generic pointer is of, as semantics say it.
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

    /// The memories that a kernel has.
    fn present(&self) -> MemoryKinds {
        let mut all = MemoryKinds::GLOBAL;
        let local = |t: &(Id, Ty)| {
            matches!(
                self.m.types.kind(t.1),
                Type::Pointer(StorageClass::Workgroup, _)
            )
        };
        // A function does not know its kernel's arguments.
        let called = self.b.func().kind == FuncKind::Subroutine;
        if called || !self.frame.slm.is_empty() || self.body.params.iter().any(local) {
            all = all.and(MemoryKinds::LOCAL);
        }
        if self.frame.private_bytes > 0 {
            all = all.and(MemoryKinds::PRIVATE);
        }
        all
    }

    /// Emits an instruction: where it accesses memory through a generic pointer to one of several, for each of them.
    pub(super) fn by_memory(&mut self, inst: &BInst) -> Result<Leaves, Error> {
        if !self.several {
            return self.family(inst);
        }
        let operands = self.body.operands(inst);
        let mut several = None;
        // Operands that are ids: others are numbers.
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
            let kind = MemoryKinds::of(class);
            // There are no atomics of private memory.
            let never = kind == MemoryKinds::PRIVATE && super::atomics::is_atomic(inst.op);
            if kinds.has(kind) && present.has(kind) && !never {
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

    /// Emits an instruction where a pointer is to one memory, and keeps its result.
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
