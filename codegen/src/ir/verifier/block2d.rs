//! Rules on 2D blocks: shapes, lengths of values, scalar operands.

use super::{ErrorLocation, Verifier};
use crate::ir::{Inst, InstData, Opcode, Scalar, Type};

impl Verifier<'_> {
    pub(super) fn blocks(&mut self, inst: Inst) {
        let InstData::Block2d {
            opcode,
            shape,
            args,
            data,
        } = *self.data(inst)
        else {
            return;
        };
        if let Err(what) = shape.check(opcode) {
            return self.error(ErrorLocation::Inst(inst), what);
        }
        for (n, v) in args.into_iter().enumerate() {
            let want = Type::scalar_of(match n {
                0 => Scalar::I64,
                _ => Scalar::I32,
            });
            let have = self.ty(v);
            if have != want {
                let what = format!("type clash: this of `{opcode}` is {want}, and {v} is {have}");
                self.error(ErrorLocation::Operand(inst, n), what);
            }
        }
        let ty = match opcode {
            Opcode::Block2dLoad => self.result(inst),
            Opcode::Block2dStore => data.expand().map(|v| self.ty(v)),
            _ => return,
        };
        let Some(ty) = ty else {
            return self.error(ErrorLocation::Inst(inst), "a store of nothing");
        };
        let bytes = shape.value_bytes();
        if ty.is_pred() || ty.bytes() != bytes {
            let what = format!("type clash: the blocks have {bytes} bytes, which {ty} has not");
            self.error(ErrorLocation::Inst(inst), what);
        }
    }
}
