//! Promotion of private variables to values (mem2reg with SROA).
//!
//! Needs a body without inlinable calls. A variable is promoted if it is only loaded, stored and
//! copied, as a whole or in parts with constant indices (`places.rs`). Afterwards the variable and
//! its accesses are gone, and phis merge its values. A phi whose arguments are all one value is
//! replaced by that value. Other variables stay in scratch.

mod places;

use crate::body::{BInst, Block, Body, Phi};
use crate::cfg::rpo::{Node, ReversePostorder};
use crate::module::Module;
use crate::module::types::Ty;
use crate::read::Id;
use cranelift_entity::{
    EntityRef, PrimaryMap, SecondaryMap, entity_impl, packed_option::PackedOption,
};
use gantry_codegen::entity_set::sized;
use places::{AccessView, VarPart};
use smallvec::SmallVec;
use spirv::Op;

/// Variable that is promoted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Var(u32);
entity_impl!(Var, "private");

/// Maximum number of blocks visited in all live ranges of variables. Remaining variables stay in
/// memory.
const MAX_VISITS: usize = 32 << 20;
/// Maximum number of rounds of removing trivial phis. Remaining ones are correct.
const MAX_ROUNDS: usize = 16;
/// Maximum number of new phis.
const MAX_PHIS: usize = 500_000;

struct Promote<'a, 'm> {
    m: &'a Module<'m>,
    body: &'a mut Body,
    vars: PrimaryMap<Var, (Ty, Option<Id>)>,
    places: SecondaryMap<Id, Option<Box<VarPart>>>,
    /// Replacement of a value.
    instead: SecondaryMap<Id, PackedOption<Id>>,
}

/// Current values of variables during the walk.
struct CurrentValues {
    value: Vec<PackedOption<Id>>,
    /// Undo log: variables with their earlier values.
    before: Vec<(Var, PackedOption<Id>)>,
}

enum DomTreeStep {
    Enter(u32),
    /// Length of the undo log at the entry of the block.
    Leave(usize),
}

impl CurrentValues {
    fn get(&self, var: Var) -> Option<Id> {
        self.value.get(var.index()).and_then(|v| v.expand())
    }

    fn set(&mut self, var: Var, value: Option<Id>) {
        if let Some(slot) = self.value.get_mut(var.index()) {
            self.before.push((var, *slot));
            *slot = value.into();
        }
    }

    fn back_to(&mut self, mark: usize) {
        while self.before.len() > mark {
            if let Some((var, old)) = self.before.pop()
                && let Some(slot) = self.value.get_mut(var.index())
            {
                *slot = old;
            }
        }
    }
}

/// Promotes all variables that can be promoted.
pub(crate) fn run(m: &Module<'_>, body: &mut Body) {
    let (vars, places) = places::find(m, body);
    let mut p = Promote {
        m,
        body,
        vars,
        places,
        instead: SecondaryMap::new(),
    };
    if !p.vars.is_empty() {
        p.rename();
        p.replace();
    }
}

impl Promote<'_, '_> {
    /// Replaces loads by values, and inserts phis at joins.
    fn rename(&mut self) {
        let Some(entry) = self.body.entry.expand() else {
            return;
        };
        let graph = ReversePostorder::new(entry, self.body);
        let mut preds: SecondaryMap<Block, Vec<Block>> = sized(self.body.blocks.len());
        for (b, (_, to)) in graph.order.iter().zip(graph.succs.iter()) {
            let mut to: SmallVec<[_; 2]> = to.into();
            to.sort_unstable();
            to.dedup();
            let to = to.into_iter().map(|s| graph.order[s.index()]);
            to.for_each(|s| preds[s].push(*b));
        }
        let joins = self.live(&graph.order, &preds);
        // Index of the first new phi of each block.
        let mut first: SecondaryMap<Block, usize> = SecondaryMap::new();
        for &b in &graph.order {
            first[b] = self.body.blocks[b].phis.len();
            for var in &joins[b] {
                let ty = self.vars[*var].0;
                let id = self.body.fresh(ty);
                let at = self.body.blocks[b].at;
                let args = Vec::new();
                self.body.blocks[b].phis.push(Phi { id, ty, at, args });
            }
        }
        let mut under: Vec<Vec<u32>> = vec![Vec::new(); graph.order.len()];
        for (n, d) in graph.idoms().iter() {
            if let Some(list) = d.expand().and_then(|d| under.get_mut(d.index())) {
                list.push(n.as_u32());
            }
        }
        // Walks the dominator tree with the current value of each variable.
        let mut now = CurrentValues {
            value: vec![None.into(); self.vars.len()],
            before: Vec::new(),
        };
        let mut undefined: Vec<BInst> = Vec::new();
        let mut todo = vec![DomTreeStep::Enter(0)];
        while let Some(step) = todo.pop() {
            let n = match step {
                DomTreeStep::Enter(n) => n,
                DomTreeStep::Leave(mark) => {
                    now.back_to(mark);
                    continue;
                }
            };
            todo.push(DomTreeStep::Leave(now.before.len()));
            todo.extend(
                under[n as usize]
                    .iter()
                    .rev()
                    .map(|u| DomTreeStep::Enter(*u)),
            );
            let b = graph.order[n as usize];
            for (k, var) in joins[b].iter().enumerate() {
                if let Some(phi) = self.body.blocks[b].phis.get(first[b] + k) {
                    now.set(*var, Some(phi.id));
                }
            }
            let insts = std::mem::take(&mut self.body.blocks[b].insts);
            let mut out = Vec::with_capacity(insts.len());
            for inst in insts {
                self.inst(inst, &mut now, &mut out, &mut undefined);
            }
            self.body.blocks[b].insts = out;
            let mut to: SmallVec<[_; 2]> = graph.succs[Node::from_u32(n)].into();
            to.sort_unstable();
            to.dedup();
            for s in to.into_iter().map(|s| graph.order[s.index()]) {
                for (k, var) in joins[s].iter().enumerate() {
                    let value = match now.get(*var) {
                        Some(v) => v,
                        None => self.undefined(*var, &mut undefined),
                    };
                    if let Some(phi) = self.body.blocks[s].phis.get_mut(first[s] + k) {
                        phi.args.push((b, value));
                    }
                }
            }
        }
        self.body.blocks[entry].insts.splice(0..0, undefined);
    }

    /// Finds the variables that are live at each join. Variables with live ranges beyond the limit
    /// stay in memory.
    fn live(
        &mut self,
        order: &[Block],
        preds: &SecondaryMap<Block, Vec<Block>>,
    ) -> SecondaryMap<Block, Vec<Var>> {
        let mut reads: SecondaryMap<Var, Vec<Block>> = SecondaryMap::new();
        let mut writes: SecondaryMap<Var, Vec<Block>> = SecondaryMap::new();
        for &b in order {
            for inst in &self.body.blocks[b].insts {
                let pointer = self.body.operands(inst).first().map(|w| Id::of(*w));
                let place = pointer.and_then(|p| self.places[p].as_ref());
                let (place, var) = match (inst.op, place) {
                    (Op::Load | Op::Store, Some(p)) => (p, p.var),
                    (Op::Variable, _) => {
                        if let Some(p) = inst.id.expand().and_then(|id| self.places[id].as_ref()) {
                            writes[p.var].push(b);
                        }
                        continue;
                    }
                    _ => continue,
                };
                let written = writes[var].last() == Some(&b);
                // A partial store keeps the rest.
                if !written && (inst.op == Op::Load || !place.path.is_empty()) {
                    reads[var].push(b);
                }
                if inst.op == Op::Store {
                    writes[var].push(b);
                }
            }
        }
        let mut out: SecondaryMap<Block, Vec<Var>> = SecondaryMap::new();
        let mut seen: SecondaryMap<Block, PackedOption<Var>> = SecondaryMap::new();
        let mut writer: SecondaryMap<Block, PackedOption<Var>> = SecondaryMap::new();
        let (mut visits, mut phis) = (0, 0);
        let mut kept: SecondaryMap<Var, bool> = SecondaryMap::new();
        let mut joins: Vec<Block> = Vec::new();
        for var in self.vars.keys() {
            for b in &writes[var] {
                writer[*b] = var.into();
            }
            joins.clear();
            let mut todo = reads[var].clone();
            while let Some(b) = todo.pop() {
                if visits > MAX_VISITS {
                    break;
                }
                if seen[b].expand() == Some(var) {
                    continue;
                }
                seen[b] = var.into();
                visits += 1;
                if preds[b].len() > 1 {
                    joins.push(b);
                }
                let from = preds[b]
                    .iter()
                    .filter(|p| writer[**p].expand() != Some(var));
                todo.extend(from);
            }
            kept[var] = visits <= MAX_VISITS && phis + joins.len() <= MAX_PHIS;
            if kept[var] {
                phis += joins.len();
                joins.iter().for_each(|b| out[*b].push(var));
            }
        }
        for place in self.places.values_mut() {
            if place.as_ref().is_some_and(|p| !kept[p.var]) {
                *place = None;
            }
        }
        out
    }

    fn undefined(&mut self, var: Var, insts: &mut Vec<BInst>) -> Id {
        let ty = self.vars[var].0;
        let id = self.body.fresh(ty);
        let inst = self.body.inst(Op::Undef, (0, 0), Some(ty), Some(id), &[]);
        insts.push(inst);
        id
    }

    fn inst(
        &mut self,
        inst: BInst,
        now: &mut CurrentValues,
        out: &mut Vec<BInst>,
        undefined: &mut Vec<BInst>,
    ) {
        let operands: Vec<u32> = self.body.operands(&inst).to_vec();
        let operand = |n: usize| operands.get(n).map(|w| Id::of(*w));
        // Drop the variable and pointers to it.
        if let Some(place) = inst.id.expand().and_then(|id| self.places[id].clone()) {
            if inst.op == Op::Variable {
                now.set(place.var, self.vars[place.var].1);
            }
            return;
        }
        let place = operand(0).and_then(|p| self.places[p].clone());
        let Some(place) = place else {
            out.push(inst);
            return;
        };
        let var = place.var;
        let current = |p: &mut Self, undefined: &mut Vec<BInst>| {
            let have = now.get(var);
            have.unwrap_or_else(|| p.undefined(var, undefined))
        };
        let at = (inst.at, inst.line);
        match (inst.op, inst.id.expand(), operand(1)) {
            (Op::Load, Some(id), _) => {
                let value = current(self, undefined);
                let (path, ty) = (place.path, inst.ty.expand());
                if let AccessView::Four(_) = place.seen {
                    // The fourth component is undefined.
                    let three = if path.is_empty() {
                        value
                    } else {
                        let three = self.body.fresh(place.ty);
                        let words: Vec<u32> = [value.as_u32()].into_iter().chain(path).collect();
                        let part = (Op::CompositeExtract, Some(place.ty), Some(three));
                        out.push(self.body.inst(part.0, at, part.1, part.2, &words));
                        three
                    };
                    let three = three.as_u32();
                    let words = [three, three, 0, 1, 2, places::NOTHING];
                    out.push(self.body.inst(Op::VectorShuffle, at, ty, Some(id), &words));
                    return;
                }
                if path.is_empty() {
                    // The variable is stored to itself before it has a value.
                    let value = if self.last(value) == id {
                        self.undefined(var, undefined)
                    } else {
                        value
                    };
                    self.instead[id] = value.into();
                    return;
                }
                let words: Vec<u32> = [value.as_u32()].into_iter().chain(path).collect();
                out.push(
                    self.body
                        .inst(Op::CompositeExtract, at, ty, Some(id), &words),
                );
            }
            (Op::Store, _, Some(value)) => {
                let value = match place.seen {
                    AccessView::Four(_) => {
                        let three = self.body.fresh(place.ty);
                        let (op, ty, id) = (Op::VectorShuffle, Some(place.ty), Some(three));
                        let words = [value.as_u32(), value.as_u32(), 0, 1, 2];
                        out.push(self.body.inst(op, at, ty, id, &words));
                        three
                    }
                    _ => value,
                };
                let new = if place.path.is_empty() {
                    value
                } else {
                    let whole = current(self, undefined);
                    let words = [value.as_u32(), whole.as_u32()];
                    let words: Vec<u32> = words.into_iter().chain(place.path).collect();
                    let ty = self.vars[var].0;
                    let id = self.body.fresh(ty);
                    out.push(
                        self.body
                            .inst(Op::CompositeInsert, at, Some(ty), Some(id), &words),
                    );
                    id
                };
                now.set(var, Some(new));
            }
            _ => {}
        }
    }

    /// Follows replacements to the final value of an id.
    fn last(&mut self, id: Id) -> Id {
        let mut at = id;
        while let Some(next) = self.instead[at].expand() {
            at = next;
        }
        // Path compression.
        let mut step = id;
        while let Some(next) = self.instead[step].expand() {
            self.instead[step] = at.into();
            step = next;
            if next == at {
                break;
            }
        }
        at
    }

    /// Replaces loads and trivial phis by their values.
    fn replace(&mut self) {
        let blocks: Vec<Block> = self.body.blocks.keys().collect();
        for _ in 0..MAX_ROUNDS {
            let mut changed = false;
            for &b in &blocks {
                let phis = std::mem::take(&mut self.body.blocks[b].phis);
                let mut kept = Vec::with_capacity(phis.len());
                for mut phi in phis {
                    let mut only = None;
                    let mut several = false;
                    for (_, arg) in &mut phi.args {
                        *arg = self.last(*arg);
                        if *arg != phi.id {
                            several |= only.is_some_and(|o| o != *arg);
                            only = Some(*arg);
                        }
                    }
                    match only {
                        // Only new phis. Others are checked elsewhere.
                        Some(v)
                            if !several
                                && self.body.origin(phi.id) == phi.id
                                && self.is_new(phi.id) =>
                        {
                            self.instead[phi.id] = v.into();
                            changed = true;
                        }
                        _ => kept.push(phi),
                    }
                }
                self.body.blocks[b].phis = kept;
            }
            if !changed {
                break;
            }
        }
        if let Some((id, ty)) = self.body.result {
            self.body.result = Some((self.last(id), ty));
        }
        for b in blocks {
            let mut insts = std::mem::take(&mut self.body.blocks[b].insts);
            for inst in &mut insts {
                let mut words: Vec<u32> = self.body.operands(inst).to_vec();
                let mut places = Vec::new();
                let _ = crate::read::for_each_id(inst.op, &words, false, |n| places.push(n));
                let mut changed = false;
                for n in places {
                    if let Some(w) = words.get_mut(n) {
                        let new = self.last(Id::of(*w)).as_u32();
                        changed |= new != *w;
                        *w = new;
                    }
                }
                if changed {
                    let (ty, id) = (inst.ty.expand(), inst.id.expand());
                    *inst = self
                        .body
                        .inst(inst.op, (inst.at, inst.line), ty, id, &words);
                }
            }
            self.body.blocks[b].insts = insts;
            let mut term = self.body.blocks[b].term.clone();
            if let Some(id) = term.condition() {
                term.set_condition(self.last(id));
            }
            self.body.blocks[b].term = term;
        }
    }

    /// Returns true for ids that a pass made.
    fn is_new(&self, id: Id) -> bool {
        self.m.def(id) == crate::module::Def::None
    }
}
