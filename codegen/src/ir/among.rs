//! Operations across the lanes of a vector: reductions and scans.

use super::opcode::Opcode;
use super::types::Scalar;

/// Operation that a reduction or a scan applies to two lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Among {
    /// Operation on two lanes.
    pub opcode: Opcode,
    /// True for a scan: each lane combines itself and all lanes before it. False for a reduction to
    /// one lane.
    pub scan: bool,
}

impl Opcode {
    /// Returns the operation on two lanes of a reduction or scan; `None` for other opcodes.
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

    /// Returns the identity of a reduction or scan, as bits; `None` for other opcodes.
    ///
    /// Disabled lanes count as the identity, and an exclusive scan gives it to the first lane. It
    /// is the one that SPIR-V defines for group operations: 0.0 for sums, infinities for minima and
    /// maxima of floats.
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
