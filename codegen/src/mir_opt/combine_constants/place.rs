//! Where a constant that is wanted in many places is made.

use super::Made;
use crate::graph::dominators::immediate_dominators;
use crate::mir::loops::Loops;
use crate::mir::{VBlock, VCode};
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
    /// Per block its immediate dominator, and how many dominators it has. [`NONE`] for those that a
    /// routine begins with.
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

    /// Whether one block is reached by way of another alone, or is that.
    fn dominated(&mut self, tree: &Tree, mut block: u32, by: u32) -> Option<bool> {
        while tree.depth[block as usize] > tree.depth[by as usize] {
            block = self.up(tree, block)?;
        }
        Some(block == by)
    }

    /// The closest block that dominates two.
    fn common(&mut self, tree: &Tree, mut a: u32, mut b: u32) -> Option<u32> {
        while a != b {
            let depth = |b: u32| tree.depth[b as usize];
            if depth(a) >= depth(b) {
                a = self.up(tree, a)?
            } else {
                b = self.up(tree, b)?
            }
        }
        Some(a)
    }

    /// The block, and the instruction of it, before which a constant is made once for a group that
    /// is in order, and how often less it is made then; none where that is no less often.
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
        let mut around = tree.loops.of(VBlock::from_u32(block));
        while let Some(l) = around {
            // What stands among a loop's blocks may be behind it, and not reached by way of its
            // header.
            around = tree.loops.outer(&l);
            if self.dominated(tree, block, l.first)? {
                block = self.up(tree, l.first)?;
            }
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "test code")]
mod tests {
    use super::*;
    use crate::mir::{BlockData, RoutineData, VReg};
    use crate::target::Target;
    use cranelift_entity::PrimaryMap;

    /// Where a constant is made that two instructions want in each of some blocks, of those with
    /// these successors and two instructions each.
    fn best(succs: &[&[usize]], wanted: &[u32]) -> Option<u32> {
        let block = |(n, list): (usize, &&[usize])| BlockData {
            start: 3 * n,
            end: 3 * n + 3,
            succs: list.iter().map(|&s| VBlock::new(s)).collect(),
            ..BlockData::default()
        };
        let routine = RoutineData {
            name: "k".to_owned(),
            first: 0,
            end: succs.len() as u32,
        };
        let mut code = VCode {
            grf: Target::from_name("skl").unwrap().grf(),
            insts: Vec::new(),
            locs: Default::default(),
            blocks: succs.iter().enumerate().map(block).collect(),
            routines: PrimaryMap::from_iter([routine]),
            vregs: PrimaryMap::new(),
            flags: PrimaryMap::new(),
            labels: Vec::new(),
            label_types: Default::default(),
            lone_surfaces: 0,
            fired: Default::default(),
        };
        code.compute_preds();
        let made = |block: u32, n: u32| Made {
            routine: 0,
            block,
            at: 3 * block + n,
            reg: VReg::from_u32(2 * block + n),
            bytes: 4,
            bits: 1,
        };
        let group: Vec<Made> = wanted
            .iter()
            .flat_map(|&b| [made(b, 0), made(b, 1)])
            .collect();
        Some(Places::new(&code).best(&group)?.0)
    }

    #[test]
    fn constants_are_made_before_their_loops() {
        // 1 and 2 are a loop, in which 2 is one too.
        let nest: &[&[usize]] = &[&[1], &[2], &[2, 3], &[1, 4], &[]];
        assert_eq!(best(nest, &[2]), Some(0));
        assert_eq!(best(nest, &[2, 4]), Some(0));
        assert_eq!(best(nest, &[4]), Some(4));
    }

    /// The exit, 4, stands among the blocks of the loop of 3 and 5, and is reached past it too.
    #[test]
    fn what_only_stands_among_a_loop_is_not_in_it() {
        let blocks: &[&[usize]] = &[&[1, 2], &[4], &[3], &[4, 5], &[], &[3]];
        assert_eq!(best(blocks, &[4]), Some(4));
        assert_eq!(best(blocks, &[5]), Some(2));
        assert_eq!(best(blocks, &[4, 5]), Some(0));
    }
}
