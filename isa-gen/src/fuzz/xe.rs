//! Random forms of an opcode on Xe: scoreboard annotations everywhere, sources in step with the destination more often
//! than not, and what only Xe has: `sync`, unified sends, ternary immediates, `bfn`, `dpas`.

mod messages;
mod ternary;

use super::{AROUND, Rng};
use crate::inst::{
    Cond, CondMod, Dst, Inst, InstOpts, PredCtrl, Predicate, Src, SrcMods, Subfn, SyncFn, Target,
};
use crate::op::{Format, MathFn, Op, OpInfo, TypeSet};
use crate::platform::{Features, Platform};
use crate::reg::{Arf, Reg, RegRef};
use crate::region::{ChannelOffset, ExecSize, Region};
use crate::swsb::{Distance, Swsb, Token, TokenKind};
use crate::table::PlatformTables;
use crate::types::Type;

const CONDS: [Cond; 8] = [
    Cond::Eq,
    Cond::Ne,
    Cond::Gt,
    Cond::Ge,
    Cond::Lt,
    Cond::Le,
    Cond::Ov,
    Cond::Un,
];

struct Gen<'a> {
    rng: &'a mut Rng,
    platform: Platform,
    features: &'static Features,
    tables: &'static PlatformTables,
    op: Op,
    info: &'static OpInfo,
    exec: ExecSize,
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
    let info = op.info(platform)?;
    let mut g = Gen {
        rng,
        platform,
        features: platform.features(),
        tables: PlatformTables::of(platform),
        op,
        info,
        exec: ExecSize::S1,
        step: None,
    };
    g.inst(function)
}

impl Gen<'_> {
    fn inst(&mut self, function: Option<MathFn>) -> Option<Inst<Reg>> {
        let format = self.info.format;
        if !matches!(format, Format::Nullary | Format::Jmpi | Format::Sync) {
            self.exec = ExecSize::from_log2(self.rng.below(6) as u8)?;
        }
        if format == Format::Dpas {
            self.exec = ExecSize::new(self.features.grf_bytes / 4)?;
        }
        let mut i = Inst::new(self.op, self.exec);
        if self.op == Op::Illegal {
            return Some(i);
        }
        self.options(&mut i);
        i.swsb = self.swsb()?;
        if format == Format::Nullary {
            return Some(i);
        }
        // Xe-HPC counts channels by eights.
        let least = self.features.grf_bytes / 8;
        let step = u64::from(self.exec.channels().max(least));
        if !matches!(format, Format::Jmpi | Format::Sync) {
            i.offset = ChannelOffset::new(self.rng.below(32 / step) as u32 * step as u32)?;
        }
        i.no_mask = self.rng.once_in(3) || format == Format::Jmpi;
        self.conditions(&mut i)?;
        i.sat = self.info.sat && self.rng.once_in(5);
        if self.info.branch_ctrl && self.rng.once_in(2) {
            i.subfn = Subfn::BranchCtrl(true);
        }
        match format {
            Format::Unary | Format::Binary => {
                self.data(&mut i, self.info.types, format.sources())?;
            }
            Format::Math => {
                let function = function?;
                i.subfn = Subfn::Math(function);
                let types = function.info()?.types;
                if function.is_macro() {
                    let flag = match i.pred {
                        Some(p) => p.flag,
                        None => self.flag(),
                    };
                    i.cond = Some(CondMod {
                        cond: Cond::Eo,
                        flag,
                    });
                    self.with_mme(&mut i, types, function.sources())?;
                } else {
                    self.data(&mut i, types, function.sources())?;
                }
            }
            Format::Ternary if self.info.mme => self.with_mme(&mut i, self.info.types, 3)?,
            Format::Ternary => self.ternary(&mut i)?,
            Format::Dpas => self.dpas(&mut i)?,
            Format::XeSend => self.send(&mut i)?,
            Format::Sync => self.sync(&mut i)?,
            _ => self.branch(&mut i)?,
        }
        Some(i)
    }

    fn flag(&mut self) -> RegRef<Reg> {
        let n = self.rng.below(self.features.flag_regs.into()) as u8;
        let sub = self.rng.below(2) as u16 * 2;
        RegRef::new(Reg::Arf(Arf::Flag, n), sub)
    }

    /// Predicate and flag modifier.
    fn conditions(&mut self, i: &mut Inst<Reg>) -> Option<()> {
        let flag = self.flag();
        let op = self.op;
        let must = matches!(op, Op::Cmp | Op::Cmpn | Op::Csel);
        let one = op == Op::Sel;
        if self.info.pred && (self.rng.once_in(3) || one && self.rng.once_in(2)) {
            i.pred = Some(Predicate {
                flag,
                inverse: self.rng.once_in(2),
                ctrl: self.pred_ctrl()?,
            });
        }
        if self.info.cond && (must || self.rng.once_in(3) || one) && !(one && i.pred.is_some()) {
            let conds: &[Cond] = match op {
                Op::Bfn => &[Cond::Eq, Cond::Gt, Cond::Lt],
                _ if self.info.bitwise => &CONDS[..6],
                _ => &CONDS,
            };
            let cond = self.rng.pick(conds)?;
            i.cond = Some(CondMod { cond, flag });
        }
        Some(())
    }

    fn pred_ctrl(&mut self) -> Option<PredCtrl> {
        if !self.rng.once_in(3) {
            return Some(PredCtrl::Sequential);
        }
        if self.features.flag_regs > 2 {
            return self.rng.pick(&[PredCtrl::Any, PredCtrl::All]);
        }
        let n = self.rng.pick(&[2, 4, 8, 16, 32])?;
        self.rng.pick(&[
            PredCtrl::AnyV,
            PredCtrl::AllV,
            PredCtrl::AnyH(n),
            PredCtrl::AllH(n),
        ])
    }

    fn options(&mut self, i: &mut Inst<Reg>) {
        let nullary = self.info.format == Format::Nullary;
        let mut maybe = |o, ok: bool| {
            if ok && self.rng.once_in(12) {
                i.opts.insert(o);
            }
        };
        maybe(InstOpts::ATOMIC, !nullary);
        maybe(InstOpts::BREAKPOINT, true);
        maybe(InstOpts::ACC_WR_EN, self.info.acc);
    }

    /// Any annotation that has bits of its own.
    fn swsb(&mut self) -> Option<Swsb> {
        let t = &self.tables.xe.as_ref()?.swsb;
        let [send, math, dpas, others] = t.pairs;
        let out_of_order = matches!(
            self.info.format,
            Format::XeSend | Format::Math | Format::Dpas
        );
        let pairs = match self.info.format {
            Format::XeSend => send,
            Format::Math => math,
            Format::Dpas => dpas,
            _ => others,
        };
        let n = self.rng.below(7) as u8 + 1;
        let sbid = self.rng.below(self.features.sb_tokens.into()) as u8;
        let mut pipes = self.features.swsb_pipes.to_vec();
        // Xe-LP has one pipe, the instruction's own.
        if pipes.len() < 2 {
            pipes.clear();
        }
        pipes.push(crate::swsb::Pipe::Own);
        let mut swsb = Swsb::NONE;
        match self.rng.below(4) {
            0 => {}
            1 => {
                let pipe = self.rng.pick(&pipes)?;
                swsb.distance = Some(Distance { pipe, n });
            }
            2 => {
                let kinds = [TokenKind::Dst, TokenKind::Src, TokenKind::Set];
                let kind = self.rng.pick(&kinds[..if out_of_order { 3 } else { 2 }])?;
                swsb.token = Some(Token { sbid, kind });
            }
            _ => {
                if let Some((pipe, kind, _)) = self.rng.pick(pairs) {
                    swsb.distance = Some(Distance { pipe, n });
                    swsb.token = Some(Token { sbid, kind });
                }
            }
        }
        Some(swsb)
    }

    /// One of the types that registers have on the platform.
    fn ty(&mut self, set: TypeSet) -> Option<Type> {
        let has = |t: &Type| self.tables.reg_types.code(*t).is_some();
        let types: Vec<Type> = set.iter().filter(has).collect();
        self.rng.pick(&types)
    }

    fn grf(&mut self) -> Reg {
        Reg::Grf(self.rng.below(u64::from(self.features.grf_count) - 8) as u8)
    }

    fn mods(&mut self) -> SrcMods {
        SrcMods {
            neg: self.info.mods && self.rng.once_in(4),
            abs: self.info.mods && !self.info.bitwise && self.rng.once_in(4),
        }
    }

    /// A place in a register, a multiple of the type's size and of `unit` bytes.
    fn sub(&mut self, ty: Type, unit: u32) -> u16 {
        let unit = unit.max(ty.bytes());
        if self.rng.once_in(2) {
            0
        } else {
            (self.rng.below((self.features.grf_bytes / unit).into()) as u32 * unit) as u16
        }
    }

    fn address(&mut self, unit: i16) -> (RegRef<Reg>, i16) {
        let sub = self.rng.below(16) as u16 * 2;
        let reach = self.features.indirect_reach;
        let imm = if self.rng.once_in(3) {
            0
        } else {
            (self.rng.below(reach as u64 * 2) as i32 - reach) as i16
        };
        let at = RegRef::new(Reg::Arf(Arf::Address, 0), sub);
        (at, imm & !(unit - 1))
    }

    /// Bytes that the field of source 1 counts in.
    fn coarse(&self) -> u32 {
        if self.features.grf_bytes > 32 { 2 } else { 1 }
    }

    /// Chooses a step for operands of these types: three times in four.
    fn choose_step(&mut self, types: &[Type]) -> Option<()> {
        let widest = types.iter().map(|t| t.bytes()).max()?;
        self.step = None;
        if self.rng.once_in(4) {
            return Some(());
        }
        let narrowest = types.iter().map(|t| t.bytes()).min()?;
        let apart = if self.rng.once_in(3) { 2 } else { 1 };
        let bytes = (widest * apart).min(narrowest * 4);
        let room = 2 * self.features.grf_bytes;
        if bytes * self.exec.channels() > room {
            return None;
        }
        let sub = self.sub(Type::Ub, bytes.max(self.coarse())).into();
        let sub = if self.exec.channels() * bytes + sub > room {
            0
        } else {
            sub
        };
        self.step = Some((bytes, sub));
        Some(())
    }

    /// Operands of one- and two-source instructions.
    fn data(&mut self, i: &mut Inst<Reg>, types: &[(TypeSet, TypeSet)], sources: u8) -> Option<()> {
        let (d, s) = self.rng.pick(types)?;
        let ty = self.ty(d)?;
        let uniform = matches!(self.op, Op::Mach | Op::Macl | Op::Math);
        let first = if s.contains(ty) && (uniform || self.rng.once_in(2)) {
            ty
        } else {
            self.ty(s)?
        };
        let second = if uniform || self.rng.once_in(2) {
            first
        } else {
            self.ty(s)?
        };
        let src_types = [first, second];
        let src_types = src_types.get(..sources.into())?;
        self.choose_step(&[&[ty], src_types].concat())?;
        i.dst = self.dst(ty)?;
        if self.op == Op::Movi {
            return self.movi(i, ty);
        }
        for (n, (slot, ty)) in i.srcs.iter_mut().zip(src_types).enumerate() {
            let last = n + 1 == usize::from(sources);
            *slot = if last && self.op != Op::Math && self.rng.once_in(4) {
                self.immediate(*ty, sources == 1 && i.cond.is_none())?
            } else {
                self.src(*ty, n == 1)?
            };
        }
        Some(())
    }

    fn movi(&mut self, i: &mut Inst<Reg>, ty: Type) -> Option<()> {
        let (addr, imm) = self.address(1);
        i.srcs[0] = Src::Indirect {
            addr,
            imm,
            region: self
                .rng
                .pick(&[Region::rect(1, 1, 0), Region::packed(self.exec)])?,
            ty,
            mods: SrcMods::default(),
        };
        i.srcs[1] = if self.rng.once_in(2) {
            self.value(Type::Uw)
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
            None => self.rng.pick(&[1, 1, 2, 4])?,
        } as u8;
        if !matches!(hs, 1 | 2 | 4) {
            return None;
        }
        if self.op != Op::Math {
            if self.rng.once_in(12) {
                let (addr, imm) = self.address(1);
                return Some(Dst::Indirect { addr, imm, hs, ty });
            }
            if self.rng.once_in(12) {
                let at = RegRef::new(Reg::NULL, 0);
                return Some(Dst::Direct { at, hs: 1, ty });
            }
            if self.rng.once_in(24)
                && let Some(at) = self.arf(ty)
            {
                return Some(Dst::Direct { at, hs: 1, ty });
            }
        }
        let sub = match self.step {
            Some((_, sub)) => sub as u16,
            None => self.sub(ty, 1),
        };
        let acc = self.op != Op::Math && ty.bytes() > 1 && self.rng.once_in(12);
        let reg = if acc { self.acc() } else { self.grf() };
        let at = RegRef::new(reg, sub);
        Some(Dst::Direct { at, hs, ty })
    }

    fn acc(&mut self) -> Reg {
        let n = self.rng.below(self.features.accumulators.into());
        Reg::Arf(Arf::Acc, if self.rng.once_in(2) { 0 } else { n as u8 })
    }

    /// A rectangle that gives every channel an element of its own, `stride` elements apart.
    fn linear(&mut self, stride: u8) -> Option<Region> {
        let exec = self.exec.channels() as u8;
        let w = self.rng.pick(&[1u8, 2, 4, 8, 16])?.min(exec).min(16);
        if exec == 1 {
            return Some(Region::SCALAR);
        }
        if w == 1 {
            return Some(Region::rect(stride, 1, 0));
        }
        let vs = u32::from(w) * u32::from(stride);
        (vs <= 32 && stride <= 4).then(|| Region::rect(vs as u8, w, stride))
    }

    fn region(&mut self) -> Option<Region> {
        let exec = self.exec.channels() as u8;
        if self.rng.once_in(4) {
            return Some(Region::SCALAR);
        }
        let w = self.rng.pick(&[1u8, 2, 4, 8, 16])?.min(exec).min(16);
        let hs = if w == 1 {
            0
        } else {
            self.rng.pick(&[1u8, 1, 2, 4, 0])?
        };
        let vs = if exec == w && hs != 0 {
            w * hs
        } else if exec == 1 {
            0
        } else {
            self.rng
                .pick(&[0, 1, 2, 4, 8, 16, 32, w * hs.max(1), w * hs.max(1)])?
        };
        (vs <= 32).then_some(Region::Rect { vs, w, hs })
    }

    /// A source; the second one counts in larger units and is no register with a name of its own.
    fn src(&mut self, ty: Type, second: bool) -> Option<Src<Reg>> {
        let unit = if second { self.coarse() } else { 1 };
        let mods = self.mods();
        let scalar = self.rng.once_in(4);
        let (region, sub) = match self.step {
            _ if scalar => (Region::SCALAR, self.sub(ty, unit)),
            Some((bytes, sub)) => (self.linear((bytes / ty.bytes()) as u8)?, sub as u16),
            None => (self.region()?, self.sub(ty, unit)),
        };
        let only_grf = self.op == Op::Math;
        if !only_grf && self.rng.once_in(12) {
            let (addr, imm) = self.address(unit as i16);
            let w = self.rng.pick(&[1u8, 2, 4, 8])?;
            let by_row = !second && self.rng.once_in(4) && u32::from(w) <= self.exec.channels();
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
        let named = !only_grf && !second && self.rng.once_in(24);
        if named && let Some(at) = self.arf(ty) {
            return Some(Src::Direct {
                at,
                region: self.rng.pick(&[Region::SCALAR, region])?,
                ty,
                mods,
            });
        }
        let acc = !only_grf && ty.bytes() > 1 && self.rng.once_in(12);
        let reg = if acc { self.acc() } else { self.grf() };
        Some(Src::Direct {
            at: RegRef::new(reg, sub),
            region,
            ty,
            mods,
        })
    }

    /// One of the registers with a name of their own, and a place in it.
    fn arf(&mut self, ty: Type) -> Option<RegRef<Reg>> {
        let flags = self.features.flag_regs;
        let flag = self.rng.below(flags.into()) as u8;
        let (kind, number, bytes): (Arf, u8, u32) = self.rng.pick(&[
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
        let sub = self.rng.below(places.max(1).into()) as u32 * ty.bytes();
        (places > 0).then(|| RegRef::new(Reg::Arf(kind, number), sub as u16))
    }

    /// An immediate in the place of a source of this type; `wide`: one of 64 bits has room.
    fn immediate(&mut self, ty: Type, wide: bool) -> Option<Src<Reg>> {
        let ty = match ty {
            Type::Ub | Type::B => self.rng.pick(&[Type::Uw, Type::W])?,
            Type::Uq | Type::Q | Type::Df if !wide => return None,
            Type::F if self.rng.once_in(6) => Type::Vf,
            Type::W if self.rng.once_in(6) => Type::V,
            Type::Uw if self.rng.once_in(6) => Type::Uv,
            t => t,
        };
        self.tables.imm_types.code(ty)?;
        Some(self.value(ty))
    }

    fn value(&mut self, ty: Type) -> Src<Reg> {
        let number = (self.rng.below(2000) as f64 - 1000.0) / 8.0;
        let bits = match (ty, self.rng.below(3)) {
            (Type::F, 0 | 1) => (number as f32).to_bits().into(),
            (Type::Hf, 0 | 1) => half::f16::from_f32(number as f32).to_bits().into(),
            (Type::Df, 0 | 1) => number.to_bits(),
            (_, 1) => self.rng.below(256),
            _ => self.rng.bits(),
        };
        let width = match ty {
            Type::Uv | Type::V | Type::Vf => 32,
            t => t.bytes() * 8,
        };
        let bits = bits & (u64::MAX >> (64 - width));
        // A NaN's text holds fewer bits of it.
        let nan = match ty {
            Type::F => f32::from_bits(bits as u32).is_nan(),
            Type::Df => f64::from_bits(bits).is_nan(),
            Type::Hf => half::f16::from_bits(bits as u16).is_nan(),
            _ => false,
        };
        Src::Imm {
            bits: if nan { 0 } else { bits },
            ty,
        }
    }

    fn with_mme(
        &mut self,
        i: &mut Inst<Reg>,
        types: &[(TypeSet, TypeSet)],
        sources: u8,
    ) -> Option<()> {
        let (d, _) = self.rng.pick(types)?;
        let ty = self.ty(d)?;
        let most = ExecSize::new(self.features.grf_bytes / ty.bytes())?;
        i.exec = self.exec.min(most);
        let mut mme = || self.rng.below(9) as u8;
        let (d, s) = (mme(), [mme(), mme(), mme()]);
        i.dst = Dst::Macro {
            at: RegRef::new(self.grf(), 0),
            mme: d,
            ty,
        };
        for (slot, mme) in i.srcs.iter_mut().zip(s).take(sources.into()) {
            *slot = Src::Macro {
                at: RegRef::new(self.grf(), 0),
                mme,
                ty,
                mods: self.mods(),
            };
        }
        Some(())
    }

    fn sync(&mut self, i: &mut Inst<Reg>) -> Option<()> {
        let codes = &self.tables.xe.as_ref()?.sync_codes;
        let functions: Vec<SyncFn> = SyncFn::ALL
            .into_iter()
            .filter(|f| codes.get(*f as usize).copied().flatten().is_some())
            .collect();
        let f = self.rng.pick(&functions)?;
        i.subfn = Subfn::Sync(f);
        let imm = codes.get(f as usize).copied().flatten()?.1;
        i.srcs[0] = Src::Direct {
            at: RegRef::new(Reg::NULL, 0),
            region: Region::SCALAR,
            ty: Type::Ub,
            mods: SrcMods::default(),
        };
        match self.rng.below(3) {
            0 if imm => {
                let tokens = (1u64 << self.features.sb_tokens) - 1;
                let bits = self.rng.bits() & self.rng.bits() & tokens;
                i.srcs[0] = Src::Imm { bits, ty: Type::Ud };
            }
            1 if self.tables.xe.as_ref()?.sync_flag == Some(f) => {
                i.srcs[0] = Src::Direct {
                    at: self.flag(),
                    region: Region::SCALAR,
                    ty: Type::Uw,
                    mods: SrcMods::default(),
                };
            }
            _ => {}
        }
        Some(())
    }

    fn target(&mut self) -> Src<Reg> {
        let around = AROUND as i64;
        let n = self.rng.below(AROUND as u64 * 2 + 1) as i64 - around;
        Src::Target(Target::Rel(n as i32 * 16))
    }

    fn register(&mut self, region: Region) -> Src<Reg> {
        Src::Direct {
            at: RegRef::new(self.grf(), self.rng.below(4) as u16 * 8),
            region,
            ty: Type::D,
            mods: SrcMods::default(),
        }
    }

    fn branch(&mut self, i: &mut Inst<Reg>) -> Option<()> {
        let pair = Region::rect(2, 2, 1);
        let by_register = self.rng.once_in(3);
        match self.info.format {
            Format::BranchJip => i.srcs[0] = self.target(),
            Format::Jmpi | Format::BranchRegJip if by_register => {
                i.srcs[0] = self.register(Region::SCALAR);
            }
            Format::Jmpi | Format::BranchRegJip => i.srcs[0] = self.target(),
            Format::BranchRegJipUip if by_register => i.srcs[0] = self.register(pair),
            Format::BranchJipUip | Format::BranchRegJipUip => {
                i.srcs[0] = self.target();
                i.srcs[1] = self.target();
            }
            Format::Call => {
                i.dst = Dst::Direct {
                    at: RegRef::new(self.grf(), self.rng.below(4) as u16 * 8),
                    hs: 1,
                    ty: Type::D,
                };
                i.srcs[0] = if by_register {
                    self.register(Region::SCALAR)
                } else if self.op == Op::Calla {
                    Src::Imm {
                        bits: self.rng.below(AROUND as u64 * 2) * 16,
                        ty: Type::D,
                    }
                } else {
                    self.target()
                };
            }
            Format::Ret => i.srcs[0] = self.register(pair),
            _ => return None,
        }
        Some(())
    }
}
