//! Lowering of memory accesses and synchronization to logical sends.

use super::{Lower, gen_signed};
use crate::ir::{DataRef, FenceSpaces, Inst, InstData, MemFlags, Space, Value};
use crate::mir::logical::{Atomic, Block, Dir, Logical, Prefetch, Scattered};
use crate::mir::lowered::Lowered;
use crate::mir::{MInst, SymbolPart, VFlag, VReg};
use cranelift_entity::packed_option::PackedOption;
use gantry_isa_gen::Type as GenType;

impl Lower<'_> {
    pub(super) fn send(&mut self, logical: Logical) {
        self.code.push(Lowered::Send(logical));
    }

    /// Lowers an instruction whose operands no rule looks at.
    pub(super) fn lower_whole(&mut self, inst: Inst) {
        match self.func.dfg.data(inst) {
            InstData::Atomic { .. } => self.lower_atomic(inst),
            InstData::Image { .. } => self.lower_image(inst),
            InstData::Media { .. } => self.lower_media(inst),
            InstData::Send { .. } => self.lower_message(inst),
            InstData::Block2d { .. } => self.lower_block2d(inst),
            InstData::NamedBarrier { .. } => self.lower_named_barrier(inst),
            InstData::Dpas { .. } => self.lower_dpas(inst),
            InstData::Prefetch { .. } => self.lower_prefetch(inst),
            // Queries of arguments are in the payload.
            _ => {}
        }
    }

    pub(super) fn lower_gather(
        &mut self,
        inst: Inst,
        mem: MemFlags,
        addr: Value,
        offset: i32,
        mask: PackedOption<Value>,
        old: PackedOption<Value>,
    ) {
        let Some(v) = self.func.dfg.first_result(inst) else {
            return;
        };
        let keeps = self.copy_old_lanes(v, old);
        let mask = mask.expand().map(|m| self.lanes_of(inst, m));
        let slots = self.used_slots(v);
        self.scattered(Dir::Read, mem, v, slots, (addr, offset), mask, keeps);
        if let Some(slots) = slots {
            self.unpack_slots(v, slots);
        }
    }

    /// Emits an access to a value's lanes, in slots or in its own register. `mask` is as
    /// [`Lower::lanes_of`] returns it.
    #[expect(clippy::too_many_arguments, reason = "each is of another kind")]
    pub(super) fn scattered(
        &mut self,
        dir: Dir,
        mem: MemFlags,
        v: Value,
        slots: Option<VReg>,
        (addr, offset): (Value, i32),
        mask: Option<(VFlag, bool)>,
        keeps: bool,
    ) {
        let ty = self.ty(v);
        let lanes = self.ty(addr).lanes();
        let access = Scattered {
            dir,
            mem,
            base: self.base_of(mem),
            lanes,
            count: ty.lanes() / lanes.max(1),
            ty: slots.map_or(gen_signed(ty.scalar()), |_| GenType::Ud),
            memory: ty.scalar().bytes(),
            mask: mask.map(|m| m.0),
            running: mask.is_some_and(|m| m.1),
            addr: self.reg(addr),
            offset,
            data: slots.unwrap_or_else(|| self.reg(v)),
            keeps,
        };
        self.send(Logical::Scattered(access));
    }

    /// Emits a prefetch, where the target has them and the memory is cached.
    fn lower_prefetch(&mut self, inst: Inst) {
        let InstData::Prefetch {
            mem,
            addr,
            offset,
            mask,
            ..
        } = *self.func.dfg.data(inst)
        else {
            return;
        };
        let cached = matches!(mem.space, Space::Global | Space::Surface(_));
        if !cached || !self.target.features().lsc {
            return;
        }
        let mask = mask.expand().map(|m| self.lanes_of(inst, m));
        let prefetch = Prefetch {
            mem,
            lanes: self.ty(addr).lanes(),
            addr: self.reg(addr),
            offset,
            mask: mask.map(|m| m.0),
            running: mask.is_some_and(|m| m.1),
        };
        self.send(Logical::Prefetch(prefetch));
    }

    /// Returns the register that is added to every address of a space.
    fn base_of(&mut self, mem: MemFlags) -> Option<VReg> {
        if mem.space != Space::Scratch {
            return None;
        }
        // Subroutines do not declare the kernel's scratch.
        if self.payload.scratch_bytes == 0 {
            self.fail(None, "scratch in a kernel that has none");
        }
        let base = match self.scratch_base {
            Some(r) => r,
            None => self.temp(4),
        };
        self.scratch_base = Some(base);
        Some(base)
    }

    /// Copies the old value of disabled lanes to the result. Returns true if there is one.
    pub(super) fn copy_old_lanes(&mut self, v: Value, old: PackedOption<Value>) -> bool {
        let Some(old) = old.expand().filter(|&o| !self.func.dfg.is_undef(o)) else {
            return false;
        };
        let (dst, src) = (self.reg(v), self.reg(old));
        self.emit(MInst::Copy { dst, src });
        true
    }

    pub(super) fn lower_scatter(
        &mut self,
        inst: Inst,
        mem: MemFlags,
        v: Value,
        addr: Value,
        offset: i32,
        mask: PackedOption<Value>,
    ) {
        let mask = mask.expand().map(|m| self.lanes_of(inst, m));
        // A value that a load returned in slots is stored from there.
        let slots = if self.has_slots(mem, v, addr) {
            self.slots(v)
        } else {
            None
        };
        self.scattered(Dir::Write, mem, v, slots, (addr, offset), mask, true);
    }

    pub(super) fn lower_block(
        &mut self,
        dir: Dir,
        mem: MemFlags,
        v: Value,
        addr: Value,
        offset: i32,
    ) {
        let ty = self.ty(v);
        let known = match self.func.dfg.def_inst(addr) {
            Some(i) => match *self.func.dfg.data(i) {
                InstData::Imm { bits, .. } => Some(bits),
                _ => None,
            },
            None => None,
        };
        let access = Block {
            dir,
            mem,
            header: self.header,
            base: self.base_of(mem),
            known,
            lanes: ty.lanes(),
            ty: gen_signed(ty.scalar()),
            addr: self.reg(addr),
            offset,
            data: self.reg(v),
        };
        self.send(Logical::Block(access));
    }

    pub(super) fn lower_barrier(&mut self) {
        let header = self.header;
        self.send(Logical::Barrier {
            header,
            named: None,
        });
    }

    fn lower_named_barrier(&mut self, inst: Inst) {
        let InstData::NamedBarrier {
            number, threads, ..
        } = *self.func.dfg.data(inst)
        else {
            return;
        };
        let (header, threads) = (self.header, self.one_lane(threads));
        self.send(Logical::Barrier {
            header,
            named: Some((number, threads)),
        });
    }

    fn lower_atomic(&mut self, inst: Inst) {
        let InstData::Atomic {
            op,
            mem,
            addr,
            offset,
            data,
            mask,
            old,
            ..
        } = *self.func.dfg.data(inst)
        else {
            return;
        };
        let Some(v) = self.func.dfg.first_result(inst) else {
            return;
        };
        let ty = self.ty(v);
        // Without a use of the old value, no response is requested.
        let wanted = self.value_regs[v].is_some();
        let keeps = wanted && self.copy_old_lanes(v, old);
        let atomic = Atomic {
            op,
            mem,
            lanes: ty.lanes(),
            ty: gen_signed(ty.scalar()),
            addr: self.reg(addr),
            offset,
            data: data.map(|d| d.expand().map(|d| self.reg(d))),
            result: wanted.then(|| self.reg(v)),
            mask: mask.expand().map(|m| self.mask(inst, m)),
            keeps,
        };
        self.send(Logical::Atomic(atomic));
    }

    /// Emits an address that the loader fills in: as a qword if the ALU moves qwords in any region,
    /// else as two dwords.
    pub(super) fn lower_symbol(&mut self, inst: Inst, data: DataRef) {
        let Some(v) = self.func.dfg.first_result(inst) else {
            return;
        };
        let dst = self.reg(v);
        let f = self.target.features();
        let parts: &[SymbolPart] = if f.i64_alu && !f.restricted_64bit {
            &[SymbolPart::Whole]
        } else {
            &[SymbolPart::Low, SymbolPart::High]
        };
        for &part in parts {
            self.emit(MInst::Symbol { dst, data, part });
        }
    }

    pub(super) fn lower_fence(&mut self, spaces: FenceSpaces) {
        let header = self.header;
        self.send(Logical::Fence { header, spaces });
    }
}
