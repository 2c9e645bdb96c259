//! Bytes and words in the slots of a scattered message: a doubleword a lane, of which the lowest
//! bytes are the lane's.
//!
//! A message brings and takes them so. What reads a value that a load brings reads the slots
//! themselves, as a region, where that is in the load's own block, since slots take up to four
//! times the room; and what computes a value for a store alone writes them.

use super::{Lower, gen_signed};
use crate::ir::{Inst, InstData, MemFlags, Opcode, Scalar, Value};
use crate::isel::lower_sends::moves_slots;
use crate::mir::bale::{Operation, View};
use crate::mir::logical::Dir;
use crate::mir::{VReg, VirtReg};
use gantry_isa_gen::{Op, Type as GenType};

/// Reads of slots of more than two registers, each of which is an instruction more, that cost as
/// much as packing them.
const MANY: u32 = 2;

/// Instructions of the IR from a load to what reads its slots, the last first.
const NEAR: u32 = 16;

impl Lower<'_> {
    /// The slots of a value that a load brings as such, in the block being lowered: makes that the
    /// load is needed.
    pub(super) fn slots(&mut self, v: Value) -> Option<VReg> {
        if let Some(r) = self.value_slots[v].expand() {
            return Some(r);
        }
        let inst = self.func.dfg.def_inst(v)?;
        let InstData::Load {
            opcode: Opcode::Load,
            mem,
            addr,
            old,
            ..
        } = *self.func.dfg.data(inst)
        else {
            return None;
        };
        let free = old.expand().is_none_or(|o| self.func.dfg.is_undef(o));
        let here = self.inst_block[inst].expand() == Some(self.block);
        // An instruction reads no more than two registers: of more slots, what is read often is
        // worth packing.
        let two = 2 * self.grf.bytes;
        let (ty, f) = (self.ty(v), self.target.features());
        // Halves that are apart are put together for each instruction where floats are read in step
        // with what is written.
        let cheap = if ty.scalar() == Scalar::F16 && f.regioning_in_step {
            self.uses[v] == 1
        } else {
            ty.lanes() * GenType::Ud.bytes() <= two || self.uses[v] <= MANY
        };
        // What is read far behind its load has less room packed.
        let near = self.place.saturating_sub(self.places[inst]) <= NEAR;
        if !free || !here || !cheap || !near || !self.has_slots(mem, v, addr) {
            return None;
        }
        let r = self.new_slots(v);
        self.value_slots[v] = r.into();
        Some(r)
    }

    /// Whether an access moves a value's lanes in slots.
    pub(super) fn has_slots(&self, mem: MemFlags, v: Value, addr: Value) -> bool {
        let (ty, lanes) = (self.ty(v), self.ty(addr).lanes());
        let bytes = ty.scalar().bytes();
        !ty.is_pred() && ty.lanes() == lanes && moves_slots(mem, bytes, self.target)
    }

    fn new_slots(&mut self, v: Value) -> VReg {
        let lanes = self.ty(v).lanes();
        self.temp(lanes * GenType::Ud.bytes())
    }

    /// A value's lanes in slots.
    pub(super) fn view_of_slots(&self, v: Value, slots: VReg) -> View {
        let (ty, reg) = (self.ty(v), VirtReg::grf(slots));
        let view = match ty.lanes() {
            1 => View::scalar(reg, 0, GenType::Ud),
            n => View::contiguous(reg, n, GenType::Ud),
        };
        view.narrowed(gen_signed(ty.scalar()))
    }

    /// A store of what nothing else needs: it is computed in slots.
    pub(super) fn scatter_in_slots(&mut self, store: Inst, operation: Operation) {
        let InstData::Store {
            mem,
            args: [v, addr],
            offset,
            mask,
            ..
        } = *self.func.dfg.data(store)
        else {
            return;
        };
        let data = self.new_slots(v);
        let view = self.view_of_slots(v, data).narrowed(operation.ty);
        let lanes = self.ty(v).lanes();
        self.bale_at(view, true, lanes, operation);
        let mask = mask.expand().map(|m| self.lanes_of(store, m));
        self.scattered(Dir::Write, mem, v, Some(data), (addr, offset), mask, true);
    }

    /// Whether a store moves its value's lanes in slots.
    pub(super) fn stores_slots(&self, store: Inst) -> bool {
        match *self.func.dfg.data(store) {
            InstData::Store {
                opcode: Opcode::Store,
                mem,
                args: [v, addr],
                ..
            } => self.has_slots(mem, v, addr),
            _ => false,
        }
    }

    /// What is loaded is wanted in its own register too.
    pub(super) fn out_of_slots(&mut self, v: Value, slots: VReg) {
        let Some(dst) = self.value_regs[v].expand() else {
            return;
        };
        let view = self.view_of_slots(v, slots);
        let o = Operation::new(Op::Mov, view.ty, &[view.plain()]);
        let lanes = self.ty(v).lanes();
        self.bale(dst, lanes, o);
    }

    /// The slots that somebody asked for.
    pub(super) fn asked_slots(&self, v: Value) -> Option<VReg> {
        self.value_slots[v].expand()
    }
}
