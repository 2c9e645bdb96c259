//! Block access: consecutive elements at one address.

use super::scattered::model;
use super::{Dir, Part, Payloads, Scattered, Sends, forms};
use crate::bale::{BaleSrc, Operation, View};
use crate::ir::{MemFlags, Space};
use crate::lowered::at;
use crate::vcode::{VReg, VirtReg};
use gantry_isa_gen::message::{AddrModel, BlockUnit, Cache, MsgOp};
use gantry_isa_gen::{ExecSize, Op, Type};

/// Bytes of an oword.
const OWORD: u32 = 16;
/// Owords of the longest block message.
const LONGEST: u32 = 8;

/// Consecutive elements from or to one address, a multiple of the element size.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Block {
    /// Read or write.
    pub dir: Dir,
    /// Where, and what is promised.
    pub mem: MemFlags,
    /// Elements, any number.
    pub lanes: u32,
    /// Element type.
    pub ty: Type,
    /// One address, as wide as the space's are.
    pub addr: VReg,
    /// Bytes added to the address.
    pub offset: i32,
    /// What is read, beginning the register's value, or written: neighbours from the register's start.
    pub data: VReg,
}

impl Sends<'_> {
    /// Runs of owords come as blocks where the address is aligned as those want it, to dwords for reads and to owords for writes; the rest
    /// element by element.
    pub(super) fn block(&mut self, b: &Block) {
        let size = b.ty.bytes();
        let wanted = match b.dir {
            Dir::Read => Type::Ud.bytes(),
            Dir::Write => OWORD,
        };
        let aligned = b.mem.alignment(size) >= wanted
            && (b.offset as u32).is_multiple_of(wanted)
            && b.mem.space == Space::Global;
        let mut done = 0;
        let mut starts = b.dir == Dir::Read;
        while aligned && b.lanes * size - done >= OWORD {
            let owords = 1u32 << ((b.lanes * size - done) / OWORD).min(LONGEST).ilog2();
            self.owords(b, done, owords, std::mem::replace(&mut starts, false));
            done += owords * OWORD;
        }
        let first = done / size;
        if first < b.lanes {
            self.elements(b, first, starts);
        }
    }

    /// One block message. A run shorter than a register, or one that does not start at a register, goes through a temporary.
    fn owords(&mut self, b: &Block, done: u32, owords: u32, starts: bool) {
        let grf = self.out.grf;
        let bytes = owords * OWORD;
        let header = self.out.temp_grfs(1);
        let add = (i64::from(b.offset) + i64::from(done)) as u64 & 0xffff_ffff;
        let base = View::scalar(VirtReg::Grf(b.addr), 0, Type::Q).plain();
        let o = match add {
            0 => Operation::new(Op::Mov, Type::Q, &[base]),
            add => Operation::new(Op::Add, Type::Q, &[base, BaleSrc::Imm(add, Type::D)]),
        };
        let to = View::scalar(VirtReg::Grf(header), 0, Type::Q);
        self.out.bale_at(to, true, 1, o);
        let op = MsgOp::Block {
            dir: b.dir,
            addr: AddrModel::FLAT,
            unit: match b.dir {
                Dir::Read => BlockUnit::OwordUnaligned,
                Dir::Write => BlockUnit::Oword,
            },
            count: owords as u8,
            cache: Cache::Data,
        };
        let exec = match bytes > grf.bytes {
            true => ExecSize::S16,
            false => ExecSize::S8,
        };
        let part = Part::whole(exec);
        let dwords = bytes / Type::Ud.bytes();
        let own = at(b.data, done, dwords, Type::Ud);
        let direct = bytes >= grf.bytes && done.is_multiple_of(grf.bytes);
        let src0 = (header, 0);
        match (b.dir, direct) {
            (Dir::Read, true) => {
                let p = Payloads {
                    dst: Some((b.data, done)),
                    src0,
                    src1: None,
                };
                self.send(op, &part, p, starts);
            }
            (Dir::Read, false) => {
                let t = self.out.temp_grfs(grf.hold(bytes));
                let p = Payloads {
                    dst: Some((t, 0)),
                    src0,
                    src1: None,
                };
                self.send(op, &part, p, true);
                let from = at(t, 0, dwords, Type::Ud).plain();
                let mov = Operation::new(Op::Mov, Type::Ud, &[from]);
                self.out.bale_at(own, starts, dwords, mov);
            }
            (Dir::Write, true) if forms::splits(self.target) => {
                let p = Payloads {
                    dst: None,
                    src0,
                    src1: Some((b.data, done)),
                };
                self.send(op, &part, p, false);
            }
            (Dir::Write, _) => {
                // Header and data in one payload.
                let t = self.out.temp_grfs(1 + grf.hold(bytes));
                let base = View::scalar(VirtReg::Grf(header), 0, Type::Q).plain();
                let head = View::scalar(VirtReg::Grf(t), 0, Type::Q);
                self.out
                    .bale_at(head, true, 1, Operation::new(Op::Mov, Type::Q, &[base]));
                let mov = Operation::new(Op::Mov, Type::Ud, &[own.plain()]);
                let to = at(t, grf.bytes, dwords, Type::Ud);
                self.out.bale_at(to, false, dwords, mov);
                let p = Payloads {
                    dst: None,
                    src0: (t, 0),
                    src1: None,
                };
                self.send(op, &part, p, false);
            }
        }
    }

    /// The elements from `first` on by their own addresses: `base + size * element`.
    fn elements(&mut self, b: &Block, first: u32, starts: bool) {
        let lanes = b.lanes - first;
        let size = b.ty.bytes();
        let (_, ty) = model(b.mem.space);
        let grf = self.out.grf;
        let addr = self.out.temp(grf.hold(lanes * ty.bytes()) * grf.bytes);
        let offset = i64::from(b.offset) + i64::from(first * size);
        let Ok(offset) = i32::try_from(offset) else {
            return self.fail(format!("an offset of {offset} bytes"));
        };
        self.element_addresses(b, lanes, addr);
        // The rest as a value of its own, where it is not the whole.
        let whole = first == 0;
        let data = match whole {
            true => b.data,
            false => self.out.temp(lanes * size),
        };
        let own = at(b.data, first * size, lanes, b.ty);
        let rest = at(data, 0, lanes, b.ty);
        if !whole && b.dir == Dir::Write {
            let mov = Operation::new(Op::Mov, b.ty, &[own.plain()]);
            self.out.bale_at(rest, true, lanes, mov);
        }
        self.scattered(&Scattered {
            dir: b.dir,
            mem: b.mem,
            lanes,
            count: 1,
            ty: b.ty,
            addr,
            offset,
            data,
            mask: None,
            keeps: b.dir == Dir::Write,
        });
        if !whole && b.dir == Dir::Read {
            let mov = Operation::new(Op::Mov, b.ty, &[rest.plain()]);
            self.out.bale_at(own, starts, lanes, mov);
        }
    }

    fn element_addresses(&mut self, b: &Block, lanes: u32, to: VReg) {
        let (_, ty) = model(b.mem.space);
        let base = View::scalar(VirtReg::Grf(b.addr), 0, ty).plain();
        if lanes == 1 {
            return self.out.bale(to, 1, Operation::new(Op::Mov, ty, &[base]));
        }
        let size = b.ty.bytes();
        let steps = self.out.temp(lanes.next_multiple_of(8) * 4);
        let numbers = self.out.packed(0x7654_3210).plain();
        for first in (0..lanes).step_by(8) {
            let n = (lanes - first).min(8);
            let view = at(steps, first * 4, n, Type::D);
            let shift = BaleSrc::Imm(u64::from(size.trailing_zeros()), Type::Uw);
            let o = Operation::new(Op::Shl, Type::D, &[numbers, shift]);
            self.out.bale_at(view, first == 0, n, o);
            if first != 0 {
                let sum = [view.plain(), BaleSrc::Imm(u64::from(first * size), Type::D)];
                let o = Operation::new(Op::Add, Type::D, &sum);
                self.out.bale_at(view, false, n, o);
            }
        }
        let steps = at(steps, 0, lanes, Type::D).plain();
        self.out
            .bale(to, lanes, Operation::new(Op::Add, ty, &[steps, base]));
    }
}
