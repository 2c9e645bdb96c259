//! The variables that can be promoted, and the pointers to them and their parts.
//!
//! A pointer may be seen as one of another type where that is only how sources are written: a vector of three components is loaded and stored as one of four,
//! of which the fourth is nothing; a copy has pointers to bytes; one to any memory may be one to a variable. Copies become a load and a store.

use super::Var;
use crate::body::{BInst, Block, Body};
use crate::module::constants::Constant;
use crate::module::types::{Ty, Type};
use crate::module::{Def, Module};
use crate::read::Id;
use cranelift_entity::{PrimaryMap, SecondaryMap, packed_option::PackedOption};
use spirv::{Op, StorageClass};

/// The most scalars of a variable.
const MAX_LEAVES: u32 = 64;

/// The component of a shuffle that is nothing (SPIR-V, `OpVectorShuffle`).
pub(super) const NOTHING: u32 = u32::MAX;

/// A pointer to a variable or a part of one.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub var: Var,
    /// The numbers of the parts, outermost first.
    pub path: Vec<u32>,
    /// What the part is.
    pub ty: Ty,
    pub seen: As,
}

/// What a pointer's type makes of what it is to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum As {
    /// What it is.
    Itself,
    /// Three components as four, of this type.
    Four(Ty),
    /// Bytes, for copies and for what says how long it lives.
    Bytes,
}

impl Place {
    /// What is loaded and stored by way of it.
    fn accessed(&self) -> Option<Ty> {
        match self.seen {
            As::Itself => Some(self.ty),
            As::Four(ty) => Some(ty),
            As::Bytes => None,
        }
    }
}

/// A variable's type, and its initializer.
pub(super) type Vars = PrimaryMap<Var, (Ty, Option<Id>)>;
/// By pointers.
pub(super) type Places = SecondaryMap<Id, Option<Box<Place>>>;

/// A copy that a load and a store can be.
struct Copied {
    block: Block,
    /// Its number in the block.
    at: usize,
    /// Pointers of the type that is copied.
    to: Id,
    from: Id,
    ty: Ty,
    /// Of how many operands those of the memory are behind.
    skip: usize,
}

struct Find<'a, 'm> {
    m: &'a Module<'m>,
    body: &'a Body,
    vars: Vars,
    found: Places,
    /// Variables that something else is made of.
    bad: SecondaryMap<Var, bool>,
    /// What a pointer was cast from.
    under: SecondaryMap<Id, PackedOption<Id>>,
    /// Vectors of four whose fourth component is nothing.
    open: SecondaryMap<Id, bool>,
    copies: Vec<Copied>,
}

/// Finds variables, and the pointers to them, none of which goes anywhere but to loads, stores and copies. Of the latter a load and a store are made.
pub(super) fn find(m: &Module<'_>, body: &mut Body) -> (Vars, Places) {
    let mut f = Find {
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
    // Blocks that are reached, each before what only it leads to.
    let order = f.body.entry.expand();
    let order = order.map_or(Vec::new(), |e| crate::cfg::order(e, f.body));
    for &b in &order {
        for (at, inst) in f.body.blocks[b].insts.iter().enumerate() {
            f.look(b, at, inst);
        }
    }
    // No phi of pointers; what one takes from behind is known by now.
    for phi in f.body.blocks.values().flat_map(|b| &b.phis) {
        phi.args.iter().for_each(|(_, arg)| f.spoil(*arg));
    }
    let Find {
        mut vars,
        mut found,
        bad,
        copies,
        ..
    } = f;
    let good = |place: &Option<Box<Place>>| place.as_ref().is_some_and(|p| !bad[p.var]);
    let copies: Vec<Copied> = copies
        .into_iter()
        .filter(|c| good(&found[c.to]) || good(&found[c.from]))
        .collect();
    split(m, body, copies);
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

/// Puts a load and a store in the place of each copy; a store alone, where constants are copied.
fn split(m: &Module<'_>, body: &mut Body, copies: Vec<Copied>) {
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
            let value = constants(m, c.from, c.ty).unwrap_or_else(|| {
                let id = body.fresh(c.ty);
                let words: Vec<u32> = [c.from.as_u32()]
                    .into_iter()
                    .chain(memory.clone())
                    .collect();
                out.push(body.inst(Op::Load, place, Some(c.ty), Some(id), &words));
                id
            });
            let words = [c.to.as_u32(), value.as_u32()];
            let words: Vec<u32> = words.into_iter().chain(memory).collect();
            out.push(body.inst(Op::Store, place, None, None, &words));
        }
        body.blocks[block].insts = out;
    }
}

/// What a variable of constants has, all of it.
fn constants(m: &Module<'_>, pointer: Id, ty: Ty) -> Option<Id> {
    let Def::Global(g) = m.def(pointer) else {
        return None;
    };
    let data = m.globals.get(g)?;
    let fixed = data.ty == ty && data.class == StorageClass::UniformConstant;
    data.init.filter(|_| fixed)
}

impl Find<'_, '_> {
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
                    let (path, seen) = (Vec::new(), As::Itself);
                    self.found[id] = Some(Box::new(Place {
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
                    // What is stored as a fourth component may be somebody's.
                    let whole = inst.op == Op::Load
                        || !matches!(place.seen, As::Four(_))
                        || operand(1).is_some_and(|v| self.open[v] || self.is_open(v));
                    if volatile || !whole || value.is_none() || place.accessed() != value {
                        self.bad[place.var] = true;
                    }
                }
                // The pointer itself may be what is stored.
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

    /// Whether a constant's fourth component is nothing.
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

    /// What a pointer makes of a place that is cast to one to a type: what it or one that it was cast from is to, what that begins with, or bytes.
    fn seen(&self, from: Id, to: Ty) -> Option<Place> {
        let types = &self.m.types;
        let place = self.found[from].as_deref()?;
        let mut at = Some(from);
        while let Some(id) = at {
            let before = self.found[id].as_deref().filter(|p| p.var == place.var);
            if let Some(before) = before.filter(|p| p.ty == to) {
                let mut same = before.clone();
                same.seen = As::Itself;
                return Some(same);
            }
            at = self.under[id].expand();
        }
        let mut first = place.clone();
        first.seen = match (types.kind(place.ty), types.kind(to)) {
            (Type::Vector(of, 3), Type::Vector(by, 4)) if of == by => As::Four(to),
            _ => As::Bytes,
        };
        let mut inside = place.clone();
        while let Some((next, 0)) = types.offset(inside.ty, 0) {
            inside.path.push(0);
            inside.ty = next;
            if next == to {
                inside.seen = As::Itself;
                return Some(inside);
            }
        }
        Some(first)
    }

    /// A pointer by indices that are constants.
    fn chain(&mut self, inst: &BInst) -> Option<()> {
        let words = self.body.operands(inst);
        let mut place = self.found[Id::of(*words.first()?)].clone()?;
        let skip = match inst.op {
            Op::PtrAccessChain | Op::InBoundsPtrAccessChain => 2,
            _ => 1,
        };
        let indices = words.iter().skip(1).map(|w| self.m.bits(Id::of(*w)));
        let indices: Vec<u64> = indices.collect::<Option<_>>()?;
        if place.seen != As::Itself || skip == 2 && indices.first() != Some(&0) {
            return None;
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

    /// What a copy that is to become a load and a store copies: a variable, or to one, all bytes of a type that has no others.
    fn copied(&self, block: Block, at: usize, inst: &BInst) -> Option<Copied> {
        let words = self.body.operands(inst);
        let [to, from] = *words.first_chunk::<2>()?;
        let [to, from] = [to, from].map(|w| self.uncast(Id::of(w)));
        let to_ty = self.m.pointee(self.body.type_of(self.m, to)?)?;
        let from_ty = self.m.pointee(self.body.type_of(self.m, from)?)?;
        let here = self.found[to].is_some() || self.found[from].is_some();
        let sized = inst.op == Op::CopyMemorySized;
        let size = if sized {
            self.m.bits(Id::of(*words.get(2)?))?
        } else {
            self.m.types.size(to_ty)
        };
        let skip = if sized { 3 } else { 2 };
        let volatile = words.get(skip).is_some_and(|m| m & 1 != 0);
        // What is seen as bytes is of another type than its pointer says.
        let bytes = |id: Id| {
            self.found[id]
                .as_ref()
                .is_some_and(|p| p.accessed() != Some(to_ty))
        };
        let fine = here
            && !volatile
            && to_ty == from_ty
            && !bytes(to)
            && !bytes(from)
            && self.is_dense(to_ty, size);
        fine.then_some(Copied {
            block,
            at,
            to,
            from,
            ty: to_ty,
            skip,
        })
    }

    /// The pointer that a pointer to bytes was made of by casts.
    fn uncast(&self, id: Id) -> Id {
        let to = |id: Id| self.m.pointee(self.body.type_of(self.m, id)?);
        let mut at = id;
        // Casts are made of what comes before them.
        while let (Some(from), Some(ty)) = (self.under[at].expand(), to(at))
            && self.m.types.size(ty) == 1
        {
            at = from;
        }
        at
    }

    /// Whether a type's scalars are so many bytes, all of its bytes: what lies between them may be the other side of a union.
    fn is_dense(&self, ty: Ty, size: u64) -> bool {
        let types = &self.m.types;
        let few = (1..=MAX_LEAVES).contains(&types.leaves(ty));
        few && types.size(ty) == size && {
            let scalars = types.scalars(ty);
            scalars.iter().map(|(t, _)| types.size(*t)).sum::<u64>() == size
        }
    }
}
