//! Sub-group operations: among the work-items of a thread that run here.

use super::FunctionBuilder;
use crate::ir::{Opcode, Region, Scalar, Type, Value};

/// The bits of a lane that changes nothing when it is combined with another.
fn neutral(opcode: Opcode, scalar: Scalar) -> Option<u64> {
    let all = scalar.mask();
    let high = all ^ (all >> 1);
    let float = |half: u64, single: u64, double: u64| match scalar {
        Scalar::F16 => half,
        Scalar::F32 => single,
        _ => double,
    };
    Some(match opcode {
        Opcode::Iadd | Opcode::Bor | Opcode::Bxor | Opcode::Umax => 0,
        Opcode::Imul => 1,
        Opcode::Band | Opcode::Umin => all,
        Opcode::Smin => all >> 1,
        Opcode::Smax => high,
        // -0.0, since 0.0 and -0.0 are 0.0.
        Opcode::Fadd => high,
        Opcode::Fmul => float(0x3c00, 0x3f80_0000, 0x3ff0_0000_0000_0000),
        // The number where one is a NaN.
        Opcode::Fmin | Opcode::Fmax => float(0x7e00, 0x7fc0_0000, 0x7ff8_0000_0000_0000),
        _ => return None,
    })
}

impl FunctionBuilder<'_> {
    /// Whether a condition holds, a bit for each lane; of lanes that do not run, 0.
    pub fn simd_ballot(&mut self, cond: Value) -> Value {
        let mask = self.exec_mask();
        let running = self.ins().band(mask, cond);
        let i32 = Type::scalar_of(Scalar::I32);
        self.ins().pred_to_bits(i32, running)
    }

    /// A vector with what changes nothing in the lanes that do not run.
    fn running(&mut self, opcode: Opcode, v: Value) -> Value {
        let ty = self.ty(v);
        let bits = opcode
            .among_lanes()
            .and_then(|a| neutral(a.opcode, ty.scalar()));
        let Some(bits) = bits else {
            self.mistake(format!("`{opcode}` is not an operation among lanes"));
            return v;
        };
        let mask = self.exec_mask();
        let other = self.ins().imm(ty, bits);
        self.ins().select(mask, v, other)
    }

    /// What all running lanes come to, by an operation such as [`Opcode::ReduceIadd`]: one lane.
    pub fn simd_reduce(&mut self, opcode: Opcode, v: Value) -> Value {
        if opcode.among_lanes().is_some_and(|a| a.scan) {
            self.mistake(format!("`{opcode}` reduces nothing"));
            return v;
        }
        let arg = self.running(opcode, v);
        self.among(opcode, arg)
    }

    /// In each lane what it and the running ones before it come to, by an operation such as [`Opcode::ScanIadd`].
    pub fn simd_scan(&mut self, opcode: Opcode, v: Value) -> Value {
        if opcode.among_lanes().is_some_and(|a| !a.scan) {
            self.mistake(format!("`{opcode}` scans nothing"));
            return v;
        }
        let arg = self.running(opcode, v);
        self.among(opcode, arg)
    }

    /// The same without the lane itself; in the first one what changes nothing.
    pub fn simd_scan_exclusive(&mut self, opcode: Opcode, v: Value) -> Value {
        let ty = self.ty(v);
        let all = self.simd_scan(opcode, v);
        let bits = opcode
            .among_lanes()
            .and_then(|a| neutral(a.opcode, ty.scalar()));
        let first = self.ins().imm(ty, bits.unwrap_or(0));
        if ty.lanes() < 2 {
            return first;
        }
        let before = self.slice(all, 0, ty.lanes() - 1);
        let region = Region::contiguous(ty.lanes() as u16 - 1, ty.scalar().bytes() as u16);
        self.ins().wrregion(first, region, before)
    }

    fn among(&mut self, opcode: Opcode, arg: Value) -> Value {
        let data = crate::ir::InstData::Unary { opcode, arg };
        let results = self.ins().raw(data, None);
        results.first().copied().unwrap_or(arg)
    }

    /// One lane's value in every lane; `lane` is an integer of one lane.
    pub fn simd_broadcast(&mut self, v: Value, lane: Value) -> Value {
        let lanes = self.ty(v).lanes();
        let one = self.ins().shuffle(v, lane);
        self.splat(one, lanes)
    }
}
