//! The machine instruction before allocation.

use super::{JoinPoint, Routine, VFlag, VReg, VirtReg};
use crate::ir::DataRef;
use crate::target::Target;
use cranelift_entity::packed_option::PackedOption;
use gantry_isa_gen as isa;

/// What a branch asks of a flag.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlagTest {
    /// How its bits combine: bit 0 alone, any or all of so many.
    pub ctrl: isa::PredCtrl,
    /// Whether the answer is turned round.
    pub inverse: bool,
}

impl FlagTest {
    /// Bit 0.
    pub const ONE: FlagTest = FlagTest {
        ctrl: isa::PredCtrl::Sequential,
        inverse: false,
    };

    /// Whether any (or all) of a flag's bits are set, for as many lanes as the hardware combines.
    pub fn of_lanes(target: &Target, lanes: u32, all: bool) -> Option<FlagTest> {
        if !target.features().flag_groups || !matches!(lanes, 2 | 4 | 8 | 16 | 32) {
            return None;
        }
        let n = lanes as u8;
        let ctrl = if all {
            isa::PredCtrl::AllH(n)
        } else {
            isa::PredCtrl::AnyH(n)
        };
        Some(FlagTest {
            ctrl,
            inverse: false,
        })
    }
}

/// A machine instruction, or what becomes some once places are known.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum MInst {
    /// An instruction.
    Op {
        /// The instruction.
        inst: isa::Inst<VirtReg>,
        /// Whether this write begins a new value of the destination: what was there before is dead,
        /// though bytes may stay unwritten. Without it a destination is a partial write that keeps
        /// the rest.
        starts: bool,
        /// For a flag modifier that writes only some of its flag's bits: the flag whose other bits
        /// it keeps.
        keeps: PackedOption<VFlag>,
    },
    /// Begins a value of a register that later writes fill in part; the bytes they leave are
    /// undefined. No instruction.
    Start {
        /// The register.
        dst: VReg,
    },
    /// All bytes of one virtual register from another of the same size. Vanishes when both get the
    /// same place.
    Copy {
        /// Destination.
        dst: VReg,
        /// Source.
        src: VReg,
    },
    /// `a0.sub = address of base + offset (+ index)`, in bytes, for an indirect operand; as many
    /// words as it has rows with an index each.
    LoadAddress {
        /// Word of `a0`.
        sub: u16,
        /// Words, a power of two.
        count: isa::ExecSize,
        /// The register whose place is meant; none where the index says where in the file.
        base: Option<VReg>,
        /// Constant bytes added.
        offset: u32,
        /// Indices in bytes, unsigned words from a byte offset of a register on.
        index: Option<(VReg, u32)>,
    },
    /// The byte of the file where a register is, as a word: what a routine reaches it by. The
    /// register keeps its place; [`MInst::Touch`] behind the call says until when the routine reads
    /// it.
    PlaceOf {
        /// Where to.
        dst: VReg,
        /// The register whose place is meant.
        base: VReg,
    },
    /// A part of the address of constant data, which the loader fills in.
    Symbol {
        /// Where to.
        dst: VReg,
        /// The data.
        data: DataRef,
        /// Which part.
        part: SymbolPart,
    },
    /// Stands behind an instruction with indirect operands: the register is read, or partly
    /// written, through an address that was loaded before. No instruction.
    Touch {
        /// The register.
        reg: VReg,
        /// Whether it is written.
        write: bool,
    },
    /// To the only successor.
    Jump,
    /// To the first successor where the flag's bits are as `test` wants them, else to the second.
    Branch {
        /// The condition.
        flag: VirtReg,
        /// Byte offset of the sub-register, once physical.
        sub: u16,
        /// What is asked of the flag.
        test: FlagTest,
    },
    /// Channels leave: they wait at a point, or run nothing any more.
    Leave {
        /// The channels that leave, where its bits are set (or, inverted, where they are not);
        /// without it all that run.
        flag: Option<(VirtReg, u16, bool)>,
        /// Where they wait, if they come back.
        to: Option<JoinPoint>,
        /// Channels of the thread.
        exec: isa::ExecSize,
    },
    /// The channels that wait at a point run again.
    Join {
        /// The point.
        at: JoinPoint,
        /// Channels of the thread.
        exec: isa::ExecSize,
    },
    /// To one successor where no channel runs, to the other where any does.
    BranchExec {
        /// Whether the first is the one where none does.
        none_first: bool,
        /// Channels of the thread.
        exec: isa::ExecSize,
    },
    /// Runs a routine. Its parameters and results are in registers of its own, to and from which
    /// there are copies around this.
    Call {
        /// The routine.
        routine: Routine,
        /// Where the hardware puts what it returns by: the routine's own.
        link: VReg,
        /// Channels of the thread.
        exec: isa::ExecSize,
    },
    /// Back to behind the call.
    Return {
        /// What the call left.
        link: VReg,
        /// Channels of the thread.
        exec: isa::ExecSize,
    },
    /// End of the thread. The payload is a copy of the thread header.
    EndThread {
        /// The thread header's copy, in the upper registers.
        payload: VReg,
    },
}

/// The bits of an address that one instruction moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SymbolPart {
    /// All 64: begins the register's value.
    Whole,
    /// The lower 32: begins the register's value.
    Low,
    /// The upper 32, behind the lower.
    High,
}

impl SymbolPart {
    /// The name in dumps.
    pub const fn name(self) -> &'static str {
        match self {
            SymbolPart::Whole => "whole",
            SymbolPart::Low => "low",
            SymbolPart::High => "high",
        }
    }
}

/// How an instruction uses a virtual register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Reads some bytes.
    Use,
    /// Begins a new value.
    Def,
    /// Writes some bytes and keeps the others.
    Modify,
}

impl MInst {
    /// Calls `f` for every virtual register in the GRF file, uses first.
    #[inline]
    pub fn for_each_vreg(&self, mut f: impl FnMut(VReg, Access)) {
        match *self {
            MInst::Op {
                ref inst, starts, ..
            } => {
                for s in &inst.srcs {
                    if let isa::Src::Direct { at, .. } | isa::Src::Macro { at, .. } = s
                        && let Some(r) = at.reg.as_grf()
                    {
                        f(r, Access::Use);
                    }
                }
                if let isa::Dst::Direct { at, .. } | isa::Dst::Macro { at, .. } = inst.dst
                    && let Some(r) = at.reg.as_grf()
                {
                    f(r, if starts { Access::Def } else { Access::Modify });
                }
            }
            MInst::Start { dst } => f(dst, Access::Def),
            MInst::Touch { reg, write } => f(reg, if write { Access::Modify } else { Access::Use }),
            // To itself, it does nothing.
            MInst::Copy { dst, src } if dst == src => {}
            MInst::Copy { dst, src } => {
                f(src, Access::Use);
                f(dst, Access::Def);
            }
            MInst::LoadAddress { base, index, .. } => {
                if let Some((r, _)) = index {
                    f(r, Access::Use);
                }
                if let Some(base) = base {
                    f(base, Access::Use);
                }
            }
            MInst::PlaceOf { dst, base } => {
                f(base, Access::Use);
                f(dst, Access::Def);
            }
            MInst::Symbol { dst, part, .. } => f(
                dst,
                match part {
                    SymbolPart::Whole | SymbolPart::Low => Access::Def,
                    SymbolPart::High => Access::Modify,
                },
            ),
            MInst::EndThread { payload } => f(payload, Access::Use),
            MInst::Call { link, .. } => f(link, Access::Def),
            MInst::Return { link, .. } => f(link, Access::Use),
            MInst::Jump
            | MInst::Branch { .. }
            | MInst::Leave { .. }
            | MInst::Join { .. }
            | MInst::BranchExec { .. } => {}
        }
    }

    /// Replaces every virtual register in the GRF file.
    pub(crate) fn map_vregs(&mut self, mut f: impl FnMut(VReg, Access) -> VReg) {
        match self {
            MInst::Op { inst, starts, .. } => {
                for s in &mut inst.srcs {
                    if let isa::Src::Direct { at, .. } | isa::Src::Macro { at, .. } = s
                        && let Some(r) = at.reg.as_grf()
                    {
                        at.reg = VirtReg::grf(f(r, Access::Use));
                    }
                }
                if let isa::Dst::Direct { at, .. } | isa::Dst::Macro { at, .. } = &mut inst.dst
                    && let Some(r) = at.reg.as_grf()
                {
                    let access = if *starts { Access::Def } else { Access::Modify };
                    at.reg = VirtReg::grf(f(r, access));
                }
            }
            MInst::Start { dst } => *dst = f(*dst, Access::Def),
            MInst::Touch { reg, write } => {
                let access = if *write { Access::Modify } else { Access::Use };
                *reg = f(*reg, access);
            }
            MInst::Copy { dst, src } => {
                *src = f(*src, Access::Use);
                *dst = f(*dst, Access::Def);
            }
            MInst::LoadAddress { base, index, .. } => {
                if let Some((r, _)) = index {
                    *r = f(*r, Access::Use);
                }
                if let Some(base) = base {
                    *base = f(*base, Access::Use);
                }
            }
            MInst::PlaceOf { dst, base } => {
                *base = f(*base, Access::Use);
                *dst = f(*dst, Access::Def);
            }
            MInst::Symbol { dst, part, .. } => {
                let access = match part {
                    SymbolPart::Whole | SymbolPart::Low => Access::Def,
                    SymbolPart::High => Access::Modify,
                };
                *dst = f(*dst, access);
            }
            MInst::EndThread { payload } => *payload = f(*payload, Access::Use),
            MInst::Call { link, .. } => *link = f(*link, Access::Def),
            MInst::Return { link, .. } => *link = f(*link, Access::Use),
            MInst::Jump
            | MInst::Branch { .. }
            | MInst::Leave { .. }
            | MInst::Join { .. }
            | MInst::BranchExec { .. } => {}
        }
    }

    /// Whether this ends a block.
    pub fn is_terminator(&self) -> bool {
        matches!(
            self,
            MInst::Jump
                | MInst::Branch { .. }
                | MInst::BranchExec { .. }
                | MInst::Return { .. }
                | MInst::EndThread { .. }
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two lines of a cache, and what is copied without a call.
    #[test]
    fn instructions_are_small() {
        assert!(size_of::<MInst>() <= 128);
    }
}
