//! Order of blocks, and of the instructions in each.

use super::entities::{Block, Inst};
use cranelift_entity::SecondaryMap;
use smallvec::SmallVec;

/// Instructions of a block; few in most blocks.
pub type BlockInsts = SmallVec<[Inst; 4]>;

/// Blocks in order, the entry first, each with its instructions in order.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Layout {
    blocks: Vec<Block>,
    insts: SecondaryMap<Block, BlockInsts>,
}

impl Layout {
    /// Appends a block.
    pub fn append_block(&mut self, block: Block) {
        self.blocks.push(block);
    }

    /// Appends an instruction to a block.
    pub fn append_inst(&mut self, block: Block, inst: Inst) {
        self.insts[block].push(inst);
    }

    /// Keeps the blocks for which `keep` returns true.
    pub fn retain_blocks(&mut self, mut keep: impl FnMut(Block) -> bool) {
        self.blocks.retain(|&b| keep(b));
    }

    /// Inserts blocks before another block, or at the end if that one is not in the layout.
    pub fn insert_before(&mut self, block: Block, blocks: &[Block]) {
        let at = self.blocks.iter().position(|&b| b == block);
        let at = at.unwrap_or(self.blocks.len());
        self.blocks.splice(at..at, blocks.iter().copied());
    }

    /// Inserts the second block of each pair before the first. Takes linear time in the number of
    /// blocks.
    pub fn insert_each_before(&mut self, mut pairs: Vec<(Block, Block)>) {
        if pairs.is_empty() {
            return;
        }
        pairs.sort_by_key(|&(before, _)| before);
        let mut all = Vec::with_capacity(self.blocks.len() + pairs.len());
        for &block in &self.blocks {
            let first = pairs.partition_point(|&(before, _)| before < block);
            let new = pairs.iter().skip(first);
            let new = new.take_while(|&&(before, _)| before == block);
            all.extend(new.map(|&(_, new)| new));
            all.push(block);
        }
        self.blocks = all;
    }

    /// Returns the blocks in order.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Returns the entry block, if there is one.
    pub fn entry(&self) -> Option<Block> {
        self.blocks.first().copied()
    }

    /// Number of instructions in all blocks.
    pub fn num_insts(&self) -> usize {
        self.blocks.iter().map(|&b| self.insts[b].len()).sum()
    }

    /// Returns the instructions of a block, in order.
    pub fn insts(&self, block: Block) -> &[Inst] {
        &self.insts[block]
    }

    /// Returns the instructions of a block, to change.
    pub fn insts_mut(&mut self, block: Block) -> &mut BlockInsts {
        &mut self.insts[block]
    }

    /// Returns the last instruction of a block, if there is one.
    pub fn terminator(&self, block: Block) -> Option<Inst> {
        self.insts[block].last().copied()
    }
}
