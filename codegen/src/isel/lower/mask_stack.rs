//! Lowering of `goto`, `join` and masks if SIMD control flow uses the hardware's mask stack: see
//! [`crate::isel::mask_stack`].
//!
//! An instruction whose mask is the active one runs under the execution mask. Everything else runs
//! in all channels. A mask with other uses is copied to a flag at the point where it becomes the
//! execution mask.

use super::Lower;
use crate::ir::{Block, Inst, InstData, Opcode, Value, ValueDef};
use crate::isel::mask_stack::{Role, tested_mask};
use crate::mir::bale::{Bale, Operation, View};
use crate::mir::lowered::Lowered;
use crate::mir::operand::{flag_src, flag_type, inverted, lane_mask};
use crate::mir::{MInst, VFlag, VirtReg};
use gantry_isa_gen::{Cond, ExecSize, Op, Type};

/// Channels between the parts of a mask that every platform reaches.
const PART_STEP: u8 = 8;

impl Lower<'_> {
    /// Returns the role of a `goto` or `join` on the mask stack, if that is used.
    pub(super) fn role(&self, inst: Inst) -> Option<Role> {
        self.masks.as_ref()?.role(inst)
    }

    /// Returns true if an instruction has code even if its results are not used as flags.
    pub(super) fn controls(&self, inst: Inst) -> bool {
        matches!(self.role(inst), Some(Role::Leave(_) | Role::Join(_)))
    }

    /// Returns true if a mask is the active one at an instruction.
    pub(super) fn is_active(&self, inst: Inst, mask: Value) -> bool {
        let masks = self.masks.as_ref();
        masks.is_some_and(|m| m.is_active(inst, mask))
    }

    /// Returns the first channel of a part of the active mask. `None` if a mask is no such part.
    pub(super) fn active_part(&self, inst: Inst, mask: Value) -> Option<u32> {
        if self.is_active(inst, mask) {
            return Some(0);
        }
        let def = self.func.dfg.def_inst(mask)?;
        let InstData::RdPred { arg, offset, .. } = *self.func.dfg.data(def) else {
            return None;
        };
        let lanes = self.ty(mask).lanes();
        let aligned = lanes.is_power_of_two() && u32::from(offset).is_multiple_of(lanes);
        let reached = offset == 0 || offset.is_multiple_of(PART_STEP);
        (aligned && reached && self.is_active(inst, arg)).then_some(offset.into())
    }

    /// Returns true if a mask of a message is the first channels of the active mask, and no other
    /// channels take part: a message is of a GRF of dwords at least.
    fn is_first_of_active(&self, inst: Inst, mask: Value) -> bool {
        let lanes = self.ty(mask).lanes();
        let whole = lanes * Type::Ud.bytes() >= self.grf.bytes;
        whole && self.active_part(inst, mask) == Some(0)
    }

    /// Returns the mask of an instruction: the execution mask, or a flag.
    pub(super) fn mask(&mut self, inst: Inst, mask: Value) -> VFlag {
        if self.is_active(inst, mask) {
            VFlag::EXEC
        } else {
            self.flag(mask)
        }
    }

    /// Returns the mask of a bale, its bit for lane 0, and true if the mask is inverted.
    pub(super) fn mask_lanes(&mut self, inst: Inst, mask: Value) -> (VFlag, u32, bool) {
        if let Some(first) = self.active_part(inst, mask) {
            return (VFlag::EXEC, first, false);
        }
        let (mask, inverse) = self.without_not(mask);
        let (flag, first) = self.flag_lanes(mask);
        (flag, first, inverse)
    }

    /// Returns the predicate of which another is the complement, and true; or the same predicate,
    /// if it is no complement or has a flag of its own. On the mask stack, the flag of a mask
    /// changes from one branch to the next, so only compares count there.
    fn without_not(&self, mask: Value) -> (Value, bool) {
        let data = |v: Value| self.func.dfg.def_inst(v).map(|i| *self.func.dfg.data(i));
        match data(mask) {
            Some(InstData::Unary {
                opcode: Opcode::Bnot,
                arg,
            }) if self.value_flags[mask].is_none() && !self.chains.cut.contains(mask) => {
                let compare = matches!(data(arg), Some(InstData::FloatCompare { .. }));
                if compare || self.masks.is_none() {
                    (arg, true)
                } else {
                    (mask, false)
                }
            }
            _ => (mask, false),
        }
    }

    /// Returns the lanes of an access as [`Lower::lanes_of`] does. The third is true if the mask is
    /// inverted.
    pub(super) fn access_lanes(&mut self, inst: Inst, mask: Value) -> (VFlag, bool, bool) {
        let (of, inverse) = self.without_not(mask);
        if inverse && !self.is_active(inst, mask) {
            return (self.flag(of), false, true);
        }
        let (flag, running) = self.lanes_of(inst, mask);
        (flag, running, false)
    }

    /// Returns the lanes of an access: the execution mask or a flag. The second is true if the mask
    /// is the intersection of that flag and the execution mask.
    pub(super) fn lanes_of(&mut self, inst: Inst, mask: Value) -> (VFlag, bool) {
        if self.is_first_of_active(inst, mask) {
            return (VFlag::EXEC, false);
        }
        if !self.is_active(inst, mask)
            && let Some(of) = self.flag_under_exec(inst, mask)
        {
            return (self.flag(of), true);
        }
        (self.mask(inst, mask), false)
    }

    /// Returns the mask of a select.
    pub(super) fn select_mask(&self, inst: Inst) -> Option<Value> {
        match *self.func.dfg.data(inst) {
            InstData::Ternary {
                opcode: Opcode::Select,
                args: [mask, ..],
            } => Some(mask),
            _ => None,
        }
    }

    /// Returns true if a mask is the intersection of a flag and the execution mask, and has no flag
    /// of its own.
    pub(super) fn is_flag_under_exec(&self, inst: Inst, mask: Value) -> bool {
        self.value_flags[mask].is_none()
            && !self.is_active(inst, mask)
            && self.flag_under_exec(inst, mask).is_some()
    }

    /// Returns the flag whose intersection with the execution mask a mask is.
    fn flag_under_exec(&self, inst: Inst, mask: Value) -> Option<Value> {
        let def = self.func.dfg.def_inst(mask);
        let def = def.filter(|_| !self.chains.cut.contains(mask))?;
        let InstData::Binary {
            opcode: Opcode::Band,
            args: [a, b],
        } = *self.func.dfg.data(def)
        else {
            return None;
        };
        let mut both = [(a, b), (b, a)].into_iter();
        both.find(|&(active, _)| self.is_active(inst, active))
            .map(|(_, of)| of)
    }

    fn exec_size(&self) -> Option<ExecSize> {
        ExecSize::new(self.payload.simd)
    }

    /// Returns true if every lane of a mask is known to be set.
    fn is_all(&self, v: Value) -> bool {
        let inst = self.func.dfg.def_inst(v);
        let all = lane_mask(self.ty(v).lanes());
        matches!(inst.map(|i| *self.func.dfg.data(i)), Some(InstData::Imm { bits, .. }) if bits & all == all)
    }

    /// Emits a `goto` by any condition.
    pub(super) fn leave_by(&mut self, inst: Inst, cond: Value) {
        if self.is_all(cond) {
            return self.leave(inst, None);
        }
        let (mut v, mut inverse) = (cond, false);
        while let Some(i) = self.func.dfg.def_inst(v)
            && let InstData::Unary {
                opcode: Opcode::Bnot,
                arg,
            } = *self.func.dfg.data(i)
            && !self.chains.cut.contains(v)
        {
            (v, inverse) = (arg, !inverse);
        }
        let flag = self.flag(v);
        self.leave(inst, Some((flag, inverse)));
    }

    /// Disables channels whose bit in a flag is set, or, if inverted, is clear. `None` disables all
    /// that run.
    pub(super) fn leave(&mut self, inst: Inst, leaving: Option<(VFlag, bool)>) {
        let (Some(Role::Leave(to)), Some(exec)) = (self.role(inst), self.exec_size()) else {
            return;
        };
        let results: [Value; 3] = match self.func.dfg.results(inst) {
            &[a, b, c] => [a, b, c],
            _ => return,
        };
        let lanes = self.ty(results[0]).lanes();
        let none = self.value_flags[results[2]].expand();
        if none.is_some() || self.value_flags[results[0]].is_some() {
            let out = self.flag(results[0]);
            match leaving {
                Some((flag, inverse)) => {
                    let (zero, ty) = (self.header, flag_type(lanes));
                    let run = self.temp_flag(lanes);
                    self.exec_to_flag(run, lanes, zero);
                    let leaving = flag_src(flag, ty);
                    let staying = if inverse { leaving } else { inverted(leaving) };
                    self.flag_op(Op::And, out, lanes, flag_src(run, ty), staying);
                }
                None => self.const_flag(out, lanes, 0),
            }
            if let Some(none) = none {
                self.test(none, flag_src(out, flag_type(lanes)), lanes, Cond::Eq);
            }
        }
        let flag = leaving.map(|(f, inverse)| (VirtReg::flag(f), 0, inverse));
        self.emit(MInst::Leave { flag, to, exec });
    }

    /// Emits a `join` on the mask stack.
    pub(super) fn join_point(&mut self, inst: Inst) {
        let (Some(Role::Join(at)), Some(exec)) = (self.role(inst), self.exec_size()) else {
            return;
        };
        self.emit(MInst::Join { at, exec });
        let results: [Value; 2] = match self.func.dfg.results(inst) {
            &[a, b] => [a, b],
            _ => return,
        };
        let lanes = self.ty(results[0]).lanes();
        let none = self.value_flags[results[1]].expand();
        if none.is_some() || self.value_flags[results[0]].is_some() {
            let (out, zero) = (self.flag(results[0]), self.header);
            self.exec_to_flag(out, lanes, zero);
            if let Some(none) = none {
                self.test(none, flag_src(out, flag_type(lanes)), lanes, Cond::Eq);
            }
        }
    }

    /// Copies the active mask to a flag at a block's start, if it is a parameter that is used as
    /// one.
    pub(super) fn mask_param(&mut self, block: Block) {
        let Some(p) = self.masks.as_ref().and_then(|m| m.active_in(block)) else {
            return;
        };
        let own = matches!(self.func.dfg.def(p), ValueDef::Param(b, _) if b == block);
        if let (true, Some(out)) = (own, self.value_flags[p].expand()) {
            let (lanes, zero) = (self.ty(p).lanes(), self.header);
            self.exec_to_flag(out, lanes, zero);
        }
    }

    /// Returns true if a parameter needs no flag.
    pub(super) fn keeps_param(&self, block: Block, param: Value) -> bool {
        let masks = self.masks.as_ref();
        masks.is_some_and(|m| m.keeps_param(block, param))
    }

    /// Returns `Some` for a branch on an empty execution mask: true if the first destination is the
    /// one for an empty mask.
    pub(super) fn tests_exec(&self, inst: Inst, cond: Value) -> Option<bool> {
        let (of, none_first) = tested_mask(self.func, cond)?;
        self.is_active(inst, of).then_some(none_first)
    }

    pub(super) fn branch_exec(&mut self, none_first: bool) {
        if let Some(exec) = self.exec_size() {
            self.emit(MInst::BranchExec { none_first, exec });
        }
    }

    /// Emits an operation whose result goes to the lanes of a select's mask, as [`Lower::lanes_of`]
    /// returns them. Other lanes keep an old value.
    pub(super) fn merge(&mut self, inst: Inst, old: Value, operation: Operation) {
        let (Some(mask), Some(v)) = (self.select_mask(inst), self.func.dfg.first_result(inst))
        else {
            return;
        };
        let (dst, lanes) = (self.reg(v), self.ty(v).lanes());
        let def = self.func.dfg.def_inst(old);
        let undefined = def.map(|i| self.func.dfg.data(i).opcode()) == Some(Opcode::Undef);
        let mut operation = operation;
        let view = View::contiguous(VirtReg::grf(dst), lanes, operation.ty);
        if !undefined {
            let src = self.reg(old);
            self.emit(MInst::Copy { dst, src });
            operation = super::facts::read_in_place(operation, VirtReg::grf(src), &view, lanes);
        }
        let (flag, running) = match self.active_part(inst, mask) {
            Some(0) => (VFlag::EXEC, false),
            _ => self.lanes_of(inst, mask),
        };
        // Both masks are at one channel offset.
        if let Some((f, first)) = operation.select.filter(|s| s.1 != 0) {
            let own = self.temp_flag(lanes);
            self.read_part(own, lanes, f, first);
            operation.select = Some((own, 0));
        }
        self.code.push(Lowered::Bale(Bale {
            mask: Some(flag),
            running,
            ..Bale::new(lanes, operation, view, undefined)
        }));
    }
}
