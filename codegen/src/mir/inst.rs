//! Machine instruction before allocation.

use super::{JoinPoint, Routine, VFlag, VReg, VirtReg};
use crate::ir::DataRef;
use crate::target::Target;
use cranelift_entity::packed_option::PackedOption;
use gantry_isa_gen as isa;

/// Test of a flag by a branch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlagTest {
    /// Combination of the flag's bits: bit 0 alone, or any or all of a number of bits.
    pub ctrl: isa::PredCtrl,
    /// True if the result is inverted.
    pub inverse: bool,
}

impl FlagTest {
    /// Bit 0.
    pub const ONE: FlagTest = FlagTest {
        ctrl: isa::PredCtrl::Sequential,
        inverse: false,
    };

    /// Returns the test for any (or all) bits of a flag of `lanes` lanes. `None` if the hardware
    /// does not combine that many.
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

/// Machine instruction, or an operation that becomes some once registers are allocated.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum MInst {
    /// Instruction of the ISA.
    Op {
        /// Instruction.
        inst: isa::Inst<VirtReg>,
        /// True if the write starts a new value of the destination: the old value is dead, though
        /// some bytes may stay unwritten. Otherwise the write is partial and keeps the other bytes.
        starts: bool,
        /// Flag whose other bits are kept, for a condition modifier that writes only some bits of
        /// its flag.
        keeps: PackedOption<VFlag>,
    },
    /// Starts a value of a register that later writes define in parts. Bytes that they do not write
    /// are undefined. Emits no instruction.
    Start {
        /// Register.
        dst: VReg,
    },
    /// Copy of all bytes of one virtual register to another of the same size. Emits nothing if both
    /// are allocated to the same bytes.
    Copy {
        /// Destination.
        dst: VReg,
        /// Source.
        src: VReg,
    },
    /// `a0.sub = address of base + offset (+ index)`, in bytes, for an indirect operand. Loads one
    /// word per row of the operand, each with its own index.
    LoadAddress {
        /// Word of `a0`.
        sub: u16,
        /// Number of words, a power of two.
        count: isa::ExecSize,
        /// Register whose address is loaded. `None` if the index is itself an address in the GRF
        /// file.
        base: Option<VReg>,
        /// Constant number of bytes that is added.
        offset: u32,
        /// Indices in bytes: unsigned words of a register, from a byte offset.
        index: Option<(VReg, u32)>,
    },
    /// Byte address of a place in a register in the GRF file, as a word, by which a routine
    /// accesses the register. The register must not move until the [`MInst::Touch`] after the call.
    RegAddress {
        /// Destination.
        dst: VReg,
        /// Register whose address is taken.
        base: VReg,
        /// Constant number of bytes that is added.
        offset: u32,
        /// Index in bytes that is added: an unsigned word of a register, from a byte offset.
        index: Option<(VReg, u32)>,
    },
    /// Part of the address of constant data, which the loader fills in.
    Symbol {
        /// Destination.
        dst: VReg,
        /// Constant data.
        data: DataRef,
        /// Part of the address.
        part: SymbolPart,
    },
    /// Follows an instruction with indirect operands: marks a register as read, or partly written,
    /// through an address that was loaded before. Emits no instruction.
    Touch {
        /// Register.
        reg: VReg,
        /// True if it is written.
        write: bool,
    },
    /// Jump to the only successor.
    Jump,
    /// Branch to the first successor if `test` of the flag is true, else to the second.
    Branch {
        /// Flag.
        flag: VirtReg,
        /// Byte offset of the sub-register, once physical.
        sub: u16,
        /// Test of the flag.
        test: FlagTest,
    },
    /// Jump to the successor whose number a register has, as the distance in bytes from a `jmpi`
    /// to an entry of the table behind it. Each entry is a `jmpi` in its native form.
    JumpTable {
        /// Distance, a dword.
        distance: VReg,
    },
    /// Disables channels: they wait at a join point, or never run again.
    Leave {
        /// Channels that leave: those whose bit is set, or, if inverted, is clear. `None` is all
        /// channels that run.
        flag: Option<(VirtReg, u16, bool)>,
        /// Join point where they wait. `None` if they do not run again.
        to: Option<JoinPoint>,
        /// Channels of the thread.
        exec: isa::ExecSize,
    },
    /// Enables the channels that wait at a join point.
    Join {
        /// Join point.
        at: JoinPoint,
        /// Channels of the thread.
        exec: isa::ExecSize,
    },
    /// Branch on the execution mask: to one successor if it is empty, to the other if not.
    BranchExec {
        /// True if the first successor is the one for the empty mask.
        none_first: bool,
        /// Channels of the thread.
        exec: isa::ExecSize,
    },
    /// Call of a routine. Parameters and results are in registers that belong to the routine.
    /// Copies around the call fill and read them.
    Call {
        /// Routine.
        routine: Routine,
        /// Register of the routine that the hardware writes the return address to.
        link: VReg,
        /// Channels of the thread.
        exec: isa::ExecSize,
    },
    /// Return to the instruction after the call.
    Return {
        /// Return address that the call wrote.
        link: VReg,
        /// Channels of the thread.
        exec: isa::ExecSize,
    },
    /// End of the thread. The payload is a copy of the thread header.
    EndThread {
        /// Copy of the thread header, in the upper registers.
        payload: VReg,
    },
}

gantry_isa_gen::named_enum! {
    /// Bits of an address that one instruction moves.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum SymbolPart {
        /// All 64 bits. Starts the register's value.
        Whole = "whole",
        /// Lower 32 bits. Starts the register's value.
        Low = "low",
        /// Upper 32 bits, after the lower ones.
        High = "high",
    }
}

/// Kind of access of an instruction to a virtual register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Reads some bytes.
    Use,
    /// Starts a new value.
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
            // A copy to itself does nothing.
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
            MInst::RegAddress {
                dst, base, index, ..
            } => {
                if let Some((r, _)) = index {
                    f(r, Access::Use);
                }
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
            MInst::JumpTable { distance } => f(distance, Access::Use),
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
            MInst::RegAddress {
                dst, base, index, ..
            } => {
                if let Some((r, _)) = index {
                    *r = f(*r, Access::Use);
                }
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
            MInst::JumpTable { distance } => *distance = f(*distance, Access::Use),
            MInst::Jump
            | MInst::Branch { .. }
            | MInst::Leave { .. }
            | MInst::Join { .. }
            | MInst::BranchExec { .. } => {}
        }
    }

    /// Returns true if this ends a block.
    pub fn is_terminator(&self) -> bool {
        matches!(
            self,
            MInst::Jump
                | MInst::Branch { .. }
                | MInst::JumpTable { .. }
                | MInst::BranchExec { .. }
                | MInst::Return { .. }
                | MInst::EndThread { .. }
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two cache lines, and the largest size that is copied without a call.
    #[test]
    fn instructions_are_small() {
        assert!(size_of::<MInst>() <= 128);
    }
}
