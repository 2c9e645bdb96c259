//! Machine instruction, [`Inst`], shared by compiler, encoder, decoder, text and simulator.

use crate::op::{MathFn, Op};
use crate::reg::{Reg, RegRef, Register};
use crate::region::{ChannelOffset, ExecSize, Region};
use crate::sfid::Sfid;
use crate::swsb::Swsb;
pub use crate::sync_fn::SyncFn;
use crate::types::Type;
use std::fmt;

bitflags::bitflags! {
    /// Instruction options, written in braces in IGA syntax.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub struct InstOpts: u16 {
        /// `{Atomic}`: no thread switch until the next instruction.
        const ATOMIC = 1 << 0;
        /// `{Switch}`: force a thread switch after this instruction.
        const SWITCH = 1 << 1;
        /// `{NoDDClr}`: do not clear the destination dependency.
        const NO_DD_CLR = 1 << 2;
        /// `{NoDDChk}`: do not check the destination dependency.
        const NO_DD_CHK = 1 << 3;
        /// `{AccWrEn}`: write the accumulator too.
        const ACC_WR_EN = 1 << 4;
        /// `{Compacted}`: the 8-byte form.
        const COMPACTED = 1 << 5;
        /// `{EOT}`: end of thread (sends only).
        const EOT = 1 << 6;
        /// `{Breakpoint}`: the debug bit.
        const BREAKPOINT = 1 << 7;
        /// `{NoSrcDepSet}`: do not set the source dependency (sends only).
        const NO_SRC_DEP_SET = 1 << 8;
        /// `{Serialize}`: wait until the instruction is done (Xe).
        const SERIALIZE = 1 << 9;
        /// `{NoPreempt}`: no preemption here (Gen10 on).
        const NO_PREEMPT = 1 << 10;
        /// `{NoAccSBSet}`: sets no scoreboard of the accumulator (Xe).
        const NO_ACC_SB_SET = 1 << 11;
        /// `{ExBSO}`: the extended descriptor in a register is a surface offset (sends only, Xe-HPG
        /// on).
        const EX_BSO = 1 << 12;
        /// `{CPS}`: coarse pixel shading (Xe-HP on, sends only).
        const CPS = 1 << 13;
    }
}

/// Combination of flag bits into a channel enable (Align1 forms).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum PredCtrl {
    /// Each channel uses its own bit.
    Sequential,
    /// `.anyv`: the bit of either flag sub-register (f0.0 or f1.0).
    AnyV,
    /// `.allv`: the bits of both flag sub-registers.
    AllV,
    /// `.anyNh`: any bit of the channel's group of N (2, 4, 8, 16, 32).
    AnyH(u8),
    /// `.allNh`: all bits of the channel's group of N (2, 4, 8, 16, 32).
    AllH(u8),
    /// `.any`: any bit of the instruction's channels (Xe-HPC, instead of the groups).
    Any,
    /// `.all`: all bits of the instruction's channels (Xe-HPC, instead of the groups).
    All,
}

/// Predicate: enables channels by flag bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Predicate<R> {
    /// Flag sub-register.
    pub flag: RegRef<R>,
    /// `~`: enabled where the combined bit is clear.
    pub inverse: bool,
    /// Combination of the bits.
    pub ctrl: PredCtrl,
}

crate::named_enum! {
    /// Condition of a condition modifier (`cmp`, `sel`, `csel` and any ALU instruction that sets
    /// flags). Names are those of IGA syntax.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
    pub enum Cond {
        /// `(eq)`, also zero.
        Eq = "eq",
        /// `(ne)`, also not zero.
        Ne = "ne",
        /// `(gt)`.
        Gt = "gt",
        /// `(ge)`.
        Ge = "ge",
        /// `(lt)`.
        Lt = "lt",
        /// `(le)`.
        Le = "le",
        /// `(ov)`: overflow.
        Ov = "ov",
        /// `(un)`: unordered, a NaN.
        Un = "un",
        /// `(eo)`: early out. Only the math macros have it; they set the flag where no further step
        /// is needed.
        Eo = "eo",
    }
}

/// Condition modifier: compares the result and writes a flag sub-register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct CondMod<R> {
    /// The condition.
    pub cond: Cond,
    /// Flag sub-register that is written (`sel` and `csel` name one and do not write it).
    pub flag: RegRef<R>,
}

/// Source modifiers, applied to each element as it is read. On bitwise operations `neg` means "not"
/// (`~`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct SrcMods {
    /// `-`, or `~` on `not and or xor`.
    pub neg: bool,
    /// `(abs)`, applied before `neg`.
    pub abs: bool,
}

/// Target of a branch.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Target {
    /// Offset in bytes from the start of this instruction.
    Rel(i32),
    /// Label that emission or the assembler resolves: a block of the compiler, or a label of the
    /// text.
    Label(u32),
}

/// Destination operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Dst<R> {
    /// Absent: the instruction has no destination.
    None,
    /// `r5.0<1>:f`.
    Direct {
        /// Register and offset of the first element.
        at: RegRef<R>,
        /// Horizontal stride in elements: 1, 2 or 4.
        hs: u8,
        /// Element type.
        ty: Type,
    },
    /// `r[a0.1,-16]<1>:ud`.
    Indirect {
        /// Address sub-register that holds a GRF byte address.
        addr: RegRef<Reg>,
        /// Offset added to the address, in bytes, within the range of the platform.
        imm: i16,
        /// Horizontal stride in elements: 1, 2 or 4.
        hs: u8,
        /// Element type.
        ty: Type,
    },
    /// `r5.mme2:f`: a math macro's destination, in Align16 with a special accumulator.
    Macro {
        /// The register.
        at: RegRef<R>,
        /// Special accumulator 0 to 7, or 8 for `nomme`.
        mme: u8,
        /// Element type.
        ty: Type,
    },
}

/// Source operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Src<R> {
    /// Absent: the instruction has fewer sources.
    None,
    /// `-r5.0<8;8,1>:f`.
    Direct {
        /// Register and offset of the first element.
        at: RegRef<R>,
        /// Region: elements that are read.
        region: Region,
        /// Element type.
        ty: Type,
        /// Negation and absolute value.
        mods: SrcMods,
    },
    /// `r[a0.0,16]<1,0>:ud`.
    Indirect {
        /// Address sub-register that holds a GRF byte address.
        addr: RegRef<Reg>,
        /// Offset added to the address, in bytes, within the range of the platform.
        imm: i16,
        /// Region: elements that are read.
        region: Region,
        /// Element type.
        ty: Type,
        /// Negation and absolute value.
        mods: SrcMods,
    },
    /// `r5.mme2:f`: a math macro's source.
    Macro {
        /// The register.
        at: RegRef<R>,
        /// Special accumulator 0 to 7, or 8 for `nomme`.
        mme: u8,
        /// Element type.
        ty: Type,
        /// Negation and absolute value.
        mods: SrcMods,
    },
    /// Immediate.
    Imm {
        /// Bits as encoded, zero-extended from the size of the type (32 bits for the packed
        /// vectors).
        bits: u64,
        /// Element type.
        ty: Type,
    },
    /// JIP or UIP of a branch. The absolute target of `calla` is an immediate of type `d` instead.
    Target(Target),
}

/// Send descriptor: immediate or in the address register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Desc {
    /// Immediate, with the 32 bits in the order that IGA writes.
    Imm(u32),
    /// `a0.N`.
    Reg(RegRef<Reg>),
}

/// Descriptors of a send.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SendDescs {
    /// Extended descriptor. Before Xe: bits 3:0 shared function (SFID), bit 5 EOT, bits 9:6 length
    /// of source 1 in GRFs, bits 31:16 of the function's own. On Xe the SFID is in [`Subfn::Send`]
    /// and EOT in the options.
    pub ex: Desc,
    /// Descriptor. Bits 18:0 function control, bit 19 header present, bits 24:20 response length,
    /// bits 28:25 length of source 0. Lengths are in GRFs.
    pub desc: Desc,
    /// Length of source 1 in GRFs, where the instruction has its own field for it (Xe-HPG on) and
    /// not the extended descriptor.
    pub src1_len: Option<u8>,
}

/// Subfunction: an opcode's own control field.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Subfn {
    /// No subfunction.
    #[default]
    None,
    /// `math.FN`.
    Math(MathFn),
    /// `sync.FN`. Source 0 is null, an immediate or a flag, all with a type (`ub` for null).
    Sync(SyncFn),
    /// `send.SFID`: the shared function (Xe; before, it is in the extended descriptor).
    Send(Sfid),
    /// `bfn.0x..`: truth table, indexed by the bits `(s2, s1, s0)`.
    Bfn(u8),
    /// `dpas.8x4`: systolic depth and repeat count.
    Dpas {
        /// Systolic depth: 1, 2, 4 or 8 (16 on later platforms).
        depth: u8,
        /// Repeat count: 1 to 8.
        repeat: u8,
    },
    /// Branch control `.b` of `if`, `else`, `goto`. Decoding gives [`Subfn::None`] where the bit is
    /// clear.
    BranchCtrl(bool),
}

/// Gen instruction. `R` is the register type: [`Reg`] for final code, the compiler's own type
/// before allocation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Inst<R> {
    /// Opcode.
    pub op: Op,
    /// Subfunction of the opcode.
    pub subfn: Subfn,
    /// Execution size.
    pub exec: ExecSize,
    /// Channel offset.
    pub offset: ChannelOffset,
    /// `(W)`, NoMask: all channels run, whatever the execution mask is.
    pub no_mask: bool,
    /// Predicate.
    pub pred: Option<Predicate<R>>,
    /// Condition modifier.
    pub cond: Option<CondMod<R>>,
    /// `(sat)`: the result is clamped to the range of the destination type, floats to 0..1.
    pub sat: bool,
    /// Destination.
    pub dst: Dst<R>,
    /// Sources, with [`Src::None`] beyond the number that the opcode has. A branch has JIP in 0 and
    /// UIP in 1.
    pub srcs: [Src<R>; 3],
    /// Descriptors of a send.
    pub send: Option<SendDescs>,
    /// Software scoreboard annotation (Xe).
    pub swsb: Swsb,
    /// Options.
    pub opts: InstOpts,
}

impl<R: Copy> Inst<R> {
    /// Creates an instruction with an opcode and an execution size, and nothing else set.
    pub const fn new(op: Op, exec: ExecSize) -> Self {
        Inst {
            op,
            subfn: Subfn::None,
            exec,
            offset: ChannelOffset::M0,
            no_mask: false,
            pred: None,
            cond: None,
            sat: false,
            dst: Dst::None,
            srcs: [Src::None; 3],
            send: None,
            swsb: Swsb::NONE,
            opts: InstOpts::empty(),
        }
    }

    /// Returns the instruction with every register operand passed through `f`.
    ///
    /// Register allocation turns virtual registers into physical ones with it. Address registers
    /// are physical from the start.
    ///
    /// # Errors
    /// Returns the first error of `f`.
    #[inline]
    pub fn map<S: Copy, E>(
        &self,
        mut f: impl FnMut(RegRef<R>, RegRole) -> Result<RegRef<S>, E>,
    ) -> Result<Inst<S>, E> {
        let pred = match self.pred {
            None => None,
            Some(p) => Some(Predicate {
                flag: f(p.flag, RegRole::Pred)?,
                inverse: p.inverse,
                ctrl: p.ctrl,
            }),
        };
        let cond = match self.cond {
            None => None,
            Some(c) => Some(CondMod {
                cond: c.cond,
                flag: f(c.flag, RegRole::Cond)?,
            }),
        };
        let dst = match self.dst {
            Dst::None => Dst::None,
            Dst::Direct { at, hs, ty } => Dst::Direct {
                at: f(at, RegRole::Dst)?,
                hs,
                ty,
            },
            Dst::Indirect { addr, imm, hs, ty } => Dst::Indirect { addr, imm, hs, ty },
            Dst::Macro { at, mme, ty } => Dst::Macro {
                at: f(at, RegRole::Dst)?,
                mme,
                ty,
            },
        };
        let mut srcs = [Src::None; 3];
        for (i, (out, s)) in srcs.iter_mut().zip(&self.srcs).enumerate() {
            *out = match *s {
                Src::None => Src::None,
                Src::Direct {
                    at,
                    region,
                    ty,
                    mods,
                } => Src::Direct {
                    at: f(at, RegRole::Src(i as u8))?,
                    region,
                    ty,
                    mods,
                },
                Src::Indirect {
                    addr,
                    imm,
                    region,
                    ty,
                    mods,
                } => Src::Indirect {
                    addr,
                    imm,
                    region,
                    ty,
                    mods,
                },
                Src::Macro { at, mme, ty, mods } => Src::Macro {
                    at: f(at, RegRole::Src(i as u8))?,
                    mme,
                    ty,
                    mods,
                },
                Src::Imm { bits, ty } => Src::Imm { bits, ty },
                Src::Target(t) => Src::Target(t),
            };
        }
        Ok(Inst {
            op: self.op,
            subfn: self.subfn,
            exec: self.exec,
            offset: self.offset,
            no_mask: self.no_mask,
            pred,
            cond,
            sat: self.sat,
            dst,
            srcs,
            send: self.send,
            swsb: self.swsb,
            opts: self.opts,
        })
    }
}

/// Role of a register operand in its instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RegRole {
    /// Destination.
    Dst,
    /// Source 0, 1 or 2.
    Src(u8),
    /// Predicate: a flag that is read.
    Pred,
    /// Condition modifier: a flag that is written (`sel` and `csel` only name it).
    Cond,
}

impl<R: Register> Dst<R> {
    /// Creates a null destination of a type.
    pub fn null(null: R, ty: Type) -> Self {
        Dst::Direct {
            at: RegRef::new(null, 0),
            hs: 1,
            ty,
        }
    }

    /// Returns the element type, if there is one.
    pub fn ty(&self) -> Option<Type> {
        match *self {
            Dst::None => None,
            Dst::Direct { ty, .. } | Dst::Indirect { ty, .. } | Dst::Macro { ty, .. } => Some(ty),
        }
    }

    /// Returns true if this is the null register.
    pub fn is_null(&self) -> bool {
        matches!(self, Dst::Direct { at, .. } if at.reg.as_phys().is_some_and(Reg::is_null))
    }
}

impl<R: Register> Src<R> {
    /// Returns the element type, if there is one.
    pub fn ty(&self) -> Option<Type> {
        match *self {
            Src::Direct { ty, .. }
            | Src::Indirect { ty, .. }
            | Src::Macro { ty, .. }
            | Src::Imm { ty, .. } => Some(ty),
            Src::None | Src::Target(_) => None,
        }
    }
}

impl fmt::Display for Cond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
