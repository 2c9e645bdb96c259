//! Conversion of irreducible loops (cycles with several entries) to loops with one entry, as LLVM's
//! `FixIrreducible`.
//!
//! Needs a body without inlinable calls, whose phis have one argument for each predecessor, sorted.
//! Edges into such a cycle go through a new block that switches on the number of the entry. So do
//! back edges to one of the entries. Afterwards the graph is reducible. Dominance between old
//! blocks is kept, and only phis of entries move to the new block. Bodies without such cycles do
//! not change.

use super::rpo::ReversePostorder;
use crate::body::{Block, BlockData, Body, Phi, Term};
use crate::error::Error;
use crate::module::Module;
use crate::module::types::Ty;
use crate::read::Id;
use cranelift_entity::{SecondaryMap, packed_option::PackedOption};
use spirv::Op;
use std::cmp::Reverse;

/// Maximum nesting depth of cycles. Deeper ones cannot be emitted.
const MAX_NESTED: usize = 128;
/// Maximum number of new blocks.
const MAX_BLOCKS: usize = 100_000;
/// Maximum number of new phi arguments: one for each phi of an entry and each redirected edge.
const MAX_ARGS: usize = 4 << 20;

/// Makes the graph of a body reducible.
///
/// # Errors
/// A body over the limits.
pub(crate) fn run(m: &Module<'_>, body: &mut Body) -> Result<(), Error> {
    let Some(entry) = body.entry.expand() else {
        return Ok(());
    };
    let graph = ReversePostorder::new(entry, body);
    if graph.back().next().is_none() {
        return Ok(());
    }
    let tree = graph.tree();
    if graph.back().all(|(from, to)| tree.dominates(to, from)) {
        return Ok(());
    }
    let mut r = CycleReducer {
        preds: SecondaryMap::new(),
        at: SecondaryMap::new(),
        sets: 0,
        undefined: SecondaryMap::new(),
        args: 0,
    };
    let all = graph.order;
    all.iter().for_each(|b| r.leads(*b, body));
    let before = body.blocks.len();
    // Nested cycles are processed level by level. The cycles of a level are disjoint.
    let mut level = vec![(entry, all)];
    for _ in 0..=MAX_NESTED {
        let mut inner = Vec::new();
        for (header, blocks) in level {
            for mut cycle in r.cycles(header, &blocks, body) {
                let entries = r.entries(&cycle);
                let header = match *entries.as_slice() {
                    [one] => one,
                    _ => r.dispatch(m, body, &entries, &mut cycle),
                };
                if body.blocks.len() - before > MAX_BLOCKS || r.args > MAX_ARGS {
                    let what =
                        "too many ways into cycles with several entries (irreducible control flow)";
                    return Err(Error::limit(what));
                }
                inner.push((header, cycle));
            }
        }
        if inner.is_empty() {
            return Ok(());
        }
        level = inner;
    }
    Err(Error::limit(format!(
        "loops are nested deeper than {MAX_NESTED}"
    )))
}

struct CycleReducer {
    /// Predecessors of each reachable block.
    preds: SecondaryMap<Block, Vec<Block>>,
    /// Number of the last set of each block, and its index in that set.
    at: SecondaryMap<Block, (u32, u32)>,
    sets: u32,
    /// Undefined value of each type.
    undefined: SecondaryMap<Ty, PackedOption<Id>>,
    /// Number of new phi arguments.
    args: usize,
}

impl CycleReducer {
    fn leads(&mut self, b: Block, body: &Body) {
        let mut to: Vec<Block> = body.blocks[b].term.successors().collect();
        to.sort_unstable();
        to.dedup();
        to.into_iter().for_each(|s| self.preds[s].push(b));
    }

    /// Makes a list of blocks the current set, and returns its number.
    fn set(&mut self, blocks: &[Block]) -> u32 {
        self.sets += 1;
        for (n, b) in (0..).zip(blocks) {
            self.at[*b] = (self.sets, n);
        }
        self.sets
    }

    /// Finds the strongly connected components among blocks, without the block `without` (Tarjan's
    /// algorithm with an explicit stack).
    fn cycles(&mut self, without: Block, blocks: &[Block], body: &Body) -> Vec<Vec<Block>> {
        let set = self.set(blocks);
        let succs = |n: usize| -> Vec<usize> {
            let all = body.blocks[blocks[n]].term.successors();
            let inside = all.filter(|s| *s != without && self.at[*s].0 == set);
            inside.map(|s| self.at[s].1 as usize).collect()
        };
        // Visit number from 1, and lowlink.
        let (mut number, mut low) = (vec![0u32; blocks.len()], vec![0u32; blocks.len()]);
        let mut is_open = vec![false; blocks.len()];
        let (mut open, mut out): (Vec<usize>, Vec<Vec<Block>>) = (Vec::new(), Vec::new());
        let mut count = 0;
        for first in 0..blocks.len() {
            if number[first] != 0 || blocks[first] == without {
                continue;
            }
            let mut stack: Vec<(usize, Option<Vec<usize>>)> = vec![(first, None)];
            while let Some((n, rest)) = stack.last_mut() {
                let n = *n;
                let rest = rest.get_or_insert_with(|| {
                    count += 1;
                    (number[n], low[n], is_open[n]) = (count, count, true);
                    open.push(n);
                    succs(n)
                });
                match rest.pop() {
                    Some(s) if number[s] == 0 => stack.push((s, None)),
                    Some(s) if is_open[s] => low[n] = low[n].min(number[s]),
                    Some(_) => {}
                    None => {
                        stack.pop();
                        if let Some((up, _)) = stack.last() {
                            low[*up] = low[*up].min(low[n]);
                        }
                        if low[n] != number[n] {
                            continue;
                        }
                        let start = open.iter().rposition(|o| *o == n).unwrap_or(0);
                        let of: Vec<usize> = open.drain(start..).collect();
                        of.iter().for_each(|m| is_open[*m] = false);
                        if of.len() > 1 || succs(n).contains(&n) {
                            out.push(of.into_iter().map(|m| blocks[m]).collect());
                        }
                    }
                }
            }
        }
        out
    }

    /// Returns the blocks of a cycle that have predecessors outside of it.
    fn entries(&mut self, cycle: &[Block]) -> Vec<Block> {
        let set = self.set(cycle);
        let outside = |p: &Block| self.at[*p].0 != set;
        let entered = cycle.iter().filter(|b| self.preds[**b].iter().any(outside));
        let mut entries: Vec<Block> = entered.copied().collect();
        entries.sort_unstable();
        entries
    }

    /// Picks the entry with most predecessors in the cycle. It is the main header.
    fn header(&self, entries: &[Block]) -> Option<Block> {
        let inside = |p: &&Block| self.at[**p].0 == self.sets;
        let count = |b: &Block| self.preds[*b].iter().filter(inside).count();
        let most = entries.iter().max_by_key(|b| (count(b), Reverse(**b)));
        most.copied()
    }

    /// Redirects edges into a cycle, and back edges to its main header, through a new block that
    /// becomes part of the cycle. Edges inside of the cycle to other entries stay. That keeps
    /// dominance between old blocks, so values remain available.
    fn dispatch(
        &mut self,
        m: &Module<'_>,
        body: &mut Body,
        entries: &[Block],
        cycle: &mut Vec<Block>,
    ) -> Block {
        let set = self.sets;
        let header = self.header(entries);
        let number = body.fresh(m.int32);
        let mut cases: Vec<(u64, Block)> = (0u64..).zip(entries.iter().copied()).collect();
        let term = match cases.pop() {
            Some((_, last)) => Term::Switch(number, last, cases),
            None => Term::Unreachable,
        };
        let head = new_block(body, term, (0, 0));
        cycle.push(head);
        // Block on the redirected edge, its entry, and its predecessor.
        let mut redirected: Vec<(Block, Block, Block)> = Vec::new();
        let mut which = Phi {
            id: number,
            ty: m.int32,
            at: 0,
            args: Vec::new(),
        };
        for (n, entry) in entries.iter().enumerate() {
            let constant = body.constant(m.int32, n as u64);
            let mut stay = vec![head];
            for from in std::mem::take(&mut self.preds[*entry]) {
                let inside = self.at[from].0 == set;
                if inside && Some(*entry) != header {
                    stay.push(from);
                    continue;
                }
                let at = (body.blocks[from].at, body.blocks[from].line);
                let edge_block = new_block(body, Term::Branch(head), at);
                let to = |t| if t == *entry { edge_block } else { t };
                body.blocks[from].term.map(to);
                self.preds[edge_block].push(from);
                self.preds[head].push(edge_block);
                if inside {
                    cycle.push(edge_block);
                }
                which.args.push((edge_block, constant));
                redirected.push((edge_block, *entry, from));
            }
            self.preds[*entry] = stay;
        }
        body.blocks[head].phis.push(which);
        for entry in entries {
            let moved = redirected.iter().filter(|w| w.1 == *entry).map(|w| w.2);
            let mut moved: Vec<Block> = moved.collect();
            moved.sort_unstable();
            for mut phi in std::mem::take(&mut body.blocks[*entry].phis) {
                self.args += redirected.len();
                let id = body.fresh(phi.ty);
                let origin = body.origin(phi.id);
                body.set_origin(id, origin, Some(phi.ty));
                let mut args = Vec::with_capacity(redirected.len());
                for (edge_block, of, from) in &redirected {
                    let arg = phi.args.binary_search_by_key(from, |a| a.0);
                    let arg = arg
                        .ok()
                        .and_then(|n| phi.args.get(n))
                        .filter(|_| of == entry);
                    args.push(match arg {
                        Some((_, value)) => (*edge_block, *value),
                        None => (*edge_block, self.undefined(body, phi.ty)),
                    });
                }
                phi.args.retain(|a| moved.binary_search(&a.0).is_err());
                phi.args.push((head, id));
                let (ty, at) = (phi.ty, phi.at);
                body.blocks[head].phis.push(Phi { id, ty, at, args });
                body.blocks[*entry].phis.push(phi);
            }
        }
        head
    }

    /// Returns an undefined value of a type, defined at the beginning of the body.
    fn undefined(&mut self, body: &mut Body, ty: Ty) -> Id {
        if let Some(id) = self.undefined[ty].expand() {
            return id;
        }
        let id = body.fresh(ty);
        let inst = body.inst(Op::Undef, (0, 0), Some(ty), Some(id), &[]);
        if let Some(entry) = body.entry.expand() {
            body.blocks[entry].insts.insert(0, inst);
        }
        self.undefined[ty] = id.into();
        id
    }
}

fn new_block(body: &mut Body, term: Term, (at, line): (u32, u32)) -> Block {
    body.blocks.push(BlockData {
        phis: Vec::new(),
        insts: Vec::new(),
        term,
        at,
        line,
    })
}
