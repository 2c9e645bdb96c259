//! Constructors and extractors that the rules call: views, sources, operations, and the emission of
//! bales.

use super::facts::{fits_word, negated, ones, sign_extend, view_src};
use super::flags::Compare;
use super::generated::{Context, OptValue, Unit, ValueArray2, ValueArray3};
use super::{Lower, gen_signed, to_signed, to_unsigned};
use crate::ir::{
    Constant, DataRef, FenceSpaces, FloatCC, Inst, InstData, IntCC, MemFlags, Opcode, Region,
    Scalar, Scope, Value,
};
use crate::mir::bale::{BaleSrc, Operation, View};
use crate::mir::logical::{BarrierPart, Dir};
use crate::mir::{MInst, VirtReg};
use gantry_isa_gen::sem::Round;
use gantry_isa_gen::{Cond, MathFn, Op, SrcMods, Subfn, Type as GenType};

impl Context for Lower<'_> {
    fn fired(&mut self, rule: u32) {
        self.fired.rule(rule);
    }

    fn inst_data(&mut self, inst: Inst) -> InstData {
        *self.func.dfg.data(inst)
    }

    fn def_inst(&mut self, v: Value) -> Option<Inst> {
        let inst = self.func.dfg.def_inst(v)?;
        (!self.chains.cut.contains(v)).then_some(inst)
    }

    fn pair(&mut self, a: ValueArray2) -> (Value, Value) {
        (a[0], a[1])
    }

    fn triple(&mut self, a: ValueArray3) -> (Value, Value, Value) {
        (a[0], a[1], a[2])
    }

    fn word_of_byte(&mut self, v: Value, byte: Value) -> Option<()> {
        let sized = (self.scalar(v), self.scalar(byte)) == (Scalar::I16, Scalar::I8);
        sized.then_some(())
    }

    /// Dwords with several users mostly get a register anyway, as in quotients.
    fn is_modifier(&mut self, v: Value) -> Option<()> {
        let once = self.uses[v] == 1;
        match self.scalar(v) {
            Scalar::I16 => Some(()),
            Scalar::I32 => once.then_some(()),
            _ => None,
        }
    }

    fn pred_result(&mut self, inst: Inst) -> Option<()> {
        let v = self.first_result(inst)?;
        self.ty(v).is_pred().then_some(())
    }

    fn i64_result(&mut self, inst: Inst) -> Option<()> {
        let v = self.first_result(inst)?;
        (self.scalar(v) == Scalar::I64).then_some(())
    }

    fn i32_result(&mut self, inst: Inst) -> Option<()> {
        let v = self.first_result(inst)?;
        (self.scalar(v) == Scalar::I32).then_some(())
    }

    fn sinkable(&mut self, v: Value) -> Option<Inst> {
        self.sinks(v)
    }

    fn sinkable_under_mask(&mut self, v: Value) -> Option<Inst> {
        self.sinks_under_mask(v)
    }

    fn sinkable_under_saturation(&mut self, v: Value) -> Option<Inst> {
        self.sinks_under_saturation(v)
    }

    fn no_value(&mut self, v: OptValue) -> Option<()> {
        v.is_none().then_some(())
    }

    fn some_value(&mut self, v: OptValue) -> Option<Value> {
        v.expand()
    }

    fn reg_view(&mut self, v: Value) -> View {
        if let Some(slots) = self.slots(v) {
            return self.view_of_slots(v, slots);
        }
        if let Some(words) = self.byte_words(v) {
            return self.view_of_words(v, words);
        }
        let ty = self.ty(v);
        let r = VirtReg::grf(self.reg(v));
        let gen_ty = gen_signed(ty.scalar());
        match ty.lanes() {
            1 => View::scalar(r, 0, gen_ty),
            n => View::contiguous(r, n, gen_ty),
        }
    }

    fn one_index(&mut self, index: OptValue) -> Option<()> {
        let rows = index.expand().map_or(1, |v| self.ty(v).lanes());
        (rows == 1).then_some(())
    }

    fn region_view(&mut self, v: Value, r: Region, index: OptValue) -> View {
        let ty = gen_signed(self.scalar(v));
        let reg = VirtReg::grf(self.reg(v));
        let index = self.index_of(index, &r, ty.bytes());
        View {
            index,
            ..View::region(reg, &r, ty)
        }
    }

    fn narrow_view(&mut self, v: Value, view: View) -> View {
        view.narrowed(gen_signed(self.scalar(v)))
    }

    fn cast_view(&mut self, out: Value, x: Value) -> View {
        let (to, from) = (self.ty(out), self.ty(x));
        let ty = gen_signed(to.scalar());
        let view = generated_view(self, x);
        if to.scalar().bytes() == from.scalar().bytes() {
            return View { ty, ..view };
        }
        if let Some(offset) = self.offset_of_cast(&view, from.lanes(), ty) {
            return View {
                offset,
                ..View::contiguous(view.reg, to.lanes(), ty)
            };
        }
        let r = VirtReg::grf(self.reg(x));
        match to.lanes() {
            1 => View::scalar(r, 0, ty),
            n => View::contiguous(r, n, ty),
        }
    }

    fn signed_src(&mut self, view: View) -> BaleSrc {
        view_src(view, to_signed(view.ty))
    }

    fn unsigned_src(&mut self, view: View) -> BaleSrc {
        view_src(view, to_unsigned(view.ty))
    }

    fn typed_src(&mut self, view: View) -> BaleSrc {
        view_src(view, view.ty)
    }

    fn negate(&mut self, src: BaleSrc) -> BaleSrc {
        match src {
            BaleSrc::View(v, m) => BaleSrc::View(v, SrcMods { neg: !m.neg, ..m }),
            BaleSrc::Imm(bits, ty) => BaleSrc::Imm(negated(bits, ty), ty),
        }
    }

    fn absolute(&mut self, src: BaleSrc) -> BaleSrc {
        match src {
            BaleSrc::View(v, _) => BaleSrc::View(
                v,
                SrcMods {
                    neg: false,
                    abs: true,
                },
            ),
            BaleSrc::Imm(bits, ty) => {
                let sign = 1u64 << (ty.bytes() * 8 - 1);
                match (ty.is_float(), bits & sign != 0) {
                    (true, _) => BaleSrc::Imm(bits & !sign, ty),
                    (false, true) => BaleSrc::Imm(negated(bits, ty), ty),
                    (false, false) => src,
                }
            }
        }
    }

    fn invert(&mut self, src: BaleSrc) -> BaleSrc {
        match src {
            BaleSrc::View(v, m) => BaleSrc::View(v, SrcMods { neg: !m.neg, ..m }),
            BaleSrc::Imm(bits, ty) => BaleSrc::Imm(!bits & ones(ty), ty),
        }
    }

    fn int_imm(&mut self, v: Value, bits: u64) -> Option<BaleSrc> {
        let x = sign_extend(bits, self.scalar(v).bits());
        match self.scalar(v) {
            Scalar::I8 | Scalar::I16 => Some(BaleSrc::Imm(x as u64 & 0xffff, GenType::W)),
            Scalar::I32 => Some(BaleSrc::Imm(bits & 0xffff_ffff, GenType::D)),
            Scalar::I64 if fits_word(x) => Some(BaleSrc::Imm(x as u64 & 0xffff, GenType::W)),
            Scalar::I64 => i32::try_from(x)
                .ok()
                .map(|x| BaleSrc::Imm(u64::from(x as u32), GenType::D)),
            _ => None,
        }
    }

    fn uint_imm(&mut self, v: Value, bits: u64) -> Option<BaleSrc> {
        match self.scalar(v) {
            Scalar::I8 => Some(BaleSrc::Imm(bits & 0xff, GenType::Uw)),
            Scalar::I16 => Some(BaleSrc::Imm(bits & 0xffff, GenType::Uw)),
            Scalar::I32 => Some(BaleSrc::Imm(bits & 0xffff_ffff, GenType::Ud)),
            Scalar::I64 => u32::try_from(bits)
                .ok()
                .map(|x| BaleSrc::Imm(u64::from(x), GenType::Ud)),
            _ => None,
        }
    }

    fn float_imm(&mut self, v: Value, bits: u64) -> Option<BaleSrc> {
        match self.scalar(v) {
            Scalar::F16 => Some(BaleSrc::Imm(bits & 0xffff, GenType::Hf)),
            Scalar::F32 => Some(BaleSrc::Imm(bits & 0xffff_ffff, GenType::F)),
            _ => None,
        }
    }

    fn long_vector(&mut self, v: Value) -> Option<()> {
        let ty = self.ty(v);
        (ty.lanes() > 1 && ty.scalar().bytes() == 8).then_some(())
    }

    fn constant_words(&mut self, v: Value) -> Option<BaleSrc> {
        self.words_of_constant(v)
    }

    fn lane_of_const(&mut self, v: Value, bits: u64) -> BaleSrc {
        let ty = match self.scalar(v) {
            Scalar::F64 => GenType::Df,
            _ => GenType::Q,
        };
        self.force_reg(BaleSrc::Imm(bits, ty))
    }

    fn op1(&mut self, ty: GenType, op: &Op, a: BaleSrc) -> Operation {
        Operation::new(*op, ty, &[a])
    }

    /// Only the last source may be an immediate.
    fn op2(&mut self, ty: GenType, op: &Op, a: BaleSrc, b: BaleSrc) -> Operation {
        let commutes = matches!(op, Op::Add | Op::Mul | Op::And | Op::Or | Op::Xor | Op::Avg);
        let (a, b) = match (a, b) {
            (BaleSrc::Imm(..), BaleSrc::View(..)) if commutes => (b, a),
            (BaleSrc::Imm(..), _) => (self.force_reg(a), b),
            _ => (a, b),
        };
        Operation::new(*op, ty, &[a, b])
    }

    /// Sources 0 and 2 may be 16-bit immediates, on platforms that have these.
    fn op3(&mut self, ty: GenType, op: &Op, a: BaleSrc, b: BaleSrc, c: BaleSrc) -> Operation {
        let imm = self.target.features().ternary_imm;
        let place = |l: &mut Self, s: BaleSrc| match s {
            BaleSrc::Imm(_, t) if imm && t.bytes() == 2 && (t.is_int() || t == ty) => s,
            _ => l.force_reg(s),
        };
        let (a, c) = (place(self, a), place(self, c));
        let b = self.force_reg(b);
        Operation::new(*op, ty, &[a, b, c])
    }

    fn word_imm(&mut self, v: Value, bits: u64) -> Option<BaleSrc> {
        let k = sign_extend(bits, self.scalar(v).bits());
        let fits = self.target.features().ternary_imm && fits_word(k);
        fits.then_some(BaleSrc::Imm(k as u64 & 0xffff, GenType::W))
    }

    fn unsigned_word_imm(&mut self, _: Value, bits: u64) -> Option<BaleSrc> {
        let fits = self.target.features().ternary_imm && bits <= 0xffff;
        fits.then_some(BaleSrc::Imm(bits, GenType::Uw))
    }

    fn math1(&mut self, ty: GenType, f: &MathFn, a: BaleSrc) -> Operation {
        let a = self.force_reg(a);
        Operation {
            subfn: Subfn::Math(*f),
            ..Operation::new(Op::Math, ty, &[a])
        }
    }

    fn math2(&mut self, ty: GenType, f: &MathFn, a: BaleSrc, b: BaleSrc) -> Operation {
        let a = self.force_reg(a);
        let b = self.force_reg(b);
        Operation {
            subfn: Subfn::Math(*f),
            ..Operation::new(Op::Math, ty, &[a, b])
        }
    }

    fn minmax(&mut self, ty: GenType, cond: &Cond, a: BaleSrc, b: BaleSrc) -> Operation {
        // The order decides which of two zeros of different signs is the result.
        let zero = |bits: u64, t: GenType| t.is_float() && bits << (64 - 8 * t.bytes() + 1) == 0;
        let (a, b) = match (a, b) {
            (BaleSrc::Imm(bits, t), BaleSrc::View(..)) if !zero(bits, t) => (b, a),
            (BaleSrc::Imm(..), _) => (self.force_reg(a), b),
            _ => (a, b),
        };
        Operation {
            cond: Some(*cond),
            ..Operation::new(Op::Sel, ty, &[a, b])
        }
    }

    fn select_op(&mut self, ty: GenType, mask: Value, a: BaleSrc, b: BaleSrc) -> Operation {
        let a = self.force_reg(a);
        let (select, ctrl) = self.selecting_flag(mask);
        Operation {
            select: Some(select),
            ctrl,
            ..Operation::new(Op::Sel, ty, &[a, b])
        }
    }

    fn rounded(&mut self, inst: Inst, o: Operation) -> Operation {
        let want = match self.func.dfg.data(inst).opcode().name().rsplit('_').next() {
            Some("rte") => Round::Nearest,
            Some("rtp") => Round::Up,
            Some("rtn") => Round::Down,
            _ => Round::Zero,
        };
        let have = self.float.mode().round;
        let mode = want.cr0() ^ have.cr0();
        Operation { mode, ..o }
    }

    fn bfloat(&mut self) -> GenType {
        GenType::Bf
    }

    fn tf32(&mut self) -> GenType {
        GenType::Tf32
    }

    fn saturate(&mut self, o: Operation) -> Operation {
        Operation { sat: true, ..o }
    }

    fn result_signed(&mut self, inst: Inst) -> GenType {
        self.result_type(inst)
    }

    fn result_unsigned(&mut self, inst: Inst) -> GenType {
        to_unsigned(self.result_type(inst))
    }

    fn result_signed_of(&mut self, v: Value) -> GenType {
        gen_signed(self.scalar(v))
    }

    fn define(&mut self, inst: Inst, operation: Operation) -> Unit {
        self.define_result(inst, operation);
    }

    fn define_region(
        &mut self,
        inst: Inst,
        old: Value,
        region: Region,
        index: OptValue,
        mask: OptValue,
        operation: Operation,
    ) -> Unit {
        self.define_part(inst, old, region, [index, mask], operation);
    }

    fn under_exec(&mut self, inst: Inst) -> Option<()> {
        let mask = self.select_mask(inst)?;
        (self.active_part(inst, mask) == Some(0)).then_some(())
    }

    fn under_exec_and_flag(&mut self, inst: Inst) -> Option<()> {
        let mask = self.select_mask(inst)?;
        self.is_flag_under_exec(inst, mask).then_some(())
    }

    fn merge_under_exec(&mut self, inst: Inst, old: Value, operation: Operation) -> Unit {
        self.merge(inst, old, operation);
    }

    fn result(&mut self, inst: Inst) -> Value {
        // Rules call this only for instructions with a result, which the verifier has checked.
        self.first_result(inst).unwrap_or(Value::from_u32(0))
    }

    fn const_src(&mut self, inst: Inst) -> BaleSrc {
        let bits = match *self.func.dfg.data(inst) {
            InstData::Imm { bits, .. } => bits,
            _ => 0,
        };
        match self.result_type(inst) {
            GenType::B => BaleSrc::Imm(sign_extend(bits, 8) as u64 & 0xffff, GenType::W),
            ty => BaleSrc::Imm(bits & ones(ty), ty),
        }
    }

    fn shift_count(&mut self, v: Value) -> BaleSrc {
        let ty = self.ty(v);
        let bits = ty.scalar().bits();
        if let Some(i) = self.func.dfg.def_inst(v)
            && let InstData::Imm { bits: count, .. } = *self.func.dfg.data(i)
        {
            return BaleSrc::Imm(count % u64::from(bits.max(1)), GenType::Uw);
        }
        let view = self.reg_view(v);
        match ty.scalar() {
            Scalar::I32 => view_src(view, GenType::Ud),
            // The count is in the low word.
            Scalar::I64 => view_src(view.narrowed(GenType::Uw), GenType::Uw),
            _ => {
                let r = self.temp(ty.lanes() * 2);
                let src = view_src(view, to_unsigned(view.ty));
                let mask = BaleSrc::Imm(u64::from(bits - 1), GenType::Uw);
                self.bale(
                    r,
                    ty.lanes(),
                    Operation::new(Op::And, GenType::Uw, &[src, mask]),
                );
                BaleSrc::View(
                    View::contiguous(VirtReg::grf(r), ty.lanes(), GenType::Uw),
                    SrcMods::default(),
                )
            }
        }
    }

    fn mul_64(&mut self, inst: Inst, a: Value, b: Value) -> Operation {
        self.lower_mul_64(inst, a, b)
    }

    fn sum_of_three(&mut self, inst: Inst) -> Option<Operation> {
        self.fold_sum(inst)
    }

    fn clamped(&mut self, inst: Inst) -> Option<Operation> {
        self.fold_clamped(inst)
    }

    fn integer_mad(&mut self, inst: Inst) -> Option<Operation> {
        self.fold_product(inst)
    }

    fn logic_of_three(&mut self, inst: Inst) -> Option<Operation> {
        self.fold_logic(inst)
    }

    fn size_word(&mut self, v: Value) -> Option<BaleSrc> {
        self.size_as_word(v)
    }

    fn mul_add(&mut self, inst: Inst, a: Value, b: Value, c: Value) -> Operation {
        self.lower_mul_add(inst, a, b, c)
    }

    fn mul_high(&mut self, inst: Inst, a: BaleSrc, b: BaleSrc) -> Operation {
        self.lower_mul_high(inst, a, b)
    }

    fn compare_int(&mut self, inst: Inst, cc: IntCC, a: BaleSrc, b: BaleSrc) -> Unit {
        self.compare(inst, Compare::Int(cc), a, b, None);
    }

    fn compare_bits(&mut self, inst: Inst, cc: IntCC, a: BaleSrc, b: BaleSrc) -> Unit {
        self.compare(inst, Compare::Bits(cc), a, b, None);
    }

    fn computed_near(&mut self, v: Value) -> Option<Inst> {
        self.computes_near(v)
    }

    fn flag_beside(&mut self, inst: Inst, cc: IntCC, of: Inst) -> Unit {
        self.lower_flag_beside(inst, cc, of);
    }

    fn tested(&mut self, v: Value) -> Option<Inst> {
        let inst = self.sinkable(v)?;
        matches!(self.scalar(v), Scalar::I16 | Scalar::I32).then_some(inst)
    }

    fn equality(&mut self, cc: IntCC) -> Option<Unit> {
        matches!(cc, IntCC::Equal | IntCC::NotEqual).then_some(())
    }

    fn simd_goto_bits(
        &mut self,
        inst: Inst,
        em: Value,
        rm: Value,
        stays: bool,
        cc: IntCC,
        a: BaleSrc,
        b: BaleSrc,
    ) -> Unit {
        self.lower_goto_compare(inst, [em, rm], stays, Compare::Bits(cc), a, b);
    }

    fn compare_float(&mut self, inst: Inst, cc: FloatCC, a: BaleSrc, b: BaleSrc) -> Unit {
        self.compare(inst, Compare::Float(cc), a, b, None);
    }

    fn compare_int_under(
        &mut self,
        inst: Inst,
        mask: Value,
        inverse: bool,
        cc: IntCC,
        a: BaleSrc,
        b: BaleSrc,
    ) -> Unit {
        self.compare(inst, Compare::Int(cc), a, b, Some((mask, inverse)));
    }

    fn compare_float_under(
        &mut self,
        inst: Inst,
        mask: Value,
        inverse: bool,
        cc: FloatCC,
        a: BaleSrc,
        b: BaleSrc,
    ) -> Unit {
        self.compare(inst, Compare::Float(cc), a, b, Some((mask, inverse)));
    }

    fn sinkable_compare(&mut self, v: Value) -> Option<Inst> {
        self.sinks_into_branch(v, |op| matches!(op, Opcode::Icmp | Opcode::Fcmp))
    }

    fn flag_logic(&mut self, inst: Inst, op: &Op, a: Value, b: Value) -> Unit {
        self.lower_flag_logic(inst, *op, a, b);
    }

    fn flag_not(&mut self, inst: Inst, x: Value) -> Unit {
        self.lower_flag_not(inst, x);
    }

    fn flag_const(&mut self, inst: Inst, bits: u64) -> Unit {
        self.lower_flag_const(inst, bits);
    }

    fn flag_test(&mut self, inst: Inst, x: Value, any: bool) -> Unit {
        self.lower_flag_test(inst, x, any);
    }

    fn bits_test(&mut self, inst: Inst, p: Value, bits: BaleSrc, any: bool) -> Unit {
        self.lower_bits_test(inst, p, bits, any);
    }

    fn a_dword(&mut self, v: Value) -> Option<Unit> {
        (self.scalar(v) == Scalar::I32).then_some(())
    }

    fn flag_select(&mut self, inst: Inst, m: Value, a: Value, b: Value) -> Unit {
        self.lower_flag_select(inst, m, a, b);
    }

    fn flag_read(&mut self, inst: Inst, x: Value, offset: u8) -> Unit {
        self.lower_flag_read(inst, x, offset);
    }

    fn flag_write(&mut self, inst: Inst, old: Value, new: Value, offset: u8) -> Unit {
        self.lower_flag_write(inst, old, new, offset);
    }

    fn flag_to_bits(&mut self, inst: Inst, x: Value) -> Unit {
        self.lower_flag_to_bits(inst, x);
    }

    fn flag_from_bits(&mut self, inst: Inst, x: Value) -> Unit {
        self.lower_flag_from_bits(inst, x);
    }

    fn compare_int_onto(
        &mut self,
        inst: Inst,
        old: Value,
        offset: u8,
        cc: IntCC,
        a: BaleSrc,
        b: BaleSrc,
    ) -> Unit {
        self.compare_onto(inst, (old, offset), Compare::Int(cc), a, b);
    }

    fn compare_float_onto(
        &mut self,
        inst: Inst,
        old: Value,
        offset: u8,
        cc: FloatCC,
        a: BaleSrc,
        b: BaleSrc,
    ) -> Unit {
        self.compare_onto(inst, (old, offset), Compare::Float(cc), a, b);
    }

    fn on_grid(&mut self, v: Value, offset: u8) -> Option<Unit> {
        self.is_on_grid(u32::from(offset), self.ty(v).lanes())
            .then_some(())
    }

    fn one_bit(&mut self, v: Value) -> Option<Unit> {
        (self.ty(v).lanes() == 1).then_some(())
    }

    fn flag_splat(&mut self, inst: Inst, bit: Value) -> Unit {
        self.lower_flag_splat(inst, bit);
    }

    fn simd_goto(&mut self, inst: Inst, em: Value, rm: Value, cond: Value) -> Unit {
        self.lower_goto(inst, em, rm, cond);
    }

    fn simd_goto_int(
        &mut self,
        inst: Inst,
        em: Value,
        rm: Value,
        cc: IntCC,
        a: BaleSrc,
        b: BaleSrc,
    ) -> Unit {
        self.lower_goto_compare(inst, [em, rm], false, Compare::Int(cc), a, b);
    }

    fn sinkable_not(&mut self, v: Value) -> Option<Inst> {
        self.sinks_into_branch(v, |op| op == Opcode::Bnot)
    }

    fn simd_goto_not_int(
        &mut self,
        inst: Inst,
        em: Value,
        rm: Value,
        cc: IntCC,
        a: BaleSrc,
        b: BaleSrc,
    ) -> Unit {
        self.lower_goto_compare(inst, [em, rm], true, Compare::Int(cc), a, b);
    }

    fn simd_goto_not_float(
        &mut self,
        inst: Inst,
        em: Value,
        rm: Value,
        cc: FloatCC,
        a: BaleSrc,
        b: BaleSrc,
    ) -> Unit {
        self.lower_goto_compare(inst, [em, rm], true, Compare::Float(cc), a, b);
    }

    fn simd_goto_float(
        &mut self,
        inst: Inst,
        em: Value,
        rm: Value,
        cc: FloatCC,
        a: BaleSrc,
        b: BaleSrc,
    ) -> Unit {
        self.lower_goto_compare(inst, [em, rm], false, Compare::Float(cc), a, b);
    }

    fn simd_join(&mut self, inst: Inst, em: Value, rm: Value) -> Unit {
        self.lower_join(inst, em, rm);
    }

    fn add_carry(&mut self, inst: Inst, op: &Op, a: Value, b: Value) -> Unit {
        self.lower_carry(inst, *op, a, b);
    }

    fn undefined(&mut self, inst: Inst) -> Unit {
        if let Some(v) = self.first_result(inst)
            && let Some(dst) = self.value_regs[v].expand()
        {
            self.emit(MInst::Start { dst });
        }
        // A flag gets a definition in the prologue: see `Lower::undefined_flags`.
    }

    fn constant_vector(&mut self, inst: Inst, c: Constant) -> Unit {
        self.lower_constant_vector(inst, c);
    }

    fn dispatch_flag(&mut self, inst: Inst) -> Unit {
        self.lower_dispatch_mask(inst);
    }

    fn thread_place(&mut self, inst: Inst) -> Unit {
        self.lower_thread_place(inst);
    }

    fn time_stamp(&mut self, inst: Inst) -> Unit {
        self.lower_time_stamp(inst);
    }

    fn launch_value(&mut self, _: Inst) -> Unit {
        // The value is in the payload: see `Lower::reg`.
    }

    fn gather(
        &mut self,
        inst: Inst,
        mem: MemFlags,
        addr: Value,
        offset: i32,
        mask: OptValue,
        old: OptValue,
    ) -> Unit {
        self.lower_gather(inst, mem, addr, offset, mask, old);
    }

    fn scatter(
        &mut self,
        inst: Inst,
        mem: MemFlags,
        v: Value,
        addr: Value,
        offset: i32,
        mask: OptValue,
    ) -> Unit {
        self.lower_scatter(inst, mem, v, addr, offset, mask);
    }

    fn reads_into(&mut self, inst: Inst) -> Option<Unit> {
        self.load_into(inst).map(|_| ())
    }

    fn read_into(&mut self, inst: Inst) -> Unit {
        if let Some((load, to)) = self.load_into(inst) {
            self.loads_into[load] = Some(to);
        }
    }

    fn stored_in_slots(&mut self, inst: Inst) -> Option<()> {
        self.stores_slots(inst).then_some(())
    }

    fn scatter_operation(&mut self, inst: Inst, operation: Operation) -> Unit {
        self.scatter_in_slots(inst, operation);
    }

    fn block_read(&mut self, inst: Inst, mem: MemFlags, addr: Value, offset: i32) -> Unit {
        if let Some(v) = self.first_result(inst) {
            self.lower_block(Dir::Read, mem, v, addr, offset);
        }
    }

    fn block_write(&mut self, _: Inst, mem: MemFlags, v: Value, addr: Value, offset: i32) -> Unit {
        self.lower_block(Dir::Write, mem, v, addr, offset);
    }

    fn thread_barrier(&mut self, _: Inst, part: &BarrierPart) -> Unit {
        self.lower_barrier(*part);
    }

    fn whole(&mut self, inst: Inst) -> Unit {
        self.lower_whole(inst);
    }

    fn symbol_address(&mut self, inst: Inst, data: DataRef) -> Unit {
        self.lower_symbol(inst, data);
    }

    fn memory_fence(&mut self, _: Inst, spaces: FenceSpaces, _: Scope) -> Unit {
        self.lower_fence(spaces);
    }

    fn unsigned_cc(&mut self, cc: IntCC) -> Option<()> {
        (!cc.is_signed()).then_some(())
    }
}

pub(super) fn generated_view(l: &mut Lower<'_>, v: Value) -> View {
    super::generated::constructor_view(l, v)
}
