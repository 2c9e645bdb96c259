//! Natural loops: their headers and their nesting.

use super::dominators::DominatorTree;
use super::union_find::UnionFind;
use crate::sized;
use cranelift_entity::packed_option::{PackedOption, ReservedValue};
use cranelift_entity::{EntityRef, PrimaryMap, SecondaryMap, entity_impl};

/// Loop of a graph.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Loop(u32);
entity_impl!(Loop, "loop");

/// Header, parent and depth of a loop.
#[derive(Clone, Debug)]
pub struct LoopData<N> {
    /// Node that every entry into the loop goes through.
    pub header: N,
    /// Innermost loop around this one.
    pub parent: PackedOption<Loop>,
    /// Nesting depth: 1 for an outermost loop.
    pub depth: u32,
}

/// Natural loops of a graph: those with one header that dominates all of their nodes. Nodes of
/// irreducible cycles belong to the loops around these.
#[derive(Clone, Debug)]
pub struct Loops<N: EntityRef> {
    /// Loops, inner ones before those around them.
    pub loops: PrimaryMap<Loop, LoopData<N>>,
    /// Innermost loop of each node.
    innermost: SecondaryMap<N, PackedOption<Loop>>,
}

impl<N: EntityRef> Loops<N> {
    /// Returns the loops of a graph without any. Its nodes are below `count`.
    pub fn none(count: usize) -> Loops<N> {
        Loops {
            loops: PrimaryMap::new(),
            innermost: sized(count),
        }
    }

    /// Returns the innermost loop of a node.
    pub fn of(&self, node: N) -> Option<Loop> {
        self.innermost[node].expand()
    }

    /// Returns true if a node is in a loop, or in a loop in it.
    pub fn contains(&self, this: Loop, node: N) -> bool {
        let mut at = self.of(node);
        while let Some(l) = at.filter(|l| *l != this) {
            at = self.loops[l].parent.expand();
        }
        at.is_some()
    }

    /// Returns the number of loops around a node.
    pub fn depth(&self, node: N) -> u32 {
        self.of(node).map_or(0, |l| self.loops[l].depth)
    }
}

impl<N: EntityRef + ReservedValue> Loops<N> {
    /// Finds loops, in time that grows with edges and with the logarithm of the nesting depth.
    ///
    /// `order` is a reverse postorder of the graph, whose nodes are below `count`, and `preds`
    /// iterates over the predecessors of a node.
    pub fn new<P: Iterator<Item = N>>(
        count: usize,
        order: &[N],
        tree: &DominatorTree<N>,
        preds: impl Fn(N) -> P,
    ) -> Loops<N> {
        let mut out = Loops::none(count);
        let is_reached = |n: &N| tree.dominates(*n, *n);
        // Sets of loops, whose roots are the outermost ones that are known.
        let mut outermost: UnionFind<Loop> = UnionFind::default();
        let mut stack = Vec::new();
        // Inner loops have later headers, so they are found first. Loops around them take each as
        // one step.
        for &header in order.iter().rev() {
            stack.extend(preds(header).filter(|&n| tree.dominates(header, n)));
            if stack.is_empty() {
                continue;
            }
            let this = out.loops.push(LoopData {
                header,
                parent: None.into(),
                depth: 0,
            });
            while let Some(node) = stack.pop() {
                let outer = out.of(node).map(|l| outermost.find(l));
                let next = match outer {
                    Some(l) if l == this => continue,
                    None => {
                        out.innermost[node] = this.into();
                        node
                    }
                    Some(inner) => {
                        out.loops[inner].parent = this.into();
                        outermost.union(this, inner);
                        out.loops[inner].header
                    }
                };
                if next != header {
                    stack.extend(preds(next).filter(is_reached));
                }
            }
        }
        // Outer loops were made later than inner ones.
        for n in (0..out.loops.len()).rev() {
            let this = Loop::new(n);
            let around = out.loops[this].parent.expand();
            out.loops[this].depth = 1 + around.map_or(0, |l| out.loops[l].depth);
        }
        out
    }
}
