//! The low halves of 64-bit values.
//!
//! Sums, products, shifts to the left, logic and whatever moves lanes give the same low half from
//! low halves as from whole values, so that what an address in 32 bits is made of is computed in 32
//! bits; an extension's low half is what was extended. Of any other value it is its low doublewords
//! (`ireduce`). A half is made right behind its value, once, whoever asks: the work is linear.

use crate::ir::{
    BlockInsts, Function, Inst, InstData, Opcode, Region, Scalar, Type, Value, ValueDef,
};
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;

/// Bits of a half.
const BITS: u64 = 32;

/// The low halves that are wanted, and those that were made.
#[derive(Debug, Default)]
pub(super) struct Halves {
    wanted: SecondaryMap<Value, bool>,
    made: SecondaryMap<Value, PackedOption<Value>>,
}

/// A region of quadwords as one of their halves, each row and element in its place.
pub(crate) fn halved(region: Region) -> Region {
    Region {
        offset: region.offset / 2,
        ..region
    }
}

/// The doublewords of as many lanes.
pub(crate) fn doublewords(ty: Type) -> Type {
    Type::clamped(Scalar::I32, ty.lanes())
}

impl Halves {
    /// Wants a value's half, and what that is made of.
    pub(super) fn want(&mut self, func: &Function, v: Value) {
        let mut work = vec![v];
        while let Some(v) = work.pop() {
            if func.dfg.ty(v).scalar() != Scalar::I64
                || std::mem::replace(&mut self.wanted[v], true)
            {
                continue;
            }
            if let Some(inst) = from_halves(func, v) {
                let data = func.dfg.data(inst);
                data.for_each_arg(&func.dfg, |a| work.push(a));
            }
        }
    }

    /// A value's half; the value itself where it is none of 64 bits, or its half was not made.
    pub(super) fn of(&self, v: Value) -> Value {
        self.made[v].expand().unwrap_or(v)
    }

    /// Appends what makes the half of a value that is there, if it is wanted. The halves of what it
    /// is made of are there.
    pub(super) fn make(&mut self, func: &mut Function, v: Value, out: &mut BlockInsts) {
        if !self.wanted[v] {
            return;
        }
        let ty = doublewords(func.dfg.ty(v));
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
                        *region = halved(*region);
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

/// Whether an opcode makes an integer wider.
fn widens(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::Sextend | Opcode::Uextend)
}

/// The instruction that makes a 64-bit value of whose operands the halves make its half.
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
