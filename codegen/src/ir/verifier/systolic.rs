//! Rules on matrix products: combinations of factor types, and lengths of values.

use super::{ErrorLocation, Verifier};
use crate::ir::{DpasTypes, Inst, InstData};

impl Verifier<'_> {
    pub(super) fn products(&mut self, inst: Inst) {
        let InstData::Dpas { shape, args, .. } = *self.data(inst) else {
            return;
        };
        let [acc, columns, rows] = args.map(|v| self.ty(v));
        let Some(result) = self.result(inst) else {
            return;
        };
        let types = DpasTypes {
            acc,
            columns,
            rows,
            result,
        };
        if let Err(what) = shape.operation(&types) {
            self.error(ErrorLocation::Inst(inst), what);
        }
    }
}
