//! Copies between different layouts, copies of values too large for registers, and initializers of
//! large private variables.

use super::memory::{Access, MAX_ELEMENTS, aligned, offset};
use super::variables::write;
use super::{Emit, Leaves};
use crate::body::BInst;
use crate::error::Error;
use crate::module::constants::Constant;
use crate::module::types::{MAX_LEAVES, MatrixLayout, Ty, Type};
use crate::read::Id;
use gantry_codegen::ir::{IntCC, MemFlags, Opcode, Scalar, Space, Value};
use spirv::{Op, StorageClass};

/// Maximum number of scalars of a part that is copied without a loop.
const MAX_STRAIGHT: u32 = 32;
/// Maximum number of scalars copied by straight-line code. The body of a loop counts once.
const MAX_PARTS: u32 = 4096;

/// Maximum bytes that straight-line code copies or initializes.
const MAX_COPY: u64 = 4096;
/// Bytes that an iteration of a loop copies: eight messages of four dwords.
const LOOP_BYTES: u64 = 128;

/// End of a copy: address, access, and in-bounds condition if any.
#[derive(Clone, Copy)]
struct CopyEnd {
    addr: Value,
    access: Access,
    guard: Option<Value>,
}

impl Emit<'_, '_, '_> {
    /// Copies a value by a load and a store, between layouts.
    pub(super) fn copy_value(
        &mut self,
        inst: &BInst,
        (to, to_class, to_ty): (Id, StorageClass, Ty),
        (from, from_class, from_ty): (Id, StorageClass, Ty),
    ) -> Result<Leaves, Error> {
        if inst.op == Op::CopyMemorySized {
            return Err(Error::unsupported("OpCopyMemorySized in a shader"));
        }
        if to_ty != from_ty {
            return Err(Error::malformed("a copy of another type than is there"));
        }
        let words = self.body.operands(inst).get(2..).unwrap_or(&[]).to_vec();
        if self.m.types.leaves(to_ty) > MAX_LEAVES && from_class != StorageClass::PushConstant {
            let from = self.end_of(from, from_class, to_ty, &words)?;
            let to = self.end_of(to, to_class, to_ty, &words)?;
            let matrices = (from.access.matrix, to.access.matrix);
            let mut left = MAX_PARTS;
            let done = self.copy_parts(to_ty, matrices, 0, [from, to], &mut left);
            self.guard = None;
            return done.map(|()| Leaves::new());
        }
        let leaves = match from_class {
            StorageClass::PushConstant => self.load_pushed(from, from_ty)?,
            _ => {
                let access = self.access(from_class, from_ty, &words)?;
                let (addr, mut access) = self.reach(from, from_class, access)?;
                access.mem = self.with_cache_policy(from, Opcode::Load, access.mem);
                let leaves = self.load_leaves(from_ty, addr, access);
                self.guard = None;
                leaves?
            }
        };
        let access = self.access(to_class, to_ty, &words)?;
        let (addr, mut access) = self.reach(to, to_class, access)?;
        access.mem = self.with_cache_policy(to, Opcode::Store, access.mem);
        let done = self.store_leaves(to_ty, &leaves, addr, access);
        self.guard = None;
        done.map(|()| Leaves::new())
    }

    /// Resolves the end of a large copy.
    fn end_of(
        &mut self,
        pointer: Id,
        class: StorageClass,
        ty: Ty,
        words: &[u32],
    ) -> Result<CopyEnd, Error> {
        let access = self.access(class, ty, words)?;
        let (addr, access) = self.reach(pointer, class, access)?;
        let guard = self.guard.take();
        Ok(CopyEnd {
            addr,
            access,
            guard,
        })
    }

    /// Copies a value part by part, at a byte offset of both ends, with loops for large arrays.
    /// `left` is the remaining number of scalars that straight-line code may copy.
    fn copy_parts(
        &mut self,
        ty: Ty,
        (from_matrix, to_matrix): (Option<MatrixLayout>, Option<MatrixLayout>),
        at: u64,
        [from, to]: [CopyEnd; 2],
        left: &mut u32,
    ) -> Result<(), Error> {
        let types = &self.m.types;
        let leaves = types.leaves(ty);
        if leaves <= MAX_STRAIGHT {
            let limit = || Error::limit(format!("a copy of more than {MAX_PARTS} parts"));
            *left = left.checked_sub(leaves.max(1)).ok_or_else(limit)?;
            let [reads, writes] = [from_matrix, to_matrix].map(|m| self.runs(ty, m));
            let mut leaves = Leaves::new();
            for (scalar, n, count) in reads? {
                let n = at.saturating_add(n);
                let place = offset(from.access.offset.saturating_add(n))?;
                let mem = aligned(from.access, n, scalar);
                self.guard = from.guard;
                self.elements(scalar, count, from.addr, place, mem, &mut leaves);
            }
            let mut rest = leaves.as_slice();
            for (scalar, n, count) in writes? {
                let n = at.saturating_add(n);
                let place = offset(to.access.offset.saturating_add(n))?;
                let mem = aligned(to.access, n, scalar);
                let (now, next) = rest.split_at(count.min(rest.len()));
                rest = next;
                self.guard = to.guard;
                self.store_elements(scalar, now, to.addr, place, mem);
            }
            return Ok(());
        }
        let Type::Array(of, count) = *types.kind(ty) else {
            for n in 0..types.count(ty).unwrap_or(0) {
                let part = |m| types.step(ty, n, m);
                let (Some((of, more, a)), Some((_, _, b))) = (part(from_matrix), part(to_matrix))
                else {
                    return Err(Error::internal("no such part"));
                };
                self.copy_parts(of, (a, b), at.saturating_add(more), [from, to], left)?;
            }
            return Ok(());
        };
        let stride = types.stride(ty);
        self.for_each(count, |e, n| {
            let bytes = e.times(n, stride);
            let mut inside = [from, to];
            for end in &mut inside {
                let address = e.b.ty(end.addr).scalar();
                let bytes = e.resize(bytes, address, false);
                let mut v = [end.addr, bytes];
                e.even(&mut v);
                end.addr = e.b.ins().iadd(v[0], v[1]);
                end.access.align = end.access.align.min(1 << stride.trailing_zeros().min(12));
            }
            e.copy_parts(of, (from_matrix, to_matrix), at, inside, left)
        })
    }

    /// Copies bytes that do not overlap: most of many by a loop, the rest by straight-line code.
    pub(super) fn copy_bytes(
        &mut self,
        [to, from]: [(Value, Access); 2],
        size: u64,
    ) -> Result<(), Error> {
        offset(size)?;
        let iterations = if size > MAX_COPY {
            size / LOOP_BYTES
        } else {
            0
        };
        let looped = iterations * LOOP_BYTES;
        if iterations > 0 {
            self.for_each(iterations, |e, n| {
                let bytes = e.times(n, LOOP_BYTES);
                let ends = [to, from].map(|(addr, mut access)| {
                    let bytes = e.resize(bytes, e.b.ty(addr).scalar(), false);
                    let mut v = [addr, bytes];
                    e.even(&mut v);
                    access.align = access.align.min(LOOP_BYTES);
                    (e.b.ins().iadd(v[0], v[1]), access)
                });
                e.copy_straight(ends, 0..LOOP_BYTES)
            })?;
        }
        self.copy_straight([to, from], looped..size)
    }

    /// Copies a range of bytes by straight-line code.
    fn copy_straight(
        &mut self,
        [(to, target), (from, source)]: [(Value, Access); 2],
        range: std::ops::Range<u64>,
    ) -> Result<(), Error> {
        let unit = target.align.min(source.align).min(4);
        let (mut at, size) = (range.start, range.end);
        while at < size {
            let scalar = match (size - at).min(unit) {
                4.. => Scalar::I32,
                2..4 => Scalar::I16,
                _ => Scalar::I8,
            };
            let bytes = u64::from(scalar.bytes());
            let count = ((size - at) / bytes).min(MAX_ELEMENTS as u64) as usize;
            let mut all = Leaves::new();
            let place = offset(at)?;
            let mem = aligned(source, at, scalar);
            self.elements(scalar, count, from, place, mem, &mut all);
            self.store_elements(scalar, &all, to, place, aligned(target, at, scalar));
            at += bytes * count as u64;
        }
        Ok(())
    }

    /// Emits a uniform loop over the numbers below `count`.
    fn for_each(
        &mut self,
        count: u64,
        body: impl FnOnce(&mut Self, Value) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let limit = Error::limit("an array of this size");
        let end = i32::try_from(count).map_err(|_| limit)?;
        let (first, end) = (
            self.number(Scalar::I32, 0),
            self.number(Scalar::I32, end as u64),
        );
        let next = self.b.var(first);
        self.b.uniform_loop_begin();
        let n = self.b.use_var(next);
        let done = self.b.ins().icmp(IntCC::SignedGreaterThanOrEqual, n, end);
        self.b.uniform_break_if(done);
        body(self, n)?;
        let one = self.number(Scalar::I32, 1);
        let n = self.b.ins().iadd(n, one);
        self.b.def_var_all_lanes(next, n);
        self.b.uniform_loop_end();
        Ok(())
    }

    /// Stores a large constant to a private variable.
    pub(super) fn initialize(&mut self, init: Id, ty: Ty, addr: Value) -> Result<(), Error> {
        let size = self.m.types.size(ty);
        let unit = self.m.types.align(ty).min(4);
        let scalar = match unit {
            4 => Scalar::I32,
            2 => Scalar::I16,
            _ => Scalar::I8,
        };
        let mem = MemFlags::of(Space::Scratch);
        let count = size / unit;
        if self
            .m
            .constant(init)
            .is_some_and(|c| c.value == Constant::Null)
        {
            return self.for_each(count, |e, n| {
                let zero = e.number(scalar, 0);
                let bytes = e.times(n, unit);
                let mut v = [addr, bytes];
                e.even(&mut v);
                let place = e.b.ins().iadd(v[0], v[1]);
                e.store_elements(scalar, &[zero], place, 0, mem);
                Ok(())
            });
        }
        if size > MAX_COPY {
            return Err(Error::limit(format!(
                "a private variable with {size} bytes of constants: {MAX_COPY} are the most"
            )));
        }
        let mut bytes = vec![0; size as usize];
        if !write(self.m, init, &mut bytes)?.is_empty() {
            let what = "a private variable of this size that begins with addresses";
            return Err(Error::unsupported(what));
        }
        for (n, part) in bytes.chunks(unit as usize).enumerate() {
            let bits = part.iter().rev().fold(0, |b, x| b << 8 | u64::from(*x));
            let v = self.number(scalar, bits);
            let at = offset(n as u64 * unit)?;
            self.store_elements(scalar, &[v], addr, at, mem);
        }
        Ok(())
    }
}
