//! Asynchronous copies between global and local memory: all work-items of the group copy elements,
//! and waiting is a barrier.

use super::{Emit, Leaves};
use crate::body::BInst;
use crate::error::Error;
use gantry_codegen::ir::{Dim, FenceSpaces, IntCC, Scalar, Scope, Value};
use spirv::{Op, StorageClass};

/// Returns true if this file emits an instruction.
pub(super) fn is_supported(op: Op) -> bool {
    matches!(op, Op::GroupAsyncCopy | Op::GroupWaitEvents)
}

impl Emit<'_, '_, '_> {
    pub(super) fn async_copy(&mut self, inst: &BInst) -> Result<Leaves, Error> {
        if inst.op == Op::GroupWaitEvents {
            self.b.ins().fence(FenceSpaces::All, Scope::Group);
            self.b.ins().barrier();
            return Ok(Leaves::new());
        }
        let [to, from, count, stride] = [1, 2, 3, 4].map(|n| self.operand(inst, n));
        let (to, from, count, stride) = (to?, from?, count?, stride?);
        let ((to_class, ty), (from_class, of)) = (self.pointer(to)?, self.pointer(from)?);
        if ty != of {
            return Err(Error::malformed("a copy of other elements than are there"));
        }
        let size = self.m.types.size(ty);
        let source = self.access(from_class, ty, &[])?;
        let target = self.access(to_class, ty, &[])?;
        let (to, from) = (self.address(to, &target)?, self.address(from, &source)?);
        for id in [count, stride] {
            let v = self.one(id)?;
            if !self.b.ty(v).scalar().is_int() {
                return Err(Error::malformed("a count that is no integer"));
            }
        }
        // The stride applies in global memory. Elements in local memory are contiguous.
        let step = match self.m.bits(stride) {
            Some(0 | 1) => None,
            _ => Some(self.one(stride)?),
        };
        let count = self.one(count)?;
        let count = self.resize(count, Scalar::I32, false);
        let count = self.b.splat(count, self.simd);
        let items = self.items();
        let first = self.local_index();
        let first = self.b.splat(first, self.simd);
        let next = self.b.var(first);
        self.b.simd_loop_begin();
        let n = self.b.use_var(next);
        let done = IntCC::UnsignedGreaterThanOrEqual;
        let done = self.b.ins().icmp(done, n, count);
        self.b.simd_break_if(done);
        let at = |e: &mut Self, base: Value, class: StorageClass| {
            let strided = step.filter(|_| class != StorageClass::Workgroup);
            let scalar = e.b.ty(base).scalar();
            let mut index = e.resize(n, scalar, false);
            if let Some(step) = strided {
                let mut v = [index, e.resize(step, scalar, false)];
                e.even(&mut v);
                index = e.b.ins().imul(v[0], v[1]);
            }
            let bytes = e.times(index, size);
            let mut v = [base, bytes];
            e.even(&mut v);
            e.b.ins().iadd(v[0], v[1])
        };
        let (from, to) = (at(self, from, from_class), at(self, to, to_class));
        let copied = self
            .load_leaves(ty, from, source)
            .and_then(|v| self.store_leaves(ty, &v, to, target));
        let mut v = [n, items];
        self.even(&mut v);
        let n = self.b.ins().iadd(v[0], v[1]);
        self.b.def_var(next, n);
        self.b.simd_loop_end();
        copied?;
        // Events carry no information, since waiting covers all copies.
        Ok(Leaves::from_slice(&[self.number(Scalar::I32, 0)]))
    }

    /// Number of work-items of the group.
    fn items(&mut self) -> Value {
        let [x, y, z] = [Dim::X, Dim::Y, Dim::Z].map(|d| self.group_size(d));
        let plane = self.b.ins().imul(x, y);
        self.b.ins().imul(plane, z)
    }
}
