//! Form between lowering and legalization, and the buffer through which stages write it.
//!
//! Blocks hold bales, logical sends and instructions that are legal already, over virtual
//! registers.

use crate::mir::bale::{Bale, BaleSrc, Operation, View};
use crate::mir::logical::Logical;
use crate::mir::operand::{begins, flag_dst, flag_type, imm, lane_mask, scalar_src, uniform};
use crate::mir::srclocs::SrcLocs;
use crate::mir::{LabelTypes, MInst, Routine, RoutineData, VBlock, VFlag, VReg, VRegData, VirtReg};
use crate::rule_coverage::Fired;
use crate::target::GrfFile;
use cranelift_entity::PrimaryMap;
use gantry_isa_gen as isa;
use isa::{Op, Type};
use smallvec::SmallVec;

/// Item of lowered code.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Lowered {
    /// Bale.
    Bale(Bale),
    /// Access to memory or message to another thread, without payloads yet.
    Send(Logical),
    /// Range of other code that a logical send was lowered to.
    Sent(CodeRange),
    /// Instruction, copy or terminator.
    Inst(MInst),
}

/// Range of a function's code: from `start` up to, not including, `end`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CodeRange {
    /// First item.
    pub start: u32,
    /// One past the last.
    pub end: u32,
}

impl CodeRange {
    /// Returns the range that was appended since `code` had `start` items.
    pub(crate) fn since(start: usize, code: &[Lowered]) -> CodeRange {
        CodeRange {
            start: start as u32,
            end: code.len() as u32,
        }
    }

    /// Returns the same items' range after the code between two positions is reversed.
    pub(crate) fn turned(self, from: usize, to: usize) -> CodeRange {
        let ends = (from + to) as u32;
        CodeRange {
            start: ends - self.end,
            end: ends - self.start,
        }
    }
}

/// Flags that are passed along an edge: mostly one or two masks.
pub type Flags = SmallVec<[VFlag; 4]>;

/// Flags that are passed along a block's edges. Most blocks have none, for which this takes one
/// word: every pass over blocks reads it.
#[derive(Clone, Debug, Default)]
pub struct EdgeFlags(pub(super) Option<Box<ByValue>>);

/// Block parameters and arguments that are flags, if there are any.
#[derive(Clone, Debug)]
pub(super) struct ByValue {
    /// Parameters of the block.
    pub(super) params: Flags,
    /// Arguments per successor, for its parameters.
    pub(super) args: SmallVec<[Flags; 2]>,
}

impl EdgeFlags {
    /// Returns the flags of a block: its parameters, and the arguments per successor.
    pub fn new(params: Flags, args: SmallVec<[Flags; 2]>) -> EdgeFlags {
        let none = params.is_empty() && args.iter().all(|a| a.is_empty());
        EdgeFlags((!none).then(|| Box::new(ByValue { params, args })))
    }

    /// Returns true if no flag is passed along any edge.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the block's parameters.
    pub fn params(&self) -> &[VFlag] {
        self.0.as_ref().map_or(&[], |f| &f.params)
    }

    /// Returns the arguments for the parameters of the n-th successor.
    pub fn args(&self, n: usize) -> &[VFlag] {
        let args = self.0.as_ref().and_then(|f| f.args.get(n));
        args.map_or(&[], |a| a)
    }
}

/// Lowered block.
#[derive(Clone, Debug, Default)]
pub struct LoweredBlock {
    /// Range of the block in the function's code. The terminator is last.
    pub code: CodeRange,
    /// Source locations of the code.
    pub locs: SrcLocs,
    /// Successors in the terminator's order.
    pub succs: SmallVec<[VBlock; 2]>,
    /// Flags that are passed along its edges.
    pub flags: EdgeFlags,
}

/// Lowered function.
#[derive(Clone, Debug)]
pub struct LoweredFunction {
    /// GRF file in which registers will be allocated.
    pub grf: GrfFile,
    /// Code of all blocks, in any order. Some of it may belong to no block.
    pub code: Vec<Lowered>,
    /// Blocks in emission order.
    pub blocks: Vec<LoweredBlock>,
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
    /// Rules that created the code.
    pub fired: Fired,
}

impl LoweredFunction {
    /// Returns a range of the code.
    pub fn code(&self, at: CodeRange) -> &[Lowered] {
        let CodeRange { start, end } = at;
        &self.code[start as usize..end as usize]
    }

    /// Returns a block's items, each with its index in the block. Code of a lowered access has the
    /// index of the access.
    pub fn items(&self, block: &LoweredBlock) -> impl Iterator<Item = (usize, &Lowered)> {
        let code = self.code(block.code).iter().enumerate();
        code.flat_map(|(n, item)| {
            let pieces = match item {
                Lowered::Sent(at) => self.code(*at),
                item => std::slice::from_ref(item),
            };
            pieces.iter().map(move |item| (n, item))
        })
    }
}

/// Code being written: items emitted since it was last taken, and the registers created so far.
#[derive(Clone, Debug)]
pub(crate) struct Buffer {
    pub(crate) grf: GrfFile,
    pub(crate) vregs: PrimaryMap<VReg, VRegData>,
    pub(crate) flags: PrimaryMap<VFlag, u8>,
    pub(crate) code: Vec<Lowered>,
}

impl Buffer {
    pub(crate) fn new(grf: GrfFile) -> Buffer {
        Buffer {
            grf,
            vregs: PrimaryMap::new(),
            flags: PrimaryMap::new(),
            code: Vec::new(),
        }
    }

    /// Returns a new register of `bytes` bytes.
    pub(crate) fn temp(&mut self, bytes: u32) -> VReg {
        self.vregs.push(VRegData::anywhere(bytes, self.grf))
    }

    /// Returns a new register of whole GRFs.
    pub(crate) fn temp_grfs(&mut self, grfs: u32) -> VReg {
        self.temp(grfs.max(1) * self.grf.bytes)
    }

    pub(crate) fn temp_flag(&mut self, lanes: u32) -> VFlag {
        self.flags.push(lanes as u8)
    }

    pub(crate) fn emit(&mut self, m: MInst) {
        self.code.push(Lowered::Inst(m));
    }

    /// Emits an instruction that starts a new value of its destination.
    pub(crate) fn emit_op(&mut self, inst: isa::Inst<VirtReg>) {
        self.emit(begins(inst));
    }

    /// Emits a bale that writes `lanes` consecutive elements from the start of a register.
    pub(crate) fn bale(&mut self, dst: VReg, lanes: u32, operation: Operation) {
        let ty = operation.ty;
        self.bale_at(
            View::contiguous(VirtReg::grf(dst), lanes, ty),
            true,
            lanes,
            operation,
        );
    }

    pub(crate) fn bale_at(&mut self, dst: View, starts: bool, lanes: u32, operation: Operation) {
        let bale = Bale::new(lanes, operation, dst, starts);
        self.code.push(Lowered::Bale(bale));
    }

    /// Returns a source in a register, for operands that cannot be immediates.
    pub(crate) fn force_reg(&mut self, src: BaleSrc) -> BaleSrc {
        let BaleSrc::Imm(..) = src else { return src };
        // One lane serves all.
        let ty = src.ty();
        let r = self.temp(ty.bytes());
        self.bale(r, 1, Operation::new(Op::Mov, ty, &[src]));
        View::scalar(VirtReg::grf(r), 0, ty).plain()
    }

    /// Returns eight words of a packed vector. Intel's compilers use no other type for it.
    pub(crate) fn packed(&mut self, nibbles: u64) -> View {
        let r = self.temp(8 * Type::W.bytes());
        let v = Operation::new(Op::Mov, Type::W, &[BaleSrc::Imm(nibbles, Type::V)]);
        self.bale(r, 8, v);
        View::contiguous(VirtReg::grf(r), 8, Type::W)
    }

    /// Writes the channels that run, among the first `lanes`, to a flag. A compare that is always
    /// true runs under the execution mask into a flag that was clear. `zero` is any dword.
    pub(crate) fn exec_to_flag(&mut self, out: VFlag, lanes: u32, zero: VReg) {
        let mut before = self.temp_flag(lanes);
        self.const_flag(before, lanes, 0);
        for first in (0..lanes).step_by(16) {
            let last = first + 16 >= lanes;
            let next = if last { out } else { self.temp_flag(lanes) };
            let m = exec_compare(first, (lanes - first).min(16), zero, before, next);
            self.code.extend(m.map(Lowered::Inst));
            before = next;
        }
    }

    /// Writes constant bits to a flag of `lanes` lanes.
    pub(crate) fn const_flag(&mut self, out: VFlag, lanes: u32, bits: u64) {
        let ty = flag_type(lanes);
        let src = imm(bits & lane_mask(lanes), ty);
        self.emit_op(uniform(Op::Mov, flag_dst(out, ty), [src]));
    }
}

/// Returns a compare that is always true, of the running channels from `first`, into `next`. The
/// other bits of `next` are those of `before`.
pub(crate) fn exec_compare(
    first: u32,
    lanes: u32,
    zero: VReg,
    before: VFlag,
    next: VFlag,
) -> Option<MInst> {
    let (exec, offset) = isa::ExecSize::new(lanes).zip(isa::ChannelOffset::new(first))?;
    let zero = scalar_src(zero, 0, Type::Ud);
    let inst = isa::Inst {
        offset,
        cond: Some(isa::CondMod {
            cond: isa::Cond::Eq,
            flag: isa::RegRef::new(VirtReg::flag(next), 0),
        }),
        dst: isa::Dst::null(VirtReg::NULL, Type::Ud),
        srcs: [zero, zero, isa::Src::None],
        ..isa::Inst::new(Op::Cmp, exec)
    };
    Some(MInst::Op {
        inst,
        starts: true,
        keeps: before.into(),
    })
}

/// Returns `lanes` consecutive elements of a register from a byte offset.
pub(crate) fn at(reg: VReg, offset: u32, lanes: u32, ty: Type) -> View {
    View {
        offset,
        ..View::contiguous(VirtReg::grf(reg), lanes, ty)
    }
}
