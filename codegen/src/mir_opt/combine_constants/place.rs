//! Placement of a constant that has several uses.

use crate::graph::dominators::dominators;
use crate::graph::{DepthFirst, Graph};
use crate::mir::loops::Loops;
use crate::mir::{VBlock, VCode};
use cranelift_entity::{EntityRef, EntitySet};

/// Executions of a loop block per execution of the surrounding block, as a power of two.
const LOG2_FREQUENCY: u32 = 3;

/// Maximal loop depth that counts.
const MAX_DEPTH: u32 = 8;

/// No block.
const NONE: u32 = u32::MAX;

/// Instruction of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Site {
    pub(super) block: u32,
    pub(super) at: u32,
}

/// Search for placements, by dominators and loops.
pub(super) struct PlacementSearch<'a> {
    code: &'a VCode,
    /// Dominator tree, computed on demand.
    tree: Option<DominatorTree>,
    /// Steps in the tree that are left.
    steps: usize,
}

/// Dominators and loops. They stay the same while instructions move.
pub(super) struct DominatorTree {
    /// Immediate dominator and dominator depth of each block. [`NONE`] for entry blocks of
    /// routines.
    up: Vec<u32>,
    depth: Vec<u32>,
    loops: Loops,
}

/// Blocks of all routines, behind a root of their own that leads to the entry of each.
struct Routines<'a>(&'a VCode);

impl Routines<'_> {
    fn root(&self) -> VBlock {
        VBlock::new(self.0.blocks.len())
    }

    /// Returns the entry blocks of routines.
    fn entries(&self) -> impl Iterator<Item = VBlock> {
        let routines = self.0.routines.values();
        routines.map(|r| VBlock::from_u32(r.first))
    }
}

impl Graph for Routines<'_> {
    type Node = VBlock;

    fn num_nodes(&self) -> usize {
        self.0.blocks.len() + 1
    }

    fn successors(&self, node: VBlock) -> impl Iterator<Item = VBlock> {
        let is_root = node == self.root();
        let entries = is_root.then(|| self.entries()).into_iter().flatten();
        let succs = self.0.blocks.get(node).into_iter();
        entries.chain(succs.flat_map(|b| b.succs.iter().copied()))
    }
}

impl DominatorTree {
    fn new(code: &VCode) -> DominatorTree {
        let count = code.blocks.len();
        let graph = Routines(code);
        let root = graph.root();
        let mut is_entry: EntitySet<VBlock> = EntitySet::with_capacity(count);
        is_entry.extend(graph.entries());
        let walk = DepthFirst::new(&graph, root);
        let idom = dominators(&walk, |b, each| {
            if is_entry.contains(b) {
                each(root);
            }
            code.blocks[b].preds.iter().for_each(|p| each(*p));
        });
        let (mut up, mut depth) = (vec![NONE; count], vec![0; count]);
        // A block comes after its dominators.
        for &b in walk.preorder.iter().skip(1) {
            let above = idom[b].expand().filter(|a| *a != root);
            up[b.index()] = above.map_or(NONE, |a| a.as_u32());
            depth[b.index()] = above.map_or(1, |a| depth[a.index()] + 1);
        }
        DominatorTree {
            up,
            depth,
            loops: Loops::new(code),
        }
    }

    /// Returns the estimated frequency of a block.
    fn weight(&self, block: u32) -> u64 {
        let depth = self.loops.depth(VBlock::from_u32(block));
        1 << (LOG2_FREQUENCY * depth.min(MAX_DEPTH))
    }
}

impl<'a> PlacementSearch<'a> {
    /// Starts a search, with the tree of an earlier one.
    pub(super) fn new(code: &'a VCode, tree: Option<DominatorTree>) -> PlacementSearch<'a> {
        PlacementSearch {
            code,
            tree,
            steps: 16 * code.blocks.len() + 1024,
        }
    }

    /// Returns the tree for the next search.
    pub(super) fn tree(self) -> Option<DominatorTree> {
        self.tree
    }

    /// Steps up in the tree, unless the budget is used up.
    fn up(&mut self, tree: &DominatorTree, block: u32) -> Option<u32> {
        self.steps = self.steps.checked_sub(1)?;
        Some(tree.up[block as usize]).filter(|b| *b != NONE)
    }

    /// Returns true if `by` dominates a block or is that block.
    fn dominated(&mut self, tree: &DominatorTree, mut block: u32, by: u32) -> Option<bool> {
        while tree.depth[block as usize] > tree.depth[by as usize] {
            block = self.up(tree, block)?;
        }
        Some(block == by)
    }

    /// Returns the closest common dominator.
    fn common(&mut self, tree: &DominatorTree, mut a: u32, mut b: u32) -> Option<u32> {
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

    /// Returns the instruction before which to place a value for a sorted group, and the savings in
    /// executions. `None` if there are none. `site` is where a member of the group is made.
    pub(super) fn best<T>(
        &mut self,
        group: &[T],
        site: impl Fn(&T) -> Site,
    ) -> Option<(Site, u64)> {
        let first = site(group.first()?);
        let straight = self.code.blocks.len() == self.code.routines.len();
        if straight {
            let gain = group.len() as u64 - 1;
            return (gain > 0).then_some((first, gain));
        }
        self.with_tree(|s, tree| s.search(tree, group, site))
    }

    fn with_tree<T>(&mut self, f: impl FnOnce(&mut Self, &DominatorTree) -> T) -> T {
        let code = self.code;
        let tree = self.tree.take().unwrap_or_else(|| DominatorTree::new(code));
        let found = f(self, &tree);
        self.tree = Some(tree);
        found
    }

    /// Returns the nearest common dominator of blocks, if it is in the same innermost loop as each
    /// of them. `None` if the block `to` dominates it, or does not dominate the blocks of `reads`.
    pub(super) fn above(&mut self, blocks: &[u32], to: u32, reads: &[VBlock]) -> Option<u32> {
        self.with_tree(|s, tree| {
            let mut above = *blocks.first()?;
            for &b in blocks {
                if tree.depth[b as usize] == 0 {
                    return None;
                }
                above = s.common(tree, above, b)?;
            }
            let around = |b: u32| tree.loops.of(VBlock::from_u32(b));
            let together = blocks.iter().all(|&b| around(b) == around(above));
            if !together || s.dominated(tree, above, to)? {
                return None;
            }
            for r in reads {
                let reached = tree.depth[r.index()] > 0;
                if !reached || !s.dominated(tree, r.as_u32(), to)? {
                    return None;
                }
            }
            Some(above)
        })
    }

    fn search<T>(
        &mut self,
        tree: &DominatorTree,
        group: &[T],
        site: impl Fn(&T) -> Site,
    ) -> Option<(Site, u64)> {
        let reached = |b: u32| tree.depth[b as usize] > 0;
        let mut block = site(group.first()?).block;
        let mut often = 0u64;
        let mut last = NONE;
        for m in group.iter().map(&site) {
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
            // A block that stands among a loop's blocks may come after the loop, and not be
            // dominated by its header.
            around = tree.loops.outer(&l);
            if self.dominated(tree, block, l.first)? {
                block = self.up(tree, l.first)?;
            }
        }
        let gain = often.checked_sub(tree.weight(block)).filter(|g| *g > 0)?;
        let data = &self.code.blocks[VBlock::from_u32(block)];
        let inside = group.iter().map(&site).find(|m| m.block == block);
        let at = match inside {
            Some(m) => m.at,
            None => data.end.checked_sub(1)? as u32,
        };
        Some((Site { block, at }, gain))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "test code")]
mod tests {
    use super::*;
    use crate::mir::{BlockData, RoutineData};
    use crate::target::Target;
    use cranelift_entity::PrimaryMap;

    /// Returns the block for a constant with two uses in each of some blocks. Each block has these
    /// successors and two instructions.
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
            grf: Target::lookup("skl").unwrap().grf(),
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
        let made = |block: u32, n: u32| Site {
            block,
            at: 3 * block + n,
        };
        let group: Vec<Site> = wanted
            .iter()
            .flat_map(|&b| [made(b, 0), made(b, 1)])
            .collect();
        Some(
            PlacementSearch::new(&code, None)
                .best(&group, |s| *s)?
                .0
                .block,
        )
    }

    #[test]
    fn constants_are_made_before_their_loops() {
        // Blocks 1 and 2 are a loop; 2 is a loop inside of it.
        let nest: &[&[usize]] = &[&[1], &[2], &[2, 3], &[1, 4], &[]];
        assert_eq!(best(nest, &[2]), Some(0));
        assert_eq!(best(nest, &[2, 4]), Some(0));
        assert_eq!(best(nest, &[4]), Some(4));
    }

    /// The exit, 4, stands among the blocks of the loop of 3 and 5, and is also reached without it.
    #[test]
    fn what_only_stands_among_a_loop_is_not_in_it() {
        let blocks: &[&[usize]] = &[&[1, 2], &[4], &[3], &[4, 5], &[], &[3]];
        assert_eq!(best(blocks, &[4]), Some(4));
        assert_eq!(best(blocks, &[5]), Some(2));
        assert_eq!(best(blocks, &[4, 5]), Some(0));
    }
}
