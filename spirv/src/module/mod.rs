//! The module behind the instructions: types, constants, decorations, variables, functions, entry points.
//!
//! Needs instructions as [`crate::read`] gives them. Afterwards every id of module scope is known for what it is, ids have one definition, and
//! the blocks of functions are cut: each begins with a label and ends with a terminator. Function bodies stay where they are in the words.

pub(crate) mod addresses;
mod build;
pub(crate) mod constants;
mod folding;
mod layout;
mod specialize;
pub(crate) mod types;

use crate::error::Error;
use crate::read::{self, Id, Inst, Stream};
pub(crate) use build::build;
use constants::Constant;
use cranelift_entity::{PrimaryMap, SecondaryMap, entity_impl, packed_option::PackedOption};
#[cfg(feature = "wgsl")]
pub(crate) use specialize::unknown_constant;
use spirv::{BuiltIn, Capability, Decoration, ExecutionModel, Op, StorageClass};
use std::collections::BTreeSet;
use std::ops::Range;
use types::{Ty, Type, Types};

/// A function of the module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Func(u32);
entity_impl!(Func, "function");

/// A variable of module scope.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Global(u32);
entity_impl!(Global, "global");

/// A constant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Const(u32);
entity_impl!(Const, "constant");

/// What an id is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Def {
    #[default]
    None,
    Type(Ty),
    Const(Const),
    Global(Global),
    Func(Func),
    /// An imported set of instructions.
    Set(Set),
    String(u32),
    /// A label, a parameter or a result in a function.
    Local(Func),
    /// Something else, such as a group of decorations.
    Other,
}

/// A set of extended instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Set {
    OpenCl,
    Glsl,
    /// It has no meaning for what a kernel computes.
    NonSemantic,
    Unknown,
}

#[derive(Clone, Debug)]
pub(crate) struct ConstData {
    pub ty: Ty,
    pub value: Constant,
}

#[derive(Clone, Debug)]
pub(crate) struct GlobalData {
    pub id: Id,
    pub at: u32,
    pub class: StorageClass,
    /// Of what it holds.
    pub ty: Ty,
    pub init: Option<Id>,
}

/// An entry point.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub at: u32,
    pub model: ExecutionModel,
    pub function: Id,
    pub name: String,
    pub modes: Modes,
}

/// Execution modes of an entry point.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Modes {
    pub group_size: Option<[u32; 3]>,
    pub subgroup_size: Option<u32>,
    /// By 16, 32 and 64 bits.
    pub flush: [bool; 3],
    pub toward_zero: bool,
    /// Products and sums are rounded each by itself.
    pub contraction_off: bool,
}

/// A block, as cut.
#[derive(Clone, Debug)]
pub(crate) struct BlockDef {
    /// Its label.
    pub label: Id,
    /// Its instructions without the label, among the stream's; the last one ends it.
    pub insts: Range<usize>,
}

#[derive(Clone, Debug)]
pub(crate) struct FuncData {
    pub id: Id,
    pub at: u32,
    pub result: Ty,
    pub params: Vec<(Id, Ty)>,
    /// None where it is only declared.
    pub blocks: Vec<BlockDef>,
    /// How many ids it defines: labels, parameters, results.
    pub locals: u32,
}

/// A module.
#[derive(Debug)]
pub(crate) struct Module<'w> {
    pub stream: Stream<'w>,
    pub types: Types,
    /// An integer of 32 bits.
    pub int32: Ty,
    pub consts: PrimaryMap<Const, ConstData>,
    pub globals: PrimaryMap<Global, GlobalData>,
    pub funcs: PrimaryMap<Func, FuncData>,
    pub entries: Vec<Entry>,
    pub capabilities: Vec<(Capability, u32)>,
    /// Whether pointers have no addresses that the module sees: the shader flavour.
    pub logical: bool,
    ids: SecondaryMap<Id, Def>,
    /// The id of each type.
    type_ids: PrimaryMap<Ty, PackedOption<Id>>,
    /// The type of pointers to each that are to private memory.
    private_pointers: SecondaryMap<Ty, PackedOption<Ty>>,
    /// The type of each result.
    result_types: SecondaryMap<Id, PackedOption<Ty>>,
    /// The number of each label, parameter and result in its function.
    pub local: SecondaryMap<Id, u32>,
    /// The number of each label among its function's blocks.
    pub label: SecondaryMap<Id, u32>,
    /// Instructions with an id's name.
    names: SecondaryMap<Id, u32>,
    /// Target, member, decoration and where its instruction is in the stream; by target.
    decorations: Vec<(Id, Option<u32>, Decoration, u32)>,
}

impl<'w> Module<'w> {
    pub fn def(&self, id: Id) -> Def {
        self.ids[id]
    }

    /// The type of a result, a parameter, a constant or a variable (which is a pointer's).
    pub fn type_of(&self, id: Id) -> Option<Ty> {
        self.result_types[id].expand()
    }

    /// Whether an instruction is of an imported set other than OpenCL.std and GLSL.std.450.
    pub fn is_foreign(&self, inst: &Inst) -> bool {
        inst.op == Op::ExtInst
            && !matches!(self.set_of(inst), Some(Def::Set(Set::OpenCl | Set::Glsl)))
    }

    /// Whether an instruction is of GLSL.std.450, whose operands are all ids.
    pub fn is_glsl(&self, inst: &Inst) -> bool {
        inst.op == Op::ExtInst && self.set_of(inst) == Some(Def::Set(Set::Glsl))
    }

    /// What the first operand is: the set of an extended instruction.
    fn set_of(&self, inst: &Inst) -> Option<Def> {
        let set = self.stream.operands(inst).first();
        set.map(|id| self.def(Id::of(*id)))
    }

    /// The size of work-groups where a constant says it.
    fn constant_group_size(&self) -> Option<[u32; 3]> {
        let is = |d: &&(Id, Option<u32>, Decoration, u32)| d.2 == Decoration::BuiltIn;
        for (id, _, _, at) in self.decorations.iter().filter(is) {
            let inst = self.stream.insts.get(*at as usize);
            let which = inst.and_then(|i| self.stream.operands(i).get(2));
            if which != Some(&(BuiltIn::WorkgroupSize as u32)) {
                continue;
            }
            match self.constant(*id).map(|c| &c.value) {
                Some(Constant::Composite(parts)) => {
                    if let [x, y, z] = *parts.as_slice() {
                        return Some([x, y, z].map(|id| self.bits(id).unwrap_or(0) as u32));
                    }
                }
                Some(Constant::Scalars(parts)) => {
                    if let [x, y, z] = *parts.as_slice() {
                        return Some([x, y, z].map(|n| n as u32));
                    }
                }
                _ => {}
            }
        }
        None
    }

    pub fn has_capability(&self, c: Capability) -> bool {
        self.capabilities.iter().any(|(have, _)| *have == c)
    }

    pub fn ty(&self, id: Id) -> Option<Ty> {
        match self.def(id) {
            Def::Type(t) => Some(t),
            _ => None,
        }
    }

    /// What a pointer type points to.
    pub fn pointee(&self, ty: Ty) -> Option<Ty> {
        match self.types.kind(ty) {
            Type::Pointer(_, id) => self.ty(*id),
            _ => None,
        }
    }

    pub fn constant(&self, id: Id) -> Option<&ConstData> {
        match self.def(id) {
            Def::Const(c) => self.consts.get(c),
            _ => None,
        }
    }

    /// The bits of a scalar constant.
    pub fn bits(&self, id: Id) -> Option<u64> {
        match self.constant(id)?.value {
            Constant::Bits(b) => Some(b),
            Constant::Null => Some(0),
            _ => None,
        }
    }

    /// The name of an id.
    pub fn name(&self, id: Id) -> Option<String> {
        let at = (self.names[id] as usize).checked_sub(1)?;
        let inst = self.stream.insts.get(at)?;
        let words = self.stream.operands(inst).get(1..)?;
        Some(read::string(words)).filter(|n| !n.is_empty())
    }

    /// The decorations of an id: member, which, and its literals.
    pub fn decorations(
        &self,
        id: Id,
    ) -> impl Iterator<Item = (Option<u32>, Decoration, &[u32])> + '_ {
        let first = self.decorations.partition_point(|d| d.0 < id);
        let rest = self.decorations.iter().skip(first);
        rest.take_while(move |d| d.0 == id).map(|d| {
            let inst = self.stream.insts.get(d.3 as usize);
            let words = inst.map_or(&[][..], |i| self.stream.operands(i));
            let skip = 2 + usize::from(d.1.is_some());
            (d.1, d.2, words.get(skip..).unwrap_or(&[]))
        })
    }

    /// The type of pointers to a value in private memory, of those that functions take or give.
    pub fn private_pointer(&self, ty: Ty) -> Option<Ty> {
        self.private_pointers[ty].expand()
    }

    /// The id of a type.
    pub fn type_id(&self, ty: Ty) -> Option<Id> {
        self.type_ids.get(ty).and_then(|id| id.expand())
    }

    /// How many members of a structure have a decoration.
    pub fn members_with(&self, id: Id, decoration: Decoration) -> u32 {
        let with = self.decorations(id).filter(|d| d.1 == decoration);
        let members: BTreeSet<u32> = with.filter_map(|d| d.0).collect();
        members.len() as u32
    }

    pub fn has(&self, id: Id, decoration: Decoration) -> bool {
        self.decorations(id).any(|d| d.1 == decoration)
    }

    /// An error about an instruction and an id.
    pub fn error(&self, mut e: Error, at: u32, id: Option<Id>) -> Error {
        e = e.at(at);
        if let Some(id) = id {
            e.id = e.id.or(Some(id.as_u32()));
            e.name = e.name.or_else(|| self.name(id));
        }
        e
    }
}
