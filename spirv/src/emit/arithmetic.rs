//! Arithmetic, comparison and selection of integers, floats and bools.

use super::{Emit, Leaves};
use crate::body::BInst;
use crate::contraction::Fused;
use crate::error::Error;
use crate::op_info::is_int_compare;
use gantry_codegen::ir::{FloatCC, IntCC, Scalar, Value};
use smallvec::SmallVec;
use spirv::Op;

/// Returns true if this file emits an instruction.
pub(super) fn is_supported(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        IAdd | ISub
            | IMul
            | UDiv
            | SDiv
            | UMod
            | SRem
            | SMod
            | SNegate
            | FAdd
            | FSub
            | FMul
            | FDiv
            | FRem
            | FMod
            | FNegate
            | FmaKHR
            | VectorTimesScalar
            | Dot
            | ShiftLeftLogical
            | ShiftRightLogical
            | ShiftRightArithmetic
            | BitwiseAnd
            | BitwiseOr
            | BitwiseXor
            | Not
            | BitCount
            | BitReverse
            | LogicalAnd
            | LogicalOr
            | LogicalNot
            | LogicalEqual
            | LogicalNotEqual
            | Select
            | Any
            | All
            | FOrdEqual
            | FOrdNotEqual
            | FOrdLessThan
            | FOrdLessThanEqual
            | FOrdGreaterThan
            | FOrdGreaterThanEqual
            | FUnordEqual
            | FUnordNotEqual
            | FUnordLessThan
            | FUnordLessThanEqual
            | FUnordGreaterThan
            | FUnordGreaterThanEqual
            | Ordered
            | Unordered
            | LessOrGreater
            | IsNan
            | IsInf
            | IsFinite
            | IsNormal
            | SignBitSet
            | PtrEqual
            | PtrNotEqual
    ) || is_int_compare(op)
}

impl Emit<'_, '_, '_> {
    /// Emits a contracted sum.
    fn fused(&mut self, inst: &BInst, sum: Fused) -> Result<Leaves, Error> {
        let addend = self.get(self.operand(inst, 1 - sum.product)?)?;
        let factors = [self.get(sum.factors[0])?, self.get(sum.factors[1])?];
        let differ = || Error::malformed("operands of several sizes");
        let mut out = Leaves::new();
        for (n, &c) in addend.iter().enumerate() {
            // One factor may be a scalar.
            let leaf = |of: &Leaves| of.get(if of.len() == 1 { 0 } else { n }).copied();
            let factor = |f: &Leaves| leaf(f).ok_or_else(differ);
            let mut v = [factor(&factors[0])?, factor(&factors[1])?, c];
            let scalar = self.b.ty(c).scalar();
            if v.iter().any(|&v| self.b.ty(v).scalar() != scalar) || !scalar.is_float() {
                return Err(wrong(inst.op));
            }
            self.even(&mut v);
            let [mut a, b, mut c] = v;
            if inst.op == Op::FSub {
                let negated = if sum.product == 0 { &mut c } else { &mut a };
                *negated = self.b.ins().fneg(*negated);
            }
            out.push(self.b.ins().fma(a, b, c));
        }
        Ok(out)
    }

    /// Emits a product and a sum with one rounding, component by component.
    fn fma(&mut self, inst: &BInst) -> Result<Leaves, Error> {
        let mut all = SmallVec::<[Leaves; 3]>::new();
        for n in 0..3 {
            all.push(self.get(self.operand(inst, n)?)?);
        }
        let mut out = Leaves::new();
        for n in 0..all[0].len() {
            let leaf = |of: &Leaves| of.get(n).copied();
            let leaf = |of| leaf(of).ok_or_else(|| Error::malformed("operands of several sizes"));
            let mut v = [leaf(&all[0])?, leaf(&all[1])?, leaf(&all[2])?];
            let scalar = self.b.ty(v[0]).scalar();
            if v.iter().any(|&v| self.b.ty(v).scalar() != scalar) || !scalar.is_float() {
                return Err(wrong(inst.op));
            }
            self.even(&mut v);
            out.push(self.b.ins().fma(v[0], v[1], v[2]));
        }
        Ok(out)
    }

    pub(super) fn arithmetic(&mut self, inst: &BInst) -> Result<Leaves, Error> {
        let mode = self.fast_mode(inst);
        self.assume(inst, mode);
        let sum = inst.id.expand().and_then(|id| self.fused[id]);
        if let (Some(sum), Op::FAdd | Op::FSub) = (sum, inst.op) {
            return self.fused(inst, sum);
        }
        match inst.op {
            Op::Dot => return self.dot(inst, sum.is_some()),
            Op::FmaKHR => return self.fma(inst),
            Op::Select => return self.select(inst),
            Op::Any | Op::All => {
                let parts = self.get(self.operand(inst, 0)?)?;
                if parts.iter().any(|v| self.b.ty(*v).scalar() != Scalar::B1) {
                    return Err(Error::malformed(
                        "what is not of bools is asked for all or any",
                    ));
                }
                let mut out: Option<Value> = None;
                for p in parts {
                    out = Some(match out {
                        None => p,
                        Some(o) => self.logic(inst.op == Op::All, o, p),
                    });
                }
                return Ok(out.into_iter().collect());
            }
            _ => {}
        }
        let count = self.body.operands(inst).len();
        let mut all: SmallVec<[Leaves; 2]> = SmallVec::new();
        for n in 0..count.min(2) {
            all.push(self.get(self.operand(inst, n)?)?);
        }
        if self.compares_pointers(inst.op) && count == 2 {
            let pointers = [self.operand(inst, 0)?, self.operand(inst, 1)?];
            all = self.compared(pointers)?.into();
        }
        if let Some(decided) = self.decided(inst, mode, &all) {
            return Ok(decided);
        }
        let op = self.compare(inst, mode);
        let ty = inst.ty.expand();
        let want = ty.map_or(0, |t| self.m.types.leaves(t)) as usize;
        let mut out = Leaves::new();
        for n in 0..want {
            let leaf = |of: &Leaves| match of.as_slice() {
                // One operand is a scalar.
                [one] if inst.op == Op::VectorTimesScalar => Some(*one),
                many => many.get(n).copied(),
            };
            let leaf = |of| leaf(of).ok_or_else(|| Error::malformed("operands of several sizes"));
            out.push(match all.as_slice() {
                [a] => self.unary(inst.op, leaf(a)?)?,
                [a, b] => {
                    let (a, b) = (leaf(a)?, leaf(b)?);
                    match self.simpler(op, mode, a, b) {
                        Some(v) => v,
                        None => self.binary(op, a, b)?,
                    }
                }
                _ => return Err(Error::malformed("no operands")),
            });
        }
        Ok(out)
    }

    /// Conjunction or disjunction of bools.
    fn logic(&mut self, and: bool, a: Value, b: Value) -> Value {
        let mut v = [a, b];
        self.even(&mut v);
        if and {
            self.b.ins().band(v[0], v[1])
        } else {
            self.b.ins().bor(v[0], v[1])
        }
    }

    /// Constant with the type of a value.
    pub fn same(&mut self, like: Value, bits: u64) -> Value {
        let ty = self.b.ty(like);
        match ty.scalar() {
            Scalar::B1 => {
                let ones = u64::MAX >> (64 - ty.lanes().clamp(1, 64));
                self.b
                    .ins()
                    .bconst(ty.lanes(), if bits & 1 != 0 { ones } else { 0 })
            }
            s if s.is_float() => {
                let v = self.b.ins().vconst(s, &[bits & s.mask()]);
                self.b.splat(v, ty.lanes())
            }
            s => self.b.ins().iconst(ty, (bits & s.mask()) as i64),
        }
    }

    fn unary(&mut self, op: Op, a: Value) -> Result<Value, Error> {
        let scalar = self.b.ty(a).scalar();
        let want = match op {
            Op::LogicalNot => scalar == Scalar::B1,
            Op::SNegate | Op::Not | Op::BitCount | Op::BitReverse => scalar.is_int(),
            _ => scalar.is_float(),
        };
        if !want {
            return Err(wrong(op));
        }
        Ok(match op {
            Op::SNegate => self.b.ins().ineg(a),
            Op::FNegate => self.b.ins().fneg(a),
            Op::Not | Op::LogicalNot => self.b.ins().bnot(a),
            Op::BitCount => self.b.ins().popcnt(a),
            Op::BitReverse => self.b.ins().bfrev(a),
            Op::IsNan => self.b.ins().fcmp(FloatCC::NotEqual, a, a),
            Op::IsInf | Op::IsFinite | Op::IsNormal | Op::SignBitSet => self.float_class(op, a)?,
            _ => return Err(wrong(op)),
        })
    }

    /// Bits of a float as an integer.
    pub fn bits(&mut self, a: Value) -> Result<Value, Error> {
        let ty = self.b.ty(a);
        let int = match ty.scalar() {
            Scalar::F16 => Scalar::I16,
            Scalar::F32 => Scalar::I32,
            Scalar::F64 => Scalar::I64,
            _ => return Err(Error::malformed("a float was expected")),
        };
        let ty = self.lanes(int, ty.lanes());
        Ok(self.b.ins().bitcast(ty, a))
    }

    fn float_class(&mut self, op: Op, a: Value) -> Result<Value, Error> {
        let scalar = self.b.ty(a).scalar();
        let bits = self.bits(a)?;
        let (width, fraction) = match scalar {
            Scalar::F16 => (16, 10),
            Scalar::F32 => (32, 23),
            _ => (64, 52),
        };
        let sign = 1u64 << (width - 1);
        let infinity = (sign - 1) >> fraction << fraction;
        if op == Op::SignBitSet {
            let zero = self.same(bits, 0);
            return Ok(self.b.ins().icmp(IntCC::SignedLessThan, bits, zero));
        }
        let mask = self.same(bits, sign - 1);
        let magnitude = self.b.ins().band(bits, mask);
        let inf = self.same(bits, infinity);
        Ok(match op {
            Op::IsInf => self.b.ins().icmp(IntCC::Equal, magnitude, inf),
            Op::IsFinite => self.b.ins().icmp(IntCC::UnsignedLessThan, magnitude, inf),
            _ => {
                // From the least normal number to the greatest.
                let least = 1u64 << fraction;
                let first = self.same(bits, least);
                let from = self.b.ins().isub(magnitude, first);
                let span = self.same(bits, infinity - least);
                self.b.ins().icmp(IntCC::UnsignedLessThan, from, span)
            }
        })
    }

    fn binary(&mut self, op: Op, a: Value, b: Value) -> Result<Value, Error> {
        let mut v = [a, b];
        self.even(&mut v);
        let [a, mut b] = v;
        let (ta, tb) = (self.b.ty(a), self.b.ty(b));
        let shift = matches!(
            op,
            Op::ShiftLeftLogical | Op::ShiftRightLogical | Op::ShiftRightArithmetic
        );
        if shift && ta.scalar().is_int() && tb.scalar().is_int() {
            // Shift counts are modulo the width, so the low bits suffice.
            b = self.resize(b, ta.scalar(), false);
        } else if ta != tb {
            return Err(wrong(op));
        }
        let scalar = ta.scalar();
        use Op::*;
        use {FloatCC as F, IntCC as I};
        let int = match op {
            IEqual | PtrEqual => Some(I::Equal),
            INotEqual | PtrNotEqual => Some(I::NotEqual),
            ULessThan => Some(I::UnsignedLessThan),
            ULessThanEqual => Some(I::UnsignedLessThanOrEqual),
            UGreaterThan => Some(I::UnsignedGreaterThan),
            UGreaterThanEqual => Some(I::UnsignedGreaterThanOrEqual),
            SLessThan => Some(I::SignedLessThan),
            SLessThanEqual => Some(I::SignedLessThanOrEqual),
            SGreaterThan => Some(I::SignedGreaterThan),
            SGreaterThanEqual => Some(I::SignedGreaterThanOrEqual),
            _ => None,
        };
        if let Some(cc) = int {
            return if scalar.is_int() {
                Ok(self.b.ins().icmp(cc, a, b))
            } else {
                Err(wrong(op))
            };
        }
        // Condition, and whether it is negated: unordered conditions negate the opposite ordered
        // one.
        let float = match op {
            FOrdEqual => Some((F::Equal, false)),
            FOrdLessThan => Some((F::LessThan, false)),
            FOrdLessThanEqual => Some((F::LessThanOrEqual, false)),
            FOrdGreaterThan => Some((F::GreaterThan, false)),
            FOrdGreaterThanEqual => Some((F::GreaterThanOrEqual, false)),
            FUnordNotEqual => Some((F::NotEqual, false)),
            FUnordLessThan => Some((F::GreaterThanOrEqual, true)),
            FUnordLessThanEqual => Some((F::GreaterThan, true)),
            FUnordGreaterThan => Some((F::LessThanOrEqual, true)),
            FUnordGreaterThanEqual => Some((F::LessThan, true)),
            _ => None,
        };
        if let (Some((cc, not)), true) = (float, scalar.is_float()) {
            let v = self.b.ins().fcmp(cc, a, b);
            return Ok(if not { self.b.ins().bnot(v) } else { v });
        }
        if scalar.is_float() && matches!(op, FOrdNotEqual | LessOrGreater | FUnordEqual) {
            let less = self.b.ins().fcmp(F::LessThan, a, b);
            let more = self.b.ins().fcmp(F::GreaterThan, a, b);
            let v = self.b.ins().bor(less, more);
            return Ok(match op {
                FUnordEqual => self.b.ins().bnot(v),
                _ => v,
            });
        }
        if scalar.is_float() && matches!(op, Ordered | Unordered) {
            let first = self.b.ins().fcmp(F::NotEqual, a, a);
            let second = self.b.ins().fcmp(F::NotEqual, b, b);
            let v = self.b.ins().bor(first, second);
            return Ok(match op {
                Ordered => self.b.ins().bnot(v),
                _ => v,
            });
        }
        let of_ints = matches!(
            op,
            IAdd | ISub
                | IMul
                | UDiv
                | SDiv
                | UMod
                | SRem
                | SMod
                | BitwiseAnd
                | BitwiseOr
                | BitwiseXor
        ) || shift;
        let of_floats = matches!(
            op,
            FAdd | FSub | FMul | FDiv | FRem | FMod | VectorTimesScalar
        );
        let of_bools = matches!(op, LogicalAnd | LogicalOr | LogicalEqual | LogicalNotEqual);
        let fits = of_ints && scalar.is_int()
            || of_floats && scalar.is_float()
            || of_bools && scalar == Scalar::B1;
        if !fits {
            return Err(wrong(op));
        }
        Ok(match op {
            IAdd => self.b.ins().iadd(a, b),
            ISub => self.b.ins().isub(a, b),
            IMul => self.b.ins().imul(a, b),
            UDiv => self.b.ins().udiv(a, b),
            SDiv => self.b.ins().sdiv(a, b),
            UMod => self.b.ins().urem(a, b),
            SRem => self.b.ins().srem(a, b),
            SMod => {
                // The remainder has the sign of the divisor.
                let r = self.b.ins().srem(a, b);
                let zero = self.same(r, 0);
                let some = self.b.ins().icmp(I::NotEqual, r, zero);
                let signs = self.b.ins().bxor(r, b);
                let other = self.b.ins().icmp(I::SignedLessThan, signs, zero);
                let add = self.b.ins().band(some, other);
                let sum = self.b.ins().iadd(r, b);
                self.b.ins().select(add, sum, r)
            }
            FAdd => self.b.ins().fadd(a, b),
            FSub => self.b.ins().fsub(a, b),
            FMul | VectorTimesScalar => self.b.ins().fmul(a, b),
            FDiv => self.quotient(a, b),
            FRem | FMod => {
                let q = self.b.ins().fdiv_rn(a, b);
                let whole = match op {
                    FRem => self.b.ins().ftrunc(q),
                    _ => self.b.ins().ffloor(q),
                };
                let minus = self.b.ins().fneg(whole);
                self.b.ins().fma(minus, b, a)
            }
            ShiftLeftLogical => self.b.ins().ishl(a, b),
            ShiftRightLogical => self.b.ins().ushr(a, b),
            ShiftRightArithmetic => self.b.ins().sshr(a, b),
            BitwiseAnd | LogicalAnd => self.b.ins().band(a, b),
            BitwiseOr | LogicalOr => self.b.ins().bor(a, b),
            BitwiseXor | LogicalNotEqual => self.b.ins().bxor(a, b),
            LogicalEqual => {
                let v = self.b.ins().bxor(a, b);
                self.b.ins().bnot(v)
            }
            _ => return Err(wrong(op)),
        })
    }

    /// Quotient of floats. That of singles is the math unit's unless exact division is requested.
    pub fn quotient(&mut self, a: Value, b: Value) -> Value {
        if self.b.ty(a).scalar() == Scalar::F32 && !self.exact_division {
            self.b.ins().fdiv(a, b)
        } else {
            self.b.ins().fdiv_rn(a, b)
        }
    }

    /// Square root, with the precision of [`Emit::quotient`].
    pub fn root(&mut self, a: Value) -> Value {
        if self.b.ty(a).scalar() == Scalar::F32 && !self.exact_division {
            self.b.ins().fsqrt(a)
        } else {
            self.b.ins().fsqrt_rn(a)
        }
    }

    /// Dot product. With `once`, each product is contracted with the sum.
    fn dot(&mut self, inst: &BInst, once: bool) -> Result<Leaves, Error> {
        let a = self.get(self.operand(inst, 0)?)?;
        let b = self.get(self.operand(inst, 1)?)?;
        let mut sum: Option<Value> = None;
        for (a, b) in a.iter().zip(&b) {
            let mut v = [*a, *b, sum.unwrap_or(*a)];
            self.even(&mut v);
            let [a, b, s] = v;
            if !self.b.ty(a).scalar().is_float() || self.b.ty(a) != self.b.ty(b) {
                return Err(wrong(inst.op));
            }
            sum = Some(match sum {
                None => self.b.ins().fmul(a, b),
                // Packed halves, as loads return them, are legal for `mul` and not for `mad`.
                Some(_) if once && self.b.ty(a).scalar() != Scalar::F16 => {
                    self.b.ins().fma(a, b, s)
                }
                Some(_) => {
                    let p = self.b.ins().fmul(a, b);
                    self.b.ins().fadd(s, p)
                }
            });
        }
        Ok(sum.into_iter().collect())
    }

    fn select(&mut self, inst: &BInst) -> Result<Leaves, Error> {
        let cond = self.get(self.operand(inst, 0)?)?;
        let to = inst.id.expand().ok_or_else(|| Error::internal("no id"))?;
        let a = self.passed(self.operand(inst, 1)?, to)?;
        let b = self.passed(self.operand(inst, 2)?, to)?;
        let mut out = Leaves::new();
        for (n, (a, b)) in a.iter().zip(&b).enumerate() {
            let cond = match cond.as_slice() {
                [one] => *one,
                many => *many.get(n).ok_or_else(|| wrong(inst.op))?,
            };
            out.push(self.choose(cond, *a, *b)?);
        }
        Ok(out)
    }

    /// Selects one of two values in each lane.
    pub fn choose(&mut self, cond: Value, a: Value, b: Value) -> Result<Value, Error> {
        let mut v = [cond, a, b];
        self.even(&mut v);
        let [cond, a, b] = v;
        if !self.b.ty(cond).is_pred() || self.b.ty(a) != self.b.ty(b) {
            return Err(wrong(Op::Select));
        }
        if self.b.ty(a).is_pred() {
            let not = self.b.ins().bnot(cond);
            let (a, b) = (self.b.ins().band(cond, a), self.b.ins().band(not, b));
            return Ok(self.b.ins().bor(a, b));
        }
        Ok(self.b.ins().select(cond, a, b))
    }
}

fn wrong(op: Op) -> Error {
    Error::malformed(format!("Op{op:?} of operands that it does not take"))
}
