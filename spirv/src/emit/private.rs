//! Addresses of private variables: a byte in the part of scratch that each work-item has.
//!
//! Where the parts begin is computed once; a variable, an element or a member that constants name is that and a constant, which accesses add by
//! themselves.

use super::Emit;
use crate::error::Error;
use crate::read::Id;
use gantry_codegen::ir::{Scalar, Value};

impl Emit<'_, '_, '_> {
    /// Where each work-item's part begins, at the beginning of a function that has variables there.
    pub(super) fn begin_private(&mut self) {
        if !self.private.is_empty() {
            let lanes = self.b.iota(Scalar::I32, self.simd);
            let first = self.times(lanes, u64::from(self.frame.private_bytes));
            self.private_parts = Some(first);
        }
    }

    /// The address of a private variable in each work-item's part.
    pub(super) fn private_pointer(&mut self, id: Id) -> Result<Value, Error> {
        let at = self.private.get(&id).copied();
        match (at, self.private_parts) {
            (Some(at), Some(first)) => Ok(self.plus(first, u64::from(at))),
            _ => Err(Error::malformed(
                "a private variable that is no pointer to a type",
            )),
        }
    }

    /// An address and bytes.
    pub(super) fn plus(&mut self, addr: Value, bytes: u64) -> Value {
        if bytes == 0 {
            return addr;
        }
        let (from, before) = match self.private_places[addr] {
            (from, n) if n != 0 => (from.expand().unwrap_or(addr), n),
            _ => (addr, 0),
        };
        let bytes = bytes.wrapping_add(u64::from(before));
        let by = self.same(from, bytes);
        let sum = self.b.ins().iadd(from, by);
        if Some(from) == self.private_parts {
            self.private_places[sum] = (from.into(), bytes as u32);
        }
        sum
    }

    /// An address as another and the offset of an access to it, where that costs less: sums with the beginnings of parts are not kept.
    pub(super) fn base_of(&self, addr: Value, offset: i32) -> (Value, i32) {
        let (from, bytes) = self.private_places[addr];
        let sum = i32::try_from(bytes)
            .ok()
            .and_then(|b| b.checked_add(offset));
        match (from.expand(), sum) {
            (Some(from), Some(sum)) => (from, sum),
            _ => (addr, offset),
        }
    }
}
