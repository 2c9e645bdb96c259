//! A kernel, or a function that stays one, with everything that stands in it, as one graph of blocks: what the phases behind [`crate::inline`] work on.

use crate::module::types::Ty;
use crate::module::{Func, Module};
use crate::read::Id;
use cranelift_entity::{EntityRef, PrimaryMap, entity_impl, packed_option::PackedOption};
use spirv::Op;
use std::collections::{BTreeMap, BTreeSet};

/// A block of a body.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Block(u32);
entity_impl!(Block, "block");

/// An instruction of a body: what it is, and its operands with the body's ids.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BInst {
    pub op: Op,
    /// The word at which the instruction begins that it comes from.
    pub at: u32,
    /// The line that it is of, among the body's; 0: none.
    pub line: u32,
    pub ty: PackedOption<Ty>,
    pub id: PackedOption<Id>,
    first: u32,
    count: u32,
    /// Which of the first operands are ids, a bit each.
    ids: u32,
}

/// A value that depends on where control comes from.
#[derive(Clone, Debug)]
pub(crate) struct Phi {
    pub id: Id,
    pub ty: Ty,
    pub at: u32,
    pub args: Vec<(Block, Id)>,
}

/// How a block ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Term {
    Branch(Block),
    /// Where the condition is set, where it is not.
    Cond(Id, Block, Block),
    /// What it goes by, where to if it is no case, the cases.
    Switch(Id, Block, Vec<(u64, Block)>),
    Return,
    Unreachable,
}

impl Term {
    /// Where it goes, as often as it says so.
    pub fn successors(&self) -> impl Iterator<Item = Block> + '_ {
        let count = match self {
            Term::Branch(_) => 1,
            Term::Cond(..) => 2,
            Term::Switch(.., cases) => 1 + cases.len(),
            Term::Return | Term::Unreachable => 0,
        };
        (0..count).filter_map(|n| self.successor(n))
    }

    /// Where it goes as it says n-th.
    fn successor(&self, n: usize) -> Option<Block> {
        match (self, n) {
            (Term::Branch(b) | Term::Cond(_, b, _) | Term::Switch(_, b, _), 0) => Some(*b),
            (Term::Cond(_, _, b), 1) => Some(*b),
            (Term::Switch(.., cases), n) => cases.get(n - 1).map(|c| c.1),
            _ => None,
        }
    }

    /// Puts another block in the place of each.
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

    /// Says what it depends on, where it depends on something.
    pub fn set_condition(&mut self, new: Id) {
        if let Term::Cond(id, ..) | Term::Switch(id, ..) = self {
            *id = new;
        }
    }

    /// What it depends on.
    pub fn condition(&self) -> Option<Id> {
        match self {
            Term::Cond(id, ..) | Term::Switch(id, ..) => Some(*id),
            _ => None,
        }
    }
}

/// A block.
#[derive(Clone, Debug)]
pub(crate) struct BlockData {
    pub phis: Vec<Phi>,
    pub insts: Vec<BInst>,
    pub term: Term,
    /// The word at which the terminator begins.
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

/// A call of a function that stays one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub func: Func,
    /// The call that it is in, of those that were flattened; none: it is the body's own.
    pub within: Option<usize>,
}

/// The body of a kernel, or of a function that stays one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Body {
    pub blocks: PrimaryMap<Block, BlockData>,
    pub entry: PackedOption<Block>,
    /// Operands of instructions.
    pool: Vec<u32>,
    pub params: Vec<(Id, Ty)>,
    /// Built-in variables whose values are given, and those.
    pub given: BTreeMap<Id, Id>,
    /// What a function gives.
    pub result: Option<(Id, Ty)>,
    /// The calls that are left.
    pub called: Vec<Call>,
    pub lines: Vec<Line>,
    /// Constants that the module does not have, by their bits.
    pub consts: Vec<(Id, Ty, u64)>,
    /// Constants that are in memory: the pointer to each, of no bytes, its type, and what it holds.
    pub tables: BTreeMap<Id, (Ty, Id)>,
    /// The pointers into them.
    pub in_tables: BTreeSet<Id>,
    /// The first id that the module does not have.
    first: u32,
    /// The type of each id from there on, and what it comes from.
    own: Vec<(PackedOption<Ty>, PackedOption<Id>)>,
    /// The calls that were flattened: the first id of each, from low to high, and the call that it is in.
    calls: Vec<(u32, Option<usize>)>,
}

impl Body {
    pub fn new(bound: u32) -> Body {
        Body {
            first: bound,
            ..Body::default()
        }
    }

    /// All ids are smaller.
    pub fn bound(&self) -> usize {
        self.first as usize + self.own.len()
    }

    /// So many new ids.
    pub fn fresh_ids(&mut self, count: u32) -> u32 {
        let (first, none) = (self.bound(), (None.into(), None.into()));
        self.own.resize(self.own.len() + count as usize, none);
        first as u32
    }

    /// A call in another, or in the kernel, whose ids begin here.
    pub fn begin_call(&mut self, first: u32, within: Option<usize>) -> usize {
        self.calls.push((first, within));
        self.calls.len() - 1
    }

    /// The call that an id is of; none: the kernel.
    pub fn call_of(&self, id: Id) -> Option<usize> {
        let behind = self.calls.partition_point(|c| c.0 <= id.as_u32());
        behind.checked_sub(1)
    }

    /// The call that a call is in, which comes before it; none: the kernel.
    pub fn within(&self, call: usize) -> Option<usize> {
        self.calls.get(call).and_then(|c| c.1)
    }

    /// How many calls there are.
    pub fn call_count(&self) -> usize {
        self.calls.len()
    }

    /// A new id of a type.
    pub fn fresh(&mut self, ty: Ty) -> Id {
        let id = Id::new(self.bound());
        self.own.push((ty.into(), None.into()));
        id
    }

    /// A new constant.
    pub fn constant(&mut self, ty: Ty, bits: u64) -> Id {
        let id = self.fresh(ty);
        self.consts.push((id, ty, bits));
        id
    }

    /// Says what a new id is of.
    pub fn set_origin(&mut self, id: Id, origin: Id, ty: Option<Ty>) {
        if let Some(own) = self.number(id).and_then(|n| self.own.get_mut(n)) {
            *own = (ty.into(), origin.into());
        }
    }

    /// The number of an id among those that the module does not have.
    fn number(&self, id: Id) -> Option<usize> {
        id.as_u32().checked_sub(self.first).map(|n| n as usize)
    }

    fn own(&self, id: Id) -> Option<(PackedOption<Ty>, PackedOption<Id>)> {
        self.own.get(self.number(id)?).copied()
    }

    /// The id of the module that one comes from.
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
        self.pool.get(range).unwrap_or(&[])
    }

    /// Changes an operand of an instruction.
    pub fn set_operand(&mut self, inst: &BInst, n: usize, id: Id) {
        if let Some(word) = self.pool.get_mut(inst.first as usize + n) {
            *word = id.as_u32();
        }
    }

    /// Makes an instruction.
    pub fn inst(
        &mut self,
        op: Op,
        (at, line): (u32, u32),
        ty: Option<Ty>,
        id: Option<Id>,
        operands: &[u32],
    ) -> BInst {
        let mut ids = 0;
        // What is not as the grammar says was told before.
        let _ = crate::read::for_each_id(op, operands, false, |n| ids |= Body::bit(n));
        self.inst_of(op, (at, line), ty, id, operands, ids)
    }

    /// The bit of an operand among those that are ids, of the first.
    pub fn bit(n: usize) -> u32 {
        1u32.checked_shl(n as u32).unwrap_or(0)
    }

    /// Makes an instruction of which it is known which of its first operands are ids.
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

    /// Calls `each` with all ids that phis, instructions, branches and what the body gives read, each as often.
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

    /// Calls `each` with the ids among an instruction's operands.
    pub fn for_each_use(&self, inst: &BInst, mut each: impl FnMut(Id)) {
        self.for_each_place(inst, |_, id| each(id));
    }

    /// The same, with the place of each.
    pub fn for_each_place(&self, inst: &BInst, mut each: impl FnMut(usize, Id)) {
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
