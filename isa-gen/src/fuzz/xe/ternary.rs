//! Three sources: strided alike or not, immediates of a word, Boolean functions, the systolic
//! array.

use super::Gen;
use crate::inst::{Dst, Inst, Src, SrcMods, Subfn};
use crate::op::{Op, TypeSet};
use crate::reg::{Reg, RegRef};
use crate::region::Region;
use crate::types::Type;

impl Gen<'_> {
    /// One of the types that registers of three-source instructions have, all integers or all
    /// floats.
    fn ternary_ty(&mut self, set: TypeSet, float: bool) -> Option<Type> {
        let has = |t: &Type| {
            t.is_float() == float
                && self.dice.tables.align1_types.code(*t).is_some()
                && *t != Type::Nf
        };
        let types: Vec<Type> = set.iter().filter(has).collect();
        self.dice.rng.pick(&types)
    }

    pub(super) fn ternary(&mut self, i: &mut Inst<Reg>) -> Option<()> {
        if self.dice.op == Op::Bfn {
            i.subfn = Subfn::Bfn(self.dice.rng.bits() as u8);
        }
        let (d, s) = self.dice.rng.pick(self.dice.info.types)?;
        let ty = self.dice.ty(d)?;
        let float = ty.is_float();
        let mut types = [ty; 3];
        for t in &mut types {
            if !s.contains(ty) || self.dice.rng.once_in(3) {
                *t = self.ternary_ty(s, float)?;
            }
        }
        self.choose_step(&[&[ty], &types[..]].concat())?;
        let (hs, sub) = match self.step {
            Some((bytes, sub)) => ((bytes / ty.bytes()) as u8, sub as u16),
            None => (self.dice.rng.pick(&[1, 1, 2])?, self.dice.sub(ty, 1)),
        };
        // Xe-LP counts in quadwords here.
        let unit = if self.dice.features.bfn {
            self.coarse()
        } else {
            8
        };
        if !matches!(hs, 1 | 2) || !u32::from(sub).is_multiple_of(unit) {
            return None;
        }
        let reg = match self.dice.rng.below(12) {
            0 if ty.bytes() > 1 => self.acc(),
            1 => Reg::NULL,
            _ => self.dice.grf(),
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
        if n != 1 && ty.is_int() && ty.bytes() <= 4 && self.dice.rng.once_in(6) {
            let signed = if ty.is_signed() { Type::W } else { Type::Uw };
            return Some(self.dice.value(signed));
        }
        let unit = self.coarse();
        let stride = |p: &mut Self| p.dice.rng.pick(&[0u8, 1, 2, 4]);
        let (region, sub) = match self.step {
            Some((bytes, sub)) if !self.dice.rng.once_in(4) => {
                let step = (bytes / ty.bytes()) as u8;
                let region = match (n, step) {
                    (2, 1 | 2 | 4) => Region::Scalar3 { hs: step },
                    (_, 1) => self.dice.rng.pick(&[
                        Region::Ternary { vs: 1, hs: 0 },
                        Region::Ternary { vs: 4, hs: 1 },
                        Region::Ternary { vs: 8, hs: 1 },
                    ])?,
                    (_, 2) => self.dice.rng.pick(&[
                        Region::Ternary { vs: 4, hs: 2 },
                        Region::Ternary { vs: 8, hs: 2 },
                    ])?,
                    (_, 4) => self.dice.rng.pick(&[
                        Region::Ternary { vs: 4, hs: 0 },
                        Region::Ternary { vs: 8, hs: 4 },
                    ])?,
                    _ => return None,
                };
                (region, sub as u16)
            }
            Some(_) if n == 2 => (Region::Scalar3 { hs: 0 }, self.dice.sub(ty, unit)),
            Some(_) => (Region::Ternary { vs: 0, hs: 0 }, self.dice.sub(ty, unit)),
            None if n == 2 => (
                Region::Scalar3 { hs: stride(self)? },
                self.dice.sub(ty, unit),
            ),
            None => {
                let vs = self.dice.rng.pick(&[0u8, 1, 4, 8])?;
                let hs = stride(self)?;
                (Region::Ternary { vs, hs }, self.dice.sub(ty, unit))
            }
        };
        let acc = ty.bytes() > 1 && self.dice.rng.once_in(12);
        Some(Src::Direct {
            at: RegRef::new(if acc { self.acc() } else { self.dice.grf() }, sub),
            region,
            ty,
            mods: self.dice.mods(),
        })
    }

    pub(super) fn dpas(&mut self, i: &mut Inst<Reg>) -> Option<()> {
        let repeat = self.dice.rng.below(8) as u8 + 1;
        i.subfn = Subfn::Dpas { depth: 8, repeat };
        let xe = self.dice.tables.xe.as_ref()?;
        let (d, s) = self.dice.rng.pick(self.dice.info.types)?;
        let types = |set: TypeSet, codes: &crate::table::TypeCodes| -> Vec<Type> {
            set.iter().filter(|t| codes.code(*t).is_some()).collect()
        };
        let sums = types(d, &xe.dpas_acc_types);
        let factors = types(s, &xe.dpas_types);
        let (ty, acc) = (self.dice.rng.pick(&sums)?, self.dice.rng.pick(&sums)?);
        let first = self.dice.rng.pick(&factors)?;
        let second = if ty.is_float() {
            first
        } else {
            self.dice.rng.pick(&factors)?
        };
        let whole = |p: &mut Self, reg: Option<Reg>, ty, sub| Src::Direct {
            at: RegRef::new(reg.unwrap_or(Reg::Grf(p.dice.rng.below(100) as u8)), sub),
            region: Region::SCALAR,
            ty,
            mods: SrcMods::default(),
        };
        i.dst = Dst::Direct {
            at: RegRef::new(Reg::Grf(self.dice.rng.below(100) as u8), 0),
            hs: 1,
            ty,
        };
        let null = self.dice.rng.once_in(6).then_some(Reg::NULL);
        // Source 2 may start at a row, which is half a register or all of it.
        let half = self.dice.rng.below(2) as u16 * (self.dice.features.grf_bytes / 2) as u16;
        // Intel's disassembler counts it in eight bits (docs/oracle-differences.md).
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
