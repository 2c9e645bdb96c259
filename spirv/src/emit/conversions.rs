//! Conversions: width, integer and float, bits, pointers.

use super::{Emit, Leaves};
use crate::body::BInst;
use crate::error::Error;
use gantry_codegen::ir::{Region, Scalar, Value};
use spirv::{Decoration, FPRoundingMode, Op};

/// Returns true if this file emits an instruction.
pub(super) fn is_supported(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        UConvert
            | SConvert
            | FConvert
            | ConvertFToU
            | ConvertFToS
            | ConvertSToF
            | ConvertUToF
            | SatConvertSToU
            | SatConvertUToS
            | ConvertPtrToU
            | ConvertUToPtr
            | Bitcast
            | PtrCastToGeneric
            | GenericCastToPtr
            | GenericCastToPtrExplicit
            | GenericPtrMemSemantics
    )
}

impl Emit<'_, '_, '_> {
    pub(super) fn conversion(&mut self, inst: &BInst) -> Result<Leaves, Error> {
        let arg = self.operand(inst, 0)?;
        let ty = inst.ty.expand().ok_or_else(|| Error::internal("no type"))?;
        let to = self.scalar(ty)?;
        let from = match (inst.op, inst.id.expand()) {
            (Op::Bitcast, Some(id)) => self.passed(arg, id)?,
            _ => self.get(arg)?,
        };
        match inst.op {
            Op::Bitcast => {
                if let Some(id) = inst.id.expand() {
                    self.same_place(id, arg);
                }
                let pointers = self.is_generic(ty) && self.pointer(arg).is_ok();
                let to = from
                    .first()
                    .map(|v| self.b.ty(*v).scalar())
                    .filter(|_| pointers)
                    .unwrap_or(to);
                return self.bitcast(&from, to, self.m.types.leaves(ty));
            }
            Op::GenericPtrMemSemantics => return self.semantics_of(arg),
            Op::PtrCastToGeneric | Op::GenericCastToPtr | Op::GenericCastToPtrExplicit => {
                return self.cast(inst, arg, ty);
            }
            _ => {}
        }
        let id = inst.id.expand().map(|id| self.body.origin(id));
        let mut saturated = matches!(inst.op, Op::SatConvertSToU | Op::SatConvertUToS);
        let mut rounding = None;
        if let Some(id) = id {
            saturated |= self.m.has(id, Decoration::SaturatedConversion);
            let mut all = self.m.decorations(id);
            let mode = all.find(|d| d.1 == Decoration::FPRoundingMode);
            rounding = mode.and_then(|d| FPRoundingMode::from_u32(*d.2.first()?));
        }
        let mut out = Leaves::new();
        for v in from {
            out.push(self.convert(inst.op, v, to, saturated, rounding)?);
        }
        Ok(out)
    }

    /// Integer of another width, truncated or extended.
    pub fn resize(&mut self, v: Value, to: Scalar, signed: bool) -> Value {
        let ty = self.b.ty(v);
        let new = self.lanes(to, ty.lanes());
        match ty.scalar().bits().cmp(&to.bits()) {
            std::cmp::Ordering::Equal => v,
            std::cmp::Ordering::Greater => self.b.ins().ireduce(new, v),
            std::cmp::Ordering::Less if signed => self.b.ins().sextend(new, v),
            std::cmp::Ordering::Less => self.b.ins().uextend(new, v),
        }
    }

    fn convert(
        &mut self,
        op: Op,
        v: Value,
        to: Scalar,
        saturated: bool,
        rounding: Option<FPRoundingMode>,
    ) -> Result<Value, Error> {
        use FPRoundingMode as R;
        let from = self.b.ty(v).scalar();
        let ty = self.lanes(to, self.b.ty(v).lanes());
        let wrong = || Error::malformed(format!("Op{op:?} of what it does not take"));
        let (in_float, out_float) = match op {
            Op::FConvert => (true, true),
            Op::ConvertFToS | Op::ConvertFToU => (true, false),
            Op::ConvertSToF | Op::ConvertUToF => (false, true),
            _ => (false, false),
        };
        let fits = |s: Scalar, float| if float { s.is_float() } else { s.is_int() };
        if !fits(from, in_float) || !fits(to, out_float) {
            return Err(wrong());
        }
        let b = &mut self.b;
        Ok(match op {
            Op::UConvert if saturated && to.bits() < from.bits() => b.ins().uutrunc_sat(ty, v),
            Op::SConvert if saturated && to.bits() < from.bits() => b.ins().sstrunc_sat(ty, v),
            Op::UConvert | Op::ConvertPtrToU | Op::ConvertUToPtr => self.resize(v, to, false),
            Op::SConvert => self.resize(v, to, true),
            Op::SatConvertSToU => {
                if to.bits() < from.bits() {
                    b.ins().sutrunc_sat(ty, v)
                } else {
                    let zero = self.same(v, 0);
                    let v = self.b.ins().smax(v, zero);
                    self.resize(v, to, false)
                }
            }
            Op::SatConvertUToS => match to.bits().cmp(&from.bits()) {
                std::cmp::Ordering::Less => b.ins().ustrunc_sat(ty, v),
                std::cmp::Ordering::Equal => {
                    let most = self.same(v, to.mask() >> 1);
                    self.b.ins().umin(v, most)
                }
                std::cmp::Ordering::Greater => self.resize(v, to, false),
            },
            Op::FConvert => match to.bits().cmp(&from.bits()) {
                std::cmp::Ordering::Equal => v,
                std::cmp::Ordering::Greater => b.ins().fpromote(ty, v),
                std::cmp::Ordering::Less => match rounding {
                    None => b.ins().fdemote(ty, v),
                    Some(R::RTE) => b.ins().fdemote_rte(ty, v),
                    Some(R::RTZ) => b.ins().fdemote_rtz(ty, v),
                    Some(R::RTP) => b.ins().fdemote_rtp(ty, v),
                    Some(R::RTN) => b.ins().fdemote_rtn(ty, v),
                },
            },
            Op::ConvertSToF => match rounding {
                None => b.ins().fcvt_from_sint(ty, v),
                Some(R::RTE) => b.ins().fcvt_from_sint_rte(ty, v),
                Some(R::RTZ) => b.ins().fcvt_from_sint_rtz(ty, v),
                Some(R::RTP) => b.ins().fcvt_from_sint_rtp(ty, v),
                Some(R::RTN) => b.ins().fcvt_from_sint_rtn(ty, v),
            },
            Op::ConvertUToF => match rounding {
                None => b.ins().fcvt_from_uint(ty, v),
                Some(R::RTE) => b.ins().fcvt_from_uint_rte(ty, v),
                Some(R::RTZ) => b.ins().fcvt_from_uint_rtz(ty, v),
                Some(R::RTP) => b.ins().fcvt_from_uint_rtp(ty, v),
                Some(R::RTN) => b.ins().fcvt_from_uint_rtn(ty, v),
            },
            // The IR's conversions clamp and convert NaN to 0, as saturated ones must. Others may.
            Op::ConvertFToS => match rounding {
                None | Some(R::RTZ) => b.ins().fcvt_to_sint(ty, v),
                Some(R::RTE) => b.ins().fcvt_to_sint_rte(ty, v),
                Some(R::RTP) => b.ins().fcvt_to_sint_rtp(ty, v),
                Some(R::RTN) => b.ins().fcvt_to_sint_rtn(ty, v),
            },
            Op::ConvertFToU => match rounding {
                None | Some(R::RTZ) => b.ins().fcvt_to_uint(ty, v),
                Some(R::RTE) => b.ins().fcvt_to_uint_rte(ty, v),
                Some(R::RTP) => b.ins().fcvt_to_uint_rtp(ty, v),
                Some(R::RTN) => b.ins().fcvt_to_uint_rtn(ty, v),
            },
            _ => return Err(wrong()),
        })
    }

    /// Reinterprets values as scalars of the same, larger or smaller width.
    pub fn bitcast(&mut self, from: &[Value], to: Scalar, count: u32) -> Result<Leaves, Error> {
        let wrong = || Error::malformed("a bitcast between types of different sizes");
        let first = *from.first().ok_or_else(wrong)?;
        let have = self.b.ty(first).scalar();
        if have == Scalar::B1 || to == Scalar::B1 {
            return Err(wrong());
        }
        // Pointers to SLM are narrower here than in memory.
        if from.len() == 1 && count == 1 && have.bits() != to.bits() {
            return if have.is_int() && to.is_int() {
                Ok(Leaves::from_slice(&[self.resize(first, to, false)]))
            } else {
                Err(wrong())
            };
        }
        if from.len() as u32 * have.bits() != count * to.bits() {
            return Err(wrong());
        }
        let mut values: Leaves = from.into();
        let lanes = self.even(&mut values);
        let mut out = Leaves::new();
        if have.bits() == to.bits() {
            let ty = self.lanes(to, lanes);
            for v in values {
                out.push(if have == to {
                    v
                } else {
                    self.b.ins().bitcast(ty, v)
                });
            }
        } else if have.bits() > to.bits() {
            // Each lane becomes several adjacent lanes.
            let parts = have.bits() / to.bits();
            let all = self.lanes(to, lanes * parts);
            let ty = self.lanes(to, lanes);
            for v in values {
                let v = self.b.ins().bitcast(all, v);
                for p in 0..parts {
                    let offset = (p * to.bytes()) as u16;
                    let region = Region::new(parts as u16, 1, 0, offset);
                    out.push(self.b.ins().rdregion(ty, v, region));
                }
            }
        } else {
            let parts = (to.bits() / have.bits()) as usize;
            let all = self.lanes(have, lanes * parts as u32);
            let ty = self.lanes(to, lanes);
            for group in values.chunks(parts) {
                let mut v = self.b.ins().undef(all);
                for (p, part) in group.iter().enumerate() {
                    let offset = (p as u32 * have.bytes()) as u16;
                    let region = Region::new(parts as u16, 1, 0, offset);
                    v = self.b.ins().wrregion(v, region, *part);
                }
                out.push(self.b.ins().bitcast(ty, v));
            }
        }
        Ok(out)
    }
}
