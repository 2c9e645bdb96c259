//! Cloning of instructions with other operands.

use crate::ir::{Block, Function, Inst, InstData, Opcode, Type, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Clones of values and blocks; those without one stand for themselves.
#[derive(Default)]
pub(super) struct CloneMap {
    pub values: FxHashMap<Value, Value>,
    pub blocks: FxHashMap<Block, Block>,
}

impl CloneMap {
    /// Returns the map of a block's parameters to the arguments of the jump at the end of `from`.
    pub fn entering(func: &Function, block: Block, from: Block) -> CloneMap {
        let params = func.dfg.block_params(block).iter().copied();
        CloneMap {
            values: params.zip(jump_args(func, from)).collect(),
            ..CloneMap::default()
        }
    }

    /// Returns the clone of a value.
    pub fn value(&self, v: Value) -> Value {
        self.values.get(&v).copied().unwrap_or(v)
    }

    /// Follows clones of clones to the last one.
    pub fn followed(&self, mut v: Value) -> Value {
        while let Some(&next) = self.values.get(&v) {
            v = next;
        }
        v
    }

    /// Returns the clone of a block.
    pub fn block(&self, b: Block) -> Block {
        self.blocks.get(&b).copied().unwrap_or(b)
    }

    /// Makes clones of blocks with their parameters, and appends them to `order`.
    pub fn make_blocks(&mut self, func: &mut Function, blocks: &[Block], order: &mut Vec<Block>) {
        for &block in blocks {
            let copy = func.dfg.make_block();
            order.push(copy);
            for &p in &func.dfg.block_params(block).to_vec() {
                let ty = func.dfg.ty(p);
                let param = func.dfg.append_block_param(copy, ty);
                self.values.insert(p, param);
            }
            self.blocks.insert(block, copy);
        }
    }

    /// Fills the clones of blocks with clones of their instructions.
    pub fn fill_blocks(&mut self, func: &mut Function, blocks: &[Block]) {
        for &block in blocks {
            let copy = self.block(block);
            for inst in func.layout.insts(block).to_vec() {
                self.inst(func, inst, copy);
            }
        }
    }

    /// Appends a clone of an instruction to a block. Maps its results.
    pub fn inst(&mut self, func: &mut Function, inst: Inst, to: Block) {
        let mut data = *func.dfg.data(inst);
        data.own_pools(&mut func.dfg);
        data.map_args(&mut func.dfg, |v| self.value(v));
        let types: SmallVec<[Type; 3]> = func
            .dfg
            .results(inst)
            .iter()
            .map(|&v| func.dfg.ty(v))
            .collect();
        let copy = func.dfg.make_inst(data, &types);
        let loc = func.srclocs[inst];
        func.set_srcloc(copy, loc);
        let (dests, _) = func.dfg.destinations_mut(copy);
        for dest in dests {
            dest.block = self.block(dest.block);
        }
        for n in 0..types.len() {
            let (old, new) = (func.dfg.results(inst)[n], func.dfg.results(copy)[n]);
            self.values.insert(old, new);
        }
        func.layout.append_inst(to, copy);
    }
}

/// Returns the arguments of the jump that ends a block.
pub(super) fn jump_args(func: &Function, block: Block) -> SmallVec<[Value; 8]> {
    match func.layout.terminator(block).map(|i| func.dfg.data(i)) {
        Some(InstData::Jump { dest, .. }) => dest.args.as_slice(&func.dfg.pool).into(),
        _ => SmallVec::new(),
    }
}

/// Appends a jump to one destination of a cloned branch.
pub(super) fn branch(
    func: &mut Function,
    copied: &mut CloneMap,
    end: Inst,
    to: usize,
    from: Block,
) {
    let Some(mut dest) = func.dfg.destinations(end).get(to).copied() else {
        return;
    };
    dest.args = dest.args.deep_clone(&mut func.dfg.pool);
    dest.block = copied.block(dest.block);
    let opcode = Opcode::Jump;
    let jump = func.dfg.make_inst(InstData::Jump { opcode, dest }, &[]);
    func.dfg.map_args(jump, |v| copied.value(v));
    let loc = func.srclocs[end];
    func.set_srcloc(jump, loc);
    func.layout.append_inst(from, jump);
}
