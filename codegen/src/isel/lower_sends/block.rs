//! Block access: consecutive elements at one address.

use super::scattered::model;
use super::{MessagePart, Payloads, SendLowering, lsc};
use crate::ir::Space;
use crate::mir::bale::{BaleSrc, Operation, View};
use crate::mir::logical::{Block, Dir, Scattered};
use crate::mir::lowered::at;
use crate::mir::{VReg, VirtReg};
use crate::target::Target;
use gantry_isa_gen::message::{BlockUnit, Cache, MsgOp};
use gantry_isa_gen::{ExecSize, Op, Type};

/// Bytes of an oword.
const OWORD: u32 = 16;
/// Owords of the longest block message.
const LONGEST: u32 = 8;
/// Byte of an oword message's header with the 32-bit offset.
const OFFSET_PLACE: u32 = 8;
/// Bytes of a hword, the unit of scratch messages.
pub(super) const HWORD: u32 = 32;
/// Hwords of the longest scratch message (PRM, "Scratch Block").
pub(super) fn most_hwords(target: &Target) -> u32 {
    if target.split_sends() { 8 } else { 4 }
}
/// Number of offsets of a scratch message, whose field has 12 bits.
pub(super) const HWORD_OFFSETS: u64 = 4096;

/// Returns the hword in scratch of a block's bytes from `done` on. `None` if no scratch message of
/// `hwords` reaches it.
fn scratch_hwords(b: &Block, done: u32, hwords: u32) -> Option<u16> {
    let at = known_offset(b, done).filter(|_| b.mem.space == Space::Scratch)?;
    let hword = at / u64::from(HWORD);
    let fits = at.is_multiple_of(u64::from(HWORD)) && hword + u64::from(hwords) <= HWORD_OFFSETS;
    fits.then_some(hword as u16)
}

/// Returns the 32-bit address `done` bytes after the start of a block, if it is a constant.
fn known_offset(b: &Block, done: u32) -> Option<u64> {
    let at = b.known.filter(|_| b.mem.space != Space::Global)?;
    let at = at.wrapping_add_signed(i64::from(b.offset) + i64::from(done));
    Some(at & 0xffff_ffff)
}

impl SendLowering<'_> {
    /// Emits block messages for runs of owords, and scattered messages for the rest. The address of
    /// a block must be aligned to dwords for reads and to owords for writes. Whole GRFs at a
    /// constant address in scratch have a message of their own.
    pub(super) fn block(&mut self, b: &Block) {
        let size = b.ty.bytes();
        let wanted = match b.dir {
            Dir::Read => Type::Ud.bytes(),
            Dir::Write => OWORD,
        };
        let align = match b.known {
            Some(at) if b.mem.space != Space::Global => 1 << at.trailing_zeros().min(12),
            _ => b.mem.alignment(size),
        };
        if self.target.features().lsc {
            return self.runs(b, align);
        }
        let aligned = align >= wanted
            && (b.offset as u32).is_multiple_of(wanted)
            && b.mem.space != Space::Slm;
        let mut done = 0;
        let mut starts = b.dir == Dir::Read;
        let most = most_hwords(self.target);
        while b.lanes * size - done >= HWORD {
            let hwords = 1u32 << ((b.lanes * size - done) / HWORD).min(most).ilog2();
            let Some(at) = scratch_hwords(b, done, hwords) else {
                break;
            };
            self.scratch(b, done, hwords, at, std::mem::replace(&mut starts, false));
            done += hwords * HWORD;
        }
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

    /// Emits messages of the load/store cache, in all spaces: runs of dwords, if the address is
    /// aligned to them.
    fn runs(&mut self, b: &Block, align: u32) {
        let size = b.ty.bytes();
        let (dword, all) = (Type::Ud.bytes(), b.lanes * size);
        let mut own = *b;
        if b.mem.space == Space::Scratch {
            self.surface = own.base.take();
        }
        let aligned = align >= dword && (b.offset as u32).is_multiple_of(dword);
        let mut done = 0;
        let mut starts = b.dir == Dir::Read;
        while aligned && all - done >= dword {
            let offset = (b.offset as u32).wrapping_add(done);
            let align = align.min(1 << offset.trailing_zeros().min(12));
            let (op, bytes) = lsc::run(b.dir, b.mem, (all - done) / dword * dword, align);
            let address = self.run_address(&own, done);
            let starts = std::mem::replace(&mut starts, false);
            self.block_message(b, op, ExecSize::S1, address, done, bytes, starts);
            done += bytes;
        }
        self.surface = None;
        let first = done / size;
        if first < b.lanes {
            self.elements(b, first, starts);
        }
    }

    /// Returns a register that starts with the address `done` bytes after the start of a block.
    fn run_address(&mut self, b: &Block, done: u32) -> VReg {
        let (_, ty) = model(b.mem.space);
        let to = self.out.temp_grfs(1);
        let at = View::scalar(VirtReg::grf(to), 0, ty);
        let mut sum = View::scalar(VirtReg::grf(b.addr), 0, ty).plain();
        let mut starts = true;
        let mut add = (i64::from(b.offset) + i64::from(done)) as u64 & 0xffff_ffff;
        if let Some(known) = known_offset(b, done) {
            (sum, add) = (BaleSrc::Imm(known, Type::Ud), 0);
        }
        let base = b.base.map(|r| View::scalar(VirtReg::grf(r), 0, ty).plain());
        let add = (add != 0).then_some(BaleSrc::Imm(add, Type::D));
        for by in base.into_iter().chain(add) {
            let o = Operation::new(Op::Add, ty, &[sum, by]);
            self.out
                .bale_at(at, std::mem::replace(&mut starts, false), 1, o);
            sum = at.plain();
        }
        if starts {
            self.out
                .bale_at(at, true, 1, Operation::new(Op::Mov, ty, &[sum]));
        }
        to
    }

    /// Emits the header of an oword message, with the address.
    ///
    /// A 32-bit address is in dword 2, in bytes for reads and in owords for writes. If it is no
    /// offset in a surface, the base of the thread's scratch is in dword 5, as in the thread
    /// header. The rest of a header for a surface is ignored: Intel's compiler,
    /// `translateVISAOwordLoadInst`, writes only that dword.
    fn oword_header(&mut self, b: &Block, done: u32, to: VReg) {
        let add = (i64::from(b.offset) + i64::from(done)) as u64 & 0xffff_ffff;
        let (_, ty) = model(b.mem.space);
        let base = View::scalar(VirtReg::grf(b.addr), 0, ty).plain();
        let o = match add {
            0 => Operation::new(Op::Mov, ty, &[base]),
            add => Operation::new(Op::Add, ty, &[base, BaleSrc::Imm(add, Type::D)]),
        };
        if b.mem.space == Space::Global {
            let at = View::scalar(VirtReg::grf(to), 0, ty);
            return self.out.bale_at(at, true, 1, o);
        }
        let surface = matches!(b.mem.space, Space::Surface(_));
        if !surface {
            let dwords = self.out.grf.bytes / Type::Ud.bytes();
            let thread = at(b.header, 0, dwords, Type::Ud).plain();
            let copy = Operation::new(Op::Mov, Type::Ud, &[thread]);
            self.out.bale(to, dwords, copy);
        }
        let place = View::scalar(VirtReg::grf(to), OFFSET_PLACE, ty);
        if let Some(known) = known_offset(b, done) {
            let known = match b.dir {
                Dir::Read => known,
                Dir::Write => known / u64::from(OWORD),
            };
            let o = Operation::new(Op::Mov, ty, &[BaleSrc::Imm(known, Type::Ud)]);
            return self.out.bale_at(place, surface, 1, o);
        }
        self.out.bale_at(place, surface, 1, o);
        if b.dir == Dir::Write {
            let place = View {
                ty: Type::Ud,
                ..place
            };
            let shift = BaleSrc::Imm(u64::from(OWORD.ilog2()), Type::Uw);
            let o = Operation::new(Op::Shr, Type::Ud, &[place.plain(), shift]);
            self.out.bale_at(place, false, 1, o);
        }
    }

    /// Emits one block message. A run shorter than a GRF, or one that does not start at a GRF, goes
    /// through a temporary.
    fn owords(&mut self, b: &Block, done: u32, owords: u32, starts: bool) {
        let (addr, _) = model(b.mem.space);
        let op = MsgOp::Block {
            dir: b.dir,
            addr,
            unit: match b.dir {
                Dir::Read => BlockUnit::OwordUnaligned,
                Dir::Write => BlockUnit::Oword,
            },
            count: owords as u8,
            cache: Cache::Data,
        };
        let header = self.out.temp_grfs(1);
        self.oword_header(b, done, header);
        let exec = self.block_exec(owords * OWORD);
        self.block_message(b, op, exec, header, done, owords * OWORD, starts);
    }

    /// Emits one message of whole GRFs, with the thread header as its header.
    fn scratch(&mut self, b: &Block, done: u32, hwords: u32, at: u16, starts: bool) {
        let op = MsgOp::Scratch {
            dir: b.dir,
            count: hwords as u8,
            offset: at,
            dword_mode: false,
        };
        let exec = self.block_exec(hwords * HWORD);
        self.block_message(b, op, exec, b.header, done, hwords * HWORD, starts);
    }

    /// Returns the exec size of the `send` of a block of `bytes` bytes.
    fn block_exec(&self, bytes: u32) -> ExecSize {
        if bytes > self.out.grf.bytes {
            ExecSize::S16
        } else {
            ExecSize::S8
        }
    }

    /// Emits a message of `bytes` bytes of the data from a position on.
    #[allow(
        clippy::too_many_arguments,
        reason = "a message and what of the data it moves"
    )]
    fn block_message(
        &mut self,
        b: &Block,
        op: MsgOp,
        exec: ExecSize,
        header: VReg,
        done: u32,
        bytes: u32,
        starts: bool,
    ) {
        let grf = self.out.grf;
        let part = MessagePart::whole(exec);
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
            (Dir::Write, _) if self.target.split_sends() => {
                let mut data = (b.data, done);
                if !direct {
                    data = (self.out.temp_grfs(grf.hold(bytes)), 0);
                    let to = at(data.0, 0, dwords, Type::Ud);
                    let mov = Operation::new(Op::Mov, Type::Ud, &[own.plain()]);
                    self.out.bale_at(to, true, dwords, mov);
                }
                let p = Payloads {
                    dst: None,
                    src0,
                    src1: Some(data),
                };
                self.send(op, &part, p, false);
            }
            (Dir::Write, _) => {
                // Header and data are one payload.
                let t = self.out.temp_grfs(1 + grf.hold(bytes));
                let (from, head, n) = match b.mem.space {
                    Space::Global => {
                        let scalar = |r| View::scalar(VirtReg::grf(r), 0, Type::Q);
                        (scalar(header), scalar(t), 1)
                    }
                    Space::Surface(_) => {
                        let scalar = |r| View::scalar(VirtReg::grf(r), OFFSET_PLACE, Type::Ud);
                        (scalar(header), scalar(t), 1)
                    }
                    _ => {
                        let n = grf.bytes / Type::Ud.bytes();
                        (at(header, 0, n, Type::Ud), at(t, 0, n, Type::Ud), n)
                    }
                };
                let copy = Operation::new(Op::Mov, head.ty, &[from.plain()]);
                self.out.bale_at(head, true, n, copy);
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

    /// Accesses the elements from `first` on at addresses of their own: `base + size * element`.
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
        // The rest is a value of its own, unless it is all elements.
        let whole = first == 0;
        let data = if whole {
            b.data
        } else {
            self.out.temp(lanes * size)
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
            base: b.base,
            lanes,
            count: 1,
            ty: b.ty,
            memory: b.ty.bytes(),
            addr,
            offset,
            data,
            mask: None,
            running: false,
            data_at: 0,
            inverse: false,
            keeps: b.dir == Dir::Write,
        });
        if !whole && b.dir == Dir::Read {
            let mov = Operation::new(Op::Mov, b.ty, &[rest.plain()]);
            self.out.bale_at(own, starts, lanes, mov);
        }
    }

    fn element_addresses(&mut self, b: &Block, lanes: u32, to: VReg) {
        let (_, ty) = model(b.mem.space);
        let base = View::scalar(VirtReg::grf(b.addr), 0, ty).plain();
        if lanes == 1 {
            return self.out.bale(to, 1, Operation::new(Op::Mov, ty, &[base]));
        }
        let size = b.ty.bytes();
        // Words hold the offsets, and dwords are what is added to qwords.
        let ty_of_steps = match ty.bytes() {
            4 if lanes * size <= 1 << 15 => Type::Uw,
            _ => Type::D,
        };
        let steps = self.element_offsets(size, lanes, ty_of_steps).plain();
        self.out
            .bale(to, lanes, Operation::new(Op::Add, ty, &[steps, base]));
    }

    /// Returns the offsets in bytes of `lanes` consecutive elements. All messages of a block share
    /// them.
    fn element_offsets(&mut self, size: u32, lanes: u32, ty: Type) -> View {
        let mut known = self.offsets.iter();
        if let Some(o) = known.find(|o| o.size == size && o.ty == ty && o.lanes >= lanes) {
            return at(o.reg, 0, lanes, ty);
        }
        let reg = self.out.temp(lanes * ty.bytes());
        let numbers = self.out.packed(0x7654_3210).plain();
        let shift = BaleSrc::Imm(u64::from(size.trailing_zeros()), Type::Uw);
        let first = lanes.min(8);
        let o = Operation::new(Op::Shl, ty, &[numbers, shift]);
        self.out.bale_at(at(reg, 0, first, ty), true, first, o);
        let mut done = first;
        while done < lanes {
            // As many again, all by one distance.
            let n = done.min(lanes - done);
            let sum = [
                at(reg, 0, n, ty).plain(),
                BaleSrc::Imm(u64::from(done * size), ty),
            ];
            let o = Operation::new(Op::Add, ty, &sum);
            self.out
                .bale_at(at(reg, done * ty.bytes(), n, ty), false, n, o);
            done += n;
        }
        if lanes * ty.bytes() <= 2 * self.out.grf.bytes {
            self.offsets.push(ElementOffsets {
                size,
                lanes,
                ty,
                reg,
            });
        }
        at(reg, 0, lanes, ty)
    }
}

/// Register with the offsets of consecutive elements.
pub(super) struct ElementOffsets {
    size: u32,
    lanes: u32,
    ty: Type,
    reg: VReg,
}
