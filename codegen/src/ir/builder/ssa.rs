//! Variables to SSA: block parameters are made where a variable is read in a block with several
//! predecessors, or with predecessors still to come, and those that turn out not to merge anything
//! are removed at the end (after Braun et al., "Simple and Efficient Construction of Static Single
//! Assignment Form").

use super::{Aliases, Variable};
use crate::ir::{Block, Function, Inst, InstData, Opcode, Type, Value, ValueDef};
use crate::sized;
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{PrimaryMap, SecondaryMap};
use smallvec::SmallVec;
use std::collections::{BTreeMap, VecDeque};

/// A branch to a block: from where, by which instruction, which of its destinations.
#[derive(Clone, Copy, Debug)]
struct Pred {
    block: Block,
    inst: Inst,
    dest: u32,
}

#[derive(Clone, Debug, Default)]
struct BlockState {
    sealed: bool,
    /// Whether it is in the layout.
    placed: bool,
    preds: SmallVec<[Pred; 2]>,
    defs: Defs,
    /// Parameters made here, in order; they follow the block's explicit ones.
    params: SmallVec<[(Variable, Value); 2]>,
    /// A block that every way to this one comes through, and from when to when what is between was
    /// built.
    skip: Option<(Block, u32, u32)>,
}

/// The values of variables at a block's end: mostly of a few.
#[derive(Clone, Debug, Default)]
struct Defs {
    few: SmallVec<[(Variable, Value); 2]>,
    /// All of them, where they are many.
    many: Option<BTreeMap<Variable, Value>>,
}

impl Defs {
    /// How many are looked through one by one.
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

/// The values of variables where nothing assigned them.
#[derive(Debug, Default)]
struct Undefs {
    by_var: SecondaryMap<Variable, PackedOption<Value>>,
    /// Instructions to stand at the start of the entry block.
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

/// A variable that a function's builder read, where, and what it got.
#[derive(Clone, Copy, Debug)]
pub(super) struct Read {
    pub(super) var: Variable,
    pub(super) block: Block,
    value: Value,
}

/// The variables of a function and their values by block.
#[derive(Debug, Default)]
pub(super) struct Ssa {
    vars: PrimaryMap<Variable, Type>,
    blocks: SecondaryMap<Block, BlockState>,
    /// Parameters of sealed blocks whose arguments are to be added to the branches. First in, first
    /// out, so that arguments come in the order of parameters.
    pending: VecDeque<(Block, Variable)>,
    /// Assignments so far, and per variable which of them were its own.
    clock: u32,
    assigned: SecondaryMap<Variable, Vec<u32>>,
    undefs: Undefs,
    /// Reads that may turn out to be of nothing.
    reads: Vec<Read>,
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

    /// Puts an instruction at the start of the entry block, once building ends.
    pub(super) fn in_front(&mut self, inst: Inst) {
        self.undefs.front.push(inst);
    }

    /// Time, in assignments.
    pub(super) fn clock(&self) -> u32 {
        self.clock
    }

    /// Says that every way to a block comes through another, and that what was built from a time
    /// until now is all that is between.
    pub(super) fn skip(&mut self, block: Block, from: Block, start: u32) {
        self.blocks[block].skip = Some((from, start, self.clock));
    }

    /// Whether a variable was assigned from a time on, before another.
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

    /// Whether the block is in the layout already; from now on it is.
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

    /// The value of a variable that was assigned, if [`Ssa::finish`] does not say otherwise.
    pub(super) fn read(&mut self, func: &mut Function, block: Block, var: Variable) -> Value {
        let value = self.value(func, block, var);
        let undefined = self.undefs.by_var[var].expand() == Some(value);
        if undefined || matches!(func.dfg.def(value), ValueDef::Param(..)) {
            self.reads.push(Read { var, block, value });
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
                let (dests, pool) = func.dfg.destinations_mut(inst);
                if let Some(d) = dests.get_mut(dest as usize) {
                    d.args.push(v, pool);
                }
            }
        }
    }

    /// The value at a block's end, as far as it is known: goes up single predecessors, and makes a
    /// parameter where there are several.
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
                // Nothing comes here: the entry, or dead code.
                [] if state.sealed => break self.undefs.of(func, var, self.vars[var]),
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

    /// Removes the parameters made here that every branch gives the same value or themselves. Gives
    /// the reads of variables that nothing had assigned.
    pub(super) fn finish(&mut self, func: &mut Function, entry: Block) -> Vec<Read> {
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
                s.nodes.push(Node {
                    block,
                    var,
                    param,
                    next: 0,
                    one: None,
                });
            }
        }
        for n in 0..s.nodes.len() {
            s.look(func, &self.blocks, n);
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

    /// Puts what values have become in their place.
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

    /// Takes the parameters that have aliases from a block, and what branches give for them.
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

/// A parameter made here, and how far its arguments were looked at.
struct Node {
    block: Block,
    var: Variable,
    param: Value,
    /// Arguments before this are the parameter itself or `one`.
    next: usize,
    /// The only other value so far.
    one: Option<Value>,
}

/// Finds the parameters that merge nothing. A parameter that merges something is looked at again
/// only when two of three values may have become one: itself, the first value it merges, the first
/// other one. When values become one, whoever watches the one that fewer watch is looked at; so
/// each argument is looked at once, and each watcher moves a logarithm of times.
struct Simplifier {
    alias: Aliases,
    nodes: Vec<Node>,
    /// The number of each value's list of those that watch it, from 1; 0 where there is none.
    watching: SecondaryMap<Value, u32>,
    lists: Vec<SmallVec<[u32; 4]>>,
    /// Parameters found to be another value, `None` if nothing gives them one.
    trivial: Vec<(usize, Option<Value>)>,
    undefs: Undefs,
}

impl Simplifier {
    fn watchers(&self, v: Value) -> &[u32] {
        let list = (self.watching[v] as usize).checked_sub(1);
        list.and_then(|n| self.lists.get(n)).map_or(&[], |l| l)
    }

    fn watch(&mut self, v: Value, node: u32) {
        if self.watching[v] == 0 {
            self.lists.push(SmallVec::new());
            self.watching[v] = self.lists.len() as u32;
        }
        if let Some(list) = self.lists.get_mut(self.watching[v] as usize - 1) {
            list.push(node);
        }
    }

    fn settle(&mut self, func: &mut Function, blocks: &SecondaryMap<Block, BlockState>) {
        while let Some((n, by)) = self.trivial.pop() {
            let Node { var, param, .. } = self.nodes[n];
            if self.alias[param].is_some() {
                continue;
            }
            let by = by.map(|v| resolve(&mut self.alias, v));
            let by = match by.filter(|v| *v != param) {
                Some(v) => v,
                // Parameters that only pass each other round.
                None => self.undefs.of(func, var, func.dfg.ty(param)),
            };
            self.alias[param] = by.into();
            if self.watchers(param).len() > self.watchers(by).len() {
                let old = self.watching[param];
                self.watching[param] = std::mem::replace(&mut self.watching[by], old);
            }
            let few = self.watching[param] as usize;
            let few = few.checked_sub(1).and_then(|n| self.lists.get_mut(n));
            for n in few.map(std::mem::take).unwrap_or_default() {
                if self.alias[self.nodes[n as usize].param].is_none() {
                    self.watch(by, n);
                    self.look(func, blocks, n as usize);
                }
            }
        }
    }

    /// Looks at a parameter's arguments up to the second value that it merges.
    fn look(&mut self, func: &Function, blocks: &SecondaryMap<Block, BlockState>, n: usize) {
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
            // A branch without this argument was a mistake, and is told.
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
        // What is watched already moves with what it became.
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
        // Every other value on the way is told of a later one.
        if let Some(later) = alias[next].expand() {
            alias[at] = later.into();
        }
        at = next;
    }
    at
}
