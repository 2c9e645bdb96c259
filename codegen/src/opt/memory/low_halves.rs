//! Low halves of 64-bit values.
//!
//! For sums, products, left shifts, logic and lane moves, the low half of the result depends on the
//! low halves of the operands alone. So the 32-bit address arithmetic is done in 32 bits. The low
//! half of an extension is its operand. For any other value it is an `ireduce`. Each half is made
//! once, right after its value: the work is linear.

use crate::ir::{
    BlockInsts, Function, Inst, InstData, Opcode, Region, Scalar, Type, Value, ValueDef,
};
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;

/// Bits of a half.
const BITS: u64 = 32;

/// Low halves that are requested, and those that are made.
#[derive(Debug, Default)]
pub(super) struct LowHalves {
    requested: SecondaryMap<Value, bool>,
    made: SecondaryMap<Value, PackedOption<Value>>,
}

/// Returns a region of qwords as a region of dwords that are their low halves.
pub(crate) fn low_half_region(region: Region) -> Region {
    Region {
        offset: region.offset / 2,
        ..region
    }
}

/// Returns the type of dwords with as many lanes.
pub(crate) fn dword_type(ty: Type) -> Type {
    Type::clamped(Scalar::I32, ty.lanes())
}

impl LowHalves {
    /// Requests a value's half and those of its operands.
    pub(super) fn request(&mut self, func: &Function, v: Value) {
        let mut work = vec![v];
        while let Some(v) = work.pop() {
            if func.dfg.ty(v).scalar() != Scalar::I64
                || std::mem::replace(&mut self.requested[v], true)
            {
                continue;
            }
            if let Some(inst) = from_halves(func, v) {
                let data = func.dfg.data(inst);
                data.for_each_arg(&func.dfg, |a| work.push(a));
            }
        }
    }

    /// Returns a value's half. This is the value itself if it has no 64-bit lanes or its half was
    /// not made.
    pub(super) fn of(&self, v: Value) -> Value {
        self.made[v].expand().unwrap_or(v)
    }

    /// Appends the instruction that makes a value's half, if requested. Halves of operands must
    /// be there.
    pub(super) fn make(&mut self, func: &mut Function, v: Value, out: &mut BlockInsts) {
        if !self.requested[v] {
            return;
        }
        let ty = dword_type(func.dfg.ty(v));
        let def = func.dfg.def_inst(v);
        let data = def.map(|i| *func.dfg.data(i));
        let data = match (data, from_halves(func, v)) {
            (Some(InstData::Unary { opcode, arg }), None) if widens(opcode) => {
                let from = func.dfg.ty(arg);
                if from == ty {
                    self.made[v] = arg.into();
                    return;
                }
                InstData::Unary { opcode, arg }
            }
            (
                Some(InstData::Binary {
                    opcode: Opcode::SmulWide | Opcode::UmulWide,
                    args,
                }),
                None,
            ) => {
                let opcode = Opcode::Imul;
                InstData::Binary { opcode, args }
            }
            (Some(mut data), Some(_)) => {
                match &mut data {
                    InstData::Imm { bits, .. } => *bits &= u64::from(u32::MAX),
                    InstData::ImmVec { constant, .. } => {
                        let lanes = func.dfg.constant(*constant).iter();
                        let lanes = lanes.map(|b| b & u64::from(u32::MAX)).collect();
                        *constant = func.dfg.make_constant(lanes);
                    }
                    InstData::RdRegion { region, .. } | InstData::WrRegion { region, .. } => {
                        *region = low_half_region(*region);
                    }
                    _ => {}
                }
                data.map_args(&mut func.dfg, |a| self.of(a));
                data
            }
            _ => {
                let opcode = Opcode::Ireduce;
                InstData::Unary { opcode, arg: v }
            }
        };
        let new = func.dfg.make_inst(data, &[ty]);
        if let Some(def) = def {
            let loc = func.srclocs[def];
            func.set_srcloc(new, loc);
        }
        out.push(new);
        self.made[v] = func.dfg.first_result(new).into();
    }
}

/// Returns true for integer extensions.
fn widens(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::Sextend | Opcode::Uextend)
}

/// Returns the definition of a 64-bit value whose half follows from the halves of its operands.
fn from_halves(func: &Function, v: Value) -> Option<Inst> {
    let ValueDef::Result(inst, 0) = func.dfg.def(v) else {
        return None;
    };
    let commutes = match *func.dfg.data(inst) {
        InstData::Nullary { opcode } => opcode == Opcode::Undef,
        InstData::Imm { .. } | InstData::ImmVec { .. } => true,
        InstData::Unary { opcode, .. } => matches!(opcode, Opcode::Ineg | Opcode::Bnot),
        InstData::Binary { opcode, args } => match opcode {
            Opcode::Iadd
            | Opcode::Isub
            | Opcode::Imul
            | Opcode::Band
            | Opcode::Bor
            | Opcode::Bxor => true,
            Opcode::Ishl => func.dfg.same_constant(args[1]).is_some_and(|n| n < BITS),
            _ => false,
        },
        InstData::Ternary { opcode, .. } => matches!(opcode, Opcode::Imad | Opcode::Select),
        InstData::RdRegion { index, .. } | InstData::WrRegion { index, .. } => index.is_none(),
        _ => false,
    };
    commutes.then_some(inst)
}
