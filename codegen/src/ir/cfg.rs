//! Control-flow graph: predecessors, block order, dominators.

use super::entities::{Block, Inst};
use super::function::Function;
use crate::graph::dominators::immediate_dominators;
use crate::sized;
use cranelift_entity::{SecondaryMap, packed_option::PackedOption};
use smallvec::{SmallVec, smallvec};

/// Control-flow graph of a function, a snapshot. Branches to blocks that do not exist are left out.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ControlFlow {
    /// Incoming edges of all blocks, grouped by destination.
    edges: Vec<(Block, Inst)>,
    preds: SecondaryMap<Block, (u32, u32)>,
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
        let mut cfg = ControlFlow {
            edges: Vec::new(),
            preds: sized(blocks),
            order: Vec::with_capacity(func.layout.blocks().len()),
            number: sized(blocks),
            idom: sized(blocks),
        };
        // Terminators are read once, since those of a large function are far apart in memory.
        let mut succs = Succs {
            dests: Vec::with_capacity(func.layout.blocks().len()),
            of: sized(blocks),
        };
        for &block in func.layout.blocks() {
            let from = succs.dests.len() as u32;
            for dest in destinations(func, block) {
                cfg.preds[dest].1 += 1;
                succs.dests.push(dest);
            }
            succs.of[block] = (from, succs.dests.len() as u32);
        }
        let mut sum = 0;
        for block in (0..func.dfg.num_blocks()).map(|n| Block::from_u32(n as u32)) {
            let count = cfg.preds[block].1;
            if count > 0 {
                cfg.preds[block] = (sum, sum);
                sum += count;
            }
        }
        if let Some(&any) = func.layout.blocks().first() {
            cfg.edges = vec![(any, Inst::from_u32(0)); sum as usize];
        }
        for &block in func.layout.blocks() {
            let Some(inst) = func.layout.terminator(block) else {
                continue;
            };
            for &dest in succs.of(block) {
                let end = &mut cfg.preds[dest].1;
                cfg.edges[*end as usize] = (block, inst);
                *end += 1;
            }
        }
        if let Some(entry) = func.layout.entry() {
            let tree = cfg.compute_postorder(entry, &succs);
            cfg.compute_idoms(&tree);
        }
        cfg
    }

    /// Computes the reverse postorder. Uses an explicit stack, since functions may be deep. Returns
    /// the depth-first tree: blocks in preorder, each with the index of its parent.
    fn compute_postorder(&mut self, entry: Block, succs: &Succs) -> Vec<(Block, u32)> {
        let mut seen: SecondaryMap<Block, bool> = sized(self.number.capacity());
        let mut tree = Vec::with_capacity(self.order.capacity());
        tree.push((entry, 0));
        let mut stack: SmallVec<[(Block, u32, usize); 16]> = smallvec![(entry, 0, 0)];
        seen[entry] = true;
        while let Some((block, place, next)) = stack.last_mut() {
            let Some(&succ) = succs.of(*block).get(*next) else {
                self.order.push(*block);
                stack.pop();
                continue;
            };
            *next += 1;
            if !std::mem::replace(&mut seen[succ], true) {
                let parent = *place;
                stack.push((succ, tree.len() as u32, 0));
                tree.push((succ, parent));
            }
        }
        self.order.reverse();
        for (n, &b) in self.order.iter().enumerate() {
            self.number[b] = n as u32 + 1;
        }
        tree
    }

    /// Computes immediate dominators from the depth-first tree.
    fn compute_idoms(&mut self, tree: &[(Block, u32)]) {
        if tree.len() < 2 {
            return;
        }
        let mut preorder: SecondaryMap<Block, u32> = sized(self.number.capacity());
        for (n, &(block, _)) in tree.iter().enumerate() {
            preorder[block] = n as u32;
        }
        let parents: Vec<u32> = tree.iter().map(|t| t.1).collect();
        let idom = immediate_dominators(&parents, |w, f| {
            for &(pred, _) in self.preds(tree[w].0) {
                if self.is_reachable(pred) {
                    f(preorder[pred]);
                }
            }
        });
        for (&(block, _), up) in tree.iter().zip(idom).skip(1) {
            self.idom[block] = tree[up as usize].0.into();
        }
    }

    /// Returns the branches to a block, each with the block that it ends.
    pub fn preds(&self, block: Block) -> &[(Block, Inst)] {
        let (from, to) = self.preds[block];
        &self.edges[from as usize..to as usize]
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
    pub fn goes_back(&self) -> bool {
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

    /// Returns for each reachable block the interval of dominator tree numbers that it dominates.
    /// Block `a` dominates `b` if its interval contains that of `b`. (0, 0) for unreachable blocks.
    pub fn dominator_intervals(&self) -> SecondaryMap<Block, (u32, u32)> {
        // Number of blocks that each block dominates, itself included. Dominated blocks come later
        // in the order.
        let blocks = self.number.capacity();
        let mut sizes: SecondaryMap<Block, u32> = sized(blocks);
        for &b in self.order.iter().rev() {
            sizes[b] += 1;
            if let Some(up) = self.idom(b) {
                sizes[up] += sizes[b];
            }
        }
        let mut out: SecondaryMap<Block, (u32, u32)> = sized(blocks);
        // First free number in the interval of a block.
        let mut free: SecondaryMap<Block, u32> = sized(blocks);
        for &b in &self.order {
            let first = match self.idom(b) {
                Some(up) => {
                    free[up] += sizes[b];
                    free[up] - sizes[b]
                }
                None => 1,
            };
            out[b] = (first, first + sizes[b] - 1);
            free[b] = first + 1;
        }
        out
    }
}

/// Successors of each block, as far as they exist.
struct Succs {
    dests: Vec<Block>,
    /// Range in `dests` of a block's successors.
    of: SecondaryMap<Block, (u32, u32)>,
}

impl Succs {
    fn of(&self, block: Block) -> &[Block] {
        let (from, to) = self.of[block];
        &self.dests[from as usize..to as usize]
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

    /// Dominators match their definition: blocks without which the block is unreachable.
    #[test]
    fn dominators_of_random_graphs() {
        use crate::ir::instructions::ValueList;
        use crate::ir::{BlockCall, FuncKind, InstData, Opcode, Signature};
        let mut rng = crate::fuzzing::Rng::new(7);
        for _ in 0..300 {
            let mut f = Function::new("f", FuncKind::Subroutine, Signature::default());
            let n = 2 + rng.below(14) as usize;
            let blocks: Vec<Block> = (0..n).map(|_| f.dfg.make_block()).collect();
            let cond = crate::ir::Value::new(0);
            for &b in &blocks {
                f.layout.append_block(b);
                let mut dest = || BlockCall {
                    block: blocks[1 + rng.below(n as u32 - 1) as usize],
                    args: ValueList::new(),
                };
                let dests = [dest(), dest()];
                let opcode = Opcode::Brif;
                let i = f.dfg.make_inst(
                    InstData::Brif {
                        opcode,
                        cond,
                        dests,
                    },
                    &[],
                );
                f.layout.append_inst(b, i);
            }
            let cfg = ControlFlow::new(&f);
            let reached = |without: Option<Block>| {
                let mut seen = vec![false; n];
                let mut work = vec![blocks[0]];
                while let Some(b) = work.pop() {
                    if Some(b) == without || std::mem::replace(&mut seen[b.index()], true) {
                        continue;
                    }
                    let t = f.layout.terminator(b).unwrap();
                    work.extend(f.dfg.destinations(t).iter().map(|d| d.block));
                }
                seen
            };
            let all = reached(None);
            let dominates: Vec<Vec<bool>> = blocks.iter().map(|&b| reached(Some(b))).collect();
            let dominates = |a: usize, b: usize| all[b] && !dominates[a][b];
            for b in (1..n).filter(|&b| all[b]) {
                let up = cfg.idom(blocks[b]).unwrap().index();
                assert!(up != b && dominates(up, b));
                // Every other dominator dominates the immediate one.
                assert!((0..n).all(|a| a == b || !dominates(a, b) || dominates(a, up)));
            }
            assert!((0..n).all(|b| all[b] == cfg.is_reachable(blocks[b])));
        }
    }

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
        let within = cfg.dominator_intervals();
        let dominates = |x: usize, y: usize| {
            within[b(x)].0 <= within[b(y)].0 && within[b(y)].1 <= within[b(x)].1
        };
        assert!(dominates(0, 5) && dominates(1, 4) && dominates(3, 3));
        assert!(!dominates(2, 4) && !dominates(4, 2));
    }
}
