//! Sub-group operations, among the enabled work-items of a thread.

use super::FunctionBuilder;
use crate::ir::{Opcode, Region, Scalar, Type, Value};

impl FunctionBuilder<'_> {
    /// Returns a condition as bits, one per lane; 0 for disabled lanes.
    #[track_caller]
    pub fn simd_ballot(&mut self, cond: Value) -> Value {
        let mask = self.exec_mask();
        let running = self.ins().band(mask, cond);
        let i32 = Type::scalar_of(Scalar::I32);
        self.ins().pred_to_bits(i32, running)
    }

    /// Replaces disabled lanes by the identity of an operation.
    #[track_caller]
    fn running(&mut self, opcode: Opcode, v: Value) -> Value {
        let ty = self.ty(v);
        let bits = opcode
            .among_lanes()
            .and_then(|a| a.opcode.identity(ty.scalar()));
        let Some(bits) = bits else {
            self.error(format!("`{opcode}` is not an operation among lanes"));
            return v;
        };
        let mask = self.exec_mask();
        let other = self.ins().imm(ty, bits);
        self.ins().select(mask, v, other)
    }

    /// Reduces the enabled lanes to one, by an operation such as [`Opcode::ReduceIadd`].
    #[track_caller]
    pub fn simd_reduce(&mut self, opcode: Opcode, v: Value) -> Value {
        if opcode.among_lanes().is_some_and(|a| a.scan) {
            self.error(format!("`{opcode}` reduces nothing"));
            return v;
        }
        let arg = self.running(opcode, v);
        self.among(opcode, arg)
    }

    /// Computes an inclusive scan of the enabled lanes, by an operation such as
    /// [`Opcode::ScanIadd`].
    #[track_caller]
    pub fn simd_scan(&mut self, opcode: Opcode, v: Value) -> Value {
        if opcode.among_lanes().is_some_and(|a| !a.scan) {
            self.error(format!("`{opcode}` scans nothing"));
            return v;
        }
        let arg = self.running(opcode, v);
        self.among(opcode, arg)
    }

    /// Computes an exclusive scan. The first lane gets the identity ([`Opcode::identity`]).
    #[track_caller]
    pub fn simd_scan_exclusive(&mut self, opcode: Opcode, v: Value) -> Value {
        let ty = self.ty(v);
        let all = self.simd_scan(opcode, v);
        let bits = opcode
            .among_lanes()
            .and_then(|a| a.opcode.identity(ty.scalar()));
        let first = self.ins().imm(ty, bits.unwrap_or(0));
        if ty.lanes() < 2 {
            return first;
        }
        let before = self.slice(all, 0, ty.lanes() - 1);
        let region = Region::contiguous(ty.lanes() as u16 - 1, ty.scalar().bytes() as u16);
        self.ins().wrregion(first, region, before)
    }

    #[track_caller]
    fn among(&mut self, opcode: Opcode, arg: Value) -> Value {
        let data = crate::ir::InstData::Unary { opcode, arg };
        let results = self.ins().raw(data, None);
        results.first().copied().unwrap_or(arg)
    }

    /// Copies one lane's value to every lane; `lane` is an integer of one lane.
    #[track_caller]
    pub fn simd_broadcast(&mut self, v: Value, lane: Value) -> Value {
        let lanes = self.ty(v).lanes();
        let one = self.ins().shuffle(v, lane);
        self.splat(one, lanes)
    }
}
