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

/// MemoryKinds of memory that generic pointers may be to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MemoryKinds(u8);

impl MemoryKinds {
    pub const GLOBAL: MemoryKinds = MemoryKinds(1);
    pub const LOCAL: MemoryKinds = MemoryKinds(2);
    pub const PRIVATE: MemoryKinds = MemoryKinds(4);
    pub const ALL: MemoryKinds = MemoryKinds(7);

    /// The kind of a storage class.
    pub fn of(class: StorageClass) -> MemoryKinds {
        match class {
            StorageClass::Workgroup => MemoryKinds::LOCAL,
            StorageClass::Function | StorageClass::Private => MemoryKinds::PRIVATE,
            _ => MemoryKinds::GLOBAL,
        }
    }

    pub fn has(self, other: MemoryKinds) -> bool {
        self.0 & other.0 != 0
    }

    pub fn and(self, other: MemoryKinds) -> MemoryKinds {
        MemoryKinds(self.0 | other.0)
    }
}

/// What is known of a pointer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum PointsTo {
    /// Nothing that is one led to it.
    #[default]
    None,
    /// It is null.
    Null,
    One(StorageClass),
    /// To one of these, or null.
    Several(MemoryKinds),
}

impl PointsTo {
    const ANY: PointsTo = PointsTo::Several(MemoryKinds::ALL);

    fn join(self, other: PointsTo) -> PointsTo {
        match (self, other) {
            (PointsTo::None, m) | (m, PointsTo::None) => m,
            (a, b) if a == b => a,
            // Null is an address of global memory.
            (PointsTo::Null, m) | (m, PointsTo::Null) if m.kinds() == MemoryKinds::GLOBAL => m,
            (a, b) => match a.kinds().and(b.kinds()) {
                MemoryKinds::GLOBAL => PointsTo::One(StorageClass::CrossWorkgroup),
                kinds => PointsTo::Several(kinds),
            },
        }
    }

    fn kinds(self) -> MemoryKinds {
        match self {
            PointsTo::None | PointsTo::Null => MemoryKinds(0),
            PointsTo::One(class) => MemoryKinds::of(class),
            PointsTo::Several(kinds) => kinds,
        }
    }
}

/// The memories of a body's generic pointers.
pub(crate) type AddressSpaces = SecondaryMap<Id, PointsTo>;

/// Finds them.
pub(crate) fn infer(m: &Module<'_>, body: &Body) -> AddressSpaces {
    let mut out = AddressSpaces::new();
    let is_generic = |id: Id| {
        let ty = body.type_of(m, id).map(|t| m.types.kind(t));
        matches!(ty, Some(Type::Pointer(StorageClass::Generic, _)))
    };
    // Pointers that follow from others.
    let mut users: SecondaryMap<Id, Vec<Id>> = SecondaryMap::new();
    let mut todo = Vec::new();
    let mut start = |out: &mut AddressSpaces, id: Id, what: PointsTo| {
        out[id] = out[id].join(what);
        todo.push(id);
    };
    for (id, _) in body.params.iter().filter(|p| is_generic(p.0)) {
        start(&mut out, *id, PointsTo::ANY);
    }
    let mut follow = |out: &mut AddressSpaces, from: Id, to: Id| {
        let ty = body.type_of(m, from).map(|t| m.types.kind(t));
        let null = m.constant(from).is_some_and(|c| c.value == Constant::Null);
        match ty {
            _ if null => start(out, to, PointsTo::Null),
            _ if addresses::of(m, from).is_some() => {
                start(out, to, PointsTo::One(StorageClass::CrossWorkgroup));
            }
            Some(Type::Pointer(StorageClass::Generic, _)) => users[from].push(to),
            Some(Type::Pointer(class, _)) => start(out, to, PointsTo::One(*class)),
            // A condition.
            Some(Type::Bool | Type::Vector(..)) => {}
            _ => start(out, to, PointsTo::ANY),
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
                out[id] = PointsTo::ANY;
            }
        }
    }
    for id in users.keys().filter(|id| out[*id] != PointsTo::None) {
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
