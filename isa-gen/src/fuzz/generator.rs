//! Generation of the parts that random instructions of all generations share: flags, types,
//! offsets, regions, immediates, branches.

use super::{PADDING, Rng};
use crate::inst::{Cond, Dst, Inst, PredCtrl, Src, SrcMods, Target};
use crate::op::{Format, Op, OpInfo, TypeSet};
use crate::platform::{Features, Platform};
use crate::reg::{Arf, Reg, RegRef};
use crate::region::{ExecSize, Region};
use crate::table::PlatformTables;
use crate::types::Type;

/// Conditions that an instruction without special accumulators may have.
pub(super) const CONDS: [Cond; 8] = [
    Cond::Eq,
    Cond::Ne,
    Cond::Gt,
    Cond::Ge,
    Cond::Lt,
    Cond::Le,
    Cond::Ov,
    Cond::Un,
];

/// Random number generator with the opcode, platform and execution size of the instruction to
/// generate.
pub(super) struct OperandGenerator<'a> {
    pub rng: &'a mut Rng,
    pub platform: Platform,
    pub features: &'static Features,
    pub tables: &'static PlatformTables,
    pub op: Op,
    pub info: &'static OpInfo,
    pub exec: ExecSize,
}

impl<'a> OperandGenerator<'a> {
    /// Creates a generator for an opcode with one channel, or returns `None` if the platform does
    /// not have it.
    pub(super) fn new(platform: Platform, op: Op, rng: &'a mut Rng) -> Option<Self> {
        Some(OperandGenerator {
            rng,
            platform,
            features: platform.features(),
            tables: PlatformTables::of(platform),
            op,
            info: op.info(platform)?,
            exec: ExecSize::S1,
        })
    }

    /// Picks a flag sub-register.
    pub(super) fn flag(&mut self) -> RegRef<Reg> {
        let n = self.rng.below(self.features.flag_regs.into()) as u8;
        let sub = self.rng.below(2) as u16 * 2;
        RegRef::new(Reg::Arf(Arf::Flag, n), sub)
    }

    pub(super) fn pred_ctrl(&mut self) -> Option<PredCtrl> {
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

    /// Picks a type that registers have on the platform.
    pub(super) fn ty(&mut self, set: TypeSet) -> Option<Type> {
        let has = |t: &Type| self.tables.reg_types.code(*t).is_some();
        let types: Vec<Type> = set.iter().filter(has).collect();
        self.rng.pick(&types)
    }

    pub(super) fn grf(&mut self) -> Reg {
        Reg::Grf(self.rng.below(u64::from(self.features.grf_count) - 8) as u8)
    }

    pub(super) fn mods(&mut self) -> SrcMods {
        SrcMods {
            neg: self.info.mods && self.rng.once_in(4),
            abs: self.info.mods && !self.info.bitwise && self.rng.once_in(4),
        }
    }

    /// Picks an offset in a register: a multiple of the type's size and of `unit` bytes.
    pub(super) fn sub(&mut self, ty: Type, unit: u32) -> u16 {
        let unit = unit.max(ty.bytes());
        if self.rng.once_in(2) {
            0
        } else {
            (self.rng.below((self.features.grf_bytes / unit).into()) as u32 * unit) as u16
        }
    }

    /// Picks an address sub-register and an offset in units of `unit` bytes.
    pub(super) fn address(&mut self, unit: i16) -> (RegRef<Reg>, i16) {
        let sub = self.rng.below(self.features.address_words.into()) as u16 * 2;
        let reach = self.features.indirect_reach;
        let imm = if self.rng.once_in(3) {
            0
        } else {
            (self.rng.below(reach as u64 * 2) as i32 - reach) as i16
        };
        let at = RegRef::new(Reg::Arf(Arf::Address, 0), sub);
        (at, imm & !(unit - 1))
    }

    /// Picks a region that fits the execution size.
    pub(super) fn region(&mut self) -> Option<Region> {
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

    /// Generates an immediate as a source of this type. `wide` allows one of 64 bits.
    pub(super) fn immediate(&mut self, ty: Type, wide: bool) -> Option<Src<Reg>> {
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

    /// Generates an immediate of a type.
    pub(super) fn value(&mut self, ty: Type) -> Src<Reg> {
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

    /// Operands of the math macros.
    pub(super) fn with_mme(
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

    /// Picks a branch target among the surrounding instructions.
    fn target(&mut self) -> Src<Reg> {
        let around = PADDING as i64;
        let n = self.rng.below(PADDING as u64 * 2 + 1) as i64 - around;
        Src::Target(Target::Rel(n as i32 * 16))
    }

    /// Returns the type of the register of `brd` and `brc`.
    fn fixed_type(&self) -> Type {
        if self.features.branch_words {
            Type::W
        } else {
            Type::D
        }
    }

    /// Generates a register target.
    fn register(&mut self, region: Region, ty: Type) -> Src<Reg> {
        // The oracle decodes the sub-register of a word as that of a dword
        // (`tests/support/disagreements.rs`).
        let places = if ty == Type::W { 1 } else { 4 };
        Src::Direct {
            at: RegRef::new(self.grf(), self.rng.below(places) as u16 * 8),
            region,
            ty,
            mods: SrcMods::default(),
        }
    }

    /// Generates the operands of branches.
    pub(super) fn branch(&mut self, i: &mut Inst<Reg>) -> Option<()> {
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
                } else if self.op == Op::Calla {
                    Src::Imm {
                        bits: self.rng.below(PADDING as u64 * 2) * 16,
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
