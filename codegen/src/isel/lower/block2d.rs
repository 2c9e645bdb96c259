//! Lowering of 2D block messages to logical sends.

use super::Lower;
use crate::ir::{Inst, InstData, Opcode, Value};
use crate::mir::logical::{Block2d, Lane, Logical};

impl Lower<'_> {
    pub(super) fn lower_block2d(&mut self, inst: Inst) {
        let InstData::Block2d {
            opcode,
            shape,
            args: [base, width, height, pitch, x, y],
            data,
        } = *self.func.dfg.data(inst)
        else {
            return;
        };
        let data = match opcode {
            Opcode::Block2dLoad => self.func.dfg.first_result(inst),
            _ => data.expand(),
        };
        let logical = Block2d {
            opcode,
            shape,
            base: self.reg(base),
            sizes: [width, height, pitch].map(|v| self.one_lane(v)),
            place: [x, y].map(|v| self.one_lane(v)),
            data: data.map(|v| self.reg(v)),
        };
        self.send(Logical::Block2d(logical));
    }

    /// Returns a uniform number: a constant, or the register that holds it.
    pub(super) fn one_lane(&mut self, v: Value) -> Lane {
        let def = self.func.dfg.def_inst(v);
        match def.map(|i| self.func.dfg.data(i)) {
            Some(InstData::Imm { bits, .. }) => Lane::Known(*bits as u32),
            _ => Lane::Reg(self.reg(v)),
        }
    }
}
