//! Memory and synchronization: logical sends.

use super::{Lower, gen_signed};
use crate::ir::{Inst, Opcode, Value};
use crate::lowered::Lowered;
use crate::sends::{Block, Dir, Logical, Scattered};
use crate::vcode::MInst;
use cranelift_entity::packed_option::PackedOption;

impl Lower<'_> {
    fn is_undef(&self, v: Value) -> bool {
        self.func
            .dfg
            .def_inst(v)
            .is_some_and(|i| self.func.dfg.data(i).opcode() == Opcode::Undef)
    }

    fn send(&mut self, logical: Logical) {
        self.code.push(Lowered::Send(logical));
    }

    pub(super) fn lower_gather(
        &mut self,
        inst: Inst,
        addr: Value,
        offset: i32,
        mask: PackedOption<Value>,
        old: PackedOption<Value>,
    ) {
        let Some(v) = self.func.dfg.first_result(inst) else {
            return;
        };
        let old = old.expand().filter(|&o| !self.is_undef(o));
        if let Some(old) = old {
            let (dst, src) = (self.reg(v), self.reg(old));
            self.emit(MInst::Copy { dst, src });
        }
        let ty = self.ty(v);
        let access = Scattered {
            dir: Dir::Read,
            lanes: ty.lanes(),
            ty: gen_signed(ty.scalar()),
            mask: mask.expand().map(|m| self.flag(m)),
            addr: self.reg(addr),
            offset,
            data: self.reg(v),
            keeps: old.is_some(),
        };
        self.send(Logical::Scattered(access));
    }

    pub(super) fn lower_scatter(
        &mut self,
        v: Value,
        addr: Value,
        offset: i32,
        mask: PackedOption<Value>,
    ) {
        let ty = self.ty(v);
        let access = Scattered {
            dir: Dir::Write,
            lanes: ty.lanes(),
            ty: gen_signed(ty.scalar()),
            mask: mask.expand().map(|m| self.flag(m)),
            addr: self.reg(addr),
            offset,
            data: self.reg(v),
            keeps: true,
        };
        self.send(Logical::Scattered(access));
    }

    pub(super) fn lower_block(&mut self, dir: Dir, v: Value, addr: Value, offset: i32) {
        let ty = self.ty(v);
        let access = Block {
            dir,
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
        self.send(Logical::Barrier { header });
    }

    pub(super) fn lower_fence(&mut self) {
        let header = self.header;
        self.send(Logical::Fence { header });
    }
}
