//! Memory: addresses, loads, stores, copies, variables.
//!
//! A pointer is what its memory's accesses take: 64 bits of an address, 32 of an offset in local memory or in scratch, where each work-item has
//! its own part. In memory every pointer has 64 bits.

use super::{Emit, Leaves, MOST_LEAVES, too_large};
use crate::body::BInst;
use crate::error::Error;
use crate::module::constants::Constant;
use crate::module::types::{MatrixLayout, Ty, Type};
use crate::module::{Def, Module};
use crate::read::Id;
use crate::spaces::Memory;
use gantry_codegen::ir::{self, IntCC, MAX_SCRATCH, MemFlags, Region, Scalar, Space, Value};
use spirv::{Op, StorageClass};

/// Whether an instruction is one of these.
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

/// The most elements of a lane in one message.
const MOST_ELEMENTS: usize = 4;
/// The most bytes of a copy.
pub(super) const MOST_COPY: u64 = 4096;

/// What an access is of.
#[derive(Clone, Copy)]
pub(crate) struct Access {
    pub mem: MemFlags,
    /// The alignment of the address.
    pub align: u64,
    /// Bytes that are added to the address.
    pub offset: u64,
    /// How matrices there are.
    pub matrix: Option<MatrixLayout>,
}

impl Emit<'_, '_, '_> {
    pub(super) fn memory(&mut self, inst: &BInst) -> Result<Leaves, Error> {
        match inst.op {
            Op::Variable => {
                let id = inst.id.expand().ok_or_else(|| Error::internal("no id"))?;
                if let Some(n) = self.held(id) {
                    let init = self.body.operands(inst).get(1);
                    return self.hold(id, n, init.map(|w| Id::from_u32(*w)));
                }
                let v = self.private_pointer(id)?;
                if let Some(init) = self.body.operands(inst).get(1).map(|w| Id::from_u32(*w)) {
                    let ty = self.type_of(init)?;
                    if self.m.types.leaves(ty) > MOST_LEAVES {
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
                let mut v = [self.one(a)?, self.one(b)?];
                self.even(&mut v);
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

    /// The memory that a pointer is to, and what is there.
    pub fn pointer(&self, id: Id) -> Result<(StorageClass, Ty), Error> {
        let ty = self.type_of(id)?;
        match self.m.types.kind(ty) {
            Type::Pointer(class, of) => {
                let of = self.m.ty(*of);
                let of = of.ok_or_else(|| Error::malformed("a pointer to what is no type"))?;
                match (*class, self.spaces[id]) {
                    (StorageClass::Generic, Memory::One(class)) => Ok((class, of)),
                    (StorageClass::Generic, Memory::None) => Ok((StorageClass::CrossWorkgroup, of)),
                    (StorageClass::Generic, Memory::Any) => Err(Error::unsupported(
                        "a generic pointer to one of several memories",
                    )),
                    (class, _) => Ok((class, of)),
                }
            }
            _ => Err(Error::malformed("what is no pointer is used as one")),
        }
    }

    /// An access to a memory, by the words behind its operands.
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

    /// The address that an access is to.
    pub fn address(&mut self, pointer: Id, access: &Access) -> Result<Value, Error> {
        let v = self.one(pointer)?;
        match self.b.ty(v).scalar() == access.mem.space.address() {
            true => Ok(v),
            false => Err(Error::malformed(
                "a pointer to another memory than its type says",
            )),
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
        let (address, access) = self.reach(pointer, class, access)?;
        let out = self.load_leaves(ty, address, access);
        self.guard = None;
        out
    }

    /// The scalars of a type in runs that follow on each other: scalar, first byte, how many.
    fn runs(
        &self,
        ty: Ty,
        matrix: Option<MatrixLayout>,
    ) -> Result<Vec<(Scalar, u64, usize)>, Error> {
        if self.m.types.leaves(ty) > MOST_LEAVES {
            return Err(too_large(self.m.types.leaves(ty)));
        }
        let mut out: Vec<(Scalar, u64, usize)> = Vec::new();
        for (ty, at) in self.m.types.scalars_in(ty, matrix) {
            let scalar = match self.m.types.kind(ty) {
                Type::Pointer(..) => Scalar::I64,
                Type::Bool => Scalar::I8,
                _ => self.scalar(ty)?,
            };
            let size = u64::from(scalar.bytes());
            match out.last_mut() {
                Some((s, first, n))
                    if *s == scalar && *first + *n as u64 * size == at && *n < MOST_ELEMENTS =>
                {
                    *n += 1;
                }
                _ => out.push((scalar, at, 1)),
            }
        }
        Ok(out)
    }

    /// What is at an address.
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

    /// Loads elements that follow on each other.
    pub fn elements(
        &mut self,
        scalar: Scalar,
        count: usize,
        addr: Value,
        offset: i32,
        mem: MemFlags,
        out: &mut Leaves,
    ) {
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
        let (address, access) = self.reach(pointer, class, access)?;
        let done = self.store_leaves(of, &leaves, address, access);
        self.guard = None;
        done.map(|()| Leaves::new())
    }

    /// Stores a value at an address.
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
                return Err(Error::internal("a value without all its leaves"));
            };
            rest = later;
            let mut now: Leaves = now.into();
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

    /// Stores elements that follow on each other.
    pub fn store_elements(
        &mut self,
        scalar: Scalar,
        values: &[Value],
        addr: Value,
        offset: i32,
        mut mem: MemFlags,
    ) {
        // Who stores there breaks that promise.
        mem.constant = false;
        let mut all: Leaves = values.into();
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

    /// Values one behind the other.
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

    /// An address and a constant, which may be large.
    fn plus(&mut self, addr: Value, bytes: u64) -> Value {
        if bytes == 0 {
            return addr;
        }
        let by = self.same(addr, bytes);
        self.b.ins().iadd(addr, by)
    }

    fn chain(&mut self, inst: &BInst) -> Result<Leaves, Error> {
        let base = self.operand(inst, 0)?;
        if self.held(base).is_some() {
            return self.held_chain(inst);
        }
        let (class, of) = self.pointer(base)?;
        let words: Vec<u32> = self.body.operands(inst).to_vec();
        let first = matches!(inst.op, Op::PtrAccessChain | Op::InBoundsPtrAccessChain);
        let result = inst.ty.expand().and_then(|t| self.m.pointee(t));
        let mut addr = self.one(base)?;
        let mut constant = 0u64;
        let mut ty = of;
        for (n, word) in words.iter().enumerate().skip(1) {
            let index = Id::from_u32(*word);
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
        self.m.bits(Id::from_u32(word)) == Some(0)
    }

    /// Says that a pointer is to where another is.
    pub(super) fn same_place(&mut self, id: Id, base: Id) {
        let root = self.roots.get(&base).copied().unwrap_or(base);
        if let Def::Global(_) = self.m.def(root) {
            self.roots.insert(id, root);
        }
    }

    /// A product with a constant.
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
        let ((to_class, to_ty), (from_class, from_ty)) = (self.pointer(to)?, self.pointer(from)?);
        if self.m.logical {
            return self.copy_value(inst, (to, to_class, to_ty), (from, from_class, from_ty));
        }
        let sized = inst.op == Op::CopyMemorySized;
        let (size, skip) = match sized {
            true => {
                let n = self.operand(inst, 2)?;
                let n = self.m.bits(n);
                (
                    n.ok_or_else(|| Error::unsupported("a copy of a variable size"))?,
                    3,
                )
            }
            false => (self.m.types.size(to_ty), 2),
        };
        if size > MOST_COPY {
            return Err(Error::limit(format!(
                "a copy of {size} bytes: {MOST_COPY} are the most"
            )));
        }
        let words = self.body.operands(inst).get(skip..).unwrap_or(&[]);
        let mut target = self.access(to_class, to_ty, words)?;
        let mut source = self.access(from_class, from_ty, words)?;
        if sized && words.first().is_none_or(|m| m & 2 == 0) {
            (target.align, source.align) = (1, 1);
        }
        let (to, from) = (self.address(to, &target)?, self.address(from, &source)?);
        let unit = target.align.min(source.align).min(4);
        let mut at = 0;
        while at < size {
            let scalar = match (size - at).min(unit) {
                4.. => Scalar::I32,
                2..4 => Scalar::I16,
                _ => Scalar::I8,
            };
            let bytes = u64::from(scalar.bytes());
            let count = ((size - at) / bytes).min(MOST_ELEMENTS as u64) as usize;
            let mut all = Leaves::new();
            let offset = offset(at)?;
            self.elements(
                scalar,
                count,
                from,
                offset,
                aligned(source, at, scalar),
                &mut all,
            );
            self.store_elements(scalar, &all, to, offset, aligned(target, at, scalar));
            at += bytes * count as u64;
        }
        Ok(Leaves::new())
    }

    /// A variable of the module as a pointer.
    pub(super) fn global(&mut self, id: Id) -> Result<Value, Error> {
        let Def::Global(g) = self.m.def(id) else {
            return Err(Error::internal("no variable"));
        };
        let data = self.m.globals.get(g);
        let data = data.ok_or_else(|| Error::internal("no variable"))?;
        match data.class {
            StorageClass::Workgroup => match self.slm.get(&id).copied() {
                Some(at) => Ok(self.number(Scalar::I32, u64::from(at))),
                None => Err(Error::internal("a local variable without its place")),
            },
            StorageClass::UniformConstant => {
                let symbol = self.data(id, data.ty, data.init)?;
                Ok(self.b.ins().symbol_addr(symbol))
            }
            // It has no value; loads of it look at what it is.
            StorageClass::Input => Ok(self.number(Scalar::I64, 0)),
            // Its beginning.
            StorageClass::StorageBuffer | StorageClass::Uniform | StorageClass::PushConstant => {
                Ok(self.number(Scalar::I32, 0))
            }
            other => Err(Error::unsupported(format!(
                "a variable of the program in {other:?} memory"
            ))),
        }
    }

    fn data(&mut self, id: Id, ty: Ty, init: Option<Id>) -> Result<ir::DataRef, Error> {
        if let Some(d) = self.data.get(&id) {
            return Ok(*d);
        }
        let size = self.m.types.size(ty);
        let size = usize::try_from(size).ok().filter(|s| *s <= 64 << 20);
        let size = size.ok_or_else(|| Error::limit("constant data of more than 64 MiB"))?;
        let mut bytes = vec![0; size];
        if let Some(init) = init {
            write(self.m, init, 0, &mut bytes)?;
        }
        let name = self.m.name(id).unwrap_or_default();
        let mut name: String = name
            .chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() || c == '_' || c == '.' {
                    c
                } else {
                    '_'
                }
            })
            .collect();
        name = format!("{name}.{}", id.as_u32());
        let align = self.m.types.align(ty).clamp(1, 4096) as u32;
        let data = ir::Data {
            name,
            align,
            scalar: Scalar::I8,
            bytes,
            string: false,
        };
        let symbol = match self.module.find_data(&data.name) {
            Some(there) => there,
            None => self.module.data.push(data),
        };
        self.data.insert(id, symbol);
        Ok(symbol)
    }

    /// The text of constant memory that a pointer is to, as a string of the module.
    ///
    /// # Errors
    /// It is no such pointer.
    pub fn string(&mut self, pointer: Id) -> Result<ir::DataRef, Error> {
        let no = || Error::unsupported("a string that is no constant of the program");
        let id = self.roots.get(&pointer).copied().unwrap_or(pointer);
        let Def::Global(g) = self.m.def(id) else {
            return Err(no());
        };
        let data = self.m.globals.get(g).ok_or_else(no)?;
        let size = usize::try_from(self.m.types.size(data.ty)).ok();
        let size = size.filter(|s| *s <= 1 << 16).ok_or_else(no)?;
        let (StorageClass::UniformConstant, Some(init)) = (data.class, data.init) else {
            return Err(no());
        };
        let Type::Array(of, _) = self.m.types.kind(data.ty) else {
            return Err(no());
        };
        if *self.m.types.kind(*of) != Type::Int(8) {
            return Err(no());
        }
        let mut bytes = vec![0; size];
        write(self.m, init, 0, &mut bytes)?;
        let text: Vec<u8> = bytes.into_iter().take_while(|b| *b != 0).collect();
        let name = format!("text.{}", id.as_u32());
        Ok(match self.module.find_data(&name) {
            Some(there) => there,
            None => self.module.data.push(ir::Data::string(name, text)),
        })
    }

    /// Lays out the private variables.
    pub(super) fn private_variables(&mut self) {
        let mut all: Vec<(Id, Ty, u32, u32)> = Vec::new();
        // Pointers that come of no variable need some place, too.
        let mut any = false;
        for (id, ty) in &self.body.params {
            // Only structures by value are such.
            if let Type::Pointer(StorageClass::Function, _) = self.m.types.kind(*ty) {
                all.push((*id, *ty, 0, 0));
            }
        }
        for b in &self.g.order {
            for inst in &self.body.blocks[*b].insts {
                self.body.for_each_use(inst, |id| {
                    let ty = self.body.type_of(self.m, id);
                    any |= self.held(id).is_none()
                        && matches!(
                            ty.map(|t| self.m.types.kind(t)),
                            Some(Type::Pointer(
                                StorageClass::Function | StorageClass::Private,
                                _
                            ))
                        );
                });
                if let (Op::Variable, Some(id), Some(ty)) =
                    (inst.op, inst.id.expand(), inst.ty.expand())
                    && self.held(id).is_none()
                {
                    all.push((id, ty, inst.at, inst.line));
                }
            }
        }
        // Behind what is of the call that a call is in: calls that are not in each other have the same room.
        all.sort_by_key(|v| self.body.call_of(v.0));
        let mut all = all.into_iter().peekable();
        let mut ends = vec![0u64; self.body.call_count()];
        let (mut kernel, mut end) = (0, 0);
        for call in [None].into_iter().chain((0..ends.len()).map(Some)) {
            if let Some(n) = call {
                let within = self.body.within(n).and_then(|w| ends.get(w));
                end = within.copied().unwrap_or(kernel);
            }
            while let Some((id, ty, word, line)) = all.next_if(|v| self.body.call_of(v.0) == call) {
                let Some(ty) = self.m.pointee(ty) else {
                    continue;
                };
                let (size, align) = (self.m.types.size(ty), self.m.types.align(ty));
                let at = end.next_multiple_of(align.clamp(1, 4096));
                let most = u64::from(MAX_SCRATCH / self.simd);
                match at.checked_add(size).filter(|end| *end <= most) {
                    Some(new) => {
                        self.private.insert(id, at as u32);
                        end = new;
                    }
                    None => {
                        self.private.insert(id, 0);
                        let what = format!("more than {most} bytes of private memory");
                        self.error(Error::limit(what), word, line, Some(id));
                    }
                }
            }
            match call {
                None => kernel = end,
                Some(n) => ends[n] = end,
            }
            self.private_bytes = self.private_bytes.max(end as u32);
        }
        if any {
            self.private_bytes = self.private_bytes.max(1);
        }
        if self.private_bytes > 0 {
            self.private_bytes = self.private_bytes.next_multiple_of(64);
            let all = self
                .private_bytes
                .saturating_mul(self.simd)
                .min(MAX_SCRATCH);
            self.b.set_scratch_bytes(all);
        }
    }

    /// The address of a private variable in each work-item's part.
    pub(super) fn private_pointer(&mut self, id: Id) -> Result<Value, Error> {
        let at = self.private.get(&id).copied();
        let at =
            at.ok_or_else(|| Error::malformed("a private variable that is no pointer to a type"))?;
        let own = (0..i64::from(self.simd))
            .map(|l| i64::from(at) + l * i64::from(self.private_bytes))
            .collect::<Vec<_>>();
        Ok(self.b.ins().ints(Scalar::I32, &own))
    }
}

/// The offset of a message.
pub(super) fn offset(at: u64) -> Result<i32, Error> {
    i32::try_from(at).map_err(|_| Error::limit("a value of more than 2 GiB"))
}

/// What is promised of an element at a byte of an access.
fn aligned(access: Access, at: u64, scalar: Scalar) -> MemFlags {
    let of = match at {
        0 => access.align,
        n => access.align.min(1 << n.trailing_zeros().min(12)),
    };
    match of == u64::from(scalar.bytes()) {
        true => access.mem,
        false => access.mem.aligned(of as u32),
    }
}

/// Writes a constant into memory.
pub(super) fn write(m: &Module<'_>, id: Id, at: u64, bytes: &mut [u8]) -> Result<(), Error> {
    let mut todo = vec![(id, at)];
    while let Some((id, at)) = todo.pop() {
        let Some(c) = m.constant(id) else {
            return Err(Error::unsupported("an initializer with an address"));
        };
        match &c.value {
            Constant::Bits(bits) => {
                let size = m.types.size(c.ty) as usize;
                let place = usize::try_from(at)
                    .ok()
                    .and_then(|at| bytes.get_mut(at..at + size));
                let place = place.ok_or_else(|| Error::malformed("an initializer too large"))?;
                place.copy_from_slice(bits.to_le_bytes().get(..size).unwrap_or(&[]));
            }
            Constant::Composite(parts) => {
                for (n, part) in parts.iter().enumerate() {
                    let offset = m.types.offset(c.ty, n as u64);
                    let (_, offset) =
                        offset.ok_or_else(|| Error::malformed("an initializer too large"))?;
                    todo.push((*part, at + offset));
                }
            }
            Constant::Null | Constant::Undef => {}
            Constant::Sampler(..) => return Err(Error::unsupported("a sampler in memory")),
        }
    }
    Ok(())
}
