//! Cost of nodes: about four units for an instruction of two GRFs.

use crate::ir::{DataFlowGraph, InstData, Opcode, Scalar, Type};

/// Units of an instruction.
pub(in crate::opt) const INST: u32 = 4;
/// Maximal bytes that an instruction writes.
const BYTES: u32 = 64;

/// Returns true for a quotient or remainder that the math unit does not compute. Expansion turns it
/// into dozens of instructions. `math`: the math unit divides dwords.
pub(super) fn is_long_quotient(opcode: Opcode, wide: bool, math: bool) -> bool {
    let quotient = matches!(
        opcode,
        Opcode::Udiv | Opcode::Sdiv | Opcode::Urem | Opcode::Srem
    );
    quotient && (wide || !math)
}

/// Returns the cost of an operation without its operands. `math`: the math unit divides dwords.
pub(in crate::opt) fn of(dfg: &DataFlowGraph, ty: Type, data: &InstData, math: bool) -> u32 {
    // The widest lanes decide how many channels fit an instruction.
    let mut widest = ty;
    data.for_each_arg(dfg, |v| {
        if dfg.ty(v).bytes() > widest.bytes() && dfg.ty(v).lanes() <= ty.lanes() {
            widest = dfg.ty(v);
        }
    });
    let insts = widest.bytes().div_ceil(BYTES).max(1);
    let wide = widest.scalar() == Scalar::I64;
    match data {
        // Mostly an immediate of an instruction.
        InstData::Imm { .. } | InstData::Symbol { .. } => 1,
        InstData::ImmVec { constant, .. } => packed(dfg.constant(*constant)),
        InstData::Nullary { .. } | InstData::Launch { .. } | InstData::ArgQuery { .. } => 1,
        InstData::RdRegion { index, .. } if index.is_some() => INST * insts,
        // A source region, where an instruction can read it.
        InstData::RdRegion { .. } => 1,
        InstData::RdPred { .. } => 1,
        // Written in place.
        InstData::WrRegion { args, .. } => INST * dfg.ty(args[1]).bytes().div_ceil(BYTES).max(1),
        // Words and bytes are multiplied by one instruction.
        InstData::Binary {
            opcode: Opcode::Imul,
            ..
        } if widest.scalar().bits() <= 16 => INST * insts,
        _ => INST * insts * weight(data.opcode(), wide, math) + folded_cost(data.opcode()),
    }
}

/// Returns the cost of a constant with a value per lane. Eight lanes take one or two instructions
/// if their differences fit nibbles; otherwise each lane takes one.
pub(in crate::opt) fn packed(lanes: &[u64]) -> u32 {
    let chunk = |c: &[u64]| {
        let (least, most) = (c.iter().min(), c.iter().max());
        let apart = most.zip(least).map_or(0, |(a, b)| a - b);
        match apart {
            _ if most.is_some_and(|m| *m < 8) => 1,
            0..16 if most.is_some_and(|m| *m < 1 << 15) => 2,
            _ => c.len() as u32,
        }
    };
    INST * lanes.chunks(8).map(chunk).sum::<u32>()
}

/// Returns 1 for an operation that is part of the instruction that reads it.
fn folded_cost(opcode: Opcode) -> u32 {
    u32::from(weight(opcode, false, true) == 0)
}

/// Number of instructions of one operation.
fn weight(opcode: Opcode, wide: bool, math: bool) -> u32 {
    match opcode {
        Opcode::Bitcast
        | Opcode::Ireduce
        | Opcode::Sextend
        | Opcode::Uextend
        | Opcode::Fneg
        | Opcode::Fabs
        | Opcode::Ineg
        | Opcode::Fsat => 0,
        Opcode::Imul if wide => 6,
        Opcode::Imul | Opcode::Imad => 2,
        Opcode::Smulh | Opcode::Umulh if wide => 20,
        Opcode::Smulh | Opcode::Umulh => 3,
        Opcode::SmulWide | Opcode::UmulWide => 1,
        Opcode::Udiv | Opcode::Sdiv | Opcode::Urem | Opcode::Srem if wide => 100,
        Opcode::Udiv | Opcode::Sdiv | Opcode::Urem | Opcode::Srem if !math => 26,
        Opcode::Udiv | Opcode::Sdiv | Opcode::Urem | Opcode::Srem => 12,
        Opcode::FdivRn | Opcode::FsqrtRn => 40,
        Opcode::Fdiv
        | Opcode::Fpow
        | Opcode::Finv
        | Opcode::Fsqrt
        | Opcode::Frsqrt
        | Opcode::Fexp2
        | Opcode::Flog2
        | Opcode::Fsin
        | Opcode::Fcos => 4,
        Opcode::Shuffle => 8,
        op if op.among_lanes().is_some() => 8,
        _ => 1,
    }
}
