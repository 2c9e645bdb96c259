//! Cycles that are entered at several blocks get one entry.
//!
//! Needs a body without calls. Where there is such a cycle, values go from block to block in variables from here on (which [`crate::promote`] turns
//! back), and each cycle's entries are reached by way of one new block, a switch by a number that says which is meant. Afterwards the graph is
//! reducible. Where there is none, nothing changes.

use super::numbered::Numbered;
use crate::body::{BInst, Block, BlockData, Body, Term};
use crate::error::Error;
use crate::module::Module;
use crate::read::Id;
use cranelift_entity::{SecondaryMap, packed_option::PackedOption};
use spirv::Op;
use std::collections::BTreeMap;

/// The most cycles that are given one entry.
const MOST_CYCLES: usize = 100;

/// Makes a body's graph reducible.
///
/// # Errors
/// More cycles than the limit, or values that cannot be in variables.
pub(crate) fn reduce(m: &Module<'_>, body: &mut Body) -> Result<(), Error> {
    let mut demoted = false;
    for _ in 0..MOST_CYCLES {
        let Some(entries) = find(body) else {
            return Ok(());
        };
        if !std::mem::replace(&mut demoted, true) {
            demote(m, body)?;
        }
        dispatch(m, body, &entries);
    }
    match find(body) {
        None => Ok(()),
        Some(_) => Err(Error::limit(format!(
            "more than {MOST_CYCLES} cycles with several entries (irreducible control flow)"
        ))),
    }
}

/// The entries of a cycle that has several.
fn find(body: &Body) -> Option<Vec<Block>> {
    let entry = body.entry.expand()?;
    let graph = Numbered::new(entry, body);
    let (_, target) = graph.back().find(|(n, s)| !graph.tree.dominates(*s, *n))?;
    // What leads there and is led to from there, among what the target's dominator dominates.
    let above = graph.tree.idoms[target as usize];
    let inside = |n: u32| n != above && graph.tree.dominates(above, n);
    let count = graph.order.len();
    let mut preds: Vec<Vec<u32>> = vec![Vec::new(); count];
    for (n, to) in graph.succs.iter().enumerate() {
        to.iter().for_each(|s| preds[*s as usize].push(n as u32));
    }
    let reach = |edges: &[Vec<u32>]| {
        let mut seen = vec![false; count];
        let mut todo = vec![target];
        while let Some(n) = todo.pop() {
            if inside(n) && !std::mem::replace(&mut seen[n as usize], true) {
                todo.extend(&edges[n as usize]);
            }
        }
        seen
    };
    let (forth, back) = (reach(&graph.succs), reach(&preds));
    let within = |n: u32| forth[n as usize] && back[n as usize];
    let entered = |n: u32| within(n) && preds[n as usize].iter().any(|p| !within(*p));
    let blocks = (0u32..).zip(graph.order.iter().copied());
    Some(blocks.filter(|(n, _)| entered(*n)).map(|b| b.1).collect())
}

/// Leads all ways to the entries through one block.
fn dispatch(m: &Module<'_>, body: &mut Body, entries: &[Block]) {
    let state = body.variable(m.int32);
    let number = body.fresh(m.int32);
    let at = (0, 0);
    let load = body.inst(Op::Load, at, Some(m.int32), Some(number), &[state.as_u32()]);
    let mut cases: Vec<(u64, Block)> = (0u64..).zip(entries.iter().copied()).collect();
    let Some((_, default)) = cases.pop() else {
        return;
    };
    let head = body.blocks.push(BlockData {
        phis: Vec::new(),
        insts: vec![load],
        term: Term::Switch(number, default, cases),
        at: 0,
        line: 0,
    });
    let blocks: Vec<Block> = body.blocks.keys().filter(|b| *b != head).collect();
    for (n, entry) in entries.iter().enumerate() {
        let which = body.constant(m.int32, n as u64);
        for &from in &blocks {
            if !body.blocks[from].term.successors().any(|s| s == *entry) {
                continue;
            }
            let words = [state.as_u32(), which.as_u32()];
            let store = body.inst(Op::Store, at, None, None, &words);
            let way = body.blocks.push(BlockData {
                phis: Vec::new(),
                insts: vec![store],
                term: Term::Branch(head),
                at: body.blocks[from].at,
                line: body.blocks[from].line,
            });
            let to = |t| if t == *entry { way } else { t };
            body.blocks[from].term.map(to);
        }
    }
}

struct Demote<'a, 'm> {
    m: &'a Module<'m>,
    body: &'a mut Body,
    /// The block of each definition, but those of the first block, which comes before all.
    def: SecondaryMap<Id, PackedOption<Block>>,
    /// Variables of values that other blocks use.
    vars: BTreeMap<Id, Id>,
}

/// Puts what goes from block to block into variables.
fn demote(m: &Module<'_>, body: &mut Body) -> Result<(), Error> {
    let mut d = Demote {
        m,
        body,
        def: SecondaryMap::new(),
        vars: BTreeMap::new(),
    };
    let entry = d.body.entry.expand();
    let blocks: Vec<Block> = d.body.blocks.keys().collect();
    for &b in blocks.iter().filter(|b| Some(**b) != entry) {
        let data = &d.body.blocks[b];
        for id in data.insts.iter().filter_map(|i| i.id.expand()) {
            d.def[id] = b.into();
        }
        for phi in &data.phis {
            d.def[phi.id] = b.into();
        }
    }
    // Values that other blocks use, and phis.
    let mut needed: Vec<Id> = Vec::new();
    let mut phis: BTreeMap<Id, Id> = BTreeMap::new();
    let mut given: SecondaryMap<Block, Vec<(Id, Id)>> = SecondaryMap::new();
    for &b in &blocks {
        let data = d.body.blocks[b].clone();
        let mut other = |d: &Demote<'_, '_>, id: Id, by: Block| {
            if d.def[id].expand().is_some_and(|def| def != by) {
                needed.push(id);
            }
        };
        for inst in &data.insts {
            d.body.for_each_use(inst, |id| other(&d, id, b));
        }
        if let Some(id) = data.term.condition() {
            other(&d, id, b);
        }
        for phi in &data.phis {
            let var = d.body.variable(phi.ty);
            phis.insert(phi.id, var);
            for (from, arg) in &phi.args {
                other(&d, *arg, *from);
                given[*from].push((var, *arg));
            }
        }
    }
    needed.sort_unstable();
    needed.dedup();
    for id in needed {
        let ty = d.body.type_of(m, id);
        let ty = ty.ok_or_else(|| Error::malformed(format!("{id} is no value")))?;
        let var = d.body.variable(ty);
        d.vars.insert(id, var);
    }
    for b in blocks {
        d.block(b, &phis, &given[b]);
    }
    Ok(())
}

impl Demote<'_, '_> {
    fn block(&mut self, b: Block, phis: &BTreeMap<Id, Id>, given: &[(Id, Id)]) {
        let mut out: Vec<BInst> = Vec::new();
        let mut here: BTreeMap<Id, Id> = BTreeMap::new();
        for phi in std::mem::take(&mut self.body.blocks[b].phis) {
            if let Some(var) = phis.get(&phi.id) {
                let at = (phi.at, 0);
                let words = [var.as_u32()];
                let (ty, id) = (Some(phi.ty), Some(phi.id));
                out.push(self.body.inst(Op::Load, at, ty, id, &words));
                self.keep(phi.id, at, &mut out);
            }
        }
        for mut inst in std::mem::take(&mut self.body.blocks[b].insts) {
            let at = (inst.at, inst.line);
            let mut words: Vec<u32> = self.body.operands(&inst).to_vec();
            let mut places = Vec::new();
            // What is not as the grammar says was told before.
            let _ = crate::read::for_each_id(inst.op, &words, false, |n| places.push(n));
            let before = words.clone();
            for n in places {
                if let Some(w) = words.get_mut(n) {
                    *w = self.used(Id::from_u32(*w), b, &mut here, &mut out).as_u32();
                }
            }
            let (ty, id) = (inst.ty.expand(), inst.id.expand());
            if words != before {
                inst = self.body.inst(inst.op, at, ty, id, &words);
            }
            out.push(inst);
            if let Some(id) = id {
                self.keep(id, at, &mut out);
            }
        }
        let mut term = self.body.blocks[b].term.clone();
        if let Some(id) = term.condition() {
            term.set_condition(self.used(id, b, &mut here, &mut out));
        }
        self.body.blocks[b].term = term;
        let at = (self.body.blocks[b].at, self.body.blocks[b].line);
        let mut stores = Vec::new();
        for (var, value) in given {
            let value = self.used(*value, b, &mut here, &mut out);
            stores.push([var.as_u32(), value.as_u32()]);
        }
        for words in stores {
            out.push(self.body.inst(Op::Store, at, None, None, &words));
        }
        self.body.blocks[b].insts = out;
    }

    /// Stores a value that other blocks use.
    fn keep(&mut self, id: Id, at: (u32, u32), out: &mut Vec<BInst>) {
        if let Some(var) = self.vars.get(&id) {
            let words = [var.as_u32(), id.as_u32()];
            out.push(self.body.inst(Op::Store, at, None, None, &words));
        }
    }

    /// A value as a block has it: loaded, if it is another block's.
    fn used(&mut self, id: Id, b: Block, here: &mut BTreeMap<Id, Id>, out: &mut Vec<BInst>) -> Id {
        if self.def[id].expand().is_none_or(|def| def == b) {
            return id;
        }
        if let Some(loaded) = here.get(&id) {
            return *loaded;
        }
        let (Some(var), Some(ty)) = (self.vars.get(&id).copied(), self.body.type_of(self.m, id))
        else {
            return id;
        };
        let new = self.body.fresh(ty);
        let words = [var.as_u32()];
        out.push(
            self.body
                .inst(Op::Load, (0, 0), Some(ty), Some(new), &words),
        );
        here.insert(id, new);
        new
    }
}
