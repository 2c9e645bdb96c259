//! Search for variables that can be promoted, and for pointers to them and their parts.
//!
//! Some pointers have another type than the variable, by the way that front ends write sources:
//!
//! - a vector of three components is loaded and stored as one of four, whose fourth component is
//!   undefined;
//! - copies have pointers to bytes;
//! - a generic pointer points to a variable.
//!
//! Copies become a load and a store.

use super::Var;
use crate::body::{BInst, Block, Body};
use crate::module::constants::Constant;
use crate::module::types::{Ty, Type, TypeKey};
use crate::module::{Def, Module};
use crate::read::Id;
use cranelift_entity::{PrimaryMap, SecondaryMap, packed_option::PackedOption};
use spirv::{Op, StorageClass};

/// Maximum number of scalars of a variable.
const MAX_LEAVES: u32 = 64;

/// Undefined component of a shuffle (SPIR-V, `OpVectorShuffle`).
pub(super) const NOTHING: u32 = u32::MAX;

/// Pointer to a variable or a part of one.
#[derive(Clone, Debug)]
pub(super) struct VarPart {
    pub var: Var,
    /// Indices of nested parts, outermost first.
    pub path: Vec<u32>,
    /// Type of the part.
    pub ty: Ty,
    pub seen: AccessView,
}

/// Access type of a pointer relative to its part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum AccessView {
    /// Type of the part.
    Itself,
    /// 3-vector as a 4-vector of this type.
    Four(Ty),
    /// Bytes, for copies and lifetime markers.
    Bytes,
}

impl VarPart {
    /// Type of loads and stores through the pointer.
    fn accessed(&self) -> Option<Ty> {
        match self.seen {
            AccessView::Itself => Some(self.ty),
            AccessView::Four(ty) => Some(ty),
            AccessView::Bytes => None,
        }
    }
}

/// Type and initializer of each variable.
pub(super) type Vars = PrimaryMap<Var, (Ty, Option<Id>)>;
/// Parts by pointer.
pub(super) type VarParts = SecondaryMap<Id, Option<Box<VarPart>>>;

/// Copy that can be split into a load and a store.
struct SplittableCopy {
    block: Block,
    /// Index in the block.
    at: usize,
    to: CopySide,
    from: CopySide,
    ty: Ty,
    /// Number of operands before the memory operands.
    skip: usize,
}

/// End of a copy.
#[derive(Clone)]
enum CopySide {
    /// Pointer of the type that is copied.
    Pointer(Id),
    /// Pointer to a whole that begins with it, the type of pointers to the beginning, and that
    /// part of the variable if it is in one.
    Beginning(Id, Ty, Option<Box<VarPart>>),
    /// Zeros.
    Zeros,
}

impl CopySide {
    fn pointer(&self) -> Option<Id> {
        match self {
            CopySide::Pointer(id) | CopySide::Beginning(id, ..) => Some(*id),
            CopySide::Zeros => None,
        }
    }
}

struct VarFinder<'a, 'm> {
    m: &'a Module<'m>,
    body: &'a Body,
    vars: Vars,
    found: VarParts,
    /// Variables with other uses, which cannot be promoted.
    bad: SecondaryMap<Var, bool>,
    /// Source of each pointer cast.
    under: SecondaryMap<Id, PackedOption<Id>>,
    /// 4-vectors whose fourth component is undefined.
    open: SecondaryMap<Id, bool>,
    copies: Vec<SplittableCopy>,
}

/// Finds variables and pointers that are only used by loads, stores and copies. Splits these
/// copies.
pub(super) fn find(m: &Module<'_>, body: &mut Body) -> (Vars, VarParts) {
    let mut f = VarFinder {
        m,
        body,
        vars: PrimaryMap::new(),
        found: SecondaryMap::new(),
        bad: SecondaryMap::new(),
        under: SecondaryMap::new(),
        open: SecondaryMap::new(),
        copies: Vec::new(),
    };
    let mut insts = f.body.blocks.values().flat_map(|b| &b.insts);
    if !insts.any(|i| i.op == Op::Variable) {
        return (f.vars, f.found);
    }
    // Reachable blocks in reverse postorder.
    let order = f.body.entry.expand();
    let order = order.map_or(Vec::new(), |e| crate::cfg::order(e, f.body));
    for &b in &order {
        for (at, inst) in f.body.blocks[b].insts.iter().enumerate() {
            f.look(b, at, inst);
        }
    }
    // Phis of pointers are not followed. Back-edge arguments are known by now.
    for phi in f.body.blocks.values().flat_map(|b| &b.phis) {
        phi.args.iter().for_each(|(_, arg)| f.spoil(*arg));
    }
    let VarFinder {
        mut vars,
        mut found,
        bad,
        copies,
        ..
    } = f;
    let good = |place: &Option<Box<VarPart>>| place.as_ref().is_some_and(|p| !bad[p.var]);
    let of = |side: &CopySide| side.pointer().is_some_and(|id| good(&found[id]));
    let copies: Vec<SplittableCopy> = copies
        .into_iter()
        .filter(|c| of(&c.to) || of(&c.from))
        .collect();
    split(m, body, copies, &mut found);
    for place in found.values_mut() {
        if !good(place) {
            *place = None;
        }
    }
    if vars.keys().all(|v| bad[v]) {
        vars.clear();
    }
    (vars, found)
}

/// Replaces each copy by a load and a store, or by a store alone if the source is constant.
fn split(m: &Module<'_>, body: &mut Body, copies: Vec<SplittableCopy>, found: &mut VarParts) {
    let mut copies = copies.into_iter().peekable();
    while let Some(block) = copies.peek().map(|c| c.block) {
        let insts = std::mem::take(&mut body.blocks[block].insts);
        let mut out = Vec::with_capacity(insts.len() + 1);
        for (at, inst) in insts.into_iter().enumerate() {
            let Some(c) = copies.next_if(|c| (c.block, c.at) == (block, at)) else {
                out.push(inst);
                continue;
            };
            let memory = body.operands(&inst).get(c.skip..).unwrap_or(&[]).to_vec();
            let place = (inst.at, inst.line);
            let mut pointer = |side: CopySide, body: &mut Body, out: &mut Vec<BInst>| match side {
                CopySide::Pointer(id) => Some(id),
                CopySide::Beginning(id, ty, part) => {
                    let cast = body.fresh(ty);
                    let words = [id.as_u32()];
                    out.push(body.inst(Op::Bitcast, place, Some(ty), Some(cast), &words));
                    found[cast] = part;
                    Some(cast)
                }
                CopySide::Zeros => None,
            };
            let constant = match c.from {
                CopySide::Pointer(from) => constants(m, from, c.ty),
                _ => None,
            };
            let value = constant.unwrap_or_else(|| {
                let (id, ty) = (body.fresh(c.ty), Some(c.ty));
                let inst = match pointer(c.from, body, &mut out) {
                    Some(from) => {
                        let words = [from.as_u32()].into_iter().chain(memory.clone());
                        let words: Vec<u32> = words.collect();
                        body.inst(Op::Load, place, ty, Some(id), &words)
                    }
                    None => body.inst(Op::ConstantNull, place, ty, Some(id), &[]),
                };
                out.push(inst);
                id
            });
            if let Some(to) = pointer(c.to, body, &mut out) {
                let words = [to.as_u32(), value.as_u32()];
                let words: Vec<u32> = words.into_iter().chain(memory).collect();
                out.push(body.inst(Op::Store, place, None, None, &words));
            }
        }
        body.blocks[block].insts = out;
    }
}

/// Initializer of a constant variable of a type.
fn constants(m: &Module<'_>, pointer: Id, ty: Ty) -> Option<Id> {
    let Def::Global(g) = m.def(pointer) else {
        return None;
    };
    let data = m.globals.get(g)?;
    let fixed = data.ty == ty && data.class == StorageClass::UniformConstant;
    data.init.filter(|_| fixed)
}

impl VarFinder<'_, '_> {
    fn spoil(&mut self, id: Id) {
        if let Some(place) = &self.found[id] {
            self.bad[place.var] = true;
        }
    }

    fn look(&mut self, block: Block, at: usize, inst: &BInst) {
        let words = self.body.operands(inst);
        let operand = |n: usize| words.get(n).map(|w| Id::of(*w));
        let ty = inst.ty.expand();
        match inst.op {
            Op::Variable => {
                let of = ty.and_then(|t| match self.m.types.kind(t) {
                    Type::Pointer(StorageClass::Function | StorageClass::Private, _) => {
                        self.m.pointee(t)
                    }
                    _ => None,
                });
                let small = |t: &Ty| (1..=MAX_LEAVES).contains(&self.m.types.leaves(*t));
                let of = of.filter(small);
                if let (Some(ty), Some(id)) = (of, inst.id.expand()) {
                    let var = self.vars.push((ty, operand(1)));
                    let (path, seen) = (Vec::new(), AccessView::Itself);
                    self.found[id] = Some(Box::new(VarPart {
                        var,
                        path,
                        ty,
                        seen,
                    }));
                }
                return;
            }
            Op::Load | Op::Store => {
                let place = operand(0).and_then(|p| self.found[p].as_ref());
                if let Some(place) = place {
                    let memory = words.get(if inst.op == Op::Load { 1 } else { 2 });
                    let volatile = memory.is_some_and(|m| m & 1 != 0);
                    let value = match inst.op {
                        Op::Load => ty,
                        _ => operand(1).and_then(|v| self.body.type_of(self.m, v)),
                    };
                    // A stored fourth component may be significant.
                    let whole = inst.op == Op::Load
                        || !matches!(place.seen, AccessView::Four(_))
                        || operand(1).is_some_and(|v| self.open[v] || self.is_open(v));
                    if volatile || !whole || value.is_none() || place.accessed() != value {
                        self.bad[place.var] = true;
                    }
                }
                // The pointer itself may be the stored value.
                if let (Op::Store, Some(value)) = (inst.op, operand(1)) {
                    self.spoil(value);
                }
                return;
            }
            Op::LifetimeStart | Op::LifetimeStop => return,
            Op::CopyMemory | Op::CopyMemorySized => {
                if let Some(copied) = self.copied(block, at, inst) {
                    self.copies.push(copied);
                    return;
                }
            }
            Op::VectorShuffle => {
                let four = ty.and_then(|t| self.m.types.count(t)) == Some(4);
                if let (true, Some(id)) = (four, inst.id.expand()) {
                    self.open[id] = words.last() == Some(&NOTHING);
                }
            }
            Op::AccessChain
            | Op::InBoundsAccessChain
            | Op::PtrAccessChain
            | Op::InBoundsPtrAccessChain
                if self.chain(inst).is_some() =>
            {
                return;
            }
            Op::Bitcast | Op::CopyObject | Op::PtrCastToGeneric | Op::GenericCastToPtr => {
                if let (Some(id), Some(from)) = (inst.id.expand(), operand(0)) {
                    self.under[id] = from.into();
                    let to = ty.and_then(|t| self.m.pointee(t));
                    if let Some(place) = to.and_then(|to| self.seen(from, to)) {
                        self.found[id] = Some(Box::new(place));
                        return;
                    }
                }
            }
            _ => {}
        }
        let body = self.body;
        body.for_each_use(inst, |id| self.spoil(id));
    }

    /// Returns true if the fourth component of a constant is undefined.
    fn is_open(&self, id: Id) -> bool {
        let constant = |id: Id| self.m.constant(id).map(|c| &c.value);
        match constant(id) {
            Some(Constant::Undef) => true,
            Some(Constant::Composite(parts)) => {
                let last = parts.get(3).filter(|_| parts.len() == 4);
                last.is_some_and(|&p| constant(p) == Some(&Constant::Undef))
            }
            _ => false,
        }
    }

    /// VarPart of a cast pointer with pointee `to`. It is the place of an earlier pointer in the
    /// chain of casts with this pointee, a leading part with this type, or bytes.
    fn seen(&self, from: Id, to: Ty) -> Option<VarPart> {
        let types = &self.m.types;
        let place = self.found[from].as_deref()?;
        let mut at = Some(from);
        while let Some(id) = at {
            let before = self.found[id].as_deref().filter(|p| p.var == place.var);
            if let Some(before) = before.filter(|p| p.ty == to) {
                let mut same = before.clone();
                same.seen = AccessView::Itself;
                return Some(same);
            }
            at = self.under[id].expand();
        }
        let mut first = place.clone();
        first.seen = match (types.kind(place.ty), types.kind(to)) {
            (Type::Vector(of, 3), Type::Vector(by, 4)) if of == by => AccessView::Four(to),
            _ => AccessView::Bytes,
        };
        let mut inside = place.clone();
        while let Some((next, 0)) = types.offset(inside.ty, 0) {
            inside.path.push(0);
            inside.ty = next;
            if next == to {
                inside.seen = AccessView::Itself;
                return Some(inside);
            }
        }
        Some(first)
    }

    /// Records the place of an access chain with constant indices.
    fn chain(&mut self, inst: &BInst) -> Option<()> {
        let words = self.body.operands(inst);
        let mut place = self.found[Id::of(*words.first()?)].clone()?;
        let skip = match inst.op {
            Op::PtrAccessChain | Op::InBoundsPtrAccessChain => 2,
            _ => 1,
        };
        let indices = words.iter().skip(1).map(|w| self.m.bits(Id::of(*w)));
        let indices: Vec<u64> = indices.collect::<Option<_>>()?;
        if place.seen != AccessView::Itself {
            return None;
        }
        let elements = indices.first().filter(|n| skip == 2 && **n != 0);
        if let Some(by) = elements {
            self.move_by(&mut place, *by)?;
        }
        for n in indices.into_iter().skip(skip - 1) {
            place.ty = self.m.types.member(place.ty, n)?.0;
            place.path.push(u32::try_from(n).ok()?);
        }
        let to = inst.ty.expand().and_then(|t| self.m.pointee(t));
        let id = inst.id.expand().filter(|_| to == Some(place.ty))?;
        self.found[id] = Some(place);
        Some(())
    }

    /// Moves a pointer to an element of an array by a number of elements.
    fn move_by(&self, place: &mut VarPart, by: u64) -> Option<()> {
        let last = place.path.pop()?;
        let mut of = self.vars.get(place.var)?.0;
        for n in &place.path {
            of = self.m.types.member(of, u64::from(*n))?.0;
        }
        let Type::Array(element, count) = *self.m.types.kind(of) else {
            return None;
        };
        let to = u64::from(last).wrapping_add(by);
        if element != place.ty || to >= count {
            return None;
        }
        place.path.push(u32::try_from(to).ok()?);
        Some(())
    }

    /// Describes a copy from or to a variable that can be split. It must cover all bytes of a type
    /// without padding.
    fn copied(&self, block: Block, at: usize, inst: &BInst) -> Option<SplittableCopy> {
        let words = self.body.operands(inst);
        let [to, from] = *words.first_chunk::<2>()?;
        let [to, from] = [to, from].map(|w| self.uncast(Id::of(w)));
        let to_ty = self.m.pointee(self.body.type_of(self.m, to)?)?;
        let sized = inst.op == Op::CopyMemorySized;
        let size = if sized {
            self.m.bits(Id::of(*words.get(2)?))?
        } else {
            self.m.types.size(to_ty)
        };
        let skip = if sized { 3 } else { 2 };
        if words.get(skip).is_some_and(|m| m & 1 != 0) {
            return None;
        }
        let part = |id: Id| self.leading(id, size);
        let (to_part, from_part) = (part(to), part(from));
        let ty = to_part.as_ref().or(from_part.as_ref())?.ty;
        Some(SplittableCopy {
            block,
            at,
            to: self.side(to, to_part, ty)?,
            from: self.side(from, from_part, ty)?,
            ty,
            skip,
        })
    }

    /// Part of a variable of `size` bytes without padding that a pointer points to.
    fn leading(&self, pointer: Id, size: u64) -> Option<Box<VarPart>> {
        let mut part = self.found[pointer].clone()?;
        if part.seen != AccessView::Itself {
            return None;
        }
        while !self.is_dense(part.ty, size) {
            let (next, at) = self.m.types.offset(part.ty, 0)?;
            if at != 0 {
                return None;
            }
            part.path.push(0);
            part.ty = next;
        }
        Some(part)
    }

    /// End of a copy of a type, at a pointer that may point to a part of a variable.
    fn side(&self, id: Id, part: Option<Box<VarPart>>, ty: Ty) -> Option<CopySide> {
        if part.is_none() && self.found[id].is_some() || part.as_ref().is_some_and(|p| p.ty != ty) {
            return None;
        }
        let pointer = self.body.type_of(self.m, id)?;
        if self.m.pointee(pointer)? == ty {
            return Some(CopySide::Pointer(id));
        }
        if self.is_zero(id, self.m.types.size(ty)) {
            return Some(CopySide::Zeros);
        }
        let Type::Pointer(class, _) = *self.m.types.kind(pointer) else {
            return None;
        };
        let key = TypeKey::Pointer(class as u32, ty, 0);
        let cast = self.m.types.find_key(&key)?;
        Some(CopySide::Beginning(id, cast, part))
    }

    /// Returns true if a pointer points to constant zeros, at least so many bytes.
    fn is_zero(&self, pointer: Id, size: u64) -> bool {
        let Def::Global(g) = self.m.def(pointer) else {
            return false;
        };
        self.m.globals.get(g).is_some_and(|g| {
            let init = g.init.and_then(|i| self.m.constant(i));
            g.class == StorageClass::UniformConstant
                && self.m.types.size(g.ty) >= size
                && init.is_some_and(|c| c.value == Constant::Null)
        })
    }

    /// Undoes casts to byte pointers.
    fn uncast(&self, id: Id) -> Id {
        let to = |id: Id| self.m.pointee(self.body.type_of(self.m, id)?);
        let mut at = id;
        // The source of a cast precedes it, so this terminates.
        while let (Some(from), Some(ty)) = (self.under[at].expand(), to(at))
            && self.m.types.size(ty) == 1
        {
            at = from;
        }
        at
    }

    /// Returns true if the scalars of a type cover all of its `size` bytes. Padding may belong to
    /// another member of a union.
    fn is_dense(&self, ty: Ty, size: u64) -> bool {
        let types = &self.m.types;
        let few = (1..=MAX_LEAVES).contains(&types.leaves(ty));
        few && types.size(ty) == size && {
            let scalars = types.scalars(ty);
            scalars.iter().map(|(t, _)| types.size(*t)).sum::<u64>() == size
        }
    }
}
