//! Random three-source instructions: with equal and different strides, word immediates, Boolean
//! functions, and those of the systolic array.

use super::XeGenerator;
use crate::inst::{Dst, Inst, Src, SrcMods, Subfn};
use crate::op::{Op, TypeSet};
use crate::reg::{Reg, RegRef};
use crate::region::Region;
use crate::types::Type;

impl XeGenerator<'_> {
    /// Picks a type that registers of three-source instructions have, either integer or float.
    fn ternary_ty(&mut self, set: TypeSet, float: bool) -> Option<Type> {
        let has = |t: &Type| {
            t.is_float() == float
                && self.base.tables.align1_types.code(*t).is_some()
                && *t != Type::Nf
        };
        let types: Vec<Type> = set.iter().filter(has).collect();
        self.base.rng.pick(&types)
    }

    pub(super) fn ternary(&mut self, i: &mut Inst<Reg>) -> Option<()> {
        if self.base.op == Op::Bfn {
            i.subfn = Subfn::Bfn(self.base.rng.bits() as u8);
        }
        let (d, s) = self.base.rng.pick(self.base.info.types)?;
        let ty = self.base.ty(d)?;
        let float = ty.is_float();
        let mut types = [ty; 3];
        for t in &mut types {
            if !s.contains(ty) || self.base.rng.once_in(3) {
                *t = self.ternary_ty(s, float)?;
            }
        }
        self.choose_step(&[&[ty], &types[..]].concat())?;
        let (hs, sub) = match self.step {
            Some((bytes, sub)) => ((bytes / ty.bytes()) as u8, sub as u16),
            None => (self.base.rng.pick(&[1, 1, 2])?, self.base.sub(ty, 1)),
        };
        // The unit is a qword on Xe-LP.
        let unit = if self.base.features.bfn {
            self.coarse()
        } else {
            8
        };
        if !matches!(hs, 1 | 2) || !u32::from(sub).is_multiple_of(unit) {
            return None;
        }
        let reg = match self.base.rng.below(12) {
            0 if ty.bytes() > 1 => self.acc(),
            1 => Reg::NULL,
            _ => self.base.grf(),
        };
        let null = reg.is_null();
        i.dst = Dst::Direct {
            at: RegRef::new(reg, if null { 0 } else { sub }),
            hs,
            ty,
        };
        for (n, (slot, ty)) in i.srcs.iter_mut().zip(types).enumerate() {
            *slot = self.ternary_src(n, ty)?;
        }
        Some(())
    }

    fn ternary_src(&mut self, n: usize, ty: Type) -> Option<Src<Reg>> {
        if n != 1 && ty.is_int() && ty.bytes() <= 4 && self.base.rng.once_in(6) {
            let signed = if ty.is_signed() { Type::W } else { Type::Uw };
            return Some(self.base.value(signed));
        }
        let unit = self.coarse();
        let stride = |p: &mut Self| p.base.rng.pick(&[0u8, 1, 2, 4]);
        let (region, sub) = match self.step {
            Some((bytes, sub)) if !self.base.rng.once_in(4) => {
                let step = (bytes / ty.bytes()) as u8;
                let region = match (n, step) {
                    (2, 1 | 2 | 4) => Region::Scalar3 { hs: step },
                    (_, 1) => self.base.rng.pick(&[
                        Region::Ternary { vs: 1, hs: 0 },
                        Region::Ternary { vs: 4, hs: 1 },
                        Region::Ternary { vs: 8, hs: 1 },
                    ])?,
                    (_, 2) => self.base.rng.pick(&[
                        Region::Ternary { vs: 4, hs: 2 },
                        Region::Ternary { vs: 8, hs: 2 },
                    ])?,
                    (_, 4) => self.base.rng.pick(&[
                        Region::Ternary { vs: 4, hs: 0 },
                        Region::Ternary { vs: 8, hs: 4 },
                    ])?,
                    _ => return None,
                };
                (region, sub as u16)
            }
            Some(_) if n == 2 => (Region::Scalar3 { hs: 0 }, self.base.sub(ty, unit)),
            Some(_) => (Region::Ternary { vs: 0, hs: 0 }, self.base.sub(ty, unit)),
            None if n == 2 => (
                Region::Scalar3 { hs: stride(self)? },
                self.base.sub(ty, unit),
            ),
            None => {
                let vs = self.base.rng.pick(&[0u8, 1, 4, 8])?;
                let hs = stride(self)?;
                (Region::Ternary { vs, hs }, self.base.sub(ty, unit))
            }
        };
        let acc = ty.bytes() > 1 && self.base.rng.once_in(12);
        Some(Src::Direct {
            at: RegRef::new(if acc { self.acc() } else { self.base.grf() }, sub),
            region,
            ty,
            mods: self.base.mods(),
        })
    }

    pub(super) fn dpas(&mut self, i: &mut Inst<Reg>) -> Option<()> {
        let repeat = self.base.rng.below(8) as u8 + 1;
        i.subfn = Subfn::Dpas { depth: 8, repeat };
        let xe = self.base.tables.xe.as_ref()?;
        let (d, s) = self.base.rng.pick(self.base.info.types)?;
        let types = |set: TypeSet, codes: &crate::table::TypeCodes| -> Vec<Type> {
            set.iter().filter(|t| codes.code(*t).is_some()).collect()
        };
        let sums = types(d, &xe.dpas_acc_types);
        let factors = types(s, &xe.dpas_types);
        let (ty, acc) = (self.base.rng.pick(&sums)?, self.base.rng.pick(&sums)?);
        let first = self.base.rng.pick(&factors)?;
        let second = if ty.is_float() {
            first
        } else {
            self.base.rng.pick(&factors)?
        };
        let whole = |p: &mut Self, reg: Option<Reg>, ty, sub| Src::Direct {
            at: RegRef::new(reg.unwrap_or(Reg::Grf(p.base.rng.below(100) as u8)), sub),
            region: Region::SCALAR,
            ty,
            mods: SrcMods::default(),
        };
        i.dst = Dst::Direct {
            at: RegRef::new(Reg::Grf(self.base.rng.below(100) as u8), 0),
            hs: 1,
            ty,
        };
        let null = self.base.rng.once_in(6).then_some(Reg::NULL);
        // Source 2 may start at a row, which is half a register or a whole one.
        let half = self.base.rng.below(2) as u16 * (self.base.features.grf_bytes / 2) as u16;
        // Intel's disassembler has eight bits for its number (docs/oracle-differences.md).
        let counted = u32::from(half) * 8 / second.bits() < 256;
        let half = if counted { half } else { 0 };
        i.srcs = [
            whole(self, null, acc, 0),
            whole(self, None, first, 0),
            whole(self, None, second, half),
        ];
        Some(())
    }
}
