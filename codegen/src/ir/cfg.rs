//! Control-flow graph: predecessors, block order, dominators.

use super::entities::{Block, Inst};
use super::function::Function;
use crate::entity_set::EntityLists;
use crate::graph::DepthFirst;
use crate::graph::dominators::{DominatorTree, dominators};
use crate::sized;
use cranelift_entity::{SecondaryMap, packed_option::PackedOption};

/// Control-flow graph of a function, a snapshot. Branches to blocks that do not exist are left out.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ControlFlow {
    /// Branches to each block, with the blocks that they end.
    preds: EntityLists<Block, (Block, Inst)>,
    /// Reachable blocks in reverse postorder, so each comes after its dominators.
    order: Vec<Block>,
    /// Position in `order`, counted from 1; 0 for unreachable blocks.
    number: SecondaryMap<Block, u32>,
    idom: SecondaryMap<Block, PackedOption<Block>>,
}

impl ControlFlow {
    /// Computes the graph of a function.
    pub fn new(func: &Function) -> Self {
        let blocks = func.dfg.num_blocks();
        let laid_out = func.layout.blocks();
        // Terminators are read once, since those of a large function are far apart in memory.
        let mut succs = EntityLists::with_capacity(blocks, laid_out.len());
        for &block in laid_out {
            succs.push(block, destinations(func, block));
        }
        let edges = |each: &mut dyn FnMut(Block, (Block, Inst))| {
            for &block in laid_out {
                if let Some(branch) = func.layout.terminator(block) {
                    let dests = succs[block].iter();
                    dests.for_each(|&dest| each(dest, (block, branch)));
                }
            }
        };
        let mut cfg = ControlFlow {
            preds: EntityLists::grouped(blocks, edges),
            order: Vec::new(),
            number: sized(blocks),
            idom: sized(blocks),
        };
        if let Some(entry) = func.layout.entry() {
            let walk = DepthFirst::new(&succs, entry);
            cfg.idom = dominators(&walk, |block, each| {
                cfg.preds[block].iter().for_each(|p| each(p.0));
            });
            cfg.order = walk.into_reverse_postorder();
            for (n, &b) in cfg.order.iter().enumerate() {
                cfg.number[b] = n as u32 + 1;
            }
        }
        cfg
    }

    /// Returns the branches to a block, each with the block that it ends.
    pub fn preds(&self, block: Block) -> &[(Block, Inst)] {
        &self.preds[block]
    }

    /// Returns the reachable blocks in reverse postorder, each after its dominators.
    pub fn order(&self) -> &[Block] {
        &self.order
    }

    /// Returns true if the entry reaches a block.
    pub fn is_reachable(&self, block: Block) -> bool {
        self.number[block] != 0
    }

    /// Returns true if any edge leads to an earlier block in the order. Without such an edge there
    /// are no loops.
    pub fn has_back_edge(&self) -> bool {
        let back = |b: &Block| {
            let preds = self.preds(*b).iter();
            preds
                .map(|p| self.number[p.0])
                .any(|n| n >= self.number[*b])
        };
        self.order.iter().any(back)
    }

    /// Returns the immediate dominator: the closest other block on every path to this one.
    pub fn idom(&self, block: Block) -> Option<Block> {
        self.idom[block].expand()
    }

    /// Returns the dominator tree of the reachable blocks.
    pub fn dominator_tree(&self) -> DominatorTree<Block> {
        DominatorTree::new(&self.order, &self.idom)
    }
}

/// Iterates over the destinations of a block's terminator, as far as they exist.
fn destinations(func: &Function, block: Block) -> impl Iterator<Item = Block> + '_ {
    let end = func.layout.terminator(block);
    let dests = end.map_or(&[][..], |i| func.dfg.destinations(i));
    let dests = dests.iter().map(|d| d.block);
    dests.filter(|b| func.dfg.has_block(*b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cranelift_entity::EntityRef;

    #[test]
    fn dominators_of_a_loop_with_a_diamond() {
        let text = "kernel %k(i32) simd1 {\nblock0(v0: i32):\n    v1 = icmp eq v0, v0\n    jump block1\n\
            block1:\n    brif v1, block2, block3\nblock2:\n    jump block4\nblock3:\n    jump block4\n\
            block4:\n    brif v1, block1, block5\nblock5:\n    return\nblock6:\n    jump block5\n}\n";
        let m = crate::ir::text::parse(text).map(|p| p.module);
        let m = m.unwrap_or_default();
        let f = m.functions.values().next();
        let cfg = f.map(ControlFlow::new).unwrap_or_default();
        let b = |n: usize| Block::new(n);
        assert_eq!(cfg.idom(b(0)), None);
        assert_eq!(cfg.idom(b(4)), Some(b(1)));
        assert_eq!(cfg.idom(b(5)), Some(b(4)));
        assert!(!cfg.is_reachable(b(6)));
        assert_eq!(cfg.preds(b(1)).len(), 2);
        let tree = cfg.dominator_tree();
        let dominates = |x: usize, y: usize| tree.dominates(b(x), b(y));
        assert!(dominates(0, 5) && dominates(1, 4) && dominates(3, 3));
        assert!(!dominates(2, 4) && !dominates(4, 2));
    }
}
