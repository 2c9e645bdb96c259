//! Bounds that the operation of a bale sets on exec sizes and destinations.

use crate::mir::VirtReg;
use crate::mir::bale::{Bale, BaleSrc};
use gantry_isa_gen::{MathFn, Op, SrcMods, Subfn, Type};

impl Bale {
    /// Returns the largest exec size of the operation, for GRFs of `grf_bytes` bytes.
    pub(super) fn max_exec(&self, grf_bytes: u32) -> u32 {
        match self.operation.subfn {
            // Integer division runs on eight channels (PRM Vol. 2a, math).
            Subfn::Math(MathFn::Iqot | MathFn::Irem | MathFn::Idiv) => 8,
            // The number of dwords in two GRFs, or in one.
            Subfn::Math(_) => grf_bytes / 2,
            _ if matches!(self.operation.op, Op::Addc | Op::Subb | Op::Mach) => grf_bytes / 4,
            _ if self.is_ternary() => grf_bytes / 2,
            _ if self.is_mixed_float() => grf_bytes / 4,
            _ => 32,
        }
    }

    /// Returns true for operations on both half and single floats, which have at most eight
    /// channels.
    pub(super) fn is_mixed_float(&self) -> bool {
        let o = &self.operation;
        let has = |ty: Type| o.ty == ty || o.srcs.iter().flatten().any(|s| s.ty() == ty);
        (has(Type::Hf) || has(Type::Bf)) && has(Type::F)
    }

    pub(super) fn is_ternary(&self) -> bool {
        self.operation.srcs[2].is_some()
    }

    /// Returns the size in bytes of the execution type: the widest source. Bytes are computed in
    /// words.
    pub(super) fn exec_bytes(&self) -> u32 {
        let widest = self
            .operation
            .srcs
            .iter()
            .flatten()
            .map(|s| s.ty().bytes())
            .max();
        widest.unwrap_or(4).max(2)
    }

    /// Returns true for a move that copies bits, without conversion or modifier.
    pub(super) fn is_raw_move(&self) -> bool {
        let o = &self.operation;
        o.op == Op::Mov
            && !o.sat
            && matches!(o.srcs[0], Some(BaleSrc::View(v, m))
                if v.ty.bytes() == o.ty.bytes() && v.ty.is_float() == o.ty.is_float() && m == SrcMods::default())
    }

    /// Returns the distance in bytes that the destination's elements must have, if any. It is that
    /// of a wider execution type, and a dword for conversions between half floats and integers.
    pub(super) fn dst_step(&self) -> Option<u32> {
        if self.dst.reg == VirtReg::NULL || self.is_raw_move() {
            return None;
        }
        let o = &self.operation;
        let exec = self.exec_bytes();
        let half_and_int = o.op == Op::Mov
            && o.srcs[0].is_some_and(|s| {
                s.ty().is_float() != o.ty.is_float() && (s.ty() == Type::Hf || o.ty == Type::Hf)
            });
        if half_and_int {
            return Some(4);
        }
        (o.ty.bytes() < exec).then_some(exec)
    }
}
