//! Canonicalization of loads of built-in variables: a load of the whole variable, and extracts.
//!
//! Pointers to built-ins come from variables by constant indices, casts, selects and phis, in any
//! storage class. Built-ins do not change, so a load through a select is a select of loads, and one
//! through a phi is a phi of loads.
//!
//! Needs a body. Afterwards built-ins are only loaded as a whole, through their variables, and not
//! at all in functions that have them as parameters. The work is linear but for phis, of which each
//! is loaded once for each type and offset.

use crate::body::{BInst, Block, Body, Phi};
use crate::module::types::{Ty, Type};
use crate::module::{Def, Module, addresses};
use crate::read::Id;
use cranelift_entity::SecondaryMap;
use spirv::{Op, StorageClass};
use std::collections::BTreeMap;

/// Maximum depth of selects and casts.
const MAX_DEPTH: u32 = 32;

/// Pointer to a built-in variable.
#[derive(Clone, Debug)]
enum BuiltinPointer {
    /// Variable, its type, byte offset.
    Into(Id, Ty, u64),
    /// Variable, its type, dynamic component index.
    Component(Id, Ty, Id),
    /// Byte offset from another pointer.
    Behind(Id, u64),
    /// Condition and two pointers.
    Choice(Id, Id, Id),
    /// Phi of a block by index.
    Phi(Block, usize),
}

/// Type of a built-in variable.
fn variable(m: &Module<'_>, id: Id) -> Option<Ty> {
    let Def::Global(g) = m.def(id) else {
        return None;
    };
    let data = m.globals.get(g)?;
    (data.class == StorageClass::Input).then_some(data.ty)
}

/// Canonicalizes the loads of a body.
pub(crate) fn run(m: &Module<'_>, body: &mut Body) {
    if !m.globals.values().any(|g| g.class == StorageClass::Input) {
        return;
    }
    let found = find(m, body);
    if found.values().any(Option::is_some) {
        replace(m, body, &found);
    }
    if !body.builtin_params.is_empty() {
        take(body);
    }
}

/// Replaces loads through other pointers by loads of whole variables.
fn replace(m: &Module<'_>, body: &mut Body, found: &SecondaryMap<Id, Option<BuiltinPointer>>) {
    let mut l = Loads {
        m,
        body,
        found,
        made: BTreeMap::new(),
        ends: BTreeMap::new(),
    };
    for b in l.body.blocks.keys().collect::<Vec<_>>() {
        let insts = std::mem::take(&mut l.body.blocks[b].insts);
        let mut out = Vec::with_capacity(insts.len());
        for inst in insts {
            l.inst(inst, &mut out);
        }
        l.body.blocks[b].insts = out;
    }
    for (b, insts) in std::mem::take(&mut l.ends) {
        body.blocks[b].insts.extend(insts);
    }
    for b in body.blocks.keys().collect::<Vec<_>>() {
        body.blocks[b].phis.retain(|p| found[p.id].is_none());
    }
}

/// Replaces loads by the parameters that hold built-ins.
fn take(body: &mut Body) {
    for b in body.blocks.keys().collect::<Vec<_>>() {
        let mut insts = std::mem::take(&mut body.blocks[b].insts);
        for inst in insts.iter_mut().filter(|i| i.op == Op::Load) {
            let var = body.operands(inst).first().map(|w| Id::of(*w));
            if let Some(id) = var.and_then(|v| body.builtin_params.get(&v)) {
                let words = [id.as_u32()];
                let (place, ty, id) = ((inst.at, inst.line), inst.ty.expand(), inst.id.expand());
                *inst = body.inst(Op::CopyObject, place, ty, id, &words);
            }
        }
        body.blocks[b].insts = insts;
    }
}

/// Finds pointers to built-in variables.
fn find(m: &Module<'_>, body: &Body) -> SecondaryMap<Id, Option<BuiltinPointer>> {
    let mut out: SecondaryMap<Id, Option<BuiltinPointer>> = SecondaryMap::new();
    loop {
        let mut changed = false;
        let mut set =
            |out: &mut SecondaryMap<Id, Option<BuiltinPointer>>, id: Id, p: BuiltinPointer| {
                changed |= out[id].is_none();
                out[id] = Some(p);
            };
        for (b, data) in body.blocks.iter() {
            for (n, phi) in data.phis.iter().enumerate() {
                let is = |id: Id| of(m, &out, id).is_some();
                if out[phi.id].is_none() && phi.args.iter().any(|a| is(a.1)) {
                    set(&mut out, phi.id, BuiltinPointer::Phi(b, n));
                }
            }
            for inst in &data.insts {
                let Some(id) = inst.id.expand().filter(|id| out[*id].is_none()) else {
                    continue;
                };
                if let Some(p) = made(m, body, &out, inst) {
                    set(&mut out, id, p);
                }
            }
        }
        if !changed {
            return out;
        }
    }
}

/// Describes a pointer, which may also be a variable or a constant.
fn of(
    m: &Module<'_>,
    found: &SecondaryMap<Id, Option<BuiltinPointer>>,
    id: Id,
) -> Option<BuiltinPointer> {
    if let Some(p) = &found[id] {
        return Some(p.clone());
    }
    if let Some(ty) = variable(m, id) {
        return Some(BuiltinPointer::Into(id, ty, 0));
    }
    let (base, at) = addresses::of(m, id)?;
    Some(BuiltinPointer::Into(base, variable(m, base)?, at))
}

/// Describes the pointer that an instruction makes.
fn made(
    m: &Module<'_>,
    body: &Body,
    found: &SecondaryMap<Id, Option<BuiltinPointer>>,
    inst: &BInst,
) -> Option<BuiltinPointer> {
    let words = body.operands(inst);
    let operand = |n: usize| words.get(n).map(|w| Id::of(*w));
    let first = operand(0)?;
    match inst.op {
        Op::CopyObject | Op::Bitcast | Op::PtrCastToGeneric | Op::GenericCastToPtr => {
            of(m, found, first).map(|_| BuiltinPointer::Behind(first, 0))
        }
        Op::Select => {
            let (a, b) = (operand(1)?, operand(2)?);
            let both = [a, b].map(|p| of(m, found, p).is_some());
            both.contains(&true)
                .then_some(BuiltinPointer::Choice(first, a, b))
        }
        Op::AccessChain
        | Op::InBoundsAccessChain
        | Op::PtrAccessChain
        | Op::InBoundsPtrAccessChain => {
            let base = of(m, found, first)?;
            let element = matches!(inst.op, Op::PtrAccessChain | Op::InBoundsPtrAccessChain);
            let (by, indices) = if element {
                (operand(1), words.get(2..)?)
            } else {
                (None, words.get(1..)?)
            };
            let to = body.type_of(m, first).and_then(|t| m.pointee(t))?;
            if let ([index], BuiltinPointer::Into(var, ty, 0)) = (indices, &base)
                && by.is_none_or(|id| m.bits(id) == Some(0))
                && m.bits(Id::of(*index)).is_none()
                && to == *ty
            {
                return Some(BuiltinPointer::Component(*var, *ty, Id::of(*index)));
            }
            let indices: Vec<Id> = indices.iter().map(|w| Id::of(*w)).collect();
            let at = addresses::behind(m, to, by, &indices).ok()?;
            Some(BuiltinPointer::Behind(first, at))
        }
        _ => None,
    }
}

struct Loads<'a, 'm, 'b> {
    m: &'a Module<'m>,
    body: &'b mut Body,
    found: &'a SecondaryMap<Id, Option<BuiltinPointer>>,
    /// Phis of loaded values, by pointer phi, type and byte offset.
    made: BTreeMap<(Id, Ty, u64), Id>,
    /// Loads at the ends of blocks, for phis.
    ends: BTreeMap<Block, Vec<BInst>>,
}

impl Loads<'_, '_, '_> {
    fn inst(&mut self, inst: BInst, out: &mut Vec<BInst>) {
        if inst.id.expand().is_some_and(|id| self.found[id].is_some()) {
            // Other uses of such a pointer find no value.
            return;
        }
        let pointer = self.body.operands(&inst).first().map(|w| Id::of(*w));
        let known = pointer.and_then(|p| of(self.m, self.found, p));
        let (Op::Load, Some(p), Some(pointer)) = (inst.op, known, pointer) else {
            out.push(inst);
            return;
        };
        let (Some(id), Some(ty)) = (inst.id.expand(), inst.ty.expand()) else {
            out.push(inst);
            return;
        };
        if let BuiltinPointer::Into(var, of, 0) = p
            && of == ty
        {
            if pointer != var {
                self.body.set_operand(&inst, 0, var);
            }
            out.push(inst);
            return;
        }
        let place = (inst.at, inst.line);
        match self.value(pointer, ty, 0, place, out, 0) {
            Some(value) => {
                let words = [value.as_u32()];
                let copy = self
                    .body
                    .inst(Op::CopyObject, place, Some(ty), Some(id), &words);
                out.push(copy);
            }
            // Emission reports the load.
            None => out.push(inst),
        }
    }

    fn make(
        &mut self,
        op: Op,
        ty: Ty,
        words: &[u32],
        place: (u32, u32),
        out: &mut Vec<BInst>,
    ) -> Id {
        let id = self.body.fresh(ty);
        out.push(self.body.inst(op, place, Some(ty), Some(id), words));
        id
    }

    /// Loads a value of type `ty` at a byte offset from a pointer.
    fn value(
        &mut self,
        pointer: Id,
        ty: Ty,
        more: u64,
        place: (u32, u32),
        out: &mut Vec<BInst>,
        depth: u32,
    ) -> Option<Id> {
        if depth > MAX_DEPTH {
            return None;
        }
        match of(self.m, self.found, pointer)? {
            BuiltinPointer::Behind(base, at) => {
                self.value(base, ty, more.wrapping_add(at), place, out, depth + 1)
            }
            BuiltinPointer::Into(var, of, at) => {
                let all = self.make(Op::Load, of, &[var.as_u32()], place, out);
                if of == ty && at.wrapping_add(more) == 0 {
                    Some(all)
                } else {
                    self.part((all, of), ty, at.wrapping_add(more), place, out)
                }
            }
            BuiltinPointer::Component(var, of, index) => {
                let (component, _) = self.m.types.offset(of, 0)?;
                let all = self.make(Op::Load, of, &[var.as_u32()], place, out);
                let words = [all.as_u32(), index.as_u32()];
                let one = self.make(Op::VectorExtractDynamic, component, &words, place, out);
                if component == ty && more == 0 {
                    Some(one)
                } else {
                    self.part((one, component), ty, more, place, out)
                }
            }
            BuiltinPointer::Choice(condition, a, b) => {
                let a = self.value(a, ty, more, place, out, depth + 1)?;
                let b = self.value(b, ty, more, place, out, depth + 1)?;
                let words = [condition, a, b].map(|id| id.as_u32());
                Some(self.make(Op::Select, ty, &words, place, out))
            }
            BuiltinPointer::Phi(block, n) => {
                if let Some(there) = self.made.get(&(pointer, ty, more)) {
                    return Some(*there);
                }
                let phi = self.body.blocks[block].phis.get(n)?.clone();
                let id = self.body.fresh(ty);
                self.made.insert((pointer, ty, more), id);
                let mut args = Vec::with_capacity(phi.args.len());
                for (from, arg) in phi.args {
                    let mut end = Vec::new();
                    let value = self.value(arg, ty, more, place, &mut end, depth + 1)?;
                    self.ends.entry(from).or_default().extend(end);
                    args.push((from, value));
                }
                let at = phi.at;
                self.body.blocks[block].phis.push(Phi { id, ty, at, args });
                Some(id)
            }
        }
    }

    /// Extracts a value of type `ty` at a byte offset from a value whose scalars have one size.
    fn part(
        &mut self,
        (whole, of): (Id, Ty),
        ty: Ty,
        at: u64,
        place: (u32, u32),
        out: &mut Vec<BInst>,
    ) -> Option<Id> {
        if let Type::Vector(component, count) = *self.m.types.kind(ty) {
            let size = self.m.types.size(component);
            let mut words = Vec::new();
            for n in 0..u64::from(count) {
                let behind = at + n * size;
                let one = if behind < self.m.types.extent(of) {
                    self.part((whole, of), component, behind, place, out)?
                } else {
                    // 4-vector load of a 3-vector.
                    self.body.constant(component, 0)
                };
                words.push(one.as_u32());
            }
            return Some(self.make(Op::CompositeConstruct, ty, &words, place, out));
        }
        let Type::Int(bits) = *self.m.types.kind(ty) else {
            return None;
        };
        let scalars = self.m.types.scalars(of);
        let n = scalars.iter().rposition(|(_, first)| *first <= at)?;
        let (scalar, first) = *scalars.get(n)?;
        let within = at - first;
        let Type::Int(width) = *self.m.types.kind(scalar) else {
            return None;
        };
        if within * 8 + u64::from(bits) > u64::from(width) {
            return None;
        }
        let mut one = whole;
        if self.m.types.count(of).is_some() {
            let words = [whole.as_u32(), n as u32];
            one = self.make(Op::CompositeExtract, scalar, &words, place, out);
        }
        if within != 0 {
            let by = self.body.constant(scalar, within * 8);
            let words = [one.as_u32(), by.as_u32()];
            one = self.make(Op::ShiftRightLogical, scalar, &words, place, out);
        }
        if scalar == ty {
            return Some(one);
        }
        let op = if width == bits {
            Op::CopyObject
        } else {
            Op::UConvert
        };
        Some(self.make(op, ty, &[one.as_u32()], place, out))
    }
}
