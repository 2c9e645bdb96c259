//! Variables to SSA: block parameters are made where a variable is read in a block with several predecessors, or with
//! predecessors still to come, and those that turn out not to merge anything are removed at the end (after Braun et al.,
//! "Simple and Efficient Construction of Static Single Assignment Form").

use super::{Aliases, Variable};
use crate::ir::{Block, Function, Inst, InstData, Opcode, Type, Value};
use cranelift_entity::{PrimaryMap, SecondaryMap};
use std::collections::{BTreeMap, VecDeque};

/// A branch to a block: from where, by which instruction, which of its destinations.
#[derive(Clone, Copy, Debug)]
struct Pred {
    block: Block,
    inst: Inst,
    dest: usize,
}

#[derive(Clone, Debug, Default)]
struct BlockState {
    sealed: bool,
    /// Whether it is in the layout.
    placed: bool,
    preds: Vec<Pred>,
    defs: BTreeMap<Variable, Value>,
    /// Parameters made here, in order; they follow the block's explicit ones.
    params: Vec<(Variable, Value)>,
}

/// The variables of a function and their values by block.
#[derive(Debug, Default)]
pub(super) struct Ssa {
    vars: PrimaryMap<Variable, Type>,
    blocks: SecondaryMap<Block, BlockState>,
    /// Parameters of sealed blocks whose arguments are to be added to the branches. First in, first out, so that
    /// arguments come in the order of parameters.
    pending: VecDeque<(Block, Variable)>,
}

impl Ssa {
    pub(super) fn declare(&mut self, ty: Type) -> Variable {
        self.vars.push(ty)
    }

    pub(super) fn ty(&self, var: Variable) -> Type {
        self.vars[var]
    }

    pub(super) fn is_sealed(&self, block: Block) -> bool {
        self.blocks[block].sealed
    }

    /// Whether the block is in the layout already; from now on it is.
    pub(super) fn place(&mut self, block: Block) -> bool {
        std::mem::replace(&mut self.blocks[block].placed, true)
    }

    pub(super) fn has_params(&self, block: Block) -> bool {
        !self.blocks[block].params.is_empty()
    }

    pub(super) fn add_pred(&mut self, to: Block, block: Block, inst: Inst, dest: usize) {
        self.blocks[to].preds.push(Pred { block, inst, dest });
    }

    pub(super) fn define(&mut self, block: Block, var: Variable, value: Value) {
        self.blocks[block].defs.insert(var, value);
    }

    pub(super) fn seal(&mut self, func: &mut Function, block: Block) {
        let state = &mut self.blocks[block];
        if state.sealed {
            return;
        }
        state.sealed = true;
        let waiting: Vec<_> = state.params.iter().map(|&(var, _)| (block, var)).collect();
        self.pending.extend(waiting);
        self.settle(func);
    }

    pub(super) fn value(&mut self, func: &mut Function, block: Block, var: Variable) -> Value {
        let v = self.find(func, block, var);
        self.settle(func);
        v
    }

    /// Adds the arguments of new parameters.
    fn settle(&mut self, func: &mut Function) {
        while let Some((block, var)) = self.pending.pop_front() {
            for n in 0..self.blocks[block].preds.len() {
                let Pred {
                    block: from,
                    inst,
                    dest,
                } = self.blocks[block].preds[n];
                let v = self.find(func, from, var);
                let mut data = *func.dfg.data(inst);
                if let Some(d) = data.destinations_mut().get_mut(dest) {
                    d.args.push(v, &mut func.dfg.pool);
                }
                *func.dfg.data_mut(inst) = data;
            }
        }
    }

    /// The value at a block's end, as far as it is known: goes up single predecessors, and makes a parameter where
    /// there are several.
    fn find(&mut self, func: &mut Function, block: Block, var: Variable) -> Value {
        let mut path = Vec::new();
        let mut at = block;
        let value = loop {
            if let Some(&v) = self.blocks[at].defs.get(&var) {
                break v;
            }
            let state = &self.blocks[at];
            match state.preds.as_slice() {
                // Nothing comes here: the entry, or dead code.
                [] if state.sealed => break undef(func, at, self.vars[var]),
                // A chain of single predecessors longer than the function is a loop of dead code.
                [one] if state.sealed && path.len() < func.dfg.num_blocks() => {
                    path.push(at);
                    at = one.block;
                }
                _ => {
                    let v = func.dfg.append_block_param(at, self.vars[var]);
                    self.blocks[at].params.push((var, v));
                    if self.blocks[at].sealed {
                        self.pending.push_back((at, var));
                    }
                    break v;
                }
            }
        };
        self.blocks[at].defs.insert(var, value);
        for b in path {
            self.blocks[b].defs.insert(var, value);
        }
        value
    }

    /// Removes the parameters made here that every branch gives the same value or themselves.
    pub(super) fn simplify(&mut self, func: &mut Function) {
        let mut alias = Aliases::new();
        loop {
            let mut changed = false;
            for block in (0..func.dfg.num_blocks()).map(|n| Block::from_u32(n as u32)) {
                changed |= self.simplify_block(func, block, &mut alias);
            }
            if !changed {
                break;
            }
        }
        for block in func.layout.blocks().to_vec() {
            for inst in func.layout.insts(block).to_vec() {
                func.dfg.map_args(inst, |v| resolve(&alias, v));
            }
        }
    }

    fn simplify_block(&mut self, func: &mut Function, block: Block, alias: &mut Aliases) -> bool {
        let mut changed = false;
        let params = std::mem::take(&mut self.blocks[block].params);
        let preds = &self.blocks[block].preds;
        let mut kept = Vec::with_capacity(params.len());
        for (var, param) in params {
            let Some(n) = func
                .dfg
                .block_params(block)
                .iter()
                .position(|&p| p == param)
            else {
                continue;
            };
            let mut same = None;
            let mut merges = false;
            for p in preds {
                let arg = func.dfg.data(p.inst).destinations()[p.dest]
                    .args
                    .get(n, &func.dfg.pool)
                    .map(|v| resolve(alias, v));
                match arg {
                    Some(v) if v == param || same == Some(v) => {}
                    Some(v) if same.is_none() => same = Some(v),
                    _ => merges = true,
                }
            }
            if merges {
                kept.push((var, param));
                continue;
            }
            let by = same.unwrap_or_else(|| undef(func, block, self.vars[var]));
            for p in preds {
                let mut data = *func.dfg.data(p.inst);
                if let Some(d) = data.destinations_mut().get_mut(p.dest)
                    && n < d.args.len(&func.dfg.pool)
                {
                    d.args.remove(n, &mut func.dfg.pool);
                }
                *func.dfg.data_mut(p.inst) = data;
            }
            func.dfg.remove_block_param(block, n);
            alias[param] = by.into();
            changed = true;
        }
        self.blocks[block].params = kept;
        changed
    }
}

fn resolve(alias: &Aliases, mut v: Value) -> Value {
    while let Some(next) = alias[v].expand() {
        v = next;
    }
    v
}

fn undef(func: &mut Function, block: Block, ty: Type) -> Value {
    let inst = func.dfg.make_inst(
        InstData::Nullary {
            opcode: Opcode::Undef,
        },
        &[],
    );
    func.layout.insts_mut(block).insert(0, inst);
    func.dfg.append_result(inst, ty)
}
