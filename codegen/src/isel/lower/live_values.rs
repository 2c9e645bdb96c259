//! Values that the kernel's effects depend on. Stores, messages and branches are the roots. A value
//! that only feeds itself around a loop is not needed, however many uses it has.

use crate::entity_set::Marks;
use crate::ir::instructions::ValueList;
use crate::ir::{Block, Function, Inst, InstData, Opcode, Value, ValueDef};
use crate::sized;
use cranelift_entity::SecondaryMap;
use smallvec::SmallVec;

/// Returns the needed values of a function.
pub(super) fn needed(func: &Function) -> Marks<Value> {
    let dfg = &func.dfg;
    let mut out = Marks::sized(dfg.num_values());
    let mut work: Vec<Value> = Vec::new();
    // Arguments for each block's parameters, per edge.
    let mut edges: SecondaryMap<Block, SmallVec<[ValueList; 2]>> = sized(dfg.num_blocks());
    for &block in func.layout.blocks() {
        for &inst in func.layout.insts(block) {
            let data = dfg.data(inst);
            for call in dfg.destinations(inst) {
                edges[call.block].push(call.args);
            }
            match data {
                InstData::Jump { .. } => {}
                InstData::Brif { cond, .. } => work.push(*cond),
                InstData::Switch { arg, .. } => work.push(*arg),
                data if data.opcode().info().effect => data.for_each_arg(dfg, |v| work.push(v)),
                _ => {}
            }
        }
    }
    while let Some(v) = work.pop() {
        if !out.insert(v) {
            continue;
        }
        match dfg.def(v) {
            ValueDef::Param(block, n) => {
                let args = edges[block].iter();
                work.extend(args.filter_map(|args| args.get(usize::from(n), &dfg.pool)));
            }
            ValueDef::Result(inst, n) => operands(func, inst, n, |v| work.push(v)),
        }
    }
    out
}

/// Calls `f` for the operands that the n-th result of an instruction depends on.
fn operands(func: &Function, inst: Inst, n: u16, mut f: impl FnMut(Value)) {
    match func.dfg.data(inst) {
        // Only the new resume mask depends on the old one.
        InstData::Ternary {
            opcode: Opcode::Goto,
            args: [em, _, cond],
        } if n != 1 => {
            f(*em);
            f(*cond);
        }
        data => data.for_each_arg(&func.dfg, f),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::text::parse;

    #[test]
    fn a_value_that_feeds_itself_is_not_needed() {
        let text = "kernel %k(i64 ptr, i32) simd1 {\nblock0(v0: i64, v1: i32):\n    jump block1(v1, v1)\n\
                    block1(v2: i32, v3: i32):\n    v4 = iadd v2, v1\n    v5 = iadd v3, v1\n    v6 = icmp slt v5, v1\n    \
                    brif v6, block1(v4, v5), block2\nblock2:\n    bstore v5, v0\n    return\n}\n";
        let m = parse(text).unwrap().module;
        let f = m.functions.values().next().unwrap();
        let n = needed(f);
        let is = |i| n.contains(Value::from_u32(i));
        assert!(is(0) && is(1) && is(3) && is(5) && is(6));
        assert!(!is(2) && !is(4));
    }
}
