//! Dominators.

use super::DepthFirst;
use super::lengauer_tarjan::immediate_dominators;
use crate::sized;
use cranelift_entity::packed_option::{PackedOption, ReservedValue};
use cranelift_entity::{EntityRef, SecondaryMap};

/// Computes the immediate dominator of each node that a walk reached: the closest other node on
/// every path from the root. The root and other nodes have none.
///
/// `preds` calls its argument with each predecessor of a node. Those that were not reached are
/// ignored.
pub fn dominators<N: EntityRef + ReservedValue>(
    walk: &DepthFirst<N>,
    preds: impl Fn(N, &mut dyn FnMut(N)),
) -> SecondaryMap<N, PackedOption<N>> {
    let nodes = &walk.preorder;
    let count = nodes.iter().map(|n| n.index() + 1).max().unwrap_or(0);
    let mut out: SecondaryMap<N, PackedOption<N>> = sized(count);
    if nodes.len() < 2 {
        return out;
    }
    let idoms = immediate_dominators(&walk.parents, |w, each| {
        preds(nodes[w], &mut |p| {
            if let Some(p) = walk.index(p) {
                each(p);
            }
        });
    });
    for (&node, up) in nodes.iter().zip(idoms).skip(1) {
        out[node] = nodes[up as usize].into();
    }
    out
}

/// Dominator tree as intervals, which answers in constant time if one node dominates another.
#[derive(Clone, Debug)]
pub struct DominatorTree<N: EntityRef> {
    /// First and last number within the subtree of each node; (0, 0) for nodes that are not
    /// reached.
    intervals: SecondaryMap<N, (u32, u32)>,
}

impl<N: EntityRef + ReservedValue> DominatorTree<N> {
    /// Numbers the tree of the nodes in `order`, where each comes after its dominators.
    pub fn new(order: &[N], idom: &SecondaryMap<N, PackedOption<N>>) -> DominatorTree<N> {
        let count = order.iter().map(|n| n.index() + 1).max().unwrap_or(0);
        // Number of nodes that each node dominates, itself included.
        let mut sizes: SecondaryMap<N, u32> = sized(count);
        for &n in order.iter().rev() {
            sizes[n] += 1;
            if let Some(up) = idom[n].expand() {
                sizes[up] += sizes[n];
            }
        }
        let mut intervals: SecondaryMap<N, (u32, u32)> = sized(count);
        // First free number in the interval of a node.
        let mut free: SecondaryMap<N, u32> = sized(count);
        let mut next_root = 1;
        for &n in order {
            let from = match idom[n].expand() {
                Some(up) => &mut free[up],
                None => &mut next_root,
            };
            let first = *from;
            *from += sizes[n];
            intervals[n] = (first, first + sizes[n] - 1);
            free[n] = first + 1;
        }
        DominatorTree { intervals }
    }

    /// Returns true if `a` dominates `b`, as each node does itself. False if one is not reached.
    pub fn dominates(&self, a: N, b: N) -> bool {
        let (a, b) = (self.intervals[a], self.intervals[b]);
        a.0 != 0 && a.0 <= b.0 && b.1 <= a.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entity_set::EntityLists;
    use crate::fuzzing::Rng;
    use crate::graph::predecessors;
    use crate::ir::Block;

    /// Returns the nodes that the root reaches, on paths without a node.
    fn reached(graph: &EntityLists<Block, Block>, without: Option<Block>) -> Vec<bool> {
        let mut seen = vec![false; graph.len()];
        let mut work = vec![Block::new(0)];
        while let Some(b) = work.pop() {
            if Some(b) != without && !std::mem::replace(&mut seen[b.index()], true) {
                work.extend(&graph[b]);
            }
        }
        seen
    }

    /// Dominators match their definition: nodes without which a node is not reached.
    #[test]
    fn dominators_of_random_graphs() {
        let mut rng = Rng::new(7);
        for _ in 0..2000 {
            let n = 1 + rng.below(14);
            let node = |n: usize| Block::new(n);
            let mut graph = EntityLists::with_capacity(n as usize, 0);
            for b in 0..n as usize {
                let to: Vec<Block> = (0..rng.below(4))
                    .map(|_| Block::from_u32(rng.below(n)))
                    .collect();
                graph.push(node(b), to);
            }
            let preds = predecessors(&graph);
            let walk = DepthFirst::new(&graph, node(0));
            let idom = dominators(&walk, |b, each| preds[b].iter().for_each(|p| each(*p)));
            let tree = DominatorTree::new(&walk.into_reverse_postorder(), &idom);
            let all = reached(&graph, None);
            let n = n as usize;
            let without: Vec<Vec<bool>> = (0..n).map(|b| reached(&graph, Some(node(b)))).collect();
            let dominates = |a: usize, b: usize| all[a] && all[b] && !without[a][b];
            for (a, b) in (0..n * n).map(|i| (i / n, i % n)) {
                assert_eq!(tree.dominates(node(a), node(b)), dominates(a, b), "{a} {b}");
            }
            for b in 0..n {
                let strict = |a: &usize| *a != b && dominates(*a, b);
                // Every other dominator dominates the immediate one.
                let closest = (0..n)
                    .filter(strict)
                    .find(|d| (0..n).filter(strict).all(|a| dominates(a, *d)));
                assert_eq!(idom[node(b)].expand(), closest.map(node));
            }
        }
    }
}
