//! Body of a kernel, or of a function that is not inlined, as one graph of blocks. The passes after
//! [`crate::inline`] work on it.

use crate::module::types::Ty;
use crate::module::{Func, Module};
use crate::read::Id;
use cranelift_entity::{EntityRef, PrimaryMap, entity_impl, packed_option::PackedOption};
use spirv::Op;
use std::collections::{BTreeMap, BTreeSet};

/// Block of a body.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Block(u32);
entity_impl!(Block, "block");

/// Instruction of a body. Its operands are ids of the body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BInst {
    pub op: Op,
    /// Index of the first word of the module's instruction that it comes from.
    pub at: u32,
    /// Index of its line among the lines of the body, from 1. 0 means none.
    pub line: u32,
    pub ty: PackedOption<Ty>,
    pub id: PackedOption<Id>,
    first: u32,
    count: u32,
    /// Bit set of the first 32 operands that are ids.
    ids: u32,
}

/// Phi of a block.
#[derive(Clone, Debug)]
pub(crate) struct Phi {
    pub id: Id,
    pub ty: Ty,
    pub at: u32,
    pub args: Vec<(Block, Id)>,
}

/// Terminator of a block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Term {
    Branch(Block),
    /// Condition, target if true, target if false.
    Cond(Id, Block, Block),
    /// Selector, default target, cases.
    Switch(Id, Block, Vec<(u64, Block)>),
    Return,
    Unreachable,
}

impl Term {
    /// Iterates over the targets, with repetitions.
    pub fn successors(&self) -> impl Iterator<Item = Block> + '_ {
        let count = match self {
            Term::Branch(_) => 1,
            Term::Cond(..) => 2,
            Term::Switch(.., cases) => 1 + cases.len(),
            Term::Return | Term::Unreachable => 0,
        };
        (0..count).filter_map(|n| self.successor(n))
    }

    /// Returns the target of index `n`.
    fn successor(&self, n: usize) -> Option<Block> {
        match (self, n) {
            (Term::Branch(b) | Term::Cond(_, b, _) | Term::Switch(_, b, _), 0) => Some(*b),
            (Term::Cond(_, _, b), 1) => Some(*b),
            (Term::Switch(.., cases), n) => cases.get(n - 1).map(|c| c.1),
            _ => None,
        }
    }

    /// Replaces each target.
    pub fn map(&mut self, mut f: impl FnMut(Block) -> Block) {
        match self {
            Term::Branch(b) => *b = f(*b),
            Term::Cond(_, t, e) => {
                *t = f(*t);
                *e = f(*e);
            }
            Term::Switch(_, d, cases) => {
                *d = f(*d);
                cases.iter_mut().for_each(|c| c.1 = f(c.1));
            }
            Term::Return | Term::Unreachable => {}
        }
    }

    /// Sets the condition or selector, if it has one.
    pub fn set_condition(&mut self, new: Id) {
        if let Term::Cond(id, ..) | Term::Switch(id, ..) = self {
            *id = new;
        }
    }

    /// Returns the condition or selector.
    pub fn condition(&self) -> Option<Id> {
        match self {
            Term::Cond(id, ..) | Term::Switch(id, ..) => Some(*id),
            _ => None,
        }
    }
}

/// Contents of a block.
#[derive(Clone, Debug)]
pub(crate) struct BlockData {
    pub phis: Vec<Phi>,
    pub insts: Vec<BInst>,
    pub term: Term,
    /// Index of the first word of the terminator.
    pub at: u32,
    pub line: u32,
}

/// File, line and column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Line {
    pub file: Id,
    pub line: u32,
    pub column: u32,
}

/// Call of a function that is not inlined.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub func: Func,
    /// Inlined call that contains it. `None` for a call of the body itself.
    pub within: Option<usize>,
}

/// Body of a kernel, or of a function that is not inlined.
#[derive(Clone, Debug, Default)]
pub(crate) struct Body {
    pub blocks: PrimaryMap<Block, BlockData>,
    pub entry: PackedOption<Block>,
    /// Operand words of instructions.
    pool: Vec<u32>,
    pub params: Vec<(Id, Ty)>,
    /// Built-in variables whose values are parameters, with these values.
    pub builtin_params: BTreeMap<Id, Id>,
    /// Return value.
    pub result: Option<(Id, Ty)>,
    /// Calls that remain.
    pub calls: Vec<Call>,
    pub lines: Vec<Line>,
    /// Constants that the module does not define, by their bits.
    pub consts: Vec<(Id, Ty, u64)>,
    /// Constants in memory: a null pointer to each, its type, and the constant.
    pub constant_data: BTreeMap<Id, (Ty, Id)>,
    /// Pointers into them.
    pub constant_pointers: BTreeSet<Id>,
    /// First id that the module does not define.
    first: u32,
    /// Type of each id from there on, and the id of the module that it comes from.
    own: Vec<(PackedOption<Ty>, PackedOption<Id>)>,
    /// Inlined calls in ascending order of their first id, with the call that contains each.
    inlined_calls: Vec<(u32, Option<usize>)>,
}

impl Body {
    pub fn new(bound: u32) -> Body {
        Body {
            first: bound,
            ..Body::default()
        }
    }

    /// Exclusive upper bound of ids.
    pub fn bound(&self) -> usize {
        self.first as usize + self.own.len()
    }

    /// Allocates consecutive ids, and returns the first.
    pub fn fresh_ids(&mut self, count: u32) -> u32 {
        let (first, none) = (self.bound(), (None.into(), None.into()));
        self.own.resize(self.own.len() + count as usize, none);
        first as u32
    }

    /// Begins an inlined call whose ids start at `first`. `within` is the call that contains it, or
    /// `None` for the body.
    pub fn begin_call(&mut self, first: u32, within: Option<usize>) -> usize {
        self.inlined_calls.push((first, within));
        self.inlined_calls.len() - 1
    }

    /// Returns the inlined call that an id belongs to, or `None` for the body.
    pub fn call_of(&self, id: Id) -> Option<usize> {
        let behind = self.inlined_calls.partition_point(|c| c.0 <= id.as_u32());
        behind.checked_sub(1)
    }

    /// Returns the inlined call that contains another, which has a smaller index, or `None` for the
    /// body.
    pub fn enclosing_call(&self, call: usize) -> Option<usize> {
        self.inlined_calls.get(call).and_then(|c| c.1)
    }

    /// Number of inlined calls.
    pub fn call_count(&self) -> usize {
        self.inlined_calls.len()
    }

    /// Allocates an id of a type.
    pub fn fresh(&mut self, ty: Ty) -> Id {
        let id = Id::new(self.bound());
        self.own.push((ty.into(), None.into()));
        id
    }

    /// Adds a constant.
    pub fn constant(&mut self, ty: Ty, bits: u64) -> Id {
        let id = self.fresh(ty);
        self.consts.push((id, ty, bits));
        id
    }

    /// Sets the type of an allocated id and the id of the module that it comes from.
    pub fn set_origin(&mut self, id: Id, origin: Id, ty: Option<Ty>) {
        if let Some(own) = self.number(id).and_then(|n| self.own.get_mut(n)) {
            *own = (ty.into(), origin.into());
        }
    }

    /// Index of an id among those that the module does not define.
    fn number(&self, id: Id) -> Option<usize> {
        id.as_u32().checked_sub(self.first).map(|n| n as usize)
    }

    fn own(&self, id: Id) -> Option<(PackedOption<Ty>, PackedOption<Id>)> {
        self.own.get(self.number(id)?).copied()
    }

    /// Returns the id of the module that an id comes from.
    pub fn origin(&self, id: Id) -> Id {
        self.own(id).and_then(|own| own.1.expand()).unwrap_or(id)
    }

    pub fn type_of(&self, m: &Module<'_>, id: Id) -> Option<Ty> {
        match self.own(id) {
            Some((ty, _)) => ty.expand(),
            None => m.type_of(id),
        }
    }

    pub fn operands(&self, inst: &BInst) -> &[u32] {
        let range = inst.first as usize..(inst.first + inst.count) as usize;
        &self.pool[range]
    }

    /// Sets an operand of an instruction.
    pub fn set_operand(&mut self, inst: &BInst, n: usize, id: Id) {
        if let Some(word) = self.pool.get_mut(inst.first as usize + n) {
            *word = id.as_u32();
        }
    }

    /// Creates an instruction without inserting it.
    pub fn inst(
        &mut self,
        op: Op,
        (at, line): (u32, u32),
        ty: Option<Ty>,
        id: Option<Id>,
        operands: &[u32],
    ) -> BInst {
        let mut ids = 0;
        // Grammar violations were reported by the parser.
        let _ = crate::read::for_each_id(op, operands, false, |n| ids |= Body::bit(n));
        self.inst_of(op, (at, line), ty, id, operands, ids)
    }

    /// Bit of an operand in [`BInst::ids`], or 0 beyond the first 32.
    pub fn bit(n: usize) -> u32 {
        1u32.checked_shl(n as u32).unwrap_or(0)
    }

    /// Creates an instruction without inserting it. `ids` says which of its first operands are ids.
    pub fn inst_of(
        &mut self,
        op: Op,
        (at, line): (u32, u32),
        ty: Option<Ty>,
        id: Option<Id>,
        operands: &[u32],
        ids: u32,
    ) -> BInst {
        let first = self.pool.len() as u32;
        self.pool.extend_from_slice(operands);
        BInst {
            op,
            at,
            line,
            ty: ty.into(),
            id: id.into(),
            first,
            count: operands.len() as u32,
            ids,
        }
    }

    /// Calls `each` with every id that phis, instructions, terminators and the return value read,
    /// with repetitions.
    pub fn for_each_read(&self, mut each: impl FnMut(Id)) {
        for data in self.blocks.values() {
            let phis = data.phis.iter().flat_map(|p| &p.args);
            phis.for_each(|(_, id)| each(*id));
            for inst in &data.insts {
                self.for_each_use(inst, &mut each);
            }
            if let Some(id) = data.term.condition() {
                each(id);
            }
        }
        if let Some((id, _)) = self.result {
            each(id);
        }
    }

    /// Calls `each` with every id among the operands of an instruction.
    pub fn for_each_use(&self, inst: &BInst, mut each: impl FnMut(Id)) {
        self.for_each_use_at(inst, |_, id| each(id));
    }

    /// Calls `each` with the index and the id of every operand that is an id.
    pub fn for_each_use_at(&self, inst: &BInst, mut each: impl FnMut(usize, Id)) {
        let operands = self.operands(inst);
        if operands.len() <= u32::BITS as usize {
            let mut left = inst.ids;
            while left != 0 {
                let n = left.trailing_zeros() as usize;
                if let Some(w) = operands.get(n) {
                    each(n, Id::of(*w));
                }
                left &= left - 1;
            }
            return;
        }
        let _ = crate::read::for_each_id(inst.op, operands, false, |n| {
            if let Some(w) = operands.get(n) {
                each(n, Id::of(*w));
            }
        });
    }
}
