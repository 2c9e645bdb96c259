//! Rules on lanes of masks and of slices of predicates.

use super::{ErrorLocation, Verifier};
use crate::ir::{Inst, InstData, Opcode, Type, Value};

impl Verifier<'_> {
    /// Checks a mask: a predicate with this many lanes.
    pub(super) fn mask(&mut self, inst: Inst, n: usize, mask: Value, lanes: u32) {
        let ty = self.ty(mask);
        if !ty.is_pred() || ty.lanes() != lanes {
            self.error(
                ErrorLocation::Operand(inst, n),
                format!(
                    "bad mask width: {lanes} lanes take a mask of b1x{lanes}, and {mask} is {ty}"
                ),
            );
        }
    }

    pub(super) fn predicates(&mut self, inst: Inst) {
        match *self.data(inst) {
            InstData::Ternary {
                opcode: Opcode::Select,
                args: [m, a, _],
            } => {
                let lanes = self.ty(a).lanes();
                self.mask(inst, 0, m, lanes);
            }
            InstData::Ternary {
                opcode: Opcode::Goto,
                args: [em, ..],
            }
            | InstData::Binary {
                opcode: Opcode::Join,
                args: [em, _],
            } if self.ty(em).lanes() > Type::FLAG_LANES => {
                let (ty, most) = (self.ty(em), Type::FLAG_LANES);
                self.error(
                    ErrorLocation::Operand(inst, 0),
                    format!("a mask of channels has at most {most} lanes, and {em} is {ty}"),
                );
            }
            InstData::RdPred { arg, offset, .. } => {
                let Some(part) = self.result(inst) else {
                    return;
                };
                if !part.is_pred() {
                    self.error(
                        ErrorLocation::Inst(inst),
                        format!("type clash: `rdpred` gives a predicate, not {part}"),
                    );
                }
                self.part(inst, 0, arg, part.lanes(), offset);
            }
            InstData::WrPred {
                args: [old, new],
                offset,
                ..
            } => {
                let lanes = self.ty(new).lanes();
                self.part(inst, 0, old, lanes, offset);
            }
            _ => {}
        }
    }

    fn part(&mut self, inst: Inst, n: usize, whole: Value, lanes: u32, offset: u8) {
        let ty = self.ty(whole);
        let end = u32::from(offset) + lanes;
        if end > ty.lanes() {
            self.error(
                ErrorLocation::Operand(inst, n),
                format!(
                    "part of a predicate out of bounds: lane {} of {ty}",
                    end - 1
                ),
            );
        }
    }
}
