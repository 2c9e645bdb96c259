//! Block access: consecutive elements at one address.

use super::{Dir, Part, Payloads, Place, Sends, forms};
use crate::bale::{BaleSrc, Operation, View};
use crate::lowered::at;
use crate::vcode::{VReg, VirtReg};
use gantry_isa_gen::message::{AddrModel, BlockUnit, Cache, MsgOp};
use gantry_isa_gen::{ExecSize, Op, Type};

/// Bytes of an oword.
const OWORD: u32 = 16;
/// Owords of the longest block message.
const LONGEST: u32 = 8;

/// Consecutive elements from or to one 64-bit address, a multiple of the element size.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Block {
    /// Read or write.
    pub dir: Dir,
    /// Elements, any number.
    pub lanes: u32,
    /// Element type.
    pub ty: Type,
    /// A quadword.
    pub addr: VReg,
    /// Bytes added to the address.
    pub offset: i32,
    /// What is read, beginning the register's value, or written: neighbours from the register's start.
    pub data: VReg,
}

impl Sends<'_> {
    pub(super) fn block(&mut self, b: &Block) {
        match b.dir {
            Dir::Read => self.block_read(b),
            Dir::Write => self.block_write(b),
        }
    }

    /// Dword-aligned runs of whole GRFs come as blocks, the rest element by element.
    fn block_read(&mut self, b: &Block) {
        let size = b.ty.bytes();
        let all = b.lanes * size;
        let grf = self.out.grf.bytes;
        let mut starts = true;
        let mut done = 0;
        while size >= 4 && all - done >= grf {
            let owords = 1u32 << ((all - done) / OWORD).min(LONGEST).ilog2();
            let header = self.out.temp_grfs(1);
            let add = (i64::from(b.offset) + i64::from(done)) as u64 & 0xffff_ffff;
            let base = View::scalar(VirtReg::Grf(b.addr), 0, Type::Q).plain();
            let o = Operation::new(Op::Add, Type::Q, &[base, BaleSrc::Imm(add, Type::D)]);
            let to = View::scalar(VirtReg::Grf(header), 0, Type::Q);
            self.out.bale_at(to, true, 1, o);
            let op = MsgOp::Block {
                dir: Dir::Read,
                addr: AddrModel::FLAT,
                unit: BlockUnit::OwordUnaligned,
                count: owords as u8,
                cache: Cache::Data,
            };
            let exec = if owords * OWORD > grf {
                ExecSize::S16
            } else {
                ExecSize::S8
            };
            let p = Payloads {
                dst: Some((b.data, done)),
                src0: (header, 0),
                src1: None,
            };
            self.send(
                op,
                &Part::whole(exec),
                p,
                std::mem::replace(&mut starts, false),
            );
            done += owords * OWORD;
        }
        let first = done / size;
        for part in self.parts(b.lanes - first, None, forms::a64_channels(self.target)) {
            let part = Part {
                first: part.first + first,
                ..part
            };
            let grfs = self.address_grfs(&part);
            let src0 = (self.out.temp_grfs(grfs), 0);
            self.element_addresses(b, &part, src0);
            self.read_part(b.ty, b.data, &part, src0, &mut starts);
        }
    }

    /// Block writes want 16-byte alignment, which nobody promises: element by element.
    fn block_write(&mut self, b: &Block) {
        for part in self.parts(b.lanes, None, forms::a64_channels(self.target)) {
            if forms::splits(self.target) {
                let grfs = self.address_grfs(&part);
                let addr = (self.out.temp_grfs(grfs), 0);
                self.element_addresses(b, &part, addr);
                let data = self.data_payload(b.ty, b.data, &part);
                self.write_part(b.ty, &part, addr, Some(data));
            } else {
                let (addr, data) = self.joint_payload(&part, b.ty);
                self.element_addresses(b, &part, addr);
                self.data_to(b.ty, b.data, &part, data);
                self.write_part(b.ty, &part, addr, None);
            }
        }
    }

    fn address_grfs(&self, part: &Part) -> u32 {
        self.out.grf.hold(part.simd.channels() * Type::Q.bytes())
    }

    /// Addresses of consecutive elements: `base + offset + size * lane`.
    fn element_addresses(&mut self, b: &Block, part: &Part, to: Place) {
        let size = b.ty.bytes();
        let steps = self.out.temp(part.simd.channels() * 4);
        let numbers = self.out.packed(0x7654_3210).plain();
        for first in (0..part.lanes).step_by(8) {
            let n = (part.lanes - first).min(8);
            let view = at(steps, first * 4, n, Type::D);
            let shift = BaleSrc::Imm(u64::from(size.trailing_zeros()), Type::Uw);
            let o = Operation::new(Op::Shl, Type::D, &[numbers, shift]);
            self.out.bale_at(view, first == 0, n, o);
            let add =
                (i64::from(b.offset) + i64::from((part.first + first) * size)) as u64 & 0xffff_ffff;
            if add != 0 {
                let sum = [view.plain(), BaleSrc::Imm(add, Type::D)];
                self.out
                    .bale_at(view, false, n, Operation::new(Op::Add, Type::D, &sum));
            }
        }
        let base = View::scalar(VirtReg::Grf(b.addr), 0, Type::Q).plain();
        let steps = at(steps, 0, part.lanes, Type::D).plain();
        let sum = Operation::new(Op::Add, Type::Q, &[steps, base]);
        let view = at(to.0, to.1, part.lanes, Type::Q);
        self.out.bale_at(view, true, part.lanes, sum);
    }
}
