//! Clamped truncations of operations that cannot overflow: the operation itself saturates.
//!
//! The operands are extended from narrower numbers, or are constants, so that the wide operation
//! has the exact result. An instruction computes it from the narrow operands and clamps it to the
//! type of its destination, whose sign need not be that of the sources.

use super::facts::{fits_word, sign_extend};
use super::generated::{Context, constructor_operation};
use super::{Lower, to_unsigned};
use crate::ir::{Inst, InstData, Opcode, Value};
use crate::mir::bale::{BaleSrc, Operation};
use gantry_isa_gen::{Op, Type as GenType};

/// Number of nested sums and products whose bounds are computed.
const DEPTH: u32 = 3;

/// Bounds of the lanes of a value, both included.
type Bounds = (i128, i128);

/// Operand of a wide operation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wide {
    /// Number of so many bits, sign-extended.
    Signed(u32),
    /// Number of so many bits, zero-extended.
    Unsigned(u32),
    /// Constant.
    Constant(i64),
    /// Any other value.
    Other,
}

impl Wide {
    /// Returns true if an instruction reads the number as a word or byte.
    fn is_word(self) -> bool {
        match self {
            Wide::Signed(bits) | Wide::Unsigned(bits) => bits <= 16,
            Wide::Constant(k) => fits_word(k),
            Wide::Other => false,
        }
    }

    /// Returns true if the number is not negative in its wide type, and is read so.
    fn is_unsigned(self) -> bool {
        match self {
            Wide::Unsigned(_) => true,
            Wide::Constant(k) => k >= 0 && fits_word(k),
            Wide::Signed(_) | Wide::Other => false,
        }
    }
}

impl Lower<'_> {
    /// Returns the saturating form of an operation without other uses whose result a clamped
    /// truncation reads.
    pub(super) fn fold_clamped(&mut self, inst: Inst) -> Option<Operation> {
        let InstData::Unary { opcode, arg } = *self.func.dfg.data(inst) else {
            return None;
        };
        let (signed, to_signed) = match opcode {
            Opcode::SstruncSat => (true, true),
            Opcode::SutruncSat => (true, false),
            Opcode::UstruncSat => (false, true),
            Opcode::UutruncSat => (false, false),
            _ => return None,
        };
        let inner = self.sinkable(arg)?;
        let InstData::Binary { opcode, args } = *self.func.dfg.data(inner) else {
            return None;
        };
        let ty = self.result_type(inst);
        if !self.saturates(opcode, args, ty, signed) {
            return None;
        }
        let o = constructor_operation(self, inner)?;
        // No narrow result of qwords has a stride.
        if o.srcs.iter().flatten().any(|s| s.ty().bytes() == 8) {
            return None;
        }
        let words = o.srcs.iter().flatten().all(|s| s.ty().bytes() == 2);
        // The destination of three sources is no narrower than these.
        if o.srcs[2].is_some() && !(o.op == Op::Mad && words && ty.bytes() == 2) {
            return None;
        }
        let srcs = o.srcs.map(|s| match s {
            Some(BaleSrc::Imm(bits, GenType::D)) if fits_word(sign_extend(bits, 32)) => {
                Some(BaleSrc::Imm(bits & 0xffff, GenType::W))
            }
            s => s,
        });
        let ty = if to_signed { ty } else { to_unsigned(ty) };
        Some(Operation {
            ty,
            srcs,
            sat: true,
            ..o
        })
    }

    /// Returns true if an instruction can compute an operation exactly and clamp the result to a
    /// type. `signed` is the sign of the wide result.
    fn saturates(&self, opcode: Opcode, args: [Value; 2], ty: GenType, signed: bool) -> bool {
        let [a, b] = args.map(|v| self.wide(v));
        let dwords = self.ty(args[0]).scalar().bytes() <= 4;
        let shift = matches!(opcode, Opcode::Ishl | Opcode::Sshr | Opcode::Ushr);
        let narrow = |w: Wide| match w {
            Wide::Constant(k) => i32::try_from(k).is_ok(),
            Wide::Other => dwords,
            Wide::Signed(_) | Wide::Unsigned(_) => true,
        };
        // A count is read as it is, and counts less than the bits of a dword.
        let bits = self.ty(args[0]).scalar().bits().min(GenType::D.bytes() * 8);
        let counts = |w: Wide| matches!(w, Wide::Constant(k) if (0..bits.into()).contains(&k));
        let sized = narrow(a) && (shift && counts(b) || narrow(b) && !shift);
        // Sources of an unsigned result are unsigned. Dwords have one sign.
        let signs = match (a, b) {
            _ if !signed && !shift => a.is_unsigned() && b.is_unsigned(),
            (Wide::Signed(32), Wide::Unsigned(_)) | (Wide::Unsigned(32), Wide::Signed(_)) => false,
            (Wide::Signed(_), Wide::Unsigned(32)) | (Wide::Unsigned(_), Wide::Signed(32)) => false,
            _ => true,
        };
        // One immediate has no register, which would be a dword.
        if matches!((a, b), (Wide::Constant(_), Wide::Constant(_))) {
            return false;
        }
        let fits = match opcode {
            Opcode::Sshr => return signed && sized,
            Opcode::Ushr => return !signed && sized,
            Opcode::Ishl => signed || a.is_unsigned(),
            Opcode::Iadd => true,
            // Sources are not negated before they are extended.
            Opcode::Isub => !matches!(b, Wide::Unsigned(_)),
            // Products of dwords do not saturate, and those of bytes are computed in words.
            Opcode::Imul => ty.bytes() == 2 && a.is_word() && b.is_word(),
            Opcode::Savg => signed && a == b && a != Wide::Other,
            Opcode::Uavg => a == b && a.is_unsigned(),
            _ => false,
        };
        fits && sized && signs && self.operation_bounds(opcode, args, signed, DEPTH).is_some()
    }

    /// Returns what is known of an operand.
    fn wide(&self, v: Value) -> Wide {
        let Some(inst) = self.func.dfg.def_inst(v) else {
            return Wide::Other;
        };
        let bits = |v: Value| self.ty(v).scalar().bits();
        match *self.func.dfg.data(inst) {
            _ if self.chains.cut.contains(v) => Wide::Other,
            InstData::Imm { bits: k, .. } => Wide::Constant(sign_extend(k, bits(v))),
            InstData::Unary { opcode, arg } => match opcode {
                Opcode::Sextend => Wide::Signed(bits(arg)),
                Opcode::Uextend => Wide::Unsigned(bits(arg)),
                _ => Wide::Other,
            },
            _ => Wide::Other,
        }
    }

    /// Returns bounds of a value, read as signed or unsigned.
    fn bounds(&self, v: Value, signed: bool, depth: u32) -> Option<Bounds> {
        match self.wide(v) {
            Wide::Signed(bits) => signed.then(|| (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
            Wide::Unsigned(bits) => Some((0, (1 << bits) - 1)),
            Wide::Constant(k) => (signed || k >= 0).then_some((k.into(), k.into())),
            Wide::Other => match *self.func.dfg.data(self.func.dfg.def_inst(v)?) {
                InstData::Binary { opcode, args } if depth > 0 => {
                    self.operation_bounds(opcode, args, signed, depth - 1)
                }
                _ => None,
            },
        }
    }

    /// Returns bounds of an operation that does not overflow.
    fn operation_bounds(
        &self,
        opcode: Opcode,
        args: [Value; 2],
        signed: bool,
        depth: u32,
    ) -> Option<Bounds> {
        let (a, c) = self.bounds(args[0], signed, depth)?;
        let (b, d) = self.bounds(args[1], signed, depth)?;
        let ends = match opcode {
            Opcode::Iadd => [a + b, c + d, c + d, c + d],
            Opcode::Isub => [a - d, c - b, c - b, c - b],
            Opcode::Imul => [a * b, a * d, c * b, c * d],
            Opcode::Ishl if b == d && (0..32).contains(&b) => [a << b, c << b, c << b, c << b],
            Opcode::Savg if signed => [a, b, c, d],
            // Of a negative number, the unsigned average is that of a large one.
            Opcode::Uavg if a >= 0 && b >= 0 => [a, b, c, d],
            _ => return None,
        };
        let (least, most) = (*ends.iter().min()?, *ends.iter().max()?);
        let bits = self.ty(args[0]).scalar().bits();
        let (low, high) = if signed {
            (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        } else {
            (0, (1 << bits) - 1)
        };
        (low <= least && most <= high).then_some((least, most))
    }
}
