//! Graph algorithms that are independent of code: orders, dominators, loops, disjoint sets.
//!
//! The IR, SPIR-V bodies and machine code are graphs of their own blocks. Each implements
//! [`Graph`], and the algorithms are generic over it.

mod depth_first;
pub mod dominators;
mod lengauer_tarjan;
pub mod loops;
pub mod union_find;

pub use depth_first::DepthFirst;

use crate::entity_set::EntityLists;
use cranelift_entity::EntityRef;

/// Directed graph whose nodes are entities.
pub trait Graph {
    /// Node, by its number.
    type Node: EntityRef;

    /// Returns a number above that of every node.
    fn num_nodes(&self) -> usize;

    /// Iterates over the successors of a node, in the order of a depth-first walk. One may be
    /// repeated.
    fn successors(&self, node: Self::Node) -> impl Iterator<Item = Self::Node>;
}

/// The lists are the successors of each node.
impl<N: EntityRef> Graph for EntityLists<N, N> {
    type Node = N;

    fn num_nodes(&self) -> usize {
        self.len()
    }

    fn successors(&self, node: N) -> impl Iterator<Item = N> {
        self[node].iter().copied()
    }
}

/// Returns the predecessors of each node, in the order of the nodes.
pub fn predecessors<N: EntityRef>(successors: &EntityLists<N, N>) -> EntityLists<N, N> {
    EntityLists::grouped(successors.len(), |each| {
        for (from, to) in successors.iter() {
            to.iter().for_each(|&to| each(to, from));
        }
    })
}
