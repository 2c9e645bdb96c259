//! Logical pointers: access chains, bounds checks and the resolution of accesses.
//!
//! A pointer into a buffer is a 32-bit byte offset. If it may be into one of several buffers, the
//! index of the buffer is in 32 bits above (`variable_pointers.rs`). Pointers to other memory are
//! as in kernels.
//!
//! With robust access, a pointer whose index is out of bounds is at least [`OUT_OF_BOUNDS`], which
//! accesses test. In the defining block they use the comparison itself. Out of bounds, loads return
//! zero and stores do nothing.

use super::{Access, Emit, Leaves};
use crate::body::BInst;
use crate::error::Error;
use crate::logical_pointers::{self, PointerInfo, Root};
use crate::module::types::{Ty, Type};
use crate::read::Id;
use gantry_codegen::ir::{IntCC, Scalar, Value};
use spirv::{Op, StorageClass};

/// Offset beyond every buffer.
const OUT_OF_BOUNDS: u64 = 0x8000_0000;

/// Buffer argument.
#[derive(Clone, Copy, Debug)]
pub(super) struct Buffer {
    pub base: Value,
    /// Size in bytes, if it is an argument.
    pub size: Option<Value>,
    /// Length of the runtime array at its end.
    pub length: Option<Value>,
}

/// Result of an access chain before the bounds check.
#[derive(Clone, Copy, Debug)]
pub(super) struct UncheckedPointer {
    pub at: Value,
    /// In-bounds condition, unless known to hold.
    pub guard: Option<Value>,
    /// Index of the buffer, if there may be several.
    pub number: Option<Value>,
}

/// Returns true for storage classes of buffers.
pub(super) fn is_buffer(class: StorageClass) -> bool {
    matches!(class, StorageClass::StorageBuffer | StorageClass::Uniform)
}

/// Index of an access chain.
struct ChainStep {
    index: Id,
    stride: u64,
    /// Length, if the array has a fixed one.
    count: Option<u64>,
    /// Set for the first index of `PtrAccessChain`.
    element: bool,
}

impl Emit<'_, '_, '_> {
    /// Properties of a pointer.
    pub(super) fn place(&self, pointer: Id) -> Option<PointerInfo> {
        self.places[pointer].or_else(|| logical_pointers::variable(self.m, pointer))
    }

    /// Buffer of a pointer, selected by `number` if there may be several.
    fn buffer(
        &mut self,
        pointer: Id,
        place: PointerInfo,
        number: Option<Value>,
    ) -> Result<Buffer, Error> {
        match (place.root, number) {
            (Root::One(id, n), _) => {
                let found = self.buffers.get(&(id, n)).copied();
                found.ok_or_else(|| Error::malformed("a buffer that is no argument"))
            }
            (_, Some(number)) => self.buffer_of(pointer, number),
            _ => Err(Error::unsupported("a pointer to one of several layouts")),
        }
    }

    /// Access chain on a logical pointer.
    pub(super) fn logical_chain(&mut self, inst: &BInst) -> Result<Leaves, Error> {
        let base = self.operand(inst, 0)?;
        let (class, mut of) = self.pointer(base)?;
        let ty = inst.ty.expand().ok_or_else(|| Error::internal("no type"))?;
        let outside = || Error::malformed("an index outside of a composite");
        let place = inst.id.expand().and_then(|id| self.places[id]);
        let place = place.ok_or_else(outside)?;
        let from = self.place(base).ok_or_else(outside)?;
        let mut indices: Vec<Id> = self
            .body
            .operands(inst)
            .iter()
            .skip(1)
            .map(|w| Id::of(*w))
            .collect();
        for index in &indices {
            let ty = self.type_of(*index)?;
            if !matches!(self.m.types.kind(ty), Type::Int(_)) {
                return Err(Error::malformed("an index that is no integer"));
            }
        }
        let mut steps = Vec::new();
        let mut element = None;
        let is_array = logical_pointers::is_array_of_descriptors(self.m, base);
        if matches!(inst.op, Op::PtrAccessChain | Op::InBoundsPtrAccessChain) {
            if indices.is_empty() {
                return Err(outside());
            }
            let base_ty = self.type_of(base)?;
            steps.push(ChainStep {
                index: indices.remove(0),
                stride: logical_pointers::pointer_stride(self.m, &[ty, base_ty], of),
                count: None,
                element: true,
            });
        } else if is_array {
            if indices.is_empty() {
                return Err(outside());
            }
            let index = indices.remove(0);
            of = self.m.types.step(of, 0, None).ok_or_else(outside)?.0;
            if let (Root::Among(array), Some(id)) = (place.root, inst.id.expand()) {
                if is_buffer(class) {
                    element = Some((array, index))
                } else {
                    self.choose_resource(id, array, index)?
                }
            }
        }
        let mut constant = 0u64;
        let mut matrix = from.matrix;
        for index in indices {
            let is_struct = matches!(self.m.types.kind(of), Type::Struct(_));
            let n = if is_struct {
                self.m.bits(index).ok_or_else(outside)?
            } else {
                0
            };
            let (next, at, inner) = self.m.types.step(of, n, matrix).ok_or_else(outside)?;
            if is_struct {
                constant = constant.wrapping_add(at);
            } else {
                let second = self.m.types.step(of, 1, matrix).ok_or_else(outside)?;
                steps.push(ChainStep {
                    index,
                    stride: second.1,
                    count: self.m.types.count(of),
                    element: false,
                });
            }
            (of, matrix) = (next, inner);
        }
        if self.m.pointee(ty) != Some(of) {
            return Err(Error::malformed(
                "a pointer to another type than the indices lead to",
            ));
        }
        if matches!(
            self.m.types.kind(of),
            Type::Image(_) | Type::Sampler | Type::SampledImage(_)
        ) {
            return Ok(Leaves::new());
        }
        if class == StorageClass::Input {
            return Err(Error::unsupported("a pointer into a built-in variable"));
        }
        if matches!(place.root, Root::Any) && is_buffer(class) {
            return Err(Error::unsupported("a pointer to one of several layouts"));
        }
        let UncheckedPointer {
            at: addr,
            mut guard,
            mut number,
        } = self.raw(base)?;
        if let Some((array, index)) = element {
            let (which, inside) = self.element_number(array, index)?;
            number = Some(which);
            guard = Some(inside).filter(|_| self.robust);
        }
        let packed = inst.id.expand().filter(|id| self.carries_buffer_index(*id));
        if packed.is_some() && number.is_none() {
            number = Some(self.buffer_number(base)?);
        }
        let scalar = self.b.ty(addr).scalar();
        // The base of a buffer is offset 0, which needs no addition.
        let mut addr = Some(addr).filter(|_| !is_buffer(class) || from.known != Some(0));
        for step in &steps {
            match self.m.bits(step.index) {
                Some(k) => {
                    let width = self.m.type_of(step.index).map(|t| self.m.types.size(t) * 8);
                    let k = crate::module::constants::signed(width.unwrap_or(64) as u32, k);
                    constant = constant.wrapping_add((k as u64).wrapping_mul(step.stride));
                }
                None => {
                    let index = self.one(step.index)?;
                    let index = self.resize(index, scalar, true);
                    let bytes = self.times(index, step.stride);
                    addr = Some(match addr {
                        None => bytes,
                        Some(addr) => {
                            let mut v = [addr, bytes];
                            self.even(&mut v);
                            self.b.ins().iadd(v[0], v[1])
                        }
                    });
                }
            }
        }
        let addr = match addr {
            None => self.number(scalar, constant),
            Some(addr) if constant == 0 => addr,
            Some(addr) => {
                let by = self.same(addr, constant);
                self.b.ins().iadd(addr, by)
            }
        };
        if self.robust && place.may_be_outside && place.root != Root::Address {
            for step in &steps {
                let to = (inst.id.expand().unwrap_or(base), place, number);
                if let Some(inside) = self.inside(step, to, class, addr, of)? {
                    guard = Some(self.both(guard, inside));
                }
            }
        }
        let mut leaf = addr;
        if let Some(guard) = guard {
            let mut v = [guard, addr];
            self.even(&mut v);
            let beside = self.same(v[1], OUT_OF_BOUNDS);
            leaf = self.b.ins().select(v[0], v[1], beside);
            if let Some(id) = inst.id.expand() {
                let raw = UncheckedPointer {
                    at: v[1],
                    guard: Some(v[0]),
                    number: number.filter(|_| packed.is_some()),
                };
                self.guards.insert(id, (self.block, raw));
            }
        }
        if let (Some(_), Some(number)) = (packed, number) {
            leaf = self.pack(number, leaf);
        }
        Ok(Leaves::from_slice(&[leaf]))
    }

    fn both(&mut self, a: Option<Value>, b: Value) -> Value {
        match a {
            None => b,
            Some(a) => {
                let mut v = [a, b];
                self.even(&mut v);
                self.b.ins().band(v[0], v[1])
            }
        }
    }

    /// Pointer before the bounds check, with its in-bounds condition unless known to hold.
    fn raw(&mut self, pointer: Id) -> Result<UncheckedPointer, Error> {
        if let Some((block, raw)) = self.guards.get(&pointer).copied()
            && block == self.block
        {
            return Ok(raw);
        }
        let mut at = self.one(pointer)?;
        let mut number = None;
        if self.carries_buffer_index(pointer) {
            let (which, offset) = self.unpack(at);
            (at, number) = (offset, Some(which));
        }
        let place = self.place(pointer);
        let guard = match place {
            Some(p) if self.robust && p.may_be_outside && p.root != Root::Address => {
                let zero = self.same(at, 0);
                let least = IntCC::SignedGreaterThanOrEqual;
                Some(self.b.ins().icmp(least, at, zero))
            }
            _ => None,
        };
        Ok(UncheckedPointer { at, guard, number })
    }

    /// In-bounds condition of an index, unless known to hold.
    fn inside(
        &mut self,
        step: &ChainStep,
        (pointer, place, number): (Id, PointerInfo, Option<Value>),
        class: StorageClass,
        addr: Value,
        of: Ty,
    ) -> Result<Option<Value>, Error> {
        if step.element {
            if self.m.bits(step.index) == Some(0) {
                return Ok(None);
            }
            // The pointee must end before the buffer does.
            let bytes = self.m.types.extent_in(of, place.matrix);
            let size = match class {
                StorageClass::Workgroup => self.number(Scalar::I32, u64::from(self.slm_bytes)),
                c if is_buffer(c) => {
                    let size = self.buffer(pointer, place, number)?.size;
                    size.ok_or_else(|| Error::internal("a buffer without its size"))?
                }
                _ => return Err(Error::unsupported("a variable pointer into this memory")),
            };
            let by = self.same(size, bytes);
            let last = self.b.ins().isub(size, by);
            let fits = self
                .b
                .ins()
                .icmp(IntCC::UnsignedGreaterThanOrEqual, size, by);
            let mut v = [addr, last, fits];
            self.even(&mut v);
            let before = self
                .b
                .ins()
                .icmp(IntCC::UnsignedLessThanOrEqual, v[0], v[1]);
            return Ok(Some(self.b.ins().band(before, v[2])));
        }
        let known = self.m.bits(step.index);
        let count = match (step.count, known) {
            (Some(n), Some(k)) if k < n => return Ok(None),
            (Some(_), Some(_)) => return Ok(Some(self.number(Scalar::B1, 0))),
            (Some(n), None) => n,
            (None, _) => {
                let length = self.buffer(pointer, place, number)?.length;
                let length =
                    length.ok_or_else(|| Error::unsupported("an array of no known length"))?;
                let index = self.one(step.index)?;
                let wide = self.b.ty(index).scalar();
                let mut v = [index, length];
                if wide.bits() < 32 {
                    v[0] = self.resize(index, Scalar::I32, true);
                } else {
                    v[1] = self.resize(length, wide, false);
                }
                self.even(&mut v);
                return Ok(Some(self.b.ins().icmp(IntCC::UnsignedLessThan, v[0], v[1])));
            }
        };
        let mut index = self.one(step.index)?;
        let scalar = self.b.ty(index).scalar();
        if scalar.bits() < 64 && count > scalar.mask() {
            index = self.resize(index, Scalar::I64, true);
        }
        let count = self.same(index, count);
        Ok(Some(self.b.ins().icmp(
            IntCC::UnsignedLessThan,
            index,
            count,
        )))
    }

    /// Address of an access through a pointer. Sets `self.guard` to the in-bounds condition, if
    /// any.
    pub(super) fn reach(
        &mut self,
        pointer: Id,
        class: StorageClass,
        mut access: Access,
    ) -> Result<(Value, Access), Error> {
        self.guard = None;
        let place = if self.m.logical {
            self.place(pointer)
        } else {
            None
        };
        let Some(place) = place else {
            return Ok((self.address(pointer, &access)?, access));
        };
        access.matrix = place.matrix;
        if place.root == Root::Address {
            return Ok((self.address(pointer, &access)?, access));
        }
        access.align = u64::from(place.align);
        if !is_buffer(class) {
            let UncheckedPointer {
                at: mut addr,
                guard,
                ..
            } = self.raw(pointer)?;
            if self.b.ty(addr).scalar() != access.mem.space.address() {
                return Err(Error::malformed(
                    "a pointer to another memory than its type says",
                ));
            }
            if let Some(guard) = guard {
                addr = self.clamped(addr, guard);
                self.guard = Some(guard);
            }
            return Ok((addr, access));
        }
        let fixed = place.known.filter(|k| i32::try_from(*k).is_ok());
        let fixed = fixed.filter(|_| !(self.robust && place.may_be_outside));
        if let (Some(k), false) = (fixed, self.carries_buffer_index(pointer)) {
            access.offset = k;
            return Ok((self.buffer(pointer, place, None)?.base, access));
        }
        let UncheckedPointer {
            mut at,
            guard,
            number,
        } = self.raw(pointer)?;
        let base = self.buffer(pointer, place, number)?.base;
        if let Some(k) = fixed {
            access.offset = k;
            return Ok((base, access));
        }
        if let Some(guard) = guard {
            at = self.clamped(at, guard);
            self.guard = Some(guard);
        }
        let at = self.resize(at, Scalar::I64, false);
        let mut v = [base, at];
        self.even(&mut v);
        Ok((self.b.ins().iadd(v[0], v[1]), access))
    }

    /// Replaces a uniform out-of-bounds offset by 0, since it is loaded from unconditionally.
    fn clamped(&mut self, at: Value, guard: Value) -> Value {
        if self.b.ty(at).lanes() > 1 || self.b.ty(guard).lanes() > 1 {
            return at;
        }
        let zero = self.same(at, 0);
        self.b.ins().select(guard, at, zero)
    }

    /// Length of the runtime array at the end of a buffer.
    pub(super) fn array_length(&mut self, inst: &BInst) -> Result<Leaves, Error> {
        let pointer = self.operand(inst, 0)?;
        let place = self.place(pointer);
        let place = place.ok_or_else(|| Error::malformed("the length of what is no array"))?;
        let (_, of) = self.pointer(pointer)?;
        let member = self.body.operands(inst).get(1).copied();
        let last = self.m.types.count(of).and_then(|n| n.checked_sub(1));
        if last.is_none() || last != member.map(u64::from) {
            return Err(Error::malformed("the length of what is no array"));
        }
        let number = self.raw(pointer)?.number;
        let length = self.buffer(pointer, place, number)?.length;
        let length = length.ok_or_else(|| Error::malformed("the length of what is no array"))?;
        Ok(Leaves::from_slice(&[length]))
    }
}
