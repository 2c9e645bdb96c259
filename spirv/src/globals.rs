//! Variables of the module that each work-item has its own of, as shaders have them.
//!
//! Needs a body without calls. Afterwards variables of the module in private memory are variables of the kernel, made where it begins, and what is
//! loaded of a component of a built-in variable is taken out of all of it.

use crate::body::{BInst, Body};
use crate::module::types::Ty;
use crate::module::{Def, Module};
use crate::read::Id;
use cranelift_entity::SecondaryMap;
use spirv::{Op, StorageClass};

/// Pointers to components: the variable, what it holds, the indices.
type Parts = SecondaryMap<Id, Option<(Id, Ty, Vec<u32>)>>;

/// Makes them so.
pub(crate) fn own(m: &Module<'_>, body: &mut Body) {
    let class = |id: Id| match m.def(id) {
        Def::Global(g) => m.globals.get(g).map(|g| (g.class, g.ty, g.init)),
        _ => None,
    };
    let mut seen: SecondaryMap<Id, bool> = SecondaryMap::new();
    let mut private = Vec::new();
    let mut parts = Parts::new();
    let any_private = m.globals.values().any(|g| g.class == StorageClass::Private);
    for data in body.blocks.values() {
        for inst in &data.insts {
            if any_private {
                body.for_each_use(inst, |id| {
                    if let Some((StorageClass::Private, ..)) = class(id)
                        && !std::mem::replace(&mut seen[id], true)
                    {
                        private.push(id);
                    }
                });
            }
            let words = body.operands(inst);
            let base = words.first().map(|w| Id::of(*w));
            if let (Op::AccessChain | Op::InBoundsAccessChain, Some(base), Some(id)) =
                (inst.op, base, inst.id.expand())
                && let Some((StorageClass::Input, ty, _)) = class(base)
            {
                let indices = words.get(1..).unwrap_or(&[]).to_vec();
                parts[id] = Some((base, ty, indices));
            }
        }
    }
    if parts.values().any(Option::is_some) {
        for b in body.blocks.keys().collect::<Vec<_>>() {
            let insts = std::mem::take(&mut body.blocks[b].insts);
            let mut out = Vec::with_capacity(insts.len());
            for inst in insts {
                take_part(m, body, &parts, inst, &mut out);
            }
            body.blocks[b].insts = out;
        }
    }
    let Some(entry) = body.entry.expand() else {
        return;
    };
    let mut made: Vec<BInst> = Vec::new();
    for id in private {
        let (Some((_, _, init)), Some(ty)) = (class(id), m.type_of(id)) else {
            continue;
        };
        let words: Vec<u32> = [StorageClass::Private as u32]
            .into_iter()
            .chain(init.map(|i| i.as_u32()))
            .collect();
        made.push(body.inst(Op::Variable, (0, 0), Some(ty), Some(id), &words));
    }
    body.blocks[entry].insts.splice(0..0, made);
}

fn take_part(m: &Module<'_>, body: &mut Body, parts: &Parts, inst: BInst, out: &mut Vec<BInst>) {
    // Who else takes such a pointer finds no value.
    if inst.id.expand().is_some_and(|id| {
        let part = parts[id].as_ref();
        part.is_some_and(|p| p.2.len() == 1)
    }) {
        return;
    }
    let words = body.operands(&inst).to_vec();
    let base = words.first().map(|w| Id::of(*w));
    let Some((var, ty, indices)) = base.and_then(|b| parts[b].clone()) else {
        out.push(inst);
        return;
    };
    let (Op::Load, Some(id), [index]) = (inst.op, inst.id.expand(), indices.as_slice()) else {
        out.push(inst);
        return;
    };
    let at = (inst.at, inst.line);
    let all = body.fresh(ty);
    out.push(body.inst(Op::Load, at, Some(ty), Some(all), &[var.as_u32()]));
    let (op, index) = match m.bits(Id::of(*index)) {
        Some(n) => (Op::CompositeExtract, u32::try_from(n).unwrap_or(u32::MAX)),
        None => (Op::VectorExtractDynamic, *index),
    };
    let words = [all.as_u32(), index];
    out.push(body.inst(op, at, inst.ty.expand(), Some(id), &words));
}
