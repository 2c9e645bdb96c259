//! Pointers into one of several buffers, by selects and phis or by an index into an array of
//! buffers.
//!
//! Such a pointer is a 64-bit value. The lower half is the byte offset into its buffer, and the
//! upper half is the index of the buffer among those of the kernel. An access selects the address
//! among the possible buffers. With robust access it also selects the size.

use super::logical_pointers::Buffer;
use super::{Emit, Leaves};
use crate::error::Error;
use crate::logical_pointers::{self, Root};
use crate::read::Id;
use gantry_codegen::ir::{IntCC, Region, Scalar, Value};
use spirv::Op;

impl Emit<'_, '_, '_> {
    /// Returns true if a pointer carries the index of its buffer.
    pub(super) fn carries_buffer_index(&self, pointer: Id) -> bool {
        let place = self.places[pointer];
        place.is_some_and(|p| logical_pointers::carries_buffer_index(self.m, p.root))
    }

    /// Index of a buffer.
    fn position_of(&self, id: Id, element: u32) -> Result<u64, Error> {
        let mut all = self.buffers.keys();
        let found = all.position(|k| *k == (id, element));
        let found = found.ok_or_else(|| Error::malformed("a buffer that is no argument"))?;
        Ok(found as u64)
    }

    /// Index of the only buffer of a pointer.
    pub(super) fn buffer_number(&mut self, pointer: Id) -> Result<Value, Error> {
        match self.place(pointer).map(|p| p.root) {
            Some(Root::One(id, n)) => {
                let number = self.position_of(id, n)?;
                Ok(self.number(Scalar::I32, number))
            }
            _ => Err(Error::unsupported("a pointer to one of several layouts")),
        }
    }

    /// Index of the element of an array of buffers, and its in-bounds condition.
    pub(super) fn element_number(&mut self, array: Id, index: Id) -> Result<(Value, Value), Error> {
        let count = self.elements_of(array)?;
        let first = self.position_of(array, 0)?;
        let index = self.one(index)?;
        let end = self.same(index, count.into());
        let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, index, end);
        let index = self.resize(index, Scalar::I32, false);
        let first = self.same(index, first);
        Ok((self.b.ins().iadd(index, first), inside))
    }

    /// Packs a buffer index and a byte offset.
    pub(super) fn pack(&mut self, number: Value, at: Value) -> Value {
        let mut v = [number, at];
        self.even(&mut v);
        let v = v.map(|v| self.resize(v, Scalar::I64, false));
        let by = self.same(v[0], 32);
        let upper = self.b.ins().ishl(v[0], by);
        self.b.ins().bor(upper, v[1])
    }

    /// Unpacks the buffer index and the byte offset.
    pub(super) fn unpack(&mut self, pointer: Value) -> (Value, Value) {
        let lanes = self.b.ty(pointer).lanes();
        let halves = self.lanes(Scalar::I32, 2 * lanes);
        let halves = self.b.ins().bitcast(halves, pointer);
        let ty = self.lanes(Scalar::I32, lanes);
        let mut half = |at: u16| {
            let region = Region::new(2, 1, 0, at);
            self.b.ins().rdregion(ty, halves, region)
        };
        let (low, high) = (half(0), half(Scalar::I32.bytes() as u16));
        (high, low)
    }

    /// Converts a pointer to one that carries the index of its buffer.
    pub(super) fn with_buffer_index(&mut self, pointer: Id) -> Result<Leaves, Error> {
        let at = self.one(pointer)?;
        if self.carries_buffer_index(pointer) {
            return Ok(Leaves::from_slice(&[at]));
        }
        let number = self.buffer_number(pointer)?;
        Ok(Leaves::from_slice(&[self.pack(number, at)]))
    }

    /// Converts two pointers for comparison. Offsets suffice if both are into the same buffer.
    pub(super) fn compared(&mut self, pointers: [Id; 2]) -> Result<[Leaves; 2], Error> {
        let roots = pointers.map(|p| self.place(p).map(|p| p.root));
        let buffer =
            |root: Option<Root>| root.is_some_and(|r| logical_pointers::is_buffer(self.m, r));
        let [a, b] = pointers;
        let one = roots[0] == roots[1] && !self.carries_buffer_index(a);
        if one || !buffer(roots[0]) || !buffer(roots[1]) {
            return Ok([self.get(a)?, self.get(b)?]);
        }
        Ok([self.with_buffer_index(a)?, self.with_buffer_index(b)?])
    }

    /// Byte offset of a pointer into its buffer.
    pub(super) fn offset_of(&mut self, pointer: Id) -> Result<Value, Error> {
        let at = self.one(pointer)?;
        Ok(if self.carries_buffer_index(pointer) {
            self.unpack(at).1
        } else {
            at
        })
    }

    /// Selects a buffer by index among those that a pointer may be into.
    pub(super) fn buffer_of(&mut self, pointer: Id, number: Value) -> Result<Buffer, Error> {
        let found = self.targets.get(&pointer).into_iter().flatten();
        let found = found.map(|&(id, n)| {
            let buffer = self.buffers.get(&(id, n)).copied();
            let buffer = buffer.ok_or_else(|| Error::malformed("a buffer that is no argument"))?;
            Ok((self.position_of(id, n)?, buffer))
        });
        let all: Vec<(u64, Buffer)> = found.collect::<Result<_, Error>>()?;
        let Some((&(_, mut out), others)) = all.split_first() else {
            return Err(Error::malformed("a pointer into no buffer"));
        };
        for (n, buffer) in others {
            let this = self.same(number, *n);
            let is = self.b.ins().icmp(IntCC::Equal, number, this);
            out.base = self.choose(is, buffer.base, out.base)?;
            let mut both = |a: Option<Value>, b: Option<Value>| match a.zip(b) {
                Some((a, b)) => self.choose(is, a, b).map(Some),
                None => Ok(None),
            };
            out.size = both(buffer.size, out.size)?;
            out.length = both(buffer.length, out.length)?;
        }
        Ok(out)
    }

    /// Returns true for pointer comparisons.
    pub(super) fn compares_pointers(&self, op: Op) -> bool {
        self.m.logical && matches!(op, Op::PtrEqual | Op::PtrNotEqual)
    }
}
