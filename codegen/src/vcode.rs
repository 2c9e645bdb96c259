//! Machine code before allocation: blocks of [`isa_gen::Inst`](gantry_isa_gen::Inst) over virtual registers.
//!
//! There is no second machine IR: instructions are the ISA crate's own, with [`VirtReg`] as the register type, plus the few
//! things that are not instructions until places are known (copies, terminators, the address of a register).

use crate::fired::Fired;
use crate::ir::DataRef;
use crate::lowered::Flags;
use crate::simdcf::Point;
use crate::srclocs::SrcLocs;
use crate::target::GrfFile;
use cranelift_entity::{EntityRef, PrimaryMap, entity_impl};
use gantry_isa_gen as isa;
use smallvec::SmallVec;
use std::fmt;

/// A virtual register in the GRF file: so many bytes, written any number of times.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VReg(u32);
entity_impl!(VReg, "%r");

/// A virtual flag register, in SSA form.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VFlag(u32);
entity_impl!(VFlag, "%f");

impl VFlag {
    /// Not a flag: the execution mask, where a mask is asked for.
    pub const EXEC: VFlag = VFlag(u32::MAX - 1);
}

/// A block of machine code.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VBlock(u32);
entity_impl!(VBlock, "L");

/// A part of a kernel's code that is entered at its first block alone: the kernel itself, which is the first, or a subroutine.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Routine(u32);
entity_impl!(Routine, "routine");

/// What a routine is. Routines come before those that they call.
#[derive(Clone, Debug, Default)]
pub struct RoutineData {
    /// The function's name.
    pub name: String,
    /// The first block: where it is entered.
    pub first: u32,
    /// One past the last block.
    pub end: u32,
}

/// A register of an instruction before allocation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum VirtReg {
    /// In the GRF file.
    Grf(VReg),
    /// A flag.
    Flag(VFlag),
    /// A physical register: null, accumulators, address and state registers, and flags after their allocation.
    Phys(isa::Reg),
}

impl VirtReg {
    /// The null register.
    pub const NULL: VirtReg = VirtReg::Phys(isa::Reg::NULL);
}

impl isa::Register for VirtReg {
    fn as_phys(self) -> Option<isa::Reg> {
        match self {
            VirtReg::Phys(r) => Some(r),
            VirtReg::Grf(_) | VirtReg::Flag(_) => None,
        }
    }
}

impl fmt::Display for VirtReg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            VirtReg::Grf(r) => r.fmt(f),
            VirtReg::Flag(r) => r.fmt(f),
            VirtReg::Phys(r) => r.fmt(f),
        }
    }
}

/// Where in the GRF file a virtual register must be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// Anywhere that its alignment allows.
    Any,
    /// At this byte address for its whole life: the thread payload.
    Fixed(u32),
    /// At or above this byte address: the end-of-thread payload.
    AtLeast(u32),
}

/// Size, alignment and constraint of a virtual register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VRegData {
    /// Size in bytes, at least 1.
    pub bytes: u32,
    /// Alignment in bytes, a power of two up to the GRF size.
    pub align: u32,
    /// Constraint.
    pub place: Place,
}

impl VRegData {
    /// A register of so many bytes wherever its natural alignment allows.
    pub fn anywhere(bytes: u32, grf: GrfFile) -> VRegData {
        VRegData {
            bytes: bytes.max(1),
            align: grf.natural_align(bytes),
            place: Place::Any,
        }
    }
}

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
    pub fn of_lanes(lanes: u32, all: bool) -> Option<FlagTest> {
        if !matches!(lanes, 2 | 4 | 8 | 16 | 32) {
            return None;
        }
        let n = lanes as u8;
        let ctrl = match all {
            true => isa::PredCtrl::AllH(n),
            false => isa::PredCtrl::AnyH(n),
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
        /// Whether this write begins a new value of the destination: what was there before is dead, though bytes
        /// may stay unwritten. Without it a destination is a partial write that keeps the rest.
        starts: bool,
        /// For a flag modifier that writes only some of its flag's bits: the flag whose other bits it keeps.
        keeps: Option<VFlag>,
    },
    /// Begins a value of a register that later writes fill in part; the bytes they leave are undefined. No instruction.
    Start {
        /// The register.
        dst: VReg,
    },
    /// All bytes of one virtual register from another of the same size. Vanishes when both get the same place.
    Copy {
        /// Destination.
        dst: VReg,
        /// Source.
        src: VReg,
    },
    /// `a0.sub = address of base + offset (+ index)`, in bytes, for an indirect operand; as many words as it has rows with an index each.
    LoadAddress {
        /// Word of `a0`.
        sub: u16,
        /// Words, a power of two.
        count: isa::ExecSize,
        /// The register whose place is meant.
        base: VReg,
        /// Constant bytes added.
        offset: u32,
        /// Indices in bytes, unsigned words from a byte offset of a register on.
        index: Option<(VReg, u32)>,
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
    /// Stands behind an instruction with indirect operands: the register is read, or partly written, through an
    /// address that was loaded before. No instruction.
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
        /// The channels that leave, where its bits are set (or, inverted, where they are not); without it all that run.
        flag: Option<(VirtReg, u16, bool)>,
        /// Where they wait, if they come back.
        to: Option<Point>,
        /// Channels of the thread.
        exec: isa::ExecSize,
    },
    /// The channels that wait at a point run again.
    Join {
        /// The point.
        at: Point,
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
    /// Runs a routine. Its parameters and results are in registers of its own, to and from which there are copies around this.
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

/// A block: its instructions are `insts[start..end]` and end in one terminator.
#[derive(Clone, Debug, Default)]
pub struct BlockData {
    /// First instruction.
    pub start: usize,
    /// One past the last.
    pub end: usize,
    /// Flags that come in by value.
    pub params: Flags,
    /// Successors, in the terminator's order.
    pub succs: SmallVec<[VBlock; 2]>,
    /// Per successor, the flags for its parameters.
    pub succ_args: SmallVec<[Flags; 2]>,
    /// Predecessors.
    pub preds: SmallVec<[VBlock; 2]>,
}

/// A kernel in machine code before allocation.
#[derive(Clone, Debug)]
pub struct VCode {
    /// The register file.
    pub grf: GrfFile,
    /// Every instruction, block after block.
    pub insts: Vec<MInst>,
    /// Where they come from.
    pub locs: SrcLocs,
    /// Blocks in emission order, the entry first.
    pub blocks: PrimaryMap<VBlock, BlockData>,
    /// The kernel and the subroutines that are compiled with it.
    pub routines: PrimaryMap<Routine, RoutineData>,
    /// Virtual registers.
    pub vregs: PrimaryMap<VReg, VRegData>,
    /// Lanes of each virtual flag.
    pub flags: PrimaryMap<VFlag, u8>,
    /// What a debugger would call what is in registers.
    pub labels: Vec<(String, VReg)>,
    /// The rules and repairs that made it.
    pub fired: Fired,
}

impl VCode {
    /// The instructions of a block.
    pub fn block_insts(&self, block: VBlock) -> &[MInst] {
        let b = &self.blocks[block];
        self.insts.get(b.start..b.end).unwrap_or(&[])
    }

    /// The instructions of a routine: the first, and one past the last.
    pub fn routine_insts(&self, routine: Routine) -> std::ops::Range<usize> {
        let data = &self.routines[routine];
        let at = |n: u32| self.blocks.get(VBlock::from_u32(n));
        let start = at(data.first).map_or(self.insts.len(), |b| b.start);
        let last = data.end.checked_sub(1).and_then(at);
        start..last.map_or(start, |b| b.end).max(start)
    }

    /// The calls, in order: the instruction's place, and what is called.
    pub fn calls(&self) -> Vec<(usize, Routine)> {
        if self.routines.len() < 2 {
            return Vec::new();
        }
        let insts = self.insts.iter().enumerate();
        insts
            .filter_map(|(i, m)| match m {
                MInst::Call { routine, .. } => Some((i, *routine)),
                _ => None,
            })
            .collect()
    }

    /// Fills in predecessors from successors.
    pub fn compute_preds(&mut self) {
        for b in self.blocks.values_mut() {
            b.preds.clear();
        }
        for i in 0..self.blocks.len() {
            let b = VBlock::new(i);
            for s in self.blocks[b].succs.clone() {
                self.blocks[s].preds.push(b);
            }
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
    pub fn for_each_vreg(&self, mut f: impl FnMut(VReg, Access)) {
        match *self {
            MInst::Op {
                ref inst, starts, ..
            } => {
                for s in &inst.srcs {
                    if let isa::Src::Direct { at, .. } | isa::Src::Macro { at, .. } = s
                        && let VirtReg::Grf(r) = at.reg
                    {
                        f(r, Access::Use);
                    }
                }
                if let isa::Dst::Direct { at, .. } | isa::Dst::Macro { at, .. } = inst.dst
                    && let VirtReg::Grf(r) = at.reg
                {
                    f(r, if starts { Access::Def } else { Access::Modify });
                }
            }
            MInst::Start { dst } => f(dst, Access::Def),
            MInst::Touch { reg, write } => f(reg, if write { Access::Modify } else { Access::Use }),
            MInst::Copy { dst, src } => {
                f(src, Access::Use);
                f(dst, Access::Def);
            }
            MInst::LoadAddress { base, index, .. } => {
                if let Some((r, _)) = index {
                    f(r, Access::Use);
                }
                f(base, Access::Use);
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
