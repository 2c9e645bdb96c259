//! Machine code before allocation: blocks of [`isa_gen::Inst`](gantry_isa_gen::Inst) over virtual
//! registers ([`VCode`]). Up to legalization there are bales and logical sends among them
//! ([`lowered`]).
//!
//! There is no second machine IR. Instructions are the ISA crate's own, with [`VirtReg`] as the
//! register type. [`MInst`] adds the few operations that become instructions once registers are
//! allocated: copies, terminators, the address of a register.

pub mod bale;
pub mod display;
pub(crate) mod insert;
mod inst;
pub(crate) mod liveness;
pub mod logical;
pub(crate) mod loops;
pub mod lowered;
pub(crate) mod operand;
pub(crate) mod parallel_copies;
pub(crate) mod routines;
pub(crate) mod spans;
pub mod srclocs;
pub(crate) mod verify;
mod virt_reg;

pub use inst::{Access, FlagTest, MInst, SymbolPart};
pub(crate) use virt_reg::check_counts;
pub use virt_reg::{RegKind, VirtReg};

use crate::error::CodegenError;
use crate::ir::{Type, Value};
use crate::mir::srclocs::SrcLocs;
use crate::rule_coverage::Fired;
use crate::target::GrfFile;
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityRef, PrimaryMap, entity_impl};
pub use lowered::EdgeFlags;
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// Virtual register in the GRF file: a number of bytes, written any number of times.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VReg(u32);
entity_impl!(VReg, "%r");

/// Virtual flag register, in SSA form.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VFlag(u32);
entity_impl!(VFlag, "%f");

impl VFlag {
    /// Not a flag: the execution mask, as an operand that is a mask.
    pub const EXEC: VFlag = VFlag(virt_reg::MAX_FLAGS);
}

/// Block of machine code.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VBlock(u32);
entity_impl!(VBlock, "L");

/// Part of a kernel's code that is entered only at its first block. The first routine is the kernel
/// itself, the others are its subroutines.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Routine(u32);
entity_impl!(Routine, "routine");

/// Point where channels wait for others: a `join`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JoinPoint(u32);
entity_impl!(JoinPoint, "J");

/// Name and blocks of a routine. Routines come before those that they call.
#[derive(Clone, Debug, Default)]
pub struct RoutineData {
    /// Name of the function.
    pub name: String,
    /// First block, where it is entered.
    pub first: u32,
    /// One past the last block.
    pub end: u32,
}

/// Constraint on the position of a virtual register in the GRF file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RegConstraint {
    /// No constraint but the alignment.
    Any,
    /// Fixed byte address for the whole live range: the thread payload.
    Fixed(u32),
    /// Byte address or a higher one: the end-of-thread payload.
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
    pub constraint: RegConstraint,
    /// IR value that the register was created for. Value numbers are those after inlining and
    /// expansion, which keep the numbers of earlier values.
    pub value: PackedOption<Value>,
}

impl VRegData {
    /// Returns a register of `bytes` bytes with its natural alignment and no constraint.
    pub fn anywhere(bytes: u32, grf: GrfFile) -> VRegData {
        VRegData {
            bytes: bytes.max(1),
            align: grf.natural_align(bytes),
            constraint: RegConstraint::Any,
            value: None.into(),
        }
    }
}

/// Block: its instructions are `insts[start..end]`, the last of which is its one terminator.
#[derive(Clone, Debug, Default)]
pub struct BlockData {
    /// First instruction.
    pub start: usize,
    /// One past the last.
    pub end: usize,
    /// Successors, in the terminator's order.
    pub succs: SmallVec<[VBlock; 2]>,
    /// Predecessors.
    pub preds: SmallVec<[VBlock; 2]>,
    /// Flags that are passed along its edges. Empty once flags are allocated.
    pub flags: EdgeFlags,
}

/// Types of named values, by name.
pub type LabelTypes = BTreeMap<String, Type>;

/// Kernel in machine code before allocation.
#[derive(Clone, Debug)]
pub struct VCode {
    /// GRF file.
    pub grf: GrfFile,
    /// Instructions of all blocks, block after block.
    pub insts: Vec<MInst>,
    /// Source locations of the instructions.
    pub locs: SrcLocs,
    /// Blocks in emission order, the entry first.
    pub blocks: PrimaryMap<VBlock, BlockData>,
    /// Kernel and the subroutines that are compiled with it.
    pub routines: PrimaryMap<Routine, RoutineData>,
    /// Virtual registers.
    pub vregs: PrimaryMap<VReg, VRegData>,
    /// Number of lanes of each virtual flag.
    pub flags: PrimaryMap<VFlag, u8>,
    /// Debug names of registers.
    pub labels: Vec<(String, VReg)>,
    /// Type of each name: that of the first value with the name.
    pub label_types: LabelTypes,
    /// Bit per surface that is `noalias`, for the first 63 surfaces. Memory of such a surface is
    /// accessed only through its own number.
    pub lone_surfaces: u64,
    /// Rules and repairs that created the code.
    pub fired: Fired,
}

impl VCode {
    /// Returns the number of each instruction's block.
    pub(crate) fn block_of(&self) -> Vec<u32> {
        let mut out = vec![0; self.insts.len()];
        for (b, data) in &self.blocks {
            out[data.start..data.end].fill(b.as_u32());
        }
        out
    }

    /// Returns the instructions of a block.
    pub fn block_insts(&self, block: VBlock) -> &[MInst] {
        let b = &self.blocks[block];
        &self.insts[b.start..b.end]
    }

    /// Returns the instructions of a routine: from the first up to, not including, the end.
    pub fn routine_insts(&self, routine: Routine) -> std::ops::Range<usize> {
        let data = &self.routines[routine];
        let at = |n: u32| self.blocks.get(VBlock::from_u32(n));
        let start = at(data.first).map_or(self.insts.len(), |b| b.start);
        let last = data.end.checked_sub(1).and_then(at);
        start..last.map_or(start, |b| b.end).max(start)
    }

    /// Returns the register that is the whole thread header, if there is one.
    pub(crate) fn header(&self) -> Option<VReg> {
        let mut all = self.vregs.iter();
        let is =
            |d: &VRegData| d.constraint == RegConstraint::Fixed(0) && d.bytes == self.grf.bytes;
        all.find(|(_, d)| is(d)).map(|(r, _)| r)
    }

    /// Returns the calls, in order: the number of the instruction and the routine that it calls.
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

    /// Computes predecessors from successors.
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

impl VCode {
    /// Returns the error of a machine instruction that needs more bytes of registers than there
    /// are.
    pub(crate) fn out_of_registers(
        &self,
        name: &str,
        at: usize,
        [needed, available]: [u32; 2],
        alone: bool,
    ) -> CodegenError {
        let inst = self.insts.get(at);
        let mut value: Option<(bool, u32, Value)> = None;
        if let Some(m) = inst {
            m.for_each_vreg(|r, a| {
                let data = self.vregs[r];
                let more = |v: Value| (a != Access::Use, data.bytes, v);
                let new = data.value.expand().map(more);
                let key = |x: &(bool, u32, Value)| (x.0, x.1);
                if new.as_ref().map(key) > value.as_ref().map(key) {
                    value = new;
                }
            });
        }
        CodegenError::OutOfRegisters {
            function: name.to_string(),
            needed,
            available,
            alone,
            at,
            text: inst.map(|m| m.to_string()).unwrap_or_default(),
            value: value.map(|v| v.2),
            origin: self.locs.get(at).into(),
        }
    }
}
