//! The form between lowering and legalization: blocks of bales, logical sends and instructions that
//! are legal as they are, over virtual registers; and the buffer that stages write it through.

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

/// A piece of lowered code.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Lowered {
    /// A bale.
    Bale(Bale),
    /// An access to memory or another thread, without payloads yet.
    Send(Logical),
    /// What an access became: other code, as a part of this.
    Sent(CodeRange),
    /// An instruction, copy or terminator.
    Inst(MInst),
}

/// A piece of a function's code: from `start` up to, not including, `end`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CodeRange {
    /// The first item.
    pub start: u32,
    /// One past the last.
    pub end: u32,
}

impl CodeRange {
    /// What was appended to code since it had so many items.
    pub(crate) fn since(start: usize, code: &[Lowered]) -> CodeRange {
        CodeRange {
            start: start as u32,
            end: code.len() as u32,
        }
    }

    /// The same piece once the code between two places is turned round.
    pub(crate) fn turned(self, from: usize, to: usize) -> CodeRange {
        let ends = (from + to) as u32;
        CodeRange {
            start: ends - self.end,
            end: ends - self.start,
        }
    }
}

/// Flags that go by value along an edge: mostly a mask or two.
pub type Flags = SmallVec<[VFlag; 4]>;

/// The flags that go by value along a block's edges. Of most blocks there are none, which takes one
/// word of what every pass over blocks reads.
#[derive(Clone, Debug, Default)]
pub struct EdgeFlags(pub(super) Option<Box<ByValue>>);

/// Flags by value, where there are any.
#[derive(Clone, Debug)]
pub(super) struct ByValue {
    /// Those that come in.
    pub(super) params: Flags,
    /// Per successor those for its parameters.
    pub(super) args: SmallVec<[Flags; 2]>,
}

impl EdgeFlags {
    /// `params`: those that come in; `args`: per successor those for its parameters.
    pub fn new(params: Flags, args: SmallVec<[Flags; 2]>) -> EdgeFlags {
        let none = params.is_empty() && args.iter().all(|a| a.is_empty());
        EdgeFlags((!none).then(|| Box::new(ByValue { params, args })))
    }

    /// Whether none goes along any edge.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Those that come in.
    pub fn params(&self) -> &[VFlag] {
        self.0.as_ref().map_or(&[], |f| &f.params)
    }

    /// Those for the parameters of the n-th successor.
    pub fn args(&self, n: usize) -> &[VFlag] {
        let args = self.0.as_ref().and_then(|f| f.args.get(n));
        args.map_or(&[], |a| a)
    }
}

/// A lowered block.
#[derive(Clone, Debug, Default)]
pub struct LoweredBlock {
    /// Which of the function's code is its own; the terminator is last.
    pub code: CodeRange,
    /// Where that comes from.
    pub locs: SrcLocs,
    /// Successors in the terminator's order.
    pub succs: SmallVec<[VBlock; 2]>,
    /// What goes by value along its edges.
    pub flags: EdgeFlags,
}

/// A lowered function.
#[derive(Clone, Debug)]
pub struct LoweredFunction {
    /// The register file that registers will be placed in.
    pub grf: GrfFile,
    /// The code of all blocks, in any order; there may be some of none.
    pub code: Vec<Lowered>,
    /// Blocks in emission order.
    pub blocks: Vec<LoweredBlock>,
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
    /// The rules that made it.
    pub fired: Fired,
}

impl LoweredFunction {
    /// A piece of the code.
    pub fn code(&self, at: CodeRange) -> &[Lowered] {
        let CodeRange { start, end } = at;
        self.code.get(start as usize..end as usize).unwrap_or(&[])
    }

    /// A block's code, each item with its number there, which is that of the access for what an
    /// access became.
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

/// Code being written: what was emitted since it was last taken, and the registers made so far.
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

    /// A fresh register.
    pub(crate) fn temp(&mut self, bytes: u32) -> VReg {
        self.vregs.push(VRegData::anywhere(bytes, self.grf))
    }

    /// A fresh register of whole GRFs.
    pub(crate) fn temp_grfs(&mut self, grfs: u32) -> VReg {
        self.temp(grfs.max(1) * self.grf.bytes)
    }

    pub(crate) fn temp_flag(&mut self, lanes: u32) -> VFlag {
        self.flags.push(lanes as u8)
    }

    pub(crate) fn emit(&mut self, m: MInst) {
        self.code.push(Lowered::Inst(m));
    }

    /// An instruction that begins a new value of its destination.
    pub(crate) fn emit_op(&mut self, inst: isa::Inst<VirtReg>) {
        self.emit(begins(inst));
    }

    /// Emits a bale that writes `lanes` neighbours from the start of a register.
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

    /// A source in a register, for operations that take no immediate where this stands.
    pub(crate) fn force_reg(&mut self, src: BaleSrc) -> BaleSrc {
        let BaleSrc::Imm(..) = src else { return src };
        // One lane serves all.
        let ty = src.ty();
        let r = self.temp(ty.bytes());
        self.bale(r, 1, Operation::new(Op::Mov, ty, &[src]));
        View::scalar(VirtReg::grf(r), 0, ty).plain()
    }

    /// Eight words of a packed vector, of which Intel's compilers make no other type.
    pub(crate) fn packed(&mut self, nibbles: u64) -> View {
        let r = self.temp(8 * Type::W.bytes());
        let v = Operation::new(Op::Mov, Type::W, &[BaleSrc::Imm(nibbles, Type::V)]);
        self.bale(r, 8, v);
        View::contiguous(VirtReg::grf(r), 8, Type::W)
    }

    /// The channels that run, of so many, as a flag: a compare that is always true, under the
    /// execution mask, into a flag that was clear. `zero` is any doubleword.
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

    /// A flag of so many lanes with these bits.
    pub(crate) fn const_flag(&mut self, out: VFlag, lanes: u32, bits: u64) {
        let ty = flag_type(lanes);
        let src = imm(bits & lane_mask(lanes), ty);
        self.emit_op(uniform(Op::Mov, flag_dst(out, ty), [src]));
    }
}

/// A compare that is always true, of the channels from `first` that run, into `next`; its other
/// bits are those of `before`.
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

/// `lanes` neighbours of a register from a byte offset.
pub(crate) fn at(reg: VReg, offset: u32, lanes: u32, ty: Type) -> View {
    View {
        offset,
        ..View::contiguous(VirtReg::grf(reg), lanes, ty)
    }
}
