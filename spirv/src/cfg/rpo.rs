//! Reverse postorder and dominators of a body, for passes that run before there is a
//! [`super::Graph`].

use crate::body::{Block, Body};
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityRef, SecondaryMap, entity_impl};
use gantry_codegen::entity_set::EntityLists;
use gantry_codegen::graph::dominators::{DominatorTree, dominators};
use gantry_codegen::graph::{DepthFirst, predecessors};

/// Block by its index in the reverse postorder.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Node(u32);
entity_impl!(Node);

/// Reachable blocks in reverse postorder.
pub(crate) struct ReversePostorder {
    pub order: Vec<Block>,
    /// Index of each block in `order`, or `u32::MAX` for others.
    pub rpo_index: SecondaryMap<Block, u32>,
    /// Successors of each block by index, with repetitions.
    pub succs: EntityLists<Node, Node>,
}

impl ReversePostorder {
    /// Computes the order of a body.
    pub fn new(entry: Block, body: &Body) -> ReversePostorder {
        let order = super::order(entry, body);
        let mut rpo_index: SecondaryMap<Block, u32> = SecondaryMap::with_default(u32::MAX);
        rpo_index.resize(body.blocks.len());
        for (n, b) in order.iter().enumerate() {
            rpo_index[*b] = n as u32;
        }
        let mut succs = EntityLists::with_capacity(order.len(), 2 * order.len());
        for (n, b) in order.iter().enumerate() {
            let to = body.blocks[*b].term.successors();
            succs.push(Node::new(n), to.map(|s| Node(rpo_index[s])));
        }
        ReversePostorder {
            order,
            rpo_index,
            succs,
        }
    }

    /// Computes the immediate dominator of each block. The entry has none.
    pub fn idoms(&self) -> SecondaryMap<Node, PackedOption<Node>> {
        idoms(&self.succs, Node(0))
    }

    /// Computes the dominator tree.
    pub fn tree(&self) -> DominatorTree<Node> {
        let nodes: Vec<Node> = (0..self.order.len()).map(Node::new).collect();
        DominatorTree::new(&nodes, &self.idoms())
    }

    /// Iterates over edges to the same or an earlier block: from, to.
    pub fn back(&self) -> impl Iterator<Item = (Node, Node)> + '_ {
        let from = self.succs.iter();
        let all = from.flat_map(|(n, to)| to.iter().map(move |s| (n, *s)));
        all.filter(|(n, s)| s <= n)
    }
}

/// Computes the immediate dominator of each node that a root reaches. The root has none.
pub(super) fn idoms(
    succs: &EntityLists<Node, Node>,
    root: Node,
) -> SecondaryMap<Node, PackedOption<Node>> {
    let preds = predecessors(succs);
    dominators(&DepthFirst::new(succs, root), |n, each| {
        preds[n].iter().for_each(|p| each(*p));
    })
}
