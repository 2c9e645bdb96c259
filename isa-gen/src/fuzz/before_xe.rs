//! Random instructions before Xe: controls that the opcode's row allows, with mostly valid regions
//! and registers.

mod send;
mod ternary;

use super::Rng;
use super::generator::{CONDS, OperandGenerator};
use crate::inst::{Cond, CondMod, Dst, Inst, InstOpts, PredCtrl, Predicate, Src, SrcMods, Subfn};
use crate::legal::geometry::{dst_grfs_spanned, grfs_spanned};
use crate::op::{Format, MathFn, Op, TypeSet};
use crate::platform::Platform;
use crate::reg::{Arf, Reg, RegRef};
use crate::region::{ChannelOffset, ExecSize, Region};
use crate::types::Type;

struct PreXeGenerator<'a> {
    base: OperandGenerator<'a>,
}

/// Generates a random instruction of an opcode before Xe; see [`random_inst`](super::random_inst).
pub(super) fn random(
    platform: Platform,
    op: Op,
    function: Option<MathFn>,
    rng: &mut Rng,
) -> Option<Inst<Reg>> {
    let mut base = OperandGenerator::new(platform, op, rng)?;
    let info = base.info;
    let exec = ExecSize::from_log2(base.rng.below(6) as u8)?;
    base.exec = exec;
    let mut g = PreXeGenerator { base };
    let mut i = Inst::new(op, exec);
    match info.format {
        Format::Nullary => {
            let mut i = Inst::new(op, ExecSize::S1);
            i.opts
                .set(InstOpts::BREAKPOINT, op == Op::Nop && g.base.rng.once_in(8));
            return Some(i);
        }
        Format::Jmpi | Format::Wait => g.base.exec = ExecSize::S1,
        // The encoding holds a single channel as one row of four or two, but not of a math macro.
        Format::Ternary if info.mme => {
            g.base.exec = g
                .base
                .rng
                .pick(&[ExecSize::S4, ExecSize::S8, ExecSize::S16])?;
        }
        _ => {}
    }
    i.exec = g.base.exec;
    let step = g.base.exec.channels().max(4);
    if !matches!(info.format, Format::Jmpi | Format::Wait) {
        i.offset = ChannelOffset::new(g.base.rng.below(u64::from(32 / step)) as u32 * step)?;
    }
    i.no_mask = g.base.rng.once_in(3) || info.format == Format::Jmpi;
    let flag = g.base.flag();
    if info.pred && g.base.rng.once_in(3) {
        i.pred = Some(Predicate {
            flag,
            inverse: g.base.rng.once_in(2),
            ctrl: if g.in_align16(function) {
                g.base
                    .rng
                    .pick(&[PredCtrl::Sequential, PredCtrl::AnyH(4), PredCtrl::AllH(4)])?
            } else {
                g.base.pred_ctrl()?
            },
        });
    }
    if info.cond && (g.base.rng.once_in(3) || matches!(op, Op::Cmp | Op::Cmpn | Op::Csel)) {
        let cond = g.base.rng.pick(&CONDS)?;
        i.cond = Some(CondMod { cond, flag });
    }
    i.sat = info.sat && g.base.rng.once_in(5);
    if info.branch_ctrl && g.base.rng.once_in(2) {
        i.subfn = Subfn::BranchCtrl(true);
    }
    g.options(&mut i);
    match info.format {
        Format::Unary | Format::Binary => {
            let sources = info.format.sources();
            g.data(&mut i, info.types, sources)?;
            if i.op == Op::Mov && g.base.rng.once_in(8) {
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
                g.base.with_mme(&mut i, types, function.sources())?;
            } else {
                g.data(&mut i, types, function.sources())?;
            }
        }
        Format::Ternary if info.mme => g.base.with_mme(&mut i, info.types, 3)?,
        Format::Ternary if g.base.features.ternary_align16 => g.ternary_align16(&mut i)?,
        Format::Ternary => g.ternary_align1(&mut i)?,
        Format::Wait => {
            i.srcs[0] = Src::Direct {
                at: RegRef::new(
                    Reg::Arf(Arf::Notification, 0),
                    g.base.rng.below(3) as u16 * 4,
                ),
                region: Region::SCALAR,
                ty: Type::Ud,
                mods: SrcMods::default(),
            };
        }
        Format::Send | Format::SplitSend => g.send(&mut i)?,
        Format::Nullary => {}
        _ => g.base.branch(&mut i)?,
    }
    Some(i)
}

impl PreXeGenerator<'_> {
    fn in_align16(&self, function: Option<MathFn>) -> bool {
        let is_macro = self.base.info.mme || function.is_some_and(MathFn::is_macro);
        is_macro && self.base.features.align16
            || self.base.info.format == Format::Ternary && self.base.features.ternary_align16
    }

    fn options(&mut self, i: &mut Inst<Reg>) {
        let send = i.op.is_send();
        // Before Gen9 the oracle has no thread control on sends (`tests/support/disagreements.rs`).
        let thread = !send || self.base.features.split_send;
        let mut maybe = |o, ok: bool| {
            if ok && self.base.rng.once_in(12) {
                i.opts.insert(o);
            }
        };
        maybe(InstOpts::ATOMIC, thread);
        maybe(InstOpts::NO_DD_CHK, !send);
        maybe(InstOpts::NO_DD_CLR, !send);
        maybe(InstOpts::BREAKPOINT, true);
        maybe(InstOpts::ACC_WR_EN, self.base.info.acc);
        maybe(
            InstOpts::NO_SRC_DEP_SET,
            send && self.base.features.split_send,
        );
        let no_preempt = self.base.features.no_preempt;
        if thread && !i.opts.contains(InstOpts::ATOMIC) && self.base.rng.once_in(12) {
            if no_preempt && (send || self.base.rng.once_in(2)) {
                i.opts.insert(InstOpts::NO_PREEMPT);
            } else {
                i.opts.insert(InstOpts::SWITCH);
            }
        }
    }

    /// Generates the operands of one- and two-source instructions.
    fn data(&mut self, i: &mut Inst<Reg>, types: &[(TypeSet, TypeSet)], sources: u8) -> Option<()> {
        let (d, s) = self.base.rng.pick(types)?;
        let ty = self.base.ty(d)?;
        i.dst = self.dst(ty)?;
        if i.op == Op::Movi {
            // `movi` takes only an indirect source 0. A second source is `null` or selects
            // elements.
            if sources == 2 {
                i.srcs[1] = if self.base.rng.once_in(2) {
                    self.base.value(Type::Ud)
                } else {
                    Src::Direct {
                        at: RegRef::new(Reg::NULL, 0),
                        region: self
                            .base
                            .rng
                            .pick(&[Region::rect(1, 1, 0), Region::rect(8, 8, 1)])?,
                        ty,
                        mods: SrcMods::default(),
                    }
                };
            }
            let (addr, imm) = self.base.address(1);
            i.srcs[0] = Src::Indirect {
                addr,
                imm,
                region: Region::packed(self.base.exec),
                ty,
                mods: self.base.mods(),
            };
            return Some(());
        }
        let int = i.op == Op::Mach;
        for n in 0..sources {
            let mut ty = self.base.ty(s)?;
            if int && let Some(first) = i.srcs[0].ty() {
                ty = first;
            }
            let last = n + 1 == sources;
            let immediate = last && i.op != Op::Math && self.base.rng.once_in(4);
            *i.srcs.get_mut(usize::from(n))? = if immediate {
                self.base.immediate(ty, sources == 1)?
            } else {
                self.src(ty, last && sources == 2)?
            };
        }
        Some(())
    }

    /// Changes a move to one from or to a special accumulator, as in context switches.
    fn move_mme(&mut self, i: &mut Inst<Reg>) {
        let acc = RegRef::new(Reg::Arf(Arf::Acc, self.base.rng.below(8) as u8 + 2), 0);
        let grf = RegRef::new(self.base.grf(), 0);
        let (to, from) = if self.base.rng.once_in(2) {
            (acc, grf)
        } else {
            (grf, acc)
        };
        let ty = if self.base.rng.once_in(2) {
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

    /// Returns true for `math`, which takes only direct GRFs.
    fn only_grf(&self) -> bool {
        self.base.info.format == Format::Math
    }

    fn dst(&mut self, ty: Type) -> Option<Dst<Reg>> {
        for _ in 0..50 {
            let hs = self.base.rng.pick(&[1u8, 1, 2, 4])?;
            let grf = self.only_grf();
            if !grf && self.base.rng.once_in(10) {
                let (addr, imm) = self.base.address(1);
                return Some(Dst::Indirect { addr, imm, hs, ty });
            }
            if !grf && self.base.rng.once_in(12) {
                let at = RegRef::new(Reg::NULL, 0);
                return Some(Dst::Direct { at, hs: 1, ty });
            }
            if !grf && self.base.rng.once_in(16) && ty.bytes() >= 2 && ty.bytes() < 8 {
                let at = RegRef::new(Reg::Arf(Arf::Acc, 0), 0);
                return Some(Dst::Direct { at, hs, ty });
            }
            if !grf
                && self.base.rng.once_in(24)
                && let Some(at) = self.arf(ty)
            {
                return Some(Dst::Direct { at, hs: 1, ty });
            }
            let sub = self.base.sub(ty, 1);
            if dst_grfs_spanned(sub.into(), hs.into(), self.base.exec, ty.bytes(), 32) <= 2 {
                let at = RegRef::new(self.base.grf(), sub);
                return Some(Dst::Direct { at, hs, ty });
            }
        }
        None
    }

    /// Generates a source. The last of two is not an architecture register.
    fn src(&mut self, ty: Type, last: bool) -> Option<Src<Reg>> {
        let grf = self.only_grf();
        for _ in 0..50 {
            let Some(region) = self.base.region() else {
                continue;
            };
            let mods = self.base.mods();
            if !grf && self.base.rng.once_in(10) {
                let (addr, imm) = self.base.address(1);
                let region = if self.base.rng.once_in(4) && self.base.exec.channels() >= 2 {
                    let w = self
                        .base
                        .rng
                        .pick(&[1u8, 2, 4, 8])?
                        .min(self.base.exec.channels() as u8);
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
            if arf && self.base.rng.once_in(16) && ty.bytes() >= 2 && ty.bytes() < 8 {
                return Some(Src::Direct {
                    at: RegRef::new(Reg::Arf(Arf::Acc, 0), 0),
                    region: Region::packed(self.base.exec),
                    ty,
                    mods,
                });
            }
            if arf
                && self.base.rng.once_in(24)
                && let Some(at) = self.arf(ty)
            {
                return Some(Src::Direct {
                    at,
                    region: self.base.rng.pick(&[Region::SCALAR, region])?,
                    ty,
                    mods,
                });
            }
            let sub = self.base.sub(ty, 1);
            if grfs_spanned(sub.into(), region, self.base.exec, ty.bytes(), 32)? <= 2 {
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

    /// Picks an architecture register and an offset in it.
    fn arf(&mut self, ty: Type) -> Option<RegRef<Reg>> {
        let (kind, number, bytes) = self.base.rng.pick(&[
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
        // These two have a single sub-register.
        let one = matches!(kind, Arf::Ip | Arf::ChannelEnable);
        let places = if one { 1 } else { bytes / ty.bytes() };
        let sub = self.base.rng.below(places.max(1).into()) as u32 * ty.bytes();
        (places > 0).then(|| RegRef::new(Reg::Arf(kind, number), sub as u16))
    }
}
