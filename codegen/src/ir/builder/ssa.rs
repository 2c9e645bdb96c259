//! Conversion of variables to SSA.
//!
//! A block parameter is made where a variable is read in a block with several predecessors, or with
//! predecessors still unknown. Parameters that merge nothing are removed at the end. (After Braun
//! et al., "Simple and Efficient Construction of Static Single Assignment Form".)

use super::{Aliases, Variable};
use crate::ir::{Block, Function, Inst, InstData, Opcode, Type, Value, ValueDef};
use crate::sized;
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{PrimaryMap, SecondaryMap};
use smallvec::SmallVec;
use std::collections::{BTreeMap, VecDeque};

/// Incoming edge of a block: predecessor, terminator and index of the destination.
#[derive(Clone, Copy, Debug)]
struct Pred {
    block: Block,
    inst: Inst,
    dest: u32,
}

#[derive(Clone, Debug, Default)]
struct BlockState {
    sealed: bool,
    /// True if the block is in the layout.
    placed: bool,
    preds: SmallVec<[Pred; 2]>,
    defs: Defs,
    /// Parameters made here, in order. They follow the explicit parameters of the block.
    params: SmallVec<[(Variable, Value); 2]>,
    /// Block that every path to this one goes through, and the clock interval in which the code
    /// between them was built.
    skip: Option<(Block, u32, u32)>,
}

/// Values of variables at the end of a block. Most blocks have few.
#[derive(Clone, Debug, Default)]
struct Defs {
    few: SmallVec<[(Variable, Value); 2]>,
    /// All definitions, if there are many.
    many: Option<BTreeMap<Variable, Value>>,
}

impl Defs {
    /// Maximum number of entries for linear search.
    const FEW: usize = 8;

    fn get(&self, var: Variable) -> Option<Value> {
        match &self.many {
            Some(all) => all.get(&var).copied(),
            None => self.few.iter().find(|d| d.0 == var).map(|d| d.1),
        }
    }

    fn insert(&mut self, var: Variable, value: Value) {
        if let Some(all) = &mut self.many {
            all.insert(var, value);
        } else if let Some(d) = self.few.iter_mut().find(|d| d.0 == var) {
            d.1 = value;
        } else if self.few.len() < Defs::FEW {
            self.few.push((var, value));
        } else {
            let all = self.few.drain(..).chain([(var, value)]);
            self.many = Some(all.collect());
        }
    }
}

/// Undefined values of variables that no path assigns.
#[derive(Debug, Default)]
struct Undefs {
    by_var: SecondaryMap<Variable, PackedOption<Value>>,
    /// Instructions to insert at the start of the entry block.
    front: Vec<Inst>,
}

impl Undefs {
    fn of(&mut self, func: &mut Function, var: Variable, ty: Type) -> Value {
        if let Some(v) = self.by_var[var].expand() {
            return v;
        }
        let opcode = Opcode::Undef;
        let inst = func.dfg.make_inst(InstData::Nullary { opcode }, &[]);
        self.front.push(inst);
        let v = func.dfg.append_result(inst, ty);
        self.by_var[var] = v.into();
        v
    }
}

/// Read of a variable, with its block and the value that it returned.
#[derive(Clone, Copy, Debug)]
pub(super) struct VariableRead {
    pub(super) var: Variable,
    pub(super) block: Block,
    value: Value,
}

/// Variables of a function and their values by block.
#[derive(Debug, Default)]
pub(super) struct Ssa {
    vars: PrimaryMap<Variable, Type>,
    blocks: SecondaryMap<Block, BlockState>,
    /// Parameters of sealed blocks whose arguments are to be added to the branches. First in, first
    /// out, so that arguments come in the order of parameters.
    pending: VecDeque<(Block, Variable)>,
    /// Clock of assignments, and the times at which each variable was assigned.
    clock: u32,
    assigned: SecondaryMap<Variable, Vec<u32>>,
    undefs: Undefs,
    /// Reads that may turn out to be of unassigned variables.
    reads: Vec<VariableRead>,
}

impl Ssa {
    pub(super) fn declare(&mut self, ty: Type) -> Variable {
        self.vars.push(ty)
    }

    pub(super) fn has(&self, var: Variable) -> bool {
        self.vars.is_valid(var)
    }

    pub(super) fn ty(&self, var: Variable) -> Type {
        self.vars[var]
    }

    /// Inserts an instruction at the start of the entry block when building ends.
    pub(super) fn prepend_to_entry(&mut self, inst: Inst) {
        self.undefs.front.push(inst);
    }

    /// Returns the clock: the number of assignments so far.
    pub(super) fn clock(&self) -> u32 {
        self.clock
    }

    /// Records that every path to a block goes through another one. All code between them was built
    /// from `start` until now.
    pub(super) fn skip(&mut self, block: Block, from: Block, start: u32) {
        self.blocks[block].skip = Some((from, start, self.clock));
    }

    /// Returns true if a variable was assigned from `start` on, before `end`.
    fn assigned_within(&self, var: Variable, start: u32, end: u32) -> bool {
        let times = &self.assigned[var];
        let first = times.partition_point(|t| *t < start);
        times.get(first).is_some_and(|t| *t < end)
    }

    pub(super) fn is_placed(&self, block: Block) -> bool {
        self.blocks[block].placed
    }

    pub(super) fn has_preds(&self, block: Block) -> bool {
        !self.blocks[block].preds.is_empty()
    }

    pub(super) fn is_sealed(&self, block: Block) -> bool {
        self.blocks[block].sealed
    }

    /// Puts a block into the layout. Returns true if it was there before.
    pub(super) fn place(&mut self, block: Block) -> bool {
        std::mem::replace(&mut self.blocks[block].placed, true)
    }

    pub(super) fn has_params(&self, block: Block) -> bool {
        !self.blocks[block].params.is_empty()
    }

    pub(super) fn add_pred(&mut self, to: Block, block: Block, inst: Inst, dest: usize) {
        let dest = dest as u32;
        self.blocks[to].preds.push(Pred { block, inst, dest });
    }

    pub(super) fn define(&mut self, block: Block, var: Variable, value: Value) {
        self.blocks[block].defs.insert(var, value);
        self.assigned[var].push(self.clock);
        self.clock += 1;
    }

    /// Reads a variable. [`Ssa::finish`] reports reads of unassigned variables.
    pub(super) fn read(&mut self, func: &mut Function, block: Block, var: Variable) -> Value {
        let value = self.value(func, block, var);
        let undefined = self.undefs.by_var[var].expand() == Some(value);
        if undefined || matches!(func.dfg.def(value), ValueDef::Param(..)) {
            self.reads.push(VariableRead { var, block, value });
        }
        value
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

    /// Adds the arguments of new parameters to the branches.
    fn settle(&mut self, func: &mut Function) {
        while let Some((block, var)) = self.pending.pop_front() {
            for n in 0..self.blocks[block].preds.len() {
                let Pred {
                    block: from,
                    inst,
                    dest,
                } = self.blocks[block].preds[n];
                let v = self.find(func, from, var);
                let (dests, pool) = func.dfg.destinations_mut(inst);
                if let Some(d) = dests.get_mut(dest as usize) {
                    d.args.push(v, pool);
                }
            }
        }
    }

    /// Returns the value of a variable at the end of a block, as far as it is known. Walks up
    /// single predecessors, and makes a parameter where there are several.
    fn find(&mut self, func: &mut Function, block: Block, var: Variable) -> Value {
        let mut path = Vec::new();
        let mut at = block;
        let value = loop {
            if let Some(v) = self.blocks[at].defs.get(var) {
                break v;
            }
            let state = &self.blocks[at];
            if let Some((from, start, end)) = state.skip
                && path.len() < func.dfg.num_blocks()
                && !self.assigned_within(var, start, end)
            {
                path.push(at);
                at = from;
                continue;
            }
            match state.preds.as_slice() {
                // Without predecessors: the entry block, or dead code.
                [] if state.sealed => break self.undefs.of(func, var, self.vars[var]),
                // A longer chain of single predecessors than the function has blocks is a loop of
                // dead code.
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

    /// Removes parameters that get one value, besides themselves, from all branches. Returns the
    /// reads of variables that nothing assigned.
    pub(super) fn finish(&mut self, func: &mut Function, entry: Block) -> Vec<VariableRead> {
        let mut s = Simplifier {
            alias: Aliases::new(),
            nodes: Vec::new(),
            watching: sized(func.dfg.num_values()),
            lists: Vec::new(),
            trivial: Vec::new(),
            undefs: std::mem::take(&mut self.undefs),
        };
        for block in blocks(func) {
            for &(var, param) in &self.blocks[block].params {
                s.watch(param, s.nodes.len() as u32);
                s.nodes.push(ParamNode {
                    block,
                    var,
                    param,
                    next: 0,
                    one: None,
                });
            }
        }
        for n in 0..s.nodes.len() {
            s.scan_args(func, &self.blocks, n);
            s.settle(func, &self.blocks);
        }
        let front = std::mem::take(&mut s.undefs.front);
        func.layout.insts_mut(entry).insert_many(0, front);
        if s.alias.values().any(|v| v.is_some()) {
            self.replace_aliased(func, &mut s.alias);
        }
        let mut reads = std::mem::take(&mut self.reads);
        reads.retain(|r| s.undefs.by_var[r.var].expand() == Some(resolve(&mut s.alias, r.value)));
        reads
    }

    /// Replaces aliased values by their replacements.
    fn replace_aliased(&self, func: &mut Function, alias: &mut Aliases) {
        for block in blocks(func) {
            self.remove_aliased(func, block, alias);
        }
        let Function { layout, dfg, .. } = &mut *func;
        for &block in layout.blocks() {
            for &inst in layout.insts(block) {
                let mut any = false;
                let data = dfg.data(inst);
                data.for_each_arg(dfg, |v| any |= alias[v].is_some());
                if any {
                    dfg.map_args(inst, |v| resolve(alias, v));
                }
            }
        }
        func.labels.map_values(|v| Some(resolve(alias, v)));
    }

    /// Removes the aliased parameters of a block, and the arguments that branches pass for them.
    fn remove_aliased(&self, func: &mut Function, block: Block, alias: &Aliases) {
        let state = &self.blocks[block];
        if state.params.iter().all(|&(_, p)| alias[p].is_none()) {
            return;
        }
        let params = func.dfg.block_params(block).iter();
        let keep: Vec<bool> = params.map(|&p| alias[p].is_none()).collect();
        for p in &state.preds {
            let (dests, pool) = func.dfg.destinations_mut(p.inst);
            if let Some(d) = dests.get_mut(p.dest as usize) {
                let args = d.args.as_slice(pool).iter().zip(&keep);
                let kept: Vec<Value> = args.filter(|a| *a.1).map(|a| *a.0).collect();
                d.args.clear(pool);
                d.args.extend(kept, pool);
            }
        }
        func.dfg.retain_block_params(block, &keep);
    }
}

fn blocks(func: &Function) -> impl Iterator<Item = Block> + use<> {
    (0..func.dfg.num_blocks()).map(|n| Block::from_u32(n as u32))
}

/// Parameter made here, with the state of the scan of its arguments.
struct ParamNode {
    block: Block,
    var: Variable,
    param: Value,
    /// Arguments before this index are the parameter itself or `one`.
    next: usize,
    /// The only other argument so far.
    one: Option<Value>,
}

/// Removal of parameters that merge nothing.
///
/// Each parameter that merges something watches two values: the first one that it merges, and the
/// first other one. It is visited again only when a watched value, or the parameter itself, is
/// replaced. When one value replaces another, the shorter of their two watch lists is visited. So
/// each argument is scanned once, and each watcher moves a logarithmic number of times.
struct Simplifier {
    alias: Aliases,
    nodes: Vec<ParamNode>,
    /// Index of each value's watch list, from 1; 0 for none.
    watching: SecondaryMap<Value, u32>,
    lists: Vec<SmallVec<[u32; 4]>>,
    /// Parameters found to equal another value; `None` if nothing defines them.
    trivial: Vec<(usize, Option<Value>)>,
    undefs: Undefs,
}

impl Simplifier {
    fn watchers(&self, v: Value) -> &[u32] {
        match (self.watching[v] as usize).checked_sub(1) {
            Some(list) => &self.lists[list],
            None => &[],
        }
    }

    fn watch(&mut self, v: Value, node: u32) {
        if self.watching[v] == 0 {
            self.lists.push(SmallVec::new());
            self.watching[v] = self.lists.len() as u32;
        }
        self.lists[self.watching[v] as usize - 1].push(node);
    }

    fn settle(&mut self, func: &mut Function, blocks: &SecondaryMap<Block, BlockState>) {
        while let Some((n, by)) = self.trivial.pop() {
            let ParamNode { var, param, .. } = self.nodes[n];
            if self.alias[param].is_some() {
                continue;
            }
            let by = by.map(|v| resolve(&mut self.alias, v));
            let by = match by.filter(|v| *v != param) {
                Some(v) => v,
                // Parameters that are only passed to each other.
                None => self.undefs.of(func, var, func.dfg.ty(param)),
            };
            self.alias[param] = by.into();
            if self.watchers(param).len() > self.watchers(by).len() {
                let old = self.watching[param];
                self.watching[param] = std::mem::replace(&mut self.watching[by], old);
            }
            let Some(shorter) = (self.watching[param] as usize).checked_sub(1) else {
                continue;
            };
            for n in std::mem::take(&mut self.lists[shorter]) {
                if self.alias[self.nodes[n as usize].param].is_none() {
                    self.watch(by, n);
                    self.scan_args(func, blocks, n as usize);
                }
            }
        }
    }

    /// Scans a parameter's arguments up to the second value that it merges.
    fn scan_args(&mut self, func: &Function, blocks: &SecondaryMap<Block, BlockState>, n: usize) {
        let node = &mut self.nodes[n];
        let ValueDef::Param(_, place) = func.dfg.def(node.param) else {
            return;
        };
        let preds = &blocks[node.block].preds;
        let (before, old) = (node.next, node.one);
        node.one = old
            .map(|v| resolve(&mut self.alias, v))
            .filter(|v| *v != node.param);
        let other = loop {
            let Some(p) = preds.get(node.next) else {
                self.trivial.push((n, node.one));
                return;
            };
            let arg = func.dfg.destinations(p.inst).get(p.dest as usize);
            let arg = arg.and_then(|d| d.args.get(usize::from(place), &func.dfg.pool));
            // A branch without this argument is an error that was reported before.
            let Some(arg) = arg else { return };
            let arg = resolve(&mut self.alias, arg);
            if arg != node.param && node.one.is_some_and(|one| one != arg) {
                break arg;
            }
            if arg != node.param {
                node.one = Some(arg);
            }
            node.next += 1;
        };
        // Existing watches have moved to the replacement already.
        if node.next != before || old.is_none() {
            let one = node.one;
            self.watch(other, n as u32);
            if let Some(one) = one {
                self.watch(one, n as u32);
            }
        }
    }
}

fn resolve(alias: &mut Aliases, v: Value) -> Value {
    let mut at = v;
    while let Some(next) = alias[at].expand() {
        // Path halving.
        if let Some(later) = alias[next].expand() {
            alias[at] = later.into();
        }
        at = next;
    }
    at
}
