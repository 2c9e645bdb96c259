//! Normalization of a shorter form of if-else.
//!
//! In that form, the mask of the else side is the waiting channels, by a `join` of the empty mask
//! with them. The channels of the then side resume by a `join` with their own mask. Here a `goto`
//! is inserted by which they leave, as on the mask stack.

use super::webs::{is_empty, split};
use crate::ir::cfg::ControlFlow;
use crate::ir::{Block, Function, Inst, InstData, Opcode, Scalar, Type, Value};
use crate::sized;
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;

/// Returns a function where channels leave at the end of every then side. `None` if this already is
/// one.
pub(crate) fn normal(func: &Function) -> Option<Function> {
    let dfg = &func.dfg;
    let insts = || {
        let blocks = func.layout.blocks().iter();
        blocks.flat_map(|&b| func.layout.insts(b).iter().map(move |&i| (b, i)))
    };
    // Joins of the empty mask with channels that left at a `goto`, and the mask that stayed there.
    let mut found: Vec<(Block, Inst, Value)> = Vec::new();
    for (block, inst) in insts() {
        if let Some(s) = split(func, inst)
            && s.new_rm.is_none()
            && is_empty(func, s.em)
            && let Some(goto) = dfg.def_inst(s.rm)
            && let Some(g) = split(func, goto)
            && g.new_rm == Some(s.rm)
            && is_empty(func, g.rm)
        {
            found.push((block, inst, g.new_em));
        }
    }
    if found.is_empty() {
        return None;
    }
    // Joins that resume the channels of each mask.
    let mut back: SecondaryMap<Value, PackedOption<Inst>> = sized(func.dfg.num_values());
    let mut place: SecondaryMap<Inst, PackedOption<Block>> = sized(func.dfg.num_insts());
    for (block, inst) in insts() {
        if let Some(s) = split(func, inst)
            && s.new_rm.is_none()
        {
            back[s.rm] = inst.into();
            place[inst] = block.into();
        }
    }
    let tree = ControlFlow::new(func).dominator_tree();
    let mut out = func.clone();
    for (block, join, stayed) in found {
        let Some(end) = back[stayed].expand() else {
            continue;
        };
        let after = place[end].expand();
        let dominates = |to: Block| to != block && tree.dominates(block, to);
        if !after.is_some_and(dominates) {
            continue;
        }
        let InstData::Binary { opcode, args } = *func.dfg.data(join) else {
            continue;
        };
        let ty = func.dfg.ty(stayed);
        let all = InstData::Imm {
            opcode: Opcode::Bconst,
            bits: u64::MAX >> (64 - ty.lanes().clamp(1, 64)),
        };
        let all = insert_before(&mut out, block, join, all, &[ty]);
        let all = out.dfg.first_result(all);
        let args_of = |all: Value| InstData::Ternary {
            opcode: Opcode::Goto,
            args: [stayed, args[0], all],
        };
        let results = [ty, ty, Type::scalar_of(Scalar::B1)];
        let Some(all) = all else { continue };
        let goto = insert_before(&mut out, block, join, args_of(all), &results);
        let (em, rm) = match out.dfg.results(goto) {
            &[em, rm, _] => (em, rm),
            _ => continue,
        };
        *out.dfg.data_mut(join) = InstData::Binary {
            opcode,
            args: [em, args[1]],
        };
        if let InstData::Binary { args, .. } = out.dfg.data_mut(end) {
            args[1] = rm;
        }
    }
    Some(out)
}

fn insert_before(
    func: &mut Function,
    block: Block,
    at: Inst,
    data: InstData,
    results: &[Type],
) -> Inst {
    let inst = func.dfg.make_inst(data, results);
    func.set_srcloc(inst, func.srclocs[at]);
    let insts = func.layout.insts_mut(block);
    let n = insts.iter().position(|i| *i == at).unwrap_or(0);
    insts.insert(n, inst);
    inst
}
