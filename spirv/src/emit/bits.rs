//! Bit fields, carries, long products, dot products of small integers, bfloats, and rounding to
//! half.

use super::{Emit, Leaves};
use crate::body::BInst;
use crate::error::Error;
use crate::module::types::Type;
use crate::read;
use gantry_codegen::ir::{FloatCC, IntCC, Scalar, Value};
use spirv::Op;

/// Returns true if this file emits an instruction.
pub(super) fn is_supported(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        BitFieldInsert
            | BitFieldSExtract
            | BitFieldUExtract
            | IAddCarry
            | ISubBorrow
            | UMulExtended
            | SMulExtended
            | QuantizeToF16
            | ConvertFToBF16INTEL
            | ConvertBF16ToFINTEL
            | SDot
            | UDot
            | SUDot
            | SDotAccSat
            | UDotAccSat
            | SUDotAccSat
    )
}

fn wrong(op: Op) -> Error {
    Error::malformed(format!("{} of what it does not take", read::name(op)))
}

impl Emit<'_, '_, '_> {
    pub(super) fn of_bits(&mut self, inst: &BInst) -> Result<Leaves, Error> {
        match inst.op {
            Op::BitFieldInsert | Op::BitFieldSExtract | Op::BitFieldUExtract => self.field(inst),
            Op::QuantizeToF16 => {
                let id = self.operand(inst, 0)?;
                let mut out = self.get(id)?;
                for v in &mut out {
                    *v = self.quantize(*v)?;
                }
                Ok(out)
            }
            Op::ConvertFToBF16INTEL | Op::ConvertBF16ToFINTEL => {
                let id = self.operand(inst, 0)?;
                let mut out = self.get(id)?;
                for v in &mut out {
                    *v = self.bfloat(inst.op, *v)?;
                }
                Ok(out)
            }
            Op::IAddCarry | Op::ISubBorrow | Op::UMulExtended | Op::SMulExtended => {
                self.extended_ints(inst)
            }
            _ => self.small_dot(inst),
        }
    }

    /// Mask of the low `count` bits, up to all.
    fn ones(&mut self, count: Value) -> Value {
        let bits = self.b.ty(count).scalar().bits();
        let (one, all) = (self.same(count, 1), self.same(count, u64::MAX));
        let some = self.b.ins().ishl(one, count);
        let some = self.b.ins().isub(some, one);
        let most = self.same(count, u64::from(bits));
        let whole = self
            .b
            .ins()
            .icmp(IntCC::UnsignedGreaterThanOrEqual, count, most);
        self.b.ins().select(whole, all, some)
    }

    fn field(&mut self, inst: &BInst) -> Result<Leaves, Error> {
        let insert = inst.op == Op::BitFieldInsert;
        let first = self.operand(inst, 0)?;
        let base = self.get(first)?;
        let skip = 1 + usize::from(insert);
        let new = if insert {
            let id = self.operand(inst, 1)?;
            Some(self.get(id)?)
        } else {
            None
        };
        let (offset, count) = (self.operand(inst, skip)?, self.operand(inst, skip + 1)?);
        let (offset, count) = (self.one(offset)?, self.one(count)?);
        let mut out = Leaves::new();
        for (n, v) in base.iter().enumerate() {
            let scalar = self.b.ty(*v).scalar();
            let ints = [*v, offset, count];
            if !ints.iter().all(|v| self.b.ty(*v).scalar().is_int()) {
                return Err(wrong(inst.op));
            }
            let by = self.resize(offset, scalar, false);
            let width = self.resize(count, scalar, false);
            let with = match &new {
                Some(new) => *new.get(n).ok_or_else(|| wrong(inst.op))?,
                None => *v,
            };
            let mut all = [*v, by, width, with];
            self.even(&mut all);
            let [v, by, width, with] = all;
            if self.b.ty(with) != self.b.ty(v) {
                return Err(wrong(inst.op));
            }
            let mask = self.ones(width);
            out.push(match inst.op {
                Op::BitFieldInsert => {
                    let place = self.b.ins().ishl(mask, by);
                    let with = self.b.ins().ishl(with, by);
                    let with = self.b.ins().band(with, place);
                    let rest = self.b.ins().bnot(place);
                    let rest = self.b.ins().band(v, rest);
                    self.b.ins().bor(with, rest)
                }
                op => {
                    let low = self.b.ins().ushr(v, by);
                    let low = self.b.ins().band(low, mask);
                    if op == Op::BitFieldUExtract {
                        low
                    } else {
                        // Sign extension of a field: (x ^ top) - top.
                        let one = self.same(mask, 1);
                        let half = self.b.ins().ushr(mask, one);
                        let top = self.b.ins().bxor(mask, half);
                        let turned = self.b.ins().bxor(low, top);
                        self.b.ins().isub(turned, top)
                    }
                }
            });
        }
        Ok(out)
    }

    /// Operations whose result is a structure of two members.
    fn extended_ints(&mut self, inst: &BInst) -> Result<Leaves, Error> {
        let (a, b) = (self.operand(inst, 0)?, self.operand(inst, 1)?);
        let (a, b) = (self.get(a)?, self.get(b)?);
        let (mut first, mut second) = (Leaves::new(), Leaves::new());
        for (a, b) in a.iter().zip(&b) {
            let mut v = [*a, *b];
            self.even(&mut v);
            let [a, b] = v;
            if !self.b.ty(a).scalar().is_int() || self.b.ty(a) != self.b.ty(b) {
                return Err(wrong(inst.op));
            }
            let (x, y) = match inst.op {
                Op::IAddCarry => {
                    let sum = self.b.ins().iadd(a, b);
                    (sum, self.b.ins().icmp(IntCC::UnsignedLessThan, sum, a))
                }
                Op::ISubBorrow => {
                    let d = self.b.ins().isub(a, b);
                    (d, self.b.ins().icmp(IntCC::UnsignedLessThan, a, b))
                }
                op => {
                    first.push(self.b.ins().imul(a, b));
                    second.push(match op {
                        Op::SMulExtended => self.b.ins().smulh(a, b),
                        _ => self.b.ins().umulh(a, b),
                    });
                    continue;
                }
            };
            let (one, zero) = (self.same(x, 1), self.same(x, 0));
            second.push(self.choose(y, one, zero)?);
            first.push(x);
        }
        first.extend(second);
        Ok(first)
    }

    /// Rounds a single to half precision. Subnormal halves become zero.
    fn quantize(&mut self, v: Value) -> Result<Value, Error> {
        if self.b.ty(v).scalar() != Scalar::F32 {
            return Err(wrong(Op::QuantizeToF16));
        }
        let ty = self.b.ty(v);
        let half = self.lanes(Scalar::F16, ty.lanes());
        let h = self.b.ins().fdemote(half, v);
        let back = self.b.ins().fpromote(ty, h);
        let magnitude = self.b.ins().fabs(back);
        let least = self.float(v, 2f64.powi(-14));
        let small = self.b.ins().fcmp(FloatCC::LessThan, magnitude, least);
        let zero = self.float(v, 0.0);
        self.choose(small, zero, back)
    }

    /// Converts a single to the bits of a bfloat, or back. Those bits are the upper half of a
    /// single.
    fn bfloat(&mut self, op: Op, v: Value) -> Result<Value, Error> {
        let ty = self.b.ty(v);
        let of = |scalar| self.lanes(scalar, ty.lanes());
        match (op, ty.scalar()) {
            (Op::ConvertFToBF16INTEL, Scalar::F32) => {
                let words = of(Scalar::I16);
                Ok(self.b.ins().fdemote_bf16_rte(words, v))
            }
            (Op::ConvertBF16ToFINTEL, Scalar::I16) => {
                let (bits, single) = (of(Scalar::I32), of(Scalar::F32));
                let wide = self.b.ins().uextend(bits, v);
                let by = self.same(wide, 16);
                let upper = self.b.ins().ishl(wide, by);
                Ok(self.b.ins().bitcast(single, upper))
            }
            _ => Err(wrong(op)),
        }
    }

    /// Elements of an operand: components of a vector, or bytes of a dword.
    fn small(&mut self, id: crate::read::Id, signed: bool, to: Scalar) -> Result<Leaves, Error> {
        let ty = self.type_of(id)?;
        let v = self.get(id)?;
        let mut out = Leaves::new();
        let packed = matches!(self.m.types.kind(ty), Type::Int(32));
        for v in v {
            if !self.b.ty(v).scalar().is_int() {
                return Err(wrong(Op::SDot));
            }
            if !packed {
                out.push(self.resize(v, to, signed));
                continue;
            }
            for n in 0..4 {
                let by = self.same(v, 8 * n);
                let byte = self.b.ins().ushr(v, by);
                let byte = self.resize(byte, Scalar::I8, false);
                out.push(self.resize(byte, to, signed));
            }
        }
        Ok(out)
    }

    /// Packs four bytes in a dword: a vector of bytes, or a dword. `None` for others.
    pub(crate) fn four_bytes(&mut self, id: read::Id) -> Result<Option<Value>, Error> {
        let ty = self.type_of(id)?;
        let packed = matches!(self.m.types.kind(ty), Type::Int(32));
        let v = self.get(id)?;
        let bytes = v.len() == 4 && v.iter().all(|&v| self.b.ty(v).scalar() == Scalar::I8);
        Ok(match v.as_slice() {
            [one] if packed => Some(*one),
            all if bytes => self.bitcast(all, Scalar::I32, 1)?.first().copied(),
            _ => None,
        })
    }

    /// Dot product of four bytes each, plus an accumulator. With `clamped` the sum saturates.
    pub(crate) fn dot_of_bytes(
        &mut self,
        [a, b]: [Value; 2],
        [sa, sb]: [bool; 2],
        more: Option<Value>,
        clamped: bool,
    ) -> Value {
        // The hardware has one mixed order of signs, so operands may swap.
        let (a, b) = if sb && !sa { (b, a) } else { (a, b) };
        let more = more.unwrap_or_else(|| self.same(a, 0));
        let mut v = [a, b, more];
        self.even(&mut v);
        let [a, b, more] = v;
        let ins = self.b.ins();
        match (sa || sb, sa && sb, clamped) {
            (true, true, false) => ins.sdp4a(a, b, more),
            (true, false, false) => ins.sudp4a(a, b, more),
            (false, _, false) => ins.udp4a(a, b, more),
            (true, true, true) => ins.sdp4a_sat(a, b, more),
            (true, false, true) => ins.sudp4a_sat(a, b, more),
            (false, _, true) => ins.udp4a_sat(a, b, more),
        }
    }

    fn small_dot(&mut self, inst: &BInst) -> Result<Leaves, Error> {
        let (sa, sb) = match inst.op {
            Op::SDot | Op::SDotAccSat => (true, true),
            Op::SUDot | Op::SUDotAccSat => (true, false),
            _ => (false, false),
        };
        let ty = inst.ty.expand().ok_or_else(|| wrong(inst.op))?;
        let to = self.scalar(ty)?;
        if !to.is_int() {
            return Err(wrong(inst.op));
        }
        let clamped = matches!(inst.op, Op::SDotAccSat | Op::UDotAccSat | Op::SUDotAccSat);
        let more = if clamped {
            let id = self.operand(inst, 2)?;
            Some(self.one(id)?)
        } else {
            None
        };
        if more.is_some_and(|v| self.b.ty(v).scalar() != to) {
            return Err(wrong(inst.op));
        }
        let (a, b) = (self.operand(inst, 0)?, self.operand(inst, 1)?);
        if to == Scalar::I32
            && let (Some(a), Some(b)) = (self.four_bytes(a)?, self.four_bytes(b)?)
        {
            let sum = self.dot_of_bytes([a, b], [sa, sb], more, clamped);
            return Ok(Leaves::from_slice(&[sum]));
        }
        let (a, b) = (self.small(a, sa, to)?, self.small(b, sb, to)?);
        let mut sum: Option<Value> = None;
        for (a, b) in a.iter().zip(&b) {
            let mut v = [*a, *b, sum.unwrap_or(*a)];
            self.even(&mut v);
            let [a, b, s] = v;
            sum = Some(match sum {
                None => self.b.ins().imul(a, b),
                Some(_) => self.b.ins().imad(a, b, s),
            });
        }
        let mut sum = sum.ok_or_else(|| wrong(inst.op))?;
        if let Some(more) = more {
            let mut v = [sum, more];
            self.even(&mut v);
            sum = if sa {
                self.b.ins().sadd_sat(v[0], v[1])
            } else {
                self.b.ins().uadd_sat(v[0], v[1])
            };
        }
        Ok(Leaves::from_slice(&[sum]))
    }
}
