//! Inference of the address spaces of generic pointers.
//!
//! Needs a body without calls. A pointer derived from casts of pointers to one memory points to
//! that memory. A pointer from memory may point anywhere. A pointer derived from several memories
//! carries a tag that says which.

use crate::body::Body;
use crate::module::constants::Constant;
use crate::module::types::Type;
use crate::module::{Module, addresses};
use crate::read::Id;
use cranelift_entity::SecondaryMap;
use spirv::{Op, StorageClass};

/// Set of memories that generic pointers may point to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MemorySet(u8);

impl MemorySet {
    pub const GLOBAL: MemorySet = MemorySet(1);
    pub const LOCAL: MemorySet = MemorySet(2);
    pub const PRIVATE: MemorySet = MemorySet(4);
    pub const ALL: MemorySet = MemorySet(7);

    /// Memory of a storage class.
    pub fn of(class: StorageClass) -> MemorySet {
        match class {
            StorageClass::Workgroup => MemorySet::LOCAL,
            StorageClass::Function | StorageClass::Private => MemorySet::PRIVATE,
            _ => MemorySet::GLOBAL,
        }
    }

    pub fn intersects(self, other: MemorySet) -> bool {
        self.0 & other.0 != 0
    }

    pub fn union(self, other: MemorySet) -> MemorySet {
        MemorySet(self.0 | other.0)
    }
}

/// Memory that a pointer points to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum PointsTo {
    /// No pointer value reaches it.
    #[default]
    None,
    /// Null.
    Null,
    One(StorageClass),
    /// One of these, or null.
    Several(MemorySet),
}

impl PointsTo {
    const ANY: PointsTo = PointsTo::Several(MemorySet::ALL);

    fn join(self, other: PointsTo) -> PointsTo {
        match (self, other) {
            (PointsTo::None, m) | (m, PointsTo::None) => m,
            (a, b) if a == b => a,
            // Null is a global address.
            (PointsTo::Null, m) | (m, PointsTo::Null) if m.kinds() == MemorySet::GLOBAL => m,
            (a, b) => match a.kinds().union(b.kinds()) {
                MemorySet::GLOBAL => PointsTo::One(StorageClass::CrossWorkgroup),
                kinds => PointsTo::Several(kinds),
            },
        }
    }

    fn kinds(self) -> MemorySet {
        match self {
            PointsTo::None | PointsTo::Null => MemorySet(0),
            PointsTo::One(class) => MemorySet::of(class),
            PointsTo::Several(kinds) => kinds,
        }
    }
}

/// Memories of the generic pointers of a body.
pub(crate) type AddressSpaces = SecondaryMap<Id, PointsTo>;

/// Infers them by forward propagation.
pub(crate) fn infer(m: &Module<'_>, body: &Body) -> AddressSpaces {
    let mut out = AddressSpaces::new();
    let is_generic = |id: Id| {
        let ty = body.type_of(m, id).map(|t| m.types.kind(t));
        matches!(ty, Some(Type::Pointer(StorageClass::Generic, _)))
    };
    // Pointers derived from each pointer.
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
            // Condition of a select.
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
