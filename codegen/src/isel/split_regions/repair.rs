//! Repairs of bales that no exec size can execute: operands go through a temporary.
//!
//! Each repair is a function. They handle the destination's stride for the execution type, operands
//! of three-source and math instructions, and conversions that need two steps. Others handle
//! factors of a product and operands in step (see `in_step`). The target's features decide which
//! ones a bale needs.

use super::Legalizer;
use crate::mir::bale::{Bale, BaleSrc, Operation, View};
use crate::mir::{RegConstraint, VRegData, VirtReg};
use crate::rule_coverage::Repair;
use gantry_isa_gen::{Op, SrcMods, Type};

/// Alignment in bytes of the operands of an Align16 instruction.
const ALIGN16: u32 = 16;
/// Bytes of a dword.
pub(super) const DWORD: u32 = 4;
/// Alignment in bytes of the destination of a three-source instruction in Align1: bits 4:3 of its
/// address are encoded.
const TERNARY_DST: u32 = 8;

impl Legalizer<'_> {
    /// Returns the bale, or the rest of it after its operands went through temporaries. `None` if
    /// nothing is left.
    pub(super) fn shape(&mut self, bale: &Bale) -> Option<Bale> {
        let mut b = *bale;
        if let Some(wide) = self.wider_move(&b) {
            self.bale(&wide);
            return None;
        }
        self.gather_bytes(&mut b);
        self.as_integers(&mut b);
        self.bytes_as_dwords(&mut b);
        let in_step = self.in_step(&b);
        if b.lanes == 0 || self.wide(&b, in_step) {
            return None;
        }
        self.direct_mixed_floats(&mut b);
        self.in_singles(&mut b);
        self.in_two_steps(&mut b);
        self.widen_bytes(&mut b);
        self.order_factors(&mut b);
        self.plain_factor(&mut b);
        self.byte_product(&mut b);
        self.byte_source1(&mut b);
        if self.dword_product(&b) {
            return None;
        }
        if b.is_ternary() {
            let b = self.ternary(b)?;
            let b = if self.in_step(&b) {
                b
            } else {
                self.put_in_step(b)?
            };
            self.keep_in_step(&b);
            return Some(b);
        }
        if b.operation.op == Op::Mach && !self.is_packed(&b.dst, b.lanes, b.dst.ty.bytes()) {
            self.fired.repair(Repair::MachDestination);
            b = self.through_temporary(b);
        }
        if b.operation.op == Op::Math {
            for n in 0..2 {
                self.pack_source(&mut b, n);
            }
            if b.dst.index.is_some() {
                self.fired.repair(Repair::MathDestination);
                b = self.through_temporary(b);
            }
        }
        let b = self.stride_destination(b)?;
        let b = if self.in_step(&b) {
            b
        } else {
            self.put_in_step(b)?
        };
        self.keep_in_step(&b);
        Some(b)
    }

    /// Copies a source to a new register as consecutive elements of its own or another type.
    /// Modifiers stay with the operation.
    pub(super) fn copied(&mut self, v: View, lanes: u32, ty: Type, padded: u32) -> View {
        let bytes = padded * ty.bytes();
        let r = self.temp(bytes.max(ALIGN16));
        let dst = View::contiguous(VirtReg::grf(r), lanes, ty);
        let operation = Operation::new(Op::Mov, ty, &[BaleSrc::View(v, SrcMods::default())]);
        self.plain_bale(lanes, operation, dst);
        dst
    }

    /// Emits the operation to a new register, and returns the move from there.
    fn through_temporary(&mut self, b: Bale) -> Bale {
        let ty = b.operation.ty;
        let r = self.temp(b.lanes * ty.bytes());
        let view = View::contiguous(VirtReg::grf(r), b.lanes, ty);
        self.bale(&Bale {
            dst: view,
            starts: true,
            mask: None,
            under: None,
            ..b
        });
        self.moved(&b, view)
    }

    /// Turns a copy of float bits into a move of integers, which need not be in step.
    fn as_integers(&self, b: &mut Bale) {
        let o = &mut b.operation;
        let moves = o.op == Op::Mov && !o.sat && b.flag.is_none();
        if !self.target.features().regioning_in_step || !o.ty.is_float() || !moves {
            return;
        }
        let ty = match o.ty.bytes() {
            2 => Type::Uw,
            4 => Type::Ud,
            _ => Type::Uq,
        };
        match &mut o.srcs[0] {
            Some(BaleSrc::View(v, m)) if v.ty == o.ty && *m == SrcMods::default() => v.ty = ty,
            Some(BaleSrc::Imm(_, t)) if *t == o.ty && b.dst.index.is_some() => *t = ty,
            _ => return,
        }
        (o.ty, b.dst.ty) = (ty, ty);
    }

    /// Copies indirect sources if half and single floats are mixed.
    fn direct_mixed_floats(&mut self, b: &mut Bale) {
        if !b.is_mixed_float() {
            return;
        }
        for n in 0..3 {
            if let Some(BaleSrc::View(v, m)) = b.operation.srcs[n]
                && v.index.is_some()
            {
                self.fired.repair(Repair::DirectMixedFloat);
                let v = self.copied(v, b.lanes, v.ty, b.lanes);
                b.operation.srcs[n] = Some(BaleSrc::View(v, m));
            }
        }
    }

    /// Rounds half floats as singles.
    fn in_singles(&mut self, b: &mut Bale) {
        let o = b.operation;
        let rounds = matches!(o.op, Op::Frc | Op::Rndu | Op::Rndd | Op::Rnde | Op::Rndz);
        if !rounds || o.ty != Type::Hf {
            return;
        }
        self.fired.repair(Repair::HalfRounding);
        let bytes = b.lanes * Type::F.bytes();
        let (wide, rounded) = (self.temp(bytes), self.temp(bytes));
        let view = |r| View::contiguous(VirtReg::grf(r), b.lanes, Type::F);
        let plain = |r| BaleSrc::View(view(r), SrcMods::default());
        let mut extend = Operation::new(Op::Mov, Type::F, &[]);
        extend.srcs = o.srcs;
        let round = Operation {
            srcs: [Some(plain(wide)), None, None],
            ty: Type::F,
            ..o
        };
        for (dst, operation) in [(wide, extend), (rounded, round)] {
            self.plain_bale(b.lanes, operation, view(dst));
        }
        b.operation = Operation::new(Op::Mov, Type::Hf, &[plain(rounded)]);
    }

    /// Splits a conversion between bytes or half floats and 64-bit types into two steps.
    fn in_two_steps(&mut self, b: &mut Bale) {
        let o = &b.operation;
        let Some(src) = o.srcs[0] else {
            return;
        };
        let (from, to) = (src.ty(), o.ty);
        if o.op != Op::Mov || b.is_raw_move() {
            return;
        }
        let small = |t: Type| t.bytes() == 1 || t == Type::Hf;
        let apart = small(from) && to.bytes() == 8 || from.bytes() == 8 && small(to);
        if !apart {
            return;
        }
        self.fired.repair(Repair::TwoSteps);
        let middle = match (from, to) {
            (Type::Hf, _) | (_, Type::Hf) => Type::F,
            // A dword holds any value of the smaller side.
            (t, _) if t.bytes() == 1 => dword(t),
            (_, t) => dword(t),
        };
        let r = self.temp(b.lanes * middle.bytes());
        let dst = View::contiguous(VirtReg::grf(r), b.lanes, middle);
        let first = Operation {
            // A saturated float would be clamped to 0 .. 1.
            sat: o.sat && !middle.is_float(),
            ..Operation::new(Op::Mov, middle, &[src])
        };
        self.plain_bale(b.lanes, first, dst);
        b.operation.srcs[0] = Some(BaleSrc::View(dst, SrcMods::default()));
    }

    /// Puts the dword first in a product of a dword and something narrower.
    fn order_factors(&mut self, b: &mut Bale) {
        let o = &mut b.operation;
        if let (Op::Mul, Some(x), Some(y)) = (o.op, o.srcs[0], o.srcs[1])
            && x.ty().bytes() < y.ty().bytes()
            && y.ty().bytes() == 4
        {
            match (x, y) {
                (BaleSrc::View(v, m), BaleSrc::Imm(..)) => {
                    self.fired.repair(Repair::FactorWidened);
                    let ty = dword(v.ty);
                    let v = self.copied(v, b.lanes, ty, b.lanes);
                    b.operation.srcs[0] = Some(BaleSrc::View(v, m));
                }
                _ => {
                    o.srcs.swap(0, 1);
                    self.fired.repair(Repair::FactorOrder);
                }
            }
        }
    }

    /// Removes modifiers from the narrower factor beside a dword, on platforms that allow none. The
    /// dword is negated instead, or the narrower factor is widened.
    fn plain_factor(&mut self, b: &mut Bale) {
        let o = &mut b.operation;
        let (Op::Mul, Some(x), Some(BaleSrc::View(v, m))) = (o.op, o.srcs[0], o.srcs[1]) else {
            return;
        };
        let mixed = x.ty().is_int() && x.ty().bytes() == 4 && v.ty.is_int() && v.ty.bytes() < 4;
        if self.target.features().mul_mixed_mods || !mixed || m == SrcMods::default() {
            return;
        }
        self.fired.repair(Repair::FactorPlain);
        match x {
            // For the low half it does not matter which factor is negative.
            BaleSrc::View(w, n) if !m.abs && o.ty.bytes() <= 4 => {
                let n = SrcMods { neg: !n.neg, ..n };
                o.srcs[0] = Some(BaleSrc::View(w, n));
                o.srcs[1] = Some(BaleSrc::View(v, SrcMods::default()));
            }
            _ => {
                let v = self.copied(v, b.lanes, Type::D, b.lanes);
                b.operation.srcs[1] = Some(BaleSrc::View(v, m));
            }
        }
    }

    /// Emits the low half of a product of dwords if the multiplier takes only words as the second
    /// factor: `a * b.low + ((a * b.high) << 16)`. An addend is a part of the first product.
    fn dword_product(&mut self, b: &Bale) -> bool {
        let o = &b.operation;
        let f = self.target.features();
        let whole = f.mul_32x32 && !(f.restricted_64bit && b.lanes > 1);
        let (addend, Some(x), Some(y)) = (match o.op {
            Op::Mul => (None, o.srcs[0], o.srcs[1]),
            Op::Mad => (o.srcs[0], o.srcs[1], o.srcs[2]),
            _ => return false,
        }) else {
            return false;
        };
        let dword = |t: Type| t.is_int() && t.bytes() == 4;
        if whole || !(dword(o.ty) && dword(x.ty()) && dword(y.ty())) {
            return false;
        }
        let (x, y) = match (x, y) {
            (BaleSrc::Imm(..), BaleSrc::View(..)) => (y, x),
            _ => (x, y),
        };
        let ty = o.ty;
        let product = |y| Operation::new(Op::Mul, ty, &[x, y]);
        let with = |y| match addend {
            Some(c) => Operation::new(Op::Mad, ty, &[c, x, y]),
            None => product(y),
        };
        let word = match y {
            BaleSrc::Imm(i, _) if i16::try_from(i as u32 as i32).is_ok() => {
                Some(BaleSrc::Imm(i & 0xffff, Type::W))
            }
            BaleSrc::Imm(i, _) if i <= 0xffff => Some(BaleSrc::Imm(i, Type::Uw)),
            _ => None,
        };
        if let Some(w) = word {
            self.fired.repair(Repair::DwordByWord);
            self.bale(&Bale {
                operation: with(w),
                ..*b
            });
            return true;
        }
        self.fired.repair(Repair::DwordProduct);
        let [low, high] = match y {
            BaleSrc::Imm(i, _) => [
                BaleSrc::Imm(i & 0xffff, Type::Uw),
                BaleSrc::Imm(i >> 16 & 0xffff, Type::Uw),
            ],
            BaleSrc::View(v, m) => {
                // The words of a modified factor are not those of the modified whole.
                let v = if m == SrcMods::default() {
                    v
                } else {
                    self.fired.repair(Repair::DwordModified);
                    let r = self.temp(b.lanes * v.ty.bytes());
                    let t = View::contiguous(VirtReg::grf(r), b.lanes, v.ty);
                    let mov = Operation::new(Op::Mov, v.ty, &[BaleSrc::View(v, m)]);
                    self.plain_bale(b.lanes, mov, t);
                    t
                };
                let low = v.narrowed(Type::Uw);
                let high = View {
                    offset: low.offset + 2,
                    ..low
                };
                [low.plain(), high.plain()]
            }
        };
        let temp = |l: &mut Self| {
            let r = l.temp(b.lanes * ty.bytes());
            View::contiguous(VirtReg::grf(r), b.lanes, ty)
        };
        let (upper, out) = (temp(self), temp(self));
        self.plain_bale(b.lanes, product(high), upper);
        self.plain_bale(b.lanes, with(low), out);
        let top = View {
            offset: out.offset + 2,
            ..out.narrowed(Type::Uw)
        };
        let carried = upper.narrowed(Type::Uw).plain();
        let sum = Operation::new(Op::Add, Type::Uw, &[top.plain(), carried]);
        self.bale(&Bale::new(b.lanes, sum, top, false));
        let rest = self.moved(b, out);
        self.bale(&rest);
        true
    }

    /// Returns the distance in bytes from lane to lane, if it is constant.
    pub(super) fn step(v: &View, lanes: u32) -> Option<u32> {
        match lanes {
            0 | 1 => Some(v.ty.bytes()),
            _ => v.step(0, lanes).map(|step| step * v.ty.bytes()),
        }
    }

    /// Returns the offset in its GRF of the first lane of a view whose position is known.
    fn grf_offset(&self, v: &View) -> u32 {
        let position = self.position(v).unwrap_or(self.base(v.reg));
        (position.grf_offset + v.offset) % self.grf.bytes
    }

    /// Returns true if the platform requires a bale's operands in step.
    fn steps(&self, b: &Bale) -> bool {
        let o = &b.operation;
        let f = self.target.features();
        if f.regioning_in_step {
            let narrows = o.op == Op::Mov && b.is_mixed_float();
            return o.ty.is_float() && !narrows || b.has_qwords();
        }
        let dword = |s: &BaleSrc| s.ty().is_int() && s.ty().bytes() == 4;
        let product = o.op == Op::Mul && o.srcs.iter().flatten().all(dword);
        f.restricted_64bit && !b.is_ternary() && (product || b.has_qwords())
    }

    /// Returns the unit in bytes of the distances of lanes in step. It is a qword on platforms that
    /// restrict only qwords and products of dwords.
    fn step_unit(&self, b: &Bale) -> u32 {
        if self.target.features().regioning_in_step {
            b.operation.ty.bytes()
        } else {
            8
        }
    }

    /// Returns true if the operands are in step, or need not be. This applies to qwords and
    /// products of dwords, or to floats and qwords.
    ///
    /// In step means that operands are direct, that their lanes are a multiple of
    /// [`Self::step_unit`] apart, and that sources are at the destination's positions. See PRM,
    /// "Register Region Restrictions" of Cherryview and Broxton, and of Xe-HP.
    fn in_step(&self, b: &Bale) -> bool {
        if !self.steps(b) {
            return true;
        }
        let Some((to, at)) = self.destination_step(b) else {
            return false;
        };
        b.dst.index.is_none()
            && b.operation.srcs.iter().flatten().all(|s| match s {
                BaleSrc::Imm(..) => true,
                BaleSrc::View(v, _) => self.source_in_step(b, v, to, at),
            })
    }

    /// Returns the distance of the destination's lanes in bytes, and the position of the first in
    /// its GRF. `None` if that distance is not allowed.
    fn destination_step(&self, b: &Bale) -> Option<(u32, u32)> {
        let unit = self.step_unit(b);
        if b.dst.reg == VirtReg::NULL {
            return Some((unit, 0));
        }
        let to = Self::step(&b.dst, b.lanes)?;
        (b.lanes == 1 || to.is_multiple_of(unit)).then(|| (to, self.grf_offset(&b.dst)))
    }

    /// Returns true if a source is one element, or has lanes `to` bytes apart from byte `at` of a
    /// GRF on, as the destination has.
    fn source_in_step(&self, b: &Bale, v: &View, to: u32, at: u32) -> bool {
        let null = b.dst.reg == VirtReg::NULL;
        let free = null && self.target.features().regioning_in_step;
        let placed = || self.position(v).is_some() && self.target.features().regioning_in_step;
        (v.index.is_none() || placed())
            && (b.lanes == 1
                || free
                || Self::is_scalar(v, b.lanes)
                || Self::step(v, b.lanes) == Some(to) && (null || self.grf_offset(v) == at))
    }

    /// Aligns registers whose lanes must be in step.
    fn keep_in_step(&mut self, b: &Bale) {
        if b.lanes == 1 || !self.steps(b) {
            return;
        }
        let sources = b.operation.srcs.iter().flatten().filter_map(|s| match s {
            BaleSrc::View(v, _) if !Self::is_scalar(v, b.lanes) => Some(v),
            _ => None,
        });
        for v in sources.chain([&b.dst]) {
            if let Some(r) = v.reg.as_grf()
                && !matches!(self.vregs[r].constraint, RegConstraint::Fixed(_))
            {
                self.vregs[r].align = self.grf.bytes;
            }
        }
    }

    /// Copies operands to positions in step.
    fn put_in_step(&mut self, mut b: Bale) -> Option<Bale> {
        let null = b.dst.reg == VirtReg::NULL;
        let step = self.destination_step(&b).filter(|_| b.dst.index.is_none());
        // The distance is at least the largest source element, or no stride encodes it.
        let widest = b
            .operation
            .srcs
            .iter()
            .flatten()
            .map(|s| s.ty().bytes())
            .max();
        let unit = self.step_unit(&b).max(widest.unwrap_or(0));
        let narrowest = b
            .operation
            .srcs
            .iter()
            .flatten()
            .map(|s| s.ty().bytes())
            .min();
        let most = 4 * narrowest.unwrap_or(unit);
        let fits = |to: u32| {
            if self.target.features().regioning_in_step {
                to >= unit && to <= most
            } else {
                to == 8
            }
        };
        let quad = step.filter(|(to, _)| null || fits(*to) || b.lanes == 1);
        let Some((to, at)) = quad else {
            self.fired.repair(Repair::StepDestination);
            let rest = self.through_temporary(b);
            self.bale(&rest);
            return None;
        };
        for n in 0..3 {
            let Some(BaleSrc::View(v, m)) = b.operation.srcs[n] else {
                continue;
            };
            if self.source_in_step(&b, &v, to, at) {
                continue;
            }
            self.fired.repair(Repair::StepSource);
            // One lane may be anywhere, and has its own size.
            let (at, hs) = match b.lanes {
                1 => (0, 1),
                _ => (at, to / v.ty.bytes()),
            };
            let r = self.temp(at + b.lanes * hs * v.ty.bytes());
            let t = View {
                reg: VirtReg::grf(r),
                offset: at,
                vs: b.lanes * hs,
                w: b.lanes,
                hs,
                ty: v.ty,
                index: None,
            };
            let mov = Operation::new(Op::Mov, v.ty, &[v.plain()]);
            self.plain_bale(b.lanes, mov, t);
            b.operation.srcs[n] = Some(BaleSrc::View(t, m));
        }
        Some(b)
    }

    /// Returns true if a view is one element for all lanes, or aligned consecutive elements for
    /// `lanes` channels.
    pub(super) fn is_packed(&self, v: &View, lanes: u32, align: u32) -> bool {
        let Some(r) = v.reg.as_grf() else {
            return false;
        };
        let d: &VRegData = &self.vregs[r];
        let (base, aligned) = match d.constraint {
            RegConstraint::Fixed(at) => (at, true),
            _ => (0, d.align >= align),
        };
        let contiguous = Self::step(v, lanes) == Some(v.ty.bytes());
        v.index.is_none()
            && contiguous
            && aligned
            && (base + v.offset).is_multiple_of(align)
            && v.offset + lanes * v.ty.bytes() <= d.bytes.next_multiple_of(align)
    }

    pub(super) fn is_scalar(v: &View, lanes: u32) -> bool {
        v.index.is_none() && (lanes <= 1 || v.step(0, lanes) == Some(0))
    }

    /// Copies a source of a math instruction that is neither consecutive elements nor one element.
    fn pack_source(&mut self, b: &mut Bale, n: usize) {
        if let Some(BaleSrc::View(v, m)) = b.operation.srcs[n]
            && (v.ty != b.operation.ty
                || !(Self::is_scalar(&v, b.lanes) || self.is_packed(&v, b.lanes, 4)))
        {
            self.fired.repair(Repair::MathSource);
            let v = self.copied(v, b.lanes, b.operation.ty, b.lanes);
            b.operation.srcs[n] = Some(BaleSrc::View(v, m));
        }
    }

    /// Repairs a three-source instruction. Its sources are as wide as the destination, and
    /// consecutive elements or one element. Those in Align16 have at least four channels, and
    /// operands at multiples of 16 bytes.
    fn ternary(&mut self, mut b: Bale) -> Option<Bale> {
        let bytes = b.operation.ty.bytes();
        let (lanes, align) = if self.target.features().ternary_align16 {
            let group = ALIGN16 / bytes.min(ALIGN16);
            (b.lanes.next_multiple_of(group.max(4)), ALIGN16)
        } else if b.lanes > 1 {
            // The destination is encoded in units of 8 bytes, which the pieces of an even number
            // of lanes fill.
            (b.lanes.next_multiple_of(4 / bytes.min(4)), bytes)
        } else {
            (b.lanes, bytes)
        };
        let unit = align.max(TERNARY_DST);
        self.align_destination(&b.dst, unit);
        for n in 0..3 {
            let Some(BaleSrc::View(v, m)) = b.operation.srcs[n] else {
                continue;
            };
            // `mad` of integers takes words beside dwords.
            let words = b.operation.op == Op::Mad && b.operation.ty.is_int() && v.ty.bytes() == 2;
            let same = v.ty.bytes() == b.operation.ty.bytes() || words;
            if same && Self::is_scalar(&v, b.lanes) && self.ternary_scalar(&v) {
                let one = View {
                    vs: 0,
                    w: 1,
                    hs: 0,
                    ..v
                };
                b.operation.srcs[n] = Some(BaleSrc::View(one, m));
            } else if same && self.is_packed(&v, lanes, align) {
                let all = View {
                    offset: v.offset,
                    ..View::contiguous(v.reg, lanes, v.ty)
                };
                b.operation.srcs[n] = Some(BaleSrc::View(all, m));
            } else if n == 2 && same && self.has_third_stride(&b, &v, lanes) {
                // Source 2 has a stride.
            } else {
                self.fired.repair(Repair::TernarySource);
                // A source of the same size keeps its own sign.
                let ty = if same { v.ty } else { b.operation.ty };
                let mut v = self.copied(v, b.lanes, ty, lanes);
                (v.vs, v.w) = (lanes, lanes);
                b.operation.srcs[n] = Some(BaleSrc::View(v, m));
            }
        }
        if lanes == b.lanes && self.is_packed(&b.dst, lanes, unit) {
            return Some(b);
        }
        self.fired.repair(Repair::TernaryDestination);
        let r = self.temp((lanes * b.operation.ty.bytes()).max(unit));
        let dst = View::contiguous(VirtReg::grf(r), lanes, b.operation.ty);
        self.bale(&Bale {
            lanes,
            dst,
            starts: true,
            mask: None,
            ..b
        });
        // The move has rules of its own.
        let rest = self.moved(&b, dst);
        self.bale(&rest);
        None
    }

    /// Returns true if source 2 of a three-source instruction can read integers where they are,
    /// several elements apart.
    fn has_third_stride(&self, b: &Bale, v: &View, lanes: u32) -> bool {
        let align1 = !self.target.features().ternary_align16;
        let stride = matches!(v.step(0, b.lanes), Some(2 | 4));
        let direct = v.index.is_none() && lanes == b.lanes && v.reg.as_grf().is_some();
        align1 && b.operation.ty.is_int() && b.lanes > 1 && stride && direct
    }

    /// Returns true if a three-source instruction can encode the position of one element.
    fn ternary_scalar(&mut self, v: &View) -> bool {
        let f = self.target.features();
        if !f.ternary_align16 || f.ternary_words {
            return true;
        }
        self.align_destination(v, DWORD);
        (self.base(v.reg).grf_offset + v.offset).is_multiple_of(DWORD)
    }

    /// Aligns a register without a constraint to `unit` bytes.
    pub(super) fn align_destination(&mut self, v: &View, unit: u32) {
        if let Some(r) = v.reg.as_grf()
            && self.vregs[r].constraint == RegConstraint::Any
        {
            let d = &mut self.vregs[r];
            d.align = d.align.max(unit.min(self.grf.bytes));
        }
    }

    /// Returns the rest of a bale whose operation wrote a temporary: a move under its mask.
    pub(super) fn moved(&self, b: &Bale, from: View) -> Bale {
        // There is no raw move of these: their bits are moved.
        let ty = match from.ty {
            Type::Bf => Type::Uw,
            Type::Tf32 => Type::Ud,
            ty => ty,
        };
        let from = View { ty, ..from };
        Bale {
            operation: Operation::new(Op::Mov, from.ty, &[BaleSrc::View(from, SrcMods::default())]),
            dst: View {
                ty: from.ty,
                ..b.dst
            },
            flag: None,
            ..*b
        }
    }

    /// Gives the destination the element distance of a wider execution type. Packed elements are
    /// written by a raw move from there.
    fn stride_destination(&mut self, b: Bale) -> Option<Bale> {
        let Some(step) = b.dst_step() else {
            return Some(b);
        };
        // Eight bfloats are written at once, packed from a 16-byte boundary on.
        if b.operation.ty == Type::Bf && b.lanes.is_multiple_of(8) {
            self.align_destination(&b.dst, ALIGN16);
            if self.is_packed(&b.dst, b.lanes, ALIGN16) {
                return Some(b);
            }
        }
        let ty = b.operation.ty;
        let hs = step / ty.bytes();
        let base = self.base(b.dst.reg).grf_offset;
        let spaced = b.lanes == 1 || Self::step(&b.dst, b.lanes) == Some(step);
        if b.dst.index.is_none() && spaced && (base + b.dst.offset).is_multiple_of(step) {
            // One lane has no stride, but its instruction must encode a legal one.
            return Some(b);
        }
        if hs > 4 {
            if self.error.is_none() {
                self.error = Some(format!("no destination stride for `{b}`"));
            }
            return None;
        }
        self.fired.repair(Repair::DestinationStride);
        let r = self.temp(b.lanes * step);
        let dst = View {
            reg: VirtReg::grf(r),
            offset: 0,
            vs: b.lanes * hs,
            w: b.lanes,
            hs,
            ty,
            index: None,
        };
        self.bale(&Bale {
            dst,
            starts: true,
            mask: None,
            ..b
        });
        Some(self.moved(&b, dst))
    }
}

/// Returns the dword type of the same sign.
pub(super) fn dword(t: Type) -> Type {
    if t.is_signed() { Type::D } else { Type::Ud }
}

/// Returns the word type of the same sign.
pub(super) fn word(t: Type) -> Type {
    if t.is_signed() { Type::W } else { Type::Uw }
}
