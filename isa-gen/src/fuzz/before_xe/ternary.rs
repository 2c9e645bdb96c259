//! Random three-source instructions in Align16 and Align1.

use super::PreXeGenerator;
use crate::inst::{Dst, Inst, Src};
use crate::legal::geometry::{dst_grfs_spanned, grfs_spanned};
use crate::reg::{Arf, Reg, RegRef};
use crate::region::{ExecSize, Region};
use crate::types::Type;

impl PreXeGenerator<'_> {
    pub(super) fn ternary_align16(&mut self, i: &mut Inst<Reg>) -> Option<()> {
        let (d, s) = self.base.rng.pick(self.base.info.types)?;
        let ty = self.base.ty(d)?;
        if ty.bytes() == 8 && self.base.exec > ExecSize::S8 || self.base.exec > ExecSize::S16 {
            return None;
        }
        // A row of channels is 16 bytes.
        let row = |p: &mut Self, ty: Type| {
            (p.base.rng.below(2) * 16) as u16 / ty.bytes() as u16 * ty.bytes() as u16
        };
        let sub = if self.base.exec == ExecSize::S1 {
            self.base.sub(ty, 1)
        } else {
            row(self, ty)
        };
        if dst_grfs_spanned(sub.into(), 1, self.base.exec, ty.bytes(), 32) > 2 {
            return None;
        }
        if ty == Type::Hf && self.base.exec == ExecSize::S1 && sub % 8 >= 8 {
            return None;
        }
        i.dst = Dst::Direct {
            at: RegRef::new(self.base.grf(), sub),
            hs: 1,
            ty,
        };
        let mut first = None;
        for n in 0..3 {
            let src_ty = match first {
                Some(t @ (Type::F | Type::Hf)) => {
                    // Before Gen9 all sources have one type.
                    if s.contains(Type::F)
                        && s.contains(Type::Hf)
                        && self.base.tables.ternary_unit == 2
                    {
                        self.base.ty(s)?
                    } else {
                        t
                    }
                }
                Some(t) => t,
                None => {
                    // Integer operations have a single type.
                    if ty.is_int() { ty } else { self.base.ty(s)? }
                }
            };
            first = first.or(Some(src_ty));
            let scalar = self.base.exec == ExecSize::S1 || self.base.rng.once_in(3);
            let region = match (n, scalar) {
                (2, true) => Region::Scalar3 { hs: 0 },
                (2, false) => Region::Scalar3 { hs: 1 },
                (_, true) => Region::Ternary { vs: 0, hs: 0 },
                (_, false) => Region::Ternary { vs: 2, hs: 1 },
            };
            let sub = if scalar {
                let sub = self.base.sub(src_ty, 1);
                sub - sub % u16::from(self.base.tables.ternary_unit.max(1))
            } else {
                row(self, src_ty)
            };
            *i.srcs.get_mut(n)? = Src::Direct {
                at: RegRef::new(self.base.grf(), sub),
                region,
                ty: src_ty,
                mods: self.base.mods(),
            };
        }
        Some(())
    }

    pub(super) fn ternary_align1(&mut self, i: &mut Inst<Reg>) -> Option<()> {
        let (d, s) = self.base.rng.pick(self.base.info.types)?;
        let ty = self.base.ty(d)?;
        self.base.tables.align1_types.code(ty)?;
        let hs = self.base.rng.pick(&[1, 1, 2])?;
        let sub = self.base.rng.below(4) as u16 * 8;
        let spans = dst_grfs_spanned(sub.into(), hs.into(), self.base.exec, ty.bytes(), 32);
        if spans > 2 {
            return None;
        }
        let acc = Reg::Arf(Arf::Acc, self.base.rng.below(2) as u8);
        i.dst = Dst::Direct {
            at: if ty == Type::Nf || self.base.rng.once_in(10) {
                RegRef::new(acc, 0)
            } else {
                RegRef::new(self.base.grf(), sub)
            },
            hs,
            ty,
        };
        for n in 0..3 {
            let ty = self.base.ty(s).filter(|t| t.is_float() == ty.is_float())?;
            self.base.tables.align1_types.code(ty)?;
            let immediate = n != 1 && ty.bytes() == 2 && self.base.rng.once_in(4);
            *i.srcs.get_mut(n)? = if immediate {
                self.base.value(ty)
            } else {
                self.ternary_source(n, ty)?
            };
        }
        Some(())
    }

    fn ternary_source(&mut self, n: usize, ty: Type) -> Option<Src<Reg>> {
        let mods = self.base.mods();
        if n == 1 && (ty == Type::Nf || self.base.rng.once_in(12)) {
            let region = self.base.rng.pick(&[(0, 0), (2, 1), (4, 1), (8, 1)])?;
            return Some(Src::Direct {
                at: RegRef::new(Reg::Arf(Arf::Acc, self.base.rng.below(2) as u8), 0),
                region: Region::Ternary {
                    vs: region.0,
                    hs: region.1,
                },
                ty,
                mods,
            });
        }
        for _ in 0..50 {
            let scalar = self.base.rng.once_in(3);
            let hs = if scalar {
                0
            } else {
                self.base.rng.pick(&[0, 1, 1, 1, 2, 4])?
            };
            let vs = if scalar {
                0
            } else {
                self.base.rng.pick(&[0, 2, 4, 8, 8])?
            };
            let region = if n == 2 {
                Region::Scalar3 { hs }
            } else {
                Region::Ternary { vs, hs }
            };
            let sub = self.base.sub(ty, 1);
            // The strides determine the width of a row.
            let flat = if n == 2 || hs == 0 || vs == 0 {
                Region::rect(0, 1, 0)
            } else {
                Region::rect(vs, (vs / hs).max(1), hs)
            };
            if grfs_spanned(sub.into(), flat, self.base.exec, ty.bytes(), 32)? <= 2 {
                return Some(Src::Direct {
                    at: RegRef::new(self.base.grf(), sub),
                    region,
                    ty,
                    mods,
                });
            }
        }
        None
    }
}
