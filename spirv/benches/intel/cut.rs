//! Modules of one kernel.

use rspirv::binary::Assemble;
use rspirv::dr::{Instruction, Operand, load_words};
use spirv::Op;
use std::collections::BTreeSet;

/// Reduces a module to one kernel and its callees. Modules that `rspirv` cannot read stay whole.
pub fn one_kernel(words: &[u32], kernel: &str) -> Vec<u32> {
    let Ok(mut module) = load_words(words) else {
        return words.to_vec();
    };
    let is = |e: &Instruction| matches!(e.operands.get(2), Some(Operand::LiteralString(name)) if name == kernel);
    let entry = |e: &Instruction| match e.operands.get(1) {
        Some(Operand::IdRef(f)) => Some(*f),
        _ => None,
    };
    let Some(root) = module.entry_points.iter().find(|e| is(e)).and_then(entry) else {
        return words.to_vec();
    };
    let others: BTreeSet<u32> = module.entry_points.iter().filter_map(entry).collect();
    module.entry_points.retain(is);
    let mut wanted = BTreeSet::from([root]);
    let mut todo = vec![root];
    while let Some(f) = todo.pop() {
        let function = module.functions.iter().find(|g| g.def_id() == Some(f));
        let calls = function.iter().flat_map(|f| f.all_inst_iter());
        for i in calls.filter(|i| i.class.opcode == Op::FunctionCall) {
            if let Some(Operand::IdRef(callee)) = i.operands.first()
                && wanted.insert(*callee)
            {
                todo.push(*callee);
            }
        }
    }
    module
        .functions
        .retain(|f| f.def_id().is_some_and(|id| wanted.contains(&id)));
    let of_other = |i: &Instruction| match i.operands.first() {
        Some(Operand::IdRef(id)) => others.contains(id) && *id != root,
        _ => false,
    };
    module.execution_modes.retain(|i| !of_other(i));
    let there: BTreeSet<u32> = module.all_inst_iter().filter_map(|i| i.result_id).collect();
    let labels = module.functions.iter().flat_map(|f| &f.blocks);
    let labels = labels.filter_map(|b| b.label.as_ref()?.result_id);
    let there: BTreeSet<u32> = there.into_iter().chain(labels).collect();
    let kept = |i: &Instruction| match i.operands.first() {
        Some(Operand::IdRef(id)) => there.contains(id),
        _ => true,
    };
    module.debug_names.retain(kept);
    module.annotations.retain(kept);
    module.assemble()
}
