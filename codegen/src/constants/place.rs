//! Where a constant that is wanted in many places is made.

use super::Made;
use crate::dominators::immediate_dominators;
use crate::vcode::loops::Loops;
use crate::vcode::{VBlock, VCode};
use cranelift_entity::EntityRef;

/// How often a block of a loop runs, for each time that the one around it does.
const ROUNDS: u32 = 3;

/// The deepest loop that is told from the one around it.
const DEEPEST: u32 = 8;

/// No block.
const NONE: u32 = u32::MAX;

/// Blocks, by what dominates them, and the loops that they are in.
pub(super) struct Places<'a> {
    code: &'a VCode,
    /// What is below is computed when it is asked for first.
    tree: Option<Tree>,
    /// Steps that may still be taken in the tree.
    steps: usize,
}

struct Tree {
    /// Per block its immediate dominator, and how many dominators it has. [`NONE`] for those that a routine begins with.
    up: Vec<u32>,
    depth: Vec<u32>,
    loops: Loops,
}

impl Tree {
    fn new(code: &VCode) -> Tree {
        let count = code.blocks.len();
        // Vertex 0 stands before all routines.
        let mut vertex = vec![0u32; count];
        let (mut parents, mut blocks) = (vec![0], vec![NONE]);
        let mut stack: Vec<(u32, usize)> = Vec::new();
        for routine in code.routines.values() {
            let first = routine.first;
            let mut enter = |b: u32, parent: u32, stack: &mut Vec<(u32, usize)>| {
                let Some(v @ 0) = vertex.get_mut(b as usize) else {
                    return;
                };
                *v = parents.len() as u32;
                parents.push(parent);
                blocks.push(b);
                stack.push((b, 0));
            };
            enter(first, 0, &mut stack);
            while let Some((b, next)) = stack.last_mut() {
                let succs = &code.blocks[VBlock::from_u32(*b)].succs;
                let Some(succ) = succs.get(*next) else {
                    stack.pop();
                    continue;
                };
                *next += 1;
                // Its vertex is the last but for those that came after it: found by its block.
                let from = *b;
                let parent = NONE - 1 - from;
                enter(succ.as_u32(), parent, &mut stack);
            }
        }
        // Parents were noted by their blocks.
        for p in parents.iter_mut().skip(1).filter(|p| **p != 0) {
            *p = vertex[(NONE - 1 - *p) as usize];
        }
        let idom = immediate_dominators(&parents, |w, f| {
            let Some(b) = blocks.get(w).filter(|b| **b != NONE) else {
                return;
            };
            if parents[w] == 0 {
                f(0);
            }
            for p in &code.blocks[VBlock::from_u32(*b)].preds {
                if vertex[p.index()] != 0 {
                    f(vertex[p.index()]);
                }
            }
        });
        let (mut up, mut depth) = (vec![NONE; count], vec![0; count]);
        for (w, &above) in idom.iter().enumerate().skip(1) {
            let (b, above) = (blocks[w] as usize, above as usize);
            up[b] = blocks[above];
            // Vertices come after what dominates them.
            depth[b] = blocks
                .get(above)
                .filter(|a| **a != NONE)
                .map_or(1, |a| depth[*a as usize] + 1);
        }
        Tree {
            up,
            depth,
            loops: Loops::new(code),
        }
    }

    /// How often a block runs, roughly.
    fn weight(&self, block: u32) -> u64 {
        let depth = self.loops.depth(VBlock::from_u32(block));
        1 << (ROUNDS * depth.min(DEEPEST))
    }
}

impl<'a> Places<'a> {
    pub(super) fn new(code: &'a VCode) -> Places<'a> {
        Places {
            code,
            tree: None,
            steps: 16 * code.blocks.len() + 1024,
        }
    }

    /// One step up in the tree, if there are any left.
    fn up(&mut self, tree: &Tree, block: u32) -> Option<u32> {
        self.steps = self.steps.checked_sub(1)?;
        Some(tree.up[block as usize]).filter(|b| *b != NONE)
    }

    /// The closest block that dominates two.
    fn common(&mut self, tree: &Tree, mut a: u32, mut b: u32) -> Option<u32> {
        while a != b {
            let depth = |b: u32| tree.depth[b as usize];
            match depth(a) >= depth(b) {
                true => a = self.up(tree, a)?,
                false => b = self.up(tree, b)?,
            }
        }
        Some(a)
    }

    /// The block, and the instruction of it, before which a constant is made once for a group that is in order, and how often less it is made then; none where
    /// that is no less often.
    pub(super) fn best(&mut self, group: &[Made]) -> Option<(u32, u32, u64)> {
        let first = group.first()?;
        let straight = self.code.blocks.len() == self.code.routines.len();
        if straight {
            let gain = group.len() as u64 - 1;
            return (gain > 0).then_some((first.block, first.at, gain));
        }
        let code = self.code;
        let tree = self.tree.take().unwrap_or_else(|| Tree::new(code));
        let found = self.search(&tree, group);
        self.tree = Some(tree);
        found
    }

    fn search(&mut self, tree: &Tree, group: &[Made]) -> Option<(u32, u32, u64)> {
        let reached = |b: u32| tree.depth[b as usize] > 0;
        let mut block = group.first()?.block;
        let mut often = 0u64;
        let mut last = NONE;
        for m in group {
            if !reached(m.block) {
                return None;
            }
            often = often.saturating_add(tree.weight(m.block));
            if m.block != last {
                block = self.common(tree, block, m.block)?;
                last = m.block;
            }
        }
        while let Some(around) = tree.loops.of(VBlock::from_u32(block)) {
            let Some(before) = self.up(tree, around.first) else {
                break;
            };
            // A loop that is entered in its midst.
            if (around.first..=around.last).contains(&before) {
                break;
            }
            block = before;
        }
        let gain = often.checked_sub(tree.weight(block)).filter(|g| *g > 0)?;
        let data = &self.code.blocks[VBlock::from_u32(block)];
        let inside = group.iter().find(|m| m.block == block);
        let at = match inside {
            Some(m) => m.at,
            None => data.end.checked_sub(1)? as u32,
        };
        Some((block, at, gain))
    }
}
