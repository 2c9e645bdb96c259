//! Control-flow graph of a body: order, dominators, loops.
//!
//! Needs a body without inlinable calls. Afterwards every loop has one latch whose only successor
//! is the header. [`Graph::new`] adds it where necessary. Phi arguments are sorted by block.
//! Irreducible loops are removed before, by [`fix_irreducible`].

pub(crate) mod fix_irreducible;
pub(crate) mod rpo;
pub(crate) mod structurize;
pub(crate) mod uses;

use crate::body::{Block, BlockData, Body, Phi, Term};
use crate::error::Error;
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityRef, PrimaryMap, SecondaryMap, entity_impl};
use gantry_codegen::entity_set::{EntityLists, sized};
use gantry_codegen::graph::dominators::DominatorTree;
use gantry_codegen::graph::loops::Loops;
use gantry_codegen::graph::{self, DepthFirst};
use rpo::{Node, ReversePostorder, idoms};
use smallvec::SmallVec;

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
    DepthFirst::new(body, entry).into_reverse_postorder()
}

/// Successors come in the order of a terminator, the last one first.
impl graph::Graph for Body {
    type Node = Block;

    fn num_nodes(&self) -> usize {
        self.blocks.len()
    }

    fn successors(&self, block: Block) -> impl Iterator<Item = Block> {
        let all: SmallVec<[Block; 2]> = self.blocks[block].term.successors().collect();
        all.into_iter().rev()
    }
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
        let mut edges: EntityLists<Node, Node> = EntityLists::with_capacity(g.order.len(), 0);
        for (n, to) in numbered.succs.iter() {
            let mut to: SmallVec<[Node; 2]> = SmallVec::from_slice(to);
            to.sort_unstable();
            to.dedup();
            let succs = to.iter().filter_map(|s| g.order.get(s.index()));
            g.succs[g.order[n.index()]] = succs.copied().collect();
            edges.push(n, to);
        }
        // A single block has no dominators and no loops.
        if g.order.len() == 1 && g.succs[entry].is_empty() {
            return Ok(g);
        }
        for (n, d) in idoms(&edges, Node::new(0)).iter() {
            let d = d.expand().and_then(|d| g.order.get(d.index()));
            if let Some(b) = g.order.get(n.index()) {
                g.idom[*b] = d.copied().into();
            }
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
        let forward = |b: &Block| self.succs[*b].iter().all(|s| !self.is_back(*b, *s));
        if self.order.iter().all(forward) {
            return Ok(());
        }
        let count = self.succs.capacity();
        let preds: EntityLists<Block, Block> = EntityLists::grouped(count, |each| {
            for &b in &self.order {
                self.succs[b].iter().for_each(|&s| each(s, b));
            }
        });
        let tree = DominatorTree::new(&self.order, &self.idom);
        let found = Loops::new(count, &self.order, &tree, |b| preds[b].iter().copied());
        // Outer loops come first here.
        let number = |l: graph::loops::Loop| Loop((found.loops.len() - 1 - l.index()) as u32);
        for data in found.loops.values().rev() {
            if data.depth > MAX_LOOPS {
                return Err(Error::limit(format!(
                    "loops are nested deeper than {MAX_LOOPS}"
                )));
            }
            let header = data.header;
            let latch = preds[header].iter().find(|p| self.is_back(**p, header));
            self.loops.push(LoopData {
                header,
                latch: *latch.unwrap_or(&header),
                parent: data.parent.map(number).into(),
                depth: data.depth,
            });
        }
        for &b in &self.order {
            self.loop_of[b] = found.of(b).map(number).into();
        }
        Ok(())
    }

    fn find_ipdoms(&mut self, edges: &EntityLists<Node, Node>) {
        let count = self.order.len();
        let exit = Node::new(count);
        // Edges of the reversed graph.
        let mut reversed: Vec<(Node, Node)> = Vec::with_capacity(2 * count);
        let mut ends: SecondaryMap<Node, bool> = sized(count);
        for (n, to) in edges.iter() {
            for &s in to.iter().filter(|s| **s > n) {
                reversed.push((s, n));
                ends[n] = true;
                // Since loops terminate, each exit is also a successor of the latch.
                let (from, to) = (self.order[n.index()], self.order[s.index()]);
                let mut at = self.loop_of[from].expand();
                while let Some(l) = at.filter(|l| !self.loop_contains(*l, to)) {
                    let latch = Node::new(self.rpo_index[self.loops[l].latch] as usize);
                    reversed.push((s, latch));
                    ends[latch] = true;
                    at = self.loops[l].parent.expand();
                }
            }
        }
        let none = (0..count).map(Node::new).filter(|n| !ends[*n]);
        reversed.extend(none.map(|n| (exit, n)));
        let back = EntityLists::grouped(count + 1, |each| {
            reversed.iter().for_each(|&(from, to)| each(from, to));
        });
        let ipdoms = idoms(&back, exit);
        for (n, b) in self.order.iter().enumerate() {
            let d = ipdoms[Node::new(n)].expand();
            self.ipdom[*b] = d.and_then(|d| self.order.get(d.index())).copied().into();
        }
    }
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
        latches[graph.order[s.index()]].push(graph.order[n.index()]);
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
