//! Copies of values that are laid out in two ways, and initializers of large private variables.

use super::memory::{MOST_COPY, offset};
use super::variables::write;
use super::{Emit, Leaves};
use crate::body::BInst;
use crate::error::Error;
use crate::module::constants::Constant;
use crate::module::types::Ty;
use crate::read::Id;
use gantry_codegen::ir::{IntCC, MemFlags, Scalar, Space, Value};
use spirv::{Op, StorageClass};

impl Emit<'_, '_, '_> {
    /// Loads a value and stores it: where it is laid out in two ways.
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
        let leaves = match from_class {
            StorageClass::PushConstant => self.load_pushed(from, from_ty)?,
            _ => {
                let access = self.access(from_class, from_ty, &words)?;
                let (addr, access) = self.reach(from, from_class, access)?;
                let leaves = self.load_leaves(from_ty, addr, access);
                self.guard = None;
                leaves?
            }
        };
        let access = self.access(to_class, to_ty, &words)?;
        let (addr, access) = self.reach(to, to_class, access)?;
        let done = self.store_leaves(to_ty, &leaves, addr, access);
        self.guard = None;
        done.map(|()| Leaves::new())
    }

    /// Stores a constant of many scalars into a private variable.
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
            let limit = Error::limit("a private variable of this size");
            let end = i32::try_from(count).map_err(|_| limit)?;
            let (first, end) = (
                self.number(Scalar::I32, 0),
                self.number(Scalar::I32, end as u64),
            );
            let zero = self.number(scalar, 0);
            let at = self.b.var(first);
            self.b.uniform_loop_begin();
            let n = self.b.use_var(at);
            let done = self.b.ins().icmp(IntCC::SignedGreaterThanOrEqual, n, end);
            self.b.uniform_break_if(done);
            let bytes = self.times(n, unit);
            let mut v = [addr, bytes];
            self.even(&mut v);
            let place = self.b.ins().iadd(v[0], v[1]);
            self.store_elements(scalar, &[zero], place, 0, mem);
            let one = self.number(Scalar::I32, 1);
            let next = self.b.ins().iadd(n, one);
            self.b.def_var(at, next);
            self.b.uniform_loop_end();
            return Ok(());
        }
        if size > MOST_COPY {
            return Err(Error::limit(format!(
                "a private variable with {size} bytes of constants: {MOST_COPY} are the most"
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
