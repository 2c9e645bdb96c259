//! Dominators of a graph whose nodes are numbers.

use gantry_codegen::graph::dominators::immediate_dominators;
use smallvec::{SmallVec, smallvec};

/// No node.
pub(crate) const NONE: u32 = u32::MAX;

/// Dominator tree, rooted at node 0.
pub(crate) struct DominatorTree {
    /// Immediate dominators. [`NONE`] for the root.
    pub idoms: Vec<u32>,
    /// Preorder number of each node, and the end of the numbers of its subtree.
    spans: Vec<(u32, u32)>,
}

impl DominatorTree {
    /// Builds the tree of immediate dominators.
    pub fn new(idoms: Vec<u32>) -> DominatorTree {
        let spans = spans(&idoms);
        DominatorTree { idoms, spans }
    }

    /// Returns true if `d` dominates `n`.
    pub fn dominates(&self, d: u32, n: u32) -> bool {
        let (d, n) = (self.spans[d as usize], self.spans[n as usize]);
        d.0 <= n.0 && n.0 < d.1
    }
}

/// Successor lists of a graph, in one allocation.
#[derive(Default)]
pub(crate) struct Edges {
    /// End of the list of each node in `to`. It begins where that of the node before ends.
    ends: Vec<u32>,
    to: Vec<u32>,
}

impl Edges {
    /// Empty graph with capacity for `nodes` nodes.
    pub fn with_capacity(nodes: usize) -> Edges {
        Edges {
            ends: Vec::with_capacity(nodes),
            to: Vec::with_capacity(2 * nodes),
        }
    }

    /// Adds a node with its successors.
    pub fn push(&mut self, to: impl IntoIterator<Item = u32>) {
        self.to.extend(to);
        self.ends.push(self.to.len() as u32);
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Successors of a node.
    pub fn of(&self, node: u32) -> &[u32] {
        let begin = node.checked_sub(1).map_or(0, |n| self.ends[n as usize]);
        &self.to[begin as usize..self.ends[node as usize] as usize]
    }

    /// Iterates over the successors of each node in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> + '_ {
        (0..self.len() as u32).map(|n| self.of(n))
    }

    /// Reverses the edges among the nodes of `order`, named by their `number` in it.
    fn turned(&self, order: &[u32], number: &[u32]) -> Edges {
        let mut ends = vec![0; order.len() + 1];
        let targets = |n: &u32| self.of(*n).iter().map(|s| number[*s as usize]);
        for to in order.iter().flat_map(targets) {
            ends[to as usize + 1] += 1;
        }
        for n in 1..ends.len() {
            ends[n] += ends[n - 1];
        }
        let mut to = vec![0; ends[order.len()] as usize];
        // The start of each list advances to its end, which is the start of the next one.
        for (from, node) in (0..).zip(order) {
            for target in targets(node) {
                let at = &mut ends[target as usize];
                to[*at as usize] = from;
                *at += 1;
            }
        }
        ends.pop();
        Edges { ends, to }
    }
}

/// Computes the immediate dominator of each node. It is [`NONE`] for the root and for unreachable
/// nodes.
pub(crate) fn dominators(root: u32, succs: &Edges) -> Vec<u32> {
    let mut out = vec![NONE; succs.len()];
    if root as usize >= succs.len() {
        return out;
    }
    // From here on nodes are named by their depth-first numbers.
    let (order, number, parents) = walk(root, succs);
    let preds = succs.turned(&order, &number);
    let idoms = immediate_dominators(&parents, |n, each| {
        preds.of(n as u32).iter().for_each(|p| each(*p));
    });
    for (node, idom) in order.iter().zip(idoms).skip(1) {
        out[*node as usize] = order[idom as usize];
    }
    out
}

/// Depth-first walk: nodes in preorder, their numbers, and their parents by number.
fn walk(root: u32, succs: &Edges) -> (Vec<u32>, Vec<u32>, Vec<u32>) {
    let mut order = Vec::with_capacity(succs.len());
    order.push(root);
    let mut number = vec![NONE; succs.len()];
    let mut parent = Vec::with_capacity(succs.len());
    parent.push(0);
    number[root as usize] = 0;
    let mut stack: SmallVec<[(u32, u32); 16]> = smallvec![(root, 0)];
    while let Some((node, next)) = stack.last_mut() {
        let Some(s) = succs.of(*node).get(*next as usize).copied() else {
            stack.pop();
            continue;
        };
        *next += 1;
        let from = number[*node as usize];
        if number[s as usize] == NONE {
            number[s as usize] = order.len() as u32;
            order.push(s);
            parent.push(from);
            stack.push((s, 0));
        }
    }
    (order, number, parent)
}

fn spans(idoms: &[u32]) -> Vec<(u32, u32)> {
    // Children as linked lists: the first of each node, and the next sibling.
    let mut first = vec![NONE; idoms.len()];
    let mut next = vec![NONE; idoms.len()];
    for (n, d) in (0..idoms.len() as u32).zip(idoms).rev() {
        if let Some(first) = first.get_mut(*d as usize) {
            next[n as usize] = std::mem::replace(first, n);
        }
    }
    let mut out = vec![(0, 0); idoms.len()];
    if idoms.is_empty() {
        return out;
    }
    let mut clock = 1;
    let mut stack: SmallVec<[u32; 16]> = smallvec![0];
    while let Some(&n) = stack.last() {
        let node = n as usize;
        match std::mem::replace(&mut first[node], NONE) {
            NONE => {
                out[node].1 = clock;
                stack.pop();
            }
            below => {
                first[node] = next[below as usize];
                out[below as usize].0 = clock;
                clock += 1;
                stack.push(below);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reference by definition: `d` dominates `n` if `n` cannot be reached without `d`.
    fn slow(root: u32, succs: &[Vec<u32>]) -> Vec<u32> {
        let reach = |without: u32| {
            let mut seen = vec![false; succs.len()];
            let mut todo = vec![root];
            while let Some(n) = todo.pop() {
                if n != without && !std::mem::replace(&mut seen[n as usize], true) {
                    todo.extend(&succs[n as usize]);
                }
            }
            seen
        };
        let all = reach(NONE);
        let doms: Vec<Vec<bool>> = (0..succs.len() as u32).map(reach).collect();
        let dominates = |d: u32, n: u32| d == n || !doms[d as usize][n as usize];
        let of = |n: u32| {
            let strict =
                (0..succs.len() as u32).filter(|d| all[*d as usize] && *d != n && dominates(*d, n));
            let strict: Vec<u32> = strict.collect();
            let closest = strict
                .iter()
                .find(|d| strict.iter().all(|e| dominates(*e, **d)));
            closest.copied().unwrap_or(NONE)
        };
        (0..succs.len() as u32)
            .map(|n| if all[n as usize] { of(n) } else { NONE })
            .collect()
    }

    #[test]
    fn as_defined() {
        let mut state = 0x1234_5678_9abc_def1u64;
        let mut random = |n: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % n
        };
        for _ in 0..2000 {
            let n = 1 + random(12);
            let succs: Vec<Vec<u32>> = (0..n)
                .map(|_| (0..random(4)).map(|_| random(n) as u32).collect())
                .collect();
            let mut edges = Edges::with_capacity(succs.len());
            succs.iter().for_each(|s| edges.push(s.iter().copied()));
            assert_eq!(dominators(0, &edges), slow(0, &succs), "{succs:?}");
        }
    }
}
