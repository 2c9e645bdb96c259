//! Memory: addresses, loads, stores, copies.
//!
//! A pointer is in the form that accesses of its memory take. That is a 64-bit address, or a 32-bit
//! offset in SLM or in scratch, where each work-item has its own part. In memory every pointer has
//! 64 bits.

use super::{Emit, Leaves, too_large};
use crate::body::BInst;
use crate::error::Error;
use crate::module::Def;
use crate::module::types::{MAX_LEAVES, MatrixLayout, Ty, Type};
use crate::read::Id;
use gantry_codegen::ir::{IntCC, MemFlags, Opcode, Region, Scalar, Space, Value};
use smallvec::SmallVec;
use spirv::{Op, StorageClass};

/// Returns true if this file emits an instruction.
pub(super) fn is_supported(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        Variable
            | Load
            | Store
            | AccessChain
            | InBoundsAccessChain
            | PtrAccessChain
            | InBoundsPtrAccessChain
            | CopyMemory
            | CopyMemorySized
            | PtrDiff
            | ArrayLength
    )
}

/// Maximum number of elements of a lane in one message.
pub(super) const MAX_ELEMENTS: usize = 4;
/// Runs of consecutive scalars: type, byte offset of the first, number.
type ScalarRuns = SmallVec<[(Scalar, u64, usize); 4]>;

/// Properties of an access.
#[derive(Clone, Copy)]
pub(crate) struct Access {
    pub mem: MemFlags,
    /// Alignment of the address in bytes.
    pub align: u64,
    /// Byte offset from the address.
    pub offset: u64,
    /// Layout of matrices in memory.
    pub matrix: Option<MatrixLayout>,
}

impl Emit<'_, '_, '_> {
    pub(super) fn memory(&mut self, inst: &BInst) -> Result<Leaves, Error> {
        match inst.op {
            Op::Variable => {
                let id = inst.id.expand().ok_or_else(|| Error::internal("no id"))?;
                if let Some(n) = self.held(id) {
                    let init = self.body.operands(inst).get(1);
                    return self.hold(id, n, init.map(|w| Id::of(*w)));
                }
                let v = self.private_pointer(id)?;
                if let Some(init) = self.body.operands(inst).get(1).map(|w| Id::of(*w)) {
                    let ty = self.type_of(init)?;
                    if self.m.types.leaves(ty) > MAX_LEAVES {
                        self.initialize(init, ty, v)?;
                        return Ok(Leaves::from_slice(&[v]));
                    }
                    let leaves = self.get(init)?;
                    let access = self.access(StorageClass::Function, ty, &[])?;
                    self.store_leaves(ty, &leaves, v, access)?;
                }
                Ok(Leaves::from_slice(&[v]))
            }
            Op::Load => self.load(inst),
            Op::Store => self.store(inst),
            Op::AccessChain
            | Op::InBoundsAccessChain
            | Op::PtrAccessChain
            | Op::InBoundsPtrAccessChain
                if self.m.logical =>
            {
                self.logical_chain(inst)
            }
            Op::AccessChain
            | Op::InBoundsAccessChain
            | Op::PtrAccessChain
            | Op::InBoundsPtrAccessChain => self.chain(inst),
            Op::ArrayLength => self.array_length(inst),
            Op::CopyMemory | Op::CopyMemorySized => self.copy(inst),
            Op::PtrDiff => {
                let (a, b) = (self.operand(inst, 0)?, self.operand(inst, 1)?);
                let (_, of) = self.pointer(a)?;
                self.pointer(b)?;
                let mut v = [self.offset_of(a)?, self.offset_of(b)?];
                self.even(&mut v);
                if self.b.ty(v[0]) != self.b.ty(v[1]) {
                    return Err(Error::malformed("a difference of pointers of two kinds"));
                }
                let bytes = self.b.ins().isub(v[0], v[1]);
                let ty = inst.ty.expand().ok_or_else(|| Error::internal("no type"))?;
                let to = self.scalar(ty)?;
                let bytes = self.resize(bytes, to, true);
                let size = self.same(bytes, self.m.types.size(of).max(1));
                Ok(Leaves::from_slice(&[self.b.ins().sdiv(bytes, size)]))
            }
            _ => Err(Error::internal("no memory")),
        }
    }

    /// Memory and pointee of a pointer.
    pub fn pointer(&self, id: Id) -> Result<(StorageClass, Ty), Error> {
        let ty = self.type_of(id)?;
        match self.m.types.kind(ty) {
            Type::Pointer(class, of) => {
                let of = self.m.ty(*of);
                let of = of.ok_or_else(|| Error::malformed("a pointer to what is no type"))?;
                Ok((self.memory_of(id, *class), of))
            }
            _ => Err(Error::malformed("what is no pointer is used as one")),
        }
    }

    /// Properties of an access to a memory. `words` are the memory operands.
    pub fn access(&self, class: StorageClass, ty: Ty, words: &[u32]) -> Result<Access, Error> {
        let space = match class {
            StorageClass::CrossWorkgroup
            | StorageClass::UniformConstant
            | StorageClass::StorageBuffer
            | StorageClass::Uniform
            | StorageClass::PhysicalStorageBuffer => Space::Global,
            StorageClass::Workgroup => Space::Slm,
            StorageClass::Function | StorageClass::Private => Space::Scratch,
            other => return Err(Error::unsupported(format!("an access to {other:?} memory"))),
        };
        let mask = words.first().copied().unwrap_or(0);
        let align = match mask & 2 {
            0 => self.m.types.align(ty),
            _ => u64::from(words.get(1).copied().unwrap_or(0)).max(1),
        };
        let mut mem = MemFlags::of(space);
        mem.volatile = mask & 1 != 0;
        mem.constant = class == StorageClass::UniformConstant;
        Ok(Access {
            mem,
            align: 1 << align.trailing_zeros().min(12),
            offset: 0,
            matrix: None,
        })
    }

    /// Address of an access.
    pub fn address(&mut self, pointer: Id, access: &Access) -> Result<Value, Error> {
        let v = self.place_of(pointer)?;
        if self.b.ty(v).scalar() == access.mem.space.address() {
            Ok(v)
        } else {
            Err(Error::malformed(
                "a pointer to another memory than its type says",
            ))
        }
    }

    fn load(&mut self, inst: &BInst) -> Result<Leaves, Error> {
        let pointer = self.operand(inst, 0)?;
        if let Some(n) = self.held(pointer) {
            return self.load_held(inst, n);
        }
        let (class, of) = self.pointer(pointer)?;
        let ty = inst.ty.expand().ok_or_else(|| Error::internal("no type"))?;
        if ty != of {
            return Err(Error::malformed("a load of another type than is there"));
        }
        if class == StorageClass::Input {
            return self.builtin(pointer, ty);
        }
        let words = self.body.operands(inst).get(1..).unwrap_or(&[]);
        if class == StorageClass::PushConstant {
            return self.load_pushed(pointer, ty);
        }
        if matches!(
            self.m.types.kind(ty),
            Type::Image(_) | Type::Sampler | Type::SampledImage(_)
        ) && let (true, Some(id)) = (self.m.logical, inst.id.expand())
        {
            return self.load_resource(id, pointer);
        }
        let access = self.access(class, ty, words)?;
        let (address, mut access) = self.reach(pointer, class, access)?;
        access.mem = self.with_cache_policy(pointer, Opcode::Load, access.mem);
        let out = self.load_leaves(ty, address, access);
        self.guard = None;
        out
    }

    /// Splits the scalars of a type into runs.
    pub(super) fn runs(&self, ty: Ty, matrix: Option<MatrixLayout>) -> Result<ScalarRuns, Error> {
        if self.m.types.leaves(ty) > MAX_LEAVES {
            return Err(too_large(self.m.types.leaves(ty)));
        }
        let mut out = ScalarRuns::new();
        for (ty, at) in self.m.types.scalars_in(ty, matrix) {
            let scalar = match self.m.types.kind(ty) {
                Type::Pointer(..) => Scalar::I64,
                Type::Bool => Scalar::I8,
                _ => self.scalar(ty)?,
            };
            let size = u64::from(scalar.bytes());
            match out.last_mut() {
                Some((s, first, n))
                    if *s == scalar && *first + *n as u64 * size == at && *n < MAX_ELEMENTS =>
                {
                    *n += 1;
                }
                _ => out.push((scalar, at, 1)),
            }
        }
        Ok(out)
    }

    /// Loads a value.
    pub fn load_leaves(&mut self, ty: Ty, addr: Value, access: Access) -> Result<Leaves, Error> {
        let mut out = Leaves::new();
        for (scalar, at, count) in self.runs(ty, access.matrix)? {
            let offset = offset(access.offset.saturating_add(at))?;
            let mem = aligned(access, at, scalar);
            self.elements(scalar, count, addr, offset, mem, &mut out);
        }
        for (leaf, (ty, _)) in out.iter_mut().zip(self.m.types.scalars(ty)) {
            let scalar = self.scalar(ty)?;
            if scalar == Scalar::B1 {
                let zero = self.same(*leaf, 0);
                *leaf = self.b.ins().icmp(IntCC::NotEqual, *leaf, zero);
            } else if scalar.is_int() {
                *leaf = self.resize(*leaf, scalar, false);
            }
        }
        Ok(out)
    }

    /// Loads consecutive elements.
    pub fn elements(
        &mut self,
        scalar: Scalar,
        count: usize,
        addr: Value,
        offset: i32,
        mem: MemFlags,
        out: &mut Leaves,
    ) {
        let (addr, offset) = self.base_of(addr, offset);
        let mut all = [addr, self.guard.unwrap_or(addr)];
        self.even(&mut all);
        let [addr, guard] = all;
        let guard = self.guard.map(|_| guard);
        let lanes = self.b.ty(addr).lanes();
        let ty = self.lanes(scalar, lanes * count as u32);
        let all = if let (Some(guard), true) = (guard, lanes > 1) {
            let mask = self.b.exec_mask();
            let mask = self.b.ins().band(mask, guard);
            let old = self.b.ins().vconst(scalar, &[0]);
            let old = self.b.splat(old, lanes * count as u32);
            self.b
                .ins()
                .load_from(mem, ty, addr, offset, Some((mask, old)))
        } else if lanes == 1 && mem.alignment(scalar.bytes()) >= scalar.bytes() {
            self.b.ins().bload_from(mem, ty, addr, offset)
        } else if lanes == 1 {
            self.b.ins().load_from(mem, ty, addr, offset, None)
        } else {
            let mask = self.b.exec_mask();
            let old = self.b.ins().undef(ty);
            self.b
                .ins()
                .load_from(mem, ty, addr, offset, Some((mask, old)))
        };
        for n in 0..count as u32 {
            let mut v = match count {
                1 => all,
                _ => self.b.slice(all, n * lanes, lanes),
            };
            if let (Some(guard), 1) = (guard, lanes) {
                let zero = self.same(v, 0);
                v = self.b.ins().select(guard, v, zero);
            }
            out.push(v);
        }
    }

    fn store(&mut self, inst: &BInst) -> Result<Leaves, Error> {
        let (pointer, value) = (self.operand(inst, 0)?, self.operand(inst, 1)?);
        if let Some(n) = self.held(pointer) {
            return self.store_held(inst, n).map(|()| Leaves::new());
        }
        let (class, of) = self.pointer(pointer)?;
        if self.type_of(value)? != of {
            return Err(Error::malformed("a store of another type than is there"));
        }
        if class == StorageClass::UniformConstant {
            return Err(Error::malformed("a store to constant memory"));
        }
        let words = self.body.operands(inst).get(2..).unwrap_or(&[]);
        let access = self.access(class, of, words)?;
        let leaves = self.get(value)?;
        let (address, mut access) = self.reach(pointer, class, access)?;
        access.mem = self.with_cache_policy(pointer, Opcode::Store, access.mem);
        let done = self.store_leaves(of, &leaves, address, access);
        self.guard = None;
        done.map(|()| Leaves::new())
    }

    /// Stores a value.
    pub fn store_leaves(
        &mut self,
        ty: Ty,
        leaves: &[Value],
        addr: Value,
        access: Access,
    ) -> Result<(), Error> {
        let mut rest = leaves;
        for (scalar, at, count) in self.runs(ty, access.matrix)? {
            let Some((now, later)) = rest.split_at_checked(count) else {
                return Err(Error::malformed(
                    "a value that is not as large as where it is stored",
                ));
            };
            rest = later;
            let mut now = Leaves::from_slice(now);
            if scalar.is_int() {
                for v in &mut now {
                    if self.b.ty(*v).is_pred() {
                        let like = self.lanes(scalar, self.b.ty(*v).lanes());
                        let (one, zero) =
                            (self.b.ins().iconst(like, 1), self.b.ins().iconst(like, 0));
                        *v = self.choose(*v, one, zero)?;
                    }
                    *v = self.resize(*v, scalar, false);
                }
            }
            let offset = offset(access.offset.saturating_add(at))?;
            let mem = aligned(access, at, scalar);
            self.store_elements(scalar, &now, addr, offset, mem);
        }
        Ok(())
    }

    /// Stores consecutive elements.
    pub fn store_elements(
        &mut self,
        scalar: Scalar,
        values: &[Value],
        addr: Value,
        offset: i32,
        mut mem: MemFlags,
    ) {
        let (addr, offset) = self.base_of(addr, offset);
        // Memory that is stored to is not constant.
        mem.constant = false;
        let mut all = Leaves::from_slice(values);
        all.push(addr);
        all.extend(self.guard);
        let lanes = self.even(&mut all);
        let guard = self.guard.and_then(|_| all.pop());
        let Some(addr) = all.pop() else { return };
        let value = self.join(scalar, &all, lanes);
        if let (Some(guard), 1) = (guard, lanes) {
            self.b.uniform_if_begin(guard);
            if mem.alignment(scalar.bytes()) >= scalar.bytes() {
                self.b.ins().bstore_to(mem, value, addr, offset);
            } else {
                self.b.ins().store_to(mem, value, addr, offset, None);
            }
            self.b.uniform_if_end();
        } else if lanes > 1 {
            let mut mask = self.b.exec_mask();
            if let Some(guard) = guard {
                mask = self.b.ins().band(mask, guard);
            }
            self.b.ins().store_to(mem, value, addr, offset, Some(mask));
        } else if mem.alignment(scalar.bytes()) >= scalar.bytes() {
            self.b.ins().bstore_to(mem, value, addr, offset);
        } else {
            self.b.ins().store_to(mem, value, addr, offset, None);
        }
    }

    /// Concatenates values.
    pub fn join(&mut self, scalar: Scalar, values: &[Value], lanes: u32) -> Value {
        if let [one] = *values {
            return one;
        }
        let ty = self.lanes(scalar, lanes * values.len() as u32);
        let mut out = self.b.ins().undef(ty);
        for (n, v) in values.iter().enumerate() {
            let at = (n as u32 * lanes * scalar.bytes()) as u16;
            let region = Region::contiguous(lanes as u16, at);
            out = self.b.ins().wrregion(out, region, *v);
        }
        out
    }

    /// Access chain: an address and a constant, which may be large.
    fn chain(&mut self, inst: &BInst) -> Result<Leaves, Error> {
        let base = self.operand(inst, 0)?;
        let class = |ty: Ty| match *self.m.types.kind(ty) {
            Type::Pointer(class, _) => Some(class),
            _ => None,
        };
        if inst.ty.expand().and_then(class) != class(self.type_of(base)?) {
            return Err(Error::malformed(
                "a pointer into other memory than the one it comes from",
            ));
        }
        if self.held(base).is_some() {
            return self.held_chain(inst);
        }
        let (class, of) = self.pointer(base)?;
        let words: Vec<u32> = self.body.operands(inst).to_vec();
        let first = matches!(inst.op, Op::PtrAccessChain | Op::InBoundsPtrAccessChain);
        let result = inst.ty.expand().and_then(|t| self.m.pointee(t));
        let mut addr = self.place_of(base)?;
        let mut constant = 0u64;
        let mut ty = of;
        for (n, word) in words.iter().enumerate().skip(1) {
            let index = Id::of(*word);
            let element = first && n == 1;
            let known = self.m.bits(index).map(|bits| {
                let width = self
                    .m
                    .type_of(index)
                    .map_or(64, |t| self.m.types.size(t) * 8);
                crate::module::constants::signed(width as u32, bits)
            });
            let outside = || Error::malformed("an index outside of a composite");
            let size = if element {
                self.m.types.size(ty)
            } else if let Type::Struct(_) = self.m.types.kind(ty) {
                let (next, at) = known
                    .and_then(|k| self.m.types.offset(ty, u64::try_from(k).ok()?))
                    .ok_or_else(outside)?;
                constant = constant.wrapping_add(at);
                ty = next;
                continue;
            } else {
                let (next, _) = self.m.types.offset(ty, 0).ok_or_else(outside)?;
                ty = next;
                self.m.types.size(ty)
            };
            match known {
                Some(k) => constant = constant.wrapping_add((k as u64).wrapping_mul(size)),
                None => {
                    let index = self.one(index)?;
                    let scalar = self.b.ty(addr).scalar();
                    if !self.b.ty(index).scalar().is_int() {
                        return Err(Error::malformed("an index that is no integer"));
                    }
                    let index = self.resize(index, scalar, true);
                    let bytes = self.times(index, size);
                    let mut v = [addr, bytes];
                    self.even(&mut v);
                    addr = self.b.ins().iadd(v[0], v[1]);
                }
            }
        }
        if result != Some(ty) {
            return Err(Error::malformed(
                "a pointer to another type than the indices lead to",
            ));
        }
        if class == StorageClass::Input {
            return Err(Error::unsupported("a pointer into a built-in variable"));
        }
        if let (Some(id), true) = (
            inst.id.expand(),
            words.iter().skip(1).all(|w| self.is_zero(*w)),
        ) {
            self.same_place(id, base);
        }
        Ok(Leaves::from_slice(&[self.plus(addr, constant)]))
    }

    fn is_zero(&self, word: u32) -> bool {
        self.m.bits(Id::of(word)) == Some(0)
    }

    /// Records that a pointer points to the beginning of a variable that another points to.
    pub(super) fn same_place(&mut self, id: Id, base: Id) {
        let root = self.roots.get(&base).copied().unwrap_or(base);
        if let Def::Global(_) = self.m.def(root) {
            self.roots.insert(id, root);
        }
    }

    /// Product with a constant.
    pub fn times(&mut self, v: Value, by: u64) -> Value {
        if by == 1 {
            return v;
        }
        if by.is_power_of_two() {
            let by = self.same(v, u64::from(by.trailing_zeros()));
            return self.b.ins().ishl(v, by);
        }
        let by = self.same(v, by);
        self.b.ins().imul(v, by)
    }

    fn copy(&mut self, inst: &BInst) -> Result<Leaves, Error> {
        let (to, from) = (self.operand(inst, 0)?, self.operand(inst, 1)?);
        if let Some((n, init)) = self.held(to).zip(self.arrays.copied(to, inst.at)) {
            return self.fill_held(n, init).map(|()| Leaves::new());
        }
        if self.copy_held(inst, [to, from])? {
            return Ok(Leaves::new());
        }
        let ((to_class, to_ty), (from_class, from_ty)) = (self.pointer(to)?, self.pointer(from)?);
        if self.m.logical {
            return self.copy_value(inst, (to, to_class, to_ty), (from, from_class, from_ty));
        }
        let sized = inst.op == Op::CopyMemorySized;
        let (size, skip) = if sized {
            let n = self.operand(inst, 2)?;
            let n = self.m.bits(n);
            (
                n.ok_or_else(|| Error::unsupported("a copy of a variable size"))?,
                3,
            )
        } else {
            (self.m.types.size(to_ty), 2)
        };
        let words = self.body.operands(inst).get(skip..).unwrap_or(&[]);
        let mut target = self.access(to_class, to_ty, words)?;
        let mut source = self.access(from_class, from_ty, words)?;
        target.mem = self.with_cache_policy(to, Opcode::Store, target.mem);
        source.mem = self.with_cache_policy(from, Opcode::Load, source.mem);
        if sized && words.first().is_none_or(|m| m & 2 == 0) {
            (target.align, source.align) = (1, 1);
        }
        let (to, from) = (self.address(to, &target)?, self.address(from, &source)?);
        self.copy_bytes([(to, target), (from, source)], size)?;
        Ok(Leaves::new())
    }
}

/// Offset of a message.
pub(super) fn offset(at: u64) -> Result<i32, Error> {
    i32::try_from(at).map_err(|_| Error::limit("a value of more than 2 GiB"))
}

/// Memory flags of an element at a byte offset, with its alignment.
pub(super) fn aligned(access: Access, at: u64, scalar: Scalar) -> MemFlags {
    let of = match at {
        0 => access.align,
        n => access.align.min(1 << n.trailing_zeros().min(12)),
    };
    if of == u64::from(scalar.bytes()) {
        access.mem
    } else {
        access.mem.aligned(of as u32)
    }
}
