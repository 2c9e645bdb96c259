//! Conversion of large loads and stores to copies from memory to memory.
//!
//! Front ends make them of array assignments. Their values have more scalars than registers are
//! given. A store becomes a copy if nothing between the load and it writes memory or synchronizes.
//!
//! Needs a body. The work is linear.

use crate::body::{BInst, Body};
use crate::module::Module;
use crate::module::types::MAX_LEAVES;
use crate::read::Id;
use cranelift_entity::SecondaryMap;
use spirv::Op;
use std::collections::{BTreeMap, BTreeSet};

/// Returns true if an instruction neither writes memory nor synchronizes.
fn is_quiet(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        Load | AccessChain
            | InBoundsAccessChain
            | PtrAccessChain
            | InBoundsPtrAccessChain
            | ArrayLength
            | Bitcast
            | CompositeExtract
            | CompositeConstruct
            | IAdd
            | ISub
            | IMul
            | UConvert
            | SConvert
            | ShiftLeftLogical
            | BitwiseAnd
            | Select
            | ULessThan
    )
}

/// Converts the stores of large values that were just loaded.
pub(crate) fn run(m: &Module<'_>, body: &mut Body) {
    // Physical pointers may overlap partly.
    if !m.logical {
        return;
    }
    let large = |body: &Body, inst: &BInst| {
        let ty = inst.ty.expand()?;
        let plain = inst.op == Op::Load && m.types.leaves(ty) > MAX_LEAVES;
        match body.operands(inst) {
            &[from] if plain => Some((inst.id.expand()?, Id::of(from))),
            _ => None,
        }
    };
    let blocks: Vec<_> = body.blocks.keys().collect();
    let mut all: BTreeSet<Id> = BTreeSet::new();
    for &b in &blocks {
        let mut insts = std::mem::take(&mut body.blocks[b].insts);
        let mut loaded: BTreeMap<Id, Id> = BTreeMap::new();
        for inst in &mut insts {
            if let Some((id, from)) = large(body, inst) {
                loaded.insert(id, from);
                all.insert(id);
            }
            if is_quiet(inst.op) {
                continue;
            }
            if let (Op::Store, &[to, value]) = (inst.op, body.operands(inst))
                && let Some(from) = loaded.get(&Id::of(value))
            {
                let words = [to, from.as_u32()];
                *inst = body.inst(Op::CopyMemory, (inst.at, inst.line), None, None, &words);
            }
            loaded.clear();
        }
        body.blocks[b].insts = insts;
    }
    if all.is_empty() {
        return;
    }
    // Remove loads without remaining uses.
    let mut read: SecondaryMap<Id, bool> = SecondaryMap::new();
    body.for_each_read(|id| read[id] = true);
    let gone = |id: Id| all.contains(&id) && !read[id];
    for b in blocks {
        let insts = &mut body.blocks[b].insts;
        insts.retain(|i| i.op != Op::Load || !i.id.expand().is_some_and(gone));
    }
}
