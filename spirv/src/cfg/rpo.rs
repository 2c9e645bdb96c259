//! A body's blocks by number, with who dominates whom: what is asked before there is a [`super::Graph`].

use super::dominators::{Edges, NONE, Tree, dominators};
use crate::body::{Block, Body};
use cranelift_entity::SecondaryMap;

/// The blocks that are reached, by their places in an order in which each is behind what leads to it, as far as that goes.
pub(crate) struct ReversePostorder {
    pub order: Vec<Block>,
    /// Places in the order.
    pub place: SecondaryMap<Block, u32>,
    /// Where each leads, as often as it says so.
    pub succs: Edges,
}

impl ReversePostorder {
    /// The blocks of a body.
    pub fn new(entry: Block, body: &Body) -> ReversePostorder {
        let order = super::order(entry, body);
        let mut place: SecondaryMap<Block, u32> = SecondaryMap::with_default(NONE);
        place.resize(body.blocks.len());
        for (n, b) in order.iter().enumerate() {
            place[*b] = n as u32;
        }
        let mut succs = Edges::with_capacity(order.len());
        for b in &order {
            succs.push(body.blocks[*b].term.successors().map(|s| place[s]));
        }
        ReversePostorder {
            order,
            place,
            succs,
        }
    }

    /// Who dominates whom.
    pub fn tree(&self) -> Tree {
        Tree::new(dominators(0, &self.succs))
    }

    /// The edges that go back, or stay: from, to.
    pub fn back(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let from = (0..).zip(self.succs.iter());
        let all = from.flat_map(|(n, to)| to.iter().map(move |s| (n, *s)));
        all.filter(|(n, s)| s <= n)
    }
}
