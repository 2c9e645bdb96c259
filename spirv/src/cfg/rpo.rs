//! Reverse postorder and dominators of a body, for passes that run before there is a
//! [`super::Graph`].

use super::dominators::{DominatorTree, Edges, NONE, dominators};
use crate::body::{Block, Body};
use cranelift_entity::SecondaryMap;

/// Reachable blocks in reverse postorder.
pub(crate) struct ReversePostorder {
    pub order: Vec<Block>,
    /// Index of each block in `order`.
    pub rpo_index: SecondaryMap<Block, u32>,
    /// Successors of each block by index, with repetitions.
    pub succs: Edges,
}

impl ReversePostorder {
    /// Computes the order of a body.
    pub fn new(entry: Block, body: &Body) -> ReversePostorder {
        let order = super::order(entry, body);
        let mut rpo_index: SecondaryMap<Block, u32> = SecondaryMap::with_default(NONE);
        rpo_index.resize(body.blocks.len());
        for (n, b) in order.iter().enumerate() {
            rpo_index[*b] = n as u32;
        }
        let mut succs = Edges::with_capacity(order.len());
        for b in &order {
            succs.push(body.blocks[*b].term.successors().map(|s| rpo_index[s]));
        }
        ReversePostorder {
            order,
            rpo_index,
            succs,
        }
    }

    /// Computes the dominator tree.
    pub fn tree(&self) -> DominatorTree {
        DominatorTree::new(dominators(0, &self.succs))
    }

    /// Iterates over edges to the same or an earlier block: from, to.
    pub fn back(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let from = (0..).zip(self.succs.iter());
        let all = from.flat_map(|(n, to)| to.iter().map(move |s| (n, *s)));
        all.filter(|(n, s)| s <= n)
    }
}
