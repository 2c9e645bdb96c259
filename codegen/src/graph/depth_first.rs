//! Depth-first walk of a graph.

use super::Graph;
use crate::sized;
use cranelift_entity::{EntityRef, SecondaryMap};
use smallvec::{SmallVec, smallvec};

/// Depth-first walk from a root: the nodes that it reaches, in two orders, and the tree of the
/// walk.
#[derive(Clone, Debug)]
pub struct DepthFirst<N: EntityRef> {
    /// Nodes in preorder.
    pub preorder: Vec<N>,
    /// Index in `preorder` of each node's parent in the tree, by the node's own index. That of the
    /// root is 0.
    pub parents: Vec<u32>,
    /// Nodes in postorder.
    pub postorder: Vec<N>,
    /// Index in `preorder`, counted from 1; 0 for nodes that are not reached.
    number: SecondaryMap<N, u32>,
}

impl<N: EntityRef> DepthFirst<N> {
    /// Walks a graph. Uses an explicit stack, since graphs may be deep.
    pub fn new<G: Graph<Node = N>>(graph: &G, root: N) -> DepthFirst<N> {
        let count = graph.num_nodes();
        let mut out = DepthFirst {
            preorder: Vec::with_capacity(count),
            parents: Vec::with_capacity(count),
            postorder: Vec::with_capacity(count),
            number: sized(count),
        };
        out.enter(root, 0);
        let mut stack: SmallVec<[_; 16]> = smallvec![(root, 0, graph.successors(root))];
        while let Some((node, index, successors)) = stack.last_mut() {
            match successors.next() {
                Some(next) if out.number[next] == 0 => {
                    let parent = *index;
                    let index = out.enter(next, parent);
                    stack.push((next, index, graph.successors(next)));
                }
                Some(_) => {}
                None => {
                    out.postorder.push(*node);
                    stack.pop();
                }
            }
        }
        out
    }

    /// Appends a node to the preorder, and returns its index.
    fn enter(&mut self, node: N, parent: u32) -> u32 {
        let index = self.preorder.len() as u32;
        self.preorder.push(node);
        self.parents.push(parent);
        self.number[node] = index + 1;
        index
    }

    /// Returns the index of a node in the preorder, if the walk reaches it.
    pub fn index(&self, node: N) -> Option<u32> {
        self.number[node].checked_sub(1)
    }

    /// Returns the reverse of the postorder. Each node comes after its dominators.
    pub fn into_reverse_postorder(mut self) -> Vec<N> {
        self.postorder.reverse();
        self.postorder
    }
}
