//! Random forms of an opcode: what the row allows, with regions and registers that mostly make sense.

use super::{AROUND, Rng};
use crate::inst::{
    Cond, CondMod, Desc, Dst, Inst, InstOpts, PredCtrl, Predicate, SendDescs, Src, SrcMods, Subfn,
    Target,
};
use crate::legal::geometry::{dst_grfs_spanned, grfs_spanned};
use crate::op::{Format, MathFn, Op, OpInfo, TypeSet};
use crate::platform::{Features, Platform};
use crate::reg::{Arf, Reg, RegRef};
use crate::region::{ChannelOffset, ExecSize, Region};
use crate::table::PlatformTables;
use crate::types::Type;

struct Gen<'a> {
    rng: &'a mut Rng,
    features: &'static Features,
    tables: &'static PlatformTables,
    info: &'static OpInfo,
    exec: ExecSize,
}

/// A random form of an opcode (and of a math function, for `math`); `None` where the platform does not have it or the
/// dice made no sense of it. It always has an encoding; that it is legal in every way is for others to say.
pub fn random_inst(
    platform: Platform,
    op: Op,
    function: Option<MathFn>,
    rng: &mut Rng,
) -> Option<Inst<Reg>> {
    if platform.features().swsb {
        return super::xe::random(platform, op, function, rng);
    }
    let info = op.info(platform)?;
    let exec = ExecSize::from_log2(rng.below(6) as u8)?;
    let mut g = Gen {
        rng,
        features: platform.features(),
        tables: PlatformTables::of(platform),
        info,
        exec,
    };
    let mut i = Inst::new(op, exec);
    match info.format {
        Format::Nullary => {
            let mut i = Inst::new(op, ExecSize::S1);
            i.opts
                .set(InstOpts::BREAKPOINT, op == Op::Nop && g.rng.once_in(8));
            return Some(i);
        }
        Format::Jmpi | Format::Wait => g.exec = ExecSize::S1,
        // One row of four or two is how the encoding holds one channel: a math macro has none.
        Format::Ternary if info.mme => {
            g.exec = g.rng.pick(&[ExecSize::S4, ExecSize::S8, ExecSize::S16])?;
        }
        _ => {}
    }
    i.exec = g.exec;
    let step = g.exec.channels().max(4);
    if !matches!(info.format, Format::Jmpi | Format::Wait) {
        i.offset = ChannelOffset::new(g.rng.below(u64::from(32 / step)) as u32 * step)?;
    }
    i.no_mask = g.rng.once_in(3) || info.format == Format::Jmpi;
    let flag = g.flag();
    if info.pred && g.rng.once_in(3) {
        i.pred = Some(Predicate {
            flag,
            inverse: g.rng.once_in(2),
            ctrl: if g.in_align16(function) {
                g.rng
                    .pick(&[PredCtrl::Sequential, PredCtrl::AnyH(4), PredCtrl::AllH(4)])?
            } else {
                g.pred_ctrl()?
            },
        });
    }
    if info.cond && (g.rng.once_in(3) || matches!(op, Op::Cmp | Op::Cmpn | Op::Csel)) {
        let cond = g.rng.pick(&[
            Cond::Eq,
            Cond::Ne,
            Cond::Gt,
            Cond::Ge,
            Cond::Lt,
            Cond::Le,
            Cond::Ov,
            Cond::Un,
        ])?;
        i.cond = Some(CondMod { cond, flag });
    }
    i.sat = info.sat && g.rng.once_in(5);
    if info.branch_ctrl && g.rng.once_in(2) {
        i.subfn = Subfn::BranchCtrl(true);
    }
    g.options(&mut i);
    match info.format {
        Format::Unary | Format::Binary => {
            let sources = info.format.sources();
            g.data(&mut i, info.types, sources)?;
            if i.op == Op::Mov && g.rng.once_in(8) {
                g.move_mme(&mut i);
            }
        }
        Format::Math => {
            let function = function?;
            i.subfn = Subfn::Math(function);
            let types = function.info()?.types;
            if function.is_macro() {
                i.cond = Some(CondMod {
                    cond: Cond::Eo,
                    flag,
                });
                g.with_mme(&mut i, types, function.sources())?;
            } else {
                g.data(&mut i, types, function.sources())?;
            }
        }
        Format::Ternary if info.mme => g.with_mme(&mut i, info.types, 3)?,
        Format::Ternary if g.features.ternary_align16 => g.ternary_align16(&mut i)?,
        Format::Ternary => g.ternary_align1(&mut i)?,
        Format::Wait => {
            i.srcs[0] = Src::Direct {
                at: RegRef::new(Reg::Arf(Arf::Notification, 0), g.rng.below(3) as u16 * 4),
                region: Region::SCALAR,
                ty: Type::Ud,
                mods: SrcMods::default(),
            };
        }
        Format::Send | Format::SplitSend => g.send(&mut i)?,
        Format::Nullary => {}
        _ => g.branch(&mut i)?,
    }
    Some(i)
}

impl Gen<'_> {
    fn flag(&mut self) -> RegRef<Reg> {
        RegRef::new(
            Reg::Arf(Arf::Flag, self.rng.below(2) as u8),
            self.rng.below(2) as u16 * 2,
        )
    }

    fn in_align16(&self, function: Option<MathFn>) -> bool {
        let is_macro = self.info.mme || function.is_some_and(MathFn::is_macro);
        is_macro && self.features.align16
            || self.info.format == Format::Ternary && self.features.ternary_align16
    }

    fn pred_ctrl(&mut self) -> Option<PredCtrl> {
        if !self.rng.once_in(3) {
            return Some(PredCtrl::Sequential);
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
        let send = i.op.is_send();
        // Before Gen9 the oracle has no thread control of sends (`tests/support/disagreements.rs`).
        let thread = !send || self.features.split_send;
        let mut maybe = |o, ok: bool| {
            if ok && self.rng.once_in(12) {
                i.opts.insert(o);
            }
        };
        maybe(InstOpts::ATOMIC, thread);
        maybe(InstOpts::NO_DD_CHK, !send);
        maybe(InstOpts::NO_DD_CLR, !send);
        maybe(InstOpts::BREAKPOINT, true);
        maybe(InstOpts::ACC_WR_EN, self.info.acc);
        maybe(InstOpts::NO_SRC_DEP_SET, send && self.features.split_send);
        let no_preempt = self.features.no_preempt;
        if thread && !i.opts.contains(InstOpts::ATOMIC) && self.rng.once_in(12) {
            if no_preempt && (send || self.rng.once_in(2)) {
                i.opts.insert(InstOpts::NO_PREEMPT);
            } else {
                i.opts.insert(InstOpts::SWITCH);
            }
        }
    }

    /// One of the types that registers have on the platform.
    fn ty(&mut self, set: TypeSet) -> Option<Type> {
        let has = |t: &Type| self.tables.reg_types.code(*t).is_some();
        let types: Vec<Type> = set.iter().filter(has).collect();
        self.rng.pick(&types)
    }

    fn grf(&mut self) -> Reg {
        Reg::Grf(self.rng.below(120) as u8)
    }

    fn mods(&mut self) -> SrcMods {
        SrcMods {
            neg: self.info.mods && self.rng.once_in(4),
            abs: self.info.mods && !self.info.bitwise && self.rng.once_in(4),
        }
    }

    fn sub(&mut self, ty: Type) -> u16 {
        let elements = 32 / ty.bytes();
        if self.rng.once_in(2) {
            0
        } else {
            (self.rng.below(elements.into()) as u32 * ty.bytes()) as u16
        }
    }

    fn address(&mut self) -> (RegRef<Reg>, i16) {
        let sub = self.rng.below(self.features.address_words.into()) as u16 * 2;
        let imm = if self.rng.once_in(3) {
            0
        } else {
            self.rng.below(1024) as i16 - 512
        };
        (RegRef::new(Reg::Arf(Arf::Address, 0), sub), imm)
    }

    /// Operands of one- and two-source instructions.
    fn data(&mut self, i: &mut Inst<Reg>, types: &[(TypeSet, TypeSet)], sources: u8) -> Option<()> {
        let (d, s) = self.rng.pick(types)?;
        let ty = self.ty(d)?;
        i.dst = self.dst(ty)?;
        if i.op == Op::Movi {
            // Only an indirect source means anything to it. Where there is a second one, it is `null` or picks.
            if sources == 2 {
                i.srcs[1] = if self.rng.once_in(2) {
                    self.value(Type::Ud)
                } else {
                    Src::Direct {
                        at: RegRef::new(Reg::NULL, 0),
                        region: self
                            .rng
                            .pick(&[Region::rect(1, 1, 0), Region::rect(8, 8, 1)])?,
                        ty,
                        mods: SrcMods::default(),
                    }
                };
            }
            let (addr, imm) = self.address();
            i.srcs[0] = Src::Indirect {
                addr,
                imm,
                region: Region::packed(self.exec),
                ty,
                mods: self.mods(),
            };
            return Some(());
        }
        let int = i.op == Op::Mach;
        for n in 0..sources {
            let mut ty = self.ty(s)?;
            if int && let Some(first) = i.srcs[0].ty() {
                ty = first;
            }
            let last = n + 1 == sources;
            let immediate = last && i.op != Op::Math && self.rng.once_in(4);
            *i.srcs.get_mut(usize::from(n))? = if immediate {
                self.immediate(ty, sources)?
            } else {
                self.src(ty, last && sources == 2)?
            };
        }
        Some(())
    }

    /// Turns a move into one from or to an accumulator of the math macros, as context switches do.
    fn move_mme(&mut self, i: &mut Inst<Reg>) {
        let acc = RegRef::new(Reg::Arf(Arf::Acc, self.rng.below(8) as u8 + 2), 0);
        let grf = RegRef::new(self.grf(), 0);
        let (to, from) = if self.rng.once_in(2) {
            (acc, grf)
        } else {
            (grf, acc)
        };
        let ty = if self.rng.once_in(2) {
            Type::Ud
        } else {
            Type::F
        };
        i.pred = None;
        i.dst = Dst::Direct { at: to, hs: 1, ty };
        i.srcs[0] = Src::Direct {
            at: from,
            region: Region::rect(1, 1, 0),
            ty,
            mods: SrcMods::default(),
        };
    }

    /// Math takes direct GRFs only.
    fn only_grf(&self) -> bool {
        self.info.format == Format::Math
    }

    fn dst(&mut self, ty: Type) -> Option<Dst<Reg>> {
        for _ in 0..50 {
            let hs = self.rng.pick(&[1u8, 1, 2, 4])?;
            let grf = self.only_grf();
            if !grf && self.rng.once_in(10) {
                let (addr, imm) = self.address();
                return Some(Dst::Indirect { addr, imm, hs, ty });
            }
            if !grf && self.rng.once_in(12) {
                let at = RegRef::new(Reg::NULL, 0);
                return Some(Dst::Direct { at, hs: 1, ty });
            }
            if !grf && self.rng.once_in(16) && ty.bytes() >= 2 && ty.bytes() < 8 {
                let at = RegRef::new(Reg::Arf(Arf::Acc, 0), 0);
                return Some(Dst::Direct { at, hs, ty });
            }
            if !grf
                && self.rng.once_in(24)
                && let Some(at) = self.arf(ty)
            {
                return Some(Dst::Direct { at, hs: 1, ty });
            }
            let sub = self.sub(ty);
            if dst_grfs_spanned(sub.into(), hs.into(), self.exec, ty.bytes(), 32) <= 2 {
                let at = RegRef::new(self.grf(), sub);
                return Some(Dst::Direct { at, hs, ty });
            }
        }
        None
    }

    fn region(&mut self) -> Option<Region> {
        let exec = self.exec.channels() as u8;
        if self.rng.once_in(4) {
            return Some(Region::SCALAR);
        }
        let w = self
            .rng
            .pick(&[1u8, 2, 4, 8, 16].map(|w| w.min(exec).min(16)))?;
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

    /// A source; the last of two is no register with a name of its own.
    fn src(&mut self, ty: Type, last: bool) -> Option<Src<Reg>> {
        let grf = self.only_grf();
        for _ in 0..50 {
            let Some(region) = self.region() else {
                continue;
            };
            let mods = self.mods();
            if !grf && self.rng.once_in(10) {
                let (addr, imm) = self.address();
                let region = if self.rng.once_in(4) && self.exec.channels() >= 2 {
                    let w = self
                        .rng
                        .pick(&[1u8, 2, 4, 8])?
                        .min(self.exec.channels() as u8);
                    Region::VxH {
                        w,
                        hs: u8::from(w > 1),
                    }
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
            let arf = !grf && !last;
            if arf && self.rng.once_in(16) && ty.bytes() >= 2 && ty.bytes() < 8 {
                return Some(Src::Direct {
                    at: RegRef::new(Reg::Arf(Arf::Acc, 0), 0),
                    region: Region::packed(self.exec),
                    ty,
                    mods,
                });
            }
            if arf
                && self.rng.once_in(24)
                && let Some(at) = self.arf(ty)
            {
                return Some(Src::Direct {
                    at,
                    region: self.rng.pick(&[Region::SCALAR, region])?,
                    ty,
                    mods,
                });
            }
            let sub = self.sub(ty);
            if grfs_spanned(sub.into(), region, self.exec, ty.bytes(), 32)? <= 2 {
                return Some(Src::Direct {
                    at: RegRef::new(self.grf(), sub),
                    region,
                    ty,
                    mods,
                });
            }
        }
        None
    }

    /// One of the registers with a name of their own, and a place in it.
    fn arf(&mut self, ty: Type) -> Option<RegRef<Reg>> {
        let (kind, number, bytes) = self.rng.pick(&[
            (Arf::Address, 0, 16),
            (Arf::Acc, 0, 32),
            (Arf::Acc, 1, 32),
            (Arf::Flag, 0, 4),
            (Arf::Flag, 1, 4),
            (Arf::ChannelEnable, 0, 4),
            (Arf::Sp, 0, 8),
            (Arf::State, 0, 16),
            (Arf::Control, 0, 12),
            (Arf::Notification, 0, 12),
            (Arf::Ip, 0, 4),
            (Arf::Tdr, 0, 16),
            (Arf::Timestamp, 0, 16),
            (Arf::Dbg, 0, 4),
        ])?;
        let bytes: u32 = bytes;
        // These two have one place.
        let one = matches!(kind, Arf::Ip | Arf::ChannelEnable);
        let places = if one { 1 } else { bytes / ty.bytes() };
        let sub = self.rng.below(places.max(1).into()) as u32 * ty.bytes();
        (places > 0).then(|| RegRef::new(Reg::Arf(kind, number), sub as u16))
    }

    fn immediate(&mut self, ty: Type, sources: u8) -> Option<Src<Reg>> {
        let ty = match ty {
            Type::Ub | Type::B => self.rng.pick(&[Type::Uw, Type::W])?,
            Type::Uq | Type::Q | Type::Df if sources > 1 => return None,
            Type::F if self.rng.once_in(6) => Type::Vf,
            Type::W if self.rng.once_in(6) => Type::V,
            Type::Uw if self.rng.once_in(6) => Type::Uv,
            t => t,
        };
        self.tables.imm_types.code(ty)?;
        Some(self.value(ty))
    }

    /// An immediate of a type.
    fn value(&mut self, ty: Type) -> Src<Reg> {
        let bits = match (ty, self.rng.below(4)) {
            (Type::F, 0) => u64::from(((self.rng.below(2000) as f32 - 1000.0) / 8.0).to_bits()),
            (Type::Df, 0) => ((self.rng.below(2000) as f64 - 1000.0) / 8.0).to_bits(),
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

    fn ternary_align16(&mut self, i: &mut Inst<Reg>) -> Option<()> {
        let (d, s) = self.rng.pick(self.info.types)?;
        let ty = self.ty(d)?;
        if ty.bytes() == 8 && self.exec > ExecSize::S8 || self.exec > ExecSize::S16 {
            return None;
        }
        // A row of channels is 16 bytes.
        let row = |p: &mut Self, ty: Type| {
            (p.rng.below(2) * 16) as u16 / ty.bytes() as u16 * ty.bytes() as u16
        };
        let sub = if self.exec == ExecSize::S1 {
            self.sub(ty)
        } else {
            row(self, ty)
        };
        if dst_grfs_spanned(sub.into(), 1, self.exec, ty.bytes(), 32) > 2 {
            return None;
        }
        if ty == Type::Hf && self.exec == ExecSize::S1 && sub % 8 >= 8 {
            return None;
        }
        i.dst = Dst::Direct {
            at: RegRef::new(self.grf(), sub),
            hs: 1,
            ty,
        };
        let mut first = None;
        for n in 0..3 {
            let src_ty = match first {
                Some(t @ (Type::F | Type::Hf)) => {
                    // Before Gen9 one type is for all sources.
                    if s.contains(Type::F) && s.contains(Type::Hf) && self.tables.ternary_unit == 2
                    {
                        self.ty(s)?
                    } else {
                        t
                    }
                }
                Some(t) => t,
                None => {
                    // The integer operations have one type throughout.
                    if ty.is_int() { ty } else { self.ty(s)? }
                }
            };
            first = first.or(Some(src_ty));
            let scalar = self.exec == ExecSize::S1 || self.rng.once_in(3);
            let region = match (n, scalar) {
                (2, true) => Region::Scalar3 { hs: 0 },
                (2, false) => Region::Scalar3 { hs: 1 },
                (_, true) => Region::Ternary { vs: 0, hs: 0 },
                (_, false) => Region::Ternary { vs: 2, hs: 1 },
            };
            let sub = if scalar {
                let sub = self.sub(src_ty);
                sub - sub % u16::from(self.tables.ternary_unit.max(1))
            } else {
                row(self, src_ty)
            };
            *i.srcs.get_mut(n)? = Src::Direct {
                at: RegRef::new(self.grf(), sub),
                region,
                ty: src_ty,
                mods: self.mods(),
            };
        }
        Some(())
    }

    fn ternary_align1(&mut self, i: &mut Inst<Reg>) -> Option<()> {
        let (d, s) = self.rng.pick(self.info.types)?;
        let ty = self.ty(d)?;
        self.tables.align1_types.code(ty)?;
        let hs = self.rng.pick(&[1, 1, 2])?;
        let sub = self.rng.below(4) as u16 * 8;
        let spans = dst_grfs_spanned(sub.into(), hs.into(), self.exec, ty.bytes(), 32);
        if spans > 2 {
            return None;
        }
        let acc = Reg::Arf(Arf::Acc, self.rng.below(2) as u8);
        i.dst = Dst::Direct {
            at: if ty == Type::Nf || self.rng.once_in(10) {
                RegRef::new(acc, 0)
            } else {
                RegRef::new(self.grf(), sub)
            },
            hs,
            ty,
        };
        for n in 0..3 {
            let ty = self.ty(s).filter(|t| t.is_float() == ty.is_float())?;
            self.tables.align1_types.code(ty)?;
            let immediate = n != 1 && ty.bytes() == 2 && self.rng.once_in(4);
            *i.srcs.get_mut(n)? = if immediate {
                self.value(ty)
            } else {
                self.ternary_source(n, ty)?
            };
        }
        Some(())
    }

    fn ternary_source(&mut self, n: usize, ty: Type) -> Option<Src<Reg>> {
        let mods = self.mods();
        if n == 1 && (ty == Type::Nf || self.rng.once_in(12)) {
            let region = self.rng.pick(&[(0, 0), (2, 1), (4, 1), (8, 1)])?;
            return Some(Src::Direct {
                at: RegRef::new(Reg::Arf(Arf::Acc, self.rng.below(2) as u8), 0),
                region: Region::Ternary {
                    vs: region.0,
                    hs: region.1,
                },
                ty,
                mods,
            });
        }
        for _ in 0..50 {
            let scalar = self.rng.once_in(3);
            let hs = if scalar {
                0
            } else {
                self.rng.pick(&[0, 1, 1, 1, 2, 4])?
            };
            let vs = if scalar {
                0
            } else {
                self.rng.pick(&[0, 2, 4, 8, 8])?
            };
            let region = if n == 2 {
                Region::Scalar3 { hs }
            } else {
                Region::Ternary { vs, hs }
            };
            let sub = self.sub(ty);
            // A row is as many elements as its stride says.
            let flat = if n == 2 || hs == 0 || vs == 0 {
                Region::rect(0, 1, 0)
            } else {
                Region::rect(vs, (vs / hs).max(1), hs)
            };
            if grfs_spanned(sub.into(), flat, self.exec, ty.bytes(), 32)? <= 2 {
                return Some(Src::Direct {
                    at: RegRef::new(self.grf(), sub),
                    region,
                    ty,
                    mods,
                });
            }
        }
        None
    }

    fn with_mme(
        &mut self,
        i: &mut Inst<Reg>,
        types: &[(TypeSet, TypeSet)],
        sources: u8,
    ) -> Option<()> {
        let (d, _) = self.rng.pick(types)?;
        let ty = self.ty(d)?;
        i.exec = self.exec.min(if ty.bytes() == 8 {
            ExecSize::S4
        } else {
            ExecSize::S8
        });
        let mut mme = || self.rng.below(9) as u8;
        let (d, s) = (mme(), [mme(), mme(), mme()]);
        i.dst = Dst::Macro {
            at: RegRef::new(self.grf(), 0),
            mme: d,
            ty,
        };
        for n in 0..usize::from(sources) {
            *i.srcs.get_mut(n)? = Src::Macro {
                at: RegRef::new(self.grf(), 0),
                mme: *s.get(n)?,
                ty,
                mods: self.mods(),
            };
        }
        Some(())
    }

    fn payload(&mut self, ty: Type) -> Src<Reg> {
        Src::Direct {
            at: RegRef::new(self.grf(), 0),
            region: Region::SCALAR,
            ty,
            mods: SrcMods::default(),
        }
    }

    fn send(&mut self, i: &mut Inst<Reg>) -> Option<()> {
        let split = self.info.format == Format::SplitSend;
        let types = [Type::Ud, Type::F, Type::Hf, Type::W, Type::Uw, Type::D];
        let ty = if self.rng.once_in(2) {
            Type::Ud
        } else {
            self.rng.pick(&types)?
        };
        let reg = if self.rng.once_in(4) {
            Reg::NULL
        } else {
            self.grf()
        };
        i.dst = Dst::Direct {
            at: RegRef::new(reg, 0),
            hs: 1,
            ty,
        };
        let src_ty = if split {
            Type::Ud
        } else {
            self.rng.pick(&types)?
        };
        for ty in [ty, src_ty] {
            self.tables.reg_types.code(ty)?;
        }
        i.srcs[0] = self.payload(src_ty);
        if split {
            i.srcs[1] = self.payload(Type::Ud);
        }
        let eot = self.rng.once_in(4);
        let mut ex = self.rng.below(14) as u32;
        if self.features.split_send {
            ex |= self.rng.bits() as u32 & 0xffff_0000;
        }
        if eot {
            ex |= 1 << 5;
        }
        if split {
            ex |= (self.rng.below(15) as u32 + 1) << 6;
        }
        i.opts.set(InstOpts::EOT, eot);
        let a0 = |sub| Desc::Reg(RegRef::new(Reg::Arf(Arf::Address, 0), sub));
        i.send = Some(SendDescs {
            ex: if split && self.rng.once_in(4) {
                a0(self.rng.below(8) as u16 * 4)
            } else {
                Desc::Imm(ex)
            },
            desc: if self.rng.once_in(4) {
                a0(0)
            } else {
                // Gen9 is the first with bits 30 and 29.
                let bits = if self.features.split_send { 31 } else { 29 };
                Desc::Imm(self.rng.bits() as u32 >> (32 - bits))
            },
            src1_len: None,
        });
        Some(())
    }

    fn target(&mut self) -> Src<Reg> {
        let around = AROUND as i64;
        let n = self.rng.below(AROUND as u64 * 2 + 1) as i64 - around;
        Src::Target(Target::Rel(n as i32 * 16))
    }

    /// The type of the register of `brd` and `brc`.
    fn fixed_type(&self) -> Type {
        if self.features.branch_words {
            Type::W
        } else {
            Type::D
        }
    }

    fn register(&mut self, region: Region, ty: Type) -> Src<Reg> {
        // The oracle reads the sub-register of a word as a doubleword's (`tests/support/disagreements.rs`).
        let places = if ty == Type::W { 1 } else { 4 };
        Src::Direct {
            at: RegRef::new(self.grf(), self.rng.below(places) as u16 * 8),
            region,
            ty,
            mods: SrcMods::default(),
        }
    }

    fn branch(&mut self, i: &mut Inst<Reg>) -> Option<()> {
        let pair = Region::rect(2, 2, 1);
        let by_register = self.rng.once_in(3);
        match self.info.format {
            Format::BranchJip => i.srcs[0] = self.target(),
            Format::BranchJipUip => {
                i.srcs[0] = self.target();
                i.srcs[1] = self.target();
            }
            Format::Jmpi if by_register => i.srcs[0] = self.register(Region::SCALAR, Type::D),
            Format::BranchRegJip if by_register => {
                let ty = self.fixed_type();
                i.srcs[0] = self.register(Region::SCALAR, ty);
            }
            Format::Jmpi | Format::BranchRegJip => i.srcs[0] = self.target(),
            Format::BranchRegJipUip if by_register => {
                let ty = self.fixed_type();
                i.srcs[0] = self.register(pair, ty);
            }
            Format::BranchRegJipUip => {
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
                    self.register(Region::SCALAR, Type::D)
                } else if i.op == Op::Calla {
                    Src::Imm {
                        bits: self.rng.below(AROUND as u64 * 2) * 16,
                        ty: Type::D,
                    }
                } else {
                    self.target()
                };
            }
            Format::Ret => i.srcs[0] = self.register(pair, Type::D),
            _ => return None,
        }
        Some(())
    }
}
