//! Loops of machine code, as runs of blocks in emission order.

use crate::mir::{VBlock, VCode};
use cranelift_entity::EntityRef;

/// Loop: blocks from the target of a back edge up to the last block that ends in one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Loop {
    /// Header: the first block, the target of back edges.
    pub(crate) first: u32,
    /// Last block.
    pub(crate) last: u32,
    /// Enclosing loop.
    pub(crate) outer: Option<u32>,
    /// Nesting depth, 1 for an outermost loop.
    pub(crate) depth: u32,
}

/// All loops of a function. Two loops are nested or disjoint.
#[derive(Debug, Default)]
pub(crate) struct Loops {
    /// Loops by their first blocks, outer ones first.
    all: Vec<Loop>,
    /// Innermost loop per block.
    of: Vec<Option<u32>>,
}

impl Loops {
    pub(crate) fn new(code: &VCode) -> Loops {
        let mut last = vec![None; code.blocks.len()];
        for (b, data) in &code.blocks {
            for head in data.succs.iter().filter(|s| **s <= b) {
                // Blocks come in order, so the last back edge remains.
                last[head.index()] = Some(b.as_u32());
            }
        }
        let mut loops = Loops {
            all: Vec::new(),
            of: Vec::with_capacity(code.blocks.len()),
        };
        let mut inside: Vec<u32> = Vec::new();
        for (b, ends) in last.iter().enumerate() {
            let b = b as u32;
            while inside
                .last()
                .is_some_and(|&l| loops.all[l as usize].last < b)
            {
                inside.pop();
            }
            if let &Some(last) = ends {
                let outer = inside.last().copied();
                // An enclosing loop that ends before this one is extended.
                for &l in inside.iter().rev() {
                    let around = &mut loops.all[l as usize];
                    if around.last >= last {
                        break;
                    }
                    around.last = last;
                }
                inside.push(loops.all.len() as u32);
                loops.all.push(Loop {
                    first: b,
                    last,
                    outer,
                    depth: inside.len() as u32,
                });
            }
            loops.of.push(inside.last().copied());
        }
        loops.leave_out(code);
        loops
    }

    /// Takes blocks out of loops in which they are only placed: no path leads from them back to the
    /// header. The end of a kernel is such a block.
    fn leave_out(&mut self, code: &VCode) {
        // First block per block that a back edge on some forward path leads to.
        let mut back = vec![u32::MAX; code.blocks.len()];
        for (b, data) in code.blocks.iter().rev() {
            let ahead = data
                .succs
                .iter()
                .map(|s| if *s <= b { s.as_u32() } else { back[s.index()] });
            back[b.index()] = ahead.min().unwrap_or(u32::MAX);
            let mut of = self.of[b.index()];
            while let Some(l) = of.and_then(|l| self.all.get(l as usize))
                && back[b.index()] > l.first
            {
                of = l.outer;
            }
            self.of[b.index()] = of;
        }
    }

    /// Returns the innermost loop of a block.
    pub(crate) fn of(&self, block: VBlock) -> Option<Loop> {
        let l = self.of.get(block.index()).copied().flatten()?;
        self.all.get(l as usize).copied()
    }

    /// Returns the loop whose header is a block.
    pub(crate) fn at(&self, block: VBlock) -> Option<Loop> {
        self.of(block).filter(|l| l.first == block.as_u32())
    }

    /// Returns the enclosing loop of another.
    pub(crate) fn outer(&self, of: &Loop) -> Option<Loop> {
        self.all.get(of.outer? as usize).copied()
    }

    /// Returns the nesting depth of a block, 0 outside loops.
    pub(crate) fn depth(&self, block: VBlock) -> u32 {
        self.of(block).map_or(0, |l| l.depth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mir::BlockData;
    use crate::target::Target;
    use cranelift_entity::PrimaryMap;

    /// Builds blocks from their successors.
    fn loops(succs: &[&[usize]]) -> Loops {
        let block = |list: &&[usize]| BlockData {
            succs: list.iter().map(|&s| VBlock::new(s)).collect(),
            ..BlockData::default()
        };
        Loops::new(&VCode {
            grf: Target::lookup("skl").unwrap().grf(),
            insts: Vec::new(),
            locs: Default::default(),
            blocks: succs.iter().map(block).collect(),
            routines: PrimaryMap::new(),
            vregs: PrimaryMap::new(),
            flags: PrimaryMap::new(),
            labels: Vec::new(),
            label_types: Default::default(),
            lone_surfaces: 0,
            fired: Default::default(),
        })
    }

    #[test]
    fn loops_are_in_each_other_or_apart() {
        // Loop 1..=4 around 2..=3, then 5 alone. 6 is in none.
        let l = loops(&[&[1], &[2], &[3, 4], &[2], &[1, 5], &[5, 6], &[]]);
        let depth = |b| l.depth(VBlock::new(b));
        assert_eq!([0, 1, 2, 3, 4, 5, 6].map(depth), [0, 1, 2, 2, 1, 1, 0]);
        let of = |b| l.of(VBlock::new(b)).map(|l| (l.first, l.last));
        assert_eq!(
            [of(1), of(3), of(5)],
            [Some((1, 4)), Some((2, 3)), Some((5, 5))]
        );
        // A block placed in a loop that never goes back to its header is not in it. A block that
        // goes back to the header of the enclosing loop is in that loop.
        let l = loops(&[&[1], &[2, 4], &[3, 5], &[], &[6], &[1], &[]]);
        let depth = |b| l.depth(VBlock::new(b));
        assert_eq!([0, 1, 2, 3, 4, 5, 6].map(depth), [0, 1, 1, 0, 0, 1, 0]);
        let l = loops(&[&[1], &[2], &[3, 4], &[1, 6], &[2], &[], &[]]);
        let depth = |b| l.depth(VBlock::new(b));
        assert_eq!([1, 2, 3, 4].map(depth), [1, 2, 2, 2]);
        let l = loops(&[&[1], &[2], &[3, 4], &[2], &[1, 5], &[5, 6], &[]]);
        let inner = l.at(VBlock::new(2)).unwrap();
        assert_eq!(l.outer(&inner).map(|l| l.first), Some(1));
        assert!(l.at(VBlock::new(3)).is_none());
    }

    #[test]
    fn a_loop_that_reaches_out_makes_the_one_around_longer() {
        let l = loops(&[&[1], &[2], &[0, 3], &[1, 4], &[]]);
        let all: Vec<_> = l.all.iter().map(|l| (l.first, l.last)).collect();
        assert_eq!(all, [(0, 3), (1, 3)]);
    }
}
