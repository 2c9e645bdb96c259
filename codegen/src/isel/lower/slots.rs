//! Bytes and words in the slots of a scattered message: a dword per lane, whose lowest bytes are
//! the lane's.
//!
//! Messages return and take data in this form. Users of a loaded value in the load's block read the
//! slots themselves, as a region. Elsewhere the value is packed, since slots take up to four times
//! the space. An operation whose only use is a store writes the slots.
//!
//! Operations on bytes are computed in words, so their results are in slots of a word in the same
//! way.

use super::facts::is_operation;
use super::{Lower, gen_signed};
use crate::ir::{Inst, InstData, MemFlags, Opcode, Scalar, Value};
use crate::isel::lower_sends::moves_slots;
use crate::mir::bale::{Operation, View};
use crate::mir::logical::Dir;
use crate::mir::{VReg, VirtReg};
use gantry_isa_gen::{Op, Type as GenType};

/// Number of reads of slots of more than two GRFs that costs as much as packing them. Each takes
/// one more instruction.
const MANY: u32 = 2;

/// Greatest distance, in IR instructions, from a load to its last user that reads the slots.
const NEAR: u32 = 16;

impl Lower<'_> {
    /// Returns the slots of a loaded value, if it may be read there in the current block. The load
    /// becomes needed.
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
        // An instruction reads no more than two GRFs. With more slots, packing pays off for several
        // reads.
        let two = 2 * self.grf.bytes;
        let (ty, f) = (self.ty(v), self.target.features());
        // Strided half-floats are packed again for each instruction if float sources must have the
        // stride of the destination.
        let cheap = if ty.scalar() == Scalar::F16 && f.regioning_in_step {
            self.uses[v] == 1
        } else {
            ty.lanes() * GenType::Ud.bytes() <= two || self.uses[v] <= MANY
        };
        // A live range far beyond the load takes less space packed.
        let near = self.place.saturating_sub(self.places[inst]) <= NEAR;
        if !free || !here || !cheap || !near || !self.has_slots(mem, v, addr) {
            return None;
        }
        let r = self.new_slots(v);
        self.value_slots[v] = r.into();
        Some(r)
    }

    /// Returns true if an access moves a value's lanes in slots.
    pub(super) fn has_slots(&self, mem: MemFlags, v: Value, addr: Value) -> bool {
        let (ty, lanes) = (self.ty(v), self.ty(addr).lanes());
        let bytes = ty.scalar().bytes();
        !ty.is_pred() && ty.lanes() == lanes && moves_slots(mem, bytes, self.target)
    }

    fn new_slots(&mut self, v: Value) -> VReg {
        let lanes = self.ty(v).lanes();
        self.temp(lanes * GenType::Ud.bytes())
    }

    /// Returns the view of a value's lanes in slots.
    pub(super) fn view_of_slots(&self, v: Value, slots: VReg) -> View {
        let (ty, reg) = (self.ty(v), VirtReg::grf(slots));
        let view = match ty.lanes() {
            1 => View::scalar(reg, 0, GenType::Ud),
            n => View::contiguous(reg, n, GenType::Ud),
        };
        view.narrowed(gen_signed(ty.scalar()))
    }

    /// Emits a store of an operation without other uses: its result is computed in slots.
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
        let mask = mask.expand().map(|m| self.access_lanes(store, m));
        self.scattered(Dir::Write, mem, v, Some(data), (addr, offset), mask, true);
    }

    /// Returns true if a store moves its value's lanes in slots.
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

    /// Packs a loaded value into its own register, if that is used too.
    pub(super) fn unpack_slots(&mut self, v: Value, slots: VReg) {
        let Some(dst) = self.value_regs[v].expand() else {
            return;
        };
        let view = self.view_of_slots(v, slots);
        let o = Operation::new(Op::Mov, view.ty, &[view.plain()]);
        let lanes = self.ty(v).lanes();
        self.bale(dst, lanes, o);
    }

    /// Returns the words in whose low bytes the result of an operation on bytes is, if it may be
    /// read there in the current block. They become needed.
    ///
    /// Instructions compute bytes in words. Another one packs the result, which users in the block
    /// need not wait for.
    pub(super) fn byte_words(&mut self, v: Value) -> Option<VReg> {
        let ty = self.ty(v);
        if ty.scalar() != Scalar::I8 || ty.lanes() == 1 {
            return None;
        }
        if let Some(r) = self.value_words[v].expand() {
            return Some(r);
        }
        let inst = self.func.dfg.def_inst(v)?;
        let data = self.func.dfg.data(inst);
        let computes = match data.opcode() {
            Opcode::Select => self.masks.is_none(),
            // Logic is of whole dwords.
            Opcode::Band | Opcode::Bor | Opcode::Bxor | Opcode::Bnot => false,
            Opcode::Ineg | Opcode::Iabs => true,
            op => matches!(data, InstData::Binary { .. }) && is_operation(op),
        };
        let here = self.inst_block[inst].expand() == Some(self.block);
        let near = self.place.saturating_sub(self.places[inst]) <= NEAR;
        let bytes = ty.lanes() * GenType::W.bytes();
        let cheap = bytes <= 2 * self.grf.bytes || self.uses[v] <= MANY;
        if !computes || !here || !near || !cheap || self.chains.cut.contains(v) {
            return None;
        }
        let r = self.temp(bytes);
        self.value_words[v] = r.into();
        Some(r)
    }

    /// Returns the view of a value's bytes in words.
    pub(super) fn view_of_words(&self, v: Value, words: VReg) -> View {
        let words = View::contiguous(VirtReg::grf(words), self.ty(v).lanes(), GenType::W);
        words.narrowed(GenType::B)
    }

    /// Emits an operation whose result is read in words, and packs it if that is needed as well.
    pub(super) fn define_in_words(&mut self, v: Value, words: VReg, operation: Operation) {
        let lanes = self.ty(v).lanes();
        let view = self.view_of_words(v, words).narrowed(operation.ty);
        self.bale_at(view, true, lanes, operation);
        if let Some(dst) = self.value_regs[v].expand() {
            let o = Operation::new(Op::Mov, view.ty, &[view.plain()]);
            self.bale(dst, lanes, o);
        }
    }

    /// Returns the slots of a value, if they are used.
    pub(super) fn used_slots(&self, v: Value) -> Option<VReg> {
        self.value_slots[v].expand()
    }
}
