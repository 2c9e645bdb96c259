//! Lowering of memory accesses and synchronization to logical sends.

use super::{Lower, gen_signed};
use crate::ir::{
    DataRef, FenceSpaces, Inst, InstData, MemFlags, Opcode, Region, Space, Type, Value,
};
use crate::mir::logical::{Atomic, BarrierPart, Block, Dir, Logical, Prefetch, Scattered};
use crate::mir::lowered::Lowered;
use crate::mir::{MInst, SymbolPart, VFlag, VReg};
use cranelift_entity::packed_option::PackedOption;
use gantry_isa_gen::Type as GenType;

/// Place that a load is read into.
#[derive(Clone, Copy)]
pub(super) struct LoadInto {
    /// Value that has the lanes.
    result: Value,
    /// Its other lanes, and the disabled ones.
    old: Value,
    /// Offset of the lanes in bytes.
    at: u32,
}

impl Lower<'_> {
    pub(super) fn send(&mut self, logical: Logical) {
        self.code.push(Lowered::Send(logical));
    }

    /// Lowers an instruction whose operands no rule looks at.
    pub(super) fn lower_whole(&mut self, inst: Inst) {
        match self.func.dfg.data(inst) {
            InstData::Atomic { .. } => self.lower_atomic(inst),
            InstData::Image { .. } => self.lower_image(inst),
            InstData::ImageAtomic { .. } => self.lower_image_atomic(inst),
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
        if let Some(to) = self.loads_into[inst] {
            return self.gather_into(inst, to, mem, (addr, offset), mask);
        }
        let keeps = self.copy_old_lanes(v, old);
        let mask = mask.expand().map(|m| self.access_lanes(inst, m));
        let slots = self.used_slots(v);
        self.scattered(Dir::Read, mem, v, slots, (addr, offset), mask, keeps);
        if let Some(slots) = slots {
            self.unpack_slots(v, slots);
        }
    }

    /// Emits a read into a part of another value. The rest of it, and the disabled lanes, are the
    /// old value's.
    fn gather_into(
        &mut self,
        inst: Inst,
        to: LoadInto,
        mem: MemFlags,
        (addr, offset): (Value, i32),
        mask: PackedOption<Value>,
    ) {
        let Some(v) = self.func.dfg.first_result(inst) else {
            return;
        };
        self.copy_old_lanes(to.result, to.old.into());
        let mask = mask.expand().map(|m| self.access_lanes(inst, m));
        let data = Some(self.reg(to.result));
        let access = self.access(Dir::Read, mem, v, data, (addr, offset), mask);
        self.send(Logical::Scattered(Scattered {
            data_at: to.at,
            ..access
        }));
    }

    /// Returns the place in another value that a load without other uses is read into.
    ///
    /// The other value is a write of the loaded lanes to whole GRFs of a vector, from which the old
    /// lanes are read; or a select, under the mask of the load, between the loaded lanes and old
    /// ones that exist before the load.
    pub(super) fn load_into(&self, inst: Inst) -> Option<(Inst, LoadInto)> {
        let result = self.func.dfg.first_result(inst)?;
        let (loaded, mask, into) = match *self.func.dfg.data(inst) {
            InstData::WrRegion {
                args: [vector, new],
                region,
                index,
                mask,
                ..
            } if index.is_none() && mask.is_none() => {
                let to = LoadInto {
                    result,
                    old: vector,
                    at: region.offset.into(),
                };
                (new, None, to)
            }
            InstData::Ternary {
                opcode: Opcode::Select,
                args: [mask, new, old],
            } => (new, Some(mask), LoadInto { result, old, at: 0 }),
            _ => return None,
        };
        let load = self.func.dfg.def_inst(loaded)?;
        let InstData::Load {
            opcode: Opcode::Load,
            mem,
            addr,
            mask: own,
            old: kept,
            ..
        } = *self.func.dfg.data(load)
        else {
            return None;
        };
        let here = self.inst_block[load].expand() == Some(self.block);
        let alone = self.uses[loaded] == 1 && self.value_regs[loaded].is_none();
        if !here || !alone || self.chains.cut.contains(loaded) || self.has_slots(mem, loaded, addr)
        {
            return None;
        }
        // A read over undefined lanes begins its value.
        if self.func.dfg.is_undef(into.old) {
            return None;
        }
        let own = own.expand()?;
        let fits = match (mask, *self.func.dfg.data(inst)) {
            (Some(mask), _) => own == mask && self.is_before(into.old, load),
            (None, InstData::WrRegion { region, .. }) => {
                self.is_part_of(kept.expand()?, into.old, &region, self.ty(loaded))
            }
            _ => false,
        };
        fits.then_some((load, into))
    }

    /// Returns true if a value exists before an instruction of the current block.
    fn is_before(&self, v: Value, inst: Inst) -> bool {
        self.func.dfg.def_inst(v).is_none_or(|def| {
            self.inst_block[def].expand() != Some(self.block)
                || self.places[def] < self.places[inst]
        })
    }

    /// Returns true if a value is read from whole GRFs of a vector, at a region that is the same as
    /// another one, and neither is used elsewhere.
    fn is_part_of(&self, part: Value, vector: Value, at: &Region, ty: Type) -> bool {
        let Some(inst) = self.func.dfg.def_inst(part) else {
            return false;
        };
        let InstData::RdRegion {
            arg, region, index, ..
        } = *self.func.dfg.data(inst)
        else {
            return false;
        };
        let grf = self.grf.bytes;
        let whole = |n: u32| n.is_multiple_of(grf);
        let same = arg == vector && index.is_none() && region == *at;
        let placed = at.is_contiguous(ty.lanes()) && whole(at.offset.into()) && whole(ty.bytes());
        // Reads of the old vector behind the load would keep it beside the new one. The old lanes
        // may also be what the mask is computed from.
        let once = self.uses[vector] == 2 && self.uses[part] <= 2;
        same && placed && once
    }

    /// Emits an access to a value's lanes, in slots or in its own register. `mask` is as
    /// [`Lower::access_lanes`] returns it.
    #[expect(clippy::too_many_arguments, reason = "each is of another kind")]
    pub(super) fn scattered(
        &mut self,
        dir: Dir,
        mem: MemFlags,
        v: Value,
        slots: Option<VReg>,
        (addr, offset): (Value, i32),
        mask: Option<(VFlag, bool, bool)>,
        keeps: bool,
    ) {
        let access = self.access(dir, mem, v, slots, (addr, offset), mask);
        let ty = match slots {
            Some(_) => GenType::Ud,
            None => access.ty,
        };
        self.send(Logical::Scattered(Scattered {
            ty,
            keeps,
            ..access
        }));
    }

    /// Returns an access to a value's lanes, in its own register or another one. A read keeps
    /// disabled lanes.
    fn access(
        &mut self,
        dir: Dir,
        mem: MemFlags,
        v: Value,
        data: Option<VReg>,
        (addr, offset): (Value, i32),
        mask: Option<(VFlag, bool, bool)>,
    ) -> Scattered {
        let ty = self.ty(v);
        let lanes = self.ty(addr).lanes();
        Scattered {
            dir,
            mem,
            base: self.base_of(mem),
            lanes,
            count: ty.lanes() / lanes.max(1),
            ty: gen_signed(ty.scalar()),
            memory: ty.scalar().bytes(),
            mask: mask.map(|m| m.0),
            running: mask.is_some_and(|m| m.1),
            inverse: mask.is_some_and(|m| m.2),
            addr: self.reg(addr),
            offset,
            data: data.unwrap_or_else(|| self.reg(v)),
            data_at: 0,
            keeps: true,
        }
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
        let mask = mask.expand().map(|m| self.access_lanes(inst, m));
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

    pub(super) fn lower_barrier(&mut self, part: BarrierPart) {
        let header = self.header;
        self.send(Logical::Barrier {
            header,
            named: None,
            part,
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
            part: BarrierPart::Both,
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
