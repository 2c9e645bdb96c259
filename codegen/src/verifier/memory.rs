//! Addresses, values and masks of loads and stores.

use super::{Place, Verifier};
use crate::ir::{Inst, InstData, Opcode, Scalar, Type, Value};

impl Verifier<'_> {
    pub(super) fn memory(&mut self, inst: Inst) {
        match *self.data(inst) {
            InstData::Load {
                opcode,
                addr,
                mask,
                old,
                ..
            } => {
                let Some(ty) = self.result(inst) else {
                    return;
                };
                self.access(inst, opcode, 0, addr, ty, mask.expand().map(|m| (1, m)));
                match (mask.expand(), old.expand()) {
                    (Some(_), Some(old)) if self.ty(old) != ty => {
                        let have = self.ty(old);
                        self.error(
                            Place::Operand(inst, 2),
                            format!("type clash: {old} is {have}, and the load's type is {ty}"),
                        );
                    }
                    (Some(_), None) => {
                        self.error(
                            Place::Inst(inst),
                            "a masked load needs the value of the lanes that are off",
                        );
                    }
                    (None, Some(_)) => {
                        self.error(
                            Place::Inst(inst),
                            "a load without a mask has no lanes that are off",
                        );
                    }
                    _ => {}
                }
            }
            InstData::Store {
                opcode,
                args: [value, addr],
                mask,
                ..
            } => {
                let ty = self.ty(value);
                self.access(inst, opcode, 1, addr, ty, mask.expand().map(|m| (2, m)));
            }
            _ => {}
        }
    }

    fn access(
        &mut self,
        inst: Inst,
        opcode: Opcode,
        n: usize,
        addr: Value,
        ty: Type,
        mask: Option<(usize, Value)>,
    ) {
        if ty.is_pred() {
            self.error(
                Place::Inst(inst),
                format!("type clash: `{opcode}` of {ty}: predicates are not in memory"),
            );
            return;
        }
        let block = matches!(opcode, Opcode::Bload | Opcode::Bstore);
        let have = self.ty(addr);
        let lanes = if block { 1 } else { ty.lanes() };
        if have.scalar() != Scalar::I64 || have.lanes() != lanes {
            let want =
                Type::new(Scalar::I64, lanes).map_or("fewer lanes".to_string(), |t| t.to_string());
            self.error(
                Place::Operand(inst, n),
                format!(
                    "type clash: the address of `{opcode}` of {ty} is {want}, and {addr} is {have}"
                ),
            );
        }
        match mask {
            Some((_, m)) if block => {
                self.error(
                    Place::Inst(inst),
                    format!("`{opcode}` takes no mask, and {m} is one"),
                );
            }
            Some((n, m)) => self.mask(inst, n, m, ty.lanes()),
            None => {}
        }
    }
}
