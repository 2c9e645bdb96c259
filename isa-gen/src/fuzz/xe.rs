//! Random instructions of Xe. They have scoreboard annotations, and mostly sources with the
//! destination's stride and offset. They use the features that only Xe has: `sync`, unified sends,
//! three-source immediates, `bfn` and `dpas`.

mod messages;
mod ternary;

use super::Rng;
use super::generator::{CONDS, OperandGenerator};
use crate::inst::{Cond, CondMod, Dst, Inst, InstOpts, Predicate, Src, SrcMods, Subfn, SyncFn};
use crate::op::{Format, MathFn, Op, TypeSet};
use crate::platform::Platform;
use crate::reg::{Arf, Reg, RegRef};
use crate::region::{ChannelOffset, ExecSize, Region};
use crate::swsb::{Distance, Swsb, Token, TokenKind};
use crate::types::Type;

struct XeGenerator<'a> {
    base: OperandGenerator<'a>,
    /// Stride in bytes and offset of the first element, if all operands share them.
    step: Option<(u32, u32)>,
}

/// Generates a random instruction of an opcode on Xe; see [`random_inst`](super::random_inst).
pub(super) fn random(
    platform: Platform,
    op: Op,
    function: Option<MathFn>,
    rng: &mut Rng,
) -> Option<Inst<Reg>> {
    let mut g = XeGenerator {
        base: OperandGenerator::new(platform, op, rng)?,
        step: None,
    };
    g.inst(function)
}

impl XeGenerator<'_> {
    fn inst(&mut self, function: Option<MathFn>) -> Option<Inst<Reg>> {
        let format = self.base.info.format;
        if !matches!(format, Format::Nullary | Format::Jmpi | Format::Sync) {
            self.base.exec = ExecSize::from_log2(self.base.rng.below(6) as u8)?;
        }
        if format == Format::Dpas {
            self.base.exec = ExecSize::new(self.base.features.grf_bytes / 4)?;
        }
        let mut i = Inst::new(self.base.op, self.base.exec);
        if self.base.op == Op::Illegal {
            return Some(i);
        }
        self.options(&mut i);
        i.swsb = self.swsb()?;
        if format == Format::Nullary {
            return Some(i);
        }
        // Channel offsets of Xe-HPC are multiples of eight.
        let least = self.base.features.grf_bytes / 8;
        let step = u64::from(self.base.exec.channels().max(least));
        if !matches!(format, Format::Jmpi | Format::Sync) {
            i.offset = ChannelOffset::new(self.base.rng.below(32 / step) as u32 * step as u32)?;
        }
        i.no_mask = self.base.rng.once_in(3) || format == Format::Jmpi;
        self.conditions(&mut i)?;
        i.sat = self.base.info.sat && self.base.rng.once_in(5);
        if self.base.info.branch_ctrl && self.base.rng.once_in(2) {
            i.subfn = Subfn::BranchCtrl(true);
        }
        match format {
            Format::Unary | Format::Binary => {
                self.data(&mut i, self.base.info.types, format.sources())?;
            }
            Format::Math => {
                let function = function?;
                i.subfn = Subfn::Math(function);
                let types = function.info()?.types;
                if function.is_macro() {
                    let flag = match i.pred {
                        Some(p) => p.flag,
                        None => self.base.flag(),
                    };
                    i.cond = Some(CondMod {
                        cond: Cond::Eo,
                        flag,
                    });
                    self.base.with_mme(&mut i, types, function.sources())?;
                } else {
                    self.data(&mut i, types, function.sources())?;
                }
            }
            Format::Ternary if self.base.info.mme => {
                self.base.with_mme(&mut i, self.base.info.types, 3)?
            }
            Format::Ternary => self.ternary(&mut i)?,
            Format::Dpas => self.dpas(&mut i)?,
            Format::XeSend => self.send(&mut i)?,
            Format::Sync => self.sync(&mut i)?,
            _ => self.base.branch(&mut i)?,
        }
        Some(i)
    }

    /// Generates predicate and condition modifier.
    fn conditions(&mut self, i: &mut Inst<Reg>) -> Option<()> {
        let flag = self.base.flag();
        let op = self.base.op;
        let must = matches!(op, Op::Cmp | Op::Cmpn | Op::Csel);
        let one = op == Op::Sel;
        if self.base.info.pred && (self.base.rng.once_in(3) || one && self.base.rng.once_in(2)) {
            i.pred = Some(Predicate {
                flag,
                inverse: self.base.rng.once_in(2),
                ctrl: self.base.pred_ctrl()?,
            });
        }
        if self.base.info.cond
            && (must || self.base.rng.once_in(3) || one)
            && !(one && i.pred.is_some())
        {
            let conds: &[Cond] = match op {
                Op::Bfn => &[Cond::Eq, Cond::Gt, Cond::Lt],
                _ if self.base.info.bitwise => &CONDS[..6],
                _ => &CONDS,
            };
            let cond = self.base.rng.pick(conds)?;
            i.cond = Some(CondMod { cond, flag });
        }
        Some(())
    }

    fn options(&mut self, i: &mut Inst<Reg>) {
        let nullary = self.base.info.format == Format::Nullary;
        let mut maybe = |o, ok: bool| {
            if ok && self.base.rng.once_in(12) {
                i.opts.insert(o);
            }
        };
        maybe(InstOpts::ATOMIC, !nullary);
        maybe(InstOpts::BREAKPOINT, true);
        maybe(InstOpts::ACC_WR_EN, self.base.info.acc);
    }

    /// Picks an annotation that has an encoding.
    fn swsb(&mut self) -> Option<Swsb> {
        let t = &self.base.tables.xe.as_ref()?.swsb;
        let [send, math, dpas, others] = t.pairs;
        let out_of_order = matches!(
            self.base.info.format,
            Format::XeSend | Format::Math | Format::Dpas
        );
        let pairs = match self.base.info.format {
            Format::XeSend => send,
            Format::Math => math,
            Format::Dpas => dpas,
            _ => others,
        };
        let n = self.base.rng.below(7) as u8 + 1;
        let sbid = self.base.rng.below(self.base.features.sb_tokens.into()) as u8;
        let mut pipes = self.base.features.swsb_pipes.to_vec();
        // Xe-LP has a single pipe, the instruction's own.
        if pipes.len() < 2 {
            pipes.clear();
        }
        pipes.push(crate::swsb::Pipe::Own);
        let mut swsb = Swsb::NONE;
        match self.base.rng.below(4) {
            0 => {}
            1 => {
                let pipe = self.base.rng.pick(&pipes)?;
                swsb.distance = Some(Distance { pipe, n });
            }
            2 => {
                let kinds = [TokenKind::Dst, TokenKind::Src, TokenKind::Set];
                let kind = self
                    .base
                    .rng
                    .pick(&kinds[..if out_of_order { 3 } else { 2 }])?;
                swsb.token = Some(Token { sbid, kind });
            }
            _ => {
                if let Some((pipe, kind, _)) = self.base.rng.pick(pairs) {
                    swsb.distance = Some(Distance { pipe, n });
                    swsb.token = Some(Token { sbid, kind });
                }
            }
        }
        Some(swsb)
    }

    /// Returns the unit of the sub-register field of source 1, in bytes.
    fn coarse(&self) -> u32 {
        if self.base.features.grf_bytes > 32 {
            2
        } else {
            1
        }
    }

    /// Chooses a stride and offset for operands of these types, three times in four.
    fn choose_step(&mut self, types: &[Type]) -> Option<()> {
        let widest = types.iter().map(|t| t.bytes()).max()?;
        self.step = None;
        if self.base.rng.once_in(4) {
            return Some(());
        }
        let narrowest = types.iter().map(|t| t.bytes()).min()?;
        let apart = if self.base.rng.once_in(3) { 2 } else { 1 };
        let bytes = (widest * apart).min(narrowest * 4);
        let room = 2 * self.base.features.grf_bytes;
        if bytes * self.base.exec.channels() > room {
            return None;
        }
        let sub = self.base.sub(Type::Ub, bytes.max(self.coarse())).into();
        let sub = if self.base.exec.channels() * bytes + sub > room {
            0
        } else {
            sub
        };
        self.step = Some((bytes, sub));
        Some(())
    }

    /// Generates the operands of one- and two-source instructions.
    fn data(&mut self, i: &mut Inst<Reg>, types: &[(TypeSet, TypeSet)], sources: u8) -> Option<()> {
        let (d, s) = self.base.rng.pick(types)?;
        let ty = self.base.ty(d)?;
        let uniform = matches!(self.base.op, Op::Mach | Op::Macl | Op::Math);
        let first = if s.contains(ty) && (uniform || self.base.rng.once_in(2)) {
            ty
        } else {
            self.base.ty(s)?
        };
        let second = if uniform || self.base.rng.once_in(2) {
            first
        } else {
            self.base.ty(s)?
        };
        let src_types = [first, second];
        let src_types = src_types.get(..sources.into())?;
        self.choose_step(&[&[ty], src_types].concat())?;
        i.dst = self.dst(ty)?;
        if self.base.op == Op::Movi {
            return self.movi(i, ty);
        }
        for (n, (slot, ty)) in i.srcs.iter_mut().zip(src_types).enumerate() {
            let last = n + 1 == usize::from(sources);
            *slot = if last && self.base.op != Op::Math && self.base.rng.once_in(4) {
                self.base.immediate(*ty, sources == 1 && i.cond.is_none())?
            } else {
                self.src(*ty, n == 1)?
            };
        }
        Some(())
    }

    fn movi(&mut self, i: &mut Inst<Reg>, ty: Type) -> Option<()> {
        let (addr, imm) = self.base.address(1);
        i.srcs[0] = Src::Indirect {
            addr,
            imm,
            region: self
                .base
                .rng
                .pick(&[Region::rect(1, 1, 0), Region::packed(self.base.exec)])?,
            ty,
            mods: SrcMods::default(),
        };
        i.srcs[1] = if self.base.rng.once_in(2) {
            self.base.value(Type::Uw)
        } else {
            Src::Direct {
                at: RegRef::new(Reg::NULL, 0),
                region: Region::SCALAR,
                ty: Type::Ub,
                mods: SrcMods::default(),
            }
        };
        Some(())
    }

    fn dst(&mut self, ty: Type) -> Option<Dst<Reg>> {
        let hs = match self.step {
            Some((bytes, _)) => bytes / ty.bytes(),
            None => self.base.rng.pick(&[1, 1, 2, 4])?,
        } as u8;
        if !matches!(hs, 1 | 2 | 4) {
            return None;
        }
        if self.base.op != Op::Math {
            if self.base.rng.once_in(12) {
                let (addr, imm) = self.base.address(1);
                return Some(Dst::Indirect { addr, imm, hs, ty });
            }
            if self.base.rng.once_in(12) {
                let at = RegRef::new(Reg::NULL, 0);
                return Some(Dst::Direct { at, hs: 1, ty });
            }
            if self.base.rng.once_in(24)
                && let Some(at) = self.arf(ty)
            {
                return Some(Dst::Direct { at, hs: 1, ty });
            }
        }
        let sub = match self.step {
            Some((_, sub)) => sub as u16,
            None => self.base.sub(ty, 1),
        };
        let acc = self.base.op != Op::Math && ty.bytes() > 1 && self.base.rng.once_in(12);
        let reg = if acc { self.acc() } else { self.base.grf() };
        let at = RegRef::new(reg, sub);
        Some(Dst::Direct { at, hs, ty })
    }

    fn acc(&mut self) -> Reg {
        let n = self.base.rng.below(self.base.features.accumulators.into());
        Reg::Arf(Arf::Acc, if self.base.rng.once_in(2) { 0 } else { n as u8 })
    }

    /// Picks a rectangle that gives every channel its own element, `stride` elements apart.
    fn linear(&mut self, stride: u8) -> Option<Region> {
        let exec = self.base.exec.channels() as u8;
        let w = self.base.rng.pick(&[1u8, 2, 4, 8, 16])?.min(exec).min(16);
        if exec == 1 {
            return Some(Region::SCALAR);
        }
        if w == 1 {
            return Some(Region::rect(stride, 1, 0));
        }
        let vs = u32::from(w) * u32::from(stride);
        (vs <= 32 && stride <= 4).then(|| Region::rect(vs as u8, w, stride))
    }

    /// Generates a source. The second one has larger units and is not an architecture register.
    fn src(&mut self, ty: Type, second: bool) -> Option<Src<Reg>> {
        let unit = if second { self.coarse() } else { 1 };
        let mods = self.base.mods();
        let scalar = self.base.rng.once_in(4);
        let (region, sub) = match self.step {
            _ if scalar => (Region::SCALAR, self.base.sub(ty, unit)),
            Some((bytes, sub)) => (self.linear((bytes / ty.bytes()) as u8)?, sub as u16),
            None => (self.base.region()?, self.base.sub(ty, unit)),
        };
        let only_grf = self.base.op == Op::Math;
        if !only_grf && self.base.rng.once_in(12) {
            let (addr, imm) = self.base.address(unit as i16);
            let w = self.base.rng.pick(&[1u8, 2, 4, 8])?;
            let by_row =
                !second && self.base.rng.once_in(4) && u32::from(w) <= self.base.exec.channels();
            let hs = u8::from(w > 1);
            let region = if by_row {
                Region::VxH { w, hs }
            } else {
                region
            };
            return Some(Src::Indirect {
                addr,
                imm,
                region,
                ty,
                mods,
            });
        }
        let named = !only_grf && !second && self.base.rng.once_in(24);
        if named && let Some(at) = self.arf(ty) {
            return Some(Src::Direct {
                at,
                region: self.base.rng.pick(&[Region::SCALAR, region])?,
                ty,
                mods,
            });
        }
        let acc = !only_grf && ty.bytes() > 1 && self.base.rng.once_in(12);
        let reg = if acc { self.acc() } else { self.base.grf() };
        Some(Src::Direct {
            at: RegRef::new(reg, sub),
            region,
            ty,
            mods,
        })
    }

    /// Picks an architecture register and an offset in it.
    fn arf(&mut self, ty: Type) -> Option<RegRef<Reg>> {
        let flags = self.base.features.flag_regs;
        let flag = self.base.rng.below(flags.into()) as u8;
        let (kind, number, bytes): (Arf, u8, u32) = self.base.rng.pick(&[
            (Arf::Address, 0, 32),
            (Arf::Flag, flag, 4),
            (Arf::ChannelEnable, 0, 4),
            (Arf::State, 0, 16),
            (Arf::Control, 0, 12),
            (Arf::Notification, 0, 12),
            (Arf::Ip, 0, 4),
            (Arf::Tdr, 0, 16),
            (Arf::Timestamp, 0, 20),
            (Arf::Dbg, 0, 8),
        ])?;
        // These two have a single sub-register.
        let one = matches!(kind, Arf::Ip | Arf::ChannelEnable);
        let places = if one { 1 } else { bytes / ty.bytes() };
        let sub = self.base.rng.below(places.max(1).into()) as u32 * ty.bytes();
        (places > 0).then(|| RegRef::new(Reg::Arf(kind, number), sub as u16))
    }

    fn sync(&mut self, i: &mut Inst<Reg>) -> Option<()> {
        let codes = &self.base.tables.xe.as_ref()?.sync_codes;
        let functions: Vec<SyncFn> = SyncFn::ALL
            .into_iter()
            .filter(|f| codes.get(*f as usize).copied().flatten().is_some())
            .collect();
        let f = self.base.rng.pick(&functions)?;
        i.subfn = Subfn::Sync(f);
        let imm = codes.get(f as usize).copied().flatten()?.1;
        i.srcs[0] = Src::Direct {
            at: RegRef::new(Reg::NULL, 0),
            region: Region::SCALAR,
            ty: Type::Ub,
            mods: SrcMods::default(),
        };
        match self.base.rng.below(3) {
            0 if imm => {
                let tokens = (1u64 << self.base.features.sb_tokens) - 1;
                let bits = self.base.rng.bits() & self.base.rng.bits() & tokens;
                i.srcs[0] = Src::Imm { bits, ty: Type::Ud };
            }
            1 if self.base.tables.xe.as_ref()?.sync_flag == Some(f) => {
                i.srcs[0] = Src::Direct {
                    at: self.base.flag(),
                    region: Region::SCALAR,
                    ty: Type::Uw,
                    mods: SrcMods::default(),
                };
            }
            _ => {}
        }
        Some(())
    }
}
