//! Passes over natural loops.

pub(crate) mod rotate;
pub(crate) mod unroll;

use crate::graph;
use crate::ir::{Block, ControlFlow, Function};

pub(crate) use crate::graph::loops::Loop;

/// Natural loops of a function.
pub(crate) type Loops = graph::loops::Loops<Block>;

/// Finds the natural loops of a function.
pub(crate) fn find(func: &Function, cfg: &ControlFlow) -> Loops {
    let count = func.dfg.num_blocks();
    if !cfg.has_back_edge() {
        return Loops::none(count);
    }
    let tree = cfg.dominator_tree();
    let preds = |b| cfg.preds(b).iter().map(|p| p.0);
    Loops::new(count, cfg.order(), &tree, preds)
}
