//! Instruction data, one variant per format.

use super::block2d::Block2dShape;
use super::condcodes::{FloatCC, IntCC};
use super::dfg::DataFlowGraph;
use super::entities::{Block, CaseTable, Constant, DataRef, FuncRef, Value};
use super::image::{ArgFact, ImagePlace};
use super::memory::{AtomicOp, FenceSpaces, MemFlags, Scope};
use super::opcode::Opcode;
use super::region::Region;
use super::systolic::DpasShape;
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityList, ListPool};

/// List of values in a function's pool.
pub type ValueList = EntityList<Value>;
/// Pool of a function's value lists.
pub type ValueListPool = ListPool<Value>;

/// Dimension of the grid.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Dim {
    /// First.
    X,
    /// Second.
    Y,
    /// Third.
    Z,
}

impl Dim {
    /// 0, 1 or 2.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Returns the name in the text format.
    pub const fn name(self) -> &'static str {
        match self {
            Dim::X => "x",
            Dim::Y => "y",
            Dim::Z => "z",
        }
    }
}

/// Destination of a branch: a block and the arguments for its parameters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct BlockCall {
    /// The block.
    pub block: Block,
    /// One value per parameter.
    pub args: ValueList,
}

/// Maximum number of cases of a `switch`.
pub const MAX_CASES: usize = 65_536;

/// Cases of a `switch`.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Cases {
    /// The bits of each case's value, zero-extended.
    pub values: Vec<u64>,
    /// Default destination, then the destination of each case.
    pub dests: Vec<BlockCall>,
}

/// An instruction's opcode, operands and immediates.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(
    missing_docs,
    reason = "fields are named by their format; each variant says what is in it"
)]
pub enum InstData {
    /// No operands: `dispatch_mask`, `undef`, `barrier`.
    Nullary { opcode: Opcode },
    /// One immediate for every lane, the bits of the element zero-extended: `iconst`, `fconst`. For
    /// `bconst`: bit i is lane i.
    Imm { opcode: Opcode, bits: u64 },
    /// An immediate per lane: `vconst`.
    ImmVec { opcode: Opcode, constant: Constant },
    /// Launch parameter in a dimension: `group_id`, `local_id`, ...
    Launch { opcode: Opcode, dim: Dim },
    /// One operand.
    Unary { opcode: Opcode, arg: Value },
    /// Two operands. Also `join` (em, rm).
    Binary { opcode: Opcode, args: [Value; 2] },
    /// Three operands. Also `goto` (em, rm, condition) and `select` (mask, if true, if false).
    Ternary { opcode: Opcode, args: [Value; 3] },
    /// `icmp`.
    IntCompare {
        opcode: Opcode,
        cond: IntCC,
        args: [Value; 2],
    },
    /// `fcmp`.
    FloatCompare {
        opcode: Opcode,
        cond: FloatCC,
        args: [Value; 2],
    },
    /// `rdregion`. An index of one lane makes the region indirect (Vx1), an index with a lane per
    /// row makes it multi-indirect (VxH). The index is in bytes, `i16`.
    RdRegion {
        opcode: Opcode,
        arg: Value,
        region: Region,
        index: PackedOption<Value>,
    },
    /// `wrregion`: old vector, new elements, optional index and mask.
    WrRegion {
        opcode: Opcode,
        args: [Value; 2],
        region: Region,
        index: PackedOption<Value>,
        mask: PackedOption<Value>,
    },
    /// `rdpred`: consecutive lanes from a lane offset.
    RdPred {
        opcode: Opcode,
        arg: Value,
        offset: u8,
    },
    /// `wrpred`: old predicate, new lanes, lane offset.
    WrPred {
        opcode: Opcode,
        args: [Value; 2],
        offset: u8,
    },
    /// `load` (one address per lane) and `bload` (one address, consecutive lanes). `offset`, in
    /// bytes, is added to every address. With a mask, disabled lanes take the value of `old`.
    Load {
        opcode: Opcode,
        mem: MemFlags,
        addr: Value,
        offset: i32,
        mask: PackedOption<Value>,
        old: PackedOption<Value>,
    },
    /// `store` and `bstore`: value, address.
    Store {
        opcode: Opcode,
        mem: MemFlags,
        args: [Value; 2],
        offset: i32,
        mask: PackedOption<Value>,
    },
    /// `atomic`: operation, addresses, and as many operands as the operation needs. With a mask,
    /// disabled lanes take the value of `old`.
    Atomic {
        opcode: Opcode,
        op: AtomicOp,
        mem: MemFlags,
        addr: Value,
        offset: i32,
        data: [PackedOption<Value>; 2],
        mask: PackedOption<Value>,
        old: PackedOption<Value>,
    },
    /// `fence`.
    Fence {
        opcode: Opcode,
        spaces: FenceSpaces,
        scope: Scope,
    },
    /// `image_load`, `image_store` and `sample`: coordinates, the level of detail if given, and the
    /// stored texels. With a mask, disabled lanes of the result take the value of `old`.
    Image {
        opcode: Opcode,
        at: ImagePlace,
        coords: [PackedOption<Value>; 4],
        lod: PackedOption<Value>,
        data: PackedOption<Value>,
        mask: PackedOption<Value>,
        old: PackedOption<Value>,
    },
    /// `image_query` and `sampler_query`: property, and index of the image or sampler argument.
    ArgQuery {
        opcode: Opcode,
        fact: ArgFact,
        of: u8,
    },
    /// `media_load`, `media_store`: coordinates in bytes and rows, bytes of a row, stored value.
    Media {
        opcode: Opcode,
        image: u8,
        width: u8,
        coords: [Value; 2],
        data: PackedOption<Value>,
    },
    /// `send`, `send_reply`: exec size, descriptors, one or two payloads, mask of enabled channels.
    Send {
        opcode: Opcode,
        exec: u8,
        /// Extended descriptor and descriptor.
        descs: [u32; 2],
        payload: Value,
        second: PackedOption<Value>,
        mask: PackedOption<Value>,
    },
    /// `dpas`: accumulator, columns, rows.
    Dpas {
        opcode: Opcode,
        shape: DpasShape,
        args: [Value; 3],
    },
    /// `block2d_load`, `block2d_store`, `block2d_prefetch`: address, width, height and pitch of the
    /// surface, first column and row, stored value.
    Block2d {
        opcode: Opcode,
        shape: Block2dShape,
        args: [Value; 6],
        data: PackedOption<Value>,
    },
    /// `named_barrier`: number within the work-group, number of threads.
    NamedBarrier {
        opcode: Opcode,
        number: u8,
        threads: Value,
    },
    /// `symbol_addr`: data of the module.
    Symbol { opcode: Opcode, data: DataRef },
    /// `printf`: format string of the module, values, mask of the lanes that print. Without a mask,
    /// one lane prints.
    Printf {
        opcode: Opcode,
        format: DataRef,
        args: ValueList,
        mask: PackedOption<Value>,
    },
    /// `call`: a subroutine of the module.
    Call {
        opcode: Opcode,
        func: FuncRef,
        args: ValueList,
    },
    /// `jump`.
    Jump { opcode: Opcode, dest: BlockCall },
    /// `brif`: `b1` condition, destinations if true and if false.
    Brif {
        opcode: Opcode,
        cond: Value,
        dests: [BlockCall; 2],
    },
    /// `switch`: integer of one lane, and cases that belong to this instruction alone.
    Switch {
        opcode: Opcode,
        arg: Value,
        cases: CaseTable,
    },
    /// `return`.
    Return { opcode: Opcode, args: ValueList },
}

impl InstData {
    /// Returns the opcode.
    pub fn opcode(&self) -> Opcode {
        match *self {
            InstData::Nullary { opcode }
            | InstData::Imm { opcode, .. }
            | InstData::ImmVec { opcode, .. }
            | InstData::Launch { opcode, .. }
            | InstData::Unary { opcode, .. }
            | InstData::Binary { opcode, .. }
            | InstData::Ternary { opcode, .. }
            | InstData::IntCompare { opcode, .. }
            | InstData::FloatCompare { opcode, .. }
            | InstData::RdRegion { opcode, .. }
            | InstData::WrRegion { opcode, .. }
            | InstData::RdPred { opcode, .. }
            | InstData::WrPred { opcode, .. }
            | InstData::Load { opcode, .. }
            | InstData::Store { opcode, .. }
            | InstData::Atomic { opcode, .. }
            | InstData::Fence { opcode, .. }
            | InstData::Symbol { opcode, .. }
            | InstData::Image { opcode, .. }
            | InstData::Media { opcode, .. }
            | InstData::Send { opcode, .. }
            | InstData::Dpas { opcode, .. }
            | InstData::Block2d { opcode, .. }
            | InstData::NamedBarrier { opcode, .. }
            | InstData::ArgQuery { opcode, .. }
            | InstData::Printf { opcode, .. }
            | InstData::Call { opcode, .. }
            | InstData::Jump { opcode, .. }
            | InstData::Brif { opcode, .. }
            | InstData::Switch { opcode, .. }
            | InstData::Return { opcode, .. } => opcode,
        }
    }

    /// Calls `f` on every value operand in text order, block arguments last.
    #[inline]
    pub fn for_each_arg(&self, dfg: &DataFlowGraph, mut f: impl FnMut(Value)) {
        // Common formats are inlined into callers. The rest are shared code.
        match self {
            InstData::Nullary { .. } | InstData::Imm { .. } | InstData::ImmVec { .. } => {}
            InstData::Unary { arg, .. } => f(*arg),
            InstData::RdRegion { arg, index, .. } => {
                f(*arg);
                if let Some(index) = index.expand() {
                    f(index);
                }
            }
            InstData::Binary { args, .. }
            | InstData::IntCompare { args, .. }
            | InstData::FloatCompare { args, .. } => {
                f(args[0]);
                f(args[1]);
            }
            InstData::Ternary { args, .. } => {
                f(args[0]);
                f(args[1]);
                f(args[2]);
            }
            _ => self.for_each_arg_of_others(dfg, &mut f),
        }
    }

    fn for_each_arg_of_others(&self, dfg: &DataFlowGraph, mut f: &mut dyn FnMut(Value)) {
        let pool = &dfg.pool;
        match self {
            InstData::Nullary { .. }
            | InstData::Imm { .. }
            | InstData::ImmVec { .. }
            | InstData::Launch { .. }
            | InstData::Fence { .. }
            | InstData::Symbol { .. }
            | InstData::ArgQuery { .. } => {}
            InstData::Unary { arg, .. } | InstData::RdPred { arg, .. } => f(*arg),
            InstData::Binary { args, .. }
            | InstData::IntCompare { args, .. }
            | InstData::FloatCompare { args, .. }
            | InstData::WrPred { args, .. } => args.iter().copied().for_each(f),
            InstData::Ternary { args, .. } | InstData::Dpas { args, .. } => {
                args.iter().copied().for_each(f);
            }
            InstData::RdRegion { arg, index, .. } => {
                f(*arg);
                index.expand().into_iter().for_each(f);
            }
            InstData::WrRegion {
                args, index, mask, ..
            } => {
                args.iter().copied().for_each(&mut f);
                index.expand().into_iter().for_each(&mut f);
                mask.expand().into_iter().for_each(f);
            }
            InstData::Load {
                addr, mask, old, ..
            } => {
                f(*addr);
                mask.expand().into_iter().for_each(&mut f);
                old.expand().into_iter().for_each(f);
            }
            InstData::Store { args, mask, .. } => {
                args.iter().copied().for_each(&mut f);
                mask.expand().into_iter().for_each(f);
            }
            InstData::Atomic {
                addr,
                data,
                mask,
                old,
                ..
            } => {
                f(*addr);
                let rest = data.iter().chain([mask, old]);
                rest.filter_map(|v| v.expand()).for_each(f);
            }
            InstData::Media { coords, data, .. } => {
                coords.iter().copied().for_each(&mut f);
                data.expand().into_iter().for_each(f);
            }
            InstData::NamedBarrier { threads, .. } => f(*threads),
            InstData::Block2d { args, data, .. } => {
                args.iter().copied().for_each(&mut f);
                data.expand().into_iter().for_each(f);
            }
            InstData::Send {
                payload,
                second,
                mask,
                ..
            } => {
                f(*payload);
                let rest = [second, mask];
                rest.into_iter().filter_map(|v| v.expand()).for_each(f);
            }
            InstData::Image {
                coords,
                lod,
                data,
                mask,
                old,
                ..
            } => {
                let all = coords.iter().chain([lod, data, mask, old]);
                all.filter_map(|v| v.expand()).for_each(f);
            }
            InstData::Printf { args, mask, .. } => {
                args.as_slice(pool).iter().copied().for_each(&mut f);
                mask.expand().into_iter().for_each(f);
            }
            InstData::Call { args, .. } | InstData::Return { args, .. } => {
                args.as_slice(pool).iter().copied().for_each(f);
            }
            InstData::Jump { dest, .. } => dest.args.as_slice(pool).iter().copied().for_each(f),
            InstData::Brif { cond, dests, .. } => {
                f(*cond);
                for d in dests {
                    d.args.as_slice(pool).iter().copied().for_each(&mut f);
                }
            }
            InstData::Switch { arg, cases, .. } => {
                f(*arg);
                for d in dfg.cases(*cases).dests.iter() {
                    d.args.as_slice(pool).iter().copied().for_each(&mut f);
                }
            }
        }
    }

    /// Replaces every value operand `v` by `f(v)`, in the order of [`InstData::for_each_arg`].
    #[inline]
    pub fn map_args(&mut self, dfg: &mut DataFlowGraph, mut f: impl FnMut(Value) -> Value) {
        if !self.map_own_args(&mut f) {
            self.map_args_of_others(dfg, &mut f);
        }
    }

    /// Does the same for instructions that store all operands inline, as most do. Returns false for
    /// others.
    #[inline]
    pub(super) fn map_own_args(&mut self, f: &mut impl FnMut(Value) -> Value) -> bool {
        match self {
            InstData::Nullary { .. } | InstData::Imm { .. } | InstData::ImmVec { .. } => {}
            InstData::Unary { arg, .. } => *arg = f(*arg),
            InstData::RdRegion { arg, index, .. } => {
                *arg = f(*arg);
                if let Some(old) = index.expand() {
                    *index = f(old).into();
                }
            }
            InstData::Binary { args, .. }
            | InstData::IntCompare { args, .. }
            | InstData::FloatCompare { args, .. } => {
                *args = [f(args[0]), f(args[1])];
            }
            InstData::Ternary { args, .. } => *args = [f(args[0]), f(args[1]), f(args[2])],
            _ => return false,
        }
        true
    }

    fn map_args_of_others(
        &mut self,
        dfg: &mut DataFlowGraph,
        mut f: &mut dyn FnMut(Value) -> Value,
    ) {
        let pool = &mut dfg.pool;
        let opt = |v: &mut PackedOption<Value>, f: &mut dyn FnMut(Value) -> Value| {
            if let Some(old) = v.expand() {
                *v = f(old).into();
            }
        };
        match self {
            InstData::Nullary { .. }
            | InstData::Imm { .. }
            | InstData::ImmVec { .. }
            | InstData::Launch { .. }
            | InstData::Fence { .. }
            | InstData::Symbol { .. }
            | InstData::ArgQuery { .. } => {}
            InstData::Unary { arg, .. } | InstData::RdPred { arg, .. } => *arg = f(*arg),
            InstData::Binary { args, .. }
            | InstData::IntCompare { args, .. }
            | InstData::FloatCompare { args, .. }
            | InstData::WrPred { args, .. } => *args = args.map(f),
            InstData::Ternary { args, .. } | InstData::Dpas { args, .. } => *args = args.map(f),
            InstData::RdRegion { arg, index, .. } => {
                *arg = f(*arg);
                opt(index, &mut f);
            }
            InstData::WrRegion {
                args, index, mask, ..
            } => {
                *args = args.map(&mut f);
                opt(index, &mut f);
                opt(mask, &mut f);
            }
            InstData::Load {
                addr, mask, old, ..
            } => {
                *addr = f(*addr);
                opt(mask, &mut f);
                opt(old, &mut f);
            }
            InstData::Store { args, mask, .. } => {
                *args = args.map(&mut f);
                opt(mask, &mut f);
            }
            InstData::Atomic {
                addr,
                data,
                mask,
                old,
                ..
            } => {
                *addr = f(*addr);
                for v in data.iter_mut().chain([mask, old]) {
                    opt(v, &mut f);
                }
            }
            InstData::Media { coords, data, .. } => {
                *coords = coords.map(&mut f);
                opt(data, &mut f);
            }
            InstData::NamedBarrier { threads, .. } => *threads = f(*threads),
            InstData::Block2d { args, data, .. } => {
                *args = args.map(&mut f);
                opt(data, &mut f);
            }
            InstData::Send {
                payload,
                second,
                mask,
                ..
            } => {
                *payload = f(*payload);
                opt(second, &mut f);
                opt(mask, &mut f);
            }
            InstData::Image {
                coords,
                lod,
                data,
                mask,
                old,
                ..
            } => {
                for v in coords.iter_mut().chain([lod, data, mask, old]) {
                    opt(v, &mut f);
                }
            }
            InstData::Printf { args, mask, .. } => {
                for v in args.as_mut_slice(pool) {
                    *v = f(*v);
                }
                opt(mask, &mut f);
            }
            InstData::Call { args, .. } | InstData::Return { args, .. } => {
                for v in args.as_mut_slice(pool) {
                    *v = f(*v);
                }
            }
            InstData::Jump { dest, .. } => {
                for v in dest.args.as_mut_slice(pool) {
                    *v = f(*v);
                }
            }
            InstData::Brif { cond, dests, .. } => {
                *cond = f(*cond);
                for d in dests {
                    for v in d.args.as_mut_slice(pool) {
                        *v = f(*v);
                    }
                }
            }
            InstData::Switch { arg, cases, .. } => {
                *arg = f(*arg);
                let (cases, pool) = dfg.cases_mut(*cases);
                for d in cases.into_iter().flat_map(|c| &mut c.dests) {
                    for v in d.args.as_mut_slice(pool) {
                        *v = f(*v);
                    }
                }
            }
        }
    }

    /// Returns the blocks that this may branch to.
    pub fn destinations<'a>(&'a self, dfg: &'a DataFlowGraph) -> &'a [BlockCall] {
        match self {
            InstData::Jump { dest, .. } => std::slice::from_ref(dest),
            InstData::Brif { dests, .. } => dests,
            InstData::Switch { cases, .. } => &dfg.cases(*cases).dests,
            _ => &[],
        }
    }
}
