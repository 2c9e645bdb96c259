//! Promotion of private variables that hold one constant to constant data, as Mesa's
//! `nir_opt_large_constants`.
//!
//! Front ends make them of constant arrays with a dynamic index. The variable has an initializer,
//! or the same constant is stored before each use.
//!
//! Needs the body of a shader without calls, after promotion. Afterwards pointers into such data
//! are byte offsets, like those into buffers ([`crate::body::Body::constant_data`]). The work is
//! linear but for nested access chains.

use crate::body::{BInst, Body};
use crate::module::Module;
use crate::module::types::{Ty, Type};
use crate::read::Id;
use cranelift_entity::SecondaryMap;
use spirv::{Op, StorageClass};
use std::collections::BTreeMap;

/// Maximum bytes of a variable that is left alone, since registers may hold it
/// ([`crate::promote_arrays`]).
const MAX_HELD: u64 = 512;

/// Variable that may be constant.
struct Candidate {
    ty: Ty,
    /// Type of pointers to it.
    pointer: Ty,
    /// Constant that it holds, once known.
    holds: Option<Id>,
    bad: bool,
}

/// Promotes the variables of a body.
pub(crate) fn run(m: &Module<'_>, body: &mut Body) {
    if !m.logical {
        return;
    }
    let mut found = candidates(m, body);
    if found.is_empty() {
        return;
    }
    let roots = roots(body, &found);
    judge(m, body, &roots, &mut found);
    found.retain(|_, c| !c.bad && c.holds.is_some());
    if found.is_empty() {
        return;
    }
    let mut zeros: BTreeMap<Id, Id> = BTreeMap::new();
    for (var, c) in &found {
        let zero = body.constant(c.pointer, 0);
        zeros.insert(*var, zero);
        if let Some(constant) = c.holds {
            body.constant_data.insert(zero, (c.ty, constant));
        }
    }
    for b in body.blocks.keys().collect::<Vec<_>>() {
        let mut insts = std::mem::take(&mut body.blocks[b].insts);
        insts.retain(|inst| {
            let variable = inst.op == Op::Variable;
            let stored = inst.op == Op::Store;
            let id = if stored {
                body.operands(inst).first().map(|w| Id::of(*w))
            } else {
                inst.id.expand()
            };
            let of = id.is_some_and(|id| found.contains_key(&id));
            !(of && (variable || stored))
        });
        for inst in &insts {
            let mut places = Vec::new();
            body.for_each_use_at(inst, |n, id| places.extend(zeros.get(&id).map(|z| (n, *z))));
            for (n, zero) in places {
                body.set_operand(inst, n, zero);
            }
            if let Some(id) = inst.id.expand()
                && roots[id].is_some_and(|r| zeros.contains_key(&r))
            {
                body.constant_pointers.insert(id);
            }
        }
        body.blocks[b].insts = insts;
    }
    body.constant_pointers.extend(zeros.into_values());
}

/// Finds variables that are large enough and have only numbers and bools.
fn candidates(m: &Module<'_>, body: &Body) -> BTreeMap<Id, Candidate> {
    let mut out = BTreeMap::new();
    let insts = body.blocks.values().flat_map(|b| &b.insts);
    for inst in insts.filter(|i| i.op == Op::Variable) {
        let (Some(id), Some(pointer)) = (inst.id.expand(), inst.ty.expand()) else {
            continue;
        };
        let private = matches!(
            m.types.kind(pointer),
            Type::Pointer(StorageClass::Function | StorageClass::Private, _)
        );
        let Some(ty) = m.pointee(pointer).filter(|_| private) else {
            continue;
        };
        if m.types.size(ty) <= MAX_HELD || !is_plain(m, ty) {
            continue;
        }
        let holds = body.operands(inst).get(1).map(|w| Id::of(*w));
        let candidate = Candidate {
            ty,
            pointer,
            holds,
            bad: holds.is_some_and(|c| m.constant(c).is_none()),
        };
        out.insert(id, candidate);
    }
    out
}

/// Returns true if a type has only numbers and bools.
fn is_plain(m: &Module<'_>, ty: Ty) -> bool {
    match m.types.kind(ty) {
        Type::Bool | Type::Int(_) | Type::Float(_) => true,
        Type::Vector(of, _) | Type::Matrix(of, _) | Type::Array(of, _) => is_plain(m, *of),
        Type::Struct(members) => members.iter().all(|(t, _)| is_plain(m, *t)),
        _ => false,
    }
}

/// Finds the variable of each access chain.
fn roots(body: &Body, found: &BTreeMap<Id, Candidate>) -> SecondaryMap<Id, Option<Id>> {
    let mut out: SecondaryMap<Id, Option<Id>> = SecondaryMap::new();
    for id in found.keys() {
        out[*id] = Some(*id);
    }
    loop {
        let mut changed = false;
        for inst in body.blocks.values().flat_map(|b| &b.insts) {
            let base = body.operands(inst).first().map(|w| Id::of(*w));
            let root = base.and_then(|b| out[b]).filter(|_| is_chain(inst));
            if let (Some(id), Some(root)) = (inst.id.expand(), root)
                && out[id].is_none()
            {
                out[id] = Some(root);
                changed = true;
            }
        }
        if !changed {
            return out;
        }
    }
}

fn is_chain(inst: &BInst) -> bool {
    matches!(inst.op, Op::AccessChain | Op::InBoundsAccessChain)
}

/// Marks variables with another store, or uses other than loads.
fn judge(
    m: &Module<'_>,
    body: &Body,
    roots: &SecondaryMap<Id, Option<Id>>,
    found: &mut BTreeMap<Id, Candidate>,
) {
    let mut spoil = |id: Id| {
        if let Some(c) = roots[id].and_then(|r| found.get_mut(&r)) {
            c.bad = true;
        }
    };
    for data in body.blocks.values() {
        let phis = data.phis.iter().flat_map(|p| &p.args);
        phis.for_each(|(_, id)| spoil(*id));
        data.term.condition().into_iter().for_each(&mut spoil);
    }
    body.result.iter().for_each(|r| spoil(r.0));
    for inst in body.blocks.values().flat_map(|b| &b.insts) {
        let words = body.operands(inst);
        let word = |n: usize| words.get(n).copied().unwrap_or(0);
        let volatile = |n: usize| word(n) & 1 != 0;
        let whole = found.contains_key(&Id::of(word(0)));
        // Operand that may be a pointer to constant data.
        let fine = match inst.op {
            Op::AccessChain | Op::InBoundsAccessChain => Some(0),
            Op::Load if !volatile(1) => Some(0),
            Op::CopyMemory if !volatile(2) => Some(1),
            Op::Store if whole && !volatile(2) => {
                let value = Id::of(word(1));
                if let Some(c) = found.get_mut(&Id::of(word(0))) {
                    c.bad |= m.constant(value).is_none() || c.holds.is_some_and(|h| h != value);
                    c.holds = Some(value);
                }
                Some(0)
            }
            _ => None,
        };
        body.for_each_use_at(inst, |n, id| {
            if let Some(c) = roots[id].and_then(|r| found.get_mut(&r))
                && fine != Some(n)
            {
                c.bad = true;
            }
        });
    }
}
