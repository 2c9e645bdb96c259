//! Random machine instructions.

use super::generate::Generator;
use super::seen::Feature;
use crate::ir::DataRef;
use crate::mir::operand::imm;
use crate::mir::{MInst, SymbolPart, VReg, VirtReg};
use gantry_isa_gen::legal::geometry::{dst_span_bytes, span_bytes};
use gantry_isa_gen::sem::dpas::Dpas;
use gantry_isa_gen::{
    Arf, CondMod, Desc, Dst, ExecSize, Inst, Op, PredCtrl, Predicate, Reg, RegRef, Region,
    SendDescs, Src, SrcMods, Subfn, Type,
};

const FLAG: VirtReg = VirtReg::phys(Reg::Arf(Arf::Flag, 0));
const ADDRESS: Reg = Reg::Arf(Arf::Address, 0);

/// Returns the types of a size in bytes.
fn types(bytes: u32) -> &'static [Type] {
    match bytes {
        1 => &[Type::Ub, Type::B],
        2 => &[Type::Uw, Type::W, Type::Hf],
        4 => &[Type::Ud, Type::D, Type::F],
        _ => &[Type::Uq, Type::Q, Type::Df],
    }
}

fn direct(r: VReg, sub: u32, region: Region, ty: Type) -> Src<VirtReg> {
    Src::Direct {
        at: RegRef::new(VirtReg::grf(r), sub as u16),
        region,
        ty,
        mods: SrcMods::default(),
    }
}

fn exec(lanes: u32) -> ExecSize {
    ExecSize::new(lanes).unwrap_or(ExecSize::S1)
}

impl Generator<'_> {
    /// Returns an element size that a register's alignment allows.
    fn element(&mut self, r: VReg) -> u32 {
        let most = self.vregs[r].bytes.min(self.vregs[r].align).min(8);
        let sizes = most.max(1).ilog2() + 1;
        // Mostly the largest.
        if self.rng.one_in(3) {
            1 << self.rng.below(sizes)
        } else {
            1 << (sizes - 1)
        }
    }

    fn ty(&mut self, bytes: u32) -> Type {
        self.rng.pick(types(bytes)).unwrap_or(Type::Ud)
    }

    fn some(&mut self) -> VReg {
        self.rng.pick(&self.env).unwrap_or(VReg::from_u32(0))
    }

    /// Returns a byte offset of elements in a register such that `span` bytes fit.
    fn sub(&mut self, r: VReg, span: u32, element: u32) -> u32 {
        let rest = self.vregs[r].bytes.saturating_sub(span);
        self.rng.below(rest / element + 1) * element
    }

    /// Generates a source of a number of lanes.
    fn src(&mut self, lanes: u32) -> Src<VirtReg> {
        let r = self.some();
        self.src_of(r, lanes)
    }

    fn src_of(&mut self, r: VReg, lanes: u32) -> Src<VirtReg> {
        let size = self.element(r);
        let ty = self.ty(size);
        let bytes = self.vregs[r].bytes;
        let fits = |region| span_bytes(region, exec(lanes), size).is_some_and(|b| b <= bytes);
        let packed = Region::packed(exec(lanes));
        if !self.rng.one_in(4) && lanes > 1 && fits(packed) {
            self.seen.add(Feature::Packed);
            let sub = self.sub(r, lanes * size, size);
            return direct(r, sub, packed, ty);
        }
        if lanes > 1 {
            for _ in 0..4 {
                let w = 1 << self.rng.below(lanes.ilog2().min(4) + 1);
                let vs = self.rng.pick(&[0, 1, 2, 4, 8, 16, 32]).unwrap_or(0);
                let hs = if w == 1 {
                    0
                } else {
                    self.rng.pick(&[0, 1, 2, 4]).unwrap_or(0)
                };
                let region = Region::rect(vs, w, hs);
                if !fits(region) || (vs, hs) == (0, 0) {
                    continue;
                }
                let row = (w - 1) * hs + 1;
                self.seen.add(if vs < row && u32::from(w) < lanes {
                    Feature::Overlapping
                } else {
                    Feature::Strided
                });
                let span = span_bytes(region, exec(lanes), size).unwrap_or(size);
                let sub = self.sub(r, span, size);
                return direct(r, sub, region, ty);
            }
        }
        self.seen.add(Feature::Scalar);
        let sub = self.sub(r, size, size);
        direct(r, sub, Region::SCALAR, ty)
    }

    fn src_or_imm(&mut self, lanes: u32) -> Src<VirtReg> {
        if self.rng.one_in(5) {
            self.seen.add(Feature::Imm);
            return imm(self.rng.below(100).into(), Type::Ud);
        }
        self.src(lanes)
    }

    /// Sometimes adds the execution mask or a predicate.
    fn mask(&mut self, inst: &mut Inst<VirtReg>) {
        inst.no_mask = !self.rng.one_in(4);
        if !inst.no_mask {
            self.seen.add(Feature::Masked);
        }
        if self.rng.one_in(6) {
            self.seen.add(Feature::Predicated);
            inst.pred = Some(Predicate {
                flag: RegRef::new(FLAG, 0),
                inverse: self.rng.one_in(2),
                ctrl: PredCtrl::Sequential,
            });
        }
    }

    /// Generates an operation with sources but no destination.
    fn operation(&mut self, lanes: u32) -> Inst<VirtReg> {
        let mut inst = Inst::new(Op::Mov, exec(lanes));
        match self.rng.below(9) {
            0 | 1 => inst.srcs[0] = self.src(lanes),
            2 => return self.ternary(lanes),
            3 => {
                self.seen.add(Feature::Select);
                inst.op = Op::Sel;
            }
            4 => inst.op = Op::Mul,
            _ => inst.op = Op::Add,
        }
        if inst.op != Op::Mov {
            inst.srcs[0] = self.src(lanes);
            inst.srcs[1] = self.src_or_imm(lanes);
        }
        self.mask(&mut inst);
        inst
    }

    fn ternary(&mut self, lanes: u32) -> Inst<VirtReg> {
        let mut inst = Inst::new(Op::Mad, exec(lanes));
        inst.no_mask = true;
        for n in 0..3 {
            let r = self.some();
            let size = self.element(r).clamp(1, 4);
            let regions = [(8, 1), (4, 2), (0, 0), (8, 0), (2, 1)];
            let (vs, hs) = self.rng.pick(&regions).unwrap_or((0, 0));
            let region = match n {
                2 => Region::Scalar3 { hs },
                _ => Region::Ternary { vs, hs },
            };
            let bytes = self.vregs[r].bytes;
            let span = span_bytes(region, exec(lanes), size).unwrap_or(size);
            let region = if span <= bytes || self.rng.one_in(4) {
                region
            } else {
                Region::Scalar3 { hs: 0 }
            };
            self.seen.add(Feature::Ternary);
            if span_bytes(region, exec(lanes), size).is_some_and(|s| s > bytes) {
                self.seen.add(Feature::Behind);
            }
            let span = span_bytes(region, exec(lanes), size).unwrap_or(size);
            let sub = self.sub(r, span, size);
            let ty = self.ty(size);
            inst.srcs[n] = direct(r, sub, region, ty);
        }
        inst
    }

    fn emit(&mut self, inst: Inst<VirtReg>, starts: bool) {
        self.left -= 1;
        self.insts.push(MInst::Op {
            inst,
            starts,
            keeps: None.into(),
        });
    }

    /// Generates an operation that writes up to `bytes` bytes of a register from a byte on. Returns
    /// the number of bytes.
    fn write(&mut self, dst: VReg, from: u32, bytes: u32, starts: bool) -> u32 {
        let data = self.vregs[dst];
        let mut size = self.element(dst);
        while !from.is_multiple_of(size) || size > bytes {
            size /= 2;
        }
        let grf = self.grf.bytes;
        let most = (bytes / size).min(2 * grf / size).clamp(1, 32);
        let lanes = 1u32 << most.ilog2();
        let mut hs = 1;
        if lanes > 1 && self.rng.one_in(6) {
            hs = self.rng.pick(&[2, 4]).unwrap_or(2);
        }
        let lanes = match hs {
            1 => lanes,
            _ => (lanes / hs).max(1),
        };
        let ty = self.ty(size);
        let span = dst_span_bytes(hs, exec(lanes), size);
        let early = lanes * hs * size > grf;
        let mut inst = self.operation(lanes);
        // Operands written early are not read elsewhere by the same instruction.
        if early {
            self.seen.add(Feature::Early);
            for s in &mut inst.srcs {
                if let Src::Direct { at, .. } = s
                    && at.reg == VirtReg::grf(dst)
                {
                    *s = match inst.op {
                        Op::Mad => {
                            direct(VReg::from_u32(0), 0, Region::Scalar3 { hs: 0 }, Type::Ud)
                        }
                        _ => direct(VReg::from_u32(0), 0, Region::SCALAR, Type::Ud),
                    };
                }
            }
        }
        let tied = inst
            .srcs
            .iter()
            .any(|s| matches!(s, Src::Direct { at, .. } if at.reg == VirtReg::grf(dst)));
        if tied {
            self.seen.add(Feature::Tied);
        }
        self.seen.add(if hs == 1 {
            Feature::PackedDst
        } else {
            Feature::StridedDst
        });
        self.seen
            .add(match (starts, span == data.bytes && hs == 1) {
                (true, true) => Feature::Begins,
                (true, false) => Feature::BeginsPart,
                _ => Feature::Partial,
            });
        inst.dst = Dst::Direct {
            at: RegRef::new(VirtReg::grf(dst), from as u16),
            hs: hs as u8,
            ty,
        };
        self.emit(inst, starts);
        lanes * hs * size
    }

    /// Starts a value of a register by one or several instructions. Some of its bytes may stay
    /// undefined.
    pub(super) fn begin(&mut self, dst: VReg) {
        let bytes = self.vregs[dst].bytes;
        let grf = self.grf.bytes;
        if self.rng.one_in(3) && self.product(dst) {
            return;
        }
        if bytes.is_multiple_of(grf) && bytes / grf <= 31 && (bytes > 2 * grf || self.rng.one_in(2))
        {
            return self.message(Some((dst, true)));
        }
        if self.rng.one_in(3) && self.constant(dst) {
            return;
        }
        let mut from = 0;
        if self.rng.one_in(4) {
            self.seen.add(Feature::Start);
            self.insts.push(MInst::Start { dst });
            from = self.rng.below(bytes / 2 + 1) & !7;
            from += self.write(dst, from, bytes - from, false);
        } else {
            from += self.write(dst, from, bytes, true);
        }
        while from < bytes && !self.rng.one_in(12) {
            from += self.write(dst, from, bytes - from, false);
        }
    }

    /// Generates a matrix product that fills a register, if there are registers for its factors.
    /// The allocator does not check that the platform has a systolic array.
    fn product(&mut self, dst: VReg) -> bool {
        let grf = self.grf.bytes;
        let data = self.vregs[dst];
        let repeat = data.bytes / grf;
        if data.align < grf || !data.bytes.is_multiple_of(grf) || repeat > 8 {
            return false;
        }
        let runs: Vec<VReg> = (self.env.iter().copied())
            .filter(|&r| self.vregs[r].align >= grf && r != dst)
            .collect();
        let factors = [
            (Type::Hf, Type::Hf, Type::F),
            (Type::Bf, Type::Bf, Type::F),
            (Type::B, Type::Ub, Type::D),
            (Type::U2, Type::S2, Type::D),
            (Type::U2, Type::B, Type::D),
        ];
        let Some((src1, src2, sum)) = self.rng.pick(&factors) else {
            return false;
        };
        let d = Dpas {
            depth: 8,
            repeat: repeat as u8,
            channels: (grf / 4) as u8,
            dst: sum,
            src0: Some(sum),
            src1,
            src2,
        };
        let mut inst = Inst::new(Op::Dpas, exec(grf / 4));
        inst.subfn = Subfn::Dpas {
            depth: 8,
            repeat: repeat as u8,
        };
        inst.no_mask = true;
        inst.dst = Dst::Direct {
            at: RegRef::new(VirtReg::grf(dst), 0),
            hs: 1,
            ty: sum,
        };
        let operands = [
            (d.sum_bytes(sum), sum),
            (d.src1_bytes(), src1),
            (d.src2_bytes(), src2),
        ];
        for (n, (bytes, ty)) in operands.into_iter().enumerate() {
            let fits = |r: &VReg| self.vregs[*r].bytes >= bytes;
            let some: Vec<VReg> = runs.iter().copied().filter(fits).collect();
            inst.srcs[n] = match self.rng.pick(&some) {
                _ if n == 0 && self.rng.one_in(4) => Src::Direct {
                    at: RegRef::new(VirtReg::NULL, 0),
                    region: Region::SCALAR,
                    ty,
                    mods: SrcMods::default(),
                },
                Some(r) => {
                    let last = (self.vregs[r].bytes - bytes) / grf;
                    let at = self.rng.below(last + 1) * grf;
                    direct(r, at, Region::SCALAR, ty)
                }
                None => return false,
            };
        }
        self.seen.add(Feature::Product);
        self.emit(inst, true);
        true
    }

    /// Generates a constant if one instruction can define it.
    fn constant(&mut self, dst: VReg) -> bool {
        let bytes = self.vregs[dst].bytes;
        let size = self.element(dst);
        let lanes = bytes / size;
        if lanes * size != bytes || !lanes.is_power_of_two() || lanes > 32 {
            return false;
        }
        let ty = match size {
            1 => return false,
            _ => self.ty(size),
        };
        self.seen.add(Feature::Constant);
        let mut inst = Inst::new(Op::Mov, exec(lanes));
        inst.no_mask = true;
        let bits = self.rng.below(6).into();
        inst.srcs[0] = imm(bits, ty);
        inst.dst = Dst::Direct {
            at: RegRef::new(VirtReg::grf(dst), 0),
            hs: 1,
            ty,
        };
        self.emit(inst, true);
        true
    }

    /// Generates a new value.
    pub(super) fn make(&mut self) {
        let dst = self.some_reg();
        match self.rng.below(24) {
            0 => {
                self.left -= 1;
                self.seen.add(Feature::Start);
                self.insts.push(MInst::Start { dst });
            }
            1 => return self.symbol(),
            2..=4 => {
                let src = self.some();
                let dst = self.reg(self.vregs[src].bytes);
                self.seen.add(Feature::Copy);
                self.left -= 1;
                self.insts.push(MInst::Copy { dst, src });
                self.env.push(dst);
                return;
            }
            5 => {
                // Without readers.
                self.seen.add(Feature::Dead);
                return self.begin(dst);
            }
            6 => {
                self.begin_macro();
                return;
            }
            _ => self.begin(dst),
        }
        self.env.push(dst);
    }

    fn symbol(&mut self) {
        let dst = self.reg(8);
        let data = DataRef::from_u32(0);
        let parts: &[SymbolPart] = if self.rng.one_in(2) {
            &[SymbolPart::Whole]
        } else {
            &[SymbolPart::Low, SymbolPart::High]
        };
        self.seen.add(match parts.len() {
            1 => Feature::Symbol,
            _ => Feature::SymbolParts,
        });
        for (n, &part) in parts.iter().enumerate() {
            if n > 0 && self.rng.one_in(2) {
                self.op();
            }
            self.left -= 1;
            self.insts.push(MInst::Symbol { dst, data, part });
        }
        self.env.push(dst);
    }

    /// Generates an instruction that starts no value: a partial write, or none.
    pub(super) fn op(&mut self) {
        match self.rng.below(16) {
            0..=2 => self.message(None),
            3 | 4 => self.indirect(),
            5 => {
                let all = self.writable();
                if let Some(dst) = self.rng.pick(&all) {
                    return self.begin(dst);
                }
                self.silent();
            }
            6..=11 => {
                let all = self.writable();
                let Some(dst) = self.rng.pick(&all) else {
                    return self.silent();
                };
                let size = self.element(dst);
                let from = self.sub(dst, size, size);
                let bytes = self.vregs[dst].bytes - from;
                self.write(dst, from, bytes, false);
            }
            _ => self.silent(),
        }
    }

    fn writable(&self) -> Vec<VReg> {
        let all = self.env.iter().copied();
        all.filter(|r| !self.frozen[*r]).collect()
    }

    /// Generates an instruction that writes no GRF.
    fn silent(&mut self) {
        let lanes = 1 << self.rng.below(6);
        let mut inst = self.operation(lanes);
        self.seen.add(Feature::NullDst);
        inst.dst = Dst::null(VirtReg::NULL, Type::Ud);
        if inst.op == Op::Add {
            inst.op = Op::Cmp;
            inst.cond = Some(CondMod {
                flag: RegRef::new(FLAG, 0),
                cond: gantry_isa_gen::Cond::Lt,
            });
        }
        self.emit(inst, false);
    }

    /// Generates reads of most or all of a register.
    pub(super) fn read_all(&mut self, r: VReg) {
        let data = self.vregs[r];
        let grf = self.grf.bytes;
        if data.bytes.is_multiple_of(grf) && data.align == grf && !self.rng.one_in(4) {
            let inst = self.send((r, 0), data.bytes / grf, None);
            return self.emit(inst, false);
        }
        let most = 1u32 << (data.bytes / data.align.min(8)).clamp(1, 32).ilog2();
        let mut inst = Inst::new(Op::Mov, exec(most));
        inst.no_mask = true;
        inst.srcs[0] = self.src_of(r, most);
        inst.dst = Dst::null(VirtReg::NULL, Type::Ud);
        self.emit(inst, false);
    }

    /// Returns GRFs of some register for a message: the first one and their number.
    fn payload(&mut self) -> ((VReg, u32), u32) {
        let grf = self.grf.bytes;
        let whole = |r: &&VReg| {
            let d = &self.vregs[**r];
            d.align == grf && d.bytes >= grf
        };
        let all: Vec<VReg> = self.env.iter().filter(whole).copied().collect();
        let r = self.rng.pick(&all).unwrap_or(VReg::from_u32(0));
        let have = self.vregs[r].bytes / grf;
        let first = if self.rng.one_in(3) {
            self.rng.below(have)
        } else {
            0
        };
        let n = if self.rng.one_in(2) {
            have - first
        } else {
            1 + self.rng.below(have - first)
        };
        ((r, first * grf), n)
    }

    fn send(
        &mut self,
        src: (VReg, u32),
        grfs: u32,
        response: Option<((VReg, u32), u32)>,
    ) -> Inst<VirtReg> {
        let place = |(r, at): (VReg, u32)| RegRef::new(VirtReg::grf(r), at as u16);
        let src_at = |at| direct(at, 0, Region::SCALAR, Type::Ud);
        let mut inst = Inst::new(Op::Send, ExecSize::S16);
        inst.no_mask = true;
        inst.srcs[0] = match src_at(src.0) {
            Src::Direct {
                region, ty, mods, ..
            } => Src::Direct {
                at: place(src),
                region,
                ty,
                mods,
            },
            other => other,
        };
        let mut second = 0;
        self.seen.add(Feature::Send);
        if self.splits && self.rng.one_in(2) {
            let ((r, at), n) = self.payload();
            self.seen.add(Feature::SendBoth);
            inst.op = Op::Sends;
            second = n.min(15);
            inst.srcs[1] = direct(r, at, Region::SCALAR, Type::Ud);
        }
        inst.dst = match response {
            Some((at, _)) => Dst::Direct {
                at: place(at),
                hs: 1,
                ty: Type::Ud,
            },
            None => {
                self.seen.add(Feature::SendSilent);
                Dst::null(VirtReg::NULL, Type::Ud)
            }
        };
        let response = response.map_or(0, |a| a.1);
        let known = grfs <= 15 && response <= 31 && !self.rng.one_in(12);
        let descs = if known {
            (
                Desc::Imm(second << 6),
                Desc::Imm(grfs << 25 | response << 20),
            )
        } else {
            self.seen.add(Feature::SendUnknown);
            let reg = |sub| Desc::Reg(RegRef::new(ADDRESS, sub));
            (reg(8), reg(12))
        };
        inst.send = Some(SendDescs {
            ex: descs.0,
            desc: descs.1,
            src1_len: None,
        });
        inst
    }

    /// Generates a message. `dst` is the register of its response, and true if that starts there.
    fn message(&mut self, dst: Option<(VReg, bool)>) {
        let grf = self.grf.bytes;
        let (src, n) = self.payload();
        if let Some((r, starts)) = dst {
            let all = self.vregs[r].bytes / grf;
            let inst = self.send(src, n, Some(((r, 0), all)));
            self.seen.add(if starts {
                Feature::Begins
            } else {
                Feature::Partial
            });
            return self.emit(inst, starts);
        }
        let whole = |r: &VReg| {
            let d = &self.vregs[*r];
            d.align == grf && d.bytes >= grf
        };
        let all: Vec<VReg> = self.writable().into_iter().filter(whole).collect();
        let to = match self.rng.below(3) {
            0 => None,
            _ => self.rng.pick(&all),
        };
        let Some(r) = to else {
            let inst = self.send(src, n, None);
            return self.emit(inst, false);
        };
        let have = self.vregs[r].bytes / grf;
        let first = self.rng.below(have);
        let grfs = 1 + self.rng.below((have - first).min(31));
        let mut inst = self.send(src, n, Some(((r, first * grf), grfs)));
        let starts = self.rng.one_in(4);
        if starts {
            self.seen.add(Feature::SendOver);
        } else {
            if self.rng.one_in(2) {
                self.seen.add(Feature::SendPart);
                self.mask(&mut inst);
            }
            self.seen.add(Feature::Partial);
        }
        self.emit(inst, starts);
    }

    /// Returns an index register of words.
    fn index(&mut self) -> Option<(VReg, u32)> {
        if self.rng.one_in(4) {
            return None;
        }
        let words = |r: &&VReg| self.vregs[**r].bytes >= 2 && self.vregs[**r].align >= 2;
        let all: Vec<VReg> = self.env.iter().filter(words).copied().collect();
        let r = self.rng.pick(&all)?;
        Some((r, self.sub(r, 2, 2)))
    }

    /// Generates an instruction with an indirect operand.
    fn indirect(&mut self) {
        let write = self.rng.one_in(3);
        let all = if write {
            self.writable()
        } else {
            self.env.clone()
        };
        let Some(base) = self.rng.pick(&all) else {
            return self.silent();
        };
        let size = self.element(base);
        let ty = self.ty(size);
        let most = (self.vregs[base].bytes / size).clamp(1, 16);
        let lanes = 1u32 << self.rng.below(most.ilog2() + 1);
        let offset = self.sub(base, lanes * size, size);
        let index = self.index();
        self.left -= 1;
        let mut inst = self.operation(lanes);
        if inst.op == Op::Mad {
            inst.op = Op::Add;
            inst.srcs = [self.src(lanes), imm(1, Type::Ud), Src::None];
        }
        let rows = (!write && lanes > 1 && self.rng.one_in(2))
            .then(|| 1u32 << self.rng.below(lanes.ilog2() + 1));
        let sub = if write { 3 } else { 0 };
        let count = rows.map_or(ExecSize::S1, exec);
        // As many words as rows.
        let index = match (rows, index) {
            (Some(n), Some((r, _))) if self.vregs[r].bytes >= 2 * n => Some((r, 0)),
            (None, index) => index,
            (Some(_), _) => None,
        };
        self.insts.push(MInst::LoadAddress {
            sub,
            count,
            base: Some(base),
            offset: if rows.is_some() { 0 } else { offset },
            index,
        });
        if write {
            self.seen.add(Feature::IndirectDst);
            inst.dst = Dst::Indirect {
                addr: RegRef::new(ADDRESS, 6),
                imm: 0,
                hs: 1,
                ty,
            };
            // The base of an indirect destination is not read.
            for s in &mut inst.srcs {
                if matches!(s, Src::Direct { at, .. } if at.reg == VirtReg::grf(base)) {
                    *s = imm(3, Type::Ud);
                }
            }
        } else {
            let region = match rows {
                Some(n) => {
                    self.seen.add(Feature::Rows);
                    let w = lanes / n;
                    Region::VxH {
                        w: w as u8,
                        hs: u8::from(w > 1),
                    }
                }
                None => {
                    self.seen.add(Feature::Indirect);
                    Region::packed(exec(lanes))
                }
            };
            inst.srcs[0] = Src::Indirect {
                addr: RegRef::new(ADDRESS, 0),
                imm: 0,
                region,
                ty,
                mods: SrcMods::default(),
            };
            inst.dst = Dst::null(VirtReg::NULL, Type::Ud);
        }
        self.emit(inst, false);
        self.insts.push(MInst::Touch { reg: base, write });
    }

    /// Generates a math macro over whole registers.
    fn begin_macro(&mut self) {
        let grf = self.grf.bytes;
        let whole = |r: &&VReg| self.vregs[**r].bytes == grf && self.vregs[**r].align == grf;
        let all: Vec<VReg> = self.env.iter().filter(whole).copied().collect();
        let dst = self.reg(grf);
        let mut inst = Inst::new(Op::Math, ExecSize::S8);
        inst.no_mask = true;
        let at = |r| RegRef::new(VirtReg::grf(r), 0);
        for n in 0..2 {
            let r = self.rng.pick(&all).unwrap_or(VReg::from_u32(0));
            self.seen.add(Feature::MacroSrc);
            inst.srcs[n] = Src::Macro {
                at: at(r),
                mme: 8,
                ty: Type::F,
                mods: SrcMods::default(),
            };
        }
        self.seen.add(Feature::MacroDst);
        inst.dst = Dst::Macro {
            at: at(dst),
            mme: 0,
            ty: Type::F,
        };
        self.emit(inst, true);
        self.env.push(dst);
    }
}
