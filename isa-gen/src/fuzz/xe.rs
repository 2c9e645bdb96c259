//! Random forms of an opcode on Xe: scoreboard annotations everywhere, sources in step with the
//! destination more often than not, and what only Xe has: `sync`, unified sends, ternary
//! immediates, `bfn`, `dpas`.

mod messages;
mod ternary;

use super::Rng;
use super::dice::{CONDS, Dice};
use crate::inst::{Cond, CondMod, Dst, Inst, InstOpts, Predicate, Src, SrcMods, Subfn, SyncFn};
use crate::op::{Format, MathFn, Op, TypeSet};
use crate::platform::Platform;
use crate::reg::{Arf, Reg, RegRef};
use crate::region::{ChannelOffset, ExecSize, Region};
use crate::swsb::{Distance, Swsb, Token, TokenKind};
use crate::types::Type;

struct Gen<'a> {
    dice: Dice<'a>,
    /// Bytes from element to element, and the first one's place, where all operands lie in step.
    step: Option<(u32, u32)>,
}

/// A random form of an opcode on Xe; see [`random_inst`](super::random_inst).
pub(super) fn random(
    platform: Platform,
    op: Op,
    function: Option<MathFn>,
    rng: &mut Rng,
) -> Option<Inst<Reg>> {
    let mut g = Gen {
        dice: Dice::new(platform, op, rng)?,
        step: None,
    };
    g.inst(function)
}

impl Gen<'_> {
    fn inst(&mut self, function: Option<MathFn>) -> Option<Inst<Reg>> {
        let format = self.dice.info.format;
        if !matches!(format, Format::Nullary | Format::Jmpi | Format::Sync) {
            self.dice.exec = ExecSize::from_log2(self.dice.rng.below(6) as u8)?;
        }
        if format == Format::Dpas {
            self.dice.exec = ExecSize::new(self.dice.features.grf_bytes / 4)?;
        }
        let mut i = Inst::new(self.dice.op, self.dice.exec);
        if self.dice.op == Op::Illegal {
            return Some(i);
        }
        self.options(&mut i);
        i.swsb = self.swsb()?;
        if format == Format::Nullary {
            return Some(i);
        }
        // Xe-HPC counts channels by eights.
        let least = self.dice.features.grf_bytes / 8;
        let step = u64::from(self.dice.exec.channels().max(least));
        if !matches!(format, Format::Jmpi | Format::Sync) {
            i.offset = ChannelOffset::new(self.dice.rng.below(32 / step) as u32 * step as u32)?;
        }
        i.no_mask = self.dice.rng.once_in(3) || format == Format::Jmpi;
        self.conditions(&mut i)?;
        i.sat = self.dice.info.sat && self.dice.rng.once_in(5);
        if self.dice.info.branch_ctrl && self.dice.rng.once_in(2) {
            i.subfn = Subfn::BranchCtrl(true);
        }
        match format {
            Format::Unary | Format::Binary => {
                self.data(&mut i, self.dice.info.types, format.sources())?;
            }
            Format::Math => {
                let function = function?;
                i.subfn = Subfn::Math(function);
                let types = function.info()?.types;
                if function.is_macro() {
                    let flag = match i.pred {
                        Some(p) => p.flag,
                        None => self.dice.flag(),
                    };
                    i.cond = Some(CondMod {
                        cond: Cond::Eo,
                        flag,
                    });
                    self.dice.with_mme(&mut i, types, function.sources())?;
                } else {
                    self.data(&mut i, types, function.sources())?;
                }
            }
            Format::Ternary if self.dice.info.mme => {
                self.dice.with_mme(&mut i, self.dice.info.types, 3)?
            }
            Format::Ternary => self.ternary(&mut i)?,
            Format::Dpas => self.dpas(&mut i)?,
            Format::XeSend => self.send(&mut i)?,
            Format::Sync => self.sync(&mut i)?,
            _ => self.dice.branch(&mut i)?,
        }
        Some(i)
    }

    /// Predicate and flag modifier.
    fn conditions(&mut self, i: &mut Inst<Reg>) -> Option<()> {
        let flag = self.dice.flag();
        let op = self.dice.op;
        let must = matches!(op, Op::Cmp | Op::Cmpn | Op::Csel);
        let one = op == Op::Sel;
        if self.dice.info.pred && (self.dice.rng.once_in(3) || one && self.dice.rng.once_in(2)) {
            i.pred = Some(Predicate {
                flag,
                inverse: self.dice.rng.once_in(2),
                ctrl: self.dice.pred_ctrl()?,
            });
        }
        if self.dice.info.cond
            && (must || self.dice.rng.once_in(3) || one)
            && !(one && i.pred.is_some())
        {
            let conds: &[Cond] = match op {
                Op::Bfn => &[Cond::Eq, Cond::Gt, Cond::Lt],
                _ if self.dice.info.bitwise => &CONDS[..6],
                _ => &CONDS,
            };
            let cond = self.dice.rng.pick(conds)?;
            i.cond = Some(CondMod { cond, flag });
        }
        Some(())
    }

    fn options(&mut self, i: &mut Inst<Reg>) {
        let nullary = self.dice.info.format == Format::Nullary;
        let mut maybe = |o, ok: bool| {
            if ok && self.dice.rng.once_in(12) {
                i.opts.insert(o);
            }
        };
        maybe(InstOpts::ATOMIC, !nullary);
        maybe(InstOpts::BREAKPOINT, true);
        maybe(InstOpts::ACC_WR_EN, self.dice.info.acc);
    }

    /// Any annotation that has bits of its own.
    fn swsb(&mut self) -> Option<Swsb> {
        let t = &self.dice.tables.xe.as_ref()?.swsb;
        let [send, math, dpas, others] = t.pairs;
        let out_of_order = matches!(
            self.dice.info.format,
            Format::XeSend | Format::Math | Format::Dpas
        );
        let pairs = match self.dice.info.format {
            Format::XeSend => send,
            Format::Math => math,
            Format::Dpas => dpas,
            _ => others,
        };
        let n = self.dice.rng.below(7) as u8 + 1;
        let sbid = self.dice.rng.below(self.dice.features.sb_tokens.into()) as u8;
        let mut pipes = self.dice.features.swsb_pipes.to_vec();
        // Xe-LP has one pipe, the instruction's own.
        if pipes.len() < 2 {
            pipes.clear();
        }
        pipes.push(crate::swsb::Pipe::Own);
        let mut swsb = Swsb::NONE;
        match self.dice.rng.below(4) {
            0 => {}
            1 => {
                let pipe = self.dice.rng.pick(&pipes)?;
                swsb.distance = Some(Distance { pipe, n });
            }
            2 => {
                let kinds = [TokenKind::Dst, TokenKind::Src, TokenKind::Set];
                let kind = self
                    .dice
                    .rng
                    .pick(&kinds[..if out_of_order { 3 } else { 2 }])?;
                swsb.token = Some(Token { sbid, kind });
            }
            _ => {
                if let Some((pipe, kind, _)) = self.dice.rng.pick(pairs) {
                    swsb.distance = Some(Distance { pipe, n });
                    swsb.token = Some(Token { sbid, kind });
                }
            }
        }
        Some(swsb)
    }

    /// Bytes that the field of source 1 counts in.
    fn coarse(&self) -> u32 {
        if self.dice.features.grf_bytes > 32 {
            2
        } else {
            1
        }
    }

    /// Chooses a step for operands of these types: three times in four.
    fn choose_step(&mut self, types: &[Type]) -> Option<()> {
        let widest = types.iter().map(|t| t.bytes()).max()?;
        self.step = None;
        if self.dice.rng.once_in(4) {
            return Some(());
        }
        let narrowest = types.iter().map(|t| t.bytes()).min()?;
        let apart = if self.dice.rng.once_in(3) { 2 } else { 1 };
        let bytes = (widest * apart).min(narrowest * 4);
        let room = 2 * self.dice.features.grf_bytes;
        if bytes * self.dice.exec.channels() > room {
            return None;
        }
        let sub = self.dice.sub(Type::Ub, bytes.max(self.coarse())).into();
        let sub = if self.dice.exec.channels() * bytes + sub > room {
            0
        } else {
            sub
        };
        self.step = Some((bytes, sub));
        Some(())
    }

    /// Operands of one- and two-source instructions.
    fn data(&mut self, i: &mut Inst<Reg>, types: &[(TypeSet, TypeSet)], sources: u8) -> Option<()> {
        let (d, s) = self.dice.rng.pick(types)?;
        let ty = self.dice.ty(d)?;
        let uniform = matches!(self.dice.op, Op::Mach | Op::Macl | Op::Math);
        let first = if s.contains(ty) && (uniform || self.dice.rng.once_in(2)) {
            ty
        } else {
            self.dice.ty(s)?
        };
        let second = if uniform || self.dice.rng.once_in(2) {
            first
        } else {
            self.dice.ty(s)?
        };
        let src_types = [first, second];
        let src_types = src_types.get(..sources.into())?;
        self.choose_step(&[&[ty], src_types].concat())?;
        i.dst = self.dst(ty)?;
        if self.dice.op == Op::Movi {
            return self.movi(i, ty);
        }
        for (n, (slot, ty)) in i.srcs.iter_mut().zip(src_types).enumerate() {
            let last = n + 1 == usize::from(sources);
            *slot = if last && self.dice.op != Op::Math && self.dice.rng.once_in(4) {
                self.dice.immediate(*ty, sources == 1 && i.cond.is_none())?
            } else {
                self.src(*ty, n == 1)?
            };
        }
        Some(())
    }

    fn movi(&mut self, i: &mut Inst<Reg>, ty: Type) -> Option<()> {
        let (addr, imm) = self.dice.address(1);
        i.srcs[0] = Src::Indirect {
            addr,
            imm,
            region: self
                .dice
                .rng
                .pick(&[Region::rect(1, 1, 0), Region::packed(self.dice.exec)])?,
            ty,
            mods: SrcMods::default(),
        };
        i.srcs[1] = if self.dice.rng.once_in(2) {
            self.dice.value(Type::Uw)
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
            None => self.dice.rng.pick(&[1, 1, 2, 4])?,
        } as u8;
        if !matches!(hs, 1 | 2 | 4) {
            return None;
        }
        if self.dice.op != Op::Math {
            if self.dice.rng.once_in(12) {
                let (addr, imm) = self.dice.address(1);
                return Some(Dst::Indirect { addr, imm, hs, ty });
            }
            if self.dice.rng.once_in(12) {
                let at = RegRef::new(Reg::NULL, 0);
                return Some(Dst::Direct { at, hs: 1, ty });
            }
            if self.dice.rng.once_in(24)
                && let Some(at) = self.arf(ty)
            {
                return Some(Dst::Direct { at, hs: 1, ty });
            }
        }
        let sub = match self.step {
            Some((_, sub)) => sub as u16,
            None => self.dice.sub(ty, 1),
        };
        let acc = self.dice.op != Op::Math && ty.bytes() > 1 && self.dice.rng.once_in(12);
        let reg = if acc { self.acc() } else { self.dice.grf() };
        let at = RegRef::new(reg, sub);
        Some(Dst::Direct { at, hs, ty })
    }

    fn acc(&mut self) -> Reg {
        let n = self.dice.rng.below(self.dice.features.accumulators.into());
        Reg::Arf(Arf::Acc, if self.dice.rng.once_in(2) { 0 } else { n as u8 })
    }

    /// A rectangle that gives every channel an element of its own, `stride` elements apart.
    fn linear(&mut self, stride: u8) -> Option<Region> {
        let exec = self.dice.exec.channels() as u8;
        let w = self.dice.rng.pick(&[1u8, 2, 4, 8, 16])?.min(exec).min(16);
        if exec == 1 {
            return Some(Region::SCALAR);
        }
        if w == 1 {
            return Some(Region::rect(stride, 1, 0));
        }
        let vs = u32::from(w) * u32::from(stride);
        (vs <= 32 && stride <= 4).then(|| Region::rect(vs as u8, w, stride))
    }

    /// A source; the second one counts in larger units and is no register with a name of its own.
    fn src(&mut self, ty: Type, second: bool) -> Option<Src<Reg>> {
        let unit = if second { self.coarse() } else { 1 };
        let mods = self.dice.mods();
        let scalar = self.dice.rng.once_in(4);
        let (region, sub) = match self.step {
            _ if scalar => (Region::SCALAR, self.dice.sub(ty, unit)),
            Some((bytes, sub)) => (self.linear((bytes / ty.bytes()) as u8)?, sub as u16),
            None => (self.dice.region()?, self.dice.sub(ty, unit)),
        };
        let only_grf = self.dice.op == Op::Math;
        if !only_grf && self.dice.rng.once_in(12) {
            let (addr, imm) = self.dice.address(unit as i16);
            let w = self.dice.rng.pick(&[1u8, 2, 4, 8])?;
            let by_row =
                !second && self.dice.rng.once_in(4) && u32::from(w) <= self.dice.exec.channels();
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
        let named = !only_grf && !second && self.dice.rng.once_in(24);
        if named && let Some(at) = self.arf(ty) {
            return Some(Src::Direct {
                at,
                region: self.dice.rng.pick(&[Region::SCALAR, region])?,
                ty,
                mods,
            });
        }
        let acc = !only_grf && ty.bytes() > 1 && self.dice.rng.once_in(12);
        let reg = if acc { self.acc() } else { self.dice.grf() };
        Some(Src::Direct {
            at: RegRef::new(reg, sub),
            region,
            ty,
            mods,
        })
    }

    /// One of the registers with a name of their own, and a place in it.
    fn arf(&mut self, ty: Type) -> Option<RegRef<Reg>> {
        let flags = self.dice.features.flag_regs;
        let flag = self.dice.rng.below(flags.into()) as u8;
        let (kind, number, bytes): (Arf, u8, u32) = self.dice.rng.pick(&[
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
        // These two have one place.
        let one = matches!(kind, Arf::Ip | Arf::ChannelEnable);
        let places = if one { 1 } else { bytes / ty.bytes() };
        let sub = self.dice.rng.below(places.max(1).into()) as u32 * ty.bytes();
        (places > 0).then(|| RegRef::new(Reg::Arf(kind, number), sub as u16))
    }

    fn sync(&mut self, i: &mut Inst<Reg>) -> Option<()> {
        let codes = &self.dice.tables.xe.as_ref()?.sync_codes;
        let functions: Vec<SyncFn> = SyncFn::ALL
            .into_iter()
            .filter(|f| codes.get(*f as usize).copied().flatten().is_some())
            .collect();
        let f = self.dice.rng.pick(&functions)?;
        i.subfn = Subfn::Sync(f);
        let imm = codes.get(f as usize).copied().flatten()?.1;
        i.srcs[0] = Src::Direct {
            at: RegRef::new(Reg::NULL, 0),
            region: Region::SCALAR,
            ty: Type::Ub,
            mods: SrcMods::default(),
        };
        match self.dice.rng.below(3) {
            0 if imm => {
                let tokens = (1u64 << self.dice.features.sb_tokens) - 1;
                let bits = self.dice.rng.bits() & self.dice.rng.bits() & tokens;
                i.srcs[0] = Src::Imm { bits, ty: Type::Ud };
            }
            1 if self.dice.tables.xe.as_ref()?.sync_flag == Some(f) => {
                i.srcs[0] = Src::Direct {
                    at: self.dice.flag(),
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
