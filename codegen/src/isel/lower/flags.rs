//! Lowering of predicates: compares, logic on flags, tests, and the results of `goto` and `join`.
//!
//! A predicate of up to 16 lanes is a 16-bit flag sub-register, a longer one a whole flag register.
//! Bits above the lanes are undefined, so tests mask them.

use super::Lower;
use super::facts::{float_conditions, int_conditions};
use super::generated::Context;
use crate::ir::{FloatCC, Inst, InstData, IntCC, Opcode, Scalar, Value};
use crate::mir::bale::{Bale, BaleSrc, Operation, View};
use crate::mir::lowered::Lowered;
use crate::mir::operand::{
    dst, flag_bits, flag_dst, flag_src, flag_type, grf_dst, imm, inverted, lane_mask, scalar,
    scalar_src, uniform,
};
use crate::mir::{FlagTest, MInst, VFlag, VirtReg};
use gantry_isa_gen::{Cond, CondMod, Dst, Op, PredCtrl, RegRef, Src, SrcMods, Type};

/// Greatest distance, in IR instructions, from an operation to the compare whose flag it writes.
const NEAR: u32 = 16;

/// Condition of a compare.
#[derive(Clone, Copy)]
pub(super) enum Compare {
    Int(IntCC),
    Float(FloatCC),
    /// Test of the common bits against zero, for equality or inequality.
    Bits(IntCC),
}

impl Compare {
    /// Returns the hardware's condition, and the one for swapped operands.
    fn conditions(self) -> (Cond, Cond) {
        match self {
            Compare::Int(cc) | Compare::Bits(cc) => int_conditions(cc),
            Compare::Float(cc) => float_conditions(cc),
        }
    }

    /// Returns the condition that is true if this one is false. For floats there is one only for
    /// equal and unequal: with a NaN, an order and its opposite are both false.
    fn inverse(self) -> Option<Compare> {
        Some(match self {
            Compare::Int(cc) => Compare::Int(cc.inverse()),
            Compare::Bits(cc) => Compare::Bits(cc.inverse()),
            Compare::Float(FloatCC::Equal) => Compare::Float(FloatCC::NotEqual),
            Compare::Float(FloatCC::NotEqual) => Compare::Float(FloatCC::Equal),
            Compare::Float(_) => return None,
        })
    }
}

impl Lower<'_> {
    fn result_flag(&mut self, inst: Inst, n: usize) -> Option<(VFlag, u32)> {
        let v = *self.func.dfg.results(inst).get(n)?;
        Some((self.flag(v), self.ty(v).lanes()))
    }

    /// Emits logic on flags. Flag allocation copies a flag that is the second source to a GRF.
    pub(super) fn flag_op(
        &mut self,
        op: Op,
        out: VFlag,
        lanes: u32,
        a: Src<VirtReg>,
        b: Src<VirtReg>,
    ) {
        let ty = flag_type(lanes);
        self.emit_op(uniform(op, flag_dst(out, ty), [a, b, Src::None]));
    }

    /// Emits `out = (x & lanes) cond 0`, in bit 0.
    pub(super) fn test(&mut self, out: VFlag, x: Src<VirtReg>, lanes: u32, cond: Cond) {
        let ty = flag_type(lanes);
        let mut i = uniform(
            Op::And,
            Dst::null(VirtReg::NULL, ty),
            [x, imm(lane_mask(lanes), ty), Src::None],
        );
        i.cond = Some(CondMod {
            cond,
            flag: RegRef::new(VirtReg::flag(out), 0),
        });
        self.emit_op(i);
    }

    /// Emits a compare into the flag of an instruction's result. Under a mask, which may be
    /// inverted, disabled lanes keep the mask's bits. So `mask & compare` and, inverted, `mask |
    /// compare` are one instruction.
    pub(super) fn compare(
        &mut self,
        inst: Inst,
        by: Compare,
        a: BaleSrc,
        b: BaleSrc,
        under: Option<(Value, bool)>,
    ) {
        if let Some((out, lanes)) = self.result_flag(inst, 0) {
            self.compare_to(out, lanes, by, a, b, under);
        }
    }

    fn compare_to(
        &mut self,
        out: VFlag,
        lanes: u32,
        by: Compare,
        a: BaleSrc,
        b: BaleSrc,
        under: Option<(Value, bool)>,
    ) {
        let under = under.map(|(v, inverse)| (self.flag(v), inverse));
        let bale = self.compare_bale(out, lanes, by, a, b);
        self.code.push(Lowered::Bale(Bale { under, ..bale }));
    }

    fn compare_bale(
        &mut self,
        out: VFlag,
        lanes: u32,
        by: Compare,
        a: BaleSrc,
        b: BaleSrc,
    ) -> Bale {
        let (cond, swapped) = by.conditions();
        let (cond, a, b) = match (a, b) {
            (BaleSrc::Imm(..), BaleSrc::View(..)) => (swapped, b, a),
            (BaleSrc::Imm(..), _) => (cond, self.force_reg(a), b),
            _ => (cond, a, b),
        };
        // The null destination has the type of the comparison. Bytes are compared as words.
        let wide = if b.ty().bytes() > a.ty().bytes() {
            b.ty()
        } else {
            a.ty()
        };
        let ty = match wide {
            Type::B => Type::W,
            Type::Ub => Type::Uw,
            t => t,
        };
        let op = match by {
            Compare::Bits(_) => Op::And,
            _ => Op::Cmp,
        };
        let operation = Operation::new(op, ty, &[a, b]);
        let null = View::contiguous(VirtReg::NULL, lanes, ty);
        Bale {
            flag: Some((cond, out)),
            ..Bale::new(lanes, operation, null, true)
        }
    }

    /// Returns the instruction of a sum or of logic that can write the flag of a compare with zero.
    /// It is a few instructions before the compare, so that the flag is not live for long.
    pub(super) fn computes_near(&self, v: Value) -> Option<Inst> {
        let inst = self.func.dfg.def_inst(v)?;
        let once = self.uses[v] == 1;
        let fits = match self.func.dfg.data(inst).opcode() {
            // Without another use this is a test of bits.
            Opcode::Band => !once,
            Opcode::Iadd | Opcode::Isub | Opcode::Bor | Opcode::Bxor => true,
            _ => false,
        };
        let sized = matches!(self.ty(v).scalar(), Scalar::I16 | Scalar::I32);
        let near = self.place.saturating_sub(self.places[inst]) <= NEAR;
        let here = self.inst_block[inst].expand() == Some(self.block);
        let free = !self.chains.cut.contains(v) && self.flags_beside[inst].is_none();
        (fits && sized && here && near && free).then_some(inst)
    }

    /// Lets an operation write the flag of a compare of its result with zero.
    pub(super) fn lower_flag_beside(&mut self, inst: Inst, cc: IntCC, of: Inst) {
        if let Some((flag, _)) = self.result_flag(inst, 0) {
            self.flags_beside[of] = Some((flag, int_conditions(cc).0));
        }
    }

    pub(super) fn lower_flag_logic(&mut self, inst: Inst, op: Op, a: Value, b: Value) {
        if let Some((out, lanes)) = self.result_flag(inst, 0) {
            let (a, b) = (self.flag_operand(a), self.flag_operand(b));
            self.flag_op(op, out, lanes, a, b);
        }
    }

    pub(super) fn lower_flag_not(&mut self, inst: Inst, x: Value) {
        if let Some((out, lanes)) = self.result_flag(inst, 0) {
            let x = self.flag_operand(x);
            self.flag_op(Op::Not, out, lanes, x, Src::None);
        }
    }

    pub(super) fn lower_flag_const(&mut self, inst: Inst, bits: u64) {
        if let Some((out, lanes)) = self.result_flag(inst, 0) {
            self.const_flag(out, lanes, bits);
        }
    }

    pub(super) fn lower_flag_test(&mut self, inst: Inst, x: Value, any: bool) {
        if let Some((out, _)) = self.result_flag(inst, 0) {
            let lanes = self.ty(x).lanes();
            let x = self.flag_operand(x);
            // All: no lane has its inverse set.
            let cond = if any { Cond::Ne } else { Cond::Eq };
            self.test(out, if any { x } else { inverted(x) }, lanes, cond);
        }
    }

    pub(super) fn lower_flag_select(&mut self, inst: Inst, m: Value, a: Value, b: Value) {
        let Some((out, lanes)) = self.result_flag(inst, 0) else {
            return;
        };
        let ty = flag_type(lanes);
        let (m, a, b) = (self.flag(m), self.flag(a), self.flag(b));
        let (x, y) = (self.temp_flag(lanes), self.temp_flag(lanes));
        self.flag_op(Op::And, x, lanes, flag_src(a, ty), flag_src(m, ty));
        self.flag_op(
            Op::And,
            y,
            lanes,
            flag_src(b, ty),
            inverted(flag_src(m, ty)),
        );
        self.flag_op(Op::Or, out, lanes, flag_src(x, ty), flag_src(y, ty));
    }

    pub(super) fn lower_flag_read(&mut self, inst: Inst, x: Value, offset: u8) {
        let Some((out, lanes)) = self.result_flag(inst, 0) else {
            return;
        };
        let x = self.flag(x);
        self.read_part(out, lanes, x, offset.into());
    }

    /// Emits the move of lanes of a flag, from bit `first` on, to a flag of their own.
    pub(super) fn read_part(&mut self, out: VFlag, lanes: u32, x: VFlag, first: u32) {
        let of = u32::from(self.flags[x]);
        self.emit_op(flag_bits(out, lanes, x, of, first));
    }

    /// Returns true if channel offsets reach `lanes` lanes from a bit of a flag on.
    pub(super) fn is_on_grid(&self, first: u32, lanes: u32) -> bool {
        let step = self.target.features().channel_step;
        let widest = 1 << lanes.max(1).ilog2().min(3);
        first.is_multiple_of(step.max(widest))
    }

    /// Returns the flag of a mask, and its bit for lane 0. A part of a predicate has no flag of its
    /// own if channel offsets reach its lanes where they are.
    pub(super) fn flag_lanes(&mut self, v: Value) -> (VFlag, u32) {
        match self.part_of(v) {
            Some((whole, first)) if self.is_on_grid(first, self.ty(v).lanes()) => {
                (self.flag(whole), first)
            }
            _ => (self.flag(v), 0),
        }
    }

    /// Returns the flag by which `sel` selects, its bit for lane 0, and the combination of its
    /// bits. A test of a whole predicate that has no other use is such a combination.
    pub(super) fn selecting_flag(&mut self, mask: Value) -> ((VFlag, u32), PredCtrl) {
        let def = self.sinks_into_branch(mask, |op| matches!(op, Opcode::Any | Opcode::All));
        if let Some(inst) = def
            && let InstData::Unary { opcode, arg } = *self.func.dfg.data(inst)
            && let lanes = self.ty(arg).lanes()
            && let Some(test) = FlagTest::of_lanes(self.target, lanes, opcode == Opcode::All)
        {
            return ((self.flag(arg), 0), test.ctrl);
        }
        (self.flag_lanes(mask), PredCtrl::Sequential)
    }

    /// Emits a test of the bits of an integer that are a predicate.
    pub(super) fn lower_bits_test(&mut self, inst: Inst, p: Value, bits: BaleSrc, any: bool) {
        let lanes = lane_mask(self.ty(p).lanes());
        let (cc, bits) = if any {
            (IntCC::NotEqual, bits)
        } else {
            (IntCC::Equal, self.invert(bits))
        };
        let lanes = BaleSrc::Imm(lanes, Type::D);
        self.compare(inst, Compare::Bits(cc), bits, lanes, None);
    }

    /// Returns the predicate that another is a part of, and the first lane, unless the part has a
    /// flag of its own.
    fn part_of(&self, v: Value) -> Option<(Value, u32)> {
        let inst = self.func.dfg.def_inst(v)?;
        match *self.func.dfg.data(inst) {
            InstData::RdPred { arg, offset, .. } if self.value_flags[v].is_none() => {
                Some((arg, offset.into()))
            }
            _ => None,
        }
    }

    /// Returns a predicate as a source of logic. A part that is a word is read where it is.
    fn flag_operand(&mut self, v: Value) -> Src<VirtReg> {
        let lanes = self.ty(v).lanes();
        match self.part_of(v) {
            Some((whole, first)) if lanes <= 16 && first.is_multiple_of(16) => {
                let whole = VirtReg::flag(self.flag(whole));
                scalar(RegRef::new(whole, first as u16 / 8), Type::Uw)
            }
            _ => flag_src(self.flag(v), flag_type(lanes)),
        }
    }

    /// Emits a compare to lanes of a flag from a lane on. The other lanes are those of `old`.
    pub(super) fn compare_onto(
        &mut self,
        inst: Inst,
        (old, first): (Value, u8),
        by: Compare,
        a: BaleSrc,
        b: BaleSrc,
    ) {
        let (InstData::WrPred { args, .. }, Some((out, _))) =
            (*self.func.dfg.data(inst), self.result_flag(inst, 0))
        else {
            return;
        };
        let lanes = self.ty(args[1]).lanes();
        let onto = if self.func.dfg.is_undef(old) {
            None
        } else {
            Some(self.flag(old))
        };
        let bale = self.compare_bale(out, lanes, by, a, b);
        self.code.push(Lowered::Bale(Bale {
            onto,
            channel: first.into(),
            ..bale
        }));
    }

    /// Emits one bit for all lanes: a test of a scalar that every channel makes.
    pub(super) fn lower_flag_splat(&mut self, inst: Inst, bit: Value) {
        let Some((out, lanes)) = self.result_flag(inst, 0) else {
            return;
        };
        // The test of a whole predicate is one for all channels as well.
        let def = self.sinks_into_branch(bit, |op| matches!(op, Opcode::Any | Opcode::All));
        let (of, all) = match def.map(|i| *self.func.dfg.data(i)) {
            Some(InstData::Unary { opcode, arg }) => (arg, opcode == Opcode::All),
            _ => (bit, false),
        };
        let of_lanes = self.ty(of).lanes();
        let ty = flag_type(of_lanes);
        let of = VirtReg::flag(self.flag(of));
        let mods = SrcMods {
            neg: all,
            ..SrcMods::default()
        };
        let srcs = [
            BaleSrc::View(View::scalar(of, 0, ty), mods),
            BaleSrc::Imm(lane_mask(of_lanes), ty),
        ];
        // Bits above the lanes are undefined.
        let lanes = lanes.next_power_of_two();
        let null = View::contiguous(VirtReg::NULL, lanes, ty);
        self.code.push(Lowered::Bale(Bale {
            flag: Some((if all { Cond::Eq } else { Cond::Ne }, out)),
            ..Bale::new(lanes, Operation::new(Op::And, ty, &srcs), null, true)
        }));
    }

    /// Emits the move of 16 lanes to a word of a flag. The other lanes are those of `old`.
    fn write_word(&mut self, out: VFlag, old: Value, new: Value, offset: u8) {
        let word = RegRef::new(VirtReg::flag(out), u16::from(offset) / 8);
        let new = self.flag_operand(new);
        let keeps = if self.func.dfg.is_undef(old) {
            None
        } else {
            Some(self.flag(old))
        };
        self.emit(MInst::Op {
            inst: uniform(Op::Mov, dst(word, Type::Uw), [new]),
            starts: true,
            keeps: keeps.into(),
        });
    }

    /// Emits `out = (old & ~m) | ((new << offset) & m)`, where `m` is the mask of the lanes
    /// written.
    pub(super) fn lower_flag_write(&mut self, inst: Inst, old: Value, new: Value, offset: u8) {
        let Some((out, lanes)) = self.result_flag(inst, 0) else {
            return;
        };
        let new_lanes = self.ty(new).lanes();
        let mask = (lane_mask(new_lanes) << offset.min(31)) & lane_mask(lanes);
        let ty = flag_type(lanes);
        if new_lanes == 16 && offset.is_multiple_of(16) {
            return self.write_word(out, old, new, offset);
        }
        let (old, new) = (self.flag(old), self.flag(new));
        let (kept, moved) = (self.temp(4), self.temp(4));
        let grf = |r| grf_dst(r, Type::Ud);
        self.emit_op(uniform(
            Op::And,
            grf(kept),
            [
                flag_src(old, ty),
                imm(!mask & 0xffff_ffff, Type::Ud),
                Src::None,
            ],
        ));
        self.emit_op(uniform(
            Op::Shl,
            grf(moved),
            [
                flag_src(new, flag_type(new_lanes)),
                imm(u64::from(offset), Type::Uw),
                Src::None,
            ],
        ));
        self.emit_op(uniform(
            Op::And,
            grf(moved),
            [
                scalar_src(moved, 0, Type::Ud),
                imm(mask, Type::Ud),
                Src::None,
            ],
        ));
        self.flag_op(
            Op::Or,
            out,
            lanes,
            scalar_src(kept, 0, ty),
            scalar_src(moved, 0, ty),
        );
    }

    pub(super) fn lower_flag_to_bits(&mut self, inst: Inst, x: Value) {
        let Some(v) = self.func.dfg.first_result(inst) else {
            return;
        };
        let lanes = self.ty(x).lanes();
        let ty = flag_type(lanes);
        let (out, x) = (self.reg(v), self.flag_operand(x));
        self.emit_op(uniform(
            Op::And,
            grf_dst(out, Type::Ud),
            [x, imm(lane_mask(lanes), ty), Src::None],
        ));
    }

    pub(super) fn lower_flag_from_bits(&mut self, inst: Inst, x: Value) {
        if let Some((out, lanes)) = self.result_flag(inst, 0) {
            let x = self.reg(x);
            self.flag_op(
                Op::Mov,
                out,
                lanes,
                scalar_src(x, 0, flag_type(lanes)),
                Src::None,
            );
        }
    }

    /// Returns true if a predicate is known to have no lane set.
    fn is_empty(&self, v: Value) -> bool {
        let inst = self.func.dfg.def_inst(v);
        let data = inst.map(|i| *self.func.dfg.data(i));
        matches!(data, Some(InstData::Imm { bits: 0, .. }))
    }

    /// Emits `new_em = em & ~cond`, `new_rm = rm | (em & cond)`, `none = !any(new_em)`.
    pub(super) fn lower_goto(&mut self, inst: Inst, em: Value, rm: Value, cond: Value) {
        if self.controls(inst) {
            return self.leave_by(inst, cond);
        }
        let results: [Value; 3] = match self.func.dfg.results(inst) {
            &[a, b, c] => [a, b, c],
            _ => return,
        };
        let lanes = self.ty(em).lanes();
        let ty = flag_type(lanes);
        let (em, cond) = (self.flag(em), self.flag(cond));
        let new_em = self.flag(results[0]);
        // A flag cannot be a second source: the condition is copied to a GRF, once.
        let c = self.temp(4);
        let none = Src::None;
        self.emit_op(uniform(
            Op::Mov,
            grf_dst(c, ty),
            [flag_src(cond, ty), none, none],
        ));
        let not_c = inverted(scalar_src(c, 0, ty));
        self.flag_op(Op::And, new_em, lanes, flag_src(em, ty), not_c);
        if self.value_flags[results[1]].is_some() {
            let new_rm = self.flag(results[1]);
            let leave = [flag_src(em, ty), scalar_src(c, 0, ty), none];
            if self.is_empty(rm) {
                self.emit_op(uniform(Op::And, flag_dst(new_rm, ty), leave));
            } else {
                let rm = self.flag(rm);
                let leaving = self.temp(4);
                self.emit_op(uniform(Op::And, grf_dst(leaving, ty), leave));
                let leaving = scalar_src(leaving, 0, ty);
                self.flag_op(Op::Or, new_rm, lanes, flag_src(rm, ty), leaving);
            }
        }
        if self.value_flags[results[2]].is_some() {
            let none = self.flag(results[2]);
            self.test(none, flag_src(new_em, ty), lanes, Cond::Eq);
        }
    }

    /// Emits a `goto` by a compare that has no other use, or by its inverse if channels stay where
    /// the compare is true.
    pub(super) fn lower_goto_compare(
        &mut self,
        inst: Inst,
        [em, rm]: [Value; 2],
        stays: bool,
        by: Compare,
        a: BaleSrc,
        b: BaleSrc,
    ) {
        if self.controls(inst) {
            let lanes = self.ty(em).lanes();
            let flag = self.temp_flag(lanes);
            self.compare_to(flag, lanes, by, a, b, None);
            return self.leave(inst, Some((flag, stays)));
        }
        let opposite = if stays { Some(by) } else { by.inverse() };
        match opposite {
            Some(by) => self.compare(inst, by, a, b, Some((em, false))),
            None => self.lower_goto_staying(inst, em, by, a, b),
        }
        self.lower_goto_results(inst, em, rm);
    }

    /// Emits `new_em = em ^ (em & compare)`, for a compare that has no inverse.
    fn lower_goto_staying(&mut self, inst: Inst, em: Value, by: Compare, a: BaleSrc, b: BaleSrc) {
        let Some((new_em, lanes)) = self.result_flag(inst, 0) else {
            return;
        };
        let leaving = self.temp_flag(lanes);
        self.compare_to(leaving, lanes, by, a, b, Some((em, false)));
        let ty = flag_type(lanes);
        let em = self.flag(em);
        let (em, leaving) = (flag_src(em, ty), flag_src(leaving, ty));
        self.flag_op(Op::Xor, new_em, lanes, em, leaving);
    }

    /// Emits the results of a `goto` that follow from its new execution mask: `new_rm = rm | (em ^
    /// new_em)`, and `none`.
    fn lower_goto_results(&mut self, inst: Inst, em: Value, rm: Value) {
        let results: [Value; 3] = match self.func.dfg.results(inst) {
            &[a, b, c] => [a, b, c],
            _ => return,
        };
        let lanes = self.ty(em).lanes();
        let ty = flag_type(lanes);
        let new_em = self.flag(results[0]);
        if self.value_flags[results[1]].is_some() {
            let (new_rm, em) = (self.flag(results[1]), self.flag(em));
            let left = self.temp(4);
            let none = Src::None;
            self.emit_op(uniform(
                Op::Mov,
                grf_dst(left, ty),
                [flag_src(new_em, ty), none, none],
            ));
            let leave = [flag_src(em, ty), scalar_src(left, 0, ty), none];
            if self.is_empty(rm) {
                self.emit_op(uniform(Op::Xor, flag_dst(new_rm, ty), leave));
            } else {
                self.emit(MInst::Op {
                    inst: uniform(Op::Xor, grf_dst(left, ty), leave),
                    starts: false,
                    keeps: None.into(),
                });
                let left = scalar_src(left, 0, ty);
                let rm = self.flag(rm);
                self.flag_op(Op::Or, new_rm, lanes, flag_src(rm, ty), left);
            }
        }
        if self.value_flags[results[2]].is_some() {
            let none = self.flag(results[2]);
            self.test(none, flag_src(new_em, ty), lanes, Cond::Eq);
        }
    }

    /// Emits `new_em = em | rm`, `none = !any(new_em)`.
    pub(super) fn lower_join(&mut self, inst: Inst, em: Value, rm: Value) {
        if self.controls(inst) {
            return self.join_point(inst);
        }
        let results: [Value; 2] = match self.func.dfg.results(inst) {
            &[a, b] => [a, b],
            _ => return,
        };
        let lanes = self.ty(em).lanes();
        let ty = flag_type(lanes);
        let new_em = self.flag(results[0]);
        // On the mask stack no channel comes back by an empty mask: both masks are one flag.
        let em = self.flag(em);
        if em != new_em {
            let rm = self.flag(rm);
            self.flag_op(Op::Or, new_em, lanes, flag_src(em, ty), flag_src(rm, ty));
        }
        if self.value_flags[results[1]].is_some() {
            let none = self.flag(results[1]);
            self.test(none, flag_src(new_em, ty), lanes, Cond::Eq);
        }
    }
}
