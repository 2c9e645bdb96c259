//! Random forms of an opcode before Xe: what the row allows, with regions and registers that mostly
//! make sense.

mod send;
mod ternary;

use super::Rng;
use super::dice::{CONDS, Dice};
use crate::inst::{Cond, CondMod, Dst, Inst, InstOpts, PredCtrl, Predicate, Src, SrcMods, Subfn};
use crate::legal::geometry::{dst_grfs_spanned, grfs_spanned};
use crate::op::{Format, MathFn, Op, TypeSet};
use crate::platform::Platform;
use crate::reg::{Arf, Reg, RegRef};
use crate::region::{ChannelOffset, ExecSize, Region};
use crate::types::Type;

struct Gen<'a> {
    dice: Dice<'a>,
}

/// A random form of an opcode before Xe; see [`random_inst`](super::random_inst).
pub(super) fn random(
    platform: Platform,
    op: Op,
    function: Option<MathFn>,
    rng: &mut Rng,
) -> Option<Inst<Reg>> {
    let mut dice = Dice::new(platform, op, rng)?;
    let info = dice.info;
    let exec = ExecSize::from_log2(dice.rng.below(6) as u8)?;
    dice.exec = exec;
    let mut g = Gen { dice };
    let mut i = Inst::new(op, exec);
    match info.format {
        Format::Nullary => {
            let mut i = Inst::new(op, ExecSize::S1);
            i.opts
                .set(InstOpts::BREAKPOINT, op == Op::Nop && g.dice.rng.once_in(8));
            return Some(i);
        }
        Format::Jmpi | Format::Wait => g.dice.exec = ExecSize::S1,
        // One row of four or two is how the encoding holds one channel: a math macro has none.
        Format::Ternary if info.mme => {
            g.dice.exec = g
                .dice
                .rng
                .pick(&[ExecSize::S4, ExecSize::S8, ExecSize::S16])?;
        }
        _ => {}
    }
    i.exec = g.dice.exec;
    let step = g.dice.exec.channels().max(4);
    if !matches!(info.format, Format::Jmpi | Format::Wait) {
        i.offset = ChannelOffset::new(g.dice.rng.below(u64::from(32 / step)) as u32 * step)?;
    }
    i.no_mask = g.dice.rng.once_in(3) || info.format == Format::Jmpi;
    let flag = g.dice.flag();
    if info.pred && g.dice.rng.once_in(3) {
        i.pred = Some(Predicate {
            flag,
            inverse: g.dice.rng.once_in(2),
            ctrl: if g.in_align16(function) {
                g.dice
                    .rng
                    .pick(&[PredCtrl::Sequential, PredCtrl::AnyH(4), PredCtrl::AllH(4)])?
            } else {
                g.dice.pred_ctrl()?
            },
        });
    }
    if info.cond && (g.dice.rng.once_in(3) || matches!(op, Op::Cmp | Op::Cmpn | Op::Csel)) {
        let cond = g.dice.rng.pick(&CONDS)?;
        i.cond = Some(CondMod { cond, flag });
    }
    i.sat = info.sat && g.dice.rng.once_in(5);
    if info.branch_ctrl && g.dice.rng.once_in(2) {
        i.subfn = Subfn::BranchCtrl(true);
    }
    g.options(&mut i);
    match info.format {
        Format::Unary | Format::Binary => {
            let sources = info.format.sources();
            g.data(&mut i, info.types, sources)?;
            if i.op == Op::Mov && g.dice.rng.once_in(8) {
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
                g.dice.with_mme(&mut i, types, function.sources())?;
            } else {
                g.data(&mut i, types, function.sources())?;
            }
        }
        Format::Ternary if info.mme => g.dice.with_mme(&mut i, info.types, 3)?,
        Format::Ternary if g.dice.features.ternary_align16 => g.ternary_align16(&mut i)?,
        Format::Ternary => g.ternary_align1(&mut i)?,
        Format::Wait => {
            i.srcs[0] = Src::Direct {
                at: RegRef::new(
                    Reg::Arf(Arf::Notification, 0),
                    g.dice.rng.below(3) as u16 * 4,
                ),
                region: Region::SCALAR,
                ty: Type::Ud,
                mods: SrcMods::default(),
            };
        }
        Format::Send | Format::SplitSend => g.send(&mut i)?,
        Format::Nullary => {}
        _ => g.dice.branch(&mut i)?,
    }
    Some(i)
}

impl Gen<'_> {
    fn in_align16(&self, function: Option<MathFn>) -> bool {
        let is_macro = self.dice.info.mme || function.is_some_and(MathFn::is_macro);
        is_macro && self.dice.features.align16
            || self.dice.info.format == Format::Ternary && self.dice.features.ternary_align16
    }

    fn options(&mut self, i: &mut Inst<Reg>) {
        let send = i.op.is_send();
        // Before Gen9 the oracle has no thread control of sends (`tests/support/disagreements.rs`).
        let thread = !send || self.dice.features.split_send;
        let mut maybe = |o, ok: bool| {
            if ok && self.dice.rng.once_in(12) {
                i.opts.insert(o);
            }
        };
        maybe(InstOpts::ATOMIC, thread);
        maybe(InstOpts::NO_DD_CHK, !send);
        maybe(InstOpts::NO_DD_CLR, !send);
        maybe(InstOpts::BREAKPOINT, true);
        maybe(InstOpts::ACC_WR_EN, self.dice.info.acc);
        maybe(
            InstOpts::NO_SRC_DEP_SET,
            send && self.dice.features.split_send,
        );
        let no_preempt = self.dice.features.no_preempt;
        if thread && !i.opts.contains(InstOpts::ATOMIC) && self.dice.rng.once_in(12) {
            if no_preempt && (send || self.dice.rng.once_in(2)) {
                i.opts.insert(InstOpts::NO_PREEMPT);
            } else {
                i.opts.insert(InstOpts::SWITCH);
            }
        }
    }

    /// Operands of one- and two-source instructions.
    fn data(&mut self, i: &mut Inst<Reg>, types: &[(TypeSet, TypeSet)], sources: u8) -> Option<()> {
        let (d, s) = self.dice.rng.pick(types)?;
        let ty = self.dice.ty(d)?;
        i.dst = self.dst(ty)?;
        if i.op == Op::Movi {
            // Only an indirect source means anything to it. Where there is a second one, it is
            // `null` or picks.
            if sources == 2 {
                i.srcs[1] = if self.dice.rng.once_in(2) {
                    self.dice.value(Type::Ud)
                } else {
                    Src::Direct {
                        at: RegRef::new(Reg::NULL, 0),
                        region: self
                            .dice
                            .rng
                            .pick(&[Region::rect(1, 1, 0), Region::rect(8, 8, 1)])?,
                        ty,
                        mods: SrcMods::default(),
                    }
                };
            }
            let (addr, imm) = self.dice.address(1);
            i.srcs[0] = Src::Indirect {
                addr,
                imm,
                region: Region::packed(self.dice.exec),
                ty,
                mods: self.dice.mods(),
            };
            return Some(());
        }
        let int = i.op == Op::Mach;
        for n in 0..sources {
            let mut ty = self.dice.ty(s)?;
            if int && let Some(first) = i.srcs[0].ty() {
                ty = first;
            }
            let last = n + 1 == sources;
            let immediate = last && i.op != Op::Math && self.dice.rng.once_in(4);
            *i.srcs.get_mut(usize::from(n))? = if immediate {
                self.dice.immediate(ty, sources == 1)?
            } else {
                self.src(ty, last && sources == 2)?
            };
        }
        Some(())
    }

    /// Turns a move into one from or to an accumulator of the math macros, as context switches do.
    fn move_mme(&mut self, i: &mut Inst<Reg>) {
        let acc = RegRef::new(Reg::Arf(Arf::Acc, self.dice.rng.below(8) as u8 + 2), 0);
        let grf = RegRef::new(self.dice.grf(), 0);
        let (to, from) = if self.dice.rng.once_in(2) {
            (acc, grf)
        } else {
            (grf, acc)
        };
        let ty = if self.dice.rng.once_in(2) {
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
        self.dice.info.format == Format::Math
    }

    fn dst(&mut self, ty: Type) -> Option<Dst<Reg>> {
        for _ in 0..50 {
            let hs = self.dice.rng.pick(&[1u8, 1, 2, 4])?;
            let grf = self.only_grf();
            if !grf && self.dice.rng.once_in(10) {
                let (addr, imm) = self.dice.address(1);
                return Some(Dst::Indirect { addr, imm, hs, ty });
            }
            if !grf && self.dice.rng.once_in(12) {
                let at = RegRef::new(Reg::NULL, 0);
                return Some(Dst::Direct { at, hs: 1, ty });
            }
            if !grf && self.dice.rng.once_in(16) && ty.bytes() >= 2 && ty.bytes() < 8 {
                let at = RegRef::new(Reg::Arf(Arf::Acc, 0), 0);
                return Some(Dst::Direct { at, hs, ty });
            }
            if !grf
                && self.dice.rng.once_in(24)
                && let Some(at) = self.arf(ty)
            {
                return Some(Dst::Direct { at, hs: 1, ty });
            }
            let sub = self.dice.sub(ty, 1);
            if dst_grfs_spanned(sub.into(), hs.into(), self.dice.exec, ty.bytes(), 32) <= 2 {
                let at = RegRef::new(self.dice.grf(), sub);
                return Some(Dst::Direct { at, hs, ty });
            }
        }
        None
    }

    /// A source; the last of two is no register with a name of its own.
    fn src(&mut self, ty: Type, last: bool) -> Option<Src<Reg>> {
        let grf = self.only_grf();
        for _ in 0..50 {
            let Some(region) = self.dice.region() else {
                continue;
            };
            let mods = self.dice.mods();
            if !grf && self.dice.rng.once_in(10) {
                let (addr, imm) = self.dice.address(1);
                let region = if self.dice.rng.once_in(4) && self.dice.exec.channels() >= 2 {
                    let w = self
                        .dice
                        .rng
                        .pick(&[1u8, 2, 4, 8])?
                        .min(self.dice.exec.channels() as u8);
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
            if arf && self.dice.rng.once_in(16) && ty.bytes() >= 2 && ty.bytes() < 8 {
                return Some(Src::Direct {
                    at: RegRef::new(Reg::Arf(Arf::Acc, 0), 0),
                    region: Region::packed(self.dice.exec),
                    ty,
                    mods,
                });
            }
            if arf
                && self.dice.rng.once_in(24)
                && let Some(at) = self.arf(ty)
            {
                return Some(Src::Direct {
                    at,
                    region: self.dice.rng.pick(&[Region::SCALAR, region])?,
                    ty,
                    mods,
                });
            }
            let sub = self.dice.sub(ty, 1);
            if grfs_spanned(sub.into(), region, self.dice.exec, ty.bytes(), 32)? <= 2 {
                return Some(Src::Direct {
                    at: RegRef::new(self.dice.grf(), sub),
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
        let (kind, number, bytes) = self.dice.rng.pick(&[
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
        let sub = self.dice.rng.below(places.max(1).into()) as u32 * ty.bytes();
        (places > 0).then(|| RegRef::new(Reg::Arf(kind, number), sub as u16))
    }
}
