//! Lowering of matrix products to the systolic array.

use super::Lower;
use crate::ir::{DpasTypes, Inst, InstData, Value};
use crate::mir::logical::{Logical, Systolic};

impl Lower<'_> {
    pub(super) fn lower_dpas(&mut self, inst: Inst) {
        let InstData::Dpas { shape, args, .. } = *self.func.dfg.data(inst) else {
            return;
        };
        let Some(result) = self.func.dfg.first_result(inst) else {
            return;
        };
        let [acc, columns, rows] = args;
        let types = DpasTypes {
            acc: self.ty(acc),
            columns: self.ty(columns),
            rows: self.ty(rows),
            result: self.ty(result),
        };
        let mut op = match shape.operation(&types) {
            Ok(op) => op,
            Err(what) => return self.fail(Some(inst), what),
        };
        if let Err(what) = Systolic::check(self.target, &op) {
            return self.fail(Some(inst), what);
        }
        // The null register adds nothing.
        let nothing = self.is_zero(acc);
        if nothing {
            op.src0 = None;
        }
        let logical = Systolic {
            op,
            dst: self.reg(result),
            acc: if nothing { None } else { Some(self.reg(acc)) },
            columns: self.reg(columns),
            rows: self.reg(rows),
        };
        self.send(Logical::Systolic(logical));
    }

    /// Returns true if a value is a constant whose bits are zero.
    fn is_zero(&self, v: Value) -> bool {
        let def = self.func.dfg.def_inst(v);
        def.is_some_and(|i| matches!(self.func.dfg.data(i), InstData::Imm { bits: 0, .. }))
    }
}
