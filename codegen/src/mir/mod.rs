//! Machine code before allocation: blocks of [`isa_gen::Inst`](gantry_isa_gen::Inst) over virtual
//! registers ([`VCode`]), and, up to legalization, of bales and logical sends among them
//! ([`lowered`]).
//!
//! There is no second machine IR: instructions are the ISA crate's own, with [`VirtReg`] as the
//! register type, plus the few things that are not instructions until places are known (copies,
//! terminators, the address of a register).

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
    pub const EXEC: VFlag = VFlag(virt_reg::MAX_FLAGS);
}

/// A block of machine code.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VBlock(u32);
entity_impl!(VBlock, "L");

/// A part of a kernel's code that is entered at its first block alone: the kernel itself, which is
/// the first, or a subroutine.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Routine(u32);
entity_impl!(Routine, "routine");

/// Point where channels wait for others: a `join`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JoinPoint(u32);
entity_impl!(JoinPoint, "J");

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
    /// The value of the IR (as it is after inlining and expansion, which keep the numbers of what
    /// was there) that it was made for.
    pub value: PackedOption<Value>,
}

impl VRegData {
    /// A register of so many bytes wherever its natural alignment allows.
    pub fn anywhere(bytes: u32, grf: GrfFile) -> VRegData {
        VRegData {
            bytes: bytes.max(1),
            align: grf.natural_align(bytes),
            place: Place::Any,
            value: None.into(),
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
    /// Successors, in the terminator's order.
    pub succs: SmallVec<[VBlock; 2]>,
    /// Predecessors.
    pub preds: SmallVec<[VBlock; 2]>,
    /// What goes by value along its edges: nothing once flags have their places.
    pub flags: EdgeFlags,
}

/// What values are that have names, by name.
pub type LabelTypes = BTreeMap<String, Type>;

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
    /// The types that values of these names have, each of its first.
    pub label_types: LabelTypes,
    /// A bit for each of the first 63 surfaces that is `noalias`: what is written there is reached
    /// by its number alone.
    pub lone_surfaces: u64,
    /// The rules and repairs that made it.
    pub fired: Fired,
}

impl VCode {
    /// The number of each instruction's block.
    pub(crate) fn block_of(&self) -> Vec<u32> {
        let mut out = vec![0; self.insts.len()];
        for (b, data) in &self.blocks {
            if let Some(insts) = out.get_mut(data.start..data.end) {
                insts.fill(b.as_u32());
            }
        }
        out
    }

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

    /// The thread's header, whole, if a register is it.
    pub(crate) fn header(&self) -> Option<VReg> {
        let mut all = self.vregs.iter();
        let is = |d: &VRegData| d.place == Place::Fixed(0) && d.bytes == self.grf.bytes;
        all.find(|(_, d)| is(d)).map(|(r, _)| r)
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
