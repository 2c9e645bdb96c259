//! Messages: scattered and block access to memory, barriers, fences.

use super::{Lower, gen_signed};
use crate::bale::{Bale, BaleSrc, Operation, View};
use crate::ir::{Inst, Opcode, Value};
use crate::lower::Lowered;
use crate::operand::{
    dst, flag_dst, flag_src, flag_type, grf_dst, imm, lane_mask, scalar_src, uniform,
};
use crate::payload::GRF;
use crate::vcode::{MInst, VFlag, VReg, VirtReg};
use cranelift_entity::packed_option::PackedOption;
use gantry_isa_gen::message::{AddrModel, BlockUnit, Cache, Dir, Message, MsgOp, Simd};
use gantry_isa_gen::{
    self as isa, Arf, Desc, Dst, ExecSize, InstOpts, Op, PredCtrl, Predicate, Reg, RegRef, Region,
    SendDescs, Src, SrcMods, Type,
};

/// One message's share of a scattered access.
struct Part {
    first: u32,
    lanes: u32,
    simd: Simd,
    exec: ExecSize,
    pred: Option<VFlag>,
}

/// A send's operands: GRF-aligned places.
#[derive(Clone, Copy)]
struct Payloads {
    dst: Option<(VReg, u32)>,
    src0: (VReg, u32),
    src1: Option<(VReg, u32)>,
}

fn plain(view: View) -> BaleSrc {
    BaleSrc::View(view, SrcMods::default())
}

fn at(reg: VReg, offset: u32, lanes: u32, ty: Type) -> View {
    View {
        offset,
        ..View::contiguous(VirtReg::Grf(reg), lanes, ty)
    }
}

impl Lower<'_> {
    fn is_undef(&self, v: Value) -> bool {
        self.func
            .dfg
            .def_inst(v)
            .is_some_and(|i| self.func.dfg.data(i).opcode() == Opcode::Undef)
    }

    /// Cuts lanes into messages of 16 and 8; a rest that is no power of two gets a constant predicate.
    fn parts(&mut self, inst: Inst, lanes: u32, mask: Option<Value>) -> Vec<Part> {
        let mask = mask.map(|m| self.flag(m));
        let mut out = Vec::new();
        let mut first = 0;
        while first < lanes {
            let n = (lanes - first).min(16);
            let simd = if n > 8 { Simd::S16 } else { Simd::S8 };
            let Some(exec) = ExecSize::new(n.next_power_of_two()) else {
                self.fail(Some(inst), format!("{lanes} lanes"));
                break;
            };
            let whole = exec.channels() == n;
            let pred = match mask {
                None if whole => None,
                None => {
                    let f = self.temp_flag(16);
                    self.const_flag(f, 16, lane_mask(n));
                    Some(f)
                }
                Some(m) => Some(self.part_of_mask(m, lanes, first, n, whole)),
            };
            out.push(Part {
                first,
                lanes: n,
                simd,
                exec,
                pred,
            });
            first += n;
        }
        out
    }

    /// Lanes `first..first + n` of a mask as a flag of its own, clear above them.
    fn part_of_mask(&mut self, mask: VFlag, lanes: u32, first: u32, n: u32, whole: bool) -> VFlag {
        if first == 0 && whole && lanes <= 16 {
            return mask;
        }
        let ty = flag_type(lanes);
        let r = self.temp(4);
        self.emit_op(uniform(
            Op::Shr,
            grf_dst(r, Type::Ud),
            [
                flag_src(mask, ty),
                imm(u64::from(first), Type::Uw),
                Src::None,
            ],
        ));
        let f = self.temp_flag(16);
        self.emit_op(uniform(
            Op::And,
            flag_dst(f, Type::Uw),
            [
                scalar_src(r, 0, Type::Uw),
                imm(lane_mask(n), Type::Uw),
                Src::None,
            ],
        ));
        f
    }

    fn send(&mut self, inst: Inst, op: MsgOp, part: &Part, p: Payloads, starts: bool) {
        let split = p.src1.is_some();
        let message = if split {
            Message::split(self.platform, op)
        } else {
            Message::new(self.platform, op)
        };
        let (ex, desc) = match message.descs(self.platform) {
            Ok(d) => d,
            Err(e) => return self.fail(Some(inst), e),
        };
        let null = (VirtReg::NULL, 0);
        let place = |r: Option<(VReg, u32)>| r.map_or(null, |(r, at)| (VirtReg::Grf(r), at));
        let src = |(reg, at): (VirtReg, u32)| Src::Direct {
            at: RegRef::new(reg, at as u16),
            region: Region::SCALAR,
            ty: Type::Ud,
            mods: SrcMods::default(),
        };
        let (dreg, dat) = place(p.dst);
        let mut send = isa::Inst::new(if split { Op::Sends } else { Op::Send }, part.exec);
        send.no_mask = true;
        send.pred = part.pred.map(|f| Predicate {
            flag: RegRef::new(VirtReg::Flag(f), 0),
            inverse: false,
            ctrl: PredCtrl::Sequential,
        });
        send.dst = Dst::Direct {
            at: RegRef::new(dreg, dat as u16),
            hs: 1,
            ty: Type::Ud,
        };
        send.srcs[0] = src((VirtReg::Grf(p.src0.0), p.src0.1));
        if split {
            send.srcs[1] = src(place(p.src1));
        }
        send.send = Some(SendDescs {
            ex: Desc::Imm(ex),
            desc: Desc::Imm(desc),
            src1_len: None,
        });
        self.emit(MInst::Op {
            inst: send,
            starts: starts && part.pred.is_none(),
            keeps: None,
        });
    }

    /// A part's addresses as a payload: the value's own register where it already is one.
    fn address_payload(&mut self, addr: Value, offset: i32, part: &Part) -> (VReg, u32) {
        let needed = part.simd.channels() * 8;
        let reg = self.reg(addr);
        let start = part.first * 8;
        if offset == 0 && self.vregs[reg].bytes >= start + needed {
            return (reg, start);
        }
        let t = self.temp_grfs(needed / GRF);
        let src = plain(at(reg, start, part.lanes, Type::Q));
        let o = match i16::try_from(offset) {
            Ok(0) => Operation::new(Op::Mov, Type::Q, &[src]),
            Ok(w) => {
                let i = BaleSrc::Imm(u64::from(w as u16), Type::W);
                Operation::new(Op::Add, Type::Q, &[src, i])
            }
            Err(_) => {
                let i = BaleSrc::Imm(u64::from(offset as u32), Type::D);
                Operation::new(Op::Add, Type::Q, &[src, i])
            }
        };
        self.bale(t, part.lanes, o);
        (t, 0)
    }

    /// Addresses of consecutive elements: `base + offset + size * lane`.
    fn element_addresses(
        &mut self,
        base: Value,
        offset: i64,
        size: u32,
        part: &Part,
    ) -> (VReg, u32) {
        let grfs = part.simd.channels() * 8 / GRF;
        let (t, steps) = (self.temp_grfs(grfs), self.temp(part.simd.channels() * 4));
        for first in (0..part.lanes).step_by(8) {
            // All eight, whatever the part needs: the register has room, and the vector immediate asks for it.
            let n = 8;
            let view = at(steps, first * 4, n, Type::D);
            let v = Operation::new(Op::Mov, Type::D, &[BaleSrc::Imm(0x7654_3210, Type::V)]);
            self.bale_at(view, first == 0, n, v);
            if size > 1 {
                let shift = BaleSrc::Imm(u64::from(size.trailing_zeros()), Type::Uw);
                let o = Operation::new(Op::Shl, Type::D, &[plain(view), shift]);
                self.bale_at(view, false, n, o);
            }
            let add = (offset + i64::from((part.first + first) * size)) as u64 & 0xffff_ffff;
            if add != 0 {
                let sum = [plain(view), BaleSrc::Imm(add, Type::D)];
                self.bale_at(view, false, n, Operation::new(Op::Add, Type::D, &sum));
            }
        }
        let base = self.reg(base);
        let scalar = plain(View::scalar(VirtReg::Grf(base), 0, Type::Q));
        let view = at(steps, 0, part.lanes, Type::D);
        self.bale(
            t,
            part.lanes,
            Operation::new(Op::Add, Type::Q, &[plain(view), scalar]),
        );
        (t, 0)
    }

    fn scattered(&self, dir: Dir, bytes: u32, simd: Simd) -> MsgOp {
        let addr = AddrModel::FLAT;
        match bytes {
            8 => MsgOp::QwordScattered {
                dir,
                addr,
                count: 1,
                simd,
            },
            4 => MsgOp::DwordScattered {
                dir,
                addr,
                count: 1,
                simd,
                cache: Cache::Data,
            },
            n => MsgOp::ByteScattered {
                dir,
                addr,
                bytes: n as u8,
                simd,
            },
        }
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
        let lanes = self.ty(v).lanes();
        let mut starts = true;
        if let Some(old) = old.expand()
            && !self.is_undef(old)
        {
            let (dst, src) = (self.reg(v), self.reg(old));
            self.emit(MInst::Copy { dst, src });
            starts = false;
        }
        for part in self.parts(inst, lanes, mask.expand()) {
            let src0 = self.address_payload(addr, offset, &part);
            self.read_part(inst, v, &part, src0, &mut starts);
        }
    }

    /// One scattered read into its lanes of a value.
    fn read_part(
        &mut self,
        inst: Inst,
        v: Value,
        part: &Part,
        src0: (VReg, u32),
        starts: &mut bool,
    ) {
        let ty = self.ty(v);
        let bytes = ty.scalar().bytes();
        let out = self.reg(v);
        let op = self.scattered(Dir::Read, bytes, part.simd);
        let slot = bytes.max(4);
        let place = part.first * bytes;
        let direct = bytes >= 4 && part.lanes == part.simd.channels() && place.is_multiple_of(GRF);
        if direct {
            let p = Payloads {
                dst: Some((out, place)),
                src0,
                src1: None,
            };
            let begins = std::mem::replace(starts, false);
            // Disabled lanes keep what they had, unless there was nothing.
            if begins && part.pred.is_some() {
                self.emit(MInst::Start { dst: out });
            }
            self.send(inst, op, part, p, begins);
            return;
        }
        let t = self.temp_grfs(part.simd.channels() * slot / GRF);
        let p = Payloads {
            dst: Some((t, 0)),
            src0,
            src1: None,
        };
        if part.pred.is_some() {
            self.emit(MInst::Start { dst: t });
        }
        self.send(inst, op, part, p, true);
        let wide = gen_signed(ty.scalar());
        let from = match bytes {
            4 | 8 => at(t, 0, part.lanes, wide),
            _ => at(t, 0, part.lanes, Type::Ud).narrowed(wide),
        };
        self.code.push(Lowered::Bale(Bale {
            lanes: part.lanes,
            operation: Operation::new(Op::Mov, wide, &[plain(from)]),
            dst: at(out, place, part.lanes, wide),
            starts: std::mem::replace(starts, false),
            mask: part.pred,
            flag: None,
            under: None,
        }));
    }

    pub(super) fn lower_scatter(
        &mut self,
        inst: Inst,
        v: Value,
        addr: Value,
        offset: i32,
        mask: PackedOption<Value>,
    ) {
        let lanes = self.ty(v).lanes();
        for part in self.parts(inst, lanes, mask.expand()) {
            let src0 = self.address_payload(addr, offset, &part);
            self.write_part(inst, v, &part, src0);
        }
    }

    fn write_part(&mut self, inst: Inst, v: Value, part: &Part, src0: (VReg, u32)) {
        let ty = self.ty(v);
        let bytes = ty.scalar().bytes();
        let slot = bytes.max(4);
        let needed = part.simd.channels() * slot;
        let reg = self.reg(v);
        let place = part.first * bytes;
        let whole =
            bytes >= 4 && self.vregs[reg].bytes >= place + needed && place.is_multiple_of(GRF);
        let src1 = if whole {
            (reg, place)
        } else {
            let t = self.temp_grfs(needed / GRF);
            let (from, to) = match bytes {
                1 => (Type::Ub, Type::Ud),
                2 => (Type::Uw, Type::Ud),
                4 => (Type::D, Type::D),
                _ => (Type::Q, Type::Q),
            };
            let src = plain(at(reg, place, part.lanes, from));
            self.bale(t, part.lanes, Operation::new(Op::Mov, to, &[src]));
            (t, 0)
        };
        let op = self.scattered(Dir::Write, bytes, part.simd);
        let p = Payloads {
            dst: None,
            src0,
            src1: Some(src1),
        };
        self.send(inst, op, part, p, false);
    }

    /// Dword-aligned runs of whole GRFs come as blocks, the rest element by element.
    pub(super) fn lower_block_read(&mut self, inst: Inst, addr: Value, offset: i32) {
        let Some(v) = self.func.dfg.first_result(inst) else {
            return;
        };
        let ty = self.ty(v);
        let size = ty.scalar().bytes();
        let out = self.reg(v);
        let mut starts = true;
        let mut done = 0;
        while size >= 4 && ty.bytes() - done >= GRF {
            let owords = 1u32 << ((ty.bytes() - done) / 16).min(8).ilog2();
            let header = self.temp_grfs(1);
            let base = self.reg(addr);
            let add = BaleSrc::Imm(
                (i64::from(offset) + i64::from(done)) as u64 & 0xffff_ffff,
                Type::D,
            );
            let src = plain(View::scalar(VirtReg::Grf(base), 0, Type::Q));
            let o = Operation::new(Op::Add, Type::Q, &[src, add]);
            self.bale_at(View::scalar(VirtReg::Grf(header), 0, Type::Q), true, 1, o);
            let op = MsgOp::Block {
                dir: Dir::Read,
                addr: AddrModel::FLAT,
                unit: BlockUnit::OwordUnaligned,
                count: owords as u8,
                cache: Cache::Data,
            };
            let part = Part {
                first: 0,
                lanes: 8,
                simd: Simd::S8,
                exec: if owords > 2 {
                    ExecSize::S16
                } else {
                    ExecSize::S8
                },
                pred: None,
            };
            let p = Payloads {
                dst: Some((out, done)),
                src0: (header, 0),
                src1: None,
            };
            self.send(inst, op, &part, p, std::mem::replace(&mut starts, false));
            done += owords * 16;
        }
        for part in self.parts(inst, (ty.bytes() - done) / size.max(1), None) {
            let part = Part {
                first: part.first + done / size.max(1),
                ..part
            };
            let src0 = self.element_addresses(addr, i64::from(offset), size, &part);
            self.read_part(inst, v, &part, src0, &mut starts);
        }
    }

    /// Block writes want 16-byte alignment, which nobody promises: element by element.
    pub(super) fn lower_block_write(&mut self, inst: Inst, v: Value, addr: Value, offset: i32) {
        let ty = self.ty(v);
        let size = ty.scalar().bytes();
        for part in self.parts(inst, ty.lanes(), None) {
            let src0 = self.element_addresses(addr, i64::from(offset), size, &part);
            self.write_part(inst, v, &part, src0);
        }
    }

    pub(super) fn lower_barrier(&mut self, inst: Inst) {
        let t = self.temp_grfs(1);
        let zero = Operation::new(Op::Mov, Type::Ud, &[BaleSrc::Imm(0, Type::Ud)]);
        self.bale(t, 8, zero);
        // The barrier's id and count, from the thread header.
        self.emit(MInst::Op {
            inst: uniform(
                Op::And,
                dst(RegRef::new(VirtReg::Grf(t), 8), Type::Ud),
                [
                    scalar_src(self.header, 8, Type::Ud),
                    imm(0x8f00_0000, Type::Ud),
                    Src::None,
                ],
            ),
            starts: false,
            keeps: None,
        });
        let part = Part {
            first: 0,
            lanes: 1,
            simd: Simd::S8,
            exec: ExecSize::S1,
            pred: None,
        };
        let p = Payloads {
            dst: None,
            src0: (t, 0),
            src1: None,
        };
        self.send(inst, MsgOp::Barrier, &part, p, false);
        let n0 = VirtReg::Phys(Reg::Arf(Arf::Notification, 0));
        let mut wait = isa::Inst::new(Op::Wait, ExecSize::S1);
        wait.no_mask = true;
        wait.srcs[0] = Src::Direct {
            at: RegRef::new(n0, 0),
            region: Region::SCALAR,
            ty: Type::Ud,
            mods: SrcMods::default(),
        };
        self.emit_op(wait);
    }

    /// A fence with a commit, and an instruction that waits for the commit.
    pub(super) fn lower_fence(&mut self, inst: Inst) {
        let t = self.temp_grfs(1);
        let part = Part {
            first: 0,
            lanes: 8,
            simd: Simd::S8,
            exec: ExecSize::S8,
            pred: None,
        };
        let p = Payloads {
            dst: Some((t, 0)),
            src0: (self.header, 0),
            src1: None,
        };
        let op = MsgOp::Fence {
            slm: false,
            commit: true,
            flush: 0,
        };
        self.send(inst, op, &part, p, true);
        let mut mov = uniform(
            Op::Mov,
            Dst::null(VirtReg::NULL, Type::Ud),
            [scalar_src(t, 0, Type::Ud), Src::None, Src::None],
        );
        mov.opts = InstOpts::SWITCH;
        self.emit_op(mov);
    }
}
