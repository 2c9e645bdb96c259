//! Which memories generic pointers are to, by where they come from.
//!
//! Needs a body without calls. A pointer that comes from casts of pointers to one memory is one to that memory, however it got where it is used;
//! what comes from memory may be to any, and what comes from casts of several, or of one and from nothing, says itself what it is to.

use crate::body::Body;
use crate::module::Module;
use crate::module::addresses;
use crate::module::constants::Constant;
use crate::module::types::Type;
use crate::read::Id;
use cranelift_entity::SecondaryMap;
use spirv::{Op, StorageClass};

/// Kinds of memory that generic pointers may be to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Kinds(u8);

impl Kinds {
    pub const GLOBAL: Kinds = Kinds(1);
    pub const LOCAL: Kinds = Kinds(2);
    pub const PRIVATE: Kinds = Kinds(4);
    pub const ALL: Kinds = Kinds(7);

    /// The kind of a storage class.
    pub fn of(class: StorageClass) -> Kinds {
        match class {
            StorageClass::Workgroup => Kinds::LOCAL,
            StorageClass::Function | StorageClass::Private => Kinds::PRIVATE,
            _ => Kinds::GLOBAL,
        }
    }

    pub fn has(self, other: Kinds) -> bool {
        self.0 & other.0 != 0
    }

    pub fn and(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }
}

/// What is known of a pointer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Memory {
    /// Nothing that is one led to it.
    #[default]
    None,
    /// It is null.
    Null,
    One(StorageClass),
    /// To one of these, or null.
    Several(Kinds),
}

impl Memory {
    const ANY: Memory = Memory::Several(Kinds::ALL);

    fn join(self, other: Memory) -> Memory {
        match (self, other) {
            (Memory::None, m) | (m, Memory::None) => m,
            (a, b) if a == b => a,
            // Null is an address of global memory.
            (Memory::Null, m) | (m, Memory::Null) if m.kinds() == Kinds::GLOBAL => m,
            (a, b) => match a.kinds().and(b.kinds()) {
                Kinds::GLOBAL => Memory::One(StorageClass::CrossWorkgroup),
                kinds => Memory::Several(kinds),
            },
        }
    }

    fn kinds(self) -> Kinds {
        match self {
            Memory::None | Memory::Null => Kinds(0),
            Memory::One(class) => Kinds::of(class),
            Memory::Several(kinds) => kinds,
        }
    }
}

/// The memories of a body's generic pointers.
pub(crate) type Spaces = SecondaryMap<Id, Memory>;

/// Finds them.
pub(crate) fn find(m: &Module<'_>, body: &Body) -> Spaces {
    let mut out = Spaces::new();
    let is_generic = |id: Id| {
        let ty = body.type_of(m, id).map(|t| m.types.kind(t));
        matches!(ty, Some(Type::Pointer(StorageClass::Generic, _)))
    };
    // Pointers that follow from others.
    let mut users: SecondaryMap<Id, Vec<Id>> = SecondaryMap::new();
    let mut todo = Vec::new();
    let mut start = |out: &mut Spaces, id: Id, what: Memory| {
        out[id] = out[id].join(what);
        todo.push(id);
    };
    for (id, _) in body.params.iter().filter(|p| is_generic(p.0)) {
        start(&mut out, *id, Memory::ANY);
    }
    let mut follow = |out: &mut Spaces, from: Id, to: Id| {
        let ty = body.type_of(m, from).map(|t| m.types.kind(t));
        let null = m.constant(from).is_some_and(|c| c.value == Constant::Null);
        match ty {
            _ if null => start(out, to, Memory::Null),
            _ if addresses::of(m, from).is_some() => {
                start(out, to, Memory::One(StorageClass::CrossWorkgroup));
            }
            Some(Type::Pointer(StorageClass::Generic, _)) => users[from].push(to),
            Some(Type::Pointer(class, _)) => start(out, to, Memory::One(*class)),
            // A condition.
            Some(Type::Bool | Type::Vector(..)) => {}
            _ => start(out, to, Memory::ANY),
        }
    };
    for data in body.blocks.values() {
        for phi in data.phis.iter().filter(|p| is_generic(p.id)) {
            for (_, arg) in &phi.args {
                follow(&mut out, *arg, phi.id);
            }
        }
        for inst in &data.insts {
            let Some(id) = inst.id.expand().filter(|id| is_generic(*id)) else {
                continue;
            };
            let operands = body.operands(inst);
            let count = match inst.op {
                Op::Select => operands.len(),
                Op::PtrCastToGeneric
                | Op::AccessChain
                | Op::InBoundsAccessChain
                | Op::PtrAccessChain
                | Op::InBoundsPtrAccessChain
                | Op::Bitcast
                | Op::CopyObject => 1,
                _ => 0,
            };
            for w in operands.iter().take(count) {
                follow(&mut out, Id::of(*w), id);
            }
            if count == 0 && inst.op != Op::Undef {
                out[id] = Memory::ANY;
            }
        }
    }
    for id in users.keys().filter(|id| out[*id] != Memory::None) {
        todo.push(id);
    }
    while let Some(id) = todo.pop() {
        let what = out[id];
        for to in users[id].clone() {
            let new = out[to].join(what);
            if new != out[to] {
                out[to] = new;
                todo.push(to);
            }
        }
    }
    out
}
