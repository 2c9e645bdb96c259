//! Random sends of every shared function, with immediate descriptors and ones in the address
//! register.

use super::XeGenerator;
use crate::inst::{Desc, Dst, Inst, InstOpts, SendDescs, Src, SrcMods, Subfn};
use crate::reg::{Arf, Reg, RegRef};
use crate::region::Region;
use crate::sfid::Sfid;
use crate::types::Type;

impl XeGenerator<'_> {
    pub(super) fn send(&mut self, i: &mut Inst<Reg>) -> Option<()> {
        let sfids: Vec<Sfid> = (0..16)
            .filter_map(Sfid::new)
            .filter(|s| s.mnemonic(self.base.platform).is_some())
            .collect();
        i.subfn = Subfn::Send(self.base.rng.pick(&sfids)?);
        let eot = self.base.rng.once_in(6);
        i.opts.set(InstOpts::EOT, eot);
        let serialize = self.base.features.serialize && self.base.rng.once_in(12);
        i.opts.set(InstOpts::SERIALIZE, serialize);
        let length = |p: &mut Self, most: u64| p.base.rng.below(most) as u32;
        let (src0, src1) = (length(self, 4) + 1, length(self, 5));
        let response = if eot { 0 } else { length(self, 9) };
        // The last message of a thread comes from the last registers.
        let (from, room) = if eot { (112, 4) } else { (0, 100) };
        let first = from + length(self, room);
        let second = first + src0 + length(self, 4);
        let whole = |reg| Src::Direct {
            at: RegRef::new(reg, 0),
            region: Region::SCALAR,
            ty: Type::Ud,
            mods: SrcMods::default(),
        };
        i.srcs[0] = whole(Reg::Grf(first as u8));
        i.srcs[1] = whole(if src1 == 0 {
            Reg::NULL
        } else {
            Reg::Grf(second as u8)
        });
        i.dst = Dst::Direct {
            at: RegRef::new(
                if response == 0 {
                    Reg::NULL
                } else {
                    Reg::Grf(length(self, 100) as u8)
                },
                0,
            ),
            hs: 1,
            ty: Type::Ud,
        };
        let a0 = |sub| Desc::Reg(RegRef::new(Reg::Arf(Arf::Address, 0), sub));
        let desc = if self.base.rng.once_in(4) {
            a0(0)
        } else {
            let function = self.base.rng.bits() as u32 & 0xf_ffff;
            Desc::Imm(function | response << 20 | src0 << 25)
        };
        let own = self.base.features.src1_len;
        let (ex, src1_len) = if self.base.rng.once_in(4) {
            let base = self.base.features.ex_bso && self.base.rng.once_in(2);
            i.opts.set(InstOpts::EX_BSO, base);
            i.opts.set(InstOpts::CPS, base && self.base.rng.once_in(4));
            let sub = self.base.rng.below(8) as u16 * 4;
            (a0(sub), base.then_some(src1 as u8))
        } else {
            let high = if self.base.rng.once_in(2) {
                0
            } else {
                self.base.rng.bits() as u32 & 0xffff_f800
            };
            if own {
                (Desc::Imm(high), Some(src1 as u8))
            } else {
                (Desc::Imm(high | src1 << 6), None)
            }
        };
        i.send = Some(SendDescs { ex, desc, src1_len });
        Some(())
    }
}
