//! Rules on constants and launch parameters.

use super::{ErrorLocation, Verifier};
use crate::ir::{FuncKind, Inst, InstData, Opcode, Scalar, Type};

impl Verifier<'_> {
    pub(super) fn immediates(&mut self, inst: Inst, data: &InstData) {
        let (InstData::Nullary { .. }
        | InstData::Imm { .. }
        | InstData::ImmVec { .. }
        | InstData::Launch { .. }
        | InstData::Symbol { .. }) = *data
        else {
            return;
        };
        let Some(ty) = self.result(inst) else {
            return;
        };
        let opcode = data.opcode();
        match *data {
            InstData::Imm { bits, .. } => self.imm(inst, opcode, bits, ty),
            InstData::ImmVec { constant, .. } => {
                let lanes = self.func.dfg.constant(constant);
                if ty.is_pred() {
                    self.error(
                        ErrorLocation::Inst(inst),
                        format!("type clash: `{opcode}` of {ty}; `bconst` makes predicates"),
                    );
                } else if lanes.len() != ty.lanes() as usize {
                    self.error(
                        ErrorLocation::Inst(inst),
                        format!(
                            "{} lanes are given, and {ty} has {}",
                            lanes.len(),
                            ty.lanes()
                        ),
                    );
                } else if let Some(wide) = lanes.iter().find(|&&b| b & !ty.scalar().mask() != 0) {
                    self.error(
                        ErrorLocation::Inst(inst),
                        format!("{wide:#x} does not fit in {}", ty.scalar()),
                    );
                }
            }
            InstData::Symbol { data, .. } => {
                if ty != Type::scalar_of(Scalar::I64) {
                    self.error(
                        ErrorLocation::Inst(inst),
                        format!("type clash: `{opcode}` is i64, not {ty}"),
                    );
                }
                if !self.module.data.is_valid(data) {
                    self.error(ErrorLocation::Inst(inst), format!("{data} does not exist"));
                }
            }
            InstData::Nullary {
                opcode: Opcode::PrintfBuffer | Opcode::Cycles,
            } if ty != Type::scalar_of(Scalar::I64) => {
                self.error(
                    ErrorLocation::Inst(inst),
                    format!("type clash: `{opcode}` is i64, not {ty}"),
                );
            }
            InstData::Launch { .. } if opcode == Opcode::LocalId => {
                self.simd_lanes(inst, opcode, ty, Scalar::I16);
            }
            InstData::Launch { .. }
            | InstData::Nullary {
                opcode:
                    Opcode::WorkDim
                    | Opcode::HwThreadId
                    | Opcode::EuId
                    | Opcode::EuThreadId
                    | Opcode::SubsliceId
                    | Opcode::SliceId,
            } if ty != Type::scalar_of(Scalar::I32) => {
                self.error(
                    ErrorLocation::Inst(inst),
                    format!("type clash: `{opcode}` is i32, not {ty}"),
                );
            }
            InstData::Nullary {
                opcode: Opcode::DispatchMask,
            } => self.simd_lanes(inst, opcode, ty, Scalar::B1),
            InstData::Nullary {
                opcode: Opcode::SubgroupId | Opcode::SubgroupCount,
            } => self.thread_number(inst, opcode, ty),
            _ => {}
        }
    }

    fn imm(&mut self, inst: Inst, opcode: Opcode, bits: u64, ty: Type) {
        let (ok, what) = match opcode {
            Opcode::Iconst => (ty.scalar().is_int(), "integers"),
            Opcode::Fconst => (ty.scalar().is_float(), "floats"),
            _ => (ty.is_pred(), "a predicate"),
        };
        if !ok {
            self.error(
                ErrorLocation::Inst(inst),
                format!("type clash: `{opcode}` makes {what}, not {ty}"),
            );
            return;
        }
        let width = if ty.is_pred() {
            ty.lanes()
        } else {
            ty.scalar().bits()
        };
        if width < 64 && bits >> width != 0 {
            self.error(
                ErrorLocation::Inst(inst),
                format!("{bits:#x} does not fit in {ty}"),
            );
        }
    }

    /// Returns the SIMD width of the kernel. Reports an operation that is not in a kernel.
    fn in_kernel(&mut self, inst: Inst, opcode: Opcode) -> Option<u32> {
        if let FuncKind::Kernel { simd, .. } = self.func.kind {
            return Some(simd);
        }
        self.error(
            ErrorLocation::Inst(inst),
            format!("`{opcode}` in a subroutine: it belongs to the kernel, as an argument"),
        );
        None
    }

    /// Checks the type of a number of the thread.
    fn thread_number(&mut self, inst: Inst, opcode: Opcode, ty: Type) {
        if self.in_kernel(inst, opcode).is_some() && ty != Type::scalar_of(Scalar::I32) {
            self.error(
                ErrorLocation::Inst(inst),
                format!("type clash: `{opcode}` is i32, not {ty}"),
            );
        }
    }

    /// Checks for a lane per work-item of the thread.
    fn simd_lanes(&mut self, inst: Inst, opcode: Opcode, ty: Type, scalar: Scalar) {
        let Some(simd) = self.in_kernel(inst, opcode) else {
            return;
        };
        let want = Type::clamped(scalar, simd);
        if ty != want {
            self.error(
                ErrorLocation::Inst(inst),
                format!("type clash: `{opcode}` in a SIMD{simd} kernel is {want}, not {ty}"),
            );
        }
    }
}
