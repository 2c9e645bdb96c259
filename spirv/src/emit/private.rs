//! Addresses of private variables in the part of scratch that each work-item has.
//!
//! The base of the part is computed once. The address of a variable, element or member at a
//! constant offset is the base plus a constant, which accesses add themselves.

use super::Emit;
use crate::error::Error;
use crate::read::Id;
use gantry_codegen::ir::{Scalar, Value};

impl Emit<'_, '_, '_> {
    /// Computes the base of each work-item's part, at the entry of a function with private
    /// variables.
    pub(super) fn begin_private(&mut self) {
        if !self.private.is_empty() {
            let lanes = self.b.iota(Scalar::I32, self.simd);
            let first = self.times(lanes, u64::from(self.frame.private_bytes));
            self.private_parts = Some(first);
        }
    }

    /// Address of a private variable of each work-item.
    pub(super) fn private_pointer(&mut self, id: Id) -> Result<Value, Error> {
        let at = self.private.get(&id).copied();
        match (at, self.private_parts) {
            (Some(at), Some(first)) => Ok(self.plus(first, u64::from(at))),
            _ => Err(Error::malformed(
                "a private variable that is no pointer to a type",
            )),
        }
    }

    /// Sum of an address and a constant.
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

    /// Splits a private address into base and access offset, so that sums with the base need no
    /// registers.
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
