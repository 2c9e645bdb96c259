//! Module: types, constants, decorations, variables, functions and entry points.
//!
//! Needs the instructions of [`crate::read`]. Afterwards every id of module scope has its
//! definition, and ids are defined once. Functions are split into blocks that begin with a label
//! and end with a terminator. Their instructions stay in the words.

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
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use types::{Ty, Type, Types};

/// Function of the module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Func(u32);
entity_impl!(Func, "function");

/// Variable of module scope.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Global(u32);
entity_impl!(Global, "global");

/// Constant of the module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Const(u32);
entity_impl!(Const, "constant");

/// Definition of an id.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Def {
    #[default]
    None,
    Type(Ty),
    Const(Const),
    Global(Global),
    Func(Func),
    /// Imported instruction set.
    Set(ExtInstSet),
    String(u32),
    /// Label, parameter or result of a function.
    Local(Func),
    /// Any other definition, such as a decoration group.
    Other,
}

/// Extended instruction set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ExtInstSet {
    OpenCl,
    Glsl,
    /// Set that does not affect computed results.
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
    /// Type of the value that it holds.
    pub ty: Ty,
    pub init: Option<Id>,
}

/// Entry point.
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
    /// Denormals are flushed, by 16, 32 and 64 bits.
    pub flush: [bool; 3],
    pub toward_zero: bool,
    /// Products and sums are rounded separately.
    pub contraction_off: bool,
}

/// Block of a function.
#[derive(Clone, Debug)]
pub(crate) struct BlockDef {
    /// Label.
    pub label: Id,
    /// Range of its instructions in the stream, without the label. The last is the terminator.
    pub insts: Range<usize>,
}

#[derive(Clone, Debug)]
pub(crate) struct FuncData {
    pub id: Id,
    pub at: u32,
    pub result: Ty,
    pub params: Vec<(Id, Ty)>,
    /// Empty for a function that is only declared.
    pub blocks: Vec<BlockDef>,
    /// Number of ids that it defines: labels, parameters, results.
    pub locals: u32,
}

/// SPIR-V module.
#[derive(Debug)]
pub(crate) struct Module<'w> {
    pub stream: Stream<'w>,
    pub types: Types,
    /// Type of a 32-bit integer.
    pub int32: Ty,
    pub consts: PrimaryMap<Const, ConstData>,
    pub globals: PrimaryMap<Global, GlobalData>,
    pub funcs: PrimaryMap<Func, FuncData>,
    pub entries: Vec<Entry>,
    pub capabilities: Vec<(Capability, u32)>,
    /// Lengths of arrays of resources that have none, by set and binding.
    pub binding_arrays: BTreeMap<(u32, u32), u32>,
    /// True for the shader flavor: logical addressing or physical storage buffers.
    pub logical: bool,
    ids: SecondaryMap<Id, Def>,
    /// Id of each type.
    type_ids: PrimaryMap<Ty, PackedOption<Id>>,
    /// Type of private pointers to each type.
    private_pointers: SecondaryMap<Ty, PackedOption<Ty>>,
    /// Type of each result.
    result_types: SecondaryMap<Id, PackedOption<Ty>>,
    /// Index of each label, parameter and result in its function.
    pub local: SecondaryMap<Id, u32>,
    /// Index of each label among the blocks of its function.
    pub label: SecondaryMap<Id, u32>,
    /// Index of the `OpName` of each id, from 1.
    names: SecondaryMap<Id, u32>,
    /// Target, member, decoration and index of its instruction, sorted by target.
    decorations: Vec<(Id, Option<u32>, Decoration, u32)>,
}

impl<'w> Module<'w> {
    pub fn def(&self, id: Id) -> Def {
        self.ids[id]
    }

    /// Type of a result, a parameter, a constant or a variable. That of a variable is a pointer.
    pub fn type_of(&self, id: Id) -> Option<Ty> {
        self.result_types[id].expand()
    }

    /// Returns true for `OpExtInst` of a set other than OpenCL.std and GLSL.std.450.
    pub fn is_foreign(&self, inst: &Inst) -> bool {
        inst.op == Op::ExtInst
            && !matches!(
                self.set_of(inst),
                Some(Def::Set(ExtInstSet::OpenCl | ExtInstSet::Glsl))
            )
    }

    /// Returns true for `OpExtInst` of GLSL.std.450. All of its operands are ids.
    pub fn is_glsl(&self, inst: &Inst) -> bool {
        inst.op == Op::ExtInst && self.set_of(inst) == Some(Def::Set(ExtInstSet::Glsl))
    }

    /// Definition of the set of an extended instruction, which is its first operand.
    fn set_of(&self, inst: &Inst) -> Option<Def> {
        let set = self.stream.operands(inst).first();
        set.map(|id| self.def(Id::of(*id)))
    }

    /// Work-group size from the constant decorated `WorkgroupSize`.
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

    /// Pointee of a pointer type.
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

    /// Bits of a scalar constant.
    pub fn bits(&self, id: Id) -> Option<u64> {
        match self.constant(id)?.value {
            Constant::Bits(b) => Some(b),
            Constant::Null => Some(0),
            _ => None,
        }
    }

    /// `OpName` of an id.
    pub fn name(&self, id: Id) -> Option<String> {
        let at = (self.names[id] as usize).checked_sub(1)?;
        let inst = self.stream.insts.get(at)?;
        let words = self.stream.operands(inst).get(1..)?;
        Some(read::string(words)).filter(|n| !n.is_empty())
    }

    /// Iterates over the decorations of an id: member, decoration and literals.
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

    /// Type of a private pointer to a type that functions take or return.
    pub fn private_pointer(&self, ty: Ty) -> Option<Ty> {
        self.private_pointers[ty].expand()
    }

    /// Id of a type.
    pub fn type_id(&self, ty: Ty) -> Option<Id> {
        self.type_ids.get(ty).and_then(|id| id.expand())
    }

    /// Number of members of a structure that have a decoration.
    pub fn members_with(&self, id: Id, decoration: Decoration) -> u32 {
        let with = self.decorations(id).filter(|d| d.1 == decoration);
        let members: BTreeSet<u32> = with.filter_map(|d| d.0).collect();
        members.len() as u32
    }

    pub fn has(&self, id: Id, decoration: Decoration) -> bool {
        self.decorations(id).any(|d| d.1 == decoration)
    }

    /// Adds the place of an instruction and an id to an error.
    pub fn error(&self, mut e: Error, at: u32, id: Option<Id>) -> Error {
        e = e.at(at);
        if let Some(id) = id {
            e.id = e.id.or(Some(id.as_u32()));
            e.name = e.name.or_else(|| self.name(id));
        }
        e
    }
}
