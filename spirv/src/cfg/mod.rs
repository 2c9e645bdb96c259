//! Control-flow graph of a body: order, dominators, loops.
//!
//! Needs a body without inlinable calls. Afterwards every loop has one latch whose only successor
//! is the header. [`Graph::new`] adds it where necessary. Phi arguments are sorted by block.
//! Irreducible loops are removed before, by [`fix_irreducible`].

pub(crate) mod dominators;
pub(crate) mod fix_irreducible;
pub(crate) mod rpo;
pub(crate) mod structurize;
pub(crate) mod uses;

use crate::body::{Block, BlockData, Body, Phi, Term};
use crate::error::Error;
use cranelift_entity::{PrimaryMap, SecondaryMap, entity_impl, packed_option::PackedOption};
use dominators::{Edges, dominators};
use gantry_codegen::entity_set::sized;
use rpo::ReversePostorder;
use smallvec::{SmallVec, smallvec};

/// Natural loop.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Loop(u32);
entity_impl!(Loop, "loop");

/// Natural loop: blocks that the header dominates and that lead back to it.
#[derive(Clone, Debug)]
pub(crate) struct LoopData {
    pub header: Block,
    pub latch: Block,
    pub parent: PackedOption<Loop>,
    pub depth: u32,
}

/// Maximum nesting depth of loops.
const MAX_LOOPS: u32 = 128;

/// Control-flow graph of a body.
#[derive(Debug)]
pub(crate) struct Graph {
    pub entry: Block,
    /// Successors of each block, without repetitions.
    pub succs: SecondaryMap<Block, SmallVec<[Block; 2]>>,
    /// Predecessors of each block, without back edges.
    pub forward_preds: SecondaryMap<Block, SmallVec<[Block; 2]>>,
    /// Reachable blocks in reverse postorder.
    pub order: Vec<Block>,
    /// Index of each block in `order`.
    pub rpo_index: SecondaryMap<Block, u32>,
    pub idom: SecondaryMap<Block, PackedOption<Block>>,
    /// Immediate postdominators, under the assumption that loops terminate.
    pub ipdom: SecondaryMap<Block, PackedOption<Block>>,
    pub loops: PrimaryMap<Loop, LoopData>,
    pub loop_of: SecondaryMap<Block, PackedOption<Loop>>,
}

/// Reverse postorder of the blocks reachable from `entry`.
pub(crate) fn order(entry: Block, body: &Body) -> Vec<Block> {
    let mut seen: SecondaryMap<Block, bool> = sized(body.blocks.len());
    let mut out = Vec::with_capacity(body.blocks.len());
    let succs = |b: Block| -> SmallVec<[Block; 2]> { body.blocks[b].term.successors().collect() };
    seen[entry] = true;
    let mut stack: SmallVec<[_; 8]> = smallvec![(entry, succs(entry))];
    while let Some((b, rest)) = stack.last_mut() {
        match rest.pop() {
            Some(s) if !seen[s] => {
                seen[s] = true;
                let next = succs(s);
                stack.push((s, next));
            }
            Some(_) => {}
            None => {
                out.push(*b);
                stack.pop();
            }
        }
    }
    out.reverse();
    out
}

impl Graph {
    /// Computes the graph of a body, and adds latches to it.
    ///
    /// # Errors
    /// A graph that is irreducible or nested too deeply.
    pub fn new(body: &mut Body) -> Result<Graph, Error> {
        let entry = body.entry.expand();
        let entry = entry.ok_or_else(|| Error::internal("a body without blocks"))?;
        let mut numbered = ReversePostorder::new(entry, body);
        if one_latch_each(&numbered, body)? {
            numbered = ReversePostorder::new(entry, body);
        }
        let phis = body.blocks.values_mut().flat_map(|b| &mut b.phis);
        phis.for_each(|phi| phi.args.sort_unstable_by_key(|a| a.0));
        let blocks = body.blocks.len();
        let mut g = Graph {
            entry,
            succs: sized(blocks),
            forward_preds: sized(blocks),
            order: numbered.order,
            rpo_index: numbered.rpo_index,
            idom: sized(blocks),
            ipdom: sized(blocks),
            loops: PrimaryMap::new(),
            loop_of: sized(blocks),
        };
        let mut edges = Edges::with_capacity(g.order.len());
        for (b, to) in g.order.iter().zip(numbered.succs.iter()) {
            let mut to: SmallVec<[u32; 2]> = SmallVec::from_slice(to);
            to.sort_unstable();
            to.dedup();
            let succs = to.iter().filter_map(|n| g.order.get(*n as usize));
            g.succs[*b] = succs.copied().collect();
            edges.push(to);
        }
        // A single block has no dominators and no loops.
        if g.order.len() == 1 && g.succs[entry].is_empty() {
            return Ok(g);
        }
        for (n, d) in dominators(0, &edges).into_iter().enumerate() {
            g.idom[g.order[n]] = g.order.get(d as usize).copied().into();
        }
        g.find_loops()?;
        for n in 0..g.order.len() {
            let b = g.order[n];
            for s in g.succs[b].clone() {
                if !g.is_back(b, s) {
                    g.forward_preds[s].push(b);
                }
            }
        }
        g.find_ipdoms(&edges);
        Ok(g)
    }

    /// Returns true for back edges.
    pub fn is_back(&self, from: Block, to: Block) -> bool {
        self.rpo_index[to] <= self.rpo_index[from]
    }

    /// Returns the loop that a block is the header of.
    pub fn loop_with_header(&self, b: Block) -> Option<Loop> {
        let l = self.loop_of[b].expand()?;
        (self.loops[l].header == b).then_some(l)
    }

    /// Returns true if a loop contains a block.
    pub fn loop_contains(&self, l: Loop, b: Block) -> bool {
        let mut at = self.loop_of[b].expand();
        while let Some(i) = at {
            if i == l {
                return true;
            }
            at = self.loops[i].parent.expand();
        }
        false
    }

    /// Returns the outermost loop that contains `from` and not `to`.
    pub fn exited_loop(&self, from: Block, to: Block) -> Option<Loop> {
        let mut out = None;
        let mut at = self.loop_of[from].expand();
        while let Some(l) = at {
            if self.loop_contains(l, to) {
                break;
            }
            out = Some(l);
            at = self.loops[l].parent.expand();
        }
        out
    }

    /// Finds loops, outer ones before inner ones.
    fn find_loops(&mut self) -> Result<(), Error> {
        // Header of the outermost loop found so far around each block, by index in the order.
        let mut outer: Vec<u32> = (0..self.order.len() as u32).collect();
        let mut found: Vec<(Block, Block, Vec<Block>)> = Vec::new();
        let forward = |b: &Block| self.succs[*b].iter().all(|s| !self.is_back(*b, *s));
        if self.order.iter().all(forward) {
            return Ok(());
        }
        let mut preds: SecondaryMap<Block, SmallVec<[Block; 2]>> = sized(self.succs.capacity());
        for b in &self.order {
            for s in &self.succs[*b] {
                preds[*s].push(*b);
            }
        }
        for n in (0..self.order.len()).rev() {
            let header = self.order[n];
            let latch = preds[header].iter().find(|p| self.is_back(**p, header));
            let Some(&latch) = latch else { continue };
            let mut inside = Vec::new();
            let mut todo = vec![latch];
            while let Some(b) = todo.pop() {
                let top = root(&mut outer, self.rpo_index[b]);
                if top as usize == n {
                    continue;
                }
                outer[top as usize] = n as u32;
                let b = self.order[top as usize];
                inside.push(b);
                let forward = preds[b].iter().filter(|p| !self.is_back(**p, b));
                todo.extend(forward);
            }
            found.push((header, latch, inside));
        }
        // In reverse, outer loops come first.
        for (header, latch, inside) in found.into_iter().rev() {
            let parent = self.loop_of[header];
            let depth = parent.expand().map_or(0, |p| self.loops[p].depth) + 1;
            if depth > MAX_LOOPS {
                return Err(Error::limit(format!(
                    "loops are nested deeper than {MAX_LOOPS}"
                )));
            }
            let l = self.loops.push(LoopData {
                header,
                latch,
                parent,
                depth,
            });
            self.loop_of[header] = l.into();
            // Blocks of inner loops are overwritten when those loops follow.
            for b in inside {
                self.loop_of[b] = l.into();
            }
        }
        Ok(())
    }

    fn find_ipdoms(&mut self, edges: &Edges) {
        let count = self.order.len();
        let exit = count as u32;
        // Edges of the reversed graph.
        let mut reversed: Vec<(u32, u32)> = Vec::with_capacity(2 * count);
        let mut ends = vec![false; count];
        for n in 0..exit {
            for &s in edges.of(n) {
                if s > n {
                    reversed.push((s, n));
                    ends[n as usize] = true;
                    // Since loops terminate, each exit is also a successor of the latch.
                    let (from, to) = (self.order[n as usize], self.order[s as usize]);
                    let mut at = self.loop_of[from].expand();
                    while let Some(l) = at.filter(|l| !self.loop_contains(*l, to)) {
                        let latch = self.rpo_index[self.loops[l].latch];
                        reversed.push((s, latch));
                        ends[latch as usize] = true;
                        at = self.loops[l].parent.expand();
                    }
                }
            }
        }
        let none = (0..).zip(&ends).filter(|(_, ends)| !**ends);
        reversed.extend(none.map(|(n, _)| (exit, n)));
        reversed.sort_by_key(|w| w.0);
        let mut back = Edges::with_capacity(count + 1);
        for of in 0..=exit {
            let first = reversed.partition_point(|w| w.0 < of);
            let of = reversed[first..].iter().take_while(|w| w.0 == of);
            back.push(of.map(|w| w.1));
        }
        for (n, d) in dominators(exit, &back).into_iter().take(count).enumerate() {
            self.ipdom[self.order[n]] = self.order.get(d as usize).copied().into();
        }
    }
}

/// Finds the root of a node in a union-find forest, with path halving.
fn root(up: &mut [u32], mut n: u32) -> u32 {
    while up[n as usize] != n {
        let next = up[up[n as usize] as usize];
        up[n as usize] = next;
        n = next;
    }
    n
}

/// Adds a latch to headers with several back edges, or with one from a block of several successors.
/// Returns true if there were any.
fn one_latch_each(graph: &ReversePostorder, body: &mut Body) -> Result<bool, Error> {
    if graph.back().next().is_none() {
        return Ok(false);
    }
    let before = body.blocks.len();
    let tree = graph.tree();
    let mut latches: SecondaryMap<Block, Vec<Block>> = sized(body.blocks.len());
    for (n, s) in graph.back() {
        if !tree.dominates(s, n) {
            return Err(Error::internal("irreducible control flow"));
        }
        latches[graph.order[s as usize]].push(graph.order[n as usize]);
    }
    for &header in &graph.order {
        let mut from = std::mem::take(&mut latches[header]);
        from.sort_unstable();
        from.dedup();
        // A block of several successors may be in an inner loop, or leave this one.
        let alone = |b: &Block| matches!(body.blocks[*b].term, Term::Branch(_));
        if from.is_empty() || from.len() == 1 && from.iter().all(alone) {
            continue;
        }
        let (at, line) = (body.blocks[header].at, body.blocks[header].line);
        let latch = body.blocks.push(BlockData {
            phis: Vec::new(),
            insts: Vec::new(),
            term: Term::Branch(header),
            at,
            line,
        });
        for b in &from {
            let to = |t| if t == header { latch } else { t };
            body.blocks[*b].term.map(to);
        }
        let mut phis = std::mem::take(&mut body.blocks[header].phis);
        for phi in &mut phis {
            let is_back = |a: &(Block, _)| from.binary_search(&a.0).is_ok();
            let (back, rest) = phi.args.iter().partition(|a| is_back(a));
            let id = body.fresh(phi.ty);
            let origin = body.origin(phi.id);
            body.set_origin(id, origin, Some(phi.ty));
            let (ty, at) = (phi.ty, phi.at);
            phi.args = rest;
            phi.args.push((latch, id));
            body.blocks[latch].phis.push(Phi {
                id,
                ty,
                at,
                args: back,
            });
        }
        body.blocks[header].phis = phis;
    }
    Ok(body.blocks.len() > before)
}
