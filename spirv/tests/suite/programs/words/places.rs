//! Addresses of loads, stores and atomics.

use super::{Frame, Words, id};
use crate::programs::program::{Place, Space};
use crate::programs::types::{Kind, Ty, U32};
use spirv::{Op, StorageClass, Word};

impl Words<'_> {
    /// Pointer to an address.
    pub(super) fn place(&mut self, p: &Place, ty: Ty, args: &[Word], f: &Frame<'_>) -> Word {
        let first = self.element(p, ty, args[0], f);
        if !p.either {
            return first.1;
        }
        let other = self.element(p, ty, args[2], f).1;
        let words = vec![id(args[1]), id(first.1), id(other)];
        self.op(Op::Select, Some(first.0), words)
    }

    /// Type of the pointer, and pointer to an element.
    fn element(&mut self, p: &Place, ty: Ty, index: Word, f: &Frame<'_>) -> (Word, Word) {
        let mask = self.u32(p.count - 1);
        let index = self.of(Op::BitwiseAnd, U32, &[index, mask]);
        let (class, base) = match p.space {
            Space::Global => (StorageClass::CrossWorkgroup, self.base),
            Space::Local => (StorageClass::Workgroup, self.local),
            Space::Array(n) => (StorageClass::Function, f.arrays[n]),
            Space::Given => (StorageClass::Function, self.given),
            Space::Table if self.by_value != 0 => (StorageClass::Function, self.by_value),
            Space::Table => (StorageClass::UniformConstant, self.table),
        };
        let ptr = self.pointer(class, ty);
        let at = match p.space {
            Space::Table if self.by_value != 0 => {
                let one = self.u32(1);
                let chain = vec![id(base), id(one), id(index)];
                self.op(Op::InBoundsAccessChain, Some(ptr), chain)
            }
            Space::Array(_) | Space::Given | Space::Table => {
                let chain = vec![id(base), id(index)];
                self.op(Op::InBoundsAccessChain, Some(ptr), chain)
            }
            // Typed access chain, or byte offset.
            _ if !p.bytes && p.generic => {
                let base = self.op(Op::Bitcast, Some(ptr), vec![id(base)]);
                let chain = vec![id(base), id(index)];
                self.op(Op::InBoundsPtrAccessChain, Some(ptr), chain)
            }
            _ => {
                let byte = self.pointer(class, Kind::Int(8).of(1));
                let size = self.u32(if p.bytes { 1 } else { ty.size() });
                let offset = self.of(Op::IMul, U32, &[index, size]);
                let chain = vec![id(base), id(offset)];
                let at = self.op(Op::PtrAccessChain, Some(byte), chain);
                self.op(Op::Bitcast, Some(ptr), vec![id(at)])
            }
        };
        if !p.generic {
            return (ptr, at);
        }
        let any = self.pointer(StorageClass::Generic, ty);
        let at = self.op(Op::PtrCastToGeneric, Some(any), vec![id(at)]);
        // Beginning of another memory, for indices beyond the elements, which do not occur.
        let other = match (p.space, f.arrays.first()) {
            (Space::Global, Some(array)) => Some((StorageClass::Function, *array)),
            (Space::Local | Space::Array(_), _) => Some((StorageClass::CrossWorkgroup, self.base)),
            _ => None,
        };
        let Some((class, base)) = other.filter(|_| p.mixed) else {
            return (any, at);
        };
        let ptr = self.pointer(class, ty);
        let other = self.op(Op::Bitcast, Some(ptr), vec![id(base)]);
        let other = self.op(Op::PtrCastToGeneric, Some(any), vec![id(other)]);
        let count = self.u32(p.count);
        let inside = self.of(Op::ULessThan, Kind::Bool.of(1), &[index, count]);
        let words = vec![id(inside), id(at), id(other)];
        (any, self.op(Op::Select, Some(any), words))
    }
}
