//! Sinking of operations into their users, so that rules see through them, and the bales that write
//! a value or a part of one.

use super::Lower;
use super::facts::{is_operation, read_in_place};
use super::generated::OptValue;
use crate::ir::{Inst, InstData, Opcode, Region, Value};
use crate::mir::bale::{Bale, Operation, View};
use crate::mir::lowered::Lowered;
use crate::mir::{MInst, VirtReg};

impl Lower<'_> {
    /// Returns the definition of a value whose only use is in its block and that has no register
    /// yet.
    pub(super) fn sinks(&self, v: Value) -> Option<Inst> {
        let inst = self.func.dfg.def_inst(v)?;
        let data = self.func.dfg.data(inst);
        (self.uses[v] == 1
            && !self.chains.cut.contains(v)
            && self.inst_block[inst].expand() == Some(self.block)
            && self.value_regs[v].is_none()
            && !self.ty(v).is_pred()
            && is_operation(data.opcode()))
        .then_some(inst)
    }

    /// Like [`Lower::sinks`], for an operation that must leave predication free.
    pub(super) fn sinks_under_mask(&self, v: Value) -> Option<Inst> {
        let inst = self.sinks(v)?;
        let mut operation = inst;
        // A saturation is a bit of the operation before it.
        while let InstData::Unary {
            opcode: Opcode::Fsat,
            arg,
        } = *self.func.dfg.data(operation)
        {
            match self.sinks_under_saturation(arg) {
                Some(before) => operation = before,
                None => break,
            }
        }
        // `sel` needs its predicate or condition for itself.
        let sel = matches!(
            self.func.dfg.data(operation).opcode(),
            Opcode::Select
                | Opcode::Smin
                | Opcode::Smax
                | Opcode::Umin
                | Opcode::Umax
                | Opcode::Fmin
                | Opcode::Fmax
        );
        (!sel).then_some(inst)
    }

    /// Like [`Lower::sinks`], for an operation whose result is saturated.
    pub(super) fn sinks_under_saturation(&self, v: Value) -> Option<Inst> {
        let inst = self.sinks(v)?;
        // `frc` has no saturation.
        (self.func.dfg.data(inst).opcode() != Opcode::Ffrac).then_some(inst)
    }

    /// Returns the definition of a condition that may become part of the branch that uses it.
    pub(super) fn sinks_into_branch(
        &self,
        v: Value,
        wanted: impl FnOnce(Opcode) -> bool,
    ) -> Option<Inst> {
        let inst = self.func.dfg.def_inst(v)?;
        (self.uses[v] == 1
            && !self.chains.cut.contains(v)
            && self.inst_block[inst].expand() == Some(self.block)
            && self.value_flags[v].is_none()
            && wanted(self.func.dfg.data(inst).opcode()))
        .then_some(inst)
    }

    /// Emits the bale of an operation that is an instruction's result.
    pub(super) fn define_result(&mut self, inst: Inst, operation: Operation) {
        if let Some(v) = self.first_result(inst) {
            let lanes = self.ty(v).lanes();
            if let Some(words) = self.value_words[v].expand() {
                return self.define_in_words(v, words, operation);
            }
            let dst = View::contiguous(VirtReg::grf(self.reg(v)), lanes, operation.ty);
            let flag = self.flags_beside[inst].map(|(flag, cond)| (cond, flag));
            self.code.push(Lowered::Bale(Bale {
                flag,
                ..Bale::new(lanes, operation, dst, true)
            }));
        }
    }

    /// Emits the bale of an operation that writes a part of a vector. The rest is the old vector's.
    pub(super) fn define_part(
        &mut self,
        inst: Inst,
        old: Value,
        region: Region,
        [index, mask]: [OptValue; 2],
        operation: Operation,
    ) {
        let InstData::WrRegion { args, .. } = *self.func.dfg.data(inst) else {
            return;
        };
        let Some(v) = self.first_result(inst) else {
            return;
        };
        let lanes = self.ty(args[1]).lanes();
        let dst = self.reg(v);
        let fresh = self
            .func
            .dfg
            .def_inst(old)
            .is_some_and(|i| self.func.dfg.data(i).opcode() == Opcode::Undef);
        if !fresh {
            let src = self.reg(old);
            // Comes before code that the operation needs, which is emitted after this and so
            // precedes the copy.
            self.emit(MInst::Copy { dst, src });
        }
        let ty = operation.ty;
        let index = self.index_of(index, &region, ty.bytes());
        let view = View {
            index,
            ..View::region(VirtReg::grf(dst), &region, ty)
        };
        // Lanes of the old vector that are read where they are written are the same in the new one
        // after the copy. Reading the new one may end the old live range at the copy, so that the
        // copy vanishes.
        let operation = if fresh {
            operation
        } else {
            let old = VirtReg::grf(self.reg(old));
            read_in_place(operation, old, &view, lanes)
        };
        let mask = mask.expand().map(|m| self.mask_lanes(inst, m));
        // The address of an indirect destination is taken before the write, which must then not
        // start the value.
        let starts = fresh && index.is_none();
        if fresh && !starts {
            self.emit(MInst::Start { dst });
        }
        self.code.push(Lowered::Bale(Bale {
            mask: mask.map(|m| m.0),
            channel: mask.map_or(0, |m| m.1),
            inverse: mask.is_some_and(|m| m.2),
            ..Bale::new(lanes, operation, view, starts)
        }));
    }
}
