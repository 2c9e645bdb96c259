//! The one machine instruction, [`Inst`], for compiler, encoder, decoder, text and simulator.

use crate::message::Sfid;
use crate::op::{MathFn, Op};
use crate::reg::{Reg, RegRef, Register};
use crate::region::{ChannelOffset, ExecSize, Region};
use crate::swsb::Swsb;
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
        /// `{Compacted}`: in the 64-bit form.
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
        /// `{ExBSO}`: the extended descriptor in a register is a surface offset (Xe-HPG on, sends only).
        const EX_BSO = 1 << 12;
        /// `{CPS}`: coarse pixel shading (Xe-HP on, sends only).
        const CPS = 1 << 13;
    }
}

/// How predication combines flag bits (Align1 forms).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum PredCtrl {
    /// Each channel by its own bit.
    Sequential,
    /// `.anyv`: either flag sub-register's bit (f0.0 or f1.0).
    AnyV,
    /// `.allv`: both.
    AllV,
    /// `.anyNh`: any of the channel's group of N (2, 4, 8, 16, 32).
    AnyH(u8),
    /// `.allNh`: all of the channel's group of N (2, 4, 8, 16, 32).
    AllH(u8),
    /// `.any`: any of the instruction's channels (Xe-HPC, instead of the groups).
    Any,
    /// `.all`: all of the instruction's channels (Xe-HPC, instead of the groups).
    All,
}

/// Predication: which channels are enabled, by flag bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Predicate<R> {
    /// The flag sub-register.
    pub flag: RegRef<R>,
    /// `~`: enabled where the combined bit is clear.
    pub inverse: bool,
    /// How bits combine.
    pub ctrl: PredCtrl,
}

/// Condition of a flag modifier (`cmp`, `sel`, `csel` and any ALU instruction that sets flags).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Cond {
    /// `(eq)`, also zero.
    Eq,
    /// `(ne)`, also not zero.
    Ne,
    /// `(gt)`.
    Gt,
    /// `(ge)`.
    Ge,
    /// `(lt)`.
    Lt,
    /// `(le)`.
    Le,
    /// `(ov)`: overflow.
    Ov,
    /// `(un)`: unordered, a NaN.
    Un,
    /// `(eo)`: early out, only on the math macros, which set the flag where no further step is needed.
    Eo,
}

/// Flag modifier: the result's condition is written to a flag sub-register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct CondMod<R> {
    /// The condition.
    pub cond: Cond,
    /// The flag sub-register written (for `sel` only named, not written).
    pub flag: RegRef<R>,
}

/// Source modifiers, applied to each element as it is read. On the bitwise operations `neg` means "not" (`~`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct SrcMods {
    /// `-`, or `~` on `not and or xor`.
    pub neg: bool,
    /// `(abs)`, applied before `neg`.
    pub abs: bool,
}

/// Where a branch goes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Target {
    /// Bytes from the start of this instruction.
    Rel(i32),
    /// A label that emission or the assembler resolves: a block of the compiler, a label of the text.
    Label(u32),
}

/// Destination operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Dst<R> {
    /// The instruction has no destination.
    None,
    /// `r5.0<1>:f`.
    Direct {
        /// Where the first element goes.
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
        /// Added to it, in bytes, as far as the platform reaches.
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
        /// Special accumulator 0 .. 7, or 8 for `nomme`.
        mme: u8,
        /// Element type.
        ty: Type,
    },
}

/// Source operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Src<R> {
    /// The instruction has fewer sources.
    None,
    /// `-r5.0<8;8,1>:f`.
    Direct {
        /// The region's origin.
        at: RegRef<R>,
        /// Which elements.
        region: Region,
        /// Element type.
        ty: Type,
        /// Negate, absolute value.
        mods: SrcMods,
    },
    /// `r[a0.0,16]<1,0>:ud`.
    Indirect {
        /// Address sub-register that holds a GRF byte address.
        addr: RegRef<Reg>,
        /// Added to it, in bytes, as far as the platform reaches.
        imm: i16,
        /// Which elements.
        region: Region,
        /// Element type.
        ty: Type,
        /// Negate, absolute value.
        mods: SrcMods,
    },
    /// `r5.mme2:f`: a math macro's source.
    Macro {
        /// The register.
        at: RegRef<R>,
        /// Special accumulator 0 .. 7, or 8 for `nomme`.
        mme: u8,
        /// Element type.
        ty: Type,
        /// Negate, absolute value.
        mods: SrcMods,
    },
    /// An immediate: the bits, zero-extended from the type's size (32 for the packed vectors).
    Imm {
        /// The bits as encoded.
        bits: u64,
        /// Element type.
        ty: Type,
    },
    /// JIP or UIP of a branch. (The absolute target of `calla` is an immediate of type `d`.)
    Target(Target),
}

/// A send descriptor: immediate or from the address register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Desc {
    /// The 32 bits as IGA writes them.
    Imm(u32),
    /// `a0.N`.
    Reg(RegRef<Reg>),
}

/// The descriptors of a send.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SendDescs {
    /// Extended descriptor. Before Xe: 3:0 shared function (SFID), 5 EOT, 9:6 length of source 1 in GRFs, 31:16 the
    /// function's own. In Xe the SFID is in [`Subfn::Send`] and EOT in the options.
    pub ex: Desc,
    /// Descriptor. 18:0 function control, 19 header present, 24:20 response length, 28:25 length of source 0, in GRFs.
    pub desc: Desc,
    /// Length of source 1 in GRFs, where it is the instruction's own and not the extended descriptor's (Xe-HPG on).
    pub src1_len: Option<u8>,
}

/// A function of `sync`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum SyncFn {
    /// Waits for its own annotation only.
    Nop,
    /// Waits until sources of outstanding instructions are read.
    Allrd,
    /// Waits until destinations of outstanding instructions are written.
    Allwr,
    /// Waits on a fence.
    Fence,
    /// Waits on a barrier.
    Bar,
    /// Waits on the host.
    Host,
}

impl SyncFn {
    /// Every function.
    pub const ALL: [SyncFn; 6] = [
        SyncFn::Nop,
        SyncFn::Allrd,
        SyncFn::Allwr,
        SyncFn::Fence,
        SyncFn::Bar,
        SyncFn::Host,
    ];

    /// The name after `sync.`.
    pub const fn name(self) -> &'static str {
        match self {
            SyncFn::Nop => "nop",
            SyncFn::Allrd => "allrd",
            SyncFn::Allwr => "allwr",
            SyncFn::Fence => "fence",
            SyncFn::Bar => "bar",
            SyncFn::Host => "host",
        }
    }
}

/// What an opcode's own control field says.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Subfn {
    /// Nothing.
    #[default]
    None,
    /// `math.FN`.
    Math(MathFn),
    /// `sync.FN`. Source 0 is null, an immediate or a flag, all with a type (`ub` for null).
    Sync(SyncFn),
    /// `send.SFID`: the shared function (Xe; before, it is in the extended descriptor).
    Send(Sfid),
    /// `bfn.0x..`: the truth table of `(s2, s1, s0)` as an index.
    Bfn(u8),
    /// `dpas.8x4`: systolic depth and repeat count.
    Dpas {
        /// 1, 2, 4 or 8 (16: later platforms).
        depth: u8,
        /// 1 to 8.
        repeat: u8,
    },
    /// Branch control `.b` of `if`, `else`, `goto`. Where it is off, decoding gives [`Subfn::None`].
    BranchCtrl(bool),
}

/// One Gen instruction. `R` is the register type: [`Reg`] for real code, the compiler's own before allocation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Inst<R> {
    /// The opcode.
    pub op: Op,
    /// The opcode's own control.
    pub subfn: Subfn,
    /// Execution size.
    pub exec: ExecSize,
    /// Channel offset.
    pub offset: ChannelOffset,
    /// `(W)`: all channels run, whatever the execution mask says.
    pub no_mask: bool,
    /// Predication.
    pub pred: Option<Predicate<R>>,
    /// Flag modifier.
    pub cond: Option<CondMod<R>>,
    /// `(sat)`: the result is clamped to the destination's range, floats to 0..1.
    pub sat: bool,
    /// Destination.
    pub dst: Dst<R>,
    /// Sources; [`Src::None`] beyond the opcode's own number. A branch has JIP in 0 and UIP in 1.
    pub srcs: [Src<R>; 3],
    /// Descriptors of a send.
    pub send: Option<SendDescs>,
    /// Software scoreboard annotation (Xe).
    pub swsb: Swsb,
    /// Options.
    pub opts: InstOpts,
}

impl<R: Copy> Inst<R> {
    /// An instruction of an opcode and an execution size with nothing else set.
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

    /// The same instruction with every register place passed through `f`: how allocation turns virtual registers into
    /// physical ones. Address registers are physical from the start. Fails with the first error of `f`.
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

/// What a register place is in its instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RegRole {
    /// Destination.
    Dst,
    /// Source 0, 1 or 2.
    Src(u8),
    /// Predicate: a flag read.
    Pred,
    /// Flag modifier: a flag written (except on `sel` and `csel`'s siblings that only name it).
    Cond,
}

impl<R: Register> Dst<R> {
    /// The null destination of a type.
    pub fn null(null: R, ty: Type) -> Self {
        Dst::Direct {
            at: RegRef::new(null, 0),
            hs: 1,
            ty,
        }
    }

    /// The element type, where there is one.
    pub fn ty(&self) -> Option<Type> {
        match *self {
            Dst::None => None,
            Dst::Direct { ty, .. } | Dst::Indirect { ty, .. } | Dst::Macro { ty, .. } => Some(ty),
        }
    }

    /// Whether this is the null register.
    pub fn is_null(&self) -> bool {
        matches!(self, Dst::Direct { at, .. } if at.reg.as_phys().is_some_and(Reg::is_null))
    }
}

impl<R: Register> Src<R> {
    /// The element type, where there is one.
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

impl Cond {
    /// The name in IGA syntax.
    pub const fn name(self) -> &'static str {
        match self {
            Cond::Eq => "eq",
            Cond::Ne => "ne",
            Cond::Gt => "gt",
            Cond::Ge => "ge",
            Cond::Lt => "lt",
            Cond::Le => "le",
            Cond::Ov => "ov",
            Cond::Un => "un",
            Cond::Eo => "eo",
        }
    }
}

impl fmt::Display for Cond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
