//! Structures that a kernel takes by value (`ByVal`), as values and variables that hold them.
//!
//! Needs the body of a kernel without inlinable calls. The parameter becomes the structure itself,
//! which the payload holds in registers, and a private variable that begins with it takes the place
//! of the pointer. Later passes promote the variable as any other. Bytes between members have no
//! value, so a structure with such bytes stays in memory if anything but members of it is
//! accessed.

use crate::body::Body;
use crate::inline_policy::is_by_value;
use crate::module::Module;
use crate::module::types::{MAX_LEAVES, Ty, Type};
use crate::read::Id;
use spirv::{Op, StorageClass};
use std::collections::BTreeSet;

/// Replaces the parameters of a kernel.
pub(crate) fn run(m: &Module<'_>, body: &mut Body) {
    let Some(entry) = body.entry.expand() else {
        return;
    };
    let mut variables = Vec::new();
    for n in 0..body.params.len() {
        let Some(&(id, pointer)) = body.params.get(n) else {
            continue;
        };
        let of = match m.types.kind(pointer) {
            Type::Pointer(StorageClass::Function, _) if is_by_value(m, id) => m.pointee(pointer),
            _ => None,
        };
        let Some(ty) = of.filter(|t| is_value(m, *t)) else {
            continue;
        };
        if !is_dense(m, ty) && !has_only_members(body, id) {
            continue;
        }
        let value = body.fresh(ty);
        body.set_origin(value, id, Some(ty));
        if let Some(param) = body.params.get_mut(n) {
            *param = (value, ty);
        }
        let words = [StorageClass::Function as u32, value.as_u32()];
        variables.push(body.inst(Op::Variable, (0, 0), Some(pointer), Some(id), &words));
    }
    body.blocks[entry].insts.splice(0..0, variables);
}

/// Returns true if a structure or an array of a type may be a value.
fn is_value(m: &Module<'_>, ty: Ty) -> bool {
    let few = (1..=MAX_LEAVES).contains(&m.types.leaves(ty));
    let number = |t: Ty| matches!(m.types.kind(t), Type::Int(_) | Type::Float(_));
    matches!(m.types.kind(ty), Type::Struct(_) | Type::Array(..))
        && few
        && m.types.scalars(ty).iter().all(|(t, _)| number(*t))
}

/// Returns true if the scalars of a type cover its bytes.
fn is_dense(m: &Module<'_>, ty: Ty) -> bool {
    let scalars = m.types.scalars(ty);
    scalars.iter().map(|(t, _)| m.types.size(*t)).sum::<u64>() == m.types.size(ty)
}

/// Returns true if a pointer is only for loads and stores of what its type has.
fn has_only_members(body: &Body, pointer: Id) -> bool {
    let mut pointers = BTreeSet::from([pointer]);
    loop {
        let before = pointers.len();
        for data in body.blocks.values() {
            if data
                .phis
                .iter()
                .flat_map(|p| &p.args)
                .any(|a| pointers.contains(&a.1))
            {
                return false;
            }
            for inst in &data.insts {
                let mut fine = true;
                let mut chain = false;
                body.for_each_use_at(inst, |n, id| {
                    if pointers.contains(&id) {
                        chain = is_chain(inst.op);
                        fine &= n == 0 && (chain || matches!(inst.op, Op::Load | Op::Store));
                    }
                });
                if !fine {
                    return false;
                }
                pointers.extend(inst.id.expand().filter(|_| chain));
            }
        }
        if pointers.len() == before {
            return true;
        }
    }
}

fn is_chain(op: Op) -> bool {
    matches!(
        op,
        Op::AccessChain | Op::InBoundsAccessChain | Op::PtrAccessChain | Op::InBoundsPtrAccessChain
    )
}
