//! Operations among the lanes of a vector.

use super::opcode::Opcode;
use super::types::Scalar;

/// What an operation among lanes does to two of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Among {
    /// The operation on two lanes.
    pub opcode: Opcode,
    /// Whether every lane gets a result, of it and those before it; else one lane stands for all.
    pub scan: bool,
}

impl Opcode {
    /// What an operation among lanes does to two of them; none if it is none.
    pub const fn among_lanes(self) -> Option<Among> {
        use Opcode::*;
        let (opcode, scan) = match self {
            ReduceIadd => (Iadd, false),
            ReduceImul => (Imul, false),
            ReduceSmin => (Smin, false),
            ReduceSmax => (Smax, false),
            ReduceUmin => (Umin, false),
            ReduceUmax => (Umax, false),
            ReduceBand => (Band, false),
            ReduceBor => (Bor, false),
            ReduceBxor => (Bxor, false),
            ReduceFadd => (Fadd, false),
            ReduceFmul => (Fmul, false),
            ReduceFmin => (Fmin, false),
            ReduceFmax => (Fmax, false),
            ScanIadd => (Iadd, true),
            ScanImul => (Imul, true),
            ScanSmin => (Smin, true),
            ScanSmax => (Smax, true),
            ScanUmin => (Umin, true),
            ScanUmax => (Umax, true),
            ScanBand => (Band, true),
            ScanBor => (Bor, true),
            ScanBxor => (Bxor, true),
            ScanFadd => (Fadd, true),
            ScanFmul => (Fmul, true),
            ScanFmin => (Fmin, true),
            ScanFmax => (Fmax, true),
            _ => return None,
        };
        Some(Among { opcode, scan })
    }

    /// Identity of an operation among lanes, as bits; none if it combines no lanes.
    ///
    /// Lanes that do not run count as it, and an exclusive scan gives it to the first lane. It is
    /// that of SPIR-V's group operations: 0.0 of sums, infinities of minima and maxima of floats.
    pub fn identity(self, scalar: Scalar) -> Option<u64> {
        let all = scalar.mask();
        let sign = all ^ (all >> 1);
        let (one, infinity) = match scalar {
            Scalar::F16 => (0x3c00, 0x7c00),
            Scalar::F32 => (0x3f80_0000, 0x7f80_0000),
            _ => (0x3ff0_0000_0000_0000, 0x7ff0_0000_0000_0000),
        };
        Some(match self {
            Opcode::Iadd | Opcode::Bor | Opcode::Bxor | Opcode::Umax | Opcode::Fadd => 0,
            Opcode::Imul => 1,
            Opcode::Band | Opcode::Umin => all,
            Opcode::Smin => all >> 1,
            Opcode::Smax => sign,
            Opcode::Fmul => one,
            Opcode::Fmin => infinity,
            Opcode::Fmax => infinity | sign,
            _ => return None,
        })
    }
}
