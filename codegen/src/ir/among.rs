//! Operations among the lanes of a vector.

use super::opcode::Opcode;

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
}
