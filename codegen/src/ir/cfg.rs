//! Control flow: predecessors, an order of blocks, dominators.

use super::entities::{Block, Inst};
use super::function::Function;
use cranelift_entity::{SecondaryMap, packed_option::PackedOption};

/// The control-flow graph of a function, as it was when this was made. Branches to blocks that do not exist are left out.
#[derive(Clone, Debug, Default)]
pub struct ControlFlow {
    preds: SecondaryMap<Block, Vec<(Block, Inst)>>,
    /// Reachable blocks, each after its dominators.
    order: Vec<Block>,
    /// Position in `order`, from 1; 0 for unreachable blocks.
    number: SecondaryMap<Block, u32>,
    idom: SecondaryMap<Block, PackedOption<Block>>,
}

impl ControlFlow {
    /// Of a function.
    pub fn new(func: &Function) -> Self {
        let mut cfg = ControlFlow::default();
        let mut succs: SecondaryMap<Block, Vec<Block>> = SecondaryMap::new();
        for &block in func.layout.blocks() {
            let Some(inst) = func.layout.terminator(block) else {
                continue;
            };
            for dest in func.dfg.data(inst).destinations() {
                if func.dfg.has_block(dest.block) {
                    cfg.preds[dest.block].push((block, inst));
                    succs[block].push(dest.block);
                }
            }
        }
        if let Some(entry) = func.layout.entry() {
            cfg.sort(entry, &succs);
            cfg.dominate(entry);
        }
        cfg
    }

    /// Reverse postorder, by a stack of its own: functions may be deep.
    fn sort(&mut self, entry: Block, succs: &SecondaryMap<Block, Vec<Block>>) {
        let mut seen: SecondaryMap<Block, bool> = SecondaryMap::new();
        let mut stack = vec![(entry, 0)];
        seen[entry] = true;
        while let Some((block, next)) = stack.last_mut() {
            let Some(&succ) = succs[*block].get(*next) else {
                self.order.push(*block);
                stack.pop();
                continue;
            };
            *next += 1;
            if !std::mem::replace(&mut seen[succ], true) {
                stack.push((succ, 0));
            }
        }
        self.order.reverse();
        for (n, &b) in self.order.iter().enumerate() {
            self.number[b] = n as u32 + 1;
        }
    }

    /// Immediate dominators by iteration (Cooper, Harvey, Kennedy: "A Simple, Fast Dominance Algorithm").
    fn dominate(&mut self, entry: Block) {
        self.idom[entry] = entry.into();
        loop {
            let mut changed = false;
            for n in 1..self.order.len() {
                let block = self.order[n];
                let mut best = None;
                for &(pred, _) in &self.preds[block] {
                    if self.idom[pred].is_some() {
                        best = Some(best.map_or(pred, |b| self.meet(b, pred)));
                    }
                }
                if self.idom[block].expand() != best {
                    self.idom[block] = best.into();
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        self.idom[entry] = None.into();
    }

    fn meet(&self, mut a: Block, mut b: Block) -> Block {
        while a != b {
            let later = if self.number[a] > self.number[b] {
                &mut a
            } else {
                &mut b
            };
            match self.idom[*later].expand() {
                Some(up) if up != *later => *later = up,
                _ => break,
            }
        }
        a
    }

    /// The branches to a block, with the blocks they end.
    pub fn preds(&self, block: Block) -> &[(Block, Inst)] {
        &self.preds[block]
    }

    /// The blocks that can be reached, in reverse postorder: each after its dominators.
    pub fn order(&self) -> &[Block] {
        &self.order
    }

    /// Whether a block can be reached from the entry.
    pub fn is_reachable(&self, block: Block) -> bool {
        self.number[block] != 0
    }

    /// The closest other block that is on every path to this one.
    pub fn idom(&self, block: Block) -> Option<Block> {
        self.idom[block].expand()
    }

    /// For each reachable block by its index, the interval of a walk of the dominator tree: `a` dominates `b` if its
    /// interval contains `b`'s.
    pub fn dominator_intervals(&self) -> SecondaryMap<Block, (u32, u32)> {
        let mut children: SecondaryMap<Block, Vec<Block>> = SecondaryMap::new();
        for &b in &self.order {
            if let Some(up) = self.idom(b) {
                children[up].push(b);
            }
        }
        let mut out: SecondaryMap<Block, (u32, u32)> = SecondaryMap::new();
        let mut clock = 1;
        let mut stack: Vec<(Block, usize)> =
            self.order.first().map(|&b| (b, 0)).into_iter().collect();
        while let Some((block, next)) = stack.last_mut() {
            if *next == 0 {
                out[*block].0 = clock;
                clock += 1;
            }
            match children[*block].get(*next) {
                Some(&c) => {
                    *next += 1;
                    stack.push((c, 0));
                }
                None => {
                    out[*block].1 = clock;
                    clock += 1;
                    stack.pop();
                }
            }
        }
        out
    }
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
        let m = crate::text::parse(text).map(|p| p.module);
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
