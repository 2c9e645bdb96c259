//! Random sends with one and two payloads, with immediate descriptors and ones in the address
//! register.

use super::PreXeGenerator;
use crate::inst::{Desc, Dst, Inst, InstOpts, SendDescs, Src, SrcMods};
use crate::op::Format;
use crate::reg::{Arf, Reg, RegRef};
use crate::region::Region;
use crate::types::Type;

impl PreXeGenerator<'_> {
    fn payload(&mut self, ty: Type) -> Src<Reg> {
        Src::Direct {
            at: RegRef::new(self.base.grf(), 0),
            region: Region::SCALAR,
            ty,
            mods: SrcMods::default(),
        }
    }

    pub(super) fn send(&mut self, i: &mut Inst<Reg>) -> Option<()> {
        let split = self.base.info.format == Format::SplitSend;
        let types = [Type::Ud, Type::F, Type::Hf, Type::W, Type::Uw, Type::D];
        let ty = if self.base.rng.once_in(2) {
            Type::Ud
        } else {
            self.base.rng.pick(&types)?
        };
        let reg = if self.base.rng.once_in(4) {
            Reg::NULL
        } else {
            self.base.grf()
        };
        i.dst = Dst::Direct {
            at: RegRef::new(reg, 0),
            hs: 1,
            ty,
        };
        let src_ty = if split {
            Type::Ud
        } else {
            self.base.rng.pick(&types)?
        };
        for ty in [ty, src_ty] {
            self.base.tables.reg_types.code(ty)?;
        }
        i.srcs[0] = self.payload(src_ty);
        if split {
            i.srcs[1] = self.payload(Type::Ud);
        }
        let eot = self.base.rng.once_in(4);
        let mut ex = self.base.rng.below(14) as u32;
        if self.base.features.split_send {
            ex |= self.base.rng.bits() as u32 & 0xffff_0000;
        }
        if eot {
            ex |= 1 << 5;
        }
        if split {
            ex |= (self.base.rng.below(15) as u32 + 1) << 6;
        }
        i.opts.set(InstOpts::EOT, eot);
        let a0 = |sub| Desc::Reg(RegRef::new(Reg::Arf(Arf::Address, 0), sub));
        i.send = Some(SendDescs {
            ex: if split && self.base.rng.once_in(4) {
                a0(self.base.rng.below(8) as u16 * 4)
            } else {
                Desc::Imm(ex)
            },
            desc: if self.base.rng.once_in(4) {
                a0(0)
            } else {
                // Gen9 is the first with bits 30 and 29.
                let bits = if self.base.features.split_send {
                    31
                } else {
                    29
                };
                Desc::Imm(self.base.rng.bits() as u32 >> (32 - bits))
            },
            src1_len: None,
        });
        Some(())
    }
}
