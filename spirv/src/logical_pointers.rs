//! Analysis of logical pointers: their variable, the layout of the pointee, and bounds.
//!
//! Needs a body without calls. Pointers come from variables by indices, copies, selects and phis,
//! which are followed to a fixed point.

use crate::body::{BInst, Body};
use crate::cfg::Graph;
use crate::module::constants::signed;
use crate::module::types::{MatrixLayout, Ty, Type};
use crate::module::{Def, Module};
use crate::read::Id;
use cranelift_entity::SecondaryMap;
use spirv::{Decoration, Op, StorageClass};
use std::collections::{BTreeMap, BTreeSet};

/// Variable that a pointer leads to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Root {
    /// One variable, or an element of an array of descriptors.
    One(Id, u32),
    /// Dynamically indexed element of an array of descriptors.
    Among(Id),
    /// One of several buffers.
    Several,
    /// One of several variables of other memories, or several layouts.
    Any,
    /// Address.
    Address,
}

/// Properties of a pointer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PointerInfo {
    pub root: Root,
    /// Layout of the matrix, or of the matrix column, that it points to or that the pointee
    /// contains.
    pub matrix: Option<MatrixLayout>,
    /// Alignment in bytes, a power of two.
    pub align: u32,
    /// Byte offset into the variable, if constant.
    pub known: Option<u64>,
    /// Set if an index may be out of bounds.
    pub may_be_outside: bool,
}

/// Properties of the pointers of a body.
pub(crate) type PointerInfos = SecondaryMap<Id, Option<PointerInfo>>;

/// Alignment of every buffer in bytes.
pub(crate) const BUFFER_ALIGN: u32 = 16;
/// Maximum number of rounds over a body.
const MAX_ROUNDS: usize = 64;

/// Analyzes a body, if its module has logical pointers.
pub(crate) fn find(m: &Module<'_>, body: &Body, g: &Graph) -> PointerInfos {
    let mut out = PointerInfos::new();
    if !m.logical {
        return out;
    }
    let f = Finder { m, body };
    for id in body.constant_data.keys() {
        out[*id] = Some(PointerInfo {
            root: Root::One(*id, 0),
            matrix: None,
            align: BUFFER_ALIGN,
            known: Some(0),
            may_be_outside: false,
        });
    }
    for _ in 0..MAX_ROUNDS {
        let mut changed = false;
        for b in &g.order {
            let data = &body.blocks[*b];
            for phi in data.phis.iter().filter(|p| f.is_pointer(p.ty)) {
                for (_, arg) in &phi.args {
                    let place = f.of(&out, *arg);
                    changed |= join(m, &mut out, phi.id, place);
                }
            }
            for inst in &data.insts {
                if let (Some(id), Some(ty)) = (inst.id.expand(), inst.ty.expand())
                    && f.is_pointer(ty)
                {
                    changed |= f.inst(&mut out, inst, id);
                }
            }
        }
        if !changed {
            return out;
        }
    }
    // No fixed point: all roots are unknown.
    for place in out.values_mut() {
        if let Some(p) = place {
            *place = Some(PointerInfo {
                root: Root::Any,
                ..*p
            });
        }
    }
    out
}

fn join(m: &Module<'_>, out: &mut PointerInfos, id: Id, new: Option<PointerInfo>) -> bool {
    let Some(new) = new else { return false };
    let joined = match out[id] {
        None => new,
        Some(old) => PointerInfo {
            root: if old.root == new.root {
                old.root
            } else if is_buffer(m, old.root) && is_buffer(m, new.root) {
                Root::Several
            } else {
                Root::Any
            },
            // Different layouts make the root unknown, below.
            matrix: old.matrix,
            align: old.align.min(new.align),
            known: old.known.filter(|k| new.known == Some(*k)),
            may_be_outside: old.may_be_outside || new.may_be_outside,
        },
    };
    let joined = match out[id] {
        Some(old) if old.matrix != new.matrix => PointerInfo {
            root: Root::Any,
            ..joined
        },
        _ => joined,
    };
    let changed = out[id] != Some(joined);
    out[id] = Some(joined);
    changed
}

/// Returns true if pointers with a root point into buffers.
pub(crate) fn is_buffer(m: &Module<'_>, root: Root) -> bool {
    let id = match root {
        Root::One(id, _) | Root::Among(id) => id,
        Root::Several => return true,
        Root::Any | Root::Address => return false,
    };
    let Def::Global(g) = m.def(id) else {
        return false;
    };
    let class = m.globals.get(g).map(|g| g.class);
    matches!(
        class,
        Some(StorageClass::StorageBuffer | StorageClass::Uniform)
    )
}

/// Returns true if pointers with a root carry the index of their buffer.
pub(crate) fn carries_buffer_index(m: &Module<'_>, root: Root) -> bool {
    matches!(root, Root::Several | Root::Among(_)) && is_buffer(m, root)
}

/// Buffers that a pointer with an unknown one may point into: variables and elements.
pub(crate) type Targets = BTreeMap<Id, BTreeSet<(Id, u32)>>;

/// Finds the possible buffers of pointers that carry the index of their buffer.
pub(crate) fn targets(m: &Module<'_>, body: &Body, g: &Graph, places: &PointerInfos) -> Targets {
    let mut out = Targets::new();
    let which = |id: Id| places[id].is_some_and(|p| carries_buffer_index(m, p.root));
    if !places.keys().any(which) {
        return out;
    }
    let place = |id: Id| places[id].or_else(|| variable(m, id));
    for _ in 0..MAX_ROUNDS {
        let mut changed = false;
        let mut flow = |out: &mut Targets, to: Id, from: &[Id]| {
            let mut new = BTreeSet::new();
            if let Some(Root::Among(array)) = place(to).map(|p| p.root) {
                new.extend((0..elements(m, array).unwrap_or(0)).map(|n| (array, n)));
            }
            for from in from {
                match place(*from).map(|p| p.root) {
                    Some(Root::One(id, n)) => {
                        new.insert((id, n));
                    }
                    Some(_) => new.extend(out.get(from).into_iter().flatten()),
                    None => {}
                }
            }
            let old = out.entry(to).or_default();
            let before = old.len();
            old.extend(new);
            changed |= old.len() != before;
        };
        for b in &g.order {
            let data = &body.blocks[*b];
            for phi in data.phis.iter().filter(|p| which(p.id)) {
                let args: Vec<Id> = phi.args.iter().map(|a| a.1).collect();
                flow(&mut out, phi.id, &args);
            }
            for inst in &data.insts {
                let Some(id) = inst.id.expand().filter(|id| which(*id)) else {
                    continue;
                };
                let of_array = matches!(place(id).map(|p| p.root), Some(Root::Among(_)));
                let operands = match inst.op {
                    Op::Select => 1..3,
                    _ if of_array => 0..0,
                    _ => 0..1,
                };
                let words = body.operands(inst).get(operands).unwrap_or(&[]);
                let from: Vec<Id> = words.iter().map(|w| Id::of(*w)).collect();
                flow(&mut out, id, &from);
            }
        }
        if !changed {
            break;
        }
    }
    out
}

/// Number of elements of an array of descriptors. One without a length has that which the caller
/// gives for its binding.
pub(crate) fn elements(m: &Module<'_>, id: Id) -> Option<u32> {
    let Def::Global(g) = m.def(id) else {
        return None;
    };
    match m.globals.get(g).map(|g| m.types.kind(g.ty)) {
        Some(Type::Array(_, n)) => u32::try_from(*n).ok(),
        Some(Type::RuntimeArray(_)) => {
            let word = |d: Decoration| {
                let found = m.decorations(id).find(|x| x.1 == d);
                found.and_then(|x| x.2.first().copied())
            };
            let place = (word(Decoration::DescriptorSet)?, word(Decoration::Binding)?);
            m.binding_arrays.get(&place).copied()
        }
        _ => None,
    }
}

/// Properties of a pointer that is a variable of the module.
pub(crate) fn variable(m: &Module<'_>, id: Id) -> Option<PointerInfo> {
    let Def::Global(g) = m.def(id) else {
        return None;
    };
    let data = m.globals.get(g)?;
    let align = match data.class {
        StorageClass::StorageBuffer | StorageClass::Uniform => BUFFER_ALIGN,
        _ => m.types.align(data.ty).clamp(1, 4096) as u32,
    };
    Some(PointerInfo {
        root: Root::One(id, 0),
        matrix: None,
        align,
        known: Some(0),
        may_be_outside: false,
    })
}

struct Finder<'a, 'm> {
    m: &'a Module<'m>,
    body: &'a Body,
}

impl Finder<'_, '_> {
    fn is_pointer(&self, ty: Ty) -> bool {
        matches!(self.m.types.kind(ty), Type::Pointer(..))
    }

    fn of(&self, out: &PointerInfos, id: Id) -> Option<PointerInfo> {
        out[id].or_else(|| variable(self.m, id))
    }

    fn inst(&self, out: &mut PointerInfos, inst: &BInst, id: Id) -> bool {
        let words = self.body.operands(inst);
        let operand = |n: usize| words.get(n).map(|w| Id::of(*w));
        let ty = inst.ty.expand();
        match inst.op {
            Op::Variable => {
                let of = ty.and_then(|t| self.m.pointee(t));
                let align = of.map_or(1, |t| self.m.types.align(t)).clamp(1, 4096) as u32;
                let place = PointerInfo {
                    root: Root::One(id, 0),
                    matrix: None,
                    align,
                    known: Some(0),
                    may_be_outside: false,
                };
                join(self.m, out, id, Some(place))
            }
            Op::AccessChain
            | Op::InBoundsAccessChain
            | Op::PtrAccessChain
            | Op::InBoundsPtrAccessChain => {
                let place = operand(0).and_then(|base| self.chain(out, inst, base, words));
                join(self.m, out, id, place)
            }
            Op::CopyObject => {
                let place = operand(0).and_then(|p| self.of(out, p));
                join(self.m, out, id, place)
            }
            Op::Select => {
                let mut changed = false;
                for n in [1, 2] {
                    let place = operand(n).and_then(|p| self.of(out, p));
                    changed |= join(self.m, out, id, place);
                }
                changed
            }
            // An address from memory or of a number, or an undefined value.
            _ => {
                let of = ty.and_then(|t| self.m.pointee(t));
                let place = PointerInfo {
                    root: Root::Address,
                    matrix: None,
                    align: of.map_or(1, |t| self.m.types.align(t)).clamp(1, 4096) as u32,
                    known: None,
                    may_be_outside: false,
                };
                join(self.m, out, id, Some(place))
            }
        }
    }

    fn chain(
        &self,
        out: &PointerInfos,
        inst: &BInst,
        base: Id,
        words: &[u32],
    ) -> Option<PointerInfo> {
        let mut place = self.of(out, base)?;
        let ty = self.body.type_of(self.m, base)?;
        let mut of = self.m.pointee(ty)?;
        let element = matches!(inst.op, Op::PtrAccessChain | Op::InBoundsPtrAccessChain);
        let mut indices = words.iter().skip(1).map(|w| Id::of(*w));
        if element {
            let index = indices.next()?;
            let stride = pointer_stride(self.m, &[inst.ty.expand()?, ty], of);
            place.may_be_outside |= self.m.bits(index) != Some(0);
            self.add(&mut place, index, stride);
        } else if is_array_of_descriptors(self.m, base) {
            let index = indices.next()?;
            let n = self.m.bits(index).and_then(|n| u32::try_from(n).ok());
            place.may_be_outside |= n.is_none();
            place.root = match (place.root, n) {
                (Root::One(id, _), Some(n)) => Root::One(id, n),
                (Root::One(id, _), None) => Root::Among(id),
                _ => Root::Any,
            };
            of = self.m.types.step(of, 0, None)?.0;
        }
        for index in indices {
            let known = self.m.bits(index);
            let outside = match (self.m.types.count(of), known) {
                (Some(n), Some(k)) => k >= n,
                _ => true,
            };
            let n = match self.m.types.kind(of) {
                Type::Struct(_) => known?,
                _ => 0,
            };
            place.may_be_outside |= outside;
            let (next, at, matrix) = self.m.types.step(of, n, place.matrix)?;
            match self.m.types.kind(of) {
                Type::Struct(_) => self.move_by(&mut place, at),
                _ => {
                    let (_, stride, _) = self.m.types.step(of, 1, place.matrix)?;
                    self.add(&mut place, index, stride);
                }
            }
            (of, place.matrix) = (next, matrix);
        }
        Some(place)
    }

    /// Advances by an index times a stride.
    fn add(&self, place: &mut PointerInfo, index: Id, stride: u64) {
        match self.m.bits(index) {
            Some(bits) => {
                let width = self.m.type_of(index).map(|t| self.m.types.size(t) * 8);
                let k = signed(width.unwrap_or(64) as u32, bits);
                self.move_by(place, (k as u64).wrapping_mul(stride));
            }
            None => {
                place.known = None;
                self.narrow(place, stride);
            }
        }
    }

    fn move_by(&self, place: &mut PointerInfo, bytes: u64) {
        place.known = place.known.map(|k| k.wrapping_add(bytes));
        self.narrow(place, bytes);
    }

    fn narrow(&self, place: &mut PointerInfo, bytes: u64) {
        let of = 1u32 << bytes.trailing_zeros().min(12);
        if bytes != 0 {
            place.align = place.align.min(of);
        }
    }
}

/// Bytes between elements, for the first index of `PtrAccessChain`.
pub(crate) fn pointer_stride(m: &Module<'_>, types: &[Ty], of: Ty) -> u64 {
    let said = types.iter().find_map(|t| {
        let n = m.types.stride(*t);
        (n != 0).then_some(n)
    });
    said.unwrap_or_else(|| m.types.size(of))
}

/// Returns true if a variable is an array of buffers, images or samplers.
pub(crate) fn is_array_of_descriptors(m: &Module<'_>, id: Id) -> bool {
    let Def::Global(g) = m.def(id) else {
        return false;
    };
    m.globals.get(g).is_some_and(|d| {
        let class = matches!(
            d.class,
            StorageClass::StorageBuffer | StorageClass::Uniform | StorageClass::UniformConstant
        );
        let array = matches!(m.types.kind(d.ty), Type::Array(..) | Type::RuntimeArray(_));
        // A buffer itself is a structure.
        class && array
    })
}
